"""Contact problems that are none are refused by name."""

import numpy as np
import pytest
import scipy.sparse as sp

from stickslip.errors import InputError
from stickslip.solvers import SOLVERS, ConeProblem, FrictionProblem, make_solver

EYE, B, MU = np.eye(3), [-0.1, 0.0, 0.0], [0.5]


def made(kind, W=EYE, b=B, friction=MU, bilateral=0):
    if kind is FrictionProblem:
        return kind(W, b, friction, bilateral)
    return kind(W, b, friction, np.zeros(len(b)), bilateral)


def changed(i, j, value):
    W = np.eye(3)
    W[i, j] = value
    return W


kinds = pytest.mark.parametrize("kind", [FrictionProblem, ConeProblem])


@kinds
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"friction": [-0.1]}, "friction: expected finite numbers ≥ 0, got '-0.1 of contact 0'"),
        ({"friction": [np.nan]}, "friction: expected finite numbers ≥ 0"),
        ({"friction": [np.inf]}, "friction: expected finite numbers ≥ 0"),
        ({"friction": [0.5, 0.5]}, "W: expected .*2 rows, got 3"),
        ({"friction": []}, "W: expected .* rows, got 3"),
        ({"bilateral": -1}, "rows, got 3"),
        ({"b": [0.0, np.nan, 0.0]}, "b: expected finite numbers, got 'NaN or infinity'"),
        ({"b": [0.0, 0.0]}, "b: expected a vector of 3 numbers"),
        ({"W": np.eye(3)[:2]}, "W: expected a square matrix"),
        ({"W": changed(0, 0, np.inf)}, "W: expected finite numbers"),
        ({"W": changed(0, 1, 0.3)}, "W: expected a symmetric matrix, got '.*in rows 1 and 0"),
        ({"W": sp.csr_array(changed(0, 1, 0.3))}, "W: expected a symmetric matrix"),
        ({"W": sp.csr_array(changed(2, 0, 0.3))}, "W: expected a symmetric matrix"),
        ({"W": changed(1, 1, -1.0)}, "W: expected a positive semidefinite matrix, got '-1 on its diagonal, row 1'"),
    ],
)
def test_refused(kind, given, message):
    with pytest.raises(InputError, match=message):
        made(kind, **given)


@kinds
def test_round_off_is_no_asymmetry(kind):
    rng = np.random.default_rng(0)
    J = rng.normal(size=(30, 12))
    W = J @ J.T
    W += 1e-12 * rng.normal(size=W.shape)
    for stored in (W, sp.csr_array(W)):
        made(kind, stored, np.zeros(30), np.full(10, 0.5))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([-1.0, 0.0, 0.0], "regularisation: expected finite numbers ≥ 0"),
        ([0.0, np.nan, np.nan], "regularisation: expected finite numbers ≥ 0"),
        ([0.0, 1.0, 2.0], "regularisation: expected the same for both tangents"),
        ([0.0], "regularisation: expected a vector of 3 numbers"),
    ],
)
def test_bad_regularisation(given, message):
    with pytest.raises(InputError, match=message):
        ConeProblem(EYE, B, MU, given)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (kind, name)
        for kind, word in ((FrictionProblem, "ncp"), (ConeProblem, "cone"))
        for name in SOLVERS
        if word in SOLVERS[name].solves
    ],
)
def test_singular_w_and_no_friction(kind, name):
    """The same contact four times, half of them without friction; and W without any entry."""
    E = np.tile(np.eye(3), (4, 1))
    problem = made(kind, E @ E.T, E @ np.array(B), np.array([0.5, 0.0, 0.5, 0.0]))
    result = make_solver(name).solve(problem)
    assert result.success
    np.testing.assert_allclose(problem.function(result.z)[:3], 0.0, atol=1e-7)
    nothing = make_solver(name).solve(made(kind, np.zeros((3, 3)), np.zeros(3)))
    assert nothing.success
    assert np.all(np.isfinite(nothing.z))
