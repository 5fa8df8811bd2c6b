"""Minmap–Newton: damped Newton on the minimum map, for LCP, mixed LCP and NCP.

    min(z_i, w_i) = 0,  w = A·z + b,  z (n,);   with bounds z − mid(lower, z − w, upper) = 0

A row is either at its bound, z_i = lower_i, or an equation, w_i = 0. Every iteration solves the equations of the
present active set, a smaller system than Fischer–Newton's, which is exact once the set is right. Active sets may cycle
where Fischer–Newton's smoother merit still descends. See ``nonsmooth_newton`` for the method.

J.-S. Pang, "Newton's method for B-differentiable equations", Math. Oper. Res. 15, 1990; K. Erleben, "Numerical methods
for linear complementarity problems in physics-based animation", SIGGRAPH courses 2013, Sec. 4.
Differs from the paper in: see ``nonsmooth_newton``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from stickslip.solvers.newton.complementarity import minmap, minmap_merit
from stickslip.solvers.newton.nonsmooth_newton import NonsmoothNewton, _Point
from stickslip.solvers.newton.scaled import Scaled


@dataclass
class MinmapNewton(NonsmoothNewton):
    summary: ClassVar[str] = (
        "damped Newton on the minimum map: an active set per iteration; dense, sparse or matrix-free"
    )
    reference: ClassVar[str] = "Pang 1990; Erleben 2013"
    bibtex: ClassVar[tuple[str, ...]] = ("pang1990", "erleben2013")
    page: ClassVar[str] = "docs/solvers.md#minmap-newton"
    smooth: ClassVar[bool] = False

    def _evaluate(self, system: Scaled, A: Any, y: np.ndarray, w: np.ndarray, at: _Point) -> float:
        return minmap(y, w, system.lower, system.upper, 0.0, at.phi, at.by_y, at.by_w)

    def _merit(self, system: Scaled, y: np.ndarray, w: np.ndarray) -> float:
        return minmap_merit(y, w, system.lower, system.upper)
