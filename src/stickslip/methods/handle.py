"""A handle: many arrays in nested NamedTuples, passed to kernels as one array of addresses and sizes.

A function of a hundred arrays is slow to compile, and one that calls others with them is many times slower, because
each call passes some 700 numbers. A kernel that is called often takes a handle instead, and ``restore`` rebuilds the
arrays from it by loading an address and a size or two for each. The arrays must stay alive at their addresses as long
as the handle is used. With ``NUMBA_DISABLE_JIT=1`` a handle is the NamedTuple itself.

``HeldCall`` does the same for calls from Python. Numba unpacks a hundred arrays anew in every call, which takes 20 µs
and more. A ``HeldCall`` hands over one object that knows their types and where their addresses are, and makes it anew
only if an argument is another object than before. The kernel begins with ``restored``:

    @kernel
    def advance_held(held, n):
        return advance(*restored(held), n)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import is_
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.core import config as numba_config
from numba.core.datamodel import models, register_default
from numba.core.pythonapi import NativeValue, unbox
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from stickslip._jit import kind_of


def make_handle(arrays: Any) -> Any:
    """(numbers,) the address and shape of each array in nested NamedTuples of C-contiguous arrays."""
    config: Any = numba_config
    return arrays if config.DISABLE_JIT else np.array(list(numbers_of(arrays)), dtype=np.int64)


def numbers_of(arrays: Any) -> Iterator[int]:
    """Addresses and shapes of the arrays in nested tuples, and the bits of the numbers."""
    if isinstance(arrays, tuple):
        for part in arrays:
            yield from numbers_of(part)
    elif isinstance(arrays, np.ndarray):
        yield arrays.ctypes.data
        yield from arrays.shape
        if not arrays.flags.c_contiguous:
            yield from arrays.strides
    elif isinstance(arrays, float):
        yield int(np.float64(arrays).view(np.int64))
    else:
        yield int(arrays)


def restorer(example: Callable[[], Any]) -> Any:
    """The kernel function that turns a handle into arrays of the types of ``example()``. ``example`` is called when a
    kernel is compiled."""
    config: Any = numba_config
    if config.DISABLE_JIT:
        return lambda handle: handle

    @intrinsic
    def restore(context, handle):
        kind = kind_of(example())
        return kind(handle), lambda context, builder, signature, args: _build(
            context, builder, kind, make_array(handle)(context, builder, args[0]).data, [0]
        )

    return restore


def _build(context: Any, builder: Any, kind: Any, numbers: Any, at: list[int]) -> Any:
    """The LLVM value of type ``kind`` from ``numbers``, of which the first at[0] have been read."""

    def number() -> Any:
        value = builder.load(cgutils.gep_inbounds(builder, numbers, at[0]))
        at[0] += 1
        return value

    if isinstance(kind, types.Tuple | types.UniTuple | types.NamedTuple | types.NamedUniTuple):
        parts = [_build(context, builder, part, numbers, at) for part in kind.types]
        return context.make_tuple(builder, kind, parts)
    if isinstance(kind, types.Float):
        return builder.bitcast(number(), context.get_value_type(kind))
    if isinstance(kind, types.Boolean):
        return builder.trunc(number(), context.get_value_type(kind))
    if not isinstance(kind, types.Array):
        return number()
    array, entry = make_array(kind)(context, builder), context.get_data_type(kind.dtype)
    data = builder.inttoptr(number(), array.data.type)
    shape = [number() for _ in range(kind.ndim)]
    size = context.get_constant(types.intp, context.get_abi_sizeof(entry))
    strides = [size] if kind.layout == "C" else [number() for _ in range(kind.ndim)]
    for length in reversed(shape[1:]) if kind.layout == "C" else ():
        strides.insert(0, builder.mul(strides[0], length))
    populate_array(array, data=data, shape=shape, strides=strides, itemsize=size, meminfo=None)
    return array._getvalue()


class HeldType(types.Type):
    """Numba's type of ``Held``: the types of its arguments."""

    def __init__(self, kinds: Any) -> None:
        self.kinds = kinds
        super().__init__(name=f"Held({kinds})")


@register_default(HeldType)
class HeldModel(models.PrimitiveModel):
    """In a kernel, the address of the numbers."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, ir.IntType(64))


@unbox(HeldType)
def _unbox(kind: Any, held: Any, c: Any) -> Any:
    address = c.pyapi.object_getattr_string(held, "address")
    value = c.pyapi.long_as_longlong(address)
    c.pyapi.decref(address)
    return NativeValue(value, is_error=cgutils.is_not_null(c.builder, c.pyapi.err_occurred()))


class Held:
    """Arguments of a kernel, numbers and nested NamedTuples of arrays: kept alive, their addresses and types found."""

    __slots__ = ("_numba_type_", "address", "given", "kinds", "numbers")

    def __init__(self, given: tuple) -> None:
        config: Any = numba_config
        self.given = given
        if not config.DISABLE_JIT:
            self.numbers = np.array(list(numbers_of(given)), dtype=np.int64)
            self.kinds = kind_of(given)
            self.address, self._numba_type_ = self.numbers.ctypes.data, HeldType(self.kinds)


class HeldCall:
    """Calls of a kernel ``function(held, n)`` with arguments that are mostly the same objects as the last time."""

    def __init__(self, function: Callable[[Any, int], Any]) -> None:
        self.function = function
        self.held = Held(())

    def hold(self, given: tuple) -> Held:
        """The arguments as one object, which is made anew if one of them is another object than before."""
        held = self.held
        if len(given) != len(held.given) or not all(map(is_, given, held.given)):
            held = self.held = Held(given)
        return held

    def __call__(self, given: tuple, n: int) -> Any:
        return self.function(self.hold(given), n)


class CompiledCall(NamedTuple):
    """The compiled loop of a method with its arguments, for callers that run it by its address in many worlds."""

    function: Any
    """The kernel ``function(held, n)``, which takes up to n steps."""
    held: Held
    """Its arguments."""
    own: dict[str, np.ndarray]
    """The arrays that each world has for itself, besides state and inputs: what a step leaves for the next one."""
    status_first: bool
    """Whether the kernel returns (status, steps done); else it returns (steps done, reason). 0 means that all went
    well."""
    force: np.ndarray
    """(n, 3) the array that has the contact forces after a step [N]."""
    counts: tuple[str, ...] = ()
    """Those of ``own`` that only count and report."""
    unconverged: tuple[str, int] | None = None
    """Which of ``own``, and at which place, counts the steps whose solver did not reach its tolerance."""
    handles: tuple[tuple[np.ndarray, Any], ...] = ()
    """Handles among the arguments, with the arrays that they point to."""

    @property
    def tables(self) -> tuple[tuple[np.ndarray, Any], ...]:
        """The handles, each with its arrays: that of the arguments first."""
        return (self.held.numbers, self.held.given), *self.handles

    def arguments(self) -> Iterator[tuple[int, int, Any]]:
        """(table, place in it, value) of all arrays and numbers."""
        handles = {id(numbers) for numbers, _ in self.handles}
        for k, (_, arrays) in enumerate(self.tables):
            for place, value in _placed(arrays):
                if id(value) not in handles:
                    yield k, place, value

    def cell(self, table: int, place: int) -> int:
        """The address at which a table has a number, or the address of an array."""
        return self.tables[table][0].ctypes.data + 8 * place

    def cells(self, array: np.ndarray) -> Iterator[tuple[int, int]]:
        """Where the tables have the address of this array, or of a part of it: (cell, distance in bytes from the
        array's beginning)."""
        start, end = array.ctypes.data, array.ctypes.data + array.nbytes
        for table, place, value in self.arguments():
            if isinstance(value, np.ndarray) and value.size and start <= value.ctypes.data < end:
                yield self.cell(table, place), value.ctypes.data - start


def _placed(arguments: Any) -> Iterator[tuple[int, Any]]:
    """The arrays and numbers of nested tuples, each with its place in the handle that ``numbers_of`` makes."""
    place = 0

    def visit(part: Any) -> Iterator[tuple[int, Any]]:
        nonlocal place
        if isinstance(part, tuple):
            for each in part:
                yield from visit(each)
            return
        yield place, part
        place += 1 + (part.ndim * (1 if part.flags.c_contiguous else 2) if isinstance(part, np.ndarray) else 0)

    return visit(arguments)


@intrinsic
def _restored(context, held):
    return held.kinds(held), lambda context, builder, signature, args: _build(
        context, builder, held.kinds, builder.inttoptr(args[0], ir.IntType(64).as_pointer()), [0]
    )


def _given(held: Held) -> tuple:
    return held.given


_config: Any = numba_config
restored: Any = _given if _config.DISABLE_JIT else _restored
"""The arguments of a ``Held``, in a kernel."""
