"""Lemke's method: textbook examples, problems with known solutions, contact problems, rays, memory, warm starts."""

import numpy as np
import pytest
import scipy.sparse as sp
from contact_lcp import pile, stewart_trinkle
from lcp_examples import RAYS, SOLVABLE, around, banded, definite, semidefinite

from stickslip.errors import InputError
from stickslip.solvers import LinearProblem, Status, solve
from stickslip.solvers.pivoting import lemke


@pytest.mark.parametrize("name", SOLVABLE)
def test_textbook_examples(name):
    A, b, z = SOLVABLE[name]
    result = solve(LinearProblem(A, b), "lemke", tolerance=1e-12)
    assert result.success
    if z is not None:
        np.testing.assert_allclose(result.z, z, atol=1e-12)


@pytest.mark.parametrize("name", RAYS)
def test_a_problem_without_solution_is_a_ray(name):
    result = solve(LinearProblem(*RAYS[name]), "lemke")
    assert result.status is Status.RAY
    assert not result.success
    assert result.residual > 0.1


def test_a_covering_vector_that_leads_to_a_ray_is_not_the_last_word():
    """Murty's Example 2.11: with d = (5, 16) the path ends in a ray, with d = (1, 1) at a solution."""
    A, b = (np.array(part, dtype=float) for part in SOLVABLE["murty 2.11"][:2])
    rows, columns = np.empty(2), np.empty(2)
    lemke.tb.equilibrate(A, rows, columns)
    assert lemke.follow(A, b, np.array([5.0, 16.0]) * rows, 50).code == lemke.tb.RAY
    assert lemke.follow(A, b, np.array([1.0, 1.0]) * rows, 50).code == lemke.tb.SOLVED


def test_murtys_exponential_family():
    n = 10
    A = np.eye(n) + 2.0 * np.tri(n, k=-1)
    b = -np.cumsum(2.0 ** np.arange(n, 0, -1))
    result = solve(LinearProblem(A, b), "lemke", max_iterations=2**12)
    np.testing.assert_allclose(result.z, np.r_[2.0**n, np.zeros(n - 1)], atol=1e-9)


@pytest.mark.parametrize("n", [10, 60, 300])
@pytest.mark.parametrize("make", [definite, banded])
@pytest.mark.parametrize("degenerate", [0.0, 0.3])
def test_unique_solutions_are_found(make, n, degenerate):
    rng = np.random.default_rng(n)
    A = make(n, rng)
    b, z = around(A, rng, degenerate=degenerate)
    result = solve(LinearProblem(A, b), "lemke")
    assert result.success
    np.testing.assert_allclose(result.z, z, atol=1e-9)


@pytest.mark.parametrize("n", [10, 60, 200])
def test_semidefinite_problems(n):
    rng = np.random.default_rng(n)
    A = semidefinite(n, rng)
    b, _ = around(A, rng, active=0.4, degenerate=0.2)
    result = solve(LinearProblem(A, b), "lemke", tolerance=1e-10)
    assert result.success


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_units_do_not_matter(scale):
    rng = np.random.default_rng(5)
    A = definite(40, rng)
    b, z = around(A, rng)
    rows, columns = 10.0 ** rng.uniform(-4, 4, 40), 10.0 ** rng.uniform(-4, 4, 40)
    result = solve(LinearProblem(scale * rows[:, None] * A * columns, rows * b), "lemke")
    np.testing.assert_allclose(result.z * columns * scale, z, atol=1e-9)


@pytest.mark.parametrize(
    ("counts", "directions", "perturb", "jump"),
    [((2, 2, 2), 4, 0.0, 0.0), ((3, 3, 2), 5, 0.0, 0.3), ((3, 3, 2), 8, 0.01, 0.3), ((4, 4, 3), 4, 0.01, 0.1)],
)
def test_contact_problems(counts, directions, perturb, jump):
    problem = stewart_trinkle(*pile(counts, perturb=perturb, jump=jump), directions=directions)
    result = solve(problem, "lemke", tolerance=1e-12)
    assert result.success
    normal = result.z[problem.labels["normal"]]
    if not perturb and not jump:  # at rest, the floor carries the weight
        floor = normal[problem.b[problem.labels["normal"]] < -1e-9]
        np.testing.assert_allclose(floor.sum(), np.prod(counts) * 9.81 * 0.01, rtol=1e-9)


def test_large_contact_problem():
    """Refinement from the basis leaves no trace of more than a thousand pivots."""
    problem = stewart_trinkle(*pile((5, 5, 4), perturb=0.01, jump=0.1, seed=3), directions=6, sparse=True)
    assert problem.n > 2000
    result = solve(problem, "lemke", tolerance=1e-12)
    assert result.success
    assert result.iterations > 800


def test_as_quantecon_finds():
    peer = pytest.importorskip("quantecon.optimize")
    rng = np.random.default_rng(7)
    for n in (5, 20, 50):
        A = definite(n, rng)
        b = rng.normal(size=n)
        theirs = peer.lcp_lemke(A, b)
        assert theirs.success
        np.testing.assert_allclose(solve(LinearProblem(A, b), "lemke").z, theirs.z, atol=1e-9)


def test_nothing_to_do_where_b_is_not_negative():
    result = solve(LinearProblem(np.full((3, 3), -1.0), [0.0, 1.0, 2.0]), "lemke", history=True)
    assert result.success
    assert result.iterations == 0
    assert not result.z.any()


def test_warm_start_at_the_solution_takes_no_pivot():
    problem = stewart_trinkle(*pile((2, 2, 2), perturb=0.01, jump=0.3))
    cold = solve(problem, "lemke")
    warm = solve(problem, "lemke", cold.z)
    assert cold.iterations > 0
    assert (warm.iterations, warm.success) == (0, True)
    elsewhere = solve(problem, "lemke", np.ones(problem.n))
    assert elsewhere.iterations == cold.iterations
    np.testing.assert_array_equal(elsewhere.z, cold.z)


def test_warm_start_needs_the_right_support_only():
    rng = np.random.default_rng(3)
    A = definite(50, rng)
    b, z = around(A, rng)
    result = solve(LinearProblem(A, b), "lemke", np.where(z > 0.0, 1.0, 0.0))
    assert (result.iterations, result.success) == (0, True)
    np.testing.assert_allclose(result.z, z, atol=1e-10)


def test_history_has_a_residual_per_pivot():
    problem = stewart_trinkle(*pile((2, 2, 2), jump=0.3))
    result = solve(problem, "lemke", history=True)
    assert result.history.shape == (result.iterations + 1,)
    assert result.history[0] == pytest.approx(np.max(-problem.b))
    assert result.history[-1] == pytest.approx(result.residual, abs=1e-15)


def test_limits_are_said():
    problem = stewart_trinkle(*pile((2, 2, 2), jump=0.3))
    assert solve(problem, "lemke", max_iterations=3, attempts=1).status is Status.MAX_ITERATIONS
    with pytest.raises(InputError, match=r"needs .* GB.*pgs"):
        solve(problem, "lemke", memory=1e3)
    huge = LinearProblem(sp.eye_array(10**6, format="csr"), -np.ones(10**6))
    with pytest.raises(InputError, match="8000\\.0 GB"):
        solve(huge, "lemke")
    with pytest.raises(InputError, match="attempts"):
        solve(problem, "lemke", attempts=0)
