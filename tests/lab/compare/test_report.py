"""The report of a comparison: what it says, and that it says what the numbers say."""

from dataclasses import replace
from io import StringIO

import numpy as np
import pytest
from made_up_comparison import made_up, recorded, run
from rich.console import Console

from stickslip.errors import RecordingError
from stickslip.lab.compare import METRICS, CandidateResult, Run
from stickslip.lab.compare.report import method_colours, table, write_report
from stickslip.lab.compare.report.chart import Axis, Chart, Line, svg, thin
from stickslip.lab.compare.report.colours import dashes
from stickslip.lab.compare.report.conclusions import conclusions, round_up
from stickslip.lab.compare.report.figures import read_trace_set
from stickslip.lab.compare.report.numbers import column, plain, with_unit
from stickslip.lab.compare.report.page import page
from stickslip.lab.compare.report.scores import best


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    return recorded(tmp_path_factory.mktemp("recordings"))


def said(comparison, heading):
    return next(entry for entry in conclusions(comparison) if entry.heading.startswith(heading))


def with_runs(comparison, label, *runs):
    return replace(
        comparison, candidates=tuple(replace(e, runs=runs) if e.label == label else e for e in comparison.candidates)
    )


def test_conclusions_names_the_winners():
    comparison = made_up()
    accurate = said(comparison, "Most accurate")
    assert accurate.label == "exact"
    assert "10\u202fµm" in accurate.text
    assert "favours it" in accurate.text, "it is compared with its own finer run"
    # The methods' best errors are 10 µm, 0.3 mm and 4 mm: the median is rounded up to 0.5 mm.
    fastest = said(comparison, "Fastest with an error below 500\u202fµm")
    assert fastest.label == "both"
    assert "20\u202fms of computing" in fastest.text
    assert "2 of 4 methods" in fastest.text
    # The cheapest runs cost 1, 2 and 500 ms per second; the median, 2 ms, buys 2 mm.
    assert said(comparison, "Most accurate within 2\u202fms").label == "both"
    energy = said(comparison, "Energy")
    assert energy.label == "quick"
    assert "500\u202fmJ" in energy.text
    assert "All others gain none" in energy.text
    assert said(comparison, "Longest stable step").label == "quick"
    assert said(comparison, "Not completed").text.startswith("1 of 7 runs")


def test_conclusions_follows_the_numbers():
    comparison = with_runs(made_up(), "quick", run("quick", 1e-2, 1000.0, 1e-6))
    assert said(comparison, "Most accurate").label == "quick"
    assert "favours" not in said(comparison, "Most accurate").text
    assert said(comparison, "Fastest").label == "quick"
    assert "No method gains" in said(comparison, "Energy").text


def test_nothing_measured_nothing_said():
    comparison = made_up()
    for candidate in comparison.candidates:
        comparison = with_runs(comparison, candidate.label, Run(candidate.label, 1e-2, "failed", "no"))
    assert [entry.heading for entry in conclusions(comparison)] == ["Longest stable step", "Not completed"]
    assert "no run besides the reference" in page(comparison)


def test_best_leaves_out_the_reference_and_ties():
    comparison = made_up()
    assert best(comparison, comparison.runs(), "error_rms") == {("exact", 1e-3)}
    assert best(comparison, comparison.runs(), "real_time_factor") == {("quick", 1e-2)}
    assert best(comparison, comparison.runs(), "cone") == set(), "all are equal"
    assert best(comparison, comparison.runs(), "energy_lost") == set(), "neither more nor less is better"


def test_typical_run_is_nearest_the_default_step():
    quick, *_, broken = made_up().candidates
    assert quick.typical().dt == 1e-2
    assert replace(quick, default_dt=2e-3).typical().dt == 1e-3
    assert quick.best().dt == 1e-3
    assert broken.typical() is None


def test_terminal_table_fits_and_marks_the_best():
    comparison = made_up()
    long = replace(comparison.candidates[0], label="a-method-with-a-long-name/and-a-solver-with-one")
    comparison = replace(comparison, candidates=(*comparison.candidates, long))
    console = Console(width=100, record=True, force_terminal=True, color_system="standard", file=StringIO())
    console.print(table(comparison, 100))
    styled = console.export_text(styles=True, clear=False)
    text = console.export_text()
    assert max(len(line) for line in text.splitlines()) <= 100
    assert "…" not in text
    assert "[mm]" in text
    assert "diverged" in text
    assert "<script>" in text
    assert "\x1b[1m0.0100\x1b[0m" in styled, "the smallest error, 10 µm, is bold"
    assert len(table(comparison, 100).columns) == 10
    narrow = table(comparison, 80)
    assert 6 <= len(narrow.columns) < 10
    console = Console(width=80, record=True, file=StringIO())
    console.print(narrow)
    text = console.export_text()
    assert max(len(line) for line in text.splitlines()) <= 80
    assert "│quick " in text, "labels keep their room"


def test_page_holds_everything(real):
    comparison = made_up()
    text = page(comparison)
    for entry in ("quick", "both", "exact", "friction μ = 0.8: circular cone", "restitution 0.5 &lt;of the ball&gt;"):
        assert entry in text
    for metric in METRICS.values():
        assert f'id="figure-{metric.name}"' in text
    assert "Quick &amp; dirty" in text
    assert text.count("title = {Both}") == 1, "the same citation once"
    assert "&lt;b&gt;try a smaller dt" in text
    assert "<script>alert" not in text
    assert "box &amp; ramp: 4 methods compared" in text
    assert "no recordings" in text
    assert "Nothing to draw" not in page(real)


def test_page_is_small_and_complete_with_recordings(real, tmp_path):
    path = write_report(real, tmp_path / "report.html", pictures=1)
    assert path.stat().st_size < 400_000
    text = path.read_text(encoding="utf-8")
    assert text.count("data:image/webp;base64,") == 1
    assert text.count('<svg class="chart"') == 2 + 4 + 3
    assert "Position x of" in text, "the box slides along x more than it sinks"
    with pytest.raises(RecordingError, match="folder"):
        write_report(real, tmp_path)


def test_missing_recording_is_left_out(real):
    first = real.candidates[0]
    gone = replace(first, runs=tuple(replace(r, recording=r.recording.with_name("gone.h5")) for r in first.runs))
    trace_set = read_trace_set(replace(real, candidates=(gone, *real.candidates[1:])))
    assert sorted(trace_set.traces) == [1, 2]
    assert trace_set.reference is not None


def test_reference_of_its_own(real):
    """A run that no candidate has; without any, there is no grey line and no distance."""
    extra = replace(real, reference=("coulomb/pgs", 1e-9), reference_recording=real.candidates[2].runs[1].recording)
    trace_set = read_trace_set(extra)
    assert np.allclose(trace_set.traces[2].distance, 0.0, atol=1e-12)
    assert trace_set.traces[1].distance.max() > 0.0
    none = read_trace_set(replace(real, reference=("", np.nan)))
    assert none.reference is None
    assert len(none.traces[1].distance) == 0


def test_methods_that_could_not_start_and_figures_from_outside():
    comparison = made_up()
    alone = CandidateResult("x", "x", "", {}, (Run("x", np.nan, "failed", "no such law"),))
    text = page(replace(comparison, candidates=(alone,), reference=("", np.nan)))
    assert "no such law" in text
    assert "There is no reference" in text
    assert ">nan" not in text
    mine = run("quick", 1e-2, 10.0, 1e-3, my_figure=0.125)
    text = page(with_runs(comparison, "quick", mine))
    assert 'id="figure-my_figure"' in text
    assert "0.125" in text


def test_traces_are_those_of_the_recording(real):
    trace_set = read_trace_set(real)
    with real.candidates[1].typical().log() as log:
        assert np.array_equal(trace_set.traces[1].time, log.time)
        assert np.allclose(trace_set.traces[1].normal, log.contact_force())
        assert np.allclose(trace_set.traces[1].motions[0], log.pose[:, 1, trace_set.motions[0].column])
        total = log.energy.sum(axis=1) + np.nan_to_num(log.contact_energy)
        assert np.allclose(trace_set.traces[1].energy, total - total[0])
    weight = sum(force for _, force in trace_set.traces[1].pairs)
    assert np.allclose(weight, trace_set.traces[1].normal)


def test_thinning_keeps_peaks_and_ends():
    x = np.arange(100_000.0)
    y = np.zeros_like(x)
    y[[777, 50_001]] = 5.0, -3.0
    a, b = thin(x, y, 100)
    assert len(a) <= 102
    assert (b.max(), b.min(), a[0], a[-1]) == (5.0, -3.0, 0.0, 99_999.0)
    assert np.all(np.diff(a) > 0)


def test_axes():
    axis = Axis(1e-6, 1e-2, 0.0, 100.0, True, "m")
    assert np.allclose(axis.at([1e-6, 1e-4, 1e-2]), [0, 50, 100])
    assert [text.replace("\u202f", " ") for _, text in axis.ticks(6)] == ["1 µm", "10 µm", "100 µm", "1 mm", "10 mm"]
    assert [text for _, text in Axis(-0.1, 0.32, 0.0, 100.0, False, "").ticks(5)] == [
        "−0.1",
        "0.0",
        "0.1",
        "0.2",
        "0.3",
    ]
    assert [value for value, _ in Axis(0.9, 3.0, 0, 1, True, "").ticks(5)] == [1.0, 2.0]


def test_chart_draws_points_where_they_belong():
    line = Line("a", np.array([1.0, np.nan, 3.0]), np.array([10.0, 1.0, 30.0]), 0)
    text = svg(Chart("t", "x", "y", [line], x_limits=(1, 3), y_limits=(10, 30)))
    assert 'points="56.0,252.0 466.0,26.0"' in text
    assert svg(Chart("t", "x", "y", [Line("a", np.zeros(0), np.zeros(0))])) == ""
    assert svg(Chart("t", "x", "y", [Line("a", np.ones(3), -np.ones(3))], y_log=True)) == ""


def test_colours_stay_with_methods():
    alone = method_colours(["coulomb/pgs"])
    together = method_colours(["expo", "stewart-trinkle", "rk4", "coulomb/pgs"])
    assert alone["coulomb/pgs"] == together["coulomb/pgs"]
    eight = method_colours(["coulomb/pgs", "coulomb/newton", *"abcdef"])
    assert len(set(eight.values())) == 8
    many = ["bilateral", "stewart-trinkle", *map(str, range(20))]
    looks = list(zip(method_colours(many).values(), dashes(many), strict=True))
    assert len(set(looks)) == len(many), "colour and dashes together read_trace_set lines apart"
    assert dashes(["expo", "rk4"]) == ["", ""]
    assert method_colours(["expo"], dark=True) != method_colours(["expo"])


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [(2e-5, "m", "20 µm"), (2e-4, "m", "200 µm"), (0.0012345, "s", "1.23 ms"), (1.0, "s", "1 s"),
     (-1500.0, "J", "−1.5 kJ"), (9.999e-4, "m", "1 mm"), (0.0, "m", "0 m"), (np.nan, "s", "–"), (3.0, "", "3.00"),
     (1e-20, "m", "1.00·10⁻²⁰ m")],
)  # fmt: skip
def test_numbers_with_units(value, unit, text):
    assert with_unit(value, unit).replace("\u202f", " ") == text


def test_plain_numbers():
    assert [plain(v) for v in (0.0, 1.0, 0.012345, 1234.5, 1.5e-7, np.inf, np.nan)] == [
        "0", "1.00", "0.0123", "1234", "1.50·10⁻⁷", "∞", "–",
    ]  # fmt: skip
    assert column(0.0123, "m") == "12.3", "metres are shown as millimetres"
    assert [round_up(v) for v in (1.0, 1.1, 3e-4, 6.0, 0.02)] == [1.0, 2.0, 5e-4, 10.0, 0.02]
