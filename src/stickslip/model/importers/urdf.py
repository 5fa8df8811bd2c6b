"""URDF to a MuJoCo specification: prepare the XML, let MuJoCo import it, then add what MuJoCo leaves out.

MuJoCo's own import merges fixed links, puts the root link into the world, gives links without inertia the mass of
their shapes at 1000 kg/m³, and has no motors. Here every link stays a body, mass comes from ``<inertial>`` only, and
each movable joint gets a motor with the joint's effort limit.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import mujoco
import numpy as np

from stickslip.errors import ModelError, listed
from stickslip.model.importers.meshes import find_mesh, read_with_trimesh, refuse_mesh, unreadable
from stickslip.model.importers.messages import MUJOCO_ERRORS
from stickslip.model.importers.repair import absorb_virtual_links, fix_idle_joints, rigid_group
from stickslip.model.importers.visuals import add_visuals, take_visuals
from stickslip.model.shape import Material

JOINT_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
MOTORISED = ("revolute", "continuous", "prismatic")
PLANAR = ("x", "y", "yaw")
"""Endings of the names of the two slides and the hinge of a planar joint."""
FALSE = mujoco.mjtLimited.mjLIMITED_FALSE


def urdf_spec(
    robot: ET.Element,
    origin: str,
    path: Path,
    *,
    floating_base: bool,
    package_dirs: Sequence[str | Path],
    unreadable_meshes: str,
) -> tuple[mujoco.MjSpec, list[str]]:
    """The specification of a URDF and notes on what was changed."""
    if any("xacro" in element.tag or "${" in "".join(element.attrib.values()) for element in robot.iter()):
        raise ModelError(
            f"{origin}: is a xacro file; expand it first with `xacro {path.name} > robot.urdf` and load that"
        )
    joints = robot.findall("joint")
    root = find_root(robot, joints, origin)
    planar, notes = _take_planar(joints, origin)
    extension = robot.find("mujoco")
    compiler = None if extension is None else extension.find("compiler")
    meshdir = "" if compiler is None else compiler.get("meshdir", "")
    visuals = take_visuals(robot)
    meshes, mesh_notes = _tidy_links(robot, origin, path, package_dirs, meshdir, unreadable_meshes)
    notes += mesh_notes
    mimics, mimic_notes = _take_mimics(joints, origin)
    notes += mimic_notes
    driven = [j for j in joints if j.get("type") in MOTORISED and j.get("name") not in {m.joint for m in mimics}]
    efforts = {j.get("name", ""): _limit(j, "effort", origin) for j in driven}
    ranges = _take_ranges(joints, origin)
    notes += [
        f"joint {name!r} has no range in the URDF: it moves without limits" for name, r in ranges.items() if not any(r)
    ]

    tidy = ET.Element("robot", name=robot.get("name") or path.stem)
    settings = dict(compiler.attrib) if compiler is not None else {}
    settings |= {
        "fusestatic": "false",
        "strippath": "false",
        "discardvisual": "false",
        "inertiafromgeom": "false",
        "meshdir": "",
    }
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
    except MUJOCO_ERRORS as error:
        reason = " ".join(str(error).split())
        raise ModelError(f"{origin}: MuJoCo cannot read this URDF: {reason}; correct that element") from None
    notes += absorb_virtual_links(spec)
    idle_notes, idle = fix_idle_joints(spec)
    notes += idle_notes
    mimics = [mimic for mimic in mimics if not idle & {mimic.joint, mimic.other}]
    ranges = {name: bounds for name, bounds in ranges.items() if name not in idle}
    efforts = {name: effort for name, effort in efforts.items() if name not in idle}
    _give_meshes(spec, meshes)
    notes += add_visuals(spec, visuals, path, package_dirs, meshdir)  # virtual links are those without other shapes
    for geom in spec.geoms:  # URDF has no friction: the other surface of a pair decides
        geom.userdata = Material().to_user()
    _set_joints(spec, ranges, efforts)
    notes += _add_planar(spec, planar)
    return spec, notes + _couple(spec, mimics) + _exclude_base(spec)


def find_root(robot: ET.Element, joints: list[ET.Element], origin: str) -> str:
    """The one link without a parent; links that form no tree are an error."""
    links = [link.get("name", "") for link in robot.findall("link")]
    if not links:
        raise ModelError(f"{origin}: no <link> in this URDF; expected at least one")
    for kind, names in (("link", links), ("joint", [joint.get("name", "") for joint in joints])):
        if "" in names:
            raise ModelError(f"{origin}: a <{kind}> has no name; give it one")
        seen: set[str] = set()
        for given in names:
            if given in seen:
                raise ModelError(f"{origin}: two {kind}s are named {given!r}; rename one")
            seen.add(given)
    known = set(links)
    parent: dict[str, str] = {}
    children: dict[str, list[str]] = {}
    for joint in joints:
        name = joint.get("name")
        ends = {}
        for end in ("parent", "child"):
            element = joint.find(end)
            ends[end] = "" if element is None else element.get("link", "")
            if ends[end] not in known:
                raise ModelError(
                    f"{origin}: joint {name!r}: its {end} {ends[end]!r} is not a link of this URDF; correct the name"
                )
        if joint.get("type") not in JOINT_TYPES:
            raise ModelError(
                f"{origin}: joint {name!r}: expected a type of {', '.join(JOINT_TYPES)}, "
                f"got {joint.get('type')!r}; correct it"
            )
        if ends["child"] in parent:
            raise ModelError(
                f"{origin}: link {ends['child']!r} is the child of two joints, the second is {name!r}; "
                "URDF describes trees: remove one"
            )
        parent[ends["child"]] = ends["parent"]
        children.setdefault(ends["parent"], []).append(ends["child"])
    roots = [link for link in links if link not in parent]
    if len(roots) != 1:
        found = ", ".join(map(repr, roots)) or "none (the joints form a loop)"
        raise ModelError(f"{origin}: expected one root link, got {found}; connect the others with joints")
    reached, waiting = {roots[0]}, [roots[0]]
    while waiting:
        found_below = children.get(waiting.pop(), [])
        reached.update(found_below)
        waiting += found_below
    lost = next((link for link in links if link not in reached), None)
    if lost is not None:
        raise ModelError(f"{origin}: link {lost!r} hangs in a loop of joints; URDF describes trees: cut the loop")
    return roots[0]


class Planar(NamedTuple):
    """A planar joint: its name, its child link, and the normal of its plane in the joint's frame."""

    joint: str
    child: str
    normal: np.ndarray


def _take_planar(joints: list[ET.Element], origin: str) -> tuple[list[Planar], list[str]]:
    """Let planar joints be fixed in the XML, since MuJoCo does not read them; ``_add_planar`` frees them again."""
    found, notes = [], []
    for joint in (j for j in joints if j.get("type") == "planar"):
        name, child, axis = joint.get("name", ""), joint.find("child"), joint.find("axis")
        text = "1 0 0" if axis is None else axis.get("xyz", "1 0 0")
        try:
            normal = np.array([float(x) for x in text.split()])
        except ValueError:
            normal = np.zeros(0)
        if normal.shape != (3,) or not np.all(np.isfinite(normal)) or not np.any(normal):
            raise ModelError(
                f"{origin}: joint {name!r}: expected a direction, 3 numbers for xyz in <axis>, got {text!r}; correct it"
            )
        joint.set("type", "fixed")
        normal /= np.abs(normal).max()  # whose square neither vanishes nor overflows
        found.append(Planar(name, "" if child is None else child.get("link", ""), normal / np.linalg.norm(normal)))
        for aside in ("limit", "dynamics"):
            if joint.find(aside) is not None:
                notes.append(f"dropped: <{aside}> of the planar joint {name!r}, which URDF gives no meaning")
    return found, notes


def _add_planar(spec: mujoco.MjSpec, planar: list[Planar]) -> list[str]:
    """Two slides in the plane and a hinge about its normal, in this order, for each planar joint. For the normal z the
    slides are along x and y; for others they follow by the shortest rotation of z to the normal."""
    for name, child, normal in planar:
        quat, R = np.zeros(4), np.zeros(9)
        mujoco.mju_quatZ2Vec(quat, normal)
        mujoco.mju_quat2Mat(R, quat)
        body, kinds = spec.body(child), mujoco.mjtJoint
        for k, end in enumerate(PLANAR):
            kind = kinds.mjJNT_HINGE if k == 2 else kinds.mjJNT_SLIDE
            body.add_joint(name=f"{name}_{end}", type=kind, axis=R.reshape(3, 3)[:, k], limited=FALSE)
    if not planar:
        return []
    shown = listed(repr(p.joint) for p in planar)
    return [f"planar joints are two slides and a hinge, {', '.join(f'…_{end}' for end in PLANAR)}: {shown}"]


class Mimic(NamedTuple):
    """A joint that follows another: q = multiplier·q' + offset."""

    joint: str
    other: str
    multiplier: float
    offset: float


def _take_mimics(joints: list[ET.Element], origin: str) -> tuple[list[Mimic], list[str]]:
    """Take ``<mimic>`` out of the XML, which MuJoCo's import would drop; notes tell of those that name no joint."""
    mimics, notes, moving = [], [], {joint.get("name") for joint in joints if joint.get("type") in MOTORISED}
    for joint in joints:
        given = joint.findall("mimic")
        if len(given) > 1:
            where = f"{origin}: joint {joint.get('name')!r}"
            raise ModelError(f"{where}: expected at most one <mimic>, got {len(given)}; keep one of them")
        for mimic in given:
            joint.remove(mimic)
            name, other = joint.get("name", ""), mimic.get("joint", "")
            if name not in moving:
                continue
            if other not in moving or other == name:
                notes.append(
                    f"dropped: joint {name!r} mimics {other!r}, which is no other revolute, continuous or prismatic "
                    "joint of this URDF; it moves by itself"
                )
                continue
            numbers = []
            for attribute, usual in (("multiplier", "1"), ("offset", "0")):
                text = mimic.get(attribute, usual)
                try:
                    numbers.append(float(text))
                except ValueError:
                    raise ModelError(
                        f"{origin}: joint {name!r}: expected a number for {attribute} in <mimic>, got {text!r}; "
                        "correct it"
                    ) from None
            mimics.append(Mimic(name, other, *numbers))
    return mimics, notes


def _couple(spec: mujoco.MjSpec, mimics: list[Mimic]) -> list[str]:
    """Add the couplings of joints that follow others."""
    for mimic in mimics:
        equality = spec.add_equality(name=f"mimic/{mimic.joint}", type=mujoco.mjtEq.mjEQ_JOINT)
        equality.objtype = mujoco.mjtObj.mjOBJ_JOINT
        equality.name1, equality.name2 = mimic.joint, mimic.other
        equality.data[:5] = [mimic.offset, mimic.multiplier, 0.0, 0.0, 0.0]
    if not mimics:
        return []
    return [f"coupled: joints that mimic others, without motors: {listed(repr(m.joint) for m in mimics)}"]


def _limit(joint: ET.Element, attribute: str, origin: str) -> float:
    """A number of the joint's ``<limit>``; 0 where there is none."""
    limit = joint.find("limit")
    text = "0" if limit is None else limit.get(attribute, "0")
    try:
        return float(text)
    except ValueError:
        raise ModelError(
            f"{origin}: joint {joint.get('name')!r}: expected a number for {attribute} in <limit>, "
            f"got {text!r}; correct it"
        ) from None


def _take_ranges(joints: list[ET.Element], origin: str) -> dict[str, tuple[float, float]]:
    """Take the ranges out of the XML, because MuJoCo's import silently drops a range with lower ≥ upper."""
    ranges = {}
    for joint in joints:
        if joint.get("type") in ("revolute", "prismatic"):
            ranges[joint.get("name", "")] = (_limit(joint, "lower", origin), _limit(joint, "upper", origin))
        for limit in joint.findall("limit"):
            joint.remove(limit)
    return ranges


Meshes = dict[str, tuple[Path, str, bool]]


def _tidy_links(
    robot: ET.Element, origin: str, path: Path, package_dirs: Sequence[str | Path], meshdir: str, policy: str
) -> tuple[Meshes, list[str]]:
    """Name collisions and meshes. Return mesh name → (file, where it is used, whether to convert)."""
    meshes: Meshes = {}
    names: dict[tuple, str] = {}
    notes: list[str] = []
    for link in robot.findall("link"):
        notes += _tidy_inertial(link)
        for i, collision in enumerate(link.findall("collision")):
            collision.set("name", f"{link.get('name')}/collision{i}")  # unique, which file names are not
            mesh = collision.find("geometry/mesh")
            if mesh is None:
                continue
            where = f"{origin}: link {link.get('name')!r}"
            if not mesh.get("filename"):
                raise ModelError(f"{where}: a <mesh> has no filename; give it one")
            file = find_mesh(mesh.get("filename", ""), path, package_dirs, meshdir, where).absolute()
            why = unreadable(file)
            if why and policy == "error":
                raise refuse_mesh(where, file, why)
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
                notes.append(
                    f"replaced: collision mesh {file.name} of link {link.get('name')!r}, read by trimesh ({why})"
                )
            mesh.set("filename", f"{names[key]}.stl")
    return meshes, notes


def _tidy_inertial(link: ET.Element) -> list[str]:
    """Keep the first ``<inertial>``, as other readers of URDF do, and only if it has a mass."""
    first, *others = [*link.findall("inertial"), None]
    notes = []
    for other in others:
        if other is not None:
            link.remove(other)
            notes.append(f"dropped: a further <inertial> of link {link.get('name')!r}; the first one counts")
    if first is not None and first.find("mass") is None:
        link.remove(first)
        notes.append(f"dropped: the <inertial> of link {link.get('name')!r}, which has no <mass>")
    return notes


def _give_meshes(spec: mujoco.MjSpec, meshes: Meshes) -> None:
    for mesh in spec.meshes:
        file, where, convert = meshes[mesh.name]
        mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX  # its hull collides; an open mesh has no volume
        if convert:
            vertices, faces = read_with_trimesh(file, where)
            mesh.file, mesh.uservert, mesh.userface = "", vertices.ravel(), faces.ravel()
        else:
            mesh.file = str(file)


def _set_joints(spec: mujoco.MjSpec, ranges: dict[str, tuple[float, float]], efforts: dict[str, float]) -> None:
    """Set ranges and add a motor per movable joint. MuJoCo's import would put the effort limit on the joint."""
    for name, bounds in ranges.items():
        joint = spec.joint(name)
        joint.range, joint.limited = bounds, mujoco.mjtLimited.mjLIMITED_TRUE if any(bounds) else FALSE
    for name, effort in efforts.items():
        motor = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        motor.set_to_motor()
        if effort > 0.0:
            motor.forcerange, motor.forcelimited = [-effort, effort], mujoco.mjtLimited.mjLIMITED_TRUE


def _exclude_base(spec: mujoco.MjSpec) -> list[str]:
    """Exclude contact between a fixed base and its child links.

    MuJoCo lets a link pass through its parent, but not when the parent is fixed to the world.
    """
    base, hanging = [], []
    todo = [body for body in spec.worldbody.bodies if not body.joints]
    while todo:
        body = todo.pop()
        base.append(body)
        hanging += [child for child in body.bodies if child.joints]
        todo += [child for child in body.bodies if not child.joints]
    pairs = [(a, b) for a in base for b in hanging if a.geoms and any(body.geoms for body in rigid_group(b))]
    for a, b in pairs:
        spec.add_exclude(bodyname1=a.name, bodyname2=b.name)
    bases = ", ".join(dict.fromkeys(repr(a.name) for a, _ in pairs))
    return [f"excluded: contact between the fixed base ({bases}) and the links on it"] if pairs else []
