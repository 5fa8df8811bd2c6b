"""Boxes and balls in simulation: rest, rolling, sliding, blows; closed forms."""

import numpy as np
import pytest
from detection import Detector

import stickslip as ss
from stickslip.methods.soft.anchors import make_anchors
from stickslip.methods.soft.spring_damper import spring_damper
from stickslip.model.builders import add_cylinder_on_points

G = 9.81


def run(scene, seconds, dt=None, **state):
    sim = ss.Simulation(scene, dt=dt)
    if state:
        sim.set_state(**state)
    sim.step(round(seconds / sim.dt))
    sim.observe()
    return sim


@pytest.mark.parametrize("floor", ["box", "ball"])
def test_a_ball_rests_at_weight_over_stiffness(floor):
    """On a fixed box, and on top of a fixed ball, where it balances."""
    scene = ss.Scene()
    if floor == "box":
        scene.add_box((1, 1, 0.2), pos=(0, 0, -0.1), joint="fixed", stiffness=2e4)
    else:
        scene.add_sphere(0.5, pos=(0, 0, -0.5), joint="fixed", stiffness=2e4)
    scene.add_sphere(0.1, pos=(0, 0, 0.1), mass=2.0)
    sim = run(scene, 1.0)
    assert -sim.contacts.arrays.gap[0] == pytest.approx(2.0 * G / 2e4, rel=1e-6)
    assert sim.contacts.arrays.force[0, 0] == pytest.approx(2.0 * G, rel=1e-6)


def test_a_ball_on_a_moving_box_on_a_plane():
    """The weight goes down through both."""
    scene = ss.Scene()
    scene.add_plane(stiffness=1e4)
    scene.add_box((0.4, 0.4, 0.1), name="box", pos=(0, 0, 0.05), mass=3.0)
    scene.add_sphere(0.1, name="ball", pos=(0, 0, 0.2), mass=1.0)
    sim = run(scene, 1.0)
    c, n = sim.contacts.arrays, len(sim.contacts)
    normal = {
        links: c.force[:n, 0][(c.link1[:n] == links[0]) & (c.link2[:n] == links[1])] for links in [(0, 1), (1, 2)]
    }
    assert normal[0, 1].sum() == pytest.approx(4.0 * G, rel=1e-6)
    assert normal[1, 2] == pytest.approx([1.0 * G], rel=1e-6)


def test_a_box_rests_and_slides_on_fixed_balls():
    """Where the world's shape is the sphere the box is body 2."""
    scene = ss.Scene()
    for x in (-0.1, 0.1):
        for y in (-0.1, 0.1):
            scene.add_sphere(0.05, pos=(x, y, -0.05), joint="fixed", friction=0.5)
    scene.add_box((0.4, 0.4, 0.1), pos=(0, 0, 0.05), mass=2.0)
    sim = run(scene, 1.0)
    c = sim.contacts.arrays
    assert len(sim.contacts) == 4
    np.testing.assert_allclose(c.axes[:4, 0], [[0, 0, 1]] * 4, atol=1e-9)
    np.testing.assert_allclose(-c.gap[:4], 2.0 * G / 4 / 1e5, rtol=1e-6)
    # and slides to a stop on them: no further than friction lets it
    sim = run(scene, 0.5, q=[0, 0, 0.05, 1, 0, 0, 0], v=[0.5, 0, 0, 0, 0, 0])
    assert sim.state.q[0] == pytest.approx(0.5**2 / (2 * 0.5 * G), rel=0.03)
    assert np.abs(sim.state.v).max() < 1e-3


def test_points_on_a_tilted_box_move_as_on_the_tilted_plane():
    """Stick below the friction angle, slide above it, along the same path."""
    half = np.deg2rad(20.0) / 2
    quat, normal = (np.cos(half), 0.0, np.sin(half), 0.0), np.array([np.sin(2 * half), 0.0, np.cos(2 * half)])
    for friction in (0.2, 0.5):
        ends = []
        for ground in ("plane", "box"):
            scene = ss.Scene()
            if ground == "plane":
                scene.add_plane(normal=normal, friction=friction)
            else:
                scene.add_box((4, 4, 1), pos=-0.5 * normal, quat=quat, joint="fixed", friction=friction)
            add_cylinder_on_points(scene, 8, pos=0.06 * normal, quat=quat)
            sim = ss.Simulation(scene, dt=1e-4)
            sim.set_state(v=[0.1, 0.3, 0.0, 0.5, 0.0, 2.0])
            ends.append(sim.run(0.5).q)
        np.testing.assert_allclose(ends[0], ends[1], atol=1e-8)
        assert np.linalg.norm(ends[0][-1, :3] - ends[0][0, :3]) > 0.01


def test_a_ball_rolls_down_a_fixed_ball():
    """Without slip: θ̇² = 10/7·g·(1 − cos θ)/(R + r) + θ̇₀², friction 2/7·m·g·sin θ; it leaves at cos θ = 10/17."""
    R, r, m = 0.4, 0.1, 1.0
    scene = ss.Scene()
    scene.add_sphere(R, joint="fixed", friction=100.0, stiffness=1e6, damping=1e3)
    scene.add_sphere(r, pos=(0, 0, R + r - m * G / 1e6), mass=m)
    sim = ss.Simulation(scene, dt=2e-5)
    rate = 0.1
    sim.set_state(v=[(R + r) * rate, 0, 0, 0, (R + r) / r * rate, 0])
    left = None
    for _ in range(300):
        sim.step(200)
        sim.observe()
        x, _, z = sim.state.q[:3]
        angle = np.arctan2(x, z)
        if not len(sim.contacts):
            left = angle
            break
        if np.cos(angle) > 0.7:
            v = np.hypot(sim.state.v[0], sim.state.v[2])
            speed = np.sqrt(10 / 7 * G * (1 - np.cos(angle)) / (R + r) + rate**2)
            assert v / (R + r) == pytest.approx(speed, rel=5e-3)
            assert sim.state.v[4] * r == pytest.approx(v, rel=1e-3)
            friction = np.linalg.norm(sim.contacts.arrays.force[0, 1:])
            assert friction == pytest.approx(2 / 7 * m * G * np.sin(angle), rel=0.03, abs=0.02)
    assert np.cos(left) == pytest.approx(10 / 17, abs=0.02)


def test_rolling_on_a_fixed_ball_keeps_the_stretch_of_the_spring():
    """Prescribed motion: slip a little, then roll around the ball. The force keeps its size, tangential all the way."""
    R, r, depth, slip = 0.4, 0.1, 1e-4, 1e-5
    scene = ss.Scene()
    scene.add_sphere(R, joint="fixed", friction=1.0, damping=0.0, stiffness=1e5)
    scene.add_sphere(r, mass=1.0)
    detect, anchors, dt = Detector(scene), make_anchors(1), 1e-3
    reach, rate = R + r - depth, 2.0

    def contact(angle, rolling, sliding=0.0):
        """The ball at an angle from the top: its centre moves, and it turns so as to roll, but for ``sliding``."""
        v = reach * rate * rolling
        velocity = [v * np.cos(angle), 0, -v * np.sin(angle), 0, (v - sliding) / r, 0]
        c = detect([reach * np.sin(angle), 0, reach * np.cos(angle), 1, 0, 0, 0], velocity, margin=0.0)
        spring_damper(detect.kin, c, anchors, dt, dt)
        return c.axes[0].T @ c.force[0]

    contact(0.0, 0.0)
    angles = np.arange(0.0, 1.9 * np.pi, rate * dt)
    for angle in angles:
        outward = np.array([np.sin(angle), 0, np.cos(angle)])
        np.testing.assert_allclose(contact(angle, 1.0), 1e5 * depth * outward, atol=1e-8)  # no slip, no stretch
    anchors.pair[:] = 0
    contact(0.0, 0.0)
    contact(0.0, 0.0, sliding=slip / dt)
    for angle in angles:
        outward, tangent = np.array([np.sin(angle), 0, np.cos(angle)]), np.array([np.cos(angle), 0, -np.sin(angle)])
        force = contact(angle, 1.0)
        np.testing.assert_allclose(force, 1e5 * (depth * outward - slip * tangent), atol=0.01)


@pytest.mark.parametrize("other", ["ball", "box"])
def test_a_glancing_blow_conserves_momentum(other):
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_sphere(0.1, mass=1.0, name="a")
    place = {"pos": (0.5, 0.08, 0.03), "mass": 2.0, "name": "b", "friction": 0.6, "stiffness": 1e4}
    if other == "ball":
        scene.add_sphere(0.1, **place)
    else:
        scene.add_box((0.2, 0.2, 0.2), quat=(1, 0.2, 0.3, 0.1), **place)
    sim = ss.Simulation(scene, dt=1e-4)
    sim.set_state(v=[1.0, 0, 0, 0, 0, 3.0, -1.0, 0, 0, 0.0, 0, 0])
    before, spin = sim.dynamics.momentum(sim.state.q, sim.state.v, about=np.zeros(3)), sim.state.v[3:6].copy()
    sim.step(4000)
    after = sim.dynamics.momentum(sim.state.q, sim.state.v, about=np.zeros(3))
    assert np.linalg.norm(sim.state.v[3:6] - spin) > 0.1  # friction acted
    assert sim.state.v[0] < 0.0  # and they bounced off each other
    np.testing.assert_allclose(after[:3], before[:3], atol=1e-12)
    np.testing.assert_allclose(after[3:], before[3:], atol=1e-3)  # the method's first order in dt


def test_a_point_that_pokes_a_ball():
    """A contact point of a moving body on a fixed ball."""
    scene = ss.Scene()
    scene.add_sphere(0.5, pos=(0, 0, -0.5), joint="fixed")
    body = scene.add_body("foot", pos=(0, 0, 0.01), joint="slide", axis=(0, 0, 1))
    body.set_inertia(1.0, inertia=(0.1, 0.1, 0.1))
    body.add_contact_point("tip")
    sim = run(scene, 1.0)
    assert sim.state.q[0] + 0.01 == pytest.approx(-G / 1e5, rel=1e-6)


def test_the_default_step_lets_piles_come_to_rest():
    """Balls that meet balls: the estimate counts both partners, and a dozen neighbours of many."""
    scene = ss.Scene()
    scene.add_plane(friction=0.5)
    for k in range(3):
        scene.add_sphere(0.1, pos=(0, 0, 0.1 + 0.2 * k), mass=0.1)
    sim = run(scene, 1.0)
    c = sim.contacts.arrays
    assert np.abs(sim.state.v).max() < 1e-4
    np.testing.assert_allclose(sorted(c.force[: len(sim.contacts), 0]), np.array([0.1, 0.2, 0.3]) * G, rtol=1e-4)

    crowd = ss.Scene()
    for k in range(40):
        crowd.add_sphere(0.1, pos=(0.3 * k, 0, 1), mass=1.0)
    assert ss.Simulation(crowd).dt >= 2e-5
