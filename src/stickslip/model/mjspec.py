"""Additions to MuJoCo's Python interface: warnings as values, XML with all digits, specifications that pickle."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from stickslip.errors import ModelError

DIGITS = 17
"""Significant digits that reproduce a double exactly."""


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """MuJoCo's warnings as a list, instead of lines on stderr and a log file in the working directory. A fatal error of
    its engine becomes a ModelError."""
    messages: list[str] = []
    previous = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(messages.append)
    try:
        yield messages
    except mujoco.FatalError as error:
        raise ModelError(f"MuJoCo cannot compute this state: {error}; check sizes, positions and the state") from None
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


def copied(spec: mujoco.MjSpec) -> mujoco.MjSpec:
    """A copy of a specification. MuJoCo gives an empty one, which crashes when it is used, where its copy fails."""
    copy = spec.copy()
    if not copy._address:
        raise ModelError("MuJoCo cannot copy this scene; save its parts as MJCF files of their own, and load these")
    return copy


class Portable:
    """A specification that pickles, as its exact XML with the files that it names, and that deep-copies."""

    def __init__(self, spec: mujoco.MjSpec) -> None:
        self.spec = spec

    def __deepcopy__(self, _memo: dict) -> Portable:
        return Portable(copied(self.spec))

    def __reduce__(self) -> tuple:
        made = copied(self.spec)
        mj, xml, files = made.compile(), exact_xml(made), _files(self.spec)
        read = mujoco.MjSpec.from_string(xml, assets=files)
        again = copied(read).compile()
        given = {}  # compiling recomputes these from the mesh or the density, so that XML has them up to round-off
        for geom, number in zip(self.spec.geoms, (geom.id for geom in made.geoms), strict=True):
            if not all(np.array_equal(a[number], b[number]) for a, b in _exact(mj, again)):
                given[number] = {name: _plain(getattr(geom, name)) for name in ("pos", "quat", "mass")}
        return _read_portable, (xml, files, given)


def _read_portable(xml: str, files: dict[str, bytes], given: dict[int, dict[str, Any]]) -> Portable:
    spec = mujoco.MjSpec.from_string(xml, assets=files)
    if not given:
        return Portable(spec)
    numbered = copied(spec)
    before = numbered.compile()
    changed = dict(zip((geom.id for geom in numbered.geoms), spec.geoms, strict=True))
    old = {number: {name: _plain(getattr(changed[number], name)) for name in given[number]} for number in given}
    _write(changed, given)
    after = copied(spec).compile()
    for number in given:  # a pose within a frame, or by Euler angles, was not what the XML has in its place
        if not all(np.allclose(a[number], b[number], rtol=1e-9, atol=1e-12) for a, b in _exact(before, after)):
            _write(changed, {number: old[number]})
    return Portable(spec)


def _write(geoms: dict[int, Any], values: dict[int, dict[str, Any]]) -> None:
    for number, attributes in values.items():
        for name, value in attributes.items():
            setattr(geoms[number], name, value)


def _plain(value: Any) -> Any:
    return np.array(value) if np.ndim(value) else float(value)


def _exact(a: mujoco.MjModel, b: mujoco.MjModel) -> list[tuple[np.ndarray, np.ndarray]]:
    """What follows from the attributes of shapes that XML does not have to the last bit."""
    masses = (a.body_mass[a.geom_bodyid], b.body_mass[b.geom_bodyid])
    return [(a.geom_pos, b.geom_pos), (a.geom_quat, b.geom_quat), masses]


def _files(spec: mujoco.MjSpec) -> dict[str, bytes]:
    """The content of the files that a specification names."""
    files = dict(spec.assets)
    for element in (*spec.meshes, *spec.hfields, *spec.skins, *spec.textures):
        if element.file and element.file not in files and Path(element.file).is_file():
            files[element.file] = Path(element.file).read_bytes()
    return files
