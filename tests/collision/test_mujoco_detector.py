"""MuJoCo's collision detection as a detector, against closed forms."""

import mujoco
import numpy as np
import pytest

import stickslip as ss
from stickslip.collision.contacts import ContactList
from stickslip.collision.mujoco_detector import MuJoCoDetector
from stickslip.dynamics.data import make_data
from stickslip.dynamics.kinematics import forward_kinematics


def found(scene: ss.Scene, margin: float = 0.05, move=None):
    model = scene.compile()
    kin = make_data(model).kin
    forward_kinematics(model.tree, model.state().q, kin)
    if move is not None:
        move(model, kin)
    contacts = ContactList(kin, 1)
    MuJoCoDetector(model, margin).find(kin, contacts)
    return contacts.arrays, len(contacts), model


def test_a_box_rests_on_four_corners():
    scene = ss.Scene()
    scene.add_plane(friction=0.3)
    scene.add_box((0.4, 0.2, 0.1), pos=(1, 2, 0.06), mass=1.0, friction=0.7)
    c, n, _ = found(scene)
    assert n == 4
    np.testing.assert_allclose(c.gap[:n], 0.01, atol=1e-12)
    np.testing.assert_allclose(c.axes[:n, 0], [[0, 0, 1]] * 4, atol=1e-12)
    corners = sorted(map(tuple, np.round(c.point[:n], 9)))
    assert corners == [(x, y, 0.01) for x in (0.8, 1.2) for y in (1.9, 2.1)]  # on body 2
    assert set(c.link1[:n]) == {0}
    assert set(c.link2[:n]) == {1}
    assert len(set(c.pair[:n])) == 4
    np.testing.assert_allclose(c.material[:n, 0], 0.7)  # our rule: the larger


@pytest.mark.parametrize("gap", [0.03, -0.02])
def test_two_spheres(gap):
    scene = ss.Scene()
    scene.add_sphere(0.2, pos=(0, 0, 1), mass=1.0)
    scene.add_sphere(0.1, pos=(0.3 + gap, 0, 1), mass=1.0)
    c, n, _ = found(scene)
    assert n == 1
    assert (c.link1[0], c.link2[0]) == (1, 2)
    assert c.gap[0] == pytest.approx(gap)
    np.testing.assert_allclose(c.axes[0, 0], (1, 0, 0), atol=1e-12)
    np.testing.assert_allclose(c.point[0], (0.2 + gap, 0, 1), atol=1e-12)


def test_a_capsule_lies_on_a_moving_box():
    scene = ss.Scene()
    scene.add_box((1, 1, 1), pos=(0, 0, 0.5), mass=1.0)
    scene.add_capsule(0.1, 0.4, pos=(0, 0, 1.09), quat=(np.sqrt(0.5), 0, np.sqrt(0.5), 0), mass=1.0)
    c, n, _ = found(scene)
    assert n == 2
    np.testing.assert_allclose(c.gap[:n], -0.01, atol=1e-9)
    np.testing.assert_allclose(c.axes[:n, 0], [(0, 0, 1)] * 2, atol=1e-9)
    np.testing.assert_allclose(np.sort(c.point[:n, 0]), (-0.2, 0.2), atol=1e-9)
    np.testing.assert_allclose(c.point[:n, 2], 0.99, atol=1e-9)


def test_the_world_comes_first_and_the_margin_counts():
    scene = ss.Scene()
    scene.add_sphere(0.1, pos=(0, 0, 0.14), mass=1.0)
    scene.add_box((1, 1, 1), pos=(0, 0, -0.5), joint="fixed")
    c, n, _ = found(scene)
    assert n == 1
    assert (c.link1[0], c.link2[0]) == (0, 1)
    np.testing.assert_allclose(c.axes[0, 0], (0, 0, 1), atol=1e-12)
    assert c.gap[0] == pytest.approx(0.04)
    assert found(scene, margin=0.03)[1] == 0


def test_links_may_leave_their_joints():
    scene = ss.Scene()
    scene.add_plane()
    arm = scene.add_body("arm", joint="hinge", pos=(0, 0, 2), axis=(0, 1, 0))
    arm.add_sphere(0.1, pos=(0.5, 0, 0), mass=1.0)
    fixed = arm.add_body("tip", pos=(1, 0, 0))
    fixed.add_sphere(0.05, mass=1.0)

    def fall(model, kin):
        kin.pos[1] = (0, 0, 0.06)

    c, n, model = found(scene, move=fall)
    assert n == 2
    np.testing.assert_allclose(np.sort(c.gap[:n]), (-0.04, 0.01), atol=1e-12)
    np.testing.assert_allclose(model.mj.geom_margin, 0.0)  # the model's own stays as it is


def test_positions_as_mujoco_has_them():
    scene = ss.Scene()
    scene.add_plane()
    robot = scene.add_robot("solo12", pos=(0, 0, 0.25))
    assert robot.joints
    model = scene.compile()
    kin = make_data(model).kin
    q = model.state().q
    q[7:] += 0.1
    forward_kinematics(model.tree, q, kin)
    detector = MuJoCoDetector(model, 0.3)
    contacts = ContactList(kin, 1)
    detector.find(kin, contacts)
    data = mujoco.MjData(detector.mj)
    data.qpos[:] = q
    mujoco.mj_kinematics(detector.mj, data)
    mujoco.mj_comPos(detector.mj, data)
    mujoco.mj_collision(detector.mj, data)
    n = len(contacts)
    assert n == data.ncon > 0
    np.testing.assert_allclose(contacts.arrays.gap[:n], data.contact.dist, atol=1e-12)
    np.testing.assert_allclose(detector.data.ximat, data.ximat, atol=1e-12)
