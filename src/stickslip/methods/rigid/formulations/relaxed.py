"""The relaxed contact problem: convex, with a regularisation R in the place of complementarity.

    min ½·pᵀ·(W + R)·p + bᵀ·p   over p in the circular cones;   K ∋ p ⟂ u' = (W + R)·p + b ∈ K*

By default, a contact is a spring K and a damper B of its material, implicit over the step. A contact that pushes has
p_n = −dt·(K·(ψ + dt·u_n) + B·u_n), u = G·v⁺, which is the problem's own condition u'_n = 0 with

    R_n = 1/(dt·(dt·K + B)),    b_n = G_n·v_free + ψ/(dt + B/K),    R_t = R_n/friction_ratio,    b_t = G_t·v_free.

A contact that sticks has u_t = −R_t·p_t: it is a damper friction_ratio·(dt·K + B). With friction_ratio = 1 this is the
same spring and damper, but the spring forgets its stretch after every step. Hence a resting contact creeps: a load f_t
moves it at the speed f_t/(friction_ratio·(dt·K + B)). A sliding contact separates, u'_n = μ·|u'_t|; see
docs/methods/relaxed.md. With ``solref`` or ``solimp``, R and b are MuJoCo's (``soft_reference``).
Dry friction of joints has a normal of its own, which has no velocities: where the joint slips it "separates" at the
speed u_n = |u_t|, which is part of its offset and is found in a few rounds, so that friction is exactly at its bound.
Joint limits are rigid, with R = 0 and ψ/dt in b_n (but see ``recovery``), and so are bilateral rows. All contacts
within the margin take part; a contact that is apart pushes if it would be met within dt + B/K. Restitution is not
honoured; K and B decide how a body bounces.

Reference: Carpentier, "Contact Dynamics in Robotics"; Todorov, ICRA 2014.
Differs from the lecture in: velocities and impulses instead of accelerations and forces; what R is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from stickslip._jit import kernel
from stickslip.errors import expected, number
from stickslip.methods.options import option
from stickslip.methods.rigid.assembly.matrices import Matrices
from stickslip.methods.rigid.formulations.formulation import (
    Formulation,
    WrittenProblem,
    bounded_recovery,
)
from stickslip.methods.rigid.formulations.polygonal_cone import Layout
from stickslip.methods.rigid.formulations.soft_reference import SOLIMP, SOLREF, SoftReference

HEAVY, ROUNDS = 99.0, 20
"""The normal of dry friction has a mass that is higher by HEAVY times, so that its offset, which depends on the slip,
is found within a few rounds: each divides its error by about a hundred. ROUNDS is the largest number of them."""


@kernel
def relaxed_offset(gap, dt, stiffness, damping):
    """ψ/(dt + B/K), what is added to one contact's normal velocity [m/s]; zero for a damper alone, K = 0."""
    return gap / (dt + damping / stiffness)


@kernel
def relaxation(dt, stiffness, damping, friction_ratio):
    """R_n and R_t of one contact [1/kg]; zero for a joint limit, whose K is infinite."""
    normal = 1.0 / (dt * (dt * stiffness + damping))
    return normal, normal / friction_ratio


@kernel
def relaxed_offsets(gap, dt, stiffness, damping, out):
    """``relaxed_offset`` for all contacts."""
    for c in range(gap.shape[0]):
        out[c] = relaxed_offset(gap[c], dt, stiffness[c], damping[c])


@kernel
def relaxations(dt, stiffness, damping, friction_ratio, out):
    """``relaxation`` for all contacts, (nc, 2)."""
    for c in range(stiffness.shape[0]):
        out[c, 0], out[c, 1] = relaxation(dt, stiffness[c], damping[c], friction_ratio)


@dataclass
class Relaxed(Formulation):
    """Contacts that are implicit springs and dampers in a convex problem."""

    form: str = "cone"
    friction_ratio: float = option(
        1.0, "R of the normal over R of the tangents, > 0, MuJoCo's impratio: more is less creep"
    )
    solref: tuple[float, ...] | None = option(
        None,
        "MuJoCo's (time constant [s], damping ratio), or (−stiffness [1/s²], −damping [1/s]), of all contacts in place "
        "of K and B (default: none, unless there is a solimp)",
    )
    solimp: tuple[float, ...] | None = option(
        None, "MuJoCo's impedance (d₀, d_width, width [m], midpoint, power), with solref (default: MuJoCo's)"
    )

    soft: SoftReference | None = field(init=False, repr=False, default=None)
    """MuJoCo's numbers; None: R comes from the material."""

    summary: ClassVar[str] = "relaxed contacts: convex, regularised by stiffness and damping"
    reference: ClassVar[str] = "Carpentier, Contact Dynamics in Robotics; Todorov, ICRA 2014"
    forms: ClassVar[tuple[str, ...]] = ("cone",)
    usual_solver: ClassVar[str] = "pgs"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.friction_ratio = number("friction_ratio", self.friction_ratio, "a number > 0", above=0.0)
        if self.solref is not None or self.solimp is not None:
            given = (self.solref, SOLREF), (self.solimp, SOLIMP)
            self.soft = SoftReference(*(usual if own is None else own for own, usual in given))

    def plan(self, matrices: Matrices) -> Layout:
        if self.soft is None:
            return self.polygonal(matrices)
        kept = np.flatnonzero((matrices.gap < 0.0) | np.isinf(matrices.stiffness))
        nothing = np.zeros(0, dtype=np.int64)
        return self.polygonal(matrices, kept, nothing, np.zeros(len(kept) + 1, dtype=np.int64))

    def normal_offset(self, matrices: Matrices) -> np.ndarray:
        gap, dt = matrices.gap, matrices.dt
        if self.soft is None:
            _check(matrices)
            offset = np.empty(len(gap))
            relaxed_offsets(gap, dt, matrices.stiffness, matrices.damping, offset)
            return self._limited(matrices, offset)[0]
        k, b = self.soft.spring(dt)
        before = matrices.approach[matrices.bilateral :: 3]
        offset = dt * k * self.soft.impedance(gap) * gap - (1.0 - dt * b) * before
        return self._limited(matrices, np.where(np.isinf(matrices.stiffness), gap / dt, offset))[0]

    def dry_offset(self, matrices: Matrices) -> np.ndarray:
        return matrices.slip - (1.0 + HEAVY) * matrices.normal_mass() * matrices.dry

    def renewed(
        self, matrices: Matrices, written: WrittenProblem, z: np.ndarray, limit: float
    ) -> WrittenProblem | None:
        if not len(matrices.dry):
            return None
        before, impulses = self.dry_offset(matrices), self.impulses(matrices, written, z)
        matrices.bound_dry(impulses)
        matrices.slip = matrices.dry_speeds(matrices.free + matrices.delassus @ impulses)
        change = np.max(np.abs(self.dry_offset(matrices) - before))
        return None if change <= limit else self.write(matrices)

    def tangential_offset(self, matrices: Matrices) -> np.ndarray:
        if self.soft is None:
            return super().tangential_offset(matrices)
        kept = 1.0 - matrices.dt * self.soft.spring(matrices.dt)[1]
        return -kept * matrices.approach[matrices.bilateral :].reshape(-1, 3)[:, 1:]

    def regularisation(self, matrices: Matrices) -> np.ndarray:
        if self.soft is None:
            _check(matrices)
            R = np.empty((matrices.contacts, 2))
            relaxations(matrices.dt, matrices.stiffness, matrices.damping, self.friction_ratio, R)
            R[:, 0] += self._limited(matrices, matrices.gap / matrices.dt)[1]
            return self._heavy(matrices, R)
        d = self.soft.impedance(matrices.gap)
        own = matrices.delassus.diagonal()[matrices.bilateral :: 3]
        rigid = self._limited(matrices, matrices.gap / matrices.dt)[1]
        normal = np.where(np.isinf(matrices.stiffness), rigid, (1.0 - d) / d * own)
        return self._heavy(matrices, np.column_stack([normal, normal / self.friction_ratio]))

    def _heavy(self, matrices: Matrices, R: np.ndarray) -> np.ndarray:
        """R (nc, 2), with that of dry friction."""
        if len(matrices.dry):
            R[-len(matrices.dry) :] = np.column_stack([HEAVY * matrices.normal_mass(), np.zeros(len(matrices.dry))])
        return R

    def _limited(self, matrices: Matrices, offset: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Offsets with those of joint limits bounded, and R (nc,) of the limits."""
        return bounded_recovery(matrices, self.recovery, offset, matrices.contacts - matrices.limits)


def _check(matrices: Matrices) -> None:
    if not np.all((matrices.stiffness > 0.0) | (matrices.damping > 0.0)):
        raise expected("stiffness and damping", "K > 0 or B > 0 of every contact", "neither")
