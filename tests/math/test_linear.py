"""Small dense solves and the Jacobians of the exponential map."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from stickslip.math.linear import lu_factor, lu_solve, solve_in_place
from stickslip.math.quaternion import inverse_right_jacobian, right_jacobian


@pytest.mark.parametrize("n", [1, 2, 7, 18, 37])
def test_solve_agrees_with_numpy(n):
    rng = np.random.default_rng(n)
    for _ in range(20):
        A, b = rng.normal(size=(n, n)), rng.normal(size=n)
        A[rng.random((n, n)) < 0.3] = 0.0
        A[:, 0] += np.where(np.arange(n) == n - 1, 3.0, 0.0)
        np.fill_diagonal(A, np.diag(A) * (rng.random(n) < 0.7))  # pivots must be looked for
        if np.linalg.matrix_rank(A) < n:
            continue
        x, y, factor, pivot = b.copy(), b.copy(), A.copy(), np.zeros(n, np.int64)
        assert solve_in_place(A.copy(), x) == 0
        lu_factor(factor, n, pivot)
        lu_solve(factor, n, pivot, y)
        for found in (x, y):
            assert np.abs(found - np.linalg.solve(A, b)).max() < 1e-11 * np.linalg.cond(A) * np.abs(x).max()


def test_singular_matrix_is_reported():
    assert solve_in_place(np.array([[1.0, 0.0], [2.0, 0.0]]), np.ones(2)) == 1


@pytest.mark.parametrize("size", [0.0, 1e-9, 9.9e-3, 1.01e-2, 0.5, 3.0])
def test_jacobians_of_the_exponential_map(size):
    """exp(φ + δ) = exp(φ)·exp(J·δ) to first order, against SciPy's rotations."""
    phi, step = size * np.array([2.0, -1.0, 2.0]) / 3, 1e-6
    J = np.reshape(right_jacobian(*phi), (3, 3))
    back = Rotation.from_rotvec(phi).inv()
    for k, e in enumerate(np.eye(3)):
        ahead, behind = ((back * Rotation.from_rotvec(phi + s * step * e)).as_rotvec() for s in (1, -1))
        np.testing.assert_allclose((ahead - behind) / (2 * step), J[:, k], atol=1e-9)
    np.testing.assert_allclose(J @ np.reshape(inverse_right_jacobian(*phi), (3, 3)), np.eye(3), atol=1e-13)
