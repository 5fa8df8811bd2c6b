"""Bilateral constraints in joint coordinates: forces by Gauss's principle, derivatives, closure of loops."""

from stickslip.constraints.bilateral import Baumgarte, Bilateral, BilateralResult, solve_bilateral
from stickslip.constraints.bilateral_derivatives import bilateral_derivatives
from stickslip.constraints.inverse_kinematics import InverseKinematicsResult, inverse_kinematics

__all__ = [
    "Baumgarte", "Bilateral", "BilateralResult", "InverseKinematicsResult", "bilateral_derivatives",
    "inverse_kinematics", "solve_bilateral",
]  # fmt: skip
