"""Bodies from their centres of mass, their joints as nodes: rows, limits and forces against finite differences."""

from dataclasses import replace

import numpy as np
import pytest
from mechanisms import random_state, random_tree

import stickslip as ss
from stickslip.dynamics import Dynamics
from stickslip.dynamics.data import make_data
from stickslip.dynamics.drives import make_drives
from stickslip.errors import InputError
from stickslip.math.quaternion import exponential, multiply
from stickslip.maximal import Joint, to_bodies
from stickslip.maximal.joint_types import JOINT_ROWS
from stickslip.maximal.rows import body_rows, joint_errors
from stickslip.methods.variational.bodies import (
    add_wrench_impulses,
    centred,
    copy_pose,
    from_joint_state,
    from_link_frames,
    make_pose,
    next_pose,
    previous_pose,
    put_rotation,
    to_joint_state,
    velocity_rows,
)
from stickslip.methods.variational.joints.coordinate_rows import coordinate_row
from stickslip.methods.variational.joints.joint_nodes import (
    build_joint_nodes,
    joint_impulses,
    limit_gaps,
    make_joint_step,
    without_limits,
)
from stickslip.model.arrays import BALL, FREE

SMALL = 1e-6


def bodies_at(model, q, v):
    bodies, pose, nu = centred(model), make_pose(model.nlink), np.zeros((model.nlink, 6))
    from_joint_state(model.tree, bodies.com, q, v, make_data(model).kin, pose, nu)
    return bodies, pose, nu


def shifted(pose, b, k, size):
    """The pose with body b moved along axis k, or turned about its own axis k − 3."""
    out = make_pose(len(pose.pos))
    copy_pose(pose, out)
    if k < 3:
        out.pos[b, k] += size
    else:
        put_rotation(out, b, *multiply(*pose.quat[b], *exponential(*(size * np.eye(3)[k - 3]))))
    return out


def opened(pose, rng, size=0.3):
    """Every body somewhere else."""
    for b in range(1, len(pose.pos)):
        for k in range(6):
            pose = shifted(pose, b, k, size * rng.normal())
    return pose


def difference(function, pose, b):
    """(n, 6) central differences of function(pose) (n,) over δx, δθ of body b."""
    columns = []
    for k in range(6):
        ends = [np.array(function(shifted(pose, b, k, sign * SMALL))) for sign in (1.0, -1.0)]
        columns.append((ends[0] - ends[1]) / (2 * SMALL))
    return np.stack(columns, axis=1)


def boxes():
    rng = np.random.default_rng(5)
    scene = ss.Scene()
    for name in "ab":
        box = scene.add_body(name, joint="free", pos=rng.normal(size=3))
        box.add_box((0.1, 0.2, 0.3), mass=1.0, pos=rng.normal(size=3))
    return scene.compile()


@pytest.mark.parametrize("links", [("a", "b"), ("world", "b"), ("b", "world")])
@pytest.mark.parametrize("kind", JOINT_ROWS)
def test_held_rows_are_derivatives_at_open_poses(kind, links):
    rng = np.random.default_rng(3)
    model, axis = boxes(), rng.normal(size=3)
    joint = Joint(kind, *links, anchor=rng.normal(size=3), axis=axis, axis2=np.cross(axis, rng.normal(size=3)))
    bodies, pose, _ = bodies_at(model, model.state().q, np.zeros(model.nv))
    nodes = build_joint_nodes(model, bodies, [joint])
    nb = len(JOINT_ROWS[kind])
    assert list(nodes.size) == [nb]

    def errors(where):
        g = np.empty(nb)
        joint_errors(nodes.joints, where, g)
        return g

    np.testing.assert_allclose(errors(pose), 0.0, atol=1e-14)  # closed where it was given
    pose, G = opened(pose, rng), np.empty((nb, 12))
    assert np.abs(errors(pose)).max() > 0.01
    body_rows(nodes.joints, pose, G)
    for place, b in enumerate((nodes.link1[0], nodes.link2[0])):
        if b:
            np.testing.assert_allclose(G[:, 6 * place : 6 * place + 6], difference(errors, pose, b), atol=1e-8)


def test_states_there_and_back():
    """Random trees, Solo12 and A1: positions and velocities of centres of mass, and the same q and v again."""
    robots = [ss.Scene(), ss.Scene()]
    robots[0].add_robot("solo12", pos=(0, 0, 0.35))
    robots[1].add_robot("a1", pos=(0.3, 0, 0.4))
    for seed, model in enumerate([random_tree(k) for k in range(10)] + [scene.compile() for scene in robots]):
        state = random_state(model, np.random.default_rng(seed))
        bodies, pose, nu = bodies_at(model, state.q, state.v)
        same, velocity = make_pose(model.nlink), np.ones((model.nlink, 6))
        for array in same:
            array[:] = np.nan
        from_link_frames(bodies.com, *to_bodies(model, state.q, state.v), same, velocity)
        for ours, other in zip((*pose, nu), (*same, velocity), strict=True):
            np.testing.assert_allclose(ours, other, atol=1e-12)
        q, v = state.q + 0.1, np.empty(model.nv)
        to_joint_state(bodies, pose, nu, q, np.zeros((model.nv, 12)), np.zeros((3, 3)), q, v)
        np.testing.assert_allclose(q, state.q, atol=1e-10)
        np.testing.assert_allclose(v, state.v, atol=1e-10)
        dyn = Dynamics(model)
        np.testing.assert_allclose(bodies.mass @ pose.pos / bodies.mass.sum(), dyn.center_of_mass(state.q), atol=1e-12)
        momentum = bodies.mass @ nu[:, :3]
        np.testing.assert_allclose(momentum, dyn.momentum(state.q, state.v)[:3], atol=1e-10)
        kinetic = 0.5 * bodies.mass @ (nu[:, :3] ** 2).sum(axis=1)
        kinetic += 0.5 * np.einsum("bi,bij,bj", nu[:, 3:], bodies.J, nu[:, 3:])
        kinetic += 0.5 * model.inertia.armature @ state.v**2
        np.testing.assert_allclose(kinetic, dyn.energy(state.q, state.v)[0], rtol=1e-10)


def test_tree_joints_are_closed_on_centred_poses():
    for seed in range(8):
        model = random_tree(seed)
        state = random_state(model, np.random.default_rng(seed))
        bodies, pose, nu = bodies_at(model, state.q, state.v)
        nodes = build_joint_nodes(model, bodies)
        g, G = np.empty(len(nodes.joints.joint)), np.empty((len(nodes.joints.joint), 12))
        joint_errors(nodes.joints, pose, g)
        np.testing.assert_allclose(g, 0.0, atol=1e-12)
        body_rows(nodes.joints, pose, G)
        a, b = nodes.joints.link1[nodes.joints.joint], nodes.joints.link2[nodes.joints.joint]
        rate = np.einsum("rk,rk->r", G[:, :6], nu[a]) + np.einsum("rk,rk->r", G[:, 6:], nu[b])
        np.testing.assert_allclose(rate, 0.0, atol=1e-11)


def test_coordinate_rows_are_derivatives_at_open_poses():
    """Hinges, slides, both of a universal joint, the angle of a ball; where closed, they are the rates."""
    seen = set()
    for seed in range(12):
        model, rng = random_tree(seed), np.random.default_rng(seed)
        state = random_state(model, rng)
        bodies, closed, _ = bodies_at(model, state.q, state.v)
        pose, tree, R = opened(closed, rng, 0.1), bodies.tree, np.empty((3, 3))
        rates = np.zeros((model.nv, 12))
        velocity_rows(bodies, closed, rates)
        for b in range(1, model.nlink):
            for j in range(tree.joint_start[b], tree.joint_start[b + 1]):
                kind, d, row = int(tree.joint_type[j]), tree.joint_v[j], np.empty(12)
                if kind == FREE:
                    continue
                if kind != BALL:
                    value = coordinate_row(tree, closed, b, j, state.q, R, row)
                    np.testing.assert_allclose(value, state.q[tree.joint_q[j]], atol=1e-10)
                    np.testing.assert_allclose(row, rates[d], atol=1e-10)
                coordinate_row(tree, pose, b, j, state.q, R, row)

                def value(where, b=b, j=j, q=state.q, tree=tree, R=R):
                    return [coordinate_row(tree, where, b, j, q, R, np.empty(12))]

                np.testing.assert_allclose(row[6:], difference(value, pose, b)[0], atol=1e-7)
                if tree.parent[b]:
                    np.testing.assert_allclose(row[:6], difference(value, pose, tree.parent[b])[0], atol=1e-7)
                seen.add((kind, tree.joint_start[b + 1] - tree.joint_start[b]))
    assert len(seen) >= 6, seen


def arm():
    scene = ss.Scene()
    base = scene.add_body("base", joint="free", pos=(0.1, 0.2, 0.3))
    base.add_box((0.1, 0.1, 0.3), mass=1.0, pos=(0.1, 0, 0))
    upper = base.add_body("upper", joint="hinge", axis=(1, 2, 0), range=(-1.0, 1.0), damping=0.1, stiffness=3.0)
    upper.add_box((0.1, 0.1, 0.3), mass=1.0, pos=(0, 0.1, 0.2))
    hand = upper.add_body("hand", joint="slide", pos=(0, 0, 0.5), axis=(0, 1, 1), range=(-0.2, 0.3), armature=0.5)
    hand.add_box((0.1, 0.1, 0.3), mass=1.0, pos=(0, 0.1, 0.2))
    wrist = hand.add_body("wrist", joint="ball", pos=(0, 0.3, 0.0), range=(0, 0.8))
    wrist.add_box((0.1, 0.1, 0.3), mass=1.0, pos=(0.1, 0.1, 0.2))
    return scene.compile()


def test_nodes_hold_rows_soft_rows_and_limits():
    model = arm()
    nodes = build_joint_nodes(model, centred(model))
    assert list(nodes.size) == [5 + 1 + 2, 5 + 1 + 2, 3 + 1]
    assert list(nodes.soft_dof) == [6, 7]
    assert list(nodes.soft_node) == [0, 1]
    assert list(nodes.soft_place) == [5, 5]
    assert list(nodes.limit_node) == [0, 0, 1, 1, 2]
    assert list(nodes.limit_place) == [6, 7, 6, 7, 3]
    assert list(nodes.limit_bound) == [-1.0, 1.0, -0.2, 0.3, 0.8]
    assert list(nodes.link2) == [2, 3, 4]


def test_limit_gaps_are_those_of_joint_coordinates():
    model, rng, angle = arm(), np.random.default_rng(2), 0.7
    q = model.state().q.copy()
    q[7:9] = -0.95, 0.25
    q[9:] = np.cos(angle / 2), *(np.sin(angle / 2) * np.array([0.6, 0.0, 0.8]))
    v = rng.normal(size=model.nv)
    bodies, pose, nu = bodies_at(model, q, v)
    nodes, R = build_joint_nodes(model, bodies), np.empty((3, 3))
    gap, rows = np.empty(5), np.empty((5, 12))
    limit_gaps(nodes, bodies.tree, pose, q, R, gap, rows)
    np.testing.assert_allclose(gap, [0.05, 1.95, 0.45, 0.05, 0.1], atol=1e-12)
    a, b = nodes.link1[nodes.limit_node], nodes.link2[nodes.limit_node]
    rate = np.einsum("nk,nk->n", rows, np.concatenate([nu[a], nu[b]], axis=1))
    np.testing.assert_allclose(rate, [v[6], -v[6], v[7], -v[7], -(0.6 * v[8] + 0.8 * v[10])], atol=1e-12)
    pose = opened(pose, rng, 0.1)
    limit_gaps(nodes, bodies.tree, pose, q, R, gap, rows)

    def gaps(where):
        g = np.empty(5)
        limit_gaps(nodes, bodies.tree, where, q, R, g, np.empty((5, 12)))
        return g

    for link in range(1, model.nlink):
        d = difference(gaps, pose, link)
        for n in range(5):
            ours = rows[n, :6] if link == a[n] else rows[n, 6:] if link == b[n] else np.zeros(6)
            np.testing.assert_allclose(ours, d[n], atol=1e-7)


def test_joint_impulses_are_forces_in_joint_coordinates():
    """Power of what acts on the bodies and in soft rows is that of the forces in joint coordinates."""
    model, rng, dt = arm(), np.random.default_rng(4), 1e-4
    state, applied = random_state(model, rng, 0.3), rng.normal(size=model.nv)
    bodies, pose, nu = bodies_at(model, state.q, state.v)
    nodes = build_joint_nodes(model, bodies)
    step = make_joint_step(model, nodes)
    joint_impulses(
        bodies, without_limits(model), make_drives(model), model.inertia.armature, pose, nu, state.q, np.zeros(0),
        applied, dt, step,
    )  # fmt: skip
    np.testing.assert_allclose(step.rate, state.v, atol=1e-12)
    tau = applied.copy()
    tau[6] -= 3.0 * state.q[7] + 0.1 * state.v[6]
    np.testing.assert_allclose(step.weight, np.array([0.0] * 6 + [0.1 * dt, 0.5, 0, 0, 0]), atol=1e-15)
    soft = np.where(np.arange(model.nv) // 2 == 3, dt * tau, 0.0)
    ahead, behind, slides = make_pose(model.nlink), make_pose(model.nlink), []
    next_pose(pose, nu, dt, ahead)
    previous_pose(pose, nu, dt, behind)
    for where in (behind, pose, ahead):
        q, v = state.q.copy(), np.empty(model.nv)
        to_joint_state(bodies, where, nu, q, np.zeros((model.nv, 12)), np.zeros((3, 3)), q, v)
        slides.append(q[8])
    soft[7] -= 0.5 * (slides[2] - 2 * slides[1] + slides[0]) / dt  # its rotor: what the rate changes by itself
    np.testing.assert_allclose(np.delete(step.impulse, 7), np.delete(soft, 7), atol=1e-15)
    np.testing.assert_allclose(step.impulse[7], soft[7], atol=20 * dt**2)
    assert abs(step.impulse[7] - dt * tau[7]) > 100 * dt**2
    other = np.where(np.arange(model.nv) // 2 == 3, 0.0, tau)
    np.testing.assert_allclose((step.push * nu).sum(), dt * other @ state.v, rtol=1e-10)


def test_wrenches_act_at_the_links_own_origins():
    """Power of a wrench: force times velocity of the origin, torque times angular velocity."""
    model, rng = arm(), np.random.default_rng(6)
    state = random_state(model, rng, 0.3)
    bodies, pose, nu = bodies_at(model, state.q, state.v)
    wrench, out = rng.normal(size=(model.nlink, 6)), np.zeros((model.nlink, 6))
    add_wrench_impulses(bodies, pose, wrench, 0.5, out)
    power, dyn = 0.0, Dynamics(model)
    for b in range(1, model.nlink):
        power += wrench[b] @ (dyn.frame_jacobian(state.q, model.link_names[b]) @ state.v)
    np.testing.assert_allclose((out * nu).sum(), 0.5 * power, rtol=1e-10)


def test_free_joints_with_dampers_are_nodes_of_their_own():
    model = boxes()
    model.set_joint(model.joint_names[1], damping=0.3)
    bodies, pose, nu = bodies_at(model, model.state().q, np.arange(12.0))
    nodes = build_joint_nodes(model, bodies)
    assert (list(nodes.size), list(nodes.link1), list(nodes.link2)) == ([6], [0], [2])
    rates, v = np.zeros((12, 12)), np.empty(12)
    q = model.state().q.copy()
    to_joint_state(bodies, pose, nu, q, rates, np.zeros((3, 3)), q, v)
    np.testing.assert_allclose(v, np.arange(12.0), atol=1e-12)


def test_bodies_without_inertia_are_refused_by_name():
    model = boxes()
    none = model.inertia.inertia * np.array([1.0, 1.0, 0.0])[:, None]
    model = replace(model, inertia=model.inertia._replace(inertia=none))
    with pytest.raises(InputError, match=r"'b'.*mass and inertia"):
        centred(model)
