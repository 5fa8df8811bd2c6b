"""The matrix exponential's action against SciPy."""

import numpy as np
import pytest
from scipy.linalg import expm

from stickslip.errors import InputError
from stickslip.math.expm import AUTO, balance, expm_action, expm_multiply, make_expm_work, one_norm
from stickslip.math.pade import DEGREES, ERROR, POLES


def random_matrix(rng, norm: float, kind: str) -> np.ndarray:
    n = rng.integers(2, 28)
    A = rng.normal(size=(n, n))
    if kind == "oscillating":
        A = A - A.T
    elif kind == "damped":
        A -= np.linalg.norm(A, 2) * np.eye(n)
    return A * (norm / np.linalg.norm(A, 1))


@pytest.mark.parametrize("norm", 10.0 ** np.arange(-3, 7))
@pytest.mark.parametrize("kind", ["general", "oscillating", "damped"])
def test_action_of_random_matrices(norm, kind):
    if kind == "general" and norm > 300:
        norm = 300.0  # e^A would overflow
    rng = np.random.default_rng(0)
    for _ in range(5):
        A = random_matrix(rng, norm, kind)
        X = rng.normal(size=(len(A), 2))
        E = expm(A)
        size = np.linalg.norm(E, 1) * np.abs(X).max()
        # both lose digits in proportion to the norm: squaring amplifies round-off
        assert np.abs(expm_multiply(A, X) - E @ X).max() <= max(1e-13, 2e-15 * norm) * size + 1e-300


@pytest.mark.parametrize("matmuls", range(7))
def test_fixed_orders_have_their_error(matmuls):
    rng = np.random.default_rng(2)
    A = rng.normal(size=(6, 6))
    A *= 0.5 / np.linalg.norm(A, 1)
    error = np.abs(expm_multiply(A, np.eye(6), matmuls=matmuls) - expm(A)).max()
    assert error <= 2.0 * ERROR[matmuls] * 0.5 ** (2 * DEGREES[matmuls] + 1) + 2e-15


@pytest.mark.parametrize("tolerance", [1e-3, 1e-6, 1e-10])
def test_tolerance_is_kept_and_used(tolerance):
    rng = np.random.default_rng(3)
    A = random_matrix(rng, 20.0, "damped")
    X, n = np.eye(len(A)), len(A)
    assert np.abs(expm_multiply(A, X, tolerance=tolerance) - expm(A)).max() <= tolerance
    chosen = [expm_action(A.copy(), n, X.copy(), n, AUTO, t, np.ones(n), make_expm_work(n, n)) for t in (1e-3, 1e-14)]
    assert sum(chosen[0]) < sum(chosen[1])  # fewer products for less accuracy


def test_poles_make_the_approximant():
    z = np.exp(1j * np.linspace(0, np.pi, 9))
    for row, degree in enumerate(DEGREES):
        value = np.ones_like(z)
        for pole in POLES[row][POLES[row] != 0]:
            for p in {pole, pole.conjugate()} if abs(pole.imag) > 1e-9 else {pole.real}:
                value *= (1 + z / p) / (1 - z / p)
        assert np.all(POLES[row][POLES[row] != 0].real > 0)
        assert np.abs(value - np.exp(z)).max() <= 4.0 * ERROR[row] + 1e-14, degree


def test_balancing_and_its_warm_start():
    rng = np.random.default_rng(4)
    D = 2.0 ** rng.integers(-12, 12, size=15)
    A = rng.normal(size=(15, 15)) * D[:, None] / D
    before, scale = A.copy(), np.ones(15)
    balance(A, 15, scale)
    assert one_norm(A, 15) < 1e-3 * one_norm(before, 15)
    assert np.array_equal(A, before * scale / scale[:, None])  # powers of two: no rounding
    again, warm = before.copy(), scale.copy()
    balance(again, 15, warm)
    assert np.array_equal(warm, scale)


def test_a_second_call_starts_from_the_balance_of_the_first():
    rng = np.random.default_rng(5)
    D = 2.0 ** rng.integers(-12, 12, size=15)
    A, X = rng.normal(size=(15, 15)) * D[:, None] / D, rng.normal(size=(15, 2))
    similar = A * (1.0 + 0.01 * rng.normal(size=A.shape))
    kept = np.ones(15)
    first = expm_multiply(A, X, balance=kept)
    np.testing.assert_array_equal(first, expm_multiply(A, X))
    assert kept.min() < 1e-2
    cold, warm = np.ones(15), kept.copy()
    sweeps = balance(similar.copy(), 15, cold), balance(similar.copy(), 15, warm)
    assert sweeps[0] >= 3
    assert sweeps[1] <= 2
    E = expm(similar)
    for result in (expm_multiply(similar, X, balance=kept), expm_multiply(similar, X)):
        np.testing.assert_allclose(result, E @ X, rtol=0, atol=1e-12 * np.abs(E @ X).max())
    kept *= 1.3  # any positive numbers will do: they are rounded
    expm_multiply(A, X, balance=kept)
    assert np.array_equal(np.log2(kept), np.round(np.log2(kept)))


@pytest.mark.parametrize("fast", [1e3, 1e9, 1e15])
def test_slow_modes_beside_fast_ones_keep_their_digits(fast):
    A = np.array([[-1.0, fast], [0.0, -fast]])
    np.testing.assert_allclose(expm_multiply(A, [0.0, 1.0]), [fast / (fast - 1.0) * np.exp(-1.0), 0.0], rtol=1e-13)


def test_what_is_left_when_all_has_decayed():
    Q = np.linalg.qr(np.random.default_rng(6).normal(size=(2, 2)))[0]
    rates = np.array([-300.0, -301.0])
    want = Q @ np.diag(np.exp(rates)) @ Q.T
    got = expm_multiply(Q @ np.diag(rates) @ Q.T, np.eye(2))
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-12 * np.abs(want).max())


@pytest.mark.parametrize("shape", [(0,), (0, 3)])
def test_an_empty_matrix_gives_an_empty_result(shape):
    assert expm_multiply(np.zeros((0, 0)), np.zeros(shape), balance=np.ones(0)).shape == shape
    assert expm_multiply(np.eye(4), np.zeros((4, 0))).shape == (4, 0)


@pytest.mark.parametrize("matmuls", [-1, 7, True, False, 2.0, "2", None, np.True_])
def test_matmuls_is_auto_or_a_whole_number(matmuls):
    with pytest.raises(InputError, match="matmuls: expected 'auto' or a whole number from 0 to 6"):
        expm_multiply(np.eye(2), np.ones(2), matmuls=matmuls)
    assert expm_multiply(np.zeros((2, 2)), np.ones(2), matmuls=np.int64(2)) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "balance",
    [np.ones(3), np.zeros(2), np.array([1.0, np.nan]), np.array([1.0, -1.0]), np.ones(2, dtype=int), [1.0, 1.0]],
)
def test_bad_balance(balance):
    with pytest.raises(InputError, match="balance: expected a writable array of 2 positive floats"):
        expm_multiply(np.eye(2), np.ones(2), balance=balance)
    fixed = np.ones(2)
    fixed.flags.writeable = False
    with pytest.raises(InputError, match="balance"):
        expm_multiply(np.eye(2), np.ones(2), balance=fixed)


@pytest.mark.parametrize("bad", [{"A": np.ones((2, 3))}, {"X": np.ones(3)}, {"matmuls": 7}, {"tolerance": -1.0}])
def test_bad_input(bad):
    with pytest.raises(InputError):
        expm_multiply(**{"A": np.eye(2), "X": np.ones(2), **bad})
