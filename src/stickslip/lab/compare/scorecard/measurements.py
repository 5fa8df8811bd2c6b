"""Measurements: what a scorecard is computed from, a recording, its scene, a reference and a timing; never the method.

All values of a frame belong to the state of that frame. Methods with a force law record the contact forces that the law
gives at this state. Time-stepping methods record the impulses of the step that ended there, divided by dt, with the
gaps and velocities at its end.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from stickslip.collision.convex.detect import ConvexDetector
from stickslip.dynamics import Dynamics
from stickslip.dynamics.kinematics import link_poses
from stickslip.errors import expected
from stickslip.lab.compare.scorecard.rotation import matrices
from stickslip.model.model import Model
from stickslip.model.scene import Scene
from stickslip.record import Log


@dataclass(frozen=True)
class Timing:
    """Timing of a run without a recording, since recording takes time too."""

    wall: float
    """Computing time [s]."""
    steps: int
    span: float
    """Simulated time [s]."""

    def __post_init__(self) -> None:
        for name in ("wall", "steps", "span"):
            if not getattr(self, name) > 0:
                raise expected(f"timing.{name}", "a number above 0", getattr(self, name))


class Seen(NamedTuple):
    """What follows from joint coordinates and velocities."""

    pose: np.ndarray
    """(frames, nl, 7) poses of links [m, 1]; they equal the recorded ones unless joints have opened."""
    energy: np.ndarray
    """(frames, 3) kinetic energy, potential energy, energy of joint springs [J]."""
    momentum: np.ndarray
    """(frames, nl, 3) linear momentum of each link [N s]."""
    depth: np.ndarray
    """(frames,) deepest overlap of shapes [m], by one detector, since a method may not see all pairs."""


@dataclass(frozen=True, eq=False)
class Measurements:
    """Arrays over the frames (first axis), or over the n contacts of all frames in sequence.

    A diverged run is used up to its last finite frame.
    """

    log: Log
    model: Model
    reference: Log | None = None
    timing: Timing | None = None

    def __post_init__(self) -> None:
        for log, what in ((self.log, "log"), (self.reference, "reference")):
            if log is None:
                continue
            if log.names.links != tuple(self.model.link_names) or log.header.sizes.nq != self.model.nq:
                raise expected(what, "a recording of the same scene", log, f"it has links {log.names.links}")
        if not self.frames:
            raise expected("log", "at least one finite frame", self.log, "record a run first")

    @cached_property
    def frames(self) -> int:
        """Number of frames before the first that is not finite."""
        log = self.log
        finite = np.isfinite(log.q).all(1) & np.isfinite(log.v).all(1) & np.isfinite(log.pose).all((1, 2))
        return len(log) if finite.all() else int(np.argmin(finite))

    @cached_property
    def dynamics(self) -> Dynamics:
        return Dynamics(self.model)

    @cached_property
    def dt(self) -> float:
        """[s] time step."""
        return float(self.log.options.get("dt", np.nan))

    @cached_property
    def time(self) -> np.ndarray:
        """(frames,) [s]."""
        return self.log.time[: self.frames]

    @cached_property
    def share(self) -> np.ndarray:
        """(frames,) [s] time that each frame stands for: half of the time to each of its neighbours."""
        half = 0.5 * np.diff(self.time)
        return np.concatenate([half, [0.0]]) + np.concatenate([[0.0], half])

    @cached_property
    def every_step(self) -> bool:
        """Whether every step is recorded."""
        return bool(np.all(np.diff(self.log.steps[: self.frames]) <= 1))

    @cached_property
    def q(self) -> np.ndarray:
        return self.log.q[: self.frames]

    @cached_property
    def v(self) -> np.ndarray:
        return self.log.v[: self.frames]

    # Contacts.

    @cached_property
    def contacts(self) -> int:
        """n, the number of contacts in all frames."""
        return int(self.log.contact_start[self.frames])

    def contact(self, name: str) -> np.ndarray:
        return self.log.contact(name)[: self.contacts]

    @cached_property
    def frame(self) -> np.ndarray:
        """(n,) number of the contact's frame."""
        return self.log.contact_frame()[: self.contacts]

    @cached_property
    def normal_force(self) -> np.ndarray:
        """(n,) [N]."""
        return self.contact("force")[:, 0]

    @cached_property
    def friction_force(self) -> np.ndarray:
        """(n,) magnitude of friction [N]."""
        return np.linalg.norm(self.contact("force")[:, 1:], axis=1)

    @cached_property
    def cone(self) -> np.ndarray:
        """(n,) largest friction, μ·max(fₙ, 0) [N]."""
        return self.contact("friction") * np.maximum(self.normal_force, 0.0)

    @cached_property
    def slip(self) -> np.ndarray:
        """(n,) tangential speed [m/s]."""
        return np.linalg.norm(self.contact("velocity")[:, 1:], axis=1)

    @cached_property
    def weight(self) -> float:
        """Weight of everything that moves [N]."""
        return float(self.model.inertia.mass[1:].sum() * np.linalg.norm(self.model.inertia.gravity))

    @cached_property
    def load(self) -> np.ndarray:
        """(n,) scale of a contact's force [N]: the weight, or the sum of the frame's normal forces if that is larger;
        never 0."""
        total = np.bincount(self.frame, weights=np.abs(self.normal_force), minlength=self.frames)
        return np.maximum(np.maximum(total, self.weight), np.finfo(float).tiny)[self.frame]

    def per_frame(self, values: np.ndarray) -> np.ndarray:
        """(frames,) sums over the contacts of each frame."""
        return np.bincount(self.frame, weights=values, minlength=self.frames)

    @cached_property
    def world_force(self) -> np.ndarray:
        """(n, 3) force on body 2 in world axes [N]."""
        normal, tangent, force = self.contact("normal"), self.contact("tangent"), self.contact("force")
        return force[:, :1] * normal + force[:, 1:2] * tangent + force[:, 2:] * np.cross(normal, tangent)

    # Positions.

    @cached_property
    def seen(self) -> Seen:
        """What follows from q and v in each frame, by the same code for all methods."""
        detector, kin = ConvexDetector(self.model, 0.0), self.dynamics.data.kin
        frames, links = self.frames, self.model.nlink
        pose, energy, depth = np.empty((frames, links, 7)), np.empty((frames, 3)), np.zeros(frames)
        velocity, moment = np.empty((frames, links, 6)), np.empty((frames, links, 4))
        for k in range(frames):
            energy[k] = self.dynamics.energy(self.q[k], self.v[k])  # also updates kin
            link_poses(kin, pose[k])
            found = detector.find_raw(kin)
            if found.total[0]:
                depth[k] = -found.gap[: found.total[0]].min()
            velocity[k], moment[k] = kin.vel, kin.inertia[:, :4]
        momentum = moment[..., :1] * velocity[..., :3] + np.cross(velocity[..., 3:], moment[..., 1:])
        return Seen(pose, energy, momentum, np.maximum(depth, 0.0))

    @cached_property
    def position(self) -> np.ndarray:
        """(frames, nl, 3) positions of link origins [m]."""
        return self.log.pose[: self.frames, :, :3]

    @cached_property
    def axes(self) -> np.ndarray:
        """(frames, nl, 3, 3) link axes as columns."""
        return matrices(self.log.pose[: self.frames, :, 3:])


def measurements(log: Log, *, reference: Log | None = None, timing: Timing | None = None, model: Model | None = None):
    """Measurements of a recording; its own scene is compiled unless a ``model`` is given."""
    if model is None:
        if not log.scene_xml:
            raise expected("log", "a recording with its scene", log, "pass model= as well")
        model = Scene.from_xml(log.scene_xml).compile()
    return Measurements(log, model, reference, timing)
