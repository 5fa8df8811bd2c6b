"""Contact quantities summed or maximised over the contacts of each frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from stickslip.record.log import Log


def per_frame(log: Log, values: np.ndarray, which: np.ndarray | slice = slice(None)) -> np.ndarray:
    """(frames,) sums of the (n,) values of the chosen flat contacts."""
    return np.bincount(log.contact_frame()[which], weights=values[which], minlength=len(log))


def normal_force(log: Log, links: list[int] | None) -> np.ndarray:
    """(frames,) sum of the normal forces [N]."""
    force = log.contact("force")[:, 0]
    if links is None:
        return per_frame(log, force)
    return per_frame(log, force, np.isin(log.contact("link1"), links) | np.isin(log.contact("link2"), links))


def world_force(log: Log) -> np.ndarray:
    """(n, 3) force on body 2 of each flat contact in world axes [N]."""
    normal, tangent, force = log.contact("normal"), log.contact("tangent"), log.contact("force")
    return force[:, :1] * normal + force[:, 1:2] * tangent + force[:, 2:] * np.cross(normal, tangent)


def net_force(log: Log, links: list[int]) -> np.ndarray:
    """(frames, 3) total contact force on these links in world axes [N]."""
    sign = np.isin(log.contact("link2"), links).astype(float) - np.isin(log.contact("link1"), links)
    force = sign[:, None] * world_force(log)
    return np.stack([per_frame(log, force[:, k]) for k in range(3)], axis=1)


def penetration(log: Log) -> np.ndarray:
    """(frames,) depth of the deepest contact [m]."""
    depth = np.zeros(len(log))
    np.maximum.at(depth, log.contact_frame(), -log.contact("gap"))
    return depth


def by_links(log: Log) -> dict[tuple[int, int], np.ndarray]:
    """(link 1, link 2) → mask over the flat contacts."""
    first, second = log.contact("link1"), log.contact("link2")
    pairs = np.unique(np.stack([first, second], axis=1), axis=0)
    return {(int(a), int(b)): (first == a) & (second == b) for a, b in pairs}
