"""capture: the contact problem of a simulation's next time step as a ``ProblemFrame``, whatever the method."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from stickslip.collision.contacts import FRICTION, RESTITUTION
from stickslip.errors import expected, number
from stickslip.record.problem_file import ProblemWriter
from stickslip.record.problems import WORLD, ContactRows, ProblemFrame
from stickslip.simulation.link_bodies import LinkBodies
from stickslip.steppers.coordinates import Coordinates
from stickslip.steppers.joint_coordinates import JointCoordinates
from stickslip.steppers.time_stepping import TimeStepping

if TYPE_CHECKING:
    from stickslip.simulation.simulation import Simulation


def capture(sim: Simulation) -> ProblemFrame:
    """The problem that the next step of ``sim`` poses; changes nothing that this step depends on.

    Bodies are the links, and their ids are link numbers. The contacts are those that the method looks at: of
    time-stepping methods also the ones that are still a margin apart, of spring-dampers only those that penetrate.
    """
    sim.observe()
    c, n = sim.contacts.arrays, len(sim.contacts)
    links = LinkBodies(sim.model.inertia, coordinates_of(sim), sim.dt)
    return ProblemFrame(
        timestep=sim.dt,
        bodies=links.bodies(),
        contacts=_contacts(sim),
        constraints=links.constraints(),
        tangents=c.axes[:n, 1].copy(),
        restitution=c.material[:n, RESTITUTION].copy(),
        groups=_groups(sim),
        time=sim.time,
        step=sim.steps,
    )


def coordinates_of(sim: Simulation) -> Coordinates:
    """Those of the method, or, of methods that need none, joint coordinates; up to date after ``sim.observe()``."""
    if isinstance(sim.stepper, TimeStepping):
        return sim.stepper.coordinates
    coordinates = JointCoordinates(sim.model)
    coordinates.begin(sim.state, sim.inputs, sim.dt)
    return coordinates


def _groups(sim: Simulation) -> np.ndarray | None:
    """PEG's groups of subcontacts, without the joint limits that follow them."""
    groups = sim.matrices.groups if isinstance(sim.stepper, TimeStepping) else None
    return None if groups is None else groups[groups <= len(sim.contacts)]


def _contacts(sim: Simulation) -> ContactRows:
    c, n = sim.contacts.arrays, len(sim.contacts)
    mu = c.material[:n, FRICTION]
    pairs = np.stack([c.link1[:n], c.link2[:n]], axis=1)
    return ContactRows(
        points=c.point[:n].copy(),
        normals=c.axes[:n, 0].copy(),
        gaps=c.gap[:n].copy(),
        mu_s=np.stack([mu, mu], axis=1),
        mu_k=np.stack([mu, mu, np.zeros(n)], axis=1),
        pairs=np.where(pairs == 0, WORLD, pairs),
    )


class Captures:
    """Writes the problem of every so many steps of a run to a file; without a path it does nothing."""

    def __init__(self, sim: Simulation, path: str | Path | None, every: int) -> None:
        if number("capture_every", every, "a whole number of steps ≥ 1", least=1.0) != int(every):
            raise expected("capture_every", "a whole number of steps ≥ 1", every)
        spec = sim.model.spec
        self.sim, self.every, self._writer = sim, int(every), None
        if path is not None:
            self._writer = ProblemWriter(path, scene="" if spec is None else spec.modelname, method=sim.method)

    def take_if_due(self, step: int) -> int:
        """Capture step ``step`` of the run, which is the next, if it is due; returns which is due after it."""
        if self._writer is None:
            return sys.maxsize
        if step % self.every == 0:
            self._writer.append(capture(self.sim))
        return step - step % self.every + self.every

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
