"""Checks of a header that was read from a file: everything that readers index by must be within its range.

Each check raises an ``InputError`` that says what is wrong. Compiled functions draw tendons, and they trust indices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stickslip.errors import InputError, expected
from stickslip.model.arrays import FREE, HINGE, JOINT_NQ, JOINT_NV, ON_JOINT
from stickslip.record.drawn import paths_of

if TYPE_CHECKING:
    from stickslip.record.header import Header

KINDS = ("plane", "sphere", "capsule", "cylinder", "box", "mesh", "ellipsoid", "terrain", "point")
LARGEST = 10**6
"""Links, coordinates and so on of a recording, so that wrong sizes do not ask for gigabytes."""


def check_header(header: Header) -> None:
    """Refuse a header that does not fit together."""
    n = header.sizes
    for name, size in n._asdict().items():
        if not 0 <= size <= LARGEST:
            raise expected(name, f"a number from 0 to {LARGEST}", size)
    for name, size in (("link", n.nl), ("actuator", n.nu), ("constraint", n.nc), ("sensor", n.ns)):
        if len(getattr(header, f"{name}_names")) != size:
            raise expected(f"{name}_names", f"{size} names", len(getattr(header, f"{name}_names")))
    _check_joints(header)
    if n.nl < 1:
        raise expected("nl", "at least the world", n.nl)
    for k, shape in enumerate(_list("shapes", header.shapes)):
        _check_shape(f"shapes[{k}]", shape, n.nl)
    for k, points in header.vertices.items():
        if points.ndim != 2 or points.shape[1] != 3 or points.dtype.kind != "f" or not np.all(np.isfinite(points)):
            raise expected(f"shape_vertices/{k}", "finite points (n, 3)", points.shape)
        if not 0 <= k < len(header.shapes) or not len(points):
            raise expected(f"shape_vertices/{k}", "the points of a shape", "others")
    for name, value in (("options", header.options), ("versions", header.versions), ("drawn", header.drawn)):
        if not isinstance(value, dict):
            raise expected(name, "entries by name", value)
    _check_drawn(header)


def _check_joints(header: Header) -> None:
    n, nj = header.sizes, len(header.joint_names)
    for name, size in (("link_parent", n.nl), *((f"joint_{x}", nj) for x in ("type", "link", "q", "v"))):
        array = getattr(header, name)
        if array.dtype.kind not in "iu" or array.shape != (size,):
            raise expected(name, f"{size} whole numbers", f"{array.dtype} {array.shape}")
    _within("link_parent", header.link_parent, -1, n.nl)
    _within("joint_type", header.joint_type, FREE, HINGE + 1)
    _within("joint_link", header.joint_link, 0, n.nl)
    for name, first, widths, size in (
        ("joint_q", header.joint_q, JOINT_NQ, n.nq),
        ("joint_v", header.joint_v, JOINT_NV, n.nv),
    ):
        _within(name, first, 0, size + 1)
        _within(name, first + np.array(widths, dtype=int)[header.joint_type], 0, size + 1)


def _check_shape(where: str, shape: Any, links: int) -> None:
    _entries(where, shape, ("name", "kind", "link", "pos", "rot", "size", "rgba"))
    if shape["kind"] not in KINDS or not isinstance(shape["name"], str):
        raise expected(where, f"a name and one of {', '.join(KINDS)}", shape["kind"])
    _link(f"{where}/link", shape["link"], links)
    for name, size in (("pos", (3,)), ("rot", (3, 3)), ("size", (3,)), ("rgba", (4,))):
        _finite(f"{where}/{name}", shape[name], size)


def _check_drawn(header: Header) -> None:
    n = header.sizes
    tendons = header.drawn.get("tendons")
    if tendons:
        _check_tendons(tendons, n.nl)
        pulling = _list("pulled_by", tendons["pulled_by"])
        for entry in pulling:
            _input("pulled_by", entry, n.nu, n.na)
            _link("pulled_by/tendon", entry.get("tendon"), len(tendons["width"]))
    for entry in _list("sensors", header.drawn.get("sensors", [])):
        _entries("sensors", entry, ("link", "pos", "rot", "names", "kinds"))
        _link("sensors/link", entry["link"], n.nl)
        _finite("sensors/pos", entry["pos"], (3,))
        _finite("sensors/rot", entry["rot"], (3, 3))
        if [len(_list("sensors", entry[key])) for key in ("names", "kinds")] != 2 * [len(entry["names"])]:
            raise expected("sensors/kinds", "one for each name", entry["kinds"])
    for entry in _list("thrusters", header.drawn.get("thrusters", [])):
        _entries("thrusters", entry, ("name", "gain", "least", "most", "link", "pos", "axes_link", "axis"))
        _input("thrusters", entry, n.nu, n.na)
        for name in ("link", "axes_link"):
            _link(f"thrusters/{name}", entry[name], n.nl)
        for name in ("pos", "axis"):
            _finite(f"thrusters/{name}", entry[name], (3,))
        _finite("thrusters/gain", entry["gain"], ())
        _limits("thrusters", entry["least"], entry["most"])


def _check_tendons(tendons: Any, links: int) -> None:
    _entries("tendons", tendons, ("names", "width", "rgba", "paths", "pulled_by"))
    paths = paths_of(tendons)
    count, elements = len(paths.start) - 1, len(paths.kind)
    if count < 0 or paths.start[0] != 0 or paths.start[-1] != elements or np.any(np.diff(paths.start) < 1):
        raise expected("tendons/start", f"rising numbers from 0 to {elements}", paths.start[:8].tolist())
    for name in ("on", "side", "side_link"):
        if getattr(paths, name).shape != (elements,):
            raise expected(f"tendons/{name}", f"{elements} numbers", getattr(paths, name).shape)
    _within("tendons/on", paths.on[paths.kind != ON_JOINT], 0, links)
    _within("tendons/side_link", paths.side_link, 0, links)
    for name in ("number", "pos", "rot", "side_pos"):
        if not np.all(np.isfinite(getattr(paths, name))):
            raise expected(f"tendons/{name}", "finite numbers", "NaN or infinity")
    _finite("tendons/width", tendons["width"], (count,))
    _finite("tendons/rgba", tendons["rgba"], (count, 4))


def _input(where: str, entry: Any, controls: int, activations: int) -> None:
    _entries(where, entry, ("actuator", "activation", "low", "high"))
    _link(f"{where}/actuator", entry["actuator"], controls)
    if not isinstance(entry["activation"], int) or not -1 <= entry["activation"] < activations:
        raise expected(f"{where}/activation", f"a number from -1 to {activations - 1}", entry["activation"])
    _limits(where, entry["low"], entry["high"])


def _limits(where: str, *limits: Any) -> None:
    for limit in limits:
        if limit is not None:
            _finite(where, limit, ())


def _entries(where: str, value: Any, names: tuple[str, ...]) -> None:
    if not isinstance(value, dict) or not set(names) <= value.keys():
        raise expected(where, f"the entries {', '.join(names)}", value)


def _list(where: str, value: Any) -> Any:
    if not isinstance(value, list | tuple):
        raise expected(where, "a list", value)
    return value


def _link(where: str, value: Any, below: int) -> None:
    if not isinstance(value, int) or not 0 <= value < below:
        raise expected(where, f"a number from 0 to {below - 1}", value)


def _finite(where: str, value: Any, shape: tuple[int, ...]) -> None:
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise expected(where, f"numbers of shape {shape}", value) from None
    if array.shape != shape or not np.all(np.isfinite(array)):
        raise expected(where, f"finite numbers of shape {shape}", value)


def _within(where: str, values: np.ndarray, low: int, high: int) -> None:
    if len(values) and not low <= int(values.min()) <= int(values.max()) < high:
        raise InputError(f"{where}: expected numbers from {low} to {high - 1}, got {values.min()} to {values.max()}")
