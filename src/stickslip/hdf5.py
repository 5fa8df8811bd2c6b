"""HDF5 files: every kind is opened, checked and written by the same few functions.

Reading: a file from elsewhere is first read by a child process (``hdf5_probe``), since the HDF5 library can crash or
loop on a damaged one. Files that this process has written, or that a running process writes, are not looked at again.
Links to other files are not followed, and an array is read only if its size fits its data.

Writing: the library crashes if it cannot write. ``Output`` is a file that grows; after a failure its data go nowhere,
and what was flushed stays. ``write_image`` and ``changed`` make a whole file in memory and write its bytes.
"""

from __future__ import annotations

import atexit
import errno
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.spawn import get_executable
from pathlib import Path
from typing import Any

import numpy as np

from stickslip import file_lock, hdf5_probe
from stickslip.errors import InputError, RecordingError, brief, expected
from stickslip.files import HDF5, SIGNATURE, name_beside, new_beside, tidy, unwritable, write_whole
from stickslip.hdf5_probe import attribute, has, member

__all__ = [
    "Output", "attribute", "changed", "check_target", "damaged", "has", "member", "numbers", "open_checked", "probe",
    "reading", "text", "write_image",
]  # fmt: skip

DAMAGE = (
    ArithmeticError, AttributeError, LookupError, MemoryError, OSError, RuntimeError, TypeError, ValueError,
    hdf5_probe.NotFollowedError,
)  # fmt: skip
"""What h5py raises for damaged files, and what their contents cause."""
COMPUTING = 0.5
"""[s] of computing that the child may take for a small file."""
SPEED = 2e7
"""[bytes/s] that it should read at least."""
PATIENCE = 6.0
"""[s] of waiting besides, on a busy machine or a slow disk."""
START = 60.0
"""[s] in which the child must have started."""

_lock = threading.Lock()
_child: Child | None = None
_own: dict[tuple[int, int], tuple[int, int]] = {}
"""Files that this process has written: (device, inode) → (size, time of the last change)."""
_refused: dict[tuple[int, int, str], tuple[int, int]] = {}
"""Files, and groups of them, that the child did not survive, so that no second one is tried on them."""
NO_LINKS = (errno.EPERM, errno.ENOSYS, errno.ENOTSUP)
"""Errors of file systems where a file has only one name."""
FATAL = "damage that ends or stops the HDF5 library"


class Child:
    """The process that looks at files first."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self.process = subprocess.Popen(
            [get_executable() or sys.executable, "-I", "-S", hdf5_probe.__file__, "\n".join(sys.path)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        )  # fmt: skip
        if self._line(START) != "ready":
            self.end()
            raise RecordingError("HDF5 files cannot be checked: the Python process that looks at them did not start")

    def ask(self, path: str, group: str, deep: bool) -> str | None:
        """What is wrong with a file, or ""; None if the child did not survive it."""
        seconds = COMPUTING + os.path.getsize(path) / SPEED
        request = {"path": path, "group": group, "deep": deep, "seconds": seconds}
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            return None
        return self._line(PATIENCE + 4.0 * seconds)

    def _line(self, seconds: float) -> str | None:
        assert self.process.stdout is not None
        end = threading.Timer(seconds, self.process.kill)
        end.daemon = True
        end.start()
        try:
            line = self.process.stdout.readline()
        finally:
            end.cancel()
        return line.decode().strip() if line.endswith(b"\n") else None

    def end(self) -> None:
        for pipe in (self.process.stdin, self.process.stdout):
            with suppress(OSError, AttributeError):
                pipe.close()  # type: ignore[union-attr]
        if self.owner == os.getpid():
            self.process.kill()
            self.process.wait()


@atexit.register
def _end_child() -> None:
    global _child
    if _child is not None and _child.owner == os.getpid():
        _child.end()
        _child = None


def probe(path: str, what: str, group: str = "", *, deep: bool = True) -> None:
    """Let a child process read a file, or one group of it; raise an error if it does not survive that."""
    global _child
    if _known(path) or file_lock.is_held(path):
        return
    place, state = _state(path)
    with _lock:
        if _refused.get((*place, group)) == state:
            raise damaged(path, what, FATAL)
        if _child is None or _child.owner != os.getpid() or _child.process.poll() is not None:
            _child = Child()
        answer = _child.ask(path, group, deep)
        if answer is None:
            _child.end()
            _child = None
            answer = FATAL
            _refused[(*place, group)] = state
    if answer:
        raise damaged(path, what, answer)


def _state(path: str) -> tuple[tuple[int, int], tuple[int, int]]:
    found = os.stat(path)
    return (found.st_dev, found.st_ino), (found.st_size, found.st_mtime_ns)


def _known(path: str) -> bool:
    place, state = _state(path)
    return _own.get(place) == state


def _remember(path: str) -> None:
    """Keep in mind that this process has just written a file."""
    if len(_own) > 1000:
        _own.clear()
    with suppress(OSError):
        place, state = _state(path)
        _own[place] = state


# -- reading ---------------------------------------------------------------------------------------------------------


def open_checked(
    path: str | os.PathLike, what: str, remedy: str, *, group: str = "", deep: bool = True, **options: Any
) -> Any:
    """Open a file to read it: ``what`` it should be, and how to get one, are said in errors."""
    import h5py

    try:
        name = os.fspath(path)
        if isinstance(name, bytes):
            raise TypeError
    except TypeError:
        raise expected("path", f"the path of {what}", path) from None

    def refuse(got: str, then: str = remedy) -> RecordingError:
        return RecordingError(f"cannot read {brief(name, 120)}: expected {what}, got {got}; {then}")

    if os.path.isdir(name):
        raise refuse("a folder", "name a file in it")
    if not os.path.exists(name):
        folder = os.path.dirname(os.path.abspath(name))
        there = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        found = [other[:40] for other in there if other.endswith((".h5", ".hdf5"))][:3]
        raise refuse(
            "no such file", f"that folder has {', '.join(found)}" if found else "check the name and the folder"
        )
    if not os.path.isfile(name):
        raise refuse("a device or pipe")
    name = os.path.realpath(name)
    with reading(name, what):
        if not h5py.is_hdf5(name):
            raise refuse("a file that is not HDF5")
        probe(name, what, group, deep=deep)
        return hdf5_probe.open_file(name, written=file_lock.is_held(name), **options)


@contextmanager
def reading(path: str, what: str) -> Iterator[None]:
    """Turn whatever a damaged file causes into one line."""
    try:
        yield
    except RecordingError:
        raise
    except PermissionError as error:
        raise RecordingError(
            f"cannot read {brief(path, 120)}: expected a readable file, got {error.strerror!r}"
        ) from error
    except DAMAGE as error:
        raise damaged(path, what, str(error) or type(error).__name__) from error


def damaged(path: str, what: str, reason: str) -> RecordingError:
    said = " ".join(str(reason).split())
    return RecordingError(
        f"cannot read {brief(path, 100)}: expected {what}, got a damaged, locked or foreign file "
        f"({said if len(said) <= 90 else said[:89] + '…'}); make it again"
    )


def numbers(group: Any, name: str, kinds: str = "iuf", *, dims: int | None = None) -> np.ndarray:
    """The numbers of an array; ``kinds`` are NumPy's letters, ``dims`` the number of axes."""
    found = member(group, name)
    if not hasattr(found, "shape"):
        raise InputError(f"{name}: expected an array of numbers, got a group")
    if found.dtype.kind not in kinds:
        raise InputError(f"{name}: expected {'numbers' if 'f' in kinds else 'whole numbers'}, got {found.dtype}")
    if dims is not None and len(found.shape) != dims:
        raise InputError(f"{name}: expected {dims} axes, got shape {found.shape}")
    return np.asarray(found[()])


def text(group: Any, name: str) -> str:
    """A text: the first of an array of strings, up to its zero byte."""
    found = member(group, name)
    if not hasattr(found, "shape") or found.dtype.kind not in "SO":
        raise InputError(f"{name}: expected a text, got {getattr(found, 'dtype', 'a group')}")
    value = found[()]
    value = value if isinstance(value, bytes | str) else np.ravel(value)[0]
    return whole_text(value if isinstance(value, str) else bytes(value).split(b"\0")[0].decode(errors="replace"))


def whole_text(value: str) -> str:
    """A text that can be written and drawn: what stands for bytes that are not UTF-8 is replaced."""
    return value.encode(errors="surrogateescape").decode(errors="replace")


def from_json(value: str) -> Any:
    """What a text of JSON holds; a ``ValueError`` if it is damaged, or has characters that no file can hold."""
    found = json.loads(value)
    json.dumps(found, ensure_ascii=False).encode()
    return found


# -- writing ---------------------------------------------------------------------------------------------------------


class Output:
    """An HDF5 file that grows on the disk, and that a full disk does not crash.

    The file is made under another name and takes its place by ``settle()``. Until then an earlier file stays intact,
    and programs that have it open can still read it.
    """

    def __init__(
        self, path: str | os.PathLike, what: str = "", *, space: int = 2**16, append: bool = False, **options: Any
    ) -> None:
        """``what`` is said in errors; ``space`` [bytes] is what a new file needs; ``append`` begins with a copy."""
        import h5py

        self.path, self._what = check_target(path), what
        self._failure: RecordingError | None = None
        self._part: Path | None = None
        self._reserved = False
        self.file: Any = None
        tidy(Path(self.path).parent)
        try:
            self._part, self._lock = new_beside(Path(self.path))
        except OSError as error:
            raise unwritable(self.path, error, what) from error
        try:
            if append:
                shutil.copyfile(self.path, self._part)
            else:
                self._part.write_bytes(bytes(space))  # a full disk is noticed here, where nothing can crash
            self.file = h5py.File(self._part, "r+" if append else "w", **options)
            self.place = _state(os.fspath(self._part))[0]
        except OSError as error:
            self.abandon()
            raise unwritable(self.path, error, what) from error

    def settle(self) -> None:
        """Take the place of the target, unless another process has begun to write it meanwhile."""
        assert self._part is not None
        try:
            with file_lock.one_at_a_time(os.path.dirname(self.path)):
                check_target(self.path)
                os.replace(self._part, self.path)
        except RecordingError:
            raise
        except OSError as error:
            raise unwritable(self.path, error, self._what) from error
        self._part = None

    def replace(self, shown: Output) -> None:
        """Take the place of ``shown``, which becomes a file beside. At every instant one of them is at the target."""
        assert self._part is not None
        spare = name_beside(Path(self.path))
        try:
            if _state(self.path)[0] != shown.place:
                raise OSError("another file, which has been put in its place meanwhile")
            try:
                os.link(self.path, spare)
            except OSError as error:
                if error.errno not in NO_LINKS:
                    raise
                os.rename(self.path, spare)  # A kill before the next line leaves the data in the file beside.
            os.replace(self._part, self.path)
        except OSError as error:
            raise unwritable(self.path, error, self._what) from error
        self._part, shown._part = None, spare

    def reserve(self, size: int) -> None:
        """Take so many bytes of the disk behind the data, so that writing them cannot fail."""
        end = self.file.id.get_filesize()
        os.posix_fallocate(self.file.id.get_vfd_handle(), end, size)
        self._reserved = True

    @contextmanager
    def disk(self) -> Iterator[None]:
        """Turn a disk error of HDF5 into one line, and keep HDF5 from crashing."""
        if self._failure is not None:
            raise self._failure
        try:
            yield
        except (OSError, RuntimeError, ValueError, KeyError) as error:  # h5py raises all of these for a disk error
            self._failure = unwritable(self.path, error, self._what)
            # Closing would try the same writes again, fail and crash the process (seen with HDF5 2.0). So the data that
            # HDF5 still holds are discarded, and the file stays readable, as after a kill.
            with open(os.devnull, "r+b") as nowhere:
                os.dup2(nowhere.fileno(), self.file.id.get_vfd_handle())
            self._let_go()
            raise self._failure from error

    @property
    def failed(self) -> bool:
        return self._failure is not None

    def close(self, shown: Output | None = None) -> None:
        """Write what is left and close, and then replace ``shown``; after a disk error there is nothing left to do."""
        if self._failure is not None or not self.file:
            return
        with self.disk():
            self.file.flush()
            end = self.file.id.get_filesize()
        with suppress(OSError, RuntimeError, ValueError):
            self.file.close()
        if self._reserved:
            with suppress(OSError):
                os.truncate(self._part or self.path, end)
        if shown is not None:
            self.replace(shown)
        self._lock.release()
        self._check_place()
        _remember(self.path)

    def _check_place(self) -> None:
        """Say so if the file is not where it should be, so that its data are lost."""
        try:
            there = self._part is not None or _state(self.path)[0] == self.place
        except OSError:
            there = False
        if not there:
            self._failure = RecordingError(
                f"{self._what}{brief(self.path, 100)}: expected a file that stays while it is written, got one that "
                "was removed, moved or replaced meanwhile; make it again"
            )
            raise self._failure

    def abandon(self) -> None:
        """Close, and remove the file unless it has taken its place."""
        self._let_go()
        if self._part is not None:
            with suppress(OSError):
                self._part.unlink()

    def _let_go(self) -> None:
        with suppress(OSError, RuntimeError, ValueError, AttributeError):
            self.file.close()
        self._lock.release()


@contextmanager
def write_image(path: str | os.PathLike) -> Iterator[Any]:
    """A new HDF5 file in memory, which takes its place on the disk as a whole at the end of the block."""
    import h5py

    with h5py.File(os.fspath(path), "w", driver="core", backing_store=False, libver="earliest") as file:
        yield file
        image = _image(file)
    _store(path, image)


@contextmanager
def changed(path: str, what: str, remedy: str) -> Iterator[Any]:
    """A copy of an HDF5 file in memory, to be changed in the block, which takes its place as a whole at the end."""
    import h5py

    open_checked(path, what, remedy).close()
    with reading(path, what), h5py.File(path, "r+", driver="core", backing_store=False) as file:
        yield file
        image = _image(file)
    _store(path, image)


def _image(file: Any) -> bytes:
    """The bytes of a file in memory, as they would stand on the disk."""
    file.flush()
    return file.id.get_file_image()


def _store(path: str | os.PathLike, image: bytes) -> None:
    with write_whole(path, kind=HDF5) as part:
        part.write_bytes(image)
    _remember(os.path.realpath(path))


def check_target(path: str | os.PathLike) -> str:
    """The real path of a file that may be (over)written; otherwise raise an error that says why not."""
    try:
        target = os.path.realpath(Path(path))
    except (TypeError, ValueError):  # the latter for a zero byte
        raise expected("record", "the path of a file, such as 'run.h5', or None for memory", path) from None
    except OSError as error:  # the current folder is gone
        raise unwritable(path, error) from error
    folder = os.path.dirname(target)

    def refuse(wanted: str, got: str, remedy: str) -> RecordingError:
        return RecordingError(f"cannot record to {str(path)!r}: expected {wanted}, got {got}; {remedy}")

    if os.path.isdir(target):
        raise refuse("a file", "a folder", f"name a file in it, such as {os.path.join(target, 'run.h5')!r}")
    if not os.path.isdir(folder):
        raise refuse("an existing folder", repr(folder), "create the folder first")
    if not os.access(folder, os.W_OK):
        raise refuse("a folder that you may write to", repr(folder), "choose another folder")
    if not os.path.exists(target):
        return target
    if not os.path.isfile(target):
        raise refuse("a regular file", "a device or pipe", "choose another name")
    if not os.access(target, os.W_OK):
        raise refuse("a file that you may write to", "a read-only file", "choose another name")
    with open(target, "rb") as file:
        signature = file.read(len(SIGNATURE))
    if signature not in (b"", SIGNATURE):  # --record robot.xml must not overwrite the robot
        raise refuse("a new name or an earlier recording", "another kind of file", "choose another name or delete it")
    if file_lock.is_held(target):
        raise refuse("a file that nobody writes", "one that is being written", "choose another name, or end that run")
    return target
