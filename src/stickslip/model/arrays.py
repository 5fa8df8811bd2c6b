"""The constant arrays of a model, in small NamedTuples that the kernels read.

A *link* is a body that moves: it has at least one joint to its parent. Link 0 is the world. Bodies that are fixed to
a link (or to the world) are merged into it; they live on as frames. Links are numbered so that parents come first,
and joint coordinates are numbered in the same order, as in MuJoCo.

Sizes: nl links (world included), nj joints, nq coordinates, nv velocities.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

FREE, BALL, SLIDE, HINGE = 0, 1, 2, 3  # MuJoCo's numbers
JOINT_NQ = (7, 4, 1, 1)
JOINT_NV = (6, 3, 1, 1)
JOINT, JOINT_IN_PARENT, SLIDER_CRANK, TENDON, AT_SITE, ON_BODY = 0, 1, 2, 3, 4, 5  # transmissions, MuJoCo's numbers
ON_JOINT, PULLEY, SITE, SPHERE, CYLINDER = 1, 2, 3, 4, 5  # elements of tendons, MuJoCo's numbers
HOLD, LINEAR, CUBIC = 0, 1, 2  # interpolation of delayed controls, MuJoCo's numbers
IMMEDIATE, INTEGRATOR, FILTER, FILTER_EXACT, MUSCLE = 0, 1, 2, 3, 4  # dynamics of activations, MuJoCo's numbers


class Tree(NamedTuple):
    """The kinematic tree: the parent of each link and the joints between them."""

    parent: np.ndarray
    """(nl,) parent link; parent[0] = 0."""
    root: np.ndarray
    """(nl,) the link of the same tree whose parent is the world; its origin is the tree's reference point O."""
    joint_start: np.ndarray
    """(nl + 1,) link b has the joints joint_start[b] … joint_start[b + 1] − 1."""
    joint_type: np.ndarray
    """(nj,) FREE, BALL, SLIDE or HINGE."""
    joint_q: np.ndarray
    """(nj,) first entry in q."""
    joint_v: np.ndarray
    """(nj,) first entry in v."""
    joint_pos: np.ndarray
    """(nj, 3) anchor in the link frame [m]."""
    joint_axis: np.ndarray
    """(nj, 3) unit axis in the link frame."""
    link_pos: np.ndarray
    """(nl, 3) link origin in the parent frame at q = q0 [m]."""
    link_rot: np.ndarray
    """(nl, 3, 3) link axes in the parent frame at q = q0."""
    aligned: np.ndarray
    """(nl,) 1 where link_rot is the identity, which saves a matrix product."""
    q0: np.ndarray
    """(nq,) reference configuration, subtracted from hinge and slide coordinates."""
    order: np.ndarray
    """(nl,) 0, 1, 2, …: all links, parents first."""


class Support(NamedTuple):
    """Which velocities move which link: the sparsity of Jacobians and of the mass matrix.

    Row d of the lower triangle of M has non-zeros only at d and its ancestors. They are stored one after another,
    from d up to the root: entry k of row d belongs to column ``column[start[d] + k]``.
    """

    link_dof: np.ndarray
    """(nl + 1,) link b owns the velocities link_dof[b] … link_dof[b + 1] − 1."""
    dof_link: np.ndarray
    """(nv,) the link that the velocity belongs to."""
    dof_parent: np.ndarray
    """(nv,) the next velocity on the way to the root; −1 at the root."""
    start: np.ndarray
    """(nv + 1,) where row d of the packed lower triangle begins."""
    column: np.ndarray
    """(nnz,) the columns of the packed entries: d, its parent, its grandparent, …"""
    link_root_dof: np.ndarray
    """(nl,) first velocity of the tree that link b belongs to; links of one tree share it; −1 for the world."""


class Inertia(NamedTuple):
    """Masses; com and inertia in the link frame, fixed bodies merged."""

    mass: np.ndarray
    """(nl,) [kg]."""
    com: np.ndarray
    """(nl, 3) centre of mass [m]."""
    inertia: np.ndarray
    """(nl, 6) about the centre of mass, (xx, yy, zz, xy, xz, yz) [kg m²]."""
    armature: np.ndarray
    """(nv,) rotor inertia added to the diagonal of M [kg m² or kg]."""
    gravity: np.ndarray
    """(3,) [m/s²]."""
    lifted_mass: np.ndarray
    """(nl,) mass whose weight is compensated: Σ gravcomp·mass of the link's bodies [kg]."""
    lifted_com: np.ndarray
    """(nl, 3) the point at which the compensating force −lifted_mass·gravity acts [m, link frame]."""
    cable_armature: np.ndarray = np.zeros(0)
    """(na,) mass that moves with the length of a tendon, of those that have one [kg or kg m²]; their velocities lie on
    one branch of the tree."""
    cable_start: np.ndarray = np.zeros(1, dtype=np.int64)
    """(na + 1,) where the elements of each begin; kind, on, number and pos are those of ``Tendons``, but ``on`` is the
    velocity of a joint."""
    cable_kind: np.ndarray = np.zeros(0, dtype=np.int64)
    cable_on: np.ndarray = np.zeros(0, dtype=np.int64)
    cable_number: np.ndarray = np.zeros(0)
    cable_pos: np.ndarray = np.zeros((0, 3))
    cable_row: np.ndarray = np.zeros(1, dtype=np.int64)
    """(na + 1,) where the velocities of each begin in ``cable_column`` (nnz,), ascending."""
    cable_column: np.ndarray = np.zeros(0, dtype=np.int64)


class JointForces(NamedTuple):
    """Passive forces in the joints."""

    damping: np.ndarray
    """(nv,) [N m s/rad or N s/m]."""
    damping_poly: np.ndarray
    """(nv, 2) b₁, b₂ of the damper −(damping + b₁·|v| + b₂·v²)·v."""
    stiffness: np.ndarray
    """(nj,) spring towards q_spring [N m/rad or N/m]."""
    stiffness_poly: np.ndarray
    """(nj, 2) k₁, k₂ of the spring −(stiffness + k₁·e + k₂·e²)·e, with e the deviation of a hinge or slide, and its
    size in the stiffness of a ball or free joint."""
    q_spring: np.ndarray
    """(nq,) rest configuration of the springs."""
    limited: np.ndarray
    """(nj,) 1 where the range is enforced."""
    range: np.ndarray
    """(nj, 2) lower and upper limit [rad or m], where the file's range is narrowed by its margin; for a ball joint
    (0, largest angle)."""
    limit_stiffness: np.ndarray
    """(nj,) stiffness of the one-sided limit spring [N m/rad or N/m]."""
    limit_damping: np.ndarray
    """(nj,) damping of the one-sided limit damper [N m s/rad or N s/m]."""
    friction: np.ndarray
    """(nv,) dry friction: the largest force that holds a joint still, and the force against its motion [N m or N]."""


class Medium(NamedTuple):
    """The medium around the bodies, and the nm boxes and ellipsoids that feel it; none of them without a medium."""

    properties: np.ndarray
    """(5,) density [kg/m³], viscosity [Pa s], and the velocity of the wind [m/s]."""
    link: np.ndarray
    """(nm,) the link that carries the element."""
    pos: np.ndarray
    """(nm, 3) its middle in the link frame [m]: the centre of mass of a body, or the middle of a shape."""
    rot: np.ndarray
    """(nm, 3, 3) its axes in the link frame: principal axes of inertia, or those of the shape."""
    ellipsoid: np.ndarray
    """(nm,) 1 for an ellipsoid, 0 for the box that has the inertia of its body."""
    size: np.ndarray
    """(nm, 3) half axes of an ellipsoid, edges of a box [m]."""
    coefficients: np.ndarray
    """(nm, 6) of an ellipsoid: 1, then blunt drag, slender drag, angular drag, Kutta lift, Magnus lift; each by 1."""
    added: np.ndarray
    """(nm, 6) of an ellipsoid: added mass [m³] and added inertia [m⁵] about its axes, per density."""


class Tendons(NamedTuple):
    """Tendons: each has a length ℓ(q), and forces along it act on the joints by its moment arms ∂ℓ/∂q.

    A fixed tendon is a sum of joint coordinates, ℓ = Σ coefficient·q. A spatial one is the shortest path through sites
    and around spheres and cylinders. A pulley divides all that follows: ℓ = Σ length/divisor. Path elements of all
    tendons are stored one after another; nt tendons, ne elements.
    """

    start: np.ndarray
    """(nt + 1,) tendon t has the elements start[t] … start[t + 1] − 1."""
    kind: np.ndarray
    """(ne,) ON_JOINT, SITE, SPHERE, CYLINDER or PULLEY."""
    on: np.ndarray
    """(ne,) the joint of an ON_JOINT element, else the link that carries the element."""
    number: np.ndarray
    """(ne,) coefficient of a joint, radius of a sphere or cylinder [m], divisor of a pulley."""
    pos: np.ndarray
    """(ne, 3) place in the link frame [m]."""
    rot: np.ndarray
    """(ne, 3, 3) axes in the link frame; a cylinder's axis is the third column."""
    side: np.ndarray
    """(ne,) 1 where a side site says on which side of the sphere or cylinder the tendon runs."""
    side_link: np.ndarray
    """(ne,) the link that carries the side site."""
    side_pos: np.ndarray
    """(ne, 3) the side site in the link frame [m]."""
    stiffness: np.ndarray
    """(nt, 3) force = −(k₀·x + k₁·x² + k₂·x³), where x is how far the length is outside the dead band."""
    spring_range: np.ndarray
    """(nt, 2) lengths between which the spring is slack."""
    damping: np.ndarray
    """(nt, 3) force = −(b₀·r + b₁·r·|r| + b₂·r³), where r is the rate of the length."""
    limited: np.ndarray
    """(nt,) 1 where the length has a range."""
    range: np.ndarray
    """(nt, 2) shortest and longest length."""
    limit_stiffness: np.ndarray
    """(nt,) stiffness of the one-sided limit spring."""
    limit_damping: np.ndarray
    """(nt,) damping of the one-sided limit damper."""
    frictionloss: np.ndarray
    """(nt,) dry friction along the tendon."""
    armature: np.ndarray
    """(nt,) mass that moves with the length, that of actuators included [kg or kg m²]."""
    force_range: np.ndarray
    """(nt, 2) limits of the sum of the forces of the actuators that pull at the tendon; ±inf where unlimited."""


class Actuators(NamedTuple):
    """Actuators: force = clip(gain·u + bias), which acts on the joints by the moment arms of the transmission.

    gain and bias are affine, g₀ + g₁·ℓ + g₂·ℓ̇, or those of a muscle; ℓ is the transmission's length. u is the clipped
    control, or the activation of an actuator that has one.
    """

    transmission: np.ndarray
    """(nu,) JOINT, JOINT_IN_PARENT, SLIDER_CRANK, TENDON, AT_SITE or ON_BODY."""
    target: np.ndarray
    """(nu,) the joint or tendon; for AT_SITE 1 if there is a reference site, else 0; for ON_BODY the body of the scene
    file that is pulled to what it touches."""
    gear: np.ndarray
    """(nu, 6) transmission ratio; the first entry alone counts for hinges, slides, tendons and slider-cranks."""
    muscle_gain: np.ndarray
    """(nu,) 1 where the gain is a muscle's, else 0."""
    gain: np.ndarray
    """(nu, 9) the three numbers of an affine gain, or those of a muscle (``dynamics.muscle``)."""
    muscle_bias: np.ndarray
    """(nu,) 1 where the bias is a muscle's, else 0."""
    bias: np.ndarray
    """(nu, 9) as ``gain``."""
    length_range: np.ndarray
    """(nu, 2) range of the transmission's length, which muscles are scaled by."""
    peak: np.ndarray
    """(nu,) acceleration of the joints per unit of force at the reference configuration, which scales muscles."""
    site_link: np.ndarray
    """(nu, 2) links of the site and the reference site, or of the crank's pin and the slider."""
    site_pos: np.ndarray
    """(nu, 2, 3) their places in the link frames [m]."""
    site_rot: np.ndarray
    """(nu, 2, 3, 3) their axes in the link frames."""
    rod: np.ndarray
    """(nu,) length of the rod of a slider-crank [m]."""
    control_range: np.ndarray
    """(nu, 2) the control is clipped to this; ±inf where unlimited, and where an activation takes its place."""
    force_range: np.ndarray
    """(nu, 2) the force is clipped to this [N or N m]; ±inf where unlimited."""
    joint_range: np.ndarray
    """(nv, 2) limits of the sum of all actuators' forces in a joint velocity; ±inf where unlimited."""
    lifts: np.ndarray
    """(nv,) 1 where actuators compensate gravity (MuJoCo's ``actuatorgravcomp``), so that the limit counts it, too."""


class Activations(NamedTuple):
    """The dynamics between controls and forces: ȧ = f(u, a), one activation a for each actuator that has one."""

    place: np.ndarray
    """(nu,) the actuator's entry in ``State.act``; −1 where the control acts at once."""
    dynamics: np.ndarray
    """(nu,) IMMEDIATE, INTEGRATOR, FILTER, FILTER_EXACT or MUSCLE."""
    numbers: np.ndarray
    """(nu, 3) time constant of a filter [s]; of a muscle: time constants of activation and deactivation, smoothing."""
    control_range: np.ndarray
    """(nu, 2) the control is clipped to this; ±inf where unlimited."""
    range: np.ndarray
    """(nu, 2) the activation is clipped to this at the end of a step; ±inf where unlimited."""
    early: np.ndarray
    """(nu,) 1 where the force uses the activation at the end of the step."""
    delay: np.ndarray
    """(nu,) how late a control acts [s]."""
    interpolation: np.ndarray
    """(nu,) HOLD, LINEAR or CUBIC: how controls are read between the steps at which they were given."""


class Frames(NamedTuple):
    """Named frames (bodies, sites, shapes), each rigidly attached to a link."""

    link: np.ndarray
    """(nf,) the link that carries the frame."""
    pos: np.ndarray
    """(nf, 3) in the link frame [m]."""
    rot: np.ndarray
    """(nf, 3, 3) in the link frame."""


def build_support(tree: Tree, nv: int) -> Support:
    """The sparsity pattern of a tree, computed once per model."""
    nl = len(tree.parent)
    dof_link = np.zeros(nv, dtype=np.int64)
    dof_parent = np.full(nv, -1, dtype=np.int64)
    link_dof = np.zeros(nl + 1, dtype=np.int64)
    last = np.full(nl, -1, dtype=np.int64)  # the last velocity on the path from the root to a link
    link_root_dof = np.full(nl, -1, dtype=np.int64)
    d = 0
    for b in range(1, nl):
        link_dof[b] = d
        last[b] = last[tree.parent[b]]
        for j in range(tree.joint_start[b], tree.joint_start[b + 1]):
            for _ in range(JOINT_NV[tree.joint_type[j]]):
                dof_link[d], dof_parent[d] = b, last[b]
                last[b] = d
                d += 1
        link_root_dof[b] = link_dof[tree.root[b]]
    link_dof[nl] = d

    depth = np.ones(nv, dtype=np.int64)
    for i in range(nv):
        if dof_parent[i] >= 0:
            depth[i] += depth[dof_parent[i]]
    start = np.concatenate([[0], np.cumsum(depth)]).astype(np.int64)
    column = np.empty(start[-1], dtype=np.int64)
    for i in range(nv):
        column[start[i]] = i
        if dof_parent[i] >= 0:
            p = dof_parent[i]
            column[start[i] + 1 : start[i + 1]] = column[start[p] : start[p + 1]]
    return Support(link_dof, dof_link, dof_parent, start, column, link_root_dof)
