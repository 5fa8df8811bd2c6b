"""Expo: exponential integration of stiff viscoelastic contacts (Hammoud, Olivieri, Righetti, Carpentier, Del Prete).

At the n contacts, the motion is p̈ = Υλ + p̈_free, λ = −K·Δp − B·Δṗ (eqs. (2), (9)–(11)). With Υ = J·M⁻¹·Jᵀ and p̈_free
frozen for one step this is linear and is integrated exactly, however stiff. The robot moves under two averages of the
contact forces, eqs. (23) and (25), inside their friction cones:

    λ̄  = 1/dt   ∫λ    (23)  moves the velocity:       v⁺ = v + dt·(a_free + M⁻¹Jᵀλ̄)                (14), (24)
    λ̿  = 2/dt²  ∫∫λ   (25)  moves the configuration:  q⁺ = q ⊕ dt·(v + dt/2·(a_free + M⁻¹Jᵀλ̿))     (19), (20), (26)

The step is exact for constant Υ and p̈_free. They are evaluated where the robot would be in the middle of the step at
its current velocity, which leaves errors of second order from the configuration and of first order from velocities and
impacts. Sizes: Υ is 3n×3n; islands of contacts that share no moving body are solved one by one. Cost per step: linear
in the links, cubic in the contacts of an island or in six times the number of their links.

Differs from the paper in: Υ and p̈_free are those of the middle of the step, not of its beginning; a step in which a gap
would close in free motion is divided there, so that a contact is not detected up to a step late; the averages have a
closed form by the modes of the contact dynamics if all contacts of an island have the same B/K (``modes.py``), and
otherwise come from Padé approximants of systems of half the size (``viscoelastic_pade.py``), whose order and number of
repetitions follow from the norm; slipping contacts are integrated again as such instead of being clipped
(``average_forces.py``); projection scales the tangential force and keeps the normal one, as the authors' code does;
detection and anchors are updated at the beginning of a step instead of its end, which is equivalent; joint damping,
springs, limits and servos are treated implicitly, so that they do not limit dt; accelerations of contact points that
move over the bodies, on spheres and on moving bodies, are included (``contact_space.py``).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.contacts import ContactList, Contacts, contact_velocities, entries
from stickslip.collision.convex.find import find_contacts
from stickslip.collision.loop_points import place_loops
from stickslip.dynamics.configuration import integrate
from stickslip.dynamics.crba import composite_inertia
from stickslip.dynamics.data import MassMatrix, make_data
from stickslip.dynamics.delassus import ContactRows, contact_jacobian, eliminate, make_contact_rows
from stickslip.dynamics.factor import ltdl_factor, solve, solve_l
from stickslip.dynamics.joint_forces import joint_gains
from stickslip.dynamics.kinematics import forward_accelerations, spatial_inertias
from stickslip.dynamics.rnea import bias_forces
from stickslip.errors import expected, number, one_of
from stickslip.math.linear import copy_to
from stickslip.math.pade import DEGREES
from stickslip.methods.base import CONTACTS_FULL, DIVERGED, OK, Inputs, Stage, bounded
from stickslip.methods.expo.average_forces import (
    AUTO,
    MOST_PASSES,
    PADE,
    Averages,
    IslandWork,
    average_forces,
    contact_dynamics,
    make_averages,
    make_island_work,
)
from stickslip.methods.expo.contact_space import Islands, contact_acceleration, find_islands, make_islands
from stickslip.methods.handle import restored
from stickslip.methods.options import option
from stickslip.methods.soft.anchors import Anchors, copy_anchors, make_anchors
from stickslip.methods.soft.spring_damper import spring_damper
from stickslip.methods.soft.viscoelastic import (
    SoftOptions,
    Viscoelastic,
    detect,
    gather_forces,
    poses_and_velocities,
    soft_capabilities,
)
from stickslip.model.model import Model, State


class ContactWork(NamedTuple):
    """Scratch of the contact dynamics."""

    mass: MassMatrix
    rows: ContactRows
    islands: Islands
    island: IslandWork
    averages: Averages
    near: Contacts
    """Contacts that may begin within the step."""
    kept: Anchors
    """The anchors at the beginning of the step."""


MOST_SUBSTEPS = 10
"""Largest number of substeps into which a step is divided where contacts begin."""
SHORTEST = 1e-9
"""Shortest substep but the last, as a fraction of the rest of the step."""
FAST = 10.0
"""Largest approach velocity of contacts that are predicted [m/s]."""
HARD = 400.0
"""Largest approach acceleration of contacts that are predicted [m/s²]."""
TOUCHING = 1e-12
"""Depth at which the next substep begins, so that the contact is detected there [m]."""


class Settings(NamedTuple):
    """The options of the method as kernels see them."""

    freeze: float
    """Where the contact dynamics is linearised, as a fraction of the step: 0 or ½."""
    substeps: int
    """Largest number of substeps into which touchdowns divide a step."""
    passes: int
    """Largest number of passes over the contacts of an island; 1 projects slipping ones on the cone."""
    matmuls: int
    """Order of the Padé approximant, or AUTO or PADE."""
    tolerance: float
    """Relative tolerance of the Padé approximants."""


class JointWork(NamedTuple):
    """Scratch per joint velocity."""

    stiffness: np.ndarray
    damping: np.ndarray
    free: np.ndarray
    """(nv,) accelerations without contacts."""
    mean: np.ndarray
    """(nv,) accelerations under λ̿, then the mean velocity of the step."""
    middle: np.ndarray
    """(nq,) the configuration where Υ and p̈_free are evaluated."""
    q: np.ndarray
    """(nq,) configuration at the beginning of the step."""
    v: np.ndarray
    """(nv,) velocity at the beginning of the step."""
    elapsed: np.ndarray
    """(1,) time since the anchors were last moved [s]; part of the memory."""


@kernel
def look_ahead(world, work, joints, contacts, ahead, q, v):
    """Kinematics and contact points after ``ahead`` [s] at the current velocity; gaps and springs do not change."""
    integrate(world.tree, q, v, ahead, joints.middle)
    poses_and_velocities(world, work, joints.middle, v)
    for c in range(contacts.found[0]):
        for k in range(3):
            contacts.point[c, k] += ahead * contacts.drift[c, k]
    place_loops(world.loops, work.kin, contacts)


@kernel
def free_motion(world, work, expo, joints, inputs, dt, q, v):
    """Mass matrix, its factor, and the accelerations of links and joints without contact forces."""
    support, mass, free = world.support, expo.mass, joints.free
    gather_forces(world, work, inputs, q, v)
    spatial_inertias(world.inertia, work.kin)
    bias_forces(world.tree, support, world.inertia, work.f_ext, work.kin, free)
    composite_inertia(world.tree, support, world.inertia, work.kin, mass)
    joint_gains(world.tree, world.passive, world.actuators, q, v, inputs.control, joints.stiffness, joints.damping)
    for d in range(v.shape[0]):
        K, B = joints.stiffness[d], joints.damping[d]
        mass.M[support.start[d]] += dt * (B + dt * K)
        free[d] = work.tau[d] - free[d] - dt * K * v[d]
    ltdl_factor(support, mass.M, mass.L)
    solve(support, mass.L, free)
    forward_accelerations(world.tree, support, free, work.kin)


@kernel
def islands_fit(world, expo, contacts):
    """Whether the matrices are large enough; checked before the anchors move, since the step may be repeated."""
    islands = expo.islands
    for i in range(find_islands(world.support, contacts, islands)):
        if 3 * (islands.start[i + 1] - islands.start[i]) > expo.island.y.shape[0]:
            return False
    return True


@kernel
def contact_forces(world, work, expo, contacts, settings, dt):
    """λ̄ and λ̿ of every contact, island by island."""
    support, L, islands = world.support, expo.mass.L, expo.islands
    passes, matmuls, tolerance = settings.passes, settings.matmuls, settings.tolerance
    for c in range(entries(contacts)):
        contact_jacobian(support, work.kin, contacts.link1, contacts.link2, contacts.point, contacts.axes, c, expo.rows)
        eliminate(support, L, c, expo.rows)
    for i in range(find_islands(support, contacts, islands)):
        members = islands.order[islands.start[i] : islands.start[i + 1]]
        contact_dynamics(support, L, expo.rows, work.kin, contacts, members, expo.island)
        if not average_forces(contacts, members, expo.averages, expo.island, passes, matmuls, tolerance, dt):
            return DIVERGED
    return OK


@kernel
def add_contact_acceleration(world, expo, nc, force, free, out):
    """out = free + M⁻¹Jᵀλ, eq. (13)."""
    support, rows, L = world.support, expo.rows, expo.mass.L
    for d in range(out.shape[0]):
        out[d] = 0.0
    for c in range(nc):
        f0, f1, f2 = force[c, 0], force[c, 1], force[c, 2]
        for k in range(rows.length[c]):
            out[rows.dofs[c, k]] += rows.Y[c, k, 0] * f0 + rows.Y[c, k, 1] * f1 + rows.Y[c, k, 2] * f2
    for d in range(out.shape[0]):
        out[d] /= L[support.start[d]]
    solve_l(support, L, out)
    for d in range(out.shape[0]):
        out[d] += free[d]


@kernel
def accelerate(world, work, expo, joints, contacts, inputs, settings, dt, q, v):
    """``work.acceleration`` under λ̄, eq. (24), and ``joints.mean`` under λ̿, eq. (26)."""
    if settings.freeze > 0.0:
        look_ahead(world, work, joints, contacts, settings.freeze * dt, q, v)
    free_motion(world, work, expo, joints, inputs, dt, q, v)
    status = contact_forces(world, work, expo, contacts, settings, dt)
    if status != OK:
        return status
    nc = entries(contacts)
    add_contact_acceleration(world, expo, nc, expo.averages.first, joints.free, work.acceleration)
    add_contact_acceleration(world, expo, nc, expo.averages.second, joints.free, joints.mean)
    return OK


@kernel
def integrate_state(world, acceleration, mean, dt, q, v):
    """v⁺ by eq. (24) and q⁺ by eqs. (19), (20), (26)."""
    for d in range(v.shape[0]):
        mean[d] = v[d] + 0.5 * dt * mean[d]
        v[d] += dt * acceleration[d]
    integrate(world.tree, q, mean, dt, q)


@kernel
def time_to_touchdown(world, work, expo, joints, inputs, most, q, v):
    """The time until the first gap closes in motion without contact forces, at most ``most`` [s]; −1 if a buffer of the
    search is full."""
    near, first, soon = expo.near, most, False
    if not find_contacts(world.search, work.kin, most * FAST, world.cell[0], near):
        return -1.0
    contact_velocities(work.kin, near)
    n = near.found[0]
    for c in range(n):
        gap, rate = near.gap[c], near.velocity[c, 0]
        soon = soon or (gap >= 0.0 and gap + most * (rate - 0.5 * most * HARD) < 0.0)
    if soon:
        free_motion(world, work, expo, joints, inputs, most, q, v)
        for c in range(n):
            if near.gap[c] >= 0.0:
                gap, rate = near.gap[c] + TOUCHING, near.velocity[c, 0]
                acceleration = contact_acceleration(work.kin, near, c)[0]
                root = rate * rate - 2.0 * acceleration * gap
                if root >= 0.0 and 2.0 * gap < first * (sqrt(root) - rate):
                    first = 2.0 * gap / (sqrt(root) - rate)
    return first


@kernel
def substep(world, work, expo, joints, contacts, anchors, inputs, settings, last, dt, q, v):
    """A step, or its part up to the next touchdown; returns (status, length). ``last`` means that all is taken."""
    poses_and_velocities(world, work, q, v)
    status = detect(world, work, contacts)
    if status == OK and not islands_fit(world, expo, contacts):
        status = CONTACTS_FULL
    if status != OK:
        return status, dt
    h = dt
    if not last:
        first = time_to_touchdown(world, work, expo, joints, inputs, dt, q, v)
        if first < 0.0:
            return CONTACTS_FULL, dt
        h = min(dt, max(first, SHORTEST * dt))
    spring_damper(work.kin, contacts, anchors, joints.elapsed[0])
    status = accelerate(world, work, expo, joints, contacts, inputs, settings, h, q, v)
    if status == OK:
        status = bounded(work.acceleration, v, h)
    if status == OK:
        integrate_state(world, work.acceleration, joints.mean, h, q, v)
        joints.elapsed[0] = h
    return status, h


@kernel
def step(world, work, expo, joints, contacts, anchors, inputs, settings, dt, q, v):
    """One step, divided where a contact begins: the table of contents of the method."""
    left, elapsed = dt, joints.elapsed[0]
    copy_to(q, joints.q)
    copy_to(v, joints.v)
    copy_anchors(anchors, expo.kept)
    for k in range(settings.substeps):
        last = k + 1 == settings.substeps
        status, h = substep(world, work, expo, joints, contacts, anchors, inputs, settings, last, left, q, v)
        if status != OK:
            copy_to(joints.q, q)
            copy_to(joints.v, v)
            copy_anchors(expo.kept, anchors)
            joints.elapsed[0] = elapsed
            return status
        left -= h
        if left <= 1e-9 * dt:
            break
    return OK


@kernel
def advance(world, work, expo, joints, contacts, anchors, inputs, settings, dt, q, v, n):
    """n steps without Python in between; returns (status, steps done)."""
    for k in range(n):
        status = step(world, work, expo, joints, contacts, anchors, inputs, settings, dt, q, v)
        if status != OK:
            return status, k
    return OK, n


@kernel
def advance_held(held, n):
    """``advance`` with all arguments but n at hand."""
    return advance(*restored(held), n)  # type: ignore[call-arg]


ORDERS = {"auto": AUTO, "pade": PADE}
"""Names for choices of the order of a Padé approximant."""


@dataclass(kw_only=True)
class ExpoOptions(SoftOptions):
    """Options of Expo."""

    matmuls: int | str = option(
        "auto", "'auto': modes, Padé where contacts differ in B/K; 'pade'; or the order of 0 … 6 products"
    )
    tolerance: float = option(1e-8, "relative error that chooses the order of a Padé approximant")
    freeze: str = option("middle", "where the contact dynamics is linearised: the 'middle' of the step, or its 'start'")
    landing: str = option(
        "divide", "where a contact begins: 'divide' the step there, or see it 'late', at the next step"
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
        one_of("slip", self.slip, ("solve", "project"))
        one_of("freeze", self.freeze, ("middle", "start"))
        one_of("landing", self.landing, ("divide", "late"))
        self.tolerance = number("tolerance", self.tolerance, "a number from 1e-15 to 1", least=1e-15, most=1.0)


class Expo(Viscoelastic):
    """Exponential integration of spring-damper contacts."""

    capabilities = soft_capabilities(
        summary="exponential integrator: exact for linear contact dynamics, any stiffness",
        reference="Hammoud et al., eqs. (11)–(30)",
        bibtex=("hammoud2021",),
        stability="tens of milliseconds",
        colour=0,
    )
    replaceable = frozenset({"user", "collision", "record"})
    advance_held = staticmethod(advance_held)
    Options = ExpoOptions
    options: ExpoOptions

    def __init__(self, model: Model, dt: float, variant: str, **options: Any) -> None:
        super().__init__(model, dt, variant, **options)
        chosen = self.options
        self.settings = Settings(
            freeze=0.5 if chosen.freeze == "middle" else 0.0,
            substeps=MOST_SUBSTEPS if chosen.landing == "divide" else 1,
            passes=MOST_PASSES if chosen.slip == "solve" else 1,
            matmuls=ORDERS[chosen.matmuls] if isinstance(chosen.matmuls, str) else chosen.matmuls,
            tolerance=chosen.tolerance,
        )
        self.near = ContactList(self.work.kin)
        stiffness, damping, free, mean = np.zeros((4, model.nv))
        middle, q = np.zeros((2, model.nq))
        self.joints = JointWork(stiffness, damping, free, mean, middle, q, np.zeros(model.nv), np.zeros(1))
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

    def advance(self, state: State, inputs: Inputs, n: int) -> tuple[int, int]:
        self._fit_work()
        memory = (self.expo, self.joints, self._buffer, self.anchors)
        return self._call((self.world, self.work, *memory, inputs, self.settings, self.dt, state.q, state.v), n)

    def stages(self) -> dict[str, Stage]:
        return {**super().stages(), "solve": self._solve, "integrate": self._integrate}

    def _formulate(self, sim) -> None:
        self._append_loops()
        self._fit_work()
        while not islands_fit(self.world, self.expo, self._buffer):
            self.grow()
        spring_damper(self.work.kin, self._buffer, self.anchors, self.joints.elapsed[0])

    def _solve(self, sim) -> None:
        """Accelerations of a step that is not divided: contacts of a Python collision function cannot be predicted."""
        status = accelerate(
            self.world, self.work, self.expo, self.joints, self._buffer, sim.inputs,
            self.settings, self.dt, sim.state.q, sim.state.v,
        )  # fmt: skip
        if status != OK:
            self.work.acceleration[:] = np.nan

    def _integrate(self, sim) -> None:
        integrate_state(self.world, self.work.acceleration, self.joints.mean, self.dt, sim.state.q, sim.state.v)
        self.joints.elapsed[0] = self.dt

    def memory(self) -> dict[str, np.ndarray]:
        return {**super().memory(), "elapsed": self.joints.elapsed}
