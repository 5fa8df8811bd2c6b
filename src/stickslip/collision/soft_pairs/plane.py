"""Plane against sphere (or point, or anything that touches a plane like a set of spheres).

The frame is the plane's own: the normal and the plane's x and y axes, fixed to link 1.
"""

from __future__ import annotations

from stickslip._jit import kernel
from stickslip.collision.contacts import ON_SPHERE, Contacts, append, set_motion
from stickslip.collision.soft_pairs.pairs import PlanePairs
from stickslip.dynamics.jacobian import link_point
from stickslip.math.spatial import rotate


@kernel
def plane_sphere(pairs: PlanePairs, kin, margin, contacts: Contacts, first):
    """Append every candidate whose gap is below ``margin`` [m], with ids from ``first`` on."""
    R = kin.rot
    for k in range(pairs.link1.shape[0]):
        a, b = pairs.link1[k], pairs.link2[k]
        x, y, z = link_point(kin, b, pairs.center[k, 0], pairs.center[k, 1], pairs.center[k, 2])
        ox, oy, oz = link_point(kin, a, pairs.origin[k, 0], pairs.origin[k, 1], pairs.origin[k, 2])
        u, v, w = pairs.axes[k, 0, 0], pairs.axes[k, 0, 1], pairs.axes[k, 0, 2]
        nx, ny, nz = rotate(R, a, u, v, w)
        radius = pairs.radius[k]
        gap = (x - ox) * nx + (y - oy) * ny + (z - oz) * nz - radius
        if gap >= margin:
            continue
        c = append(contacts, first + k, a, b, gap, ON_SPHERE if radius > 0.0 else 0, radius, pairs.material, k)
        if c < 0:
            continue
        contacts.point[c, 0] = x - radius * nx
        contacts.point[c, 1] = y - radius * ny
        contacts.point[c, 2] = z - radius * nz
        for i in range(3):
            u, v, w = pairs.axes[k, i, 0], pairs.axes[k, i, 1], pairs.axes[k, i, 2]
            for j in range(3):
                contacts.axes[c, i, j] = R[a, j, 0] * u + R[a, j, 1] * v + R[a, j, 2] * w
        set_motion(kin, contacts, c, 0.0, 0.0, 0.0, b, x, y, z)
