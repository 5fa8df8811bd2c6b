"""MuJoCo's own constraint problem as a ``ConeProblem``: the same convex problem, for our solvers.

At a state that ``mj_forward`` (or ``mj_step``) has seen, with elliptic cones, MuJoCo's forces f minimise

    ½·fᵀ·(J·M⁻¹·Jᵀ + R)·f + fᵀ·(J·a_smooth − a_ref)   over f in the cones,

the relaxed problem with forces [N] and accelerations [m/s²] in the place of impulses and velocities. Rows: equality
constraints are bilateral (with their R); limits and contacts of condim 1 are contacts without friction, with two empty
tangents; contacts of condim 3 as they are. Where a contact has two coefficients μ₁ ≠ μ₂, its second tangent is scaled
by μ₂/μ₁: that makes the cone circular and both R of tangents equal, R₂ being R₁·(μ₁/μ₂)² in MuJoCo.

Reference: MuJoCo's documentation, "Computation: Constraint model".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from stickslip.errors import UnsupportedFeatureError, expected
from stickslip.solvers import ConeProblem

_LIMITS = (mujoco.mjtConstraint.mjCNSTR_LIMIT_JOINT, mujoco.mjtConstraint.mjCNSTR_LIMIT_TENDON)
_REFUSED = {
    mujoco.mjtConstraint.mjCNSTR_FRICTION_DOF: "friction loss of joints: an interval, not a cone",
    mujoco.mjtConstraint.mjCNSTR_FRICTION_TENDON: "friction loss of tendons: an interval, not a cone",
    mujoco.mjtConstraint.mjCNSTR_CONTACT_PYRAMIDAL: 'pyramidal cones: set cone="elliptic"',
}


@dataclass(frozen=True)
class MujocoProblem:
    """The constraint problem of a state, and the map from its solution to MuJoCo's forces."""

    problem: ConeProblem
    row: np.ndarray
    """(nefc,) row of the problem for each of MuJoCo's rows."""
    scale: np.ndarray
    """(nefc,) ratio of MuJoCo's row to ours: 1, except for second tangents with another μ."""

    def forces(self, p: np.ndarray) -> np.ndarray:
        """(nefc,) ``efc_force`` from a solution [N, N m]."""
        return p[self.row] / self.scale


def mujoco_problem(model: Any, data: Any) -> MujocoProblem:
    """The problem of an ``MjModel`` and the ``MjData`` of a state."""
    if not isinstance(model, mujoco.MjModel) or not isinstance(data, mujoco.MjData):
        raise expected("model, data", "an mujoco.MjModel and its mujoco.MjData", (type(model), type(data)))
    kinds = np.asarray(data.efc_type)
    for kind, why in _REFUSED.items():
        if np.any(kinds == int(kind)):
            raise UnsupportedFeatureError(f"MuJoCo's problem has {why}")
    nb = int(np.count_nonzero(kinds == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)))
    limits = np.flatnonzero(np.isin(kinds, [int(kind) for kind in _LIMITS]))
    touching = [contact for contact in data.contact[: data.ncon] if contact.efc_address >= 0]
    for contact in touching:
        if contact.dim not in (1, 3):
            raise UnsupportedFeatureError(f"MuJoCo's problem has a contact of condim {contact.dim}: 1 and 3 are known")
    row, scale = np.arange(data.nefc), np.ones(data.nefc)
    row[limits] = nb + 3 * np.arange(len(limits))
    friction = np.zeros(len(limits) + len(touching))
    for c, contact in enumerate(touching, len(limits)):
        first = contact.efc_address
        row[first : first + contact.dim] = nb + 3 * c + np.arange(contact.dim)
        if contact.dim == 3:
            friction[c] = contact.friction[0]
            scale[first + 2] = contact.friction[0] / contact.friction[1]
    return MujocoProblem(_assembled(model, data, nb, friction, row, scale), row, scale)


def _assembled(model: Any, data: Any, nb: int, friction: np.ndarray, row: np.ndarray, scale: np.ndarray) -> ConeProblem:
    J = _jacobian(model, data) / scale[:, None]
    response = np.zeros_like(J)
    if len(J):
        mujoco.mj_solveM(model, data, response, J)
    n = nb + 3 * len(friction)
    W, b, R = np.zeros((n, n)), np.zeros(n), np.zeros(n)
    W[np.ix_(row, row)] = J @ response.T
    b[row] = J @ data.qacc_smooth - data.efc_aref / scale
    R[row] = data.efc_R / scale**2
    tangents = R[nb:].reshape(-1, 3)[:, 1:]
    tangents[:] = tangents.mean(axis=1, keepdims=True)  # equal but for round-off
    empty = np.setdiff1d(np.arange(nb, n), row)  # tangents of limits and of frictionless contacts
    W[empty, empty] = W[empty - (empty - nb) % 3, empty - (empty - nb) % 3]  # solvers may divide by it
    return ConeProblem(W, b, friction, R, nb)


def _jacobian(model: Any, data: Any) -> np.ndarray:
    """(nefc, nv) MuJoCo's Jacobian as a dense matrix."""
    J = np.zeros((data.nefc, model.nv))
    if not data.nefc:
        return J
    if mujoco.mj_isSparse(model):
        mujoco.mju_sparse2dense(J, data.efc_J, data.efc_J_rownnz, data.efc_J_rowadr, data.efc_J_colind)
    else:
        J[:] = np.asarray(data.efc_J).reshape(J.shape)
    return J
