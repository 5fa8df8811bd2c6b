"""Sec. 5.1, Table 5.1 and Fig. 5.1: the hopper beside MuJoCo, at MuJoCo's error.

* Table 5.1: MuJoCo at 2 ms; ours with steps of at most 2 ms, as in the paper, and with steps of any length; ε' found by
  bisection for each. Times in turn, round by round, of the second of two calls, medians; MuJoCo makes its steps in one
  call, in C. The targets: at most MuJoCo's error in at most MuJoCo's time (the paper's took four times as long).
* Not in the paper: touchdown, stance, lowest height and period as ε → 0; the last touchdown of 1000 hops; error and
  time of MuJoCo's Euler and RK4 over its step, ours over ε and tolerance.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from functools import partial
from typing import Any

import mujoco
import numpy as np

from stickslip.lab.papers.event_selected import mujoco_models, ours
from stickslip.lab.papers.event_selected.setups import DT, END, HOP, OURS, THEIRS, Sizes, milliseconds, rms
from stickslip.lab.papers.paper import Part, Results, finish, image, new_figure, table
from stickslip.lab.papers.rows import column, first, number, table_of, where
from stickslip.lab.store import Store
from stickslip.lab.targets import Target
from stickslip.progress import Progress

START = np.array([HOP.height, 0.0])
MUJOCO, LIKE_PAPER, FREE = "MuJoCo", "ours, steps ≤ 2 ms", "ours"
EXACT = 1e-6
"""Limit of the errors of the hopper's times [s] and height [m]."""
DRIFT = 1e-5
"""Limit of the error of the last touchdown of all hops [s]."""
CHECKED = ("touchdown", "stance", "lowest", "period")


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
    """Median time [ms] of each work, called in turn."""
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
    """The hopper's numbers as ε → 0, and the exact ones."""
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
        for steps in np.unique(np.geomspace(100, 6400, settings).round().astype(int)):
            dt, name = END / steps, f"MuJoCo, {integrator} {steps}"
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


def study(store: Store, sizes: Sizes) -> Results:
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


def targets(results: Results) -> list[Target]:
    rows, found = results["hopper"], results["hops"][0]
    theirs, result = first(rows, method=MUJOCO), []
    for name in (LIKE_PAPER, FREE):
        mine = first(rows, method=name)
        result.append(Target(f"hopper, {name}: error over MuJoCo's", mine["rms"] / theirs["rms"], 1.0))
        result.append(Target(f"hopper, {name}: time over MuJoCo's", mine["milliseconds"] / theirs["milliseconds"], 1.0))
    for name in CHECKED:
        off = abs(found[name] - found[f"{name}_exact"])
        result.append(Target(f"hopper: {name} as ε → 0, off [{'m' if name == 'lowest' else 's'}]", off, EXACT))
    drift = abs(found["last"] - found["last_exact"])
    return [*result, Target(f"hopper: last touchdown of {found['made']} hops, off [s]", drift, DRIFT)]


def draw_trajectories(results: Results):
    """Fig. 5.1: height and velocity, and their errors."""
    exact, times = HOP(ours.TIMES), ours.TIMES
    figure, axes = new_figure(2, 2, (12, 6.4))
    styles = {MUJOCO: (THEIRS, "--"), LIKE_PAPER: (OURS, "-"), FREE: ("C1", ":")}
    for i, what in enumerate(("z [m]", "ż [m/s]")):
        top, bottom = axes[:, i]
        top.plot(times, exact[i], color="grey", linestyle=":", linewidth=3, label="exact")
        for name, (colour, style) in styles.items():
            track = np.array(results["hopper_trajectories"][name][i])
            for ax, values in ((top, track), (bottom, track - exact[i])):
                ax.plot(times, values, color=colour, linestyle=style, linewidth=1, label=name)
        top.set_ylabel(what)
        bottom.set(ylabel=f"{what}, less the exact one", xlabel="time [s]")
    finish(axes)
    axes[0, 0].set_title("Fig. 5.1: the hopper, at equal errors")
    return figure


def draw_precision(results: Results):
    """Error over time of computing."""
    figure, axes = new_figure(1, 1, (7, 4.6))
    ax = axes[0, 0]
    for method, colour in (("MuJoCo, Euler", THEIRS), ("MuJoCo, RK4", "C2"), ("ours", OURS)):
        rows = where(results["precision"], method=method)
        ax.loglog(column(rows, "milliseconds"), column(rows, "rms"), "o-", color=colour, label=method)
    target = first(results["hopper"], method=MUJOCO)
    ax.loglog(target["milliseconds"], target["rms"], "k*", markersize=12, label="MuJoCo at 2 ms")
    ax.set(ylabel="root mean square error", title="the hopper: error over time of computing")
    finish(axes, "time of computing 2 s [ms]", 9, which="both")
    return figure


def section(results: Results) -> str:
    rows, found = results["hopper"], results["hops"][0]
    theirs, like_paper, free = (first(rows, method=name)["milliseconds"] for name in (MUJOCO, LIKE_PAPER, FREE))
    checks = [
        (name, f"{found[f'{name}_exact']:.9f}", f"{abs(found[name] - found[f'{name}_exact']):.1e}")
        for name in (*CHECKED, "last")
    ]
    return "\n".join([
        "## Table 5.1, Fig. 5.1: the hopper at MuJoCo's error\n",
        table_of(rows, {
            "": "{method}", "ε' [m]": lambda row: number(row["eps"], 4), "error": "{rms:.4g}", "steps": "{steps}",
            "projections": "{projections}", "time [ms]": "{milliseconds:.3f}",
            "/ MuJoCo's": lambda row: f"{row['milliseconds'] / theirs:.2f}",
        }),
        f"**The paper:** *ε' = 0.13; 10.3 ms, MuJoCo 2.4 ms.* **Here:** {like_paper:.2f} ms "
        f"with steps of at most 2 ms, {free:.2f} ms without that bound, MuJoCo "
        f"{theirs:.2f} ms. ε' depends on k/m, which the paper does not give, and on how errors of "
        "MuJoCo's positions and velocities cancel.\n",
        image("fig51_hopper", "Height and velocity, and what is left after subtracting the exact motion"),
        image("hopper_precision", "Error over time of computing: MuJoCo over its step, ours over ε and tolerance"),
        f"As ε → 0, beside the closed form (the last line: touchdown {found['made']}):\n",
        table(("", "exact [s], lowest [m]", "difference"), checks),
    ])  # fmt: skip


TABLE51 = Part(
    "table51", study, section, targets, {"fig51_hopper": draw_trajectories, "hopper_precision": draw_precision},
    tables=("hopper", "hops", "precision"), data=("hopper_trajectories",),
)  # fmt: skip
