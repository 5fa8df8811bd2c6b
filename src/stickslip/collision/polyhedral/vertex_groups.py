"""Subcontacts of a vertex v of a polyhedron with the faces of another: max ( ψ_f(v), all faces f ) ≥ 0.

A face f does not separate the bodies at v if an edge of v's body leads from v into the half-space of f. If v is clearly
outside f, ψ_f(v) > ε = ``FLUSH``·r, f stays in the group all the same, because the edge may pass over the border of f.
If v lies in the plane of f, up to ε, f is omitted: two boxes of the same width on each other have all their vertices in
the planes of each other's sides and would otherwise sink into each other along them. f is also omitted if v is inside
by less than ``BESIDE``·r, because a settling box could otherwise reach that plane within the step and then be free. A
peg beside a wall keeps the wall's face, because its edges run along the wall. If all remaining ψ are below −ε and the
bodies share no point near v, edges separate them, and f stays.

Differs from the paper in: faces are omitted near their planes only, while the paper omits all that are not
"applicable".
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.convex.polyhedron import Neighbours, Polyhedra
from stickslip.collision.polyhedral.placed_pairs import ENTERS, FLUSH, Group, Placed, height, put

BESIDE = 0.01
"""Fraction of a body's radius: depth below a face's plane up to which the face is omitted (see above)."""


@kernel
def enters(neighbours: Neighbours, now: Placed, f, v):
    """Whether an edge leads from v into the half-space of f."""
    psi = height(now, f, v)
    for i in range(neighbours.vertex_edge_start[v], neighbours.vertex_edge_start[v + 1]):
        e = neighbours.vertex_edge[i]
        u = neighbours.edge[e, 0] + neighbours.edge[e, 1] - v
        if height(now, f, u) - psi < -ENTERS * neighbours.edge_length[e]:
            return True
    return False


@kernel
def inside_beyond(bodies: Polyhedra, now: Placed, flush, v, s, dx, dy, dz):
    """Whether the ray from v along (dx, dy, dz) enters s so early that all faces through v can be behind it."""
    n, length = now.normal, sqrt(dx * dx + dy * dy + dz * dz)
    t = 2.0 * flush / (ENTERS * length)
    for f in range(bodies.face_start[s], bodies.face_start[s + 1]):
        if height(now, f, v) + t * (n[f, 0] * dx + n[f, 1] * dy + n[f, 2] * dz) >= -flush * (1.0 - 1e-9):
            return False
    return True


@kernel(inline=False)
def overlaps_at(bodies: Polyhedra, neighbours: Neighbours, now: Placed, flush, v, own, s):
    """Whether polyhedron ``own`` enters s at its vertex v, along an edge or towards the mean of its vertices."""
    x = now.vertex
    for i in range(neighbours.vertex_edge_start[v], neighbours.vertex_edge_start[v + 1]):
        e = neighbours.vertex_edge[i]
        u = neighbours.edge[e, 0] + neighbours.edge[e, 1] - v
        if inside_beyond(bodies, now, flush, v, s, x[u, 0] - x[v, 0], x[u, 1] - x[v, 1], x[u, 2] - x[v, 2]):
            return True
    dx, dy, dz = 0.0, 0.0, 0.0
    for u in range(bodies.vertex_start[own], bodies.vertex_start[own + 1]):
        dx, dy, dz = dx + x[u, 0] - x[v, 0], dy + x[u, 1] - x[v, 1], dz + x[u, 2] - x[v, 2]
    return inside_beyond(bodies, now, flush, v, s, dx, dy, dz)


@kernel(inline=False)
def vertex_group(bodies: Polyhedra, neighbours: Neighbours, now: Placed, margin, v, own, s, kind, number, group: Group):
    """Collect the group of vertex v of polyhedron ``own`` and polyhedron s; returns whether there is one."""
    group.size[0] = 0
    deepest, best, left_out = -np.inf, 0, 0
    first, flush, beside = bodies.face_start[s], FLUSH * bodies.radius[s], BESIDE * bodies.radius[s]
    for f in range(first, bodies.face_start[s + 1]):
        psi = height(now, f, v)
        if psi >= margin:
            return False
        if -beside < psi <= flush and enters(neighbours, now, f, v):
            left_out += 1
            continue
        if psi > deepest:
            deepest, best = psi, f
        if psi > -margin:
            put(group, psi, kind, v, f, number + f - first)
    if left_out > 0 and deepest < -flush and not overlaps_at(bodies, neighbours, now, flush, v, own, s):
        for f in range(first, bodies.face_start[s + 1]):
            psi = height(now, f, v)
            if -beside < psi <= flush and enters(neighbours, now, f, v):
                put(group, psi, kind, v, f, number + f - first)
    if group.size[0] == 0:
        put(group, deepest, kind, v, best, number + best - first)
    leave_out_unreachable(now, margin, group)
    return True


@kernel
def leave_out_unreachable(now: Placed, margin, group: Group):
    """Omit the faces that cannot become the highest while the vertex moves by less than the margin."""
    n, first, kept = now.normal, group.feature[0, 1], 1
    for k in range(1, group.size[0]):
        f = group.feature[k, 1]
        dx, dy, dz = n[f, 0] - n[first, 0], n[f, 1] - n[first, 1], n[f, 2] - n[first, 2]
        if group.psi[0] - group.psi[k] < margin * sqrt(dx * dx + dy * dy + dz * dz):
            group.psi[kept], group.kind[kept] = group.psi[k], group.kind[k]
            for i in range(3):
                group.feature[kept, i] = group.feature[k, i]
            kept += 1
    group.size[0] = kept
