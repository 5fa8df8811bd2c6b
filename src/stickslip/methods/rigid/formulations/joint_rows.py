"""The contacts' LCP with joint impulses as free variables; ``solvers.elimination`` eliminates them."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from stickslip.methods.rigid.formulations.contact_lcp import contact_lcp
from stickslip.methods.rigid.formulations.polygonal_blocks import auxiliary_rows, friction_rows, normal_rows
from stickslip.methods.rigid.formulations.polygonal_cone import Layout
from stickslip.solvers.problem import LinearProblem


def lcp_with_joints(W, b: np.ndarray, nb: int, plan: Layout) -> LinearProblem:
    """The contacts' LCP with p_b as free variables in front: a mixed LCP without velocities."""
    alone = contact_lcp(W[nb:, nb:], b[nb:], plan, blocks=False)
    contacts, (_, na, _, nf) = (len(b) - nb) // 3, plan.sizes
    N, G, F = normal_rows(plan, contacts), auxiliary_rows(plan, contacts), friction_rows(plan, contacts)
    nothing = [sp.csr_array((k, 3 * contacts)) for k in (na, nf)]
    seen, pushed = sp.vstack([N, G, F, nothing[1]], "csr"), sp.vstack([N, nothing[0], F, nothing[1]], "csr")
    parts = [[W[:nb, :nb], (pushed @ W[nb:, :nb]).T], [seen @ W[nb:, :nb], alone.A]]
    A = sp.csr_array(sp.block_array(parts)) if sp.issparse(W) else np.block(parts)
    return LinearProblem(
        A,
        np.concatenate([b[:nb], alone.b]),
        lower=np.concatenate([np.full(nb, -np.inf), np.zeros(alone.n)]),
        blocks=(np.arange(nb), *plan.blocks(nb)),
        labels={"joint": slice(0, nb), **plan.labels(nb)},
    )
