"""A step run stage by stage, with the functions by which users have replaced built-in stages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stickslip.errors import called, expected
from stickslip.methods.base import CONTACTS_FULL, OK, bounded

if TYPE_CHECKING:
    from stickslip.simulation.simulation import Simulation


def run_stage(sim: Simulation, name: str) -> None:
    (getattr(sim.stages, name, None) or sim.builtin_stages[name])(sim)
    if name == "collision" and sim.stages.collision is not None:
        sim.stepper.make_room(len(sim.contacts.arrays.pair))


def staged_step(sim: Simulation) -> int:
    """Take one step; returns its status."""
    if sim.stages.user is not None:
        sim.stages.user(sim)
        sim.check_numbers()
        sim.follow_model()
    while sim.stages.whole:
        status, _ = sim.stepper.advance(sim.state, sim.acting, 1)
        if status != CONTACTS_FULL:
            return status
        sim.stepper.grow()
    for name in ("kinematics", "collision", "formulate", "solve"):
        run_stage(sim, name)
    status = bounded(sim.acceleration, sim.state.v, sim.dt)
    if sim.stages.solve is not None and not np.isfinite(sim.acceleration).all():
        k = int(np.flatnonzero(~np.isfinite(sim.acceleration))[0])
        who = f"solve function {called(sim.stages.solve)}, sim.acceleration[{k}]"
        raise expected(who, "a finite number", float(sim.acceleration[k]))
    if status == OK:
        run_stage(sim, "integrate")
    return status


def observe_stages(sim: Simulation) -> float:
    """Run the stages up to the contact forces at the present state and restore the memory of the contact law; returns
    the energy of the contact springs [J]."""
    saved = {name: array.copy() for name, array in sim.stepper.memory().items()}
    random = sim.rng.bit_generator.state
    for name in sim.stepper.observing:
        run_stage(sim, name)
    energy = sim.stepper.contact_energy() if sim.stages.formulate is None else float("nan")
    sim.rng.bit_generator.state = random
    sim.stepper.remember(saved)
    return energy
