"""Fig. 5: contact forces predicted from frozen A and b (Sec. VI-F).

At the beginning of the squat, feet on the surface, moving into it with 0 or 0.1 m/s. With Υ, p̈_free and the controls
frozen at that instant, x = (Δp, Δṗ) obeys (11), so that

    λ(t) = −[K B]·x(t),    (x, 1)(t) = exp(t·[A b; 0 0])·(x(0), 1),

all contacts sticking. That is the prediction of ``expo/paper``; ``expo`` takes A and b of where the robot would be in
the middle of the 20 ms at its velocity, and x(0) of the start, like a step of that length. Beside them stands the
simulation with steps of 1/64 ms (RK4: another method than the one whose assumption is looked at). The target: forces
are predicted over 20 ms from A and b of the start.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stickslip.lab.papers.expo.setups import (
    DAMPING,
    FINEST,
    METHODS,
    STIFFNESS,
    TESTS,
    Sizes,
    advance,
    bundled,
    simulation,
    weight,
)
from stickslip.lab.papers.paper import Part, Results, grid, image, new_figure, units
from stickslip.lab.store import Store
from stickslip.lab.targets import Target
from stickslip.math.expm import expm_multiply
from stickslip.simulation import Simulation

HORIZON = 0.02
"""Time over which forces are predicted [s]."""
EVERY = 8
"""Steps between two points of the curves."""
SPEEDS = (0.1, 0.0)
"""Speeds of the contact points at impact [m/s]."""
PREDICTION = 0.05
"""Limit of the largest error of the predicted force over the largest force."""


def contact_system(sim: Simulation) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A (6n, 6n), b (6n,) and x(0) (6n,) of eq. (11), of the n contacts of the present state."""
    sim.observe()
    c, n = sim.contacts.arrays, len(sim.contacts)
    dyn, q, v = sim.dynamics, sim.state.q, sim.state.v
    W = dyn.delassus(q, c.link1[:n], c.link2[:n], c.point[:n], c.axes[:n])
    free = dyn.aba(q, v, joint_torque(sim))
    acceleration = []
    for k in range(n):
        foot = point_name(sim, c.point[k])
        acceleration.append(c.axes[k] @ dyn.frame_acceleration(q, v, free, foot)[:3])
    m = 3 * n
    A = np.zeros((2 * m, 2 * m))
    A[:m, m:] = np.eye(m)
    A[m:, :m], A[m:, m:] = -STIFFNESS * W, -DAMPING * W
    b = np.concatenate([np.zeros(m), np.ravel(acceleration)])
    return A, b, np.concatenate([c.stretch[:n].ravel(), c.velocity[:n].ravel()])


def joint_torque(sim: Simulation) -> np.ndarray:
    """(nv,) forces of motors and of joint damping."""
    model = sim.model
    tau = -model.joint_forces.damping * sim.state.v
    tau += sim.dynamics.actuator_forces(sim.state.q, sim.state.v, sim.control)[1]
    return tau


def point_name(sim: Simulation, point: np.ndarray) -> str:
    """The contact point of the robot that is there."""
    names = [shape.name for shape in sim.model.shapes if shape.kind == "point"]
    poses = {name: sim.dynamics.frame_pose(sim.state.q, name)[0] for name in names}
    return min(names, key=lambda name: float(np.linalg.norm(poses[name] - point)))


def normal_forces(sim: Simulation, points: list[str]) -> list[float]:
    """Normal forces at the named contact points [N], 0 where they do not touch."""
    sim.observe()
    c, forces = sim.contacts.arrays, dict.fromkeys(points, 0.0)
    for k in range(len(sim.contacts)):
        name = point_name(sim, c.point[k])
        if name in forces:
            forces[name] = float(c.force[k, 0])
    return [forces[name] for name in points]


def impact(speed: float, horizon: float, dt: float) -> dict[str, Any]:
    """Normal force at one foot [N] over ``horizon`` [s], predicted and simulated with steps ``dt`` [s]."""
    test, (model, controller) = TESTS["solo12-squat"], bundled("solo12-squat")
    sim = simulation(test, METHODS["rk4"], dt)
    q, v = sim.state.q.copy(), sim.state.v.copy()
    q[2] += weight(model) / (test.points * STIFFNESS) - 1e-9  # a nanometre inside: in contact, no force
    v[2] = -speed
    sim.set_state(q, v)
    sim.set_control(controller(0.0, model.state().q, np.zeros(model.nv)))
    A, b, x = contact_system(sim)
    middle = simulation(test, METHODS["rk4"], dt)
    middle.set_state(sim.dynamics.integrate(q, v, 0.5 * horizon), v)
    middle.set_control(sim.control)
    A_middle, b_middle, _ = contact_system(middle)
    first = [point_name(sim, p) for p in sim.contacts.arrays.point[: len(sim.contacts)]].index(test.foot)
    z, m = np.append(x, 1.0), len(A) // 2
    systems = {"predicted": (A, b), "predicted_middle": (A_middle, b_middle)}
    found: dict[str, list[float]] = {name: [] for name in systems}
    time, simulated = [], []
    for k in range(round(horizon / dt) + 1):
        if k % EVERY == 0:
            time.append(k * dt)
            for name, (matrix, constant) in systems.items():
                augmented = np.block([[matrix, constant[:, None]], [np.zeros((1, len(matrix) + 1))]])
                at = expm_multiply(k * dt * augmented, z)
                found[name].append(float(-STIFFNESS * at[3 * first] - DAMPING * at[m + 3 * first]))
            simulated.extend(normal_forces(sim, [test.foot]))
        advance(sim, 1)
    largest = np.abs(simulated).max()
    error = {name: float(np.abs(np.array(forces) - simulated).max() / largest) for name, forces in found.items()}
    errors = {"relative_error": error["predicted"], "relative_error_middle": error["predicted_middle"]}
    return {"time": time, "simulated": simulated, **found, **errors}


def study(store: Store, sizes: Sizes) -> Results:
    return {"predictions": units(store, "impact", grid(speed=SPEEDS, horizon=[HORIZON], dt=[FINEST]), impact)}


def targets(results: Results) -> list[Target]:
    return [
        Target(f"Fig. 5: error of the force predicted after {row['speed']:g} m/s", row["relative_error"], PREDICTION)
        for row in results["predictions"]
    ]


CURVES = (
    ("predicted", "--", "black", "expo/paper: A and b of the start"),
    ("predicted_middle", ":", "tab:red", "expo: A and b of the middle"),
)
"""Result, line, colour and label of each prediction."""


def draw(results: Results):
    """The forces above, and below how far the predictions are off."""
    rows = results["predictions"]
    figure, panels = new_figure(2, len(rows), (11, 7))
    for k, (row, letter) in enumerate(zip(rows, "ab", strict=False)):
        axes, below = panels[:, k]
        t = 1e3 * np.array(row["time"])
        axes.plot(t, row["simulated"], color="tab:blue", linewidth=3, alpha=0.6, label="simulated, δt = 1/64 ms")
        for name, style, color, label in CURVES:
            axes.plot(t, row[name], style, color=color, label=label)
            below.plot(t, 1e3 * (np.array(row[name]) - row["simulated"]), style, color=color, label=label)
        axes.set_ylabel("normal force at one foot [N]")
        below.set(xlabel="time [ms]", ylabel="predicted less simulated [mN]")
        axes.set_title(f"({letter}) contact velocity at impact: {row['speed']:g} m/s")
        for each in (axes, below):
            each.grid(alpha=0.3)
            each.legend(fontsize="small")
    return figure


def section(results: Results) -> str:
    errors = "; ".join(
        f"{100 * r['relative_error']:.2g} % of the largest force after {r['speed']:g} m/s with A and b of the start "
        f"(`expo/paper`), {100 * r['relative_error_middle']:.2g} % with those of the middle (`expo`)"
        for r in results["predictions"]
    )
    return "\n".join([
        "## Fig. 5: forces predicted over 20 ms\n",
        image("fig5_force_prediction", "Fig. 5: normal force predicted from (11) with constant A and b"),
        f"Largest error of the prediction: {errors}. As in the paper, neglecting that A and b change costs little over "
        "20 ms. At impact the robot moves as a whole, so that its posture, and A and b with it, are the same in the "
        "middle as at the start.\n",
    ])  # fmt: skip


FIG5 = Part("fig5", study, section, targets, {"fig5_force_prediction": draw}, data=("predictions",))
