"""The order of elimination of bodies and joints, with little fill-in and non-zero pivots.

A joint's diagonal block is zero. Its pivot is −G·D⁻¹·Gᵀ over the bodies eliminated before it, while the others count as
fixed. Independent rows stay independent if one body of a mechanism is fixed, since joints constrain relative motion
only, but not if two are, or one and the world. So a joint may be eliminated as soon as the eliminated part connected
with it has at most one such *anchor*: a remaining body, or the world. In a tree that is after the child and before the
parent; in a loop, just before the topmost body of the cycle.

* Depth first (``depth_first``): leaves before their parents, with roots at bodies that joints connect to the world.
  Trees have no fill-in; each node on a loop's path gets one block pair. Joints that must wait follow once they may.
* Minimum degree (``minimum_degree``): the next node is the one with the fewest neighbours among those allowed.

Reference: Brüdigam et al., "Linear-time contact and friction dynamics in maximal coordinates using variational
integrators", Sec. III-B; Duff, Erisman & Reid, *Direct Methods for Sparse Matrices* (2017), ch. 7.
Differs from the paper in: loop joints wait for their cycle, because a plain depth-first search starts with a zero
pivot; minimum degree for contacts between bodies.
"""

from __future__ import annotations

from stickslip._jit import kernel

BODY, JOINT = 0, 1
"""Kinds of nodes."""
NOBODY, WORLD, TWO = -1, -2, -3
"""Values of an anchor other than a body."""


@kernel
def adjacency(edges, first, near):
    """Fill ``near[first[a] : first[a + 1]]`` with the neighbours of node a, repeated as given."""
    nn = first.shape[0] - 1
    for a in range(nn + 1):
        first[a] = 0
    for e in range(edges.shape[0]):
        first[edges[e, 0] + 1] += 1
        first[edges[e, 1] + 1] += 1
    for a in range(nn):
        first[a + 1] += first[a]
    for e in range(edges.shape[0] - 1, -1, -1):  # shifts every start to its place
        for side in range(2):
            a = edges[e, side]
            first[a + 1] -= 1
            near[first[a + 1]] = edges[e, 1 - side]
    for a in range(nn):
        first[a] = first[a + 1]
    first[nn] = near.shape[0]


@kernel
def find(part, a):
    while part[a] != a:
        part[a] = part[part[a]]
        a = part[a]
    return a


@kernel
def anchor_of(j, kind, first, near, done, part, anchor):
    """The single anchor of joint j and the part connected with it, or ``NOBODY``; ``TWO`` if it must wait."""
    one, bodies, last = NOBODY, 0, -1
    for p in range(first[j], first[j + 1]):
        b = near[p]
        if b != last:
            bodies += 1
            last = b
        held = anchor[find(part, b)] if done[b] else b
        if held != NOBODY:
            if one != NOBODY and one != held:
                return TWO
            one = held
    if bodies < 2:  # a joint of one body connects it to the world
        if one != NOBODY and one != WORLD:
            return TWO
        one = WORLD
    return one


@kernel
def eliminate(a, kind, first, near, done, part, anchor, held):
    """Mark node a as eliminated; ``held`` is a joint's anchor."""
    done[a] = True
    root = find(part, a)
    for p in range(first[a], first[a + 1]):
        b = near[p]
        if done[b] and kind[a] != kind[b]:  # a body joins the joints whose anchor it was
            part[find(part, b)] = root
    anchor[root] = held


@kernel
def depth_first(kind, first, near, order, done, part, anchor, visit, stack, waiting):
    """Fill ``order`` (nn,); the rest is scratch (nn,)."""
    nn = kind.shape[0]
    for a in range(nn):
        done[a], visit[a], part[a], anchor[a] = False, -1, a, NOBODY
    count, waits = 0, 0
    for start in range(2 * nn):
        root = start % nn
        if visit[root] >= 0 or (start < nn and (kind[root] == BODY or first[root + 1] - first[root] != 1)):
            continue
        top = 0
        stack[0], visit[root] = root, first[root]
        while top >= 0:
            a = stack[top]
            if visit[a] < first[a + 1]:
                b = near[visit[a]]
                visit[a] += 1
                if visit[b] < 0:
                    visit[b] = first[b]
                    top += 1
                    stack[top] = b
                continue
            top -= 1
            waiting[waits] = a
            waits += 1
            gone = True
            while gone:  # each elimination may release waiting joints
                gone, left = False, 0
                for w in range(waits):
                    b = waiting[w]
                    held = NOBODY if kind[b] == BODY else anchor_of(b, kind, first, near, done, part, anchor)
                    if held == TWO:
                        waiting[left] = b
                        left += 1
                    else:
                        eliminate(b, kind, first, near, done, part, anchor, held)
                        order[count] = b
                        count += 1
                        gone = True
                waits = left


@kernel
def ones(word):
    """Number of set bits of a non-negative number."""
    word -= (word >> 1) & 0x5555555555555555
    word = (word & 0x3333333333333333) + ((word >> 2) & 0x3333333333333333)
    word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0F
    word += word >> 8
    word += word >> 16
    return (word + (word >> 32)) & 0x7F


@kernel
def minimum_degree(kind, first, near, order, done, part, anchor, degree, bits):
    """Write the order by minimum degree; ``bits`` (nn, ⌈nn/62⌉) is the graph's matrix, 62 neighbours per word."""
    nn, words = bits.shape
    for a in range(nn):
        done[a], part[a], anchor[a] = False, a, NOBODY
        for w in range(words):
            bits[a, w] = 0
        for p in range(first[a], first[a + 1]):
            bits[a, near[p] // 62] |= 1 << (near[p] % 62)
        degree[a] = 0
        for w in range(words):
            degree[a] += ones(bits[a, w])
    for k in range(nn):
        best, held = -1, NOBODY
        for a in range(nn):
            if done[a] or (best >= 0 and degree[a] >= degree[best]):
                continue
            anchored = NOBODY if kind[a] == BODY else anchor_of(a, kind, first, near, done, part, anchor)
            if anchored != TWO:
                best, held = a, anchored
        eliminate(best, kind, first, near, done, part, anchor, held)
        order[k] = best
        for w in range(words):
            rest = bits[best, w]
            while rest:
                low = rest & -rest
                b = 62 * w + ones(low - 1)
                rest ^= low
                bits[b, best // 62] &= ~(1 << (best % 62))
                degree[b] = -1  # does not count itself
                for u in range(words):
                    bits[b, u] |= bits[best, u]
                    degree[b] += ones(bits[b, u])
                bits[b, b // 62] &= ~(1 << (b % 62))
