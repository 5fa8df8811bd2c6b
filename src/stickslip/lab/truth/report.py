"""The truth suite's matrix in the terminal, and its page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.table import Table
from rich.text import Text

from stickslip.lab.truth.case import Case
from stickslip.lab.truth.facts import Fact, facts
from stickslip.lab.truth.trial import FAIL, NOT_APPLICABLE, PASS, Finding, Trial

MARKS = {PASS: "✓", FAIL: "✗", NOT_APPLICABLE: "–"}
STYLES = {PASS: "green", FAIL: "red", NOT_APPLICABLE: "dim"}
UNEXPLAINED = "unexplained"
HEAD = """\
# Truth

Scenes with known answers, simulated by every method: the truth suite, `stickslip bench truth`. This page is what its
`--out DIR` writes. The expected values are data, `src/stickslip/truth/facts.toml`, each with its tolerance, the reason
for it, and its source. Methods and materials are as they come, without options.

A mark for each time step of a case, the default first: ✓ all quantities agree with the truth, ✗ one does not, – not
applicable. The numbers are below, wrong ones in bold, and what the failures teach.
"""


def matrix(cases: Sequence[Case], trials: Sequence[Trial]) -> Iterator[Table | Text]:
    """For the terminal: every case's numbers and what its failures teach, then methods × cases."""
    for case in cases:
        mine = [trial for trial in trials if trial.case == case.name]
        yield numbers(case, mine)
        for why, methods in refusals(mine).items():
            yield Text(f"  {', '.join(methods)}: not applicable; {why}", style="dim")
        for text, who in lessons(mine).items():
            yield Text(f"  {who}: {text}")
    yield overview(cases, trials)
    yield Text(", ".join(f"{k} {case.name}" for k, case in enumerate(cases, 1)))


def overview(cases: Sequence[Case], trials: Sequence[Trial]) -> Table:
    """Cases by their numbers: names would be wider than a terminal."""
    table = Table(title="truth: a mark per time step, the default first", title_justify="left", padding=(0, 1, 0, 0))
    table.add_column("method")
    for k in range(len(cases)):
        table.add_column(str(k + 1))
    for method in dict.fromkeys(trial.method for trial in trials):
        row = [Text(method)]
        for case in cases:
            mine = [t for t in trials if t.case == case.name and t.method == method]
            row.append(Text.assemble(*((MARKS[t.outcome], STYLES[t.outcome]) for t in mine)))
        table.add_row(*row)
    return table


def marks(case: Case, method: str, trials: Sequence[Trial]) -> str:
    """✓, ✗ or – for every time step."""
    return "".join(MARKS[t.outcome] for t in trials if t.case == case.name and t.method == method)


def figure(finding: Finding) -> str:
    return f"{finding.measured:.4g}"


def numbers(case: Case, trials: Sequence[Trial]) -> Table:
    truths = facts()[case.name]
    table = Table(title=f"{case.name}: {case.title}", title_justify="left")
    for heading in ("method", "dt [s]", ""):
        table.add_column(Text(heading))  # "[s]" is no markup
    for fact in truths:
        table.add_column(f"{fact.quantity}\n{truth(fact)}", justify="right")
    for trial in trials:
        if trial.outcome == NOT_APPLICABLE:
            continue
        cells = [Text(trial.method), Text(f"{trial.dt:g}"), Text(MARKS[trial.outcome], style=STYLES[trial.outcome])]
        if trial.message:
            table.add_row(*cells, Text(trial.message, style="dim"))
            continue
        cells += [Text(figure(f), style="" if f.agrees else "red") for f in trial.findings]
        table.add_row(*cells)
    return table


def truth(fact: Fact) -> str:
    bound = "" if fact.bound == "=" else f"{fact.bound} "
    unit = "" if fact.unit == "1" else f" {fact.unit}"
    return f"{bound}{fact.value:.6g}{unit}"


def tolerance(fact: Fact) -> str:
    """In words, such as ± 1 % ± 2·dt."""
    unit = "" if fact.unit == "1" else f" {fact.unit}"
    parts = [f"{fact.absolute:g}{unit}"] if fact.absolute else []
    parts += [f"{100 * fact.relative:g} %"] if fact.relative else []
    parts += [f"{fact.per_second:g}{unit}/s · dt"] if fact.per_second else []
    return "± " + " ± ".join(parts) if parts else "exactly"


def refusals(trials: Sequence[Trial]) -> dict[str, list[str]]:
    """Why methods cannot play a case, each with these methods."""
    found: dict[str, list[str]] = {}
    for trial in trials:
        if trial.outcome == NOT_APPLICABLE:
            why = trial.message.removeprefix(f"{trial.method.partition('/')[0]} ")
            methods = found.setdefault(why, [])
            if trial.method not in methods:
                methods.append(trial.method)
    return found


def lessons(trials: Sequence[Trial]) -> dict[str, str]:
    """What the failures teach, each with the methods and time steps that it explains."""
    who: dict[str, dict[str, list[float]]] = {}
    for trial in trials:
        unexplained = [f"{UNEXPLAINED}: {quantity}" for quantity in trial.unexplained]
        for text in (*trial.lessons, *unexplained):
            who.setdefault(text, {}).setdefault(trial.method, []).append(trial.dt)
    return {
        text: ", ".join(f"{method} ({', '.join(f'{dt:g}' for dt in dts)})" for method, dts in methods.items())
        for text, methods in who.items()
    }


def markdown(cases: Sequence[Case], trials: Sequence[Trial]) -> str:
    """The page docs/truth.md."""
    methods = list(dict.fromkeys(trial.method for trial in trials))
    lines = [
        HEAD,
        "| method | " + " | ".join(f"[{case.name}](#{case.name})" for case in cases) + " |",
        "|---" * (len(cases) + 1) + "|",
        *(f"| {m} | " + " | ".join(marks(case, m, trials) for case in cases) + " |" for m in methods),
    ]
    for case in cases:
        lines += _section(case, [trial for trial in trials if trial.case == case.name])
    return "\n".join(lines) + "\n"


def _section(case: Case, trials: Sequence[Trial]) -> list[str]:
    truths = facts()[case.name]
    lines = ["", f"## {case.name}", "", f"{case.title[0].upper()}{case.title[1:]}.", ""]
    lines += ["| quantity | truth | tolerance | why | source |", "|---|---|---|---|---|"]
    lines += [
        f"| {f.quantity}: {f.meaning} | {truth(f)} | {tolerance(f)} | {f.why} | {f.source} |" for f in truths
    ]  # fmt: skip
    lines += ["", "| method | dt [s] | | " + " | ".join(f.quantity for f in truths) + " |"]
    lines += ["|---" * (3 + len(truths)) + "|"]
    for trial in trials:
        if trial.outcome == NOT_APPLICABLE:
            continue
        cells = [figure(f) if f.agrees else f"**{figure(f)}**" for f in trial.findings]
        if trial.message:
            cells = [trial.message.replace("|", "/")] + [""] * (len(truths) - 1)
        lines.append(f"| {trial.method} | {trial.dt:g} | {MARKS[trial.outcome]} | " + " | ".join(cells) + " |")
    for why, methods in refusals(trials).items():
        lines += ["", f"{', '.join(methods)}: not applicable; {why}"]
    taught = lessons(trials)
    if taught:
        lines += ["", "What the failures teach:", ""]
        lines += [f"- {who}: {text}" for text, who in taught.items()]
    return lines
