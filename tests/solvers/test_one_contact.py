"""One contact alone: the conditions of Coulomb's law and of the relaxed problem, checked one by one, to round-off."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stickslip.solvers.splitting.one_contact import coulomb_contact, relaxed_contact

NUMBERS = st.integers(-(10**6), 10**6).map(lambda k: 1e-6 * k)


def entries(A):
    return A[0, 0], A[0, 1], A[0, 2], A[1, 1], A[1, 2], A[2, 2]


def coulomb(A, b, mu, guess=0.0):
    p = np.array(coulomb_contact(*entries(A), *b, mu, guess))
    return p, A @ p + b


def relaxed(A, b, mu, guess=(0.0, 0.0)):
    p = np.array(relaxed_contact(*entries(A), *b, mu, *guess))
    return p, A @ p + b


def size(A, b, p):
    """What round-off in u is relative to [m/s]."""
    return np.max(np.abs(b)) + np.max(np.abs(A) @ np.abs(p))


def check_coulomb(A, b, mu, p, u, accuracy=1e-12):
    noise, radius, slip = accuracy * size(A, b, p), mu * p[0], np.hypot(*u[1:])
    assert p[0] >= 0.0
    assert u[0] >= -noise
    assert abs(u[0]) <= noise or p[0] == 0.0
    assert np.hypot(*p[1:]) <= radius * (1.0 + 1e-12)
    if radius > 0.0 and slip > noise:  # slides: the impulse is against the slip and as large as may be
        np.testing.assert_allclose(p[1:] / radius, -u[1:] / slip, atol=1e-9 + 10.0 * noise / slip)


def check_relaxed(A, b, mu, p, u, accuracy=1e-11):
    noise = accuracy * size(A, b, p)
    assert np.hypot(*p[1:]) <= mu * p[0] * (1.0 + 1e-12)
    assert u[0] >= mu * np.hypot(*u[1:]) - max(1.0, mu) * noise
    assert abs(p @ u) <= max(1.0, mu) * noise * np.max(np.abs(p))


@st.composite
def blocks(draw):
    """A of condition up to about 10⁶, coupled; b; μ."""
    R = np.array(draw(st.lists(NUMBERS, min_size=9, max_size=9))).reshape(3, 3)
    scale = 10.0 ** np.array(draw(st.lists(st.floats(-1.0, 1.0), min_size=3, max_size=3)))
    A = scale[:, None] * (R @ R.T + 1e-4 * np.eye(3)) * scale
    b = np.array(draw(st.lists(NUMBERS, min_size=3, max_size=3)))
    return A, b, draw(st.sampled_from([0.0, 0.01, 0.3, 0.8, 2.0, 20.0]))


@settings(max_examples=300, deadline=None)
@given(blocks(), st.floats(0.0, 10.0))
def test_coulombs_conditions(block, guess):
    A, b, mu = block
    p, u = coulomb(A, b, mu, guess)
    check_coulomb(A, b, mu, p, u)


@settings(max_examples=300, deadline=None)
@given(blocks(), NUMBERS, NUMBERS)
def test_relaxed_conditions(block, guess1, guess2):
    A, b, mu = block
    p, u = relaxed(A, b, mu, (guess1, guess2))
    check_relaxed(A, b, mu, p, u)


@pytest.mark.parametrize("seed", range(5))
def test_relaxed_is_the_least_of_many_points(seed):
    """Brute force over the cone."""
    rng = np.random.default_rng(seed)
    R, b, mu = rng.normal(size=(3, 3)), rng.normal(size=3), 0.6
    A = R @ R.T + 0.1 * np.eye(3)
    p, _ = relaxed(A, b, mu)
    radius, angle, normal = np.meshgrid(
        np.linspace(0, 1, 30), np.linspace(0, 2 * np.pi, 90), np.linspace(0, 3 * p[0] + 1, 90)
    )
    t = mu * radius * normal
    points = np.stack([normal, t * np.cos(angle), t * np.sin(angle)], axis=-1).reshape(-1, 3)
    values = 0.5 * np.einsum("ki,ij,kj->k", points, A, points) + points @ b
    assert 0.5 * p @ A @ p + b @ p <= np.min(values) + 1e-15


def test_isotropic_block_by_hand():
    """A = 2·1, sliding: p_n = −b_n/2, and the rest of b_t is the slip."""
    p, u = coulomb(2.0 * np.eye(3), np.array([-1.0, 3.0, -4.0]), 0.5)
    np.testing.assert_allclose(p, [0.5, -0.25 * 0.6, 0.25 * 0.8], rtol=1e-14)
    np.testing.assert_allclose(u, [0.0, 3.0 - 0.3, -4.0 + 0.4], atol=1e-14)


def test_relaxed_block_by_hand():
    """A = 1: the projection of −b onto the cone; a contact that slides parts, u_n = μ·|u_t|."""
    p, u = relaxed(np.eye(3), np.array([-1.0, 2.0, 0.0]), 0.5)
    np.testing.assert_allclose(p, [1.6, -0.8, 0.0], rtol=1e-14)
    np.testing.assert_allclose(u, [0.6, 1.2, 0.0], rtol=1e-14)


@pytest.mark.parametrize("mu", [0.0, 0.3, 1e3])
@pytest.mark.parametrize(
    "A",
    [
        np.zeros((3, 3)),
        np.diag([1.0, 0.0, 0.0]),
        np.diag([0.0, 1.0, 1.0]),
        np.ones((3, 3)),
        np.outer([1.0, 2.0, 0.0], [1.0, 2.0, 0.0]),
        1e-290 * np.eye(3),
        1e100 * np.eye(3),
    ],
)
@pytest.mark.parametrize("b", [[-1.0, 0.3, 0.2], [1.0, 3.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
def test_singular_blocks_are_numbers(A, b, mu):
    for solve in (coulomb, relaxed):
        p, _ = solve(A, np.array(b), mu)
        assert np.all(np.isfinite(p))
        assert np.hypot(*p[1:]) <= mu * p[0] * (1.0 + 1e-9)


def test_joint_limits_have_empty_tangents():
    A, b = np.diag([2.0, 0.0, 0.0]), np.array([-1.0, 0.0, 0.0])
    for solve in (coulomb, relaxed):
        np.testing.assert_allclose(solve(A, b, 0.5)[0], [0.5, 0.0, 0.0], rtol=1e-12)


def test_strong_friction_with_coupling_has_a_solution():
    """Painlevé's rod, W_nn + μ·W_nt < 0 at the slip: sliding on is impossible, and the impulse stops it."""
    A, b = np.array([[1.0, -2.0, 0.0], [-2.0, 5.0, 0.0], [0.0, 0.0, 1.0]]), np.array([-0.1, -1.0, 0.0])
    p, u = coulomb(A, b, 1.5)
    check_coulomb(A, b, 1.5, p, u)
    np.testing.assert_allclose(u, 0.0, atol=1e-14)
    assert np.all(coulomb(A, b * [-1.0, 1.0, 1.0], 1.5)[0] == 0.0)  # also one, with no impulse: that is taken
