"""Single precision: the same kernels with ``float`` in the place of ``double``.

The kernels' numbers are typed as ``float64``. For single precision the compiler's intermediate code is rewritten before
the machine code is made of it: types, constants, which are rounded, and functions of the mathematical library. So there
is one source for both, and every number of a step is single, not only those in memory.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np

HEXADECIMAL = re.compile(r"\b0x([0-9A-Fa-f]{1,16})\b")
DECIMAL = re.compile(r"(?<![\w.@%\"])(-?\d+\.\d+(?:e[+-]?\d+)?)(?![\w.])")
LIBRARY = re.compile(r"@\"?__nv_(\w+)\"?")
SPECIAL = {"isnand": "isnanf", "isinfd": "isinff", "isfinited": "finitef", "dsqrt_rn": "fsqrt_rn", "ddiv_rn": "fdiv_rn"}
"""Functions of the library whose single form has another name than theirs with an f."""


def rounded(value: float) -> str:
    """A number of single precision as LLVM writes it: with the digits of a double."""
    with np.errstate(over="ignore", under="ignore"):
        single = float(np.float32(value))
    return f"0x{struct.unpack('>Q', struct.pack('>d', single))[0]:016X}"


def single_precision(code: str) -> str:
    """LLVM's intermediate code with single precision in the place of double."""
    code = HEXADECIMAL.sub(lambda m: rounded(struct.unpack(">d", bytes.fromhex(m.group(1).zfill(16)))[0]), code)
    lines = []
    for line in code.splitlines():
        if "double" in line or "@" in line:
            if "double" in line:
                line = DECIMAL.sub(lambda m: rounded(float(m.group(1))), line)
            line = line.replace("double", "float").replace(".f64", ".f32")
            line = LIBRARY.sub(lambda m: f"@__nv_{SPECIAL.get(m.group(1), m.group(1) + 'f')}", line)
        lines.append(line)
    return "\n".join(lines)


@contextmanager
def in_single_precision(single: bool) -> Iterator[None]:
    """Let what numba-cuda compiles within the block be single precision, if asked for."""
    nvvm: Any = import_module("numba.cuda.cudadrv.nvvm")
    own = nvvm.compile_ir

    def compile_ir(codes: Any, **options: Any) -> Any:
        codes = [codes] if isinstance(codes, str) else codes
        return own([single_precision(code) for code in codes], **options)

    if single:
        nvvm.compile_ir = compile_ir
    try:
        yield
    finally:
        nvvm.compile_ir = own
