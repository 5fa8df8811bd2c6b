"""Forces on links that act besides contacts and joints: wrenches from outside, gravity compensation, the medium.

Gravity compensation (MuJoCo's ``gravcomp``) is the force −m_c·g at the point c of a link, m_c = ``lifted_mass``,
c = ``lifted_com``: a body with gravcomp 1 is weightless, and one with gravcomp 2 rises as fast as another falls.
"""

from __future__ import annotations

from stickslip._jit import kernel
from stickslip.dynamics.derivatives import load_force
from stickslip.dynamics.fluid_forces import add_fluid_forces
from stickslip.dynamics.jacobian import add_point_force, link_point, set_wrenches


@kernel
def outside_forces(inertia, fluid, kin, wrench, f_ext):
    """f_ext (nl, 6): wrenches (nl, 6), gravity compensation and forces of the medium, at the reference points."""
    set_wrenches(kin, wrench, f_ext)
    add_fluid_forces(fluid, kin, f_ext)
    g, com = inertia.gravity, inertia.lifted_com
    for b in range(1, f_ext.shape[0]):
        m = inertia.lifted_mass[b]
        if m != 0.0:
            x, y, z = link_point(kin, b, com[b, 0], com[b, 1], com[b, 2])
            add_point_force(kin, b, x, y, z, -m * g[0], -m * g[1], -m * g[2], f_ext)


@kernel
def load_gravity_compensation(inertia, kin, der):
    """Add the stiffness of gravity compensation, whose moments change as the points at which it acts move."""
    g, com, O = inertia.gravity, inertia.lifted_com, kin.origin
    for b in range(1, com.shape[0]):
        m = inertia.lifted_mass[b]
        if m != 0.0:
            x, y, z = link_point(kin, b, com[b, 0], com[b, 1], com[b, 2])
            load_force(der, b, -m * g[0], -m * g[1], -m * g[2], x - O[b, 0], y - O[b, 1], z - O[b, 2])
