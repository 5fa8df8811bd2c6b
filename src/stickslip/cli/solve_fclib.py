"""``stickslip solve`` on FCLib's files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stickslip.errors import RecordingError, expected


def fclib_files(path: Path) -> list[Path]:
    """Those of a folder, or the file itself; none if it is a file of another kind."""
    from stickslip.problem_files.fclib import is_fclib

    if not path.is_dir():
        return [path] if is_fclib(path) else []
    found = sorted(entry for entry in path.iterdir() if entry.suffix in (".hdf5", ".h5") and is_fclib(entry))
    if not found:
        raise RecordingError(f"cannot read {str(path)!r}: expected a folder with files of FCLib's, got none in it")
    return found


def solve_fclib(
    files: list[Path], where: Path, solvers: tuple[str, ...] | None, options: dict[str, Any], repeat: int,
    relaxed: float | None, json: Path | None, out: Path | None, write: bool,
) -> None:  # fmt: skip
    """Every file by every solver."""
    from rich.console import Console

    from stickslip.lab.problems.fclib import UNITS, FCLibComparison, fclib_tables, not_solved, title
    from stickslip.lab.problems.solver_tables import not_tried, write_results
    from stickslip.lab.report import check_destinations
    from stickslip.problem_files.fclib import read_fclib
    from stickslip.progress import Progress

    if write and relaxed is not None:
        raise expected("--write", "Coulomb's law", "--relaxed", "its answers are no solutions of FCLib's problem")
    check_destinations(json, out)
    console = Console(markup=False)  # names may hold brackets
    comparison = FCLibComparison(solvers, repeat, options, relaxed)
    assert comparison.solvers is not None
    trials, titles = [], {}
    one = len(files) == 1
    with Progress("solving", len(files) * len(comparison.solvers), "problems × solvers") as bar:
        for at, path in enumerate(files, start=1):
            problem = read_fclib(path)
            titles[at] = title(path.name, problem)
            for trial in comparison.trials(at, path.name if one else "fclib", problem):
                trials.append(trial)
                bar.update(min(len(trials), len(files) * len(comparison.solvers)))
    for table in fclib_tables(trials, titles):
        console.print(table)
    console.print(UNITS, highlight=False, soft_wrap=True)
    for line in not_solved(trials) + not_tried(trials):
        console.print(line, highlight=False, soft_wrap=True)
    if write:
        for at, path in enumerate(files, start=1):
            console.print(_store(path, [t for t in trials if t.frame == at]), highlight=False, soft_wrap=True)
    write_results(where, trials, where.name, json, out, files=[str(path) for path in files])


def _store(path: Path, trials: list) -> str:
    """Put the best solution into the file, unless the one that is there is as good; says what was done."""
    from stickslip.lab.problems.fclib import STORED, best
    from stickslip.problem_files.fclib import read_fclib, write_fclib_solution

    found = best(trials)
    if found is None:
        return f"solution   {path}: no solver solved it, nothing was written"
    there = next((t for t in trials if t.solver == STORED), None)
    if there is not None and there.residual <= found.residual:
        return f"solution   {path}: the one that was there stays, with a natural residual of {there.residual:.1e}"
    write_fclib_solution(path, read_fclib(path).answer(found.impulses))
    return f"solution   {path}: /solution by {found.solver}, with a natural residual of {found.residual:.1e}"
