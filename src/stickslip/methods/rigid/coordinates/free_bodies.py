"""The kernels of a time step in maximal coordinates: the links as free bodies, and what their joints ask for.

A step begins with kinematics, the rows of joints and the velocity without contacts and joints, V_free
(``begin_bodies``). Rows of joints are eliminated with the system of ``maximal.joint_system``: with right-hand sides

    rigid   r = −G·(V_free + 0.9·V)          soft   r = t − R·V_free

an impulse f on the bodies changes V_free by the solution u of the system (``joint_rights``). It ends with closed joints
(``maximal.stabilisation``) and joint coordinates again (``finish_bodies``), which change nothing but scratch and
``…_next``. Cost: O(bodies).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.dynamics.configuration import integrate
from stickslip.dynamics.crba import composite_inertia
from stickslip.dynamics.data import Kinematics, MassMatrix
from stickslip.dynamics.drives import Drives
from stickslip.dynamics.fluid_derivatives import add_drag_mass, fluid_drag
from stickslip.dynamics.fluid_forces import Fluid
from stickslip.dynamics.gyroscopic import average_gyroscopic_torques
from stickslip.dynamics.joint_forces import joint_space_forces
from stickslip.dynamics.kinematics import forward_motion, forward_velocities
from stickslip.dynamics.outside_forces import outside_forces
from stickslip.math.linear import copy_to
from stickslip.maximal.conversion import joint_coordinates, place_bodies
from stickslip.maximal.elimination import OK
from stickslip.maximal.joint_system import System, factor_system
from stickslip.maximal.rates import body_forces, joint_velocities, rate_rows
from stickslip.maximal.rows import body_rows, joint_errors, pair_speed, times_velocity
from stickslip.maximal.soft_rows import Soft, soft_rows
from stickslip.maximal.stabilisation import Correction, correct_positions, correct_velocities
from stickslip.methods.rigid.coordinates.coordinates import free_velocities
from stickslip.methods.rigid.formulations.formulation import JOINT_FEEDBACK
from stickslip.model.arrays import Inertia, JointForces, Support, Tree


class Links(NamedTuple):
    """The constant arrays of a model."""

    tree: Tree
    support: Support
    passive: JointForces
    """Joint forces without limits."""
    limits: JointForces
    """Joint forces with limits."""
    actuators: Drives
    fluid: Fluid
    armature: np.ndarray
    turning: np.ndarray
    """(nt,) joint velocities of ``turning_rotors``."""
    jointed: np.ndarray
    """(nl,) 1 for links that joints correct."""


class FreeBodies(NamedTuple):
    """A step's state, rows and scratch: nl links, nv joint velocities, nv' = 6(nl − 1), nb rigid rows."""

    tree: Tree
    """The cut model's."""
    lone: np.ndarray
    """(n,) bodies without joints, whose gyroscopic torques are averaged."""
    support: Support
    inertia: Inertia
    kin: Kinematics
    mass: MassMatrix
    Q: np.ndarray
    """(7(nl − 1),) poses of the links, and velocities V (nv',)."""
    V: np.ndarray
    q: np.ndarray
    """(nq,), and v (nv,): the joint coordinates that the last step left."""
    v: np.ndarray
    Q_next: np.ndarray
    """Q, V, q and v at the end of the step."""
    V_next: np.ndarray
    q_next: np.ndarray
    v_next: np.ndarray
    velocity: np.ndarray
    """(nv',) V at the beginning of the step."""
    free: np.ndarray
    """(nv',) V_free."""
    rates: np.ndarray
    """(nv, 12) rates of the joints (``maximal.rates``)."""
    G: np.ndarray
    """(nb, 12) rigid rows, and their errors (nb,)."""
    violation: np.ndarray
    soft: Soft
    system: System
    right: np.ndarray
    """(nb + nv,) right-hand sides of the rows, and their impulses."""
    impulse: np.ndarray
    change: np.ndarray
    """(nv',) what contacts and joints add to V_free."""
    correction: Correction
    ahead: Kinematics
    """Scratch, and so is all that follows."""
    turned: np.ndarray
    """(nv, 12)."""
    rate: np.ndarray
    """(2, nv)."""
    tau: np.ndarray
    """(nv,)."""
    force: np.ndarray
    """(nv',)."""
    bias: np.ndarray
    """(nv',)."""
    f_ext: np.ndarray
    """(nl, 6)."""
    R: np.ndarray
    """(3, 3)."""


@kernel
def look(links, bodies, Q, V, dt):
    """Compute kinematics, mass matrix, rates, rows and errors of joints at Q and V."""
    b = bodies
    forward_motion(b.tree, b.inertia, Q, V, b.kin)
    composite_inertia(b.tree, b.support, b.inertia, b.kin, b.mass)
    for d in range(V.shape[0]):
        b.mass.M[b.support.start[d]] += b.soft.free_mass[d]
    fluid_drag(links.fluid, b.kin)
    add_drag_mass(links.fluid, b.support, b.kin, dt, b.mass.M)
    rate_rows(links.tree, b.kin, b.rates)
    joint_errors(b.system.joints, b.kin, b.violation)
    body_rows(b.system.joints, b.kin, b.G)


@kernel
def turn_rotors(links, bodies, dt):
    """Subtract I_a·ṙ·V of rotors whose rows turn from τ, by their change over a step with constant V."""
    b = bodies
    integrate(b.tree, b.Q, b.V, dt, b.Q_next)
    for k in range(2):
        place_bodies(b.Q if k == 0 else b.Q_next, b.V, b.ahead)
        rate_rows(links.tree, b.ahead, b.turned)
        joint_velocities(links.tree, links.support, b.turned, b.V, b.rate[k])
    for k in range(links.turning.shape[0]):
        d = links.turning[k]
        b.tau[d] -= links.armature[d] * (b.rate[1, d] - b.rate[0, d]) / dt


@kernel(inline=False)
def begin_bodies(links, bodies, inputs, q, v, dt):
    """Compute kinematics, rows and V_free at Q, V, which belong to q (nq,) and v (nv,)."""
    b = bodies
    joint_space_forces(
        links.tree, links.passive, links.actuators, q, v, inputs.control, inputs.applied, b.tau
    )  # fmt: skip
    if links.turning.shape[0] > 0:
        turn_rotors(links, b, dt)
    soft_rows(
        links.tree, links.support, links.passive, links.actuators, links.armature, q, v, dt, b.tau, b.soft
    )  # fmt: skip
    look(links, b, b.Q, b.V, dt)
    outside_forces(b.inertia, links.fluid, b.kin, inputs.wrench, b.f_ext)
    average_gyroscopic_torques(b.lone, b.inertia, b.kin, dt, b.f_ext)
    body_forces(links.tree, links.support, b.rates, b.tau, b.force)
    copy_to(b.V, b.velocity)
    free_velocities(
        b.tree, b.support, b.inertia, b.force, b.f_ext, b.kin, b.mass, b.V, dt, b.bias, b.free
    )  # fmt: skip


@kernel
def row_count(bodies):
    """The number of rows, rigid and soft."""
    return bodies.G.shape[0] + bodies.soft.number[0]


@kernel
def factor_bodies(links, bodies):
    """Factor the system of the rows at hand; returns OK or SINGULAR."""
    b = bodies
    return factor_system(
        b.system, b.G, b.soft, b.rates, links.support.dof_link, b.support, b.mass.M, b.correction.zeros
    )


@kernel
def joint_rights(links, bodies):
    """Write the right-hand sides of all rows; ``change`` is scratch."""
    b, nb = bodies, bodies.G.shape[0]
    for d in range(b.free.shape[0]):
        b.change[d] = b.free[d] + JOINT_FEEDBACK * b.velocity[d]
    times_velocity(b.system.joints, b.G, b.change, b.right)
    for r in range(nb):
        b.right[r] = -b.right[r]
    for k in range(b.soft.number[0]):
        d = b.soft.dof[k]
        link = links.support.dof_link[d]
        b.right[nb + k] = b.soft.target[k] - pair_speed(b.rates, d, links.tree.parent[link], link, b.free)


@kernel
def write_joint_coordinates(links, bodies, previous):
    """``q_next`` and ``v_next`` from ``Q_next``, ``V_next`` and kinematics there."""
    b = bodies
    copy_to(previous, b.q_next)
    joint_coordinates(links.tree, b.kin, b.Q_next, b.q_next, b.R, b.q_next)
    joint_velocities(links.tree, links.support, b.rates, b.V_next, b.v_next)


@kernel(inline=False)
def finish_bodies(links, bodies, normals, q, dt, stabilise, tolerance, most):
    """Write the end of the step from its new velocities ``V_next`` and the configuration q (nq,) at its beginning.

    The system must be factored there if ``stabilise``. Returns (OK or SINGULAR, converged, iterations of positions, and
    of velocities).
    """
    b, n, closed, still, first, second, code = bodies, row_count(bodies), True, True, 0, 0, OK
    if stabilise:
        closed, first = correct_positions(
            b.tree, b.kin, b.system, n, normals, b.Q, b.V_next, dt, tolerance, most, b.correction, b.Q_next
        )
    else:
        integrate(b.tree, b.Q, b.V_next, dt, b.Q_next)
    look(links, b, b.Q_next, b.V_next, dt)
    if stabilise:
        code = factor_bodies(links, b)
        if code != OK:
            return code, False, first, 0
        still, second = correct_velocities(b.system, n, b.G, b.V_next, tolerance, most, b.correction)
        forward_velocities(b.tree, b.V_next, b.kin)
    write_joint_coordinates(links, b, q)
    return code, closed and still, first, second


@kernel
def take_end(bodies, q, v):
    """Let the end of the step be the beginning of the next; q (nq,) and v (nv,) are the state's."""
    b = bodies
    copy_to(b.Q_next, b.Q)
    copy_to(b.V_next, b.V)
    copy_to(b.q_next, b.q)
    copy_to(b.v_next, b.v)
    copy_to(b.q_next, q)
    copy_to(b.v_next, v)
