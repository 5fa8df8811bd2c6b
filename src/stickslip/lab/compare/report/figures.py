"""The figures of a report: work and precision, convergence, motions over time, contact forces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from html import escape
from math import floor, log10

import numpy as np

from stickslip.errors import StickslipError
from stickslip.lab.compare.comparison import CandidateResult, Comparison, Run
from stickslip.lab.compare.report.chart import FLAT, SMALL, Chart, Line, stroke, svg
from stickslip.lab.compare.report.colours import dashes, marker
from stickslip.lab.compare.report.numbers import PREFIXED, PREFIXES, ROUND_OFF, plain, seconds, with_unit
from stickslip.lab.compare.report.traces import Motion, Traces, choose_motions, read_traces, reference_run
from stickslip.lab.compare.work_precision import cost, error, is_reference, measured
from stickslip.model.scene import Scene

PEAK = 4.0
"""Peaks above this multiple of the 99.5th percentile of all values are cut off."""


@dataclass
class TraceSet:
    """What the figures show of a comparison's recordings."""

    motions: list[Motion]
    traces: dict[int, Traces]
    """Traces of the typical run, by the candidate's position."""
    reference: Traces | None
    weight: float | None
    """Weight of everything that moves [N]."""


def read_trace_set(comparison: Comparison) -> TraceSet:
    """Read the recordings: the typical run of each candidate, and the reference."""
    typical = {k: run for k, candidate in enumerate(comparison.candidates) if (run := candidate.typical()) is not None}
    last = reference_run(comparison)
    for run in ([] if last is None else [last]) + list(typical.values()):
        try:
            with run.log() as log:
                motions, model = choose_motions(log), Scene.from_xml(log.scene_xml).compile()
        except StickslipError:
            continue
        if run is not last:
            last = None
        found = {
            k: read_traces(one, motions, model, None if is_reference(comparison, one) else last)
            for k, one in typical.items()
        }
        traces = {k: one for k, one in found.items() if one is not None}
        weight = float(model.inertia.mass[1:].sum() * np.linalg.norm(model.inertia.gravity))
        own = None if last is None else read_traces(last, motions, model, None)
        return TraceSet(motions, traces, own, weight or None)
    return TraceSet([], {}, None, None)


def figure(chart: Chart, caption: str, small: bool = False, key: str = "") -> str:
    """HTML of a chart, or "" if there is nothing to draw; ``key`` is HTML between picture and caption."""
    picture = svg(chart)
    if not picture:
        return ""
    return (
        f'<figure class="{"small" if small else "wide"}"><h3>{escape(chart.title)}</h3>{picture}{key}'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


# -- work and precision ----------------------------------------------------------------------------------------------


def work_precision(comparison: Comparison) -> str:
    chart = _error_chart(comparison, "Work and precision", "computing time per simulated second", cost)
    return figure(
        replace(chart, uprights=[(1.0, "real time")]),
        "One line per method, one mark per time step. Lower is more accurate, further left is faster: a method whose "
        "line lies below and left of another gives more for the same time.",
    )


def convergence(comparison: Comparison) -> str:
    chart = _error_chart(comparison, "Convergence", "time step", lambda run: run.dt)
    return figure(
        replace(chart, slopes=[(1, "1st order"), (2, "2nd")]),
        "The same errors over the time step. A line that levels off has converged to a limit of its own: another "
        "contact model has another answer, however short the step.",
    )


def _error_chart(comparison: Comparison, title: str, x_label: str, x_of: Callable[[Run], float]) -> Chart:
    """Errors of all runs over another figure, both in logarithms."""
    lines, dash = [], _dashes(comparison)
    for k, candidate in enumerate(comparison.candidates):
        runs = measured(comparison, candidate)
        tips = [f"{r.label}, dt = {seconds(r.dt)}: {with_unit(error(r), 'm')} for {seconds(cost(r))}" for r in runs]
        lines.append(Line(candidate.label, _array(runs, x_of), _array(runs, _shown), k, marker(k), dash[k], tips))
    y_label = "error against the reference (rms)"
    return Chart(title, x_label, y_label, lines, x_unit="s", y_unit="m", x_log=True, y_log=True)


def _dashes(comparison: Comparison) -> list[str]:
    return dashes(candidate.label for candidate in comparison.candidates)


def _shown(run: Run) -> float:
    """The error, but not less than round-off, which would only stretch the axis."""
    return max(error(run), ROUND_OFF)


def _array(runs, figure_of) -> np.ndarray:
    return np.array([figure_of(run) for run in runs], dtype=float)


# -- over time -------------------------------------------------------------------------------------------------------


def over_time(comparison: Comparison, trace_set: TraceSet) -> str:
    """Figures over time, of every method at its typical step and of the reference in grey."""
    parts = []
    for m, motion in enumerate(trace_set.motions):
        title = motion.title[0].upper() + motion.title[1:]
        chart = _overlay(comparison, trace_set, title, motion.unit, lambda t, m=m: t.motions[m])
        parts.append(figure(chart, _cut(chart, "Where the body is, by each method.")))
    chart = _overlay(comparison, trace_set, "Distance from the reference", "m", lambda t: t.distance, y_log=True)
    parts.append(
        figure(
            chart, "Of the link that is farthest from where the reference has it at the same time, rms over its matter."
        )
    )
    chart = _overlay(comparison, trace_set, "Energy balance", "J", lambda t: t.energy)
    about = (
        "Kinetic, potential and elastic energy less the work of actuators, against the start: friction, dampers and "
        "impacts may lower it, nothing may raise it."
    )
    parts.append(figure(chart, _cut(chart, about)))
    chart = _overlay(comparison, trace_set, "Penetration", "m", lambda t: t.penetration, peaks=True)
    if chart.y_limits is not None:
        parts.append(figure(chart, _cut(chart, "Deepest overlap of two shapes, by one detector for all methods.")))
    chart = _overlay(comparison, trace_set, "Joint error", "m or rad", lambda t: t.joint_error, y_log=True)
    parts.append(figure(chart, "Largest error of a joint that is a constraint to the method (maximal coordinates)."))
    return "".join(parts)


def _overlay(comparison, trace_set, title, unit, get, y_log=False, peaks=False) -> Chart:
    lines, dash = [], _dashes(comparison)
    if trace_set.reference is not None and len(values := get(trace_set.reference)):
        lines.append(Line("reference", trace_set.reference.time, values))
    for k, traces in trace_set.traces.items():
        if len(values := get(traces)):
            lines.append(Line(comparison.candidates[k].label, traces.time, values, k, dash=dash[k]))
    if y_log and lines:
        lines = [Line(x.label, x.x, np.maximum(x.y, 1e-15), x.candidate, dash=x.dash) for x in lines]
    limits = _log_limits(lines) if y_log else (_peak_limits(lines) if peaks else _sane_limits(lines))
    if limits is not None and not y_log:
        lines, limits, unit = _prefixed(lines, limits, unit)
    return Chart(title, "time [s]", unit, lines, x_unit="s", y_unit=unit, y_log=y_log, y_limits=limits)


def _prefixed(lines, limits, unit):
    """Lines in µJ or kN if the numbers on the axis would be long."""
    size = max(map(abs, limits))
    if unit not in PREFIXED or 0.05 <= size < 1e4:
        return lines, limits, unit
    exponent = min(max(3 * floor(log10(size) / 3), min(PREFIXES)), max(PREFIXES))
    factor = 10.0**-exponent
    scaled = [replace(line, y=factor * line.y) for line in lines]
    return scaled, (factor * limits[0], factor * limits[1]), PREFIXES[exponent] + unit


def _log_limits(lines: list[Line]) -> tuple[float, float] | None:
    """Limits without the start, where all agree to the last digit."""
    values = np.concatenate([line.y[1:] for line in lines] or [np.zeros(0)])
    values = values[np.isfinite(values) & (values > 0)]
    if not len(values):
        return None
    high, low = float(values.max()), float(np.percentile(values, 2))
    return max(low / 2, 1e-7 * high), 1.5 * high


def _sane_limits(lines: list[Line]) -> tuple[float, float] | None:
    """Limits that cut off a run which flies away, since it would flatten all others.

    They allow four times the reference's range, or that of three quarters of the methods if it is larger.
    """
    ranges = [(float(np.nanmin(line.y)), float(np.nanmax(line.y))) for line in lines if np.isfinite(line.y).any()]
    if not ranges:
        return None
    usual = sorted(ranges, key=lambda r: r[1] - r[0])[3 * (len(ranges) - 1) // 4]
    low, high = ranges[0] if lines[0].candidate is None else usual
    slack = 4.0 * max(high - low, usual[1] - usual[0]) or np.inf
    low, high = (max(min(r[0] for r in ranges), low - slack), min(max(r[1] for r in ranges), high + slack))
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        return None
    return low - 0.05 * (high - low), high + 0.05 * (high - low)


def _peak_limits(lines: list[Line], least: float = 0.0) -> tuple[float, float] | None:
    """Limits for forces and depths: from zero to the highest value, without single peaks."""
    values = np.concatenate([line.y for line in lines] or [np.zeros(0)])
    values = values[np.isfinite(values)]
    if not len(values) or values.max() <= 0.0:
        return None
    usual = max(float(np.percentile(values, 99.5)), least)
    top = float(values.max()) if values.max() <= PEAK * usual or usual <= 0.0 else 1.2 * usual
    return min(0.0, float(np.percentile(values, 0.5))), 1.05 * max(top, least)


def _cut(chart: Chart, caption: str) -> str:
    """The caption, with the largest value beyond the axis."""
    if chart.y_limits is None:
        return caption
    low, high = chart.y_limits
    extremes = []
    for line in chart.lines:
        if np.isfinite(line.y).any():
            top, bottom = int(np.nanargmax(line.y)), int(np.nanargmin(line.y))
            extremes += [(line.y[top] - high, line, top), (low - line.y[bottom], line, bottom)]
    extremes = [entry for entry in extremes if entry[0] > 0.0]
    if not extremes:
        return caption
    _, line, at = max(extremes, key=lambda entry: entry[0])
    return (
        f"{caption} Beyond the axis, farthest: {line.label}, {plain(float(line.y[at]))} {chart.y_unit} at "
        f"{float(line.x[at]):.3g} s."
    )


# -- contact forces --------------------------------------------------------------------------------------------------


def contact_forces(comparison: Comparison, trace_set: TraceSet) -> str:
    """One panel per method, all on the same scale."""
    panels = []
    for k, traces in trace_set.traces.items():
        label = comparison.candidates[k].label
        normal = Line(f"{label}: normal", traces.time, traces.normal, k)
        friction = Line(f"{label}: friction", traces.time, traces.tangential, k, dash="3 2", shade=1)
        panels.append((k, [normal, friction]))
    limits = _peak_limits([line for _, lines in panels for line in lines], 1.15 * (trace_set.weight or 0.0))
    parts = []
    for k, lines in panels:
        if limits is None:
            break
        chart = Chart(
            comparison.candidates[k].label, "time [s]", "N", lines, SMALL, x_unit="s", y_unit="N", y_limits=limits
        )
        if trace_set.weight is not None:
            chart.levels.append((trace_set.weight, "weight"))
        highest = float(np.max(lines[0].y))
        caption = f"dt = {seconds(trace_set.traces[k].run.dt)}; highest normal force {with_unit(highest, 'N')}"
        parts.append(figure(chart, caption + (", beyond the axis" if highest > limits[1] else ""), small=True))
    return "".join(parts)


def pair_forces(candidate: CandidateResult, k: int, traces: Traces) -> str:
    """Normal force by pair of links."""
    if len(traces.pairs) < 2:
        return ""  # it would be the same as the total
    lines = [
        Line(name, traces.time, force, k, dash="" if n < 3 else "5 3", shade=n % 3)
        for n, (name, force) in enumerate(traces.pairs)
    ]
    title = f"Normal force by pair of links: {candidate.label}"
    chart = Chart(title, "time [s]", "N", lines, FLAT, x_unit="s", y_unit="N")
    chart.y_limits = _peak_limits(lines)
    more = f" {traces.pairs_left_out} more pairs, less loaded, are not drawn." if traces.pairs_left_out else ""
    return figure(chart, _cut(chart, f"dt = {seconds(traces.run.dt)}.{more}"), key=_key(lines))


def _key(lines: list[Line]) -> str:
    """A legend for lines that share a colour."""
    entries = "".join(
        f'<li><svg viewBox="0 0 24 8" aria-hidden="true">{stroke(line)}</svg>{escape(line.label)}</li>'
        for line in lines
    )
    return f'<ul class="key-list">{entries}</ul>'
