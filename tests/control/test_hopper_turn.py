"""The hopper jumps, turns once and lands on its foot, with rigid contacts; its plan flies as bodies do."""

import numpy as np
import pytest

import stickslip as ss
from stickslip.control.references import HopperTurn
from stickslip.errors import InputError
from stickslip.model.builders import add_hopper


def hopper_model():
    scene = ss.Scene()
    scene.add_plane(friction=0.2)
    add_hopper(scene)
    return scene.compile()


@pytest.fixture(scope="module")
def jumped():
    entry = ss.SCENES["hopper-turn"]
    setup = entry.build()
    sim = ss.Simulation(setup.scene, method=entry.method, dt=entry.dt, user=setup.user)
    log = sim.run(entry.time, controller=setup.controller, control_dt=setup.control_dt, record_dt=2e-3, progress=False)
    return setup.controller, sim, log


def turned(axis, q):
    """[rad] about the axis, counted on through whole turns."""
    return np.unwrap(2.0 * np.arctan2(q[:, 4:7] @ axis, q[:, 3]), period=2.0 * np.pi)


def test_one_turn_about_the_axis_and_no_other(jumped):
    turn, _, log = jumped
    angle = np.rad2deg(turned(turn.axis, log.q))
    landed = np.argmin(np.abs(log.time - turn.land))
    assert turn.axis == pytest.approx([np.sqrt(0.5), np.sqrt(0.5), 0.0])
    assert angle[landed] == pytest.approx(360.0, abs=1.0)
    assert angle[-1] == pytest.approx(360.0, abs=0.5)
    across = log.q[:, 4:7] - np.outer(log.q[:, 4:7] @ turn.axis, turn.axis)
    assert np.linalg.norm(across, axis=1).max() < 1e-3


def test_flies_as_long_as_planned_and_lands_where_it_left(jumped):
    turn, sim, log = jumped
    foot = np.array([sim.dynamics.frame_pose(q, "hopper_foot")[0] for q in log.q])
    air = log.time[foot[:, 2] > 1e-6]
    assert air[0] == pytest.approx(turn.leave, abs=6e-3)
    assert air[-1] == pytest.approx(turn.land, abs=6e-3)
    assert foot[:, 2].min() > -1e-8
    assert np.abs(foot[-1, :2]).max() < 0.02
    assert np.abs(log.q[-1, 2] - 0.8) < 1e-3
    assert np.abs(log.v[-1]).max() < 0.02


def test_the_plan_is_smooth_and_flies_on_a_parabola():
    turn = HopperTurn(hopper_model(), speed=3.5)
    t = np.linspace(0.0, turn.duration, 4001)
    s, rate, _ = np.array([turn.slide(x) for x in t]).T
    inside = (np.abs(t[1:-1] - turn.land) > 2e-3) & (np.abs(t[1:-1] - turn.leave) > 2e-3)
    np.testing.assert_allclose(((s[2:] - s[:-2]) / (t[2] - t[0]))[inside], rate[1:-1][inside], atol=2e-2)
    mass, pole = 1.0, 0.2
    up, fall = 3.5 * mass / (mass + pole), (turn.slide(turn.leave)[0] - turn.slide(turn.land)[0]) * mass / (mass + pole)
    flight = turn.land - turn.leave
    assert up * flight - 9.81 * flight**2 / 2 == pytest.approx(
        fall, abs=1e-9
    )  # the centre of mass, upright at both ends
    assert turn.angle(turn.leave)[0] == 0.0
    assert turn.angle(turn.land)[0] == pytest.approx(2.0 * np.pi)


def test_what_makes_no_sense_is_refused():
    for options in ({"speed": 1.0}, {"axis": (0.0, 0.0, 1.0)}, {"axis": (0.0, 0.0, 0.0)}, {"turns": "one"}):
        with pytest.raises(InputError):
            HopperTurn(hopper_model(), **options)
    with pytest.raises(InputError, match="hopper"):
        HopperTurn(ss.SCENES["ball"].build().scene.compile())
