"""Points of closed loops as entries of ``Contacts``: springs and dampers that hold two links together.

A ``connect`` has one point, where link 2 is held by link 1. A ``weld`` has three, the corners of an equilateral
triangle, so that it holds the rotation too. They stand behind the contacts in the buffer, at found[0] … found[0] +
found[1] − 1, so that methods treat both alike and users see contacts alone. An entry has

    p₂, fixed to link 2, as its point;   the axes of link 1 as its frame, A;   A·(p₂ − p₁) as its stretch

with p₁ fixed to link 1. Seen in the turning frame, the stretch changes at the rate A·(v₂(p₂) − v₁(p₂)), the entry's
velocity; forces along it at p₂ on both links keep momentum and angular momentum. Cost: a constant per point.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.contacts import PROPERTIES, entries
from stickslip.dynamics.jacobian import link_point, point_velocity
from stickslip.math.spatial import cross


class LoopPoints(NamedTuple):
    """The points of a model's loops, one after another."""

    link1: np.ndarray
    """(n,)."""
    link2: np.ndarray
    """(n,) never the world."""
    pos1: np.ndarray
    """(n, 3) p₁ in the frame of link 1 [m]."""
    pos2: np.ndarray
    """(n, 3) p₂ in the frame of link 2 [m]."""
    motion: np.ndarray
    """(n, 6) velocity at the world's origin [m/s] and angular velocity [rad/s] of what holds p₁, if that is moved from
    outside; world axes."""
    material: np.ndarray
    """(n, 11) stiffness and damping of the point, the same in all directions, as in ``Contacts.material``; the other
    columns are zero."""


def no_loop_points() -> LoopPoints:
    """The points of a model without loops."""
    links = np.zeros((2, 0), dtype=np.int64)
    none = np.zeros((0, 3))
    return LoopPoints(links[0], links[1], none, none, np.zeros((0, 6)), np.zeros((0, PROPERTIES)))


@kernel
def append_loops(loops, kin, contacts):
    """Put the loop points behind the contacts, with their stretch; the poses and velocities must be up to date.

    Returns False if the buffer is full; the points are counted in either case.
    """
    n, first = loops.link1.shape[0], contacts.found[0]
    contacts.found[1] = n
    if entries(contacts) > contacts.pair.shape[0]:
        return False
    place_loops(loops, kin, contacts)
    for k in range(n):
        c, a = first + k, loops.link1[k]
        contacts.pair[c] = -1
        contacts.link1[c], contacts.link2[c] = a, loops.link2[k]
        contacts.gap[c], contacts.rolling[c], contacts.radius[c], contacts.curvature[c, 0] = -inf, 0, 0.0, 0.0
        for i in range(PROPERTIES):
            contacts.material[c, i] = loops.material[k, i]
        x, y, z = link_point(kin, a, loops.pos1[k, 0], loops.pos1[k, 1], loops.pos1[k, 2])
        x, y, z = contacts.point[c, 0] - x, contacts.point[c, 1] - y, contacts.point[c, 2] - z
        A, V = contacts.axes, loops.motion
        mx, my, mz = cross(V[k, 3], V[k, 4], V[k, 5], contacts.point[c, 0], contacts.point[c, 1], contacts.point[c, 2])
        mx, my, mz = mx + V[k, 0], my + V[k, 1], mz + V[k, 2]
        contacts.shape1[c] = contacts.shape2[c] = -1
        for i in range(3):
            contacts.surface[c, i] = -(A[c, i, 0] * mx + A[c, i, 1] * my + A[c, i, 2] * mz)
            contacts.stretch[c, i] = A[c, i, 0] * x + A[c, i, 1] * y + A[c, i, 2] * z
            contacts.spin[c, i] = 0.0
    return True


@kernel
def place_loops(loops, kin, contacts):
    """Point, frame and drift of the loop points at the poses and velocities of ``kin``; the stretch does not change."""
    for k in range(loops.link1.shape[0]):
        c, a, b = contacts.found[0] + k, loops.link1[k], loops.link2[k]
        p, d = contacts.point, contacts.drift
        p[c, 0], p[c, 1], p[c, 2] = link_point(kin, b, loops.pos2[k, 0], loops.pos2[k, 1], loops.pos2[k, 2])
        d[c, 0], d[c, 1], d[c, 2] = point_velocity(kin, b, p[c, 0], p[c, 1], p[c, 2])
        for i in range(3):
            for j in range(3):
                contacts.axes[c, i, j] = kin.rot[a, j, i]
