"""Derivatives of joint rows and of rates by the poses of the bodies, against central differences, at open joints."""

import numpy as np
import pytest
from mechanisms import COMPOSITIONS, random_tree
from scipy.spatial.transform import Rotation

import stickslip as ss
from stickslip.maximal import Joint
from stickslip.maximal.joint_types import JOINT_ROWS
from stickslip.maximal.joints import build_joints
from stickslip.maximal.rows import body_rows
from stickslip.methods.variational.bodies import centred, make_pose, velocity_rows
from stickslip.methods.variational.joints.coordinate_rows import coordinate_row
from stickslip.methods.variational.joints.joint_derivatives import held_derivatives, rate_derivatives
from stickslip.methods.variational.joints.limit_derivatives import coordinate_row_change
from stickslip.model.arrays import FREE

SMALL = 1e-5


def random_pose(rng, links):
    pose = make_pose(links)
    pose.pos[1:], pose.rot[1:] = rng.normal(size=(links - 1, 3)), Rotation.random(links - 1, random_state=1).as_matrix()
    return pose


def moved(pose, link, k, size):
    """The pose with one link moved along x_k (world) or turned about its own axis k − 3."""
    pose = pose._replace(pos=pose.pos.copy(), rot=pose.rot.copy())
    if k < 3:
        pose.pos[link, k] += size
    else:
        pose.rot[link] = pose.rot[link] @ Rotation.from_rotvec(size * np.eye(3)[k - 3]).as_matrix()
    return pose


def differences(rows, pose, a, b):
    """∂rows/∂(δx₁, δθ₁, δx₂, δθ₂) of a function of the pose, the derivative in the last place."""
    columns = [
        (rows(moved(pose, link, k, SMALL)) - rows(moved(pose, link, k, -SMALL))) / (2 * SMALL)
        for link in (a, b)
        for k in range(6)
    ]
    return np.stack(columns, axis=-1)


def near(found, wanted):
    np.testing.assert_allclose(found, wanted, atol=1e-8 * max(1.0, np.abs(wanted).max()))


def scratch():
    return np.zeros(12), np.zeros(12)


@pytest.mark.parametrize("links", [("a", "b"), ("world", "c"), ("c", "a")])
@pytest.mark.parametrize("kind", JOINT_ROWS)
def test_forces_of_held_rows(kind, links):
    rng = np.random.default_rng(11)
    scene = ss.Scene()
    for name in "abc":
        scene.add_box((0.1, 0.2, 0.3), mass=1.0, pos=rng.normal(size=3), name=name)
    model, axis = scene.compile(), rng.normal(size=3)
    joint = Joint(kind, *links, anchor=rng.normal(size=3), axis=axis, axis2=np.cross(axis, rng.normal(size=3)))
    joints, _, _ = build_joints(model, [joint])
    pose, a, b, nb = random_pose(rng, 4), int(joints.link1[0]), int(joints.link2[0]), len(joints.joint)
    impulse, nu = rng.normal(size=nb), np.vstack([np.zeros(6), rng.normal(size=(3, 6))])
    H, D = np.full((1, 12, 12), np.nan), np.full((nb, 12), np.nan)
    held_derivatives(joints, pose, impulse, nu, H, D, *scratch())

    def rows(pose):
        G = np.empty((nb, 12))
        body_rows(joints, pose, G)
        return G

    wanted = differences(rows, pose, a, b)
    columns = slice(0 if a else 6, 12)
    near(H[0][:, columns], np.einsum("r,rmk->mk", impulse, wanted)[:, columns])
    velocity = np.concatenate([nu[a], nu[b]])
    near(D[:, columns], np.einsum("m,rmk->rk", velocity, wanted)[:, columns])


@pytest.mark.parametrize("seed", range(4))
def test_rates_of_every_composition(seed):
    model = random_tree(seed, links=10)
    rng, bodies, nl = np.random.default_rng(seed), centred(model), model.nlink
    tree, com, pose = bodies.tree, bodies.com, random_pose(rng, nl)
    tau, nu = rng.normal(size=model.nv), np.vstack([np.zeros(6), rng.normal(size=(nl - 1, 6))])
    H, D = np.empty((nl, 12, 12)), np.empty((model.nv, 12))
    rate_derivatives(tree, com, pose, tau, nu, H, D, *scratch())

    def rows(pose):
        r = np.full((model.nv, 12), np.nan)
        velocity_rows(bodies, pose, r)
        return r

    assert np.isfinite(rows(pose)).all()
    for b in range(1, nl):
        a = int(tree.parent[b])
        dofs = np.flatnonzero(model.support.dof_link == b)
        wanted = differences(lambda pose, dofs=dofs: rows(pose)[dofs], pose, a, b)
        columns = slice(0 if a else 6, 12)
        near(H[b][:, columns], np.einsum("r,rmk->mk", tau[dofs], wanted)[:, columns])
        near(D[dofs][:, columns], np.einsum("m,rmk->rk", np.concatenate([nu[a], nu[b]]), wanted)[:, columns])


def test_random_trees_have_every_composition():
    """So that the test above means what it says."""
    kinds = {tuple(m.tree.joint_type[m.tree.joint_start[b] : m.tree.joint_start[b + 1]].tolist())
             for m in (random_tree(seed, links=10) for seed in range(4)) for b in range(1, m.nlink)}  # fmt: skip
    assert len(kinds) >= len({kind for kind, _ in COMPOSITIONS.values()}) + 1  # and the free joint


@pytest.mark.parametrize("seed", range(4))
def test_second_derivatives_of_coordinates(seed):
    """Hinges, slides, both angles of two hinges, the angle of a ball: rows of limits."""
    model = random_tree(seed, links=10)
    rng, bodies, tree = np.random.default_rng(seed), centred(model), model.tree
    pose, move, change, R, q = random_pose(rng, model.nlink), *scratch(), np.zeros((3, 3)), model.tree.q0.copy()
    for b in range(1, model.nlink):
        for j in range(tree.joint_start[b], tree.joint_start[b + 1]):
            if tree.joint_type[j] == FREE:
                continue

            def rows(pose, b=b, j=j):
                row = np.zeros(12)
                coordinate_row(bodies.tree, pose, b, j, q, R, row)
                return row

            a = int(tree.parent[b])
            wanted, found = differences(rows, pose, a, b), np.zeros((12, 12))
            for k in range(12):
                move[k] = 1.0
                coordinate_row_change(bodies.tree, pose, b, j, R, move, change)
                move[k] = 0.0
                found[:, k] = change
            columns = slice(0 if a else 6, 12)
            near(found[:, columns], wanted[:, columns])
