"""Parameters that differ from world to world: friction, masses, joints, gains, gravity.

Worlds with the same parameters share a **variant**. A variant is made by the setters of the model, in a simulation of
its own: the method derives all that follows from them, as it does for a ``Simulation``, and the arguments of its
compiled loop are compared with those of the model as it was compiled. What differs is kept, and the loop reads it in
the worlds of this variant. Making one takes some ten milliseconds, whatever the number of worlds that have it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from stickslip.errors import InputError, expected, reals
from stickslip.methods.handle import CompiledCall, numbers_of
from stickslip.progress import Progress
from stickslip.worlds.driver import Cells, Variants

if TYPE_CHECKING:
    from stickslip.simulation.simulation import Simulation

Edit = tuple[str, str, str]
"""(setter of the model, name of what it sets, keyword)."""


class Parameters:
    """Which parameters each world has."""

    def __init__(self, worlds: int, make: Callable[[], Simulation]) -> None:
        self.variant_of = np.zeros(worlds, dtype=np.int64)
        """(n,) the variant of each world; 0 is the model as it was compiled."""
        self.version = 0
        """Goes up when there is a new variant."""
        self._make = make
        self._values: dict[Edit, np.ndarray] = {}
        """What was set → (n, …) the value in each world."""
        self._numbers: dict[bytes, int] = {b"": 0}
        """Bytes of the values of a world → its variant."""
        self._edits: list[dict[Edit, Any]] = [{}]
        """What was set, by variant."""
        self._differing: list[dict[tuple[int, int], Any]] = [{}]
        """The arguments of the compiled loop that differ from those of variant 0, by variant and place."""
        self._sim: Simulation | None = None
        self._present = 0
        self._base: dict[tuple[int, int], Any] = {}
        self._kept: list[np.ndarray] = []
        """Arrays that tables have the addresses of."""

    def set(self, setter: str, name: str, values: Mapping[str, Any], worlds: np.ndarray, show: bool | None) -> None:
        """Give these worlds (nw,) the values, numbers for all of them or arrays with a row per world."""
        given = {key: value for key, value in values.items() if value is not None}
        if not given:
            raise InputError(f"{setter}: expected at least one of {', '.join(values)}")
        n, made = len(self.variant_of), dict(self._values)
        for keyword, value in given.items():
            array = reals(f"{keyword} of {name or 'the scene'}", value, "numbers, or an array with a row per world")
            shape = SHAPES.get(keyword, ())
            if array.shape == shape:
                array = np.broadcast_to(array, (len(worlds), *shape))
            if array.shape != (len(worlds), *shape):
                wanted = f"shape {shape} or {(len(worlds), *shape)}"
                raise expected(f"{keyword} of {name or 'the scene'}", wanted, array.shape, "give a row per world")
            edit = (setter, name, keyword)
            if edit not in made and len(worlds) < n:
                raise expected(
                    f"worlds of {setter}", f"all {n} the first time that {keyword!r} is set", len(worlds),
                    "set it in all worlds, then in some",
                )  # fmt: skip
            row = np.empty((n, *shape)) if edit not in made else made[edit].copy()
            row[worlds] = array
            made[edit] = row
        self._take(made, show)

    def _take(self, values: dict[Edit, np.ndarray], show: bool | None) -> None:
        n = len(self.variant_of)
        table = np.concatenate([row.reshape(n, -1) for row in values.values()], axis=1)
        unique, inverse = np.unique(table, axis=0, return_inverse=True)
        numbers = np.zeros(len(unique), dtype=np.int64)
        with Progress("variants of the model", len(unique), "", show=show) as bar:
            for k, row in enumerate(unique):
                bar.update(k)
                at, edit = 0, {}
                for key, each in values.items():
                    size = int(np.prod(each.shape[1:], dtype=int))
                    edit[key] = row[at : at + size].reshape(each.shape[1:])
                    at += size
                numbers[k] = self._variant(edit)
        self._values = values
        self.variant_of[:] = numbers[inverse.reshape(-1)]

    def _variant(self, edit: dict[Edit, np.ndarray]) -> int:
        """The number of the variant with these values, which is made if there is none."""
        key = repr([(name, value.tobytes()) for name, value in edit.items()]).encode()
        if key not in self._numbers:
            made = {name: float(value) if value.ndim == 0 else value.copy() for name, value in edit.items()}
            self._edits.append(made)
            try:
                self._differing.append(self._differences(self.simulation(len(self._edits) - 1)))
            except BaseException:
                self._edits.pop()
                self._sim = None  # whatever it was set to, the next variant begins anew
                raise
            self._numbers[key] = len(self._edits) - 1
            self.version += 1
        return self._numbers[key]

    def simulation(self, variant: int) -> Simulation:
        """A simulation whose model has the parameters of a variant."""
        if self._sim is None or self._edits[self._present].keys() - self._edits[variant].keys():
            self._sim, self._present = self._make(), 0
            if not self._base:
                self._base = self._arguments(self._sim)
        if variant != self._present:
            self.apply(self._sim, variant, self._edits[self._present])
            self._present = variant
        return self._sim

    def apply(self, sim: Simulation, variant: int, present: Mapping[Edit, Any] | None = None) -> None:
        """Give the model of a simulation the parameters of a variant; ``present`` are those that it has."""
        groups: dict[tuple[str, str], dict[str, Any]] = {}
        for (setter, name, keyword), value in self._edits[variant].items():
            if not np.array_equal((present or {}).get((setter, name, keyword)), value):  # type: ignore[arg-type]
                groups.setdefault((setter, name), {})[keyword] = value
        for (setter, name), keywords in groups.items():
            getattr(sim.model, setter)(*([name] if name else []), **keywords)
        sim.follow_model()

    def _arguments(self, sim: Simulation) -> dict[tuple[int, int], Any]:
        """Copies of the arguments of the compiled loop, but for what each world has for itself."""
        sim.stepper.remake(**sim.options)
        call = sim.stepper.compiled_call(sim.state, sim.acting)
        if call is None:
            return {}
        own = {id(array) for array in call.own.values()}
        own |= {id(part) for part in (sim.state.q, sim.state.v, sim.state.act, *sim.inputs)}
        found = {}
        for table, place, value in call.arguments():
            if id(value) not in own:
                found[table, place] = value.copy() if isinstance(value, np.ndarray) else value
        return found

    def _differences(self, sim: Simulation) -> dict[tuple[int, int], Any]:
        found, arguments = {}, self._arguments(sim)
        for place, base in self._base.items():
            value: Any = arguments.get(place)
            if isinstance(base, np.ndarray) and (not isinstance(value, np.ndarray) or value.shape != base.shape):
                raise InputError(
                    "parameters of worlds: expected values that leave the model's structure as it is, got some that "
                    "add or remove contacts, friction or limits; make other Worlds for these"
                )
            same = np.array_equal(value, base, equal_nan=isinstance(base, np.ndarray) and base.dtype.kind == "f")
            if not same:
                found[place] = value
        return found

    def places(self) -> tuple[int, ...]:
        """The places of the arguments that differ between variants."""
        return tuple(sorted({place for each in self._differing for _, place in each}))

    def block(self, layout: Any) -> np.ndarray:
        """The bytes of the arguments that differ, a row per variant, as a ``Layout`` of the GPU places them."""
        block = np.zeros((len(self._differing), max(1, layout.variant_bytes)), dtype=np.uint8)
        for number, offset in layout.varying():
            for k, each in enumerate(self._differing):
                raw = layout.raw(np.asarray(each.get((0, number), self._base[0, number])))
                block[k, offset : offset + raw.size] = raw
        return block

    def tables(self, call: CompiledCall) -> Variants:
        """The tables of the driver for a lane's compiled loop. The arrays are kept with this object."""
        places = sorted({place for each in self._differing for place in each})
        cells, where, numbers = [], [], []
        for place in places:
            base = self._base[place]
            values = [each.get(place, base) for each in self._differing]
            if isinstance(base, np.ndarray):
                rows = np.ascontiguousarray(np.stack(values))
                self._kept.append(rows)
                cells.append((call.cell(*place), rows.ctypes.data, rows.strides[0]))
            else:
                where.append(call.cell(*place))
                numbers.append(list(numbers_of(tuple(values))))
        table = np.array(cells, dtype=np.int64).reshape(-1, 3).T.copy()
        number = np.array(numbers, dtype=np.int64).reshape(len(where), len(self._differing)).T.copy()
        return Variants(Cells(*table), np.array(where, dtype=np.int64), number)


SHAPES: Mapping[str, tuple[int, ...]] = {"gravity": (3,), "com": (3,), "inertia": (6,)}
"""Keywords of setters whose values are no single numbers."""
