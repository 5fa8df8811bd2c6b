"""Options of bilateral contacts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stickslip.constraints.bilateral import Baumgarte
from stickslip.errors import InputError, number, one_of, true_or_false, unknown
from stickslip.methods.options import Options, option
from stickslip.methods.recovery import RECOVERY_TIME

STABILISATIONS = ("projection", "baumgarte", "none")
UNCONVERGED = ("warn", "raise")
NO_FALLBACK = "constraints that contradict each other do so for every solver"


@dataclass(kw_only=True)
class BilateralOptions(Options):
    """Options of bilateral contacts."""

    stabilisation: str | Baumgarte = option(
        "projection", "how errors of position are removed: 'projection', 'baumgarte', a Baumgarte(kp, kd), or 'none'"
    )
    release: bool = option(False, "whether a contact lets go when it would pull")
    touch: float = option(0.0, "gap [m] up to which contacts touch")
    detector: Any = option(
        None, "what finds contacts: a name, a Detector, or a function of (kinematics, contacts) (default 'convex')"
    )
    recovery_time: float = option(
        RECOVERY_TIME,
        "time [s] in which a radian, or a typical body's radius, outside a joint's range is undone; 0: at once",
    )
    unconverged: str = option("warn", "what to do where constraints contradict each other: 'warn' or 'raise'")
    mu: float = option(1e-8, "the proximal parameter over the largest diagonal entry of G")

    def __post_init__(self) -> None:
        true_or_false("release", self.release)
        if self.unconverged == "fallback":
            raise InputError(f"unconverged: bilateral has no 'fallback': {NO_FALLBACK}; use warn or raise")
        one_of("unconverged", self.unconverged, UNCONVERGED)
        if isinstance(self.stabilisation, str) and self.stabilisation not in STABILISATIONS:
            raise unknown("stabilisation", self.stabilisation, STABILISATIONS)
        self.touch = number("touch", self.touch, "a distance ≥ 0 [m]", least=0.0)
