"""Derivatives of forward dynamics: ∂a/∂q, ∂a/∂v and ∂a/∂τ = M⁻¹ of a = ABA(q, v, τ, f), exact.

RNEA(q, v, ABA(q, v, τ, f), f) = τ holds for all q and v. With the derivatives of inverse dynamics at that a,

    ∂a/∂q = −M⁻¹·∂RNEA/∂q,    ∂a/∂v = −M⁻¹·∂RNEA/∂v,    ∂a/∂τ = M⁻¹.

M⁻¹ is applied through the tree-sparse factor M = LᵀDL to the rows of [−∂RNEA/∂q, −∂RNEA/∂v, 1]. With N velocities, d of
them between the root and a leaf, the cost is O(N·d) for the derivatives of RNEA and for M, N·d² for the factor and N²·d
for the solves.

Carpentier & Mansard, "Analytical derivatives of rigid body dynamics algorithms", RSS 2018.
Differs from the paper in: a is computed with the factor of M, which is needed anyway; M⁻¹ is not multiplied out.
"""

from __future__ import annotations

from stickslip._jit import kernel
from stickslip.dynamics.crba import composite_inertia
from stickslip.dynamics.derivatives import composites
from stickslip.dynamics.factor import ltdl_factor, solve, solve_rows
from stickslip.dynamics.kinematics import forward_motion
from stickslip.dynamics.rnea import bias_forces
from stickslip.dynamics.rnea_derivatives import derivatives_at


@kernel
def aba_derivatives(tree, support, inertia, q, v, tau, f_ext, kin, mass, der, a, dq, dv, dtau):
    """a (nv,): forward dynamics; dq, dv, dtau (nv, nv): ∂a/∂q, ∂a/∂v and ∂a/∂τ. Forces as in ``rnea_derivatives``."""
    forward_motion(tree, inertia, q, v, kin)
    composite_inertia(tree, support, inertia, kin, mass)
    ltdl_factor(support, mass.M, mass.L)
    bias_forces(tree, support, inertia, f_ext, kin, a)
    for d in range(a.shape[0]):
        a[d] = tau[d] - a[d]
    solve(support, mass.L, a)
    composites(tree, kin, der)
    derivatives_at(tree, support, inertia, v, a, f_ext, kin, der, mass.M, dq, dv)
    nv, X = a.shape[0], der.rows
    for d in range(nv):
        for k in range(nv):
            X[d, k] = -dq[d, k]
            X[d, nv + k] = -dv[d, k]
            X[d, 2 * nv + k] = 0.0
        X[d, 2 * nv + d] = 1.0
    solve_rows(support, mass.L, X)
    for d in range(nv):
        for k in range(nv):
            dq[d, k] = X[d, k]
            dv[d, k] = X[d, nv + k]
            dtau[d, k] = X[d, 2 * nv + k]
