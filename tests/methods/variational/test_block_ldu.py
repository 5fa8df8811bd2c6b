"""Block LDU along the graph: against dense solves, fill counted exactly, pivots that exist."""

from __future__ import annotations

import numpy as np
import pytest

from stickslip.errors import InputError
from stickslip.methods.variational.graph import block_graph
from stickslip.methods.variational.graph.block_graph import BODY, JOINT, Symbolic, symbolic
from stickslip.methods.variational.graph.block_ldu import OK, SINGULAR, factor, solve

WORLD = -1


class Mechanism:
    """Bodies of six rows, joints between bodies or to the world that see relative motion only, contacts."""

    def __init__(self, bodies: int, joints: list[tuple[int, int, int]], contacts: list[tuple[int, int]] = ()) -> None:
        """``joints``: body or WORLD, body or WORLD, rows."""
        self.bodies, self.joints, self.contacts = bodies, joints, list(contacts)
        self.size = np.array([6] * bodies + [rows for _, _, rows in joints])
        self.kind = np.array([BODY] * bodies + [JOINT] * len(joints))
        self.edges = [(b, bodies + j) for j, (a, c, _) in enumerate(joints) for b in (a, c) if b != WORLD]
        self.edges += self.contacts

    def symbolic(self) -> Symbolic:
        return symbolic(self.size, np.array(self.edges).reshape(-1, 2), self.kind)

    def values(self, sym: Symbolic, delta: float = 0.0, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Values in the pattern, and the same dense matrix."""
        random = np.random.default_rng(seed)
        values, dense = np.zeros(sym.length), np.zeros((sym.rows, sym.rows))

        def add(offset: int, a: int, b: int, block: np.ndarray) -> None:
            values[offset : offset + block.size] += block.ravel()
            dense[sym.place[a] : sym.place[a] + len(block), sym.place[b] : sym.place[b] + block.shape[1]] += block

        pose = random.standard_normal((self.bodies, 6, 6)) + 2.0 * np.eye(6)
        turned = pose + 0.05 * random.standard_normal(pose.shape)  # forces at z, errors at z⁺
        for b in range(self.bodies):
            half = random.standard_normal((6, 6))
            inertia = np.diag(random.uniform(0.1, 2.0, 6)) + 0.05 * random.standard_normal((6, 6))
            add(sym.diagonal[b], b, b, inertia + 10.0 * np.outer(half[0], half[0] + 0.1 * half[1]))
        for j, (_, _, rows) in enumerate(self.joints):
            add(sym.diagonal[self.bodies + j], self.bodies + j, self.bodies + j, delta * np.eye(rows))
        held = [random.standard_normal((rows, 6)) for _, _, rows in self.joints]
        later = [rows + 0.05 * random.standard_normal(rows.shape) for rows in held]
        seen: set[int] = set()
        for e, (a, b) in enumerate(self.edges):
            if b < self.bodies:
                normal, stiff = random.standard_normal((2, 6)), 3.0
                for side, other, where in ((a, a, sym.diagonal[a]), (b, b, sym.diagonal[b])):
                    add(where, side, other, stiff * np.outer(*normal[[0 if side == a else 1] * 2]))
                add(sym.upper[e], a, b, -stiff * np.outer(normal[0], normal[1]))
                add(sym.lower[e], b, a, -stiff * np.outer(normal[1], normal[0]))
                continue
            j = b - self.bodies
            sign = -1.0 if j in seen else 1.0
            seen.add(j)
            add(sym.upper[e], a, b, -sign * (held[j] @ pose[a]).T)
            add(sym.lower[e], b, a, sign * 0.01 * later[j] @ turned[a])
        return values, dense

    def error(self, delta: float = 0.0, seed: int = 0) -> float:
        sym = self.symbolic()
        values, dense = self.values(sym, delta, seed)
        pivots, b = np.zeros(sym.rows, dtype=np.int64), np.random.default_rng(1).standard_normal(sym.rows)
        assert factor(sym, values, pivots) == OK
        x, true = b.copy(), np.linalg.solve(dense, b)
        solve(sym, values, pivots, x)
        return float(np.abs(x - true).max() / np.abs(true).max())


def chain(n: int, rows: int = 3, world: bool = False, contacts: list[tuple[int, int]] = ()) -> Mechanism:
    joints = [(k, k + 1, rows) for k in range(n - 1)]
    return Mechanism(n, joints + ([(WORLD, 0, rows)] if world else []), contacts)


def loop(n: int, rows: int = 3) -> Mechanism:
    return Mechanism(n, [(k, (k + 1) % n, rows) for k in range(n)])


def random_tree(n: int, seed: int) -> Mechanism:
    random = np.random.default_rng(seed)
    name = random.permutation(n)
    joints = [(int(name[random.integers(k)]), int(name[k]), int(random.integers(0, 7))) for k in range(1, n)]
    if seed % 2:
        joints.append((WORLD, int(random.integers(n)), int(random.integers(1, 7))))
    return Mechanism(n, [joints[k] for k in random.permutation(len(joints))])


@pytest.mark.parametrize("seed", range(12))
def test_trees_fill_nothing(seed):
    tree = random_tree(3 + 5 * seed, seed)
    assert tree.symbolic().fill == 0
    assert tree.error() < 1e-8


@pytest.mark.parametrize("rows", [1, 3, 4, 5, 6, 8])
@pytest.mark.parametrize("world", [False, True])
def test_chains_and_stars(rows, world):
    star = Mechanism(9, [(0, k, min(rows, 6)) for k in range(1, 9)])
    for mechanism in (chain(1, min(rows, 6), world), chain(2, min(rows, 6)), chain(20, min(rows, 6), world), star):
        assert mechanism.symbolic().fill == 0
        assert mechanism.error() < 1e-8
    wide = chain(20, rows, world)  # rows of their own beside those that hold: soft ones, limits
    assert wide.error(delta=1e-2) < 1e-8


def test_one_loop_fills_in_proportion_to_its_length():
    """A cycle of 2n nodes needs 2n − 3 chords, whatever goes first; each is two blocks."""
    assert [loop(n).symbolic().fill for n in range(3, 40)] == [2 * (2 * n - 3) for n in range(3, 40)]
    for n in (2, 3, 4, 10, 30):
        assert loop(n, rows=3 if n > 2 else 2).error() < 1e-8


@pytest.mark.parametrize("seed", range(10))
def test_several_loops_nested_and_through_the_world(seed):
    random = np.random.default_rng(seed)
    tree = random_tree(12, seed)
    joints = [(a, b, 3) for a, b, _ in tree.joints]
    for _ in range(4):
        a, b = (int(k) for k in random.choice(12, 2, replace=False))
        joints.append((a, b if random.random() < 0.6 else WORLD, 1))
    for delta in (0.0, 1e-8):
        assert Mechanism(12, joints).error(delta, seed) < 1e-8


@pytest.mark.parametrize("n", [2, 3, 5, 12])
def test_chains_held_at_both_ends(n):
    """Three rows at each end: no pivot may be taken from a body that two others hold."""
    both = Mechanism(n, [(WORLD, 0, 3), *((k, k + 1, 3) for k in range(n - 1)), (WORLD, n - 1, 3)])
    assert both.error() < 1e-8


def test_a_ladder_to_the_world_fills_in_proportion():
    def ladder(n):
        return Mechanism(n, [(k, k + 1, 1) for k in range(n - 1)] + [(WORLD, k, 3) for k in range(n)])

    fill = [ladder(n).symbolic().fill for n in range(4, 40)]
    assert len(set(np.diff(fill))) == 1
    assert ladder(20).error() < 1e-8


def test_redundant_loops_need_a_small_diagonal():
    four_bar = Mechanism(3, [(WORLD, 0, 5), (0, 1, 5), (1, 2, 5), (WORLD, 2, 5)])  # 20 rows, 18 velocities
    sym = four_bar.symbolic()
    values, dense = four_bar.values(sym, delta=1e-7)
    pivots = np.zeros(sym.rows, dtype=np.int64)
    random = np.random.default_rng(3)
    b = dense @ random.standard_normal(sym.rows)
    assert factor(sym, values, pivots) == OK
    x = b.copy()
    solve(sym, values, pivots, x)
    assert np.abs(dense @ x - b).max() < 1e-8 * np.abs(b).max()


@pytest.mark.parametrize("seed", range(8))
def test_contacts_between_bodies(seed):
    random = np.random.default_rng(seed)
    pairs = [tuple(int(k) for k in random.choice(15, 2, replace=False)) for _ in range(20)]
    assert Mechanism(15, [], pairs).error() < 1e-8
    tree = random_tree(15, seed)
    assert Mechanism(15, [(a, b, 3) for a, b, _ in tree.joints], [*pairs, pairs[0]]).error() < 1e-8


def test_fill_of_contact_chains_is_linear_in_bodies_and_contacts():
    row = [Mechanism(n, [], [(k, k + 1) for k in range(n - 1)]).symbolic().fill for n in range(2, 30)]
    assert row == [0] * len(row)
    neighbours = [chain(n, contacts=[(k, k + 1) for k in range(n - 1)]).symbolic().fill for n in range(2, 30)]
    assert neighbours == [0] * len(neighbours)
    across = [chain(n, contacts=[(k, k + 2) for k in range(n - 2)]).symbolic().fill for n in range(8, 60)]
    assert len(set(np.diff(across))) == 1
    assert chain(30, contacts=[(k, k + 2) for k in range(28)]).error() < 1e-8


def test_minimum_degree_where_depth_first_fills_more(monkeypatch):
    side = 6
    grid = [(side * i + j, side * i + j + 1) for i in range(side) for j in range(side - 1)]
    grid += [(side * i + j, side * (i + 1) + j) for i in range(side - 1) for j in range(side)]
    mechanism = Mechanism(side * side, [], grid)
    fill = mechanism.symbolic().fill
    assert mechanism.error() < 1e-8
    monkeypatch.setattr(block_graph, "LARGEST", 0)
    assert fill < 0.7 * mechanism.symbolic().fill
    assert mechanism.error() < 1e-8


def test_nodes_without_rows_are_harmless():
    free = Mechanism(3, [(WORLD, 0, 0), (0, 1, 0), (1, 2, 3)])
    assert free.symbolic().fill == 0
    assert free.error() < 1e-8


def test_singular_is_reported():
    mechanism = chain(4)
    sym = mechanism.symbolic()
    pivots = np.zeros(sym.rows, dtype=np.int64)
    values, _ = mechanism.values(sym)
    for bad in (0.0, np.nan):
        broken = values.copy()
        broken[sym.diagonal[2] : sym.diagonal[2] + 36] = bad
        for e, (a, _) in enumerate(mechanism.edges):
            if a == 2:
                broken[sym.upper[e] : sym.upper[e] + 18] = 0.0
        assert factor(sym, broken, pivots) == SINGULAR


def test_mistakes_are_refused():
    with pytest.raises(InputError, match="pairs of nodes 0 … 1"):
        symbolic([6, 3], [(0, 2)], [BODY, JOINT])
    with pytest.raises(InputError, match="a body and a joint, or two bodies"):
        symbolic([3, 3], [(0, 1)], [JOINT, JOINT])
    with pytest.raises(InputError, match="one of BODY, JOINT"):
        symbolic([6, 3], [(0, 1)], [BODY])
