"""Whole-body motion from the motion of the centre of mass and the feet.

    T(q)·v = ẏ,    T(q)·a = ÿ − Ṫ·v,    T = [J_com; base rotation; J_feet]

The base keeps its orientation. With three joints per leg T is square (nv × nv), so that q follows from y by Newton's
method, and v and a are exact: sampled configurations are not differentiated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.control.actuation import Actuation
from stickslip.control.references.feet import find_feet
from stickslip.dynamics import Dynamics
from stickslip.dynamics.jacobian import frame_position, point_acceleration, point_jacobian
from stickslip.dynamics.kinematics import forward_kinematics, forward_velocities
from stickslip.errors import InputError, expected
from stickslip.model.arrays import FREE
from stickslip.model.model import Model

TOLERANCE = 1e-9
"""[m, rad] largest error at which Newton's method stops."""
ITERATIONS = 30
LONGEST = 0.5
"""[rad, m] largest step of Newton's method."""


class Course(NamedTuple):
    """Positions with their first two time derivatives at n instants."""

    position: np.ndarray
    """(n, …, 3) [m]."""
    velocity: np.ndarray
    """(n, …, 3) [m/s]."""
    acceleration: np.ndarray
    """(n, …, 3) [m/s²]."""

    @classmethod
    def at_rest(cls, place: np.ndarray, n: int) -> Course:
        """Stay at ``place`` (…, 3) for n instants."""
        position = np.repeat(place[None], n, axis=0)
        return cls(position, np.zeros_like(position), np.zeros_like(position))


class Motion(NamedTuple):
    """A motion of the whole robot at n instants."""

    q: np.ndarray
    """(n, nq)."""
    v: np.ndarray
    """(n, nv)."""
    a: np.ndarray
    """(n, nv)."""


@kernel
def feet_kinematics(tree, support, frames, kin, feet, q, v, point, J, drift):
    """Position (nf, 3), Jacobian (nf, 3, nv) and J̇·v (nf, 3) of the frames ``feet`` (nf,)."""
    forward_kinematics(tree, q, kin)
    forward_velocities(tree, v, kin)
    for i in range(feet.shape[0]):
        link = frames.link[feet[i]]
        x, y, z = frame_position(frames, kin, feet[i])
        point[i, 0], point[i, 1], point[i, 2] = x, y, z
        point_jacobian(support, kin, link, x, y, z, J[i])
        drift[i, 0], drift[i, 1], drift[i, 2] = point_acceleration(kin, kin.acc, link, x, y, z)


class Legged:
    """A robot with a floating base and legs of three joints that end in point feet."""

    def __init__(self, model: Model, feet: Sequence[str]) -> None:
        nf, needed = len(feet), 6 + 3 * len(feet)
        if isinstance(model, Model) and (model.nv != needed or model.tree.joint_type[0] != FREE):
            raise expected(
                "model", f"one robot, a floating base on {nf} legs of three joints ({needed} velocities)",
                f"{model.nv} velocities", "trot and jump are for robots such as Solo12, alone in their scene; for "
                "others use InverseDynamics, or LinearFeedback with a Reference of your own",
            )  # fmt: skip
        self.model = model
        self.feet = find_feet(model, feet, "by default Solo12's; feet=… names those of another robot")
        self.actuation = Actuation(model, "a planned motion")
        self.actuated = self.actuation.dofs
        if sorted(self.actuated) != list(range(6, model.nv)):
            raise expected("actuators", "one on every leg joint", model.actuator_names)
        self.dyn = Dynamics(model)
        self.mass = float(model.inertia.mass.sum())
        self._zero = np.zeros(model.nv)

    def kinematics(self, q: np.ndarray, v: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Position (nf, 3) [m], Jacobian (nf, 3, nv) and J̇·v (nf, 3) [m/s²] of the feet."""
        m, nf = self.model, len(self.feet)
        out = np.empty((nf, 3)), np.zeros((nf, 3, m.nv)), np.empty((nf, 3))
        v = self._zero if v is None else v
        feet_kinematics(m.tree, m.support, m.frames, self.dyn.data.kin, self.feet, q, v, *out)
        return out

    def _tasks(self, q: np.ndarray, J: np.ndarray) -> np.ndarray:
        """T(q) (nv, nv)."""
        nv = self.model.nv
        T = np.zeros((nv, nv))
        T[:3] = self.dyn.center_of_mass_jacobian(q)
        T[3:6, 3:6] = np.eye(3)
        T[6:] = J.reshape(-1, nv)
        return T

    def configuration(
        self, start: np.ndarray, level: np.ndarray, com: np.ndarray, feet: np.ndarray
    ) -> np.ndarray | None:
        """The q near ``start`` with this centre of mass, these feet and the base orientation of ``level`` (nq,)."""
        q = start
        for _ in range(ITERATIONS):
            point, J, _drift = self.kinematics(q)
            error = np.concatenate(
                [com - self.dyn.center_of_mass(q), self.dyn.difference(q, level)[3:6], (feet - point).ravel()]
            )
            if np.max(np.abs(error)) < TOLERANCE:
                return q
            step = np.linalg.solve(self._tasks(q, J), error)
            q = self.dyn.integrate(q, step, min(1.0, LONGEST / float(np.max(np.abs(step)))))
        return None

    def motion(self, time: np.ndarray, com: Course, feet: Course, start: np.ndarray) -> Motion:
        """The whole-body motion for given centre of mass (n, 3) and feet (n, nf, 3), beginning near ``start`` (nq,)."""
        n, nv = len(time), self.model.nv
        motion = Motion(np.empty((n, self.model.nq)), np.empty((n, nv)), np.empty((n, nv)))
        q = start
        for k in range(n):
            found = self.configuration(q, start, com.position[k], feet.position[k])
            if found is None:
                above = com.position[k, 2] - feet.position[k, :, 2].min()
                raise InputError(
                    f"the legs do not reach at t = {time[k]:.3g} s, with the centre of mass {above:.3g} m above the "
                    "lowest foot; ask for less speed, clearance or height"
                )
            q = found
            T = self._tasks(q, self.kinematics(q)[1])
            v = np.linalg.solve(T, np.concatenate([com.velocity[k], np.zeros(3), feet.velocity[k].ravel()]))
            drift = self.dyn.center_of_mass_acceleration(q, v, self._zero)
            wanted = np.concatenate(
                [com.acceleration[k] - drift, np.zeros(3), (feet.acceleration[k] - self.kinematics(q, v)[2]).ravel()]
            )
            motion.q[k], motion.v[k], motion.a[k] = q, v, np.linalg.solve(T, wanted)
        return motion
