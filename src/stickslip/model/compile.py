"""From MuJoCo's compiled model to ours: links, joints, inertias, frames.

MuJoCo reads the files, applies defaults, checks inertias and computes those of shapes. We keep the bodies that move
(links), merge what is fixed to them, and keep every body, site and shape as a named frame.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import mujoco
import numpy as np
from scipy.spatial import ConvexHull, QhullError

from stickslip.errors import ModelError, brief
from stickslip.model.arrays import Frames, Inertia, JointForces, Tree
from stickslip.model.mesh import simplified
from stickslip.model.shape import ContactPair, Material, PairMaterial, Shape, combine
from stickslip.model.terrain import field_points, field_size

MOST_CORNERS = 100_000
"""Corners of the hull of a mesh that can touch something. Its faces and edges take some seconds to be found."""


def rotation(quat: np.ndarray) -> np.ndarray:
    """Rotation matrix of a quaternion (w, x, y, z)."""
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, np.ascontiguousarray(quat, dtype=float))
    return matrix.reshape(3, 3)


@dataclass(frozen=True)
class Attachment:
    """Where a MuJoCo body sits: the link that carries it and its pose in the link frame."""

    link: int
    pos: np.ndarray
    rot: np.ndarray

    def place(self, pos: np.ndarray, quat: np.ndarray) -> tuple[int, np.ndarray, np.ndarray]:
        """The pose in the link frame of something that is given in the body frame."""
        return self.link, self.pos + self.rot @ pos, self.rot @ rotation(quat)


def attach_bodies(mj: mujoco.MjModel) -> tuple[list[Attachment], list[int]]:
    """The Attachment of each body, and for each link the body that defines its frame."""
    bodies = [Attachment(0, np.zeros(3), np.eye(3))]
    link_body = [0]
    for b in range(1, mj.nbody):
        if mj.body_jntnum[b] > 0:
            bodies.append(Attachment(len(link_body), np.zeros(3), np.eye(3)))
            link_body.append(b)
        else:
            bodies.append(Attachment(*bodies[mj.body_parentid[b]].place(mj.body_pos[b], mj.body_quat[b])))
    return bodies, link_body


def build_tree(mj: mujoco.MjModel, bodies: list[Attachment], link_body: list[int]) -> Tree:
    nl = len(link_body)
    parent = np.zeros(nl, dtype=np.int64)
    root = np.zeros(nl, dtype=np.int64)
    joint_start = np.zeros(nl + 1, dtype=np.int64)
    link_pos = np.zeros((nl, 3))
    link_rot = np.tile(np.eye(3), (nl, 1, 1))
    aligned = np.ones(nl, dtype=np.int64)
    for link in range(1, nl):
        b = link_body[link]
        carrier = bodies[mj.body_parentid[b]]
        parent[link], link_pos[link], link_rot[link] = carrier.place(mj.body_pos[b], mj.body_quat[b])
        root[link] = link if parent[link] == 0 else root[parent[link]]
        joint_start[link + 1] = joint_start[link] + mj.body_jntnum[b]
        aligned[link] = np.array_equal(link_rot[link], np.eye(3))
    return Tree(
        parent=parent, root=root, joint_start=joint_start, joint_type=mj.jnt_type.astype(np.int64),
        joint_q=mj.jnt_qposadr.astype(np.int64), joint_v=mj.jnt_dofadr.astype(np.int64),
        joint_pos=mj.jnt_pos.astype(float).reshape(-1, 3), joint_axis=mj.jnt_axis.astype(float).reshape(-1, 3),
        link_pos=link_pos, link_rot=link_rot, aligned=aligned, q0=mj.qpos0.astype(float), order=np.arange(nl),
    )  # fmt: skip


def build_inertia(mj: mujoco.MjModel, bodies: list[Attachment], nl: int) -> Inertia:
    """Sum the inertias of all bodies on a link: mass and first moment first, then about the common centre of mass."""
    mass, lifted, lifted_moment = np.zeros(nl), np.zeros(nl), np.zeros((nl, 3))
    moment = np.zeros((nl, 3))
    placed = []
    for b in range(mj.nbody):
        link, pos, rot = bodies[b].place(mj.body_ipos[b], mj.body_iquat[b])
        mass[link] += mj.body_mass[b]
        moment[link] += mj.body_mass[b] * pos
        lifted[link] += mj.body_gravcomp[b] * mj.body_mass[b]
        lifted_moment[link] += mj.body_gravcomp[b] * mj.body_mass[b] * pos
        placed.append((link, mj.body_mass[b], pos, rot @ np.diag(mj.body_inertia[b]) @ rot.T))
    com = np.divide(moment, mass[:, None], out=np.zeros_like(moment), where=mass[:, None] > 0)
    lifted_com = np.divide(lifted_moment, lifted[:, None], out=com.copy(), where=lifted[:, None] != 0)
    tensor = np.zeros((nl, 3, 3))
    for link, m, pos, about_own in placed:
        r = pos - com[link]
        tensor[link] += about_own + m * (r @ r * np.eye(3) - np.outer(r, r))
    six = np.stack([tensor[:, i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))], axis=1)
    for part in (mass, com, six, lifted, lifted_com):
        part[0] = 0.0  # the world does not move, so its mass has no meaning
    return Inertia(mass, com, six, mj.dof_armature.astype(float), mj.opt.gravity.astype(float), lifted, lifted_com)


def spring_of_solref(solref: np.ndarray, solimp: np.ndarray, inertia: float) -> tuple[float, float]:
    """Stiffness and damping of a limit from MuJoCo's solref = (time constant, damping ratio), or −(stiffness, damping)
    by mass, for something of this inertia."""
    first, second = float(solref[0]), float(solref[1])
    if first > 0:
        width, least = float(solimp[1]), mujoco.mjMINVAL  # the least divisor of MuJoCo's engine
        return inertia / max(least, (width * first * second) ** 2), inertia * 2.0 / max(least, width * first)
    return -inertia * first, -inertia * second


def build_joint_forces(mj: mujoco.MjModel) -> JointForces:
    """Springs, dampers and limits; a limit is a one-sided spring-damper with MuJoCo's solref time constant.

    solref = (time constant, damping ratio) describes an acceleration. Multiplied by the joint's own inertia at the
    reference configuration it gives a stiffness [N m/rad or N/m] and a damping. The default is critically damped within
    20 ms. A limit with a margin acts from that distance on, as in MuJoCo, whose constraint settles there: the range is
    narrowed by the margin, at most to its middle.
    """
    stiffness, damping = np.zeros(mj.njnt), np.zeros(mj.njnt)
    for j in range(mj.njnt):
        inertia = float(mj.dof_M0[mj.jnt_dofadr[j]])
        stiffness[j], damping[j] = spring_of_solref(mj.jnt_solref[j], mj.jnt_solimp[j], inertia)
    bounds, margin = mj.jnt_range.astype(float).reshape(-1, 2), mj.jnt_margin.astype(float)
    ball = mj.jnt_type == mujoco.mjtJoint.mjJNT_BALL
    room = np.maximum(0.0, bounds[:, 1] - bounds[:, 0]) * np.where(ball, 1.0, 0.5)
    inside = np.minimum(margin, room)[:, None] * np.column_stack([~ball, -np.ones(mj.njnt)])
    return JointForces(
        damping=mj.dof_damping.astype(float), damping_poly=mj.dof_dampingpoly.astype(float).reshape(-1, 2),
        stiffness=mj.jnt_stiffness.astype(float), stiffness_poly=mj.jnt_stiffnesspoly.astype(float).reshape(-1, 2),
        q_spring=mj.qpos_spring.astype(float), limited=mj.jnt_limited.astype(np.int64), range=bounds + inside,
        limit_stiffness=stiffness, limit_damping=damping, friction=mj.dof_frictionloss.astype(float),
    )  # fmt: skip


def build_frames(mj: mujoco.MjModel, bodies: list[Attachment]) -> tuple[Frames, dict[str, int]]:
    """Every body and site by name; a site that shares its name with a body is called ``site:name``."""
    names: dict[str, int] = {}
    placed: list[tuple[int, np.ndarray, np.ndarray]] = []
    for b in range(mj.nbody):
        names[mj.body(b).name] = len(placed)
        placed.append((bodies[b].link, bodies[b].pos, bodies[b].rot))
    for s in range(mj.nsite):
        name = mj.site(s).name
        names[f"site:{name}" if name in names else name] = len(placed)
        placed.append(bodies[mj.site_bodyid[s]].place(mj.site_pos[s], mj.site_quat[s]))
    frames = Frames(
        link=np.array([p[0] for p in placed], dtype=np.int64),
        pos=np.array([p[1] for p in placed], dtype=float).reshape(-1, 3),
        rot=np.array([p[2] for p in placed], dtype=float).reshape(-1, 3, 3),
    )
    return frames, names


SHAPE_NAMES = {
    mujoco.mjtGeom.mjGEOM_PLANE: "plane",
    mujoco.mjtGeom.mjGEOM_SPHERE: "sphere",
    mujoco.mjtGeom.mjGEOM_CAPSULE: "capsule",
    mujoco.mjtGeom.mjGEOM_CYLINDER: "cylinder",
    mujoco.mjtGeom.mjGEOM_BOX: "box",
    mujoco.mjtGeom.mjGEOM_MESH: "mesh",
    mujoco.mjtGeom.mjGEOM_ELLIPSOID: "ellipsoid",
    mujoco.mjtGeom.mjGEOM_HFIELD: "terrain",
}


def hull_vertices(mj: mujoco.MjModel, mesh: int, tolerance: float) -> np.ndarray:
    """(n, 3) corners of a mesh's convex hull [m, shape frame]; all other vertices lie inside it or on its faces, or at
    most ``tolerance`` [m] outside."""
    first, count = mj.mesh_vertadr[mesh], mj.mesh_vertnum[mesh]
    points = mj.mesh_vert[first : first + count].astype(float)
    try:
        return simplified(points[np.unique(ConvexHull(points).vertices)], tolerance)
    except QhullError:  # The mesh is flat: keep all its points.
        return np.unique(points, axis=0)


def contacts_enabled(mj: mujoco.MjModel) -> bool:
    """Whether ``<option><flag contact="enable"/>`` lets shapes touch at all."""
    return not mj.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_CONTACT


LEAST_USER = 4
"""Shortest user data of geoms that is read; that of the oldest files."""


def filters_parents(mj: mujoco.MjModel) -> bool:
    """Whether a link does not touch its parent link; ``<flag filterparent="disable"/>`` lets it."""
    return not mj.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_FILTERPARENT


def overridden(mj: mujoco.MjModel) -> bool:
    """Whether ``<flag override="enable"/>`` gives all contacts the friction and margin of ``<option>``."""
    return bool(mj.opt.enableflags & mujoco.mjtEnableBit.mjENBL_OVERRIDE)


def build_material(mj: mujoco.MjModel, g: int) -> Material:
    """The surface of geom g. With ``override``, friction and margin are those of the options."""
    friction, margin = mj.geom_friction[g].astype(float), float(mj.geom_margin[g])
    if overridden(mj):
        own = mj.opt.o_friction
        friction, margin = np.array([max(own[:2]), own[2], max(own[3:])]), 0.5 * float(mj.opt.o_margin)
    user = mj.geom_user[g] if mj.nuser_geom >= LEAST_USER else np.zeros(0)
    return Material.from_user(
        user, friction, int(mj.geom_condim[g]), priority=int(mj.geom_priority[g]), margin=margin,
        gap=float(mj.geom_gap[g]), adhesion=float(mj.geom_adhesion[g]),
    )  # fmt: skip


def build_pairs(mj: mujoco.MjModel, shapes: tuple[Shape, ...]) -> tuple[ContactPair, ...]:
    """The explicit pairs of shapes on different links, in the order of their shapes; of equal pairs the first counts.

    A pair has its own friction, condim, margin and adhesion. Stiffness, damping, restitution and preload, which MJCF
    has no words for, are those of its two surfaces. If friction differs along the two tangents, the larger one acts.
    """
    pairs: dict[tuple[int, int], ContactPair] = {}
    for k in range(mj.npair if contacts_enabled(mj) else 0):
        one, two = sorted((int(mj.pair_geom1[k]), int(mj.pair_geom2[k])))
        a, b = shapes[one], shapes[two]
        if a.link == b.link or (one, two) in pairs:
            continue
        override, condim, own = overridden(mj), int(mj.pair_dim[k]), combine(a.material, b.material)
        mu = mj.opt.o_friction if override else mj.pair_friction[k]
        material = PairMaterial(
            friction=float(max(mu[:2])) if condim >= 3 else 0.0,
            stiffness=own.stiffness, damping=own.damping, restitution=own.restitution, preload=own.preload,
            torsion=float(mu[2]) if condim >= 4 else 0.0, rolling=float(max(mu[3:])) if condim >= 6 else 0.0,
            adhesion=float(mj.pair_adhesion[k]),
            margin=float(mj.opt.o_margin if override else mj.pair_margin[k]), gap=float(mj.pair_gap[k]),
            tangent_stiffness=own.tangent_stiffness, tangent_damping=own.tangent_damping, bounce=own.bounce,
        )  # fmt: skip
        pairs[one, two] = ContactPair(one, two, material)
    return tuple(pairs[key] for key in sorted(pairs))


def build_shapes(mj: mujoco.MjModel, bodies: list[Attachment], hull_tolerance: float = 0.0) -> tuple[Shape, ...]:
    """Collision and drawing shapes, then the contact points (sites marked with ``user="1"``)."""
    shapes = []
    hull = cache(lambda mesh: hull_vertices(mj, mesh, hull_tolerance))
    touching = int(contacts_enabled(mj))
    for g in range(mj.ngeom):
        link, pos, rot = bodies[mj.geom_bodyid[g]].place(mj.geom_pos[g], mj.geom_quat[g])
        vertices, size = None, mj.geom_size[g].astype(float)
        if mj.geom_type[g] == mujoco.mjtGeom.mjGEOM_MESH:
            vertices = hull(int(mj.geom_dataid[g]))
        elif mj.geom_type[g] == mujoco.mjtGeom.mjGEOM_HFIELD:
            field = int(mj.geom_dataid[g])
            vertices, size = field_points(mj, field), field_size(mj, field)
        shape = Shape(
            name=mj.geom(g).name or f"{mj.body(mj.geom_bodyid[g]).name}/{g}",
            kind=SHAPE_NAMES[mujoco.mjtGeom(mj.geom_type[g])],
            link=link, pos=pos, rot=rot, size=size, vertices=vertices,
            material=build_material(mj, g), group=touching * int(mj.geom_contype[g]),
            mask=touching * int(mj.geom_conaffinity[g]), rgba=mj.geom_rgba[g].astype(float),
            body=int(mj.geom_bodyid[g]), paired=bool(touching and (g in mj.pair_geom1 or g in mj.pair_geom2)),
            surface_velocity=mj.geom_surfacevel[g].astype(float),
        )  # fmt: skip
        if shape.solid and shape.kind == "mesh" and vertices is not None and len(vertices) > MOST_CORNERS:
            raise ModelError(
                f"shape {brief(shape.name, 60)}: expected a convex hull of at most {MOST_CORNERS} corners, got "
                f"{len(vertices)}; make its mesh coarser"
            )
        shapes.append(shape)
    for s in range(mj.nsite):
        if mj.nuser_site >= 1 and mj.site_user[s, 0] == 1.0:
            link, pos, rot = bodies[mj.site_bodyid[s]].place(mj.site_pos[s], mj.site_quat[s])
            point = Shape(
                name=mj.site(s).name, kind="point", link=link, pos=pos, rot=rot, size=np.zeros(3), vertices=None,
                material=Material(), group=0, mask=touching, rgba=mj.site_rgba[s].astype(float),
                body=int(mj.site_bodyid[s]),
            )  # fmt: skip
            shapes.append(point)
    return tuple(shapes)
