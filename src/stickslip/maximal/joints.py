"""Joints between free bodies: those of a model's tree, and those given one by one (closed loops, welded bodies).

A link's joints in the model become one joint to its parent:

| in the model | here |
| --- | --- |
| hinge | revolute |
| slide | prismatic |
| ball | spherical |
| hinge and slide along one axis | cylindrical |
| two hinges at right angles through one point | universal |
| two slides and a hinge at right angles to both | planar |
| free | none |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from stickslip.dynamics.data import make_data
from stickslip.dynamics.kinematics import forward_kinematics
from stickslip.errors import InputError, expected, one_of
from stickslip.maximal.joint_types import JOINT_ROWS
from stickslip.model.arrays import BALL, FREE, HINGE, SLIDE
from stickslip.model.body import vector
from stickslip.model.model import Model

SQUARE = 1e-9
"""Largest sine (cosine) of the angle between axes that count as parallel (perpendicular)."""
SAME_POINT = 1e-12
"""Largest distance between the anchors of a universal joint [m]."""
LOOPS = {"connect": "spherical", "weld": "fixed"}
"""The joint types of the model's loops (``model.loops``)."""
TYPE_NAMES = {FREE: "free", BALL: "ball", SLIDE: "slide", HINGE: "hinge"}


class Joints(NamedTuple):
    """The nj joints of a model and their nb rows, as kernels see them."""

    link1: np.ndarray
    """(nj,) the parent, or the world."""
    link2: np.ndarray
    """(nj,) the child; never the world."""
    start: np.ndarray
    """(nj + 1,) joint j has the rows start[j] … start[j + 1] − 1."""
    pos1: np.ndarray
    """(nj, 3) p₁ in the frame of link 1 [m]."""
    pos2: np.ndarray
    """(nj, 3) p₂ in the frame of link 2 [m]."""
    rot1: np.ndarray
    """(nj, 3, 3) columns: the axes of F₁ in the frame of link 1."""
    rot2: np.ndarray
    """(nj, 3, 3) columns: the axes of F₂ in the frame of link 2."""
    joint: np.ndarray
    """(nb,) the joint that the row belongs to."""
    kind: np.ndarray
    """(nb,) TRANSLATION or ROTATION."""
    axis1: np.ndarray
    """(nb,) axis of F₁."""
    axis2: np.ndarray
    """(nb,) axis of F₂."""


@dataclass(frozen=True)
class Joint:
    """A joint that is not in the model's tree: ``Joint("revolute", "crank", "rocker", anchor=(0, 0, 1))``.

    Anchor and axes are given in the model's initial configuration (``model.state()``), where the joint is closed.
    """

    kind: str
    """One of ``JOINT_ROWS``."""
    link1: str | int
    """Name of a body of the scene, or index of a link; "world" or 0 is the world."""
    link2: str | int
    anchor: Sequence[float] | np.ndarray = (0.0, 0.0, 0.0)
    """(3,) position [m, world]."""
    axis: Sequence[float] | np.ndarray = (0.0, 0.0, 1.0)
    """(3,) direction of z [world]."""
    axis2: Sequence[float] | np.ndarray | None = None
    """(3,) second axis of a universal joint, at right angles to the first [world]."""
    name: str = ""


class Placed(NamedTuple):
    """A joint with its two frames."""

    kind: str
    link1: int
    link2: int
    pos1: np.ndarray
    pos2: np.ndarray
    rot1: np.ndarray
    rot2: np.ndarray
    name: str


def frame_of_axis(z: np.ndarray, x: np.ndarray | None = None) -> np.ndarray:
    """(3, 3) right-handed frame with columns x, y, z; x is chosen if it is not given."""
    z = z / np.linalg.norm(z)
    if x is None:
        x = np.cross(np.eye(3)[np.argmin(np.abs(z))], z)
    x = x - (x @ z) * z
    x = x / np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)


def tree_joint(model: Model, b: int) -> Placed | None:
    """The joint between link b and its parent; None if it is free."""
    tree = model.tree
    joints = range(tree.joint_start[b], tree.joint_start[b + 1])
    kinds = [int(tree.joint_type[j]) for j in joints]
    if kinds == [FREE]:
        return None
    axes = {j: tree.joint_axis[j] for j in joints}
    slides, hinges = ([j for j in joints if tree.joint_type[j] == kind] for kind in (SLIDE, HINGE))
    anchor = tree.joint_pos[hinges[0] if hinges else joints[0]]

    def square(i: int, j: int) -> bool:
        return abs(axes[i] @ axes[j]) < SQUARE

    if kinds == [HINGE]:
        kind, frame = "revolute", frame_of_axis(axes[joints[0]])
    elif kinds == [SLIDE]:
        kind, frame = "prismatic", frame_of_axis(axes[joints[0]])
    elif kinds == [BALL]:
        kind, frame = "spherical", np.eye(3)
    elif sorted(kinds) == [SLIDE, HINGE] and np.linalg.norm(np.cross(axes[slides[0]], axes[hinges[0]])) < SQUARE:
        kind, frame = "cylindrical", frame_of_axis(axes[hinges[0]])
    elif kinds == [HINGE, HINGE] and square(*joints) and np.ptp(tree.joint_pos[joints], axis=0).max() < SAME_POINT:
        kind, frame = "universal", frame_of_axis(axes[joints[0]], axes[joints[1]])
    elif kinds == [SLIDE, SLIDE, HINGE] and square(*slides) and all(square(s, hinges[0]) for s in slides):
        kind, frame = "planar", frame_of_axis(axes[hinges[0]])
    else:
        names = " and ".join(f"{model.joint_names[j]!r} ({TYPE_NAMES[int(tree.joint_type[j])]})" for j in joints)
        raise InputError(
            f"joints of link {model.link_names[b]!r}: maximal coordinates expected a hinge, a slide, a ball, a free "
            "joint, hinge and slide along one axis, two hinges at right angles through one point, or two slides and a "
            f"hinge at right angles, got {names}; put bodies in between, or use joint coordinates"
        )
    R = tree.link_rot[b]
    name = model.joint_names[joints[0]] if len(joints) == 1 else model.link_names[b]
    return Placed(kind, int(tree.parent[b]), b, tree.link_pos[b] + R @ anchor, anchor, R @ frame, frame, name)


def link_number(model: Model, what: str, link: str | int) -> int:
    if isinstance(link, str):
        return model.link(link)
    if isinstance(link, bool) or not 0 <= int(link) < model.nlink:
        raise expected(what, f"a body's name, or a link from 0 to {model.nlink - 1}", link)
    return int(link)


def extra_joint(model: Model, joint: Joint, pos: np.ndarray, rot: np.ndarray) -> Placed:
    """The frames of a joint that is given in world coordinates while the links are at ``pos``, ``rot``."""
    one_of("joint type", joint.kind, JOINT_ROWS)
    what = f"{joint.kind} joint {joint.name!r}" if joint.name else f"{joint.kind} joint"
    a, b = link_number(model, f"link1 of a {what}", joint.link1), link_number(model, f"link2 of a {what}", joint.link2)
    if a == b:
        raise expected(what, "two different links", (joint.link1, joint.link2), "bodies without joints are one link")
    p, z = vector(f"anchor of a {what}", joint.anchor, 3), vector(f"axis of a {what}", joint.axis, 3)
    x = None
    if joint.kind == "universal":
        if joint.axis2 is None:
            raise expected(f"axis2 of a {what}", "the second axis", None)
        x = vector(f"axis2 of a {what}", joint.axis2, 3)
        if abs(x @ z) > SQUARE * np.linalg.norm(x) * np.linalg.norm(z):
            raise expected(f"axis2 of a {what}", "an axis at right angles to the first", tuple(x))
    if not np.any(z) or (x is not None and not np.any(x)):
        raise expected(f"axis of a {what}", "a direction", tuple(z))
    frame = frame_of_axis(z, x)
    if b == 0:  # the world comes first; exchanging the links also exchanges the two axes of a universal joint
        a, b, frame = b, a, frame if x is None else frame_of_axis(x, z)
    name = joint.name or f"{joint.kind} {model.link_names[a]}–{model.link_names[b]}"
    return Placed(
        joint.kind, a, b, rot[a].T @ (p - pos[a]), rot[b].T @ (p - pos[b]), rot[a].T @ frame, rot[b].T @ frame, name
    )


def build_joints(model: Model, extra: Sequence[Joint] = ()) -> tuple[Joints, tuple[str, ...], tuple[str, ...]]:
    """All joints: those of the tree, by link, then the model's loops, then extra ones; with their names and types."""
    found = (tree_joint(model, b) for b in range(1, model.nlink))
    placed = [joint for joint in found if joint is not None]
    placed += [
        Placed(LOOPS[c.kind], c.link1, c.link2, c.pos1, c.pos2, c.rot1, c.rot2, c.name) for c in model.closed_loops
    ]
    if extra:
        kin = make_data(model).kin
        forward_kinematics(model.tree, model.state().q, kin)
        for joint in extra:
            if not isinstance(joint, Joint):
                raise expected("extra joint", "a Joint", type(joint).__name__, 'Joint("fixed", "a", "b", anchor=…)')
            placed.append(extra_joint(model, joint, kin.pos, kin.rot))
    rows = [(j, row) for j, joint in enumerate(placed) for row in JOINT_ROWS[joint.kind]]
    start = np.cumsum([0, *(len(JOINT_ROWS[joint.kind]) for joint in placed)])

    def whole(values) -> np.ndarray:
        return np.array(list(values), dtype=np.int64)

    def real(values, *shape: int) -> np.ndarray:
        return np.ascontiguousarray(np.array(list(values), dtype=float).reshape(-1, *shape))

    joints = Joints(
        link1=whole(p.link1 for p in placed),
        link2=whole(p.link2 for p in placed),
        start=start.astype(np.int64),
        pos1=real((p.pos1 for p in placed), 3),
        pos2=real((p.pos2 for p in placed), 3),
        rot1=real((p.rot1 for p in placed), 3, 3),
        rot2=real((p.rot2 for p in placed), 3, 3),
        joint=whole(j for j, _ in rows),
        kind=whole(row.kind for _, row in rows),
        axis1=whole(row.axis1 for _, row in rows),
        axis2=whole(row.axis2 for _, row in rows),
    )
    return joints, tuple(p.name for p in placed), tuple(p.kind for p in placed)
