"""Time stepping with bilateral constraints: loops are enforced, and every contact that touches becomes a joint.

    q̈  = argmin ½‖q̈ − q̈_f‖²_M  s.t.  J·q̈ + J̇·v + k_d·J·v + k_p·e = 0
    v⁺ = v + dt·q̈,    q⁺ = q ⊕ dt·v⁺

This is semi-implicit Euler with the accelerations of ``constraints.bilateral``; M includes dt·D for the joint damping
D. Stabilisation by projection (the default) has k_p = k_d = 0 and ends the step with e = 0 and J·v = 0
(``constraints.loop_closure``).

A contact that touches (gap ≤ ``touch``) while it approaches becomes a point-to-point constraint, whatever its force: it
sticks without limit, and it can pull. With ``release`` the constraint ends when it would pull. When a contact is new, a
perfectly inelastic impact first stops the constraints' velocities, v ← v − M⁻¹·Jᵀ·G⁺·J·v. A step in which a contact
would end deep is divided at its touchdown (``touchdown``). The method is of first order; dt is limited by joint
springs, limits and servos, which are explicit, and by k_d (k_d·dt < 2). Overconstrained linkages that can still move
(Bricard's) lock if they are not exactly closed; use projection for them.
Reference: Carpentier, "Contact Dynamics in Robotics" (slides): rigid contact, bilateral.
Differs from the slides in: impacts, optional stabilisation, dependent rows, ``release``.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from stickslip.collision.contacts import ADHESION, ContactList, contact_velocities
from stickslip.collision.detectors import make_detector
from stickslip.collision.reach import Reach
from stickslip.constraints.bilateral import Baumgarte, Bilateral, BilateralResult, assemble, free_motion, stabiliser
from stickslip.constraints.joint_rows import add_joint_rows, friction_impulses, write_rows
from stickslip.constraints.loop_closure import CLOSED, close, push, still, worst_per_loop
from stickslip.dynamics import Dynamics
from stickslip.dynamics.configuration import integrate
from stickslip.dynamics.factor import solve
from stickslip.dynamics.joint_forces import damper_slopes, joint_space_forces
from stickslip.dynamics.outside_forces import outside_forces
from stickslip.errors import InputError, UnconvergedError, expected
from stickslip.methods.base import OK, Capabilities, Inputs, Method, Stage, bounded
from stickslip.methods.bilateral.options import NO_FALLBACK, BilateralOptions
from stickslip.methods.bilateral.sticking_contacts import StickingContacts
from stickslip.methods.bilateral.touchdown import MOST_PARTS, SHORTEST, Touchdown
from stickslip.methods.materials import STICKING
from stickslip.methods.recovery import make_recovery, put_back
from stickslip.methods.soft.explicit import explicit_joint_gains, longest
from stickslip.methods.soft.limit_recovery import (
    NOT_BEGUN,
    RECOVERS,
    begin_limits,
    limits_memory,
    make_limits,
    narrow_limits,
    put_ranges,
)
from stickslip.methods.soft.viscoelastic import look
from stickslip.model.model import Model, State

SINGULAR = 1e-12
"""Part of a matrix that counts as zero: redundant constraints, and joints that constraints hold anyway."""
DECAY = 0.02
"""Default time constant of critically damped Baumgarte stabilisation [s]; five steps if that is longer."""
SEEN = 1e-3
"""Distance beyond ``touch`` up to which contacts are detected [m], so that constrained ones that drift are reported."""

TOGETHER = 1e-4
"""Contacts whose gaps differ by less than this fraction of the smallest moving body's radius land together."""
ROUND_OFF = 1e-9
"""Part of a step that is not worth a part of its own."""
TOO_DEEP = f"bilateral: contacts close one after another in more than {MOST_PARTS} parts of a step; choose a smaller dt"


class BilateralMethod(Method):
    """Loops and sticking contacts by least action."""

    couples = False
    capabilities = Capabilities(
        summary="contacts that touch stick for good, and pull: rigid, bilateral",
        variants=("sticking", "none"),
        reference="Carpentier, Contact Dynamics in Robotics",
        loops=True,
        bibtex=("carpentier_lecture",),
        stability="no limit by contacts",
        colour=1,
    )
    reads = STICKING
    loops_ahead = forces_at_end = True
    observing = ("kinematics", "collision", "solve")
    observes_acceleration = True
    at_overlap = "it is held where it is"
    at_unconverged = "its loops and held contacts contradict each other, sim.stepper.residual says by how much"
    refused: ClassVar[dict[str, str]] = {"fallback": NO_FALLBACK}
    Options = BilateralOptions
    options: BilateralOptions

    def __init__(self, model: Model, dt: float, variant: str, **options: Any) -> None:
        super().__init__(model, dt, variant, **options)
        stabilisation, detector = self.options.stabilisation, self.options.detector
        self.policy, self.release, self.touch = self.options.unconverged, self.options.release, self.options.touch
        self.projects = stabilisation == "projection"
        gains: Baumgarte | None = None if self.projects else stabiliser(stabilisation)
        if stabilisation == "baumgarte":
            gains = Baumgarte.within(max(DECAY, 5.0 * dt))
        elif gains is not None and gains.kd * dt >= 2.0:
            raise expected("kd", f"less than 2/dt = {2.0 / dt:g} 1/s", gains.kd, "choose a smaller dt or kd")
        self.contacts = ContactList(self.work.kin, capacity=64)
        choice = "convex" if detector is None else detector
        self.detector = None if variant == "none" else make_detector(choice, model, self.touch + SEEN)
        self._touchdown: Touchdown | None = None
        if self.detector is not None:
            named = detector is None or isinstance(detector, str)
            self._touchdown = Touchdown(model, self.detector, self.work.kin, follows=named)
        self._part = dt
        """Length of the part of the step at hand [s]."""
        self._slack = 0.0
        """Gap up to which contacts touch after a touchdown within the step [m], so that a face lands as a whole."""
        given = {"detector": detector is not None, "release": self.release, "touch": self.touch > 0.0}
        for name in (name for name in given if variant == "none" and given[name]):
            raise InputError(f"{name}: bilateral/none has no contacts; leave it out, or use bilateral/sticking")
        self.recovery = make_recovery(self.options.recovery_time, Reach(model).radius, model.inertia.mass)
        self.limits = make_limits(model, self.recovery)
        self.world = self.world._replace(passive=model.joint_forces._replace(range=model.joint_forces.range.copy()))
        self._bilateral = Bilateral(model, model.loops, stabilisation=gains or "none", mu=self.options.mu)
        self._sticking, self._next = StickingContacts(), StickingContacts()
        self._damping, self._velocity = np.zeros(model.nv), np.zeros(model.nv)
        self._solved, self._failed, self._moved = False, 0, np.zeros(model.nq)
        self.result: BilateralResult | None = None
        """Result of the last step: loops in the model's order, then constrained contacts."""

    # -- the stages of a step ----------------------------------------------------------------------------------

    def advance(self, state: State, inputs: Inputs, n: int) -> tuple[int, int]:
        for k in range(n):
            status = self._step(state, inputs)
            if status != OK:
                return status, k
        return OK, n

    def _step(self, state: State, inputs: Inputs) -> int:
        """Take one step, in parts that end where a contact closes which would end too deep."""
        left, q, v, first, failed = self.dt, state.q.copy(), state.v.copy(), StickingContacts(), self._failed
        first.copy_from(self._sticking)
        for part in range(MOST_PARTS):
            status = self._take_part(state, inputs, left, whole=part == MOST_PARTS - 1)
            if status != OK:
                state.q[:], state.v[:] = q, v
                self._sticking.copy_from(first)
                return status
            left -= self._part
            if left <= ROUND_OFF * self.dt:
                break
        self._failed = min(self._failed, failed + 1)
        if self._part < self.dt:
            self.work.acceleration[:] = (state.v - v) / self.dt
        return OK

    def _take_part(self, state: State, inputs: Inputs, left: float, whole: bool) -> int:
        """Move by ``left`` [s], or to the next touchdown unless ``whole``; ``_part`` says how far."""
        before, look_ahead = (state.q.copy(), state.v.copy()), None if whole else self._touchdown
        slack = 0.0 if self._touchdown is None or left == self.dt else TOGETHER * self._touchdown.radius
        self._begin(state, left, slack)
        self._detect()
        self._solve(state, inputs)
        if look_ahead is not None and self.result is not None:
            motion = self._velocity, self.result.acceleration
            self._part = look_ahead.time(self.work.kin, *motion, left, self._next.ids())
        while True:
            if self._part < left:
                self._begin(state, self._part, slack)
                self._solve(state, inputs)
            status = bounded(self.work.acceleration, state.v, self._part)
            if status != OK:
                return status
            opened = self._move(state)
            too_deep = look_ahead is not None and look_ahead.near and self._depth(state) > look_ahead.allowed
            if not too_deep or self._part <= SHORTEST * left:
                self._judge(state, before, opened, failed=whole)
                return OK
            self._part *= 0.5
            state.q[:], state.v[:] = before

    def _depth(self, state: State) -> float:
        """How deep the step at hand has taken contacts that are not held [m]."""
        assert self._touchdown is not None
        look(self.world, self.work, state.q, state.v)
        return self._touchdown.deepest(self.work.kin, self._next.ids())

    def stages(self) -> dict[str, Stage]:
        return {
            "kinematics": lambda sim: self._begin(sim.state),
            "collision": lambda sim: self._detect(),
            "formulate": lambda sim: self._formulate(),
            "solve": lambda sim: self._solve(sim.state, sim.acting),
            "integrate": lambda sim: self._finish(sim.state, looks=sim.stages.collision is None),
        }

    def _begin(self, state: State, part: float | None = None, slack: float = 0.0) -> None:
        self._part, self._slack = self.dt if part is None else part, slack
        if self.limits.phase[0] == NOT_BEGUN:
            begin_limits(self.world.tree, self.world.passive, self.limits, state.q)
        look(self.world, self.work, state.q, state.v)
        self._formulated = self._solved = False

    def _detect(self) -> None:
        if self.detector is not None:
            self.detector.find(self.work.kin, self.contacts)

    def _formulate(self) -> None:
        """Determine the contacts that are constrained in this step, including new ones."""
        contacts, kin, sticking = self.contacts, self.work.kin, self._next
        contact_velocities(kin, contacts.arrays)
        sticking.copy_from(self._sticking)
        n = len(contacts)
        arrays, known = contacts.arrays, sticking.find(contacts.arrays.pair[:n])
        approaching = arrays.velocity[:n, 0] <= 0.0
        new = np.flatnonzero((known < 0) & (arrays.gap[:n] <= self.touch + self._slack) & approaching)
        for c in new:
            sticking.add(contacts, int(c), kin)
        sticking.carry(contacts, kin)
        sticking.ahead(self._part, kin)
        self._formulated, self._new = True, len(new)
        self._constrain()

    def _constrain(self) -> None:
        self._bilateral.set([*self.model.loops, *self._next.constraints()])

    def _solve(self, state: State, inputs: Inputs) -> None:
        if not self._formulated:
            self._formulate()
        self._velocity[:] = state.v
        self._damping[:] = self._part * damper_slopes(self.model, state.v)
        if self._new:
            self._move_freely(state, inputs)
            self._stop()
        self._move_freely(state, inputs)
        mass = self._bilateral.dynamics.data.mass
        result = self._bilateral.solve_free(self.work.kin, mass.L)
        while self.release and len(pulling := self._pulling(result)):
            self._next.drop(pulling)
            free = self._bilateral.work.free[0].copy()
            self._constrain()
            self._bilateral.work.free[0] = free
            result = self._bilateral.solve_free(self.work.kin, mass.L)
        if len(self.joint_rows.bound):
            self._rub(result)
            self._move_freely(state, inputs)
            result = self._bilateral.solve_free(self.work.kin, mass.L)
        self.result = result
        self.work.acceleration[:] = result.acceleration + (self._velocity - state.v) / self._part
        self._show(result)
        self._solved = True

    def _move_freely(self, state: State, inputs: Inputs) -> None:
        """q̈_f at q and the velocity after impacts; springs and servos use the velocity before."""
        w, b = self.work, self._bilateral
        tree, passive, drives = self.world.tree, self.world.passive, self.world.actuators
        joint_space_forces(tree, passive, drives, state.q, self._velocity, inputs.control, inputs.applied, w.tau)
        add_joint_rows(self.world.rows, w.kin, w.tau)
        outside_forces(self.world.inertia, self.world.fluid, w.kin, inputs.wrench, w.f_ext)
        free_motion(
            self.world.tree, self.world.support, self.world.inertia, state.q, self._velocity, w.tau, w.f_ext,
            self._damping, self.world.fluid, self._part, w.kin, b.dynamics.data.mass, b.work.free[0],
        )  # fmt: skip

    def _rub(self, result: BilateralResult) -> None:
        """Dry friction of joints and tendons: stick or slip at the end of the step, with all constraints enforced."""
        dry, dt, b = self.joint_rows, self._part, self._bilateral
        write_rows(dry, self.work.kin)
        S = np.zeros((len(dry.bound), self.model.nv))
        for i, row in enumerate(S):
            at = slice(dry.start[i], dry.start[i + 1])
            row[dry.column[at]] = dry.J[at]
        response = S.copy()
        for row in response:
            solve(self.world.support, b.dynamics.data.mass.L, row)
        held = b.jacobian @ response.T
        force = -np.linalg.pinv(b.delassus, rcond=SINGULAR, hermitian=True) @ held
        free = S @ response.T
        dry.W[:] = free + force.T @ held + SINGULAR * np.diag(free.diagonal())
        without = self._velocity + dt * result.acceleration
        dry.vector[0] = S @ without - dry.W @ (dt * dry.force)
        friction_impulses(dry, dt)
        most = dt * dry.bound
        dry.force[:] = np.clip(dry.vector[1], -most, most) / dt

    def _stop(self) -> None:
        """The velocity after an inelastic impact of all constraints."""
        b, support = self._bilateral, self.world.support
        L = b.dynamics.data.mass.L
        assemble(support, b.loops, 0.0, 0.0, self.work.kin, L, b.rows, b.work)
        push(support, len(b.loops.constraint), L, b.rows, b.work, b.work.rate, self._velocity)

    def _pulling(self, result: BilateralResult) -> np.ndarray:
        """The constrained contacts whose normal force pulls more than their adhesion."""
        normal, n = np.einsum("ci,ci->c", self._forces(result), self._next.normals(self.work.kin)), len(self.contacts)
        found = self._next.find(self.contacts.arrays.pair[:n])
        adhesion = np.zeros(len(normal))
        adhesion[found[found >= 0]] = self.contacts.arrays.material[:n, ADHESION][found >= 0]
        return np.flatnonzero(normal < -adhesion)

    def _forces(self, result: BilateralResult) -> np.ndarray:
        """(n, 3) forces of the n constrained contacts on link 2, world axes [N]."""
        return result.force[sum(loop.rows for loop in self.model.loops) :].reshape(-1, 3)

    def _show(self, result: BilateralResult) -> None:
        """Write the forces of constrained contacts to the detected contacts, in their frames."""
        arrays, n = self.contacts.arrays, len(self.contacts)
        arrays.force[:n] = 0.0
        forces = self._forces(result)
        for c, entry in enumerate(self._next.find(arrays.pair[:n])):
            if entry >= 0:
                arrays.force[c] = arrays.axes[c] @ forces[entry]

    def _finish(self, state: State, looks: bool) -> None:
        """Take a whole step, which a touchdown must not make too deep; ``looks``: the method finds contacts itself."""
        before, look_ahead = (state.q.copy(), state.v.copy()), self._touchdown
        left = self._move(state)
        if look_ahead is not None and looks:
            look_ahead.remember(self.contacts)
            depth = self._depth(state)
            if depth > look_ahead.radius:
                state.q[:], state.v[:] = before
                raise InputError(
                    f"dt: a step of {self.dt:g} s ends {depth:.3g} m inside something, and a step with Python stages "
                    "is not divided at a touchdown; choose a smaller dt, or leave out the stages"
                )
        self._judge(state, before, left)

    def _move(self, state: State) -> float:
        """Move the state by ``_part``; returns how far constraints are left open [m or rad]."""
        before, left = state.v.copy(), 0.0
        state.v[:] += self._part * self.work.acceleration
        if self.projects and self._solved and len(self._bilateral.constraints) > 0:
            left = self._project(state)
            state.q[:] = self._moved
            self.work.acceleration[:] = (state.v - before) / self._part
        else:
            integrate(self.world.tree, state.q, state.v, self._part, state.q)
        return left

    def _judge(self, state: State, before: tuple[np.ndarray, np.ndarray], left: float, failed: bool = False) -> None:
        """Accept a move that left constraints open by ``left``; it counts as unconverged if they are, or if it
        ``failed`` to end at a touchdown."""
        apart = self._solved and self.result is not None and (left > CLOSED or not self.result.success)
        if apart or failed:
            self._failed += 1
            if self.policy == "raise":
                state.q[:], state.v[:] = before
                raise self._unconverged(left) if apart else UnconvergedError(TOO_DEEP)
        if self._solved:  # else a Python solve stage wrote accelerations
            self._sticking.copy_from(self._next)
        if self.limits.phase[0] == RECOVERS:
            narrow_limits(self.world.passive, self.limits, self._part)

    def _project(self, state: State) -> float:
        """Find velocities that close the constraints at ``_moved`` and keep them closed; returns the largest error."""
        w, b = self.world, self._bilateral
        data = b.dynamics.data
        moved = (state.q, self._part, data.mass.L, data.kin, b.rows, b.work, state.v, self._moved)
        left = close(w.tree, w.support, b.loops, *moved)
        still(w.tree, w.support, w.inertia, b.loops, self._damping, data.kin, data.mass, b.rows, b.work, state.v)
        return float(left)

    def _unconverged(self, left: float) -> UnconvergedError:
        assert self.result is not None
        return UnconvergedError(
            f"bilateral: {self.result.status}: the constraints' accelerations miss by {self.result.residual:.2g} m/s² "
            f"or rad/s², and they stay open by {left:.2g} m or rad after their projection; remove what contradicts, or "
            "unconverged='warn' to go on with the least-squares answer"
        )

    # -- queries of the simulation loop ------------------------------------------------------------------------

    @property
    def iterations(self) -> int:
        return 0 if self.result is None else self.result.iterations

    @property
    def residual(self) -> float:
        """max|J·q̈ + γ*| of the last step [m/s², rad/s²], the amount by which constraints contradict each other."""
        return 0.0 if self.result is None else self.result.residual

    @property
    def at_limits(self) -> str:
        return put_back(self.recovery)

    def joint_error(self) -> np.ndarray:
        if self.result is None:
            return np.zeros((len(self.model.loops), 2))
        return np.column_stack([worst_per_loop(self.model.loops, x) for x in (self.result.error, self.result.rate)])

    def memory(self) -> dict[str, np.ndarray]:
        return {**self._sticking.memory(), **limits_memory(self.limits), "joint_forces": self.joint_rows.force}

    def remember(self, memory) -> None:
        self._sticking.make_room(len(memory["held_pair"]))
        super().remember(memory)
        put_ranges(self.world.passive, self.limits)

    def stable_dt(self, state: State) -> float:
        """K·w·dt² + 2·B·w·dt < 4 for joint springs, limits and servos, and links that swing, as for
        semi-implicit Euler."""
        dynamics, (stiffness, damping) = Dynamics(self.model), explicit_joint_gains(self.model, state)
        kw, bw = dynamics.mobility_norm(state.q, stiffness), dynamics.mobility_norm(state.q, damping)
        return longest(kw + dynamics.swing_norm(state.q), bw)
