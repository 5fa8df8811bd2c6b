"""``stickslip bench collision``, short: what it measures, prints and writes; the truth that it measures against."""

import itertools
import json

import numpy as np
import pytest

from stickslip.lab.bench import collision as bench
from stickslip.lab.bench.pair_field import PairField
from stickslip.lab.bench.random_pairs import Campaign, check_once
from stickslip.lab.bench.touching import FEATURES, Solid, overlap, touching
from stickslip.model.scene import Scene

TINY = bench.Sizes(rounds=1, hulls=(8, 30), pairs=4, random=1, checked=1, bodies=(10, 40))


def test_report(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setattr(bench, "KINDS", [("plane", "box"), ("sphere", "sphere")])
    monkeypatch.setattr(bench, "check_random_pairs", lambda *_: Campaign(pairs=7))
    bench.run_collision(out=tmp_path, sizes=TINY)
    report = json.loads((tmp_path / "collision.json").read_text())
    assert len(report["pairs"]) == 4 * (2 + 4)
    for row in report["pairs"]:
        assert min(row["ours"], row["mujocos"]) > 0
        assert (row["contacts"] == 0) == (row["placement"] == "apart")
        assert row["what"] in ("plane – box", "sphere – sphere") or "30" in row["what"] or "8" in row["what"]
    names = [target["name"] for target in report["targets"]]
    assert "contacts lost while shapes slide" in names
    assert "slope of ours: bodies spread out" in names
    printed = capsys.readouterr().out
    assert "ellipsoid 30" in printed
    assert (tmp_path / "collision.png").read_bytes().startswith(b"\x89PNG")


def solids():
    """A box, two hulls and three smooth shapes."""
    rng, scene = np.random.default_rng(3), Scene()
    scene.add_box((0.2, 0.3, 0.1), mass=1.0)
    scene.add_mesh(rng.normal(size=(12, 3)), mass=1.0)
    scene.add_mesh(rng.normal(size=(40, 3)), mass=1.0)
    scene.add_sphere(0.1, mass=1.0)
    scene.add_capsule(0.1, 0.2, mass=1.0)
    scene.add_cylinder(0.1, 0.2, mass=1.0)
    return [Solid(shape) for shape in scene.compile().shapes]


@pytest.mark.parametrize("features", list(itertools.product(FEATURES, FEATURES)))
def test_placed_shapes_have_the_gap_along_their_normal_and_no_larger_one(features):
    """The gap along the normal is that of the planes; between two points of the shapes it cannot be larger."""
    rng = np.random.default_rng(5)
    directions = rng.normal(size=(200, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    for one, other in itertools.combinations(solids(), 2):
        placed = touching(one, other, features, 0.03, rng.normal(size=3), rng)
        (p, turn), (q, other_turn) = placed.first, placed.second

        def gaps(ways, one=one, other=other, p=p, q=q, turn=turn, other_turn=other_turn):
            return ways @ (q - p) - one.reach(ways @ turn) - other.reach(-ways @ other_turn)

        assert gaps(placed.normal[None])[0] == pytest.approx(0.03, abs=1e-13)
        assert gaps(directions).max() <= 0.03 + 1e-13


def test_depth_of_boxes_is_the_least_of_fifteen_axes():
    """Two boxes overlap least along a face's normal or along the product of two edges."""
    rng, scene = np.random.default_rng(7), Scene()
    for size in ((0.2, 0.3, 0.1), (0.15, 0.1, 0.25)):
        scene.add_box(size, mass=1.0)
    one, other = (Solid(shape) for shape in scene.compile().shapes)
    for features in itertools.product(FEATURES, FEATURES):
        placed = touching(one, other, features, -0.03, np.zeros(3), rng)
        (p, turn), (q, other_turn) = placed.first, placed.second
        axes = [*turn.T, *other_turn.T, *(np.cross(a, b) for a in turn.T for b in other_turn.T)]
        ways = np.array([sign * a / np.linalg.norm(a) for a in axes for sign in (-1, 1) if np.linalg.norm(a) > 1e-9])
        deep = -(ways @ (q - p) - one.reach(ways @ turn) - other.reach(-ways @ other_turn))
        assert overlap(one, other, placed)[0] == pytest.approx(deep.min(), abs=1e-13)


def test_random_pairs_on_faces_are_exact():
    campaign = Campaign()
    for gap in (0.004, 0.0, -0.003):
        check_once(PairField(("box", "box"), 9), gap, 9, campaign)
    assert campaign.pairs == 27
    assert campaign.not_finite == campaign.missing == 0
    assert campaign.overlap_error < 1e-12
