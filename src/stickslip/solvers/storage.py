"""How a Delassus matrix is stored: dense while it is small or mostly full, else CSR."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp

SMALL = 120
"""Rows up to which it is always dense."""
FULL = 0.25
"""The part of its entries that may be non-zero before a larger one is dense, too."""


def compact(W: sp.csr_array) -> Any:
    """W (m, m) as a dense array where that is the better way to store it."""
    m = W.shape[0]
    return W.toarray() if m <= SMALL or W.nnz >= FULL * m * m else sp.csr_array(W)
