"""Which pairs of shapes may touch.

Two shapes may touch if they are an explicit pair, or if their masks allow it (MuJoCo's contype/conaffinity), neither
link is the other's parent (unless that is the world, or the model does not filter parents), and they are not excluded
by name. They must be on different links in any case.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from stickslip.model.model import Model
from stickslip.model.shape import Shape


def touching(model: Model) -> Iterator[tuple[Shape, Shape]]:
    """All pairs of shapes that are allowed to touch; their number is quadratic in that of the shapes."""
    excluded = {int(signature) for signature in model.mj.exclude_signature}
    parent = model.tree.parent if model.filter_parents else np.full(model.nlink, -1)
    for a, b in itertools.combinations(model.shapes, 2):
        if a.paired and b.paired and model.explicit(a, b) is not None:
            yield a, b
            continue
        if not (a.group & b.mask or b.group & a.mask) or a.link == b.link:
            continue
        if (a.link and parent[b.link] == a.link) or (b.link and parent[a.link] == b.link):
            continue
        low, high = sorted((a.body, b.body))
        if (low << 16) + high in excluded:
            continue
        yield a, b
