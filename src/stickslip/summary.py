"""Summaries: what objects print, as a line, as a few lines, and as a table in notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import NamedTuple

import numpy as np

from stickslip.errors import listed

LONGEST_NAME = 40
"""Characters of a name that are shown."""


class Summary(NamedTuple):
    """What an object says of itself."""

    title: str
    """One line, which is also the ``repr``."""
    rows: dict[str, str]
    """Further facts by name; empty ones are left out."""


class Summarised:
    """An object that prints its ``_summary``."""

    def _summary(self) -> Summary:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{self._summary().title}>"

    def __str__(self) -> str:
        title, rows = self._summary()
        said = {name: text for name, text in rows.items() if text}
        width = max(map(len, said), default=0)
        return "\n".join([title, *(f"  {name:<{width}}  {text}" for name, text in said.items())])

    def _repr_html_(self) -> str:
        title, rows = self._summary()
        cells = "".join(
            f'<tr><th style="text-align:left">{escape(name)}</th><td style="text-align:left">{escape(text)}</td></tr>'
            for name, text in rows.items()
            if text
        )
        return f"<table><caption>{escape(title)}</caption>{cells}</table>"


def counted(names: Iterable[str]) -> str:
    """``3: a, b, c``; empty if there are none."""
    every = [name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…" for name in names]
    return f"{len(every)}: {listed(every)}" if every else ""


def plural(n: int, what: str) -> str:
    """``1 link``, ``2 links``, ``2 bodies``."""
    many = f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"
    return f"{n} {what if n == 1 else many}"


def numbers(array: np.ndarray) -> str:
    """A short text of an array of one axis: all of a few numbers, the first and last of many."""
    shown = np.array2string(np.asarray(array), precision=4, threshold=8, edgeitems=3, max_line_width=200)
    return shown if array.size <= 8 else f"{shown} ({array.size})"
