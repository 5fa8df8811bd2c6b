"""The hopper crouches, jumps, turns once in the air and lands: Fig. 6 of Brüdigam et al.

On the ground the sphere (mass m) moves with the slide s, z̈ = −s̈, and the motor gives F = m·s̈ − m·g. In the air it
controls only the relative motion, with the reduced mass μ = m·m_p/(m + m_p) and the pole's centre d = h − s below the
sphere's:

    F = μ·(s̈ + d·ω²),    τ = d/dt(I·ω),    I = I_sphere + I_pole + μ·d²

The plan is s(t) and the angle θ(t) of the turn about a horizontal axis; the centre of mass flies on a parabola. F and τ
are corrected by feedback on (s, ṡ) and on the attitude, log(Rᵀ·R_ref). The paper is "Linear-time contact and friction
dynamics in maximal coordinates using variational integrators", Sec. IV-B. Differs from the paper in: the motion and its
controller, of which the paper mentions only the jump, the full turn and its axis.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip.control.references.profiles import ease, quintic
from stickslip.errors import expected, number
from stickslip.math.quaternion import logarithm, multiply, to_matrix
from stickslip.model.arrays import FREE, SLIDE
from stickslip.model.model import Model

STAND, CROUCH, RISE = 0.2, 0.5, 0.8
"""[s] durations of standing and going down before the jump, and of rising after it."""
DEPTH, PUSHED, LANDING = 0.35, 0.08, 0.05
"""[m] position of the slide when crouched, when the foot leaves and when it lands; 0 is stretched."""
TUCKED = 0.25
"""[m] position of the slide in the air."""
CATCH = 0.2
"""[s] duration from landing to the crouch."""
STOP, FREE_BEFORE_LANDING = 0.05, 0.08
"""[s] time after take-off until sphere and pole have the same speed; time before landing at which the turn ends."""
SLIDE_GAINS = 400.0, 20.0
"""Feedback gains of the slide [N/m, N s/m]."""
TILT_GAINS = 20.0, 1.5
"""Feedback gains [N m/rad, N m s/rad] about horizontal axes of the body; a tenth of them about its vertical axis."""


class Piece(NamedTuple):
    """Motion of the slide between two instants, a polynomial of degree five."""

    start: float
    """[s]."""
    end: float
    first: tuple[float, float, float]
    """s, ṡ, s̈ [m, m/s, m/s²]."""
    last: tuple[float, float, float]


class HopperTurn:
    """A controller of the hopper (``model.builders.add_hopper``), alone in its scene.

    ``turn(t, q, v)`` is the force of its slide [N]. ``turn.torque(t, q, v)`` (3,) is the torque of the sphere's
    flywheels [N m] in world axes, for ``sim.inputs.wrench[1, 3:]``. ``speed`` [m/s] is the sphere's at take-off,
    ``axis`` (3,) the horizontal axis of the turn and ``turns`` the number of turns. The foot leaves at ``leave`` and
    lands at ``land`` [s].
    """

    def __init__(self, model: Model, *, speed: float = 4.2, axis=(1.0, 1.0, 0.0), turns: float = 1.0) -> None:
        number("turns", turns, "a number")
        number("speed", speed, "a speed above 2 m/s", above=2.0)
        self.axis = np.array(axis, dtype=float)
        if self.axis.shape != (3,) or self.axis[2] != 0.0 or not np.linalg.norm(self.axis) > 0.0:
            raise expected("axis", "three numbers, a horizontal direction", axis)
        self.axis /= np.linalg.norm(self.axis)
        self._angle = 2.0 * np.pi * turns
        self.bind(model)
        self._plan(float(speed))

    def bind(self, model: Model) -> None:
        """Take masses and lengths from the model."""
        kinds = tuple(model.tree.joint_type) if isinstance(model, Model) else ()
        if kinds != (FREE, SLIDE) or model.nu != 1:
            raise expected("model", "a hopper, alone in its scene", kinds, "model.builders.add_hopper makes one")
        mass, inertia = model.inertia.mass, model.mj.body_inertia
        self._m, self._pole = float(mass[1]), float(mass[2])
        self._g = float(np.linalg.norm(model.inertia.gravity))
        self._reduced = self._m * self._pole / (self._m + self._pole)
        self._arm = -float(model.mj.body_ipos[2, 2])
        self._own = float(inertia[1, 0] + np.median(inertia[2]))  # a slender pole has two equal moments and a small one
        home = model.state().q
        self._length = float(home[2] - home[7])

    def _plan(self, speed: float) -> None:
        crouched = STAND + CROUCH
        push = 2.0 * (DEPTH - PUSHED) / speed
        self.leave = crouched + push
        up = self._m * speed / (self._m + self._pole)
        fall = self._m * (LANDING - PUSHED) / (self._m + self._pole)
        """[m] height of the centre of mass at take-off above that at landing."""
        flight = (up + np.sqrt(up * up + 2.0 * self._g * fall)) / self._g
        self.land = self.leave + flight
        down = self._g * flight - up
        stopped, middle = self.leave + STOP, self.leave + flight / 2.0
        still, stretched = (0.0, 0.0), PUSHED - speed * STOP / 2.0
        caught = self.land + CATCH
        self._pieces = (
            Piece(STAND, crouched, (0.0, *still), (DEPTH, *still)),
            Piece(crouched, self.leave, (DEPTH, *still), (PUSHED, -speed, 0.0)),
            Piece(self.leave, stopped, (PUSHED, -speed, 0.0), (stretched, *still)),
            Piece(stopped, middle, (stretched, *still), (TUCKED, *still)),
            Piece(middle, self.land, (TUCKED, *still), (LANDING, *still)),
            Piece(self.land, caught, (LANDING, down, 0.0), (DEPTH, *still)),
            Piece(caught, caught + RISE, (DEPTH, *still), (0.0, *still)),
        )
        self.duration = caught + RISE + STAND
        """[s] duration of the whole motion."""
        self._turn = stopped, self.land - FREE_BEFORE_LANDING - stopped

    def flying(self, t: float) -> bool:
        return self.leave <= t < self.land

    def slide(self, t: float) -> tuple[float, float, float]:
        """s, ṡ, s̈ as planned [m, m/s, m/s²]."""
        for piece in self._pieces:
            if piece.start <= t < piece.end:
                law = quintic(np.array([t - piece.start]), piece.end - piece.start, piece.first, piece.last)
                return float(law.value[0]), float(law.rate[0]), float(law.second[0])
        return 0.0, 0.0, 0.0

    def angle(self, t: float) -> tuple[float, float, float]:
        """θ, θ̇, θ̈ of the turn as planned [rad, rad/s, rad/s²]."""
        start, span = self._turn
        law = ease(t - start, span)
        return self._angle * float(law.value), self._angle * float(law.rate), self._angle * float(law.second)

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        s, rate, second = self.slide(t)
        if self.flying(t):
            spin = float(v[3] ** 2 + v[4] ** 2)
            force = self._reduced * (second + (self._arm - q[7]) * spin)
        else:
            force = self._m * (second - self._g)
        kp, kd = SLIDE_GAINS
        return np.array([force + kp * (s - q[7]) + kd * (rate - v[6])])

    def torque(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """(3,) torque on the sphere in world axes [N m]."""
        theta, rate, second = self.angle(t)
        w, x, y, z = q[3:7]
        off = np.array(logarithm(*multiply(w, -x, -y, -z, np.cos(theta / 2.0), *(np.sin(theta / 2.0) * self.axis))))
        R = np.reshape(to_matrix(w, x, y, z), (3, 3))
        share = np.array([1.0, 1.0, 0.1])
        kp, kd = TILT_GAINS
        arm = self._arm - q[7]
        inertia, change = self._own + self._reduced * arm**2, -2.0 * self._reduced * arm * v[6]
        ahead = (inertia * second + change * rate) * self.axis  # the axis is the same in the body and in the world
        return R @ (ahead + share * (kp * off + kd * (rate * self.axis - v[3:6])))
