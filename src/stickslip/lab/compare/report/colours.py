"""The colour of each method, the same in every figure, report and view.

Eight hues that stay apart for the colour-blind, in a light and a dark variant. There are more methods than hues: each
method prefers one, and where two that prefer the same hue meet, the later takes the next free one. From the ninth on
hues repeat, and dashes and marker shapes read_trace_set lines apart.
"""

from __future__ import annotations

from collections.abc import Iterable

from stickslip.methods.registry import METHODS

LIGHT = ("#2a78d6", "#eb6834", "#16a06f", "#d99000", "#d65a8f", "#00780a", "#4a3aa7", "#d63b3b")
DARK = ("#4a94ee", "#e06a3a", "#22b07f", "#d39a1c", "#df6a9d", "#3fa34a", "#9d93f0", "#ec7070")

DASHES = ("", "6 3", "2 3", "8 3 2 3")
MARKERS = ("circle", "square", "triangle", "diamond", "wedge")


def hues(labels: Iterable[str]) -> dict[str, int]:
    """Label → number of its hue; labels are names of methods, ``name`` or ``name/law``, or any words."""
    free = set(range(len(LIGHT)))
    chosen: dict[str, int] = {}
    waiting = []
    for label in labels:
        method = METHODS.get(label.partition("/")[0])
        wish = None if method is None else method.capabilities.colour
        if wish in free:
            free.discard(wish)
            chosen[label] = wish
        else:
            waiting.append((label, 0 if wish is None else wish))
    for label, wish in waiting:
        free = free or set(range(len(LIGHT)))
        hue = min(free, key=lambda h: (h - wish) % len(LIGHT))
        free.discard(hue)
        chosen[label] = hue
    return chosen


def method_colours(labels: Iterable[str], *, dark: bool = False) -> dict[str, str]:
    """Label → ``#rrggbb``, on a light or a dark ground."""
    palette = DARK if dark else LIGHT
    labels = list(labels)
    found = hues(labels)
    return {label: palette[found[label]] for label in labels}


def dashes(labels: Iterable[str]) -> list[str]:
    """SVG dash pattern of each label: none, but for those whose hue another before them has."""
    labels = list(labels)
    found = hues(labels)
    order = [found[label] for label in labels]
    return [DASHES[order[:k].count(hue) % len(DASHES)] for k, hue in enumerate(order)]


def marker(position: int) -> str:
    return MARKERS[position % len(MARKERS)]
