"""``stickslip bench step``: one time step of methods with soft contacts, Pinocchio's ``aba`` and MuJoCo's ``mj_step``.

Solo12 squats on four feet, K = 1e5 N/m, B = 300 N s/m, with constant torques of the controller; it moves, since at rest
Newton's method would have nothing to do. Everything is timed in turn, round by round, in one process; the figures are
medians over rounds. A method is timed by one compiled call of many steps from the same state, less the same call
without steps. The unit is one ``pinocchio.aba`` as called from Python, in its faster convention. MuJoCo steps the same
model at 1 ms with its default solver and integrator, and spheres of 2 mm in place of contact points, which it lacks.

Growth. Pebbles on a floor do not couple, so that expo's time must be linear in their number. Points on one plate all
couple, so that its time grows with the cube of their number in the end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from rich.table import Table

from stickslip.control.references.squat import squat
from stickslip.lab.bench.mechanisms import pebbles, plate
from stickslip.lab.bench.stepping import Steps, mujoco_steps, with_spheres
from stickslip.lab.bench.timing import SLOPE_TARGET, Growth, growth, growth_table, growth_targets, interleaved, seconds
from stickslip.lab.report import check_destinations, finish, miss_style, quiet, terminal_table
from stickslip.lab.select import soft_methods
from stickslip.lab.targets import Target
from stickslip.methods.registry import METHODS
from stickslip.model import pinocchio as bridge
from stickslip.model.scene import Scene
from stickslip.simulation import Simulation


@dataclass(frozen=True)
class Case:
    """One method at one time step."""

    name: str
    method: str
    dt: float
    options: dict[str, Any]
    steps: int
    """Number of steps in a timed call; few enough for the robot to stay in its posture."""
    target: float | None
    """Largest time in units of Pinocchio's aba; None if there is no limit."""
    consim: float | None
    """The paper authors' C++ on another machine, in the same units."""


CASES = (
    Case("expo, 1 ms", "expo", 1e-3, {}, 40, 4.0, 10.3),
    Case("expo, 10 ms", "expo", 1e-2, {}, 15, 5.0, 13.0),
    Case("expo, matmuls=0", "expo", 1e-3, {"matmuls": 0}, 40, 2.0, 4.1),
    Case("expo, matmuls=2", "expo", 1e-3, {"matmuls": 2}, 40, None, 5.5),
    Case("expo, matmuls=4", "expo", 1e-3, {"matmuls": 4}, 40, None, 6.9),
    Case("expo, matmuls=pade", "expo", 1e-3, {"matmuls": "pade"}, 40, None, None),
    Case("euler", "euler", 1e-5, {}, 100, 0.8, 1.3),
    Case("semi-implicit-euler", "semi-implicit-euler", 1e-5, {}, 100, None, None),
    Case("rk4", "rk4", 1e-5, {}, 50, 3.0, 5.1),
    Case("implicit-euler, 1 ms", "implicit-euler", 1e-3, {}, 40, 12.0, 22.6),
    Case("implicit-euler, 10 ms", "implicit-euler", 1e-2, {}, 15, None, 32.6),
)


def cases() -> list[Case]:
    """``CASES``, and every other method with spring-damper contacts whose cost per step is fixed, for information."""
    known = {case.method for case in CASES}
    others = [name for name in soft_methods() if name not in known and not METHODS[name].by_tolerance]
    return [*CASES, *(Case(name, name, 1e-3, {}, 40, None, None) for name in others)]


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    rounds: int = 200
    growth_rounds: int = 20
    pebbles: tuple[int, ...] = (10, 30, 100, 300)
    points: tuple[int, ...] = (4, 8, 16, 32)


QUICK = Sizes(rounds=30, growth_rounds=5, pebbles=(10, 30, 100), points=(4, 8, 16))


@dataclass(frozen=True)
class Timing:
    """Median time of a method or a peer."""

    name: str
    time: float
    """[µs] per step."""
    units: float
    """Time in units of Pinocchio's aba."""
    target: float | None
    consim: float | None


def squatting_robot() -> tuple[Scene, np.ndarray, np.ndarray, np.ndarray]:
    """Solo12 on its feet, going down at 4 cm/s: scene, q, v, and the controls of this moment."""
    scene = Scene(name="solo12-squat")
    scene.add_plane(friction=1.0)
    scene.add_robot("solo12")
    sim = Simulation(scene, method="expo", dt=1e-3)
    sim.run(1.5, controller=squat(sim.model), control_dt=1e-3, progress=False)
    return scene, sim.state.q.copy(), sim.state.v.copy(), sim.control.copy()


def aba_calls(scene: Scene, q: np.ndarray, v: np.ndarray) -> list[Callable[[], float]]:
    """Pinocchio's forward dynamics in both of its conventions."""
    pin = bridge.import_pinocchio()
    model = scene.compile()
    peer = bridge.to_pinocchio(model)
    data, pq, pv, tau = peer.createData(), bridge.q_to_pinocchio(model, q), np.zeros(model.nv), np.zeros(model.nv)

    def calls(convention: Any, n: int) -> None:
        for _ in range(n):
            pin.aba(peer, data, pq, pv, tau, convention)

    return [partial(seconds, partial(calls, c), 200) for c in (pin.Convention.LOCAL, pin.Convention.WORLD)]


def time_steppers(sizes: Sizes) -> tuple[float, list[Timing]]:
    """(Pinocchio's aba [µs], timings)."""
    scene, q, v, control = squatting_robot()
    timed: dict[str, Callable[[], float]] = {}
    for k, call in enumerate(aba_calls(scene, q, v)):
        timed[f"aba {k}"] = call
    for case in cases():
        sim = Simulation(scene, method=case.method, dt=case.dt, **case.options)
        sim.set_state(q, v)
        sim.set_control(control)
        sim.step(1)
        timed[case.name] = Steps(sim, case.steps)
    peer = with_spheres(scene, 1e-3, mujoco.mjtSolver.mjSOL_NEWTON, mujoco.mjtCone.mjCONE_PYRAMIDAL)
    timed["MuJoCo mj_step, 1 ms"] = mujoco_steps(peer, q, v, 35, 5, control, contacts=4)
    median = interleaved(timed, sizes.rounds, "steppers, Pinocchio and MuJoCo in turn")
    unit = min(median.pop("aba 0"), median.pop("aba 1"))
    stated = {case.name: (case.target, case.consim) for case in CASES}
    timings = [Timing(name, us, us / unit, *stated.get(name, (None, None))) for name, us in median.items()]
    return unit, [*timings, Timing("Pinocchio aba, from Python", unit, 1.0, None, None)]


def measure_growth(sizes: Sizes) -> list[Growth]:
    result = []
    for name, build, counts, target in (
        ("expo: pebbles on a floor", pebbles, sizes.pebbles, SLOPE_TARGET),
        ("expo: points on one plate", plate, sizes.points, None),
    ):
        timed = {}
        for n in counts:
            sim = Simulation(build(n), method="expo", dt=1e-3)
            sim.step(2)
            timed[n] = Steps(sim, 10)
        result.append(growth(name, interleaved(timed, sizes.growth_rounds, name), target))
    return result


def targets(timings: list[Timing], growths: list[Growth]) -> list[Target]:
    speed = [Target(f"{t.name}, units of aba", t.units, t.target) for t in timings if t.target is not None]
    return [*speed, *growth_targets(growths)]


def _table(unit: float, timings: list[Timing]) -> Table:
    def text(value: float | None, form: str = "{:g}") -> str:
        return "" if value is None else form.format(value)

    title = f"One step of Solo12 on four feet; unit: Pinocchio's aba from Python, {unit:.2f} µs"
    speed = terminal_table(title, ("stepper", "median µs", "units", "target", "consim (C++)"))
    for t in timings:
        numbers = (f"{t.time:.2f}", f"{t.units:.2f}", text(t.target, "≤ {:g}"), text(t.consim))
        speed.add_row(t.name, *numbers, style=miss_style(t.units, t.target))
    return speed


def _plot(timings: list[Timing], axes) -> None:
    order = sorted(timings, key=lambda t: t.time)
    axes.barh([t.name for t in order], [t.units for t in order], color="tab:blue", label="measured")
    theirs = [(t.consim, row) for row, t in enumerate(order) if t.consim is not None]
    aims = [(t.target, row) for row, t in enumerate(order) if t.target is not None]
    axes.plot(*zip(*theirs, strict=True), "o", color="tab:orange", label="consim (C++)")
    axes.vlines([x for x, _ in aims], [y - 0.4 for _, y in aims], [y + 0.4 for _, y in aims], "r", label="target")
    axes.set_xlabel("time per step [Pinocchio aba calls]")
    axes.legend()


def run_step(
    quick: bool = False, json_path: Path | None = None, out: Path | None = None, *, sizes: Sizes | None = None
) -> bool:
    """Measure, print two tables and the worst figure; True if every target is met.

    All numbers go to ``json_path``; ``out`` is a folder for ``step.json`` and the plot ``step.png``.
    """
    bridge.import_pinocchio()  # fails before minutes of work
    check_destinations(json_path, out)
    sizes = sizes or (QUICK if quick else Sizes())
    with quiet():
        unit, timings = time_steppers(sizes)
        growths = measure_growth(sizes)
    numbers = {"sizes": sizes, "pinocchio_aba_us": unit, "timings": timings, "growth": growths}
    tables = [_table(unit, timings), growth_table(growths)]
    return finish("step", numbers, targets(timings, growths), tables, partial(_plot, timings), json_path, out)
