"""Joints between free bodies: those of a model's tree, and those given one by one (closed loops, welded bodies).

A link's joints in the model become one joint to its parent:

| in the model | here |
| --- | --- |
| hinge | revolute |
| slide | prismatic |
| ball | spherical |
| hinge and slide along one axis | cylindrical |
| two hinges at right angles through one point | universal |
| two hinges at right angles whose axes do not meet | universal with offset |
| two slides and a hinge at right angles to both | planar |
| other stacks: slides at right angles to each other, then hinges through one point or a ball | the rows that are left |
| three slides, then three hinges or a ball | a joint without rows, for what acts in it |
| free | none |

In a stack of hinges each axis is at right angles to the next one. Three hinges are free to turn like a ball, and their
angles are those of ``maximal.three_hinges``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from stickslip.dynamics.data import make_data
from stickslip.dynamics.kinematics import forward_kinematics
from stickslip.errors import InputError, expected, one_of
from stickslip.maximal.joint_types import JOINT_ROWS, OFFSET_UNIVERSAL, TURN_ROWS, Row, shift_rows
from stickslip.model.arrays import BALL, FREE, HINGE, SLIDE
from stickslip.model.body import vector
from stickslip.model.model import Model

SQUARE = 1e-9
"""Largest sine (cosine) of the angle between axes that count as parallel (perpendicular)."""
SAME_POINT = 1e-12
"""Largest distance between the anchors of hinges that go through one point [m]."""
LOCKED = 1e-3
"""Smallest sine of the angle between the first and the last of three hinges, at which they are not in gimbal lock."""
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
    offset: np.ndarray
    """(nj,) c of an offset row [m]; else 0."""


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
    rows: tuple[Row, ...]
    offset: float = 0.0


def frame_of_axis(z: np.ndarray, x: np.ndarray | None = None) -> np.ndarray:
    """(3, 3) right-handed frame with columns x, y, z; x is chosen if it is not given."""
    z = z / np.linalg.norm(z)
    if x is None:
        x = np.cross(np.eye(3)[np.argmin(np.abs(z))], z)
    x = x - (x @ z) * z
    x = x / np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)


def _frame_of_stack(slides: np.ndarray, hinges: np.ndarray) -> np.ndarray | None:
    """(3, 3) columns: the axes of F for slides (k, 3) and then hinges (m, 3) or a ball; None if there is no such frame.

    The hinges come first: z is the first of up to two, x the second. What they leave open, the slides decide."""
    corner = np.cross(slides[0], slides[1]) if len(slides) == 2 else slides[0] if len(slides) == 1 else None
    if len(hinges) == 2:
        frame = frame_of_axis(hinges[0], hinges[1])
    elif len(hinges) == 1:
        across = corner is not None and abs(corner @ hinges[0]) < SQUARE
        frame = frame_of_axis(hinges[0], corner if across else None)
    elif corner is not None:
        frame = frame_of_axis(corner)
    else:
        frame = np.eye(3)
    fits = corner is None or np.isclose(np.abs(frame.T @ corner).max(), 1.0, rtol=0.0, atol=SQUARE)
    return frame if fits else None


def _offset_universal(model: Model, b: int) -> Placed | None:
    """Two hinges at right angles whose axes do not meet; None if the joints of link b are others."""
    tree = model.tree
    joints = range(tree.joint_start[b], tree.joint_start[b + 1])
    if [int(tree.joint_type[j]) for j in joints] != [HINGE, HINGE]:
        return None
    (u1, u2), (c1, c2), R = tree.joint_axis[joints], tree.joint_pos[joints], tree.link_rot[b]
    if abs(u1 @ u2) >= SQUARE:
        return None
    frame = frame_of_axis(u1, u2)
    p1, p2 = c1 + ((c2 - c1) @ u1) * u1, c2 + ((c1 - c2) @ u2) * u2  # the ends of the common perpendicular
    kind, offset = "universal with offset", float((p2 - p1) @ np.cross(u1, u2))
    at, parent, name = tree.link_pos[b] + R @ p1, int(tree.parent[b]), model.link_names[b]
    return Placed(kind, parent, b, at, p2, R @ frame, frame, name, OFFSET_UNIVERSAL, offset)


def _is_stack(types: Sequence[int], axes: np.ndarray, anchors: np.ndarray) -> bool:
    """Whether joints are slides at right angles, followed by hinges through one point, each axis at right angles to the
    next, or by a ball."""
    slides = [k for k, kind in enumerate(types) if kind == SLIDE]
    turns = list(range(len(slides), len(types)))
    if slides != list(range(len(slides))) or len(slides) > 3 or len(turns) > 3:
        return False
    if any(types[k] != HINGE for k in turns) and [types[k] for k in turns] != [BALL]:
        return False
    square = [abs(axes[i] @ axes[j]) < SQUARE for i in slides for j in slides if i < j]
    square += [abs(axes[k] @ axes[k + 1]) < SQUARE for k in turns[:-1]]
    if len(turns) == 3:  # they must not begin in gimbal lock
        square.append(bool(np.linalg.norm(np.cross(axes[turns[0]], axes[turns[2]])) > LOCKED))
    return all(square) and (len(turns) < 2 or np.ptp(anchors[turns], axis=0).max() < SAME_POINT)


def tree_joint(model: Model, b: int) -> Placed | None:
    """The joint between link b and its parent; None if it is free."""
    tree = model.tree
    joints = range(tree.joint_start[b], tree.joint_start[b + 1])
    types = [int(tree.joint_type[j]) for j in joints]
    if types == [FREE]:
        return None
    axes, frame = tree.joint_axis[joints], None
    slides, hinges = (np.array([j for j in joints if tree.joint_type[j] == kind], dtype=int) for kind in (SLIDE, HINGE))
    if types == [HINGE, SLIDE] and np.linalg.norm(np.cross(axes[0], axes[1])) < SQUARE:  # the order does not matter
        frame = frame_of_axis(axes[0])
    elif _is_stack(types, axes, tree.joint_pos[joints]):
        turns = tree.joint_axis[hinges] if len(hinges) < 3 else np.zeros((0, 3))
        frame = _frame_of_stack(tree.joint_axis[slides], turns)
    else:
        apart = _offset_universal(model, b)
        if apart is not None:
            return apart
    if frame is None:
        names = ", ".join(f"{model.joint_names[j]!r} ({TYPE_NAMES[int(tree.joint_type[j])]})" for j in joints)
        raise InputError(
            f"link {model.link_names[b]!r}: maximal coordinates expected slides at right angles, then a ball, or "
            f"hinges at right angles (three: through one point), got {names:.100}; put bodies in between, or use "
            "joint coordinates"
        )
    free = np.abs(frame.T @ tree.joint_axis[slides].T).max(axis=1, initial=0.0) > 0.5
    turning = 3 if BALL in types else len(hinges)
    rows = (*shift_rows(free), *TURN_ROWS[turning])
    turns = [j for j in joints if tree.joint_type[j] != SLIDE]
    anchor = tree.joint_pos[turns[0] if turns else joints[0]]
    kind = next((name for name, known in JOINT_ROWS.items() if known == rows), "stack")
    R = tree.link_rot[b]
    name = model.joint_names[joints[0]] if len(joints) == 1 else model.link_names[b]
    pos1 = tree.link_pos[b] + R @ anchor
    return Placed(kind, int(tree.parent[b]), b, pos1, anchor, R @ frame, frame, name, rows)


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
        joint.kind, a, b, rot[a].T @ (p - pos[a]), rot[b].T @ (p - pos[b]), rot[a].T @ frame, rot[b].T @ frame, name,
        JOINT_ROWS[joint.kind],
    )  # fmt: skip


def build_joints(model: Model, extra: Sequence[Joint] = ()) -> tuple[Joints, tuple[str, ...], tuple[str, ...]]:
    """All joints: those of the tree, by link, then the model's loops, then extra ones; with their names and types."""
    found = (tree_joint(model, b) for b in range(1, model.nlink))
    placed = [joint for joint in found if joint is not None]
    placed += [
        Placed(LOOPS[c.kind], c.link1, c.link2, c.pos1, c.pos2, c.rot1, c.rot2, c.name, JOINT_ROWS[LOOPS[c.kind]])
        for c in model.closed_loops
    ]
    if extra:
        kin = make_data(model).kin
        forward_kinematics(model.tree, model.state().q, kin)
        for joint in extra:
            if not isinstance(joint, Joint):
                raise expected("extra joint", "a Joint", type(joint).__name__, 'Joint("fixed", "a", "b", anchor=…)')
            placed.append(extra_joint(model, joint, kin.pos, kin.rot))
    rows = [(j, row) for j, joint in enumerate(placed) for row in joint.rows]
    start = np.cumsum([0, *(len(joint.rows) for joint in placed)])

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
        offset=real(p.offset for p in placed),
    )
    return joints, tuple(p.name for p in placed), tuple(p.kind for p in placed)
