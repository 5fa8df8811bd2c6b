"""Proximal iterations for G·λ + a = 0 with G symmetric and positive semidefinite, singular or not.

The proximal point method on max_λ −½λᵀGλ − λᵀa,

    (G + μ)·λ⁺ = μ·λ − a,

converges by a factor of ρ = μ/(μ + σ) per step in the eigendirection of σ > 0. If a has a part a_N in the null space of
G (constraints that contradict each other), λ diverges along it as −k·a_N/μ after k steps, while the motion, which does
not depend on that part, converges to the least-squares solution. So the operator P = μ·(G + μ)⁻¹ is used three times:

    a_N = lim Pᵏ·a                      the least-squares residual, which no force can remove
    λ  ← λ − (G + μ)⁻¹(G·λ + a − a_N)   the proximal iteration without its divergent part
    λ  ← λ − lim Pᵏ·λ                   the smallest λ, without a part in the null space

which gives λ = −G⁺·a with the pseudo-inverse G⁺. A smaller μ converges faster, but G's null space is known only up to
round-off ε, and P loses ε·|G|/μ of the null-space part. The first and the last line are therefore repeated with the
remainder. Directions with 0 < σ ≪ μ need about μ/σ iterations; if the limit is reached first, their remainder counts as
null, and the status reports it.
Sizes: m rows; cost m³/6 for the factor, 2m² per iteration.
Reference: Parikh, Boyd, "Proximal Algorithms", 2014; Carpentier, Budhiraja, Mansard, "Proximal and Sparse Resolution of
Constrained Dynamic Equations", RSS 2021, whose iteration is the second line.
"""

from __future__ import annotations

from stickslip._jit import kernel

CONVERGED, CONFLICT, MAX_ITERATIONS, NOT_FINITE = 0, 1, 2, 3
PASSES = 2
"""Number of times that the projection onto the null space is repeated with the remainder."""
EPSILON = 2.220446049250313e-16
CONTRADICTS = 1e-9
"""Fraction of max|a| above which a_N is a contradiction, not round-off."""


@kernel
def cholesky(A, mu, F):
    """F (lower) with F·Fᵀ = A + μ; returns 1 if that is not positive definite or not finite, else 0."""
    for i in range(A.shape[0]):
        for j in range(i + 1):
            s = A[i, j]
            for k in range(j):
                s -= F[i, k] * F[j, k]
            if i == j:
                s += mu
                if not s > 0.0:
                    return 1
                F[i, i] = s**0.5
            else:
                F[i, j] = s / F[j, j]
    return 0


@kernel
def cholesky_solve(F, x):
    """x ← (F·Fᵀ)⁻¹·x."""
    m = x.shape[0]
    for i in range(m):
        s = x[i]
        for k in range(i):
            s -= F[i, k] * x[k]
        x[i] = s / F[i, i]
    for i in range(m - 1, -1, -1):
        s = x[i] / F[i, i]
        x[i] = s
        for k in range(i):
            x[k] -= F[i, k] * s


@kernel
def largest(x):
    """max|x|; NaN if any entry is."""
    most = 0.0
    for i in range(x.shape[0]):
        if x[i] != x[i]:
            return x[i]
        most = max(most, abs(x[i]))
    return most


@kernel
def to_null_space(F, mu, limit, drift, most, x, y):
    """x ← lim Pᵏ·x; ``y`` is scratch. Returns (iterations, whether it converged).

    It has converged if a step changes no entry by more than ``limit`` or by more than ``drift`` of the largest entry.
    """
    for k in range(most):
        for i in range(x.shape[0]):
            y[i] = x[i]
        cholesky_solve(F, x)
        change, size = 0.0, 0.0
        for i in range(x.shape[0]):
            x[i] *= mu
            change, size = max(change, abs(x[i] - y[i])), max(size, abs(x[i]))
        if change <= max(limit, drift * size):
            return k + 1, True
    return most, False


@kernel
def proximal_solve(G, a, relative_mu, tolerance, most, F, conflict, force, null, y):
    """``force`` (m,) = −G⁺·a and ``conflict`` (m,) = a_N; F (m, m), ``null`` and ``y`` (m,) are scratch.

    ``relative_mu`` is μ over the largest diagonal entry of G. Returns (status, iterations).
    """
    m = a.shape[0]
    size = 0.0
    for i in range(m):
        size = max(size, G[i, i])
        conflict[i], force[i] = 0.0, 0.0
    scale = largest(a)
    if not scale <= 1e300 or not size <= 1e300:
        return NOT_FINITE, 0
    if scale == 0.0:
        return CONVERGED, 0
    if size == 0.0:  # no row can move: all of a is a contradiction
        for i in range(m):
            conflict[i] = a[i]
        return CONFLICT, 0
    mu = relative_mu * size
    if cholesky(G, mu, F) != 0:
        return NOT_FINITE, 0
    drift = 8.0 * m * EPSILON / relative_mu
    for i in range(m):
        null[i] = a[i]
    iterations, rest = 0, True
    for _ in range(PASSES):
        for i in range(m):
            force[i] = null[i]
        steps, still = to_null_space(F, mu, tolerance * scale, drift, most, force, y)
        iterations, rest = iterations + steps, rest and still
        for i in range(m):
            conflict[i] += force[i]
            null[i] -= force[i]
    for i in range(m):
        force[i] = 0.0
    contradicts = largest(conflict) > CONTRADICTS * scale
    status = MAX_ITERATIONS
    for _ in range(most):
        for i in range(m):
            s = conflict[i] - a[i]
            for j in range(m):
                s -= G[i, j] * force[j]
            y[i] = s
        floor = 8.0 * m * EPSILON * size * largest(force)
        if largest(y) <= tolerance * scale + floor:
            if rest:
                status = CONFLICT if contradicts else CONVERGED
            break
        cholesky_solve(F, y)
        for i in range(m):
            force[i] += y[i]
        iterations += 1
    for _ in range(PASSES):
        for i in range(m):
            null[i] = force[i]
        to_null_space(F, mu, tolerance * largest(force), drift, most, null, y)
        for i in range(m):
            force[i] -= null[i]
    return status, iterations
