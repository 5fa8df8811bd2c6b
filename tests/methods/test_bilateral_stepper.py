"""The stepper bilateral: what touches sticks, and pulls; stabilisation by choice."""

import numpy as np
import pytest

import stickslip as ss
from stickslip.constraints.bilateral import Baumgarte
from stickslip.errors import UnconvergedWarning

G = 9.81


def box_on_floor(height: float = 0.1, **options) -> ss.Scene:
    scene = ss.Scene()
    scene.add_plane(**options)
    scene.add_box((0.2, 0.2, 0.2), pos=(0, 0, height), mass=2.0, name="box")
    return scene


def test_a_box_stands_on_four_corners():
    """Twelve rows on one body: the forces are the smallest, a quarter of the weight each, and nothing moves."""
    sim = ss.Simulation(box_on_floor(), "bilateral", dt=0.005)
    sim.step(100)
    sim.observe()
    np.testing.assert_allclose(sim.state.q, [0, 0, 0.1, 1, 0, 0, 0], atol=1e-12)
    np.testing.assert_allclose(sim.contacts.arrays.force[:4], [[2.0 * G / 4, 0, 0]] * 4, atol=1e-9)
    assert sim.stepper.residual < 1e-8


def test_it_sticks_on_any_slope_and_pulls():
    """A force of four weights upwards: the floor holds the box. With ``release`` it lets it go."""
    for release in (False, True):
        sim = ss.Simulation(box_on_floor(friction=0.0), "bilateral", dt=0.005, release=release)
        sim.step(10)
        sim.inputs.wrench[1, 2] = 8.0 * G
        sim.step(40)
        sim.observe()
        if release:  # (4 − 1)·g·t²/2
            assert sim.state.q[2] == pytest.approx(0.1 + 0.5 * 3.0 * G * 0.2**2, rel=0.05)
        else:
            assert sim.state.q[2] == pytest.approx(0.1, abs=1e-12)
            np.testing.assert_allclose(sim.contacts.arrays.force[:4, 0], -6.0 * G / 4, rtol=1e-9)
        sim.inputs.wrench[1] = 0.0


def test_an_impact_is_inelastic():
    """A falling box stops at the floor within a step, with restitution not honoured."""
    sim = ss.Simulation(box_on_floor(0.3), "bilateral", dt=0.002)
    sim.step(round(0.3 / 0.002))
    assert 0.1 - 0.01 < sim.state.q[2] <= 0.1
    assert np.abs(sim.state.v).max() < 1e-9
    end = sim.state.q.copy()
    sim.step(100)
    np.testing.assert_allclose(sim.state.q, end, atol=1e-12)


def test_a_rod_on_its_tip_falls_about_it():
    """Held at one point it is a pendulum: energy stays, and the tip stays."""
    scene = ss.Scene()
    scene.add_plane()
    rod = scene.add_body("rod", pos=(0, 0, 0.5), quat=(np.cos(0.2), 0, np.sin(0.2), 0))
    rod.set_inertia(1.0, inertia=(1 / 12, 1 / 12, 1e-3))
    rod.add_contact_point("tip", pos=(0, 0, -0.5 / np.cos(0.4)))
    sim = ss.Simulation(scene, "bilateral", dt=0.001)
    start = sum(sim.dynamics.energy(sim.state.q, sim.state.v))
    tip = sim.dynamics.frame_pose(sim.state.q, "tip")[0]
    sim.step(300)
    assert sim.state.q[2] < 0.45
    assert sum(sim.dynamics.energy(sim.state.q, sim.state.v)) == pytest.approx(start, abs=0.02)
    np.testing.assert_allclose(sim.dynamics.frame_pose(sim.state.q, "tip")[0], tip, atol=1e-9)


def test_stabilisation_is_a_choice():
    """Drift of the four-bar: none at all, millimetres, or more and more."""
    drift = {}
    for choice in ("projection", "baumgarte", "none"):
        sim = ss.Simulation(ss.SCENES["four-bar"].build().scene, "bilateral", dt=0.002, stabilisation=choice)
        sim.step(1000)
        sim.observe()
        drift[choice] = sim.stepper.joint_error()[0, 0]
        gains = sim.stepper.result.stabilisation
        assert (gains is None) == (choice != "baumgarte")
    assert drift["projection"] < 1e-9 < drift["baumgarte"] < 2e-3 < drift["none"]


def test_solo12_stands_on_its_feet():
    """Sticking feet carry its weight; the motors hold."""
    setup = ss.SCENES["solo12-drop"].build()
    sim = ss.Simulation(setup.scene, "bilateral", dt=0.001)
    sim.run(0.5, controller=setup.controller)
    sim.observe()
    weight = G * sim.model.inertia.mass.sum()
    force = sim.contacts.arrays.force[: len(sim.contacts), 0].sum()
    assert len(sim.stepper.result.force) >= 12
    assert force == pytest.approx(weight, rel=0.1)


def test_snapshots_remember_what_is_held():
    sim = ss.Simulation(box_on_floor(0.12), "bilateral", dt=0.002)
    sim.step(60)
    snapshot = sim.snapshot()
    assert np.count_nonzero(snapshot.memory["held_pair"]) == 4
    sim.inputs.wrench[1, 2] = 50.0
    sim.step(20)
    end = sim.state.q.copy()
    sim.restore(snapshot)
    sim.inputs.wrench[1, 2] = 50.0
    sim.step(20)
    np.testing.assert_array_equal(sim.state.q, end)
    fresh = ss.Simulation(box_on_floor(0.12), "bilateral", dt=0.002)
    fresh.restore(snapshot)
    fresh.inputs.wrench[1, 2] = 50.0
    fresh.step(20)
    np.testing.assert_array_equal(fresh.state.q, end)


def test_stages_give_the_same_motion():
    """With a Python stage in place of the compiled ones."""
    plain, staged = (ss.Simulation(box_on_floor(0.12), "bilateral", dt=0.002) for _ in range(2))
    own = staged.builtin_stages["integrate"]
    staged.stages.integrate = lambda sim: own(sim)
    plain.step(80)
    staged.step(80)
    np.testing.assert_array_equal(plain.state.q, staged.state.q)


@pytest.mark.parametrize("stabilisation", ["projection", "baumgarte", "none"])
@pytest.mark.parametrize("dt", [0.5, 0.05])
def test_a_long_step_ends_on_the_floor(dt, stabilisation):
    """A flat box falls 1.9 m within one or many steps: the step is divided at the touchdown, where the box stays."""
    sim = ss.Simulation(box_on_floor(2.0), "bilateral", dt, stabilisation=stabilisation)
    sim.set_state(v=[3.0, 0, 0, 0, 0, 0])
    landing = np.sqrt(2.0 * 1.9 / G)
    sim.step(round(1.0 / dt))
    np.testing.assert_allclose(sim.state.q[2:], [0.1, 1, 0, 0, 0], atol=1e-9)
    assert sim.state.q[0] == pytest.approx(3.0 * landing, abs=0.5 * 3.0 * dt)  # first order: it falls ½·g·dt too fast
    assert np.abs(sim.state.v).max() < 1e-9


@pytest.mark.parametrize("dt", [0.5, 0.1])
def test_a_tumbling_box_lands_within_the_stated_depth(dt):
    """Corner after corner, each within 5 % of the box's radius, at steps in which it would fall through the floor."""
    sim = ss.Simulation(box_on_floor(2.0), "bilateral", dt)
    sim.set_state(v=[0, 0, 0, 1.0, 2.0, 3.0])
    for _ in range(round(3.0 / dt)):
        sim.step()
        sim.observe()
        assert sim.contacts.arrays.gap[: len(sim.contacts)].min(initial=0.0) > -0.05 * 0.1 * np.sqrt(3.0)
    assert np.abs(sim.state.v).max() < 1e-9
    assert sim.state.q[2] == pytest.approx(0.1, abs=0.05 * 0.1 * np.sqrt(3.0))


def test_python_stages_do_not_let_a_box_fall_through():
    sim = ss.Simulation(box_on_floor(2.0), "bilateral", 0.5, integrate=lambda sim: sim.builtin_stages["integrate"](sim))
    with pytest.raises(ss.InputError, match=r"ends .* m inside something.*smaller dt"):
        sim.step(3)


def test_without_contacts():
    sim = ss.Simulation(box_on_floor(0.1), "bilateral/none", dt=0.01)
    sim.step(10)
    assert sim.state.q[2] < 0.1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stabilisation": "springs"}, "unknown stabilisation 'springs'.*projection"),
        ({"stabilisation": Baumgarte(kp=1.0, kd=300.0), "dt": 0.01}, "kd: expected less than 2/dt"),
        ({"release": 1}, "release: expected True or False"),
        ({"touch": -1.0}, "touch: expected a distance"),
        ({"detector": "magic"}, "unknown detector"),
        ({"unconverged": "ignore"}, "unknown unconverged 'ignore'.*raise, warn"),
        ({"unconverged": "fallback"}, "unconverged: bilateral has no 'fallback'"),
        ({"fallback": "lemke"}, "fallback: bilateral has no such option"),
        ({"method": "bilateral/none", "touch": 0.1}, "touch: bilateral/none has no contacts"),
        ({"method": "bilateral/none", "release": True}, "release: bilateral/none has no contacts"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ss.InputError, match=message):
        ss.Simulation(box_on_floor(), **{"method": "bilateral", **options})


@pytest.mark.parametrize("stabilisation", ["projection", "none"])
def test_constraints_that_contradict_each_other(stabilisation):
    """Three points of a turning box cannot all stay without acceleration: the least-squares answer, and it is said."""
    boxes = ss.Scene()
    boxes.add_box((0.2, 0.2, 0.2), pos=(0, 0, 1), mass=1.0, name="one", collide=False)
    for k, pos in enumerate(((0.1, 0, 1), (0, 0.1, 1), (0, 0, 1.1))):
        boxes.connect("one", pos=pos, name=f"pin{k}")
    spin = [0, 0, 0, 1.0, 2.0, 3.0]
    sim = ss.Simulation(boxes, "bilateral", dt=0.01, stabilisation=stabilisation)
    sim.set_state(v=spin)
    with pytest.warns(UnconvergedWarning, match=r"1 of 1 steps .* contradict each other, sim.stepper.residual"):
        sim.step(1)
    assert sim.stepper.unconverged == 1
    assert sim.stepper.result.status == "conflict"
    assert sim.stepper.residual > 0.1
    strict = ss.Simulation(boxes, "bilateral", dt=0.01, stabilisation=stabilisation, unconverged="raise")
    strict.set_state(v=spin)
    start = strict.state.q.copy()
    with pytest.raises(ss.UnconvergedError, match=r"bilateral: conflict: .* miss by .*unconverged='warn'"):
        strict.step(1)
    np.testing.assert_array_equal(strict.state.q, start)
    np.testing.assert_array_equal(strict.state.v, spin)
