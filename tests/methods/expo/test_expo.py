"""Expo: exact where the contact dynamics is linear, and sound where it is not."""

import numpy as np
import pytest
from scipy.linalg import expm

import stickslip as ss
from stickslip.dynamics import Dynamics
from stickslip.errors import InputError

G = 9.81


def slides(stiffness: tuple[float, ...], ratio: tuple[float, ...]) -> ss.Scene:
    """A chain of masses, each on slides in x, y and z, each touching the ground: M, J and gravity are constant."""
    inner = ""
    for k, (K, beta) in reversed(list(enumerate(zip(stiffness, ratio, strict=True)))):
        joints = "".join(f'<joint type="slide" axis="{axis}"/>' for axis in ("1 0 0", "0 1 0", "0 0 1"))
        inner = f"""<body pos="0.3 0 0">{joints}<inertial pos="0 0 0" mass="{1 + k}" diaginertia="1 1 1"/>
          <geom type="sphere" size="0.1" pos="0 0 0.1" friction="1e6" user="{K} {K * beta} 0 0"/>{inner}</body>"""
    return ss.Scene.from_xml(
        f"""<mujoco><custom><text name="stickslip" data="1"/></custom><size nuser_geom="4"/>
        <worldbody><geom type="plane" size="1 1 1" friction="1e6"/>{inner}</worldbody></mujoco>"""
    )


def exact_motion(model: ss.Model, q0, v0, applied, stiffness, ratio, time: float) -> tuple[np.ndarray, np.ndarray]:
    """The same machine solved by SciPy: q̈ = M⁻¹(f − b − Jᵀ(K·(Jq − rest) + B·Jq̇))."""
    dynamics = Dynamics(model)
    M, nv, n = dynamics.crba(q0), model.nv, len(stiffness)
    J = np.zeros((3 * n, nv))
    for k in range(n):
        J[3 * k : 3 * k + 3, : 3 * k + 3] = np.tile(np.eye(3), k + 1)  # a mass moves with all slides before it
    K = np.repeat(stiffness, 3)
    B = K * np.repeat(ratio, 3)
    start = J @ q0
    rest = np.where(np.arange(3 * n) % 3 == 2, 0.0, start)  # tangents: where the contact began; normal: the surface
    Minv = np.linalg.inv(M)
    A = np.zeros((2 * nv + 1, 2 * nv + 1))
    A[:nv, nv : 2 * nv] = np.eye(nv)
    A[nv : 2 * nv, :nv] = -Minv @ J.T @ (K[:, None] * J)
    A[nv : 2 * nv, nv : 2 * nv] = -Minv @ J.T @ (B[:, None] * J)
    A[nv : 2 * nv, -1] = Minv @ (J.T @ (K * rest) + applied - dynamics.bias(q0, np.zeros(nv)))
    x = expm(time * A) @ np.concatenate([q0, v0, [1.0]])
    return x[:nv], x[nv : 2 * nv]


@pytest.mark.filterwarnings("ignore::stickslip.StartWarning")
@pytest.mark.parametrize("dt", [1e-4, 1e-3, 1e-2, 4e-2])
@pytest.mark.parametrize(
    ("stiffness", "ratio"),
    [
        ((1e5,), (3e-3,)),
        ((1e4, 1e5, 1e6), (2e-3, 2e-3, 2e-3)),
        ((1e5, 1e5, 1e5), (1e-3, 3e-3, 1e-2)),
        ((1e8, 1e8), (1e-4, 1e-4)),
    ],
    ids=["one", "alike", "unlike ratios", "very stiff"],
)
def test_a_step_is_the_exact_solution_of_linear_contact_dynamics(dt, stiffness, ratio):
    scene = slides(stiffness, ratio)
    sim = ss.Simulation(scene, method="expo", dt=dt, tolerance=1e-12, recovery_time=0)
    model, rng = sim.model, np.random.default_rng(3)
    n, load = len(stiffness), 1e3  # a load that keeps the ground from ever having to pull
    depth = np.diff(-load / np.array(stiffness), prepend=0.0)
    q0, applied = np.zeros((2, n, 3))
    q0[:, 2], applied[:, 2] = 1.1 * depth, -load * np.arange(n, 0, -1)
    q0, applied, v0 = q0.ravel(), applied.ravel(), rng.normal(size=model.nv) * 1e-3
    sim.set_state(q0, v0)
    sim.inputs.applied[:] = applied
    with np.errstate(all="raise"):
        sim.step(1)
    assert len(sim.contacts) == len(stiffness)
    assert np.all(sim.stepper.expo.averages.first[: len(stiffness), 0] > 0.0)
    q, v = exact_motion(model, q0, v0, applied, stiffness, ratio, dt)
    assert np.abs(sim.state.q - q).max() <= 1e-10 * max(np.abs(q).max(), dt * np.abs(v).max())
    assert np.abs(sim.state.v - v).max() <= 1e-10 * max(np.abs(v).max(), np.abs(v0).max(), np.abs(q0).max() / dt)


@pytest.mark.parametrize("matmuls", ["auto", "pade", *range(7)])
def test_every_order_stands(matmuls):
    """Solo12 stands on its feet at 1 ms whichever approximant is used."""
    scene = ss.Scene()
    scene.add_plane(friction=1.0)
    robot = scene.add_robot("solo12")
    sim = ss.Simulation(scene, method="expo", dt=1e-3, matmuls=matmuls)
    sim.run(0.8, controller=ss.control.PD(robot, kp=10, kd=0.1), control_dt=1e-3)
    sim.observe()
    weight = float(sim.model.inertia.mass.sum() * G)
    assert sim.contacts.arrays.force[: len(sim.contacts), 0].sum() == pytest.approx(weight, rel=0.02)


@pytest.mark.filterwarnings("ignore::stickslip.StartWarning")
def test_pade_agrees_with_modes():
    ends = []
    for matmuls in ("auto", "pade", 6):
        options = {"matmuls": matmuls, "tolerance": 1e-10, "events": "touchdown"}
        sim = ss.Simulation(slides((1e5, 1e5), (3e-3, 3e-3)), method="expo", dt=1e-3, **options)
        sim.set_state(q=[0, 0, -2e-3, 0, 0, 1e-3], v=[0.01, 0, 0, 0, 0.02, 0])
        sim.step(20)
        ends.append(np.concatenate([sim.state.q, sim.state.v]))
    for end in ends[1:]:
        assert np.abs(end - ends[0]).max() < 1e-9


def test_fixed_low_order_is_not_safe_but_auto_is():
    """At 10 ms a degree-1 approximant of a stiff, strongly damped foot rings on; the modes have settled."""
    rest = {}
    for matmuls in (0, "auto"):
        scene = ss.Scene()
        scene.add_plane(stiffness=1e7, damping=3e4)
        scene.add_sphere(0.1, pos=(0, 0, 0.1 - 1e-5), mass=0.1)
        sim = ss.Simulation(scene, method="expo", dt=1e-2, matmuls=matmuls)
        sim.step(20)
        rest[matmuls] = abs((0.1 - sim.state.q[2]) * 1e7 / (0.1 * G) - 1.0)
    assert rest["auto"] < 1e-9
    assert rest[0] > 1e-3


@pytest.mark.parametrize("stiffness", [1e4, 1e6, 1e8])
def test_penetration_is_weight_over_stiffness_at_a_long_step(stiffness):
    scene = ss.Scene()
    scene.add_plane(stiffness=stiffness, damping=2 * np.sqrt(stiffness))
    scene.add_box((0.3, 0.3, 0.1), pos=(0, 0, 0.05), mass=4.0)
    sim = ss.Simulation(scene, method="expo", dt=2e-3)
    sim.step(1000)
    sim.observe()
    np.testing.assert_allclose(-sim.contacts.arrays.gap[:4], 4.0 * G / stiffness, rtol=1e-4)


@pytest.mark.filterwarnings("ignore::stickslip.StartWarning")
def test_islands_do_not_couple():
    """Many balls at once move exactly as each alone, and a pile of two as one island."""

    def scene_of(places):
        scene = ss.Scene()
        scene.add_plane(friction=0.5)
        for k, (x, z) in enumerate(places):
            scene.add_sphere(0.1, pos=(x, 0, z), mass=1.0 + k)
        return scene

    places = [(0.0, 0.1), (1.0, 0.0999), (2.0, 0.098), (2.0, 0.2985)]
    together = ss.Simulation(scene_of(places), method="expo", dt=1e-3)
    together.step(50)
    assert len(together.contacts) == 4
    alone = ss.Simulation(scene_of(places[:1]), method="expo", dt=1e-3)
    alone.step(50)
    np.testing.assert_allclose(together.state.q[:7], alone.state.q, rtol=0, atol=1e-15)
    together.observe()
    np.testing.assert_allclose(sorted(together.contacts.arrays.force[:4, 0])[:2], [1.0 * G, 2.0 * G], rtol=0.05)


def test_ball_rolls_after_sliding():
    """A sliding ball ends at 5/7 of its speed, rolling; at 5 ms."""
    scene = ss.Scene()
    scene.add_plane(friction=0.5)
    scene.add_sphere(0.1, pos=(0, 0, 0.1 - G / 1e5), mass=1.0)
    sim = ss.Simulation(scene, method="expo", dt=5e-3)
    sim.set_state(v=[2.0, 0, 0, 0, 0, 0])
    sim.step(200)
    assert sim.state.v[0] == pytest.approx(10 / 7, rel=0.01)
    assert sim.state.v[4] * 0.1 == pytest.approx(sim.state.v[0], rel=1e-3)


def test_two_moving_bodies_keep_their_momentum():
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_sphere(0.1, pos=(0, 0, 0), mass=1.0, friction=0.3)
    scene.add_sphere(0.2, pos=(0.32, 0.05, 0.02), mass=3.0, friction=0.3)
    sim = ss.Simulation(scene, method="expo", dt=1e-3)
    sim.set_state(v=[1.0, 0.2, 0, 0, 0, 5.0, -0.5, 0, 0.1, 1.0, 0, 0])
    about = np.zeros(3)
    before = sim.dynamics.momentum(sim.state.q, sim.state.v, about)
    seen = 0
    for _ in range(100):
        sim.step(1)
        seen = max(seen, len(sim.contacts))
    after = sim.dynamics.momentum(sim.state.q, sim.state.v, about)
    assert seen == 1
    np.testing.assert_allclose(after[:3], before[:3], atol=1e-12)
    np.testing.assert_allclose(after[3:], before[3:], atol=2e-3)  # first order: the forces' point moves during a step


def test_joint_stops_and_dampers_do_not_limit_the_step():
    """A heavily damped and stopped joint at 10 ms: no explosion, and it rests at its stop."""
    scene = ss.Scene.from_xml(
        """<mujoco><compiler angle="radian"/><worldbody><body pos="0 0 1">
        <joint type="hinge" axis="0 1 0" range="-0.3 0.3" limited="true" damping="0.5"/>
        <inertial pos="0.2 0 0" mass="0.1" diaginertia="1e-4 1e-4 1e-4"/></body></worldbody></mujoco>"""
    )
    sim = ss.Simulation(scene, method="expo", dt=1e-2)
    sim.step(1000)
    assert abs(sim.state.v[0]) < 1e-6
    assert 0.29 < sim.state.q[0] < 0.32


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"matmuls": 7}, "from 0 to 6"),
        ({"matmuls": True}, "from 0 to 6"),
        ({"matmuls": "fast"}, "'auto', 'pade'"),
        ({"tolerance": 0.0}, "tolerance"),
        ({"rest": "middle"}, "surface"),
        ({"matmul": 2}, "did you mean 'matmuls'"),
    ],
)
def test_bad_options(options, says):
    scene = ss.Scene()
    scene.add_plane()
    scene.add_sphere(0.1, pos=(0, 0, 1), mass=1.0)
    with pytest.raises(InputError, match=says):
        ss.Simulation(scene, method="expo", dt=1e-3, **options)


def test_stages_that_cannot_be_replaced_are_refused():
    scene = ss.Scene()
    scene.add_plane()
    scene.add_sphere(0.1, pos=(0, 0, 1), mass=1.0)
    sim = ss.Simulation(scene, method="expo", formulate=lambda sim: None)
    with pytest.raises(InputError, match="inside its compiled step"):
        sim.step(1)


def test_staged_loop_gives_the_same():
    """A Python stage drops to the staged loop, with the same results to round-off."""
    scene = ss.Scene()
    scene.add_plane(friction=0.4)
    scene.add_sphere(0.1, pos=(0, 0, 0.11), mass=1.0)
    ends = []
    for user in (None, lambda sim: None):
        sim = ss.Simulation(scene, method="expo", dt=1e-3, user=user)
        sim.set_state(v=[1.0, 0, 0, 0, 0, 0])
        sim.step(300)
        ends.append(sim.state.q.copy())
    np.testing.assert_allclose(*ends, atol=1e-12)


def test_friction_is_no_more_than_would_make_it_stick():
    """A robot that starts deep in a very stiff floor is thrown up; friction must not throw it about as well."""
    scene = ss.Scene()
    scene.add_plane(friction=1.0, stiffness=1e8, damping=1e4)
    scene.add_robot("solo12")
    sim = ss.Simulation(scene, method="expo", dt=1e-3 / 64)
    q = sim.model.state().q
    q[2] -= 6e-5
    sim.set_state(q)
    sim.observe()
    stored = sim.stepper.contact_energy()
    before = sum(sim.energy())
    sim.step(640)
    assert sum(sim.energy()) - before <= stored


def test_a_step_is_divided_where_a_contact_begins():
    """A ball dropped on the floor at 10 ms: no deeper than with fine steps, and it leaves at the same speed."""
    scene = ss.Scene()
    scene.add_plane(stiffness=1e5, damping=300.0)
    scene.add_sphere(0.1, pos=(0, 0, 0.2), mass=1.0)
    ends = {}
    for name, dt, options in (("fine", 1e-5, {}), ("divided", 1e-2, {}), ("late", 1e-2, {"events": "none"})):
        sim = ss.Simulation(scene, method="expo", dt=dt, **options)
        depth = 0.0
        for _ in range(round(0.2 / dt)):
            sim.step(1)
            depth = max(depth, 0.1 - sim.state.q[2])
        ends[name] = depth, sim.state.q[2]
    assert ends["divided"][1] == pytest.approx(ends["fine"][1], abs=2e-3)
    assert ends["late"][0] > 2 * ends["divided"][0]


def test_what_falls_from_rest_is_foreseen():
    """Touching, but not pressed, and a millimetre above: the rate of the gap is zero, and tells nothing."""
    for gap in (0.0, 1e-9, 1e-4):
        scene = ss.Scene()
        scene.add_plane(stiffness=1e5, damping=300.0)
        scene.add_sphere(0.1, pos=(0, 0, 0.1 + gap), mass=3.0)
        sim = ss.Simulation(scene, method="expo", dt=4e-2)
        sim.step(1)
        assert -gap <= 0.1 - sim.state.q[2] < 2 * 3.0 * G / 1e5  # a free fall of 40 ms is 8 mm


def test_a_divided_step_restores_to_the_bit():
    """How long ago anchors were moved is part of a snapshot: a rolling ball that has just landed."""
    scene = ss.Scene()
    scene.add_plane(friction=0.3)
    scene.add_sphere(0.1, pos=(0, 0, 0.1013), mass=1.0)
    sim = ss.Simulation(scene, method="expo", dt=4e-3)
    sim.set_state(v=[1.0, 0, -0.3, 0, 0, 0])
    sim.step(2)
    snapshot = sim.snapshot()
    assert 0.0 < snapshot.memory["elapsed"][0] < 4e-3
    sim.step(5)
    end = sim.state.q.copy()
    sim.restore(snapshot)
    sim.step(5)
    assert np.array_equal(end, sim.state.q)


@pytest.mark.parametrize("direction", [0.0, 0.3, np.pi / 4])
@pytest.mark.parametrize(("mu", "v0"), [(0.3, 1.0), (0.5, 2.0)])
def test_a_box_slides_as_far_as_it_should(mu, v0, direction):
    """Four corners, K = 1e5 and 10 ms: friction tips the box, and its corners share the load unequally."""
    scene = ss.Scene()
    scene.add_plane(friction=mu, stiffness=1e5)
    scene.add_box((0.2, 0.2, 0.1), pos=(0, 0, 0.05 - G / 1e5), mass=1.0, friction=mu)
    sim = ss.Simulation(scene, method="expo", dt=1e-2)
    sim.set_state(v=[v0 * np.cos(direction), v0 * np.sin(direction), 0, 0, 0, 0])
    sim.step(150)
    assert np.linalg.norm(sim.state.q[:2]) == pytest.approx(v0**2 / (2 * mu * G), rel=0.01)
    assert np.abs(sim.state.v).max() < 1e-9


@pytest.mark.parametrize("dt", [2e-3, 1e-2, 2e-2])
def test_tumbling_boxes_gain_no_energy(dt):
    rng = np.random.default_rng(0)
    for _ in range(12):
        size, mass, quat = rng.uniform(0.05, 0.3, size=3), rng.uniform(0.3, 10.0), rng.normal(size=4)
        scene = ss.Scene()
        scene.add_plane(friction=0.6)
        body = scene.add_box(size, pos=(0, 0, 0), quat=quat / np.linalg.norm(quat), mass=mass, friction=0.6)
        sim = ss.Simulation(scene, method="expo", dt=dt)
        _, axes = sim.dynamics.frame_pose(sim.state.q, body.name)
        q = sim.state.q.copy()
        q[2] = 0.5 * np.abs(axes[2] * size).sum() + 0.01  # its lowest corner a centimetre above the floor
        sim.set_state(q=q)
        start = sum(sim.energy())
        for _ in range(round(1.0 / dt)):
            sim.step(1)
            assert sum(sim.energy()) <= 1.01 * start


def test_gaps_of_a_python_collision_function_do_not_push():
    scene = ss.Scene()
    scene.add_sphere(0.1, pos=(0, 0, 0.5), mass=1.0)

    def collide(sim):
        sim.contacts.clear()
        height = sim.state.q[2] - 0.1
        sim.contacts.add(0, 1, (0, 0, height), (0, 0, 1), height, pair=0)

    sim = ss.Simulation(scene, method="expo", dt=1e-3, collision=collide)
    sim.step(100)
    assert sim.state.q[2] == pytest.approx(0.5 - G * 0.1**2 / 2, abs=1e-9)


def test_a_matrix_that_grows_in_mid_step_changes_nothing():
    """Twelve rolling spheres on one body: more rows than there is room for at first."""
    ends = []
    for roomy in (False, True):
        scene = ss.Scene()
        scene.add_plane(friction=0.5)
        body = scene.add_body("skate", pos=(0, 0, 0.0999))
        body.set_inertia(2.0, inertia=(0.1, 0.1, 0.1))
        for k in range(12):
            body.add_sphere(0.1, pos=(0.3 * np.cos(k), 0.3 * np.sin(k), 0), mass=0.0)
        sim = ss.Simulation(scene, method="expo", dt=5e-3)
        sim.set_state(v=[0.5, 0.1, 0, 0, 0, 1.0])
        while roomy and len(sim.stepper.expo.island.y) < 36:
            sim.stepper.grow()
        sim.step(5)
        ends.append(np.concatenate([sim.state.q, sim.state.v]))
    np.testing.assert_allclose(*ends, rtol=0, atol=1e-12)


@pytest.mark.parametrize("stiffness", [1e6, 1e8, 1e10])
@pytest.mark.parametrize("damping", [0.0, 30.0, 300.0])
@pytest.mark.parametrize("dt", [1e-3, 5e-3, 1e-2])
def test_a_step_longer_than_the_contact_s_oscillation(stiffness, damping, dt):
    """Averaged over such a step a spring that may pull could pull: the ball must neither sink nor be thrown up."""
    scene = ss.Scene()
    scene.add_plane()
    scene.add_sphere(0.1, pos=(0, 0, 0.1), mass=1.0, stiffness=stiffness, damping=damping)
    sim = ss.Simulation(scene, method="expo", dt=dt)
    start = sum(sim.energy())
    for _ in range(round(1.0 / dt)):
        sim.step(1)
        assert abs(0.1 - sim.state.q[2]) < 3e-5 + 2 * G / stiffness
        assert sum(sim.energy()) <= 1.01 * start


def test_heavy_boxes_at_the_longest_steps():
    for mass, height, dt in ((30.0, 0.0, 4e-2), (10.0, 0.2, 1e-2)):
        scene = ss.Scene()
        scene.add_plane(stiffness=4e5, damping=1200.0)
        scene.add_box((0.2, 0.2, 0.1), pos=(0, 0, 0.05 + height), mass=mass)
        sim = ss.Simulation(scene, method="expo", dt=dt)
        sim.step(round(2.0 / dt))
        assert 0.05 - sim.state.q[2] == pytest.approx(mass * G / 4e5, rel=1e-3)
        assert np.abs(sim.state.v).max() < 1e-6


def test_many_bodies_may_be_near_at_once():
    """More near contacts than the buffer holds at first, none touching: it grows, and the step is repeated."""
    scene = ss.Scene()
    scene.add_plane()
    for k in range(40):
        scene.add_sphere(0.1, pos=(0.3 * k, 0, 0.105), mass=1.0)
    sim = ss.Simulation(scene, "expo", dt=0.01)
    assert len(sim.stepper.expo.near.pair) < 40
    sim.step(2)
    assert len(sim.stepper.expo.near.pair) >= 40
    assert sim.state.q.reshape(40, 7)[:, 2] == pytest.approx(np.full(40, sim.state.q[2]), rel=1e-12)
