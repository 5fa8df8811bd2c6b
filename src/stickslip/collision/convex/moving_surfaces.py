"""Surfaces that move without their links: conveyor belts, bodies that are moved from outside; actuators that pull.

The surface of shape s moves at the point p with

    belt     v = (1 − n·nᵀ)·R·(b + β × r),   ω = n·nᵀ·R·β,    r = Rᵀ·(p − x)
    motion   v = m + μ × p,                  ω = μ

where x and R are the origin and axes of the shape, b and β are the numbers of ``Shapes.belt``, and m and μ those of
``Shapes.motion``. A belt moves along its surface only, as MuJoCo's ``surfacevel``. A contact has the difference of its
two surfaces in its frame, which every method adds to the velocity of its links: u = J·v + surface.

An actuator on a body pulls with its force F, in equal parts at the n contacts of the body, as MuJoCo's ``adhesion``
actuators: F/n is added to the adhesion of each. Contacts count from the distance on at which their adhesion begins.
Cost: linear in the contacts; quadratic for bodies that actuators pull.
"""

from __future__ import annotations

from stickslip._jit import kernel
from stickslip.collision.contacts import ADHESION
from stickslip.collision.convex.finish import TOUCH, combine
from stickslip.collision.convex.geometry import GAP
from stickslip.math.spatial import cross, rotate


@kernel
def surface_velocity(shapes, placed, kin, s, sign, c, contacts):
    """Add the velocity of the surface of shape s, times ``sign``, to ``contacts.surface`` of contact c."""
    A, out, link, V, B = contacts.axes, contacts.surface, shapes.link[s], shapes.motion, shapes.belt
    px, py, pz = contacts.point[c, 0], contacts.point[c, 1], contacts.point[c, 2]
    bx, by, bz = rotate(shapes.rot, s, B[s, 0], B[s, 1], B[s, 2])
    bx, by, bz = rotate(kin.rot, link, bx, by, bz)
    wx, wy, wz = rotate(shapes.rot, s, B[s, 3], B[s, 4], B[s, 5])
    wx, wy, wz = rotate(kin.rot, link, wx, wy, wz)
    x, y, z = cross(wx, wy, wz, px - placed.pos[s, 0], py - placed.pos[s, 1], pz - placed.pos[s, 2])
    bx, by, bz = bx + x, by + y, bz + z
    mx, my, mz = cross(V[s, 3], V[s, 4], V[s, 5], px, py, pz)
    mx, my, mz = mx + V[s, 0], my + V[s, 1], mz + V[s, 2]
    for i in range(3):
        ax, ay, az = sign * A[c, i, 0], sign * A[c, i, 1], sign * A[c, i, 2]
        out[c, i] += ax * mx + ay * my + az * mz
        out[c, 3 + i] += ax * V[s, 3] + ay * V[s, 4] + az * V[s, 5]
        if i == 0:
            out[c, 3] += ax * wx + ay * wy + az * wz
        else:
            out[c, i] += ax * bx + ay * by + az * bz


@kernel
def sticks(shapes, rules, contacts, c, body, material):
    """Whether contact c is one of a body, near enough for adhesion."""
    a, b = contacts.shape1[c], contacts.shape2[c]
    if a < 0 or (shapes.body[a] != body and shapes.body[b] != body):
        return False
    combine(shapes, rules, a, b, material)
    return contacts.gap[c] < max(material[0, GAP], TOUCH)


@kernel(separate=True)
def move_surfaces(shapes, rules, placed, kin, material, contacts):
    """Write ``contacts.surface`` and add what actuators pull; ``material`` (1, PAIR) is scratch. The contacts must have
    been found anew."""
    n = contacts.found[0]
    for c in range(n):
        a, b = contacts.shape1[c], contacts.shape2[c]
        if a != -1:  # further subcontacts of a group have −2 − a
            surface_velocity(shapes, placed, kin, a if a >= 0 else -2 - a, -1.0, c, contacts)
            surface_velocity(shapes, placed, kin, b, 1.0, c, contacts)
    for c in range(n):
        for side in range(2):
            s = contacts.shape1[c] if side == 0 or contacts.shape1[c] < 0 else contacts.shape2[c]
            if s < 0 or shapes.pull[s] == 0.0 or not sticks(shapes, rules, contacts, c, shapes.body[s], material):
                continue
            count = 0
            for other in range(n):
                if sticks(shapes, rules, contacts, other, shapes.body[s], material):
                    count += 1
            contacts.material[c, ADHESION] += shapes.pull[s] / count
