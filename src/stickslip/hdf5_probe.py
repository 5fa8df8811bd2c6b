"""A first look at a damaged or foreign HDF5 file, in a process of its own.

The HDF5 library can crash, loop for ever or ask for gigabytes on a damaged file. So this file is also a script, which
``hdf5`` starts once as a child. It opens what it is asked for, reads it as the readers do, and answers. If it dies or
does not answer, the file is refused, and the process that asked has never opened it.

A request is a line of JSON, {"path", "group", "deep", "seconds"}; the answer is a line that is empty or says what is
wrong.
"""

from __future__ import annotations

import sys

if __name__ == "__main__":  # The modules of stickslip, which lie beside this file, must not hide those of Python.
    sys.path[:] = sys.argv[1].split("\n")

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

FILTERS = {1, 2, 3}
"""Deflate, shuffle and Fletcher's checksum. All others are refused; some of them are plugins from elsewhere."""
SLACK = 2**24
"""[bytes] that an array may have more than its stored data can hold. A killed writer leaves a few rows without data."""
RATIO = 1100
"""No data are compressed more than this by deflate."""
LARGEST_CHUNK = 2**26
"""[bytes]."""
PIECE = 2**24
"""[bytes] of an array that are read from its beginning and from its end."""
MEMORY = 2**31
"""[bytes] of address space of the child."""
LARGEST_IMAGE = 2**29
"""[bytes] of a killed recorder's file that is read into memory."""
SUPERBLOCK, CHECKED = 48, 44
"""[bytes] of a superblock of version 3, and those of them that its checksum covers."""


class NotFollowedError(Exception):
    """Something that is not read: a link to another file, an array that is too large, an unknown filter."""


def member(group: Any, name: str) -> Any:
    """An object inside a group by hard links only, so that it lies in the same file; arrays are checked."""
    import h5py

    for part in name.split("/"):
        if not has(group, part):
            raise KeyError(f"nothing called {part[:80]!r}")
        if group.id.links.get_info(part.encode()).type != h5py.h5l.TYPE_HARD:
            raise NotFollowedError(f"{part[:80]!r} is a link to another place or file, which is not followed")
        group = group[part]
    if isinstance(group, h5py.Dataset):
        check_array(group)
    elif not isinstance(group, h5py.Group):
        raise NotFollowedError(f"{name[:80]!r} is neither an array nor a group")
    return group


def has(group: Any, name: str) -> bool:
    """Whether a group has a member of this name; it is not opened, so that a link is not followed."""
    return bool(group.id.links.exists(name.encode()))


def check_array(dataset: Any) -> None:
    """Refuse an array whose data lie in other files, or that would be larger than its data."""
    import h5py

    plan = dataset.id.get_create_plist()
    if plan.get_layout() == h5py.h5d.VIRTUAL or plan.get_external_count():
        raise NotFollowedError("an array whose data are in another file, which is not followed")
    kinds = {plan.get_filter(k)[0] for k in range(plan.get_nfilters())}
    if kinds - FILTERS:
        raise NotFollowedError(f"an array with the unknown filter {min(kinds - FILTERS)}")
    if dataset.shape is None:
        raise NotFollowedError("an array without data")
    stored = dataset.id.get_storage_size()
    size = whole_size(dataset.shape, dataset.dtype.itemsize)
    chunk = whole_size(dataset.chunks or (), dataset.dtype.itemsize)
    if size > SLACK + RATIO * stored or chunk > LARGEST_CHUNK or dataset.dtype.itemsize > SLACK + stored:
        raise NotFollowedError(f"an array of shape {dataset.shape} with {stored} bytes of data")


def attribute(thing: Any, name: str) -> Any:
    """The value of an attribute, checked before it is read; KeyError if there is none."""
    found = thing.attrs.get_id(name)
    if whole_size(found.shape or (), found.dtype.itemsize) > SLACK:
        raise NotFollowedError(f"an attribute of shape {found.shape}")
    return thing.attrs[name]


def whole_size(shape: tuple[int, ...], itemsize: int) -> int:
    size = int(itemsize)
    for n in shape:
        size *= int(n)
    return size


def try_all(file: Any, group: str, deep: bool) -> None:
    """Read a group of an open file as the readers do. Errors are left to them, unless they are of memory."""
    import h5py

    left, seen = [(file, group)], set()
    while left:
        parent, name = left.pop()
        with errors_of_memory():
            thing = member(parent, name) if name else parent
            where = h5py.h5o.get_info(thing.id).addr
            if where in seen:
                continue
            seen.add(where)
            for about in list(thing.attrs):
                with errors_of_memory():
                    attribute(thing, about)
            if isinstance(thing, h5py.Dataset):
                read_ends(thing)
            else:
                inside = list(thing)
                left += [(thing, inner) for inner in inside] if deep else []


@contextmanager
def errors_of_memory() -> Iterator[None]:
    """Let errors pass that say that memory was refused. The reader, which has more, must not try the same."""
    try:
        yield
    except Exception as error:
        if isinstance(error, MemoryError) or "alloc" in str(error):
            raise MemoryError from None


def read_ends(dataset: Any) -> None:
    """Read an array, or the beginning and the end of a large one."""
    size = whole_size(dataset.shape, dataset.dtype.itemsize)
    if size <= 2 * PIECE or not dataset.shape:
        dataset[()]
        return
    rows = max(1, PIECE * dataset.shape[0] // size)
    dataset[:rows]
    dataset[-rows:]


def open_file(path: str, written: bool = False, **options: Any) -> Any:
    """Open a file to read it; ``written`` says that a process writes it in SWMR mode.

    A killed recorder leaves its file flagged as being written. In SWMR mode the library would open it, but on a damaged
    one it waits for the writer to repair it. So an image of the file in memory is opened, as if it had been closed.
    """
    import h5py

    if flagged(path) and not written and os.path.getsize(path) <= LARGEST_IMAGE:
        with open(path, "rb") as file:
            return h5py.File(h5py.h5f.open_file_image(as_if_closed(file.read())))
    return h5py.File(path, "r", swmr=flagged(path), **options)


def flagged(path: str) -> bool:
    """Whether the superblock (version 3, byte 11) says that a writer has the file open in SWMR mode."""
    with open(path, "rb") as file:
        superblock = file.read(12)
    return len(superblock) == 12 and superblock[8] >= 3 and bool(superblock[11] & 0b100)


def as_if_closed(image: bytes) -> bytes:
    """The file with a superblock that a closed file would have: no writer (byte 11), its end (bytes 28 to 35) at the
    last byte, and the checksum (bytes 44 to 47) of that. A superblock whose checksum is wrong stays as it is."""
    head = bytearray(image[:SUPERBLOCK])
    if head[CHECKED:] == checksum(head[:CHECKED]):
        head[11] = 0
        head[28:36] = len(image).to_bytes(8, "little")
        head[CHECKED:] = checksum(head[:CHECKED])
    return bytes(head) + image[SUPERBLOCK:]


def checksum(data: bytes | bytearray) -> bytes:
    """HDF5's checksum of metadata: Bob Jenkins' hash function lookup3 (2006), little endian; of 1 byte or more."""
    mask = 2**32 - 1

    def turned(x: int, by: int) -> int:
        return (x << by | x >> 32 - by) & mask

    padded = bytes(data) + bytes(-len(data) % 12)
    words = [int.from_bytes(padded[k : k + 4], "little") for k in range(0, len(padded), 4)]
    a = b = c = (0xDEADBEEF + len(data)) & mask
    for k in range(0, len(words), 3):
        a, b, c = (a + words[k]) & mask, (b + words[k + 1]) & mask, (c + words[k + 2]) & mask
        if k + 3 < len(words):
            for by in (4, 6, 8, 16, 19, 4):
                a = (a - c & mask) ^ turned(c, by)
                a, b, c = b, (c + b) & mask, a
    for by in (14, 11, 25, 16, 4, 14, 24):
        c = ((c ^ b) - turned(b, by)) & mask
        a, b, c = b, c, a
    return b.to_bytes(4, "little")


def serve() -> None:
    """Answer requests until the process that asks is gone."""
    import json
    import resource
    import signal

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)
    print("ready", file=answers)
    for line in sys.stdin:
        asked = json.loads(line)
        # A loop in the library ends this process, and so does its waiting for a writer.
        signal.setitimer(signal.ITIMER_PROF, asked["seconds"])
        signal.setitimer(signal.ITIMER_REAL, 2.5 + 4.0 * asked["seconds"] if flagged(asked["path"]) else 0.0)
        try:
            with errors_of_memory(), open_file(asked["path"]) as file:
                try_all(file, asked["group"], asked["deep"])
            print("", file=answers)
        except MemoryError:
            print("data that take too much memory", file=answers)
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.setitimer(signal.ITIMER_REAL, 0.0)


if __name__ == "__main__":
    serve()
