"""Units of work: computed once, kept whole, and computed anew when anything that they depend on changes."""

import json

import numpy as np
import pytest

from stickslip.errors import InputError
from stickslip.lab import store as module
from stickslip.lab.store import NotStoredError, Store, check_folder
from stickslip.lab.targets import Target, worst


def never():
    raise AssertionError("computed again")


def test_a_unit_is_computed_once(tmp_path):
    first = Store(tmp_path / "data")
    assert first.unit("kind", {"dt": 0.5}, lambda: {"error": 2.0}) == {"dt": 0.5, "error": 2.0}
    again = Store(tmp_path / "data")
    assert again.unit("kind", {"dt": 0.5}, never) == {"dt": 0.5, "error": 2.0}
    assert (first.computed, first.reused, again.computed, again.reused) == (1, 0, 0, 1)


def test_arrays_come_back_as_they_were(tmp_path):
    wanted = {"q": np.arange(6.0).reshape(2, 3), "active": np.array([1, 0])}
    Store(tmp_path).arrays("truth", {"n": 2}, lambda: wanted)
    found = Store(tmp_path).arrays("truth", {"n": 2}, never)
    assert {name: array.dtype for name, array in found.items()} == {"q": np.float64, "active": np.int64}
    assert all(np.array_equal(found[name], wanted[name]) for name in wanted)


def test_changes_are_computed_anew(tmp_path, monkeypatch):
    Store(tmp_path).unit("kind", {"dt": 0.5}, lambda: {"x": 1})
    assert Store(tmp_path).unit("kind", {"dt": 0.25}, lambda: {"x": 2})["x"] == 2
    assert Store(tmp_path).unit("other", {"dt": 0.5}, lambda: {"x": 3})["x"] == 3
    monkeypatch.setattr(module, "code_hash", lambda: "other source")
    assert Store(tmp_path).unit("kind", {"dt": 0.5}, lambda: {"x": 4})["x"] == 4


def test_fresh_starts_over(tmp_path):
    Store(tmp_path / "data").unit("kind", {}, lambda: {"x": 1})
    assert Store(tmp_path / "data", fresh=True).unit("kind", {}, lambda: {"x": 2})["x"] == 2


def test_an_interrupted_unit_leaves_no_result(tmp_path, monkeypatch):
    monkeypatch.setattr(json, "dumps", lambda *a, **k: (_ for _ in ()).throw(KeyboardInterrupt) if "x" in a[0] else "")
    with pytest.raises(KeyboardInterrupt):
        Store(tmp_path).unit("kind", {}, lambda: {"x": 1})
    assert not list(tmp_path.glob("*.json"))


def test_worst_is_relative_to_the_limit():
    a, b = Target("a", 5.0, 10.0), Target("b", 0.9, 1.0)
    assert worst([a, b]) is b
    assert a.met
    assert not Target("c", float("inf"), 1.0).met
    assert "MISSED" in str(Target("c", 2.0, 1.0))


def test_targets_have_three_kinds_of_limits():
    assert Target("a", 1.05, 1.0, "≤", 0.1).met
    assert Target("a", 0.95, 1.0, "≥", 0.1).met
    assert not Target("a", 0.5, 1.0, "≥", 0.1).met
    assert [Target("a", x, 1.0, "=", 0.1).met for x in (0.8, 0.95, 1.05, 1.2)] == [False, True, True, False]
    assert str(Target("a", 2.0, 1.0, "=", 0.1)) == "a: 2, target = 1 ± 0.1: MISSED"


def test_kept_units_are_found_whatever_the_source(tmp_path):
    Store(tmp_path, code="").keep("trial", {"dt": 0.1}, {"x": 1})
    assert Store(tmp_path, code="").find("trial", {"dt": 0.1}) == {"x": 1}
    assert Store(tmp_path, code="").find("trial", {"dt": 0.2}) is None
    assert Store(tmp_path).find("trial", {"dt": 0.1}) is None


def test_a_damaged_file_is_computed_anew(tmp_path):
    store = Store(tmp_path / "data")
    store.unit("fall", {"dt": 0.1}, lambda: {"error": 1.0})
    store.arrays("path", {"dt": 0.1}, lambda: {"x": np.arange(3.0)})
    for path in (tmp_path / "data").glob("*-*"):
        path.write_bytes(path.read_bytes()[:5])
    assert store.unit("fall", {"dt": 0.1}, lambda: {"error": 2.0})["error"] == 2.0
    assert store.arrays("path", {"dt": 0.1}, lambda: {"x": np.ones(2)})["x"].tolist() == [1.0, 1.0]


def test_folders_of_others_are_left_alone(tmp_path):
    (tmp_path / "README.md").write_text("mine")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "mine.csv").write_text("1")
    with pytest.raises(InputError, match="a new or empty folder"):
        check_folder(tmp_path)
    Store(tmp_path / "data", fresh=True)
    assert (tmp_path / "data" / "mine.csv").read_text() == "1"
    check_folder(tmp_path / "new")


def test_nothing_computed(tmp_path):
    store = Store(tmp_path / "data")
    store.unit("fall", {"dt": 0.1}, lambda: {"error": 1.0})
    with store.nothing_computed():
        assert store.unit("fall", {"dt": 0.1}, never)["error"] == 1.0
        with pytest.raises(NotStoredError):
            store.unit("fall", {"dt": 0.2}, never)
        with pytest.raises(NotStoredError):
            store.arrays("path", {"dt": 0.1}, never)
    assert store.unit("fall", {"dt": 0.2}, lambda: {"error": 2.0})["error"] == 2.0
