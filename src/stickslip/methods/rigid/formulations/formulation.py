"""Formulation: the base class of all formulations, with what they share: forms, restitution, warm starts.

The forms differ in what is left of eq. (6) of Williams et al.:

* ``"lcp"``: velocities and joint impulses eliminated, a pure LCP (7);
* ``"reduced"``: velocities eliminated, joint impulses kept as free variables, a mixed LCP (without joints: the LCP);
* ``"mlcp"``: velocities and joint impulses kept as free variables, as printed;
* ``"ncp"``: the circular cone instead of the polygonal one, ``FrictionProblem``;
* ``"cone"``: its convex relaxation, ``ConeProblem``, for formulations with a ``regularisation``.

Restitution is Newton's: if a contact would be met within the step (u_n + offset < 0 without impulses) and is approached
faster than ``rest_speed``, it must separate with u_n⁺ ≥ −e·u_n⁻, where u_n⁻ is the normal velocity at the beginning of
the step. Slower contacts come to rest; otherwise bodies at rest would rattle.
Overlaps, and joints outside their range, are undone at a bounded speed (``recovery``).
Differs from the paper in: restitution, which the paper leaves to users; recovery.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields
from typing import ClassVar, NamedTuple, final

import numpy as np
import scipy.sparse as sp

from stickslip._jit import kernel
from stickslip.errors import InputError, number, one_of
from stickslip.methods.recovery import UNBOUNDED, Recovery, recoveries
from stickslip.methods.rigid.assembly.matrices import Matrices
from stickslip.methods.rigid.formulations.contact_lcp import contact_lcp
from stickslip.methods.rigid.formulations.joint_rows import lcp_with_joints
from stickslip.methods.rigid.formulations.mixed_lcp import mixed_lcp
from stickslip.methods.rigid.formulations.polygonal_cone import Layout, friction_directions, layout
from stickslip.solvers.elimination import Elimination, eliminate
from stickslip.solvers.problem import ConeProblem, FrictionProblem, LinearProblem, Problem

FORMS = {
    "lcp": frozenset({"lcp"}),
    "reduced": frozenset({"lcp", "mlcp"}),
    "mlcp": frozenset({"mlcp"}),
    "ncp": frozenset({"ncp"}),
    "cone": frozenset({"cone"}),
}
"""The kinds of problems that each form can give."""
JOINT_FEEDBACK = 0.9
"""Part of the joints' velocity errors that a step takes back: G_b·v⁺ = −0.9·G_b·v, as in the RPI simulator.

Rows of the beginning of a step leave a velocity error Ċ = a·h at its end (for a pendulum, a = ω²·r), and a position
error of a·h²/2. With this feedback Ċ settles at a·h/1.9, and a step adds a·h²·(1/2 − 0.9/1.9), 19 times less. Soft
rows have no errors to take back."""
DIRECTIONS = 8
"""Default number of friction directions; see ``polygonal_cone``. ``stickslip bench facets`` measures what they cost."""


@kernel
def with_restitution(offset, before, after, restitution, rest_speed):
    """One contact's offset [m/s], or e·u_n⁻ where it bounces and that asks for more speed.

    ``before`` is u_n⁻, ``after`` the normal velocity at the end of the step without impulses.
    """
    if restitution > 0.0 and offset + after < 0.0 and before < -rest_speed:
        return min(offset, restitution * before)
    return offset


@kernel
def restitution_offsets(approach, free, nb, restitution, rest_speed, offset):
    """``with_restitution`` for all contacts, in place; ``approach`` and ``free`` (m,) have nb bilateral rows first."""
    for c in range(offset.shape[0]):
        i = nb + 3 * c
        offset[c] = with_restitution(offset[c], approach[i], free[i], restitution[c], rest_speed)


@kernel
def meets_nothing(b, nb, contacts):
    """Whether no contact is met without impulses: b (nb + 3·contacts,) has no negative normal row."""
    for c in range(contacts):  # noqa: SIM110 - a kernel has no generators
        if not b[nb + 3 * c] >= 0.0:  # "not ≥" is also true of NaN
            return False
    return True


@kernel
def dry_offset(own, bound):
    """Offset of the normal of dry friction [m/s] that makes its impulse the bound; ``own`` is its W [1/kg]."""
    return -own * bound


class WrittenProblem(NamedTuple):
    """A problem, and what its unknowns are."""

    problem: Problem
    layout: Layout
    """Which contacts carry impulses, and which unknowns they have."""
    elimination: Elimination | None
    """How joint impulses follow from those of contacts, where they are eliminated."""


@dataclass
class Formulation(ABC):
    """A way to write the unknown impulses of a time step as a complementarity problem.

    Subclass it, provide ``plan`` and ``normal_offset``, and add one line to ``registry.FORMULATIONS`` (or register it
    from outside by ``ss.extend.formulation``).
    """

    form: str = "lcp"
    directions: int = DIRECTIONS
    """Number n_d of edges of the polygonal cone."""
    rest_speed: float = 0.0
    """Contacts that are approached more slowly do not bounce [m/s]."""

    recovery: Recovery = UNBOUNDED
    """The fastest recovery from overlaps and from outside joint limits; by default there is no bound."""

    blocks: bool = True
    """Whether problems say which unknowns belong to one contact; pivoting methods do not need it."""

    summary: ClassVar[str]
    reference: ClassVar[str]
    forms: ClassVar[tuple[str, ...]] = ("lcp", "reduced", "mlcp", "ncp")
    usual_solver: ClassVar[str] = "lemke"
    detector: ClassVar[str] = "convex"
    """Name of the detector that finds its contacts unless another one is chosen."""
    groups: ClassVar[bool] = False
    """Whether it works with groups of subcontacts (``Matrices.groups``), which ``Detector.find_groups`` finds."""

    cone: np.ndarray = field(init=False, repr=False)
    """(n_d, 2) the directions of friction."""

    def __post_init__(self) -> None:
        one_of("form", self.form, FORMS)
        if self.form not in self.forms:
            raise InputError(f"form {self.form!r}: {type(self).__name__} can be written as {', '.join(self.forms)}")
        self.cone = friction_directions(self.directions)
        self.rest_speed = number("rest_speed", self.rest_speed, "a speed ≥ 0 [m/s]", least=0.0)

    @abstractmethod
    def plan(self, matrices: Matrices) -> Layout:
        """Which contacts carry impulses, and which unknowns they have."""

    @abstractmethod
    def normal_offset(self, matrices: Matrices) -> np.ndarray:
        """(nc,) the offset of each contact: its normal velocity plus the offset must not be negative [m/s]."""

    def demanded(self, matrices: Matrices) -> np.ndarray | None:
        """(nc,) the offsets before their recovery is bounded and before restitution [m/s]; None by default, where
        nothing is pushed out."""
        return None

    def recovered(self, matrices: Matrices) -> tuple[np.ndarray, np.ndarray]:
        """The demanded offsets [m/s], bounded, and R of the normals [1/kg]; (nc,) each. See ``recovery``."""
        offset = self.demanded(matrices)
        if offset is None:
            return np.zeros(matrices.contacts), np.zeros(matrices.contacts)
        return bounded_recovery(matrices, self.recovery, offset)

    def dry_offset(self, matrices: Matrices) -> np.ndarray:
        """(nd,) offsets that make the normal impulses of dry friction their bounds [m/s]."""
        return -matrices.normal_mass() * matrices.dry

    def renewed(
        self, matrices: Matrices, written: WrittenProblem, z: np.ndarray, limit: float
    ) -> WrittenProblem | None:
        """The problem whose solution z is, put right where it depends on its solution; None where it is right. Bounds
        of torsional and rolling friction depend on normal impulses, and large ones on the friction that is needed."""
        if not len(matrices.dry):
            return None
        before = self.dry_offset(matrices)
        matrices.bound_dry(self.impulses(matrices, written, z))
        change = np.max(np.abs(self.dry_offset(matrices) - before))
        return None if change <= limit else self.write(matrices)

    def tangential_offset(self, matrices: Matrices) -> np.ndarray:
        """Offsets of tangential velocities [m/s], (nc, 2), or (2,) for all contacts; zero by default."""
        return np.zeros(2)

    def regularisation(self, matrices: Matrices) -> np.ndarray:
        """(nc, 2) R of each contact's normal and tangents [1/kg], for the form "cone"."""
        raise InputError(f"{type(self).__name__} is not regularised: choose another form than 'cone'")

    @classmethod
    def options(cls) -> tuple[str, ...]:
        return tuple(option.name for option in fields(cls) if option.init)

    @final
    def formulate(self, matrices: Matrices) -> Problem:
        """The problem of one time step; a subclass that writes another one overrides ``write``."""
        return self.write(matrices).problem

    def write(self, matrices: Matrices) -> WrittenProblem:
        """The problem of one time step, with its layout."""
        nb, W, R = matrices.bilateral, matrices.delassus, self.recovered(matrices)[1]
        plan, offset = self.plan(matrices), self._offset(matrices)
        if R.any():
            W = yielding(W, nb, R)
        b = matrices.free + offset
        removed: Elimination | None = None
        problem: Problem
        if self.form == "lcp":
            removed = eliminate(W, b, nb, matrices.solve_joints)
            problem = contact_lcp(removed.W, removed.b, plan, self.blocks)
        elif self.form == "reduced":
            problem = contact_lcp(W, b, plan, self.blocks) if nb == 0 else lcp_with_joints(W, b, nb, plan)
        elif self.form == "mlcp":
            problem = mixed_lcp(matrices, offset, plan, R)
        elif self.form == "ncp":
            problem = circular(W, b, plan, nb)
        else:
            problem = relaxed(circular(W, b, plan, nb), self.regularisation(matrices), plan)
        return WrittenProblem(problem, plan, removed)

    def _offset(self, matrices: Matrices) -> np.ndarray:
        """(nb + 3nc,) offsets of the velocities of all rows [m/s]."""
        nb, offset = matrices.bilateral, np.zeros(len(matrices.free))
        offset[:nb] = joint_offset(matrices)
        offset[nb::3] = self.normal_offset(matrices)
        if len(matrices.dry):
            offset[nb + 3 * (matrices.contacts - len(matrices.dry)) :: 3] = self.dry_offset(matrices)
        offset[nb:].reshape(-1, 3)[:, 1:] = self.tangential_offset(matrices)
        return offset

    def friction_problem(self, matrices: Matrices) -> tuple[FrictionProblem, np.ndarray]:
        """The step with Coulomb's exact cone, whatever the form, and which rows of the matrices it has. A regularised
        formulation has W + R in the place of W."""
        plan, nb = self.plan(matrices), matrices.bilateral
        W, R = matrices.delassus, self.recovered(matrices)[1]
        problem = circular(yielding(W, nb, R) if R.any() else W, matrices.free + self._offset(matrices), plan, nb)
        if "cone" in self.forms:
            soft = relaxed(problem, self.regularisation(matrices), plan)
            problem = FrictionProblem(soft.matrix(), problem.b, problem.friction, nb)
        return problem, _kept_rows(plan, nb)

    def impulses(self, matrices: Matrices, problem: Problem | WrittenProblem, z: np.ndarray) -> np.ndarray:
        """(nb + 3nc,) impulses of all rows [N s, N m s] from a solution of a problem of this formulation."""
        own, plan, removed = self.as_written(matrices, problem)
        nb, nc = matrices.bilateral, matrices.contacts
        if isinstance(own, FrictionProblem | ConeProblem):
            result = np.zeros(nb + 3 * nc)
            result[_kept_rows(plan, nb)] = z
            return result
        labels = own.labels if isinstance(own, LinearProblem) else {}
        first = labels["normal"].start if "normal" in labels else 0
        contact = plan.impulses(z[first:], nc)
        joints = z[labels["joint"]] if removed is None and nb else np.zeros(0)
        return np.concatenate([joints if removed is None else removed.joints(contact), contact])

    def warm_start(self, matrices: Matrices, problem: Problem | WrittenProblem, impulses: np.ndarray) -> np.ndarray:
        """(n,) a start for iterative solvers from impulses (nb + 3nc,), those of the last step for instance."""
        own, plan, _ = self.as_written(matrices, problem)
        nb = matrices.bilateral
        if isinstance(own, FrictionProblem | ConeProblem):
            return impulses[_kept_rows(plan, nb)]
        velocities = matrices.free + matrices.delassus @ impulses
        velocities[nb::3] += self.normal_offset(matrices)
        contact = plan.unknowns(impulses[nb:], velocities[nb:])
        if self.form == "lcp":
            return contact
        front = [matrices.new_velocity(impulses)] if self.form == "mlcp" else []
        return np.concatenate([*front, impulses[:nb], contact])

    def as_written(self, matrices: Matrices, problem: Problem | WrittenProblem) -> WrittenProblem:
        """A problem as this formulation writes it; one of somebody else must have the same kind and size."""
        if isinstance(problem, WrittenProblem):
            return problem
        written = self.write(matrices)
        own = written.problem
        if type(own) is not type(problem) or own.n != problem.n:
            wanted = f"the {own.n} unknowns of {type(self).__name__} as {self.form} ({type(own).__name__})"
            got = f"{problem.n} unknowns of a {type(problem).__name__}"
            remedy = "where they are your own, say how a solution z gives velocities: sim.velocity_of = f"
            raise InputError(f"problem: expected {wanted}, got {got}; {remedy}")
        return written

    def bounced(self, matrices: Matrices, offset: np.ndarray) -> np.ndarray:
        """(nc,) ``offset``, smaller where restitution asks for more speed than it does."""
        if not matrices.restitution.any():
            return offset
        m, result = matrices, offset.copy()
        restitution_offsets(m.approach, m.free, m.bilateral, m.restitution, self.rest_speed, result)
        return result

    def unhindered(self, matrices: Matrices) -> bool:
        """Whether the motion without impulses meets nothing."""
        nb = matrices.bilateral
        return nb == 0 and meets_nothing(matrices.free + self._offset(matrices), nb, matrices.contacts)

    def polygonal(self, matrices: Matrices, primary=None, secondary=None, start=None) -> Layout:
        """The layout of all contacts, or of groups."""
        return layout(matrices.friction, self.cone, primary, secondary, start)


def bounded_recovery(
    matrices: Matrices, recovery: Recovery, offset: np.ndarray, first: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """``recover`` of contacts ``first`` and later: their offsets, and R (nc,) of all."""
    offset, R = offset.copy(), np.zeros(len(offset))
    if recovery.speed < np.inf and np.any(offset[first:] < 0.0):
        diagonal = matrices.delassus.diagonal()[matrices.bilateral :: 3]
        recoveries(offset, matrices.angular, *recovery, diagonal, first, R)
    return offset, R


def yielding(W, nb: int, R: np.ndarray):
    """W with R (nc,) on the diagonal of the contacts' rows."""
    diagonal = np.zeros(W.shape[0])
    diagonal[nb:] = np.repeat(R, 3)
    return sp.csr_array(W + sp.diags_array(diagonal)) if sp.issparse(W) else W + np.diag(diagonal)


def joint_offset(matrices: Matrices) -> np.ndarray:
    """(nb,) b of the bilateral rows, G_b·v⁺ + C·p + b = 0 [m/s]."""
    errors = np.where(matrices.compliance == 0.0, matrices.approach[: matrices.bilateral], 0.0)
    return JOINT_FEEDBACK * errors - matrices.target


def _kept_rows(plan: Layout, nb: int) -> np.ndarray:
    return np.concatenate([np.arange(nb), (nb + 3 * plan.primary[:, None] + np.arange(3)).ravel()])


def circular(W, b: np.ndarray, plan: Layout, nb: int) -> FrictionProblem:
    """The exact cone for the contacts of a layout. Empty tangential rows (those of joints) get their normal's
    diagonal, because solvers may divide by it; their impulses are zero."""
    if nb + 3 * len(plan.primary) < len(b):
        kept = _kept_rows(plan, nb)
        W, b = W[kept][:, kept], b[kept]
    diagonal = W.diagonal()
    tangents = diagonal[nb:].reshape(-1, 3)
    if np.any(tangents[:, 1:] == 0.0):
        filled = np.where(tangents == 0.0, tangents[:, :1], 0.0).ravel()
        extra = np.concatenate([np.zeros(nb), filled])
        W = sp.csr_array(W + sp.diags_array(extra)) if sp.issparse(W) else W + np.diag(extra)
    return FrictionProblem(W, b, plan.friction, nb)


def relaxed(problem: FrictionProblem, regularisation: np.ndarray, plan: Layout) -> ConeProblem:
    """The relaxed problem of these contacts, with R (nc, 2) of their normals and tangents; bilateral rows have none."""
    R = np.zeros(problem.n)
    R[problem.bilateral :] = regularisation[plan.primary][:, [0, 1, 1]].ravel()
    return ConeProblem(problem.W, problem.b, problem.friction, R, problem.bilateral)
