"""Motion of the centre of mass that keeps the robot balanced while it stands on two feet.

Two feet can turn the robot about every axis but the line through them, so the moment of gravity and inertia about that
line must vanish at every instant on two feet,

    r = e·[L̇ + (c − p)×m(c̈ − g)] = 0    (e along the line, p on it, L the angular momentum about c),

which restricts the motion of the centre of mass. To a given course a horizontal deviation δ(t) is added, a quintic
spline that is zero at both ends and minimises ∫ |δ|²/DEVIATION² + |δ⃛|²/JERK² subject to r = 0. It is found by Newton's
method on the whole robot with ∂r = e·(δ×F) + m·e·((c − p)×δ̈), where F is the contact force. The small change of L̇ is
left out, so that three or four iterations are needed.
"""

from __future__ import annotations

import numpy as np

from stickslip.control.references.whole_body import Course, Legged, Motion
from stickslip.errors import InputError

DEVIATION = 0.02
"""[m] deviation that costs one unit."""
JERK = 20.0
"""[m/s³] jerk that costs one unit."""
TOLERANCE = 1e-3
"""[N m] largest moment about the line."""
ITERATIONS = 10


def line_moment(
    robot: Legged, motion: Motion, feet: Course, k: int, pair: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
    """r [N m] at instant k, with what its derivative needs: F (3,), e (3,) and p (3,)."""
    base = robot.model.link_names[robot.model.tree.parent.tolist().index(0, 1)]
    position, rotation = robot.dyn.frame_pose(motion.q[k], base)
    tau = robot.dyn.rnea(motion.q[k], motion.v[k], motion.a[k])
    p = feet.position[k, pair[0]]
    e = feet.position[k, pair[1]] - p
    e = e / np.linalg.norm(e)
    return float(e @ (rotation @ tau[3:6] + np.cross(position - p, tau[:3]))), tau[:3], e, p


def balance(
    robot: Legged, time: np.ndarray, stance: np.ndarray, com: Course, feet: Course, start: np.ndarray
) -> tuple[Course, Motion]:
    """The course that the centre of mass can take near ``com``, and the motion of the robot with it."""
    from scipy.interpolate import BSpline  # slow to import, so only when needed

    knots = np.concatenate([np.repeat(time[0], 5), time, np.repeat(time[-1], 5)])
    free = slice(3, -3)  # the others are zero, so that the deviation starts and ends at rest
    spline = BSpline(knots, np.eye(len(knots) - 6), 5)
    D = [spline(time, nu=order)[:, free] for order in range(4)]
    m = D[0].shape[1]
    two = np.flatnonzero(stance.sum(axis=1) == 2)
    H = np.kron(np.eye(2), D[0].T @ D[0] / DEVIATION**2 + D[3].T @ D[3] / JERK**2)
    coefficients, adapted = np.zeros((2, m)), com
    axes = np.eye(3)[:2]
    for _ in range(ITERATIONS):
        motion = robot.motion(time, adapted, feet, start)
        C, r = np.zeros((len(two), 2, m)), np.zeros(len(two))
        for row, k in enumerate(two):
            r[row], F, e, p = line_moment(robot, motion, feet, int(k), np.flatnonzero(stance[k]))
            shift = np.cross(axes, F) @ e
            push = robot.mass * np.cross(adapted.position[k] - p, axes) @ e
            C[row] = np.outer(shift, D[0][k]) + np.outer(push, D[2][k])
        if not len(two) or np.max(np.abs(r)) < TOLERANCE:
            return adapted, motion
        C = C.reshape(len(two), 2 * m)
        system = np.block([[H, C.T], [C, -1e-9 * np.eye(len(two))]])  # the last block keeps it regular
        right = np.concatenate([np.zeros(2 * m), C @ coefficients.ravel() - r])
        coefficients = np.linalg.solve(system, right)[: 2 * m].reshape(2, m)
        adapted = Course(*(part.copy() for part in com))
        for order, part in enumerate(adapted):
            part[:, :2] += D[order] @ coefficients.T
    raise InputError(f"the robot cannot be balanced on two feet: {np.max(np.abs(r)):.2g} N m is left over")
