"""Simulation: wires the stages of a step together and owns the loop.

The stages are those of the RPI simulator's Figure 3: user function → collision → formulate → solve → integrate →
record. Any of them may be a plain Python function of the simulation; then the loop runs stage by stage. Without one,
all steps between two calls of the controller run as one compiled loop.
"""

from __future__ import annotations

import copy
import inspect
import time as clock
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from math import ceil
from operator import is_
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy import isfinite

from stickslip.attributes import ELSEWHERE, Guarded
from stickslip.collision.contacts import Contacts, contact_velocities
from stickslip.collision.distance import Distance, Distances
from stickslip.constraints.inverse_kinematics import InverseKinematicsResult, inverse_kinematics
from stickslip.dynamics import Dynamics, Energy
from stickslip.dynamics.kinematics import forward_kinematics, forward_velocities
from stickslip.errors import (
    DivergedError,
    brief,
    called,
    deprecated,
    expected,
    function,
    names_keywords,
    number,
    whole,
)
from stickslip.methods.base import CONTACTS_FULL, OK, Inputs, Method, Stage
from stickslip.methods.names import MethodName
from stickslip.methods.registry import METHODS, option_lines
from stickslip.methods.rigid.assembly.matrices import Matrices
from stickslip.model.body import Vector
from stickslip.model.keywords import says_why
from stickslip.model.mocap import with_own_arrays
from stickslip.model.model import Model
from stickslip.model.rays import Hit, RayCaster
from stickslip.model.scene import Body, Robot, Scene
from stickslip.progress import Progress
from stickslip.record import Log
from stickslip.record import Recorder as RecordingWriter
from stickslip.simulation import advice, copies
from stickslip.simulation.bodies import BodyView, body_name
from stickslip.simulation.captured_frame import make_captures
from stickslip.simulation.checks import (
    check_arrays,
    check_finite,
    checked_control,
    common_base,
    in_one_array,
    with_named_controls,
)
from stickslip.simulation.contacts import StepContacts, kept, put_back
from stickslip.simulation.divergence import describe_divergence
from stickslip.simulation.drive import Drive
from stickslip.simulation.energy_watch import EnergyWatch
from stickslip.simulation.failures import keep_failures, not_counted, problem_steps, unsolved_steps, whereabouts
from stickslip.simulation.follow import follow_model
from stickslip.simulation.frame import contacts_of, frame_of
from stickslip.simulation.joints import JointView
from stickslip.simulation.method import choose_method, make_method
from stickslip.simulation.observers import Every, Observer, Shown
from stickslip.simulation.outside import Outside
from stickslip.simulation.periods import LONGEST_STEP, MOST_STEPS, SHORTEST, check_run, control_steps, whole_steps
from stickslip.simulation.pushes import Pushes, make_push
from stickslip.simulation.recorder import Recorder, recording_file
from stickslip.simulation.recording import make_recorder, save_divergence
from stickslip.simulation.robots import RobotView, find_robot
from stickslip.simulation.sensors import Moment, Sensors
from stickslip.simulation.setup import Setup, one_after_another, own_choice, setup_of
from stickslip.simulation.snapshot import Snapshot, restore_snapshot, take_snapshot
from stickslip.simulation.staged import observe_stages, staged_step
from stickslip.simulation.stages import CONTROLLER, STAGES, Controller, Stages, check_replaceable
from stickslip.simulation.turn import Turn, between_steps, one_thread
from stickslip.simulation.unsolved import UnsolvedStep
from stickslip.solvers import Problem, SolverResult
from stickslip.summary import Summarised, Summary, numbers, plural

NOTHING, STEPPED, LAST_STEP, PRESENT = range(4)
"""What the buffer of contacts shows. ``STEPPED`` is the last step as the method left it, ``LAST_STEP`` the same with
velocities that belong to its forces."""
LONGEST_STRETCH = 2000
"""Steps in one compiled call: some milliseconds, so that the progress bar moves and Ctrl-C is heard."""


class Simulation(Summarised, Guarded):
    """One scene, one method, one time step.

    >>> sim = Simulation(scene, method="semi-implicit-euler", dt=1e-4)
    >>> log = sim.run(2.0, record="drop.h5")

    ``scene`` may also be the name of a bundled scene, such as ``"ball"``, an MJCF or URDF file, or a ``Setup``, which
    ``ss.SCENES["ball"].build()`` gives. Then start velocity, controller, method and dt are those of the scene, unless
    others are given.
    Without a ``method`` one is chosen with which the scene runs at a usable step (``sim.why_method`` says why). ``dt``
    [s] defaults to a round step at which the contacts are stable. ``user``, ``collision``, ``formulate``,
    ``solve``, ``integrate`` and ``record`` take Python functions of the simulation that replace those stages; they
    may also be assigned later, ``sim.stages.collision = f``. Further keywords are options of the method, such as
    ``matmuls=2`` of expo; they are listed below, and by ``stickslip list``.
    """

    own_names, elsewhere = True, ("sim", ELSEWHERE)
    fixed: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("dt", "method", "variant", "options", "model"), "make another Simulation with it"),
        "time": "sim.reset() goes to t = 0, sim.restore(snapshot) to an earlier moment",
        "control": "call sim.set_control(u), or sim.control[:] = u",
        "gravity": "call sim.model.set_gravity((x, y, z))",
        **dict.fromkeys(("q", "v", "qpos", "qvel"), "call sim.set_state(q=…, v=…)"),
    }

    def __init__(
        self,
        scene: Scene | Model | Setup | str | Path,
        method: MethodName | str | type[Method] | None = None,
        dt: float | None = None,
        *,
        user: Stage | None = None,
        collision: Stage | None = None,
        formulate: Stage | None = None,
        solve: Stage | None = None,
        integrate: Stage | None = None,
        record: Stage | None = None,
        seed: int = 0,
        **options: Any,
    ) -> None:
        if dt is not None:
            wanted = f"a positive number of seconds from {SHORTEST:g} to {LONGEST_STEP:g}"
            dt = number("dt", dt, wanted, least=SHORTEST, most=LONGEST_STEP)
        self._turn = Turn()
        scene, setup = setup_of(scene)
        if setup is not None:
            method, dt = own_choice(setup, method, dt)
            user = one_after_another(setup.user, user)
        self.model = with_own_arrays(scene.compile() if isinstance(scene, Scene) else scene)
        self.stages = Stages(user, collision, formulate, solve, integrate, record)
        self.dynamics = Dynamics(self.model)
        self.rng = np.random.default_rng(whole("seed", seed, 0))

        self.why_method = ""
        """Why this method was chosen, in one sentence; empty if it was named."""
        if method is None:
            method, self.why_method = choose_method(self.model, dt, self.stages, options)
        self.method, self.stepper, self.stable_dt = make_method(
            self.model, method, dt, self.stages, options, None if setup is None else setup.control_dt
        )  # fmt: skip
        """An estimate of the largest stable step [s] at the beginning, or after the model's last change."""
        self.variant, self.options = self.stepper.variant, options
        self._version = self.model.version
        self.unsolved = unsolved_steps(self.stepper)
        self._contacts, self._shown = StepContacts(self), NOTHING
        self._acted: Contacts | None = None
        """What the last step left in the buffer of contacts, while the buffer shows those at the present state."""
        self.builtin_stages = self.stepper.stages()

        self.state, self.inputs = in_one_array(self.model)
        self.drive = Drive(self.model, self.dt, self.stepper.own_activations)
        self.outside = Outside(self.model, self.stepper)
        self.pushes = Pushes(self.model.nlink)
        self._begin_inputs("home")
        self.observers: list[Observer] = []
        """What looks at the simulation between steps, such as recorders and viewers."""
        self.record_dt: float | None = None
        """[s] between calls of a record stage by ``step``; None: 10 ms."""
        self._controller: Controller | None = None
        self._asking = False
        """Whether the controller is being called."""
        self.control_dt: float | None = None
        """[s] between calls of ``controller`` where ``run`` is given none; None: 1 ms, or dt if that is longer."""
        self._start_velocity: np.ndarray | None = None
        self._controller_state: Any = None  # from a snapshot, for a controller that is yet to come
        self.steps = 0
        self.status = OK
        self._checked: tuple[Any, ...] = (None,) * 6
        """The arrays of state and inputs that were checked last."""
        self._numbers: np.ndarray | None = None
        """The array that all of them are parts of, if there is one."""
        self._finite = np.ones(0, dtype=bool)
        """Whether its numbers are finite; held here because a new array would cost as much as the look."""
        self._turned, self._q_left = bool(self.model.quaternions()), b""
        """Whether q has quaternions, and q as the last step left it; another one has been set since."""
        self.wall_start = clock.perf_counter()
        self._paradox_announced = self._start_looked_at = self._unsolved_announced = False
        self._energy = EnergyWatch(self)
        if setup is not None:
            self._begin_as(setup)
        self._made = frozenset(self.__dict__) | {"_made", "_complete"}
        """Names of the attributes that are not the user's own."""
        self._complete = True  # from here on, assigning to a mistyped name is an error

    def _begin_as(self, setup: Setup) -> None:
        """Take over the start velocity and the controller of a setup."""
        if setup.velocity is not None:
            self.set_state(v=setup.velocity)
            self._start_velocity = self.state.v.copy()
        if setup.controller is not None:
            self.controller = setup.controller
            self.control_dt = setup.control_dt

    def _summary(self) -> Summary:
        model, name = self.model._summary(), f"{self.method}/{self.variant}"
        seen = "" if self._shown == NOTHING else f", {plural(len(self._contacts), 'contact')}"
        rows = {
            "method": f"{name}, dt = {self.dt:g} s, step {self.steps}",
            "options": ", ".join(f"{option} = {brief(value, 30)}" for option, value in self.options.items()),
            "chosen": self.why_method,
            "model": model.title.partition(": ")[2],
            "links": model.rows["links"],
            "actuators": model.rows["actuators"],
            "controller": "" if self.controller is None else brief(self.controller),
            "stages": ", ".join(stage for stage in STAGES if getattr(self.stages, stage) is not None),
            "observers": str(len(self.observers) or ""),
            "q": numbers(self.state.q),
            "v": numbers(self.state.v),
        }
        return Summary(f"Simulation by {name}, dt = {self.dt:g} s, t = {self.time:.6g} s{seen}", rows)

    # -- what user functions see -------------------------------------------------------------------------------

    @property
    def dt(self) -> float:
        """[s]; fixed, since the stepper is made for it."""
        return self.stepper.dt

    @property
    def law(self) -> str:
        """The old name of ``variant``."""
        deprecated("sim.law", "sim.variant")
        return self.variant

    @property
    def time(self) -> float:
        """[s]."""
        return self.state.time

    @property
    def contacts(self) -> StepContacts:
        """The contacts of the last step, with the forces that acted in it: a sequence of ``Contact``, with filters by
        name. Where the state was set since, those at that state; after ``observe()``, those at the present state. A
        collision function clears it and adds to it."""
        if self._shown == NOTHING:
            self.observe()
        self._complete_contacts()
        return self._contacts

    @property
    def kinematics(self):
        """Poses and velocities of all links where the stepper last looked (dynamics.data.Kinematics): in a Python
        stage the beginning of the step, after ``observe()`` the present state."""
        return self.stepper.work.kin

    @property
    def acceleration(self) -> np.ndarray:
        """(nv,) joint accelerations: what the solve stage computes and the integrate stage uses."""
        return self.stepper.work.acceleration

    @property
    def matrices(self) -> Matrices:
        """The matrices of the step at hand (time stepping): mass, rows, Delassus; after ``observe()`` of the next."""
        return problem_steps(self).matrices

    @property
    def problem(self) -> Problem:
        """The complementarity problem of the step at hand (time stepping). A Python formulate function assigns its own,
        and, if its unknowns are not those of the method, how they give velocities: ``sim.velocity_of = f``."""
        return problem_steps(self).problem

    @problem.setter
    def problem(self, value: Problem) -> None:
        problem_steps(self).problem = value

    @property
    def velocity_of(self) -> Callable[[np.ndarray], np.ndarray] | None:
        """From a solution z to the new velocities (nv,), where a Python formulate function says so; for this step."""
        return problem_steps(self).velocity_of

    @velocity_of.setter
    def velocity_of(self, value: Callable[[np.ndarray], np.ndarray]) -> None:
        problem_steps(self).velocity_of = function("sim.velocity_of", value, "f(z) → velocities")

    @property
    def result(self) -> SolverResult | None:
        """How the last step's problem was solved (time stepping)."""
        return problem_steps(self).result

    @property
    def failures(self) -> Sequence[UnsolvedStep]:
        """Steps of the last run, and since, whose solver did not reach its tolerance: the first 20 with their problems,
        ``sim.failures[0].write("step.hdf5")``, where they did not go to a folder. Empty of methods without
        complementarity problems."""
        return () if self.unsolved is None else self.unsolved

    def accept(self, z: np.ndarray) -> None:
        """For a Python solve function (time stepping): take z for the solution of ``problem``."""
        problem_steps(self).accept(z)

    @property
    def control(self) -> np.ndarray:
        """(nu,) the controls in force."""
        return self.inputs.control

    def set_control(self, value) -> None:
        """Set the controls: (nu,) numbers, or some by the names of their actuators, ``{"elbow": 1.0}``, while the
        others stay. They hold until the next call."""
        if isinstance(value, Mapping):
            value = with_named_controls(self.model, self.control, value)
        self.inputs.control[:] = checked_control(self.model, value)

    @property
    def controller(self) -> Controller | None:
        """The function of t, q and v that ``step`` and ``run`` ask for controls every ``control_dt``; None: nobody."""
        return self._controller

    @controller.setter
    def controller(self, value: Controller | None) -> None:
        if value is not None:
            several = isinstance(value, list | tuple)
            function("controller", value, CONTROLLER, "ss.control.Sum(a, b) is several as one" if several else "")
        self._controller = value
        bind = getattr(value, "bind", None)
        if bind is not None:
            bind(self.model)
        if value is not None:
            self.restore_controller(self._controller_state)

    @property
    def acting(self) -> Inputs:
        """The inputs as methods see them: controls that were given a delay ago, and activations in place of the
        controls of actuators that have one; wrenches with those of pushes."""
        inputs = self.drive.acting(self.inputs, self.state)
        if not self.pushes.active:
            return inputs
        kin = self.dynamics.data.kin
        forward_kinematics(self.model.tree, self.state.q, kin)
        return self.pushes.acting(inputs, kin, self.time, self.dt)

    @names_keywords
    def push(
        self, body: str | Body, force: Vector | None = None, *, at: Vector | None = None, torque: Vector | None = None,
        duration: float | None = None,
    ) -> None:  # fmt: skip
        """Push a body with a ``force`` (3,) [N] and a ``torque`` (3,) [N m], world axes, for a ``duration`` [s] from
        now on (default: the next step). The force acts ``at`` a point (3,) [m, world] that then moves with the body
        (default: its centre of mass).

        Pushes add up, among each other and to ``inputs.wrench``. A push that ends within a step acts there with the
        part of its force that gives the same impulse. ``reset`` ends all pushes; snapshots hold them.
        """
        self._energy.forget()
        self.pushes.pushes.append(make_push(self, body, force, at, torque, duration))

    def body(self, body: str | Body) -> BodyView:
        """A body or site by its name: its pose, velocity, acceleration, Jacobian and mass at the present state."""
        return BodyView(self, body_name(body))

    def joint(self, name: str) -> JointView:
        """A joint by its name: its position, velocity and limits at the present state."""
        return JointView(self, name)

    def robot(self, robot: str | Robot) -> RobotView:
        """The part of the model that a file brought, by its name or by what ``scene.add_robot`` or ``scene.load``
        returned: its q, v, control and mass matrix at the present state."""
        return RobotView(self, find_robot(self.model, robot))

    @says_why
    @one_thread
    def set_state(self, q=None, v=None, act=None) -> None:
        """Start from another configuration, velocity or activation; contact memory and delayed controls are cleared."""
        now = self.state
        state = self.model.state(now.q if q is None else q, now.v if v is None else v, now.act if act is None else act)
        self._start_looked_at = False
        self._energy.forget()
        if q is not None:  # else not even the last bit of a quaternion changes
            now.q[:] = state.q
        now.v[:], now.act[:] = state.v, state.act
        self.set_step_contacts(None)
        self.drive.history[:] = 0.0
        for array in self.stepper.memory().values():
            array[:] = 0

    @names_keywords
    def set_mocap(self, name: str, *, pos=None, quat=None, velocity=None, angular_velocity=None) -> None:
        """Move a mocap body: to ``pos`` (3,) [m] and ``quat`` (4,) at once, and on at every step with ``velocity`` (3,)
        [m/s] of its origin and ``angular_velocity`` (3,) [rad/s], world axes. What is not given stays."""
        self.outside.set(name, pos, quat, velocity, angular_velocity, self.time)
        self._moved_outside()

    @names_keywords
    def prescribe(self, name: str, motion: Callable[[float], Any] | None) -> None:
        """Let a mocap body follow a motion t [s] ↦ (pos, quat), or pos alone: at the end of every step it is where the
        motion has it then, and its velocity over the step is part of all contacts and loops. None ends it."""
        self.outside.prescribe(name, motion, self.time)
        self._moved_outside()

    def _moved_outside(self) -> None:
        self._energy.forget()
        self._start_looked_at = self._start_looked_at and self.steps > 0

    def energy(self) -> Energy:
        """Kinetic energy, and that of gravity and of the springs of joints and tendons now [J]."""
        return self.dynamics.energy(self.state.q, self.state.v)

    @property
    def sensors(self) -> tuple[str, ...]:
        """Names of the sensors that ``sensor`` reads."""
        return self.instruments.names

    def sensor(self, name: str) -> np.ndarray:
        """The values of a sensor of the scene's files now (docs/models.md)."""
        if not self.instruments.needs_contacts(name):
            return self.instruments.read(Moment(self), name)
        with self.present():
            return self.instruments.read(Moment(self), name)

    def read_sensors(self) -> np.ndarray:
        """The values of all sensors, one after another; ``observe`` must have been called."""
        return self.instruments.read_all(Moment(self)) if self.instruments.names else np.zeros(0)

    @cached_property
    def instruments(self) -> Sensors:
        """The sensors of the model."""
        return Sensors(self.model)

    @names_keywords
    def ray(self, origin, direction, *, exclude: Iterable[str] | str = ()) -> Hit | None:
        """The nearest shape that the ray from ``origin`` (3,) [m] along ``direction`` (3,) meets now, or None.
        ``exclude`` names bodies that it passes through."""
        kin = self.dynamics.data.kin
        forward_kinematics(self.model.tree, self.state.q, kin)
        return self.rays.cast(kin.pos, kin.rot, origin, direction, self.rays.body_ids(exclude))

    @names_keywords
    def inverse_kinematics(
        self, targets: Mapping[Any, Any], *, joints: Sequence[str] | None = None, tolerance: float = 1e-9,
        radian: float = 1.0, restarts: int = 20, seed: int = 0,
    ) -> InverseKinematicsResult:  # fmt: skip
        """Joint coordinates near the present ones at which bodies and frames are where ``targets`` says, by name; the
        arguments are those of ``ss.inverse_kinematics``. The state stays: ``sim.set_state(q=result.q)`` goes there."""
        return inverse_kinematics(
            self.dynamics, targets, start=self.state.q, joints=joints, tolerance=tolerance, radian=radian,
            restarts=restarts, seed=seed,
        )  # fmt: skip

    @names_keywords
    def distance(self, first: str | Body, second: str | Body) -> Distance:
        """How far two bodies or shapes are from each other now, by their names: ``distance`` [m], negative if they
        overlap, the nearest ``points`` (2, 3) and the ``normal`` (3,) from the first to the second. Shapes that do not
        touch, such as those of neighbouring links, have a distance, too; meshes are their convex hulls."""
        kin = self.dynamics.data.kin
        forward_kinematics(self.model.tree, self.state.q, kin)
        return self.distances.between(kin, body_name(first), body_name(second))

    @cached_property
    def distances(self) -> Distances:
        """The searches for distances."""
        return Distances(self.model)

    @cached_property
    def rays(self) -> RayCaster:
        """The shapes that rays meet."""
        return RayCaster(self.model)

    # -- stepping ----------------------------------------------------------------------------------------------

    @between_steps
    def step(self, n: int = 1) -> None:
        """Advance n steps. The controller, a record stage and observers are called when they are due, as by ``run``."""
        if type(n) is not int or n < 0:
            if number("n", n, "a whole number of steps ≥ 0", least=0.0) != int(n):
                raise expected("n", "a whole number of steps ≥ 0", n)
            n = int(n)
        if n > MOST_STEPS:
            raise expected("n", f"at most {MOST_STEPS:g} steps", n)
        unconverged = self.stepper.unconverged
        if self.steps == 0 and not self._start_looked_at:
            stored = self.observe()
            self._look_at_start()
            self._energy.start(self, stored)
        else:
            self._energy.before_steps(self)
        try:
            if self.controller is None and not self.observers and self.stages.record is None:
                self._advance(n)
            else:
                self._loop(self.steps + n, self.control_steps() if self.controller is not None else 1)
            self._energy.after_steps(self)
        except DivergedError as error:
            raise save_divergence(self, error, recording_file(self.observers)) from None
        if self.stepper.unconverged > unconverged and not self._unsolved_announced:
            self._unsolved_announced = True
            advice.unconverged(self, self.stepper.unconverged - unconverged, n, "sim.stepper.unconverged counts them.")
        self._paradox_announced = advice.painleve(self, self._paradox_announced)

    def _loop(self, end: int, every_control: int, called: bool = True) -> None:
        """Take steps until ``end``, with calls of the controller, the record stage and the observers.

        The controller is called every so many steps from t = 0, and at once unless it has been ``called``.
        """
        stretch = LONGEST_STRETCH if self.stages.compiled else 1
        observers: list[Observer] = list(self.observers)
        for each in observers:
            if not hasattr(each, "after_steps"):
                raise expected("sim.observers", "an Observer", each, "see stickslip.simulation.Observer")
        if self.stages.record is not None and not any(isinstance(each, Recorder) for each in observers):
            every = whole_steps("record_dt", self.record_dt, 1e-2, self.dt)
            observers.append(Every(every, self._call_record_stage))
            if self.steps == 0:
                self._call_record_stage()
        while self.steps < end:
            for observer in observers:
                observer.before_steps(self)
            stop = min(end, self.steps + stretch, *(each.next_step(self.steps) for each in observers))
            if self.controller is not None:
                if self.steps % every_control == 0 or not called:
                    called = True
                    self._call_controller()
                stop = min(stop, self.steps - self.steps % every_control + every_control)
            self._advance(stop - self.steps)
            for observer in observers:
                observer.after_steps(self)

    def _call_controller(self) -> None:
        if self.controller is not None:
            self._asking = True
            try:
                given = self.controller(self.time, self.state.q.copy(), self.state.v.copy())
            finally:
                self._asking = False
            who = f"controller {called(self.controller)}, control"
            if isinstance(given, Mapping):
                given = with_named_controls(self.model, self.control, given)
            self.inputs.control[:] = checked_control(self.model, given, who)

    def _call_record_stage(self) -> None:
        """Call the record stage with poses at the present state and the contacts of the last step."""
        if self.stages.record is not None:
            with self.present():
                pass
            self.stages.record(self)

    def _advance(self, n: int) -> None:
        compiled = self.stages.compiled
        self.check_numbers()
        if not compiled or self.stages.record is not None:
            check_replaceable(self.stages, self.stepper, self.method)
        end = self.steps + n
        if n > 0:
            self._shown, self._acted = LAST_STEP, None
        while self.steps < end:
            self.follow_model()
            self.stepper.step = self.steps
            acting = self.acting
            self.outside.begin(self.state, self.dt, acting.control)
            if compiled:
                alone = self.drive.changes or self.outside.moves or self.pushes.active
                most = 1 if alone else end - self.steps
                self.status, done = self.stepper.advance(self.state, acting, most)
            else:
                self.status = staged_step(self)
                done = int(self.status == OK)
            if done:
                self.outside.end()
            if done and self.drive.changes:
                self.drive.advance(self.inputs, self.state)
            self.steps += done
            self.state.time = self.steps * self.dt
            if self.status == CONTACTS_FULL:
                self.stepper.grow()
            elif self.status != OK:
                self.outside.show()
                raise DivergedError(describe_divergence(self), snapshot=self.snapshot())
        if compiled:
            self._q_left = self.state.q.tobytes()
        if n > 0:
            self._shown = STEPPED
            gained = self._energy.gain_of_too_long_step(self) if self.dt > self.stable_dt else 0.0
            if gained:
                raise DivergedError(describe_divergence(self, gained), snapshot=self.snapshot())

    def _complete_contacts(self) -> None:
        """Let the contacts of the last step have the velocities that belong to its forces. Methods that solve for the
        velocities at the end of a step leave those of its beginning in the buffer."""
        if self._shown == STEPPED:
            self._shown = LAST_STEP
            if self.stepper.forces_at_end:
                kin = self.dynamics.data.kin
                forward_kinematics(self.model.tree, self.state.q, kin)
                forward_velocities(self.model.tree, self.state.v, kin)
                contact_velocities(kin, self.stepper.contacts.arrays)

    def check_numbers(self) -> None:
        """Check the arrays of state and inputs, which users may have replaced or filled with what is no number."""
        state = self.state
        arrays = (state.q, state.v, state.act, *self.inputs)
        if not all(map(is_, arrays, self._checked)):
            check_arrays(self)
            self._checked, self._numbers = arrays, common_base(arrays)
            self._finite = np.ones(0 if self._numbers is None else len(self._numbers), dtype=bool)
        numbers = self._numbers
        if numbers is None or state.q.base is not numbers or b"\0" in isfinite(numbers, self._finite).tobytes():
            check_finite(self)
        if self._turned and state.q.tobytes() != self._q_left:
            self.dynamics.check_q(state.q)

    def _look_at_start(self, every_control: int | None = None) -> None:
        """Warn of a violent start and of a controller that shakes the joints, once for every start; ``observe`` must
        have been called."""
        if self.steps == 0 and not self._start_looked_at:
            self._start_looked_at = True
            advice.violent_start(self)
            if self.controller is not None:
                advice.shaking_controller(self, self.dt * (every_control or self.control_steps()))

    @between_steps
    def reset(self, keyframe: str = "home") -> None:
        """To a keyframe of the scene at t = 0 (default: where the simulation began): configuration, velocity,
        activations and controls; applied forces, pushes and contact memory are cleared."""
        if not isinstance(keyframe, str) or keyframe != "home" or keyframe in self.model.keyframes:
            key = self.model.keyframe(keyframe)
            self.set_state(key.q, key.v, key.act if len(key.act) else np.zeros(self.model.na))
        else:
            start = self.model.state()
            self.set_state(start.q, start.v, start.act)
        if keyframe == "home" and self._start_velocity is not None:
            self.set_state(v=self._start_velocity)
        self._begin_inputs(keyframe)
        self.steps, self.state.time, self.status = 0, 0.0, OK

    def _begin_inputs(self, keyframe: str) -> None:
        for array in self.inputs:
            array[:] = 0.0
        self.pushes.clear()
        if keyframe in self.model.keyframes:
            self.inputs.control[:] = self.model.keyframes[keyframe].control
        self.outside.reset(self.model.keyframes[keyframe].mocap if keyframe in self.model.keyframes else None)

    @between_steps
    def warm_up(self, controller: Controller | None = None) -> float:
        """Compile the kernels (or load them from the cache) by one step, and one call of the controller, that are taken
        back; returns the seconds."""
        start = clock.perf_counter()
        if controller is not None:
            self.controller = controller
        snapshot, looked_at = self.snapshot(), self._start_looked_at
        self._call_controller()
        self._start_looked_at = True
        with not_counted(self):
            self._advance(1)
        restore_snapshot(self, snapshot, changed=True)  # a controller may have changed the model
        self._start_looked_at = looked_at
        self.record_frame(make_recorder(self, None, 1))
        return clock.perf_counter() - start

    def control_steps(self, control_dt: float | None = None) -> int:
        """Steps between calls of the controller; a period [s] that is no multiple of dt is rounded, with a warning.
        Without one it is ``sim.control_dt``."""
        steps, note = control_steps(self.control_dt if control_dt is None else control_dt, self.dt)
        if note:
            advice.rounded_period(note)
        return steps

    @names_keywords
    @between_steps
    def run(
        self,
        duration: float,
        *,
        controller: Controller | None = None,
        control_dt: float | None = None,
        record: str | Path | None = None,
        record_dt: float | None = None,
        capture: str | Path | None = None,
        capture_every: int = 1,
        capture_format: str = "frames",
        failures: str | Path | bool | None = None,
        progress: bool | None = None,
    ) -> Log:
        """Simulate ``duration`` seconds and return the log.

        ``controller(t, q, v)`` is called every ``control_dt`` (default: 1 ms, or dt if that is longer), counted from
        t = 0; it stays in charge, in ``step``, too, until another is given or ``sim.controller = None``. A frame is
        kept every ``record_dt`` (default: 10 ms), in memory or in the HDF5 file ``record``. The contact problems of the
        first step and every ``capture_every``-th after it go to the HDF5 file ``capture``, for ``stickslip solve``;
        with ``capture_format="fclib"`` to a file of FCLib's each, ``NAME-000123.hdf5``. Problems that a step's solver
        could not solve go to the folder ``failures``, a file of FCLib's each (default: ``RECORD-unconverged`` beside a
        recording, else the first 20 are in ``sim.failures``; False: nowhere). ``progress`` shows a bar (default: if the
        run takes more than two seconds).
        """
        duration = number("duration", duration, "a number of seconds ≥ 0", least=0.0)
        frames = duration / whole_steps("record_dt", record_dt, 1e-2, self.dt) / self.dt
        m = self.model
        check_run(duration, self.dt, frames, 8 * (2 * m.nq + 3 * m.nv + m.nu + 7 * m.nlink), record)
        every_control = self.control_steps(control_dt)
        if controller is not None:
            self.controller = controller
        end = self.steps + ceil(duration / self.dt - 1e-6)
        keep_failures(self, failures, record)
        self._energy.before_steps(self)
        recorder = Recorder(self, record, record_dt=record_dt, control_dt=every_control * self.dt)
        outcome, unconverged, first, others = "interrupted", self.stepper.unconverged, self.steps, list(self.observers)
        try:
            captures = make_captures(self, capture, capture_every, capture_format)
            self.observers.append(captures)
            with captures, Progress(f"{self.method}, dt = {self.dt:g} s", duration, "s", show=progress) as bar:
                self.observers.append(Shown(bar, first))
                self._look_at_start(every_control)
                self._loop(end, every_control, called=controller is None)
            outcome = "complete"
        except DivergedError as error:
            outcome = "diverged"
            raise save_divergence(self, error, recorder.writer) from None
        finally:
            self.observers[:] = others
            recorder.close(outcome)
        self._energy.after_steps(self)
        advice.unconverged(self, self.stepper.unconverged - unconverged, self.steps - first, whereabouts(self))
        self._paradox_announced = advice.painleve(self, self._paradox_announced)
        return recorder.log()

    def restore_controller(self, value: Any) -> None:
        """Hand a controller its state back; one that is given to ``run`` later gets it then."""
        self._controller_state = None
        put = getattr(self.controller, "set_state", None)
        if value is not None and put is not None:
            put(value)
        elif value is not None:
            self._controller_state = value

    # -- recording ---------------------------------------------------------------------------------------------

    @one_thread
    def observe(self) -> float:
        """Bring contacts and forces up to date with the current state; returns the contact springs' energy [J].

        Changes nothing that the next step depends on: the contact law's memory and the random state are put back. A
        Python collision or formulate function is called once more for every frame. The energy is NaN where such a
        function makes the forces.
        """
        check_replaceable(self.stages, self.stepper, self.method)
        self.check_numbers()
        self._complete_contacts()
        if self._shown == LAST_STEP:
            self._acted = kept(self.stepper.contacts)
        self._shown = PRESENT
        self.follow_model()
        return observe_stages(self)

    @contextmanager
    def present(self) -> Iterator[float]:
        """Contacts and forces are those at the present state within the block, and those of the last step after it;
        gives the energy of the contact springs [J]."""
        energy = self.observe()
        try:
            yield energy
        finally:
            if self._acted is not None:
                put_back(self.stepper.contacts, self._acted)
                self._shown, self._acted = LAST_STEP, None

    def step_contacts(self) -> Contacts | None:
        """A copy of what the last step left in the buffer of contacts; None where the state was set since."""
        self._complete_contacts()
        return kept(self.stepper.contacts) if self._shown == LAST_STEP else self._acted

    def set_step_contacts(self, contacts: Contacts | None) -> None:
        """Show contacts as those of the last step; None: those of the past have nothing to do with the state now."""
        self._shown, self._acted = NOTHING if contacts is None else LAST_STEP, None
        if contacts is not None:
            put_back(self.stepper.contacts, contacts)

    def follow_model(self) -> None:
        """Take over what setters have changed in the model since the last step; steps and ``observe`` call it."""
        if self._version != self.model.version:
            self._version = self.model.version
            follow_model(self)

    def record_frame(self, recorder: RecordingWriter) -> None:
        """Append the present instant to a recording, with the contacts of the last step, or call the record stage."""
        if self.stages.record is not None:
            self._call_record_stage()
            return
        with self.present() as contact_energy:
            frame = frame_of(self, contact_energy, clock.perf_counter() - self.wall_start)
            self._energy.look(self, stored=contact_energy)
        recorder.append(frame, contacts_of(self))

    # -- snapshots ---------------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """A copy of everything that the future depends on, the controller's state included.

        A controller takes part by having ``get_state()`` and ``set_state(value)``.
        """
        return take_snapshot(self)

    @between_steps
    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot of this simulation (or of one of the same scene and method)."""
        restore_snapshot(self, snapshot)

    # -- copies ------------------------------------------------------------------------------------------------

    def __reduce__(self) -> tuple:
        copies.check_pickles(self)
        return copies.put_together, *copies.taken_apart(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        copies.continue_from(self, state)

    def __deepcopy__(self, memo: dict[int, Any]) -> Simulation:
        arguments, state = copies.taken_apart(self)
        memo[id(self)] = sim = copies.put_together(*copy.deepcopy(arguments, memo))
        copies.continue_from(sim, copy.deepcopy(state, memo))
        return sim


Simulation.__doc__ = "\n".join(
    [inspect.cleandoc(Simulation.__doc__ or ""), "", f"Methods: {', '.join(METHODS)}.", "", "Options of methods:", ""]
    + [f"    {line}" for line in option_lines()]
)
