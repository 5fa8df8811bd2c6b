"""``stickslip bench contact``: complementarity solvers and time-stepping methods beside quantecon and MuJoCo.

* Contact LCPs of n = 300 and 1000 (dense, Stewart–Trinkle's): our Lemke beside quantecon's compiled ``lcp_lemke``, and
  Fischer–Newton beside our Lemke. In turn, round by round, in one process; medians.
* One step of the peg in its hole, by Stewart–Trinkle and by PEG, with Lemke's method.
* A cube of spheres that lands, one step with every solver, beside MuJoCo's ``mj_step`` on the same model (its contacts
  are soft, its solver the default Newton, its step the same 10 ms).
* Growth: spheres on a floor, two layers high and ever wider: the iterative solvers' time per step must stay near linear
  in their number. Once all spheres touch and land at different speeds (one contact graph as wide as the layer), once
  towers of two stand apart and are shaken.

Solvers start from zero impulses, in bodies that move; warm-started ones would have nothing to do. The tables also show
iterations per step and unsolved steps, since times alone would compare nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from rich.table import Table

from stickslip.errors import InputError
from stickslip.lab.bench.stepping import Steps
from stickslip.lab.bench.timing import Growth, growth, growth_table, growth_targets, interleaved, seconds
from stickslip.lab.report import check_destinations, finish, quiet, terminal_table
from stickslip.lab.targets import Target
from stickslip.model.scene import Scene
from stickslip.record.machine import machine
from stickslip.simulation import Simulation
from stickslip.solvers import make_solver
from stickslip.solvers.generate import problem

DT = 0.01
DIRECTIONS = 4
"""Friction directions, those of the paper, of solvers that do not prefer circular cones."""
GROWTH_TARGET = 1.2
GROWING = ("pgs", "jacobi", "fixed-point", "fischer-newton", "minmap-newton", "interior-point")
APART = {"touching": 0.0, "apart": 0.02}
"""[m] distance between the towers of the growing scenes."""
MOST_TOUCHING = {"fischer-newton": 300, "minmap-newton": 300, "interior-point": 300}
"""Largest number of touching spheres for solvers whose factors fill in, so that a larger step takes many seconds."""
ON_STACK = ("lemke", "pgs", "jacobi", "fixed-point", "interior-point", "fischer-newton", "minmap-newton")
PEG_LIMITS = {"stewart-trinkle/lemke": 500.0, "peg/lemke": 2000.0}
"""[µs] longest time of a step; the RPI simulator took 226 and 672 ms."""


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    unknowns: tuple[int, ...] = (300, 1000)
    rounds: int = 15
    peg_rounds: int = 50
    stack: int = 5
    stack_rounds: int = 7
    spheres: tuple[int, ...] = (10, 30, 100, 300, 1000)
    growth_rounds: int = 5


QUICK = Sizes(unknowns=(300,), rounds=5, peg_rounds=10, stack=3, stack_rounds=3, spheres=(10, 30, 100), growth_rounds=3)


@dataclass(frozen=True)
class Timing:
    """A median."""

    what: str
    name: str
    time: float
    """[µs]."""
    residual: float | None = None
    """Natural, of the last solve."""
    target: float | None = None
    """[µs]."""
    iterations: float | None = None
    """Iterations per step, for solvers without a warm start."""
    unconverged: int | None = None
    """Number of measured steps that were not solved."""


def import_quantecon() -> Any:
    try:
        from quantecon.optimize import lcp_lemke
    except ImportError:
        raise InputError("bench contact needs quantecon as a peer: pip install 'stickslip[bench]'") from None
    return lcp_lemke


def _timed(work: Callable[..., Any], *arguments: Any) -> Callable[[], float]:
    return lambda: seconds(lambda _: work(*arguments), 1)


def time_solvers(sizes: Sizes) -> tuple[list[Timing], list[Target]]:
    """Time contact LCPs by our solvers and quantecon's."""
    peer = import_quantecon()
    timings, targets = [], []
    for n in sizes.unknowns:
        lcp = problem("contact", n).problem
        A, b = lcp.dense(), lcp.b
        solvers = {name: make_solver(name) for name in ("lemke", "fischer-newton")}
        work: dict[str, Callable[[], float]] = {"quantecon lcp_lemke": _timed(peer, A, b)}
        for name, solver in solvers.items():
            work[name] = _timed(solver.solve, lcp)
        median = interleaved(work, sizes.rounds, f"contact LCP of {lcp.n} unknowns")
        what = f"contact LCP, n = {lcp.n}"
        for name, us in median.items():
            residual = solvers[name].solve(lcp).residual if name in solvers else None
            timings.append(Timing(what, name, us, residual))
        ratio = median["lemke"] / median["quantecon lcp_lemke"]
        targets.append(Target(f"{what}: lemke / quantecon's", ratio, 1.0))
        if n >= 1000:
            targets.append(Target(f"{what}: fischer-newton / lemke", median["fischer-newton"] / median["lemke"], 1.0))
    return timings, targets


def time_peg(sizes: Sizes) -> tuple[list[Timing], list[Target]]:
    """Time a step with the peg halfway in its hole, where it has most contacts."""
    from stickslip.scenes import SCENES

    work, sims = {}, {}
    for method in PEG_LIMITS:
        sim = Simulation(SCENES["peg-in-hole"].build().scene, method=method, dt=DT, directions=DIRECTIONS)
        sim.step(50)
        sims[method], work[method] = sim, Steps(sim, 5)
    median = interleaved(work, sizes.peg_rounds, "the peg in its hole")
    timings = [
        Timing("peg in hole", name, us, sims[name].stepper.residual, PEG_LIMITS[name]) for name, us in median.items()
    ]
    return timings, [Target(f"peg in hole, {t.name} [µs]", t.time, t.target) for t in timings if t.target]


def land(v: np.ndarray) -> None:
    """Set downward speeds of free bodies, up to 0.1 m/s, the same for all solvers; v (6n,)."""
    v[:] = 0.0
    v[2::6] = -0.1 * np.random.default_rng(0).random(len(v) // 6)


def shake(v: np.ndarray) -> None:
    """Set random velocities of about 0.05 m/s and rad/s; v (6n,)."""
    v[:] = 0.05 * np.random.default_rng(0).standard_normal(len(v))


@dataclass
class ColdSteps:
    """Cold-started steps from a state in motion; each call returns the seconds per step and restores the state."""

    sim: Simulation
    steps: int
    iterations: float = 0.0
    """Iterations per step in the last call."""
    unconverged: int = 0
    """Unsolved steps in the last call."""

    @classmethod
    def of(cls, model: Any, solver: str, move: Callable[[np.ndarray], None], steps: int) -> ColdSteps:
        cone: dict[str, Any] = {} if make_solver(solver).prefers_cones else {"directions": DIRECTIONS}
        sim = Simulation(model, method=f"stewart-trinkle/{solver}", dt=DT, warm_start=False, **cone)
        move(sim.state.v)
        return cls(sim, steps)

    def __post_init__(self) -> None:
        self._start = self.sim.snapshot()

    def __call__(self) -> float:
        sim, total = self.sim, 0
        failed = sim.stepper.unconverged
        begin = time.perf_counter()
        for _ in range(self.steps):
            sim.stepper.advance(sim.state, sim.inputs, 1)
            total += sim.stepper.iterations
        took = time.perf_counter() - begin
        self.iterations, self.unconverged = total / self.steps, sim.stepper.unconverged - failed
        sim.restore(self._start)
        return took / self.steps


def time_stack(sizes: Sizes) -> list[Timing]:
    """Time a step of a cube of spheres by every solver and by MuJoCo."""
    from stickslip.scenes import SCENES

    scene = SCENES["sphere-stack"].build(n=sizes.stack).scene
    model = scene.compile()
    cold = {solver: ColdSteps.of(model, solver, land, 2) for solver in ON_STACK}
    peer = "MuJoCo mj_step"
    median = interleaved({**cold, peer: mujoco_step(scene)}, sizes.stack_rounds, f"{sizes.stack}³ spheres")
    what = f"{sizes.stack}³ spheres, one step"
    timings = [
        Timing(what, name, median[name], work.sim.stepper.residual, None, work.iterations, work.unconverged)
        for name, work in cold.items()
    ]
    return [*timings, Timing(what, peer, median[peer])]


def mujoco_step(scene: Scene) -> Callable[[], float]:
    model = scene.compile().mj
    model.opt.timestep = DT
    data = mujoco.MjData(model)
    land(data.qvel)
    start = data.qpos.copy(), data.qvel.copy()

    def work() -> float:
        data.qpos[:], data.qvel[:] = start
        begin = time.perf_counter()
        mujoco.mj_step(model, data, 5)
        return (time.perf_counter() - begin) / 5

    return work


def two_layers(n: int, apart: float = 0.0) -> Scene:
    """n spheres (radius 0.1 m, 1 kg) on a floor, in a square grid of towers of two, which are ``apart`` [m]."""
    scene = Scene(name="spheres")
    scene.add_plane(friction=0.5)
    side = int(np.ceil(np.sqrt(n / 2)))
    pitch = 0.2 + apart
    for k in range(n):
        cell, layer = divmod(k, 2)
        x, y = divmod(cell, side)
        scene.add_sphere(0.1, pos=(pitch * x, pitch * y, 0.1 + 0.2 * layer), mass=1.0, friction=0.5)
    return scene


def measure_growth(sizes: Sizes) -> list[Growth]:
    result = []
    for where, apart in APART.items():
        models = {n: two_layers(n, apart).compile() for n in sizes.spheres}
        move = shake if apart else land
        for solver in GROWING:
            most = sizes.spheres[-1] if apart else MOST_TOUCHING.get(solver, sizes.spheres[-1])
            timed = {n: ColdSteps.of(model, solver, move, 1) for n, model in models.items() if n <= most}
            label = f"{solver}: spheres {where}"
            grown = growth(label, interleaved(timed, sizes.growth_rounds, label), GROWTH_TARGET)
            work = timed.values()
            result.append(
                replace(grown, iterations=[w.iterations for w in work], unconverged=sum(w.unconverged for w in work))
            )
    return result


def _table(timings: list[Timing]) -> Table:
    headings = ("what", "by", "median ms", "natural residual", "iterations", "unconverged", "target ms")
    table = terminal_table("Contact problems and time steps", headings, words=2)
    for t in timings:
        residual = "" if t.residual is None else f"{t.residual:.1e}"
        target = "" if t.target is None else f"≤ {1e-3 * t.target:g}"
        work = ("" if value is None else f"{value:g}" for value in (t.iterations, t.unconverged))
        table.add_row(t.what, t.name, f"{1e-3 * t.time:.3g}", residual, *work, target)
    return table


def _plot(timings: list[Timing], growths: list[Growth], panels) -> None:
    left, right = panels
    order = sorted(timings, key=lambda t: (t.what, t.time))
    left.barh([f"{t.what}: {t.name}" for t in order], [1e-3 * t.time for t in order], color="tab:blue")
    left.set_xscale("log")
    left.set_xlabel("median time [ms]")
    for g in growths:
        solver, _, where = g.name.partition(": spheres ")
        color, dashes = f"C{GROWING.index(solver)}", "-" if where == "touching" else ":"
        right.loglog(
            g.sizes, 1e-3 * np.array(g.times), f"o{dashes}", color=color, label=f"{solver}, {where}: {g.slope:.2f}"
        )
    right.set_xlabel("spheres")
    right.set_ylabel("time per step [ms]")
    right.grid(alpha=0.3)
    right.figure.legend(loc="outside right upper", title="growth: slope", fontsize=8)


def run_contact(
    quick: bool = False, json_path: Path | None = None, out: Path | None = None, *, sizes: Sizes | None = None
) -> bool:
    """Measure, print two tables and the worst figure; True if every target is met."""
    import_quantecon()  # fails before minutes of work
    check_destinations(json_path, out)
    sizes = sizes or (QUICK if quick else Sizes())
    with quiet():
        solved, solver_targets = time_solvers(sizes)
        pegs, peg_targets = time_peg(sizes)
        timings = [*solved, *pegs, *time_stack(sizes)]
        growths = measure_growth(sizes)
    targets = [*solver_targets, *peg_targets, *growth_targets(growths)]
    numbers = {"machine": machine("quantecon"), "sizes": sizes, "timings": timings, "growth": growths}
    tables = [_table(timings), growth_table(growths)]
    plot = partial(_plot, timings, growths)
    return finish("contact", numbers, targets, tables, plot, json_path, out, panels=2, size=(14.0, 5.0))
