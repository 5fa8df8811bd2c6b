"""All pairs of kinds at random: the depth is the true one by support functions, and MuJoCo agrees where it is exact.

The oracle for depths is the definition: the gap along n is min over body 2 of n·x − max over body 1, from the support
functions of the shapes, and the signed distance of two convex bodies is its largest value over all n.
"""

from collections import Counter

import mujoco
import numpy as np
import pytest
from convex_pairs import KINDS, PAIRS, Pair, gap_along, two

MARGIN = 0.2
SCENES, POSES = 25, 24
SOLID = [kinds for kinds in PAIRS if kinds[0] != "plane"]
FILTERED = {"box", "cylinder", "mesh"}
"""Two of these, apart, with the nearest features a corner and a corner or edge: no contact, or a gap above the distance
(only what overlaps along the axis counts)."""
MUJOCO_GAP = 2e-6
"""[m] MuJoCo's tolerance for distances of convex shapes (its ccd_tolerance is 1e-6)."""
EXACT_DEPTH = {("sphere", "sphere"), ("sphere", "box"), ("sphere", "capsule"), ("sphere", "cylinder")}
EXACT_DEPTH |= {("capsule", "capsule")}
"""Pairs whose penetration MuJoCo computes in closed form. Its box–box gives edges a bias, and the others come from its
convex collider, whose depth may be that of another axis, deeper than the least: of those it is only held that the depth
found here is never larger along MuJoCo's normal."""
SAME = 2e-3
"""Relative: an axis of two edges within 1e-3 rad of a face's normal is replaced by that normal."""


def climb(pair, directions, rng):
    """The largest gap that a search from the best of many directions finds."""
    width = 0.1
    while width > 1e-5:
        steps = directions[:, None, :] + width * rng.normal(size=(len(directions), 20, 3))
        steps = np.concatenate([directions, steps.reshape(-1, 3)])
        steps /= np.linalg.norm(steps, axis=1)[:, None]
        gaps = gap_along(pair, steps)
        directions = steps[np.argsort(-gaps)[:3]]
        width *= 0.4
    return gaps.max()


@pytest.mark.parametrize("kinds", SOLID, ids="-".join)
def test_random_pairs(kinds):
    rng, search = np.random.default_rng(3), np.random.default_rng(4)
    sphere = search.normal(size=(300, 3))
    sphere /= np.linalg.norm(sphere, axis=1)[:, None]
    seen: Counter = Counter()
    filtered = kinds[0] in FILTERED and kinds[1] in FILTERED
    for _ in range(SCENES):
        pair = Pair(two(*kinds, rng), MARGIN)
        for _ in range(POSES):
            q = pair.random_q(rng)
            c = pair.find(q)
            theirs = pair.mujoco_contacts(q)
            distance, way = pair.mujoco_distance(q, 10.0)
            assert all(np.all(np.isfinite(array)) for array in c[1:])
            if not len(c.gap):
                seen["none"] += 1
                assert distance > (0.0 if filtered else MARGIN - MUJOCO_GAP)
                seen["filtered"] += distance < MARGIN
                continue
            assert np.all(c.gap < MARGIN)
            assert {*zip(c.link1, c.link2, strict=True)} == {(1, 2)}
            np.testing.assert_allclose(np.linalg.norm(c.axes[:, 0], axis=1), 1.0, atol=1e-12)
            i = int(np.argmin(c.gap))
            gap, normal = c.gap[i], c.axes[i, 0]
            along = gap_along(pair, c.axes[:, 0])
            if gap > 0.0:
                seen["apart"] += 1
                if filtered and gap > distance + MUJOCO_GAP:  # a part that overlaps is farther than the nearest part
                    seen["filtered"] += 1
                    continue
                assert abs(gap - distance) < MUJOCO_GAP
                assert gap == pytest.approx(along[i], abs=1e-9)
                if distance > 0.01:
                    assert np.linalg.norm(normal - way) < 1e-2
                continue
            seen["inside"] += 1
            exact = gap == pytest.approx(along[i], abs=1e-9)
            seen["same"] += not exact
            allowed = 1e-9 if exact else SAME
            assert np.all(c.gap >= along - allowed)  # no contact is deeper than the bodies are along its normal
            assert abs(gap - along[i]) < allowed
            start = sphere[np.argsort(-gap_along(pair, sphere))[:3]]
            if theirs:
                start = np.concatenate([start, [n for _, n in theirs]])
            assert climb(pair, start, search) < gap + allowed
            if kinds in EXACT_DEPTH:
                depth, n = min(theirs, key=lambda contact: contact[0])
                assert depth == pytest.approx(gap, abs=1e-6)
                if gap > -0.05:  # unique: deeper ones may have two equally near ways out
                    assert np.linalg.norm(normal - n) < 1e-3
    assert seen["inside"] > 30
    assert seen["apart"] > 20
    assert seen["filtered"] <= (0.1 if filtered else 0.0) * (seen["apart"] + seen["inside"])
    assert seen["same"] <= 0.02 * seen["inside"]


@pytest.mark.parametrize("kind", KINDS[1:])
def test_planes_agree_with_mujoco(kind):
    """The deepest point; MuJoCo keeps four corners of a box at most, and of a cylinder up to four points."""
    rng = np.random.default_rng(5)
    touching = 0
    for _ in range(12):
        pair = Pair(two("plane", kind, rng), MARGIN)
        for _ in range(20):
            q = pair.random_q(rng)
            c, theirs = pair.find(q), pair.mujoco_contacts(q)
            assert np.all(c.link1 == 0)
            if theirs:
                touching += 1
                depth, n = min(theirs, key=lambda contact: contact[0])
                assert c.gap.min() == pytest.approx(depth, abs=1e-9)
                np.testing.assert_allclose(c.axes[:, 0], np.tile(n, (len(c.gap), 1)), atol=1e-9)
            else:
                assert np.all(c.gap >= 0.0)
    assert touching > 50


def test_scales():
    """Sizes from 1e-6 to 1e3 m: the same contacts, scaled. (MuJoCo refuses meshes as small.)"""
    for kinds in (kinds for kinds in SOLID if "mesh" not in kinds):
        found = []
        for scale in (1.0, 1e-6, 1e3):
            rng = np.random.default_rng(6)
            pair = Pair(two(*kinds, rng, scale), MARGIN * scale)
            poses = [pair.random_q(rng, scale) for _ in range(25)]
            contacts = [pair.find(q) for q in poses]
            found.append([(np.sort(c.gap) / scale, len(c.gap)) for c in contacts])
        for other in found[1:]:
            for (gaps, n), (scaled, m) in zip(found[0], other, strict=True):
                assert n == m
                np.testing.assert_allclose(scaled, gaps, atol=1e-7)


@pytest.mark.parametrize("kinds", SOLID, ids="-".join)
def test_rigid_motion_and_swapping(kinds):
    """Moving both bodies moves the contacts; the order in which the bodies are given only turns the normal over."""
    rng = np.random.default_rng(7)
    compared = 0
    for _ in range(6):
        seed = int(rng.integers(1 << 30))
        pair = Pair(two(*kinds, np.random.default_rng(seed)), MARGIN)
        for _ in range(10):
            q = pair.random_q(rng)
            c = pair.find(q)
            turn = rotation(q[3:7]).T  # so that the first body is upright at the origin
            moved = moved_by(pair, q, turn, -turn @ q[:3])
            d = pair.find(moved)
            assert len(d.gap) == len(c.gap)
            if not len(c.gap):
                continue
            compared += 1
            np.testing.assert_allclose(d.gap, c.gap, atol=1e-7)
            np.testing.assert_array_equal(d.pair, c.pair)
            np.testing.assert_allclose(d.axes[:, 0], c.axes[:, 0] @ turn.T, atol=2e-5)
            np.testing.assert_allclose(d.point, (c.point - q[:3]) @ turn.T, atol=2e-5)
            swapped = pair.find(np.r_[q[7:], q[:7]]) if kinds[0] == kinds[1] else None
            assert swapped is None or np.all(np.isfinite(swapped.gap))
    assert compared > 5


def rotation(quat):
    w, x, y, z = quat
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def moved_by(pair, q, turn, shift):
    """The configuration in which all free bodies are turned and shifted."""
    moved = q.copy()
    quat = np.zeros(4)
    mujoco.mju_mat2Quat(quat, np.ascontiguousarray(turn).ravel())
    for first in range(0, len(q), 7):
        moved[first : first + 3] = turn @ q[first : first + 3] + shift
        mujoco.mju_mulQuat(moved[first + 3 : first + 7], quat, q[first + 3 : first + 7])
    return moved
