"""Snapshots of worlds, to continue from exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from stickslip.summary import Summarised, Summary, plural


@dataclass(frozen=True, repr=False)
class WorldsSnapshot(Summarised):
    """The complete states of all worlds. After restoring it they go on bit by bit as without interruption."""

    rows: dict[str, np.ndarray]
    steps: np.ndarray
    diverged: np.ndarray
    made_by: tuple[Any, ...]

    def _summary(self) -> Summary:
        title = f"Snapshot of {plural(len(self.steps), 'world')} by {self.made_by[0]}/{self.made_by[1]}"
        return Summary(title, {"steps": f"{self.steps.min()} to {self.steps.max()}"})
