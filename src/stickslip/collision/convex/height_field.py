"""Height fields as constant arrays, and what a point near them needs to know: cell, triangle, normals of edges.

A height field touches with three kinds of features: triangles, *convex edges* between two triangles (or at the border),
and *peaks*, the vertices that lie above every plane segment through their neighbours. All other edges and vertices are
flat or concave, and nothing convex touches there without touching a triangle. So they are left out when the model is
built, and no contact has the normal of an inner border of cells:

* a direction d belongs to a convex edge if it does not point towards either triangle: d·(w − p) ≤ 0 for the vertices w
  opposite the edge;
* it belongs to a peak p if d·(w − p) ≤ 0 for its neighbours w.

All coordinates are those of the height field's shape, z up.
"""

from __future__ import annotations

from math import floor, sqrt
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from stickslip._jit import kernel
from stickslip.model.shape import Shape
from stickslip.model.terrain import grid_heights

BENT = 1e-6
"""Angle [rad] above which an edge or a peak is convex; flatter ones are seen as flat."""
SAME_PATCH = 1e-3
"""Angle [rad] up to which neighbouring triangles share the name of their contacts."""
AROUND = ((0, 1), (1, 1), (1, 0), (0, -1), (-1, -1), (-1, 0))
"""Neighbours of a vertex, (rows, columns) away, counter-clockwise; those three places apart are opposite."""
EAST, DIAGONAL, NORTH = range(3)
"""Edges of a vertex: to its first three neighbours."""


class Fields(NamedTuple):
    """The height fields of a model; vertex (r, c) of field f is start[f] + r·columns[f] + c."""

    which: np.ndarray
    """(ns,) field of each shape, or −1."""
    start: np.ndarray
    """(nf + 1,) first vertex of each field."""
    rows: np.ndarray
    """(nf,)"""
    columns: np.ndarray
    """(nf,)"""
    frame: np.ndarray
    """(nf, 5) x and y of the first vertex, cell sizes along x and y, depth of the base [m]."""
    height: np.ndarray
    """(nv,) [m]."""
    peak: np.ndarray
    """(nv,) 1 where the vertex is a peak."""
    convex: np.ndarray
    """(nv, 3) 1 where the edge to the east, along the diagonal or to the north is convex."""
    patch: np.ndarray
    """(nv, 2) the flat region of the two triangles of the cell whose first corner is the vertex."""


@kernel
def corner(fields, f, r, c):
    """Vertex (r, c) [m]."""
    F = fields.frame
    return F[f, 0] + c * F[f, 2], F[f, 1] + r * F[f, 3], fields.height[fields.start[f] + r * fields.columns[f] + c]


@kernel
def cells_under(fields, f, x0, x1, y0, y1):
    """(first row, last row, first column, last column) of the cells under a rectangle; first > last: there are none."""
    F, rows, columns = fields.frame, fields.rows[f], fields.columns[f]
    c0, c1 = (x0 - F[f, 0]) / F[f, 2], (x1 - F[f, 0]) / F[f, 2]
    r0, r1 = (y0 - F[f, 1]) / F[f, 3], (y1 - F[f, 1]) / F[f, 3]
    if not (c1 >= 0.0 and r1 >= 0.0 and c0 <= columns - 1.0 and r0 <= rows - 1.0):
        return 1, 0, 1, 0
    return (
        floor(max(r0, 0.0)),
        floor(min(r1, rows - 1.5)),
        floor(max(c0, 0.0)),
        floor(min(c1, columns - 1.5)),
    )


@kernel
def triangle(fields, f, r, c, k):
    """(unit normal, anchor point) of triangle k of cell (r, c): 0 beside the diagonal towards +x, 1 towards +y."""
    F, H = fields.frame, fields.height
    i = fields.start[f] + r * fields.columns[f] + c
    j = i + fields.columns[f]
    if k == 0:
        gx, gy = (H[i + 1] - H[i]) / F[f, 2], (H[j + 1] - H[i + 1]) / F[f, 3]
    else:
        gx, gy = (H[j + 1] - H[j]) / F[f, 2], (H[j] - H[i]) / F[f, 3]
    nz = 1.0 / sqrt(1.0 + gx * gx + gy * gy)
    return -gx * nz, -gy * nz, nz, F[f, 0] + c * F[f, 2], F[f, 1] + r * F[f, 3], H[i]


@kernel
def within(fields, f, r, c, k, x, y, slack):
    """Whether (x, y) lies in a triangle seen from above, or at most ``slack`` [m] beside it."""
    F = fields.frame
    u, v = (x - F[f, 0]) / F[f, 2] - c, (y - F[f, 1]) / F[f, 3] - r
    t = slack / min(F[f, 2], F[f, 3])
    if k == 0:
        return v >= -t and u <= 1.0 + t and u - v >= -2.0 * t
    return u >= -t and v <= 1.0 + t and v - u >= -2.0 * t


@kernel
def locate(fields, f, x, y):
    """(whether (x, y) is over the field, row, column and triangle below it)."""
    F, rows, columns = fields.frame, fields.rows[f], fields.columns[f]
    u, v = (x - F[f, 0]) / F[f, 2], (y - F[f, 1]) / F[f, 3]
    if not (0.0 <= u <= columns - 1.0 and 0.0 <= v <= rows - 1.0):
        return False, 0, 0, 0
    c, r = min(int(u), columns - 2), min(int(v), rows - 2)
    return True, r, c, (0 if u - c >= v - r else 1)


@kernel
def leans(fields, f, r, c, px, py, pz, dx, dy, dz, slack):
    """Whether direction d points from p towards vertex (r, c), by more than the sine ``slack``; if there is no such
    vertex, downwards."""
    if r < 0 or c < 0 or r >= fields.rows[f] or c >= fields.columns[f]:
        return dz < -slack
    x, y, z = corner(fields, f, r, c)
    x, y, z = x - px, y - py, z - pz
    return dx * x + dy * y + dz * z > slack * sqrt(x * x + y * y + z * z)


@kernel
def opposite(e, side):
    """(rows, columns) from an edge's first vertex to the vertex opposite the edge, on its left (0) or right (1)."""
    if e == EAST:
        return (1, 1) if side == 0 else (-1, 0)
    if e == DIAGONAL:
        return (1, 0) if side == 0 else (0, 1)
    return (0, -1) if side == 0 else (1, 1)


@kernel(inline=False)
def edge_has(fields, f, r, c, e, px, py, pz, dx, dy, dz, slack):
    """Whether the unit vector d is a normal of edge e of vertex (r, c), up to ``slack`` [rad]; p is on the edge."""
    for side in range(2):
        i, j = opposite(e, side)
        if leans(fields, f, r + i, c + j, px, py, pz, dx, dy, dz, slack):
            return False
    return dz > 0.0


@kernel(inline=False)
def peak_has(fields, f, r, c, dx, dy, dz, slack):
    """Whether the unit vector d is a normal of peak (r, c), up to ``slack`` [rad]."""
    x, y, z = corner(fields, f, r, c)
    for k in range(6):
        i = 1 if 1 <= k <= 2 else (-1 if k >= 4 else 0)
        j = 1 if k <= 1 else (-1 if 3 <= k <= 4 else 0)
        if leans(fields, f, r + i, c + j, x, y, z, dx, dy, dz, slack):
            return False
    return dz > 0.0


@kernel
def edge_end(e):
    """(rows, columns) from an edge's first vertex to its second."""
    return (0 if e == EAST else 1), (0 if e == NORTH else 1)


@kernel
def has_edge(fields, f, r, c, e):
    """Whether edge e of vertex (r, c) is part of the field, and convex."""
    i, j = edge_end(e)
    if r + i >= fields.rows[f] or c + j >= fields.columns[f]:
        return False
    return fields.convex[fields.start[f] + r * fields.columns[f] + c, e] != 0


# -- building ----------------------------------------------------------------------------------------------------------


def build_fields(shapes: tuple[Shape, ...]) -> Fields:
    """The arrays of all height fields among the shapes."""
    which = np.full(len(shapes), -1, dtype=np.int64)
    parts: list[tuple[np.ndarray, np.ndarray]] = []
    for s, shape in enumerate(shapes):
        if shape.kind == "terrain" and shape.vertices is not None:
            which[s] = len(parts)
            parts.append((grid_heights(shape.vertices), shape.size))
    fields = [(h, 2.0 * size[0] / (h.shape[1] - 1), 2.0 * size[1] / (h.shape[0] - 1), size) for h, size in parts]
    return Fields(
        which=which,
        start=np.cumsum([0, *(h.size for h, *_ in fields)]).astype(np.int64),
        rows=np.array([h.shape[0] for h, *_ in fields], dtype=np.int64),
        columns=np.array([h.shape[1] for h, *_ in fields], dtype=np.int64),
        frame=np.array([[-s[0], -s[1], dx, dy, s[2]] for _, dx, dy, s in fields], dtype=float).reshape(-1, 5),
        height=np.concatenate([np.zeros(0), *(h.ravel() for h, *_ in fields)]),
        peak=np.concatenate([np.zeros(0, dtype=np.uint8), *(peaks(h, dx, dy).ravel() for h, dx, dy, _ in fields)]),
        convex=np.concatenate(
            [np.zeros((0, 3), dtype=np.uint8), *(convex_edges(h, dx, dy).reshape(-1, 3) for h, dx, dy, _ in fields)]
        ),
        patch=np.concatenate(
            [np.zeros((0, 2), dtype=np.int64), *(patches(h, dx, dy).reshape(-1, 2) for h, dx, dy, _ in fields)]
        ),
    )


def shifted(h: np.ndarray, r: int, c: int) -> np.ndarray:
    """The heights of the neighbours (r, c) away; NaN where there is none."""
    padded = np.pad(h, 1, constant_values=np.nan)
    return padded[1 + r : 1 + r + h.shape[0], 1 + c : 1 + c + h.shape[1]]


def peaks(h: np.ndarray, dx: float, dy: float) -> np.ndarray:
    """(rows, columns) 1 where a vertex lies above every segment and triangle between its neighbours around it."""
    around = [shifted(h, r, c) for r, c in AROUND]
    small = BENT * min(dx, dy)
    flat = np.zeros(h.shape, dtype=bool)
    for group in ((0, 3), (1, 4), (2, 5), (0, 2, 4), (1, 3, 5)):
        flat |= sum(around[k] for k in group) - len(group) * h >= -small  # comparisons with NaN are False
    return (~flat).astype(np.uint8)


def slopes(h: np.ndarray, dx: float, dy: float) -> np.ndarray:
    """(rows − 1, columns − 1, 2, 2) the gradient of both triangles of each cell."""
    a, b, c, d = h[:-1, :-1], h[:-1, 1:], h[1:, :-1], h[1:, 1:]
    right = np.stack([(b - a) / dx, (d - b) / dy], axis=-1)
    left = np.stack([(d - c) / dx, (c - a) / dy], axis=-1)
    return np.stack([right, left], axis=2)


def convex_edges(h: np.ndarray, dx: float, dy: float) -> np.ndarray:
    """(rows, columns, 3) 1 where an edge is convex or at the border: the gradients of its triangles differ so."""
    g = slopes(h, dx, dy)
    convex = np.ones((*h.shape, 3), dtype=np.uint8)
    convex[1:-1, :-1, EAST] = g[:-1, :, 1, 1] - g[1:, :, 0, 1] > BENT
    convex[:-1, 1:-1, NORTH] = g[:, :-1, 0, 0] - g[:, 1:, 1, 0] > BENT
    across = (g[:, :, 1] - g[:, :, 0]) @ np.array([dy, -dx]) / np.hypot(dx, dy)  # from the left triangle to the right
    convex[:-1, :-1, DIAGONAL] = across > BENT
    return convex


def patches(h: np.ndarray, dx: float, dy: float) -> np.ndarray:
    """(rows, columns, 2) the first triangle of each triangle's flat region."""
    g = slopes(h, dx, dy)
    rows, columns = g.shape[:2]
    number = np.arange(rows * columns * 2).reshape(rows, columns, 2)
    ends = []
    for one, other in (
        (np.s_[:, :, 0], np.s_[:, :, 1]),
        (np.s_[:-1, :, 1], np.s_[1:, :, 0]),
        (np.s_[:, :-1, 0], np.s_[:, 1:, 1]),
    ):
        same = np.linalg.norm(g[one] - g[other], axis=-1) <= SAME_PATCH
        ends.append(np.stack([number[one][same], number[other][same]]))
    i, j = np.concatenate(ends, axis=1)
    _, label = connected_components(coo_matrix((np.ones(len(i)), (i, j)), shape=(number.size,) * 2), directed=False)
    _, first = np.unique(label, return_index=True)
    out = np.zeros((*h.shape, 2), dtype=np.int64)
    out[:-1, :-1] = first[label].reshape(rows, columns, 2)
    return out
