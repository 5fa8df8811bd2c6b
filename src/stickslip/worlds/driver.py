"""The compiled loop over worlds: a thread's own copy of a method takes the steps of one world after another.

A method's compiled loop reads the addresses of its arrays from a handle (``methods.handle``). Before the steps of world
w, the addresses of what each world has for itself are set to

    address = base + stride·w

so that nothing is copied, and the machine code that takes the steps is that of a ``Simulation``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import config as numba_config
from numba.extending import intrinsic

from stickslip._jit import address, caller, kernel
from stickslip.dynamics.activation import advance_activations, delayed_controls, drive_signals, remember_controls
from stickslip.dynamics.kinematics import forward_kinematics
from stickslip.methods.handle import CompiledCall, HeldType


class Cells(NamedTuple):
    """Which addresses of a handle belong to the worlds."""

    cell: np.ndarray
    """(nc,) where each address is kept."""
    base: np.ndarray
    """(nc,) the address of the array of the first world."""
    stride: np.ndarray
    """(nc,) bytes from one world to the next."""


class Variants(NamedTuple):
    """Parameters by variant: arrays at addresses, and numbers."""

    arrays: Cells
    """Arrays with a row per variant."""
    place: np.ndarray
    """(nn,) where each number is kept."""
    number: np.ndarray
    """(variants, nn) the bits of the numbers."""


class Drives(NamedTuple):
    """Delays and activations of actuators, which change from step to step (``simulation.drive``)."""

    activations: Any
    """The model's activations."""
    delayed: bool
    active: bool
    """Whether there are delays, and activations that the method does not advance itself."""
    dt: float
    """[s]."""
    late: np.ndarray
    """(nu,) scratch, and ``signal`` (nu,): the signals that the thread's copy of the method reads."""
    signal: np.ndarray
    control: np.ndarray
    """(n, nu) controls of the worlds."""
    act: np.ndarray
    """(n, na) activations of the worlds."""
    history: np.ndarray
    """(n, nh, nu) earlier controls of the worlds."""


class Ends(NamedTuple):
    """How the steps of each world ended."""

    done: np.ndarray
    """(n,) steps that were taken."""
    reason: np.ndarray
    """(n,) 0, or why the next step was not taken."""


LOOP: Any = types.UniTuple(types.int64, 2)(types.int64, types.int64)
"""The type of a method's compiled loop of (address of its arguments, steps)."""
call_loop = caller(LOOP)


def loop_address(call: CompiledCall) -> int:
    """The machine code of a method's loop, for ``advance_worlds``; it is compiled if it is not."""
    return address(call.function, LOOP.return_type(HeldType(call.held.kinds), LOOP.args[1]))


@intrinsic
def _write(context, place, value):
    def codegen(context, builder, signature, args):
        builder.store(args[1], builder.inttoptr(args[0], ir.IntType(64).as_pointer()))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


_config: Any = numba_config
write: Any = (lambda place, value: None) if _config.DISABLE_JIT else _write
"""Write a whole number to an address."""


@kernel
def choose_world(cells, w):
    """Let the handle's addresses be those of world w."""
    for k in range(cells.cell.shape[0]):
        write(cells.cell[k], cells.base[k] + cells.stride[k] * w)


@kernel
def choose_variant(variants, k):
    """Let the handle have the parameters of variant k."""
    choose_world(variants.arrays, k)
    for j in range(variants.place.shape[0]):
        write(variants.place[j], variants.number[k, j])


@kernel
def advance_worlds(loop, held, cells, variants, variant_of, worlds, n, status_first, ends):
    """Take up to n steps in each of these worlds by the compiled loop at an address, with the arguments at ``held``;
    world w has the parameters of variant variant_of[w]."""
    for i in range(worlds.shape[0]):
        w = worlds[i]
        choose_world(cells, w)
        choose_variant(variants, variant_of[w])
        first, second = call_loop(loop, (held, n))
        ends.done[w], ends.reason[w] = (second, first) if status_first else (first, second)


@kernel
def advance_driven_worlds(loop, held, cells, variants, variant_of, worlds, n, status_first, ends, drives):
    """``advance_worlds`` where delays and activations come between controls and actuators."""
    for i in range(worlds.shape[0]):
        w = worlds[i]
        choose_world(cells, w)
        choose_variant(variants, variant_of[w])
        control, act, history = drives.control[w], drives.act[w], drives.history[w]
        ends.done[w], ends.reason[w] = 0, 0
        for _ in range(n):
            for u in range(control.shape[0]):
                drives.late[u] = control[u]
            if drives.delayed:
                delayed_controls(drives.activations, control, history, drives.dt, drives.late)
            for u in range(control.shape[0]):
                drives.signal[u] = drives.late[u]
            if drives.active:
                drive_signals(drives.activations, drives.late, act, drives.dt, drives.signal)
            first, second = call_loop(loop, (held, 1))
            done, reason = (second, first) if status_first else (first, second)
            if done == 0:
                ends.reason[w] = reason
                break
            ends.done[w] += 1
            if drives.active:
                advance_activations(drives.activations, drives.late, act, drives.dt)
            if drives.delayed:
                remember_controls(control, history)


@kernel
def link_poses(tree, kin, q, worlds, pos, rot):
    """pos (n, nlink, 3) and rot (n, nlink, 3, 3) of all links at q (n, nq) in these worlds."""
    for i in range(worlds.shape[0]):
        forward_kinematics(tree, q[worlds[i]], kin)
        for k in range(kin.pos.shape[0]):
            for a in range(3):
                pos[worlds[i], k, a] = kin.pos[k, a]
                for b in range(3):
                    rot[worlds[i], k, a, b] = kin.rot[k, a, b]
