"""The order of convergence is found where there is one, and not where there is none."""

import math

import numpy as np
import pytest

from stickslip.lab.compare import convergence_order

DTS = np.array([8e-3, 4e-3, 2e-3, 1e-3])


@pytest.mark.parametrize("p", [0.5, 1.0, 2.0, 4.0])
def test_powers(p):
    assert convergence_order(DTS, 3.0 * DTS**p) == pytest.approx(p, abs=1e-4)
    assert convergence_order(DTS[::-1], 3.0 * DTS[::-1] ** p) == pytest.approx(p, abs=1e-4)


@pytest.mark.parametrize("p", [1.0, 2.0])
def test_errors_against_the_same_methods_finest_run(p):
    """The finest run has an error of its own, which a plain slope mistakes for speed."""
    finest = 0.5e-3
    errors = 3.0 * (DTS**p - finest**p)
    assert convergence_order(DTS, errors, finest=finest) == pytest.approx(p, abs=1e-4)
    assert convergence_order(DTS, errors) > p + 0.02
    assert convergence_order([*DTS, finest], [*errors, 0.0], finest=finest) == pytest.approx(p, abs=1e-4)


def test_round_off_is_left_out():
    dts = np.append(DTS, [5e-4, 2.5e-4])
    assert convergence_order(dts, np.append(1e-1 * DTS**4, [4e-14, 5e-14])) == pytest.approx(4.0, abs=1e-3)


def test_where_long_steps_no_longer_get_worse():
    dts, errors = np.append([32e-3, 16e-3], DTS), np.append([0.4, 0.5], 10.0 * DTS)
    assert convergence_order(dts, errors) > 0.8


@pytest.mark.parametrize(
    "errors",
    [
        [1.0, 2.0, 1.5, 1.9],  # noise
        [1.0, 1.001, 1.002, 1.003],  # it grows as dt falls
        [1.003, 1.002, 1.001, 1.0],  # it hardly falls
        [math.inf, math.nan, 2.0, 1.0],  # two are left
        [0.0, 0.0, 0.0, 0.0],
        [1.0, 0.999, 0.998, 1e-9],  # a jump is no law
    ],
)
def test_no_order(errors):
    assert math.isnan(convergence_order(DTS, errors))
