"""The fixed-point iteration on linear, nonlinear and circular-cone problems."""

import numpy as np
import pytest
import scipy.sparse as sp
from contact_lcp import friction_problem, pile, stewart_trinkle
from lcp_examples import around, definite, mixed

from stickslip.errors import InputError
from stickslip.solvers import FrictionProblem, LinearProblem, NonlinearProblem, Status, residuals, solve
from stickslip.solvers.splitting.fixed_point import ORDERS
from stickslip.solvers.splitting.prox import friction_residual
from stickslip.solvers.splitting.sweeps import rows_of


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_linear_problems(order, form):
    rng = np.random.default_rng(0)
    A = definite(40, rng)
    b, z = around(A, rng)
    result = solve(LinearProblem(form(A), b), "fixed-point", order=order, tolerance=1e-10)
    np.testing.assert_allclose(result.z, z, atol=1e-7)
    b, lower, upper, z = mixed(A, rng)
    result = solve(LinearProblem(form(A), b, lower, upper), "fixed-point", order=order, tolerance=1e-10)
    np.testing.assert_allclose(result.z, z, atol=1e-7)


def test_a_nonlinear_problem():
    """F(z) = A·z + z³ + c with the solution z built in; monotone, so it is the only one."""
    rng = np.random.default_rng(1)
    A = definite(15, rng)
    b, lower, upper, z = mixed(A, rng)
    problem = NonlinearProblem(lambda x: A @ x + x**3 + b - z**3, lambda x: A + np.diag(3.0 * x**2), lower, upper)
    result = solve(problem, "fixed-point", tolerance=1e-10, history=True)
    assert result.history.shape == (result.iterations + 1,)
    np.testing.assert_allclose(result.z, z, atol=1e-8)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("sparse", [False, True])
def test_circular_cones(order, sparse):
    problem = friction_problem(*pile((3, 2, 2), perturb=0.01, jump=0.3), sparse=sparse)
    result = solve(problem, "fixed-point", order=order, tolerance=1e-10)
    assert result.success
    u, p = problem.function(result.z).reshape(-1, 3), result.z.reshape(-1, 3)
    sliding = (p[:, 0] > 1e-6) & (np.hypot(u[:, 1], u[:, 2]) > 1e-6)
    sticking = (p[:, 0] > 1e-6) & ~sliding
    assert sliding.any()
    assert sticking.any()
    assert np.all(p[:, 0] >= 0.0)
    assert np.all(u[:, 0] > -1e-8)
    np.testing.assert_allclose(np.hypot(p[:, 1], p[:, 2])[sliding], 0.5 * p[sliding, 0], atol=1e-8)
    cosine = np.sum(u[:, 1:] * p[:, 1:], axis=1) / (np.hypot(u[:, 1], u[:, 2]) * np.hypot(p[:, 1], p[:, 2]) + 1e-300)
    np.testing.assert_allclose(cosine[sliding], -1.0, atol=1e-6)  # against the sliding


def test_a_block_pushed_sideways_in_closed_form():
    """A point mass on the floor, h·g = 0.1 and tangential speed v: it sticks below μ·h·g, else loses just that."""
    for speed, expected in ((0.03, 0.0), (0.2, 0.2 - 0.05)):
        direction = np.array([0.6, 0.8])
        b = np.r_[-0.1, speed * direction]
        result = solve(FrictionProblem(np.eye(3), b, np.array([0.5])), "fixed-point")
        u = b + result.z
        np.testing.assert_allclose(u, np.r_[0.0, expected * direction], atol=1e-8)


def test_bilateral_rows():
    """A contact and two equations: their rows become zero."""
    rng = np.random.default_rng(3)
    J = rng.normal(size=(5, 9))
    problem = FrictionProblem(J @ J.T, rng.normal(size=5) - np.r_[0, 0, 3, 0, 0], np.array([0.7]), bilateral=2)
    result = solve(problem, "fixed-point", tolerance=1e-10)
    assert result.success
    np.testing.assert_allclose(problem.function(result.z)[:2], 0.0, atol=1e-9)


def test_its_own_residual_is_the_judges():
    problem = friction_problem(*pile((2, 2, 1), jump=0.3))
    rng = np.random.default_rng(0)
    for _ in range(5):
        p = rng.normal(size=problem.n)
        own = friction_residual(rows_of(problem.W), problem.b, problem.friction, p)
        assert own == pytest.approx(residuals.natural(problem, p))


def test_stewart_trinkle_and_status():
    problem = stewart_trinkle(*pile((3, 2, 2), perturb=0.01, jump=0.3))
    assert solve(problem, "fixed-point").success
    short = solve(problem, "fixed-point", max_iterations=2, history=True)
    assert (short.status, len(short.history)) == (Status.MAX_ITERATIONS, 3)
    no_solution = LinearProblem([[0.0, 1.0], [0.0, 0.0]], [1.0, -1.0])
    assert not solve(no_solution, "fixed-point").success


@pytest.mark.parametrize("option", [{"order": "random"}, {"relaxation": -1.0}, {"patience": 0}])
def test_options_are_checked(option):
    with pytest.raises(InputError, match=next(iter(option))):
        solve(LinearProblem(np.eye(2), -np.ones(2)), "fixed-point", **option)
