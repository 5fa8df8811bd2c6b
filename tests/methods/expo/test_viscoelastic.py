"""Averages of viscoelastic systems, by modes and by Padé, against SciPy's exponential of the paper's eq. (30)."""

import numpy as np
import pytest
from scipy.linalg import expm

from stickslip.math.eigen import make_eigenbasis
from stickslip.math.expm import expm_multiply
from stickslip.methods.expo.modes import low_rank_averages, modal_averages
from stickslip.methods.expo.viscoelastic_pade import SQUARE, balanced_norm, choose, make_pade_work, pade_averages


def augmented(S, beta, h, y, w, c) -> np.ndarray:
    """h·Ā of eq. (30) in scaled coordinates."""
    n = len(y)
    A = np.zeros((2 * n + 3, 2 * n + 3))
    A[:n, n : 2 * n] = np.eye(n)
    A[n : 2 * n, :n], A[n : 2 * n, n : 2 * n] = -S, -S * beta
    A[n : 2 * n, 2 * n], A[:n, 2 * n + 1], A[n : 2 * n, 2 * n + 1] = c, y, w
    A[2 * n, 2 * n + 1] = A[2 * n + 1, 2 * n + 2] = 1.0
    return h * A


def averages(E, n, beta):
    """∫(y + βy′) and ∫∫(y + βy′) from the last two columns of the exponential."""
    first, second = E[: 2 * n, -2], E[: 2 * n, -1]
    return first[:n] + beta * first[n:], second[:n] + beta * second[n:]


def system(norm: float, n: int, rank: int, seed: int, alike: bool = True):
    rng = np.random.default_rng(seed)
    h = 10.0 ** rng.uniform(-3, -1)
    B = rng.normal(size=(n, rank))
    S = B @ B.T
    S *= (norm / h) ** 2 / np.linalg.norm(S, 2)
    beta = np.full(n, rng.uniform(0.0, 2.0) / norm * h) if alike else rng.uniform(0.0, 2.0, size=n) / norm * h
    y, w, c = rng.normal(size=(3, n)) * np.array([[1.0], [1.0 / h], [1.0 / h**2]])
    return S, beta, h, y, w, c


@pytest.mark.parametrize("norm", [1e-3, 0.1, 1.0, 3.0, 30.0, 300.0, 3e4])
@pytest.mark.parametrize(("n", "rank"), [(1, 1), (3, 3), (12, 12), (12, 6), (24, 12)])
def test_modes(norm, n, rank):
    S, beta, h, y, w, c = system(norm, n, rank, seed=n)
    want = averages(expm(augmented(S, beta, h, y, w, c)), n, beta)
    assert modal_averages(S.copy(), n, beta[0], h, make_eigenbasis(n), y, w, c)
    for got, exact in zip((y, w), want, strict=True):
        # the phase of a slow mode beside a fast one is only known to round-off of the fast one: norm²·1e-16
        assert np.abs(got - exact).max() <= max(1e-10, 1e-15 * norm**2) * np.abs(exact).max()


@pytest.mark.parametrize("norm", [1e-3, 0.1, 1.0, 3.0, 30.0, 300.0, 3e4])
@pytest.mark.parametrize(("n", "rank"), [(1, 1), (3, 1), (12, 12), (12, 6), (24, 12), (48, 6)])
def test_modes_of_low_rank(norm, n, rank):
    S, beta, h, y, w, c = system(norm, n, rank, seed=n)
    want = averages(expm(augmented(S, beta, h, y, w, c)), n, beta)
    assert low_rank_averages(
        S.copy(), n, beta[0], h, make_eigenbasis(n), np.zeros((2, n, n)), np.zeros((4, n)), y, w, c
    )
    size = np.abs(want[0]).max()
    assert np.abs(y - want[0]).max() <= max(1e-10, 1e-15 * norm**2) * size
    assert np.abs(w - want[1]).max() <= max(1e-10, 1e-15 * norm**2) * h * size


@pytest.mark.parametrize("norm", [1e-3, 0.1, 1.0, 3.0, 30.0, 300.0])
@pytest.mark.parametrize(("n", "rank"), [(1, 1), (3, 3), (12, 6), (12, 12)])
@pytest.mark.parametrize("tolerance", [1e-4, 1e-10])
def test_pade(norm, n, rank, tolerance):
    S, beta, h, y, w, c = system(norm, n, rank, seed=n + 1, alike=False)
    want = averages(expm(augmented(S, beta, h, y, w, c)), n, beta)
    row, times = choose(balanced_norm(S, n, beta, h), tolerance, n)
    pade_averages(S, n, beta, h, row, times, make_pade_work(n), y, w, c)
    size = np.abs(want[0]).max()
    assert np.abs(y - want[0]).max() <= tolerance * size
    assert np.abs(w - want[1]).max() <= tolerance * h * size


@pytest.mark.parametrize("matmuls", range(7))
def test_the_structured_approximant_is_the_dense_one(matmuls):
    """Cayley factors of half the size give what the paper's dense Padé approximant of Ā gives."""
    S, beta, h, y, w, c = system(2.0, 6, 6, seed=5, alike=False)
    columns = np.zeros((15, 2))
    columns[-2:] = np.eye(2)
    E = np.zeros((15, 15))
    E[:, -2:] = expm_multiply(augmented(S, beta, h, y, w, c), columns, matmuls=matmuls)
    want = averages(E, 6, beta)
    pade_averages(S, 6, beta, h, matmuls, 1, make_pade_work(6), y, w, c)
    for got, dense in zip((y, w), want, strict=True):
        assert np.abs(got - dense).max() <= 1e-11 * np.abs(dense).max()


def test_cost_grows_with_the_norm_not_with_the_tolerance():
    chosen = [choose(norm, 1e-8, 12) for norm in (2.0, 20.0, 100.0)]
    assert [times for _, times in chosen] == sorted(times for _, times in chosen)
    loose, tight = (choose(50.0, tolerance, 12)[1] for tolerance in (1e-4, 1e-12))
    assert tight <= 3 * loose


@pytest.mark.parametrize("n", [1, 3, 12, 48, 300])
def test_no_norm_asks_for_many_repetitions(n):
    """Beyond some hundreds the dense exponential is squared; before, the structured approximant is never given up."""
    assert choose(10.0, 1e-8, n)[1] > SQUARE
    for norm in 10.0 ** np.arange(-3, 301):
        assert choose(norm, 1e-8, n)[1] < 10 * (n + 10)
    for norm in (1e6, 1e300):
        assert choose(norm, 1e-8, n)[1] == SQUARE
    assert choose(np.nan, 1e-8, n) == choose(np.inf, 1e-8, n) == (1, 1)


def contacts_and_an_overdamped_one(norm: float, contacts: int, seed: int):
    """Contacts of a body, K = 1e8 N/m at most, the first with so much damping that the norm of h·A is ``norm``."""
    rng = np.random.default_rng(seed)
    n, h = 3 * contacts, 1e-2
    K = np.repeat(10.0 ** rng.uniform(5, 8, size=contacts), 3)
    K[:3] = 1e8
    J = rng.normal(size=(n, 6))
    S = np.sqrt(K)[:, None] * (J @ J.T) * np.sqrt(K)
    beta = np.repeat(rng.uniform(1e-5, 1e-3, size=contacts), 3)
    beta[:3] = norm / (h * np.abs(S).sum(axis=1).max())
    beta[3:] = np.minimum(beta[3:], beta[0] / 2)
    y, w, c = rng.normal(size=(3, n)) * np.array([[1e-4], [0.1], [10.0]]) * np.sqrt(K)
    return S, beta, h, y, w, c


@pytest.mark.parametrize("norm", [1e4, 1e6, 1e7, 1e8])
@pytest.mark.parametrize("contacts", [2, 4])
def test_heavily_overdamped_contact_among_others(norm, contacts):
    S, beta, h, y, w, c = contacts_and_an_overdamped_one(norm, contacts, seed=contacts)
    n = len(y)
    want = averages(expm(augmented(S, beta, h, y, w, c)), n, beta)
    row, times = choose(balanced_norm(S, n, beta, h), 1e-8, n)
    assert times == SQUARE
    pade_averages(S, n, beta, h, row, times, make_pade_work(n), y, w, c)
    size = np.abs(want[0]).max()
    assert np.abs(y - want[0]).max() <= 1e-8 * size
    assert np.abs(w - want[1]).max() <= 1e-8 * h * size


@pytest.mark.parametrize("norm", 10.0 ** np.arange(0, 19, 3))
def test_squaring_loses_no_digits_to_damping(norm):
    """Contacts that do not couple, each with its own B/K: every one is an oscillator with closed-form averages. SciPy's
    exponential has lost half of its digits at the largest of these norms."""
    rng, n, h = np.random.default_rng(7), 6, 1e-2
    stiffness = 10.0 ** rng.uniform(4, 8, size=n)
    S, beta = np.diag(stiffness), rng.uniform(1e-5, 1e-3, size=n)
    beta[:3] = norm / (h * stiffness[:3])
    y, w, c = rng.normal(size=(3, n)) * np.array([[1.0], [1.0 / h], [1.0 / h**2]])
    want = y.copy(), w.copy()
    for i in range(n):
        one = slice(i, i + 1)
        assert modal_averages(S[one, one].copy(), 1, beta[i], h, make_eigenbasis(1), want[0][one], want[1][one], c[one])
    pade_averages(S, n, beta, h, 6, SQUARE, make_pade_work(n), y, w, c)
    for got, exact in zip((y, w), want, strict=True):
        assert np.abs(got - exact).max() <= 1e-10 * np.abs(exact).max()
