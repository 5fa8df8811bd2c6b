"""Charts as inline SVG: lines over linear or logarithmic axes, with colours from the style sheet.

The scales are data attributes, from which the page's script reads values under the pointer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from math import ceil, floor, log10

import numpy as np

from stickslip.lab.compare.report.numbers import plain, power_of_ten, with_unit

WIDE, FLAT, SMALL = (480, 290), (480, 220), (350, 215)
"""(width, height) of charts that stand two or three in a row; text has the same size in all."""
LEFT, RIGHT, TOP, BOTTOM = 56, 14, 26, 38
APART = 46
"""Least distance of two numbers under the x axis [pixels]."""
MOST_POINTS = 420
"""Largest number of points of a line; more could not be seen at this size."""


@dataclass
class Line:
    """A polyline. ``candidate`` is its position in the comparison; None stands for the reference, which is grey."""

    label: str
    x: np.ndarray
    y: np.ndarray
    candidate: int | None = None
    marker: str = ""
    dash: str = ""
    tips: list[str] = field(default_factory=list)
    """Text of each marker, shown under the pointer."""
    shade: int = 0
    """Distinguishes lines of one candidate; 0 is the strongest."""


@dataclass
class Chart:
    title: str
    x_label: str
    y_label: str
    lines: list[Line]
    size: tuple[int, int] = WIDE
    x_unit: str = ""
    y_unit: str = ""
    x_log: bool = False
    y_log: bool = False
    y_limits: tuple[float, float] | None = None
    x_limits: tuple[float, float] | None = None
    levels: list[tuple[float, str]] = field(default_factory=list)
    """Horizontal lines (value, label)."""
    uprights: list[tuple[float, str]] = field(default_factory=list)
    """Vertical lines (value, label)."""
    slopes: list[tuple[float, str]] = field(default_factory=list)
    """Orders drawn as guides in the lower right corner of a logarithmic chart."""

    @property
    def right(self) -> int:
        """x of the right end of the axes [pixels]."""
        return self.size[0] - RIGHT

    @property
    def bottom(self) -> int:
        return self.size[1] - BOTTOM


class Axis:
    """Maps values to pixels."""

    def __init__(self, low: float, high: float, start: float, stop: float, log: bool, unit: str) -> None:
        self.low, self.high, self.start, self.stop, self.log, self.unit = low, high, start, stop, log, unit

    def at(self, values) -> np.ndarray:
        values = np.asarray(values, dtype=float)
        if self.log:
            part = (np.log10(values) - log10(self.low)) / (log10(self.high) - log10(self.low))
        else:
            part = (values - self.low) / (self.high - self.low)
        return self.start + part * (self.stop - self.start)

    def ticks(self, most: int) -> list[tuple[float, str]]:
        return self._log_ticks(most) if self.log else self._linear_ticks(most)

    def _log_ticks(self, most: int) -> list[tuple[float, str]]:
        first, last = ceil(log10(self.low) - 1e-9), floor(log10(self.high) + 1e-9)
        stride = max(1, ceil((last - first + 1) / most))
        values = [10.0**k for k in range(first, last + 1, stride)]
        if len(values) < 3:
            values = [m * 10.0**k for k in range(first - 1, last + 1) for m in (1, 2, 5)]
            values = [v for v in values if self.low <= v * (1 + 1e-9) and v <= self.high * (1 + 1e-9)]
        if len(values) < 2:
            return self._linear_ticks(most)
        if self.unit in ("m", "s", "J", "N", "m/s"):
            return [(v, with_unit(v, self.unit)) for v in values]
        return [(v, plain(v, 1) if 1e-3 <= v <= 1e4 else power_of_ten(round(log10(v)))) for v in values]

    def _linear_ticks(self, most: int) -> list[tuple[float, str]]:
        raw = (self.high - self.low) / most
        power = 10.0 ** floor(log10(raw))
        step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= raw * (1 - 1e-9))
        values = np.arange(ceil(self.low / step - 1e-9), floor(self.high / step + 1e-9) + 1) * step
        digits = max(0, -floor(log10(step) + 1e-9) + (1 if step / power == 2.5 else 0))
        if not -5 < log10(max(abs(self.low), abs(self.high))) < 6:
            return [(v, plain(v, 2)) for v in values]
        return [(v, f"{v:.{digits}f}".replace("-", "−")) for v in values]


def svg(chart: Chart) -> str:
    """One ``<svg>``, or "" if there is nothing to draw."""
    lines = [_finite(line, chart.x_log, chart.y_log) for line in chart.lines]
    lines = [line for line in lines if len(line.x)]
    if not lines:
        return ""
    x_axis, y_axis = _axes(chart, lines)
    width, height = chart.size
    parts = [
        f'<svg class="chart" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(_describe(chart, lines))}" {_scale("x", x_axis)} {_scale("y", y_axis)}>',
        f'<text class="axis-name" x="{LEFT}" y="14">{escape(chart.y_label)}</text>',
        f'<text class="axis-name" x="{chart.right}" y="{height - 6}" text-anchor="end">{escape(chart.x_label)}</text>',
    ]
    parts += _grid(chart, x_axis, y_axis)
    # A nested svg clips the lines without needing an id.
    box = f"{LEFT} {TOP} {chart.right - LEFT} {chart.bottom - TOP}".split()
    parts.append('<svg x="{}" y="{}" width="{}" height="{}" viewBox="{}">'.format(*box, " ".join(box)))
    parts += [_path(line, x_axis, y_axis) for line in lines]
    parts.append("</svg>")
    parts += _guides(chart, x_axis, y_axis)
    parts += [_markers(line, x_axis, y_axis) for line in lines if line.marker]
    parts.append(f'<line class="cursor" x1="0" x2="0" y1="{TOP}" y2="{chart.bottom}"/></svg>')
    return "".join(parts)


def thin(x: np.ndarray, y: np.ndarray, most: int = MOST_POINTS) -> tuple[np.ndarray, np.ndarray]:
    """Reduce a line to ``most`` points: the lowest and the highest of each interval, so that no peak is lost."""
    if len(x) <= most:
        return x, y
    edges = np.linspace(0, len(x), most // 2, endpoint=False).astype(int)
    keep = {0, len(x) - 1}
    for a, b in pairwise((*edges, len(x))):
        keep |= {a + int(np.argmin(y[a:b])), a + int(np.argmax(y[a:b]))}
    rows = np.array(sorted(keep))
    return x[rows], y[rows]


def _finite(line: Line, x_log: bool, y_log: bool) -> Line:
    x, y = np.asarray(line.x, dtype=float), np.asarray(line.y, dtype=float)
    good = np.isfinite(x) & np.isfinite(y) & (x > 0 if x_log else True) & (y > 0 if y_log else True)
    tips = [tip for tip, kept in zip(line.tips, good, strict=True) if kept] if line.tips else []
    x, y = x[good], y[good]
    if not line.marker:
        x, y = thin(x, y)
    return Line(line.label, x, y, line.candidate, line.marker, line.dash, tips, line.shade)


def _axes(chart: Chart, lines: list[Line]) -> tuple[Axis, Axis]:
    x_values = np.concatenate([line.x for line in lines])
    y_values = np.concatenate([line.y for line in lines] + [[value for value, _ in chart.levels]])
    x_low, x_high = chart.x_limits or _limits(x_values, chart.x_log, 0.04 if chart.lines[0].marker else 0.0)
    y_low, y_high = chart.y_limits or _limits(y_values, chart.y_log, 0.06)
    return (
        Axis(x_low, x_high, LEFT, chart.right, chart.x_log, chart.x_unit),
        Axis(y_low, y_high, chart.bottom, TOP, chart.y_log, chart.y_unit),
    )


def _limits(values: np.ndarray, log: bool, pad: float) -> tuple[float, float]:
    low, high = float(np.min(values)), float(np.max(values))
    if log:
        a, b = log10(low), log10(high)
        extra = max(pad * (b - a), 0.12 if pad else 0.0, 0.25 if b - a < 0.3 else 0.0)
        return 10.0 ** (a - extra), 10.0 ** (b + extra)
    span = high - low
    if span <= 1e-12 * max(abs(low), abs(high), 1e-300):
        span = max(abs(high), 1.0)
        return low - 0.5 * span, high + 0.5 * span
    return (0.0 if 0.0 <= low < 0.1 * span else low - pad * span), high + pad * span


def _grid(chart: Chart, x_axis: Axis, y_axis: Axis) -> list[str]:
    parts, bottom, right = [], chart.bottom, chart.right
    for value, text in y_axis.ticks(chart.size[1] // 50):
        y = float(y_axis.at(value))
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text class="tick" x="{LEFT - 7}" y="{y + 3.8:.1f}" text-anchor="end">{text}</text>')
    last = -np.inf
    for value, text in x_axis.ticks(chart.size[0] // 75):
        x = float(x_axis.at(value))
        if x - last < APART:
            continue
        last = x
        parts.append(f'<line class="tickmark" x1="{x:.1f}" x2="{x:.1f}" y1="{bottom}" y2="{bottom + 4}"/>')
        parts.append(f'<text class="tick" x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{text}</text>')
    parts.append(f'<line class="base" x1="{LEFT}" x2="{right}" y1="{bottom}" y2="{bottom}"/>')
    return parts


def _guides(chart: Chart, x_axis: Axis, y_axis: Axis) -> list[str]:
    parts, right = [], chart.right
    for value, text in chart.levels:
        y = float(y_axis.at(value))
        if TOP <= y <= chart.bottom:
            parts.append(f'<line class="guide" x1="{LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>')
            parts.append(f'<text class="note" x="{right - 2}" y="{y - 4:.1f}" text-anchor="end">{escape(text)}</text>')
    for value, text in chart.uprights:
        x = float(x_axis.at(value))
        if LEFT <= x <= right:
            parts.append(f'<line class="guide" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{chart.bottom}"/>')
            side = ("end", -4) if x > right - 60 else ("start", 4)
            parts.append(
                f'<text class="note" x="{x + side[1]:.1f}" y="{TOP + 9}" text-anchor="{side[0]}">{escape(text)}</text>'
            )
    decade_x = (x_axis.stop - x_axis.start) / (log10(x_axis.high / x_axis.low)) if chart.slopes else 0.0
    decade_y = (y_axis.start - y_axis.stop) / (log10(y_axis.high / y_axis.low)) if chart.slopes else 0.0
    for order, text in chart.slopes:
        # The guides start from a common corner at the lower right, and are short enough to stay inside.
        width = min(0.8 * decade_x, 0.3 * (right - LEFT))
        length = min(width, 0.38 * (chart.bottom - TOP) * decade_x / (order * decade_y))
        x0, y0 = right - 56 - width, chart.bottom - 10
        x1, y1 = x0 + length, y0 - length * order * decade_y / decade_x
        parts.append(f'<line class="guide" x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}"/>')
        parts.append(f'<text class="note" x="{x1 + 3:.1f}" y="{y1 + 3:.1f}">{escape(text)}</text>')
    return parts


def _path(line: Line, x_axis: Axis, y_axis: Axis) -> str:
    # Some browsers draw coordinates far outside the picture wrongly.
    y = np.clip(y_axis.at(line.y), TOP - 400, y_axis.start + 400)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x_axis.at(line.x), y, strict=True))
    dashed = f' stroke-dasharray="{line.dash}"' if line.dash else ""
    return f'<polyline class="line {_who(line)}" data-label="{escape(line.label)}" points="{points}"{dashed}/>'


def stroke(line: Line) -> str:
    """A sample of the line for a legend."""
    dashed = f' stroke-dasharray="{line.dash}"' if line.dash else ""
    return f'<line class="line {_who(line)}" x1="1" x2="23" y1="4" y2="4"{dashed}/>'


def _who(line: Line) -> str:
    return "ref" if line.candidate is None else f"e e{line.candidate}" + (f" shade{line.shade}" if line.shade else "")


def _markers(line: Line, x_axis: Axis, y_axis: Axis) -> str:
    parts = [f'<g class="points {_who(line)}">']
    tips = line.tips or [line.label] * len(line.x)
    for x, y, tip in zip(x_axis.at(line.x), y_axis.at(line.y), tips, strict=True):
        parts.append(
            f'<g class="point" tabindex="0" role="img" aria-label="{escape(tip)}" data-tip="{escape(tip)}" '
            f'transform="translate({x:.1f} {y:.1f})"><circle class="reach" r="11"/>{shape(line.marker)}</g>'
        )
    return "".join(parts) + "</g>"


def shape(name: str) -> str:
    """A marker centred at the origin; all have about the same area."""
    if name == "circle":
        return '<circle r="4.2"/>'
    outline = {
        "square": "M-3.8-3.8H3.8V3.8H-3.8Z",
        "triangle": "M0-5L4.8 3.6H-4.8Z",
        "diamond": "M0-5.4L5.4 0L0 5.4L-5.4 0Z",
        "wedge": "M0 5L4.8-3.6H-4.8Z",
    }[name]
    return f'<path d="{outline}"/>'


def _scale(name: str, axis: Axis) -> str:
    return (
        f'data-{name}="{axis.low:.9g} {axis.high:.9g} {axis.start} {axis.stop} {int(axis.log)}" '
        f'data-{name}unit="{escape(axis.unit)}"'
    )


def _describe(chart: Chart, lines: list[Line]) -> str:
    return f"{chart.title}: {chart.y_label} over {chart.x_label}, of {', '.join(line.label for line in lines)}"
