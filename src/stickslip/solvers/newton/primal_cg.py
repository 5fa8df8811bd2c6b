"""Nonlinear conjugate gradients on the relaxed contact problem's primal cost (``primal``), with an exact line search.

In the metric of the kinetic energy the gradient at q is −r = q − p, and the directions are Polak and Ribière's,

    d ← r + β·d,    β = max(0, r·W·(r − r_last)/(r_last·W·r_last)).

Cost per iteration: one product by W, n² or the stored entries of CSR, and no factorisation. The number of iterations
grows like √(W/R) and with the height of piles.

Reference: Polak, Ribière 1969; Nocedal, Wright, "Numerical Optimization", Sec. 5.2 (PR+); MuJoCo's documentation,
"Computation: Algorithms". Differs from MuJoCo in: impulses instead of accelerations; rows without R (``primal``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from stickslip.solvers.newton.primal import Primal


@dataclass
class PrimalCG(Primal):
    """Conjugate gradients on velocities."""

    summary: ClassVar[str] = "primal nonlinear conjugate gradients on the relaxed problem; only products by W"
    reference: ClassVar[str] = "Polak and Ribière 1969; Todorov 2014"
    bibtex: ClassVar[tuple[str, ...]] = ("polak1969", "todorov2014")
    page: ClassVar[str] = "docs/solvers.md#cg"
    least: ClassVar[float] = 1e-3
    shrink: ClassVar[float] = 0.1
    share: ClassVar[float] = 0.3
    usual_limit: ClassVar[int] = 10000
    newton: ClassVar[bool] = False
