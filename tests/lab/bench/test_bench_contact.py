"""``stickslip bench contact``, short: what it measures, prints and writes; no times are asserted."""

import json
import sys

import numpy as np
import pytest

from stickslip.cli import main
from stickslip.errors import InputError
from stickslip.lab.bench import contact as bench
from stickslip.lab.targets import worst
from stickslip.simulation import Simulation

pytest.importorskip("quantecon")
TINY = bench.Sizes(
    unknowns=(30,), rounds=2, peg_rounds=2, stack=2, stack_rounds=2, spheres=(4, 8), growth_rounds=2
)  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """(exit status, folder, report) of the command itself."""
    folder = tmp_path_factory.mktemp("bench")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bench, "QUICK", TINY)
        patch.setenv("COLUMNS", "180")
        arguments = ["--quick", "--json", str(folder / "numbers.json"), "--out", str(folder / "out")]
        patch.setattr(sys, "argv", ["stickslip", "bench", "contact", *arguments])
        with (folder / "printed.txt").open("w") as file:
            patch.setattr(sys, "stdout", file)
            with pytest.raises(SystemExit) as exit_:
                main()
    return exit_.value.code or 0, folder, json.loads((folder / "numbers.json").read_text())


def test_report(run):
    status, folder, report = run
    assert {"cpu", "python", "numba", "mujoco", "quantecon"} <= set(report["machine"])
    names = [(t["what"].split(",")[0], t["name"]) for t in report["timings"]]
    solvers = ("quantecon lcp_lemke", "lemke", "fischer-newton")
    assert names == [
        *(("contact LCP", name) for name in solvers),
        *(("peg in hole", name) for name in bench.PEG_LIMITS),
        *(("2³ spheres", name) for name in (*bench.ON_STACK, "MuJoCo mj_step")),
    ]
    for t in report["timings"]:
        assert t["time"] > 0
        assert (t["residual"] is None) == (t["name"] in ("quantecon lcp_lemke", "MuJoCo mj_step"))
        assert t["residual"] is None or t["residual"] < 1e-7
    assert [g["sizes"] for g in report["growth"]] == [[4, 8]] * len(bench.GROWING) * len(bench.APART)
    for g in report["growth"]:
        assert min(g["iterations"]) >= 1  # every solver has worked
        assert g["unconverged"] == 0
    for t in report["timings"]:
        assert (t["iterations"] is not None) == (t["name"] in bench.ON_STACK and "spheres" in t["what"])
        assert t["iterations"] is None or (t["iterations"] >= 1 and t["unconverged"] == 0)
    assert all(np.isfinite(g["slope"]) and min(g["times"]) > 0 for g in report["growth"])
    ratios = [t["figure"] / t["limit"] for t in report["targets"]]
    assert len(ratios) == 1 + len(bench.PEG_LIMITS) + len(bench.GROWING) * len(bench.APART)
    assert report["worst"]["figure"] / report["worst"]["target"] == max(ratios)
    assert report["met"] is (max(ratios) <= 1.0)
    assert status == (0 if report["met"] else 1)
    assert json.loads((folder / "out" / "contact.json").read_text()) == report
    assert (folder / "out" / "contact.png").read_bytes().startswith(b"\x89PNG")


def test_ratios_are_those_of_the_timings(run):
    _, _, report = run
    times = {(t["what"], t["name"]): t["time"] for t in report["timings"]}
    what = next(what for what, _ in times if what.startswith("contact LCP"))
    figures = {t["name"]: t["figure"] for t in report["targets"]}
    ours, peer = times[what, "lemke"], times[what, "quantecon lcp_lemke"]
    assert figures[f"{what}: lemke / quantecon's"] == pytest.approx(ours / peer)
    for method in bench.PEG_LIMITS:
        assert figures[f"peg in hole, {method} [µs]"] == times["peg in hole", method]


def test_tables_have_a_row_for_everything(run):
    _, folder, report = run
    lines = (folder / "printed.txt").read_text().splitlines()
    for t in report["timings"]:
        (row,) = [line for line in lines if t["what"] in line and f"│ {t['name']} " in line]
        assert f"{1e-3 * t['time']:.3g}" in row
    for g in report["growth"]:
        (row,) = [line for line in lines if f" {g['name']} " in line and "4 … 8" in line]
        assert " ".join(f"{k:g}" for k in g["iterations"]) in row
    assert lines[-1].startswith(f"worst: {report['worst']['name']}: ")
    assert lines[-1].endswith("met" if report["met"] else "MISSED")


def test_a_large_problem_sets_newton_beside_lemke(monkeypatch):
    """Both solve it: the comparison is one of right answers."""
    monkeypatch.setattr(
        bench, "interleaved", lambda work, rounds, label: {name: 1.0 + k for k, name in enumerate(work)}
    )
    timings, targets = bench.time_solvers(bench.Sizes(unknowns=(1000,), rounds=1))
    assert worst(targets).name.endswith(": lemke / quantecon's")
    assert [t.figure for t in targets] == [2.0, 1.5]
    assert all(t.residual < 1e-7 for t in timings if t.residual is not None)


@pytest.mark.parametrize(("n", "touching"), [(1, 1), (2, 2), (8, 16)])
def test_spheres_in_two_layers_touch(n, touching):
    """Of eight, four towers on a square: four contacts with the floor, four in towers, four sides in each layer."""
    sim = Simulation(bench.two_layers(n), method="stewart-trinkle/pgs", dt=bench.DT)
    sim.step(1)
    gaps = sim.contacts.arrays.gap[: len(sim.contacts)]
    assert np.sum(np.abs(gaps) < 1e-9) == touching
    assert np.min(gaps) > -1e-9
    assert np.abs(sim.state.v).max() < 1e-6


def test_the_stack_is_mujocos_too():
    scene = bench.two_layers(4)
    assert bench.mujoco_step(scene)() > 0.0


def test_without_the_peer_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "quantecon.optimize", None)
    with pytest.raises(InputError, match=r"pip install 'stickslip\[bench\]'"):
        bench.run_contact(quick=True)
