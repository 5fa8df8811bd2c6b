"""Long recorded runs: what is measured of them."""

import sys

import pytest

from stickslip.lab.bench.soak import PARTS, Row, soak


def row(memory):
    return Row("coulomb", 100, 1.0, 1, tuple(memory))


def test_growth_is_that_of_the_later_memory():
    flat = [50.0] * 10 + [100.0] * (PARTS - 10)  # what grows at the beginning is not counted
    assert row(flat).growth == 0.0
    assert row([100.0 + k for k in range(PARTS)]).growth == pytest.approx(60.0 / 129.5)
    assert not row(flat[:50]).growth <= 1.0  # a run that ended early has none


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read as Linux gives it")
def test_a_short_soak_records_and_measures(tmp_path):
    measured = soak(tmp_path, "coulomb", 1000)
    assert (measured.steps, measured.frames, measured.error) == (1000, 11, "")
    assert len(measured.memory) == PARTS
    assert min(measured.memory) > 10.0
