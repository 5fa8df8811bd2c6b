"""The compiled loop of a method on a GPU: compiled for one model, kept on disk, and launched for all worlds."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Collection, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from cuda.core import Device, LaunchConfig, Linker, LinkerOptions, ObjectCode, launch
from numba import cuda

from stickslip import _jit
from stickslip.errors import InputError
from stickslip.methods.handle import CompiledCall
from stickslip.progress import Progress
from stickslip.simulation.simulation import Simulation
from stickslip.solvers.core import Core
from stickslip.worlds.cuda import device
from stickslip.worlds.cuda.layout import Layout
from stickslip.worlds.cuda.memory import DeviceRows
from stickslip.worlds.cuda.single import in_single_precision

BLOCK = 128
"""Threads of a block."""
RESIDENT = 2
"""Blocks that a multiprocessor should have room for, which bounds the registers of a thread."""


class Engine:
    """The kernel of one method and model, with the constants that it reads."""

    def __init__(
        self, sim: Simulation, call: CompiledCall, own: Mapping[str, np.ndarray], varying: Collection[int],
        single: bool,
    ) -> None:  # fmt: skip
        cores = sim.stepper.cores_at_hand()
        self.layout = Layout(call, own, varying, single, [place for place, _ in cores])
        self.kernel = _kernel(self.layout, call, f"{sim.method}/{sim.variant}", [core for _, core in cores])
        block = self.layout.shared_block()
        self._shared = cuda.to_device(block)
        self._table = cuda.to_device(np.zeros(len(self.layout.names) + len(device.ENDS), dtype=np.int64))
        self._addresses: list[int] = []

    def advance(self, rows: Mapping[str, Any], ends: Mapping[str, DeviceRows], variants: Any, n: int) -> None:
        """Take up to n steps in all worlds that have not stopped."""
        worlds = len(ends["stopped"])
        addresses = [rows[name].address for name in self.layout.names] + [ends[name].address for name in device.ENDS]
        if addresses != self._addresses:
            self._table.copy_to_device(np.array(addresses, dtype=np.int64))
            self._addresses = addresses
        cuda.synchronize()  # what was copied is there before the kernel runs
        current = Device()
        current.set_current()
        stream = current.default_stream
        config = LaunchConfig(grid=-(-worlds // BLOCK), block=BLOCK)
        arguments = (address(self._table), address(self._shared), address(variants), worlds, worlds, n)
        launch(stream, config, self.kernel, *map(np.int64, arguments))
        stream.sync()


def address(array: Any) -> int:
    return int(array.__cuda_array_interface__["data"][0])


def _kernel(layout: Layout, call: CompiledCall, method: str, cores: list[Core]) -> Any:
    """The kernel, from disk if the same was compiled before."""
    capability = cuda.get_current_device().compute_capability
    arch = f"sm_{capability[0]}{capability[1]}"
    left_out = device.leave_out_what_is_not_needed()
    told = (layout.key(), arch, version("numba-cuda"), _names(call, cores), left_out, BLOCK, RESIDENT, _source())
    key = hashlib.sha256(repr(told).encode())
    kept = Path(_jit.CACHE_DIR) / "cuda" / f"{key.hexdigest()[:24]}.cubin"
    if not kept.exists():
        with Progress(f"compiling {method} for the GPU, once for this model", 1, "", show=True):
            code = _compiled(layout, call, cores, capability, arch)
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=kept.parent, delete=False) as file:
            file.write(code)
        os.replace(file.name, kept)
    return ObjectCode.from_cubin(kept.read_bytes()).get_kernel(device.NAME)


def _source() -> str:
    """A hash of the code of this folder, which decides what is made of the kernels."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def _names(call: CompiledCall, cores: list[Core]) -> tuple[Any, ...]:
    functions = (call.function, *(core.function for core in cores))
    return tuple(f"{f.__module__}.{f.__qualname__}" for f in functions)


def _compiled(layout: Layout, call: CompiledCall, cores: list[Core], capability: Any, arch: str) -> bytes:
    """Machine code of the kernel. Its name is made the same for all, so that it is found in what was kept."""
    for kind in device.solvers_at_hand:
        device.solvers_at_hand[kind][:] = [(k, core) for k, core in enumerate(cores) if core.kind == kind]
    with in_single_precision(layout.single):
        ptx, _ = cuda.compile(
            device.make_kernel(layout, call), device.SIGNATURE, cc=capability, device=False, abi="numba", output="ptx",
            launch_bounds=(BLOCK, RESIDENT),
        )  # fmt: skip
    found = re.search(r"\.entry\s+([^\s(]+)", ptx)
    if found is None:
        raise InputError(
            "the compiler for the GPU made no kernel; report this with the versions of numba-cuda and CUDA"
        )
    ptx = ptx.replace(found.group(1), device.NAME)
    linked = Linker(ObjectCode.from_ptx(ptx.encode()), options=LinkerOptions(arch=arch)).link("cubin")
    return bytes(linked.code)
