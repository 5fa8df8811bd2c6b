"""Forces of a surrounding medium in a variational step: explicit, with drag that is implicit in the velocity.

    dt·f(z, ν) − dt·C·(ν⁺ − ν),    C = Tᵀ·C_link·T ≥ 0

C_link is the drag over the spatial velocity at a link's own origin (``dynamics.fluid_derivatives``), which is T·ν.
"""

from __future__ import annotations

from stickslip._jit import kernel
from stickslip.dynamics.fluid_derivatives import fluid_drag
from stickslip.dynamics.fluid_forces import add_fluid_forces
from stickslip.math.spatial import cross, rotate
from stickslip.methods.variational.bodies import add_wrench_impulses


@kernel
def over_link(bodies, pose, b, j):
    """Column j of T: the spatial velocity of the link's origin per unit of ν_j, world axes."""
    if j < 3:
        return 1.0 * (j == 0), 1.0 * (j == 1), 1.0 * (j == 2), 0.0, 0.0, 0.0
    cx, cy, cz = rotate(pose.rot, b, bodies.com[b, 0], bodies.com[b, 1], bodies.com[b, 2])
    wx, wy, wz = pose.rot[b, 0, j - 3], pose.rot[b, 1, j - 3], pose.rot[b, 2, j - 3]
    vx, vy, vz = cross(cx, cy, cz, wx, wy, wz)
    return vx, vy, vz, wx, wy, wz


@kernel(inline=False)
def add_fluid_impulses(bodies, fluid, kin, pose, nu, dt, wrench, drag, given):
    """given (nl, 6) += dt·(f + C·ν), drag (nl, 6, 6) = dt·C; ``kin`` has the links at ``pose`` with velocities nu, and
    wrench (nl, 6) is scratch."""
    for b in range(wrench.shape[0]):
        for k in range(6):
            wrench[b, k] = 0.0
    add_fluid_forces(fluid, kin, wrench)
    add_wrench_impulses(bodies, pose, wrench, dt, given)
    fluid_drag(fluid, kin)
    C = fluid.drag
    for b in range(1, C.shape[0]):
        for j in range(6):
            x0, x1, x2, x3, x4, x5 = over_link(bodies, pose, b, j)
            for i in range(6):
                wrench[0, i] = (
                    C[b, i, 0] * x0 + C[b, i, 1] * x1 + C[b, i, 2] * x2
                    + C[b, i, 3] * x3 + C[b, i, 4] * x4 + C[b, i, 5] * x5
                )  # fmt: skip
            for i in range(6):
                y0, y1, y2, y3, y4, y5 = over_link(bodies, pose, b, i)
                drag[b, i, j] = dt * (
                    y0 * wrench[0, 0] + y1 * wrench[0, 1] + y2 * wrench[0, 2]
                    + y3 * wrench[0, 3] + y4 * wrench[0, 4] + y5 * wrench[0, 5]
                )  # fmt: skip
        for i in range(6):
            for j in range(6):
                given[b, i] += drag[b, i, j] * nu[b, j]
