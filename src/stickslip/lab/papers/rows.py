"""Rows of results (dicts of numbers and words): chosen, as columns, as a Markdown table; lines through them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from stickslip.lab.papers.paper import table

Row = dict[str, Any]
Rows = list[Row]


def where(rows: Iterable[Row], **values: Any) -> Rows:
    """The rows that have these values."""
    return [row for row in rows if all(row[key] == value for key, value in values.items())]


def first(rows: Iterable[Row], **values: Any) -> Row:
    """The first row that has these values."""
    return where(rows, **values)[0]


def distinct(rows: Iterable[Row], key: str) -> list[Any]:
    """The values of a column, each once, in the order of the rows."""
    return list(dict.fromkeys(row[key] for row in rows))


def column(rows: Iterable[Row], key: str) -> np.ndarray:
    return np.array([row[key] for row in rows], dtype=float)


def number(value: float | None, digits: int = 3) -> str:
    return "–" if value is None else f"{value:.{digits}g}"


def table_of(rows: Iterable[Row], columns: Mapping[str, str | Callable[[Row], Any]]) -> str:
    """A Markdown table; ``columns`` maps a heading to a format of the row's values, or to a function of the row."""

    def cell(row: Row, show: str | Callable[[Row], Any]) -> str:
        return show.format_map(row) if isinstance(show, str) else str(show(row))

    return table(tuple(columns), [[cell(row, show) for show in columns.values()] for row in rows])


class Line(NamedTuple):
    """A straight line through times over sizes."""

    start: float
    """[ms] at size 0."""
    each: float
    """[ms] per contact or body: the marginal cost."""
    r2: float
    """Coefficient of determination."""


def line(size: np.ndarray, times: np.ndarray) -> Line:
    each, start = np.polyfit(size, times, 1)
    left = times - (start + each * size)
    return Line(float(start), float(each), 1.0 - float(np.sum(left**2) / np.sum((times - times.mean()) ** 2)))


def slope(x: np.ndarray, y: np.ndarray) -> float:
    """Slope of log(y) over log(x)."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])
