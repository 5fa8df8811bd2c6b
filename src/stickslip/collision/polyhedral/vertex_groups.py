"""Subcontacts of a vertex v of a polyhedron with the faces of another: max ( ψ_f(v), all faces f ) ≥ 0.

Faces in one plane. A face f into whose half-space an edge leads from v does not keep the bodies apart at v. Where
ψ_f(v) ≥ 0 it is enough, for the edge may pass over f's border; but where v lies in the plane of f, to ε = ``FLUSH``·r,
it is not, and f is left out: boxes of one width on each other have all their vertices in the planes of sides, and would
fall into each other along them. So is f where v is inside by less than ``BESIDE``·r: a box that settles would get into
that plane within the step, and then be free of it. A peg beside a wall keeps the wall's face: its edges go along it.
Where all that is left is below −ε, and the bodies have no point in common near v, edges keep them apart, and f stays.

Differs from the paper in: faces are left out near their planes only; there, wherever they are not "applicable".
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.convex.polyhedron import Neighbours, Polyhedra
from stickslip.collision.polyhedral.placed_pairs import ENTERS, FLUSH, Group, Placed, height, put

BESIDE = 0.01
"""Of a body's radius: a vertex this near to a plane that is no way out for its body does not get past it in a step."""


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
    """Whether, from v along (dx, dy, dz), a point inside s comes so soon that all faces through v can be behind it."""
    n, length = now.normal, sqrt(dx * dx + dy * dy + dz * dz)
    t = 2.0 * flush / (ENTERS * length)
    for f in range(bodies.face_start[s], bodies.face_start[s + 1]):
        if height(now, f, v) + t * (n[f, 0] * dx + n[f, 1] * dy + n[f, 2] * dz) >= -flush * (1.0 - 1e-9):
            return False
    return True


@kernel(inline=False)
def overlaps_at(bodies: Polyhedra, neighbours: Neighbours, now: Placed, flush, v, own, s):
    """Whether polyhedron ``own`` goes into s at its vertex v: along an edge, or towards the mean of its vertices."""
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
    """Vertex v of polyhedron ``own`` against the polyhedron s: whether there is a group."""
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
    """Faces that do not come to be the highest while the vertex moves by less than the margin."""
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
