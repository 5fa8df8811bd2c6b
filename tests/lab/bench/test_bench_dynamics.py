"""The bench runs, reports what it measured, and its targets decide the answer; no times are asserted."""

import json
from dataclasses import replace

import numpy as np
import pytest

from stickslip.lab.bench import dynamics as bench
from stickslip.lab.targets import worst

TINY = bench.Sizes(rounds=2, calls=4, growth_rounds=2, growth_seconds=1e-5, chains=(3, 6, 12), stars=(2, 4, 8))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench")
    met = bench.run_dynamics(True, folder / "numbers.json", folder / "out", sizes=TINY)
    return met, folder, json.loads((folder / "numbers.json").read_text())


def test_report(run):
    met, folder, report = run
    assert {"cpu", "python", "numba", "numpy", "mujoco", "pin"} <= set(report["machine"])
    pairs = {(c["robot"], c["algorithm"]) for c in report["comparisons"]}
    algorithms = ("rnea", "crba", "aba", "frame_jacobian", "rnea_derivatives", "aba_derivatives")
    assert pairs == {(r, a) for r in ("solo12", "romeo") for a in algorithms}
    assert [d["robot"] for d in report["differences"]] == ["solo12", "romeo"]
    assert all(d["ratio"] == d["exact"] / d["differences"] > 0 for d in report["differences"])
    for c in report["comparisons"]:
        assert all(np.isfinite(c[key]) and c[key] > 0 for key in ("ours", "pinocchio", "pinocchio_called", "ratio"))
    assert len(report["growth"]) == 7
    for g in report["growth"]:
        assert g["sizes"] == list(TINY.chains if "chain" in g["name"] else TINY.stars)
        assert np.isfinite(g["slope"])
        assert np.all(np.isfinite(g["times"]))
    assert met is report["met"]
    assert met == (report["worst"]["figure"] <= report["worst"]["target"])
    assert (folder / "out" / "dynamics.png").stat().st_size > 0
    assert json.loads((folder / "out" / "dynamics.json").read_text()) == report


def test_worst_figure_is_measured_against_its_own_target():
    fast = bench.PinocchioTiming("solo12", "rnea", 1.0, 2.0, 3.0, 0.5)
    exact = bench.Differences("solo12", 3.0, 30.0, 0.1)
    level = bench.Growth("RNEA on a chain", [1, 2], [1.0, 2.0], 1.0, 1.1)
    name, figure, target = worst(bench.targets([fast], [exact], [level, replace(level, slope=9.0, target=None)]))[:3]
    assert (name, figure, target) == ("slope of RNEA on a chain", 1.0, 1.1)
    name, figure, target = worst(bench.targets([replace(fast, ratio=1.2)], [exact], [level]))[:3]
    assert (figure, target) == (1.2, 1.0)
    assert "rnea on solo12" in name
    name, figure, target = worst(bench.targets([fast], [replace(exact, ratio=0.3)], [level]))[:3]
    assert (figure, target) == (0.3, 0.2)
    assert "rnea_derivatives on solo12" in name


def test_both_ways_to_the_derivatives_are_the_same():
    """What is timed computes what it says."""
    loops = bench.Loops(bench.chain(5))
    loops.rnea_derivatives(1)
    dq, dv, _ = loops.matrices.copy()
    loops.rnea_differences(1)
    by_q, by_v, _ = loops.matrices
    np.testing.assert_allclose(by_q.T, dq, atol=1e-5 * np.abs(dq).max())
    np.testing.assert_allclose(by_v.T, dv, atol=1e-5 * np.abs(dv).max())


def test_mechanisms():
    assert bench.chain(7).nv == 7
    for floating in (False, True):
        model, feet = bench.star(4, floating)
        assert model.nv == 12 + 6 * floating
        children = set(model.tree.parent[1:].tolist())
        assert not children & set(feet), "a foot carries nothing"
