"""Where a kernel on the GPU finds the arrays of a world.

A compiled loop takes some hundred small arrays. On the CPU their addresses and sizes come from a handle
(``methods.handle``). On the GPU the sizes are constants of the kernel, and three kinds of arrays have three places:

* **constants** of the model and of the method, which no step writes, lie in one block that all worlds share;
* what each **world** has for itself lies with the world index last: entry e of an array is at e·stride + w·size.
  Neighbouring threads read neighbouring memory, and an array is (n, …) to the outside without a copy;
* **scratch** is local memory of a thread, which the hardware lays out in the same way. The compiler knows that no two
  of these arrays overlap, and keeps small ones in registers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from stickslip.methods.handle import CompiledCall

ALIGNED = 256
"""[bytes] every array begins at a multiple of this."""


class Shared(NamedTuple):
    """A constant array at a distance [bytes] in the block of constants."""

    array: np.ndarray
    offset: int


class Own(NamedTuple):
    """An array that each world has, or a part of it that begins at some entry."""

    name: str
    number: int
    """Its place in the table of addresses."""
    array: np.ndarray
    entry: int


class Scratch(NamedTuple):
    """An array that a thread has for itself."""

    array: np.ndarray
    offset: int
    """Where its first contents are in the block of constants [bytes]; −1 if they do not matter."""
    number: int


class Variant(NamedTuple):
    """An array or a number of which each variant of the parameters has its own."""

    value: Any
    offset: int
    """[bytes] in the block of a variant."""


class Layout:
    """The places of all arguments of a compiled loop, in their order. Numbers are constants of the kernel.

    ``own`` are the arrays that each world has, by name; ``varying`` are the places of arguments that differ from
    variant to variant. With ``single``, numbers that are not whole take four bytes. ``solvers`` are addresses among the
    arguments that differ from process to process; their places in this list stand for them.
    """

    def __init__(
        self, call: CompiledCall, own: Mapping[str, np.ndarray], varying: Collection[int] = (), single: bool = False,
        solvers: Sequence[int] = (),
    ) -> None:  # fmt: skip
        self.given, self.single = call.held.given, single
        self.names, self.own = tuple(own), dict(own)
        self.shared_bytes = self.scratch_bytes = self.variant_bytes = self.scratches = 0
        """Bytes of the constants, of the scratch of a thread and of a variant; number of scratch arrays."""
        self.places: list[Any] = []
        self._varying: list[tuple[int, Variant]] = []
        known: dict[int, Any] = {}
        for (owner, value), (_, number, _) in zip(parts(self.given), call.arguments(), strict=True):
            if number in varying:
                self.places.append(Variant(value, self.variant_bytes))
                self._varying.append((number, self.places[-1]))
                self.variant_bytes += aligned(self.bytes_of(np.asarray(value)))
                continue
            if not isinstance(value, np.ndarray):
                least = LEAST.get(owner, 0.0) if single else 0.0
                known_solver = type(value) is int and value in solvers
                self.places.append(solvers.index(value) if known_solver else max(value, least) if least else value)
                continue
            key = value.ctypes.data if value.size else -id(value)
            if key not in known or known[key].array.shape != value.shape:
                known[key] = self._own_place(value) or self._place(owner, value)
            self.places.append(known[key])

    def size(self, dtype: np.dtype) -> int:
        """[bytes] of a number on the device."""
        return 4 if self.single and dtype == np.float64 else dtype.itemsize

    def bytes_of(self, array: np.ndarray) -> int:
        return array.size * self.size(array.dtype)

    def raw(self, array: np.ndarray) -> np.ndarray:
        """The bytes of an array as the device has it."""
        array = np.ascontiguousarray(array).reshape(-1)
        if self.size(array.dtype) != array.itemsize:
            array = array.astype(np.float32)
        return array.view(np.uint8)

    def _own_place(self, value: np.ndarray) -> Own | None:
        for number, (name, array) in enumerate(self.own.items()):
            start = array.ctypes.data
            if value.size and start <= value.ctypes.data < start + array.nbytes:
                return Own(name, number, value, (value.ctypes.data - start) // value.itemsize)
        return None

    def _place(self, owner: str, value: np.ndarray) -> Any:
        group, _, field = owner.partition(".")
        offset = self.shared_bytes
        if owner in CONSTANT or group in CONSTANT or not value.flags.writeable:
            self.shared_bytes += aligned(self.bytes_of(value))
            return Shared(value, offset)
        self.scratch_bytes += self.bytes_of(value)
        self.scratches += 1
        if group in WRITTEN_FIRST and field not in WRITTEN_FIRST[group]:
            return Scratch(value, -1, self.scratches)
        self.shared_bytes += aligned(self.bytes_of(value))
        return Scratch(value, offset, self.scratches)

    def varying(self) -> list[tuple[int, int]]:
        """(place in the handle, distance in the block of a variant) of the arguments that differ between variants."""
        return [(number, place.offset) for number, place in self._varying]

    def shared_block(self) -> np.ndarray:
        """The bytes of the constants, and of the first contents of scratch."""
        block = np.zeros(max(1, self.shared_bytes), dtype=np.uint8)
        for place in self.places:
            if isinstance(place, Shared | Scratch) and place.offset >= 0:
                raw = self.raw(place.array)
                block[place.offset : place.offset + raw.size] = raw
        return block

    def key(self) -> str:
        """What the kernel depends on: kinds, sizes and places of arguments, and the numbers among them."""
        told = []
        for (owner, value), place in zip(parts(self.given), self.places, strict=True):
            if isinstance(place, Shared | Own | Scratch | Variant):
                what, numbers = np.asarray(value), [x for x in place if isinstance(x, int | str)]
                where = numbers[-1:] if isinstance(place, Variant) else numbers
                told.append((owner, type(place).__name__, what.shape, what.dtype.str, *where))
            else:
                told.append((owner, repr(place)))
        text = repr(told)
        return hashlib.sha256(f"{text}{self.single}{self.variant_bytes}".encode()).hexdigest()


def aligned(size: int) -> int:
    return -(-size // ALIGNED) * ALIGNED


def parts(given: Any, owner: str = "") -> Iterator[tuple[str, Any]]:
    """The arrays and numbers of nested tuples, each with the name of the tuple's class and field that it belongs to."""
    if not isinstance(given, tuple):
        yield owner, given
        return
    fields = getattr(given, "_fields", None)
    for k, part in enumerate(given):
        yield from parts(part, owner if fields is None else f"{type(given).__name__}.{fields[k]}")


LEAST = {"Chain.tolerance": 1e-5, "Settings.tolerance": 1e-5}
"""Tolerances that single precision can meet; smaller ones are raised to them."""
_GROUPS = """
    Shapes Rules Polyhedra Neighbours Climb Geometry Fields Elements LoopPoints Symbolic Joints Tree Support
"""
_FIELDS = """
    Mechanism.edge Mechanism.first JointNodes.link1 JointNodes.link2 JointNodes.size Anchors.angular Anchors.speed
    Anchors.weight Anchors.at_detection Limits.speed Drives.column Drives.start Drives.links SoftWorld.bounces
    SoftWorld.cell SoftWorld.radius Bodies.radius Forces.radius Plan.directions JointForces.limited JointWork.lone
    LookAhead.lone Search.shares
"""
CONSTANT = frozenset((_GROUPS + _FIELDS).split())
"""Named tuples, and fields as ``Class.field``, of arrays that no step writes, though Python could."""
_SCRATCH = """
    Work Polytope Minkowski Found Candidates Placed Space PadeWork Eigenbasis IslandWork ContactRows MassMatrix Averages
    Islands Stages Cones Derivatives Newton Points Spin Motion Rows ContactWork
"""
WRITTEN_FIRST: dict[str, frozenset[str]] = {
    **dict.fromkeys(_SCRATCH.split(), frozenset()),
    "Contacts": frozenset(("shape1", "shape2", "found")),
    "Articulated": frozenset(("acc",)),
    "Plan": frozenset(("directions",)),
}
"""Named tuples of scratch that a step writes before it reads it → fields that are none."""


def strides(array: np.ndarray, size: int) -> Iterator[int]:
    """Distances in entries, times ``size``, for the contiguous order of an array."""
    step = 1
    found = []
    for length in reversed(array.shape):
        found.append(step * size)
        step *= length
    return iter(found[::-1])
