"""A sparse matrix as FCLib stores it: compressed columns, compressed rows or triplets, distinguished by ``nz``.

    nz ≥ 0   triplets: nz entries (i, p, x)
    nz = −1  compressed columns: p (n + 1,), row numbers i and values x of at least p[n] entries
    nz = −2  compressed rows: p (m + 1,), column numbers i and values x of at least p[m] entries

For triplets, FCLib's header says that p are rows and i columns, but its library does not use them. Siconos, which wrote
the existing triplets, and CSparse, to which FCLib's merit functions pass matrices, have p as columns and i as rows. So
do we, unless the indices fit only the header's reading. Repeated entries are summed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from stickslip.errors import expected

COLUMNS, ROWS = -1, -2


@dataclass(frozen=True, eq=False)
class FCLibMatrix:
    """A checked matrix (m, n); ``where`` names it in errors."""

    m: int
    n: int
    nz: int
    p: np.ndarray
    i: np.ndarray
    x: np.ndarray
    about: dict[str, Any] = field(default_factory=dict)
    """FCLib's matrix info: comment, conditioning, determinant and rank, as far as given."""
    where: str = "matrix"

    def __post_init__(self) -> None:
        for name in ("p", "i"):
            array = np.asarray(getattr(self, name))
            if array.dtype.kind not in "iu":
                raise expected(f"{self.where}/{name}", "whole numbers", str(array.dtype))
            object.__setattr__(self, name, np.ascontiguousarray(array.ravel(), dtype=np.int32))
        object.__setattr__(self, "x", np.ascontiguousarray(np.ravel(self.x), dtype=float))
        if self.m < 0 or self.n < 0:
            raise expected(f"{self.where}/m and n", "numbers ≥ 0", (self.m, self.n))
        if self.nz < ROWS:
            wanted = "-2 (compressed rows), -1 (compressed columns) or a number of triplets ≥ 0"
            raise expected(f"{self.where}/nz", wanted, self.nz)
        self._check_pointers() if self.nz < 0 else self._check_triplets()
        if not np.all(np.isfinite(self.x[: self.entries])):
            raise expected(f"{self.where}/x", "finite numbers", "NaN or infinity")

    @property
    def entries(self) -> int:
        """Number of entries in use; arrays in files may be longer."""
        return self.nz if self.nz >= 0 else int(self.p[-1])

    @property
    def shape(self) -> tuple[int, int]:
        return self.m, self.n

    def _check_pointers(self) -> None:
        major, minor = (self.n, self.m) if self.nz == COLUMNS else (self.m, self.n)
        if len(self.p) != major + 1:
            raise expected(f"{self.where}/p", f"{major + 1} numbers, by nz = {self.nz}", len(self.p))
        if self.p[0] != 0 or np.any(np.diff(self.p) < 0):
            raise expected(f"{self.where}/p", "numbers that rise from 0", self.p[:8].tolist())
        self._check_lengths(("i", "x"))
        _check_range(f"{self.where}/i", self.i[: self.entries], minor)

    def _check_triplets(self) -> None:
        self._check_lengths(("p", "i", "x"))
        rows, columns = self._places()
        _check_range(f"{self.where}/i", rows, self.m)
        _check_range(f"{self.where}/p", columns, self.n)

    def _check_lengths(self, names: tuple[str, ...]) -> None:
        for name in names:
            if len(getattr(self, name)) < self.entries:
                raise expected(f"{self.where}/{name}", f"{self.entries} numbers", len(getattr(self, name)))

    def _places(self) -> tuple[np.ndarray, np.ndarray]:
        """(rows, columns) of triplets."""
        i, p = self.i[: self.nz], self.p[: self.nz]
        if not (_within(i, self.m) and _within(p, self.n)) and _within(p, self.m) and _within(i, self.n):
            return p, i
        return i, p

    def array(self) -> sp.csr_array:
        """The matrix (m, n) in CSR format."""
        k = self.entries
        if self.nz == ROWS:
            found = sp.csr_array((self.x[:k], self.i[:k], self.p), shape=self.shape)
        elif self.nz == COLUMNS:
            found = sp.csr_array(sp.csc_array((self.x[:k], self.i[:k], self.p), shape=self.shape))
        else:
            found = sp.csr_array(sp.coo_array((self.x[:k], self._places()), shape=self.shape))
        found.sum_duplicates()
        return found


def fclib_matrix(matrix: Any, where: str = "matrix") -> FCLibMatrix:
    """Convert a dense or scipy.sparse matrix to compressed columns, which FCLib's merit functions use."""
    if isinstance(matrix, FCLibMatrix):
        return matrix
    if np.ndim(matrix) != 2 and not sp.issparse(matrix):
        raise expected(where, "a matrix", np.shape(matrix))
    found = sp.csc_array(matrix, dtype=float)
    found.sum_duplicates()
    m, n = found.shape
    return FCLibMatrix(m, n, COLUMNS, found.indptr, found.indices, found.data, where=where)


def _within(numbers: np.ndarray, limit: int) -> bool:
    return not len(numbers) or bool(numbers.min() >= 0 and numbers.max() < limit)


def _check_range(where: str, numbers: np.ndarray, limit: int) -> None:
    if not _within(numbers, limit):
        bad = numbers[(numbers < 0) | (numbers >= limit)][0]
        raise expected(where, f"numbers from 0 to {limit - 1}", int(bad))
