"""The longest stable step with passive joint springs and gravity, whose forces are taken at the beginning of a step.

x⁺ = x + h·v⁺, v⁺ = v − h·ω²·x is symplectic Euler: for h < 2/ω it conserves an energy that differs from the true one by
O(h); beyond, the energy grows without bounds. With stiffnesses K of the joint velocities, the highest frequency of all
springs together has ω² = largest eigenvalue of K^½·r·M⁻¹·rᵀ·K^½, where r are the rows of joint velocities and M⁻¹ is
the inverse mass matrix of joint coordinates. Loops can only lower it, and so do dampers and servos, which are implicit.
"""

from __future__ import annotations

import numpy as np

from stickslip.dynamics import Dynamics
from stickslip.dynamics.joint_forces import largest_stiffness
from stickslip.dynamics.largest_gains import add_largest_gains
from stickslip.model.arrays import JOINT_NV
from stickslip.model.model import Model


def spring_stiffness(model: Model, q: np.ndarray) -> np.ndarray:
    """(nv,) stiffness of passive springs by joint velocity [N m/rad or N/m], at q where they are polynomial."""
    sizes = [JOINT_NV[kind] for kind in model.tree.joint_type]
    return np.repeat(largest_stiffness(model, q), sizes)


def longest_spring_step(model: Model, q: np.ndarray) -> float:
    """The longest stable step [s], 2/ω, of the passive springs of joints and tendons and of links that gravity swings,
    at the configuration q (nq,); infinite without."""
    stiffness = spring_stiffness(model, q)
    if len(model.tendons.limited):
        add_largest_gains(model, q, stiffness, np.zeros(model.nv), servos=False)
    dynamics = Dynamics(model)
    squared = dynamics.mobility_norm(q, stiffness) + dynamics.swing_norm(q)
    return float(2.0 / np.sqrt(squared)) if squared > 0.0 else float("inf")
