"""Derivatives of contact rows by the poses of their bodies, against central differences of detection itself."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import stickslip as ss
from stickslip.collision.contacts import ContactList
from stickslip.collision.convex.detect import ConvexDetector
from stickslip.dynamics.data import make_data
from stickslip.dynamics.kinematics import forward_kinematics
from stickslip.methods.variational.bodies import make_pose
from stickslip.methods.variational.contact.point_derivatives import contact_derivatives, tangent_poles
from stickslip.methods.variational.contact.points import FLAT1, FLAT2, ROUND, make_points, place_points

SMALL = 1e-6
TILTED = Rotation.from_rotvec([0.3, -0.5, 0.2])


def quat(rotation):
    return np.roll(rotation.as_quat(), 1)


def above(x, y, z):
    """A place in the axes of a tilted box 1 m above the floor."""
    return TILTED.apply([x, y, z]) + np.array([0.0, 0.0, 1.0])


def ball_on_plane(scene):
    scene.add_plane(normal=TILTED.apply([0, 0, 1]))
    ball = scene.add_body("ball", pos=TILTED.apply([0.3, 0.2, 0.5]), quat=(0.9, 0.1, 0.3, -0.2))
    ball.add_sphere(0.5, mass=1.0, pos=(0.02, 0.01, -0.03))
    ball.add_box((0.1, 0.1, 0.1), mass=1.0, pos=(0.1, 0.0, 0.0))


def box_on_plane(scene):
    scene.add_plane(normal=TILTED.apply([0, 0, 1]))
    turned = TILTED * Rotation.from_rotvec([0.02, 0.03, 0.9])
    scene.add_box((0.4, 0.5, 0.6), mass=1.0, pos=TILTED.apply([0.0, 0.0, 0.31]), quat=quat(turned))


def capsule_on_plane(scene):
    scene.add_plane(normal=TILTED.apply([0, 0, 1]))
    turned = TILTED * Rotation.from_rotvec([0.0, 1.5, 0.0])
    scene.add_capsule(0.1, 0.6, mass=1.0, pos=TILTED.apply([0.0, 0.0, 0.12]), quat=quat(turned))


def balls(scene):
    scene.add_sphere(0.4, mass=1.0, pos=(0.1, 0.2, 1.0), quat=(0.9, 0.1, 0.3, -0.2))
    scene.add_sphere(0.3, mass=1.0, pos=(0.1, 0.2, 1.0) + 0.7 * np.array([0.6, 0.64, 0.48]), quat=(0.2, 0.1, 0.8, 0.5))


def ball_on_box(scene):
    scene.add_box((1.0, 1.0, 0.2), mass=2.0, pos=(0, 0, 1), quat=quat(TILTED))
    scene.add_sphere(0.3, mass=1.0, pos=above(0.2, 0.1, 0.401), quat=(0.2, 0.1, 0.8, 0.5))


def box_on_ball(scene):
    """The box has the higher link number: the normal is carried by link 2."""
    scene.add_sphere(0.3, mass=1.0, pos=above(0.2, 0.1, 0.401), quat=(0.2, 0.1, 0.8, 0.5))
    scene.add_box((1.0, 1.0, 0.2), mass=2.0, pos=(0, 0, 1), quat=quat(TILTED))


def corner_on_face(scene):
    scene.add_box((1.0, 1.0, 0.2), mass=2.0, pos=(0, 0, 1), quat=quat(TILTED))
    turn = Rotation.from_rotvec([0.5, 0.6, 0.9])
    height = 0.1 * np.abs(turn.as_matrix()[2]).sum()  # of the middle over the lowest corner
    scene.add_box((0.2, 0.2, 0.2), mass=1.0, pos=above(0.1, 0.2, 0.1001 + height), quat=quat(TILTED * turn))


SCENES = {ball_on_plane: FLAT1, box_on_plane: FLAT1, capsule_on_plane: FLAT1, balls: ROUND, ball_on_box: FLAT1,
          box_on_ball: FLAT2, corner_on_face: FLAT1}  # fmt: skip


@pytest.mark.parametrize("build", SCENES, ids=lambda build: build.__name__)
def test_rows_of_contacts(build):
    scene = ss.Scene()
    build(scene)
    model, rng = scene.compile(), np.random.default_rng(4)
    detector, kin, com = ConvexDetector(model, margin=0.05), make_data(model).kin, model.inertia.com
    forward_kinematics(model.tree, model.state().q, kin)
    start = make_pose(model.nlink)
    start.pos[1:], start.rot[:] = (kin.pos + np.einsum("bij,bj->bi", kin.rot, com))[1:], kin.rot
    contacts, points = ContactList(kin, capacity=8), make_points(8)

    def place(pose):
        kin.rot[:] = pose.rot
        kin.pos[1:] = pose.pos[1:] - np.einsum("bij,bj->bi", pose.rot, com)[1:]
        detector.find(kin, contacts)
        place_points(contacts.arrays, detector.search.geometry.shapes, True, pose, points)
        order = np.argsort(points.name[: points.found[0]])
        rows = np.concatenate([points.rows1, points.rows2], axis=2)
        return rows[order], points.name[order]

    def moved(link, k, size):
        pose = start._replace(pos=start.pos.copy(), rot=start.rot.copy())
        if k < 3:
            pose.pos[link, k] += size
        else:
            pose.rot[link] = pose.rot[link] @ Rotation.from_rotvec(size * np.eye(3)[k - 3]).as_matrix()
        return pose

    _, names = place(start)
    assert len(names) >= 1
    a, b = int(points.link1[0]), int(points.link2[0])
    wanted = np.zeros((len(names), 3, 12, 12))
    for at, link in ((0, a), (6, b)):
        for k in range(6 if link else 0):
            (above, n1), (below, n2) = place(moved(link, k, SMALL)), place(moved(link, k, -SMALL))
            np.testing.assert_array_equal((n1, n2), (names, names))
            wanted[..., at + k] = (above - below) / (2 * SMALL)
    place(start)
    pole, nu = np.zeros((8, 3)), np.vstack([np.zeros(6), rng.normal(size=(model.nlink - 1, 6))])
    tangent_poles(points, detector.search.geometry.shapes, True, pole)
    for c, name in enumerate(points.name[: len(names)]):
        assert points.kind[c] == SCENES[build]
        force, H, D = rng.normal(size=3), np.zeros((12, 12)), np.zeros((3, 12))
        contact_derivatives(points, c, start, pole, *force, nu, H, D, np.zeros(12), np.zeros((3, 12)))
        rows = wanted[list(names).index(name)]
        columns = slice(0 if a else 6, 12)
        np.testing.assert_allclose(H[:, columns], np.einsum("i,imk->mk", force, rows)[:, columns], atol=1e-7)
        velocity = np.concatenate([nu[a], nu[b]])
        np.testing.assert_allclose(D[:, columns], np.einsum("m,imk->ik", velocity, rows)[:, columns], atol=1e-7)
