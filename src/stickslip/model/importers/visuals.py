"""``<visual>`` of a URDF: shapes that are drawn, but touch nothing and have no mass.

A model without them can be simulated all the same, so that what cannot be drawn is a note and never an error.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import mujoco
import numpy as np

from stickslip.errors import ModelError, listed
from stickslip.model.importers.meshes import find_mesh, read_with_trimesh, unreadable
from stickslip.model.importers.messages import MUJOCO_ERRORS

DRAWN = 1
"""The group of shapes that are only drawn, as MuJoCo's own import of URDF has it."""
GEOM = mujoco.mjtGeom


class Visual(NamedTuple):
    """One ``<visual>`` of a link."""

    link: str
    element: ET.Element
    rgba: np.ndarray | None


def take_visuals(robot: ET.Element) -> list[Visual]:
    """Take the visuals out of the XML, each with its colour, which may stand beside the links or in another visual."""
    colours: dict[str, np.ndarray] = {}
    for each in robot.iter("material"):
        if (rgba := _colour(each)) is not None:
            colours.setdefault(each.get("name", ""), rgba)
    found = []
    for link in robot.findall("link"):
        for visual in link.findall("visual"):
            link.remove(visual)
            material = visual.find("material")
            own = None if material is None else _colour(material)
            named = None if material is None else colours.get(material.get("name", ""))
            found.append(Visual(link.get("name", ""), visual, named if own is None else own))
    return found


def add_visuals(
    spec: mujoco.MjSpec, visuals: Sequence[Visual], path: Path, package_dirs: Sequence[str | Path], meshdir: str
) -> list[str]:
    """Draw the visuals on their bodies. Returns a note on those that cannot be drawn."""
    meshes: dict[tuple, str] = {}
    numbers: dict[str, int] = {}
    missing = []
    for visual in visuals:
        body = spec.body(visual.link)
        if body is None:
            continue
        try:
            kind, size, mesh = _shape(spec, visual, path, package_dirs, meshdir, meshes)
            pos, quat = _pose(visual.element.find("origin"))
        except (ModelError, ValueError):  # floats that are none are values, too
            mesh_element = visual.element.find("geometry/mesh")
            name = "" if mesh_element is None else Path(mesh_element.get("filename", "")).name
            missing.append(f"{name or 'a shape'} of link {visual.link!r}")
            continue
        number = numbers[visual.link] = numbers.get(visual.link, -1) + 1
        geom = body.add_geom(name=f"{visual.link}/visual{number}", type=kind, size=size, pos=pos, quat=quat)
        if mesh:
            geom.meshname = mesh
        if visual.rgba is not None:
            geom.rgba = visual.rgba
        geom.contype, geom.conaffinity, geom.group, geom.mass = 0, 0, DRAWN, 0.0
    return [f"not drawn: visuals that cannot be read: {listed(missing)}"] if missing else []


def compile_drawn(spec: mujoco.MjSpec, compiled: Callable[[], mujoco.MjModel]) -> tuple[mujoco.MjModel, list[str]]:
    """The model of a URDF; without its visuals if MuJoCo cannot compile one of them, and then a note."""
    try:
        return compiled(), []
    except (ModelError, *MUJOCO_ERRORS):
        if not _drop_visuals(spec):
            raise
        return compiled(), ["not drawn: all visuals, since MuJoCo cannot compile one of them"]


def _drop_visuals(spec: mujoco.MjSpec) -> bool:
    """Delete all visuals and their meshes; whether there were any."""
    drawn = [geom for geom in spec.geoms if geom.group == DRAWN and not (geom.contype or geom.conaffinity)]
    meshes = {geom.meshname for geom in drawn} - {""}
    for geom in drawn:
        spec.delete(geom)
    for mesh in [mesh for mesh in spec.meshes if mesh.name in meshes]:
        spec.delete(mesh)
    return bool(drawn)


def _shape(
    spec: mujoco.MjSpec,
    visual: Visual,
    path: Path,
    package_dirs: Sequence[str | Path],
    meshdir: str,
    meshes: dict[tuple, str],
) -> tuple[mujoco.mjtGeom, list[float], str]:
    """Kind, size and name of the mesh."""
    geometry = visual.element.find("geometry")
    shape = None if geometry is None or not len(geometry) else geometry[0]
    if shape is None:
        raise ValueError
    if shape.tag == "box":
        return GEOM.mjGEOM_BOX, (0.5 * _numbers(shape.get("size", ""), 3, positive=True)).tolist(), ""
    if shape.tag == "sphere":
        return GEOM.mjGEOM_SPHERE, [*_numbers(shape.get("radius", ""), 1, positive=True), 0.0, 0.0], ""
    if shape.tag in ("cylinder", "capsule"):
        kind = GEOM.mjGEOM_CYLINDER if shape.tag == "cylinder" else GEOM.mjGEOM_CAPSULE
        radius, length = (_numbers(shape.get(name, ""), 1, positive=True)[0] for name in ("radius", "length"))
        return kind, [radius, 0.5 * length, 0.0], ""
    if shape.tag != "mesh":
        raise ValueError
    file = find_mesh(shape.get("filename", ""), path, package_dirs, meshdir, visual.link).absolute()
    scale = _numbers(shape.get("scale") or "1 1 1", 3)
    key = (file, tuple(scale))
    if key not in meshes:
        taken = {mesh.name for mesh in spec.meshes}
        name = next(name for n in range(len(taken) + 1) if (name := f"{file.stem}/visual{n}") not in taken)
        shell = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL  # it has no mass, and may be open
        if unreadable(file):
            vertices, faces = read_with_trimesh(file, visual.link)
            spec.add_mesh(name=name, uservert=vertices.ravel(), userface=faces.ravel(), scale=scale, inertia=shell)
        else:
            spec.add_mesh(name=name, file=str(file), scale=scale, inertia=shell)
        meshes[key] = name
    return GEOM.mjGEOM_MESH, [0.0, 0.0, 0.0], meshes[key]


def _colour(material: ET.Element) -> np.ndarray | None:
    colour = material.find("color")
    if colour is None:
        return None
    try:
        return np.clip(_numbers(colour.get("rgba", ""), 4), 0.0, 1.0)
    except ValueError:
        return None


def _pose(origin: ET.Element | None) -> tuple[np.ndarray, np.ndarray]:
    """Position and quaternion; roll, pitch and yaw turn about the fixed axes x, y and z, one after another."""
    xyz = _numbers((origin.get("xyz") if origin is not None else None) or "0 0 0", 3)
    rpy = _numbers((origin.get("rpy") if origin is not None else None) or "0 0 0", 3)
    quat = np.array([1.0, 0.0, 0.0, 0.0])
    for axis, angle in zip(np.eye(3), rpy, strict=True):
        turn, turned = np.array([np.cos(angle / 2), *(np.sin(angle / 2) * axis)]), np.zeros(4)
        mujoco.mju_mulQuat(turned, turn, quat)
        quat = turned
    return xyz, quat


def _numbers(text: str, count: int, *, positive: bool = False) -> np.ndarray:
    """So many finite numbers; else a ValueError."""
    values = np.array([float(word) for word in text.split()])
    if values.shape != (count,) or not np.all(np.isfinite(values)) or (positive and not np.all(values > 0.0)):
        raise ValueError
    return values
