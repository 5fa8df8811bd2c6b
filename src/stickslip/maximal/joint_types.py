"""The joint types as rows of g(pose 1, pose 2) = 0: one literal table.

A joint has a frame on each of its two links, F₁ = (x₁, y₁, z₁) at the point p₁ and F₂ = (x₂, y₂, z₂) at p₂, which
coincide in the reference configuration; z is the joint's axis. There are these kinds of rows:

* translation along axis i of F₁ (or, in the second kind, of F₂): g = e₁ᵢ·(p₂ − p₁) [m];
* rotation: axis i of F₁ stays at right angles to axis j of F₂: g = e₁ᵢ·e₂ⱼ, the sine of an angle [rad]. A small turn θ
  of F₂ against F₁ gives y₁·z₂ = −θ_x, x₁·z₂ = θ_y and y₁·x₂ = θ_z.
* offset: p₂ − p₁ keeps its length c along the normal of two axes: g = (e₁ᵢ × e₂ⱼ)·(p₂ − p₁) − c [m]. It is for two
  hinges at right angles whose axes do not meet; p₁ and p₂ are then the ends of their common perpendicular.

If the rotation about z is free, the rotation rows involve only z₂ of F₂, so that they mean the same at every angle.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

TRANSLATION, ROTATION, TRANSLATION_2, OFFSET = range(4)
X, Y, Z = 0, 1, 2


class Row(NamedTuple):
    """One scalar constraint."""

    kind: int
    axis1: int
    """Axis of F₁."""
    axis2: int
    """Axis of F₂; unused in a translation along an axis of F₁."""


NO_X, NO_Y, NO_Z = (Row(TRANSLATION, axis, 0) for axis in (X, Y, Z))
NO_TURN_X, NO_TURN_Y, NO_TURN_Z = Row(ROTATION, Y, Z), Row(ROTATION, X, Z), Row(ROTATION, Y, X)

TURN_ROWS = ((NO_TURN_X, NO_TURN_Y, NO_TURN_Z), (NO_TURN_X, NO_TURN_Y), (Row(ROTATION, Z, X),), ())
"""The rotation rows of 0 … 3 free turns; two turns are about z₁ and x₂."""

OFFSET_UNIVERSAL = (NO_Z, Row(TRANSLATION_2, X, X), Row(OFFSET, Z, X), Row(ROTATION, Z, X))
"""The rows of two hinges at right angles whose axes do not meet."""


def shift_rows(free: Sequence[bool] | np.ndarray) -> tuple[Row, ...]:
    """The translation rows of a joint that may shift along some axes of F₁."""
    return tuple(row for row, shifts in zip((NO_X, NO_Y, NO_Z), free, strict=True) if not shifts)


JOINT_ROWS: dict[str, tuple[Row, ...]] = {
    "fixed": (NO_X, NO_Y, NO_Z, NO_TURN_X, NO_TURN_Y, NO_TURN_Z),
    "revolute": (NO_X, NO_Y, NO_Z, NO_TURN_X, NO_TURN_Y),
    "prismatic": (NO_X, NO_Y, NO_TURN_X, NO_TURN_Y, NO_TURN_Z),
    "cylindrical": (NO_X, NO_Y, NO_TURN_X, NO_TURN_Y),
    "spherical": (NO_X, NO_Y, NO_Z),
    "universal": (NO_X, NO_Y, NO_Z, Row(ROTATION, Z, X)),  # turns about z₁ and x₂
    "planar": (NO_Z, NO_TURN_X, NO_TURN_Y),
    "in-line": (NO_X, NO_Y),  # p₂ stays on the axis of F₁; closes a planar loop without redundant rows
}
"""Joint type → its rows."""
