"""From raw contacts to ``Contacts``: order of the bodies, persistent ids, tangents, materials, and how they move.

Body 1 is the world if it takes part, else the lower link. The id of a contact is made of the two shapes and the
features that touch: (a·ns + b)·2³¹ + feature. The first tangent is ``smooth_tangent`` of the normal in the axes of body
1's shape: a plane's x axis, a box axis on a box's face. For a ball they are the link's axes, turned so that the one
normal at which its tangents jump is not a likely direction of stacking.

A material's stiffness K, damping B and preload P belong to a contact, or to the pair of shapes, whose n contacts have
K/n, B/n and P/n each, or to a square metre of a manifold (``SHARES``). n counts all corners of a manifold, near or not:
4 for a box on a plane, however it is tilted. So K of a contact does not jump when another corner touches.
"""

from __future__ import annotations

from math import isnan, pi

from stickslip._jit import kernel
from stickslip.collision.contacts import (
    ADHESION,
    BOUNCE,
    DAMPING,
    FRICTION,
    PRELOAD,
    RESTITUTION,
    ROLLING,
    STIFFNESS,
    TANGENT_DAMPING,
    TANGENT_STIFFNESS,
    TORSION,
    append,
    move,
    set_frame,
)
from stickslip.collision.convex.broad_phase import explicit_pair
from stickslip.collision.convex.geometry import (
    BOX,
    CAPSULE,
    CONDIM,
    CYLINDER,
    GAP,
    MARGIN,
    MESH,
    PAIR,
    PLANE,
    PRIORITY,
    SPHERE,
    TERRAIN,
)
from stickslip.collision.convex.motion import follow, tilt
from stickslip.collision.tangent import carried_axis, from_carried_axis, smooth_tangent
from stickslip.math.spatial import rotate, rotate_transposed
from stickslip.model.shape import ALL_ROUND, ALONG_NORMAL, DEFAULT_DAMPING, DEFAULT_FRICTION, DEFAULT_STIFFNESS, SAID

FEATURES = 1 << 31
SHARES = ("point", "pair", "area")
"""What K, B and P of a material are counted by; the index is ``Search.shares``."""
BY_POINT, BY_PAIR, BY_AREA = range(3)
TOUCH = 1e-6
"""Gap up to which surfaces count as touching for adhesion, however small its distance is [m]: contacts of rigid bodies
are closed to round-off only."""
UPRIGHT = 1e-9
"""Sine of the tilt below which a cylinder on a plane has no lowest point."""


@kernel
def larger(x, y, lead, default):
    """The larger of two values, or that of the surface that dictates: ``lead`` > 0 the first, < 0 the second."""
    if isnan(x):
        return default if isnan(y) else y
    if isnan(y) or lead > 0.0:
        return x
    return y if lead < 0.0 else max(x, y)


@kernel
def in_series(x, y, lead, default):
    if isnan(x):
        return default if isnan(y) else y
    if isnan(y) or lead > 0.0:
        return x
    if lead < 0.0:
        return y
    return 0.0 if min(x, y) == 0.0 else 1.0 / (1.0 / x + 1.0 / y)


@kernel
def combine(shapes, rules, a, b, out):
    """The material of a pair with its margin and gap, by the rule of ``model.shape.combine`` or an explicit pair."""
    material, k = shapes.material, explicit_pair(shapes, rules, a, b)
    if k >= 0:
        for i in range(PAIR):
            out[0, i] = rules.pair_material[k, i]
        return
    lead = material[a, PRIORITY] - material[b, PRIORITY]
    condim = larger(material[a, CONDIM], material[b, CONDIM], lead, 3.0)
    out[0, FRICTION] = larger(material[a, 0], material[b, 0], lead, DEFAULT_FRICTION) if condim >= 3.0 else 0.0
    out[0, STIFFNESS] = in_series(material[a, 1], material[b, 1], lead, DEFAULT_STIFFNESS)
    out[0, DAMPING] = in_series(material[a, 2], material[b, 2], lead, DEFAULT_DAMPING)
    out[0, RESTITUTION] = larger(material[a, 3], material[b, 3], lead, 0.0)
    out[0, PRELOAD] = larger(material[a, 4], material[b, 4], lead, 0.0) if out[0, STIFFNESS] > 0.0 else 0.0
    out[0, TORSION] = larger(material[a, 5], material[b, 5], lead, 0.0) if condim >= 4.0 else 0.0
    out[0, ROLLING] = larger(material[a, 6], material[b, 6], lead, 0.0) if condim >= 6.0 else 0.0
    own, other = (material[a, 7] if lead >= 0.0 else 0.0), (material[b, 7] if lead <= 0.0 else 0.0)
    out[0, ADHESION] = own + other
    out[0, TANGENT_STIFFNESS] = in_series(material[a, 8], material[b, 8], lead, DEFAULT_STIFFNESS)
    out[0, TANGENT_DAMPING] = in_series(material[a, 9], material[b, 9], lead, DEFAULT_DAMPING)
    out[0, BOUNCE] = SAID
    if out[0, RESTITUTION] > 0.0 and isnan(material[a, 2]) and isnan(material[b, 2]) and out[0, STIFFNESS] > 0.0:
        out[0, BOUNCE] = ALL_ROUND if isnan(material[a, 9]) and isnan(material[b, 9]) else ALONG_NORMAL
    out[0, MARGIN] = material[a, MARGIN] + material[b, MARGIN]
    out[0, GAP] = material[a, GAP] + material[b, GAP]


@kernel
def on_plane(shapes, placed, s, points, nx, ny, nz):
    """(1/n, area [m²]) of a shape on a plane or terrain with this normal: n contacts, if all that can touch do."""
    R, kind, size = placed.rot, shapes.kind[s], shapes.size
    if kind == BOX:
        x = abs(nx * R[s, 0, 0] + ny * R[s, 1, 0] + nz * R[s, 2, 0])
        y = abs(nx * R[s, 0, 1] + ny * R[s, 1, 1] + nz * R[s, 2, 1])
        z = abs(nx * R[s, 0, 2] + ny * R[s, 1, 2] + nz * R[s, 2, 2])
        j = 2 if z >= max(x, y) else (0 if x >= y else 1)
        return 0.25, 4.0 * size[s, (j + 1) % 3] * size[s, (j + 2) % 3]
    if kind == MESH:
        return 1.0 / max(1, min(shapes.corners[s], points) if points > 0 else shapes.corners[s]), shapes.area[s]
    if kind == CAPSULE:
        return 0.5, 0.0
    if kind == CYLINDER:
        sine = tilt(placed, s, nx, ny, nz)
        if 2.0 * sine * sine > 1.0:  # it lies
            return 0.5, 0.0
        return (0.2 if sine > UPRIGHT else 0.25), pi * size[s, 0] * size[s, 0]
    return 1.0, 0.0


@kernel
def share_out(geometry, placed, found, i, a, b, by, nx, ny, nz, material):
    """Divide the stiffness, damping and preload of a pair among the contacts of its manifold."""
    shapes, points = geometry.shapes, geometry.points[0]
    if shapes.kind[a] == PLANE or shapes.kind[a] == TERRAIN:
        share, area = on_plane(shapes, placed, b, points, nx, ny, nz)
    elif shapes.kind[b] == PLANE or shapes.kind[b] == TERRAIN:
        share, area = on_plane(shapes, placed, a, points, nx, ny, nz)
    else:
        share, area = found.share[i], found.area[i]
        if points > 0 and (shapes.kind[a] == MESH or shapes.kind[b] == MESH):
            share = max(share, 1.0 / points)
    if by == BY_AREA and area > 0.0:
        share *= area
    material[0, STIFFNESS] *= share
    material[0, DAMPING] *= share
    material[0, PRELOAD] *= share
    material[0, TANGENT_STIFFNESS] *= share
    material[0, TANGENT_DAMPING] *= share


@kernel
def finish(geometry, rules, placed, kin, found, contacts, by, margin, material):
    """Append all raw contacts whose gap, less the margin of their pair, is below ``margin`` [m] to ``contacts``; ``by``
    is one of ``SHARES``; ``material`` (1, PAIR) is scratch.

    The margin of a pair inflates its surfaces: it is subtracted from the gap, once the contact's motion, which depends
    on the surfaces themselves, is known. Adhesion is dropped beyond the distance at which it begins; contacts that
    pull from a distance are kept beyond ``margin``.
    """
    shapes = geometry.shapes
    R, ns = placed.rot, shapes.kind.shape[0]
    for i in range(min(found.total[0], found.gap.shape[0])):
        a, b, gap = found.first[i], found.second[i], found.gap[i]
        name = (a * ns + b) * FEATURES + found.feature[i]
        x, y, z = found.point[i, 0], found.point[i, 1], found.point[i, 2]
        nx, ny, nz = found.normal[i, 0], found.normal[i, 1], found.normal[i, 2]
        turned = shapes.link[b] < shapes.link[a]
        if turned:
            a, b = b, a
            x, y, z = x - gap * nx, y - gap * ny, z - gap * nz
            nx, ny, nz = -nx, -ny, -nz
        combine(shapes, rules, a, b, material)
        inflated = gap - material[0, MARGIN]
        pulls = material[0, ADHESION] > 0.0 or shapes.pull[a] != 0.0 or shapes.pull[b] != 0.0
        if not (inflated < margin or (pulls and inflated < material[0, GAP])):
            continue
        if not inflated < max(material[0, GAP], TOUCH):
            material[0, ADHESION] = 0.0
        if by != BY_POINT:
            share_out(geometry, placed, found, i, a, b, by, nx, ny, nz, material)
        c = append(contacts, name, shapes.link[a], shapes.link[b], gap, 0, 0.0, material, 0)
        if c < 0:
            continue
        contacts.shape1[c], contacts.shape2[c] = a, b
        if shapes.kind[a] == SPHERE:
            tx, ty, tz = rotate_transposed(kin.rot, shapes.link[a], nx, ny, nz)
            tx, ty, tz = carried_axis(tx, ty, tz)
            tx, ty, tz = smooth_tangent(tx, ty, tz)
            tx, ty, tz = from_carried_axis(tx, ty, tz)
            tx, ty, tz = rotate(kin.rot, shapes.link[a], tx, ty, tz)
        else:
            tx, ty, tz = rotate_transposed(R, a, nx, ny, nz)
            tx, ty, tz = smooth_tangent(tx, ty, tz)
            tx, ty, tz = rotate(R, a, tx, ty, tz)
        set_frame(contacts, c, x, y, z, 0.0, nx, ny, nz, tx, ty, tz)
        follow(shapes, placed, a, b, turned, found.feature[i], contacts, c)
        move(kin, contacts, c)
        contacts.gap[c] = inflated
