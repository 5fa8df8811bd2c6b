"""Inverse kinematics: joint coordinates at which bodies and frames are where they should be.

    minimise  Σ |x(q) − x*|² + (ℓ·|log(R(q)·R*ᵀ)|)²      over the joints that may move, within their limits,

x and R the place and axes of each target, ℓ the length that a radian counts as. Steps d are those of Levenberg and
Marquardt on the tangent space of the configurations, so that quaternions stay unit. Limits are bounds on d: where a
free step would leave them, a bounded least-squares problem is solved. Rows of closed loops and couplings are added with
the weight ``HELD``, and Newton steps close them in the end. If a start does not lead to the targets, others are drawn
at random, and the best result is kept.
Reference: Nocedal, Wright, "Numerical Optimization", 2006, section 10.3 (Levenberg–Marquardt); Stark, Parker,
Computational Statistics 10, 1995 (bounded least squares).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import lsq_linear

from stickslip.constraints.bilateral import Bilateral
from stickslip.dynamics import Dynamics
from stickslip.errors import InputError, expected, listed, mapping, number, unknown, whole
from stickslip.math.quaternion import from_matrix, logarithm
from stickslip.model.arrays import BALL, FREE, JOINT_NQ, JOINT_NV
from stickslip.model.compile import rotation
from stickslip.model.mocap import held_loops
from stickslip.model.model import Model
from stickslip.summary import Summarised, Summary, numbers

HELD = 1e5
"""Weight of closed loops and couplings against targets."""
STEPS = 200
"""Largest number of steps from one start."""
SMALLEST = 1e-13
"""A step of this length [m or rad] ends the iteration, and so does a smaller relative gain."""
LEAST_DAMPING, FIRST_DAMPING, MOST_DAMPING = 1e-16, 1e-3, 1e8
"""The damping of a step, relative to the largest diagonal entry of JᵀJ."""
CLOSURES = 10
"""Largest number of Newton steps that close loops in the end."""
SAME, ENOUGH = 1e-6, 3
"""If this many further starts end at the least cost so far, up to this relative difference, no others are tried."""
SPREAD = 1.0
"""[m] random starts lie this far from the first, along joints without limits."""


@dataclass(frozen=True, repr=False)
class InverseKinematicsResult(Summarised):
    """Joint coordinates that inverse kinematics found; true if they reach the targets."""

    q: np.ndarray
    """(nq,) joint coordinates; of a robot view, those of the robot."""
    converged: bool
    """Whether all targets are reached to the tolerance, and loops and couplings hold."""
    error: dict[str, float]
    """Target → how far its place is from where it should be [m]."""
    turn: dict[str, float]
    """Target → the angle by which its axes are off [rad]."""
    held: float
    """Largest error of closed loops and couplings [m or rad]."""
    message: str
    """Why it did not converge, in one sentence; empty if it did."""
    iterations: int
    """Steps from all starts together."""
    starts: int
    """Starts that were tried."""

    def __bool__(self) -> bool:
        return self.converged

    def _summary(self) -> Summary:
        title = "reached all targets" if self.converged else self.message
        rows = {name: f"{error:.3g} m, {self.turn[name]:.3g} rad" for name, error in list(self.error.items())[:8]}
        return Summary(f"Inverse kinematics: {title}", {"q": numbers(self.q), **rows})


@dataclass(frozen=True)
class Target:
    """Where a frame should be."""

    name: str
    pos: np.ndarray | None
    """(3,) [m, world]; None: anywhere."""
    axes: np.ndarray | None
    """(3, 3) [world]; None: turned in any way."""


def make_target(model: Model, name: Any, value: Any) -> Target:
    """A position (3,), an orientation (4,) or a pose (7,) of a body or site."""
    name = getattr(name, "name", name)
    model.frame(name)
    wanted = "a position (3,) [m], a quaternion (4,), or both (7,)"
    try:
        given = np.array(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise expected(f"target of {name!r}", wanted, value) from None
    if given.shape not in ((3,), (4,), (7,)) or not np.all(np.isfinite(given)):
        raise expected(f"target of {name!r}", wanted, value)
    axes = None
    if len(given) > 3:
        norm = float(np.linalg.norm(given[-4:]))
        if norm < 1e-9:
            raise expected(f"quaternion of target {name!r}", "one that is not zero", tuple(given[-4:]))
        axes = rotation(given[-4:] / norm)
    return Target(name, given[:3] if len(given) != 4 else None, axes)


class Posture:
    """The least-squares problem of some targets, and the joints that may move."""

    def __init__(self, dynamics: Dynamics, targets: Sequence[Target], joints: Sequence[int], radian: float) -> None:
        model = dynamics.model
        self.dynamics, self.targets, self.joints, self.radian = dynamics, targets, joints, radian
        tree, forces = model.tree, model.joint_forces
        self.kinds = [int(tree.joint_type[j]) for j in joints]
        firsts = zip(tree.joint_v[list(joints)], self.kinds, strict=True)
        self.dofs = np.array([v + i for v, kind in firsts for i in range(JOINT_NV[kind])], dtype=int)
        self.first_q = [int(tree.joint_q[j]) for j in joints]
        limited = [bool(forces.limited[j]) for j in joints]
        self.range = [
            forces.range[j] if on else np.array([-np.inf, np.inf]) for j, on in zip(joints, limited, strict=True)
        ]
        self.loops = Bilateral(dynamics, model.loops) if model.loops else None

    def misses(self, q: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray], np.ndarray]:
        """(place errors, rotation vectors, errors of loops) at q."""
        places, turns = [], []
        for target in self.targets:
            pos, axes = self.dynamics.frame_pose(q, target.name)
            places.append(np.zeros(3) if target.pos is None else pos - target.pos)
            turns.append(np.zeros(3) if target.axes is None else rotation_vector(axes @ target.axes.T))
        return places, turns, self._loop_errors(q)

    def _loop_errors(self, q: np.ndarray) -> np.ndarray:
        still = np.zeros(self.dynamics.model.nv)
        return np.zeros(0) if self.loops is None else self.loops.solve(q, still, still).error

    def residual(self, q: np.ndarray) -> np.ndarray:
        places, turns, held = self.misses(q)
        return np.concatenate([*places, *(self.radian * turn for turn in turns), HELD * held])

    def jacobian(self, q: np.ndarray) -> np.ndarray:
        """(rows, dofs that may move) derivatives of ``residual``."""
        linear, angular = [], []
        for target in self.targets:
            J = self.dynamics.frame_jacobian(q, target.name)[:, self.dofs]
            linear.append(np.zeros_like(J[:3]) if target.pos is None else J[:3])
            if target.axes is None:
                angular.append(np.zeros_like(J[3:]))
                continue
            turn = rotation_vector(self.dynamics.frame_pose(q, target.name)[1] @ target.axes.T)
            angular.append(self.radian * left_inverse(turn) @ J[3:])
        rows = [*linear, *angular]
        if self.loops is not None:
            self._loop_errors(q)
            rows.append(HELD * self.loops.jacobian[:, self.dofs])
        return np.vstack(rows)

    def bounds(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(turned, low, high): the step d = turned·x stays within the limits if low ≤ x ≤ high. The first axis of a
        ball joint with a limit is that of its rotation."""
        n = len(self.dofs)
        turned, low, high, at = np.eye(n), np.full(n, -np.inf), np.full(n, np.inf), 0
        for kind, first, limits in zip(self.kinds, self.first_q, self.range, strict=True):
            if kind == BALL and np.isfinite(limits[1]):
                turn = np.array(logarithm(*positive(q[first : first + 4])))
                angle = float(np.linalg.norm(turn))
                axis = turn / angle if angle > 0.0 else np.array([1.0, 0.0, 0.0])
                turned[at : at + 3, at : at + 3] = np.linalg.svd(axis[None, :])[2].T
                turned[at : at + 3, at] = axis
                high[at] = max(0.0, limits[1] - angle)
            elif kind not in (FREE, BALL):
                low[at], high[at] = min(0.0, limits[0] - q[first]), max(0.0, limits[1] - q[first])
            at += JOINT_NV[kind]
        return turned, low, high

    def inside(self, q: np.ndarray) -> np.ndarray:
        """The nearest configuration within the limits."""
        q = q.copy()
        for kind, first, limits in zip(self.kinds, self.first_q, self.range, strict=True):
            if kind == BALL and np.isfinite(limits[1]):
                turn = np.array(logarithm(*positive(q[first : first + 4])))
                angle = float(np.linalg.norm(turn))
                if angle > limits[1]:
                    half = 0.5 * limits[1]
                    q[first : first + 4] = [np.cos(half), *(np.sin(half) * turn / angle)]
            elif kind not in (FREE, BALL):
                q[first] = np.clip(q[first], *limits)
        return q

    def random(self, q: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """A configuration within the limits; joints without limits anywhere near those of q."""
        q = q.copy()
        for kind, first, limits in zip(self.kinds, self.first_q, self.range, strict=True):
            if kind in (FREE, BALL):
                quat = rng.normal(size=4)
                last = first + JOINT_NQ[kind]
                q[last - 4 : last] = quat / np.linalg.norm(quat)
                if kind == FREE:
                    q[first : first + 3] += SPREAD * rng.uniform(-1.0, 1.0, size=3)
            else:
                ends = np.where(np.isfinite(limits), limits, q[first] + np.pi * SPREAD * np.array([-1.0, 1.0]))
                q[first] = rng.uniform(*ends)
        return self.inside(q)

    def closed(self, q: np.ndarray) -> np.ndarray:
        """The configuration near q in which loops and couplings hold, by Newton steps; q itself without them."""
        for _ in range(CLOSURES if self.loops is not None else 0):
            error = self._loop_errors(q)
            if _largest(error) < SMALLEST or self.loops is None:
                break
            q = self.move(q, np.linalg.lstsq(self.loops.jacobian[:, self.dofs], -error, rcond=1e-9)[0])
        return q

    def move(self, q: np.ndarray, step: np.ndarray) -> np.ndarray:
        whole_step = np.zeros(self.dynamics.model.nv)
        whole_step[self.dofs] = step
        return self.inside(self.dynamics.integrate(q, whole_step))


def descend(posture: Posture, q: np.ndarray, enough: float) -> tuple[np.ndarray, float, int]:
    """(q, cost, steps): Levenberg and Marquardt's iteration from q, until the cost is below ``enough``² or a minimum is
    reached."""
    q = posture.inside(q)
    r = posture.residual(q)
    cost, damping, steps = float(r @ r), FIRST_DAMPING, 0
    while steps < STEPS and cost > enough**2:
        turned, low, high = posture.bounds(q)
        A = posture.jacobian(q) @ turned
        scale = float(np.max(np.sum(A * A, axis=0), initial=0.0)) or 1.0
        better = False
        while not better and damping <= MOST_DAMPING and steps < STEPS:
            steps += 1
            rows = np.vstack([A, np.sqrt(damping * scale) * np.eye(A.shape[1])])
            right = np.concatenate([-r, np.zeros(A.shape[1])])
            x = np.linalg.lstsq(rows, right, rcond=None)[0]
            if np.any(x < low) or np.any(x > high):
                free = low < high
                x = np.where(free, 0.0, low)
                x[free] = lsq_linear(rows[:, free], right, (low[free], high[free]), method="bvls").x
            trial = posture.move(q, turned @ x)
            r_trial = posture.residual(trial)
            better = float(r_trial @ r_trial) < cost
            damping = max(LEAST_DAMPING, 0.1 * damping) if better else 8.0 * damping
        if not better:
            break
        gain, cost, q, r = cost - float(r_trial @ r_trial), float(r_trial @ r_trial), trial, r_trial
        if np.max(np.abs(x)) < SMALLEST or gain < SMALLEST * cost:
            break
    return q, cost, steps


def inverse_kinematics(
    model: Model | Dynamics,
    targets: Mapping[Any, Any],
    *,
    start: Any = None,
    joints: Sequence[str] | None = None,
    tolerance: float = 1e-9,
    radian: float = 1.0,
    restarts: int = 20,
    seed: int = 0,
) -> InverseKinematicsResult:
    """Joint coordinates at which bodies and frames are where ``targets`` says: name → position (3,) [m], quaternion
    (4,), or both (7,), in world axes.

    ``start`` (nq,) is where the search begins (default: the keyframe ``home``), and the other joints stay there if
    ``joints`` names those that may move. Limits of joints, closed loops and couplings are kept; limits of tendons are
    not looked at. A result has converged if all places and axes are met to ``tolerance`` [m or rad]; else it is the
    nearest that was found, where a radian counts as much as ``radian`` [m]. Up to ``restarts`` random starts by
    ``seed`` are tried if the first one does not lead there, fewer if several of them end equally near.
    """
    dynamics = model if isinstance(model, Dynamics) else Dynamics(model)
    model = dynamics.model
    wanted = [make_target(model, name, value) for name, value in mapping("targets", targets, "names to poses").items()]
    if not wanted:
        raise expected("targets", "at least one body or site with its pose", {})
    tolerance = number("tolerance", tolerance, "a number > 0", above=0.0)
    radian = number("radian", radian, "a length > 0 [m]", above=0.0)
    restarts, first = whole("restarts", restarts, 0), model.state(start).q
    names = model.joint_names if joints is None else tuple(joints)
    for name in names:
        if name not in model.joint_names:
            raise unknown("joint", name, model.joint_names)
    held = [model.closed_loops[k].name for k, _ in held_loops(model)]
    if held:
        raise InputError(f"inverse kinematics: the loop {held[0]!r} is on a mocap body, which is not looked at here")
    posture = Posture(dynamics, wanted, [model.joint(name) for name in names], radian)
    for target in wanted:
        if not np.any(dynamics.frame_jacobian(first, target.name)[:, posture.dofs]):
            raise expected(f"target {target.name!r}", "a body that one of the joints moves", f"joints {listed(names)}")
    rng, enough = np.random.default_rng(seed), 1e-4 * tolerance * min(1.0, radian)
    best, least, iterations, starts, again = first, np.inf, 0, 0, 0
    for attempt in range(restarts + 1):
        q, cost, steps = descend(posture, first if attempt == 0 else posture.random(first, rng), enough)
        starts, iterations = starts + 1, iterations + steps
        again = again + 1 if abs(cost - least) < SAME * least else 0 if cost < least else again
        if cost < least:
            best, least = q, cost
        if again == ENOUGH or _reached(posture.misses(best), tolerance):
            break
    return _result(posture, posture.closed(best), tolerance, iterations, starts)


def _reached(misses: tuple[list[np.ndarray], list[np.ndarray], np.ndarray], tolerance: float) -> bool:
    places, turns, held = misses
    return max(*(float(np.linalg.norm(miss)) for miss in (*places, *turns)), _largest(held)) <= tolerance


def _result(posture: Posture, q: np.ndarray, tolerance: float, iterations: int, starts: int) -> InverseKinematicsResult:
    misses = posture.misses(q)
    names = [target.name for target in posture.targets]
    error = {name: float(np.linalg.norm(miss)) for name, miss in zip(names, misses[0], strict=True)}
    turn = {name: float(np.linalg.norm(miss)) for name, miss in zip(names, misses[1], strict=True)}
    converged, message = _reached(misses, tolerance), ""
    if not converged:
        worst = max(names, key=lambda name: error[name] + turn[name])
        off = f"{error[worst]:.3g} m" + (f" and {turn[worst]:.3g} rad" if turn[worst] else "")
        message = f"{worst!r} is {off} from its target after {starts} starts; it may be out of reach"
    return InverseKinematicsResult(q, converged, error, turn, _largest(misses[2]), message, iterations, starts)


def _largest(values: np.ndarray) -> float:
    return float(np.max(np.abs(values), initial=0.0))


def positive(quat: np.ndarray) -> np.ndarray:
    """The quaternion of the same rotation with w ≥ 0, whose logarithm is the shorter way."""
    return -quat if quat[0] < 0.0 else quat


def rotation_vector(R: np.ndarray) -> np.ndarray:
    """(3,) the axis times the angle of a rotation matrix."""
    return np.array(logarithm(*positive(np.array(from_matrix(*R.ravel())))))


def left_inverse(turn: np.ndarray) -> np.ndarray:
    """(3, 3) from an angular velocity to the rate of the rotation vector ``turn`` (3,)."""
    x, y, z = turn
    angle = float(np.linalg.norm(turn))
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    if angle < 1e-4:
        factor = 1.0 / 12.0
    else:
        factor = 1.0 / angle**2 - 0.5 / (angle * np.tan(0.5 * angle))
    return np.eye(3) - 0.5 * cross + factor * cross @ cross
