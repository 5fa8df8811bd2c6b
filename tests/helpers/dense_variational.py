"""A variational step without contacts and limits by dense Newton iterations: an oracle, O(n³), for the sparse one.

Unknowns: ν⁺ of every body, λ of held rows; loops may be redundant (least squares). Soft rows are eliminated.
"""

import numpy as np

from stickslip.dynamics.data import make_data
from stickslip.dynamics.drives import make_drives
from stickslip.maximal.rows import body_rows, joint_errors
from stickslip.methods.variational.bodies import centred, from_joint_state, make_pose, next_pose, to_joint_state
from stickslip.methods.variational.discrete_rotation import (
    OK,
    momentum_after,
    momentum_before,
    momentum_jacobian,
    turn_jacobian,
)
from stickslip.methods.variational.joints.joint_nodes import (
    build_joint_nodes,
    joint_impulses,
    make_joint_step,
    without_limits,
)


class DenseVariational:
    def __init__(self, model, dt, extra=(), tolerance=1e-13):
        self.model, self.dt, self.tolerance = model, dt, tolerance
        self.bodies = centred(model)
        self.nodes = build_joint_nodes(model, self.bodies, extra)
        self.joint_step, self.passive = make_joint_step(model, self.nodes), without_limits(model)
        nl, nb = model.nlink, len(self.nodes.joints.joint)
        self.pose, self.after, self.nu = make_pose(nl), make_pose(nl), np.zeros((nl, 6))
        self.q, self.v = model.state().q.copy(), np.zeros(model.nv)
        self.impulse, self.g, self._G = np.zeros(nb), np.zeros(nb), np.zeros((nb, 12))
        self._rates, self._R = np.zeros((model.nv, 12)), np.zeros((3, 3))
        self.control, self.applied = np.zeros(model.nu), np.zeros(model.nv)
        self.set(self.q, self.v)

    def set(self, q, v):
        self.q[:], self.v[:] = q, v
        from_joint_state(
            self.model.tree, self.bodies.com, self.q, self.v, make_data(self.model).kin, self.pose, self.nu
        )

    def _wide(self, rows, link1, link2):
        """(n, 6(nl − 1)) from twelve numbers per row."""
        out = np.zeros((len(rows), 6 * self.model.nlink))
        for i, (a, b) in enumerate(zip(link1, link2, strict=True)):
            out[i, 6 * a : 6 * a + 6] += rows[i, :6]
            out[i, 6 * b : 6 * b + 6] += rows[i, 6:]
        return out[:, 6:]

    def _held(self, pose):
        j = self.nodes.joints
        body_rows(j, pose, self._G)
        return self._wide(self._G, j.link1[j.joint], j.link2[j.joint])

    def step(self):
        bodies, dt, nu, n = self.bodies, self.dt, self.nu.copy(), 6 * (self.model.nlink - 1)
        joint_impulses(
            bodies, self.passive, make_drives(self.model), self.model.inertia.armature, self.pose, self.nu, self.q,
            self.control, self.applied, dt, self.joint_step,
        )  # fmt: skip
        soft, link = self.nodes.soft_dof, bodies.dof_link
        r = self._wide(self.joint_step.rates[soft], bodies.tree.parent[link[soft]], link[soft])
        w, given, before = (getattr(self.joint_step, name)[soft] for name in ("weight", "impulse", "rate"))
        G0, push = self._held(self.pose), self.joint_step.push[1:].copy()
        for b in range(1, self.model.nlink):
            push[b - 1, :3] += bodies.mass[b] * (nu[b, :3] + dt * self.model.inertia.gravity)
            push[b - 1, 3:] += momentum_before(bodies.J, b, dt, *nu[b, 3:])
        A, T, m = np.zeros((n, n)), np.zeros((n, n)), len(self.g)
        for iteration in range(30):
            residual = np.zeros(n)
            for b in range(1, self.model.nlink):
                i = 6 * (b - 1)
                A[i : i + 3, i : i + 3] = bodies.mass[b] * np.eye(3)
                T[i : i + 3, i : i + 3] = dt * np.eye(3)
                momentum_jacobian(bodies.J, b, dt, *nu[b, 3:], A[i + 3 : i + 6, i + 3 : i + 6])
                turn_jacobian(dt, *nu[b, 3:], T[i + 3 : i + 6, i + 3 : i + 6])
                residual[i : i + 3] = bodies.mass[b] * nu[b, :3]
                residual[i + 3 : i + 6] = momentum_after(bodies.J, b, dt, *nu[b, 3:])
            assert next_pose(self.pose, nu, dt, self.after) == OK
            joint_errors(self.nodes.joints, self.after, self.g)
            soft_impulse = given - w * (r @ nu[1:].ravel() - before)
            residual -= push.ravel() + r.T @ soft_impulse + G0.T @ self.impulse
            small = max(np.abs(residual).max(initial=0.0), np.abs(self.g).max(initial=0.0))
            if small < self.tolerance and iteration:
                break
            K = np.block([[A + r.T @ (w[:, None] * r), -G0.T], [self._held(self.after) @ T, np.zeros((m, m))]])
            change = np.linalg.lstsq(K, -np.concatenate([residual, self.g]), rcond=1e-11)[0]
            nu[1:] += change[:n].reshape(-1, 6)
            self.impulse += change[n:]
        self.nu[:] = nu
        for ours, new in zip(self.pose, self.after, strict=True):
            ours[:] = new
        to_joint_state(bodies, self.pose, nu, self.q, self._rates, self._R, self.q, self.v)
        return iteration
