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
"""Methods whose springs give bodies the energy of the overlap."""


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
    assert speed < (200.0 if method in SPRINGS else 50.0)
    sim.observe()
    depth = -sim.contacts.arrays.gap[: len(sim.contacts)].min(initial=0.0)
    assert depth > 0.9 * DEPTH if method in NEVER else depth < 2e-3


@pytest.mark.parametrize("method", METHODS)
def test_links_that_cannot_part_push_with_a_bounded_force(method):
    sim, force, speed = run(method, 0.01)
    assert sim.stepper.unconverged == 0
    assert force < 1e4
    assert speed < (60.0 if method in SPRINGS else 10.0)
    assert np.abs(sim.state.v).max() < (1.0 if method in SPRINGS else 0.1)


@pytest.mark.parametrize("method", [f"coulomb/{solver}" for solver in METHODS["coulomb"].capabilities.variants])
def test_every_solver_bounds_the_force_of_a_blocked_overlap(method):
    assert run(method, 0.01)[1] < 1e4


@pytest.mark.parametrize("method", RIGID)
def test_free_bodies_part_at_the_speed_that_their_size_gives(method):
    """A radius in 0.2 s, and with recovery_time = 0 all in the first step, as in the papers."""
    scene = ss.Scene(gravity=(0, 0, 0))
    for name, x in (("one", 0.0), ("two", 2 * RADIUS - DEPTH)):
        scene.add_sphere(RADIUS, pos=(x, 0, 0), mass=1.0, name=name)
    for time, bound in ((0.2, RADIUS / 0.2), (0.05, RADIUS / 0.05), (0, np.inf)):
        sim = ss.Simulation(scene, method=method, dt=0.01, recovery_time=time)
        with pytest.warns(StartWarning, match="'two' 0.05 m inside 'one': it is pushed out"):
            sim.step(1)
        part = 0.2 if method == "coulomb" else 1.0
        speed = sim.state.v[6] - sim.state.v[0]
        assert speed == pytest.approx(min(bound, part * DEPTH / sim.dt), rel=1.1 * YIELD)


@pytest.mark.parametrize("method", [*RIGID, "relaxed"])
@pytest.mark.parametrize(("joint", "bound"), [("hinge", 5.0), ("slide", np.hypot(0.02, 0.15) / 0.2)])
def test_joints_outside_their_range_return_gently(method, joint, bound):
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_capsule(0.02, 0.3, name="arm", joint=joint, range=(0.5, 1.0))
    sim = ss.Simulation(scene, method=method, dt=0.01)
    with pytest.warns(StartWarning, match="joint 'arm' at 0, outside its range 0.5 … 1: it is put back"):
        sim.step(1)
    assert sim.state.v[0] == pytest.approx(bound, rel=0.02)
    sim.step(100)
    assert sim.state.q[0] >= 0.5 - 1e-6


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
