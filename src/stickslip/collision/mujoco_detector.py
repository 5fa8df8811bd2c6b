"""MuJoCo's collision detection as a detector.

The poses of the shapes are written directly into MuJoCo's data, so that the links need not satisfy their joints, as in
body coordinates. Normals point from body 1 to body 2, as MuJoCo's do from geom 1 to geom 2. MuJoCo's contact position
is midway between the surfaces, ours lies on body 2: p = x + (gap/2)·n. Ids are (geom 1, geom 2, k-th of the pair).
MuJoCo orders the contacts of a pair by features, so that k changes when one of them appears or disappears.

Contact points (sites) are ignored, because MuJoCo does not collide them. Materials are combined by stickslip's rule,
and margins of pairs are subtracted from gaps, as everywhere.
"""

from __future__ import annotations

import copy

import mujoco
import numpy as np

from stickslip.collision.contacts import ADHESION, ContactList, tangents
from stickslip.collision.convex.finish import TOUCH
from stickslip.collision.detector import Detector
from stickslip.dynamics.data import Kinematics
from stickslip.errors import InputError, expected, listed, number
from stickslip.model.compile import attach_bodies
from stickslip.model.model import Model
from stickslip.model.shape import PairMaterial

MOST_PER_PAIR = 64
"""Largest number of contacts of one pair of geoms; MuJoCo's own limit is lower."""


class MuJoCoDetector(Detector):
    """Contacts of MuJoCo's engine with gaps below ``margin`` [m]; ``model`` and its states are not changed."""

    def __init__(self, model: Model, margin: float = 0.0) -> None:
        self.margin = number("margin", margin, "a finite number ≥ 0 [m]", least=0.0)
        self.mj = copy.deepcopy(model.mj)
        self.mj.geom_gap[:], self.mj.pair_gap[:] = 0.0, 0.0
        self.mj.opt.enableflags &= ~int(mujoco.mjtEnableBit.mjENBL_OVERRIDE)  # the model's shapes have its numbers
        self.pair_margin = np.array([self._of_pair(model, k).margin for k in range(self.mj.npair)])
        self.data = mujoco.MjData(self.mj)
        bodies, _ = attach_bodies(self.mj)
        self.link = np.array([bodies[b].link for b in range(self.mj.nbody)], dtype=np.int64)
        self.body_pos = np.array([body.pos for body in bodies])
        self.body_rot = np.array([body.rot for body in bodies])
        geoms = model.shapes[: self.mj.ngeom]
        self.geom_link = np.array([shape.link for shape in geoms], dtype=np.int64)
        self.geom_pos = np.array([shape.pos for shape in geoms]).reshape(-1, 3)
        self.geom_rot = np.array([shape.rot for shape in geoms]).reshape(-1, 3, 3)
        self.geoms, self.model = geoms, model
        self.own_margin = np.array([shape.material.margin for shape in geoms])
        if np.any(self.mj.geom_type == mujoco.mjtGeom.mjGEOM_HFIELD) or self.mj.nflex:
            raise expected("shapes", "planes, spheres, capsules, cylinders, boxes and meshes", "others")
        if model.outside:
            raise InputError(f"detector 'mujoco' does not know {listed(model.outside)}; use 'convex'")

    @staticmethod
    def _of_pair(model: Model, k: int) -> PairMaterial:
        return model.pair_material(*(model.shapes[int(g[k])] for g in (model.mj.pair_geom1, model.mj.pair_geom2)))

    def find(self, kin: Kinematics, contacts: ContactList) -> None:
        contacts.clear()
        self.mj.geom_margin[:] = self.own_margin + 0.5 * self.margin  # the method may change it from step to step
        self.mj.pair_margin[:] = self.pair_margin + self.margin
        self._place(kin)
        mujoco.mj_collision(self.mj, self.data)
        seen: dict[tuple[int, int], int] = {}
        for contact in self.data.contact:
            pair = int(contact.geom[0]), int(contact.geom[1])
            links = int(self.geom_link[pair[0]]), int(self.geom_link[pair[1]])
            material = self.model.pair_material(self.geoms[pair[0]], self.geoms[pair[1]])
            if links[0] == links[1] or contact.dist - material.margin >= self.margin:
                continue
            seen[pair] = k = seen.get(pair, -1) + 1
            normal = contact.frame[:3] / np.linalg.norm(contact.frame[:3])
            self._append(kin, contacts, pair, k, links, contact.pos, normal, float(contact.dist), material)

    def _place(self, kin: Kinematics) -> None:
        """Poses of bodies, of their inertial frames (for bounding volumes) and of geoms."""
        d = self.data
        rot = kin.rot[self.link]
        d.xpos[:] = kin.pos[self.link] + np.einsum("bij,bj->bi", rot, self.body_pos)
        d.xmat[:] = (rot @ self.body_rot).reshape(-1, 9)
        inertial = np.zeros(9)
        for b in range(self.mj.nbody):
            R = d.xmat[b].reshape(3, 3)
            d.xipos[b] = d.xpos[b] + R @ self.mj.body_ipos[b]
            mujoco.mju_quat2Mat(inertial, self.mj.body_iquat[b])
            d.ximat[b] = (R @ inertial.reshape(3, 3)).ravel()
        rot = kin.rot[self.geom_link]
        d.geom_xpos[:] = kin.pos[self.geom_link] + np.einsum("gij,gj->gi", rot, self.geom_pos)
        d.geom_xmat[:] = (rot @ self.geom_rot).reshape(-1, 9)

    def _append(self, kin, contacts: ContactList, pair, k: int, links, pos, normal, gap: float, m) -> None:
        a, b = pair
        if links[1] < links[0]:  # the lower link comes first
            normal, links = -normal, links[::-1]
        c = len(contacts)
        if c == len(contacts.arrays.pair):
            contacts.grow()
        x = contacts.arrays
        x.found[0] = c + 1
        x.pair[c] = (a * self.mj.ngeom + b) * MOST_PER_PAIR + min(k, MOST_PER_PAIR - 1)
        x.link1[c], x.link2[c] = links
        x.point[c], x.axes[c], x.gap[c] = pos + 0.5 * gap * normal, tangents(normal), gap - m.margin
        x.material[c] = m.row
        if not x.gap[c] < max(m.gap, TOUCH):
            x.material[c, ADHESION] = 0.0
        x.shape1[c] = x.shape2[c] = -1
        x.surface[c] = 0.0
        x.rolling[c], x.radius[c], x.curvature[c], x.spin[c] = 0, 0.0, 0.0, 0.0
        x.drift[c] = kin.vel[links[1], :3] + np.cross(kin.vel[links[1], 3:], x.point[c] - kin.origin[links[1]])
        x.velocity[c], x.force[c] = 0.0, 0.0
