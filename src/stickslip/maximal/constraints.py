"""Constraints: the joints of a model as bilateral constraints between free bodies, and corrections by impulses.

``rows`` and ``violation`` are G (nb, nv) and g (nb,) at the last poses given to ``look``; ``correct(r)`` returns the
change of velocity u = M⁻¹·Gᵀ·λ with G·u = r. Soft rows (``maximal.soft_rows``) belong to the same system; they follow
the nb rigid rows. ``maximal.joint_system`` has the system and its solution in linear time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from stickslip.dynamics.data import Kinematics
from stickslip.errors import InputError
from stickslip.maximal.elimination import OK
from stickslip.maximal.graph import spanning_forest
from stickslip.maximal.joint_system import factor_system, make_system, solve_system_rows
from stickslip.maximal.joints import Joint, build_joints
from stickslip.maximal.pair_rows import PairRows
from stickslip.maximal.rows import body_rows, joint_errors, largest_per_joint, times_velocity
from stickslip.maximal.soft_rows import SoftRows
from stickslip.model.model import Model


class Constraints:
    """The joints of ``model`` and extra ones, as constraints on the kinematics and mass matrix of the cut model.

    The caller keeps ``soft`` up to date.
    """

    def __init__(
        self, model: Model, cut_model: Model, extra: Sequence[Joint] = (), soft: SoftRows | None = None
    ) -> None:
        self.joints, self.names, self.kinds = build_joints(model, extra)
        self.support, self.dof_link = cut_model.support, model.support.dof_link
        self.soft = SoftRows(model) if soft is None else soft
        self.forest = spanning_forest(self.joints, model.nlink)
        self.system = make_system(self.joints, self.forest, model.nlink, model.nv)
        nb, nv = len(self.joints.joint), 6 * (model.nlink - 1)
        self.G = np.zeros((nb, 12))
        """(nb, 12) rows over the velocities of link 1, then of link 2."""
        self.violation = np.zeros(nb)
        """(nb,) g [m or rad]."""
        self.impulse = np.zeros(nb)
        """(nb + ns,) λ of the last correction [N s or N m s]."""
        self.looks, self.factorised = 0, False
        """Number of calls of ``look``, and whether ``factorise`` was called after the last one."""
        self.zeros = np.zeros(nb + model.nv)
        """(nb + nv,) zeros."""
        self._rate, self._nv = np.zeros(nb), nv
        j = self.joints
        self._pairs = PairRows(j.link1[j.joint], j.link2[j.joint], nv)

    @property
    def size(self) -> int:
        """nb + ns."""
        return len(self.G) + len(self.soft)

    def look(self, kin: Kinematics) -> None:
        """Compute errors and rows at the poses of ``kin``."""
        self.looked()
        joint_errors(self.joints, kin, self.violation)
        body_rows(self.joints, kin, self.G)

    def looked(self) -> None:
        """Count a look, after which there is no factor; for those who compute errors and rows themselves."""
        self.looks += 1
        self.factorised = False

    @property
    def rows(self) -> sparse.csr_matrix:
        """(nb, nv) G; every call returns the same object with new values."""
        return self._pairs.matrix(self.G)

    def factorise(self, M: np.ndarray) -> None:
        """Prepare corrections with the packed mass matrix M of the cut model."""
        soft = self.soft
        self.check(
            factor_system(self.system, self.G, soft.arrays, soft.all_rates, self.dof_link, self.support, M, self.zeros)
        )
        self.factorised = True

    def check(self, code: int) -> None:
        """Raise an error unless the system has a factor."""
        if code != OK:
            raise InputError(
                "maximal coordinates: expected bodies with mass and inertia, got one without; "
                "give every body a mass, or use joint coordinates"
            )

    def solve(self, f: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """u (k, nv), λ (k, nb + ns) with M·u = f + Gᵀ·λ and G·u + C·λ = right for f (k, nv) and right (k, nb + ns).
        Rigid rows come before soft ones. Rows of loops get the smallest λ."""
        u, impulses = np.empty(f.shape), np.empty(right.shape)
        solve_system_rows(self.system, f, np.ascontiguousarray(right), u, impulses)
        return u, impulses

    def correct(self, r: np.ndarray, soft: np.ndarray | None = None) -> np.ndarray:
        """(nv,) u with G·u = r (nb,) by impulses in the joints; soft rows have r·u + C·λ = ``soft`` (ns,), default
        zero. The impulses are stored in ``impulse``."""
        soft = np.zeros(len(self.soft)) if soft is None else soft
        u, impulse = self.solve(np.zeros((1, self._nv)), np.concatenate([r, soft])[None])
        self.impulse = impulse[0]
        return u[0]

    def impulses(self, right: np.ndarray) -> np.ndarray:
        """(nb + ns, k) (G·M⁻¹·Gᵀ + C)⁻¹·right for right (nb + ns, k)."""
        return self.solve(np.zeros((right.shape[1], self._nv)), right.T)[1].T

    def velocity_errors(self, V: np.ndarray) -> np.ndarray:
        """(nb,) G·V [m/s or rad/s]."""
        times_velocity(self.joints, self.G, V, self._rate)
        return self._rate

    def per_joint(self, rows: np.ndarray) -> np.ndarray:
        """(nj,) the largest absolute value of each joint's rows."""
        out = np.zeros(len(self.joints.link1))
        largest_per_joint(self.joints, rows, out)
        return out
