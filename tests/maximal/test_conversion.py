"""Joint coordinates to bodies and back."""

import numpy as np
import pytest
from mechanisms import random_state, random_tree

import stickslip as ss
from stickslip.dynamics import Dynamics
from stickslip.dynamics.data import make_data
from stickslip.errors import InputError
from stickslip.maximal import to_bodies, to_joints
from stickslip.maximal.conversion import place_bodies
from stickslip.maximal.rates import body_forces, rate_rows
from stickslip.model.arrays import FREE, JOINT_NV
from stickslip.model.compile import rotation


def test_there_and_back_on_random_trees():
    for seed in range(20):
        model = random_tree(seed)
        state = random_state(model, np.random.default_rng(100 + seed), size=4.0)  # beyond half a turn
        q, v = to_joints(model, *to_bodies(model, state.q, state.v), previous=state.q + 0.1)
        np.testing.assert_allclose(q, state.q, atol=1e-10)
        np.testing.assert_allclose(v, state.v, atol=1e-10)


def test_bodies_are_where_the_kinematics_says():
    model = random_tree(3)
    state = random_state(model, np.random.default_rng(3))
    Q, V = to_bodies(model, state.q, state.v)
    dyn = Dynamics(model)
    for b in range(1, model.nlink):
        J = dyn.frame_jacobian(state.q, model.link_names[b])
        velocity = V[6 * b - 6 : 6 * b]
        np.testing.assert_allclose((J @ state.v)[:3], velocity[:3], atol=1e-12)
        np.testing.assert_allclose(rotation(Q[7 * b - 4 : 7 * b]).T @ (J @ state.v)[3:], velocity[3:], atol=1e-12)


def test_a_hinge_counts_turns():
    scene = ss.Scene()
    scene.add_body("wheel", joint="hinge", axis=(0, 1, 0)).add_sphere(0.1, mass=1.0)
    model = scene.compile()
    q = np.zeros(1)
    for angle in np.arange(0.0, 30.0, 1.0):
        q, _ = to_joints(model, *to_bodies(model, [angle], [0.0]), previous=q)
        np.testing.assert_allclose(q, angle, atol=1e-12)


def test_sizes_are_checked():
    model = random_tree(1)
    with pytest.raises(InputError, match="arrays of shapes"):
        to_joints(model, np.zeros(3), np.zeros(4))


def test_joint_forces_keep_their_power_and_the_momentum():
    """tau·v = force·V for every motion along the joints; forces between bodies add up to nothing."""
    for seed in range(10):
        model = random_tree(seed)
        rng = np.random.default_rng(seed)
        state, tau = random_state(model, rng), rng.normal(size=model.nv)
        Q, V = to_bodies(model, state.q, state.v)
        kin, force, rates = make_data(model).kin, np.zeros(len(V)), np.zeros((model.nv, 12))
        place_bodies(Q, V, kin)
        rate_rows(model.tree, kin, rates)
        body_forces(model.tree, model.support, rates, tau, force)
        np.testing.assert_allclose(force @ V, tau @ state.v, atol=1e-10)
        by_free = np.repeat(model.tree.joint_type == FREE, [JOINT_NV[kind] for kind in model.tree.joint_type])
        by_world = by_free | (model.tree.parent[model.support.dof_link] == 0)
        body_forces(model.tree, model.support, rates, np.where(by_world, 0.0, tau), force)
        wrench = force.reshape(-1, 6)
        torque = np.einsum("bij,bj->bi", kin.rot[1:], wrench[:, 3:])
        np.testing.assert_allclose(wrench[:, :3].sum(axis=0), 0.0, atol=1e-12)
        np.testing.assert_allclose((torque + np.cross(kin.pos[1:], wrench[:, :3])).sum(axis=0), 0.0, atol=1e-11)
