"""Conclusions in sentences: the most accurate method, the fastest, the best at equal cost, violated contact laws.

Limits follow from the numbers. Speeds are compared at an error that a third of the methods reach, errors at a cost that
half of the methods stay below; both are rounded up to 1, 2 or 5 times a power of ten.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import floor, isfinite, log10, nan
from statistics import median_high

import numpy as np

from stickslip.lab.compare.comparison import CandidateResult, Comparison, Run
from stickslip.lab.compare.report.numbers import ROUND_OFF, plain, seconds, with_unit
from stickslip.lab.compare.work_precision import cost, error, measured

MOST_NAMES = 5
"""Largest number of names in a sentence; more are only counted."""
NO_GAIN = 1e-6
"""Gains below this fraction of the largest loss or gain of all methods count as none."""


@dataclass(frozen=True)
class Statement:
    heading: str
    label: str
    """The candidate that it is about; may be empty."""
    text: str


def conclusions(comparison: Comparison) -> list[Statement]:
    """Statements about everything that was measured."""
    found = [
        state(comparison)
        for state in (_most_accurate, _fastest, _equal_cost, _energy, _penetration, _laws, _stable, _unfinished)
    ]
    return [statement for statement in found if statement is not None]


def round_up(value: float) -> float:
    """Round up to 1, 2 or 5 times a power of ten."""
    power = 10.0 ** floor(log10(value))
    return float(f"{next(m * power for m in (1, 2, 5, 10) if m * power >= value * (1 - 1e-9)):.1g}")


def _runs(comparison: Comparison) -> list[Run]:
    return [run for candidate in comparison.candidates for run in measured(comparison, candidate)]


def _best_each(comparison: Comparison, figure: Callable[[Run], float]) -> list[Run]:
    """The best run of each candidate, the best candidate first."""
    best = [min(runs, key=figure) for e in comparison.candidates if (runs := measured(comparison, e))]
    return sorted(best, key=figure)


def _most_accurate(comparison: Comparison) -> Statement | None:
    ranked = _best_each(comparison, error)
    if not ranked:
        return None
    first = ranked[0]
    apart = f"{_length(error(first))} from the reference (rms)"
    if error(first) < ROUND_OFF:
        apart = "Equal to the reference up to round-off"
    text = f"{apart} at dt = {seconds(first.dt)}, for {_price(first)}."
    if first.label == comparison.reference[0]:
        text += " The reference is its own run at a shorter step, which favours it."
    if len(ranked) > 1:
        text += f" Next: {ranked[1].label}, {_length(error(ranked[1]))} at dt = {seconds(ranked[1].dt)}."
    return Statement("Most accurate", first.label, text)


def _fastest(comparison: Comparison) -> Statement | None:
    ranked = _best_each(comparison, error)
    if len(ranked) < 2:
        return None
    limit = round_up(max(error(ranked[max(1, (len(ranked) - 1) // 3)]), ROUND_OFF))
    able = [e for e in comparison.candidates if any(error(r) <= limit for r in measured(comparison, e))]
    cheapest = sorted(
        (min((r for r in measured(comparison, e) if error(r) <= limit), key=cost) for e in able), key=cost
    )
    first = cheapest[0]
    text = f"{_price(first)} at dt = {seconds(first.dt)}."
    if len(cheapest) > 1:
        text += f" Next: {cheapest[1].label}, {cost(cheapest[1]) / cost(first):.2g} times that."
    text += f" {len(able)} of {len(comparison.candidates)} methods get there."
    return Statement(f"Fastest with an error below {_length(limit)}", first.label, text)


def _equal_cost(comparison: Comparison) -> Statement | None:
    ranked = _best_each(comparison, cost)
    if len(ranked) < 2:
        return None
    budget = round_up(median_high([cost(run) for run in ranked]))
    inside = [run for run in _runs(comparison) if cost(run) <= budget]
    best = sorted((min((r for r in inside if r.label == x), key=error) for x in {r.label for r in inside}), key=error)
    text = f"{_length(error(best[0]))} at dt = {seconds(best[0].dt)}."
    if len(best) > 1:
        text += f" Next: {best[1].label}, {_length(error(best[1]))}."
    heading = f"Most accurate within {seconds(budget)} of computing per simulated second"
    return Statement(heading, best[0].label, text)


def _typical(comparison: Comparison, name: str) -> list[tuple[CandidateResult, Run, float]]:
    """(candidate, run, figure) of typical runs that have this figure, the largest first."""
    found = []
    for candidate in comparison.candidates:
        run = candidate.typical()
        value = nan if run is None else run.scores.get(name, nan)
        if run is not None and isfinite(value):
            found.append((candidate, run, value))
    return sorted(found, key=lambda entry: -entry[2])


def _energy(comparison: Comparison) -> Statement | None:
    gained, lost = _typical(comparison, "energy_gained"), _typical(comparison, "energy_lost")
    if not gained:
        return None
    scale = max(abs(value) for _, _, value in (*gained, *lost))
    some = [entry for entry in gained if entry[2] > NO_GAIN * scale]
    none = [candidate.label for candidate, _, value in gained if value <= NO_GAIN * scale]
    if not some:
        return Statement("Energy out of nothing", "", "No method gains energy at the step nearest its default.")
    worst, run, value = some[0]
    text = f"Gains {with_unit(value, 'J')} at dt = {seconds(run.dt)}, more than any other."
    if none:
        text += " All others gain none." if len(some) == 1 and len(none) > 1 else f" No gain: {_list(none)}."
    if _springs_unknown(run):
        text += " What its contacts store is not known, and counts as gained when they give it back."
    return Statement("Energy out of nothing", worst.label, text)


def _springs_unknown(run: Run) -> bool:
    """Whether the method does not record the energy of its contact springs."""
    if run.recording is None:
        return False
    with run.log() as log:
        return bool(np.isnan(log.contact_energy).any())


def _penetration(comparison: Comparison) -> Statement | None:
    found = _typical(comparison, "penetration_max")
    if len(found) < 2 or found[0][2] <= 0.0:
        return None
    (deep, _, depth), (shallow, _, least) = found[0], found[-1]
    none = [candidate.label for candidate, _, value in found if value <= ROUND_OFF]
    most = f"deepest is {deep.label} with {_length(depth)}, at the steps nearest their defaults."
    if len(none) > 1:
        return Statement("Least penetration", "", f"None by {_list(none)}; {most}")
    text = "None" if none else f"At most {_length(least)}"
    return Statement("Least penetration", shallow.label, f"{text}; {most}")


def _laws(comparison: Comparison) -> Statement | None:
    parts = []
    for name, law in (("signorini", "Signorini's condition"), ("cone", "Coulomb's cone")):
        found = _typical(comparison, name)
        if not found:
            continue
        worst, _, value = found[0]
        parts.append(
            f"{law} is kept by all to round-off."
            if value < ROUND_OFF
            else f"{law} is kept by all: the residual is at most {plain(value, 2)}."
            if value < 1e-6
            else f"{law} is missed most by {worst.label} ({plain(value, 2)}), least by {found[-1][0].label} "
            f"({plain(found[-1][2], 2)})."
        )
    return Statement("Contact laws", "", " ".join(parts)) if parts else None


def _stable(comparison: Comparison) -> Statement | None:
    known = [e for e in comparison.candidates if isfinite(e.largest_stable_dt)]
    if len(known) < 2:
        return None
    ranked = sorted(known, key=lambda e: -e.largest_stable_dt)
    longest = ranked[0].largest_stable_dt
    shared = [e.label for e in ranked if e.largest_stable_dt >= longest * (1 - 1e-9)]
    shortest = f"shortest is {ranked[-1].label} with {seconds(ranked[-1].largest_stable_dt)}"
    if len(shared) == len(known):
        return Statement("Longest stable step", "", f"{seconds(longest)} for every method.")
    if len(shared) > 1:
        return Statement("Longest stable step", "", f"{seconds(longest)} for {_list(shared)}; {shortest}.")
    return Statement("Longest stable step", shared[0], f"{seconds(longest)}; {shortest}.")


def _unfinished(comparison: Comparison) -> Statement | None:
    bad = [run for run in comparison.runs() if run.outcome != "complete"]
    total = sum(1 for _ in comparison.runs())
    if not bad:
        return Statement("All runs complete", "", f"{total} runs, none diverged.")
    labels = list(dict.fromkeys(run.label for run in bad))
    return Statement("Not completed", "", f"{len(bad)} of {total} runs, of {_list(labels)}.")


def _price(run: Run) -> str:
    factor = 1.0 / cost(run)
    return f"{seconds(cost(run))} of computing per simulated second ({plain(factor, 2)} × real time)"


def _length(value: float) -> str:
    return with_unit(value, "m", 2) if value >= ROUND_OFF else f"less than {with_unit(ROUND_OFF, 'm')}"


def _list(words: list[str]) -> str:
    if len(words) > MOST_NAMES:
        return f"{len(words)} methods"
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
