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


@pytest.mark.parametrize("bad", [{"A": np.ones((2, 3))}, {"X": np.ones(3)}, {"matmuls": 7}, {"tolerance": -1.0}])
def test_bad_input(bad):
    with pytest.raises(InputError):
        expm_multiply(**{"A": np.eye(2), "X": np.ones(2), **bad})
