"""Numbers of a compiled model: all finite, and none beyond what double precision and any method can work with.

This looks at MuJoCo's arrays, so that it holds for files, for scenes built in Python and for models that were changed.
"""

from __future__ import annotations

import mujoco
import numpy as np

from stickslip.errors import ModelError
from stickslip.model.importers.features import OBJ, element_name

GEOM = mujoco.mjtGeom
KINDS = {
    "body": OBJ.mjOBJ_BODY, "geom": OBJ.mjOBJ_GEOM, "jnt": OBJ.mjOBJ_JOINT, "dof": OBJ.mjOBJ_JOINT,
    "tendon": OBJ.mjOBJ_TENDON, "actuator": OBJ.mjOBJ_ACTUATOR, "eq": OBJ.mjOBJ_EQUALITY, "pair": OBJ.mjOBJ_PAIR,
}  # fmt: skip
"""How names of MuJoCo's arrays begin, and what their rows are."""
DRAWN = ("cam", "light", "mat", "skin", "tex", "bvh", "oct", "text", "numeric", "tuple")
"""Arrays that only drawing reads, or other programs."""
LENGTH, FORCE = 1e6, 1e15
LIMITS = {
    "body_pos": (LENGTH, "m"), "body_ipos": (LENGTH, "m"), "body_mass": (1e12, "kg"), "body_inertia": (1e18, "kg m²"),
    "body_gravcomp": (1e6, ""), "geom_pos": (LENGTH, "m"), "geom_size": (LENGTH, "m"), "geom_margin": (LENGTH, "m"),
    "geom_gap": (LENGTH, "m"), "geom_friction": (1e6, ""), "geom_adhesion": (FORCE, "N"), "geom_rbound": (1e9, "m"),
    "geom_surfacevel": (1e6, "m/s"), "geom_fluid": (1e6, ""), "geom_user": (FORCE, "of user"),
    "pair_friction": (1e6, ""), "pair_margin": (LENGTH, "m"), "pair_gap": (LENGTH, "m"), "pair_adhesion": (FORCE, "N"),
    "site_pos": (LENGTH, "m"), "jnt_pos": (LENGTH, "m"), "jnt_stiffness": (FORCE, "N/m or N m/rad"),
    "jnt_stiffnesspoly": (FORCE, ""), "jnt_margin": (LENGTH, "m or rad"), "dof_armature": (1e15, "kg or kg m²"),
    "dof_damping": (FORCE, "N s/m or N m s/rad"), "dof_dampingpoly": (FORCE, ""),
    "dof_frictionloss": (FORCE, "N or N m"),
    "tendon_stiffness": (FORCE, "N/m"), "tendon_stiffnesspoly": (FORCE, ""), "tendon_damping": (FORCE, "N s/m"),
    "tendon_dampingpoly": (FORCE, ""), "tendon_armature": (1e12, "kg"), "tendon_frictionloss": (FORCE, "N"),
    "tendon_length0": (1e9, "m"), "actuator_gear": (1e6, ""), "actuator_gainprm": (FORCE, ""),
    "actuator_biasprm": (FORCE, ""), "actuator_dynprm": (FORCE, ""), "actuator_cranklength": (LENGTH, "m"),
    "actuator_delay": (10.0, "s"), "sensor_delay": (10.0, "s"),
    "eq_data": (1e9, ""), "qpos0": (LENGTH, "m or rad"), "qpos_spring": (LENGTH, "m or rad"),
    "key_qpos": (LENGTH, "m or rad"), "key_qvel": (LENGTH, "m/s or rad/s"), "key_ctrl": (FORCE, ""),
    "hfield_size": (LENGTH, "m"), "mesh_vert": (LENGTH, "m"), "wrap_prm": (1e9, ""),
}  # fmt: skip
"""The largest size of a number, and its unit."""
OPTIONS = {"gravity": (1e6, "m/s²"), "wind": (1e6, "m/s"), "density": (1e9, "kg/m³"), "viscosity": (1e9, "Pa s"),
           "magnetic": (1e9, ""), "timestep": (1e6, "s")}  # fmt: skip


NOT_NEGATIVE = (
    "geom_friction", "pair_friction", "jnt_stiffness", "dof_armature", "dof_damping", "dof_frictionloss",
    "tendon_stiffness", "tendon_damping", "tendon_frictionloss",
)  # fmt: skip
"""Arrays without negative numbers, which would make energy from nothing; MuJoCo looks at none of them."""
SMALLEST = 1e-9
"""[m] of a radius or half a side of a shape."""
SIZES = {
    GEOM.mjGEOM_SPHERE: 1, GEOM.mjGEOM_CAPSULE: 2, GEOM.mjGEOM_CYLINDER: 2, GEOM.mjGEOM_BOX: 3,
    GEOM.mjGEOM_ELLIPSOID: 3,
}  # fmt: skip
"""How many sizes the kinds of shapes have."""


def check_sizes(mj: mujoco.MjModel, origin: str) -> None:
    """Refuse a shape or height field that is too small to be computed with; the error names it."""
    shapes = (
        (OBJ.mjOBJ_GEOM, geom, size[: SIZES.get(GEOM(kind), 0)])
        for geom, (kind, size) in enumerate(zip(mj.geom_type, mj.geom_size, strict=True))
    )
    fields = ((OBJ.mjOBJ_HFIELD, field, size[:2]) for field, size in enumerate(mj.hfield_size))
    for kind, number, sizes in (*shapes, *fields):
        least = min(sizes, default=SMALLEST)
        if least < SMALLEST:
            where = f"{origin}: {element_name(mj, kind, number)}"
            raise ModelError(
                f"{where}: expected sizes of at least {SMALLEST:g} m, got {least:g}; correct it, or leave it out"
            )


def check_axes(mj: mujoco.MjModel, origin: str) -> None:
    """Refuse a joint whose axis has no direction: its numbers were too large or too small for a unit vector."""
    for joint, axis in enumerate(mj.jnt_axis):
        if not abs(np.linalg.norm(axis) - 1.0) < 1e-6:
            where = f"{origin}: {element_name(mj, OBJ.mjOBJ_JOINT, joint)}"
            raise ModelError(
                f"{where}: expected an axis with a direction, such as 0 0 1, got {axis.tolist()}; correct it"
            )


def check_numbers(mj: mujoco.MjModel, origin: str) -> None:
    """Refuse a model with a number that is not finite, too large, or too small; the error names the element."""
    check_sizes(mj, origin)
    check_axes(mj, origin)
    for name in (name for name in dir(mj) if not name.startswith("_")):
        values = getattr(mj, name)
        if not isinstance(values, np.ndarray) or values.dtype.kind != "f" or name.partition("_")[0] in DRAWN:
            continue
        most, unit = LIMITS.get(name, (np.inf, ""))
        fits = np.isfinite(values) if name not in LIMITS else np.abs(values) <= most
        if not np.all(fits):
            row = np.unravel_index(int(np.argmin(fits)), values.shape)
            raise _error(f"{origin}: {_element(mj, name, int(row[0]))}", name, float(values[row]), most, unit)
        if name in NOT_NEGATIVE and np.any(values < 0.0):
            row = np.unravel_index(int(np.argmin(values)), values.shape)
            where, least = f"{origin}: {_element(mj, name, int(row[0]))}", float(values[row])
            raise ModelError(f"{where}: expected a number ≥ 0 for {name}, got {least:g}; correct it")
    for name, (most, unit) in OPTIONS.items():
        values = np.atleast_1d(getattr(mj.opt, name))
        if not np.all(np.abs(values) <= most):
            raise _error(f"{origin}: option", name, float(values[np.argmin(np.abs(values) <= most)]), most, unit)


def _element(mj: mujoco.MjModel, name: str, row: int) -> str:
    start = name.partition("_")[0]
    if start not in KINDS:
        return "the model"
    return element_name(mj, KINDS[start], int(mj.dof_jntid[row]) if start == "dof" else row)


def _error(where: str, name: str, value: float, most: float, unit: str) -> ModelError:
    wanted = f"at most {most:g} {unit}".rstrip() if np.isfinite(most) else "a finite number"
    return ModelError(f"{where}: expected {wanted} for {name}, got {value:g}; correct it, or use other units")
