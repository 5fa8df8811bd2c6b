"""A slice of the fuzzing of data files; ``make fuzz`` runs as many cases as one likes."""

import sys
from pathlib import Path

FUZZ = Path(__file__).parent / "fuzz"


def test_damaged_data_files_are_read_or_refused(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(FUZZ))
    import run

    found = [run.run_case("data_files", 1, index, tmp_path / "case") for index in range(36)]
    assert {case["index"]: case["detail"] for case in found if case["outcome"] not in run.GOOD} == {}
    assert {case["outcome"] for case in found} == set(run.GOOD), "some are read and some are refused"
    for name in ("run", "data_files"):
        sys.modules.pop(name)
