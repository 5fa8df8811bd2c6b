"""The reproduction of the expo paper: known answers, small slices, and the driver on a tiny selection."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from stickslip.errors import InputError
from stickslip.lab import store as store_module
from stickslip.lab.papers.driver import reproduce
from stickslip.lab.papers.expo import fig2_real_time_factor as fig2
from stickslip.lab.papers.expo import fig4_stiffness, fig5_prediction, local_error, table2_stability
from stickslip.lab.papers.expo.best_order import choose
from stickslip.lab.papers.expo.ground_truth import GroundTruth, ground_truth
from stickslip.lab.papers.expo.reproduction import Expo
from stickslip.lab.papers.expo.setups import (
    CHANGES,
    DAMPING,
    METHODS,
    STIFFNESS,
    TESTS,
    Sizes,
    bundled,
    simulation,
    steps,
)
from stickslip.lab.store import Store

SQUAT, G = TESTS["solo12-squat"], 9.81
TINY = Sizes(
    tests=("solo12-trot",),
    methods=("expo", "expo mmm-0", "expo/paper", "euler"),
    seconds={"solo12-trot": 0.006},
    stride=3,
    repeats=1,
    stiffness=(1e5, 1e7),
    damping_ratio=(1.0,),
    stiffness_seconds=0.006,
    samples=1,
    rounds=1,
)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "data")


# -- known answers -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fall():
    """Two control steps of free fall from rest, in closed form."""
    model = bundled("solo12-squat")[0]
    t = SQUAT.control_dt * np.arange(3)
    q, v = np.tile(model.state().q, (3, 1)), np.zeros((3, model.nv))
    q[:, 2] += 10.0 - 0.5 * G * t**2
    v[:, 2] = -G * t
    known = [simulation(SQUAT, METHODS[label], 1e-3).stepper.memory() for label in ("expo/paper", "expo")]
    memory = {name: np.stack([array] * 3) for own in known for name, array in own.items()}
    memory["end"] = v  # the velocity at which the last step ended
    return GroundTruth(q, v, np.zeros((2, model.nu)), memory)


@pytest.mark.parametrize("label", ["expo", "expo mmm-0", "expo/paper", "euler", "rk4"])
def test_free_fall_has_no_error(fall, label):
    result = local_error.measure(fall, SQUAT, METHODS[label], 0.01, 1, STIFFNESS, DAMPING)
    assert result["error"] < 1e-10
    assert result["control_steps"] == 2


def test_error_of_semi_implicit_euler_in_free_fall(fall):
    """Its positions fall by g·dt·T/2 too far in a time T; velocities are exact."""
    result = local_error.measure(fall, SQUAT, METHODS["semi-implicit-euler"], 0.01, 1, STIFFNESS, DAMPING)
    assert result["error"] == pytest.approx(G * 0.01 * SQUAT.control_dt / 2, rel=1e-9)


def test_the_error_is_the_largest_of_positions_and_velocities(fall):
    off = replace(fall, q=fall.q.copy(), v=fall.v.copy())
    off.v[2, 9] += 0.25  # the first control step ends right, the second starts right and should end elsewhere
    assert local_error.measure(off, SQUAT, METHODS["expo"], 0.04, 1, STIFFNESS, DAMPING)["error"] == pytest.approx(
        0.125, rel=1e-9
    )


def test_divergence_is_an_infinite_error(fall):
    absurd = replace(fall, q=fall.q.copy())
    absurd.q[0, 2] -= 20.0  # ten metres under the floor
    result = local_error.measure(absurd, SQUAT, METHODS["euler"], 0.01, 1, STIFFNESS, DAMPING)
    assert (result["error"], result["diverged"]) == (None, 1)


def test_steps_are_halves_of_the_control_step():
    assert [1e3 * dt for dt in steps(TESTS["solo12-trot"], METHODS["expo"])] == pytest.approx([2, 1, 0.5, 0.25, 0.125])
    assert min(steps(TESTS["solo12-trot"], METHODS["euler"])) == pytest.approx(1e-3 / 32)
    assert len(steps(TESTS["romeo-walk"], METHODS["expo"])) == 9  # 40 ms / 256 = 0.16 ms


def test_contact_system_is_the_one_that_is_simulated():
    """A·x + b at the start is the acceleration of the contact points, by finite differences."""
    model, controller = bundled("solo12-squat")
    sim = simulation(SQUAT, METHODS["rk4"], 1e-8)
    v = np.zeros(model.nv)
    v[:9] = 0.02, -0.01, -0.3, 0.1, 0.2, -0.1, 0.1, -0.1, 0.1  # downward: no foot slips
    sim.set_state(v=v)
    sim.set_control(controller(0.0, sim.state.q, np.zeros(model.nv)))
    A, b, x = fig5_prediction.contact_system(sim)
    sim.step(1)
    sim.observe()
    m = len(x) // 2
    measured = (sim.contacts.arrays.velocity[: len(sim.contacts)].ravel() - x[m:]) / 1e-8
    assert np.allclose((A @ x + b)[m:], measured, rtol=1e-3, atol=0.1)


def test_springs_bear_the_weight():
    assert fig4_stiffness.rest_depth(1e6)["ratio"] == pytest.approx(1.0, abs=1e-6)
    assert fig4_stiffness.damping(1e4, 0.5) == pytest.approx(100.0)


def test_upright():
    stands = np.array([0, 0, 0.2, 1, 0, 0, 0.0])
    half = np.pi / 8
    assert table2_stability.upright(stands, stands)
    assert not table2_stability.upright(np.array([0, 0, 0.09, 1, 0, 0, 0.0]), stands), "sunk"
    for lean, answer in ((0.99, True), (1.01, False)):
        q = np.array([0, 0, 0.2, np.cos(lean * half), np.sin(lean * half), 0, 0])
        assert table2_stability.upright(q, stands) is answer


# -- slices ------------------------------------------------------------------------------------------------------------


def test_errors_shrink_with_the_step_and_units_are_reused(store):
    def errors(store):
        return {
            label: [local_error.local_error(store, SQUAT, METHODS[label], dt, 3, 1)["error"] for dt in (0.01, 0.0025)]
            for label in ("expo", "expo mmm-2")
        }

    found = errors(store)
    for coarse, fine in found.values():
        assert 0.0 < fine < coarse < 0.1
    assert store.computed == 5, "one ground truth for both versions, four errors"
    again = Store(store.folder)
    assert errors(again) == found
    assert again.computed == 0


def test_a_ground_truth_that_falls_short_is_said_to(store):
    short = ground_truth(store, SQUAT, METHODS["expo"], 3)
    row = local_error.local_error(store, SQUAT, METHODS["expo"], 0.01, 5, 1, truth=lambda: short)
    assert row["error"] is None
    assert row["diverged"] == 2


def test_stable_steps(store):
    truth = ground_truth(store, SQUAT, METHODS["expo"], 3)
    assert table2_stability.free_run(SQUAT, METHODS["expo"], 0.04, truth)["upright"]
    assert not table2_stability.free_run(SQUAT, METHODS["euler"], 0.02, truth)["stable"]


# -- what is concluded -------------------------------------------------------------------------------------------------


def row(method, dt, error, seconds, test="solo12-trot"):
    return {"test": test, "method": method, "dt": dt, "error": error, "seconds": seconds, "step_us": 1e6 * seconds}


def test_a_rival_must_be_better_in_both():
    expo = row("expo", 1e-3, 1e-3, 1.0)
    assert fig2.lead(expo, row("rk4", 1e-3, 0.5e-3, 0.9)) == pytest.approx(1 / 0.9)
    assert fig2.lead(expo, row("rk4", 1e-3, 1e-9, 1.1)) < 1
    assert fig2.lead(expo, row("rk4", 1e-3, 2e-3, 0.1)) < 1
    assert fig2.lead(expo, row("rk4", 1e-3, None, 0.1)) == 0.0
    assert fig2.lead({**expo, "error": None}, row("rk4", 1e-3, 1.0, 2.0)) == float("inf")


def test_rivals_count_from_a_quarter_millisecond_on():
    rows = [
        row("expo", 1e-3, 1e-3, 1.0),
        row("expo", 1e-4, 1e-9, 9.0),
        row("rk4", 1e-3, 1.0, 0.5),
        row("euler", 1e-4, 1e-4, 0.5),
    ]
    (found,) = fig2.strongest_rivals(rows, finest=0.0)
    assert (found["dt"], found["rival"], found["rival_dt"]) == (1e-3, "euler", 1e-4)
    assert found["lead"] == pytest.approx(2.0)
    (found,) = fig2.strongest_rivals(rows)
    assert (found["dt"], found["rival"], found["rival_dt"]) == (1e-3, "rk4", 1e-3)
    (target,) = Expo().targets({"local_error": rows})
    assert target.met
    (target,) = Expo().targets({"local_error": [*rows, row("euler", 0.5e-3, 0.9e-3, 0.9)]})
    assert not target.met


def test_best_order():
    rows = [
        row("expo", 1e-3, 1.00, 2.0),
        row("expo mmm-0", 1e-3, 9.00, 1.0),
        row("expo mmm-1", 1e-3, 1.04, 1.6),
        row("expo mmm-2", 1e-3, 1.01, 1.8),
        row("expo mmm-0", 2e-3, None, 1.0),
        row("expo", 2e-3, 3.0, 2.0),
    ]
    first, second = choose(rows)
    assert first["best_fixed"] == "1"
    assert first["auto_over_fixed_time"] == pytest.approx(1.25)
    assert first["auto_over_least_error"] == pytest.approx(1.0)
    assert second["best_fixed"] is None


# -- the driver --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("expo")
    met = reproduce(Expo(), out=folder, json_path=folder / "copy.json", sizes=TINY)
    return folder, met


def refuse(name):
    raise AssertionError(f"{name} is not JSON")


def test_driver_writes_figures_tables_and_data(made):
    folder, met = made
    text = (folder / "README.md").read_text()
    for number in (2, 3, 4, 5, 6):
        (png,) = folder.glob(f"fig{number}_*.png")
        assert png.with_suffix(".pdf").stat().st_size > 1000
        assert f"]({png.name})" in text
    assert "| Solo-trot | euler |" in text
    assert "| Solo-trot | expo/paper |" in text
    assert "| computeIntegrals |" in text
    assert "| 94 | 39 |" in text, "the paper's Table III"
    results = json.loads((folder / "results.json").read_text(), parse_constant=refuse)
    assert results == json.loads((folder / "copy.json").read_text())
    assert met is results["met"] is all(target["met"] for target in results["targets"])
    assert {r["method"] for r in results["local_error"]} == set(TINY.methods)
    for version in ("expo", "expo/paper", "expo/paper mmm-0"):
        times = results["breakdown"]["times"][version]
        assert all(times[stage] > 0 for stage in ("step", "computeContactForces", "prepareExpLDS", "computeIntegrals"))
    for part in ("stiffness", "depths", "curves", "stability", "local_error"):
        assert {"expo", "expo/paper"} <= {r["method"] for r in results[part]}, part
    assert {"predicted", "predicted_middle"} <= results["predictions"][0].keys()
    lines = (folder / "local_error.csv").read_text().splitlines()
    assert len(lines) == 1 + len(results["local_error"])


def test_what_each_change_brings(made):
    """From the paper's algorithm to ours: a row per change and test, and the friction that each of them finds."""
    results = json.loads((made[0] / "results.json").read_text())
    assert [r["change"] for r in results["changes"]] == [r["change"] for r in results["slides"]] == list(CHANGES)
    assert all(r["error"] > 0.0 and r["step_us"] > 0.0 for r in results["changes"])
    slides = {r["change"]: r["relative_error"] for r in results["slides"]}
    assert slides["the paper's"] > 0.1, "the prediction goes on with the anchor's velocity"
    assert slides["slip solved, not projected"] < 0.01
    last = CHANGES[list(CHANGES)[-1]].options
    own = simulation(SQUAT, METHODS["expo"], 1e-3).stepper.options
    assert {name: getattr(own, name) for name in last} == {**last, "tolerance": own.tolerance}, "the last one is expo"


def test_driver_continues_where_it_stopped(made, capsys):
    folder, _ = made
    files = sorted((folder / "data").glob("local*.json"))
    files[0].unlink()
    reproduce(Expo(), out=folder, sizes=TINY)
    out = capsys.readouterr().out
    assert "1 units computed" in out
    assert out.strip().splitlines()[-1].startswith("worst: ")


def mentioned(folder):
    """The report, and the files that it names: links, and words in backquotes."""
    text = (folder / "README.md").read_text()
    return text, {*re.findall(r"\]\(([^)]+)\)", text), *re.findall(r"`([\w.-]+\.(?:csv|json|png|pdf))`", text)}


def written(folder):
    return {path.name for path in folder.iterdir() if path.is_file()} - {"README.md", "copy.json"}


def test_a_part_of_it(tmp_path, capsys):
    assert reproduce(Expo(), out=tmp_path, only=["fig5"], sizes=TINY)
    text, files = mentioned(tmp_path)
    assert "## Fig. 5" in text
    assert "## Table II:" not in text
    assert "Made by `stickslip reproduce expo --only fig5`. " in text
    assert (
        "Not here yet: fig2, fig3, orders, table2, fig4, fig6, table3, changes (`stickslip reproduce expo --only"
        in text
    )
    assert files == written(tmp_path) == {"fig5_force_prediction.png", "fig5_force_prediction.pdf", "results.json"}
    assert "worst: Fig. 5" in capsys.readouterr().out
    with pytest.raises(InputError, match="fig2"):
        reproduce(Expo(), out=tmp_path, only=["fig22"])
    assert set(Expo.parts()) > {"fig2", "table3"}

    reproduce(Expo(), out=tmp_path, only=["table3"], sizes=TINY)  # no targets of its own; what was there stays
    text, files = mentioned(tmp_path)
    assert "## Fig. 5" in text
    assert "## Table III" in text
    assert "Made by `stickslip reproduce expo --only table3`; fig5 from units of work that were stored before" in text
    assert files == written(tmp_path)
    assert set(json.loads((tmp_path / "results.json").read_text())) >= {"predictions", "breakdown"}


@pytest.fixture
def copied(made, tmp_path):
    return Path(shutil.copytree(made[0], tmp_path / "copy"))


def test_a_part_of_it_leaves_the_others_in_the_report(copied, capsys, monkeypatch):
    """And is judged by its own targets."""
    whole, files = mentioned(copied)
    assert files == written(copied)
    assert "Not here yet" not in whole
    assert "Made by `stickslip reproduce expo`. " in whole
    monkeypatch.setattr(fig4_stiffness, "FLATNESS", 0.5)  # the largest over the smallest cannot be less than one
    assert reproduce(Expo(), out=copied, only=["fig5"], sizes=TINY)
    assert json.loads((copied / "results.json").read_text())["met"] is False
    out = capsys.readouterr().out
    assert "0 units computed" in out
    assert "worst: Fig. 5" in out
    text, files = mentioned(copied)
    sections = [[line for line in t.splitlines() if line.startswith("## ")] for t in (whole, text)]
    assert sections[0] == sections[1]
    assert "--only fig5`; fig2, fig3, orders, table2, fig4, fig6, table3, changes from units of work" in text
    assert files == written(copied)


def test_what_is_not_up_to_date_is_no_part_of_the_report(copied, monkeypatch):
    monkeypatch.setattr(store_module, "code_hash", lambda: "other source")
    reproduce(Expo(), out=copied, only=["fig5"], sizes=TINY)
    text, files = mentioned(copied)
    assert [line[3:10] for line in text.splitlines() if line.startswith("## ")] == ["Targets", "Set-ups", "Fig. 5:"]
    (old,) = re.findall(r"Of other settings or another version, and not part of this report: (.*)\.\n", text)
    assert "`fig2_local_error_vs_real_time_factor.png`" in old
    assert "`local_error.csv`" in old
    assert "fig5" not in old
    assert files == written(copied)


def test_half_a_study_is_no_part_of_the_report(copied, monkeypatch):
    monkeypatch.setattr(Expo, "draw", lambda self, results, out: [])  # that takes seconds
    next((copied / "data").glob("stability*.json")).unlink()
    reproduce(Expo(), out=copied, only=["fig5"], sizes=TINY)
    text, _ = mentioned(copied)
    assert "Not here yet: table2 (`stickslip reproduce expo --only table2`)" in text
    assert "`stability.csv`" in text.split("not part of this report")[1]
    assert "## Table II:" not in text
    assert "## Fig. 4" in text
