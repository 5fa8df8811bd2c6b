"""Corrections of joints that do not change the normal velocities of contacts that carry impulses.

    u' = u − K·Nᵀ·(N·K·Nᵀ)⁺·N·u

u is a correction with G·u = r; N (k, nv) are the contacts' normal rows; K is the response of the bodies to impulses
with the joints enforced, G·K = 0. Then G·u' = r still holds, and N·u' = 0 unless joints and contacts contradict each
other; in that case the joints take precedence. Eigenvalues below ``REDUNDANT`` of the largest count as zero, as for the
four contacts of a box on a floor.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from stickslip.maximal.constraints import Constraints

REDUNDANT = 1e-8


class FixedNormals:
    """Normal rows N (k, nv) whose velocities corrections do not change; ``constraints`` must be factorised."""

    def __init__(self, constraints: Constraints, rows: sparse.csr_array) -> None:
        self.rows = rows
        self._response = constraints.respond(rows.toarray())
        S = rows @ self._response.T
        value, vector = np.linalg.eigh(0.5 * (S + S.T))
        kept = value > REDUNDANT * max(value[-1], 0.0)
        self._inverse = (vector[:, kept] / value[kept]) @ vector[:, kept].T

    def apply(self, u: np.ndarray) -> np.ndarray:
        """(nv,) u' of a correction u (nv,)."""
        return u - (self._inverse @ (self.rows @ u)) @ self._response
