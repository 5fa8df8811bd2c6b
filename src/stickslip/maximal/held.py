"""Corrections of joints that leave contacts alone: those that carry impulses keep their normal velocities.

    u' = u − K·Nᵀ·(N·K·Nᵀ)⁺·N·u

u: a correction with G·u = r; N (k, nv): the contacts' normal rows; K: how bodies respond to impulses while the joints
hold, G·K = 0. G·u' = r still, and N·u' = 0 wherever joints and contacts do not contradict each other; where they do,
the joints win, and eigenvalues below ``REDUNDANT`` of the largest count as zero (four contacts of a box on a floor).
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from stickslip.maximal.constraints import Constraints

REDUNDANT = 1e-8


class Held:
    """Normal rows N (k, nv) that corrections leave alone; ``constraints`` must be factorised."""

    def __init__(self, constraints: Constraints, rows: sparse.csr_array) -> None:
        self.rows = rows
        self._response = constraints.respond(rows.toarray())
        S = rows @ self._response.T
        value, vector = np.linalg.eigh(0.5 * (S + S.T))
        kept = value > REDUNDANT * max(value[-1], 0.0)
        self._inverse = (vector[:, kept] / value[kept]) @ vector[:, kept].T

    def keep(self, u: np.ndarray) -> np.ndarray:
        """(nv,) u'."""
        return u - (self._inverse @ (self.rows @ u)) @ self._response
