"""ProblemFrame: the contact problem of one time step, independent of the simulation that it came from.

The fields, their names and shapes are those of the HDF5 convention of the solver-comparison papers, which Williams et
al., Sec. 5.2, use: bodies in maximal coordinates, contacts, bilateral constraints. With the velocities V (6n,), the
forces f and the block-diagonal mass matrix M of a frame, a time step of length h is

    M·(V⁺ − V) = h·f + Gᵀ·p

for constraint and contact impulses p that a formulation and a solver find (``lab.problems.rebuild``).

Where the convention leaves a choice: the normal points from the first to the second body of a pair; the gap is positive
for separate bodies; the point is common to both; the angular velocity is in world axes; inertia tensors are about
centres of mass; a constraint's Jacobian gives the velocity whose position is its violation; ``rows`` says how many rows
each constraint has; the world, id −1, is the first body of a pair.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, NamedTuple, get_type_hints

import numpy as np

from stickslip.errors import expected

WORLD = -1
"""The id of the world in pairs."""
DYNAMIC, STATIC = 1, -1
"""Values of ``states`` of bodies."""
UNIT = 1e-6
"""Largest deviation of quaternions and normals from unit length."""


class Column(NamedTuple):
    """Shape, type and meaning of an array of a frame."""

    shape: tuple[str | int, ...]
    """ "n" stands for the number of bodies, "6n" for six times as many, and so on."""
    unit: str
    meaning: str
    dtype: type = float


@dataclass(frozen=True, eq=False)
class Bodies:
    """n bodies in maximal coordinates."""

    positions: Annotated[np.ndarray, Column(("n", 3), "m", "centres of mass, world axes")]
    quaternions: Annotated[np.ndarray, Column(("n", 4), "1", "orientations (w, x, y, z), unit length")]
    velocities: Annotated[
        np.ndarray,
        Column(
            ("6n",),
            "m/s, rad/s",
            "per body: linear velocity of the centre of mass, angular velocity; both in world axes",
        ),
    ]
    forces: Annotated[
        np.ndarray,
        Column(
            ("6n",),
            "N, N m",
            "per body: force and torque about the centre of mass, world axes; gravity, gyroscopic and applied forces, "
            "forces in joints, but no reactions of constraints and contacts",
        ),
    ]
    masses: Annotated[np.ndarray, Column(("n",), "kg", "masses")]
    world_inertia_tensors: Annotated[
        np.ndarray,
        Column(("3n", 3), "kg m^2", "three rows per body: inertia tensor about the centre of mass, world axes"),
    ]
    ids: Annotated[np.ndarray, Column(("n",), "1", "names of the bodies in pairs, from 1 on", int)]
    states: Annotated[np.ndarray, Column(("n",), "1", "1: dynamic, -1: static", int)]


@dataclass(frozen=True, eq=False)
class ContactRows:
    """nc contacts: 5-tuples (body 1, body 2, point, normal, gap) and friction."""

    points: Annotated[np.ndarray, Column(("nc", 3), "m", "contact points, world axes")]
    normals: Annotated[np.ndarray, Column(("nc", 3), "1", "unit normals from the first to the second body, world axes")]
    gaps: Annotated[np.ndarray, Column(("nc",), "m", "distances along the normal, negative in penetration")]
    mu_s: Annotated[np.ndarray, Column(("nc", 2), "1", "static friction coefficients along two tangents")]
    mu_k: Annotated[
        np.ndarray, Column(("nc", 3), "1", "kinetic friction coefficients along two tangents, and of spinning")
    ]
    pairs: Annotated[np.ndarray, Column(("nc", 2), "1", "ids of the first and second body, -1: the world", int)]


@dataclass(frozen=True, eq=False)
class Constraints:
    """k constraints (joints, joint limits) with r rows altogether."""

    rows: Annotated[np.ndarray, Column(("k",), "1", "number of rows of each constraint", int)]
    violations: Annotated[np.ndarray, Column(("r",), "m or rad", "position errors; of a limit, how far away it is")]
    time_derivative: Annotated[
        np.ndarray,
        Column(("r",), "m/s or rad/s", "velocity that the constraint prescribes, Jacobian·V + time_derivative = 0"),
    ]
    bounds: Annotated[
        np.ndarray,
        Column(
            ("r", 2),
            "N s or N m s",
            "least and greatest impulse: infinite of a joint, 0 and ∞ of a limit, ±f·h of dry friction",
        ),
    ]
    pairs: Annotated[np.ndarray, Column(("k", 2), "1", "ids of the first and second body, -1: the world", int)]
    Jacobian: Annotated[
        np.ndarray,
        Column(
            ("r", 12), "1 or m", "per row: linear and angular velocity of body 1, linear and angular velocity of body 2"
        ),
    ]


GROUPS: dict[str, type] = {"bodies": Bodies, "contacts": ContactRows, "constraints": Constraints}


@dataclass(frozen=True, eq=False)
class ProblemFrame:
    """All data that define the contact problem of a time step, checked on construction."""

    timestep: float
    """[s]."""
    bodies: Bodies
    contacts: ContactRows
    constraints: Constraints
    tangents: np.ndarray | None = None
    """(nc, 3) first tangents, world axes; None for any. The convention does not define this and the next two, which are
    stored under ``solver_data/stickslip``."""
    restitution: np.ndarray | None = None
    """(nc,) Newton's coefficients; None for 0."""
    groups: np.ndarray | None = None
    """(ng + 1,) the subcontacts of group g are groups[g] … groups[g + 1] − 1; None if each contact is a group."""
    solver_data: Mapping[str, Mapping[str, np.ndarray]] = field(default_factory=dict)
    """Residual histories and the like, by solver and name."""
    time: float = 0.0
    """Time at the beginning of the step [s]."""
    step: int = 0
    """Number of steps since the start."""

    def __post_init__(self) -> None:
        check(self)


@cache
def columns(kind: type) -> dict[str, Column]:
    """The arrays of ``Bodies``, ``ContactRows`` or ``Constraints`` by name."""
    return {name: hint.__metadata__[0] for name, hint in get_type_hints(kind, include_extras=True).items()}


def empty(kind: type) -> Any:
    """An empty table of bodies, contacts or constraints."""
    shapes = {name: [size if isinstance(size, int) else 0 for size in c.shape] for name, c in columns(kind).items()}
    return kind(**{name: np.zeros(shape) for name, shape in shapes.items()})


def check(frame: ProblemFrame) -> None:
    """Convert arrays to float64 and int64; raise an error for wrong shapes, non-finite numbers and unknown ids."""
    sizes = _sizes(frame)
    for group, kind in GROUPS.items():
        part = getattr(frame, group)
        for name, column in columns(kind).items():
            value = _numbers(f"{group}/{name}", getattr(part, name), column.dtype)
            wanted = tuple(k if isinstance(k, int) else sizes[k] for k in column.shape)
            if value.shape != wanted:
                raise expected(f"{group}/{name}", f"shape {wanted}", value.shape)
            if not np.all(np.isfinite(value)) and name != "bounds":
                raise expected(f"{group}/{name}", "finite numbers", "NaN or infinity")
            object.__setattr__(part, name, value)
    if not (np.isfinite(frame.timestep) and frame.timestep > 0.0):
        raise expected("timestep", "a positive number of seconds", frame.timestep)
    _check_bodies(frame.bodies)
    _check_unit("contacts/normals", frame.contacts.normals)
    known = {WORLD, *frame.bodies.ids.tolist()}
    for group, pairs in (("contacts", frame.contacts.pairs), ("constraints", frame.constraints.pairs)):
        strangers = set(pairs.ravel().tolist()) - known
        if strangers:
            raise expected(f"{group}/pairs", "ids of bodies, or -1 for the world", sorted(strangers)[0])
    if np.any(frame.contacts.mu_s < 0.0) or np.any(frame.contacts.mu_k < 0.0):
        raise expected(
            "contacts/mu_s and mu_k", "numbers ≥ 0", min(frame.contacts.mu_s.min(), frame.contacts.mu_k.min())
        )
    bounds = frame.constraints.bounds
    if np.any(np.isnan(bounds)) or np.any(bounds[:, 0] > bounds[:, 1]):
        raise expected("constraints/bounds", "lower ≤ upper", "a lower bound above its upper one, or NaN")
    _check_extras(frame, sizes["nc"])


def _sizes(frame: ProblemFrame) -> dict[str, int]:
    n, nc = len(np.atleast_1d(frame.bodies.ids)), len(np.atleast_1d(frame.contacts.gaps))
    rows = _numbers("constraints/rows", frame.constraints.rows, int)
    if np.any(rows < 0):
        raise expected("constraints/rows", "numbers of rows ≥ 0", int(rows.min()))
    return {"n": n, "3n": 3 * n, "6n": 6 * n, "nc": nc, "k": rows.size, "r": int(rows.sum())}


def _numbers(what: str, value: Any, dtype: type) -> np.ndarray:
    array = np.asarray(value)
    if array.dtype.kind not in "iufb":
        raise expected(what, "numbers", str(array.dtype))
    if dtype is int and array.dtype.kind == "f" and not np.array_equal(array, np.round(array)):
        raise expected(what, "whole numbers", "fractions")
    return np.ascontiguousarray(array, dtype=np.int64 if dtype is int else np.float64)


def _check_bodies(bodies: Bodies) -> None:
    if len(set(bodies.ids.tolist())) != len(bodies.ids) or np.any(bodies.ids < 1):
        raise expected("bodies/ids", "different numbers from 1 on", bodies.ids.tolist())
    if not np.all(np.isin(bodies.states, (DYNAMIC, STATIC))):
        raise expected("bodies/states", "1 (dynamic) or -1 (static)", sorted(set(bodies.states.tolist())))
    _check_unit("bodies/quaternions", bodies.quaternions)
    moving = bodies.states == DYNAMIC
    if np.any(bodies.masses[moving] <= 0.0):
        raise expected("bodies/masses", "positive masses of dynamic bodies", float(bodies.masses[moving].min()))
    tensors = bodies.world_inertia_tensors.reshape(-1, 3, 3)[moving]
    if np.any(np.linalg.eigvalsh(0.5 * (tensors + tensors.transpose(0, 2, 1))) <= 0.0):
        raise expected("bodies/world_inertia_tensors", "positive definite tensors of dynamic bodies", "another one")


def _check_unit(what: str, vectors: np.ndarray) -> None:
    length = np.linalg.norm(vectors, axis=1)
    bad = np.flatnonzero(np.abs(length - 1.0) > UNIT)
    if len(bad):
        raise expected(f"{what}[{bad[0]}]", "unit length", round(float(length[bad[0]]), 9))


def _check_extras(frame: ProblemFrame, nc: int) -> None:
    for name, shape, dtype in (("tangents", (nc, 3), float), ("restitution", (nc,), float), ("groups", None, int)):
        value = getattr(frame, name)
        if value is None:
            continue
        array = _numbers(name, value, dtype)
        if shape is not None and array.shape != shape:
            raise expected(name, f"shape {shape}", array.shape)
        if not np.all(np.isfinite(array)):
            raise expected(name, "finite numbers", "NaN or infinity")
        object.__setattr__(frame, name, array)
    groups = frame.groups
    if groups is not None and (groups.ndim != 1 or groups[0] != 0 or groups[-1] != nc or np.any(np.diff(groups) < 1)):
        raise expected("groups", f"rising numbers from 0 to {nc}", groups.tolist())
