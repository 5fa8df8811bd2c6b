"""Stabilisation of joints by impulses: position errors predicted for the end of the step, then velocity errors.

After Bender and Schmitt: once a step's velocities V are known, the poses at its end are predicted, q ⊕ h·V. If a joint
would be open there by g, an impulse at the beginning of the step closes it:

    V ← V + M⁻¹·Gᵀ·λ,   h·G·M⁻¹·Gᵀ·λ = −g(q ⊕ h·V)        until max |g| ≤ ε

and, at the new poses, V ← V + M⁻¹·Gᵀ·μ with G·V = 0 until max |G·V| ≤ ε. Impulses come in opposite pairs at one point,
so that momentum does not change. Soft rows (``maximal.soft_rows``) resist both corrections as they do in the step, so
that a rotor is not moved without its inertia. The first correction keeps the normal velocities of contacts that carry
impulses in the step (``maximal.fixed_normals``).

All joints are corrected at once, by the linear-time elimination of ``maximal.elimination``. The first correction uses M
and G of the step's beginning, factorised once (a chord Newton iteration: the error shrinks by a factor of the order of
the step's angle, which takes 2 to 4 iterations). The second uses those of its end and takes one iteration. With ε → 0
the result is RATTLE.

Reference: J. Bender and A. Schmitt, "Fast dynamic simulation of multi-body systems using impulses", VRIPHYS 2006;
Andersen, "RATTLE", J. Comput. Phys. 52, 1983.
Differs from the paper in: soft rows and contacts; joints are solved together, not one by one, so that the limit of 25
outer iterations remains and the 50 and 20 inner ones have no counterpart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.dynamics.configuration import integrate
from stickslip.dynamics.kinematics import forward_kinematics
from stickslip.errors import number
from stickslip.maximal.fixed_normals import fix_normals, keep_normals
from stickslip.maximal.joint_system import solve_system
from stickslip.maximal.rows import joint_errors, times_velocity


class Correction(NamedTuple):
    """Scratch of corrections, for n = nb + nv rows."""

    error: np.ndarray
    """(nb,) errors of the joints."""
    right: np.ndarray
    """(n,) right-hand sides; those of soft rows are zero."""
    impulse: np.ndarray
    """(n,) impulses, of no further use."""
    zeros: np.ndarray
    """(n,) zeros, and (nv',)."""
    none: np.ndarray
    change: np.ndarray
    """(nv',)."""


def make_correction(rows: int, nv: int, free: int) -> Correction:
    """Scratch for so many rigid rows, joint velocities, and velocities of free bodies."""
    error, right, impulse, zeros = (np.zeros(n) for n in (rows, rows + nv, rows + nv, rows + nv))
    return Correction(error, right, impulse, zeros, np.zeros(free), np.zeros(free))


@kernel
def largest_error(error):
    """max |error|, NaN if one is."""
    most = 0.0
    for r in range(error.shape[0]):
        if not abs(error[r]) <= most:
            most = abs(error[r])
    return most


@kernel
def corrected(system, n, scale, correction):
    """Compute the change of velocities u with G·u = scale·error, soft rows at rest."""
    c = correction
    for r in range(c.error.shape[0]):
        c.right[r] = scale * c.error[r]
    solve_system(system, n, c.none, c.right, c.change, c.impulse)


@kernel(inline=False)
def correct_positions(tree, kin, system, n, normals, Q, V, dt, tolerance, most, correction, out):
    """Change V (nv',) until the joints are closed at the poses ``out`` = Q ⊕ V·dt; returns (converged, iterations).

    The system of n rows must be factored at Q; ``kin`` ends at ``out``. The normal velocities of ``normals`` stay.
    """
    iterations = 0
    while True:
        integrate(tree, Q, V, dt, out)
        forward_kinematics(tree, out, kin)
        joint_errors(system.joints, kin, correction.error)
        converged = largest_error(correction.error) <= tolerance
        if converged or iterations == most:
            return converged, iterations
        if iterations == 0 and normals.number[0] > 0 and not fix_normals(system, normals):
            return False, 0
        corrected(system, n, -1.0 / dt, correction)
        if normals.number[0] > 0:
            keep_normals(system, n, normals, correction.zeros, correction.impulse, correction.change)
        for d in range(V.shape[0]):
            V[d] += correction.change[d]
        iterations += 1


@kernel(inline=False)
def correct_velocities(system, n, G, V, tolerance, most, correction):
    """Change V (nv',) until the joints' velocity errors vanish; returns (converged, iterations). The system of n rows,
    of which G (nb, 12) are the rigid ones, must be factored."""
    iterations = 0
    while True:
        times_velocity(system.joints, G, V, correction.error)
        converged = largest_error(correction.error) <= tolerance
        if converged or iterations == most:
            return converged, iterations
        corrected(system, n, -1.0, correction)
        for d in range(V.shape[0]):
            V[d] += correction.change[d]
        iterations += 1


@dataclass
class Stabilisation:
    """Options, and statistics of the last step's corrections."""

    tolerance: float = 1e-5
    """Largest remaining error [m, rad; m/s, rad/s]."""
    iterations: int = 25
    """Largest number of iterations per correction."""
    position_iterations: int = 0
    """Iterations of the last step's position correction."""
    velocity_iterations: int = 0
    converged: bool = True

    def __post_init__(self) -> None:
        number("tolerance", self.tolerance, "a positive number [m or rad]", above=0.0)
        number("iterations", self.iterations, "a whole number ≥ 1", least=1.0)
