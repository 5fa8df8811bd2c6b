"""The text of the report, part by part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stickslip.lab.papers.paper import Results, image, table
from stickslip.lab.papers.variational.claims import MANY, SMALLEST, counted, grown, line, of, saved, slope, ways
from stickslip.lab.papers.variational.conservation import BODY, CHAIN, LINKAGE, PENDULUM
from stickslip.lab.papers.variational.setups import DT, ROBOT_DT, STEPS, TOLERANCE
from stickslip.methods.variational.interior_point import CENTRING


def number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"


def preface() -> str:
    return "\n".join([
        "## What is followed\n",
        f'`method="variational"`, pyramid with four facets, c_f = 0.2, ε = {TOLERANCE:g}. Where the paper\'s text and '
        "the code that its authors released differ, or the text cannot be meant:\n",
        table(("", "text", "released code", "here"), [
            ("time step, Figs. 4 and 5", "0.01 ms", "0.01 s", f"{DT:g} s"),
            ("time step, Figs. 6 to 8", "0.001 ms", "0.001 s", f"{ROBOT_DT:g} s"),
            ("head of the hopper", "1 kg", "0.5 kg", "1 kg"),
        ]),
        "The discrete rotational equation and the torque of friction are derived, not transcribed: in the released "
        "code a gyroscopic term has the other sign, and friction's lever half its length. How cylinder and chain "
        "start, the motions of hopper and quadruped and the friction under the latter (0.8) are not in the text; "
        "they are the bundled scenes `cylinder`, `chain`, `hopper-turn` and `a1-walk`.\n",
    ])  # fmt: skip


STARTS = {
    "cylinder": "It starts tilted by 0.01 rad, its lowest point 5 mm above the floor, and comes to rest.",
    "chain": "It starts level, in a zigzag 1 mm above the floor, and slides sideways at 0.5 m/s.",
}


def _scaling(results: Results, scene: str, figure: str, heading: str, words: str) -> str:
    rows = results[scene]
    what, size, times = grown(rows)
    numbers = [row["size"] for row in rows]
    small, large = [n <= MANY for n in numbers], [n >= SMALLEST for n in numbers]
    found = []
    if sum(small) > 2:
        fit = line(size[small], times[small])
        found.append(f"T = {fit.start:.3g} + {fit.each:.3g}·({what}) ms with R² = {fit.r2:.5f} up to {MANY}")
    if max(numbers) > MANY:
        found.append(f"R² = {line(size, times).r2:.5f} up to {max(numbers)}")
    if sum(large) > 2:
        found.append(f"a slope of {slope(size[large], times[large]):.3f} on logarithmic axes from {SMALLEST} on")
        one = grown(rows, "per_iteration")[2]
        found.append(
            f"of one Newton iteration R² = {line(size, one).r2:.5f}, slope {slope(size[large], one[large]):.3f}"
        )
    lines = [
        (str(row["size"]), str(row["bodies"]), str(row["contacts"]), f"{row['milliseconds']:.3f}",
         f"{row['iterations']:.1f}", f"{row['per_iteration']:.2f}", number(row["lowest"]), str(row["unconverged"]))
        for row in rows
    ]  # fmt: skip
    return "\n".join([
        f"## {heading}\n",
        image(figure, f"Time of {STEPS} steps over {what}; iterations, and their time"),
        f"**The paper:** *{words}* **Here:** {'; '.join(found)}. Times are of whole steps, detection of contacts "
        f"included. {STARTS[scene]} The harder bodies land, and the more points at once, the more iterations a step "
        "takes; so they start where it has about as many at every size, and the time of an iteration stands beside.\n",
        table(("size", "bodies", "contacts", f"time of {STEPS} steps [ms]", "iterations of a step",
               "time / iterations [µs]", "lowest contact point [m]", "unconverged"), lines),
    ])  # fmt: skip


def fig4(results: Results) -> str:
    return _scaling(results, "cylinder", "fig4_cylinder_time", "Fig. 4: one body, many contacts",
                    "The O(c) computational complexity is clearly visible (2 to 100 contact points).")  # fmt: skip


def fig5(results: Results) -> str:
    return _scaling(results, "chain", "fig5_chain_time", "Fig. 5: many bodies, each with a contact",
                    "The O(n + c) computational complexity can be clearly seen (2 to 100 links).")  # fmt: skip


def _solved(row: dict[str, Any]) -> tuple[str, ...]:
    return (row["method"], str(row["steps"]), str(row["unconverged"]), f"{row['iterations']:.1f}",
            str(row["most_iterations"]), number(row["residual"]), number(row["lowest"]))  # fmt: skip


SOLVED = ("method", "steps", "unconverged", "iterations of a step", "most", "largest residual", "lowest φ [m]")


def fig6(results: Results) -> str:
    rows = results["hopper"]
    row = of(rows, "variational")
    return "\n".join([
        "## Fig. 6: the hopper jumps and turns\n",
        image("fig6_hopper_poses", "Crouch, jump, a full turn about (1, 1, 0), landing"),
        image("fig6_hopper_turn", "Signed distance of the foot and angle of the turn over time"),
        "**The paper:** *a single jump and a full turn around the [1 1 0] axis while in the air; the minimum signed "
        f"distance of the pole's contact point was 0.0 m.* **Here:** {row['turn']:.2f}° at landing "
        f"({row['tilt']:.2g}° away from the axis), "
        f"{row['lands'] - row['leaves']:.3f} s in the air, the head up to {row['highest']:.2f} m, minimum "
        f"{number(row['lowest'])} m; it comes to rest {1e3 * row['drift']:.1f} mm beside where it left.\n",
        table((*SOLVED, "turn at landing [°]", "at the end [°]"),
              [(*_solved(r), f"{r['turn']:.3f}", f"{r['turn_at_the_end']:.3f}") for r in rows]),
    ])  # fmt: skip


def fig7(results: Results) -> str:
    rows = results["quadruped"]
    row = of(rows, "variational")
    return "\n".join([
        "## Figs. 7 and 8: the quadruped walks\n",
        image("fig7_quadruped_poses", "Unitree A1 walks with a periodic gait"),
        image("fig8_signed_distance", "Signed distance of the front right foot over time"),
        "**The paper:** *no penetration of the ground occurred; the minimum signed distance of the contact points of "
        f"all feet was 1.5e-9 m.* **Here:** {number(row['lowest'])} m (the feet start on the floor, at zero); "
        f"{row['forward']:.3f} m forward, feet lifted by up to {1e3 * row['highest_front_right']:.0f} mm, the trunk "
        f"tilted by less than {row['tilt']:.2f}°.\n",
        table((*SOLVED, "forward [m]"), [(*_solved(r), f"{r['forward']:.4f}") for r in rows]),
    ])  # fmt: skip


def conservation(results: Results) -> str:
    rows = results["conservation"]
    by_case = {row["case"]: row for row in rows}
    body, chain, linkage = by_case[BODY], by_case[CHAIN], by_case[LINKAGE]
    lines = [
        (f"{1e3 * row['dt']:g}", f"{row['seconds']:g}", number(row["amplitude"]), number(row["band"]),
         number(row["averaged"]), f"{row['trend']:.2f}", f"{row['secular']:.1e}", str(row["unconverged"]))
        for row in rows if row["case"] == PENDULUM
    ]  # fmt: skip
    return "\n".join([
        "## What is kept\n",
        image("conservation_over_time", "A body that flips; the joints of a four-bar linkage; the energy of a double "
              "pendulum, bands of all samples"),
        f"A body without torque, {body['seconds']:g} s: momentum drifts by {max(body['linear'], body['angular']):.1e}, "
        f"ω_y comes down to {body['lowest']:.3f} rad/s, quaternions are unit within {body['quaternion']:.1e}. A free "
        f"chain, {chain['seconds']:g} s, ε = 1e-12: linear momentum drifts by {chain['linear']:.1e}, angular by "
        f"{chain['angular']:.1e}. A four-bar linkage, {linkage['seconds']:g} s: ‖g‖ ≤ {linkage['largest']:.1e}, in the "
        f"last tenth {linkage['trend']:.2f} of that in the first. A double pendulum, chaotic: its energy stays in a "
        "band proportional to dt; that with the potential averaged over each step, in one proportional to dt².\n",
        table(("dt [ms]", "time [s]", "energy, standard deviation [J]", "band [J]", "averaged, deviation [J]",
               "band, later half / first", "\\|slope\\| · time / band", "unconverged"), lines),
    ])  # fmt: skip


def iterations(results: Results) -> str:
    rows = results["iterations"]
    cases = list(dict.fromkeys(row["case"] for row in rows))
    lines = []
    for cone, tolerance, warm in ways(rows):
        for predictor in (True, False):
            cells = []
            for case in cases:
                row = counted(rows, case, cone, tolerance, warm, predictor)
                failed = f" ({row['unconverged']} unconverged)" if row["unconverged"] else ""
                cells.append(f"{row['mean']:.2f} / {row['largest']}{failed}")
            with_it, without = saved(rows, cone, tolerance, warm)
            ratio = f"{with_it / without:.2f}" if predictor else ""
            lines.append(
                (cone, f"{tolerance:g}", "warm" if warm else "cold", "yes" if predictor else "no", *cells, ratio)
            )

    def mean(*way: Any) -> float:
        return counted(rows, *way)["mean"]

    more = [
        f"{case} ({cone}, {tolerance:g}, {'warm' if warm else 'cold'})"
        for cone, tolerance, warm in ways(rows)
        for case in cases
        if mean(case, cone, tolerance, warm, True) > mean(case, cone, tolerance, warm, False)
    ]
    worse = f"It takes more iterations in: {', '.join(more)}." if more else "It takes fewer everywhere."
    return "\n".join([
        "## Iterations of the interior point\n",
        image("iterations_of_a_step", "Mean iterations of a step with and without Mehrotra's predictor"),
        "Mean / largest iterations of a step, with warm and cold starts, with and without Mehrotra's predictor and "
        f"second-order terms (without: products are sent to {CENTRING:g} of their mean in every iteration); "
        f"last, the mean of all motions with it over that without it. {worse}\n",
        table(("cone", "ε", "start", "predictor", *cases, "with / without"), lines),
    ])  # fmt: skip


def agreement(results: Results) -> str:
    lines = [
        (row["robot"], row["method"], f"{1e3 * row['dt']:g}", number(row["stiffness"]), number(row["difference"]),
         str(row["unconverged"]))
        for row in results["agreement"]
    ]  # fmt: skip
    return "\n".join([
        "## Beyond the paper: the same walk by other methods\n",
        image("agreement_of_methods", "Differences from the finest variational run, over dt and over stiffness"),
        "Solo12 and A1 trot by linear feedback. Rigid contacts in maximal coordinates, rigid contacts in joint "
        "coordinates and springs are three ways to the same motion: differences from a variational run with a much "
        "smaller step shrink with dt, and those of springs with K, until their own error of dt is left.\n",
        table(("robot", "method", "dt [ms]", "K [N/m]", "largest difference [m, rad]", "unconverged"), lines),
    ])  # fmt: skip


SECTIONS: dict[str, Callable[[Results], str]] = {
    "fig4": fig4,
    "fig5": fig5,
    "fig6": fig6,
    "fig7": fig7,
    "conservation": conservation,
    "iterations": iterations,
    "agreement": agreement,
}
