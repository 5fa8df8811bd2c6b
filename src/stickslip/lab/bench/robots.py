"""``stickslip bench robots FILE…``: a time step of robot models from anywhere beside MuJoCo's ``mj_step``.

Each file is loaded with ``ignore="all"``, and its meshes are converted where MuJoCo cannot read them. Every method and
MuJoCo simulate the same time from the keyframe ``home`` (or the file's pose) at the same dt, with the keyframe's
controls if the file and the scene have equally many actuators, else with none. Runs alternate, round by round, in one
process (``robot_run``); the figures are medians over rounds. MuJoCo steps the file as it is and also the scene that
stickslip made of it, which lacks the ignored features; the ratio is over the faster of the two.

A model runs in a process of its own, which is ended if a part of its work takes longer than ``limit`` seconds. A file
that is refused, a method that fails and a model that takes too long are rows with the reason. A method that fails on a
file that was loaded counts as an infinite ratio. Targets, for each method: a median of the ratios of at most 2, and at
most 5 for the worst model.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from functools import partial
from math import inf
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from stickslip.errors import expected, number
from stickslip.lab.bench.robot_run import PEERS, Robot, Settings, name_of, run_model
from stickslip.lab.report import check_destinations, finish, miss_style, terminal_table
from stickslip.lab.targets import Target
from stickslip.methods.registry import resolve
from stickslip.progress import Progress

METHODS = ("coulomb/pgs", "expo")
MEDIAN_TARGET = 2.0
WORST_TARGET = 5.0
COMPILATION = 600.0
"""[s] for the first step of a method, which may have to compile its kernels."""


def model_files(given: Sequence[Path]) -> list[Path]:
    """The model files; a file named ``.txt`` stands for the paths in it, one on each line."""
    files: list[Path] = []
    for path in given:
        if path.suffix != ".txt":
            files.append(path)
        elif not path.is_file():
            raise expected("FILE", "model files, or an existing .txt file with a path on each line", str(path))
        else:
            files += [Path(line.strip()) for line in path.read_text().splitlines() if line.strip()]
    if not files:
        raise expected("FILE", "at least one MJCF or URDF file", [str(path) for path in given])
    return files


def in_own_process(work: Callable[[Path, Any, Connection], None], path: Path, settings: Any, record: Any) -> Any:
    """The figures of one model, from ``work`` in a process of its own, which sends them as they come.

    ``record`` is what is known before the first of them. If the process dies or runs out of time, the figures are
    incomplete and have a reason.
    """
    context = get_context("spawn")  # a forked copy of a process with threads may hang
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=work, args=(path, settings, sender), daemon=True)
    process.start()
    sender.close()
    reason = ""
    try:
        while receiver.poll(COMPILATION if record.compiling else settings.limit):
            record = receiver.recv()
    except EOFError:
        process.join(1.0)
        reason = "" if record.complete else f"its process died with exit code {process.exitcode} {record.doing}"
    else:
        reason = f"stopped after {COMPILATION if record.compiling else settings.limit:g} s {record.doing}"
    finally:
        process.kill()
        process.join()
    record.reason = record.reason or reason
    return record


def measure(files: Sequence[Path], settings: Settings) -> list[Robot]:
    robots = []
    with Progress("robots", len(files), "models") as bar:
        for done, path in enumerate(files):
            robots.append(in_own_process(run_model, path, settings, Robot(name_of(path), str(path))))
            bar.update(done + 1)
    return robots


def targets(robots: Sequence[Robot], methods: Sequence[str]) -> list[Target]:
    """Median and worst ratio of each method over the models that were loaded."""
    aims = []
    for method in methods:
        ratios = [robot.ratio(method) for robot in robots if robot.loaded] or [inf]
        aims.append(Target(f"{method} / mj_step, median of {len(ratios)}", statistics.median(ratios), MEDIAN_TARGET))
        aims.append(Target(f"{method} / mj_step, worst of {len(ratios)}", max(ratios), WORST_TARGET))
    return aims


def _cell(robot: Robot, method: str) -> str:
    if method not in robot.times:
        return "failed" if method in robot.failures else ""
    note = "" if robot.steps[method] == robot.wanted_steps else f" ({robot.steps[method]} steps)"
    return f"{robot.times[method]:.3g}{note}"


def _models(robots: Sequence[Robot], settings: Settings) -> Table:
    title = f"MuJoCo: {settings.seconds:g} s at {1e3 * settings.dt:g} ms, median µs per step"
    table = terminal_table(title, ("model", "links", "dofs", "meshes", "largest hull", "file", "scene", "contacts"))
    for robot in robots:
        counts = (robot.links, robot.dofs, robot.meshes, robot.largest_hull)
        times = (_cell(robot, peer) for peer in PEERS)
        table.add_row(robot.name, *(f"{count}" for count in counts), *times, robot.count(PEERS[1]))
    return table


def _method_table(robots: Sequence[Robot], method: str) -> Table:
    headings = ("model", "µs per step", "over mj_step", "contacts", "kinetic [J]", "MuJoCo's [J]", "first step [s]")
    table = terminal_table(method, headings)
    for robot in robots:
        ratio, first = robot.ratio(method), robot.first_step.get(method)
        energies = ("" if who not in robot.kinetic else f"{robot.kinetic[who]:.3g}" for who in (method, PEERS[1]))
        row = (_cell(robot, method), f"{ratio:.2f}" if ratio < inf else "–", robot.count(method), *energies)
        table.add_row(robot.name, *row, "" if first is None else f"{first:.1f}", style=miss_style(ratio, WORST_TARGET))
    return table


def _tables(robots: Sequence[Robot], settings: Settings) -> list[Table]:
    loaded = [robot for robot in robots if robot.loaded]
    return [_models(loaded, settings), *(_method_table(loaded, method) for method in settings.methods)]


def _reasons(robots: Sequence[Robot]) -> list[str]:
    """One line for each file, method and peer without a figure, and for results that are not sane."""
    lines = [f"{robot.name}: {robot.reason}" for robot in robots if robot.reason]
    lines += [f"{robot.name}, {who}: {why}" for robot in robots for who, why in robot.failures.items()]
    return lines


def _plot(robots: Sequence[Robot], methods: Sequence[str], axes: Any) -> None:
    shown = [robot for robot in robots if robot.loaded]
    for method in methods:
        ratios = [robot.ratio(method) for robot in shown]
        axes.semilogy(range(len(shown)), [r if r < inf else float("nan") for r in ratios], "o", label=method)
    for limit in (MEDIAN_TARGET, WORST_TARGET):
        axes.axhline(limit, color="0.6", linewidth=0.8)
    axes.set_xticks(range(len(shown)), [robot.name for robot in shown], rotation=90, fontsize=7)
    axes.set_ylabel("time per step over mj_step")
    axes.grid(alpha=0.3)
    axes.legend()


def run_robots(given: Sequence[Path], settings: Settings, json_path: Path | None, out: Path | None) -> bool:
    """Measure, print the table, the reasons and the worst figure; True if every target is met."""
    files = model_files(given)
    check_destinations(json_path, out)
    for what in ("seconds", "dt", "limit"):
        number(what, getattr(settings, what), "a positive number of seconds from 1e-9 to 1e6", least=1e-9, most=1e6)
    if not settings.methods:
        raise expected("--methods", "names of methods with commas between", "none")
    for method in settings.methods:
        resolve(method)
    robots = measure(files, settings)
    console = Console()
    aims = targets(robots, settings.methods)
    numbers = {"settings": settings, "robots": robots}
    plot = partial(_plot, robots, settings.methods)
    met = finish("robots", numbers, aims, _tables(robots, settings), plot, json_path, out, size=(12.0, 6.0))
    for line in (*_reasons(robots), *(str(aim) for aim in aims)):
        console.print(line, highlight=False, soft_wrap=True, markup=False)
    return met
