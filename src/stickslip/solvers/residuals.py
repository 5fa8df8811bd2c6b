"""The judge: how far any z is from a solution, measured in the same way for all solvers and independently of them.

The natural map of a box-constrained problem is z − mid(lower, z − F(z), upper), zero exactly at solutions; for an LCP
it is min(z, A·z + b). The natural merit of Williams et al., Sec. 5.2, is its norm; the maximum norm is used here.

Contacts with circular cones K = {|p_t| ≤ μ·p_n} are judged one by one, too. Both of their laws are K ∋ p ⟂ û ∈ K*,
Coulomb's with De Saxcé's û = u + (μ·|u_t|, 0, 0), the convex relaxation's with û = u. Zero at a solution are

    Signorini     |min(p_n, û_n − μ·|u_t|)|   which of Coulomb's law is |min(p_n, u_n)|   [N s or m/s, which is less]
    cone          |p − P_K(p)|, the distance of p from its cone                           [N s]
    dissipation   |p_t·u_t + μ·p_n·|u_t||, what friction falls short of the most          [J]
    angle         between p_t and −u_t of contacts that slide                             [rad]
    MERIT_1       ‖p − P_K(p − û)‖₂/(1 + √‖q‖₂) over all contacts, q = b, plus ‖u_b‖₂/(1 + ‖b_b‖₂) of bilateral rows

The last is FCLib's ``fclib_merit_local`` (Acary, Brémond, Koziara, Pérignon, INRIA RT-0444), square root in the
denominator included; it mixes N s and m/s. Differs from FCLib in: that works for W by columns only, and for contacts
with Coulomb's law only; per contact we give the norm without the denominator.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from stickslip.errors import expected
from stickslip.solvers.problem import ConeProblem, FrictionProblem, Problem

SLIDES = 1e-6
"""A contact slides if its tangential velocity is above this, relative to the largest |b|."""


UNITS = {
    "natural": "N s or m/s",
    "fischer_burmeister": "mixed",
    "signorini": "N s or m/s",
    "cone": "N s",
    "dissipation": "J",
    "angle": "rad",
    "merit_1": "mixed",
    "bilateral": "m/s",
}
"""Units of the fields of ``Residuals``."""


class ContactResiduals(NamedTuple):
    """Residuals per contact, as the module's docstring defines them."""

    natural: np.ndarray
    """(nc,) the largest entry of the natural map's three rows [N s or m/s]."""
    signorini: np.ndarray
    """(nc,) [N s or m/s]."""
    cone: np.ndarray
    """(nc,) [N s]."""
    dissipation: np.ndarray
    """(nc,) [J]."""
    angle: np.ndarray
    """(nc,) [rad], NaN where a contact does not slide."""
    merit_1: np.ndarray
    """(nc,) |p − P_K(p − û)|, without the denominator [N s or m/s]."""


@dataclass(frozen=True)
class Residuals:
    """The verdict of ``judge``: largest values over all contacts, infinite if the answer is not a number."""

    natural: float
    """‖natural map‖∞ [N s or m/s]; the same for all problems, and what solvers' tolerances mean."""
    fischer_burmeister: float | None = None
    """‖φ(z, w)‖₂; only for problems without circular cones and upper bounds."""
    signorini: float | None = None
    """[N s or m/s]; this and the following fields are None for problems without circular cones."""
    cone: float | None = None
    """[N s]."""
    dissipation: float | None = None
    """[J]."""
    angle: float | None = None
    """Over contacts that slide; 0 if none does [rad]."""
    merit_1: float | None = None
    """FCLib's MERIT_1 [mixed units]."""
    bilateral: float | None = None
    """‖u‖∞ of bilateral rows [m/s]."""
    contacts: ContactResiduals | None = None
    """Residuals contact by contact."""

    def numbers(self) -> dict[str, float | None]:
        """Values by name, without those per contact."""
        return {name: getattr(self, name) for name in UNITS}

    def __str__(self) -> str:
        there = {name: value for name, value in self.numbers().items() if value is not None}
        return "\n".join(f"{name:18} {value:9.2e} {UNITS[name]}" for name, value in there.items())


def judge(problem: Problem, z: np.ndarray) -> Residuals:
    """Compute every residual of an answer z (n,) to a problem."""
    z = np.asarray(z, dtype=float)
    if z.shape != (problem.n,):
        raise expected("z", f"a vector of {problem.n} numbers", z.shape)
    size = natural(problem, z)
    if not isinstance(problem, FrictionProblem | ConeProblem):
        smooth = not np.any(np.isfinite(problem.upper))
        return Residuals(size, fischer_burmeister(problem, z) if smooth else None)
    nb = problem.bilateral
    each = contact_residuals(problem, z)
    u_b = problem.function(z)[:nb]
    merit = np.linalg.norm(each.merit_1) / (1.0 + np.sqrt(np.linalg.norm(problem.b[nb:])))
    if nb:
        merit += np.linalg.norm(u_b) / (1.0 + np.linalg.norm(problem.b[:nb]))
    slides = each.angle[~np.isnan(each.angle)]
    return Residuals(
        natural=size,
        signorini=_largest(each.signorini),
        cone=_largest(each.cone),
        dissipation=_largest(each.dissipation),
        angle=_largest(slides),
        merit_1=_largest(np.array([merit])),
        bilateral=_largest(np.abs(u_b)),
        contacts=each,
    )


def contact_residuals(problem: FrictionProblem | ConeProblem, z: np.ndarray) -> ContactResiduals:
    """Residuals of each contact."""
    nb, mu = problem.bilateral, problem.friction
    p, u = z[nb:].reshape(-1, 3), problem.function(z)[nb:].reshape(-1, 3)
    speed = np.hypot(u[:, 1], u[:, 2])
    lift = mu * speed
    shifted, normal = u.copy(), u[:, 0]
    if isinstance(problem, FrictionProblem):
        shifted[:, 0] += lift
    else:
        normal = normal - lift
    power = p[:, 1] * u[:, 1] + p[:, 2] * u[:, 2]
    slides = (speed > SLIDES * np.max(np.abs(problem.b), initial=0.0)) & (mu * p[:, 0] > 0.0)
    turn = np.arctan2(np.abs(p[:, 1] * u[:, 2] - p[:, 2] * u[:, 1]), -power)
    return ContactResiduals(
        natural=np.max(np.abs(natural_map(problem, z)[nb:].reshape(-1, 3)), axis=1, initial=0.0),
        signorini=np.abs(np.minimum(p[:, 0], normal)),
        cone=np.linalg.norm(p - project_cones(p, mu), axis=1),
        dissipation=np.abs(power + mu * p[:, 0] * speed),
        angle=np.where(slides, turn, np.nan),
        merit_1=np.linalg.norm(p - project_cones(p - shifted, mu), axis=1),
    )


def _largest(values: np.ndarray) -> float:
    size = float(np.max(values, initial=0.0))
    return size if size == size else np.inf


def natural_map(problem: Problem, z: np.ndarray) -> np.ndarray:
    """(n,) zero at a solution. For a friction problem it is the fixed-point map of normals and of disks of radius
    μ·p_n, for a cone problem p − (the projection of p − u onto the cones)."""
    if isinstance(problem, FrictionProblem):
        return _friction_map(problem, z)
    if isinstance(problem, ConeProblem):
        return _cone_map(problem, z)
    return z - np.clip(z - problem.function(z), problem.lower, problem.upper)


def _friction_map(problem: FrictionProblem, p: np.ndarray) -> np.ndarray:
    u = problem.function(p)
    result = u.copy()  # bilateral rows are equations
    contacts, speeds = p[problem.bilateral :].reshape(-1, 3), u[problem.bilateral :].reshape(-1, 3)
    moved = contacts[:, 1:] - speeds[:, 1:]
    length = np.hypot(moved[:, 0], moved[:, 1])
    radius = problem.friction * np.maximum(0.0, contacts[:, 0])
    shrink = radius / np.where(length > 0.0, length, 1.0)
    own = result[problem.bilateral :].reshape(-1, 3)  # u instead of p − (p − u), which a huge p would round away
    own[:, 0] = np.minimum(contacts[:, 0], speeds[:, 0])
    own[:, 1:] = np.where((length > radius)[:, None], contacts[:, 1:] - moved * shrink[:, None], speeds[:, 1:])
    return result


def _cone_map(problem: ConeProblem, p: np.ndarray) -> np.ndarray:
    u = problem.function(p)
    result = u.copy()
    contacts = p[problem.bilateral :].reshape(-1, 3)
    speeds = u[problem.bilateral :].reshape(-1, 3)
    moved = contacts - speeds
    within = np.hypot(moved[:, 1], moved[:, 2]) <= problem.friction * moved[:, 0]
    inside = within & (moved[:, 0] >= 0.0)  # ≥ 0 for μ = 0; inside the cone p − (p − u) is exactly u
    away = contacts - project_cones(moved, problem.friction)
    result[problem.bilateral :] = np.where(inside[:, None], speeds, away).ravel()
    return result


def project_cones(x: np.ndarray, friction: np.ndarray) -> np.ndarray:
    """(nc, 3) the points of the cones that are nearest to x (nc, 3)."""
    length = np.hypot(x[:, 1], x[:, 2])
    normal = np.maximum(0.0, (x[:, 0] + friction * length) / (1.0 + friction**2))
    shrink = friction * normal / np.where(length > 0.0, length, 1.0)
    nearest = np.column_stack([normal, x[:, 1:] * shrink[:, None]])
    return np.where(((length <= friction * x[:, 0]) & (x[:, 0] >= 0.0))[:, None], x, nearest)


def natural(problem: Problem, z: np.ndarray) -> float:
    """‖natural map‖∞; infinite if z is not a number."""
    if problem.n == 0:
        return 0.0
    size = float(np.max(np.abs(natural_map(problem, z))))
    return size if size == size else np.inf


def fischer_burmeister(problem: Problem, z: np.ndarray) -> float:
    """‖φ(z, w)‖₂ with φ(a, b) = √(a² + b²) − a − b, for problems whose bounds are 0 or −∞ below and ∞ above."""
    if isinstance(problem, FrictionProblem | ConeProblem) or np.any(np.isfinite(problem.upper)):
        raise TypeError("Fischer–Burmeister's function is for 0 ≤ z ⟂ w ≥ 0 and equations")
    w = problem.function(z)
    a = z - np.where(np.isfinite(problem.lower), problem.lower, 0.0)
    phi = np.where(np.isfinite(problem.lower), np.hypot(a, w) - a - w, w)
    return float(np.linalg.norm(phi))
