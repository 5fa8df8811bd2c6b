"""One thing that the model doctor found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Finding:
    severity: Literal["error", "warning", "note"]
    """An error stops the simulation or makes it meaningless. A warning is probably a mistake, a note is information."""
    code: str
    """A short, stable name for programs: ``inertia``, ``mass``, ``limits``, …"""
    where: str
    """The element, by kind and name."""
    message: str
    remedy: str
