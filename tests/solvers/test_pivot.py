"""Pivoting for mixed LCPs: all kinds of bounds, redundant and contradictory equations, sparse matrices."""

import numpy as np
import pytest
import scipy.sparse as sp
from contact_lcp import pile, stewart_trinkle
from lcp_examples import RAYS, SOLVABLE, constrained_bodies, definite, mixed

from stickslip.errors import InputError
from stickslip.solvers import LinearProblem, Status, solve

FORMS = [np.asarray, sp.csr_array]


@pytest.mark.parametrize("name", SOLVABLE)
def test_textbook_examples(name):
    A, b, z = SOLVABLE[name]
    result = solve(LinearProblem(A, b), "pivot", tolerance=1e-12)
    assert result.success
    if z is not None:
        np.testing.assert_allclose(result.z, z, atol=1e-12)


@pytest.mark.parametrize("name", RAYS)
def test_a_problem_without_solution_is_a_ray(name):
    assert solve(LinearProblem(*RAYS[name]), "pivot").status is Status.RAY


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n", [5, 40, 200])
def test_all_kinds_of_bounds(n, form):
    rng = np.random.default_rng(n)
    A = definite(n, rng)
    b, lower, upper, z = mixed(A, rng)
    result = solve(LinearProblem(form(A), b, lower, upper), "pivot", tolerance=1e-12)
    assert result.success
    np.testing.assert_allclose(result.z, z, atol=1e-9)


def test_equations_alone_are_a_linear_system():
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(20, 20)), rng.normal(size=20)
    result = solve(LinearProblem(A, b, lower=np.full(20, -np.inf)), "pivot")
    assert result.iterations == 0
    np.testing.assert_allclose(result.z, -np.linalg.solve(A, b), rtol=1e-8)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("repeated", [0, 2])
def test_redundant_joints(repeated, form):
    A, b, lower = constrained_bodies(np.random.default_rng(1), repeated)
    result = solve(LinearProblem(form(A), b, lower), "pivot", tolerance=1e-12)
    assert result.success
    once = solve(LinearProblem(*constrained_bodies(np.random.default_rng(1), 0)), "pivot")
    np.testing.assert_allclose(result.z[:12], once.z[:12], atol=1e-10)  # the same velocities


@pytest.mark.parametrize("form", FORMS)
def test_contradictory_joints_are_singular(form):
    A, b, lower = constrained_bodies(np.random.default_rng(1), 2)
    b[12 + 4] += 1.0
    result = solve(LinearProblem(form(A), b, lower), "pivot")
    assert result.status is Status.SINGULAR
    assert not result.success


def test_a_free_variable_whose_own_block_is_zero():
    """z_2 = 1 by the first equation, the free z_1 = 1 by the second row: no principal pivot eliminates z_1."""
    result = solve(LinearProblem([[0.0, 1.0], [-1.0, 1.0]], [-1.0, 0.0], lower=[-np.inf, 0.0]), "pivot")
    np.testing.assert_allclose(result.z, [1.0, 1.0])


def test_fixed_variables():
    result = solve(LinearProblem(np.eye(2), [-1.0, 0.0], [1.0, 2.0], [1.0, 2.0]), "pivot")
    np.testing.assert_array_equal(result.z, [1.0, 2.0])


def test_contact_problems_as_lemke_does():
    problem = stewart_trinkle(*pile((3, 3, 2), perturb=0.01, jump=0.3), sparse=True)
    result = solve(problem, "pivot", tolerance=1e-12, history=True)
    assert result.success
    assert result.history.shape == (result.iterations + 1,)
    np.testing.assert_allclose(result.z, solve(problem, "lemke").z, atol=1e-10)


def test_warm_start_and_limits():
    rng = np.random.default_rng(4)
    A = definite(30, rng)
    b, lower, upper, _ = mixed(A, rng)
    problem = LinearProblem(A, b, lower, upper)
    cold = solve(problem, "pivot")
    assert solve(problem, "pivot", cold.z).iterations == 0
    assert solve(problem, "pivot", max_iterations=1, attempts=1).status is Status.MAX_ITERATIONS
    with pytest.raises(InputError, match="memory"):
        solve(problem, "pivot", memory=100.0)
