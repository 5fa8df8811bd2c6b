"""Sensors and thrusters: axes of the sites that sensors are attached to, rays of rangefinders with their distances, and
the forces of thrusters as arrows."""

from __future__ import annotations

from typing import Any

import numpy as np

from stickslip.record.drawn import thrust
from stickslip.record.header import Header
from stickslip.record.picture.shapes import link_frames
from stickslip.viewer.body_meshes import linear
from stickslip.viewer.moment import Moment
from stickslip.viewer.rods import Rods

AXES = ((200, 50, 50), (60, 150, 60), (50, 90, 200))
"""Colours of the x, y and z axes."""
RAY, THRUST = (235, 120, 20), (130, 60, 190)
MOST_LABELS = 24
"""Rangefinders that get a label; a table has all values."""


class Instruments:
    """The sensors and thrusters of one run. ``size`` [m] is that of the scene; ``metres_per_newton`` scales thrusts."""

    def __init__(self, server: Any, root: str, header: Header, size: float, metres_per_newton: float) -> None:
        self._size, self.metres_per_newton = size, metres_per_newton
        self.scale = 1.0
        """Scale of the arrows, chosen in the panel."""
        self._sites, self._thrusters = header.drawn.get("sensors", []), header.drawn.get("thrusters", [])
        names = list(header.sensor_names)
        self._rays = [
            (k, names.index(name))
            for k, site in enumerate(self._sites)
            for name, kind in zip(site["names"], site["kinds"], strict=True)
            if kind == "rangefinder" and name in names
        ]
        self.any_sensors, self.any_thrusters = bool(self._sites), bool(self._thrusters)
        self.sensors, self.thrusters = self.any_sensors, self.any_thrusters
        """Whether sensors and thrusters are drawn."""
        self._link = np.array([site["link"] for site in self._sites], dtype=int)
        self._pos = np.array([site["pos"] for site in self._sites], dtype=float).reshape(-1, 3)
        self._rot = np.array([site["rot"] for site in self._sites], dtype=float).reshape(-1, 3, 3)
        self._axes = Rods(server, f"{root}/axes", 3 * len(self._sites))
        self._lines = Rods(server, f"{root}/rays", len(self._rays))
        self._labels = [
            server.scene.add_label(f"{root}/distance{k}", "", visible=False)
            for k in range(min(len(self._rays), MOST_LABELS))
        ]  # fmt: skip
        self._arrows = None
        if self._thrusters:
            self._arrows = server.scene.add_arrows(
                f"{root}/thrusters", np.zeros((1, 2, 3)), linear(THRUST), shaft_radius=0.012 * size,
                head_radius=0.03 * size, head_length=0.07 * size, visible=False,
            )  # fmt: skip

    def show(self, moment: Moment) -> None:
        places, turns = link_frames(moment.pose)
        self._show_sensors(places, turns, moment.sensor)
        self._show_thrusters(places, turns, moment)

    def _show_sensors(self, places: np.ndarray, turns: np.ndarray, values: np.ndarray) -> None:
        if not self.any_sensors:
            return
        self._axes.set_visible(self.sensors)
        self._lines.set_visible(self.sensors)
        if not self.sensors:
            for label in self._labels:
                label.visible = False
            return
        turn = turns[self._link]
        centre, axes = places[self._link] + np.einsum("nij,nj->ni", turn, self._pos), turn @ self._rot
        tips = centre[:, None] + 0.06 * self._size * np.swapaxes(axes, 1, 2)
        ends = np.stack([np.repeat(centre[:, None], 3, axis=1), tips], axis=2).reshape(-1, 2, 3)
        self._axes.show(ends, 0.004 * self._size, linear(np.tile(AXES, (len(centre), 1))))
        site = np.array([k for k, _ in self._rays], dtype=int)
        distance = np.array([values[v] if v < len(values) else -1.0 for _, v in self._rays])
        start = centre[site]
        end = start + np.maximum(distance, 0.0)[:, None] * axes[site, :, 2]
        self._lines.show(np.stack([start, end], axis=1), 0.002 * self._size, linear(np.tile(RAY, (len(site), 1))))
        for k, label in enumerate(self._labels):
            label.visible = bool(distance[k] >= 0.0)
            if label.visible:
                label.position, text = 0.5 * (start[k] + end[k]), f"{distance[k]:.3g} m"
                if label.text != text:
                    label.text = text

    def _show_thrusters(self, places: np.ndarray, turns: np.ndarray, moment: Moment) -> None:
        if self._arrows is None:
            return
        points = []
        for entry in self._thrusters if self.thrusters else ():
            force = turns[entry["axes_link"]] @ thrust(entry, moment.control, moment.act)
            way = self.scale * self.metres_per_newton * force
            if np.linalg.norm(way) > 1e-3 * self._size:
                start = places[entry["link"]] + turns[entry["link"]] @ np.array(entry["pos"], dtype=float)
                points.append([start, start + way])
        self._arrows.visible = bool(points)
        if points:
            self._arrows.points = np.array(points, dtype=np.float32)

    def remove(self) -> None:
        self._axes.remove()
        self._lines.remove()
        for node in (*self._labels, *([self._arrows] if self._arrows is not None else [])):
            node.remove()
