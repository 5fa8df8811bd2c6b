"""Sec. 5.1: the hopper. ε' with MuJoCo's error, times, the trajectories of Fig. 5.1; and what the paper does not have.

* Table 5.1: MuJoCo at 2 ms; ours with steps of at most 2 ms, as in the paper, and with steps of any length; ε' found by
  bisection for each. Times in turn, round by round, of the second of two calls, medians; MuJoCo makes its steps in one
  call, in C.
* Touchdown, stance, lowest height and period as ε → 0; the last touchdown of 1000 hops.
* Error and time of MuJoCo's Euler and RK4 over its step, ours over ε and tolerance.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from functools import partial
from typing import Any

import mujoco
import numpy as np

from stickslip.lab.papers.event_selected import mujoco_models, ours
from stickslip.lab.papers.event_selected.setups import DT, END, HOP, Sizes, milliseconds, rms
from stickslip.lab.papers.store import Store
from stickslip.progress import Progress

START = np.array([HOP.height, 0.0])
MUJOCO, LIKE_PAPER, FREE = "MuJoCo", "ours, steps ≤ 2 ms", "ours"


def mujoco_steps(dt: float = DT, integrator: str = "Euler") -> Callable[[], None]:
    """All steps of a run, from the start."""
    model = mujoco_models.hopper(HOP, dt, integrator)
    data, steps = mujoco.MjData(model), mujoco_models.steps(model, END)

    def work() -> None:
        mujoco_models.set_start(model, data, START)
        mujoco.mj_step(model, data, steps)

    return work


def mujoco_error(dt: float = DT, integrator: str = "Euler") -> float:
    found = mujoco_models.trajectory(mujoco_models.hopper(HOP, dt, integrator), START, END)
    return rms(found - HOP(dt * np.arange(found.shape[1])))


def our_error(eps: float, **options: Any) -> float:
    found = ours.hopper(HOP, eps=eps, t_eval=ours.TIMES, **options)
    return rms(found.y - HOP(ours.TIMES)) if found.success else np.inf


def medians(works: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """[ms] of each, called in turn."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            times[name].append(milliseconds(work))
    return {name: statistics.median(values) for name, values in times.items()}


def calibration(rounds: int) -> dict[str, Any]:
    """Table 5.1, and the trajectories of Fig. 5.1."""
    target = mujoco_error()
    longest = {LIKE_PAPER: DT, FREE: np.inf}
    works: dict[str, Callable[[], Any]] = {MUJOCO: mujoco_steps()}
    rows: list[dict[str, Any]] = [
        {"method": MUJOCO, "eps": None, "rms": target, "steps": round(END / DT), "projections": 0, "violations": 0}
    ]
    trajectories = {MUJOCO: mujoco_models.trajectory(mujoco_models.hopper(HOP), START, END).tolist()}
    for name, step in longest.items():
        eps, error = ours.calibrate(partial(our_error, max_step=step), target)
        found = ours.hopper(HOP, eps=eps, max_step=step, t_eval=ours.TIMES)
        trajectories[name] = found.y.tolist()
        works[name] = partial(ours.hopper, HOP, eps=eps, max_step=step)
        counts = {"steps": found.nsteps, "projections": found.nprojections, "violations": len(found.violations)}
        rows.append({"method": name, "eps": eps, "rms": error, **counts})
    spent = medians(works, rounds)
    return {"rows": [{**row, "milliseconds": spent[row["method"]]} for row in rows], "trajectories": trajectories}


def numbers(hops: int) -> dict[str, Any]:
    """As ε → 0: found, and exact."""
    found = ours.hopper(HOP, hops * HOP.period, **ours.REFERENCE)
    down, up = found.crossings.t[::2], found.crossings.t[1::2]
    first = ours.hopper(HOP, dense_output=True, **ours.REFERENCE)
    assert first.sol is not None
    exact_last = HOP.touchdown + (len(down) - 1) * HOP.period
    return {
        "touchdown": float(down[0]), "touchdown_exact": HOP.touchdown,
        "stance": float(up[0] - down[0]), "stance_exact": HOP.stance,
        "period": float(down[1] - down[0]), "period_exact": HOP.period,
        "lowest": float(first.sol(0.5 * (down[0] + up[0]))[0]), "lowest_exact": HOP.lowest,
        "made": len(down), "last": float(down[-1]), "last_exact": exact_last,
        "status": found.status,
    }  # fmt: skip


def precision(settings: int, rounds: int) -> dict[str, Any]:
    """Rows of (method, setting, rms, milliseconds)."""
    works: dict[str, Callable[[], Any]] = {}
    rows: list[dict[str, Any]] = []
    for integrator in ("Euler", "RK4"):
        for number in np.unique(np.geomspace(100, 6400, settings).round().astype(int)):
            dt, name = END / number, f"MuJoCo, {integrator} {number}"
            works[name] = mujoco_steps(dt, integrator)
            rows.append({"key": name, "method": f"MuJoCo, {integrator}", "setting": dt,
                         "rms": mujoco_error(dt, integrator)})  # fmt: skip
    for eps in np.geomspace(2e-2, 1e-5, settings):
        options = {"eps": float(eps), "rtol": float(min(1e-3, 1e-2 * eps)), "atol": float(1e-4 * eps)}
        name = f"ours {eps:g}"
        works[name] = partial(ours.hopper, HOP, **options)
        rows.append({"key": name, "method": "ours", "setting": float(eps), "rms": our_error(**options)})
    spent = medians(works, rounds)
    return {"rows": [{**row, "milliseconds": spent[row["key"]]} for row in rows]}


def study(store: Store, sizes: Sizes) -> dict[str, Any]:
    with Progress("hopper", 3) as bar:
        found = store.unit("calibration", {"rounds": sizes.rounds}, partial(calibration, sizes.rounds))
        bar.update(1)
        exact = store.unit("numbers", {"hops": sizes.hops}, partial(numbers, sizes.hops))
        bar.update(2)
        parameters = {"settings": sizes.precision, "rounds": max(5, sizes.rounds // 10)}
        diagram = store.unit("precision", parameters, partial(precision, **parameters))
    return {
        "hopper": found["rows"], "hopper_trajectories": found["trajectories"], "hops": [exact],
        "precision": diagram["rows"],
    }  # fmt: skip
