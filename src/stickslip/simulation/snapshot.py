"""Snapshots: everything that the future of a simulation depends on."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stickslip.errors import InputError
from stickslip.methods.base import OK, Inputs
from stickslip.model.model import State

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
    made_by: tuple[Any, ...]
    """Method, variant, dt, the model's fingerprint and the method's options: it fits no other simulation. One that
    was pickled by an earlier version may lack the options; they are not compared then."""


PARTS = ("method", "variant", "dt", "scene", "options")
"""What ``made_by`` is made of."""


def _signature(sim: Simulation) -> tuple[Any, ...]:
    return sim.method, sim.variant, sim.dt, sim.model.fingerprint, dict(vars(sim.stepper.options))


def _same(mine: Any, theirs: Any) -> bool:
    if isinstance(mine, dict) and isinstance(theirs, dict):
        return mine.keys() == theirs.keys() and all(np.array_equal(mine[name], theirs[name]) for name in mine)
    return mine == theirs


def _check_origin(sim: Simulation, made_by: tuple[Any, ...]) -> None:
    for part, mine, theirs in zip(PARTS, _signature(sim), made_by, strict=False):
        if not _same(mine, theirs):
            pair = "" if part == "scene" else f" ({mine!r} here, {theirs!r} there)"
            raise InputError(
                f"snapshot: expected one of the same scene, method and dt, with the same options, got another {part}"
                f"{pair}; take it with sim.snapshot() of a simulation that is made in the same way"
            )


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
    _check_origin(sim, snapshot.made_by)
    sim.state.q[:], sim.state.v[:], sim.state.time = snapshot.state.q, snapshot.state.v, snapshot.state.time
    sim.steps = snapshot.steps
    for mine, saved in zip(sim.inputs, snapshot.inputs, strict=True):
        mine[:] = saved
    sim.stepper.remember(snapshot.memory)
    sim.rng.bit_generator.state = copy.deepcopy(dict(snapshot.random))
    sim.restore_controller(copy.deepcopy(snapshot.controller))
    sim.status = OK
