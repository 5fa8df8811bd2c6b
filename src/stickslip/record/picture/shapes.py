"""Recorded shapes as solids for ray casting: pose on the link, intersection function, bounding ball and colour."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from stickslip.record.appearance import PLAIN
from stickslip.record.header import Header
from stickslip.record.picture.solids import Meet, capsule, convex, cylinder, ellipsoid, plane, sphere, terrain
from stickslip.record.picture.triangles import Smooth, smooth

PALETTE = ("#4878a8", "#e08a3c", "#5b9f6b", "#c9584f", "#8a70b3", "#94745f", "#d58bb8", "#8c8c8c", "#b9b03c", "#4fb0bd")
"""Colours of links whose shapes have no colour of their own."""
FIXED = (0.59, 0.6, 0.63)
"""Colour of fixed shapes without a colour of their own."""
POINT = 0.008
"""[m] radius with which contact points are drawn."""
INVISIBLE = 0.02
"""Opacity below which nothing is drawn."""
DIRECTIONS = 160
"""Number of directions in which the outermost vertex of a mesh is kept; larger hulls are drawn slightly too small."""


@dataclass(frozen=True, eq=False)
class Solid:
    """A shape on a link."""

    meet: Meet
    link: int
    pos: np.ndarray
    """(3,) in the link's frame [m]."""
    rot: np.ndarray
    """(3, 3) in the link's frame."""
    radius: float
    """Radius of a ball about ``pos`` that contains the shape [m]; ∞ for a plane."""
    colour: np.ndarray
    """(3,) 0 … 1, linear."""
    moves: bool = False
    """Whether it moves in the frame of its link."""
    mesh: Smooth | None = None
    """The triangles of a mesh, which rays meet instead of ``meet``."""

    @property
    def floor(self) -> bool:
        return not np.isfinite(self.radius)


def solids_of(header: Header) -> list[Solid]:
    """The solids of all visible shapes, without those that are for collisions only; meshes are as they look."""
    found = []
    meshes: dict[int | None, Smooth] = {mesh: smooth(surface) for mesh, surface in header.surfaces.items()}
    for index, shape in enumerate(header.shapes):
        if shape["rgba"][3] <= INVISIBLE or shape.get("hidden"):
            continue
        pos, rot = np.array(shape["pos"], dtype=float), np.array(shape["rot"], dtype=float)
        mesh = meshes.get(shape.get("surface"))
        if mesh is not None:
            reach = float(np.linalg.norm(mesh.vertices, axis=1).max(initial=0.0))
            found.append(Solid(plane, int(shape["link"]), pos, rot, reach, linear(colour_of(shape)), mesh=mesh))
            continue
        made = _meet(shape, header.vertices.get(index))
        if made is not None:
            meet, radius = made
            found.append(Solid(meet, int(shape["link"]), pos, rot, radius, linear(colour_of(shape))))
    return found


def rod(start: np.ndarray, end: np.ndarray, radius: float, colour: Any = PLAIN) -> Solid:
    """A round rod between two different points in world axes [m]."""
    way = end - start
    length = float(np.linalg.norm(way))
    axis = way / length
    x = np.cross(np.eye(3)[np.argmin(np.abs(axis))], axis)
    x /= np.linalg.norm(x)
    turn, half = np.stack([x, np.cross(axis, x), axis], axis=1), 0.5 * length
    return Solid(
        partial(capsule, radius=radius, half=half), 0, 0.5 * (start + end), turn, half + radius, linear(colour)
    )


def link_frames(pose: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Convert poses (nl, 7) to positions (nl, 3) and rotations (nl, 3, 3)."""
    w, x, y, z = (pose[:, 3:] / np.linalg.norm(pose[:, 3:], axis=1, keepdims=True)).T
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    return pose[:, :3], np.moveaxis(np.array(rows), 2, 0)


def linear(colour: Any) -> np.ndarray:
    """Convert an sRGB colour, "#rrggbb" or (3,), to linear intensities."""
    if isinstance(colour, str):
        colour = [int(colour[k : k + 2], 16) / 255.0 for k in (1, 3, 5)]
    return np.array(colour[:3], dtype=float) ** 2.2


def colour_of(shape: dict[str, Any]) -> tuple[float, float, float]:
    """The sRGB colour of a shape, 0 … 1: its own, or one of ``PALETTE`` by its link."""
    if not np.allclose(shape["rgba"], PLAIN, atol=1e-3):
        red, green, blue = (float(value) for value in shape["rgba"][:3])
        return red, green, blue
    if not shape["link"]:
        return FIXED
    text = PALETTE[(shape["link"] - 1) % len(PALETTE)]
    return int(text[1:3], 16) / 255, int(text[3:5], 16) / 255, int(text[5:7], 16) / 255


def _meet(shape: dict[str, Any], vertices: np.ndarray | None) -> tuple[Meet, float] | None:
    kind, (a, b, c) = shape["kind"], shape["size"]
    if kind == "plane":
        return plane, np.inf
    if kind == "sphere":
        return partial(sphere, radius=a), a
    if kind == "point":
        return partial(sphere, radius=POINT), POINT
    if kind == "ellipsoid":
        return partial(ellipsoid, radii=np.array([a, b, c], dtype=np.float32)), max(a, b, c)
    if kind == "capsule":
        return partial(capsule, radius=a, half=b), a + b
    if kind == "cylinder":
        return partial(cylinder, radius=a, half=b), float(np.hypot(a, b))
    if kind == "box":
        normals = np.concatenate([np.eye(3), -np.eye(3)]).astype(np.float32)
        offsets = np.array([a, b, c, a, b, c], dtype=np.float32)
        return partial(convex, normals=normals, offsets=offsets), float(np.linalg.norm([a, b, c]))
    if kind == "terrain" and vertices is not None:
        points = vertices.astype(np.float32)
        return partial(terrain, points=points), float(np.linalg.norm(points, axis=1).max())
    return None if vertices is None else _hull(vertices.astype(float))


def _hull(vertices: np.ndarray) -> tuple[Meet, float] | None:
    """The convex hull of a mesh; None for a flat mesh, which has none."""
    from scipy.spatial import ConvexHull, QhullError

    if len(vertices) > DIRECTIONS:
        vertices = vertices[np.unique(np.argmax(vertices @ _directions().T, axis=0))]
    try:
        hull = ConvexHull(vertices)
    except (QhullError, ValueError):
        return None
    faces = np.unique(np.round(hull.equations, 7), axis=0).astype(np.float32)
    meet = partial(convex, normals=np.ascontiguousarray(faces[:, :3]), offsets=-faces[:, 3])
    return meet, float(np.max(np.linalg.norm(vertices, axis=1)))


def _directions() -> np.ndarray:
    """(DIRECTIONS, 3) directions evenly over the sphere, on a spiral."""
    k = np.arange(DIRECTIONS) + 0.5
    z, angle = 1.0 - 2.0 * k / DIRECTIONS, np.pi * (1.0 + np.sqrt(5.0)) * k
    ring = np.sqrt(1.0 - z * z)
    return np.stack([ring * np.cos(angle), ring * np.sin(angle), z], axis=1)
