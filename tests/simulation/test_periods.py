"""Time steps and periods: what is proposed can be typed, and works."""

import numpy as np
import pytest

from stickslip.errors import InputError
from stickslip.simulation.periods import control_steps, divides, dividing_step, round_step, whole_steps


@pytest.mark.parametrize(
    ("limit", "step"), [(1.0, 1e-3), (2e-3, 1e-3), (1.9e-3, 5e-4), (3e-5, 1e-5), (np.inf, 1e-3), (2.1e-7, 1e-7)]
)
def test_round_step(limit, step):
    assert round_step(limit) == step


@pytest.mark.parametrize(
    ("dt", "period", "step"),
    [(0.03, 0.04, 0.02), (0.0139, 0.04, 0.01), (0.1, 0.04, 0.04), (3e-4, 2e-3, 2.5e-4), (0.02, 0.04, 0.02)],
)
def test_dividing_step(dt, period, step):
    """A third of 0.04 s cannot be typed in six digits; a quarter can."""
    assert dividing_step(dt, period) == step
    assert divides(step, period)


@pytest.mark.parametrize("period", [0.04, 1 / 3, np.pi * 1e-3, 1e-9])
def test_dividing_steps_divide(period):
    for dt in np.geomspace(period / 50, 2 * period, 40):
        step = dividing_step(float(dt), period)
        assert divides(step, period)
        assert step <= dt * (1 + 1e-5)


def test_a_control_step_is_rounded_to_whole_steps():
    for dt in (0.04, 0.02, 0.04 / 3, 1e-5):
        assert control_steps(0.04, dt) == (round(0.04 / dt), "")
    assert control_steps(None, 0.01) == (1, "")
    steps, note = control_steps(0.04, 0.03)
    assert steps == 1
    assert note == "control_dt = 0.04 s is no multiple of dt = 0.03 s: it is 0.03 s here; dt = 0.02 s keeps it"
    assert control_steps(0.001, 0.01)[0] == 1
    assert control_steps(0.1, 0.03)[0] == 3
    with pytest.raises(InputError, match="control_dt: expected a positive number of seconds, got -1"):
        control_steps(-1, 0.04)


def test_whole_steps():
    assert whole_steps("control_dt", 0.04, 1e-3, 0.01) == 4
    assert whole_steps("control_dt", None, 1e-3, 3e-4) == 3
    assert whole_steps("control_dt", None, 1e-3, 0.01) == 1
    with pytest.raises(InputError, match=r"record_dt: expected a whole multiple of dt = 0.03 s, got 0.04; for ex"):
        whole_steps("record_dt", 0.04, 1e-2, 0.03)
    with pytest.raises(InputError, match=r"for example 0.03, or dt = 0.02"):
        whole_steps("record_dt", 0.04, 1e-2, 0.03)
