"""The report of a comparison: one HTML file that loads nothing else."""

from __future__ import annotations

from datetime import UTC, datetime
from html import escape
from importlib.resources import files
from os import PathLike
from pathlib import Path

from stickslip.files import check_writable, write_text
from stickslip.lab.compare.comparison import Comparison
from stickslip.lab.compare.report import cards, figures, scores
from stickslip.lab.compare.report.chart import shape
from stickslip.lab.compare.report.colours import DARK, LIGHT, dashes, hues, marker
from stickslip.lab.compare.report.conclusions import conclusions
from stickslip.lab.compare.report.numbers import seconds
from stickslip.lab.compare.report.pictures import pictures as strip

PICTURES = 3
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
"""Tells the browser that this page may load nothing."""

SCORECARD = (
    "<p>One row per method: the complete run whose step is nearest the method's default. The best figure of a column "
    "is bold. Headings sort; the question mark leads to the definition; the table scrolls sideways.</p>"
)
FORCES = (
    "Sum of the normal forces (line) and of the magnitudes of friction (dashes) over all contacts, all methods on one "
    "scale."
)


def write_report(comparison: Comparison, path: str | PathLike, *, pictures: int = PICTURES) -> Path:
    """Write the page from the scores and recordings; returns its path.

    It begins with this number of ``pictures`` of the reference; each takes about a second.
    """
    target = Path(path)
    check_writable(target)
    write_text(target, page(comparison, pictures))
    return target


def page(comparison: Comparison, pictures: int = 0) -> str:
    trace_set = figures.read_trace_set(comparison)
    title = f"{comparison.scene}: {_count(len(comparison.candidates), 'method')} compared"
    over_time, forces = figures.over_time(comparison, trace_set), figures.contact_forces(comparison, trace_set)
    precision = figures.work_precision(comparison) + figures.convergence(comparison)
    no_precision = "no run besides the reference has both an error and a cost"
    sections = [
        ("conclusions", "Conclusions", _conclusions(comparison)),
        ("precision", "Work and precision", _figures(precision, no_precision)),
        ("scorecard", "Scorecard", SCORECARD + scores.scorecard(comparison)),
        ("stability", "Order and stability", scores.summary(comparison)),
        ("time", "Over time", _figures(over_time, "no recordings", _steps(comparison))),
        ("forces", "Contact forces", _figures(forces, "no recordings with contacts", FORCES)),
        ("methods", "Methods and materials", cards.cards(comparison, trace_set)),
        ("failures", "What went wrong", cards.failures(comparison)),
        ("settings", "Settings and versions", _settings(comparison)),
        ("citations", "Citations", cards.citations(comparison)),
        ("definitions", "How each figure is defined", scores.definitions(comparison)),
    ]
    menu = "".join(f'<a href="#{name}">{heading}</a>' for name, heading, _ in sections)
    body = "".join(f'<section id="{name}"><h2>{heading}</h2>{text}</section>' for name, heading, text in sections)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">'
        f"<title>{escape(title)}</title><style>{_asset('page.css')}{_colours(comparison)}</style></head>"
        f'<body><header><p class="brand">stickslip · comparison</p><h1>{escape(title)}</h1>'
        f'<p class="lead">{_lead(comparison)}</p>{strip(comparison, pictures)}</header>'
        f'<div class="layout"><nav aria-label="Sections">{menu}</nav><main>{_legend(comparison)}{body}</main></div>'
        f"<footer>Written {datetime.now(UTC):%Y-%m-%d %H:%M} UTC by stickslip "
        f"{escape(comparison.versions.get('stickslip', ''))}. This page is one file and loads nothing.</footer>"
        f'<div id="tip" role="status"></div><script>{_asset("page.js")}</script></body></html>\n'
    )


def _asset(name: str) -> str:
    return files("stickslip.lab.compare.report").joinpath(name).read_text(encoding="utf-8")


def _colours(comparison: Comparison) -> str:
    """CSS with a colour per candidate, for light and dark schemes."""
    found = list(hues([candidate.label for candidate in comparison.candidates]).items())
    by_label = dict(found)
    order = [by_label[candidate.label] for candidate in comparison.candidates]

    def rules(palette) -> str:
        return "".join(f".e{k}{{--c:{palette[hue]}}}" for k, hue in enumerate(order))

    return f"{rules(LIGHT)}@media (prefers-color-scheme:dark){{{rules(DARK)}}}"


def _lead(comparison: Comparison) -> str:
    label, dt = comparison.reference
    runs = sum(1 for _ in comparison.runs())
    against = f"Errors are measured against <strong>{escape(label)}</strong> at dt = {seconds(dt)}."
    return (
        f"{comparison.seconds:g} s simulated, {_count(runs, 'run')}. "
        f"{against if label else 'There is no reference: no run is complete.'} All figures are computed by the same "
        "code from the recorded trajectories and forces, never by the methods themselves."
    )


def _legend(comparison: Comparison) -> str:
    """The legend of all figures, with a button per method that hides it."""
    parts, dash = [], dashes(candidate.label for candidate in comparison.candidates)
    for k, candidate in enumerate(comparison.candidates):
        dashed = f' stroke-dasharray="{dash[k]}"' if dash[k] else ""
        parts.append(
            f'<button type="button" class="chip e{k}" data-e="{k}" aria-pressed="true"><svg viewBox="-14 -7 28 14" '
            f'aria-hidden="true"><line x1="-13" x2="13" y1="0" y2="0"{dashed}/>{shape(marker(k))}</svg>'
            f"{escape(candidate.label)}</button>"
        )
    return (
        '<div class="legend" role="group" aria-label="Methods: press to hide or show in all figures">'
        f'{"".join(parts)}<span class="chip reference"><svg viewBox="-14 -7 28 14" aria-hidden="true">'
        '<line x1="-13" x2="13" y1="0" y2="0"/></svg>reference</span></div>'
    )


def _conclusions(comparison: Comparison) -> str:
    position = {candidate.label: k for k, candidate in enumerate(comparison.candidates)}
    parts = []
    for said in conclusions(comparison):
        who = ""
        if said.label:
            who = f'<p class="who"><span class="key e{position[said.label]}"></span>{escape(said.label)}</p>'
        parts.append(f'<div class="said"><h3>{escape(said.heading)}</h3>{who}<p>{escape(said.text)}</p></div>')
    return f'<div class="conclusions">{"".join(parts)}</div>'


def _figures(html: str, why_none: str, intro: str = "") -> str:
    """Figures after an introduction, or the reason why there are none."""
    if not html:
        return f'<p class="note">Nothing to draw: {why_none}.</p>'
    return (f"<p>{intro}</p>" if intro else "") + f'<div class="figures">{html}</div>'


def _steps(comparison: Comparison) -> str:
    chosen = [(e.label, run.dt) for e in comparison.candidates if (run := e.typical()) is not None]
    label, dt = comparison.reference
    text = ", ".join(f"{escape(name)} {seconds(step)}" for name, step in chosen)
    return (
        f"Every method at the step nearest its default ({text}); in grey the reference, {escape(label)} at "
        f"{seconds(dt)}. Point at a figure to read values."
    )


def _settings(comparison: Comparison) -> str:
    given = {"scene": comparison.scene, "simulated": f"{comparison.seconds:g} s", **comparison.settings}
    if comparison.folder is not None:
        given["recordings"] = str(comparison.folder)
    return (
        f'<div class="columns"><div><h3>Settings</h3>{cards.pairs(given)}</div>'
        f"<div><h3>Versions</h3>{cards.pairs(comparison.versions)}</div></div>"
    )


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
