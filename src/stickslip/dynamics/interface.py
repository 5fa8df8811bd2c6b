"""Dynamics: the rigid-body algorithms with NumPy arrays in and out; inputs are checked here."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, eigsh

from stickslip.attributes import IN_DYNAMICS, Named
from stickslip.dynamics import configuration, energy, factor, jacobian
from stickslip.dynamics.aba import aba
from stickslip.dynamics.aba_derivatives import aba_derivatives
from stickslip.dynamics.activation import activation_rate, drive_signals
from stickslip.dynamics.crba import crba, unpack
from stickslip.dynamics.data import make_data
from stickslip.dynamics.delassus import (
    contact_jacobian,
    delassus_dense,
    delassus_pattern,
    delassus_sparse,
    make_contact_rows,
)
from stickslip.dynamics.derivatives import load_wrenches, make_derivatives, unload
from stickslip.dynamics.drive_forces import add_drive_forces, drive_forces, tendon_energy
from stickslip.dynamics.drives import Drives, make_drives, row_arms
from stickslip.dynamics.fluid_derivatives import add_drag_mass, fluid_drag
from stickslip.dynamics.fluid_forces import Fluid, make_fluid
from stickslip.dynamics.joint_forces import damper_force, spring_and_limit_forces, spring_energy
from stickslip.dynamics.kinematics import (
    forward_accelerations,
    forward_kinematics,
    forward_velocities,
    link_poses,
    path_kinematics,
    spatial_inertias,
)
from stickslip.dynamics.outside_forces import outside_forces
from stickslip.dynamics.rnea import collect_forces, rnea
from stickslip.dynamics.rnea_derivatives import rnea_derivatives
from stickslip.dynamics.transmission import transmit
from stickslip.errors import InputError, expected
from stickslip.model.arrays import FREE, JOINT_NV
from stickslip.model.model import Model

POWERS = 50
"""Steps of the power iteration that finds the fastest drag."""
SMALL = 60
"""Velocities up to which all frequencies of a model are computed, and not only the highest, by Lanczos."""


class Energy(NamedTuple):
    """Energies of a state [J]."""

    kinetic: float
    potential: float
    """Energy of gravity, zero at the world's origin."""
    elastic: float
    """Energy of the springs of joints and tendons."""


class Dynamics(Named):
    """The rigid-body algorithms of one model; owns their scratch memory, so use one per thread.

    Configurations, velocities and forces are laid out as in ``State`` (MuJoCo's layout). ``external`` is an
    (nl, 6) array of force [N] and torque [N m] on each link, in world axes at the link's origin.

    >>> dyn = Dynamics(model)
    >>> M = dyn.crba(q)
    >>> a = dyn.aba(q, v, tau)
    """

    elsewhere = ("dynamics", IN_DYNAMICS)

    def __init__(self, model: Model) -> None:
        if not isinstance(model, Model):
            raise expected("model", "a Model", type(model).__name__, "scene.compile() makes one")
        self.model = model
        self.data = make_data(model)
        self._drives, self._fluid_arrays, self._version = make_drives(model), make_fluid(model), model.version
        self._derivatives = make_derivatives(model)
        self._f_ext = np.zeros((model.nlink, 6))
        self._quaternions = model.quaternions()

    @property
    def drives(self) -> Drives:
        """Rows of tendons and actuators, where one of the functions below last looked."""
        self._follow_model()
        return self._drives

    @property
    def _fluid(self) -> Fluid:
        self._follow_model()
        return self._fluid_arrays

    def _follow_model(self) -> None:
        """Make anew what is derived from the model, if a setter has changed it."""
        if self._version != self.model.version:
            self._drives, self._fluid_arrays = make_drives(self.model), make_fluid(self.model)
            self._version = self.model.version

    # -- checks of shapes, finiteness and quaternions; kernels assume them ----------------------------------------

    def _vector(self, name: str, value, size: int) -> np.ndarray:
        try:
            array = np.asarray(value, dtype=np.float64, order="C")
        except (TypeError, ValueError):
            raise expected(name, f"{size} numbers", value) from None
        if array.shape != (size,):
            raise expected(name, f"an array of shape ({size},)", array.shape)
        if not np.all(np.isfinite(array)):
            raise expected(name, "finite numbers", array)
        return np.ascontiguousarray(array)

    def check_q(self, q) -> np.ndarray:
        """q as an array (nq,) of finite numbers with unit quaternions; what is none is refused by name."""
        array = self._vector("q", q, self.model.nq)
        for j, first in self._quaternions:
            w, x, y, z = array[first : first + 4].tolist()
            if not abs(w * w + x * x + y * y + z * z - 1.0) < 1e-6:
                raise expected(f"quaternion of joint {self.model.joint_names[j]!r} in q", "unit length", (w, x, y, z))
        return array

    def _v(self, v, name: str = "v") -> np.ndarray:
        return self._vector(name, v, self.model.nv)

    def _external(self, q: np.ndarray, external) -> np.ndarray:
        self._f_ext[:] = 0.0
        if external is not None:
            wrench = np.ascontiguousarray(external, dtype=np.float64)
            if wrench.shape != self._f_ext.shape:
                raise expected("external", f"an array of shape {self._f_ext.shape}", wrench.shape)
            if not np.all(np.isfinite(wrench)):
                raise expected("external", "finite numbers", wrench)
            forward_kinematics(self.model.tree, q, self.data.kin)
            jacobian.add_wrenches(self.data.kin, wrench, self._f_ext)
        return self._f_ext

    def _update(self, q, v=None) -> None:
        forward_kinematics(self.model.tree, self.check_q(q), self.data.kin)
        velocity = np.zeros(self.model.nv) if v is None else self._v(v)
        forward_velocities(self.model.tree, velocity, self.data.kin)
        spatial_inertias(self.model.inertia, self.data.kin)

    # -- the classical algorithms --------------------------------------------------------------------------------

    def rnea(self, q, v, a, external=None) -> np.ndarray:
        """Inverse dynamics: τ = M·a + b − Jᵀf (nv,)."""
        m, q, tau = self.model, self.check_q(q), np.empty(self.model.nv)
        f_ext = self._external(q, external)
        rnea(m.tree, m.support, m.inertia, q, self._v(v), self._v(a, "a"), f_ext, self.data.kin, tau)
        return tau

    def rnea_derivatives(self, q, v, a, external=None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(∂τ/∂q, ∂τ/∂v, ∂τ/∂a) of inverse dynamics, each (nv, nv); the last is the mass matrix M.

        Column k of the first is the derivative along q ⊕ ε·e_k. The components of ``external`` are held constant: in
        world axes, at the link origins, which move.
        """
        self._no_cables()
        m, q, results = self.model, self.check_q(q), np.empty((3, self.model.nv, self.model.nv))
        v, a, f_ext = self._v(v), self._v(a, "a"), self._loads(q, external)
        M, der = self.data.mass.M, self._derivatives
        rnea_derivatives(m.tree, m.support, m.inertia, q, v, a, f_ext, self.data.kin, der, M, results[0], results[1])
        unpack(m.support, M, results[2])
        return results[0], results[1], results[2]

    def _no_cables(self) -> None:
        if len(self.model.inertia.cable_armature):
            raise InputError("derivatives: armature of tendons has none yet; set it to 0 to differentiate")

    def _loads(self, q: np.ndarray, external) -> np.ndarray:
        """External spatial forces; also stores in the scratch memory how they change as links move."""
        f_ext = self._external(q, external)
        unload(self._derivatives)
        if external is not None:
            load_wrenches(self.data.kin, np.ascontiguousarray(external, dtype=np.float64), self._derivatives)
        return f_ext

    def bias(self, q, v, external=None) -> np.ndarray:
        """Gravity, centrifugal and Coriolis forces b(q, v) (nv,)."""
        return self.rnea(q, v, np.zeros(self.model.nv), external)

    def passive_forces(self, q, v) -> np.ndarray:
        """Springs, dampers and limits that push, of joints and tendons, gravity compensation and the medium (nv,)."""
        m, tau, rest = self.model, np.zeros(self.model.nv), np.zeros(self.model.nv)
        q, v = self.check_q(q), self._v(v)
        spring_and_limit_forces(m.tree, m.joint_forces, q, v, tau)
        for d in range(m.nv):
            tau[d] += damper_force(m.joint_forces, d, v[d])
        if len(m.tendons.limited):
            tau += self.tendon_lengths(q)[1].T @ self.tendon_forces(q, v)
        self._update(q, v)
        outside_forces(m.inertia, self._fluid, self.data.kin, np.zeros((m.nlink, 6)), self.data.kin.force)
        collect_forces(m.tree, m.support, self.data.kin, rest)
        return tau + rest

    def crba(self, q) -> np.ndarray:
        """The mass matrix M (nv, nv)."""
        m = self.model
        crba(m.tree, m.support, m.inertia, self.check_q(q), self.data.kin, self.data.mass)
        dense = np.empty((m.nv, m.nv))
        unpack(m.support, self.data.mass.M, dense)
        return dense

    def aba(self, q, v, tau, external=None) -> np.ndarray:
        """Forward dynamics: a = M⁻¹(τ − b + Jᵀf) (nv,)."""
        m, q, a = self.model, self.check_q(q), np.empty(self.model.nv)
        if len(m.inertia.cable_armature):  # couples joints, which the recursion over links cannot see
            return self.solve(q, self._v(tau, "tau") - self.bias(q, v, external))
        f_ext = self._external(q, external)
        aba(m.tree, m.support, m.inertia, q, self._v(v), self._v(tau, "tau"), f_ext, self.data.kin, self.data.art, a)
        return a

    def aba_derivatives(self, q, v, tau, external=None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(∂a/∂q, ∂a/∂v, ∂a/∂τ = M⁻¹) of forward dynamics, each (nv, nv), in the sense of ``rnea_derivatives``."""
        self._no_cables()
        m, q, results = self.model, self.check_q(q), np.empty((3, self.model.nv, self.model.nv))
        v, tau, f_ext, a = self._v(v), self._v(tau, "tau"), self._loads(q, external), np.empty(self.model.nv)
        work = (self.data.kin, self.data.mass, self._derivatives, a)
        aba_derivatives(m.tree, m.support, m.inertia, q, v, tau, f_ext, *work, *results)
        return results[0], results[1], results[2]

    def solve(self, q, b) -> np.ndarray:
        """M⁻¹·b by the tree-sparse factorisation (nv,)."""
        self._factor(q)
        return self._solved(self._v(b, "b"))

    def _solved(self, b: np.ndarray) -> np.ndarray:
        """M⁻¹·b by the factor at hand."""
        x = np.array(b, dtype=np.float64)
        factor.solve(self.model.support, self.data.mass.L, x)
        return x

    def _factor(self, q) -> None:
        m, mass = self.model, self.data.mass
        crba(m.tree, m.support, m.inertia, self.check_q(q), self.data.kin, mass)
        factor.ltdl_factor(m.support, mass.M, mass.L)

    # -- frames --------------------------------------------------------------------------------------------------

    def poses(self, q) -> np.ndarray:
        """(nl, 7) world position and quaternion (w, x, y, z) of every link."""
        forward_kinematics(self.model.tree, self.check_q(q), self.data.kin)
        poses = np.empty((self.model.nlink, 7))
        link_poses(self.data.kin, poses)
        return poses

    def frame_pose(self, q, frame: str) -> tuple[np.ndarray, np.ndarray]:
        """World position (3,) and axes (3, 3) of a named frame."""
        forward_kinematics(self.model.tree, self.check_q(q), self.data.kin)
        f, frames, kin = self.model.frame(frame), self.model.frames, self.data.kin
        position = np.array(jacobian.frame_position(frames, kin, f))
        return position, kin.rot[frames.link[f]] @ frames.rot[f]

    def frame_velocity(self, q, v, frame: str) -> np.ndarray:
        """(6,) linear velocity of the frame's origin and angular velocity, in world axes."""
        self._update(q, v)
        f, frames, kin = self.model.frame(frame), self.model.frames, self.data.kin
        link = frames.link[f]
        linear = jacobian.point_velocity(kin, link, *jacobian.frame_position(frames, kin, f))
        return np.array([*linear, *kin.vel[link, 3:]])

    def frame_acceleration(self, q, v, a, frame: str) -> np.ndarray:
        """(6,) acceleration of the frame's origin and angular acceleration, in world axes; J̇·v where a = 0."""
        self._update(q, v)
        forward_accelerations(self.model.tree, self.model.support, self._v(a, "a"), self.data.kin)
        f, frames, kin = self.model.frame(frame), self.model.frames, self.data.kin
        link = frames.link[f]
        linear = jacobian.point_acceleration(kin, kin.total, link, *jacobian.frame_position(frames, kin, f))
        return np.array([*linear, *kin.total[link, 3:]])

    def frame_jacobian(self, q, frame: str) -> np.ndarray:
        """(6, nv) velocity of the frame's origin, then angular velocity, in world axes."""
        m, kin, f, J = self.model, self.data.kin, self.model.frame(frame), np.zeros((6, self.model.nv))
        path_kinematics(m.tree, m.frames.link[f], self.check_q(q), kin)
        jacobian.frame_jacobian(m.support, m.frames, kin, f, J)
        return J

    # -- contacts ------------------------------------------------------------------------------------------------

    def delassus(self, q, link1, link2, point, axes) -> np.ndarray:
        """W = J·M⁻¹·Jᵀ (3n, 3n) of n contacts between link1 and link2.

        ``point`` (n, 3) [world]; ``axes`` (n, 3, 3): rows are normal, tangent 1, tangent 2 [world].
        """
        link1, link2, point, axes = self._contacts(link1, link2, point, axes)
        self._factor(q)
        n = len(link1)
        W = np.zeros((3 * n, 3 * n))
        rows = make_contact_rows(self.model.support, n)
        delassus_dense(self.model.support, self.data.mass.L, self.data.kin, link1, link2, point, axes, n, rows, W)
        return W

    def delassus_sparse(self, q, link1, link2, point, axes) -> sparse.bsr_array:
        """The Delassus matrix in 3×3 blocks. Contacts in separate trees do not couple and have no block."""
        link1, link2, point, axes = self._contacts(link1, link2, point, axes)
        self._factor(q)
        n, support = len(link1), self.model.support
        start, other = np.zeros(n + 1, dtype=np.int64), np.zeros(max(n, 1), dtype=np.int64)
        scratch = (np.zeros(self.model.nv, np.int64), np.zeros((n, 2), np.int64), np.zeros(n, np.int64))
        count = delassus_pattern(support, link1, link2, n, *scratch, start, other)
        if count < 0:
            other = np.zeros(-count, dtype=np.int64)
            count = delassus_pattern(support, link1, link2, n, *scratch, start, other)
        blocks = np.zeros((count, 3, 3))
        rows = make_contact_rows(support, n)
        delassus_sparse(
            support, self.data.mass.L, self.data.kin, link1, link2, point, axes, n, start, other, rows, blocks
        )
        return sparse.bsr_array((blocks, other[:count], start), shape=(3 * n, 3 * n))

    def delassus_norm(self, q, link1, link2, point, weight) -> float:
        """The largest eigenvalue of √w·W·√w for weights (n,), one per contact.

        With the contacts' stiffnesses as weights it is the square of their highest frequency [1/s²]. It is computed
        matrix-free (Lanczos): thousands of contacts cost milliseconds.
        """
        axes = np.tile(np.eye(3), (len(link1), 1, 1))
        link1, link2, point, axes = self._contacts(link1, link2, point, axes)
        weight = self._vector("weight", weight, len(link1))
        if not np.any(weight):
            return 0.0
        self._factor(q)
        m, n = self.model, len(link1)
        rows = make_contact_rows(m.support, n)
        for c in range(n):
            contact_jacobian(m.support, self.data.kin, link1, link2, point, axes, c, rows)
        filled = np.arange(rows.dofs.shape[1]) < rows.length[:, None]
        values, dofs = rows.J[filled], rows.dofs[filled]
        row = 3 * np.repeat(np.arange(n), rows.length)[:, None] + np.arange(3)
        shape = (3 * n, m.nv)
        J = sparse.csr_array((values.ravel(), (row.ravel(), np.repeat(dofs, 3))), shape=shape)
        J = sparse.diags_array(np.repeat(np.sqrt(weight), 3)) @ J

        def apply(x: np.ndarray) -> np.ndarray:
            y = np.ascontiguousarray(J.T @ x.ravel())
            factor.solve(m.support, self.data.mass.L, y)
            return J @ y

        return largest_eigenvalue(apply, 3 * n)

    def mobility_norm(self, q, weight) -> float:
        """The largest eigenvalue of √w·M⁻¹·√w for weights (nv,).

        With joint stiffnesses as weights it is the square of the highest frequency [1/s²].
        """
        root = np.sqrt(self._v(weight, "weight"))
        if not np.any(root):
            return 0.0
        self._factor(q)

        def apply(x: np.ndarray) -> np.ndarray:
            y = np.ascontiguousarray(root * x.ravel())
            factor.solve(self.model.support, self.data.mass.L, y)
            y[root == 0.0] = 0.0  # velocities that move next to no mass may overflow
            return root * y

        return largest_eigenvalue(apply, self.model.nv)

    def drag_rate(self, q, v) -> float:
        """The largest rate at which drag of the medium slows a motion down [1/s]: the largest eigenvalue of M⁻¹·ΣJᵀCJ,
        C = −∂drag/∂velocity at v, by power iteration."""
        if not len(self._fluid.drag):
            return 0.0
        self._update(q, v)
        fluid_drag(self._fluid, self.data.kin)
        m, packed = self.model, np.zeros_like(self.data.mass.M)
        add_drag_mass(self._fluid, m.support, self.data.kin, 1.0, packed)
        self._factor(q)
        drag = self._symmetric(packed)
        x, rate = np.random.default_rng(0).normal(size=m.nv), 0.0
        for _ in range(POWERS):
            x = np.ascontiguousarray(drag @ x)
            factor.solve(m.support, self.data.mass.L, x)
            rate = float(np.linalg.norm(x))
            if rate == 0.0:
                break
            x /= rate
        return rate

    def swing_norm(self, q) -> float:
        """The square of the highest frequency [1/s²] at which gravity swings links, whichever way they hang.

        It is the largest eigenvalue of M⁻¹·∂²V/∂q² at the pose q, with the potential V of gravity along x, y or z.

        Where velocity i turns all that velocity j moves,

            ∂²V/∂qᵢ∂qⱼ = −g·(ωᵢ × uⱼ),    uⱼ = Σ m·∂c/∂qⱼ over all links.

        Entries among the velocities of one ball joint are means of both orders. All that a free joint carries is left
        out: it falls, and gravity swings none of its links.
        """
        m = self.model
        size = float(np.linalg.norm(m.inertia.gravity))
        moment = m.inertia.mass.sum() * self.center_of_mass_jacobian(q).T
        axes = self.data.kin.S[:, 3:].copy()
        falls = np.zeros(m.nv, dtype=bool)
        for first in m.tree.joint_v[m.tree.joint_type == FREE]:
            falls[first : first + JOINT_NV[FREE]] = True
        for d, parent in enumerate(m.support.dof_parent):
            falls[d] |= parent >= 0 and falls[parent]
        axes[falls] = 0.0
        if not (size and axes.any()):
            return 0.0
        self._factor(q)
        M, found = self._symmetric(self.data.mass.M), [0.0]
        row, column = self._packed_rows(), m.support.column
        joint = np.repeat(np.arange(len(m.tree.joint_type)), [JOINT_NV[kind] for kind in m.tree.joint_type])
        same = joint[row] == joint[column]
        inverse = LinearOperator((m.nv, m.nv), matvec=lambda x: self._solved(x.ravel()), dtype=float)
        for g in size * np.eye(3):
            pulls = np.cross(axes, g)
            slopes = np.einsum("kd,kd->k", moment[row], pulls[column])
            slopes[same] = 0.5 * (slopes[same] + np.einsum("kd,kd->k", moment[column[same]], pulls[row[same]]))
            K = self._symmetric(slopes)
            if m.nv <= SMALL:
                found.append(np.abs(eigh(K.toarray(), M.toarray(), eigvals_only=True)).max())
            elif K.count_nonzero():
                start = np.random.default_rng(0).normal(size=m.nv)
                found += abs(eigsh(K, 1, M, Minv=inverse, tol=1e-3, v0=start, return_eigenvectors=False)).tolist()
        return float(max(found))

    def _packed_rows(self) -> np.ndarray:
        """(nnz,) the row of every entry of a matrix that is packed by rows along the tree."""
        return np.repeat(np.arange(self.model.nv), np.diff(self.model.support.start))

    def _symmetric(self, packed: np.ndarray) -> sparse.csr_array:
        """The whole of a symmetric matrix whose lower triangle is packed by rows along the tree."""
        nv = self.model.nv
        lower = sparse.csr_array((packed, (self._packed_rows(), self.model.support.column)), shape=(nv, nv))
        return lower + lower.T - sparse.diags_array(lower.diagonal())

    def point_jacobian(self, q, frame: str, point) -> np.ndarray:
        """(3, nv) Jacobian of a point [m, world] that moves with the named frame's link."""
        m, kin, link, J = self.model, self.data.kin, self.model.link(frame), np.zeros((3, self.model.nv))
        path_kinematics(m.tree, link, self.check_q(q), kin)
        x, y, z = self._vector("point", point, 3)
        jacobian.point_jacobian(m.support, kin, link, x, y, z, J)
        return J

    def _contacts(self, link1, link2, point, axes):
        link1 = np.ascontiguousarray(link1, dtype=np.int64)
        link2 = np.ascontiguousarray(link2, dtype=np.int64)
        point = np.ascontiguousarray(point, dtype=float)
        axes = np.ascontiguousarray(axes, dtype=float)
        n = len(link1)
        if link2.shape != (n,) or point.shape != (n, 3) or axes.shape != (n, 3, 3):
            raise expected(
                "contacts", "link1 (n,), link2 (n,), point (n, 3), axes (n, 3, 3)",
                (link1.shape, link2.shape, point.shape, axes.shape),
            )  # fmt: skip
        for links in (link1, link2):
            bad = np.flatnonzero((links < 0) | (links >= self.model.nlink))
            if len(bad):
                raise expected("contact link", f"an index from 0 to {self.model.nlink - 1}", int(links[bad[0]]))
        return link1, link2, point, axes

    # -- energies, momentum, configuration -------------------------------------------------------------------------

    def energy(self, q, v) -> Energy:
        self._update(q, v)
        m, kin = self.model, self.data.kin
        return Energy(
            energy.kinetic_energy(m.support, m.inertia, kin, self._v(v)),
            energy.gravity_energy(m.inertia, kin),
            self.elastic_energy(q),
        )

    def elastic_energy(self, q) -> float:
        """Energy in the springs of joints and tendons [J], without the limits'."""
        return self.spring_energies(self.check_q(q))

    def spring_energies(self, q: np.ndarray) -> float:
        """``elastic_energy`` of any numbers q, which are not checked: also of a state that has diverged."""
        m = self.model
        joints = spring_energy(m.tree, m.joint_forces, q)
        if not len(m.tendons.limited):
            return joints
        transmit(self.drives, q, np.zeros(m.nv))
        return joints + tendon_energy(self.drives)

    # -- tendons and actuators -------------------------------------------------------------------------------------

    def tendon_lengths(self, q) -> tuple[np.ndarray, np.ndarray]:
        """(nt,) lengths of the tendons and (nt, nv) their moment arms ∂ℓ/∂q."""
        transmit(self.drives, self.check_q(q), np.zeros(self.model.nv))
        nt = len(self.model.tendons.limited)
        return self.drives.length[:nt].copy(), row_arms(self.drives, 0, nt)

    def actuator_lengths(self, q) -> tuple[np.ndarray, np.ndarray]:
        """(nu,) lengths of the actuators' transmissions and (nu, nv) their moment arms, gears included."""
        transmit(self.drives, self.check_q(q), np.zeros(self.model.nv))
        nt = len(self.model.tendons.limited)
        return self.drives.length[nt:].copy(), row_arms(self.drives, nt, self.model.nu)

    def actuator_forces(self, q, v, control, act=None) -> tuple[np.ndarray, np.ndarray]:
        """(nu,) the actuators' forces [N or N m] and (nv,) what they add to the joints, at controls (nu,) and
        activations ``act`` (na,). Gravity compensation by actuators (``drives.lift``, nv) is among the passive forces;
        of its sum with theirs, a joint's limit may leave less."""
        m, nt = self.model, len(self.model.tendons.limited)
        signal, control = np.zeros(m.nu), self._vector("control", control, m.nu)
        act = np.zeros(m.na) if act is None else self._vector("act", act, m.na)
        drive_signals(m.activations, control, act, 0.0, signal)
        drive_forces(self.drives, self.check_q(q), self._v(v), signal)
        tau = np.zeros(m.nv)
        add_drive_forces(self.drives, tau)
        total = tau - row_arms(self.drives, 0, nt).T @ self.drives.force[:nt]
        return self.drives.force[nt:].copy(), total

    def tendon_forces(self, q, v) -> np.ndarray:
        """(nt,) forces along the tendons [N] of springs, dampers and limits, without those of actuators; they pull if
        negative."""
        drive_forces(self.drives, self.check_q(q), self._v(v), np.zeros(self.model.nu))
        return self.drives.force[: len(self.model.tendons.limited)].copy()

    def activation_rates(self, control, act) -> np.ndarray:
        """(na,) rates of the activations [1/s] at controls (nu,) and activations (na,)."""
        a, rates = self.model.activations, np.zeros(self.model.na)
        control, act = self._vector("control", control, self.model.nu), self._vector("act", act, self.model.na)
        for k in np.flatnonzero(a.place >= 0):
            rates[a.place[k]] = activation_rate(a, int(k), control[k], act[a.place[k]])
        return rates

    def center_of_mass(self, q) -> np.ndarray:
        """(3,) centre of mass of everything that moves [m]."""
        forward_kinematics(self.model.tree, self.check_q(q), self.data.kin)
        com = np.empty(3)
        energy.center_of_mass(self.model.inertia, self.data.kin, com)
        return com

    def center_of_mass_jacobian(self, q) -> np.ndarray:
        """(3, nv) velocity of the centre of mass per joint velocity."""
        m, kin, mass, J = self.model, self.data.kin, self.data.mass, np.empty((3, self.model.nv))
        crba(m.tree, m.support, m.inertia, self.check_q(q), kin, mass)
        energy.center_of_mass_jacobian(m.inertia, m.support, kin, mass, J)
        return J

    def center_of_mass_acceleration(self, q, v, a) -> np.ndarray:
        """(3,) acceleration of the centre of mass [m/s²]; J̇·v where a = 0."""
        self._update(q, v)
        forward_accelerations(self.model.tree, self.model.support, self._v(a, "a"), self.data.kin)
        out = np.empty(3)
        energy.center_of_mass_acceleration(self.model.inertia, self.data.kin, out)
        return out

    def momentum(self, q, v, about=None) -> np.ndarray:
        """(6,) linear [kg m/s] and angular [kg m²/s] momentum about a world point (default: the centre of mass)."""
        about = self.center_of_mass(q) if about is None else self._vector("about", about, 3)
        self._update(q, v)
        out = np.empty(6)
        energy.momentum(self.data.kin, about, out)
        return out

    def integrate(self, q, v, dt: float = 1.0) -> np.ndarray:
        """q ⊕ v·dt on the configuration manifold (nq,)."""
        out = np.empty(self.model.nq)
        configuration.integrate(self.model.tree, self.check_q(q), self._v(v), float(dt), out)
        return out

    def difference(self, q0, q1) -> np.ndarray:
        """q1 ⊖ q0 (nv,): the velocity that leads from q0 to q1 in unit time."""
        out = np.empty(self.model.nv)
        configuration.difference(self.model.tree, self.check_q(q0), self.check_q(q1), out)
        return out


def largest_eigenvalue(apply: Callable[[np.ndarray], np.ndarray], n: int) -> float:
    """Largest eigenvalue, to 0.1 %, of a symmetric positive semidefinite n×n matrix given by its action ``apply``;
    infinite where numbers overflow."""
    if n <= 3:
        matrix = np.stack([apply(column) for column in np.eye(n)])
        return float(np.linalg.eigvalsh(matrix).max()) if np.isfinite(matrix).all() else np.inf
    start = np.random.default_rng(0).normal(size=n)
    first = apply(start)
    if not np.isfinite(first).all():
        return np.inf
    if not first.any():
        return 0.0
    operator = LinearOperator((n, n), matvec=apply, dtype=float)
    return float(eigsh(operator, k=1, which="LA", tol=1e-3, v0=start, return_eigenvectors=False)[0])
