"""The paper's systems as functions that Numba compiles: ẋ = f(x, b), guards h(x), Dh(x).

* Sec. 4, Tab. 4.1: n = 3, an affine field in each of eight octants; guards (x, y, −z).
* Fig. 1.1: a hopper on three preloaded legs at even angles, x = (z, φ, θ, ż, φ̇, θ̇), z the height of its body and φ, θ
  its tilts, which are small: leg i is z_i = z + a_i·(φ, θ) long, and presses with P + K·(L₀ − z_i) along the vertical.
  So the field is affine in each region, and jumps by P at each touchdown. Guards L₀ − z_i, then their negatives.
* Sec. 5.1: a hopper in one dimension, x = (z, ż), z̈ = −g, and + κ·(L₀ − z) in stance; κ = k/m. Guards (L₀ − z, z − L₀).
* Sec. 5.2: a plate in SE(2) on a bed of n springs with tips at (s_i, L₀), x = (x, z, θ, ẋ, ż, θ̇). Guards
  h_i = L₀ + tan θ·(x − s_i) − z, then their negatives.

Stance is the touchdown guard's bit; crossing a guard arms its opposite (``opposite``).

Differs from the paper in: the guards of Tab. 4.1 (with its h = z the third starts crossed and is not live); the
hopper's guard at L₀, where the field changes, not at z₀; equations of motion for the hopper of Fig. 1.1, of which the
paper shows a photograph; zero columns for the velocities in the plate's Dh; the force
of a spring acts along the normal of the plate, as a contact's force does in MuJoCo, N_i = max(0, K·p_i + B·ṗ_i) with
the depth p_i = h_i·cos θ: the same system for both. All masses are 1 kg, so K and B are per kilogram.
"""

from __future__ import annotations

import math

import numba
import numpy as np

GRAVITY = 9.81
"""g [m/s²]."""
LENGTH = 1.0
"""L₀ [m] of the hopper's leg and of springs."""
compiled = numba.njit(nogil=True, error_model="numpy", fastmath={"contract"})


@compiled
def table_field(x, b):
    """ẋ (3,) of Tab. 4.1; b (3,) says x ≥ 0, y ≥ 0, z ≤ 0."""
    if b[1]:
        dx, dy = (10.0 * x[0] + 1.0, x[1] + 1.0) if b[0] else (x[1] + 1.0, -x[0] + 1.0)
    else:
        dx, dy = (-2.0 * x[1] + 1.0, 0.5 * x[0] + 2.0) if b[0] else (-x[1] + 1.0, x[0] + 1.0)
    return dx, dy, (3.0 * x[2] - 1.0 if b[2] else -x[2] - 1.0)


@compiled
def table_guards(x):
    return x[0], x[1], -x[2]


@compiled
def table_slopes(x):
    result = np.zeros((3, 3))
    result[0, 0] = result[1, 1] = 1.0
    result[2, 2] = -1.0
    return result


@compiled
def hopper_field(x, b, stiffness):
    """``stiffness`` κ [1/s²]."""
    return x[1], (stiffness * (LENGTH - x[0]) - GRAVITY if b[0] else -GRAVITY)


@compiled
def hopper_guards(x, stiffness):
    return LENGTH - x[0], x[0] - LENGTH


@compiled
def hopper_slopes(x, stiffness):
    result = np.zeros((2, 2))
    result[0, 0], result[1, 0] = -1.0, 1.0
    return result


@compiled
def legs_field(x, b, arms, inertia, stiffness, preload):
    """``arms`` (3, 2) a_i [m]; ``inertia`` [m²], ``stiffness`` [1/s²] and ``preload`` [m/s²] of a leg, per kilogram."""
    push = roll = pitch = 0.0
    for i in range(3):
        if b[i]:
            force = preload + stiffness * (LENGTH - x[0] - arms[i, 0] * x[1] - arms[i, 1] * x[2])
            push += force
            roll += force * arms[i, 0]
            pitch += force * arms[i, 1]
    return x[3], x[4], x[5], push - GRAVITY, roll / inertia, pitch / inertia


@compiled
def legs_guards(x, arms, inertia, stiffness, preload):
    result = np.empty(6)
    for i in range(3):
        result[i] = LENGTH - x[0] - arms[i, 0] * x[1] - arms[i, 1] * x[2]
        result[3 + i] = -result[i]
    return result


@compiled
def legs_slopes(x, arms, inertia, stiffness, preload):
    result = np.zeros((6, 6))
    for i in range(3):
        result[i, 0], result[i, 1], result[i, 2] = -1.0, -arms[i, 0], -arms[i, 1]
        result[3 + i, 0], result[3 + i, 1], result[3 + i, 2] = 1.0, arms[i, 0], arms[i, 1]
    return result


@compiled
def plate_field(x, b, tips, inertia, stiffness, damping):
    """``tips`` (n,) [m]; ``inertia`` [m²], ``stiffness`` [1/s²] and ``damping`` [1/s] of a spring, per kilogram."""
    c, s = math.cos(x[2]), math.sin(x[2])
    # depth p_i = sunk − s·s_i, lever −∂p_i/∂θ = level + c·s_i, rate ṗ_i = −(away + lever·θ̇): no tan in the loop
    sunk = c * (LENGTH - x[1]) + s * x[0]
    level = s * (LENGTH - x[1]) - c * x[0]
    away = c * x[4] - s * x[3]
    normal = torque = 0.0
    for i in range(tips.size):
        if b[i]:
            lever = level + c * tips[i]
            force = stiffness * (sunk - s * tips[i]) - damping * (away + lever * x[5])
            if force > 0.0:
                normal += force
                torque += force * lever
    return x[3], x[4], x[5], -s * normal, c * normal - GRAVITY, torque / inertia


@compiled
def plate_guards(x, tips, inertia, stiffness, damping):
    n = tips.size
    tan = math.tan(x[2])
    result = np.empty(2 * n)
    for i in range(n):
        result[i] = LENGTH + tan * (x[0] - tips[i]) - x[1]
        result[n + i] = -result[i]
    return result


@compiled
def plate_slopes(x, tips, inertia, stiffness, damping):
    n = tips.size
    tan = math.tan(x[2])
    result = np.zeros((2 * n, 6))
    for i in range(n):
        result[i, 0], result[i, 1], result[i, 2] = tan, -1.0, (1.0 + tan * tan) * (x[0] - tips[i])
        result[n + i, 0], result[n + i, 1], result[n + i, 2] = -tan, 1.0, -result[i, 2]
    return result


def opposite(n: int) -> np.ndarray:
    """Guard reset matrix (2n, 2n): touchdown i arms lift-off n + i, and the other way round."""
    result = np.zeros((2 * n, 2 * n), dtype=bool)
    i = np.arange(n)
    result[i, n + i] = result[n + i, i] = True
    return result
