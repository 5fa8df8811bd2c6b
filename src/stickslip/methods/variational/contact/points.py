"""Contact points in maximal coordinates: gaps φ at any pose, their derivatives N, friction's B at the start of a step.

A contact is defined by two cores, c₁ on link 1 and c₂ on link 2, which are fixed to their links during a step:

    FLAT1, FLAT2    φ = n·(c₂ − c₁) − offset, with the normal n fixed to link 1 or 2
    ROUND           φ = |c₂ − c₁| − offset

The core of a ball is its centre, that of a capsule a point of its axis, that of a cylinder on its side a point of its
axis (with the current radius), and that of any other shape the material point that touches. So balls and capsules may
roll on planes and faces, and balls on balls and corners, while φ stays exact. On edges and on the sides of capsules and
cylinders the normal is frozen (FLAT): φ is then the distance to a tangent plane of a convex body, never more than the
true one while bodies translate. The offset makes φ(z) the detector's gap. Derivatives are over (δx [world], δθ [body
axes]) of the links' centres of mass: with d = c₂ − c₁, and n = d/|d| for ROUND,

    FLAT1   N₁ = −(n, Rᵀ((c₂ − x₁) × n)),   N₂ = (n, Rᵀ((c₂ − x₂) × n))
    FLAT2   the same with c₁,     ROUND   with either, which lie on one line along n

so that a normal force has one line of action for both links. ``rows`` are C₀(z) = (N; B) with the tangents t of the
contact frame, B₁ = −(t, Rᵀ((p − x₁) × t)), B₂ = (t, Rᵀ((p − x₂) × t)) at the point p on body 2: u̇ = C₀·(v, ω) is the
velocity of body 2 relative to body 1.
Reference: Brüdigam et al., eqs. (14), (18), (19), (22). Differs from the paper in: any normal instead of the world's z
axis, tangents of the contact frame, balls, two moving bodies.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.contacts import ADHESION, FRICTION, ON_BOX
from stickslip.collision.convex.finish import FEATURES
from stickslip.collision.convex.geometry import BOX, CAPSULE, CYLINDER, FEATURE_BITS, MESH, PLANE, SPHERE, WITHIN
from stickslip.math.spatial import cross, rotate, rotate_transposed

FLAT1, FLAT2, ROUND = range(3)
ALIGNED = 1e-12
"""Distance of the cosine from 1 below which a normal counts as that of a face."""
ACROSS = 1e-6
"""Cosine below which a normal counts as perpendicular to an axis."""
MET = 1e-12
"""Distance below which two cores have no direction between them [m]."""


class Points(NamedTuple):
    """Up to N contacts during a step; the first ``found[0]`` are valid."""

    found: np.ndarray
    """(1,) number of contacts."""
    name: np.ndarray
    """(N,) the contact's id, which persists from step to step."""
    link1: np.ndarray
    """(N,)."""
    link2: np.ndarray
    """(N,)."""
    kind: np.ndarray
    """(N,) FLAT1, FLAT2 or ROUND."""
    core1: np.ndarray
    """(N, 3) c₁ from the centre of mass of link 1, in its axes [m]; for link 0, in the world."""
    core2: np.ndarray
    """(N, 3) c₂ likewise [m]."""
    normal: np.ndarray
    """(N, 3) n in the axes of the link that it is fixed to; unused for ROUND."""
    offset: np.ndarray
    """(N,) offset of the gap [m]."""
    ease: np.ndarray
    """(N,) compliance of a deep overlap [m/N], else 0 (``recovering``)."""
    friction: np.ndarray
    """(N,) c_f."""
    surface: np.ndarray
    """(N, 3) velocity of body 2's surface relative to body 1's that is not due to the bodies, contact frame [m/s]."""
    adhesion: np.ndarray
    """(N,) force with which the contact pulls [N]."""
    rows1: np.ndarray
    """(N, 3, 6) normal, tangent 1, tangent 2 over (v [m/s, world], ω [rad/s, body axes]) of link 1 at the start."""
    rows2: np.ndarray
    """(N, 3, 6) the same of link 2."""


def make_points(capacity: int) -> Points:
    n = max(1, capacity)

    def whole() -> np.ndarray:
        return np.zeros(n, dtype=np.int64)

    return Points(
        found=np.zeros(1, dtype=np.int64),
        name=whole(),
        link1=whole(),
        link2=whole(),
        kind=whole(),
        core1=np.zeros((n, 3)),
        core2=np.zeros((n, 3)),
        normal=np.zeros((n, 3)),
        offset=np.zeros(n),
        ease=np.zeros(n),
        friction=np.zeros(n),
        surface=np.zeros((n, 3)),
        adhesion=np.zeros(n),
        rows1=np.zeros((n, 3, 6)),
        rows2=np.zeros((n, 3, 6)),
    )


@kernel
def carried(pose, link, core, c):
    """World position of core c of a link."""
    x, y, z = rotate(pose.rot, link, core[c, 0], core[c, 1], core[c, 2])
    return x + pose.pos[link, 0], y + pose.pos[link, 1], z + pose.pos[link, 2]


@kernel
def write_row(pose, link, sign, nx, ny, nz, px, py, pz, row):
    """sign·(n, Rᵀ((p − x) × n)) into row (6,): a unit force along n at p."""
    x, y, z = cross(px - pose.pos[link, 0], py - pose.pos[link, 1], pz - pose.pos[link, 2], nx, ny, nz)
    x, y, z = rotate_transposed(pose.rot, link, x, y, z)
    row[0], row[1], row[2] = sign * nx, sign * ny, sign * nz
    row[3], row[4], row[5] = sign * x, sign * y, sign * z


@kernel
def gap_and_rows(points, c, pose, row1, row2):
    """φ of contact c at a pose [m], and N over (δx, δθ) of link 1 and of link 2 into row1 and row2 (6,)."""
    a, b, kind = points.link1[c], points.link2[c], points.kind[c]
    x1, y1, z1 = carried(pose, a, points.core1, c)
    x2, y2, z2 = carried(pose, b, points.core2, c)
    dx, dy, dz = x2 - x1, y2 - y1, z2 - z1
    if kind == ROUND:
        distance = max(sqrt(dx * dx + dy * dy + dz * dz), MET)
        nx, ny, nz = dx / distance, dy / distance, dz / distance
        px, py, pz = x2, y2, z2
    else:
        carrier = a if kind == FLAT1 else b
        n = points.normal
        nx, ny, nz = rotate(pose.rot, carrier, n[c, 0], n[c, 1], n[c, 2])
        distance = nx * dx + ny * dy + nz * dz
        if kind == FLAT1:
            px, py, pz = x2, y2, z2
        else:
            px, py, pz = x1, y1, z1
    write_row(pose, a, -1.0, nx, ny, nz, px, py, pz, row1)
    write_row(pose, b, 1.0, nx, ny, nz, px, py, pz, row2)
    return distance - points.offset[c]


@kernel
def cosine(shapes, s, pose, axis, nx, ny, nz):
    """Cosine of a normal with an axis of shape s."""
    R = shapes.rot
    x, y, z = rotate(pose.rot, shapes.link[s], R[s, 0, axis], R[s, 1, axis], R[s, 2, axis])
    return x * nx + y * ny + z * nz


@kernel
def reach(shapes, s, pose, nx, ny, nz):
    """Distance of the core from the surface [m]."""
    kind = shapes.kind[s]
    if kind == SPHERE or kind == CAPSULE:
        return shapes.size[s, 0]
    if kind == CYLINDER and abs(cosine(shapes, s, pose, 2, nx, ny, nz)) < ACROSS:
        return shapes.size[s, 0]
    return 0.0


@kernel
def has_face(shapes, s, pose, nx, ny, nz):
    """Whether a normal is that of a face of the shape."""
    kind = shapes.kind[s]
    if kind == PLANE:
        return True
    if kind == CYLINDER:
        return abs(cosine(shapes, s, pose, 2, nx, ny, nz)) > 1.0 - ALIGNED
    if kind == BOX:
        for axis in range(3):
            if abs(cosine(shapes, s, pose, axis, nx, ny, nz)) > 1.0 - ALIGNED:
                return True
    return False


@kernel
def is_point(shapes, s, pose, nx, ny, nz):
    """Whether the core is a single point for all directions: a ball's centre, a capsule's end, a box's corner."""
    kind, least = shapes.kind[s], 1.0
    if kind == CAPSULE:
        least = abs(cosine(shapes, s, pose, 2, nx, ny, nz))
    elif kind == BOX:
        for axis in range(3):
            least = min(least, abs(cosine(shapes, s, pose, axis, nx, ny, nz)))
    elif kind != SPHERE:
        return False
    return least >= ACROSS


@kernel
def convex_kind(shapes, name, one, other, swapped, pose, nx, ny, nz):
    """The kind of contact between shape ``one`` of link 1 and shape ``other`` of link 2."""
    first, second = shapes.kind[one], shapes.kind[other]
    if (first == BOX or first == MESH) and (second == BOX or second == MESH):
        label = (name % FEATURES) >> (2 * FEATURE_BITS)
        if label >> 1 == WITHIN:
            return FLAT1
        return FLAT1 if (label & 1 == 1) == swapped else FLAT2
    if has_face(shapes, one, pose, nx, ny, nz):
        return FLAT1
    if has_face(shapes, other, pose, nx, ny, nz):
        return FLAT2
    point1, point2 = is_point(shapes, one, pose, nx, ny, nz), is_point(shapes, other, pose, nx, ny, nz)
    if point1:
        return ROUND if point2 else FLAT2
    return FLAT1


@kernel(inline=False)
def place_points(contacts, shapes, convex, pose, points):
    """Fill ``points`` with the contacts at ``pose``; ``convex`` says that their ids are those of ``ConvexDetector``."""
    total, ns = contacts.found[0], shapes.kind.shape[0]
    points.found[0] = total
    for c in range(total):
        a, b, gap = contacts.link1[c], contacts.link2[c], contacts.gap[c]
        p, axes = contacts.point, contacts.axes
        nx, ny, nz = axes[c, 0, 0], axes[c, 0, 1], axes[c, 0, 2]
        kind, r1, r2 = FLAT1, 0.0, 0.0
        if convex:
            pair = contacts.pair[c] // FEATURES
            one, other = pair // ns, pair % ns
            swapped = shapes.link[other] < shapes.link[one]
            if swapped:
                one, other = other, one
            r1, r2 = reach(shapes, one, pose, nx, ny, nz), reach(shapes, other, pose, nx, ny, nz)
            kind = convex_kind(shapes, contacts.pair[c], one, other, swapped, pose, nx, ny, nz)
        elif contacts.rolling[c] == ON_BOX:
            kind, r1 = FLAT2, -contacts.radius[c] - gap
        else:
            r2 = contacts.radius[c]
            C = contacts.curvature
            if C[c, 0] > 0.0 and C[c, 1] == 0.0 and C[c, 2] == 0.0 and C[c, 3] == 0.0:
                kind, r1 = ROUND, 1.0 / C[c, 0] - r2 - gap
        if kind == ROUND and not r1 + gap + r2 > MET:
            kind = FLAT1
        points.name[c], points.link1[c], points.link2[c] = contacts.pair[c], a, b
        points.friction[c], points.kind[c] = contacts.material[c, FRICTION], kind
        points.adhesion[c] = contacts.material[c, ADHESION]
        for k in range(3):
            points.surface[c, k] = contacts.surface[c, k]
        inwards = gap + r1
        put_core(pose, a, p[c, 0] - inwards * nx, p[c, 1] - inwards * ny, p[c, 2] - inwards * nz, points.core1, c)
        put_core(pose, b, p[c, 0] + r2 * nx, p[c, 1] + r2 * ny, p[c, 2] + r2 * nz, points.core2, c)
        carrier = b if kind == FLAT2 else a
        n = points.normal
        n[c, 0], n[c, 1], n[c, 2] = rotate_transposed(pose.rot, carrier, nx, ny, nz)
        points.offset[c] = 0.0
        points.offset[c] = gap_and_rows(points, c, pose, points.rows1[c, 0], points.rows2[c, 0]) - gap
        for i in range(1, 3):
            tx, ty, tz = axes[c, i, 0], axes[c, i, 1], axes[c, i, 2]
            write_row(pose, a, -1.0, tx, ty, tz, p[c, 0], p[c, 1], p[c, 2], points.rows1[c, i])
            write_row(pose, b, 1.0, tx, ty, tz, p[c, 0], p[c, 1], p[c, 2], points.rows2[c, i])
        if b == 0:
            exchange(points, c)


@kernel
def exchange(points, c):
    """Make body 2 of contact c, the world, body 1. All axes change their signs, scalars do not."""
    points.link1[c], points.link2[c] = points.link2[c], points.link1[c]
    if points.kind[c] != ROUND:
        points.kind[c] = FLAT1 if points.kind[c] == FLAT2 else FLAT2
    for k in range(3):
        points.core1[c, k], points.core2[c, k] = points.core2[c, k], points.core1[c, k]
        points.normal[c, k] = -points.normal[c, k]
        for m in range(6):
            one, two = points.rows1[c, k, m], points.rows2[c, k, m]
            points.rows1[c, k, m], points.rows2[c, k, m] = two, one


@kernel
def put_core(pose, link, x, y, z, core, c):
    """Store a world point as core c of a link."""
    x, y, z = x - pose.pos[link, 0], y - pose.pos[link, 1], z - pose.pos[link, 2]
    core[c, 0], core[c, 1], core[c, 2] = rotate_transposed(pose.rot, link, x, y, z)
