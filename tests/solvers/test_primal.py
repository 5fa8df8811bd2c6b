"""Primal Newton and conjugate gradients on the relaxed contact problem."""

import numpy as np
import pytest
import scipy.sparse as sp

from stickslip.math.cone_projection import project_cone
from stickslip.solvers import ConeProblem, LinearProblem, Status, generate, make_solver, solve
from stickslip.solvers.newton.primal_cost import curvature, impulses_of

PRIMAL = pytest.mark.parametrize("name", ["newton", "cg"])
ZONES = {
    "sticks": (-1.0, 0.1, -0.2),
    "slides": (-0.3, 0.8, 0.5),
    "slides and rises": (0.2, -0.6, 0.4),
    "leaves": (1.0, 0.3, 0.2),
}
"""y of one contact with R = (0.3, 0.2, 0.2) and μ = 0.7."""


def heap(side=3, R=0.1, seed=1, csr=False, ratio=1.0):
    rng = np.random.default_rng(seed)
    contacts = generate.spheres(side, rng=rng)
    if ratio > 1.0:
        spread = ratio ** rng.uniform(-0.5, 0.5, side**3)
        contacts = contacts._replace(inverse_mass=contacts.inverse_mass * np.repeat(spread, 6))
    made = generate.coulomb(contacts, sparse=csr)
    friction = rng.uniform(0.0, 1.0, len(made.friction))
    friction[::7] = 0.0
    return ConeProblem(made.W, made.b, friction, np.full(made.n, R))


def conditions(problem, p):
    """The largest violation of K ∋ p ⟂ u ∈ K* and of the bilateral rows, relative to b, written again."""
    u = problem.W @ p + problem.regularisation * p + problem.b
    nb = problem.bilateral
    P, U = p[nb:].reshape(-1, 3), u[nb:].reshape(-1, 3)
    outside = np.hypot(P[:, 1], P[:, 2]) - problem.friction * P[:, 0]
    not_dual = problem.friction * np.hypot(U[:, 1], U[:, 2]) - U[:, 0]
    power = np.abs(np.sum(P * U, axis=1)) / (1.0 + np.linalg.norm(P, axis=1))
    worst = max(worst.max(initial=0.0) for worst in (outside, not_dual, power, np.abs(u[:nb])))
    return worst / max(1.0, np.abs(problem.b).max())


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("mu", [0.0, 0.7])
def test_impulses_and_their_derivative(zone, mu):
    y, R, friction = np.array(ZONES[zone]), np.array([0.3, 0.2, 0.2]), np.array([mu])
    p, E, width = np.empty(3), np.zeros((3, 3)), np.zeros(1, dtype=np.int64)
    impulses_of(y, R, friction, 0, p)
    if mu > 0.0:
        units = np.sqrt(R)  # in which the metric R is Euclid's, and the cone another circular one
        nearest = np.array(project_cone(*(-y / units), mu * units[1] / units[0])) / units
        np.testing.assert_allclose(p, nearest, atol=1e-15)
    else:
        np.testing.assert_allclose(p, [max(0.0, -y[0] / R[0]), 0.0, 0.0])
    curvature(y, R, friction, 0, p, E, width)
    root = E[:, : width[0]]
    measured = np.empty((3, 3))
    for k in range(3):
        high, low, step = np.empty(3), np.empty(3), 1e-6 * np.eye(3)[k]
        impulses_of(y + step, R, friction, 0, high)
        impulses_of(y - step, R, friction, 0, low)
        measured[:, k] = -(high - low) / 2e-6
    np.testing.assert_allclose(root @ root.T, measured, atol=1e-8)


@PRIMAL
@pytest.mark.parametrize("R", [0.1, 1e-4, 0.0])
@pytest.mark.parametrize("csr", [False, True])
def test_heaps(name, R, csr):
    problem = heap(R=R, csr=csr)
    result = solve(problem, name)
    assert result.success
    assert conditions(problem, result.z) < 1e-7


@PRIMAL
def test_heaps_at_rest_have_many_solutions_and_one_motion(name):
    made = generate.coulomb(generate.spheres(3))
    problem = ConeProblem(made.W, made.b, made.friction, np.zeros(made.n))
    result = solve(problem, name, tolerance=1e-10)
    assert result.success
    assert np.linalg.matrix_rank(problem.W) < problem.n
    np.testing.assert_allclose(problem.W @ result.z, -problem.b, atol=1e-9)  # nothing moves


def test_both_find_the_same():
    problem = heap(R=0.05, seed=4)
    newton, cg = (solve(problem, name, tolerance=1e-11) for name in ("newton", "cg"))
    np.testing.assert_allclose(newton.z, cg.z, atol=1e-8)
    assert newton.iterations < 40 < cg.iterations


def test_newton_bears_mass_ratios_of_a_million():
    for seed in range(3):
        problem = heap(R=0.0, seed=seed, ratio=1e6)
        problem = ConeProblem(problem.W, problem.b, problem.friction, 1e-3 * np.repeat(problem.W.diagonal()[::3], 3))
        result = solve(problem, "newton")
        assert result.success
        assert result.iterations < 100


@PRIMAL
@pytest.mark.parametrize("R", [0.2, 0.0])
def test_without_friction_it_is_an_lcp(name, R):
    problem = heap(R=R)
    problem = ConeProblem(problem.W, problem.b, np.zeros(len(problem.friction)), problem.regularisation)
    normal = np.arange(0, problem.n, 3)
    lcp = LinearProblem(problem.matrix()[np.ix_(normal, normal)], problem.b[normal])
    result = solve(problem, name, tolerance=1e-11)
    assert result.success
    np.testing.assert_allclose(result.z[normal], solve(lcp, "lemke").z, atol=1e-8)
    assert not result.z[normal + 1].any()


def with_bilateral(R, friction=(0.0, 0.3, 0.5, 1.0), twice=False):
    rng = np.random.default_rng(3)
    J = rng.standard_normal((4 + 3 * len(friction), 20))
    velocity = rng.standard_normal(20)
    if twice:
        J[1] = J[0]
    regularisation = np.zeros(len(J))
    regularisation[4:] = R
    return ConeProblem(J @ J.T / 20, J @ velocity, friction, regularisation, 4)


@PRIMAL
@pytest.mark.parametrize("R", [0.1, 0.0])
@pytest.mark.parametrize("twice", [False, True])
def test_bilateral_rows(name, R, twice):
    problem = with_bilateral(R, twice=twice)
    result = solve(problem, name)
    assert result.success
    assert conditions(problem, result.z) < 1e-7


@PRIMAL
def test_only_bilateral_rows_are_linear_equations(name):
    problem = with_bilateral(0.0, friction=())
    result = solve(problem, name, tolerance=1e-12)
    np.testing.assert_allclose(result.z, np.linalg.solve(problem.W, -problem.b), atol=1e-9)


@PRIMAL
def test_contradictions_are_reported(name):
    W = np.ones((2, 2))
    result = make_solver(name, max_iterations=200).solve(ConeProblem(W, [1.0, -1.0], [], np.zeros(2), 2))
    assert result.status in (Status.MAX_ITERATIONS, Status.STALLED)
    assert np.all(np.isfinite(result.z))
    immovable = ConeProblem(np.zeros((3, 3)), [-1.0, 0.0, 0.0], [0.5], np.zeros(3))
    assert not make_solver(name, max_iterations=200).solve(immovable).success


@PRIMAL
def test_start_history_and_limit(name):
    problem = heap()
    result = make_solver(name, history=True).solve(problem)
    assert len(result.history) == result.iterations + 1
    assert result.history.min() == pytest.approx(result.residual, rel=1e-6)
    assert make_solver(name).solve(problem, result.z).iterations == 0
    near = make_solver(name).solve(problem, result.z * (1.0 + 1e-3))
    assert near.success
    assert near.iterations < result.iterations
    short = make_solver(name, max_iterations=2).solve(problem)
    assert short.status is Status.MAX_ITERATIONS
    assert short.iterations == 2
    assert make_solver(name).solve(ConeProblem(np.empty((0, 0)), [], [], [])).success


def test_rigid_limit():
    """W·p of R → 0 comes to that of R = 0, in proportion to R."""
    rigid = solve(heap(R=0.0), "newton", tolerance=1e-12)
    W = heap().W
    errors = [np.abs(W @ (solve(heap(R=R), "newton", tolerance=1e-12).z - rigid.z)).max() for R in (1e-3, 1e-4, 1e-5)]
    assert errors[0] / errors[1] == pytest.approx(10.0, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(10.0, rel=0.02)


def test_sparse_and_dense_alike():
    dense, csr = heap(R=1e-3), heap(R=1e-3, csr=True)
    assert sp.issparse(csr.W)
    np.testing.assert_allclose(
        solve(dense, "newton", tolerance=1e-11).z, solve(csr, "newton", tolerance=1e-11).z, atol=1e-7
    )
