"""The change to the eigenbasis against NumPy's eigh."""

import numpy as np
import pytest

from stickslip.math.eigen import from_modes, make_eigenbasis, to_modes


def matrices():
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 5, 12, 24, 40):
        for rank in sorted({1, (n + 1) // 2, n}):
            B = rng.normal(size=(n, rank)) * 10.0 ** rng.uniform(-4, 4)
            yield B @ B.T
    yield np.zeros((6, 6))
    yield 7.0 * np.eye(5)
    yield np.diag([3.0, 0.0, 3.0, 1e-12])
    yield np.kron(np.eye(4), [[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]])


@pytest.mark.parametrize("S", list(matrices()), ids=lambda S: f"{len(S)}x{len(S)}")
def test_spectrum_and_basis(S):
    n, size = len(S), np.linalg.norm(S, 2)
    A, basis = S.copy(), make_eigenbasis(n)
    x, y, z = vectors = np.random.default_rng(1).normal(size=(3, n))
    start = vectors.copy()
    rotations = to_modes(A, n, basis, x, y, z)
    assert rotations >= 0
    assert np.allclose(np.sort(basis.value), np.linalg.eigvalsh(S), atol=1e-13 * size)
    assert np.allclose(np.linalg.norm(vectors, axis=1), np.linalg.norm(start, axis=1), rtol=1e-13)
    vectors *= basis.value
    assert np.allclose(np.sum(vectors * z, axis=1), start @ S @ S @ start[2], atol=1e-12 * size**2 * n)
    from_modes(A, n, basis, rotations, x, y)
    assert np.allclose(vectors[:2], start[:2] @ S, atol=1e-13 * size * n)
