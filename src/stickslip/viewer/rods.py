"""Rods: straight round pieces from point to point, as instances of one cylinder, for tendons, axes and rays."""

from __future__ import annotations

from typing import Any

import numpy as np

from stickslip.viewer.body_meshes import add_instances
from stickslip.viewer.triangulation import cylinder, from_z

NOTHING = 1e-9
"""[m] size of instances that are not used; none can be added or removed later."""


class Rods:
    """This class draws up to ``most`` rods under the scene node ``path``."""

    def __init__(self, server: Any, path: str, most: int, **options: Any) -> None:
        self._most = most
        self._node = None
        if most:
            hidden, colours = np.full((most, 3), NOTHING), np.zeros((most, 3), np.uint8)
            options = {"cast_shadow": False, "receive_shadow": False, **options}
            self._node = add_instances(server, path, cylinder(), hidden, colours, **options)

    def show(self, ends: np.ndarray, radius: Any, colours: np.ndarray) -> None:
        """Show n rods from ``ends[:, 0]`` to ``ends[:, 1]`` (n, 2, 3) [m], with radii (n,) [m] and linear colours of
        0 … 255 (n, 3); the others are hidden."""
        if self._node is None:
            return
        n, way = len(ends), ends[:, 1] - ends[:, 0]
        length = np.linalg.norm(way, axis=1)
        there = (length > NOTHING) & np.isfinite(length)
        n, ends, way, length = int(there.sum()), ends[there], way[there], length[there]
        place, turn = np.zeros((self._most, 3), np.float32), np.tile(np.eye(1, 4, dtype=np.float32), (self._most, 1))
        scale, colour = np.full((self._most, 3), NOTHING, np.float32), np.zeros((self._most, 3), np.uint8)
        place[:n], turn[:n] = ends.mean(axis=1), from_z(way / length[:, None])
        scale[:n, :2], scale[:n, 2] = np.broadcast_to(radius, there.shape)[there][:, None], 0.5 * length
        colour[:n] = colours[there]
        node = self._node
        node.batched_positions, node.batched_wxyzs, node.batched_scales = place, turn, scale
        if not np.array_equal(node.batched_colors, colour):
            node.batched_colors = colour

    def set_visible(self, wanted: bool) -> None:
        if self._node is not None and self._node.visible != wanted:
            self._node.visible = wanted

    def remove(self) -> None:
        if self._node is not None:
            self._node.remove()
