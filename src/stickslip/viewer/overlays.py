"""Contacts drawn over the bodies: points, forces, and friction cones.

A cone's tip is the contact point, its axis the normal, its height the normal force and its radius μ times that, in the
same scale as the force arrow. The arrow ends in the base of the cone, and on its rim if the contact slides.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stickslip.record import Contacts
from stickslip.viewer.body_meshes import add_instances, linear
from stickslip.viewer.moment import world_force
from stickslip.viewer.triangulation import cone, from_z, sphere

POINTS, FORCES = (205, 45, 60), (224, 62, 40)
STICKS, SLIDES = (40, 160, 140), (240, 160, 30)
RIM = 0.999
"""Fraction of μ·f_n above which a contact counts as sliding."""


class Overlay:
    """The contacts of one run. ``size`` [m] is that of the scene; ``force`` [N] is drawn 0.9 times as long."""

    def __init__(
        self, server: Any, root: str, size: float, force: float, colour: tuple[int, int, int] | None = None
    ) -> None:
        self._server, self._root, self._size = server, root, size
        self._colour = colour
        self.metres_per_newton = 0.9 * size / max(force, 1e-9)
        self.scale = 1.0
        """Scale of arrows and cones, chosen in the panel."""
        self.points, self.forces, self.cones = True, True, False
        """Whether points, forces and cones are drawn."""
        self._room = 0
        self._arrows = server.scene.add_arrows(
            f"{root}/forces", np.zeros((1, 2, 3)), linear(colour or FORCES),
            shaft_radius=0.012 * size, head_radius=0.03 * size, head_length=0.07 * size, visible=False,
        )  # fmt: skip
        self._make_room(8)

    def _make_room(self, n: int) -> None:
        """Make nodes with at least n instances, because none can be added later; unused ones have size zero."""
        self._room = max(n, 2 * self._room)
        hidden, shadows = np.full((self._room, 3), 1e-9), {"cast_shadow": False, "receive_shadow": False}
        colour, colours = linear(self._colour or POINTS), np.tile(linear(STICKS), (self._room, 1))
        server, root = self._server, self._root
        self._points = add_instances(server, f"{root}/points", sphere(), hidden, colour, **shadows)
        self._cones = add_instances(
            server, f"{root}/cones", cone(), hidden, colours, opacity=0.35, side="double", **shadows
        )

    def show(self, contacts: Contacts) -> None:
        n = len(contacts.gap)
        if n > self._room:
            self._make_room(n)
        self._show_points(contacts, n)
        self._show_forces(contacts)
        self._show_cones(contacts, n)

    def _show_points(self, contacts: Contacts, n: int) -> None:
        self._points.visible = self.points and n > 0
        if self.points and n:
            place, scale = np.zeros((self._room, 3), np.float32), np.full((self._room, 3), 1e-9, np.float32)
            place[:n], scale[:n] = contacts.point, 0.02 * self._size
            self._points.batched_positions, self._points.batched_scales = place, scale

    def _show_forces(self, contacts: Contacts) -> None:
        vectors = self.scale * self.metres_per_newton * world_force(contacts)
        long = np.linalg.norm(vectors, axis=1) > 1e-3 * self._size
        self._arrows.visible = bool(self.forces and long.any())
        if self._arrows.visible:
            start = contacts.point[long]
            self._arrows.points = np.stack([start, start + vectors[long]], axis=1).astype(np.float32)

    def _show_cones(self, contacts: Contacts, n: int) -> None:
        self._cones.visible = self.cones and n > 0
        if not self._cones.visible:
            return
        height = self.scale * self.metres_per_newton * np.maximum(contacts.force[:, 0], 0.0)
        radius = contacts.friction * height
        place, scale = np.zeros((self._room, 3), np.float32), np.full((self._room, 3), 1e-9, np.float32)
        turn = np.tile(np.array([1.0, 0.0, 0.0, 0.0], np.float32), (self._room, 1))
        place[:n], turn[:n] = contacts.point, from_z(contacts.normal)
        scale[:n] = np.maximum(np.stack([radius, radius, height], axis=1), 1e-9)
        bound = contacts.friction * contacts.force[:, 0]
        slides = np.hypot(contacts.force[:, 1], contacts.force[:, 2]) >= RIM * np.maximum(bound, 1e-12)
        colours = np.tile(linear(STICKS), (self._room, 1))
        colours[:n][slides] = linear(SLIDES)
        self._cones.batched_positions, self._cones.batched_wxyzs = place, turn
        self._cones.batched_scales, self._cones.batched_colors = scale, colours

    def remove(self) -> None:
        for node in (self._points, self._arrows, self._cones):
            node.remove()
