"""URDF to a MuJoCo specification: tidy the XML first, let MuJoCo import it, then add what MuJoCo leaves out.

MuJoCo's own import merges fixed links, puts the root link into the world, gives links without inertia the mass of
their shapes at 1000 kg/m³, and has no motors. Here every link stays a body, mass comes from ``<inertial>`` only, and
each movable joint gets a motor with the joint's effort limit.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path

import mujoco

from stickslip.errors import ModelError
from stickslip.model.features import URDF_FEATURES, refuse
from stickslip.model.meshes import find_mesh, read_with_trimesh, unreadable

JOINT_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
MOTORISED = ("revolute", "continuous", "prismatic")


def parse_xml(text: str, origin: str) -> ET.Element:
    """The XML tree; comments are blanked first, because ``--`` inside them is common and not well-formed."""
    blank = re.sub(r"<!--.*?-->", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.DOTALL)
    try:
        return ET.fromstring(blank.lstrip("\ufeff").lstrip() if blank.lstrip().startswith("<?xml") else blank)
    except ET.ParseError as error:
        line, column = error.position
        reason = str(error).split(":")[0]
        raise ModelError(f"{origin}: broken XML at line {line}, column {column}: {reason}; correct that line") from None


def urdf_spec(
    text: str,
    origin: str,
    path: Path,
    *,
    floating_base: bool,
    package_dirs: Sequence[str | Path],
    unreadable_meshes: str,
    ignored: frozenset[str],
) -> tuple[mujoco.MjSpec, list[str]]:
    """The specification of a URDF and notes on what was changed."""
    if "<xacro:" in text:
        raise ModelError(f"{origin}: is a xacro file; expand it first with `xacro {path.name} > robot.urdf` and load that")
    robot = parse_xml(text, origin)
    joints = robot.findall("joint")
    root = find_root(robot, joints, origin)
    notes = _refuse_or_drop(joints, origin, ignored)
    extension = robot.find("mujoco")
    compiler = None if extension is None else extension.find("compiler")
    meshdir = "" if compiler is None else compiler.get("meshdir", "")
    meshes, mesh_notes = _tidy_links(robot, origin, path, package_dirs, meshdir, unreadable_meshes)
    notes += mesh_notes + _missing_ranges(joints)

    tidy = ET.Element("robot", name=robot.get("name") or path.stem)
    settings = dict(compiler.attrib) if compiler is not None else {}
    settings |= {"fusestatic": "false", "strippath": "false", "discardvisual": "false", "inertiafromgeom": "false", "meshdir": ""}
    ET.SubElement(ET.SubElement(tidy, "mujoco"), "compiler", settings)
    if root == "world":
        if floating_base:
            raise ModelError(
                f"{origin}: floating_base=True, but the root link is 'world', to which the robot is fixed; "
                "remove that link and its joint, or load with floating_base=False"
            )
    else:
        # A link named "world" is MuJoCo's world: below it, the root link stays a body of its own.
        ET.SubElement(tidy, "link", name="world")
        base = ET.SubElement(tidy, "joint", name="root", type="floating" if floating_base else "fixed")
        ET.SubElement(base, "parent", link="world")
        ET.SubElement(base, "child", link=root)
        if floating_base and any(joint.get("name") == "root" for joint in joints):
            raise ModelError(f"{origin}: a joint is named 'root', which is the name of the floating base; rename it")
    tidy.extend([*robot.findall("link"), *joints])
    try:
        spec = mujoco.MjSpec.from_string(ET.tostring(tidy, encoding="unicode"))
    except ValueError as error:
        reason = " ".join(str(error).split())
        raise ModelError(f"{origin}: MuJoCo cannot read this URDF: {reason}; correct that element") from None
    _give_meshes(spec, meshes, origin)
    _add_motors(spec, joints)
    return spec, notes


def find_root(robot: ET.Element, joints: list[ET.Element], origin: str) -> str:
    """The one link that is nobody's child; refuse trees that are none."""
    links = [link.get("name", "") for link in robot.findall("link")]
    if not links:
        raise ModelError(f"{origin}: no <link> in this URDF; expected at least one")
    for kind, names in (("link", links), ("joint", [joint.get("name", "") for joint in joints])):
        if "" in names:
            raise ModelError(f"{origin}: a <{kind}> has no name; give it one")
        double = next((name for name in names if names.count(name) > 1), None)
        if double is not None:
            raise ModelError(f"{origin}: two {kind}s are named {double!r}; rename one")
    parent: dict[str, str] = {}
    for joint in joints:
        name = joint.get("name")
        ends = {}
        for end in ("parent", "child"):
            element = joint.find(end)
            ends[end] = "" if element is None else element.get("link", "")
            if ends[end] not in links:
                raise ModelError(
                    f"{origin}: joint {name!r}: its {end} {ends[end]!r} is not a link of this URDF; correct the name"
                )
        if joint.get("type") not in JOINT_TYPES:
            raise ModelError(
                f"{origin}: joint {name!r}: expected a type of {', '.join(JOINT_TYPES)}, got {joint.get('type')!r}; correct it"
            )
        if ends["child"] in parent:
            raise ModelError(
                f"{origin}: link {ends['child']!r} is the child of two joints, the second is {name!r}; "
                "URDF describes trees: remove one"
            )
        parent[ends["child"]] = ends["parent"]
    roots = [link for link in links if link not in parent]
    if len(roots) != 1:
        found = ", ".join(map(repr, roots)) or "none (the joints form a loop)"
        raise ModelError(f"{origin}: expected one root link, got {found}; connect the others with joints")
    reached, size = {roots[0]}, 0
    while len(reached) > size:
        size = len(reached)
        reached |= {child for child, above in parent.items() if above in reached}
    lost = next((link for link in links if link not in reached), None)
    if lost is not None:
        raise ModelError(f"{origin}: link {lost!r} hangs in a loop of joints; URDF describes trees: cut the loop")
    return roots[0]


def _refuse_or_drop(joints: list[ET.Element], origin: str, ignored: frozenset[str]) -> list[str]:
    """Mimic and planar joints: an error, or taken out with a note."""
    mimics = [j for j in joints if j.find("mimic") is not None and j.get("type") != "fixed"]
    planar = [j for j in joints if j.get("type") == "planar"]
    used, notes = [], []
    for name, found in (("mimic", mimics), ("planar joint", planar)):
        if not found:
            continue
        shown = ", ".join(f"joint {joint.get('name')!r}" for joint in found[:4])
        shown += f" and {len(found) - 4} more" if len(found) > 4 else ""
        if name in ignored:
            notes.append(f"ignored: {name} ({URDF_FEATURES[name]}): {shown}")
        else:
            used.append((name, URDF_FEATURES[name], shown))
    if used:
        raise refuse(origin, used)
    for joint in joints:
        for mimic in joint.findall("mimic"):
            joint.remove(mimic)
    for joint in planar:
        joint.set("type", "fixed")
    return notes


def _missing_ranges(joints: list[ET.Element]) -> list[str]:
    """URDF asks for a range on revolute and prismatic joints; MuJoCo takes 0 … 0 for "no limit"."""
    missing = []
    for joint in joints:
        if joint.get("type") in ("revolute", "prismatic"):
            limit = joint.find("limit")
            if limit is None or float(limit.get("lower", 0)) == float(limit.get("upper", 0)) == 0.0:
                missing.append(joint.get("name"))
    return [f"joint {name!r} has no range in the URDF: it moves without limits" for name in missing]


Meshes = dict[str, tuple[Path, str, bool]]


def _tidy_links(
    robot: ET.Element, origin: str, path: Path, package_dirs: Sequence[str | Path], meshdir: str, policy: str
) -> tuple[Meshes, list[str]]:
    """Drop visuals, name collisions, give each mesh a name of its own: name → (file, where it is used, convert)."""
    meshes: Meshes = {}
    names: dict[tuple, str] = {}
    notes: list[str] = []
    for link in robot.findall("link"):
        for visual in link.findall("visual"):
            link.remove(visual)
        for i, collision in enumerate(link.findall("collision")):
            collision.set("name", f"{link.get('name')}/collision{i}")  # file names repeat; MuJoCo's must not
            mesh = collision.find("geometry/mesh")
            if mesh is None:
                continue
            where = f"{origin}: link {link.get('name')!r}"
            if not mesh.get("filename"):
                raise ModelError(f"{where}: a <mesh> has no filename; give it one")
            file = find_mesh(mesh.get("filename", ""), path, package_dirs, meshdir, where).absolute()
            why = unreadable(file)
            if why and policy == "error":
                raise ModelError(
                    f"{where}: MuJoCo cannot read mesh {str(file)!r} ({why}); load with "
                    'unreadable_meshes="replace" (convert with trimesh) or "drop", or convert it to .stl or .obj'
                )
            if why and policy == "drop":
                link.remove(collision)
                notes.append(f"dropped: collision mesh {file.name} of link {link.get('name')!r} ({why})")
                continue
            key = (file, mesh.get("scale", ""))
            if key not in names:
                stem, n = file.stem, 1
                while stem in meshes:
                    n += 1
                    stem = f"{file.stem}_{n}"
                names[key] = stem
                meshes[stem] = (file, where, why is not None)
            if why:
                notes.append(f"replaced: collision mesh {file.name} of link {link.get('name')!r}, read by trimesh ({why})")
            mesh.set("filename", f"{names[key]}.stl")
    return meshes, notes


def _give_meshes(spec: mujoco.MjSpec, meshes: Meshes, origin: str) -> None:
    for mesh in spec.meshes:
        file, where, convert = meshes[mesh.name]
        if convert:
            vertices, faces = read_with_trimesh(file, where)
            mesh.file, mesh.uservert, mesh.userface = "", vertices.ravel(), faces.ravel()
        else:
            mesh.file = str(file)


def _add_motors(spec: mujoco.MjSpec, joints: list[ET.Element]) -> None:
    """One motor per movable joint; MuJoCo puts the effort on the joint, where two sources would share it."""
    for element in joints:
        if element.get("type") not in MOTORISED:
            continue
        name, limit = element.get("name"), element.find("limit")
        effort = 0.0 if limit is None else float(limit.get("effort", 0.0))
        joint = spec.joint(name)
        joint.actfrclimited, joint.actfrcrange = mujoco.mjtLimited.mjLIMITED_FALSE, [0.0, 0.0]
        motor = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        motor.set_to_motor()
        if effort > 0.0:
            motor.forcerange, motor.forcelimited = [-effort, effort], mujoco.mjtLimited.mjLIMITED_TRUE
