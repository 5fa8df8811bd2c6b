"""Projected Gauss–Seidel and Jacobi, and the exact solution of one block."""

import numpy as np
import pytest
import scipy.sparse as sp
from contact_lcp import pile, stewart_trinkle
from lcp_examples import around, banded, constrained_bodies, definite, mixed, semidefinite

from stickslip.errors import InputError
from stickslip.solvers import LinearProblem, Status, residuals, solve
from stickslip.solvers.splitting.block_lcp import FAILED, SOLVED, block_work, solve_block

METHODS = ["pgs", "jacobi"]
FORMS = [np.asarray, sp.csr_array]


def answer(A, b, lower, upper):
    work = block_work(2 * len(b))
    work.q[: len(b)], work.lower[: len(b)], work.upper[: len(b)] = b, lower, upper
    return solve_block(np.ascontiguousarray(A), work), work.z[: len(b)]


@pytest.mark.parametrize("seed", range(20))
def test_a_block_is_solved_exactly_whatever_its_bounds(seed):
    rng = np.random.default_rng(seed)
    A = definite(int(rng.integers(1, 9)), rng)
    b, lower, upper, z = mixed(A, rng)
    status, found = answer(A, b, lower, upper)
    assert status == SOLVED
    np.testing.assert_allclose(found, z, atol=1e-11)


@pytest.mark.parametrize("seed", range(10))
def test_a_contact_block_with_its_slip_variable(seed):
    rng = np.random.default_rng(seed)
    problem = stewart_trinkle(*pile((1, 1, 2), jump=0.3, seed=seed), directions=4 + seed % 5)
    block = problem.blocks[seed % len(problem.blocks)]
    A, b = problem.A[np.ix_(block, block)], np.r_[rng.normal(size=len(block) - 1), 0.0]
    assert A[-1, -1] == 0.0
    status, z = answer(A, b, 0.0, np.inf)
    assert status == SOLVED
    assert residuals.natural(LinearProblem(A, b), z) < 1e-12


def test_a_block_of_equations_one_of_them_twice():
    rng = np.random.default_rng(0)
    J = rng.normal(size=(3, 6))
    J = np.vstack([J, J[:1]])
    A, b = J @ J.T, J @ rng.normal(size=6)
    status, z = answer(A, b, -np.inf, np.inf)
    assert status == SOLVED
    np.testing.assert_allclose(A @ z + b, 0.0, atol=1e-12)


def test_a_block_without_solution_says_so():
    assert answer([[0.0, 1.0], [0.0, 0.0]], [1.0, -1.0], 0.0, np.inf)[0] == FAILED


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("make", [banded, lambda n, rng: definite(n, rng, asymmetric=0.0)])
@pytest.mark.parametrize("n", [10, 80])
def test_rows_of_definite_matrices(method, form, make, n):
    rng = np.random.default_rng(n)
    A = make(n, rng)
    b, z = around(A, rng, degenerate=0.2)
    result = solve(LinearProblem(form(A), b), method, tolerance=1e-10)
    assert result.success
    np.testing.assert_allclose(result.z, z, atol=1e-6)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("blocks", [False, True])
def test_bounds_of_all_kinds_by_rows_and_by_blocks(method, blocks):
    rng = np.random.default_rng(1)
    A = definite(31, rng, asymmetric=0.0)
    b, lower, upper, z = mixed(A, rng)
    groups = tuple(np.array_split(rng.permutation(31), 7)) if blocks else ()
    result = solve(LinearProblem(A, b, lower, upper, blocks=groups), method, tolerance=1e-10)
    assert result.success
    np.testing.assert_allclose(result.z, z, atol=1e-7)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("jump", "perturb"), [(0.0, 0.0), (0.3, 0.01)])
def test_contact_problems_dense_and_sparse_alike(method, jump, perturb):
    found = []
    for sparse in (False, True):
        problem = stewart_trinkle(*pile((3, 2, 2), perturb=perturb, jump=jump), directions=5, sparse=sparse)
        result = solve(problem, method)
        assert result.success
        found.append(result)
    np.testing.assert_allclose(found[0].z, found[1].z, atol=1e-8)
    normal = problem.labels["normal"]
    if jump:  # friction of several directions is not unique, normal impulses of this pile are
        np.testing.assert_allclose(found[0].z[normal], solve(problem, "lemke").z[normal], atol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_joints_as_blocks(method):
    """Impulses of joints (free, one row twice) and contacts after the velocities are eliminated."""
    A, b, lower = constrained_bodies(np.random.default_rng(2), repeated=1)
    nv, J = 12, A[12:, :12]
    inverse = np.diag(1.0 / np.diag(A)[:nv])
    W, q = J @ inverse @ J.T, b[nv:] - J @ inverse @ b[:nv]
    blocks = (np.arange(4), *(np.array([k]) for k in range(4, len(q))))
    result = solve(LinearProblem(W, q, lower[nv:], blocks=blocks), method)
    assert result.success


@pytest.mark.parametrize("method", METHODS)
def test_a_zero_diagonal_needs_blocks(method):
    problem = stewart_trinkle(*pile((2, 1, 1)))
    alone = LinearProblem(problem.A, problem.b)
    with pytest.raises(InputError, match=rf"{method}: the diagonal of A.*0 in row.*blocks=.*lemke"):
        solve(alone, method)
    assert solve(problem, method).success


@pytest.mark.parametrize("method", METHODS)
def test_history_and_limits(method):
    problem = stewart_trinkle(*pile((2, 2, 2), perturb=0.01, jump=0.3))
    result = solve(problem, method, history=True)
    assert result.history.shape == (result.iterations + 1,)
    assert result.history[0] == pytest.approx(residuals.natural(problem, np.zeros(problem.n)))
    assert result.history[-1] == pytest.approx(result.residual)
    short = solve(problem, method, max_iterations=3)
    assert (short.status, short.iterations) == (Status.MAX_ITERATIONS, 3)
    assert solve(problem, method, result.z).iterations == 0


def test_no_solution_stalls():
    result = solve(LinearProblem([[1.0, -1.0], [-1.0, 1.0]], [-1.0, -1.0]), "pgs", patience=50)
    assert result.status is Status.STALLED
    assert result.iterations < 10_000
    assert "line search" not in result.message  # it has none
    limited = solve(LinearProblem([[1.0, -1.0], [-1.0, 1.0]], [-1.0, -1.0]), "pgs", patience=50, relaxation=1.0)
    for limit in (limited.iterations - 1, limited.iterations):  # the last sweep is where it would have stalled
        short = solve(LinearProblem([[1.0, -1.0], [-1.0, 1.0]], [-1.0, -1.0]), "pgs", patience=50, relaxation=1.0,
                      max_iterations=limit)  # fmt: skip
        assert short.status is Status.MAX_ITERATIONS


def test_undamped_jacobi_diverges_where_damped_converges():
    rng = np.random.default_rng(0)
    A = semidefinite(20, rng, rank=20) + 0.05 * np.eye(20)
    b, _ = around(A, rng, active=0.9)
    assert not solve(LinearProblem(A, b), "jacobi", relaxation=1.0).success
    assert solve(LinearProblem(A, b), "jacobi").success


@pytest.mark.parametrize("option", [{"relaxation": 2.0}, {"relaxation": 0.0}, {"patience": 0}])
def test_options_are_checked(option):
    with pytest.raises(InputError, match=next(iter(option))):
        solve(LinearProblem(np.eye(2), -np.ones(2)), "pgs", **option)
