"""``stickslip bench worlds``: many worlds at once, beside ``mujoco.rollout`` on a CPU and MuJoCo Warp on a GPU.

Solo12 stands with a servo in every joint (``world_steps``), in every world with other random velocities.

* Steps per second over the number of worlds: 50 steps after five that are not timed, by each method at its time step,
  beside MuJoCo at the same time step, with one thread and with one per processor. ``mujoco.rollout`` also writes the
  states of all steps down, as is its way, into arrays made before. Ours on a GPU go on from call to call.
* Simulated seconds per second at equal error (``world_errors``).
* Memory per world: what a world has for itself, and on a GPU what a thread works in.

Everything of a part is timed in turn, round by round, in one process; the figures are medians over rounds. Targets on a
CPU: all processors together 0.9 times as many steps as each alone would take, and ``coulomb/pgs`` at least 1.2 times
``mujoco.rollout``'s steps, on one thread. On a GPU: steps per second of 32 768 worlds on an H200.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from math import isfinite
from pathlib import Path
from typing import Any

import mujoco
from rich.table import Table

from stickslip.errors import expected, one_of
from stickslip.files import processors
from stickslip.lab.bench.timing import interleaved
from stickslip.lab.bench.world_errors import LEVELS, PEER, SPREAD, WARP, Accuracy, measure_errors, speed_at
from stickslip.lab.bench.world_steps import Rollouts, WarpSteps, WorldSteps, has_warp, make_worlds, method_dt
from stickslip.lab.report import check_destinations, finish, quiet, terminal_table
from stickslip.lab.targets import Target
from stickslip.methods.registry import resolve
from stickslip.summary import plural
from stickslip.worlds.devices import checked_device, checked_dtype

METHODS = {
    "cpu": ("semi-implicit-euler", "expo", "coulomb/pgs", "relaxed/pgs", "variational"),
    "cuda": ("semi-implicit-euler", "expo", "coulomb/pgs", "relaxed/pgs"),
}
WORLDS = {"cpu": (1, 4, 16, 64, 256, 1024), "cuda": (1024, 8192, 32_768, 131_072)}
FAST = 0.3
"""[m/s, rad/s] of the random velocities where steps per second are measured."""
SCALING = 0.9
"""Least share of each processor's own throughput that is left when all work."""
PEER_TARGET = 1.2
GPU_WORLDS = 32_768
GPU_TARGETS = {"semi-implicit-euler": 45e6, "coulomb/pgs": 12e6, "relaxed/pgs": 12e6, "expo": 8e6}
"""Steps per second of ``GPU_WORLDS`` in float64; in float32 1.6 times as many."""
SINGLE = 1.6
NO_WARP = "MuJoCo Warp is not installed here (pip install mujoco-warp), so it is not measured."


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    worlds: tuple[int, ...] = ()
    """Numbers of worlds; none: those of the device."""
    rounds: int = 5
    steps: int = 50
    seconds: float = 1.0
    """[s] simulated where errors are measured."""
    judged: int = 16
    """Worlds whose errors are measured."""
    error_rounds: int = 3


QUICK = Sizes(rounds=3, seconds=0.2, judged=8, error_rounds=2)
QUICK_WORLDS = {"cpu": (1, 16, 64), "cuda": (1024, 32_768)}


@dataclass(frozen=True)
class Throughput:
    """Steps per second of a method, or of MuJoCo, with so many worlds and threads."""

    name: str
    dt: float
    """[s]"""
    worlds: int
    threads: int
    """0 on a GPU."""
    steps_per_second: float
    bytes_per_world: int = 0
    scratch_bytes: int = 0
    diverged: int = 0


@dataclass(frozen=True)
class Figures:
    """All that was measured."""

    device: str
    dtype: str
    throughputs: list[Throughput]
    accuracies: list[Accuracy]
    processors: int = field(default_factory=processors)

    def rate(self, name: str, dt: float, worlds: int, threads: int) -> float:
        """Steps per second; NaN if they were not measured."""
        key = (name, dt, worlds, threads)
        found = [t for t in self.throughputs if (t.name, t.dt, t.worlds, t.threads) == key]
        return found[0].steps_per_second if found else float("nan")

    @property
    def methods(self) -> list[tuple[str, float]]:
        """(method, dt) of ours."""
        return list(dict.fromkeys((t.name, t.dt) for t in self.throughputs if t.name not in (PEER, WARP)))


def measure_steps(
    methods: Sequence[str], worlds: Sequence[int], sizes: Sizes, device: str, dtype: str
) -> list[Throughput]:
    """Steps per second of all methods, and of MuJoCo at their time steps, over the number of worlds."""
    on_cpu = device == "cpu"
    threads = tuple(dict.fromkeys((1, processors()))) if on_cpu else (0,)
    steps = [method_dt(method) for method in methods]
    timed: dict[tuple[str, float, int, int], Callable[[], float]] = {}
    for n in worlds:
        repeats = max(1, 64 // n)
        for count in threads:
            own: dict[str, Any] = {"threads": count} if on_cpu else {"device": device, "dtype": dtype}
            for method, dt in zip(methods, steps, strict=True):
                made = make_worlds(n, method, dt, FAST, **own)
                timed[method, dt, n, count] = WorldSteps(made, sizes.steps, repeats)
            for dt in dict.fromkeys(steps):
                if on_cpu:
                    timed[PEER, dt, n, count] = Rollouts(n, dt, count, FAST, sizes.steps, repeats)
                elif has_warp():
                    timed[WARP, dt, n, count] = WarpSteps(n, dt, FAST, sizes.steps)
    median = interleaved(timed, sizes.rounds, "steps of worlds")
    found = []
    for key, us in median.items():
        work = timed[key]
        if isinstance(work, WorldSteps):
            w = work.worlds
            found.append(Throughput(*key, 1e6 / us, w.bytes_per_world, w.scratch_bytes, int(w.diverged.sum())))
        else:
            found.append(Throughput(*key, 1e6 / us))
    return found


def targets(figures: Figures) -> list[Target]:
    most = max(t.worlds for t in figures.throughputs)
    stopped = sum(t.diverged for t in figures.throughputs)
    aims = [Target("worlds that diverged", stopped, 0.0)]
    for method, dt in figures.methods:
        if figures.device == "cuda":
            limit = GPU_TARGETS.get(method, 0.0) * (SINGLE if figures.dtype == "float32" else 1.0)
            rate = figures.rate(method, dt, GPU_WORLDS, 0)
            if limit and isfinite(rate):
                name = f"{method}, million steps/s of {GPU_WORLDS} worlds, {figures.dtype}"
                aims.append(Target(name, 1e-6 * rate, 1e-6 * limit, "≥"))
            continue
        one, count = figures.rate(method, dt, most, 1), figures.processors
        if count > 1:
            together = figures.rate(method, dt, most, count) / one
            aims.append(Target(f"{method}, {count} threads / 1, {most} worlds", together, SCALING * count, "≥"))
        if method == "coulomb/pgs":
            ratio = one / figures.rate(PEER, dt, most, 1)
            aims.append(Target(f"{method} / {PEER}, 1 thread, {most} worlds", ratio, PEER_TARGET, "≥"))
    return aims


def short(number: float) -> str:
    """A number of steps or seconds per second, in three digits."""
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if number >= size:
            return f"{number / size:.3g} {unit}"
    return f"{number:.3g}"


def speed_tables(figures: Figures) -> list[Table]:
    """Steps per second over the number of worlds, a table for each number of threads."""
    sizes = list(dict.fromkeys(t.worlds for t in figures.throughputs))
    order = {name: k for k, (name, _) in enumerate(figures.methods)}
    rows = sorted(figures.throughputs, key=lambda t: (t.threads, order.get(t.name, len(order)), t.dt))
    tables = []
    for threads, part in groupby(rows, key=lambda t: t.threads):
        where = "on a GPU" if figures.device == "cuda" else f"by {plural(threads, 'thread')}"
        title = f"Solo12 under servo control, {figures.dtype}: steps/s {where} over worlds"
        table = terminal_table(title, ("by", *(f"{n}" for n in sizes)), no_wrap=1)
        if figures.device == "cuda" and not has_warp():
            table.caption = NO_WARP
        for (name, dt), row in groupby(part, key=lambda t: (t.name, t.dt)):
            table.add_row(f"{name}, {1e3 * dt:g} ms", *(short(t.steps_per_second).replace(" ", "") for t in row))
        tables.append(table)
    return tables


def ratio_table(figures: Figures) -> Table:
    """Threads and MuJoCo in ratios, and memory, at the largest number of worlds."""
    most = max(t.worlds for t in figures.throughputs)
    count, cpu = figures.processors, figures.device == "cpu"
    peer, one = (PEER, 1) if cpu else (WARP, 0)
    headings = ("by", "dt [ms]", f"{count} threads / 1" if cpu else "", "over MuJoCo", "bytes per world", "scratch")
    table = terminal_table(f"Ratios and memory, {most} worlds", headings, no_wrap=1)
    if cpu and count > 1:
        table.caption = (
            f"over MuJoCo: on 1 thread. Where {PEER}'s own {count} threads gain little, the machine is busy."
        )
    rows = [t for t in figures.throughputs if t.worlds == most and t.threads == one]
    for t in sorted(rows, key=lambda t: (t.name == peer, t.dt if t.name == peer else 0.0)):
        together = figures.rate(t.name, t.dt, most, count) / t.steps_per_second
        over = t.steps_per_second / figures.rate(peer, t.dt, most, one) if t.name != peer else float("nan")
        ratios = (f"{ratio:.2f}" if isfinite(ratio) else "" for ratio in (together, over))
        memory = (f"{size}" if size else "" for size in (t.bytes_per_world, t.scratch_bytes))
        table.add_row(t.name, f"{1e3 * t.dt:g}", *ratios, *memory)
    return table


def by_method(found: Sequence[Accuracy]) -> dict[str, list[Accuracy]]:
    return {name: list(rows) for name, rows in groupby(found, key=lambda a: a.method)}


def error_tables(figures: Figures, seconds: float, n: int) -> list[Table]:
    title = f"Error of q after {seconds:g} s from velocities of {SPREAD:g}, and simulated s per s of {n} worlds"
    table = terminal_table(title, ("by", "dt [ms]", "error, rms", "simulated s per s"))
    for a in figures.accuracies:
        error = f"{a.error:.2g}" if isfinite(a.error) else "diverged"
        table.add_row(a.method, f"{1e3 * a.dt:g}", error, short(a.speed) if isfinite(a.error) else "")
    equal = terminal_table("Simulated s per s at equal error, rms", ("by", *(f"{level:g}" for level in LEVELS)))
    equal.caption = "≥: the largest dt has a smaller error already; —: no dt is as accurate"
    for name, rows in by_method(figures.accuracies).items():
        cells = []
        for level in LEVELS:
            speed, bound = speed_at(rows, level)
            cells.append(f"{bound} {short(speed)}".strip() if speed else "—")
        equal.add_row(name, *cells)
    return [table, equal]


def plot(figures: Figures, axes: Any) -> None:
    left, right = axes
    cpu = figures.device == "cpu"
    most = figures.processors if cpu else 0
    names = [name for name, _ in figures.methods]
    order = {name: k for k, name in enumerate(names)}
    colours = {name: f"C{k}" for k, name in enumerate(names)}
    rows = [t for t in figures.throughputs if t.threads in (1, most)]
    peers = sorted({t.dt for t in rows if t.name in (PEER, WARP)})
    for (name, dt, threads), group in groupby(
        sorted(rows, key=lambda t: (order.get(t.name, len(order)), t.dt, t.threads)),
        key=lambda t: (t.name, t.dt, t.threads),
    ):
        peer = name in (PEER, WARP)
        if peer and dt != (1e-3 if 1e-3 in peers else peers[0]):
            continue  # its time per step hardly depends on dt
        line = list(group)
        every = threads == most
        left.loglog(
            [t.worlds for t in line], [t.steps_per_second for t in line], "o-" if every else "o:",
            color=colours.get(name, "k"), label=f"{name}, {1e3 * dt:g} ms" if every else None, markersize=4,
        )  # fmt: skip
    left.set(xlabel="number of worlds", ylabel="steps per second")
    if cpu and most > 1:
        left.set_title(f"solid: {most} threads, dotted: 1", fontsize="medium")
    for name, points in by_method(figures.accuracies).items():
        right.loglog(
            [a.error for a in points], [a.speed for a in points], "o-", color=colours.get(name, "k"), label=name,
            markersize=4,
        )  # fmt: skip
    right.set(xlabel="error of q, rms", ylabel="simulated seconds per second")
    for each in (left, right):
        each.set_ylim(top=6.0 * each.get_ylim()[1])  # room for the legend
        each.grid(alpha=0.3)
        each.legend(fontsize="small", loc="upper left", ncols=2)


def checked_methods(methods: Sequence[str]) -> list[str]:
    """The methods, each known, by the names that they were given."""
    names = list(dict.fromkeys(methods))
    for name in names:
        resolve(name)
    return names


def checked_sizes(text: str) -> tuple[int, ...]:
    """Numbers of worlds from a text such as 1,16,256."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise expected("--sizes", "numbers of worlds, separated by commas", text, "for example --sizes 1,16,256")
    return tuple(sorted({int(part) for part in parts}))


def run_worlds(
    quick: bool = False, json_path: Path | None = None, out: Path | None = None, *, methods: Sequence[str] = (),
    device: str = "cpu", dtype: str = "float64", worlds: Sequence[int] = (), sizes: Sizes | None = None,
) -> bool:  # fmt: skip
    """Measure, print the tables and the worst figure; True if every target is met."""
    check_destinations(json_path, out)
    one_of("--device", device, tuple(METHODS))
    one_of("--dtype", dtype, ("float64", "float32"))
    checked_dtype(dtype, checked_device(device))
    names = checked_methods(methods or METHODS[device])
    sizes = sizes or (QUICK if quick else Sizes())
    numbers = tuple(worlds) or sizes.worlds or (QUICK_WORLDS if quick else WORLDS)[device]
    many = sizes.judged if device == "cpu" else min(max(numbers), 8192)
    options: dict[str, Any] = {"device": device, "dtype": dtype}
    with quiet():
        throughputs = measure_steps(names, numbers, sizes, device, dtype)
        accuracies = measure_errors(names, sizes.seconds, sizes.judged, many, sizes.error_rounds, processors(), options)
    figures = Figures(device, dtype, throughputs, accuracies)
    levels = {
        name: {f"{level:g}": speed_at(rows, level)[0] for level in LEVELS}
        for name, rows in by_method(accuracies).items()
    }
    versions = {"mujoco": mujoco.__version__, "mujoco_warp": "" if has_warp() else NO_WARP}
    report = {"sizes": sizes, "figures": figures, "speed at error": levels, "peers": versions}
    tables = [*speed_tables(figures), ratio_table(figures), *error_tables(figures, sizes.seconds, many)]
    aims = targets(figures)
    tables.append(aims_table(aims))
    return finish("worlds", report, aims, tables, partial(plot, figures), json_path, out, panels=2, size=(12.0, 5.0))


def aims_table(aims: Sequence[Target]) -> Table:
    table = terminal_table("Targets", ("figure", "value", "target"))
    for t in aims:
        table.add_row(t.name, f"{t.figure:.3g}", t.wanted, style="" if t.met else "red")
    return table
