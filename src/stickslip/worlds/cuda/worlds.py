"""The side of ``Worlds`` that lies on a GPU: its memory, its kernel, and when both are made anew."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numba import cuda

from stickslip.worlds.cuda.device import ENDS
from stickslip.worlds.cuda.engine import Engine
from stickslip.worlds.cuda.memory import DeviceRows
from stickslip.worlds.driver import Ends
from stickslip.worlds.lane import Lane
from stickslip.worlds.parameters import Parameters


class WorldsOnGpu:
    """The memory and the kernel of worlds on a GPU. ``lane()`` makes the simulation that the kernel is made from."""

    def __init__(self, lane: Callable[[], Lane], n: int, dtype: np.dtype) -> None:
        self.n, self.single = n, dtype == np.float32
        self._make_lane = lane
        self._lane: Lane | None = None
        self._engine: Engine | None = None
        self._known: Any = None
        self._ends = {name: DeviceRows(np.zeros((), np.int64), n) for name in ENDS}
        self._variants: Any = None
        self._stopped, self._variant_of = np.zeros(n, dtype=bool), np.zeros(n, dtype=np.int64)
        self._version = -1

    def rows(self, row: np.ndarray) -> DeviceRows:
        """Rows of all worlds on the GPU, each a copy of ``row``."""
        return DeviceRows(row.astype(np.float32) if self.single and row.dtype == np.float64 else row, self.n)

    @property
    def scratch_bytes(self) -> int:
        """Local memory of a thread; 0 before the first step."""
        return 0 if self._engine is None else int(self._engine.kernel.attributes.local_size_bytes())

    def advance(
        self, rows: Mapping[str, Any], fit: Callable[[Mapping[str, np.ndarray]], None], stopped: np.ndarray,
        parameters: Parameters, n: int, ends: Ends,
    ) -> None:  # fmt: skip
        """Take up to n steps in all worlds that are not ``stopped`` (n,); fills ``ends``."""
        engine = self._engine_for(rows, fit, parameters)
        if not np.array_equal(self._stopped, stopped):
            self._stopped = stopped.copy()
            self._ends["stopped"][:] = stopped.astype(np.int64)
        engine.advance(rows, self._ends, self._variants, n)
        ends.done[:] = self._ends["done"].data.copy_to_host()[0]
        if np.any(ends.done[~stopped] < n):
            ends.reason[:] = self._ends["reason"].data.copy_to_host()[0]

    def _engine_for(self, rows: Mapping[str, Any], fit: Any, parameters: Parameters) -> Engine:
        """The kernel for rows of these sizes and for the parameters that vary."""
        if self._lane is None:
            self._lane = self._make_lane()
        fit(self._lane.make_room(rows))
        varying = parameters.places()
        known = (varying, tuple(row.shape for row in rows.values()))
        if self._known != known or self._engine is None:
            call = self._lane.call()
            assert call is not None
            own = self._lane.arrays(call)
            self._engine, self._known = Engine(self._lane.sim, call, own, varying, self.single), known
            self._version = -1
        if self._version != parameters.version:
            self._version = parameters.version
            self._variants = cuda.to_device(parameters.block(self._engine.layout))
        if not np.array_equal(self._variant_of, parameters.variant_of):
            self._variant_of = parameters.variant_of.copy()
            self._ends["variant"][:] = self._variant_of
        return self._engine
