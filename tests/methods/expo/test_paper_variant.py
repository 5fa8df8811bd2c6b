"""``expo/paper``: the algorithm as Hammoud et al. write it, against their equations and against closed forms."""

import numpy as np
import pytest
from scipy.linalg import expm

import stickslip as ss
from stickslip.errors import InputError
from stickslip.methods.expo.paper_preset import PAPER

pytestmark = pytest.mark.filterwarnings("ignore::stickslip.StartWarning")

G = 9.81
M, K, B = 2.0, 1e5, 300.0


def sliding_block(friction=0.5, mass=M, stiffness=K, damping=B) -> ss.Scene:
    """A block that cannot turn on a plane: its four corners act as one contact of the given stiffness and damping."""
    joints = "".join(f'<joint type="slide" axis="{axis}"/>' for axis in ("1 0 0", "0 1 0", "0 0 1"))
    return ss.Scene.from_xml(
        f"""<mujoco><custom><text name="stickslip" data="1"/></custom><size nuser_geom="4"/><worldbody>
        <geom type="plane" size="1 1 1" friction="{friction}"/>
        <body>{joints}<inertial pos="0 0 0" mass="{mass}" diaginertia="1 1 1"/>
          <geom type="box" size="0.1 0.1 0.1" pos="0 0 0.1" friction="{friction}" user="{stiffness} {damping} 0 0"/>
        </body></worldbody></mujoco>"""
    )


def cone(force, mu):
    """(x, y, normal) with the tangential force scaled back to μ·f_n."""
    fn, size = max(0.0, force[2]), np.hypot(force[0], force[1])
    shrink = mu * fn / size if size > mu * fn else 1.0
    return np.array([shrink * force[0], shrink * force[1], fn])


def averages(x, dt):
    """λ̄ and λ̿ of the block by eqs. (11), (23), (25), (29) and (30), with SciPy's exponential."""
    one, big = np.eye(3), np.zeros((9, 9))
    big[:3, 3:6], big[3:6, :3], big[3:6, 3:6] = one, -K / M * one, -B / M * one
    big[:6, 6], big[:6, 7] = (0, 0, 0, 0, 0, -G), x
    big[6, 7] = big[7, 8] = 1.0
    columns, D = expm(dt * big)[:6, 7:], np.hstack([-K * one, -B * one])
    return D @ columns[:, 0] / dt, D @ columns[:, 1] * 2.0 / dt**2


def written_out(p, v, mu, dt, steps):
    """The paper's algorithm for the block, from a contact that is detected at p: states, and which steps slipped."""
    p0, rate, slipped, states = p.copy(), np.zeros(3), [], []
    for _ in range(steps):
        p0 = p0 + dt * rate if states else p0
        sticking = -K * (p - p0) - B * v
        force = cone(sticking, mu)
        slipped.append(bool(np.hypot(*sticking[:2]) > mu * max(0.0, sticking[2])))
        rate = np.array([v[0], v[1], 0.0]) if slipped[-1] else np.zeros(3)
        if slipped[-1]:
            p0[:2] = p[:2] + force[:2] / K  # eq. (28)
        first, second = (cone(f, mu) for f in averages(np.concatenate([p - p0, v - rate]), dt))
        gravity = np.array([0.0, 0.0, -G])
        p, v = p + dt * v + 0.5 * dt**2 * (gravity + second / M), v + dt * (gravity + first / M)
        states.append(np.concatenate([p, v]))
    return np.array(states), slipped


@pytest.mark.parametrize("dt", [1e-4, 2e-3, 1e-2])
@pytest.mark.parametrize("speed", [0.0, 0.1, 1.0], ids=["sticks", "slips and sticks", "slips"])
def test_steps_are_the_papers(dt, speed):
    """Eqs. (11) and (21)–(30), written out with NumPy and SciPy."""
    mu, steps = 0.5, 12
    sim = ss.Simulation(sliding_block(mu), method="expo/paper", dt=dt)
    p, v = np.array([0.0, 0.0, -1e-4]), np.array([speed, 0.5 * speed, -0.05])
    expected, slipped = written_out(p, v, mu, dt, steps)
    sim.set_state(q=p, v=v)
    found = []
    for _ in range(steps):
        sim.step(1)
        found.append(np.concatenate([sim.state.q, sim.state.v]))
    assert np.abs(np.array(found) - expected).max() <= 1e-11
    assert any(slipped) == (speed > 0.0)
    if speed == 0.1 and dt == 1e-2:
        assert not all(slipped)


def test_springs_rest_where_contacts_were_detected():
    sim = ss.Simulation(sliding_block(), method="expo/paper", dt=1e-3)
    sim.set_state(q=[0, 0, -2e-3])
    sim.step(1000)
    assert sim.state.q[2] == pytest.approx(-2e-3 - M * G / K, rel=1e-9)


@pytest.mark.parametrize("dt", [2.5e-4, 5e-4])
def test_a_slide_loses_friction_in_proportion_to_the_step(dt):
    """The prediction goes on with the anchor's velocity, and the damper pushes against the deceleration a·t that the
    block has within a step: on average by B·a·dt/2. So the friction is μ·m·g − B·a·dt/2 = m·a."""
    mu = 0.5
    sim = ss.Simulation(sliding_block(mu), method="expo/paper", dt=dt)
    sim.step(round(1.0 / dt))
    sim.set_state(q=sim.state.q, v=[1.0, 0.0, 0.0])
    sim.step(round(0.05 / dt))
    before = sim.state.v[0]
    sim.step(round(0.05 / dt))
    deceleration = (before - sim.state.v[0]) / 0.05
    loss = B * dt / (2.0 * M)
    assert deceleration == pytest.approx(mu * G / (1.0 + loss), rel=3.0 * loss**2 + K / M * dt**2)
    assert abs(deceleration / (mu * G) - 1.0) > 0.5 * loss


def test_slip_ends_at_rest():
    sim = ss.Simulation(sliding_block(0.5), method="expo/paper", dt=1e-3)
    sim.step(200)
    sim.set_state(q=sim.state.q, v=[0.3, 0.4, 0.0])
    sim.step(1000)
    assert np.abs(sim.state.v).max() < 1e-9
    assert not sim.stepper.memory()["anchor_velocity"].any()
    along = sim.state.q[:2]
    assert along[0] / along[1] == pytest.approx(0.75, rel=1e-6), "friction acts against the slip"


@pytest.mark.parametrize("matmuls", ["auto", *range(7)])
def test_numbers_of_products_give_the_approximants_of_expo(matmuls):
    """Padé approximants do not depend on the scaling of the matrix: dense or by poles, they are the same."""
    ends = []
    like = {"freeze": "start", "events": "none", "slip": "project", "rest": "detected", "order": 1}
    for method, options in (("expo/paper", {}), ("expo", like)):
        sim = ss.Simulation(sliding_block(1e6), method=method, dt=1e-3, matmuls=matmuls, **options)
        sim.set_state(q=[0, 0, -1e-4], v=[1e-3, 0, -0.05])
        sim.step(3)
        ends.append(np.concatenate([sim.state.q, sim.state.v]))
    assert np.abs(ends[0] - ends[1]).max() < 1e-12


def test_with_a_python_collision_function():
    """The stages are the same step, and a snapshot in the middle of a slide holds the anchor's velocity."""
    mu, dt, steps = 0.5, 1e-3, 12

    def collide(sim):
        sim.contacts.clear()
        x, y, z = sim.kinematics.pos[1]
        sim.contacts.add(0, 1, (x, y, z), (0, 0, 1), z, pair=0, friction=mu, stiffness=K, damping=B)

    sim = ss.Simulation(sliding_block(mu), method="expo/paper", dt=dt, collision=collide)
    p, v = np.array([0.0, 0.0, -1e-4]), np.array([0.3, 0.0, -0.05])
    expected, slipped = written_out(p, v, mu, dt, steps)
    assert all(slipped)
    sim.set_state(q=p, v=v)
    sim.step(6)
    assert sim.stepper.memory()["anchor_velocity"].any()
    saved = sim.snapshot()
    for _ in range(2):
        sim.restore(saved)
        sim.step(6)
        assert np.abs(np.concatenate([sim.state.q, sim.state.v]) - expected[-1]).max() <= 1e-11


def test_observing_moves_no_anchor():
    ends = []
    for looks in (False, True):
        sim = ss.Simulation(sliding_block(0.5), method="expo/paper", dt=1e-3)
        sim.set_state(q=[0, 0, -1e-3], v=[1.0, 0, 0])
        for _ in range(10):
            sim.step(1)
            if looks:
                sim.observe()
        ends.append(sim.state.q.copy())
    assert np.array_equal(*ends)


@pytest.mark.parametrize(("name", "other"), [
    ("freeze", "middle"), ("events", "touchdown"), ("order", 2), ("slip", "solve"), ("rest", "surface"),
    ("tolerance", 1e-8), ("matmuls", "pade"), ("slip", None), ("tolerance", np.ones(2)),
])  # fmt: skip
def test_what_the_paper_fixes_is_refused_by_name(name, other):
    with pytest.raises(InputError, match=f"^{name} of expo/paper: expected ") as refused:
        ss.Simulation(sliding_block(), method="expo/paper", dt=1e-3, **{name: other})
    assert len(str(refused.value)) < 300


def test_the_papers_own_choices_may_be_given():
    sim = ss.Simulation(sliding_block(), method="expo/paper", dt=1e-3, matmuls=2, loop_damping=1.0, **PAPER)
    assert {name: getattr(sim.stepper.options, name) for name in PAPER} == PAPER
    plain = ss.Simulation(sliding_block(), method="expo", dt=1e-3)
    assert plain.stepper.options.freeze == "middle"
    assert "anchor_velocity" not in plain.stepper.memory()


# -- what the paper does not have --------------------------------------------------------------------------------------


def test_a_preloaded_spring_rests_further_out():
    scene = ss.Scene()
    scene.add_plane(stiffness=K, damping=B, preload=5.0)
    scene.add_box((0.2, 0.2, 0.2), pos=(0, 0, 0.1 - 1e-4), mass=1.0)
    sim = ss.Simulation(scene, method="expo/paper", dt=1e-3)
    sim.step(1000)
    assert 0.1 - sim.state.q[2] == pytest.approx(1e-4 + (G - 5.0) / K, rel=1e-6)


def test_a_block_rides_on_a_belt():
    scene = ss.Scene()
    scene.add_box((4, 4, 0.2), pos=(0, 0, -0.1), joint="fixed", friction=0.5, surface_velocity=(0.1, 0.05, 0))
    scene.add_box((0.2, 0.2, 0.2), pos=(0, 0, 0.1), mass=1.0, friction=0.5)
    sim = ss.Simulation(scene, method="expo/paper", dt=5e-4)
    sim.step(200)
    assert sim.state.v[:2] == pytest.approx([0.1, 0.05], rel=0.01)
    assert np.abs(sim.state.v[2:]).max() < 1e-3


@pytest.mark.parametrize(("pull", "hangs"), [(15.0, True), (5.0, False)])
def test_a_block_hangs_by_adhesion_or_falls(pull, hangs):
    """A contact that is near but does not touch pulls without a spring."""
    scene = ss.Scene()
    scene.add_box((1, 1, 0.2), pos=(0, 0, 0.1), joint="fixed", adhesion=pull / 4, gap=1e-4)
    scene.add_box((0.2, 0.2, 0.2), pos=(0, 0, -0.1 - 1e-5), mass=1.0)
    sim = ss.Simulation(scene, method="expo/paper", dt=1e-3)
    sim.step(100)
    assert (abs(sim.state.q[2] + 0.1) < 3e-4) == hangs


def test_spin_slows_down_at_the_analytic_rate():
    """A ball that spins on its spot under τ = μ_t·m·g, after its springs have come to rest."""
    torsion, inertia = 0.01, 0.4 * 0.1**2
    scene = ss.Scene()
    scene.add_plane(friction=0.5)
    scene.add_sphere(0.1, pos=(0, 0, 0.1), mass=1.0, torsion=torsion)
    sim = ss.Simulation(scene, method="expo/paper", dt=1e-3)
    sim.set_state(v=[0, 0, 0, 0, 0, 8.0])
    sim.step(200)
    before = sim.state.v[5]
    sim.step(50)
    assert (before - sim.state.v[5]) / 0.05 == pytest.approx(torsion * G / inertia, rel=1e-6)


def test_buffers_that_grow_change_nothing():
    """Twelve rolling spheres on one body: more rows than there is room for at first."""
    ends = []
    for roomy in (False, True):
        scene = ss.Scene()
        scene.add_plane(friction=0.5)
        body = scene.add_body("skate", pos=(0, 0, 0.0999))
        body.set_inertia(2.0, inertia=(0.1, 0.1, 0.1))
        for k in range(12):
            body.add_sphere(0.1, pos=(0.3 * np.cos(k), 0.3 * np.sin(k), 0), mass=0.0)
        sim = ss.Simulation(scene, method="expo/paper", dt=5e-3)
        sim.set_state(v=[0.5, 0.1, 0, 0, 0, 1.0])
        while roomy and len(sim.stepper.expo.island.y) < 36:
            sim.stepper.grow()
        sim.step(5)
        assert len(sim.contacts) == 12
        ends.append(np.concatenate([sim.state.q, sim.state.v]))
    assert np.array_equal(*ends)


def test_a_step_that_ends_badly_leaves_the_anchors_as_they_were():
    sim = ss.Simulation(sliding_block(0.5), method="expo/paper", dt=1e-3)
    sim.set_state(q=[0, 0, -1e-3], v=[1.0, 0, 0])
    sim.step(5)
    before = {name: array.copy() for name, array in sim.stepper.memory().items()}
    assert before["anchor_velocity"].any()
    sim.inputs.applied[0] = 1e300
    with pytest.raises(ss.DivergedError):
        sim.step(1)
    assert all(np.array_equal(array, before[name]) for name, array in sim.stepper.memory().items())
