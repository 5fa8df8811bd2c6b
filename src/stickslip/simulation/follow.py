"""A simulation follows its model: after a setter has changed the model, the method derives everything anew from it.

State, time, inputs, controllers, random numbers and contact memory stay as they are, so that the motion goes on without
a jump. The change acts from the next step on, or from this one if the stage ``user`` makes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stickslip.model.mocap import follow_source
from stickslip.simulation import advice
from stickslip.simulation.method import stable_step
from stickslip.simulation.periods import round_step

if TYPE_CHECKING:
    from stickslip.simulation.simulation import Simulation


def follow_model(sim: Simulation) -> None:
    """Remake the method, and warn of what the change makes unstable or what the method does not honour."""
    stepper, known = sim.stepper, sim.stepper.not_honoured()
    follow_source(sim.model)
    stepper.remake(**sim.options)
    sim.outside.follow()
    sim.outside.show()
    sim.drive.follow(sim.model)
    if sim.stages.collision is None:
        if sim.variant != "none" and set(stepper.not_honoured()) - set(known):
            advice.not_honoured(sim.method, stepper)
        limit, before = stable_step(stepper, sim.state), sim.stable_dt
        if sim.dt <= before:
            advice.long_step(sim.method, sim.dt, limit, round_step(limit, stepper.default_dt))
        sim.stable_dt = limit
