"""Contact problems of piles of touching spheres, built from masses and Jacobians alone: oracles for solvers.

Stewart and Trinkle's LCP, eq. (7) of Williams et al., z = (p_n, p_f, s) with n_d friction directions per contact:

    A = [[Wnn, Wnf, 0], [Wfn, Wff, E], [mu, -E^T, 0]],    b = (gap/h + Jn·v, Jf·v, 0),    W = J·M⁻¹·Jᵀ.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from stickslip.solvers import FrictionProblem, LinearProblem

GRAVITY = 9.81


def pile(counts=(3, 3, 3), *, radius=0.5, perturb=0.0, seed=0, jump=0.0):
    """Centres (k, 3) of spheres on a lattice above the floor z = 0, each touching its neighbours where ``perturb`` [m]
    is 0, and their velocities (k, 6) [m/s, rad/s], random of size ``jump``."""
    rng = np.random.default_rng(seed)
    grid = np.stack(np.meshgrid(*[np.arange(c) for c in counts], indexing="ij"), axis=-1).reshape(-1, 3)
    centres = radius + 2.0 * radius * grid + perturb * rng.uniform(-1.0, 1.0, (len(grid), 3))
    centres[:, 2] += perturb
    return centres, jump * rng.normal(size=(len(grid), 6))


def _jacobian(centres, radius, margin):
    """Rows (3 per contact: normal, two tangents) on 6 velocities per sphere, and gaps [m]."""
    rows, cols, values, gaps = [], [], [], []

    def add(first, second, normal, gap):
        helper = np.eye(3)[np.argmin(np.abs(normal))]
        t1 = np.cross(normal, helper)
        t1 /= np.linalg.norm(t1)
        start = 3 * len(gaps)
        gaps.append(gap)
        for k, axis in enumerate((normal, t1, np.cross(normal, t1))):
            # velocity of body 2 relative to body 1 at the contact; arms are -r·n and +r·n
            for body, sign, arm in ((second, 1.0, -radius * normal), (first, -1.0, radius * normal)):
                if body < 0:
                    continue
                rows.extend([start + k] * 6)
                cols.extend(range(6 * body, 6 * body + 6))
                values.extend(sign * np.concatenate([axis, np.cross(arm, axis)]))

    for i, centre in enumerate(centres):
        if centre[2] - radius < margin:
            add(-1, i, np.array([0.0, 0.0, 1.0]), centre[2] - radius)
        for j in range(i):
            between = centre - centres[j]
            distance = np.linalg.norm(between)
            if distance - 2.0 * radius < margin:
                add(j, i, between / distance, distance - 2.0 * radius)
    return sp.csr_array((values, (rows, cols)), shape=(3 * len(gaps), 6 * len(centres))), np.array(gaps)


def friction_problem(centres, velocity=None, *, radius=0.5, mass=1.0, mu=0.5, h=0.01, margin=0.05, sparse=False):
    """The circular-cone problem u = W·p + b of one time step h under gravity."""
    jacobian, gaps = _jacobian(centres, radius, margin)
    inverse = np.tile(np.r_[np.full(3, 1.0 / mass), np.full(3, 2.5 / (mass * radius**2))], len(centres))
    free = np.zeros((len(centres), 6)) if velocity is None else velocity.copy()
    free[:, 2] -= GRAVITY * h
    W = (jacobian * inverse) @ jacobian.T
    b = jacobian @ free.ravel()
    b[0::3] += gaps / h
    return FrictionProblem(W if sparse else W.toarray(), b, np.full(len(gaps), mu))


def stewart_trinkle(centres, velocity=None, *, directions=4, sparse=False, **options):
    """The LCP of the same step, with ``directions`` friction directions per contact and one block per contact."""
    problem = friction_problem(centres, velocity, sparse=True, **options)
    nc, nd = len(problem.friction), directions
    angle = 2.0 * np.pi * np.arange(nd) / nd
    fan = np.stack([np.cos(angle), np.sin(angle)], axis=1)  # (nd, 2)
    normal = sp.csr_array((np.ones(nc), (np.arange(nc), 3 * np.arange(nc))), shape=(nc, 3 * nc))
    rows = np.repeat(np.arange(nc * nd), 2)
    columns = (3 * np.arange(nc)[:, None, None] + np.array([1, 2])).repeat(nd, axis=1).ravel()
    friction = sp.csr_array((np.tile(fan.ravel(), nc), (rows, columns)), shape=(nc * nd, 3 * nc))
    both = sp.vstack([normal, friction])
    W = (both @ problem.W @ both.T).tocsr()
    E = sp.csr_array((np.ones(nc * nd), (np.arange(nc * nd), np.repeat(np.arange(nc), nd))), shape=(nc * nd, nc))
    right = sp.vstack([sp.csr_array((nc, nc)), E])
    below = sp.hstack([sp.diags_array(problem.friction), -E.T])
    A = sp.csr_array(sp.block_array([[W, right], [below, None]]))
    b = np.concatenate([both @ problem.b, np.zeros(nc)])
    blocks = tuple(np.r_[c, nc + nd * c + np.arange(nd), nc + nc * nd + c] for c in range(nc))
    labels = {"normal": slice(0, nc), "friction": slice(nc, nc + nc * nd), "slip": slice(nc + nc * nd, nc * (nd + 2))}
    return LinearProblem(A if sparse else A.toarray(), b, blocks=blocks, labels=labels)
