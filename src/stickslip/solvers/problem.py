"""The problems that solvers solve: linear (LCP, mixed LCP) and nonlinear (NCP) complementarity.

All are box-constrained: find z with lower ≤ z ≤ upper such that, with w = F(z), for every i

    w_i ≥ 0 where z_i = lower_i,   w_i ≤ 0 where z_i = upper_i,   w_i = 0 in between.

lower = 0 and upper = ∞ is 0 ≤ z ⟂ w ≥ 0, eq. (1) of Williams et al.; lower = −∞ and upper = ∞ makes row i an equation
with a free variable, as in their mixed LCP (6). Contacts with circular cones are problems of their own: Coulomb's law,
``FrictionProblem``, and its convex relaxation, ``ConeProblem``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from stickslip._jit import kernel
from stickslip.errors import expected


def _vector(what: str, value: Any, n: int | None = None) -> np.ndarray:
    array = np.ascontiguousarray(value, dtype=float)
    if array.ndim != 1 or (n is not None and len(array) != n):
        raise expected(what, "a vector" if n is None else f"a vector of {n} numbers", np.shape(value))
    return array


def _square(what: str, value: Any) -> Any:
    """A dense C-ordered array, or a CSR array with sorted indices of 64 bits, finite and square."""
    if sp.issparse(value):
        matrix = value if isinstance(value, sp.csr_array) else sp.csr_array(value)
        if matrix.dtype != np.float64:
            matrix = matrix.astype(float)
        if matrix.indptr.dtype != np.int64 or matrix.indices.dtype != np.int64:
            matrix.indptr, matrix.indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
        matrix.sort_indices()
        numbers = matrix.data
    else:
        matrix = np.ascontiguousarray(value, dtype=float)
        numbers = matrix
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise expected(what, "a square matrix", np.shape(value))
    if not np.all(np.isfinite(numbers)):
        raise expected(what, "finite numbers", "NaN or infinity", "look at masses, Jacobians and the time step")
    return matrix


@dataclass(frozen=True)
class LinearProblem:
    """w = A·z + b with bounds: an LCP if they are 0 and ∞ throughout (the default), else a mixed LCP."""

    A: Any
    """(n, n) dense array or scipy.sparse CSR array; neither symmetric nor definite in general."""
    b: np.ndarray
    """(n,)."""
    lower: np.ndarray = None  # type: ignore[assignment]
    """(n,) −∞ where unbounded."""
    upper: np.ndarray = None  # type: ignore[assignment]
    """(n,) ∞ where unbounded."""
    blocks: tuple[np.ndarray, ...] = ()
    """Groups of variables that belong together (a contact's normal, friction and slip; a joint's rows), (k,) indices
    each; every variable is in one of them. Splitting methods solve a block at a time; without blocks, row by row."""
    labels: dict[str, slice] = field(default_factory=dict)
    """Where a formulation's unknowns are in z: ``{"normal": slice(0, 4), "friction": …}``."""

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "A", _square("A", self.A))
        n = self.A.shape[0]
        put(self, "b", _vector("b", self.b, n))
        put(self, "lower", np.zeros(n) if self.lower is None else _vector("lower", self.lower, n))
        put(self, "upper", np.full(n, np.inf) if self.upper is None else _vector("upper", self.upper, n))
        if not np.all(np.isfinite(self.b)):
            raise expected("b", "finite numbers", "NaN or infinity", "look at velocities, gaps and the time step")
        if np.any(self.lower > self.upper) or np.any(np.isnan(self.lower) | np.isnan(self.upper)):
            raise expected("bounds", "lower ≤ upper", "a lower bound above its upper one")
        if self.blocks:
            members = np.sort(np.concatenate(self.blocks))
            if not np.array_equal(members, np.arange(n)):
                raise expected("blocks", "every variable in exactly one block", f"{len(members)} of {n} variables")

    @property
    def n(self) -> int:
        return len(self.b)

    @property
    def kind(self) -> str:
        """ "lcp" or "mlcp"."""
        return "lcp" if np.all(self.lower == 0.0) and np.all(self.upper == np.inf) else "mlcp"

    @property
    def sparse(self) -> bool:
        return sp.issparse(self.A)

    def function(self, z: np.ndarray) -> np.ndarray:
        """w = A·z + b."""
        return self.A @ z + self.b

    def jacobian(self, z: np.ndarray) -> Any:
        """A, whatever z."""
        return self.A

    def dense(self) -> np.ndarray:
        """A as a dense array, for methods that need one."""
        return self.A.toarray() if self.sparse else self.A


@dataclass(frozen=True)
class NonlinearProblem:
    """w = F(z) with bounds and F's Jacobian: an NCP, or a mixed one."""

    function: Callable[[np.ndarray], np.ndarray]
    jacobian: Callable[[np.ndarray], Any]
    """(n, n) dense or CSR at z."""
    lower: np.ndarray
    upper: np.ndarray
    labels: dict[str, slice] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("function", "jacobian"):
            if not callable(getattr(self, name)):
                raise expected(name, "a function of z", getattr(self, name))
        object.__setattr__(self, "lower", _vector("lower", self.lower))
        object.__setattr__(self, "upper", _vector("upper", self.upper, len(self.lower)))

    @property
    def n(self) -> int:
        return len(self.lower)

    @property
    def kind(self) -> str:
        return "ncp"


class _CircularCones:
    """Contacts with circular cones, by Coulomb's law or relaxed: bilateral rows, then three rows per contact."""

    W: Any
    b: np.ndarray
    friction: np.ndarray
    bilateral: int

    @property
    def n(self) -> int:
        return self.W.shape[0]

    @property
    def sparse(self) -> bool:
        return sp.issparse(self.W)

    def _check(self) -> None:
        """Convert the arrays to what solvers expect, or raise an error that says what they should be."""
        put = object.__setattr__
        put(self, "W", _square("W", self.W))
        put(self, "b", _vector("b", self.b, self.W.shape[0]))
        put(self, "friction", _vector("friction", self.friction))
        friction, nb = self.friction, self.bilateral
        if nb < 0 or nb + 3 * len(friction) != self.n:
            raise expected(
                "W", f"{nb} + 3·{len(friction)} rows", self.n, "three rows per contact, bilateral rows first"
            )
        if not np.all(np.isfinite(self.b)):
            raise expected("b", "finite numbers", "NaN or infinity", "look at velocities, gaps and the time step")
        _check_symmetric(self.W)
        bad = np.flatnonzero(~((friction >= 0.0) & np.isfinite(friction)))
        if len(bad):
            raise expected("friction", "finite numbers ≥ 0", f"{friction[bad[0]]:g} of contact {bad[0]}")


@dataclass(frozen=True)
class FrictionProblem(_CircularCones):
    """Contacts with the exact (circular) Coulomb cone, u = W·p + b: an NCP.

    The first ``bilateral`` rows are equations u = 0 with p free. Then three rows per contact, (normal, tangent 1,
    tangent 2): 0 ≤ p_n ⟂ u_n ≥ 0, and p_t in the disk of radius μ·p_n with maximal dissipation, that is −u_t in the
    normal cone of that disk at p_t.
    """

    W: Any
    """(n, n) dense or CSR, symmetric positive semidefinite [1/kg]."""
    b: np.ndarray
    """(n,) u without contact impulses, gaps over the time step added to normal rows [m/s]."""
    friction: np.ndarray
    """(nc,) μ."""
    bilateral: int = 0

    def __post_init__(self) -> None:
        self._check()

    @property
    def kind(self) -> str:
        return "ncp"

    def function(self, p: np.ndarray) -> np.ndarray:
        """u = W·p + b [m/s]."""
        return self.W @ p + self.b


@dataclass(frozen=True)
class ConeProblem(_CircularCones):
    """The relaxed contact problem, convex: minimise ½·pᵀ·(W + R)·p + bᵀ·p over p in the cones.

    Rows as in ``FrictionProblem``: ``bilateral`` rows with p free, then (normal, tangent 1, tangent 2) per contact with
    |p_t| ≤ μ·p_n. Its conditions are K ∋ p ⟂ u ∈ K*, u = (W + R)·p + b: of Coulomb's law the complementarity of p_n
    and u_n is missing, so that a contact that slides also separates, u_n = μ·|u_t|.
    """

    W: Any
    """(n, n) dense or CSR, symmetric positive semidefinite, without R [1/kg]."""
    b: np.ndarray
    """(n,) u without contact impulses [m/s]."""
    friction: np.ndarray
    """(nc,) μ."""
    regularisation: np.ndarray
    """(n,) the diagonal of R ≥ 0 [1/kg]; the two tangents of a contact have the same."""
    bilateral: int = 0

    def __post_init__(self) -> None:
        self._check()
        object.__setattr__(self, "regularisation", _vector("regularisation", self.regularisation, self.n))
        if not np.all((self.regularisation >= 0.0) & np.isfinite(self.regularisation)):
            raise expected("regularisation", "finite numbers ≥ 0", "others")
        tangents = self.regularisation[self.bilateral :].reshape(-1, 3)[:, 1:]
        if np.any(tangents[:, 0] != tangents[:, 1]):
            raise expected("regularisation", "the same for both tangents of a contact", "different ones")

    @property
    def kind(self) -> str:
        return "cone"

    def matrix(self) -> Any:
        """(n, n) W + R, stored as W is."""
        if self.sparse:
            return sp.csr_array(self.W + sp.diags_array(self.regularisation))
        return self.W + np.diag(self.regularisation)

    def function(self, p: np.ndarray) -> np.ndarray:
        """u = (W + R)·p + b [m/s]."""
        return self.W @ p + self.regularisation * p + self.b


ASYMMETRIC = 1e-6
"""Largest asymmetry of W, relative to its largest entry."""


@kernel
def _dense_asymmetry(W, limit):
    """(i, j) of the first pair of entries that differ by more than the limit; (−1, −1) if there is none."""
    for i in range(W.shape[0]):
        for j in range(i):
            if abs(W[i, j] - W[j, i]) > limit:
                return i, j
    return -1, -1


@kernel
def _sparse_asymmetry(indptr, indices, data, limit):
    """(i, j) of the first such pair in a CSR array with sorted indices; (−1, −1) if there is none."""
    for i in range(indptr.shape[0] - 1):
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            low, high = indptr[j], indptr[j + 1]
            while low < high:
                middle = (low + high) // 2
                if indices[middle] < i:
                    low = middle + 1
                else:
                    high = middle
            other = data[low] if low < indptr[j + 1] and indices[low] == i else 0.0
            if abs(data[k] - other) > limit:
                return i, j
    return -1, -1


def _check_symmetric(W: Any) -> None:
    """Check that W = G·M⁻¹·Gᵀ is symmetric with a diagonal ≥ 0; a check that it is semidefinite would cost too much."""
    diagonal = W.diagonal()
    round_off = ASYMMETRIC * np.max(np.abs(diagonal), initial=0.0)  # the elimination of bilateral rows leaves some
    if np.any(diagonal < -round_off):
        i = int(np.argmin(diagonal))
        raise expected("W", "a positive semidefinite matrix", f"{diagonal[i]:g} on its diagonal, row {i}")
    if sp.issparse(W):
        limit = ASYMMETRIC * np.max(np.abs(W.data), initial=0.0)
        i, j = _sparse_asymmetry(W.indptr, W.indices, W.data, limit)
    else:
        i, j = _dense_asymmetry(W, ASYMMETRIC * max(np.max(W, initial=0.0), -np.min(W, initial=0.0)))
    if i >= 0:
        got = f"{W[i, j]:g} and {W[j, i]:g} in rows {i} and {j}"
        raise expected("W", "a symmetric matrix", got, "it is G·M⁻¹·Gᵀ, without friction or R in it")


Problem = LinearProblem | NonlinearProblem | FrictionProblem | ConeProblem
