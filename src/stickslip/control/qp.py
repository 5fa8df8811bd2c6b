"""A strictly convex quadratic program with equalities, dense and small.

    minimise ½·xᵀHx + gᵀx    subject to    E·x = e,    lower ≤ C·x ≤ upper

The equalities are eliminated first: Eᵀ = Q·R with pivoting gives a particular solution x₀ and a basis N of the null
space, x = x₀ + N·z. They then hold to round-off, redundant ones do no harm, contradictory ones are found, and the
program that remains, in z with inequalities only, is solved by the dual active-set method of DAQP (Arnström,
Bemporad, Axehill: "A dual active-set solver for embedded quadratic programming using recursive LDLᵀ updates",
IEEE Transactions on Automatic Control 67(8), 2022).
"""

from __future__ import annotations

import daqp
import numpy as np
from scipy.linalg import qr, solve_triangular

INFINITE = 1e30
"""DAQP ignores bounds beyond this."""
REGULARISATION = 1e-10
"""Relative to the largest diagonal entry of H; it decides directions that no objective mentions."""
CONSISTENT = 1e-7
"""Equalities that are violated by more than this, relative to their size, contradict each other."""


class Infeasible(Exception):  # noqa: N818 - not an error yet: the controller says what it means
    """No x satisfies the constraints; the text says which ones."""


def eliminate(E: np.ndarray, e: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(x₀ (n,), N (n, n − rank)): all solutions of E·x = e are x₀ + N·z."""
    n = E.shape[1]
    if not len(E):
        return np.zeros(n), np.eye(n)
    scale = np.maximum(np.linalg.norm(E, axis=1), 1e-300)
    rows, right = E / scale[:, None], e / scale
    Q, R, order = qr(rows.T, pivoting=True)
    rank = int(np.sum(np.abs(np.diag(R)) > 1e-10 * abs(R[0, 0])))
    y = solve_triangular(R[:rank, :rank], right[order[:rank]], trans="T")
    x = Q[:, :rank] @ y
    if np.any(np.abs(rows @ x - right) > CONSISTENT * (1.0 + np.abs(right).max())):
        raise Infeasible("the equality constraints contradict each other")
    return x, Q[:, rank:]


def solve_qp(
    H: np.ndarray, g: np.ndarray, E: np.ndarray, e: np.ndarray, C: np.ndarray, lower: np.ndarray, upper: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """The minimiser x (n,); raises ``Infeasible`` where there is none."""
    if not all(np.all(np.isfinite(array)) for array in (H, g, E, e, C)) or np.any(np.isnan([lower, upper])):
        raise Infeasible("they are not finite: the robot has run away")
    x, N = eliminate(E, e)
    reduced = N.T @ H @ N
    reduced[np.diag_indices_from(reduced)] += REGULARISATION * max(float(np.max(np.diag(H), initial=0.0)), 1e-12)
    rows, at = C @ N, C @ x
    length = np.linalg.norm(rows, axis=1)
    free = length > 1e-12 * (1.0 + np.abs(C).max(initial=0.0))
    if np.any((at < lower - 1e-9)[~free] | (at > upper + 1e-9)[~free]):
        raise Infeasible("the equality constraints leave no room for the inequalities")
    scale = 1.0 / length[free]  # rows of unit length, so that one tolerance suits forces and torques
    z, _, flag, _ = daqp.solve(
        np.ascontiguousarray(reduced),
        np.ascontiguousarray(N.T @ (g + H @ x)),
        np.ascontiguousarray(rows[free] * scale[:, None]),
        np.clip((upper - at)[free] * scale, -INFINITE, INFINITE),
        np.clip((lower - at)[free] * scale, -INFINITE, INFINITE),
        np.zeros(int(free.sum()), dtype=np.int32),
        primal_tol=1e-9,
    )
    if flag == -1:
        raise Infeasible("the inequalities contradict each other or the equalities")
    if flag != 1:
        raise Infeasible(f"the solver stopped without a solution (DAQP's exit flag {flag})")
    return x + N @ np.asarray(z)
