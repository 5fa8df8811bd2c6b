"""The corner of a polyhedron that is farthest along a direction, by climbing from corner to corner along its edges.

A linear function on a convex polyhedron has no local maximum but the global one, so the climb ends at the right corner.
It begins at the answer for a nearby direction: ``START`` directions, spread over the faces of a cube, are answered when
the model is built. So the cost hardly grows with the number of corners, and nothing is remembered from step to step:
the same pose gives the same corner. Faces with many corners have shortcuts across them, without which the climb would
follow their rims. Polyhedra of at most ``SMALL`` corners are searched completely.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.convex.polyhedron import Polyhedra, starts

SMALL = 16
"""Largest number of corners of a polyhedron that is searched completely."""
CELLS = 8
"""Directions along each edge of a face of the cube."""
START = 6 * CELLS * CELLS
LONG_WAY = 6
"""Number of corners of a face from which it has shortcuts: to the 2nd, 4th, 8th … corner on both sides."""


class Climb(NamedTuple):
    """How the corners of all polyhedra are connected; indices refer to the shared arrays."""

    next_start: np.ndarray
    """(nv + 1,) first entry of each corner in ``next``."""
    next: np.ndarray
    """The corners at the other ends of each corner's edges and shortcuts."""
    begin: np.ndarray
    """(np, START) where the climb begins, by the direction's cell; −1 for small polyhedra."""


@kernel
def cell_of(x, y, z):
    """The cell of a direction on the cube."""
    ax, ay, az = abs(x), abs(y), abs(z)
    if ax >= ay and ax >= az:
        face, most, u, v = (0 if x >= 0.0 else 1), ax, y, z
    elif ay >= az:
        face, most, u, v = (2 if y >= 0.0 else 3), ay, x, z
    else:
        face, most, u, v = (4 if z >= 0.0 else 5), az, x, y
    scale = 0.5 * CELLS / most if most > 0.0 else 0.0
    i = min(int(u * scale + 0.5 * CELLS), CELLS - 1)
    j = min(int(v * scale + 0.5 * CELLS), CELLS - 1)
    return (face * CELLS + i) * CELLS + j


@kernel(inline=False)
def farthest(bodies, climb, p, x, y, z, near):
    """The corner (shared index) of polyhedron p farthest along (x, y, z); ``near`` is a guess of it, or −1."""
    V = bodies.vertex
    v = climb.begin[p, cell_of(x, y, z)]
    if v < 0:
        v = bodies.vertex_start[p]
        best = V[v, 0] * x + V[v, 1] * y + V[v, 2] * z
        for w in range(v + 1, bodies.vertex_start[p + 1]):
            d = V[w, 0] * x + V[w, 1] * y + V[w, 2] * z
            if d > best:
                best, v = d, w
        return v
    best = V[v, 0] * x + V[v, 1] * y + V[v, 2] * z
    if near >= 0:
        d = V[near, 0] * x + V[near, 1] * y + V[near, 2] * z
        if d > best:
            best, v = d, near
    while True:
        here = v
        for k in range(climb.next_start[here], climb.next_start[here + 1]):
            w = climb.next[k]
            d = V[w, 0] * x + V[w, 1] * y + V[w, 2] * z
            if d > best:
                best, v = d, w
        if v == here:
            return v


def make_climb(bodies: Polyhedra) -> Climb:
    """The connections of all polyhedra's corners."""
    vertex, vertex_start = bodies.vertex, bodies.vertex_start
    none = np.zeros(0, dtype=np.int64)
    pairs = [(none, none)]
    sizes = np.diff(bodies.loop_start)
    face = np.repeat(np.arange(len(sizes)), sizes)
    place, n = np.arange(len(bodies.loop)) - bodies.loop_start[face], sizes[face]
    step, far = 1, np.ones(len(face), dtype=bool)
    while far.any():
        other = bodies.loop[bodies.loop_start[face] + (place + step) % n]
        pairs += [(bodies.loop[far], other[far]), (other[far], bodies.loop[far])]
        step *= 2
        far = (n >= LONG_WAY) & (2 * step <= n)
    one, two = (np.concatenate(side) for side in zip(*pairs, strict=True))
    ways = np.unique(one * len(vertex) + two)
    begin = np.full((len(bodies.link), START), -1, dtype=np.int64)
    directions = cube_directions()
    for p, size in enumerate(np.diff(vertex_start)):
        if size > SMALL:
            own = vertex[vertex_start[p] : vertex_start[p + 1]]
            begin[p] = vertex_start[p] + (directions @ own.T).argmax(axis=1)
    return Climb(
        next_start=starts(np.bincount(ways // max(1, len(vertex)), minlength=len(vertex))),
        next=ways % max(1, len(vertex)),
        begin=begin,
    )


def cube_directions() -> np.ndarray:
    """(START, 3) the middle of each cell."""
    middle = (np.arange(CELLS) + 0.5) * 2.0 / CELLS - 1.0
    u, v = (grid.ravel() for grid in np.meshgrid(middle, middle, indexing="ij"))
    one = np.ones_like(u)
    faces = [(one, u, v), (-one, u, v), (u, one, v), (u, -one, v), (u, v, one), (u, v, -one)]
    return np.concatenate([np.stack(face, axis=1) for face in faces])
