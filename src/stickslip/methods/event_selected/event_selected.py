"""Spring-damper contacts as an event-selected system: every touchdown and lift-off is crossed at its own instant.

A step of length dt is an integration from t to t + dt with constant inputs: Dormand–Prince steps whose length follows
from an error tolerance, and projections through the guards ±gap of contacts within eps of touchdown or lift-off
(``ess.integrate``). Where a contact begins to slip or to stick is located, too (``stick_slip``). So dt is only the
period of controls and recordings. Runge–Kutta steps are at most ``max_step`` long, because in free flight the tolerance
sets no bound, and bodies could meet and part within a step. Sizes: nq + nv numbers, and two numbers and four guards per
place for a near contact. Cost: 6 evaluations of the forward dynamics per Dormand–Prince step, 2 per crossing.

Anderson and Revzen, "Rapid integrator for a class of multi-contact systems".
Differs from the paper in: any mechanism; friction; ε by the tolerance; a guard that is reached without speed (a graze)
is crossed all the same, since the forces are then those of a contact of zero depth; if crossings never end
(chattering), as for a leg whose preload carries more than its weight, the motion continues for STRETCH without guards
(``crawl``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.contacts import ContactList
from stickslip.collision.reach import Reach
from stickslip.errors import InputError, number
from stickslip.ess.arrays import (
    CROSSINGS,
    CULPRIT,
    GRAZING,
    LATEST,
    LIVENESS,
    NOT_FINITE,
    PROJECTIONS,
    STEP,
    STEPS,
    STOPPED,
    TIME,
    TOO_MANY,
    ZENO,
    make_flow,
    make_rules,
    make_trace,
    make_work,
)
from stickslip.ess.arrays import OK as DONE
from stickslip.ess.guards import cross
from stickslip.ess.integrate import begin, integrate
from stickslip.math.linear import copy_to
from stickslip.methods.base import CONTACTS_FULL, DIVERGED, FASTEST, OK, STALLED, Inputs
from stickslip.methods.event_selected.contact_events import (
    PLACES,
    ContactSystem,
    arrive,
    contact_system,
    field,
    forget,
    guards,
    make_places,
    moved_between_steps,
    rates_of_coordinates,
    rearm,
    restore,
    slopes,
    touching,
)
from stickslip.methods.event_selected.step_derivative import StepDerivative, step_derivative
from stickslip.methods.event_selected.stick_slip import EACH, SLIP, TOUCHDOWN, is_slipping
from stickslip.methods.handle import CompiledCall, make_handle, restored
from stickslip.methods.options import option
from stickslip.methods.soft.anchors import Anchors, copy_anchors, make_anchors
from stickslip.methods.soft.spring_damper import spring_damper
from stickslip.methods.soft.viscoelastic import SoftOptions, Viscoelastic, begin_joints, end_joints, soft_capabilities
from stickslip.model.model import Model, State

MOST_TURNS, WINDOW = 40, 0.01
"""A contact chatters if it begins and ends, or begins to slip and to stick, more than this number of times within this
time [s] or within a step."""
STRETCH, CRAWL, PRECISE, SHORTEST = 0.02, 1e-3, 1e-6, 1e-7
"""Duration of a motion without guards [s]; its longest step [s]; its largest error by changing forces per step [m,
rad]; its shortest step, as a fraction of dt."""
MOST_STEPS = 100_000
"""Largest number of Runge–Kutta steps in a step; if 1 % of them were crossings, it continues without guards."""
FEW = 4
"""Number of places for near contacts at first; it is doubled where it does not suffice."""
STEPS_AT, CROSSED_AT, VIOLATED_AT, CHATTERED_AT, SLIPPED_AT = range(5)
"""Indices of ``totals``: Runge–Kutta steps, touchdowns and lift-offs, violations of liveness; steps in which a contact
chattered; beginnings of slip and stick."""


@kernel
def crawl(handle, flow, work, dt):
    """Integrate for STRETCH [s] with contacts that press or not by their gaps at the ends of steps; returns a status.

        q⁺ = q + h·q̇(q, v + h/2·a),   a⁺ = a(q⁺, v + h·a),   v⁺ = v + h/2·(a + a⁺),   h²/2·|a⁺ − a| ≤ PRECISE

    The bound makes steps short where forces begin or end, and keeps the error of stiff springs and dampers below
    PRECISE. Each step costs one evaluation of the forward dynamics.
    """
    system, x, dx, x1, dx1, middle = restore(handle), flow.x, flow.dx, work.x1, work.k[1], work.k[2]
    nq, n, size = system.q.shape[0], system.seen.shape[0], CRAWL
    end = min(dt, flow.clock[TIME] + STRETCH)
    touching(handle, x, flow.crossed)
    field(handle, 0.0, x, flow.crossed, dx)
    while flow.clock[TIME] < end:
        if not size > SHORTEST * dt:
            return NOT_FINITE
        rest = end - flow.clock[TIME]
        h, error = min(size, rest), 0.0
        for i in range(nq, n):
            middle[i] = x[i] + 0.5 * h * dx[i]
            x1[i] = x[i] + h * dx[i]
        rates_of_coordinates(system.world.tree, x, middle[nq:n], middle)
        for i in range(nq):
            x1[i] = x[i] + h * middle[i]
        for i in range(n, x.shape[0]):
            x1[i] = h * dx[i]
        touching(handle, x1, flow.crossed)
        field(handle, h, x1, flow.crossed, dx1)
        for i in range(nq, n):
            bend = 0.5 * h * h * abs(dx1[i] - dx[i])
            error = error if bend <= error else bend  # NaN stays NaN
        if not error <= PRECISE:
            size = 0.5 * h
            continue
        for i in range(x.shape[0]):
            start = x[i] if i < n else 0.0  # slip starts at zero in every step
            x[i] = x1[i] if i < nq else start + 0.5 * h * (dx[i] + dx1[i])
            dx[i] = dx1[i]
        arrive(handle, h, x, flow.crossed)
        flow.clock[TIME] = end if h == rest else flow.clock[TIME] + h
        if 8.0 * error <= PRECISE:
            size = min(CRAWL, 2.0 * size)
    flow.clock[STEP] = 0.0
    return DONE


@kernel
def turned(flow, pressed, turns):
    """Whether a contact chatters; ``pressed`` (places,) says which contacts pressed, and which slipped, at the last
    call; ``turns`` counts the changes."""
    found = False
    for k in range(pressed.shape[0]):
        now = phase(flow.crossed, k)
        if pressed[k] != now:
            pressed[k] = now
            turns[k] += 1
            found = found or turns[k] >= MOST_TURNS
    return found


@kernel
def phase(crossed, k):
    """0 if the contact in place k is open, 1 if it sticks or has no friction, 2 if it slips."""
    if not crossed[EACH * k + TOUCHDOWN]:
        return 0
    return 2 if is_slipping(crossed, k) else 1


@kernel
def new_step(rules, flow):
    """Reset time and counts, and ε where it is chosen; keep the mask and the step size."""
    for k in range(rules.eps.shape[0]):
        if rules.chosen[k]:
            rules.eps[k] = 0.0
    flow.clock[TIME] = 0.0
    for k in range(flow.counts.shape[0]):
        flow.counts[k] = 0


@kernel(inline=False)
def step(handle, rules, flow, trace, work, pressed, turns, totals, dt):
    """One step of dt [s] from ``flow.x``: the table of contents of the method."""
    new_step(rules, flow)
    fresh, chattered, since, crossings, slips = True, False, 0.0, 0, 0
    while flow.clock[TIME] < dt:
        if fresh:
            fresh, since = False, -np.inf
            moved_between_steps(handle, rules.eps, flow.x, flow.crossed)
            begin(guards, handle, rules, flow)
            for k in range(flow.last.shape[0]):
                flow.last[k], flow.again[k] = -np.inf, 0
        if flow.clock[TIME] >= since + WINDOW:
            since = flow.clock[TIME]
            for k in range(turns.shape[0]):
                pressed[k], turns[k] = phase(flow.crossed, k), 0
        status = integrate(field, guards, slopes, arrive, handle, rules, flow, trace, work, dt)  # to a crossing, or dt
        if status == GRAZING:
            status = STOPPED if cross(rules, flow, trace, flow.counts[CULPRIT]) == DONE else ZENO
            arrive(handle, 0.0, flow.x, flow.crossed)
        if flow.counts[CROSSINGS] > 0:
            if flow.counts[LATEST] % EACH >= SLIP:
                slips += 1
            else:
                crossings += 1
            flow.counts[CROSSINGS] = 0
            rearm(handle, flow, work.h1)
        chatters = status == ZENO or (status == TOO_MANY and 100 * (crossings + slips) >= MOST_STEPS)
        if chatters or (status == STOPPED and turned(flow, pressed, turns)):
            status = crawl(handle, flow, work, dt)
            fresh = chattered = True
        if status != DONE and status != STOPPED:
            return DIVERGED if status == NOT_FINITE else STALLED
    totals[STEPS_AT] += flow.counts[STEPS]
    totals[CROSSED_AT] += crossings
    totals[SLIPPED_AT] += slips
    totals[VIOLATED_AT] += flow.counts[LIVENESS]
    totals[CHATTERED_AT] += 1 if chattered else 0
    return OK


class Kept(NamedTuple):
    """What a step that fails puts back."""

    guarded: np.ndarray
    """(places,)."""
    crossed: np.ndarray
    """(4·places,)."""
    direction: np.ndarray
    """(places, 3)."""
    clock: np.ndarray
    """(2,)."""
    x: np.ndarray
    """(nq + nv + 2·places,)."""
    anchors: Anchors


@kernel
def copy_rows(source, target):
    for k in range(source.shape[0]):
        copy_to(source[k], target[k])


@kernel
def keep(handle, flow, kept):
    """Copy the memory at the beginning of a step."""
    system = restore(handle)
    copy_to(system.places.guarded, kept.guarded)
    copy_to(flow.crossed, kept.crossed)
    copy_rows(system.places.direction, kept.direction)
    copy_to(flow.clock, kept.clock)
    copy_to(flow.x, kept.x)
    copy_anchors(system.anchors, kept.anchors)


@kernel
def put_back(handle, flow, kept):
    """Restore the memory of the beginning of a step."""
    system = restore(handle)
    copy_to(kept.guarded, system.places.guarded)
    copy_to(kept.crossed, flow.crossed)
    copy_rows(kept.direction, system.places.direction)
    copy_to(kept.clock, flow.clock)
    copy_to(kept.x, flow.x)
    copy_anchors(kept.anchors, system.anchors)


@kernel(inline=False)
def advance(handle, rules, flow, trace, work, pressed, turns, totals, kept, dt, q, v, n):
    """n steps without Python in between; returns (status, steps done)."""
    nq, x, world = q.shape[0], flow.x, restore(handle).world
    forget(handle)  # the last call may have been one of another world
    begin_joints(world, q)
    for done in range(n):
        known = flow.clock[TIME] > 0.0
        for i in range(nq):
            known = known and x[i] == q[i]
            x[i] = q[i]
        for i in range(v.shape[0]):
            known = known and x[nq + i] == v[i]
            x[nq + i] = v[i]
        if not known:  # the first step, or the state was set from outside
            forget(handle)
            system = restore(handle)
            begun = system.anchors.begun[0]
            touching(handle, x, flow.crossed)
            arrive(handle, 0.0, x, flow.crossed)
            if system.places.full[0] != 0:  # the start is looked at again when there is room
                system.anchors.begun[0] = begun
                return CONTACTS_FULL, done
        keep(handle, flow, kept)
        status = step(handle, rules, flow, trace, work, pressed, turns, totals, dt)
        if restore(handle).places.full[0] != 0:
            status = CONTACTS_FULL
        for i in range(v.shape[0]):
            if status == OK and not abs(x[nq + i]) <= FASTEST:  # "not ≤" is also true for NaN
                status = DIVERGED
        if status != OK:
            put_back(handle, flow, kept)
            return status, done
        for i in range(nq):
            q[i] = x[i]
        for i in range(v.shape[0]):
            v[i] = x[nq + i]
        end_joints(world, dt)
    return OK, n


@dataclass(kw_only=True)
class EventSelectedOptions(SoftOptions):
    """Options of the method event-selected."""

    eps: float | None = option(
        None, "distance [m] at which touchdown and lift-off are projected through (default: by speed and tolerance)"
    )
    rtol: float = option(1e-6, "relative tolerance of the Runge-Kutta steps")
    atol: float = option(1e-9, "absolute tolerance of coordinates and velocities [m, rad, m/s, rad/s]")
    max_step: float = option(0.01, "longest Runge-Kutta step [s]: contacts that last less may be missed")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.eps is not None:
            self.eps = number("eps", self.eps, "a length > 0 [m]", above=0.0)
        self.rtol = number("rtol", self.rtol, "a number ≥ 1e-13", least=1e-13)
        self.atol = number("atol", self.atol, "a number > 0", above=0.0)
        self.max_step = number("max_step", self.max_step, "a time > 0 [s]", above=0.0)


@kernel
def advance_held(held, n):
    """``advance`` with all arguments but n at hand."""
    return advance(*restored(held), n)  # type: ignore[call-arg]


class EventSelected(Viscoelastic):
    """The rapid multi-contact integrator with spring-damper contacts."""

    capabilities = soft_capabilities(
        summary="Runge-Kutta 5(4) with error control; touchdown and lift-off located, crossed by projections",
        order=5,
        reference="Anderson and Revzen, Sec. 3; Dormand and Prince (1980)",
        bibtex=("anderson2024", "dormand1980"),
        stability="its steps are chosen by tolerances",
        colour=4,
    )
    by_tolerance = True
    replaceable = frozenset({"user", "record"})
    advance_held = staticmethod(advance_held)
    Options = EventSelectedOptions
    options: EventSelectedOptions
    refused: ClassVar[dict[str, str]] = {"rest": "contacts are detected where they touch, and so rest on the surface"}

    def __init__(self, model: Model, dt: float, variant: str, **options: Any) -> None:
        super().__init__(model, dt, variant, **options)
        room = FEW + len(self.world.loops.link1)
        self.contacts = ContactList(self.work.kin, capacity=room)
        self.totals = np.zeros(5, dtype=np.int64)
        """Runge–Kutta steps, touchdowns and lift-offs, violations of liveness, steps in which a contact chattered,
        beginnings of slip and stick."""
        self.anchors = self._make_anchors(room)
        self._make_places(room)

    def _make_places(self, places: int) -> None:
        """Allocate what depends on the number of places for near contacts."""
        model, chosen, reach = self.model, self.options, Reach(self.model)
        n, m = model.nq + model.nv + 2 * places, EACH * places
        turns = [[k ^ 1] for k in range(m)]  # touchdown arms lift-off, slip arms stick, and vice versa
        most = {"longest": chosen.max_step, "most_steps": MOST_STEPS, "most_crossings": 1}
        share = np.sqrt((model.nq + model.nv) / n)  # the error's mean over all numbers as one over coordinates
        atol, rtol = np.full(n, share * chosen.atol), share * chosen.rtol
        touches = np.arange(m) % EACH < SLIP  # stick and slip are located exactly
        eps = np.where(touches, 0.0 if chosen.eps is None else chosen.eps, 0.0)
        self.rules = make_rules(eps, turns, atol, rtol=rtol, chosen=touches & (chosen.eps is None), **most)
        self.flow, self.trace, self.scratch = make_flow(n, m), make_trace(0, n, m, False), make_work(n, m)
        self._turns = np.zeros(places, dtype=np.int64), np.zeros(places, dtype=np.int64)
        far = np.array([reach.at_rest(chosen.max_step), reach.seconds(chosen.max_step)])
        self.places = make_places(places, far, reach.radius)
        flow = self.flow
        self._kept = Kept(
            self.places.guarded.copy(), flow.crossed.copy(), self.places.direction.copy(), flow.clock.copy(),
            flow.x.copy(), make_anchors(places),
        )  # fmt: skip
        self._system: ContactSystem | None = None

    def _handle_for(self, inputs: Inputs):
        """The handle, and the arrays that it points to."""
        if self._system is None or self._system.inputs is not inputs:
            arrays = (self._buffer, self.places, self.anchors)
            self._system = contact_system(self.model, self.world, self.work, *arrays, inputs)
            self._handle = make_handle(self._system)
        return self._handle

    def _arguments(self, state: State, inputs: Inputs) -> tuple[Any, ...]:
        last = (self.rules, self.flow, self.trace, self.scratch, *self._turns, self.totals, self._kept, self.dt)
        return self._handle_for(inputs), *last, state.q, state.v

    def _carried(self) -> dict[str, np.ndarray]:
        return {"totals": self.totals}

    def compiled_call(self, state: State, inputs: Inputs) -> CompiledCall:
        call = super().compiled_call(state, inputs)
        return call._replace(counts=("totals",), handles=((self._handle, self._system),))

    def b_derivative(self, *, simultaneous: float | None = None) -> StepDerivative:
        """The B-derivative of the last step, of length dt: how the end depends on the beginning, at the present inputs.

        B(dx) moves the end for a displacement dx (2·nv,) = (δq, δv) of the beginning, q by its tangent; ``B.matrix``
        (2·nv, 2·nv) is its matrix in the order in which contacts touched. ``simultaneous`` [s]: touchdowns and
        lift-offs within this time count as one event; by default 1e-6·dt."""
        if self._system is None or not self.flow.clock[TIME] > 0.0:
            raise InputError("b_derivative: expected a step to differentiate, got none; call sim.step() first")
        found = step_derivative(self, self._kept, self._system.inputs, self.dt, simultaneous)
        self._forget()
        return found

    @property
    def violations(self) -> int:
        """Number of violations of liveness so far: an approached guard was reached without speed or not on a line."""
        return int(self.totals[VIOLATED_AT])

    @property
    def crossings(self) -> int:
        """Number of touchdowns and lift-offs so far."""
        return int(self.totals[CROSSED_AT])

    @property
    def slips(self) -> int:
        """How often a contact began to slip, or to stick again, so far."""
        return int(self.totals[SLIPPED_AT])

    @property
    def substeps(self) -> int:
        """Number of Runge–Kutta steps so far."""
        return int(self.totals[STEPS_AT])

    @property
    def chattering(self) -> int:
        """Number of steps so far in which a pair chattered."""
        return int(self.totals[CHATTERED_AT])

    @property
    def iterations(self) -> int:
        """Number of Runge–Kutta steps and projections of the last step."""
        return int(self.flow.counts[STEPS] + self.flow.counts[PROJECTIONS])

    def _kinematics(self, sim) -> None:
        super()._kinematics(sim)
        self._forget()

    def _forget(self) -> None:
        """Let the next step look at its state anew, because kinematics, contacts or places have changed."""
        if self._system is not None:
            self._system.seen[:1] = np.nan

    def _formulate(self, sim) -> None:
        """Fills in the contact forces for display; steps do not use them. The anchors already belong to this state."""
        spring_damper(self.work.kin, self._buffer, self.anchors, 0.0, 0.0)

    def make_room(self, contacts: int) -> None:
        """Make as many places as contacts, and keep what is in the present ones."""
        if contacts > len(self.places.guarded):
            saved = {name: array.copy() for name, array in self.memory().items()}
            self._make_places(contacts)
            super().make_room(contacts)
            self._write(saved)

    def grow(self) -> None:
        """Make room after CONTACTS_FULL."""
        if self.places.full[0] == PLACES:
            self.contacts.grow()
        self.places.full[0] = 0
        super().grow()
        self._system = None

    def memory(self) -> dict[str, np.ndarray]:
        """The anchors; the mask and the state that it belongs to; dt, 0 before the first step; the Runge–Kutta step
        size."""
        flow = self.flow
        places = {"guarded": self.places.guarded, "crossed": flow.crossed, "direction": self.places.direction}
        return {**super().memory(), **places, "clock": flow.clock, "x": flow.x}

    def remember(self, memory: Mapping[str, np.ndarray]) -> None:
        super().remember(memory)
        self._forget()
