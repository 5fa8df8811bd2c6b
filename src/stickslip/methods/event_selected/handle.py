"""A handle: many arrays in nested NamedTuples, passed to kernels as one array of addresses and sizes.

A function of a hundred arrays is slow to compile, and one that calls others with them is many times slower, because
each call passes some 700 numbers. A kernel that is called often takes a handle instead, and ``restore`` rebuilds the
arrays from it by loading an address and a size or two for each. The arrays must stay alive at their addresses as long
as the handle is used. With ``NUMBA_DISABLE_JIT=1`` a handle is the NamedTuple itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba import types
from numba.core import cgutils
from numba.core import config as numba_config
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array


def make_handle(arrays: Any) -> Any:
    """(numbers,) the address and shape of each array in nested NamedTuples of C-contiguous arrays."""
    config: Any = numba_config
    return arrays if config.DISABLE_JIT else np.array(list(_numbers(arrays)), dtype=np.int64)


def _numbers(arrays: Any):
    if isinstance(arrays, tuple):
        for part in arrays:
            yield from _numbers(part)
    else:
        yield arrays.ctypes.data
        yield from arrays.shape


def restorer(example: Callable[[], Any]) -> Any:
    """The kernel function that turns a handle into arrays of the types of ``example()``. ``example`` is called when a
    kernel is compiled."""
    config: Any = numba_config
    if config.DISABLE_JIT:
        return lambda handle: handle

    @intrinsic
    def restore(context, handle):
        kind = numba.typeof(example())
        return kind(handle), lambda context, builder, signature, args: _build(
            context, builder, kind, make_array(handle)(context, builder, args[0]).data, [0]
        )

    return restore


def _build(context: Any, builder: Any, kind: Any, numbers: Any, at: list[int]) -> Any:
    """The LLVM value of type ``kind`` from ``numbers``, of which the first at[0] have been read."""
    if not isinstance(kind, types.Array):
        parts = [_build(context, builder, part, numbers, at) for part in kind.types]
        return context.make_tuple(builder, kind, parts)

    def number() -> Any:
        value = builder.load(cgutils.gep_inbounds(builder, numbers, at[0]))
        at[0] += 1
        return value

    array, entry = make_array(kind)(context, builder), context.get_data_type(kind.dtype)
    data = builder.inttoptr(number(), array.data.type)
    shape = [number() for _ in range(kind.ndim)]
    size = context.get_constant(types.intp, context.get_abi_sizeof(entry))
    strides = [size]
    for length in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], length))
    populate_array(array, data=data, shape=shape, strides=strides, itemsize=size, meminfo=None)
    return array._getvalue()
