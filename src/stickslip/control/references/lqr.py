"""Feedback gains along a motion: a time-varying linear-quadratic regulator for uncertain contacts.

With the error δx = (q ⊖ q_ref, v − v_ref) (2nv,), the rigid-body dynamics and a spring-damper at every standing foot,

    δẋ = A·δx + B·δu,    M·δa = Sᵀδu − ∂(M·a + b − Jᵀf)/∂x·δx + Jᵀδf,    δf = −K·δp − D·δṗ

is discretised over a control step of h seconds, δx⁺ = Φ·δx + Γ·δu, by the matrix exponential, which is exact however
stiff the contacts are. Normal to the ground K and D are the contact's. Along the ground the anchor is where the foot
has landed, not where it should have: there D is large and K small, so that a misplaced foot stays where it is while it
stands. (A stiff spring would bring it back in the model, but not on the ground: with one, the errors of a trot grow
from step to step after a push.)

A foot may land late, or leave early. So every planned contact state (probability 1 − p) is paired with the robot in
the air (probability p), and the expected cost Σ δxᵀQδx + δuᵀRδu is minimised, backwards in time:

    K_fb = (R + E[ΓᵀPΓ])⁻¹ E[ΓᵀPΦ],    P ← Q + K_fbᵀR·K_fb + E[(Φ − Γ·K_fb)ᵀP(Φ − Γ·K_fb)]

(a linear system with random coefficients: De Koning, Automatica 18(4), 1982; p = 0 is the Riccati recursion), from the
stationary solution at the last instant, at which the robot stands.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip.control.references.contact_forces import Efforts
from stickslip.control.references.whole_body import Legged, Motion
from stickslip.errors import StickslipError
from stickslip.math.expm import expm_multiply

STEP = 1e-6
"""[rad, m, rad/s, m/s] step of the finite differences."""
GRIP = 1e4
"""[N s/m] damping D along the ground."""
MEMORY = 1.0
"""[s] time constant with which the regulator lets a misplaced foot return: K = D/MEMORY along the ground."""
STATIONARY = 1e-6
"""Relative change of P below which it is stationary."""
SWEEPS = 20_000

Mode = tuple[float, np.ndarray, np.ndarray]
"""(probability, Φ, Γ)."""


class Weights(NamedTuple):
    """Errors that cost one unit each, and the probability of missing contacts."""

    position: float = 0.02
    """[m] error of the base position."""
    rotation: float = 0.05
    """[rad] error of the base orientation."""
    joint: float = 0.1
    """[rad] error of a joint."""
    velocity: float = 0.4
    """[m/s] error of the base velocity."""
    spin: float = 1.0
    """[rad/s] error of the base's angular velocity."""
    rate: float = 4.0
    """[rad/s] error of a joint velocity."""
    torque: float = 0.5
    """[N m] deviation of a torque."""
    doubt: float = 0.2
    """Probability p that the robot is in the air although feet should stand."""

    def matrices(self, joints: int) -> tuple[np.ndarray, np.ndarray]:
        """Q (2nv, 2nv) and R (nu, nu), per second."""
        size = [self.position] * 3 + [self.rotation] * 3 + [self.joint] * joints
        size += [self.velocity] * 3 + [self.spin] * 3 + [self.rate] * joints
        return np.diag(np.array(size) ** -2.0), np.eye(joints) * self.torque**-2.0


class Contact(NamedTuple):
    """The ground that the regulator expects."""

    stiffness: float
    """[N/m]."""
    damping: float
    """[N s/m]."""


def linearise(
    robot: Legged, q: np.ndarray, v: np.ndarray, a: np.ndarray, force: np.ndarray, stance: np.ndarray, ground: Contact
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A with the feet ``stance`` (nf,) standing, A in the air (both (2nv, 2nv)) and B (2nv, nu), in continuous time."""
    dyn, nv, standing = robot.dyn, robot.model.nv, int(np.sum(stance))
    unit = np.eye(nv)

    def evaluate(q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Inverse dynamics, generalised contact forces, and the sliding velocities of the standing feet."""
        J = robot.kinematics(q)[1]
        return dyn.rnea(q, v, a), np.einsum("fiv,fi->v", J, force), J[stance].reshape(-1, nv) @ v

    here = evaluate(q)
    moved = [evaluate(dyn.integrate(q, unit[i], STEP)) for i in range(nv)]
    by_q, pull_by_q, slide_by_q = ((np.array([m[j] for m in moved]) - here[j]).T / STEP for j in range(3))
    by_v = np.array([dyn.rnea(q, v + STEP * unit[i], a) - here[0] for i in range(nv)]).T / STEP

    x, y, z = v[3:6]
    A, B = np.zeros((2, 2 * nv, 2 * nv)), np.zeros((2 * nv, robot.model.nu))
    A[:, 3:6, 3:6] = [[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]  # rotation errors are in the axes of the turning base
    A[:, :nv, nv:] = unit
    M, J = dyn.crba(q), robot.kinematics(q)[1][stance].reshape(-1, nv)
    K = np.tile([GRIP / MEMORY, GRIP / MEMORY, ground.stiffness], standing)[:, None]
    D = np.tile([GRIP, GRIP, ground.damping], standing)[:, None]
    A[1, nv:] = -np.linalg.solve(M, np.hstack([by_q, by_v]))
    by_q, by_v = by_q - pull_by_q + J.T @ (K * J + D * slide_by_q), by_v + J.T @ (D * J)
    A[0, nv:] = -np.linalg.solve(M, np.hstack([by_q, by_v]))
    B[nv:] = np.linalg.solve(M, unit[:, robot.actuated])
    return A[0], A[1], B


def hold(A: np.ndarray, B: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray]:
    """Φ and Γ of a step of h seconds with constant input: the exponential of [[A, B], [0, 0]]·h."""
    n, m = B.shape
    X = np.zeros((n + m, n + m))
    X[:n, :n], X[:n, n:] = h * A, h * B
    both = expm_multiply(X, np.eye(n + m))
    return both[:n, :n], both[:n, n:]


def step_back(P: np.ndarray, modes: list[Mode], Q: np.ndarray, R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The cost to go one step earlier (2nv, 2nv), and the gain (nu, 2nv)."""
    H, F = R.copy(), np.zeros((len(R), len(Q)))
    for probability, phi, gamma in modes:
        right = probability * gamma.T @ P
        H += right @ gamma
        F += right @ phi
    gain = np.linalg.solve(H, F)
    before = Q + gain.T @ R @ gain
    for probability, phi, gamma in modes:
        closed = phi - gamma @ gain
        before += probability * closed.T @ P @ closed
    return 0.5 * (before + before.T), gain


def stationary(modes: list[Mode], Q: np.ndarray, R: np.ndarray) -> np.ndarray:
    """The cost to go (2nv, 2nv) of holding a posture for ever."""
    P = Q
    for _ in range(SWEEPS):
        before, _gain = step_back(P, modes, Q, R)
        if np.max(np.abs(before - P)) < STATIONARY * np.max(np.abs(P)):
            return before
        P = before
    raise StickslipError("the regulator does not settle at the last instant: the robot cannot be held there")


def regulator(
    robot: Legged, motion: Motion, drive: Efforts, stance: np.ndarray, dt: float, control_dt: float, ground: Contact,
    weights: Weights,
) -> np.ndarray:  # fmt: skip
    """(n, nu, 2nv) gains K_fb for a motion sampled every ``dt`` and a controller called every ``control_dt`` [s].

    ``stance`` (n, nf) says which feet stand from an instant to the next.
    """
    n, nv, nu = len(stance), robot.model.nv, robot.model.nu
    Q, R = (control_dt * matrix for matrix in weights.matrices(nv - 6))
    gains, P = np.empty((n, nu, 2 * nv)), None
    for k in reversed(range(n)):
        state = motion.q[k], motion.v[k], motion.a[k]
        standing, flying, B = linearise(robot, *state, drive.force[k], stance[k], ground)
        doubt = weights.doubt if np.any(stance[k]) else 0.0
        modes = [(1.0 - doubt, *hold(standing, B, control_dt))]
        if doubt > 0.0:
            modes.append((doubt, *hold(flying, B, control_dt)))
        if P is None:
            P = stationary(modes, Q, R)
        for _ in range(max(1, round(dt / control_dt))):
            P, gains[k] = step_back(P, modes, Q, R)
    return gains
