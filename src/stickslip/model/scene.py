"""Scene: describe what is there, by hand or from files; ``compile()`` makes the Model.

A scene is a MuJoCo specification underneath, so that what is built in Python and what is loaded from MJCF or URDF
end as the same thing, and ``scene.save("scene.xml")`` opens in MuJoCo. Material properties that MJCF does not have
travel in its ``user`` attributes (see ``Material.to_user``).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import mujoco
import numpy as np

from stickslip.errors import InputError, ModelError, expected, unknown
from stickslip.model.importers.read import LoadedSpec, one_line, read_spec
from stickslip.model.mjspec import collected_warnings, exact_xml
from stickslip.model.model import Model, compile_model
from stickslip.model.shape import DEFAULT_FRICTION, Material

ROBOTS = Path(__file__).parent / "robots"
BUNDLED = {path.stem: path for path in sorted(ROBOTS.glob("*.xml"))}
"""The robots that come with the package."""

GEOM = mujoco.mjtGeom
JOINTS = {
    "free": mujoco.mjtJoint.mjJNT_FREE,
    "ball": mujoco.mjtJoint.mjJNT_BALL,
    "slide": mujoco.mjtJoint.mjJNT_SLIDE,
    "hinge": mujoco.mjtJoint.mjJNT_HINGE,
}
Vector = Sequence[float] | np.ndarray


def quat_from_normal(normal: Vector) -> np.ndarray:
    """A rotation that takes z to the given direction."""
    n = _vector("normal", normal, 3)
    length = float(np.linalg.norm(n))
    if length == 0.0:
        raise expected("normal", "a direction", tuple(n))
    quat = np.zeros(4)
    mujoco.mju_quatZ2Vec(quat, n / length)
    return quat


def _vector(name: str, value: Vector, size: int) -> np.ndarray:
    array = np.asarray(value, dtype=float)
    if array.shape != (size,) or not np.all(np.isfinite(array)):
        raise expected(name, f"{size} finite numbers", value)
    return array


def _positive(name: str, *values: float) -> None:
    for value in values:
        if not (np.isfinite(value) and value > 0.0):
            raise expected(name, "positive lengths [m]", value)


@dataclass
class Body:
    """A body of a scene: hang shapes, joints, contact points, frames and child bodies on it."""

    scene: Scene = field(repr=False)
    spec: mujoco.MjsBody = field(repr=False)
    name: str

    # -- shapes: each takes pos, quat, mass (or density), a material and a name -----------------------------------

    def add_box(self, size: Vector, **options) -> Body:
        """A box with the edge lengths ``size`` (3,) [m]."""
        edges = _vector("size", size, 3)
        _positive("size", *edges)
        return self._shape(GEOM.mjGEOM_BOX, edges / 2, **options)

    def add_sphere(self, radius: float, **options) -> Body:
        _positive("radius", radius)
        return self._shape(GEOM.mjGEOM_SPHERE, [radius, 0, 0], **options)

    def add_capsule(self, radius: float, length: float, **options) -> Body:
        """A capsule along z; ``length`` is that of its cylindrical part [m]."""
        _positive("radius and length", radius, length)
        return self._shape(GEOM.mjGEOM_CAPSULE, [radius, length / 2, 0], **options)

    def add_cylinder(self, radius: float, length: float, **options) -> Body:
        """A cylinder along z [m]."""
        _positive("radius and length", radius, length)
        return self._shape(GEOM.mjGEOM_CYLINDER, [radius, length / 2, 0], **options)

    def add_mesh(self, vertices: Vector | str | Path, **options) -> Body:
        """A convex mesh: the hull of ``vertices`` (n, 3) [m], or of an STL or OBJ file."""
        name = self.scene._name("mesh")
        if isinstance(vertices, str | Path):
            path = Path(vertices)
            if not path.is_file():
                raise ModelError(f"mesh file {str(path)!r} does not exist; give a path to an .stl or .obj file")
            self.scene.spec.add_mesh(name=name, file=str(path.resolve()))
        else:
            points = np.asarray(vertices, dtype=float)
            if points.ndim != 2 or points.shape[1] != 3 or len(points) < 4:
                raise expected("vertices", "an array of at least 4 points, shape (n, 3)", points.shape)
            convex = mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX
            self.scene.spec.add_mesh(name=name, uservert=points.ravel(), inertia=convex)
        return self._shape(GEOM.mjGEOM_MESH, [0, 0, 0], meshname=name, **options)

    def _shape(
        self,
        kind,
        size,
        *,
        pos: Vector = (0, 0, 0),
        quat: Vector = (1, 0, 0, 0),
        mass: float | None = None,
        density: float | None = None,
        friction: float | None = None,
        stiffness: float | None = None,
        damping: float | None = None,
        restitution: float | None = None,
        collide: bool = True,
        rgba: Vector | None = None,
        name: str | None = None,
        meshname: str | None = None,
    ) -> Body:
        if mass is not None and density is not None:
            raise InputError("mass and density: expected one of the two, got both")
        for what, value in (("mass", mass), ("density", density)):
            if value is not None and not (np.isfinite(value) and value >= 0.0):
                raise expected(what, "a number ≥ 0", value)
        material = Material(friction, stiffness, damping, restitution)
        geom = self.spec.add_geom(
            name=name or self.scene._name("shape"),
            type=kind,
            size=size,
            pos=_vector("pos", pos, 3),
            quat=_vector("quat", quat, 4),
            friction=[DEFAULT_FRICTION if friction is None else friction, 0.005, 0.0001],
            userdata=material.to_user(),
            contype=int(collide),
            conaffinity=int(collide),
        )
        if mass is not None:
            geom.mass = mass
        if density is not None:
            geom.density = density
        if rgba is not None:
            geom.rgba = _vector("rgba", rgba, 4)
        if meshname is not None:
            geom.meshname = meshname
        return self

    # -- everything else ---------------------------------------------------------------------------------------

    def add_joint(
        self,
        kind: str = "hinge",
        *,
        axis: Vector = (0, 0, 1),
        pos: Vector = (0, 0, 0),
        range: tuple[float, float] | None = None,
        armature: float = 0.0,
        damping: float = 0.0,
        stiffness: float = 0.0,
        motor: bool = False,
        max_force: float | None = None,
        name: str | None = None,
    ) -> Body:
        """A joint to the parent; several joints on one body act one after the other. Limits in rad or m.

        ``motor=True`` adds an actuator of the same name, limited to ``max_force`` [N m or N].
        """
        if kind == "fixed":
            return self
        if kind not in JOINTS:
            raise unknown("joint type", kind, [*JOINTS, "fixed"])
        for what, value in (("armature", armature), ("damping", damping), ("stiffness", stiffness)):
            if not (np.isfinite(value) and value >= 0.0):
                raise expected(what, "a number ≥ 0", value)
        direction = _vector("axis", axis, 3)
        if not np.any(direction):
            raise expected("axis", "a direction", tuple(direction))
        name = name or self.scene._name("joint")
        joint = self.spec.add_joint(
            name=name,
            type=JOINTS[kind],
            axis=direction,
            pos=_vector("pos", pos, 3),
            armature=armature,
            damping=damping,
            stiffness=stiffness,
        )
        if range is not None:
            low, high = range
            if not low < high:
                raise expected(f"range of joint {name!r}", "lower < upper", range)
            joint.range, joint.limited = [low, high], mujoco.mjtLimited.mjLIMITED_TRUE
        if motor:
            if kind not in ("hinge", "slide"):
                raise expected("motor", "a hinge or slide joint", kind)
            self.scene._motor(name, max_force)
        return self

    def add_body(self, name: str | None = None, *, joint: str = "fixed", pos: Vector = (0, 0, 0), **options) -> Body:
        """A child body; ``options`` as in ``Scene.add_body``."""
        return self.scene.add_body(name, joint=joint, pos=pos, parent=self, **options)

    def add_frame(self, name: str, *, pos: Vector = (0, 0, 0), quat: Vector = (1, 0, 0, 0)) -> Body:
        """A named frame, for Jacobians, sensors and controllers."""
        self.spec.add_site(name=name, pos=_vector("pos", pos, 3), quat=_vector("quat", quat, 4))
        return self

    def add_contact_point(self, name: str, *, pos: Vector = (0, 0, 0)) -> Body:
        """A named point that touches planes (and is a frame)."""
        self.spec.add_site(name=name, pos=_vector("pos", pos, 3), userdata=[1.0], size=[0.004, 0, 0])
        return self

    def set_inertia(self, mass: float, *, com: Vector = (0, 0, 0), inertia: Vector = (0, 0, 0)) -> Body:
        """Mass [kg], centre of mass [m] and inertia about it [kg m²]: (xx, yy, zz) or (xx, yy, zz, xy, xz, yz).

        Takes the place of what the shapes would give.
        """
        if not (np.isfinite(mass) and mass > 0.0):
            raise expected(f"mass of body {self.name!r}", "a number > 0 [kg]", mass)
        entries = np.zeros(6)
        entries[: len(inertia)] = inertia
        self.spec.mass, self.spec.explicitinertial = mass, True
        self.spec.ipos, self.spec.fullinertia = _vector("com", com, 3), entries
        return self


@dataclass
class Robot:
    """A loaded robot: the names that its joints, controls and frames have in the scene."""

    scene: Scene = field(repr=False)
    name: str
    prefix: str
    joints: tuple[str, ...]
    actuators: tuple[str, ...]
    notes: tuple[str, ...]
    """What was dropped, replaced or ignored while loading."""


class Scene:
    """Everything that exists. z is up, SI units.

    >>> scene = Scene()
    >>> scene.add_plane(friction=0.8)
    >>> box = scene.add_box(size=(0.2, 0.2, 0.2), pos=(0, 0, 1.5), mass=1.0)
    >>> robot = scene.add_robot("solo12", pos=(0, 0, 0.35))
    """

    def __init__(self, *, gravity: Vector = (0, 0, -9.81), name: str = "scene") -> None:
        self.name = name
        self.spec = mujoco.MjSpec()
        self.spec.modelname = name
        self.spec.option.gravity = _vector("gravity", gravity, 3)
        self.spec.compiler.fusestatic = False
        self.spec.compiler.degree = False
        self.spec.nuser_geom, self.spec.nuser_site = 4, 1
        self._counter = itertools.count()
        self._bodies = {"world"}  # names in use
        self._home: dict[str, np.ndarray] = {}  # joint name -> coordinates in the initial configuration
        self._notes: list[str] = []
        self.world = Body(self, self.spec.worldbody, "world")

    @classmethod
    def from_xml(cls, xml: str, *, name: str = "scene") -> Scene:
        """A scene from MJCF text, such as ``to_xml()`` gives and recordings hold."""
        return cls._from_loaded(read_spec(xml=xml), name)

    @classmethod
    def from_file(cls, path: str | Path, **options) -> Scene:
        """A scene that is just this file; its gravity is kept. Options as in ``load``."""
        return cls._from_loaded(read_spec(path, **options), Path(path).stem)

    @classmethod
    def _from_loaded(cls, loaded: LoadedSpec, name: str) -> Scene:
        scene = cls(gravity=loaded.gravity, name=name)
        scene._attach(loaded, prefix="")
        return scene

    def _name(self, kind: str) -> str:
        return f"{kind}{next(self._counter)}"

    # -- building ----------------------------------------------------------------------------------------------

    def add_plane(self, *, normal: Vector = (0, 0, 1), pos: Vector = (0, 0, 0), **material) -> Body:
        """An infinite plane through ``pos``; everything on the side of ``normal`` is free."""
        return self.world._shape(GEOM.mjGEOM_PLANE, [0, 0, 0.1], pos=pos, quat=quat_from_normal(normal), **material)

    def add_body(
        self,
        name: str | None = None,
        *,
        joint: str = "free",
        pos: Vector = (0, 0, 0),
        quat: Vector = (1, 0, 0, 0),
        parent: Body | None = None,
        **joint_options,
    ) -> Body:
        """An empty body; ``joint`` is free, ball, hinge, slide or fixed (add more with ``body.add_joint``).

        ``joint_options`` go to ``add_joint``; the joint takes the body's name.
        """
        name = name or self._name("body")
        if name in self._bodies:
            raise InputError(f"body name {name!r} is taken; choose another")
        self._bodies.add(name)
        owner = self.world if parent is None else parent
        spec = owner.spec.add_body(name=name, pos=_vector("pos", pos, 3), quat=_vector("quat", quat, 4))
        body = Body(self, spec, name)
        return body.add_joint(joint, name=name, **joint_options)

    # Each of these makes a body with one shape. Options: those of ``add_body`` (name, pos, quat, joint, parent) and
    # those of a shape (mass or density, friction, stiffness, damping, restitution, collide, rgba).

    def add_box(self, size: Vector, **options) -> Body:
        """A body that is a box with the edge lengths ``size`` (3,) [m]; ``joint="fixed"`` makes it static."""
        return self._shaped(Body.add_box, (size,), options)

    def add_sphere(self, radius: float, **options) -> Body:
        """A body that is a sphere [m]."""
        return self._shaped(Body.add_sphere, (radius,), options)

    def add_capsule(self, radius: float, length: float, **options) -> Body:
        """A body that is a capsule along its z axis; ``length`` is that of the cylindrical part [m]."""
        return self._shaped(Body.add_capsule, (radius, length), options)

    def add_cylinder(self, radius: float, length: float, **options) -> Body:
        """A body that is a cylinder along its z axis [m]."""
        return self._shaped(Body.add_cylinder, (radius, length), options)

    def add_mesh(self, vertices, **options) -> Body:
        """A body that is the convex hull of ``vertices`` (n, 3) [m], or of an STL or OBJ file."""
        return self._shaped(Body.add_mesh, (vertices,), options)

    def _shaped(self, add, size: tuple, options: dict) -> Body:
        placement = {key: options.pop(key) for key in ("name", "pos", "quat", "joint", "parent") if key in options}
        return add(self.add_body(**placement), *size, **options)

    def _motor(self, joint: str, max_force: float | None) -> None:
        motor = self.spec.add_actuator(name=joint, target=joint, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        motor.set_to_motor()
        if max_force is not None:
            motor.forcerange, motor.forcelimited = [-max_force, max_force], mujoco.mjtLimited.mjLIMITED_TRUE

    def exclude(self, body1: Body | str, body2: Body | str) -> None:
        """Let two bodies pass through each other."""
        names = [body if isinstance(body, str) else body.name for body in (body1, body2)]
        for name in names:
            if name not in self._bodies:
                raise unknown("body", name, self._bodies)
        self.spec.add_exclude(bodyname1=names[0], bodyname2=names[1])

    # -- loading -----------------------------------------------------------------------------------------------

    def add_robot(self, robot: str, *, pos: Vector | None = None, quat: Vector | None = None, name: str = "") -> Robot:
        """A bundled robot (``stickslip list``), or a file; a second one of a kind needs a ``name``."""
        if robot in BUNDLED:
            return self.load(BUNDLED[robot], pos=pos, quat=quat, name=name)
        if Path(robot).suffix:
            return self.load(robot, pos=pos, quat=quat, name=name)
        raise unknown("robot", robot, BUNDLED)

    def load(
        self,
        path: str | Path,
        *,
        pos: Vector | None = None,
        quat: Vector | None = None,
        name: str = "",
        floating_base: bool = False,
        package_dirs: Iterable[str | Path] = (),
        unreadable_meshes: str = "error",
        ignore: Iterable[str] | str = (),
    ) -> Robot:
        """Load MJCF or URDF through MuJoCo's compiler.

        ``pos`` and ``quat`` place the base (default: the file's home pose). ``name`` prefixes all names, as
        ``name/``. ``floating_base`` frees the root link of a URDF. ``unreadable_meshes`` is "error", "replace"
        (convert with trimesh) or "drop". ``ignore`` names features of the file that stickslip does not simulate
        and that shall be left out; anything else unsupported is an error.
        """
        loaded = read_spec(
            path,
            floating_base=floating_base,
            package_dirs=package_dirs,
            unreadable_meshes=unreadable_meshes,
            ignore=ignore,
        )
        return self._attach(loaded, f"{name}/" if name else "", pos, quat, name or Path(path).stem)

    def _attach(self, loaded: LoadedSpec, prefix: str, pos=None, quat=None, name: str = "") -> Robot:
        child = loaded.spec
        names = {prefix + body.name for body in child.bodies if body.name != "world"}
        clash = sorted(self._bodies & names)
        if clash:
            raise InputError(f"body name {clash[0]!r} is taken already; give this one a name, e.g. name='second'")
        self._bodies |= names
        for body in child.worldbody.bodies:
            if pos is not None:
                body.pos = _vector("pos", pos, 3)
            if quat is not None:
                body.quat = _vector("quat", quat, 4)
            free = [j for j in body.joints if j.type == mujoco.mjtJoint.mjJNT_FREE]
            for joint in free:  # where to start: the given pose wins over the file's home pose
                home = loaded.home.setdefault(joint.name, np.concatenate([body.pos, body.quat]))
                if pos is not None:
                    home[:3] = pos
                if quat is not None:
                    home[3:] = np.asarray(quat, dtype=float) / np.linalg.norm(quat)
        joints = tuple(prefix + joint.name for joint in child.joints)
        actuators = tuple(prefix + actuator.name for actuator in child.actuators)
        child.nuser_geom, child.nuser_site, child.nkey = self.spec.nuser_geom, self.spec.nuser_site, self.spec.nkey
        child.option.gravity = self.spec.option.gravity
        with collected_warnings() as messages:
            self.spec.attach(child, prefix=prefix, frame=self.spec.worldbody.add_frame())
        # to_xml() with an empty prefix is tested to give the scene back, whatever MuJoCo fears
        loaded.notes += [" ".join(m.split()) for m in messages if "empty prefix" not in m]
        self._home.update({prefix + joint: value for joint, value in loaded.home.items()})
        self._notes += loaded.notes
        return Robot(self, name, prefix, joints, actuators, tuple(loaded.notes))

    def set_home(self, joint: str, value: Vector | float) -> None:
        """Start the named joint at this value (rad, m; quaternion; position and quaternion)."""
        if not any(j.name == joint for j in self.spec.joints):
            raise unknown("joint", joint, [j.name for j in self.spec.joints])
        self._home[joint] = np.atleast_1d(np.asarray(value, dtype=float))

    # -- the result --------------------------------------------------------------------------------------------

    def compile(self) -> Model:
        """The constant arrays of this scene; the initial configuration is its keyframe ``home``."""
        return compile_model(self._compile_spec()[1])

    def to_xml(self) -> str:
        """MJCF text of the scene, with its initial configuration as the keyframe ``home``."""
        return exact_xml(self._compile_spec()[0])

    def save(self, path: str | Path) -> None:
        """Write the scene as MJCF; MuJoCo opens it, and ``Scene.from_file`` gives it back."""
        Path(path).write_text(self.to_xml())

    def _compile_spec(self) -> tuple[mujoco.MjSpec, mujoco.MjModel]:
        spec = self.spec.copy()
        spec.add_text(name="stickslip", data="1")
        try:
            mj = spec.compile()
            q = mj.qpos0.copy()
            for joint, value in self._home.items():
                first = mj.joint(joint).qposadr[0]
                q[first : first + len(value)] = value
            spec.add_key(name="home", qpos=q)
            return spec, spec.compile()
        except ValueError as error:
            raise ModelError(f"scene {self.name!r} does not compile: {one_line(error)}") from None
