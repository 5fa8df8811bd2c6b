"""The B-derivative of a step of a scene: how its end depends on its beginning, also where contacts touch at once.

The step is integrated once more as a system of ``solve_ess``, with the field and the guards of ``contact_events``, and
``ess.b_derivative`` differentiates that solution (Anderson and Revzen, Secs. 2 and 7):

    x = (q, v, s),   ẋ = (q̇(q, v), M⁻¹(τ − D·v − b + Jᵀλ(q, v, s)), ṗ_t)

s (2 per place) is the stretch of the tangential springs, which the simulation keeps as anchors; here it is part of the
state, so that the field depends on nothing else. All contacts that can be met in the step have a place from its
beginning. Beginning and end are mapped to displacements of coordinates and velocities (δq, δv), q by its tangent:

    B(δq, δv) = E₁·B_x(E₀·(δq, δv)),   E₀: δx of the beginning, where anchors stay;   E₁: δx → (δq, δv) of the end

Sizes: n = nq + nv + 2·places states, 4·places guards. Cost: some 2·n evaluations of the forward dynamics at each stage
of each Runge–Kutta step, called from Python. A contact that changes between stick and slip within the step is an error,
since the stretch of its spring jumps there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from stickslip.collision.contacts import FRICTION, PRELOAD, ROLLING, STIFFNESS, TORSION, ContactList, Contacts
from stickslip.collision.reach import Reach
from stickslip.errors import InputError, expected
from stickslip.ess.b_derivative import BDerivative, b_derivative
from stickslip.ess.result import EssResult
from stickslip.ess.solve import solve_ess
from stickslip.methods.base import Inputs
from stickslip.methods.event_selected.contact_events import (
    SEARCH,
    ContactSystem,
    contact_system,
    field,
    guards,
    make_places,
    rates_of_coordinates,
)
from stickslip.methods.event_selected.stick_slip import EACH, LIFTOFF, SLIP, STICK, TOUCHDOWN
from stickslip.methods.handle import make_handle
from stickslip.methods.soft.anchors import Anchors, make_anchors

TIGHT: dict[str, Any] = {"rtol": 1e-9, "atol": 1e-11}
"""Tolerances of the second integration."""
SAME = 1e-3
"""Largest distance of the ends of both integrations, relative to the largest coordinate or velocity, or to 1."""
TOUCHING = 1e-9
"""Depth [m] beyond which a contact must not slip, and stretch with which a contact must not begin [m]."""


@dataclass(frozen=True)
class StepDerivative:
    """The B-derivative of a step, by displacements (δq, δv) of 2·nv components."""

    flow: BDerivative
    """The derivative by the whole state (q, v, s)."""
    solution: EssResult
    """The solution that was differentiated; ``solution.crossings`` are its touchdowns and lift-offs."""
    begin: np.ndarray
    """(n, 2·nv) E₀."""
    end: np.ndarray
    """(2·nv, n) E₁."""

    @property
    def matrix(self) -> np.ndarray:
        """(2·nv, 2·nv) in the order of touchdowns and lift-offs of the step."""
        return self.end @ self.flow.matrix @ self.begin

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Groups of simultaneous touchdowns and lift-offs, as numbers of ``solution.crossings``."""
        return self.flow.groups

    def __call__(self, displacement: Any) -> np.ndarray:
        """B(δq, δv) for one displacement (2·nv,) of the beginning, or for the columns of (2·nv, c)."""
        values = np.asarray(displacement, dtype=float)
        if values.ndim not in (1, 2) or values.shape[0] != self.begin.shape[1]:
            raise expected(
                "displacement", f"({self.begin.shape[1]},) or ({self.begin.shape[1]}, columns)", values.shape
            )
        return self.end @ self.flow(self.begin @ values)


class Scene:
    """A scene from the beginning of a step as a system of ``solve_ess``: f(x, b) and h(x)."""

    def __init__(self, stepper: Any, kept: Any, inputs: Inputs, dt: float) -> None:
        self.stepper, self.model, self.kept = stepper, stepper.model, kept
        self.size = self.model.nq + self.model.nv
        self.system = self._find_contacts(inputs, dt)
        self.handle = make_handle(self.system)
        contacts, places = self.system.contacts, self.system.places
        n, found = len(places.guarded), int(contacts.found[0])
        self.crossed, self.start = np.ones(EACH * n, dtype=np.bool_), np.zeros(self.size + 2 * n)
        self.start[: self.size] = kept.x[: self.size]
        self.crossed[TOUCHDOWN::EACH] = False
        spins = contacts.material[:found, [TORSION, ROLLING]] > 0.0
        if spins.any():
            raise InputError("b_derivative: expected contacts without torsional and rolling friction (condim 1 or 3)")
        for k in range(found):
            self._place(k, contacts)
        self._measure(self.start)  # finds the contacts in their places
        self.rubs = np.zeros(n, dtype=np.bool_)
        self.rubs[:found] = contacts.material[:found, FRICTION] > 0.0

    def _find_contacts(self, inputs: Inputs, dt: float) -> ContactSystem:
        """The system with places for all contacts that bodies can meet within ``dt`` [s]."""
        stepper, reach = self.stepper, Reach(self.model)
        far = np.array([reach.at_rest(dt), reach.seconds(dt)])
        contacts = ContactList(stepper.work.kin, capacity=len(stepper._buffer.pair))
        while True:
            n = len(contacts.arrays.pair)
            places = make_places(n, far, reach.radius)
            places.margin[0] = -1.0  # chosen where the contacts are looked for first
            arrays = (stepper.work, contacts.arrays, places, make_anchors(n))
            system = contact_system(self.model, stepper.world, *arrays, inputs)
            start = np.concatenate([self.kept.x[: self.size], np.zeros(2 * n)])
            guards(make_handle(system), start, np.zeros(EACH * n))
            if places.full[0] == 0:
                return system
            if places.full[0] == SEARCH:
                stepper.grow()
            contacts.grow()

    def _place(self, k: int, contacts: Contacts) -> None:
        """Contact k gets place k, with the mask and the stretch that it has in the simulation."""
        places, anchors, kept = self.system.places, self.system.anchors, self.kept
        places.guarded[k] = contacts.pair[k] + 1
        stiffness = contacts.material[k, STIFFNESS]
        rest = contacts.material[k, PRELOAD] / stiffness if stiffness > 0.0 else 0.0
        at = slice(EACH * k, EACH * (k + 1))
        known = np.flatnonzero(kept.guarded == contacts.pair[k] + 1)
        if len(known):
            old = int(known[0])
            self.crossed[at] = kept.crossed[EACH * old : EACH * (old + 1)]
            places.direction[k] = kept.direction[old]
            if kept.anchors.pair[old] != 0:
                rest = kept.anchors.rest[old]
                self.start[self.size + 2 * k : self.size + 2 * k + 2] = self._stretch(k, old, kept.anchors)
        else:
            self.crossed[at.start + TOUCHDOWN] = contacts.gap[k] <= 0.0
            self.crossed[at.start + LIFTOFF] = contacts.gap[k] > 0.0
        if rest < 0.0:
            raise InputError("b_derivative: expected contacts that do not recover from a deep start; step on first")
        # an anchor of another contact: its spring is stretched by s alone, not by positions (``slips_over``)
        anchors.pair[k], anchors.rest[k], anchors.begun[0] = -contacts.pair[k] - 1, rest, 1

    def _stretch(self, k: int, old: int, anchors: Anchors) -> np.ndarray:
        """(2,) stretch of the spring of contact k along its tangents at the beginning."""
        contacts, kin = self.system.contacts, self.system.work.kin
        spring = kin.rot[contacts.link1[k]] @ (anchors.point[old] - anchors.anchor[old])
        return contacts.axes[k, 1:] @ spring

    def _measure(self, x: np.ndarray) -> np.ndarray:
        """(4·places,) guards at x, whose contacts are then those of the system."""
        values = np.zeros(EACH * len(self.system.places.guarded))
        self.system.seen[:1] = np.nan
        guards(self.handle, np.ascontiguousarray(x, dtype=float), values)
        return values

    def h(self, x: np.ndarray) -> np.ndarray:
        values = np.zeros(EACH * len(self.system.places.guarded))
        guards(self.handle, np.ascontiguousarray(x, dtype=float), values)
        return values

    def f(self, x: np.ndarray, b: np.ndarray) -> np.ndarray:
        dx = np.zeros(len(self.start))
        field(self.handle, 0.0, np.ascontiguousarray(x, dtype=float), np.ascontiguousarray(b, dtype=np.bool_), dx)
        return dx

    def turns(self) -> list[list[int]]:
        return [[k ^ 1] for k in range(len(self.crossed))]

    def check(self, result: EssResult) -> None:
        """Raise an error where the step has no derivative of this kind."""
        crossings, n = result.crossings, len(self.rubs)
        for guard, t, x in zip(crossings.guard, crossings.t, crossings.x, strict=True):
            k, kind = divmod(int(guard), EACH)
            if kind in (SLIP, STICK):
                raise self._changes("slip" if kind == SLIP else "stick", t)
            if kind == TOUCHDOWN and np.abs(x[self.size + 2 * k :][:2]).max() > TOUCHING:
                raise InputError(
                    f"b_derivative: a contact with friction touches again at {t:.4g} s of the step; expected one "
                    "touchdown of each; choose a shorter dt"
                )
        contacts, places = self.system.contacts, self.system.places
        for t, x in zip(result.t, result.y.T, strict=True):
            values = self._measure(x).reshape(n, EACH)
            found = int(contacts.found[0])
            if np.any((places.at[:found] < 0) & (contacts.gap[:found] < 0.0)):
                raise InputError(
                    f"b_derivative: a contact at {t:.4g} s of the step has other features than at its beginning; "
                    "expected the same ones; choose a shorter dt"
                )
            undecided = ~has_mode(crossings_mask(result, t))
            slips = self.rubs & undecided & (values[:, TOUCHDOWN] > TOUCHING) & (values[:, SLIP] > 0.0)
            if slips.any():
                raise self._changes("slip", t)

    def _changes(self, what: str, t: float) -> InputError:
        return InputError(
            f"b_derivative: a contact begins to {what} at {t:.4g} s of the step; expected contacts that stick or slip "
            "throughout, or have no friction; choose a dt that ends before"
        )

    def beginning(self) -> np.ndarray:
        """(n, 2·nv) E₀: q moves by its tangent, and springs that follow positions are stretched."""
        nq, nv, n = self.model.nq, self.model.nv, len(self.start)
        result = np.zeros((n, 2 * nv))
        result[:nq, :nv] = self.tangent(self.start)
        result[nq : nq + nv, nv:] = np.eye(nv)
        contacts, x = self.system.contacts, self.start.copy()
        pressing = np.flatnonzero(self.crossed[TOUCHDOWN::EACH])
        for j in range(nv):
            x[nq : nq + nv] = np.eye(nv)[j]
            self._measure(x)
            for k in pressing:
                c = int(np.flatnonzero(self.system.places.at[: contacts.found[0]] == k)[0])
                if contacts.rolling[c] == 0:
                    slip = contacts.velocity[c, 1:] - contacts.surface[c, 1:3]
                    result[self.size + 2 * k : self.size + 2 * k + 2, j] = slip
        return result

    def ending(self, x: np.ndarray) -> np.ndarray:
        """(2·nv, n) E₁."""
        nq, nv = self.model.nq, self.model.nv
        result = np.zeros((2 * nv, len(self.start)))
        result[:nv, :nq] = np.linalg.pinv(self.tangent(x))
        result[nv:, nq : nq + nv] = np.eye(nv)
        return result

    def tangent(self, x: np.ndarray) -> np.ndarray:
        """(nq, nv) q̇ = T·v at x."""
        nq, nv = self.model.nq, self.model.nv
        columns = np.zeros((nv, nq))
        for j in range(nv):
            rates_of_coordinates(self.model.tree, np.ascontiguousarray(x[:nq]), np.eye(nv)[j], columns[j])
        return columns.T


def has_mode(mask: np.ndarray) -> np.ndarray:
    """(places,) whether a contact sticks or slips by the mask."""
    return ~(mask[SLIP::EACH] & mask[STICK::EACH])


def crossings_mask(result: EssResult, t: float) -> np.ndarray:
    """(m,) crossing mask after all crossings until t."""
    crossings = result.crossings
    last = int(np.searchsorted(crossings.t, t, side="right"))
    return crossings.after[last - 1] if last else crossings.start


def step_derivative(
    stepper: Any, kept: Any, inputs: Inputs, dt: float, simultaneous: float | None
) -> StepDerivative:  # fmt: skip
    """The derivative of the step of ``dt`` [s] that began with the memory ``kept`` and the inputs ``inputs``."""
    scene = Scene(stepper, kept, inputs, dt)
    result = solve_ess(
        scene.f, scene.h, None, (0.0, dt), scene.start, 0.0, reset=scene.turns(), crossed=scene.crossed,
        max_step=stepper.options.max_step, **TIGHT,
    )  # fmt: skip
    if not result.success:
        raise expected("b_derivative", "a step that can be integrated again", result.message, "choose another dt")
    scene.check(result)
    end = stepper.flow.x[: scene.size]
    off = float(np.abs(result.x[: scene.size] - end).max() / max(1.0, float(np.abs(end).max())))
    if not off <= SAME:
        raise expected(
            "b_derivative", f"an integration that ends within {SAME:g} of the step's end", f"{off:.2g} away",
            "contacts may chatter, or replace each other; choose a shorter dt",
        )  # fmt: skip
    flow = b_derivative(result, simultaneous=simultaneous, rtol=1e-8, atol=1e-10)
    return StepDerivative(flow, result, scene.beginning(), scene.ending(result.x))
