"""Maximal coordinates of a time step: the rigid-body kernels on the cut model, and the joints as bilateral rows.

The state is Q, V of the cut model, kept in ``memory()``; ``state.q`` and ``state.v`` are joint coordinates taken from
it at the end of every step. If they are not what the last step left there (because the state was set), Q and V begin
anew from them.

Sizes: nv' = 6(nl − 1); nb rigid rows, 5 per hinge or slide and 3 per ball; ns soft rows, one per joint velocity with
rotor inertia, a damper, a spring or a servo (``maximal.soft_rows``), implicit as in joint coordinates. Forces in other
joints are computed in joint coordinates and act on both bodies. ``free_bodies`` has the kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import scipy.sparse as sp

from stickslip.dynamics.data import MassMatrix, make_data
from stickslip.dynamics.delassus import make_contact_rows
from stickslip.dynamics.drives import make_drives
from stickslip.dynamics.factor import solve
from stickslip.dynamics.fluid_forces import make_fluid
from stickslip.errors import InputError, listed
from stickslip.maximal.constraints import Constraints
from stickslip.maximal.conversion import to_bodies
from stickslip.maximal.cut import cut
from stickslip.maximal.fixed_normals import make_normals, normals_of
from stickslip.maximal.graph import root_links
from stickslip.maximal.joints import Joint
from stickslip.maximal.pair_rows import PairRows
from stickslip.maximal.path_rows import make_path_rows
from stickslip.maximal.soft_rows import SoftRows, turning_rotors
from stickslip.maximal.stabilisation import Stabilisation, make_correction
from stickslip.methods.base import Inputs
from stickslip.methods.rigid.coordinates.coordinates import Coordinates
from stickslip.methods.rigid.coordinates.free_bodies import (
    FreeBodies,
    Links,
    begin_bodies,
    factor_bodies,
    finish_bodies,
    joint_rights,
    look,
    take_end,
)
from stickslip.methods.rigid.coordinates.joint_coordinates import Motion
from stickslip.methods.rigid.coordinates.joint_limits import Limits, joint_rows, limit_rates, make_limits
from stickslip.methods.rigid.coordinates.look_ahead import make_look_ahead
from stickslip.model.mocap import held_loops
from stickslip.model.model import Model, State


def refuse_tendon_rows(model: Model) -> None:
    """Refuse what would be a row over more than two bodies."""
    t, name = model.tendons, np.array(model.tendon_names)
    found = {
        "couplings": [c.name for c in model.couplings],
        "dry friction of tendons": list(name[t.frictionloss > 0.0]),
        "armature of tendons": list(name[t.armature > 0.0]),
    }
    for what, names in found.items():
        if names:
            raise InputError(
                f"coordinates='maximal': {what} ({listed(repr(str(n)) for n in names)}) exist in joint coordinates "
                "only; leave coordinates out"
            )


class MaximalCoordinates(Coordinates):
    """Every link is a free body. ``extra_joints`` close loops or weld bodies; ``stabilise`` removes joint errors after
    every step, down to ``tolerance`` [m, rad; m/s, rad/s]."""

    def __init__(
        self, model: Model, *, stabilise: bool = True, extra_joints: Sequence[Joint] = (), tolerance: float = 1e-5,
        bias: str = "midpoint",
    ) -> None:  # fmt: skip
        refuse_tendon_rows(model)
        if moved := held_loops(model):
            names = listed(repr(model.closed_loops[k].name) for k, _ in moved)
            raise InputError(
                f"coordinates='maximal': loops at mocap bodies ({names}) are held in joint coordinates only; leave it "
                "out"
            )
        self.model, self.cut = model, cut(model)
        nj = len(model.joint_names)
        passive = model.joint_forces._replace(limited=np.zeros(nj, dtype=np.int64))  # whose limits are rows
        self.drives, self.fluid = make_drives(model), make_fluid(model)
        self._soft = SoftRows(model)
        self.constraints = Constraints(model, self.cut, extra_joints, self._soft)
        self.stabilisation = Stabilisation(tolerance) if stabilise else None
        held = np.zeros(model.nlink, dtype=np.int64)
        held[self.constraints.joints.link1] = held[self.constraints.joints.link2] = 1
        self._jointed = np.repeat(held[1:] != 0, 6)  # (nv',) velocities that corrections change
        self.links = Links(
            model.tree, model.support, passive, model.joint_forces, self.drives, self.fluid, model.inertia.armature,
            turning_rotors(model), held,
        )  # fmt: skip
        self._ahead = make_look_ahead(self.cut, self.cut.support, bias)
        lone = self._ahead.lone
        self.bodies = self._make_bodies(lone[held[lone] == 0])  # joints carry the others
        self.kin, self._limits = self.bodies.kin, make_limits(model, tendons=False)
        roots = 6 * (root_links(self.constraints.forest) - 1)
        self.support = self.cut.support._replace(link_root_dof=np.maximum(roots, -1))  # what joints couple
        self.M, self.L = self.bodies.mass.M, self.bodies.mass.L
        self.velocity, self.free_velocity = self.bodies.velocity, self.bodies.free
        self.Q, self.V = self.bodies.Q, self.bodies.V
        """Poses (7(nl − 1),) and velocities (6(nl − 1),) of the links."""
        self._q, self._v = self.bodies.q, self.bodies.v  # what the last step left in the state
        self._none = make_normals(make_contact_rows(self.support, 1), make_path_rows(self.constraints.system, 1), 0)
        self._normals, self._dt = self._none, 0.0
        self.bodies_model, self.passive = self.cut, self.cut.joint_forces
        """The model whose velocities are those of a step, and its joint forces: it has none."""
        self._arrays: tuple[MassMatrix, Motion, Limits] | None = None
        self._before: tuple[np.ndarray, ...] = ()
        """Q, V, q and v at the beginning of the last compiled step; empty if the last ``begin`` came later."""

    def _make_bodies(self, lone: np.ndarray) -> FreeBodies:
        m, c, joints, data = self.model, self.cut, self.constraints, make_data(self.cut)
        nb, nv, free = len(joints.violation), m.nv, self.cut.nv
        (Q, Q_next), (V, V_next), (q, q_next), (v, v_next) = (np.zeros((2, n)) for n in (c.nq, free, m.nq, nv))
        velocity, free_velocity, change, force, bias = np.zeros((5, free))
        right, impulse = np.zeros((2, nb + nv))
        return FreeBodies(
            c.tree, lone, c.support, c.inertia, data.kin, data.mass, Q, V, q, v, Q_next, V_next, q_next, v_next,
            velocity, free_velocity, self._soft.all_rates, joints.G, joints.violation, self._soft.arrays, joints.system,
            right, impulse, change, make_correction(nb, nv, free), make_data(c).kin, np.zeros((nv, 12)),
            np.zeros((2, nv)), np.zeros(nv), force, bias, np.zeros((m.nlink, 6)), np.zeros((3, 3)),
        )  # fmt: skip

    @property
    def joint_names(self) -> tuple[str, ...]:
        """(nj,) names of the joints of ``joint_error``: those of the tree that are not free, then extra ones."""
        return self.constraints.names

    def take(self, state: State) -> None:
        """Begin from joint coordinates, unless they are what the last step left."""
        known = np.array_equal(state.q, self._q) and np.array_equal(state.v, self._v)
        if not (known and np.any(self.Q[3:7])):
            self.Q[:], self.V[:] = to_bodies(self.model, state.q, state.v)
            self._q[:], self._v[:] = state.q, state.v

    def begin(self, state: State, inputs: Inputs, dt: float) -> None:
        self.take(state)
        begin_bodies(self.links, self.bodies, inputs, state.q, state.v, dt)
        self.constraints.looked()
        self._dt, self._normals, self._before = dt, self._none, ()

    def bilateral(self) -> tuple[sp.csr_array, np.ndarray] | None:
        if not len(self.constraints.violation):
            return None
        return self.constraints.rows, self.constraints.violation

    def soft(self) -> tuple[sp.csr_array, np.ndarray, np.ndarray] | None:
        if not len(self._soft):
            return None
        return self._soft.rows, self._soft.compliance, self._soft.target

    def hardened_velocity(self) -> np.ndarray:
        if not len(self._soft):
            return self.free_velocity
        self._factorise()
        joint_rights(self.links, self.bodies)
        right = self.bodies.right[: self.constraints.size]
        impulse = self.constraints.solve(np.zeros((1, self.cut.nv)), right[None])[1][0]
        change = self._soft.rows.T @ impulse[len(self.constraints.violation) :]
        solve(self.support, self.L, change)
        return self.free_velocity + change

    def hold(self, rows: sp.csr_array) -> None:
        if self.stabilisation is not None and rows.shape[0]:
            rows = rows[np.flatnonzero(np.diff(rows[:, self._jointed].indptr))]
            self._normals = normals_of(self.support, self.constraints.system, rows) if rows.shape[0] else self._none

    @property
    def looped(self) -> bool:
        return len(self.constraints.forest.loops) > 0

    @property
    def converged(self) -> bool:
        return self.stabilisation is None or self.stabilisation.converged

    def joint_solver(self) -> Callable[[np.ndarray], np.ndarray | None] | None:
        constraints = self.constraints
        now = constraints.looks

        def solve_joints(right: np.ndarray) -> np.ndarray | None:
            if constraints.looks != now:
                return None
            self._factorise()
            return constraints.impulses(right)

        return solve_joints

    def _factorise(self) -> None:
        if not self.constraints.factorised:
            self.constraints.check(factor_bodies(self.links, self.bodies))
            self.constraints.factorised = True

    def limits(self) -> tuple[sp.csr_array, np.ndarray] | None:
        m, limits = self.model, self._limits
        n, dry = joint_rows(m.tree, m.joint_forces, self._q, self._v, self._dt, limits)
        self.angular, self.bound = limits.angular[:n].copy(), limits.bound[n - dry : n].copy()
        if n == 0:
            return None
        rates = np.empty((n, 12))
        limit_rates(limits, n, self.bodies.rates, rates)
        link = m.support.dof_link[limits.column[limits.start[:n]]]
        return PairRows(m.tree.parent[link], link, self.cut.nv).matrix(rates), limits.gap[:n].copy()

    def finish(self, state: State, velocity: np.ndarray, dt: float) -> None:
        held, b = self.stabilisation, self.bodies
        b.V_next[:] = velocity
        tolerance, most = (0.0, 0) if held is None else (held.tolerance, held.iterations)
        if held is not None:
            self._factorise()
        code, closed, first, second = finish_bodies(
            self.links, b, self._normals, state.q, dt, held is not None, tolerance, most
        )
        self.constraints.check(code)
        self.constraints.looked()
        self.constraints.factorised = held is not None
        if held is not None:
            held.converged, held.position_iterations, held.velocity_iterations = bool(closed), first, second
        take_end(b, state.q, state.v)

    # -- compiled steps ----------------------------------------------------------------------------------------

    @property
    def joint_rows(self) -> int:
        """Largest number of joint rows of a step."""
        return len(self.bodies.right)

    def arrays(self, dt: float, acceleration: np.ndarray) -> tuple[MassMatrix, Motion, Limits]:
        """What a compiled step writes to."""
        b, self._dt = self.bodies, dt
        if self._arrays is None or self._arrays[1].acceleration is not acceleration:
            motion = Motion(b.f_ext, b.soft.gains, b.bias, b.free, b.velocity, b.q, acceleration, self._ahead)
            self._arrays = b.mass, motion, self._limits
        return self._arrays

    def stepped(self, before: tuple[np.ndarray, ...], iterations: np.ndarray) -> None:
        """Take note of compiled steps: Q, V, q and v before the last one, and the iterations of its corrections."""
        self.constraints.looked()
        self._before, held = before, self.stabilisation
        if held is not None:
            held.converged, held.position_iterations, held.velocity_iterations = True, *map(int, iterations)

    @contextmanager
    def at_beginning(self) -> Iterator[None]:
        """Kinematics and rows at the beginning of the last compiled step, and then again those at its end."""
        if not self._before:
            yield
            return
        b = self.bodies
        end = tuple(array.copy() for array in (b.Q, b.V, b.q, b.v))
        self._look_at(self._before)
        try:
            yield
        finally:
            self._look_at(end)

    def _look_at(self, arrays: tuple[np.ndarray, ...]) -> None:
        b = self.bodies
        b.Q[:], b.V[:], b.q[:], b.v[:] = arrays
        look(self.links, b, b.Q, b.V, self._dt)
        self.constraints.looked()

    def memory(self) -> dict[str, np.ndarray]:
        return {"body_q": self.Q, "body_v": self.V, "joint_q": self._q, "joint_v": self._v}

    def joint_error(self) -> tuple[np.ndarray, np.ndarray]:
        """Errors at the end of the last step, or at the state of a later ``begin``."""
        per_joint = self.constraints.per_joint
        return per_joint(self.constraints.violation), per_joint(self.constraints.velocity_errors(self.V))
