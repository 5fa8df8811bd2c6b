"""Implicit Euler: all forces, including contact forces, are evaluated at the end of the step.

    M(q⁺)·(v⁺ − v)/dt + b(q⁺, v⁺) = τ(q⁺, v⁺) + J(q⁺)ᵀ·λ(q⁺, v⁺),    q⁺ = q ⊕ dt·v⁺

This is solved for the nv velocities v⁺ by Newton's method with the exact Jacobian (``implicit_step.py``). The method is
of first order, dissipative, and stable for any dt on linear springs and dampers. The contact law is that of
``soft/spring_damper.py``, at the end of the step.

Two options make the iteration converge where the law is discontinuous. With ``damper_rate="mean"``, the default,
dampers of contacts and limits act on their mean rate over the step, so that forces do not jump where surfaces meet
(``spring_damper_derivatives.py``). A step whose iteration does not converge, or leads to another turn of a joint, is
divided into shorter ones (``divisions``; counted in ``divided``). If even the shortest does not converge, the best
velocities are used and the step is counted in ``unconverged``. ``PLAIN`` switches both off: backward Euler as the paper
compares it.

Paper: Hammoud et al., "Exponential integration for efficient and accurate multi-body simulation with stiff
viscoelastic contacts", method Eul-imp of section VI. Differs from it in: the unknowns are v⁺ alone instead of (q⁺, v⁺);
the residual is a balance of forces; the line search is on step·r, not on |r|; and, unless the options are ``PLAIN``,
the mean rates and the divided steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from stickslip._jit import kernel
from stickslip.dynamics.derivatives import make_derivatives
from stickslip.errors import number, one_of, whole
from stickslip.math.linear import copy_to
from stickslip.methods.base import CONTACTS_FULL, OK, Inputs, bounded
from stickslip.methods.handle import CompiledCall, restored
from stickslip.methods.implicit_euler.implicit_step import (
    DIVIDED,
    ITERATIONS,
    UNCONVERGED,
    leaps,
    make_newton,
    make_report,
    solve,
)
from stickslip.methods.implicit_euler.spring_damper_derivatives import RATES, begin_contacts, make_start
from stickslip.methods.options import option
from stickslip.methods.soft.anchors import Anchors, copy_anchors, make_anchors
from stickslip.methods.soft.spring_damper import spring_damper
from stickslip.methods.soft.viscoelastic import (
    SoftOptions,
    Viscoelastic,
    begin_joints,
    detect,
    end_joints,
    soft_capabilities,
    update_kinematics,
)
from stickslip.model.model import Model, State

PLAIN = {"damper_rate": "end", "divisions": 0}
"""The options of plain backward Euler: the law at the end of an undivided step."""
MOST_DIVISIONS = 20
"""Largest value of the option ``divisions``."""


@kernel
def step(
    world, work, contacts, anchors, start, inputs, der, newton, report, tolerance, most_iterations, divisions, dt, q, v
):
    """One step: solve for the state at its end, move the anchors, and go there. If the iteration does not converge, the
    step is divided into two, four, … shorter ones, up to 2^divisions."""
    copy_to(q, report.q)
    copy_to(v, report.v)
    copy_anchors(anchors, report.anchors)
    report.tally[ITERATIONS] = 0
    left, piece, worst = 1 << divisions, 1 << divisions, 0.0  # in units of the shortest step
    while left > 0:
        h = dt * piece / (1 << divisions)
        status = solve(
            world, work, contacts, anchors, start, inputs, der, newton, report, tolerance, most_iterations, h, q, v
        )
        good = report.residual[0] <= tolerance and not leaps(world.tree, v, newton.v, h)
        if status == OK and piece > 1 and not good:
            piece //= 2
            continue
        if status == OK:
            status = bounded(work.acceleration, v, h)
        if status != OK:
            copy_to(report.q, q)
            copy_to(report.v, v)
            copy_anchors(report.anchors, anchors)
            return status
        spring_damper(work.kin, contacts, anchors, h, h)
        begin_contacts(work.kin, contacts, anchors, start)
        copy_to(newton.q, q)
        copy_to(newton.v, v)
        left -= piece
        worst = max(worst, report.residual[0])
    report.residual[0] = worst
    if piece < 1 << divisions:
        report.tally[DIVIDED] += 1
        for d in range(v.shape[0]):
            work.acceleration[d] = (v[d] - report.v[d]) / dt
    if not worst <= tolerance:
        report.tally[UNCONVERGED] += 1
    end_joints(world, dt)
    return OK


@kernel
def continues(anchors, newton, q, v):
    """Whether the state is the one that the last step ended with, whose contacts are stored."""
    same = anchors.begun[0] != 0
    for i in range(q.shape[0]):
        same = same and newton.q[i] == q[i]
    for d in range(v.shape[0]):
        same = same and newton.v[d] == v[d]
    return same


@kernel
def begin(world, work, contacts, anchors, start, q, v):
    """Store the contacts at the beginning of a first step; later steps know them from the step before."""
    begin_joints(world, q)
    update_kinematics(world, work, q, v)
    status = detect(world, work, contacts)
    if status == OK:
        begin_contacts(work.kin, contacts, anchors, start)
    return status


@kernel
def advance(
    world, work, contacts, anchors, start, inputs, der, newton, report, tolerance, most_iterations, divisions, dt, q, v,
    n,
):  # fmt: skip
    """n steps without Python in between; returns (status, steps done)."""
    status = OK if continues(anchors, newton, q, v) else begin(world, work, contacts, anchors, start, q, v)
    if status != OK:
        return status, 0
    for k in range(n):
        status = step(
            world, work, contacts, anchors, start, inputs, der, newton, report, tolerance, most_iterations, divisions,
            dt, q, v,
        )  # fmt: skip
        if status != OK:
            return status, k
    return OK, n


@kernel
def advance_held(held, n):
    """``advance`` with all arguments but n at hand."""
    return advance(*restored(held), n)  # type: ignore[call-arg]


@dataclass(kw_only=True)
class ImplicitEulerOptions(SoftOptions):
    """Options of implicit Euler."""

    tolerance: float = option(1e-8, "relative error of the velocities at which Newton's iteration ends")
    max_iterations: int = option(30, "largest number of Newton iterations in one step")
    damper_rate: str = option(
        "mean", "rate on which dampers of contacts and limits act: the 'mean' over the step, or that at its 'end'"
    )
    divisions: int = option(6, "how often a step that does not converge may be halved; 0: never")

    def __post_init__(self) -> None:
        super().__post_init__()
        self.tolerance = number("tolerance", self.tolerance, "a number > 0", above=0.0)
        self.max_iterations = whole("max_iterations", self.max_iterations, 1)
        one_of("damper_rate", self.damper_rate, RATES)
        self.divisions = whole("divisions", self.divisions, 0, MOST_DIVISIONS)


class ImplicitEuler(Viscoelastic):
    """Implicit Euler with spring-damper contacts."""

    capabilities = soft_capabilities(
        summary="implicit Euler, contact forces at the end of the step, Newton's method",
        reference="Hammoud et al., method Eul-imp of section VI",
        bibtex=("hammoud2021",),
        stability="no limit by contacts",
        colour=6,
    )

    Options = ImplicitEulerOptions
    options: ImplicitEulerOptions
    replaceable = frozenset({"user", "record"})
    geometry_ahead = loops_ahead = True
    why_double = "its Newton iteration ends at a tolerance that single precision does not resolve"
    advance_held = staticmethod(advance_held)

    def __init__(self, model: Model, dt: float, variant: str, **options: Any) -> None:
        super().__init__(model, dt, variant, **options)
        self.start = make_start(len(self.anchors.pair), self.options.damper_rate)
        self.derivatives, self.newton, self.report = (
            make_derivatives(model),
            make_newton(model),
            make_report(model, len(self.anchors.pair)),
        )

    @property
    def iterations(self) -> int:
        return int(self.report.tally[ITERATIONS])

    @property
    def residual(self) -> float:
        return float(self.report.residual[0])

    @property
    def unconverged(self) -> int:
        return int(self.report.tally[UNCONVERGED])

    @property
    def divided(self) -> int:
        """Number of steps so far that were divided into shorter ones."""
        return int(self.report.tally[DIVIDED])

    def _arguments(self, state: State, inputs: Inputs) -> tuple[Any, ...]:
        memory = (self._buffer, self.anchors, self.start, inputs)
        scratch = (self.derivatives, self.newton, self.report)
        options = (self.options.tolerance, self.options.max_iterations, self.options.divisions, self.dt)
        return self.world, self.work, *memory, *scratch, *options, state.q, state.v

    def _carried(self) -> dict[str, np.ndarray]:
        start = {f"start_{name}": array for name, array in self.start._asdict().items()}
        return {"newton_q": self.newton.q, "newton_v": self.newton.v, **start, "tally": self.report.tally}

    def compiled_call(self, state: State, inputs: Inputs) -> CompiledCall:
        call = super().compiled_call(state, inputs)
        return call._replace(counts=("tally",), unconverged=("tally", UNCONVERGED))

    def before_moving(self, state: State) -> None:
        if not continues(self.anchors, self.newton, state.q, state.v):
            first = (state.q, state.v)
            while begin(self.world, self.work, self._buffer, self.anchors, self.start, *first) == CONTACTS_FULL:
                self.grow()
            self.newton.q[:], self.newton.v[:] = first

    def fit_room(self, contacts: int) -> None:
        super().fit_room(contacts)
        places = len(self.anchors.pair)
        self.start, self.report = make_start(places, self.options.damper_rate), make_report(self.model, places)

    def make_room(self, contacts: int) -> None:
        super().make_room(contacts)
        n = len(self.anchors.pair)
        if n > len(self.start.gap):
            self.start = make_start(n, self.options.damper_rate)
            self.newton.q[:] = np.nan  # so that the next step stores the contacts anew
            self.report = self.report._replace(anchors=make_anchors(n))

    def remember(self, memory: Mapping[str, np.ndarray]) -> None:
        super().remember(memory)
        self.newton.q[:] = np.nan

    def _formulate(self, sim) -> None:
        """Fills in the contact forces at this state, with a copy of the anchors, for display; steps do not use them."""
        copy = Anchors(*(array.copy() for array in self.anchors))
        spring_damper(self.work.kin, self.contacts.arrays, copy, 0.0, 0.0)
