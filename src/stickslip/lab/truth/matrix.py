"""The results of the truth suite: tables for the terminal, and the page docs/truth.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.table import Table
from rich.text import Text

from stickslip.lab import targets
from stickslip.lab.report import markdown_table, terminal_table
from stickslip.lab.truth.case import Case
from stickslip.lab.truth.facts import Fact, facts
from stickslip.lab.truth.trial import FAIL, NOT_APPLICABLE, PASS, Trial

MARKS = {PASS: targets.MARKS[True], FAIL: targets.MARKS[False], NOT_APPLICABLE: "–"}
STYLES = {PASS: "green", FAIL: "red", NOT_APPLICABLE: "dim"}
UNEXPLAINED = "unexplained"
HEAD = """\
# Truth

Scenes with known answers, simulated by every method: the truth suite, `stickslip bench truth`. This page is what its
`--out DIR` writes. The expected values are in `src/stickslip/lab/truth/facts.toml`, each with its tolerance, the reason
for it, and its source. Methods and materials have their defaults; rows whose names say more have the option that they
name. Friction cones have eight directions by `stewart-trinkle`, `anitescu-potra` and `peg`, and are circular by the
other methods; rows with four directions and `variational/pyramid` have the cones of the papers.

A mark for each time step of a case, the default first: ✓ all quantities agree with the truth, ✗ one does not, – not
applicable. The numbers are below, wrong ones in bold, and what the failures teach.
"""


def matrix(cases: Sequence[Case], trials: Sequence[Trial]) -> Iterator[Table | Text]:
    """For the terminal: the numbers of every case and what its failures teach, then methods × cases."""
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
    """Methods × cases. Cases have numbers, because their names would be wider than a terminal."""
    title = "truth: a mark per time step, the default first"
    headings = ("method", *(str(k + 1) for k in range(len(cases))))
    table = terminal_table(title, headings, words=len(headings), title_justify="left", padding=(0, 1, 0, 0))
    for method in dict.fromkeys(trial.method for trial in trials):
        row = [Text(method)]
        for case in cases:
            mine = [t for t in trials if t.case == case.name and t.method == method]
            row.append(Text.assemble(*((MARKS[t.outcome], STYLES[t.outcome]) for t in mine)))
        table.add_row(*row)
    return table


def marks(case: Case, method: str, trials: Sequence[Trial]) -> str:
    """A mark for every time step: ✓, ✗ or –."""
    return "".join(MARKS[t.outcome] for t in trials if t.case == case.name and t.method == method)


def figure(finding: targets.Target) -> str:
    return f"{finding.figure:.4g}"


def numbers(case: Case, trials: Sequence[Trial]) -> Table:
    headings = ("method", "dt [s]", "", *(f"{fact.quantity}\n{truth(fact)}" for fact in facts()[case.name]))
    table = terminal_table(f"{case.name}: {case.title}", headings, words=3, title_justify="left")
    for trial in trials:
        if trial.outcome == NOT_APPLICABLE:
            continue
        cells = [Text(trial.method), Text(f"{trial.dt:g}"), Text(MARKS[trial.outcome], style=STYLES[trial.outcome])]
        if trial.message:
            cells.append(Text(trial.message, style="dim"))
        else:
            cells += [Text(figure(f), style="" if f.met else "red") for f in trial.findings]
        table.add_row(*cells)
    return table


def truth(fact: Fact) -> str:
    bound = "" if fact.bound == "=" else f"{fact.bound} "
    unit = "" if fact.unit == "1" else f" {fact.unit}"
    return f"{bound}{fact.value:.6g}{unit}"


def tolerance(fact: Fact) -> str:
    """The tolerance in words, such as ± 1 % ± 2·dt."""
    unit = "" if fact.unit == "1" else f" {fact.unit}"
    parts = [f"{fact.absolute:g}{unit}"] if fact.absolute else []
    parts += [f"{100 * fact.relative:g} %"] if fact.relative else []
    parts += [f"{fact.per_second:g}{unit}/s · dt"] if fact.per_second else []
    return "± " + " ± ".join(parts) if parts else "exactly"


def refusals(trials: Sequence[Trial]) -> dict[str, list[str]]:
    """Reasons why methods cannot simulate a case, and these methods."""
    found: dict[str, list[str]] = {}
    for trial in trials:
        if trial.outcome == NOT_APPLICABLE:
            why = trial.message.removeprefix(f"{trial.method.partition('/')[0]} ")
            methods = found.setdefault(why, [])
            if trial.method not in methods:
                methods.append(trial.method)
    return found


def lessons(trials: Sequence[Trial]) -> dict[str, str]:
    """What the failures teach, and the methods and time steps that each lesson explains."""
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
    methods = dict.fromkeys(trial.method for trial in trials)
    head = ("method", *(f"[{case.name}](#{case.name})" for case in cases))
    parts = [HEAD, markdown_table(head, [(m, *(marks(case, m, trials) for case in cases)) for m in methods])]
    return "\n".join([*parts, *(_section(c, [t for t in trials if t.case == c.name]) for c in cases)])


def _section(case: Case, trials: Sequence[Trial]) -> str:
    truths = facts()[case.name]
    known = [(f"{f.quantity}: {f.meaning}", truth(f), tolerance(f), f.why, f.source) for f in truths]
    rows = []
    for trial in trials:
        if trial.outcome == NOT_APPLICABLE:
            continue
        cells = [figure(f) if f.met else f"**{figure(f)}**" for f in trial.findings]
        if trial.message:
            cells = [trial.message.replace("|", "/")] + [""] * (len(truths) - 1)
        rows.append((trial.method, f"{trial.dt:g}", MARKS[trial.outcome], *cells))
    parts = [
        f"## {case.name}\n\n{case.title[0].upper()}{case.title[1:]}.\n",
        markdown_table(("quantity", "truth", "tolerance", "why", "source"), known),
        markdown_table(("method", "dt [s]", "", *(f.quantity for f in truths)), rows),
        *(f"{', '.join(methods)}: not applicable; {why}\n" for why, methods in refusals(trials).items()),
    ]
    taught = lessons(trials)
    if taught:
        parts.append("What the failures teach:\n\n" + "".join(f"- {who}: {text}\n" for text, who in taught.items()))
    return "\n".join(parts)
