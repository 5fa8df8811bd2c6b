"""Fig. 6: the hopper jumps and makes a full turn about (1, 1, 0) in the air; also by Coulomb's law.

The angle of the turn is that of the swing–twist decomposition about the axis, 2·atan2(a·q_v, q_w), counted on through
the turn; what is left over is the tilt away from it. Both are read when the foot lands. The targets (Sec. IV-B): a
full turn, no penetration, every step converges to ε = 1e-6.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stickslip.lab.papers.paper import Part, Results, finish, grid, image, new_figure, units
from stickslip.lab.papers.rows import first, number, table_of
from stickslip.lab.papers.variational import drawing
from stickslip.lab.papers.variational.setups import (
    METHOD,
    ROBOT_DT,
    SOLVED,
    TOLERANCE,
    Sizes,
    judge,
    places,
    play,
    solved,
    thinned,
)
from stickslip.lab.store import Store
from stickslip.lab.targets import Target

SCENE, FOOT = "hopper-turn", "hopper_foot"
AXIS = np.array([1.0, 1.0, 0.0]) / np.sqrt(2.0)
METHODS = (METHOD, "coulomb")
AIR = 1e-6
"""Height from which a foot does not touch [m]."""
TURN = 5.0
"""Limit of turn and tilt at landing [degrees]."""


def turned(quat: np.ndarray) -> np.ndarray:
    """(n,) angle about AXIS [rad] of unit quaternions (n, 4), from the first on."""
    angle = np.unwrap(2.0 * np.arctan2(quat[:, 1:] @ AXIS, quat[:, 0]), period=2.0 * np.pi)
    return angle - angle[0]


def tilted(quat: np.ndarray) -> np.ndarray:
    """(n,) angle [rad] of what is left when the turn about AXIS is taken out."""
    along = quat[:, 1:] @ AXIS
    return 2.0 * np.arccos(np.clip(np.hypot(along, quat[:, 0]), 0.0, 1.0))


def jump(method: str) -> dict[str, Any]:
    motion = play(SCENE, method, ROBOT_DT)
    log = motion.log
    foot, quat = places(motion.sim.model, log.pose, [FOOT])[:, 0], log.pose[:, 1, 3:]
    air = np.flatnonzero(foot[:, 2] > AIR)
    landed = min(air[-1] + 1, len(foot) - 1)
    angle, tilt = np.rad2deg(turned(quat)), np.rad2deg(tilted(quat))
    return {
        **judge(motion),
        "turn": float(angle[landed]),
        "tilt": float(tilt[landed]),
        "turn_at_the_end": float(angle[-1]),
        "lowest": float(foot[:, 2].min()),
        "leaves": float(log.time[air[0]]),
        "lands": float(log.time[landed]),
        "highest": float(log.pose[:, 1, 2].max()),
        "drift": float(np.hypot(*foot[-1, :2])),
        "times": thinned(log.time),
        "foot": thinned(foot[:, 2]),
        "angle": thinned(angle),
        "height": thinned(log.pose[:, 1, 2]),
        "poses": thinned(log.pose[:, 1:, :].reshape(len(log.time), -1)),
    }


def study(store: Store, sizes: Sizes) -> Results:
    """One row per method."""
    return {"hopper": units(store, "hopper", grid(method=METHODS), jump)}


def targets(results: Results) -> list[Target]:
    row = first(results["hopper"], method=METHOD)
    return [
        Target("hopper: turn about (1, 1, 0) at landing, off 360 [degrees]", abs(row["turn"] - 360.0), TURN),
        Target("hopper: tilt away from the axis at landing [degrees]", row["tilt"], TURN),
        Target("hopper: largest residual of a step", row["residual"], TOLERANCE),
        *solved("hopper", row),
    ]


def draw_poses(results: Results):
    """Poses of the jump."""
    row = first(results["hopper"], method=METHOD)
    leave, land = row["leaves"], row["lands"]
    flight = land - leave
    instants = np.array([0.0, leave - 0.13, leave, *(leave + flight * np.array([0.3, 0.42, 0.5, 0.57, 0.64, 0.75])),
                         land, land + 0.15, row["times"][-1]])  # fmt: skip
    camera = drawing.Camera(azimuth=62.0, elevation=12.0)
    figure, ax = drawing.strip(row, row["times"], instants, 0.62, camera, drawing.hopper, forward=False, height=4.6)
    drawing.floor(ax, -0.5, 0.62 * (len(instants) - 1) + 0.5, -0.4, 2.0)
    ax.set_title("Fig. 6: crouch, jump, one turn about (1, 1, 0) in the air, landing; poses set side by side")
    return figure


def draw_turn(results: Results):
    """Distance of the foot and angle of the turn over time."""
    row = first(results["hopper"], method=METHOD)
    figure, axes = new_figure(1, 2, (11, 4.2))
    left, right = axes[0]
    for other, style in ((row, "-"), *((r, "--") for r in results["hopper"] if r["method"] != METHOD)):
        left.plot(other["times"], other["foot"], style, label=other["method"])
        right.plot(other["times"], other["angle"], style, label=other["method"])
    left.set(ylabel="signed distance of the foot [m]", title=f"lowest {row['lowest']:.1e} m")
    right.axhline(360.0, color="grey", linestyle=":")
    right.set(ylabel="turn about (1, 1, 0) [degrees]", title=f"{row['turn']:.2f}° at landing")
    finish(axes, "time [s]", 9)
    return figure


def section(results: Results) -> str:
    rows = results["hopper"]
    row = first(rows, method=METHOD)
    return "\n".join([
        "## Fig. 6: the hopper jumps and turns\n",
        image("fig6_hopper_poses", "Crouch, jump, a full turn about (1, 1, 0), landing"),
        image("fig6_hopper_turn", "Signed distance of the foot and angle of the turn over time"),
        "**The paper:** *a single jump and a full turn around the [1 1 0] axis while in the air; the minimum signed "
        f"distance of the pole's contact point was 0.0 m.* **Here:** {row['turn']:.2f}° at landing "
        f"({row['tilt']:.2g}° away from the axis), "
        f"{row['lands'] - row['leaves']:.3f} s in the air, the head up to {row['highest']:.2f} m, minimum "
        f"{number(row['lowest'])} m; it comes to rest {1e3 * row['drift']:.1f} mm beside where it left.\n",
        table_of(rows, {
            **SOLVED, "turn at landing [°]": "{turn:.3f}", "at the end [°]": "{turn_at_the_end:.3f}",
        }),
    ])  # fmt: skip


FIG6 = Part(
    "fig6", study, section, targets, {"fig6_hopper_poses": draw_poses, "fig6_hopper_turn": draw_turn},
    tables=("hopper",),
)  # fmt: skip
