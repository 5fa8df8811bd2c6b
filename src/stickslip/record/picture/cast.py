"""Ray casting: depth, normal and index of the nearest solid along every ray of a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stickslip.record.picture.camera import Box, View
from stickslip.record.picture.shapes import Solid
from stickslip.record.picture.triangles import meet_triangles


class Grid:
    """A ray through the middle of every pixel."""

    def __init__(self, view: View) -> None:
        self.view, self.shape = view, (view.height, view.width)

    def within(self, box: Box) -> tuple[Any, np.ndarray, np.ndarray]:
        """The rays of a box: their indices in arrays of this shape, and their places in pixels."""
        top, bottom, left, right = box
        x, y = np.arange(left, right, dtype=np.float32) + 0.5, np.arange(top, bottom, dtype=np.float32) + 0.5
        x, y = np.broadcast_arrays(x[None, :], y[:, None])
        return (slice(top, bottom), slice(left, right)), x.ravel(), y.ravel()


class Places:
    """Rays through given places of the picture, in pixels."""

    def __init__(self, view: View, x: np.ndarray, y: np.ndarray) -> None:
        self.view, self.x, self.y, self.shape = view, x.astype(np.float32), y.astype(np.float32), (len(x),)

    def within(self, box: Box) -> tuple[Any, np.ndarray, np.ndarray]:
        top, bottom, left, right = box
        chosen = np.flatnonzero((self.x >= left) & (self.x < right) & (self.y >= top) & (self.y < bottom))
        return chosen, self.x[chosen], self.y[chosen]


@dataclass(frozen=True, eq=False)
class Seen:
    """What the rays hit; the first axes are those of the rays."""

    depth: np.ndarray
    """[m]; ∞ where nothing is hit."""
    normal: np.ndarray
    """(…, 3) world axes."""
    solid: np.ndarray
    """Index of the solid; −1 where nothing is hit."""

    def flat(self) -> Seen:
        """What the rays of a grid have hit, in one axis, row by row."""
        return Seen(self.depth.ravel(), self.normal.reshape(-1, 3), self.solid.ravel())

    def copy(self) -> Seen:
        return Seen(self.depth.copy(), self.normal.copy(), self.solid.copy())


def nothing(rays: Grid | Places) -> Seen:
    return Seen(
        depth=np.full(rays.shape, np.inf, dtype=np.float32),
        normal=np.zeros((*rays.shape, 3), dtype=np.float32),
        solid=np.full(rays.shape, -1, dtype=np.int32),
    )


def look(
    rays: Grid | Places, solids: Sequence[Solid], pos: np.ndarray, rot: np.ndarray, which: Sequence[int], seen: Seen
) -> Seen:
    """Add the solids ``which`` to what is seen already; ``pos`` (n, 3), ``rot`` (n, 3, 3) are poses of all solids."""
    view = rays.view
    for k in which:
        solid = solids[k]
        box = (0, view.height, 0, view.width) if solid.floor else view.covers(pos[k], solid.radius)
        if box is None:
            continue
        at, x, y = rays.within(box)
        if not len(x):
            continue
        if solid.mesh is not None:
            t, turned = meet_triangles(view, box, x, y, solid.mesh, pos[k], rot[k])
        else:
            start, direction = view.rays(x, y)
            turn = rot[k].astype(np.float32)
            o, d = (start - pos[k].astype(np.float32)) @ turn, direction @ turn
            t, normal = solid.meet(o, np.broadcast_to(d, o.shape) if view.parallel else d)
            turned = normal @ turn.T
        before = seen.depth[at]
        t = t.reshape(before.shape)
        nearer = t < before
        if nearer.any():
            seen.depth[at] = np.where(nearer, t, before)
            seen.solid[at] = np.where(nearer, k, seen.solid[at])
            seen.normal[at] = np.where(nearer[..., None], turned.reshape(*before.shape, 3), seen.normal[at])
    return seen
