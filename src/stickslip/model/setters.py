"""Setters of a compiled model: masses, surfaces, joints, actuators and gravity change without compiling the scene anew.

A setter checks its values, writes them into MuJoCo's model and into the specification that ``to_xml`` saves, lets
MuJoCo compute its constants (``mj_setConst``), and makes those of our arrays anew that follow from them, by the same
functions that compile a scene. The model then has a higher ``version``; simulations and ``Dynamics`` notice it before
they are used again. An error leaves everything as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import mujoco
import numpy as np

from stickslip.errors import InputError, ModelError, expected, number, unknown
from stickslip.model import compile as build
from stickslip.model.arrays import JOINT_NV
from stickslip.model.importers.messages import compile_spec
from stickslip.model.parameters import build_parameters
from stickslip.model.shape import USER, Material

if TYPE_CHECKING:
    from stickslip.model.model import Model

Vector = Sequence[float] | np.ndarray
LIMITED = mujoco.mjtLimited
UNSET = ("friction", "stiffness", "damping", "tangent_stiffness", "tangent_damping", "restitution", "preload")
"""Properties of a surface that may be "unset", so that the other surface of a pair decides."""
SAME = 1e-13
"""Relative difference below which an inertia counts as the compiled one, so that its bits come back."""


class MassProperties(NamedTuple):
    """Mass properties of a body, without those of bodies that are fixed to it."""

    mass: float
    """[kg]."""
    com: np.ndarray
    """(3,) centre of mass in the body's frame [m]."""
    inertia: np.ndarray
    """(6,) about the centre of mass, in the body's axes: (xx, yy, zz, xy, xz, yz) [kg m²]."""


class Compiled(NamedTuple):
    """What mass alone scales, and what setting the old value brings back: mass, principal moments and their axes."""

    mass: float
    moments: np.ndarray
    axes: np.ndarray


@dataclass
class Edits:
    """What setters have changed in a model."""

    version: int = 0
    """Number of changes."""
    compiled: dict[int, Compiled] = field(default_factory=dict)
    """Body → its inertia before the first change."""
    chosen: dict[int, Compiled] = field(default_factory=dict)
    """Body → the inertia that was set last."""
    servos: dict[int, str] = field(default_factory=dict)
    """Actuator → "position", "velocity" or ""."""


def vector(what: str, value: Any, size: int, infinite: bool = False) -> np.ndarray:
    """(size,) checked numbers."""
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise expected(what, f"{size} numbers", value) from None
    bad = np.isnan(array).any() if infinite else not np.isfinite(array).all()
    if array.shape != (size,) or bad:
        raise expected(what, f"{size} {'' if infinite else 'finite '}numbers", value)
    return array


def something(method: str, given: dict[str, Any]) -> dict[str, Any]:
    """The arguments that were given; none at all is a mistake."""
    found = {name: value for name, value in given.items() if value is not None}
    if not found:
        raise InputError(f"{method}: expected at least one of {', '.join(given)}")
    return found


def element(model: Model, kind: str, i: int) -> Any:
    """Element i of a kind ("bodies", "geoms", …) of the specification; None without a specification."""
    return None if model.spec is None else next(e for e in getattr(model.spec, kind) if e.id == i)


# -- bodies ----------------------------------------------------------------------------------------------------------


def body_id(model: Model, name: str) -> int:
    names = [model.mj.body(b).name for b in range(model.mj.nbody)]
    if name not in names:
        raise unknown("body", str(name), names)
    return names.index(name)


def six(moments: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """(6,) the tensor of principal moments about axes that a quaternion turns."""
    R = build.rotation(axes)
    tensor = R @ np.diag(moments) @ R.T
    return np.array([tensor[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))])


def mass_properties(model: Model, name: str) -> MassProperties:
    mj, b = model.mj, body_id(model, name)
    return MassProperties(float(mj.body_mass[b]), mj.body_ipos[b].copy(), six(mj.body_inertia[b], mj.body_iquat[b]))


def full_inertia(what: str, value: Any) -> np.ndarray:
    """(6,) from (3,), (6,) or a symmetric (3, 3), if it is physical: principal moments a ≤ b ≤ c have a > 0 and
    a + b ≥ c."""
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        array = np.zeros(0)
    if array.shape == (3, 3) and np.allclose(array, array.T, rtol=0.0, atol=1e-9 * abs(array).max()):
        array = np.array([array[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))])
    if array.shape not in ((3,), (6,)) or not np.isfinite(array).all():
        raise expected(what, "3 or 6 finite numbers, or a symmetric 3 × 3 matrix [kg m²]", value)
    full = np.zeros(6)
    full[: len(array)] = array
    a, b, c = np.linalg.eigvalsh(matrix(full))
    if a <= 0.0 or a + b < c * (1.0 - 1e-9):
        moments = tuple(float(f"{x:.4g}") for x in (a, b, c))
        raise expected(what, "positive principal moments, each at most the sum of the others", moments)
    return full


def matrix(full: np.ndarray) -> np.ndarray:
    xx, yy, zz, xy, xz, yz = full
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def set_body(model: Model, name: str, mass: Any, com: Any, inertia: Any) -> None:
    """``Model.set_body``."""
    mj, b, edits = model.mj, body_id(model, name), model.edits
    given = something("set_body", {"mass": mass, "com": com, "inertia": inertia})
    if build.attach_bodies(mj)[0][b].link == 0:
        raise expected(f"body {name!r}", "one that moves", "a part of the world, whose mass has no meaning")
    now = Compiled(float(mj.body_mass[b]), mj.body_inertia[b].copy(), mj.body_iquat[b].copy())
    old = edits.compiled.setdefault(b, now)
    weight, place = float(mj.body_mass[b]), mj.body_ipos[b].copy()
    if "mass" in given:
        weight = number(f"mass of body {name!r}", mass, "a number > 0 [kg]", above=0.0)
    if "com" in given:
        place = vector(f"com of body {name!r}", com, 3)
    reference = edits.chosen.get(b, old)
    if "inertia" in given:
        reference = principal(weight, full_inertia(f"inertia of body {name!r}", inertia), old)
    elif reference.mass == 0.0:
        raise expected(f"inertia of body {name!r}", "one together with the mass", "none, and the body had no mass")
    turned = not (np.array_equal(place, mj.body_ipos[b]) and np.array_equal(reference.axes, mj.body_iquat[b]))
    if turned and model.spec is None:
        raise InputError(f"set_body: the com and the axes of {name!r} are fixed; compile the model from a Scene")
    before = [array[b].copy() for array in (mj.body_mass, mj.body_ipos, mj.body_inertia, mj.body_iquat)]
    write_inertia(model, b, weight, place, reference.moments * (weight / reference.mass), reference.axes)
    if turned and model.spec is not None:  # MuJoCo's model has marks of bodies whose inertial frame is their own
        try:
            mj = compile_spec(model.spec, "the changed model")
        except ModelError:
            write_inertia(model, b, *before)
            raise
        object.__setattr__(model, "mj", mj)
    edits.chosen[b] = reference
    refresh(model)


def principal(mass: float, full: np.ndarray, compiled: Compiled) -> Compiled:
    """Principal moments and axes; those that were compiled if the tensor is the same up to round-off."""
    if compiled.mass > 0.0 and np.allclose(full, six(compiled.moments, compiled.axes), 0.0, SAME * full[:3].sum()):
        return compiled._replace(mass=mass)
    if not full[3:].any():
        return Compiled(mass, full[:3].copy(), np.array([1.0, 0.0, 0.0, 0.0]))
    moments, axes, quat = np.zeros(3), np.zeros((3, 3)), np.zeros(4)
    mujoco.mju_eig3(moments, axes.ravel(), quat, matrix(full).ravel())
    return Compiled(mass, moments, quat)


def write_inertia(model: Model, b: int, mass: float, com: np.ndarray, moments: np.ndarray, axes: np.ndarray) -> None:
    """Write the inertia of body b into MuJoCo's model and into the specification. If a file's compiler takes inertias
    from shapes whatever the file says, those of all its bodies are written."""
    mj = model.mj
    mj.body_mass[b], mj.body_ipos[b], mj.body_inertia[b], mj.body_iquat[b] = mass, com, moments, axes
    changed = element(model, "bodies", b)
    if changed is None:
        return
    from_shapes = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
    forced = changed.compiler.inertiafromgeom == from_shapes
    for body in model.spec.bodies[1:] if forced and model.spec is not None else [changed]:
        i = body.id
        body.mass, body.ipos, body.explicitinertial = mj.body_mass[i], mj.body_ipos[i], True
        body.inertia, body.iquat, body.fullinertia = mj.body_inertia[i], mj.body_iquat[i], np.full(6, np.nan)
    if forced:
        changed.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_AUTO


# -- shapes ----------------------------------------------------------------------------------------------------------


def shape_ids(model: Model, name: str) -> list[int]:
    """The shape of this name, or the shapes of the body of this name."""
    mj, names = model.mj, [shape.name for shape in model.shapes]
    if name in names:
        i = names.index(name)
        if i >= mj.ngeom:
            raise expected(f"shape {name!r}", "a shape with a surface", "a contact point; set the surface it touches")
        return [i]
    bodies = [mj.body(b).name for b in range(mj.nbody)]
    if name not in bodies:
        raise unknown("shape or body", str(name), {*names, *bodies})
    found = [g for g in range(mj.ngeom) if mj.geom_bodyid[g] == bodies.index(name)]
    if not found:
        raise expected(f"body {name!r}", "a body with shapes", "none of its own", "name a shape")
    return found


def set_shape(model: Model, name: str, **properties: Any) -> None:
    """``Model.set_shape``."""
    mj, given = model.mj, something("set_shape", properties)
    if build.overridden(mj):
        raise InputError("set_shape: the flag override of the file gives all contacts one friction and margin")
    made: dict[int, Material] = {}
    room = mj.nuser_geom if mj.nuser_geom >= build.LEAST_USER else 0
    for g in shape_ids(model, name):
        values: dict[str, Any] = {
            key: None if value == "unset" and key in UNSET else value for key, value in given.items()
        }
        if values.get("torsion") or values.get("rolling"):
            values.setdefault("condim", None)  # the least that lets them act
        made[g] = replace(model.shapes[g].material, **values)
        if any(made[g].to_user()[room:]):
            raise InputError(f"set_shape: {name!r} has no room for {', '.join(given)}; compile the model from a Scene")
    for g, material in made.items():
        mj.geom_friction[g], mj.geom_condim[g] = material.coefficients, material.least_condim
        mj.geom_priority[g], mj.geom_margin[g] = material.priority, material.margin
        mj.geom_gap[g], mj.geom_adhesion[g] = material.gap, material.adhesion
        mj.geom_user[g, : min(room, USER)] = material.to_user()[:room]
        geom = element(model, "geoms", g)
        if geom is not None:
            geom.friction, geom.condim, geom.priority = mj.geom_friction[g], mj.geom_condim[g], mj.geom_priority[g]
            geom.margin, geom.gap, geom.adhesion = material.margin, material.gap, material.adhesion
            geom.userdata = mj.geom_user[g]
    shapes = tuple(
        replace(shape, material=build.build_material(mj, g)) if g in made else shape
        for g, shape in enumerate(model.shapes)
    )
    model.put(shapes=shapes, pairs=build.build_pairs(mj, shapes))


# -- joints, gravity -------------------------------------------------------------------------------------------------


def set_joint(model: Model, name: str, **values: Any) -> None:
    """``Model.set_joint``."""
    mj, j, given = model.mj, model.joint(name), something("set_joint", values)
    checked = {
        key: number(f"{key} of joint {name!r}", value, "a number ≥ 0", least=0.0) for key, value in given.items()
    }
    first = int(mj.jnt_dofadr[j])
    dofs = slice(first, first + JOINT_NV[int(mj.jnt_type[j])])
    for key, array in (("damping", mj.dof_damping), ("armature", mj.dof_armature), ("friction", mj.dof_frictionloss)):
        if key in checked:
            array[dofs] = checked[key]
    if "stiffness" in checked:
        mj.jnt_stiffness[j] = checked["stiffness"]
    joint = element(model, "joints", j)
    if joint is not None:
        joint.damping = [mj.dof_damping[first], *mj.dof_dampingpoly[first]]
        joint.stiffness = [mj.jnt_stiffness[j], *mj.jnt_stiffnesspoly[j]]
        joint.armature, joint.frictionloss = mj.dof_armature[first], mj.dof_frictionloss[first]
    refresh(model)


def set_gravity(model: Model, gravity: Any) -> None:
    """``Model.set_gravity``."""
    model.mj.opt.gravity[:] = vector("gravity", gravity, 3)
    if model.spec is not None:
        model.spec.option.gravity = model.mj.opt.gravity
    refresh(model)


def refresh(model: Model) -> None:
    """Make MuJoCo's constants and our arrays anew from MuJoCo's model."""
    mj = model.mj
    mujoco.mj_setConst(mj, mujoco.MjData(mj))
    model.put(**build_parameters(mj, build.attach_bodies(mj)[0], model.tree, model.support))
