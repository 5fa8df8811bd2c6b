"""Time steps of a comparison: the grid, and bisection to the longest stable one."""

import numpy as np
import pytest

from stickslip.lab.compare.grid import PRECISION, largest_stable, steps


def test_steps_halve_from_the_longest():
    assert steps(0.04, float("inf"), 3) == (0.04, 0.02, 0.01)


@pytest.mark.parametrize("limit", [0.02, 0.0399, 0.021])
def test_steps_begin_within_the_limit(limit):
    assert steps(0.04, limit, 2)[0] == 0.02


def test_limit_of_a_step_itself_is_allowed():
    assert steps(0.04, 0.04 / 256, 1) == (0.04 / 256,)


@pytest.mark.parametrize("limit", [0.9, 0.5, 0.123, 3.3e-3, 1.57e-4])
def test_bisection_finds_the_limit(limit):
    asked = []

    def stable(dt):
        asked.append(dt)
        return "too long" if dt > limit else ""

    found, why = largest_stable(1.0, 1.0 / 8192, stable)
    n = round(1.0 / found)
    assert found <= limit
    assert 1.0 / (n - 1) > limit or found * PRECISION >= limit
    assert len(asked) < 20
    assert "too long" in why


def test_bisection_asks_once_where_there_is_no_limit():
    asked = []
    found, why = largest_stable(0.5, 0.1, lambda dt: asked.append(dt) or "")
    assert found == 0.5
    assert asked == [0.5]
    assert "no limit" in why


def test_bisection_starts_again_where_the_estimate_was_too_long():
    found, _ = largest_stable(1.0, 0.25, lambda dt: "too long" if dt > 0.1 else "")
    assert 0.095 < found <= 0.1


def test_bisection_gives_up_where_no_step_is_stable():
    found, why = largest_stable(1.0, 0.25, lambda dt: "never")
    assert np.isnan(found)
    assert "never" in why
