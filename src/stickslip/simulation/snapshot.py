"""Snapshots: the complete state of a simulation, to continue from exactly."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from stickslip.collision.contacts import Contacts
from stickslip.errors import InputError, brief, expected
from stickslip.methods.base import OK, Inputs
from stickslip.model.model import State
from stickslip.simulation.pushes import Push
from stickslip.summary import Summarised, Summary, numbers

if TYPE_CHECKING:
    from stickslip.simulation.simulation import Simulation


@dataclass(frozen=True, repr=False)
class Snapshot(Summarised):
    """The complete state of a simulation. After restoring it, the run continues bit by bit as without interruption."""

    state: State
    steps: int
    inputs: Inputs
    memory: dict[str, np.ndarray]
    """Memory of the contact law; after a divergence, that of the failing step."""
    random: Mapping[str, Any]
    controller: Any
    """Result of the controller's ``get_state()``, if it has that method."""
    made_by: tuple[Any, ...]
    """Method, variant, dt, the model's fingerprint and the method's options, which must match when it is restored.
    Snapshots pickled by an earlier version may lack the options; then these are not compared."""
    history: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    """(nh, nu) controls of the last steps, for actuators with a delay; empty without."""
    mocap: np.ndarray = field(default_factory=lambda: np.zeros((0, 13)))
    """(nm, 13) poses and velocities of mocap bodies."""
    pushes: tuple[Push, ...] = ()
    """Forces by ``sim.push`` that had not ended."""
    contacts: Contacts | None = None
    """The contacts of the last step."""

    def _summary(self) -> Summary:
        method, variant, dt = self.made_by[:3]
        title = f"Snapshot at t = {self.state.time:.6g} s, step {self.steps} of {method}/{variant}, dt = {dt:g} s"
        rows = {
            "q": numbers(self.state.q),
            "v": numbers(self.state.v),
            "control": numbers(self.inputs.control) if len(self.inputs.control) else "",
            "pushes": str(len(self.pushes) or ""),
        }
        return Summary(title, rows)


PARTS = ("method", "variant", "dt", "scene", "options")
"""Names of the entries of ``made_by`` in messages."""


def _signature(sim: Simulation) -> tuple[Any, ...]:
    return sim.method, sim.variant, sim.dt, sim.model.fingerprint, dict(vars(sim.stepper.options))


def _same(mine: Any, theirs: Any) -> bool:
    if isinstance(mine, dict) and isinstance(theirs, dict):
        return mine.keys() == theirs.keys() and all(np.array_equal(mine[name], theirs[name]) for name in mine)
    return bool(np.all(mine == theirs))


def _check_origin(sim: Simulation, made_by: tuple[Any, ...]) -> None:
    for part, mine, theirs in zip(PARTS, _signature(sim), made_by, strict=False):
        if not _same(mine, theirs):
            if isinstance(mine, dict) and isinstance(theirs, dict):
                other = [name for name in mine if name not in theirs or not _same(mine[name], theirs[name])][:1]
                mine, theirs = ({name: values.get(name) for name in other} for values in (mine, theirs))
            pair = f" ({brief(mine, 60)} here, {brief(theirs, 60)} there)"
            if part == "scene":
                pair = ", or one from before sim.model was changed" if sim.model.version else ""
            raise InputError(
                f"snapshot: expected one of the same scene, method and dt, with the same options, got another {part}"
                f"{pair}; take it of a simulation that is made in the same way"
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
        history=sim.drive.history.copy(),
        mocap=sim.outside.state(),
        pushes=tuple(sim.pushes.pushes),
        contacts=sim.step_contacts(),
    )


def restore_snapshot(sim: Simulation, snapshot: Snapshot, changed: bool = False) -> None:
    """Go back to a snapshot; ``changed`` allows that the model's parameters were others then."""
    if not isinstance(snapshot, Snapshot):
        raise expected("snapshot", "what sim.snapshot() gives", snapshot)
    if not changed:
        _check_origin(sim, snapshot.made_by)
    sim.follow_model()
    sim.state.q[:], sim.state.v[:], sim.state.time = snapshot.state.q, snapshot.state.v, snapshot.state.time
    sim.state.act[:] = snapshot.state.act if hasattr(snapshot.state, "act") else 0.0  # pickled by an earlier version
    if sim.drive.history.size:
        sim.drive.history[:] = snapshot.history
    sim.outside.restore(getattr(snapshot, "mocap", np.zeros((0, 13))))
    sim.pushes.pushes = list(getattr(snapshot, "pushes", ()))
    sim.steps = snapshot.steps
    sim.set_step_contacts(getattr(snapshot, "contacts", None))
    for mine, saved in zip(sim.inputs, snapshot.inputs, strict=True):
        mine[:] = saved
    sim.stepper.remember(snapshot.memory)
    sim.rng.bit_generator.state = copy.deepcopy(dict(snapshot.random))
    sim.restore_controller(copy.deepcopy(snapshot.controller))
    sim.status = OK
