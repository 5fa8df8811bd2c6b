"""``stickslip solve``: captured contact problems, every formulation, every solver."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from stickslip.cli.plugin import Plugin, load_plugins
from stickslip.errors import expected

FORMS = "lcp,reduced,mlcp,ncp,cone"
FORMS_HELP = (
    "lcp: impulses of contacts only; reduced: joint impulses too; mlcp: velocities too; ncp: circular cone; cone: its "
    "convex relaxation"
)


def solve(
    file: Annotated[
        Path, Argument(help="a file of 'stickslip run SCENE --capture FILE', a file of FCLib's, or a folder of such")
    ],
    frames: Annotated[str, Option(help="numbers of frames, such as 1,5 or 1-10, or 'all'")] = "all",
    formulations: Annotated[str, Option(help="names with commas between (see 'stickslip list'), or 'all'")] = "all",
    forms: Annotated[str, Option(help=FORMS_HELP)] = FORMS,
    solvers: Annotated[str, Option(help="names with commas between (see 'stickslip list'), or 'all'")] = "all",
    directions: Annotated[int | None, Option(help="of the friction polygon; default: the formulations' own")] = None,
    tolerance: Annotated[float | None, Option(help="of the solvers, on the natural residual")] = None,
    max_iterations: Annotated[int | None, Option(help="of the solvers; default: each one's own")] = None,
    repeat: Annotated[int, Option(help="solutions that are timed; the median counts")] = 3,
    relaxed: Annotated[
        float | None, Option(help="FCLib's files: pose the convex relaxation with this regularisation R ≥ 0 [1/kg]")
    ] = None,
    json: Annotated[Path | None, Option(help="write all numbers and histories to this file")] = None,
    out: Annotated[Path | None, Option(help="write solve.json, solve.csv and convergence.png to this folder")] = None,
    write: Annotated[
        bool,
        Option(
            "--write", help="store residual histories in FILE, under solver_data; FCLib's files: the best /solution"
        ),
    ] = False,
    plugin: Plugin = None,
) -> None:
    """Solve stored contact problems by every solver, and judge the answers alike.

    Residuals are natural residuals, the largest entry of z − mid(lower, z − F(z), upper), computed from the answer and
    not by the solver. Times are medians; the first solution, which compiles, does not count.

    Examples: [bold]stickslip run ball --method stewart-trinkle/lemke --capture ball.h5[/bold], then
    [bold]stickslip solve ball.h5 --out ball[/bold],
    [bold]stickslip solve ball.h5 --frames 1,5 --formulations stewart-trinkle --solvers lemke,pgs[/bold]

    FCLib's files (/fclib_local, /fclib_global) are solved as they are, with Coulomb's exact cone, and judged by the
    natural residual, FCLib's MERIT_1, Signorini's condition, the distance of impulses from their cones, and maximal
    dissipation.

    Examples: [bold]stickslip solve Capsules-i100-1090.hdf5 --solvers all --out capsules --write[/bold],
    [bold]stickslip run ball --method coulomb --capture ball.hdf5 --capture-format fclib[/bold], then
    [bold]stickslip solve ball-000000.hdf5[/bold]; [bold]stickslip solve ball-unconverged/ --json numbers.json[/bold]
    """
    from rich.console import Console

    from stickslip.cli.solve_fclib import fclib_files, solve_fclib
    from stickslip.lab.problems.solver_comparison import FORMS as EVERY_FORM
    from stickslip.lab.problems.solver_comparison import SolverComparison
    from stickslip.lab.problems.solver_tables import not_tried, tables, write_results
    from stickslip.lab.report import check_destinations
    from stickslip.problem_files.problem_file import ProblemFile, changed_problems, store_solver_data
    from stickslip.progress import Progress

    console = Console(markup=False)  # names may hold brackets
    load_plugins(plugin)
    options: dict[str, Any] = {"tolerance": tolerance, "max_iterations": max_iterations}
    given = {name: value for name, value in options.items() if value is not None}
    if files := fclib_files(file):
        for option, value, usual in (("--frames", frames, "all"), ("--formulations", formulations, "all"),
                                     ("--forms", forms, FORMS), ("--directions", directions, None)):  # fmt: skip
            if value != usual:
                raise expected(option, "nothing with FCLib's files, which hold one problem with circular cones", value)
        solve_fclib(files, file, names("--solvers", solvers), given, repeat, relaxed, json, out, write)
        return
    if relaxed is not None:
        raise expected("--relaxed", "a file of FCLib's with it", str(file), "choose --formulations relaxed")
    with ProblemFile(file) as problems:
        numbers = chosen_frames(frames, problems.numbers, str(file))
        stated = problems.states_normals
        check_destinations(json, out)
        formulated, by = names("--formulations", formulations), names("--solvers", solvers)
        every = names("--forms", forms) or EVERY_FORM
        comparison = SolverComparison(formulated, every, by, directions, repeat, given)
        trials = []
        total = comparison.size(len(numbers))
        with Progress(f"solving {_frames(numbers)}", total, "problems × solvers") as bar:
            for number in numbers:
                for trial in comparison.trials(number, problems.read(number)):
                    trials.append(trial)
                    bar.update(len(trials))
    if not stated:
        console.print("note: the file does not say which way normals point; from body 1 to body 2 is assumed")
    for table in tables(trials):
        console.print(table)
    for line in not_tried(trials):
        console.print(line, highlight=False, soft_wrap=True)
    if write:
        with changed_problems(file) as problem_file:
            for trial in (t for t in trials if t.tried):
                arrays, about = {"residuals": trial.history}, {"units": "N s or m/s", **trial.stored()}
                store_solver_data(problem_file, trial.frame, trial.name, arrays, **about)
        console.print(f"histories  {file}: solver_data of {_frames(numbers)}")
    write_results(file, trials, f"{file.name}: {_frames(numbers)}", json, out)


def _frames(numbers: list[int]) -> str:
    return f"frame {numbers[0]}" if len(numbers) == 1 else f"{len(numbers)} frames"


def names(option: str, text: str) -> tuple[str, ...] | None:
    """``"a,b"`` as names; None for all."""
    found = tuple(name.strip() for name in text.split(",") if name.strip())
    if not found:
        raise expected(option, "names with commas between, or 'all'", text)
    return None if found == ("all",) else found


def chosen_frames(text: str, there: list[int], file: str) -> list[int]:
    """``"1,5-7"`` as numbers of frames that exist."""
    if not there:
        raise expected(file, "a file with frames", "none", "capture some with 'stickslip run SCENE --capture FILE'")
    if text.strip() == "all":
        return there
    known = set(there)
    found: set[int] = set()
    for part in text.split(","):
        first, dash, last = (word.strip() for word in part.partition("-"))
        ends = (first, last) if dash else (first, first)
        if not all(end.isascii() and end.isdecimal() and len(end) <= 15 for end in ends):
            raise expected("--frames", "numbers such as 1,5 or 1-10, or 'all'", text)
        low, high = map(int, ends)
        if low > high:
            raise expected("--frames", f"the smaller number first, {high}-{low}", part.strip())
        for number in range(low, high + 1):  # ends at the first one that is not there
            if number not in known:
                raise expected("--frames", f"numbers of frames in the file, {there[0]} … {there[-1]}", number)
            found.add(number)
    return sorted(found)
