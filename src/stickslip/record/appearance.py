"""How shapes look: colours of materials, surfaces of meshes, and which shapes are for collisions only.

The header of a recording keeps it, so that pictures and the viewer need no files of the scene. Conventions are MuJoCo's
and those of its users: a colour of a geom's own comes before that of its material; groups 3 to 5 are hidden; on a body
with shapes that are only drawn (group 1 or 2), those that touch are for collisions only, as in URDF.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import mujoco
import numpy as np

if TYPE_CHECKING:
    from stickslip.model.model import Model

PLAIN = (0.5, 0.5, 0.5, 1.0)
"""Colour that MuJoCo gives to shapes without one."""
MOST = 20_000
"""Largest number of triangles of a mesh; larger ones are drawn with fewer."""


class Surface(NamedTuple):
    """The triangles of a mesh, in the frame of its shapes."""

    vertices: np.ndarray
    """(n, 3) float32 [m]."""
    faces: np.ndarray
    """(m, 3) int32, counter-clockwise seen from outside."""


def looks(model: Model) -> list[dict[str, Any]]:
    """For each shape its colour ``rgba``, its ``surface`` (a key of ``surfaces``, or None), and whether it is
    ``hidden``: for collisions only."""
    mj, shapes = model.mj, model.shapes
    group = [int(mj.geom_group[k]) if k < mj.ngeom else 0 for k in range(len(shapes))]
    drawn = {s.body for k, s in enumerate(shapes) if not s.solid and group[k] in (1, 2) and s.rgba[3] > 0.0}
    seen = {s.body for k, s in enumerate(shapes) if group[k] < 3 and s.kind != "point"}
    found = []
    for k, shape in enumerate(shapes):
        mesh = k < mj.ngeom and mj.geom_type[k] == mujoco.mjtGeom.mjGEOM_MESH
        apart = (group[k] >= 3 and shape.body in seen) or (shape.solid and group[k] == 0 and shape.body in drawn)
        found.append({
            "rgba": _colour(mj, k) if k < mj.ngeom else shape.rgba,
            "surface": int(mj.geom_dataid[k]) if mesh else None,
            "hidden": apart and shape.kind not in ("plane", "point"),
        })  # fmt: skip
    return found


def surfaces(model: Model) -> dict[int, Surface]:
    """The surfaces of all meshes that shapes have, by the number of the mesh."""
    mj, found = model.mj, dict[int, Surface]()
    for mesh in np.unique(mj.geom_dataid[mj.geom_type == mujoco.mjtGeom.mjGEOM_MESH]).tolist():
        first, corner = mj.mesh_vertadr[mesh], mj.mesh_faceadr[mesh]
        vertices = mj.mesh_vert[first : first + mj.mesh_vertnum[mesh]].astype(np.float32)
        faces = mj.mesh_face[corner : corner + mj.mesh_facenum[mesh]].astype(np.int32)
        found[mesh] = coarser(Surface(vertices, faces))
    return found


def coarser(surface: Surface, most: int = MOST) -> Surface:
    """The surface with at most about ``most`` triangles: vertices in the same cell of a grid become one, and triangles
    that have no area left are dropped. The grid is made coarser until few enough are left."""
    cells = 256.0
    fewer = surface
    while len(fewer.faces) > most:
        low = surface.vertices.min(axis=0)
        cell = max(float(np.ptp(surface.vertices, axis=0).max()), 1e-12) / cells
        _, first, same = np.unique(
            np.floor((surface.vertices - low) / cell).astype(np.int64), axis=0, return_index=True, return_inverse=True
        )
        faces = same.reshape(-1)[surface.faces].astype(np.int32)
        a, b, c = faces.T
        fewer = Surface(surface.vertices[first], faces[(a != b) & (b != c) & (c != a)])
        cells *= 0.8
    return fewer


def _colour(mj: mujoco.MjModel, geom: int) -> np.ndarray:
    """(4,) the geom's own colour, or that of its material; of a texture, its mean colour."""
    own, material = mj.geom_rgba[geom].astype(float), int(mj.geom_matid[geom])
    if material < 0 or not np.allclose(own, PLAIN):
        return own
    rgba = mj.mat_rgba[material].astype(float)
    texture = next((int(k) for k in np.atleast_1d(mj.mat_texid[material]) if k >= 0), -1)
    if texture >= 0 and mj.tex_nchannel[texture] >= 3:
        first, channels = int(mj.tex_adr[texture]), int(mj.tex_nchannel[texture])
        size = int(mj.tex_height[texture]) * int(mj.tex_width[texture]) * channels
        rgba[:3] *= mj.tex_data[first : first + size].reshape(-1, channels)[:, :3].mean(axis=0) / 255.0
    return rgba
