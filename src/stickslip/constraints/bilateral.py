"""Rigid bilateral constraints: feet that stick to the ground, closed loops, welds.

    min ½‖q̈ − q̈_f‖²_M   s.t.  J·q̈ + γ* = 0        (least action; Gauss)

    ⎡M  Jᵀ⎤ ⎡ q̈⎤   ⎡M·q̈_f⎤
    ⎣J  0 ⎦·⎣−λ⎦ = ⎣ −γ* ⎦        G·λ + a_f = 0,   G = J·M⁻¹·Jᵀ,   a_f = J·q̈_f + γ*,   q̈ = q̈_f + M⁻¹·Jᵀ·λ

q̈_f = M⁻¹(τ − b) is the acceleration without constraints; γ* = J̇·v + k_d·(J·v) + k_p·e, where the last two terms are
those of stabilisation. G is computed with the tree-sparse factor of M, and G·λ + a_f = 0 is solved by ``proximal``. If
rows are redundant, λ is the smallest of the many solutions. If they contradict each other, q̈ minimises ‖q̈ − q̈_f‖_M
among the accelerations with the smallest ‖J·q̈ + γ*‖, and the residual reports what remains.

λ (m,) acts on link 2, its opposite on link 1. Each constraint has a force [N] in world axes, at p₂ on link 2 and at p₁
on link 1; a weld also has a torque [N m] in world axes. Sizes: m rows, 3 per connect, 6 per weld, in their order. Cost:
kinematics, M = LᵀDL, depth² per row, m²·depth for G, m³/6 for its factor, 2m² per iteration.
Reference: Carpentier, "Contact Dynamics in Robotics" (slides); Featherstone, IJRR 29(10), 2010, for G.
Differs from the slides in: dependent rows are allowed; optional stabilisation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.constraints.bilateral_rows import (
    Loops,
    dense_rows,
    errors,
    group_jacobian,
    make_loops,
    place_points,
    rates,
    times,
    transposed_times,
)
from stickslip.constraints.couplings import widest
from stickslip.constraints.proximal import CONFLICT, CONVERGED, MAX_ITERATIONS, NOT_FINITE, largest, proximal_solve
from stickslip.dynamics import Dynamics
from stickslip.dynamics.crba import composite_inertia
from stickslip.dynamics.delassus import all_blocks, eliminate, make_contact_rows
from stickslip.dynamics.factor import ltdl_factor, solve
from stickslip.dynamics.fluid_derivatives import add_drag_mass, fluid_drag
from stickslip.dynamics.kinematics import forward_motion
from stickslip.dynamics.rnea import bias_forces
from stickslip.errors import expected, number, unknown, whole
from stickslip.model.loops import Constraint, Coupling
from stickslip.model.model import Model

STATUS = {CONVERGED: "converged", CONFLICT: "conflict", MAX_ITERATIONS: "max-iterations", NOT_FINITE: "not-finite"}
"""Results of the proximal iterations: solved; solved in the least-squares sense because the constraints contradict each
other; not solved; a number was not finite."""


@dataclass(frozen=True)
class Baumgarte:
    """Baumgarte stabilisation: J·q̈ + J̇·v + kd·(J·v) + kp·e = 0; by default critically damped within 20 ms."""

    kp: float = 2500.0
    """Gain of position errors [1/s²]."""
    kd: float = 100.0
    """Gain of velocity errors [1/s]."""

    def __post_init__(self) -> None:
        number("kp", self.kp, "a number ≥ 0 [1/s²]", least=0.0)
        number("kd", self.kd, "a number ≥ 0 [1/s]", least=0.0)

    @classmethod
    def within(cls, time: float) -> Baumgarte:
        """Critically damped gains with the time constant ``time`` [s]: kp = 1/time², kd = 2/time."""
        time = number("time", time, "a positive time [s]", above=0.0)
        return cls(kp=1.0 / time**2, kd=2.0 / time)


Stabilisation = str | Baumgarte
"""``"none"``, ``"baumgarte"`` (with its default gains), or a Baumgarte."""


def stabiliser(stabilisation: Stabilisation) -> Baumgarte | None:
    """The gains; None without stabilisation."""
    if isinstance(stabilisation, Baumgarte):
        return stabilisation
    if stabilisation == "none":
        return None
    if stabilisation == "baumgarte":
        return Baumgarte()
    raise unknown("stabilisation", str(stabilisation), ("none", "baumgarte"))


@dataclass(frozen=True)
class BilateralResult:
    """Accelerations and forces at one state; nv velocities, m rows."""

    acceleration: np.ndarray
    """(nv,) q̈ [m/s², rad/s²]."""
    force: np.ndarray
    """(m,) λ on link 2, world axes [N, N m]; for each constraint the force at its point, then the torque of a weld."""
    free_acceleration: np.ndarray
    """(nv,) q̈_f, the acceleration without constraints."""
    residual: float
    """max|J·q̈ + γ*| [m/s², rad/s²]: round-off, or the amount by which the constraints contradict each other."""
    iterations: int
    """Proximal iterations."""
    status: str
    """One of ``STATUS``."""
    stabilisation: Baumgarte | None
    """Gains in γ*; None if the constraints are enforced at the level of accelerations only."""
    error: np.ndarray
    """(m,) e: p₂ − p₁ [m]; for a weld also the rotation of frame 2 relative to frame 1 [rad]; world axes."""
    rate: np.ndarray
    """(m,) J·v [m/s, rad/s]."""

    @property
    def success(self) -> bool:
        """Whether the constraints are met."""
        return self.status == "converged"


class Work(NamedTuple):
    """Scratch and results; nc constraints, m rows."""

    point1: np.ndarray
    """(nc, 3) p₁ [m, world]."""
    point2: np.ndarray
    """(nc, 3) p₂ [m, world]."""
    error: np.ndarray
    """(m,) e."""
    rate: np.ndarray
    """(m,) J·v."""
    gamma: np.ndarray
    """(m,) γ*."""
    a: np.ndarray
    """(m,) a_f, then J·q̈ + γ*."""
    G: np.ndarray
    """(m, m) G."""
    F: np.ndarray
    """(m, m) Cholesky factor of G + μ."""
    conflict: np.ndarray
    """(m,) the part of a_f that no force can remove."""
    force: np.ndarray
    """(m,) λ."""
    scratch: np.ndarray
    """(2, m) scratch of the solver."""
    free: np.ndarray
    """(2, nv) q̈_f and q̈."""


@kernel
def assemble(support, loops, kp, kd, kin, L, rows, work):
    """Compute rows, G and γ*; kinematics, velocities and the factor L of the mass matrix must be up to date."""
    groups = loops.constraint.shape[0]
    place_points(loops, kin, work.point1, work.point2)
    errors(loops, kin, work.point1, work.point2, work.error)
    rates(loops, kin, work.point1, work.point2, work.rate, work.gamma)
    for i in range(3 * groups):
        work.gamma[i] += kd * work.rate[i] + kp * work.error[i]
    for g in range(groups):
        group_jacobian(support, kin, loops, work.point1, work.point2, g, rows)
        eliminate(support, L, g, rows)
    all_blocks(support, L, rows, groups, work.G)


@kernel
def constrain(support, groups, mu, tolerance, most, L, rows, work):
    """Compute λ and q̈ (``work.free[1]``) from q̈_f (``work.free[0]``); returns (status, iterations, residual)."""
    a, free, acceleration = work.a, work.free[0], work.free[1]
    times(rows, groups, free, a)
    for i in range(a.shape[0]):
        a[i] += work.gamma[i]
    status, iterations = proximal_solve(
        work.G, a, mu, tolerance, most, work.F, work.conflict, work.force, work.scratch[0], work.scratch[1]
    )
    transposed_times(rows, groups, work.force, acceleration)
    solve(support, L, acceleration)
    for d in range(free.shape[0]):
        acceleration[d] += free[d]
    times(rows, groups, acceleration, a)
    for i in range(a.shape[0]):
        a[i] += work.gamma[i]
    return status, iterations, largest(a)


@kernel
def free_motion(tree, support, inertia, q, v, tau, f_ext, diagonal, fluid, lag, kin, mass, out):
    """Compute kinematics, the factor of M + ``diagonal``, and ``out`` = (M + diagonal)⁻¹(τ − b + Jᵀf); drag of a medium
    is part of the matrix if it is implicit over ``lag`` > 0 [s]."""
    forward_motion(tree, inertia, q, v, kin)
    composite_inertia(tree, support, inertia, kin, mass)
    for d in range(v.shape[0]):
        mass.M[support.start[d]] += diagonal[d]
    if lag > 0.0:
        fluid_drag(fluid, kin)
        add_drag_mass(fluid, support, kin, lag, mass.M)
    ltdl_factor(support, mass.M, mass.L)
    bias_forces(tree, support, inertia, f_ext, kin, out)
    for d in range(v.shape[0]):
        out[d] = tau[d] - out[d]
    solve(support, mass.L, out)


class Bilateral:
    """Bilateral constraints of one model, for repeated solves; it owns its scratch memory, so use one per thread.

    >>> feet = [Constraint("connect", 0, model.link(f), pos1=…, pos2=…) for f in names]
    >>> result = Bilateral(model, feet).solve(q, v, tau)
    >>> result.acceleration, result.force
    """

    def __init__(
        self,
        model: Model | Dynamics,
        constraints: Sequence[Constraint | Coupling],
        *,
        stabilisation: Stabilisation = "none",
        mu: float = 1e-8,
        tolerance: float = 1e-12,
        max_iterations: int = 200,
    ) -> None:
        """``mu`` is the proximal parameter over the largest diagonal entry of G; ``tolerance`` is relative to a_f."""
        self.dynamics = model if isinstance(model, Dynamics) else Dynamics(model)
        self.model = self.dynamics.model
        self.stabilisation = stabiliser(stabilisation)
        self.mu = number("mu", mu, "a positive number", above=0.0)
        self.tolerance = number("tolerance", tolerance, "a positive number", above=0.0)
        self.max_iterations = whole("max_iterations", max_iterations, 1)
        self.set(constraints)

    def set(self, constraints: Sequence[Constraint | Coupling]) -> None:
        """Replace the constraints."""
        constraints = tuple(constraints)
        for constraint in constraints:
            if isinstance(constraint, Coupling):
                continue
            if not isinstance(constraint, Constraint):
                raise expected("constraint", "a Constraint", constraint, 'Constraint("connect", link1, link2, …)')
            for link in (constraint.link1, constraint.link2):
                if link >= self.model.nlink:
                    what = f"link of the {constraint.kind} {constraint.name!r}"
                    raise expected(what, f"an index from 0 to {self.model.nlink - 1}", link)
        self.constraints = constraints
        self.loops: Loops = make_loops(self.model, constraints)
        nc, groups = len(self.loops.link1), len(self.loops.constraint)
        m, nv = 3 * groups, self.model.nv
        self.rows = make_contact_rows(self.model.support, groups, max(1, widest(self.loops.couplings)))
        self.work = Work(
            *(np.zeros((nc, 3)), np.zeros((nc, 3)), np.zeros(m), np.zeros(m), np.zeros(m), np.zeros(m)),
            *(np.zeros((m, m)), np.zeros((m, m)), np.zeros(m), np.zeros(m), np.zeros((2, m)), np.zeros((2, nv))),
        )

    def solve(self, q, v, tau, external=None, *, diagonal=None) -> BilateralResult:
        """q̈ and λ at a state under joint forces τ (nv,) and ``external`` wrenches (nl, 6), as in ``Dynamics``.

        ``diagonal`` (nv,) is added to the diagonal of M, as implicit joint damping requires.
        """
        m, dyn = self.model, self.dynamics
        q, v, tau = dyn.check_q(q), dyn._v(v), dyn._v(tau, "tau")
        extra = np.zeros(m.nv) if diagonal is None else dyn._v(diagonal, "diagonal")
        f_ext, data, work = dyn._external(q, external), dyn.data, self.work
        free_motion(
            m.tree, m.support, m.inertia, q, v, tau, f_ext, extra, dyn._fluid, 0.0, data.kin, data.mass, work.free[0]
        )
        return self.solve_free(data.kin, data.mass.L)

    def solve_free(self, kin, L) -> BilateralResult:
        """Solve from ``work.free[0]`` = q̈_f, kinematics with velocities, and the factor of M."""
        support, work, gains = self.model.support, self.work, self.stabilisation
        kp, kd = (0.0, 0.0) if gains is None else (gains.kp, gains.kd)
        assemble(support, self.loops, kp, kd, kin, L, self.rows, work)
        groups = len(self.loops.constraint)
        status, iterations, residual = constrain(
            support, groups, self.mu, self.tolerance, self.max_iterations, L, self.rows, work
        )
        return BilateralResult(
            acceleration=work.free[1].copy(),
            force=work.force.copy(),
            free_acceleration=work.free[0].copy(),
            residual=residual,
            iterations=iterations,
            status=STATUS[status],
            stabilisation=gains,
            error=work.error.copy(),
            rate=work.rate.copy(),
        )

    # -- results of the last solve --------------------------------------------------------------------------------

    @property
    def jacobian(self) -> np.ndarray:
        """(m, nv) J, dense."""
        J = np.zeros((len(self.work.a), self.model.nv))
        dense_rows(self.rows, len(self.loops.constraint), J)
        return J

    @property
    def delassus(self) -> np.ndarray:
        """(m, m) G = J·M⁻¹·Jᵀ."""
        return self.work.G.copy()

    @property
    def gamma(self) -> np.ndarray:
        """(m,) γ*."""
        return self.work.gamma.copy()


def solve_bilateral(
    model: Model | Dynamics, q, v, tau, constraints: Sequence[Constraint | Coupling], *, external=None, **options: Any
) -> BilateralResult:
    """q̈ and λ of one state, by a ``Bilateral`` with these options; keep one for repeated calls, as it keeps its memory.

    >>> result = solve_bilateral(model, q, v, tau, [Constraint("weld", 0, model.link("foot"), pos1=…, rot1=…)])
    """
    return Bilateral(model, constraints, **options).solve(q, v, tau, external)
