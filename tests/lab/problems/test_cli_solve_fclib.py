"""``stickslip solve`` on FCLib's files: the judge's table, solutions written back, folders, and one-line errors."""

import csv
import json
import sys

import numpy as np
import pytest

from stickslip.cli import main
from stickslip.lab.problems import FCLibComparison
from stickslip.lab.problems.solver_tables import MOST_REASONS
from stickslip.problem_files.fclib import read_fclib, write_fclib
from stickslip.problem_files.fclib_problem import FCLibGlobal, FCLibInfo, FCLibProblem
from stickslip.solvers import SOLVERS, FrictionProblem, judge, solve

SOLVER = "fischer-newton"


@pytest.fixture
def call(monkeypatch, capsys):
    """``call(file, "--write")`` → (exit status, stdout, stderr)."""

    def _call(*arguments, columns=150):
        monkeypatch.setattr(sys, "argv", ["stickslip", *map(str, arguments)])
        monkeypatch.setenv("COLUMNS", str(columns))
        with pytest.raises(SystemExit) as exit_:
            main()
        out, err = capsys.readouterr()
        return exit_.value.code or 0, out, err

    return _call


def block(seed=0, nc=3):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(3 * nc, 3 * nc))
    return FrictionProblem(0.02 * A @ A.T + np.eye(3 * nc), rng.normal(size=3 * nc) - 1.0, rng.uniform(0.2, 0.8, nc))


@pytest.fixture
def local(tmp_path):
    write_fclib(tmp_path / "local.hdf5", block(), info=FCLibInfo("three contacts"))
    return tmp_path / "local.hdf5"


def test_a_file_by_every_solver(call, local, tmp_path):
    out, numbers = tmp_path / "out", tmp_path / "numbers.json"
    status, text, _ = call("solve", local, "--repeat", 1, "--out", out, "--json", numbers, "--write")
    assert status == 0
    assert "local.hdf5: local, 3 contacts in 3D (three contacts)" in text
    heading = next(line.split() for line in text.splitlines() if "MERIT_1" in line)
    assert heading == ["solver", "natural", "MERIT_1", "Signorini", "cone", "dissip.", "iter.", "ms", "solved"]
    content = json.loads(numbers.read_text())
    assert content == json.loads((out / "solve.json").read_text())
    trials = {trial["solver"]: trial for trial in content["trials"]}
    assert set(trials) == set(SOLVERS)
    for name, kind in SOLVERS.items():
        if "ncp" not in kind.solves:
            assert trials[name]["status"].startswith(f"not tried: {name} solves")
    assert 1 <= text.count("not tried: ") <= MOST_REASONS
    for name in ("fischer-newton", "fixed-point"):
        assert trials[name]["success"]
        assert trials[name]["merit_1"] < 1e-7
        assert trials[name]["signorini"] < 1e-7
        assert trials[name]["cone"] < 1e-7
        assert trials[name]["dissipation"] < 1e-7
        assert len(trials[name]["history"]) >= 2
    with (out / "solve.csv").open() as file:
        assert len(list(csv.DictReader(file))) == len(trials)
    assert (out / "convergence.png").stat().st_size > 10_000
    best = min((t for t in trials.values() if t["success"]), key=lambda t: t["residual"])
    assert f"/solution by {best['solver']}" in text
    stored = read_fclib(local)
    assert judge(stored.friction, stored.impulses(stored.solution)).natural == pytest.approx(best["residual"])
    np.testing.assert_allclose(stored.solution.u, stored.friction.function(stored.solution.r), atol=1e-14)


def test_a_stored_solution_is_judged_and_stays_if_it_is_better(call, local):
    file = read_fclib(local)
    good = solve(file.friction, SOLVER, tolerance=1e-14).z
    write_fclib(local, file, solution=good, guesses=[np.zeros(9)])
    before = local.read_bytes()
    status, text, _ = call("solve", local, "--solvers", SOLVER, "--tolerance", 1e-3, "--repeat", 1, "--write")
    assert status == 0
    assert local.read_bytes() == before
    assert "the one that was there stays" in text
    rows = {line.split()[0]: line for line in text.splitlines() if line.split()}
    assert rows["stored"].split()[-1] == "yes"
    assert rows["guess"].split()[-1] == "no"
    status, text, _ = call(
        "solve", local, "--solvers", SOLVER, "--max-iterations", 1, "--repeat", 1, "--write", columns=80
    )
    assert f"not solved by {SOLVER}: the limit on iterations" in text
    assert "…" not in text
    assert "no solver solved it" in text or "stays" in text


def test_a_folder_and_a_global_problem(call, tmp_path):
    rng = np.random.default_rng(1)
    whole = FCLibGlobal(2 * np.eye(9), rng.normal(size=(9, 6)), rng.normal(size=9), rng.normal(size=6), [0.5, 0.3])
    folder = tmp_path / "some"
    folder.mkdir()
    write_fclib(folder / "global.hdf5", whole)
    write_fclib(folder / "local.hdf5", block())
    (folder / "readme.txt").write_text("not a problem")
    status, text, _ = call(
        "solve", folder, "--solvers", SOLVER, "--repeat", 1, "--write", "--json", tmp_path / "n.json"
    )
    assert status == 0
    assert "global.hdf5: global, 2 contacts in 3D" in text
    assert "local.hdf5: local, 3 contacts" in text
    assert len(json.loads((tmp_path / "n.json").read_text())["files"]) == 2
    found = read_fclib(folder / "global.hdf5").solution
    np.testing.assert_allclose(2 * found.v, whole.H.array() @ found.r + whole.f, atol=1e-12)
    np.testing.assert_allclose(whole.H.array().T @ found.v + whole.w, found.u, atol=1e-12)


def test_many_files_have_one_row_per_solver(call, tmp_path):
    for k in range(31):
        write_fclib(tmp_path / f"a-{k:06d}.hdf5", block(k, nc=1))
    status, text, _ = call("solve", tmp_path, "--solvers", "fischer-newton,minmap-newton", "--repeat", 1, columns=80)
    assert status == 0
    assert "31 files" in text
    assert any(line.split()[:2] == ["fischer-newton", "31/31"] for line in text.splitlines())
    assert "…" not in text


def test_relaxed_problems():
    file = FCLibProblem(whole=FCLibGlobal(np.eye(3), np.eye(3), np.array([-1.0, 3, 4]), np.zeros(3), [0.5]))
    problem = FCLibComparison(["lemke"], relaxed=0.25).problem(file)
    assert problem.kind == "cone"
    np.testing.assert_array_equal(problem.matrix(), 1.25 * np.eye(3))


def test_mistakes_are_one_line(call, local, tmp_path):
    for arguments, message in (
        ((local, "--forms", "ncp"), "--forms: expected nothing with FCLib's files"),
        ((local, "--frames", "1"), "--frames: expected nothing with FCLib's files"),
        ((local, "--solvers", "lemkes"), "unknown solver 'lemkes'"),
        ((local, "--relaxed", "-1"), "relaxed: expected a regularisation R ≥ 0"),
        ((local, "--relaxed", "0", "--write"), "--write: expected Coulomb's law"),
        ((tmp_path / "none.hdf5",), "no such file"),
        ((tmp_path / "empty",), "expected a folder with files of FCLib's, got none in it"),
    ):
        (tmp_path / "empty").mkdir(exist_ok=True)
        status, _, err = call("solve", *arguments)
        assert status == 2, arguments
        assert message in " ".join(err.split()), arguments
        assert "Traceback" not in err


@pytest.mark.filterwarnings("always::stickslip.errors.StickslipWarning")
def test_runs_capture_and_leave_their_failures(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    common = ("run", "ball", "--method", "stewart-trinkle/lemke", "--dt", 0.01, "--time", 0.05)
    status, text, _ = call(*common, "--capture", "ball.hdf5", "--capture-format", "fclib", "--capture-every", 2)
    assert status == 0
    assert "ball-*.hdf5" in text
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"ball-00000{k}.hdf5" for k in (0, 2, 4)]
    monkeypatch.setattr("stickslip.methods.rigid.compiled_stepping.CompiledStepping.compiled", False)
    monkeypatch.setattr("stickslip.solvers.base.Solver.limit", lambda self, problem: -1.0)
    _, _, err = call(*common)
    assert "warning: stewart-trinkle: the solver of 5 of 5 steps" in err
    assert "'ball-unconverged' (5 files of FCLib's format, for 'stickslip solve')" in err
    failures = sorted((tmp_path / "ball-unconverged").iterdir())
    assert [path.name for path in failures] == [f"step-00000{k}.hdf5" for k in range(5)]
    _, _, err = call(*common, "--failures", "none")
    assert err.endswith("asks a second solver.\n")
    assert len(list(tmp_path.iterdir())) == 4
