"""Two shapes on free bodies: random ones, their contacts by ConvexDetector, and what MuJoCo says of them."""

import itertools

import mujoco
import numpy as np

import stickslip as ss
from stickslip.collision.contacts import ContactList
from stickslip.collision.convex.detect import ConvexDetector
from stickslip.collision.convex.geometry import NAMES
from stickslip.dynamics.data import make_data
from stickslip.dynamics.kinematics import forward_kinematics, forward_velocities

KINDS = [name for name in NAMES if name != "terrain"]
"""Kinds of convex shapes; height fields have tests of their own (``test_terrain.py``)."""
PAIRS = [kinds for kinds in itertools.combinations_with_replacement(KINDS, 2) if kinds != ("plane", "plane")]
"""All pairs of these kinds that can touch."""


def random_quaternion(rng):
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def add_shape(body, kind, rng, scale=1.0):
    """A shape of random size, about ``scale`` large."""
    size = scale * rng.uniform(0.3, 1.0, size=3)
    if kind == "sphere":
        body.add_sphere(0.7 * size[0], mass=0.0)
    elif kind == "box":
        body.add_box(2 * size, mass=0.0)
    elif kind == "capsule":
        body.add_capsule(0.5 * size[0], 2 * size[1], mass=0.0)
    elif kind == "ellipsoid":
        body.add_ellipsoid(size, mass=0.0)
    elif kind == "cylinder":
        body.add_cylinder(size[0], 2 * size[1], mass=0.0)
    else:
        points = rng.normal(size=(rng.integers(5, 16), 3))
        points /= np.linalg.norm(points, axis=1)[:, None]
        body.add_mesh((points * size).astype(np.float32).astype(float), mass=0.0)


def two(kind1, kind2, rng, scale=1.0):
    """A scene of two shapes; a plane belongs to the world."""
    scene = ss.Scene()
    for kind in (kind1, kind2):
        if kind == "plane":
            normal = rng.normal(size=3)
            scene.add_plane(normal=normal / np.linalg.norm(normal), pos=0.3 * scale * rng.normal(size=3))
        else:
            body = scene.add_body(joint="free")
            body.set_inertia(1.0, inertia=(1.0, 1.0, 1.0))
            add_shape(body, kind, rng, scale)
    return scene


class Pair:
    """Finds the contacts of a scene's shapes at a configuration."""

    def __init__(self, scene, margin):
        self.model = scene.compile()
        self.kin = make_data(self.model).kin
        self.detector = ConvexDetector(self.model, margin)
        self.contacts = ContactList(self.kin)
        self.data = mujoco.MjData(self.model.mj)

    def find(self, q=None, v=None):
        """The contacts, in arrays cut to length."""
        state = self.model.state(q, v)
        forward_kinematics(self.model.tree, state.q, self.kin)
        forward_velocities(self.model.tree, state.v, self.kin)
        self.detector.find(self.kin, self.contacts)
        c, n = self.contacts.arrays, len(self.contacts)
        return type(c)(c.found, *(array[:n].copy() for array in c[1:]))

    def random_q(self, rng, scale=1.0):
        """Bodies near the origin, anyhow."""
        free = self.model.nq // 7
        return np.concatenate([np.r_[0.8 * scale * rng.normal(size=3), random_quaternion(rng)] for _ in range(free)])

    def mujoco_contacts(self, q):
        """(gap, normal from the lower body) of MuJoCo's contacts, penetrating ones only."""
        m, d = self.model.mj, self.data
        d.qpos[:] = q
        mujoco.mj_kinematics(m, d)
        mujoco.mj_comPos(m, d)
        mujoco.mj_collision(m, d)
        found = []
        for i in range(d.ncon):
            contact = d.contact[i]
            sign = 1.0 if m.geom_bodyid[contact.geom1] < m.geom_bodyid[contact.geom2] else -1.0
            found.append((contact.dist, sign * contact.frame[:3]))
        return found

    def mujoco_distance(self, q, most):
        """MuJoCo's distance of the two shapes [m], and the unit vector from the first to the second."""
        m, d = self.model.mj, self.data
        d.qpos[:] = q
        mujoco.mj_kinematics(m, d)
        ends = np.zeros(6)
        distance = mujoco.mj_geomDistance(m, d, 0, 1, most, ends)
        way = ends[3:] - ends[:3]
        length = np.linalg.norm(way)
        return distance, np.sign(distance) * way / length if length > 0 else way


def farthest(model, geom, pos, rot, directions):
    """(n,) how far a shape reaches along unit vectors (n, 3), from its definition: its support function."""
    shape = model.shapes[geom]
    local = directions @ rot
    across, along = np.linalg.norm(local[:, :2], axis=1), np.abs(local[:, 2])
    if shape.kind == "sphere":
        reach = np.full(len(local), shape.size[0])
    elif shape.kind == "box":
        reach = np.abs(local) @ shape.size
    elif shape.kind == "capsule":
        reach = shape.size[0] + along * shape.size[1]
    elif shape.kind == "ellipsoid":
        reach = np.linalg.norm(local * shape.size, axis=1)
    elif shape.kind == "cylinder":
        reach = across * shape.size[0] + along * shape.size[1]
    else:
        reach = (local @ shape.vertices.T).max(axis=1)
    return directions @ pos + reach


def gap_along(pair, directions):
    """(n,) gap along unit vectors (n, 3) from the first shape to the second, at the last configuration found."""
    placed = pair.detector.search.placed
    first = farthest(pair.model, 0, placed.pos[0], placed.rot[0], directions)
    second = farthest(pair.model, 1, placed.pos[1], placed.rot[1], -directions)
    return -second - first
