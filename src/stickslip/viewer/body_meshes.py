"""BodyMeshes: the bodies of a simulation or recording in a viser scene, moved by the poses of their links.

Shapes of the same geometry are instances of one mesh, so that a frame of a thousand bodies takes only a few messages.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from stickslip.record.header import Header
from stickslip.record.picture.shapes import INVISIBLE, colour_of
from stickslip.viewer.triangulation import Drawing, drawing, from_matrix, product, surface_drawing, turned

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
        groups: dict[tuple, list[tuple[int, Drawing]]] = {}
        surfaces: dict[int | None, Drawing | None] = {
            number: surface_drawing(number, surface) for number, surface in header.surfaces.items()
        }
        for k, shape in enumerate(header.shapes):
            touches, hidden = drawing(shape, header.vertices.get(k)), self._is_hidden(k)
            looks = surfaces.get(shape.get("surface"), touches)
            if looks is not None and (hidden or shape["rgba"][3] > INVISIBLE):
                groups.setdefault((*looks.key, hidden), []).append((k, looks))
            if touches is not None and looks is not touches and not hidden and (shape["group"] or shape["mask"]):
                groups.setdefault((*touches.key, True), []).append((k, touches))  # meshes touch as their hulls
        for number, (key, drawings) in enumerate(groups.items()):
            members = [k for k, _ in drawings]
            scales = larger * np.array([drawn.scale for _, drawn in drawings])
            part = _Part(header, members, scales, hidden=bool(key[-1]))
            part.colours = linear([colour or [255 * c for c in colour_of(header.shapes[k])] for k in members])
            part.node = add_instances(
                server, f"{root}/{number}", drawings[0][1].mesh, part.scales, part.colours,
                opacity=0.35 if part.hidden else (None if opacity >= 1.0 else opacity), visible=not part.hidden,
                cast_shadow=not part.hidden and opacity >= 1.0, receive_shadow=opacity >= 1.0,
            )  # fmt: skip
            self._parts.append(part)

    def _is_hidden(self, k: int) -> bool:
        """Whether a shape is only for collisions and drawn on request; so is a transparent one on a link with opaque
        ones."""
        shape = self.header.shapes[k]
        if shape.get("hidden"):
            return True
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
