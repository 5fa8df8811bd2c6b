"""BodyMeshes: the bodies of a simulation or recording in a viser scene, moved by the poses of their links.

Shapes of the same geometry are instances of one mesh, so that a frame of a thousand bodies takes only a few messages.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from stickslip.record.header import Header
from stickslip.viewer.triangulation import drawing, from_matrix, product, turned

PLAIN = (0.5, 0.5, 0.5)
"""MuJoCo's colour of shapes without one; they are drawn in one of ``BODIES``."""
BODIES = (
    (70, 108, 153), (216, 137, 66), (92, 145, 106), (176, 90, 86), (131, 110, 160), (84, 150, 160), (190, 165, 90),
)  # fmt: skip
FIXED = (150, 154, 160)
"""Colour of fixed shapes without a colour of their own."""
CHOSEN = (255, 190, 40)
"""Colour of the selected body."""


def add_instances(server: Any, path: str, mesh: Any, scales: np.ndarray, colours: np.ndarray, **options: Any) -> Any:
    """A node with instances of a mesh at the origin: one for each row of ``scales`` (n, 3)."""
    turns, places = np.tile([1.0, 0.0, 0.0, 0.0], (len(scales), 1)), np.zeros((len(scales), 3))
    colouring = {"batched_scales": scales, "batched_colors": colours, "lod": "off"}
    return server.scene.add_batched_meshes_simple(
        path, mesh.vertices, mesh.faces, turns, places, **colouring, **options
    )  # fmt: skip


class BodyMeshes:
    """All shapes except planes, under the scene node ``root``. With a ``colour`` all have that colour, and are slightly
    ``larger`` so that they do not flicker where runs coincide."""

    def __init__(
        self, server: Any, root: str, header: Header, colour: tuple[int, int, int] | None = None, opacity: float = 1.0,
        larger: float = 1.0,
    ) -> None:  # fmt: skip
        self.header, self.root = header, root
        self._parts: list[_Part] = []
        groups: dict[tuple, list[int]] = {}
        drawings = {}
        for k, shape in enumerate(header.shapes):
            found = drawing(shape, header.vertices.get(k))
            if found is not None:
                drawings[k] = found
                groups.setdefault((*found.key, self._is_hidden(k)), []).append(k)
        for number, (key, members) in enumerate(groups.items()):
            scales = larger * np.array([drawings[k].scale for k in members])
            part = _Part(header, members, scales, hidden=bool(key[-1]))
            part.colours = linear([colour or _colour(header.shapes[k]) for k in members])
            part.node = add_instances(
                server, f"{root}/{number}", drawings[members[0]].mesh, part.scales, part.colours,
                opacity=0.35 if part.hidden else (None if opacity >= 1.0 else opacity), visible=not part.hidden,
                cast_shadow=not part.hidden and opacity >= 1.0, receive_shadow=opacity >= 1.0,
            )  # fmt: skip
            self._parts.append(part)

    def _is_hidden(self, k: int) -> bool:
        """Whether a shape is only for collisions and drawn on request: a transparent one on a link with opaque ones."""
        shape = self.header.shapes[k]
        opaque = [s for s in self.header.shapes if s["link"] == shape["link"] and s["rgba"][3] >= 1.0]
        return shape["rgba"][3] < 1.0 and any(s["kind"] != "point" for s in opaque)

    def show(self, pose: np.ndarray) -> None:
        """Move the bodies to these link poses (nl, 7)."""
        for part in self._parts:
            part.show(pose)

    def select(self, link: int | None) -> None:
        """Highlight one body, or none."""
        for part in self._parts:
            colours = part.colours.copy()
            if link is not None:
                colours[part.link == link] = linear(CHOSEN)
            part.node.batched_colors = colours

    def show_all(self, wanted: bool, collision: bool) -> None:
        """Show or hide the bodies, and those of their shapes that are for collisions only."""
        for part in self._parts:
            part.node.visible = wanted and (collision or not part.hidden)

    def on_click(self, do: Callable[[int, np.ndarray, np.ndarray], None]) -> None:
        """Call ``do(link, ray origin, ray direction)`` for a click on a body."""
        for part in self._parts:

            @part.node.on_click
            async def _(event: Any, part: _Part = part) -> None:
                do(part.clicked(event), np.array(event.ray_origin), np.array(event.ray_direction))

    def on_drag(self, do: Callable[[str, int, np.ndarray, np.ndarray], None]) -> None:
        """Call ``do(phase, link, point that was grabbed, where the mouse is)`` for a drag with the shift key."""
        for part in self._parts:

            @part.node.on_drag("left", modifier="shift")
            async def _(event: Any, part: _Part = part) -> None:
                do(event.phase, part.clicked(event), np.array(event.start_position), np.array(event.end_position))

    def remove(self) -> None:
        for part in self._parts:
            part.node.remove()
        self._parts = []


class _Part:
    """The instances of one mesh."""

    node: Any
    colours: np.ndarray

    def __init__(self, header: Header, members: list[int], scales: np.ndarray, hidden: bool) -> None:
        shapes = [header.shapes[k] for k in members]
        self.scales, self.hidden = scales, hidden
        self.link = np.array([s["link"] for s in shapes])
        self.pos = np.array([s["pos"] for s in shapes], dtype=float)
        self.quat = np.array([from_matrix(np.array(s["rot"])) for s in shapes])

    def show(self, pose: np.ndarray) -> None:
        quat = pose[self.link, 3:]
        self.node.batched_positions = (pose[self.link, :3] + turned(quat, self.pos)).astype(np.float32)
        self.node.batched_wxyzs = product(quat, self.quat).astype(np.float32)

    def clicked(self, event: Any) -> int:
        return int(self.link[event.instance_index or 0])


def _colour(shape: dict[str, Any]) -> tuple[int, int, int]:
    rgb = tuple(shape["rgba"][:3])
    if np.allclose(rgb, PLAIN, atol=1e-3):
        return FIXED if shape["link"] == 0 else BODIES[(shape["link"] - 1) % len(BODIES)]
    red, green, blue = (round(255 * value) for value in rgb)
    return red, green, blue


def linear(colours: Any) -> np.ndarray:
    """Convert sRGB colours (…, 3) of 0 … 255 to linear ones, which viser's client expects for instances."""
    values = np.asarray(colours, dtype=float) / 255.0
    light = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    return np.rint(255.0 * light).astype(np.uint8)


def extent(header: Header, pose: np.ndarray) -> tuple[np.ndarray, float]:
    """(centre (3,), radius) [m] of a ball around everything except planes, at these poses (nl, 7)."""
    low, high = [], []
    for k, shape in enumerate(header.shapes):
        vertices = header.vertices.get(k)
        if vertices is None:
            found = drawing(shape, None)
            if found is None:
                continue
            vertices = found.mesh.vertices * found.scale
        place = pose[shape["link"]]
        centre = place[:3] + turned(place[None, 3:], np.array([shape["pos"]], dtype=float))[0]
        reach = float(np.max(np.linalg.norm(vertices, axis=1), initial=0.0))
        low.append(centre - reach)
        high.append(centre + reach)
    if not low:
        return np.zeros(3), 1.0
    bottom, top = np.min(low, axis=0), np.max(high, axis=0)
    return 0.5 * (bottom + top), max(0.5 * float(np.linalg.norm(top - bottom)), 1e-3)
