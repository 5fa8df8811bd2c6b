"""Functions of time with their first two derivatives, from which planned motions are made."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Law(NamedTuple):
    """A function of time with its first two derivatives."""

    value: np.ndarray
    rate: np.ndarray
    """First derivative [1/s]."""
    second: np.ndarray
    """Second derivative [1/s²]."""


def ease(t: np.ndarray | float, duration: float) -> Law:
    """From 0 to 1 in ``duration`` seconds, at rest before and after: 10s³ − 15s⁴ + 6s⁵."""
    s = np.clip(t / duration, 0.0, 1.0)
    value, rate, second = s**3 * (10 - 15 * s + 6 * s * s), 30 * (s * (1 - s)) ** 2, 60 * s * (1 - s) * (1 - 2 * s)
    return Law(value, rate / duration, second / duration**2)


def bump(t: np.ndarray | float, duration: float) -> Law:
    """From 0 to 1 and back in ``duration`` seconds, at rest before and after: 64s³(1 − s)³."""
    s = np.clip(t / duration, 0.0, 1.0)
    w, d = s * (1 - s), 1 - 2 * s
    return Law(64 * w**3, 192 * w * w * d / duration, 384 * w * (d * d - w) / duration**2)


def cruise(t: np.ndarray, start: float, stop: float, ramp: float) -> Law:
    """Distance at unit speed, reached in ``ramp`` seconds from ``start`` and lost in as many before ``stop`` [s]."""

    def taken_up(t: np.ndarray) -> tuple[np.ndarray, ...]:
        s = t / ramp
        inside = np.clip(s, 0.0, 1.0)
        distance = ramp * (inside**4 * (2.5 - 3 * inside + inside**2) + np.maximum(s - 1.0, 0.0))
        speed = ease(t, ramp)
        return distance, speed.value, speed.rate

    return Law(*(a - b for a, b in zip(taken_up(t - start), taken_up(t - stop + ramp), strict=True)))


def quintic(t: np.ndarray, duration: float, start: tuple[float, ...], end: tuple[float, ...]) -> Law:
    """The polynomial of degree five between two (value, rate, second), on 0 ≤ t ≤ duration."""

    def rows(t: float) -> list[list[float]]:
        return [
            [1, t, t**2, t**3, t**4, t**5],
            [0, 1, 2 * t, 3 * t**2, 4 * t**3, 5 * t**4],
            [0, 0, 2, 6 * t, 12 * t**2, 20 * t**3],
        ]

    p = np.polynomial.Polynomial(np.linalg.solve(rows(0.0) + rows(duration), [*start, *end]))
    return Law(p(t), p.deriv()(t), p.deriv(2)(t))


def piecewise(t: np.ndarray, corner: np.ndarray, second: np.ndarray) -> Law:
    """From rest at 0, with a second derivative that is linear between its values at the corners [s]."""
    width, slope = np.diff(corner), np.diff(second) / np.diff(corner)
    rate = np.concatenate([[0.0], np.cumsum(width * (second[1:] + second[:-1]) / 2)])
    value = np.concatenate([[0.0], np.cumsum(width * (rate[:-1] + width * (2 * second[:-1] + second[1:]) / 6))])
    k = np.clip(np.searchsorted(corner, t, side="right") - 1, 0, len(width) - 1)
    s = t - corner[k]
    return Law(
        value[k] + s * (rate[k] + s * (second[k] / 2 + s * slope[k] / 6)),
        rate[k] + s * (second[k] + s * slope[k] / 2),
        second[k] + s * slope[k],
    )
