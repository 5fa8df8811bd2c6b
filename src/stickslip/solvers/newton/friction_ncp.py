"""Contacts with the circular Coulomb cone as a nonlinear complementarity problem with bounds, and the way back.

Unknowns: bilateral impulses λ (nb,) and per contact (p_n, τ₁, τ₂, σ): normal impulse, friction impulse in units of the
largest possible one, p_t = μ·p_n·τ, and slip speed. With u = W·p + b and a typical speed V,

    u_b = 0,   0 ≤ p_n ⟂ u_n ≥ 0,   u_t + σ·τ = 0 (τ free),   0 ≤ σ ⟂ V·(1 − |τ|²)/2 ≥ 0.

A slipping contact has |τ| = 1 and σ = |u_t|, against the slip; a sticking one σ = 0 and u_t = 0. This is the quadratic
cone of the NCP of Williams et al., μ·p_n·u_t + σ·p_t = 0 and 0 ≤ σ ⟂ μ²·p_n² − |p_t|², divided by μ·p_n: that one's
derivatives vanish where a contact opens (p_n = 0), these do not. Differs from the paper in: that division.
Sizes: n = nb + 4·nc unknowns; the Jacobian is sparse where W is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from stickslip.solvers.newton.newton_core import SWEEPS
from stickslip.solvers.problem import FrictionProblem, NonlinearProblem


@dataclass(frozen=True)
class QuadraticCone:
    """The nonlinear problem of a friction problem, and the conversion of unknowns."""

    source: FrictionProblem
    problem: NonlinearProblem

    def impulses(self, y: np.ndarray) -> np.ndarray:
        """(nb + 3·nc,) impulses in the cone from the nonlinear problem's unknowns [N s]."""
        nb = self.source.bilateral
        p = np.empty(self.source.n)
        p[:nb] = y[:nb]
        contact = y[nb:].reshape(-1, 4)
        tau = contact[:, 1:3] / np.maximum(1.0, np.hypot(contact[:, 1], contact[:, 2]))[:, None]
        normal = np.maximum(0.0, contact[:, 0])
        out = p[nb:].reshape(-1, 3)
        out[:, 0] = normal
        out[:, 1:] = (self.source.friction * normal)[:, None] * tau
        return p

    def start(self, p: np.ndarray) -> np.ndarray:
        """The nonlinear problem's unknowns from impulses, improved by a few projected fixed-point sweeps from zero."""
        if not np.any(p):
            p = sweeps(self.source)
        nb, mu = self.source.bilateral, self.source.friction
        u = self.source.function(p)[nb:].reshape(-1, 3)
        own = p[nb:].reshape(-1, 3)
        speed = np.hypot(u[:, 1], u[:, 2])
        radius = mu * own[:, 0]
        slips = speed * radius < 1e-12
        along = np.where(slips[:, None], -u[:, 1:] / np.where(speed > 0.0, speed, 1.0)[:, None], 0.0)
        tau = np.where(slips[:, None], along, own[:, 1:] / np.where(radius > 0.0, radius, 1.0)[:, None])
        y = np.empty(self.problem.n)
        y[:nb] = p[:nb]
        contact = y[nb:].reshape(-1, 4)
        contact[:, 0] = np.maximum(0.0, own[:, 0])
        contact[:, 1:3] = tau / np.maximum(1.0, np.hypot(tau[:, 0], tau[:, 1]))[:, None]
        full = np.hypot(contact[:, 1], contact[:, 2]) > 1.0 - 1e-6
        contact[:, 3] = np.where(full, speed, 0.0)
        return y


def sweeps(problem: FrictionProblem) -> np.ndarray:
    """A rough answer by p ← projection of p − u/(row sum of |W|): which contacts stick or slip is mostly right."""
    nb, p = problem.bilateral, np.zeros(problem.n)
    step = 1.0 / np.maximum(np.asarray(abs(problem.W).sum(axis=1)).ravel(), 1e-300)
    per_contact = step[nb:].reshape(-1, 3).min(axis=1)
    step[nb:] = np.repeat(per_contact, 3)
    for _ in range(SWEEPS):
        p -= step * problem.function(p)
        own = p[nb:].reshape(-1, 3)
        own[:, 0] = np.maximum(0.0, own[:, 0])
        length = np.hypot(own[:, 1], own[:, 2])
        radius = problem.friction * own[:, 0]
        own[:, 1:] *= np.where(length > radius, radius / np.where(length > 0.0, length, 1.0), 1.0)[:, None]
    return p


def quadratic_cone(problem: FrictionProblem) -> QuadraticCone:
    """The problem above; ``impulses(y)`` of the result converts a solution back."""
    nb, nc, mu = problem.bilateral, len(problem.friction), problem.friction
    n = nb + 4 * nc
    first = nb + 4 * np.arange(nc)
    speed = max(float(np.max(np.abs(problem.b), initial=0.0)), 1e-12)

    def unpack(y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        contact = y[nb:].reshape(-1, 4)
        normal, tau, sigma = contact[:, 0], contact[:, 1:3], contact[:, 3]
        p = np.empty(problem.n)
        p[:nb] = y[:nb]
        p[nb:].reshape(-1, 3)[:, 0] = normal
        p[nb:].reshape(-1, 3)[:, 1:] = (mu * normal)[:, None] * tau
        return p, normal, tau, sigma

    def function(y: np.ndarray) -> np.ndarray:
        p, _, tau, sigma = unpack(y)
        u = problem.function(p)
        w = np.empty(n)
        w[:nb] = u[:nb]
        out, own = w[nb:].reshape(-1, 4), u[nb:].reshape(-1, 3)
        out[:, 0] = own[:, 0]
        out[:, 1:3] = own[:, 1:] + sigma[:, None] * tau
        out[:, 3] = 0.5 * speed * (1.0 - np.einsum("ij,ij->i", tau, tau))
        return w

    rows = np.concatenate([np.arange(nb), (first[:, None] + np.arange(3)).ravel()])
    spread = sp.csr_array((np.ones(problem.n), (rows, np.arange(problem.n))), shape=(n, problem.n))

    def jacobian(y: np.ndarray) -> Any:
        _, normal, tau, sigma = unpack(y)
        inside = problem.n - 3 * nc + 3 * np.arange(nc)
        slope = _triplets(
            (np.ones(nb), np.arange(nb), np.arange(nb)),
            (np.ones(nc), inside, first),
            (mu * tau[:, 0], inside + 1, first),
            (mu * tau[:, 1], inside + 2, first),
            (mu * normal, inside + 1, first + 1),
            (mu * normal, inside + 2, first + 2),
            shape=(problem.n, n),
        )
        local = _triplets(
            (sigma, first + 1, first + 1),
            (sigma, first + 2, first + 2),
            (tau[:, 0], first + 1, first + 3),
            (tau[:, 1], first + 2, first + 3),
            (-speed * tau[:, 0], first + 3, first + 1),
            (-speed * tau[:, 1], first + 3, first + 2),
            shape=(n, n),
        )
        if problem.sparse:
            return sp.csr_array(spread @ problem.W @ slope + local)
        J = np.zeros((n, n))
        J[rows] = (slope.T @ problem.W.T).T
        J += local
        return J

    lower, upper = np.full(n, -np.inf), np.full(n, np.inf)
    lower[first] = lower[first + 3] = 0.0
    labels = {"bilateral": slice(0, nb), "contacts": slice(nb, n)}
    return QuadraticCone(problem, NonlinearProblem(function, jacobian, lower, upper, labels))


def _triplets(*parts: tuple[np.ndarray, np.ndarray, np.ndarray], shape: tuple[int, int]) -> Any:
    values, row, column = (np.concatenate(p) for p in zip(*parts, strict=True))
    return sp.csr_array((values, (row, column)), shape=shape)
