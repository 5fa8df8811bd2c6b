"""The LCP of contacts with a polygonal friction cone, dense or CSR.

It is (7) of Williams et al., with the rows of (6) for groups of subcontacts. u = W·p + b are the contacts' velocities:

    0 ≤ p_n ⟂ u_n + E₁·c_a                   ≥ 0      u_n of primary subcontacts
    0 ≤ c_a ⟂ u_n(primary) − u_n(k) + E₂·c_a ≥ 0      k: each other subcontact of the group
    0 ≤ β   ⟂ Dᵀ·u_t + E·s                   ≥ 0
    0 ≤ s   ⟂ μ·p_n − Eᵀ·β                   ≥ 0

Size: ng + na + (n_d + 1)·nf, with ng groups (or contacts), na further subcontacts and nf contacts with friction.
Differs from the paper in: contacts with μ = 0 have neither β nor s.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from stickslip._jit import kernel
from stickslip.methods.rigid.formulations.polygonal_blocks import auxiliary_rows, couplings, friction_rows, normal_rows
from stickslip.methods.rigid.formulations.polygonal_cone import Layout
from stickslip.solvers.problem import LinearProblem


def contact_lcp(W, b: np.ndarray, plan: Layout, blocks: bool = True) -> LinearProblem:
    """The LCP of contacts with W (3nc, 3nc) dense or CSR and b (3nc,); ``blocks``: whether it names them."""
    n = sum(plan.sizes)
    q = np.empty(n)
    if sp.issparse(W) and not len(plan.secondary):
        A = _sparse(W, b, plan, q)
    elif sp.issparse(W):
        A = _sparse_groups(W, b, plan, q)
    else:
        A = np.empty((n, n))
        lcp_dense(W, b, plan.primary, plan.secondary, plan.start, plan.friction, plan.sliding, plan.directions, A, q)
    return LinearProblem(A, q, blocks=plan.blocks() if blocks else (), labels=plan.labels())


@kernel
def lcp_dense(W, b, primary, secondary, start, friction, sliding, D, A, q):
    """A and q of the LCP above."""
    ng, na, nf, nd = primary.shape[0], secondary.shape[0], sliding.shape[0], D.shape[0]
    f, s = ng + na, ng + na + nd * nf
    for i in range(s + nf):
        for j in range(s + nf):
            A[i, j] = 0.0
    lcp_vector(b, primary, secondary, start, sliding, D, q)
    for g in range(ng):
        i = 3 * primary[g]
        fill_row(W, i, i, 1.0, 0.0, primary, sliding, D, f, A, g)
        for a in range(start[g], start[g + 1]):
            A[g, ng + a] = 1.0
            k = 3 * secondary[a]
            fill_row(W, i, k, 1.0, -1.0, primary, sliding, D, f, A, ng + a)
            for e in range(start[g], a + 1):
                A[ng + a, ng + e] = 1.0
    for r in range(nf):
        i = 3 * primary[sliding[r]]
        for k in range(nd):
            row = f + nd * r + k
            fill_row(W, i + 1, i + 2, D[k, 0], D[k, 1], primary, sliding, D, f, A, row)
            A[row, s + r] = 1.0
            A[s + r, row] = -1.0
        A[s + r, sliding[r]] = friction[sliding[r]]


@kernel
def lcp_vector(b, primary, secondary, start, sliding, D, q):
    """q of the LCP above, without its matrix."""
    ng, na, nf, nd = primary.shape[0], secondary.shape[0], sliding.shape[0], D.shape[0]
    f = ng + na
    for g in range(ng):
        q[g] = b[3 * primary[g]]
        for a in range(start[g], start[g + 1]):
            q[ng + a] = q[g] - b[3 * secondary[a]]
    for r in range(nf):
        i = 3 * primary[sliding[r]]
        for k in range(nd):
            q[f + nd * r + k] = D[k, 0] * b[i + 1] + D[k, 1] * b[i + 2]
        q[f + nd * nf + r] = 0.0


@kernel
def residual_at_rest(q, start, sliding, nd, z):
    """‖min(z, w)‖∞ of the LCP above for z without impulses: only auxiliary variables and slip are not zero."""
    ng, nf, largest = start.shape[0] - 1, sliding.shape[0], 0.0
    f = ng + start[ng]
    for g in range(ng):
        reached = 0.0
        for a in range(start[g], start[g + 1]):
            reached += z[ng + a]
            largest = max(largest, abs(min(z[ng + a], q[ng + a] + reached)))
        largest = max(largest, abs(min(0.0, q[g] + reached)))
    for r in range(nf):
        for k in range(nd):
            largest = max(largest, abs(min(0.0, q[f + nd * r + k] + z[f + nd * nf + r])))
    return largest


@kernel
def fill_row(W, i, j, x, y, primary, sliding, D, f, A, row):
    """A[row] = (x·W[i] + y·W[j]) seen by normal impulses and friction directions."""
    nd = D.shape[0]
    for h in range(primary.shape[0]):
        c = 3 * primary[h]
        A[row, h] = x * W[i, c] + y * W[j, c]
    for r in range(sliding.shape[0]):
        c = 3 * primary[sliding[r]]
        w1, w2 = x * W[i, c + 1] + y * W[j, c + 1], x * W[i, c + 2] + y * W[j, c + 2]
        for k in range(nd):
            A[row, f + nd * r + k] = w1 * D[k, 0] + w2 * D[k, 1]


def _sparse_groups(W, b, plan: Layout, q) -> sp.csr_array:
    contacts = W.shape[0] // 3
    N, G, F = normal_rows(plan, contacts), auxiliary_rows(plan, contacts), friction_rows(plan, contacts)
    E1, E2, E, U = couplings(plan)
    q[:] = np.concatenate([N @ b, G @ b, F @ b, np.zeros(len(plan.sliding))])
    WN, WF = W @ N.T, W @ F.T
    rows = [[N @ WN, E1, N @ WF, None], [G @ WN, E2, G @ WF, None], [F @ WN, None, F @ WF, E], [U, None, -E.T, None]]
    return sp.csr_array(sp.block_array(rows))


def _sparse(W, b, plan: Layout, q) -> sp.csr_array:
    """Without groups, block by block: the 3 × 3 blocks of W decide where A has entries."""
    if 3 * len(plan.primary) < W.shape[0]:
        kept = (3 * plan.primary[:, None] + np.arange(3)).ravel()
        W, b = W[kept][:, kept], b[kept]
    blocks = W.tobsr(blocksize=(3, 3))
    nc, nf, nd = len(plan.primary), len(plan.sliding), len(plan.directions)
    at = np.full(nc, -1, dtype=np.int64)
    at[plan.sliding] = np.arange(nf)
    n = len(q)
    start = np.empty(n + 1, dtype=np.int64)
    pattern = (blocks.indptr.astype(np.int64), blocks.indices.astype(np.int64))
    nnz = csr_starts(*pattern, at, nd, start)
    column, value = np.empty(nnz, dtype=np.int64), np.empty(nnz)
    lcp_csr(*pattern, blocks.data, b, at, plan.friction, plan.directions, start, column, value, q)
    return sp.csr_array((value, column, start), shape=(n, n))


@kernel
def csr_starts(begin, other, at, nd, start):
    """Row starts of A; ``at`` (nc,) is a contact's place among those with friction, or −1."""
    nc = at.shape[0]
    nf = 0
    for c in range(nc):
        nf += at[c] >= 0
    for c in range(nc):
        size = begin[c + 1] - begin[c]
        sliding = 0
        for k in range(begin[c], begin[c + 1]):
            sliding += at[other[k]] >= 0
        start[c + 1] = size + nd * sliding
        if at[c] >= 0:
            for k in range(nd):
                start[nc + nd * at[c] + k + 1] = size + nd * sliding + 1
            start[nc + nd * nf + at[c] + 1] = 1 + nd
    start[0] = 0
    for i in range(start.shape[0] - 1):
        start[i + 1] += start[i]
    return start[start.shape[0] - 1]


@kernel
def lcp_csr(begin, other, blocks, b, at, friction, D, start, column, value, q):
    """The rows of A; columns ascend if the blocks' do."""
    nc, nd = at.shape[0], D.shape[0]
    nf = 0
    for c in range(nc):
        nf += at[c] >= 0
    s = nc + nd * nf
    for c in range(nc):
        q[c] = b[3 * c]
        csr_row(begin, other, blocks, at, D, c, 1.0, 0.0, 0.0, start[c], column, value)
        if at[c] < 0:
            continue
        for k in range(nd):
            row = nc + nd * at[c] + k
            q[row] = D[k, 0] * b[3 * c + 1] + D[k, 1] * b[3 * c + 2]
            n = csr_row(begin, other, blocks, at, D, c, 0.0, D[k, 0], D[k, 1], start[row], column, value)
            column[n], value[n] = s + at[c], 1.0
        row = s + at[c]
        q[row] = 0.0
        n = start[row]
        column[n], value[n] = c, friction[c]
        for k in range(nd):
            column[n + 1 + k], value[n + 1 + k] = nc + nd * at[c] + k, -1.0


@kernel
def csr_row(begin, other, blocks, at, D, c, x, y, z, n, column, value):
    """One row of A, (x, y, z)·(block row c of W), from entry n on; returns the next entry."""
    nc, nd = at.shape[0], D.shape[0]
    for k in range(begin[c], begin[c + 1]):
        column[n], value[n] = other[k], x * blocks[k, 0, 0] + y * blocks[k, 1, 0] + z * blocks[k, 2, 0]
        n += 1
    for k in range(begin[c], begin[c + 1]):
        o = at[other[k]]
        if o < 0:
            continue
        w1 = x * blocks[k, 0, 1] + y * blocks[k, 1, 1] + z * blocks[k, 2, 1]
        w2 = x * blocks[k, 0, 2] + y * blocks[k, 1, 2] + z * blocks[k, 2, 2]
        for e in range(nd):
            column[n], value[n] = nc + nd * o + e, w1 * D[e, 0] + w2 * D[e, 1]
            n += 1
    return n
