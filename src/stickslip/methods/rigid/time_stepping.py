"""Time stepping: unknown impulses over a step from a complementarity problem, with no stiffness anywhere.

    v⁺ = v_free + M⁻¹·Gᵀ·p(formulation, solver),    q⁺ = q ⊕ dt·v⁺

The stages of a step are: kinematics and the free velocity (``coordinates``); contacts within a margin
(``collision.contact_search``); their matrices (``assembly``); a problem (``formulations``); its solution
(``step_solver``); and q⁺. The method is of first order and has no stability limit on dt. An impact takes a whole step.
Reference: Williams et al., Figure 3 and Sec. 3.
Differs from the paper in: gyroscopic forces are included, averaged over the step for single bodies; centrifugal and
Coriolis forces of trees that nothing touches are taken in the middle of the step (``bias="explicit"``: all of them at
its beginning); joint springs, dampers and servos are implicit;
joint limits are unilateral rows; the margin is as far as bodies can come in a step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from stickslip.collision.contact_search import ContactSearch
from stickslip.collision.contacts import ContactList, contact_velocities
from stickslip.dynamics import Dynamics
from stickslip.errors import InputError, UnconvergedError, expected, listed, whole
from stickslip.methods.base import DIVERGED, FASTEST, OK, Inputs, Method, Stage
from stickslip.methods.complementarity import UnsolvedReport
from stickslip.methods.materials import RIGID
from stickslip.methods.moving import MovingParts
from stickslip.methods.recovery import make_recovery, pushed_out, put_back
from stickslip.methods.rigid.assembly.assembler import Assembler
from stickslip.methods.rigid.assembly.assembler import Dynamics as BodyArrays
from stickslip.methods.rigid.assembly.matrices import Matrices
from stickslip.methods.rigid.coordinates.coordinates import Coordinates
from stickslip.methods.rigid.coordinates.joint_coordinates import JointCoordinates
from stickslip.methods.rigid.coordinates.maximal_coordinates import MaximalCoordinates
from stickslip.methods.rigid.formulations.formulation import DIRECTIONS, WrittenProblem
from stickslip.methods.rigid.formulations.registry import FORMULATIONS, forms_for, make_formulation
from stickslip.methods.rigid.formulations.relaxed import ROUNDS
from stickslip.methods.rigid.impulse_memory import ImpulseMemory, choose_pushing, write_forces
from stickslip.methods.rigid.options import RigidOptions, own_options
from stickslip.methods.rigid.step_solver import FALLBACK, StepSolver
from stickslip.methods.soft.explicit import longest
from stickslip.model.model import Model, State
from stickslip.solvers.base import SolverResult
from stickslip.solvers.problem import FrictionProblem, Problem
from stickslip.solvers.registry import SOLVERS

MOST_DIRECTIONS = 1000
"""Directions of the polygonal cone, each of which is an unknown of every contact."""


class TimeStepping(Method):
    """A formulation with a solver, coordinates and a detector; subclasses name the formulation."""

    formulation_name: ClassVar[str]
    reads = RIGID
    solves_problems = loops_ahead = forces_at_end = True
    default_dt = 1e-2
    file_steps = 5
    observing = ("kinematics", "collision", "impulses")
    part_of_overlap: ClassVar[str] = ""
    """How much of an overlap a step undoes, for warnings; all of it by default."""
    Options: ClassVar[type[RigidOptions]] = RigidOptions
    options: RigidOptions

    def __init__(self, model: Model, dt: float, variant: str, **options: Any) -> None:
        super().__init__(model, dt, variant, **options)
        chosen = self.options
        self.coordinates = self._make_coordinates()
        self.work = self.work._replace(kin=self.coordinates.kin)
        self.contacts = ContactList(self.coordinates.kin, capacity=64)
        kind = FORMULATIONS[self.formulation_name]
        self.search = ContactSearch(
            model, dt, variant, chosen.detector, chosen.margin, usual=kind.detector, ahead=self._ahead()
        )
        self.detector = self.search.detector
        self.solver = StepSolver(variant, chosen.solver, chosen.solver_options, chosen.unconverged, chosen.fallback)
        form, directions, rest_speed = self._choose_form(chosen.form), chosen.directions, chosen.rest_speed
        if form in ("ncp", "cone") and directions is not None:
            wanted = f"none with form {form!r}, whose cone is circular"
            raise expected("directions", wanted, directions, "leave them out")
        if rest_speed is None:
            rest_speed = 2.0 * dt * float(np.linalg.norm(model.inertia.gravity))
        self.formulation = make_formulation(
            self.formulation_name,
            form=form,
            directions=DIRECTIONS if directions is None else whole("directions", directions, 3, MOST_DIRECTIONS),
            rest_speed=rest_speed,
            recovery=make_recovery(chosen.recovery_time, self.search.reach.radius, model.inertia.mass),
            blocks=self.solver.warm,
            **{name: getattr(chosen, name) for name in own_options(kind) if name in options},
        )
        self.warm_start, self.working_set = chosen.warm_start and self.solver.warm, chosen.working_set
        self._assembler = Assembler(self.coordinates.support)
        self._impulses = ImpulseMemory()
        self._groups: np.ndarray | None = None
        self._matrices: Matrices | None = None
        self._problem: Problem | None = None
        self._written: WrittenProblem | None = None
        """``_problem`` as the formulation writes it; None until it is needed."""
        self._velocity, self._solved, self._uncorrected = np.zeros(0), False, 0
        self._trusted = False
        """Whether the contacts at hand need no check."""
        self._pulled = False
        """Whether the free velocity at hand has looked ahead and has the adhesion of contacts, as compiled steps leave
        it."""
        self.velocity_of: Callable[[np.ndarray], np.ndarray] | None = None

    def stable_dt(self, state: State) -> float:
        """The longest stable step of links that swing: gravity is taken at the beginning of a step."""
        return longest(Dynamics(self.model).swing_norm(state.q), 0.0)

    def _make_coordinates(self) -> Coordinates:
        chosen = self.options
        if chosen.coordinates == "joint":
            return JointCoordinates(self.model, chosen.bias)
        return MaximalCoordinates(
            self.model, stabilise=chosen.stabilise is not False, extra_joints=chosen.extra_joints, bias=chosen.bias
        )

    def _choose_form(self, form: str | None) -> str:
        """The form that was asked for, if the solvers solve it; by default the first form that they solve."""
        kind, solver = FORMULATIONS[self.formulation_name], self.solver
        forms, who = kind.forms, "the function solves"
        if solver.named is not None:
            forms, who = forms_for(kind, type(solver.named)), f"{self.variant} solves"
        if solver.second is not None:
            second = forms_for(kind, type(solver.second))
            forms = tuple(choice for choice in forms if choice in second)
            who = f"{who.removesuffix(' solves')} and the fallback {solver.fallback} both solve"
        if not forms or (form is not None and form not in forms):
            raise InputError(
                f"form: {who} {', '.join(forms) or 'none'} of {self.formulation_name}, got {form or 'none'!r}"
            )
        return form or forms[0]

    def reading(self) -> dict[str, str]:
        f = self.formulation
        cone = "Coulomb's circular cone" if f.form == "ncp" else f"a polygonal cone of {f.directions} directions"
        return {**RIGID, "friction": cone, "restitution": f"{RIGID['restitution']} above {f.rest_speed:g} m/s"}

    @property
    def at_unconverged(self) -> str:  # type: ignore[override]  # elsewhere one sentence, here it depends on the solver
        kind = FORMULATIONS[self.formulation_name]
        others = self.solver.second is None and self.formulation.form in forms_for(kind, SOLVERS[FALLBACK])
        if others and self.variant != FALLBACK:
            return "unconverged='fallback' asks a second solver"
        return "choose a smaller dt, or another solver ('stickslip list')"

    @property
    def at_overlap(self) -> str:
        return pushed_out(self.formulation.recovery, self.part_of_overlap)

    @property
    def at_limits(self) -> str:
        return put_back(self.formulation.recovery, self.part_of_overlap)

    @property
    def grouped(self) -> bool:
        return self.formulation.groups

    def contact_groups(self) -> np.ndarray | None:
        return self._groups

    def moving_parts(self) -> MovingParts:
        closure = getattr(self.coordinates, "loops", None)
        return MovingParts((self.detector,), () if closure is None else (closure.bilateral.loops,))

    def _ahead(self) -> float:
        """Time by which contacts act before the step that meets them [s]."""
        return 0.0

    # -- the stages of a step ----------------------------------------------------------------------------------

    def advance(self, state: State, inputs: Inputs, n: int) -> tuple[int, int]:
        first = self.step
        for k in range(n):
            self.step = first + k
            self._begin(state, inputs)
            self._detect()
            self._solve_problem()
            status = self._bounded()
            if status != OK:
                return status, k
            self._finish(state)
        return OK, n

    def stages(self) -> dict[str, Stage]:
        return {
            "kinematics": lambda sim: self._begin(sim.state, sim.acting),
            "collision": lambda sim: self._detect(),
            "formulate": lambda sim: self._formulate(),
            "solve": lambda sim: self._solve_problem(),
            "integrate": lambda sim: self._finish(sim.state),
            "impulses": lambda sim: self._recall(),
        }

    def _begin(self, state: State, inputs: Inputs) -> None:
        self.coordinates.begin(state, inputs, self.dt)
        self._forget_problem()
        self._solved = self._trusted = self._pulled = False

    def _forget_problem(self) -> None:
        self._matrices = self._problem = self._written = self.velocity_of = self._groups = None

    def _detect(self) -> None:
        if self.formulation.groups:
            self._groups = self.search.find_groups(self.coordinates.kin, self.contacts)
        else:
            self.search.find(self.coordinates.kin, self.contacts)
        self._trusted = self.search.trusted

    @property
    def matrices(self) -> Matrices:
        """The matrices of the step at hand, made when they are first asked for."""
        if self._matrices is None:
            c = self.coordinates
            if not self._trusted:
                self.contacts.check()
            with c.at_beginning():
                if not self._pulled:
                    c.look_ahead(self.contacts.arrays)
                free = c.free_velocity if self._pulled else self._assembler.pulled(c, self.contacts, self.dt)
                bodies = BodyArrays(c.support, c.kin, c.M, c.L, c.velocity, free)
                self._matrices = self._assembler.assemble(
                    bodies, self.contacts, self.dt, c.bilateral(), c.limits(), self._groups, c.soft(), c.bound,
                    c.joint_drift(),
                )  # fmt: skip
                self._matrices.solve_joints = c.joint_solver()
                spins = np.ones(len(self._matrices.owner), dtype=np.bool_)
                self._matrices.angular = np.concatenate([c.angular, spins])[-self._matrices.limits :]
                self._matrices.bound_dry(self._impulses.recall(self._matrices))
        return self._matrices

    @property
    def problem(self) -> Problem:
        """The problem of the step at hand, made when it is first asked for."""
        if self._problem is None:
            self._formulate()
        assert self._problem is not None
        return self._problem

    @problem.setter
    def problem(self, value: Problem) -> None:
        if not isinstance(value, Problem):
            wanted = "a LinearProblem, NonlinearProblem or FrictionProblem"
            raise expected("sim.problem", wanted, value, "see stickslip.solvers")
        self._problem, self._written = value, None

    @property
    def result(self) -> SolverResult | None:
        """How the last step's problem was solved."""
        return self.solver.result

    def _formulate(self) -> None:
        matrices = self.matrices
        if np.isfinite(matrices.free.sum() + matrices.free_velocity.sum()):
            self._written = self.formulation.write(matrices)
            self._problem = self._written.problem

    def _as_written(self) -> WrittenProblem:
        """The problem at hand, refused where its unknowns are not those of the formulation."""
        if self._written is None:
            self._written = self.formulation.as_written(self.matrices, self.problem)
        return self._written

    def _solve_problem(self) -> None:
        if self._problem is None:
            self._formulate()
        if self._problem is None:  # not finite: the step is not taken
            self._take(self.coordinates.free_velocity * np.nan)
            return
        start = plan = None
        if self.velocity_of is None:  # else the unknowns are those of a Python formulate function
            written = self._as_written()
            if self.warm_start:
                start = self._start(self.matrices, written)
            if self.working_set and self.formulation.form in ("lcp", "reduced"):
                plan = written.layout
        z = self.solver.solve(self._problem, start, plan).z
        for _ in range(ROUNDS if self.velocity_of is None else 0):
            renewed = self.formulation.renewed(self.matrices, self._as_written(), z, self.residual_limit())
            if renewed is None:
                break
            self._written, self._problem = renewed, renewed.problem
            z = self.solver.solve(self._problem, z, plan).z
        else:
            if self.velocity_of is None:
                self.solver.reject(self._problem)
        self.accept(z)

    def _start(self, matrices: Matrices, problem: WrittenProblem) -> np.ndarray:
        """The last step's impulses, or zeros if nothing is met without impulses: else friction could jam a body that
        may as well move."""
        last = self._impulses.recall(matrices)
        if self.formulation.unhindered(matrices):
            last[:] = 0.0
        return self.formulation.warm_start(matrices, problem, last)

    def accept(self, z: np.ndarray) -> None:
        """Take z for the solution of the step's problem: it gives new velocities, accelerations and contact forces."""
        if self.velocity_of is not None:
            velocity = np.asarray(self.velocity_of(z), dtype=float)
            if velocity.shape != self.coordinates.free_velocity.shape:
                wanted = f"velocities of shape {self.coordinates.free_velocity.shape}"
                raise expected("sim.velocity_of", wanted, velocity.shape, "sim.matrices.new_velocity gives them")
            self._take(velocity)
        else:
            if np.shape(z) != (self.problem.n,):
                raise expected("z", f"the {self.problem.n} unknowns of sim.problem", np.shape(z))
            z = np.asarray(z, dtype=float)
            impulses = self.impulses(z)
            self._take(self.matrices.new_velocity(impulses))
            nb, n = self.matrices.bilateral, len(self.contacts)
            write_forces(impulses[nb:], self.dt, n, self.contacts.arrays)
            self._impulses.store(self.matrices, impulses)
            if not self.coordinates.eliminated and self.matrices.contacts:
                some = self.matrices.contacts - len(self.matrices.dry)
                pushing = np.empty(some, dtype=np.int64)
                pushing = pushing[: choose_pushing(impulses[nb:], some, pushing)]
                self.coordinates.hold(self.matrices.rows[nb + 3 * pushing])

    def _take(self, velocity: np.ndarray) -> None:
        self._velocity, self._solved = velocity, True
        if self.coordinates.eliminated:
            self.work.acceleration[:] = (velocity - self.coordinates.velocity) / self.dt
        else:
            self.work.acceleration[:] = 0.0 if self._bounded() == OK else np.nan

    def friction_problem(self) -> tuple[FrictionProblem, np.ndarray]:
        """The step at hand with Coulomb's exact cone, whatever the form, and which rows of ``matrices`` it has."""
        return self.formulation.friction_problem(self.matrices)

    def impulses(self, z: np.ndarray) -> np.ndarray:
        """(nb + 3nc,) impulses of all rows [N s, N m s] from a solution of ``problem``."""
        return self.formulation.impulses(self.matrices, self._as_written(), z)

    @property
    def title(self) -> str:
        """Formulation, solver and form."""
        return f"{self.formulation_name}/{self.variant} as {self.formulation.form}"

    def residual_limit(self) -> float:
        """The natural residual up to which ``problem`` counts as solved."""
        return self.solver.limit(self.problem)

    def report_unsolved(self, report: UnsolvedReport) -> None:
        """Tell ``report`` of every problem that is not solved."""
        self.solver.report = report

    def _bounded(self) -> int:
        return OK if np.abs(self._velocity).max(initial=0.0) <= FASTEST else DIVERGED

    def _finish(self, state: State) -> None:
        if not self._solved:  # a Python function wrote accelerations
            if not self.coordinates.eliminated:
                raise InputError("solve: write sim.acceleration with joint coordinates only, else use sim.accept(z)")
            self._velocity = state.v + self.dt * self.work.acceleration
            self._impulses.store_forces(self.contacts, self.dt)
        before = state.v.copy()
        self.coordinates.finish(state, self._velocity, self.dt)
        if not self.coordinates.converged:
            self._count_uncorrected()
        if not self.coordinates.eliminated or self.model.loops:  # ``finish`` corrected the velocities
            self.work.acceleration[:] = (state.v - before) / self.dt

    def _count_uncorrected(self) -> None:
        """Count a step whose joints are left open as unconverged, unless its solver has been counted already."""
        if self.solver.policy == "raise":
            raise UnconvergedError(
                f"joint errors of {listed(self.coordinates.joint_names)} are above their tolerance after 25 "
                "corrections; choose a smaller dt, or unconverged='warn' to go on"
            )
        if self.solver.result is None or self.solver.result.success:
            self._uncorrected += 1

    def _recall(self) -> None:
        """Write the last step's impulses into the present contacts as forces, for recordings."""
        contact_velocities(self.coordinates.kin, self.contacts.arrays)
        self._impulses.show(self.contacts, self.dt)

    # -- what the loop asks ------------------------------------------------------------------------------------

    @property
    def iterations(self) -> int:
        return 0 if self.solver.result is None else self.solver.result.iterations

    @property
    def residual(self) -> float:
        return 0.0 if self.solver.result is None else self.solver.result.residual

    @property
    def unconverged(self) -> int:
        return self.solver.unconverged + self._uncorrected

    @property
    def constraint_names(self) -> tuple[str, ...]:
        return self.coordinates.joint_names

    def joint_error(self) -> np.ndarray:
        return np.column_stack(self.coordinates.joint_error())

    lasting = ("_uncorrected", "left_to_stages")

    def remake(self, **options: Any) -> None:
        solver = self.solver
        super().remake(**options)
        self.solver.result, self.solver.unconverged = solver.result, solver.unconverged
        self.solver.report = solver.report

    def memory(self) -> dict[str, np.ndarray]:
        return {**self._impulses.memory(), **self.coordinates.memory()}

    def remember(self, memory) -> None:
        self._impulses.make_room(len(memory["pair"]), len(memory["joint_impulse"]))
        super().remember(memory)
