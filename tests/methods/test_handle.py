"""Arguments that are unpacked once: the same as in a plain call, and made anew if one of them is another object."""

from typing import NamedTuple

import numpy as np

import stickslip as ss
from stickslip._jit import kernel
from stickslip.methods.handle import HeldCall, restored


class Inner(NamedTuple):
    rows: np.ndarray
    counts: np.ndarray
    flags: np.ndarray


class Outer(NamedTuple):
    inner: Inner
    scale: float
    most: int
    on: bool


@kernel
def weigh(outer, column, out, n):
    """Something of every argument."""
    for i in range(out.shape[0]):
        flag = outer.inner.flags[i] and outer.on
        out[i] = outer.scale * outer.inner.rows[i, 1] * outer.inner.counts[i] + column[i] + (outer.most if flag else 0)
    return n


@kernel
def weigh_held(held, n):
    return weigh(*restored(held), n)


def outer(scale: float, on: bool) -> Outer:
    return Outer(Inner(np.arange(6.0).reshape(3, 2), np.arange(3), np.array([True, False, True])), scale, 10, on)


def test_held_arguments_are_those_that_were_given():
    call, column = HeldCall(weigh_held), np.arange(12.0).reshape(3, 4)[:, 2]  # not contiguous
    for scale, on in ((2.0, True), (-0.5, False)):
        found, expected = np.zeros(3), np.zeros(3)
        given = (outer(scale, on), column, found)
        assert call(given, 7) == 7
        weigh(given[0], column, expected, 7)
        np.testing.assert_array_equal(found, expected)
        held = call.held
        given[0].inner.rows[:] = 1.0  # the arrays are the caller's
        call(given, 1)
        weigh(given[0], column, expected, 1)
        np.testing.assert_array_equal(found, expected)
        assert call.held is held


def test_arrays_that_replace_ours_are_used_at_the_next_step():
    scene = ss.Scene()
    scene.add_sphere(0.1, mass=1.0)
    sim = ss.Simulation(scene, dt=1e-3)
    sim.step()
    old = sim.state.q
    sim.state.q, before = old + np.array([0, 0, 5.0, 0, 0, 0, 0]), old.copy()
    sim.step()
    np.testing.assert_array_equal(old, before)
    assert sim.state.q[2] > 4.9
    sim.inputs = sim.inputs._replace(applied=np.array([0, 0, 1e3, 0, 0, 0]))
    sim.step()
    assert sim.state.v[2] > 0.9
