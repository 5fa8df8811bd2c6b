"""``solve_ess``: initial-value problems of event-selected systems, in the manner of SciPy's ``solve_ivp``."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numba
import numpy as np
from numba import types

from stickslip._jit import compiled, kernel, kind_of
from stickslip.errors import expected, number
from stickslip.ess.arrays import FULL, STEP, TIME, grown, make_flow, make_rules, make_trace, make_work
from stickslip.ess.integrate import begin, integrate, keep
from stickslip.ess.result import EssResult, make_result
from stickslip.ess.system import Function, System, signatures

ROWS = 4096
"""Initial capacity of the trace; memory that is not written to costs nothing."""


def solve_ess(
    f: Function,
    h: Function | None,
    Dh: Function | None,
    t_span,
    x0,
    eps=None,
    *,
    args: tuple = (),
    reset=None,
    crossed=None,
    t_eval=None,
    dense_output: bool = False,
    rtol: float = 1e-6,
    atol=1e-9,
    first_step: float | None = None,
    max_step: float = np.inf,
    liveness: float = 0.0,
    trust: float = 0.1,
    max_steps: int = 1_000_000,
    max_crossings: int | None = None,
) -> EssResult:
    """Integrate ẋ = f(x, b) through the guards h(x) = 0, where b (m,) says which of them have been crossed.

    * ``f(x, b, *args)`` → (n,); ``h(x, *args)`` → (m,), or None for no guards; ``Dh(x, *args)`` → (m, n), or None for
      differences. Guard k is crossed where h_k rises through 0. The functions are all plain Python, or all
      ``numba.njit``; the latter run in one compiled loop, ``args`` must then be numbers and arrays, and new values of
      them compile nothing.
    * ``t_span``: (start, end); ``x0`` (n,).
    * ``eps``: the distance from a guard at which the state is projected through it. By default it is chosen at every
      step from the guard's speed, such that the projection's error is a tenth of the tolerance. A number, or (m,), in
      the units of h, gives it; the error of a crossing is O(ε²). With 0 all crossings are located exactly, one at a
      time.
    * ``reset`` (m, m): crossing guard i arms guard j again if reset[i, j]; or, for each guard, a list of those that it
      arms. By default each guard is crossed at most once.
    * ``crossed`` (m,): the initial mask; by default h(x0) ≥ 0.
    * ``t_eval``, ``dense_output``, ``rtol``, ``atol``, ``first_step``, ``max_step``: as in SciPy's ``solve_ivp``.
    * ``liveness``: c in ∇h·f > c, which must hold near guards. ``trust``: a projection that misses its guard by more
      than this fraction of ε is undone, and the crossing is located exactly; with inf it never is, as in the paper.
    * ``max_steps``, ``max_crossings``: limits at which the integration stops.

    The result has t, y (n, N), sol, crossings, violations, status, message, …: see ``EssResult``.
    """
    system = System(f, h, Dh, args)
    start, end = _span(t_span)
    x0 = _vector("x0", x0)
    values = system.size(x0)
    n, m = system.n, system.m
    mask = values >= 0.0 if crossed is None else _mask("crossed", crossed, m)
    system.check(x0, mask)
    widths = np.zeros(m) if eps is None else _each("eps", eps, m, least=0.0)
    table = _table("reset", reset, m)
    times = None if t_eval is None else _times(t_eval, start, end)
    rules = make_rules(
        widths, table, _each("atol", atol, n, least=0.0),
        rtol=number("rtol", rtol, "a number ≥ 0", least=0.0),
        longest=_positive("max_step", max_step),
        liveness=number("liveness", liveness, "a number ≥ 0", least=0.0),
        trust=_positive("trust", trust),
        most_steps=_positive("max_steps", max_steps),
        most_crossings=np.inf if max_crossings is None else _positive("max_crossings", max_crossings),
        chosen=np.full(m, eps is None),
    )  # fmt: skip
    if not np.all(rules.atol > 0.0):
        raise expected("atol", "a number > 0", atol, "where x is 0, rtol alone would ask for no error at all")
    flow, work = make_flow(n, m), make_work(n, m)
    trace = make_trace(ROWS, n, m, dense_output or times is not None)
    flow.x[:] = x0
    flow.crossed[:] = mask
    flow.clock[TIME] = start
    flow.clock[STEP] = 0.0 if first_step is None else _positive("first_step", first_step)
    keep(flow, trace, work, 0.0)
    run, calls = _runner(system), system.callbacks()
    begin(lambda args, x, h: np.copyto(h, values), system.args, rules, flow)
    while (status := run(*calls, system.args, rules, flow, trace, work, end)) == FULL:
        trace = grown(trace)
    return make_result(system, rules, flow, trace, mask, status, times, dense_output)


def _runner(system: System) -> Function:
    """The integration loop for Python functions, or the compiled one for these types of arguments."""
    if not system.compiled:
        return lambda field, guards, slopes, *rest: integrate(field, guards, slopes, lambda *arguments: None, *rest)
    return _compiled(kind_of(system.args))


@kernel
def stay(args, elapsed, x, crossed):
    """Callback for accepted points that does nothing."""


def run(field, guards, slopes, system, rules, flow, trace, work, t_end):
    return integrate(field, guards, slopes, stay, system, rules, flow, trace, work, t_end)


@lru_cache
def _compiled(args: Any) -> Function:
    """``run`` compiled for functions with arguments of these types; cached across processes."""
    functions = signatures(args)
    no_rules = make_rules(np.zeros(0), [], np.zeros(0))
    arrays = [numba.typeof(v) for v in (no_rules, make_flow(0, 0), make_trace(0, 0, 0, False), make_work(0, 0))]
    return compiled(types.int64(*functions, args, *arrays, types.float64), run)


def _span(t_span) -> tuple[float, float]:
    span = np.asarray(t_span, dtype=float)
    if span.shape != (2,) or not np.all(np.isfinite(span)) or not span[1] > span[0]:
        raise expected("t_span", "(start, end), finite, the end later than the start", t_span)
    return float(span[0]), float(span[1])


def _vector(what: str, value) -> np.ndarray:
    x = np.array(value, dtype=float)
    if x.ndim != 1 or not len(x) or not np.all(np.isfinite(x)):
        raise expected(what, "finite numbers (n,), at least one", value)
    return x


def _each(what: str, value, size: int, least: float) -> np.ndarray:
    """(size,) from a number or an array."""
    numbers = np.asarray(value, dtype=float)
    if numbers.shape not in ((), (size,)) or not np.all(np.isfinite(numbers)) or np.any(numbers < least):
        raise expected(what, f"a finite number ≥ {least:g}, or ({size},) of them", value)
    return np.broadcast_to(numbers, (size,)).copy()


def _positive(what: str, value: float) -> float:
    if not isinstance(value, int | float | np.number) or not value > 0.0:
        raise expected(what, "a number > 0", value)
    return float(value)


def _mask(what: str, value, m: int) -> np.ndarray:
    mask = np.asarray(value)
    if mask.shape != (m,) or not np.all((mask == 0) | (mask == 1)):
        raise expected(what, f"({m},) of True or False", value)
    return mask.astype(bool)


def _table(what: str, value, m: int) -> np.ndarray | list[list[int]]:
    if value is None:
        return [[]] * m
    if isinstance(value, list | tuple) and len(value) == m and not all(np.shape(row) == (m,) for row in value):
        rows = [list(row) for row in value]
        if any(guard not in range(m) or guard == k for k, row in enumerate(rows) for guard in row):
            raise expected(what, f"for each guard the others that it arms, from 0 to {m - 1}", value)
        return rows
    table = np.asarray(value)
    if table.shape != (m, m) or (table.dtype != bool and not np.all((table == 0) | (table == 1))):
        raise expected(what, f"({m}, {m}) of True or False: does crossing the row's guard arm the column's?", value)
    if np.any(np.diag(table)):
        raise expected(what, "False on the diagonal: a guard that arms itself is crossed for ever", value)
    return table


def _times(t_eval, start: float, end: float) -> np.ndarray:
    times = np.asarray(t_eval, dtype=float)
    if times.ndim != 1 or np.any(np.diff(times) <= 0.0) or np.any(times < start) or np.any(times > end):
        raise expected("t_eval", f"increasing times (k,) from {start:g} to {end:g}", t_eval)
    return times
