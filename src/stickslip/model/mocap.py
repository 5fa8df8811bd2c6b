"""Mocap bodies: bodies without joints that are moved from outside, and what they carry.

A mocap body is part of the world (link 0). Its shapes, frames, and the sites of tendons, actuators and loops on it are
stored where the file has them, at the pose (x₀, R₀), and are moved by the motion from there to the pose (x, R):

    p ↦ T·p + t,    d ↦ T·d,    T = R·R₀ᵀ,    t = x − T·x₀        (points p, directions d, world axes)

A ``Model`` may be shared by simulations, so that each of them moves arrays of its own (``with_own_arrays``).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from stickslip.model.arrays import AT_SITE, SITE, SLIDER_CRANK
from stickslip.model.arrays import CYLINDER as WRAPPED_CYLINDER
from stickslip.model.arrays import SPHERE as WRAPPED_SPHERE
from stickslip.model.compile import rotation
from stickslip.model.loops import Constraint, Coupling
from stickslip.model.model import Model

Entry = tuple[np.ndarray, Any, np.ndarray]
"""(array, index, what stands there while the body is where the file has it)."""


def own_copy(array: np.ndarray) -> np.ndarray:
    """A read-only view of a copy; only ``writable`` leads to the copy."""
    view = array.copy().view()
    view.flags.writeable = False
    return view


def writable(array: np.ndarray) -> np.ndarray:
    """The array itself, or the copy behind a view of ``own_copy``."""
    return array if array.flags.writeable or array.base is None else array.base


class Carried:
    """Entries of arrays that one mocap body carries."""

    def __init__(self, pos: np.ndarray, rot: np.ndarray) -> None:
        self._pos, self._rot = pos, rot
        self._points: list[Entry] = []
        self._directions: list[Entry] = []
        self._frames: list[Entry] = []
        self._offsets: list[tuple[np.ndarray, Any, np.ndarray, np.ndarray]] = []

    def points(self, array: np.ndarray, index: Any) -> None:
        """``array[index]`` is a point, or points in rows."""
        self._points.append((writable(array), index, array[index].copy()))

    def directions(self, array: np.ndarray, index: Any) -> None:
        """``array[index]`` are directions in rows."""
        self._directions.append((writable(array), index, array[index].copy()))

    def frames(self, array: np.ndarray, index: Any) -> None:
        """``array[index]`` is a rotation matrix, or several."""
        self._frames.append((writable(array), index, array[index].copy()))

    def offsets(self, array: np.ndarray, index: Any, normals: np.ndarray) -> None:
        """``array[index]`` are the offsets d of planes n·x = d with these normals (n, 3) at the file's pose."""
        self._offsets.append((writable(array), index, array[index].copy(), normals.copy()))

    def place(self, pos: np.ndarray, rot: np.ndarray) -> None:
        """Move everything to where it is if the body is at ``pos`` (3,) and ``rot`` (3, 3)."""
        T = rot @ self._rot.T
        t = pos - T @ self._pos
        for array, index, base in self._points:
            array[index] = base @ T.T + t
        for array, index, base in self._directions:
            array[index] = base @ T.T
        for array, index, base in self._frames:
            array[index] = T @ base
        for array, index, base, normals in self._offsets:
            array[index] = base + normals @ (T.T @ t)


def carriers(model: Model) -> np.ndarray:
    """(nbody,) the mocap body that each body of the scene file is, or is fixed to; −1 for the others."""
    mj = model.mj
    found = np.full(mj.nbody, -1, dtype=np.int64)
    for b in range(1, mj.nbody):
        found[b] = mj.body_mocapid[b] if mj.body_mocapid[b] >= 0 else found[mj.body_parentid[b]]
        if mj.body_jntnum[b]:
            found[b] = -1
    return found


def home_poses(model: Model) -> np.ndarray:
    """(nm, 7) position [m] and quaternion of the mocap bodies in the scene file."""
    poses = np.zeros((len(model.mocap_names), 7))
    for m, name in enumerate(model.mocap_names):
        body = model.mj.body(name)
        poses[m] = [*body.pos, *body.quat]
    return poses


def make_carried(model: Model) -> list[Carried]:
    """Nothing yet for each of the mocap bodies."""
    return [Carried(pose[:3].copy(), rotation(pose[3:])) for pose in home_poses(model)]


def with_own_arrays(model: Model) -> Model:
    """A model with arrays of its own for what mocap bodies carry; the others are shared. It has the same hash, and
    setters change both (``follow_source``)."""
    if not model.mocap_names:
        return model
    own = replace(model)
    object.__setattr__(own, "source", model)
    object.__setattr__(own, "edits", model.edits)
    follow_source(own)
    return own


def follow_source(own: Model) -> None:
    """Take over what setters have changed in the model that ``own`` is a copy of, with mocap bodies at home."""
    model = own.source
    if model is None:
        return
    frames, tendons, actuators = model.frames, model.tendons, model.actuators
    parts = {
        "inertia": model.inertia,
        "joint_forces": model.joint_forces,
        "medium": model.medium,
        "activations": model.activations,
        "pairs": model.pairs,
        "frames": frames._replace(pos=own_copy(frames.pos), rot=own_copy(frames.rot)),
        "tendons": tendons._replace(
            pos=own_copy(tendons.pos), rot=own_copy(tendons.rot), side_pos=own_copy(tendons.side_pos)
        ),
        "actuators": actuators._replace(site_pos=own_copy(actuators.site_pos), site_rot=own_copy(actuators.site_rot)),
        "shapes": tuple(replace(shape, pos=own_copy(shape.pos), rot=own_copy(shape.rot)) for shape in model.shapes),
        "loops": tuple(_own_loop(loop) for loop in model.loops),
    }
    for name, part in parts.items():
        object.__setattr__(own, name, part)
    own.__dict__.pop("_pair_materials", None)
    own.__dict__["fingerprint"] = model.fingerprint  # of the scene, wherever its mocap bodies are


def _own_loop(loop: Constraint | Coupling) -> Constraint | Coupling:
    if not isinstance(loop, Constraint):
        return loop
    own = replace(loop)
    for name in ("pos1", "rot1", "motion"):
        object.__setattr__(own, name, own_copy(getattr(loop, name)))
    return own


def carry_model(model: Model, carried: list[Carried]) -> None:
    """Let mocap bodies carry their shapes, frames and sites in the model's own arrays; loops are moved by methods."""
    mj, on = model.mj, carriers(model)
    for s, shape in enumerate(model.shapes):
        if on[shape.body] >= 0:
            carried[on[shape.body]].points(model.shapes[s].pos, slice(None))
            carried[on[shape.body]].frames(model.shapes[s].rot, slice(None))
    body_of = np.concatenate([np.arange(mj.nbody), mj.site_bodyid]).astype(int)
    for f, b in enumerate(body_of):
        if on[b] >= 0:
            carried[on[b]].points(model.frames.pos, f)
            carried[on[b]].frames(model.frames.rot, f)
    tendons = model.tendons
    for e in range(mj.nwrap):
        kind, i = int(mj.wrap_type[e]), int(mj.wrap_objid[e])
        b = int(mj.site_bodyid[i]) if kind == SITE else 0
        if kind in (WRAPPED_SPHERE, WRAPPED_CYLINDER):
            b = int(mj.geom_bodyid[i])
        if on[b] >= 0:
            carried[on[b]].points(tendons.pos, e)
            carried[on[b]].frames(tendons.rot, e)
        side = round(float(mj.wrap_prm[e])) if tendons.side[e] else -1
        if side >= 0 and on[mj.site_bodyid[side]] >= 0:
            carried[on[mj.site_bodyid[side]]].points(tendons.side_pos, e)
    for k in np.flatnonzero(np.isin(model.actuators.transmission, (AT_SITE, SLIDER_CRANK))):
        for side, site in enumerate(mj.actuator_trnid[k].tolist()):
            if site >= 0 and on[mj.site_bodyid[site]] >= 0:
                carried[on[mj.site_bodyid[site]]].points(model.actuators.site_pos, (k, side))
                carried[on[mj.site_bodyid[site]]].frames(model.actuators.site_rot, (k, side))


def held_loops(model: Model) -> list[tuple[int, int]]:
    """(loop, mocap body) of the closed loops whose frame 1 is on a mocap body."""
    on = carriers(model)
    return [(k, int(on[loop.body1])) for k, loop in enumerate(model.closed_loops) if on[loop.body1] >= 0]
