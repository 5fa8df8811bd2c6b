"""Where the joints of a link have their anchor and axes."""

from __future__ import annotations

from stickslip._jit import kernel
from stickslip.math.spatial import rotate
from stickslip.model.arrays import HINGE, SLIDE


@kernel
def anchor_joint(tree, b):
    """The joint whose anchor is that of link b: its first rotational joint, or else its first joint."""
    for j in range(tree.joint_start[b], tree.joint_start[b + 1]):
        if tree.joint_type[j] != SLIDE:
            return j
    return tree.joint_start[b]


@kernel
def hinges_of(tree, b):
    """The first hinge of link b, and the number of its hinges, which follow each other in a stack of joints."""
    number, first = 0, tree.joint_start[b]
    for j in range(tree.joint_start[b + 1] - 1, tree.joint_start[b] - 1, -1):
        if tree.joint_type[j] == HINGE:
            first = j
            number += 1
    return first, number


@kernel
def parent_axis(tree, kin, b, u, j):
    """The axis of joint j, fixed to link b's parent, in world axes."""
    x, y, z = rotate(tree.link_rot, b, u[j, 0], u[j, 1], u[j, 2])
    return rotate(kin.rot, tree.parent[b], x, y, z)
