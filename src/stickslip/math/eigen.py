"""Eigenvalues of a small symmetric matrix, and changes to and from its eigenbasis, without forming eigenvectors.

A = V·Λ·Vᵀ by Householder reflections to tridiagonal form and implicit QL rotations (Golub & Van Loan, Secs. 8.3.1 and
8.3.5). Where a function of A acts on a few vectors, f(A)·x = V·f(Λ)·Vᵀ·x, the n² products that would make up V are left
out: reflections and rotations are kept, and applied to those vectors alone.

Cost for n×n: n³ multiply–adds for the reflections, about 1.5·n²/2 rotations.
"""

from __future__ import annotations

from math import copysign, sqrt
from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel

MOST_SWEEPS = 30
"""QL iterations for one eigenvalue; two are usual."""
EPS = 2.220446049250313e-16


class Eigenbasis(NamedTuple):
    """Scratch and result for matrices of up to n×n."""

    value: np.ndarray
    """(n,) eigenvalues, in no order."""
    off: np.ndarray
    """(n,) scratch: the off-diagonal of the tridiagonal form."""
    weight: np.ndarray
    """(n,) half the squared length of each reflection vector; the vectors stay in the rows of A."""
    place: np.ndarray
    """(4n² + 64,) the upper index of each rotation."""
    cosine: np.ndarray
    sine: np.ndarray


def make_eigenbasis(n: int) -> Eigenbasis:
    room = 4 * n * n + 64
    return Eigenbasis(
        np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(room, dtype=np.int64), np.zeros(room), np.zeros(room)
    )


@kernel
def tridiagonalise(A, n, basis):
    """Reflect A[:n, :n] (both triangles; overwritten) to tridiagonal form; vectors stay in its rows."""
    d, e, weight = basis.value, basis.off, basis.weight
    for i in range(n - 1, 0, -1):
        scale = 0.0
        for k in range(i):
            scale += abs(A[i, k])
        weight[i] = 0.0
        d[i] = A[i, i]
        e[i] = A[i, i - 1]
        if i == 1 or scale == 0.0 or scale == abs(A[i, i - 1]):
            continue
        square = 0.0
        for k in range(i):
            square += A[i, k] * A[i, k]
        f = A[i, i - 1]
        g = -copysign(sqrt(square), f)
        e[i] = g
        H = square - f * g
        A[i, i - 1] = f - g
        weight[i] = H
        inverse = 1.0 / H
        for j in range(i):
            e[j] = 0.0
        for k in range(i):  # e = A·u / H, row by row
            u = A[i, k] * inverse
            for j in range(i):
                e[j] += u * A[k, j]
        f = 0.0
        for j in range(i):
            f += e[j] * A[i, j]
        f *= 0.5 * inverse
        for j in range(i):
            e[j] -= f * A[i, j]
        for j in range(i):
            f, g = A[i, j], e[j]
            for k in range(i):
                A[j, k] -= f * e[k] + g * A[i, k]
    d[0] = A[0, 0]
    e[0] = 0.0


@kernel
def reflect(A, n, basis, x):
    """x ← Q·x, where Q·A·Qᵀ is tridiagonal."""
    for i in range(n - 1, 0, -1):
        if basis.weight[i] != 0.0:
            reflect_once(A, i, basis.weight[i], x)


@kernel
def reflect_back(A, n, basis, x):
    """x ← Qᵀ·x."""
    for i in range(1, n):
        if basis.weight[i] != 0.0:
            reflect_once(A, i, basis.weight[i], x)


@kernel
def reflect_once(A, i, weight, x):
    c = 0.0
    for k in range(i):
        c += A[i, k] * x[k]
    c /= weight
    for k in range(i):
        x[k] -= c * A[i, k]


@kernel
def diagonalise(n, basis):
    """QL with implicit shifts on the tridiagonal form; returns the number of rotations, or −1 without convergence."""
    d, e = basis.value, basis.off
    for i in range(1, n):
        e[i - 1] = e[i]
    e[n - 1] = 0.0
    count = 0
    for first in range(n):
        sweeps = 0
        while True:
            last = first
            while last < n - 1 and abs(e[last]) > EPS * (abs(d[last]) + abs(d[last + 1])):
                last += 1
            if last == first:
                break
            if sweeps == MOST_SWEEPS or count + last - first > basis.place.shape[0]:
                return -1
            sweeps += 1
            g = (d[first + 1] - d[first]) / (2.0 * e[first])
            r = sqrt(g * g + 1.0)
            g = d[last] - d[first] + e[first] / (g + copysign(r, g))
            s, c, p = 1.0, 1.0, 0.0
            i = last - 1
            while i >= first:
                f, b = s * e[i], c * e[i]
                r = sqrt(f * f + g * g)
                e[i + 1] = r
                if r == 0.0:
                    d[i + 1] -= p
                    e[last] = 0.0
                    break
                s, c = f / r, g / r
                g = d[i + 1] - p
                r = (d[i] - g) * s + 2.0 * c * b
                p = s * r
                d[i + 1] = g + p
                g = c * r - b
                basis.place[count], basis.cosine[count], basis.sine[count] = i, c, s
                count += 1
                i -= 1
            if r == 0.0 and i >= first:
                continue
            d[first] -= p
            e[first] = g
            e[last] = 0.0
    return count


@kernel
def rotate(basis, count, x):
    """x ← Gᵀ·x: from the tridiagonal to the eigenbasis."""
    for k in range(count):
        i, c, s = basis.place[k], basis.cosine[k], basis.sine[k]
        low, high = x[i], x[i + 1]
        x[i + 1] = s * low + c * high
        x[i] = c * low - s * high


@kernel
def rotate_back(basis, count, x):
    """x ← G·x."""
    for k in range(count - 1, -1, -1):
        i, c, s = basis.place[k], basis.cosine[k], basis.sine[k]
        low, high = x[i], x[i + 1]
        x[i] = c * low + s * high
        x[i + 1] = c * high - s * low
