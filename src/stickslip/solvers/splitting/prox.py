"""The sweeps of the fixed-point (prox) iteration on contacts by Coulomb's law; ``fixed_point`` has the equations."""

from __future__ import annotations

import numpy as np

from stickslip._jit import kernel
from stickslip.solvers.contact_natural import coulomb_natural
from stickslip.solvers.splitting.sweeps import CHECK, RUNNING, STEP, look, row_times


@kernel
def friction_residual(rows, b, mu, z):
    """‖natural map‖∞ of the circular-cone problem."""
    nb, largest = b.shape[0] - 3 * mu.shape[0], 0.0
    for i in range(nb):
        size = abs(b[i] + row_times(rows, i, z))
        if not size <= largest:
            largest = size
    for c in range(mu.shape[0]):
        i = nb + 3 * c
        u0, u1 = b[i] + row_times(rows, i, z), b[i + 1] + row_times(rows, i + 1, z)
        u2 = b[i + 2] + row_times(rows, i + 2, z)
        size = coulomb_natural(z[i], z[i + 1], z[i + 2], u0, u1, u2, mu[c])
        if not size <= largest:
            largest = size
    return largest


@kernel
def iterate_contacts(rows, b, mu, r, z, out, watch, limit, patience, adaptive):
    """Do at most ``limit`` sweeps of the prox iteration; ``out`` is z itself or not. Returns (code, sweeps done)."""
    every = 1 if watch.history.shape[0] > 0 else CHECK
    nb = b.shape[0] - 3 * mu.shape[0]
    for done in range(1, limit + 1):
        step = watch.real[STEP]
        for i in range(nb):
            out[i] = z[i] - step * r[i] * (b[i] + row_times(rows, i, z))
        for c in range(mu.shape[0]):
            i = nb + 3 * c
            out[i] = max(0.0, z[i] - step * r[i] * (b[i] + row_times(rows, i, z)))
            t1 = z[i + 1] - step * r[i + 1] * (b[i + 1] + row_times(rows, i + 1, z))
            t2 = z[i + 2] - step * r[i + 2] * (b[i + 2] + row_times(rows, i + 2, z))
            length, radius = np.hypot(t1, t2), mu[c] * out[i]
            shrink = radius / length if length > radius else 1.0
            out[i + 1], out[i + 2] = t1 * shrink, t2 * shrink
        for i in range(z.shape[0]):
            z[i] = out[i]
        if done % every == 0 or done == limit:
            code = look(friction_residual(rows, b, mu, z), z, watch, done, patience, adaptive)
            if code != RUNNING:
                return code, done
    return RUNNING, limit
