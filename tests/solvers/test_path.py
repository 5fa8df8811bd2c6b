"""PATH through gamspy: answers beside ours where it is installed, and clear words where it is not or may not."""

import builtins
import tempfile

import numpy as np
import pytest
import scipy.sparse as sp
from contact_lcp import pile, stewart_trinkle
from lcp_examples import RAYS, SOLVABLE, definite, mixed

from stickslip.errors import InputError
from stickslip.lab.problems.solver_comparison import unavailable
from stickslip.solvers import LinearProblem, Status, solve
from stickslip.solvers.external import path

WHY_NOT = unavailable("path", {})
"""No package or no licence; empty where PATH can be used."""
installed = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)


@installed
@pytest.mark.parametrize("name", SOLVABLE)
def test_textbook_examples(name):
    A, b, _ = SOLVABLE[name]
    assert solve(LinearProblem(A, b), "path").success


@installed
def test_no_solution_is_refused():
    result = solve(LinearProblem(*RAYS["no feasible point"]), "path")
    assert result.status is Status.REFUSED


@installed
def test_all_kinds_of_bounds_and_nothing_left_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    rng = np.random.default_rng(2)
    A = definite(30, rng)
    b, lower, upper, z = mixed(A, rng)
    result = solve(LinearProblem(A, b, lower, upper), "path", history=True)
    np.testing.assert_allclose(result.z, z, atol=1e-8)
    assert result.history[-1] == result.residual
    assert list(tmp_path.iterdir()) == []


@installed
def test_contact_problem_as_lemke_does():
    problem = stewart_trinkle(*pile((3, 3, 2), perturb=0.01, jump=0.3), sparse=True)
    result = solve(problem, "path")
    assert result.success
    np.testing.assert_allclose(result.z, solve(problem, "lemke").z, atol=1e-7)


@installed
def test_empty_rows_and_columns():
    np.testing.assert_allclose(solve(LinearProblem([[0.0, 0.0], [0.0, 2.0]], [5.0, -6.0]), "path").z, [0.0, 3.0])


@installed
def test_the_demo_licence_ends_at_1000_variables():
    for n in (1000, 1001):
        problem = LinearProblem(sp.eye_array(n, format="csr"), -np.ones(n))
        if n == 1000:
            np.testing.assert_allclose(solve(problem, "path").z, 1.0)
        else:
            with pytest.raises(InputError, match=r"at most 1000 variables, this problem has 1001.*lemke"):
                solve(problem, "path")


@installed
def test_a_licence_that_gams_refuses(tmp_path):
    (tmp_path / "licence.txt").write_text("not a licence\n")
    with pytest.raises(InputError, match=r"GAMS refuses its licence.*pip install -U gamspy"):
        solve(LinearProblem(np.eye(2), -np.ones(2)), "path", licence=str(tmp_path / "licence.txt"))


def test_not_installed(monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **named):
        if name.startswith("gamspy"):
            raise ImportError(name)
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InputError, match=r"pip install stickslip\[path\]"):
        solve(LinearProblem(np.eye(2), -np.ones(2)), "path")


@pytest.mark.parametrize(
    ("code", "text", "words"),
    [
        (
            7,
            "*** The model exceeds the demo license limits for nonlinear models of more than 1000 rows",
            "at most 1000",
        ),
        (7, "*** Error: The license has expired", "refuses its licence .Error: The license has expired"),
        (3, "*** SOLVE aborted", "status 3: SOLVE aborted"),
        (3, "out of luck", "out of luck"),
    ],
)
def test_what_gams_says_becomes_what_to_do(code, text, words):
    with pytest.raises(InputError, match=words):
        raise path._complain(code, text, 2000)


def test_options_are_checked():
    with pytest.raises(InputError, match="licence"):
        path.PathSolver(licence="nowhere.txt")
    with pytest.raises(InputError, match="seconds"):
        path.PathSolver(seconds=0.0)
