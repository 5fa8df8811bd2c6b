"""The interior-point method of a step (Brüdigam et al., Sec. III-C): Newton's method on eq. (26) with μ → 0.

Every iterate is strictly inside the constraints. An iteration factors the system once and solves it twice (Mehrotra).
The first solve is a predictor with μ = 0; its step to the boundary determines the reduction of the mean product, σ =
(mean after it/mean)³. The second is the step towards σ·mean, with the predictor's products of changes as second-order
terms, weighted by the square of its length (at full weight they can cancel a step again and again). The step covers at
most ``NEARLY`` of the way to the boundary of slacks, multipliers and cones and to |ω| = 2/dt, so that all of them stay
strictly positive. It is halved while it increases the merit, the sum of the largest residuals of each kind, by more
than ``GROWTH``; a strict descent would stall.

    merit = momentum [N s] + kinematic/dt [m/s] + equations [N, m/s] + |products − σ·mean| [J, W]

A step is solved when momentum, equations and products are below the tolerance ε, and g and φ − s below min(ε,
``CLOSED``), which bounds the depth of contacts and the errors of joints. With ``relaxation`` μ_r > 0 products converge
to μ_r instead of 0, which smooths the problem so that its solution is differentiable everywhere. Without contacts and
limits the iteration is Newton's method.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.errors import number, true_or_false, whole
from stickslip.math.linear import copy_to
from stickslip.methods.recovery import Recovery
from stickslip.methods.variational.contact import circular, pyramid
from stickslip.methods.variational.contact.cones import Cones, copy_cone, make_cones, move, shorter
from stickslip.methods.variational.contact.spin import keep_spins, longest_spin, move_spins, settle_spins, spin_gap
from stickslip.methods.variational.discrete_rotation import OK
from stickslip.methods.variational.equations import move_to, residuals
from stickslip.methods.variational.graph.block_ldu import factor, solve
from stickslip.methods.variational.joints.dry_friction import Rubbing, copy_rubbing, make_rubbing, move_rubbing
from stickslip.methods.variational.newton_system import assemble, directions, right_side

CONVERGED, ITERATIONS, SINGULAR, STALLED, SPINNING, NOT_FINITE = range(6)
STATUS = {
    CONVERGED: "solved to the tolerance",
    ITERATIONS: "not solved within the iterations that were allowed",
    SINGULAR: "Newton's matrix was singular: joints that contradict each other, or a body without inertia",
    STALLED: "steps became too short to get anywhere",
    SPINNING: "a body would turn by half a turn or more in a step, |ω| ≥ 2/dt",
    NOT_FINITE: "a number was not finite",
}
"""Results of the iteration."""
NEARLY, NEAREST = 0.99, 0.9999
"""Fraction of the way to the boundary that a step covers, at first and near the solution."""
CLOSED = 1e-10
"""Largest g and φ − s of a solved step [m or rad]."""
SHORTEST = 1e-8
"""Step length below which the iteration has stalled."""
AIM, LEAST = 0.05, 5e-13
"""Smallest target of the products: as a fraction of the tolerance, and in [J, W]. With smaller targets the products of
friction would lag behind the others, and slacks would come close to rounding errors."""
SHORT, CENTRING = 0.1, 0.3
"""A step shorter than the first is repeated without second-order terms, towards this fraction of the mean product."""
HELD = 0.1
"""Tolerance of the products with a relaxation, as a fraction of it, if that is less than the tolerance."""
HALVINGS, GROWTH = 8, 3.0
"""Largest number of halvings of a step; growth of the merit above which a step is halved."""
STATUS_AT, ITERATIONS_AT, MOMENTUM_AT, KINEMATIC_AT, EQUATIONS_AT, PRODUCTS_AT = range(6)
"""Indices of ``report`` (6,), the statistics of the last step."""


class Kept(NamedTuple):
    """Unknowns at the beginning of a line search."""

    nu: np.ndarray
    lam: np.ndarray
    slack: np.ndarray
    cones: Cones
    rub: Rubbing


class Settings(NamedTuple):
    """Parameters of the method."""

    dt: float
    tolerance: float
    relaxation: float
    iterations: int
    predictor: bool
    """Whether to use Mehrotra's predictor and second-order terms; otherwise the target is ``CENTRING`` of the mean."""
    recovery: Recovery
    """The fastest recovery of overlaps and limits."""


def make_settings(
    dt: float, tolerance: float, relaxation: float, iterations: int, predictor: bool, recovery: Recovery
) -> Settings:
    """The parameters, checked."""
    tolerance = number("tolerance", tolerance, "a number from 1e-12 to 1e-2", least=1e-12, most=1e-2)
    relaxation = number("relaxation", relaxation, "a product ≥ 0 [J, W]", least=0.0)
    true_or_false("predictor", predictor)
    return Settings(dt, tolerance, relaxation, whole("iterations", iterations, 1), predictor, recovery)


def describe(report: np.ndarray) -> str:
    """The result of a step's iteration and its residuals, as a sentence."""
    return (
        f"{STATUS[int(report[STATUS_AT])]}: after {int(report[ITERATIONS_AT])} iterations momenta miss by "
        f"{report[MOMENTUM_AT]:.2g} N s, joints and gaps by {report[KINEMATIC_AT]:.2g} m or rad, friction's equations "
        f"by {report[EQUATIONS_AT]:.2g}, products by {report[PRODUCTS_AT]:.2g} J or W"
    )


def make_kept(nl: int, rows: int, limits: int, dry: int, contacts: int, facets: int) -> Kept:
    return Kept(np.zeros((nl, 6)), np.zeros(rows), np.zeros(limits), make_cones(contacts, facets), make_rubbing(dry))


@kernel
def mean_product(mechanism, motion, touch, alpha, dt):
    """(mean of all products after ``alpha`` of the step, number of products)."""
    total, number = 0.0, 0
    nodes = mechanism.nodes
    for i in range(nodes.limit_joint.shape[0]):
        m = mechanism.first[nodes.limit_node[i]] + nodes.limit_place[i]
        s, lam = motion.slack[i] + alpha * motion.dslack[i], motion.lam[m] + alpha * motion.dlam[m]
        total += s * lam / dt
        number += 1
    rub, step = motion.rub, motion.drub
    for i in range(rub.force.shape[0]):
        total += (rub.room[i] + alpha * step.room[i]) * (rub.slip[i] + alpha * step.slip[i])
        number += 1
    for c in range(touch.points.found[0]):
        friction = touch.points.friction[c]
        if touch.D.shape[0] > 0:
            part, count = pyramid.gap(touch.cones, touch.step, touch.D, c, friction, alpha)
        else:
            part, count = circular.gap(touch.cones, touch.step, touch.D, c, friction, alpha)
        total += part
        number += count
        part, count = spin_gap(touch.spin, c, alpha)
        total += part
        number += count
    return total / max(1, number), number


@kernel
def to_spin(nu, dnu, b, most):
    """The step length at which body b has |ω| = most [rad/s]."""
    a, h, c = 0.0, 0.0, -most * most
    for k in range(3, 6):
        a += dnu[b, k] * dnu[b, k]
        h += nu[b, k] * dnu[b, k]
        c += nu[b, k] * nu[b, k]
    if not a > 0.0:
        return 1.0
    root = max(0.0, h * h - a * min(c, 0.0)) ** 0.5
    return (root - h) / a if h < 0.0 else -min(c, 0.0) / (root + h + 1e-300)


@kernel
def longest_step(mechanism, motion, touch, dt):
    """The step length to the boundary, at most 1/NEARLY."""
    alpha, nodes = 1.0 / NEARLY, mechanism.nodes
    for i in range(nodes.limit_joint.shape[0]):
        m = mechanism.first[nodes.limit_node[i]] + nodes.limit_place[i]
        if motion.dslack[i] < 0.0:
            alpha = min(alpha, -motion.slack[i] / motion.dslack[i])
        if motion.dlam[m] < 0.0:
            alpha = min(alpha, -motion.lam[m] / motion.dlam[m])
    for i in range(motion.rub.force.shape[0]):
        alpha = shorter(
            shorter(alpha, motion.rub.room[i], motion.drub.room[i]), motion.rub.slip[i], motion.drub.slip[i]
        )
    for c in range(touch.points.found[0]):
        friction = touch.points.friction[c]
        if touch.D.shape[0] > 0:
            alpha = min(alpha, pyramid.longest(touch.cones, touch.step, touch.D, c, friction))
        else:
            alpha = min(alpha, circular.longest(touch.cones, touch.step, touch.D, c, friction))
        alpha = longest_spin(touch.spin, c, alpha)
    for b in range(1, motion.nu.shape[0]):
        alpha = min(alpha, to_spin(motion.nu, motion.dnu, b, 2.0 / dt))
    return alpha


@kernel
def copy_unknowns(a, a_cones, b, b_cones, contacts):
    """Copy nu, lam, slack and the first ``contacts`` cones of a to b; a and b are a Motion and a Kept."""
    copy_to(a.lam, b.lam)
    copy_to(a.slack, b.slack)
    copy_rubbing(a.rub, b.rub)
    for k in range(a.nu.shape[0]):
        copy_to(a.nu[k], b.nu[k])
    for c in range(contacts):
        copy_cone(a_cones, c, b_cones, c)


@kernel
def go(motion, touch, kept, alpha):
    """Set the unknowns to those of ``kept`` plus alpha times the step."""
    copy_unknowns(kept, kept.cones, motion, touch.cones, touch.points.found[0])
    for m in range(motion.lam.shape[0]):
        motion.lam[m] += alpha * motion.dlam[m]
    for i in range(motion.slack.shape[0]):
        motion.slack[i] += alpha * motion.dslack[i]
    move_rubbing(motion.rub, motion.drub, alpha)
    for b in range(1, motion.nu.shape[0]):
        for k in range(6):
            motion.nu[b, k] += alpha * motion.dnu[b, k]
    for c in range(touch.points.found[0]):
        move(touch.cones, touch.step, c, alpha)
        move_spins(touch.spin, c, alpha)


@kernel(inline=False)
def settle(mechanism, motion, touch, target, dt):
    """Set friction that only follows the velocities in closed form; call ``move_to`` before."""
    mass, J, points = mechanism.bodies.mass, mechanism.bodies.J, touch.points
    for c in range(points.found[0]):
        a, b = points.link1[c], points.link2[c]
        lighter = min(mass[a], mass[b]) if a > 0 else mass[b]
        u1, u2, ease = touch.u[c, 1], touch.u[c, 2], dt / lighter
        if touch.D.shape[0] == 0:
            circular.settle(touch.cones, touch.D, c, points.friction[c], u1, u2, target, ease)
        least = min(J[b, 0, 0], J[b, 1, 1], J[b, 2, 2])
        if a > 0:
            least = min(least, J[a, 0, 0], J[a, 1, 1], J[a, 2, 2])
        settle_spins(touch.spin, touch.D, c, target, dt / least)


@kernel
def newton_direction(mechanism, motion, rows, joint_step, touch, linear, target, second, dt):
    """Solve for the Newton step with the current factors."""
    right_side(mechanism, motion, joint_step, touch, linear, target, second, dt)
    solve(linear.symbolic, linear.values, linear.pivots, linear.x)
    directions(mechanism, motion, rows, joint_step, touch, linear, target, second, dt)


@kernel(inline=False)
def solve_step(mechanism, motion, rows, joint_step, touch, linear, kept, settings, report):
    """ν⁺ and all multipliers from a strictly interior start; returns the status and writes ``report`` (6,)."""
    dt, eps, floor = settings.dt, settings.tolerance, settings.relaxation
    closed, status, n = min(eps, CLOSED), ITERATIONS, 0
    near = min(eps, HELD * floor) if floor > 0.0 else eps
    lowest = max(AIM * eps, LEAST)
    if move_to(mechanism, motion, rows, touch, dt) != OK:
        report[:] = np.inf
        report[STATUS_AT], report[ITERATIONS_AT] = SPINNING, 0
        return SPINNING
    momentum, kinematic, equations, products = residuals(mechanism, motion, rows, joint_step, touch, floor, dt)
    while True:
        if momentum <= eps and equations <= eps and products <= near and kinematic <= closed:
            status = CONVERGED
            break
        if not momentum + kinematic + equations + products < np.inf:
            status = NOT_FINITE
            break
        if n == settings.iterations:
            break
        assemble(mechanism, motion, rows, joint_step, touch, linear, dt)
        if factor(linear.symbolic, linear.values, linear.pivots) != OK:
            status = SINGULAR
            break
        mean, number = mean_product(mechanism, motion, touch, 0.0, dt)
        target, second = floor, 0.0
        if number > 0 and not settings.predictor:
            target = max(floor, CENTRING * mean, lowest)
        elif number > 0:
            newton_direction(mechanism, motion, rows, joint_step, touch, linear, floor, 0.0, dt)
            alpha = min(1.0, longest_step(mechanism, motion, touch, dt))
            after, _ = mean_product(mechanism, motion, touch, alpha, dt)
            sigma = min(1.0, max(0.0, after / mean)) ** 3
            target, second = max(floor, sigma * mean, lowest), alpha * alpha
        newton_direction(mechanism, motion, rows, joint_step, touch, linear, target, second, dt)
        nearly = min(max(NEARLY, 1.0 - mean), NEAREST)
        alpha = min(1.0, nearly * longest_step(mechanism, motion, touch, dt))
        if alpha < SHORT and second > 0.0:
            target = max(floor, CENTRING * mean)
            newton_direction(mechanism, motion, rows, joint_step, touch, linear, target, 0.0, dt)
            alpha = min(1.0, nearly * longest_step(mechanism, motion, touch, dt))
        momentum, kinematic, equations, products = residuals(mechanism, motion, rows, joint_step, touch, target, dt)
        merit = momentum + kinematic / dt + equations + products
        copy_unknowns(motion, touch.cones, kept, kept.cones, touch.points.found[0])
        for c in range(touch.points.found[0]):
            keep_spins(touch.spin, c)
        moved = False
        for _ in range(HALVINGS):
            go(motion, touch, kept, alpha)
            if move_to(mechanism, motion, rows, touch, dt) == OK:
                settle(mechanism, motion, touch, target, dt)
                momentum, kinematic, equations, products = residuals(
                    mechanism, motion, rows, joint_step, touch, target, dt
                )
                now = momentum + kinematic / dt + equations + products
                moved = now < np.inf
                if now <= GROWTH * merit:
                    break
            alpha *= 0.5
        if not moved:
            alpha = 0.0
            copy_unknowns(kept, kept.cones, motion, touch.cones, touch.points.found[0])
            for c in range(touch.points.found[0]):
                move_spins(touch.spin, c, 0.0)
            move_to(mechanism, motion, rows, touch, dt)
        n += 1
        momentum, kinematic, equations, products = residuals(mechanism, motion, rows, joint_step, touch, floor, dt)
        if alpha < SHORTEST:
            status = STALLED
            break
    report[STATUS_AT], report[ITERATIONS_AT] = status, n
    report[MOMENTUM_AT], report[KINEMATIC_AT] = momentum, kinematic
    report[EQUATIONS_AT], report[PRODUCTS_AT] = equations, products
    return status
