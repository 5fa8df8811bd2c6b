"""A user's event-selected system: checks of f, h and Dh, and the callbacks of the integrator, in Python or compiled."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types

from stickslip._jit import kernel, kind_of
from stickslip.errors import InputError, expected

Function = Callable[..., Any]
DIFFERENCE = np.finfo(float).eps ** (1 / 3)
"""Relative step of central differences."""


class Callbacks(NamedTuple):
    """The functions that the integrator calls."""

    field: Any
    guards: Any
    slopes: Any


class System:
    """A user's f(x, b), h(x), Dh(x) with NumPy arrays in and out and their extra arguments bound.

    ``compiled`` says that all of them are Numba functions.
    """

    def __init__(self, f: Function, h: Function | None, Dh: Function | None, args: tuple) -> None:
        for what, function in (("f", f), ("h", h), ("Dh", Dh)):
            if function is None and what != "f":
                continue
            if not callable(function):
                raise expected(what, "a function", function)
        if not isinstance(args, tuple):
            raise expected("args", "a tuple of further arguments of f, h and Dh", args, "write args=(value,)")
        if h is None and Dh is not None:
            raise InputError("Dh: given without h; expected both, or none")
        self.functions = f, h, Dh
        jitted = [isinstance(function, numba.core.dispatcher.Dispatcher) for function in self.functions if function]
        self.compiled = all(jitted)
        if any(jitted) and not self.compiled:
            raise InputError(
                "f, h, Dh: expected all plain Python functions, or all compiled by numba.njit, got a mixture; "
                "decorate the others, too (or pass function.py_func)"
            )
        self.args = tuple(_plain(value) for value in args) if self.compiled else args
        if self.compiled:
            try:
                kind_of(self.args)
            except ValueError:
                raise expected("args", "numbers and arrays, since f is compiled", args) from None
        self.n = self.m = 0

    def size(self, x0: np.ndarray) -> np.ndarray:
        """Determine n and m; returns h(x0)."""
        h = self.h(x0)
        if h.ndim != 1:
            raise expected("h(x)", "an array (m,), one number per guard", f"shape {h.shape}")
        self.n, self.m = len(x0), len(h)
        return h

    def check(self, x0: np.ndarray, mask: np.ndarray) -> None:
        """Check the shapes of f and Dh at x0 in the region ``mask`` (m,)."""
        dx = self.f(x0, mask)
        if dx.shape != (self.n,):
            raise expected("f(x, b)", f"an array ({self.n},) like x0", f"shape {dx.shape}")
        if self.functions[2] is not None and (rows := self.Dh(x0)).shape != (self.m, self.n):
            raise expected("Dh(x)", f"an array ({self.m}, {self.n}), a row per guard", f"shape {rows.shape}")

    def f(self, x: np.ndarray, b: np.ndarray) -> np.ndarray:
        return _numbers("f(x, b)", self.functions[0](_copy(x), np.array(b, dtype=np.bool_), *self.args))

    def h(self, x: np.ndarray) -> np.ndarray:
        function = self.functions[1]
        return np.zeros(0) if function is None else _numbers("h(x)", function(_copy(x), *self.args))

    def Dh(self, x: np.ndarray) -> np.ndarray:
        function = self.functions[2]
        if function is not None:
            return _numbers("Dh(x)", function(_copy(x), *self.args))
        rows = np.zeros((self.m, self.n))
        for i in range(self.n if self.m else 0):
            low, high = np.array(x, dtype=float), np.array(x, dtype=float)
            low[i] -= DIFFERENCE * max(1.0, abs(x[i]))
            high[i] += DIFFERENCE * max(1.0, abs(x[i]))
            rows[:, i] = (self.h(high) - self.h(low)) / (high[i] - low[i])
        return rows

    def callbacks(self) -> Callbacks:
        if self.compiled:
            return compiled_callbacks(*self.functions, kind_of(self.args))
        return self._python_callbacks()

    def _python_callbacks(self) -> Callbacks:
        f, h, Dh = self.functions

        def write(what: str, value: Any, out: np.ndarray) -> None:
            if np.shape(value) != out.shape:
                raise expected(what, f"an array {out.shape}, as at the start", f"shape {np.shape(value)}")
            out[:] = value

        def field(args, elapsed, x, crossed, dx):
            write("f(x, b)", f(_read_only(x), _read_only(crossed), *args), dx)

        def guards(args, x, values):
            if h is not None:
                write("h(x)", h(_read_only(x), *args), values)

        def slopes(args, x, dx, rates):
            if Dh is not None:
                rates[:] = np.asarray(Dh(_read_only(x), *args)) @ dx
            elif h is not None:
                d = difference(x, dx)
                rates[:] = (np.asarray(h(x + d * dx, *args)) - np.asarray(h(x - d * dx, *args))) / (2.0 * d)

        return Callbacks(field, guards, slopes)


def signatures(args: Any) -> Callbacks:
    """The Numba types of callbacks whose further arguments have the type ``args``."""
    x, b = types.float64[::1], types.boolean[::1]
    return Callbacks(
        types.FunctionType(types.void(args, types.float64, x, b, x)),
        types.FunctionType(types.void(args, x, x)),
        types.FunctionType(types.void(args, x, x, x)),
    )


@kernel
def difference(x, dx):
    """Time step along dx for central differences."""
    size, speed = 1.0, 0.0
    for i in range(x.shape[0]):
        size, speed = max(size, abs(x[i])), max(speed, abs(dx[i]))
    return DIFFERENCE * size / speed if speed > 0.0 else 1.0


@lru_cache(maxsize=64)
def compiled_callbacks(f: Function, h: Function | None, Dh: Function | None, args: Any) -> Callbacks:
    """Wrappers that write into given arrays; what f, h and Dh return may be an array, a tuple or a list.

    ``args`` is the Numba type of their further arguments. A second call with the same functions compiles nothing.
    """

    @numba.njit(error_model="numpy")
    def field(args, elapsed, x, crossed, dx):
        result = f(x, crossed, *args)
        good = len(result) == dx.shape[0]
        for i in range(dx.shape[0]):
            dx[i] = result[i] if good else np.nan

    if h is None:

        @numba.njit
        def guards(args, x, values):
            pass

    else:

        @numba.njit(error_model="numpy")
        def guards(args, x, values):
            result = h(x, *args)
            good = len(result) == values.shape[0]
            for k in range(values.shape[0]):
                values[k] = result[k] if good else np.nan

    if Dh is not None:

        @numba.njit(error_model="numpy")
        def slopes(args, x, dx, rates):
            rows = Dh(x, *args)
            for k in range(rates.shape[0]):
                row, rate = rows[k], 0.0
                for i in range(dx.shape[0]):
                    rate += row[i] * dx[i]
                rates[k] = rate

    else:

        @numba.njit(error_model="numpy")
        def slopes(args, x, dx, rates):
            d, ahead, trial = difference(x, dx), np.empty_like(rates), np.empty_like(x)
            for i in range(x.shape[0]):
                trial[i] = x[i] + d * dx[i]
            guards(args, trial, ahead)
            for i in range(x.shape[0]):
                trial[i] = x[i] - d * dx[i]
            guards(args, trial, rates)
            for k in range(rates.shape[0]):
                rates[k] = (ahead[k] - rates[k]) / (2.0 * d)

    wrappers: list[Any] = [field, guards, slopes]
    for wrapper, kind in zip(wrappers, signatures(args), strict=True):
        result = wrapper.get_compile_result(kind.signature)
        wrapper.get_compile_result = lambda signature, result=result: result  # saves Numba's lookup in every call
    return Callbacks(field, guards, slopes)


def _plain(value: Any) -> Any:
    """The value with arrays made contiguous, so that few types are compiled."""
    return np.ascontiguousarray(value) if isinstance(value, np.ndarray) else value


def _read_only(values: np.ndarray) -> np.ndarray:
    """A view that a user's function may read but not write."""
    view = values.view()
    view.flags.writeable = False
    return view


def _copy(x: Any) -> np.ndarray:
    return np.array(x, dtype=float)


def _numbers(what: str, value: Any) -> np.ndarray:
    try:
        return np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise expected(what, "an array of numbers", value) from None
