"""Joint errors are removed by impulses: those predicted for the end of the step, then those of the new velocities.

After Bender and Schmitt: when a step's velocities V are known, the poses at its end are predicted, q ⊕ h·V. Where a
joint would be open there by g, an impulse at the beginning of the step closes it:

    V ← V + M⁻¹·Gᵀ·λ,   h·G·M⁻¹·Gᵀ·λ = −g(q ⊕ h·V)        until max |g| ≤ ε

and, at the new poses, V ← V + M⁻¹·Gᵀ·μ with G·V = 0 until max |G·V| ≤ ε. Impulses come in opposite pairs at one point,
so that they change no momentum. Soft rows (``maximal.soft_rows``) resist both, as they do in the step: a rotor is not
moved without its inertia. Contacts that carry impulses in the step keep their normal velocities in the first
(``maximal.held``).

All joints are corrected at once, by the linear-time elimination of ``maximal.elimination``; M and G of the first
correction are those of the step's beginning, one factorisation for all iterations (a chord Newton iteration: the error
shrinks by a factor of the order of the step's angle, 2 to 4 iterations), and those of the second are of its end: one
iteration. With ε → 0 that is RATTLE.

Reference: J. Bender and A. Schmitt, "Fast dynamic simulation of multi-body systems using impulses", VRIPHYS 2006;
Andersen, "RATTLE", J. Comput. Phys. 52, 1983.
Differs from the paper in: soft rows and contacts; joints are solved together, not one by one, so that 25 outer
iterations remain as the limit and the 50 and 20 inner ones have no counterpart.
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
from stickslip.maximal.held import Held
from stickslip.maximal.rows import joint_errors
from stickslip.model.model import Model


@dataclass
class Stabilisation:
    """Options, and how the last step's correction went."""

    tolerance: float = 1e-5
    """Largest error that is left [m, rad; m/s, rad/s]."""
    iterations: int = 25
    """At most, per correction."""
    position_iterations: int = 0
    """Of the last step."""
    velocity_iterations: int = 0
    converged: bool = True

    def __post_init__(self) -> None:
        number("tolerance", self.tolerance, "a positive number [m or rad]", above=0.0)
        number("iterations", self.iterations, "a whole number ≥ 1", least=1.0)

    def correct_positions(
        self, cut: Model, kin: Kinematics, constraints: Constraints, Q: np.ndarray, V: np.ndarray, dt: float,
        out: np.ndarray, contacts: sparse.csr_array | None = None,
    ) -> None:  # fmt: skip
        """Change V (nv,) until the poses ``out`` = Q ⊕ V·dt close the joints; ``constraints`` must be factorised at Q,
        and ``kin`` is left at ``out``. ``contacts`` (k, nv): rows of normal velocities to leave alone."""
        held: Held | None = None
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
                held = held or Held(constraints, contacts)
                change = held.keep(change)
            V += change
            self.position_iterations += 1

    def correct_velocities(self, constraints: Constraints, V: np.ndarray) -> None:
        """Change V (nv,) until the joints' velocity errors vanish; ``constraints`` must be factorised where they are
        now."""
        self.velocity_iterations = 0
        while True:
            error = constraints.velocity_errors(V)
            small = bool(np.max(np.abs(error), initial=0.0) <= self.tolerance)
            if small or self.velocity_iterations == self.iterations:
                self.converged = self.converged and small
                return
            V += constraints.correct(-error)
            self.velocity_iterations += 1
