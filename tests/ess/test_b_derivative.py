"""The derivative of the flow: Tab. 4.1, one-sided differences of whole solutions in every order, shifts in time."""

from dataclasses import replace
from itertools import permutations

import numba
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from stickslip.errors import InputError
from stickslip.ess import b_derivative, solve_ess
from stickslip.ess.b_derivative import compiled_flow, python_flow
from stickslip.ess.corner import saltation
from stickslip.ess.system import System

START = (-0.4, -0.15, 0.3)
EXACT = [[3.190630439703, 0.048798621124, 0], [0.326416705062, 1.604185378992, 0], [0, 0, 1.569163919449]]
"""Of Tab. 4.1's flow from START over half a second, by matrix exponentials."""


@numba.njit
def affine(s, b):
    """Anderson and Revzen, Tab. 4.1."""
    x, y, z = s[0], s[1], s[2]
    if b[0]:
        dx, dy = (10 * x + 1, y + 1) if b[1] else (-2 * y + 1, x / 2 + 2)
    else:
        dx, dy = (y + 1, -x + 1) if b[1] else (-y + 1, x + 1)
    return np.array([dx, dy, 3 * z - 1 if b[2] else -z - 1])


@numba.njit
def affine_slope(s, b):
    D = np.zeros((3, 3))
    if b[0]:
        D[0, 0], D[0, 1] = (10, 0) if b[1] else (0, -2)
        D[1, 0], D[1, 1] = (0, 1) if b[1] else (0.5, 0)
    else:
        D[0, 1], D[1, 0] = (1, -1) if b[1] else (-1, 1)
    D[2, 2] = 3.0 if b[2] else -1.0
    return D


@numba.njit
def planes(s):
    return np.array([s[0], s[1], -s[2]])


@numba.njit
def normals(s):
    return np.diag(np.array([1.0, 1.0, -1.0]))


def python(*functions):
    return [getattr(function, "py_func", function) for function in functions]


def table_4_1(eps, compiled=False, **options):
    functions = (affine, planes, normals) if compiled else python(affine, planes, normals)
    return solve_ess(*functions, (0.0, 0.5), START, eps, rtol=1e-10, atol=1e-12, **options)


@pytest.mark.parametrize(("compiled", "given"), [(False, False), (False, True), (True, True)])
def test_table_4_1(compiled, given):
    result = table_4_1(1e-5, compiled)
    slope = affine_slope if compiled else python(affine_slope)[0]
    B = b_derivative(result, slope if given else None)
    np.testing.assert_allclose(B.matrix, EXACT, rtol=0, atol=1e-8)
    np.testing.assert_allclose(B(np.eye(3)), EXACT, rtol=0, atol=1e-8)
    assert B.groups == ((0,), (1,), (2,))
    assert result.crossings.guard.tolist() == [1, 2, 0]
    product = B.flows[3] @ B.saltations[2] @ B.flows[2] @ B.saltations[1] @ B.flows[1] @ B.saltations[0] @ B.flows[0]
    np.testing.assert_allclose(B.matrix, product, rtol=0, atol=1e-14)
    assert B.defect < 1e-9


def test_projections_cost_the_derivative_a_second_order_error():
    errors = []
    for eps in (1e-2, 1e-3):
        B = b_derivative(table_4_1(eps), python(affine_slope)[0])
        errors.append(np.abs(B.matrix - EXACT).max())
        assert 1e-2 * eps**2 < B.defect < 10 * eps**2
    assert np.log10(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.05)


def test_compiled_functions_take_further_arguments():
    @numba.njit
    def f(x, b, stiffness, gains):
        return np.array([x[1], -stiffness * x[0] * x[0] + gains[0] * b[0]])

    @numba.njit
    def Df(x, b, stiffness, gains):
        return np.array([[0.0, 1.0], [-2 * stiffness * x[0], 0.0]])

    system = System(*python(f), lambda x, *_: [1.0], None, (3.0, np.array([0.5])))
    system.size(np.zeros(2))
    both, b = np.arange(1.0, 7.0), np.array([True])
    expected = python_flow(system, python(Df)[0])[0](both, b)
    for slope in (Df, None):
        np.testing.assert_allclose(compiled_flow(f, slope, 2, 1)[0](both, b, *system.args), expected, atol=1e-9)
    np.testing.assert_allclose(python_flow(system, None)[0](both, b), expected, atol=1e-9)


class Curved:
    """Curved guards that meet at 0, smooth fields that differ for every set of crossed guards."""

    def __init__(self, m, n, seed):
        rng = np.random.default_rng(seed)
        self.m, self.n = m, n
        self.jumps, self.pairs = rng.uniform(-0.3, 0.3, (m, n)) / m**0.5, rng.uniform(-0.3, 0.3, (m, m, n)) / m
        self.bend, self.turn = rng.uniform(-0.5, 0.5, (2, n, n))
        self.eta = np.eye(m, n) + rng.uniform(-0.3, 0.3, (m, n)) / m
        self.curve = rng.uniform(-0.2, 0.2, (m, n))

    def f(self, x, b):
        s = b.astype(float)
        return 1.0 + s @ self.jumps + np.einsum("k,l,kln->n", s, s, self.pairs) + np.sin(self.bend @ x) * (1 + s.sum())

    def h(self, x):
        return self.eta @ x + self.curve @ (x * x)

    def Dh(self, x):
        return self.eta + 2.0 * self.curve * x

    def before(self, duration):
        """Where the flow is that long before it meets all guards at once."""
        none = np.zeros(self.m, dtype=bool)
        back = solve_ivp(
            lambda t, x: -self.f(x, none), (0, duration), np.zeros(self.n), "DOP853", rtol=1e-13, atol=1e-14
        )
        return back.y[:, -1]

    def solve(self, x0, duration, eps=1e-7):
        return solve_ess(self.f, self.h, self.Dh, (0.0, duration), x0, eps, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_one_sided_differences_in_every_order(m):
    system = Curved(m, max(m, 2), seed=m)
    start = system.before(0.1)
    nominal = system.solve(start, 0.2)
    B = b_derivative(nominal)
    if m > 1:
        assert B.groups == (tuple(range(m)),)
    orders = {}
    if m > 1:
        for dx in np.random.default_rng(2).standard_normal((3000, system.n)):
            around = [
                B.corners[0].order(B.pieces[0] @ (dx + e)) for e in (*np.eye(system.n) / 50, *-np.eye(system.n) / 50)
            ]
            if len(set(around)) == 1:  # not where the order is about to change
                orders.setdefault(around[0], dx)
    else:
        orders[0,] = np.array([0.3, -0.7])
    assert set(orders) == set(permutations(range(m)))
    for order, dx in orders.items():
        near, far = (system.solve(start + a * dx, 0.2) for a in (3e-5, 6e-5))
        assert tuple(near.crossings.guard) == order
        difference = (4.0 * (near.x - nominal.x) - (far.x - nominal.x)) / 6e-5
        np.testing.assert_allclose(B(dx), difference, rtol=0, atol=3e-7)
        product, b, at = B.flows[0], np.zeros(m, dtype=bool), nominal.crossings.x[0]
        for k in order:
            after = b | (np.arange(m) == k)
            product = saltation(system.f(at, b), system.f(at, after), system.Dh(at)[k]) @ product
            b = after
        for flow in B.flows[1:]:
            product = flow @ product
        np.testing.assert_allclose(B(dx), product @ dx, rtol=0, atol=1e-12)


def test_a_later_start_is_a_later_end():
    """B·f(x0) = f(x_f), through corners, too."""
    system = Curved(3, 3, seed=9)
    result = system.solve(system.before(0.1), 0.2)
    B = b_derivative(result)
    begin, end = system.f(result.y[:, 0], np.zeros(3, dtype=bool)), system.f(result.x, np.ones(3, dtype=bool))
    np.testing.assert_allclose(B(begin), end, rtol=0, atol=1e-7)
    np.testing.assert_allclose(B(-begin), -end, rtol=0, atol=1e-7)


def test_finite_displacements_through_guards_that_are_near_each_other():
    """A start that meets three guards one after another, and displacements large enough to change their order."""
    system = Curved(3, 3, seed=4)
    start = system.before(0.1) + 1e-3 * np.array([1.0, -0.5, 0.2])
    nominal = system.solve(start, 0.2)
    alone, together = b_derivative(nominal), b_derivative(nominal, simultaneous=0.1)
    assert [len(members) for members in alone.groups] == [1, 1, 1]
    assert together.groups == ((0, 1, 2),)
    linear = finite = 0.0
    for dx in 2e-3 * np.random.default_rng(6).standard_normal((10, 3)):
        moved = system.solve(start + dx, 0.2).x - nominal.x
        linear = max(linear, np.abs(alone(dx) - moved).max())
        finite = max(finite, np.abs(together.finite(dx) - moved).max())
    assert finite < 2e-5
    assert finite < 0.1 * linear
    small = 1e-6 * np.eye(3)
    np.testing.assert_allclose(together.finite(small), alone.matrix @ small, rtol=0, atol=1e-8)


def hopper(x, b, stiffness, preload):
    return [x[1], -9.81 + (stiffness * (1.0 - x[0]) + preload if b[0] else 0.0)]


def hop(x0, time, **options):
    """A hopper of 1 kg on a preloaded leg of 1 m; touchdown and lift-off arm each other."""
    return solve_ess(
        hopper,
        lambda x, *args: [1.0 - x[0], x[0] - 1.0],
        lambda x, *args: [[-1.0, 0.0], [1.0, 0.0]],
        (0.0, time),
        x0,
        1e-6,
        args=(200.0, 15.0),
        reset=[[0, 1], [1, 0]],
        rtol=1e-11,
        atol=1e-12,
        **options,
    )


def test_hops_through_resets():
    start, small = np.array([1.5, 0.3]), 1e-5
    result = hop(start, 3.0)
    assert result.crossings.guard.tolist() == [0, 1, 0, 1, 0, 1, 0]
    B = b_derivative(result)
    columns = [(hop(start + e, 3.0).x - hop(start - e, 3.0).x) / (2 * small) for e in small * np.eye(2)]
    np.testing.assert_allclose(B.matrix, np.transpose(columns), rtol=1e-6, atol=1e-6)
    assert np.linalg.det(B.matrix) == pytest.approx(1.0, abs=1e-8)  # no friction: areas stay
    assert np.abs(B.saltations[0] - np.eye(2)).max() > 1.0  # the preload acts at once


@numba.njit
def legs(x, b, preload):
    """Heights and speeds of two masses of 1 kg, each on a leg of 1 m; the legs in stance share a preload."""
    share = preload / max(1, int(b[0]) + int(b[1]))
    left = 200.0 * (1.0 - x[0]) + share if b[0] else 0.0
    right = 200.0 * (1.0 - x[1]) + share if b[1] else 0.0
    return np.array([x[2], x[3], left - 9.81, right - 9.81])


@numba.njit
def soles(x, preload):
    return np.array([1.0 - x[0], 1.0 - x[1], x[0] - 1.0, x[1] - 1.0])


@numba.njit
def sole_normals(x, preload):
    result = np.zeros((4, 4))
    result[0, 0] = result[1, 1] = -1.0
    result[2, 0] = result[3, 1] = 1.0
    return result


def hop_on(functions, x0):
    return solve_ess(*functions, (0.0, 2.0), x0, 1e-7, args=(15.0,), reset=[[2], [3], [0], [1]], rtol=1e-11, atol=1e-13)


def test_hops_on_two_legs_at_once():
    """Corners one after another whose guards arm others; compiled, with arguments."""
    start, functions = np.array([1.2, 1.2, 0.0, 0.0]), (legs, soles, sole_normals)
    nominal = hop_on(functions, start)
    assert nominal.crossings.guard.tolist() == [0, 1, 2, 3] * 3
    B = b_derivative(nominal)
    assert B.groups == tuple((i, i + 1) for i in range(0, 12, 2))
    in_python = b_derivative(hop_on(python(*functions), start))
    orders, kinks = set(), 0.0
    for dx in np.random.default_rng(0).standard_normal((12, 4)):
        near, far = (hop_on(functions, start + a * dx) for a in (2e-6, 4e-6))
        difference = (4.0 * (near.x - nominal.x) - (far.x - nominal.x)) / 4e-6
        largest = np.abs(difference).max()
        np.testing.assert_allclose(B(dx), difference, rtol=0, atol=3e-7 * largest)
        np.testing.assert_allclose(in_python(dx), B(dx), rtol=0, atol=1e-7 * largest)
        orders.add(tuple(near.crossings.guard.tolist()))
        kinks = max(kinks, np.abs(B.matrix @ dx - difference).max() / largest)
    assert orders == {(0, 1, 2, 3) * 3, (1, 0, 3, 2) * 3}
    assert kinks > 1e-2  # one matrix would not do


def test_a_part_of_a_trajectory():
    """With t_eval the derivative is that from its first to its last time; parts make up the whole."""
    start = np.array([1.5, 0.3])
    parts = [b_derivative(hop(start, 1.0, t_eval=times)).matrix for times in ([0.0, 0.45], [0.45, 0.6, 1.0])]
    np.testing.assert_allclose(parts[1] @ parts[0], b_derivative(hop(start, 1.0)).matrix, rtol=1e-7, atol=1e-7)
    short = 0.3  # in the air, the landing is later
    np.testing.assert_allclose(
        b_derivative(hop(start, 1.0, t_eval=[0.0, short])).matrix, [[1, short], [0, 1]], atol=1e-9
    )
    stopped = hop(start, 9.0, max_crossings=2)
    B = b_derivative(stopped)
    np.testing.assert_array_equal(
        B.flows[-1], np.eye(2)
    )  # it ends as the second guard is crossed, and counts as crossed
    np.testing.assert_allclose(B(hopper(start, [False], 200.0, 15.0)), [stopped.x[1], -9.81], atol=1e-6)


def test_no_guards_no_crossings():
    result = solve_ess(lambda x, b: [x[1], -x[0]], None, None, (0.0, 1.0), [1.0, 0.0], rtol=1e-9)
    B = b_derivative(result)
    c, s = np.cos(1.0), np.sin(1.0)
    np.testing.assert_allclose(B.matrix, [[c, s], [-s, c]], rtol=0, atol=1e-9)
    np.testing.assert_array_equal(B([1.0, 2.0]), B.matrix @ [1.0, 2.0])
    assert (B.groups, B.corners, B.saltations.shape) == ((), (), (0, 2, 2))


def test_what_cannot_be_differentiated_is_said():
    failed = solve_ess(lambda x, b: [np.nan if x[0] > 0.5 else 1.0], None, None, (0.0, 1.0), [0.0])
    with pytest.raises(InputError, match=r"succeeded.*not finite"):
        b_derivative(failed)
    result = hop([1.5, 0.3], 1.0)
    with pytest.raises(InputError, match="liveness"):
        b_derivative(result, liveness=100.0)
    with pytest.raises(InputError, match="liveness"):
        b_derivative(result, liveness=-1.0)
    beyond = replace(result.crossings, x=result.crossings.x - [0.1, 0.0])
    with pytest.raises(InputError, match=r"h of guard 0 where it is crossed, t = 0\.35.*0 ± 1e-05.*armed beyond 0"):
        b_derivative(replace(result, crossings=beyond))
    with pytest.raises(InputError, match="Df"):
        b_derivative(result, lambda x, b, *args: np.eye(3))
    with pytest.raises(InputError, match="simultaneous"):
        b_derivative(result, simultaneous=-1.0)
    with pytest.raises(InputError, match="dx"):
        b_derivative(result)([1.0, 2.0, 3.0])
    with pytest.raises(InputError, match="two times"):
        b_derivative(hop([1.5, 0.3], 1.0, t_eval=[0.5]))
