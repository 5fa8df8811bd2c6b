"""Small changes of joint coordinates as small changes of bodies, and back: for gradients.

The rigid rows G and rates r of a link's joint are together six rows that give its velocity from its parent's,

    [G; r]·(ν_p, ν_b) = (0, q̇)    hence    [G; r]·(δz_p, δz_b) = (0, δq)

so that δz = E·δq goes from link to link with 6×6 solves. Differentiated once more, with D = ∂([G; r]·ν)/∂z,

    [G; r]·δν = (0, δv) − D·δz,    δν = E·δv + F·δq

and back q = q(z), v = r(z)·ν: δq = r·δz, δv = r·δν + ∂(r·ν)/∂z·δz. Tangents: δq as in ``dynamics.configuration`` (free
joints: of the link's origin in world axes, then body axes), δz = (δx of the centre of mass [world], δθ [body]) per
body. If ν does not belong to any q̇ (after a variational step G·ν = O(dt)), G·ν is held constant.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip.maximal.joints import Joints
from stickslip.maximal.rows import body_rows
from stickslip.methods.variational.bodies import Centred, Pose, velocity_rows
from stickslip.methods.variational.joints.joint_derivatives import held_derivatives, rate_derivatives


class RowsAt(NamedTuple):
    """Rows of joints and rates at a pose, and derivatives of their velocities by it; sizes: nb held rows, nv rates."""

    held: np.ndarray
    """(nb, 12) G."""
    rates: np.ndarray
    """(nv, 12) r."""
    held_slope: np.ndarray
    """(nb, 12) ∂(G·ν)/∂z."""
    rate_slope: np.ndarray
    """(nv, 12) ∂(r·ν)/∂z."""


def rows_at(bodies: Centred, joints: Joints, pose: Pose, nu: np.ndarray) -> RowsAt:
    """The rows at a pose with velocities nu (nl, 6); the anchors of ``joints`` are from the centres of mass."""
    nb, nv, nl = len(joints.joint), len(bodies.dof_link), len(nu)
    at = RowsAt(np.zeros((nb, 12)), np.zeros((nv, 12)), np.zeros((nb, 12)), np.zeros((nv, 12)))
    move, change = np.zeros((2, 12))
    body_rows(joints, pose, at.held)
    velocity_rows(bodies, pose, at.rates)
    held_derivatives(joints, pose, np.zeros(nb), nu, np.zeros((len(joints.link1), 12, 12)), at.held_slope, move, change)
    rate_derivatives(
        bodies.tree, bodies.com, pose, np.zeros(nv), nu, np.zeros((nl, 12, 12)), at.rate_slope, move, change
    )
    return at


def from_joints(bodies: Centred, joints: Joints, at: RowsAt) -> tuple[np.ndarray, np.ndarray]:
    """(E, F), each (6·nb, nv): δz = E·δq, δν = E·δv + F·δq. The tree's joints must come first, by link."""
    nl, nv = len(bodies.mass), len(bodies.dof_link)
    E, F = np.zeros((nl, 6, nv)), np.zeros((nl, 6, nv))
    held: dict[int, range] = {}
    for j, b in enumerate(joints.link2):  # a loop's joint comes after the tree's
        held.setdefault(int(b), range(joints.start[j], joints.start[j + 1]))
    for b in range(1, nl):
        p, dofs = int(bodies.tree.parent[b]), np.flatnonzero(bodies.dof_link == b)
        rows = list(held[b]) if len(dofs) < 6 else []
        A = np.vstack([at.held[rows], at.rates[dofs]])
        D = np.vstack([at.held_slope[rows], at.rate_slope[dofs]])
        wanted = np.zeros((6, nv))
        wanted[len(rows) + np.arange(len(dofs)), dofs] = 1.0
        inverse = np.linalg.inv(A[:, 6:])
        E[b] = inverse @ (wanted - A[:, :6] @ E[p])
        F[b] = -inverse @ (A[:, :6] @ F[p] + D[:, :6] @ E[p] + D[:, 6:] @ E[b])
    return E[1:].reshape(-1, nv), F[1:].reshape(-1, nv)


def to_joints(bodies: Centred, at: RowsAt) -> tuple[np.ndarray, np.ndarray]:
    """(r, S), each (nv, 6·nb): δq = r·δz, δv = r·δν + S·δz."""
    nl, nv = len(bodies.mass), len(bodies.dof_link)
    wide = np.zeros((2, nv, nl, 6))
    for out, values in zip(wide, (at.rates, at.rate_slope), strict=True):
        out[np.arange(nv), bodies.dof_link] = values[:, 6:]
        out[np.arange(nv), bodies.tree.parent[bodies.dof_link]] += values[:, :6]
    return wide[0, :, 1:].reshape(nv, -1), wide[1, :, 1:].reshape(nv, -1)
