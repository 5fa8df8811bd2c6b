"""Following: keeps a body where it was at first on the screen, as the camera of pictures does (``follow``).

The scene is moved, not the cameras: each browser's own camera stays free, shared pages follow as well, and the light
casts shadows wherever the body goes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stickslip.errors import unknown
from stickslip.record.header import Header

ROOT = "/scene"
"""The node that carries everything but the lights."""


class Following:
    """The node ``ROOT`` of a server; ``pose`` (nl, 7) has the links where they are at first."""

    def __init__(self, server: Any, header: Header, pose: np.ndarray, body: str | None = None) -> None:
        self.names, self._home = header.link_names, pose[:, :3].copy()
        self._node = server.scene.add_frame(ROOT, show_axes=False)
        self.offset = np.zeros(3)
        """(3,) by which the scene is moved [m]."""
        self.body: str | None = None
        self.choose(body)

    def choose(self, body: str | None) -> None:
        """Follow another body, or none."""
        if body is not None and body not in self.names[1:]:
            raise unknown("body", str(body), self.names[1:])
        self.body = body

    def show(self, pose: np.ndarray) -> None:
        """Move the scene for these poses (nl, 7)."""
        offset = np.zeros(3)
        if self.body is not None:
            link = self.names.index(self.body)
            offset = self._home[link] - pose[link, :3]
        if np.all(np.isfinite(offset)) and not np.array_equal(offset, self.offset):
            self.offset = offset
            self._node.position = offset
