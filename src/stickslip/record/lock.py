"""A file lock that a recorder holds for as long as its process lives.

HDF5 gives up its own lock when it starts single-writer/multiple-reader mode, so a file of a killed process and a file
that is still being written look the same. The operating system releases our lock when the process dies for any reason.

It is an *open file description* lock on one byte far behind the data. Unlike ``flock`` it does not conflict with the
locks of HDF5, unlike POSIX locks it persists when the same process reads and closes the file, and it can be queried
without being taken. It is shared, so it blocks nobody. Only Linux has such locks; elsewhere no file counts as locked,
and a running recording reads as killed.
"""

from __future__ import annotations

import os
import struct
from contextlib import suppress

try:
    import fcntl

    _SET, _GET = fcntl.F_OFD_SETLK, fcntl.F_OFD_GETLK
except (ImportError, AttributeError):
    _SET = _GET = -1

_FLOCK = "hhqqi4x"  # struct flock: type, whence, start, length, pid
_BYTE = 1 << 62


def hold(path: str) -> int | None:
    """Mark a file as being written by this process, until the result is closed by ``os.close``."""
    if _SET < 0:
        return None
    descriptor = os.open(path, os.O_RDONLY)
    with suppress(OSError):  # some network file systems have no locks
        fcntl.fcntl(descriptor, _SET, struct.pack(_FLOCK, fcntl.F_RDLCK, os.SEEK_SET, _BYTE, 1, 0))
    return descriptor


def is_held(path: str) -> bool:
    """Whether a running process is recording to this file."""
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
