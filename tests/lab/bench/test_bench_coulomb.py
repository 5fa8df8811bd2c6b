"""``stickslip bench coulomb``, short: what it measures, prints and writes; and that the scenes are solved."""

import json
import sys

import pytest

from stickslip.cli import main
from stickslip.lab.bench import coulomb as bench

SHORT = (
    bench.Case("block stack of 10", "block-stack", 0.1, 0.01),
    bench.Case("1000 kg on 1 g", "heavy-on-light", 0.1, 0.01),
    bench.Case("1 g on 1000 kg", "light-on-heavy", 0.1, 0.01),
    bench.Case("Solo12 stands", "solo12-stand", 0.05, 1e-3),
    bench.Case("Solo12 slips", "solo12-slip", 0.05, 1e-3),
    bench.Case("Solo12 trots", "solo12-trot", 0.1, 2e-3),
    bench.Case("100 spheres in a box", "spheres-in-box", 0.1, 5e-3),
    bench.Case("boxes in a grasp", "box-grasp", 0.1, 0.01),
)
SOLVERS = ("pgs", "interior-point")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """(exit status, folder, report) of the command itself."""
    folder = tmp_path_factory.mktemp("bench")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bench, "QUICK", SHORT)
        patch.setattr(bench.run_coulomb, "__kwdefaults__", {"cases": None, "solvers": SOLVERS})
        patch.setenv("COLUMNS", "120")
        arguments = ["--quick", "--json", str(folder / "numbers.json"), "--out", str(folder / "out")]
        patch.setattr(sys, "argv", ["stickslip", "bench", "coulomb", *arguments])
        with (folder / "printed.txt").open("w") as file:
            patch.setattr(sys, "stdout", file)
            with pytest.raises(SystemExit) as exit_:
                main()
    return exit_.value.code or 0, folder, json.loads((folder / "numbers.json").read_text())


def test_report(run):
    status, folder, report = run
    assert [(r["scene"], r["solver"]) for r in report["runs"]] == [(c.label, s) for c in SHORT for s in SOLVERS]
    for r, case in zip(report["runs"][::2], SHORT, strict=True):
        assert r["complete"]
        assert r["steps"] == round(case.seconds / case.dt)
        assert r["contacts"] >= 4
        assert 0.0 < r["time"] <= r["slowest"]
    assert [t["name"].split(":")[0] for t in report["targets"]] == [case.label for case in SHORT]
    assert status == (0 if report["met"] else 1)
    assert json.loads((folder / "out" / "coulomb.json").read_text()) == report
    assert (folder / "out" / "coulomb.png").read_bytes().startswith(b"\x89PNG")


def test_every_step_of_every_scene_is_solved_by_the_interior_point_method(run):
    """Natural residual ≤ 1e-8 by the judge, a million to one included."""
    mine = [r for r in run[2]["runs"] if r["solver"] == "interior-point"]
    assert len(mine) == len(SHORT)
    for r in mine:
        assert r["unsolved"] == 0, r
        assert 0.0 < r["worst"] <= 1e-8, r


def test_gauss_seidel_is_told_where_it_stops(run):
    """Light under heavy takes a million sweeps; what is left is in the table, in red, and the target is another's."""
    (row,) = [r for r in run[2]["runs"] if r["solver"] == "pgs" and r["scene"] == "1000 kg on 1 g"]
    assert row["unsolved"] > 0
    assert row["worst"] > 1e-8
    (target,) = [t for t in run[2]["targets"] if t["name"].startswith("1000 kg on 1 g")]
    assert target["figure"] < 1e-8
    for r in run[2]["runs"]:
        if r["scene"] in ("1 g on 1000 kg", "Solo12 stands", "Solo12 slips", "Solo12 trots", "boxes in a grasp"):
            assert r["unsolved"] == 0, r


def test_printed_rows(run):
    _, folder, report = run
    lines = (folder / "printed.txt").read_text().splitlines()
    for solver in SOLVERS:
        assert len([line for line in lines if f"│ {solver} " in line]) == len(SHORT)
    assert lines[-1].startswith("worst: ")
    assert lines[-1].endswith("met" if report["met"] else "MISSED")


def test_runs_that_end_early_do_not_count():
    done = bench.Run("a", "pgs", 5, 0, 1e-10, 1.0, 1.0, 1.0, 4, False)
    (target,) = bench.targets_of([done])
    assert not target.met
