"""The lecture's models of contact side by side: one block dropped, pulled up, approaching, dragged along, on a slope.

Heights, depths and energies are computed here, from configurations and velocities, alike for all models; forces are the
sums over the contacts of a frame. ``distance`` is the largest gap at the end of a step with a force, ``first_gap`` the
gap at the beginning of the first such step. The lecture's statements, as targets:

* Soft: "the ground can only push"; the depth at rest is m·g/(4·K).
* Bilateral: pulls.
* Unilateral: no penetration, no pulling, no force before touching, no creep, no lift, no energy from nothing.
* Relaxed: "convex, but with some physical inconsistencies": force at a distance from v·(dt + B/K) on, a sliding block
  is lifted by (dt + B/K)·(μ·v − v_n − R·p·(1 + μ²)), a held one creeps with R·p_t: each as derived, to a few per cent.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import mujoco
import numpy as np

from stickslip.lab.papers.lecture.setups import (
    DAMPING,
    DT,
    FORMS,
    FRICTION,
    MASS,
    MUJOCO,
    REACH,
    SINK,
    STIFFNESS,
    STYLES,
    Form,
    G,
    Sizes,
    block,
    corner_gaps,
    finished,
    per_corner,
)
from stickslip.lab.papers.paper import Part, Results, grid, image, new_figure, units
from stickslip.lab.papers.rows import table_of, where
from stickslip.lab.store import Store
from stickslip.lab.targets import Target
from stickslip.simulation import Simulation

SLOPE = np.arctan(0.8 * FRICTION)
"""Inclination of the slope, which friction can hold [rad]."""
DRAG = 2.0 * FRICTION * MASS * G
"""Force that drags the sliding block, twice what friction can hold [N]."""
APPROACH = 1.0
"""Speed of the approaching block [m/s]."""
THINNED = 400
"""Largest number of points of a curve that are kept."""
NOTHING = 1e-9
"""Limit where a model says zero [m, N, J]."""
DERIVED = 0.05
"""Limit of the relative error of what is derived for the relaxed model."""
SPRING = 1.0 / (4.0 * (DT * STIFFNESS + DAMPING))
"""R·p of one contact per newton on all four, R = 1/(dt·(dt·K + B)) [s/kg]."""
DRAGGED = DRAG / MASS - FRICTION * G
"""Acceleration of the sliding block [m/s²]."""
CREEP = SPRING * MASS * G * float(np.sin(SLOPE))
"""Speed of the block on the slope, relaxed [m/s]."""


class Experiment(NamedTuple):
    """One thing that happens to the block."""

    seconds: float
    gap: float = 0.0
    """Gap at the start [m]; a resting block starts at the depth of equilibrium in soft models."""
    gravity: tuple[float, float, float] = (0.0, 0.0, -G)
    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    pull: float = 0.0
    """Upward force per time [N/s]."""
    drag: float = 0.0
    """Force along the plane [N]."""
    resting: bool = False


EXPERIMENTS = {
    "drop": Experiment(0.6, gap=0.1),
    "pull": Experiment(1.0, pull=2.0 * MASS * G, resting=True),
    "approach": Experiment(0.1, gap=0.0505, gravity=(0.0, 0.0, 0.0), velocity=(0.0, 0.0, -APPROACH)),
    "slide": Experiment(0.4, drag=DRAG, resting=True),
    "slope": Experiment(2.0, gravity=(G * np.sin(SLOPE), 0.0, -G * np.cos(SLOPE)), resting=True),
}


class Motion(NamedTuple):
    """What happened, per frame."""

    q: np.ndarray
    """(frames, 7)."""
    v: np.ndarray
    """(frames, 6)."""
    normal: np.ndarray
    """(frames,) sum of normal forces [N]."""


def run(experiment: str, form: str) -> dict[str, Any]:
    """Curves over time, and figures of the whole motion."""
    what, soft = EXPERIMENTS[experiment], form in ("soft", "relaxed")
    start = -SINK * np.cos(SLOPE if experiment == "slope" else 0.0) if what.resting and soft else 0.0
    model = block(what.gap + start, what.gravity)
    simulate = _in_mujoco if form == MUJOCO else partial(_with_stickslip, FORMS[form])
    motion = simulate(model, what, round(what.seconds / DT))
    gaps = corner_gaps(motion.q)
    energy = _energy(motion, gaps, np.array(what.gravity), STIFFNESS if soft else 0.0)
    lowest, height = gaps.min(axis=1), gaps.mean(axis=1)
    at = np.unique(np.round(np.linspace(0, len(lowest) - 1, THINNED)).astype(int))
    touching = np.flatnonzero(motion.normal > 1e-9 * MASS * G)
    before = 0 if form == "soft" else 1  # soft forces are those of a frame's state, others of the step before it
    return {
        "times": (DT * at).tolist(),
        "gap": lowest[at].tolist(),
        "height": height[at].tolist(),
        "x": motion.q[at, 0].tolist(),
        "normal": motion.normal[at].tolist(),
        "energy": energy[at].tolist(),
        "deepest": float(max(0.0, -lowest.min())),
        "rest_depth": float(-height[-1]),
        "pulls": float(max(0.0, -motion.normal.min())),
        "distance": float(np.max(lowest[touching], initial=0.0)),
        "first_gap": float(lowest[touching[0] - before]) if len(touching) else 0.0,
        "gained": float(np.max(energy - np.minimum.accumulate(energy))),
        "lift": float(np.max(height)),
        "end": float(height[-1]),
        "climb": float(motion.v[-1, 2]),
        "last_speed": float(motion.v[-1, 0]),
        "moved": float(motion.q[-1, 0] - motion.q[0, 0]),
        "speed": float(motion.v[len(motion.v) // 2 :, 0].mean()),
    }


def _energy(motion: Motion, gaps: np.ndarray, gravity: np.ndarray, stiffness: float) -> np.ndarray:
    """(frames,) kinetic and potential energy, and that of contact springs, where the model has them [J].

    Forces from outside work on pulled and dragged blocks: theirs is no energy from nothing."""
    inertia = block().mj.body_inertia[1]
    kinetic = 0.5 * MASS * np.sum(motion.v[:, :3] ** 2, axis=1) + 0.5 * np.sum(inertia * motion.v[:, 3:] ** 2, axis=1)
    springs = 0.5 * stiffness * np.sum(np.minimum(gaps, 0.0) ** 2, axis=1)
    return kinetic - MASS * motion.q[:, :3] @ gravity + springs


def _with_stickslip(form: Form, model, experiment: Experiment, steps: int) -> Motion:
    def pull(sim: Simulation) -> None:
        sim.inputs.wrench[1, :3] = experiment.drag, 0.0, experiment.pull * sim.time

    user: Callable | None = pull if experiment.pull or experiment.drag else None
    sim = Simulation(model, method=form.method, dt=DT, user=user, **per_corner(form.method))
    sim.set_state(v=np.array([*experiment.velocity, 0.0, 0.0, 0.0]))
    log = sim.run(steps * DT, record_dt=DT)
    return Motion(log.q, log.v, log.contact_force())


def _in_mujoco(model, experiment: Experiment, steps: int) -> Motion:
    mj = model.mj
    mj.opt.timestep, mj.opt.cone = DT, mujoco.mjtCone.mjCONE_ELLIPTIC
    data = mujoco.MjData(mj)
    data.qpos[:], data.qvel[:3] = model.state().q, experiment.velocity
    q, v, normal, force = [data.qpos.copy()], [data.qvel.copy()], [0.0], np.zeros(6)
    for _ in range(steps):
        data.xfrc_applied[1, :3] = experiment.drag, 0.0, experiment.pull * data.time
        mujoco.mj_step(mj, data)
        total = 0.0
        for c in range(data.ncon):
            mujoco.mj_contactForce(mj, data, c, force)
            total += force[0]
        q.append(data.qpos.copy())
        v.append(data.qvel.copy())
        normal.append(total)
    return Motion(np.array(q), np.array(v), np.array(normal))


def study(store: Store, sizes: Sizes) -> Results:
    """One row per experiment and model."""
    cases = grid(experiment=EXPERIMENTS, form=FORMS)
    return {"experiments": units(store, "experiment", cases, run, "experiments")}


def lift(speed: float, climb: float = 0.0) -> float:
    """Gap [m] under a relaxed block that slides with a ``speed`` and rises with ``climb`` [m/s]."""
    return REACH * (FRICTION * speed - climb - SPRING * MASS * G * (1.0 + FRICTION**2))


def relative(value: float, truth: float) -> float:
    return abs(value / truth - 1.0)


def first_gap() -> float:
    """Gap at the beginning of the step in which a relaxed contact first pushes the approaching block [m]."""
    steps = np.ceil((EXPERIMENTS["approach"].gap - APPROACH * REACH) / (APPROACH * DT))
    return float(EXPERIMENTS["approach"].gap - steps * APPROACH * DT)


def targets(results: Results) -> list[Target]:
    of = {(row["experiment"], row["form"]): row for row in results["experiments"]}
    slid, fallen = of["slide", "relaxed"], float(np.sqrt(2.0 * G * EXPERIMENTS["drop"].gap))
    result = [
        Target("rigid, drop: deepest penetration [m]", of["drop", "coulomb"]["deepest"], NOTHING),
        Target("bilateral, drop: deepest penetration over the way of a step",
               of["drop", "bilateral"]["deepest"] / (fallen * DT), 1.0),
        Target("bilateral, pull: 9 N over its pull at the end",
               9.0 / max(of["pull", "bilateral"]["pulls"], 1e-12), 1.0),
        Target("relaxed, approach: gap of the first force, off the derived one [m]",
               abs(of["approach", "relaxed"]["first_gap"] - first_gap()), 1e-6),
        Target("relaxed, slide: lift of the block, relative error",
               relative(slid["end"], lift(slid["last_speed"], slid["climb"])), DERIVED),
        Target("rigid, slide: lift of the block [m]", of["slide", "coulomb"]["lift"], NOTHING),
        Target("rigid, slide: distance a·t²/2, relative error",
               relative(of["slide", "coulomb"]["moved"], 0.5 * DRAGGED * EXPERIMENTS["slide"].seconds ** 2), 0.01),
        Target("relaxed, slope: creep speed, relative error",
               relative(of["slope", "relaxed"]["speed"], CREEP), DERIVED),
        Target("rigid, slope: creep [m]", abs(of["slope", "coulomb"]["moved"]), NOTHING),
    ]  # fmt: skip
    for form in ("soft", "relaxed"):
        depth = of["drop", form]["rest_depth"]
        result.append(Target(f"{form}, drop: depth at rest, relative error", relative(depth, SINK), 0.01))
    for form in ("soft", "coulomb", "relaxed"):
        result.append(Target(f"{form}, pull: pulling force [N]", of["pull", form]["pulls"], NOTHING))
    for form in ("soft", "coulomb"):
        gap = of["approach", form]["distance"]
        result.append(Target(f"{form}, approach: gap after a step with a force [m]", gap, NOTHING))
    result += [
        Target(f"{form}, {name}: energy from nothing [J]", of[name, form]["gained"], 1e-6)
        for name in ("drop", "approach")
        for form in ("soft", "bilateral", "coulomb", "relaxed")
    ]
    return result


def curves(results: Results, experiment: str, size: tuple[float, float], **panels: float):
    """(figure, axes, rows): a panel per curve times its scale, all models in each; a scale of 0 leaves it empty."""
    figure, axes = new_figure(1, len(panels), size)
    rows = where(results["experiments"], experiment=experiment)
    for row in rows:
        for ax, (name, scale) in zip(axes[0], panels.items(), strict=True):
            if scale:
                ax.plot(row["times"], scale * np.array(row[name]), label=row["form"],
                        linewidth=2.2 if row["form"] == "coulomb" else 1.4, **STYLES[row["form"]])  # fmt: skip
    return figure, axes, rows


def draw_drop(results: Results):
    figure, axes, _ = curves(results, "drop", (15, 4.2), height=1e3, gap=1e3, energy=1.0)
    left, middle, right = axes[0]
    left.set(ylabel="height of the lower face [mm]", title="a block is dropped")
    middle.set(ylabel="lowest corner [mm]", ylim=(-6.0, 4.0), title="penetration")
    middle.axhline(-1e3 * SINK, color="grey", linestyle=":")
    middle.annotate("−m·g/(4·K)", (0.5, -1e3 * SINK), textcoords="offset points", xytext=(0, -12), color="grey")
    right.set(ylabel="energy with contact springs [J]", title="energy")
    return finished(figure, axes)


def draw_pull(results: Results):
    figure, axes, _ = curves(results, "pull", (11, 4.2), normal=1.0, height=1e3)
    left, right = axes[0]
    left.axhline(0.0, color="grey", linewidth=0.8)
    left.set(ylabel="normal force [N]", title="pulled up by 2·m·g·t: below zero the ground pulls")
    right.set(ylabel="height of the lower face [mm]", ylim=(-1.0, 20.0), title="and lets go, or not")
    return finished(figure, axes)


def draw_approach(results: Results):
    figure, axes, rows = curves(results, "approach", (11, 4.2), normal=0.0, gap=1e3)
    left, right = axes[0]
    for row in rows:
        gap, force = 1e3 * np.array(row["gap"]), np.array(row["normal"])
        last = int(np.argmin(gap)) + 1
        left.plot(gap[:last], force[:last], marker=".", label=row["form"], **STYLES[row["form"]])
    left.axvline(0.0, color="grey", linewidth=0.8)
    left.axvline(1e3 * APPROACH * DAMPING / STIFFNESS, color="grey", linestyle=":")
    left.set_yscale("symlog", linthresh=10.0)
    left.set(xlim=(-6.0, 12.0), xlabel="gap at the end of the step [mm]; dotted: v·B/K")
    left.set_ylabel("normal force in the step [N]")
    left.set_title(f"approached with {APPROACH:g} m/s: force at a distance")
    right.set(ylabel="lowest corner [mm]", ylim=(-6.0, 20.0), title="without gravity")
    return finished(figure, axes)


def draw_slide(results: Results):
    figure, axes, rows = curves(results, "slide", (11, 4.2), height=1e3, x=1.0)
    left, right = axes[0]
    times = np.array(rows[0]["times"])
    derived = [1e3 * lift(DRAGGED * t) for t in times]
    left.plot(times, derived, color="grey", linestyle=":", label="derived for relaxed")
    left.set_ylabel("height of the lower face [mm]")
    left.set_title("a block is dragged along: the convex relaxation lifts it")
    right.plot(times, 0.5 * DRAGGED * times**2, color="grey", linestyle=":")
    right.set(ylabel="distance [m]; dotted: a·t²/2", title="and how far it goes (the bilateral one stays)")
    return finished(figure, axes)


def draw_slope(results: Results):
    figure, axes, rows = curves(results, "slope", (6.5, 4.2), x=1e3)
    times = np.array(rows[0]["times"])
    axes[0, 0].plot(times, 1e3 * CREEP * times, color="grey", linestyle=":", label="derived: R·p_t")
    axes[0, 0].set(ylabel="way down the slope [mm]", title="held by friction, tan θ = 0.8·μ: creep")
    return finished(figure, axes)


def millimetres(value: float) -> str:
    return f"{1e3 * value:.3g}"


def section(results: Results) -> str:
    def of(experiment: str, columns: dict[str, str]) -> str:
        """A table of one experiment; ``{mm[…]}`` is a figure in millimetres."""
        rows = where(results["experiments"], experiment=experiment)
        scaled = [{k: millimetres(v) for k, v in row.items() if isinstance(v, float)} for row in rows]
        return table_of([{**row, "mm": mm} for row, mm in zip(rows, scaled, strict=True)],
                        {"model": "{form}", **columns})  # fmt: skip

    last = DRAGGED * EXPERIMENTS["slide"].seconds
    return "\n".join([
        "## Soft, rigid and relaxed contact\n",
        "### Penetration and energy\n",
        image("penetration_drop", "A block is dropped from 10 cm"),
        f"Springs hold the block at a depth of m·g/(4·K) = {millimetres(SINK)} mm, rigid contacts at zero.\n",
        of("drop", {"deepest [mm]": "{mm[deepest]}", "depth at the end [mm]": "{mm[rest_depth]}",
                      "energy from nothing [J]": "{gained:.3g}"}),
        "### Pulling forces\n",
        image("pulling_forces", "A force that grows with time pulls the block up"),
        "**The lecture:** *the ground can only push.* A bilateral contact is an equation: it pulls.\n",
        of("pull", {"largest pull [N]": "{pulls:.3g}", "lifted at the end [mm]": "{mm[lift]}"}),
        "### Force at a distance\n",
        image("force_at_a_distance", "The block approaches without gravity"),
        f"A relaxed contact pushes when u_n < −gap/(dt + B/K): at {APPROACH:g} m/s from "
        f"{millimetres(APPROACH * REACH)} mm on, its damper acts before its spring does. A rigid one has its "
        "impulse in the step that ends at gap zero.\n",
        of("approach", {"gap before the first step with a force [mm]": "{mm[first_gap]}",
                          "largest gap after one [mm]": "{mm[distance]}", "deepest [mm]": "{mm[deepest]}"}),
        "### The lift of a sliding block\n",
        image("lift_of_a_sliding_block", "The block is dragged along"),
        "**The lecture:** *the complementarity row is struck out.* What remains, K ∋ p ⟂ u ∈ K*, has u_n = μ·|u_t| "
        "where a contact slides: it separates, until gap = (dt + B/K)·(μ·|u_t| − u_n − R·p_n·(1 + μ²)), "
        f"about {millimetres(lift(last))} mm at the last speed, {last:.2g} m/s. The block is dragged with twice what "
        "friction can hold.\n",
        of("slide", {"lift at the end [mm]": "{mm[end]}", "distance [m]": "{moved:.4f}"}),
        "### Creep under a static load\n",
        image("creep_on_a_slope", "The block on a slope that friction can hold"),
        f"The regularisation lets a loaded contact slide with R·p_t, here {1e3 * CREEP:.3g} mm/s. Soft contacts hold "
        "by springs with anchors, rigid ones exactly.\n",
        of("slope", {"moved [mm]": "{mm[moved]}", "speed [mm/s]": "{mm[speed]}"}),
    ])  # fmt: skip


CONTACT = Part(
    "contact", study, section, targets, tables=("experiments",),
    figures={
        "penetration_drop": draw_drop, "pulling_forces": draw_pull, "force_at_a_distance": draw_approach,
        "lift_of_a_sliding_block": draw_slide, "creep_on_a_slope": draw_slope,
    },
)  # fmt: skip
