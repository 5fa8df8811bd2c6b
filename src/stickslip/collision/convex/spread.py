"""A few well-spread contacts out of many: the deepest one, and those that span the largest area with it.

1. The deepest contact. 2. The one farthest from it. 3. The one that makes the largest triangle with both. 4 and more:
the one that adds most to the area on either side. Distances and areas count the less, the nearer a contact's gap is to
the margin: on a rounded body the contacts that press are chosen, not those around them. All contacts of a pair have one
normal, and the gap is linear over a face, so that what is left out lies between what is kept. Equal choices are decided
by the order of the contacts, which is that of the features: a body at rest keeps its contacts.
"""

from __future__ import annotations

from math import sqrt

from stickslip._jit import kernel
from stickslip.math.spatial import cross

EQUAL = 1e-6
"""Difference, as a fraction of the size, below which gaps count as equal, and distances and areas likewise."""


@kernel
def swap_found(found, i, j):
    """Exchange two raw contacts."""
    if i == j:
        return
    found.first[i], found.first[j] = found.first[j], found.first[i]
    found.second[i], found.second[j] = found.second[j], found.second[i]
    found.feature[i], found.feature[j] = found.feature[j], found.feature[i]
    found.gap[i], found.gap[j] = found.gap[j], found.gap[i]
    for c in range(3):
        found.point[i, c], found.point[j, c] = found.point[j, c], found.point[i, c]
        found.normal[i, c], found.normal[j, c] = found.normal[j, c], found.normal[i, c]


@kernel
def side_area(P, i, j, k, nx, ny, nz):
    """Twice the signed area of three points, seen along n."""
    x, y, z = cross(
        P[j, 0] - P[i, 0], P[j, 1] - P[i, 1], P[j, 2] - P[i, 2],
        P[k, 0] - P[i, 0], P[k, 1] - P[i, 1], P[k, 2] - P[i, 2],
    )  # fmt: skip
    return x * nx + y * ny + z * nz


@kernel
def gain(found, start, kept, c):
    """What contact c adds to the ``kept`` ones from ``start`` on: a distance for the second, else an area."""
    P, N = found.point, found.normal
    if kept == 1:
        x, y, z = P[c, 0] - P[start, 0], P[c, 1] - P[start, 1], P[c, 2] - P[start, 2]
        return sqrt(x * x + y * y + z * z)
    nx, ny, nz = N[start, 0], N[start, 1], N[start, 2]
    if kept == 2:
        return abs(side_area(P, start, start + 1, c, nx, ny, nz))
    turn = 1.0 if side_area(P, start, start + 1, start + 2, nx, ny, nz) >= 0.0 else -1.0
    most = 0.0
    for i in range(kept):
        j = i + 1 if i + 1 < kept else 0
        most = max(most, -turn * side_area(P, start + i, start + j, c, nx, ny, nz))
    return most


@kernel
def insert_in_ring(found, start, kept):
    """Move the contact after the ``kept`` ones to its place around them, so that they stay a polygon."""
    P, N = found.point, found.normal
    nx, ny, nz = N[start, 0], N[start, 1], N[start, 2]
    turn = 1.0 if side_area(P, start, start + 1, start + 2, nx, ny, nz) >= 0.0 else -1.0
    most, where = 0.0, kept - 1
    for i in range(kept):
        j = i + 1 if i + 1 < kept else 0
        area = -turn * side_area(P, start + i, start + j, start + kept, nx, ny, nz)
        if area > most:
            most, where = area, i
    for i in range(kept, where + 1, -1):
        swap_found(found, start + i, start + i - 1)


@kernel(inline=False)
def spread(found, start, points, size, margin):
    """Keep at most ``points`` of the raw contacts from ``start`` on; 0 keeps all."""
    n = found.total[0] - start
    if points <= 0 or n <= points or found.total[0] > found.gap.shape[0]:
        return
    deepest = start
    for c in range(start + 1, start + n):
        if found.gap[c] < found.gap[deepest] - EQUAL * size:
            deepest = c
    swap_found(found, start, deepest)
    kept, range_of_gaps = 1, max(margin - found.gap[start], 1e-300)
    while kept < points:
        most, which = EQUAL * size * (size if kept > 1 else 1.0), -1
        for c in range(start + kept, start + n):
            g = gain(found, start, kept, c) * (margin - found.gap[c]) / range_of_gaps
            if g > most * (1.0 + EQUAL):
                most, which = g, c
        if which < 0:
            break
        swap_found(found, start + kept, which)
        if kept >= 3:
            insert_in_ring(found, start, kept)
        kept += 1
    found.total[0] = start + kept
