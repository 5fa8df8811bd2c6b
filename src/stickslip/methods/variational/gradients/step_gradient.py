"""Gradients of a variational step by the implicit function theorem: ∂(z⁺, ν⁺)/∂(z, ν, u), exact.

The equations r(y; p) = 0 of a step (``equations``) define its unknowns y as functions of the parameters p =
(z, ν, u), so that ∂y/∂p = −(∂r/∂y)⁻¹·∂r/∂p. Newton's matrix at the solution is factored once more, along the graph, and
solved for each parameter, with the right-hand sides of ``gradient_columns``. The time is linear per parameter; the
results are dense.

With a ``relaxation`` μ > 0 contacts and limits keep s·γ = μ, and the step is a smooth function, also where a contact
opens, closes, sticks or slips, because γ acts at a distance. With μ = 0 the derivative is that of the contact states
that the solver found, open or closed, sticking or sliding; at a transition it is one of several.

Small changes are δz = (δx of the centre of mass [m, world], δθ [rad, body axes]) and δν = (δv [m/s, world], δω [rad/s,
body axes]), link by link without the world: row 6(b − 1) is the first of link b.
Not differentiated: the set of contacts, their positions on crossing edges and on rims (``point_derivatives``), and how
the recovery from a deep overlap depends on its depth (``recovering``).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from stickslip.errors import InputError, UnconvergedError
from stickslip.maximal.rows import body_rows
from stickslip.methods.variational.arrays import Linear, Mechanism, Motion, Rows, Touch, make_rows
from stickslip.methods.variational.bodies import Pose, joint_rates, make_pose, to_joint_state
from stickslip.methods.variational.contact.cones import Cones
from stickslip.methods.variational.contact.point_derivatives import tangent_poles
from stickslip.methods.variational.discrete_rotation import turn_jacobian
from stickslip.methods.variational.equations import move_to
from stickslip.methods.variational.gradients.gradient_columns import (
    Slopes,
    fill_columns,
    lift_contacts,
    make_small,
    solve_columns,
)
from stickslip.methods.variational.graph.block_ldu import OK, factor
from stickslip.methods.variational.joints.joint_chain import from_joints, rows_at, to_joints
from stickslip.methods.variational.joints.joint_derivatives import held_derivatives, rate_derivatives
from stickslip.methods.variational.joints.joint_nodes import JointStep, joint_impulses, limit_gaps
from stickslip.methods.variational.joints.joint_slopes import joint_slopes
from stickslip.methods.variational.newton_system import assemble

LEAST = 1e-10
"""Smallest slack, force and speed of contacts [m, N, m/s]. The stiffness of a contact is γ/s, and beside 1e15 N/m the
masses of bodies would be lost in rounding."""


@dataclass(frozen=True)
class JointGradient:
    """∂(q⁺, v⁺)/∂(q, v, u) in joint coordinates, with q in the tangent space of ``Dynamics.integrate``.

    Sizes: nv velocities, nu controls."""

    dq_dq: np.ndarray
    """(nv, nv)."""
    dq_dv: np.ndarray
    """(nv, nv) [s]."""
    dq_du: np.ndarray
    """(nv, nu)."""
    dv_dq: np.ndarray
    """(nv, nv) [1/s]."""
    dv_dv: np.ndarray
    """(nv, nv)."""
    dv_du: np.ndarray
    """(nv, nu)."""
    dq_dapplied: np.ndarray
    """(nv, nv) by forces in joints, or (nv, 0)."""
    dv_dapplied: np.ndarray
    """(nv, nv) or (nv, 0)."""
    dq_dwrench: np.ndarray
    """(nv, 6·nb) by wrenches on bodies, or (nv, 0)."""
    dv_dwrench: np.ndarray
    """(nv, 6·nb) or (nv, 0)."""


@dataclass(frozen=True)
class StepGradient:
    """∂(z⁺, ν⁺)/∂(z, ν, u) of one step; sizes: nb bodies, nv joint velocities, nu controls.

    The gradients of successive steps multiply as matrices over [dz; dnu]."""

    dz_dz: np.ndarray
    """(6·nb, 6·nb)."""
    dz_dnu: np.ndarray
    """(6·nb, 6·nb) [s]."""
    dz_du: np.ndarray
    """(6·nb, nu)."""
    dnu_dz: np.ndarray
    """(6·nb, 6·nb) [1/s]."""
    dnu_dnu: np.ndarray
    """(6·nb, 6·nb)."""
    dnu_du: np.ndarray
    """(6·nb, nu)."""
    dz_dapplied: np.ndarray
    """(6·nb, nv) by forces in joints ``inputs.applied``, or (6·nb, 0)."""
    dnu_dapplied: np.ndarray
    """(6·nb, nv) or (6·nb, 0)."""
    dz_dwrench: np.ndarray
    """(6·nb, 6·nb) by ``inputs.wrench`` (world axes, links' origins), or (6·nb, 0)."""
    dnu_dwrench: np.ndarray
    """(6·nb, 6·nb) or (6·nb, 0)."""
    z_q: np.ndarray
    """(6·nb, nv) E: δz = E·δq and δν = E·δv + F·δq at the beginning of the step."""
    nu_q: np.ndarray
    """(6·nb, nv) F [1/s]."""
    q_z: np.ndarray
    """(nv, 6·nb) r: δq = r·δz and δv = r·δν + S·δz at its end."""
    v_z: np.ndarray
    """(nv, 6·nb) S [1/s]."""

    @property
    def matrix(self) -> np.ndarray:
        """(12·nb, 12·nb) ∂(z⁺, ν⁺)/∂(z, ν)."""
        return np.block([[self.dz_dz, self.dz_dnu], [self.dnu_dz, self.dnu_dnu]])

    @property
    def control(self) -> np.ndarray:
        """(12·nb, nu) ∂(z⁺, ν⁺)/∂u."""
        return np.vstack([self.dz_du, self.dnu_du])

    def in_joints(self) -> JointGradient:
        """The gradient of the step from (q, v, u) to (q⁺, v⁺).

        A chain of steps is exact in (z, ν), but not in (q, v): after a step G(z)·ν = O(dt) is part of the state, which
        joint coordinates do not contain. Multiply ``matrix``, and convert to joints at the two ends."""
        E, F, r, S = self.z_q, self.nu_q, self.q_z, self.v_z

        def both(name: str) -> tuple[np.ndarray, np.ndarray]:
            dz, dnu = getattr(self, f"dz_{name}"), getattr(self, f"dnu_{name}")
            return r @ dz, r @ dnu + S @ dz

        (q_z, v_z), (q_nu, v_nu), (q_u, v_u) = both("dz"), both("dnu"), both("du")
        (q_a, v_a), (q_w, v_w) = both("dapplied"), both("dwrench")
        return JointGradient(q_z @ E + q_nu @ F, q_nu @ E, q_u, v_z @ E + v_nu @ F, v_nu @ E, v_u, q_a, v_a, q_w, v_w)

    def __repr__(self) -> str:
        shapes = ", ".join(f"{f.name} {getattr(self, f.name).shape}" for f in fields(self)[:6])
        return f"StepGradient({shapes})"


class Began(NamedTuple):
    """State and inputs at the beginning of a step."""

    pose: Pose
    nu: np.ndarray
    """(nl, 6) ν."""
    q: np.ndarray
    """(nq,) joint coordinates; those at z are the nearest turns to them."""
    control: np.ndarray
    applied: np.ndarray
    wrench: np.ndarray


def step_gradient(
    mechanism: Mechanism,
    acting: Any,
    began: Began,
    motion: Motion,
    joint_step: JointStep,
    touch: Touch,
    linear: Linear,
    dt: float,
    shapes: Any,
    convex: bool,
    forces: bool = False,
) -> StepGradient:
    """Gradient of the step that began with ``began``; its solution is in ``motion`` (ν⁺, λ, slacks) and ``touch``.

    ``acting`` holds the forces in joints: passive (without limits), actuators, armature. ``joint_step`` says which
    joints are soft; ``shapes`` and ``convex`` are those of ``place_points``. ``linear`` and the scratch in ``touch``
    are overwritten."""
    if len(mechanism.coupled.node):
        raise InputError(
            "gradient of a step: couplings, and friction and armature of tendons, have none yet; leave them out"
        )
    bodies, nodes = mechanism.bodies, mechanism.nodes
    nl, nv, nu = len(bodies.mass), len(bodies.dof_link), len(began.control)
    n = nl - 1
    q, v, rates = began.q.copy(), np.zeros(nv), np.zeros((nv, 12))
    to_joint_state(bodies, began.pose, began.nu, q, rates, np.zeros((3, 3)), q, v)
    began = began._replace(q=q)
    touch = touch._replace(cones=Cones(*(array.copy() for array in touch.cones)))
    lift_contacts(touch, LEAST)
    solution = motion._replace(pose=began.pose, after=make_pose(nl), nu=motion.nu.copy())
    rows, joint_step, impulse = _begin(mechanism, acting, began, joint_step, dt)
    move_to(mechanism, solution, rows, touch, dt)
    assemble(mechanism, solution, rows, joint_step, touch, linear, dt)
    if factor(linear.symbolic, linear.values, linear.pivots) != OK:
        raise UnconvergedError(
            "gradient of a step: Newton's matrix is singular at its solution; joints that contradict each other have "
            "no derivative, a relaxation > 0 may help"
        )
    slopes = _slopes(mechanism, acting, began, solution, touch, rows, joint_step, impulse, dt)
    tangent_poles(touch.points, shapes, convex, slopes.pole)
    X = np.zeros((12 * n + nu + (nv + 6 * n if forces else 0), linear.symbolic.rows))
    fill_columns(
        mechanism, linear.symbolic, slopes, joint_step, acting.actuators, touch, solution, began.nu, began.wrench,
        make_small(), dt, forces, X,
    )  # fmt: skip
    solve_columns(linear, X)
    dnu = np.ascontiguousarray(X[:, : 6 * n].T)
    dz = np.empty_like(dnu).reshape(n, 6, -1)
    dz[:, :3] = dt * dnu.reshape(n, 6, -1)[:, :3]
    dz[:, 3:] = rows.turn[1:] @ dnu.reshape(n, 6, -1)[:, 3:]
    for b in range(n):
        dz[b, :3, 6 * b : 6 * b + 3] += np.eye(3)
        dz[b, 3:, 6 * b + 3 : 6 * b + 6] += slopes.turn[b + 1]
    parts = np.cumsum([6 * n, 6 * n, nu, nv if forces else 0])
    start = rows_at(bodies, nodes.joints, began.pose, began.nu)
    end = rows_at(bodies, nodes.joints, solution.after, solution.nu)
    z_by, nu_by = (np.split(a.reshape(6 * n, -1), parts, axis=1) for a in (dz, dnu))
    (z_q, nu_q), (q_z, v_z) = from_joints(bodies, nodes.joints, start), to_joints(bodies, end)
    return StepGradient(
        z_by[0],
        z_by[1],
        z_by[2],
        nu_by[0],
        nu_by[1],
        nu_by[2],
        z_by[3],
        nu_by[3],
        z_by[4],
        nu_by[4],
        z_q,
        nu_q,
        q_z,
        v_z,
    )


def _begin(
    mechanism: Mechanism, acting: Any, began: Began, template: JointStep, dt: float
) -> tuple[Rows, JointStep, np.ndarray]:
    """Rows at z, and the impulses (nv,) of all joint forces, with or without a soft row."""
    nodes, nv, nl = mechanism.nodes, len(mechanism.bodies.dof_link), len(began.nu)
    rows, shapes = make_rows(nl, len(began.q), nodes), ((nv, 12), (nv,), (nv,), (nv,), (nl, 6))
    steps = [
        template._replace(soft=soft, before=make_pose(nl), rates_before=np.zeros((nv, 12)),
                          **{name: np.zeros(shape) for name, shape in zip(template._fields, shapes, strict=False)})
        for soft in (template.soft, np.ones_like(template.soft))
    ]  # fmt: skip
    for step in steps:
        joint_impulses(
            mechanism.bodies, acting.passive, acting.actuators, acting.armature, began.pose, began.nu, began.q,
            began.control, began.applied, dt, step,
        )  # fmt: skip
    body_rows(nodes.joints, began.pose, rows.held)
    rows.q[:] = began.q
    limit_gaps(nodes, mechanism.bodies.tree, began.pose, began.q, rows.R, rows.gap, rows.limits)
    return rows, steps[0], steps[1].impulse


def _slopes(
    mechanism: Mechanism,
    acting: Any,
    began: Began,
    solution: Motion,
    touch: Touch,
    rows: Rows,
    joint_step: JointStep,
    impulse: np.ndarray,
    dt: float,
) -> Slopes:
    bodies, nodes, first = mechanism.bodies, mechanism.nodes, mechanism.first
    joints, nl, nv = nodes.joints, len(bodies.mass), len(bodies.dof_link)
    nb, nlim = len(joints.joint), len(nodes.limit_joint)
    slopes = Slopes(
        turn=np.ascontiguousarray(np.einsum("bji,bjk->bik", solution.after.rot, began.pose.rot)),
        held=np.zeros((nb, 12)),
        limits=np.zeros((nlim, 12)),
        held_force=np.zeros((len(joints.link1), 12, 12)),
        rate_force=np.zeros((nl, 12, 12)),
        rate_after=np.zeros((nv, 12)),
        rate_before=np.zeros((nv, 12)),
        by_q=np.zeros((nv, 3)),
        by_v=np.zeros(nv),
        by_u=np.zeros(len(began.control)),
        rotor=np.zeros((2, nv, 12)),
        pole=np.zeros((len(touch.edge), 3)),
    )
    body_rows(joints, solution.after, slopes.held)
    limit_gaps(nodes, bodies.tree, solution.after, began.q, rows.R, rows.gap, slopes.limits)
    move, change = np.zeros((2, 12))
    held = solution.lam[first[joints.joint] + np.arange(nb) - joints.start[joints.joint]]
    held_derivatives(joints, began.pose, held, solution.nu, slopes.held_force, np.zeros((nb, 12)), move, change)
    tau = impulse.copy()
    tau[nodes.soft_dof] = solution.lam[first[nodes.soft_node] + nodes.soft_place]
    tree, com, unused = bodies.tree, bodies.com, np.zeros((nl, 12, 12))
    rate_derivatives(tree, com, began.pose, tau, solution.nu, slopes.rate_force, slopes.rate_after, move, change)
    rate_derivatives(tree, com, began.pose, tau, began.nu, unused, slopes.rate_before, move, change)
    after = np.zeros(nv)
    joint_rates(bodies, joint_step.rates, solution.nu, after)
    joint_slopes(
        tree, acting.passive, acting.actuators, began.q, joint_step.rate, after, began.control, dt, slopes.by_q,
        slopes.by_v, slopes.by_u,
    )  # fmt: skip
    if len(joint_step.turning):
        _rotors(mechanism, acting, began, joint_step, slopes, dt)
    return slopes


def _rotors(mechanism: Mechanism, acting: Any, began: Began, joint_step: JointStep, slopes: Slopes, dt: float) -> None:
    """Derivatives through z⁻ = z ⊖ dt·ν: δx⁻ = δx − dt·δv and δθ⁻ = Q·(δθ − T·δω), Q = R⁻ᵀR of the last interval."""
    bodies, nv, nl = mechanism.bodies, len(joint_step.rate), len(began.nu)
    early, move, change = np.zeros((nv, 12)), *np.zeros((2, 12))
    tree, com, before = bodies.tree, bodies.com, joint_step.before
    rate_derivatives(tree, com, before, np.zeros(nv), began.nu, np.zeros((nl, 12, 12)), early, move, change)
    for d in joint_step.turning:
        b = int(bodies.dof_link[d])
        by_z, by_nu = early[d].copy(), -dt * early[d]
        for link, at in ((int(tree.parent[b]), slice(3, 6)), (b, slice(9, 12))):
            T = np.zeros((3, 3))
            turn_jacobian(dt, began.nu[link, 3], began.nu[link, 4], began.nu[link, 5], T)
            by_z[at] = early[d, at] @ (before.rot[link].T @ began.pose.rot[link])
            by_nu[at] = -by_z[at] @ T
        inertia = acting.armature[d]
        slopes.rotor[0, d] = inertia * (slopes.rate_before[d] - by_z)
        slopes.rotor[1, d] = inertia * (joint_step.rates[d] - joint_step.rates_before[d] - by_nu)
