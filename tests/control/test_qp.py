"""The quadratic program: the optimality conditions of Karush, Kuhn and Tucker, and honest failure."""

import numpy as np
import pytest
from scipy.optimize import nnls

from stickslip.control.qp import Infeasible, eliminate, solve_qp

NONE = np.zeros((0, 4)), np.zeros(0)


def random_program(seed, n=8, equalities=3, inequalities=10):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n))
    inside = rng.normal(size=n)  # a point that satisfies everything
    E, C = rng.normal(size=(equalities, n)), rng.normal(size=(inequalities, n))
    width = rng.uniform(0.0, 0.3, size=(2, inequalities))
    lower, upper = C @ inside - width[0], C @ inside + width[1]
    lower[::3] = -np.inf
    return root @ root.T + 0.1 * np.eye(n), 5.0 * rng.normal(size=n), E, E @ inside, C, lower, upper


@pytest.mark.parametrize("seed", range(20))
def test_optimality_conditions(seed):
    """The gradient is a combination of active constraints, with signs that push back."""
    H, g, E, e, C, lower, upper = random_program(seed)
    x = solve_qp(H, g, E, e, C, lower, upper)
    assert np.abs(E @ x - e).max() < 1e-11
    assert np.all(C @ x <= upper + 1e-8)
    assert np.all(C @ x >= lower - 1e-8)
    at_top, at_bottom = C[C @ x > upper - 1e-7], C[C @ x < lower + 1e-7]
    active = np.vstack([at_top, -at_bottom, E, -E])
    _, residual = nnls(active.T, -(H @ x + g))
    assert residual < 1e-5 * np.linalg.norm(g)


def test_redundant_equalities_do_no_harm():
    E = np.array([[1.0, 1, 0, 0], [2, 2, 0, 0], [0, 0, 1, 0]])
    x = solve_qp(np.eye(4), np.zeros(4), E, np.array([2.0, 4, 1]), *NONE, np.zeros(0))
    assert x == pytest.approx([1, 1, 1, 0], abs=1e-9)


def test_contradictory_equalities_are_found():
    E = np.array([[1.0, 1, 0, 0], [2, 2, 0, 0]])
    with pytest.raises(Infeasible, match="equality constraints contradict"):
        eliminate(E, np.array([2.0, 5.0]))


@pytest.mark.parametrize(
    "rows", [np.array([[1.0, 0, 0, 0], [1, 0, 0, 0]]), np.array([[0.0, 1, 0, 0], [0, 1, 0, 0]])], ids=["fixed", "free"]
)
def test_contradictory_inequalities_are_found(rows):
    """x₀ is fixed by an equality; x₁ is free, but cannot be ≥ 2 and ≤ 1."""
    E, e = np.array([[1.0, 0, 0, 0]]), np.array([0.5])
    with pytest.raises(Infeasible, match="inequalit"):
        solve_qp(np.eye(4), np.zeros(4), E, e, rows, np.array([2.0, -np.inf]), np.array([np.inf, 1.0]))
