"""The judge: how far any z is from a solution, measured alike for every solver and independently of it.

The natural map of a box-constrained problem is z − mid(lower, z − F(z), upper), zero exactly at solutions; for an LCP
it is min(z, A·z + b). The natural merit of Williams et al., Sec. 5.2, is its norm; the maximum norm is used here.
"""

from __future__ import annotations

import numpy as np

from stickslip.solvers.problem import FrictionProblem, Problem


def natural_map(problem: Problem, z: np.ndarray) -> np.ndarray:
    """(n,) zero at a solution; of a friction problem, the fixed-point map of normals and of disks of radius μ·p_n."""
    if isinstance(problem, FrictionProblem):
        return _friction_map(problem, z)
    return z - np.clip(z - problem.function(z), problem.lower, problem.upper)


def _friction_map(problem: FrictionProblem, p: np.ndarray) -> np.ndarray:
    u = problem.function(p)
    result = u.copy()  # of the bilateral rows: equations
    contacts, speeds = p[problem.bilateral :].reshape(-1, 3), u[problem.bilateral :].reshape(-1, 3)
    moved = contacts - speeds
    target = np.empty_like(moved)
    target[:, 0] = np.maximum(0.0, moved[:, 0])
    length = np.hypot(moved[:, 1], moved[:, 2])
    radius = problem.friction * np.maximum(0.0, contacts[:, 0])
    shrink = np.where(length > radius, radius / np.where(length > 0.0, length, 1.0), 1.0)
    target[:, 1:] = moved[:, 1:] * shrink[:, None]
    result[problem.bilateral :] = (contacts - target).ravel()
    return result


def natural(problem: Problem, z: np.ndarray) -> float:
    """‖natural map‖∞; infinite where z is not a number."""
    if problem.n == 0:
        return 0.0
    size = float(np.max(np.abs(natural_map(problem, z))))
    return size if size == size else np.inf


def fischer_burmeister(problem: Problem, z: np.ndarray) -> float:
    """‖φ(z, w)‖₂ with φ(a, b) = √(a² + b²) − a − b, for problems whose bounds are 0 or −∞ below and ∞ above."""
    if isinstance(problem, FrictionProblem) or np.any(np.isfinite(problem.upper)):
        raise TypeError("Fischer–Burmeister's function is for 0 ≤ z ⟂ w ≥ 0 and equations")
    w = problem.function(z)
    a = z - np.where(np.isfinite(problem.lower), problem.lower, 0.0)
    phi = np.where(np.isfinite(problem.lower), np.hypot(a, w) - a - w, w)
    return float(np.linalg.norm(phi))
