"""Body: a body of a scene, with methods that add shapes, joints, contact points, frames and child bodies."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import mujoco
import numpy as np

from stickslip.attributes import IN_PARTS, Closed
from stickslip.errors import InputError, ModelError, StartWarning, StickslipWarning, expected, number, reals, unknown
from stickslip.model.keywords import (
    ChildOptions,
    Convex,
    JointKind,
    Motor,
    Points,
    ShapeOptions,
    TerrainOptions,
    Vector,
    list_keywords,
    says_why,
)
from stickslip.model.mesh import (
    HOLLOW,
    check_choice,
    check_volume,
    convex_parts,
    file_of,
    hollow,
    hull_of,
    read_mesh,
    triangles,
)
from stickslip.model.servo import Servo
from stickslip.model.shape import Material
from stickslip.model.terrain import checked_heights

if TYPE_CHECKING:
    from stickslip.model.scene import Scene

GEOM = mujoco.mjtGeom
JOINTS = {
    "free": mujoco.mjtJoint.mjJNT_FREE,
    "ball": mujoco.mjtJoint.mjJNT_BALL,
    "slide": mujoco.mjtJoint.mjJNT_SLIDE,
    "hinge": mujoco.mjtJoint.mjJNT_HINGE,
}
TURNS = 4.0 * np.pi
"""[rad] a hinge with limits beyond these is likely one whose limits were given in degrees."""
ALIASES = {"revolute": "hinge", "prismatic": "slide", "spherical": "ball"}
"""Names of joints in robotics → in MuJoCo."""


def quat_from_normal(normal: Vector) -> np.ndarray:
    """A rotation that takes z to the given direction."""
    n = vector("normal", normal, 3)
    length = float(np.linalg.norm(n))
    if length == 0.0:
        raise expected("normal", "a direction", tuple(n))
    quat = np.zeros(4)
    mujoco.mju_quatZ2Vec(quat, n / length)
    return quat


def vector(name: str, value: Vector, size: int, remedy: str = "") -> np.ndarray:
    wanted = "a finite number" if size == 1 else f"{size} finite numbers"
    remedy = remedy or ("a quaternion is (w, x, y, z)" if name == "quat" else "")
    array = reals(name, value, wanted, remedy)
    if array.shape != (size,) or not np.all(np.isfinite(array)):
        raise expected(name, wanted, value, remedy)
    if name == "quat" and not array.any():
        raise expected(name, "a rotation (w, x, y, z)", value, "(1, 0, 0, 0) does not turn")
    return array


FLUID_COEFFICIENTS = (0.5, 0.25, 1.5, 1.0, 1.0)
"""Blunt drag, slender drag, angular drag, Kutta lift and Magnus lift of an ellipsoid in a medium, MuJoCo's."""


def _fluid_coefficients(fluid: str | None, coefficients: Vector | None) -> np.ndarray | None:
    """The coefficients of a shape that a medium meets as an ellipsoid; None if it meets the body's box."""
    if fluid not in (None, "box", "ellipsoid"):
        raise expected("fluid", "'box' (the box with the body's inertia) or 'ellipsoid'", fluid)
    if coefficients is not None and fluid != "ellipsoid":
        raise expected("fluid_coefficients", "fluid='ellipsoid', which alone has them", f"fluid={fluid!r}")
    if fluid != "ellipsoid":
        return None
    given = vector("fluid_coefficients", FLUID_COEFFICIENTS if coefficients is None else coefficients, 5)
    if np.any(given < 0.0):
        raise expected("fluid_coefficients", "5 numbers ≥ 0: drag blunt, slender, angular; lift Kutta, Magnus", given)
    return given


def positive(name: str, *values: float) -> None:
    for value in values:
        number(name, value, "positive lengths [m]", above=0.0)


@dataclass
class Body(Closed):
    """A body of a scene. Its methods add shapes, joints, contact points, frames and child bodies."""

    elsewhere = ("", IN_PARTS)

    scene: Scene = field(repr=False)
    spec: mujoco.MjsBody = field(repr=False)
    name: str
    loaded: bool = field(default=False, repr=False)
    """Whether it comes from a file."""

    def __post_init__(self) -> None:
        self._complete = True

    def __reduce__(self) -> tuple:
        return _body_of, (self.scene, self.name)

    # -- shapes: each takes pos, quat, mass (or density), a material and a name -----------------------------------

    @says_why
    def add_box(self, size: Vector, **options: Unpack[ShapeOptions]) -> Body:
        """A box with the edge lengths ``size`` (3,) [m]."""
        edges = vector("size", size, 3, "give the three edge lengths [m]")
        positive("size", *edges)
        return self._shape(GEOM.mjGEOM_BOX, edges / 2, **options)

    @says_why
    def add_sphere(self, radius: float, **options: Unpack[ShapeOptions]) -> Body:
        """A sphere [m]."""
        positive("radius", radius)
        return self._shape(GEOM.mjGEOM_SPHERE, [radius, 0, 0], **options)

    @says_why
    def add_capsule(self, radius: float, length: float, **options: Unpack[ShapeOptions]) -> Body:
        """A capsule along z; ``length`` is that of its cylindrical part [m]."""
        positive("radius and length", radius, length)
        return self._shape(GEOM.mjGEOM_CAPSULE, [radius, length / 2, 0], **options)

    @says_why
    def add_cylinder(self, radius: float, length: float, **options: Unpack[ShapeOptions]) -> Body:
        """A cylinder along z [m]."""
        positive("radius and length", radius, length)
        return self._shape(GEOM.mjGEOM_CYLINDER, [radius, length / 2, 0], **options)

    @says_why
    def add_ellipsoid(self, radii: Vector, **options: Unpack[ShapeOptions]) -> Body:
        """An ellipsoid of three half axes ``radii`` [m], along x, y and z."""
        axes = vector("radii", radii, 3)
        positive("radii", *axes)
        return self._shape(GEOM.mjGEOM_ELLIPSOID, axes, **options)

    @says_why
    def add_mesh(
        self, vertices: Points | str | Path, *, faces: Any = None, convex: Convex | None = None,
        **options: Unpack[ShapeOptions],
    ) -> Body:  # fmt: skip
        """A mesh: the hull of ``vertices`` (n, 3) [m], a surface of triangles ``faces`` (m, 3), or an STL or OBJ file.

        Collision shapes are convex. ``convex`` decides about a surface that is not: "hull" takes its convex hull (so
        does the default, with a warning), "decompose" splits it into several convex shapes, "refuse" raises an error.
        """
        check_choice(convex)
        path = file_of(vertices) if isinstance(vertices, str | Path) else None
        where = "add_mesh" if path is None else f"mesh file {str(path)!r}"
        if path is not None:
            points, faces = read_mesh(path)
        else:
            points = np.asarray(vertices, dtype=float)
            if points.ndim != 2 or points.shape[1] != 3 or len(points) < 4:
                raise expected("vertices", "an array of at least 4 points, shape (n, 3)", points.shape)
            faces = None if faces is None else triangles(faces, points)
        check_volume(hull_of(points, where), where)
        if faces is not None and hollow(points, faces, where) > HOLLOW:
            if convex == "refuse":
                raise ModelError(
                    f'{where}: the mesh is not convex; convex="decompose" splits it, "hull" takes its hull'
                )
            if convex == "decompose":
                return self._meshes(convex_parts(points, faces, where), options)
            if convex is None:
                message = (
                    f'{where}: the mesh is not convex and touches as its hull; convex="hull" says that this is meant'
                )
                warnings.warn(f'{message}, convex="decompose" splits it', StickslipWarning, stacklevel=4)
        name = self.scene._name("mesh")
        if path is not None:
            self.scene.spec.add_mesh(name=name, file=str(path.resolve()))
        else:
            inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX
            drawn = {} if faces is None else {"userface": faces.astype(np.int32).ravel()}
            self.scene.spec.add_mesh(name=name, uservert=points.ravel(), inertia=inertia, **drawn)
        return self._shape(GEOM.mjGEOM_MESH, [0, 0, 0], meshname=name, **options)

    @says_why
    def add_terrain(
        self, heights: Any, *, size: Vector, base: float | None = None, pos: Vector = (0, 0, 0),
        **options: Unpack[TerrainOptions],
    ) -> Body:  # fmt: skip
        """Ground of given ``heights`` (rows, columns) [m] over a rectangle of edges ``size`` (2,) [m] about ``pos``.

        Rows run along y and columns along x: heights[0, 0] is at the corner of least x and y, heights[0, -1] at that of
        largest x and least y. It is solid down to ``base`` [m] below its lowest height (default: a tenth of the longer
        edge). Heights are kept to 6e-8 of their range.
        """
        grid, edges = checked_heights(heights), vector("size", size, 2)
        positive("size", *edges)
        depth = 0.1 * float(edges.max()) if base is None else number("base", base, "a depth > 0 [m]", above=0.0)
        low, span = float(grid.min()), float(np.ptp(grid))
        turn, shift = np.zeros(9), np.array([0.0, 0.0, low])
        mujoco.mju_quat2Mat(turn, vector("quat", options.get("quat", (1, 0, 0, 0)), 4))
        name = self.scene._name("terrain")
        asset = self.scene.spec.add_hfield(name=name, nrow=grid.shape[0], ncol=grid.shape[1])
        asset.size = [*(edges / 2), span if span > 0.0 else depth, depth]
        asset.userdata = ((grid - low) / (span if span > 0.0 else 1.0)).astype(np.float32).ravel()
        place = vector("pos", pos, 3) + turn.reshape(3, 3) @ shift
        try:
            return self._shape(GEOM.mjGEOM_HFIELD, [0, 0, 0], hfieldname=name, pos=place, **options)
        except (InputError, ModelError, TypeError):
            self.scene.spec.delete(asset)  # an error must leave no trace in the scene
            raise

    def _meshes(self, parts: list[np.ndarray], options: ShapeOptions) -> Body:
        """Add several convex meshes. They share the mass by volume, and their names are numbered."""
        volume = np.array([hull_of(part, "part of a mesh").volume for part in parts])
        mass, name = options.pop("mass", None), options.pop("name", None)
        for k, part in enumerate(parts):
            own = options.copy()
            if mass is not None:
                own["mass"] = number("mass", mass, "a number ≥ 0", least=0.0) * volume[k] / volume.sum()
            if name is not None:
                own["name"] = f"{name}/{k}"
            self.add_mesh(part, **own)
        return self

    def _shape(
        self, kind, size, *, pos: Vector = (0, 0, 0), quat: Vector = (1, 0, 0, 0), mass: float | None = None,
        density: float | None = None, friction: float | None = None, stiffness: float | None = None,
        damping: float | None = None, restitution: float | None = None, preload: float | None = None,
        torsion: float | None = None, rolling: float | None = None, condim: int | None = None, priority: int = 0,
        margin: float = 0.0, gap: float = 0.0, adhesion: float = 0.0, tangent_stiffness: float | None = None,
        tangent_damping: float | None = None, surface_velocity: Vector | None = None,
        material: Material | None = None, collide: bool = True, rgba: Vector | None = None, name: str | None = None,
        fluid: str | None = None, fluid_coefficients: Vector | None = None, meshname: str | None = None,
        hfieldname: str | None = None,
    ) -> Body:  # fmt: skip
        if mass is not None and density is not None:
            raise InputError("mass and density: expected one of the two, got both")
        for what, value in (("mass", mass), ("density", density)):
            if value is not None:
                number(what, value, "a number ≥ 0", least=0.0)
                if value and self.loaded and self.spec.explicitinertial:
                    remedy = "add it to a child: body.add_body(name).add_box(…)"
                    raise expected(what, f"none, because the file says the inertia of {self.name!r}", value, remedy)
        given: dict[str, Any] = {
            "friction": friction, "stiffness": stiffness, "damping": damping, "restitution": restitution,
            "preload": preload, "torsion": torsion, "rolling": rolling, "condim": condim, "margin": margin,
            "gap": gap, "adhesion": adhesion, "priority": priority, "tangent_stiffness": tangent_stiffness,
            "tangent_damping": tangent_damping,
        }  # fmt: skip
        unsaid = {"margin": 0.0, "gap": 0.0, "adhesion": 0.0, "priority": 0} if material is not None else {}
        given = {
            key: value
            for key, value in given.items()
            if value is not None and not (key in unsaid and np.isscalar(value) and value == unsaid[key])
        }
        drag = _fluid_coefficients(fluid, fluid_coefficients)
        if material is not None and not isinstance(material, Material):
            raise expected("material", "an ss.Material", material, "ss.Material(friction=0.8) makes one")
        material = replace(material, **given) if material is not None else Material(**given)
        geom = self.spec.add_geom(
            name=name or self.scene._name("shape"), type=kind, size=size, pos=vector("pos", pos, 3),
            quat=vector("quat", quat, 4),
            friction=material.coefficients, condim=material.least_condim, priority=material.priority,
            margin=material.margin, gap=material.gap, adhesion=material.adhesion, userdata=material.to_user(),
            contype=int(collide), conaffinity=int(collide),
        )  # fmt: skip
        if drag is not None:
            geom.fluid_ellipsoid, geom.fluid_coefs = 1.0, drag
        if surface_velocity is not None:
            size = 6 if np.shape(surface_velocity) == (6,) else 3
            geom.surfacevel = [*vector("surface_velocity", surface_velocity, size), 0, 0, 0][:6]
        if mass is not None:
            geom.mass = mass
        if density is not None:
            geom.density = density
        if rgba is not None:
            geom.rgba = vector("rgba", rgba, 4, "give red, green, blue and opacity")
            if np.any(geom.rgba < 0.0) or np.any(geom.rgba > 1.0):
                raise expected("rgba", "4 numbers from 0 to 1", tuple(rgba), "divide those from 0 to 255 by 255")
        if meshname is not None:
            geom.meshname = meshname
        if hfieldname is not None:
            geom.hfieldname = hfieldname
        return self

    # -- everything else ---------------------------------------------------------------------------------------

    @says_why
    def add_joint(
        self,
        kind: JointKind = "hinge",
        *,
        axis: Vector = (0, 0, 1),
        pos: Vector = (0, 0, 0),
        range: tuple[float, float] | None = None,
        armature: float = 0.0,
        damping: float = 0.0,
        stiffness: float = 0.0,
        friction: float = 0.0,
        motor: Motor = False,
        max_force: float | None = None,
        kp: float | None = None,
        kv: float | None = None,
        name: str | None = None,
    ) -> Body:
        """A joint to the parent; several joints on one body act one after the other.

        ``kind`` is free, ball (or spherical), slide (or prismatic), hinge (or revolute) or fixed; a cylindrical joint
        is a slide and a hinge along one axis. ``axis`` (3,) and the anchor ``pos`` (3,) [m] are in the body's frame.
        ``range`` are the limits (lower, upper) [rad or m]. ``armature`` is the rotor's inertia [kg m² or kg],
        ``damping`` is in N m s/rad or N s/m, ``stiffness`` towards the reference configuration in N m/rad or N/m.
        ``friction`` is dry friction [N m or N].

        ``motor=True`` (or ``"force"``) adds an actuator of the same name, limited to ``max_force`` [N m or N], whose
        control is its force. ``motor="position"`` adds a servo, force = kp·(control − q) − kv·v, and ``"velocity"`` one
        with force = kv·(control − v); ``kp`` is in N m/rad or N/m, ``kv`` in N m s/rad or N s/m.
        """
        if kind == "fixed":
            return self
        kind = ALIASES.get(kind, kind)
        if kind not in JOINTS:
            raise unknown("joint type", str(kind), [*JOINTS, *ALIASES, "fixed"])
        given = (("armature", armature), ("damping", damping), ("stiffness", stiffness), ("friction", friction))
        for what, value in given:
            number(what, value, "a number ≥ 0", least=0.0)
        servo = Servo.checked(motor, max_force, kp, kv)
        if range is not None and kind == "free":
            raise expected("range", "a joint that is not free", kind)
        direction = vector("axis", axis, 3)
        if not np.any(direction):
            raise expected("axis", "a direction", tuple(direction))
        name = name or self.scene._name("joint")
        joint = self.spec.add_joint(
            name=name,
            type=JOINTS[kind],
            axis=direction,
            pos=vector("pos", pos, 3),
            armature=armature,
            damping=damping,
            stiffness=stiffness,
            frictionloss=friction,
        )
        if range is not None:
            low, high = vector(f"range of joint {name!r}", range, 2)
            if not low < high:
                raise expected(f"range of joint {name!r}", "lower < upper", range)
            if kind == "hinge" and max(abs(low), abs(high)) > TURNS:
                warnings.warn(
                    f"range of joint {name!r}: {low:g} … {high:g} is in radians, and that is several turns; "
                    f"of degrees, write range=np.radians(({low:g}, {high:g}))",
                    StartWarning,
                    stacklevel=2,
                )
            joint.range, joint.limited = [low, high], mujoco.mjtLimited.mjLIMITED_TRUE
        if servo is not None:
            if kind not in ("hinge", "slide"):
                raise expected("motor", "a hinge or slide joint", kind)
            servo.add(self.scene.spec, name, mujoco.mjtTrn.mjTRN_JOINT)
        return self

    @says_why
    def add_body(
        self, name: str | None = None, *, joint: JointKind = "fixed", pos: Vector = (0, 0, 0),
        **options: Unpack[ChildOptions],
    ) -> Body:  # fmt: skip
        """A child body at ``pos`` (3,) [m] in this body's frame; ``joint`` is a kind of joint as in ``add_joint``."""
        return self.scene.add_body(name, joint=joint, pos=pos, parent=self, **options)

    @says_why
    def add_frame(self, name: str, *, pos: Vector = (0, 0, 0), quat: Vector = (1, 0, 0, 0)) -> Body:
        """A named frame, for Jacobians, sensors and controllers."""
        self.spec.add_site(name=name, pos=vector("pos", pos, 3), quat=vector("quat", quat, 4))
        return self

    @says_why
    def add_contact_point(self, name: str, *, pos: Vector = (0, 0, 0)) -> Body:
        """A named point that touches planes, boxes and spheres; it is also a frame."""
        self.spec.add_site(name=name, pos=vector("pos", pos, 3), userdata=[1.0], size=[0.004, 0, 0])
        return self

    @says_why
    def set_inertia(self, mass: float, *, inertia: Vector, com: Vector = (0, 0, 0)) -> Body:
        """Mass [kg], centre of mass [m] and inertia about it [kg m²]: (xx, yy, zz) or (xx, yy, zz, xy, xz, yz).

        They replace what would follow from the shapes.
        """
        number(f"mass of body {self.name!r}", mass, "a number > 0 [kg]", above=0.0)
        entries = np.zeros(6)
        if np.shape(inertia) not in ((3,), (6,)):
            raise expected(f"inertia of body {self.name!r}", "3 or 6 numbers [kg m²]", inertia)
        entries[: len(inertia)] = vector("inertia", inertia, len(inertia))
        self.spec.mass, self.spec.explicitinertial = mass, True
        self.spec.ipos, self.spec.fullinertia = vector("com", com, 3), entries
        return self


def _body_of(scene: Scene, name: str) -> Body:
    """A body that was pickled or copied with its scene."""
    return scene.body(name)


list_keywords(
    Body,
    {
        ShapeOptions: (Body._shape,),
        TerrainOptions: (Body._shape,),
        ChildOptions: (Body.add_joint, Body._shape),
    },
)
