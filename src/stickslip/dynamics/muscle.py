"""MuJoCo's muscle: force–length and force–velocity curves, and the dynamics of activation (Millard et al. 2013).

With the transmission's length ℓ and its range (ℓ₀, ℓ₁), the nine numbers (r₀, r₁, F, scale, l_min, l_max, v_max,
f_pmax, f_vmax) of a muscle mean:

    L₀ = (ℓ₁ − ℓ₀)/(r₁ − r₀),    L = r₀ + (ℓ − ℓ₀)/L₀,    V = ℓ̇/(L₀·v_max)
    gain = −F·FL(L)·FV(V),       bias = −F·FP(L)

F < 0 stands for scale/peak, where peak is the acceleration of the joints per unit of force. FL, FV and FP are piecewise
quadratic. The activation a follows the control u with the time constants τ_a·(0.5 + 1.5·a) upward and
τ_d/(0.5 + 1.5·a) downward; between them is a quintic step of width w in u − a.
"""

from __future__ import annotations

from stickslip._jit import kernel

TINY = 1e-15


@kernel
def muscle_force(numbers, peak):
    """F [N]."""
    return numbers[2] if numbers[2] >= 0.0 else numbers[3] / max(TINY, peak)


@kernel
def muscle_unit(numbers, span):
    """L₀ [m] for a length range of this span."""
    return span / max(TINY, numbers[1] - numbers[0])


@kernel
def force_length(L, low, high):
    """FL(L) and its slope: 1 at L = 1, 0 outside (low, high)."""
    if low > L or high < L:
        return 0.0, 0.0
    a, b = 0.5 * (low + 1.0), 0.5 * (1.0 + high)
    if a >= L:
        s = 1.0 / max(TINY, a - low)
        x = (L - low) * s
        return 0.5 * x * x, x * s
    if L <= 1.0:
        s = 1.0 / max(TINY, 1.0 - a)
        x = (1.0 - L) * s
        return 1.0 - 0.5 * x * x, x * s
    if b >= L:
        s = 1.0 / max(TINY, b - 1.0)
        x = (L - 1.0) * s
        return 1.0 - 0.5 * x * x, -x * s
    s = 1.0 / max(TINY, high - b)
    x = (high - L) * s
    return 0.5 * x * x, -x * s


@kernel
def force_velocity(V, highest):
    """FV(V) and its slope: 0 for V ≤ −1, 1 at V = 0, ``highest`` when lengthening fast."""
    y = highest - 1.0
    if V <= -1.0:
        return 0.0, 0.0
    if V <= 0.0:
        return (V + 1.0) * (V + 1.0), 2.0 * (V + 1.0)
    if y >= V:
        s = 1.0 / max(TINY, y)
        return highest - (y - V) * (y - V) * s, 2.0 * (y - V) * s
    return highest, 0.0


@kernel
def passive_length(L, high, highest):
    """FP(L) and its slope: 0 up to L = 1, then a parabola, then a line."""
    if L <= 1.0:
        return 0.0, 0.0
    b = 0.5 * (1.0 + high)
    s = 1.0 / max(TINY, b - 1.0)
    if b >= L:
        x = (L - 1.0) * s
        return highest * 0.5 * x * x, highest * x * s
    return highest * (0.5 + (L - b) * s), highest * s


@kernel
def muscle_gain(numbers, low, high, peak, length, rate):
    """(gain, ∂gain/∂ℓ, ∂gain/∂ℓ̇)."""
    F, unit = muscle_force(numbers, peak), muscle_unit(numbers, high - low)
    per_length, per_rate = 1.0 / max(TINY, unit), 1.0 / max(TINY, unit * numbers[6])
    fl, fl_slope = force_length(numbers[0] + (length - low) * per_length, numbers[4], numbers[5])
    fv, fv_slope = force_velocity(rate * per_rate, numbers[8])
    return -F * fl * fv, -F * fl_slope * per_length * fv, -F * fl * fv_slope * per_rate


@kernel
def muscle_bias(numbers, low, high, peak, length):
    """(bias, ∂bias/∂ℓ)."""
    F, per_length = muscle_force(numbers, peak), 1.0 / max(TINY, muscle_unit(numbers, high - low))
    fp, slope = passive_length(numbers[0] + (length - low) * per_length, numbers[5], numbers[7])
    return -F * fp, -F * slope * per_length


@kernel
def muscle_rate(numbers, control, activation):
    """ȧ [1/s]; numbers are (τ_a, τ_d, w)."""
    u, a = min(max(control, 0.0), 1.0), min(max(activation, 0.0), 1.0)
    up, down = numbers[0] * (0.5 + 1.5 * a), numbers[1] / (0.5 + 1.5 * a)
    change = u - activation
    if numbers[2] < TINY:
        constant = up if change > 0.0 else down
    else:
        x = min(max(change / numbers[2] + 0.5, 0.0), 1.0)
        constant = down + (up - down) * x * x * x * (x * (6.0 * x - 15.0) + 10.0)
    return change / max(TINY, constant)
