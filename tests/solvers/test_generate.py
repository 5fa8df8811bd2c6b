"""The generated problems are what they say."""

import numpy as np
import pytest

from stickslip.errors import InputError
from stickslip.solvers import generate, residuals


@pytest.mark.parametrize("kind", generate.CLASSES)
@pytest.mark.parametrize("n", [1, 10, 100])
def test_sizes_and_solutions(kind, n):
    problem, z = generate.problem(kind, n)
    assert 0.5 * n <= problem.n <= max(4.0 * n, 96)
    assert problem.kind == "lcp"
    assert problem.sparse == (kind in ("banded", "fluid", "stack"))
    if z is not None:
        assert residuals.natural(problem, z) <= 1e-14
    again = generate.problem(kind, n, sparse=not problem.sparse).problem
    np.testing.assert_array_equal(again.A if problem.sparse else again.A.toarray(), problem.dense())
    np.testing.assert_array_equal(again.b, problem.b)


def test_degenerate_is():
    problem, z = generate.problem("degenerate", 1000)
    w = problem.function(z)
    assert 500 < np.sum((z == 0.0) & (np.abs(w) < 1e-12)) < 700


def test_definiteness():
    for kind, least in (("positive-definite", 1e-3), ("banded", 1e-3), ("fluid", 1e-3), ("degenerate", 1e-2)):
        A = generate.problem(kind, 60).problem.dense()
        assert np.linalg.eigvalsh(A + A.T)[0] > least
    values = np.linalg.eigvalsh(generate.problem("positive-semidefinite", 60).problem.A)
    assert np.sum(np.abs(values) < 1e-12) == 20
    assert values[0] > -1e-12


def test_two_spheres_by_hand():
    """One sphere on the floor: 1/m along the normal, 1/m + r²/I = 3.5/m along tangents; it falls at g·dt."""
    contacts = generate.spheres(1)
    problem = generate.coulomb(contacts)
    np.testing.assert_allclose(problem.W, np.diag([1.0, 3.5, 3.5]), atol=1e-12)
    np.testing.assert_allclose(problem.b, [-0.0981, 0, 0], atol=1e-15)
    pair = generate.spheres(2)
    assert len(pair.gap) == 4 + 12
    momentum = pair.rows[[12]].toarray().reshape(8, 6)[:, :3]
    np.testing.assert_allclose(momentum.sum(axis=0), 0.0, atol=1e-15)  # a contact between bodies only exchanges it


@pytest.mark.parametrize("directions", [3, 4, 7])
def test_pyramid(directions):
    contacts = generate.spheres(2)
    problem = generate.stewart_trinkle(contacts, directions=directions)
    nc = len(contacts.gap)
    assert problem.n == nc * (directions + 2)
    W = problem.A[: nc * (directions + 1), : nc * (directions + 1)]
    np.testing.assert_allclose(W, W.T, atol=1e-12)
    assert np.linalg.eigvalsh(W)[0] > -1e-9
    np.testing.assert_array_equal(problem.A[problem.labels["slip"], problem.labels["normal"]], 0.5 * np.eye(nc))
    sums = problem.A[problem.labels["slip"], problem.labels["friction"]].sum(axis=1)
    np.testing.assert_array_equal(sums, -directions)


def test_the_paper_s_stack():
    contacts = generate.spheres(5)
    assert len(contacts.gap) == 325
    assert np.max(np.abs(contacts.gap)) < 1e-12
    moved = generate.spheres(5, perturbed=True)
    assert np.max(np.abs(moved.gap)) < 0.03


def test_unknown_class():
    with pytest.raises(InputError, match="did you mean 'contact'"):
        generate.problem("contacts", 10)
    with pytest.raises(InputError, match="n: expected"):
        generate.problem("contact", 0)
