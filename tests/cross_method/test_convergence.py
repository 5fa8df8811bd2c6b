"""As dt → 0 all steppers tell the same story: half a second of Solo12's squat."""

from functools import cache

import numpy as np
import pytest

import stickslip as ss
from stickslip.dynamics import Dynamics
from stickslip.methods.registry import METHODS
from stickslip.methods.soft.viscoelastic import Viscoelastic

TIME = 0.52
"""[s] thirteen control steps."""


@cache
def end_of_squat(method: str, dt: float) -> ss.State:
    setup = ss.SCENES["solo12-squat"].build()
    sim = ss.Simulation(setup.scene, method=method, dt=dt)
    sim.run(TIME, controller=setup.controller, control_dt=setup.control_dt, record_dt=setup.control_dt, progress=False)
    return sim.state.copy()


def difference(a: ss.State, b: ss.State) -> np.ndarray:
    """(q_a ⊖ q_b, v_a − v_b)."""
    model = ss.SCENES["solo12-squat"].build().scene.compile()
    return np.concatenate([Dynamics(model).difference(b.q, a.q), a.v - b.v])


@pytest.mark.filterwarnings("ignore::stickslip.errors.StickslipWarning")
@pytest.mark.parametrize("method", [name for name, stepper in METHODS.items() if issubclass(stepper, Viscoelastic)])
def test_all_steppers_converge_to_one_trajectory(method):
    truth = end_of_squat("rk4", 4e-5)
    if method == "event-selected":  # its error does not follow from dt; truth's own at this dt is 1e-6
        assert np.abs(difference(end_of_squat(method, 1e-3), truth)).max() <= 1e-5
        return
    coarse, fine = (difference(end_of_squat(method, dt), truth) for dt in (8e-5, 4e-5))
    assert np.abs(coarse).max() >= 1.9 * np.abs(fine).max() or np.abs(coarse).max() < 1e-8
    limit = 2.0 * fine - coarse  # Richardson: dt → 0 for a first-order method, and no worse for the others
    assert np.abs(limit).max() <= 1e-6
