"""The interior-point method on second-order cones as a core: dense, in one compiled call.

``cone_path`` has the equations of a path, ``cone_newton`` those of the Newton steps that end it, and
``cone_interior_point`` the order of paths and steps; here they run without Python on matrices of few rows.
Cost per iteration: one LU of (n, n), and six products by matrices of that size.
"""

from __future__ import annotations

import numpy as np

from stickslip._jit import kernel
from stickslip.math.linear import affine, copy_to, dot, lu_factor, lu_solve
from stickslip.solvers.core import CONVERGED, COULOMB, LIMIT, MAX_ITERATIONS, MOST, OWN, STALLED, largest_entry
from stickslip.solvers.interior_point.cone_newton import (
    EPSILON,
    STEPS,
    WORSE,
    dense_matrix,
    evaluate,
)
from stickslip.solvers.interior_point.cone_path import (
    CENTRING,
    SHORT,
    SHORTEST,
    add_blocks,
    changes,
    shifted,
    slope,
    slope_of_blocks,
    take_back,
)
from stickslip.solvers.interior_point.cone_scratch import (
    BEST,
    DONE,
    LEFT,
    PATIENCE,
    SIZE,
    carve,
    count,
    natural_residual,
    residual_at,
    scale_problem,
)
from stickslip.solvers.interior_point.second_order_cone import (
    complementarity,
    longest_step,
    scale_cones,
    squared_scaling,
)

NEAR = 1e-3
"""Newton's method is tried where the natural residual is below this, in units of limit/tolerance."""
STARTS = ((1.0, 0.0), (1.0, 1.0), (10.0, 0.1), (0.1, 1.0), (100.0, 1.0), (1e4, 1.0))
"""(Distance of the start from the cones' tips in units of |b|, how much infeasibility holds the gap up), per path."""
SHARPER, SHARP = 2, 1e-4
"""Largest number of Newton steps after the limit is met, and the part of the limit below which none is taken."""
TO_BOUNDARY, TOLERANCE = OWN, OWN + 1
"""Places of the core's own options."""


@kernel
def solve(cone, x):
    """x ← K⁻¹·right, refined once."""
    n = x.shape[0]
    copy_to(cone.right, x)
    lu_solve(cone.factor, n, cone.pivot, x)
    for i in range(n):
        cone.error[i] = cone.right[i] - dot(cone.K[i], x)
    lu_solve(cone.factor, n, cone.pivot, cone.error)
    for i in range(n):
        x[i] += cone.error[i]


@kernel(inline=False)
def direction(cone, before_x, before_y, second, centre, coulomb, dx, dy):
    """A direction (dx, dy) of the path; ``second`` is 1 if the second-order term of (before_x, before_y) counts."""
    nc, n = cone.friction.shape[0], cone.b.shape[0]
    g = cone.g.reshape(nc, 3)
    complementarity(
        cone.scaling, cone.point.reshape(nc, 3), before_x.reshape(nc, 3), before_y.reshape(nc, 3), second, centre, g
    )
    if coulomb:
        slope(cone.y.reshape(nc, 3), g, cone.out.reshape(nc, 3))
        for i in range(n):
            cone.right[i] = cone.out[i] - cone.infeasible[i]
    else:
        for i in range(n):
            cone.right[i] = cone.g[i] - cone.infeasible[i]
    solve(cone, dx)
    changes(g, cone.H, dx.reshape(nc, 3), dy.reshape(nc, 3))


@kernel
def length_of(cone, dx, dy, limit):
    nc = cone.friction.shape[0]
    length = longest_step(cone.x.reshape(nc, 3), dx.reshape(nc, 3), limit)
    return min(length, longest_step(cone.y.reshape(nc, 3), dy.reshape(nc, 3), limit))


@kernel
def gap_of(cone):
    total = 0.0
    for i in range(cone.x.shape[0]):
        total += cone.x[i] * cone.y[i]
    return total / max(1, cone.friction.shape[0])


@kernel
def start_path(cone, far):
    """Put x and y ``far``·|b| inside the cones."""
    nc, size = cone.friction.shape[0], cone.number[SIZE]
    for i in range(3 * nc):
        cone.x[i] = cone.y[i] = 0.0
    for c in range(nc):
        cone.x[3 * c] = far * size
    affine(cone.A, cone.x, cone.b, cone.u)
    for c in range(nc):
        cone.y[3 * c] = max(cone.u[3 * c], far * size)


@kernel(inline=False)
def step(cone, to_boundary, caution, coulomb):
    """Take one step by predictor and corrector; returns False if the path cannot be followed further."""
    nc, n = cone.friction.shape[0], cone.b.shape[0]
    x, y = cone.x.reshape(nc, 3), cone.y.reshape(nc, 3)
    if not scale_cones(x, y, cone.scaling, cone.point.reshape(nc, 3)):
        return False
    squared_scaling(cone.scaling, cone.H)
    for i in range(n):
        copy_to(cone.A[i], cone.K[i])
    if coulomb:
        slope_of_blocks(y, cone.H, cone.blocks)
        add_blocks(cone.K, 0, cone.blocks, 0.0)
    else:
        add_blocks(cone.K, 0, cone.H, 0.0)
    for i in range(n):
        copy_to(cone.K[i], cone.factor[i])
    lu_factor(cone.factor, n, cone.pivot)
    shifted(y, coulomb, cone.out.reshape(nc, 3))
    affine(cone.A, cone.x, cone.b, cone.infeasible)
    worst = 0.0
    for i in range(n):
        cone.infeasible[i] -= cone.out[i]
        worst = max(worst, abs(cone.infeasible[i]))
    gap = gap_of(cone)
    direction(cone, cone.none, cone.none, 0.0, 0.0, coulomb, cone.dx, cone.dy)
    if not largest_entry(cone.dx) < np.inf:
        return False
    length = length_of(cone, cone.dx, cone.dy, 1.0)
    after = 0.0
    for i in range(n):
        after += (cone.x[i] + length * cone.dx[i]) * (cone.y[i] + length * cone.dy[i])
    centre = min(1.0, max(0.0, after / nc / gap)) ** 3
    centre = max(centre, min(0.8, caution * worst**2 / gap))
    direction(cone, cone.dx, cone.dy, 1.0, centre * gap, coulomb, cone.other_dx, cone.other_dy)
    dx, dy = cone.other_dx, cone.other_dy
    length = min(1.0, to_boundary * length_of(cone, dx, dy, 2.0))
    if length < SHORT:
        direction(cone, cone.none, cone.none, 0.0, CENTRING * gap, coulomb, cone.dx, cone.dy)
        again = min(1.0, to_boundary * length_of(cone, cone.dx, cone.dy, 2.0))
        if again > length:
            dx, dy, length = cone.dx, cone.dy, again
    if not length > SHORTEST:
        return False
    for i in range(n):
        cone.x[i] += length * dx[i]
        cone.y[i] += length * dy[i]
    if coulomb:
        affine(cone.A, cone.x, cone.b, cone.u)
        take_back(cone.u.reshape(nc, 3), x, y, gap)
    return True


@kernel(inline=False)
def newton(cone, x, limit, steps, least_gain, coulomb, history):
    """Semismooth Newton steps from x, which is changed; returns whether the residual is below the limit.

    ``least_gain``: each step has to bring the residual below this part of the one before, or the steps end.
    """
    n, nc = x.shape[0], cone.friction.shape[0]
    first = residual_at(cone, x, coulomb)
    before = first
    for _ in range(min(STEPS, steps)):
        affine(cone.A, x, cone.b, cone.u)
        evaluate(x.reshape(nc, 3), cone.u.reshape(nc, 3), coulomb, cone.right.reshape(nc, 3), cone.D, cone.DP)
        dense_matrix(cone.A, 0, cone.D, cone.DP, EPSILON, cone.factor)
        lu_factor(cone.factor, n, cone.pivot)
        lu_solve(cone.factor, n, cone.pivot, cone.right)
        for i in range(n):
            x[i] -= cone.right[i]
        size = residual_at(cone, x, coulomb) if largest_entry(x) < np.inf else np.inf
        if not size <= WORSE * first:
            return False
        count(cone, x, size, history)
        if size <= limit:
            return True
        if not size <= least_gain * before:
            return False
        before = size
    return False


@kernel(inline=False)
def descend(cone, options, far, caution, coulomb, history):
    """Follow one path, with Newton's method from where it is near a solution or ends; returns a code."""
    number, gaps, limit = cone.number, cone.gaps, options[LIMIT]
    status, tried, made = STALLED, np.inf, 1
    start_path(cone, far)
    gaps[0] = gap_of(cone)
    while True:
        if not number[LEFT] > 0.0:
            status = MAX_ITERATIONS
            break
        if not step(cone, options[TO_BOUNDARY], caution, coulomb):
            break
        gap = gap_of(cone)
        oldest = gaps[(made + 1) % PATIENCE]
        gaps[made % PATIENCE] = gap
        made += 1
        if made > PATIENCE and gap > 0.5 * oldest:
            break
        size = residual_at(cone, cone.x, coulomb)
        count(cone, cone.x, size, history)
        if size <= limit:
            return CONVERGED
        if size < NEAR * limit / options[TOLERANCE] and size < 1e-2 * tried:
            tried = size
            copy_to(cone.x, cone.dx)
            if newton(cone, cone.dx, limit, int(number[LEFT]), np.inf, coulomb, history):
                return CONVERGED
    copy_to(cone.best, cone.dx)
    return CONVERGED if newton(cone, cone.dx, limit, int(number[LEFT]), np.inf, coulomb, history) else status


@kernel(inline=False)
def cone_interior_point(W, data, indices, indptr, R, b, friction, p, real, whole, history, options):
    """The core; see ``solvers.core`` for its arguments. Own options: ``to_boundary`` and the tolerance."""
    n, coulomb = b.shape[0], options[COULOMB] != 0.0
    cone = carve(real, whole, b, friction)
    scale_problem(W, R, cone)
    number = cone.number
    number[LEFT], number[DONE], number[BEST] = options[MOST], 0.0, np.inf
    number[SIZE] = max(largest_entry(cone.b), 1e-12)
    start = natural_residual(cone, p, coulomb)
    if history.shape[0] > 0:
        history[0] = start
    whole[0] = 0
    if start <= options[LIMIT]:
        return CONVERGED
    for i in range(n):
        cone.best[i] = 0.0
    status = STALLED
    for far, caution in STARTS:
        status = descend(cone, options, far, caution, coulomb, history)
        if status == CONVERGED or not number[LEFT] > 0.0:
            break
    aim = SHARP * options[LIMIT]
    if status == CONVERGED and number[BEST] > aim:
        copy_to(cone.best, cone.dx)
        newton(cone, cone.dx, aim, min(SHARPER, int(number[LEFT])), 0.1, coulomb, history)
    whole[0] = int(number[DONE])
    if not start < number[BEST]:
        for i in range(n):
            p[i] = cone.scale[i] * cone.best[i]
    return status
