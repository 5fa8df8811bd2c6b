"""Contact points in maximal coordinates: gaps at the detector's pose and beyond it, derivatives, lines of action."""

import numpy as np
import pytest
from convex_pairs import PAIRS
from scipy.spatial.transform import Rotation

import stickslip as ss
from stickslip.collision.contacts import ContactList
from stickslip.collision.convex.detect import ConvexDetector
from stickslip.collision.convex.geometry import build_geometry
from stickslip.dynamics.data import make_data
from stickslip.methods.variational.bodies import Pose, centred, from_joint_state, make_pose
from stickslip.methods.variational.contact.points import FLAT1, FLAT2, ROUND, gap_and_rows, make_points, place_points

MARGIN = 0.3
UP = Rotation.from_rotvec([0.4, -0.3, 0.2])
"""The axes of a tilted floor."""


class Points:
    """Contacts of a scene as points, at its initial configuration or another."""

    def __init__(self, scene, detector=ConvexDetector):
        self.model = scene.compile()
        self.centred, self.kin = centred(self.model), make_data(self.model).kin
        self.detector, self.contacts = detector(self.model, MARGIN), ContactList(self.kin)
        self.shapes = build_geometry(self.model)[0].shapes
        self.pose, self.nu = make_pose(self.model.nlink), np.zeros((self.model.nlink, 6))
        self.convex = detector is ConvexDetector
        self.go(self.model.state().q)

    def go(self, q):
        from_joint_state(self.model.tree, self.centred.com, q, np.zeros(self.model.nv), self.kin, self.pose, self.nu)
        self.detector.find(self.kin, self.contacts)

    def place(self):
        points = make_points(len(self.contacts))
        place_points(self.contacts.arrays, self.shapes, self.convex, self.pose, points)
        return points


def moved(pose, link, dx, dtheta):
    """The pose with one body moved: dx in world axes, dtheta in its own."""
    pos, rot = pose.pos.copy(), pose.rot.copy()
    pos[link] += dx
    rot[link] = rot[link] @ Rotation.from_rotvec(dtheta).as_matrix()
    return Pose(pos, pose.quat, rot)


def gap_at(points, c, pose):
    row1, row2 = np.empty(6), np.empty(6)
    return gap_and_rows(points, c, pose, row1, row2), row1, row2


def check_derivatives(points, pose):
    for c in range(points.found[0]):
        _, *rows = gap_at(points, c, pose)
        for link, row in zip((points.link1[c], points.link2[c]), rows, strict=True):
            if link == 0:
                continue
            slope = np.empty(6)
            for i in range(6):
                d = 1e-6 * np.eye(6)[i]
                ahead = gap_at(points, c, moved(pose, link, d[:3], d[3:]))[0]
                slope[i] = (ahead - gap_at(points, c, moved(pose, link, -d[:3], -d[3:]))[0]) / 2e-6
            np.testing.assert_allclose(row, slope, atol=1e-8)


def add(body, kind, rng):
    """A shape of random size and place on a body whose centre of mass lies elsewhere."""
    size, pos = rng.uniform(0.3, 1.0, size=3), 0.1 * rng.normal(size=3)
    if kind == "sphere":
        body.add_sphere(0.7 * size[0], mass=0.0, pos=pos)
    elif kind == "box":
        body.add_box(2 * size, mass=0.0, pos=pos)
    elif kind == "capsule":
        body.add_capsule(0.5 * size[0], 2 * size[1], mass=0.0, pos=pos)
    elif kind == "cylinder":
        body.add_cylinder(size[0], 2 * size[1], mass=0.0, pos=pos)
    else:
        corners = rng.normal(size=(9, 3))
        body.add_mesh(corners / np.linalg.norm(corners, axis=1)[:, None] * size, mass=0.0, pos=pos)


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_gaps_and_derivatives_of_every_pair_of_kinds(kinds):
    rng, seen = np.random.default_rng(5), 0
    for _ in range(3):
        scene = ss.Scene()
        for kind in kinds:
            if kind == "plane":
                scene.add_plane(normal=UP.apply([0, 0, 1]), pos=0.3 * rng.normal(size=3))
            else:
                body = scene.add_body()
                body.set_inertia(1.0, inertia=(1.0, 1.0, 1.0), com=0.2 * rng.normal(size=3))
                add(body, kind, rng)
        found = Points(scene)
        for _ in range(12):
            free = found.model.nq // 7
            q = [np.r_[0.5 * rng.normal(size=3), Rotation.random(rng=rng).as_quat()] for _ in range(free)]
            found.go(np.concatenate(q))
            points, contacts = found.place(), found.contacts.arrays
            for c in range(points.found[0]):
                seen += 1
                gap, row1, row2 = gap_at(points, c, found.pose)
                assert gap == pytest.approx(contacts.gap[c], abs=1e-13)
                arm = contacts.point[c] - found.pose.pos[points.link2[c]]
                turn = found.pose.rot[points.link2[c]]
                for i, axis in enumerate(contacts.axes[c]):  # N and B are rows of the contact frame at its point
                    np.testing.assert_allclose(points.rows2[c, i], np.r_[axis, np.cross(arm, axis) @ turn], atol=1e-12)
                arm = contacts.point[c] - found.pose.pos[points.link1[c]]
                turn = found.pose.rot[points.link1[c]]
                for i, axis in enumerate(contacts.axes[c]):
                    np.testing.assert_allclose(points.rows1[c, i], -np.r_[axis, np.cross(arm, axis) @ turn], atol=1e-12)
                np.testing.assert_allclose(np.stack([row1, row2]), [points.rows1[c, 0], points.rows2[c, 0]], atol=1e-12)
            check_derivatives(points, found.pose)
            pose = found.pose
            for link in range(1, found.model.nlink):
                pose = moved(pose, link, 0.1 * rng.normal(size=3), 0.3 * rng.normal(size=3))
            check_derivatives(points, pose)
    assert seen > 5


def quat(rotation):
    return np.roll(rotation.as_quat(), 1)


def on_floor(height):
    return UP.apply([0.3, 0.2, height])


def ball_on_plane(scene):
    scene.add_plane(normal=UP.apply([0, 0, 1]))
    scene.add_body(pos=on_floor(0.5)).add_sphere(0.45, mass=1.0).add_box((0.1, 0.1, 0.1), mass=1.0, pos=(0.1, 0, 0))


def capsule_on_plane(scene):
    scene.add_plane(normal=UP.apply([0, 0, 1]))
    scene.add_capsule(0.1, 0.5, mass=1.0, pos=on_floor(0.15), quat=quat(UP * Rotation.from_rotvec([0, 1.5, 0])))


def box_on_plane(scene):
    scene.add_plane(normal=UP.apply([0, 0, 1]))
    scene.add_box((0.2, 0.3, 0.4), mass=1.0, pos=on_floor(0.3), quat=quat(UP * Rotation.from_rotvec([0.3, 0.4, 0])))


def cylinder_on_its_side(scene):
    scene.add_plane(normal=UP.apply([0, 0, 1]))
    scene.add_cylinder(0.2, 0.6, mass=1.0, pos=on_floor(0.21), quat=quat(UP * Rotation.from_rotvec([np.pi / 2, 0, 0])))


def two_balls(scene):
    scene.add_sphere(0.4, mass=1.0, pos=(0.1, 0.2, 1.0))
    scene.add_sphere(0.3, mass=1.0, pos=(0.3, 0.2, 1.7), quat=(0.2, 0.1, 0.8, 0.5))


def ball_on_box(scene):
    scene.add_box((1, 1, 0.2), mass=1.0, quat=quat(UP))
    scene.add_sphere(0.3, mass=1.0, pos=on_floor(0.42))


def box_on_ball(scene):
    scene.add_sphere(0.3, mass=1.0, pos=on_floor(0.42))
    scene.add_box((1, 1, 0.2), mass=1.0, quat=quat(UP))


def ball_on_corner(scene):
    scene.add_box((1, 1, 1), mass=1.0, quat=quat(UP))
    scene.add_sphere(0.3, mass=1.0, pos=UP.apply([0.7, 0.7, 0.72]))


def corner_on_face(scene):
    scene.add_box((2, 2, 0.2), mass=1.0, quat=quat(UP))
    turn = Rotation.from_rotvec([0.5, 0.6, 0.9])
    lowest = 0.2 * np.abs(turn.as_matrix()[2]).sum()
    scene.add_box((0.4, 0.4, 0.4), mass=1.0, pos=on_floor(0.11 + lowest), quat=quat(UP * turn))


def face_on_corner(scene):
    turn = Rotation.from_rotvec([0.5, 0.6, 0.9])
    lowest = 0.2 * np.abs(turn.as_matrix()[2]).sum()
    scene.add_box((0.4, 0.4, 0.4), mass=1.0, pos=on_floor(0.11 + lowest), quat=quat(UP * turn))
    scene.add_box((2, 2, 0.2), mass=1.0, quat=quat(UP))


EXACT = {
    ball_on_plane: FLAT1, capsule_on_plane: FLAT1, box_on_plane: FLAT1, two_balls: ROUND, ball_on_box: FLAT1,
    box_on_ball: FLAT2, ball_on_corner: ROUND, corner_on_face: FLAT1, face_on_corner: FLAT2,
}  # fmt: skip


@pytest.mark.parametrize("build", EXACT, ids=lambda build: build.__name__)
def test_gaps_stay_exact_while_bodies_move(build):
    """The same contact found anew at another pose has the gap that the point says."""
    scene, rng, compared = ss.Scene(), np.random.default_rng(6), 0
    build(scene)
    found = Points(scene, ConvexDetector)
    points, q0 = found.place(), found.model.state().q
    assert set(points.kind[: points.found[0]]) == {EXACT[build]}
    for _ in range(20):
        q = q0.copy()
        for at in range(0, len(q), 7):
            turn = Rotation.from_rotvec(0.05 * rng.normal(size=3)) * Rotation.from_quat(np.roll(q[at + 3 : at + 7], -1))
            q[at : at + 3] += 0.02 * rng.normal(size=3)
            q[at + 3 : at + 7] = quat(turn)
        found.go(q)
        gaps = {
            name: found.contacts.arrays.gap[i]
            for i, name in enumerate(found.contacts.arrays.pair[: len(found.contacts)])
        }
        for c in range(points.found[0]):
            if points.name[c] in gaps:
                compared += 1
                assert gap_at(points, c, found.pose)[0] == pytest.approx(gaps[points.name[c]], abs=1e-12)
    assert compared >= 15


def ball_on_capsule(scene):
    scene.add_capsule(0.2, 1.0, mass=1.0, quat=quat(UP))
    scene.add_sphere(0.3, mass=1.0, pos=UP.apply([0.52, 0.0, 0.1]))


def crossing_capsules(scene):
    scene.add_capsule(0.2, 1.0, mass=1.0, quat=quat(UP))
    turn = quat(UP * Rotation.from_rotvec([0.9, 0, 0]))
    scene.add_capsule(0.1, 1.0, mass=1.0, quat=turn, pos=UP.apply([0.32, 0, 0.1]))


def ball_on_edge(scene):
    scene.add_box((1, 1, 1), mass=1.0, quat=quat(UP))
    scene.add_sphere(0.3, mass=1.0, pos=UP.apply([0.72, 0.71, 0.1]))


def ball_on_cylinder(scene):
    scene.add_sphere(0.3, mass=1.0, pos=UP.apply([0.82, 0.0, 0.1]))
    scene.add_cylinder(0.5, 1.0, mass=1.0, quat=quat(UP))


@pytest.mark.parametrize(
    "build", [ball_on_capsule, crossing_capsules, ball_on_edge, ball_on_cylinder], ids=lambda build: build.__name__
)
def test_gaps_on_sides_and_edges_are_never_too_large_while_bodies_shift(build):
    scene, rng, equal = ss.Scene(), np.random.default_rng(7), 0
    build(scene)
    found = Points(scene)
    points, q0 = found.place(), found.model.state().q
    assert points.found[0] == 1
    for k in range(30):
        q = q0.copy()
        q[7:10] += 0.05 * rng.normal(size=3) if k else UP.apply([0, 0, 0.1])  # along the side, or anywhere
        found.go(q)
        gap, true = gap_at(points, 0, found.pose)[0], found.contacts.arrays.gap[0]
        assert gap <= true + 1e-12
        equal += gap == pytest.approx(true, abs=1e-12)
    assert equal >= 1


def test_a_rolling_ball_and_a_rolling_cylinder_keep_their_gaps():
    for build, axis in ((ball_on_plane, (0.3, 0.5, 0.2)), (cylinder_on_its_side, (0.0, 0.0, 1.0))):
        scene = ss.Scene()
        build(scene)
        found = Points(scene)
        points = found.place()
        assert points.found[0] >= 1
        for angle in (0.1, 1.0, 3.0):
            centre = found.kin.pos[1] if build is ball_on_plane else found.pose.pos[1]
            turned = moved(found.pose, 1, np.zeros(3), angle * np.array(axis))
            arm = turned.rot[1] @ found.pose.rot[1].T @ (found.pose.pos[1] - centre)  # about the ball's own centre
            turned.pos[1] = centre + arm
            for c in range(points.found[0]):
                assert gap_at(points, c, turned)[0] == pytest.approx(found.contacts.arrays.gap[c], abs=1e-14)


def test_balls_whose_centres_meet_have_finite_gaps():
    scene = ss.Scene()
    scene.add_sphere(0.4, mass=1.0)
    scene.add_sphere(0.3, mass=1.0)
    found = Points(scene)
    points = found.place()
    gap, *rows = gap_at(points, 0, found.pose)
    assert gap == pytest.approx(-0.7)
    assert np.all(np.isfinite(rows))
    apart = moved(found.pose, 2, 0.5 * found.contacts.arrays.axes[0, 0], np.zeros(3))
    assert gap_at(points, 0, apart)[0] == pytest.approx(-0.2)


def test_forces_between_two_bodies_conserve_momentum():
    """Equal forces on one line, and friction at one point: nothing is left about any point."""
    for build in (two_balls, ball_on_box, box_on_ball, corner_on_face, face_on_corner):
        scene = ss.Scene()
        build(scene)
        found = Points(scene)
        points, pose = found.place(), found.pose
        for c in range(points.found[0]):
            for pairs in zip(points.rows1[c], points.rows2[c], strict=True):
                force, torque = np.zeros(3), np.zeros(3)
                for link, row in zip((points.link1[c], points.link2[c]), pairs, strict=True):
                    force += row[:3]
                    torque += np.cross(pose.pos[link], row[:3]) + pose.rot[link] @ row[3:]
                assert np.abs(np.r_[force, torque]).max() < 1e-13
