"""Which options of ``expo`` the variant ``paper`` fixes, and to what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stickslip.errors import expected
from stickslip.methods.expo.viscoelastic_pade import DENSE_TOLERANCE

PAPER: dict[str, Any] = {
    "freeze": "start",
    "events": "none",
    "slip": "project",
    "order": 1,
    "rest": "detected",
    "tolerance": DENSE_TOLERANCE,
}
"""The paper's choices; its standard exponential reaches double precision (Sec. V-C)."""


def paper_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of ``expo/paper``; one that the paper chooses otherwise is an error by name."""
    for name, value in PAPER.items():
        got = given.get(name, value)
        if not isinstance(got, str | float | int) or got != value:
            raise expected(
                f"{name} of expo/paper", f"{value!r}, which the paper fixes", got, "method='expo' has others"
            )
    matmuls = given.get("matmuls")
    if isinstance(matmuls, str) and matmuls == "pade":
        wanted = "'auto' or a whole number from 0 to 6, since its exponential is dense"
        raise expected("matmuls of expo/paper", wanted, "pade", "method='expo' has it")
    return {**PAPER, **given}
