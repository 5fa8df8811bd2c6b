"""The mixed LCP (6) of Williams et al.: velocities and joint impulses are free variables beside the contacts'.

    0 = M·v − G_bᵀp_b − G_nᵀp_n − G_fᵀβ − M·v_free            (the rows of M·v⁺ = M·v + p_ext + Gᵀp)
    0 = G_b·v + C·p_b + b_b                                   (C: compliance of soft rows)
    0 ≤ p_n ⟂ G_n·v + R·p_n + E₁·c_a + b_n ≥ 0,      0 ≤ c_a ⟂ G_a·v + R·p_n + E₂·c_a + b_a ≥ 0
    0 ≤ β ⟂ G_f·v + R_f·β + E·s + b_f ≥ 0,   0 ≤ s ⟂ U·p_n − Eᵀβ ≥ 0

b holds the offsets, which are gaps over the time step for normals; R is that of ``recovery``, mostly zero, and R_f is
the same R of the tangents between the directions of friction.
Size: nv + nb + ng + na + (n_d + 1)·nf.
The diagonal is zero but for M and C, so that methods that factor can solve it, but splitting methods cannot.
Differs from the paper in: joint rows, which it leaves out "for now"; G here is the transpose of the paper's.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from stickslip.methods.rigid.assembly.matrices import Matrices
from stickslip.methods.rigid.formulations.polygonal_blocks import auxiliary_rows, couplings, friction_rows, normal_rows
from stickslip.methods.rigid.formulations.polygonal_cone import Layout
from stickslip.solvers.problem import LinearProblem


def mixed_lcp(matrices: Matrices, offset: np.ndarray, plan: Layout, R: np.ndarray) -> LinearProblem:
    """``offset`` (m,): b of every row of ``matrices.rows`` [m/s]; R (nc,) of the contacts [1/kg]."""
    nv, nb, offset = len(matrices.velocity), matrices.bilateral, offset + matrices.surface
    contacts = (matrices.rows.shape[0] - nb) // 3
    joints, rows = matrices.rows[:nb], matrices.rows[nb:]
    picks = [normal_rows(plan, contacts), auxiliary_rows(plan, contacts), friction_rows(plan, contacts)]
    Gn, Ga, Gf = (sp.csr_array(pick @ rows) for pick in picks)
    E1, E2, E, U = couplings(plan)
    _, na, _, nf = plan.sizes
    own = R.copy()
    own[contacts - len(matrices.dry) :] += matrices.normal_mass()
    Rn, Ra = _yielding(own, plan)
    Rf = sp.csr_array(picks[2] @ sp.diags_array(np.repeat(R, 3)) @ picks[2].T) if R.any() else None
    A = sp.block_array(
        [
            [matrices.mass, -joints.T, -Gn.T, sp.csr_array((nv, na)), -Gf.T, None],
            [joints, sp.diags_array(matrices.compliance), None, None, None, None],
            [Gn, None, Rn, E1, None, None],
            [Ga, None, Ra, E2, None, None],
            [Gf, None, None, None, Rf, E],
            [None, None, U, None, -E.T, None],
        ]
    )
    bs = [pick @ offset[nb:] for pick in picks]
    b = np.concatenate([-(matrices.mass @ matrices.free_velocity), offset[:nb], *bs, np.zeros(nf)])
    free = nv + nb
    lower = np.concatenate([np.full(free, -np.inf), np.zeros(len(b) - free)])
    labels = {"velocity": slice(0, nv), "joint": slice(nv, free), **plan.labels(free)}
    blocks = (np.arange(nv), *((np.arange(nv, free),) if nb else ()), *plan.blocks(free))
    return LinearProblem(sp.csr_array(A), b, lower=lower, blocks=blocks, labels=labels)


def _yielding(R: np.ndarray, plan: Layout) -> tuple[sp.csr_array | None, sp.csr_array | None]:
    """R of the primaries (ng, ng), and of the primary of every other subcontact (na, ng)."""
    own = R[plan.primary]
    if not own.any():
        return None, None
    group = np.repeat(np.arange(len(own)), np.diff(plan.start))
    entries = (own[group], group, np.arange(len(group) + 1))
    return sp.csr_array(sp.diags_array(own)), sp.csr_array(entries, shape=(len(group), len(own)))
