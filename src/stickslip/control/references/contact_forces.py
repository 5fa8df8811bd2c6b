"""Inverse dynamics with contacts: the torques and contact forces of a given motion.

    M·a + b = Sᵀ·u + Σ Jᵢᵀ·fᵢ,    fᵢ in the friction cone of foot i

The floating base has no motor, so its six rows fix the forces; where the feet can push in more ways than six, the
weighted sum of squares is smallest. fᵢ = G·λᵢ with λᵢ ≥ 0 on the four edges of a pyramid inside the cone makes this a
non-negative least-squares problem (Lawson and Hanson, 1974): at most 6 + 16 rows and 16 unknowns for four feet.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip.control.references.whole_body import Legged, Motion

SOFT = 1e-4
"""Weight of the size of the forces beside the six rows of the base."""


class Efforts(NamedTuple):
    """What drives a motion, on n instants."""

    u: np.ndarray
    """(n, nu) torques of the leg joints, in the order of the actuators [N m]."""
    force: np.ndarray
    """(n, nf, 3) on the feet, world [N]."""
    residual: np.ndarray
    """(n, 6) what no contact force provides: force on the base [N, world] and torque [N m, body]."""


def pyramid(friction: float) -> np.ndarray:
    """(3, 4) edges of a pyramid inside the cone ‖f_t‖ ≤ μ·f_n about z."""
    mu = friction
    return np.array([[mu, -mu, 0.0, 0.0], [0.0, 0.0, mu, -mu], [1.0, 1.0, 1.0, 1.0]])


def efforts(robot: Legged, motion: Motion, weight: np.ndarray, friction: float) -> Efforts:
    """Torques and forces of a motion; ``weight`` (n, nf) says how much a foot is spared, infinite in the air."""
    from scipy.optimize import nnls  # a quarter of a second to import: not for those who plan nothing

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
