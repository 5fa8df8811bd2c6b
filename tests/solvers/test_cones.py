"""Every solver of the registry on contacts with circular cones: Coulomb's law (kind "ncp") and the relaxed ("cone")."""

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp

from stickslip.errors import InputError
from stickslip.solvers import (
    SOLVERS,
    ConeProblem,
    FrictionProblem,
    NonlinearProblem,
    Status,
    generate_cones,
    make_solver,
    residuals,
)
from stickslip.solvers.admm import admm

MAY_FAIL = {
    ("pgs", "ncp"): {"stack", "heavy-on-light"},
    ("fixed-point", "ncp"): {"stack", "heavy-on-light"},
    ("fischer-newton", "ncp"): {"stack", "heavy-on-light"},
    ("minmap-newton", "ncp"): {"stack", "heavy-on-light", "heap", "sparse-heap", "jointed", "graph"},
    ("cg", "cone"): {"stack", "heavy-on-light", "light-on-heavy", "redundant"},
}
"""Solver and kind: classes that it need not solve. It must still say how it ended."""
MAKE = {"ncp": generate_cones.coulomb, "cone": generate_cones.relaxed}
SOLVES = [(name, kind) for kind in MAKE for name, solver in SOLVERS.items() if kind in solver.solves]


@cache
def made(kind, name):
    return MAKE[kind](name, 1)


@pytest.mark.parametrize("name", generate_cones.CONES)
@pytest.mark.parametrize(("solver", "kind"), SOLVES)
def test_solves(solver, kind, name):
    problem = made(kind, name)
    result = make_solver(solver).solve(problem)
    limit = 1e-8 * max(1.0, np.max(np.abs(problem.b)))
    assert result.success == (residuals.natural(problem, result.z) <= limit)
    assert result.status is not Status.INACCURATE
    assert np.all(np.isfinite(result.z))
    if name not in MAY_FAIL.get((solver, kind), ()):
        assert result.success, (result.status, result.iterations, result.residual)


@pytest.mark.parametrize("name", ["heap", "stack", "heavy-on-light", "grasp", "graph", "jointed", "redundant"])
def test_relaxed_velocities_are_unique(name):
    """The convex problem has one u, whichever solver finds it."""
    problem = made("cone", name)
    found = {}
    for solver, kind in SOLVES:
        if kind == "cone":
            result = make_solver(solver, tolerance=1e-10).solve(problem)
            if result.success:
                found[solver] = problem.W @ result.z + problem.b
    assert len(found) >= 1
    reference = found["admm"]
    for solver, velocity in found.items():
        np.testing.assert_allclose(velocity, reference, atol=1e-5 * np.max(np.abs(problem.b)), err_msg=solver)


@pytest.mark.parametrize("name", ["heap", "grasp"])
def test_agree_on_coulombs_velocities(name):
    problem, found = made("ncp", name), []
    for solver in ("pgs", "admm", "fischer-newton"):
        result = make_solver(solver, tolerance=1e-11).solve(problem)
        assert result.success
        found.append(problem.function(result.z))
    np.testing.assert_allclose(found[1], found[0], atol=1e-7)
    np.testing.assert_allclose(found[2], found[0], atol=1e-7)


@pytest.mark.parametrize("solver", ["pgs", "admm"])
@pytest.mark.parametrize("kind", MAKE)
class TestSplittings:
    def test_history(self, solver, kind):
        problem = made(kind, "graph")
        result = make_solver(solver, history=True).solve(problem)
        assert len(result.history) == result.iterations + 1
        assert result.history[0] == pytest.approx(residuals.natural(problem, np.zeros(problem.n)))
        assert result.history[-1] == pytest.approx(result.residual, rel=1e-3)
        assert make_solver(solver).solve(problem).history.size == 0

    def test_a_solution_as_the_start_is_left_alone(self, solver, kind):
        problem = made(kind, "jointed")
        first = make_solver(solver, tolerance=1e-11).solve(problem)
        again = make_solver(solver).solve(problem, first.z)
        assert again.iterations == 0
        np.testing.assert_allclose(again.z, first.z, atol=1e-8)

    def test_sparse_and_dense_agree(self, solver, kind, monkeypatch):
        monkeypatch.setattr("stickslip.solvers.admm.admm.DENSE", 0)
        monkeypatch.setattr("stickslip.solvers.admm.admm.SPECTRUM", 0)
        dense = MAKE[kind]("heap", 3)
        fields = [dense.b, dense.friction, *([dense.regularisation] if kind == "cone" else [])]
        sparse = type(dense)(sp.csr_array(dense.W), *fields)
        one, other = (make_solver(solver).solve(problem) for problem in (dense, sparse))
        assert one.iterations == other.iterations
        np.testing.assert_allclose(one.z, other.z, atol=1e-9)

    def test_too_few_iterations(self, solver, kind):
        problem = made(kind, "heap")
        result = make_solver(solver, max_iterations=2).solve(problem)
        assert result.status is Status.MAX_ITERATIONS
        assert result.iterations == 2

    def test_only_bilateral_rows(self, solver, kind):
        W, b, none = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([1.0, -1.0]), np.empty(0)
        problem = FrictionProblem(W, b, none, 2) if kind == "ncp" else ConeProblem(W, b, none, np.zeros(2), 2)
        result = make_solver(solver).solve(problem)
        assert result.success
        np.testing.assert_allclose(result.z, np.linalg.solve(W, -b), rtol=1e-14)

    def test_no_solution_is_said(self, solver, kind):
        """A contact that approaches and that no impulse can stop."""
        W, b, mu = np.zeros((3, 3)), np.array([-1.0, 0.0, 0.0]), np.ones(1)
        problem = FrictionProblem(W, b, mu) if kind == "ncp" else ConeProblem(W, b, mu, np.zeros(3))
        result = make_solver(solver, max_iterations=200).solve(problem)
        assert not result.success
        assert np.all(np.isfinite(result.z))


@pytest.mark.parametrize("history", [True, False])
def test_admm_begins_anew_where_a_warm_start_stalls(history, monkeypatch):
    """In Python; the core, which takes small dense problems, is left aside."""
    problem = made("ncp", "graph")
    method, far = make_solver("admm", history=history), np.full(problem.n, 1e6)
    monkeypatch.setattr(type(method), "core", lambda self, kind: None)
    monkeypatch.setattr(admm, "fits", lambda core, problem: False)
    alone, whole = method.solve(problem), admm.begin

    def stalling(state, *rest):
        code = whole(state, *rest)
        state.watch[1:] = 0.0, -np.inf  # no residual is progress any more, and the last one is long ago
        return code

    monkeypatch.setattr(admm, "begin", stalling)
    result = method.solve(problem, far)
    assert result.success
    assert result.iterations == (1 if history else 5) + alone.iterations
    np.testing.assert_array_equal(result.z, alone.z)
    assert len(result.history) == (result.iterations + 1 if history else 0)


@pytest.mark.parametrize("solver", ["pgs", "admm"])
def test_functions_are_refused(solver):
    free = np.full(1, np.inf)
    problem = NonlinearProblem(lambda z: z, lambda z: np.eye(1), -free, free)
    with pytest.raises(InputError, match="NonlinearProblem"):
        make_solver(solver).solve(problem)


def test_contacts_without_friction_are_an_lcp():
    problem = made("ncp", "heap")
    smooth = FrictionProblem(problem.W, problem.b, np.zeros(len(problem.friction)))
    for solver in ("pgs", "admm"):
        result = make_solver(solver).solve(smooth)
        assert result.success
        p = result.z.reshape(-1, 3)
        u = smooth.function(result.z)[::3]
        assert np.all(p[:, 1:] == 0.0)
        np.testing.assert_allclose(np.minimum(p[:, 0], u), 0.0, atol=2e-8)


@pytest.mark.parametrize(("kind", "name"), [("ncp", "stack"), ("ncp", "heap"), ("cone", "heavy-on-light")])
def test_brief_sweeps_end_where_they_will_not_converge(kind, name):
    """By Coulomb's law a stack is given up early, and said to be; what converges, and what is convex, takes as long."""
    whole, brief = (make_solver("pgs", max_iterations=10_000, brief=b).solve(made(kind, name)) for b in (False, True))
    assert brief.status == (Status.STALLED if name == "stack" else Status.CONVERGED)
    if name == "stack":
        assert not whole.success
        assert brief.iterations < 0.5 * whole.iterations
    else:
        assert brief.iterations == whole.iterations


def test_mass_ratio_of_a_million_standing():
    """1000 kg on 1 g at rest: the floor carries both, the small one the large one."""
    problem = generate_cones.blocks(np.array([1e-3, 1e3]), 0.5, np.zeros(12))
    result = make_solver("admm").solve(problem)
    assert result.success
    normal = result.z.reshape(2, 4, 3)[:, :, 0].sum(axis=1)
    weight = generate_cones.GRAVITY * generate_cones.DT
    np.testing.assert_allclose(normal, [1000.001 * weight, 1000.0 * weight], rtol=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"relaxation": 2.0}, "below 2"), ({"penalty": 0.0}, "penalty"), ({"proximal": -1.0}, "≥ 0")],
)
def test_admm_options(options, message):
    with pytest.raises(InputError, match=message):
        make_solver("admm", **options)


def test_classes_by_name():
    with pytest.raises(InputError, match="stack"):
        generate_cones.coulomb("stak")
