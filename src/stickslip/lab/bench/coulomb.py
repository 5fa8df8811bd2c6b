"""``stickslip bench coulomb``: which solver solves Coulomb's law on every step of which scene, and at what cost.

Every solver simulates every scene by ``coulomb``, one step at a time. The residual of each step is computed by
``solvers.residuals``. Times are those of the solver alone, without kinematics and collision, which are the same for
all. A step counts as solved if its natural residual is at most 1e-8 [N s, m/s]; solvers are asked for 1e-9, since their
tolerance is relative to the largest |b|. The target is that on every scene one solver solves every step. A run ends
early if the motion diverges, or if the solver takes longer than ``PATIENCE``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from stickslip.lab.report import check_destinations, finish, quiet, terminal_table
from stickslip.lab.targets import Target
from stickslip.methods.base import OK
from stickslip.methods.registry import METHODS
from stickslip.progress import Progress
from stickslip.scenes import SCENES, Setup
from stickslip.simulation import Simulation
from stickslip.solvers import make_solver

SOLVED = 1e-8
"""Largest natural residual of a solved step [N s, m/s]."""
TOLERANCE = 1e-9
"""Tolerance of the solvers."""
PATIENCE = 60.0
"""[s] longest time of a solver on one scene."""
SOLVERS = tuple(name for name in METHODS["coulomb"].capabilities.variants if name != "path")
"""All solvers that need no licence."""


@dataclass(frozen=True)
class Case:
    """A scene, its duration and its time step."""

    label: str
    scene: str
    seconds: float
    dt: float
    """[s]."""
    parameters: dict[str, Any] = field(default_factory=dict)


CASES = (
    Case("block stack of 10", "block-stack", 1.0, 0.01),
    Case("1000 kg on 1 g", "heavy-on-light", 1.0, 0.01),
    Case("1 g on 1000 kg", "light-on-heavy", 1.0, 0.01),
    Case("Solo12 stands", "solo12-stand", 1.0, 1e-3),
    Case("Solo12 trots", "solo12-trot", 3.0, 2e-3),
    Case("Solo12 trots on μ = 0.2", "solo12-trot", 1.5, 2e-3, {"friction": 0.2}),
    Case("Solo12 slips", "solo12-slip", 1.0, 1e-3),
    Case("100 spheres in a box", "spheres-in-box", 1.0, 5e-3),
    Case("boxes in a grasp", "box-grasp", 1.0, 0.01),
    Case("arm grasps and lifts", "arm-grasp", 4.0, 0.01),
)
QUICK = tuple(Case(c.label, c.scene, 0.1 if c.scene != "solo12-trot" else 0.5, c.dt, c.parameters) for c in CASES)


@dataclass(frozen=True)
class Run:
    """One solver on one scene."""

    scene: str
    solver: str
    steps: int
    """Number of steps; smaller than asked for if the run ended early."""
    unsolved: int
    """Number of steps with a residual above 1e-8."""
    worst: float
    """Largest natural residual of all steps."""
    time: float
    """[µs] median time of the solver per step with contacts."""
    slowest: float
    """[µs] longest time of the solver in a step."""
    iterations: float
    """Mean number of iterations per step with contacts."""
    contacts: int
    """Largest number of contacts in a step."""
    complete: bool


def simulate(case: Case, setup: Setup, model: Any, name: str) -> Run:
    """Simulate a scene from its start, with its controller."""
    solver = make_solver(name, tolerance=TOLERANCE)
    sim = Simulation(model, method="coulomb", dt=case.dt, solver=solver.solve, user=setup.user)
    if setup.velocity is not None:
        sim.set_state(v=setup.velocity)
    control, every = setup.controller, max(1, round((setup.control_dt or 1e-3) / case.dt))
    if control is not None and hasattr(control, "bind"):
        control.bind(model)
    steps = round(case.seconds / case.dt)
    residuals, seconds, iterations, contacts = [0.0], [0.0], [0.0], [0]
    done = 0
    with Progress(f"{case.label}: {name}", steps, "steps") as bar:
        for k in range(steps):
            if control is not None and k % every == 0:
                sim.set_control(control(sim.time, sim.state.q.copy(), sim.state.v.copy()))
            status, _ = sim.stepper.advance(sim.state, sim.inputs, 1)
            if status != OK:
                break
            done = k + 1
            sim.steps, sim.state.time = done, done * case.dt
            result = sim.result
            if result is not None and len(result.z):
                residuals.append(result.residual)
                seconds.append(result.seconds)
                iterations.append(result.iterations)
                contacts.append(len(sim.contacts))
            if sum(seconds) > PATIENCE:
                break
            bar.update(done)
    taken = np.array(residuals)
    median, mean = float(np.median(seconds[1:] or seconds)), float(np.mean(iterations[1:] or iterations))
    return Run(
        case.label, name, done, int(np.sum(taken > SOLVED)), float(min(taken.max(), 1e300)), 1e6 * median,
        1e6 * max(seconds), mean, max(contacts), done == steps,
    )  # fmt: skip


def measure(cases: Sequence[Case], solvers: Sequence[str]) -> list[Run]:
    runs = []
    for case in cases:
        setup = SCENES[case.scene].build(**case.parameters)
        model = setup.scene.compile()
        brief = Case(case.label, case.scene, 2 * case.dt, case.dt, case.parameters)
        for name in solvers:
            simulate(brief, setup, model, name)  # compiles
            runs.append(simulate(case, setup, model, name))
    return runs


def targets_of(runs: Sequence[Run]) -> list[Target]:
    """For each scene, the smallest of the solvers' worst residuals; runs that ended early do not count."""
    best: dict[str, float] = {}
    for run in runs:
        worst = run.worst if run.complete else 1e300
        best[run.scene] = min(best.get(run.scene, 1e300), worst)
    return [Target(f"{scene}: worst residual of the best solver", worst, SOLVED) for scene, worst in best.items()]


def _table(runs: Sequence[Run]) -> Table:
    headings = ("scene: solver", "steps", "unsolved", "worst", "ms", "iterations")
    table = terminal_table("Coulomb's law: natural residual over all steps", headings, no_wrap=len(headings))
    last = ""
    for run in runs:
        if run.scene != last:
            table.add_section()
            table.add_row(run.scene, style="bold")
        table.add_row(
            run.solver, f"{run.steps}{'' if run.complete else ' …'}", f"{run.unsolved}", f"{run.worst:.1e}",
            f"{1e-3 * run.time:.3g}", f"{run.iterations:.3g}",
            style="" if run.complete and run.worst <= SOLVED else "red",
        )  # fmt: skip
        last = run.scene
    return table


def _plot(runs: Sequence[Run], panels) -> None:
    scenes, solvers = (list(dict.fromkeys(getattr(run, what) for run in runs)) for what in ("scene", "solver"))
    left, right = panels
    right.sharey(left)
    for k, solver in enumerate(solvers):
        mine = [run for run in runs if run.solver == solver]
        rows = [scenes.index(run.scene) + 0.8 * (k + 0.5) / len(solvers) - 0.4 for run in mine]
        left.plot([max(run.worst, 1e-17) for run in mine], rows, "o", color=f"C{k}", label=solver)
        right.plot([1e-3 * run.time for run in mine], rows, "o", color=f"C{k}")
    left.axvline(SOLVED, color="black", linewidth=0.8)
    left.set_xlabel("worst natural residual of all steps")
    right.set_xlabel("solver's median time per step [ms]")
    left.set_yticks(range(len(scenes)), scenes)
    left.invert_yaxis()
    for axes in (left, right):
        axes.set_xscale("log")
        axes.grid(alpha=0.3)
    left.figure.legend(loc="outside right upper")


def run_coulomb(
    quick: bool = False,
    json_path: Path | None = None,
    out: Path | None = None,
    *,
    cases: Sequence[Case] | None = None,
    solvers: Sequence[str] = SOLVERS,
) -> bool:
    """Simulate, print a table and the worst figure; True if on every scene one solver solves every step."""
    check_destinations(json_path, out)
    with quiet():
        runs = measure(cases or (QUICK if quick else CASES), solvers)
    targets = targets_of(runs)
    numbers = {"runs": runs}
    plot = partial(_plot, runs)
    return finish("coulomb", numbers, targets, [_table(runs)], plot, json_path, out, panels=2, size=(14.0, 6.0))
