"""Coordinates: how a time step sees the bodies, in joint coordinates or as free bodies with joint rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from stickslip._jit import kernel
from stickslip.collision.contacts import Contacts
from stickslip.dynamics.data import Kinematics
from stickslip.dynamics.factor import ltdl_factor, solve
from stickslip.dynamics.rnea import bias_forces
from stickslip.methods.base import Inputs
from stickslip.model.arrays import Support
from stickslip.model.model import State


@kernel
def free_velocities(tree, support, inertia, force, f_ext, kin, mass, v, dt, bias, out):
    """Factorise M, and out = v + dt·M⁻¹·(force + f_ext − bias); ``out`` may be ``force``."""
    ltdl_factor(support, mass.M, mass.L)
    bias_forces(tree, support, inertia, f_ext, kin, bias)
    for d in range(v.shape[0]):
        out[d] = dt * (force[d] - bias[d])
    solve(support, mass.L, out)
    for d in range(v.shape[0]):
        out[d] += v[d]


class Coordinates(ABC):
    """What a time step needs to know of the dynamics; nv' is the number of velocities in these coordinates.

    A step calls ``begin``, then ``bilateral``, ``soft`` and ``limits``, and, after the solver, ``hold`` and ``finish``.
    """

    eliminated: ClassVar[bool] = False
    """Whether joints are eliminated, so that the velocities are those of the state."""
    kin: Kinematics
    """Link poses, velocities and motion subspaces, by link number of the scene's model."""
    support: Support
    M: np.ndarray
    """(nnz,) packed mass matrix, with armature and implicit damping."""
    L: np.ndarray
    """(nnz,) its packed factor, M = LᵀDL."""
    velocity: np.ndarray
    """(nv',) at the beginning of the step."""
    free_velocity: np.ndarray
    """(nv',) at its end without contacts, joint rows and limits: v + M⁻¹·p_ext."""
    widest: int = 1
    """Largest number of velocities in a row of limits and dry friction, ancestors included."""
    angular: np.ndarray = np.zeros(0, dtype=np.bool_)
    """(k,) which of the last ``limits`` are angles; the others are distances."""
    bound: np.ndarray = np.zeros(0)
    """(nd,) largest impulses of dry friction, which are the last of the ``limits`` [N s or N m s]."""

    @abstractmethod
    def begin(self, state: State, inputs: Inputs, dt: float) -> None:
        """Compute kinematics, M and L, ``velocity`` and ``free_velocity`` at a state."""

    def look_ahead(self, contacts: Contacts) -> None:  # noqa: B027 - bodies without joints need no more than ``begin``
        """Let ``free_velocity`` have forces that depend on velocities in the middle of the step, where the contacts of
        the step leave that to be known."""

    def bilateral(self) -> tuple[sp.csr_array, np.ndarray] | None:
        """(rows (nb, nv'), position errors (nb,) [m or rad]); None if there are no joint rows."""
        return None

    def joint_drift(self) -> np.ndarray | None:
        """(nb,) how fast what the joint rows hold is moved from outside [m/s, rad/s]; None if nothing is."""
        return None

    def soft(self) -> tuple[sp.csr_array, np.ndarray, np.ndarray] | None:
        """(rows (ns, nv'), compliance (ns,), target (ns,)) of soft bilateral rows, r·v⁺ + C·λ = t; None if there are
        none."""
        return None

    def hardened_velocity(self) -> np.ndarray:
        """(nv',) the free velocity for problems without soft rows: what these do in a step without contacts counts as
        an external impulse."""
        return self.free_velocity

    def joint_solver(self) -> Callable[[np.ndarray], np.ndarray | None] | None:
        """right (nb, k) ↦ (G·M⁻¹·Gᵀ + C)⁻¹·right of the bilateral rows, soft ones last, if there is a faster way than
        by its matrix; the function returns None once the step is over."""
        return None

    def limits(self) -> tuple[sp.csr_array, np.ndarray] | None:
        """(rows (k, nv'), gaps (k,) [m or rad]) of joint limits that are near, unilateral and without friction, then of
        dry friction, whose gaps mean nothing."""
        return None

    def hold(self, rows: sp.csr_array) -> None:  # noqa: B027 - only coordinates that correct themselves need it
        """Take the normal rows (k, nv') of contacts that carry impulses: corrections in ``finish`` leave their
        velocities alone."""

    def at_beginning(self) -> AbstractContextManager[None]:
        """A context with kinematics and rows of the beginning of the last step, where compiled steps left those of its
        end."""
        return nullcontext()

    @property
    def looped(self) -> bool:
        """Whether joint rows close loops."""
        return False

    @property
    def converged(self) -> bool:
        """Whether the last ``finish`` reached its tolerance."""
        return True

    @abstractmethod
    def finish(self, state: State, velocity: np.ndarray, dt: float) -> None:
        """Move ``state``, whose q and v are always joint coordinates, by the new velocity (nv',)."""

    def memory(self) -> dict[str, np.ndarray]:
        """The arrays that belong to snapshots."""
        return {}

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints of ``joint_error``."""
        return ()

    def joint_error(self) -> tuple[np.ndarray, np.ndarray]:
        """Largest violation of each joint, in position [m or rad] and in velocity [m/s or rad/s]."""
        return np.zeros(0), np.zeros(0)
