"""The parts of an iteration of ADMM on contacts with circular cones; ``admm`` has the equations.

Scaled unknowns, per contact p = d·x with d = (trace of its block/3)^(−1/2) for all three rows, so that cones stay as
they are. The rows of ``state`` (7, n) are the vectors of the iteration.
"""

from __future__ import annotations

from stickslip._jit import kernel
from stickslip.math.cone_projection import project_cone
from stickslip.math.eigen import to_modes
from stickslip.solvers.contact_natural import coulomb_natural, relaxed_natural

X, Z, Y, SHIFT, RIGHT, SPEED, BEST = 0, 1, 2, 3, 4, 5, 6
"""Rows of the state: impulses of the equations, impulses in the cones, multipliers/ρ, De Saxcé's shift, right-hand
side, W·z + b, the z with the least residual."""

PATIENCE = 3000
"""The iteration has stalled if the residual falls by less than a thousandth in so many iterations."""


@kernel
def right_side(b, state, penalty, proximal):
    """ρ·(z − y) − b − shift + η·x."""
    x, z, y, shift, right = state[X], state[Z], state[Y], state[SHIFT], state[RIGHT]
    for i in range(b.shape[0]):
        right[i] = penalty * (z[i] - y[i]) - b[i] - shift[i] + proximal * x[i]


@kernel(inline=False)
def invert(A):
    """Replace A (n, n), symmetric positive definite, by its inverse: Gauss and Jordan, n³ multiply-adds."""
    n = A.shape[0]
    for k in range(n):
        row = A[k]
        pivot = 1.0 / row[k]
        row[k] = 1.0
        for j in range(n):
            row[j] *= pivot
        for i in range(n):
            other = A[i]
            factor = other[k]
            if i != k and factor != 0.0:
                other[k] = 0.0
                for j in range(n):
                    other[j] -= factor * row[j]


@kernel(inline=False)
def spectrum(A, basis, none):
    """Put the eigenvalues of A (n, n), which is destroyed, into ``basis.value``, in no order; none is (3, n) zeros.
    Returns whether they were found."""
    return to_modes(A, A.shape[0], basis, none[0], none[1], none[2]) >= 0


@kernel
def project_and_update(friction, state, penalty, relaxation, coulomb):
    """Update z, y and the shift from x; returns the primal and the dual residual."""
    x, z, y, shift = state[X], state[Z], state[Y], state[SHIFT]
    primal = dual = 0.0
    for c in range(friction.shape[0]):
        i, mu = 3 * c, friction[c]
        t0 = relaxation * x[i] + (1.0 - relaxation) * z[i] + y[i]
        t1 = relaxation * x[i + 1] + (1.0 - relaxation) * z[i + 1] + y[i + 1]
        t2 = relaxation * x[i + 2] + (1.0 - relaxation) * z[i + 2] + y[i + 2]
        n0, n1, n2 = project_cone(t0, t1, t2, mu)
        y[i], y[i + 1], y[i + 2] = t0 - n0, t1 - n1, t2 - n2
        primal = max(primal, abs(x[i] - n0), abs(x[i + 1] - n1), abs(x[i + 2] - n2))
        dual = max(dual, abs(z[i] - n0), abs(z[i + 1] - n1), abs(z[i + 2] - n2))
        z[i], z[i + 1], z[i + 2] = n0, n1, n2
        if coulomb:
            shift[i] = mu * penalty * (y[i + 1] * y[i + 1] + y[i + 2] * y[i + 2]) ** 0.5
    return primal, penalty * dual


@kernel
def natural_residual(b, friction, scale, state, coulomb):
    """‖natural map‖∞ in the units of the problem, from W·z in SPEED, to which b is added."""
    z, u = state[Z], state[SPEED]
    largest = 0.0
    for c in range(friction.shape[0]):
        i, d = 3 * c, scale[3 * c]
        p0, p1, p2 = d * z[i], d * z[i + 1], d * z[i + 2]
        u[i], u[i + 1], u[i + 2] = u[i] + b[i], u[i + 1] + b[i + 1], u[i + 2] + b[i + 2]
        v0, v1, v2 = u[i] / d, u[i + 1] / d, u[i + 2] / d
        if coulomb:
            size = coulomb_natural(p0, p1, p2, v0, v1, v2, friction[c])
        else:
            size = relaxed_natural(p0, p1, p2, v0, v1, v2, friction[c])
        if not size <= largest:
            largest = size
    return largest


@kernel
def judge(size, state, watch, done):
    """Keep the best z; watch (3,) = (least residual, residual at ``since``, since). Returns False if the iteration has
    stalled."""
    if not size < 1e300:
        return False
    if size < watch[0]:
        watch[0] = size
        for i in range(state.shape[1]):
            state[BEST, i] = state[Z, i]
    if size < 0.999 * watch[1]:
        watch[1], watch[2] = size, done
    elif done - watch[2] > PATIENCE:
        return False
    return True


@kernel
def imbalance(b, state, primal, dual):
    """Factor that ρ should be multiplied by: √(relative primal residual/relative dual residual)."""
    impulse = speed = 1e-300
    for i in range(b.shape[0]):
        impulse = max(impulse, abs(state[X, i]), abs(state[Z, i]))
        speed = max(speed, abs(b[i] + state[SHIFT, i]))
    ratio = (primal / impulse) / max(dual / speed, 1e-300)
    return min(max(ratio**0.5, 0.1), 10.0)
