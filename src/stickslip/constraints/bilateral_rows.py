"""Rows, velocities, J̇·v and errors of bilateral constraints, in world axes.

    linear    e = p₂ − p₁        ė = v₂(p₂) − v₁(p₁) = J·v     J̇·v = the same difference of J̇_i·v
    angular   e = R₁·log(R₁ᵀR₂)  rate ω₂ − ω₁ = J·v            J̇·v = ω̇₂ − ω̇₁ at zero joint acceleration

    coupling  e = y₁ − r₁ − Σ a_k·(y₂ − r₂)^k                  one row; the other two of its group are empty

J of the linear rows is the exact derivative of e(q), also if the loop is open. Three rows form a group; a connect has
one group, a weld two. A group's columns are the velocities that move one of its links
(``dynamics.delassus.ContactRows``).
Cost: depth of the two links per group.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.constraints.couplings import (
    Couplings,
    bend_tendons,
    coupling_error,
    coupling_rate,
    coupling_row,
    look_at_tendons,
    make_couplings,
)
from stickslip.dynamics.jacobian import last_dof, link_point, point_acceleration, point_velocity, velocity_at
from stickslip.math.quaternion import from_matrix, logarithm
from stickslip.math.spatial import rotate
from stickslip.model.loops import Constraint, Coupling
from stickslip.model.model import Model

LINEAR, ANGULAR, COUPLED = 0, 1, 2
"""Kinds of groups of rows."""


class Loops(NamedTuple):
    """Constraints as arrays; sizes: nc constraints with points, ng groups of three rows, m = 3·ng rows."""

    link1: np.ndarray
    """(nc,)."""
    link2: np.ndarray
    """(nc,)."""
    pos1: np.ndarray
    """(nc, 3) [m], in the frame of link 1."""
    pos2: np.ndarray
    """(nc, 3) [m], in the frame of link 2."""
    rot1: np.ndarray
    """(nc, 3, 3)."""
    rot2: np.ndarray
    """(nc, 3, 3)."""
    motion: np.ndarray
    """(nc, 6) velocity of p₁ [m/s] and angular velocity of frame 1 [rad/s] that link 1 does not give them; world."""
    constraint: np.ndarray
    """(ng,) the constraint that the group belongs to."""
    kind: np.ndarray
    """(ng,) LINEAR, ANGULAR or COUPLED rows."""
    couplings: Couplings
    """Coupled joints; ``constraint`` of their groups counts them alone."""


def make_loops(model: Model, constraints: Sequence[Constraint | Coupling]) -> Loops:
    """The arrays of these constraints, in their order."""
    groups: list[tuple[int, int]] = []
    coupled = [c for c in constraints if isinstance(c, Coupling)]
    placed = 0
    for c in constraints:
        if isinstance(c, Coupling):
            groups.append((sum(kind == COUPLED for _, kind in groups), COUPLED))
        else:
            groups += [(placed, kind) for kind in range(c.rows // 3)]
            placed += 1
    points = [c for c in constraints if isinstance(c, Constraint)]

    def stack(values, *shape: int) -> np.ndarray:
        return np.ascontiguousarray(np.array(list(values), dtype=float).reshape(-1, *shape))

    def whole(values) -> np.ndarray:
        return np.array(list(values), dtype=np.int64)

    return Loops(
        link1=whole(c.link1 for c in points),
        link2=whole(c.link2 for c in points),
        pos1=stack((c.pos1 for c in points), 3),
        pos2=stack((c.pos2 for c in points), 3),
        rot1=stack((c.rot1 for c in points), 3, 3),
        rot2=stack((c.rot2 for c in points), 3, 3),
        motion=stack((c.motion for c in points), 6),
        constraint=whole(c for c, _ in groups),
        kind=whole(kind for _, kind in groups),
        couplings=make_couplings(model, coupled),
    )


@kernel
def place_points(loops, kin, point1, point2):
    """p₁ and p₂ (nc, 3) [m, world], and the tendons of couplings; comes before ``group_jacobian`` and ``errors``."""
    look_at_tendons(loops.couplings, kin.q)
    for c in range(loops.link1.shape[0]):
        x, y, z = loops.pos1[c, 0], loops.pos1[c, 1], loops.pos1[c, 2]
        point1[c, 0], point1[c, 1], point1[c, 2] = link_point(kin, loops.link1[c], x, y, z)
        x, y, z = loops.pos2[c, 0], loops.pos2[c, 1], loops.pos2[c, 2]
        point2[c, 0], point2[c, 1], point2[c, 2] = link_point(kin, loops.link2[c], x, y, z)


@kernel
def column(S, d, angular, x, y, z):
    """Velocity that S[d] gives to a point (x, y, z) seen from O: linear, or angular."""
    if angular:
        return S[d, 3], S[d, 4], S[d, 5]
    return velocity_at(S, d, x, y, z)


@kernel
def group_jacobian(support, kin, loops, point1, point2, g, rows):
    """Fill group g of ``rows`` (ContactRows): motion of link 2 relative to link 1, world axes."""
    c, angular = loops.constraint[g], loops.kind[g] == ANGULAR
    if loops.kind[g] == COUPLED:
        coupling_row(loops.couplings, kin, c, g, rows)
        return
    a, b, O = loops.link1[c], loops.link2[c], kin.origin
    x1, y1, z1 = point1[c, 0] - O[a, 0], point1[c, 1] - O[a, 1], point1[c, 2] - O[a, 2]
    x2, y2, z2 = point2[c, 0] - O[b, 0], point2[c, 1] - O[b, 1], point2[c, 2] - O[b, 2]
    d1, d2 = last_dof(support, a), last_dof(support, b)
    n = 0
    while d1 >= 0 or d2 >= 0:
        d = max(d1, d2)
        u0, u1, u2 = 0.0, 0.0, 0.0
        if d2 == d:
            u0, u1, u2 = column(kin.S, d, angular, x2, y2, z2)
        if d1 == d:  # a common ancestor moves both links alike; only the gap of an open loop contributes
            w0, w1, w2 = column(kin.S, d, angular, x1, y1, z1)
            u0, u1, u2 = u0 - w0, u1 - w1, u2 - w2
        if d1 == d:
            d1 = support.dof_parent[d]
        if d2 == d:
            d2 = support.dof_parent[d]
        rows.dofs[g, n] = d
        rows.J[g, n, 0], rows.J[g, n, 1], rows.J[g, n, 2] = u0, u1, u2
        n += 1
    rows.length[g] = n


@kernel
def errors(loops, kin, point1, point2, error):
    """e (m,) [m, rad], world axes."""
    for g in range(loops.constraint.shape[0]):
        c = loops.constraint[g]
        if loops.kind[g] == COUPLED:
            error[3 * g], error[3 * g + 1], error[3 * g + 2] = coupling_error(loops.couplings, kin, c), 0.0, 0.0
            continue
        if loops.kind[g] == LINEAR:
            for k in range(3):
                error[3 * g + k] = point2[c, k] - point1[c, k]
            continue
        a, b, R = loops.link1[c], loops.link2[c], kin.rot
        # columns of the two frames in world axes; R₁·log(R₁ᵀR₂) = log(R₂R₁ᵀ)
        p0, p1, p2 = rotate(R, a, loops.rot1[c, 0, 0], loops.rot1[c, 1, 0], loops.rot1[c, 2, 0])
        p3, p4, p5 = rotate(R, a, loops.rot1[c, 0, 1], loops.rot1[c, 1, 1], loops.rot1[c, 2, 1])
        p6, p7, p8 = rotate(R, a, loops.rot1[c, 0, 2], loops.rot1[c, 1, 2], loops.rot1[c, 2, 2])
        r0, r1, r2 = rotate(R, b, loops.rot2[c, 0, 0], loops.rot2[c, 1, 0], loops.rot2[c, 2, 0])
        r3, r4, r5 = rotate(R, b, loops.rot2[c, 0, 1], loops.rot2[c, 1, 1], loops.rot2[c, 2, 1])
        r6, r7, r8 = rotate(R, b, loops.rot2[c, 0, 2], loops.rot2[c, 1, 2], loops.rot2[c, 2, 2])
        w, x, y, z = from_matrix(
            r0 * p0 + r3 * p3 + r6 * p6, r0 * p1 + r3 * p4 + r6 * p7, r0 * p2 + r3 * p5 + r6 * p8,
            r1 * p0 + r4 * p3 + r7 * p6, r1 * p1 + r4 * p4 + r7 * p7, r1 * p2 + r4 * p5 + r7 * p8,
            r2 * p0 + r5 * p3 + r8 * p6, r2 * p1 + r5 * p4 + r8 * p7, r2 * p2 + r5 * p5 + r8 * p8,
        )  # fmt: skip
        error[3 * g], error[3 * g + 1], error[3 * g + 2] = logarithm(w, x, y, z)


@kernel
def drift_of(loops, i):
    """The part of frame 1's velocity in row i that link 1 does not give it [m/s, rad/s]."""
    g = i // 3
    if loops.kind[g] == COUPLED:
        return 0.0
    return loops.motion[loops.constraint[g], i % 3 + (3 if loops.kind[g] == ANGULAR else 0)]


@kernel
def rates(loops, kin, point1, point2, rate, gamma):
    """J·v, less the motion of frame 1, (m,) [m/s, rad/s] and γ = J̇·v (m,) [m/s², rad/s²], from velocities that are up
    to date."""
    bend_tendons(loops.couplings, kin.q, kin.v)
    for g in range(loops.constraint.shape[0]):
        c, r = loops.constraint[g], 3 * g
        if loops.kind[g] == COUPLED:
            rate[r], gamma[r] = coupling_rate(loops.couplings, kin, c)
            rate[r + 1] = rate[r + 2] = gamma[r + 1] = gamma[r + 2] = 0.0
            continue
        a, b = loops.link1[c], loops.link2[c]
        if loops.kind[g] == ANGULAR:
            for k in range(3):
                rate[r + k] = kin.vel[b, 3 + k] - kin.vel[a, 3 + k] - loops.motion[c, 3 + k]
                gamma[r + k] = kin.acc[b, 3 + k] - kin.acc[a, 3 + k]
            continue
        x1, y1, z1, x2, y2, z2 = point1[c, 0], point1[c, 1], point1[c, 2], point2[c, 0], point2[c, 1], point2[c, 2]
        u0, u1, u2 = point_velocity(kin, b, x2, y2, z2)
        w0, w1, w2 = point_velocity(kin, a, x1, y1, z1)
        M = loops.motion
        rate[r], rate[r + 1], rate[r + 2] = u0 - w0 - M[c, 0], u1 - w1 - M[c, 1], u2 - w2 - M[c, 2]
        u0, u1, u2 = point_acceleration(kin, kin.acc, b, x2, y2, z2)
        w0, w1, w2 = point_acceleration(kin, kin.acc, a, x1, y1, z1)
        gamma[r], gamma[r + 1], gamma[r + 2] = u0 - w0, u1 - w1, u2 - w2


@kernel
def times(rows, groups, x, out):
    """out (m,) = J·x."""
    for g in range(groups):
        for i in range(3):
            s = 0.0
            for k in range(rows.length[g]):
                s += rows.J[g, k, i] * x[rows.dofs[g, k]]
            out[3 * g + i] = s


@kernel
def transposed_times(rows, groups, force, out):
    """out (nv,) = Jᵀ·force."""
    for d in range(out.shape[0]):
        out[d] = 0.0
    for g in range(groups):
        for k in range(rows.length[g]):
            d = rows.dofs[g, k]
            for i in range(3):
                out[d] += rows.J[g, k, i] * force[3 * g + i]


@kernel
def dense_rows(rows, groups, J):
    """Write J (m, nv), whose entries must be zero before."""
    for g in range(groups):
        for k in range(rows.length[g]):
            for i in range(3):
                J[3 * g + i, rows.dofs[g, k]] = rows.J[g, k, i]
