"""``stickslip bench variational``, short: what it measures, prints and writes; no times are asserted."""

import json

import numpy as np
import pytest

from stickslip.lab.bench import linear_time
from stickslip.lab.bench import variational as bench

TINY = bench.Sizes(rounds=2, steps=3, contacts=(4, 8), links=(2, 5), system=4, peers=(2, 4), peer_rounds=2)


def test_report(tmp_path, capsys):
    bench.run_variational(out=tmp_path, sizes=TINY)
    report = json.loads((tmp_path / "variational.json").read_text())
    assert [one["sizes"] for one in report["lines"]] == [[4, 8]] * 3 + [[5, 11]] * 3
    for one in report["lines"]:
        assert min(one["times"]) > 0
    assert min(min(one["iterations"]) for one in report["lines"] if one["iterations"]) >= 1
    assert report["unconverged"] == 0
    assert report["difference"] < 1e-8
    names = [c["name"] for c in report["systems"]]
    assert names[:2] == ["factor + solve", "whole Newton step"]
    assert sum(name.startswith("splu") for name in names) == 6
    assert [p["name"] for p in report["peers"]] == ["variational/pyramid", "coulomb", "mj_step"]
    assert set(report["crossover"]) == {"coulomb", "mj_step"}
    printed = capsys.readouterr().out
    assert "R²" in printed
    assert "variational faster from" in printed
    assert "crossover beside" in printed
    assert (tmp_path / "variational.png").read_bytes().startswith(b"\x89PNG")


def test_the_chain_lies_on_all_its_points_and_every_link_rolls_about_its_own_axis():
    sim = linear_time.simulate(linear_time.chain(7))
    gaps = sim.contacts.arrays.gap[: len(sim.contacts)]
    assert len(gaps) == 8
    assert np.abs(gaps).max() < 1e-6
    still = sim.stepper.motion.nu[1:]
    assert np.abs(still[:, 2]).max() < 1e-6
    assert np.abs(still[:, 3]).max() > 0.5


def test_line_and_crossover():
    straight = bench.line("x", {10: 15.0, 100: 105.0, 1000: 1005.0}, [])
    assert abs(straight.r2 - 1.0) < 1e-12
    assert 0.8 < straight.slope < 1.0
    assert bench.line("x", {1: 1.0, 10: 100.0, 100: 1e4}, []).slope == pytest.approx(2.0)
    assert bench.crossover([2, 5, 10], [3.0, 3.0, 3.0], [1.0, 4.0, 9.0]) == 5
    assert bench.crossover([2, 5, 10], [3.0, 3.0, 3.0], [4.0, 4.0, 1.0]) is None


def test_the_lines_reach_a_thousand_and_the_target_is_twenty_times():
    for sizes in (bench.Sizes(), bench.QUICK):
        assert max(sizes.links) == max(sizes.contacts) == 1000
        assert sizes.system == 100
    lus = [bench.Compared("splu + solve, COLAMD", 1.0, 40.0, 20.1), bench.Compared("whole Newton step", 1.0, 2.0, 1.0)]
    assert all(target.met for target in bench.targets([], 0, lus, 0.0, 100))
    lus[0] = bench.Compared("splu + solve, COLAMD", 1.0, 40.0, 19.9)
    assert [target.met for target in bench.targets([], 0, lus, 0.0, 100)] == [True, False, True, True]
