"""A lane: one thread's copy of a method, with scratch and contact search of its own, and which world it works on."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from stickslip.errors import StickslipWarning
from stickslip.methods.base import Method
from stickslip.methods.handle import CompiledCall
from stickslip.model.model import Model
from stickslip.simulation.simulation import Simulation
from stickslip.worlds.driver import (
    Cells,
    Drives,
    Ends,
    Variants,
    advance_driven_worlds,
    advance_worlds,
    loop_address,
)

SHOWN = ("found", "pair", "link1", "link2", "point", "axes", "gap")
"""What is kept of the contacts of each world, besides forces."""


def simulation_like(model: Model, like: Simulation | None, method: Any, dt: float, options: Mapping[str, Any]) -> Any:
    """A simulation that is made as another, whose warnings were given when the other was made."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StickslipWarning)
        return Simulation(model, method, dt, **options)


def own_arrays(call: CompiledCall | None, stepper: Method) -> dict[str, np.ndarray]:
    """What each world has for itself besides state and inputs: the method's memory, the last contacts, their forces."""
    contacts = stepper.contacts.arrays
    shown = {f"contact_{name}": getattr(contacts, name) for name in SHOWN}
    own, force = (stepper.memory(), contacts.force) if call is None else (call.own, call.force)
    forces = {} if any(array is force for array in own.values()) else {"contact_force": force}
    return {**own, **shown, **forces}


class Lane:
    """A simulation whose compiled loop takes the steps of worlds."""

    def __init__(self, sim: Simulation) -> None:
        self.sim = sim
        self._known: Any = None
        self._cells = no_cells()
        self._variants = Variants(no_cells(), np.zeros(0, np.int64), np.zeros((1, 0), np.int64))
        self._variants_known: Any = None

    def call(self) -> CompiledCall | None:
        """The compiled loop for this lane's own state and inputs; None where Python takes the steps."""
        sim = self.sim
        return sim.stepper.compiled_call(sim.state, self.inputs)

    @property
    def inputs(self) -> Any:
        """The inputs that the loop reads: the controls of a scene with delays or activations are the lane's own."""
        return self.sim.acting

    def arrays(self, call: CompiledCall) -> dict[str, np.ndarray]:
        """The lane's arrays by the names of the worlds' rows."""
        sim = self.sim
        rows = {"q": sim.state.q, "v": sim.state.v, "applied": sim.inputs.applied, "wrench": sim.inputs.wrench}
        if not sim.drive.changes:
            rows["control"] = sim.inputs.control
        if sim.stepper.own_activations:
            rows["act"] = sim.state.act
        return rows | own_arrays(call, sim.stepper)

    def make_room(self, rows: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Make as much room as the rows have; returns the lane's arrays, which may have more."""
        stepper = self.sim.stepper
        while len(stepper.contacts.arrays.pair) < rows["contact_pair"].shape[1]:
            stepper.contacts.grow()
        call = self.call()
        assert call is not None
        if any(array.shape != rows[name].shape[1:] for name, array in own_arrays(call, stepper).items()):
            stepper.remember({name: rows[name][0] for name in stepper.memory()})
            call = self.call()
            assert call is not None
        return own_arrays(call, stepper)

    def bind(self, rows: Mapping[str, np.ndarray], call: CompiledCall) -> None:
        """Find the addresses that change from world to world, unless nothing has moved since the last time."""
        known = (call.held, *(rows[name].ctypes.data for name in rows))
        if self._known == known:
            return
        cells = []
        for name, array in self.arrays(call).items():
            row = rows[name]
            if row.shape[1:] != array.shape or row.dtype != array.dtype:
                raise RuntimeError(f"rows of {name}: {row.shape[1:]} for {array.shape}")  # see Worlds._fit
            stride = row.strides[0]
            cells += [(cell, row.ctypes.data + offset, stride) for cell, offset in call.cells(array)]
        self._cells = Cells(*np.array(cells, dtype=np.int64).reshape(-1, 3).T.copy())
        self._known, self._variants_known = known, None

    def bind_variants(self, variants: Any, call: CompiledCall) -> None:
        """Find the addresses of parameters that some worlds have for themselves."""
        known = (call.held, variants.version)
        if self._variants_known != known:
            self._variants, self._variants_known = variants.tables(call), known

    def advance(self, call: CompiledCall, worlds: np.ndarray, n: int, rows: Any, variant_of: Any, ends: Ends) -> None:
        """Take up to n steps in these worlds; holds no lock of Python while it does."""
        given = (
            loop_address(call), call.held.address, self._cells, self._variants, variant_of, worlds, n,
            call.status_first, ends,
        )  # fmt: skip
        if self.sim.drive.changes:
            advance_driven_worlds(*given, self._drives(rows))
        else:
            advance_worlds(*given)

    def _drives(self, rows: Mapping[str, np.ndarray]) -> Drives:
        drive = self.sim.drive
        signal = self.inputs.control
        history = rows["history"]
        return Drives(
            self.sim.model.activations, drive.delayed, drive.active, self.sim.dt, np.zeros_like(signal), signal,
            rows["control"], rows["act"], history,
        )  # fmt: skip


def no_cells() -> Cells:
    return Cells(*np.zeros((3, 0), dtype=np.int64))
