"""Which pairs of shapes may touch.

Two shapes may touch if their masks allow it (MuJoCo's contype/conaffinity), they are on different links, neither link
is the other's parent (unless that is the world), and they are not excluded by name.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from stickslip.model.model import Model
from stickslip.model.shape import Shape


def touching(model: Model) -> Iterator[tuple[Shape, Shape]]:
    """All pairs of shapes that are allowed to touch; their number is quadratic in that of the shapes."""
    excluded = {int(signature) for signature in model.mj.exclude_signature}
    parent = model.tree.parent
    for a, b in itertools.combinations(model.shapes, 2):
        if not (a.group & b.mask or b.group & a.mask) or a.link == b.link:
            continue
        if (a.link and parent[b.link] == a.link) or (b.link and parent[a.link] == b.link):
            continue
        low, high = sorted((a.body, b.body))
        if (low << 16) + high in excluded:
            continue
        yield a, b
