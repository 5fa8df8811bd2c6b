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


def build_polyhedra(shapes: tuple[Shape, ...]) -> tuple[Polyhedra, Neighbours, np.ndarray]:
    """The arrays of all boxes and meshes that can touch anything; and (len(shapes),) each shape's polyhedron, or −1."""
    which = np.full(len(shapes), -1, dtype=np.int64)
    links: list[int] = []
    parts: list[tuple[np.ndarray, list[list[int]]]] = []
    for s, shape in enumerate(shapes):
        if shape.kind in ("box", "mesh") and (shape.group or shape.mask):
            which[s] = len(links)
            links.append(shape.link)
            vertices, faces = polyhedron(shape)
            parts.append((shape.pos + vertices @ shape.rot.T, faces))
    return *assemble(links, parts), which


def polyhedron(shape: Shape) -> tuple[np.ndarray, list[list[int]]]:
    """Vertices (n, 3) [m, shape frame] and the polygons over them."""
    if shape.kind == "box":
        corners = np.array(list(itertools.product((-1, 1), repeat=3))) * shape.size
        return corners, [list(face) for face in BOX_FACES]
    assert shape.vertices is not None
    hull = hull_of(shape.vertices, f"mesh of shape {shape.name!r}")
    return polygons(shape.vertices, hull)


def polygons(points: np.ndarray, hull: ConvexHull) -> tuple[np.ndarray, list[list[int]]]:
    """The corners of the convex hull of points (n, 3), and its faces as polygons of them."""
    size = size_of(points)
    triangles = outward(points, hull.simplices, hull.equations[:, :3])
    region = coplanar(points, triangles, hull.neighbors, FLAT * size)
    border: dict[tuple[int, int], int] = {}
    for triangle, face in zip(triangles, region, strict=True):
        for i in range(3):
            border[int(triangle[i]), int(triangle[(i + 1) % 3])] = int(face)
    inner = [(a, b) for (a, b), face in border.items() if border.get((b, a)) == face]
    for edge in inner:
        del border[edge]
    loops: dict[int, dict[int, int]] = {}
    for (a, b), face in border.items():
        loops.setdefault(face, {})[a] = b
    faces_at: dict[int, int] = {}
    for following in loops.values():
        for a in following:
            faces_at[a] = faces_at.get(a, 0) + 1
    corners = sorted(a for a, number in faces_at.items() if number > 2)  # a vertex of two faces lies within an edge
    place = {a: i for i, a in enumerate(corners)}
    faces = []
    for following in loops.values():
        a = next(iter(following))
        ring = [a]
        while following[ring[-1]] != a and len(ring) <= len(following):
            ring.append(following[ring[-1]])
        faces.append([place[b] for b in ring if b in place])
    return points[corners], faces


def outward(points: np.ndarray, triangles: np.ndarray, normals: np.ndarray) -> np.ndarray:
    """The triangles (n, 3) with their vertices in counter-clockwise order as seen from outside."""
    a, b, c = (points[triangles[:, i]] for i in range(3))
    wrong = np.einsum("ij,ij->i", np.cross(b - a, c - a), normals) < 0.0
    turned = triangles.copy()
    turned[wrong] = turned[wrong][:, [0, 2, 1]]
    return turned


def coplanar(points: np.ndarray, triangles: np.ndarray, neighbours: np.ndarray, tolerance: float) -> np.ndarray:
    """(n,) the face of each triangle. A face grows from its largest triangle, whose plane is the most accurate."""
    a, b, c = (points[triangles[:, i]] for i in range(3))
    normal = np.cross(b - a, c - a)
    area = np.linalg.norm(normal, axis=1)
    region = np.full(len(triangles), -1, dtype=np.int64)
    for face, seed in enumerate(np.argsort(-area, kind="stable")):
        if region[seed] >= 0 or area[seed] == 0.0:
            continue
        n, grown = normal[seed] / area[seed], [seed]
        region[seed] = face
        while grown:
            for t in neighbours[grown.pop()]:
                flat = np.abs((points[triangles[t]] - a[seed]) @ n).max() <= tolerance
                if region[t] < 0 and flat and normal[t] @ n >= 0.0:
                    region[t] = face
                    grown.append(t)
    return region


def assemble(links: list[int], parts: list[tuple[np.ndarray, list[list[int]]]]) -> tuple[Polyhedra, Neighbours]:
    """The shared arrays of polyhedra given by vertices [link frame] and faces."""
    vertex = np.concatenate([np.zeros((0, 3)), *(points for points, _ in parts)])
    vertex_start = starts([len(points) for points, _ in parts])
    loops = [
        [v + first for v in loop] for (_, faces), first in zip(parts, vertex_start, strict=False) for loop in faces
    ]
    face_start = starts([len(faces) for _, faces in parts])
    normal, offset = np.zeros((len(loops), 3)), np.zeros(len(loops))
    edges: dict[tuple[int, int], int] = {}
    owner = np.repeat(np.arange(len(parts)), np.diff(face_start))
    for f, loop in enumerate(loops):
        corners = vertex[loop] - vertex[loop[0]]
        area = np.cross(corners, np.roll(corners, -1, axis=0)).sum(axis=0)
        normal[f] = area / np.linalg.norm(area)
        body = vertex[vertex_start[owner[f]] : vertex_start[owner[f] + 1]]
        offset[f] = (body @ normal[f]).max()  # over all vertices, so that round-off leaves none outside
        for a, b in zip(loop, loop[1:] + loop[:1], strict=True):
            edges[a, b] = f
    pairs = [(a, b) for a, b in edges if a < b]
    edge = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    edge_face = np.array([(edges[a, b], edges[b, a]) for a, b in pairs], dtype=np.int64).reshape(-1, 2)
    along = vertex[edge[:, 1]] - vertex[edge[:, 0]]
    length = np.linalg.norm(along, axis=1)
    lows = [points.min(axis=0) for points, _ in parts]
    highs = [points.max(axis=0) for points, _ in parts]
    center = (np.array(lows).reshape(-1, 3) + np.array(highs).reshape(-1, 3)) / 2
    radius = [float(np.linalg.norm(points - c, axis=1).max()) for (points, _), c in zip(parts, center, strict=True)]
    edges_of = np.bincount(owner[edge_face[:, 0]], minlength=len(parts))
    vertex_face_start, vertex_face = grouped([[(v, f) for v in loop] for f, loop in enumerate(loops)], len(vertex))
    vertex_edge_start, vertex_edge = grouped([[(v, e) for v in pair] for e, pair in enumerate(pairs)], len(vertex))
    bodies = Polyhedra(
        link=np.array(links, dtype=np.int64),
        center=center,
        radius=np.array(radius, dtype=float),
        vertex_start=vertex_start,
        face_start=face_start,
        edge_start=starts(edges_of),
        vertex=vertex,
        normal=normal,
        offset=offset,
        loop_start=starts([len(loop) for loop in loops]),
        loop=np.array([v for loop in loops for v in loop], dtype=np.int64),
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


def starts(sizes) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def grouped(entries: list[list[tuple[int, int]]], keys: int) -> tuple[np.ndarray, np.ndarray]:
    """Group (key, value) pairs by key: (start of each key's values, all values)."""
    flat = sorted(pair for row in entries for pair in row)
    sizes = np.bincount([key for key, _ in flat], minlength=keys) if flat else np.zeros(keys)
    return starts(sizes), np.array([value for _, value in flat], dtype=np.int64)
