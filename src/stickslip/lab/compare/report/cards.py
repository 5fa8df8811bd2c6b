"""HTML about each method: how it uses the materials, what it cannot honour, options, failed runs, citations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from stickslip.lab.compare.comparison import CandidateResult, Comparison
from stickslip.lab.compare.report.figures import TraceSet, pair_forces
from stickslip.lab.compare.report.numbers import seconds


def cards(comparison: Comparison, trace_set: TraceSet) -> str:
    return "".join(_card(candidate, k, trace_set) for k, candidate in enumerate(comparison.candidates))


def _card(candidate: CandidateResult, k: int, trace_set: TraceSet) -> str:
    method = f"{candidate.method}/{candidate.variant}" if candidate.variant else candidate.method
    parts = [
        f'<article class="card" id="method-{k}"><h3><span class="key e{k}"></span>{escape(candidate.label)}'
        f"{f' <small>{escape(method)}</small>' if method != candidate.label else ''}</h3>"
    ]
    reads = _sentences("How it reads the materials", candidate.materials, "nothing to say")
    cannot = _sentences("What it cannot honour", candidate.not_honoured, "nothing that the scene asks for")
    if candidate.options:
        cannot += "<h4>Options</h4>" + pairs(candidate.options)
    warnings = list(dict.fromkeys(warning for run in candidate.runs for warning in run.warnings))
    if warnings:
        cannot += _sentences("What it warned of", warnings, "")
    forces = pair_forces(candidate, k, trace_set.traces[k]) if k in trace_set.traces else ""
    left, right = (reads + cannot, forces) if forces else (reads, cannot)
    parts.append(f'<div class="columns"><div>{left}</div><div>{right}</div></div></article>')
    return "".join(parts)


def _sentences(title: str, words: Iterable[str], nothing: str) -> str:
    entries = "".join(f"<li>{escape(word)}</li>" for word in words)
    return f"<h4>{title}</h4>" + (f"<ul>{entries}</ul>" if entries else f'<p class="note">{nothing}</p>')


def failures(comparison: Comparison) -> str:
    """Runs that are not complete, with their messages."""
    rows = []
    for k, candidate in enumerate(comparison.candidates):
        for run in candidate.runs:
            if run.outcome != "complete":
                rows.append(
                    f'<tr><th scope="row"><span class="key e{k}"></span>{escape(run.label)}</th>'
                    f'<td>{seconds(run.dt)}</td><td class="{run.outcome}">✕ {escape(run.outcome)}</td>'
                    f'<td class="words">{escape(run.message)}</td></tr>'
                )
    if not rows:
        return "<p>Nothing: every run is complete.</p>"
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="Runs that did not end well"><table><thead><tr>'
        "<th>method</th><th>dt</th><th>outcome</th><th>message</th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def pairs(entries: Mapping[str, Any]) -> str:
    """A list of names and values."""
    return (
        '<dl class="pairs">'
        + "".join(f"<dt>{escape(str(name))}</dt><dd>{escape(_value(value))}</dd>" for name, value in entries.items())
        + "</dl>"
    )


def _value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(_value(entry) for entry in value) or "–"
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_value(entry)}" for name, entry in value.items()) or "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "–" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def citations(comparison: Comparison) -> str:
    """Every BibTeX entry once, with the candidates that it belongs to."""
    users: dict[str, list[tuple[int, str]]] = {}
    for k, candidate in enumerate(comparison.candidates):
        if candidate.citation.strip():
            users.setdefault(candidate.citation.strip(), []).append((k, candidate.label))
    if not users:
        return "<p>No method came with a citation.</p>"
    blocks = []
    for text, who in users.items():
        names = ", ".join(f'<span class="key e{k}"></span>{escape(label)}' for k, label in who)
        blocks.append(
            f'<div class="bibtex"><div class="bar"><span>{names}</span><button type="button" class="copy">Copy'
            f"</button></div><pre><code>{escape(text)}</code></pre></div>"
        )
    every = '<p><button type="button" class="copy-all">Copy all BibTeX</button></p>' if len(users) > 1 else ""
    return f'{every}<div class="columns">{"".join(blocks)}</div>'
