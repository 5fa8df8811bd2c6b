"""Additions to MuJoCo's Python interface: warnings as values, and XML with all digits."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import mujoco

DIGITS = 17
"""Significant digits that reproduce a double exactly."""


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """MuJoCo's warnings as a list, instead of lines on stderr and a log file in the working directory."""
    messages: list[str] = []
    previous = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(messages.append)
    try:
        yield messages
    finally:
        mujoco.set_mju_user_warning(previous)


def exact_xml(spec: mujoco.MjSpec) -> str:
    """``spec.to_xml()`` with all digits: MuJoCo writes six by default, which would change masses and inertias."""
    library = _library()
    before = library._mjPRIVATE__get_xml_precision()
    library._mjPRIVATE__set_xml_precision(DIGITS)
    try:
        return spec.to_xml()
    finally:
        library._mjPRIVATE__set_xml_precision(before)


def _library() -> ctypes.CDLL:
    """The MuJoCo library that Python has loaded already."""
    folder = Path(mujoco.__file__).parent
    names = [*folder.glob("libmujoco*.so*"), *folder.glob("libmujoco*.dylib"), *folder.glob("mujoco.dll")]
    return ctypes.CDLL(str(names[0]))
