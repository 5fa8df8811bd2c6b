"""Polyhedra at their current poses and the group being collected: shared by ``vertex_groups`` and ``subcontacts``.

ψ_f(x) = n_f·x − d_f is the height of the point x over the face f, in world axes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.convex.polyhedron import Neighbours, Polyhedra
from stickslip.dynamics.jacobian import link_point
from stickslip.math.spatial import rotate

FLUSH = 1e-6
"""Fraction of a body's radius: a vertex or an edge this near to a plane counts as lying in it."""
ENTERS = 0.1
"""Sine of the angle with a face's plane above which an edge counts as leading into the half-space."""


class PolyhedronPairs(NamedTuple):
    """The pairs of polyhedra that can touch."""

    one: np.ndarray
    """(n,) the polyhedron of the lower link."""
    two: np.ndarray
    """(n,) the polyhedron of the higher link."""
    first: np.ndarray
    """(n,) first id of the pair."""
    material: np.ndarray
    """(n, 11) rows of ``Contacts.material``."""
    shape1: np.ndarray
    """(n,) the shapes of ``one`` and ``two`` among all that can touch."""
    shape2: np.ndarray
    reach: np.ndarray
    """(n,) ψ, less the margin, below which the pair's adhesion acts [m]."""
    margin: np.ndarray
    """(n,) distance by which the pair's surfaces are inflated [m]; it is subtracted from ψ."""
    widest: np.ndarray
    """(1,) the largest of these, ≥ 0."""


class Placed(NamedTuple):
    """The polyhedra at their current poses, in world axes."""

    vertex: np.ndarray
    """(nv, 3) [m]."""
    normal: np.ndarray
    """(nf, 3)."""
    offset: np.ndarray
    """(nf,) [m]."""
    axis: np.ndarray
    """(ne, 3) unit vectors along the edges."""
    low: np.ndarray
    """(np, 3) lower corner of the bounding box, widened by the margin [m]."""
    high: np.ndarray
    """(np, 3) upper corner [m]."""


class Group(NamedTuple):
    """The group being collected."""

    size: np.ndarray
    """(2,) number of its subcontacts; number of groups so far."""
    psi: np.ndarray
    """(m,) [m]."""
    kind: np.ndarray
    """(m,) VERTEX_ON_ONE, VERTEX_ON_TWO or CROSSING."""
    feature: np.ndarray
    """(m, 3) vertex and face, or the two edges; and the subcontact's number within its pair of shapes."""
    near1: np.ndarray
    """(ne,) edges of body 1 near body 2."""
    near2: np.ndarray
    """(ne,) edges of body 2 near body 1."""


@kernel
def place(bodies: Polyhedra, neighbours: Neighbours, kin, margin, now: Placed):
    """Write all polyhedra in world axes; their boxes are widened by the margin on every side."""
    for s in range(bodies.link.shape[0]):
        link = bodies.link[s]
        for i in range(3):
            now.low[s, i], now.high[s, i] = np.inf, -np.inf
        for v in range(bodies.vertex_start[s], bodies.vertex_start[s + 1]):
            x, y, z = bodies.vertex[v, 0], bodies.vertex[v, 1], bodies.vertex[v, 2]
            now.vertex[v, 0], now.vertex[v, 1], now.vertex[v, 2] = link_point(kin, link, x, y, z)
            for i in range(3):
                now.low[s, i] = min(now.low[s, i], now.vertex[v, i] - margin)
                now.high[s, i] = max(now.high[s, i], now.vertex[v, i] + margin)
        for f in range(bodies.face_start[s], bodies.face_start[s + 1]):
            x, y, z = rotate(kin.rot, link, bodies.normal[f, 0], bodies.normal[f, 1], bodies.normal[f, 2])
            now.normal[f, 0], now.normal[f, 1], now.normal[f, 2] = x, y, z
            now.offset[f] = bodies.offset[f] + x * kin.pos[link, 0] + y * kin.pos[link, 1] + z * kin.pos[link, 2]
        for e in range(bodies.edge_start[s], bodies.edge_start[s + 1]):
            x, y, z = neighbours.edge_axis[e, 0], neighbours.edge_axis[e, 1], neighbours.edge_axis[e, 2]
            now.axis[e, 0], now.axis[e, 1], now.axis[e, 2] = rotate(kin.rot, link, x, y, z)


@kernel
def height(now: Placed, f, v):
    """ψ of vertex v over face f."""
    n, x = now.normal, now.vertex
    return n[f, 0] * x[v, 0] + n[f, 1] * x[v, 1] + n[f, 2] * x[v, 2] - now.offset[f]


@kernel
def put(group: Group, psi, kind, a, b, number):
    """Insert a subcontact by decreasing ψ, after equal ones."""
    k = group.size[0]
    group.size[0] = k + 1
    while k > 0 and group.psi[k - 1] < psi:
        group.psi[k], group.kind[k] = group.psi[k - 1], group.kind[k - 1]
        for i in range(3):
            group.feature[k, i] = group.feature[k - 1, i]
        k -= 1
    group.psi[k], group.kind[k] = psi, kind
    group.feature[k, 0], group.feature[k, 1], group.feature[k, 2] = a, b, number
