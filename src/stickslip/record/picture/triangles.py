"""Surfaces of triangles in a picture: each triangle is met by the rays through the pixels that it covers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from stickslip.record.appearance import Surface
from stickslip.record.picture.camera import Box, View

SHARP = np.radians(30.0)
"""Angle between faces above which an edge is sharp."""
BLOCK = 2_000_000
"""Pairs of a triangle and a pixel that are looked at at once, which bounds the memory."""


class Smooth(NamedTuple):
    """Triangles with a normal at each vertex; vertices at sharp edges are there once for each side."""

    vertices: np.ndarray
    """(n, 3) [m]."""
    faces: np.ndarray
    """(m, 3)."""
    normals: np.ndarray
    """(n, 3)."""


def smooth(surface: Surface) -> Smooth:
    """The surface with normals for smooth shading that keeps sharp edges sharp."""
    from trimesh import Trimesh

    return shaded(Trimesh(surface.vertices, surface.faces))


def shaded(mesh: Any) -> Smooth:
    """Duplicate the vertices of sharp edges of a Trimesh."""
    from trimesh.graph import smooth_shade

    split = smooth_shade(mesh, angle=SHARP, facet_minarea=None)
    return Smooth(np.asarray(split.vertices), np.asarray(split.faces), np.asarray(split.vertex_normals))


def meet_triangles(
    view: View, box: Box, x: np.ndarray, y: np.ndarray, mesh: Smooth, pos: np.ndarray, rot: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Depths (m,), ∞ where nothing is met, and world normals (m, 3) towards the eye, of rays through the places x and y
    (m,) of a box of pixels."""
    depth, normal = np.full(len(x), np.inf, dtype=np.float32), np.zeros((len(x), 3), dtype=np.float32)
    seen = (mesh.vertices @ rot.T + (pos - view.eye)) @ view.axes.T
    z = seen[:, 2]
    scale = view.pixel * (np.ones_like(z) if view.parallel else np.where(z > 0.0, z, np.nan))
    place = np.stack([seen[:, 0] / scale + view.width / 2, view.height / 2 - seen[:, 1] / scale], axis=1)
    faces = mesh.faces[np.isfinite(place[mesh.faces]).all(axis=(1, 2))]
    top, bottom, left, right = box
    low = np.floor(place[faces].min(axis=1)).clip((left, top), (right, bottom)).astype(np.int64)
    high = np.floor(place[faces].max(axis=1)).clip((left - 1, top - 1), (right - 1, bottom - 1)).astype(np.int64)
    wide = np.maximum(high - low + 1, 0)
    pairs = wide.prod(axis=1)
    # The rays of each pixel, one after another.
    width = right - left
    cell = (np.floor(y).astype(np.int64) - top) * width + np.floor(x).astype(np.int64) - left
    order = np.argsort(cell, kind="stable")
    start = np.searchsorted(cell[order], np.arange((bottom - top) * width + 1))
    ends = np.cumsum(pairs)
    first = 0
    while first < len(faces):
        done = ends[first - 1] if first else 0
        stop = max(first + 1, int(np.searchsorted(ends, done + BLOCK, side="right")))
        part = np.repeat(np.arange(first, stop), pairs[first:stop])
        local = np.arange(len(part)) - np.repeat(ends[first:stop] - pairs[first:stop] - done, pairs[first:stop])
        pixel = (low[part, 1] + local // wide[part, 0] - top) * width + low[part, 0] + local % wide[part, 0] - left
        count = start[pixel + 1] - start[pixel]
        face = np.repeat(part, count)
        ray = order[np.repeat(start[pixel] - np.cumsum(count) + count, count) + np.arange(len(face))]
        _meet(depth, normal, x, y, ray, faces[face], place, z, mesh.normals @ rot.T, view.parallel)
        first = stop
    hit = np.flatnonzero(np.isfinite(depth))
    direction = np.broadcast_to(view.rays(x, y)[1], normal.shape)[hit]
    away = np.einsum("ij,ij->i", normal[hit], direction) > 0.0
    normal[hit[away]] *= -1.0
    return depth, normal


def _meet(
    depth: np.ndarray, normal: np.ndarray, x: np.ndarray, y: np.ndarray, ray: np.ndarray, corners: np.ndarray,
    place: np.ndarray, z: np.ndarray, normals: np.ndarray, parallel: bool,
) -> None:  # fmt: skip
    """Keep the nearest of the triangles with these corners (k, 3) on the rays (k,)."""
    point = np.stack([x[ray], y[ray]], axis=1)
    a, b, c = (place[corners[:, k]] - point for k in range(3))
    share = np.stack([_cross(b, c), _cross(c, a), _cross(a, b)], axis=1)
    area = share.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        share /= area[:, None]
    within = np.flatnonzero((share >= -1e-6).all(axis=1) & (area != 0.0))
    ray, corners, share = ray[within], corners[within], share[within]
    if parallel:
        at = np.einsum("ij,ij->i", share, z[corners])
    else:  # shares in the picture become shares in space
        share = share / z[corners]
        at = 1.0 / share.sum(axis=1)
        share *= at[:, None]
    nearer = np.flatnonzero((at < depth[ray]) & (at > 0.0))
    nearer = nearer[np.argsort(-at[nearer], kind="stable")]  # of several on one ray, the last assignment stays
    ray, at = ray[nearer], at[nearer]
    depth[ray] = at
    mean = np.einsum("ij,ijk->ik", share[nearer], normals[corners[nearer]])
    normal[ray] = mean / np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-12)


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
