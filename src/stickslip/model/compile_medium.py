"""From MuJoCo's compiled model to the medium around the bodies, and what feels it."""

from __future__ import annotations

import mujoco
import numpy as np

from stickslip.model.arrays import Medium
from stickslip.model.compile import Attachment

GEOM = mujoco.mjtGeom
LIGHT = 1e-15
"""Bodies of less mass feel nothing [kg], as in MuJoCo."""


def build_medium(mj: mujoco.MjModel, bodies: list[Attachment]) -> Medium:
    """The boxes of bodies, and the ellipsoids of shapes with ``fluidshape="ellipsoid"``.

    A body with such a shape has no box; bodies that are fixed to a link keep their own. What is fixed to the
    world feels nothing.
    """
    properties = np.array([mj.opt.density, mj.opt.viscosity, *mj.opt.wind], dtype=float)
    elements = []
    for b in range(1, mj.nbody if mj.opt.density > 0.0 or mj.opt.viscosity > 0.0 else 1):
        if bodies[b].link == 0 or mj.body_mass[b] < LIGHT:
            continue
        geoms = range(mj.body_geomadr[b], mj.body_geomadr[b] + mj.body_geomnum[b])
        shapes = [g for g in geoms if mj.geom_fluid[g, 0] > 0.0]
        for g in shapes:
            elements.append((*bodies[b].place(mj.geom_pos[g], mj.geom_quat[g]), 1, half_axes(mj, g), mj.geom_fluid[g]))
        if not shapes:
            i = mj.body_inertia[b]
            edges = np.sqrt(6.0 * np.maximum(LIGHT, i.sum() - 2.0 * i) / mj.body_mass[b])
            elements.append((*bodies[b].place(mj.body_ipos[b], mj.body_iquat[b]), 0, edges, np.zeros(12)))
    numbers = np.array([e[5] for e in elements], dtype=float).reshape(-1, 12)
    return Medium(
        properties=properties,
        link=np.array([e[0] for e in elements], dtype=np.int64),
        pos=np.array([e[1] for e in elements], dtype=float).reshape(-1, 3),
        rot=np.array([e[2] for e in elements], dtype=float).reshape(-1, 3, 3),
        ellipsoid=np.array([e[3] for e in elements], dtype=np.int64),
        size=np.array([e[4] for e in elements], dtype=float).reshape(-1, 3),
        coefficients=np.ascontiguousarray(numbers[:, :6]),
        added=np.ascontiguousarray(numbers[:, 6:]),
    )


def half_axes(mj: mujoco.MjModel, g: int) -> np.ndarray:
    """(3,) half axes of the ellipsoid that stands for geom g [m]."""
    size, kind = mj.geom_size[g], mj.geom_type[g]
    if kind == GEOM.mjGEOM_SPHERE:
        return np.full(3, size[0])
    if kind == GEOM.mjGEOM_CAPSULE:
        return np.array([size[0], size[0], size[1] + size[0]])
    if kind == GEOM.mjGEOM_CYLINDER:
        return np.array([size[0], size[0], size[1]])
    return size.astype(float)
