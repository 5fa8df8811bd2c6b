"""Spring-damper contacts against closed-form answers."""

import numpy as np
import pytest

import stickslip as ss

G = 9.81


def on_plane(friction=0.5, angle=0.0, **material):
    """A scene with a plane tilted by ``angle`` about y; and the rotation that lies flat on it."""
    scene = ss.Scene()
    normal = np.array([np.sin(angle), 0.0, np.cos(angle)])
    scene.add_plane(normal=normal, friction=friction, **material)
    return scene, normal, (np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0)


def test_rest_depth_is_weight_over_stiffness():
    scene, *_ = on_plane(stiffness=1e5, damping=300.0)
    scene.add_box((0.2, 0.2, 0.1), pos=(0, 0, 0.05), mass=2.0)
    sim = ss.Simulation(scene)
    sim.step(round(1.0 / sim.dt))
    sim.observe()
    contacts = sim.contacts.arrays
    assert len(sim.contacts) == 4
    np.testing.assert_allclose(-contacts.gap[:4], 2.0 * G / 1e5, rtol=1e-6)
    np.testing.assert_allclose(contacts.force[:4, 0].sum(), 2.0 * G, rtol=1e-6)


def test_contacts_push_but_never_pull():
    scene, *_ = on_plane()
    scene.add_sphere(0.1, pos=(0, 0, 0.3), mass=1.0)
    sim = ss.Simulation(scene)
    for _ in range(2000):
        sim.step(1)
        sim.observe()
        assert np.all(sim.contacts.arrays.force[: len(sim.contacts), 0] >= 0.0)


@pytest.mark.parametrize("degrees", [10.0, 15.0])
def test_block_sticks_below_the_friction_angle(degrees):
    scene, normal, quat = on_plane(friction=0.3, angle=np.deg2rad(degrees))  # atan 0.3 = 16.7°
    scene.add_box((0.2, 0.2, 0.05), pos=0.025 * normal, quat=quat, mass=1.0)
    sim = ss.Simulation(scene)
    start = sim.state.q[:3].copy()
    sim.step(round(2.0 / sim.dt))
    assert np.linalg.norm(sim.state.q[:3] - start) < 1e-3
    assert np.linalg.norm(sim.state.v) < 1e-8


@pytest.mark.parametrize("degrees", [18.0, 25.0, 40.0])
def test_block_slides_above_it_with_the_analytic_acceleration(degrees):
    angle, mu = np.deg2rad(degrees), 0.3
    scene, normal, quat = on_plane(friction=mu, angle=angle)
    scene.add_box((0.2, 0.2, 0.05), pos=0.025 * normal, quat=quat, mass=1.0)
    sim = ss.Simulation(scene)
    sim.step(round(0.5 / sim.dt))
    before = np.linalg.norm(sim.state.v[:3])
    sim.step(round(0.5 / sim.dt))
    acceleration = (np.linalg.norm(sim.state.v[:3]) - before) / (round(0.5 / sim.dt) * sim.dt)
    assert acceleration == pytest.approx(G * (np.sin(angle) - mu * np.cos(angle)), rel=1e-3)


def test_sliding_distance():
    scene, *_ = on_plane(friction=0.4)
    scene.add_box((0.3, 0.3, 0.02), pos=(0, 0, 0.01), mass=1.0)
    sim = ss.Simulation(scene)
    sim.set_state(v=[1.5, 0, 0, 0, 0, 0])
    sim.step(round(1.0 / sim.dt))
    assert sim.state.q[0] == pytest.approx(1.5**2 / (2 * 0.4 * G), rel=0.01)
    assert abs(sim.state.v[0]) < 1e-3


def test_sliding_ball_rolls_at_five_sevenths_of_its_speed():
    """v = 5v₀/7 from t = 2v₀/(7μg) on; then nothing slows it down."""
    v0, mu = 2.0, 0.5
    scene, *_ = on_plane(friction=mu)
    scene.add_sphere(0.1, pos=(0, 0, 0.1 - G / 1e5), mass=1.0)
    sim = ss.Simulation(scene, dt=1e-4)
    sim.set_state(v=[v0, 0, 0, 0, 0, 0])
    rolling = 2 * v0 / (7 * mu * G)
    sim.step(round(0.9 * rolling / sim.dt))
    assert sim.state.v[0] == pytest.approx(v0 - mu * G * sim.time, rel=0.01)
    sim.step(round(2.0 / sim.dt))
    assert sim.state.v[0] == pytest.approx(5 * v0 / 7, rel=2e-3)
    assert sim.state.v[0] == pytest.approx(0.1 * sim.state.v[4], rel=1e-3)


def test_friction_opposes_sliding_in_every_direction():
    scene, *_ = on_plane(friction=0.4)
    scene.add_box((0.3, 0.3, 0.02), pos=(0, 0, 0.01), mass=1.0)
    model = scene.compile()
    distances = []
    for angle in np.linspace(0, 2 * np.pi, 8, endpoint=False):
        sim = ss.Simulation(model)
        sim.set_state(v=[np.cos(angle), np.sin(angle), 0, 0, 0, 0])
        sim.step(round(0.6 / sim.dt))
        x, y = sim.state.q[:2]
        distances.append(np.hypot(x, y))
        assert np.arctan2(y, x) == pytest.approx((angle + np.pi) % (2 * np.pi) - np.pi, abs=2e-3) or angle == np.pi
    assert np.ptp(distances) < 2e-3 * np.mean(distances)


@pytest.mark.filterwarnings("ignore::stickslip.errors.UnstableStepWarning")
@pytest.mark.filterwarnings("ignore::stickslip.errors.EnergyGainWarning")
def test_stable_dt_is_where_the_contact_turns_unstable():
    """A mass on one spring-damper: below the estimate it comes to rest, above it does not."""
    scene, *_ = on_plane(stiffness=1e5, damping=300.0)
    scene.add_sphere(0.1, pos=(0, 0, 0.0999), mass=0.05)
    limit = ss.Simulation(scene, "semi-implicit-euler", dt=1e-4).stepper.stable_dt(scene.compile().state())

    def speed(dt):
        sim = ss.Simulation(scene, "semi-implicit-euler", dt=dt)
        sim.step(4000)
        return np.abs(sim.state.v).max()

    # the tangential direction of a sphere is 3.5 times as light as the normal one: it decides
    assert speed(0.25 * limit) < 1e-6
    assert speed(8.0 * limit) > 1e-3
    K, B, w = 1e5, 300.0, 3.5 / 0.05
    assert K * w * limit**2 + 2 * B * w * limit == pytest.approx(4.0, rel=1e-3)


@pytest.mark.parametrize("points", [4, 16, 64])
def test_default_dt_lets_many_contacts_on_one_body_come_to_rest(points):
    """They act together: sixteen springs are sixteen times as stiff as one."""
    scene, *_ = on_plane()
    ss.builders.add_cylinder_on_points(scene, points, pos=(0, 0, 0.06))
    sim = ss.Simulation(scene)
    sim.step(round(1.0 / sim.dt))
    assert np.abs(sim.state.v).max() < 1e-6
    assert sim.state.q[2] == pytest.approx(0.05 - G / 1e5 / points, abs=1e-7)


def test_default_dt_without_damping_keeps_the_energy_bounded():
    scene, *_ = on_plane(damping=0.0)
    scene.add_box((0.2, 0.2, 0.1), pos=(0, 0, 0.06), mass=2.0)
    sim = ss.Simulation(scene)
    log = sim.run(4.0)
    energy = log.energy.sum(axis=1) + log.contact_energy
    first, second = np.array_split(energy, 2)
    assert first.max() < 1.06 * energy[0]
    assert second.max() < 1.01 * first.max()
