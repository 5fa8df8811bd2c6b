"""Spatial tendons as rods along their paths, with MuJoCo's widths and colours.

A tendon that actuators pull at turns red as their input (control or activation) goes from 0 to the end of its range, or
to 1 without a range.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stickslip.dynamics.tendon_points import most_pieces, path_pieces
from stickslip.record.drawn import input_of, paths_of
from stickslip.record.header import Header
from stickslip.record.picture.shapes import INVISIBLE, link_frames
from stickslip.viewer.body_meshes import linear
from stickslip.viewer.moment import Moment
from stickslip.viewer.rods import Rods

PULLED = (220, 40, 30)
"""Colour of a tendon whose actuator pulls with all its input."""
THINNEST = 0.002
"""Smallest radius of a tendon relative to the size of the scene, so that it can be seen."""


class TendonLines:
    """The tendons of one run; with a ``colour`` all have that colour. ``size`` [m] is that of the scene."""

    def __init__(
        self, server: Any, root: str, header: Header, size: float, colour: tuple[int, int, int] | None = None
    ) -> None:
        entry = header.drawn.get("tendons")
        self.any = bool(entry)
        self.wanted = self.any
        if not entry:
            return
        self._paths, self._pulled = paths_of(entry), entry["pulled_by"]
        rgba = np.array(entry["rgba"], dtype=float)
        self._colour = np.tile(colour, (len(rgba), 1)) if colour else 255.0 * rgba[:, :3]
        self._radius = np.maximum(np.array(entry["width"], dtype=float), THINNEST * size)
        self._radius[rgba[:, 3] < INVISIBLE] = 0.0
        self._rods = Rods(server, f"{root}/tendons", most_pieces(self._paths), cast_shadow=True)

    def show(self, moment: Moment) -> None:
        if not self.any:
            return
        self._rods.set_visible(self.wanted)
        if self.wanted:
            pieces, owner = path_pieces(self._paths, *link_frames(moment.pose))
            self._rods.show(pieces, self._radius[owner], linear(self._coloured(moment))[owner])

    def _coloured(self, moment: Moment) -> np.ndarray:
        """(nt, 3) colours of 0 … 255."""
        share = np.zeros(len(self._colour))
        for entry in self._pulled:
            value = input_of(entry, moment.control, moment.act)
            end = entry["high"] if value >= 0.0 else entry["low"]
            t = entry["tendon"]
            share[t] = max(share[t], min(1.0, abs(value / end) if end else abs(value)))
        share = np.nan_to_num(share)[:, None]
        return (1.0 - share) * self._colour + share * np.array(PULLED)

    def remove(self) -> None:
        if self.any:
            self._rods.remove()
