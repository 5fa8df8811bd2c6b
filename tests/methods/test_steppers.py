"""What every stepper with spring-damper contacts must do, whatever its order and step."""

import numpy as np
import pytest

import stickslip as ss
from stickslip.methods.registry import METHODS
from stickslip.methods.soft.viscoelastic import Viscoelastic

G = 9.81
VISCOELASTIC = [name for name, stepper in METHODS.items() if issubclass(stepper, Viscoelastic)]
FIXED_STEP = [name for name in VISCOELASTIC if name != "event-selected"]
"""Those whose error follows from the time step, and that see a contact when they look."""
LARGE_STEP = [name for name in METHODS if name in ("expo", "implicit-euler")]


def soft_stand(tilt: float = 0.0) -> ss.Scene:
    """A tilted platform with an arm, on four soft contact points: smooth contact, everything moves."""
    scene = ss.Scene()
    normal = (np.sin(tilt), 0.0, np.cos(tilt))
    scene.add_plane(friction=50.0, stiffness=2e3, damping=40.0, normal=normal)
    body = scene.add_body("platform", pos=(0, 0, 0.09))
    body.set_inertia(2.0, inertia=(0.02, 0.03, 0.04))
    for x in (-0.15, 0.15):
        for y in (-0.1, 0.1):
            body.add_contact_point(f"foot{x}{y}", pos=(x, y, -0.1))
    arm = body.add_body("arm", pos=(0.05, 0, 0.05), joint="hinge", axis=(0, 1, 0))
    arm.set_inertia(0.5, inertia=(0.01, 0.01, 0.01), com=(0, 0, 0.1))
    return scene


def end_of(scene: ss.Scene, method: str, dt: float, time: float, v0) -> np.ndarray:
    sim = ss.Simulation(scene, method=method, dt=dt)
    sim.set_state(v=v0)
    sim.step(round(time / dt))
    return np.concatenate([sim.state.q, sim.state.v])


@pytest.mark.filterwarnings("ignore::stickslip.errors.UnstableStepWarning", "ignore::stickslip.StartWarning")
@pytest.mark.parametrize("method", FIXED_STEP)
def test_order_of_convergence_on_smooth_contact(method):
    scene, time = soft_stand(), 0.04
    v0 = np.array([0.05, -0.03, 0.02, 0.3, -0.2, 0.4, 2.0])
    reference = end_of(scene, "rk4", time / 2048, time, v0)
    steps = np.array([64, 128, 256])
    errors = [np.abs(end_of(scene, method, time / n, time, v0) - reference).max() for n in steps]
    order = np.diff(np.log2(errors))
    assert np.all(np.abs(-order - METHODS[method].capabilities.order) < 0.25), (errors, order)


@pytest.mark.parametrize("method", VISCOELASTIC)
@pytest.mark.parametrize("degrees", [12.0, 25.0])
def test_incline(method, degrees):
    """Below the friction angle it sticks; above, it slides with g·(sin α − μ·cos α)."""
    mu, angle = 0.3, np.deg2rad(degrees)  # atan 0.3 = 16.7°
    scene = ss.Scene()
    normal = np.array([np.sin(angle), 0.0, np.cos(angle)])
    scene.add_plane(normal=normal, friction=mu)
    scene.add_box((0.2, 0.2, 0.04), pos=0.02 * normal, quat=(np.cos(angle / 2), 0, np.sin(angle / 2), 0), mass=1.0)
    sim = ss.Simulation(scene, method=method, dt=5e-3 if method in LARGE_STEP else None)
    sim.step(round(0.3 / sim.dt))
    before, start = np.linalg.norm(sim.state.v[:3]), sim.state.q[:3].copy()
    sim.step(round(0.5 / sim.dt))
    if np.tan(angle) < mu:
        assert np.linalg.norm(sim.state.q[:3] - start) < 1e-6
    else:
        gained = (np.linalg.norm(sim.state.v[:3]) - before) / 0.5
        assert gained == pytest.approx(G * (np.sin(angle) - mu * np.cos(angle)), rel=5e-3)


@pytest.mark.parametrize("method", VISCOELASTIC)
@pytest.mark.parametrize("direction", [0.0, 0.7, 2.0])
def test_sliding_distance(method, direction):
    """v₀²/(2μg), within 1 %; expo with a step of 10 ms. Implicit Euler brakes with the speed at the end of a step: its
    way is shorter by v₀·dt/2, which needs 2 ms."""
    mu, v0 = 0.5, 2.0
    scene = ss.Scene()
    scene.add_plane(friction=mu, stiffness=1e5)
    body = scene.add_body("block", pos=(0, 0, -G / 1e5))
    body.set_inertia(1.0, inertia=(0.1, 0.1, 0.1))
    body.add_contact_point("tip")
    sim = ss.Simulation(scene, method=method, dt={"expo": 10e-3, "implicit-euler": 2e-3}.get(method))
    heading = np.array([np.cos(direction), np.sin(direction)])
    sim.set_state(v=[*(v0 * heading), 0, 0, 0, 0])
    sim.step(round(1.0 / sim.dt))
    assert heading @ sim.state.q[:2] == pytest.approx(v0**2 / (2 * mu * G), rel=0.01)
    assert np.linalg.norm(sim.state.v[:3]) < 1e-6


@pytest.mark.parametrize("method", VISCOELASTIC)
def test_rest_depth_is_weight_over_stiffness(method):
    scene = ss.Scene()
    scene.add_plane(stiffness=1e5, damping=300.0)
    scene.add_box((0.2, 0.2, 0.1), pos=(0, 0, 0.05), mass=2.0)
    sim = ss.Simulation(scene, method=method, dt=10e-3 if method in LARGE_STEP else None)
    sim.step(round(1.0 / sim.dt))
    sim.observe()
    np.testing.assert_allclose(-sim.contacts.arrays.gap[:4], 2.0 * G / 1e5, rtol=1e-5)


@pytest.mark.filterwarnings("ignore::stickslip.errors.StartWarning")
@pytest.mark.parametrize("method", LARGE_STEP)
def test_slip_creates_no_energy(method):
    """A thousand random slips: kinetic energy plus that of the tangential spring never grows, however long the step."""
    rng, slipped = np.random.default_rng(5), 0
    for trial in range(40):
        mu, K, m = rng.uniform(0.05, 1.5), 10.0 ** rng.uniform(3, 7), 10.0 ** rng.uniform(-1, 1)
        B = rng.uniform(0.01, 2.0) * 2.0 * np.sqrt(K * m)
        scene = ss.Scene()
        scene.add_plane(friction=mu, stiffness=K, damping=B)
        body = scene.add_body("mass")
        body.set_inertia(m, inertia=(1, 1, 1))
        body.add_contact_point("tip")
        sim = ss.Simulation(scene, method=method, dt=10.0 ** rng.uniform(-4, -2))
        depth, longest = m * G / K, mu * m * G / K
        for _ in range(40):
            stretch = rng.uniform(0, longest) * direction(rng.uniform(0, 2 * np.pi))
            velocity = 10.0 ** rng.uniform(-3, 1) * direction(rng.uniform(0, 2 * np.pi))
            sim.set_state(q=[0, 0, -depth, 1, 0, 0, 0], v=[*velocity, 0, 0, 0, 0])
            sim.observe()
            anchors = sim.stepper.anchors
            anchors.pair[0], anchors.anchor[0] = sim.contacts.arrays.pair[0] + 1, [*-stretch, -depth]
            before = 0.5 * m * velocity @ velocity + 0.5 * K * stretch @ stretch
            sim.step(1)
            sim.observe()
            _, s1, s2 = sim.contacts.arrays.stretch[0]
            after = 0.5 * m * sim.state.v[:2] @ sim.state.v[:2] + 0.5 * K * (s1 * s1 + s2 * s2)
            normal, *tangential = sim.contacts.arrays.force[0]
            if np.linalg.norm(tangential) > (1 - 1e-9) * mu * normal:
                slipped += 1
                assert after <= before * (1 + 1e-12), (trial, before, after)
    assert slipped >= 1000


def direction(angle: float) -> np.ndarray:
    return np.array([np.cos(angle), np.sin(angle)])


@pytest.mark.parametrize("method", FIXED_STEP)
def test_the_paper_s_rest_point(method):
    """With rest="detected" the spring rests where penetration was first seen: the body sinks deeper by that much."""
    scene = ss.Scene()
    scene.add_plane(stiffness=1e4, damping=100.0)
    scene.add_sphere(0.1, pos=(0, 0, 0.1), mass=1.0)
    depth = {}
    for rest in ("surface", "detected"):
        sim = ss.Simulation(scene, method=method, rest=rest)
        sim.set_state(v=[0, 0, -1.0, 0, 0, 0])
        sim.step(round(1.5 / sim.dt))
        depth[rest] = 0.1 - sim.state.q[2]
        seen = -float(sim.stepper.anchors.rest[0])
    assert depth["surface"] == pytest.approx(G / 1e4, rel=1e-6)
    assert depth["detected"] == pytest.approx(G / 1e4 + seen, rel=1e-6)
    assert seen > 0.0


@pytest.mark.parametrize("method", VISCOELASTIC)
def test_each_pair_has_its_own_material(method):
    scene = ss.Scene()
    scene.add_plane()
    for k, stiffness in enumerate((1e4, 1e5, 1e6)):
        material = {"stiffness": stiffness, "damping": 100.0 * (k + 1), "friction": 0.1 * (k + 1)}
        scene.add_sphere(0.1, pos=(k, 0, 0.1), mass=1.0, **material)
    sim = ss.Simulation(scene, method=method)
    sim.step(round(1.0 / sim.dt))
    sim.observe()
    arrays = sim.contacts.arrays
    np.testing.assert_allclose(arrays.force[:3, 0], G, rtol=1e-4)
    np.testing.assert_allclose(-arrays.gap[:3] * arrays.material[:3, 1], G, rtol=1e-4)
    assert len(set(arrays.material[:3, 1])) == 3


@pytest.mark.parametrize("method", VISCOELASTIC)
def test_frictionless(method):
    scene = ss.Scene()
    scene.add_plane(friction=0.0)
    scene.add_sphere(0.1, pos=(0, 0, 0.1), mass=1.0, friction=0.0)
    sim = ss.Simulation(scene, method=method)
    sim.set_state(v=[1.0, 0, 0, 0, 0, 0])
    sim.step(round(0.2 / sim.dt))
    assert sim.state.v[0] == pytest.approx(1.0, abs=1e-12)
    assert np.abs(sim.state.v[3:]).max() < 1e-12


@pytest.mark.parametrize("method", VISCOELASTIC)
def test_contact_buffer_grows(method):
    """More contacts than the buffer holds at first, and more than an island's matrix: nothing is lost."""
    scene = ss.Scene()
    scene.add_plane()
    body = scene.add_body("plate", pos=(0, 0, -1e-4))
    body.set_inertia(10.0, inertia=(1.0, 1.0, 1.0))
    for k in range(40):
        body.add_contact_point(f"p{k}", pos=(np.cos(k) * 0.1, np.sin(k) * 0.1, 0))
    sim = ss.Simulation(scene, method=method)
    sim.step(round(0.2 / sim.dt))
    sim.observe()
    assert len(sim.contacts) == 40
    assert sim.contacts.arrays.force[:40, 0].sum() == pytest.approx(10 * G, rel=1e-3)


@pytest.mark.parametrize("method", VISCOELASTIC)
def test_restored_snapshot_continues_to_the_bit(method):
    scene = ss.Scene()
    scene.add_plane(friction=0.4)
    scene.add_sphere(0.1, pos=(0, 0, 0.12), mass=1.0)
    sim = ss.Simulation(scene, method=method)
    sim.set_state(v=[1.0, 0.3, 0, 0, 0, 2.0])
    sim.step(round(0.1 / sim.dt))
    snapshot = sim.snapshot()
    ends = []
    for _ in range(2):
        sim.restore(snapshot)
        sim.step(round(0.1 / sim.dt))
        ends.append(np.concatenate([sim.state.q, sim.state.v]))
    assert np.array_equal(*ends)


@pytest.mark.parametrize("method", VISCOELASTIC)
def test_a_user_function_changes_nothing_by_itself(method):
    scene = ss.Scene()
    scene.add_plane(friction=0.4)
    scene.add_sphere(0.1, pos=(0, 0, 0.101), mass=1.0)
    ends, calls = [], []
    for user in (None, calls.append):
        sim = ss.Simulation(scene, method=method, dt=1e-4, user=user)
        sim.set_state(v=[1.0, 0, 0, 0, 0, 0])
        sim.step(200)
        ends.append(sim.state.q.copy())
    assert len(calls) == 200
    np.testing.assert_allclose(*ends, rtol=0, atol=1e-13)


def test_explicit_joint_damping_limits_the_default_step():
    scene = ss.Scene.from_xml(
        """<mujoco><worldbody><body><joint type="hinge" axis="0 1 0" damping="10"/>
        <inertial pos="0.1 0 0" mass="0.1" diaginertia="1e-4 1e-4 1e-4"/></body></worldbody></mujoco>"""
    )
    for method in ("euler", "rk4"):
        sim = ss.Simulation(scene, method=method)
        assert sim.dt < 2e-4
        sim.step(1000)
        assert abs(sim.state.v[0]) < 0.02
