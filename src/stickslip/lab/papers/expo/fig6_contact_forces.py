"""Fig. 6: normal force at one contact point in the trot and the walk, simulated with Expo and steps of 1/8 ms."""

from __future__ import annotations

from typing import Any

from stickslip.lab.papers.expo.fig5_prediction import normal_forces
from stickslip.lab.papers.expo.setups import METHODS, TESTS, Sizes, advance, bundled, paper_name, simulation, weight
from stickslip.lab.papers.paper import Part, Results, finish, image, new_figure, units
from stickslip.lab.store import Store

CURVE_DT = 0.25e-3
"""Time between two points of a curve [s]."""


def force_curve(test: str, seconds: float, foot: str, every: float) -> dict[str, Any]:
    """Normal force at a contact point of a test, at points ``every`` [s] [N]."""
    setup, controller = TESTS[test], bundled(test)[1]
    sim = simulation(setup, METHODS["expo"], 0.5 * every)
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
         "every": CURVE_DT}
        for name in ("solo12-trot", "romeo-walk") if name in sizes.tests
    ]  # fmt: skip
    return {"curves": units(store, "force", cases, force_curve, "Fig. 6: contact forces", "curves")}


def draw(results: Results):
    rows = results["curves"]
    figure, panels = new_figure(1, len(rows), (11, 4))
    for axes, row, letter in zip(panels.flat, rows, "ab", strict=False):
        axes.plot(row["time"], row["force"], color="tab:blue", linewidth=1)
        axes.set(ylabel=f"normal force at {row['foot']} [N]", title=f"({letter}) {paper_name(row)}")
    finish(panels, "time [s]")
    return figure


def section(results: Results) -> str:
    jumps = "; ".join(
        f"{paper_name(r)}: at most {max(r['force']):.3g} N, {max(r['force']) / r['weight']:.2f} times "
        "the robot's weight"
        for r in results["curves"]
    )
    return "\n".join([
        "## Fig. 6: normal force at one contact point\n",
        image("fig6_contact_forces", "Fig. 6: Expo with 1/8 ms"),
        f"{jumps}. A force jumps where a point meets the floor with a velocity: the damper acts at once.\n",
    ])  # fmt: skip


FIG6 = Part("fig6", study, section, figures={"fig6_contact_forces": draw}, data=("curves",))
