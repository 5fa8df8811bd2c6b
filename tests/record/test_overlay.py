"""Several runs in one picture, and long ones that still draw quickly."""

import matplotlib as mpl

mpl.use("Agg")

import numpy as np
import pytest
from made_up_run import BARE, contacts, frame, made_up_model
from matplotlib.figure import Figure
from typer.testing import CliRunner

import stickslip as ss
from stickslip.cli import app
from stickslip.record import Recorder
from stickslip.record.overlay import labels, overlay, save_plots
from stickslip.record.plot import COLUMNS, PLOTS, thinned


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    model, folder = made_up_model(), tmp_path_factory.mktemp("runs")
    paths = []
    for k, method in enumerate(("expo", "expo", "rk4")):
        options = {"method": method, "variant": "none", "dt": 0.01}
        with Recorder(folder / f"run{k}.h5", model, options=options, constraints=("elbow",)) as recorder:
            for i in range(20 + k):
                recorder.append(frame(model, i, joints=1), contacts(i))
        paths.append(folder / f"run{k}.h5")
    return paths


@pytest.fixture
def logs(runs):
    opened = [ss.load(path) for path in runs]
    yield dict(zip(labels(opened), opened, strict=True))
    for log in opened:
        log.close()


@pytest.mark.parametrize("what", PLOTS)
def test_each_run_has_its_colour(logs, what):
    ax = overlay(logs, what, Figure().subplots())
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts[:3] == list(logs)
    colours = {line.get_color() for line in ax.lines}
    assert colours == {"C0", "C1", "C2"}
    ax.figure.canvas.draw()


def test_runs_of_one_method_are_told_apart_by_their_files(logs):
    assert list(logs) == ["run0: expo/none, dt = 0.01 s", "run1: expo/none, dt = 0.01 s", "run2: rk4/none, dt = 0.01 s"]
    first, _, last = logs.values()
    assert labels([first, last]) == ["expo/none, dt = 0.01 s", "rk4/none, dt = 0.01 s"]
    assert len(set(labels([first, first]))) == 2


def test_a_note_stays_only_where_no_run_has_anything(logs):
    bare = Recorder(None, made_up_model(BARE)).log()
    assert not overlay({**logs, "bare": bare}, "contact_force", Figure().subplots()).texts
    assert len(overlay({"a": bare, "b": bare}, "contact_force", Figure().subplots()).texts) == 1


def test_plot_from_the_command_line(runs, tmp_path):
    def invoke(*words):
        return CliRunner().invoke(app, ["plot", *map(str, words)])

    assert invoke(*runs, "energy", "slip", "--out", tmp_path / "a.svg").exit_code == 0
    assert "rk4/none" in (tmp_path / "a.svg").read_text()
    assert invoke(runs[0]).exit_code == 0
    assert runs[0].with_suffix(".png").stat().st_size > 10_000
    for words, message in (
        (("energy",), "the file of a recording"),
        ((runs[0], "enrgy"), "did you mean 'energy'"),
        (("none.h5",), "no such file"),
        ((runs[0], "--out", tmp_path / "a.bmp"), "ends in .png"),
    ):
        result = invoke(*words)
        assert isinstance(result.exception, ss.StickslipError)
        assert message in str(result.exception)
    with pytest.raises(ss.InputError, match="at least one recording"):
        save_plots({}, [], tmp_path / "a.png")


def test_thinned_curves_keep_every_peak():
    time = np.arange(60_001.0)
    y = np.sin(time / 900.0)
    y[31_234], y[55_555], y[40_000] = 7.0, -9.0, np.nan
    t, thin = thinned(time, y)
    assert len(thin) <= 3 * COLUMNS
    assert (t[0], t[-1]) == (time[0], time[-1])
    assert np.nanmax(thin) == 7.0
    assert np.nanmin(thin) == -9.0
    assert np.all(np.diff(t) > 0)
    assert np.array_equal(thin, y[t.astype(int)], equal_nan=True)


def test_short_curves_are_drawn_as_they_are():
    time = np.arange(3 * COLUMNS - 1.0)
    assert thinned(time, time)[1] is time


def test_a_curve_of_no_numbers():
    time = np.arange(4.0 * COLUMNS)
    assert np.isnan(thinned(time, np.full(len(time), np.nan))[1]).all()
