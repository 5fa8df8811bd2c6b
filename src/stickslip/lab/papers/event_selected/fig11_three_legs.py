"""Fig. 1.1: a hopper on three preloaded legs, which motivated the paper; its exact flow, and its orbital derivative.

The legs press at once with their preload when they touch, so that the force is affine in their length and jumps; the
paper shows a photograph and gives no model. The model of ``systems`` is affine in each of its regions, so that its flow
is known exactly whatever the order in which the legs touch. The error over ε is taken as in Fig. 4.1. If the hopper is
level, its three legs touch at once: the derivative of the flow by the state is then compared with one-sided
differences, in directions that make the legs touch in each of the six orders (Sec. 7 speaks of this derivative).
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from stickslip.ess import b_derivative
from stickslip.lab.papers.event_selected import ours, systems
from stickslip.lab.papers.event_selected.exact import Flow, affine_flow
from stickslip.lab.papers.event_selected.fig41_order import CROSSING, ORDER, fitted, order
from stickslip.lab.papers.event_selected.setups import (
    LEGS_END,
    LEGS_START,
    OURS,
    SAMPLES,
    THEIRS,
    Sizes,
    legs,
    rms,
)
from stickslip.lab.papers.paper import Part, Results, finish, grid, image, new_figure, units
from stickslip.lab.papers.rows import column, table_of
from stickslip.lab.store import Store
from stickslip.lab.targets import Target

LARGEST, SMALLEST = 0.1, 1e-7
"""Interval of ε [m]."""
FITTED = (1e-5, 1e-3)
"""Smallest and largest ε of the fit [m]."""
LEVEL = (1.2, 0.0, 0.0, 0.0, 0.0, 0.0)
"""A level start [m, rad]."""
SMALL = 1e-5
"""Displacement of one-sided differences [rad]."""
DIRECTIONS = 72
"""Number of directions of tilt in which differences are taken."""
SIDES = 1e-3
"""Limit of the distance between differences and derivative, relative to the derivative."""


def exact(start: tuple[float, ...]) -> Flow:
    three = legs()
    return affine_flow(
        lambda x, b: systems.legs_field(np.asarray(x, dtype=float), np.asarray(b), *three),
        lambda x: systems.legs_guards(np.ascontiguousarray(x), *three),
        np.array(start), LEGS_END, systems.opposite(3),
    )  # fmt: skip


@lru_cache
def truth() -> tuple[np.ndarray, np.ndarray]:
    """(times (k,), exact states (6, k))."""
    times = np.linspace(0.0, LEGS_END, SAMPLES + 1)
    return times, exact(LEGS_START)(times)


def measure(eps: float) -> dict[str, Any]:
    times, states = truth()
    found = ours.three_legs(legs(), np.array(LEGS_START), eps, t_eval=times, trust=np.inf)
    return {"rms": rms(found.y - states), "projections": found.nprojections, "status": found.status}


def events() -> dict[str, Any]:
    """Crossings as ε → 0, beside the exact ones; the exact trajectory."""
    flow, found = exact(LEGS_START), ours.three_legs(legs(), np.array(LEGS_START), 0.0)
    times, states = truth()
    return {
        "guards": list(flow.guards),
        "exact": flow.starts[1:].tolist(),
        "found_guards": found.crossings.guard.tolist(),
        "found": found.crossings.t.tolist(),
        "state": found.x.tolist(),
        "exact_state": flow(np.array([LEGS_END]))[:, 0].tolist(),
        "times": times.tolist(),
        "states": states.tolist(),
    }


def sides() -> dict[str, Any]:
    """One-sided differences of the end of the first stance of a level hopper, and its derivative, over the direction
    of a tilt of the start."""
    three = legs()
    fall = float(np.sqrt(2.0 * (LEVEL[0] - systems.LENGTH) / systems.GRAVITY))
    options: dict[str, Any] = {"t_eval": [0.0, fall + 0.02]}
    result = ours.three_legs(three, np.array(LEVEL), 1e-9, **options)
    derivative, rows = b_derivative(result), []
    for angle in 2.0 * np.pi * (np.arange(DIRECTIONS) + 0.5) / DIRECTIONS:
        tilt = np.array([0.0, np.cos(angle), np.sin(angle), 0.0, 0.0, 0.0])
        moved = ours.three_legs(three, np.array(LEVEL) + SMALL * tilt, 0.0, **options)
        expected, found = derivative(tilt), (moved.x - result.x) / SMALL
        rows.append({
            "angle": float(np.degrees(angle)),
            "order": "".join(str(guard) for guard in moved.crossings.guard[:3]),
            "roll_rate": float(expected[4]), "pitch_rate": float(expected[5]),
            "roll_rate_difference": float(found[4]), "pitch_rate_difference": float(found[5]),
            "off": float(np.abs(found - expected).max() / np.abs(expected).max()),
        })  # fmt: skip
    return {"rows": rows, "groups": [list(group) for group in derivative.groups]}


def study(store: Store, sizes: Sizes) -> Results:
    values = [float(eps) for eps in np.geomspace(SMALLEST, LARGEST, max(5, sizes.order // 2))]
    found = store.unit("sides", {}, sides)
    return {
        "legs": units(store, "legs", grid(eps=values), measure, "three legs"),
        "legs_events": store.unit("legs_events", {}, events),
        "legs_sides": found["rows"],
        "legs_groups": found["groups"],
    }


def targets(results: Results) -> list[Target]:
    events, rows = results["legs_events"], results["legs_sides"]
    late = np.inf
    if events["guards"] == events["found_guards"]:
        late = float(np.max(np.abs(np.subtract(events["exact"], events["found"]))))
    off = float(np.max(np.abs(np.subtract(events["state"], events["exact_state"]))))
    met = len({row["order"] for row in rows})
    return [
        Target(
            "three legs: |order − 2|, fit for ε from 1e-5 to 1e-3", abs(order(results["legs"], FITTED) - 2.0), ORDER
        ),
        Target("three legs: crossings as ε → 0 [s]", late, CROSSING),
        Target("three legs: state at the end as ε → 0", off, CROSSING),
        Target("three legs: 6 / orders of touchdown that were met", 6.0 / met, 1.0),
        Target("three legs: differences from the B-derivative, relative", max(row["off"] for row in rows), SIDES),
    ]


def draw(results: Results):
    """Lengths of the legs, error over ε, and derivatives over the direction of a tilt."""
    events, rows, three = results["legs_events"], results["legs_sides"], legs()
    figure, axes = new_figure(1, 3, (16, 4.4))
    left, middle, right = axes[0]
    times, states = np.array(events["times"]), np.array(events["states"])
    for i, arm in enumerate(three.arms):
        left.plot(times, states[0] + arm @ states[1:3], color=f"C{i}", linewidth=1, label=f"leg {i + 1}")
    for guard, moment in zip(events["guards"], events["exact"], strict=True):
        left.plot(moment, systems.LENGTH, "v" if guard < 3 else "^", color=f"C{guard % 3}", markersize=5)
    left.axhline(systems.LENGTH, color="0.6", linewidth=0.8, linestyle=":")
    left.set(title="Fig. 1.1: three preloaded legs", xlabel="time [s]")
    left.set_ylabel("height of the leg's hip [m]; ▾ touchdown, ▴ lift-off")
    eps, error = column(results["legs"], "eps"), column(results["legs"], "rms")
    chosen, errors = fitted(results["legs"], FITTED)
    scale = np.exp(np.mean(np.log(errors / chosen**2)))
    middle.axvspan(1.0 / FITTED[1], 1.0 / FITTED[0], color="0.9", label="of the fit")
    middle.loglog(1.0 / eps, error, ".-", color=OURS, label="root mean square of the trajectory")
    middle.loglog(1.0 / eps, scale * eps**2, "--", color=THEIRS, linewidth=1, label="slope 2")
    middle.set(ylim=(0.3 * error.min(), 10.0 * error.max()), xlabel="1/ε [1/m]", ylabel="error")
    middle.set_title(f"order {order(results['legs'], FITTED):.4f}")
    angles = column(rows, "angle")
    for key, colour, name in (("roll_rate", "C0", "about x"), ("pitch_rate", "C1", "about y")):
        right.plot(angles, column(rows, key), color=colour, label=f"B-derivative, rate {name}")
        right.plot(angles, column(rows, f"{key}_difference"), ".", color=colour, markersize=4, label="differences")
    for before, after in pairwise(rows):
        if before["order"] != after["order"]:
            right.axvline(0.5 * (before["angle"] + after["angle"]), color="0.8", linewidth=0.8)
    right.set(title="level start: six orders of touchdown", xlabel="direction of the tilt of the start [°]")
    right.set_ylabel("rate of tilt in stance / tilt [1/s]")
    finish(axes)
    return figure


def section(results: Results) -> str:
    rows, events = results["legs_sides"], results["legs_events"]
    worst: dict[str, float] = {}
    for row in rows:
        legs_in_order = ", ".join(str(int(guard) + 1) for guard in row["order"])
        worst[legs_in_order] = max(row["off"], worst.get(legs_in_order, 0.0))
    return "\n".join([
        "## Fig. 1.1: the hopper on three preloaded legs\n",
        image("fig11_three_legs", "Lengths of the legs, error over ε, and derivatives by the tilt of a level start"),
        "**The paper:** *the hopper contact force model is affine, and cannot be readily solved using the machinery "
        f"for linear complementarity problems.* **Here:** {len(events['exact'])} touchdowns and lift-offs in "
        f"{LEGS_END:g} s; the error is of order {order(results['legs'], FITTED):.4f} in ε. A level hopper touches with "
        "its three legs at once. Its derivative at that point is taken once; one-sided differences of whole solutions, "
        f"in {len(rows)} directions of tilt, agree with it in every order of touchdown:\n",
        table_of(
            [{"order": name, "off": off} for name, off in sorted(worst.items())],
            {"legs touch in the order": "{order}", "largest difference / derivative": "{off:.1e}"},
        ),
    ])  # fmt: skip


FIG11 = Part(
    "fig11", study, section, targets, {"fig11_three_legs": draw}, tables=("legs", "legs_sides"),
    data=("legs_events", "legs_groups"),
)  # fmt: skip
