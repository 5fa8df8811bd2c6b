"""EnergyWatch: a warning where a simulation gains energy that nothing gives it.

The energy E of motion, gravity and springs is looked at with every recorded frame, and at most every 32 steps in a loop
of one's own. What contact springs store is added at the first look, and left out at later ones, so that E can only be
too small there. Balances are taken at moments without touching contacts, where nothing is left out. Where E rises above
the least balance so far by more than

    5 % of the swing + dt·g·√(2·m·T) + 2·dt/dt_stable·U + m·g·1 cm,

the method has made energy, and the simulation says so once. The swing is the larger of the greatest kinetic energy T so
far and the range of the potential energy. The second and third terms are how far E goes up and down in steps that move
configurations by new velocities, with the whole mass m and the largest energy U of joint springs; the last is the least
gain that counts.

A method may throw things away altogether. Where E has risen by more than a hundred times

    (√T₀ + g·t·√(m/2))² + U₀ + m/2·(1 m/s)²,

the simulation ends with an error; if the step is longer than the stable one, that is looked at after every call of
``step``. Gravity gives no more than the first term in the time t since the watch began with
the kinetic energy T₀, and springs and contacts no more than U₀, what they stored then.

The velocities of the variational integrator are those of the middle of a step. The energy of its state goes up and down
with the motion, by more than the one that belongs to the middle of the last step, which is looked at instead. That one
waves, too, in proportion to dt; waves beyond the limit are announced like gains.

Nothing is watched while something drives the scene: actuators, applied forces, wrenches and pushes, bodies that are
moved, wind, adhesion, preloads, and stages that are Python functions. A state, force or parameter that is set from
outside begins the watch anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stickslip.errors import DivergedError
from stickslip.methods.base import OK
from stickslip.model.arrays import HINGE, SLIDE
from stickslip.model.model import Model
from stickslip.simulation import advice
from stickslip.simulation.divergence import describe_divergence

if TYPE_CHECKING:
    from stickslip.simulation.simulation import Simulation

GAIN = 0.05
"""A gain of more than this share of the swing of the energy is too much."""
LEAST_LIFT = 0.01
"""[m] A gain that lifts everything by less than this height is left alone."""
BLOWN_UP = 100.0
"""A gain of more than this many times all energy that the motion can have had is the end."""
STEPS = 32
"""Steps between two looks in a loop of one's own; a look takes about as long as a short step."""


def limit_energy(model: Model, q: np.ndarray) -> np.ndarray:
    """(…,) energy in the springs of hinge and slide limits at q (…, nq) [J]."""
    passive, tree = model.joint_forces, model.tree
    which = np.flatnonzero(((tree.joint_type == HINGE) | (tree.joint_type == SLIDE)) & (passive.limited != 0))
    x, low, high = q[..., tree.joint_q[which]], passive.range[which, 0], passive.range[which, 1]
    beyond = np.maximum(low - x, 0.0) + np.maximum(x - high, 0.0)
    return 0.5 * (passive.limit_stiffness[which] * beyond**2).sum(-1)


def energies(sim: Simulation) -> tuple[float, float, float, float]:
    """Energy of motion, gravity, springs, and limits [J]: of the present state, or in the middle of the last step where
    the velocities are those there."""
    q, v = sim.state.q, sim.state.v
    if sim.stepper.velocities_midway:
        q = sim.dynamics.integrate(q, v, -0.5 * sim.dt)
    return *sim.dynamics.energy(q, v), float(limit_energy(sim.model, q))


class EnergyWatch:
    """Looks at the energy of one simulation."""

    def __init__(self, sim: Simulation) -> None:
        self._warned = False
        self._left: tuple[bytes, ...] = ()
        """State and forces as the last steps left them."""
        self._next = 0
        """The number of steps after which the next look is due in a loop of one's own."""
        self._read(sim)

    def _read(self, sim: Simulation) -> None:
        """Look what of the model drives it."""
        m, self._version = sim.model, sim.model.version
        self._mass, self._gravity = float(m.inertia.mass.sum()), float(np.linalg.norm(m.inertia.gravity))
        surfaces = [shape.material for shape in m.shapes]
        wind = bool(len(m.medium.link)) and bool(np.any(m.medium.properties[2:]))
        self._driven = m.nu > 0 or wind or any(each.adhesion or each.preload for each in surfaces)
        self.forget()

    def forget(self) -> None:
        """Begin anew at the next look."""
        self._least: float | None = None
        self._began = self._first_kinetic = self._first_stored = 0.0
        self._fastest, self._stretched, self._low, self._high = 0.0, 0.0, np.inf, -np.inf

    def gain_of_too_long_step(self, sim: Simulation) -> float:
        """[J] what the last steps have gained, if it is so much that the motion is lost; else 0."""
        if self._driven or self._least is None or self._version != sim.model.version or self._disturbed(sim):
            return 0.0
        gained = sum(energies(sim)) - self._least
        if not self._is_lost(sim, gained):
            return 0.0
        self.forget()  # the frame that is kept of the divergence is looked at, too
        return gained

    def _is_lost(self, sim: Simulation, gained: float) -> bool:
        """Whether a gain [J] is far more than all that the motion can have had."""
        by_gravity = self._gravity * (sim.time - self._began) * np.sqrt(0.5 * self._mass)
        had = (np.sqrt(self._first_kinetic) + by_gravity) ** 2 + self._first_stored + 0.5 * self._mass
        lost = bool(gained > BLOWN_UP * had)
        self._warned |= lost  # the error takes the place of the warning
        return lost

    def _disturbed(self, sim: Simulation) -> bool:
        """Whether something besides the model drives the scene."""
        stages, inputs = sim.stages, sim.inputs
        own = stages.user is not None or not stages.compiled
        pushed = sim.pushes.active or inputs.applied.any() or inputs.wrench.any()
        return bool(own or sim.outside.moves or pushed)

    def _state(self, sim: Simulation) -> tuple[bytes, ...]:
        state, inputs = sim.state, sim.inputs
        return state.q.tobytes(), state.v.tobytes(), inputs.applied.tobytes(), inputs.wrench.tobytes()

    def start(self, sim: Simulation, stored: float) -> None:
        """At the first step of a loop of one's own: look, unless the state is one that the step will refuse."""
        self.before_steps(sim)
        if not self._driven and np.isfinite(sim.state.q).all() and np.isfinite(sim.state.v).all():
            self.look(sim, stored=stored)

    def before_steps(self, sim: Simulation) -> None:
        """Before steps are taken: begin anew if something was set since the last ones."""
        if self._version != sim.model.version:
            self._read(sim)
        if not self._driven and self._state(sim) != self._left:
            self.forget()
            self._next = sim.steps + STEPS

    def after_steps(self, sim: Simulation) -> None:
        """After steps were taken in a loop of one's own: look, if it is time."""
        if not self._driven:
            self._left = self._state(sim)
            if sim.steps >= self._next:
                self._look_now(sim)

    def _look_now(self, sim: Simulation) -> None:
        self._next = sim.steps + STEPS
        if self._least is None:
            with sim.present() as stored:
                self.look(sim, stored=stored)
        else:
            self.look(sim)

    def look(self, sim: Simulation, *, stored: float = 0.0) -> None:
        """Look at the present energy; ``stored`` [J] is that of contact springs."""
        if self._driven or sim.status != OK:
            return
        if self._disturbed(sim) or self._version != sim.model.version:
            self._read(sim)
            return
        gap = sim.stepper.contacts.arrays.gap[: len(sim.stepper.contacts)]
        deepest = float(gap.min(initial=0.0))
        kinetic, gravity, springs, limits = energies(sim)
        potential = gravity + springs + limits
        total = kinetic + potential
        if self._least is None:
            if np.isfinite(stored) and deepest > -advice.DEEP_START:  # deeper ones are pushed out, which lifts things
                self._least, self._began = total + stored, sim.time
                self._first_kinetic, self._first_stored = kinetic, potential - gravity + stored
        elif deepest == 0.0:
            self._least = min(self._least, total)
        self._fastest, self._stretched = max(self._fastest, kinetic), max(self._stretched, springs)
        self._low, self._high = min(self._low, potential), max(self._high, potential)
        if self._least is not None:
            swing = max(self._fastest, self._high - self._low)
            wave = sim.dt * self._gravity * float(np.sqrt(2.0 * self._mass * self._fastest))
            wave += 2.0 * sim.dt / sim.stable_dt * self._stretched
            gained, enough = total - self._least, wave + LEAST_LIFT * self._mass * self._gravity
            if self._is_lost(sim, gained):
                self.forget()
                raise DivergedError(describe_divergence(sim, gained), snapshot=sim.snapshot())
            if gained > GAIN * swing + enough and not self._warned:
                self._warned = True
                advice.energy_gain(sim, gained, swing)
