"""Derivatives of inverse dynamics: ∂τ/∂q, ∂τ/∂v and ∂τ/∂a = M of τ = RNEA(q, v, a, f), exact, in O(links · depth).

The equations are those of ``derivatives.py``. All three matrices come from one pass over the pairs (joint, joint before
it): with u = I·S_d, r = Bᵀ·S_d and the forces f = I·Ψ̈_d + B·Ψ̇_d + S_d ×* F_in, h = I·(Ψ̇_d + Ṡ_d) + B·S_d,

    ∂τ_k/∂q_d = S_k·f     ∂τ_d/∂q_k = u·Ψ̈_k + r·Ψ̇_k + g·S_k          for every k before d
    ∂τ_k/∂v_d = S_k·h     ∂τ_d/∂v_k = u·(Ψ̇_k + Ṡ_k) + r·S_k          M_dk = u·S_k

where g = −S_d ×* F_ext is non-zero only for links on which, or on whose descendants, external forces act. With N
velocities and a tree of depth d, the cost is O(N·d); finite differences would cost N times as much as τ.

Carpentier & Mansard, "Analytical derivatives of rigid body dynamics algorithms", RSS 2018.
Differs from the paper in: the points listed in ``derivatives.py``; M is computed in the same pass.
"""

from __future__ import annotations

from stickslip._jit import kernel
from stickslip.dynamics.derivatives import composites, joint_columns, row_times, split_forces, turn_rotations
from stickslip.dynamics.kinematics import forward_accelerations, forward_motion
from stickslip.math.spatial import force_cross, inertia_times


@kernel
def rnea_derivatives(tree, support, inertia, q, v, a, f_ext, kin, der, M, dq, dv):
    """dq, dv (nv, nv): ∂τ/∂q and ∂τ/∂v of inverse dynamics; M (nnz,): ∂τ/∂a, packed.

    ``f_ext`` (nl, 6) are constant spatial forces in world axes at the tree's reference point, taken as fixed in space.
    ``der.stiffness``, ``der.damping`` and ``der.loaded`` describe how they depend on the motion; they are replaced by
    their sums over subtrees.
    """
    forward_motion(tree, inertia, q, v, kin)
    composites(tree, kin, der)
    derivatives_at(tree, support, inertia, v, a, f_ext, kin, der, M, dq, dv)


@kernel
def derivatives_at(tree, support, inertia, v, a, f_ext, kin, der, M, dq, dv):
    """Compute the derivatives; velocities, inertias and composites must be up to date."""
    forward_accelerations(tree, support, a, kin)
    split_forces(tree, inertia, f_ext, kin, der)
    joint_columns(tree, inertia, v, a, kin, der)
    project_all(tree, support, inertia, kin, der, M, dq, dv)


@kernel
def project_all(tree, support, inertia, kin, der, M, dq, dv):
    """The pass over all pairs of joints."""
    S, C, B, F, G = kin.S, der.composite, der.coriolis, der.inner, der.outer
    one, two, rate = der.carried, der.carried2, der.rate
    nv = dq.shape[0]
    for d in range(nv):
        for k in range(nv):
            dq[d, k] = 0.0
            dv[d, k] = 0.0
    for d in range(nv):
        b = support.dof_link[d]
        s0, s1, s2, s3, s4, s5 = S[d, 0], S[d, 1], S[d, 2], S[d, 3], S[d, 4], S[d, 5]
        p0, p1, p2 = 2.0 * B[b, 0], 2.0 * B[b, 1], 2.0 * B[b, 2]
        # forces at the link due to a displacement (f) and a velocity (h) of joint d
        f0, f1, f2, f3, f4, f5 = inertia_times(C, b, two[d, 0], two[d, 1], two[d, 2], two[d, 3], two[d, 4], two[d, 5])
        c0, c1, c2, c3, c4, c5 = force_cross(
            s0, s1, s2, s3, s4, s5, F[b, 0], F[b, 1], F[b, 2], F[b, 3], F[b, 4], F[b, 5]
        )
        e0, e1, e2, e3, e4, e5 = coriolis_times(B, b, one[d, 3], one[d, 4], one[d, 5])
        f0, f1, f2, f3, f4, f5 = f0 + c0 + e0, f1 + c1 + e1, f2 + c2 + e2, f3 + c3 + e3, f4 + c4 + e4, f5 + c5 + e5
        h0, h1, h2, h3, h4, h5 = inertia_times(
            C, b, rate[d, 0], rate[d, 1], rate[d, 2], rate[d, 3], rate[d, 4], rate[d, 5]
        )
        e0, e1, e2, e3, e4, e5 = coriolis_times(B, b, s3, s4, s5)
        h0, h1, h2, h3, h4, h5 = h0 + e0, h1 + e1, h2 + e2, h3 + e3, h4 + e4, h5 + e5
        if der.loaded[b] != 0:
            K, D = der.stiffness, der.damping
            x0, x1, x2, x3, x4, x5 = one[d, 0], one[d, 1], one[d, 2], one[d, 3], one[d, 4], one[d, 5]
            f0 += row_times(K, b, 0, s0, s1, s2, s3, s4, s5) + row_times(D, b, 0, x0, x1, x2, x3, x4, x5)
            f1 += row_times(K, b, 1, s0, s1, s2, s3, s4, s5) + row_times(D, b, 1, x0, x1, x2, x3, x4, x5)
            f2 += row_times(K, b, 2, s0, s1, s2, s3, s4, s5) + row_times(D, b, 2, x0, x1, x2, x3, x4, x5)
            f3 += row_times(K, b, 3, s0, s1, s2, s3, s4, s5) + row_times(D, b, 3, x0, x1, x2, x3, x4, x5)
            f4 += row_times(K, b, 4, s0, s1, s2, s3, s4, s5) + row_times(D, b, 4, x0, x1, x2, x3, x4, x5)
            f5 += row_times(K, b, 5, s0, s1, s2, s3, s4, s5) + row_times(D, b, 5, x0, x1, x2, x3, x4, x5)
            h0 += row_times(D, b, 0, s0, s1, s2, s3, s4, s5)
            h1 += row_times(D, b, 1, s0, s1, s2, s3, s4, s5)
            h2 += row_times(D, b, 2, s0, s1, s2, s3, s4, s5)
            h3 += row_times(D, b, 3, s0, s1, s2, s3, s4, s5)
            h4 += row_times(D, b, 4, s0, s1, s2, s3, s4, s5)
            h5 += row_times(D, b, 5, s0, s1, s2, s3, s4, s5)
        # row d as a function of the joints before it
        u0, u1, u2, u3, u4, u5 = inertia_times(C, b, s0, s1, s2, s3, s4, s5)
        r3 = p1 * s2 - p2 * s1 + B[b, 3] * s3 + B[b, 6] * s4 + B[b, 9] * s5
        r4 = p2 * s0 - p0 * s2 + B[b, 4] * s3 + B[b, 7] * s4 + B[b, 10] * s5
        r5 = p0 * s1 - p1 * s0 + B[b, 5] * s3 + B[b, 8] * s4 + B[b, 11] * s5
        at = support.start[d]
        dq[d, d] = s0 * f0 + s1 * f1 + s2 * f2 + s3 * f3 + s4 * f4 + s5 * f5
        dv[d, d] = s0 * h0 + s1 * h1 + s2 * h2 + s3 * h3 + s4 * h4 + s5 * h5
        M[at] = s0 * u0 + s1 * u1 + s2 * u2 + s3 * u3 + s4 * u4 + s5 * u5 + inertia.armature[d]
        for i in range(at + 1, support.start[d + 1]):
            k = support.column[i]
            x0, x1, x2, x3, x4, x5 = S[k, 0], S[k, 1], S[k, 2], S[k, 3], S[k, 4], S[k, 5]
            dq[k, d] = x0 * f0 + x1 * f1 + x2 * f2 + x3 * f3 + x4 * f4 + x5 * f5
            dv[k, d] = x0 * h0 + x1 * h1 + x2 * h2 + x3 * h3 + x4 * h4 + x5 * h5
            M[i] = x0 * u0 + x1 * u1 + x2 * u2 + x3 * u3 + x4 * u4 + x5 * u5
            dq[d, k] = (
                u0 * two[k, 0] + u1 * two[k, 1] + u2 * two[k, 2] + u3 * two[k, 3] + u4 * two[k, 4] + u5 * two[k, 5]
                + r3 * one[k, 3] + r4 * one[k, 4] + r5 * one[k, 5]
            )  # fmt: skip
            dv[d, k] = (
                u0 * rate[k, 0] + u1 * rate[k, 1] + u2 * rate[k, 2]
                + u3 * rate[k, 3] + u4 * rate[k, 4] + u5 * rate[k, 5] + r3 * x3 + r4 * x4 + r5 * x5
            )  # fmt: skip
        g = G[b, 0] != 0.0 or G[b, 1] != 0.0 or G[b, 2] != 0.0 or G[b, 3] != 0.0 or G[b, 4] != 0.0 or G[b, 5] != 0.0
        if g or der.loaded[b] != 0:
            add_loads(support, S, one, der, d, b, dq, dv)
    turn_rotations(tree, support, S, F, G, S, dq)


@kernel
def coriolis_times(B, b, w0, w1, w2):
    """B·(·, ω): the linear columns of B are zero."""
    p0, p1, p2 = 2.0 * B[b, 0], 2.0 * B[b, 1], 2.0 * B[b, 2]
    return (
        p2 * w1 - p1 * w2,
        p0 * w2 - p2 * w0,
        p1 * w0 - p0 * w1,
        B[b, 3] * w0 + B[b, 4] * w1 + B[b, 5] * w2,
        B[b, 6] * w0 + B[b, 7] * w1 + B[b, 8] * w2,
        B[b, 9] * w0 + B[b, 10] * w1 + B[b, 11] * w2,
    )


@kernel
def add_loads(support, S, one, der, d, b, dq, dv):
    """Add the part of row d, left of the diagonal, that is due to external forces on the links that joint d carries."""
    G, K, D = der.outer, der.stiffness, der.damping
    c0, c1, c2, c3, c4, c5 = force_cross(
        S[d, 0], S[d, 1], S[d, 2], S[d, 3], S[d, 4], S[d, 5], G[b, 0], G[b, 1], G[b, 2], G[b, 3], G[b, 4], G[b, 5]
    )
    g0, g1, g2, g3, g4, g5 = -c0, -c1, -c2, -c3, -c4, -c5
    r0, r1, r2, r3, r4, r5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    if der.loaded[b] != 0:
        for i in range(6):
            s = S[d, i]
            g0, g1, g2 = g0 + s * K[b, i, 0], g1 + s * K[b, i, 1], g2 + s * K[b, i, 2]
            g3, g4, g5 = g3 + s * K[b, i, 3], g4 + s * K[b, i, 4], g5 + s * K[b, i, 5]
            r0, r1, r2 = r0 + s * D[b, i, 0], r1 + s * D[b, i, 1], r2 + s * D[b, i, 2]
            r3, r4, r5 = r3 + s * D[b, i, 3], r4 + s * D[b, i, 4], r5 + s * D[b, i, 5]
    for i in range(support.start[d] + 1, support.start[d + 1]):
        k = support.column[i]
        x0, x1, x2, x3, x4, x5 = S[k, 0], S[k, 1], S[k, 2], S[k, 3], S[k, 4], S[k, 5]
        dq[d, k] += (
            g0 * x0 + g1 * x1 + g2 * x2 + g3 * x3 + g4 * x4 + g5 * x5
            + r0 * one[k, 0] + r1 * one[k, 1] + r2 * one[k, 2] + r3 * one[k, 3] + r4 * one[k, 4] + r5 * one[k, 5]
        )  # fmt: skip
        dv[d, k] += r0 * x0 + r1 * x1 + r2 * x2 + r3 * x3 + r4 * x4 + r5 * x5
