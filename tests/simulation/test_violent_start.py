"""Starts with links inside each other, or with joints outside their range: announced by name, and undone gently."""

import numpy as np
import pytest

import stickslip as ss
from stickslip.errors import InputError, StartWarning
from stickslip.methods.recovery import YIELD
from stickslip.methods.registry import METHODS

DEPTH = 0.05
RADIUS = 0.05
RIGID = ("stewart-trinkle", "peg", "coulomb", "variational")
NEVER = ("anitescu-potra", "bilateral")
"""Methods that never push bodies out."""
SPRINGS = ("semi-implicit-euler", "euler", "rk4", "implicit-euler", "expo", "event-selected")
"""Methods with spring-damper contacts, whose rest points move."""


def chain(reach: float) -> ss.Scene:
    """Three links; the last one starts 5 cm inside the first, and its joints may turn by ``reach`` [rad]."""
    scene = ss.Scene(gravity=(0, 0, 0))
    first = scene.add_sphere(RADIUS, name="first", mass=1.0)
    options = {"joint": "hinge", "axis": (0, 1, 0), "range": (-reach, reach), "damping": 0.02}
    middle = scene.add_body("middle", parent=first, pos=(0.1, 0, 0), **options)
    middle.add_sphere(0.01, mass=0.1, collide=False)
    scene.add_body("last", parent=middle, pos=(-0.1, 0, DEPTH), **options).add_sphere(RADIUS, mass=0.5)
    return scene


def run(method: str, reach: float, seconds: float = 0.5, **options) -> tuple[ss.Simulation, float, float]:
    """The simulation, its largest force and its largest speed."""
    sim = ss.Simulation(chain(reach), method=method, **options)
    force = speed = 0.0
    with pytest.warns(StartWarning, match=r"'last' 0\.05 m inside 'first'"):
        sim.step(1)
    for _ in range(100):
        sim.step(max(1, round(seconds / sim.dt / 100)))
        n = len(sim.contacts)
        force = max(force, np.abs(sim.contacts.arrays.force[:n]).max(initial=0.0))
        speed = max(speed, np.abs(sim.state.v).max())
    return sim, force, speed


@pytest.mark.parametrize("method", METHODS)
def test_links_that_overlap_part_gently(method):
    sim, force, speed = run(method, 1.5)
    assert sim.stepper.unconverged == 0
    assert force < 1e4
    assert speed < (5.0 if method in SPRINGS else 50.0)
    sim.observe()
    depth = -sim.contacts.arrays.gap[: len(sim.contacts)].min(initial=0.0)
    assert depth > 0.9 * DEPTH if method in NEVER else depth < 2e-3


@pytest.mark.parametrize("method", METHODS)
def test_links_that_cannot_part_push_with_a_bounded_force(method):
    sim, force, speed = run(method, 0.01)
    assert sim.stepper.unconverged == 0
    assert force < 1e4
    assert speed < 10.0
    assert np.abs(sim.state.v).max() < 0.1


@pytest.mark.parametrize("method", [f"coulomb/{solver}" for solver in METHODS["coulomb"].capabilities.variants])
def test_every_solver_bounds_the_force_of_a_blocked_overlap(method):
    assert run(method, 0.01)[1] < 1e4


def two_spheres() -> ss.Scene:
    scene = ss.Scene(gravity=(0, 0, 0))
    for name, x in (("one", 0.0), ("two", 2 * RADIUS - DEPTH)):
        scene.add_sphere(RADIUS, pos=(x, 0, 0), mass=1.0, name=name)
    return scene


@pytest.mark.parametrize("method", SPRINGS)
def test_springs_part_free_bodies_at_that_speed(method):
    """Springs and dampers follow their rest points, also in long steps; with recovery_time = 0 they throw bodies out
    with the energy of the overlap, less what the dampers take."""
    dt = 0.01 if method in ("implicit-euler", "expo", "event-selected") else None
    for time, bound in ((0.2, RADIUS / 0.2), (0.05, RADIUS / 0.05), (0, np.inf)):
        sim = ss.Simulation(two_spheres(), method=method, dt=dt, recovery_time=time)
        fastest = 0.0
        with pytest.warns(StartWarning, match="'two' 0.05 m inside 'one': it is pushed out"):
            sim.step(1)
        for _ in range(40):
            sim.step(round(0.01 / sim.dt))
            fastest = max(fastest, sim.state.v[6] - sim.state.v[0])
        if time > 0:
            assert fastest <= 1.3 * bound
            assert sim.state.v[6] - sim.state.v[0] == pytest.approx(bound, rel=0.3)
        else:
            assert fastest > 1.5
        assert sim.state.q[7] - sim.state.q[0] > 2 * RADIUS


def crowded(offset: float = 0.0) -> ss.Scene:
    """Two boxes on a floor that overlap by half, and an arm outside its range."""
    scene = ss.Scene()
    scene.add_plane()
    scene.add_box((0.2, 0.2, 0.2), pos=(offset, 0, 0.1), mass=4.0, name="low")
    scene.add_box((0.2, 0.2, 0.2), pos=(0.01 + offset, 0.02, 0.2), mass=4.0, name="high")
    scene.add_capsule(0.02, 0.3, pos=(1, 0, 1), name="arm", joint="hinge", axis=(0, 0, 1), range=(0.8, 1.0))
    return scene


@pytest.mark.filterwarnings("ignore::stickslip.StartWarning")
@pytest.mark.parametrize("method", SPRINGS)
def test_snapshots_continue_a_recovery_exactly(method):
    sim = ss.Simulation(crowded(), method=method)
    speed = turn = 0.0
    for k in range(100):
        sim.step(round(0.01 / sim.dt))
        speed, turn = max(speed, np.abs(sim.state.v[:12]).max()), max(turn, abs(sim.state.v[12]))
        if k == 5:
            halfway = sim.snapshot()
        if k == 8:
            later = sim.state.q.copy()
    assert speed < 2.0 * sim.stepper.recovery.speed
    assert turn < 1.1 * sim.stepper.recovery.rate
    sim.observe()
    assert -sim.contacts.arrays.gap[: len(sim.contacts)].min() < 1.5e-3
    assert sim.state.q[14] > 0.8 - 1e-3
    assert not np.any(sim.stepper.memory()["beyond"])
    assert np.all(sim.stepper.memory()["rest"] == 0.0)
    sim.restore(halfway)
    sim.step(3 * round(0.01 / sim.dt))
    np.testing.assert_array_equal(sim.state.q, later)


@pytest.mark.filterwarnings("ignore::stickslip.StartWarning")
def test_stages_recover_as_the_compiled_step_does():
    ends = []
    for stages in ({}, {"collision": lambda sim: sim.builtin_stages["collision"](sim)}):
        sim = ss.Simulation(crowded(), dt=1e-3, **stages)
        sim.step(60)
        ends.append(sim.state.q.copy())
    np.testing.assert_allclose(*ends, rtol=0, atol=1e-12)


@pytest.mark.parametrize("method", SPRINGS)
def test_a_start_at_rest_is_left_alone(method):
    """A body that starts where its weight presses it, 8 cm deep in something soft, is no violent start."""
    scene = ss.Scene()
    scene.add_plane(stiffness=1e3, damping=50.0)
    scene.add_box((0.4, 0.4, 0.4), pos=(0, 0, 0.2 - 8 * 9.81 / 1e3), mass=8.0)
    sim = ss.Simulation(scene, method=method)
    sim.step(round(0.05 / sim.dt))  # a warning would be an error
    assert np.abs(sim.state.v).max() < 1e-9


@pytest.mark.parametrize("method", RIGID)
def test_free_bodies_part_at_the_speed_that_their_size_gives(method):
    """A radius in 0.2 s, and with recovery_time = 0 all in the first step, as in the papers."""
    scene = two_spheres()
    for time, bound in ((0.2, RADIUS / 0.2), (0.05, RADIUS / 0.05), (0, np.inf)):
        sim = ss.Simulation(scene, method=method, dt=0.01, recovery_time=time)
        with pytest.warns(StartWarning, match="'two' 0.05 m inside 'one': it is pushed out"):
            sim.step(1)
        part = 0.2 if method == "coulomb" else 1.0
        speed = sim.state.v[6] - sim.state.v[0]
        assert speed == pytest.approx(min(bound, part * DEPTH / sim.dt), rel=1.1 * YIELD)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("joint", "bound"), [("hinge", 5.0), ("slide", np.hypot(0.02, 0.15) / 0.2)])
def test_joints_outside_their_range_return_gently(method, joint, bound):
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_capsule(0.02, 0.3, name="arm", joint=joint, range=(0.5, 1.0))
    sim = ss.Simulation(scene, method=method, dt=0.01 if method in (*RIGID, "relaxed") else None)
    remedy = "start elsewhere, by scene.set_home or sim.set_state"
    with pytest.warns(StartWarning, match=f"joint 'arm' at 0, outside its range 0.5 … 1: .*; {remedy}"):
        sim.step(1)
    if method in (*RIGID, "relaxed"):
        assert sim.state.v[0] == pytest.approx(bound, rel=0.02)
    fastest = 0.0
    for _ in range(100):
        sim.step(round(0.01 / sim.dt))
        fastest = max(fastest, sim.state.v[0])
    if method in (*SPRINGS, "bilateral"):
        assert 0.9 * bound < fastest < 1.05 * bound
    assert sim.state.q[0] == 0.0 if method == "anitescu-potra" else sim.state.q[0] >= 0.5 - 1e-3


def test_a_shallow_overlap_is_as_it_was():
    """Below two per cent of the bound nothing is changed, to the last bit."""
    scene = ss.Scene()
    scene.add_plane()
    scene.add_box((0.1, 0.1, 0.1), pos=(0, 0, 0.05 - 4e-5), mass=1.0)
    ends = []
    for time in (0.2, 0):
        sim = ss.Simulation(scene, method="coulomb", dt=0.01, recovery_time=time)
        sim.step(50)
        ends.append(sim.state.q.copy())
    np.testing.assert_array_equal(*ends)


def test_a_start_is_announced_once_and_again_after_reset():
    sim = ss.Simulation(chain(1.5))
    with pytest.warns(StartWarning, match="'last'"):
        sim.warm_up() and sim.step()
    sim.step()  # a warning would be an error
    sim.reset()
    with pytest.warns(StartWarning, match="'last'"):
        sim.run(0.01)


def test_recovery_time_is_a_time():
    with pytest.raises(InputError, match=r"recovery_time: expected a time ≥ 0 \[s\]"):
        ss.Simulation(chain(1.5), method="coulomb", recovery_time=-1)
    with pytest.raises(InputError, match="recovery_time: anitescu-potra has no such option: it never pushes"):
        ss.Simulation(chain(1.5), method="anitescu-potra", recovery_time=1)
