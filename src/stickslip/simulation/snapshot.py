"""Snapshots: everything that the future of a simulation depends on."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
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
    inputs: Inputs
    memory: dict[str, np.ndarray]
    """Of the contact law. After a divergence it is that of the failing step."""
    random: Mapping[str, Any]
    controller: Any
    """What the controller's ``get_state()`` gave, if it has one."""
    made_by: tuple[str, str, float, str]
    """Method, law, dt and the model's fingerprint: it fits no other simulation."""


def _signature(sim: Simulation) -> tuple[str, str, float, str]:
    return sim.method, sim.law, sim.dt, sim.model.fingerprint


def take_snapshot(sim: Simulation) -> Snapshot:
    get = getattr(sim.controller, "get_state", None)
    return Snapshot(
        state=sim.state.copy(),
        steps=sim.steps,
        inputs=Inputs(*(array.copy() for array in sim.inputs)),
        memory={name: array.copy() for name, array in sim.stepper.memory().items()},
        random=copy.deepcopy(sim.rng.bit_generator.state),
        controller=copy.deepcopy(get()) if get is not None else None,
        made_by=_signature(sim),
    )


def restore_snapshot(sim: Simulation, snapshot: Snapshot) -> None:
    if snapshot.made_by != _signature(sim):
        raise InputError(
            f"snapshot: expected one of the same scene, method and dt, {_signature(sim)[:3]}, "
            f"got {snapshot.made_by[:3]}; take it with sim.snapshot()"
        )
    sim.state.q[:], sim.state.v[:], sim.state.time = snapshot.state.q, snapshot.state.v, snapshot.state.time
    sim.steps = snapshot.steps
    for mine, saved in zip(sim.inputs, snapshot.inputs, strict=True):
        mine[:] = saved
    sim.stepper.remember(snapshot.memory)
    sim.rng.bit_generator.state = copy.deepcopy(dict(snapshot.random))
    sim.restore_controller(copy.deepcopy(snapshot.controller))
    sim.status = OK
