"""Rigid-body dynamics in joint (minimal) coordinates, one file per algorithm, named as the literature names it.

``Dynamics`` is the interface for Python; the kernels beside it take plain arrays and never allocate.
"""

from stickslip.dynamics.interface import Dynamics, Energy

__all__ = ["Dynamics", "Energy"]
