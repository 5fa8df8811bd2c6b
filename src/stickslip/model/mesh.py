"""Convexity of meshes: how far a mesh is from convex, and its decomposition into convex parts.

A mesh of several disconnected convex pieces is split into these. Any other mesh is decomposed by
CoACD (Wei et al., *Approximate Convex Decomposition for 3D Meshes with Collision-Aware Concavity*, SIGGRAPH 2022), an
optional package.
"""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import ConvexHull, QhullError

from stickslip.errors import ModelError, expected, unknown
from stickslip.model.importers.meshes import read_with_trimesh

FLAT = 1e-6
"""A mesh thinner than this, relative to its size, has no volume."""
FARTHEST = 1e30
"""[m] of a vertex from the origin; MuJoCo keeps meshes in single precision."""
LEAST_VOLUME = 1e-15
"""[m³] of a mesh that MuJoCo can find the inertia of."""
HOLLOW = 1e-3
"""A mesh whose surface lies deeper than this below its hull, relative to its size, is not convex."""
MOST_DISTANCES, DISTANCES_AT_ONCE = 2 * 10**8, 10**7
"""Distances of places from planes that are computed for ``hollow``, which takes some seconds, and held at a time."""
CONCAVITY = 0.05
"""CoACD's threshold: largest concavity of a part, relative to the size of the mesh."""
CHOICES = ("hull", "decompose", "refuse")


def size_of(points: np.ndarray) -> float:
    return float(np.ptp(points, axis=0).max())


def is_flat(points: np.ndarray) -> bool:
    """Whether points (n, 3) lie in a plane, up to ``FLAT`` times their size."""
    if len(points) < 4:
        return True
    thinnest = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)[2][-1]
    return bool(np.ptp(points @ thinnest) <= FLAT * size_of(points))


def hull_of(points: np.ndarray, where: str) -> ConvexHull:
    """The convex hull; raises an error if it has no volume, or if a vertex is not a finite place."""
    fine = (np.abs(points) <= FARTHEST).all(axis=1)
    if not fine.all():
        bad = int(np.argmin(fine))
        wanted = f"finite vertices, at most {FARTHEST:g} m from the origin"
        raise ModelError(f"{where}: expected {wanted}, got {points[bad].tolist()} as vertex {bad}; correct it")
    try:
        if not is_flat(points):
            return ConvexHull(points)
    except QhullError:
        pass
    raise ModelError(
        f"{where}: all vertices lie in a plane, it has no volume; give it thickness, or use a box"
    ) from None


def check_volume(hull: ConvexHull, where: str) -> None:
    """Refuse a mesh that is too small for MuJoCo."""
    if hull.volume < LEAST_VOLUME:
        raise ModelError(
            f"{where}: expected a volume of at least {LEAST_VOLUME:g} m³, as MuJoCo does, got {hull.volume:.1e} m³; "
            "give the vertices in metres, or use a box"
        )


def simplified(corners: np.ndarray, distance: float) -> np.ndarray:
    """Some of a hull's corners (n, 3), in their order, such that none of the others is farther than ``distance`` [m]
    beyond the plane of any face of their hull.

    It begins with the corners that are extreme along the axes and diagonals. Every round adds the farthest corner
    beyond each face.
    """
    if distance <= 0.0 or len(corners) <= 4:
        return corners
    signs = np.array(list(itertools.product((-1, 0, 1), repeat=3)), dtype=float)
    kept = np.unique((corners @ signs.T).argmax(axis=0))
    while len(kept) < len(corners):
        try:
            planes = ConvexHull(corners[kept]).equations
        except QhullError:  # these corners still lie in a plane
            away = corners - corners[kept].mean(axis=0)
            thinnest = np.linalg.svd(away[kept], full_matrices=False)[2][-1]
            kept = np.unique([*kept, (away @ thinnest).argmax(), (away @ thinnest).argmin()])
            continue
        outside = corners @ planes[:, :3].T + planes[:, 3]
        beyond = outside.max(axis=0) > distance
        if not beyond.any():
            break
        kept = np.union1d(kept, outside[:, beyond].argmax(axis=0))
    return corners[kept]


def hollow(points: np.ndarray, faces: np.ndarray, where: str) -> float:
    """Greatest depth of the triangles' corners and centres below their convex hull, relative to their size. Of very
    many triangles, an even share is looked at."""
    corners = points[np.unique(faces)]
    planes = hull_of(corners, where).equations
    surface = np.concatenate([corners, points[faces].mean(axis=1)])
    surface = surface[:: 1 + len(surface) * len(planes) // MOST_DISTANCES]
    deepest = 0.0
    for some in np.array_split(surface, 1 + len(surface) * len(planes) // DISTANCES_AT_ONCE):
        deepest = max(deepest, float(-(some @ planes[:, :3].T + planes[:, 3]).max(axis=1).min(initial=np.inf)))
    return deepest / size_of(corners)


def triangles(faces, vertices: np.ndarray) -> np.ndarray:
    """Check triangles (m, 3) and return them as an array."""
    array = np.asarray(faces)
    whole = array.ndim == 2 and array.shape[1] == 3 and len(array) > 0 and np.issubdtype(array.dtype, np.integer)
    if not whole or array.min() < 0 or array.max() >= len(vertices):
        raise expected("faces", f"triangles (m, 3) of whole numbers from 0 to {len(vertices) - 1}", faces)
    return array


def file_of(path: str | Path) -> Path:
    path = Path(path)
    if not os.path.isfile(path):
        raise ModelError(f"mesh file {str(path)!r} does not exist; give a path to an .stl or .obj file")
    return path


def read_mesh(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3) [m] and triangles (m, 3) of a file."""
    return read_with_trimesh(path, "add_mesh")


def check_choice(convex: str | None) -> None:
    if convex is not None and convex not in CHOICES:
        raise unknown("value of convex", str(convex), CHOICES)


def convex_parts(points: np.ndarray, faces: np.ndarray, where: str) -> list[np.ndarray]:
    """The vertices of convex parts that make up the mesh."""
    parts = []
    for piece in pieces(points, faces):
        if hollow(points, piece, where) <= HOLLOW:
            parts.append(points[np.unique(piece)])
        else:
            parts += decomposed(points, piece, where)
    return parts


def pieces(points: np.ndarray, faces: np.ndarray) -> list[np.ndarray]:
    """The triangles of each connected piece; vertices at the same place count as one."""
    _, same = np.unique(np.round(points / (FLAT * size_of(points))), axis=0, return_inverse=True)
    welded = same.reshape(-1)[faces]
    links = np.concatenate([welded[:, [0, 1]], welded[:, [1, 2]]])
    n = int(welded.max()) + 1
    _, label = connected_components(coo_matrix((np.ones(len(links)), (links[:, 0], links[:, 1])), shape=(n, n)))
    owner = label[welded[:, 0]]
    return [faces[owner == piece] for piece in np.unique(owner)]


def decomposed(points: np.ndarray, faces: np.ndarray, where: str) -> list[np.ndarray]:
    """The convex parts that CoACD finds."""
    try:
        import coacd
    except ImportError:
        raise ModelError(
            f"{where}: splitting it into convex parts needs CoACD; `pip install coacd`, or add convex meshes, "
            'or take the hull with convex="hull"'
        ) from None
    coacd.set_log_level("error")
    used, local = np.unique(faces, return_inverse=True)
    found = coacd.run_coacd(coacd.Mesh(points[used], local.reshape(-1, 3)), threshold=CONCAVITY)
    parts = [np.asarray(vertices, dtype=float) for vertices, _ in found]
    return [part for part in parts if not is_flat(part)]
