"""Lighting: a sun that casts shadows, a sky that is brighter above, and a grid on floors.

Shadows come from a shadow map seen from the sun; their edges are softened over 3 × 3 texels.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stickslip.record.picture.camera import Camera, View
from stickslip.record.picture.cast import Grid, look, nothing
from stickslip.record.picture.shapes import Solid, linear

SHADOW = 700
"""Texels along each side of the shadow map."""
SKY, HORIZON = linear("#b9cfe4").astype(np.float32), linear("#f4f6f8").astype(np.float32)
FLOOR, LINES = linear("#e3e6e9").astype(np.float32), linear("#aab2bb").astype(np.float32)


class Light:
    """The lighting at one instant."""

    def __init__(
        self, camera: Camera, spacing: float, solids: Sequence[Solid], pos: np.ndarray, rot: np.ndarray
    ) -> None:
        self.camera, self.spacing, self.solids, self.pos, self.rot = camera, spacing, solids, pos, rot
        a = np.radians(camera.azimuth - 50.0)  # over the camera's left shoulder
        sun = np.array([0.55 * np.cos(a), 0.55 * np.sin(a), 0.85])
        self.sun = sun / np.linalg.norm(sun)
        self.colour = np.array([s.colour for s in solids], dtype=np.float32).reshape(-1, 3)
        self.floor = np.array([s.floor for s in solids], dtype=bool)
        self._map = self._look_from_the_sun()

    def background(self, direction: np.ndarray) -> np.ndarray:
        """(m, 3) intensities of rays that hit nothing."""
        up = np.clip(2.0 * direction[:, 2] / np.linalg.norm(direction, axis=1), 0.0, 1.0)[:, None]
        return (1 - up) * HORIZON + up * SKY

    def base(self, view: View, which: np.ndarray, point: np.ndarray, distance: np.ndarray) -> np.ndarray:
        """(m, 3) colours of the points that are hit; floors have a grid."""
        colour = self.colour[which]
        for k in np.flatnonzero(self.floor):
            on = which == k
            turn = self.rot[k].astype(np.float32)
            slant = np.abs((point[on] - view.eye.astype(np.float32)) @ turn[:, 2]) / distance[on]
            foot = np.float32(view.pixel) * distance[on] / np.maximum(slant, np.float32(0.03))
            colour[on] = self._grid((point[on] - self.pos[k].astype(np.float32)) @ turn, foot)
        return colour

    def shade(
        self,
        which: np.ndarray,
        colour: np.ndarray,
        point: np.ndarray,
        normal: np.ndarray,
        ray: np.ndarray,
        distance: np.ndarray,
    ) -> np.ndarray:
        """(m, 3) intensities; ``ray`` (m, 3) are unit vectors away from the eye."""
        sun = self.sun.astype(np.float32)
        facing = normal @ sun
        lit = np.where(facing > 0.0, self._unshadowed(point, normal), np.float32(0.0))
        floor = self.floor[which]
        light = np.float32(0.42) + np.float32(0.16) * normal[:, 2] + np.float32(0.62) * np.maximum(facing, 0.0) * lit
        result = colour * light[:, None]
        shiny = np.flatnonzero(~floor)
        half = sun - ray[shiny]
        half /= np.linalg.norm(half, axis=1, keepdims=True)
        shine = np.maximum(np.einsum("ij,ij->i", normal[shiny], half), 0.0) ** 40
        result[shiny] += (np.float32(0.18) * shine * lit[shiny])[:, None]
        far = np.flatnonzero(floor)
        haze = 1.0 - np.exp(-((distance[far] / np.float32(9.0 * self.camera.distance)) ** 2))[:, None]
        result[far] = (1 - haze) * result[far] + haze * self.background(ray[far])
        return result

    def _grid(self, local: np.ndarray, foot: np.ndarray) -> np.ndarray:
        """(m, 3) colours of floor points; ``foot`` [m] is the size of a pixel on the floor."""
        ink = np.zeros(len(local), dtype=np.float32)
        for every, weight in ((self.spacing, 0.55), (5 * self.spacing, 0.9)):
            width = 0.012 * self.spacing
            reach = np.maximum(np.float32(width), np.float32(0.75) * foot)
            strength = np.minimum(1.0, width / (0.35 * foot + 1e-12)) * np.clip(1.5 - 3.0 * foot / every, 0.0, 1.0)
            for k in range(2):
                off = np.abs((local[:, k] / every + 0.5) % 1.0 - 0.5) * every
                ink = np.maximum(ink, weight * strength * np.clip(1.0 - (off - width) / reach, 0.0, 1.0))
        return (1 - ink[:, None]) * FLOOR + ink[:, None] * LINES

    def _look_from_the_sun(self) -> tuple[View, np.ndarray] | None:
        casts = np.flatnonzero(~self.floor)
        if not len(casts):
            return None
        reach = np.array([self.solids[k].radius for k in casts.tolist()])[:, None]
        low, high = (self.pos[casts] - reach).min(axis=0), (self.pos[casts] + reach).max(axis=0)
        radius = float(np.linalg.norm(high - low)) / 2
        right = np.cross(-self.sun, (0.0, 0.0, 1.0))
        right /= np.linalg.norm(right)
        axes = np.stack([right, np.cross(right, -self.sun), -self.sun])
        eye = (low + high) / 2 + 2.0 * radius * self.sun
        view = View(eye, axes, SHADOW, SHADOW, 2.0 * radius / (SHADOW - 4), parallel=True)
        rays = Grid(view)
        return view, look(rays, self.solids, self.pos, self.rot, casts.tolist(), nothing(rays)).depth

    def _unshadowed(self, point: np.ndarray, normal: np.ndarray) -> np.ndarray:
        """(m,) fraction of the sun that is visible from each point."""
        light = np.ones(len(point), dtype=np.float32)
        if self._map is None:
            return light
        view, depth = self._map
        texel, axes = np.float32(view.pixel), view.axes.astype(np.float32)
        seen = (point - view.eye.astype(np.float32)) @ axes.T
        column, row = seen[:, 0] / texel + SHADOW / 2, SHADOW / 2 - seen[:, 1] / texel
        near = np.flatnonzero((column >= 3) & (column < SHADOW - 3) & (row >= 3) & (row < SHADOW - 3))
        # Start slightly outside the surface, so that a texel does not shade its neighbours.
        shift = np.float32(1.5) * (normal[near] @ axes.T)
        c, r = (column[near] + shift[:, 0]).astype(np.int32), (row[near] - shift[:, 1]).astype(np.int32)
        d = seen[near, 2] + texel * (shift[:, 2] - 1.0)
        hidden = np.zeros(len(near), dtype=np.float32)
        for i in (-1, 0, 1):
            for j in (-1, 0, 1):
                hidden += depth[r + i, c + j] < d
        light[near] = 1.0 - hidden / 9.0
        return light
