"""Cones of an interior point: eliminated Newton steps against the unreduced equations, and that they stay inside."""

import numpy as np
import pytest

from stickslip.methods.variational.contact import circular, pyramid
from stickslip.methods.variational.contact.cones import make_cones, move

CONES = [(pyramid, facets) for facets in (4, 5, 8, 16)] + [(circular, 4)]
NAMES = [f"{cone.__name__.rpartition('.')[2]}-{facets}" for cone, facets in CONES]
cones_of_all_kinds = pytest.mark.parametrize(("cone", "facets"), CONES, ids=NAMES)


def directions(facets):
    angles = 2.0 * np.pi * np.arange(facets) / facets
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def random_cones(cone, facets, rng, spread):
    """One contact, strictly inside, anywhere: 10^±spread."""
    cones = make_cones(1, facets)

    def positive(*shape):
        return 10.0 ** rng.uniform(-spread, spread, size=shape)

    cones.s[:], cones.gamma[:], cones.psi[:], cones.room[:] = positive(1), positive(1), positive(1), positive(1)
    if cone is pyramid:
        cones.beta[:], cones.eta[:] = positive(1, facets), positive(1, facets)
    else:
        cones.beta[0, :2] = 0.6 * cones.gamma[0] * rng.uniform(-1, 1, size=2)
    return cones


def packed(cone, cones):
    numbers = [cones.s[0], cones.gamma[0], cones.psi[0], cones.room[0]]
    if cone is pyramid:
        return np.array([*numbers, *cones.beta[0], *cones.eta[0]])
    return np.array([*numbers, *cones.beta[0, :2]])


def equations(cone, D, friction, w, u):
    """(what must vanish, products that must be μ, force) of unknowns w, straight from the definitions."""
    s, gamma, psi, room, rest = *w[:4], w[4:]
    if cone is pyramid:
        beta, eta = rest[: len(D)], rest[len(D) :]
        zero = [u[0] - s, *(D @ u[1:] + psi - eta), friction * gamma - beta.sum() - room]
        return zero, [s * gamma, room * psi, *(beta * eta)], [gamma, *(D.T @ beta)]
    F = friction * gamma
    zero = [u[0] - s, *(u[1:] + psi * rest / F), F - (rest @ rest) / F - room]
    return zero, [s * gamma, room * psi], [gamma, *rest]


def jacobian(function, x):
    """By complex steps: exact."""
    columns = []
    for i in range(len(x)):
        z = x.astype(complex)
        z[i] += 1e-30j
        columns.append(np.imag(function(z)) / 1e-30)
    return np.array(columns).T


@cones_of_all_kinds
def test_blocks_are_newtons_steps_of_all_equations(cone, facets):
    rng, D = np.random.default_rng(1), directions(facets)
    for second in (0.0, 0.0, 1.0, 1.0):
        friction, target = rng.uniform(0.1, 1.5), 0.01
        cones, u, body = random_cones(cone, facets, rng, 1.0), rng.normal(size=3), rng.normal(size=(3, 3))
        body, drive = 0.3 * body @ body.T, rng.normal(size=3)  # Δu = body·Δf + drive
        step = random_cones(cone, facets, rng, 0.5)
        w, before = packed(cone, cones), packed(cone, step)
        n = len(w)

        def all_of_them(x, friction=friction, n=n):
            zero, products, force = equations(cone, D, friction, x[:n], x[n:])
            return np.array([*zero, *products, *force])

        x = np.r_[w, u]
        slope, value = jacobian(all_of_them, x), all_of_them(x)
        rows = len(value) - 3
        wanted = np.zeros(rows)
        products = np.arange(rows - (2 + facets if cone is pyramid else 2), rows)
        wanted[products] = target
        if second:
            pairs = [before[0] * before[1], before[3] * before[2]]
            if cone is pyramid:
                pairs += list(before[4 : 4 + facets] * before[4 + facets :])
            wanted[products] -= pairs
        A, b = np.zeros((n + 3, n + 3)), np.zeros(n + 3)
        A[:rows], b[:rows] = slope[:rows], wanted - value[:rows]
        A[rows:] = -body @ slope[rows:]
        A[rows:, n:] += np.eye(3)
        b[rows:] = drive
        dense = np.linalg.solve(A, b)

        K, k = np.empty((3, 3)), np.empty(3)
        cone.block(cones, step, D, 0, friction, *u, target, second, K, k)
        du = np.linalg.solve(np.eye(3) + body @ K, body @ k + drive)
        cone.recover(cones, step, D, 0, friction, *u, target, second, *du)
        np.testing.assert_allclose(du, dense[n:], rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(packed(cone, step), dense[:n], rtol=1e-10, atol=1e-10 * np.abs(dense).max())

        kinematic, others, product = cone.residual(cones, D, 0, friction, *u, target)
        zero, products, force = equations(cone, D, friction, w, u)
        assert kinematic == abs(zero[0])
        assert others == pytest.approx(np.abs(zero[1:]).max(), rel=1e-13)
        assert product == pytest.approx(np.abs(np.array(products) - target).max(), rel=1e-13)
        np.testing.assert_allclose(cone.force(cones, D, 0), force, rtol=1e-13, atol=1e-13)
        total, number = cone.gap(cones, cones, D, 0, friction, 0.0)
        assert (total, number) == (pytest.approx(np.sum(products)), len(products))


@cones_of_all_kinds
def test_a_step_to_the_boundary_stays_inside(cone, facets):
    rng, D, friction = np.random.default_rng(2), directions(facets), 0.4
    reached = 0
    for _ in range(200):
        cones, step = random_cones(cone, facets, rng, 6.0), make_cones(1, facets)
        u, du = rng.normal(size=3), 10.0 * rng.normal(size=3)
        cone.recover(cones, step, D, 0, friction, *u, 1e-9, 0.0, *du)
        alpha = cone.longest(cones, step, D, 0, friction)
        assert alpha > 0.0
        beyond = packed(cone, cones) + 1.01 * alpha * packed(cone, step)
        free = 4 if cone is circular else len(beyond)  # the disc's force has a slack of its own
        if alpha < 1.0:
            reached += 1
            assert beyond[:free].min() < 0.0
        move(cones, step, 0, min(1.0, 0.999 * alpha))
        values = packed(cone, cones)
        assert np.all(np.isfinite(values))
        assert values[:free].min() > 0.0
    assert reached > 100


@cones_of_all_kinds
def test_starts_are_inside_and_centred(cone, facets):
    D = directions(facets)
    for friction in (0.0, 1e-3, 1.0):
        for gap in (-0.1, 0.0, 1e-6, 2.0):
            cones = make_cones(1, facets)
            cone.start(cones, D, 0, friction, gap, 0.5)
            total, number = cone.gap(cones, cones, D, 0, friction, 0.0)
            assert total == pytest.approx(0.5 * number)
            _, _, products = cone.residual(cones, D, 0, friction, gap, 0.3, 0.2, 0.5)
            assert products < 1e-14
            before = packed(cone, cones)
            cone.lift(cones, D, 0, friction, 1e-9 * friction)
            assert np.all(packed(cone, cones) == before)
            cones.s[0], cones.psi[0] = 0.0, 0.0
            cone.lift(cones, D, 0, friction, 1e-3)
            assert cones.s[0] == 1e-3
            assert cones.psi[0] == (1e-3 if friction > 0 else 0.0)


@cones_of_all_kinds
def test_without_friction_there_is_a_normal_force_only(cone, facets):
    D, cones, step = directions(facets), make_cones(1, facets), make_cones(1, facets)
    step.beta[:], step.psi[:] = 1.0, 1.0
    K, k = np.full((3, 3), np.nan), np.full(3, np.nan)
    cone.start(cones, D, 0, 0.0, 0.2, 0.1)
    cone.block(cones, step, D, 0, 0.0, 0.2, 1.0, 2.0, 0.01, 0.0, K, k)
    assert K[0, 0] == cones.gamma[0] / cones.s[0]
    assert np.count_nonzero(K) == 1
    assert k[0] != 0.0
    assert np.all(k[1:] == 0.0)
    cone.recover(cones, step, D, 0, 0.0, 0.2, 1.0, 2.0, 0.01, 0.0, 0.1, 0.2, 0.3)
    move(cones, step, 0, 1.0)
    cone.settle(cones, D, 0, 0.0, 1.0, 2.0, 0.01, 1.0)
    assert cone.force(cones, D, 0)[1:] == (0.0, 0.0)
    assert cone.residual(cones, D, 0, 0.0, 0.3, 1.0, 2.0, 0.0)[1] == 0.0
    assert cone.gap(cones, cones, D, 0, 0.0, 0.0)[1] == 1


def test_friction_of_a_sliding_disc_is_settled_by_its_velocity():
    cones, D = make_cones(1, 4), directions(4)
    cones.gamma[0], cones.s[0] = 10.0, 1e-9
    circular.settle(cones, D, 0, 0.3, 3.0, -4.0, 1e-8, 0.01)
    _, f1, f2 = circular.force(cones, D, 0)
    np.testing.assert_allclose([f1, f2], [-0.3 * 10 * 0.6, 0.3 * 10 * 0.8], rtol=1e-8)
    _, others, products = circular.residual(cones, D, 0, 0.3, 1e-9, 3.0, -4.0, 1e-8)
    assert others < 1e-14
    assert products < 1e-15
    before = packed(circular, cones)
    circular.settle(cones, D, 0, 0.3, 1e-9, 0.0, 1e-8, 0.01)  # sticks: friction decides the velocity
    np.testing.assert_allclose(packed(circular, cones), before, rtol=1e-6)
    cones.beta[:], cones.psi[0], cones.room[0] = 0.0, 1e-9, 3.001
    circular.settle(cones, D, 0, 0.3, 1e-9, 0.0, 1e-8, 0.01)  # nothing is used of 3 N: the slack is put right
    assert cones.room[0] == pytest.approx(3.0, rel=1e-14)
