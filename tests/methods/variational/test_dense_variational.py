"""What the discrete equations keep, by dense Newton steps on the kernels alone: momentum, joints, energy, springs."""

from dataclasses import replace

import numpy as np
import pytest
from dense_variational import DenseVariational
from mechanisms import random_tree

import stickslip as ss
from stickslip.methods.variational.discrete_rotation import discrete_energy, world_momentum
from stickslip.methods.variational.joints.springs import longest_spring_step, spring_stiffness
from stickslip.scenes.linkages import bricard, four_bar

ORIGIN = np.zeros(3)


def free_chain(joint):
    scene = ss.Scene(gravity=(0, 0, 0))
    body = scene.add_body("b0", joint="free")
    body.add_cylinder(0.05, 1.0, mass=1.0, pos=(0.1, 0, -0.5))
    for k in range(1, 4):
        body = body.add_body(f"b{k}", joint="fixed", pos=(0, 0, -1))
        body.add_joint(joint, axis=(1, k % 2, 0), damping=0.3, armature=0.02)
        body.add_cylinder(0.05, 1.0, mass=1.0, pos=(0, 0, -0.5))
    return scene.compile()


@pytest.mark.parametrize("joint", ["ball", "hinge", "slide"])
def test_forces_in_joints_keep_momentum(joint):
    """Held rows, dampers and rotors; centres of mass off the frames and off the axes."""
    model, dt, out = free_chain(joint), 0.01, np.empty(6)
    motion = DenseVariational(model, dt)
    motion.set(model.state().q, np.random.default_rng(0).normal(size=model.nv))
    momenta = []
    for _ in range(100):
        motion.step()
        world_momentum(motion.bodies, motion.pose, motion.nu, dt, ORIGIN, out)
        momenta.append(out.copy())
    assert np.abs(momenta[0]).max() > 1.0
    assert np.abs(np.array(momenta) - momenta[0]).max() < 1e-11


@pytest.mark.parametrize("setup", [four_bar, bricard])
def test_loops_stay_closed(setup):
    """Redundant rows included: a ring with five degrees too few by counting."""
    model, dt = setup().scene.compile(), 0.01
    motion, energy, swing = DenseVariational(model, dt, tolerance=1e-12), [], []
    for _ in range(100):
        motion.step()
        assert np.abs(motion.g).max() < 1e-11
        energy.append(sum(discrete_energy(motion.bodies, model.inertia.gravity, motion.pose, motion.nu, dt)))
        swing.append(motion.q.copy())
    assert np.ptp(swing, axis=0).max() > 0.3
    assert np.ptp(energy) < 0.05 * (max(energy) + 1.0)


def oscillator(stiffness):
    """1 kg on a slide without gravity; ω = √stiffness [rad/s]."""
    scene = ss.Scene(gravity=(0, 0, 0))
    body = scene.add_body("mass", joint="fixed")
    body.add_joint("slide", axis=(1, 0, 0), stiffness=stiffness)
    body.add_box((0.1, 0.1, 0.1), mass=1.0, pos=(0, 0.2, 0))
    return scene.compile()


def test_springs_are_symplectic_up_to_their_longest_step():
    """x⁺ − 2x + x⁻ = −(ω·h)²·x: bounded for ω·h < 2, growing beyond; its frequency is 2·asin(ω·h/2)/h."""
    model = oscillator(100.0)
    assert list(spring_stiffness(model, model.tree.q0)) == [100.0]
    longest = longest_spring_step(model, model.state().q)
    np.testing.assert_allclose(longest, 0.2, rtol=1e-12)
    for dt, grows in ((0.99 * longest, False), (1.01 * longest, True)):
        motion = DenseVariational(model, dt)
        motion.set([0.01], [0.0])
        largest = 0.0
        for _ in range(100):
            motion.step()
            largest = max(largest, abs(motion.q[0]))
        assert (largest > 1.0) == grows
    dt = 0.02
    motion = DenseVariational(model, dt)
    motion.set([0.01], [0.0])
    found = []
    for _ in range(200):
        motion.step()
        found.append(motion.q[0])
    k, turn = np.arange(1, 201), 2 * np.arcsin(10.0 * dt / 2)
    # x₀ = 0.01 and x₁ decide; x_k = x₁·U(k) − x₀·U(k − 1), U(k) = sin(k·turn)/sin(turn)
    exact = (found[0] * np.sin(k * turn) - 0.01 * np.sin((k - 1) * turn)) / np.sin(turn)
    np.testing.assert_allclose(found, exact, atol=1e-12)


def test_longest_step_of_several_springs():
    """Two equal masses in a row on springs k, k: ω² = k/m·(3 + √5)/2; armature counts as mass; none without springs."""
    scene = ss.Scene(gravity=(0, 0, 0))
    body = scene.world
    for name in "ab":
        body = body.add_body(name, joint="fixed")
        body.add_joint("slide", axis=(1, 0, 0), stiffness=50.0)
        body.add_box((0.1, 0.1, 0.1), mass=2.0)
    model = scene.compile()
    np.testing.assert_allclose(
        longest_spring_step(model, model.state().q), 2.0 / np.sqrt(25.0 * (3.0 + np.sqrt(5.0)) / 2.0), rtol=1e-6
    )
    assert longest_spring_step(free_chain("hinge"), free_chain("hinge").state().q) == np.inf


def test_sparse_steps_are_the_dense_ones():
    """Random trees with springs, dampers and rotors; two linkages."""
    rng = np.random.default_rng(3)
    models = [random_tree(seed, 6) for seed in (1, 4)]
    for k, model in enumerate(models):
        damping = rng.uniform(0.0, 0.5, model.nv) * (rng.random(model.nv) < 0.5)
        armature = rng.uniform(0.0, 0.5, model.nv) * (rng.random(model.nv) < 0.5)
        stiffness = rng.uniform(0.0, 5.0, len(model.joint_forces.stiffness))
        forces = model.joint_forces._replace(damping=damping, stiffness=stiffness)
        models[k] = replace(model, joint_forces=forces, inertia=model.inertia._replace(armature=armature))
    for model in [*models, four_bar().scene.compile(), bricard().scene.compile()]:
        v = 0.3 * rng.normal(size=model.nv) * (not model.loops)
        sim = ss.Simulation(model, "variational", dt=0.01, tolerance=1e-12)
        sim.set_state(v=v)
        dense = DenseVariational(model, 0.01, tolerance=1e-12)
        dense.set(sim.state.q, v)
        for _ in range(20):
            sim.step()
            dense.step()
            np.testing.assert_allclose(sim.state.q, dense.q, atol=1e-9)
            np.testing.assert_allclose(sim.state.v, dense.v, atol=1e-7)
