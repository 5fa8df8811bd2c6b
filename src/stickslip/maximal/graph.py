"""The graph of bodies and joints, and a spanning forest of it: the order of elimination.

Bodies that a joint connects to the world are roots, and the rest follows breadth first. A component without such a
joint has its lowest link as root. A joint that would close a loop with those before it is not part of the forest and is
listed separately. The joints of a model's tree come before extra ones, so that all of them are in the forest.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np

from stickslip.maximal.joints import Joints


class Forest(NamedTuple):
    """The order of elimination, as kernels see it."""

    order: np.ndarray
    """(nl − 1,) links, parents first; elimination runs from its end."""
    parent: np.ndarray
    """(nl,) the body on the other side of the link's joint; 0 if that is the world or if there is none."""
    joint: np.ndarray
    """(nl,) that joint; −1 if there is none."""
    own: np.ndarray
    """(nl,) where the link's own six columns begin in a row of twelve: 0 or 6."""
    loops: np.ndarray
    """(nloops,) joints outside the forest."""


def closing(joints: Joints, nlink: int) -> list[int]:
    """The joints that close a loop with those before them."""
    part = list(range(nlink))

    def root(link: int) -> int:
        while part[link] != link:
            part[link] = part[part[link]]
            link = part[link]
        return link

    loops = []
    for j, (a, b) in enumerate(zip(joints.link1, joints.link2, strict=True)):
        first, second = root(int(a)), root(int(b))
        if first == second:
            loops.append(j)
        part[second] = first
    return loops


def spanning_forest(joints: Joints, nlink: int) -> Forest:
    loops = closing(joints, nlink)
    touching: list[list[int]] = [[] for _ in range(nlink)]
    for j in sorted(set(range(len(joints.link1))) - set(loops)):
        touching[joints.link1[j]].append(j)
        touching[joints.link2[j]].append(j)
    parent, joint = np.zeros(nlink, dtype=np.int64), np.full(nlink, -1, dtype=np.int64)
    own = np.full(nlink, 6, dtype=np.int64)
    seen, order = {0}, []
    for root in range(nlink):  # the world first, then components without a joint to it
        if root in seen and root != 0:
            continue
        queue = deque([root])
        if root != 0:
            seen.add(root)
            order.append(root)
        while queue:
            here = queue.popleft()
            for j in touching[here]:
                there = int(joints.link2[j] if joints.link1[j] == here else joints.link1[j])
                if there not in seen:
                    seen.add(there)
                    parent[there], joint[there], own[there] = here, j, 6 if joints.link2[j] == there else 0
                    order.append(there)
                    queue.append(there)
    return Forest(np.array(order, dtype=np.int64), parent, joint, own, np.array(loops, dtype=np.int64))


def root_links(forest: Forest) -> np.ndarray:
    """(nl,) the root of each link's part of the forest; 0 for the world."""
    root = np.zeros(len(forest.parent), dtype=np.int64)
    for b in forest.order:
        root[b] = b if forest.parent[b] == 0 else root[forest.parent[b]]
    return root
