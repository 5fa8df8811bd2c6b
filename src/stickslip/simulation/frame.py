"""A frame of a recording from the present state, with the names of ``record/layout.py``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stickslip.collision.contacts import FRICTION
from stickslip.dynamics.energy import gravity_energy, kinetic_energy
from stickslip.dynamics.kinematics import link_poses, spatial_inertias

if TYPE_CHECKING:
    from stickslip.simulation.simulation import Simulation


def frame_of(sim: Simulation, contact_energy: float, wall: float) -> dict[str, Any]:
    """The frame at the present state; ``sim.observe()`` must have updated poses and velocities."""
    m, kin = sim.model, sim.kinematics
    spatial_inertias(m.inertia, kin)  # not every method computes them in its steps
    poses = np.empty((m.nlink + len(sim.outside.names), 7))
    link_poses(kin, poses[: m.nlink])
    poses[m.nlink :] = sim.outside.poses
    return {
        "time": sim.time, "q": sim.state.q, "v": sim.state.v, "control": sim.control, "act": sim.state.act,
        "pose": poses,
        "energy": (
            kinetic_energy(m.support, m.inertia, kin, sim.state.v),
            gravity_energy(m.inertia, kin),
            sim.dynamics.spring_energies(sim.state.q),
        ),
        "contact_energy": contact_energy, "steps": sim.steps, "wall": wall, "status": sim.status,
        "iterations": sim.stepper.iterations, "residual": sim.stepper.residual, "unconverged": sim.stepper.unconverged,
        "joint_error": sim.stepper.joint_error(), "sensor": sim.read_sensors(),
    }  # fmt: skip


def contacts_of(sim: Simulation) -> dict[str, np.ndarray]:
    c, n = sim.contacts.arrays, len(sim.contacts)
    return {
        "pair": c.pair[:n], "link1": c.link1[:n], "link2": c.link2[:n], "point": c.point[:n], "normal": c.axes[:n, 0],
        "tangent": c.axes[:n, 1], "gap": c.gap[:n], "force": c.force[:n], "velocity": c.velocity[:n],
        "friction": c.material[:n, FRICTION],
    }  # fmt: skip
