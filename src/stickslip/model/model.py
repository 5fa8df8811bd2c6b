"""Model: the constant description of a scene, compiled once. State: configuration, velocity and time."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property

import mujoco
import numpy as np

from stickslip.errors import expected, unknown
from stickslip.model import compile as build
from stickslip.model.arrays import (
    ON_BODY,
    Activations,
    Actuators,
    Frames,
    Inertia,
    JointForces,
    Support,
    Tendons,
    Tree,
    build_support,
)
from stickslip.model.compile_drives import build_activations, build_actuators, build_tendons
from stickslip.model.keyframes import Keyframe, read_keyframes, write_keyframes
from stickslip.model.loops import Constraint, Coupling, build_loops
from stickslip.model.mjspec import exact_xml
from stickslip.model.shape import ContactPair, PairMaterial, Shape, combine


@dataclass
class State:
    """Configuration, velocity and time; ``q`` and ``v`` are laid out as MuJoCo's qpos and qvel."""

    q: np.ndarray
    """(nq,) joint coordinates; a free joint is world position [m] and quaternion (w, x, y, z)."""
    v: np.ndarray
    """(nv,) joint velocities; a free joint is world-linear [m/s] and body-angular [rad/s]."""
    time: float = 0.0
    """[s]."""
    act: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """(na,) activations of actuators with dynamics between control and force (filters, integrators, muscles)."""

    def copy(self) -> State:
        return State(self.q.copy(), self.v.copy(), self.time, self.act.copy())


@dataclass(frozen=True)
class Model:
    """Constant arrays of a scene, split into small tuples for the kernels, and the names of its elements."""

    tree: Tree
    support: Support
    inertia: Inertia
    joint_forces: JointForces
    tendons: Tendons
    actuators: Actuators
    activations: Activations
    frames: Frames
    shapes: tuple[Shape, ...]
    link_names: tuple[str, ...]
    joint_names: tuple[str, ...]
    tendon_names: tuple[str, ...]
    actuator_names: tuple[str, ...]
    frame_index: dict[str, int] = field(repr=False)
    keyframes: dict[str, Keyframe] = field(repr=False)
    """Named moments; a simulation begins with ``home``."""
    mj: mujoco.MjModel = field(repr=False, compare=False)
    """The MuJoCo model that this one was compiled from; MuJoCo simulates it when methods are compared."""
    loops: tuple[Constraint | Coupling, ...] = ()
    """Constraints besides the joints of the tree: closed loops, welds and coupled joints."""
    pairs: tuple[ContactPair, ...] = ()
    """Pairs of shapes that may touch whatever their masks and bodies, with properties of their own."""
    filter_parents: bool = True
    """Whether a link does not touch its parent link (unless that is the world)."""
    spec: mujoco.MjSpec | None = field(default=None, repr=False, compare=False)
    """Its specification, if it was compiled from a scene."""

    @property
    def closed_loops(self) -> tuple[Constraint, ...]:
        """The loops and welds among ``loops``."""
        return tuple(loop for loop in self.loops if isinstance(loop, Constraint))

    @property
    def couplings(self) -> tuple[Coupling, ...]:
        """The coupled joints among ``loops``."""
        return tuple(loop for loop in self.loops if isinstance(loop, Coupling))

    @property
    def nlink(self) -> int:
        """Number of links, the world included."""
        return len(self.tree.parent)

    @property
    def nq(self) -> int:
        return len(self.tree.q0)

    @property
    def nv(self) -> int:
        return len(self.support.dof_link)

    @property
    def nu(self) -> int:
        """Number of controls."""
        return len(self.actuators.gear)

    @property
    def na(self) -> int:
        """Number of activations."""
        return int(np.count_nonzero(self.activations.place >= 0))

    @property
    def delayed(self) -> bool:
        """Whether some control acts later than it is given."""
        return bool(np.any(self.activations.delay > 0.0))

    @cached_property
    def mocap_names(self) -> tuple[str, ...]:
        """(nm,) names of the bodies that are moved from outside (``sim.set_mocap``)."""
        mj, found = self.mj, {}
        for b in np.flatnonzero(mj.body_mocapid >= 0):
            found[int(mj.body_mocapid[b])] = mj.body(b).name
        return tuple(found[m] for m in range(mj.nmocap))

    @cached_property
    def outside(self) -> tuple[str, ...]:
        """What moves or pulls contacts from outside, in words: moving surfaces, mocap bodies, actuators on bodies."""
        found = [f"the moving surface of shape {s.name!r}" for s in self.shapes if s.surface_velocity.any() and s.solid]
        found += [f"the mocap body {name!r}" for name in self.mocap_names]
        on_body = np.flatnonzero(self.actuators.transmission == ON_BODY)
        return (*found, *(f"the actuator {self.actuator_names[k]!r} on a body" for k in on_body))

    @cached_property
    def fingerprint(self) -> str:
        """A hash of everything that the motion depends on."""
        digest = hashlib.sha256()
        for part in (self.tree, self.inertia, self.joint_forces, self.tendons, self.actuators, self.activations):
            for array in part:
                digest.update(np.ascontiguousarray(array).tobytes())
        digest.update(repr([(s.name, s.kind, s.link, s.material, s.group, s.mask) for s in self.shapes]).encode())
        digest.update(repr((self.pairs, self.filter_parents)).encode())
        for shape in self.shapes:
            for array in (shape.pos, shape.rot, shape.size, shape.surface_velocity):
                digest.update(array.tobytes())
        for coupling in self.couplings:
            for array in (coupling.joints1, coupling.factors1, coupling.joints2, coupling.factors2):
                digest.update(array.tobytes())
            digest.update(coupling.polynomial.tobytes() + coupling.reference.tobytes())
        for loop in self.closed_loops:
            digest.update(repr((loop.kind, loop.link1, loop.link2)).encode())
            for array in (loop.pos1, loop.rot1, loop.pos2, loop.rot2):
                digest.update(array.tobytes())
        return digest.hexdigest()[:16]

    @cached_property
    def _pair_materials(self) -> dict[tuple[int, int], PairMaterial]:
        return {(id(self.shapes[p.one]), id(self.shapes[p.two])): p.material for p in self.pairs}

    def explicit(self, a: Shape, b: Shape) -> PairMaterial | None:
        """The properties of an explicit pair of two of the model's shapes; None if they are no such pair."""
        known = self._pair_materials
        return known.get((id(a), id(b))) or known.get((id(b), id(a))) if known else None

    def pair_material(self, a: Shape, b: Shape) -> PairMaterial:
        """The properties of contacts between two of the model's shapes."""
        return self.explicit(a, b) or combine(a.material, b.material)

    def to_xml(self) -> str:
        """MJCF text, with all digits and the keyframes; empty if the model was not compiled from a scene."""
        if self.spec is None:
            return ""
        spec = self.spec.copy()
        write_keyframes(spec, self.keyframes)
        spec.compile()
        return exact_xml(spec)

    def link(self, name: str) -> int:
        """Index of the link that carries the body ``name``."""
        return int(self.frames.link[self.frame(name)])

    def frame(self, name: str) -> int:
        """Index of a named frame: any body or site of the scene."""
        if name not in self.frame_index:
            raise unknown("frame", name, self.frame_index)
        return self.frame_index[name]

    def joint(self, name: str) -> int:
        if name not in self.joint_names:
            raise unknown("joint", name, self.joint_names)
        return self.joint_names.index(name)

    def keyframe(self, name: str) -> Keyframe:
        if name not in self.keyframes:
            raise unknown("keyframe", str(name), self.keyframes)
        return self.keyframes[name]

    def state(self, q: np.ndarray | None = None, v: np.ndarray | None = None, act: np.ndarray | None = None) -> State:
        """A checked state; by default the keyframe ``home`` if there is one, else the reference configuration at rest.
        A configuration alone is at rest and without activation."""
        home = self.keyframes.get("home")
        if q is None:
            q = self.tree.q0 if home is None else home.q
            v = home.v if v is None and home is not None else v
            act = home.act if act is None and home is not None and len(home.act) else act
        state = State(np.array(q, dtype=float), np.zeros(self.nv) if v is None else np.array(v, dtype=float))
        state.act = np.zeros(self.na) if act is None else np.array(act, dtype=float)
        self.check(state)
        for _, first in self.quaternions():  # given as unit to 1e-6, now to round-off
            state.q[first : first + 4] /= np.linalg.norm(state.q[first : first + 4])
        return state

    def check(self, state: State) -> None:
        """Refuse a state of the wrong size, with NaN, or with quaternions that are not unit."""
        for name, value, size in (("q", state.q, self.nq), ("v", state.v, self.nv), ("act", state.act, self.na)):
            if value.shape != (size,):
                raise expected(f"state.{name}", f"an array of shape ({size},)", value.shape)
            bad = np.flatnonzero(~np.isfinite(value))
            if len(bad):
                raise expected(f"state.{name}", "finite numbers", value[bad[0]], f"look at entry {bad[0]}")
        for j, first in self.quaternions():
            norm = float(np.linalg.norm(state.q[first : first + 4]))
            if abs(norm - 1.0) > 1e-6:
                what = f"quaternion of joint {self.joint_names[j]!r}"
                raise expected(what, "unit length", round(norm, 9), "divide it by its norm")

    def quaternions(self) -> list[tuple[int, int]]:
        """(joint, first entry in q) of every quaternion."""
        tree = self.tree
        free = [(int(j), int(tree.joint_q[j]) + 3) for j in np.flatnonzero(tree.joint_type == 0)]
        ball = [(int(j), int(tree.joint_q[j])) for j in np.flatnonzero(tree.joint_type == 1)]
        return sorted(free + ball)


def compile_model(mj: mujoco.MjModel, hull_tolerance: float = 0.0) -> Model:
    """Build our constant arrays from a compiled MuJoCo model; hulls of meshes are simplified by at most
    ``hull_tolerance`` [m]."""
    bodies, link_body = build.attach_bodies(mj)
    tree = build.build_tree(mj, bodies, link_body)
    frames, frame_index = build.build_frames(mj, bodies)
    shapes = build.build_shapes(mj, bodies, hull_tolerance)
    return Model(
        tree=tree,
        support=build_support(tree, mj.nv),
        inertia=build.build_inertia(mj, bodies, len(link_body)),
        joint_forces=build.build_joint_forces(mj),
        tendons=build_tendons(mj, bodies),
        actuators=build_actuators(mj, bodies),
        activations=build_activations(mj),
        frames=frames,
        shapes=shapes,
        link_names=tuple(mj.body(b).name or f"link {i}" for i, b in enumerate(link_body)),
        joint_names=tuple(mj.joint(j).name or f"joint {j}" for j in range(mj.njnt)),
        tendon_names=tuple(mj.tendon(t).name or f"tendon {t}" for t in range(mj.ntendon)),
        actuator_names=tuple(mj.actuator(a).name or f"actuator {a}" for a in range(mj.nu)),
        frame_index=frame_index,
        keyframes={name: named.arrays(mj) for name, named in read_keyframes(mj).items()},
        mj=mj,
        loops=build_loops(mj, bodies),
        pairs=build.build_pairs(mj, shapes),
        filter_parents=build.filters_parents(mj),
    )
