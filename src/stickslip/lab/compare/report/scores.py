"""The scorecard as a sortable HTML table with a row per run and the best figures marked."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from math import isfinite, nan

from stickslip.lab.compare.comparison import Comparison, Run
from stickslip.lab.compare.report.numbers import ROUND_OFF, column, column_unit, plain, seconds
from stickslip.lab.compare.scorecard import METRICS
from stickslip.lab.compare.work_precision import is_reference

OUTCOMES = {"complete": "✓", "diverged": "✕", "failed": "✕"}


def columns(comparison: Comparison) -> tuple[list[str], list[str]]:
    """(names of figures that some run has, names of those that none has)."""
    named = list(METRICS) + [n for run in comparison.runs() for n in run.scores if n not in METRICS]
    names = list(dict.fromkeys(named))
    some = [n for n in names if any(isfinite(run.scores.get(n, nan)) for run in comparison.runs())]
    return some, [n for n in names if n not in some]


def best(comparison: Comparison, runs: Iterable[Run], name: str) -> set[tuple[str, float]]:
    """(label, dt) of the runs that are best in a figure: several if they are equal, none if most are."""
    better = METRICS[name].better if name in METRICS else ""
    values = {}
    for run in runs:
        value = run.scores.get(name, nan)
        compared = name.startswith("error") and is_reference(comparison, run)
        if run.outcome == "complete" and isfinite(value) and not compared:
            values[run.label, run.dt] = value
    if not better or not values:
        return set()
    top = min(values.values()) if better == "lower" else max(values.values())
    found = {key for key, value in values.items() if abs(value - top) <= ROUND_OFF}
    return found if 2 * len(found) <= len(values) else set()


def scorecard(comparison: Comparison) -> str:
    names, without = columns(comparison)
    typical = [run for candidate in comparison.candidates if (run := candidate.typical()) is not None]
    top_all = {name: best(comparison, comparison.runs(), name) for name in names}
    top_typical = {name: best(comparison, typical, name) for name in names}
    rows = []
    for k, candidate in enumerate(comparison.candidates):
        chosen = candidate.typical() or (candidate.runs[0] if candidate.runs else None)
        for run in candidate.runs:
            key = (run.label, run.dt)
            cells = [
                f'<th scope="row" data-value="{escape(run.label)}"><span class="key e{k}"></span>{escape(run.label)}'
                f"{' <small>reference</small>' if is_reference(comparison, run) else ''}</th>",
                _number(run.dt, seconds(run.dt)),
                f'<td class="{run.outcome}" data-value="{run.outcome}" title="{escape(run.message)}">'
                f"{OUTCOMES.get(run.outcome, '')} {escape(run.outcome)}</td>",
            ]
            for name in names:
                value = run.scores.get(name, nan)
                marks = [mark for mark, top in (("all", top_all), ("typical", top_typical)) if key in top[name]]
                shown = "" if not marks else f' data-best="{" ".join(marks)}"'
                cells.append(f'<td data-value="{_sortable(value)}"{shown}>{_figure(value, name)}</td>')
            rows.append(f'<tr class="{"typical" if run is chosen else "other"}" data-e="{k}">{"".join(cells)}</tr>')
    note = ""
    if without:
        note = f"<p class=note>No meaning or no number here: {', '.join(_link(name) for name in without)}.</p>"
    return (
        '<div class="switch" role="group" aria-label="Rows shown">'
        '<button type="button" data-rows="typical" aria-pressed="true">one row per method</button>'
        '<button type="button" data-rows="all" aria-pressed="false">all time steps</button></div>'
        '<div class="scroll" tabindex="0" role="region" aria-label="Scorecard"><table id="scores" class="sortable" '
        'data-rows="typical"><thead><tr>'
        + _head("method", "")
        + _head("dt", "")
        + _head("outcome", "")
        + "".join(_heading(name) for name in names)
        + f"</tr></thead><tbody>{''.join(rows)}</tbody></table></div>{note}"
    )


def definitions(comparison: Comparison) -> str:
    """The definition of each figure."""
    names = [n for part in columns(comparison) for n in part]
    parts = []
    for name in names:
        known = METRICS.get(name)
        better = f"{known.better} is better" if known and known.better else ""
        unit = f" [{escape(known.unit)}]" if known and column_unit(known.unit) else ""
        parts.append(
            f'<dt id="figure-{escape(name)}">{escape(_title(name))}{unit} <code>{escape(name)}</code>'
            f"<small>{better}</small></dt>"
            f"<dd>{escape(known.meaning) if known else 'A figure from outside the package.'}</dd>"
        )
    return f'<dl class="definitions">{"".join(parts)}</dl>'


def summary(comparison: Comparison) -> str:
    """A table with a row per method: default step, order, longest stable step."""
    rows = []
    for k, e in enumerate(comparison.candidates):
        good = sum(run.outcome == "complete" for run in e.runs)
        rows.append(
            f'<tr data-e="{k}"><th scope="row" data-value="{escape(e.label)}"><span class="key e{k}"></span>'
            f'<a href="#method-{k}">{escape(e.label)}</a></th>'
            f'<td class="left">{escape(e.variant) or "–"}</td>'
            f"{_number(e.default_dt, seconds(e.default_dt))}{_number(e.order, plain(e.order, 2))}"
            f"{_number(e.largest_stable_dt, seconds(e.largest_stable_dt))}"
            f'<td data-value="{good}">{good} of {len(e.runs)}</td><td class="words">{escape(e.stability)}</td></tr>'
        )
    heads = ("method", "variant", "default dt", "order of convergence", "longest stable dt", "runs complete")
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="Methods"><table class="sortable"><thead><tr>'
        + "".join(_head(name, "") for name in heads)
        + '<th class="left">what ended the search</th></tr></thead>'
        + f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _number(value: float, text: str) -> str:
    return f'<td data-value="{_sortable(value)}">{text}</td>'


def _sortable(value: float) -> str:
    """The value that a script sorts by; "" if it is not finite."""
    return repr(value) if isfinite(value) else ""


def _figure(value: float, name: str) -> str:
    """A figure as text; rounding errors are shown as ≈ 0, with the value under the pointer."""
    if 0.0 < abs(value) < ROUND_OFF:
        return f'<span title="{value:.3g}">≈ 0</span>'
    return column(value, _unit(name))


def _unit(name: str) -> str:
    return METRICS[name].unit if name in METRICS else ""


def _title(name: str) -> str:
    return METRICS[name].title if name in METRICS else name.replace("_", " ")


def _link(name: str) -> str:
    return f'<a href="#figure-{escape(name)}">{escape(_title(name))}</a>'


def _heading(name: str) -> str:
    unit = column_unit(_unit(name))
    return _head(_title(name), f"[{unit}]" if unit else "", f"#figure-{name}")


def _head(title: str, unit: str, target: str = "") -> str:
    about = f'<a class="about" href="{escape(target)}" aria-label="what {escape(title)} means">?</a>' if target else ""
    return (
        f'<th scope="col" aria-sort="none"><button type="button">{escape(title)}'
        f"{f' <small>{escape(unit)}</small>' if unit else ''}</button>{about}</th>"
    )
