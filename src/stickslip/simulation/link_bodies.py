"""The links of a simulation as bodies in maximal coordinates, for problem files.

With the link velocities V = J·v (at the centres of mass, world axes), and with Δv the change of the velocities v over a
step without contacts, the forces f of the bodies satisfy

    Jᵀ·(M·J·Δv/h − f) = 0

so that a step in maximal coordinates equals that of the simulation. They are gravity, gyroscopic and velocity-product
forces M·J̇·v of every body, and joint forces as opposite wrenches on the link and its parent. A joint becomes
bilateral rows: the directions in which the link cannot move against its parent.

The convention of problem files does not include rotor inertia (armature) and implicit springs, dampers and servos of
joints, which would be soft rows in maximal coordinates. Their effect on the motion without contacts is in f, but they
do not resist contact impulses.
"""

from __future__ import annotations

import numpy as np

from stickslip.dynamics.kinematics import link_poses
from stickslip.errors import expected
from stickslip.methods.rigid.coordinates.coordinates import Coordinates
from stickslip.model.arrays import Inertia
from stickslip.problem_files.problem_frame import DYNAMIC, WORLD, Bodies, Constraints, empty

DECOUPLED = 1e-12
"""A motion whose linear part at the joint is below this [m/rad] is a rotation."""


class LinkBodies:
    """Links 1 … nl − 1 as bodies; ``coordinates`` must be up to date (``begin``)."""

    def __init__(self, inertia: Inertia, coordinates: Coordinates, dt: float) -> None:
        self.inertia, self.coordinates, self.dt = inertia, coordinates, dt
        self.kin, self.dofs = coordinates.kin, coordinates.support.link_dof
        self.links = range(1, len(inertia.mass))
        self.parent = self._parents()
        rot = self.kin.rot
        self.centre = self.kin.pos + np.einsum("bij,bj->bi", rot, inertia.com)
        """(nl, 3) centres of mass [m]."""
        xx, yy, zz, xy, xz, yz = inertia.inertia.T
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]).transpose(2, 0, 1)
        self.tensor = rot @ tensor @ rot.transpose(0, 2, 1)
        """(nl, 3, 3) inertia about the centres of mass, world axes [kg m²]."""

    def _parents(self) -> np.ndarray:
        """(nl,) parent links; in maximal coordinates the parent of every link is the world."""
        support, parent = self.coordinates.support, np.zeros(len(self.inertia.mass), dtype=np.int64)
        for b in self.links:
            above = support.dof_parent[self.dofs[b]]
            parent[b] = 0 if above < 0 else support.dof_link[above]
        return parent

    def bodies(self) -> Bodies:
        n, poses = len(self.links), np.empty((len(self.inertia.mass), 7))
        link_poses(self.kin, poses)
        return Bodies(
            positions=self.centre[1:],
            quaternions=poses[1:, 3:],
            velocities=_at(self.kin.vel, self.kin.origin, self.centre)[1:].ravel(),
            forces=self.forces()[1:].ravel(),
            masses=self.inertia.mass[1:].copy(),
            world_inertia_tensors=self.tensor[1:].reshape(3 * n, 3),
            ids=np.array(self.links),
            states=np.full(n, DYNAMIC),
        )

    def forces(self) -> np.ndarray:
        """(nl, 6) force and torque about the centre of mass of every link."""
        kin, mass = self.kin, self.inertia.mass[:, None]
        velocity = _at(kin.vel, kin.origin, self.centre)
        spatial = _at(kin.acc, kin.origin, self.centre)
        spin = velocity[:, 3:]
        momentum = np.einsum("bij,bj->bi", self.tensor, spin)
        force = np.zeros_like(velocity)
        force[:, :3] = mass * (self.inertia.gravity - spatial[:, :3] - np.cross(spin, velocity[:, :3]))
        force[:, 3:] = -np.cross(spin, momentum) - np.einsum("bij,bj->bi", self.tensor, spatial[:, 3:])
        force[0] = 0.0
        self._add_joint_forces(force)
        return force

    def _add_joint_forces(self, force: np.ndarray) -> None:
        """Add the forces that are still missing for Δv, as wrenches between links and their parents."""
        kin, change = self.kin, self.coordinates.hardened_velocity() - self.coordinates.velocity
        step = np.zeros_like(kin.vel)
        for b in self.links:
            own = slice(self.dofs[b], self.dofs[b + 1])
            step[b] = step[self.parent[b]] + change[own] @ kin.S[own]
        step = _at(step, kin.origin, self.centre) / self.dt
        missing = -force
        missing[:, :3] += self.inertia.mass[:, None] * step[:, :3]
        missing[:, 3:] += np.einsum("bij,bj->bi", self.tensor, step[:, 3:])
        missing[:, 3:] += np.cross(self.centre - kin.origin, missing[:, :3])  # moments about the tree's reference point
        for b in self.links[::-1]:
            missing[self.parent[b]] += missing[b]
        for b in self.links:
            own, p = slice(self.dofs[b], self.dofs[b + 1]), self.parent[b]
            wrench = (kin.S[own] @ missing[b]) @ self.dual(b)
            force[b] += _moved(wrench, kin.pos[b], self.centre[b])
            if p != 0:
                force[p] -= _moved(wrench, kin.pos[b], self.centre[p])

    def motions(self, b: int) -> np.ndarray:
        """(dofs, 6) relative velocities that the link's joints allow, at its origin."""
        S = self.kin.S[self.dofs[b] : self.dofs[b + 1]]
        return _at(S, np.broadcast_to(self.kin.origin[b], (len(S), 3)), np.broadcast_to(self.kin.pos[b], (len(S), 3)))

    def dual(self, b: int) -> np.ndarray:
        """(dofs, 6) wrenches at the link's origin, each with power 1 in its joint velocity and 0 in the others."""
        return np.linalg.pinv(self.motions(b)).T

    def constraints(self) -> Constraints:
        """Constraints of the tree's joints, then joint rows, limits and dry friction that the coordinates report."""
        parts = [self._joint(b) for b in self.links if self.dofs[b + 1] - self.dofs[b] < 6]
        for reported, least in ((self.coordinates.bilateral(), -np.inf), (self.coordinates.limits(), 0.0)):
            if reported is not None and len(reported[1]):
                rows, errors = reported
                bounds = np.tile((least, np.inf), (len(errors), 1))
                if least == 0.0 and len(self.coordinates.bound):
                    bounds[-len(self.coordinates.bound) :] = self.coordinates.bound[:, None] * (-1.0, 1.0)
                parts += [self._row(rows[[i]], errors[i], bounds[[i]]) for i in range(len(errors))]
        return _joined(parts) if parts else empty(Constraints)

    def _joint(self, b: int) -> Constraints:
        """The constraint of a joint: all directions orthogonal to its motions, at the link's origin."""
        rows = _complement(self.motions(b))
        bounds = np.tile((-np.inf, np.inf), (len(rows), 1))
        return self._constraint(b, self.parent[b], rows, np.zeros(len(rows)), bounds)

    def _row(self, row, error: float, bounds: np.ndarray) -> Constraints:
        """The constraint of one reported row on the velocities of one or two links."""
        dense, support = row.toarray()[0], self.coordinates.support
        loaded = sorted({int(support.dof_link[d]) for d in np.flatnonzero(dense)})
        jacobian = np.zeros((1, 12))
        if len(loaded) > 1 and any(self.parent[b] != 0 for b in loaded):
            names = f"links {', '.join(map(str, loaded))}"
            raise expected(
                "joint row to capture",
                "velocities of one link, or of two free bodies",
                names,
                "capture closed loops in coordinates='maximal'",
            )
        pair = [WORLD, loaded[-1]] if len(loaded) == 1 else loaded
        if len(loaded) == 1 and self.parent[loaded[0]] != 0:
            pair[0] = int(self.parent[loaded[0]])
        for b in loaded:
            wrench = dense[self.dofs[b] : self.dofs[b + 1]] @ self.dual(b)
            place = 6 * pair.index(b)
            jacobian[0, place : place + 6] = _moved(wrench, self.kin.pos[b], self.centre[b])
            if pair[0] not in (WORLD, *loaded):
                jacobian[0, :6] = -_moved(wrench, self.kin.pos[b], self.centre[pair[0]])
        return Constraints(np.ones(1), np.array([error]), np.zeros(1), bounds, np.array([pair]), jacobian)

    def _constraint(self, b: int, p: int, rows: np.ndarray, errors: np.ndarray, bounds: np.ndarray) -> Constraints:
        """A constraint from rows (r, 6) on the velocity of link b relative to link p, at the origin of b."""
        jacobian = np.zeros((len(rows), 12))
        for row, place in zip(rows, jacobian, strict=True):
            place[6:] = _moved(row, self.kin.pos[b], self.centre[b])
            if p != 0:
                place[:6] = -_moved(row, self.kin.pos[b], self.centre[p])
        pair = np.array([[p if p != 0 else WORLD, b]])
        return Constraints(np.array([len(rows)]), errors, np.zeros(len(rows)), bounds, pair, jacobian)


def _at(motion: np.ndarray, old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Move spatial velocities (k, 6) to other reference points."""
    result = motion.copy()
    result[:, :3] += np.cross(motion[:, 3:], new - old)
    return result


def _moved(wrench: np.ndarray, old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Move a spatial force (6,) to another reference point."""
    return np.concatenate([wrench[:3], wrench[3:] + np.cross(old - new, wrench[:3])])


def _complement(motions: np.ndarray) -> np.ndarray:
    """(6 − dofs, 6) orthonormal rows that are orthogonal to the motions; translations and rotations stay separate
    if they are separate in the motions."""
    linear, angular = np.abs(motions[:, :3]).max(axis=1), np.abs(motions[:, 3:]).max(axis=1)
    if np.any((linear > DECOUPLED) & (angular > DECOUPLED)):
        return _null_space(motions)
    rows = np.zeros((6 - len(motions), 6))
    translations = _null_space(motions[angular <= DECOUPLED, :3])
    rows[: len(translations), :3] = translations
    rows[len(translations) :, 3:] = _null_space(motions[angular > DECOUPLED, 3:])
    return rows


def _null_space(vectors: np.ndarray) -> np.ndarray:
    """Orthonormal rows orthogonal to the given independent ones; unit vectors if none are given."""
    if not len(vectors):
        return np.eye(vectors.shape[1])
    return np.linalg.svd(vectors)[2][len(vectors) :]


def _joined(parts: list[Constraints]) -> Constraints:
    """Join consecutive constraints between the same two bodies."""
    rows = np.concatenate([part.rows for part in parts]).astype(np.int64)
    pairs = np.concatenate([part.pairs for part in parts])
    new = np.concatenate([[True], np.any(pairs[1:] != pairs[:-1], axis=1)])
    counts = np.add.reduceat(rows, np.flatnonzero(new))
    whole = {name: np.concatenate([getattr(part, name) for part in parts]) for name in ROW_FIELDS}
    return Constraints(rows=counts, pairs=pairs[new], **whole)


ROW_FIELDS = ("violations", "time_derivative", "bounds", "Jacobian")
