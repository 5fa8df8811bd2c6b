"""Packed: the arguments of a kernel, read from Python once for many calls.

A call from Python costs some 160 ns for every array that it hands over, and a time step has two hundred of them. They
stay the same from call to call, so their addresses and shapes are written into a block of memory once, and a kernel
gets the block:

    packed = Packed(bodies, state, …)
    kernel(packed, n)                       # in the kernel: bodies, state, … = opened(packed)

Arrays are kept alive, and what they hold may change; numbers and array objects may not: then a new one is made.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import config as numba_config
from numba.core import types
from numba.core.datamodel import models
from numba.extending import NativeValue, intrinsic, register_model, unbox

from stickslip._jit import kernel

config: Any = numba_config  # whose fields type checkers do not know


class PackedType(types.Type):
    """Numba's type of packed arguments, whose tuple has the type ``inner``."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        super().__init__(name=f"Packed({inner.name})")


@register_model(PackedType)
class PackedModel(models.PrimitiveModel):
    """An address."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, ir.IntType(64))


@unbox(PackedType)
def _unbox(kind: Any, packed: Any, c: Any) -> Any:
    number = c.pyapi.object_getattr_string(packed, "address")
    address = c.pyapi.long_as_longlong(number)
    c.pyapi.decref(number)
    return NativeValue(address)


if config.DISABLE_JIT:

    def opened(packed: Any) -> Any:
        """The arguments."""
        return packed.arguments

else:

    @intrinsic
    def opened(typingctx, packed):
        """The arguments, a tuple."""

        def codegen(context, builder, signature, values):
            kind = context.get_value_type(signature.return_type)
            return builder.load(builder.inttoptr(values[0], kind.as_pointer()))

        return packed.inner(packed), codegen


@intrinsic
def _size_of(typingctx: Any, arguments: Any) -> Any:
    def codegen(context, builder, signature, values):
        return context.get_constant(types.int64, context.get_abi_sizeof(values[0].type))

    return types.int64(arguments), codegen


@intrinsic
def _write(typingctx: Any, arguments: Any, address: Any) -> Any:
    def codegen(context, builder, signature, values):
        builder.store(values[0], builder.inttoptr(values[1], values[0].type.as_pointer()))
        return context.get_constant(types.int64, 0)

    return types.int64(arguments, types.int64), codegen


@kernel
def write_arguments(arguments, address):
    """Write a tuple of arguments to an address, unless that is 0; returns its size [bytes]."""
    if address != 0:
        _write(arguments, address)  # type: ignore[call-arg]
    return _size_of(arguments)  # type: ignore[call-arg]


class Packed:
    """Arguments of a kernel in one block of memory."""

    def __init__(self, *arguments: Any) -> None:
        self.arguments, self.address = arguments, 0
        """The arguments, which must live as long as the block."""
        if config.DISABLE_JIT:
            return
        self._numba_type_ = PackedType(numba.typeof(arguments))
        self._block = np.zeros(int(write_arguments(arguments, 0)) // 8 + 1)
        write_arguments(arguments, self._block.ctypes.data)
        self.address = self._block.ctypes.data
