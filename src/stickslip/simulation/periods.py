"""Time steps and periods: round defaults, and periods as whole numbers of steps."""

from __future__ import annotations

import shutil
from math import ceil, floor, log10
from pathlib import Path

from stickslip.errors import expected, number
from stickslip.files import memory

TOLERANCE = 1e-6
"""Largest relative deviation of a period from a whole number of steps."""


SHORTEST, LONGEST_STEP = 1e-12, 1e6
"""[s] Time steps that can be asked for."""
MOST_STEPS = 1e10
"""Steps of a run: a day of computing, at 10 µs each."""


def check_run(duration: float, dt: float, frames: float, size: int, place: str | Path | None) -> None:
    """Refuse a run that would not end, or whose ``frames`` of ``size`` bytes fit neither the memory nor the disk."""
    if duration / dt > MOST_STEPS:
        raise expected(
            "a run", f"at most {MOST_STEPS:g} steps", f"{duration:g} s / {dt:g} s = {duration / dt:.2g}",
            "simulate a shorter time, or choose a longer dt",
        )  # fmt: skip
    if frames * size < SMALL:
        return
    if place is None:
        room, where = memory(), "memory"
    else:
        folder = Path(place).absolute().parent
        room, where = shutil.disk_usage(folder).free if folder.is_dir() else SMALL, "disk"
    if frames * size > room:
        raise expected(
            "a recording", f"one that fits the {where}, {room / 2**30:.3g} GiB",
            f"{frames:.2g} frames of {size} bytes", "choose a longer record_dt",
        )  # fmt: skip


SMALL = 2**28
"""[B] A recording that is not looked at."""


def round_step(limit: float, longest: float = 1e-3) -> float:
    """The largest of 1, 2, 5 × 10ⁿ [s] that is at most half the limit, and at most ``longest``."""
    target = min(longest, 0.5 * limit) * (1 + 1e-9)
    if not target >= SHORTEST:  # also where the limit is not a number
        return SHORTEST
    decade = floor(log10(target))
    return max(step for digit in (1, 2, 5) if (step := float(f"{digit}e{decade}")) <= target)


def divides(dt: float, period: float) -> bool:
    n = round(period / dt)
    return n >= 1 and abs(n * dt - period) <= TOLERANCE * period


def dividing_step(dt: float, period: float) -> float:
    """The longest step [s] up to ``dt`` that divides a period; a round number if possible, since users type it."""
    first = max(1, ceil(period / dt * (1 - TOLERANCE)))
    steps = [(n, float(f"{period / n:g}")) for n in range(first, first + 100)]
    return next((step for n, step in steps if abs(n * step - period) <= 1e-12 * period), period / first)


def control_steps(period: float | None, dt: float) -> tuple[int, str]:
    """A controller's period [s] as a whole number of steps, at least one, and a sentence if that changes it."""
    if period is None:
        return whole_steps("control_dt", None, 1e-3, dt), ""
    period = number("control_dt", period, "a positive number of seconds", above=0.0)
    n = max(1, round(period / dt))
    if divides(dt, period):
        return n, ""
    kept = f"dt = {dividing_step(dt, period):.10g} s keeps it"
    return n, f"control_dt = {period:g} s is no multiple of dt = {dt:g} s: it is {n * dt:.10g} s here; {kept}"


def whole_steps(name: str, period: float | None, default: float, dt: float) -> int:
    """A period [s] as a whole number of steps; a default period is rounded."""
    if period is None:
        return max(1, round(default / dt))
    period = number(name, period, "a positive number of seconds", above=0.0)
    if not divides(dt, period):
        near = max(1, round(period / dt)) * dt
        remedy = f"for example {near:.10g}, or dt = {dividing_step(dt, period):.10g}"
        raise expected(name, f"a whole multiple of dt = {dt:g} s", period, remedy)
    return round(period / dt)
