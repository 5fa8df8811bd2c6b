"""Assembler: from contacts, kinematics and the factored mass matrix to ``Matrices``.

The Delassus matrix is dense if it has few rows or is mostly full, otherwise CSR: bodies that do not share contacts do
not couple, and the cost grows in proportion to the contacts. Near joint limits follow the contacts, as contacts without
friction and with empty tangential rows; then dry friction of joints, as contacts with an empty normal and an empty
second tangent. The diagonal of an empty normal is that of the first tangent.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from stickslip.collision.contacts import ADHESION, DAMPING, FRICTION, RESTITUTION, STIFFNESS, ContactList
from stickslip.dynamics.data import Kinematics
from stickslip.dynamics.delassus import make_contact_rows
from stickslip.dynamics.factor import solve
from stickslip.methods.rigid.assembly.constraint_rows import (
    contact_rows,
    count_spins,
    coupled,
    dense_product,
    pack_contacts,
    pack_rows,
    push,
    scale_columns,
    speeds,
    spin_rows,
    unpack_mass,
)
from stickslip.methods.rigid.assembly.matrices import FIRST_DRY, FIRST_SPIN, Matrices
from stickslip.model.arrays import Support
from stickslip.solvers.storage import FULL, SMALL

FEW = 60
"""Largest number of velocities for which BLAS multiplies many rows."""

Rows = tuple[sp.csr_array, np.ndarray]
"""(rows (k, nv) CSR, a number per row (k,))."""
Soft = tuple[sp.csr_array, np.ndarray, np.ndarray]
"""(rows (k, nv) CSR, compliance (k,), target (k,)); see ``Matrices``."""


class Dynamics(NamedTuple):
    """The bodies of a time step."""

    support: Support
    kin: Kinematics
    M: np.ndarray
    """(nnz,) packed mass matrix."""
    L: np.ndarray
    """(nnz,) its packed factor."""
    velocity: np.ndarray
    """(nv,) at the beginning of the step."""
    free_velocity: np.ndarray
    """(nv,) at its end without contacts, joint rows and limits."""


class Assembler:
    """Makes the matrices of one time step after another, for one model."""

    def __init__(self, support: Support) -> None:
        nv = len(support.dof_link)
        self.support = support
        self._rows = make_contact_rows(support, 16)
        self._x, self._found, self._counts = np.zeros(nv), np.zeros(nv, dtype=np.int64), np.zeros(nv, dtype=np.int64)

    def assemble(
        self,
        bodies: Dynamics,
        contacts: ContactList,
        dt: float,
        bilateral: Rows | None = None,
        limits: Rows | None = None,
        groups: np.ndarray | None = None,
        soft: Soft | None = None,
        bound: np.ndarray | None = None,
        drift: np.ndarray | None = None,
    ) -> Matrices:
        """The matrices of joint rows (with position errors), soft rows, contacts, limits (with gaps) and dry friction,
        in this order; ``bound`` (nd,) says that the last of the limits are dry friction with these largest impulses,
        and ``drift`` (nh,) how fast what joint rows hold moves by itself [m/s, rad/s]."""
        arrays, nc = contacts.arrays, len(contacts)
        nh = 0 if bilateral is None else len(bilateral[1])
        nb = nh if soft is None else nh + len(soft[1])
        nl = 0 if limits is None else len(limits[1])
        nd = 0 if bound is None or limits is None else len(bound)
        ns = count_spins(arrays, nc)
        if nc + ns > len(self._rows.length):
            self._rows = make_contact_rows(self.support, max(nc + ns, 2 * len(self._rows.length)))
        size = 3 * contact_rows(self.support, bodies.L, bodies.kin, arrays, nc, self._rows)
        owner, factor, spin = np.zeros(nc + ns, dtype=np.int64), np.zeros(nc + ns), np.zeros(nc + ns, dtype=np.int64)
        spin_rows(self.support, bodies.L, bodies.kin, arrays, nc, nc, self._rows, owner, factor, spin)
        size += 3 * int(self._rows.length[nc : nc + ns].sum())
        for given in (bilateral, soft, limits):
            size += 0 if given is None else int(np.diff(self.support.start)[given[0].indices].sum())
        m = nb + 3 * (nc + nl + ns)
        start, column = np.zeros(m + 1, dtype=np.int64), np.empty(size, dtype=np.int64)
        J, Y = np.empty(size), np.empty(size)
        packed = (start, column, J, Y)
        if bilateral is not None and nh:
            self._pack(bodies, bilateral[0], 0, 0, 0, *packed)
        if soft is not None and nb > nh:
            self._pack(bodies, soft[0], 0, 0, nh, *packed)
        pack_contacts(self._rows, 0, nc, nb, *packed)
        if limits is not None and nl:
            self._pack(bodies, limits[0][: nl - nd], 0, 2, nb + 3 * nc, *packed)
            self._pack(bodies, limits[0][nl - nd :], 1, 1, nb + 3 * (nc + nl - nd), *packed)
        pack_contacts(self._rows, nc, nc + ns, nb + 3 * (nc + nl), *packed)
        n = int(start[m])
        column, J = column[:n], J[:n]
        approach, free = np.empty(m), np.empty(m)
        speeds(start, column, J, bodies.velocity, approach)
        speeds(start, column, J, bodies.free_velocity, free)
        surface = np.zeros(m)
        surface[nb : nb + 3 * nc] = arrays.surface[:nc, :3].ravel()
        surface[nb + 3 * (nc + nl) :] = _spinning(arrays.surface, owner[nc:], spin[nc:]).ravel()
        if drift is not None:
            surface[:nh] = -drift
        approach += surface
        free += surface
        material = arrays.material[:nc]
        friction, restitution = material[:, FRICTION].copy(), material[:, RESTITUTION].copy()
        stiffness, damping = material[:, STIFFNESS].copy(), material[:, DAMPING].copy()
        gap, pair = arrays.gap[:nc].copy(), arrays.pair[:nc].copy()
        if nl + ns:
            gap = np.concatenate([gap, limits[1] if limits is not None else np.zeros(0), np.zeros(ns)])
            nothing = np.zeros(nl + ns)
            friction, restitution, damping = (np.concatenate([v, nothing]) for v in (friction, restitution, damping))
            stiffness = np.concatenate([stiffness, np.full(nl + ns, np.inf)])
            friction[nc + nl - nd :] = 1.0
            pair = np.concatenate([pair, -2 - np.arange(nl - nd), FIRST_DRY - np.arange(nd), spin[nc:]])
            if groups is not None:
                groups = np.concatenate([groups, groups[-1] + 1 + np.arange(nl + ns)])
        violation, compliance, target = np.zeros((3, nb))
        if bilateral is not None:
            violation[:nh] = bilateral[1]
        if soft is not None:
            compliance[nh:], target[nh:] = soft[1], soft[2]
        M, L = bodies.M.copy(), bodies.L.copy()  # the next step overwrites them, and these matrices may be kept
        shape = (m, len(bodies.velocity))
        W = self._product(bodies.L, m, start, column, Y, n)
        diagonal = np.zeros(m)
        diagonal[:nb] = compliance
        normals = nb + 3 * np.arange(nc + nl - nd, nc + nl + ns)
        diagonal[normals] = W.diagonal()[normals + 1]
        return Matrices(
            dt=dt,
            mass=lambda: self._mass(M),
            rows=lambda: sp.csr_array((J, column, start), shape=shape),
            bilateral=nb,
            delassus=_with_diagonal(W, diagonal),
            velocity=bodies.velocity.copy(),
            free_velocity=bodies.free_velocity.copy(),
            gap=gap,
            friction=friction,
            restitution=restitution,
            stiffness=stiffness,
            damping=damping,
            violation=violation,
            compliance=compliance,
            target=target,
            groups=groups,
            limits=nl + ns,
            dry=np.concatenate([np.zeros(0) if bound is None else bound[:nd], np.zeros(ns)]),
            owner=owner[nc:],
            factor=factor[nc:],
            pair=pair,
            approach=approach,
            free=free,
            respond=lambda impulses: self._respond(L, start, column, J, impulses),
            surface=surface,
        )

    def pulled(self, c, contacts: ContactList, dt: float) -> np.ndarray:
        """(nv,) the free velocity of coordinates c with the adhesion of contacts: −a·dt along their normals."""
        arrays, nc = contacts.arrays, len(contacts)
        adhesion = arrays.material[:nc, ADHESION]
        if not adhesion.any():
            return c.free_velocity
        if nc > len(self._rows.length):
            self._rows = make_contact_rows(self.support, max(nc, 2 * len(self._rows.length)))
        contact_rows(self.support, c.L, c.kin, arrays, nc, self._rows)
        change = np.zeros(len(self._x))
        for k, a in enumerate(adhesion):
            n = self._rows.length[k]
            np.subtract.at(change, self._rows.dofs[k, :n], dt * a * self._rows.J[k, :n, 0])
        solve(self.support, c.L, change)
        return c.free_velocity + change

    def _pack(self, bodies, rows, ahead: int, spaced: int, first: int, start, column, J, Y) -> None:
        given = (rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data)
        pack_rows(self.support, bodies.L, *given, ahead, spaced, first, start, column, J, Y, self._x, self._found)

    def _product(self, L, m: int, start, column, Y, n: int):
        if m <= SMALL or coupled(start, column, m, self._counts) >= FULL * m * m:
            if m <= SMALL or len(self._x) > FEW:
                W = np.empty((m, m))
                dense_product(self.support, L, start, column, Y, self._x, W)
                return W
            scale_columns(self.support, L, column, Y, n)
            narrow = sp.csr_array((Y[:n], column, start), shape=(m, len(self._x))).toarray()
            return narrow @ narrow.T  # BLAS: many rows of few velocities
        scale_columns(self.support, L, column, Y, n)
        scaled = sp.csr_array((Y[:n], column, start), shape=(m, len(self._x)))
        return sp.csr_array(scaled @ scaled.T)

    def _mass(self, M: np.ndarray) -> sp.csr_array:
        nv = len(self._x)
        start = np.empty(nv + 1, dtype=np.int64)
        column, value = np.empty(2 * len(M) - nv, dtype=np.int64), np.empty(2 * len(M) - nv)
        unpack_mass(self.support, M, start, column, value)
        return sp.csr_array((value, column, start), shape=(nv, nv))

    def _respond(self, L, start, column, J, impulses: np.ndarray) -> np.ndarray:
        change = np.empty(len(self._x))
        push(start, column, J, impulses, change)
        solve(self.support, L, change)
        return change


def _spinning(surface: np.ndarray, owner: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """(ns, 3) velocities of blocks of torsional and rolling friction by moving surfaces [rad/s]; see ``spin_rows``."""
    found = np.zeros((len(owner), 3))
    rolling = (ids - FIRST_SPIN) % 2 == 1
    found[~rolling, 1], found[rolling, 1:] = surface[owner[~rolling], 3], surface[owner[rolling], 4:6]
    return found


def _with_diagonal(W, diagonal: np.ndarray):
    """W with more on its diagonal: the compliance of bilateral rows, and the masses of empty normals."""
    if not diagonal.any():
        return W
    if sp.issparse(W):
        return sp.csr_array(W + sp.diags_array(diagonal))
    W[np.diag_indices(len(W))] += diagonal
    return W
