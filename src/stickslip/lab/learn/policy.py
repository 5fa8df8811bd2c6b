"""A linear policy: a = W·(x, 1), each number within ±1, of normalised observations x = (o − mean)/spread within ±5."""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from stickslip.errors import expected, reals
from stickslip.files import write_whole

FARTHEST = 5.0
"""Bound of normalised observations."""


@dataclass(frozen=True)
class Policy:
    """What to do when something is observed: ``Policy.load("learn-Hopper/policy.npz")(observation)`` is an action."""

    weights: np.ndarray
    """(actions, observations + 1), or one for each world, (n, actions, observations + 1)."""
    mean: np.ndarray
    """(observations,) of what was observed while learning."""
    spread: np.ndarray
    """(observations,) standard deviations."""
    facts: dict[str, Any] = field(default_factory=dict)
    """What it has learned, and by which method."""

    def __call__(self, observation: np.ndarray) -> np.ndarray:
        """(actions,) or (n, actions) for an observation (observations,), or for one of each of n worlds."""
        seen = reals("observation", observation, f"an array of {len(self.mean)} numbers, or of rows of them")
        if seen.shape[-1:] != self.mean.shape:
            raise expected("observation", f"{len(self.mean)} numbers", f"shape {seen.shape}", "is it the same task?")
        x = np.clip((seen - self.mean) / self.spread, -FARTHEST, FARTHEST)
        actions = (self.weights[..., :-1] * x[..., None, :]).sum(axis=-1) + self.weights[..., -1]
        return np.clip(actions, -1.0, 1.0)

    def save(self, path: str | Path) -> None:
        """Write an .npz file."""
        with write_whole(path) as part, part.open("wb") as file:
            arrays = {"weights": self.weights, "mean": self.mean, "spread": self.spread}
            np.savez(file, facts=np.array(json.dumps(self.facts)), **arrays)  # type: ignore[arg-type]

    @staticmethod
    def load(path: str | Path) -> Policy:
        """Read what ``save`` wrote."""
        wanted = "an .npz file that `stickslip learn` wrote"
        if not Path(path).is_file():
            raise expected("policy", wanted, str(path), "there is no such file")
        try:
            with np.load(path, allow_pickle=False) as file:
                weights, mean, spread = (np.asarray(file[key], dtype=float) for key in ("weights", "mean", "spread"))
                facts = json.loads(str(file["facts"]))
        except (KeyError, ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
            raise expected("policy", wanted, str(path), f"it holds something else ({type(error).__name__})") from None
        return Policy(weights, mean, spread, facts)
