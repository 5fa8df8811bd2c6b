"""Cores: solvers as compiled functions of one signature, which a compiled time step calls by their address.

There are two signatures, both int64(…) with a code of ``base.CODES`` as result:

    contacts with circular cones   (W, data, indices, indptr, R, b, friction, p, real, whole, history, options)
    LCPs                           (A, b, start, member, z, real, whole, history, options)

W (n, n) or A (n, n) is dense; with W of shape (0, 0) the matrix is CSR. p or z (n,) is the start and then the answer.
A core for contacts has no bilateral rows; R (n,) is the diagonal that W lacks, zero for Coulomb's law. An LCP's blocks
are member[start[k]:start[k + 1]]. ``real`` and ``whole`` are scratch of the sizes that ``Core.room`` gives;
``whole[0]`` is the number of iterations that were done. ``history`` is (iterations + 1,), or (0,) if none is wanted.
``options`` begins with the limit on the natural residual, the largest number of iterations and whether the law is
Coulomb's; a solver's own options follow.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba.core import types

from stickslip._jit import address, caller, kernel
from stickslip.solvers.problem import ConeProblem, FrictionProblem, LinearProblem
from stickslip.solvers.storage import SMALL

CONVERGED, MAX_ITERATIONS, RAY, STALLED, SINGULAR = range(5)
"""The codes that cores return: places in ``base.CODES``."""
AIM = 0.99
"""Part of the limit that iterations on contacts aim at, because the final check rounds differently."""
LIMIT, MOST, COULOMB, OWN = 0, 1, 2, 3
"""Places in ``options``; a solver's own options begin at OWN."""
LARGEST = 400
"""Largest number of unknowns of cores without factorisations."""
OPTIONS = 12
"""Number of options that there is room for."""

_real, _whole, _matrix = types.float64[::1], types.int64[::1], types.float64[:, ::1]
CONES = types.int64(
    _matrix, _real, _whole, _whole, _real, _real, _real, _real, _real, _whole, _real, _real
)  # fmt: skip
LCPS = types.int64(_matrix, _real, _whole, _whole, _real, _real, _whole, _real, _real)
SIGNATURES = {"cones": CONES, "lcp": LCPS}
call_cones = caller(CONES)
call_lcp = caller(LCPS)


class Core(NamedTuple):
    """The core of a solver, with its options."""

    function: Any
    kind: str
    """ "cones" or "lcp"."""
    most: int
    """Largest number of iterations."""
    own: tuple[float, ...]
    """The solver's own options."""
    room: Callable[[int], tuple[int, int]]
    """n ↦ the sizes of ``real`` and ``whole`` for problems of n unknowns."""
    sparse: bool = False
    """Whether it takes CSR matrices."""
    largest: int = SMALL
    """Largest number of unknowns of a dense problem; above it LAPACK, which only Python calls, is faster."""

    def options(self) -> np.ndarray:
        """(OPTIONS,) with the limit and the law still open."""
        options = np.zeros(OPTIONS)
        options[MOST] = self.most
        options[OWN : OWN + len(self.own)] = self.own
        return options

    def address(self) -> Any:
        """What ``call_cones`` or ``call_lcp`` needs; compiles the core at its first use."""
        return _address(self.function, self.kind)


@cache
def _address(function: Any, kind: str) -> Any:
    return address(function, SIGNATURES[kind])


def fits(core: Core, problem: Any) -> bool:
    """Whether a core takes a problem: dense matrices that are not too large, no bilateral rows, no upper bounds."""
    if problem.n > core.largest or getattr(problem, "sparse", True):
        return False
    if isinstance(problem, LinearProblem):
        return core.kind == "lcp" and problem.kind == "lcp"
    return isinstance(problem, FrictionProblem | ConeProblem) and core.kind == "cones" and problem.bilateral == 0


_NONE, _NOWHERE = np.zeros(0), np.zeros(0, dtype=np.int64)


def run_core(
    core: Core, problem: Any, z: np.ndarray, limit: float, history: bool
) -> tuple[np.ndarray, int, int, np.ndarray]:
    """Solve a problem that the core takes, from the start z (n,); returns z, a code, iterations and their history."""
    n, options = problem.n, core.options()
    options[LIMIT], options[COULOMB] = limit, isinstance(problem, FrictionProblem)
    reals, wholes = core.room(n)
    real, whole = np.zeros(reals), np.zeros(wholes, dtype=np.int64)
    kept = np.zeros(core.most + 1 if history else 0)
    z = np.ascontiguousarray(z)
    if isinstance(problem, LinearProblem):
        start, member = block_lists(problem)
        code = core.function(problem.A, problem.b, start, member, z, real, whole, kept, options)
    else:
        R = problem.regularisation if isinstance(problem, ConeProblem) else np.zeros(n)
        given = (problem.W, _NONE, _NOWHERE, _NOWHERE, R, problem.b, problem.friction)
        code = core.function(*given, z, real, whole, kept, options)
    done = int(whole[0])
    return z, int(code), done, kept[: done + 1]


def block_lists(problem: LinearProblem) -> tuple[np.ndarray, np.ndarray]:
    """The blocks of a problem as ``start`` and ``member``; both are empty if there are none."""
    if not problem.blocks:
        return _NOWHERE, _NOWHERE
    start = np.cumsum([0, *(len(block) for block in problem.blocks)], dtype=np.int64)
    return start, np.ascontiguousarray(np.concatenate(problem.blocks), dtype=np.int64)


@kernel
def largest_entry(b):
    """max |b_i|, NaN if anything is."""
    largest = 0.0
    for i in range(b.shape[0]):
        if not abs(b[i]) <= largest:
            largest = abs(b[i])
    return largest
