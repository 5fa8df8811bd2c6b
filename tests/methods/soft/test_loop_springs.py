"""Closed loops as springs and dampers: they sag by weight over stiffness, hold poses, and Expo has them exactly."""

import numpy as np
import pytest

import stickslip as ss
from stickslip.dynamics import Dynamics
from stickslip.methods.registry import METHODS
from stickslip.methods.soft.loop_springs import SAG
from stickslip.methods.soft.viscoelastic import Viscoelastic

G = 9.81
SPRINGS = [name for name, kind in METHODS.items() if issubclass(kind, Viscoelastic)]
LENGTH = 0.5


def pendulum(loop: bool, mass: float = 2.0) -> ss.Scene:
    """A bar that swings about y at its upper end: by a hinge, or a free bar whose end is connected to the world."""
    scene = ss.Scene(gravity=(0, 0, -G))
    joint = "free" if loop else "hinge"
    body = scene.add_body("bar", joint=joint, **({} if loop else {"axis": (0, 1, 0)}))
    body.add_box((0.04, 0.04, LENGTH), pos=(0, 0, -LENGTH / 2), mass=mass, collide=False)
    if loop:
        scene.connect(body, pos=(0, 0, 0), name="pin")
    return scene


def pair(kind: str, gravity: float = 0.0) -> ss.Scene:
    """Two free boxes of 1 and 2 kg, side by side, held together by a weld or at a point between them."""
    scene = ss.Scene(gravity=(0, 0, -gravity))
    scene.add_box((0.2, 0.2, 0.2), pos=(0, 0, 1), mass=1.0, name="one", collide=False)
    scene.add_box((0.2, 0.2, 0.2), pos=(0.5, 0, 1), mass=2.0, name="two", collide=False)
    if kind == "weld":
        scene.weld("one", "two", name="loop")
    else:
        scene.connect("one", "two", pos=(0.25, 0, 0), name="loop")
    return scene


def observed(sim: ss.Simulation) -> np.ndarray:
    """(loops, 2) openings and their rates at the present state."""
    sim.observe()
    return sim.stepper.joint_error()


def energy(sim: ss.Simulation) -> float:
    sim.observe()
    return sum(sim.dynamics.energy(sim.state.q, sim.state.v)) + sim.stepper.contact_energy()


@pytest.mark.parametrize("method", SPRINGS)
def test_a_body_hangs_open_by_weight_over_stiffness(method):
    """The default stiffness of a connect at the centre of mass: SAG. Loops are no contacts."""
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_sphere(0.1, mass=3.0, name="ball", collide=False)
    scene.connect("ball", name="pin")
    for K, opening in ((None, SAG), (2000.0, 3.0 * G / 2000.0)):
        B = None if K is None else 150.0
        sim = ss.Simulation(scene, method, dt=1e-3, loop_stiffness=K, loop_damping=B)
        sim.step(1000)
        np.testing.assert_allclose(observed(sim)[0], (opening, 0.0), rtol=1e-5, atol=1e-9)
        assert sim.stepper.contact_energy() == pytest.approx(0.5 * 3.0 * G * opening, rel=1e-4)
        assert sim.stepper.constraint_names == ("pin",)
        assert len(sim.contacts) == 0


@pytest.mark.parametrize("method", ["rk4", "event-selected", "expo", "expo/paper"])
def test_a_stiffer_loop_is_nearer_to_the_rigid_joint(method):
    """A pendulum on a spring beside one on a hinge: their difference is proportional to 1/K."""
    rigid = ss.Simulation(pendulum(loop=False), "rk4/none", dt=1e-3)
    rigid.set_state(q=[0.6])
    rigid.step(300)
    errors = []
    for K in (2e4, 8e4):
        sim = ss.Simulation(pendulum(loop=True), method, dt=1e-4, loop_stiffness=K)
        sim.set_state(q=[0, 0, 0, np.cos(0.3), 0, np.sin(0.3), 0])
        sim.step(3000)
        errors.append(abs(2.0 * np.arctan2(sim.state.q[5], sim.state.q[3]) - rigid.state.q[0]))
    assert errors[0] < 0.01
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.3), errors


@pytest.mark.parametrize("method", SPRINGS)
def test_a_weld_of_springs_holds_a_pose(method):
    """Two free boxes turn as one about their common centre; momentum and angular momentum stay."""
    sim = ss.Simulation(pair("weld"), method, dt=1e-4)
    spin = np.array([0.3, 1.0, 0.5])
    arm = np.array([0.5, 0.0, 0.0])
    middle = np.cross(spin, arm) * 2.0 / 3.0
    sim.set_state(v=[*-middle, *spin, *(np.cross(spin, arm) - middle), *spin])
    before = sim.dynamics.momentum(sim.state.q, sim.state.v, about=(0.0, 0.0, 1.0))
    opened = 0.0
    for _ in range(10):
        sim.step(500)
        opened = max(opened, observed(sim)[0, 0])
    assert 1e-7 < opened < 1e-4
    after = sim.dynamics.momentum(sim.state.q, sim.state.v, about=(0.0, 0.0, 1.0))
    np.testing.assert_allclose(after[:3], before[:3], atol=1e-12)
    np.testing.assert_allclose(after[3:], before[3:], atol=1e-8 if METHODS[method].capabilities.order > 1 else 1e-3)
    if method == "implicit-euler":
        assert sim.stepper.iterations <= 4  # the derivatives are exact
        assert sim.stepper.unconverged == 0


def test_a_weld_carries_a_lever():
    """A free box hangs sideways from one that slides along x: its far end sags by less than a millimetre."""
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_box((0.2, 0.2, 0.2), pos=(0, 0, 1), mass=1.0, name="one", collide=False)
    cart = scene.add_body("cart", joint="slide", axis=(1, 0, 0), pos=(0.5, 0, 1))
    cart.add_box((0.2, 0.2, 0.2), mass=2.0, collide=False)
    scene.weld("one", cart, name="arm")
    sim = ss.Simulation(scene, "expo", dt=0.01)
    sim.step(100)
    assert np.all(observed(sim)[:, 0] < 1e-3)
    height = sim.state.q[sim.model.nq - 5 if sim.model.joint_names[0] == "cart" else 2]
    assert 1e-5 < 1.0 - height < 1e-3
    assert np.abs(sim.state.v).max() < 1e-9


@pytest.mark.filterwarnings("ignore::stickslip.errors.StartWarning")
@pytest.mark.parametrize("kind", ["connect", "weld"])
def test_expo_is_exact_for_linear_loops(kind):
    """Two masses on slides joined by a loop, no contacts: a step of 0.1 s equals a hundred of 1 ms."""
    slides = "".join(f'<joint type="slide" axis="{axis}"/>' for axis in ("1 0 0", "0 1 0", "0 0 1"))
    bodies = "".join(
        f'<body name="{name}" pos="{x} 0 0">{slides}<inertial pos="0 0 0" mass="{mass}" diaginertia="1 1 1"/></body>'
        for name, x, mass in (("a", 0.0, 1.0), ("b", 0.3, 3.0))
    )
    anchor = 'anchor="0.1 0 0"' if kind == "connect" else ""
    scene = ss.Scene.from_xml(
        f"""<mujoco><worldbody>{bodies}</worldbody>
        <equality><{kind} name="loop" body1="a" body2="b" {anchor}/></equality></mujoco>"""
    )
    ends = []
    for steps in (1, 100):
        sim = ss.Simulation(scene, "expo", dt=0.1 / steps, loop_stiffness=5e3, loop_damping=20.0)
        sim.set_state(q=[0.01, 0.02, -0.01, 0.0, 0.0, 0.03], v=[1.0, -1.0, 0.5, 0.2, 0.0, -0.3])
        sim.step(steps)
        ends.append(np.concatenate([sim.state.q, sim.state.v]))
    np.testing.assert_allclose(*ends, rtol=0, atol=1e-9)
    rigid = Dynamics(scene.compile()).momentum(ends[0][:6], ends[0][6:])[:3]
    np.testing.assert_allclose(rigid, [1.6, -1.0, -0.4 - 4.0 * G * 0.1], atol=1e-12)


@pytest.mark.parametrize("method", SPRINGS)
def test_undamped_loops_keep_their_energy(method):
    """A pendulum on an undamped spring: energy is kept as well as the method's order allows."""
    dt = 2e-4
    sim = ss.Simulation(pendulum(loop=True), method, dt=dt, loop_stiffness=2e4, loop_damping=0.0)
    sim.set_state(q=[0, 0, 0, np.cos(0.3), 0, np.sin(0.3), 0])
    start = energy(sim)
    for _ in range(10):
        sim.step(100)
        change = energy(sim) - start
    allowed = {"rk4": 1e-6, "event-selected": 1e-5, "expo": 1e-3, "semi-implicit-euler": 2e-3}.get(method, 0.05)
    assert abs(change) < allowed  # of 1.7 J that move


def test_expo_holds_very_stiff_loops_at_long_steps():
    """A four-bar with 100 times the default stiffness, whose fastest oscillation lasts 1 ms, opens by micrometres."""
    for dt, most in ((2e-3, 5e-6), (1e-2, 3e-4)):
        sim = ss.Simulation(ss.SCENES["four-bar"].build().scene, "expo", dt=dt, loop_stiffness=5e6)
        opened = 0.0
        for _ in range(round(1.0 / dt)):
            sim.step()
            opened = max(opened, observed(sim)[0, 0])
        assert opened < most
        assert abs(sim.state.q[0] + 5.8) < 0.2


def test_stable_steps_know_the_loops():
    """Explicit steps: K·w·dt² + 2·B·w·dt < 4, and by default dt is half of that or less."""
    sim = ss.Simulation(pendulum(loop=True), "semi-implicit-euler", loop_stiffness=1e8, loop_damping=0.0)
    limit = sim.stepper.stable_dt(sim.state)
    W = sim.dynamics.delassus(sim.state.q, [0], [1], np.zeros((1, 3)), np.eye(3)[None])
    assert limit == pytest.approx(2.0 / np.sqrt(1e8 * np.linalg.eigvalsh(W)[-1]), rel=1e-6)
    assert sim.dt <= 0.5 * limit


@pytest.mark.parametrize(("method", "dt"), [("semi-implicit-euler", 1e-4), ("expo", 2e-3)])
def test_loops_and_contacts_in_one_buffer(method, dt):
    """Nine balls in a row on the floor: contacts are listed alone and carry the weight; so with stages in Python."""
    ends = []
    for stages in ({}, {"user": lambda sim: None}):
        scene = ss.Scene(gravity=(0, 0, -G))
        scene.add_plane()
        for k in range(9):
            scene.add_sphere(0.1, pos=(0.3 * k, 0, 0.0999), mass=1.0 + k, name=f"ball{k}")
            if k:
                scene.connect(f"ball{k - 1}", f"ball{k}", pos=(0.15, 0, 0))
        sim = ss.Simulation(scene, method, dt=dt, **stages)
        sim.step(round(0.5 / dt))
        sim.observe()
        assert len(sim.contacts) == 9
        force = sim.contacts.arrays.force[:9, 0]
        assert force.sum() == pytest.approx(45.0 * G, rel=1e-4)
        ends.append(sim.state.q.copy())
    np.testing.assert_allclose(*ends, atol=1e-12)


def test_recordings_have_openings_and_energy(tmp_path):
    sim = ss.Simulation(pendulum(loop=True), "expo", dt=1e-3)
    log = sim.run(0.2, record=tmp_path / "bar.h5")
    assert log.joint_error.shape[1:] == (1, 2)
    assert 0.0 < log.contact_energy[-1] < 0.1
    assert log.joint_error[-1, 0, 0] > 1e-5


@pytest.mark.parametrize("option", ["loop_stiffness", "loop_damping"])
def test_bad_options(option):
    with pytest.raises(ss.InputError, match=option):
        ss.Simulation(pendulum(loop=True), "expo", **{option: -1.0})
