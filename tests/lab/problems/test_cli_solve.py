"""``stickslip solve``: tables, files, reasons, and one-line errors."""

import csv
import json
import sys

import h5py
import pytest
from made_up_problems import cube, two_spheres

from stickslip.cli import main
from stickslip.problem_files.problem_file import ProblemFile, ProblemWriter


@pytest.fixture
def call(monkeypatch, capsys):
    """``call(file, "--frames", 1)`` → (exit status, stdout, stderr)."""

    def _call(*arguments, columns=150):
        monkeypatch.setattr(sys, "argv", ["stickslip", "solve", *map(str, arguments)])
        monkeypatch.setenv("COLUMNS", str(columns))
        with pytest.raises(SystemExit) as exit_:
            main()
        out, err = capsys.readouterr()
        return exit_.value.code or 0, out, err

    return _call


@pytest.fixture
def problems(tmp_path):
    path = tmp_path / "problems.h5"
    with ProblemWriter(path, scene="made up") as writer:
        writer.append(cube((1.0, 0, 0, 0, 0, 0)))
        writer.append(two_spheres())
    return path


def test_two_frames(call, problems, tmp_path):
    out, numbers = tmp_path / "out", tmp_path / "numbers.json"
    arguments = ("--solvers", "lemke", "--repeat", 1, "--out", out, "--json", numbers, "--write")
    status, text, _ = call(problems, *arguments)
    assert status == 0
    assert "frame 1: stewart-trinkle as lcp, 40 unknowns" in text
    assert "frame 2: peg as lcp, 10 unknowns" in text
    assert "not tried: lemke solves lcp, not mlcp" in text
    assert "not tried: without joints the form reduced is the lcp" in text
    content = json.loads(numbers.read_text())
    assert content == json.loads((out / "solve.json").read_text())
    solved = [t for t in content["trials"] if t["success"]]
    assert len(solved) == 6
    assert all(t["residual"] < 1e-8 and t["seconds"] > 0.0 for t in solved)
    with (out / "solve.csv").open() as file:
        assert len(list(csv.DictReader(file))) == len(content["trials"]) == 50
    assert (out / "convergence.png").stat().st_size > 10_000
    with ProblemFile(problems) as file:
        history = file.read(2).solver_data["stewart-trinkle-lcp-lemke"]["residuals"]
    with h5py.File(problems) as file:
        stored = file["mbs_frame000002/solver_data/stewart-trinkle-lcp-lemke"].attrs
        assert len(history) == stored["iterations"] + 1
        assert history[-1] == pytest.approx(stored["residual"], abs=1e-12)
        assert history[0] > 0.1


def test_eighty_columns_are_enough(call, tmp_path):
    """Every word of the summary of many trials, and of the table of one problem, is there in full."""
    path = tmp_path / "many.h5"
    with ProblemWriter(path, scene="made up") as writer:
        for _ in range(4):
            writer.append(cube((1.0, 0, 0, 0, 0, 0)))
            writer.append(two_spheres())
    chosen = ("--solvers", "lemke,fischer-newton,interior-point", "--repeat", 1)
    _, text, _ = call(path, *chosen, columns=80)
    heading = next(line for line in text.splitlines() if "formulation" in line)
    assert heading.split() == ["formulation", "form", "solver", "n", "solved", "residual", "iter.", "ms"]
    row = next(line.split() for line in text.splitlines() if "anitescu-potra" in line and "interior-point" in line)
    assert row[:3] == ["anitescu-potra", "lcp", "interior-point"]
    assert row[4] == "8/8"
    table = [line for line in text.splitlines() if not line.startswith("not tried")]
    assert "…" not in "".join(table)
    assert max(map(len, table)) <= 80
    _, text, _ = call(path, "--frames", 1, *chosen, columns=80)
    assert "…" not in text
    assert any(
        line.split() == ["solver", "residual", "iterations", "time,", "ms", "status"] for line in text.splitlines()
    )


def test_choices(call, problems):
    status, text, _ = call(
        problems, "--frames", "2", "--formulations", "peg", "--forms", "lcp", "--solvers", "lemke", "--directions", 6,
        "--repeat", 1,
    )  # fmt: skip
    assert status == 0
    assert text.count("frame ") == 1
    assert "8 unknowns" in text  # a normal, six directions, a slip
    assert "not tried" not in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--frames", "3"), "numbers of frames in the file, 1 … 2, got 3"),
        (("--frames", "1-999999999999"), "numbers of frames in the file, 1 … 2, got 3"),
        (("--frames", "2-1"), "--frames: expected the smaller number first, 1-2"),
        (("--frames", "²"), "--frames: expected numbers such as 1,5"),
        (("--frames", "one"), "--frames: expected numbers such as 1,5"),
        (("--solvers", "lemk"), "did you mean 'lemke'"),
        (("--formulations", ","), "--formulations: expected names"),
        (("--forms", "qp"), "unknown form 'qp'"),
        (("--repeat", "0"), "repeat"),
        (("--directions", "1"), "directions"),
        (("--tolerance", "-1"), "tolerance"),
        (("--json", "no/such/folder.json"), "does not exist"),
    ],
)
def test_wrong_arguments_are_one_line(call, problems, arguments, message):
    status, _, err = call(problems, *arguments)
    assert status == 2
    assert message in err
    assert err.count("\n") == 1


def test_wrong_files_are_one_line(call, tmp_path):
    text, other, none = tmp_path / "text.h5", tmp_path / "other.h5", tmp_path / "none.h5"
    text.write_text("not HDF5")
    with h5py.File(other, "w") as file:
        file["x"] = 1
    ProblemWriter(none).close()
    for path, message in (
        (tmp_path / "missing.h5", "no such file"),
        (tmp_path, "expected a folder with files of FCLib's, got none in it"),
        (text, "not HDF5"),
        (other, "without groups mbs_frame"),
        (none, "a file with frames"),
    ):
        status, _, err = call(path)
        assert status == 2
        assert message in err
        assert err.count("\n") == 1


def test_captured_run(call, monkeypatch, tmp_path):
    path = tmp_path / "ball.h5"
    arguments = "run ball --method stewart-trinkle/lemke --dt 0.01 --time 0.06 --capture-every 5 --capture"
    monkeypatch.setattr(sys, "argv", ["stickslip", *arguments.split(), str(path)])
    with pytest.raises(SystemExit) as exit_:
        main()
    assert not exit_.value.code
    status, text, _ = call(path, "--formulations", "stewart-trinkle", "--solvers", "lemke", "--repeat", 1)
    assert status == 0
    assert "frame 2: stewart-trinkle as lcp, 10 unknowns" in text
    assert "frame 3" not in text


def test_foreign_file_without_a_word_about_normals(call, problems):
    with h5py.File(problems, "r+") as file:
        for name in list(file.attrs):
            del file.attrs[name]
    status, text, _ = call(problems, "--solvers", "lemke", "--formulations", "peg", "--repeat", 1)
    assert status == 0
    assert "from body 1 to body 2 is assumed" in text
