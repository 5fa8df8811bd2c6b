"""How well recorded contacts obey the laws of rigid contact: no overlap, Signorini, Coulomb's cone, most dissipation.

Soft contacts violate these laws slightly, by design; the figures say by how much. Forces are relative to
``Measurements.load``.
"""

from __future__ import annotations

from math import nan

import numpy as np

from stickslip.lab.compare.scorecard.measurements import Measurements

SLIP = 1e-3
"""[m] Least sliding distance of the usual load that friction's work is compared with."""
INSIDE = 0.99
"""Friction below this fraction of μ·fₙ is strictly inside the cone, where Coulomb's contacts stick."""


def penetration_max(e: Measurements) -> float:
    return float(e.seen.depth.max())


def penetration_mean(e: Measurements) -> float:
    return float(e.seen.depth.mean())


def signorini(e: Measurements) -> float:
    """Natural map of 0 ≤ gap ⟂ fₙ ≥ 0 without overlap; a gap counts if it is open during the whole step."""
    if not e.contacts:
        return nan
    before = e.contact("gap") - e.dt * e.contact("velocity")[:, 0]
    gap = np.maximum(np.minimum(e.contact("gap"), before), 0.0)
    return float(np.abs(np.minimum(e.normal_force / e.load, gap)).max())


def cone(e: Measurements) -> float:
    if not e.contacts:
        return nan
    return float((np.maximum(e.friction_force - e.cone, 0.0) / e.load).max())


def dissipation(e: Measurements) -> float:
    """Missing fraction of the work that Coulomb's law dissipates for the same slip and normal forces."""
    span = e.time[-1] - e.time[0]
    if not e.contacts or span == 0.0:
        return nan
    power = -np.einsum("ij,ij->i", e.contact("force")[:, 1:], e.contact("velocity")[:, 1:])
    seconds, most = e.share[e.frame], e.cone * e.slip
    usual_load = max(e.weight, float(seconds @ np.abs(e.normal_force)) / span)
    scale = max(float(seconds @ most), SLIP * usual_load)
    return float(seconds @ (most - power)) / scale if scale > 0.0 else nan


def creep(e: Measurements) -> float:
    """Median slip of contacts that should stick, weighted by normal force and time.

    It is a median because impacts shake soft contacts, and contacts with polygonal cones slide inside the circular one.
    """
    sticking = np.flatnonzero(e.friction_force < INSIDE * e.cone)
    slowest_first = sticking[np.argsort(e.slip[sticking])]
    load = np.cumsum(e.normal_force[slowest_first] * e.share[e.frame[slowest_first]])
    if not len(load) or load[-1] <= 0.0:
        return nan
    return float(e.slip[slowest_first[np.searchsorted(load, 0.5 * load[-1])]])
