"""Sphere against sphere (radius 0: point).

    n = (c₂ − c₁)/|c₂ − c₁|,    gap = |c₂ − c₁| − r₁ − r₂

Relative to link 1 the normal turns with w = (I − n·nᵀ)·(v₂(c₂) − v₁(c₂))/|c₂ − c₁|, where both links' velocities are
taken at c₂. The tangents are those of ``tangent`` in axes fixed to link 1. These axes are oblique to the link's own, so
that the one normal at which the tangents jump is not a likely direction of stacking.
"""

from __future__ import annotations

from math import sqrt

from stickslip._jit import kernel
from stickslip.collision.contacts import ON_SPHERE, Contacts, append, set_curvature, set_frame, set_motion
from stickslip.collision.soft_pairs.pairs import SpherePairs
from stickslip.collision.tangent import smooth_tangent
from stickslip.dynamics.jacobian import link_point, point_velocity
from stickslip.math.spatial import rotate, rotate_transposed


@kernel
def carried_axis(x, y, z):
    """(x, y, z) in the axes (2, 1, −2)/3, (−2, 2, −1)/3, (1, 2, 2)/3, which are the columns of a rotation."""
    return (2 * x + y - 2 * z) / 3, (-2 * x + 2 * y - z) / 3, (x + 2 * y + 2 * z) / 3


@kernel
def from_carried_axis(x, y, z):
    return (2 * x - 2 * y + z) / 3, (x + 2 * y + 2 * z) / 3, (-2 * x - y + 2 * z) / 3


@kernel
def sphere_sphere(pairs: SpherePairs, kin, margin, contacts: Contacts, first):
    """Append every candidate whose gap is below ``margin`` [m], with ids from ``first`` on."""
    R = kin.rot
    for k in range(pairs.link1.shape[0]):
        a, b = pairs.link1[k], pairs.link2[k]
        x1, y1, z1 = link_point(kin, a, pairs.center1[k, 0], pairs.center1[k, 1], pairs.center1[k, 2])
        x2, y2, z2 = link_point(kin, b, pairs.center2[k, 0], pairs.center2[k, 1], pairs.center2[k, 2])
        dx, dy, dz = x2 - x1, y2 - y1, z2 - z1
        distance = sqrt(dx * dx + dy * dy + dz * dz)
        radius = pairs.radius2[k]
        gap = distance - pairs.radius1[k] - radius
        if gap >= margin:
            continue
        c = append(contacts, first + k, a, b, gap, ON_SPHERE if radius > 0.0 else 0, radius, pairs.material, k)
        if c < 0:
            continue
        wx, wy, wz = 0.0, 0.0, 0.0
        if distance > 0.0:
            nx, ny, nz = dx / distance, dy / distance, dz / distance
            v2x, v2y, v2z = point_velocity(kin, b, x2, y2, z2)
            v1x, v1y, v1z = point_velocity(kin, a, x2, y2, z2)
            vx, vy, vz = v2x - v1x, v2y - v1y, v2z - v1z
            along = vx * nx + vy * ny + vz * nz
            wx, wy, wz = (vx - along * nx) / distance, (vy - along * ny) / distance, (vz - along * nz) / distance
            set_curvature(contacts, c, 1.0 / distance, 0.0, 0.0, 0.0)
        else:  # the centres coincide, so any direction will do
            nx, ny, nz = R[a, 0, 2], R[a, 1, 2], R[a, 2, 2]
        tx, ty, tz = rotate_transposed(R, a, nx, ny, nz)
        tx, ty, tz = carried_axis(tx, ty, tz)
        tx, ty, tz = smooth_tangent(tx, ty, tz)
        tx, ty, tz = from_carried_axis(tx, ty, tz)
        tx, ty, tz = rotate(R, a, tx, ty, tz)
        set_frame(contacts, c, x2, y2, z2, radius, nx, ny, nz, tx, ty, tz)
        set_motion(kin, contacts, c, wx, wy, wz, b, x2, y2, z2)
