"""Walk of a humanoid: footsteps, swinging feet, motion of the centre of mass, and the controller for them.

Between two steps both feet stand and the weight moves from one to the other; the zero-moment point stays under the
middle of the standing foot while the other one swings. The centre of mass follows from it (``lipm``). A swinging foot
goes along a polynomial of degree five and rises by one of degree six, at rest and without acceleration at both ends.

The settings are those of the test "Romeo-walk" of Hammoud et al., "Exponential Integration for Efficient and Accurate
Multi-Body Simulation with Stiff Viscoelastic Contacts": the weights are centre of mass 1, foot 1, posture 1e-4, waist
1e-2, forces 1e-5; all kp = 10; contacts as hard constraints; a control step of 40 ms; two steps in 4.8 s, 1.5 s
standing. Differs from it in: the plan, since theirs is a file that is not part of the paper; the torques are computed
for the middle of a control step (``hold``), which reduces the error of the centre of mass by three quarters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from stickslip.control.inverse_dynamics import InverseDynamics
from stickslip.control.references.feet import ROMEO_FEET, find_feet
from stickslip.control.references.lipm import preview
from stickslip.control.references.profiles import bump, ease
from stickslip.control.tasks import CenterOfMass, FrameOrientation, FramePosition, Posture, Task
from stickslip.dynamics import Dynamics
from stickslip.errors import expected, number, unknown
from stickslip.model.model import Model

CONTROL_DT = 0.04
"""[s] control step."""
GRID = 0.02
"""[s] between the points of the plan of the centre of mass."""
TWO_STEPS = (("r_ankle", 0.15), ("l_ankle", 0.15))
"""(foot, length of its step [m])."""
INSTANT = 1e-6
"""[s] tolerance of times that are a sum of time steps."""

Motion = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Position, velocity and acceleration."""


@dataclass(frozen=True)
class Swing:
    """One foot moves from ``start`` to ``goal`` (3,) [m] between two times [s]."""

    foot: str
    begin: float
    end: float
    start: np.ndarray
    goal: np.ndarray
    height: float
    """[m] largest lift."""

    def motion(self, t: float) -> Motion:
        since, span = t - self.begin, self.end - self.begin
        way, up = self.goal - self.start, np.array([0.0, 0.0, self.height])
        position, velocity, acceleration = (
            go * way + rise * up for go, rise in zip(ease(since, span), bump(since, span), strict=True)
        )
        return self.start + position, velocity, acceleration


class WalkPlan:
    """Steps along x from the model's home configuration, where the feet must stand flat.

    ``steps`` are (foot, length [m]) one after another; ``shift`` [s] is spent on moving the weight before, between and
    after them, ``swing`` [s] on each step, ``stand`` [s] at the end; feet are lifted by ``height`` [m]. Times should
    be multiples of the control step, since contacts change only when the controller is called.
    """

    def __init__(
        self,
        model: Model,
        steps: Sequence[tuple[str, float]] = TWO_STEPS,
        feet: Mapping[str, Sequence[str]] = ROMEO_FEET,
        *,
        height: float = 0.05,
        shift: float = 0.8,
        swing: float = 1.2,
        stand: float = 1.5,
    ) -> None:
        for what, value in (("shift", shift), ("swing", swing), ("height", height)):
            number(what, value, "a number > 0", above=0.0)
        number("stand", stand, "a number of seconds ≥ 0", least=0.0)
        if len(feet) != 2:
            raise expected("feet", "two feet with their contact points", feet)
        names = [*feet, *(point for points in feet.values() for point in points)]
        find_feet(model, names, "by default Romeo's; WalkPlan(model, steps, feet) names those of another robot")
        dyn, q = Dynamics(model), model.state().q
        self.home = {foot: dyn.frame_pose(q, foot)[0] for foot in feet}
        self.axes = {foot: dyn.frame_pose(q, foot)[1] for foot in feet}
        self._corner = {
            foot: {p: dyn.frame_pose(q, p)[0] - self.home[foot] for p in points} for foot, points in feet.items()
        }
        self._com = dyn.center_of_mass(q)

        where = {foot: position.copy() for foot, position in self.home.items()}
        instants, zmp = [0.0], [self._com[:2]]
        swings, t = [], shift
        for foot, length in steps:
            if foot not in feet:
                raise unknown("foot", foot, feet)
            (other,) = set(feet) - {foot}
            goal = where[foot] + np.array([number("step length", length), 0.0, 0.0])
            swings.append(Swing(foot, t, t + swing, where[foot], goal, height))
            instants += [t, t + swing]
            zmp += 2 * [self._middle(other, where)]
            where[foot] = goal
            t += swing + shift
        self.swings = tuple(swings)
        self.goal = where
        """Foot → its final position (3,) [m]."""
        self.walking = t
        """[s] time until the weight is between the feet again."""
        self.duration = t + stand
        """[s] duration of the whole motion."""
        instants.append(t)
        zmp.append(np.mean([self._middle(foot, where) for foot in feet], axis=0))

        self.times = np.linspace(0.0, self.duration, round(self.duration / GRID) + 1)
        self.zmp = np.stack([np.interp(self.times, instants, axis) for axis in np.transpose(zmp)], axis=1)
        ground = np.mean([corner[2] for corner in self.contacts(0.0).values()])
        gravity = float(np.linalg.norm(model.inertia.gravity))
        self.states = preview(self.zmp, self._com[:2], self.times[1], self._com[2] - ground, gravity)

    def _middle(self, foot: str, where: Mapping[str, np.ndarray]) -> np.ndarray:
        return (where[foot] + np.mean(list(self._corner[foot].values()), axis=0))[:2]

    def center_of_mass(self, t: float) -> Motion:
        """Motion at constant height, cubic between the points of the plan and at rest after its end."""
        if t >= self.times[-1]:
            return np.array([*self.states[-1, 0], self._com[2]]), np.zeros(3), np.zeros(3)
        dt = self.times[1]
        k = min(int(max(t, 0.0) / dt), len(self.times) - 2)
        s, (p, v, a) = t - self.times[k], self.states[k]
        jerk = (self.states[k + 1, 2] - a) / dt
        position = p + s * (v + s * (a / 2.0 + s * jerk / 6.0))
        velocity, acceleration = v + s * (a + s * jerk / 2.0), a + s * jerk
        return np.array([*position, self._com[2]]), np.array([*velocity, 0.0]), np.array([*acceleration, 0.0])

    def swinging(self, t: float) -> Swing | None:
        """The current step, or None."""
        return next((s for s in self.swings if s.begin - INSTANT <= t < s.end - INSTANT), None)

    def contacts(self, t: float) -> dict[str, np.ndarray]:
        """Contact points of the standing feet → where they should be (3,) [m]."""
        now = self.swinging(t)
        where = self.home | {s.foot: s.goal for s in self.swings if t >= s.end - INSTANT}
        standing = [foot for foot in where if now is None or foot != now.foot]
        return {point: where[foot] + offset for foot in standing for point, offset in self._corner[foot].items()}

    def position_of(self, foot: str):
        """A reference for FramePosition that is active while the foot swings."""
        return partial(self._position, foot)

    def _position(self, foot: str, t: float) -> Motion | None:
        now = self.swinging(t)
        return None if now is None or now.foot != foot else now.motion(t)

    def orientation_of(self, foot: str):
        """A reference for FrameOrientation that holds the home orientation while the foot swings."""
        return partial(self._orientation, foot)

    def _orientation(self, foot: str, t: float) -> Motion | None:
        now = self.swinging(t)
        return None if now is None or now.foot != foot else (self.axes[foot], np.zeros(3), np.zeros(3))


def walk(
    model: Model,
    plan: WalkPlan | None = None,
    *,
    waist: str = "base_link",
    kp: float = 10.0,
    friction: float = 1.0,
    hold: float = CONTROL_DT,
) -> InverseDynamics:
    """A controller that follows a plan (default: Romeo's two steps).

    ``waist`` is the frame that stays upright, ``friction`` μ of the floor; ``hold`` [s], as in InverseDynamics, should
    be the control step.
    """
    plan = WalkPlan(model) if plan is None else plan
    tasks: list[Task] = [
        CenterOfMass(plan.center_of_mass, weight=1.0, kp=kp),
        FrameOrientation(waist, weight=1e-2, kp=kp),
        Posture(weight=1e-4, kp=kp),
    ]
    for foot in plan.home:
        tasks.append(FramePosition(foot, plan.position_of(foot), weight=1.0, kp=kp))
        tasks.append(FrameOrientation(foot, plan.orientation_of(foot), weight=1.0, kp=kp))
    return InverseDynamics(plan.contacts, tasks, friction=friction, contact_kp=kp, force_weight=1e-5, hold=hold)
