"""The algebra of second-order cones Q = {x: x_n ≥ |x_t|}, x = (n, t₁, t₂), that interior-point methods work with.

Nesterov and Todd's scaling of a pair x, y inside Q is the symmetric G with G·x = G⁻¹·y = λ:

    G = √(y_J/x_J)·[[w_n, w_tᵀ], [w_t, 1 + w_t·w_tᵀ/(1 + w_n)]],   w = (y/y_J + J·x/x_J)/(2γ),
    G² = (y_J/x_J)·(2·w·wᵀ − J),   J = diag(1, −1, −1),   x_J² = x_n² − |x_t|²,   γ² = (1 + x·y/(x_J·y_J))/2.

Products are Jordan's, a∘b = (a·b, a_n·b_t + b_n·a_t). All arrays are (nc, 3), a row per cone; ``scaling`` is (nc, 4),
w and √(y_J/x_J).
Reference: Vandenberghe, "The CVXOPT linear and quadratic cone program solvers", 2010. Differs from it in: nothing.
"""

from __future__ import annotations

from stickslip._jit import kernel


@kernel
def hyperbolic(n, t1, t2):
    """√(n² − t₁² − t₂²); negative outside the cone."""
    length = (t1 * t1 + t2 * t2) ** 0.5
    inside = n - length
    if inside <= 0.0:
        return -1.0
    return (inside * (n + length)) ** 0.5


@kernel
def scale_cones(x, y, scaling, point):
    """G of every cone into ``scaling`` and λ into ``point``; False where x or y has been rounded onto a boundary."""
    for c in range(x.shape[0]):
        size_x, size_y = hyperbolic(x[c, 0], x[c, 1], x[c, 2]), hyperbolic(y[c, 0], y[c, 1], y[c, 2])
        if not (size_x > 0.0 and size_y > 0.0):
            return False
        x0, x1, x2 = x[c, 0] / size_x, x[c, 1] / size_x, x[c, 2] / size_x
        y0, y1, y2 = y[c, 0] / size_y, y[c, 1] / size_y, y[c, 2] / size_y
        inner = x0 * y0 + x1 * y1 + x2 * y2
        if not inner < 1e300:
            return False
        half = 0.5 / (0.5 + 0.5 * inner) ** 0.5
        scaling[c, 0], scaling[c, 1], scaling[c, 2] = half * (x0 + y0), half * (y1 - x1), half * (y2 - x2)
        scaling[c, 3] = (size_y / size_x) ** 0.5
        point[c, 0], point[c, 1], point[c, 2] = scaled(scaling, c, 1.0, x[c, 0], x[c, 1], x[c, 2])
    return True


@kernel
def scaled(scaling, c, sign, n, t1, t2):
    """G·(n, t₁, t₂) of cone c; with sign = −1, G⁻¹."""
    w0, w1, w2 = scaling[c, 0], sign * scaling[c, 1], sign * scaling[c, 2]
    factor = scaling[c, 3] if sign > 0.0 else 1.0 / scaling[c, 3]
    along = w1 * t1 + w2 * t2
    k = n + along / (1.0 + w0)
    return factor * (w0 * n + along), factor * (t1 + k * w1), factor * (t2 + k * w2)


@kernel
def squared_scaling(scaling, H):
    """G² of every cone into H (nc, 3, 3)."""
    for c in range(H.shape[0]):
        factor = scaling[c, 3] * scaling[c, 3]
        for i in range(3):
            for j in range(3):
                H[c, i, j] = 2.0 * factor * scaling[c, i] * scaling[c, j]
            H[c, i, i] += factor if i > 0 else -factor


@kernel
def complementarity(scaling, point, dx, dy, second, centre, g):
    """g = G·(λ \\ d) with d = centre·e − λ∘λ − second·(G⁻¹·dy)∘(G·dx): then dy = g − G²·dx."""
    for c in range(g.shape[0]):
        l0, l1, l2 = point[c, 0], point[c, 1], point[c, 2]
        d0 = centre - l0 * l0 - l1 * l1 - l2 * l2
        d1, d2 = -2.0 * l0 * l1, -2.0 * l0 * l2
        if second != 0.0:
            a0, a1, a2 = scaled(scaling, c, -1.0, dy[c, 0], dy[c, 1], dy[c, 2])
            b0, b1, b2 = scaled(scaling, c, 1.0, dx[c, 0], dx[c, 1], dx[c, 2])
            d0 -= second * (a0 * b0 + a1 * b1 + a2 * b2)
            d1 -= second * (a0 * b1 + b0 * a1)
            d2 -= second * (a0 * b2 + b0 * a2)
        length = (l1 * l1 + l2 * l2) ** 0.5
        q0 = (l0 * d0 - l1 * d1 - l2 * d2) / ((l0 - length) * (l0 + length))
        g[c, 0], g[c, 1], g[c, 2] = scaled(scaling, c, 1.0, q0, (d1 - q0 * l1) / l0, (d2 - q0 * l2) / l0)


@kernel
def longest_step(x, d, limit):
    """The largest step up to ``limit`` with x + step·d in every cone, by a hyperbolic rotation of x to the axis."""
    steepest = 1.0 / limit
    for c in range(x.shape[0]):
        size = hyperbolic(x[c, 0], x[c, 1], x[c, 2])
        if not size > 0.0:
            return 0.0
        x0, x1, x2 = x[c, 0] / size, x[c, 1] / size, x[c, 2] / size
        d0, d1, d2 = d[c, 0] / size, d[c, 1] / size, d[c, 2] / size
        axial = x0 * d0 - x1 * d1 - x2 * d2
        k = (axial + d0) / (1.0 + x0)
        s1, s2 = d1 - k * x1, d2 - k * x2
        leaves = (s1 * s1 + s2 * s2) ** 0.5 - axial
        if not leaves < 1e300:
            return 0.0
        steepest = max(steepest, leaves)
    return 1.0 / steepest
