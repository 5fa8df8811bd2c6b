"""Contact forces: predicted from frozen A and b (Sec. VI-F, Fig. 5), and simulated in the trot and the walk (Fig. 6).

Fig. 5: at the beginning of the squat, feet on the surface, moving into it with 0 or 0.1 m/s. With Υ, p̈_free and the
controls frozen at that instant, x = (Δp, Δṗ) obeys (11), so that

    λ(t) = −[K B]·x(t),    (x, 1)(t) = exp(t·[A b; 0 0])·(x(0), 1),

all contacts sticking; beside it stands the simulation with steps of 1/64 ms (RK4: another method than the one whose
assumption is looked at).
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from stickslip.lab.papers.expo.setups import (
    DAMPING,
    FINEST,
    METHODS,
    STIFFNESS,
    TESTS,
    Sizes,
    Test,
    advance,
    bundled,
    simulation,
    weight,
)
from stickslip.lab.papers.store import Store
from stickslip.math.expm import expm_multiply
from stickslip.progress import Progress
from stickslip.simulation import Simulation

HORIZON = 0.02
"""[s] over which forces are predicted."""
EVERY = 8
"""Steps between two points of the curves of Fig. 5."""
SPEEDS = (0.1, 0.0)
"""[m/s] of the contact points at impact."""
CURVE_DT = 0.25e-3
"""[s] between two points of the curves of Fig. 6."""


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
    """(nv,) of actuators that are motors, and joint damping."""
    model = sim.model
    tau = -model.joint_forces.damping * sim.state.v
    tau[model.tree.joint_v[model.actuators.joint]] += model.actuators.gear * sim.control
    return tau


def point_name(sim: Simulation, point: np.ndarray) -> str:
    """The contact point of the robot that is there."""
    names = [shape.name for shape in sim.model.shapes if shape.kind == "point"]
    poses = {name: sim.dynamics.frame_pose(sim.state.q, name)[0] for name in names}
    return min(names, key=lambda name: float(np.linalg.norm(poses[name] - point)))


def normal_forces(sim: Simulation, points: list[str]) -> list[float]:
    """[N] at the named contact points, 0 where they do not touch."""
    sim.observe()
    c, forces = sim.contacts.arrays, dict.fromkeys(points, 0.0)
    for k in range(len(sim.contacts)):
        name = point_name(sim, c.point[k])
        if name in forces:
            forces[name] = float(c.force[k, 0])
    return [forces[name] for name in points]


def impact(speed: float) -> dict[str, Any]:
    """Normal force at one foot over HORIZON, predicted and simulated [N]."""
    test, (model, controller) = TESTS["solo12-squat"], bundled("solo12-squat")
    sim = simulation(test, METHODS["rk4"], FINEST)
    q, v = sim.state.q.copy(), sim.state.v.copy()
    q[2] += weight(model) / (test.points * STIFFNESS) - 1e-9  # a nanometre inside: in contact, no force
    v[2] = -speed
    sim.set_state(q, v)
    sim.set_control(controller(0.0, model.state().q, np.zeros(model.nv)))
    A, b, x = contact_system(sim)
    first = [point_name(sim, p) for p in sim.contacts.arrays.point[: len(sim.contacts)]].index(test.foot)
    augmented = np.block([[A, b[:, None]], [np.zeros((1, len(A) + 1))]])
    z, m = np.append(x, 1.0), len(A) // 2
    time, predicted, simulated = [], [], []
    for k in range(round(HORIZON / FINEST) + 1):
        if k % EVERY == 0:
            at = expm_multiply(k * FINEST * augmented, z)
            time.append(k * FINEST)
            predicted.append(float(-STIFFNESS * at[3 * first] - DAMPING * at[m + 3 * first]))
            simulated.extend(normal_forces(sim, [test.foot]))
        advance(sim, 1)
    error = np.abs(np.array(predicted) - simulated).max() / np.abs(simulated).max()
    return {"time": time, "predicted": predicted, "simulated": simulated, "relative_error": float(error)}


def force_curve(test: Test, seconds: float) -> dict[str, Any]:
    """Normal force at one contact point of a test, simulated with Expo and steps of 1/8 ms [N]."""
    sim, controller = simulation(test, METHODS["expo"], 1e-3 / 8), bundled(test.name)[1]
    every = round(test.control_dt / CURVE_DT)
    time, force = [], []
    for k in range(round(seconds / CURVE_DT)):
        if k % every == 0:
            sim.set_control(controller(k * CURVE_DT, sim.state.q.copy(), sim.state.v.copy()))
        time.append(k * CURVE_DT)
        force.extend(normal_forces(sim, [test.foot]))
        if not advance(sim, 2):
            break
    return {"time": time, "force": force, "weight": weight(sim.model)}


def predictions(store: Store) -> list[dict[str, Any]]:
    """Fig. 5."""
    rows = []
    for speed in SPEEDS:
        parameters = {"speed": speed, "horizon": HORIZON, "dt": FINEST}
        rows.append(store.unit("impact", parameters, partial(impact, speed)))
    return rows


def curves(store: Store, sizes: Sizes) -> list[dict[str, Any]]:
    """Fig. 6."""
    names = [name for name in ("solo12-trot", "romeo-walk") if name in sizes.tests]
    rows = []
    with Progress("Fig. 6: contact forces", len(names), "curves") as bar:
        for done, name in enumerate(names):
            bar.update(done)
            test = TESTS[name]
            seconds = max(0.8, sizes.seconds.get(name, test.seconds))
            parameters = {"test": name, "seconds": seconds, "foot": test.foot, "every": CURVE_DT}
            rows.append(store.unit("force", parameters, partial(force_curve, test, seconds)))
    return rows
