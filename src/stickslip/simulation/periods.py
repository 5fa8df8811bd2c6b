"""Time steps and periods: round defaults, and periods as whole numbers of steps."""

from __future__ import annotations

from math import ceil, floor, log10

from stickslip.errors import expected, number

TOLERANCE = 1e-6
"""Largest relative deviation of a period from a whole number of steps."""


def round_step(limit: float, longest: float = 1e-3) -> float:
    """The largest of 1, 2, 5 × 10ⁿ [s] that is at most half the limit, and at most ``longest``."""
    target = min(longest, 0.5 * limit) * (1 + 1e-9)
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
