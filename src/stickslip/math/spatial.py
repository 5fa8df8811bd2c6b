"""Spatial (6-D) vectors in world axes, linear part first: motions (v, ω), forces (f, n), inertias.

All vectors of one kinematic tree are taken at one common point O, so that a child's inertia or force is added to its
parent's without any transformation: that is what makes the world-frame recursions short and fast.

A rigid-body inertia at O is ten numbers: mass m, first moment h = m·c (c: centre of mass from O), and the rotational
inertia about O as (xx, yy, zz, xy, xz, yz).  Notation after Featherstone, *Rigid Body Dynamics Algorithms* (2008),
with the order of the two halves exchanged.
"""

from __future__ import annotations

from stickslip._jit import kernel


@kernel
def cross(ax, ay, az, bx, by, bz):
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@kernel
def rotate(R, i, x, y, z):
    """R[i]·(x, y, z) for a stack of 3×3 matrices."""
    return (
        R[i, 0, 0] * x + R[i, 0, 1] * y + R[i, 0, 2] * z,
        R[i, 1, 0] * x + R[i, 1, 1] * y + R[i, 1, 2] * z,
        R[i, 2, 0] * x + R[i, 2, 1] * y + R[i, 2, 2] * z,
    )


@kernel
def rotate_transposed(R, i, x, y, z):
    """R[i]ᵀ·(x, y, z)."""
    return (
        R[i, 0, 0] * x + R[i, 1, 0] * y + R[i, 2, 0] * z,
        R[i, 0, 1] * x + R[i, 1, 1] * y + R[i, 2, 1] * z,
        R[i, 0, 2] * x + R[i, 1, 2] * y + R[i, 2, 2] * z,
    )


@kernel
def matmul3(a, b, c, d, e, f, g, h, i, j, k, m, n, o, p, q, r, s):
    """Row-major product of two 3×3 matrices given by their entries."""
    return (
        a * j + b * n + c * q, a * k + b * o + c * r, a * m + b * p + c * s,
        d * j + e * n + f * q, d * k + e * o + f * r, d * m + e * p + f * s,
        g * j + h * n + i * q, g * k + h * o + i * r, g * m + h * p + i * s,
    )  # fmt: skip


@kernel
def motion_cross(vx, vy, vz, wx, wy, wz, mx, my, mz, nx, ny, nz):
    """(v, ω) × (m, n): how a motion vector carried along with velocity (v, ω) changes in time."""
    return (
        wy * mz - wz * my + vy * nz - vz * ny,
        wz * mx - wx * mz + vz * nx - vx * nz,
        wx * my - wy * mx + vx * ny - vy * nx,
        wy * nz - wz * ny,
        wz * nx - wx * nz,
        wx * ny - wy * nx,
    )


@kernel
def force_cross(vx, vy, vz, wx, wy, wz, fx, fy, fz, nx, ny, nz):
    """(v, ω) ×* (f, n): how a force vector carried along with velocity (v, ω) changes in time."""
    return (
        wy * fz - wz * fy,
        wz * fx - wx * fz,
        wx * fy - wy * fx,
        wy * nz - wz * ny + vy * fz - vz * fy,
        wz * nx - wx * nz + vz * fx - vx * fz,
        wx * ny - wy * nx + vx * fy - vy * fx,
    )


@kernel
def inertia_times(I, b, vx, vy, vz, wx, wy, wz):
    """Momentum (or force) I[b]·(v, ω) of the ten-number inertia I[b]."""
    m, hx, hy, hz = I[b, 0], I[b, 1], I[b, 2], I[b, 3]
    xx, yy, zz, xy, xz, yz = I[b, 4], I[b, 5], I[b, 6], I[b, 7], I[b, 8], I[b, 9]
    return (
        m * vx + wy * hz - wz * hy,
        m * vy + wz * hx - wx * hz,
        m * vz + wx * hy - wy * hx,
        hy * vz - hz * vy + xx * wx + xy * wy + xz * wz,
        hz * vx - hx * vz + xy * wx + yy * wy + yz * wz,
        hx * vy - hy * vx + xz * wx + yz * wy + zz * wz,
    )
