"""Matrices of problem frames: rows are velocities of points, momentum is conserved, static bodies are the world."""

from dataclasses import replace

import numpy as np
import pytest
from made_up_problems import bodies, contacts, cube, rod, two_spheres

from stickslip.errors import InputError
from stickslip.lab.problems import matrices
from stickslip.problem_files.problem_frame import Constraints, ProblemFrame, empty


def dense(matrix):
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()


@pytest.fixture
def random_frame():
    """Three bodies, one of them static, with contacts between all of them and the world."""
    rng = np.random.default_rng(1)
    pairs = np.array([(1, 3), (3, 1), (-1, 3), (2, 3), (1, 2), (-1, 1)])
    normals = rng.normal(size=(6, 3))
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    roots = rng.normal(size=(3, 3, 3))
    tensors = [root @ root.T + np.eye(3) for root in roots]
    states = [1, -1, 1]
    all_bodies = bodies(
        rng.normal(size=(3, 3)), rng.normal(size=(3, 6)), [1.0, 2.0, 3.0], tensors, rng.normal(size=(3, 6)), states
    )
    frame_contacts = contacts(rng.normal(size=(6, 3)), normals, rng.normal(size=6), 0.4, pairs)
    return ProblemFrame(0.01, all_bodies, frame_contacts, empty(Constraints))


def test_rows_are_relative_velocities_of_points(random_frame):
    rng = np.random.default_rng(2)
    m, b = matrices(random_frame), random_frame.bodies
    assert m.rows.shape == (18, 12)  # the static body has no velocities
    V = {-1: np.zeros(6), 1: rng.normal(size=6), 2: np.zeros(6), 3: rng.normal(size=6)}
    got = (m.rows @ np.concatenate([V[1], V[3]])).reshape(-1, 3)
    for k, (one, two) in enumerate(random_frame.contacts.pairs):
        x = random_frame.contacts.points[k]
        speed = np.zeros(3)
        for body, sign in ((one, -1), (two, 1)):
            if body > 0:
                speed += sign * (V[body][:3] + np.cross(V[body][3:], x - b.positions[body - 1]))
        assert got[k, 0] == pytest.approx(speed @ random_frame.contacts.normals[k], abs=1e-13)
        assert np.linalg.norm(got[k]) == pytest.approx(np.linalg.norm(speed), abs=1e-13)  # tangents are orthonormal


def test_products_are_those_of_dense_matrices(random_frame):
    m, rows, mass = matrices(random_frame), dense(matrices(random_frame).rows), dense(matrices(random_frame).mass)
    assert np.allclose(dense(m.delassus), rows @ np.linalg.solve(mass, rows.T), rtol=0, atol=1e-13)
    force = random_frame.bodies.forces.reshape(3, 6)[[0, 2]].ravel()
    assert np.allclose(mass @ (m.free_velocity - m.velocity), 0.01 * force, rtol=0, atol=1e-14)
    p = np.random.default_rng(3).normal(size=18)
    assert np.allclose(mass @ (m.new_velocity(p) - m.free_velocity), rows.T @ p, rtol=0, atol=1e-13)
    assert m.bilateral == 0
    assert np.array_equal(m.friction, np.full(6, 0.4))


def test_any_impulse_between_bodies_conserves_momentum():
    frame, p = two_spheres(), np.array([0.7, -0.3, 0.2])
    m = matrices(frame)
    change = (dense(m.mass) @ (m.new_velocity(p) - m.free_velocity)).reshape(2, 6)
    assert np.abs(change[:, :3].sum(axis=0)).max() < 1e-15
    angular = change[:, 3:] + np.cross(frame.bodies.positions, change[:, :3])
    assert np.abs(angular.sum(axis=0)).max() < 1e-15
    assert np.abs(change).max() > 0.1


def test_a_static_body_and_the_world_are_the_same():
    world = cube((0.1, 0, 0, 0, 0, 0.2))
    plate = bodies(
        [world.bodies.positions[0], (3, 2, 1)],
        [world.bodies.velocities, np.ones(6)],
        [1.0, 0.0],  # of no consequence
        [world.bodies.world_inertia_tensors, np.zeros((3, 3))],
        states=[1, -1],
    )
    on_plate = replace(world.contacts, pairs=np.array([(2, 1)] * 4))
    one, other = matrices(world), matrices(replace(world, bodies=plate, contacts=on_plate))
    assert np.array_equal(dense(one.delassus), dense(other.delassus))
    assert np.array_equal(one.free_velocity, other.free_velocity)


def test_flipped_pairs_with_flipped_normals_are_the_same_contact():
    one, other = matrices(cube()), matrices(cube(floor=(1, -1)))
    assert np.allclose(dense(one.rows)[::3], dense(other.rows)[::3], rtol=0, atol=1e-15)


def test_given_tangents_are_used():
    t = np.tile((np.sqrt(0.5), np.sqrt(0.5), 0.0), (4, 1))
    m = matrices(replace(cube(), tangents=t))
    assert np.allclose(dense(m.rows)[1::3, :3], t)
    assert np.allclose(dense(m.rows)[2::3, :3], np.cross((0, 0, 1.0), t))


def test_joints_come_first_and_limits_last():
    frame = rod()
    m = matrices(frame)
    assert (m.bilateral, m.contacts) == (5, 1)
    assert m.friction.tolist() == [0.0]
    rows = dense(m.rows)
    assert np.abs(rows[:5] @ frame.bodies.velocities).max() < 1e-15  # it turns about its end
    assert rows[5] @ frame.bodies.velocities == -1.0
    assert not rows[6:].any()
    turned = matrices(rod(bounds=(-np.inf, 0.0)))  # the same limit seen from the other side
    assert np.array_equal(dense(turned.rows)[5], -rows[5])
    with pytest.raises(InputError, match=r"bounds\[5\]"):
        matrices(rod(bounds=(-1.0, 2.0)))
    dry = matrices(rod(bounds=(-1.0, 1.0)))  # the same row as dry friction
    assert (dry.dry.tolist(), dry.friction.tolist()) == ([1.0], [1.0])
    assert not dense(dry.rows)[5].any()
    assert np.array_equal(dense(dry.rows)[6], rows[5])


def test_sparse_where_there_is_much():
    n = 60  # cubes side by side
    one = cube()
    grid = [(float(k), 0.0, 0.1) for k in range(n)]
    points = np.concatenate([one.contacts.points + np.array((k, 0, 0)) for k in range(n)])
    many = ProblemFrame(
        0.01,
        bodies(grid, np.zeros((n, 6)), np.ones(n), [np.eye(3)] * n),
        contacts(
            points,
            np.tile((0, 0, 1.0), (4 * n, 1)),
            np.zeros(4 * n),
            0.5,
            np.repeat([(-1, k + 1) for k in range(n)], 4, axis=0),
        ),
        empty(Constraints),
    )
    m = matrices(many)
    assert not isinstance(m.delassus, np.ndarray)
    assert m.delassus.nnz <= n * 12 * 12


def test_anisotropic_friction_is_refused():
    frame = cube()
    uneven = np.tile((0.5, 0.4, 0.0), (4, 1))
    with pytest.raises(InputError, match="both tangents"):
        matrices(replace(frame, contacts=replace(frame.contacts, mu_k=uneven)))
