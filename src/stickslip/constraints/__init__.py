"""Bilateral constraints in joint coordinates: forces by Gauss's principle, derivatives, closure of loops."""

from stickslip.constraints.bilateral import Baumgarte, Bilateral, BilateralResult, solve_bilateral
from stickslip.constraints.bilateral_derivatives import bilateral_derivatives

__all__ = ["Baumgarte", "Bilateral", "BilateralResult", "bilateral_derivatives", "solve_bilateral"]
