"""METRICS: every figure of the scorecard. A new figure is a function of Measurements and an entry here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import nan

from stickslip.lab.compare.scorecard import balances, contact_laws, places
from stickslip.lab.compare.scorecard.measurements import Measurements, Timing, measurements
from stickslip.model.model import Model
from stickslip.record import Log


@dataclass(frozen=True)
class Metric:
    """A figure of a recorded run."""

    name: str
    title: str
    """Heading of a table's column."""
    unit: str
    meaning: str
    """Definition in one sentence, with the equation."""
    better: str
    """Which is better: "lower", "higher", or "" for neither."""
    compute: Callable[[Measurements], float]
    """Computes the figure; NaN where it has no meaning."""


def real_time_factor(e: Measurements) -> float:
    return nan if e.timing is None else e.timing.span / e.timing.wall


def us_per_step(e: Measurements) -> float:
    return nan if e.timing is None else 1e6 * e.timing.wall / e.timing.steps


def unconverged(e: Measurements) -> float:
    log, last = e.log, e.frames - 1
    steps = int(log.steps[last] - log.steps[0])
    return float(log.unconverged[last] - log.unconverged[0]) / steps if steps else nan


_ALL = (
    Metric("real_time_factor", "real time", "×",
           "Simulated time over computing time, of a run that is not recorded.", "higher", real_time_factor),
    Metric("us_per_step", "per step", "µs",
           "Computing time over steps, of the same run.", "lower", us_per_step),
    Metric("penetration_max", "deepest", "m",
           "Largest overlap of two shapes, max(−gap, 0), over all frames, by one detector for all methods.",
           "lower", contact_laws.penetration_max),
    Metric("penetration_mean", "depth", "m",
           "The deepest overlap of each frame, 0 where there is none, averaged over the frames.",
           "lower", contact_laws.penetration_mean),
    Metric("joint_drift", "joint drift", "m or rad",
           "Largest opening of a joint or loop: poses of links on their parents against those that q gives, and the "
           "two frames of each loop against each other.", "lower", places.joint_drift),
    Metric("energy_gained", "energy gained", "J",
           "Largest rise of B = T + V + U − ∫ τ·dq (energy, springs included, less the work of actuators) above an "
           "earlier value: max over s ≤ t of B(t) − B(s).", "lower", balances.energy_gained),
    Metric("energy_lost", "energy lost", "J",
           "B(0) − B(end) of the same balance: to friction, impacts and dampers, and to the method.",
           "", balances.energy_lost),
    Metric("momentum_error", "momentum error", "N s",
           "Largest |p(t) − p(0) − Σ dt·(contact forces + weight)| of trees that float freely, where every step is "
           "recorded.", "lower", balances.momentum_error),
    Metric("signorini", "Signorini", "1 or m",
           "Largest |min(fₙ/load, gap⁺)|: forces that pull, relative to the load (the weight, or all normal forces of "
           "the frame where they are more), and gaps [m] across which a force acts.", "lower", contact_laws.signorini),
    Metric("cone", "cone", "1",
           "Largest max(|f_t| − μ·fₙ, 0)/load: friction outside Coulomb's cone, relative to the load.",
           "lower", contact_laws.cone),
    Metric("dissipation", "dissipation", "1",
           "∫ Σ (μ·fₙ·|v_t| + f_t·v_t) dt / ∫ Σ μ·fₙ·|v_t| dt, the missing fraction of friction's possible work; "
           "the denominator is at least 1 mm times the weight or the mean load. 0 is Coulomb's law.",
           "lower", contact_laws.dissipation),
    Metric("creep", "creep", "m/s",
           "Median tangential speed, weighted by fₙ·dt, of contacts that should stick, as their friction is below "
           "99 % of μ·fₙ.", "lower", contact_laws.creep),
    Metric("unconverged", "unconverged", "1",
           "Fraction of steps whose solver did not reach its tolerance.", "lower", unconverged),
    Metric("error_max", "error", "m",
           "Largest distance of a link from the reference, d² = |Δc|² + tr(ΔR·Σ·ΔRᵀ): the root mean square over its "
           "mass.", "lower", places.error_max),
    Metric("error_rms", "mean error", "m",
           "The same distance as a root mean square over frames and all mass, √(mean of Σ m·d²/Σ m).",
           "lower", places.error_rms),
    Metric("error_final", "final error", "m",
           "The same over all mass in the last frame, √(Σ m·d²/Σ m).", "lower", places.error_final),
)  # fmt: skip

METRICS: dict[str, Metric] = {metric.name: metric for metric in _ALL}


def score(
    log: Log, *, reference: Log | None = None, timing: Timing | None = None, model: Model | None = None
) -> dict[str, float]:
    """All METRICS of a recorded run; NaN where one has no meaning.

    ``reference`` is a recording of the same scene that errors are measured against, ``timing`` an unrecorded run of the
    same method. ``model`` is the recording's scene, if it is compiled already.
    """
    found = measurements(log, reference=reference, timing=timing, model=model)
    return {name: float(metric.compute(found)) for name, metric in METRICS.items()}
