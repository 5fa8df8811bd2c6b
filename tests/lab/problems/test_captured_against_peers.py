"""Captured steps of bundled scenes: our solvers beside quantecon's Lemke and the real PATH, on the same matrices."""

from functools import cache

import numpy as np
import pytest

import stickslip as ss
from stickslip.lab.problems import matrices
from stickslip.lab.problems.solver_comparison import unavailable
from stickslip.methods.rigid.formulations.registry import make_formulation
from stickslip.scenes import SCENES
from stickslip.solvers import make_solver, residuals

SOURCES = {
    "peg on its hole": ("peg-in-hole", {"scale": 1.00001}, 60),
    "27 spheres falling apart": ("loose-sphere-stack", {"n": 3}, 30),
    "boxes in a pile": ("box-pile", {}, 40),
    "a cart": ("cart", {}, 20),
    "a block on a ramp": ("sliding-block", {}, 10),
}


@cache
def capture(source):
    """(matrices, formulation, LCP) of a step."""
    name, parameters, steps = SOURCES[source]
    sim = ss.Simulation(SCENES[name].build(**parameters).scene, method="stewart-trinkle/lemke", dt=0.01)
    sim.step(steps)
    step = matrices(ss.simulation.capture(sim))
    formulation = make_formulation("stewart-trinkle", form="lcp")
    problem = formulation.formulate(step)
    assert 10 <= problem.n <= 1000
    return step, formulation, problem


@pytest.fixture(scope="module", params=SOURCES)
def captured(request):
    return capture(request.param)


def velocities(captured, z):
    step, formulation, problem = captured
    return step.new_velocity(formulation.impulses(step, problem, z))


def test_lemke_is_right(captured):
    result = make_solver("lemke").solve(captured[2])
    assert result.success
    assert residuals.natural(captured[2], result.z) < 1e-9


def test_quantecon_agrees(captured):
    optimize = pytest.importorskip("quantecon.optimize")
    problem = captured[2]
    theirs = optimize.lcp_lemke(problem.dense(), problem.b)
    if not theirs.success:
        pytest.skip(f"quantecon gives up: status {theirs.status}")
    assert residuals.natural(problem, theirs.z) < 1e-7
    ours = make_solver("lemke").solve(problem).z
    agree(captured, ours, theirs.z)


def test_quantecon_solves_most():
    """So that the test above compares something."""
    optimize = pytest.importorskip("quantecon.optimize")
    problems = [capture(source)[2] for source in SOURCES]
    solved = [optimize.lcp_lemke(problem.dense(), problem.b).success for problem in problems]
    assert sum(solved) >= 3, dict(zip(SOURCES, solved, strict=True))


def test_path_agrees(captured):
    if why_not := unavailable("path", {}):
        pytest.skip(why_not)
    problem = captured[2]
    theirs = make_solver("path").solve(problem)
    assert theirs.success, theirs.message
    agree(captured, make_solver("lemke").solve(problem).z, theirs.z)


def agree(captured, one, two):
    """Impulses of bodies on more than three points are not unique; velocities are, but for the cart, which rolls on
    three of its four wheels or on all of them: there, both must keep contacts apart and load only closed ones."""
    step, _, problem = captured
    first, second = velocities(captured, one), velocities(captured, two)
    if step.bilateral == 0:
        np.testing.assert_allclose(first, second, atol=1e-7)
        return
    for v, z in ((first, one), (second, two)):
        speeds = (step.rows @ v)[step.bilateral :: 3] + step.gap / step.dt
        assert speeds.min() > -1e-7
        assert np.max(np.abs(speeds * z[problem.labels["normal"]])) < 1e-6
