"""Convex polyhedra (all boxes and meshes) as constant arrays: vertices, faces, edges and their neighbours.

A polyhedron is {x : nᵢ·x ≤ dᵢ for every face i} with outward unit normals nᵢ. Qhull's triangles that are coplanar to
``FLAT`` of the size are merged into one polygon, and vertices inside a face or an edge are dropped. Polygons run
counter-clockwise seen from outside. The first face of an edge (a, b) is the one on its left, in which it runs from a to
b; the second is the one on its right.

All polyhedra of a model share the arrays: polyhedron s owns the entries start[s] … start[s + 1] − 1, and every index
refers to the shared arrays.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from scipy.spatial import ConvexHull

from stickslip.model.mesh import FLAT, hull_of, size_of
from stickslip.model.shape import Shape

BOX_FACES = ((4, 6, 7, 5), (0, 1, 3, 2), (2, 3, 7, 6), (0, 4, 5, 1), (1, 5, 7, 3), (0, 2, 6, 4))
"""Faces of a box, as indices of the corners ``itertools.product((-1, 1), repeat=3)``."""


class Polyhedra(NamedTuple):
    """np polyhedra; nv vertices, nf faces in all. Points and normals are in the frame of the shape's link."""

    link: np.ndarray
    """(np,) link that carries the polyhedron."""
    center: np.ndarray
    """(np, 3) centre of a bounding ball: the middle of the bounding box [m]."""
    radius: np.ndarray
    """(np,) radius of that ball [m]."""
    vertex_start: np.ndarray
    """(np + 1,) first vertex of each polyhedron."""
    face_start: np.ndarray
    """(np + 1,) first face."""
    edge_start: np.ndarray
    """(np + 1,) first edge."""
    vertex: np.ndarray
    """(nv, 3) [m]."""
    normal: np.ndarray
    """(nf, 3) outward unit normals."""
    offset: np.ndarray
    """(nf,) the face is n·x = offset [m]; all vertices have n·x ≤ offset."""
    loop_start: np.ndarray
    """(nf + 1,) face f has the vertices loop[loop_start[f]] … loop[loop_start[f + 1] − 1]."""
    loop: np.ndarray
    """(2·ne,) counter-clockwise seen from outside."""


class Neighbours(NamedTuple):
    """Edges, and the faces and edges that meet at edges and vertices."""

    edge: np.ndarray
    """(ne, 2) vertices a, b."""
    edge_face: np.ndarray
    """(ne, 2) the face on the left of a → b, seen from outside, and the one on its right."""
    edge_axis: np.ndarray
    """(ne, 3) unit vector from a to b [link frame]."""
    edge_length: np.ndarray
    """(ne,) [m]."""
    vertex_face_start: np.ndarray
    """(nv + 1,) first entry of each vertex in ``vertex_face``."""
    vertex_face: np.ndarray
    """The faces around each vertex."""
    vertex_edge_start: np.ndarray
    """(nv + 1,) first entry of each vertex in ``vertex_edge``."""
    vertex_edge: np.ndarray
    """The edges that end at each vertex."""


class Faces(NamedTuple):
    """The faces of one polyhedron: face f has the vertices loop[start[f]] … loop[start[f + 1] − 1]."""

    start: np.ndarray
    loop: np.ndarray


def build_polyhedra(shapes: tuple[Shape, ...]) -> tuple[Polyhedra, Neighbours, np.ndarray]:
    """The arrays of all boxes and meshes that can touch anything; and (len(shapes),) each shape's polyhedron, or −1."""
    which = np.full(len(shapes), -1, dtype=np.int64)
    links: list[int] = []
    parts: list[tuple[np.ndarray, Faces]] = []
    known: dict[bytes, tuple[np.ndarray, Faces]] = {}
    for s, shape in enumerate(shapes):
        if shape.kind in ("box", "mesh") and shape.solid:
            which[s] = len(links)
            links.append(shape.link)
            vertices, faces = polyhedron(shape, known)
            parts.append((shape.pos + vertices @ shape.rot.T, faces))
    return *assemble(links, parts), which


def polyhedron(shape: Shape, known: dict[bytes, tuple[np.ndarray, Faces]]) -> tuple[np.ndarray, Faces]:
    """Vertices (n, 3) [m, shape frame] and the faces over them; equal meshes are worked out once."""
    if shape.kind == "box":
        corners = np.array(list(itertools.product((-1, 1), repeat=3))) * shape.size
        return corners, Faces(np.arange(0, 25, 4), np.array(BOX_FACES).ravel())
    assert shape.vertices is not None
    key = shape.vertices.tobytes()
    if key not in known:
        known[key] = polygons(shape.vertices, hull_of(shape.vertices, f"mesh of shape {shape.name!r}"))
    return known[key]


def polygons(points: np.ndarray, hull: ConvexHull) -> tuple[np.ndarray, Faces]:
    """The corners of the convex hull of points (n, 3), and its faces as polygons of them."""
    triangles = outward(points, hull.simplices, hull.equations[:, :3])
    region = coplanar(points, triangles, hull.neighbors, FLAT * size_of(points))
    tail, head = triangles.ravel(), np.roll(triangles, -1, axis=1).ravel()
    face, n = np.repeat(region, 3), len(points)
    forward, backward = np.argsort(tail * n + head), np.argsort(head * n + tail)
    twin = np.empty_like(forward)
    twin[forward] = backward
    border = face != face[twin]  # edges inside of a face are dropped
    tail, head, face = tail[border], head[border], face[border]
    corner = np.bincount(tail, minlength=n) > 2  # a vertex of two faces lies within an edge
    after = dict(zip(zip(face.tolist(), tail.tolist(), strict=True), head.tolist(), strict=True))
    _, firsts = np.unique(face, return_index=True)
    sizes, loop = [], []
    for f, begin in zip(face[firsts].tolist(), tail[firsts].tolist(), strict=True):
        ring, v = [begin], after[f, begin]
        while v != begin:
            ring.append(v)
            v = after[f, v]
        ring = [v for v in ring if corner[v]]
        if len(ring) > 2:  # else the face has no area, and its neighbours meet in the edge that is left of it
            sizes.append(len(ring))
            loop += ring
    number = np.cumsum(corner) - 1
    return points[corner], Faces(starts(sizes), number[np.array(loop, dtype=np.int64)])


def outward(points: np.ndarray, triangles: np.ndarray, normals: np.ndarray) -> np.ndarray:
    """The triangles (n, 3) with their vertices in counter-clockwise order as seen from outside."""
    a, b, c = (points[triangles[:, i]] for i in range(3))
    wrong = np.einsum("ij,ij->i", np.cross(b - a, c - a), normals) < 0.0
    turned = triangles.astype(np.int64)
    turned[wrong] = turned[wrong][:, [0, 2, 1]]
    return turned


def coplanar(points: np.ndarray, triangles: np.ndarray, neighbours: np.ndarray, tolerance: float) -> np.ndarray:
    """(n,) the face of each triangle. A face grows from its largest triangle, whose plane is the most accurate."""
    a, b, c = (points[triangles[:, i]] for i in range(3))
    normal = np.cross(b - a, c - a)
    area = np.linalg.norm(normal, axis=1)
    unit = normal / np.maximum(area, 1e-300)[:, None]
    reach = np.einsum("tkij,tj->tki", points[triangles[neighbours]] - a[:, None, None], unit)
    lonely = (np.abs(reach).max(axis=2) > tolerance).all(axis=1) & (area > 0.0)
    lonely &= ~np.isin(np.arange(len(triangles)), neighbours[~lonely])  # a larger neighbour may still take it in
    region = np.where(lonely, np.arange(len(triangles)), -1)
    for seed in np.argsort(-area, kind="stable"):
        if region[seed] >= 0 or area[seed] == 0.0:
            continue
        n, grown = unit[seed], [seed]
        region[seed] = seed
        while grown:
            for t in neighbours[grown.pop()]:
                flat = np.abs((points[triangles[t]] - a[seed]) @ n).max() <= tolerance
                if region[t] < 0 and flat and normal[t] @ n >= 0.0:
                    region[t] = seed
                    grown.append(t)
    while (region < 0).any():  # triangles without area belong to the largest face beside them
        left = np.flatnonzero(region < 0)
        beside = neighbours[left]
        chosen = np.where(region[beside] >= 0, area[beside], -1.0).argmax(axis=1)
        region[left] = region[beside[np.arange(len(left)), chosen]]
    return region


def assemble(links: list[int], parts: list[tuple[np.ndarray, Faces]]) -> tuple[Polyhedra, Neighbours]:
    """The shared arrays of polyhedra given by vertices [link frame] and faces."""
    vertex = np.concatenate([np.zeros((0, 3)), *(points for points, _ in parts)])
    vertex_start = starts([len(points) for points, _ in parts])
    face_start = starts([len(faces.start) - 1 for _, faces in parts])
    sizes = np.concatenate([np.zeros(0, dtype=np.int64), *(np.diff(faces.start) for _, faces in parts)])
    loop_start = starts(sizes)
    loop = np.concatenate(
        [np.zeros(0, dtype=np.int64)]
        + [faces.loop + first for (_, faces), first in zip(parts, vertex_start, strict=False)]
    )
    face = np.repeat(np.arange(len(sizes)), sizes)
    last = np.arange(len(loop)) == loop_start[face + 1] - 1
    following = np.where(last, loop_start[face], np.arange(len(loop)) + 1)  # the next place around the face
    after = loop[following]
    normal = unit_normals(vertex, loop, after, loop_start, face)
    forward, backward = np.lexsort((after, loop)), np.lexsort((loop, after))
    twin = np.empty_like(forward)
    twin[forward] = backward
    once = np.flatnonzero(loop < after)
    edge = np.stack([loop[once], after[once]], axis=1)
    edge_face = np.stack([face[once], face[twin[once]]], axis=1)
    along = vertex[edge[:, 1]] - vertex[edge[:, 0]]
    length = np.linalg.norm(along, axis=1)
    lows = [points.min(axis=0) for points, _ in parts]
    highs = [points.max(axis=0) for points, _ in parts]
    center = (np.array(lows).reshape(-1, 3) + np.array(highs).reshape(-1, 3)) / 2
    radius = [float(np.linalg.norm(points - c, axis=1).max()) for (points, _), c in zip(parts, center, strict=True)]
    owner = np.repeat(np.arange(len(parts)), np.diff(face_start))
    vertex_face_start, vertex_face = grouped(loop, face, len(vertex))
    numbers = np.arange(len(edge))
    vertex_edge_start, vertex_edge = grouped(edge.ravel(), np.repeat(numbers, 2), len(vertex))
    bodies = Polyhedra(
        link=np.array(links, dtype=np.int64),
        center=center,
        radius=np.array(radius, dtype=float),
        vertex_start=vertex_start,
        face_start=face_start,
        edge_start=starts(np.bincount(owner[edge_face[:, 0]], minlength=len(parts))),
        vertex=vertex,
        normal=normal,
        offset=offsets(vertex, normal, loop, loop[following[following[twin]]], face, len(sizes)),
        loop_start=loop_start,
        loop=loop,
    )
    return bodies, Neighbours(
        edge=edge,
        edge_face=edge_face,
        edge_axis=along / length[:, None],
        edge_length=length,
        vertex_face_start=vertex_face_start,
        vertex_face=vertex_face,
        vertex_edge_start=vertex_edge_start,
        vertex_edge=vertex_edge,
    )


def unit_normals(vertex, loop, after, loop_start, face) -> np.ndarray:
    """(nf, 3) outward unit normals of polygons: half the sum of the cross products of their edges is their area."""
    if not len(loop):
        return np.zeros((0, 3))
    origin = vertex[loop[loop_start[:-1]]][face]
    area = np.add.reduceat(np.cross(vertex[loop] - origin, vertex[after] - origin), loop_start[:-1], axis=0)
    return area / np.linalg.norm(area, axis=1)[:, None]


def offsets(vertex, normal, loop, beside, face, faces: int) -> np.ndarray:
    """(nf,) the largest n·x of each face's corners and of the corners ``beside`` it, so that none is outside."""
    level = np.full(faces, -np.inf)
    for corner in (loop, beside):
        np.maximum.at(level, face, np.einsum("ij,ij->i", vertex[corner], normal[face]))
    return level


def starts(sizes) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def grouped(keys: np.ndarray, values: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Group values by their keys 0 … number − 1: (start of each key's values, all values)."""
    order = np.lexsort((values, keys))
    return starts(np.bincount(keys, minlength=number)), values[order].astype(np.int64)
