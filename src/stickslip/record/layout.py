"""Layout of recordings: the table of fields that the writer, the in-memory log and the reader share.

A *frame* is one recorded instant. The number of contacts varies, so they are stored one after another in flat arrays,
and frame i has the contacts ``start[i] … start[i + 1] − 1``. ``contact/start`` therefore has one entry more than there
are frames and begins with 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

FORMAT = 1
"""Raised when a reader of the previous format could misread a file; adding a field does not raise it."""

OUTCOMES = ("complete", "interrupted", "diverged")
"""How a run can end; until then the file says "running"."""


class Sizes(NamedTuple):
    """The sizes of a model that the shapes below depend on."""

    nl: int
    """Links, the world included."""
    nq: int
    nv: int
    nu: int
    nc: int = 0
    """Joints that are constraints (maximal coordinates)."""
    na: int = 0
    """Activations of actuators."""
    ns: int = 0
    """Values of all sensors."""


class Field(NamedTuple):
    """One array of a recording; the first axis, frames or contacts, is not part of ``shape``."""

    name: str
    shape: Callable[[Sizes], tuple[int, ...]]
    dtype: str
    unit: str
    meaning: str


def _scalar(_: Sizes) -> tuple[int, ...]:
    return ()


def _vector(_: Sizes) -> tuple[int, ...]:
    return (3,)


# ``time`` is last because it is written last: a frame whose time is in the file is complete.
FRAME = (
    Field("q", lambda n: (n.nq,), "f8", "m, rad or 1", "joint coordinates, laid out as MuJoCo's qpos"),
    Field("v", lambda n: (n.nv,), "f8", "m/s or rad/s", "joint velocities, laid out as MuJoCo's qvel"),
    Field("control", lambda n: (n.nu,), "f8", "per actuator", "controls applied in the step that led here"),
    Field("act", lambda n: (n.na,), "f8", "per activation", "activations of actuators with dynamics of their own"),
    Field("pose", lambda n: (n.nl, 7), "f8", "m and 1", "link frames in the world: x y z, quaternion w x y z"),
    Field("energy", _vector, "f8", "J", "kinetic, potential (gravity), elastic (springs of joints and tendons)"),
    Field("contact_energy", _scalar, "f8", "J", "elastic energy in contact springs"),
    Field("steps", _scalar, "i8", "1", "steps taken since the start"),
    Field("wall", _scalar, "f8", "s", "computing time since the start"),
    Field("status", _scalar, "i4", "1", "status code of the step; 0 is good"),
    Field("iterations", _scalar, "i4", "1", "solver iterations of the step"),
    Field("residual", _scalar, "f8", "as the solver's", "solver residual of the step"),
    Field("unconverged", _scalar, "i8", "1", "steps so far whose solver did not reach its tolerance"),
    Field("joint_error", lambda n: (n.nc, 2), "f8", "m or rad, m/s or rad/s",
          "position and velocity error of each joint that is a constraint: the largest of its rows"),
    Field("sensor", lambda n: (n.ns,), "f8", "per sensor", "values of all sensors, one sensor after another"),
    Field("time", _scalar, "f8", "s", "simulated time"),
)  # fmt: skip

CONTACT = (
    Field("pair", _scalar, "i4", "1", "index of the pair of shapes"),
    Field("link1", _scalar, "i4", "1", "link of body 1; the world is link 0 and comes first"),
    Field("link2", _scalar, "i4", "1", "link of body 2, on which the force acts"),
    Field("point", _vector, "f8", "m", "contact point in world axes"),
    Field("normal", _vector, "f8", "1", "unit normal from body 1 to body 2 in world axes"),
    Field("tangent", _vector, "f8", "1", "tangent 1 in world axes; tangent 2 = normal × tangent 1"),
    Field("gap", _scalar, "f8", "m", "distance; negative when penetrating"),
    Field("force", _vector, "f8", "N", "force on body 2: normal, tangent 1, tangent 2"),
    Field("velocity", _vector, "f8", "m/s", "velocity of body 2 relative to body 1: normal, tangent 1, tangent 2"),
    Field("friction", _scalar, "f8", "1", "Coulomb coefficient μ of the pair"),
)

START = Field("contact/start", _scalar, "i8", "1", "frame i has the contacts start[i] … start[i + 1] − 1")


def flat(name: str) -> str:
    """The path of a contact field in a recording."""
    return f"contact/{name}"


PATHS = (*(flat(f.name) for f in CONTACT), START.name, *(f.name for f in FRAME))
"""Every array of a recording in the order of writing."""

ADDED_LATER = frozenset({"joint_error", "unconverged", "act", "sensor"})
"""Fields that recordings of earlier versions lack; they read as empty or 0."""

FRAME_NAMES = frozenset(f.name for f in FRAME)
CONTACT_NAMES = frozenset(f.name for f in CONTACT)


def table() -> dict[str, Field]:
    """Path → field, in the order of writing."""
    return dict(zip(PATHS, (*CONTACT, START, *FRAME), strict=True))


def complete_frames(arrays: dict[str, Any]) -> int:
    """Number of complete frames; a killed process may leave some arrays longer than others."""
    contacts = min(arrays[flat(f.name)].shape[0] for f in CONTACT)
    frames = min(arrays[START.name].shape[0] - 1, *(arrays[f.name].shape[0] for f in FRAME))
    ends = np.asarray(arrays[START.name][1 : frames + 1])
    return int(np.searchsorted(ends, contacts, side="right"))
