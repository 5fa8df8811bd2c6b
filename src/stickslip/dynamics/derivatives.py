"""Building blocks of the derivatives of τ = RNEA(q, v, a, f) by the motion of the joints, in O(links · depth).

``rnea_derivatives.py`` and ``aba_derivatives.py`` assemble them; implicit integrators use ``project``.

A displacement of velocity coordinate k displaces everything that the joint carries by the motion S_k. With v̄_k and ā_k
the velocity and acceleration (gravity subtracted) on the parent's side of the joint and v̂_k the velocity on the
child's side, let

    Ψ̇_k = v̄_k × S_k,    Ψ̈_k = ā_k × S_k + v̄_k × Ψ̇_k,    Ṡ_k = v̂_k × S_k.

A link's force f = I·ā + v ×* I·v then changes by S_k ×* f + I·Ψ̈_k + B·Ψ̇_k, where B = v ×* I − I v× + (· ×* I·v), and
by I·(Ψ̇_k + Ṡ_k) + B·S_k per unit of v_k. These expressions are linear in f, I and B, so that sums over subtrees
suffice. With F, I, B those sums at the deeper of the two joints d and k,

    ∂τ_d/∂q_k = S_d·(I·Ψ̈_k + B·Ψ̇_k + S_k ×* F_in)     d before k
    ∂τ_d/∂q_k = S_d·(I·Ψ̈_k + B·Ψ̇_k + S_k ×* F_ext)    d carried by k
    ∂τ_d/∂v_k = S_d·(I·(Ψ̇_k + Ṡ_k) + B·S_k)

F_in is the inertial force, F_ext the external one: τ = S·(F_in − F_ext). All other entries are zero. Column k is the
derivative along q ⊕ ε·e_k. The three axes of a ball joint carry one another; the translations of a free joint are fixed
in the world. The reference point O is held fixed in space, which is allowed because τ does not depend on O.

External forces are constant spatial forces at a fixed point of space; ``stiffness`` and ``damping`` of ``Derivatives``
describe how they change when a link moves. The linear columns of B vanish, and its upper right block is −2 [p]× with
the momentum p, so that 12 numbers are stored instead of 36.

Carpentier & Mansard, "Analytical derivatives of rigid body dynamics algorithms", RSS 2018; Singh, Russell & Wensing,
"Efficient analytical derivatives of rigid-body dynamics using spatial vector algebra", RA-L 7(2), 2022.
Differs from the papers in: world axes at O, joints of several velocities, external forces that depend on the motion.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.dynamics.rnea import link_forces
from stickslip.math.spatial import force_cross, inertia_times, motion_cross
from stickslip.model.arrays import BALL, FREE


class Derivatives(NamedTuple):
    """Scratch of the derivatives; quantities per link are sums over the link and its descendants."""

    carried: np.ndarray
    """(nv, 6) Ψ̇."""
    carried2: np.ndarray
    """(nv, 6) Ψ̈."""
    rate: np.ndarray
    """(nv, 6) Ψ̇ + Ṡ."""
    composite: np.ndarray
    """(nl, 10) inertia."""
    coriolis: np.ndarray
    """(nl, 12) B: the momentum p, then the lower right block by rows."""
    inner: np.ndarray
    """(nl, 6) F_in."""
    outer: np.ndarray
    """(nl, 6) F_ext."""
    stiffness: np.ndarray
    """(nl, 6, 6) minus the derivative of the external force by a displacement that displaces the velocity with it."""
    damping: np.ndarray
    """(nl, 6, 6) minus its derivative by the link's spatial velocity."""
    loaded: np.ndarray
    """(nl,) 1 where ``stiffness`` or ``damping`` is not zero."""
    zero: np.ndarray
    """(max(nl, nv), 6) constant zeros."""
    rows: np.ndarray
    """(nv, 3·nv or a little more) right-hand sides of the derivatives of forward dynamics."""


def make_derivatives(model) -> Derivatives:
    nl, nv = model.nlink, model.nv
    return Derivatives(
        carried=np.zeros((nv, 6)),
        carried2=np.zeros((nv, 6)),
        rate=np.zeros((nv, 6)),
        composite=np.zeros((nl, 10)),
        coriolis=np.zeros((nl, 12)),
        inner=np.zeros((nl, 6)),
        outer=np.zeros((nl, 6)),
        stiffness=np.zeros((nl, 6, 6)),
        damping=np.zeros((nl, 6, 6)),
        loaded=np.zeros(nl, dtype=np.int64),
        zero=np.zeros((max(nl, nv), 6)),
        rows=np.zeros((nv, -(-3 * nv // 16) * 16)),  # a multiple of the width of vector instructions
    )


@kernel
def split_forces(tree, inertia, f_ext, kin, der):
    """F_in and F_ext of every link; the accelerations ``kin.total`` must be up to date."""
    link_forces(inertia, kin.total, der.zero, kin)
    inner, outer = der.inner, der.outer
    nl = tree.parent.shape[0]
    for b in range(nl):
        for k in range(6):
            inner[b, k] = kin.force[b, k]
            outer[b, k] = f_ext[b, k]
    for b in range(nl - 1, 0, -1):
        p = tree.parent[b]
        for k in range(6):
            inner[p, k] += inner[b, k]
            outer[p, k] += outer[b, k]


@kernel
def composites(tree, kin, der):
    """Inertia, B, and the links' stiffness and damping, all summed over subtrees."""
    I, V, C, B = kin.inertia, kin.vel, der.composite, der.coriolis
    nl = tree.parent.shape[0]
    for b in range(1, nl):
        for k in range(10):
            C[b, k] = I[b, k]
        v0, v1, v2, w0, w1, w2 = V[b, 0], V[b, 1], V[b, 2], V[b, 3], V[b, 4], V[b, 5]
        h0, h1, h2 = I[b, 1], I[b, 2], I[b, 3]
        xx, yy, zz, xy, xz, yz = I[b, 4], I[b, 5], I[b, 6], I[b, 7], I[b, 8], I[b, 9]
        p0, p1, p2, l0, l1, l2 = inertia_times(I, b, v0, v1, v2, w0, w1, w2)
        B[b, 0], B[b, 1], B[b, 2] = p0, p1, p2
        # the symmetric part of the lower right block: 2 (v·h) 1 − h vᵀ − v hᵀ + [ω]J + ([ω]J)ᵀ
        vh = 2.0 * (v0 * h0 + v1 * h1 + v2 * h2)
        s00 = vh - 2.0 * h0 * v0 + 2.0 * (w1 * xz - w2 * xy)
        s11 = vh - 2.0 * h1 * v1 + 2.0 * (w2 * xy - w0 * yz)
        s22 = vh - 2.0 * h2 * v2 + 2.0 * (w0 * yz - w1 * xz)
        s01 = -h0 * v1 - h1 * v0 + (w1 * yz - w2 * yy) + (w2 * xx - w0 * xz)
        s02 = -h0 * v2 - h2 * v0 + (w1 * zz - w2 * yz) + (w0 * xy - w1 * xx)
        s12 = -h1 * v2 - h2 * v1 + (w2 * xz - w0 * zz) + (w0 * yy - w1 * xy)
        # and the antisymmetric one, −[L]×
        B[b, 3], B[b, 4], B[b, 5] = s00, s01 + l2, s02 - l1
        B[b, 6], B[b, 7], B[b, 8] = s01 - l2, s11, s12 + l0
        B[b, 9], B[b, 10], B[b, 11] = s02 + l1, s12 - l0, s22
    for b in range(nl - 1, 0, -1):
        p = tree.parent[b]
        if p == 0:
            continue
        for k in range(10):
            C[p, k] += C[b, k]
        for k in range(12):
            B[p, k] += B[b, k]
        if der.loaded[b] != 0:
            der.loaded[p] = 1
            for i in range(6):
                for k in range(6):
                    der.stiffness[p, i, k] += der.stiffness[b, i, k]
                    der.damping[p, i, k] += der.damping[b, i, k]


@kernel
def unload(der):
    """Reset: no link's external force depends on its motion."""
    for b in range(der.loaded.shape[0]):
        if der.loaded[b] != 0:
            der.loaded[b] = 0
            for i in range(6):
                for k in range(6):
                    der.stiffness[b, i, k] = 0.0
                    der.damping[b, i, k] = 0.0


@kernel
def joint_columns(tree, inertia, v, a, kin, der):
    """Ψ̇, Ψ̈ and Ψ̇ + Ṡ of every velocity."""
    S, vel, total = kin.S, kin.vel, kin.total
    one, two, rate = der.carried, der.carried2, der.rate
    g0, g1, g2 = inertia.gravity[0], inertia.gravity[1], inertia.gravity[2]
    for b in range(1, tree.parent.shape[0]):
        p = tree.parent[b]
        v0, v1, v2, v3, v4, v5 = vel[p, 0], vel[p, 1], vel[p, 2], vel[p, 3], vel[p, 4], vel[p, 5]
        a0, a1, a2 = total[p, 0] - g0, total[p, 1] - g1, total[p, 2] - g2
        a3, a4, a5 = total[p, 3], total[p, 4], total[p, 5]
        for j in range(tree.joint_start[b], tree.joint_start[b + 1]):
            kind, d = tree.joint_type[j], tree.joint_v[j]
            if kind == FREE:  # its translations are fixed in the world
                for k in range(d, d + 3):
                    for i in range(6):
                        one[k, i] = 0.0
                        two[k, i] = 0.0
                        rate[k, i] = 0.0
                v0, v1, v2 = v0 + v[d], v1 + v[d + 1], v2 + v[d + 2]
                a0, a1, a2 = a0 + a[d], a1 + a[d + 1], a2 + a[d + 2]
                d += 3
            end = d + 3 if kind == FREE or kind == BALL else d + 1
            s0, s1, s2, s3, s4, s5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            for k in range(d, end):
                r = v[k]
                s0, s1, s2 = s0 + r * S[k, 0], s1 + r * S[k, 1], s2 + r * S[k, 2]
                s3, s4, s5 = s3 + r * S[k, 3], s4 + r * S[k, 4], s5 + r * S[k, 5]
            n0, n1, n2, n3, n4, n5 = motion_cross(v0, v1, v2, v3, v4, v5, s0, s1, s2, s3, s4, s5)
            for k in range(d, end):
                m0, m1, m2, m3, m4, m5 = S[k, 0], S[k, 1], S[k, 2], S[k, 3], S[k, 4], S[k, 5]
                x0, x1, x2, x3, x4, x5 = motion_cross(v0, v1, v2, v3, v4, v5, m0, m1, m2, m3, m4, m5)
                y0, y1, y2, y3, y4, y5 = motion_cross(a0, a1, a2, a3, a4, a5, m0, m1, m2, m3, m4, m5)
                z0, z1, z2, z3, z4, z5 = motion_cross(v0, v1, v2, v3, v4, v5, x0, x1, x2, x3, x4, x5)
                c0, c1, c2, c3, c4, c5 = motion_cross(s0, s1, s2, s3, s4, s5, m0, m1, m2, m3, m4, m5)
                one[k, 0], one[k, 1], one[k, 2], one[k, 3], one[k, 4], one[k, 5] = x0, x1, x2, x3, x4, x5
                two[k, 0], two[k, 1], two[k, 2] = y0 + z0, y1 + z1, y2 + z2
                two[k, 3], two[k, 4], two[k, 5] = y3 + z3, y4 + z4, y5 + z5
                rate[k, 0], rate[k, 1], rate[k, 2] = 2.0 * x0 + c0, 2.0 * x1 + c1, 2.0 * x2 + c2
                rate[k, 3], rate[k, 4], rate[k, 5] = 2.0 * x3 + c3, 2.0 * x4 + c4, 2.0 * x5 + c5
                r = a[k]
                n0, n1, n2 = n0 + r * m0, n1 + r * m1, n2 + r * m2
                n3, n4, n5 = n3 + r * m3, n4 + r * m4, n5 + r * m5
            a0, a1, a2, a3, a4, a5 = a0 + n0, a1 + n1, a2 + n2, a3 + n3, a4 + n4, a5 + n5
            v0, v1, v2, v3, v4, v5 = v0 + s0, v1 + s1, v2 + s2, v3 + s3, v4 + s4, v5 + s5


@kernel
def project(tree, support, kin, der, move, vel, acc, A):
    """A (nv, nv): A[d, k] = S_d·(change of the force on joint d) due to column k.

    Column k displaces everything that joint k carries by move[k] and adds vel[k] and acc[k] (nv, 6) to its velocity and
    acceleration, beyond the changes that the displacement itself causes.
    """
    S, C, B, F, G = kin.S, der.composite, der.coriolis, der.inner, der.outer
    nv = A.shape[0]
    for d in range(nv):
        for k in range(nv):
            A[d, k] = 0.0
    for d in range(nv):
        b = support.dof_link[d]
        s0, s1, s2, s3, s4, s5 = S[d, 0], S[d, 1], S[d, 2], S[d, 3], S[d, 4], S[d, 5]
        m0, m1, m2, m3, m4, m5 = move[d, 0], move[d, 1], move[d, 2], move[d, 3], move[d, 4], move[d, 5]
        w0, w1, w2 = vel[d, 3], vel[d, 4], vel[d, 5]
        p0, p1, p2 = 2.0 * B[b, 0], 2.0 * B[b, 1], 2.0 * B[b, 2]
        # the inertial force at the link due to column d
        f0, f1, f2, f3, f4, f5 = inertia_times(C, b, acc[d, 0], acc[d, 1], acc[d, 2], acc[d, 3], acc[d, 4], acc[d, 5])
        c0, c1, c2, c3, c4, c5 = force_cross(
            m0, m1, m2, m3, m4, m5, F[b, 0], F[b, 1], F[b, 2], F[b, 3], F[b, 4], F[b, 5]
        )
        f0 += c0 - (p1 * w2 - p2 * w1)
        f1 += c1 - (p2 * w0 - p0 * w2)
        f2 += c2 - (p0 * w1 - p1 * w0)
        f3 += c3 + B[b, 3] * w0 + B[b, 4] * w1 + B[b, 5] * w2
        f4 += c4 + B[b, 6] * w0 + B[b, 7] * w1 + B[b, 8] * w2
        f5 += c5 + B[b, 9] * w0 + B[b, 10] * w1 + B[b, 11] * w2
        # row d as a function of the columns of the joints before it: u·acc + r·vel + g·move
        u0, u1, u2, u3, u4, u5 = inertia_times(C, b, s0, s1, s2, s3, s4, s5)
        r0, r1, r2 = 0.0, 0.0, 0.0
        r3 = p1 * s2 - p2 * s1 + B[b, 3] * s3 + B[b, 6] * s4 + B[b, 9] * s5
        r4 = p2 * s0 - p0 * s2 + B[b, 4] * s3 + B[b, 7] * s4 + B[b, 10] * s5
        r5 = p0 * s1 - p1 * s0 + B[b, 5] * s3 + B[b, 8] * s4 + B[b, 11] * s5
        c0, c1, c2, c3, c4, c5 = force_cross(
            s0, s1, s2, s3, s4, s5, G[b, 0], G[b, 1], G[b, 2], G[b, 3], G[b, 4], G[b, 5]
        )
        g0, g1, g2, g3, g4, g5 = -c0, -c1, -c2, -c3, -c4, -c5
        if der.loaded[b] != 0:
            K, D, x = der.stiffness, der.damping, vel
            f0 += row_times(K, b, 0, m0, m1, m2, m3, m4, m5) + row_times(D, b, 0, x[d, 0], x[d, 1], x[d, 2], w0, w1, w2)
            f1 += row_times(K, b, 1, m0, m1, m2, m3, m4, m5) + row_times(D, b, 1, x[d, 0], x[d, 1], x[d, 2], w0, w1, w2)
            f2 += row_times(K, b, 2, m0, m1, m2, m3, m4, m5) + row_times(D, b, 2, x[d, 0], x[d, 1], x[d, 2], w0, w1, w2)
            f3 += row_times(K, b, 3, m0, m1, m2, m3, m4, m5) + row_times(D, b, 3, x[d, 0], x[d, 1], x[d, 2], w0, w1, w2)
            f4 += row_times(K, b, 4, m0, m1, m2, m3, m4, m5) + row_times(D, b, 4, x[d, 0], x[d, 1], x[d, 2], w0, w1, w2)
            f5 += row_times(K, b, 5, m0, m1, m2, m3, m4, m5) + row_times(D, b, 5, x[d, 0], x[d, 1], x[d, 2], w0, w1, w2)
            for i in range(6):
                s = S[d, i]
                g0, g1, g2 = g0 + s * K[b, i, 0], g1 + s * K[b, i, 1], g2 + s * K[b, i, 2]
                g3, g4, g5 = g3 + s * K[b, i, 3], g4 + s * K[b, i, 4], g5 + s * K[b, i, 5]
                r0, r1, r2 = r0 + s * D[b, i, 0], r1 + s * D[b, i, 1], r2 + s * D[b, i, 2]
                r3, r4, r5 = r3 + s * D[b, i, 3], r4 + s * D[b, i, 4], r5 + s * D[b, i, 5]
        A[d, d] = s0 * f0 + s1 * f1 + s2 * f2 + s3 * f3 + s4 * f4 + s5 * f5
        for i in range(support.start[d] + 1, support.start[d + 1]):
            k = support.column[i]
            A[k, d] = S[k, 0] * f0 + S[k, 1] * f1 + S[k, 2] * f2 + S[k, 3] * f3 + S[k, 4] * f4 + S[k, 5] * f5
            A[d, k] = (
                u0 * acc[k, 0] + u1 * acc[k, 1] + u2 * acc[k, 2] + u3 * acc[k, 3] + u4 * acc[k, 4] + u5 * acc[k, 5]
                + r0 * vel[k, 0] + r1 * vel[k, 1] + r2 * vel[k, 2] + r3 * vel[k, 3] + r4 * vel[k, 4] + r5 * vel[k, 5]
                + g0 * move[k, 0] + g1 * move[k, 1] + g2 * move[k, 2]
                + g3 * move[k, 3] + g4 * move[k, 4] + g5 * move[k, 5]
            )  # fmt: skip
    turn_rotations(tree, support, S, F, G, move, A)


@kernel
def row_times(K, b, i, x0, x1, x2, x3, x4, x5):
    """Row i of the 6×6 matrix K[b] times x."""
    return (
        K[b, i, 0] * x0 + K[b, i, 1] * x1 + K[b, i, 2] * x2 + K[b, i, 3] * x3 + K[b, i, 4] * x4 + K[b, i, 5] * x5
    )  # fmt: skip


@kernel
def turn_rotations(tree, support, S, F, G, move, A):
    """Correct the blocks of all rotations of balls and free joints."""
    for j in range(tree.joint_type.shape[0]):
        if tree.joint_type[j] == FREE:
            turn_together(support, S, F, G, move, tree.joint_v[j] + 3, A)
        elif tree.joint_type[j] == BALL:
            turn_together(support, S, F, G, move, tree.joint_v[j], A)


@kernel
def turn_together(support, S, F, G, move, first, A):
    """Correct the 3×3 block of a rotation: its axes also carry the axes before them, so F_ext replaces F_in there."""
    b = support.dof_link[first]
    for k in range(first, first + 3):
        c0, c1, c2, c3, c4, c5 = force_cross(
            move[k, 0], move[k, 1], move[k, 2], move[k, 3], move[k, 4], move[k, 5],
            F[b, 0] - G[b, 0], F[b, 1] - G[b, 1], F[b, 2] - G[b, 2],
            F[b, 3] - G[b, 3], F[b, 4] - G[b, 4], F[b, 5] - G[b, 5],
        )  # fmt: skip
        for d in range(first, k + 1):
            A[d, k] -= S[d, 0] * c0 + S[d, 1] * c1 + S[d, 2] * c2 + S[d, 3] * c3 + S[d, 4] * c4 + S[d, 5] * c5


@kernel
def load_force(der, b, fx, fy, fz, x, y, z):
    """Add the stiffness of a force with constant components at a point of link b, (x, y, z) from O. Its moment changes
    as the point moves."""
    K = der.stiffness
    der.loaded[b] = 1
    # −(δp × f) with δp = δv + δω × r: [f]× for the linear part, −[f]×[r]× = (f·r) 1 − r fᵀ for the angular one
    K[b, 3, 1], K[b, 3, 2] = K[b, 3, 1] - fz, K[b, 3, 2] + fy
    K[b, 4, 0], K[b, 4, 2] = K[b, 4, 0] + fz, K[b, 4, 2] - fx
    K[b, 5, 0], K[b, 5, 1] = K[b, 5, 0] - fy, K[b, 5, 1] + fx
    fr = fx * x + fy * y + fz * z
    K[b, 3, 3], K[b, 3, 4], K[b, 3, 5] = K[b, 3, 3] + fr - x * fx, K[b, 3, 4] - x * fy, K[b, 3, 5] - x * fz
    K[b, 4, 3], K[b, 4, 4], K[b, 4, 5] = K[b, 4, 3] - y * fx, K[b, 4, 4] + fr - y * fy, K[b, 4, 5] - y * fz
    K[b, 5, 3], K[b, 5, 4], K[b, 5, 5] = K[b, 5, 3] - z * fx, K[b, 5, 4] - z * fy, K[b, 5, 5] + fr - z * fz


@kernel
def load_wrenches(kin, wrench, der):
    """Add the stiffness of wrenches (nl, 6) with constant components in world axes, at the link origins."""
    P, O = kin.pos, kin.origin
    for b in range(1, wrench.shape[0]):
        fx, fy, fz = wrench[b, 0], wrench[b, 1], wrench[b, 2]
        if fx != 0.0 or fy != 0.0 or fz != 0.0:
            load_force(der, b, fx, fy, fz, P[b, 0] - O[b, 0], P[b, 1] - O[b, 1], P[b, 2] - O[b, 2])
