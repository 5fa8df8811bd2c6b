"""Contacts with circular cones in the units of the interior-point method: every cone self-dual, diagonals of about 1.

p_n = c·x_n, p_t = μ·c·x_t and y = (c·û_n, μ·c·u_t), so that A = S·W·S (n, n), S = (c, μ·c, μ·c), with c such that the
diagonals of contacts are about 1, whatever the masses. μ = 0 gives S = (c, 0, 0): the cone is a half-line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from stickslip.solvers.newton.scaled import scaled_matrix
from stickslip.solvers.problem import ConeProblem, FrictionProblem
from stickslip.solvers.residuals import natural


@dataclass
class ConeSystem:
    """A problem in scaled units."""

    problem: ConeProblem | FrictionProblem
    A: Any
    """(n, n) dense or CSR."""
    b: np.ndarray
    scale: np.ndarray
    """(n,) p = scale·x."""
    coulomb: bool
    nb: int
    nc: int

    def natural(self, x: np.ndarray) -> float:
        """‖natural map‖∞ in the problem's own units."""
        return natural(self.problem, self.scale * x)


def cone_system(problem: ConeProblem | FrictionProblem) -> ConeSystem:
    coulomb, nb, mu = isinstance(problem, FrictionProblem), problem.bilateral, problem.friction
    W: Any = problem.W if isinstance(problem, FrictionProblem) else problem.matrix()
    diagonal = W.diagonal()
    scale = np.empty(problem.n)
    scale[:nb] = _roots(diagonal[:nb])
    own, contact = diagonal[nb:].reshape(-1, 3), scale[nb:].reshape(-1, 3)
    contact[:, 0] = _roots(np.maximum(own[:, 0], mu**2 * own[:, 1:].max(axis=1, initial=0.0)))
    contact[:, 1:] = (mu * contact[:, 0])[:, None]
    return ConeSystem(problem, scaled_matrix(W, scale), scale * problem.b, scale, coulomb, nb, len(mu))


def _roots(diagonal: np.ndarray) -> np.ndarray:
    """1/√diagonal; 1 where it is not positive."""
    positive = diagonal > 0.0
    return np.where(positive, 1.0 / np.sqrt(np.where(positive, diagonal, 1.0)), 1.0)
