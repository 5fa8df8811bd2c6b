"""The comparison of friction cones: a plate's way, and tosses from a file."""

import numpy as np
import pytest

from stickslip.errors import InputError
from stickslip.lab.bench.facets import FRAME, stopping_excess, toss_error


def test_a_plate_stops_late_between_the_directions_of_a_pyramid():
    four = stopping_excess("stewart-trinkle", {"directions": 4}, [0.0, 45.0])
    round_cone = stopping_excess("coulomb", {}, [0.0, 45.0])
    assert four == pytest.approx(np.sqrt(2) - 1, abs=0.01)  # at 45°, friction is μ/√2
    assert abs(round_cone) < 0.01


def test_a_toss_that_never_lands_is_met(tmp_path):
    """Free fall from 2 m; velocities are backward differences, as in the file of tosses."""
    t = FRAME * np.arange(-1, 20)
    x = np.stack([0.5 * t, 0 * t, 2.0 - 0.5 * 9.81 * t**2], axis=1)
    turned, spin = np.tile([1.0, 0, 0, 0], (20, 1)), np.zeros((20, 3))
    arrays = {"position": x[1:], "quaternion": turned, "velocity": np.diff(x, axis=0) / FRAME}
    np.savez(tmp_path / "tosses.npz", start=[0, 20], angular_velocity=spin, **arrays)
    assert toss_error("coulomb", {}, tmp_path / "tosses.npz") < 0.05


def test_a_file_without_tosses_is_refused(tmp_path):
    np.savez(tmp_path / "other.npz", start=[0])
    with pytest.raises(InputError, match="expected an npz file with start, position"):
        toss_error("coulomb", {}, tmp_path / "other.npz")
