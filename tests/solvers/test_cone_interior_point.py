"""The interior-point method on circular cones: Coulomb's law and the relaxed problem, to 1e-8 whatever the masses."""

import numpy as np
import pytest
import scipy.sparse as sp

from stickslip.errors import InputError
from stickslip.solvers import SOLVERS, ConeProblem, FrictionProblem, Status, generate, make_solver
from stickslip.solvers.interior_point.second_order_cone import (
    complementarity,
    longest_step,
    scale_cones,
    squared_scaling,
)
from stickslip.solvers.residuals import natural

METHOD = "interior-point"


def relaxed(problem: FrictionProblem, R: float = 0.0) -> ConeProblem:
    return ConeProblem(problem.W, problem.b, problem.friction, np.full(problem.n, R), problem.bilateral)


def heap(seed: int, mu: float = 0.5, ratio: float = 1.0, sparse: bool = False) -> FrictionProblem:
    """27 spheres thrown about, their masses apart by up to a ratio."""
    rng = np.random.default_rng(seed)
    contacts = generate.spheres(3, rng=rng)
    factor = ratio ** rng.uniform(-0.5, 0.5, 27)
    lighter = contacts._replace(inverse_mass=contacts.inverse_mass * np.repeat(factor, 6))
    return generate.coulomb(lighter, mu, sparse)


def inside(rng, n=20):
    x = rng.normal(size=(n, 3))
    x[:, 0] = np.hypot(x[:, 1], x[:, 2]) + rng.uniform(1e-3, 1.0, n)
    return x


def coulomb_holds(problem, p, tolerance):
    """Signorini, the disk and the direction of friction, each written out."""
    nb = problem.bilateral
    u = (problem.W @ p + problem.b)[nb:].reshape(-1, 3)
    own = p[nb:].reshape(-1, 3)
    assert np.all(own[:, 0] >= -tolerance)
    assert np.all(u[:, 0] >= -tolerance)
    assert np.max(np.abs(np.minimum(own[:, 0], u[:, 0]))) < tolerance
    radius, size = problem.friction * own[:, 0], np.hypot(own[:, 1], own[:, 2])
    assert np.all(size <= radius + tolerance)
    speed = np.hypot(u[:, 1], u[:, 2])
    slides = speed > 1e3 * tolerance
    np.testing.assert_allclose(own[slides, 1:] * speed[slides, None], -radius[slides, None] * u[slides, 1:], atol=1e-6)


# -- the algebra ----------------------------------------------------------------------------------------------------


def test_scaling_takes_both_to_the_same_point():
    rng = np.random.default_rng(0)
    x, y = inside(rng), inside(rng)
    scaling, point, H = np.empty((20, 4)), np.empty((20, 3)), np.empty((20, 3, 3))
    assert scale_cones(x, y, scaling, point)
    squared_scaling(scaling, H)
    np.testing.assert_allclose(np.einsum("cij,cj->ci", H, x), y, rtol=1e-9)
    np.testing.assert_allclose(np.einsum("ci,ci->c", point, point), np.einsum("ci,ci->c", x, y), rtol=1e-9)
    g = np.empty((20, 3))
    complementarity(scaling, point, x, y, 0.0, 0.0, g)  # λ∘λ = λ∘(G·dx + G⁻¹·dy) with dx = 0: dy = −y
    np.testing.assert_allclose(g, -y, rtol=1e-7, atol=1e-9)


def test_longest_step_ends_on_the_boundary():
    rng = np.random.default_rng(1)
    x, d = inside(rng, 200), rng.normal(size=(200, 3))
    for k in range(200):
        step = longest_step(x[k : k + 1], d[k : k + 1], 1e6)
        end = x[k] + step * d[k]
        if step < 1e6:
            assert end[0] == pytest.approx(np.hypot(end[1], end[2]), abs=1e-9 * max(1.0, step))
        half = x[k] + 0.5 * step * d[k]
        assert half[0] > np.hypot(half[1], half[2])


def test_outside_is_refused():
    scaling, point = np.empty((1, 4)), np.empty((1, 3))
    assert not scale_cones(np.array([[1.0, 1.0, 0.0]]), np.array([[1.0, 0.0, 0.0]]), scaling, point)
    assert not scale_cones(np.array([[1.0, 0.0, 0.0]]), np.array([[np.nan, 0.0, 0.0]]), scaling, point)


# -- what it solves -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("mu", [0.0, 0.3, 1.0, 2.0])
def test_heaps(mu, sparse):
    for seed in range(3):
        problem = heap(seed, mu, sparse=sparse)
        result = make_solver(METHOD).solve(problem)
        assert result.success
        assert result.residual <= 1e-8 * max(1.0, np.max(np.abs(problem.b)))
        coulomb_holds(problem, result.z, 1e-7)


def test_masses_apart_by_a_million():
    for seed in range(6):
        assert make_solver(METHOD).solve(heap(seed, ratio=1e6)).success


@pytest.mark.parametrize("perturbed", [False, True])
def test_hyperstatic_stacks_of_spheres(perturbed):
    problem = generate.coulomb(generate.spheres(4, perturbed=perturbed), 0.5, sparse=True)
    assert np.linalg.matrix_rank(problem.W.toarray()) < problem.n
    result = make_solver(METHOD).solve(problem)
    assert result.success
    coulomb_holds(problem, result.z, 1e-7)


@pytest.mark.parametrize("R", [0.0, 1e-3, 1.0])
def test_the_relaxed_problem_takes_few_iterations(R):
    for seed in range(4):
        problem = relaxed(heap(seed, ratio=1e6 if seed % 2 else 1.0), R)
        result = make_solver(METHOD).solve(problem)
        assert result.success
        assert result.iterations <= 40


def test_iterations_hardly_grow():
    few = [make_solver(METHOD).solve(relaxed(generate.coulomb(generate.spheres(k), 0.5, True))) for k in (2, 6)]
    assert all(result.success for result in few)
    assert few[1].iterations <= 2 * few[0].iterations + 5


def test_minimum_of_the_relaxed_problem():
    """No point of the cones is lower: the conditions are those of a minimum."""
    rng = np.random.default_rng(3)
    problem = relaxed(heap(1), 1e-2)
    p = make_solver(METHOD).solve(problem).z

    def energy(q):
        return 0.5 * q @ problem.matrix() @ q + problem.b @ q

    for _ in range(50):
        q = (p + 0.1 * rng.normal(size=len(p))).reshape(-1, 3)
        q[:, 0] = np.maximum(q[:, 0], np.hypot(q[:, 1], q[:, 2]) / 0.5)
        assert energy(q.ravel()) >= energy(p) - 1e-8


@pytest.mark.parametrize(
    ("name", "kind"), [(name, kind) for kind in ("ncp", "cone") for name in SOLVERS if kind in SOLVERS[name].solves]
)
def test_the_same_velocities_as_other_solvers(name, kind):
    """u of the relaxed problem is unique, p need not be; of Coulomb's, on a heap with little friction, too."""
    source = heap(5, 0.2)
    problem = source if kind == "ncp" else relaxed(source)
    mine, other = make_solver(METHOD, tolerance=1e-10).solve(problem), make_solver(name, tolerance=1e-9).solve(problem)
    assert mine.success
    assert other.success
    np.testing.assert_allclose(problem.function(mine.z), problem.function(other.z), atol=2e-6)


def test_one_block_by_hand():
    """1 kg, pushed sideways: it sticks, slides, or is lifted."""
    W, dt, g = np.eye(3), 0.01, 9.81
    for push, wanted in ((0.03, (0.0981, -0.03, 0.0)), (0.08, (0.0981, -0.04905, 0.0))):
        result = make_solver(METHOD).solve(FrictionProblem(W, [-g * dt, push, 0.0], [0.5]))
        np.testing.assert_allclose(result.z, wanted, atol=1e-9)
    result = make_solver(METHOD).solve(FrictionProblem(W, [0.1, 1.0, 0.0], [0.5]))
    np.testing.assert_allclose(result.z, 0.0, atol=1e-8)
    lifted = make_solver(METHOD).solve(relaxed(FrictionProblem(W, [-0.0981, 1.0, 0.0], [0.5])))
    u = W @ lifted.z + [-0.0981, 1.0, 0.0]
    assert u[0] == pytest.approx(0.5 * np.hypot(u[1], u[2]), abs=1e-7)


# -- rows of other kinds --------------------------------------------------------------------------------------------


def with_joints(seed=0, twice=True, mu=0.5):
    """Random bodies with joints, said twice, and contacts, some without friction."""
    rng = np.random.default_rng(seed)
    nv, nb, nc = 40, 6, 8
    G = rng.normal(size=(nb + 3 * nc, nv))
    if twice:
        G[nb // 2 : nb] = G[: nb // 2]
    v = rng.normal(size=nv)
    friction = np.where(np.arange(nc) % 3 == 0, 0.0, mu)
    return FrictionProblem(G @ G.T, G @ v, friction, nb)


@pytest.mark.parametrize("kind", [lambda problem: problem, relaxed])
@pytest.mark.parametrize("sparse", [False, True])
def test_joints_that_say_the_same_twice(kind, sparse):
    for seed in range(4):
        source = with_joints(seed)
        W = sp.csr_array(source.W) if sparse else source.W
        problem = kind(FrictionProblem(W, source.b, source.friction, source.bilateral))
        result = make_solver(METHOD).solve(problem)
        assert result.success
        assert np.max(np.abs(problem.function(result.z)[: problem.bilateral])) < 1e-7
        without = result.z[problem.bilateral :].reshape(-1, 3)[problem.friction == 0.0]
        np.testing.assert_allclose(without[:, 1:], 0.0, atol=1e-9)


def test_joints_alone():
    G = np.random.default_rng(0).normal(size=(4, 9))
    problem = FrictionProblem(G @ G.T, G @ np.ones(9), [], 4)
    result = make_solver(METHOD).solve(problem)
    assert result.success
    np.testing.assert_allclose(problem.function(result.z), 0.0, atol=1e-9)


def test_the_same_contact_many_times():
    """The motion does not depend on how often a contact is listed."""
    one = FrictionProblem(np.diag([1.0, 3.0, 3.0]), [-0.1, 0.5, 0.2], [0.4])
    E = np.tile(np.eye(3), (12, 1))
    many = FrictionProblem(E @ one.W @ E.T, E @ one.b, np.full(12, 0.4))
    first, second = (make_solver(METHOD).solve(problem) for problem in (one, many))
    assert first.success
    assert second.success
    np.testing.assert_allclose(many.function(second.z)[:3], one.function(first.z), atol=1e-8)


def test_a_contact_of_bodies_that_cannot_move():
    """W = 0: any impulse, no velocity."""
    result = make_solver(METHOD).solve(FrictionProblem(np.zeros((3, 3)), [0.0, 0.0, 0.0], [0.5]))
    assert result.success
    assert np.all(np.isfinite(result.z))


def test_nothing_at_all():
    for problem in (FrictionProblem(np.empty((0, 0)), [], []), ConeProblem(np.empty((0, 0)), [], [], [])):
        result = make_solver(METHOD, history=True).solve(problem)
        assert result.success
        assert result.z.shape == (0,)


# -- how it ends ----------------------------------------------------------------------------------------------------


def test_no_solution_is_said():
    """A contact that is driven in by what nothing can move."""
    for kind in (lambda problem: problem, relaxed):
        problem = kind(FrictionProblem(np.zeros((3, 3)), [-1.0, 0.0, 0.0], [0.5]))
        result = make_solver(METHOD).solve(problem)
        assert not result.success
        assert result.status in (Status.STALLED, Status.MAX_ITERATIONS, Status.SINGULAR)
        assert np.all(np.isfinite(result.z))


def test_limit_on_iterations_and_history():
    problem = heap(2)
    result = make_solver(METHOD, max_iterations=3, history=True).solve(problem)
    assert result.status is Status.MAX_ITERATIONS
    assert result.iterations == 3
    assert len(result.history) == 4
    full = make_solver(METHOD, history=True).solve(problem)
    assert full.success
    assert len(full.history) == full.iterations + 1
    assert full.history[-1] == pytest.approx(full.residual)
    assert natural(problem, result.z) == result.residual


def test_a_start_that_is_the_solution():
    problem = heap(4)
    answer = make_solver(METHOD).solve(problem).z
    again = make_solver(METHOD).solve(problem, answer)
    assert again.iterations == 0
    np.testing.assert_array_equal(again.z, answer)


def test_iterative_subsolvers_are_refused():
    with pytest.raises(InputError, match="subsolver: expected 'auto' or 'direct' with circular cones, got 'gmres'"):
        make_solver(METHOD, subsolver="gmres").solve(heap(0))
