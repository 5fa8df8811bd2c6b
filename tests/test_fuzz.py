"""A slice of the fuzzing that ``make fuzz`` does (tests/fuzz): seeded cases, in this process."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "fuzz"
spec = importlib.util.spec_from_file_location("fuzz_run", FOLDER / "run.py")
fuzz = importlib.util.module_from_spec(spec)
spec.loader.exec_module(fuzz)


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(("kind", "count"), [("models", 40), ("commands", 40)])
def test_a_slice_of_the_fuzzing_finds_nothing(kind, count, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    if kind == "commands":
        fuzz.kind_module(kind).prepare()
    results = [fuzz.run_case(kind, 21, index, tmp_path / "case") for index in range(count)]
    bad = [result for result in results if result["outcome"] not in fuzz.GOOD]
    assert not bad, bad[:2]
    assert {result["outcome"] for result in results} == set(fuzz.GOOD)  # neither all are refused nor all taken
