"""Comparisons: grids, references, orders, candidates that fail, determinism, the command."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import stickslip as ss
from stickslip.cli import app
from stickslip.errors import InputError
from stickslip.lab.compare import Candidate
from stickslip.lab.compare.experiment import MOST_FRAMES, experiment
from stickslip.lab.compare.worker import Stopwatch
from stickslip.record.layout import table

METHODS = ["semi-implicit-euler", "stewart-trinkle/lemke", "mujoco"]


@pytest.fixture(scope="module")
def sliding(tmp_path_factory):
    """A box that slides to rest, by three methods."""
    folder = tmp_path_factory.mktemp("sliding")
    return ss.compare(
        "incline", METHODS, time=0.2, runs=4, jobs=2, out=folder, reference="semi-implicit-euler", progress=False
    )


def test_every_method_has_its_runs(sliding):
    assert [candidate.label for candidate in sliding.candidates] == METHODS
    for candidate in sliding.candidates:
        assert len(candidate.runs) == 4
        assert all(run.outcome == "complete" for run in candidate.runs)
        steps = [run.dt for run in candidate.runs]
        assert np.allclose(np.diff(np.log2(steps)), -1.0)
        assert candidate.largest_stable_dt >= steps[0]
        assert candidate.materials
        assert candidate.citation.startswith("@")


def test_reference_is_finer_than_all_of_its_runs(sliding):
    label, dt = sliding.reference
    assert label == "semi-implicit-euler"
    assert dt == 0.5 * min(run.dt for run in sliding.candidate(label).runs)
    assert sliding.reference_recording.exists()
    assert all(run.scores["error_rms"] > 0 for run in sliding.runs())


def test_errors_shrink_with_the_step(sliding):
    errors = [run.scores["error_rms"] for run in sliding.candidate("semi-implicit-euler").runs]
    assert errors[0] > errors[1] > errors[2] > errors[3]
    assert sliding.candidate("semi-implicit-euler").order > 1.0  # its first step is half the limit, where springs ring
    fine = ss.compare(
        "incline", ["semi-implicit-euler"], time=0.2, runs=4, jobs=1, stability=False, progress=False
    ).candidates[0]
    assert fine.runs[0].dt == 0.5 * sliding.candidate("semi-implicit-euler").runs[0].dt
    assert fine.order == pytest.approx(1.0, abs=0.05)


def test_what_is_not_honoured_is_listed(sliding):
    rigid = " ".join(sliding.candidate("stewart-trinkle/lemke").materials)
    assert "does not act" in rigid
    assert "share" in " ".join(sliding.candidate("semi-implicit-euler").materials)


def arrays(log):
    """All that is recorded but the clock's."""
    return {name: log.dataset(name)[:] for name in table() if name != "wall"}


def test_same_bits_whatever_the_number_of_workers(sliding):
    again = ss.compare(
        "incline", METHODS, time=0.2, runs=4, jobs=1, stability=True, reference="semi-implicit-euler", progress=False
    )
    for run, other in zip(sliding.runs(), again.runs(), strict=True):
        assert (run.label, run.dt) == (other.label, other.dt)
        with run.log() as log, other.log() as twin:
            for name, values in arrays(log).items():
                assert values.tobytes() == arrays(twin)[name].tobytes(), (run.label, run.dt, name)


def test_temporary_recordings_go_with_the_result():
    result = ss.compare("ball", ["semi-implicit-euler"], time=0.02, runs=1, jobs=1, stability=False, progress=False)
    folder = result.folder
    assert folder.is_dir()
    del result
    assert not folder.exists()


class Broken(ss.METHODS["semi-implicit-euler"]):
    """Fails after a while."""

    def advance(self, state, inputs, n):
        if state.time > 0.01:
            raise RuntimeError("out of luck")
        return super().advance(state, inputs, n)


class Open(ss.METHODS["semi-implicit-euler"]):
    """From before loops were springs."""

    capabilities = replace(ss.METHODS["semi-implicit-euler"].capabilities, loops=False)


def test_failing_candidates_are_reported_and_the_others_go_on():
    scene = ss.SCENES["four-bar"].build().scene
    result = ss.compare(scene, ["stewart-trinkle/lemke", Open], time=0.02, dts=[1e-3], jobs=1, progress=False)
    good, refused = result.candidates
    assert good.runs[0].outcome == "complete"
    assert refused.runs[0].outcome == "failed"
    assert "closed loops" in refused.runs[0].message
    assert result.reference[0] == "stewart-trinkle/lemke"


def test_errors_of_foreign_code_are_in_words():
    result = ss.compare("ball", [Broken], time=0.05, dts=[1e-3], jobs=1, stability=False, progress=False)
    run = result.candidates[0].runs[0]
    assert run.outcome == "failed"
    assert re.match(r"RuntimeError: out of luck \(test_comparison.py, line \d+\)", run.message)


def test_unstable_steps_end_as_diverged_and_count_for_the_limit():
    result = ss.compare(
        "ball", ["semi-implicit-euler"], time=0.2, dts=[0.02, 1e-3], jobs=1, stability=True, progress=False
    )
    candidate = result.candidates[0]
    assert candidate.runs[-1].outcome == "complete"
    assert 1e-3 <= candidate.largest_stable_dt < 0.02
    assert candidate.stability.startswith("at ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"methods": "expo"}, "a list of names"),
        ({"methods": []}, "at least one"),
        ({"methods": ["expo", "expo"]}, "more than once"),
        ({"methods": ["expoo"]}, "did you mean 'expo'"),
        ({"methods": ["expo"], "dts": []}, "at least one time step"),
        ({"methods": ["expo"], "dts": [-1e-3]}, "positive numbers of seconds"),
        ({"methods": ["expo"], "dts": 1e-3}, "a list of time steps"),
        ({"methods": ["expo"], "dts": "1e-3"}, "a list of time steps"),
        ({"methods": ["expo"], "reference": 3}, "a label, or (label, dt)"),
        ({"methods": ["expo"], "runs": 1.5}, "a whole number ≥ 1"),
        ({"methods": ["expo"], "jobs": 0}, "a whole number ≥ 1"),
        ({"methods": ["expo"], "time": 0}, "a positive number of seconds"),
        ({"methods": ["expo"], "reference": "rk4"}, "unknown reference 'rk4'"),
    ],
)
def test_bad_input_is_refused_in_words(arguments, message):
    with pytest.raises(InputError, match=re.escape(message)):
        ss.compare("ball", **arguments)


def test_scene_must_be_one():
    with pytest.raises(InputError, match="bundled scene's name"):
        ss.compare(3, ["expo"])


def test_frames_are_limited_and_shared():
    what = experiment("solo12-squat", 10.0)
    assert what.control_dt == what.longest == 0.04
    assert what.record_dt(0.04) == 0.04
    assert 10.0 / what.record_dt(1e-5) <= MOST_FRAMES
    assert experiment("solo12-trot", 100.0).record_dt(1e-5) <= 2e-3  # its control step
    assert what.record_dt(0.04 / 1024) / what.record_dt(0.04 / 2048) == pytest.approx(1.0)


def test_controllers_that_remember_start_afresh():
    class Counter:
        calls = 0

        def __call__(self, t, q, v):
            self.calls += 1
            return np.zeros(0)

    counter = Counter()
    scene = ss.SCENES["ball"].build().scene
    what = experiment(ss.scenes.Setup(scene, counter), 0.1)
    what.build().controller(0.0, None, None)
    assert counter.calls == 0
    watch = Stopwatch(what.build().controller)
    watch(0.0, None, None)
    assert watch.seconds > 0.0


def test_command_writes_report_table_and_data(tmp_path):
    out = tmp_path / "comparison"
    command = ["compare", "ball", "--methods", "semi-implicit-euler,mujoco[cone=pyramidal]", "--time", "0.05"]
    result = CliRunner().invoke(app, [*command, "--dt", "1e-3,5e-4", "--jobs", "1", "--out", str(out)])
    assert result.exit_code == 0, result.output
    output = " ".join(result.output.split())
    assert "materials, as methods read them, mujoco[cone=pyramidal]:" in output
    assert "stiffness K = 100000 N/m: does not act; solref" in output
    assert (out / "report.html").stat().st_size > 10_000
    assert json.loads((out / "comparison.json").read_text())["scene"] == "ball"
    assert len(list((out / "recordings").glob("*.h5"))) == 5


@pytest.mark.parametrize("text", ["expo[", "expo[matmuls]", "]"])
def test_command_refuses_bad_methods(text):
    result = CliRunner().invoke(app, ["compare", "ball", "--methods", text])
    assert isinstance(result.exception, InputError)


def test_recordings_of_an_earlier_comparison_are_not_taken_for_new_ones(tmp_path):
    rest = {"time": 0.3, "dts": [5e-3], "jobs": 1, "stability": False, "out": tmp_path}
    first = ss.compare("pendulum", ["semi-implicit-euler"], **rest)
    assert first.candidates[0].runs[0].outcome == "complete"
    second = ss.compare("solo12-drop", ["semi-implicit-euler"], **rest)
    run = second.candidates[0].runs[0]
    assert run.outcome == "diverged"
    with run.log() as log:  # what there is of it is scored
        assert log.outcome == "diverged"
        assert "base_link" in log.names.links
    assert run.scores["energy_gained"] > 1.0
    assert np.isnan(run.scores["us_per_step"])


def test_reference_that_fails_is_said_and_is_not_its_own_judge():
    result = ss.compare(
        "solo12-drop", ["rk4", "mujoco"], dts=[1e-3], time=0.3, reference=("rk4", 5e-3), jobs=1, stability=False
    )
    assert result.reference == ("rk4", 1e-3)
    assert "0.005 s was to be the reference, but" in result.settings["reference"][0]
    assert np.isnan(result.candidate("rk4").runs[0].scores["error_rms"])
    assert result.candidate("mujoco").runs[0].scores["error_rms"] > 0.0


def test_order_does_not_depend_on_how_steps_are_chosen():
    dts = [16e-3, 8e-3, 6e-3, 5e-3, 1e-3]
    result = ss.compare("pendulum", ["stewart-trinkle/lemke"], dts=dts, time=0.2, stability=False, jobs=1)
    assert result.candidates[0].order == pytest.approx(1.0, abs=0.15)


def test_a_solver_from_outside_is_no_reference_where_there_is_another():
    def nothing(problem, z0):
        return np.zeros(problem.n)

    wrong = Candidate("stewart-trinkle/lemke", "wrong", {"solver": nothing})
    result = ss.compare(
        "sliding-block", [wrong, "stewart-trinkle/lemke"], time=0.1, dts=[0.01], jobs=1, stability=False
    )
    assert result.reference[0] == "stewart-trinkle/lemke"
    alone = ss.compare("sliding-block", [wrong], time=0.1, dts=[0.01], jobs=1, stability=False)
    assert "did not converge in" in alone.settings["reference"][0]


def test_command_says_why_and_fails_where_nothing_runs(tmp_path):
    out = tmp_path / "comparison"
    method = "bilateral[unconverged=fallback]"
    result = CliRunner().invoke(app, ["compare", "four-bar", "--methods", method, "--time", "0.01", "--out", str(out)])
    assert result.exit_code == 1
    output = " ".join(result.output.split())
    assert f"{method} failed: unconverged: bilateral has no 'fallback'" in output


def test_options_of_model_files_are_refused_for_bundled_scenes():
    result = CliRunner().invoke(app, ["compare", "ball", "--methods", "expo", "--floor", "-0.1"])
    assert isinstance(result.exception, InputError)
    assert "--floor is for model files" in str(result.exception)


def test_limit_is_searched_beyond_the_steps_asked_for():
    result = ss.compare("ball", ["expo"], time=0.1, dts=[1e-3], jobs=1, progress=False)
    assert result.candidates[0].largest_stable_dt == 0.02
    assert result.candidates[0].unlimited


def test_what_soft_contacts_give_back_is_no_instability():
    result = ss.compare("solo12-drop", ["mujoco"], time=0.3, runs=1, jobs=1)
    assert result.candidates[0].unlimited
    assert result.candidates[0].runs[0].outcome == "complete"
