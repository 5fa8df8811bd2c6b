"""Read MJCF and URDF files into MuJoCo specifications that a scene can take in.

Whatever cannot be simulated as the file asks for is refused by name; whatever is changed on the way is noted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np

from stickslip.errors import ModelError, expected
from stickslip.model.arrays import JOINT_NQ
from stickslip.model.features import check_features, feature_names
from stickslip.model.inertia import merge_impossible
from stickslip.model.leave_out import drop_drawings, remove_features, translate
from stickslip.model.mjspec import collected_warnings
from stickslip.model.urdf import parse_xml, urdf_spec

MARKER = "stickslip"
"""``<custom><text name="stickslip" …/></custom>`` says that geom and site user data are ours (Material.to_user)."""
POLICIES = ("error", "replace", "drop")
FREE = mujoco.mjtJoint.mjJNT_FREE


@dataclass
class LoadedSpec:
    """A model file, ready to be attached to a scene or compiled."""

    spec: mujoco.MjSpec
    """Without keyframes: they are below, by joint, because their numbering changes when the spec is attached."""
    notes: list[str]
    """Sentences on what was dropped, replaced, ignored or moved."""
    home: dict[str, np.ndarray]
    """Joint name → coordinates of the keyframe ``home``, or of the first one; empty without keyframes."""
    keyframes: dict[str, dict[str, np.ndarray]]
    """Keyframe name → joint name → coordinates."""
    gravity: np.ndarray
    """(3,) [m/s²]; zero where the file switches gravity off."""


def read_spec(
    path: str | Path | None = None,
    *,
    xml: str | None = None,
    floating_base: bool = False,
    package_dirs: Iterable[str | Path] = (),
    unreadable_meshes: str = "error",
    ignore: Iterable[str] | str = (),
) -> LoadedSpec:
    """Read a file (or MJCF or URDF text given as ``xml``); the options are those of ``Scene.load``."""
    ignored = feature_names(ignore)
    with collected_warnings() as messages:
        parsed = parse(
            path,
            xml=xml,
            floating_base=floating_base,
            package_dirs=package_dirs,
            unreadable_meshes=unreadable_meshes,
            ignored=ignored,
        )
        loaded = _prepare(parsed, ignored)
    loaded.notes += dict.fromkeys(f"MuJoCo warns: {' '.join(message.split())}" for message in messages)
    return loaded


def _prepare(parsed: Parsed, ignored: frozenset[str]) -> LoadedSpec:
    """Check, simplify and settle what was parsed; compiling it is part of the check."""
    spec, notes, origin = parsed.spec, parsed.notes, parsed.origin
    check_ranges(spec, origin)
    if parsed.urdf:
        check_masses(spec, origin)
        notes += merge_impossible(spec)
    mj = compile_spec(spec, origin)
    notes += translate(spec, mj)
    mj = compile_spec(spec, origin)
    check_features(mj, ignored, origin)
    try:
        notes += remove_features(spec, ignored)
        notes += drop_drawings(spec, spec.compile())
    except ValueError as error:
        raise ModelError(f"{origin}: does not compile without the ignored features: {one_line(error)}") from None
    mj = compile_spec(spec, origin)
    notes += _solver_note(mj)
    keyframes = read_keyframes(mj)
    _settle(spec, mj)
    home = keyframes.get("home", next(iter(keyframes.values()), {}))
    off = mj.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY
    gravity = np.zeros(3) if off else mj.opt.gravity.astype(float)
    spec.option.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)
    spec.option.gravity = gravity
    return LoadedSpec(spec, notes, {j: q.copy() for j, q in home.items()}, keyframes, gravity)


@dataclass
class Parsed:
    """What a file says, before anything is checked or compiled."""

    spec: mujoco.MjSpec
    notes: list[str]
    origin: str
    """What to call the file in messages."""
    urdf: bool


def parse(
    path: str | Path | None = None,
    *,
    xml: str | None = None,
    floating_base: bool = False,
    package_dirs: Iterable[str | Path] = (),
    unreadable_meshes: str = "error",
    ignored: frozenset[str] = frozenset(),
) -> Parsed:
    """The specification as it is in the file, not compiled yet."""
    if (path is None) == (xml is None):
        raise expected("read_spec", "a path or xml=, one of the two", (path, xml and "xml"))
    if unreadable_meshes not in POLICIES:
        raise expected("unreadable_meshes", f"one of {', '.join(POLICIES)}", unreadable_meshes)
    if isinstance(package_dirs, str | Path):
        package_dirs = (package_dirs,)
    file = Path.cwd() / "xml" if path is None else Path(path).absolute()
    origin = "xml" if path is None else str(path)
    text = _read_text(file, origin) if xml is None else xml
    tag = root_tag(text, origin)
    if tag == "robot":
        spec, notes = urdf_spec(
            text,
            origin,
            file,
            floating_base=floating_base,
            package_dirs=tuple(package_dirs),
            unreadable_meshes=unreadable_meshes,
            ignored=ignored,
        )
    elif tag == "mujoco":
        spec, notes = _mjcf_spec(None if path is None else file, text, origin), []
    else:
        raise ModelError(
            f"{origin}: expected <mujoco> (MJCF) or <robot> (URDF) as the root tag, got <{tag}>{_known_tag(tag)}"
        )
    _name_everything(spec)
    if tag == "mujoco" and floating_base:
        _free_base(spec, origin)
    return Parsed(spec, notes, origin, urdf=tag == "robot")


def _known_tag(tag: str) -> str:
    return "; SDF is not read: convert it to URDF or MJCF" if tag == "sdf" else "; give a robot or scene file"


def _read_text(file: Path, origin: str) -> str:
    if file.is_dir():
        inside = sorted(p.name for p in file.iterdir() if p.suffix in (".xml", ".urdf"))
        hint = f"such as {inside[0]!r} in it" if inside else "(.xml or .urdf)"
        raise ModelError(f"{origin}: is a directory; expected a model file {hint}")
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        raise ModelError(
            f"{origin}: no such file; expected an MJCF or URDF file (current folder: {Path.cwd()})"
        ) from None
    except OSError as error:
        raise ModelError(f"{origin}: cannot be read: {error.strerror}; check its permissions") from None
    if not text.strip():
        raise ModelError(f"{origin}: the file is empty; expected MJCF or URDF")
    return text


def root_tag(text: str, origin: str) -> str:
    """The name of the outermost element. MuJoCo forgives more than XML allows, so look no further than needed."""
    match = re.match(r"\ufeff?(?:\s|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>]*>)*<([\w:.-]+)", text, flags=re.DOTALL)
    if match is None:
        parse_xml(text, origin)  # says where it is broken
        raise ModelError(f"{origin}: is not XML; expected MJCF or URDF")
    return match.group(1)


def one_line(error: Exception | str) -> str:
    """MuJoCo's message on one line, the element first: ``element 'knee' (line 12): …``."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    message = re.sub(r"^((XML )?Error: )+", "", lines[0]) if lines else repr(error)
    element = next((line for line in lines[1:] if line.startswith("Element")), "")
    name = re.search(r"'([^']+)'", element)
    line = re.search(r"line (\d+)", element)
    where = f"element {name.group(1)!r}" if name else ""
    where += f" (line {line.group(1)})" if line else ""
    return f"{where.strip()}: {message}" if where else message


REMEDIES = (
    ("A + B >= C", "no body can have this inertia: correct it (`stickslip doctor` shows the numbers)"),
    ("positive eigenvalues", "no body can have this inertia: correct it (`stickslip doctor` shows the numbers)"),
    ("moving bodies must be larger", "give it mass and inertia > 0, by <inertial> or by a shape"),
    ("pening file", "check the path; mesh paths are relative to the file and its meshdir"),
    ("no decoder", "convert the mesh to .stl or .obj"),
    ("Schema violation", "correct the element (a typo, or newer than the installed MuJoCo?)"),
)


def compile_spec(spec: mujoco.MjSpec, origin: str) -> mujoco.MjModel:
    try:
        return spec.compile()
    except ValueError as error:
        raise _mujoco_error(error, origin) from None


def _mujoco_error(error: Exception, origin: str) -> ModelError:
    message = one_line(error)
    remedy = next((r for key, r in REMEDIES if key in message), "correct it, or run `stickslip doctor` on the file")
    return ModelError(f"{origin}: {message}; {remedy}")


def _mjcf_spec(file: Path | None, text: str, origin: str) -> mujoco.MjSpec:
    try:
        spec = mujoco.MjSpec.from_string(text) if file is None else mujoco.MjSpec.from_file(str(file))
    except ValueError as error:
        if "XML parse error" in str(error):
            parse_xml(text, origin)
        raise _mujoco_error(error, origin) from None
    _absolute_assets(spec)
    marker = spec.text(MARKER)
    if marker is not None:
        spec.delete(marker)
    else:  # somebody else's user data must not be read as stiffness
        for element in (*spec.geoms, *spec.sites):
            element.userdata = []
        spec.nuser_geom = spec.nuser_site = -1
    return spec


def _absolute_assets(spec: mujoco.MjSpec) -> None:
    """Asset files by absolute path: they are found from any folder, and in a scene that is saved elsewhere."""
    texture = spec.texturedir
    for folder, elements in ((spec.meshdir, (*spec.meshes, *spec.hfields, *spec.skins)), (texture, spec.textures)):
        for element in elements:
            if element.file:
                name = Path(element.file).name if spec.strippath else element.file
                file = Path(spec.modelfiledir) / folder / name
                if file.is_file():
                    element.file = str(file.absolute())


def _name_everything(spec: mujoco.MjSpec) -> None:
    """Joints, bodies and actuators are addressed by name: invent those that are missing."""
    for kind, elements in (("body", spec.bodies[1:]), ("joint", spec.joints), ("actuator", spec.actuators)):
        taken = {element.name for element in elements}
        for element in elements:
            if not element.name:
                owner = element.parent.name if kind == "joint" else ""
                stem = f"{owner}_joint" if kind == "joint" else (element.target if kind == "actuator" else kind)
                n, name = 1, stem
                while name in taken:
                    n += 1
                    name = f"{stem}_{n}"
                element.name = name
                taken.add(name)


def _free_base(spec: mujoco.MjSpec, origin: str) -> None:
    """``floating_base`` for MJCF: the one body that hangs on the world gets a free joint, if it has none."""
    bases = spec.worldbody.bodies
    if len(bases) != 1 or any(joint.type != FREE for joint in bases[0].joints):
        names = ", ".join(repr(body.name) for body in bases) or "none"
        raise ModelError(
            f"{origin}: floating_base=True expects one body in the world, free or without joints, got {names}; "
            "load with floating_base=False"
        )
    if not bases[0].joints:
        mj = compile_spec(spec, origin)
        pose = [*mj.body_pos[bases[0].id], *mj.body_quat[bases[0].id]]
        bases[0].add_freejoint(name="root")
        for key in spec.keys:
            key.qpos = [*pose, *key.qpos] if len(key.qpos) else []
            key.qvel = [*np.zeros(6), *key.qvel] if len(key.qvel) else []


def range_is_empty(joint: mujoco.MjsJoint) -> bool:
    """Lower ≥ upper: MuJoCo takes that for "no limit" (0 … 0 is how a file says it)."""
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
    """In a URDF, a link that moves must have mass, by itself or by what is fixed to it (MJCF has shapes' mass too)."""
    for body in spec.bodies[1:]:
        if body.joints and rigid_mass(body) <= 0.0:
            joints = ", ".join(repr(joint.name) for joint in body.joints)
            raise ModelError(
                f"{origin}: link {body.name!r} moves (joint {joints}) but has no mass; "
                "give it an <inertial>, or make its joint fixed"
            )


def rigid_mass(body: mujoco.MjsBody) -> float:
    """Mass of a body and of what is fixed to it [kg], as the file says (shapes' mass not counted)."""
    return float(body.mass) + sum(rigid_mass(child) for child in body.bodies if not child.joints)


def _solver_note(mj: mujoco.MjModel) -> list[str]:
    tuned = (mj.geom_solref != (0.02, 1.0)).any(axis=1) | (mj.geom_solimp != (0.9, 0.95, 0.001, 0.5, 2.0)).any(axis=1)
    count = int(np.count_nonzero(tuned & ((mj.geom_contype | mj.geom_conaffinity) != 0)))
    if not count:
        return []
    return [
        f"only MuJoCo uses solref and solimp, which {count} shapes set; the other methods use stiffness and damping"
    ]


def read_keyframes(mj: mujoco.MjModel) -> dict[str, dict[str, np.ndarray]]:
    """Keyframe name → joint name → coordinates."""
    keyframes = {}
    for k in range(mj.nkey):
        joints = {}
        for j in range(mj.njnt):
            first = mj.jnt_qposadr[j]
            joints[mj.joint(j).name] = mj.key_qpos[k, first : first + JOINT_NQ[mj.jnt_type[j]]].copy()
        keyframes[mj.key(k).name or f"key {k}"] = joints
    return keyframes


def _settle(spec: mujoco.MjSpec, mj: mujoco.MjModel) -> None:
    """Take out keyframes, and write the pose of the bases as position and quaternion, whatever the file used."""
    for key in list(spec.keys):
        spec.delete(key)
    for body in spec.worldbody.bodies:
        if body.frame is None:
            body.pos, body.quat = mj.body_pos[body.id], mj.body_quat[body.id]
            body.alt.type = mujoco.mjtOrientation.mjORIENTATION_QUAT
