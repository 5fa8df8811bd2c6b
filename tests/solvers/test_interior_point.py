"""The interior-point method: strictly inside, few iterations, honest where there is no path."""

import numpy as np
import pytest

from stickslip.errors import InputError
from stickslip.solvers import LinearProblem, Status, generate, make_solver


def test_stays_strictly_inside():
    problem = generate.problem("positive-definite", 50).problem
    for limit in range(1, 8):
        result = make_solver("interior-point", max_iterations=limit).solve(problem, np.full(50, 100.0))
        assert np.all(result.z > 0.0)


@pytest.mark.parametrize("n", [50, 100, 300])
def test_iterations_hardly_grow(n):
    for kind in ("positive-definite", "banded"):
        result = make_solver("interior-point").solve(generate.problem(kind, n).problem)
        assert result.success
        assert result.iterations <= 15


def test_a_linear_program():
    """min −x₁ − 2·x₂ with x₁ + x₂ ≤ 4, x₂ ≤ 3, x ≥ 0, as the monotone LCP of its optimality: x = (1, 3)."""
    G, h, c = np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([4.0, 3.0]), np.array([-1.0, -2.0])
    A = np.block([[np.zeros((2, 2)), G.T], [-G, np.zeros((2, 2))]])
    result = make_solver("interior-point").solve(LinearProblem(A, np.concatenate([c, h])))
    assert result.success
    np.testing.assert_allclose(result.z, [1, 3, 1, 1], atol=1e-7)


def test_no_path_is_reported():
    result = make_solver("interior-point").solve(LinearProblem([[0.0, 1.0], [0.0, 0.0]], [1.0, -1.0]))
    assert result.status in (Status.STALLED, Status.MAX_ITERATIONS)


def test_fixed_variables_only():
    result = make_solver("interior-point").solve(LinearProblem(np.eye(2), [1.0, -1.0], [2.0, 3.0], [2.0, 3.0]))
    assert result.success
    np.testing.assert_array_equal(result.z, [2.0, 3.0])


@pytest.mark.parametrize("share", [0.0, 1.0, "most"])
def test_bad_share_of_the_way(share):
    with pytest.raises(InputError, match="to_boundary: expected a number between 0 and 1"):
        make_solver("interior-point", to_boundary=share)
