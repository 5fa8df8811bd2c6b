"""``stickslip bench collision``: contacts of pairs of shapes beside MuJoCo's, and beside the truth.

* Every pair of kinds of shapes, and convex hulls of 8 to 7000 vertices (random points on an ellipsoid; blocks with
  large flat faces and rounded edges): apart, near, touching and overlapping, median times per pair of
  ``ConvexDetector.find`` and of ``mj_collision`` (``pair_field`` says what they hold). A pair is timed by a field of
  many pairs, less the same field in which all pairs but one are far apart: this takes away the call from Python and
  the broad phase of both. Targets: at most 1.5 times MuJoCo's for hulls of 100, 1000 and 7000 vertices that are nearer
  than the margin.
* Their gaps beside the truth by support functions (``touching``): to 1e-9 of the size where shapes do not overlap, to
  1e-6 where they do. Pairs without a contact are counted as missing.
* Random pairs of hulls, with every pair of features: none may fail (``random_pairs``).
* 10 to 10 000 bodies, spread out: the time must stay linear in their number.

Ours and MuJoCo's are timed in turn; medians of calls. A field of pairs that takes long gets fewer rounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from stickslip.lab.bench.pair_field import MIXED, SIZE, PairField
from stickslip.lab.bench.random_pairs import (
    LIMIT_APART,
    LIMIT_OVERLAPPING,
    Campaign,
    check_random_pairs,
    gap_errors,
)
from stickslip.lab.bench.scattered import measure_scattered
from stickslip.lab.bench.timing import Growth, growth_table, growth_targets
from stickslip.lab.report import check_destinations, finish, miss_style, terminal_table
from stickslip.lab.targets import Target
from stickslip.progress import Progress

SHAPES = ("plane", "sphere", "box", "capsule", "cylinder", "mesh")
KINDS = tuple(pair for pair in combinations_with_replacement(SHAPES, 2) if pair != ("plane", "plane"))
GAPS = {"apart": 0.03, "near": 0.005, "touching": 0.0, "overlapping": -0.004}
"""Gap [m] of shapes that are 0.2 m long; the margin is 0.01 m."""
SLIDE = 0.002
"""Motion from call to call in a sliding field, relative to the size, and [rad]."""
FAR = 0.5
"""[m] by which the other pairs move apart where a call with a single pair is timed."""
FRAMES = 10
"""Calls in a round."""
PAIRS = {8: 64, 30: 64, 100: 32, 1000: 8, 7000: 4}
"""Number of pairs in a field of hulls of so many vertices."""
TIMED = (100, 1000, 7000)
RATIO_TARGET = 1.5
RESOLUTION = 0.01
"""[µs] shorter times per pair count as this, since they are differences."""
PATIENCE = 10.0
"""[s] for the rounds of one field."""


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    rounds: int = 15
    hulls: tuple[int, ...] = (8, 30, 100, 1000, 7000)
    pairs: int = 64
    """Largest number of pairs in a field."""
    random: int = 100_000
    """Number of random pairs."""
    checked: int = 2_000
    """Number of those that are compared with the true depth by Qhull."""
    bodies: tuple[int, ...] = (10, 30, 100, 300, 1000, 3000, 10_000)


QUICK = Sizes(rounds=5, hulls=(8, 30, 100), random=4_000, checked=200, bodies=(10, 30, 100, 300, 1000))


@dataclass(frozen=True)
class Timing:
    """One kind of pair in one placement; times are medians [µs] per pair."""

    what: str
    placement: str
    ours: float
    """In a sliding field."""
    mujocos: float
    jumping: float
    """Ours where every call has new poses."""
    jumping_mujocos: float
    contacts: float
    """Mean number of contacts of a pair."""
    mujocos_contacts: float
    error: float
    """Largest error of a gap, relative to the size; NaN where the truth is not known or no contact is due."""
    mujocos_error: float
    missing: int
    """Pairs with facing features, within the margin, without a contact."""
    target: float | None

    @property
    def ratio(self) -> float:
        return self.ours / self.mujocos


def rounds_of(field: PairField, gap: float, rounds: int, sliding: bool) -> tuple[float, float]:
    """Median times [µs] per pair of ours and MuJoCo's, in turn, less what a call with a single pair takes."""
    samples: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
    spent = 0.0
    for _ in range(rounds):
        placements = field.place(gap, MIXED)
        for frame in range(FRAMES + 1):
            if sliding:
                shown = [p.slid(SLIDE * SIZE * frame, SLIDE * frame) for p in placements]
            else:
                shown = field.place(gap, MIXED)
            for alone in (True, False):
                field.move([shown[0], *(p.apart(FAR) for p in shown[1:])] if alone else shown)
                times = field.ours(), field.mujocos()
                spent += sum(times)
                if frame or not sliding:  # the first call follows a jump
                    samples[alone].append(times)
            if spent > PATIENCE and samples[False]:
                break
        if spent > PATIENCE:
            break
    ours, mujocos = np.median(samples[False], axis=0) - np.median(samples[True], axis=0)
    return max(1e6 * ours / (field.pairs - 1), RESOLUTION), max(1e6 * mujocos / (field.pairs - 1), RESOLUTION)


def largest(errors: np.ndarray) -> float:
    """The largest error that is known, or NaN."""
    return float(np.nanmax(errors)) if np.isfinite(errors).any() else np.nan


def time_field(what: str, field: PairField, sizes: Sizes, target: float | None) -> list[Timing]:
    rows = []
    for placement, gap in GAPS.items():
        field.move(field.place(gap, MIXED))
        field.ours()  # compiles, or grows buffers
        ours, mujocos = rounds_of(field, gap, sizes.rounds, sliding=True)
        jumping = rounds_of(field, gap, max(2, sizes.rounds // 3), sliding=False)
        field.move(field.place(gap, MIXED))
        field.ours()
        field.mujocos()
        found, peers = field.our_answers(), field.mujocos_answers()
        our_errors, missing = gap_errors(field, found)
        peers_errors, _ = gap_errors(field, peers, normals=False)
        aim = target if placement != "apart" else None
        counts = float(found.contacts.mean()), float(peers.contacts.mean())
        errors = largest(our_errors), largest(peers_errors)
        rows.append(Timing(what, placement, ours, mujocos, *jumping, *counts, *errors, missing, aim))
    return rows


def time_pairs(sizes: Sizes) -> list[Timing]:
    fields: list[tuple[str, tuple[str, str], int, float | None]]
    fields = [(f"{one} – {other}", (one, other), sizes.pairs, None) for one, other in KINDS]
    for n in sizes.hulls:
        target = RATIO_TARGET if n in TIMED else None
        pairs = min(PAIRS[n], sizes.pairs)
        fields += [(f"{kind} {n}", (f"{kind} {n}", f"{kind} {n}"), pairs, target) for kind in ("ellipsoid", "block")]
    rows: list[Timing] = []
    with Progress("pairs of shapes", len(fields), "pairs") as bar:
        for done, (what, kinds, pairs, target) in enumerate(fields):
            rows += time_field(what, PairField(kinds, pairs, seed=done), sizes, target)
            bar.update(done + 1)
    return rows


def targets(rows: list[Timing], campaign: Campaign, growths: list[Growth]) -> list[Target]:
    aims = [
        Target(f"{row.what}, {row.placement}: time / MuJoCo's", row.ratio, row.target)
        for row in rows
        if row.target is not None
    ]
    for names, limit in ((("near", "touching"), LIMIT_APART), (("overlapping",), LIMIT_OVERLAPPING)):
        errors = [row.error for row in rows if row.placement in names and np.isfinite(row.error)]
        aims.append(Target(f"error of gaps over size, {' or '.join(names)}", max(errors), limit))
    aims += [
        Target("pairs of a field without a contact", sum(row.missing for row in rows), 0),
        Target("random pairs: error of gaps over size, apart", campaign.apart_error, LIMIT_APART),
        Target("random pairs: error of gaps over size, overlapping", campaign.overlap_error, LIMIT_OVERLAPPING),
        Target("random pairs that fail", campaign.failures, 0),
        Target("contacts lost while shapes slide", campaign.lost, 0),
    ]
    return aims + growth_targets(growths)


def _table(rows: list[Timing]) -> Table:
    headings = (
        "pair",
        "",
        "ours µs",
        "MuJoCo µs",
        "ratio",
        "jumping",
        "contacts",
        "error",
        "MuJoCo's error",
        "missing",
    )
    table = terminal_table(
        "Contacts of a pair: median time, sliding; error of the gap over the size", headings, words=2
    )
    for row in rows:
        counts = f"{row.contacts:.1f} ({row.mujocos_contacts:.1f})"
        errors = ("" if np.isnan(e) else f"{e:.0e}" for e in (row.error, row.mujocos_error))
        jumping = f"{row.jumping / row.jumping_mujocos:.2f}"
        table.add_row(
            row.what, row.placement, f"{row.ours:.3g}", f"{row.mujocos:.3g}", f"{row.ratio:.2f}", jumping, counts,
            *errors, f"{row.missing or ''}", style=miss_style(row.ratio, row.target),
        )  # fmt: skip
    return table


def _campaign_table(campaign: Campaign) -> Table:
    table = terminal_table("Random pairs of hulls, every pair of features", ("what", ""))
    for what, value in campaign.lines():
        table.add_row(what, value)
    return table


def _plot(rows: list[Timing], growths: list[Growth], panels: Any) -> None:
    left, right = panels
    for kind in ("ellipsoid", "block"):
        for placement in GAPS:
            mine = [row for row in rows if row.what.startswith(kind) and row.placement == placement]
            left.loglog([int(row.what.split()[1]) for row in mine], [row.ratio for row in mine], "o-",
                        label=f"{kind}, {placement}")  # fmt: skip
    left.set_xlabel("vertices of each hull")
    left.set_ylabel("time per pair over MuJoCo's")
    for g in growths:
        right.loglog(g.sizes, 1e-3 * np.array(g.times), "o--" if "MuJoCo" in g.name else "o-", label=g.name)
    right.set_xlabel("bodies, spread out")
    right.set_ylabel("time [ms]")
    for axes in panels:
        axes.grid(alpha=0.3)
        axes.legend(fontsize=7)


def run_collision(
    quick: bool = False, json_path: Path | None = None, out: Path | None = None, *, sizes: Sizes | None = None
) -> bool:
    """Measure, print the tables and the worst figure; True if every target is met."""
    check_destinations(json_path, out)
    sizes = sizes or (QUICK if quick else Sizes())
    rows = time_pairs(sizes)
    campaign = check_random_pairs(sizes.random, sizes.checked)
    growths = measure_scattered(sizes.bodies, sizes.rounds)
    numbers = {"sizes": sizes, "pairs": rows, "random": campaign, "growth": growths}
    tables = [_table(rows), _campaign_table(campaign), growth_table(growths)]
    plot = partial(_plot, rows, growths)
    aims = targets(rows, campaign, growths)
    return finish("collision", numbers, aims, tables, plot, json_path, out, panels=2, size=(13.0, 5.0))
