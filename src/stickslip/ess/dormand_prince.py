"""Dormand and Prince's Runge–Kutta pair of orders 5(4), with dense output of order 4.

    k₁ = f(x),  kₛ = f(x + h·Σ aₛⱼ·kⱼ),  x⁺ = x + h·Σ bⱼ·kⱼ,  error = h·Σ eⱼ·kⱼ,  x(t + θ·h) = x + h·Σ qᵢ·θⁱ⁺¹

There are seven stages, the last of which is the first of the next step. Sizes: x is (n,), the stages k are (7, n), the
dense output q = kᵀ·P is (n, 4).

Dormand and Prince, J. Comput. Appl. Math. 6, 1980; Hairer, Nørsett, Wanner, Solving ordinary differential equations I,
II.4 (step sizes) and II.5; the dense output is Shampine's, Math. Comput. 46, 1986.
"""

from __future__ import annotations

import numpy as np

from stickslip._jit import kernel

STAGES = 7
A = np.array(
    [
        [0, 0, 0, 0, 0, 0],
        [1 / 5, 0, 0, 0, 0, 0],
        [3 / 40, 9 / 40, 0, 0, 0, 0],
        [44 / 45, -56 / 15, 32 / 9, 0, 0, 0],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729, 0, 0],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656, 0],
        [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
    ]
)
"""The last row is b: the last stage is evaluated at x⁺."""
C = A.sum(axis=1)
"""Times of the stages, as fractions of the step."""
E = np.array([-71 / 57600, 0, 71 / 16695, -71 / 1920, 17253 / 339200, -22 / 525, 1 / 40])
"""Difference of the weights of the two orders."""
P = np.array(
    [
        [1, -8048581381 / 2820520608, 8663915743 / 2820520608, -12715105075 / 11282082432],
        [0, 0, 0, 0],
        [0, 131558114200 / 32700410799, -68118460800 / 10900136933, 87487479700 / 32700410799],
        [0, -1754552775 / 470086768, 14199869525 / 1410260304, -10690763975 / 1880347072],
        [0, 127303824393 / 49829197408, -318862633887 / 49829197408, 701980252875 / 199316789632],
        [0, -282668133 / 205662961, 2019193451 / 616988883, -1453857185 / 822651844],
        [0, 40617522 / 29380423, -110615467 / 29380423, 69997945 / 29380423],
    ]
)
SAFETY, SMALLEST, LARGEST = 0.9, 0.2, 10.0
"""Safety factor and bounds of the factor by which the step size changes."""


@kernel
def stage(k, s, x, h, out):
    """The state at which stage s is evaluated."""
    for i in range(x.shape[0]):
        total = 0.0
        for j in range(s):
            total += A[s, j] * k[j, i]
        out[i] = x[i] + h * total


@kernel
def error_norm(k, h, x, x1, rtol, atol):
    """Root mean square of the error over atol + rtol·|x|; a step is accepted up to 1. NaN if any number is."""
    n, total = x.shape[0], 0.0
    for i in range(n):
        error = 0.0
        for j in range(STAGES):
            error += E[j] * k[j, i]
        part = h * error / (atol[i] + rtol * max(abs(x[i]), abs(x1[i])))
        total += part * part
        if not abs(x1[i]) < np.inf:  # max() above may have dropped a NaN
            return np.nan
    return np.sqrt(total / max(1, n))


@kernel
def factor(error):
    """Factor by which to change the step size after a step with this error norm."""
    if not error < np.inf:
        return SMALLEST
    if error == 0.0:
        return LARGEST
    return min(LARGEST, max(SMALLEST, SAFETY * error**-0.2))


@kernel
def dense_output(k, q):
    for i in range(k.shape[1]):
        for p in range(4):
            total = 0.0
            for j in range(STAGES):
                total += P[j, p] * k[j, i]
            q[i, p] = total


@kernel
def interpolate(x, h, q, theta, out):
    """x(t + θ·h), θ from 0 to 1."""
    for i in range(x.shape[0]):
        out[i] = x[i] + h * theta * (q[i, 0] + theta * (q[i, 1] + theta * (q[i, 2] + theta * q[i, 3])))


@kernel
def scaled_norm(a, b, x, rtol, atol):
    """Root mean square of (a − b) over atol + rtol·|x|."""
    n, total = x.shape[0], 0.0
    for i in range(n):
        part = (a[i] - b[i]) / (atol[i] + rtol * abs(x[i]))
        total += part * part
    return np.sqrt(total / max(1, n))


@kernel
def trial_step(x, dx, zero, rtol, atol):
    """A first guess of the step size, in which x changes by a hundredth of itself."""
    size, speed = scaled_norm(x, zero, x, rtol, atol), scaled_norm(dx, zero, x, rtol, atol)
    return 1e-6 if size < 1e-5 or speed < 1e-5 else 0.01 * size / speed


@kernel
def first_step(x, dx, dx1, zero, guess, rtol, atol):
    """The initial step size from dx = f(x) and dx1 = f(x + guess·dx)."""
    speed = scaled_norm(dx, zero, x, rtol, atol)
    change = scaled_norm(dx1, dx, x, rtol, atol) / guess
    most = max(speed, change)
    return min(100.0 * guess, max(1e-6, 1e-3 * guess) if most <= 1e-15 else (0.01 / most) ** 0.2)
