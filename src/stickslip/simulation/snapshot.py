"""Snapshots: everything that the future of a simulation depends on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from stickslip.errors import InputError
from stickslip.model.model import State
from stickslip.steppers.base import OK, Inputs

if TYPE_CHECKING:
    from stickslip.simulation.simulation import Simulation


@dataclass(frozen=True)
class Snapshot:
    """Everything that the future depends on: restoring it continues exactly as if never interrupted."""

    state: State
    steps: int
    start_time: float
    inputs: Inputs
    memory: dict[str, np.ndarray]
    random: Mapping[str, Any]
    controller: Any = field(default=None)


def take_snapshot(sim: Simulation) -> Snapshot:
    get = getattr(sim.controller, "get_state", None)
    return Snapshot(
        state=sim.state.copy(),
        steps=sim.steps,
        start_time=sim.start_time,
        inputs=Inputs(*(array.copy() for array in sim.inputs)),
        memory={name: array.copy() for name, array in sim.stepper.memory().items()},
        random=sim.rng.bit_generator.state,
        controller=get() if get is not None else None,
    )


def restore_snapshot(sim: Simulation, snapshot: Snapshot) -> None:
    memory = sim.stepper.memory()
    if snapshot.state.q.shape != sim.state.q.shape or memory.keys() != snapshot.memory.keys():
        raise InputError("snapshot: expected one of the same scene and method; take it with sim.snapshot()")
    sim.state.q[:], sim.state.v[:], sim.state.time = snapshot.state.q, snapshot.state.v, snapshot.state.time
    sim.steps, sim.start_time = snapshot.steps, snapshot.start_time
    for mine, saved in zip(sim.inputs, snapshot.inputs, strict=True):
        mine[:] = saved
    put_memory(memory, snapshot.memory)
    sim.rng.bit_generator.state = snapshot.random
    put = getattr(sim.controller, "set_state", None)
    if put is not None and snapshot.controller is not None:
        put(snapshot.controller)
    sim.status = OK


def put_memory(memory: Mapping[str, np.ndarray], saved: Mapping[str, np.ndarray]) -> None:
    """Write saved arrays back; the present ones may have grown since."""
    for name, array in memory.items():
        array[:] = 0
        array[: len(saved[name])] = saved[name]
