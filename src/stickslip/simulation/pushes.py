"""Pushes: constant forces on links for some time, ``sim.push``.

A push acts at a point that is fixed to its link, with a force and a torque that are constant in world axes. Methods see
it as a wrench at the link's origin, which is made anew at every step, so that the arm turns with the link:

    f = share·force,    n = share·(torque + R·grip × force),    share = the part of the step that the push covers

The impulse of a push is therefore force·duration, also if its duration is no multiple of the time step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stickslip.dynamics.data import Kinematics
from stickslip.errors import expected, number
from stickslip.methods.base import Inputs
from stickslip.model.body import Vector, vector
from stickslip.simulation.bodies import body_name

if TYPE_CHECKING:
    from stickslip.simulation.simulation import Simulation

OVER = 1e-9
"""Part of a step: a push that would cover less is over, and one that would leave less uncovered covers the step."""


@dataclass(frozen=True)
class Push:
    """A force on a link, until a time."""

    link: int
    force: np.ndarray
    """(3,) [N], world axes."""
    torque: np.ndarray
    """(3,) [N m], world axes."""
    grip: np.ndarray
    """(3,) where the force acts, in the link's frame [m]."""
    until: float
    """[s]."""

    def wrench(self, rotation: np.ndarray) -> np.ndarray:
        """(6,) force and torque at the origin of the link, which has these axes (3, 3)."""
        return np.concatenate([self.force, self.torque + np.cross(rotation @ self.grip, self.force)])


class Pushes:
    """The pushes of a simulation."""

    def __init__(self, links: int) -> None:
        self.pushes: list[Push] = []
        self._total = np.zeros((links, 6))
        self._acting: Inputs | None = None

    @property
    def active(self) -> bool:
        """Whether there are any."""
        return bool(self.pushes)

    def clear(self) -> None:
        self.pushes = []

    def wrench(self, kin: Kinematics, time: float, dt: float) -> np.ndarray:
        """(nl, 6) wrenches of the step from ``time``, at links with these poses; pushes that have ended are removed."""
        total = np.zeros_like(self._total)
        self.pushes = [push for push in self.pushes if push.until - time > OVER * dt]
        for push in self.pushes:
            share = (push.until - time) / dt
            total[push.link] += (1.0 if share > 1.0 - OVER else share) * push.wrench(kin.rot[push.link])
        return total

    def acting(self, inputs: Inputs, kin: Kinematics, time: float, dt: float) -> Inputs:
        """The inputs of the step from ``time`` with the pushes; always the same arrays, so that methods know them."""
        self._total[:] = inputs.wrench + self.wrench(kin, time, dt)
        last = self._acting
        if last is None or last.control is not inputs.control or last.applied is not inputs.applied:
            self._acting = last = Inputs(inputs.control, inputs.applied, self._total)
        return last


def make_push(
    sim: Simulation, body: Any, force: Vector | None, at: Vector | None, torque: Vector | None, duration: Any
) -> Push:
    """The push that ``sim.push`` asks for, from now on."""
    model, name = sim.model, body_name(body)
    link = model.link(name)
    if link == 0:
        raise expected(f"body {name!r}", "one that moves", "a part of the world, which a push does not move")
    if duration is not None:
        duration = number("duration", duration, "a number of seconds > 0, or None for one step", above=0.0)
    point = None if at is None else vector("at", at, 3)
    if force is None and torque is None:
        raise expected("push", "a force=(x, y, z) [N] or a torque=(x, y, z) [N m]", "neither")
    view = sim.body(name)
    pos, rotation = sim.dynamics.frame_pose(sim.state.q, model.link_names[link])
    point = view.center_of_mass if point is None else point
    return Push(
        link,
        np.zeros(3) if force is None else vector("force", force, 3).copy(),
        np.zeros(3) if torque is None else vector("torque", torque, 3).copy(),
        rotation.T @ (point - pos),
        sim.time + (sim.dt if duration is None else duration),
    )
