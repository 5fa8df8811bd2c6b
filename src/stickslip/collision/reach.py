"""The margin of the contact search: the distance that two bodies can approach each other in a step, and a little more.

    margin = 2·(dt + ahead)·u + 2·dt²·|g| + 0.01·r,    u = max over links of |v(origin)| + |ω|·r_link

u bounds the speed of every point of every shape, so 2·u bounds a pair's approach speed. r is the smallest radius r_link
of the moving links (of their shapes about the link's origin); the last term covers what forces can do from rest within
a step. ``ahead`` is zero if contacts act in the step that meets them; relaxed contacts act B/K earlier.
"""

from __future__ import annotations

import numpy as np

from stickslip._jit import kernel
from stickslip.model.model import Model
from stickslip.model.shape import Shape

LEAST = 0.01
"""The margin at rest, as a fraction of the smallest moving link's radius."""


@kernel
def fastest_point(kin, radius):
    """An upper bound of the speed of all points of all links [m/s]."""
    fastest = 0.0
    for b in range(1, radius.shape[0]):
        x, y, z = kin.pos[b, 0] - kin.origin[b, 0], kin.pos[b, 1] - kin.origin[b, 1], kin.pos[b, 2] - kin.origin[b, 2]
        wx, wy, wz = kin.vel[b, 3], kin.vel[b, 4], kin.vel[b, 5]
        vx = kin.vel[b, 0] + wy * z - wz * y
        vy = kin.vel[b, 1] + wz * x - wx * z
        vz = kin.vel[b, 2] + wx * y - wy * x
        speed = (vx * vx + vy * vy + vz * vz) ** 0.5 + radius[b] * (wx * wx + wy * wy + wz * wz) ** 0.5
        if speed > fastest:
            fastest = speed
    return fastest


def extent(shape: Shape) -> float:
    """An upper bound of the distance of a shape's points from its link's origin [m]; zero for planes."""
    if shape.kind == "plane":
        return 0.0
    own = np.linalg.norm(shape.size) if shape.vertices is None else np.linalg.norm(shape.vertices, axis=1).max()
    return float(np.linalg.norm(shape.pos) + own)


class Reach:
    """The margin of the contact search for a model."""

    def __init__(self, model: Model, ahead: float = 0.0) -> None:
        self.ahead = ahead
        """Time by which contacts act ahead of touching [s]."""
        self.radius = np.zeros(model.nlink)
        for shape in model.shapes:
            self.radius[shape.link] = max(self.radius[shape.link], extent(shape))
        sizes = self.radius[1:][self.radius[1:] > 0.0]
        self.least = LEAST * float(sizes.min(initial=1.0))
        self.gravity = float(np.linalg.norm(model.inertia.gravity))

    def at_rest(self, dt: float) -> float:
        """The margin if nothing moves [m]."""
        return 2.0 * dt * dt * self.gravity + self.least

    def margin(self, kin, dt: float) -> float:
        """The margin at a state [m]."""
        return self.seconds(dt) * fastest_point(kin, self.radius) + self.at_rest(dt)

    def seconds(self, dt: float) -> float:
        """The factor of the largest speed u in the margin [s]."""
        return 2.0 * (dt + self.ahead)
