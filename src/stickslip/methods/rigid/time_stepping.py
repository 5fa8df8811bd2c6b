"""Time stepping: unknown impulses over a step from a complementarity problem, with no stiffness anywhere.

    v⁺ = v_free + M⁻¹·Gᵀ·p(formulation, solver),    q⁺ = q ⊕ dt·v⁺

A step is: kinematics and the free velocity (``Coordinates``); contacts within a margin (``Detector``); their matrices
(``assembler``); a problem (``registry``); its solution (``solvers``); and q⁺. First order. There is
no stability limit on dt; contacts are met within a step of dt, not at an instant.
Reference: Williams et al., Figure 3 and Sec. 3.
Differs from the paper in: gyroscopic forces are there, explicit; joint springs, dampers and servos are implicit; joint
limits are unilateral rows; contacts are looked for as far as bodies can come in a step (``margin``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from stickslip.collision.contacts import ContactList, contact_velocities
from stickslip.collision.detector import Detector
from stickslip.collision.detectors import TRUSTED, make_detector
from stickslip.collision.reach import Reach
from stickslip.collision.soft_pairs.pairs import Pairs
from stickslip.errors import InputError, UnconvergedError, expected, listed
from stickslip.methods.base import DIVERGED, FASTEST, OK, Inputs, Method, Stage
from stickslip.methods.materials import RIGID
from stickslip.methods.rigid.assembly.assembler import Assembler, Dynamics
from stickslip.methods.rigid.assembly.matrices import Matrices
from stickslip.methods.rigid.coordinates.coordinates import Coordinates
from stickslip.methods.rigid.coordinates.joint_coordinates import JointCoordinates
from stickslip.methods.rigid.coordinates.maximal_coordinates import MaximalCoordinates
from stickslip.methods.rigid.formulations.formulation import DIRECTIONS
from stickslip.methods.rigid.formulations.registry import FORMULATIONS, forms_for, make_formulation
from stickslip.methods.rigid.impulse_memory import ImpulseMemory
from stickslip.methods.rigid.options import RigidOptions, own_options
from stickslip.methods.rigid.step_solver import StepSolver
from stickslip.model.model import Model, State
from stickslip.solvers.base import SolverResult
from stickslip.solvers.problem import Problem

PUSHING = 1e-6
"""The part of a step's largest normal impulse above which a contact carries one: interior points never reach zero."""


class TimeStepping(Method):
    """A formulation, its solver, coordinates and a detector; subclasses name the formulation."""

    formulation_name: ClassVar[str]
    reads = RIGID
    finds_pairs = False
    default_dt = 1e-2
    observing = ("kinematics", "collision", "impulses")
    at_overlap = "the first step undoes the overlap, and the speed that this takes remains"
    at_limits = "the first step puts it back, and the speed that this takes remains"
    Options: ClassVar[type[RigidOptions]] = RigidOptions
    options: RigidOptions

    def __init__(self, model: Model, dt: float, variant: str, pairs: Pairs, **options: Any) -> None:
        super().__init__(model, dt, variant, pairs, **options)
        chosen = self.options
        detector = chosen.detector
        self.coordinates = self._make_coordinates()
        self.work = self.work._replace(kin=self.coordinates.kin)
        self.contacts = ContactList(self.coordinates.kin, capacity=64)
        self.margin = chosen.margin
        self.reach = Reach(model, self._ahead())
        first_margin = self.reach.at_rest(dt) if self.margin is None else self.margin
        named = detector is None or isinstance(detector, str)
        self.detector = make_detector(self._usual_detector() if detector is None else detector, model, first_margin)
        self._automatic_margin = named and self.margin is None
        self._own_detector, self._trusted = named and (detector is None or detector in TRUSTED), False
        if not named and self.margin is not None:
            if not isinstance(detector, Detector):
                raise expected("margin", "a named detector or a Detector with it", detector, "your function chooses")
            self.detector.margin = self.margin
        self.left_out = getattr(self.detector, "left_out", {})
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
            directions=DIRECTIONS if directions is None else directions,
            rest_speed=rest_speed,
            **{name: getattr(chosen, name) for name in own_options(FORMULATIONS[self.formulation_name])},
        )
        self.warm_start, self.working_set = chosen.warm_start and self.solver.warm, chosen.working_set
        self.formulation.blocks = self.solver.warm
        self._assembler = Assembler(self.coordinates.support)
        self._impulses = ImpulseMemory()
        self._groups: np.ndarray | None = None
        self._matrices: Matrices | None = None
        self._problem: Problem | None = None
        self._velocity, self._solved, self._uncorrected = np.zeros(0), False, 0
        self.velocity_of: Callable[[np.ndarray], np.ndarray] | None = None

    def _make_coordinates(self) -> Coordinates:
        chosen = self.options
        if chosen.coordinates == "joint":
            return JointCoordinates(self.model)
        return MaximalCoordinates(self.model, stabilise=chosen.stabilise is not False, extra_joints=chosen.extra_joints)

    def _choose_form(self, form: str | None) -> str:
        """The one that was asked for, if the solvers solve it; else the first that they do."""
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

    def _ahead(self) -> float:
        """[s] by how much contacts act before the step that meets them."""
        return 0.0

    def _usual_detector(self) -> str:
        return "convex"

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
            "kinematics": lambda sim: self._begin(sim.state, sim.inputs),
            "collision": lambda sim: self._detect(),
            "formulate": lambda sim: self._formulate(),
            "solve": lambda sim: self._solve_problem(),
            "integrate": lambda sim: self._finish(sim.state),
            "impulses": lambda sim: self._recall(),
        }

    def _begin(self, state: State, inputs: Inputs) -> None:
        self.coordinates.begin(state, inputs, self.dt)
        self._matrices = self._problem = self.velocity_of = self._groups = None
        self._solved = self._trusted = False

    def _detect(self) -> None:
        if self._automatic_margin:
            self.detector.margin = self.reach.margin(self.coordinates.kin, self.dt)
        if self.formulation_name == "peg":
            self._groups = self.detector.find_groups(self.coordinates.kin, self.contacts)
        else:
            self.detector.find(self.coordinates.kin, self.contacts)
        self._trusted = self._own_detector

    @property
    def matrices(self) -> Matrices:
        """Of the step at hand, made when first asked for."""
        if self._matrices is None:
            c = self.coordinates
            if not self._trusted:
                self.contacts.check()
            bodies = Dynamics(c.support, c.kin, c.M, c.L, c.velocity, c.free_velocity)
            self._matrices = self._assembler.assemble(
                bodies, self.contacts, self.dt, c.bilateral(), c.limits(), self._groups, c.soft()
            )
            self._matrices.solve_joints = c.joint_solver()
        return self._matrices

    @property
    def problem(self) -> Problem:
        """Of the step at hand, made when first asked for."""
        if self._problem is None:
            self._formulate()
        assert self._problem is not None
        return self._problem

    @problem.setter
    def problem(self, value: Problem) -> None:
        if not isinstance(value, Problem):
            wanted = "a LinearProblem, NonlinearProblem or FrictionProblem"
            raise expected("sim.problem", wanted, value, "see stickslip.solvers")
        self._problem = value

    @property
    def result(self) -> SolverResult | None:
        """Of the last step."""
        return self.solver.result

    def _formulate(self) -> None:
        matrices = self.matrices
        if np.isfinite(matrices.free.sum() + matrices.free_velocity.sum()):
            self._problem = self.formulation.formulate(matrices)

    def _solve_problem(self) -> None:
        if self._problem is None:
            self._formulate()
        if self._problem is None:  # not finite: the step is not taken
            self._take(self.coordinates.free_velocity * np.nan)
            return
        start = plan = None
        if self.velocity_of is None:  # else the unknowns are those of a Python formulate function
            self.formulation.plan_of(self.matrices, self._problem)  # refuses those of others
            if self.warm_start:
                start = self._start(self.matrices, self._problem)
            if self.working_set and self.formulation.form in ("lcp", "reduced"):
                plan = self.formulation.plan_of(self.matrices, self._problem)[0]
        self.accept(self.solver.solve(self._problem, start, plan).z)

    def _start(self, matrices: Matrices, problem: Problem) -> np.ndarray:
        """The last step's impulses; none where nothing is met without: friction could jam what may as well move."""
        last = self._impulses.recall(matrices)
        if self.formulation.unhindered(matrices):
            last[:] = 0.0
        return self.formulation.warm_start(matrices, problem, last)

    def accept(self, z: np.ndarray) -> None:
        """Take z for the solution of the step's problem: new velocities, accelerations, contact forces."""
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
            impulses = self.formulation.impulses(self.matrices, self.problem, z)
            self._take(self.matrices.new_velocity(impulses))
            nb, n = self.matrices.bilateral, len(self.contacts)
            self.contacts.arrays.force[:n] = impulses[nb : nb + 3 * n].reshape(n, 3) / self.dt
            self._impulses.store(self.matrices, impulses)
            normal = impulses[nb::3]
            pushing = np.flatnonzero(normal > PUSHING * normal.max(initial=0.0))
            if not self.coordinates.eliminated and len(pushing):
                self.coordinates.hold(self.matrices.rows[nb + 3 * pushing])

    def _take(self, velocity: np.ndarray) -> None:
        self._velocity, self._solved = velocity, True
        if self.coordinates.eliminated:
            self.work.acceleration[:] = (velocity - self.coordinates.velocity) / self.dt
        else:
            self.work.acceleration[:] = 0.0 if self._bounded() == OK else np.nan

    def _bounded(self) -> int:
        return OK if np.abs(self._velocity).max(initial=0.0) <= FASTEST else DIVERGED

    def _finish(self, state: State) -> None:
        if not self._solved:  # a Python solve stage wrote accelerations
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
        """A step whose joints are left open counts as unconverged, once."""
        if self.solver.policy == "raise":
            raise UnconvergedError(
                f"joint errors of {listed(self.coordinates.joint_names)} are above their tolerance after 25 "
                "corrections; choose a smaller dt, or unconverged='warn' to go on"
            )
        if self.solver.result is None or self.solver.result.success:
            self._uncorrected += 1

    def _recall(self) -> None:
        """The last step's impulses as forces of the contacts of now, for recordings."""
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

    def memory(self) -> dict[str, np.ndarray]:
        return {**self._impulses.memory(), **self.coordinates.memory()}

    def remember(self, memory) -> None:
        self._impulses.make_room(len(memory["pair"]), len(memory["joint_impulse"]))
        super().remember(memory)
