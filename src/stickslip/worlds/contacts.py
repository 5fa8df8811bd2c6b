"""The contacts of all worlds as padded arrays."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from stickslip.attributes import Closed
from stickslip.model.model import Model


class WorldContacts(Closed):
    """The contacts of each world's last step, with the forces that acted in it. World w has ``count[w]`` contacts, in
    the first places of its row; what is behind them has no meaning. The arrays have room for ``places`` contacts."""

    def __init__(self, model: Model, rows: Mapping[str, np.ndarray]) -> None:
        self._model = model
        self._take(rows)
        self._complete = True

    def _take(self, rows: Mapping[str, np.ndarray]) -> None:
        self._rows = rows

    @property
    def places(self) -> int:
        """How many contacts there is room for; rows become longer where a world has more."""
        return self._rows["contact_pair"].shape[1]

    @property
    def count(self) -> np.ndarray:
        """(n,) number of contacts."""
        return np.minimum(self._rows["contact_found"][:, 0], self.places)

    @property
    def found(self) -> np.ndarray:
        """(n, places) which places have a contact."""
        return np.arange(self.places) < self.count[:, None]

    @property
    def id(self) -> np.ndarray:
        """(n, places) names of contacts, which stay the same from step to step."""
        return self._rows["contact_pair"]

    @property
    def links(self) -> np.ndarray:
        """(n, places, 2) indices of the two links; 0 is the world, ``model.link_names`` has their names."""
        return np.stack([self._rows["contact_link1"], self._rows["contact_link2"]], axis=2)

    @property
    def point(self) -> np.ndarray:
        """(n, places, 3) where the second surface touches [m, world]."""
        return self._rows["contact_point"]

    @property
    def frame(self) -> np.ndarray:
        """(n, places, 3, 3) rows: normal from the first link to the second, tangent 1, tangent 2 [world]."""
        return self._rows["contact_axes"]

    @property
    def gap(self) -> np.ndarray:
        """(n, places) [m], negative in penetration."""
        return self._rows["contact_gap"]

    @property
    def frame_force(self) -> np.ndarray:
        """(n, places, 3) force on the second link along normal, tangent 1 and tangent 2 [N]."""
        force = self._rows["contact_force"] if "contact_force" in self._rows else self._rows["force"]
        return force[:, : self.places]

    def force_on(self, link: str) -> np.ndarray:
        """(n, 3) the sum of the contacts' forces on a link, by its name [N, world]."""
        k = self._model.link(link)
        force = np.einsum("wci,wcij->wcj", self.frame_force, self.frame)
        links = self.links
        sign = (links[..., 1] == k).astype(float) - (links[..., 0] == k)
        return np.einsum("wc,wcj->wj", sign * self.found, np.where(self.found[..., None], force, 0.0))
