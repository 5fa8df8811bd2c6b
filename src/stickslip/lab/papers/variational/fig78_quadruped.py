"""Figs. 7 and 8: Unitree A1 walks; the signed distance of its feet over time.

The targets (Sec. IV-B): a walk, no penetration, every step converges to ε = 1e-6.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stickslip.control.references.feet import A1_FEET
from stickslip.lab.papers.paper import Part, Results, finish, grid, image, new_figure, units
from stickslip.lab.papers.rows import first, number, table_of
from stickslip.lab.papers.variational import drawing
from stickslip.lab.papers.variational.setups import (
    METHOD,
    ROBOT_DT,
    SOLVED,
    TOLERANCE,
    Motion,
    Sizes,
    judge,
    places,
    play,
    solved,
    thinned,
)
from stickslip.lab.store import Store
from stickslip.lab.targets import Target

SCENE = "a1-walk"
RADIUS = 0.02
"""Radius of a foot, a sphere [m]."""
FRONT_RIGHT = A1_FEET.index("FR_foot")
METHODS = (METHOD, "coulomb")
FORWARD = 0.1
"""Least way forward of a walk [m]."""


def distances(motion: Motion) -> np.ndarray:
    """(frames, 4) between feet and floor [m]."""
    return places(motion.sim.model, motion.log.pose, A1_FEET)[:, :, 2] - RADIUS


def walk(method: str, seconds: float) -> dict[str, Any]:
    motion = play(SCENE, method, ROBOT_DT, seconds, seconds=seconds)
    log, gap = motion.log, distances(motion)
    return {
        **judge(motion),
        "lowest": float(gap.min()),
        "highest_front_right": float(gap[:, FRONT_RIGHT].max()),
        "forward": float(log.pose[-1, 1, 0] - log.pose[0, 1, 0]),
        "tilt": float(np.rad2deg(2.0 * np.linalg.norm(log.pose[:, 1, 4:6], axis=1).max())),
        "times": thinned(log.time, 3001),
        "front_right": thinned(gap[:, FRONT_RIGHT], 3001),
        "all_feet": thinned(gap.min(axis=1), 3001),
        "poses": thinned(log.pose[:, 1:, :].reshape(len(log.time), -1), 301),
    }


def study(store: Store, sizes: Sizes) -> Results:
    """One row per method."""
    return {"quadruped": units(store, "quadruped", grid(method=METHODS, seconds=[sizes.walking]), walk)}


def targets(results: Results) -> list[Target]:
    row = first(results["quadruped"], method=METHOD)
    return [
        Target("quadruped: 0.1 m over the way forward", FORWARD / max(row["forward"], 1e-12), 1.0),
        Target("quadruped: largest residual of a step", row["residual"], TOLERANCE),
        *solved("quadruped", row),
    ]


def draw_poses(results: Results):
    """Fig. 7: poses of the walk."""
    row = first(results["quadruped"], method=METHOD)
    last = row["times"][-1]
    times = np.linspace(row["times"][0], last, len(row["poses"]))
    instants = np.array([0.0, *(0.5 * last + 0.125 * np.arange(5)), last])
    camera = drawing.Camera(azimuth=-65.0, elevation=14.0)
    figure, ax = drawing.strip(row, times, instants, 0.85, camera, drawing.quadruped, forward=True, height=2.6)
    drawing.floor(ax, -0.5, 0.85 * (len(instants) - 1) + 0.5, -0.36, 0.55)
    ax.set_title("Fig. 7: A1 walks; poses set side by side, the front right leg in red")
    return figure


def draw_distance(results: Results):
    """Fig. 8: signed distance of the front right foot."""
    row = first(results["quadruped"], method=METHOD)
    figure, axes = new_figure(1, 2, (12, 4.2))
    left, right = axes[0]
    front, lowest = np.array(row["front_right"]), np.array(row["all_feet"])
    left.plot(row["times"], 1e3 * front, color="C0")
    left.set(ylabel="signed distance [mm]", title="Fig. 8: front right foot")
    right.semilogy(row["times"], np.maximum(front, 1e-16), ".", markersize=2, label="front right")
    right.semilogy(row["times"], np.maximum(lowest, 1e-16), ".", markersize=2, label="lowest foot")
    right.axhline(1.5e-9, color="grey", linestyle=":", label="the paper's lowest, 1.5e-9 m")
    right.set_ylabel("signed distance [m] (1e-16: or less)")
    right.set_title(f"the same on a logarithmic axis; lowest of all feet {row['lowest']:.1e} m")
    finish(axes, "time [s]", 9)
    return figure


def section(results: Results) -> str:
    rows = results["quadruped"]
    row = first(rows, method=METHOD)
    return "\n".join([
        "## Figs. 7 and 8: the quadruped walks\n",
        image("fig7_quadruped_poses", "Unitree A1 walks with a periodic gait"),
        image("fig8_signed_distance", "Signed distance of the front right foot over time"),
        "**The paper:** *no penetration of the ground occurred; the minimum signed distance of the contact points of "
        f"all feet was 1.5e-9 m.* **Here:** {number(row['lowest'])} m (the feet start on the floor, at zero); "
        f"{row['forward']:.3f} m forward, feet lifted by up to {1e3 * row['highest_front_right']:.0f} mm, the trunk "
        f"tilted by less than {row['tilt']:.2f}°.\n",
        table_of(rows, {**SOLVED, "forward [m]": "{forward:.4f}"}),
    ])  # fmt: skip


FIG7 = Part(
    "fig7", study, section, targets, {"fig7_quadruped_poses": draw_poses, "fig8_signed_distance": draw_distance},
    tables=("quadruped",),
)  # fmt: skip
