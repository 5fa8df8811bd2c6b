"""Scene: describe bodies, joints and shapes by hand or from files; ``compile()`` makes the Model.

A scene holds a MuJoCo specification, whether it is built in Python or loaded from MJCF or URDF, and MuJoCo opens what
``scene.save("scene.xml")`` writes. Material properties that MJCF does not have are kept in its ``user`` attributes
(see ``Material.to_user``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Unpack, cast

import mujoco
import numpy as np
from numpy.linalg import norm

from stickslip.attributes import Guarded
from stickslip.errors import (
    InputError,
    ModelError,
    StickslipError,
    expected,
    mapping,
    name_of,
    number,
    true_or_false,
    unknown,
)
from stickslip.files import MODEL, check_writable, write_text
from stickslip.model.arrays import BALL, FREE, JOINT_NQ, JOINT_NV
from stickslip.model.attach import Robot, attach
from stickslip.model.body import GEOM, Body, quat_from_normal, vector
from stickslip.model.compile import attach_bodies
from stickslip.model.importers.file_options import defaults, written_out
from stickslip.model.importers.messages import compile_spec
from stickslip.model.importers.mjcf import MARKER
from stickslip.model.importers.read import CONTACT_OPTIONS, LoadedSpec, read_spec
from stickslip.model.keyframes import NamedKeyframe
from stickslip.model.keywords import (
    BodyOptions,
    Convex,
    FileOptions,
    JointKind,
    JointOptions,
    Motor,
    PlaneOptions,
    Points,
    TerrainOptions,
    Vector,
    list_keywords,
    says_why,
)
from stickslip.model.mjspec import Portable, copied
from stickslip.model.model import Model, compile_model
from stickslip.model.rays import Hit, RayCaster
from stickslip.model.sensors import add_sensor
from stickslip.model.servo import Servo, check_tendon
from stickslip.model.shape import DEFAULT_FRICTION, USER
from stickslip.summary import Summarised, Summary, counted, numbers, plural

ROBOTS = Path(__file__).parent / "robots"
BUNDLED = {path.stem: path for path in sorted(ROBOTS.glob("*.xml"))}
"""The robots that come with the package."""


PLACEMENT = (
    "name", "pos", "quat", "joint", "parent", "mocap", "axis", "range", "armature", "motor", "max_force", "kp", "kv",
)  # fmt: skip
"""Options that ``add_box(…)`` and the like pass to ``add_body``; stiffness and damping belong to the surface."""


class Scene(Summarised, Guarded):
    """All bodies of a simulation, with gravity. z is up; units are SI.

    >>> scene = Scene()
    >>> scene.add_plane(friction=0.8)
    >>> box = scene.add_box(size=(0.2, 0.2, 0.2), pos=(0, 0, 1.5), mass=1.0)
    >>> robot = scene.add_robot("solo12", pos=(0, 0, 0.35))
    """

    @says_why
    def __init__(self, *, gravity: Vector = (0, 0, -9.81), name: str = "scene", hull_tolerance: float = 0.0) -> None:
        if not isinstance(name, str) or name != name.encode("utf-8", "replace").decode():
            raise expected("name", "a text", name)
        self.name = name
        self.hull_tolerance = number("hull_tolerance", hull_tolerance, "a distance ≥ 0 [m]", least=0.0)
        """Convex hulls of meshes are simplified by at most this distance [m]; 0 keeps every corner."""
        self.spec = mujoco.MjSpec()
        self.spec.modelname = name
        for option, value in defaults().items():
            setattr(self.spec.option, option, value)
        self.gravity = gravity
        self.spec.compiler.fusestatic = False
        self.spec.compiler.degree = False
        self.spec.nuser_geom, self.spec.nuser_site = USER, 1
        self._count = 0  # of names that were made up
        self._bodies = {"world"}  # names in use
        self._loaded: set[str] = set()  # those of them that come from files
        self._keyframes: dict[str, NamedKeyframe] = {"home": NamedKeyframe()}
        """Keyframes by name; a simulation begins with ``home``."""
        self.notes: list[str] = []
        """What was dropped, replaced or ignored while loading files."""
        self.robots: list[Robot] = []
        """What ``add_robot`` and ``load`` returned; ``sim.robot(name)`` shows one of them."""
        self.world = Body(self, self.spec.worldbody, "world")
        self._complete = True  # from here on, assigning to an unknown name is an error

    @property
    def gravity(self) -> np.ndarray:
        """(3,) [m/s²]; assign another one at any time before ``compile`` (``model.set_gravity`` changes a model)."""
        gravity = np.array(self.spec.option.gravity)
        gravity.flags.writeable = False  # so that scene.gravity[2] = 0 is not lost in a copy
        return gravity

    @gravity.setter
    def gravity(self, value: Vector) -> None:
        self.spec.option.gravity = vector("gravity", value, 3)

    def _summary(self) -> Summary:
        spec = self.spec
        bodies, joints, shapes = len(spec.bodies) - 1, len(spec.joints), len(spec.geoms)
        parts = (plural(n, what) for n, what in ((bodies, "body"), (joints, "joint"), (shapes, "shape")))
        kinds = Counter(GEOM(int(geom.type)).name.removeprefix("mjGEOM_").lower() for geom in spec.geoms)
        rows = {
            "bodies": counted(body.name for body in spec.bodies[1:]),
            "joints": counted(joint.name for joint in spec.joints),
            "actuators": counted(actuator.name for actuator in spec.actuators),
            "shapes": ", ".join(f"{n} {kind}" for kind, n in kinds.items()),
            "tendons": counted(tendon.name for tendon in spec.tendons),
            "loops": counted(equality.name for equality in spec.equalities),
            "sensors": counted(sensor.name for sensor in spec.sensors),
            "robots": counted(robot.name for robot in self.robots),
            "keyframes": counted(self._keyframes),
            "notes": counted(self.notes).partition(":")[0],
            "gravity": f"{numbers(self.gravity)} m/s²",
        }
        return Summary(f"Scene {self.name!r}: {', '.join(parts)}", rows)

    @classmethod
    def from_xml(cls, xml: str, *, name: str = "scene") -> Scene:
        """A scene from MJCF text, such as ``to_xml()`` gives and recordings hold."""
        if isinstance(xml, str) and "<" not in xml:
            raise expected("xml", "the text of a model", xml, "Scene.from_file(path) reads a file")
        return cls._from_loaded(read_spec(xml=xml), name)

    @classmethod
    @says_why
    def from_file(cls, path: str | Path, *, hull_tolerance: float = 0.0, **options: Unpack[FileOptions]) -> Scene:
        """A scene with the content of this file and its gravity. ``hull_tolerance`` is the scene's."""
        scene = cls._from_loaded(read_spec(path, **options), Path(path).stem)
        scene.hull_tolerance = number("hull_tolerance", hull_tolerance, "a distance ≥ 0 [m]", least=0.0)
        return scene

    @classmethod
    def _from_loaded(cls, loaded: LoadedSpec, name: str) -> Scene:
        scene = cls(gravity=loaded.gravity, name=name)
        for option in CONTACT_OPTIONS:
            setattr(scene.spec.option, option, loaded.contact_options[option])
        loaded.contact_options.clear()
        attach(scene, loaded, prefix="")
        return scene

    @says_why
    def set_medium(self, *, density: float = 0.0, viscosity: float = 0.0, wind: Vector = (0, 0, 0)) -> None:
        """The medium around all bodies, which drags and lifts them: its density [kg/m³] (air 1.2, water 1000),
        viscosity [Pa s] (air 1.8e-5, water 1e-3) and velocity [m/s]; without arguments there is none.

        It meets each body as the box that has its inertia, or the shapes with ``fluid="ellipsoid"``. As in MuJoCo it
        does not lift what is lighter (no buoyancy).
        """
        density = number("density of the medium", density, "a number ≥ 0 [kg/m³]", least=0.0)
        viscosity = number("viscosity of the medium", viscosity, "a number ≥ 0 [Pa s]", least=0.0)
        wind = vector("wind", wind, 3)
        self.spec.option.density, self.spec.option.viscosity, self.spec.option.wind = density, viscosity, wind

    def _name(self, kind: str) -> str:
        self._count += 1
        return f"{kind}{self._count - 1}"

    def _check_parent(self, parent: Body | None) -> None:
        if parent is not None and (not isinstance(parent, Body) or parent.scene is not self):
            remedy = "give scene.body(name)" if isinstance(parent, str) else ""
            raise expected("parent", "a body of this scene, or nothing for the world", parent, remedy)

    def body(self, name: str) -> Body:
        """A body by its name, also of loaded robots: shapes, frames, joints, bodies and robots can be added to it."""
        if isinstance(name, str) and name == "world":
            return self.world
        try:
            found = self.spec.body(name) if isinstance(name, str) else None
        except (UnicodeEncodeError, TypeError):  # half a letter, which no file can hold
            found = None
        if found is None:
            raise unknown("body", name, [body.name for body in self.spec.bodies if body.name])
        return Body(self, found, name, name in self._loaded)

    def _name_of(self, body: Body | str) -> str:
        """The name of a body of this scene that is given by its name or as an object."""
        name = body.name if isinstance(body, Body) else body
        if not isinstance(name, str):
            raise expected("body", "a body of this scene or its name", body)
        if name not in self._bodies:
            raise unknown("body", name, self._bodies)
        return name

    # -- building ----------------------------------------------------------------------------------------------

    @says_why
    def add_plane(
        self, *, normal: Vector = (0, 0, 1), pos: Vector = (0, 0, 0), **options: Unpack[PlaneOptions]
    ) -> Body:
        """An infinite plane through ``pos`` (3,) [m]; the side of ``normal`` (3,) is free space."""
        for name, value in options.items():
            if name in ("mass", "density"):
                raise expected(f"add_plane {name}", "none, since a plane is fixed to the world", value)
        return self.world._shape(GEOM.mjGEOM_PLANE, [0, 0, 0.1], pos=pos, quat=quat_from_normal(normal), **options)

    @says_why
    def add_terrain(
        self, heights: Any, *, size: Vector, base: float | None = None, pos: Vector = (0, 0, 0),
        **options: Unpack[TerrainOptions],
    ) -> Body:  # fmt: skip
        """Ground of the world: ``heights`` (rows along y, columns along x) [m] over a rectangle of edges ``size`` (2,)
        [m] about ``pos``; see ``Body.add_terrain``, which puts terrain on a body."""
        return self.world.add_terrain(heights, size=size, base=base, pos=pos, **options)

    @says_why
    def add_body(
        self,
        name: str | None = None,
        *,
        joint: JointKind = "free",
        pos: Vector = (0, 0, 0),
        quat: Vector = (1, 0, 0, 0),
        parent: Body | None = None,
        mocap: bool = False,
        **joint_options: Unpack[JointOptions],
    ) -> Body:
        """An empty body; ``joint`` is a kind of joint as in ``add_joint``. ``body.add_joint`` adds more joints.

        ``pos`` (3,) [m] and ``quat`` (4,) place it in the frame of its ``parent`` (default: the world). The joint takes
        the body's name. ``mocap=True`` makes a body of the world without joints, which ``sim.set_mocap`` and
        ``sim.prescribe`` move.
        """
        name = name or self._name("body")
        if name in self._bodies:
            raise InputError(f"body name {name!r} is taken; choose another")
        self._check_parent(parent)
        if true_or_false("mocap", mocap):
            if joint not in ("free", "fixed") or joint_options or parent is not None:
                got = "a parent" if parent is not None else f"joint={joint!r}"
                raise expected(f"mocap body {name!r}", "no joint, and the world as its parent", got)
            joint = "fixed"
        owner = self.world if parent is None else parent
        spec = owner.spec.add_body(name=name, pos=vector("pos", pos, 3), quat=vector("quat", quat, 4), mocap=mocap)
        try:
            body = Body(self, spec, name).add_joint(joint, name=name, **joint_options)
        except StickslipError:
            self.spec.delete(spec)  # an error must leave no trace in the scene
            raise
        self._bodies.add(name)
        return body

    # Each of these makes a body with one shape. Options: those of ``add_body`` in PLACEMENT, and those of a shape.

    @says_why
    def add_box(self, size: Vector, **options: Unpack[BodyOptions]) -> Body:
        """A body that is a box with the edge lengths ``size`` (3,) [m]; ``joint="fixed"`` makes it static."""
        return self._shaped(Body.add_box, (size,), options)

    @says_why
    def add_sphere(self, radius: float, **options: Unpack[BodyOptions]) -> Body:
        """A body that is a sphere [m]."""
        return self._shaped(Body.add_sphere, (radius,), options)

    @says_why
    def add_capsule(self, radius: float, length: float, **options: Unpack[BodyOptions]) -> Body:
        """A body that is a capsule along its z axis; ``length`` is that of the cylindrical part [m]."""
        return self._shaped(Body.add_capsule, (radius, length), options)

    @says_why
    def add_cylinder(self, radius: float, length: float, **options: Unpack[BodyOptions]) -> Body:
        """A body that is a cylinder along its z axis [m]."""
        return self._shaped(Body.add_cylinder, (radius, length), options)

    @says_why
    def add_ellipsoid(self, radii: Vector, **options: Unpack[BodyOptions]) -> Body:
        """A body that is an ellipsoid of three half axes ``radii`` [m]."""
        return self._shaped(Body.add_ellipsoid, (radii,), options)

    @says_why
    def add_mesh(
        self, vertices: Points | str | Path, *, faces: Any = None, convex: Convex | None = None,
        **options: Unpack[BodyOptions],
    ) -> Body:  # fmt: skip
        """A body that is the hull of ``vertices`` (n, 3) [m], a surface of ``faces``, or an STL or OBJ file.

        ``convex`` ("hull", "decompose", "refuse") decides about a surface that is not convex; see ``Body.add_mesh``.
        """
        return self._shaped(partial(Body.add_mesh, faces=faces, convex=convex), (vertices,), options)

    def _shaped(self, add: Callable[..., Body], size: tuple, options: BodyOptions) -> Body:
        given = cast(dict[str, Any], options)
        body = self.add_body(**{key: given.pop(key) for key in PLACEMENT if key in given})
        try:
            return add(body, *size, **given)
        except (InputError, ModelError, TypeError):
            self.spec.delete(body.spec)  # an error must leave no empty body
            self._bodies.discard(body.name)
            raise

    @says_why
    def add_tendon(
        self,
        name: str,
        *,
        joints: Mapping[str, float] | None = None,
        path: Sequence[str | float] = (),
        stiffness: float = 0.0,
        damping: float = 0.0,
        friction: float = 0.0,
        armature: float = 0.0,
        rest: float | tuple[float, float] | None = None,
        range: tuple[float, float] | None = None,
        motor: Motor = False,
        max_force: float | None = None,
        kp: float | None = None,
        kv: float | None = None,
    ) -> None:
        """A tendon: either a sum of joint coordinates, ``joints={"left": 0.5, "right": -0.5}``, or the shortest
        ``path`` through frames by name; a number in the path is a pulley that divides what follows by it.

        ``stiffness`` [N/m], ``damping`` [N s/m] and dry ``friction`` [N] act along it, and ``armature`` [kg] is a mass
        that moves with it, such as a motor's rotor. The spring rests at the length ``rest`` [m] (default:
        that in the reference configuration), or between two lengths. ``range`` are its shortest and longest length.
        ``motor``, ``max_force``, ``kp`` and ``kv`` are those of ``Body.add_joint``: an actuator of the same
        name that pulls with its force if the control is negative.
        """
        check_tendon(self.spec, name, joints, path)
        given = {"stiffness": stiffness, "damping": damping, "friction": friction, "armature": armature}
        for what, value in given.items():
            number(f"{what} of tendon {name!r}", value, "a number ≥ 0", least=0.0)
        servo = Servo.checked(motor, max_force, kp, kv)
        tendon = self.spec.add_tendon(name=name, stiffness=[stiffness, 0.0, 0.0], damping=[damping, 0.0, 0.0])
        tendon.frictionloss, tendon.armature = friction, armature
        if rest is not None:
            both: Any = (rest, rest) if np.ndim(rest) == 0 else rest
            low, high = vector(f"rest of tendon {name!r}", both, 2)
            if low > high:
                raise expected(f"rest of tendon {name!r}", "lower ≤ upper", rest)
            tendon.springlength = [low, high]
        if range is not None:
            low, high = vector(f"range of tendon {name!r}", range, 2)
            if not low < high:
                raise expected(f"range of tendon {name!r}", "lower < upper", range)
            tendon.range, tendon.limited = [low, high], mujoco.mjtLimited.mjLIMITED_TRUE
        for joint, coefficient in (joints or {}).items():
            tendon.wrap_joint(joint, number(f"coefficient of {joint!r}", coefficient, "a number"))
        for element in path:
            if isinstance(element, str):
                tendon.wrap_site(element)
            else:
                tendon.wrap_pulley(float(element))
        if servo is not None:
            servo.add(self.spec, name, mujoco.mjtTrn.mjTRN_TENDON)

    @says_why
    def exclude(self, body1: Body | str, body2: Body | str) -> None:
        """Let two bodies pass through each other."""
        names = [self._name_of(body) for body in (body1, body2)]
        self.spec.add_exclude(bodyname1=names[0], bodyname2=names[1])

    @says_why
    def add_adhesion(self, name: str, body: Body | str, max_force: float) -> None:
        """An actuator that pulls a body to what it touches with max_force·control [N], control from 0 to 1, in equal
        parts at all its contacts."""
        body = self._name_of(body)
        gain = number("max_force", max_force, "a number > 0 [N]", above=0.0)
        actuator = self.spec.add_actuator(name=name, target=body, trntype=mujoco.mjtTrn.mjTRN_BODY)
        actuator.set_to_adhesion(gain)
        actuator.ctrllimited, actuator.ctrlrange = mujoco.mjtLimited.mjLIMITED_TRUE, [0.0, 1.0]

    @says_why
    def connect(
        self, body1: Body | str, body2: Body | str = "world", pos: Vector = (0, 0, 0), *, name: str = ""
    ) -> None:
        """Close a loop: the point ``pos`` (3,) [m] of body 1, in its frame, stays on the point of body 2 that is there
        in the reference configuration. docs/models.md says which methods hold it rigidly, and which by a spring."""
        self._equality(mujoco.mjtEq.mjEQ_CONNECT, body1, body2, pos, name)

    @says_why
    def weld(self, body1: Body | str, body2: Body | str = "world", *, name: str = "") -> None:
        """Hold body 2 where it is against body 1 in the reference configuration, in position and orientation. The
        reported force acts at the origin of body 2, or of the body that is welded to the world."""
        if self._name_of(body2) == "world":
            body1, body2 = body2, body1
        self._equality(mujoco.mjtEq.mjEQ_WELD, body1, body2, (0, 0, 0), name)

    @says_why
    def couple(
        self, first: str, second: str | None = None, ratio: float = 1.0, offset: float = 0.0, *,
        polynomial: Vector | None = None, name: str = "",
    ) -> None:  # fmt: skip
        """Let a hinge, slide or tendon follow another one: y₁ − r₁ = offset + ratio·(y₂ − r₂), where y are joint
        coordinates or lengths of tendons, and r those of the reference configuration.

        ``polynomial`` (a₀, …, a₄) in the place of offset and ratio makes it Σ a_k·(y₂ − r₂)^k. Without a second one
        the first is held at r₁ + offset. Joints are coupled with joints, and tendons with tendons.
        """
        kinds = (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)
        joints = {joint.name for joint in self.spec.joints if joint.type in kinds}
        tendons = {tendon.name for tendon in self.spec.tendons}
        scalar = tendons if first in tendons and first not in joints else joints
        for element in (first, *(() if second is None else (second,))):
            if element not in scalar:
                known = sorted(joints | tendons) if element is first else sorted(scalar)
                raise unknown("tendon" if scalar is tendons else "hinge, slide or tendon", element, known)
        if first == second:
            raise expected("joints of a coupling", "two different ones", (first, second))
        given: tuple[float, ...] = (number("offset", offset), number("ratio", ratio) if second else 0.0)
        if polynomial is not None:
            wanted = "1 to 5 finite numbers a₀, …, a₄"
            if not np.iterable(polynomial) or not 1 <= len(tuple(polynomial)) <= 5:
                raise expected("polynomial", wanted, polynomial)
            given = tuple(number("polynomial", value, wanted) for value in polynomial)
        kind = (mujoco.mjtEq.mjEQ_TENDON, mujoco.mjtObj.mjOBJ_TENDON)
        if scalar is joints:
            kind = (mujoco.mjtEq.mjEQ_JOINT, mujoco.mjtObj.mjOBJ_JOINT)
        equality = self.spec.add_equality(name=name or self._name("coupling"), type=kind[0])
        equality.objtype, equality.name1, equality.name2 = kind[1], first, second or ""
        equality.data[:5] = [*given, *[0.0] * (5 - len(given))]

    def _equality(self, kind: mujoco.mjtEq, body1: Body | str, body2: Body | str, pos: Vector, name: str) -> None:
        names = [self._name_of(body) for body in (body1, body2)]
        if names[0] == names[1]:
            raise expected("bodies of a loop", "two different ones", tuple(names))
        name = name or self._name("connect" if kind == mujoco.mjtEq.mjEQ_CONNECT else "weld")
        equality = self.spec.add_equality(name=name, type=kind, objtype=mujoco.mjtObj.mjOBJ_BODY)
        equality.name1, equality.name2 = names
        equality.data[:3] = vector("pos", pos, 3)
        if kind == mujoco.mjtEq.mjEQ_WELD:
            equality.data[3:10], equality.data[10] = 0.0, 1.0  # a zero quaternion stands for the reference pose

    # -- loading -----------------------------------------------------------------------------------------------

    @says_why
    def add_robot(
        self, robot: str, *, pos: Vector | None = None, quat: Vector | None = None, name: str = "",
        parent: Body | None = None,
    ) -> Robot:  # fmt: skip
        """Add a bundled robot (``stickslip list``) or a file; a second robot of the same kind needs a ``name``.
        ``parent`` is as in ``load``."""
        if str(robot) in BUNDLED:
            return self.load(BUNDLED[str(robot)], pos=pos, quat=quat, name=name, parent=parent)
        if isinstance(robot, str | Path) and Path(robot).suffix:
            return self.load(robot, pos=pos, quat=quat, name=name, parent=parent)
        raise unknown("robot", str(robot), BUNDLED)

    @says_why
    def load(
        self,
        path: str | Path,
        *,
        pos: Vector | None = None,
        quat: Vector | None = None,
        name: str = "",
        parent: Body | None = None,
        floating_base: bool = False,
        package_dirs: Iterable[str | Path] = (),
        unreadable_meshes: str = "replace",
        ignore: Iterable[str] | str = (),
    ) -> Robot:
        """Load MJCF or URDF through MuJoCo's compiler.

        ``pos`` and ``quat`` place the base (default: the file's home pose). ``name`` prefixes all names, as
        ``name/``. ``floating_base`` frees the root link of a URDF. ``unreadable_meshes`` says what becomes of
        those that MuJoCo cannot read: "replace" (convert with trimesh), "error" or "drop". ``ignore`` names features
        of the file that stickslip does not simulate and that shall be left out; any other unsupported feature is an
        error.

        ``parent`` is a body, ``scene.body("flange")``, that the base is mounted on: ``pos`` and ``quat`` are then in
        its frame (default: the base's own pose in the file), and a free joint of the base is left out.
        """
        self._check_parent(parent)
        if parent is not None and floating_base:
            raise expected("floating_base", "False for what is mounted on a parent", floating_base)
        loaded = read_spec(
            path,
            floating_base=floating_base,
            package_dirs=package_dirs,
            unreadable_meshes=unreadable_meshes,
            ignore=ignore,
        )
        return attach(self, loaded, f"{name}/" if name else "", pos, quat, name or Path(path).stem, parent)

    @says_why
    def set_home(self, joint: str, value: Vector | float) -> None:
        """Set the initial value of a joint: angle [rad], distance [m], quaternion, or position and quaternion."""
        spec = self.spec.joint(joint)
        if spec is None:
            raise unknown("joint", joint, [j.name for j in self.spec.joints])
        size = JOINT_NQ[int(spec.type)]
        self._keyframes["home"].joints[joint] = vector(f"home of joint {joint!r}", np.atleast_1d(value), size)

    @says_why
    def add_keyframe(
        self,
        name: str,
        *,
        joints: Mapping[str, Vector | float] = MappingProxyType({}),
        velocities: Mapping[str, Vector | float] = MappingProxyType({}),
        controls: Mapping[str, float] = MappingProxyType({}),
    ) -> None:
        """A moment to which ``sim.reset(name)`` goes; ``"home"`` is where a simulation begins. Joints that are not
        named are where ``home`` has them, at rest; velocities and controls that are not named are zero."""
        name_of("name of a keyframe", name)
        frame = NamedKeyframe(joints=dict(self._keyframes["home"].joints))
        known = {joint.name: int(joint.type) for joint in self.spec.joints}
        parts = (("joints", joints, frame.joints, JOINT_NQ), ("velocities", velocities, frame.velocities, JOINT_NV))
        for what, given, mine, sizes in parts:
            for joint, value in mapping(what, given, "joint names to numbers").items():
                if joint not in known:
                    raise unknown(f"joint in {what}", joint, known)
                mine[joint] = vector(f"{what}[{joint!r}]", np.atleast_1d(value), sizes[known[joint]])
                if what == "joints" and known[joint] in (FREE, BALL) and abs(norm(mine[joint][-4:]) - 1.0) > 1e-6:
                    raise expected(f"joints[{joint!r}]", "a unit quaternion (w, x, y, z)", tuple(mine[joint][-4:]))
        actuators = [actuator.name for actuator in self.spec.actuators]
        for actuator, value in mapping("controls", controls, "actuator names to numbers").items():
            if actuator not in actuators:
                raise unknown("actuator in controls", actuator, actuators)
            frame.controls[actuator] = number(f"controls[{actuator!r}]", value, "a number")
        self._keyframes[name] = frame

    @says_why
    def add_contact_pair(
        self, one: str, two: str, *, friction: float = DEFAULT_FRICTION, torsion: float = 0.0, rolling: float = 0.0,
        margin: float = 0.0, gap: float = 0.0, adhesion: float = 0.0, name: str | None = None,
    ) -> None:  # fmt: skip
        """Let two shapes touch, given by their names, whatever their bodies and masks; with a friction of their own.

        Stiffness, damping, restitution and preload are those of the two surfaces, in all directions. Torsional and
        rolling coefficients, margin and gap are in m, adhesion in N.
        """
        for shape in (one, two):
            if not isinstance(shape, str) or self.spec.geom(shape) is None:
                raise unknown("shape", shape, [geom.name for geom in self.spec.geoms])
        if one == two:
            raise expected("shapes of a contact pair", "two different ones", (one, two))
        given = {"friction": friction, "torsion": torsion, "rolling": rolling, "gap": gap, "adhesion": adhesion}
        for what, value in given.items():
            number(what, value, "a finite number ≥ 0", least=0.0)
        number("margin", margin, "a finite number [m]")
        self.spec.add_pair(
            name=name or self._name("pair"), geomname1=one, geomname2=two, condim=6 if rolling else 4 if torsion else 3,
            friction=[friction, friction, torsion, rolling, rolling], margin=margin, gap=gap, adhesion=adhesion,
        )  # fmt: skip

    @says_why
    def add_sensor(
        self, kind: str, *, site: str | None = None, body: str | None = None, shape: str | None = None,
        joint: str | None = None, tendon: str | None = None, actuator: str | None = None, other: str | None = None,
        name: str | None = None, cutoff: float = 0.0, data: Sequence[str] = ("found",), reduce: str = "none",
        count: int = 1,
    ) -> None:  # fmt: skip
        """A sensor of a frame (``site``), body, shape, joint, tendon or actuator, read by ``sim.sensor(name)``.

        ``kind`` is a name of MJCF: accelerometer, gyro, force, jointpos, framepos, … (docs/models.md). ``other`` names
        the second object of framepos and the like, of distance and contact. Values are clipped to ±``cutoff`` unless
        that is 0. A contact sensor has ``count`` slots with ``data`` of the contacts, chosen by ``reduce``: "none",
        "mindist", "maxforce" or "netforce".
        """
        given = {"site": site, "body": body, "shape": shape, "joint": joint, "tendon": tendon, "actuator": actuator}
        fields = (data,) if isinstance(data, str) else tuple(data)
        add_sensor(self.spec, kind, name or self._name(f"{kind}"), given, other, cutoff, fields, reduce, count)

    def ray(self, origin: Vector, direction: Vector, *, exclude: Iterable[str] | str = ()) -> Hit | None:
        """The nearest shape that a ray meets in the initial configuration, or None. ``exclude`` names bodies that it
        passes through. The scene is compiled for it; for many rays, and for moving bodies, there is ``sim.ray``."""
        model = self.compile()
        data = mujoco.MjData(model.mj)
        data.qpos[:] = model.keyframes["home"].q
        mujoco.mj_kinematics(model.mj, data)
        rays, links = RayCaster(model), attach_bodies(model.mj)[1]
        return rays.cast(
            data.xpos[links].copy(), data.xmat[links].reshape(-1, 3, 3).copy(), origin, direction,
            rays.body_ids(exclude),
        )  # fmt: skip

    # -- copies ------------------------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        own = {name: value for name, value in self.__dict__.items() if name != "world"}
        return own | {"spec": Portable(self.spec)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ |= state | {"spec": state["spec"].spec}
        self.__dict__["world"] = Body(self, self.spec.worldbody, "world")

    # -- the result --------------------------------------------------------------------------------------------

    def compile(self) -> Model:
        """The constant arrays of this scene; the initial configuration is its keyframe ``home``."""
        spec = copied(self.spec)
        spec.add_text(name=MARKER, data="1" + written_out(spec.option))  # marks the user attributes as ours
        mj = compile_spec(spec, f"scene {self.name!r}")
        keyframes = {name: frame.arrays(mj) for name, frame in self._keyframes.items()}
        robots = tuple(self.robots)
        return replace(compile_model(mj, self.hull_tolerance), keyframes=keyframes, spec=spec, robots=robots)

    def to_xml(self) -> str:
        """MJCF text of the scene, with its initial configuration as the keyframe ``home``."""
        return self.compile().to_xml()

    @says_why
    def save(self, path: str | Path) -> None:
        """Write the scene as MJCF; MuJoCo opens it, and ``Scene.from_file`` gives it back."""
        check_writable(Path(path), kind=MODEL)
        write_text(path, self.to_xml(), kind=MODEL)


list_keywords(
    Scene,
    {
        BodyOptions: (Body._shape, Scene.add_body, Body.add_joint),
        JointOptions: (Body.add_joint,),
        PlaneOptions: (Body._shape,),
        TerrainOptions: (Body._shape,),
        FileOptions: (read_spec,),
    },
)
