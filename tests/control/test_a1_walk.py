"""A1 walks with rigid contacts: forward, upright, foot by foot, without going into the floor."""

import numpy as np
import pytest

import stickslip as ss
from stickslip.control.references import tracked_trot
from stickslip.control.references.feet import A1_FEET
from stickslip.errors import InputError


@pytest.fixture(scope="module")
def walked():
    entry = ss.SCENES["a1-walk"]
    setup = entry.build(1.6)
    sim = ss.Simulation(setup.scene, method=entry.method, dt=entry.dt)
    log = sim.run(1.6, controller=setup.controller, control_dt=setup.control_dt, record_dt=2e-3, progress=False)
    height = np.array([[sim.dynamics.frame_pose(q, foot)[0][2] - 0.02 for foot in A1_FEET] for q in log.q])
    return setup.controller.reference, sim, log, height


def test_walks_forward_upright_and_stands(walked):
    reference, sim, log, _ = walked
    assert reference.q[-1, 0] > 0.1
    assert log.q[-1, 0] == pytest.approx(reference.q[-1, 0], abs=0.03)
    assert np.abs(log.q[:, 4:7]).max() < 0.03
    assert np.abs(log.v[-1]).max() < 0.05
    assert sim.stepper.unconverged == 0


def test_feet_swing_in_diagonals_and_stay_above_the_floor(walked):
    _, _, _, height = walked
    assert height.min() > -1e-8
    assert np.all(height.max(axis=0) > 0.04)
    up = height > 0.02
    assert np.mean(up[:, 0] == up[:, 3]) > 0.95
    assert np.mean(up[:, 1] == up[:, 2]) > 0.95
    assert not np.any(up[:, 0] & up[:, 1])


def test_gains_are_those_of_the_joints(walked):
    reference = walked[0]
    assert np.all(reference.gains[:, :, :6] == 0.0)
    assert np.all(reference.gains[:, :, 18:24] == 0.0)
    np.testing.assert_array_equal(reference.gains[3, :, 6:18], 100.0 * np.eye(12))
    np.testing.assert_array_equal(reference.gains[3, :, 24:], 2.0 * np.eye(12))


def test_negative_gains_are_refused(walked):
    with pytest.raises(InputError, match="kp"):
        tracked_trot(walked[1].model, kp=-1.0, kd=0.0, feet=A1_FEET)
