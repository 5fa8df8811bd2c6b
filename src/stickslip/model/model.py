"""Model: the constant description of a scene, compiled once. State: configuration, velocity and time."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from stickslip.attributes import IN_FRAMES, IN_MODEL, Closed, Named, changed_by_setters
from stickslip.errors import InputError, expected, names_keywords, reals, unknown
from stickslip.model import compile as build
from stickslip.model.actuator_setters import set_actuator
from stickslip.model.arrays import (
    ON_BODY,
    Activations,
    Actuators,
    Frames,
    Inertia,
    JointForces,
    Medium,
    Support,
    Tendons,
    Tree,
    build_support,
)
from stickslip.model.keyframes import Keyframe, read_keyframes, write_keyframes
from stickslip.model.loops import Constraint, Coupling, build_loops
from stickslip.model.mjspec import Portable, copied, exact_xml
from stickslip.model.parameters import build_parameters, tendon_names
from stickslip.model.setters import (
    Edits,
    MassProperties,
    Vector,
    mass_properties,
    set_body,
    set_gravity,
    set_joint,
    set_shape,
)
from stickslip.model.shape import ContactPair, PairMaterial, Shape, combine
from stickslip.summary import Summarised, Summary, counted, numbers, plural

if TYPE_CHECKING:
    from stickslip.model.attach import Robot


@dataclass(repr=False)
class State(Summarised, Closed):
    """Configuration, velocity and time; ``q`` and ``v`` are laid out as MuJoCo's qpos and qvel."""

    elsewhere = ("state", IN_FRAMES)

    q: np.ndarray
    """(nq,) joint coordinates; a free joint is world position [m] and quaternion (w, x, y, z)."""
    v: np.ndarray
    """(nv,) joint velocities; a free joint is world-linear [m/s] and body-angular [rad/s]."""
    time: float = 0.0
    """[s]."""
    act: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """(na,) activations of actuators with dynamics between control and force (filters, integrators, muscles)."""

    def __post_init__(self) -> None:
        self._complete = True

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuse an array of another shape or type where it is assigned: kernels trust those of a state."""
        if name in ("q", "v", "act") and "_complete" in self.__dict__:
            shape = self.__dict__[name].shape
            given = value if isinstance(value, np.ndarray) else np.zeros(0, dtype=bool)
            if not (given.dtype == np.float64 and given.shape == shape and given.flags.carray):
                remedy = f"write into it: state.{name}[:] = …"
                raise expected(f"sim.state.{name}", f"a float64 array of shape {shape}", value, remedy)
        super().__setattr__(name, value)

    def _summary(self) -> Summary:
        rows = {"q": numbers(self.q), "v": numbers(self.v), "act": numbers(self.act) if len(self.act) else ""}
        return Summary(f"State at t = {self.time:.6g} s, nq = {len(self.q)}, nv = {len(self.v)}", rows)

    def copy(self) -> State:
        return State(self.q.copy(), self.v.copy(), self.time, self.act.copy())


def make_read_only(part: Any) -> None:
    """Protect the arrays of a tuple or of a dataclass: a model changes by its setters alone."""
    for value in part if isinstance(part, tuple) else vars(part).values():
        if isinstance(value, np.ndarray):
            value.flags.writeable = False


@changed_by_setters
@dataclass(frozen=True, repr=False)
class Model(Summarised, Named):
    """Constant arrays of a scene, split into small tuples for the kernels, and the names of its elements."""

    elsewhere = ("model", IN_MODEL)

    tree: Tree
    support: Support
    inertia: Inertia
    joint_forces: JointForces
    medium: Medium
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
    robots: tuple[Robot, ...] = field(default=(), repr=False, compare=False)
    """What files brought which joints and actuators, if it was compiled from a scene."""

    edits: Edits = field(default_factory=Edits, init=False, repr=False, compare=False)
    """What setters have changed."""
    source: Model | None = field(default=None, init=False, repr=False, compare=False)
    """The model that this one is a simulation's own copy of, if the scene has mocap bodies; setters change that one."""

    def __post_init__(self) -> None:
        self._protect()

    def __reduce_ex__(self, protocol: Any) -> Any:
        """A simulation's own copy of a model is pickled and copied as the model of the scene."""
        return (_itself, (self.source,)) if self.source is not None else super().__reduce_ex__(protocol)

    def __getstate__(self) -> dict[str, Any]:
        own = {name: value for name, value in self.__dict__.items() if name != "_pair_materials"}
        return own | {"spec": self.spec if self.spec is None else Portable(self.spec)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self.spec is not None:
            self.__dict__["spec"] = state["spec"].spec
            self.__dict__["spec"].compile()  # numbers its elements, by which setters find them
        self._protect()

    def _protect(self) -> None:
        for part in (*self.parts, *self.loops, *self.shapes, *self.keyframes.values()):
            make_read_only(part)

    @property
    def parts(self) -> tuple[tuple[np.ndarray, ...], ...]:
        """The tuples of constant arrays."""
        return (
            self.tree, self.support, self.inertia, self.joint_forces, self.medium, self.tendons, self.actuators,
            self.activations, self.frames,
        )  # fmt: skip

    def _summary(self) -> Summary:
        kinds = Counter(shape.kind for shape in self.shapes)
        parts = (plural(self.nlink - 1, "link"), f"nq = {self.nq}, nv = {self.nv}, nu = {self.nu}")
        rows = {
            "links": counted(self.link_names[1:]),
            "joints": counted(self.joint_names),
            "actuators": counted(self.actuator_names),
            "shapes": ", ".join(f"{n} {kind}" for kind, n in kinds.items()),
            "tendons": counted(self.tendon_names),
            "loops": counted(loop.name for loop in self.loops),
            "mocap": counted(self.mocap_names),
            "sensors": str(self.mj.nsensor or ""),
            "robots": counted(robot.name for robot in self.robots),
            "keyframes": counted(self.keyframes),
            "gravity": f"{numbers(self.inertia.gravity)} m/s²",
        }
        return Summary(f"Model: {', '.join(parts)}, {self.mass:.4g} kg", rows)

    @property
    def closed_loops(self) -> tuple[Constraint, ...]:
        """The loops and welds among ``loops``."""
        return tuple(loop for loop in self.loops if isinstance(loop, Constraint))

    @property
    def couplings(self) -> tuple[Coupling, ...]:
        """The coupled joints and tendons among ``loops``."""
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
    def mass(self) -> float:
        """Mass of all bodies that can move [kg]."""
        return float(self.inertia.mass[1:].sum())

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
        drives = (self.tendons, self.actuators, self.activations)
        for part in (self.tree, self.inertia, self.joint_forces, self.medium, *drives):
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
            digest.update(repr(coupling.tendons).encode())
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
        spec = copied(self.spec)
        write_keyframes(spec, self.keyframes)
        spec.compile()
        return exact_xml(spec)

    # -- setters: each acts on all simulations of this model from their next step on --------------------------------

    @property
    def version(self) -> int:
        """Number of changes by setters."""
        return self.edits.version

    def put(self, **parts: Any) -> None:
        """Replace arrays and shapes, for the setters alone. Those who hold the old ones see ``version``."""
        for name, part in parts.items():
            for each in part if name in ("shapes", "pairs") else (part,):
                make_read_only(each)
            object.__setattr__(self, name, part)
        self.edits.version += 1
        for name in ("fingerprint", "_pair_materials"):
            self.__dict__.pop(name, None)

    def mass_properties(self, body: str) -> MassProperties:
        """Mass, centre of mass and inertia of a body, without those of bodies that are fixed to it."""
        return mass_properties(self, body)

    @names_keywords
    def set_body(
        self, name: str, *, mass: float | None = None, com: Vector | None = None, inertia: Vector | None = None
    ) -> None:
        """Set the mass [kg], the centre of mass (3,) [m, body frame] or the inertia about it [kg m²] of a body.

        ``inertia`` is (xx, yy, zz), (xx, yy, zz, xy, xz, yz) or a matrix (3, 3), in the body's axes. A mass without an
        inertia scales the inertia with it, as if the density had changed.
        """
        set_body(self.source or self, name, mass, com, inertia)

    @names_keywords
    def set_shape(
        self, name: str, *, friction: float | str | None = None, stiffness: float | str | None = None,
        damping: float | str | None = None, restitution: float | str | None = None, preload: float | str | None = None,
        torsion: float | None = None, rolling: float | None = None, condim: int | None = None,
        priority: int | None = None, margin: float | None = None, gap: float | None = None,
        adhesion: float | None = None, tangent_stiffness: float | str | None = None,
        tangent_damping: float | str | None = None,
    ) -> None:  # fmt: skip
        """Set properties of a shape's surface, or of all shapes of a body, as in ``Body.add_box`` and docs/models.md.

        "unset" for friction, stiffness, damping (also along the surface: ``tangent_stiffness``, ``tangent_damping``),
        restitution or preload lets the other surface of a pair decide.
        """
        set_shape(
            self.source or self, name, friction=friction, stiffness=stiffness, damping=damping, restitution=restitution,
            preload=preload, torsion=torsion, rolling=rolling, condim=condim, priority=priority, margin=margin,
            gap=gap, adhesion=adhesion, tangent_stiffness=tangent_stiffness, tangent_damping=tangent_damping,
        )  # fmt: skip

    @names_keywords
    def set_joint(
        self, name: str, *, damping: float | None = None, stiffness: float | None = None,
        friction: float | None = None, armature: float | None = None,
    ) -> None:  # fmt: skip
        """Set damping, stiffness, dry friction or armature of a joint, in the units of ``Body.add_joint``."""
        set_joint(self.source or self, name, damping=damping, stiffness=stiffness, friction=friction, armature=armature)

    @names_keywords
    def set_actuator(
        self, name: str, *, kp: float | None = None, kv: float | None = None, gain: float | Vector | None = None,
        bias: float | Vector | None = None, gear: float | Vector | None = None, control_range: Vector | None = None,
        force_range: Vector | None = None,
    ) -> None:  # fmt: skip
        """Set gains, gear and ranges of an actuator, whose force is gain·control + bias.

        ``kp`` and ``kv`` are those of position and velocity servos. ``gain`` and ``bias`` are up to three numbers, of
        which the second and third are multiplied by the transmission's length and velocity. The range (−inf, inf)
        means none.
        """
        set_actuator(
            self.source or self, name, kp=kp, kv=kv, gain=gain, bias=bias, gear=gear, control_range=control_range,
            force_range=force_range,
        )  # fmt: skip

    @names_keywords
    def set_gravity(self, gravity: Vector) -> None:
        """Set gravity (3,) [m/s²]."""
        set_gravity(self.source or self, gravity)

    def link(self, name: str) -> int:
        """Index of the link that carries the body ``name``."""
        return int(self.frames.link[self.frame(name)])

    def frame(self, name: str) -> int:
        """Index of a named frame: any body or site of the scene."""
        if not isinstance(name, str) or name not in self.frame_index:
            carriers = [self.mj.body(shape.body).name for shape in self.shapes if shape.name == name]
            if carriers:
                raise InputError(f"{name!r} is a shape: expected a body or site; its body is {carriers[0]!r}")
            raise unknown("body or site", name, self.frame_index)
        return self.frame_index[name]

    def joint(self, name: str) -> int:
        if not isinstance(name, str) or name not in self.joint_names:
            raise unknown("joint", name, self.joint_names)
        return self.joint_names.index(name)

    def keyframe(self, name: str) -> Keyframe:
        if not isinstance(name, str) or name not in self.keyframes:
            raise unknown("keyframe", name, self.keyframes)
        return self.keyframes[name]

    def state(self, q: np.ndarray | None = None, v: np.ndarray | None = None, act: np.ndarray | None = None) -> State:
        """A checked state; by default the keyframe ``home`` if there is one, else the reference configuration at rest.
        A configuration alone is at rest and without activation."""
        home = self.keyframes.get("home")
        if q is None:
            q = self.tree.q0 if home is None else home.q
            v = home.v if v is None and home is not None else v
            act = home.act if act is None and home is not None and len(home.act) else act
        v = np.zeros(self.nv) if v is None else _numbers("v", v)
        state = State(_numbers("q", q), v, act=np.zeros(self.na) if act is None else _numbers("act", act))
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


def _itself(model: Model) -> Model:
    return model


def _numbers(name: str, value: Any) -> np.ndarray:
    """A new array of numbers; what is none is refused by name."""
    return np.array(reals(name, value, "an array of numbers"))


def compile_model(mj: mujoco.MjModel, hull_tolerance: float = 0.0) -> Model:
    """Build our constant arrays from a compiled MuJoCo model; hulls of meshes are simplified by at most
    ``hull_tolerance`` [m]."""
    bodies, link_body = build.attach_bodies(mj)
    tree = build.build_tree(mj, bodies, link_body)
    frames, frame_index = build.build_frames(mj, bodies)
    shapes = build.build_shapes(mj, bodies, hull_tolerance)
    support = build_support(tree, mj.nv)
    return Model(
        tree=tree,
        support=support,
        **build_parameters(mj, bodies, tree, support),
        frames=frames,
        shapes=shapes,
        link_names=tuple(mj.body(b).name or f"link {i}" for i, b in enumerate(link_body)),
        joint_names=tuple(mj.joint(j).name or f"joint {j}" for j in range(mj.njnt)),
        tendon_names=tendon_names(mj),
        actuator_names=tuple(mj.actuator(a).name or f"actuator {a}" for a in range(mj.nu)),
        frame_index=frame_index,
        keyframes={name: named.arrays(mj) for name, named in read_keyframes(mj).items()},
        mj=mj,
        loops=build_loops(mj, bodies),
        pairs=build.build_pairs(mj, shapes),
        filter_parents=build.filters_parents(mj),
    )
