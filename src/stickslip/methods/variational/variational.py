"""The variational integrator in maximal coordinates: joints and contacts at position level, solved in linear time.

    P(ν⁺) = P₋(ν) + dt·f + G(z)ᵀ·λ + dt·(N(z)ᵀ·γ + B(z)ᵀ·β),    z⁺ = z ⊕ dt·ν⁺,    g(z⁺) = 0,    0 ≤ φ(z⁺) ⟂ γ ≥ 0

z are the poses of all links about their centres of mass, ν their velocities; the equations are (8)–(26) of the paper.
The method is of first order and symplectic: joints do not drift, momenta are conserved to the tolerance, and the energy
stays within a band of O(dt). Contacts are rigid and inelastic, with Coulomb friction in the circular cone
(``variational/circular``, the default) or in the paper's pyramid (``variational/pyramid``). A step is solved by an
interior-point method (``interior_point``) on the graph of bodies and joints (``block_graph``), in O(bodies + joints +
contacts) for trees on the ground.

The state is kept as poses and velocities (``memory``); ``state.q`` and ``state.v`` are joint coordinates computed from
it. If they have been changed since the last step, the method starts from them anew. Joints that are open then (closed
loops) are closed first, and a warning says how far bodies had to move. Every body must have |ω| < 2/dt.

Reference: J. Brüdigam, J. Janeva, S. Sosnowski, S. Hirche, "Linear-Time Contact and Friction Dynamics in Maximal
Coordinates using Variational Integrators". Differs from the paper in: any tilt, contacts between bodies, the circular
cone (by default), limits, implicit dampers and servos; contacts are searched within the distance that bodies can travel
in a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from stickslip.collision.contact_search import ContactSearch
from stickslip.collision.contacts import ContactList, contact_velocities
from stickslip.dynamics.drives import make_drives, on_one_joint
from stickslip.dynamics.fluid_forces import make_fluid
from stickslip.errors import InputError, StickslipError, UnconvergedError, expected, one_of, true_or_false
from stickslip.maximal import Joint
from stickslip.maximal.joints import build_joints
from stickslip.methods.base import DIVERGED, FASTEST, OK, Capabilities, Inputs, Method, Stage
from stickslip.methods.handle import CompiledCall, HeldCall
from stickslip.methods.materials import VARIATIONAL
from stickslip.methods.moving import MovingParts
from stickslip.methods.options import Options, option
from stickslip.methods.recovery import make_recovery, pushed_out, put_back, recovery_option
from stickslip.methods.variational import variational_stepping as stepping
from stickslip.methods.variational.arrays import make_motion, make_rows, make_touch
from stickslip.methods.variational.beginning import begin_from, too_fast
from stickslip.methods.variational.bodies import make_pose
from stickslip.methods.variational.contact.cones import facets_of
from stickslip.methods.variational.contact.points import place_points
from stickslip.methods.variational.contact.spin import place_spins
from stickslip.methods.variational.gradients.step_gradient import Began, StepGradient, step_gradient
from stickslip.methods.variational.interior_point import (
    CONVERGED,
    ITERATIONS_AT,
    NOT_FINITE,
    STATUS,
    STATUS_AT,
    describe,
    make_kept,
    make_settings,
)
from stickslip.methods.variational.joints.dry_friction import copy_rubbing, make_rubbing
from stickslip.methods.variational.joints.joint_nodes import make_joint_step, without_limits
from stickslip.methods.variational.joints.springs import longest_spring_step
from stickslip.methods.variational.mechanism import build_linear, build_mechanism, joint_violations
from stickslip.model.arrays import HINGE
from stickslip.model.model import Model, State

UNCONVERGED = ("warn", "raise")
GRAPHS = 64
"""Number of sets of touching bodies whose graphs are kept."""
TOO_FAST = 0.7
"""Fraction of the limit 2/dt. If a step fails and a body turns faster than this, the error names that body as the
likely cause."""


@dataclass(kw_only=True)
class VariationalOptions(Options):
    """Options of the variational integrator."""

    tolerance: float = option(1e-6, "residual of momenta [N s], velocities [m/s] and products [J, W], from 1e-12")
    facets: int | None = option(
        None, "directions of the friction pyramid, 4 or more (default 4); only with variational/pyramid"
    )
    relaxation: float = option(0.0, "product that complementary pairs keep [J, W]: above 0 contacts are smooth")
    iterations: int = option(100, "largest number of interior-point iterations")
    warm_start: bool = option(True, "whether a step begins with the last one's forces")
    predictor: bool = option(True, "whether the interior point has Mehrotra's predictor and second-order terms")
    extra_joints: Sequence[Joint] = option((), "maximal.Joint's that close loops or weld bodies (default: none)")
    margin: float | None = option(None, "gap [m] below which contacts are found (default: as far as a step can go)")
    detector: Any = option(
        None, "what finds contacts: a name, a Detector, or a function of (kinematics, contacts) (default 'convex')"
    )
    unconverged: str = option("warn", "what to do where a step is not solved: 'warn' or 'raise'")
    recovery_time: float = recovery_option()

    def __post_init__(self) -> None:
        one_of("unconverged", self.unconverged, UNCONVERGED)
        true_or_false("warm_start", self.warm_start)
        if not isinstance(self.extra_joints, Sequence):
            raise expected("extra_joints", "a list of maximal.Joint's", self.extra_joints)


class Variational(Method):
    """Maximal coordinates, interior point, block LDU."""

    capabilities = Capabilities(
        summary="variational integrator in maximal coordinates: joints do not drift, gaps stay open, linear time",
        variants=("circular", "pyramid", "none"),
        honours=frozenset({"friction", "torsion", "rolling", "adhesion"}),
        reference="Brüdigam et al., eqs. (8)–(26)",
        loops=True,
        bibtex=("brudigam2021",),
        stability="no limit but by passive springs",
        colour=6,
    )
    reads = VARIATIONAL
    default_dt = 1e-2
    file_steps = 5
    loops_ahead = forces_at_end = velocities_midway = True
    observing = ("kinematics", "collision", "forces")
    replaceable = frozenset({"user", "collision", "record"})
    at_unconverged = "choose a smaller dt, allow more iterations, or a larger tolerance"
    why_double = "its interior point ends at a tolerance that single precision does not resolve"
    refused: ClassVar[dict[str, str]] = {
        "coordinates": "they are always maximal",
        "fallback": "the interior point is the only solver that knows its equations",
    }
    Options = VariationalOptions
    options: VariationalOptions

    def __init__(self, model: Model, dt: float, variant: str, **options: Any) -> None:
        super().__init__(model, dt, variant, **options)
        chosen = self.options
        extra_joints, detector, margin = chosen.extra_joints, chosen.detector, chosen.margin
        self.policy, self.warm_start, self._extra = chosen.unconverged, chosen.warm_start, tuple(extra_joints)
        self.facets = facets_of(variant, chosen.facets)
        self.mechanism = build_mechanism(model, extra_joints)
        self._names = build_joints(model, extra_joints)[1]
        nodes, nl = self.mechanism.nodes, model.nlink
        rows, limits, dry = int(self.mechanism.first[-1]), len(nodes.limit_joint), len(nodes.dry_bound)
        fluid = make_fluid(model)
        self.motion = make_motion(nl, rows, limits, dry, len(fluid.drag))
        self.rows = make_rows(nl, model.nq, nodes)
        self.joint_step = make_joint_step(model, nodes)
        self.search = ContactSearch(model, dt, variant, detector, margin)
        self.detector = self.search.detector
        recovery = make_recovery(chosen.recovery_time, self.search.reach.radius, model.inertia.mass)
        self.settings = make_settings(
            dt, chosen.tolerance, chosen.relaxation, chosen.iterations, chosen.predictor, recovery
        )
        self.forces = stepping.Forces(
            without_limits(model),
            make_drives(model),
            model.inertia.armature,
            model.inertia.gravity,
            self.search.reach.radius,
            fluid,
        )
        self._before = stepping.Before(np.zeros((nl, 6)), np.zeros(rows), make_pose(nl), make_rubbing(dry))
        self._acting: Inputs | None = None  # inputs of the last step
        self._taken = False  # whether ``_before`` and ``motion`` are the two ends of a step
        self.contacts = ContactList(self.work.kin, capacity=64)
        self._sizes = (nl, rows, limits, dry)
        self._make_space(len(self.contacts.arrays.pair))
        self._graphs: dict[bytes, Any] = {}
        self._connect(np.zeros((0, 2), dtype=np.int64))
        self._q, self._v = self._known_state = stepping.Known(np.zeros(model.nq), np.zeros(model.nv))
        self._call, self._numbers = HeldCall(stepping.advance_held), list[float]()
        self._ours = True  # whether the contacts are those of ``search``
        self._known, self._open = np.zeros(1), np.zeros((len(self._names), 2))
        self.report, self._failed, self._lost = np.zeros(6), 0, False

    def _make_space(self, contacts: int) -> None:
        """Allocate arrays for a number of contacts; the memory of the last step's contacts is kept."""
        self.touch = make_touch(contacts, self.facets)
        self._kept = make_kept(*self._sizes, contacts, self.facets)
        fresh, old = stepping.make_memory(contacts, self.facets), getattr(self, "_memory", None)
        if old is not None:
            pairs = zip((fresh.name, fresh.force, *fresh.cones), (old.name, old.force, *old.cones), strict=True)
            for new, array in pairs:
                new[: len(array)] = array
        self._memory = fresh

    def _connect(self, pairs: np.ndarray) -> None:
        """Use the graph in which the links ``pairs`` (np, 2), sorted, touch each other; it is built once."""
        key = pairs.tobytes()
        if key not in self._graphs:
            if len(self._graphs) >= GRAPHS:
                del self._graphs[next(iter(self._graphs))]
            self._graphs[key] = build_linear(self.mechanism, pairs)
        self.linear = self._graphs[key]
        first = int(np.count_nonzero(self.mechanism.edge >= 0)) + len(self.mechanism.coupled_edges)
        key, edge = pairs[:, 0] * self.model.nlink + pairs[:, 1], first + np.arange(len(pairs), dtype=np.int64)
        self._edges = stepping.Edges(key, edge, np.zeros(len(pairs), dtype=np.int64))

    def moving_parts(self) -> MovingParts:
        joints = self.mechanism.nodes.joints
        first = len(joints.link1) - len(self._extra) - len(self.model.closed_loops)
        searches = {id(d): d for d in (self.detector, self.search.shapes)}
        return MovingParts(tuple(searches.values()), joints=joints, first_loop=first)

    def before_moving(self, state: State) -> None:
        self.take(state)

    # -- the stages of a step ----------------------------------------------------------------------------------

    def take(self, state: State) -> None:
        """Start from joint coordinates, unless they are those of the last step."""
        if self._known[0] and np.array_equal(state.q, self._q) and np.array_equal(state.v, self._v):
            return
        motion, self._known[0] = self.motion, 0.0
        begin_from(self.model, self._extra, self.mechanism, state, self.work.kin, motion, self.dt)
        motion.lam[:] = 0.0
        self._memory.name[:], self._taken = 0, False
        if spins := too_fast(self.model, motion.nu, self.dt):
            raise InputError(spins)
        self._q[:], self._v[:], self._known[0] = state.q, state.v, 1.0

    def advance(self, state: State, inputs: Inputs, n: int) -> tuple[int, int]:
        first, done, compiled = self.step, 0, self.search.compiled
        self.take(state)
        while done < n:
            reason = stepping.PAIRS
            if compiled:
                steps, reason = self._advance_compiled(state, inputs, n - done)
                done += steps
            if reason == stepping.ROOM:
                self._make_space(2 * int(self.contacts.arrays.found[0]))
            elif reason == stepping.GRAPH:
                self._connect(self._touching())
            elif reason != stepping.DONE:
                self.step = first + done
                self._begin(state, inputs)
                self._detect()
                self._formulate()
                try:
                    self._solve()
                except StickslipError:
                    if done == 0:
                        raise
                    return OK, done  # the steps before it count; the next call repeats it
                if self._lost:
                    return DIVERGED, done
                self._finish(state)
                done += 1
        return OK, n

    def _advance_compiled(self, state: State, inputs: Inputs, n: int) -> tuple[int, int]:
        self._taken, self._ours = False, True
        done, reason = self._call(self._arguments(state, inputs), n)
        if done:
            self._acting, self._taken = Inputs(*(given.copy() for given in inputs)), True
        if reason == stepping.UNSOLVED:
            self._restore()
            self._taken = False
        return int(done), int(reason)

    def _arguments(self, state: State, inputs: Inputs) -> tuple[Any, ...]:
        """The arguments of the compiled loop. Equal numbers are given as the same objects, so that they are known."""
        search, *numbers = self.search.arrays()
        if self._numbers != numbers:
            self._numbers = numbers
        return (
            self.mechanism, self.motion, self.rows, self.joint_step, self.touch, self.linear, self._kept, self._memory,
            self._before, self._edges, self.forces, search, inputs, self.work.kin, self.contacts.arrays, self.settings,
            *self._numbers, self.warm_start, self.work.acceleration, self._known_state, state.q, state.v, self.report,
        )  # fmt: skip

    def compiled_call(self, state: State, inputs: Inputs) -> CompiledCall | None:
        if self.why_stages():
            return None
        held = self._call.hold(self._arguments(state, inputs))
        own = {**self.memory(), "report": self.report}
        return CompiledCall(self._call.function, held, own, False, self._memory.force, ("report",))

    def why_stages(self) -> str:
        return "" if self.search.compiled else "the detector is called from Python"

    def fit_room(self, contacts: int) -> None:
        self.contacts = ContactList(self.work.kin, capacity=contacts)
        del self._memory
        self._make_space(contacts)

    def begin_world(self, state: State) -> None:
        self.take(state)

    def _restore(self) -> None:
        """Go back to the beginning of a step that was not accepted."""
        self.motion.nu[:], self.motion.lam[:] = self._before.nu, self._before.lam
        copy_rubbing(self._before.rub, self.motion.rub)

    def stages(self) -> dict[str, Stage]:
        return {
            "kinematics": lambda sim: self._begin(sim.state, sim.acting),
            "collision": lambda sim: self._detect(),
            "formulate": lambda sim: self._formulate(),
            "solve": lambda sim: self._solve(),
            "integrate": lambda sim: self._finish(sim.state),
            "forces": lambda sim: self._recall(),
        }

    def _begin(self, state: State, inputs: Inputs) -> None:
        self.take(state)
        stepping.place_links(self.mechanism.bodies, self.motion.pose, self.motion.nu, self.work.kin)
        stepping.begin(
            self.mechanism,
            self.motion,
            self.rows,
            self.joint_step,
            self.forces,
            inputs,
            self.work.kin,
            state.q,
            self.dt,
        )
        self._inputs, self._ours = inputs, False

    def _detect(self) -> None:
        self.search.find(self.work.kin, self.contacts)
        self._ours = True

    def _touching(self) -> np.ndarray:
        """(np, 2) pairs of links that touch, lower first, sorted."""
        points, n = self.touch.points, int(self.touch.points.found[0])
        links = np.sort(np.stack([points.link1[:n], points.link2[:n]], axis=1), axis=1)
        return np.unique(links[links[:, 0] > 0], axis=0)

    def _formulate(self) -> None:
        """Set up the contact points, and the arrays and graph for them."""
        self.contacts.check()
        n = len(self.contacts)
        if n > len(self.touch.edge):
            self._make_space(2 * n)
        shapes, convex = self.search.shapes.search.geometry.shapes, self._ours and self.search.convex
        place_points(self.contacts.arrays, shapes, convex, self.motion.pose, self.touch.points)
        place_spins(self.contacts.arrays, self.motion.pose, self.touch.points, self.touch.spin)
        if not stepping.find_edges(self.touch.points, self._edges, self.model.nlink, self.touch.edge):
            self._connect(self._touching())
            stepping.find_edges(self.touch.points, self._edges, self.model.nlink, self.touch.edge)

    def _solve(self) -> None:
        self._taken = False
        status = stepping.solve_contacts(
            self.mechanism, self.motion, self.rows, self.joint_step, self.touch, self.linear, self._kept,
            self._memory, self._before, self.settings, self.warm_start, self.report,
        )  # fmt: skip
        if status != CONVERGED:
            self._refuse(status)
            self._failed += 1
        self._lost = not self._finite()
        if self._lost:
            self._restore()
        self.work.acceleration[:] = np.nan if self._lost else 0.0

    def _refuse(self, status: int) -> None:
        """Restore the state and raise an error if an unsolved step must not be accepted."""
        if not self._finite():
            return  # the simulation has diverged and reports it
        spins = too_fast(self.model, self.motion.nu, self.dt, TOO_FAST)
        if self.policy == "raise" or spins:
            self._restore()
            if spins:
                raise UnconvergedError(f"variational: {STATUS[int(self.report[STATUS_AT])]}; {spins}")
            missed = f"{describe(self.report)} (tolerance {self.settings.tolerance:g})"
            raise UnconvergedError(f"variational: {missed}; {self.at_unconverged}, or unconverged='warn' to go on")

    def _finite(self) -> bool:
        fastest = np.abs(self.motion.nu).max(initial=0.0)
        return bool(fastest <= FASTEST) and int(self.report[STATUS_AT]) != NOT_FINITE

    def _finish(self, state: State) -> None:
        stepping.finish(
            self.mechanism, self.motion, self.rows, self.joint_step, self.touch, self.contacts.arrays, self._memory,
            self.work.acceleration, state.q, state.v, self.dt,
        )  # fmt: skip
        self._q[:], self._v[:] = state.q, state.v
        self._acting, self._taken = Inputs(*(given.copy() for given in self._inputs)), True

    def _recall(self) -> None:
        """Write the last step's forces to the current contacts, and the joint errors, for recordings."""
        self._open = joint_violations(self.mechanism, self.motion)
        contact_velocities(self.work.kin, self.contacts.arrays)
        arrays, n = self.contacts.arrays, len(self.contacts)
        names = {int(name): k for k, name in enumerate(self._memory.name) if name}
        for c in range(n):
            k = names.get(int(arrays.pair[c]) + 1)
            arrays.force[c] = 0.0 if k is None else self._memory.force[k]

    # -- queries of the simulation loop ------------------------------------------------------------------------

    @property
    def iterations(self) -> int:
        return int(self.report[ITERATIONS_AT])

    @property
    def status(self) -> str:
        """Result of the last step's iteration."""
        return STATUS[int(self.report[STATUS_AT])]

    @property
    def residual(self) -> float:
        """The largest of the last step's residuals: momenta [N s], joints and gaps [m or rad], products [J, W]."""
        return float(self.report[2:].max())

    @property
    def constraint_names(self) -> tuple[str, ...]:
        return self._names

    @property
    def at_overlap(self) -> str:
        return pushed_out(self.settings.recovery)

    @property
    def at_limits(self) -> str:
        return put_back(self.settings.recovery)

    def joint_error(self) -> np.ndarray:
        """Position errors of solved steps are below 1e-10; velocities are mean velocities, so that G(z)·ν = O(dt)."""
        return self._open

    def stable_dt(self, state: State) -> float:
        """The longest stable step of passive joint springs and of links that swing, whose forces are explicit."""
        return longest_spring_step(self.model, state.q)

    def memory(self) -> dict[str, np.ndarray]:
        motion, m = self.motion, self._memory
        names = ("slack", "normal", "friction", "slip", "excess", "room")
        return {
            "body_position": motion.pose.pos,
            "body_quaternion": motion.pose.quat,
            "body_rotation": motion.pose.rot,
            "body_velocity": motion.nu,
            "joint_impulse": motion.lam,
            "joint_q": self._q,
            "joint_v": self._v,
            "known": self._known,
            "pair": m.name,
            "force": m.force,
            "dry_force": motion.rub.force,
            "dry_slip": motion.rub.slip,
            "dry_room": motion.rub.room,
            **dict(zip(names, m.cones, strict=True)),
        }

    memory_of_rows = ("joint_impulse", "dry_force", "dry_slip", "dry_room")

    def forget_centres(self, memory: dict[str, np.ndarray]) -> None:
        memory["known"][:] = 0.0  # the bodies' poses and velocities are those of their centres

    def remember(self, memory) -> None:
        if len(memory["pair"]) > len(self._memory.name):
            self._make_space(len(memory["pair"]))
        taken = self._taken and np.array_equal(memory["body_velocity"], self.motion.nu)
        self._taken = taken and np.array_equal(memory["body_position"], self.motion.pose.pos)
        super().remember(memory)

    def gradient(self, forces: bool = False) -> StepGradient:
        """∂(z⁺, ν⁺)/∂(z, ν, u) of the last step; with ``forces``, also by ``inputs.applied`` and ``inputs.wrench``."""
        if not (self._taken and self._known[0]) or self._acting is None:
            raise InputError("gradient: expected a step to differentiate, got none since the state was set; step first")
        tree = self.model.tree
        if len(self.model.tendons.limited) or self.model.na or not on_one_joint(self.model).all():
            raise InputError(
                "gradient: expected actuators that drive one hinge or slide joint each, without activations, and no "
                "tendons; derivatives of moment arms are not implemented; differentiate by differences of steps"
            )
        if np.any(self.touch.spin.bound[: self.touch.points.found[0]]):
            raise InputError(
                "gradient: expected contacts without torsional and rolling friction (condim 1 or 3); its derivatives "
                "are not implemented here; differentiate by differences of steps"
            )
        if len(self.model.medium.link) or np.any(self.model.actuators.lifts):
            raise InputError(
                "gradient: expected a scene without a medium and without gravity compensation by actuators; their "
                "derivatives are not implemented here; differentiate by differences of steps"
            )
        hinges = np.bincount(
            np.repeat(np.arange(self.model.nlink), np.diff(tree.joint_start))[tree.joint_type == HINGE]
        )
        if hinges.max(initial=0) > 2 or self.mechanism.nodes.joints.offset.any():
            raise InputError(
                "gradient: expected at most two hinges on a body, through one point; second derivatives of other "
                "stacks are not implemented here; differentiate by differences of steps"
            )
        n = len(self.contacts)
        if self.model.mocap_names or self.contacts.arrays.surface[:n].any() or self.touch.points.adhesion[:n].any():
            raise InputError(
                "gradient: expected contacts without adhesion and moving surfaces, and no mocap bodies; their "
                "derivatives are not implemented; differentiate by differences of steps"
            )
        shapes, convex = self.search.shapes.search.geometry.shapes, self._ours and self.search.convex
        began = Began(self._before.pose, self._before.nu, self._q, *self._acting)
        return step_gradient(
            self.mechanism, self.forces, began, self.motion, self.joint_step, self.touch, self.linear, self.dt, shapes,
            convex, forces,
        )  # fmt: skip
