"""Joint coordinates of a time step: joints are eliminated, and only contacts, limits and closed loops are left.

    (M + dt·D + dt²·K)·(v_free − v) = dt·(τ(q, v) − dt·K·v − b(q, v))

b are gravity, centrifugal, Coriolis and gyroscopic forces. They are taken at the beginning of the step; gyroscopic
torques of single bodies are then averaged (``gyroscopic``), and those of trees that nothing touches moved to
the middle (``look_ahead``), unless ``bias`` is 'explicit'. K and D are stiffness and
damping of joint springs and dampers (``joint_gains``), and of tendons and servos with the moment arms at the beginning
of the step (``add_drive_mass``); they are implicit, so that none of them limits dt, and so is the drag of a medium
(``add_drag_mass``). Limits of joints and tendons
and the loops of the model are rows; loops are closed at the end of every step (``constraints.loop_closure``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from stickslip._jit import kernel
from stickslip.collision.contacts import Contacts
from stickslip.constraints.loop_closure import CLOSED, LoopClosure
from stickslip.dynamics.configuration import integrate
from stickslip.dynamics.crba import composite_inertia
from stickslip.dynamics.data import MassMatrix, make_data
from stickslip.dynamics.drive_forces import (
    add_drive_forces,
    add_drive_gains,
    add_drive_lead,
    add_drive_mass,
    drive_forces,
)
from stickslip.dynamics.drives import make_drives
from stickslip.dynamics.fluid_derivatives import add_drag_mass, fluid_drag
from stickslip.dynamics.fluid_forces import make_fluid
from stickslip.dynamics.gyroscopic import average_gyroscopic_torques
from stickslip.dynamics.joint_forces import damper_force, joint_gains, spring_and_limit_forces
from stickslip.dynamics.kinematics import forward_motion
from stickslip.dynamics.outside_forces import outside_forces
from stickslip.methods.base import Inputs
from stickslip.methods.rigid.coordinates.coordinates import Coordinates, free_velocities
from stickslip.methods.rigid.coordinates.joint_limits import Limits, joined_trees, joint_rows, make_limits, widest
from stickslip.methods.rigid.coordinates.look_ahead import LookAhead, look_ahead, make_look_ahead
from stickslip.model.model import Model, State


class Motion(NamedTuple):
    """Scratch and results of a compiled step."""

    f_ext: np.ndarray
    gains: np.ndarray
    bias: np.ndarray
    free: np.ndarray
    """(nv,) velocity at the end of the step without contacts."""
    velocity: np.ndarray
    """(nv,) velocity at its beginning."""
    q: np.ndarray
    """(nq,) configuration at its beginning."""
    acceleration: np.ndarray
    """(nv,) mean acceleration of the step."""
    ahead: LookAhead


@kernel(inline=False)
def begin(
    tree, support, inertia, passive, actuators, fluid, inputs, q, v, dt, kin, mass, f_ext, gains, bias, lone, free
):
    """Compute kinematics, the factored mass matrix, and ``free`` (nv,), the velocity at the end without contacts.

    ``gains`` (2, nv) are diagonals of K and D at its end (``add_drive_gains``), ``bias`` (nv,) is scratch; ``passive``
    must be without limits, ``actuators`` are the ``Drives``, and ``lone`` those of ``LookAhead``.
    """
    forward_motion(tree, inertia, q, v, kin)
    composite_inertia(tree, support, inertia, kin, mass)
    joint_gains(tree, passive, q, v, gains[0], gains[1])
    for d in range(v.shape[0]):
        mass.M[support.start[d]] += dt * (gains[1, d] + dt * gains[0, d])
        free[d] = inputs.applied[d] + damper_force(passive, d, v[d]) - dt * gains[0, d] * v[d]
    drive_forces(actuators, q, v, inputs.control)
    add_drive_forces(actuators, free)
    add_drive_lead(actuators, 0, dt, free)
    add_drive_mass(actuators, support, dt, mass.M)
    fluid_drag(fluid, kin)
    add_drag_mass(fluid, support, kin, dt, mass.M)
    add_drive_gains(actuators, 0, 1.0, 1.0, gains[0], gains[1])
    spring_and_limit_forces(tree, passive, q, v, free)
    outside_forces(inertia, fluid, kin, inputs.wrench, f_ext)
    average_gyroscopic_torques(lone, inertia, kin, dt, f_ext)
    free_velocities(tree, support, inertia, free, f_ext, kin, mass, v, dt, bias, free)


class JointCoordinates(Coordinates):
    """The coordinates of the model itself; the only joint rows are those of loops."""

    eliminated = True

    def __init__(self, model: Model, bias: str = "midpoint") -> None:
        data = make_data(model)
        self.model = model
        self.kin, self._mass = data.kin, data.mass
        self.M, self.L = data.mass.M, data.mass.L
        self.velocity, self.free_velocity = np.zeros(model.nv), np.zeros(model.nv)
        passive = model.joint_forces
        self.drives, self.fluid = make_drives(model), make_fluid(model)
        self.drives = self.drives._replace(tendons=model.tendons._replace(limited=np.zeros_like(model.tendons.limited)))
        self.bodies_model = model
        """The model whose velocities are those of a step."""
        self.passive = passive._replace(limited=np.zeros_like(passive.limited))
        """Its joint forces without limits, which are rows."""
        self._scratch = (np.zeros((model.nlink, 6)), np.zeros((2, model.nv)), np.zeros(model.nv))
        self._limits = make_limits(model)
        tendons = self._limits.tendons.limited
        self._limited = bool(np.any(passive.limited) or np.any(passive.friction) or len(tendons))
        self.widest = widest(model, self._limits)
        self.support = model.support._replace(link_root_dof=joined_trees(model, self._limits))
        self.ahead = make_look_ahead(model, self.support, bias)
        self._start = np.zeros(model.nq)
        self._at = (self._start, 0.0)
        self._arrays: tuple[MassMatrix, Motion, Limits] | None = None
        self.loops = LoopClosure(model) if model.loops else None

    def begin(self, state: State, inputs: Inputs, dt: float) -> None:
        m = self.model
        world = (m.tree, m.support, m.inertia, self.passive, self.drives, self.fluid)
        self.velocity[:] = state.v
        begin(
            *world, inputs, state.q, state.v, dt, self.kin, self._mass, *self._scratch, self.ahead.lone,
            self.free_velocity,
        )  # fmt: skip
        self._at = (state.q, dt)
        if self.loops is not None:
            self.loops.look(self.kin, self.L)

    def bilateral(self) -> tuple[sp.csr_array, np.ndarray] | None:
        if self.loops is None:
            return None
        if self._at[0] is self._start:  # the loops of a compiled step have been looked at again at its end
            return self.loops.rows_at(self.kin, self.L)
        return self.loops.rows()

    def joint_drift(self) -> np.ndarray | None:
        return None if self.loops is None else self.loops.drift()

    @property
    def looped(self) -> bool:
        return self.loops is not None

    @property
    def converged(self) -> bool:
        return self.loops is None or self.loops.left <= CLOSED

    @property
    def joint_names(self) -> tuple[str, ...]:
        return () if self.loops is None else self.loops.names

    def joint_error(self) -> tuple[np.ndarray, np.ndarray]:
        return super().joint_error() if self.loops is None else self.loops.errors()

    @property
    def joint_rows(self) -> int:
        """Largest number of joint rows of a step."""
        return 0 if self.loops is None else len(self.loops.bilateral.work.a)

    def arrays(self, dt: float, acceleration: np.ndarray) -> tuple[MassMatrix, Motion, Limits]:
        """What a compiled step writes to. Afterwards ``limits`` gives those at the beginning of the last step."""
        self._at = (self._start, dt)
        if self._arrays is None or self._arrays[1].acceleration is not acceleration:
            motion = Motion(*self._scratch, self.free_velocity, self.velocity, self._start, acceleration, self.ahead)
            self._arrays = self._mass, motion, self._limits
        return self._arrays

    def look_ahead(self, contacts: Contacts) -> None:
        m, (q, dt), (f_ext, _, bias) = self.model, self._at, self._scratch
        look_ahead(
            m.tree, self.support, m.inertia, m.joint_forces, f_ext, self.kin, self.L, q, self.velocity, dt,
            self._limits, contacts, bias, self.ahead, self.free_velocity,
        )  # fmt: skip

    def limits(self) -> tuple[sp.csr_array, np.ndarray] | None:
        if not self._limited:
            return None
        q, dt = self._at
        start, column, value, gap, angular, bound, _ = self._limits
        m = self.model
        n, dry = joint_rows(m.tree, m.joint_forces, q, self.free_velocity, dt, self._limits)
        self.angular, self.bound = angular[:n].copy(), bound[n - dry : n].copy()
        k = start[n]
        if n == 0:
            return None
        rows = sp.csr_array((value[:k].copy(), column[:k].copy(), start[: n + 1].copy()), shape=(n, m.nv))
        return rows, gap[:n].copy()

    def finish(self, state: State, velocity: np.ndarray, dt: float) -> None:
        state.v[:] = velocity
        if self.loops is not None:
            gains = self._scratch[1]
            self.loops.finish(state.q, state.v, dt, self.L, dt * (gains[1] + dt * gains[0]))
            return
        integrate(self.model.tree, state.q, state.v, dt, state.q)
