"""Random pairs of convex hulls: gaps beside the truth, pairs without a contact, contacts lost while shapes slide.

Pairs touch, overlap or come near with every pair of features, in every orientation. A pair *fails* if a number is not
finite, if facing features (a face and anything, two crossing edges) within the margin have no contact, or if the gap is
off by more than 1e-9 of the size where the shapes do not overlap, or by 1e-6 where they do.

Where shapes overlap, the gap is checked in two ways: along the found normal, the support functions must give the found
gap; and the depth must not exceed the least depth. The latter is known from Qhull for ``checked`` pairs; for the others
the depth along the normal they were placed with is an upper bound. The normal may be that of a face within ``SAME`` rad
of the axis of least depth, as ``collision.convex.hulls`` says; the gap must then be Qhull's.

A contact is *lost* if a sliding pair has one before and after a call, and none in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from stickslip.collision.convex.hulls import SAME
from stickslip.lab.bench.pair_field import EVERY, MARGIN, SIZE, Answers, PairField
from stickslip.lab.bench.touching import FACING, overlap
from stickslip.progress import Progress

HULLS = (
    ("ellipsoid 4", "ellipsoid 8"), ("ellipsoid 8", "ellipsoid 8"), ("ellipsoid 30", "ellipsoid 8"),
    ("ellipsoid 30", "block 100"), ("block 32", "block 32"), ("ellipsoid 100", "ellipsoid 100"),
    ("box", "ellipsoid 30"), ("box", "block 100"),
)  # fmt: skip
PER_FIELD = 90
"""Pairs in a field; a multiple of the number of pairs of features, so that each is equally frequent."""
GAPS = (0.008, 1e-4, 1e-7, 0.0, -1e-7, -1e-4, -0.002, -0.01, -0.05)
"""[m]."""
LIMIT_APART, LIMIT_OVERLAPPING = 1e-9, 1e-6
"""Largest error of a gap over the size."""
FRAMES = 20
"""Calls of a sliding field."""


@dataclass
class Campaign:
    """What the random pairs showed."""

    pairs: int = 0
    checked: int = 0
    """Overlapping pairs whose depth was compared with Qhull's."""
    apart_error: float = 0.0
    """Largest error of a gap ≥ 0 over the size."""
    overlap_error: float = 0.0
    missing: int = 0
    """Pairs with facing features within the margin that have no contact."""
    corners_missing: int = 0
    """Pairs with a corner before a corner or an edge within the margin that have no contact; collision.md says why."""
    not_finite: int = 0
    wrong: int = 0
    """Pairs whose gap is off."""
    lost: int = 0
    calls: int = 0
    """Calls in which sliding pairs were followed."""
    examples: list[str] = field(default_factory=list)
    """The first pairs that failed."""

    @property
    def failures(self) -> int:
        return self.missing + self.not_finite + self.wrong

    def note(self, what: str) -> None:
        if len(self.examples) < 10:
            self.examples.append(what)

    def lines(self) -> Iterator[tuple[str, str]]:
        yield "pairs", f"{self.pairs}"
        yield "largest error over the size, apart", f"{self.apart_error:.1e}"
        yield f"largest error over the size, overlapping ({self.checked} by Qhull)", f"{self.overlap_error:.1e}"
        yield "without a contact, facing features", f"{self.missing}"
        yield "without a contact, a corner before a corner or edge", f"{self.corners_missing}"
        yield "not finite", f"{self.not_finite}"
        yield "gap off", f"{self.wrong}"
        yield f"contacts lost in {self.calls} calls of sliding pairs", f"{self.lost}"
        for example in self.examples:
            yield "failed", example


def gap_errors(
    pairs: PairField, found: Answers, deep: int | None = None, *, normals: bool = True
) -> tuple[np.ndarray, int]:
    """(pairs,) errors of the gaps over the size, NaN without a contact; and the number of facing pairs without one.

    Of overlapping polyhedra, the first ``deep`` (None: all) are compared with the true depth. With ``normals`` the gap
    of an overlapping pair must also be that along the found normal; see the module.
    """
    errors, missing, left = np.full(pairs.pairs, np.nan), 0, pairs.pairs if deep is None else deep
    for k, placement in enumerate(pairs.placements):
        gap, due = found.gap[k], placement.gap < pairs.margin
        if not np.isfinite(gap):
            missing += due and is_missing(pairs, k)
        elif not due:
            errors[k] = max(0.0, pairs.margin - gap) / SIZE  # a contact where none is
        elif placement.gap >= 0.0:
            errors[k] = abs(gap - placement.gap) / SIZE
        else:
            one, other = pairs.pair(k)
            error = max(0.0, placement.gap - gap)
            if left > 0 and one.points is not None and other.points is not None:
                depth, left = overlap(one, other, placement)[0], left - 1
                error = abs(gap + depth) if depth > 0.0 else 0.0  # it may have come out on the other side
            errors[k] = (max(error, normal_error(pairs, k, found)) if normals else error) / SIZE
    return errors, missing


def is_missing(pairs: PairField, k: int) -> bool:
    """Whether pair k, which has no contact, must have one. Small shapes that were moved far into each other may have
    come out on the other side."""
    (one, other), placement = pairs.pair(k), pairs.placements[k]
    if placement.gap >= 0.0:
        return placement.features in FACING
    return one.points is None or other.points is None or overlap(one, other, placement)[0] > 0.0


def normal_error(pairs: PairField, k: int, found: Answers) -> float:
    """How far the gap of overlapping pair k is from that along the found normal [m], or from the least depth if the
    normal is nearly its axis."""
    error, normal = abs(along(pairs, k, found.normal[k]) - found.gap[k]), found.normal[k]
    one, other = pairs.pair(k)
    if error > LIMIT_OVERLAPPING * SIZE and one.points is not None and other.points is not None:
        depth, axis = overlap(one, other, pairs.placements[k])
        if np.linalg.norm(np.cross(normal, axis)) <= SAME:
            return float(abs(found.gap[k] + depth))
    return float(error)


def along(pairs: PairField, k: int, normal: np.ndarray) -> float:
    """The gap [m] of pair k along a unit vector, by support functions."""
    (one, other), placement = pairs.pair(k), pairs.placements[k]
    (p, turn), (q, other_turn) = placement.first, placement.second
    reach = 0.0 if one.shape.kind == "plane" else one.reach(normal[None] @ turn)[0]
    return float(normal @ (q - p) - reach - other.reach(-normal[None] @ other_turn)[0])


def check_once(pairs: PairField, gap: float, deep: int, campaign: Campaign) -> None:
    """One set of poses of a field."""
    pairs.move(pairs.place(gap, EVERY))
    pairs.ours()
    found = pairs.our_answers()
    errors, missing = gap_errors(pairs, found, deep)
    campaign.pairs += pairs.pairs
    campaign.checked += min(deep, pairs.pairs) if gap < 0.0 else 0
    campaign.missing += missing
    campaign.corners_missing += int(np.count_nonzero(np.isinf(found.gap))) - missing
    campaign.not_finite += int(not found.finite)
    known = errors[np.isfinite(errors)]
    limit = LIMIT_APART if gap >= 0.0 else LIMIT_OVERLAPPING
    campaign.wrong += int(np.count_nonzero(known > limit))
    largest = float(known.max(initial=0.0))
    if gap >= 0.0:
        campaign.apart_error = max(campaign.apart_error, largest)
    else:
        campaign.overlap_error = max(campaign.overlap_error, largest)
    what = f"{' – '.join(pairs.kinds)}, seed {pairs.seed}, gap {gap:g} m"
    for k in np.flatnonzero(errors > limit):
        campaign.note(f"{what}, {' on '.join(pairs.placements[k].features)}: off by {errors[k]:.1e} of the size")
    if missing:
        campaign.note(f"{what}: {missing} without a contact")


def check_sliding(pairs: PairField, gap: float, campaign: Campaign) -> None:
    """Follow sliding pairs and count the calls in which one has no contact, but has one before and after."""
    start = pairs.place(gap, (("face", "face"), ("edge", "edge"), ("corner", "face")))
    seen = []
    for frame in range(FRAMES):
        pairs.move([p.slid(2e-4 * frame, 1e-3 * frame) for p in start])
        pairs.ours()
        seen.append(pairs.our_answers().contacts > 0)
    met = np.array(seen)
    lost = met[:-2] & ~met[1:-1] & met[2:]
    campaign.lost += int(np.count_nonzero(lost))
    campaign.calls += FRAMES
    for k in np.flatnonzero(lost.any(axis=0))[:2]:
        features = " on ".join(start[k].features)
        campaign.note(f"{' – '.join(pairs.kinds)}, seed {pairs.seed}, gap {gap:g} m, {features}: lost while it slides")


def check_random_pairs(number: int, checked: int) -> Campaign:
    """Check at least this many random pairs; ``checked`` or more overlap and are compared with Qhull's depth."""
    campaign = Campaign()
    rounds = max(1, -(-number // (len(HULLS) * PER_FIELD * len(GAPS))))
    overlapping = len(HULLS) * rounds * sum(gap < 0.0 for gap in GAPS)
    deep = min(PER_FIELD, -(-checked // overlapping))
    with Progress("random pairs", rounds * len(HULLS), "fields") as bar:
        for seed in range(rounds):
            for which, kinds in enumerate(HULLS):
                pairs = PairField(kinds, PER_FIELD, seed=seed, margin=MARGIN)
                for gap in GAPS:
                    check_once(pairs, gap, deep, campaign)
                if seed == 0:
                    for gap in (0.002, -0.002):
                        check_sliding(pairs, gap, campaign)
                bar.update(seed * len(HULLS) + which + 1)
    return campaign
