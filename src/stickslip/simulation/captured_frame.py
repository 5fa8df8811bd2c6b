"""capture: the contact problem of a simulation's next time step as a ``ProblemFrame``, whatever the method."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from stickslip.collision.contacts import ADHESION, FRICTION, RESTITUTION
from stickslip.errors import InputError, RecordingError, one_of, whole
from stickslip.methods.complementarity import complementarity_of
from stickslip.problem_files.problem_file import ProblemWriter
from stickslip.problem_files.problem_frame import WORLD, ContactRows, ProblemFrame
from stickslip.simulation.captured_fclib import FCLibFiles, coordinates_of
from stickslip.simulation.link_bodies import LinkBodies
from stickslip.simulation.observers import NEVER, Observer

if TYPE_CHECKING:
    from stickslip.simulation.simulation import Simulation

FORMATS = ("frames", "fclib")
"""``mbs_frame`` groups of one file, or a file of FCLib's per step."""


def capture(sim: Simulation) -> ProblemFrame:
    """The problem that the next step of ``sim`` poses; changes nothing that this step depends on.

    Bodies are the links, and their ids are link numbers. The contacts are those that the method looks at: of
    time-stepping methods also the ones that are still a margin apart, of spring-dampers only those that penetrate.
    """
    with sim.present():
        return _capture(sim)


def _capture(sim: Simulation) -> ProblemFrame:
    c, n = sim.contacts.arrays, len(sim.contacts)
    if c.surface[:n].any() or c.material[:n, ADHESION].any():
        what = "moving surfaces" if c.surface[:n].any() else "adhesion"
        raise InputError(f"capture: frames have no field for {what} of contacts; use capture_format='fclib'")
    links = LinkBodies(sim.model.inertia, coordinates_of(sim), sim.dt)
    return ProblemFrame(
        timestep=sim.dt, bodies=links.bodies(), contacts=_contacts(sim), constraints=links.constraints(),
        tangents=c.axes[:n, 1].copy(), restitution=c.material[:n, RESTITUTION].copy(), groups=_groups(sim),
        time=sim.time, step=sim.steps,
    )  # fmt: skip


def _groups(sim: Simulation) -> np.ndarray | None:
    """PEG's groups of subcontacts, without the joint limits that follow them."""
    steps = complementarity_of(sim.stepper)
    groups = None if steps is None else steps.matrices.groups
    return None if groups is None else groups[groups <= len(sim.contacts)]


def _contacts(sim: Simulation) -> ContactRows:
    c, n = sim.contacts.arrays, len(sim.contacts)
    mu = c.material[:n, FRICTION]
    pairs = np.stack([c.link1[:n], c.link2[:n]], axis=1)
    return ContactRows(
        points=c.point[:n].copy(), normals=c.axes[:n, 0].copy(), gaps=c.gap[:n].copy(), mu_s=np.stack([mu, mu], axis=1),
        mu_k=np.stack([mu, mu, np.zeros(n)], axis=1), pairs=np.where(pairs == 0, WORLD, pairs),
    )  # fmt: skip


class Captures(Observer):
    """Takes the problem of every so many steps of a run, from its first on; without ``take`` it does nothing."""

    def __init__(
        self, first: int, every: int, take: Callable[[], Any] | None, writer: ProblemWriter | None = None
    ) -> None:
        self.first, self.every, self._take, self._writer = first, every, take, writer

    def next_step(self, steps: int) -> int:
        return NEVER if self._take is None else steps + self.every - (steps - self.first) % self.every

    def before_steps(self, sim: Simulation) -> None:
        if self._take is not None and (sim.steps - self.first) % self.every == 0:
            self._take()

    def after_steps(self, sim: Simulation) -> None:
        if self._writer is not None:
            self._writer.flush_if_due()

    def __enter__(self) -> Captures:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._writer is not None:
            with suppress(*(() if kind is None else (RecordingError,))):  # what ended the run is what is said
                self._writer.close()


def make_captures(sim: Simulation, path: str | Path | None, every: int, form: str) -> Captures:
    """To a file of frames, or to FCLib's files."""
    every = whole("capture_every", every, 1)
    one_of("capture_format", form, FORMATS)
    if path is None:
        return Captures(sim.steps, every, None)
    if form == "fclib":
        return Captures(sim.steps, every, FCLibFiles(sim, path).take)
    spec = sim.model.spec
    writer = ProblemWriter(path, scene="" if spec is None else spec.modelname, method=sim.method)
    return Captures(sim.steps, every, lambda: writer.append(capture(sim)), writer)
