"""Expo: exponential integration of stiff viscoelastic contacts (Hammoud, Olivieri, Righetti, Carpentier, Del Prete).

At the n contacts, the motion is p̈ = Υλ + p̈_free, λ = −K·Δp − B·Δṗ (eqs. (2), (9)–(11)). With Υ = J·M⁻¹·Jᵀ and
p̈_free frozen for one step this is linear and is integrated exactly, however stiff. The robot moves under two averages
of the contact forces, eqs. (23) and (25), inside their friction cones:

    λ̄  = 1/dt   ∫λ    (23)  moves the velocity:       v⁺ = v + dt·(a_free + M⁻¹Jᵀλ̄)                (14), (24)
    λ̿  = 2/dt²  ∫∫λ   (25)  moves the configuration:  q⁺ = q ⊕ dt·(v + dt/2·(a_free + M⁻¹Jᵀλ̿))     (19), (20), (26)

The step is exact for constant Υ and p̈_free. They are evaluated where the robot would be in the middle of the step, so
that the errors are of second order. Sizes: Υ is 3n×3n; islands of contacts that share no moving body are solved one by
one. Cost per step: linear in the links, cubic in the contacts of an island or in six times the number of their links.

Differs from the paper in: Υ and p̈_free are those of the middle of the step, not of its beginning; a step in which a
gap would close, in free motion or under the forces of other contacts, is divided there, so that a contact is not
detected up to a step late; the averages have a closed form by the modes of the contact dynamics if all contacts of an
island have the same B/K (``modes.py``), and otherwise come from Padé approximants of systems of half the size
(``viscoelastic_pade.py``), whose order and number of repetitions follow from the norm; contacts stick, slip and open
at their instants within the step instead of being clipped (``stick_slip.py``); forces that depend on velocities are
taken in the middle of the step; projection scales the tangential force and keeps the normal one, as the authors' code
does; detection and anchors are updated at the beginning of a step instead of its end, which is equivalent; joint
damping, springs, limits and servos are treated implicitly, so that they do not limit dt; accelerations of contact
points that move over the bodies, on spheres and on moving bodies, are included (``contact_space.py``). The variant
``paper`` is the paper's algorithm as it is written (``paper_step.py``, ``paper_anchors.py``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from stickslip.collision.contacts import ContactList
from stickslip.dynamics import Dynamics
from stickslip.dynamics.data import make_data
from stickslip.dynamics.delassus import make_contact_rows
from stickslip.dynamics.gyroscopic import lone_links
from stickslip.errors import expected, number, one_of, whole
from stickslip.math.pade import DEGREES
from stickslip.methods.base import Inputs, Stage
from stickslip.methods.expo import paper_step
from stickslip.methods.expo.average_forces import FOLLOW, PROJECT, SETTLE
from stickslip.methods.expo.contact_space import make_islands
from stickslip.methods.expo.expo_step import (
    MOST_SUBSTEPS,
    ORDERS,
    ContactWork,
    JointWork,
    Settings,
    accelerate,
    advance_held,
    forget_motion,
    integrate_state,
    islands_fit,
    move_anchors,
    press_contacts,
    remember_motion,
)
from stickslip.methods.expo.island import make_averages, make_island_work
from stickslip.methods.expo.paper_anchors import slip_anchors
from stickslip.methods.expo.paper_preset import paper_options
from stickslip.methods.expo.paper_step import PaperWork, accelerate_from_start
from stickslip.methods.handle import CompiledCall, HeldCall
from stickslip.methods.options import option
from stickslip.methods.soft.anchors import make_anchors
from stickslip.methods.soft.explicit import longest
from stickslip.methods.soft.limit_recovery import narrow_limits
from stickslip.methods.soft.viscoelastic import (
    SoftOptions,
    Viscoelastic,
    soft_capabilities,
)
from stickslip.model.model import Model, State


@dataclass(kw_only=True)
class ExpoOptions(SoftOptions):
    """Options of Expo."""

    matmuls: int | str = option(
        "auto", "'auto': modes, Padé where contacts differ in B/K; 'pade'; or the order of 0 … 6 products"
    )
    order: int = option(2, "order in dt of what depends on velocities: 2, or 1 as in the paper")
    tolerance: float = option(1e-8, "relative error that chooses the order of a Padé approximant")
    freeze: str = option("middle", "where the contact dynamics is linearised: the 'middle' of the step, or its 'start'")
    events: str | None = option(
        None,
        "what divides a step: 'none', 'touchdown', or 'all' changes of stick, slip and open (default where it can)",
    )
    slip: str = option(
        "solve", "'solve': slipping contacts are integrated as such; 'project': they are clipped to the cone"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.matmuls, bool) or (self.matmuls not in ORDERS and self.matmuls not in range(len(DEGREES))):
            raise expected("matmuls", "'auto', 'pade' or a whole number from 0 to 6", self.matmuls)
        if not isinstance(self.matmuls, str):
            self.matmuls = int(self.matmuls)
        self.order = whole("order", self.order, 1, 2)
        one_of("slip", self.slip, ("solve", "project"))
        one_of("freeze", self.freeze, ("middle", "start"))
        self.events = self._events()
        self.tolerance = number("tolerance", self.tolerance, "a number from 1e-15 to 1", least=1e-15, most=1.0)

    def _events(self) -> str:
        """What divides a step: by default all that the other options leave room for."""
        why = ""
        if self.slip == "project":
            why = "slip='project' clips forces without asking when they leave the cone"
        elif not isinstance(self.matmuls, str):
            why = "a fixed number of products has no forces within the step; take matmuls='auto' or 'pade'"
        if self.events is None:
            return "touchdown" if why else "all"
        one_of("events", self.events, ("none", "touchdown", "all"))
        if why and self.events == "all":
            raise expected("events", "'none' or 'touchdown'", "all", why)
        return self.events


class Expo(Viscoelastic):
    """Exponential integration of spring-damper contacts."""

    capabilities = soft_capabilities(
        "exponential integrator: exact for linear contact dynamics, any stiffness",
        "paper",
        reference="Hammoud et al., eqs. (11)–(30)",
        bibtex=("hammoud2021",),
        stability="tens of milliseconds",
        order=2,
        colour=0,
    )
    replaceable = frozenset({"user", "collision", "record"})
    advance_held = staticmethod(advance_held)
    Options = ExpoOptions
    options: ExpoOptions
    paper: PaperWork | None = None
    """The variant ``paper`` has its scratch here, and takes the steps of ``paper_step``; ``expo`` has None."""

    def __init__(self, model: Model, dt: float, variant: str, **options: Any) -> None:
        super().__init__(model, dt, variant, **(paper_options(options) if variant == "paper" else options))
        if variant == "paper":
            self._call = HeldCall(paper_step.advance_held)
            self.paper = paper_step.make_paper_work(len(self.anchors.pair))
        chosen = self.options
        self.settings = Settings(
            order=chosen.order,
            freeze=0.5 if chosen.freeze == "middle" else 0.0,
            substeps=1 if chosen.events == "none" else MOST_SUBSTEPS,
            slip=PROJECT if chosen.slip == "project" else FOLLOW if chosen.events == "all" else SETTLE,
            matmuls=ORDERS[chosen.matmuls] if isinstance(chosen.matmuls, str) else chosen.matmuls,
            tolerance=chosen.tolerance,
        )
        self.near = ContactList(self.work.kin)
        stiffness, damping, free, mean, v, before, last, end, ahead = np.zeros((9, model.nv))
        middle, q = np.zeros((2, model.nq))
        self.joints = JointWork(
            stiffness, damping, free, mean, middle, q, v, before, last, end, ahead,
            turn=np.zeros(model.nlink), lone=lone_links(model), touching=np.zeros(1, np.int64), elapsed=np.zeros(1),
        )  # fmt: skip
        self._make_work(len(self._buffer.pair), 3 * min(8, len(self._buffer.pair)))

    def _make_work(self, contacts: int, rows: int) -> None:
        """Allocate scratch for a number of contacts and a number of rows in one island."""
        self.expo = ContactWork(
            mass=make_data(self.model).mass,
            rows=make_contact_rows(self.model.support, contacts),
            islands=make_islands(self.model.nv, contacts),
            island=make_island_work(rows),
            averages=make_averages(contacts),
            near=self.near.arrays,
            kept=make_anchors(len(self.anchors.pair)),
            start=np.zeros((contacts, 7, 3)),
        )

    def grow(self) -> None:
        """Grow what was too small after CONTACTS_FULL: a buffer of the search, or the matrices of an island."""
        rows, before = len(self.expo.island.y), self._sizes()
        self.detector.make_room(self.near)
        super().grow()
        if self._sizes() == before:
            rows = min(2 * rows, 3 * len(self._buffer.pair))
        self._make_work(len(self._buffer.pair), rows)

    def _sizes(self) -> list[int]:
        """Sizes of the buffers of the search."""
        search = self.detector.search
        return [len(x) for x in (self._buffer.pair, self.near.arrays.pair, search.candidates.pair, search.found.gap)]

    def _fit_work(self) -> None:
        """Grow the scratch if the buffer of contacts has grown in an observation or a Python collision function."""
        if len(self.anchors.pair) != len(self.expo.kept.pair) or len(self._buffer.pair) > len(self.expo.averages.phase):
            self._make_work(len(self._buffer.pair), len(self.expo.island.y))

    def _arguments(self, state: State, inputs: Inputs) -> tuple[Any, ...]:
        self._fit_work()
        scratch = (self.expo,) if self.paper is None else (self.expo, self.paper)
        memory = (*scratch, self.joints, self._buffer, self.anchors)
        return self.world, self.work, *memory, inputs, self.settings, self.dt, state.q, state.v

    def advance(self, state: State, inputs: Inputs, n: int) -> tuple[int, int]:
        end = super().advance(state, inputs, n)
        self._show_averages()
        return end

    def compiled_call(self, state: State, inputs: Inputs) -> CompiledCall:
        return super().compiled_call(state, inputs)._replace(force=self.expo.averages.first)

    def _show_averages(self) -> None:
        """Let the buffer show the forces that moved the velocity, λ̄, in place of those at the step's beginning."""
        n = min(int(self._buffer.found.sum()), len(self.expo.averages.first))
        self._buffer.force[:n] = self.expo.averages.first[:n]

    def stages(self) -> dict[str, Stage]:
        return {**super().stages(), "solve": self._solve, "integrate": self._integrate}

    def _formulate(self, sim) -> None:
        self._append_loops()
        self._fit_work()
        while not islands_fit(self.world.support, self.expo.islands, len(self.expo.island.y), self._buffer):
            self.grow()
        if self.paper is None:
            press_contacts(self.work, self._buffer, self.anchors, self.expo.averages, self.joints.elapsed[0])
        else:
            slip_anchors(self.work.kin, self._buffer, self.anchors, self.paper.slip, self.joints.elapsed[0])

    def _solve(self, sim) -> None:
        """Accelerations of a step that is not divided: contacts of a Python collision function cannot be predicted."""
        work, settings, state = (self.world, self.work, self.expo), (self.settings, self.dt), (sim.state.q, sim.state.v)
        if self.paper is None:
            forget_motion(self.joints, sim.state.v)
            length = accelerate(*work, self.joints, self._buffer, sim.acting, *settings, False, *state)
        else:
            length = self.dt
            accelerate_from_start(*work, self.paper, self.joints, self._buffer, sim.acting, *settings, *state)
        self._show_averages()
        if length < 0.0:
            self.work.acceleration[:] = np.nan

    def _integrate(self, sim) -> None:
        if self.paper is None:
            move_anchors(self._buffer, self.anchors, self.expo.averages)
            remember_motion(self.work.acceleration, self.joints, self._buffer, True)
        integrate_state(self.world, self.work.acceleration, self.joints, self.dt, sim.state.q, sim.state.v)
        self.joints.elapsed[0] = self.dt
        narrow_limits(self.world.passive, self.world.limits, self.dt)

    def stable_dt(self, state: State) -> float:
        """The longest stable step of links that swing: of all forces of positions, those of contacts, springs and loops
        change within a step, and gravity does not."""
        return longest(Dynamics(self.model).swing_norm(state.q), 0.0)

    def fit_room(self, contacts: int) -> None:
        super().fit_room(contacts)
        self.near = ContactList(self.work.kin, capacity=contacts)
        if self.paper is not None:
            self.paper = paper_step.make_paper_work(len(self.anchors.pair))
        self._make_work(len(self._buffer.pair), 3 * max(1, min(contacts, 4 + contacts // 4)))

    def make_room(self, contacts: int) -> None:
        super().make_room(contacts)
        places = len(self.anchors.pair)
        if self.paper is not None and places > len(self.paper.touching):
            slipping, self.paper = self.paper.slip.velocity, paper_step.make_paper_work(places)
            self.paper.slip.velocity[: len(slipping)] = slipping

    def memory(self) -> dict[str, np.ndarray]:
        joints = self.joints
        own = {"elapsed": joints.elapsed}
        if self.paper is None:
            own |= {"before": joints.before, "end": joints.end, "touching": joints.touching}
        else:
            own["anchor_velocity"] = self.paper.slip.velocity
        return {**super().memory(), **own}

    @property
    def unconverged(self) -> int:
        """Steps so far in which the phases of contacts did not settle."""
        return int(self.expo.averages.unsettled[1])
