"""Groups of subcontacts: the peg and the hole, crossing edges, and polyhedra at random against linear programming."""

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

import stickslip as ss
from stickslip.collision.contacts import ContactList
from stickslip.collision.polyhedral.peg_detector import PegDetector
from stickslip.dynamics.data import make_data

CUBE = (1.0, 1.0, 1.0)
TETRAHEDRON = np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)], dtype=float) / 2
"""Its edges have length √2."""


class Instant:
    """Links put where they are wanted, and what the detector finds there."""

    def __init__(self, scene: ss.Scene, margin: float = 0.1) -> None:
        self.model = scene.compile()
        self.kin = make_data(self.model).kin
        self.detector = PegDetector(self.model, margin)
        self.contacts = ContactList(self.kin, 1)
        state = self.model.state()
        for link in range(1, self.model.nlink):
            self.put(link, state.q[7 * link - 7 : 7 * link - 4], state.q[7 * link - 4 : 7 * link])

    def put(self, link, pos, quat=None):
        self.kin.pos[link] = self.kin.origin[link] = pos
        if quat is not None:
            self.kin.rot[link] = rotation(quat)

    def groups(self) -> list[dict[str, np.ndarray]]:
        start = self.detector.find_groups(self.kin, self.contacts)
        c = self.contacts.arrays
        assert start[-1] == len(self.contacts)
        spans = [slice(a, b) for a, b in itertools.pairwise(start)]
        return [{"gap": c.gap[s].copy(), "n": c.axes[s, 0].copy(), "p": c.point[s].copy()} for s in spans]


def rotation(quat) -> np.ndarray:
    w, *x = np.asarray(quat) / np.linalg.norm(quat)
    cross = np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])
    return np.eye(3) + 2 * w * cross + 2 * cross @ cross


def hole(scale: float) -> ss.Scene:
    scene = ss.Scene()
    for pos in ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0)):
        scene.add_box(CUBE, pos=pos, joint="fixed")
    scene.add_box((scale,) * 3, pos=(0, 0, 1.5), mass=1.0)
    return scene


def drop(scale: float, steps: int, single: bool = False) -> tuple[float, int]:
    """Height after so many steps, if impulses are vertical; and how many groups ever needed one."""
    now, h, z, v, needed = Instant(hole(scale)), 0.01, 1.5, 0.0, 0
    for _ in range(steps):
        now.put(1, (0, 0, z))
        v -= 9.81 * h
        lowest = v
        if single:
            now.detector.find(now.kin, now.contacts)
            n, c = len(now.contacts), now.contacts.arrays
            groups = [{"gap": c.gap[i : i + 1], "n": c.axes[i : i + 1, 0]} for i in range(n)]
        else:
            groups = now.groups()
        for group in groups:
            up = group["n"][:, 2]
            if (group["gap"] + h * up * v).max() < -1e-12:
                assert np.any(up > 0.5), "only a vertical impulse is there to help"
                lowest = max(lowest, (-group["gap"][up > 0.5] / (h * up[up > 0.5])).min())
                needed += 1
        v = lowest
        z += h * v
    return z, needed


def test_a_peg_that_fits_falls_through():
    z, needed = drop(0.99999, 100)
    assert needed == 0
    assert z == pytest.approx(1.5 - 9.81 * 1e-4 * 5050, abs=1e-12)  # semi-implicit Euler in free fall


def test_a_peg_that_does_not_fit_rests_on_top():
    z, needed = drop(1.00001, 60)
    assert needed > 0
    assert z == pytest.approx(1.000005, abs=1e-9)


def test_without_groups_nothing_enters_the_hole():
    z, _ = drop(0.99999, 60, single=True)
    assert z == pytest.approx(0.999995, abs=1e-9)


def test_a_peg_in_a_mesh_of_single_precision():
    now = Instant(hole(0.9999))
    now.put(1, (0, 0, 0.3))
    assert all(group["gap"].max() > 4e-5 for group in now.groups())


def test_a_vertex_above_a_face_is_one_contact():
    scene = ss.Scene()
    scene.add_box((2, 2, 1), pos=(0, 0, -0.5), joint="fixed")
    scene.add_box((0.5, 0.5, 0.5), pos=(0, 0, 0.27), mass=1.0)
    groups = Instant(scene).groups()
    assert len(groups) == 4
    for group in groups:
        np.testing.assert_allclose(group["gap"], [0.02], atol=1e-15)
        np.testing.assert_allclose(group["n"], [[0, 0, 1]])
        assert group["p"][0, 2] == pytest.approx(0.02)


def test_cubes_with_an_offset_touch_at_the_corners_of_what_they_share():
    scene = ss.Scene()
    scene.add_box(CUBE, pos=(0, 0, 0), joint="fixed")
    scene.add_box(CUBE, pos=(0.4, 0.3, 1.0), mass=1.0)
    groups = Instant(scene, margin=0.05).groups()
    corners = {tuple(np.round(g["p"][0, :2], 9)) for g in groups if g["gap"].max() < 1e-9}
    assert corners == {(-0.1, -0.2), (0.5, 0.5), (0.5, -0.2), (-0.1, 0.5)}
    assert all(np.allclose(group["n"][0], (0, 0, 1)) for group in groups)


def test_a_cube_on_its_edge_across_the_edge_of_another():
    s = np.sqrt(0.5)
    scene = ss.Scene()
    scene.add_box(CUBE, pos=(0, 0, -s), quat=(np.cos(np.pi / 8), np.sin(np.pi / 8), 0, 0), joint="fixed")
    scene.add_box(CUBE, pos=(0.1, -0.2, s + 0.01), quat=(np.cos(np.pi / 8), 0, np.sin(np.pi / 8), 0), mass=1.0)
    now = Instant(scene, 0.05)
    (group,) = now.groups()
    assert group["gap"][0] == pytest.approx(0.01)
    np.testing.assert_allclose(group["n"][0], (0, 0, 1), atol=1e-12)
    np.testing.assert_allclose(group["p"][0], (0.1, 0, 0.01), atol=1e-12)


def test_a_vertex_of_a_tetrahedron_above_an_edge_has_both_faces():
    scene = ss.Scene()
    scene.add_box(CUBE, pos=(0.5, 0, -0.5), joint="fixed")
    down = np.array([(0, 0, 0), (1, 0, 1), (-1, 1, 1), (-1, -1, 1)], dtype=float)
    scene.add_mesh(down, pos=(0, 0, 0), mass=1.0)
    now = Instant(scene, 0.05)
    shape = next(shape for shape in now.model.shapes if shape.kind == "mesh")
    tip = (shape.vertices @ shape.rot.T + shape.pos)[np.argmin((shape.vertices @ shape.rot.T)[:, 2])]
    now.put(1, np.array((0.01, 0, 0.02)) - tip)
    group = now.groups()[0]
    np.testing.assert_allclose(group["gap"], (0.02, -0.01), atol=1e-7)  # the top, and the side that it may slip past
    np.testing.assert_allclose(group["n"], [(0, 0, 1), (-1, 0, 0)], atol=1e-12)


def random_hull(rng, n) -> np.ndarray:
    x = rng.normal(size=(n, 3))
    return 0.5 * x / np.linalg.norm(x, axis=1)[:, None]


def half_spaces(now: Instant, s: int) -> tuple[np.ndarray, np.ndarray]:
    b = now.detector.bodies
    faces = slice(b.face_start[s], b.face_start[s + 1])
    normal = b.normal[faces] @ now.kin.rot[b.link[s]].T
    return normal, b.offset[faces] + normal @ now.kin.pos[b.link[s]]


def depth(now: Instant) -> float:
    """Radius of the largest ball in what both have in common; minus that of how much they must grow to touch."""
    (n1, d1), (n2, d2) = half_spaces(now, 0), half_spaces(now, 1)
    A = np.concatenate([n1, n2])
    rows = np.column_stack([A, np.ones(len(A))])
    result = linprog([0, 0, 0, -1], A_ub=rows, b_ub=np.concatenate([d1, d2]), bounds=[(None, None)] * 4)
    return -result.fun


@pytest.mark.parametrize("kind", ["cubes", "cube and tetrahedron", "hulls"])
def test_groups_hold_exactly_as_long_as_bodies_do_not_overlap(kind):
    rng = np.random.default_rng(3)
    scene = ss.Scene()
    for k in range(2):
        if kind == "hulls":
            scene.add_mesh(random_hull(rng, 12), pos=(3 * k, 0, 0), mass=1.0)
        elif kind == "cubes" or k == 0:
            scene.add_box((0.8, 0.7, 0.6), pos=(3 * k, 0, 0), mass=1.0)
        else:
            scene.add_mesh(TETRAHEDRON, pos=(3 * k, 0, 0), mass=1.0)
    now = Instant(scene, margin=0.15)
    apart, overlapping = 0, 0
    for trial in range(400):
        axis = np.eye(4)[trial % 4] if trial % 3 == 0 else rng.normal(size=4)  # also aligned ones
        now.put(2, 0.55 * random_hull(rng, 1)[0] / 0.5 * rng.uniform(1.0, 1.7), axis)
        inside = depth(now)
        worst = min((group["gap"].max() for group in now.groups()), default=np.inf)
        if inside <= 0.0:
            apart += inside > -0.05
            assert worst >= -1e-7, trial
        elif 1e-4 < inside < 0.015:  # deeper, a tip may have passed through to the other side
            overlapping += 1
            assert worst < 0.0, trial
    assert apart > 15
    assert overlapping > 10


@pytest.mark.parametrize("kind", ["cubes", "boxes", "cube and tetrahedron"])
@pytest.mark.parametrize("little", [0.0, 1e-12, 1e-9, 1e-6])
def test_groups_of_bodies_with_flush_sides(kind, little):
    """On a grid, turned by right angles: faces in one plane, edges along each other; all that nearly so, too."""
    rng = np.random.default_rng(7)
    scene = ss.Scene()
    scene.add_box((0.8, 0.8, 0.8), mass=1.0)
    if kind == "cube and tetrahedron":
        scene.add_mesh(0.8 * TETRAHEDRON, pos=(3, 0, 0), mass=1.0)
    else:
        scene.add_box((0.8, 0.8, 0.8) if kind == "cubes" else (0.4, 0.8, 1.2), pos=(3, 0, 0), mass=1.0)
    now = Instant(scene, margin=0.15)
    turns = [np.eye(4)[0], *(np.array([1.0, *axis]) for axis in np.eye(3))]
    apart, overlapping = 0, 0
    for trial in range(300):
        pos = 0.2 * rng.integers(-5, 6, size=3)
        sunk = rng.integers(3)
        pos[sunk] = rng.choice([-1, 1]) * (rng.choice([0.6, 0.8, 1.0]) - (trial % 3 - 1) * 0.004)
        quat = turns[trial % 4] + (0 if trial % 2 else little * rng.normal(size=4))
        now.put(2, pos + little * rng.normal(size=3), quat / np.linalg.norm(quat))
        inside = depth(now)
        worst = min((group["gap"].max() for group in now.groups()), default=np.inf)
        if inside <= 0.0:
            apart += inside > -0.05
            assert worst >= -1e-6, trial
        elif 1e-4 < inside < 0.005:
            overlapping += 1
            assert worst < -1e-4, trial
    assert apart > 10
    assert overlapping > 5


def test_planes_and_spheres_are_groups_of_one():
    scene = ss.Scene()
    scene.add_plane()
    scene.add_box((0.2, 0.2, 0.2), pos=(0, 0, 0.11), mass=1.0)
    scene.add_sphere(0.1, pos=(0, 0, 0.32), mass=1.0)
    groups = Instant(scene, 0.05).groups()
    assert [len(group["gap"]) for group in groups] == [1] * 5
    np.testing.assert_allclose(sorted(group["gap"][0] for group in groups), [0.01] * 5, atol=1e-12)


def test_ids_are_unique_and_persist():
    now = Instant(hole(1.00001))
    now.put(1, (0, 0, 1.02))
    now.groups()
    ids = now.contacts.arrays.pair[: len(now.contacts)].copy()
    assert len(set(ids)) == len(ids) > 50
    now.put(1, (1e-6, 0, 1.015))  # no vertex passes a plane
    now.groups()
    later = now.contacts.arrays.pair[: len(now.contacts)]
    assert set(later) == set(ids)


def test_turning_normals_against_differences():
    """Of edges, and of faces of body 2: spin is how the normal turns seen from link 1."""
    rng = np.random.default_rng(5)
    scene = ss.Scene()
    scene.add_box((0.8, 0.7, 0.6), mass=1.0)
    scene.add_box((0.8, 0.7, 0.6), pos=(3, 0, 0), mass=1.0)
    now = Instant(scene, 0.15)
    kinds = set()
    for _ in range(6):
        pos, rot, step = 0.66 * random_hull(rng, 1)[0] / 0.5, rotation(rng.normal(size=4)), 1e-6
        omega, speed = rng.normal(size=(2, 3)), rng.normal(size=(2, 3))
        found = []
        for t in (-step, step, 0.0):
            for link, place, turn in ((1, np.zeros(3), np.eye(3)), (2, pos, rot)):
                angle = np.linalg.norm(omega[link - 1]) * t
                axis = omega[link - 1] / np.linalg.norm(omega[link - 1])
                now.put(link, place + t * speed[link - 1])
                now.kin.rot[link] = rotation([np.cos(angle / 2), *np.sin(angle / 2) * axis]) @ turn
                now.kin.vel[link] = [*speed[link - 1], *omega[link - 1]]
            now.groups()
            c, n = now.contacts.arrays, len(now.contacts)
            found.append({int(c.pair[i]): (c.axes[i, 0].copy(), c.spin[i].copy(), c.gap[i]) for i in range(n)})
        for pair in set(found[0]) & set(found[1]) & set(found[2]):
            rate = (found[1][pair][0] - found[0][pair][0]) / (2 * step)
            normal, spin, _ = found[2][pair]
            np.testing.assert_allclose(np.cross(omega[0] + spin, normal), rate, atol=1e-5)
            kinds.add(bool(np.linalg.norm(spin) > 0.0))
    assert kinds == {True, False}


def test_bad_margin():
    with pytest.raises(ss.InputError, match="margin"):
        PegDetector(hole(1.0).compile(), 0.0)
