"""Energies, momentum and centre of mass."""

from __future__ import annotations

from stickslip._jit import kernel
from stickslip.dynamics.cables import cable_arms, cable_rate
from stickslip.dynamics.jacobian import link_point, point_acceleration
from stickslip.math.spatial import inertia_times


@kernel
def kinetic_energy(support, inertia, kin, v):
    """½·vᵀMv [J], armature included; needs velocities and inertias up to date."""
    V = kin.vel
    energy = 0.0
    for b in range(1, V.shape[0]):
        px, py, pz, lx, ly, lz = inertia_times(kin.inertia, b, V[b, 0], V[b, 1], V[b, 2], V[b, 3], V[b, 4], V[b, 5])
        energy += V[b, 0] * px + V[b, 1] * py + V[b, 2] * pz + V[b, 3] * lx + V[b, 4] * ly + V[b, 5] * lz
    for d in range(v.shape[0]):
        energy += inertia.armature[d] * v[d] * v[d]
    if inertia.cable_armature.shape[0] > 0:
        cable_arms(support, inertia, kin)
        for t in range(inertia.cable_armature.shape[0]):
            energy += inertia.cable_armature[t] * cable_rate(inertia, kin, t, v) ** 2
    return 0.5 * energy


@kernel
def gravity_energy(inertia, kin):
    """−Σ m·g·c [J], zero at the world's origin; weight that is compensated (``outside_forces``) does not count."""
    energy, lifted = 0.0, inertia.lifted_com
    for b in range(1, inertia.mass.shape[0]):
        c = link_point(kin, b, inertia.com[b, 0], inertia.com[b, 1], inertia.com[b, 2])
        for i in range(3):
            energy -= inertia.mass[b] * inertia.gravity[i] * c[i]
        if inertia.lifted_mass[b] != 0.0:
            c = link_point(kin, b, lifted[b, 0], lifted[b, 1], lifted[b, 2])
            for i in range(3):
                energy += inertia.lifted_mass[b] * inertia.gravity[i] * c[i]
    return energy


@kernel
def center_of_mass(inertia, kin, out):
    """out (3,): centre of mass of everything that moves [m]; returns the total mass [kg]."""
    total = 0.0
    for i in range(3):
        out[i] = 0.0
    for b in range(1, inertia.mass.shape[0]):
        total += inertia.mass[b]
        c = link_point(kin, b, inertia.com[b, 0], inertia.com[b, 1], inertia.com[b, 2])
        for i in range(3):
            out[i] += inertia.mass[b] * c[i]
    if total > 0.0:
        for i in range(3):
            out[i] /= total
    return total


@kernel
def center_of_mass_jacobian(inertia, support, kin, mass, J):
    """J (3, nv): velocity of the centre of mass; needs the composite inertias up to date. A joint's column is the
    linear momentum that it gives to everything it carries, divided by the total mass."""
    total = 0.0
    for b in range(1, inertia.mass.shape[0]):
        total += inertia.mass[b]
    S = kin.S
    for d in range(S.shape[0]):
        b = support.dof_link[d]
        px, py, pz, _, _, _ = inertia_times(mass.composite, b, S[d, 0], S[d, 1], S[d, 2], S[d, 3], S[d, 4], S[d, 5])
        J[0, d], J[1, d], J[2, d] = px / total, py / total, pz / total


@kernel
def center_of_mass_acceleration(inertia, kin, out):
    """out (3,): acceleration of the centre of mass [m/s²] from the accelerations ``kin.total``."""
    total = 0.0
    for i in range(3):
        out[i] = 0.0
    for b in range(1, inertia.mass.shape[0]):
        m = inertia.mass[b]
        x, y, z = link_point(kin, b, inertia.com[b, 0], inertia.com[b, 1], inertia.com[b, 2])
        ax, ay, az = point_acceleration(kin, kin.total, b, x, y, z)
        out[0] += m * ax
        out[1] += m * ay
        out[2] += m * az
        total += m
    for i in range(3):
        out[i] /= total


@kernel
def momentum(kin, about, out):
    """out (6,): linear momentum [kg m/s], then angular momentum [kg m²/s] about the world point ``about`` (3,)."""
    V = kin.vel
    for i in range(6):
        out[i] = 0.0
    for b in range(1, V.shape[0]):
        px, py, pz, lx, ly, lz = inertia_times(kin.inertia, b, V[b, 0], V[b, 1], V[b, 2], V[b, 3], V[b, 4], V[b, 5])
        x, y, z = kin.origin[b, 0] - about[0], kin.origin[b, 1] - about[1], kin.origin[b, 2] - about[2]
        out[0] += px
        out[1] += py
        out[2] += pz
        out[3] += lx + y * pz - z * py
        out[4] += ly + z * px - x * pz
        out[5] += lz + x * py - y * px
