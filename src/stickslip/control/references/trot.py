"""A trot of Solo12 or A1: the feet of one diagonal swing while those of the other stand, then all four stand briefly.

Footholds lie under the hips at the middle of the following stance. Feet swing along polynomials that leave and reach
the ground without velocity. The force of a foot grows from zero after landing and fades to zero before lift-off, by
means of its weight in ``contact_forces``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from stickslip.control.linear_feedback import LinearFeedback
from stickslip.control.references.balance import balance
from stickslip.control.references.feet import SOLO12_FEET
from stickslip.control.references.lqr import Weights
from stickslip.control.references.plan import SAMPLE, Plan, complete, standing_start
from stickslip.control.references.profiles import bump, cruise, ease
from stickslip.control.references.whole_body import Course, Legged
from stickslip.errors import expected, number
from stickslip.model.model import Model, State

DIAGONALS = ((0, 3), (1, 2))
SPARED = 1e-2
"""Smallest share of the load that a standing foot is assumed to bear; its inverse is the largest weight."""


class Gait(NamedTuple):
    """When and where the feet stand, at n instants."""

    time: np.ndarray
    """(n,) [s]."""
    stance: np.ndarray
    """(n, 4) whether each foot stands."""
    weight: np.ndarray
    """(n, 4) weights of the contact forces."""
    feet: Course
    """Feet, (n, 4, 3)."""
    com: Course
    """Centre of mass, (n, 3): a steady advance, not yet balanced."""


def gait(
    com: np.ndarray, feet: np.ndarray, *, speed: float, duration: float, clearance: float, swing: float, overlap: float,
    stand: float,
) -> Gait:  # fmt: skip
    """The gait from a centre of mass (3,) and feet (4, 3) at rest, with as many steps as fit between both stands."""
    swing, overlap, stand = (SAMPLE * max(1, round(x / SAMPLE)) for x in (swing, overlap, stand))
    period = swing + overlap
    n = 1 + round(duration / SAMPLE)
    time = SAMPLE * np.arange(n)
    steps = int((time[-1] - 2 * stand + overlap) / period + 1e-6)
    if steps < 3:
        raise expected("duration", f"{3 * period + 2 * stand:.3g} s or more: three steps", duration)
    last = stand + (steps - 1) * period
    advance = cruise(time, stand, last, min(2 * period, (last - stand) / 2))
    center, course = Course.at_rest(com, n), Course.at_rest(feet, n)
    for part, law in zip(center, advance, strict=True):
        part[:, 0] += speed * law
    stance, since = np.ones((n, 4), dtype=bool), np.full((n, 4), np.inf)
    for step in range(steps):
        first = round((stand + step * period) / SAMPLE)
        span = slice(first, first + round(swing / SAMPLE) + 1)
        end = span.stop - 1
        forward, upward = ease(time[span] - time[first], swing), bump(time[span] - time[first], swing)
        under_hip = speed * np.interp(stand + (step + 1) * period + swing / 2, time, advance.value)
        for f in DIAGONALS[step % 2]:
            length = feet[f, 0] + under_hip - course.position[first, f, 0]
            for part, x, z in zip(course, forward, upward, strict=True):
                part[span, f, 0] += length * x
                part[span, f, 2] += clearance * z
            course.position[end + 1 :, f, 0] += length
            stance[first + 1 : end, f] = False
            since[: first + 1, f] = np.minimum(since[: first + 1, f], time[first] - time[: first + 1])
            since[end:, f] = np.minimum(since[end:, f], time[end:] - time[end])
    share = np.maximum(ease(since, overlap).value, SPARED)
    return Gait(time, stance, np.where(stance, 1.0 / share, np.inf), course, center)


def plan_trot(
    model: Model, *, speed: float = 0.3, duration: float = 3.0, clearance: float = 0.05, swing: float = 0.16,
    overlap: float = 0.04, stand: float = 0.2, friction: float = 1.0, feet: Sequence[str] = SOLO12_FEET,
) -> Plan:  # fmt: skip
    """The planned motion without a controller; the arguments are those of ``trot``."""
    number("speed", speed, "a finite number [m/s]")
    lengths = {"duration": duration, "clearance": clearance, "swing": swing, "overlap": overlap, "stand": stand}
    for name, value in lengths.items():
        number(name, value, "a positive number", above=0.0)
    number("friction", friction, "a positive number", above=0.0)
    if len(feet) != 4:
        raise expected("feet", "four frames: front left, front right, hind left, hind right", feet)
    robot = Legged(model, feet)
    start, com0, feet0 = standing_start(robot)
    g = gait(
        com0, feet0, speed=speed, duration=duration, clearance=clearance, swing=swing, overlap=overlap, stand=stand
    )
    com, motion = balance(robot, g.time, g.stance, g.com, g.feet, start)
    return complete(robot, g.time, g.stance, g.weight, com, g.feet, motion, friction)


def trot(
    model: Model, *, control_dt: float = 2e-3, weights: Weights | None = None, **options
) -> tuple[LinearFeedback, State]:
    """A trot along x from home: the controller, to be called every ``control_dt`` [s], and the initial state.

    ``speed`` [m/s] is reached within two steps and given up before the end, ``duration`` [s] includes ``stand`` [s] on
    all feet at both ends. A foot swings for ``swing`` [s] up to ``clearance`` [m]; all stand for ``overlap`` [s]
    between two steps. ``friction`` bounds the planned contact forces; ``feet`` names the contact points, front left,
    front right, hind left, hind right.

    >>> controller, start = trot(model, speed=0.3, duration=3.0)
    >>> log = sim.run(3.0, controller=controller, control_dt=2e-3)
    """
    control_dt = number("control_dt", control_dt, "a positive number of seconds", above=0.0)
    plan = plan_trot(model, **options)
    return LinearFeedback(plan.reference(control_dt, weights)), model.state()


def tracked_trot(
    model: Model, *, kp: float, kd: float, control_dt: float = 2e-3, **options
) -> tuple[LinearFeedback, State]:
    """A controller for the motion of ``trot`` in which the joints alone follow the plan, by its torques and by PD
    control with kp [N m/rad] and kd [N m s/rad].

    It takes a third of the time to plan. After a push, nothing brings the base back.
    """
    control_dt = number("control_dt", control_dt, "a positive number of seconds", above=0.0)
    kp, kd = number("kp", kp, "a number ≥ 0", least=0.0), number("kd", kd, "a number ≥ 0", least=0.0)
    return LinearFeedback(plan_trot(model, **options).tracking(control_dt, kp, kd)), model.state()
