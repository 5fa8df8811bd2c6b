"""The unknowns of a ``Layout`` as sparse matrices, for sparse problems with groups and for mixed ones."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from stickslip.methods.rigid.formulations.polygonal_cone import Layout


def normal_rows(plan: Layout, contacts: int) -> sp.csr_array:
    """(ng, 3·contacts) picks the primaries' normals."""
    ng = len(plan.primary)
    return sp.csr_array((np.ones(ng), 3 * plan.primary, np.arange(ng + 1)), shape=(ng, 3 * contacts))


def auxiliary_rows(plan: Layout, contacts: int) -> sp.csr_array:
    """(na, 3·contacts) primary's normal minus each other subcontact's."""
    na = len(plan.secondary)
    group = np.repeat(np.arange(len(plan.primary)), np.diff(plan.start))
    columns = np.stack([3 * plan.primary[group], 3 * plan.secondary], axis=1).ravel()
    return sp.csr_array((np.tile([1.0, -1.0], na), columns, 2 * np.arange(na + 1)), shape=(na, 3 * contacts))


def friction_rows(plan: Layout, contacts: int) -> sp.csr_array:
    """(n_d·nf, 3·contacts) the friction directions."""
    nf, nd = len(plan.sliding), len(plan.directions)
    first = 3 * np.repeat(plan.primary[plan.sliding], nd)
    columns = np.stack([first + 1, first + 2], axis=1).ravel()
    values = np.tile(plan.directions.ravel(), nf)
    return sp.csr_array((values, columns, 2 * np.arange(nd * nf + 1)), shape=(nd * nf, 3 * contacts))


def couplings(plan: Layout) -> tuple[sp.csr_array, sp.csr_array, sp.csr_array, sp.csr_array]:
    """E₁ (ng, na), E₂ (na, na), E (n_d·nf, nf) and U (nf, ng)."""
    sizes = np.diff(plan.start)
    ones = sp.block_diag([np.ones((1, n)) for n in sizes]) if len(sizes) else sp.csr_array((0, 0))
    lower = sp.block_diag([np.tri(n) for n in sizes if n]) if len(plan.secondary) else sp.csr_array((0, 0))
    nf, nd = len(plan.sliding), len(plan.directions)
    spread = sp.csr_array((np.ones(nd * nf), np.repeat(np.arange(nf), nd), np.arange(nd * nf + 1)), shape=(nd * nf, nf))
    mu = sp.csr_array((plan.friction[plan.sliding], plan.sliding, np.arange(nf + 1)), shape=(nf, len(plan.primary)))
    return sp.csr_array(ones), sp.csr_array(lower), spread, mu
