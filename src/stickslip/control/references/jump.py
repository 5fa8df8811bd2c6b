"""A jump of Solo12 in place: crouch, push off, fly, land as it took off, stand up again.

While the feet are in the air the centre of mass falls freely, c̈ = g. The push accelerates it from rest at the bottom
of the crouch along straight pieces, a = 0 → a₁ → RISE·a₁ → −g, so that the contact force ends at zero, and a₁ gives the
velocity v = g·T/2 of a flight of T seconds. The force grows while the legs stretch, because the knees' lever arm
shrinks. Landing is the push backwards in time. Feet leave and meet the ground without velocity: the legs are drawn in
fast enough after take-off, and stretched again before touch-down.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from stickslip.control.linear_feedback import LinearFeedback
from stickslip.control.references.feet import SOLO12_FEET
from stickslip.control.references.lqr import Weights
from stickslip.control.references.plan import SAMPLE, Plan, complete, standing_start
from stickslip.control.references.profiles import Law, ease, piecewise, quintic
from stickslip.control.references.whole_body import Course, Legged
from stickslip.errors import expected, number
from stickslip.model.model import Model, State

TAKE_OFF = 0.26
"""[m] height of the base above the feet when they leave the ground; the legs are not quite stretched."""
CROUCH = 0.105
"""[m] approximate height at the bottom of the crouch."""
FOLDED = 0.2
"""[m] height in flight."""
RAMP = 0.04
"""[s] in which the push begins, and in which it ends."""
RISE = 1.3
"""Ratio of the accelerations at the end and at the beginning of the push."""
DRAW_IN = 0.26
"""[m] take-off velocity times the time in which the legs are drawn in."""


class Push(NamedTuple):
    """The push from the bottom of the crouch to take-off."""

    duration: float
    """[s]."""
    corner: np.ndarray
    """(4,) times of the corners [s]."""
    acceleration: np.ndarray
    """(4,) at the corners [m/s²]."""
    stroke: float
    """Rise of the centre of mass [m]."""


def push_off(velocity: float, stroke: float, g: float) -> Push:
    """The push of a whole number of samples that ends with this velocity [m/s], after about this stroke [m]."""
    candidates = []
    for samples in range(2 * round(RAMP / SAMPLE) + 1, 101):
        duration = samples * SAMPLE
        corner = np.array([0.0, RAMP, duration - RAMP, duration])
        end = corner[-1:]
        fixed, unit = np.array([0.0, 0.0, 0.0, -g]), np.array([0.0, 1.0, RISE, 0.0])
        scale = (velocity - piecewise(end, corner, fixed).rate[0]) / piecewise(end, corner, unit).rate[0]
        acceleration = fixed + scale * unit
        candidates.append(Push(duration, corner, acceleration, piecewise(end, corner, acceleration).value[0]))
    return min(candidates, key=lambda push: abs(push.stroke - stroke))


def plan_jump(
    model: Model, *, height: float = 0.43, stand: float = 0.2, crouch: float = 0.5, rise: float = 0.5,
    rest: float = 0.5, friction: float = 1.0, feet: Sequence[str] = SOLO12_FEET,
) -> Plan:  # fmt: skip
    """The planned motion without a controller; the arguments are those of ``jump``."""
    number("height", height, "a finite number [m]")
    for name, value in (("crouch", crouch), ("rise", rise), ("friction", friction)):
        number(name, value, "a positive number", above=0.0)
    for name, value in (("stand", stand), ("rest", rest)):
        number(name, value, "a number of seconds ≥ 0", least=0.0)
    robot = Legged(model, feet)
    start, com0, feet0 = standing_start(robot)
    g, ground = -float(model.inertia.gravity[2]), float(feet0[:, 2].mean())
    if g <= 0.0:
        raise expected("gravity", "downward", model.inertia.gravity.tolist())
    if height <= ground + TAKE_OFF:
        raise expected("height", f"more than {ground + TAKE_OFF:g} m, where the feet leave the ground", height)
    # a whole number of samples in the air, so that take-off and touch-down are instants of the plan
    flight = SAMPLE * max(2, round(np.sqrt(8 * (height - ground - TAKE_OFF) / g) / SAMPLE))
    velocity = g * flight / 2
    below = start[2] - com0[2]
    top, folded = ground + TAKE_OFF - below, FOLDED - below
    push = push_off(velocity, TAKE_OFF - CROUCH, g)
    bottom = top - push.stroke

    def thrust(t: np.ndarray) -> Law:
        law = piecewise(t, push.corner, push.acceleration)
        return Law(bottom + law.value, law.rate, law.second)

    def landing(t: np.ndarray) -> Law:
        law = thrust(push.duration - t)
        return Law(law.value, -law.rate, law.second)

    def between(a: float, b: float, duration: float):
        def law(t: np.ndarray) -> Law:
            e = ease(t, duration)
            return Law(a + (b - a) * e.value, (b - a) * e.rate, (b - a) * e.second)

        return law

    def falling(t: np.ndarray) -> Law:
        return Law(top + t * (velocity - g * t / 2), velocity - g * t, np.full_like(t, -g))

    home = float(com0[2])
    pieces = [
        (stand, between(home, home, 1.0)), (crouch, between(home, bottom, crouch)), (push.duration, thrust),
        (flight, falling), (push.duration, landing), (rise, between(bottom, home, rise)),
        (rest, between(home, home, 1.0)),
    ]  # fmt: skip
    first = np.cumsum([0, *(round(duration / SAMPLE) for duration, _ in pieces)])
    n = int(first[-1]) + 1
    time = SAMPLE * np.arange(n)
    com, course = Course.at_rest(com0, n), Course.at_rest(feet0, n)
    for k, (_, law) in enumerate(pieces):
        span = slice(first[k], first[k + 1] + 1)
        for part, values in zip(com, law(time[span] - time[first[k]]), strict=True):
            part[span, 2] = values

    air = slice(first[3], first[4] + 1)
    legs = leg_lengths(time[air] - time[air.start], velocity, g, top - ground, folded)
    for part, body, length in zip(course, com, legs, strict=True):
        part[air, :, 2] = (body[air, 2] - length)[:, None]
    stance = np.ones((n, len(feet0)), dtype=bool)
    stance[air.start + 1 : air.stop - 1] = False
    motion = robot.motion(time, com, course, start)
    return complete(robot, time, stance, np.where(stance, 1.0, np.inf), com, course, motion, friction)


def leg_lengths(t: np.ndarray, velocity: float, g: float, stretched: float, folded: float) -> Law:
    """Height of the centre of mass above the feet in flight [m]: at both ends it changes as if the feet stood."""
    flight = t[-1]
    samples = min(max(2, round(DRAW_IN / velocity / SAMPLE)), (len(t) - 1) // 2)
    duration = samples * SAMPLE
    drawn = quintic(np.minimum(t, duration), duration, (stretched, velocity, -g), (folded, 0.0, 0.0))
    lengths = []
    for order, part in enumerate(drawn):
        back = part[::-1] * (-1.0) ** order  # touch-down is take-off reversed in time
        lengths.append(np.where(t < flight / 2, part, back))
    return Law(*lengths)


def jump(
    model: Model, *, control_dt: float = 1e-2, weights: Weights | None = None, **options
) -> tuple[LinearFeedback, State]:
    """A jump in place from home: the controller, to be called every ``control_dt`` [s], and the initial state.

    The base rises to about ``height`` [m]. The robot stands for ``stand`` [s], sinks for ``crouch`` [s], jumps, stands
    up again in ``rise`` [s] and stands for ``rest`` [s]. ``friction`` bounds the planned contact forces; ``feet`` names
    the contact points.

    >>> controller, start = jump(model, height=0.43)
    >>> log = sim.run(2.5, controller=controller, control_dt=1e-2)
    """
    control_dt = number("control_dt", control_dt, "a positive number of seconds", above=0.0)
    plan = plan_jump(model, **options)
    return LinearFeedback(plan.reference(control_dt, weights)), model.state()
