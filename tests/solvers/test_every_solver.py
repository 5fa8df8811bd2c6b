"""Every solver of the registry on every class of problems: what it must solve, and that it never claims too much."""

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp

from stickslip.errors import InputError
from stickslip.lab.problems.solver_comparison import unavailable
from stickslip.solvers import SOLVERS, ConeProblem, LinearProblem, Status, generate, make_solver, residuals

MAY_FAIL = {
    "pgs": "splitting: linear convergence, slow where light bodies carry heavy ones",
    "jacobi": "as pgs, and slower",
    "fixed-point": "as pgs, and slower",
    "fischer-newton": "the merit has minima that are no solutions: about 1 in 10 of such heaps",
    "minmap-newton": "as fischer-newton, about 4 in 10",
    "interior-point": "not monotone: steps become ever shorter, about 2 in 10",
    "path": "external",
}
"""Solver: why it need not solve heaps with mass ratios of 10⁶. It must still say how it ended."""
LARGE = {
    "fischer-newton": ("positive-definite", "positive-semidefinite", "degenerate", "banded", "fluid", "contact"),
    "minmap-newton": ("banded", "fluid"),
    "interior-point": ("positive-definite", "positive-semidefinite", "degenerate", "banded", "fluid"),
    "lemke": ("positive-definite", "positive-semidefinite", "degenerate", "contact"),
    "pgs": ("banded",),
}
"""Solver: classes that it must also solve with about 1000 unknowns, in seconds."""
EXTERNAL = {"path"}
"""They count and end in their own way."""


def available(name):
    missing = name == "path" and bool(unavailable("path", {}))
    return pytest.param(name, marks=pytest.mark.skip("gamspy is not installed") if missing else ())


SOLVERS_HERE = [available(name) for name in SOLVERS]
LINEAR = [available(name) for name, solver in SOLVERS.items() if "lcp" in solver.solves]
MIXED = [available(name) for name, solver in SOLVERS.items() if "mlcp" in solver.solves]


@cache
def made(kind, n):
    return generate.problem(kind, n, seed=7)


def natural(problem, z):
    """‖min(z, A·z + b)‖∞, written again."""
    return np.max(np.abs(np.minimum(z, problem.A @ z + problem.b)))


def check(name, kind, n):
    problem = made(kind, n).problem
    solver = make_solver(name)
    result = solver.solve(problem)
    residual = natural(problem, result.z)
    limit = solver.tolerance * max(1.0, np.max(np.abs(problem.b)))
    assert result.residual == pytest.approx(residual, rel=1e-9, abs=1e-15)
    assert residual <= limit
    assert np.all(np.isfinite(result.z))
    assert result.success, (result.status, result.iterations, residual)


@pytest.mark.parametrize("n", [10, 100])
@pytest.mark.parametrize("kind", generate.CLASSES)
@pytest.mark.parametrize("name", LINEAR)
def test_solves(name, kind, n):
    check(name, kind, n)


@pytest.mark.parametrize(("name", "kind"), [(name, kind) for name in LARGE if name in SOLVERS for kind in LARGE[name]])
def test_solves_large(name, kind):
    check(name, kind, 1000)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", LINEAR)
def test_mass_ratios_of_a_million(name, seed):
    rng = np.random.default_rng(seed)
    heap = generate.spheres(2, rng=rng)
    heap = heap._replace(inverse_mass=heap.inverse_mass * np.repeat(10.0 ** rng.uniform(-3.0, 3.0, 8), 6))
    problem = generate.stewart_trinkle(heap)
    solver = make_solver(name)
    result = solver.solve(problem)
    assert result.success == (natural(problem, result.z) <= solver.tolerance * max(1.0, np.max(np.abs(problem.b))))
    assert result.status is not Status.INACCURATE
    if name not in MAY_FAIL:
        assert result.success


@pytest.mark.parametrize("kind", ["positive-definite", "degenerate", "banded", "fluid"])
@pytest.mark.parametrize("name", LINEAR)
def test_finds_the_only_solution(name, kind):
    problem, z = made(kind, 30)
    result = make_solver(name, tolerance=1e-10).solve(problem)
    assert result.success
    np.testing.assert_allclose(result.z, z, atol=1e-6)


@pytest.mark.parametrize("name", LINEAR)
def test_one_iteration_is_reported_as_too_few(name):
    problem = made("contact", 100).problem
    result = make_solver(name, max_iterations=1).solve(problem)
    if result.success:
        assert natural(problem, result.z) <= 1e-8 * max(1.0, np.max(np.abs(problem.b)))
    else:
        assert result.status in (Status.MAX_ITERATIONS, Status.STALLED, Status.REFUSED)
        assert result.iterations <= 1 or not SOLVERS[name].iterative or name in EXTERNAL


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.parametrize(
    ("A", "b"), [([[0.0, 1.0], [0.0, 0.0]], [1.0, -1.0]), ([[-1.0]], [-1.0]), ([[0.0, 0.0], [0.0, 0.0]], [-1.0, 2.0])]
)
def test_never_solves_what_has_no_solution(name, A, b):
    if name in ("pgs", "jacobi"):
        with pytest.raises(InputError, match="the diagonal of A: expected positive numbers"):
            make_solver(name).solve(LinearProblem(A, b))
        return
    result = make_solver(name).solve(LinearProblem(A, b))
    assert not result.success
    assert result.status is not Status.INACCURATE
    assert result.residual > 1e-3


@pytest.mark.parametrize("what", ["A", "b"])
def test_not_a_number_is_refused(what):
    A, b = np.eye(3), np.ones(3)
    {"A": A, "b": b}[what].flat[1] = np.nan
    with pytest.raises(InputError, match=f"{what}: expected finite numbers"):
        LinearProblem(A, b)


@pytest.mark.parametrize("name", LINEAR)
def test_history_ends_where_the_answer_is(name):
    problem = made("banded", 100).problem
    result = make_solver(name, history=True).solve(problem)
    assert make_solver(name).solve(problem).history.size == 0
    if SOLVERS[name].iterative and name not in EXTERNAL:
        assert len(result.history) == result.iterations + 1
        assert result.history[0] == pytest.approx(residuals.natural(problem, np.zeros(problem.n)))
        assert np.min(result.history) == pytest.approx(result.residual, rel=1e-3, abs=1e-12)
    if result.success and len(result.history):
        assert result.history[-1] <= 1e-8 * max(1.0, np.max(np.abs(problem.b)))
        assert result.history[-1] <= result.history[0]


@pytest.mark.parametrize("name", LINEAR)
def test_a_solution_as_the_start_is_left_alone(name):
    if not SOLVERS[name].iterative or name in EXTERNAL:
        pytest.skip("pivoting methods may ignore the start")
    problem, z = made("banded", 100)
    result = make_solver(name).solve(problem, z)
    assert result.success
    assert result.iterations <= 1
    np.testing.assert_allclose(result.z, z, atol=1e-7)


@pytest.mark.parametrize("name", MIXED)
def test_only_equations(name):
    rng = np.random.default_rng(1)
    R = rng.standard_normal((12, 12)) / 4
    A, b = R @ R.T + np.eye(12), rng.standard_normal(12)
    free = np.full(12, np.inf)
    for matrix in (A, sp.csr_array(A)):
        result = make_solver(name).solve(LinearProblem(matrix, b, -free, free))
        assert result.success
        np.testing.assert_allclose(result.z, np.linalg.solve(A, -b), atol=1e-6)


@pytest.mark.parametrize("name", MIXED)
def test_some_free_rows(name):
    """Free variables eliminated by hand: the LCP of the rest has the same answer."""
    rng = np.random.default_rng(2)
    R = rng.standard_normal((20, 20)) / 5
    A, b = R @ R.T + np.eye(20), rng.standard_normal(20)
    lower = np.where(np.arange(20) < 8, -np.inf, 0.0)
    f, c = slice(0, 8), slice(8, 20)
    inner = np.linalg.solve(A[f, f], np.column_stack([A[f, c], b[f]]))
    rest = LinearProblem(A[c, c] - A[c, f] @ inner[:, :-1], b[c] - A[c, f] @ inner[:, -1])
    expected = make_solver("fischer-newton").solve(rest)
    assert expected.success
    result = make_solver(name).solve(LinearProblem(A, b, lower, np.full(20, np.inf)))
    assert result.success
    np.testing.assert_allclose(result.z[c], expected.z, atol=1e-6)
    np.testing.assert_allclose(A[f] @ result.z + b[f], 0.0, atol=1e-6)


@pytest.mark.parametrize("name", SOLVERS_HERE)
def test_nothing_to_solve(name):
    empty = np.empty(0)
    kinds = SOLVERS[name].solves
    problems = []
    if "lcp" in kinds:
        problems.append(LinearProblem(np.empty((0, 0)), empty))
    if "ncp" in kinds:
        problems.append(generate.coulomb(generate.spheres(1)))
        problems[-1] = type(problems[-1])(np.empty((0, 0)), empty, empty)
    if "cone" in kinds:
        problems.append(ConeProblem(np.empty((0, 0)), empty, empty, empty))
    for problem in problems:
        result = make_solver(name, history=True).solve(problem)
        assert result.success
        assert result.iterations == 0
        assert result.z.shape == (0,)


@pytest.mark.parametrize("name", SOLVERS)
def test_says_what_it_is(name):
    solver = SOLVERS[name]
    assert solver.summary
    assert solver.reference
    assert solver.solves <= {"lcp", "mlcp", "ncp", "cone"}
    with pytest.raises(InputError, match="tolerance"):
        make_solver(name, tolerance=0.0)
    with pytest.raises(InputError, match="max_iterations"):
        make_solver(name, max_iterations=0)
    with pytest.raises(InputError, match="unknown option"):
        make_solver(name, tolerence=1e-8)
