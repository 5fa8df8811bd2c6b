"""Fig. 6: normal force at one contact point in the trot and the walk, by Expo and by the paper's, steps of 1/8 ms."""

from __future__ import annotations

from typing import Any

from stickslip.lab.papers.expo.fig5_prediction import normal_forces
from stickslip.lab.papers.expo.setups import METHODS, TESTS, Sizes, advance, bundled, paper_name, simulation, weight
from stickslip.lab.papers.paper import Part, Results, finish, image, new_figure, units
from stickslip.lab.papers.rows import distinct, where
from stickslip.lab.store import Store

CURVE_DT = 0.25e-3
"""Time between two points of a curve [s]."""
STYLES = {
    "expo": {"color": "tab:blue", "linewidth": 2.0, "alpha": 0.5},
    "expo/paper": {"color": "black", "linewidth": 0.8},
}
"""How the methods are drawn."""


def force_curve(test: str, seconds: float, foot: str, every: float, method: str) -> dict[str, Any]:
    """Normal force at a contact point of a test, at points ``every`` [s] [N]."""
    setup, controller = TESTS[test], bundled(test)[1]
    sim = simulation(setup, METHODS[method], 0.5 * every)
    control = round(setup.control_dt / every)
    time, force = [], []
    for k in range(round(seconds / every)):
        if k % control == 0:
            sim.set_control(controller(k * every, sim.state.q.copy(), sim.state.v.copy()))
        time.append(k * every)
        force.extend(normal_forces(sim, [foot]))
        if not advance(sim, 2):
            break
    return {"time": time, "force": force, "weight": weight(sim.model)}


def study(store: Store, sizes: Sizes) -> Results:
    cases = [
        {"test": name, "seconds": max(0.8, sizes.seconds.get(name, TESTS[name].seconds)), "foot": TESTS[name].foot,
         "every": CURVE_DT, "method": label}
        for name in ("solo12-trot", "romeo-walk") if name in sizes.tests
        for label in STYLES if label in sizes.methods
    ]  # fmt: skip
    return {"curves": units(store, "force", cases, force_curve, "Fig. 6: contact forces", "curves")}


def draw(results: Results):
    tests = distinct(results["curves"], "test")
    figure, panels = new_figure(1, len(tests), (11, 4))
    for axes, test, letter in zip(panels.flat, tests, "ab", strict=False):
        for row in where(results["curves"], test=test):
            axes.plot(row["time"], row["force"], label=row["method"], **STYLES[row["method"]])
        axes.set(ylabel=f"normal force at {row['foot']} [N]", title=f"({letter}) {paper_name(row)}")
    finish(panels, "time [s]")
    return figure


def section(results: Results) -> str:
    jumps = "; ".join(
        f"{paper_name(r)}, {r['method']}: at most {max(r['force']):.3g} N, {max(r['force']) / r['weight']:.2f} "
        "times the robot's weight"
        for r in results["curves"]
    )
    return "\n".join([
        "## Fig. 6: normal force at one contact point\n",
        image("fig6_contact_forces", "Fig. 6: Expo and the paper's with 1/8 ms"),
        f"{jumps}. A force jumps where a point meets the floor with a velocity: the damper acts at once.\n",
    ])  # fmt: skip


FIG6 = Part("fig6", study, section, figures={"fig6_contact_forces": draw}, data=("curves",))
