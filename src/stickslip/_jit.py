"""The one kernel decorator, and where compiled code is cached.

Numba's own cache notices an edit of the file that holds a function, but not an edit of a helper that the function
calls in another file: it then returns the old answer. So compiled code lives in a directory whose name is a hash of
all source that kernels are made of (and of the Numba and NumPy versions): any edit of it starts a fresh directory.
Edits of other files, and where the package lies, leave compiled code as it is.

* ``STICKSLIP_CACHE_DIR`` moves the cache (default: the user's cache directory).
* ``NUMBA_DISABLE_JIT=1`` runs every kernel as plain Python: slow, but you can set a breakpoint in it.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar, overload

import numba
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.core import config as numba_config
from numba.core.errors import TypingError
from numba.extending import intrinsic, register_jitable

from stickslip._argument_types import writable

F = TypeVar("F", bound=Callable)

KERNELS = re.compile(rb"^\s*@(kernel|template)\b|^from stickslip\._jit import", re.MULTILINE)
"""What a file with kernels contains."""
ARRAYS = re.compile(rb"\(NamedTuple\)")
"""What a file that declares arguments of kernels contains."""
ROOMS = (
    "collision",
    "constraints",
    "dynamics",
    "ess",
    "lab",
    "math",
    "maximal",
    "methods",
    "model/arrays.py",
    "solvers",
)
"""Where arguments of kernels are declared."""
CONSTANTS = (
    "_argument_types.py",
    "_jit.py",
    "_lean.py",
    "methods/rigid/assembly/matrices.py",
    "model/shape.py",
    "solvers/codes.py",
    "solvers/storage.py",
)
"""Further files whose numbers kernels contain; ``tests/test_stale_cache.py`` finds those that are missing."""
VERSION = r"[0-9a-f]{16}"
"""What the name of a version's folder looks like."""
CHECKED = ("0.68",)
"""The minor versions of Numba whose internals ``_lean`` was checked with."""
KEPT_CACHES = 4
"""How many source versions keep their compiled code; older ones are deleted when a new one is created."""


def source_hash(package: Path) -> str:
    """Hash of every Python file that kernels are made of, and of the versions that decide the machine code."""
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__} {sys.version}".encode())
    for path in sorted(package.rglob("*.py")):
        name, source = path.relative_to(package).as_posix(), path.read_bytes()
        if counts(name, source):
            digest.update(name.encode())
            digest.update(source)
    return digest.hexdigest()[:16]


def counts(name: str, source: bytes) -> bool:
    """Whether kernels are made of this file."""
    return bool(name in CONSTANTS or KERNELS.search(source) or (name.startswith(ROOMS) and ARRAYS.search(source)))


def _cache_root() -> Path:
    if "STICKSLIP_CACHE_DIR" in os.environ:
        return Path(os.environ["STICKSLIP_CACHE_DIR"])
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "stickslip" / "kernels"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "stickslip" / "kernels"


def _make_cache_dir() -> str:
    try:
        root = _cache_root()
        directory = root / source_hash(Path(__file__).parent)
        if not directory.is_dir():
            directory.mkdir(parents=True, exist_ok=True)
            _forget_old(root)
        directory.touch()  # the most recently used versions are the ones that are kept
        return str(directory)
    except (OSError, RuntimeError) as error:  # a home that cannot be written, or no home at all
        warnings.warn(
            f"compiled kernels cannot be kept ({error}); every process will compile anew: set STICKSLIP_CACHE_DIR",
            RuntimeWarning,
            stacklevel=2,
        )
        return tempfile.mkdtemp(prefix="stickslip-kernels-")


def _forget_old(root: Path) -> None:
    with suppress(OSError):  # another process may be tidying up at the same time
        ours = [d for d in root.iterdir() if d.is_dir() and re.fullmatch(VERSION, d.name)]  # nobody else's folders
        for old in sorted(ours, key=lambda d: d.stat().st_mtime, reverse=True)[KEPT_CACHES:]:
            shutil.rmtree(old, ignore_errors=True)


CACHE_DIR = _make_cache_dir()


_config: Any = numba_config  # whose fields type checkers do not know
OPTIONS: dict[str, Any] = {
    "forceinline": True,  # handing two dozen arrays to a callee costs 50 ns; RNEA on Solo12 gains 15 %
    "fastmath": {"contract"},  # a·b + c in one rounding, nothing else: gains 10 %
    "_nrt": False,  # a kernel never allocates, so Numba's reference counting has nothing to count
}


@overload
def kernel(func: F) -> F: ...
@overload
def kernel(*, inline: bool = ..., separate: bool = ..., deferred: bool = ...) -> Callable[[F], F]: ...
def kernel(func: F | None = None, *, inline: bool = True, separate: bool = False, deferred: bool = False) -> Any:
    """Compile ``func`` to machine code on first use, and keep that code for the next process.

    The rules of a kernel (they are what lets the same function run inside a CUDA kernel):
    arrays and numbers in, status codes out; scratch comes from the caller; no allocation, no Python objects,
    no strings, no exceptions.

    ``@kernel(inline=False)`` is for big functions with several callers: they are compiled once and called, where
    copies of them would multiply the time of compilation. The call costs some 50 ns.

    ``@kernel(separate=True)`` is for the largest functions, which several entry points call: their machine code is made
    once and shared, also between methods. The call costs some hundred nanoseconds.

    ``@kernel(deferred=True)`` is for large functions that few scenes need, and that return nothing: callers are
    compiled without them. Who makes a scene that needs one calls ``prepare`` first: a deferred kernel that was not
    prepared for these types of arguments must not be called.

    Kernels of your own, outside this package, are compiled anew in every process: only the package's own source is
    part of the cache's name, and a stale answer is worse than a slow start.
    """
    if func is None:
        return partial(kernel, inline=inline, separate=separate, deferred=deferred)
    return _njit(func, inline=inline and not separate and not deferred, separate=separate, deferred=deferred)


def prepare(func: Any, *values: Any) -> None:
    """Compile a deferred kernel, if it is not, for arguments of the types of these values.

    Without compilation, and with a Numba that is not known from inside, nothing is deferred.
    """
    if hasattr(func, "prepare"):
        func.prepare(*values)


def compiled(signature: Any, func: F) -> F:
    """``func`` as a kernel of given types, at once: with function types, other people's functions are arguments of it,
    and it is compiled for them together, not for each."""
    return _njit(func, signature)


def caller(signature: Any) -> Any:
    """A function ``call(function, arguments)`` for kernels: it calls another kernel of these types by its address.

    So one loop serves many kernels that it was not compiled with. ``arguments`` is a tuple; its types are checked when
    the loop is compiled. ``address`` gives the first argument. Passing functions as Numba's first-class objects would
    cost 40 µs in every call from Python, and an address costs nothing.
    """
    if _config.DISABLE_JIT:
        return lambda function, arguments: function(*arguments)

    def call(typingctx, function, arguments):
        if tuple(arguments.types) != tuple(signature.args):
            raise TypingError(f"expected arguments {signature.args}, got {arguments.types}")

        def codegen(context, builder, sig, values):
            unpacked = cgutils.unpack_tuple(builder, values[1])
            kind = ir.FunctionType(context.get_value_type(signature.return_type), [each.type for each in unpacked])
            return builder.call(builder.inttoptr(values[0], kind.as_pointer()), unpacked)

        return signature.return_type(types.int64, arguments), codegen

    return intrinsic(call)


def address(func: Any, signature: Any) -> Any:
    """The address of a kernel that is compiled for these types, for ``caller``; without compilation, the function."""
    if _config.DISABLE_JIT:
        return func
    result = func.get_compile_result(signature)
    return int(result.library.get_pointer_to_function(result.fndesc.llvm_cfunc_wrapper_name))


@cache
def two_forms() -> Any:
    """The module that compiles kernels once; None, and a warning, where this version of Numba is not known from inside.

    Its import is part of the question, because a Numba that is not known may lack what it imports.
    """
    with suppress(ImportError, AttributeError):
        if numba.__version__.rpartition(".")[0] in CHECKED:
            from stickslip import _lean

            if _lean.complete():
                return _lean
    warnings.warn(
        f"kernels compile the slow way: stickslip knows the inside of Numba {', '.join(CHECKED)}, not of "
        f"{numba.__version__}; results are the same",
        RuntimeWarning,
        stacklevel=2,
    )
    return None


def _njit(func: F, *signature: Any, inline: bool = True, separate: bool = False, deferred: bool = False) -> Any:
    config: Any = numba_config
    previous = config.CACHE_DIR
    config.CACHE_DIR = CACHE_DIR  # read once, by the decorator: other people's caches stay where they are
    try:
        ours = func.__module__.partition(".")[0] == __package__
        options = OPTIONS | {"nogil": True, "error_model": "numpy", "forceinline": inline}
        decorate: Any = numba.njit
        lean = None if config.DISABLE_JIT else two_forms()
        if lean is None:
            return decorate(*signature, cache=ours, **options)(func)
        return lean.kernel(
            decorate(**options)(func), signature, cache=ours, separate=separate and ours, deferred=deferred and ours
        )
    finally:
        config.CACHE_DIR = previous


def kind_of(value: Any) -> Any:
    """Numba's type of a kernel's argument. Arrays that are read-only for Python have the type of all others: kernels
    write into what they are given to write into, and would else be compiled once more for constant arrays."""
    return writable(numba.typeof(value))


def template(func: F) -> F:
    """A function of functions: plain Python where Python calls it, compiled into the kernel that calls it with kernels.

    So one source serves users' Python functions and compiled ones. The rules are those of a kernel.
    """
    return register_jitable(nogil=True, error_model="numpy", **OPTIONS)(func)
