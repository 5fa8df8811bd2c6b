"""Fischer–Newton: damped Newton on Fischer and Burmeister's function, for LCP, mixed LCP and NCP.

    φ(z_i, w_i) = z_i + w_i − √(z_i² + w_i²) = 0,  w = A·z + b,  z (n,)

It has no derivative where z_i = w_i = 0; the option ``singular`` chooses one. See ``nonsmooth_newton`` for the method
and ``complementarity`` for bounds.

A. Fischer, "A special Newton-type optimization method", Optimization 24, 1992; K. Erleben, "Numerical methods for
linear complementarity problems in physics-based animation", SIGGRAPH courses 2013, Sec. 5.
Differs from the paper in: see ``nonsmooth_newton``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from stickslip.errors import one_of
from stickslip.solvers.newton.complementarity import fischer, fischer_merit
from stickslip.solvers.newton.newton_core import KINK
from stickslip.solvers.newton.nonsmooth_newton import NonsmoothNewton, _Point
from stickslip.solvers.newton.scaled import Scaled

SINGULAR = ("perturb", "zero", "random", "approximate")


@dataclass
class FischerNewton(NonsmoothNewton):
    singular: str = "perturb"
    """Derivatives at z_i = w_i = 0: "perturb" (those at z_i = w_i > 0), "zero" (z_i stays), "random" (an element of the
    generalised gradient, by ``seed``) or "approximate" (the limit along the direction in which all such z_i grow alike,
    an element of Clarke's generalised Jacobian)."""
    seed: int = 0
    """Seed of ``singular="random"``."""
    _random: np.random.Generator = field(default_factory=np.random.default_rng, init=False, repr=False)

    summary: ClassVar[str] = "damped Newton on Fischer–Burmeister's function; dense, sparse or matrix-free"
    reference: ClassVar[str] = "Fischer 1992; Erleben 2013"
    bibtex: ClassVar[tuple[str, ...]] = ("fischer1992", "erleben2013")
    page: ClassVar[str] = "docs/solvers.md#fischer-newton"
    smooth: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("treatment of singular points", self.singular, SINGULAR)
        self._random = np.random.default_rng(self.seed)

    @property
    def compiled(self) -> bool:
        return super().compiled and self.singular == "perturb"

    @classmethod
    def options(cls) -> tuple[str, ...]:
        return tuple(name for name in super().options() if not name.startswith("_"))

    def _evaluate(self, system: Scaled, A: Any, y: np.ndarray, w: np.ndarray, at: _Point) -> float:
        kink = KINK * system.size()
        merit = fischer(y, w, system.lower, system.upper, kink, at.phi, at.by_y, at.by_w)
        if self.singular != "perturb":
            there = (np.hypot(y - system.lower, w) <= kink) | (np.hypot(system.upper - y, w) <= kink)
            if np.any(there):
                self._choose(A, np.flatnonzero(there), at)
        return merit

    def _choose(self, A: Any, there: np.ndarray, at: _Point) -> None:
        if self.singular == "zero":
            at.by_y[there], at.by_w[there] = 1.0, 0.0
        elif self.singular == "random":
            angle = self._random.uniform(0.0, 2.0 * np.pi, len(there))
            at.by_y[there], at.by_w[there] = 1.0 - np.cos(angle), 1.0 - np.sin(angle)
        else:
            growing = np.zeros(len(at.phi))
            growing[there] = 1.0
            b = (A @ growing)[there]
            r = np.hypot(1.0, b)
            at.by_y[there], at.by_w[there] = 1.0 - 1.0 / r, 1.0 - b / r

    def _merit(self, system: Scaled, y: np.ndarray, w: np.ndarray) -> float:
        return fischer_merit(y, w, system.lower, system.upper)
