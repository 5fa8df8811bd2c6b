"""Subcontacts of two convex polyhedra: groups of half-spaces, at least one of which has to hold in each group.

With ψ_f(x) = n_f·x − d_f the height of x over the face f, polyhedra 1 and 2 do not overlap as long as

    vertex v of 2:    max ( ψ_f(v), all faces f of 1 ) ≥ 0,   and with 1 and 2 swapped;
    edges e₁ and e₂:  max ( n·(x₂ − x₁),  ψ_f(b_f), ψ_g(b_g),  ψ_f'(a_f'), ψ_g'(a_g') ) ≥ 0

where n = ±e₁ × e₂ points out of body 1, x₁ and x₂ are the points where the edges' lines are nearest, f and g are the
faces at e₁, f' and g' those at e₂, and b_f is the lower end of e₂ over f (a_f' that of e₁ over f'). The edge e₂ does
not cut the wedge of f and g if it lies outside one of them or passes over their edge. If both ends have nearly the same
height, b_f is the end that lies over the other face, because the end over f itself has a vertex group of its own. If e₂
crosses over the edge, with x₂ between its ends, an end higher than the crossing is omitted: if both ends are above f,
so is x₂, where the bodies touch. A pair of edges is a candidate if n lies between the normals of f and g, and −n
between those of f' and g' (the Gauss map), up to ``ARC``, and x₁ and x₂ lie on the edges, up to the margin. Parallel
edges have no group; the vertex groups of their ends suffice.

``vertex_groups`` treats faces in whose planes a vertex lies. An edge that lies in a face, up to ``FLUSH``, cuts the
body.

A group is reported if no ψ reaches the margin. Its subcontacts that lie deeper than the margin are omitted, because
they cannot separate the bodies within a step. The same holds at a vertex for a face k if the highest face 1 exceeds it
by ψ₁ − ψ_k ≥ |n₁ − n_k|·margin. Subcontacts are sorted by decreasing ψ: the first one separates the bodies now.

Source: Nguyen and Trinkle, *Modeling non-convex configuration space using linear complementarity problems* (2010);
Williams et al., *RPI-MATLAB-Simulator* (2013), Sec. 3.1 and Fig. 7.
Differs from the paper in: the groups themselves, which there come from a classification of edge pairs into
vertex–vertex, vertex–edge and edge–edge with heuristic tests of feasibility and applicability.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.contacts import ADHESION, Contacts, append, set_frame, set_motion
from stickslip.collision.convex.polyhedron import Neighbours, Polyhedra
from stickslip.collision.polyhedral.placed_pairs import ENTERS, FLUSH, Group, Placed, height, place, put
from stickslip.collision.polyhedral.vertex_groups import vertex_group
from stickslip.collision.tangent import smooth_tangent
from stickslip.math.spatial import cross

ARC = 0.1
"""Angle [rad] outside the arc of its faces' normals up to which an edge is a candidate, since it may turn in a step."""
END = 1e-6
"""Fraction of an edge's length: nearer to its end it does not count as crossing another edge."""
THROUGH = 0.5
"""Fraction of a body's radius: edges this deep beyond each other are on far sides of the bodies."""
PARALLEL = 1e-4
"""Sine of the angle below which edges count as parallel."""
TOUCH = -1e-6
"""Gap [m] down to which a subcontact counts as touching."""
VERTEX_ON_ONE, VERTEX_ON_TWO, CROSSING = 0, 1, 2
"""Kinds of subcontacts: a vertex of body 2 over a face of body 1, one of body 1 over a face of body 2, two edges."""


@kernel
def beside_arc(now: Placed, f, g, e, x, y, z):
    """Sine of how far the unit vector (x, y, z), ⟂ to edge e, is outside the arc from n_f to n_g; ≤ 0 within."""
    n, u = now.normal, now.axis
    ax, ay, az = cross(n[f, 0], n[f, 1], n[f, 2], x, y, z)
    bx, by, bz = cross(x, y, z, n[g, 0], n[g, 1], n[g, 2])
    before = ax * u[e, 0] + ay * u[e, 1] + az * u[e, 2]
    after = bx * u[e, 0] + by * u[e, 1] + bz * u[e, 2]
    return -min(before, after)


@kernel(inline=False)
def crossing(neighbours: Neighbours, now: Placed, e1, e2):
    """Outward normal n of body 1, ψ along it, the positions on the edges, and the sine of the edges' angle. The sine is
    0 if they do not cross."""
    u, w, x = now.axis, now.axis, now.vertex
    nx, ny, nz = cross(u[e1, 0], u[e1, 1], u[e1, 2], w[e2, 0], w[e2, 1], w[e2, 2])
    sine = sqrt(nx * nx + ny * ny + nz * nz)
    if sine < PARALLEL:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    nx, ny, nz = nx / sine, ny / sine, nz / sine
    a, b = neighbours.edge[e1, 0], neighbours.edge[e2, 0]
    dx, dy, dz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    cx, cy, cz = cross(dx, dy, dz, w[e2, 0], w[e2, 1], w[e2, 2])
    t1 = (cx * nx + cy * ny + cz * nz) / sine
    cx, cy, cz = cross(dx, dy, dz, u[e1, 0], u[e1, 1], u[e1, 2])
    t2 = (cx * nx + cy * ny + cz * nz) / sine
    f, g, n = neighbours.edge_face[e1, 0], neighbours.edge_face[e1, 1], now.normal
    if (n[f, 0] + n[g, 0]) * nx + (n[f, 1] + n[g, 1]) * ny + (n[f, 2] + n[g, 2]) * nz < 0.0:
        nx, ny, nz = -nx, -ny, -nz
    return nx, ny, nz, dx * nx + dy * ny + dz * nz, t1, t2, sine


@kernel
def cuts(bodies: Polyhedra, neighbours: Neighbours, now: Placed, e, s):
    """Whether edge e passes through the polyhedron s, or along a face of it."""
    a, b = neighbours.edge[e, 0], neighbours.edge[e, 1]
    enter, leave, flush = 0.0, 1.0, FLUSH * bodies.radius[s]
    for f in range(bodies.face_start[s], bodies.face_start[s + 1]):
        pa, pb = height(now, f, a) - flush, height(now, f, b) - flush
        if pa >= 0.0 and pb >= 0.0:
            return False
        if pa > 0.0:
            enter = max(enter, pa / (pa - pb))
        elif pb > 0.0:
            leave = min(leave, pa / (pa - pb))
    return enter < leave


@kernel
def wedge(neighbours: Neighbours, now: Placed, margin, ridge, e, ceiling, kind, number, group: Group):
    """Add the subcontacts of edge e outside one of the faces at edge ``ridge``, no higher than ``ceiling``. Returns
    False if the edge is outside one of them by more than the margin."""
    a, b = neighbours.edge[e, 0], neighbours.edge[e, 1]
    for side in range(2):
        f, g = neighbours.edge_face[ridge, side], neighbours.edge_face[ridge, 1 - side]
        pa, pb = height(now, f, a), height(now, f, b)
        if min(pa, pb) >= margin:
            return False
        lower = pa < pb
        if abs(pa - pb) < min(margin, ENTERS * neighbours.edge_length[e]):
            lower = height(now, g, a) > height(now, g, b)
        psi = pa if lower else pb
        if -margin < psi <= ceiling:
            put(group, psi, kind, a if lower else b, f, number + side)
    return True


@kernel(inline=False)
def edge_group(bodies: Polyhedra, neighbours: Neighbours, now: Placed, margin, one, two, e1, e2, number, group: Group):
    """Collect the group of edge e1 of polyhedron one and edge e2 of two; returns whether there is one."""
    nx, ny, nz, psi, t1, t2, sine = crossing(neighbours, now, e1, e2)
    deep = min(margin, THROUGH * min(bodies.radius[one], bodies.radius[two]))
    if sine == 0.0 or psi >= margin or psi <= -deep:
        return False
    length1, length2 = neighbours.edge_length[e1], neighbours.edge_length[e2]
    if min(t1, t2) < -margin or t1 > length1 + margin or t2 > length2 + margin:
        return False
    if beside_arc(now, neighbours.edge_face[e1, 0], neighbours.edge_face[e1, 1], e1, nx, ny, nz) > ARC:
        return False
    if beside_arc(now, neighbours.edge_face[e2, 0], neighbours.edge_face[e2, 1], e2, -nx, -ny, -nz) > ARC:
        return False
    group.size[0] = 0
    put(group, psi, CROSSING, e1, e2, number)
    ceiling = psi if END * length2 < t2 < (1.0 - END) * length2 else np.inf
    if not wedge(neighbours, now, margin, e1, e2, ceiling, VERTEX_ON_ONE, number + 1, group):
        return False
    ceiling = psi if END * length1 < t1 < (1.0 - END) * length1 else np.inf
    if not wedge(neighbours, now, margin, e2, e1, ceiling, VERTEX_ON_TWO, number + 3, group):
        return False
    if group.psi[0] >= 0.0:
        return True
    # wedges extend beyond the bodies: an edge that cuts a wedge may lie behind a thin body
    return cuts(bodies, neighbours, now, e2, one) and cuts(bodies, neighbours, now, e1, two)


@kernel(inline=False)
def close_group(bodies, neighbours, now, kin, pairs, p, complete, group: Group, start, contacts: Contacts):
    """Append the current group as contacts of pair p; if not ``complete``, only the first and those above ``TOUCH``.

    Adhesion belongs to the first, which stands for the group; the first shape s of the others is written as −2 − s."""
    g = group.size[1]
    group.size[1] = g + 1
    link1, link2 = bodies.link[pairs.one[p]], bodies.link[pairs.two[p]]
    for k in range(group.size[0]):
        psi, kind, a, b = group.psi[k], group.kind[k], group.feature[k, 0], group.feature[k, 1]
        gap = psi - pairs.margin[p]
        if k > 0 and gap < TOUCH and not complete:
            continue
        c = append(contacts, pairs.first[p] + group.feature[k, 2], link1, link2, gap, 0, 0.0, pairs.material, p)
        if c < 0:
            continue
        contacts.shape1[c], contacts.shape2[c] = pairs.shape1[p], pairs.shape2[p]
        if k > 0:
            contacts.shape1[c] = -2 - contacts.shape1[c]
        if k > 0 or not gap < pairs.reach[p]:
            contacts.material[c, ADHESION] = 0.0
        if kind == CROSSING:
            nx, ny, nz, psi, _, t2, sine = crossing(neighbours, now, a, b)
            v, carrier, reach = neighbours.edge[b, 0], link2, 0.0
        else:
            nx, ny, nz = now.normal[b, 0], now.normal[b, 1], now.normal[b, 2]
            v, carrier, reach, t2 = a, link2, 0.0, 0.0
            if kind == VERTEX_ON_TWO:
                nx, ny, nz, carrier, reach = -nx, -ny, -nz, link1, -psi
        x, y, z = now.vertex[v, 0], now.vertex[v, 1], now.vertex[v, 2]
        if kind == CROSSING:
            x, y, z = x + t2 * now.axis[b, 0], y + t2 * now.axis[b, 1], z + t2 * now.axis[b, 2]
        tx, ty, tz = smooth_tangent(nx, ny, nz)
        set_frame(contacts, c, x, y, z, reach, nx, ny, nz, tx, ty, tz)
        wx, wy, wz = 0.0, 0.0, 0.0
        if kind != VERTEX_ON_ONE:
            V = kin.vel
            ox, oy, oz = V[link2, 3] - V[link1, 3], V[link2, 4] - V[link1, 4], V[link2, 5] - V[link1, 5]
            if kind == VERTEX_ON_TWO:
                wx, wy, wz = cross(ox, oy, oz, nx, ny, nz)
            else:
                wx, wy, wz = turning_crossing(now, a, b, nx, ny, nz, sine, ox, oy, oz)
        set_motion(kin, contacts, c, wx, wy, wz, carrier, x, y, z)
    if g + 1 < start.shape[0]:
        start[g + 1] = contacts.found[0]


@kernel
def turning_crossing(now: Placed, e1, e2, nx, ny, nz, sine, ox, oy, oz):
    """ṅ of two edges relative to body 1, while body 2 turns with the relative angular velocity o."""
    u, w = now.axis, now.axis
    x, y, z = cross(ox, oy, oz, w[e2, 0], w[e2, 1], w[e2, 2])
    x, y, z = cross(u[e1, 0], u[e1, 1], u[e1, 2], x, y, z)
    rx, ry, rz = cross(u[e1, 0], u[e1, 1], u[e1, 2], w[e2, 0], w[e2, 1], w[e2, 2])
    sine = sine if rx * nx + ry * ny + rz * nz > 0.0 else -sine
    out = x * nx + y * ny + z * nz
    return (x - out * nx) / sine, (y - out * ny) / sine, (z - out * nz) / sine


@kernel
def outside(now: Placed, v, s):
    """Whether vertex v is further than the margin from the box of the polyhedron s."""
    far = False
    for i in range(3):
        far = far or now.vertex[v, i] < now.low[s, i] or now.vertex[v, i] > now.high[s, i]
    return far


@kernel
def edges_near(bodies: Polyhedra, neighbours: Neighbours, now: Placed, s, other, near):
    """List the edges of polyhedron s within the margin of the other's box; returns their number."""
    found = 0
    for e in range(bodies.edge_start[s], bodies.edge_start[s + 1]):
        a, b = neighbours.edge[e, 0], neighbours.edge[e, 1]
        apart = False
        for i in range(3):
            low, high = now.vertex[a, i], now.vertex[b, i]
            if low > high:
                low, high = high, low
            apart = apart or low > now.high[other, i] or high < now.low[other, i]
        if not apart:
            near[found] = e
            found += 1
    return found


@kernel
def find_subcontacts(bodies, neighbours, pairs, kin, margin, complete, now, group, start, contacts):
    """Append the groups of all pairs; group g has the contacts start[g] … start[g + 1] − 1. Returns their number."""
    margin += pairs.widest[0]
    place(bodies, neighbours, kin, margin, now)
    group.size[1] = 0
    start[0] = contacts.found[0]
    for p in range(pairs.one.shape[0]):
        one, two = pairs.one[p], pairs.two[p]
        apart = False
        for i in range(3):
            apart = apart or now.low[one, i] > now.high[two, i] - margin or now.high[one, i] - margin < now.low[two, i]
        if apart:
            continue
        number = 0
        for swapped in range(2):
            s, other = (one, two) if swapped else (two, one)
            kind = VERTEX_ON_TWO if swapped else VERTEX_ON_ONE
            faces = bodies.face_start[other + 1] - bodies.face_start[other]
            for v in range(bodies.vertex_start[s], bodies.vertex_start[s + 1]):
                if outside(now, v, other):
                    number += faces
                    continue
                if vertex_group(bodies, neighbours, now, margin, v, s, other, kind, number, group):
                    close_group(bodies, neighbours, now, kin, pairs, p, complete, group, start, contacts)
                number += faces
        n1 = edges_near(bodies, neighbours, now, one, two, group.near1)
        n2 = edges_near(bodies, neighbours, now, two, one, group.near2)
        edges = bodies.edge_start[two + 1] - bodies.edge_start[two]
        for i in range(n1):
            for j in range(n2):
                e1, e2 = group.near1[i], group.near2[j]
                k = number + 5 * ((e1 - bodies.edge_start[one]) * edges + e2 - bodies.edge_start[two])
                if edge_group(bodies, neighbours, now, margin, one, two, e1, e2, k, group):
                    close_group(bodies, neighbours, now, kin, pairs, p, complete, group, start, contacts)
    return group.size[1]
