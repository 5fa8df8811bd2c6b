"""Header of a recording: the model, the options and the versions, without the frames."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np

from stickslip.hdf5 import attribute, from_json, has, member, numbers, text, whole_text
from stickslip.model.mocap import carriers
from stickslip.record.appearance import Surface, looks, surfaces
from stickslip.record.checks import check_header
from stickslip.record.drawn import drawn_of
from stickslip.record.layout import FORMAT, Sizes

if TYPE_CHECKING:
    from stickslip.model.model import Model
    from stickslip.model.shape import Shape

PACKAGES = ("stickslip", "numpy", "numba", "mujoco", "h5py")

# Kept as attributes of the file, so that any HDF5 tool shows them.
NAMES = ("link_names", "joint_names", "actuator_names", "constraint_names", "sensor_names")
ADDED_LATER = {"constraint_names": (), "nc": 0, "na": 0, "sensor_names": (), "ns": 0}
"""Entries that files of earlier versions lack → the value to assume."""
NUMBERS = ("link_parent", "joint_type", "joint_link", "joint_q", "joint_v")


@dataclass(frozen=True)
class Header:
    """The data that are constant during a recording."""

    sizes: Sizes
    link_names: tuple[str, ...]
    """(nl,) names of the links, then of mocap bodies, whose poses are recorded as theirs."""
    joint_names: tuple[str, ...]
    """(nj,) names."""
    actuator_names: tuple[str, ...]
    """(nu,) names."""
    constraint_names: tuple[str, ...]
    """(nc,) names of joints that are constraints (maximal coordinates)."""
    sensor_names: tuple[str, ...]
    """(ns,) the sensor that each value belongs to."""
    link_parent: np.ndarray
    """(nl,) parent link."""
    joint_type: np.ndarray
    """(nj,) FREE, BALL, SLIDE or HINGE."""
    joint_link: np.ndarray
    """(nj,) the link that the joint moves."""
    joint_q: np.ndarray
    """(nj,) first entry in q."""
    joint_v: np.ndarray
    """(nj,) first entry in v."""
    shapes: tuple[dict[str, Any], ...]
    """The fields of ``model.shape.Shape`` without ``vertices``, and how the shape looks (``record.appearance``)."""
    vertices: dict[int, np.ndarray]
    """Shape → (n, 3) corners of a mesh's hull in the shape frame [m]; float32, since they are only drawn."""
    surfaces: dict[int, Surface]
    """Mesh → its triangles; shapes name their mesh as ``surface``. Empty in files of earlier versions."""
    drawn: dict[str, Any]
    """Tendons, sensors and thrusters, as ``record.drawn`` describes them; missing entries are empty."""
    scene_xml: str
    options: dict[str, Any]
    """Method, dt and all other options of the run."""
    versions: dict[str, str]
    created: str
    """Time at which the run began (ISO 8601, UTC)."""

    def write(self, file: Any) -> None:
        """Write the header into a new HDF5 file."""
        import h5py

        text = h5py.string_dtype()
        file.attrs["kind"] = "stickslip recording"
        file.attrs["format"] = FORMAT
        file.attrs["created"] = self.created
        file.attrs["versions"] = json.dumps(self.versions)
        file.attrs["options"] = json.dumps(self.options)
        for name, size in self.sizes._asdict().items():
            file.attrs[name] = size
        for name in NAMES:
            file.attrs.create(name, np.array(getattr(self, name), dtype=object), dtype=text)
        for name in NUMBERS:
            file.attrs[name] = getattr(self, name)
        # These may have megabytes, which is too much for an attribute.
        file.create_dataset("scene_xml", data=self.scene_xml, dtype=text)
        file.create_dataset("shapes", data=json.dumps(self.shapes), dtype=text)
        file.create_dataset("drawn", data=json.dumps(self.drawn), dtype=text)
        group = file.create_group("shape_vertices")
        for index, points in self.vertices.items():
            group.create_dataset(str(index), data=points, compression="gzip", compression_opts=1, shuffle=True)
        for mesh, surface in self.surfaces.items():
            for name, values in surface._asdict().items():
                path = f"surfaces/{mesh}/{name}"
                file.create_dataset(path, data=values, compression="gzip", compression_opts=1, shuffle=True)

    @staticmethod
    def read(file: Any) -> Header:
        """The header of an open file, checked; a damaged one raises errors of many kinds."""
        attrs: dict[str, Any] = {**ADDED_LATER, **{name: attribute(file, name) for name in file.attrs}}
        arrays: dict[str, Any] = {name: tuple(whole_text(str(value)) for value in attrs[name]) for name in NAMES}
        arrays |= {name: np.asarray(attrs[name]) for name in NUMBERS}
        vertices = member(file, "shape_vertices")
        meshes: Any = member(file, "surfaces") if has(file, "surfaces") else {}
        header = Header(
            **arrays,
            sizes=Sizes(*(int(attrs[name]) for name in Sizes._fields)),
            shapes=tuple(from_json(text(file, "shapes"))),
            vertices={int(index): numbers(vertices, index, "f") for index in vertices},
            surfaces={int(mesh): _read_surface(member(meshes, mesh)) for mesh in meshes},
            drawn=from_json(text(file, "drawn")) if has(file, "drawn") else {},
            scene_xml=text(file, "scene_xml"),
            options=from_json(attrs["options"]),
            versions=from_json(attrs["versions"]),
            created=whole_text(str(attrs["created"])),
        )
        check_header(header)
        return header


def _read_surface(group: Any) -> Surface:
    vertices = numbers(group, "vertices", "f").astype(np.float32)
    faces = numbers(group, "faces", "iu").astype(np.int32)
    whole = vertices.shape[1:] == (3,) and faces.shape[1:] == (3,) and bool(np.isfinite(vertices).all())
    if not whole or (faces.size and not 0 <= faces.min() <= faces.max() < len(vertices)):
        raise ValueError("a mesh has triangles between corners that do not exist")
    return Surface(vertices, faces)


def describe(
    model: Model,
    scene_xml: str,
    options: dict[str, Any],
    constraints: Sequence[str] = (),
    sensors: Sequence[str] = (),
) -> Header:
    """The header of a recording of ``model`` that starts now; ``sensors`` names the sensor of each value."""
    tree, moved = model.tree, model.mocap_names
    shapes = [
        {key: x for key, x in asdict(shape).items() if key != "vertices"} | look
        for shape, look in zip(drawn_shapes(model), looks(model), strict=True)
    ]
    return Header(
        sizes=Sizes(model.nlink + len(moved), model.nq, model.nv, model.nu, len(constraints), model.na, len(sensors)),
        link_names=(*model.link_names, *moved),
        joint_names=tuple(model.joint_names),
        actuator_names=tuple(model.actuator_names),
        constraint_names=tuple(constraints),
        sensor_names=tuple(sensors),
        link_parent=np.concatenate([tree.parent, np.zeros(len(moved))]).astype(np.int64),
        joint_type=np.asarray(tree.joint_type, dtype=np.int64),
        joint_link=np.repeat(np.arange(model.nlink), np.diff(tree.joint_start)),
        joint_q=np.asarray(tree.joint_q, dtype=np.int64),
        joint_v=np.asarray(tree.joint_v, dtype=np.int64),
        shapes=tuple(_plain(shapes)),
        vertices={i: s.vertices.astype(np.float32) for i, s in enumerate(model.shapes) if s.vertices is not None},
        surfaces=surfaces(model),
        drawn=_plain(drawn_of(model)),
        scene_xml=scene_xml,
        options=_plain(options),
        versions=dict(versions(PACKAGES)),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def drawn_shapes(model: Model) -> list[Shape]:
    """The shapes as recordings draw them: those of a mocap body are in its frame, as if it were a link after the
    others."""
    on, shapes = carriers(model), list(model.shapes)
    where = {name: model.frame(name) for name in model.mocap_names}
    for s, shape in enumerate(shapes):
        m = on[shape.body]
        if m >= 0:
            f = where[model.mocap_names[m]]
            rot, pos = model.frames.rot[f], model.frames.pos[f]
            local = {"pos": rot.T @ (shape.pos - pos), "rot": rot.T @ shape.rot}
            shapes[s] = replace(shape, link=model.nlink + m, **local)
    return shapes


def _plain(value: Any) -> Any:
    """The value as it is after a round trip through JSON, so that logs from memory and from files are equal."""

    def convert(x: Any) -> Any:
        if isinstance(x, np.ndarray | np.generic):
            return x.tolist()
        return str(x)  # of a controller or function only the name can be kept

    return json.loads(json.dumps(value, default=convert))


@cache
def versions(packages: Iterable[str]) -> dict[str, str]:
    """Versions of Python and of the packages."""
    found = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found
