"""The text of the report, part by part."""

from __future__ import annotations

from collections.abc import Callable

from stickslip.lab.papers.lecture.claims import CREEP, DRAGGED, lift
from stickslip.lab.papers.lecture.experiments import APPROACH, EXPERIMENTS
from stickslip.lab.papers.lecture.setups import DAMPING, DT, FORMS, FRICTION, MASS, REACH, SINK, STIFFNESS
from stickslip.lab.papers.paper import Results, image, table


def number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"


def millimetres(value: float) -> str:
    return f"{1e3 * value:.3g}"


def preface() -> str:
    rows = [(form.label, form.law, f"`{form.method}`") for form in FORMS]
    return "\n".join([
        "## The models\n",
        f"One block of {MASS:g} kg on the four corners of its lower face, μ = {FRICTION}, K = {STIFFNESS:g} N/m and "
        f"B = {DAMPING:g} N s/m per corner where a model has springs, dt = {1e3 * DT:g} ms.\n",
        table(("name", "the lecture's model", "method"), rows),
    ])  # fmt: skip


def contact(results: Results) -> str:
    rows = results["experiments"]

    def of(experiment: str, *names: tuple[str, Callable[[float], str]]) -> list[tuple[str, ...]]:
        return [
            (row["form"], *(show(row[name]) for name, show in names)) for row in rows if row["experiment"] == experiment
        ]

    last = DRAGGED * EXPERIMENTS["slide"].seconds
    return "\n".join([
        "## Soft, rigid and relaxed contact\n",
        "### Penetration and energy\n",
        image("penetration_drop", "A block is dropped from 10 cm"),
        f"Springs hold the block at a depth of m·g/(4·K) = {millimetres(SINK)} mm, rigid contacts at zero.\n",
        table(("model", "deepest [mm]", "depth at the end [mm]", "energy from nothing [J]"),
              of("drop", ("deepest", millimetres), ("rest_depth", millimetres), ("gained", number))),
        "### Pulling forces\n",
        image("pulling_forces", "A force that grows with time pulls the block up"),
        "**The lecture:** *the ground can only push.* A bilateral contact is an equation: it pulls.\n",
        table(("model", "largest pull [N]", "lifted at the end [mm]"),
              of("pull", ("pulls", number), ("lift", millimetres))),
        "### Force at a distance\n",
        image("force_at_a_distance", "The block approaches without gravity"),
        f"A relaxed contact pushes when u_n < −gap/(dt + B/K): at {APPROACH:g} m/s from "
        f"{millimetres(APPROACH * REACH)} mm on, its damper acts before its spring does. A rigid one has its "
        "impulse in the step that ends at gap zero.\n",
        table(("model", "gap before the first step with a force [mm]", "largest gap after one [mm]", "deepest [mm]"),
              of("approach", ("first_gap", millimetres), ("distance", millimetres), ("deepest", millimetres))),
        "### The lift of a sliding block\n",
        image("lift_of_a_sliding_block", "The block is dragged along"),
        "**The lecture:** *the complementarity row is struck out.* What remains, K ∋ p ⟂ u ∈ K*, has u_n = μ·|u_t| "
        "where a contact slides: it separates, until gap = (dt + B/K)·(μ·|u_t| − u_n − R·p_n·(1 + μ²)), "
        f"about {millimetres(lift(last))} mm at the last speed, {last:.2g} m/s. The block is dragged with twice what "
        "friction can hold.\n",
        table(("model", "lift at the end [mm]", "distance [m]"),
              of("slide", ("end", millimetres), ("moved", lambda x: f"{x:.4f}"))),
        "### Creep under a static load\n",
        image("creep_on_a_slope", "The block on a slope that friction can hold"),
        f"The regularisation lets a loaded contact slide with R·p_t, here {1e3 * CREEP:.3g} mm/s. Soft contacts hold "
        "by springs with anchors, rigid ones exactly.\n",
        table(("model", "moved [mm]", "speed [mm/s]"), of("slope", ("moved", millimetres), ("speed", millimetres))),
    ])  # fmt: skip


def stiffness(results: Results) -> str:
    rows = results["stiffness"]
    columns = sorted({row["stiffness"] for row in rows})
    lines = [
        (method, *(number(row["energy"]) for K in columns for row in rows
                   if row["method"] == method and row["stiffness"] == K))
        for method in dict.fromkeys(row["method"] for row in rows)
    ]  # fmt: skip
    return "\n".join([
        "## Soft contact, stiffer and stiffer\n",
        image("stiffness_soft_contact", "A block falls by a centimetre on springs of stiffness K"),
        "**The lecture:** *not relevant to model a rigid interface (k → ∞), requires a stable integrator.* The table "
        "has the largest energy of the motion over the energy at the start; 1 is right, 1e+06 means that it "
        "diverged. The relaxed model has the same K and B and stays convex; the rigid one has none.\n",
        table(("method", *(f"K = {K:.0e}" for K in columns)), lines),
    ])  # fmt: skip


def bilateral(results: Results) -> str:
    rows = [
        (row["case"], str(row["rows"]), str(row["rank"]), number(row["residual"]), str(row["iterations"]),
         number(row["change"]))
        for row in results["ranks"]
    ]  # fmt: skip
    return "\n".join([
        "## Bilateral contact: one solution, many, or none\n",
        "**The lecture:** *there might be one, redundant solutions or no solution at all*, as J has full rank, has "
        "not, or γ is outside its range. Proximal iterations answer all three; *change* is the largest difference "
        "of the accelerations from those of the pseudo-inverse, relative to those without constraints.\n",
        table(("case", "rows", "rank of J", "residual [m/s²]", "iterations", "change"), rows),
    ])  # fmt: skip


def derivatives(results: Results) -> str:
    times = [
        (row["robot"], row["algorithm"], f"{row['function']:.2f}", f"{row['analytic']:.2f}",
         number(row["pinocchio"]), f"{row['differences']:.1f}", f"{row['differences'] / row['analytic']:.1f}")
        for row in results["timing"]
    ]  # fmt: skip
    errors = [(row["robot"], row["algorithm"], number(row["error"])) for row in results["accuracy"]]
    return "\n".join([
        "## Analytical derivatives\n",
        image("derivative_benchmark", "Time of derivatives by robot, and over the links of a chain"),
        table(("model", "algorithm", "itself [µs]", "analytic [µs]", "Pinocchio [µs]", "finite differences [µs]",
               "differences / analytic"), times),
        "Targets are for robots, which branch. ABA's derivatives fill nv² numbers by solves along the tree: on a "
        "chain, where every link carries all others, that is n³, and for 64 links and more Pinocchio is faster.\n",
        "**The lecture:** *finite differences are not efficient, and sensitive to rounding errors.*\n",
        image("finite_differences", "Error of finite differences over their step; the analytic ones are the reference"),
        "Beside Pinocchio's, relative to the largest entry:\n",
        table(("robot", "algorithm", "error"), errors),
    ])  # fmt: skip


SECTIONS: dict[str, Callable[[Results], str]] = {
    "contact": contact,
    "stiffness": stiffness,
    "bilateral": bilateral,
    "derivatives": derivatives,
}
