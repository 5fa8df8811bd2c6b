"""Interaction: select bodies and push them by the panel, a click, or a drag with the shift key."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from stickslip.viewer.app import Viewer

DIRECTIONS = {
    "+x": (1, 0, 0), "−x": (-1, 0, 0), "+y": (0, 1, 0), "−y": (0, -1, 0), "up": (0, 0, 1), "down": (0, 0, -1)
}  # fmt: skip


class Interaction:
    """Selecting and pushing in a live simulation; with recordings it does nothing."""

    def __init__(self, viewer: Viewer) -> None:
        self._viewer = viewer
        if viewer.live is not None:
            bodies = viewer.runs[0].bodies
            bodies.on_click(lambda *event: viewer.post(self._clicked, *event))
            bodies.on_drag(lambda *event: viewer.post(self._dragged, *event))

    def select(self, link: int) -> None:
        """Highlight the body and select it in the panel."""
        viewer, live = self._viewer, self._viewer.live
        if live is not None and 0 < link < live.sim.model.nlink:  # mocap bodies follow the links
            viewer.runs[0].bodies.select(link)
            viewer.panel.body.value = live.sim.model.link_names[link]

    def push(self) -> None:
        """Push the selected body at its centre of mass, as set in the panel."""
        panel = self._viewer.panel
        direction = np.array(DIRECTIONS[panel.push_direction.value], dtype=float)
        self._act(panel.chosen_link(), direction, None)

    def _act(self, link: int, direction: np.ndarray, through: np.ndarray | None) -> None:
        viewer, live = self._viewer, self._viewer.live
        if live is None or not 0 < link < live.sim.model.nlink:
            return
        if viewer.looks_back:
            viewer.trouble = ["the past cannot be pushed: 'To the end' shows the present"]
            return
        force = float(viewer.panel.push_force.value) * direction
        pose, seconds = live.latest.pose, float(viewer.panel.push_time.value)
        live.do(lambda: live.pushes.add(link, force, live.sim.time + seconds, pose, through))
        if not viewer.playing:
            viewer.toggle()

    def _clicked(self, link: int, origin: np.ndarray, direction: np.ndarray) -> None:
        origin = origin - self._viewer.following.offset
        self.select(link)
        if self._viewer.panel.clicks.value:
            self._act(link, direction / np.linalg.norm(direction), origin)

    def _dragged(self, phase: str, link: int, grabbed: np.ndarray, mouse: np.ndarray) -> None:
        live, offset = self._viewer.live, self._viewer.following.offset
        grabbed, mouse = grabbed - offset, mouse - offset
        if live is None or link == 0 or self._viewer.looks_back:
            return
        if phase == "start":
            self.select(link)
            live.do(live.pushes.grab, link, grabbed, mouse, live.latest.pose)
            if not self._viewer.playing:
                self._viewer.toggle()
        elif phase == "update":
            live.do(live.pushes.drag, mouse)
        else:
            live.do(live.pushes.release)
