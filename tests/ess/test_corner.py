"""B(δx) against the exact flow of piecewise-constant fields, and against products of saltation matrices."""

from itertools import permutations

import numpy as np
import pytest

from stickslip.errors import InputError
from stickslip.ess.corner import corner, saltation


class Constant:
    """A field that depends on the crossed guards only, every pair of them included; its guards are planes near 0."""

    def __init__(self, m, n, seed=0, spread=0.0):
        rng = np.random.default_rng(seed)
        self.m, self.n = m, n
        self.jumps, self.pairs = rng.uniform(-0.4, 0.4, (m, n)) / m**0.5, rng.uniform(-0.4, 0.4, (m, m, n)) / m
        self.eta = np.eye(m, n) + rng.uniform(-0.3, 0.3, (m, n)) / m
        self.offsets = spread * rng.standard_normal(m)
        self.asked = 0

    def f(self, x, b):
        self.asked += 1
        b = b.astype(float)
        return 1.0 + b @ self.jumps + np.einsum("k,l,kln->n", b, b, self.pairs)

    def Dh(self, x):
        return self.eta

    def h(self, x):
        return self.eta @ x + self.offsets

    def flow(self, x, duration):
        """The exact flow, from before all guards: one event after another."""
        b, x, left = np.zeros(self.m, dtype=bool), x.copy(), duration
        while not b.all():
            field = self.f(x, b)
            times = np.where(b, np.inf, -self.h(x) / (self.eta @ field))
            j = int(times.argmin())
            assert -1e-12 <= times[j] < left
            x, left = x + times[j] * field, left - times[j]
            b[j] = True
        return x + left * self.f(x, b)

    def corner(self, h=None):
        return corner(self.f, self.Dh, np.zeros(self.n), np.zeros(self.m, dtype=bool), range(self.m), h=h)

    def displaced(self, dx):
        """How the flow through 0 changes where it begins dx away: no limit, as everything is piecewise linear."""
        start = -100.0 * self.f(0.0, np.zeros(self.m, dtype=bool))
        return self.flow(start + dx, 200.0) - self.flow(start, 200.0)


@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_every_order_is_its_product_and_the_exact_flow(m):
    system = Constant(m, m + 1, seed=m)
    at = system.corner()
    found = {}
    for dx in np.random.default_rng(1).standard_normal((3000, m + 1)):
        found.setdefault(at.order(dx), dx)
    assert set(found) == set(permutations(range(m)))
    assert at.masks == 2**m
    for order, dx in found.items():
        np.testing.assert_allclose(at(dx), at.saltation(order) @ dx, rtol=0, atol=1e-12)
        np.testing.assert_allclose(at(dx), system.displaced(dx), rtol=0, atol=1e-11)
    products = [at.saltation(order) for order in found]
    assert len(np.unique(np.round(products, 9), axis=0)) == len(found)  # no two orders are the same map


@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_products_are_those_of_single_saltations(m):
    system = Constant(m, 4, seed=m)
    at = system.corner()
    for order in permutations(range(m)):
        product, b = np.eye(4), np.zeros(m, dtype=bool)
        for k in order:
            after = b | (np.arange(m) == k)
            product = saltation(system.f(0, b), system.f(0, after), system.eta[k]) @ product
            b = after
        np.testing.assert_allclose(at.saltation(order), product, rtol=0, atol=1e-13)


def test_twelve_guards_are_followed_not_enumerated():
    """12! = 479 million orders; a displacement asks for the 13 fields of its path."""
    system = Constant(12, 15)
    at = system.corner()
    dx = np.random.default_rng(2).standard_normal((15, 20))
    one = at(dx[:, 0])
    assert (at.masks, system.asked) == (13, 13)
    several = at(dx)
    assert at.masks <= 1 + 12 * 20
    np.testing.assert_array_equal(several[:, 0], one)
    for column, moved in zip(dx.T, several.T, strict=True):
        np.testing.assert_allclose(moved, system.displaced(column), rtol=0, atol=1e-10)
        np.testing.assert_allclose(moved, at.saltation(at.order(column)) @ column, rtol=0, atol=1e-12)


def test_the_map_is_continuous_and_homogeneous():
    system = Constant(4, 4, seed=5)
    at = system.corner()
    rng = np.random.default_rng(3)
    for _ in range(50):
        a, b = rng.standard_normal((2, 4))
        path = at(a[:, None] + np.linspace(0, 1, 400) * (b - a)[:, None])
        assert np.abs(np.diff(path, axis=1)).max() < 0.05 * np.linalg.norm(b - a)
        np.testing.assert_allclose(at(3.5 * a), 3.5 * at(a), rtol=0, atol=1e-12)


def test_a_displacement_along_the_field_is_one_of_time():
    system = Constant(4, 4, seed=5)
    at = system.corner()
    before, after = (system.f(0, np.full(4, crossed)) for crossed in (False, True))
    np.testing.assert_allclose(at(before), after, rtol=0, atol=1e-13)
    np.testing.assert_allclose(at(-before), -after, rtol=0, atol=1e-13)


def test_near_simultaneous_crossings():
    """Finite displacements through guards that do not quite meet: exact, also where they change the order."""
    system = Constant(3, 4, seed=7, spread=0.1)
    at = system.corner(h=system.h)
    nominal = at.saltation(np.argsort(-system.offsets / (system.eta @ system.f(0, np.zeros(3, dtype=bool)))))
    differs = 0
    for dx in np.random.default_rng(4).standard_normal((200, 4)):
        np.testing.assert_allclose(at.finite(1e-6 * dx), 1e-6 * nominal @ dx, rtol=0, atol=1e-13)
        for scale in (0.1, 1.0):
            exact = system.displaced(scale * dx)
            np.testing.assert_allclose(at.finite(scale * dx), exact, rtol=0, atol=1e-11)
            differs += np.abs(nominal @ (scale * dx) - exact).max() > 1e-3
        np.testing.assert_allclose(1e-6 * at.finite(1e6 * dx), at(dx), rtol=0, atol=1e-6)  # from afar they meet
    assert differs > 100


def test_resets_choose_the_fields():
    """A touchdown (0) re-arms its lift-off (1): the field in stance is that of b = (True, False, …)."""
    fields = {(False, True, False): [-1.0, 0.0], (True, False, False): [-1.0, 2.0]}
    fields |= {(False, True, True): [-2.0, 1.0], (True, False, True): [-2.0, 5.0]}
    reset = np.zeros((3, 3), dtype=bool)
    reset[0, 1] = reset[1, 0] = True
    Dh = np.array([[-1.0, 0.0], [1.0, 0.0], [-1.0, 0.1]])
    at = corner(lambda x, b: fields[tuple(b.tolist())], lambda x: Dh, [0.0, 0.0], [False, True, False], [0, 2], reset)
    product = saltation([-1, 2], [-2, 5], Dh[2]) @ saltation([-1, 0], [-1, 2], Dh[0])
    np.testing.assert_allclose(at.saltation((0, 2)), product, rtol=0, atol=1e-15)
    with pytest.raises(InputError, match="re-arm each other"):
        corner(lambda x, b: [1.0, 1.0], lambda x: Dh, [0.0, 0.0], [False, False, False], [0, 1], reset)


def test_a_field_that_turns_back_is_refused():
    def f(x, b):
        return [1.0, -0.5 if b[0] else 1.0]

    at = corner(f, lambda x: np.eye(2), [0.0, 0.0], [False, False], [0, 1])
    with pytest.raises(InputError, match=r"guard 1 where guards \[0\] are crossed.*liveness.*-0\.5"):
        at([0.0, -1.0])
    with pytest.raises(InputError, match=r"guard 1 where guards \[0\]"):
        at.saltation((0, 1))
    with pytest.raises(InputError, match="finite"):
        corner(lambda x, b: [np.nan, 1.0], lambda x: np.eye(2), [0.0, 0.0], [False, False], [0, 1])
    with pytest.raises(InputError, match="liveness"):
        corner(lambda x, b: [1.0, 1.0], lambda x: np.eye(2), [0.0, 0.0], [False, False], [0, 1], liveness=2.0)
    with pytest.raises(InputError, match="liveness"):
        saltation([1.0, 0.0], [1.0, 1.0], [0.0, 1.0])


def test_relays_may_turn_the_flow_back():
    """Two heaters that switch off at their limits, and cool a little faster the other one if that is off, too."""

    def f(x, b):
        return np.where(b, -2.0 - b.sum(), 1.0)

    at = corner(f, lambda x: np.eye(2), [0.0, 0.0], [False, False], [0, 1])
    np.testing.assert_allclose(at([-1.0, -1.0]), [4.0, 4.0], atol=1e-15)
    np.testing.assert_allclose(at([-1.0, -3.0]), [6.0, 12.0], atol=1e-15)  # at 3 s: (−2·3, 0) less −3·4


def test_forces_of_contacts_that_add_up_have_a_derivative():
    """Preloads act on velocities, guards on positions: saltation matrices commute, and B is a matrix."""
    rng = np.random.default_rng(8)
    forces, rows = rng.uniform(0.5, 2.0, (5, 3)), rng.uniform(-0.5, 0.5, (5, 3)) - [0, 0, 1.0]
    eta = np.hstack([rows, np.zeros((5, 3))])
    rest = np.array([0.0, 0.0, -2.0, 0.0, 0.0, -9.81])
    at = corner(
        lambda x, b: rest + np.append(np.zeros(3), b @ forces), lambda x: eta, np.zeros(6), [False] * 5, range(5)
    )
    dx = rng.standard_normal((6, 100))
    assert len({at.order(column) for column in dx.T}) > 10
    np.testing.assert_allclose(at(dx), at.saltation(range(5)) @ dx, rtol=0, atol=1e-12)


def test_wrong_input_is_named():
    system = Constant(2, 3)
    at = system.corner()
    for wrong in ([1.0, 2.0], np.zeros((2, 3)), [0.0, np.nan, 0.0], 1.0):
        with pytest.raises(InputError, match="dx"):
            at(wrong)
    with pytest.raises(InputError, match="column by column"):
        at.order(np.eye(3))
    with pytest.raises(InputError, match="each once"):
        at.saltation((0, 0))
    for guards in ([], [0, 0], [2], [-1], [0.5]):
        with pytest.raises(InputError, match="guards"):
            corner(system.f, system.Dh, np.zeros(3), [False, False], guards)
    good = {"f": system.f, "Dh": system.Dh, "rho": np.zeros(3), "crossed": [False, False], "guards": [0]}
    for changes, says in (
        ({"crossed": [True, False]}, "not crossed yet"),
        ({"crossed": [[False, False]]}, "crossed"),
        ({"reset": np.eye(3)}, "reset"),
        ({"Dh": lambda x: np.eye(2)}, "Dh"),
        ({"h": lambda x: [0.0]}, "h"),
        ({"f": lambda x, b: [1.0]}, "f"),
        ({"rho": [0.0, np.inf, 0.0]}, "rho"),
        ({"liveness": -1.0}, "liveness"),
    ):
        with pytest.raises(InputError, match=says):
            corner(**(good | changes))
