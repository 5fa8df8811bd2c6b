"""Controllers: callables ``controller(t, q, v) -> u`` that a simulation asks at its control rate."""

from stickslip.control.pd import PD

__all__ = ["PD"]
