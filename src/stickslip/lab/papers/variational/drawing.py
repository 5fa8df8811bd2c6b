"""Poses of the hopper and of A1 in parallel projection: filled shapes on a floor, in the order of their depth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.patches import Circle, Ellipse, Polygon

from stickslip.lab.papers.paper import new_figure

A1_TRUNK = np.array([0.1335, 0.097, 0.057])
"""Half edges of the trunk [m]."""
HEAD = 0.1
"""Radius of the hopper's sphere [m]."""


class Camera:
    """Looks down at the floor by ``elevation`` from the side ``azimuth`` [degrees]."""

    def __init__(self, azimuth: float, elevation: float) -> None:
        a, e = np.deg2rad(azimuth), np.deg2rad(elevation)
        self.right = np.array([-np.sin(a), np.cos(a), 0.0])
        self.back = np.array([np.cos(a) * np.cos(e), np.sin(a) * np.cos(e), np.sin(e)])
        """Towards the eye."""
        self.up = np.cross(self.back, self.right)

    def see(self, points: np.ndarray) -> np.ndarray:
        """(…, 2) on the paper."""
        return np.stack([points @ self.right, points @ self.up], axis=-1)

    def depth(self, points: np.ndarray) -> float:
        return float(np.mean(points @ self.back))


def rotation(quat: np.ndarray) -> np.ndarray:
    w, x, y, z = quat
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + 2.0 * (w * cross + cross @ cross)


def rod(ax, camera: Camera, a: np.ndarray, b: np.ndarray, width: float, colour: Any, order: float) -> None:
    """A round bar of a width [m] between two points, with a lighter stripe along it."""
    (x0, y0), (x1, y1) = camera.see(a), camera.see(b)
    along = np.array([x1 - x0, y1 - y0])
    length = np.hypot(*along)
    side = np.array([-along[1], along[0]]) / length if length > 0.0 else np.array([1.0, 0.0])
    for share, shade in ((1.0, 0.55), (0.82, 1.0)):
        w = share * width / 2.0 * side
        corners = [(x0 + w[0], y0 + w[1]), (x1 + w[0], y1 + w[1]), (x1 - w[0], y1 - w[1]), (x0 - w[0], y0 - w[1])]
        dark = tuple(shade * c for c in colour)
        ax.add_patch(Polygon(corners, closed=True, facecolor=dark, edgecolor="none", zorder=order))
        for x, y in ((x0, y0), (x1, y1)):
            ax.add_patch(Circle((x, y), share * width / 2.0, facecolor=dark, edgecolor="none", zorder=order))
    ax.add_patch(Polygon([(x0 + 0.2 * width * side[0], y0 + 0.2 * width * side[1]),
                          (x1 + 0.2 * width * side[0], y1 + 0.2 * width * side[1]),
                          (x1 + 0.05 * width * side[0], y1 + 0.05 * width * side[1]),
                          (x0 + 0.05 * width * side[0], y0 + 0.05 * width * side[1])], closed=True,
                         facecolor="white", alpha=0.35, edgecolor="none", zorder=order))  # fmt: skip


def ball(ax, camera: Camera, centre: np.ndarray, radius: float, colour: Any, order: float) -> None:
    """A ball, lit from the upper left."""
    x, y = camera.see(centre)
    for k in range(12):
        s = k / 11.0
        tone = tuple(min(1.0, c * (0.55 + 0.6 * s)) for c in colour)
        at = (x - 0.35 * radius * s, y + 0.35 * radius * s)
        ax.add_patch(Circle(at, radius * (1.0 - 0.9 * s), facecolor=tone, edgecolor="none", zorder=order + 1e-3 * k))


def box(ax, camera: Camera, centre: np.ndarray, R: np.ndarray, half: np.ndarray, colour: Any, order: float) -> None:
    """The faces that are seen, shaded by how they face the light."""
    light = np.array([0.3, -0.5, 0.8]) / np.linalg.norm([0.3, -0.5, 0.8])
    for axis in range(3):
        for sign in (-1.0, 1.0):
            normal = sign * R[:, axis]
            if normal @ camera.back <= 0.0:
                continue
            u, v = (R[:, (axis + k) % 3] * half[(axis + k) % 3] for k in (1, 2))
            middle = centre + normal * half[axis]
            corners = camera.see(np.array([middle + u + v, middle + u - v, middle - u - v, middle - u + v]))
            tone = tuple(min(1.0, c * (0.65 + 0.45 * max(0.0, float(normal @ light)))) for c in colour)
            ax.add_patch(Polygon(corners, closed=True, facecolor=tone, edgecolor="black", linewidth=0.4, zorder=order))


def shadow(ax, camera: Camera, centre: np.ndarray, radius: float) -> None:
    """Shadow of something round, straight below it; paler the higher it is."""
    x, y = camera.see(np.array([centre[0], centre[1], 0.0]))
    flat = max(0.05, float(camera.back[2]))
    strength = 0.35 / (1.0 + 1.5 * max(0.0, centre[2]))
    ax.add_patch(Ellipse((x, y), 2 * radius, 2 * radius * flat, facecolor="black", alpha=strength, edgecolor="none",
                         zorder=-10))  # fmt: skip


def hopper(ax, camera: Camera, pose: np.ndarray, shift: np.ndarray) -> None:
    """From the poses (2, 7) of sphere and pole."""
    blue, orange = (0.30, 0.52, 0.78), (0.93, 0.58, 0.22)
    head, pole, R = pose[0, :3] + shift, pose[1, :3] + shift, rotation(pose[1, 3:])
    upper, foot = pole, pole + R @ np.array([0.0, 0.0, -0.8])
    shadow(ax, camera, head, HEAD)
    shadow(ax, camera, foot, 0.04)
    ball(ax, camera, head, HEAD, blue, 2.0)
    for end in (upper, foot):
        way = end - head
        length = float(np.linalg.norm(way))
        if length <= HEAD:
            continue
        near = camera.depth(end) > camera.depth(head)
        rod(ax, camera, head + way * HEAD / length if near else head, end, 0.06, orange, 3.0 if near else 1.0)
        if end is foot:
            ball(ax, camera, foot, 0.032, (0.25, 0.25, 0.28), 3.1 if near else 1.1)


def quadruped(ax, camera: Camera, pose: np.ndarray, shift: np.ndarray) -> None:
    """From the poses (13, 7) of A1's links: trunk, then hip, thigh and calf of four legs."""
    grey, dark, red = (0.72, 0.75, 0.80), (0.32, 0.34, 0.40), (0.85, 0.35, 0.25)
    trunk, R = pose[0, :3] + shift, rotation(pose[0, 3:])
    shadow(ax, camera, trunk, 0.2)
    for leg in range(4):
        hip, thigh, calf = (pose[1 + 3 * leg + k, :3] + shift for k in range(3))
        foot = calf + rotation(pose[3 + 3 * leg, 3:]) @ np.array([0.0, 0.0, -0.2])
        order = 1.0 if camera.depth(hip) < camera.depth(trunk) else 4.0
        colour = red if leg == 1 else dark  # front right: Fig. 8
        rod(ax, camera, hip, thigh, 0.075, dark, order)
        rod(ax, camera, thigh, calf, 0.045, colour, order + 0.1)
        rod(ax, camera, calf, foot, 0.026, colour, order + 0.2)
        ball(ax, camera, foot, 0.02, (0.2, 0.2, 0.2), order + 0.3)
        shadow(ax, camera, foot, 0.03)
    for along in (-0.18, 0.18):
        box(ax, camera, trunk + R @ np.array([along, 0.0, 0.0]), R, np.array([0.05, 0.06, 0.04]), dark,
            2.5 if R[:, 0] @ camera.back * along < 0 else 3.5)  # fmt: skip
    box(ax, camera, trunk, R, A1_TRUNK, grey, 3.0)


def floor(ax, left: float, right: float, bottom: float, top: float) -> None:
    """A plain floor that ends at the horizon, and no axes."""
    ax.axhspan(bottom, 0.16, facecolor="#e9e6df", zorder=-20)
    ax.axhline(0.16, color="#b9b4a8", linewidth=0.8, zorder=-19)
    ax.set_xlim(left, right)
    ax.set_ylim(bottom, top)
    ax.set_aspect("equal")
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_visible(False)


def strip(
    row: dict[str, Any], times, instants: np.ndarray, spacing: float, camera: Camera, draw: Callable[..., None], *,
    forward: bool, height: float,
):  # fmt: skip
    """(figure, axes): poses of a row, which has them at ``times``, beside each other; ``height`` in inches."""
    figure, axes = new_figure(1, 1, (15, height))
    ax, poses = axes[0, 0], np.array(row["poses"]).reshape(len(row["poses"]), -1, 7)
    for k, t in enumerate(instants):
        pose = poses[np.argmin(np.abs(np.array(times) - t))]
        start = pose[0, :2] if forward else poses[0, 0, :2]
        draw(ax, camera, pose, np.array([-start[0], -start[1], 0.0]) + k * spacing * camera.right)
        ax.text(k * spacing, -0.24, f"{t:.2f} s", ha="center", va="top", fontsize=10, zorder=30)
    return figure, ax
