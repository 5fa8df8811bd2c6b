"""Exact derivatives of bilateral constraints, ∂q̈/∂(q, v, τ) and ∂λ/∂(q, v, τ), from the KKT system.

The solution has ID = RNEA(q, v, q̈) − Jᵀλ = τ and a_c = J·q̈ + γ* = 0. Hence, for x = q, v or τ,

    ⎡M  Jᵀ⎤ ⎡ ∂q̈/∂x⎤     ⎡∂ID/∂x − ∂τ/∂x⎤
    ⎣J  0 ⎦·⎣−∂λ/∂x⎦ = − ⎣   ∂a_c/∂x    ⎦        at fixed q̈ and λ on the right

    ∂λ/∂x = −G⁺(J·X + ∂a_c/∂x),    ∂q̈/∂x = X + M⁻¹·Jᵀ·∂λ/∂x,    X = −M⁻¹(∂ID/∂x − ∂τ/∂x)

∂ID/∂x is that of ``rnea_derivatives`` with λ as external forces of constant components in world axes, at points fixed
to the links. A point P carried by joint k, with Ψ̇, Ψ̈ and Ψ̇ + Ṡ as in ``dynamics/derivatives.py``, has the
derivatives (X_P: the velocity that the motion X gives to P; subscript ω: its angular part; v_P, p̈: velocity and
acceleration of P)

    ∂p̈/∂q_k = S_ω × p̈ + Ψ̈_P + 2 Ψ̇_ω × v_P      ∂v_P/∂q_k = S_ω × v_P + Ψ̇_P      ∂p̈/∂v_k = (Ψ̇ + Ṡ)_P + 2 S_ω × v_P

and its link ∂ω̇/∂q_k = S_ω × ω̇ + Ψ̈_ω + Ψ̇_ω × ω, ∂ω/∂q_k = S_ω × ω + Ψ̇_ω, ∂ω̇/∂v_k = (Ψ̇ + Ṡ)_ω + S_ω × ω. The
terms of stabilisation, k_d·(J·v) + k_p·e, are differentiated too: ∂e/∂q is J, times the logarithm's derivative for
rotations.

For redundant rows G⁺ is applied by the iterations of ``proximal`` to all columns at once. q̈ does not depend on the
choice of λ. The smallest λ is J·y with y = M⁻¹·Jᵀ·G⁺·λ and stays so as J changes; hence the part of ∂λ in the null
space of Jᵀ, which the system leaves open, is that of ∂(J·y)/∂q. Where the rank changes there is no derivative.

Sizes: m rows; by x the results have nv columns, by q along q ⊕ ε·e_k. Cost: that of ``aba_derivatives``, depth per row
of a_c, m²·nv + m·nv² for the products. Reference: Carpentier, "Contact Dynamics in Robotics" (slides); Carpentier &
Mansard, RSS 2018, sec. IV. Differs from them in: redundant rows, stabilisation, loops between moving links.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, sin, sqrt
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cho_solve

from stickslip._jit import kernel
from stickslip.constraints.bilateral import Bilateral, BilateralResult
from stickslip.constraints.bilateral_rows import ANGULAR
from stickslip.constraints.proximal import EPSILON
from stickslip.dynamics import Dynamics
from stickslip.dynamics.derivatives import composites, joint_columns, load_force
from stickslip.dynamics.factor import solve_rows
from stickslip.dynamics.jacobian import add_point_force, last_dof, point_acceleration, point_velocity, velocity_at
from stickslip.dynamics.kinematics import forward_accelerations, forward_velocities
from stickslip.dynamics.rnea_derivatives import derivatives_at
from stickslip.errors import InputError, UnconvergedError
from stickslip.math.spatial import cross
from stickslip.model.loops import Constraint
from stickslip.model.model import Model

REDUNDANT = 1e-6
"""Norm of the projector onto the null space of G above which rows count as redundant."""


class BilateralDerivatives(NamedTuple):
    """Derivatives at one state; nv velocities, m rows."""

    acceleration_q: np.ndarray
    """(nv, nv) ∂q̈/∂q; column k is along q ⊕ ε·e_k."""
    acceleration_v: np.ndarray
    """(nv, nv) ∂q̈/∂v."""
    acceleration_tau: np.ndarray
    """(nv, nv) ∂q̈/∂τ."""
    force_q: np.ndarray
    """(m, nv) ∂λ/∂q."""
    force_v: np.ndarray
    """(m, nv) ∂λ/∂v."""
    force_tau: np.ndarray
    """(m, nv) ∂λ/∂τ."""
    solution: BilateralResult
    """q̈ and λ themselves."""


@kernel
def load_rows(loops, kin, work, f_ext, der):
    """Add λ to the external forces on the links, and the derivatives of its moments as the links move."""
    for g in range(loops.constraint.shape[0]):
        c = loops.constraint[g]
        for side in range(2):
            link, sign, P = loops.link1[c], -1.0, work.point1
            if side == 1:
                link, sign, P = loops.link2[c], 1.0, work.point2
            x, y, z = sign * work.force[3 * g], sign * work.force[3 * g + 1], sign * work.force[3 * g + 2]
            if link == 0:
                continue
            if loops.kind[g] == ANGULAR:
                f_ext[link, 3] += x
                f_ext[link, 4] += y
                f_ext[link, 5] += z
                continue
            O = kin.origin
            add_point_force(kin, link, P[c, 0], P[c, 1], P[c, 2], x, y, z, f_ext)
            load_force(der, link, x, y, z, P[c, 0] - O[link, 0], P[c, 1] - O[link, 1], P[c, 2] - O[link, 2])


@kernel
def row_derivatives(support, loops, gravity, ka, kd, kp, kin, der, work, by_q, by_v):
    """by_q, by_v (m, nv): derivatives of ka·a_c + kd·(J·v) + kp·e, with a_c at ``kin.total``."""
    for i in range(by_q.shape[0]):
        for d in range(by_q.shape[1]):
            by_q[i, d] = 0.0
            by_v[i, d] = 0.0
    for g in range(loops.constraint.shape[0]):
        c = loops.constraint[g]
        for side in range(2):
            link, sign, P = loops.link1[c], -1.0, work.point1
            if side == 1:
                link, sign, P = loops.link2[c], 1.0, work.point2
            if loops.kind[g] == ANGULAR:
                turn_derivatives(support, ka, kd, kp, kin, der, link, sign, g, work.error, by_q, by_v)
            else:
                point_derivatives(support, gravity, ka, kd, kp, kin, der, link, sign, g, c, P, by_q, by_v)


@kernel
def point_derivatives(support, gravity, ka, kd, kp, kin, der, link, sign, g, c, P, by_q, by_v):
    """Add the contribution of the point P[c] of a link to the linear rows of group g."""
    S, one, two, rate = kin.S, der.carried, der.carried2, der.rate
    v0, v1, v2 = point_velocity(kin, link, P[c, 0], P[c, 1], P[c, 2])
    a0, a1, a2 = point_acceleration(kin, kin.total, link, P[c, 0], P[c, 1], P[c, 2])
    a0, a1, a2 = a0 - gravity[0], a1 - gravity[1], a2 - gravity[2]  # Ψ̈ contains the same gravity term; the two cancel
    x, y, z = P[c, 0] - kin.origin[link, 0], P[c, 1] - kin.origin[link, 1], P[c, 2] - kin.origin[link, 2]
    r, ka, kd, kp = 3 * g, sign * ka, sign * kd, sign * kp
    d = last_dof(support, link)
    while d >= 0:
        w0, w1, w2 = S[d, 3], S[d, 4], S[d, 5]
        j0, j1, j2 = velocity_at(S, d, x, y, z)
        n0, n1, n2 = velocity_at(one, d, x, y, z)
        c0, c1, c2 = cross(w0, w1, w2, v0, v1, v2)
        p0, p1, p2 = velocity_at(rate, d, x, y, z)
        by_v[r, d] += ka * (p0 + 2.0 * c0) + kd * j0
        by_v[r + 1, d] += ka * (p1 + 2.0 * c1) + kd * j1
        by_v[r + 2, d] += ka * (p2 + 2.0 * c2) + kd * j2
        by_q[r, d] += kd * (c0 + n0) + kp * j0
        by_q[r + 1, d] += kd * (c1 + n1) + kp * j1
        by_q[r + 2, d] += kd * (c2 + n2) + kp * j2
        p0, p1, p2 = velocity_at(two, d, x, y, z)
        c0, c1, c2 = cross(w0, w1, w2, a0, a1, a2)
        n0, n1, n2 = cross(one[d, 3], one[d, 4], one[d, 5], v0, v1, v2)
        by_q[r, d] += ka * (c0 + p0 + 2.0 * n0)
        by_q[r + 1, d] += ka * (c1 + p1 + 2.0 * n1)
        by_q[r + 2, d] += ka * (c2 + p2 + 2.0 * n2)
        d = support.dof_parent[d]


@kernel
def turn_derivatives(support, ka, kd, kp, kin, der, link, sign, g, error, by_q, by_v):
    """Add the contribution of a link's rotation to the angular rows of group g."""
    S, one, two, rate, r = kin.S, der.carried, der.carried2, der.rate, 3 * g
    w0, w1, w2 = kin.vel[link, 3], kin.vel[link, 4], kin.vel[link, 5]
    a0, a1, a2 = kin.total[link, 3], kin.total[link, 4], kin.total[link, 5]
    # ∂log(R₂R₁ᵀ): 1 ∓ ½[e]× + f·[e]×² for link 2, link 1
    e0, e1, e2 = error[r], error[r + 1], error[r + 2]
    f, half = second_coefficient(e0, e1, e2), 0.5 * sign
    ka, kd, kp = sign * ka, sign * kd, sign * kp
    d = last_dof(support, link)
    while d >= 0:
        s0, s1, s2, n0, n1, n2 = S[d, 3], S[d, 4], S[d, 5], one[d, 3], one[d, 4], one[d, 5]
        c0, c1, c2 = cross(s0, s1, s2, w0, w1, w2)
        by_v[r, d] += ka * (rate[d, 3] + c0) + kd * s0
        by_v[r + 1, d] += ka * (rate[d, 4] + c1) + kd * s1
        by_v[r + 2, d] += ka * (rate[d, 5] + c2) + kd * s2
        x0, x1, x2 = cross(e0, e1, e2, s0, s1, s2)
        y0, y1, y2 = cross(e0, e1, e2, x0, x1, x2)
        by_q[r, d] += kd * (c0 + n0) + kp * (s0 - half * x0 + f * y0)
        by_q[r + 1, d] += kd * (c1 + n1) + kp * (s1 - half * x1 + f * y1)
        by_q[r + 2, d] += kd * (c2 + n2) + kp * (s2 - half * x2 + f * y2)
        x0, x1, x2 = cross(s0, s1, s2, a0, a1, a2)
        y0, y1, y2 = cross(n0, n1, n2, w0, w1, w2)
        by_q[r, d] += ka * (x0 + two[d, 3] + y0)
        by_q[r + 1, d] += ka * (x1 + two[d, 4] + y1)
        by_q[r + 2, d] += ka * (x2 + two[d, 5] + y2)
        d = support.dof_parent[d]


@kernel
def second_coefficient(x, y, z):
    """f = (1 − (θ/2)·cot(θ/2))/θ² for a rotation by θ = |(x, y, z)|."""
    square = x * x + y * y + z * z
    if square < 1e-4:
        return 1.0 / 12.0 + square / 720.0  # the next term is below round-off
    half = 0.5 * sqrt(square)
    return (1.0 - half * cos(half) / sin(half)) / square


class _Inverse:
    """G⁺ and the projector onto the null space of G, by proximal iterations."""

    def __init__(self, G: np.ndarray, mu: float, tolerance: float, most: int) -> None:
        size, identity = float(np.max(np.diag(G), initial=0.0)), np.eye(len(G))
        self.G, self.mu, self.tolerance, self.most = G, mu * size, tolerance, most
        self.null = identity
        if size == 0.0:  # no row can move
            self.factor = None
            return
        self.factor = np.linalg.cholesky(G + self.mu * identity)
        for _ in range(most):
            before, self.null = self.null, self.mu * cho_solve((self.factor, True), self.null)
            if np.abs(self.null - before).max() <= max(tolerance, 8.0 * len(G) * EPSILON / mu):
                break
        if not self.redundant:
            self.null = np.zeros_like(G)

    @property
    def redundant(self) -> bool:
        return bool(np.max(np.abs(self.null), initial=0.0) > REDUNDANT)

    def times(self, A: np.ndarray) -> np.ndarray:
        """G⁺·A for columns in the range of G."""
        X = np.zeros_like(A)
        if self.factor is None or A.size == 0:
            return X
        for _ in range(self.most):
            rest = A - self.G @ X
            floor = 8.0 * len(A) * EPSILON * np.abs(self.G).max() * np.abs(X).max()
            if np.abs(rest).max() <= self.tolerance * np.abs(A).max() + floor:
                break
            X += cho_solve((self.factor, True), rest)
        return X - self.null @ X


def differentiate(bilateral: Bilateral, q, v, tau, external=None) -> BilateralDerivatives:
    """Derivatives of ``bilateral.solve(q, v, tau, external)``.

    The components of ``external`` are held constant: in world axes, at the link origins, which move. Raises
    ``UnconvergedError`` if constraints contradict each other.
    """
    if len(bilateral.loops.couplings.start) > 1:
        raise InputError("derivatives of bilateral contact: coupled joints have none yet; leave couplings out")
    if len(bilateral.model.inertia.cable_armature):
        raise InputError("derivatives of bilateral contact: armature of tendons has none yet; set it to 0")
    solution = bilateral.solve(q, v, tau, external)
    if not solution.success:
        raise UnconvergedError(
            f"derivatives of bilateral contact: the constraints are not met ({solution.status}, residual "
            f"{solution.residual:.1e}); leave out those that contradict others, or start from velocities that agree"
        )
    dyn, model, loops, work = bilateral.dynamics, bilateral.model, bilateral.loops, bilateral.work
    tree, support, inertia, nv, m = model.tree, model.support, model.inertia, model.nv, len(solution.force)
    kin, mass, der = dyn.data.kin, dyn.data.mass, dyn._derivatives
    q, v, a = dyn.check_q(q), dyn._v(v), solution.acceleration

    f_ext, by, C = dyn._loads(q, external), np.empty((2, nv, nv)), np.empty((2, m, nv))
    load_rows(loops, kin, work, f_ext, der)
    composites(tree, kin, der)
    derivatives_at(tree, support, inertia, v, a, f_ext, kin, der, mass.M, by[0], by[1])
    gains = bilateral.stabilisation
    kp, kd = (0.0, 0.0) if gains is None else (gains.kp, gains.kd)
    row_derivatives(support, loops, inertia.gravity, 1.0, kd, kp, kin, der, work, C[0], C[1])

    J = bilateral.jacobian
    X = np.concatenate([-by[0], -by[1], np.eye(nv), J.T], axis=1)
    solve_rows(support, mass.L, X)
    X, response = X[:, : 3 * nv], X[:, 3 * nv :]  # response: M⁻¹·Jᵀ
    inverse = _Inverse(work.G, bilateral.mu, bilateral.tolerance, bilateral.max_iterations)
    change = J @ X
    change[:, : 2 * nv] += np.concatenate([C[0], C[1]], axis=1)
    force = -inverse.times(change)
    acceleration = X + response @ force
    if inverse.redundant:
        y = np.ascontiguousarray(response @ inverse.times(solution.force[:, None])[:, 0])
        force[:, :nv] += inverse.null @ _turning(bilateral, y)
    by_q, by_v, by_tau = (np.ascontiguousarray(part) for part in np.split(acceleration, 3, axis=1))
    force_q, force_v, force_tau = (np.ascontiguousarray(part) for part in np.split(force, 3, axis=1))
    return BilateralDerivatives(by_q, by_v, by_tau, force_q, force_v, force_tau, solution)


def _turning(bilateral: Bilateral, y: np.ndarray) -> np.ndarray:
    """(m, nv) ∂(J·y)/∂q at fixed y, in the configuration of the last solve."""
    dyn, model, rest = bilateral.dynamics, bilateral.model, np.zeros(len(y))
    kin, der = dyn.data.kin, dyn._derivatives
    forward_velocities(model.tree, y, kin)
    forward_accelerations(model.tree, model.support, rest, kin)
    joint_columns(model.tree, model.inertia, y, rest, kin, der)
    by_q, by_v = np.empty((2, len(bilateral.work.a), len(y)))
    gravity = model.inertia.gravity
    row_derivatives(model.support, bilateral.loops, gravity, 0.0, 1.0, 0.0, kin, der, bilateral.work, by_q, by_v)
    return by_q


def bilateral_derivatives(
    model: Model | Dynamics, q, v, tau, constraints: Sequence[Constraint], *, external=None, **options: Any
) -> BilateralDerivatives:
    """Derivatives of ``solve_bilateral`` with the same arguments.

    Use ``differentiate`` with a ``Bilateral`` for repeated calls, because it keeps its memory.
    """
    return differentiate(Bilateral(model, constraints, **options), q, v, tau, external)
