"""The first-order derivative of the flow of an event-selected system along a trajectory.

The derivative follows the variational equation between crossings and the saltation matrix at each
(``corner.saltation``):

    ẋ = f(x, b),  Φ̇ = Df(x, b)·Φ,  Φ(t_i) = I;      Ξ_i = I + (f⁺ − f⁻)·η/(η·f⁻) at crossing i
    D = Φ_k Ξ_k … Φ_1 Ξ_1 Φ_0,    x(t_f; x0 + δx) ≈ x(t_f; x0) + D·δx

Crossings within ``simultaneous`` seconds form a group, whose order depends on the displacement. There D is only the
product in the order of this trajectory, and the derivative is the map B(δx): at each group the corner
(``corner.Corner``) at its first crossing, then the nominal flows inside the group, and between groups the matrices
above. B is continuous and piecewise linear; it is the limit of one-sided differences.

Accuracy: Φ is integrated anew from every crossing to the next, so that the straight segments of projections are
replaced by the flow. The error is that of the crossings' states, O(ε²), like the trajectory's. A group that lasts for a
time T has an error of O(T) if its order is not the nominal one. ``defect`` is the distance of the ends of these flows
from the crossings of the result.

Sizes: n states, k crossings. Cost: n + n² equations per piece.
References: those of ``corner``. Differs from the paper in: the paper (Anderson and Revzen, Sec. 2 and 7) says that the
derivative can be computed, but does not compute it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numba
import numpy as np

from stickslip.errors import expected, number
from stickslip.ess.corner import Corner, corner, saltation
from stickslip.ess.result import Crossings, EssResult
from stickslip.ess.solve import solve_ess
from stickslip.ess.system import DIFFERENCE, Function, System

SIMULTANEOUS = 1e-6
"""Fraction of a trajectory's duration within which crossings count as simultaneous by default."""
ROUNDING = 1e-9
"""Tolerance of h at a crossing that was located exactly, relative to times and states."""


@dataclass(frozen=True)
class BDerivative:
    """First-order derivative of the end of a trajectory by its beginning; sizes: n states, k crossings."""

    matrix: np.ndarray
    """(n, n) D, the product in the order of the trajectory."""
    saltations: np.ndarray
    """(k, n, n) Ξ of each crossing."""
    flows: np.ndarray
    """(k + 1, n, n) Φ from each crossing to the next."""
    groups: tuple[tuple[int, ...], ...]
    """Groups of simultaneous crossings, mostly single ones; 0 is the first crossing not before ``result.t[0]``."""
    corners: tuple[Corner, ...]
    """Corners of the groups of two or more crossings."""
    pieces: tuple[np.ndarray, ...]
    """(n, n) matrices of the flow before, between and behind these corners."""
    defect: float
    """Largest component of the distance between the ends of the flows and the crossings of the result."""

    def __call__(self, dx: Any) -> np.ndarray:
        """B(δx) for one displacement (n,) of the beginning, or for the columns of (n, c)."""
        return self._follow(dx, Corner.__call__)

    def finite(self, dx: Any) -> np.ndarray:
        """The piecewise affine map of displacements as small as the distances between near-simultaneous guards."""
        return self._follow(dx, Corner.finite)

    def _follow(self, dx: Any, through: Callable[[Corner, np.ndarray], np.ndarray]) -> np.ndarray:
        values, n = np.asarray(dx, dtype=float), len(self.matrix)
        if values.ndim not in (1, 2) or values.shape[0] != n:
            raise expected("dx", f"({n},) or ({n}, columns)", values.shape)
        values = self.pieces[0] @ values
        for at, piece in zip(self.corners, self.pieces[1:], strict=True):
            values = piece @ through(at, values)
        return values


def b_derivative(
    result: EssResult,
    Df: Function | None = None,
    *,
    simultaneous: float | None = None,
    liveness: float = 0.0,
    rtol: float = 1e-10,
    atol: float = 1e-12,
) -> BDerivative:
    """The derivative of ``result.y[:, -1]`` by ``result.y[:, 0]`` at fixed times and fixed initial mask.

    ``Df(x, b, *args)`` is ∂f/∂x (n, n); without it central differences of f are used. ``simultaneous`` [time] is the
    largest distance of crossings in a group, by default 1e-6 of the whole time. It is an error if ∇h·f ≤ ``liveness``
    at a crossing or at a corner that a displacement reaches, or if a crossing is away from its guard. ``rtol`` and
    ``atol`` are those of the variational equation."""
    if result.status < 0:
        raise expected("result", "an integration that succeeded", result.message, "there is no end to differentiate")
    if len(result.t) < 2:
        raise expected("result", "two times at least", result.t, "give t_eval its beginning and its end")
    system, t = result.system, result.t
    n, near = system.n, SIMULTANEOUS * float(t[-1] - t[0])
    if simultaneous is not None:
        near = number("simultaneous", simultaneous, "a time ≥ 0", least=0.0)
    live = number("liveness", liveness, least=0.0)
    crossings = result.crossings.between(t[0], t[-1])
    times = [float(t[0]), *map(float, crossings.t), float(t[-1])]
    states = [result.y[:, 0], *crossings.x, result.y[:, -1]]
    masks = [crossings.start, *crossings.after]
    if Df is not None and (shape := np.shape(Df(states[0].copy(), masks[0].copy(), *system.args))) != (n, n):
        raise expected("Df(x, b)", f"a matrix ({n}, {n})", shape)
    flow = Flow(system, Df, rtol, atol)
    flows, defect = np.empty((len(masks), n, n)), 0.0
    for i, (start, end) in enumerate(pairwise(times)):
        x, flows[i] = flow(start, end, states[i], masks[i])
        defect = max(defect, float(np.abs(x - states[i + 1]).max()))
    jumps = saltations_at(crossings, system, live)

    groups = group(crossings, result.reset, near)
    corners: list[Corner] = []
    pieces = [flows[0]]
    matrix = flows[0]
    for members in groups:
        for i in members:
            matrix = flows[i + 1] @ jumps[i] @ matrix
        if len(members) == 1:
            pieces[-1] = flows[members[0] + 1] @ jumps[members[0]] @ pieces[-1]
            continue
        at, before = crossings.x[members[0]], crossings.before[members[0]]
        guards = crossings.guard[list(members)]
        options: dict[str, Any] = {"h": system.h, "liveness": live}
        corners.append(corner(system.f, system.Dh, at, before, guards, result.reset, **options))
        inner = np.eye(n)
        for i in members:
            inner = flows[i + 1] @ inner
        pieces.append(inner)
    return BDerivative(matrix, jumps, flows, groups, tuple(corners), tuple(pieces), defect)


def saltations_at(crossings: Crossings, system: System, liveness: float) -> np.ndarray:
    """(k, n, n) Ξ of each crossing.

    The crossing must have happened at its guard, h ≈ 0, because only then is η·δ its delay. A projection misses its
    guard by much less than its own length, but another guard's projection may have been longer; the tolerance is
    therefore the duration of the longest possible projection."""
    jumps = np.empty((len(crossings.guard), system.n, system.n))
    missed, rates, rounding = np.zeros((3, len(jumps)))
    masks = zip(crossings.before, crossings.after, strict=True)
    for i, (k, x, (before, after)) in enumerate(zip(crossings.guard, crossings.x, masks, strict=True)):
        f, eta = system.f(x, before), system.Dh(x)[k]
        jumps[i] = saltation(f, system.f(x, after), eta, liveness)
        missed[i], rates[i], rounding[i] = system.h(x)[k], eta @ f, ROUNDING * (np.abs(eta) @ np.abs(x))
    longest = 10.0 * (crossings.rules.widest[crossings.guard] / rates).max(initial=0.0)
    slack = rates * (longest + ROUNDING * np.maximum(1.0, np.abs(crossings.t))) + rounding
    for i in np.flatnonzero(~(np.abs(missed) <= slack)).tolist():
        what = f"h of guard {crossings.guard[i]} where it is crossed, t = {crossings.t[i]:g}"
        remedy = "a guard that is not crossed at 0 has no derivative by its gradient; was it armed beyond 0?"
        raise expected(what, f"0 ± {slack[i]:.1g}", float(missed[i]), remedy)
    return jumps


def group(crossings: Crossings, reset: np.ndarray, near: float) -> tuple[tuple[int, ...], ...]:
    """Groups of crossings that last ``near`` at most; a guard that was armed by another crossing begins a new group."""
    groups: list[list[int]] = []
    for i, (k, t) in enumerate(zip(crossings.guard, crossings.t, strict=True)):
        members = groups[-1] if groups else []
        others = crossings.guard[members]
        waiting = members and k not in others and not crossings.before[members[0], k]
        free = not reset[k, others].any() and not reset[others, k].any()
        if waiting and free and t - crossings.t[members[0]] <= near:
            members.append(i)
        else:
            groups.append([i])
    return tuple(map(tuple, groups))


class Flow:
    """x and Φ along one smooth piece, by ``solve_ess``; compiled if f and Df are.

    The mask belongs to dummy guards that are never reached, so that f receives it as usual."""

    def __init__(self, system: System, Df: Function | None, rtol: float, atol: float) -> None:
        self.system, self.rtol, self.atol = system, rtol, atol
        compiled = system.compiled and (Df is None or isinstance(Df, numba.core.dispatcher.Dispatcher))
        self.functions = (
            compiled_flow(system.functions[0], Df, system.n, system.m) if compiled else python_flow(system, Df)
        )
        self.args = system.args if compiled else ()

    def __call__(self, start: float, end: float, x: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        n = self.system.n
        both = np.concatenate([x, np.eye(n).ravel()])
        if end > start:
            piece = solve_ess(
                *self.functions, (start, end), both, 0.0,
                args=self.args, crossed=mask, rtol=self.rtol, atol=self.atol,
            )  # fmt: skip
            if not piece.success:
                raise expected(f"the variational equation from t = {start:g}", "a solution", piece.message)
            both = piece.x
        return both[:n], both[n:].reshape(n, n)


def python_flow(system: System, Df: Function | None) -> tuple[Function, Function, Function]:
    n, m = system.n, system.m

    def slope(x: np.ndarray, b: np.ndarray) -> np.ndarray:
        if Df is not None:
            return np.asarray(Df(x, b, *system.args), dtype=float)
        steps = DIFFERENCE * np.maximum(1.0, np.abs(x))
        sides = zip(x + np.diag(steps), x - np.diag(steps), steps, strict=True)
        return np.array([(system.f(up, b) - system.f(down, b)) / (2.0 * step) for up, down, step in sides]).T

    def field(both: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.concatenate([system.f(both[:n], b), (slope(both[:n], b) @ both[n:].reshape(n, n)).ravel()])

    return field, lambda both: np.full(m, -1.0), lambda both: np.zeros((m, n + n * n))


@lru_cache(maxsize=64)
def compiled_flow(f: Function, Df: Function | None, n: int, m: int) -> tuple[Function, Function, Function]:
    """The flow and its derivative of compiled functions; it is compiled once for each pair of them."""
    if Df is not None:

        @numba.njit(error_model="numpy")
        def slope(x, b, matrix, args):
            values = Df(x, b, *args)
            for i in range(n):
                for j in range(n):
                    matrix[i, j] = values[i][j]
    else:

        @numba.njit(error_model="numpy")
        def slope(x, b, matrix, args):
            at = x.copy()
            for j in range(n):
                step = DIFFERENCE * max(1.0, abs(x[j]))
                at[j] = x[j] + step
                up = f(at, b, *args)
                for i in range(n):
                    matrix[i, j] = up[i]
                at[j] = x[j] - step
                down = f(at, b, *args)
                for i in range(n):
                    matrix[i, j] = (matrix[i, j] - down[i]) / (2.0 * step)
                at[j] = x[j]

    @numba.njit(error_model="numpy")
    def field(both, b, *args):
        x, out, matrix = both[:n].copy(), np.zeros(n + n * n), np.empty((n, n))
        values = f(x, b, *args)
        slope(x, b, matrix, args)
        for i in range(n):
            out[i] = values[i]
            for k in range(n):
                for j in range(n):
                    out[n + i * n + j] += matrix[i, k] * both[n + k * n + j]
        return out

    @numba.njit
    def nowhere(both, *args):
        return np.full(m, -1.0)

    @numba.njit
    def flat(both, *args):
        return np.zeros((m, n + n * n))

    return field, nowhere, flat
