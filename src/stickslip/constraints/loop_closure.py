"""Closed loops in joint coordinates: independent velocity rows for a time step, and steps that end with closed loops.

Rows: A loop often has redundant rows (a planar four-bar linkage closed at a point has 3 rows, one of which follows from
the hinges). Solvers get independent rows only: row i is kept if its remainder G_ii − Σ after the rows before it, as in
a Cholesky factorisation, exceeds ``DEPENDENT``·G_ii. The other rows are satisfied along with them.

Closure: Once a step's velocities v are known, impulses at its beginning close the loops at its end, and impulses at its
end remove the velocity errors there, both in the metric of M:

    v ← v − M⁻¹·Jᵀ·G⁺·e(q ⊕ h·v)/h      until max|e| ≤ ``CLOSED``;      v ← v − M⁻¹·Jᵀ·G⁺·J·v  at q ⊕ h·v

G⁺ (``proximal``) also works for redundant rows. The first correction uses J and G of the step's beginning (a chord
Newton iteration). For given forces this is RATTLE. Contacts are not solved again: the correction changes their normal
velocities by an amount of the order of h.
Reference: Andersen, "RATTLE", J. Comput. Phys. 52, 1983; Bender, Schmitt, VRIPHYS 2006.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from stickslip._jit import kernel
from stickslip.constraints.bilateral import Bilateral, assemble
from stickslip.constraints.bilateral_rows import drift_of, errors, place_points, rates, transposed_times
from stickslip.constraints.proximal import largest, proximal_solve
from stickslip.dynamics.configuration import integrate
from stickslip.dynamics.crba import composite_inertia
from stickslip.dynamics.factor import ltdl_factor, solve
from stickslip.dynamics.kinematics import forward_kinematics, forward_velocities, spatial_inertias
from stickslip.model.loops import Constraint, Coupling
from stickslip.model.model import Model

DEPENDENT = 1e-9
"""Fraction of a row's G_ii that must remain after the rows before it for the row to be kept."""
CLOSED = 1e-10
"""Error below which a loop counts as closed [m, rad]."""
MU, TOLERANCE, MOST = 1e-8, 1e-10, 200
CORRECTIONS = 25
"""Largest number of chord Newton iterations."""


@kernel
def independent(G, F, keep):
    """Set keep (m,) to 1 for rows independent of those kept before them; F (m, m) is scratch. Returns their number."""
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
def error_after(tree, loops, q, dt, kin, work, v, out):
    """The largest error of the loops [m, rad] at ``out`` = q ⊕ dt·v; all of them are in ``work.error``."""
    integrate(tree, q, v, dt, out)
    forward_kinematics(tree, out, kin)
    place_points(loops, kin, work.point1, work.point2)
    errors(loops, kin, work.point1, work.point2, work.error)
    return largest(work.error)


@kernel
def close(tree, support, loops, q, dt, L, kin, rows, work, v, out):
    """Change v so that the loops are closed at ``out`` = q ⊕ dt·v; returns the remaining error [m, rad].

    ``rows`` and ``work.G`` are those of the step's beginning; ``kin`` is scratch and ends at ``out``. A correction that
    makes the error larger, because the loop is out of reach, is taken back, and is the last one.
    """
    groups, left = loops.constraint.shape[0], 0.0
    for k in range(CORRECTIONS + 1):
        before, left = left, error_after(tree, loops, q, dt, kin, work, v, out)
        if k > 0 and not left < before and before > CLOSED:
            for d in range(v.shape[0]):
                v[d] -= work.free[0, d]
            left = error_after(tree, loops, q, dt, kin, work, v, out)
            break
        if not left > CLOSED or k == CORRECTIONS:
            break
        for i in range(work.a.shape[0]):
            work.a[i] = work.error[i] / dt
        push(support, groups, L, rows, work, work.a, v)
    return left


@kernel
def still(tree, support, inertia, loops, diagonal, kin, mass, rows, work, v):
    """v ← v − M⁻¹·Jᵀ·G⁺·J·v at the poses of ``kin``; ``diagonal`` (nv,) is added to the diagonal of M."""
    forward_velocities(tree, v, kin)
    spatial_inertias(inertia, kin)
    composite_inertia(tree, support, inertia, kin, mass)
    for d in range(v.shape[0]):
        mass.M[support.start[d]] += diagonal[d]
    ltdl_factor(support, mass.M, mass.L)
    assemble(support, loops, 0.0, 0.0, kin, mass.L, rows, work)
    push(support, loops.constraint.shape[0], mass.L, rows, work, work.rate, v)


class LoopClosure:
    """The loops of a model during time stepping."""

    def __init__(self, model: Model) -> None:
        self.model, self.bilateral = model, Bilateral(model, model.loops)
        self.names = tuple(loop.name for loop in model.loops)
        m = len(self.bilateral.work.a)
        self._keep, self._next = np.zeros(m, dtype=np.int64), np.zeros(model.nq)
        self.left = 0.0
        """Largest error of a loop at the end of the last step [m, rad]."""

    def look(self, kin, L: np.ndarray) -> None:
        """Compute rows and errors from kinematics, velocities and the factor L of M."""
        b = self.bilateral
        assemble(self.model.support, b.loops, 0.0, 0.0, kin, L, b.rows, b.work)

    def rows(self) -> tuple[sp.csr_array, np.ndarray]:
        """Independent rows (nb, nv) and their errors (nb,) [m or rad]; after ``look``."""
        b = self.bilateral
        independent(b.work.G, b.work.F, self._keep)
        kept = np.flatnonzero(self._keep)
        return sp.csr_array(b.jacobian[kept]), b.work.error[kept]

    def drift(self) -> np.ndarray:
        """(nb,) velocities of frames that are moved from outside in these rows [m/s, rad/s]; after ``rows``."""
        return np.array([drift_of(self.bilateral.loops, int(i)) for i in np.flatnonzero(self._keep)])

    def rows_at(self, kin, L: np.ndarray) -> tuple[sp.csr_array, np.ndarray]:
        """``rows`` of other kinematics than those looked at last; errors and rates stay those of the last look."""
        work = self.bilateral.work
        error, rate = work.error.copy(), work.rate.copy()
        self.look(kin, L)
        found = self.rows()
        work.error[:], work.rate[:] = error, rate
        return found

    def finish(self, q: np.ndarray, v: np.ndarray, dt: float, L: np.ndarray, diagonal: np.ndarray) -> None:
        """Advance q with the step's new velocities v (nv,) and close the loops; q and v change in place."""
        m, b, data = self.model, self.bilateral, self.bilateral.dynamics.data
        self.left = close(m.tree, m.support, b.loops, q, dt, L, data.kin, b.rows, b.work, v, self._next)
        still(m.tree, m.support, m.inertia, b.loops, diagonal, data.kin, data.mass, b.rows, b.work, v)
        q[:] = self._next

    def measure(self, kin) -> None:
        """Compute the errors alone, from kinematics and velocities."""
        loops, work = self.bilateral.loops, self.bilateral.work
        place_points(loops, kin, work.point1, work.point2)
        errors(loops, kin, work.point1, work.point2, work.error)
        rates(loops, kin, work.point1, work.point2, work.rate, work.gamma)

    def errors(self) -> tuple[np.ndarray, np.ndarray]:
        """(loops,) each: the largest error in position [m or rad] and velocity [m/s or rad/s]; after ``look``."""
        work = self.bilateral.work
        return worst_per_loop(self.model.loops, work.error), worst_per_loop(self.model.loops, work.rate)


def worst_per_loop(loops: Sequence[Constraint | Coupling], rows: np.ndarray) -> np.ndarray:
    """(loops,) the largest |rows| of each loop; the rows of the loops come first."""
    worst = np.zeros(len(loops))
    owner = np.repeat(np.arange(len(loops)), [loop.rows for loop in loops])
    np.maximum.at(worst, owner, np.abs(rows[: len(owner)]))
    return worst
