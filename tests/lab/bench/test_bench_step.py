"""``stickslip bench step``, short: what it measures, prints and writes; no times are asserted."""

import json
import sys

import numpy as np
import pytest

from stickslip.cli import main
from stickslip.lab.bench import step as bench
from stickslip.lab.bench.timing import growth
from stickslip.lab.targets import worst

TINY = bench.Sizes(rounds=3, growth_rounds=3, pebbles=(2, 4), points=(3, 6))
PEERS = ("Pinocchio aba, from Python", "MuJoCo mj_step, 1 ms")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """(exit status, folder, report) of the command itself."""
    folder = tmp_path_factory.mktemp("bench")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bench, "QUICK", TINY)
        patch.setenv("COLUMNS", "150")
        arguments = ["--quick", "--json", str(folder / "numbers.json"), "--out", str(folder / "out")]
        patch.setattr(sys, "argv", ["stickslip", "bench", "step", *arguments])
        with (folder / "printed.txt").open("w") as file:
            patch.setattr(sys, "stdout", file)
            with pytest.raises(SystemExit) as exit_:
                main()
    return exit_.value.code or 0, folder, json.loads((folder / "numbers.json").read_text())


def test_report(run):
    status, folder, report = run
    assert {"cpu", "python", "numba", "mujoco", "pin"} <= set(report["machine"])
    assert [t["name"] for t in report["timings"]] == [*(case.name for case in bench.CASES), *reversed(PEERS)]
    for t in report["timings"]:
        assert t["time"] > 0
        assert t["units"] == pytest.approx(t["time"] / report["pinocchio_aba_us"])
    assert [g["sizes"] for g in report["growth"]] == [[2, 4], [3, 6]]
    assert all(np.isfinite(g["slope"]) and min(g["times"]) > 0 for g in report["growth"])
    aims = {case.name: case.target for case in bench.CASES if case.target is not None}
    figures = [t["units"] / aims[t["name"]] for t in report["timings"] if t["name"] in aims]
    figures += [g["slope"] / g["target"] for g in report["growth"] if g["target"] is not None]
    assert report["worst"]["figure"] / report["worst"]["target"] == max(figures)
    assert report["met"] is (max(figures) <= 1.0)
    assert status == (0 if report["met"] else 1)
    assert json.loads((folder / "out" / "step.json").read_text()) == report
    assert (folder / "out" / "step.png").read_bytes().startswith(b"\x89PNG")


def test_tables_have_a_row_for_every_stepper_and_peer(run):
    _, folder, report = run
    lines = (folder / "printed.txt").read_text().splitlines()
    for timing in report["timings"]:
        (row,) = [line for line in lines if line.strip("│ ").startswith(timing["name"] + " ")]
        assert f"{timing['time']:.2f}" in row
        assert f"{timing['units']:.2f}" in row
    for g in report["growth"]:
        assert any(g["name"] in line and f"{g['sizes'][0]} … {g['sizes'][-1]}" in line for line in lines)
    assert lines[-1].startswith(f"worst: {report['worst']['name']}: ")
    assert lines[-1].endswith("met" if report["met"] else "MISSED")


def test_targets_are_those_of_the_cases():
    timings = [bench.Timing("a", 8.0, 2.0, 4.0, None), bench.Timing("b", 4.0, 1.0, None, 9.0)]
    level = growth("pebbles", {10: 1.0, 100: 10.0}, 1.1)
    assert level.slope == pytest.approx(1.0)
    assert worst(bench.targets(timings, [level]))[:3] == ("slope of pebbles", level.slope, 1.1)
    assert len(bench.targets(timings, [growth("plate", {1: 1.0, 2: 8.0}, None)])) == 1


def test_the_robot_moves_on_four_feet():
    scene, q, v, control = bench.squatting_robot()
    assert v[2] == pytest.approx(-0.04, abs=0.01)
    sim = bench.Simulation(scene, method="expo", dt=1e-3)
    sim.set_state(q, v)
    sim.set_control(control)
    sim.observe()
    assert len(sim.contacts) == 4
