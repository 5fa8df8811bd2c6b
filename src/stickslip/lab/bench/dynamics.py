"""``stickslip bench dynamics``: the rigid-body algorithms beside Pinocchio's C++, and how their cost grows.

Speed. Both programs are timed in turn, round by round, in one process; the figures are medians over rounds. Ours is a
compiled loop over random states. Pinocchio is called from Python. The cost of such a call is measured with the same
function on a model of one joint, and subtracted; this favours Pinocchio slightly, since one joint is work, too. Where
Pinocchio has two conventions, local and world axes, the faster one counts. Its derivatives return three copied
matrices; the time that NumPy takes to copy as many numbers is subtracted, too.

Finite differences. The exact derivatives of inverse dynamics are timed beside one-sided differences, both compiled.

Growth. The slope of log(time) over log(size) is 1 if the cost is linear. A star on a floating hub couples every foot
with every other, so that W has quadratic size, and only its time per block can stay constant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from stickslip.lab.bench.loops import STATES, Loops, factor_loops
from stickslip.lab.bench.mechanisms import chain, one_joint, star
from stickslip.lab.bench.timing import SLOPE_TARGET, Growth, growth, growth_table, growth_targets, interleaved, seconds
from stickslip.lab.report import check_destinations, finish, miss_style, terminal_table
from stickslip.lab.targets import Target
from stickslip.model import pinocchio as bridge
from stickslip.model.model import Model
from stickslip.model.scene import Scene
from stickslip.progress import Progress

RATIO_TARGET = 1.0
DIFFERENCES_TARGET = 0.2
"""Largest time of exact derivatives over that of finite differences: five times as fast."""
DERIVATIVES = ("rnea_derivatives", "aba_derivatives")
FEET = {"solo12": "FL_FOOT", "romeo": "l_sole"}


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    rounds: int = 200
    calls: int = 200
    """Calls per round."""
    growth_rounds: int = 15
    growth_seconds: float = 0.01
    """Least duration of a timed loop [s]."""
    chains: tuple[int, ...] = (10, 30, 100, 300, 1000)
    """Numbers of links."""
    stars: tuple[int, ...] = (5, 10, 20, 50, 100)
    """Numbers of legs."""


QUICK = Sizes(rounds=30, calls=50, growth_rounds=5, growth_seconds=0.002)


@dataclass(frozen=True)
class PinocchioTiming:
    """One algorithm on one robot; medians [µs]."""

    robot: str
    algorithm: str
    ours: float
    pinocchio: float
    """Without the cost of calling it from Python."""
    pinocchio_called: float
    """With the cost of calling it from Python."""
    ratio: float
    """ours / pinocchio."""


@dataclass(frozen=True)
class Differences:
    """Derivatives of inverse dynamics on one robot; medians [µs]."""

    robot: str
    exact: float
    differences: float
    """One-sided finite differences."""
    ratio: float
    """exact / differences."""


# -- measurements ------------------------------------------------------------------------------------------------------


def pinocchio_loops(model: Model, frame: str | None, states: Loops) -> dict[str, list[Callable[[int], None]]]:
    """For each algorithm, the ways to call it in Pinocchio."""
    pin = bridge.import_pinocchio()
    peer = bridge.to_pinocchio(model)
    data, world = peer.createData(), pin.LOCAL_WORLD_ALIGNED
    foot = 0 if frame is None else peer.getFrameId(frame)
    q = [bridge.q_to_pinocchio(model, q) for q in states.Q]
    v = [bridge.v_to_pinocchio(model, q, v) for q, v in zip(states.Q, states.V, strict=True)]
    a = [bridge.v_to_pinocchio(model, q, a) for q, a in zip(states.Q, states.A, strict=True)]

    def loop(function: Callable, columns: list, *last: Any) -> Callable[[int], None]:
        arguments = [(*row, *last) for row in zip(*columns, strict=True)]

        def work(n: int) -> None:
            for i in range(n):
                function(peer, data, *arguments[i % STATES])

        return work

    conventions = (pin.Convention.LOCAL, pin.Convention.WORLD)
    return {
        "rnea": [loop(pin.rnea, [q, v, a])],
        "crba": [loop(pin.crba, [q], convention) for convention in conventions],
        "aba": [loop(pin.aba, [q, v, a], convention) for convention in conventions],
        "frame_jacobian": [loop(pin.computeFrameJacobian, [q], foot, world)],
        "rnea_derivatives": [loop(pin.computeRNEADerivatives, [q, v, a])],
        "aba_derivatives": [loop(pin.computeABADerivatives, [q, v, a])],
    }


def matrix_copies(nv: int) -> Callable[[int], None]:
    """A loop that copies three matrices, as Pinocchio does with its derivatives."""
    matrices = np.zeros((3, nv, nv))

    def work(n: int) -> None:
        for _ in range(n):
            matrices[0].copy(), matrices[1].copy(), matrices[2].copy()

    return work


def compare_with_pinocchio(sizes: Sizes) -> tuple[list[PinocchioTiming], list[Differences]]:
    one = one_joint()
    overheads = pinocchio_loops(one, "foot", Loops(one, "foot"))
    timed: dict[tuple, Callable[[int], None]] = {}
    for robot, frame in FEET.items():
        scene = Scene()
        scene.add_robot(robot)
        ours = Loops(scene.compile(), frame)
        for algorithm, ways in pinocchio_loops(ours.model, frame, ours).items():
            timed[robot, algorithm, "ours"] = getattr(ours, algorithm)
            for k, (theirs, call) in enumerate(zip(ways, overheads[algorithm], strict=True)):
                timed[robot, algorithm, "theirs", k] = theirs
                timed[robot, algorithm, "call", k] = call
        timed[robot, "differences"] = ours.rnea_differences
        timed[robot, "copies"] = matrix_copies(ours.model.nv)
    timed["one", "copies"] = matrix_copies(one.nv)
    calls = {key: partial(seconds, work, sizes.calls) for key, work in timed.items()}
    median = interleaved(calls, sizes.rounds, "beside Pinocchio")

    result, differences = [], []
    for robot in FEET:
        copies = median[robot, "copies"] - median["one", "copies"]
        for algorithm, ways in overheads.items():
            called = {k: median[robot, algorithm, "theirs", k] for k in range(len(ways))}
            returned = copies if algorithm in DERIVATIVES else 0.0
            net = {k: called[k] - median[robot, algorithm, "call", k] - returned for k in called}
            best = min(net, key=lambda k: net[k])
            ours_us = median[robot, algorithm, "ours"]
            theirs_us = max(net[best], 1e-3)  # [µs] the difference of two noisy times may be negative
            result.append(PinocchioTiming(robot, algorithm, ours_us, theirs_us, called[best], ours_us / theirs_us))
        exact, other = median[robot, "rnea_derivatives", "ours"], median[robot, "differences"]
        differences.append(Differences(robot, exact, other, exact / other))
    return result, differences


def measure_growth(sizes: Sizes) -> list[Growth]:
    per_size: dict[str, dict[int, Callable[[int], None]]] = {}
    block_counts: dict[int, int] = {}

    def add(name: str, size: int, work: Callable[[int], None]) -> None:
        per_size.setdefault(name, {})[size] = work

    total = len(sizes.chains) + 2 * len(sizes.stars)
    with Progress("building mechanisms", total, "models") as bar:
        for n in sizes.chains:
            loops = Loops(chain(n))
            add("RNEA on a chain", n, loops.rnea)
            add("ABA on a chain", n, loops.aba)
            bar.update(len(per_size["RNEA on a chain"]))
        for floating in (False, True):
            hub = "floating" if floating else "fixed"
            for n in sizes.stars:
                model, feet = star(n, floating)
                factorise, delassus, diagonal, count = factor_loops(Loops(model), feet)
                add(f"factor, star on a {hub} hub", n, factorise)
                add(f"Delassus, star on a {hub} hub", n, delassus)
                if floating:
                    add("Delassus, own block of each foot, floating hub", n, diagonal)
                    block_counts[n] = count
    timed = {}
    for name, works in per_size.items():
        for n, work in works.items():
            work(1)  # compiles
            calls = max(1, int(sizes.growth_seconds / max(seconds(work, 3), 1e-9)))
            timed[name, n] = partial(seconds, work, calls)
    median = interleaved(timed, sizes.growth_rounds, "growth")

    result = []
    for name, works in per_size.items():
        times = {n: median[name, n] for n in works}
        target: float | None = SLOPE_TARGET
        if name == "Delassus, star on a floating hub":
            name, target = f"{name}, per block of W", None
            times = {n: value / block_counts[n] for n, value in times.items()}
        result.append(growth(name, times, target))
    return result


# -- the report --------------------------------------------------------------------------------------------------------


def targets(comparisons: list[PinocchioTiming], differences: list[Differences], growths: list[Growth]) -> list[Target]:
    speed = [Target(f"{c.algorithm} on {c.robot}, time over Pinocchio's", c.ratio, RATIO_TARGET) for c in comparisons]
    exact = [
        Target(f"rnea_derivatives on {d.robot}, time over finite differences'", d.ratio, DIFFERENCES_TARGET)
        for d in differences
    ]
    return [*speed, *exact, *growth_targets(growths)]


def _table(comparisons: list[PinocchioTiming]) -> Table:
    headings = ("robot", "algorithm", "ours", "Pinocchio", "called from Python", "ours / Pinocchio", "target")
    speed = terminal_table("Rigid-body algorithms, median µs per call", headings, words=2, no_wrap=2)
    for c in comparisons:
        style = miss_style(c.ratio, RATIO_TARGET)
        numbers = (f"{c.ours:.2f}", f"{c.pinocchio:.2f}", f"{c.pinocchio_called:.2f}", f"{c.ratio:.2f}")
        speed.add_row(c.robot, c.algorithm, *numbers, f"≤ {RATIO_TARGET:g}", style=style)
    return speed


def _differences_table(differences: list[Differences]) -> Table:
    headings = ("robot", "exact", "finite differences", "exact / differences", "times as fast", "target")
    table = terminal_table("Derivatives of inverse dynamics, median µs per call", headings)
    for d in differences:
        numbers = (f"{d.exact:.2f}", f"{d.differences:.2f}", f"{d.ratio:.3f}", f"{1.0 / d.ratio:.1f}")
        table.add_row(d.robot, *numbers, f"≤ {DIFFERENCES_TARGET:g}", style=miss_style(d.ratio, DIFFERENCES_TARGET))
    return table


def _plot(growths: list[Growth], axes) -> None:
    for g in growths:
        axes.loglog(g.sizes, g.times, "o-", label=f"{g.name} ({g.slope:.2f})")
    axes.set_xlabel("links of the chain, legs of the star")
    axes.set_ylabel("median time per call [µs]")
    axes.legend(fontsize="small")


def run_dynamics(
    quick: bool = False, json_path: Path | None = None, out: Path | None = None, *, sizes: Sizes | None = None
) -> bool:
    """Measure, print three tables and the worst figure; True if every target is met.

    All numbers go to ``json_path``; ``out`` is a folder for ``dynamics.json`` and the plot ``dynamics.png``.
    """
    bridge.import_pinocchio()  # fails before minutes of work
    check_destinations(json_path, out)
    sizes = sizes or (QUICK if quick else Sizes())
    comparisons, differences = compare_with_pinocchio(sizes)
    growths = measure_growth(sizes)
    numbers = {"sizes": sizes, "comparisons": comparisons, "differences": differences, "growth": growths}
    tables = [_table(comparisons), _differences_table(differences), growth_table(growths)]
    aims = targets(comparisons, differences, growths)
    return finish("dynamics", numbers, aims, tables, partial(_plot, growths), json_path, out, size=(7.0, 5.0))
