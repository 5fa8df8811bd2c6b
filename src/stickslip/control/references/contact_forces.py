"""Inverse dynamics with contacts: the torques and contact forces of a given motion.

    M·a + b = Sᵀ·u + Σ Jᵢᵀ·fᵢ,    fᵢ in the friction cone of foot i

The floating base has no motor, so its six rows determine the forces; where they leave a choice, the weighted sum of
squares is minimised. fᵢ = G·λᵢ with λᵢ ≥ 0 on the four edges of a pyramid inside the cone makes this a
non-negative least-squares problem (Lawson and Hanson, 1974): at most 6 + 16 rows and 16 unknowns for four feet.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip.control.references.whole_body import Legged, Motion

SOFT = 1e-4
"""Weight of the sizes of the forces, relative to the six rows of the base."""


class Efforts(NamedTuple):
    """Torques and contact forces of a motion at n instants."""

    u: np.ndarray
    """(n, nu) torques of the leg joints, in the order of the actuators [N m]."""
    force: np.ndarray
    """(n, nf, 3) on the feet, world [N]."""
    residual: np.ndarray
    """(n, 6) force [N, world] and torque [N m, body] on the base that no contact force provides."""


def pyramid(friction: float) -> np.ndarray:
    """(3, 4) edges of a pyramid inside the cone ‖f_t‖ ≤ μ·f_n about z."""
    mu = friction
    return np.array([[mu, -mu, 0.0, 0.0], [0.0, 0.0, mu, -mu], [1.0, 1.0, 1.0, 1.0]])


def efforts(robot: Legged, motion: Motion, weight: np.ndarray, friction: float) -> Efforts:
    """Torques and forces of a motion; ``weight`` (n, nf) penalises the force of a foot and is infinite in the air."""
    from scipy.optimize import nnls  # takes 0.25 s to import, so only when needed

    n, nf = weight.shape
    G = pyramid(friction)
    result = Efforts(np.zeros((n, robot.model.nu)), np.zeros((n, nf, 3)), np.zeros((n, 6)))
    for k in range(n):
        tau = robot.dyn.rnea(motion.q[k], motion.v[k], motion.a[k])
        J = robot.kinematics(motion.q[k])[1]
        stance = np.flatnonzero(np.isfinite(weight[k]))
        if len(stance):
            A = np.hstack([J[i, :, :6].T @ G for i in stance])
            small = np.diag(SOFT * np.repeat(weight[k, stance], 4))
            edges, _ = nnls(np.vstack([A, small]), np.concatenate([tau[:6], np.zeros(len(small))]))
            result.force[k, stance] = edges.reshape(-1, 4) @ G.T
        tau -= np.einsum("fiv,fi->v", J, result.force[k])
        result.residual[k], result.u[k] = tau[:6], tau[robot.actuated]
    return result
