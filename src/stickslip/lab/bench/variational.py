"""``stickslip bench variational``: is a step in maximal coordinates linear, and for which lengths is it the fastest?

* T(c): the paper's cylinder (1 kg, radius 0.5 m, height 0.1 m) slides on c contact points, 10 to 1000.
* T(n + c): its chain of n cylinders with ball joints (1 kg, 1 m, radius 0.05 m) lies in a zigzag on n + 1 contact
  points, slides sideways while every link rolls, 10 to 1000 links. Both at dt = 0.01 s, c_f = 0.2, ε = 1e-6: per time
  step, per Newton iteration of those steps, and per Newton step alone (one evaluation, assembly, factor, solve, step of
  all unknowns). Targets: R² > 0.99 of a straight line, slope 1 ± 0.1 of log(time) over log(size).
* 100 links: a whole Newton step (one evaluation, assembly with elimination of contacts, factor, solve, recovery of what
  was eliminated) beside SciPy's sparse LU alone (``splu`` and ``solve``, its default column order) of the same system
  with nothing eliminated (``lab.bench.full_system``). Target: 20 times faster. Further rows, for information: SciPy's
  other orders and its symmetric mode, our factor and solve alone.
* The same chain, 2 to 100 links and more, beside ``mj_step`` (the fastest of its solvers and cones, contact points as
  spheres of 2 mm) and our own ``coulomb``: time per step, and the length n from which on variational is the fastest.

Everything is timed in turn, round by round, in one process; the figures are medians over rounds, those of lines the
best, as in the paper. Steps are one compiled call from the same state, less an empty one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from stickslip.lab.bench.linear_time import DT, FRICTION, PYRAMID, WARM, NewtonSystem, chain, cylinder, simulate
from stickslip.lab.bench.rigid import CONES, SOLVERS
from stickslip.lab.bench.stepping import Steps, mujoco_steps, with_spheres
from stickslip.lab.bench.timing import interleaved
from stickslip.lab.report import check_destinations, finish, quiet, terminal_table
from stickslip.lab.targets import Target
from stickslip.progress import Progress

FASTER = 20.0
"""Speed-up over SciPy's sparse LU that is wanted."""
ORDERS = ("COLAMD", "MMD_ATA", "MMD_AT_PLUS_A")
"""SciPy's column orders, the default first; NATURAL has a hundred times as much fill-in."""
SYMMETRIC: dict[str, Any] = {"diag_pivot_thresh": 1e-3, "options": {"SymmetricMode": True}}
PEERS = ("coulomb", "mj_step")


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    rounds: int = 20
    steps: int = 100
    """Number of steps in a timed call, as in the paper; the call itself costs at least a short chain's step."""
    contacts: tuple[int, ...] = (10, 20, 50, 100, 200, 500, 1000)
    links: tuple[int, ...] = (10, 20, 50, 100, 200, 500, 1000)
    system: int = 100
    """Number of links of the chain whose Newton system SciPy solves."""
    peers: tuple[int, ...] = (2, 5, 10, 20, 50, 100, 200)
    peer_rounds: int = 5


QUICK = Sizes(rounds=5, contacts=(10, 100, 1000), links=(10, 100, 1000), peers=(2, 5, 10, 20, 50), peer_rounds=3)


@dataclass(frozen=True)
class Line:
    """Times over sizes, and the straight line through them."""

    name: str
    sizes: list[int]
    """c, or n + c."""
    times: list[float]
    """[µs] shortest of all rounds, as in the paper."""
    slope: float
    """Slope of log(time) over log(size); 1 is linear."""
    r2: float
    """R² of time = a + b·size; 1 is a straight line."""
    iterations: list[float]
    """Mean number of Newton steps in a time step; empty if the times are those of one Newton step."""


def line(name: str, times: dict[int, float], iterations: list[float]) -> Line:
    size, value = np.array(list(times), dtype=float), np.array(list(times.values()))
    slope = float(np.polyfit(np.log(size), np.log(value), 1)[0])
    left = value - np.polyval(np.polyfit(size, value, 1), size)
    return Line(
        name, list(times), value.tolist(), slope, 1.0 - float(left @ left / np.var(value) / len(value)), iterations
    )


def measure_lines(sizes: Sizes) -> tuple[list[Line], int]:
    """(lines, steps that did not converge)."""
    result, failed = [], 0
    for name, build, counts, unknowns in (
        ("cylinder on c points", cylinder, sizes.contacts, lambda c: c),
        ("chain of n links, n + c", chain, sizes.links, lambda n: 2 * n + 1),
    ):
        timed: dict[tuple[str, int], Callable[[], float]] = {}
        with Progress(f"{name}: built", len(counts), "sizes") as bar:
            for done, n in enumerate(counts):
                made = build(n)
                timed["step", n] = Steps(simulate(made), sizes.steps)
                timed["newton", n] = NewtonSystem(simulate(made)).whole
                bar.update(done + 1)
        best = interleaved(timed, sizes.rounds, name, min)
        steps = [work for work in timed.values() if isinstance(work, Steps)]
        failed += sum(work.unconverged for work in steps)
        each = [work.iterations() for work in steps]
        best |= {("iteration", n): best["step", n] / k for n, k in zip(counts, each, strict=True)}
        for what, label, iterations in (
            ("step", "time step", each),
            ("iteration", "per Newton iteration", []),
            ("newton", "Newton step", []),
        ):
            times = {unknowns(n): best[what, n] for n in counts}
            result.append(line(f"{name}: {label}", times, iterations))
    return result, failed


@dataclass(frozen=True)
class Compared:
    """A median time beside ours."""

    name: str
    time: float
    """[µs]."""
    over_factor: float
    """Time over that of our factor and solve."""
    over_newton: float
    """Time over that of our whole Newton step."""


def measure_system(sizes: Sizes) -> tuple[list[Compared], float]:
    """(times of the system of 100 links, difference of the Newton steps)."""
    system = NewtonSystem(simulate(chain(sizes.system)))
    timed: dict[str, Callable[[], float]] = {"factor + solve": system.factor, "whole Newton step": system.whole}
    for order in ORDERS:
        timed[f"splu + solve, {order}"] = partial(system.sparse, order, {})
        timed[f"splu + solve, {order}, symmetric mode"] = partial(system.sparse, order, SYMMETRIC)
    timed["sparse assembly"] = system.assembled
    median = interleaved(timed, sizes.rounds, f"system of {sizes.system} links")
    ours = median["factor + solve"], median["whole Newton step"]
    return [Compared(name, us, us / ours[0], us / ours[1]) for name, us in median.items()], system.difference()


@dataclass(frozen=True)
class Peer:
    """Median times over the length of a chain."""

    name: str
    links: list[int]
    times: list[float]
    """[µs] per time step."""
    crossover: int | None
    """Smallest measured number of links from which on variational is faster; None if there is none."""


def crossover(links: list[int], ours: list[float], other: list[float]) -> int | None:
    first = None
    for n, mine, its in zip(links, ours, other, strict=True):
        first = (n if first is None else first) if mine < its else None
    return first


def measure_peers(sizes: Sizes) -> list[Peer]:
    timed: dict[tuple[str, int], Callable[[], float]] = {}
    with Progress("chains are built", len(sizes.peers), "lengths") as bar:
        for done, n in enumerate(sizes.peers):
            made = chain(n)
            for method in (PYRAMID, "coulomb"):
                timed[method, n] = Steps(simulate(made, method), sizes.steps)
            for solver, cone in ((s, c) for s in SOLVERS for c in CONES):
                peer = with_spheres(made.scene, DT, SOLVERS[solver], CONES[cone], FRICTION)
                timed[f"{solver}, {cone}", n] = mujoco_steps(peer, made.q, made.v, sizes.steps, WARM)
            bar.update(done + 1)
    median = interleaved(timed, sizes.peer_rounds, "chains beside MuJoCo and coulomb")
    links = list(sizes.peers)
    times = {method: [median[method, n] for n in links] for method in (PYRAMID, "coulomb")}
    names = [f"{solver}, {cone}" for solver in SOLVERS for cone in CONES]
    times["mj_step"] = [min(median[name, n] for name in names) for n in links]
    ours = times[PYRAMID]
    return [Peer(name, links, t, crossover(links, ours, t) if name in PEERS else None) for name, t in times.items()]


def targets(lines: list[Line], failed: int, systems: list[Compared], difference: float, n: int) -> list[Target]:
    default = next(c for c in systems if c.name == f"splu + solve, {ORDERS[0]}")
    result = []
    for one in lines:
        result.append(Target(f"{one.name}: |slope − 1|", abs(one.slope - 1.0), 0.1))
        result.append(Target(f"{one.name}: 1 − R²", 1.0 - one.r2, 0.01))
    return [
        *result,
        Target(f"n = {n}: {FASTER:g} × our LU / SciPy's sparse LU", FASTER / default.over_factor, 1.0),
        Target(f"n = {n}: {FASTER:g} × our whole Newton step / SciPy's sparse LU", FASTER / default.over_newton, 1.0),
        Target("difference of the two Newton steps", difference, 1e-8),
        Target("steps that did not converge", float(failed), 0.5),
    ]


def sentence(peer: Peer) -> str:
    """Says from which length on ours is faster."""
    if peer.crossover is None:
        return f"crossover beside {peer.name}: beyond n = {peer.links[-1]}"
    return f"crossover beside {peer.name}: n = {peer.crossover}"


def _tables(lines: list[Line], systems: list[Compared], peers: list[Peer], n: int) -> list[Table]:
    headings = ("what", "sizes", "best µs", "Newton steps", "slope", "R²")
    growth = terminal_table("Time over size, variational", headings)
    for one in lines:
        growth.add_row(
            one.name, f"{one.sizes[0]} … {one.sizes[-1]}", f"{one.times[0]:.3g} … {one.times[-1]:.4g}",
            " ".join(f"{k:.2g}" for k in one.iterations), f"{one.slope:.3f}", f"{one.r2:.5f}",
            style="red" if abs(one.slope - 1.0) > 0.1 or one.r2 < 0.99 else "",
        )  # fmt: skip
    columns = ("what", "median µs", "over factor + solve", "over Newton step")
    system = terminal_table(f"Newton's system of a chain of {n} links", columns)
    for c in systems:
        system.add_row(c.name, f"{c.time:.1f}", f"{c.over_factor:.1f}", f"{c.over_newton:.1f}")
    beside = terminal_table(
        f"One step of a chain of n links, {1e3 * DT:g} ms: median µs",
        ("by", *(f"{k}" for k in peers[0].links), "variational faster from"),
        caption="; ".join(sentence(p) for p in peers if p.name in PEERS),
    )
    for p in peers:
        last = "" if p.name not in PEERS else ("beyond" if p.crossover is None else f"n = {p.crossover}")
        beside.add_row(p.name, *(f"{us:.0f}" for us in p.times), last)
    return [growth, system, beside]


def _plot(lines: list[Line], peers: list[Peer], panels) -> None:
    left, right = panels
    for one in lines:
        left.loglog(one.sizes, one.times, "o-", label=f"{one.name}, slope {one.slope:.2f}")
    left.set_xlabel("contacts c, or bodies and contacts n + c")
    for p in peers:
        right.loglog(p.links, p.times, "o--" if p.name == "mj_step" else "o-", label=p.name)
    right.set_xlabel("links of a chain")
    for axes in (left, right):
        axes.set_ylabel("time [µs]")
        axes.grid(alpha=0.3)
        axes.legend()


def run_variational(
    quick: bool = False, json_path: Path | None = None, out: Path | None = None, *, sizes: Sizes | None = None
) -> bool:
    """Measure, print the tables and the worst figure; True if every target is met."""
    check_destinations(json_path, out)
    sizes = sizes or (QUICK if quick else Sizes())
    with quiet():
        lines, failed = measure_lines(sizes)
        systems, difference = measure_system(sizes)
        peers = measure_peers(sizes)
    numbers: dict[str, Any] = {
        **{"sizes": sizes, "lines": lines, "unconverged": failed, "systems": systems, "difference": difference},
        "peers": peers,
        "crossover": {p.name: p.crossover for p in peers if p.name in PEERS},
    }
    aims = targets(lines, failed, systems, difference, sizes.system)
    tables = _tables(lines, systems, peers, sizes.system)
    plot = partial(_plot, lines, peers)
    return finish("variational", numbers, aims, tables, plot, json_path, out, panels=2, size=(12.0, 5.0))
