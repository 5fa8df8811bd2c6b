"""Eigenvalues of a small symmetric matrix, and changes to and from its eigenbasis, without forming eigenvectors.

A = V·Λ·Vᵀ is computed by Householder reflections to tridiagonal form and implicit QL rotations (Golub & Van Loan, Secs.
8.3.1 and 8.3.5). Callers apply a function of A to a few vectors, f(A)·x = V·f(Λ)·Vᵀ·x, so V is never multiplied out:
the reflections and rotations are stored and applied to those vectors alone.

Cost for n×n: n³ multiply–adds for the reflections, about 1.5·n²/2 rotations.
"""

from __future__ import annotations

from math import copysign, sqrt
from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel

MOST_SWEEPS = 30
"""Largest number of QL iterations for one eigenvalue; two are usual."""
FEW_SWEEPS = 10
"""Iterations after which what is round-off beside the largest eigenvalue counts as zero: eigenvalues that are zero
have no digits of their own."""
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
    """Reduce A[:n, :n] (both triangles) to tridiagonal form. The reflection vectors overwrite its rows."""
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
def reflect(A, n, basis, x, y, z):
    """x ← Q·x, y ← Q·y, z ← Q·z, where Q·A·Qᵀ is tridiagonal. Three vectors at a time keep the processor busier."""
    for i in range(n - 1, 0, -1):
        if basis.weight[i] == 0.0:
            continue
        a, b, c = 0.0, 0.0, 0.0
        for k in range(i):
            u = A[i, k]
            a += u * x[k]
            b += u * y[k]
            c += u * z[k]
        inverse = 1.0 / basis.weight[i]
        a, b, c = a * inverse, b * inverse, c * inverse
        for k in range(i):
            u = A[i, k]
            x[k] -= a * u
            y[k] -= b * u
            z[k] -= c * u


@kernel
def reflect_back(A, n, basis, x, y):
    """x ← Qᵀ·x, y ← Qᵀ·y."""
    for i in range(1, n):
        if basis.weight[i] == 0.0:
            continue
        a, b = 0.0, 0.0
        for k in range(i):
            u = A[i, k]
            a += u * x[k]
            b += u * y[k]
        inverse = 1.0 / basis.weight[i]
        a, b = a * inverse, b * inverse
        for k in range(i):
            u = A[i, k]
            x[k] -= a * u
            y[k] -= b * u


@kernel
def diagonalise(n, basis, x, y, z):
    """QL with implicit shifts on the tridiagonal form; the rotations are also applied to x, y and z. Returns the number
    of rotations, or −1 if the iteration did not converge."""
    d, e = basis.value, basis.off
    largest = abs(d[0])
    for i in range(1, n):
        e[i - 1] = e[i]
        largest = max(largest, abs(d[i]) + abs(e[i]))
    e[n - 1] = 0.0
    count = 0
    for first in range(n):
        sweeps = 0
        while True:
            last, floor = first, EPS * largest if sweeps > FEW_SWEEPS else 0.0
            while last < n - 1 and abs(e[last]) > floor + EPS * (abs(d[last]) + abs(d[last + 1])):
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
                r = 1.0 / r
                s, c = f * r, g * r
                g = d[i + 1] - p
                r = (d[i] - g) * s + 2.0 * c * b
                p = s * r
                d[i + 1] = g + p
                g = c * r - b
                x[i], x[i + 1] = c * x[i] - s * x[i + 1], s * x[i] + c * x[i + 1]
                y[i], y[i + 1] = c * y[i] - s * y[i + 1], s * y[i] + c * y[i + 1]
                z[i], z[i + 1] = c * z[i] - s * z[i + 1], s * z[i] + c * z[i + 1]
                basis.place[count], basis.cosine[count], basis.sine[count] = i, c, s
                count += 1
                i -= 1
            if i >= first:
                continue
            d[first] -= p
            e[first] = g
            e[last] = 0.0
    return count


@kernel
def rotate_back(basis, count, x, y):
    """Transform x and y from the eigenbasis back to the basis of the tridiagonal form."""
    for k in range(count - 1, -1, -1):
        i, c, s = basis.place[k], basis.cosine[k], basis.sine[k]
        x[i], x[i + 1] = c * x[i] + s * x[i + 1], c * x[i + 1] - s * x[i]
        y[i], y[i + 1] = c * y[i] + s * y[i + 1], c * y[i + 1] - s * y[i]


@kernel
def to_modes(S, n, basis, x, y, z):
    """Transform x, y, z to the eigenbasis of S, which is overwritten. Returns the rotations' number, −1 on failure."""
    tridiagonalise(S, n, basis)
    reflect(S, n, basis, x, y, z)
    return diagonalise(n, basis, x, y, z)


@kernel
def from_modes(S, n, basis, rotations, x, y):
    """Transform x and y from the eigenbasis back to the original basis."""
    rotate_back(basis, rotations, x, y)
    reflect_back(S, n, basis, x, y)


@kernel
def inverse_root(S, n, least, basis, out):
    """out[:n, :n] = R with RᵀR = S⁺, the pseudo-inverse of a positive semidefinite S, which is overwritten.

    Row k of R is an eigenvector over the root of its eigenvalue, or zero if that is at most ``least`` times the
    largest. Returns False if the eigenvalues were not found.
    """
    if n == 0:
        return True
    unused, largest = basis.off, 0.0
    for j in range(n):
        out[0, j] = 0.0
    rotations = to_modes(S, n, basis, out[0], out[0], out[0])
    if rotations < 0:
        return False
    for i in range(n):
        largest = max(largest, basis.value[i])
        for j in range(n):
            out[i, j] = 1.0 if i == j else 0.0
    for i in range(0, n, 2):
        from_modes(S, n, basis, rotations, out[i], out[i + 1] if i + 1 < n else unused)
    for i in range(n):
        scale = 1.0 / sqrt(basis.value[i]) if basis.value[i] > least * largest else 0.0
        for j in range(n):
            out[i, j] *= scale
    return True
