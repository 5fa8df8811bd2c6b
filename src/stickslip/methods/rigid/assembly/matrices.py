"""Matrices: what all formulations of a time step share, as in ``preDynamics`` of the RPI simulator.

    v⁺ = v_free + M⁻¹·Gᵀ·p,    v_free = v + M⁻¹·p_ext

G stacks bilateral (joint) rows and three rows per contact, (normal, tangent 1, tangent 2), each the velocity of body 2
relative to body 1; p [N s, N m s] are their impulses. A bilateral row asks for G·v⁺ + C·p = t: rigid joints have
C = t = 0, soft rows (rotors, dampers, springs) C > 0. Sizes: nb bilateral rows, nc contacts, m = nb + 3nc.
``Assembler`` makes them; they can also be made from arrays, such as those of a file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse.linalg import spsolve

from stickslip.methods.rigid.assembly.dry_bounds import bound_in_use
from stickslip.model.shape import DEFAULT_DAMPING, DEFAULT_STIFFNESS

FIRST_DRY = -(1 << 40)
"""Id of the first row of dry friction; the next are lower by one each."""


FIRST_SPIN = -(1 << 62)
"""Ids of torsional and rolling friction are this plus twice the id of their contact, and one more for rolling."""


class MadeWhenAsked:
    """A field that may be given as a function without arguments, which is called when the field is first read."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, matrices, owner=None) -> Any:
        if matrices is None:
            raise AttributeError(self.name)  # to a dataclass: there is no default
        value = matrices.__dict__[self.name]
        if callable(value):
            value = matrices.__dict__[self.name] = value()
        return value

    def __set__(self, matrices, value: Any) -> None:
        matrices.__dict__[self.name] = value


@dataclass
class Matrices:
    """The dynamics of one time step as its constraints see them; a formulation makes a problem of them."""

    dt: float
    """[s]."""
    mass: Any = MadeWhenAsked()
    """(nv, nv) CSR: M, armature and implicit joint damping included."""
    rows: Any = MadeWhenAsked()
    """(m, nv) CSR: G, nb bilateral rows, then (normal, tangent 1, tangent 2) per contact."""
    bilateral: int = field(kw_only=True)
    """Number nb of bilateral rows."""
    delassus: Any = field(kw_only=True)
    """(m, m) G·M⁻¹·Gᵀ, and C on the diagonal of bilateral rows, dense or CSR [1/kg]."""
    velocity: np.ndarray = field(kw_only=True)
    """(nv,) velocity at the beginning of the step."""
    free_velocity: np.ndarray = field(kw_only=True)
    """(nv,) velocity at its end if no row carried an impulse."""
    gap: np.ndarray = field(kw_only=True)
    """(nc,) gaps ψ_n [m]."""
    friction: np.ndarray = field(kw_only=True)
    """(nc,) μ."""
    restitution: np.ndarray = field(kw_only=True)
    """(nc,) Newton's coefficient e."""
    stiffness: np.ndarray = None  # type: ignore[assignment]
    """(nc,) K of the contacts [N/m], infinite for joint limits; by default the materials' default."""
    damping: np.ndarray = None  # type: ignore[assignment]
    """(nc,) B of the contacts [N s/m]; by default the materials' default."""
    violation: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """(nb,) position errors of the bilateral rows [m or rad]."""
    compliance: np.ndarray = None  # type: ignore[assignment]
    """(nb,) compliance C ≥ 0 of the bilateral rows, which are soft if it is not zero [1/kg]; by default zero."""
    target: np.ndarray = None  # type: ignore[assignment]
    """(nb,) target t of the bilateral rows [m/s]; by default zero."""
    groups: np.ndarray | None = None
    """(ng + 1,) group g has the subcontacts groups[g] … groups[g + 1] − 1; None: each contact is its own group."""
    limits: int = 0
    """Number of rows of single joints, which are the last contacts: limits (no friction, empty tangential rows, gaps in
    rad or m), then dry friction."""
    angular: np.ndarray = None  # type: ignore[assignment]
    """(limits,) which of them are angles; by default all."""
    dry: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """(nd,) largest impulses of dry friction [N s or N m s]: the last nd contacts, with an empty normal that has a mass
    of its own, the joint velocity as first tangent, and an empty second one; then torsional and rolling friction."""
    slip: np.ndarray = None  # type: ignore[assignment]
    """(nd,) their speeds as far as known [m/s or rad/s], which relaxed problems need; by default those at the
    beginning."""
    owner: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """(ns,) the contacts that torsional and rolling friction, the last ns of dry friction, belong to."""
    factor: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """(ns,) μ_t or μ_r: their largest impulse over the normal impulse [m]."""
    pair: np.ndarray = None  # type: ignore[assignment]
    """(nc,) ids that persist from step to step, for warm starts; by default 0, 1, 2, …"""
    approach: np.ndarray = None  # type: ignore[assignment]
    """(m,) G·v + ``surface`` [m/s]; computed if it is not given."""
    free: np.ndarray = None  # type: ignore[assignment]
    """(m,) G·v_free + ``surface`` [m/s]; computed if it is not given."""
    surface: np.ndarray = None  # type: ignore[assignment]
    """(m,) part of these velocities that does not come from v: conveyors, and bodies moved from outside [m/s]; by
    default zero."""
    solve_joints: Callable[[np.ndarray], np.ndarray | None] | None = None
    """right (nb, k) ↦ W_bb⁻¹·right of the bilateral rows, if there is a faster way than by W; the function returns None
    once the step is over."""
    respond: Callable[[np.ndarray], np.ndarray] | None = None
    """p ↦ M⁻¹·Gᵀ·p; by default ``mass`` is factorised."""

    _largest: np.ndarray | None = None
    """(nd,) the true bounds of joints and tendons, once ``dry`` has those of a round."""

    def __post_init__(self) -> None:
        if self.pair is None:
            self.pair = np.arange(len(self.gap))
        if self.angular is None:
            self.angular = np.ones(self.limits, dtype=np.bool_)
        if self.stiffness is None:
            self.stiffness = np.full(len(self.gap), DEFAULT_STIFFNESS)
        if self.damping is None:
            self.damping = np.full(len(self.gap), DEFAULT_DAMPING)
        if self.compliance is None:
            self.compliance = np.zeros(self.bilateral)
        if self.target is None:
            self.target = np.zeros(self.bilateral)
        if self.surface is None:
            self.surface = np.zeros(self.bilateral + 3 * len(self.gap))
        if self.approach is None:
            self.approach = self.rows @ self.velocity + self.surface
        if self.free is None:
            self.free = self.rows @ self.free_velocity + self.surface
        if self.slip is None:
            self.slip = self.dry_speeds(self.approach)

    def dry_speeds(self, u: np.ndarray) -> np.ndarray:
        """(nd,) the tangential speeds of dry friction in velocities u of all rows."""
        tangents = u[self.bilateral :].reshape(-1, 3)[self.contacts - len(self.dry) :, 1:]
        return np.hypot(tangents[:, 0], tangents[:, 1])

    def bound_dry(self, impulses: np.ndarray) -> None:
        """Set the bounds of dry friction by the impulses of all rows (``dry_bounds``)."""
        nd, ns = len(self.dry), len(self.owner)
        if not nd:
            return
        if self._largest is None:
            self._largest, self.dry = self.dry.copy(), np.zeros(nd)
        most = self._largest.copy()
        most[nd - ns :] = self.factor * impulses[self.bilateral + 3 * self.owner]
        needed = np.hypot(*impulses[self.bilateral :].reshape(-1, 3)[-nd:, 1:].T)
        own = self.normal_mass()
        for d in range(nd):
            self.dry[d] = bound_in_use(most[d], self.dry[d], needed[d], own[d])

    def normal_mass(self) -> np.ndarray:
        """(nd,) W of the normals of dry friction, which no velocity moves [1/kg]."""
        first = self.bilateral + 3 * (self.contacts - len(self.dry))
        return self.delassus.diagonal()[first::3]

    @property
    def contacts(self) -> int:
        """Number nc of contacts, joint limits included."""
        return len(self.gap)

    def new_velocity(self, impulses: np.ndarray) -> np.ndarray:
        """(nv,) v⁺ = v_free + M⁻¹·Gᵀ·p."""
        if self.respond is not None:
            return self.free_velocity + self.respond(impulses)
        return self.free_velocity + spsolve(self.mass.tocsc(), self.rows.T @ impulses)
