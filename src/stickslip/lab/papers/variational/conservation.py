"""Not in the paper's figures, but why one integrates so: momentum, closed joints and an energy without trend.

* A body of J = diag(1, 2, 3) kg m², no torque, ω = (0.1, 2, 0.1) rad/s: spins about its middle axis and flips.
* Five rods with ball joints in free space, ε = 1e-12, 5 s from random velocities.
* A four-bar linkage (scene ``four-bar``), its loop closed by a point: ‖g‖ of all joints after every step.
* A double pendulum of two rods (1 kg, 1 m), let go at 1.5 and 0.5 rad: chaotic. Its energy ½νᵀMν + V at the ends of
  steps stays in a band of O(dt), that with V averaged over steps in one of O(dt²). The slope is that of a straight line
  through all samples, times the duration: how far the energy would have gone, against the whole band.

Momenta and energies are the discrete ones of ``discrete_rotation``, drifts against the first step's.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from stickslip.lab.papers.paper import quiet
from stickslip.lab.papers.store import Store
from stickslip.lab.papers.variational.setups import DT, METHOD, TOLERANCE, Sizes, thinned
from stickslip.maximal.rows import joint_errors
from stickslip.methods.variational.discrete_rotation import discrete_energy, world_momentum
from stickslip.model.scene import Scene
from stickslip.progress import Progress
from stickslip.scenes import SCENES
from stickslip.simulation import Simulation

BODY, CHAIN, LINKAGE, PENDULUM = "torque-free body", "free chain", "four-bar", "double pendulum"
FLIPS, FLOATS = 2000, 500
"""Steps of body and chain."""
LINKS = 5
BLOCK = 10
"""Steps of the pendulum in one compiled call, between samples of its energy."""
BINS = 120
"""Of the curves that are kept: smallest and largest of the samples in each."""
TIGHT, TIGHTER = 1e-10, 1e-12
"""Tolerances."""


def _rod(body: Any, pos: tuple[float, float, float] = (0.0, 0.0, -0.5)) -> None:
    body.add_cylinder(0.05, 1.0, mass=1.0, pos=pos, collide=False)


def free_chain() -> Scene:
    scene = Scene(name=CHAIN, gravity=(0.0, 0.0, 0.0))
    body = scene.add_body("rod0", joint="free")
    _rod(body)
    for k in range(1, LINKS):
        body = body.add_body(f"rod{k}", joint="ball", pos=(0.0, 0.0, -1.0))
        _rod(body)
    return scene


def double_pendulum() -> Scene:
    scene = Scene(name=PENDULUM)
    body: Any = scene.world
    for k in range(2):
        body = body.add_body(f"rod{k}", joint="hinge", axis=(0, 1, 0), pos=(0.0, 0.0, -1.0 * k))
        _rod(body)
    return scene


def momentum(sim: Simulation) -> np.ndarray:
    """(6,) linear and angular, about the origin."""
    s: Any = sim.stepper
    out = np.empty(6)
    world_momentum(s.mechanism.bodies, s.motion.pose, s.motion.nu, sim.dt, np.zeros(3), out)
    return out


def drifts(samples: list[np.ndarray]) -> tuple[float, float]:
    """The largest distances from the first: linear, angular."""
    off = np.array(samples) - samples[0]
    return float(np.linalg.norm(off[:, :3], axis=1).max()), float(np.linalg.norm(off[:, 3:], axis=1).max())


def binned(values: np.ndarray) -> dict[str, list[float]]:
    """Smallest and largest of BINS pieces of a row of samples."""
    pieces = np.array_split(values, min(BINS, len(values)))
    return {"low": [float(p.min()) for p in pieces], "high": [float(p.max()) for p in pieces]}


def flip() -> dict[str, Any]:
    setup = SCENES["tumble"].build()
    sim = Simulation(setup.scene, METHOD, dt=DT, tolerance=TIGHTER)
    sim.set_state(v=setup.velocity)
    momenta, spin, norm = [], [], 0.0
    for _ in range(FLIPS):
        sim.step()
        momenta.append(momentum(sim))
        spin.append(sim.state.v[3:6].copy())
        norm = max(norm, abs(float(np.linalg.norm(sim.state.q[3:7])) - 1.0))
    linear, angular = drifts(momenta)
    omega = np.array(spin)
    return {
        "unconverged": int(sim.stepper.unconverged), "linear": linear, "angular": angular, "quaternion": norm,
        "lowest": float(omega[:, 1].min()), "omega": thinned(omega, 1000),
    }  # fmt: skip


def float_freely() -> dict[str, Any]:
    sim = Simulation(free_chain(), METHOD, dt=DT, tolerance=TIGHTER)
    sim.set_state(v=np.random.default_rng(0).normal(size=sim.model.nv))
    momenta = []
    for _ in range(FLOATS):
        sim.step()
        momenta.append(momentum(sim))
    linear, angular = drifts(momenta)
    return {"unconverged": int(sim.stepper.unconverged), "linear": linear, "angular": angular}


def close_loop(seconds: float) -> dict[str, Any]:
    sim = Simulation(SCENES["four-bar"].build().scene, METHOD, dt=DT, tolerance=TOLERANCE)
    s: Any = sim.stepper
    joints = s.mechanism.nodes.joints
    g, error = np.zeros(len(joints.joint)), np.zeros(round(seconds / DT))
    for k in range(len(error)):
        sim.step()
        joint_errors(joints, s.motion.pose, g)
        error[k] = np.linalg.norm(g)
    tenth = len(error) // 10
    return {
        "unconverged": int(s.unconverged), "largest": float(error.max()),
        "trend": float(error[-tenth:].max() / error[:tenth].max()), **binned(error),
    }  # fmt: skip


def swing(dt: float, seconds: float) -> dict[str, Any]:
    sim = Simulation(double_pendulum(), METHOD, dt=dt, tolerance=TIGHT)
    sim.set_state([1.5, 0.5], [0.0, 0.0])
    s: Any = sim.stepper
    gravity, bodies = sim.model.inertia.gravity, s.mechanism.bodies
    ends, means = np.zeros((2, round(seconds / dt) // BLOCK))
    for k in range(len(ends)):
        sim.step(BLOCK)
        kinetic, potential = discrete_energy(bodies, gravity, s.motion.pose, s.motion.nu, dt)
        means[k] = kinetic + potential
        ends[k] = kinetic - bodies.mass @ (s.motion.pose.pos @ gravity)
    early, late = np.array_split(ends, 2)
    times = np.linspace(-0.5, 0.5, len(ends))
    return {
        "unconverged": int(s.unconverged), "energy": float(ends.mean()), "amplitude": float(ends.std()),
        "averaged": float(means.std()), "band": float(np.ptp(ends)), "trend": float(np.ptp(late) / np.ptp(early)),
        "secular": float(abs(np.polyfit(times, ends, 1)[0]) / np.ptp(ends)), **binned(ends),
    }  # fmt: skip


COLUMNS = ("linear", "angular", "quaternion", "lowest", "largest", "trend", "energy", "amplitude", "averaged", "band",
           "secular")  # fmt: skip
"""Figures that some of the rows have."""


def study(store: Store, sizes: Sizes) -> list[dict[str, Any]]:
    """One row per mechanism and step; a figure that it does not have is ''."""
    cases: list[tuple[str, float, float, Any]] = [
        (BODY, DT, FLIPS * DT, flip),
        (CHAIN, DT, FLOATS * DT, float_freely),
        (LINKAGE, DT, sizes.linkage, partial(close_loop, sizes.linkage)),
        *((PENDULUM, dt, sizes.pendulum, partial(swing, dt, sizes.pendulum)) for dt in sizes.energy_steps),
    ]
    result = []
    with Progress("conservation", len(cases)) as bar, quiet():
        for case, dt, seconds, compute in cases:
            found = store.unit("conservation", {"case": case, "dt": dt, "seconds": seconds}, compute)
            result.append({**dict.fromkeys(("case", "dt", "seconds", "unconverged", *COLUMNS), ""), **found})
            bar.update(len(result))
    return result
