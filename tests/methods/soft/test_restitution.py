"""Restitution of spring-damper contacts: the damping that gives it, and what bodies then do."""

import itertools

import numpy as np
import pytest

import stickslip as ss
from stickslip.errors import NotHonouredWarning
from stickslip.methods.soft.restitution import damping_ratio, restitution_of
from stickslip.model.compile import rotation

METHODS = ("euler", "semi-implicit-euler", "rk4", "implicit-euler", "expo", "event-selected")
WANTED = (0.95, 0.5, 0.1)


def bounced(scene, speed=1.0, method="semi-implicit-euler", dt=1e-5, time=0.1):
    """Speed with which the first body leaves the floor, over that with which it comes."""
    sim = ss.Simulation(scene, method, dt=dt)
    v = np.zeros(sim.model.nv)
    v[min(2, sim.model.nv - 1)] = -speed
    sim.set_state(v=v)
    sim.step(round(time / dt))
    return sim.state.v[min(2, sim.model.nv - 1)] / speed


def floor(stiffness=1e5, friction=0.0, gravity=(0, 0, 0), **material):
    scene = ss.Scene(gravity=gravity)
    scene.add_plane(stiffness=stiffness, friction=friction, **material)
    return scene


def test_the_ratio_is_the_inverse_of_the_restitution():
    for e in (1.0, 0.999, 0.7, 0.2, np.exp(-2.0), 0.1, 1e-2, 1e-4):
        assert restitution_of(damping_ratio(e)) == pytest.approx(e, rel=1e-9)
    assert damping_ratio(1.0) == 0.0
    assert damping_ratio(np.exp(-2.0)) == pytest.approx(1.0, rel=1e-6)  # critical damping
    ratios = [damping_ratio(e) for e in np.linspace(0.01, 1.0, 50)]
    assert np.all(np.diff(ratios) < 0.0)


@pytest.mark.parametrize("e", WANTED)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore::stickslip.errors.UnstableStepWarning")
def test_balls_bounce_by_the_wanted_restitution(method, e):
    scene = floor()
    scene.add_sphere(0.1, pos=(0, 0, 0.101), mass=2.0, restitution=e)
    assert bounced(scene, method=method, dt=2e-6, time=0.04) == pytest.approx(e, rel=2e-3, abs=2e-3)


@pytest.mark.parametrize("e", WANTED)
@pytest.mark.parametrize("size", [(0.2, 0.2, 0.2), (0.3, 0.2, 0.02), (0.04, 0.03, 0.3)], ids=["cube", "plate", "post"])
@pytest.mark.parametrize("stiffness_per", ["pair", "point"])
def test_boxes_that_land_flat_bounce_by_it(size, stiffness_per, e):
    """The mass that four corners feel together is that of the box, whatever its shape."""
    scene = floor()
    scene.add_box(size, pos=(0, 0, 0.5 * size[2] + 1e-3), mass=2.0, restitution=e)
    sim = ss.Simulation(scene, "semi-implicit-euler", dt=1e-5, stiffness_per=stiffness_per)
    sim.set_state(v=[0, 0, -1.0, 0, 0, 0])
    sim.step(8000)
    assert sim.state.v[2] == pytest.approx(e, rel=2e-3, abs=2e-3)
    assert np.abs(sim.state.v[3:]).max() < 1e-6


@pytest.mark.parametrize("e", WANTED)
def test_corners_bounce_by_it(e):
    """A corner feels the mass 1/W of its own, and its impact is the more free of all else, the stiffer the floor is."""
    half = np.array([0.15, 0.1, 0.05])
    scene = floor(1e9)
    quat = (np.cos(0.3), np.sin(0.3) * 0.6, np.sin(0.3) * 0.8, 0.0)
    corners = np.array(list(itertools.product((-1, 1), repeat=3))) * half
    depth = (corners @ rotation(np.array(quat)).T)[:, 2]
    low = corners[depth.argmin()]
    scene.add_box(2 * half, pos=(0, 0, 1e-6 - depth.min()), quat=quat, mass=2.0, restitution=e)
    sim = ss.Simulation(scene, "semi-implicit-euler", dt=2e-7)
    sim.set_state(v=[0, 0, -1.0, 0, 0, 0])
    sim.step(1000)
    R = rotation(sim.state.q[3:])
    after = sim.state.v[2] + np.cross(R @ sim.state.v[3:], R @ low)[2]
    assert after == pytest.approx(e, abs=0.01)
    assert np.abs(sim.state.v[3:]).max() > 1.0


@pytest.mark.parametrize("e", WANTED)
def test_bodies_bounce_off_each_other_by_it(e):
    """The mass of two balls that meet is the reduced one; momentum stays."""
    scene = ss.Scene(gravity=(0, 0, 0))
    for k, mass in enumerate((1.0, 3.0)):
        scene.add_sphere(0.1, pos=(0.201 * k, 0, 0), mass=mass, restitution=e, stiffness=1e5, friction=0.0)
    sim = ss.Simulation(scene, "semi-implicit-euler", dt=1e-5)
    sim.set_state(v=[1.0, 0, 0, 0, 0, 0, -1.0, 0, 0, 0, 0, 0])
    sim.step(5000)
    first, second = sim.state.v[0], sim.state.v[6]
    assert (second - first) / 2.0 == pytest.approx(e, rel=2e-3, abs=2e-3)
    assert first + 3.0 * second == pytest.approx(-2.0, rel=1e-9)


def test_an_arm_bounces_by_the_inertia_about_its_hinge():
    scene = floor(1e5)
    arm = scene.add_body("arm", pos=(0, 0, 0.1), joint="hinge", axis=(0, -1, 0))
    arm.add_sphere(0.02, pos=(0.5, 0, -0.079), mass=0.3, restitution=0.6)
    arm.add_sphere(0.05, pos=(0.2, 0, 0.0), mass=2.0, collide=False)
    assert bounced(scene, speed=2.0) == pytest.approx(0.6, rel=5e-3)


def test_a_damping_that_a_surface_says_goes_first():
    said = floor()
    said.add_sphere(0.1, pos=(0, 0, 0.101), mass=2.0, restitution=0.5, damping=0.0)
    with pytest.warns(NotHonouredWarning, match=r"restitution e = 0\.5: bounce follows"):
        assert bounced(said) == pytest.approx(1.0, rel=1e-3)
    free = floor()
    free.add_sphere(0.1, pos=(0, 0, 0.101), mass=2.0, restitution=0.5)
    sim = ss.Simulation(free, "semi-implicit-euler", dt=1e-5)
    assert "restitution" in sim.stepper.honours
    assert any("the damper that gives e" in sentence for sentence in sim.stepper.materials())


@pytest.mark.parametrize(("said", "wanted"), [({}, None), ({"tangent_damping": 7.0}, 7.0)])
def test_damping_along_the_surface_follows_unless_it_is_said(said, wanted):
    scene = floor(friction=1.0)
    scene.add_sphere(0.1, pos=(0, 0, 0.0999), mass=2.0, restitution=0.5, **said)
    sim = ss.Simulation(scene, "semi-implicit-euler", dt=1e-5)
    sim.observe()
    (row,) = sim.contacts.arrays.material[: len(sim.contacts)]
    B = 2.0 * damping_ratio(0.5) * np.sqrt(1e5 * 2.0)
    assert row[2] == pytest.approx(B, rel=1e-12)
    assert row[9] == pytest.approx(B if wanted is None else wanted, rel=1e-12)


@pytest.mark.parametrize("method", ["semi-implicit-euler", "implicit-euler"])
def test_the_choice_is_part_of_the_state(method):
    """A tilted box keeps the damping of its first corner; from a snapshot it goes on bit for bit."""
    scene = floor(friction=0.5, gravity=(0, 0, -9.81))
    scene.add_box((0.2, 0.1, 0.1), pos=(0, 0, 0.07), quat=(np.cos(0.05), 0, np.sin(0.05), 0), mass=1.0, restitution=0.3)
    sim = ss.Simulation(scene, method, dt=1e-4)
    sim.set_state(v=[0, 0, -1.0, 0, 0, 0])
    while not np.any(sim.stepper.memory()["ratio"]):
        sim.step(1)
    sim.step(3)
    snapshot = sim.snapshot()
    sim.step(200)
    end = sim.state.q.copy()
    sim.restore(snapshot)
    sim.step(200)
    np.testing.assert_array_equal(sim.state.q, end)
    sim.restore(snapshot)
    sim.stepper.memory()["ratio"][:] *= 3.0
    sim.step(200)
    assert np.abs(sim.state.q - end).max() > 1e-6


def test_stable_steps_know_the_chosen_damping():
    limits = []
    for e in (0.9, 0.05, 0.002):
        scene = floor()
        scene.add_sphere(0.1, pos=(0, 0, 0.2), mass=1.0, restitution=e)
        sim = ss.Simulation(scene, "semi-implicit-euler")
        limits.append(sim.stepper.stable_dt(sim.state))
        B = 2.0 * damping_ratio(e) * np.sqrt(1e5)
        assert 1e5 * limits[-1] ** 2 + 2.0 * B * limits[-1] < 4.0 * (1.0 + 1e-9)
    assert limits[0] > limits[1] > limits[2]
