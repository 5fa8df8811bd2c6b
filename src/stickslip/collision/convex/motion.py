"""How a contact of two shapes moves with them: which of the two carries its normal, and which its point.

One shape touches with a *ball*: a sphere, a capsule's ball, a corner (radius 0), or the side of a cylinder. Its centre
is fixed to its body. An ellipsoid's ball has the mean of its two radii of curvature. The other is the *surface*: flat,
or curved where the ball is over an edge, a corner or another ball. The numbers of ``Contacts`` follow from that:

* The ball is body 2's: ``radius`` is its radius, and ``rolling`` is ON_SPHERE, or 0 for a corner.
* The ball is body 1's: the normal turns with body 2, ``rolling`` is ON_BOX, and ``radius`` is minus the height of the
  centre over the surface.
* ``curvature`` is 1/distance of the centre from what it turns about: a centre, an edge or axis a, a corner.

A point of a manifold that is not a corner (where edges cross in the view along the normal, or a corner of the reference
face) slides over both bodies. Friction follows its slip; its own motion is taken as that of the other body's point.

Neglected are: how the normal turns where an edge crosses an edge or a capsule a capsule, and where a ball is over an
edge or a corner of a mesh or of terrain; the bend of a cylinder's rim along itself; and, for a tilted cylinder on its
rim, that the point beneath the rim's centre is not fixed to the body. Forces are not affected, but Expo's prediction
within a step and the rate of convergence of implicit Euler's iteration are.
"""

from __future__ import annotations

from math import sqrt

from stickslip._jit import kernel
from stickslip.collision.contacts import ON_BOX, ON_SPHERE, set_curvature
from stickslip.collision.convex.ellipsoids import mean_radius
from stickslip.collision.convex.geometry import (
    BOX,
    CAPSULE,
    CORNER,
    CYLINDER,
    ELLIPSOID,
    FEATURE_BITS,
    PLANE,
    SPHERE,
    TERRAIN,
    WITHIN,
)
from stickslip.math.spatial import cross, rotate_transposed

STEEP = 0.7
"""Sine of the angle between normal and axis above which a cylinder touches with its side."""
ALIGNED = 1e-9
"""Component of a unit normal below which it counts as zero."""
PARALLEL = 0.1
"""Sine of the angle between two axes below which cylinders touch along a line."""
CENTRED = 1e-9
"""Distance of the centre from what it turns about, as a fraction of the size, below which the normal is kept."""
AT_END = 1e-9
"""Distance from a capsule's end, as a fraction of its length, below which the ball at that end touches."""


@kernel
def tilt(placed, s, nx, ny, nz):
    """Sine of the angle between a normal and the axis of shape s."""
    R = placed.rot
    x, y, z = cross(nx, ny, nz, R[s, 0, 2], R[s, 1, 2], R[s, 2, 2])
    return sqrt(x * x + y * y + z * z)


@kernel
def ball_radius(shapes, placed, s, other, kind, nx, ny, nz):
    """Radius of the ball with which shape s touches shape ``other``; −1 if it does not touch with a ball."""
    own, its = shapes.kind[s], shapes.kind[other]
    if own == ELLIPSOID:
        x, y, z = rotate_transposed(placed.rot, s, nx, ny, nz)
        return mean_radius(shapes.size, s, x, y, z)
    if own == SPHERE or own == CAPSULE:
        return shapes.size[s, 0]
    if own == CYLINDER and its != SPHERE and its != CAPSULE:
        sine = tilt(placed, s, nx, ny, nz)
        flat = its == PLANE or its == TERRAIN
        if (flat and kind == WITHIN) or (not flat and sine > STEEP):
            return shapes.size[s, 0] * sine
    return -1.0


@kernel
def slides(shapes, placed, s, x, y, z):
    """Whether the ball of shape s with centre (x, y, z) is not at the end of a capsule: it moves along its axis."""
    if shapes.kind[s] != CAPSULE:
        return False
    R, P, h = placed.rot, placed.pos, shapes.size[s, 1]
    t = (x - P[s, 0]) * R[s, 0, 2] + (y - P[s, 1]) * R[s, 1, 2] + (z - P[s, 2]) * R[s, 2, 2]
    return abs(t) < h * (1.0 - AT_END)


@kernel
def bend(shapes, placed, s, other, reach, nx, ny, nz, contacts, c):
    """Write the curvature of contact c, where a ball of shape ``other`` has its centre at the height ``reach`` over the
    surface of shape s."""
    R, kind, least = placed.rot, shapes.kind[s], CENTRED * (shapes.radius[s] + shapes.radius[other])
    if kind == SPHERE and shapes.size[s, 0] + reach > least:
        set_curvature(contacts, c, 1.0 / (shapes.size[s, 0] + reach), 0.0, 0.0, 0.0)
    elif kind == CAPSULE and shapes.size[s, 0] + reach > least:
        sine = tilt(placed, s, nx, ny, nz)
        ax, ay, az = R[s, 0, 2], R[s, 1, 2], R[s, 2, 2]
        if sine < 1.0 - 1e-12:  # over the end
            ax, ay, az = 0.0, 0.0, 0.0
        set_curvature(contacts, c, 1.0 / (shapes.size[s, 0] + reach), ax, ay, az)
    elif kind == BOX and reach > least:
        ox = nx * R[s, 0, 0] + ny * R[s, 1, 0] + nz * R[s, 2, 0]
        oy = nx * R[s, 0, 1] + ny * R[s, 1, 1] + nz * R[s, 2, 1]
        oz = nx * R[s, 0, 2] + ny * R[s, 1, 2] + nz * R[s, 2, 2]
        zeros, j = 0, 0
        if abs(ox) < ALIGNED:
            zeros, j = zeros + 1, 0
        if abs(oy) < ALIGNED:
            zeros, j = zeros + 1, 1
        if abs(oz) < ALIGNED:
            zeros, j = zeros + 1, 2
        if zeros == 1:  # over an edge, whose axis is the only one along which the normal is zero
            set_curvature(contacts, c, 1.0 / reach, R[s, 0, j], R[s, 1, j], R[s, 2, j])
        elif zeros == 0:
            set_curvature(contacts, c, 1.0 / reach, 0.0, 0.0, 0.0)
    elif kind == ELLIPSOID:
        x, y, z = rotate_transposed(R, s, nx, ny, nz)
        radius = mean_radius(shapes.size, s, x, y, z) + reach
        if radius > least:
            set_curvature(contacts, c, 1.0 / radius, 0.0, 0.0, 0.0)
    elif kind == CYLINDER:
        bend_over_cylinder(shapes, placed, s, other, reach, least, nx, ny, nz, contacts, c)


@kernel
def bend_over_cylinder(shapes, placed, s, other, reach, least, nx, ny, nz, contacts, c):
    """The curvature of contact c over cylinder s: its side, or its rim, seen as a straight edge."""
    R = placed.rot
    ax, ay, az = R[s, 0, 2], R[s, 1, 2], R[s, 2, 2]
    sine = tilt(placed, s, nx, ny, nz)
    if shapes.kind[other] == CYLINDER:
        bx, by, bz = R[other, 0, 2], R[other, 1, 2], R[other, 2, 2]
        along = ax * bx + ay * by + az * bz
        if 1.0 - along * along > PARALLEL * PARALLEL:
            return
    if sine > 1.0 - 1e-12 and shapes.size[s, 0] + reach > least:
        set_curvature(contacts, c, 1.0 / (shapes.size[s, 0] + reach), ax, ay, az)
    elif ALIGNED < sine <= 1.0 - 1e-12 and reach > least:
        x, y, z = cross(ax, ay, az, nx, ny, nz)
        set_curvature(contacts, c, 1.0 / reach, x / sine, y / sine, z / sine)


@kernel
def follow(shapes, placed, a, b, turned, name, contacts, c):
    """Write ``rolling``, ``radius`` and ``curvature`` of contact c between shapes a of body 1 and b of body 2.

    ``name`` is its feature; ``turned`` says that b was the first shape when it was found. Point, normal and gap must
    have been written.
    """
    kind, side = (name >> (2 * FEATURE_BITS)) >> 1, (name >> (2 * FEATURE_BITS)) & 1
    nx, ny, nz, gap = contacts.axes[c, 0, 0], contacts.axes[c, 0, 1], contacts.axes[c, 0, 2], contacts.gap[c]
    r1 = ball_radius(shapes, placed, a, b, kind, nx, ny, nz)
    r2 = ball_radius(shapes, placed, b, a, kind, nx, ny, nz)
    if r1 >= 0.0 and r2 >= 0.0:
        x, y, z = contacts.point[c, 0], contacts.point[c, 1], contacts.point[c, 2]
        if slides(shapes, placed, b, x + r2 * nx, y + r2 * ny, z + r2 * nz):
            r2 = -1.0
    on_two = False
    if r2 < 0.0 and r1 < 0.0 and shapes.kind[a] != PLANE:
        smooth = shapes.kind[a] == CYLINDER or shapes.kind[b] == CYLINDER
        if shapes.kind[a] == TERRAIN or shapes.kind[b] == TERRAIN:
            smooth = False  # a corner is a rim point fixed to the cylinder
        on_two = shapes.kind[b] == PLANE or (kind != WITHIN and not smooth and (side == 1) != turned)
        if (kind != CORNER or smooth) and not on_two:
            contacts.rolling[c] = ON_SPHERE  # it slides over both bodies
    if r2 >= 0.0:
        contacts.rolling[c] = ON_SPHERE if r2 > 0.0 else 0
        contacts.radius[c] = r2
        bend(shapes, placed, a, b, r2 + gap, nx, ny, nz, contacts, c)
    elif r1 >= 0.0 or on_two:
        contacts.rolling[c] = ON_BOX
        contacts.radius[c] = -(max(r1, 0.0) + gap)
        if r1 >= 0.0:
            bend(shapes, placed, b, a, r1 + gap, nx, ny, nz, contacts, c)
