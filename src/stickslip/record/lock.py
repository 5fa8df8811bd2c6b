"""Who is writing: a shared lock that a recorder holds for as long as its process lives.

HDF5 gives up its own lock when it starts single-writer/multiple-reader mode, so a file of a killed process and a file
that is still being written look the same. The operating system drops our lock when the process dies, however it dies.
The lock is a shared one because HDF5 readers take shared locks too.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress

try:
    import fcntl
except ImportError:  # Windows: nothing to ask, so nothing counts as locked
    fcntl = None  # type: ignore[assignment]


def hold(path: str) -> int | None:
    """Mark a file as being written by this process; ``os.close`` the result to end it."""
    if fcntl is None:
        return None
    descriptor = os.open(path, os.O_RDONLY)
    with suppress(OSError):  # some network file systems have no locks
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    return descriptor


def is_held(path: str) -> bool:
    """Whether somebody holds a lock: a live recorder, or an HDF5 reader of a finished file."""
    if fcntl is None:
        return False
    for _ in range(3):  # two processes that ask at the same moment see each other's question
        descriptor = os.open(path, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return False
        except BlockingIOError:
            time.sleep(0.001)
        except OSError:
            return False
        finally:
            os.close(descriptor)
    return True
