"""Bodies in coordinates of their centres of mass: poses, joints, and conversion from and to joint coordinates.

z = (x, q) are the centre of mass x of a link [m, world] and the quaternion q of the link's frame; ν = (v, ω) are the
velocity of the centre of mass [m/s, world axes] and the angular velocity [rad/s, body axes]. ``Centred.tree`` is the
model's tree with every link's origin moved to its centre of mass, so that the kernels of ``maximal.rows``,
``maximal.rates`` and ``maximal.conversion`` work on a ``Pose`` in place of kinematics. A free joint's coordinates
remain those of the link's own origin, o = x − R·c, ȯ = v − R·(ω × c).

Sizes: nl links, the world (row 0: no mass, at the origin, at rest) included; nq, nv of the model in joint coordinates.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.dynamics.jacobian import link_point, velocity_at
from stickslip.dynamics.kinematics import forward_kinematics, forward_velocities
from stickslip.errors import InputError
from stickslip.math.quaternion import from_matrix, multiply, to_matrix
from stickslip.math.spatial import cross, rotate, rotate_transposed
from stickslip.maximal.conversion import link_coordinates, put_quaternion
from stickslip.maximal.rates import rate_rows
from stickslip.methods.variational.discrete_rotation import OK, SPINNING, spin_root
from stickslip.model.arrays import FREE, Tree
from stickslip.model.model import Model


class Centred(NamedTuple):
    """The bodies of a model, as kernels see them."""

    tree: Tree
    """Anchors and links from the centres of mass. It is not for forward kinematics, since a free joint's q is its
    origin's."""
    mass: np.ndarray
    """(nl,) [kg]."""
    J: np.ndarray
    """(nl, 3, 3) inertia about the centre of mass, in link axes [kg m²]."""
    com: np.ndarray
    """(nl, 3) c: centre of mass in the link's frame [m]."""
    dof_link: np.ndarray
    """(nv,) the link that a joint velocity belongs to."""
    lift: np.ndarray
    """(nl, 3) force of gravity compensation, −m_c·g [N, world axes]."""
    lift_arm: np.ndarray
    """(nl, 3) from the centre of mass to the point at which it acts [m, link axes]."""


class Pose(NamedTuple):
    """Poses of all bodies."""

    pos: np.ndarray
    """(nl, 3) x: centres of mass [m, world]."""
    quat: np.ndarray
    """(nl, 4) q: unit quaternions (w, x, y, z) of the link frames."""
    rot: np.ndarray
    """(nl, 3, 3) their matrices R(q)."""


def centred(model: Model) -> Centred:
    """The bodies of a model; every link needs mass and inertia of its own."""
    tree, inertia, nl = model.tree, model.inertia, model.nlink
    com, mass = inertia.com.copy(), inertia.mass.copy()
    com[0], mass[0] = 0.0, 0.0
    xx, yy, zz, xy, xz, yz = inertia.inertia.T
    J = np.ascontiguousarray(np.stack([xx, xy, xz, xy, yy, yz, xz, yz, zz], axis=1).reshape(nl, 3, 3))
    J[0] = 0.0
    for b in range(1, nl):
        if not (mass[b] > 0.0 and np.linalg.eigvalsh(J[b])[0] > 0.0):
            raise InputError(
                f"link {model.link_names[b]!r}: maximal coordinates expected a body with mass and inertia about every "
                f"axis, got {mass[b]:.3g} kg and principal moments {np.linalg.eigvalsh(J[b])} kg m²; "
                "give it a mass and a volume, or use joint coordinates"
            )
    link = np.repeat(np.arange(nl), np.diff(tree.joint_start))
    moved = tree.link_pos - com[tree.parent] + np.einsum("bij,bj->bi", tree.link_rot, com)
    moved[0] = tree.link_pos[0]
    return Centred(
        tree=tree._replace(joint_pos=tree.joint_pos - com[link], link_pos=moved),
        mass=mass,
        J=J,
        com=com,
        dof_link=model.support.dof_link,
        lift=-inertia.lifted_mass[:, None] * inertia.gravity,
        lift_arm=inertia.lifted_com - inertia.com,
    )


def make_pose(nl: int) -> Pose:
    """Poses of nl links, all of them at the origin."""
    quat, rot = np.zeros((nl, 4)), np.zeros((nl, 3, 3))
    quat[:, 0], rot[:] = 1.0, np.eye(3)
    return Pose(np.zeros((nl, 3)), quat, rot)


@kernel
def copy_pose(pose, out):
    for b in range(pose.pos.shape[0]):
        for k in range(3):
            out.pos[b, k] = pose.pos[b, k]
            for m in range(3):
                out.rot[b, k, m] = pose.rot[b, k, m]
        for k in range(4):
            out.quat[b, k] = pose.quat[b, k]


@kernel
def put_rotation(pose, b, w, x, y, z):
    """Set quat and rot of body b."""
    rot = pose.rot
    pose.quat[b, 0], pose.quat[b, 1], pose.quat[b, 2], pose.quat[b, 3] = w, x, y, z
    r00, r01, r02, r10, r11, r12, r20, r21, r22 = to_matrix(w, x, y, z)
    rot[b, 0, 0], rot[b, 0, 1], rot[b, 0, 2] = r00, r01, r02
    rot[b, 1, 0], rot[b, 1, 1], rot[b, 1, 2] = r10, r11, r12
    rot[b, 2, 0], rot[b, 2, 1], rot[b, 2, 2] = r20, r21, r22


@kernel
def put_world(pose, nu):
    """Set row 0, the world, to the origin and to rest."""
    for k in range(3):
        pose.pos[0, k] = 0.0
    for k in range(6):
        nu[0, k] = 0.0
    put_rotation(pose, 0, 1.0, 0.0, 0.0, 0.0)


@kernel
def next_pose(pose, nu, dt, out):
    """out = pose ⊕ dt·nu, nu (nl, 6): x⁺ = x + h·v, q⁺ = q∘(s, ω)·h/2; ``out`` may be ``pose``. Returns SPINNING if
    some |ω| ≥ 2/h (``spinning_body`` says which); ``out`` is then invalid."""
    h = 0.5 * dt
    for b in range(1, nu.shape[0]):
        x, y, z = nu[b, 3], nu[b, 4], nu[b, 5]
        s = spin_root(dt, x, y, z)
        if s < 0.0:
            return SPINNING
        for k in range(3):
            out.pos[b, k] = pose.pos[b, k] + dt * nu[b, k]
        w, x, y, z = multiply(
            pose.quat[b, 0], pose.quat[b, 1], pose.quat[b, 2], pose.quat[b, 3], h * s, h * x, h * y, h * z
        )
        unit = 1.5 - 0.5 * (w * w + x * x + y * y + z * z)  # otherwise rounding errors of the norm accumulate
        put_rotation(out, b, unit * w, unit * x, unit * y, unit * z)
    return OK


@kernel
def previous_pose(pose, nu, dt, out):
    """out ⊕ dt·nu = pose: the beginning of the step that ended at ``pose`` with nu (nl, 6), |ω| < 2/dt."""
    h = 0.5 * dt
    for b in range(1, nu.shape[0]):
        x, y, z = nu[b, 3], nu[b, 4], nu[b, 5]
        s = spin_root(dt, x, y, z)
        for k in range(3):
            out.pos[b, k] = pose.pos[b, k] - dt * nu[b, k]
        w, x, y, z = multiply(
            pose.quat[b, 0], pose.quat[b, 1], pose.quat[b, 2], pose.quat[b, 3], h * s, -h * x, -h * y, -h * z
        )
        put_rotation(out, b, w, x, y, z)


@kernel
def spinning_body(nu, dt):
    """The first body with |ω| ≥ 2/dt; 0 if there is none."""
    for b in range(1, nu.shape[0]):
        if spin_root(dt, nu[b, 3], nu[b, 4], nu[b, 5]) < 0.0:
            return b
    return 0


@kernel
def from_joint_state(tree, com, q, v, kin, pose, nu):
    """pose and nu (nl, 6), with the world's row, from q (nq,) and v (nv,). ``tree`` is the model's own, ``com`` (nl, 3)
    that of ``Centred``, ``kin`` scratch (``make_data(model).kin``)."""
    forward_kinematics(tree, q, kin)
    forward_velocities(tree, v, kin)
    R = kin.rot
    put_world(pose, nu)
    for b in range(1, nu.shape[0]):
        x, y, z = link_point(kin, b, com[b, 0], com[b, 1], com[b, 2])
        pose.pos[b, 0], pose.pos[b, 1], pose.pos[b, 2] = x, y, z
        w, qx, qy, qz = from_matrix(
            R[b, 0, 0], R[b, 0, 1], R[b, 0, 2], R[b, 1, 0], R[b, 1, 1], R[b, 1, 2], R[b, 2, 0], R[b, 2, 1], R[b, 2, 2]
        )
        put_rotation(pose, b, w, qx, qy, qz)
        o = kin.origin
        nu[b, 0], nu[b, 1], nu[b, 2] = velocity_at(kin.vel, b, x - o[b, 0], y - o[b, 1], z - o[b, 2])
        nu[b, 3], nu[b, 4], nu[b, 5] = rotate_transposed(R, b, kin.vel[b, 3], kin.vel[b, 4], kin.vel[b, 5])


@kernel
def from_link_frames(com, Q, V, pose, nu):
    """pose and nu (nl, 6) from the poses Q (7(nl − 1),) and velocities V (6(nl − 1),) of the link frames. Q and V are
    those of ``to_bodies`` and ``projection.project``; com is (nl, 3)."""
    put_world(pose, nu)
    for b in range(1, nu.shape[0]):
        i, k = 7 * (b - 1), 6 * (b - 1)
        put_rotation(pose, b, Q[i + 3], Q[i + 4], Q[i + 5], Q[i + 6])
        x, y, z = rotate(pose.rot, b, com[b, 0], com[b, 1], com[b, 2])
        pose.pos[b, 0], pose.pos[b, 1], pose.pos[b, 2] = Q[i] + x, Q[i + 1] + y, Q[i + 2] + z
        x, y, z = cross(V[k + 3], V[k + 4], V[k + 5], com[b, 0], com[b, 1], com[b, 2])
        x, y, z = rotate(pose.rot, b, x, y, z)
        nu[b, 0], nu[b, 1], nu[b, 2] = V[k] + x, V[k + 1] + y, V[k + 2] + z
        nu[b, 3], nu[b, 4], nu[b, 5] = V[k + 3], V[k + 4], V[k + 5]


@kernel
def velocity_rows(centred, pose, rates):
    """rates (nv, 12): rows r of the joint velocities q̇ = r·(ν of the parent, ν of the link). Free joints are included;
    their six numbers of the parent are zero."""
    tree, com = centred.tree, centred.com
    rate_rows(tree, pose, rates)
    for b in range(1, tree.parent.shape[0]):
        j = tree.joint_start[b]
        if tree.joint_type[j] != FREE:
            continue
        d = tree.joint_v[j]
        for k in range(6):
            for m in range(12):
                rates[d + k, m] = 0.0
            rates[d + k, 6 + k] = 1.0
        for k in range(3):  # ȯ = v + R·(c × ω): the angular part of row k is (row k of R) × c
            x, y, z = cross(pose.rot[b, k, 0], pose.rot[b, k, 1], pose.rot[b, k, 2], com[b, 0], com[b, 1], com[b, 2])
            rates[d + k, 9], rates[d + k, 10], rates[d + k, 11] = x, y, z


@kernel
def joint_rates(centred, rates, nu, v):
    """v (nv,) = rates·nu: joint velocities from those of the bodies, nu (nl, 6)."""
    for d in range(v.shape[0]):
        b = centred.dof_link[d]
        p, s = centred.tree.parent[b], 0.0
        for k in range(6):
            s += rates[d, k] * nu[p, k] + rates[d, 6 + k] * nu[b, k]
        v[d] = s


@kernel
def to_joint_state(centred, pose, nu, previous, rates, R, q, v):
    """q (nq,) and v (nv,) from pose and nu (nl, 6), as far as the joints can reach. Hinges are the turns nearest to
    ``previous`` (nq,), which may be ``q``; rates (nv, 12) end at ``pose``; R (3, 3) is scratch."""
    tree, com, quat = centred.tree, centred.com, pose.quat
    for b in range(1, tree.parent.shape[0]):
        first = tree.joint_start[b]
        if tree.joint_type[first] == FREE:
            i = tree.joint_q[first]
            x, y, z = rotate(pose.rot, b, com[b, 0], com[b, 1], com[b, 2])
            q[i], q[i + 1], q[i + 2] = pose.pos[b, 0] - x, pose.pos[b, 1] - y, pose.pos[b, 2] - z
            put_quaternion(quat[b, 0], quat[b, 1], quat[b, 2], quat[b, 3], previous, i + 3, q)
        else:
            link_coordinates(tree, pose, b, previous, R, q)
    velocity_rows(centred, pose, rates)
    joint_rates(centred, rates, nu, v)


@kernel
def add_lift_impulses(centred, pose, dt, out):
    """out (nl, 6) += impulses of gravity compensation over a step, as ``add_wrench_impulses`` lays them out."""
    lift, arm = centred.lift, centred.lift_arm
    for b in range(1, lift.shape[0]):
        fx, fy, fz = rotate_transposed(pose.rot, b, lift[b, 0], lift[b, 1], lift[b, 2])
        tx, ty, tz = cross(arm[b, 0], arm[b, 1], arm[b, 2], fx, fy, fz)
        out[b, 0] += dt * lift[b, 0]
        out[b, 1] += dt * lift[b, 1]
        out[b, 2] += dt * lift[b, 2]
        out[b, 3] += dt * tx
        out[b, 4] += dt * ty
        out[b, 5] += dt * tz


@kernel
def add_wrench_impulses(centred, pose, wrench, dt, out):
    """out (nl, 6) += dt·wrench (nl, 6), force and torque in world axes at the links' own origins. ``out`` are impulses
    over ν: linear at the centre of mass in world axes, angular in body axes."""
    for b in range(1, wrench.shape[0]):
        fx, fy, fz = wrench[b, 0], wrench[b, 1], wrench[b, 2]
        ax, ay, az = rotate(pose.rot, b, centred.com[b, 0], centred.com[b, 1], centred.com[b, 2])
        tx, ty, tz = cross(ax, ay, az, fx, fy, fz)
        tx, ty, tz = rotate_transposed(pose.rot, b, wrench[b, 3] - tx, wrench[b, 4] - ty, wrench[b, 5] - tz)
        out[b, 0] += dt * fx
        out[b, 1] += dt * fy
        out[b, 2] += dt * fz
        out[b, 3] += dt * tx
        out[b, 4] += dt * ty
        out[b, 5] += dt * tz
