"""``stickslip bench rigid``: time steps with Coulomb's and with relaxed contacts beside MuJoCo's ``mj_step``.

* Solo12 squats on four feet, as in ``bench step``, at 1 ms: our methods beside ``mj_step`` with every solver and cone
  that MuJoCo has. Targets, over the fastest of them: 0.8 of ``coulomb/pgs`` and ``relaxed/pgs``, 8 of
  ``coulomb/interior-point``, 6 of every other formulation and built-in solver.
* A pile: spheres of several sizes, settled in a box of four walls (by MuJoCo, one second), at 5 ms, 10 to 1000 of them.
  A few warm-started steps from there are timed beside ``mj_step``, for information. Our natural residuals are ≤ 1e-8
  unless steps are counted as unconverged; MuJoCo's solvers stop at their own tolerance, and its contacts are soft.

Everything is timed in turn, round by round, in one process; the figures are medians over rounds. Solo12 takes 35 steps
after five that are not timed. All but the first two methods are timed separately, since they would evict the others
from the processor's caches.
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

from stickslip.lab.bench.step import squatting_robot
from stickslip.lab.bench.stepping import Steps, mujoco_steps, with_spheres
from stickslip.lab.bench.timing import Growth, growth, growth_table, interleaved
from stickslip.lab.report import check_destinations, finish, miss_style, quiet, terminal_table
from stickslip.lab.targets import Target
from stickslip.methods.registry import METHODS
from stickslip.model.scene import Scene
from stickslip.progress import Progress
from stickslip.simulation import Simulation

PILE_DT = 5e-3
WARM = 5
"""Steps of a pile before the measured ones."""
TARGETS = {"coulomb/pgs": 0.8, "relaxed/pgs": 0.8, "coulomb/interior-point": 8.0}
"""Largest time over that of the fastest ``mj_step``; every other method has ``TARGET``."""
TARGET = 6.0
TIMED = ("coulomb/pgs", "relaxed/pgs")
"""Methods that are timed beside MuJoCo's."""
FORMULATIONS = ("coulomb", "relaxed", "stewart-trinkle", "anitescu-potra", "peg")
EXTERNAL = ("path",)
PILED = ("coulomb/pgs", "coulomb/admm", "relaxed/pgs", "relaxed/newton")
SWEEPS = 1000
"""Largest number of Gauss–Seidel sweeps in a step of a pile."""
LARGEST = {"coulomb/admm": 100, "relaxed/newton": 300, "mj_step, Newton": 300}
"""Largest number of bodies that a method is measured with; others are measured with all."""
SOLVERS = {"PGS": mujoco.mjtSolver.mjSOL_PGS, "CG": mujoco.mjtSolver.mjSOL_CG, "Newton": mujoco.mjtSolver.mjSOL_NEWTON}
CONES = {"pyramidal": mujoco.mjtCone.mjCONE_PYRAMIDAL, "elliptic": mujoco.mjtCone.mjCONE_ELLIPTIC}


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    rounds: int = 100
    bodies: tuple[int, ...] = (10, 30, 100, 300, 1000)
    pile_rounds: int = 3
    settling: float = 1.0
    """[s] simulated time before a pile is measured."""
    methods: tuple[str, ...] = ()
    """Methods on Solo12; none: all."""


QUICK = Sizes(rounds=20, bodies=(10, 30, 100), pile_rounds=3)


@dataclass(frozen=True)
class Timing:
    """Median time of a method or a peer."""

    name: str
    time: float
    """[µs] per step."""
    ratio: float
    """Time over that of the fastest ``mj_step``."""
    target: float | None


def every_method() -> list[str]:
    """Every formulation with every built-in solver, those of ``TIMED`` first."""
    pairs = [(name, variant) for name in FORMULATIONS for variant in METHODS[name].capabilities.variants]
    names = [f"{name}/{variant}" for name, variant in pairs if variant not in EXTERNAL]
    return sorted(names, key=lambda name: name not in TIMED)


def known(methods: tuple[str, ...]) -> list[str]:
    """Methods whose solver is registered."""
    pairs = (method.split("/") for method in methods)
    return [f"{name}/{variant}" for name, variant in pairs if variant in METHODS[name].capabilities.variants]


def time_solo12(sizes: Sizes) -> list[Timing]:
    scene, q, v, control = squatting_robot()
    timed: dict[str, Callable[[], float]] = {}
    others: dict[str, Callable[[], float]] = {}
    for method in sizes.methods or every_method():
        sim = Simulation(scene, method=method, dt=1e-3)
        sim.set_state(q, v)
        sim.set_control(control)
        sim.step(1)
        (timed if method in TIMED else others)[method] = Steps(sim, 35, warm=5)
    for solver, cone in ((s, c) for s in SOLVERS for c in CONES):
        name = f"mj_step, {solver}, {cone}"
        peer = with_spheres(scene, 1e-3, SOLVERS[solver], CONES[cone])
        timed[name] = mujoco_steps(peer, q, v, 35, 5, control, contacts=4)
    median = interleaved(timed, sizes.rounds, "Solo12 on four feet")
    median |= interleaved(others, max(2, sizes.rounds // 10), "other solvers")
    fastest = min(us for name, us in median.items() if name.startswith("mj_step"))
    return [
        Timing(name, us, us / fastest, None if name.startswith("mj_step") else TARGETS.get(name, TARGET))
        for name, us in median.items()
    ]


def pile(n: int, settling: float) -> tuple[Scene, np.ndarray, np.ndarray]:
    """n spheres in a box of walls, about as high as wide: scene, q and v."""
    scene, random = Scene(name="pile"), np.random.default_rng(0)
    scene.add_plane(friction=0.5)
    side = max(2, round(n ** (1.0 / 3.0)))
    half = 0.12 * side
    for axis in range(4):
        x, y = np.cos(0.5 * np.pi * axis), np.sin(0.5 * np.pi * axis)
        scene.add_plane(normal=(-x, -y, 0.0), pos=(half * x, half * y, 0.0), friction=0.5)
    for k in range(n):
        layer, cell = divmod(k, side * side)
        i, j = divmod(cell, side)
        jitter = 0.01 * random.standard_normal(2)
        x, y = 0.22 * (i - 0.5 * (side - 1)) + jitter[0], 0.22 * (j - 0.5 * (side - 1)) + jitter[1]
        scene.add_sphere(random.uniform(0.08, 0.1), pos=(x, y, 0.12 + 0.24 * layer), mass=1.0, friction=0.5)
    model = scene.compile().mj
    model.opt.timestep, model.opt.solver = PILE_DT, mujoco.mjtSolver.mjSOL_CG  # the fastest solver for large piles
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, round(settling / PILE_DT))
    return scene, data.qpos.copy(), data.qvel.copy()


@dataclass
class PileSteps:
    """Warm-started steps of a settled pile; each call returns the seconds per step and restores the pile."""

    sim: Simulation
    steps: int = 3
    iterations: float = 0.0
    unconverged: int = 0

    def __post_init__(self) -> None:
        self.sim.step(WARM)
        self._start = self.sim.snapshot()

    def __call__(self) -> float:
        sim, failed = self.sim, self.sim.stepper.unconverged
        begin = time.perf_counter()
        sim.stepper.advance(sim.state, sim.inputs, self.steps)
        took = time.perf_counter() - begin
        self.iterations, self.unconverged = sim.stepper.iterations, sim.stepper.unconverged - failed
        sim.restore(self._start)
        return took / self.steps


def pile_peer(scene: Scene, q: np.ndarray, v: np.ndarray, solver: int) -> Callable[[], float]:
    model = scene.compile().mj
    model.opt.timestep, model.opt.solver = PILE_DT, solver
    return mujoco_steps(model, q, v, 3, WARM)


def piled(method: str, scene: Scene, q: np.ndarray, v: np.ndarray) -> PileSteps:
    options: dict[str, Any] = {"solver_options": {"max_iterations": SWEEPS}} if method.endswith("/pgs") else {}
    sim = Simulation(scene, method=method, dt=PILE_DT, **options)
    sim.set_state(q, v)
    return PileSteps(sim)


def measure_piles(sizes: Sizes) -> list[Growth]:
    makers: dict[str, Callable[..., Callable[[], float]]] = {name: partial(piled, name) for name in known(PILED)}
    makers |= {f"mj_step, {name}": partial(pile_peer, solver=solver) for name, solver in SOLVERS.items()}
    timed: dict[tuple[str, int], Callable[[], float]] = {}
    with Progress("piles settle", len(sizes.bodies), "piles") as bar:
        for done, n in enumerate(sizes.bodies):
            there = pile(n, sizes.settling)
            timed |= {(name, n): make(*there) for name, make in makers.items() if n <= LARGEST.get(name, n)}
            bar.update(done + 1)
    median = interleaved(timed, sizes.pile_rounds, "piles")
    result = []
    for name in makers:
        grown = growth(f"{name}: pile", {n: us for (who, n), us in median.items() if who == name}, None)
        ours = [work for (who, _), work in timed.items() if who == name and isinstance(work, PileSteps)]
        if ours:
            failed = sum(work.unconverged for work in ours)
            grown = replace(grown, iterations=[work.iterations for work in ours], unconverged=failed)
        result.append(grown)
    return result


def _tables(timings: list[Timing], growths: list[Growth]) -> list[Table]:
    title = "One step of Solo12 on four feet, 1 ms"
    table = terminal_table(title, ("by", "median µs", "over the fastest mj_step", "target"))
    for t in timings:
        target = "" if t.target is None else f"≤ {t.target:g}"
        table.add_row(t.name, f"{t.time:.2f}", f"{t.ratio:.2f}", target, style=miss_style(t.ratio, t.target))
    sizes = max((g.sizes for g in growths), key=len)
    piles = terminal_table(f"One step of a pile, {1e3 * PILE_DT:g} ms: median µs", ("by", *(f"{n}" for n in sizes)))
    for g in growths:
        piles.add_row(g.name.partition(":")[0], *(f"{us:.0f}" for us in g.times))
    return [table, piles, growth_table(growths)]


def _plot(growths: list[Growth], axes) -> None:
    for g in growths:
        axes.loglog(g.sizes, 1e-3 * np.array(g.times), "o--" if "mj_step" in g.name else "o-", label=g.name)
    axes.set_xlabel("bodies in a pile")
    axes.set_ylabel("time per step [ms]")
    axes.grid(alpha=0.3)
    axes.legend()


def run_rigid(
    quick: bool = False, json_path: Path | None = None, out: Path | None = None, *, sizes: Sizes | None = None
) -> bool:
    """Measure, print the tables and the worst figure; True if every target is met."""
    check_destinations(json_path, out)
    sizes = sizes or (QUICK if quick else Sizes())
    with quiet():
        timings, growths = time_solo12(sizes), measure_piles(sizes)
    aims = [Target(f"Solo12, {t.name} / fastest mj_step", t.ratio, t.target) for t in timings if t.target is not None]
    numbers = {"sizes": sizes, "timings": timings, "growth": growths}
    return finish("rigid", numbers, aims, _tables(timings, growths), partial(_plot, growths), json_path, out)
