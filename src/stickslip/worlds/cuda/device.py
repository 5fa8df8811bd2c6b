"""The compiled loops of methods inside a CUDA kernel: their arguments, with sizes that are constants."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import cuda as numba_cuda

from stickslip._lean import Kernel, ThroughSlot
from stickslip.methods import handle
from stickslip.methods.handle import CompiledCall
from stickslip.solvers import core as core_module
from stickslip.solvers.core import Core
from stickslip.worlds.cuda.layout import Layout, Own, Scratch, Shared, Variant, strides

cuda: Any = numba_cuda
types: Any = import_module("numba.cuda.types")
extending: Any = import_module("numba.cuda.extending")
cgutils: Any = import_module("numba.cuda.cgutils")
arrayobj: Any = import_module("numba.cuda.np.arrayobj")
models: Any = import_module("numba.cuda.models")
templates: Any = import_module("numba.cuda.typing.templates")
typeof: Any = import_module("numba.cuda.typing.typeof").typeof

FIELDS = ("table", "shared", "variant", "world", "stride")
"""What a thread has to know of its world: the addresses of the table of addresses of the worlds' arrays, of the
constants and of the parameters of its variant, the number of the world, and the distance from one entry of a world's
array to the next, in entries."""
ENDS = ("stopped", "variant", "done", "reason")
"""Whole numbers of each world that are behind its arrays in the table: whether it is left out, its variant, how many
steps it took, and 0 or why it took no more."""
NAME = "stickslip_worlds"
"""The kernel's name in its machine code."""


class OnDevice(types.Type):
    """The type of the arguments of a compiled loop on the device."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        super().__init__(name=f"OnDevice({id(layout)})")


@extending.register_model(OnDevice)
class OnDeviceModel(models.StructModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, [(name, types.int64) for name in FIELDS])


def typed(part: Any, places: Iterator[Any]) -> Any:
    """The type of nested tuples of arrays, of which those of the worlds are strided."""
    if isinstance(part, tuple):
        kinds = [typed(each, places) for each in part]
        if hasattr(part, "_fields"):
            same = len(set(kinds)) == 1
            return (
                types.NamedUniTuple(kinds[0], len(kinds), type(part)) if same else types.NamedTuple(kinds, type(part))
            )
        return types.Tuple.from_types(kinds) if hasattr(types.Tuple, "from_types") else types.Tuple(kinds)
    if isinstance(part, np.ndarray):
        kind, place = typeof(part), next(places)
        return types.Array(kind.dtype, kind.ndim, "A" if isinstance(place, Own) else "C")
    next(places)
    if isinstance(part, bool | np.bool_):
        return types.boolean
    return types.float64 if isinstance(part, float) else types.int64


def holder(layout: Layout) -> Any:
    """The function of a kernel that makes the arguments of one world known: hold(*FIELDS)."""
    kind = OnDevice(layout)

    @extending.intrinsic
    def hold(context, table, shared, variant, world, stride):
        def codegen(context, builder, signature, args):
            made = context.make_helper(builder, kind)
            for name, value in zip(FIELDS, args, strict=True):
                setattr(made, name, value)
            return made._getvalue()

        return kind(*(types.int64,) * len(FIELDS)), codegen

    return hold


def restored(context: Any, held: Any) -> Any:
    """Typing and code of ``methods.handle.restored`` on the device."""
    if not isinstance(held, OnDevice):
        return None
    layout = held.layout
    kinds = typed(layout.given, iter(layout.places))

    def codegen(context, builder, signature, args):
        known = context.make_helper(builder, held, value=args[0])
        return build(context, builder, known, kinds, layout.given, iter(layout.places), {}, layout)

    return kinds(held), codegen


def build(
    context: Any, builder: Any, known: Any, kind: Any, part: Any, places: Iterator[Any], locals_: dict, layout: Layout
) -> Any:
    """The LLVM value of arguments of type ``kind``."""
    if isinstance(part, tuple):
        values = [
            build(context, builder, known, each, p, places, locals_, layout)
            for each, p in zip(kind.types, part, strict=True)
        ]
        return context.make_tuple(builder, kind, values)
    place, word = next(places), ir.IntType(64)
    if isinstance(place, Variant):
        address = builder.add(known.variant, ir.Constant(word, place.offset))
        if not isinstance(part, np.ndarray):
            pointer = builder.inttoptr(address, context.get_data_type(kind).as_pointer())
            return context.unpack_value(builder, kind, pointer)
    elif not isinstance(part, np.ndarray):
        return context.get_constant(kind, place)
    size = layout.size(part.dtype)

    def times(a: Any, factor: int) -> Any:
        return builder.mul(a, ir.Constant(word, factor))

    steps = [ir.Constant(word, step) for step in strides(part, size)]
    if isinstance(place, Scratch):
        return local_array(context, builder, known, kind, place, locals_, size)
    if isinstance(place, Shared):
        address = builder.add(known.shared, ir.Constant(word, place.offset))
    elif isinstance(place, Own):
        apart = times(known.stride, size)
        address = builder.add(row(builder, known.table, place.number), times(known.world, size))
        address = builder.add(address, times(apart, place.entry))
        steps = [times(apart, step) for step in strides(part, 1)]
    return filled(context, builder, kind, builder.inttoptr, address, part, steps, size)


def row(builder: Any, table: Any, number: int) -> Any:
    """The address of the array with a number in the table."""
    word = ir.IntType(64)
    return builder.load(builder.gep(builder.inttoptr(table, word.as_pointer()), [ir.Constant(word, number)]))


def filled(context: Any, builder: Any, kind: Any, cast: Any, data: Any, part: np.ndarray, steps: Any, size: int) -> Any:
    """An array of the shape of ``part`` at ``data``, which ``cast`` makes a pointer."""
    array = arrayobj.make_array(kind)(context, builder)
    shape = [ir.Constant(ir.IntType(64), length) for length in part.shape]
    pointer = cast(data, array.data.type)
    arrayobj.populate_array(array, data=pointer, shape=shape, strides=steps, itemsize=size, meminfo=None)
    return array._getvalue()


def local_array(
    context: Any, builder: Any, known: Any, kind: Any, place: Scratch, locals_: dict[int, Any], size: int
) -> Any:
    """An array in the local memory of the thread, with its first contents if they matter."""
    part, word = place.array, ir.IntType(64)
    if place.number not in locals_:
        memory = cgutils.alloca_once(builder, ir.ArrayType(context.get_data_type(kind.dtype), max(1, part.size)))
        locals_[place.number] = memory
        if place.offset >= 0 and part.size:
            source = builder.inttoptr(builder.add(known.shared, ir.Constant(word, place.offset)), memory.type)
            cgutils.raw_memcpy(builder, memory, source, ir.Constant(word, part.size), size)
    steps = [ir.Constant(word, step) for step in strides(part, size)]
    return filled(context, builder, kind, builder.bitcast, locals_[place.number], part, steps, size)


def replace_on_device(function: Any, definition: Any) -> None:
    """Let kernels on the device have other code for an intrinsic of kernels on the CPU."""
    template = templates.make_intrinsic_template(function, definition, definition.__name__)
    templates.infer(template)
    templates.infer_global(function, types.Function(template))


def reshaped(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Code of ``array.reshape`` with whole numbers for contiguous arrays; numba-cuda's own calls a function in C++."""
    given = arrayobj.make_array(signature.args[0])(context, builder, args[0])
    kind = signature.return_type
    shape = [context.cast(builder, n, t, types.int64) for n, t in zip(args[1:], signature.args[1:], strict=True)]
    size = given.itemsize
    steps = [size]
    for length in reversed(shape[1:]):
        steps.insert(0, builder.mul(steps[0], length))
    array = arrayobj.make_array(kind)(context, builder)
    arrayobj.populate_array(array, data=given.data, shape=shape, strides=steps, itemsize=size, meminfo=None)
    return array._getvalue()


for count in (1, 2, 3):
    extending.lower_builtin("array.reshape", types.Array, *(types.int64,) * count)(reshaped)


def core_caller(kind: str) -> Any:
    """Typing and code of ``solvers.core.call_cones`` or ``call_lcp`` on the device. Kernels have no addresses there:
    a number in the place of the address tells which of the solvers at hand is called."""

    def call_core(context, function, arguments):
        known = [(place, context.resolve_value_type(core.function)) for place, core in solvers_at_hand[kind]]
        signatures = [context.resolve_function_type(each, tuple(arguments.types), {}) for _, each in known]

        def codegen(context, builder, signature, args):
            unpacked = cgutils.unpack_tuple(builder, args[1])
            result = cgutils.alloca_once_value(builder, ir.Constant(ir.IntType(64), 0))
            for (place, each), called in zip(known, signatures, strict=True):
                with builder.if_then(builder.icmp_signed("==", args[0], ir.Constant(ir.IntType(64), place))):
                    code = context.get_function(each, called)(builder, unpacked)
                    builder.store(context.cast(builder, code, called.return_type, types.int64), result)
            return builder.load(result)

        return types.int64(function, arguments), codegen

    return call_core


solvers_at_hand: dict[str, list[tuple[int, Core]]] = {"cones": [], "lcp": []}
"""(number that stands for its address, core) of the solvers that the kernels which are compiled next may call."""
replace_on_device(handle.restored, restored)
replace_on_device(core_module.call_cones, core_caller("cones"))
replace_on_device(core_module.call_lcp, core_caller("lcp"))


@extending.intrinsic
def entry(context, table, number, world):
    """The whole number of a world in the array with a number in the table."""

    def codegen(context, builder, signature, args):
        return builder.load(_entry(builder, *args))

    return types.int64(types.int64, types.int64, types.int64), codegen


@extending.intrinsic
def put_entry(context, table, number, world, value):
    """Write the whole number of a world."""

    def codegen(context, builder, signature, args):
        builder.store(args[3], _entry(builder, *args[:3]))
        return context.get_dummy_value()

    return types.void(*(types.int64,) * 4), codegen


def _entry(builder: Any, table: Any, number: Any, world: Any) -> Any:
    word = ir.IntType(64)
    address = builder.load(builder.gep(builder.inttoptr(table, word.as_pointer()), [number]))
    return builder.gep(builder.inttoptr(address, word.as_pointer()), [world])


def make_kernel(layout: Layout, call: CompiledCall) -> Any:
    """The kernel that takes steps of a compiled loop in all worlds, as a Python function."""
    hold, loop, status_first = holder(layout), call.function, call.status_first
    stopped, variant, done, reason = (len(layout.names) + k for k in range(len(ENDS)))
    size = layout.variant_bytes

    def advance(table, shared, variants, worlds, stride, n):
        for w in range(cuda.grid(1), worlds, cuda.gridsize(1)):
            if entry(table, stopped, w) == 0:
                held = hold(table, shared, variants + size * entry(table, variant, w), w, stride)
                first, second = loop(held, n)
                if status_first:
                    first, second = second, first
                put_entry(table, done, w, first)
                put_entry(table, reason, w, second)
            else:
                put_entry(table, done, w, 0)

    return advance


SIGNATURE = (types.int64,) * 6


def nothing(*arguments):
    """In place of a kernel that no scene so far has needed."""


def leave_out_what_is_not_needed() -> list[str]:
    """Let callers on the device do without deferred kernels that were not prepared, as those on the CPU do. Returns the
    names of the kernels that are left out."""
    names = set()
    name = "_CUDATypingContext__dispatcher"  # where numba-cuda keeps the device's form of a function of the CPU
    for module in [each for key, each in sys.modules.items() if key.startswith("stickslip.")]:
        for value in list(vars(module).values()):
            if isinstance(value, Kernel):
                value.__dict__.pop(name, None)
                if isinstance(value.called, ThroughSlot) and not value.overloads:
                    setattr(value, name, cuda.jit(device=True)(nothing))
                    names.add(f"{value.__module__}.{value.__qualname__}")
    return sorted(names)
