"""MuJoCo as a method: its engine steps the identical model; contacts and forces are reported like other methods'.

    M·a + c = τ + Jᵀ·f,    f = the minimiser of MuJoCo's convex problem,    v⁺ = v + dt·a,    q⁺ = q ⊕ dt·v⁺    (Euler)

Everything happens in ``mj_step``: kinematics, collision, constraint solver, integrator. The variants are:

* ``soft``           contacts by ``solref`` and ``solimp`` of the scene, or MuJoCo's defaults;
* ``spring-damper``  stiffness and damping of the materials, per contact; see ``mujoco_model``;
* ``none``           no contacts.

Joint limits and closed loops are MuJoCo's own springs. Steps run in C without Python in between, except if an external
wrench acts: MuJoCo expects it at a body's centre of mass, which moves relative to the link's origin from step to step.
Whether a step of such a run reached the iteration limit is read from the solver's statistics, one line per iteration,
which later steps overwrite only as far as they iterate. If one did, the run is repeated step by step to count such
steps. MuJoCo keeps statistics of 20 islands.

Reference: Todorov, Erez, Tassa, "MuJoCo: A physics engine for model-based control", IROS 2012; Todorov, ICRA 2014.
Options that are not given are those of the scene's file (``importers.file_options``).
Differs from MuJoCo's defaults in: elliptic cones, unless a file says otherwise; no reset of states that are not finite.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from stickslip.collision.contacts import FRICTION, STIFFNESS, ContactList, Contacts, contact_velocities
from stickslip.collision.mujoco_detector import MOST_PER_PAIR
from stickslip.constraints.loop_closure import LoopClosure
from stickslip.dynamics.data import Kinematics
from stickslip.errors import InputError, number, one_of, whole
from stickslip.methods.base import DIVERGED, FASTEST, OK, Capabilities, Inputs, Method, Stage
from stickslip.methods.materials import RIGID, SPRINGS
from stickslip.methods.moving import MovingParts
from stickslip.methods.mujoco.mujoco_model import IMPEDANCE, contact_time, make_peer, soft_numbers, stable_step
from stickslip.methods.options import Options, option
from stickslip.methods.soft.viscoelastic import look
from stickslip.model.compile import attach_bodies
from stickslip.model.mjspec import collected_warnings
from stickslip.model.mocap import carriers, home_poses
from stickslip.model.model import Model, State

INTEGRATORS = {
    "euler": mujoco.mjtIntegrator.mjINT_EULER,
    "implicitfast": mujoco.mjtIntegrator.mjINT_IMPLICITFAST,
    "implicit": mujoco.mjtIntegrator.mjINT_IMPLICIT,
    "rk4": mujoco.mjtIntegrator.mjINT_RK4,
}
SOLVERS = {"newton": mujoco.mjtSolver.mjSOL_NEWTON, "cg": mujoco.mjtSolver.mjSOL_CG, "pgs": mujoco.mjtSolver.mjSOL_PGS}
CONES = {"elliptic": mujoco.mjtCone.mjCONE_ELLIPTIC, "pyramidal": mujoco.mjtCone.mjCONE_PYRAMIDAL}
UNTOUCHED = -1.0
"""Written into the solver's statistics of its last allowed iteration; no gradient is negative."""


@dataclass(kw_only=True)
class MuJoCoOptions(Options):
    """Options of MuJoCo's engine, by MuJoCo's names."""

    integrator: str | None = option(None, f"{', '.join(map(repr, INTEGRATORS))} (default: the file's, else euler)")
    solver: str | None = option(None, f"{', '.join(map(repr, SOLVERS))} (default: the file's, else newton)")
    cone: str | None = option(None, "'elliptic' or 'pyramidal' (default: the file's, else elliptic)")
    iterations: int | None = option(None, "largest number of iterations of the solver (default: the file's, else 100)")
    tolerance: float | None = option(None, "tolerance of the solver (default: the file's, else 1e-8)")
    impratio: float | None = option(
        None, "how much stiffer friction is than normal contact, > 0: more is less creep (default: the file's, else 1)"
    )
    noslip_iterations: int | None = option(
        None, "iterations of the solver that undoes creep afterwards (default: the file's, else 0)"
    )

    def __post_init__(self) -> None:
        for name, known in (("integrator", INTEGRATORS), ("solver", SOLVERS), ("cone", CONES)):
            if getattr(self, name) is not None:
                one_of(name, getattr(self, name), known)
        if self.iterations is not None:
            self.iterations = whole("iterations", self.iterations, 1)
        if self.tolerance is not None:
            self.tolerance = number("tolerance", self.tolerance, "a number ≥ 0", least=0.0)
        if self.impratio is not None:
            self.impratio = number("impratio", self.impratio, "a number > 0", above=0.0)
        if self.noslip_iterations is not None:
            self.noslip_iterations = whole("noslip_iterations", self.noslip_iterations, 0)

    def put(self, option: mujoco.MjOption) -> None:
        """Write what is given into MuJoCo's options."""
        codes = {"integrator": INTEGRATORS, "solver": SOLVERS, "cone": CONES}
        for name in (*codes, "iterations", "tolerance", "impratio", "noslip_iterations"):
            value = getattr(self, name)
            if value is not None:
                setattr(option, name, codes[name][value] if name in codes else value)


class LazyContacts(ContactList):
    """The contacts of MuJoCo's last step, which are read from its data when somebody asks for them."""

    def __init__(self, kin: Kinematics, show: Callable[[], None]) -> None:
        self.stale, self._show = False, show
        super().__init__(kin, capacity=64)

    @property
    def arrays(self) -> Contacts:
        if self.stale:
            self.stale = False
            self._show()
        return self._arrays

    @arrays.setter
    def arrays(self, value: Contacts) -> None:
        self._arrays = value


class MuJoCo(Method):
    """MuJoCo's engine."""

    contacts: LazyContacts

    own_activations = True
    capabilities = Capabilities(
        summary="MuJoCo's engine on the identical model",
        variants=("soft", "spring-damper", "none"),
        honours=frozenset({"friction", "torsion", "rolling", "adhesion"}),
        reference="Todorov, Erez, Tassa, IROS 2012; Todorov, ICRA 2014; MuJoCo's documentation",
        loops=True,
        stiff_loops=False,
        bibtex=("todorov2012", "todorov2014"),
        stability="no limit by soft contacts",
        colour=7,
    )
    Options = MuJoCoOptions
    options: MuJoCoOptions
    default_dt = 2e-3
    at_overlap = "its contacts will push it out"
    at_unconverged = "allow more iterations, or choose solver='newton'"
    observing = ("kinematics", "collision")
    observes_acceleration = forces_midway = forces_at_end = True
    replaceable = frozenset({"user", "record"})

    def __init__(self, model: Model, dt: float, variant: str, **options: Any) -> None:
        super().__init__(model, dt, variant, **options)
        self.peer = make_peer(model, variant)
        self.mj = self.peer.mj
        self.contacts = LazyContacts(self.work.kin, lambda: self._show(self.data))
        self._loops = LoopClosure(model) if model.loops else None
        option = self.mj.opt
        option.timestep = dt
        self.mj.actuator_delay[:], self.mj.actuator_history[:, 0] = 0.0, 0  # the simulation delays controls
        if model.spec is None:  # MuJoCo's own models have its default cone, the pyramid
            option.cone = CONES["elliptic"]
        self.options.put(option)
        option.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
        if variant == "none":
            option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
        self.data, self._seen = mujoco.MjData(self.mj), mujoco.MjData(self.mj)
        bodies, self._link_body = attach_bodies(self.mj)
        self._geom_link = np.array([bodies[b].link for b in self.mj.geom_bodyid], dtype=np.int64)
        solid = {id(shape): k for k, shape in enumerate(shape for shape in model.shapes if shape.solid)}
        self._solid = np.array([solid.get(id(shape), -1) for shape in self.peer.shapes], dtype=np.int64)
        self._mocap = home_poses(model)
        self._belts = self.mj.geom_surfacevel.copy()
        self._carriers = carriers(model)[self.mj.geom_bodyid]
        self._materials: dict[tuple[int, int], tuple[float, ...]] = {}
        last = np.arange(mujoco.mjNISLAND) * mujoco.mjNSOLVER + option.iterations - 1
        self._last_iteration = last if option.iterations <= mujoco.mjNSOLVER else None

    # -- steps -------------------------------------------------------------------------------------------------

    def advance(self, state: State, inputs: Inputs, n: int) -> tuple[int, int]:
        d = self.data
        self._hand_over(d, state, inputs)
        d.warning.number[:] = 0
        self.contacts.stale = True
        with collected_warnings():
            if n > 1 and self._last_iteration is not None and not inputs.wrench.any():
                before = d.qacc_warmstart.copy()
                d.solver.gradient[self._last_iteration] = UNTOUCHED
                mujoco.mj_step(self.mj, d, n)
                if self._well() and np.all(d.solver.gradient[self._last_iteration] == UNTOUCHED):
                    state.q[:], state.v[:], state.act[:] = d.qpos, d.qvel, d.act
                    return OK, n
                self._hand_over(d, state, inputs)
                d.qacc_warmstart[:] = before
                d.warning.number[:] = 0
            return self._one_by_one(state, inputs, n)

    def _one_by_one(self, state: State, inputs: Inputs, n: int) -> tuple[int, int]:
        d, pushed = self.data, bool(inputs.wrench.any())
        for k in range(n):
            before = d.qacc_warmstart.copy()
            if pushed:
                self._push(d, inputs)
            mujoco.mj_step(self.mj, d)
            if not self._well():
                self.work.acceleration[:] = d.qacc
                d.qacc_warmstart[:] = before
                self.contacts.stale = False  # what MuJoCo has now is not finite
                return DIVERGED, k
            self._failed += self.iterations >= self.mj.opt.iterations
            state.q[:], state.v[:], state.act[:] = d.qpos, d.qvel, d.act
        return OK, n

    def _well(self) -> bool:
        """Whether all results since the warnings were cleared are finite and complete."""
        d, warning = self.data, mujoco.mjtWarning
        if d.warning.number[warning.mjWARN_CONTACTFULL] or d.warning.number[warning.mjWARN_CNSTRFULL]:
            raise InputError(
                f"method 'mujoco': {d.ncon} contacts do not fit into MuJoCo's memory of {self.mj.narena} bytes"
            )
        return not d.warning.number.any() and bool(np.all(np.abs(d.qvel) <= FASTEST))

    def _hand_over(self, data: mujoco.MjData, state: State, inputs: Inputs) -> None:
        data.time, data.qpos[:], data.qvel[:], data.act[:] = state.time, state.q, state.v, state.act
        data.ctrl[:], data.qfrc_applied[:], data.xfrc_applied[:] = inputs.control, inputs.applied, 0.0
        data.mocap_pos[:], data.mocap_quat[:] = self._mocap[:, :3], self._mocap[:, 3:]

    def _push(self, data: mujoco.MjData, inputs: Inputs) -> None:
        """Set the external wrenches, which act at link origins here and at centres of mass in MuJoCo."""
        mujoco.mj_kinematics(self.mj, data)
        body, wrench = self._link_body, inputs.wrench
        arm = data.xipos[body] - data.xpos[body]
        data.xfrc_applied[body, :3] = wrench[:, :3]
        data.xfrc_applied[body, 3:] = wrench[:, 3:] - np.cross(arm, wrench[:, :3])

    def moving_parts(self) -> MovingParts:
        return MovingParts((), () if self._loops is None else (self._loops.bilateral.loops,))

    def move(self, poses: np.ndarray, twists: np.ndarray) -> None:
        """MuJoCo's mocap bodies have no velocity. What is along their surfaces is given as ``surfacevel`` of geoms."""
        self._mocap[:] = poses
        for g in np.flatnonzero(self._carriers >= 0):
            shape, twist = self.peer.shapes[g], twists[self._carriers[g]]  # the shape has been moved
            at = twist[:3] + np.cross(twist[3:], shape.pos)
            local = np.concatenate([shape.rot.T @ at, shape.rot.T @ twist[3:]])
            self.mj.geom_surfacevel[g] = self._belts[g] + local
        self.mj.flg_surfacevel = bool(self.mj.geom_surfacevel.any())

    # -- observation -------------------------------------------------------------------------------------------

    def stages(self) -> dict[str, Stage]:
        return {"kinematics": self._kinematics, "collision": self._observe}

    def _kinematics(self, sim) -> None:
        look(self.world, self.work, sim.state.q, sim.state.v)

    def _observe(self, sim) -> None:
        """The contacts of the step that begins here, and the forces that act in it."""
        d = self._seen
        acting = sim.acting
        self._hand_over(d, sim.state, acting)
        d.qacc_warmstart[:] = self.data.qacc_warmstart
        with collected_warnings():
            if acting.wrench.any():
                self._push(d, acting)
            mujoco.mj_forward(self.mj, d)
        self.work.acceleration[:] = d.qacc
        self.contacts.stale = False
        self._show(d)
        contact_velocities(self.work.kin, self.contacts.arrays)

    def _show(self, d: mujoco.MjData) -> None:
        """Write MuJoCo's contacts in stickslip's convention: lower link first, points on body 2, forces on it."""
        found = d.contact
        kept = np.flatnonzero(found.efc_address >= 0)
        n = len(kept)
        while n > len(self.contacts.arrays.pair):
            self.contacts.grow()
        x = self.contacts.arrays
        x.found[0] = n
        if n == 0:
            return
        forces = np.zeros((n, 6))
        for row, c in zip(forces, kept, strict=True):
            mujoco.mj_contactForce(self.mj, d, c, row)
        forces[:, 0] -= self._pulled(d, kept)
        geoms, gap, axes = found.geom[kept], found.dist[kept], found.frame[kept].reshape(n, 3, 3)
        links = self._geom_link[geoms]
        swapped = links[:, 1] < links[:, 0]
        axes[swapped] *= np.array([-1.0, 1.0, -1.0])[:, None]  # still right-handed
        forces[swapped, 1] *= -1.0
        pairs = [(int(a), int(b)) for a, b in geoms]
        x.pair[:n] = (geoms[:, 0].astype(np.int64) * self.mj.ngeom + geoms[:, 1]) * MOST_PER_PAIR + _ranks(pairs)
        x.link1[:n], x.link2[:n] = links.min(axis=1), links.max(axis=1)
        x.point[:n], x.axes[:n], x.gap[:n] = found.pos[kept] + 0.5 * gap[:, None] * axes[:, 0], axes, gap
        x.material[:n] = [self._material(pair) for pair in pairs]
        x.material[:n, FRICTION] = np.where(found.dim[kept] > 1, found.friction[kept, 0], 0.0)
        for unused in (x.rolling, x.radius, x.curvature, x.spin, x.drift, x.stretch, x.surface):
            unused[:n] = 0
        ordered = np.where(swapped[:, None], geoms[:, ::-1], geoms)
        x.shape1[:n], x.shape2[:n] = self._solid[ordered].T
        x.surface[:n, 1:4] = found.surfacevel[kept]
        along = x.surface[:n, 1]
        along[swapped] *= -1.0
        x.gap[:n] -= found.includemargin[kept]
        forces[swapped, 4] *= -1.0
        x.torque[:n] = forces[:, 3:]
        x.force[:n], x.stretch[:n, 0] = forces[:, :3], x.gap[:n]

    def _pulled(self, d: mujoco.MjData, kept: np.ndarray) -> np.ndarray:
        """What actuators on bodies pull with at the contacts ``kept`` [N]: their force, in equal parts."""
        pull = np.zeros(len(kept))
        bodies = self.mj.geom_bodyid[d.contact.geom]
        for k in np.flatnonzero(self.mj.actuator_trntype == mujoco.mjtTrn.mjTRN_BODY):
            own = np.any(bodies == self.mj.actuator_trnid[k, 0], axis=1)
            pull += np.where(own[kept], d.actuator_force[k] / max(1, np.count_nonzero(own)), 0.0)
        return pull

    def _material(self, pair: tuple[int, int]) -> tuple[float, ...]:
        if pair not in self._materials:
            self._materials[pair] = self.model.pair_material(*(self.peer.shapes[g] for g in pair)).row
        return self._materials[pair]

    def contact_energy(self) -> float:
        """½·K·r² of "spring-damper"; the energy of "soft" contacts is not known."""
        x, n = self.contacts.arrays, len(self.contacts)
        if n > 0 and self.variant == "soft":
            return float("nan")
        return 0.5 * float(x.material[:n, STIFFNESS] @ x.gap[:n] ** 2)

    @property
    def honours(self) -> frozenset[str]:
        return self.capabilities.honours | (
            {"stiffness", "damping"} if self.variant == "spring-damper" else frozenset()
        )

    def reading(self) -> dict[str, str]:
        cone = "circular cone" if self.mj.opt.cone == CONES["elliptic"] else "pyramid of four facets"
        friction = (
            f"{cone} of MuJoCo's convex problem, impratio {self.mj.opt.impratio:g}: "
            "sliding contacts part, resting ones creep"
        )
        reads = {**SPRINGS, "friction": friction, "preload": RIGID["preload"]}
        reads["tangent_stiffness"] = "MuJoCo's friction has no springs"
        reads["tangent_damping"] = "the regularisation of MuJoCo's friction, by impratio, takes its place"
        if self.variant == "spring-damper":
            reads["stiffness"] = f"a spring per contact: solref −K·(1 − d)·Â of the pair, impedance d = {IMPEDANCE:g}"
            reads["damping"] = "a damper per contact and direction, −B·(1 − d)·Â; along the surface it is alone"
        else:
            reads["stiffness"] = reads["damping"] = f"{soft_numbers(self.peer)} take its place"
            reads["restitution"] = "bounce follows from solref"
        return reads

    @property
    def iterations(self) -> int:
        return int(self.data.solver_niter.max())

    @property
    def residual(self) -> float:
        """The largest scaled gradient over the islands of the last step's problem."""
        n = self.data.solver_niter
        some = np.flatnonzero((n > 0) & (n <= mujoco.mjNSOLVER))
        return float(self.data.solver.gradient[some * mujoco.mjNSOLVER + n[some] - 1].max(initial=0.0))

    def joint_error(self) -> np.ndarray:
        if self._loops is None:
            return super().joint_error()
        self._loops.measure(self.work.kin)
        return np.column_stack(self._loops.errors())

    def memory(self) -> dict[str, np.ndarray]:
        return {"warm_start": self.data.qacc_warmstart}

    @classmethod
    def step_of_file(cls, model: Model) -> float | None:
        step = float(model.mj.opt.timestep)
        return None if step == cls.default_dt else step

    @property
    def contact_time(self) -> float:
        """[s] the shortest time constant of its soft contacts; inf without any."""
        return contact_time(self.peer) if self.variant == "soft" else float("inf")

    def stable_dt(self, state: State) -> float:
        return stable_step(self.model, self.variant, state)


def _ranks(pairs: list[tuple[int, int]]) -> list[int]:
    """Rank of each contact among those of its pair, from 0 on."""
    seen: Counter[tuple[int, int]] = Counter()
    ranks = []
    for pair in pairs:
        ranks.append(min(seen[pair], MOST_PER_PAIR - 1))
        seen[pair] += 1
    return ranks
