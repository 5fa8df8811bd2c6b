"""Rows over the velocities of two bodies, twelve numbers each as in ``maximal.rows``, as a sparse matrix."""

from __future__ import annotations

import numpy as np
from scipy import sparse


class PairRows:
    """A sparse matrix (n, nv) whose row i couples ``link1[i]``, which may be the world, and ``link2[i]``."""

    def __init__(self, link1: np.ndarray, link2: np.ndarray, nv: int) -> None:
        n, columns = len(link1), np.arange(6)
        first = np.concatenate([6 * (link1[:, None] - 1) + columns, 6 * (link2[:, None] - 1) + columns], axis=1)
        self._stored = np.concatenate([np.repeat(link1[:, None] > 0, 6, 1), np.ones((n, 6), dtype=bool)], 1)
        indptr = np.concatenate([[0], np.cumsum(self._stored.sum(axis=1))])
        # A row's columns ascend if link 1 < link 2, as in every tree; an extra joint may have the opposite order.
        self._rows = sparse.csr_matrix((np.zeros(int(indptr[-1])), first[self._stored], indptr), shape=(n, nv))

    def matrix(self, values: np.ndarray) -> sparse.csr_matrix:
        """(n, nv) from twelve numbers per row (n, 12); every call returns the same object with new values."""
        self._rows.data[:] = values[self._stored]
        return self._rows
