"""Exact flows: of affine systems by matrix exponentials between crossings, the hopper's in closed form at any time.

Affine (Tab. 4.1, three legs): in each region ẋ = A·x + c, so (x, 1)(t) = exp(t·[A c; 0 0])·(x, 1); the next crossing is
the first root of an armed guard along it. Hopper from rest at z₀: falls for t_f = √(2·(z₀ − L₀)/g), stance lasts
2·(π − atan(v·ω/g))/ω with v = g·t_f and ω = √(k/m), then it rises as it fell; the motion repeats.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import expm
from scipy.optimize import brentq

from stickslip.lab.papers.event_selected.systems import GRAVITY, LENGTH, table_field, table_guards

Field = Callable[[np.ndarray, np.ndarray], Any]
Guards = Callable[[np.ndarray], Any]
SEARCH = 1e-3
"""Time between the places where a guard is evaluated before its root is sought [s]."""


class Flow(NamedTuple):
    """A trajectory of an affine event-selected system of n states, piece by piece."""

    starts: np.ndarray
    """(pieces,) [s]."""
    states: np.ndarray
    """(pieces, n + 1): state at its start, and 1."""
    generators: np.ndarray
    """(pieces, n + 1, n + 1)."""
    guards: tuple[int, ...]
    """Crossed at the starts of all pieces but the first."""

    def __call__(self, times: np.ndarray) -> np.ndarray:
        """(n, k) states at ``times`` (k,) [s]."""
        piece = np.searchsorted(self.starts, times, side="right") - 1
        since = (times - self.starts[piece])[:, None, None]
        return np.einsum("kij,kj->ik", expm(since * self.generators[piece]), self.states[piece])[:-1]


def generator(field: Field, n: int, crossed: np.ndarray) -> np.ndarray:
    """(n + 1, n + 1) of the affine field in a region."""
    result = np.zeros((n + 1, n + 1))
    result[:n, n] = field(np.zeros(n), crossed)
    for i in range(n):
        result[:n, i] = np.subtract(field(np.eye(n)[i], crossed), result[:n, n])
    return result


def first_root(guards: Guards, flow: np.ndarray, state: np.ndarray, guard: int, end: float) -> float:
    """When a guard is met [s]; inf: not until ``end``."""

    def value(time: float) -> float:
        return guards((expm(time * flow) @ state)[:-1])[guard]

    further, x = expm(SEARCH * flow), state
    for k in range(int(np.ceil(end / SEARCH))):
        x = further @ x
        if guards(x[:-1])[guard] >= 0.0:
            return float(brentq(value, k * SEARCH, (k + 1) * SEARCH, xtol=1e-15, rtol=1e-14))
    return np.inf


def affine_flow(field: Field, guards: Guards, start: np.ndarray, end: float, reset: np.ndarray | None = None) -> Flow:
    """The flow from ``start`` (n,) to ``end`` [s]. ``reset`` (m, m) says which guards each crossing arms again; these
    must be away from their guards for longer than SEARCH."""
    values = np.array(guards(start))
    crossed, n = values >= 0.0, len(start)
    reset = np.zeros((len(values), len(values)), dtype=bool) if reset is None else reset
    time, state = 0.0, np.append(start, 1.0)
    starts, states, generators = [time], [state], [generator(field, n, crossed)]
    order: list[int] = []
    while True:
        flow = generators[-1]
        found = [(first_root(guards, flow, state, int(k), end - time), int(k)) for k in np.flatnonzero(~crossed)]
        elapsed, guard = min(found, default=(np.inf, -1))
        if time + elapsed > end:
            return Flow(np.array(starts), np.array(states), np.array(generators), tuple(order))
        time, state = time + elapsed, expm(elapsed * flow) @ state
        crossed[reset[guard]] = False
        crossed[guard] = True
        order.append(guard)
        starts.append(time)
        states.append(state)
        generators.append(generator(field, n, crossed))


def table_flow(start: np.ndarray, end: float) -> Flow:
    """The flow of Tab. 4.1 from ``start`` (3,) to ``end`` [s]."""
    return affine_flow(table_field, table_guards, start, end)


class Hop(NamedTuple):
    """A hopper of 1 kg that starts at rest at ``height`` [m]."""

    stiffness: float
    """k/m [1/s²]."""
    height: float

    @property
    def touchdown(self) -> float:
        """Time of the fall [s]."""
        return float(np.sqrt(2.0 * (self.height - LENGTH) / GRAVITY))

    @property
    def stance(self) -> float:
        """Time of a stance [s]."""
        omega = np.sqrt(self.stiffness)
        return float(2.0 * (np.pi - np.arctan(self.touchdown * omega)) / omega)

    @property
    def period(self) -> float:
        """Time of a whole hop [s]."""
        return 2.0 * self.touchdown + self.stance

    @property
    def lowest(self) -> float:
        """Lowest height [m]."""
        return float(self(np.array([0.5 * self.period]))[0, 0])

    def __call__(self, times: np.ndarray) -> np.ndarray:
        """(2, k): z [m] and ż [m/s] at ``times`` (k,) [s]."""
        phase = np.mod(times, self.period)
        air = np.where(phase > 0.5 * self.period, phase - self.period, phase)
        g, omega, fall = GRAVITY, np.sqrt(self.stiffness), self.touchdown
        since = omega * (phase - fall)
        sag, dip = g / self.stiffness, g * fall / omega
        stance = np.array([
            LENGTH - sag + sag * np.cos(since) - dip * np.sin(since),
            -omega * (sag * np.sin(since) + dip * np.cos(since)),
        ])  # fmt: skip
        return np.where(np.abs(air) < fall, [self.height - 0.5 * g * air**2, -g * air], stance)
