"""Checks can fail, a fast slice of the suite, the command, and the stored page."""

import dataclasses
import json
import os
import re
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import stickslip as ss
from stickslip.cli import app
from stickslip.errors import InputError
from stickslip.lab.truth import suite
from stickslip.lab.truth.case import Lesson
from stickslip.lab.truth.cases import CASES
from stickslip.lab.truth.facts import facts
from stickslip.lab.truth.matrix import MARKS, markdown
from stickslip.lab.truth.suite import jobs_of, run_jobs, run_truth, unproved
from stickslip.lab.truth.trial import FAIL, NOT_APPLICABLE, PASS, check, try_case
from stickslip.scenes.textbook import bounce_damping

PEERS_SPELLED = {"mujoco", "mujoco/spring-damper"}
PAGE = Path(__file__).parents[3] / "docs" / "truth.md"


def true_values(name: str) -> dict[str, float]:
    return {fact.quantity: fact.value for fact in facts()[name]}


@pytest.mark.parametrize("name", CASES)
def test_a_check_accepts_the_truth_and_nothing_else(name):
    case, truth = CASES[name], true_values(name)
    dt = case.dts[0]
    assert check(case, "coulomb", dt, truth).outcome == PASS
    for fact in facts()[name]:
        worse = fact.value + (-1.1 if fact.bound == "≥" else 1.1) * (fact.tolerance(dt) or 1.0)
        wrong = check(case, "no-such-method", dt, {**truth, fact.quantity: worse})
        assert wrong.outcome == FAIL
        assert [finding.name for finding in wrong.findings if not finding.met] == [fact.quantity]
        assert check(case, "coulomb", dt, {**truth, fact.quantity: float("nan")}).outcome == FAIL


def test_a_failure_without_a_lesson_is_unexplained():
    case = dataclasses.replace(CASES["incline"], lessons=(Lesson(("euler",), "why", ("creep",), shortest=1e-3),))
    wrong = true_values("incline") | {"creep": 1.0}
    assert check(case, "euler", 1e-2, wrong).lessons == ("why",)
    for method, dt in (("rk4", 1e-2), ("euler", 1e-4)):
        assert check(case, method, dt, wrong).unexplained == ("creep",)
    assert check(case, "euler", 1e-2, wrong | {"acceleration": 9.0}).unexplained == ("acceleration",)
    assert check(case, "euler", 1e-2, {}, "it diverged").unexplained == ("run",)
    with pytest.raises(InputError, match="measure gives"):
        check(case, "euler", 1e-2, {"creep": 0.0})


@pytest.mark.parametrize(
    ("name", "method", "outcome"),
    [
        ("incline", "coulomb", PASS),
        ("incline", "bilateral", FAIL),
        ("sliding-ball", "implicit-euler", PASS),
        ("rolling-ball", "stewart-trinkle", PASS),
        ("bouncing-ball", "event-selected", PASS),
        ("bouncing-ball", "variational", NOT_APPLICABLE),
        ("wedge", "coulomb/interior-point", PASS),
        ("wedge", "rk4", FAIL),
        ("painleve-rod", "coulomb", PASS),
        ("tumbling-body", "rk4", PASS),
    ],
)
def test_trials(name, method, outcome):
    trial = try_case(CASES[name], method, CASES[name].dts[0])
    assert trial.outcome == outcome, trial
    assert not trial.unexplained
    assert bool(trial.lessons) == (outcome == FAIL)
    assert bool(trial.message) == (outcome == NOT_APPLICABLE)


def test_patience_ends():
    trial = try_case(dataclasses.replace(CASES["incline"], patience=0.0), "coulomb", 1e-2)
    assert trial.outcome == FAIL
    assert "took too long" in trial.message
    assert trial.unexplained == ("run",)


def test_patience_begins_after_the_kernels_are_compiled(monkeypatch):
    """With a clock that stands still but for warming up, which takes an hour."""
    now, warm_up = [0.0], ss.Simulation.warm_up

    def compiles(sim):
        now[0] += 3600.0
        return warm_up(sim)

    monkeypatch.setattr(ss.Simulation, "warm_up", compiles)
    monkeypatch.setattr(time, "process_time", lambda: now[0])
    assert try_case(CASES["incline"], "coulomb", 1e-2).outcome == PASS
    assert now[0] == 2 * 3600.0


def test_patience_is_for_all_simulations_of_a_trial(monkeypatch):
    now, run = [0.0], ss.Simulation.run

    def slow(sim, *arguments, **options):
        now[0] += 40.0
        return run(sim, *arguments, **options)

    monkeypatch.setattr(ss.Simulation, "run", slow)
    monkeypatch.setattr(time, "process_time", lambda: now[0])
    assert "took too long" in try_case(CASES["incline"], "coulomb", 1e-2).message  # 80 s in two simulations


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (np.linalg.LinAlgError("Singular matrix"), "LinAlgError: Singular matrix"),
        (RuntimeError("first line\nsecond"), "RuntimeError: first line"),
        (ZeroDivisionError(), "ZeroDivisionError: "),
        (ss.DivergedError("it diverged"), "it diverged"),
    ],
)
def test_any_error_ends_its_own_trial_only(error, message):
    def measure(logs):
        raise error

    trial = try_case(dataclasses.replace(CASES["incline"], measure=measure), "coulomb", 1e-2)
    assert (trial.outcome, trial.message, trial.unexplained) == (FAIL, message, ("run",))
    assert all(np.isnan(finding.figure) for finding in trial.findings)


def test_workers_say_the_same_as_this_process():
    jobs = [("sliding-ball", method, 1e-2) for method in ("coulomb", "expo")]
    saved = []
    alone, together = run_jobs(jobs, workers=1), run_jobs(jobs, workers=2, save=saved.append)
    assert [t.findings for t in alone] == [t.findings for t in together]
    assert [t.method for t in together] == ["coulomb", "expo"]
    assert {t.method for t in saved} == {"coulomb", "expo"}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the case reaches workers by forking")
def test_a_worker_that_dies_is_a_failed_trial(monkeypatch):
    def die(logs):
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setitem(CASES, "incline", dataclasses.replace(CASES["incline"], measure=die))
    jobs = [("incline", "coulomb", 1e-2), ("sliding-ball", "coulomb", 1e-2), ("sliding-ball", "expo", 1e-2)]
    saved = []
    dead, *others = run_jobs(jobs, workers=2, save=saved.append)
    assert (dead.outcome, dead.unexplained) == (FAIL, ("run",))
    assert "its process died" in dead.message
    assert [t.outcome for t in others] == [PASS, PASS]
    assert sorted(t.method for t in saved) == ["coulomb", "coulomb", "expo"]


def test_which_cases_are_unproved():
    jobs = [("sliding-ball", "euler", 1e-2), ("sliding-ball", "expo", 1e-3)]
    assert unproved(run_jobs(jobs, workers=1)) == ["sliding-ball"]  # passes, but not at the default step
    assert unproved(run_jobs([("sliding-ball", "expo", 1e-2)], workers=1)) == []


def test_quick_jobs_are_few():
    quick, full = jobs_of(CASES.values(), quick=True), jobs_of(CASES.values())
    assert len(quick) < len(full) / 3
    assert all(dt == CASES[name].dts[0] for name, _, dt in quick)
    assert {name for name, _, _ in quick} == set(CASES)


def test_the_command_writes_numbers_and_a_page(tmp_path):
    words = ["bench", "truth", "--scene", "sliding-ball", "--method", "coulomb", "--quick", "--out", str(tmp_path)]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    numbers = json.loads((tmp_path / "truth.json").read_text())
    (trial,) = numbers["trials"]
    assert trial["findings"][0]["measured"] == pytest.approx(10 / 7, rel=1e-6)
    page = (tmp_path / "truth.md").read_text()
    assert "| coulomb | 0.01 | ✓ | 1.429 |" in page
    trial["findings"][0]["measured"] = 1.0  # an earlier trial that went wrong: kept, and checked again
    (tmp_path / "truth.json").write_text(json.dumps(numbers))
    assert CliRunner().invoke(app, [*words, "--keep"]).exit_code == 1
    assert CliRunner().invoke(app, words).exit_code == 0
    (tmp_path / "truth.json").write_text("{}")
    with pytest.raises(ss.RecordingError, match="holds no trials"):
        run_truth(["sliding-ball"], ["coulomb"], True, out=tmp_path, keep=True)
    bad = CliRunner().invoke(app, ["bench", "truth", "--scene", "sliding-ball", "--method", "bilateral", "--quick"])
    assert bad.exit_code == 1
    with pytest.raises(InputError, match="no-such-case"):
        run_truth(["no-such-case"])
    with pytest.raises(InputError, match="--out"):
        run_truth(["incline"], keep=True)
    with pytest.raises(InputError, match="no-such-method"):
        run_truth([], ["no-such-method"])


def test_a_suite_that_was_stopped_continues(tmp_path, monkeypatch):
    """Each trial is stored at once; truth.json is written at the end."""
    what = ["sliding-ball"], ["coulomb"], True
    assert run_truth(*what, out=tmp_path)
    (tmp_path / "truth.json").unlink()
    left = []
    monkeypatch.setattr(suite, "run_jobs", lambda jobs, **_: left.extend(jobs))
    assert run_truth(*what, out=tmp_path, keep=True)
    assert left == []
    assert len(json.loads((tmp_path / "truth.json").read_text())["trials"]) == 1


# -- the stored page --------------------------------------------------------------------------------------------------


def sections() -> dict[str, str]:
    parts = re.split(r"^## (.+)$", PAGE.read_text(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("name", CASES)
def test_the_stored_page_is_complete_and_explains_all_failures(name):
    case, text = CASES[name], sections()[name]
    assert "unexplained" not in text
    rows = re.findall(r"^\| ([\w/, -]+?) \| ([\d.e-]+) \| ([✓✗]) \|", text, flags=re.MULTILINE)
    refused = [m for ms in re.findall(r"^(.+): not applicable;", text, flags=re.MULTILINE) for m in ms.split(", ")]
    assert {(method, float(dt)) for method, dt, _ in rows} | {(m, dt) for m in refused for dt in case.dts} == {
        (method, dt) for method in case.methods() for dt in case.dts
    }
    ours = {method for method, dt, mark in rows if mark == MARKS[PASS] and float(dt) == case.dts[0]}
    assert ours - PEERS_SPELLED
    assert not case.quick or (ours - PEERS_SPELLED) & {method for _, method, _ in jobs_of([case], quick=True)}
    for fact in facts()[name]:
        assert f"| {fact.quantity}: {fact.meaning} |" in text


def test_the_page_says_what_a_trial_said():
    trial = try_case(CASES["incline"], "bilateral", 1e-2)
    page = markdown([CASES["incline"]], [trial])
    assert "| bilateral | ✗ |" in page
    assert f"- bilateral (0.01): {trial.lessons[0]}" in page


# -- the new scenes ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("e", [0.02, 0.1, 0.2, 0.7, 0.95])
def test_damping_gives_the_restitution(e):
    """Against a spring and damper without weight, integrated by event-selected steps."""
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_plane(stiffness=1e4, damping=bounce_damping(e, 1e4, 2.0))
    scene.add_sphere(0.1, pos=(0, 0, 0.11), mass=2.0)
    sim = ss.Simulation(scene, "event-selected", 1e-2, eps=1e-8, rtol=1e-8)
    sim.set_state(v=[0, 0, -1.0, 0, 0, 0])
    sim.step(20)
    assert sim.state.v[2] == pytest.approx(e, rel=1e-5)


def test_damping_of_what_springs_cannot_give():
    assert bounce_damping(1.0, 1e4, 1.0) == 0.0
    for e in (0.0, -0.1, 1.5):
        with pytest.raises(InputError, match="restitution"):
            bounce_damping(e, 1e4, 1.0)


def test_the_cradle_s_balls_hang_apart_by_the_gap():
    model = ss.SCENES["newtons-cradle"].build(balls=3, gap=2e-3).scene.compile()
    sim = ss.Simulation(model, "coulomb", 1e-4, margin=0.01)
    sim.set_state(q=np.zeros(3))
    sim.observe()
    np.testing.assert_allclose(sim.contacts.arrays.gap[: len(sim.contacts)], 2e-3, atol=1e-12)
    assert len(sim.contacts) == 2
