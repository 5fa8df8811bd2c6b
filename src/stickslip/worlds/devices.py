"""Which devices and types of numbers worlds may have here."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np

from stickslip.errors import expected, one_of


def checked_device(device: Any) -> str:
    """The device's name, if there is one."""
    one_of("device", device, ("cpu", "cuda"))
    if device == "cuda":
        remedy = "pip install stickslip[gpu] brings it; device='cpu' runs on all processors"
        if find_spec("numba_cuda") is None or find_spec("cuda") is None:
            raise expected("device", "numba-cuda and cuda-core for 'cuda'", "an installation without", remedy)
        from numba import cuda

        if not cuda.is_available():
            raise expected("device", "an NVIDIA GPU with its driver for 'cuda'", "none that can be used", remedy)
    return device


def checked_dtype(dtype: Any, device: str) -> np.dtype:
    """The type of numbers, float64 or float32."""
    try:
        found = np.dtype(dtype)
    except TypeError:
        raise expected("dtype", "np.float64 or np.float32", dtype) from None
    if found not in (np.dtype(np.float64), np.dtype(np.float32)):
        raise expected("dtype", "np.float64 or np.float32", found)
    if found == np.float32 and device == "cpu":
        raise expected("dtype", "np.float64 on the CPU", "np.float32", "device='cuda' has single precision")
    return found
