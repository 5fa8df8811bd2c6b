"""In which order bodies and joints are eliminated, so that little fills in and every pivot exists.

A joint's diagonal block is zero: its pivot is −G·D⁻¹·Gᵀ over the bodies eliminated before it, those not yet eliminated
being held. Rows that are independent stay so when one body of a mechanism is held, since joints see relative motion
only; not when two are, or one and the world. So a joint may go as soon as what is already tied together with it has at
most one such *anchor*: a body yet to come, or the world. In a tree that is after the child and before the parent; in a
loop, just before the topmost body of the cycle.

* Depth first (``depth_first``): leaves before what carries them, roots at bodies that joints tie to the world. Nothing
  fills in for trees; the nodes of a loop's path get one block pair each. Joints that must wait go once they may.
* Minimum degree (``minimum_degree``): next is the node with the fewest neighbours, among those that may go.

Reference: Brüdigam et al., "Linear-time contact and friction dynamics in maximal coordinates using variational
integrators", Sec. III-B; Duff, Erisman & Reid, *Direct Methods for Sparse Matrices* (2017), ch. 7.
Differs from the paper in: loop joints wait for their cycle, where a plain depth-first search starts with a zero pivot;
minimum degree for contacts between bodies.
"""

from __future__ import annotations

from stickslip._jit import kernel

BODY, JOINT = 0, 1
"""Kinds of nodes."""
NOBODY, WORLD, TWO = -1, -2, -3
"""Anchors that are no body."""


@kernel
def adjacency(edges, first, near):
    """``near[first[a] : first[a + 1]]``: the neighbours of node a, as often as they are given."""
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
    """The one anchor of joint j with all that is tied to it, or ``NOBODY``; ``TWO``: it may not go."""
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
    if bodies < 2:  # a joint of one body ties it to the world
        if one != NOBODY and one != WORLD:
            return TWO
        one = WORLD
    return one


@kernel
def eliminate(a, kind, first, near, done, part, anchor, held):
    """Note that node a is gone; ``held``: a joint's anchor."""
    done[a] = True
    root = find(part, a)
    for p in range(first[a], first[a + 1]):
        b = near[p]
        if done[b] and kind[a] != kind[b]:  # a body joins the joints that it was the anchor of
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
            while gone:  # what goes may free others
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
    """How many bits of a non-negative number are set."""
    word -= (word >> 1) & 0x5555555555555555
    word = (word & 0x3333333333333333) + ((word >> 2) & 0x3333333333333333)
    word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0F
    word += word >> 8
    word += word >> 16
    return (word + (word >> 32)) & 0x7F


@kernel
def minimum_degree(kind, first, near, order, done, part, anchor, degree, bits):
    """The same by degrees; ``bits`` (nn, ⌈nn/62⌉) is the matrix of the graph, 62 neighbours a word."""
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
                degree[b] = -1  # and not itself
                for u in range(words):
                    bits[b, u] |= bits[best, u]
                    degree[b] += ones(bits[b, u])
                bits[b, b // 62] &= ~(1 << (b % 62))
