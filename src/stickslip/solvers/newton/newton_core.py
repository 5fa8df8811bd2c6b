"""Fischer–Newton and minmap–Newton as cores: dense, for LCPs and for contacts by Coulomb's law.

``nonsmooth_newton`` has the iteration, ``friction_projection`` the equations of circular cones. Own options: whether
the function is Fischer and Burmeister's, the regularisation, the memory of the line search, and the new starts.
Cost per iteration: one LU of the active rows and a few products by A.
"""

from __future__ import annotations

import numpy as np

from stickslip._jit import kernel
from stickslip.math.linear import affine, copy_to, dot, lu_factor, lu_solve, product
from stickslip.solvers.core import CONVERGED, LIMIT, MAX_ITERATIONS, MOST, OWN, STALLED, largest_entry
from stickslip.solvers.newton.complementarity import fischer, fischer_merit, minmap, minmap_merit
from stickslip.solvers.newton.newton_system import (
    BEST,
    DONE,
    LEFT,
    PATIENCE,
    SIZE,
    carve,
    derivative,
    function,
    impulses,
    look,
    scale_contacts,
    scale_lcp,
)

ARMIJO = 1e-4
HALVINGS = 30
BOUND_ROW = 1e-9
"""A row whose derivative by w is this much smaller than that by y is at its bound."""
NEW_MEMORY = 10
"""``memory`` after a new start, when monotone descent has failed."""
KINK = 1e-12
"""A point is at the kink if √(z² + w²) is below this, relative to the size of b."""
SWEEPS = 30
"""Number of sweeps that find a start."""
SMOOTH, REGULARISATION, MEMORY, RESTARTS = OWN, OWN + 1, OWN + 2, OWN + 3
"""Places of the core's own options."""
NOT_A_NUMBER = 7
"""Place of that status in ``base.CODES``."""


@kernel
def merit_of(s, y, w, smooth):
    return fischer_merit(y, w, s.lower, s.upper) if smooth else minmap_merit(y, w, s.lower, s.upper)


@kernel(inline=False)
def newton_direction(s, A, epsilon):
    """d of the linear system; rows at their bound are left out of it."""
    n, k = s.phi.shape[0], 0
    for i in range(n):
        if s.by_w[i] > BOUND_ROW * s.by_y[i]:
            s.keep[k] = i
            s.d[i] = 0.0
            k += 1
        else:
            s.d[i] = -s.phi[i] / s.by_y[i]
    K = s.K
    for a in range(k):
        i = s.keep[a]
        total = -s.phi[i] / s.by_w[i]
        if k < n:
            total -= dot(A[i], s.d)
        s.right[a] = total
        for c in range(k):
            K[a, c] = A[i, s.keep[c]]
        K[a, a] += s.by_y[i] / s.by_w[i] + epsilon
    lu_factor(K, k, s.pivot)
    lu_solve(K, k, s.pivot, s.right)
    for a in range(k):
        s.d[s.keep[a]] = s.right[a]


@kernel(inline=False)
def search(s, slope, reference, smooth):
    """Write the first point of 1, ½, ¼, … along d with enough descent into ``new_y`` and ``new_w``; False: none."""
    t, n, nonlinear = 1.0, s.y.shape[0], s.friction.shape[0] > 0
    for _ in range(HALVINGS):
        for i in range(n):
            s.new_y[i] = s.y[i] + t * s.d[i]
            s.new_w[i] = s.w[i] + t * s.e[i]
        if nonlinear or int(s.number[DONE]) % 8 == 7:  # of an LCP now and then, so that round-off does not add up
            function(s, s.new_y, s.new_w)
        if merit_of(s, s.new_y, s.new_w, smooth) <= reference + ARMIJO * t * slope:
            return True
        t *= 0.5
    return False


@kernel(inline=False)
def go(s, A, reference, regularisation, smooth):
    """Take one step; returns False if there is none with descent."""
    n, relative = s.y.shape[0], min(1.0, largest_entry(s.phi) / s.number[SIZE])
    newton_direction(s, A, regularisation * relative)
    product(A, s.d, s.e)
    slope = merit = 0.0
    for i in range(n):
        slope += s.phi[i] * (s.by_y[i] * s.d[i] + s.by_w[i] * s.e[i])
        merit += 0.5 * s.phi[i] * s.phi[i]
    found = slope < -1e-10 * merit and search(s, slope, reference, smooth)  # not if the direction is not a number
    if not found:
        slope = 0.0
        for i in range(n):
            s.d[i] = -s.by_y[i] * s.phi[i]
        for i in range(n):
            for j in range(n):
                s.d[j] -= A[i, j] * s.by_w[i] * s.phi[i]
        for i in range(n):
            slope -= s.d[i] * s.d[i]
        product(A, s.d, s.e)
        found = search(s, slope, reference, smooth)
    if found:
        copy_to(s.new_y, s.y)
        copy_to(s.new_w, s.w)
    return found


@kernel(inline=False)
def descend(s, options, memory, history):
    """Iterate from ``y``; returns a code."""
    smooth, nonlinear, number = options[SMOOTH] != 0.0, s.friction.shape[0] > 0, s.number
    function(s, s.y, s.w)
    size = look(s, s.y, s.w, history)
    least = np.inf
    for made in range(int(number[LEFT])):
        if size <= options[LIMIT]:
            return CONVERGED
        A = s.A
        if nonlinear:
            derivative(s, s.y)
            A = s.J
        if smooth:
            merit = fischer(s.y, s.w, s.lower, s.upper, KINK * number[SIZE], s.phi, s.by_y, s.by_w)
        else:
            merit = minmap(s.y, s.w, s.lower, s.upper, 0.0, s.phi, s.by_y, s.by_w)
        if not merit < np.inf:
            return NOT_A_NUMBER
        if made >= PATIENCE:
            least = min(least, s.merits[made % PATIENCE])
        s.merits[made % PATIENCE] = merit
        recent, reference = np.inf, 0.0
        for k in range(min(made + 1, PATIENCE)):
            recent = min(recent, s.merits[k])
        for k in range(min(made + 1, memory)):
            reference = max(reference, s.merits[(made - k) % PATIENCE])
        if made >= PATIENCE and recent > 0.5 * least:
            return STALLED
        if not go(s, A, reference, options[REGULARISATION], smooth):
            return STALLED
        number[DONE] += 1.0
        number[LEFT] -= 1.0
        size = look(s, s.y, s.w, history)
    return CONVERGED if size <= options[LIMIT] else MAX_ITERATIONS


@kernel(inline=False)
def sweep_contacts(s):
    """A rough answer by p ← projection of p − u/(row sum of |W|), into y: who sticks or slips is mostly right."""
    n, p, u, steps = s.y.shape[0], s.y, s.u, s.right
    for i in range(n):
        p[i], total = 0.0, 0.0
        for j in range(n):
            total += abs(s.W[i, j])
        steps[i] = 1.0 / max(total, 1e-300)
    for _ in range(SWEEPS):
        affine(s.W, p, s.constant, u)
        for c in range(s.friction.shape[0]):
            i = 3 * c
            r = min(steps[i], steps[i + 1], steps[i + 2])
            p[i] = max(0.0, p[i] - r * u[i])
            p[i + 1] -= r * u[i + 1]
            p[i + 2] -= r * u[i + 2]
            length, radius = (p[i + 1] ** 2 + p[i + 2] ** 2) ** 0.5, s.friction[c] * p[i]
            if length > radius:
                p[i + 1] *= radius / length
                p[i + 2] *= radius / length
    for i in range(n):
        p[i] /= s.scale[i]


@kernel
def start_anew(s, attempt):
    """A new start: zero, then farther and farther inside the bounds; on circular cones first ``sweep_contacts``."""
    from_zero = 1
    if s.friction.shape[0] > 0:
        from_zero = 2
        if attempt == 1:
            sweep_contacts(s)
            return
    inside = s.number[SIZE] * 10.0 ** (attempt - 3) if attempt > from_zero else 0.0
    for i in range(s.y.shape[0]):
        s.y[i] = inside if s.lower[i] > -np.inf else 0.0


@kernel
def solve_system(s, z, whole, history, options):
    """Descend from the start z and, where that ends early, from others; the answer is in ``best``."""
    number = s.number
    number[LEFT], number[DONE], number[BEST] = options[MOST], 0.0, np.inf
    status = STALLED
    for i in range(z.shape[0]):
        s.best[i] = 0.0
    for attempt in range(int(options[RESTARTS]) + 1):
        if attempt == 0:
            for i in range(z.shape[0]):
                s.y[i] = z[i] / s.scale[i]
        else:
            start_anew(s, attempt)
        status = descend(s, options, int(options[MEMORY]) if attempt == 0 else NEW_MEMORY, history)
        if status == CONVERGED or status == MAX_ITERATIONS:
            break
    whole[0] = int(number[DONE])
    return status


@kernel(inline=False)
def newton_lcp(A, b, start, member, z, real, whole, history, options):
    """The core for LCPs; see ``solvers.core`` for its arguments."""
    s = carve(A, b, real[:0], real, whole)
    scale_lcp(s)
    largest = largest_entry(s.b)
    s.number[SIZE] = largest if largest > 0.0 else 1.0
    status = solve_system(s, z, whole, history, options)
    for i in range(z.shape[0]):
        z[i] = s.scale[i] * s.best[i]
    return status


@kernel(inline=False)
def newton_contacts(W, data, indices, indptr, R, b, friction, p, real, whole, history, options):
    """The core for contacts by Coulomb's law; see ``solvers.core`` for its arguments."""
    s = carve(W, b, friction, real, whole)
    scale_contacts(s)
    s.number[SIZE] = 1.0
    status = solve_system(s, p, whole, history, options)
    impulses(s, s.best)
    for i in range(p.shape[0]):
        p[i] = s.p[i]
    return status
