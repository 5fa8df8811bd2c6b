"""A file lock that a writer holds for as long as its process lives.

HDF5 gives up its own lock when it starts single-writer/multiple-reader mode, so a file of a killed process and a file
that is still being written look the same. The operating system releases our lock when the process dies for any reason.

It is an *open file description* lock on one byte far behind the data. Unlike ``flock`` it does not conflict with the
locks of HDF5, unlike POSIX locks it persists when the same process reads and closes the file, and it can be queried
without being taken. It is shared, so it blocks nobody. Only Linux has such locks; elsewhere no file counts as locked,
and a running recording reads as killed.
"""

from __future__ import annotations

import errno
import os
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

try:
    import fcntl

    _SET, _GET = fcntl.F_OFD_SETLK, fcntl.F_OFD_GETLK
except (ImportError, AttributeError):
    _SET = _GET = -1

_FLOCK = "hhqqi4x"  # struct flock: type, whence, start, length, pid
_BYTE = 1 << 62
PATIENCE = 5.0
"""[s] of waiting for a process that has the folder to itself."""


class Held:
    """A lock of this process, until ``release()``."""

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def hold(path: str | os.PathLike) -> Held:
    """Mark a file as being written by this process."""
    if _SET < 0:
        return Held(None)
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    with suppress(OSError):  # some network file systems have no locks
        fcntl.fcntl(descriptor, _SET, struct.pack(_FLOCK, fcntl.F_RDLCK, os.SEEK_SET, _BYTE, 1, 0))
    return Held(descriptor)


def is_held(path: str | os.PathLike) -> bool:
    """Whether a running process is writing this file."""
    if _GET < 0:
        return False
    descriptor = os.open(path, os.O_RDONLY)
    try:
        # Ask for an exclusive lock without taking it: the answer is a conflicting lock, or F_UNLCK.
        answer = fcntl.fcntl(descriptor, _GET, struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, _BYTE, 1, 0))
        return struct.unpack(_FLOCK, answer)[0] != fcntl.F_UNLCK
    except OSError:
        return False
    finally:
        os.close(descriptor)


@contextmanager
def one_at_a_time(folder: str | os.PathLike) -> Iterator[None]:
    """Let one process at a time into this block, for each folder; meant for a moment, and leaves no file behind."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if _SET >= 0:
            _wait(descriptor, folder)
        yield
    finally:
        os.close(descriptor)


def _wait(descriptor: int, folder: str | os.PathLike) -> None:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                raise OSError(errno.EAGAIN, "another process keeps it locked", os.fspath(folder)) from None
            time.sleep(0.01)
        except OSError:  # some network file systems have no locks
            return None
