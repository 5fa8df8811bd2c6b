"""Full manifolds, closed forms, persistent ids, degenerate poses, broad phase."""

import numpy as np
import pytest
from convex_pairs import Pair, random_quaternion

import stickslip as ss
from stickslip.collision.allowed import touching
from stickslip.collision.convex.broad_phase import find_candidates, make_candidates
from stickslip.errors import InputError
from stickslip.model.shape import ALL_ROUND

UP = np.array([0.0, 0.0, 1.0])


def on_plane(add, margin=0.01, **options):
    scene = ss.Scene()
    scene.add_plane()
    getattr(scene, f"add_{add}")(mass=1.0, **options)
    return Pair(scene, margin)


def turned(axis, angle):
    return np.r_[np.cos(angle / 2), np.sin(angle / 2) * np.asarray(axis, dtype=float)]


def corners(points, digits=9):
    return sorted(tuple(np.round(p, digits) + 0.0) for p in points)


def test_box_on_plane_four_corners():
    c = on_plane("box", size=(0.4, 0.2, 0.1), pos=(0, 0, 0.055)).find()
    assert corners(c.point) == [(x, y, 0.005) for x in (-0.2, 0.2) for y in (-0.1, 0.1)]
    np.testing.assert_allclose(c.gap, 0.005, atol=1e-15)
    np.testing.assert_allclose(c.axes, np.tile([UP, [1, 0, 0], [0, 1, 0]], (4, 1, 1)), atol=1e-12)
    assert {*c.link1} == {0}
    assert {*c.link2} == {1}


def test_flat_box_has_four_contacts():
    """All eight corners are nearer than the margin."""
    c = on_plane("box", size=(1.0, 1.0, 1e-4), pos=(0, 0, 5e-5), margin=0.01).find()
    assert len(c.gap) == 4
    np.testing.assert_allclose(c.gap, 0.0, atol=1e-15)


def test_capsule_on_plane():
    lying = on_plane("capsule", radius=0.1, length=0.6, pos=(0, 0, 0.1), quat=turned((0, 1, 0), np.pi / 2)).find()
    assert corners(lying.point) == [(-0.3, 0, 0), (0.3, 0, 0)]
    np.testing.assert_allclose(lying.gap, 0.0, atol=1e-15)
    standing = on_plane("capsule", radius=0.1, length=0.6, pos=(0, 0, 0.395)).find()
    assert len(standing.gap) == 1
    assert standing.gap[0] == pytest.approx(-0.005)


def test_cylinder_on_plane():
    lying = on_plane("cylinder", radius=0.1, length=0.6, pos=(0, 0, 0.1), quat=turned((0, 1, 0), np.pi / 2)).find()
    assert corners(lying.point) == [(-0.3, 0, 0), (0.3, 0, 0)]
    standing = on_plane("cylinder", radius=0.1, length=0.6, pos=(0, 0, 0.302)).find()
    assert corners(standing.point) == [(-0.1, 0, 0.002), (0, -0.1, 0.002), (0, 0.1, 0.002), (0.1, 0, 0.002)]
    tilt = 0.3
    tilted = on_plane("cylinder", radius=0.1, length=0.6, pos=(0, 0, 0.3), quat=turned((0, 1, 0), tilt)).find()
    lowest = 0.3 - 0.3 * np.cos(tilt) - 0.1 * np.sin(tilt)
    assert tilted.gap.min() == pytest.approx(lowest, abs=1e-14)


BASES = {
    "box": lambda scene: scene.add_box((1, 1, 1), pos=(0, 0, -0.5), joint="fixed"),
    "mesh": lambda scene: scene.add_mesh(
        np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]),
        pos=(0, 0, -0.5),
        joint="fixed",
    ),
    "cylinder": lambda scene: scene.add_cylinder(0.8, 1.0, pos=(0, 0, -0.5), joint="fixed"),
}


def on_base(base, add, margin=0.01, **options):
    scene = ss.Scene()
    BASES[base](scene)
    getattr(scene, f"add_{add}")(mass=1.0, **options)
    return Pair(scene, margin)


@pytest.mark.parametrize("base", BASES)
def test_things_on_flat_tops(base):
    """What stands or lies on the top of a box, a mesh and a cylinder: the manifold of a plane, gap for gap."""
    box = on_base(base, "box", size=(0.4, 0.2, 0.1), pos=(0, 0, 0.055)).find()
    assert corners(box.point, 6) == [(x, y, 0.005) for x in (-0.2, 0.2) for y in (-0.1, 0.1)]
    flat = turned((0, 1, 0), np.pi / 2)
    for kind in ("capsule", "cylinder"):
        lying = on_base(base, kind, radius=0.1, length=0.6, pos=(0, 0, 0.103), quat=flat).find()
        assert corners(lying.point, 6) == [(-0.3, 0, 0.003), (0.3, 0, 0.003)]
        np.testing.assert_allclose(lying.gap, 0.003, atol=1e-9)
    standing = on_base(base, "cylinder", radius=0.1, length=0.6, pos=(0, 0, 0.302)).find()
    assert corners(standing.point, 6) == [(-0.1, 0, 0.002), (0, -0.1, 0.002), (0, 0.1, 0.002), (0.1, 0, 0.002)]
    for c in (box, lying, standing):
        assert np.all(c.link1 == 0)
        np.testing.assert_allclose(c.axes[:, 0], np.tile(UP, (len(c.gap), 1)), atol=1e-9)


def test_overhanging_cylinders_are_cut_by_the_edge():
    """A cylinder that stands half beyond the edge of a box touches with half a disc; one that lies, half a line."""
    standing = on_base("box", "cylinder", radius=0.1, length=0.2, pos=(0.5, 0, 0.1)).find()
    assert corners(standing.point, 6) == [(0.4, 0, 0), (0.5, -0.1, 0), (0.5, 0.1, 0)]
    flat = turned((0, 1, 0), np.pi / 2)
    for kind in ("cylinder", "capsule"):
        lying = on_base("box", kind, radius=0.1, length=0.6, pos=(0.5, 0, 0.1), quat=flat).find()
        assert corners(lying.point, 6) == [(0.2, 0, 0), (0.5, 0, 0)]


def test_face_on_face_is_clipped():
    """Two unit boxes, shifted: the common rectangle; turned by 45 degrees: the octagon."""
    c = on_base("box", "box", size=(1, 1, 1), pos=(0.4, 0.3, 0.5)).find()
    assert corners(c.point, 6) == [(x, y, 0) for x in (-0.1, 0.5) for y in (-0.2, 0.5)]
    octagon = on_base("box", "box", size=(1, 1, 1), pos=(0, 0, 0.5), quat=turned(UP, np.pi / 4)).find()
    assert len(octagon.gap) == 8
    np.testing.assert_allclose(np.linalg.norm(octagon.point, axis=1), 0.5 / np.cos(np.pi / 8), atol=1e-6)
    assert len(np.unique(octagon.pair)) == 8
    flush = on_base("box", "box", size=(1, 1, 1), pos=(0, 0, 0.5)).find()
    assert len(flush.gap) == 4


def test_crossed_edges_one_contact():
    """Two boxes on edge, crosswise: gap and normal in closed form, above and below zero."""
    scene = ss.Scene()
    scene.add_box((0.2, 0.6, 0.2), quat=turned((0, 1, 0), np.pi / 4), joint="fixed")
    scene.add_box((0.6, 0.2, 0.2), mass=1.0)
    pair = Pair(scene, 0.01)
    for gap in (0.009, 1e-9, 0.0, -1e-9, -0.03):
        c = pair.find(np.r_[0.02, 0.05, 0.2 * np.sqrt(2) + gap, turned((1, 0, 0), np.pi / 4)])
        assert len(c.gap) == 1
        assert c.gap[0] == pytest.approx(gap, abs=1e-15)
        np.testing.assert_allclose(c.axes[0, 0], UP, atol=1e-12)
        np.testing.assert_allclose(c.point[0], [0.0, 0.05, 0.1 * np.sqrt(2) + gap], atol=1e-12)


@pytest.mark.parametrize("kind", ["box", "cylinder"])
def test_a_peg_passes_a_hole_larger_by_1e_5(kind):
    """On its way down no contact has an upward normal; inside, walls are 1e-5 away, straight across."""
    scene = ss.Scene()
    wide = 0.05 + 1e-5
    for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        scene.add_box(
            (0.2, 0.5, 0.2) if x else (0.5, 0.2, 0.2), pos=((wide + 0.1) * x, (wide + 0.1) * y, -0.1), joint="fixed"
        )
    if kind == "box":
        scene.add_box((0.1, 0.1, 0.2), mass=1.0)
    else:
        scene.add_cylinder(0.05, 0.2, mass=1.0)
    pair = Pair(scene, 0.01)
    for height in (0.109, 0.1001, 0.100001, 0.1, 0.099, 0.05, 0.0):
        c = pair.find(np.r_[0, 0, height, 1, 0, 0, 0])
        np.testing.assert_allclose(c.axes[:, 0, 2], 0.0, atol=1e-12)
        np.testing.assert_allclose(c.gap, 1e-5, atol=1e-12)
        assert (len(c.gap) > 0) == (height < 0.1 - 1e-9)
    c = pair.find(np.r_[2e-3, 0, 0.105, 1, 0, 0, 0])  # beside the hole it is held
    assert len(c.gap) >= 2
    np.testing.assert_allclose(c.axes[:, 0, 2].max(), 1.0)


def test_ids_of_a_sliding_box_persist():
    pair = on_plane("box", size=(0.2, 0.2, 0.2))
    ids = [pair.find(np.r_[0.1 * k, -0.03 * k, 0.0999, turned(UP, 0.05 * k)]).pair for k in range(30)]
    assert all(np.array_equal(ids[0], other) for other in ids)
    assert len(set(ids[0].tolist())) == 4
    tipped = [set(pair.find(np.r_[0, 0, 0.14, turned((0, 1, 0), a)]).pair.tolist()) for a in np.linspace(0.7, 0.9, 21)]
    assert all(len(ids) in (2, 4) for ids in tipped)
    assert len({frozenset(ids) for ids in tipped}) <= 2


def test_ids_of_a_box_on_a_box_persist_while_it_slides():
    pair = on_base("box", "box", size=(0.2, 0.2, 0.2))
    rng = np.random.default_rng(1)
    inside = [pair.find(np.r_[0.01 * k, 0, 0.0999 + 1e-9 * rng.normal(), turned(UP, 0.01)]).pair for k in range(30)]
    assert all(np.array_equal(inside[0], other) for other in inside)
    hanging = [pair.find(np.r_[0.45 + 0.001 * k, 0, 0.0999, 1, 0, 0, 0]).pair for k in range(30)]
    assert all(np.array_equal(hanging[0], other) for other in hanging)
    assert not np.array_equal(hanging[0], inside[0])
    tilted = [pair.find(np.r_[0, 0, 0.0999, turned((1, 0, 0), 1e-6 * rng.normal())]).pair for _ in range(20)]
    assert all(np.array_equal(np.sort(tilted[0]), np.sort(other)) for other in tilted)


KINDS = {
    "sphere": {"radius": 0.1},
    "box": {"size": (0.2, 0.3, 0.4)},
    "capsule": {"radius": 0.1, "length": 0.4},
    "cylinder": {"radius": 0.1, "length": 0.4},
    "mesh": {"vertices": np.array([[0, 0, 0.2], [0.2, 0, 0], [0, 0.2, 0], [-0.2, -0.2, -0.1]])},
}


@pytest.mark.parametrize("first", KINDS)
@pytest.mark.parametrize("second", KINDS)
def test_coincident_and_degenerate_poses(first, second):
    """Same pose, common axes, half turns, 1e-300 m apart, touching: contacts are finite, unit, and at most as deep."""
    scene = ss.Scene()
    getattr(scene, f"add_{first}")(mass=1.0, **KINDS[first])
    getattr(scene, f"add_{second}")(mass=1.0, **KINDS[second])
    pair = Pair(scene, 0.01)
    rng = np.random.default_rng(2)
    for axis in np.eye(3):
        for angle in (0.0, np.pi / 2, np.pi, 1e-9, 1e-160):
            for shift in (0.0, 1e-300, 1e-17, 1e-9, 0.1, 0.2, 0.4):
                base = np.r_[rng.normal(size=3), random_quaternion(rng)] if shift == 0.0 else np.r_[0, 0, 0, 1, 0, 0, 0]
                other = base.copy() if shift == 0.0 else np.r_[shift * axis, turned(axis, angle)]
                c = pair.find(np.r_[base, other])
                assert all(np.all(np.isfinite(array)) for array in c[1:])
                np.testing.assert_allclose(
                    np.einsum("nij,nkj->nik", c.axes, c.axes), np.tile(np.eye(3), (len(c.gap), 1, 1)), atol=1e-9
                )
                if shift < 1e-8:
                    assert min(c.gap, default=0.0) < -0.05


def test_a_field_of_boxes_on_a_plane():
    scene = ss.Scene()
    scene.add_plane()
    body = scene.add_body(joint="free")
    body.set_inertia(1.0, inertia=(1, 1, 1))
    n = 40
    for i in range(n):
        for j in range(n):
            body.add_box((0.1, 0.1, 0.1), pos=(0.2 * i, 0.2 * j, 0.05), mass=0.0)
    c = Pair(scene, 0.01).find(np.r_[0, 0, 0, 1, 0, 0, 0])
    assert len(c.gap) == 4 * n * n == len(np.unique(c.pair))
    np.testing.assert_allclose(c.gap, 0.0, atol=1e-12)


def random_scene(rng, n):
    """Spheres and boxes of many sizes, a wall, planes, masks, exclusions, chains."""
    scene = ss.Scene()
    scene.add_plane()
    scene.add_box((4, 4, 0.1), pos=(0, 0, -0.2), joint="fixed")
    bodies = []
    for i in range(n):
        options = {"pos": rng.uniform(-1, 1, size=3), "quat": random_quaternion(rng), "mass": 1.0}
        size = 10 ** rng.uniform(-1.5, -0.3)
        bodies.append(
            scene.add_sphere(size, **options) if i % 2 else scene.add_box(size * rng.uniform(0.3, 1, size=3), **options)
        )
        if i % 3 == 0:
            child = bodies[-1].add_body(joint="ball", pos=(0.1, 0, 0))
            child.add_sphere(0.2, mass=1.0)
    scene.exclude(bodies[0], bodies[1])
    return scene


def test_broad_phase_finds_exactly_the_boxes_that_overlap():
    rng = np.random.default_rng(3)
    for _ in range(4):
        pair = Pair(random_scene(rng, 40), 0.05)
        pair.find()
        d, shapes = pair.detector, pair.model.shapes
        found = {
            tuple(sorted(map(int, row))) for row in d.search.candidates.sorted[: int(d.search.candidates.total[0])]
        }
        assert len(found) == d.search.candidates.total[0]
        place = {id(shape): i for i, shape in enumerate(shapes)}
        low, high = d.search.grid.low, d.search.grid.high
        solid, wanted = set(), set()
        for one, other in touching(pair.model):
            a, b = sorted((place[id(one)], place[id(other)]))
            if "plane" not in (one.kind, other.kind):
                solid.add((a, b))
                if np.all(low[a] <= high[b]) and np.all(low[b] <= high[a]):
                    wanted.add((a, b))
        assert {pair for pair in found if pair in solid} == wanted
        assert all(shapes[a].kind == "plane" for a, b in found - wanted)


def test_broad_phase_says_when_it_is_full():
    pair = Pair(random_scene(np.random.default_rng(4), 30), 0.05)
    c = pair.find()
    d = pair.detector
    small = make_candidates(3)
    find_candidates(d.search.geometry.shapes, d.search.rules, d.search.placed, d.margin, d.cell, d.search.grid, small)
    assert small.total[0] == d.search.candidates.total[0] > 3
    d.search = d.search._replace(candidates=small)
    again = pair.find()
    np.testing.assert_array_equal(c.pair, again.pair)


def test_materials_follow_the_combination_rule():
    scene = ss.Scene()
    scene.add_plane(friction=0.3, restitution=0.2)
    scene.add_box((0.2, 0.2, 0.2), pos=(0, 0, 0.1), mass=1.0, friction=0.5, stiffness=2e4)
    c = Pair(scene, 0.01).find()
    row = [0.5, 2e4, 300.0, 0.2, 0.0, 0.0, 0.0, 0.0, 2e4, 300.0, ALL_ROUND]
    np.testing.assert_allclose(c.material, np.tile(row, (4, 1)))


def test_neutral_values_for_viscoelastic_methods():
    pair = on_plane("box", size=(0.2, 0.2, 0.2), pos=(0, 0, 0.1))
    c = pair.find(v=np.r_[1.0, 2.0, 3.0, 0, 0, 0])
    for neutral in (c.rolling, c.radius, c.curvature[:, 0], c.spin):
        assert not neutral.any()
    np.testing.assert_allclose(c.drift, np.tile([1, 2, 3], (4, 1)))


def test_bad_margins_are_refused():
    with pytest.raises(InputError, match="margin"):
        on_plane("sphere", radius=0.1, margin=-1.0)
