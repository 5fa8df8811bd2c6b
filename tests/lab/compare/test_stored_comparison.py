"""A comparison is saved and read again, whole, and its folder may be moved."""

import json
from math import inf, isnan, nan

import pytest
from made_up_comparison import made_up, run

from stickslip.errors import RecordingError
from stickslip.lab.compare import CandidateResult, Comparison, Run, load_comparison


def test_round_trip(tmp_path):
    comparison = made_up()
    assert comparison.save(tmp_path / "new") == tmp_path / "new" / "comparison.json"
    again = load_comparison(tmp_path / "new")
    # NaN is unequal to itself, so candidates are compared as text.
    assert repr(again.candidates) == repr(comparison.candidates)
    assert again.reference == comparison.reference
    assert again.settings == comparison.settings
    assert again.versions == comparison.versions
    assert (again.scene, again.seconds, again.folder) == ("box & ramp", 2.0, tmp_path / "new")
    assert load_comparison(tmp_path / "new" / "comparison.json").scene == "box & ramp"


def test_numbers_that_are_none_and_things_that_json_has_not(tmp_path):
    one = CandidateResult("a", "expo", "", {}, (run("a", 1e-3, nan, inf), Run("a", nan, "failed")))
    comparison = Comparison("s", 1.0, (one,), ("a", 1e-3), {"f": print, 3: tmp_path, "none": None}, {})
    comparison.save(tmp_path)
    text = (tmp_path / "comparison.json").read_text()
    assert "NaN" not in text
    assert "Infinity" not in text
    again = load_comparison(tmp_path)
    assert isnan(again.candidates[0].runs[0].scores["real_time_factor"])
    assert again.candidates[0].runs[0].scores["error_rms"] == inf
    assert isnan(again.candidates[0].runs[1].dt)
    assert again.settings["f"] == str(print)
    assert again.settings["none"] is None


def test_comparisons_of_earlier_versions_are_read(tmp_path):
    """Format 1 called the candidates entrants."""
    made_up().save(tmp_path)
    content = json.loads((tmp_path / "comparison.json").read_text())
    old = {**content, "format": 1, "entrants": content.pop("candidates")}
    del old["candidates"]
    (tmp_path / "comparison.json").write_text(json.dumps(old))
    again = load_comparison(tmp_path)
    assert repr(again.candidates) == repr(made_up().candidates)
    with pytest.warns(DeprecationWarning, match="candidates"):
        assert again.entrants == again.candidates
    with pytest.warns(DeprecationWarning, match="candidate"):
        assert again.entrant(again.candidates[0].label) is again.candidates[0]


def test_moved_folder_finds_its_recordings(tmp_path):
    inside, outside = tmp_path / "a" / "x.h5", tmp_path / "y.h5"
    runs = (Run("m", 1e-2, "complete", recording=inside), Run("m", 1e-3, "complete", recording=outside))
    one = CandidateResult("m", "m", "", {}, runs)
    comparison = Comparison("s", 1.0, (one,), ("m", 1e-3), {}, {}, tmp_path / "a", inside)
    comparison.save()
    (tmp_path / "a").rename(tmp_path / "b")
    first, second = load_comparison(tmp_path / "b").candidates[0].runs
    assert first.recording == tmp_path / "b" / "x.h5"
    assert second.recording == outside
    assert load_comparison(tmp_path / "b").reference_recording == first.recording


def test_bad_files_are_refused(tmp_path):
    with pytest.raises(RecordingError, match="expected a stored comparison"):
        load_comparison(tmp_path)
    (tmp_path / "comparison.json").write_text('{"kind": "other"}')
    with pytest.raises(RecordingError, match="other JSON"):
        load_comparison(tmp_path)
    (tmp_path / "comparison.json").write_text('{"kind": "stickslip comparison", "format": 99}')
    with pytest.raises(RecordingError, match="format 1 or 2, got 99"):
        load_comparison(tmp_path)
    with pytest.raises(RecordingError, match="no folder"):
        made_up().save()


def test_work_precision_plot():
    pytest.importorskip("matplotlib").use("Agg")
    ax = made_up().plot()
    lines = {line.get_label(): line for line in ax.get_lines()}
    assert set(lines) == {"quick", "both", "exact"}
    assert lines["quick"].get_xdata().tolist() == [1e-3, 1e-2]
    assert lines["quick"].get_ydata().tolist() == [1e-2, 4e-3]
    assert len(lines["exact"].get_xdata()) == 1, "the reference has no error"
    assert ax.get_xscale() == ax.get_yscale() == "log"
    assert made_up().plot(ax=ax) is ax
