"""Rows of joints against finite differences, and the linear-time elimination against dense algebra."""

import numpy as np
import pytest
from mechanisms import COMPOSITIONS, bars, inputs, random_state, random_tree

import stickslip as ss
from stickslip.dynamics.configuration import integrate
from stickslip.dynamics.crba import crba, unpack
from stickslip.dynamics.data import make_data
from stickslip.dynamics.jacobian import velocity_at
from stickslip.errors import InputError
from stickslip.maximal import Constraints, Joint, cut, to_bodies
from stickslip.maximal.conversion import place_bodies
from stickslip.maximal.joint_types import JOINT_ROWS
from stickslip.maximal.rows import joint_rows
from stickslip.methods.rigid.coordinates.maximal_coordinates import MaximalCoordinates


def three_boxes():
    rng = np.random.default_rng(5)
    scene = ss.Scene()
    for name in "abc":
        scene.add_box((0.1, 0.2, 0.3), mass=1.0, pos=rng.normal(size=3), name=name)
    return scene.compile()


def at(constraints, kin, Q, V):
    place_bodies(Q, V, kin)
    constraints.look(kin)
    return constraints.violation.copy()


@pytest.mark.parametrize("links", [("a", "b"), ("world", "c"), ("c", "a"), ("b", "world")])
@pytest.mark.parametrize("kind", JOINT_ROWS)
def test_rows_are_derivatives_of_errors(kind, links):
    """At random poses, where the joint is wide open."""
    rng = np.random.default_rng(3)
    model, axis = three_boxes(), rng.normal(size=3)
    free = cut(model)
    joint = Joint(kind, *links, anchor=rng.normal(size=3), axis=axis, axis2=np.cross(axis, rng.normal(size=3)))
    constraints, kin = Constraints(model, free, [joint]), make_data(free).kin
    Q, V = to_bodies(model, model.state().q, rng.normal(size=model.nv))
    np.testing.assert_allclose(at(constraints, kin, Q, V), 0.0, atol=1e-14)  # closed where it was given

    integrate(free.tree, Q, rng.normal(size=free.nv), 0.5, Q)
    assert np.abs(at(constraints, kin, Q, V)).max() > 0.05
    G, J = constraints.rows.toarray(), np.empty((len(constraints.violation), 12))
    joint_rows(constraints.joints, kin, J)
    for row in range(len(J)):  # world axes: linear 1, angular 1, linear 2, angular 2
        a, b = constraints.joints.link1[0], constraints.joints.link2[0]
        world = np.concatenate([kin.vel[a], kin.vel[b]])
        np.testing.assert_allclose(J[row] @ world, (G @ V)[row], atol=1e-12)

    Q1, small = np.empty_like(Q), 1e-6
    for d in range(free.nv):
        error = []
        for sign in (1.0, -1.0):
            integrate(free.tree, Q, sign * small * np.eye(free.nv)[d], 1.0, Q1)
            error.append(at(constraints, kin, Q1, V))
        np.testing.assert_allclose(G[:, d], (error[0] - error[1]) / (2 * small), atol=1e-8)


def test_motion_along_the_joints_leaves_them_closed():
    """Any q and v of the tree satisfy the rows: g = 0 and G·V = 0; what is not a joint's motion does not."""
    kinds = set()
    for seed in range(12):
        model = random_tree(seed)
        free = cut(model)
        constraints, kin = Constraints(model, free), make_data(free).kin
        state = random_state(model, np.random.default_rng(seed))
        Q, V = to_bodies(model, state.q, state.v)
        np.testing.assert_allclose(at(constraints, kin, Q, V), 0.0, atol=1e-12)
        np.testing.assert_allclose(constraints.velocity_errors(V), 0.0, atol=1e-11)
        assert len(constraints.violation) == free.nv - model.nv
        assert np.linalg.matrix_rank(constraints.rows.toarray()) == free.nv - model.nv
        kinds |= set(constraints.kinds)
    assert kinds == {"revolute", "prismatic", "spherical", "cylindrical", "universal", "planar"}, COMPOSITIONS


def dense(free, Q):
    data, M = make_data(free), np.empty((free.nv, free.nv))
    crba(free.tree, free.support, free.inertia, Q, data.kin, data.mass)
    unpack(free.support, data.mass.M, M)
    return data, M


def test_elimination_solves_the_dense_system():
    """Trees, a star, bodies tied by extra joints only, and loops, against G·M⁻¹·Gᵀ and NumPy."""
    rng = np.random.default_rng(0)
    boxes = three_boxes()
    cases = [(random_tree(seed), []) for seed in range(6)] + [(bars(4, "hinge"), [])]
    cases.append((boxes, [Joint("fixed", "a", "b"), Joint("universal", "c", "b", axis=(1, 0, 0), axis2=(0, 1, 0))]))
    ring = [Joint("spherical", a, b, anchor=rng.normal(size=3)) for a, b in ("ab", "bc", "ca")]
    cases.append((boxes, [*ring, Joint("in-line", "world", "a", axis=(1, 2, 3))]))
    for model, extra in cases:
        free = cut(model)
        constraints = Constraints(model, free, extra)
        Q, _ = to_bodies(model, random_state(model, rng).q if not extra else model.state().q, np.zeros(model.nv))
        data, M = dense(free, Q)
        constraints.look(data.kin)
        constraints.factorise(data.mass.M)
        G, r = constraints.rows.toarray(), rng.normal(size=len(constraints.violation))
        u = constraints.correct(r)
        impulse = np.linalg.solve(G @ np.linalg.solve(M, G.T), r)
        np.testing.assert_allclose(constraints.impulse, impulse, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(u, np.linalg.solve(M, G.T @ impulse), rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(constraints.impulses(np.stack([2 * r, r], 1))[:, 1], impulse, rtol=1e-8, atol=1e-8)
    assert len(constraints.forest.loops) == 1


def test_redundant_loops_get_the_smallest_impulses():
    model = three_boxes()
    free = cut(model)
    twice = [Joint("revolute", "a", "b", anchor=(0.1, 0, 0)), Joint("revolute", "a", "b", anchor=(0.1, 0, 0.5))]
    constraints = Constraints(model, free, twice)  # one hinge, said twice: five rows of ten are redundant
    data, _ = dense(free, to_bodies(model, model.state().q, np.zeros(model.nv))[0])
    constraints.look(data.kin)
    constraints.factorise(data.mass.M)
    V = np.random.default_rng(1).normal(size=free.nv)
    V += constraints.correct(-constraints.velocity_errors(V))
    np.testing.assert_allclose(constraints.velocity_errors(V), 0.0, atol=1e-9)
    assert np.abs(constraints.impulse).max() < 100.0


def test_limit_rows_give_rates():
    scene = ss.Scene()
    arm = scene.add_body("arm", joint="hinge", pos=(0.1, 0.2, 0.3), axis=(1, 2, 0), range=(-1.0, 1.0))
    arm.add_box((0.1, 0.1, 0.3), mass=1.0)
    hand = arm.add_body("hand", joint="slide", pos=(0, 0, 0.5), axis=(0, 1, 1), range=(-0.2, 0.3))
    hand.add_box((0.1, 0.1, 0.3), mass=1.0)
    wrist = hand.add_body("wrist", joint="ball", pos=(0, 0.3, 0.0), range=(0, 0.8))
    wrist.add_box((0.1, 0.1, 0.3), mass=1.0)
    model = scene.compile()
    angle = 0.79
    q = np.array([-0.95, 0.35, np.cos(angle / 2), *(np.sin(angle / 2) * np.array([0.6, 0.0, 0.8]))])
    state = model.state(q, np.array([0.3, -0.4, 0.5, 0.6, 0.7]))
    _, V = to_bodies(model, state.q, state.v)
    coordinates = MaximalCoordinates(model)
    coordinates.begin(state, inputs(model), 1e-3)
    rows, gap = coordinates.limits()
    np.testing.assert_allclose(gap, [0.05, -0.05, 0.01])
    np.testing.assert_allclose(rows @ V, [0.3, 0.4, -(0.6 * 0.5 + 0.8 * 0.7)], atol=1e-12)


def test_bad_extra_joints_are_refused():
    model = three_boxes()
    for joint, says in (
        (Joint("welded", "a", "b"), "fixed"),
        (Joint("fixed", "a", "a"), "two different links"),
        (Joint("fixed", "a", "d"), "'d'"),
        (Joint("universal", "a", "b", axis2=(0, 0, 1)), "right angles"),
        ("fixed", "a Joint"),
    ):
        with pytest.raises(InputError, match=says):
            Constraints(model, cut(model), [joint])


def test_armature_of_joints_is_no_body_s():
    scene = ss.Scene()
    scene.add_body("arm", joint="fixed").add_joint("hinge", armature=0.1, name="elbow").add_sphere(0.1, mass=1.0)
    assert not cut(scene.compile()).inertia.armature.any()  # nor is there a warning: it is in a soft row


def test_the_cut_model_keeps_what_the_bodies_are():
    model = bars(3)
    free = cut(model)
    assert (free.nlink, free.nq, free.nv) == (model.nlink, 7 * 7, 6 * 7)
    assert free.shapes == model.shapes
    np.testing.assert_array_equal(free.inertia.mass, model.inertia.mass)
    state = random_state(model, np.random.default_rng(2))
    Q, V = to_bodies(model, state.q, state.v)
    ours, theirs = ss.dynamics.Dynamics(model), ss.dynamics.Dynamics(free)
    np.testing.assert_allclose(ours.energy(state.q, state.v), theirs.energy(Q, V), rtol=1e-12)
    kin = make_data(free).kin
    place_bodies(Q, V, kin)
    assert velocity_at(kin.vel, 1, 0.0, 0.0, 0.0) == tuple(V[:3])
