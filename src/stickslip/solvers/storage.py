"""Storage of a Delassus matrix: dense if it is small or mostly full, else CSR."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp

SMALL = 120
"""Largest number of rows of a matrix that is always dense."""
FULL = 0.25
"""Share of non-zero entries from which a larger matrix is dense, too."""


def compact(W: sp.csr_array) -> Any:
    """W (m, m) as a dense array if that is the better storage, else as CSR."""
    m = W.shape[0]
    return W.toarray() if m <= SMALL or W.nnz >= FULL * m * m else sp.csr_array(W)
