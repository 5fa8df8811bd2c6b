"""Paths of spatial tendons as points, for pictures.

A path is a chain of straight pieces. Where it wraps around a sphere or cylinder of radius r, the arc from the point p
to the point q (``tendon_paths.wrap``) is divided into ARC pieces. In the frame of the body its points are

    p·cos φ + r·d·sin φ,    φ from 0 to s/r,

where d is the direction in which the path arrives at p, and s is the length of the arc, of a cylinder its length across
the axis; along the axis the points climb evenly. If the path begins at p itself, the direction in which it leaves q is
followed back, and if it also ends at q, the shortest way to q is taken.
"""

from __future__ import annotations

from math import cos, sin, sqrt
from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.dynamics.drives import LinkPoses
from stickslip.dynamics.tendon_paths import from_geom, place, to_geom, wrap
from stickslip.model.arrays import CYLINDER, ON_JOINT, PULLEY, SITE, Tendons

ARC = 12
"""Straight pieces of an arc."""
NEAR = 1e-9
"""Fraction of the radius below which a direction is undefined."""


class Paths(NamedTuple):
    """The part of ``Tendons`` that their paths depend on."""

    start: np.ndarray
    kind: np.ndarray
    on: np.ndarray
    number: np.ndarray
    pos: np.ndarray
    rot: np.ndarray
    side: np.ndarray
    side_link: np.ndarray
    side_pos: np.ndarray

    @staticmethod
    def of(tendons: Tendons) -> Paths:
        return Paths(*(getattr(tendons, name) for name in Paths._fields))

    def is_spatial(self, t: int) -> bool:
        """Whether tendon t has a path in space."""
        return bool(self.kind[self.start[t]] != ON_JOINT)


@kernel
def across(x, y, z, px, py, pz, radius):
    """The unit vector of the part of (x, y, z) that is perpendicular to p; zero if there is none."""
    along = (x * px + y * py + z * pz) / (radius * radius)
    x, y, z = x - along * px, y - along * py, z - along * pz
    size = sqrt(x * x + y * y + z * z)
    if size <= NEAR * radius:
        return 0.0, 0.0, 0.0
    return x / size, y / size, z / size


@kernel
def arc_point(share, length, radius, a, p, q, b, flat):
    """The point at a share (0 to 1) of the arc from p to q, in the frame of the body; a and b are the path's points
    before and after, triples as p and q. ``flat`` is 0 for a cylinder, whose arc is across the z axis, else 1."""
    rise = (1.0 - flat) * (q[2] - p[2])
    angle = sqrt(max(0.0, length * length - rise * rise)) / radius
    if flat == 0.0:  # the climb along the axis is added at the end
        a, b = (a[0], a[1], 0.0), (b[0], b[1], 0.0)
    pz, qz = flat * p[2], flat * q[2]
    dx, dy, dz = across(p[0] - a[0], p[1] - a[1], pz - a[2], p[0], p[1], pz, radius)
    ox, oy, oz, phi = p[0], p[1], pz, share * angle
    if dx == 0.0 and dy == 0.0 and dz == 0.0:
        dx, dy, dz = across(q[0] - b[0], q[1] - b[1], qz - b[2], q[0], q[1], qz, radius)
        if dx == 0.0 and dy == 0.0 and dz == 0.0:
            dx, dy, dz = across(q[0] - p[0], q[1] - p[1], qz - pz, p[0], p[1], pz, radius)
        else:
            ox, oy, oz, phi = q[0], q[1], qz, (1.0 - share) * angle
    c, s = cos(phi), radius * sin(phi)
    return c * ox + s * dx, c * oy + s * dy, c * oz + s * dz + (1.0 - flat) * p[2] + share * rise


@kernel
def put_piece(pieces, owner, n, t, a, b):
    """Store a straight piece of tendon t; returns the new number of pieces."""
    for i in range(3):
        pieces[n, 0, i], pieces[n, 1, i] = a[i], b[i]
    owner[n] = t
    return n + 1


@kernel
def wrapped_pieces(paths, poses, e, t, a, b, pieces, owner, n):
    """The pieces of the path of tendon t from a to b around the sphere or cylinder e."""
    length, px, py, pz, qx, qy, qz = wrap(paths, poses, e, a, b)
    if length < 0.0:
        return put_piece(pieces, owner, n, t, a, b)
    before, after, flat = to_geom(paths, poses, e, a), to_geom(paths, poses, e, b), 1.0
    if paths.kind[e] == CYLINDER:
        flat = 0.0
    last = from_geom(paths, poses, e, px, py, pz)
    n = put_piece(pieces, owner, n, t, a, last)
    if length > 0.0:
        for k in range(ARC):
            share = (k + 1.0) / ARC
            x, y, z = arc_point(share, length, paths.number[e], before, (px, py, pz), (qx, qy, qz), after, flat)
            point = from_geom(paths, poses, e, x, y, z)
            n = put_piece(pieces, owner, n, t, last, point)
            last = point
    return put_piece(pieces, owner, n, t, last, b)


@kernel
def fill_pieces(paths, poses, pieces, owner):
    """Fill ``pieces`` (n, 2, 3) with the straight pieces of all spatial tendons in world axes, and ``owner`` (n,) with
    their tendons; returns their number."""
    n = 0
    for t in range(paths.start.shape[0] - 1):
        e, end = paths.start[t], paths.start[t + 1]
        while e < end - 1 and paths.kind[e] != ON_JOINT:
            if paths.kind[e] == PULLEY or paths.kind[e + 1] == PULLEY:
                e += 1
                continue
            a = place(poses, paths.on[e], paths.pos, e)
            if paths.kind[e + 1] == SITE:
                n = put_piece(pieces, owner, n, t, a, place(poses, paths.on[e + 1], paths.pos, e + 1))
                e += 1
            else:
                b = place(poses, paths.on[e + 2], paths.pos, e + 2)
                n = wrapped_pieces(paths, poses, e + 1, t, a, b, pieces, owner, n)
                e += 2
    return n


def most_pieces(paths: Paths) -> int:
    """The largest number of pieces that the tendons can have."""
    return int(np.sum(np.isin(paths.kind, (SITE, PULLEY)))) + (ARC + 2) * int(np.sum(paths.kind > SITE))


def path_pieces(paths: Paths, pos: np.ndarray, rot: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(n, 2, 3) straight pieces of all spatial tendons [m], and (n,) their tendons, for links at the positions ``pos``
    (nl, 3) with the axes ``rot`` (nl, 3, 3)."""
    most = most_pieces(paths)
    pieces, owner = np.zeros((most, 2, 3)), np.zeros(most, dtype=np.int64)
    poses = LinkPoses(np.array(pos, dtype=float), np.array(rot, dtype=float), np.zeros((0, 3)), np.zeros((0, 6)))
    n = fill_pieces(paths, poses, pieces, owner)
    return pieces[:n], owner[:n]
