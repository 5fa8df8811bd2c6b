"""Broad phase: candidate pairs of shapes by a uniform grid, in time and memory proportional to the number of shapes.

Every shape has an axis-aligned box, widened by half the margin on every side. A cell is as large as the largest box,
except for the √n largest ones. A shape is stored in the cell of its centre, and its partners are in the 27 cells around
it. The few larger shapes (floors, walls) are tested against all others, and so are planes, by the distance of the
centre. With up to ``FEW`` shapes there is no grid: the pairs that may touch are listed once, and all are tested.

Candidates are sorted by pairs of kinds, the lower kind first. Their order depends on the poses alone.
"""

from __future__ import annotations

from math import floor, isfinite, isqrt
from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.convex.geometry import BOX, CAPSULE, KIND, PAIRED, PLANE, SPHERE, Placed, Rules, Shapes

KIND_PAIRS = KIND * KIND
FEW = 24
"""Largest number of shapes for which every pair is tested."""


class Grid(NamedTuple):
    """Scratch of the broad phase."""

    low: np.ndarray
    """(ns, 3) lower corners of the widened boxes [m]."""
    high: np.ndarray
    """(ns, 3) upper corners [m]."""
    extent: np.ndarray
    """(ns,) longest edge of the widened box [m]."""
    cell: np.ndarray
    """(ns, 3) the cell of the centre."""
    head: np.ndarray
    """(power of two,) hash table: the shape last stored in this slot, or −1."""
    bits: np.ndarray
    """(3,) number of bits of the slot's index that come from the cell's index along each axis."""
    following: np.ndarray
    """(ns,) the shape stored in the same slot before this one, or −1."""
    large: np.ndarray
    """(ns,) the shapes that are larger than a cell."""


class Candidates(NamedTuple):
    """Pairs of shapes that may be nearer than the margin."""

    total: np.ndarray
    """(1,) number of candidates; more than the capacity means that the buffer must grow."""
    pair: np.ndarray
    """(capacity, 2) the pairs as found."""
    sorted: np.ndarray
    """(capacity, 2) the pairs sorted by kinds."""
    start: np.ndarray
    """(KIND² + 1,) kinds (i, j) have the pairs start[k] … start[k + 1] − 1, k = KIND·i + j."""


@kernel
def excluded(rules, one, other):
    low, high = min(one, other), max(one, other)
    signature = (low << 16) + high
    left, right = 0, rules.excluded.shape[0]
    while left < right:
        middle = (left + right) // 2
        if rules.excluded[middle] < signature:
            left = middle + 1
        else:
            right = middle
    return left < rules.excluded.shape[0] and rules.excluded[left] == signature


@kernel
def explicit_pair(shapes, rules, a, b):
    """Row of ``rules.pair_material`` of an explicit pair; −1 if the shapes are none."""
    if rules.pair.shape[0] == 0 or shapes.material[a, PAIRED] == 0.0 or shapes.material[b, PAIRED] == 0.0:
        return -1
    name = min(a, b) * shapes.kind.shape[0] + max(a, b)
    left, right = 0, rules.pair.shape[0]
    while left < right:
        middle = (left + right) // 2
        if rules.pair[middle] < name:
            left = middle + 1
        else:
            right = middle
    return left if left < rules.pair.shape[0] and rules.pair[left] == name else -1


@kernel
def allowed(shapes, rules, a, b):
    """Whether masks, parents and exclusions allow two shapes to touch, or they are an explicit pair."""
    i, j = shapes.link[a], shapes.link[b]
    if explicit_pair(shapes, rules, a, b) >= 0:
        return True
    if i == j or not (shapes.group[a] & shapes.mask[b] or shapes.group[b] & shapes.mask[a]):
        return False
    if (i != 0 and rules.parent[j] == i) or (j != 0 and rules.parent[i] == j):
        return False
    return not excluded(rules, shapes.body[a], shapes.body[b])


@kernel
def propose(shapes, rules, candidates, a, b):
    if not allowed(shapes, rules, a, b):
        return
    c = candidates.total[0]
    candidates.total[0] = c + 1
    if c >= candidates.pair.shape[0]:
        return
    if shapes.kind[b] < shapes.kind[a] or (shapes.kind[a] == shapes.kind[b] and b < a):
        a, b = b, a
    candidates.pair[c, 0], candidates.pair[c, 1] = a, b


@kernel
def overlap(grid, a, b):
    low, high = grid.low, grid.high
    return (
        low[a, 0] <= high[b, 0]
        and low[b, 0] <= high[a, 0]
        and low[a, 1] <= high[b, 1]
        and low[b, 1] <= high[a, 1]
        and low[a, 2] <= high[b, 2]
        and low[b, 2] <= high[a, 2]
    )


@kernel
def boxes_around(shapes, placed, margin, grid):
    """Axis-aligned boxes of all shapes but planes, half a margin wider."""
    R = placed.rot
    for s in range(shapes.kind.shape[0]):
        longest = 0.0
        for i in range(3):
            if shapes.kind[s] == SPHERE:
                reach = shapes.size[s, 0]
            elif shapes.kind[s] == CAPSULE:
                reach = shapes.size[s, 0] + abs(R[s, i, 2]) * shapes.size[s, 1]
            else:
                reach = 0.0
                for j in range(3):
                    reach += abs(R[s, i, j]) * shapes.half[s, j]
            reach = reach * (1.0 + 1e-12) + 0.5 * margin
            grid.low[s, i], grid.high[s, i] = placed.pos[s, i] - reach, placed.pos[s, i] + reach
            longest = max(longest, 2.0 * reach)
        grid.extent[s] = longest


@kernel
def near_plane(shapes, placed, margin, plane, s):
    """Whether a shape's bounding ball (for spheres and boxes, the shape) is nearer to a plane than the margin."""
    R, P = placed.rot, placed.pos
    nx, ny, nz = R[plane, 0, 2], R[plane, 1, 2], R[plane, 2, 2]
    height = nx * (P[s, 0] - P[plane, 0]) + ny * (P[s, 1] - P[plane, 1]) + nz * (P[s, 2] - P[plane, 2])
    reach = shapes.radius[s]
    if shapes.kind[s] == BOX:
        reach = 0.0
        for j in range(3):
            reach += abs(nx * R[s, 0, j] + ny * R[s, 1, j] + nz * R[s, 2, j]) * shapes.half[s, j]
    return height - reach * (1.0 + 1e-12) < margin


@kernel
def against_planes(shapes, rules, placed, margin, plane, candidates):
    for s in range(shapes.kind.shape[0]):
        if shapes.kind[s] != PLANE and near_plane(shapes, placed, margin, plane, s):
            propose(shapes, rules, candidates, plane, s)


@kernel
def try_all(shapes, rules, placed, margin, grid, candidates):
    """Add the candidates among the listed pairs, which are sorted by kinds."""
    start, n, code = candidates.start, 0, 0
    start[0] = 0
    if rules.few.shape[0] and shapes.kind[rules.few[rules.few.shape[0] - 1, 0]] != PLANE:
        boxes_around(shapes, placed, margin, grid)
    for k in range(rules.few.shape[0]):
        a, b = rules.few[k, 0], rules.few[k, 1]
        while code < KIND * shapes.kind[a] + shapes.kind[b]:
            code += 1
            start[code] = n
        near = near_plane(shapes, placed, margin, a, b) if shapes.kind[a] == PLANE else overlap(grid, a, b)
        if near and n < candidates.sorted.shape[0]:
            candidates.sorted[n, 0], candidates.sorted[n, 1] = a, b
        if near:
            n += 1
    while code < KIND_PAIRS:
        code += 1
        start[code] = n
    candidates.total[0] = n


@kernel
def place_of(grid, i, j, k):
    """Slot of cell (i, j, k) in the hash table: the low bits of the three indices, so that neighbours stay close."""
    x, y, z = grid.bits[0], grid.bits[1], grid.bits[2]
    return (i & ((1 << x) - 1)) | ((j & ((1 << y) - 1)) << x) | ((k & ((1 << z) - 1)) << (x + y))


@kernel
def share_bits(shapes, grid, cell):
    """Divide the bits of the table among the axes: as many as the spread of the shapes needs, or as fit."""
    room, most = 0, grid.head.shape[0]
    while (1 << (room + 1)) <= most:
        room += 1
    needed = 0
    for i in range(3):
        low, high = 1 << 62, -(1 << 62)
        for s in range(shapes.kind.shape[0]):
            if shapes.kind[s] != PLANE and grid.extent[s] <= cell:
                low, high = min(low, grid.cell[s, i]), max(high, grid.cell[s, i])
        grid.bits[i] = 0
        while low < high and (1 << grid.bits[i]) < high - low + 1 and grid.bits[i] < room:
            grid.bits[i] += 1
        needed += grid.bits[i]
    while needed > room:
        widest = 0
        for i in range(1, 3):
            if grid.bits[i] > grid.bits[widest]:
                widest = i
        grid.bits[widest] -= 1
        needed -= 1


@kernel
def cell_number(x, cell):
    """Index of the cell along one axis; all coordinates that are very large or not finite share one cell."""
    u = x / cell
    return floor(u) if abs(u) < 1e15 else 0


@kernel
def file_and_look(shapes, rules, grid, cell, candidates):
    """Store every shape, then search cell by cell, which is kind to the cache. Returns the number of larger shapes."""
    larges = 0
    for i in range(grid.head.shape[0]):
        grid.head[i] = -1
    for s in range(shapes.kind.shape[0]):
        if shapes.kind[s] != PLANE and not grid.extent[s] <= cell:
            grid.large[larges] = s
            larges += 1
        for i in range(3):
            grid.cell[s, i] = cell_number(0.5 * (grid.low[s, i] + grid.high[s, i]), cell)
    share_bits(shapes, grid, cell)
    for s in range(shapes.kind.shape[0]):
        if shapes.kind[s] != PLANE and grid.extent[s] <= cell:
            h = place_of(grid, grid.cell[s, 0], grid.cell[s, 1], grid.cell[s, 2])
            grid.following[s] = grid.head[h]
            grid.head[h] = s
    for h in range(grid.head.shape[0]):
        s = grid.head[h]
        while s >= 0:
            look_around(shapes, rules, grid, s, candidates)
            s = grid.following[s]
    return larges


@kernel
def look_around(shapes, rules, grid, s, candidates):
    """Add the partners of shape s: those stored before it in its own cell, and all in half of the cells around."""
    for step in range(14):  # the own cell, then (1, 0, 0), (·, 1, 0), (·, ·, 1)
        if step < 2:
            di, dj, dk = step, 0, 0
        elif step < 5:
            di, dj, dk = step - 3, 1, 0
        else:
            di, dj, dk = (step - 5) % 3 - 1, (step - 5) // 3 - 1, 1
        i, j, k = grid.cell[s, 0] + di, grid.cell[s, 1] + dj, grid.cell[s, 2] + dk
        t = grid.following[s] if step == 0 else grid.head[place_of(grid, i, j, k)]
        while t >= 0:
            here = grid.cell[t, 0] == i and grid.cell[t, 1] == j and grid.cell[t, 2] == k
            if here and overlap(grid, s, t):
                propose(shapes, rules, candidates, t, s)
            t = grid.following[t]


@kernel
def find_candidates(shapes: Shapes, rules: Rules, placed: Placed, margin, cell, grid: Grid, candidates: Candidates):
    """Find all allowed pairs whose boxes overlap, sorted by kinds; pairs beyond the capacity are only counted."""
    if shapes.kind.shape[0] <= FEW:
        try_all(shapes, rules, placed, margin, grid, candidates)
    else:
        search_grid(shapes, rules, placed, margin, cell, grid, candidates)


@kernel(separate=True)
def search_grid(shapes, rules, placed, margin, cell, grid, candidates):
    """Find the candidates among many shapes."""
    ns = shapes.kind.shape[0]
    candidates.total[0] = 0
    boxes_around(shapes, placed, margin, grid)
    for s in range(ns):
        if shapes.kind[s] == PLANE:
            against_planes(shapes, rules, placed, margin, s, candidates)
    larges = file_and_look(shapes, rules, grid, cell, candidates)
    for m in range(larges):
        a = grid.large[m]
        for b in range(ns):
            if shapes.kind[b] != PLANE and (grid.extent[b] <= cell or b > a) and overlap(grid, a, b):
                propose(shapes, rules, candidates, a, b)
    sort_by_kinds(shapes, candidates)


@kernel
def sort_by_kinds(shapes, candidates):
    """Counting sort, which keeps the order within a kind."""
    start, n = candidates.start, min(candidates.total[0], candidates.pair.shape[0])
    for i in range(KIND_PAIRS + 1):
        start[i] = 0
    for c in range(n):
        start[KIND * shapes.kind[candidates.pair[c, 0]] + shapes.kind[candidates.pair[c, 1]] + 1] += 1
    for i in range(KIND_PAIRS):
        start[i + 1] += start[i]
    for c in range(n):
        code = KIND * shapes.kind[candidates.pair[c, 0]] + shapes.kind[candidates.pair[c, 1]]
        candidates.sorted[start[code], 0] = candidates.pair[c, 0]
        candidates.sorted[start[code], 1] = candidates.pair[c, 1]
        start[code] += 1
    for i in range(KIND_PAIRS, 0, -1):
        start[i] = start[i - 1]
    start[0] = 0


def cell_size(shapes: Shapes, margin: float) -> float:
    """Edge of a cell that holds all shapes in any orientation, except for the √n largest [m]."""
    diameter = np.sort(2.0 * shapes.radius[shapes.kind != PLANE])
    if not len(diameter):
        return 1.0
    largest = float(diameter[len(diameter) - 1 - isqrt(len(diameter) - 1)])
    size = (largest + margin) * (1.0 + 1e-9)
    return size if size > 0.0 and isfinite(size) else 1.0


def list_pairs(shapes: Shapes, rules: Rules) -> np.ndarray:
    """(k, 2) ``Rules.few``: all pairs that may touch, lower kind first, sorted by kinds; none above ``FEW`` shapes."""
    ns = len(shapes.kind)
    pairs = []
    for a in range(ns if ns <= FEW else 0):
        for b in range(ns):
            i, j = int(shapes.kind[a]), int(shapes.kind[b])
            if (i, a) < (j, b) and (i, j) != (PLANE, PLANE) and allowed(shapes, rules, a, b):
                pairs.append((i, j, a, b))
    return np.array([pair[2:] for pair in sorted(pairs)], dtype=np.int64).reshape(-1, 2)


def pairs_of_kinds(shapes: Shapes, rules: Rules) -> set[int]:
    """The codes KIND·i + j, i ≤ j, of all pairs of kinds that may touch, and perhaps of some more."""
    kind = shapes.kind
    named = np.stack([rules.pair // max(1, len(kind)), rules.pair % max(1, len(kind))], axis=-1)
    if len(kind) <= FEW:
        codes = {(int(kind[a]), int(kind[b])) for a, b in (*rules.few, *named)}
    else:
        groups = np.unique(np.stack([kind, shapes.group, shapes.mask, shapes.link > 0]), axis=1).T
        codes = {(int(i), int(j)) for i, g, m, x in groups for j, h, n, y in groups if (g & n or h & m) and (x or y)}
        codes |= {(int(kind[a]), int(kind[b])) for a, b in named}
    return {KIND * min(pair) + max(pair) for pair in codes} - {KIND * PLANE + PLANE}


def make_grid(shapes: int) -> Grid:
    n = max(1, shapes)
    table = 1 << (2 * n - 1).bit_length()
    return Grid(
        low=np.zeros((n, 3)),
        high=np.zeros((n, 3)),
        extent=np.zeros(n),
        cell=np.zeros((n, 3), dtype=np.int64),
        head=np.zeros(table, dtype=np.int64),
        bits=np.zeros(3, dtype=np.int64),
        following=np.zeros(n, dtype=np.int64),
        large=np.zeros(n, dtype=np.int64),
    )


def make_candidates(capacity: int) -> Candidates:
    n = max(1, capacity)
    return Candidates(
        total=np.zeros(1, dtype=np.int64),
        pair=np.zeros((n, 2), dtype=np.int64),
        sorted=np.zeros((n, 2), dtype=np.int64),
        start=np.zeros(KIND_PAIRS + 1, dtype=np.int64),
    )
