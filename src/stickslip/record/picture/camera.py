"""Camera and view of a picture, and the pixels that a ball can cover."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stickslip.errors import expected, number

Box = tuple[int, int, int, int]
"""Pixels: first row, end, first column, end."""


@dataclass(frozen=True)
class Camera:
    """A camera that looks at ``target`` from a distance; z is up."""

    target: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Point at the centre of the picture [m, world]."""
    distance: float = 2.0
    """From the target [m]."""
    azimuth: float = -55.0
    """Direction from the target to the camera, about z from x [deg]."""
    elevation: float = 18.0
    """Angle of the camera above the horizon [deg]."""
    field: float = 35.0
    """Field of view from the lower to the upper edge of the picture [deg]."""

    def __post_init__(self) -> None:
        number("distance", self.distance, "a distance > 0 [m]", above=0.0)
        if not abs(number("elevation", self.elevation)) <= 89.9:
            raise expected("elevation", "an angle from -89.9 to 89.9 degrees", self.elevation)
        if not 1.0 <= number("field", self.field) <= 120.0:
            raise expected("field", "an angle from 1 to 120 degrees", self.field)
        number("azimuth", self.azimuth)
        if np.shape(self.target) != (3,) or not np.all(np.isfinite(self.target)):
            raise expected("target", "a point (3,) [m]", self.target)

    @property
    def axes(self) -> np.ndarray:
        """(3, 3) rows: right, up, forward."""
        a, e = np.radians([self.azimuth, self.elevation])
        forward = -np.array([np.cos(a) * np.cos(e), np.sin(a) * np.cos(e), np.sin(e)])
        right = np.cross(forward, (0.0, 0.0, 1.0))
        right /= np.linalg.norm(right)
        return np.stack([right, np.cross(right, forward), forward])

    @property
    def eye(self) -> np.ndarray:
        """(3,) position of the camera [m]."""
        return np.array(self.target, dtype=float) - self.distance * self.axes[2]


@dataclass(frozen=True, eq=False)
class View:
    """A camera and a grid of pixels; depth is measured along ``axes[2]``. ``pixel`` is the width of a pixel at depth 1,
    or anywhere in a parallel view [m]."""

    eye: np.ndarray
    axes: np.ndarray
    width: int
    height: int
    pixel: float
    parallel: bool = False

    def rays(self, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Starts (1 or m, 3) and directions (1 or m, 3) of depth 1 through points of the picture, in pixels (m,)."""
        x, y = (x - np.float32(self.width / 2)) * self.pixel, (np.float32(self.height / 2) - y) * self.pixel
        across, up, forward = self.axes.astype(np.float32)
        spread = y.astype(np.float32)[:, None] * up + x.astype(np.float32)[:, None] * across
        eye = self.eye.astype(np.float32)
        return (spread + eye, forward[None, :]) if self.parallel else (eye[None, :], spread + forward)

    def covers(self, centre: np.ndarray, radius: float) -> Box | None:
        """The pixels that a ball can cover; None if it is out of view."""
        x, y, depth = self.axes @ (centre - self.eye)
        if self.parallel:
            bounds = [(v - radius, v + radius) for v in (x, y)]
        elif depth + radius <= 0.0:
            return None
        elif np.hypot(min(abs(x), abs(y)), depth) <= 1.001 * radius or depth <= 1.001 * radius:
            return 0, self.height, 0, self.width
        else:
            bounds = [_span(v, depth, radius) for v in (x, y)]
        (x0, x1), (y0, y1) = bounds
        left, right = (int(np.clip(v / self.pixel + self.width / 2, -1, self.width + 1)) for v in (x0, x1))
        top, bottom = (int(np.clip(self.height / 2 - v / self.pixel, -1, self.height + 1)) for v in (y1, y0))
        box = max(top - 1, 0), min(bottom + 2, self.height), max(left - 1, 0), min(right + 2, self.width)
        return box if box[0] < box[1] and box[2] < box[3] else None


def _span(x: float, depth: float, radius: float) -> tuple[float, float]:
    """The tangents of the angles under which a circle in the plane (x, depth) is seen."""
    angle, half = np.arctan2(x, depth), np.arcsin(min(1.0, radius / np.hypot(x, depth)))
    steep = np.radians(89.0)
    return float(np.tan(max(angle - half, -steep))), float(np.tan(min(angle + half, steep)))


def view_of(camera: Camera, width: int, height: int) -> View:
    return View(camera.eye, camera.axes, width, height, 2.0 * np.tan(np.radians(camera.field) / 2) / height)
