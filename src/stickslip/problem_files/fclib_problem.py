"""FCLib's local and global friction-contact problems, and their conversion to ``FrictionProblem`` and back.

Local, nc contacts with d = 3 (or 2) rows each, (normal, tangents), m = d·nc, and neq equations:

    u = W·r + V·λ + q,    Vᵀ·r + R·λ + s = 0,    K ∋ r ⟂ u + (μ·|u_t|, 0, 0) ∈ K*

which is our ``FrictionProblem`` with bilateral rows: W_bb = R, W_cb = V, b = (s, q). Global, with n velocities:

    M·v = H·r + G·λ + f,    Gᵀ·v + b = 0,    u = Hᵀ·v + w

and eliminating v gives W = Hᵀ·M⁻¹·H, V = Hᵀ·M⁻¹·G, R = Gᵀ·M⁻¹·G, q = w + Hᵀ·M⁻¹·f, s = b + Gᵀ·M⁻¹·f.
A contact with two rows (d = 2) gets a third, decoupled one, u = W_tt·r, whose solution is zero.
Reference: Acary, Brémond, Koziara, Pérignon, "FCLIB: a collection of discrete 3D frictional contact problems",
INRIA RT-0444, 2014, and the library's header.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from stickslip.errors import InputError, expected
from stickslip.problem_files.fclib_matrix import FCLibMatrix, fclib_matrix
from stickslip.solvers.problem import FrictionProblem
from stickslip.solvers.storage import compact

CHUNK = 256
"""Number of columns of H that are solved for at once; their dense solution is temporary."""


@dataclass(frozen=True)
class FCLibInfo:
    """Title, description and attributes of a problem."""

    title: str = ""
    description: str = ""
    math_info: str = ""
    attributes: dict[str, Any] = field(default_factory=dict)
    """Attributes of the group ``info``: numbers and texts."""


@dataclass(frozen=True, eq=False)
class FCLibSolution:
    """A solution or a guess."""

    u: np.ndarray
    """(m,) relative velocities, without the term μ·|u_t| [m/s]."""
    r: np.ndarray
    """(m,) contact impulses [N s] (or forces: FCLib does not say)."""
    v: np.ndarray | None = None
    """(n,) velocities of a global problem."""
    l: np.ndarray | None = None
    """(neq,) impulses λ of the equations."""


@dataclass(frozen=True, eq=False)
class FCLibLocal:
    """A local problem, ``/fclib_local``."""

    W: Any
    """(m, m) FCLibMatrix; dense and scipy.sparse matrices are converted."""
    q: np.ndarray
    mu: np.ndarray
    V: Any = None
    R: Any = None
    s: np.ndarray | None = None
    spacedim: int = 3
    info: FCLibInfo | None = None

    matrices: ClassVar[tuple[str, ...]] = ("W", "V", "R")
    vectors: ClassVar[tuple[str, ...]] = ("q", "mu", "s")
    needed: ClassVar[tuple[str, ...]] = ("W", "q", "mu")

    def __post_init__(self) -> None:
        m, _ = _begin(self, "fclib_local", ("W",), ("V", "R"))
        if self.W.n != m:
            raise expected("fclib_local/W", "a square matrix", self.W.shape)
        _vectors(self, "fclib_local", {"q": m, "mu": m // self.spacedim})
        _friction("fclib_local", self.mu)
        if (self.V is None) != (self.R is None) or (self.V is None) != (self.s is None):
            got = [name for name in ("V", "R", "vectors/s") if getattr(self, name[-1]) is not None]
            raise expected("fclib_local", "V, R and vectors/s, or none of them", got)
        if self.V is not None:
            if self.V.m != m:
                raise expected("fclib_local/V", f"{m} rows, as many as W has", self.V.m)
            if self.R.shape != (self.V.n, self.V.n):
                raise expected("fclib_local/R", f"a matrix {self.V.n} × {self.V.n}, as V has columns", self.R.shape)
            _vectors(self, "fclib_local", {"s": self.V.n})

    @property
    def equations(self) -> int:
        return 0 if self.V is None else self.V.n

    @cached_property
    def friction(self) -> FrictionProblem:
        """This problem as a ``FrictionProblem``."""
        W, q, neq = self.W.array(), self.q, self.equations
        V = None if self.V is None else self.V.array()
        if self.spacedim == 2:
            spread = _spread(len(self.mu))
            diagonal = np.where(W.diagonal()[1::2] > 0.0, W.diagonal()[1::2], 1.0)
            third = sp.diags_array(np.column_stack([np.zeros((len(self.mu), 2)), diagonal]).ravel())
            W, q = spread @ W @ spread.T + third, spread @ q
            V = None if V is None else spread @ V
        if V is not None:
            assert self.s is not None
            W = sp.block_array([[self.R.array(), V.T], [V, W]], format="csr")
            q = np.concatenate([self.s, q])
        return FrictionProblem(compact(sp.csr_array(W)), q, self.mu, neq)

    def solution(self, p: np.ndarray) -> FCLibSolution:
        """The solution that corresponds to impulses of ``friction``."""
        neq = self.equations
        both = (p, self.friction.function(p))
        r, u = (x[neq:].reshape(-1, 3)[:, : self.spacedim].ravel() for x in both)
        return FCLibSolution(u, r, l=p[:neq].copy() if neq else None)

    def impulses(self, solution: FCLibSolution) -> np.ndarray:
        """(neq + 3·nc,) impulses of ``friction`` that correspond to a solution."""
        r = solution.r.reshape(-1, self.spacedim)
        contact = np.zeros((len(self.mu), 3))
        contact[:, : self.spacedim] = r
        return np.concatenate([np.zeros(0) if solution.l is None else solution.l, contact.ravel()])


@dataclass(frozen=True, eq=False)
class FCLibGlobal:
    """A global problem, ``/fclib_global``."""

    M: Any
    """(n, n) mass matrix."""
    H: Any
    """(n, m) transposed contact Jacobian."""
    f: np.ndarray
    """(n,) forces or impulses without contact."""
    w: np.ndarray
    """(m,) constant part of the relative velocities."""
    mu: np.ndarray
    G: Any = None
    """(n, neq) transposed Jacobian of the equations."""
    b: np.ndarray | None = None
    spacedim: int = 3
    info: FCLibInfo | None = None

    matrices: ClassVar[tuple[str, ...]] = ("M", "H", "G")
    vectors: ClassVar[tuple[str, ...]] = ("f", "w", "mu", "b")
    needed: ClassVar[tuple[str, ...]] = ("M", "H", "f", "w", "mu")

    def __post_init__(self) -> None:
        n, m = _begin(self, "fclib_global", ("H", "M"), ("G",))
        if self.M.shape != (n, n):
            raise expected("fclib_global/M", f"a matrix {n} × {n}, as H has rows", self.M.shape)
        _vectors(self, "fclib_global", {"f": n, "w": m, "mu": m // self.spacedim})
        _friction("fclib_global", self.mu)
        if (self.G is None) != (self.b is None):
            raise expected("fclib_global", "G and vectors/b, or none of them", "one without the other")
        if self.G is not None:
            if self.G.m != n:
                raise expected("fclib_global/G", f"{n} rows, as many as H has", self.G.m)
            _vectors(self, "fclib_global", {"b": self.G.n})

    @cached_property
    def local(self) -> FCLibLocal:
        """The local problem that results from eliminating the velocities."""
        H, free = self.H.array(), self._solve(self.f[:, None])[:, 0]
        X = self._solved(H)
        W = sp.csr_array(H.T @ X)
        about: dict[str, Any] = {"mu": self.mu, "spacedim": self.spacedim, "info": self.info}
        if self.G is None:
            return FCLibLocal(0.5 * (W + W.T), self.w + H.T @ free, **about)
        G = self.G.array()
        R = sp.csr_array(G.T @ self._solved(G))
        return FCLibLocal(
            0.5 * (W + W.T), self.w + H.T @ free, V=X.T @ G, R=0.5 * (R + R.T), s=self.b + G.T @ free, **about
        )

    def velocity(self, r: np.ndarray, l: np.ndarray | None = None) -> np.ndarray:
        """(n,) v from contact impulses (m,) and those of the equations (neq,)."""
        right = self.H.array() @ r + self.f
        if self.G is not None and l is not None:
            right = right + self.G.array() @ l
        return self._solve(right[:, None])[:, 0]

    @cached_property
    def _factors(self) -> Any:
        try:
            return splu(sp.csc_array(self.M.array()))
        except RuntimeError as error:
            raise InputError(
                f"fclib_global/M: expected a matrix that can be inverted, got a singular one ({error})"
            ) from None

    def _solve(self, right: np.ndarray) -> np.ndarray:
        return self._factors.solve(np.ascontiguousarray(right))

    def _solved(self, right: sp.csr_array) -> sp.csc_array:
        columns = sp.csc_array(right)
        parts = [
            sp.csc_array(self._solve(columns[:, k : k + CHUNK].toarray())) for k in range(0, right.shape[1], CHUNK)
        ]
        return sp.hstack(parts, format="csc") if parts else sp.csc_array(right.shape)


@dataclass(frozen=True, eq=False)
class FCLibProblem:
    """The content of a file: a local problem, a global one or both, a solution and guesses."""

    local: FCLibLocal | None = None
    whole: FCLibGlobal | None = None
    solution: FCLibSolution | None = None
    guesses: tuple[FCLibSolution, ...] = ()

    def __post_init__(self) -> None:
        if self.local is None and self.whole is None:
            raise expected("problem", "a local or a global problem", "none")
        for where, found in [
            ("solution", self.solution),
            *((f"guesses/{k + 1}", g) for k, g in enumerate(self.guesses)),
        ]:
            if found is not None:
                self._check(where, found)

    @property
    def reduced(self) -> FCLibLocal:
        """The local problem; for a global problem the velocities are eliminated."""
        if self.local is not None:
            return self.local
        assert self.whole is not None
        return self.whole.local

    @property
    def friction(self) -> FrictionProblem:
        """The problem as a FrictionProblem, for solvers and for the judge."""
        return self.reduced.friction

    @property
    def info(self) -> FCLibInfo:
        found = (self.local or self.whole).info  # type: ignore[union-attr]
        return found or FCLibInfo()

    def answer(self, p: np.ndarray) -> FCLibSolution:
        """Convert impulses p of ``friction`` to FCLib's solution: u, r, and v for a global problem."""
        found = self.reduced.solution(np.asarray(p, dtype=float))
        v = None if self.whole is None else self.whole.velocity(found.r, found.l)
        return FCLibSolution(found.u, found.r, v, found.l)

    def impulses(self, solution: FCLibSolution) -> np.ndarray:
        """(neq + 3·nc,) the impulses p of ``friction`` from a solution."""
        return self.reduced.impulses(solution)

    def _check(self, where: str, found: FCLibSolution) -> None:
        first = self.local or self.whole
        m = self.local.W.m if self.local is not None else self.whole.H.n  # type: ignore[union-attr]
        neq = first.V if isinstance(first, FCLibLocal) else first.G  # type: ignore[union-attr]
        sizes = {"u": m, "r": m, "l": 0 if neq is None else neq.n, "v": self.whole.M.n if self.whole is not None else 0}
        for name, size in sizes.items():
            value = getattr(found, name)
            if value is None and (name in "ur" or size):
                raise expected(f"{where}/{name}", f"a vector of {size} numbers", "none")
            if value is not None and np.shape(value) != (size,):
                raise expected(f"{where}/{name}", f"a vector of {size} numbers", np.shape(value))


def from_friction(problem: FrictionProblem, info: FCLibInfo | None = None) -> FCLibProblem:
    """Convert a FrictionProblem to a local problem; bilateral rows become V, R and s."""
    nb, W = problem.bilateral, problem.W
    parts: dict[str, Any] = {}
    if nb:
        parts = {"V": W[nb:, :nb], "R": W[:nb, :nb], "s": problem.b[:nb]}
    return FCLibProblem(FCLibLocal(W[nb:, nb:], problem.b[nb:], problem.friction, info=info, **parts))


def _begin(problem: Any, where: str, needed: tuple[str, ...], optional: tuple[str, ...]) -> tuple[int, int]:
    """Convert the matrices to FCLibMatrix; return the shape of the first."""
    for name in needed + optional:
        value = getattr(problem, name)
        if value is not None:
            object.__setattr__(problem, name, fclib_matrix(value, f"{where}/{name}"))
    if problem.spacedim not in (2, 3):
        raise expected(f"{where}/spacedim", "2 or 3", problem.spacedim)
    first: FCLibMatrix = getattr(problem, needed[0])
    rows = first.m if where == "fclib_local" else first.n
    if rows == 0 or rows % problem.spacedim:
        wanted = f"{problem.spacedim} rows per contact, of at least one contact"
        raise expected(f"{where}/{needed[0]}", wanted, f"{rows} rows")
    return first.shape


def _vectors(problem: Any, where: str, sizes: dict[str, int]) -> None:
    for name, size in sizes.items():
        array = np.ascontiguousarray(getattr(problem, name), dtype=float)
        if array.shape != (size,):
            raise expected(f"{where}/vectors/{name}", f"a vector of {size} numbers", array.shape)
        if not np.all(np.isfinite(array)):
            raise expected(f"{where}/vectors/{name}", "finite numbers", "NaN or infinity")
        object.__setattr__(problem, name, array)


def _friction(where: str, mu: np.ndarray) -> None:
    if np.any(mu < 0.0):
        worst = int(np.argmin(mu))
        raise expected(f"{where}/vectors/mu", "friction coefficients ≥ 0", f"{mu[worst]:g} of contact {worst}")


def _spread(nc: int) -> sp.csr_array:
    """(3·nc, 2·nc) matrix that puts the two rows of each contact into three."""
    rows = (3 * np.arange(nc)[:, None] + np.arange(2)).ravel()
    return sp.csr_array((np.ones(2 * nc), (rows, np.arange(2 * nc))), shape=(3 * nc, 2 * nc))
