"""Rows of worlds in the memory of a GPU, and how other libraries read and write them without a copy."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numba import cuda as numba_cuda

from stickslip.errors import expected

cuda: Any = numba_cuda
CUDA_DEVICE = (2, 0)
"""(kind, number) of the device in DLPack's words."""


@cuda.jit
def scatter(rows, places, values, repeated):
    """rows[:, places[i]] ← values[i], or values[0] if it is repeated."""
    i = cuda.grid(1)
    if i < places.shape[0]:
        k = 0 if repeated else i
        for e in range(rows.shape[0]):
            rows[e, places[i]] = values[k, e]


@cuda.jit
def gather(rows, places, values):
    """values[i] ← rows[:, places[i]]."""
    i = cuda.grid(1)
    if i < places.shape[0]:
        for e in range(rows.shape[0]):
            values[i, e] = rows[e, places[i]]


def blocks(n: int) -> tuple[int, int]:
    """Blocks and threads for n threads."""
    return max(1, -(-n // 128)), 128


class DeviceRows:
    """An array (n, …) with a row per world on the GPU. Entry e of world w lies at e·n + w, so that neighbouring threads
    read neighbouring memory.

    ``torch.from_dlpack(rows)``, ``jax.dlpack.from_dlpack(rows)`` and ``cupy.asarray(rows)`` are the same memory;
    ``rows[:] = array`` and ``np.asarray(rows)`` copy from and to NumPy.
    """

    def __init__(self, first: np.ndarray, n: int) -> None:
        self.dtype, self.shape = first.dtype, (n, *first.shape)
        self.data = cuda.device_array((max(1, first.size), n), dtype=first.dtype)
        self.fill(first)

    def fill(self, first: np.ndarray) -> None:
        """Give all worlds the same row."""
        if first.size:
            self[np.arange(self.shape[0])] = first

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    @property
    def strides(self) -> tuple[int, ...]:
        """[bytes] distances between neighbours."""
        step, found = self.shape[0] * self.dtype.itemsize, []
        for length in reversed(self.shape[1:]):
            found.append(step)
            step *= length
        return (self.dtype.itemsize, *found[::-1])

    @property
    def address(self) -> int:
        """Where the memory begins."""
        return int(self.data.__cuda_array_interface__["data"][0])

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<{self.shape} {self.dtype} on the GPU; np.asarray(…) copies it>"

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.shape, "typestr": self.dtype.str, "data": (self.address, False), "version": 3,
            "strides": self.strides,
        }  # fmt: skip

    def __dlpack_device__(self) -> tuple[int, int]:
        return CUDA_DEVICE

    def __dlpack__(self, *, stream: Any = None, **options: Any) -> Any:
        cuda.synchronize()
        return make_capsule(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise expected("np.asarray of rows on the GPU", "a copy", "copy=False", "leave it out")
        host = self.data.copy_to_host()[: int(np.prod(self.shape[1:], dtype=int))]
        array = np.ascontiguousarray(host.T).reshape(self.shape)
        return array if dtype is None else array.astype(dtype)

    def copy(self) -> DeviceRows:
        """A copy of these rows, on the GPU."""
        other = object.__new__(DeviceRows)
        other.dtype, other.shape, other.data = self.dtype, self.shape, cuda.device_array_like(self.data)
        other.data.copy_to_device(self.data)
        return other

    def __getitem__(self, worlds: Any) -> np.ndarray:
        """A copy of rows, or of what other indices choose, for NumPy."""
        if isinstance(worlds, tuple):
            return np.asarray(self)[worlds]
        if isinstance(worlds, int | np.integer):
            return self[np.array([worlds])][0]
        places = np.arange(self.shape[0])[worlds]
        values = np.zeros((len(places), *self.shape[1:]), dtype=self.dtype)
        if values.size:
            device = cuda.device_array((len(places), self.data.shape[0]), dtype=self.dtype)
            gather[blocks(len(places))](self.data, cuda.to_device(places), device)
            values[...] = device.copy_to_host().reshape(values.shape)
        return values

    def __setitem__(self, worlds: Any, values: Any) -> None:
        if isinstance(worlds, tuple):
            changed = np.asarray(self)
            changed[worlds] = np.asarray(values)
            worlds, values = slice(None), changed
        if isinstance(worlds, int | np.integer):
            worlds = np.array([worlds])
        places = np.arange(self.shape[0])[worlds]
        if isinstance(values, DeviceRows):
            values = values[places] if values.shape == self.shape else values[:]
        if hasattr(values, "__cuda_array_interface__"):
            values = cuda.as_cuda_array(values).copy_to_host()
        given = np.ascontiguousarray(values, dtype=self.dtype)
        whole = (len(places), *self.shape[1:])
        repeated = given.shape == self.shape[1:] and given.shape != whole
        if not repeated:
            try:
                given = np.ascontiguousarray(np.broadcast_to(given, whole))
            except ValueError:
                raise expected("rows on the GPU", f"values of shape {whole}", given.shape) from None
        if len(places) and self.data.size and given.size:
            rows = given.reshape(1 if repeated else len(places), -1)
            scatter[blocks(len(places))](self.data, cuda.to_device(places), cuda.to_device(rows), repeated)


# -- DLPack: https://dmlc.github.io/dlpack/latest/c_api.html -----------------------------------------------------------


class DLDataType(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class DLTensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("dtype", DLDataType), ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64),
    )  # fmt: skip


class DLManagedTensor(ctypes.Structure):
    pass


DELETER = ctypes.CFUNCTYPE(None, ctypes.POINTER(DLManagedTensor))
DLManagedTensor._fields_ = (("dl_tensor", DLTensor), ("manager_ctx", ctypes.c_void_p), ("deleter", DELETER))
_exported: dict[int, Any] = {}
"""What other libraries hold, by the address of its description."""
_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype, _new_capsule.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)


@DELETER
def _forget(tensor: Any) -> None:
    _exported.pop(ctypes.addressof(tensor.contents), None)


def make_capsule(rows: DeviceRows) -> Any:
    """DLPack's description of rows. The memory lives until the library that took it lets go."""
    code = {"f": 2, "i": 0, "u": 1, "b": 6}[rows.dtype.kind]
    shape = (ctypes.c_int64 * rows.ndim)(*rows.shape)
    strides = (ctypes.c_int64 * rows.ndim)(*(step // rows.dtype.itemsize for step in rows.strides))
    kind = DLDataType(code, 8 * rows.dtype.itemsize, 1)
    tensor = DLTensor(rows.address, *CUDA_DEVICE, rows.ndim, kind, shape, strides, 0)
    managed = DLManagedTensor(tensor, None, _forget)
    _exported[ctypes.addressof(managed)] = (managed, rows, shape, strides)
    return _new_capsule(ctypes.addressof(managed), b"dltensor", None)
