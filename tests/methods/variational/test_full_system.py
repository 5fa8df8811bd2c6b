"""The block method on the graph takes the same Newton step as SciPy's sparse LU of the system that nothing was
eliminated from."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.linalg import splu

from stickslip.errors import InputError
from stickslip.lab.bench.full_system import full_system, newton_step
from stickslip.maximal import Joint
from stickslip.methods.variational.equations import move_to, residuals
from stickslip.methods.variational.graph.block_ldu import OK, factor, solve
from stickslip.methods.variational.newton_system import assemble, directions, right_side
from stickslip.methods.variational.variational_stepping import solve_contacts, start
from stickslip.model.builders import add_chain, add_cylinder_on_points
from stickslip.model.scene import Scene
from stickslip.simulation import Simulation


def chain(n: int) -> Simulation:
    scene = Scene(name="chain")
    scene.add_plane(friction=0.2)
    add_chain(scene, n, pos=(0.0, 0.0, 0.0))
    return simulation(scene)


def cylinder() -> Simulation:
    scene = Scene(name="cylinder")
    scene.add_plane(friction=0.2, normal=(0.1, 0.2, 1.0))
    add_cylinder_on_points(scene, 6, pos=(0, 0, 0.06))
    return simulation(scene)


def frictionless_pair() -> Simulation:
    """Two balls on a plane without friction, touching each other with."""
    scene = Scene(name="pair")
    scene.add_plane(friction=0.0)
    for k in range(2):
        scene.add_sphere(0.1, pos=(0.2 * k, 0.0, 0.1), mass=1.0 + k, friction=0.5 * k)
    return simulation(scene)


def robot() -> Simulation:
    """Soft rows: motors and rotor inertia; limits."""
    scene = Scene(name="robot")
    scene.add_plane(friction=0.5)
    scene.add_robot("a1")
    return simulation(scene)


def four_bar() -> Simulation:
    scene, hinge = Scene(name="four-bar"), {"joint": "hinge", "axis": (0, 1, 0)}
    crank = scene.add_body("crank", pos=(0, 0, 1), **hinge)
    crank.add_capsule(0.01, 0.2, pos=(0, 0, 0.1), mass=0.2, collide=False)
    coupler = crank.add_body("coupler", pos=(0, 0, 0.2), **hinge)
    coupler.add_box((0.6, 0.02, 0.02), pos=(0.3, 0, 0), mass=0.6, collide=False)
    rocker = coupler.add_body("rocker", pos=(0.6, 0, 0), **hinge)
    rocker.add_capsule(0.01, 0.5, pos=(0, 0, -0.25), mass=0.5, collide=False)
    closing = Joint("revolute", "rocker", "world", anchor=(0.6, 0.0, 0.7), axis=(0, 1, 0))
    return Simulation(scene, method="variational/pyramid", dt=0.01, extra_joints=[closing])


def simulation(scene: Scene, **options) -> Simulation:
    sim = Simulation(scene, method="variational/pyramid", dt=0.01, **options)
    random = np.random.default_rng(0)
    sim.set_state(v=0.3 * random.standard_normal(sim.model.nv))
    return sim


CASES = {"chain": lambda: chain(6), "cylinder": cylinder, "pair": frictionless_pair, "robot": robot}


def newton(sim: Simulation, iterations: int, target: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(the step by blocks, by SciPy, what is left of the latter's equations) after some iterations of a first step."""
    s = sim.stepper
    parts = (s.mechanism, s.motion, s.rows)
    s._begin(sim.state, sim.inputs)
    s._detect()
    s._formulate()
    if iterations:
        settings = s.settings._replace(iterations=iterations, tolerance=1e-12)
        solve_contacts(
            *parts, s.joint_step, s.touch, s.linear, s._kept, s._memory, s._before, settings, False, s.report
        )
    else:
        move_to(*parts, s.touch, s.dt)
        start(*parts, s.touch, s._memory, False, s.dt)
    move_to(*parts, s.touch, s.dt)
    residuals(*parts, s.joint_step, s.touch, target, s.dt)
    assemble(*parts, s.joint_step, s.touch, s.linear, s.dt)
    full = full_system(*parts, s.joint_step, s.touch, s.dt, target)
    assert factor(s.linear.symbolic, s.linear.values, s.linear.pivots) == OK
    right_side(s.mechanism, s.motion, s.joint_step, s.touch, s.linear, target, 0.0, s.dt)
    solve(s.linear.symbolic, s.linear.values, s.linear.pivots, s.linear.x)
    directions(*parts, s.joint_step, s.touch, s.linear, target, 0.0, s.dt)
    step = newton_step(s.motion, s.touch)
    return step, splu(full.matrix).solve(full.right), full.matrix @ step - full.right


@pytest.mark.parametrize("iterations", [0, 3])
@pytest.mark.parametrize("case", list(CASES))
def test_same_newton_step_as_the_sparse_system(case, iterations):
    step, sparse, left = newton(CASES[case](), iterations, 1e-3)
    assert np.abs(step - sparse).max() < 1e-8 * np.abs(sparse).max()
    assert np.abs(left).max() < 1e-8


def test_redundant_loops():
    """A planar four-bar: three of its rows say nothing new. Velocities agree; impulses are one of many."""
    sim = four_bar()
    step, sparse, _ = newton(sim, 0, 1e-3)
    bodies = 6 * (sim.model.nlink - 1)
    assert np.abs(step[:bodies] - sparse[:bodies]).max() < 1e-8
    assert np.abs(sparse[bodies:]).max() > 1e-2


def test_circular_cones_are_refused():
    scene = Scene(name="ball")
    scene.add_plane(friction=0.2)
    scene.add_sphere(0.1, pos=(0, 0, 0.1), mass=1.0)
    s = Simulation(scene, method="variational/circular", dt=0.01).stepper
    with pytest.raises(InputError, match="expected 'pyramid'"):
        full_system(s.mechanism, s.motion, s.rows, s.joint_step, s.touch, s.dt, 0.0)
