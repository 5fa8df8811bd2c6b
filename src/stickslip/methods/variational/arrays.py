"""The arrays of a variational step as kernels see them: constants, unknowns, rows of joints, contacts, Newton's system.

Sizes: nl links (the world is 0), nn joint nodes with m rows in all, nb held (rigid) rows, nlim limits, up to N
contacts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip.methods.variational.bodies import Centred, Pose, make_pose
from stickslip.methods.variational.contact.cones import Cones, make_cones
from stickslip.methods.variational.contact.points import Points, make_points
from stickslip.methods.variational.contact.spin import Spin, make_spin
from stickslip.methods.variational.graph.block_graph import Symbolic
from stickslip.methods.variational.joints.coupling_nodes import CouplingNodes
from stickslip.methods.variational.joints.dry_friction import Rubbing, make_rubbing
from stickslip.methods.variational.joints.joint_nodes import JointNodes


class Mechanism(NamedTuple):
    """Constant arrays of a model."""

    bodies: Centred
    nodes: JointNodes
    first: np.ndarray
    """(nn + 1,) first row of each joint node in ``Motion.lam``."""
    looped: np.ndarray
    """(nn,) 1 if the joint is part of a loop."""
    edge: np.ndarray
    """(nn, 2) the edges of the graph to its two links; −1 for the world, and for couplings."""
    coupled: CouplingNodes
    """The couplings and tendons with dry friction or armature, which are the last nodes."""
    coupled_edges: np.ndarray
    """(k, 2) their edges: node and link."""


class Motion(NamedTuple):
    """Unknowns, the direction of a Newton step, residuals."""

    pose: Pose
    """z."""
    after: Pose
    """z⁺ of the current ν⁺."""
    nu: np.ndarray
    """(nl, 6) ν⁺."""
    given: np.ndarray
    """(nl, 6) P₋(ν) + dt·f: momentum and impulses at the beginning of the step [N s]."""
    lam: np.ndarray
    """(m,) impulses in joints, node by node [N s]."""
    slack: np.ndarray
    """(nlim,) slacks of limits [m or rad]."""
    floor: np.ndarray
    """(nlim,) the least l(z⁺), below 0 for joints far outside their range [m or rad] (``recovering``)."""
    ease: np.ndarray
    """(nlim,) their compliance [m/(N s) or rad/(N m s)], else 0."""
    dnu: np.ndarray
    """(nl, 6) Newton step of ν⁺."""
    dlam: np.ndarray
    """(m,) Newton step of λ."""
    dslack: np.ndarray
    """(nlim,) Newton step of the slacks."""
    body: np.ndarray
    """(nl, 6) residuals of bodies [N s]."""
    joint: np.ndarray
    """(m,) residuals of held and soft rows, and l(z⁺) − s of limits."""
    rub: Rubbing
    """Dry friction of joints, then of tendons."""
    drub: Rubbing
    """Newton step of it."""
    drag: np.ndarray
    """(nl, 6, 6) dt·C of the drag of a medium, over ν (``fluid_impulses``); no rows without a medium."""


class Rows(NamedTuple):
    """Jacobians of joints; twelve numbers per row, over the velocities of link 1, then of link 2."""

    held: np.ndarray
    """(nb, 12) G at z."""
    held_after: np.ndarray
    """(nb, 12) ∂g(z⁺)/∂ν⁺."""
    limits: np.ndarray
    """(nlim, 12) L at z."""
    limits_after: np.ndarray
    """(nlim, 12) ∂l(z⁺)/∂ν⁺."""
    error: np.ndarray
    """(nb,) g(z⁺) [m or rad]."""
    gap: np.ndarray
    """(nlim,) l(z⁺) − floor + ease·λ [m or rad]."""
    q: np.ndarray
    """(nq,) coordinates at z, from which turns are counted."""
    turn: np.ndarray
    """(nl, 3, 3) T of ``discrete_rotation``."""
    R: np.ndarray
    """(3, 3) scratch."""


class Touch(NamedTuple):
    """The contacts of a step, up to N."""

    points: Points
    cones: Cones
    step: Cones
    D: np.ndarray
    """(facets, 2) directions of friction; (0, 2) for the circular cone."""
    u: np.ndarray
    """(N, 3) φ(z⁺) + ease·γ [m], φ without its floor; B·ν⁺ [m/s]."""
    normal: np.ndarray
    """(N, 2, 6) ∂φ(z⁺)/∂ν⁺ of the two links."""
    edge: np.ndarray
    """(N,) the edge of the graph between two bodies; −1 for a contact with the world."""
    K: np.ndarray
    """(3, 3) scratch."""
    k: np.ndarray
    """(3,) scratch."""
    KC: np.ndarray
    """(2, 3, 6) scratch."""
    spin: Spin
    """Torsional and rolling friction."""


class Linear(NamedTuple):
    """Newton's system on the graph; a link's node is its index minus one, and joint nodes follow."""

    symbolic: Symbolic
    values: np.ndarray
    """Blocks, then their factors."""
    pivots: np.ndarray
    x: np.ndarray
    """Right-hand side, then the solution."""


def make_motion(nl: int, rows: int, limits: int, dry: int = 0, dragged: int = 0) -> Motion:
    """``dragged`` is nl with a medium, else 0."""
    return Motion(
        pose=make_pose(nl),
        after=make_pose(nl),
        nu=np.zeros((nl, 6)),
        given=np.zeros((nl, 6)),
        lam=np.zeros(rows),
        slack=np.zeros(limits),
        floor=np.zeros(limits),
        ease=np.zeros(limits),
        dnu=np.zeros((nl, 6)),
        dlam=np.zeros(rows),
        dslack=np.zeros(limits),
        body=np.zeros((nl, 6)),
        joint=np.zeros(rows),
        rub=make_rubbing(dry),
        drub=make_rubbing(dry),
        drag=np.zeros((dragged, 6, 6)),
    )


def make_rows(nl: int, nq: int, nodes: JointNodes) -> Rows:
    nb, nlim = len(nodes.joints.joint), len(nodes.limit_joint)
    return Rows(
        held=np.zeros((nb, 12)),
        held_after=np.zeros((nb, 12)),
        limits=np.zeros((nlim, 12)),
        limits_after=np.zeros((nlim, 12)),
        error=np.zeros(nb),
        gap=np.zeros(nlim),
        q=np.zeros(nq),
        turn=np.zeros((nl, 3, 3)),
        R=np.zeros((3, 3)),
    )


def make_touch(contacts: int, facets: int) -> Touch:
    """Arrays for ``facets`` directions from the first tangent on; 0 facets for the circular cone."""
    n, angle = max(1, contacts), 2.0 * np.pi * np.arange(facets) / max(1, facets)
    D = np.stack([np.cos(angle), np.sin(angle)], axis=1).reshape(-1, 2)
    D[np.abs(D) < 1e-15] = 0.0
    cones, step = make_cones(n, facets), make_cones(n, facets)
    return Touch(
        points=make_points(n),
        cones=cones,
        step=step,
        D=D,
        u=np.zeros((n, 3)),
        normal=np.zeros((n, 2, 6)),
        edge=np.full(n, -1, dtype=np.int64),
        K=np.zeros((3, 3)),
        k=np.zeros(3),
        KC=np.zeros((2, 3, 6)),
        spin=make_spin(cones, step),
    )
