"""Plan: a motion on feet with its forces, and the reference with feedback gains made from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stickslip.control.linear_feedback import Reference
from stickslip.control.references.contact_forces import Efforts, efforts
from stickslip.control.references.lqr import Contact, Weights, regulator
from stickslip.control.references.whole_body import Course, Legged, Motion
from stickslip.errors import InputError, expected
from stickslip.model.shape import DEFAULT_DAMPING, DEFAULT_STIFFNESS

SAMPLE = 0.01
"""[s] between the instants of a plan, as in the paper."""
GROUND = Contact(DEFAULT_STIFFNESS, DEFAULT_DAMPING)
LEFT_OVER = 0.01
"""[N, N m] largest force and torque on the base that a plan may leave to the feedback."""


@dataclass(frozen=True)
class Plan:
    """A motion with the contacts and forces that make it possible, at n instants."""

    robot: Legged
    time: np.ndarray
    """(n,) [s]."""
    stance: np.ndarray
    """(n, nf) which feet stand from this instant to the next."""
    com: Course
    """Centre of mass, (n, 3)."""
    feet: Course
    """Feet, (n, nf, 3)."""
    motion: Motion
    efforts: Efforts

    def reference(self, control_dt: float, weights: Weights | None = None, ground: Contact = GROUND) -> Reference:
        """The reference with gains for a controller that is called every ``control_dt`` [s].

        A control is held for a whole step, so the torque stored at an instant is that of half a step later.
        """
        dt = float(self.time[1] - self.time[0])
        gains = regulator(
            self.robot, self.motion, self.efforts, self.stance, dt, control_dt, ground, weights or Weights()
        )
        return Reference(self.time, self.motion.q, self.motion.v, self._held(control_dt), gains)

    def tracking(self, control_dt: float, kp: float, kd: float) -> Reference:
        """The reference with gains kp [N m/rad] and kd [N m s/rad] on joints only; the base is not controlled."""
        nu, nv = self.efforts.u.shape[1], self.motion.v.shape[1]
        gains = np.zeros((len(self.time), nu, 2 * nv))
        own = np.arange(nu)
        gains[:, own, self.robot.actuated] = kp
        gains[:, own, nv + self.robot.actuated] = kd
        return Reference(self.time, self.motion.q, self.motion.v, self._held(control_dt), gains)

    def _held(self, control_dt: float) -> np.ndarray:
        u, middle = self.efforts.u, self.time + control_dt / 2
        return np.stack([np.interp(middle, self.time, u[:, i]) for i in range(u.shape[1])], axis=1)


def standing_start(robot: Legged) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The home configuration (nq,), its centre of mass (3,) and feet (nf, 3); the feet must be level."""
    q = robot.model.state().q
    feet = robot.kinematics(q)[0]
    if np.ptp(feet[:, 2]) > 1e-3:
        raise expected("home configuration", "feet at the same height", feet[:, 2].round(4).tolist())
    return q, robot.dyn.center_of_mass(q), feet


def complete(
    robot: Legged, time: np.ndarray, stance: np.ndarray, weight: np.ndarray, com: Course, feet: Course, motion: Motion,
    friction: float,
) -> Plan:  # fmt: skip
    """Add forces and torques; raise an error if the contacts or the motors cannot provide them."""
    drive = efforts(robot, motion, weight, friction)
    k, i = np.unravel_index(np.argmax(np.abs(drive.residual)), drive.residual.shape)
    if abs(drive.residual[k, i]) > LEFT_OVER:
        raise InputError(
            f"no contact forces with friction {friction:g} make this motion at t = {time[k]:.3g} s "
            f"({abs(drive.residual[k, i]):.3g} {'N' if i < 3 else 'N m'} is missing); ask for less speed or height"
        )
    ranges = [robot.actuation.torque_range(q, v) for q, v in zip(motion.q, motion.v, strict=True)]
    low, high = np.array([r[0] for r in ranges]), np.array([r[1] for r in ranges])
    k, i = np.unravel_index(np.argmax(np.maximum(drive.u - high, low - drive.u)), drive.u.shape)
    if not low[k, i] <= drive.u[k, i] <= high[k, i]:
        limit = high[k, i] if drive.u[k, i] > 0 else low[k, i]
        raise InputError(
            f"this motion needs {abs(drive.u[k, i]):.3g} N m of actuator {robot.model.actuator_names[i]!r} at "
            f"t = {time[k]:.3g} s, which gives {abs(limit):.3g}; ask for less speed or height"
        )
    return Plan(robot, time, stance, com, feet, motion, drive)
