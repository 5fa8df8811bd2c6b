"""Files that appear whole or not at all, and checks before the work, so that every trouble is one line.

A file is written under another name beside its target and then renamed. A full disk or a kill leaves an earlier file as
it was. A killed process leaves the file beside, which is removed when a later process writes into the same folder.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from math import inf
from pathlib import Path
from typing import Any

from stickslip import file_lock
from stickslip.errors import InputError, RecordingError, brief

BESIDE = ".stickslip-"
"""How the names of unfinished files begin; the number of the process, a counter and the ending follow."""
_LEFT = re.compile(re.escape(BESIDE) + r"(\d+)-\d+(\.\w*)?$")
_counter = itertools.count()
_tidied: set[tuple[int, str]] = set()


HDF5, MODEL, SOURCE = "an HDF5 file", "a model file", "a Python file"
"""Kinds of files that are replaced by files of their kind only."""
KINDS = {".xml": MODEL, ".mjcf": MODEL, ".urdf": MODEL, ".py": SOURCE}
SIGNATURE = b"\x89HDF\r\n\x1a\n"
"""How an HDF5 file begins."""


def memory() -> float:
    """[bytes] of memory of this machine; infinite where the system does not tell."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return inf


def processors() -> int:
    """Number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_writable(path: Path | None, *, kind: str = "") -> None:
    """Raise an error now for a file that could not be written later. ``kind`` is what is going to be written, if that
    may replace a file of the same kind in ``HDF5``, ``MODEL``, ``SOURCE``."""
    if path is None:
        return
    try:
        target = Path(os.path.realpath(path))
        if target.is_dir():
            raise RecordingError(f"{str(path)!r} is a folder; give the name of a file in it")
    except (OSError, ValueError) as error:  # a name that is too long, or has a zero byte
        if isinstance(error, RecordingError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise RecordingError(f"{brief(str(path))} cannot be written: {reason}; give another path") from None
    folder = target.parent
    if not folder.is_dir():
        raise RecordingError(f"{str(path)!r} cannot be written: the folder {str(folder)!r} does not exist; create it")
    if (target.exists() and not os.access(target, os.W_OK)) or not (_special(target) or os.access(folder, os.W_OK)):
        raise RecordingError(f"{str(path)!r} cannot be written: permission denied; give another path")
    found = _kind(target)
    if found != kind and found:
        raise RecordingError(f"{str(path)!r} is {found}, which would be lost; give another path, or delete it")


def check_distinct(**paths: Path | None) -> None:
    """Raise an error for two files to be written under one name; the keywords are the names of their options."""
    seen: dict[str, str] = {}
    for name, path in paths.items():
        if path is None:
            continue
        place = os.path.realpath(path)
        if place in seen:
            both = f"{seen[place]} and {name}"
            raise InputError(f"{both}: expected two files, got {brief(str(path))} for both; rename one")
        seen[place] = name


def _kind(target: Path) -> str:
    """What an existing file is, of the kinds that only their own kind replaces."""
    if not target.is_file() or not target.stat().st_size:
        return ""
    try:
        with target.open("rb") as file:
            return HDF5 if file.read(len(SIGNATURE)) == SIGNATURE else KINDS.get(target.suffix.lower(), "")
    except OSError:
        return KINDS.get(target.suffix.lower(), "")


def make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RecordingError(f"folder {str(path)!r} cannot be made: {error.strerror}; give another path") from None


@contextmanager
def write_whole(path: str | os.PathLike, *, kind: str = "") -> Iterator[Path]:
    """Write a file that appears whole or not at all::

        with write_whole("drop.png") as part:  # a new, empty file beside it, with the same ending
            figure.savefig(part)

    At the end of the block the part is flushed to the disk and takes the place of ``path``. After an error it is
    removed, and what was at ``path`` stays. Trouble of the system (a full disk) becomes a ``RecordingError``. Devices
    and pipes, such as /dev/stdout, are written directly. ``kind`` is as in ``check_writable``.
    """
    check_writable(Path(path), kind=kind)
    target = Path(os.path.realpath(path))
    try:
        if _special(target):
            yield target
            return
        part, lock = new_beside(target)
        try:
            yield part
            _settle(part, target)
        except BaseException:
            with suppress(OSError):
                part.unlink()
            raise
        finally:
            lock.release()
    except RecordingError:
        raise
    except OSError as error:
        raise unwritable(path, error) from error


def write_text(path: str | os.PathLike, text: str, *, kind: str = "") -> None:
    """Write a text in UTF-8, whole or not at all."""
    with write_whole(path, kind=kind) as part:
        part.write_text(text, encoding="utf-8")


def write_json(path: Path, content: Any) -> None:
    write_text(path, json.dumps(content, indent=2) + "\n")


def save_figure(figure: Any, path: str | os.PathLike, dpi: int = 150) -> None:
    """Write a figure of matplotlib; the file's ending chooses the format."""
    drawn = BytesIO()  # matplotlib raises errors of its own about a full disk
    figure.savefig(drawn, dpi=dpi, format=Path(path).suffix.lower().lstrip(".") or None)
    with write_whole(path) as part:
        part.write_bytes(drawn.getvalue())


def unwritable(path: str | os.PathLike, error: BaseException, what: str = "") -> RecordingError:
    """The error for trouble of the disk; HDF5 wraps the system's message in its own."""
    said = re.search(r"error message = '([^']*)'", str(error))
    reason = said[1] if said else getattr(error, "strerror", None) or " ".join(str(error).split())[:120]
    return RecordingError(
        f"cannot write {what}{os.fspath(path)!r}: expected a working disk with space left, got {reason!r}; "
        "free space or choose another place"
    )


def new_beside(target: Path) -> tuple[Path, file_lock.Held]:
    """A new, empty file in the folder of ``target``, and the lock that says that it is being written."""
    tidy(target.parent, once=True)
    while True:
        part = name_beside(target)
        try:
            os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        except FileExistsError:  # of an earlier process with our number
            continue
        return part, file_lock.hold(part)


def name_beside(target: Path) -> Path:
    """The next name for an unfinished file of this process in the folder of ``target``."""
    return target.with_name(f"{BESIDE}{os.getpid()}-{next(_counter)}{target.suffix}")


def tidy(folder: Path, *, once: bool = False) -> None:
    """Remove unfinished files of processes that were killed; with ``once``, look at each folder once per process."""
    known = (os.getpid(), str(folder))
    if once and known in _tidied:
        return
    _tidied.add(known)
    with suppress(OSError):
        for entry in os.scandir(folder):
            left = _LEFT.match(entry.name)
            if left is None or not entry.is_file(follow_symlinks=False) or _runs(int(left[1])):
                continue
            with suppress(OSError):
                if not file_lock.is_held(entry.path):
                    os.unlink(entry.path)


def temporary_folder(kind: str, keep: int | None = None) -> Path:
    """A new folder for temporary files of a kind. All earlier ones but the ``keep`` newest are removed; without a
    number, those of processes that have ended."""
    try:
        place = tempfile.gettempdir()
        found = []
        for entry in os.scandir(place):
            left = re.fullmatch(rf"stickslip-{kind}-(\d+)-\w+", entry.name)
            ours = left and entry.is_dir(follow_symlinks=False)
            if ours and left and (keep is not None or not _runs(int(left[1]))):
                with suppress(OSError):
                    found.append((entry.stat(follow_symlinks=False).st_mtime, entry.path))
        for _, path in sorted(found, reverse=True)[keep or 0 :]:
            shutil.rmtree(path, ignore_errors=True)
        return Path(tempfile.mkdtemp(prefix=f"stickslip-{kind}-{os.getpid()}-", dir=place))
    except OSError as error:
        raise unwritable("a temporary folder", error) from error


@contextmanager
def folder_to_oneself(folder: Path) -> Iterator[None]:
    """Make a folder, and let no other process into this block for it meanwhile; a second one is refused."""
    make_folder(folder)
    with file_lock.one_at_a_time(folder.parent):
        if file_lock.is_held(folder):
            raise RecordingError(
                f"cannot write to {str(folder)!r}: expected a folder that nobody writes to, got one in use; "
                "choose another one, or end that run"
            )
        held = file_lock.hold(folder)
    try:
        yield
    finally:
        held.release()


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _settle(part: Path, target: Path) -> None:
    descriptor = os.open(part, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    if target.exists():
        os.chmod(part, stat.S_IMODE(target.stat().st_mode))
    os.replace(part, target)


def _special(path: Path) -> bool:
    """Whether it is a device or a pipe, which must not be replaced by a file."""
    return path.exists() and not path.is_file() and not path.is_dir()
