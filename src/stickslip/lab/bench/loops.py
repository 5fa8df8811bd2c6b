"""Compiled loops over the rigid-body algorithms: what is timed, with no Python between two calls."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from stickslip._jit import kernel
from stickslip.dynamics.aba import aba
from stickslip.dynamics.aba_derivatives import aba_derivatives
from stickslip.dynamics.configuration import integrate
from stickslip.dynamics.crba import crba, unpack
from stickslip.dynamics.data import make_data
from stickslip.dynamics.delassus import delassus_pattern, delassus_sparse, make_contact_rows
from stickslip.dynamics.derivatives import make_derivatives
from stickslip.dynamics.factor import ltdl_factor
from stickslip.dynamics.jacobian import frame_jacobian
from stickslip.dynamics.kinematics import path_kinematics
from stickslip.dynamics.rnea import rnea
from stickslip.dynamics.rnea_derivatives import rnea_derivatives
from stickslip.model.model import Model

STATES = 16
"""Random states that the loops cycle through, so that nothing can be hoisted out of them."""
DIFFERENCE = 1e-8
"""Step of finite differences."""


@kernel
def repeat_rnea(n, tree, support, inertia, Q, V, A, f_ext, kin, tau):
    for i in range(n):
        k = i % Q.shape[0]
        rnea(tree, support, inertia, Q[k], V[k], A[k], f_ext, kin, tau)


@kernel
def repeat_crba(n, tree, support, inertia, Q, kin, mass):
    for i in range(n):
        crba(tree, support, inertia, Q[i % Q.shape[0]], kin, mass)


@kernel
def repeat_aba(n, tree, support, inertia, Q, V, A, f_ext, kin, art, a):
    for i in range(n):
        k = i % Q.shape[0]
        aba(tree, support, inertia, Q[k], V[k], A[k], f_ext, kin, art, a)


@kernel
def repeat_rnea_derivatives(n, tree, support, inertia, Q, V, A, f_ext, kin, der, M, dq, dv, da):
    for i in range(n):
        k = i % Q.shape[0]
        rnea_derivatives(tree, support, inertia, Q[k], V[k], A[k], f_ext, kin, der, M, dq, dv)
        unpack(support, M, da)


@kernel
def repeat_aba_derivatives(n, tree, support, inertia, Q, V, A, f_ext, kin, mass, der, a, dq, dv, dtau):
    for i in range(n):
        k = i % Q.shape[0]
        aba_derivatives(tree, support, inertia, Q[k], V[k], A[k], f_ext, kin, mass, der, a, dq, dv, dtau)


@kernel
def repeat_rnea_differences(n, tree, support, inertia, Q, V, A, f_ext, kin, tau, moved, direction, dq, dv):
    """∂τ/∂q and ∂τ/∂v by one-sided differences: the cheapest way, 2·nv + 1 inverse dynamics.

    ``moved`` (nq,) and ``direction`` (nv,), zero, are scratch.
    """
    nv = direction.shape[0]
    for i in range(n):
        k = i % Q.shape[0]
        rnea(tree, support, inertia, Q[k], V[k], A[k], f_ext, kin, tau)
        for d in range(nv):
            direction[d] = DIFFERENCE
            integrate(tree, Q[k], direction, 1.0, moved)
            direction[d] = 0.0
            rnea(tree, support, inertia, moved, V[k], A[k], f_ext, kin, dq[d])
            before = V[k, d]
            V[k, d] = before + DIFFERENCE
            rnea(tree, support, inertia, Q[k], V[k], A[k], f_ext, kin, dv[d])
            V[k, d] = before
            for e in range(nv):
                dq[d, e] = (dq[d, e] - tau[e]) / DIFFERENCE
                dv[d, e] = (dv[d, e] - tau[e]) / DIFFERENCE


@kernel
def repeat_aba_differences(n, tree, support, inertia, Q, V, A, f_ext, kin, art, a, moved, direction, dq, dv):
    """∂q̈/∂q and ∂q̈/∂v by one-sided differences, as ``repeat_rnea_differences``; ∂q̈/∂τ = M⁻¹ is not computed."""
    nv = direction.shape[0]
    for i in range(n):
        k = i % Q.shape[0]
        aba(tree, support, inertia, Q[k], V[k], A[k], f_ext, kin, art, a)
        for d in range(nv):
            direction[d] = DIFFERENCE
            integrate(tree, Q[k], direction, 1.0, moved)
            direction[d] = 0.0
            aba(tree, support, inertia, moved, V[k], A[k], f_ext, kin, art, dq[d])
            before = V[k, d]
            V[k, d] = before + DIFFERENCE
            aba(tree, support, inertia, Q[k], V[k], A[k], f_ext, kin, art, dv[d])
            V[k, d] = before
            for e in range(nv):
                dq[d, e] = (dq[d, e] - a[e]) / DIFFERENCE
                dv[d, e] = (dv[d, e] - a[e]) / DIFFERENCE


@kernel
def repeat_frame_jacobian(n, tree, support, frames, frame, Q, kin, J):
    for i in range(n):
        path_kinematics(tree, frames.link[frame], Q[i % Q.shape[0]], kin)
        frame_jacobian(support, frames, kin, frame, J)


@kernel
def repeat_factor(n, support, M, L):
    for i in range(n):
        ltdl_factor(support, M[i % M.shape[0]], L)


@kernel
def repeat_diagonal(n, support, L, kin, link1, link2, point, axes, each, rows, blocks):
    for i in range(n):
        delassus_sparse(
            support, L[i % L.shape[0]], kin, link1, link2, point, axes, link1.shape[0], each, each, rows, blocks
        )


@kernel
def repeat_delassus(n, support, L, kin, link1, link2, point, axes, rows, head, chain, mark, start, other, blocks):
    for i in range(n):
        nc = link1.shape[0]
        delassus_pattern(support, link1, link2, nc, head, chain, mark, start, other)
        delassus_sparse(
            support, L[i % L.shape[0]], kin, link1, link2, point, axes, nc, start, other, rows, blocks
        )  # fmt: skip


class Loops:
    """The compiled loops of one model over a few random states; each takes the number of calls."""

    def __init__(self, model: Model, frame: str | None = None, seed: int = 0) -> None:
        self.model, self.data = model, make_data(model)
        rng = np.random.default_rng(seed)
        self.Q = model.tree.q0 + rng.uniform(-1.0, 1.0, (STATES, model.nq))
        for _, i in model.quaternions():
            self.Q[:, i : i + 4] /= np.linalg.norm(self.Q[:, i : i + 4], axis=1, keepdims=True)
        self.V, self.A = rng.normal(size=(2, STATES, model.nv))
        self.frame = model.frame(frame) if frame else 0
        self.f_ext, self.out, self.J = np.zeros((model.nlink, 6)), np.zeros(model.nv), np.zeros((6, model.nv))
        self.derivatives, self.matrices = make_derivatives(model), np.zeros((3, model.nv, model.nv))

    def rnea(self, n: int) -> None:
        m = self.model
        repeat_rnea(n, m.tree, m.support, m.inertia, self.Q, self.V, self.A, self.f_ext, self.data.kin, self.out)

    def crba(self, n: int) -> None:
        m = self.model
        repeat_crba(n, m.tree, m.support, m.inertia, self.Q, self.data.kin, self.data.mass)

    def aba(self, n: int) -> None:
        m, d = self.model, self.data
        repeat_aba(n, m.tree, m.support, m.inertia, self.Q, self.V, self.A, self.f_ext, d.kin, d.art, self.out)

    def rnea_derivatives(self, n: int) -> None:
        m, d = self.model, self.data
        states = (self.Q, self.V, self.A, self.f_ext)
        work = (d.kin, self.derivatives, d.mass.M)
        repeat_rnea_derivatives(n, m.tree, m.support, m.inertia, *states, *work, *self.matrices)

    def aba_derivatives(self, n: int) -> None:
        m, d = self.model, self.data
        states = (self.Q, self.V, self.A, self.f_ext)
        work = (d.kin, d.mass, self.derivatives, self.out)
        repeat_aba_derivatives(n, m.tree, m.support, m.inertia, *states, *work, *self.matrices)

    def rnea_differences(self, n: int) -> None:
        """What ``rnea_derivatives`` gives, but M, by finite differences; rows are columns of the derivatives."""
        m, d = self.model, self.data
        states, scratch = (self.Q, self.V, self.A, self.f_ext), (np.zeros(m.nq), np.zeros(m.nv))
        repeat_rnea_differences(
            n, m.tree, m.support, m.inertia, *states, d.kin, self.out, *scratch, *self.matrices[:2]
        )  # fmt: skip

    def aba_differences(self, n: int) -> None:
        """What ``aba_derivatives`` gives, but M⁻¹, by finite differences; rows are columns of the derivatives."""
        m, d = self.model, self.data
        states, scratch = (self.Q, self.V, self.A, self.f_ext), (np.zeros(m.nq), np.zeros(m.nv))
        repeat_aba_differences(
            n, m.tree, m.support, m.inertia, *states, d.kin, d.art, self.out, *scratch, *self.matrices[:2]
        )  # fmt: skip

    def frame_jacobian(self, n: int) -> None:
        m = self.model
        repeat_frame_jacobian(n, m.tree, m.support, m.frames, self.frame, self.Q, self.data.kin, self.J)


def factor_loops(loops: Loops, feet: list[int]) -> tuple[Callable, Callable, Callable, int]:
    """Loops over the factorisation, W of one contact with the ground per foot, and its diagonal; the blocks of W."""
    model, mass, kin = loops.model, loops.data.mass, loops.data.kin
    M, L = np.empty((2, STATES, len(mass.M)))
    for k in range(STATES):
        crba(model.tree, model.support, model.inertia, loops.Q[k], kin, mass)
        M[k] = mass.M
        ltdl_factor(model.support, mass.M, L[k])
    nc = len(feet)
    link1, link2 = np.zeros(nc, dtype=np.int64), np.array(feet, dtype=np.int64)
    point, axes = kin.pos[link2], np.tile(np.eye(3), (nc, 1, 1))
    scratch = (np.zeros(model.nv, np.int64), np.zeros((nc, 2), np.int64), np.zeros(nc, np.int64))
    start, other = np.zeros(nc + 1, dtype=np.int64), np.zeros(nc * nc, dtype=np.int64)
    count = delassus_pattern(model.support, link1, link2, nc, *scratch, start, other)
    rows, blocks = make_contact_rows(model.support, nc), np.zeros((count, 3, 3))
    arguments = (kin, link1, link2, point, axes, rows, *scratch, start, other, blocks)
    return (
        lambda n: repeat_factor(n, model.support, M, mass.L),
        lambda n: repeat_delassus(n, model.support, L, *arguments),
        lambda n: repeat_diagonal(n, model.support, L, kin, link1, link2, point, axes, np.arange(nc + 1), rows, blocks),
        count,
    )
