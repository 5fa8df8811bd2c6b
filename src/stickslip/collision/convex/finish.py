"""From raw contacts to ``Contacts``: order of the bodies, persistent ids, tangents, materials.

Body 1 is the world if it takes part, else the lower link. The id of a contact is made of the two shapes and the
features that touch: (a·ns + b)·2³¹ + feature. The first tangent is ``smooth_tangent`` of the normal in the axes of body
1's shape: a plane's x axis, a box axis on a box's face. The fields that only viscoelastic methods use have neutral
values: the normal is fixed to body 1, the point to body 2.
"""

from __future__ import annotations

from math import isnan

from stickslip._jit import kernel
from stickslip.collision.contacts import append, set_frame, set_motion
from stickslip.collision.tangent import smooth_tangent
from stickslip.math.spatial import rotate, rotate_transposed
from stickslip.model.shape import DEFAULT_DAMPING, DEFAULT_FRICTION, DEFAULT_STIFFNESS

FEATURES = 1 << 31


@kernel
def larger(x, y, default):
    if isnan(x):
        return default if isnan(y) else y
    return x if isnan(y) else max(x, y)


@kernel
def in_series(x, y, default):
    if isnan(x):
        return default if isnan(y) else y
    if isnan(y):
        return x
    return 0.0 if min(x, y) == 0.0 else 1.0 / (1.0 / x + 1.0 / y)


@kernel
def combine(material, a, b, out):
    """The material of a pair, by the rule of ``model.shape.combine``."""
    out[0, 0] = larger(material[a, 0], material[b, 0], DEFAULT_FRICTION)
    out[0, 1] = in_series(material[a, 1], material[b, 1], DEFAULT_STIFFNESS)
    out[0, 2] = in_series(material[a, 2], material[b, 2], DEFAULT_DAMPING)
    out[0, 3] = larger(material[a, 3], material[b, 3], 0.0)
    out[0, 4] = larger(material[a, 4], material[b, 4], 0.0)


@kernel(inline=False)
def finish(shapes, placed, kin, found, contacts, material):
    """Append all raw contacts to ``contacts``; ``material`` (1, 5) is scratch."""
    R, ns = placed.rot, shapes.kind.shape[0]
    for i in range(min(found.total[0], found.gap.shape[0])):
        a, b, gap = found.first[i], found.second[i], found.gap[i]
        name = (a * ns + b) * FEATURES + found.feature[i]
        x, y, z = found.point[i, 0], found.point[i, 1], found.point[i, 2]
        nx, ny, nz = found.normal[i, 0], found.normal[i, 1], found.normal[i, 2]
        if shapes.link[b] < shapes.link[a]:
            a, b = b, a
            x, y, z = x - gap * nx, y - gap * ny, z - gap * nz
            nx, ny, nz = -nx, -ny, -nz
        combine(shapes.material, a, b, material)
        c = append(contacts, name, shapes.link[a], shapes.link[b], gap, 0, 0.0, material, 0)
        if c < 0:
            continue
        tx, ty, tz = rotate_transposed(R, a, nx, ny, nz)
        tx, ty, tz = smooth_tangent(tx, ty, tz)
        tx, ty, tz = rotate(R, a, tx, ty, tz)
        set_frame(contacts, c, x, y, z, 0.0, nx, ny, nz, tx, ty, tz)
        set_motion(kin, contacts, c, 0.0, 0.0, 0.0, shapes.link[b], x, y, z)
