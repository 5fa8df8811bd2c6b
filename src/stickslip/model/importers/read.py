"""Read MJCF and URDF files into MuJoCo specifications that a scene can take in.

A feature that stickslip does not simulate is an error that names it; every change to the model gives a note.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from stickslip.errors import ModelError, expected, true_or_false
from stickslip.model.importers.features import check_features, feature_names
from stickslip.model.importers.file_checks import check_model, check_robot
from stickslip.model.importers.file_options import option_notes, read_options
from stickslip.model.importers.flags import take_in_flags
from stickslip.model.importers.inertia import merge_impossible
from stickslip.model.importers.leave_out import drop_drawings, remove_features, translate
from stickslip.model.importers.messages import MUJOCO_ERRORS, compile_spec, mujoco_notes, one_line
from stickslip.model.importers.mjcf import free_base, mjcf_spec
from stickslip.model.importers.repair import give_mass, repair_inertias
from stickslip.model.importers.urdf import urdf_spec
from stickslip.model.importers.visuals import compile_drawn
from stickslip.model.importers.xml_text import Document, read_text
from stickslip.model.keyframes import NamedKeyframe, read_keyframes
from stickslip.model.sensors import TYPES, sensor_notes

POLICIES = ("replace", "error", "drop")
"""What may become of meshes that MuJoCo cannot read; the first is the default."""
BIT = mujoco.mjtDisableBit
CONTACT_OPTIONS = ("disableflags", "enableflags", "o_margin", "o_friction", "o_solref", "o_solimp")
"""Options of a file that decide on contacts; a scene made of this file alone takes them over."""


@dataclass
class LoadedSpec:
    """A model file, ready to be attached to a scene or compiled."""

    spec: mujoco.MjSpec
    """The specification without keyframes. They are kept below by joint name, since attaching renumbers the joints."""
    notes: list[str]
    """Sentences on what was dropped, replaced, ignored or moved."""
    home: NamedKeyframe
    """The keyframe ``home``, or the first one; empty without keyframes."""
    keyframes: dict[str, NamedKeyframe]
    """All keyframes by name."""
    gravity: np.ndarray
    """(3,) [m/s²]; zero where the file switches gravity off."""
    contact_options: dict[str, Any]
    """Values of ``CONTACT_OPTIONS``; of the flags, those on contacts."""

    def contact_flags(self) -> list[str]:
        """The switches of contacts that the file sets, as it writes them."""
        off, on = (self.contact_options.get(name, 0) for name in ("disableflags", "enableflags"))
        bits = {"contact": BIT.mjDSBL_CONTACT, "filterparent": BIT.mjDSBL_FILTERPARENT}
        flags = [f'flag {name}="disable"' for name, bit in bits.items() if off & bit]
        return flags + (['flag override="enable"'] if on else [])

    options: dict[str, Any]
    """The file's options that differ from MuJoCo's defaults."""


ELSEWHERE = {
    **dict.fromkeys(
        (".stl", ".obj", ".msh", ".dae", ".ply", ".glb"), "a mesh; scene.add_mesh(path) makes a body of it"
    ),
    **dict.fromkeys((".h5", ".hdf5"), "a recording; ss.load and `stickslip view` read it"),
    ".xacro": "a xacro file; expand it first with `xacro FILE > robot.urdf` and load that",
    ".py": "a program",
}
"""Endings of files that are no models → what they are, and what to do."""


def read_spec(
    path: str | Path | None = None,
    *,
    xml: str | None = None,
    floating_base: bool = False,
    package_dirs: Iterable[str | Path] = (),
    unreadable_meshes: str = "replace",
    ignore: Iterable[str] | str = (),
) -> LoadedSpec:
    """Read a file (or MJCF or URDF text given as ``xml``); the options are those of ``Scene.load``."""
    ignored = feature_names(ignore)
    with mujoco_notes() as messages:
        parsed = parse(
            path,
            xml=xml,
            floating_base=floating_base,
            package_dirs=package_dirs,
            unreadable_meshes=unreadable_meshes,
        )
        loaded = _prepare(parsed, ignored)
    loaded.notes += messages
    return loaded


def _prepare(parsed: Parsed, ignored: frozenset[str]) -> LoadedSpec:
    """Check and simplify the parsed specification; compiling it is part of the check.

    Compiling computes the hulls of all meshes, so that it is repeated only after a change."""
    spec, notes, origin = parsed.spec, parsed.notes, parsed.origin
    check_ranges(spec, origin)
    if parsed.urdf:
        check_masses(spec, origin)
        notes += [*give_mass(spec), *merge_impossible(spec), *repair_inertias(spec)]
        mj, undrawn = compile_drawn(spec, lambda: compile_spec(spec, origin))
        notes += undrawn
    else:
        mj = compile_spec(spec, origin)
    keyframes = read_keyframes(mj)
    for key in list(spec.keys):
        spec.delete(key)
    spec.nkey = 0  # else the next compilation adds empty keyframes, with which copies fail once the file is attached
    flagged = take_in_flags(spec)
    mj = compile_spec(spec, origin) if flagged else mj
    moved = translate(spec, mj)
    mj = compile_spec(spec, origin) if moved else mj
    check_features(mj, ignored, origin)
    try:
        removed = remove_features(spec, mj, ignored)
        mj = spec.compile() if removed else mj
        dropped = drop_drawings(spec, mj)
        mj = spec.compile() if dropped else mj
    except MUJOCO_ERRORS as error:
        raise ModelError(f"{origin}: does not compile without the ignored features: {one_line(error)}") from None
    notes += flagged + moved + removed + dropped + _solver_note(mj) + sensor_notes(mj)
    _settle(spec, mj)
    home = copy.deepcopy(keyframes.get("home", next(iter(keyframes.values()), NamedKeyframe())))
    off = mj.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY
    gravity = np.zeros(3) if off else mj.opt.gravity.astype(float)
    spec.option.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)
    spec.option.gravity = gravity
    flags = {option: getattr(spec.option, option) for option in CONTACT_OPTIONS}
    flags["disableflags"] &= int(BIT.mjDSBL_CONTACT | BIT.mjDSBL_FILTERPARENT)
    flags["enableflags"] &= int(mujoco.mjtEnableBit.mjENBL_OVERRIDE)
    options = read_options(spec, parsed.text)
    return LoadedSpec(spec, notes + option_notes(options), home, keyframes, gravity, flags, options)


@dataclass
class Parsed:
    """The content of a file before anything is checked or compiled."""

    spec: mujoco.MjSpec
    notes: list[str]
    origin: str
    """Name of the file in messages."""
    urdf: bool
    text: str = ""
    """The file's text."""


def parse(
    path: str | Path | None = None,
    *,
    xml: str | None = None,
    floating_base: bool = False,
    package_dirs: Iterable[str | Path] = (),
    unreadable_meshes: str = "replace",
) -> Parsed:
    """The specification as it is in the file, not compiled yet."""
    if (path is None) == (xml is None):
        raise expected("read_spec", "a path or xml=, one of the two", (path, xml and "xml"))
    if xml is not None and not isinstance(xml, str):
        raise expected("xml", "the text of a model file", xml, "decode bytes")
    if path is not None and not os.fspath(path):
        raise expected("path", "the path of an MJCF or URDF file", path)
    if unreadable_meshes not in POLICIES:
        raise expected("unreadable_meshes", f"one of {', '.join(POLICIES)}", unreadable_meshes)
    if isinstance(package_dirs, str | Path):
        package_dirs = (package_dirs,)
    origin = "xml" if path is None else str(path)
    try:
        file = Path.cwd() / "xml" if path is None else Path(path).absolute()
    except FileNotFoundError:
        raise ModelError(f"{origin}: the current folder does not exist any more; change to another one") from None
    if path is not None and (what := ELSEWHERE.get(file.suffix.lower())):
        raise ModelError(f"{origin}: expected an MJCF or URDF file, got {what}")
    true_or_false("floating_base", floating_base)
    text = read_text(file, origin) if xml is None else xml
    document = Document(text, origin)
    tag = document.root.tag
    if tag == "robot":
        check_robot(document)
        spec, notes = urdf_spec(
            document.root,
            origin,
            file,
            floating_base=floating_base,
            package_dirs=tuple(package_dirs),
            unreadable_meshes=unreadable_meshes,
        )
    elif tag == "mujoco":
        check_model(document, file.parent)
        spec, notes = mjcf_spec(None if path is None else file, text, origin, unreadable_meshes)
    else:
        raise ModelError(
            f"{origin}: expected <mujoco> (MJCF) or <robot> (URDF) as the root tag, got <{tag[:60]}>{_known_tag(tag)}"
        )
    _name_everything(spec)
    if tag == "mujoco" and floating_base:
        free_base(spec, origin)
    return Parsed(spec, notes, origin, urdf=tag == "robot", text=text)


def _known_tag(tag: str) -> str:
    return "; SDF is not read: convert it to URDF or MJCF" if tag == "sdf" else "; give a robot or scene file"


def _name_everything(spec: mujoco.MjSpec) -> None:
    """Give names to joints, bodies, actuators and sensors without one, since they are addressed by name."""
    named = (("body", spec.bodies[1:]), ("joint", spec.joints), ("actuator", spec.actuators), ("sensor", spec.sensors))
    for kind, elements in named:
        taken = {element.name for element in elements}
        for element in elements:
            if not element.name:
                owner = element.parent.name if kind == "joint" else ""
                stem = f"{owner}_joint" if kind == "joint" else (element.target if kind == "actuator" else kind)
                if kind == "sensor":
                    stem = "_".join(part for part in (TYPES[int(element.type)], element.objname) if part)
                n, name = 1, stem
                while name in taken:
                    n += 1
                    name = f"{stem}_{n}"
                element.name = name
                taken.add(name)


def range_is_empty(joint: mujoco.MjsJoint) -> bool:
    """Whether lower ≥ upper, which MuJoCo takes for "no limit"; files write 0 … 0 for it."""
    low, high = joint.range
    return low >= high and any(joint.range) and joint.limited != mujoco.mjtLimited.mjLIMITED_FALSE


def check_ranges(spec: mujoco.MjSpec, origin: str) -> None:
    for joint in spec.joints:
        if range_is_empty(joint):
            low, high = joint.range
            raise ModelError(
                f"{origin}: joint {joint.name!r}: expected a range with lower < upper, got {low:g} … {high:g}; "
                "swap or correct the two"
            )


def check_masses(spec: mujoco.MjSpec, origin: str) -> None:
    """Refuse negative masses of a URDF."""
    for body in spec.bodies[1:]:
        if body.mass < 0.0:
            raise ModelError(f"{origin}: link {body.name!r}: expected a mass ≥ 0, got {body.mass:g} kg; correct it")


def _solver_note(mj: mujoco.MjModel) -> list[str]:
    tuned = (mj.geom_solref != (0.02, 1.0)).any(axis=1) | (mj.geom_solimp != (0.9, 0.95, 0.001, 0.5, 2.0)).any(axis=1)
    count = int(np.count_nonzero(tuned & ((mj.geom_contype | mj.geom_conaffinity) != 0)))
    if not count:
        return []
    return [
        f"only MuJoCo uses solref and solimp, which {count} shapes set; the other methods use stiffness and damping"
    ]


def _settle(spec: mujoco.MjSpec, mj: mujoco.MjModel) -> None:
    """Write the pose of each base as position and quaternion, whatever form the file used."""
    for body in spec.worldbody.bodies:
        if body.frame is None:
            body.pos, body.quat = mj.body_pos[body.id], mj.body_quat[body.id]
            body.alt.type = mujoco.mjtOrientation.mjORIENTATION_QUAT
