"""The paper's systems by ``solve_ess``, and how ε is found that makes an error as large as MuJoCo's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from stickslip.ess import solve_ess
from stickslip.ess.result import EssResult
from stickslip.lab.papers.event_selected import systems
from stickslip.lab.papers.event_selected.exact import Hop
from stickslip.lab.papers.event_selected.setups import DT, END, LEGS_END, SAMPLES, TABLE_END, TABLE_START, Bed, Legs

TIMES = DT * np.arange(SAMPLES + 1)
"""Times at which errors are taken [s]."""
RTOL, ATOL = 1e-5, 1e-8
"""Tolerances of calibrated runs: at most a tenth of MuJoCo's error, so that ε decides."""
REFERENCE: dict[str, Any] = {"eps": 0.0, "rtol": 1e-12, "atol": 1e-14}
"""Every crossing located, one at a time."""
MOST_STEPS = 20_000
"""Before a run counts as one that does not reach its end."""
SMALLEST, LARGEST, HALVINGS = 1e-4, 0.1, 10
"""Interval in which ε is sought [m], and how often it is halved (in log ε)."""


def table(eps: float, times: np.ndarray | None = None) -> EssResult:
    """Tab. 4.1; steps so exact that projections make the error."""
    return solve_ess(
        systems.table_field, systems.table_guards, systems.table_slopes, (0.0, TABLE_END), TABLE_START, eps,
        rtol=1e-12, atol=1e-14, t_eval=times,
    )  # fmt: skip


def hopper(hop: Hop, end: float = END, **options: Any) -> EssResult:
    return solve_ess(
        systems.hopper_field, systems.hopper_guards, systems.hopper_slopes, (0.0, end), (hop.height, 0.0),
        args=(hop.stiffness,), reset=systems.opposite(1), **{"rtol": RTOL, "atol": ATOL} | options,
    )  # fmt: skip


def three_legs(legs: Legs, start: np.ndarray, eps: float, **options: Any) -> EssResult:
    """Steps so exact that projections make the error."""
    return solve_ess(
        systems.legs_field, systems.legs_guards, systems.legs_slopes, (0.0, LEGS_END), start, eps,
        args=tuple(legs), reset=systems.opposite(3), **{"rtol": 1e-12, "atol": 1e-14} | options,
    )  # fmt: skip


def plate(bed: Bed, start: np.ndarray, reset: np.ndarray, matrix: bool = False, **options: Any) -> EssResult:
    """``reset`` is ``systems.opposite(n)``, made once. ``matrix``: with Dh (2n, 6) as in the paper.

    Without it, rates of guards are differences of h along f: two evaluations of h in place of a matrix, half of which
    is zero, and its product.
    """
    slopes = systems.plate_slopes if matrix else None
    return solve_ess(
        systems.plate_field, systems.plate_guards, slopes, (0.0, END), start, args=tuple(bed),
        reset=reset, **{"rtol": RTOL, "atol": ATOL, "max_steps": MOST_STEPS} | options,
    )  # fmt: skip


def calibrate(error: Callable[[float], float], wanted: float) -> tuple[float, float]:
    """(ε, its error): the largest ε found by bisection with an error of at most ``wanted``."""
    low, high = np.log(SMALLEST), np.log(LARGEST)
    best = SMALLEST, error(SMALLEST)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        found = error(float(np.exp(middle)))
        if found <= wanted:
            low, best = middle, (float(np.exp(middle)), found)
        else:
            high = middle
    return best
