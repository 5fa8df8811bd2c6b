"""Fischer–Newton and minmap–Newton: bounds, friction cones, nonlinear problems, linear systems, options."""

import numpy as np
import pytest
import scipy.sparse as sp

from stickslip.errors import InputError
from stickslip.solvers import FrictionProblem, LinearProblem, NonlinearProblem, Status, generate, make_solver, residuals
from stickslip.solvers.newton.complementarity import fischer, fischer_merit, minmap, minmap_merit
from stickslip.solvers.newton.fischer_newton import SINGULAR
from stickslip.solvers.newton.friction_ncp import quadratic_cone
from stickslip.solvers.newton.friction_projection import disk_projection

NEWTON = ["fischer-newton", "minmap-newton"]
DIRECT_AND_NOT = ["direct", "gmres", "bicgstab"]


@pytest.mark.parametrize(("values", "merit"), [(fischer, fischer_merit), (minmap, minmap_merit)])
def test_derivatives_and_zeros(values, merit):
    """Free, bounded below, above and on both sides: derivatives by differences; zero exactly at solutions."""
    rng = np.random.default_rng(0)
    n = 400
    lower = np.where(np.arange(n) % 4 % 2 == 1, -rng.uniform(0, 1, n), -np.inf)
    upper = np.where(np.arange(n) % 4 >= 2, rng.uniform(0, 1, n), np.inf)
    y, w = rng.normal(size=(2, n))
    phi, dy, dw, up, down, unused = np.empty((6, n))
    total = values(y, w, lower, upper, 1e-12, phi, dy, dw)
    assert total == pytest.approx(0.5 * phi @ phi)
    assert merit(y, w, lower, upper) == pytest.approx(total)
    assert np.all((dy >= 0) & (dw >= 0))
    h = 1e-7
    for derivative, change in ((dy, (h, 0.0)), (dw, (0.0, h))):
        values(y + change[0], w + change[1], lower, upper, 1e-12, up, unused, unused.copy())
        values(y - change[0], w - change[1], lower, upper, 1e-12, down, unused, unused.copy())
        np.testing.assert_allclose((up - down) / (2 * h), derivative, atol=1e-6)
    inside = np.clip(rng.normal(size=n), np.maximum(lower, -5), np.minimum(upper, 5))
    right = np.where(inside == lower, 1.0, 0.0) - np.where(inside == upper, 1.0, 0.0)
    assert merit(inside, right, lower, upper) == 0.0
    wrong = -right
    phi[:] = 0.0
    values(inside, wrong, lower, upper, 1e-12, phi, dy, dw)
    np.testing.assert_array_equal(np.abs(phi) > 1e-4, wrong != 0.0)


@pytest.mark.parametrize("name", [*NEWTON, "interior-point"])
@pytest.mark.parametrize("subsolver", DIRECT_AND_NOT)
@pytest.mark.parametrize("kind", ["banded", "fluid", "stack"])
def test_sparse_stays_sparse(name, subsolver, kind, monkeypatch):
    problem = generate.problem(kind, 300, sparse=True).problem
    dense = make_solver(name).solve(generate.problem(kind, 300, sparse=False).problem)

    def refuse(*args, **named):
        raise AssertionError("a sparse matrix was made dense")

    for kind_of_matrix in (sp.csr_array, sp.csc_array, sp.coo_array):
        monkeypatch.setattr(kind_of_matrix, "toarray", refuse)
        monkeypatch.setattr(kind_of_matrix, "todense", refuse)
    limit = 5 if kind == "stack" and subsolver != "direct" else None
    result = make_solver(name, subsolver=subsolver, max_iterations=limit).solve(problem)
    if kind == "stack" and subsolver != "direct":
        assert result.status in (Status.CONVERGED, Status.STALLED, Status.MAX_ITERATIONS)
        return
    assert result.success
    if kind != "stack":
        np.testing.assert_allclose(result.z, dense.z, atol=1e-6)


@pytest.mark.parametrize("name", [*NEWTON, "interior-point"])
@pytest.mark.parametrize("sparse", [False, True])
def test_bounds_of_every_kind(name, sparse):
    rng = np.random.default_rng(4)
    n = 60
    R = rng.standard_normal((n, n)) / np.sqrt(n)
    A = R @ R.T + 0.2 * np.eye(n) + 0.3 * (R - R.T)
    lower = np.where(np.arange(n) % 5 % 2 == 1, rng.normal(size=n), -np.inf)
    upper = np.where(np.isin(np.arange(n) % 5, (2, 3)), np.maximum(lower, -1) + rng.uniform(0.1, 1.0, n), np.inf)
    upper[4::5] = lower[4::5] = 0.25
    b = 3.0 * rng.normal(size=n)
    problem = LinearProblem(sp.csr_array(A) if sparse else A, b, lower, upper)
    result = make_solver(name).solve(problem)
    assert result.success
    w = A @ result.z + b
    assert np.all(result.z >= lower - 1e-7)
    assert np.all(result.z <= upper + 1e-7)
    inside = (result.z > lower + 1e-5) & (result.z < upper - 1e-5)
    np.testing.assert_allclose(w[inside], 0.0, atol=1e-6)
    assert np.all(w[(result.z < lower + 1e-5) & (upper > lower)] > -1e-6)
    assert np.all(w[(result.z > upper - 1e-5) & (upper > lower)] < 1e-6)


@pytest.mark.parametrize("singular", SINGULAR)
def test_singular_points(singular):
    """All of z_i = w_i = 0 at the start, and 60 % of them at the solution."""
    problem, z = generate.problem("degenerate", 80)
    result = make_solver("fischer-newton", singular=singular, seed=3).solve(problem)
    assert result.success
    np.testing.assert_allclose(result.z, z, atol=1e-6)
    kinked = LinearProblem(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([0.0, -1.0]))
    result = make_solver("fischer-newton", singular=singular).solve(kinked)
    if singular != "zero":  # the first of them may stay where it is, and is right there
        np.testing.assert_allclose(result.z, [0.0, 0.5], atol=1e-7)


@pytest.mark.parametrize("name", NEWTON)
@pytest.mark.parametrize(("side", "perturbed"), [(2, False), (2, True), (3, False), (3, True)])
def test_stacks_of_spheres(name, side, perturbed):
    """Hyperstatic: impulses are not unique, velocities after them are."""
    contacts = generate.spheres(side, perturbed)
    problem = generate.stewart_trinkle(contacts)
    result = make_solver(name).solve(problem)
    assert result.success
    assert result.iterations < 30
    if not perturbed:
        nc = len(contacts.gap)
        total = problem.A[: 5 * nc, : 5 * nc] @ result.z[: 5 * nc] + problem.b[: 5 * nc]
        np.testing.assert_allclose(total[:nc], 0.0, atol=1e-6)
        np.testing.assert_allclose(result.z[:nc][: side**2].sum(), side**3 * 9.81 * 0.01, rtol=1e-6)


@pytest.mark.parametrize("name", NEWTON)
def test_mass_ratios_are_no_obstacle_to_a_light_body_on_a_heavy_one(name):
    W = np.array([[1e-6, -1e-6], [-1e-6, 1.0 + 1e-6]])
    result = make_solver(name, tolerance=1e-10).solve(LinearProblem(W, np.array([-0.1, 0.0])))
    np.testing.assert_allclose(result.z, np.linalg.solve(W, [0.1, 0.0]), rtol=1e-6)


@pytest.mark.parametrize("name", NEWTON)
def test_kojima_and_shindo(name):
    """The textbook NCP; its solutions are (√6/2, 0, 0, 1/2) and (1, 0, 3, 0)."""

    def function(x):
        a, b, c, d = x
        return np.array(
            [
                3 * a * a + 2 * a * b + 2 * b * b + c + 3 * d - 6,
                2 * a * a + a + b * b + 10 * c + 2 * d - 2,
                3 * a * a + a * b + 2 * b * b + 2 * c + 9 * d - 9,
                a * a + 3 * b * b + 2 * c + 3 * d - 3,
            ]
        )

    def jacobian(x):
        a, b, _, _ = x
        return np.array(
            [
                [6 * a + 2 * b, 2 * a + 4 * b, 1, 3],
                [4 * a + 1, 2 * b, 10, 2],
                [6 * a + b, a + 4 * b, 2, 9],
                [2 * a, 6 * b, 2, 3],
            ]
        )

    problem = NonlinearProblem(function, jacobian, np.zeros(4), np.full(4, np.inf))
    result = make_solver(name).solve(problem, np.array([1.0, 0.5, 0.5, 0.5]))
    assert result.success
    solutions = np.array([[np.sqrt(6) / 2, 0, 0, 0.5], [1, 0, 3, 0]])
    assert np.min(np.max(np.abs(solutions - result.z), axis=1)) < 1e-6


@pytest.mark.parametrize("write", [disk_projection, quadratic_cone])
@pytest.mark.parametrize("sparse", [False, True])
def test_friction_jacobian(write, sparse):
    contacts = generate.spheres(2, rng=np.random.default_rng(1))
    free = generate.coulomb(contacts, sparse=sparse)
    problem = FrictionProblem(free.W, free.b, free.friction[:-1], bilateral=3)
    cone = write(problem)
    y = np.random.default_rng(2).uniform(0.05, 1.0, cone.problem.n)
    J = cone.problem.jacobian(y)
    J = J.toarray() if sparse else J
    h = 1e-6
    differences = [
        (cone.problem.function(y + h * e) - cone.problem.function(y - h * e)) / (2 * h) for e in np.eye(len(y))
    ]
    np.testing.assert_allclose(J, np.transpose(differences), atol=1e-7)


@pytest.mark.parametrize("name", NEWTON)
@pytest.mark.parametrize("cone", ["projection", "quadratic"])
@pytest.mark.parametrize(("speed", "sticks"), [(0.03, True), (2.0, False)])
def test_one_sliding_sphere(name, cone, speed, sticks):
    """A point mass of 2 kg at the floor: normal impulse m·g·dt, friction opposes the slip and is at most μ times it."""
    W, b = np.eye(3) / 2.0, np.array([-9.81 * 0.01, speed * 0.6, speed * 0.8])
    result = make_solver(name, cone=cone).solve(FrictionProblem(W, b, [0.5]))
    assert result.success
    normal = 2.0 * 9.81 * 0.01
    size = 2.0 * speed if sticks else 0.5 * normal
    np.testing.assert_allclose(result.z, [normal, -0.6 * size, -0.8 * size], rtol=1e-6)


@pytest.mark.parametrize("name", NEWTON)
@pytest.mark.parametrize("sparse", [False, True])
def test_circular_cones_of_a_heap(name, sparse):
    problem = generate.coulomb(generate.spheres(3, rng=np.random.default_rng(5)), sparse=sparse)
    result = make_solver(name, history=True).solve(problem)
    assert result.success
    assert result.iterations < 25
    assert len(result.history) == result.iterations + 1
    assert result.history[-1] == pytest.approx(result.residual)
    assert make_solver(name).solve(problem, result.z).iterations <= 1
    impulses = result.z.reshape(-1, 3)
    assert np.all(np.hypot(impulses[:, 1], impulses[:, 2]) <= 0.5 * impulses[:, 0] + 1e-12)


@pytest.mark.parametrize("name", NEWTON)
def test_bilateral_rows_beside_contacts(name):
    contacts = generate.spheres(2, rng=np.random.default_rng(8))
    free = generate.coulomb(contacts)
    problem = FrictionProblem(free.W, free.b, free.friction[:-2], bilateral=6)
    result = make_solver(name).solve(problem)
    assert result.success
    np.testing.assert_allclose(problem.function(result.z)[:6], 0.0, atol=1e-7)


@pytest.mark.parametrize("name", [*NEWTON, "interior-point"])
def test_without_a_constant_term(name):
    problem = LinearProblem(np.array([[2.0, 1.0], [1.0, 2.0]]), np.zeros(2))
    result = make_solver(name).solve(problem, np.array([1.0, 0.5]))
    assert result.success
    np.testing.assert_allclose(result.z, 0.0, atol=1e-7)


def test_converges_quadratically():
    problem = generate.problem("positive-definite", 100, seed=2).problem
    history = make_solver("fischer-newton", history=True).solve(problem).history
    assert history[-1] < 10 * history[-2] ** 1.5


@pytest.mark.parametrize("name", NEWTON)
def test_without_regularisation_stacks_are_beyond_it_but_it_says_so(name):
    problem = generate.stewart_trinkle(generate.spheres(3, perturbed=True))
    result = make_solver(name, regularisation=0.0, restarts=0, max_iterations=15).solve(problem)
    assert result.success == (residuals.natural(problem, result.z) <= 2e-8)
    assert result.iterations <= 15


@pytest.mark.parametrize("name", NEWTON)
def test_non_monotone_search(name):
    problem = generate.problem("contact", 300, seed=1).problem
    assert make_solver(name, memory=8).solve(problem).success


@pytest.mark.parametrize(
    "options", [{"subsolver": "cg"}, {"regularisation": -1.0}, {"memory": 0}, {"restarts": 1.5}, {"cone": "pyramid"}]
)
@pytest.mark.parametrize("name", NEWTON)
def test_bad_options(name, options):
    with pytest.raises(InputError, match=next(iter(options))):
        make_solver(name, **options)


def test_bad_treatment_of_singular_points():
    with pytest.raises(InputError, match="singular points"):
        make_solver("fischer-newton", singular="ignore")
