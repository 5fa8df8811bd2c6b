"""Ellipsoids: gap and normal are those of the largest separation over all directions; planes have a closed form."""

import mujoco
import numpy as np
import pytest

import stickslip as ss
from stickslip.collision.contacts import ContactList
from stickslip.collision.convex.detect import ConvexDetector
from stickslip.errors import InputError

CUBE = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * [0.15, 0.1, 0.2]
RADII = (0.2, 0.1, 0.06)
PARTNERS = {
    "sphere": lambda scene: scene.add_sphere(0.15),
    "box": lambda scene: scene.add_box((0.3, 0.2, 0.4)),
    "capsule": lambda scene: scene.add_capsule(0.08, 0.3),
    "cylinder": lambda scene: scene.add_cylinder(0.15, 0.2),
    "ellipsoid": lambda scene: scene.add_ellipsoid((0.2, 0.1, 0.05)),
    "mesh": lambda scene: scene.add_mesh(CUBE),
}


def farthest(shape, u):
    """The points of a shape, in its axes, that are farthest along directions u (n, 3)."""
    size, sign = shape.size, np.sign(u)
    match shape.kind:
        case "sphere":
            return size[0] * u
        case "box":
            return sign * size
        case "capsule":
            return size[0] * u + sign * [0, 0, size[1]]
        case "cylinder":
            return np.c_[size[0] * u[:, :2] / np.linalg.norm(u[:, :2], axis=1)[:, None], sign[:, 2] * size[1]]
        case "ellipsoid":
            return size**2 * u / np.linalg.norm(size * u, axis=1)[:, None]
        case _:
            return shape.vertices[np.argmax(u @ shape.vertices.T, axis=1)]


def separation(one, two, places, n):
    """Gaps along directions n (k, 3) of shape two from shape one, which are at ``places``."""
    (Ra, ca), (Rb, cb) = places
    far = cb + farthest(two, -n @ Rb) @ Rb.T - ca - farthest(one, n @ Ra) @ Ra.T
    return np.einsum("ni,ni->n", n, far)


class Poses:
    """Random poses of the shapes of a model."""

    def __init__(self, scene: ss.Scene) -> None:
        self.model, self.rng = scene.compile(), np.random.default_rng(3)
        self.dynamics, self.detector = ss.Dynamics(self.model), ConvexDetector(self.model, 1.0)

    def next(self):
        """(contacts, [(rotation, position) of each shape])."""
        q = self.rng.normal(size=self.model.nq)
        for _, first in self.model.quaternions():
            q[first : first + 4] /= np.linalg.norm(q[first : first + 4])
            q[first - 3 : first] *= self.rng.uniform(0.05, 0.3) / np.linalg.norm(q[first - 3 : first])
        self.dynamics.poses(q)
        kin = self.dynamics.data.kin
        contacts = ContactList(kin)
        self.detector.find(kin, contacts)
        return contacts, [
            (kin.rot[s.link] @ s.rot, kin.pos[s.link] + kin.rot[s.link] @ s.pos) for s in self.model.shapes
        ]


@pytest.mark.parametrize("partner", PARTNERS)
def test_no_direction_separates_more(partner):
    scene = ss.Scene()
    PARTNERS[partner](scene)
    scene.add_ellipsoid(RADII)
    poses, rng = Poses(scene), np.random.default_rng(4)
    one, two = poses.model.shapes
    for _ in range(150):
        contacts, places = poses.next()
        assert len(contacts) == 1
        c = contacts.arrays
        gap, normal = c.gap[0], c.axes[0, 0]
        near = normal + rng.normal(size=(300, 3)) * np.exp(rng.uniform(-12, 1, size=(300, 1)))
        others = near / np.linalg.norm(near, axis=1)[:, None]
        assert separation(one, two, places, others).max() <= gap + 1e-9
        assert separation(one, two, places, normal[None])[0] == pytest.approx(gap, abs=1e-9)
        on_two = (c.point[0] - places[1][1]) @ places[1][0]
        assert np.sum((on_two / two.size) ** 2) == pytest.approx(1.0, abs=1e-6)


def test_a_plane_has_a_closed_form_and_a_face_is_a_plane():
    planes = ss.Scene()
    planes.add_plane()
    planes.add_ellipsoid(RADII)
    poses = Poses(planes)
    for _ in range(50):
        contacts, (_, (R, c)) = poses.next()
        depth = np.linalg.norm(np.array(RADII) * R[2])
        assert contacts.arrays.gap[0] == pytest.approx(c[2] - depth, abs=1e-14)
        np.testing.assert_allclose(contacts.arrays.point[0], c - R @ (np.array(RADII) ** 2 * R[2]) / depth, atol=1e-14)


def test_gap_and_inertia_are_mujocos():
    scene = ss.Scene()
    scene.add_box((1, 1, 0.2), joint="fixed")
    scene.add_ellipsoid(RADII, pos=(0.1, 0.05, 0.19), quat=(0.9, 0.3, 0.2, 0.1), mass=2.0)
    model = scene.compile()
    mj, data = model.mj, mujoco.MjData(model.mj)
    mj.geom_margin[:] = 0.1
    data.qpos[:] = model.state().q
    mujoco.mj_forward(mj, data)
    dynamics = ss.Dynamics(model)
    dynamics.poses(data.qpos)
    contacts = ContactList(dynamics.data.kin)
    ConvexDetector(model, 0.1).find(dynamics.data.kin, contacts)
    assert contacts.arrays.gap[0] == pytest.approx(data.contact[0].dist, abs=1e-5)
    np.testing.assert_allclose(contacts.arrays.axes[0, 0], [0, 0, 1], atol=1e-12)
    a, b, c = np.array(RADII) ** 2
    np.testing.assert_allclose(model.inertia.inertia[1, :3], 0.4 * np.array([b + c, a + c, a + b]))
    assert "ellipsoid" in scene.to_xml()


def test_an_ellipsoid_rocks_on_a_plane_as_its_curvature_says():
    """Small swings about the short axis upright: ω² = m·g·(ρ − r_z)/(I + m·r_z²), ρ = r_x²/r_z, as it rolls."""
    rx, rz, mass = 0.2, 0.1, 1.0
    scene = ss.Scene()
    scene.add_plane(friction=1.0)
    scene.add_ellipsoid((rx, 0.15, rz), pos=(0, 0, rz - mass * 9.81 / 1e6), mass=mass, stiffness=1e6)
    sim = ss.Simulation(scene, "semi-implicit-euler", dt=1e-4)
    sim.set_state(v=[0.01 * rz, 0, 0, 0, 0.01, 0])
    inertia = 0.2 * mass * (rx**2 + rz**2)
    omega = np.sqrt(mass * 9.81 * (rx**2 / rz - rz) / (inertia + mass * rz**2))
    turns = []
    for _ in range(int(np.pi / omega / 1e-4 * 1.1)):
        sim.step(1)
        turns.append(sim.state.v[4])
    half = np.flatnonzero(np.diff(np.sign(turns)))[0] * 1e-4
    assert half == pytest.approx(0.5 * np.pi / omega, rel=0.02)


def test_bad_radii_are_named():
    with pytest.raises(InputError, match="radii"):
        ss.Scene().add_ellipsoid((0.1, -1.0, 0.1))
    with pytest.raises(InputError, match="radii"):
        ss.Scene().add_ellipsoid((0.1, 0.1))
