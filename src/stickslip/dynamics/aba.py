"""Articulated bodies: forward dynamics a = M⁻¹(τ − b + Jᵀf) in O(links), without forming M.

Featherstone (2008), Table 7.1, in world axes at a common point. Two things make it short. The velocity products are
added to the link forces first (as in RNEA at a = 0), so that the recursion is that of a system at rest. A joint of
several degrees of freedom is treated as a sequence of single ones, so that no small matrix is inverted.

Differs from the book in: both points above; the result is the same to round-off.
"""

from __future__ import annotations

from stickslip._jit import kernel
from stickslip.dynamics.kinematics import forward_motion
from stickslip.dynamics.rnea import link_forces


@kernel
def aba(tree, support, inertia, q, v, tau, f_ext, kin, art, a):
    """Forward dynamics: the accelerations ``a`` (nv,) under the joint forces ``tau``.

    ``f_ext`` (nl, 6) are external spatial forces (f, n) on the links, in world axes at the tree's reference point.
    """
    forward_motion(tree, inertia, q, v, kin)
    articulated_acceleration(tree, support, inertia, inertia.armature, art.inertia, 0.0, tau, f_ext, kin, art, a)


@kernel
def articulated_acceleration(tree, support, inertia, armature, drag, dt, tau, f_ext, kin, art, a):
    """``a`` from kinematics and inertias that are up to date; ``armature`` (nv,) is added to the diagonal of M, and
    dt·drag to the inertias of the links (``fluid_derivatives``), unless dt = 0 or ``drag`` (nl, 6, 6) has no rows."""
    link_forces(inertia, kin.acc, f_ext, kin)
    rigid_to_articulated(kin.inertia, art.inertia)
    I, S, f, U = art.inertia, kin.S, kin.force, art.U
    for b in range(1, drag.shape[0] if dt > 0.0 else 0):
        for i in range(6):
            for k in range(6):
                I[b, i, k] += dt * drag[b, i, k]
    nl = tree.parent.shape[0]
    for b in range(nl - 1, 0, -1):
        for d in range(support.link_dof[b + 1] - 1, support.link_dof[b] - 1, -1):
            D = armature[d]
            u = tau[d]
            for i in range(6):
                U[d, i] = (
                    I[b, i, 0] * S[d, 0] + I[b, i, 1] * S[d, 1] + I[b, i, 2] * S[d, 2]
                    + I[b, i, 3] * S[d, 3] + I[b, i, 4] * S[d, 4] + I[b, i, 5] * S[d, 5]
                )  # fmt: skip
                D += S[d, i] * U[d, i]
                u -= S[d, i] * f[b, i]
            art.D[d] = 1.0 / D
            art.u[d] = u
            for i in range(6):
                c = U[d, i] * art.D[d]
                f[b, i] += c * u
                for k in range(6):
                    I[b, i, k] -= c * U[d, k]
        p = tree.parent[b]
        if p != 0:
            for i in range(6):
                f[p, i] += f[b, i]
                for k in range(6):
                    I[p, i, k] += I[b, i, k]

    acc = art.acc
    for b in range(1, nl):
        p = tree.parent[b]
        a0, a1, a2, a3, a4, a5 = acc[p, 0], acc[p, 1], acc[p, 2], acc[p, 3], acc[p, 4], acc[p, 5]
        for d in range(support.link_dof[b], support.link_dof[b + 1]):
            r = art.D[d] * (
                art.u[d] - (U[d, 0] * a0 + U[d, 1] * a1 + U[d, 2] * a2 + U[d, 3] * a3 + U[d, 4] * a4 + U[d, 5] * a5)
            )
            a[d] = r
            a0 += S[d, 0] * r
            a1 += S[d, 1] * r
            a2 += S[d, 2] * r
            a3 += S[d, 3] * r
            a4 += S[d, 4] * r
            a5 += S[d, 5] * r
        acc[b, 0], acc[b, 1], acc[b, 2], acc[b, 3], acc[b, 4], acc[b, 5] = a0, a1, a2, a3, a4, a5


@kernel
def rigid_to_articulated(I, A):
    """The 6×6 matrices [m·1, −[h]×; [h]×, I] of ten-number inertias."""
    for b in range(1, I.shape[0]):
        m, hx, hy, hz = I[b, 0], I[b, 1], I[b, 2], I[b, 3]
        A[b, 0, 0], A[b, 0, 1], A[b, 0, 2], A[b, 0, 3], A[b, 0, 4], A[b, 0, 5] = m, 0.0, 0.0, 0.0, hz, -hy
        A[b, 1, 0], A[b, 1, 1], A[b, 1, 2], A[b, 1, 3], A[b, 1, 4], A[b, 1, 5] = 0.0, m, 0.0, -hz, 0.0, hx
        A[b, 2, 0], A[b, 2, 1], A[b, 2, 2], A[b, 2, 3], A[b, 2, 4], A[b, 2, 5] = 0.0, 0.0, m, hy, -hx, 0.0
        A[b, 3, 0], A[b, 3, 1], A[b, 3, 2] = 0.0, -hz, hy
        A[b, 4, 0], A[b, 4, 1], A[b, 4, 2] = hz, 0.0, -hx
        A[b, 5, 0], A[b, 5, 1], A[b, 5, 2] = -hy, hx, 0.0
        A[b, 3, 3], A[b, 3, 4], A[b, 3, 5] = I[b, 4], I[b, 7], I[b, 8]
        A[b, 4, 3], A[b, 4, 4], A[b, 4, 5] = I[b, 7], I[b, 5], I[b, 9]
        A[b, 5, 3], A[b, 5, 4], A[b, 5, 5] = I[b, 8], I[b, 9], I[b, 6]
