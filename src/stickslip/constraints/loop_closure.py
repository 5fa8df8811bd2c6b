"""Closed loops in joint coordinates: independent velocity rows for a time step, and steps that end with closed loops.

Rows. A loop often says the same thing twice (a planar four-bar closed by a point: 3 rows, and one follows from the
hinges). Solvers get rows that are independent: row i is kept where what the rows before it leave of it,
G_ii − Σ (as in a Cholesky factorisation), is above ``DEPENDENT``·G_ii. The others hold by themselves.

Closure. When a step's velocities v are known, impulses at its beginning close what would be open at its end, and others
at its end remove the loops' velocities there, both in the metric of M:

    v ← v − M⁻¹·Jᵀ·G⁺·e(q ⊕ h·v)/h      until max|e| ≤ ``CLOSED``;      v ← v − M⁻¹·Jᵀ·G⁺·J·v  at q ⊕ h·v

G⁺ (``proximal``) also serves where rows are redundant. J and G of the first are those of the step's beginning (a chord
Newton iteration). For forces that are known this is RATTLE. Contacts are not asked again: their normal velocities
change by what the loops take, of the order of h.
Reference: Andersen, "RATTLE", J. Comput. Phys. 52, 1983; Bender, Schmitt, VRIPHYS 2006.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from stickslip._jit import kernel
from stickslip.constraints.bilateral import Bilateral, assemble
from stickslip.constraints.bilateral_rows import errors, place_points, transposed_times
from stickslip.constraints.proximal import largest, proximal_solve
from stickslip.dynamics.configuration import integrate
from stickslip.dynamics.crba import composite_inertia
from stickslip.dynamics.factor import ltdl_factor, solve
from stickslip.dynamics.kinematics import forward_kinematics, forward_velocities, spatial_inertias
from stickslip.model.model import Model

DEPENDENT = 1e-9
"""The part of a row's own G_ii that must be left after the rows before it, for it to be kept."""
CLOSED = 1e-10
"""[m, rad] a loop that is open by less is closed."""
MU, TOLERANCE, MOST = 1e-8, 1e-10, 200
CORRECTIONS = 25
"""Chord Newton iterations at most."""


@kernel
def independent(G, F, keep):
    """keep (m,) 1 for rows that do not follow from kept ones before them; F (m, m) is scratch. Returns their number."""
    m, kept = G.shape[0], 0
    for i in range(m):
        keep[i] = 0
        left = G[i, i]
        for j in range(i):
            F[i, j] = 0.0
            if keep[j] != 0:
                s = G[i, j]
                for k in range(j):
                    if keep[k] != 0:
                        s -= F[i, k] * F[j, k]
                F[i, j] = s / F[j, j]
                left -= F[i, j] * F[i, j]
        if left > DEPENDENT * G[i, i]:
            keep[i] = 1
            F[i, i] = left**0.5
            kept += 1
    return kept


@kernel
def push(support, groups, L, rows, work, impulse, v):
    """v ← v − M⁻¹·Jᵀ·G⁺·``impulse`` (m,); ``work.free[0]`` is scratch."""
    proximal_solve(
        work.G, impulse, MU, TOLERANCE, MOST, work.F, work.conflict, work.force, work.scratch[0], work.scratch[1]
    )
    change = work.free[0]
    transposed_times(rows, groups, work.force, change)
    solve(support, L, change)
    for d in range(v.shape[0]):
        v[d] += change[d]


@kernel
def close(tree, support, loops, q, dt, L, kin, rows, work, v, out):
    """``out`` = q ⊕ dt·v with closed loops, and v that leads there; returns what is still open [m, rad].

    ``rows`` and ``work.G`` are those of the beginning; ``kin`` is scratch, and at ``out`` then.
    """
    groups, left = loops.constraint.shape[0], 0.0
    for k in range(CORRECTIONS + 1):
        integrate(tree, q, v, dt, out)
        forward_kinematics(tree, out, kin)
        place_points(loops, kin, work.point1, work.point2)
        errors(loops, kin, work.point1, work.point2, work.error)
        left = largest(work.error)
        if not left > CLOSED or k == CORRECTIONS:
            break
        for i in range(work.a.shape[0]):
            work.a[i] = work.error[i] / dt
        push(support, groups, L, rows, work, work.a, v)
    return left


@kernel
def still(tree, support, inertia, loops, diagonal, kin, mass, rows, work, v):
    """v ← v − M⁻¹·Jᵀ·G⁺·J·v at the poses of ``kin``; ``diagonal`` (nv,) is added to that of M."""
    forward_velocities(tree, v, kin)
    spatial_inertias(inertia, kin)
    composite_inertia(tree, support, inertia, kin, mass)
    for d in range(v.shape[0]):
        mass.M[support.start[d]] += diagonal[d]
    ltdl_factor(support, mass.M, mass.L)
    assemble(support, loops, 0.0, 0.0, kin, mass.L, rows, work)
    push(support, loops.constraint.shape[0], mass.L, rows, work, work.rate, v)


class LoopClosure:
    """The loops of a model in one time step after another."""

    def __init__(self, model: Model) -> None:
        self.model, self._bilateral = model, Bilateral(model, model.loops)
        self.names = tuple(loop.name for loop in model.loops)
        m = len(self._bilateral.work.a)
        self._keep, self._next = np.zeros(m, dtype=np.int64), np.zeros(model.nq)
        self._owner = np.repeat(np.arange(len(model.loops)), [loop.rows for loop in model.loops])
        self.left = 0.0
        """[m, rad] by how much the worst loop was open at the end of the last step."""

    def look(self, kin, L: np.ndarray) -> None:
        """Rows and errors from kinematics with velocities and the factor of M."""
        b = self._bilateral
        assemble(self.model.support, b.loops, 0.0, 0.0, kin, L, b.rows, b.work)

    def rows(self) -> tuple[sp.csr_array, np.ndarray]:
        """Independent rows (nb, nv) and their errors (nb,) [m or rad]; after ``look``."""
        b = self._bilateral
        independent(b.work.G, b.work.F, self._keep)
        kept = np.flatnonzero(self._keep)
        return sp.csr_array(b.jacobian[kept]), b.work.error[kept]

    def finish(self, q: np.ndarray, v: np.ndarray, dt: float, L: np.ndarray, diagonal: np.ndarray) -> None:
        """Move q and v (nv,), which hold the step's new velocities, in place."""
        m, b, data = self.model, self._bilateral, self._bilateral.dynamics.data
        self.left = close(m.tree, m.support, b.loops, q, dt, L, data.kin, b.rows, b.work, v, self._next)
        still(m.tree, m.support, m.inertia, b.loops, diagonal, data.kin, data.mass, b.rows, b.work, v)
        q[:] = self._next

    def errors(self) -> tuple[np.ndarray, np.ndarray]:
        """(loops,) each: the largest error in position [m or rad] and velocity [m/s or rad/s]; after ``look``."""
        work = self._bilateral.work
        worst = np.zeros((2, len(self.names)))
        np.maximum.at(worst[0], self._owner, np.abs(work.error))
        np.maximum.at(worst[1], self._owner, np.abs(work.rate))
        return worst[0], worst[1]
