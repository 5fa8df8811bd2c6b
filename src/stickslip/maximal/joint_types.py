"""The joint types as rows of g(pose 1, pose 2) = 0: one literal table.

A joint has a frame on each of its two links, F₁ = (x₁, y₁, z₁) at the point p₁ and F₂ = (x₂, y₂, z₂) at p₂, which
coincide in the reference configuration; z is the joint's axis. There are two kinds of rows:

* translation along axis i of F₁: g = e₁ᵢ·(p₂ − p₁) [m];
* rotation: axis i of F₁ stays at right angles to axis j of F₂: g = e₁ᵢ·e₂ⱼ, the sine of an angle [rad]. A small turn θ
  of F₂ against F₁ gives y₁·z₂ = −θ_x, x₁·z₂ = θ_y and y₁·x₂ = θ_z.

If the rotation about z is free, the rotation rows involve only z₂ of F₂, so that they mean the same at every angle.
"""

from __future__ import annotations

from typing import NamedTuple

TRANSLATION, ROTATION = 0, 1
X, Y, Z = 0, 1, 2


class Row(NamedTuple):
    """One scalar constraint."""

    kind: int
    axis1: int
    """Axis of F₁."""
    axis2: int
    """Axis of F₂; unused in a translation."""


NO_X, NO_Y, NO_Z = (Row(TRANSLATION, axis, 0) for axis in (X, Y, Z))
NO_TURN_X, NO_TURN_Y, NO_TURN_Z = Row(ROTATION, Y, Z), Row(ROTATION, X, Z), Row(ROTATION, Y, X)

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
