"""Hulls at known gaps: a slice of the random pairs of ``bench collision``; and ids while shapes slide and rock."""

import mujoco
import numpy as np
import pytest
from convex_pairs import Pair, random_quaternion

import stickslip as ss
from stickslip.lab.bench.pair_field import EVERY, SIZE, PairField
from stickslip.lab.bench.random_pairs import gap_errors
from stickslip.lab.bench.touching import FACING, Placement

SOLID = [
    ("box", "box"), ("box", "block 100"), ("block 32", "block 32"), ("ellipsoid 30", "ellipsoid 8"),
    ("ellipsoid 4", "ellipsoid 8"), ("ellipsoid 100", "ellipsoid 100"), ("ellipsoid 1000", "block 1000"),
]  # fmt: skip


@pytest.mark.parametrize("kinds", SOLID, ids=" and ".join)
@pytest.mark.parametrize("gap", [0.008, 1e-4, 1e-7])
def test_gaps_are_exact(kinds, gap):
    """Faces, edges and corners at a gap that two supporting planes prove. Every pair has a contact, except for corners
    of boxes before corners and edges of boxes."""
    field, features = PairField(kinds, 18, seed=2), sorted(FACING) if kinds == ("box", "box") else EVERY
    for _ in range(3):
        field.move(field.place(gap, features))
        field.ours()
        found = field.our_answers()
        errors, missing = gap_errors(field, found)
        assert found.finite
        assert missing == 0
        assert np.isfinite(found.gap).all()
        assert np.nanmax(errors) < 1e-9


@pytest.mark.parametrize("kinds", SOLID, ids=" and ".join)
@pytest.mark.parametrize("gap", [-1e-4, -0.01])
def test_depths_are_the_least_ones(kinds, gap):
    """Qhull's least support of the Minkowski difference."""
    field = PairField(kinds, 18, seed=3)
    field.move(field.place(gap, EVERY))
    field.ours()
    found = field.our_answers()
    errors, missing = gap_errors(field, found)
    assert found.finite
    assert missing == 0
    assert np.nanmax(errors) < 1e-6


def ids(field):
    """The set of ids of each pair's contacts."""
    c, n = field.contacts.arrays, len(field.contacts)
    sets = [set() for _ in range(field.pairs)]
    for link, name in zip(c.link2[:n], c.pair[:n], strict=True):
        sets[(link - 1) // 2].add(int(name))
    return sets


def rocked(placement, angle):
    """The second shape turned about an axis across the normal, through its lowest point, which stays."""
    axis = np.cross(placement.normal, np.eye(3)[np.argmin(np.abs(placement.normal))])
    axis /= np.linalg.norm(axis)
    cross = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    turn = np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross
    pos, rot = placement.second
    return Placement(placement.first, (pos, turn @ rot), placement.normal, np.nan, placement.features)


@pytest.mark.parametrize("kinds", SOLID, ids=" and ".join)
@pytest.mark.parametrize("gap", [0.002, -0.002])
def test_no_contact_is_lost_while_faces_slide(kinds, gap):
    """Some id of every pair persists from step to step, and its gap does not jump."""
    field = PairField(kinds, 12, seed=4)
    start = field.place(gap, (("face", "face"),))
    before, last = None, None
    for step in range(30):
        field.move([p.slid(2e-4 * step, 1e-3 * step) for p in start])
        field.ours()
        now, gaps = ids(field), field.our_answers().gap
        near = gaps < 0.9 * field.margin
        if before is not None:
            assert np.all(np.isfinite(gaps[last < 0.5 * field.margin]))
            both = near & (last < 0.9 * field.margin)
            assert np.abs(gaps - last)[both].max(initial=0.0) < 0.01 * SIZE
            if "1000" not in kinds[0]:  # its faces are smaller than a step
                assert all(now[k] & before[k] for k in np.flatnonzero(both))
        before, last = now, gaps


@pytest.mark.parametrize("kinds", [("box", "box"), ("box", "block 100"), ("block 32", "block 32")], ids=" and ".join)
def test_no_contact_is_lost_while_a_block_rocks(kinds):
    """A block that rocks on a face by some mrad keeps touching; depth follows the angle, without a jump."""
    field = PairField(kinds, 12, seed=5)
    start = field.place(-0.002, (("face", "face"),))
    last = None
    for step in range(40):
        field.move([rocked(p, 5e-3 * np.sin(0.3 * step)) for p in start])
        field.ours()
        found = field.our_answers()
        assert found.finite
        assert np.all(np.isfinite(found.gap))
        if last is not None:
            assert np.abs(found.gap - last).max() < 2e-3 * SIZE
        last = found.gap


def test_flush_faces_touch_at_four_corners():
    """Stones of an arch, turned anyhow: their faces are parallel and touch, up to the 1e-8 m that meshes in single
    precision leave."""
    rng, pair = np.random.default_rng(0), Pair(ss.SCENES["arch"].build(0.110).scene, 1e-3)
    stones = pair.model.state().q.reshape(-1, 7)
    for _ in range(40):
        turn, moved = random_quaternion(rng), stones.copy()
        for stone, start in zip(moved, stones, strict=True):
            mujoco.mju_rotVecQuat(stone[:3], start[:3], turn)
            mujoco.mju_mulQuat(stone[3:], turn, start[3:])
        moved[:, 2] += 5.0  # off the floor
        found = pair.find(moved.ravel())
        assert len(found.gap) == 4 * 19
        assert np.abs(found.gap).max() < 1e-7
