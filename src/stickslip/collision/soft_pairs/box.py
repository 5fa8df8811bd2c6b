"""Box against sphere (radius 0: point).

With x the sphere's centre in box coordinates, h the half edges, q the point of the box nearest to x and d = x − q:

    outside:  o = d/|d|,                            gap = |d| − r      (over a face, an edge or a corner)
    inside:   o = the outward axis of the face of least depth,  gap = −depth − r

o points out of the box. It is the normal if the box is body 1. If the sphere belongs to the world, which comes first,
the normal is −o, and the contact point is q on the box instead of x − r·o on the sphere.

Relative to the box, o turns only while x moves around an edge or a corner: with P the projection on the axes along
which d is not zero, ȯ = (I − o·oᵀ)·P·ẋ/|d|. The tangents are those of ``tangent`` in the box's axes; on a face they are
box axes. They vary smoothly over edges and corners, except over the four edges of the −z face, where they jump. If the
centre is inside the box, the normal jumps where another face becomes the nearest.
"""

from __future__ import annotations

from math import sqrt

from stickslip._jit import kernel
from stickslip.collision.contacts import ON_BOX, ON_SPHERE, Contacts, append, set_curvature, set_frame, set_motion
from stickslip.collision.soft_pairs.pairs import BoxPairs
from stickslip.collision.tangent import smooth_tangent
from stickslip.dynamics.jacobian import link_point, point_velocity, to_link
from stickslip.math.spatial import cross, rotate, rotate_transposed


@kernel
def from_box(axes, k, kin, link, x, y, z):
    """Transform a vector from box axes to world axes."""
    x, y, z = rotate_transposed(axes, k, x, y, z)
    return rotate(kin.rot, link, x, y, z)


@kernel
def beyond(x, h):
    """x minus the nearest point of the interval −h … h."""
    return x - min(max(x, -h), h)


@kernel
def nearest_face(x, y, z, hx, hy, hz):
    """The outward axis of the face of least depth, and minus that depth."""
    a, b, c = hx - abs(x), hy - abs(y), hz - abs(z)
    if c <= a and c <= b:
        return 0.0, 0.0, (1.0 if z >= 0.0 else -1.0), -c
    if a <= b:
        return (1.0 if x >= 0.0 else -1.0), 0.0, 0.0, -a
    return 0.0, (1.0 if y >= 0.0 else -1.0), 0.0, -b


@kernel
def turning(kin, pairs, k, distance, dx, dy, dz, ox, oy, oz, x, y, z):
    """ȯ relative to the box, in box axes; (x, y, z) is the sphere's centre in the world."""
    box, ball = pairs.box_link[k], pairs.sphere_link[k]
    v2x, v2y, v2z = point_velocity(kin, ball, x, y, z)
    v1x, v1y, v1z = point_velocity(kin, box, x, y, z)
    vx, vy, vz = rotate_transposed(kin.rot, box, v2x - v1x, v2y - v1y, v2z - v1z)
    vx, vy, vz = rotate(pairs.axes, k, vx, vy, vz)
    vx = vx if dx != 0.0 else 0.0
    vy = vy if dy != 0.0 else 0.0
    vz = vz if dz != 0.0 else 0.0
    out = vx * ox + vy * oy + vz * oz
    return (vx - out * ox) / distance, (vy - out * oy) / distance, (vz - out * oz) / distance


@kernel
def box_sphere(pairs: BoxPairs, kin, margin, contacts: Contacts, first):
    """Append every candidate whose gap is below ``margin`` [m], with ids from ``first`` on."""
    E = pairs.axes
    for k in range(pairs.box_link.shape[0]):
        box, ball, radius = pairs.box_link[k], pairs.sphere_link[k], pairs.radius[k]
        x, y, z = link_point(kin, ball, pairs.center[k, 0], pairs.center[k, 1], pairs.center[k, 2])
        ux, uy, uz = to_link(kin, box, x, y, z)
        ux, uy, uz = rotate(E, k, ux - pairs.origin[k, 0], uy - pairs.origin[k, 1], uz - pairs.origin[k, 2])
        hx, hy, hz = pairs.half[k, 0], pairs.half[k, 1], pairs.half[k, 2]
        dx, dy, dz = beyond(ux, hx), beyond(uy, hy), beyond(uz, hz)
        distance = sqrt(dx * dx + dy * dy + dz * dz)
        outside = distance > 0.0
        if outside:
            ox, oy, oz = dx / distance, dy / distance, dz / distance
        else:
            ox, oy, oz, distance = nearest_face(ux, uy, uz, hx, hy, hz)
        if distance - radius >= margin:
            continue
        wx, wy, wz = 0.0, 0.0, 0.0
        if outside:
            wx, wy, wz = turning(kin, pairs, k, distance, dx, dy, dz, ox, oy, oz, x, y, z)
            wx, wy, wz = from_box(E, k, kin, box, wx, wy, wz)
        tx, ty, tz = smooth_tangent(ox, oy, oz)
        tx, ty, tz = from_box(E, k, kin, box, tx, ty, tz)
        nx, ny, nz = from_box(E, k, kin, box, ox, oy, oz)
        reach = radius
        if ball == 0:
            c = append(contacts, first + k, 0, box, distance - radius, ON_BOX, -distance, pairs.material, k)
            nx, ny, nz = -nx, -ny, -nz
            sx, sy, sz = cross(kin.vel[box, 3], kin.vel[box, 4], kin.vel[box, 5], nx, ny, nz)
            wx, wy, wz = sx - wx, sy - wy, sz - wz  # relative to the world the box turns as well
            reach = -distance
        else:
            rolling = ON_SPHERE if radius > 0.0 else 0
            c = append(contacts, first + k, box, ball, distance - radius, rolling, radius, pairs.material, k)
        if c < 0:
            continue
        ax, ay, az = 1.0 if dx == 0.0 else 0.0, 1.0 if dy == 0.0 else 0.0, 1.0 if dz == 0.0 else 0.0
        within = ax + ay + az
        if within <= 1.0:  # over a corner, or over an edge, whose axis is the only one along which d is zero
            ax, ay, az = from_box(E, k, kin, box, ax, ay, az)
            set_curvature(contacts, c, 1.0 / distance, ax, ay, az)
        set_frame(contacts, c, x, y, z, reach, nx, ny, nz, tx, ty, tz)
        set_motion(kin, contacts, c, wx, wy, wz, ball, x, y, z)
