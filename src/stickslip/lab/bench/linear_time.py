"""What ``stickslip bench variational`` measures: the paper's chain and cylinder, their steps and their Newton systems.

Parameters: Brüdigam et al., Sec. IV-A.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse.linalg import splu

from stickslip._jit import kernel
from stickslip.lab.bench.full_system import full_system, newton_step
from stickslip.methods.variational.equations import move_to, residuals
from stickslip.methods.variational.graph.block_ldu import factor, solve
from stickslip.methods.variational.newton_system import assemble, directions, right_side
from stickslip.model.builders import add_chain, add_cylinder_on_points
from stickslip.model.model import Model
from stickslip.model.scene import Scene
from stickslip.simulation import Simulation

DT = 0.01
"""[s]."""
PYRAMID = "variational/pyramid"
"""With the paper's cone of four facets."""
FRICTION = 0.2
TARGET = 1e-3
"""[J, W] complementarity products that the Newton steps aim at."""
ZIGZAG = 0.4
"""[rad] angle of the links to the chain's direction, to the left and to the right in turn."""
WARM = 5
"""Number of steps before the measured ones."""


class Made(NamedTuple):
    """A scene, compiled once (MuJoCo's compiler takes a minute for 1000 links), and its initial state."""

    scene: Scene
    model: Model
    q: np.ndarray
    v: np.ndarray


def turned(angle: float) -> tuple[float, float, float, float]:
    return float(np.cos(0.5 * angle)), 0.0, 0.0, float(np.sin(0.5 * angle))


def chain(n: int) -> Made:
    """A zigzag on the floor that slides sideways at 0.5 m/s, its links rolling at up to 2 rad/s."""
    scene = Scene(name="chain")
    scene.add_plane(friction=FRICTION)
    add_chain(scene, n, pos=(0.0, 0.0, 0.0))
    model, roll = scene.compile(), np.random.default_rng(0).uniform(-2.0, 2.0, n)
    q, v = model.state().q.copy(), np.zeros(model.nv)
    q[3:7], v[1], v[3] = turned(ZIGZAG), 0.5, roll[0]
    for i in range(1, n):
        angle = 2.0 * ZIGZAG * (-1.0) ** i
        q[4 * i + 3 : 4 * i + 7] = turned(angle)
        v[3 * i + 3 : 3 * i + 6] = roll[i] - roll[i - 1] * np.cos(angle), roll[i - 1] * np.sin(angle), 0.0
    return Made(scene, model, q, v)


def cylinder(c: int) -> Made:
    """A cylinder on c points that slides at 1 m/s and turns at 1 rad/s."""
    scene = Scene(name="cylinder")
    scene.add_plane(friction=FRICTION)
    add_cylinder_on_points(scene, c, pos=(0.0, 0.0, 0.05))
    model = scene.compile()
    return Made(scene, model, model.state().q.copy(), np.array([1.0, 0.0, 0.0, 0.0, 0.0, 1.0]))


def simulate(made: Made, method: str = PYRAMID) -> Simulation:
    sim = Simulation(made.model, method=method, dt=DT)
    sim.set_state(made.q, made.v)
    sim.step(WARM)
    return sim


@kernel
def newton_steps(mechanism, motion, rows, joint_step, touch, linear, dt, n):
    """Compute the same Newton step n times, with one evaluation each, without moving the unknowns."""
    for _ in range(n):
        move_to(mechanism, motion, rows, touch, dt)
        residuals(mechanism, motion, rows, joint_step, touch, TARGET, dt)
        assemble(mechanism, motion, rows, joint_step, touch, linear, dt)
        factor(linear.symbolic, linear.values, linear.pivots)
        right_side(mechanism, motion, joint_step, touch, linear, TARGET, 0.0, dt)
        solve(linear.symbolic, linear.values, linear.pivots, linear.x)
        directions(mechanism, motion, rows, joint_step, touch, linear, TARGET, 0.0, dt)


@kernel
def factor_steps(linear, given, n):
    """Factor and solve n times, from a copy of the matrix; for n < 0, only make the copies."""
    for _ in range(abs(n)):
        for i in range(given.shape[0]):
            linear.values[i] = given[i]
        if n > 0:
            factor(linear.symbolic, linear.values, linear.pivots)
            solve(linear.symbolic, linear.values, linear.pivots, linear.x)


class NewtonSystem:
    """The Newton system of a step from the present state, for our solver and for SciPy."""

    def __init__(self, sim: Simulation) -> None:
        s: Any = sim.stepper
        s.stages()["kinematics"](sim)  # the beginning of the next step; its unknowns are those of the last
        s.stages()["collision"](sim)
        s.stages()["formulate"](sim)
        self.parts = (s.mechanism, s.motion, s.rows, s.joint_step, s.touch)
        self.linear, self.dt = s.linear, s.dt
        for unknowns in s.touch.cones:
            np.maximum(unknowns, 1e-3, out=unknowns)  # in the middle of the way, away from the boundary
        move_to(s.mechanism, s.motion, s.rows, s.touch, self.dt)
        residuals(*self.parts, TARGET, self.dt)
        assemble(*self.parts, self.linear, self.dt)
        self.given = self.linear.values.copy()
        self.full = full_system(*self.parts, self.dt, TARGET)
        newton_steps(*self.parts, self.linear, self.dt, 1)
        self.step = newton_step(s.motion, s.touch)

    def newton(self, n: int) -> float:
        begin = time.perf_counter()
        newton_steps(*self.parts, self.linear, self.dt, n)
        return time.perf_counter() - begin

    def whole(self, calls: int = 20) -> float:
        """[s] time of a Newton step."""
        nothing = min(self.newton(0) for _ in range(3))
        return (self.newton(calls) - nothing) / calls

    def factor(self, calls: int = 20) -> float:
        """[s] time to factor and solve."""
        begin = time.perf_counter()
        factor_steps(self.linear, self.given, -calls)
        middle = time.perf_counter()
        factor_steps(self.linear, self.given, calls)
        return (time.perf_counter() - middle - (middle - begin)) / calls

    def sparse(self, order: str, options: dict[str, Any]) -> float:
        """[s] time of SciPy's LU and solution of the full system."""
        begin = time.perf_counter()
        splu(self.full.matrix, permc_spec=order, **options).solve(self.full.right)
        return time.perf_counter() - begin

    def assembled(self) -> float:
        """[s] time to assemble the full system as a sparse matrix, by NumPy and SciPy."""
        begin = time.perf_counter()
        full_system(*self.parts, self.dt, TARGET)
        return time.perf_counter() - begin

    def difference(self) -> float:
        """Difference of the two Newton steps, relative to their largest entry."""
        other = splu(self.full.matrix).solve(self.full.right)
        return float(np.abs(other - self.step).max() / np.abs(other).max())
