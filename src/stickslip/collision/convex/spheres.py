"""Spheres against spheres, boxes, capsules and cylinders, in closed form."""

from __future__ import annotations

from math import sqrt

from stickslip._jit import kernel
from stickslip.collision.convex.geometry import WITHIN, emit, feature
from stickslip.collision.convex.segments import along_segment
from stickslip.math.spatial import rotate, rotate_transposed


@kernel
def ball_ball(found, a, b, name, x1, y1, z1, r1, x2, y2, z2, r2, margin, ux, uy, uz):
    """Emit the contact of two balls; (ux, uy, uz) is the normal if their centres coincide."""
    nx, ny, nz = x2 - x1, y2 - y1, z2 - z1
    distance = sqrt(nx * nx + ny * ny + nz * nz)
    gap = distance - r1 - r2
    if not gap < margin:
        return
    if distance > 1e-150:  # squares of smaller numbers lose their digits
        nx, ny, nz = nx / distance, ny / distance, nz / distance
    else:
        nx, ny, nz = ux, uy, uz
    emit(found, a, b, name, x2 - r2 * nx, y2 - r2 * ny, z2 - r2 * nz, nx, ny, nz, gap)


@kernel
def ball_at(placed, a, b, gap, ox, oy, oz, qx, qy, qz, margin, found):
    """Emit the contact of ball a at the point q of shape b with the outward normal o, both in b's axes."""
    if gap < margin:
        P, R = placed.pos, placed.rot
        qx, qy, qz = rotate(R, b, qx, qy, qz)
        ox, oy, oz = rotate(R, b, ox, oy, oz)
        name = feature(WITHIN, 0, 0, 0)
        emit(found, a, b, name, P[b, 0] + qx, P[b, 1] + qy, P[b, 2] + qz, -ox, -oy, -oz, gap)


@kernel
def sphere_sphere(geometry, placed, work, pairs, margin, found):
    """One contact: n = (c₂ − c₁)/|c₂ − c₁|, gap = |c₂ − c₁| − r₁ − r₂; n = z if the centres coincide."""
    P, size = placed.pos, geometry.shapes.size
    for k in range(pairs.shape[0]):
        a, b = pairs[k, 0], pairs[k, 1]
        ball_ball(
            found, a, b, feature(WITHIN, 0, 0, 0), P[a, 0], P[a, 1], P[a, 2], size[a, 0],
            P[b, 0], P[b, 1], P[b, 2], size[b, 0], margin, 0.0, 0.0, 1.0,
        )  # fmt: skip


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
def sphere_box(geometry, placed, work, pairs, margin, found):
    """One contact.

    With x the centre in box axes, h the half edges and q = clip(x, −h, h): outside, n is along q − x and gap =
    |q − x| − r; inside, n is minus the outward axis of the nearest face and gap = −depth − r. The contact point is q;
    inside it is the point of that face.
    """
    P, R, size = placed.pos, placed.rot, geometry.shapes.size
    for k in range(pairs.shape[0]):
        a, b = pairs[k, 0], pairs[k, 1]
        x, y, z = rotate_transposed(R, b, P[a, 0] - P[b, 0], P[a, 1] - P[b, 1], P[a, 2] - P[b, 2])
        hx, hy, hz = size[b, 0], size[b, 1], size[b, 2]
        qx, qy, qz = min(max(x, -hx), hx), min(max(y, -hy), hy), min(max(z, -hz), hz)
        dx, dy, dz = x - qx, y - qy, z - qz
        distance = sqrt(dx * dx + dy * dy + dz * dz)
        if distance > 1e-150:  # squares of smaller numbers lose their digits
            ox, oy, oz = dx / distance, dy / distance, dz / distance
        else:
            ox, oy, oz, distance = nearest_face(x, y, z, hx, hy, hz)
            qx, qy, qz = x - distance * ox, y - distance * oy, z - distance * oz
        ball_at(placed, a, b, distance - size[a, 0], ox, oy, oz, qx, qy, qz, margin, found)


@kernel
def sphere_capsule(geometry, placed, work, pairs, margin, found):
    """The contact with the nearest ball of the capsule; the normal is the capsule's x axis if the centres meet."""
    P, R, size = placed.pos, placed.rot, geometry.shapes.size
    for k in range(pairs.shape[0]):
        a, b = pairs[k, 0], pairs[k, 1]
        ux, uy, uz = R[b, 0, 2], R[b, 1, 2], R[b, 2, 2]
        x, y, z = P[a, 0], P[a, 1], P[a, 2]
        t = along_segment(x, y, z, P[b, 0], P[b, 1], P[b, 2], ux, uy, uz, size[b, 1])
        ball_ball(
            found, a, b, feature(WITHIN, 0, 0, 0), x, y, z, size[a, 0],
            P[b, 0] + t * ux, P[b, 1] + t * uy, P[b, 2] + t * uz, size[b, 0],
            margin, R[b, 0, 0], R[b, 1, 0], R[b, 2, 0],
        )  # fmt: skip


@kernel
def point_cylinder(x, y, z, r, h):
    """(distance, outward normal, nearest point) of a cylinder from a point, all in its axes; inside, distance < 0."""
    rho = sqrt(x * x + y * y)
    ex, ey = (x / rho, y / rho) if rho > 1e-150 else (1.0, 0.0)
    out, up = rho - r, abs(z) - h
    sz = 1.0 if z >= 0.0 else -1.0
    if out <= 0.0 and up <= 0.0:
        if out > up:
            return out, ex, ey, 0.0, r * ex, r * ey, z
        return up, 0.0, 0.0, sz, x, y, sz * h
    out, up = max(out, 0.0), max(up, 0.0)
    distance = sqrt(out * out + up * up)
    near = min(rho, r)
    return distance, ex * out / distance, ey * out / distance, sz * up / distance, near * ex, near * ey, z - sz * up


@kernel
def sphere_cylinder(geometry, placed, work, pairs, margin, found):
    """One contact.

    With (ρ, z) the centre's distance from the axis and its height along it: outside, the nearest point of the cylinder
    is (min(ρ, R), clip(z, −h, h)); inside, the nearest surface is the side if R − ρ < h − |z|, else a cap. On the axis
    the side's normal is the cylinder's x axis.
    """
    P, R, size = placed.pos, placed.rot, geometry.shapes.size
    for k in range(pairs.shape[0]):
        a, b = pairs[k, 0], pairs[k, 1]
        x, y, z = rotate_transposed(R, b, P[a, 0] - P[b, 0], P[a, 1] - P[b, 1], P[a, 2] - P[b, 2])
        distance, ox, oy, oz, qx, qy, qz = point_cylinder(x, y, z, size[b, 0], size[b, 1])
        ball_at(placed, a, b, distance - size[a, 0], ox, oy, oz, qx, qy, qz, margin, found)
