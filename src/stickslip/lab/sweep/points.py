"""The points of a grid, and how their values are written down, so that a file says what it was made for."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from types import CodeType
from typing import Any
from zlib import crc32

import numpy as np

from stickslip.errors import InputError, brief, expected, name_of

EXAMPLE = 'such as {"dt": [1e-3, 2e-3], "method": ["expo", "rk4"]}'
MOST = 10_000_000
"""Largest number of runs."""


def points_of(grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Parameters by name of every run: all combinations of a mapping name → values, the last name varying fastest, or
    the mappings of a list as they are."""
    if isinstance(grid, Mapping):
        axes = {name_of("name in grid", name): _values(name, values) for name, values in grid.items()}
        count = int(np.prod([len(values) for values in axes.values()], dtype=float))
        if not axes or count > MOST:
            raise expected("grid", f"1 to {MOST} runs", count if axes else grid, EXAMPLE)
        return [dict(zip(axes, chosen, strict=True)) for chosen in product(*axes.values())]
    if isinstance(grid, str) or not isinstance(grid, Sequence) or not grid:
        raise expected("grid", "a mapping of names to lists of values, or a list of mappings", grid, EXAMPLE)
    for point in grid:
        if not isinstance(point, Mapping):
            raise expected("grid", "a mapping of names to values for every run", point)
        for name in point:
            name_of("name in grid", name)
    return [dict(point) for point in grid]


def _values(name: str, values: Any) -> list[Any]:
    if isinstance(values, np.ndarray) and values.ndim:
        return list(values) if values.ndim > 1 else values.tolist()
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Sequence | range) or not len(values):
        raise expected(f"grid[{name!r}]", "a list of values, at least one", values, EXAMPLE)
    return list(values)


def written(value: Any, what: str) -> Any:
    """A value as JSON holds it; functions and classes by name. ``what`` is the parameter that an error names."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic | np.ndarray):
        return written(value.tolist(), what)
    if isinstance(value, list | tuple):
        return [written(item, what) for item in value]
    if isinstance(value, Mapping):
        return {str(name): written(item, what) for name, item in value.items()}
    if callable(value) and hasattr(value, "__qualname__"):
        return fingerprint(value)
    wanted = "numbers, texts, lists and mappings of them, functions or classes"
    raise expected(what, wanted, value, "make such objects in the function, from numbers")


def fingerprint(function: Any) -> str:
    """Name and code of a function, so that another one, or an edited one, is noticed. Functions that it calls are not
    looked into."""
    if isinstance(function, partial):
        given = written([list(function.args), dict(function.keywords)], "arguments of partial")
        return f"{fingerprint(function.func)} with {given}"
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    where = getattr(function, "__module__", None) or type(function).__module__
    code = getattr(function, "__code__", None) or getattr(type(function).__call__, "__code__", None)
    parts = [] if code is None else _parts(code)
    for cell in getattr(function, "__closure__", None) or ():
        held = cell.cell_contents
        parts.append(brief(held) if isinstance(held, bool | int | float | str | tuple) else type(held).__qualname__)
    parts.append(brief(getattr(function, "__defaults__", None) or ()))
    # The module of a script is called by another name where it is imported.
    return f"{'' if where == '__main__' else f'{where}.'}{name} #{crc32(repr(parts).encode()):08x}"


def _parts(code: CodeType) -> list[Any]:
    """What decides what a function does: its instructions, the names that it uses, its constants."""
    inner = [_parts(constant) if isinstance(constant, CodeType) else repr(constant) for constant in code.co_consts]
    return [code.co_code.hex(), code.co_names, inner]


def seed_of(seed: int, index: int) -> int:
    """The seed of a run: always the same for the same seed of the sweep and number of the run."""
    return int(np.random.SeedSequence([seed, index]).generate_state(1, np.uint64)[0] >> np.uint64(1))


def check_same(path: str, stored: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Refuse to continue a file that was made for something else."""
    for name in wanted:
        if json.dumps(stored.get(name)) != json.dumps(wanted[name]):  # as texts, since NaN equals nothing
            was, now = stored.get(name), wanted[name]
            if name == "points" and isinstance(was, list):
                was, now = _first_difference(was, wanted[name])
                name = "grid"
            raise InputError(
                f"store {brief(path, 60)}: expected the {name} that it was begun with, {brief(was, 60)}, got "
                f"{brief(now, 60)}; name another store, or delete this one"
            )


def _first_difference(was: list[Any], now: list[Any]) -> tuple[str, str]:
    if len(was) != len(now):
        return f"{len(was)} runs", f"{len(now)} runs"
    k = next(k for k, (one, other) in enumerate(zip(was, now, strict=True)) if json.dumps(one) != json.dumps(other))
    return f"run {k} of {was[k]}", f"{now[k]}"
