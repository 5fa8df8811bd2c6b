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

import numpy as np
from scipy import sparse

from stickslip.dynamics.configuration import integrate
from stickslip.dynamics.data import Kinematics
from stickslip.dynamics.kinematics import forward_kinematics
from stickslip.errors import number
from stickslip.maximal.constraints import Constraints
from stickslip.maximal.fixed_normals import FixedNormals
from stickslip.maximal.rows import joint_errors
from stickslip.model.model import Model


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

    def correct_positions(
        self, cut: Model, kin: Kinematics, constraints: Constraints, Q: np.ndarray, V: np.ndarray, dt: float,
        out: np.ndarray, contacts: sparse.csr_array | None = None,
    ) -> None:  # fmt: skip
        """Change V (nv,) until the joints are closed at the poses ``out`` = Q ⊕ V·dt.

        ``constraints`` must be factorised at Q; ``kin`` ends at ``out``. ``contacts`` (k, nv) are rows of normal
        velocities that must not change.
        """
        fixed: FixedNormals | None = None
        error = np.empty(len(constraints.violation))
        self.position_iterations = 0
        while True:
            integrate(cut.tree, Q, V, dt, out)
            forward_kinematics(cut.tree, out, kin)
            joint_errors(constraints.joints, kin, error)
            self.converged = bool(np.max(np.abs(error), initial=0.0) <= self.tolerance)
            if self.converged or self.position_iterations == self.iterations:
                return
            change = constraints.correct(-error / dt)
            if contacts is not None:
                fixed = fixed or FixedNormals(constraints, contacts)
                change = fixed.apply(change)
            V += change
            self.position_iterations += 1

    def correct_velocities(self, constraints: Constraints, V: np.ndarray) -> None:
        """Change V (nv,) until the joints' velocity errors vanish; ``constraints`` must be factorised there."""
        self.velocity_iterations = 0
        while True:
            error = constraints.velocity_errors(V)
            small = bool(np.max(np.abs(error), initial=0.0) <= self.tolerance)
            if small or self.velocity_iterations == self.iterations:
                self.converged = self.converged and small
                return
            V += constraints.correct(-error)
            self.velocity_iterations += 1
