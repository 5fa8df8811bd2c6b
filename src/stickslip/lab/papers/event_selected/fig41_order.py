"""Sec. 4, Fig. 4.1: error over ε of a trajectory through the three guards of Tab. 4.1, whose exact flow is known.

The error is taken at 1001 even times on the dense output, which passes straight through projections, and at the end.
The paper states an order of at least 2 in ε; crossings and state as ε → 0 are those of the exact flow.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from stickslip.lab.papers.event_selected import ours
from stickslip.lab.papers.event_selected.exact import table_flow
from stickslip.lab.papers.event_selected.setups import OURS, SAMPLES, TABLE_END, TABLE_START, THEIRS, Sizes, rms
from stickslip.lab.papers.paper import Part, Results, finish, grid, image, new_figure, table, units
from stickslip.lab.papers.rows import Rows, column, slope
from stickslip.lab.store import Store
from stickslip.lab.targets import Target

LARGE, SMALL = 1.0, 1e-8
"""ε from where nothing changes any more to where tolerances of steps decide."""
FITTED = (1e-4, 1e-2)
"""Smallest and largest ε of the fit."""
ORDER = 0.05
"""Limit of |order − 2|."""
CROSSING = 1e-9
"""Limit of differences in time [s] and state."""


@lru_cache
def truth() -> tuple[np.ndarray, np.ndarray]:
    """(times (k,), exact states (3, k))."""
    times = np.linspace(0.0, TABLE_END, SAMPLES + 1)
    return times, table_flow(np.array(TABLE_START), TABLE_END)(times)


def measure(eps: float) -> dict[str, Any]:
    times, exact = truth()
    found = ours.table(eps, times)
    return {
        "rms": rms(found.y - exact),
        "end": float(np.linalg.norm(found.y[:, -1] - exact[:, -1])),
        "steps": found.nsteps,
        "projections": found.nprojections,
        "violations": len(found.violations),
        "status": found.status,
    }


def events() -> dict[str, Any]:
    """Crossings as ε → 0, beside the exact ones."""
    exact, found = table_flow(np.array(TABLE_START), TABLE_END), ours.table(0.0)
    return {
        "guards": list(exact.guards),
        "exact": exact.starts[1:].tolist(),
        "found_guards": found.crossings.guard.tolist(),
        "found": found.crossings.t.tolist(),
        "state": found.x.tolist(),
        "exact_state": exact(np.array([TABLE_END]))[:, 0].tolist(),
    }


def study(store: Store, sizes: Sizes) -> Results:
    values = [float(eps) for eps in np.geomspace(SMALL, LARGE, sizes.order)]
    return {"order": units(store, "order", grid(eps=values), measure), "events": store.unit("events", {}, events)}


def fitted(rows: Rows, interval: tuple[float, float] = FITTED) -> tuple[np.ndarray, np.ndarray]:
    """(ε, error) in the interval of the fit."""
    chosen = [row for row in rows if 0.999 * interval[0] <= row["eps"] <= 1.001 * interval[1]]
    return column(chosen, "eps"), column(chosen, "rms")


def order(rows: Rows, interval: tuple[float, float] = FITTED) -> float:
    """Slope of log(error) over log(ε), from a fit to all of them."""
    return slope(*fitted(rows, interval))


def local_orders(rows: Rows) -> np.ndarray:
    """The slopes from each ε to the next."""
    eps, error = np.log(fitted(rows))
    return np.diff(error) / np.diff(eps)


def targets(results: Results) -> list[Target]:
    rows, events = results["order"], results["events"]
    late = np.inf
    if events["guards"] == events["found_guards"]:
        late = float(np.max(np.abs(np.subtract(events["exact"], events["found"]))))
    off = float(np.max(np.abs(np.subtract(events["state"], events["exact_state"]))))
    worst = float(np.max(np.abs(local_orders(rows) - 2.0)))
    return [
        Target("order test: |order − 2|, fit for ε from 1e-4 to 1e-2", abs(order(rows) - 2.0), ORDER),
        Target("order test: |order − 2|, worst between neighbours", worst, ORDER),
        Target("order test: crossings as ε → 0 [s]", late, CROSSING),
        Target("order test: state at 0.5 s as ε → 0", off, CROSSING),
    ]


def draw(results: Results):
    """Error over 1/ε, and the slope from each ε to the next."""
    rows = results["order"]
    figure, axes = new_figure(1, 2, (12, 4.4))
    left, right = axes[0]
    eps, error = column(rows, "eps"), column(rows, "rms")
    through = (eps >= FITTED[0]) & (eps <= 1.001 * FITTED[1])
    scale = np.exp(np.mean(np.log(error[through] / eps[through] ** 2)))
    left.axvspan(1.0 / FITTED[1], 1.0 / FITTED[0], color="0.9", label="of the fit")
    left.loglog(1.0 / eps, error, ".-", color=OURS, label="root mean square of the trajectory")
    left.loglog(1.0 / eps, column(rows, "end"), ":", color="C1", label="at the end")
    left.loglog(1.0 / eps, scale * eps**2, "--", color=THEIRS, linewidth=1, label="slope 2")
    left.set(ylim=(0.3 * error.min(), 10.0 * error.max()), ylabel="error", title=f"Fig. 4.1: order {order(rows):.4f}")
    orders = np.diff(np.log(error)) / np.diff(np.log(eps))
    right.axvspan(1.0 / FITTED[1], 1.0 / FITTED[0], color="0.9")
    right.axhspan(1.95, 2.05, color="C2", alpha=0.2, label="2 ± 0.05")
    right.semilogx(1.0 / np.sqrt(eps[1:] * eps[:-1]), orders, ".-", color=OURS, label="between neighbours")
    right.set(ylim=(-0.5, 3.5), ylabel="order")
    right.set_title(f"from {local_orders(rows).min():.4f} to {local_orders(rows).max():.4f} in the interval of the fit")
    finish(axes, "1/ε", 9)
    return figure


def section(results: Results) -> str:
    rows, events = results["order"], results["events"]
    crossings = [
        ("xyz"[guard], f"{exact:.12f}", f"{found:.12f}", f"{abs(found - exact):.1e}")
        for guard, exact, found in zip(events["guards"], events["exact"], events["found"], strict=False)
    ]
    return "\n".join([
        "## Fig. 4.1: order in ε\n",
        image("fig41_order", "Error over 1/ε, and the order from each ε to the next"),
        "**The paper:** *order at least 2.1.* **Here:** "
        f"{order(rows):.4f}, between neighbours {local_orders(rows).min():.4f} to {local_orders(rows).max():.4f}. "
        "The paper's events were detected at the ends of steps only, so its errors are a staircase in ε, and a line "
        "through it is not an order; here the entry into N^ε is located on the dense output. Crossings as ε → 0:\n",
        table(("guard", "exact [s]", "found [s]", "difference [s]"), crossings),
    ])  # fmt: skip


FIG41 = Part("fig41", study, section, targets, {"fig41_order": draw}, tables=("order",), data=("events",))
