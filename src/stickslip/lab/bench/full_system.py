"""Newton's system of a step with nothing eliminated, F·Δa = r of eq. (25), as one sparse matrix.

    Δa = (Δν⁺ (6 per body), Δλ (rows of joints), Δs (limits), per contact Δs, Δγ, Δψ, Δs_ψ, Δβ (m), Δη (m))

What ``newton_system`` does in blocks on the graph, written down row by row with SciPy: what the block method is
measured against (``stickslip bench variational``) and tested with. On the right: the residuals of ``equations``.

    bodies     diag(m, ∂P/∂ω)·Δν − (rows at z)ᵀ·Δλ − dt·Nᵀ·Δγ − dt·Σ (dᵢ·B)ᵀ·Δβᵢ
    joints     (rows at z⁺)·diag(dt, T)·Δν,  soft w·R·Δν + Δλ,  limits L⁺·Δν − Δs,  λ·Δs + s·Δλ
    contacts   N⁺·Δν − Δs,  γ·Δs + s·Δγ;  dᵢ·B·Δν + Δψ − Δηᵢ,  ηᵢ·Δβᵢ + βᵢ·Δηᵢ;  c_f·Δγ − ΣΔβᵢ − Δs_ψ,  ψ·Δs_ψ + s_ψ·Δψ

With the friction pyramid. Its size is linear in bodies, joints and contacts.
Reference: Brüdigam et al., eqs. (25), (26). Differs from the paper in: β has no slack of its own, which would be
β itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csc_matrix

from stickslip.errors import expected
from stickslip.methods.variational.arrays import Mechanism, Motion, Rows, Touch
from stickslip.methods.variational.joints.joint_nodes import JointStep
from stickslip.methods.variational.newton_system import SHIFT

OF_CONTACT = 4
"""Number of unknowns of a contact besides those of its facets: s, γ, ψ, s_ψ."""


class FullSystem(NamedTuple):
    """F·Δa = r."""

    matrix: csc_matrix
    """(n, n)."""
    right: np.ndarray
    """(n,)."""


class Entries:
    """Rows, columns and values of a sparse matrix, in any order."""

    def __init__(self) -> None:
        self.parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def add(self, row, column, value) -> None:
        """Add entries; the arrays are broadcast."""
        row, column, value = np.broadcast_arrays(row, column, value)
        self.parts.append((row.ravel(), column.ravel(), value.ravel()))

    def matrix(self, n: int) -> csc_matrix:
        row, column, value = (np.concatenate([part[k] for part in self.parts]) for k in range(3))
        there = value != 0.0
        return csc_matrix((value[there], (row[there], column[there])), shape=(n, n))


def skew(w: np.ndarray) -> np.ndarray:
    x, y, z = w
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def momentum_derivative(J: np.ndarray, w: np.ndarray, dt: float) -> np.ndarray:
    """∂P/∂ω (3, 3)."""
    s = np.sqrt(4.0 / dt**2 - w @ w)
    return 0.5 * dt * (s * J - np.outer(J @ w, w) / s + skew(w) @ J - skew(J @ w))


def add_over_bodies(entries: Entries, row: np.ndarray, link: np.ndarray, value: np.ndarray, transposed: bool) -> None:
    """Add values (k, 6) in rows (k,) at the velocities of links (k,); those of the world are left out."""
    moving = link > 0
    columns = 6 * (link[moving, None] - 1) + np.arange(6)
    rows = np.broadcast_to(row[moving, None], columns.shape)
    if transposed:
        rows, columns = columns, rows
    entries.add(rows, columns, value[moving])


def full_system(
    mechanism: Mechanism, motion: Motion, rows: Rows, joint_step: JointStep, touch: Touch, dt: float, target: float
) -> FullSystem:
    """F and r of a plain Newton step towards complementarity products ``target`` [J, W].

    ``residuals`` and ``assemble`` must have been called at the present unknowns.
    """
    if len(touch.D) == 0:
        raise expected("law", "'pyramid'", "circular")
    nodes, first, entries = mechanism.nodes, mechanism.first, Entries()
    bodies, found, facets = len(motion.nu) - 1, int(touch.points.found[0]), len(touch.D)
    lam, limits = 6 * bodies, len(nodes.limit_joint)
    slack = lam + len(motion.lam)
    contact = slack + limits
    n = contact + found * (OF_CONTACT + 2 * facets)
    right = np.zeros(n)
    right[:lam], right[lam:slack] = -motion.body[1:].ravel(), -motion.joint
    for b in range(1, bodies + 1):
        at = 6 * (b - 1) + np.arange(6)
        entries.add(at[:3], at[:3], mechanism.bodies.mass[b])
        block = momentum_derivative(mechanism.bodies.J[b], motion.nu[b, 3:], dt)
        entries.add(at[3:, None], at[None, 3:], block)
    _add_joints(entries, mechanism, motion, rows, joint_step, lam)
    m = first[nodes.limit_node] + nodes.limit_place
    s = slack + np.arange(limits)
    entries.add(lam + m, s, -1.0)
    entries.add(lam + m, lam + m, motion.ease)
    entries.add(s, s, motion.lam[m])
    entries.add(s, lam + m, motion.slack)
    right[s] = dt * target - motion.slack * motion.lam[m]
    _add_contacts(entries, right, touch, contact + np.arange(found) * (OF_CONTACT + 2 * facets), dt, target)
    return FullSystem(entries.matrix(n), right)


def _add_joints(entries: Entries, mechanism: Mechanism, motion: Motion, rows: Rows, joint_step: JointStep, lam: int):
    nodes, first, bodies = mechanism.nodes, mechanism.first, mechanism.bodies
    joints = nodes.joints
    j, d = joints.joint, nodes.soft_dof
    inverse = np.zeros((len(bodies.mass), 6))
    inverse[1:, :3] = 1.0 / bodies.mass[1:, None]
    inverse[1:, 3:] = 1.0 / np.diagonal(bodies.J[1:], axis1=1, axis2=2)
    of_links = np.concatenate([inverse[joints.link1[j]], inverse[joints.link2[j]]], axis=1)
    shift = SHIFT * np.sum(np.abs(rows.held * rows.held_after) * of_links, axis=1) * (mechanism.looped[j] != 0)
    soft, weight = joint_step.rates[d], joint_step.weight[d]
    for node, place, before, after, own in (
        (j, np.arange(len(j)) - joints.start[j], rows.held, rows.held_after, shift),
        (nodes.soft_node, nodes.soft_place, soft, weight[:, None] * soft, np.ones(len(d))),
        (nodes.limit_node, nodes.limit_place, rows.limits, rows.limits_after, np.zeros(len(nodes.limit_node))),
    ):
        at = lam + first[node] + place
        for side, link in enumerate((nodes.link1[node], nodes.link2[node])):
            columns = slice(6 * side, 6 * side + 6)
            add_over_bodies(entries, at, link, after[:, columns], False)
            add_over_bodies(entries, at, link, -before[:, columns], True)
        entries.add(at, at, own)


def _add_contacts(entries: Entries, right: np.ndarray, touch: Touch, at: np.ndarray, dt: float, target: float) -> None:
    points, cones, D, found = touch.points, touch.cones, touch.D, len(at)
    s, gamma, psi, room = cones.s[:found], cones.gamma[:found], cones.psi[:found], cones.room[:found]
    beta, eta = cones.beta[:found, : len(D)], cones.eta[:found, : len(D)]
    gap, slide, friction = touch.u[:found, 0], touch.u[:found, 1:] @ D.T, points.friction[:found]
    of_s, of_gamma, of_psi, of_room = at, at + 1, at + 2, at + 3
    of_beta = at[:, None] + OF_CONTACT + np.arange(len(D))
    of_eta = of_beta + len(D)
    for side, (link, C) in enumerate(((points.link1[:found], points.rows1), (points.link2[:found], points.rows2))):
        add_over_bodies(entries, of_s, link, touch.normal[:found, side], False)
        add_over_bodies(entries, of_gamma, link, -dt * C[:found, 0], True)
        for i, (d1, d2) in enumerate(D):
            along = (d1 * C[:found, 1] + d2 * C[:found, 2]) * (friction[:, None] > 0.0)
            add_over_bodies(entries, of_beta[:, i], link, along, False)
            add_over_bodies(entries, of_beta[:, i], link, -dt * along, True)
    entries.add(of_s, of_s, -1.0)
    entries.add(of_s, of_gamma, points.ease[:found])
    entries.add(of_gamma, of_s, gamma)
    entries.add(of_gamma, of_gamma, s)
    right[of_s], right[of_gamma] = s - gap, target - s * gamma
    rough = friction > 0.0
    for none in (of_psi, of_room, *of_beta.T, *of_eta.T):  # without friction they stay
        entries.add(none[~rough], none[~rough], 1.0)
    psi, room, beta, eta, slide, friction = (x[rough] for x in (psi, room, beta, eta, slide, friction))
    of_gamma, of_psi, of_room, of_beta, of_eta = (x[rough] for x in (of_gamma, of_psi, of_room, of_beta, of_eta))
    entries.add(of_beta, of_psi[:, None], 1.0)
    entries.add(of_beta, of_eta, -1.0)
    entries.add(of_eta, of_beta, eta)
    entries.add(of_eta, of_eta, beta)
    entries.add(of_psi, of_gamma, friction)
    entries.add(of_psi[:, None], of_beta, -1.0)
    entries.add(of_psi, of_room, -1.0)
    entries.add(of_room, of_room, psi)
    entries.add(of_room, of_psi, room)
    right[of_beta], right[of_eta] = -(slide + psi[:, None] - eta), target - beta * eta
    right[of_psi] = -(friction * (touch.cones.gamma[: len(rough)][rough]) - beta.sum(axis=1) - room)
    right[of_room] = target - room * psi


def newton_step(motion: Motion, touch: Touch) -> np.ndarray:
    """The step that ``newton_system.directions`` computed, in the order of ``full_system``."""
    found, facets, step = int(touch.points.found[0]), len(touch.D), touch.step
    columns = [step.s, step.gamma, step.psi, step.room]
    contacts = np.concatenate(
        [np.stack([c[:found] for c in columns], axis=1), step.beta[:found, :facets], step.eta[:found, :facets]], axis=1
    )
    return np.concatenate([motion.dnu[1:].ravel(), motion.dlam, motion.dslack, contacts.ravel()])
