"""Copies of simulations: what is pickled or deep-copied, and how a simulation is made of it again.

A copy is made anew from the model, the method, dt and the options, and then restored to a snapshot, so that it goes on
bit by bit as the original does, and shares nothing with it. Controller, functions in the place of stages, prescribed
motions and attributes of the user's own are copied with it. Observers, such as recorders and viewers, stay with the
original, and so does its list of unsolved steps.
"""

from __future__ import annotations

import io
import pickle
import time as clock
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from stickslip.errors import StickslipWarning, expected
from stickslip.methods.registry import METHODS
from stickslip.model.model import Model
from stickslip.model.scene import Scene
from stickslip.record import Log
from stickslip.simulation.snapshot import restore_snapshot, take_snapshot
from stickslip.simulation.stages import STAGES

if TYPE_CHECKING:
    from stickslip.simulation.simulation import Simulation

KEPT = (
    "stages", "why_method", "stable_dt", "record_dt", "control_dt", "_controller", "_start_velocity",
    "_controller_state", "_paradox_announced", "_start_looked_at", "_unsolved_announced",
)  # fmt: skip
"""Attributes that are copied as they are."""
MADE_ON_DEMAND = ("instruments", "rays", "distances")
"""Attributes that a simulation makes of its model when they are asked for."""


def taken_apart(sim: Simulation) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """(arguments of ``put_together``, state) of a simulation."""
    kind: Any = f"{sim.method}/{sim.variant}"
    if METHODS.get(sim.method) is not type(sim.stepper):
        kind = type(sim.stepper)
    state = {
        "kept": {name: sim.__dict__[name] for name in KEPT},
        "own": dict(own_attributes(sim)),
        "motions": dict(sim.outside.motions),
        "snapshot": take_snapshot(sim),
        "status": sim.status,
        "wall": clock.perf_counter() - sim.wall_start,
    }
    return (type(sim), sim.model.source or sim.model, kind, sim.dt, sim.options), state


def put_together(cls: type[Simulation], model: Model, method: Any, dt: float, options: dict[str, Any]) -> Simulation:
    """A simulation at its start; the original has warned of what there is to warn of."""
    from stickslip.simulation.simulation import Simulation

    sim = cls.__new__(cls)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StickslipWarning)
        Simulation.__init__(sim, model, method, dt, **options)
    return sim


def continue_from(sim: Simulation, state: dict[str, Any]) -> None:
    """Bring a simulation to the state that ``taken_apart`` gave."""
    sim.__dict__.update(state["kept"])
    sim.__dict__.update(state["own"])
    sim.outside.motions.update(state["motions"])
    restore_snapshot(sim, state["snapshot"], changed=True)
    sim.status, sim.wall_start = state["status"], clock.perf_counter() - state["wall"]


def own_attributes(sim: Simulation) -> Iterator[tuple[str, Any]]:
    """What users have assigned to names of their own."""
    for name, value in sim.__dict__.items():
        if name not in sim._made and name not in MADE_ON_DEMAND:
            yield name, value


def check_pickles(sim: Simulation) -> None:
    """Name what cannot be pickled, such as a controller that is a lambda."""
    parts: dict[str, Any] = {"sim.controller": sim.controller}
    parts |= {f"sim.stages.{name}": getattr(sim.stages, name) for name in STAGES}
    parts |= {f"the motion of {sim.outside.names[m]!r}": motion for m, motion in sim.outside.motions.items()}
    parts |= {f"option {name!r}": value for name, value in sim.options.items()}
    parts |= {f"sim.{name}": value for name, value in own_attributes(sim)}
    for what, value in parts.items():
        try:
            Probe(io.BytesIO(), pickle.HIGHEST_PROTOCOL).dump(value)
        except (pickle.PicklingError, AttributeError, TypeError, ValueError, NotImplementedError):
            got = getattr(value, "__qualname__", type(value).__name__)
            remedy = "use a function or class of a module; copy.deepcopy(sim) takes any"
            raise expected(what, "something that pickle can store", got, remedy) from None


class Probe(pickle.Pickler):
    """Tries whether something pickles, without the simulations, models, scenes and logs that it refers to."""

    def persistent_id(self, obj: Any) -> str | None:
        from stickslip.simulation.simulation import Simulation

        return "passed over" if isinstance(obj, Simulation | Model | Scene | Log) else None
