"""Gaps, normals and points of boxes and spheres: closed forms, and MuJoCo's collision functions."""

import mujoco
import numpy as np
import pytest
from detection import Detector, random_quaternion, rotation

import stickslip as ss
from stickslip.collision.allowed import touching
from stickslip.collision.contacts import ON_BOX
from stickslip.collision.convex.finish import FEATURES

HALF = np.array([0.3, 0.2, 0.1])
EDGE = 1.0 / np.sqrt(2.0)
CORNER = 1.0 / np.sqrt(3.0)


def box_and_ball(radius, box="free", ball="free"):
    """A box of half edges HALF and a ball (radius 0: a contact point) at the origin of its body."""
    scene = ss.Scene()
    scene.add_box(2 * HALF, name="box", joint=box, mass=1.0)
    if radius:
        scene.add_sphere(radius, name="ball", joint=ball, mass=1.0)
    else:
        body = scene.add_body("ball", joint=ball)
        body.set_inertia(1.0, inertia=(0.1, 0.1, 0.1))
        body.add_contact_point("tip")
    return Detector(scene)


REGIONS = [  # the ball's centre, the way out of the box, the distance to the box along it
    ((0.1, -0.05, 0.14), (0, 0, 1), 0.04),
    ((0.1, -0.05, -0.14), (0, 0, -1), 0.04),
    ((-0.33, 0.1, 0.05), (-1, 0, 0), 0.03),
    ((0.0, 0.22, 0.0), (0, 1, 0), 0.02),
    ((0.33, 0.1, 0.13), (EDGE, 0, EDGE), 0.03 / EDGE),
    ((0.1, -0.22, 0.12), (0, -EDGE, EDGE), 0.02 / EDGE),
    ((0.32, 0.22, 0.12), (CORNER, CORNER, CORNER), 0.02 / CORNER),
    ((-0.32, 0.22, -0.12), (-CORNER, CORNER, -CORNER), 0.02 / CORNER),
    ((0.05, 0.1, 0.08), (0, 0, 1), -0.02),
    ((0.05, 0.19, -0.02), (0, 1, 0), -0.01),
    ((-0.295, 0.1, 0.02), (-1, 0, 0), -0.005),
    ((0.1, 0.1, 0.1), (0, 0, 1), 0.0),  # on the surface
]


@pytest.mark.parametrize("radius", [0.0, 0.05])
@pytest.mark.parametrize(("center", "out", "distance"), REGIONS)
def test_box_against_sphere_in_every_region(center, out, distance, radius):
    c = box_and_ball(radius, box="fixed")([*center, 1, 0, 0, 0])
    assert (c.link1[0], c.link2[0], c.rolling[0]) == (0, 1, radius > 0)
    np.testing.assert_allclose(c.gap[0], distance - radius, atol=1e-15)
    np.testing.assert_allclose(c.axes[0, 0], out, atol=1e-12)
    np.testing.assert_allclose(c.point[0], np.array(center) - radius * np.array(out), atol=1e-15)
    if np.abs(out).max() == 1.0:  # a face: the tangents are box axes
        assert sorted(np.abs(c.axes[0]).ravel()) == [0] * 6 + [1] * 3


@pytest.mark.parametrize(("center", "out", "distance"), REGIONS)
def test_a_ball_of_the_world_comes_first(center, out, distance):
    """The same pose, seen from the box: normal reversed, contact point on the box."""
    rng = np.random.default_rng(1)
    quat = random_quaternion(rng)
    R, radius = rotation(quat), 0.05
    c = box_and_ball(radius, ball="fixed")([*(-R @ center), *quat])
    assert (c.link1[0], c.link2[0], c.rolling[0]) == (0, 1, ON_BOX)
    np.testing.assert_allclose(c.gap[0], distance - radius, atol=1e-15)
    np.testing.assert_allclose(c.axes[0, 0], -R @ out, atol=1e-12)
    np.testing.assert_allclose(c.point[0], -distance * R @ out, atol=1e-12)
    np.testing.assert_allclose(np.cross(c.axes[0, 0], c.axes[0, 1]), c.axes[0, 2], atol=1e-12)


def mujoco_contact(model, q):
    """(distance, point half-way, normal, geoms) of the only contact, however far apart."""
    m = model.mj
    m.geom_margin[:] = 100.0
    d = mujoco.MjData(m)
    d.qpos[:] = q
    mujoco.mj_kinematics(m, d)
    mujoco.mj_collision(m, d)
    assert d.ncon == 1
    contact = d.contact[0]
    return contact.dist, contact.pos.copy(), contact.frame[:3].copy(), contact.geom1


@pytest.mark.parametrize("kind", ["box", "sphere"])
def test_random_poses_agree_with_mujoco(kind):
    """Shapes off their bodies' origins, both bodies free; outside and inside."""
    rng = np.random.default_rng(2)
    inside = 0
    for _ in range(20):
        scene = ss.Scene()
        first, second = scene.add_body("first"), scene.add_body("second")
        place = {"pos": 0.1 * rng.normal(size=3), "quat": random_quaternion(rng), "mass": 1.0}
        if kind == "box":
            first.add_box(2 * HALF, name="shape", **place)
        else:
            first.add_sphere(0.2, name="shape", **place)
        radius = rng.uniform(0.02, 0.1)
        second.add_sphere(radius, pos=0.1 * rng.normal(size=3), mass=1.0)
        detect = Detector(scene)
        for _ in range(20):
            q = np.r_[
                0.2 * rng.normal(size=3), random_quaternion(rng), 0.2 * rng.normal(size=3), random_quaternion(rng)
            ]
            distance, middle, normal, geom1 = mujoco_contact(detect.model, q)
            if detect.model.mj.geom(geom1).name != "shape":
                normal = -normal
            c = detect(q)
            np.testing.assert_allclose(c.gap[0], distance, atol=1e-9)
            if c.gap[0] < -radius - 1e-3 and kind == "box":
                inside += 1
            np.testing.assert_allclose(c.axes[0, 0], normal, atol=1e-9)
            np.testing.assert_allclose(c.point[0] - 0.5 * c.gap[0] * c.axes[0, 0], middle, atol=1e-9)
            np.testing.assert_allclose(c.axes[0] @ c.axes[0].T, np.eye(3), atol=1e-12)
            np.testing.assert_allclose(np.cross(c.axes[0, 0], c.axes[0, 1]), c.axes[0, 2], atol=1e-12)
    assert kind == "sphere" or inside > 20


def test_spheres_points_and_common_centres():
    scene = ss.Scene()
    scene.add_sphere(0.2, name="low", pos=(0, 0, 0), joint="fixed")
    scene.add_sphere(0.1, name="high", mass=1.0)
    detect = Detector(scene)
    c = detect([0.18, 0, 0.24, 1, 0, 0, 0])
    assert (c.link1[0], c.link2[0], c.rolling[0]) == (0, 1, 1)
    assert c.gap[0] == pytest.approx(0.0, abs=1e-15)
    np.testing.assert_allclose(c.axes[0, 0], [0.6, 0, 0.8], atol=1e-15)
    np.testing.assert_allclose(c.point[0], [0.12, 0, 0.16], atol=1e-15)
    c = detect([0, 0, 0, 1, 0, 0, 0])
    assert c.gap[0] == pytest.approx(-0.3)
    np.testing.assert_allclose(c.axes[0] @ c.axes[0].T, np.eye(3), atol=1e-12)
    assert np.all(np.isfinite([*c.spin[0], *c.drift[0]]))


def test_ids_are_unique_and_nothing_is_left_out():
    scene = ss.Scene()
    scene.add_plane()
    scene.add_box((1, 1, 0.1), name="table", joint="fixed")
    ball = scene.add_sphere(0.1, name="ball", pos=(0, 0, 1), mass=1.0)
    ball.add_contact_point("tip", pos=(0, 0, 0.1))
    scene.add_sphere(0.1, name="other", pos=(0, 0, 2), mass=1.0)
    scene.add_capsule(0.05, 0.2, name="stick", pos=(0, 0, 3), mass=1.0)
    scene.add_box((0.1, 0.1, 0.1), name="crate", pos=(0, 0, 4), mass=1.0)
    detect = Detector(scene)
    c = detect()
    assert len(set(c.pair)) == len(c.pair)
    shapes, names = len(detect.model.shapes), [shape.name for shape in detect.model.shapes]
    pairs = {tuple(sorted(divmod(int(name) // FEATURES, shapes))) for name in c.pair}
    allowed = {tuple(sorted(names.index(shape.name) for shape in pair)) for pair in touching(detect.model)}
    assert pairs == allowed
    assert len(detect(margin=0.0).pair) == 0


def test_tangents_do_not_jump_on_the_way_around_a_box_or_a_ball():
    """Steps of 1e-3 rad turn the frame by a few times that, away from the one direction where it must break."""
    step = 1e-3
    angles = np.arange(0, 2 * np.pi, step)
    for detect in (box_and_ball(0.05, box="fixed"), ball_on_ball()):
        frames = []
        for angle in angles:  # a circle about z, a little above the middle of the edges: faces and edges in turn
            ray = np.array([np.cos(angle), np.sin(angle), 0.2])
            frames.append(detect([*(0.4 * ray), 1, 0, 0, 0]).axes[0])
        turn = np.abs(np.diff(frames, axis=0)).max(axis=(1, 2))
        assert turn.max() < 20 * step


def ball_on_ball():
    scene = ss.Scene()
    scene.add_sphere(0.2, name="fixed", joint="fixed")
    scene.add_sphere(0.1, name="free", mass=1.0)
    return Detector(scene)


@pytest.mark.parametrize("radius", [0.0, 0.05])
def test_the_margin_says_which_contacts_are_found(radius):
    detect = box_and_ball(radius, box="fixed")
    for center, _, distance in REGIONS:
        for margin in (-0.0123, 0.0, 0.0123):
            found = len(detect([*center, 1, 0, 0, 0], margin=margin).pair)
            assert found == (distance - radius < margin), (center, margin)
