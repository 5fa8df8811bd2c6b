"""Maximal coordinates of a time step: the rigid-body kernels on the cut model, and the joints as bilateral rows.

The state is Q, V of the cut model, kept in ``memory()``; ``state.q`` and ``state.v`` are joint coordinates taken from
it at the end of every step. If they are not what the last step left there (because the state was set), Q and V begin
anew from them.

Sizes: nv' = 6(nl − 1); nb rigid rows, 5 per hinge or slide and 3 per ball; ns soft rows, one per joint velocity with
rotor inertia, a damper, a spring or a servo (``maximal.soft_rows``), implicit as in joint coordinates. Forces in other
joints are computed in joint coordinates and act on both bodies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import scipy.sparse as sp

from stickslip._jit import kernel
from stickslip.dynamics.configuration import integrate
from stickslip.dynamics.crba import composite_inertia
from stickslip.dynamics.data import make_data
from stickslip.dynamics.factor import solve
from stickslip.dynamics.jacobian import add_wrenches
from stickslip.dynamics.joint_forces import joint_space_forces
from stickslip.dynamics.kinematics import forward_motion, forward_velocities
from stickslip.maximal.constraints import Constraints
from stickslip.maximal.conversion import joint_coordinates, place_bodies, to_bodies
from stickslip.maximal.cut import cut
from stickslip.maximal.joints import Joint
from stickslip.maximal.pair_rows import PairRows
from stickslip.maximal.rates import body_forces, joint_velocities, rate_rows
from stickslip.maximal.soft_rows import SoftRows, turning_rotors
from stickslip.maximal.stabilisation import Stabilisation
from stickslip.methods.base import Inputs
from stickslip.methods.rigid.coordinates.coordinates import Coordinates, free_velocities
from stickslip.methods.rigid.coordinates.joint_limits import make_limits, near_limits
from stickslip.methods.rigid.formulations.formulation import JOINT_FEEDBACK
from stickslip.model.model import Model, State


@kernel
def place(tree, support, inertia, free_mass, Q, V, kin, mass):
    """Compute kinematics and mass matrix of the cut model; ``free_mass`` (nv',) is added to its diagonal."""
    forward_motion(tree, inertia, Q, V, kin)
    composite_inertia(tree, support, inertia, kin, mass)
    for d in range(V.shape[0]):
        mass.M[support.start[d]] += free_mass[d]


class MaximalCoordinates(Coordinates):
    """Every link is a free body. ``extra_joints`` close loops or weld bodies; ``stabilise`` removes joint errors after
    every step, down to ``tolerance`` [m, rad; m/s, rad/s]."""

    def __init__(
        self, model: Model, *, stabilise: bool = True, extra_joints: Sequence[Joint] = (), tolerance: float = 1e-5
    ) -> None:
        self.model, self.cut = model, cut(model)
        nj = len(model.joint_names)
        self._passive = model.joint_forces._replace(limited=np.zeros(nj, dtype=np.int64))  # limits are rows
        self._soft = SoftRows(model, self._passive)
        self.constraints = Constraints(model, self.cut, extra_joints, self._soft)
        self.stabilisation = Stabilisation(tolerance) if stabilise else None
        data = make_data(self.cut)
        self.kin, self._mass, self.support = data.kin, data.mass, self.cut.support
        self.M, self.L = data.mass.M, data.mass.L
        nv = self.cut.nv
        self.velocity, self.free_velocity = np.zeros(nv), np.zeros(nv)
        self.Q, self.V = np.zeros(self.cut.nq), np.zeros(nv)
        """Poses (7(nl − 1),) and velocities (6(nl − 1),) of the links."""
        self._q, self._v = np.zeros(model.nq), np.zeros(model.nv)  # what the last step left in the state
        self._tau, self._force, self._bias = np.zeros(model.nv), np.zeros(nv), np.zeros(nv)
        self._f_ext, self._next, self._R = np.zeros((model.nlink, 6)), np.zeros(self.cut.nq), np.zeros((3, 3))
        self._rates, self._dt = np.zeros((model.nv, 12)), 0.0
        self._turning, self._ahead = turning_rotors(model), make_data(self.cut).kin
        self._contacts: sp.csr_array | None = None
        held = np.zeros(model.nlink, dtype=bool)
        held[self.constraints.joints.link1] = held[self.constraints.joints.link2] = True
        self._jointed = np.repeat(held[1:], 6)  # (nv',) velocities that corrections change
        self._limits = make_limits(nj)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """(nj,) names of the joints of ``joint_error``: those of the tree that are not free, then extra ones."""
        return self.constraints.names

    def take(self, state: State) -> None:
        """Begin from joint coordinates, unless they are what the last step left."""
        known = np.array_equal(state.q, self._q) and np.array_equal(state.v, self._v)
        if not (known and np.any(self.Q[3:7])):
            self.Q[:], self.V[:] = to_bodies(self.model, state.q, state.v)
            self._q[:], self._v[:] = state.q, state.v

    def begin(self, state: State, inputs: Inputs, dt: float) -> None:
        self.take(state)
        m, c = self.model, self.cut
        joint_space_forces(
            m.tree, self._passive, m.actuators, state.q, state.v, inputs.control, inputs.applied, self._tau
        )
        if len(self._turning):
            self._tau[self._turning] -= m.inertia.armature[self._turning] * self._turned(dt)
        self._soft.begin(state.q, state.v, inputs.control, dt, self._tau)
        self._look()
        self._f_ext[:] = 0.0
        add_wrenches(self.kin, inputs.wrench, self._f_ext)
        body_forces(m.tree, m.support, self._rates, self._tau, self._force)
        self.velocity[:] = self.V
        free_velocities(
            c.tree, c.support, c.inertia, self._force, self._f_ext, self.kin, self._mass, self.V, dt,
            self._bias, self.free_velocity,
        )  # fmt: skip
        self._dt, self._contacts = dt, None

    def _turned(self, dt: float) -> np.ndarray:
        """(nt,) ṙ·V of rotors whose rows turn [rad/s² or m/s²], from their change over a step with constant V."""
        m, rates, rate = self.model, np.zeros((self.model.nv, 12)), np.empty((2, self.model.nv))
        integrate(self.cut.tree, self.Q, self.V, dt, self._next)
        for Q, v in zip((self.Q, self._next), rate, strict=True):
            place_bodies(Q, self.V, self._ahead)
            rate_rows(m.tree, self._ahead, rates)
            joint_velocities(m.tree, m.support, rates, self.V, v)
        return (rate[1] - rate[0])[self._turning] / dt

    def _look(self) -> None:
        """Compute kinematics, mass matrix, rates and joint rows at Q and V."""
        m, c = self.model, self.cut
        place(c.tree, c.support, c.inertia, self._soft.free_mass, self.Q, self.V, self.kin, self._mass)
        rate_rows(m.tree, self.kin, self._rates)
        self._soft.look(self._rates)
        self.constraints.look(self.kin)

    def bilateral(self) -> tuple[sp.csr_array, np.ndarray] | None:
        if not len(self.constraints.violation):
            return None
        return self.constraints.rows, self.constraints.violation

    def soft(self) -> tuple[sp.csr_array, np.ndarray, np.ndarray] | None:
        if not len(self._soft.dof):
            return None
        return self._soft.rows, self._soft.compliance, self._soft.target

    def hardened_velocity(self) -> np.ndarray:
        if not len(self._soft.dof):
            return self.free_velocity
        self._factorise()
        free, constraints, rows = self.free_velocity, self.constraints, self._soft.rows
        errors = constraints.velocity_errors(free + JOINT_FEEDBACK * self.V)
        constraints.correct(-errors, self._soft.target - rows @ free)
        change = rows.T @ constraints.impulse[len(errors) :]
        solve(self.support, self.L, change)
        return free + change

    def hold(self, rows: sp.csr_array) -> None:
        if self.stabilisation is not None and rows.shape[0]:
            rows = rows[np.flatnonzero(np.diff(rows[:, self._jointed].indptr))]
            self._contacts = rows if rows.shape[0] else None

    @property
    def converged(self) -> bool:
        return self.stabilisation is None or self.stabilisation.converged

    def joint_solver(self) -> Callable[[np.ndarray], np.ndarray | None] | None:
        constraints = self.constraints
        now = constraints.looks

        def solve_joints(right: np.ndarray) -> np.ndarray | None:
            if constraints.looks != now:
                return None
            self._factorise()
            return constraints.impulses(right)

        return solve_joints

    def _factorise(self) -> None:
        if not self.constraints.factorised:
            self.constraints.factorise(self.M)

    def limits(self) -> tuple[sp.csr_array, np.ndarray] | None:
        m, (start, column, value, gap, angular) = self.model, self._limits
        if not np.any(m.joint_forces.limited):
            return None
        n = near_limits(m.tree, m.joint_forces, self._q, self._v, self._dt, *self._limits)
        self.angular = angular[:n].copy()
        if n == 0:
            return None
        k = start[n]
        rates = sp.csr_array((value[:k], column[:k], start[: n + 1]), shape=(n, m.nv)) @ self._rates
        link = m.support.dof_link[column[start[:n]]]
        return PairRows(m.tree.parent[link], link, self.cut.nv).matrix(rates), gap[:n].copy()

    def finish(self, state: State, velocity: np.ndarray, dt: float) -> None:
        c, stabilisation = self.cut, self.stabilisation
        self.V[:] = velocity
        if stabilisation is None:
            integrate(c.tree, self.Q, self.V, dt, self._next)
        else:
            self._factorise()
            stabilisation.correct_positions(
                c, self.kin, self.constraints, self.Q, self.V, dt, self._next, self._contacts
            )
        self.Q[:] = self._next
        self._look()
        if stabilisation is not None:
            self._factorise()
            stabilisation.correct_velocities(self.constraints, self.V)
            forward_velocities(c.tree, self.V, self.kin)
        joint_coordinates(self.model.tree, self.kin, self.Q, state.q, self._R, state.q)
        joint_velocities(self.model.tree, self.model.support, self._rates, self.V, state.v)
        self._q[:], self._v[:] = state.q, state.v

    def memory(self) -> dict[str, np.ndarray]:
        return {"body_q": self.Q, "body_v": self.V, "joint_q": self._q, "joint_v": self._v}

    def joint_error(self) -> tuple[np.ndarray, np.ndarray]:
        """Errors at the end of the last step, or at the state of a later ``begin``."""
        per_joint = self.constraints.per_joint
        return per_joint(self.constraints.violation), per_joint(self.constraints.velocity_errors(self.V))
