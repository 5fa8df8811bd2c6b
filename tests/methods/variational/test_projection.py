"""Open joints are closed before the first step, and the correction is reported."""

from dataclasses import replace

import numpy as np
import pytest
from mechanisms import random_state, random_tree

import stickslip as ss
from stickslip.dynamics.configuration import integrate
from stickslip.dynamics.data import make_data
from stickslip.errors import InputError
from stickslip.maximal import Constraints, Joint, cut, to_bodies, to_joints
from stickslip.maximal.conversion import place_bodies
from stickslip.methods.variational.joints.projection import project
from stickslip.scenes.linkages import bricard, four_bar


def errors(model, extra, Q, V):
    """Largest |g| and |G·V|."""
    free = cut(model)
    constraints, kin = Constraints(model, free, extra), make_data(free).kin
    place_bodies(Q, V, kin)
    constraints.look(kin)
    return np.abs(constraints.violation).max(), np.abs(constraints.velocity_errors(V)).max()


def test_closed_joints_stay_where_they_are():
    for model in (random_tree(3), four_bar().scene.compile(), bricard().scene.compile()):
        Q, V = to_bodies(model, model.state().q, np.zeros(model.nv))
        found = project(model, (), Q, V)
        assert found.moved < 1e-12
        np.testing.assert_allclose(found.Q, Q, atol=1e-12)
        np.testing.assert_array_equal(found.V, V)


def test_an_opened_four_bar_is_closed():
    """The coupler's angle 0.05 rad beside: a gap of 0.05·0.6 m at the pin."""
    model = four_bar().scene.compile()
    q = model.state().q.copy()
    q[1] += 0.05
    Q, V = to_bodies(model, q, [1.0, 0.0, 0.0])
    before, rate = errors(model, (), Q, V)
    found = project(model, (), Q, V)
    np.testing.assert_allclose(found.position, before, rtol=1e-12)
    np.testing.assert_allclose(before, 2 * 0.6 * np.sin(0.025), rtol=0.2)  # the largest of its three coordinates
    assert 0.005 < found.moved < 0.2
    assert found.velocity > 0.1 * rate > 0.0
    after, rate = errors(model, (), found.Q, found.V)
    assert after < 1e-12
    assert rate < 1e-12
    closed_q, closed_v = to_joints(model, found.Q, found.V)
    again, _ = to_bodies(model, closed_q, closed_v)
    np.testing.assert_allclose(again, found.Q, atol=1e-11)  # joint coordinates say it all


def test_bodies_move_the_less_the_heavier_they_are():
    """A ball joint between two point-like bodies 0.1 m apart: they meet at their centre of mass."""
    scene = ss.Scene()
    for name, mass, x in (("light", 1.0, 0.0), ("heavy", 3.0, 0.0)):
        scene.add_sphere(0.1, mass=mass, pos=(x, 0, 0), name=name)
    model = scene.compile()
    joint = Joint("spherical", "light", "heavy")
    Q, V = to_bodies(model, model.state().q, np.zeros(12))
    Q[7], V[0] = 0.1, 1.0
    found = project(model, [joint], Q, V)
    np.testing.assert_allclose(found.Q[[0, 7]], 0.075, atol=1e-12)
    np.testing.assert_allclose(found.V[[0, 6]], 0.25, atol=1e-12)
    np.testing.assert_allclose([found.position, found.velocity, found.moved], [0.1, 1.0, 0.075], atol=1e-12)


def test_shaken_trees_and_rings_are_closed():
    rng = np.random.default_rng(7)
    models = [random_tree(seed) for seed in range(6)] + [bricard().scene.compile()]
    for model in models:
        free = cut(model)
        q = random_state(model, rng, 0.5).q if not model.loops else model.state().q
        Q, _ = to_bodies(model, q, np.zeros(model.nv))
        shaken = Q.copy()
        integrate(free.tree, Q, 0.02 * rng.normal(size=free.nv), 1.0, shaken)
        V = rng.normal(size=free.nv)
        found = project(model, (), shaken, V)
        after, rate = errors(model, (), found.Q, found.V)
        assert found.position > 1e-3
        assert after < 1e-11
        assert rate < 1e-10
        assert found.moved < 0.3


def test_small_errors_may_be_kept():
    model = four_bar().scene.compile()
    q = model.state().q.copy()
    q[1] += 1e-9
    Q, V = to_bodies(model, q, np.zeros(3))
    found = project(model, (), Q, V, keep=1e-8)
    np.testing.assert_array_equal(found.Q, Q)
    assert 1e-10 < found.position < 1e-8


def test_loops_that_cannot_be_closed_are_refused_by_name():
    model = four_bar().scene.compile()
    pin = model.loops[0]
    model = replace(model, loops=(replace(pin, pos1=pin.pos1 + np.array([2.0, 0.0, 0.0])),))
    with pytest.raises(InputError, match=r"initial joints.*closed.*'pin' after 50 Newton"):
        project(model, (), *to_bodies(model, model.state().q, np.zeros(3)))
