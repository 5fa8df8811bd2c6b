"""Inverse dynamics as a quadratic program: torques that let a robot on contacts follow several tasks at once.

Unknowns are the joint accelerations a (nv,) and the forces f (3n,) at the n contact points that are declared active:

    minimise    Σ weight·‖J_task·a − right_task‖² + Σ weight·‖f_i − f_ref,i‖² + force_weight·(‖f_t‖² + 1e-3·‖f_n‖²)
    subject to  the rows of M·a + h − Jᵀf = τ of joints without an actuator: τ = 0 (the floating base)
                J·a + J̇·v = −kd·ṗ − kp·(p − p_ref)                     contact points do not accelerate (or as a task)
                d_k·f ≤ μ·cos(π/facets)·f_n                              a pyramid inside the friction cone
                least ≤ f_n ≤ most                                       normal force
                τ_min ≤ (M·a + h − Jᵀf)_actuated ≤ τ_max                 what the actuators can do

h holds gravity, Coriolis and centrifugal forces, joint springs and joint damping. The torques follow from a and f.
The last term leaves out contacts that have a force reference f_ref (``ContactForce``).

Del Prete, Mansard, Ramos, Stasse, Nori: "Implementing torque control with high-ratio gear boxes and without
joint-torque sensors", IJHR 13(1), 2016, and the TSID library have this form; Hammoud, Olivieri, Righetti, Carpentier,
Del Prete: "Exponential Integration for Efficient and Accurate Multi-Body Simulation with Stiff Viscoelastic Contacts"
drive their robots by it.
Differs from them in: torques and equalities are eliminated before the solver sees the problem; several contact points
of one link constrain its motion by no more rows than it has freedoms; the pyramid lies inside the cone, not around it;
normal forces count 1e-3 in the force objective (TSID: 1e-6); torques that are held for long are computed for the middle
of that time (``hold``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from stickslip.control.actuation import Actuation, check_bound
from stickslip.control.force_task import ContactForce
from stickslip.control.qp import Infeasible, solve_qp
from stickslip.control.tasks import Task
from stickslip.dynamics import Dynamics
from stickslip.errors import ControlError, expected, listed, number
from stickslip.model.model import Model

NORMAL_SHARE = 1e-3
"""Weight of normal forces relative to ``force_weight``; they must carry the robot. With 1, the centre of pressure would
be stiff: for Romeo on one foot the force objective would weigh as much as the task of the centre of mass."""

Contacts = Sequence[str] | Mapping[str, object]
"""Names of the points that touch, or a mapping from their names to where they should be (3,) [m, world] (or None)."""


class Solution(NamedTuple):
    """Solution of the quadratic program."""

    acceleration: np.ndarray
    """(nv,) [m/s², rad/s²]."""
    torque: np.ndarray
    """(nu,) joint torques in the order of ``model.actuator_names`` [N m or N]."""
    contacts: tuple[str, ...]
    """The active contact points."""
    force: np.ndarray
    """(n, 3) on the robot at these points, world axes [N]."""


class InverseDynamics:
    """Follow tasks while standing on contacts: a controller for all actuated joints of a scene.

    ``contacts`` are frames (sites) as names, as a mapping from names to positions [m, world], or a function of time
    that returns either. A point with a position is pulled there by ``contact_kp`` [1/s²]; one without is only damped by
    ``contact_kd`` [1/s] (default 2·√contact_kp). ``contact_weight`` makes the contacts a task of that weight; by
    default they are hard constraints.

    ``friction`` is μ of a pyramid of ``facets`` sides inside the cone about ``normal`` (3,); ``normal_force`` [N] are
    the least and the most. ``hold`` [s] is the time for which a torque is held: the program is solved for the state
    predicted for the middle of that time, with the references at that instant.

    >>> feet = ["FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"]
    >>> controller = InverseDynamics(feet, [CenterOfMass(), Posture(weight=1e-3)])
    >>> log = sim.run(2.0, controller=controller, control_dt=0.01)
    """

    def __init__(
        self,
        contacts: Contacts | Callable[[float], Contacts],
        tasks: Sequence[Task | ContactForce],
        *,
        friction: float = 1.0,
        normal=(0.0, 0.0, 1.0),
        normal_force: tuple[float, float] = (1.0, 1e4),
        facets: int = 8,
        contact_kp: float = 10.0,
        contact_kd: float | None = None,
        contact_weight: float | None = None,
        force_weight: float = 1e-5,
        torque_limits: bool = True,
        hold: float = 0.0,
    ) -> None:
        if not callable(contacts) and (not _is_list(contacts) or not len(contacts)):
            raise expected("contacts", "the names of the points that touch", contacts, "see model.frame_index")
        if not _is_list(tasks) or not all(isinstance(task, Task | ContactForce) for task in tasks):
            raise expected("tasks", "a list of tasks such as CenterOfMass() or Posture()", tasks)
        self.contacts, self.tasks = contacts, tuple(tasks)
        friction = number("friction", friction, "a number > 0", above=0.0)
        facets = int(number("facets", facets, "a whole number ≥ 3", least=3.0))
        if not _is_list(normal_force) or len(normal_force) != 2:
            raise expected("normal_force", "the least and the most [N]", normal_force)
        least, most = normal_force
        self.normal_force = (
            number("normal_force: least", least, "a number of N ≥ 0", least=0.0),
            number("normal_force: most", most, "a number of N above the least", above=float(least)),
        )
        self.contact_kp = number("contact_kp", contact_kp, "a number ≥ 0", least=0.0)
        critical = 2.0 * np.sqrt(self.contact_kp)
        self.contact_kd = number(
            "contact_kd", critical if contact_kd is None else contact_kd, "a number ≥ 0", least=0.0
        )
        if contact_weight is not None:
            contact_weight = number("contact_weight", contact_weight, "a number > 0, or None (hard)", above=0.0)
        self.contact_weight = contact_weight
        self.force_weight = number("force_weight", force_weight, "a number > 0", above=0.0)
        self.torque_limits = bool(torque_limits)
        self.hold = number("hold", hold, "a number of seconds ≥ 0", least=0.0)
        direction = np.asarray(normal, dtype=float)
        if direction.shape != (3,) or not 0.0 < np.linalg.norm(direction) < np.inf:
            raise expected("normal", "three numbers that are not all zero", normal)
        self._normal = direction / np.linalg.norm(direction)
        self._cone = friction_pyramid(self._normal, friction, facets)
        self._force_cost = np.eye(3) - (1.0 - NORMAL_SHARE) * np.outer(self._normal, self._normal)

    def bind(self, model: Model) -> None:
        """Find the actuators, contact points and frames in the model, and check them."""
        self._actuation = Actuation(model, "InverseDynamics")
        self._dyn = Dynamics(model)
        self._actuated = self._actuation.dofs
        self._unactuated = np.setdiff1d(np.arange(model.nv), self._actuated)
        contacts = tuple(self._active(0.0))
        for task in self.tasks:
            if isinstance(task, ContactForce):
                task.bind(model, contacts, always=not callable(self.contacts))
            else:
                task.bind(self._dyn)

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        try:
            solution = self.solve(t, q, v)
            if self.hold > 0.0:
                # explicit midpoint rule: lever arms change while a torque is held, and a leg that stretches pushes
                # harder
                half, a = 0.5 * self.hold, solution.acceleration
                middle = self._dyn.integrate(q, v + 0.5 * half * a, half)
                solution = self._solve(self._active(t), t + half, middle, v + half * a)
        except ControlError as error:
            raise ControlError(f"{error}; {self._advice(v)}") from None
        return self._actuation.control(solution.torque, q, v)

    def _advice(self, v: np.ndarray) -> str:
        """A hint for error messages: too large a time step may be the cause, rather than the task."""
        model, d = self._dyn.model, int(np.argmax(np.abs(v)))
        joint = model.joint_names[int(np.searchsorted(model.tree.joint_v, d, side="right")) - 1]
        return (
            f"the fastest velocity is {abs(v[d]):.3g} m/s or rad/s (joint {joint!r}): if it was thrown about, try a "
            "smaller dt, or another method"
        )

    def solve(self, t: float, q: np.ndarray, v: np.ndarray) -> Solution:
        """Accelerations, torques and contact forces at time t [s] in the state (q, v); ``hold`` is not used."""
        check_bound(self)
        return self._solve(self._active(t), t, q, v)

    def _solve(self, active: dict[str, np.ndarray | None], t: float, q: np.ndarray, v: np.ndarray) -> Solution:
        dyn, nv = self._dyn, self._dyn.model.nv
        names, n = tuple(active), len(active)
        J = np.zeros((3 * n, nv))
        for i, name in enumerate(names):
            J[3 * i : 3 * i + 3] = dyn.frame_jacobian(q, name)[:3]
        dynamics = np.hstack([dyn.crba(q), -J.T])  # dynamics·x + h are the joint torques
        h = dyn.bias(q, v) - self._passive(q, v)

        size = nv + 3 * n
        H, g = np.zeros((size, size)), np.zeros(size)
        spared = np.ones(n)  # 1 for contacts without a force reference
        for task in (task for task in self.tasks if task.weight > 0.0):
            if isinstance(task, ContactForce):
                members, force = task.target(t, names)
                columns = nv + (3 * members[:, None] + np.arange(3)).ravel()
                H[columns, columns] += task.weight
                g[columns] -= task.weight * force.ravel()
                spared[members] = 0.0
            elif (rows := task.rows(dyn, t, q, v)) is not None:
                add_objective(H, g, task.weight, *rows)
        H[nv:, nv:] += self.force_weight * np.kron(np.diag(spared), self._force_cost)
        E, e = dynamics[self._unactuated], -h[self._unactuated]
        if n:
            A, right = self._contact_rows(active, q, v, J)
            if self.contact_weight is None:
                E = np.vstack([E, np.hstack([A, np.zeros((len(A), 3 * n))])])
                e = np.concatenate([e, right])
            else:
                add_objective(H, g, self.contact_weight, A, right)
        C, lower, upper = self._inequalities(dynamics, h, n, q, v)
        try:
            x = solve_qp(H, g, E, e, C, lower, upper)
        except Infeasible as why:
            raise ControlError(
                f"InverseDynamics at t = {t:g} s: no torques fit ({why}); contacts {listed(names) or 'none'}; try "
                "torque_limits=False or contact_weight=1e3"
            ) from None
        torque = dynamics @ x + h
        return Solution(x[:nv], torque[self._actuated], names, x[nv:].reshape(n, 3))

    def _active(self, t: float) -> dict[str, np.ndarray | None]:
        contacts = self.contacts(t) if callable(self.contacts) else self.contacts
        if not _is_list(contacts):
            raise expected(f"contacts at t = {t:g} s", "names, or a mapping from names to positions", contacts)
        active: dict[str, np.ndarray | None] = {}
        for name in contacts:
            self._dyn.model.frame(name)
            where = contacts[name] if isinstance(contacts, Mapping) else None
            position = None if where is None else np.asarray(where, dtype=float)
            if position is not None and position.shape != (3,):
                raise expected(f"position of contact {name!r}", "three numbers [m]", where)
            active[name] = position
        return active

    def _passive(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return self._dyn.passive_forces(q, v)

    def _contact_rows(self, active: dict, q: np.ndarray, v: np.ndarray, J: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(A, right) of the equation A·a = right that keeps the points where they are.

        The points of one link can only move as a rigid body: their 3n rows have rank 3, 5 or 6, and the feedback and
        the centripetal terms on the right contradict each other. So both sides are projected onto the rigid motions.
        """
        dyn = self._dyn
        links: dict[int, list[int]] = {}
        right = -self.contact_kd * (J @ v)
        point = np.zeros((len(active), 3))
        for i, (name, where) in enumerate(active.items()):
            point[i] = dyn.frame_pose(q, name)[0]
            row = slice(3 * i, 3 * i + 3)
            right[row] -= dyn.frame_acceleration(q, v, np.zeros(len(v)), name)[:3]
            if where is not None:
                right[row] -= self.contact_kp * (point[i] - where)
            links.setdefault(dyn.model.link(name), []).append(i)
        A, b = [], []
        for members in links.values():
            rows = (3 * np.array(members)[:, None] + np.arange(3)).ravel()
            basis = rigid_motions(point[members])
            A.append(basis.T @ J[rows])
            b.append(basis.T @ right[rows])
        return np.vstack(A), np.concatenate(b)

    def _inequalities(self, dynamics: np.ndarray, h: np.ndarray, n: int, q: np.ndarray, v: np.ndarray):
        """(C, lower, upper): friction pyramids, normal forces, torque limits."""
        nv, side = len(v), len(self._cone)
        C = np.zeros(((side + 1) * n, nv + 3 * n))
        lower, upper = np.full(len(C), -np.inf), np.zeros(len(C))
        for i in range(n):
            first = (side + 1) * i
            columns = slice(nv + 3 * i, nv + 3 * i + 3)
            C[first : first + side, columns] = self._cone
            C[first + side, columns] = self._normal
            lower[first + side], upper[first + side] = self.normal_force
        if not self.torque_limits:
            return C, lower, upper
        least, most = self._actuation.torque_range(q, v)
        limited = np.isfinite(least) | np.isfinite(most)
        dofs = self._actuated[limited]
        return (
            np.vstack([C, dynamics[dofs]]),
            np.concatenate([lower, least[limited] - h[dofs]]),
            np.concatenate([upper, most[limited] - h[dofs]]),
        )


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence | Mapping) and not isinstance(value, str)


def friction_pyramid(normal: np.ndarray, friction: float, facets: int) -> np.ndarray:
    """(facets, 3) rows d with d·f ≤ 0 for forces f in a pyramid inside the cone |f_t| ≤ μ·f_n."""
    first = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
    first /= np.linalg.norm(first)
    second = np.cross(normal, first)
    angle = 2.0 * np.pi * np.arange(facets)[:, None] / facets
    return np.cos(angle) * first + np.sin(angle) * second - friction * np.cos(np.pi / facets) * normal


def rigid_motions(points: np.ndarray) -> np.ndarray:
    """(3n, r) orthonormal basis of the velocities that n points (n, 3) of one rigid body can have; r = 3, 5 or 6."""
    arms = points - points.mean(axis=0)
    if len(points) == 1:
        return np.eye(3)
    arms = arms / max(float(np.abs(arms).max()), 1e-300)
    turns = np.stack([np.cross(axis, arms).ravel() for axis in np.eye(3)], axis=1)
    left, size, _ = np.linalg.svd(np.hstack([np.tile(np.eye(3), (len(points), 1)), turns]), full_matrices=False)
    return left[:, size > 1e-6 * size[0]]


def add_objective(H: np.ndarray, g: np.ndarray, weight: float, J: np.ndarray, right: np.ndarray) -> None:
    """Add ½·weight·‖J·a − right‖² to ½·xᵀHx + gᵀx; the constant is left out."""
    nv = J.shape[1]
    H[:nv, :nv] += weight * (J.T @ J)
    g[:nv] -= weight * (J.T @ right)
