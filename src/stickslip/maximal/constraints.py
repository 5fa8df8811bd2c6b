"""Constraints: the joints of a model as bilateral constraints between free bodies, and corrections by impulses.

``rows`` and ``violation`` are G (nb, nv) and g (nb,) at the last poses given to ``look``; ``correct(r)`` returns the
change of velocity u = M⁻¹·Gᵀ·λ with G·u = r. Soft rows (``maximal.soft_rows``) belong to the same system; they follow
the nb rigid rows. Joints of a spanning forest are eliminated in linear time (``maximal.elimination``). Loops are added
by their dense Schur complement S = g·K·gᵀ, where g are the rows of the joints that close loops and K is the response of
the forest with its joints enforced.

A loop may have redundant rows (a planar four-bar linkage with four hinges has 20 rows for 18 velocities and still
moves). S is then singular. Its eigenvalues below ``REDUNDANT`` of the largest count as zero, so that redundant rows
share the load with the smallest impulses.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from stickslip.dynamics.data import Kinematics
from stickslip.errors import InputError
from stickslip.maximal.elimination import OK, factor_forest, make_factor, solve_forest_rows
from stickslip.maximal.graph import spanning_forest
from stickslip.maximal.joints import Joint, build_joints
from stickslip.maximal.pair_rows import PairRows
from stickslip.maximal.rows import body_rows, joint_errors, largest_per_joint, times_velocity
from stickslip.maximal.soft_rows import SoftRows
from stickslip.model.model import Model

REDUNDANT = 1e-9
"""Eigenvalues of a loop's matrix below this fraction of the largest belong to redundant rows."""


class Constraints:
    """The joints of ``model`` and extra ones, as constraints on the kinematics and mass matrix of the cut model.

    The caller keeps ``soft`` up to date.
    """

    def __init__(
        self, model: Model, cut_model: Model, extra: Sequence[Joint] = (), soft: SoftRows | None = None
    ) -> None:
        self.joints, self.names, self.kinds = build_joints(model, extra)
        self.support = cut_model.support
        self.soft = SoftRows(model, model.joint_forces) if soft is None else soft
        self.forest = spanning_forest(self.joints, model.nlink)
        nb, nv = len(self.joints.joint), 6 * (model.nlink - 1)
        self.G = np.zeros((nb, 12))
        """(nb, 12) rows over the velocities of link 1, then of link 2."""
        self.violation = np.zeros(nb)
        """(nb,) g [m or rad]."""
        self.impulse = np.zeros(nb)
        """(nb + ns,) λ of the last correction [N s or N m s]."""
        self.looks, self.factorised = 0, False
        """Number of calls of ``look``, and whether ``factorise`` was called after the last one."""
        self._factor, self._rate, self._nv = make_factor(model.nlink), np.zeros(nb), nv
        j = self.joints
        self._pairs = PairRows(j.link1[j.joint], j.link2[j.joint], nv)
        self._joint_of = np.full(model.nlink, -1, dtype=np.int64)
        self._joint_of[j.link2[::-1]] = np.arange(len(j.link2))[::-1]  # the tree's joints are the first ones
        loops = [np.arange(j.start[k], j.start[k + 1]) for k in self.forest.loops]
        self._loop_rows = np.concatenate(loops) if loops else np.zeros(0, dtype=np.int64)
        self._response, self._loop_impulse = np.zeros((0, nv)), np.zeros((0, nb))
        self._loop_inverse = np.zeros((0, 0))
        self._arrange()

    def _arrange(self) -> None:
        """Order the rows by joint, rigid rows before soft ones: the order of elimination."""
        j, self._arranged = self.joints, self.soft.dof
        owner = np.concatenate([j.joint, self._joint_of[self.soft.link[self._arranged]]])
        order = np.argsort(owner, kind="stable")
        self._start = np.searchsorted(owner[order], np.arange(len(j.link1) + 1))
        self._place = np.empty(len(order), dtype=np.int64)  # position of each row in that order
        self._place[order] = np.arange(len(order))
        self._ordered, self._compliance = np.zeros((len(order), 12)), np.zeros(len(order))

    def look(self, kin: Kinematics) -> None:
        """Compute errors and rows at the poses of ``kin``."""
        self.looks += 1
        self.factorised = False
        joint_errors(self.joints, kin, self.violation)
        body_rows(self.joints, kin, self.G)

    @property
    def rows(self) -> sparse.csr_matrix:
        """(nb, nv) G; every call returns the same object with new values."""
        return self._pairs.matrix(self.G)

    def factorise(self, M: np.ndarray) -> None:
        """Prepare corrections with the packed mass matrix M of the cut model."""
        if self._arranged is not self.soft.dof:
            self._arrange()
        nb = len(self.G)
        self._ordered[self._place[:nb]] = self.G
        self._ordered[self._place[nb:]] = self.soft.rates
        self._compliance[self._place[nb:]] = self.soft.compliance
        if (
            factor_forest(self._start, self.forest, self.support, M, self._ordered, self._compliance, self._factor)
            != OK
        ):
            raise InputError(
                "maximal coordinates: expected bodies with mass and inertia, got one without; "
                "give every body a mass, or use joint coordinates"
            )
        self.factorised = True
        loop = self._loop_rows
        if not len(loop):
            return
        rows = self.rows[loop]
        self._response, self._loop_impulse = self._forest(rows.toarray(), np.zeros((len(loop), len(self._place))))
        S = rows @ self._response.T
        value, vector = np.linalg.eigh(0.5 * (S + S.T))
        kept = value > REDUNDANT * value[-1]
        self._loop_inverse = (vector[:, kept] / value[kept]) @ vector[:, kept].T

    def _forest(self, f: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Velocities (k, nv) and impulses (k, nb + ns) of the forest without loops. ``f`` (k, nv) are impulses on the
        bodies, ``right`` (k, nb + ns) right-hand sides of the rows."""
        ordered = np.empty(right.shape)
        ordered[:, self._place] = right
        u, impulses = np.empty(f.shape), np.empty(right.shape)
        solve_forest_rows(self._start, self.forest, self._ordered, self._factor, f, ordered, u, impulses)
        return u, impulses[:, self._place]

    def solve(self, f: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """u (k, nv), λ (k, nb + ns) with M·u = f + Gᵀ·λ and G·u + C·λ = right for f (k, nv) and right (k, nb + ns).
        Rigid rows come before soft ones. Rows of loops get the smallest λ."""
        u, impulses = self._forest(f, right)
        loop = self._loop_rows
        if len(loop):
            push = (right[:, loop] - u @ self.rows[loop].T) @ self._loop_inverse
            u += push @ self._response
            impulses += push @ self._loop_impulse
            impulses[:, loop] += push
        return u, impulses

    def correct(self, r: np.ndarray, soft: np.ndarray | None = None) -> np.ndarray:
        """(nv,) u with G·u = r (nb,) by impulses in the joints; soft rows have r·u + C·λ = ``soft`` (ns,), default
        zero. The impulses are stored in ``impulse``."""
        soft = np.zeros(len(self.soft.dof)) if soft is None else soft
        u, impulse = self.solve(np.zeros((1, self._nv)), np.concatenate([r, soft])[None])
        self.impulse = impulse[0]
        return u[0]

    def respond(self, f: np.ndarray) -> np.ndarray:
        """(k, nv) velocities due to impulses f (k, nv) on the bodies, with the joints enforced."""
        return self.solve(f, np.zeros((len(f), len(self._place))))[0]

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
