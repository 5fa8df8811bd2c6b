"""G·λ + a = 0 with G of any rank: the pseudo-inverse's answer, whatever a is."""

import numpy as np
import pytest

from stickslip.constraints.proximal import CONFLICT, CONVERGED, MAX_ITERATIONS, NOT_FINITE, proximal_solve


def solve(G, a, mu=1e-8, tolerance=1e-12, most=200):
    m = len(a)
    force, conflict = np.zeros(m), np.zeros(m)
    status, iterations = proximal_solve(
        G, a, mu, tolerance, most, np.zeros((m, m)), conflict, force, np.zeros(m), np.zeros(m)
    )
    return status, iterations, force, conflict


def semidefinite(rng, m, rank, condition=1e3):
    basis = np.linalg.qr(rng.normal(size=(m, m)))[0]
    value = np.zeros(m)
    value[:rank] = np.geomspace(1.0, 1.0 / condition, rank) if rank else []
    return (basis * value) @ basis.T, basis[:, rank:]


@pytest.mark.parametrize(("m", "rank"), [(3, 3), (12, 12), (12, 6), (36, 6), (9, 1)])
def test_consistent_rows_give_the_smallest_force(m, rank):
    rng = np.random.default_rng(m + rank)
    G, _ = semidefinite(rng, m, rank)
    a = G @ rng.normal(size=m)
    status, iterations, force, conflict = solve(G, a)
    assert status == CONVERGED
    assert iterations < 20
    np.testing.assert_allclose(force, -np.linalg.pinv(G, rcond=1e-9, hermitian=True) @ a, atol=1e-9)
    assert np.abs(conflict).max() < 1e-12


@pytest.mark.parametrize(("m", "rank"), [(3, 2), (12, 6), (36, 6), (4, 0)])
def test_conflicting_rows_give_the_least_squares_and_the_smallest_force(m, rank):
    rng = np.random.default_rng(m + rank)
    G, null = semidefinite(rng, m, rank)
    a = rng.normal(size=m)
    status, _, force, conflict = solve(G, a)
    assert status == CONFLICT
    np.testing.assert_allclose(force, -np.linalg.pinv(G, rcond=1e-9, hermitian=True) @ a, atol=1e-6)
    np.testing.assert_allclose(G @ force + a, null @ (null.T @ a), atol=1e-8)
    np.testing.assert_allclose(conflict, null @ (null.T @ a), atol=1e-7)


def test_a_naive_proximal_iteration_diverges_where_this_one_does_not():
    """What the extra two lines are for: (G + μ)λ⁺ = μλ − a runs away along the null space."""
    rng = np.random.default_rng(0)
    G, _ = semidefinite(rng, 6, 3)
    a, naive = rng.normal(size=6), np.zeros(6)
    for _ in range(20):
        naive = np.linalg.solve(G + 1e-8 * np.eye(6), 1e-8 * naive - a)
    _, _, force, _ = solve(G, a)
    assert np.linalg.norm(naive) > 1e6 * np.linalg.norm(force)


def test_what_cannot_be_resolved_is_said_so():
    G = np.diag([1.0, 1e-12])
    status, iterations, force, _ = solve(G, np.array([1.0, 1.0]), most=20)
    assert status == MAX_ITERATIONS
    assert iterations >= 20
    assert force[0] == pytest.approx(-1.0, abs=1e-6)
    status, iterations, force, _ = solve(G, np.array([1.0, 1.0]), mu=1e-13)
    assert status == CONVERGED
    np.testing.assert_allclose(force, [-1.0, -1e12], rtol=1e-3)


def test_odd_ends():
    assert solve(np.zeros((0, 0)), np.zeros(0))[:2] == (CONVERGED, 0)
    assert solve(np.eye(2), np.zeros(2))[:2] == (CONVERGED, 0)
    assert solve(np.zeros((2, 2)), np.ones(2))[0] == CONFLICT
    assert solve(np.eye(2), np.array([np.nan, 1.0]))[0] == NOT_FINITE
    assert solve(np.full((2, 2), np.inf), np.ones(2))[0] == NOT_FINITE
