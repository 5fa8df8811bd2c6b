"""How a contact moves: ṅ = (ω₁ + spin) × n, ṗ = drift and ψ̇ = the normal velocity, against finite differences."""

import numpy as np
import pytest
from detection import Detector, random_quaternion, rotation

import stickslip as ss
from stickslip.collision.contacts import ON_BOX
from stickslip.dynamics import Dynamics
from stickslip.methods.soft.spring_damper import apply_contact_forces

HALF = np.array([0.3, 0.2, 0.1])
H = 1e-5  # [s] of the central differences


def check_rates(detect, q, v):
    dyn = Dynamics(detect.model)
    before, after = detect(dyn.integrate(q, v, -H)), detect(dyn.integrate(q, v, H))
    c = detect(q, v)
    omega = detect.kin.vel[c.link1[0], 3:]
    n = c.axes[0, 0]
    np.testing.assert_allclose(
        np.cross(omega + c.spin[0], n), (after.axes[0, 0] - before.axes[0, 0]) / (2 * H), atol=1e-6
    )
    np.testing.assert_allclose(c.drift[0], (after.point[0] - before.point[0]) / (2 * H), atol=1e-6)
    np.testing.assert_allclose(c.velocity[0, 0], (after.gap[0] - before.gap[0]) / (2 * H), atol=1e-6)
    assert abs(c.spin[0] @ n) < 1e-12
    return c


def ball(scene, radius, pos, **options):
    """A ball, or a contact point, off its body's origin."""
    body = scene.add_body("ball", **options)
    if options.get("joint") != "fixed":
        body.set_inertia(1.0, inertia=(0.1, 0.1, 0.1))
    if radius:
        body.add_sphere(radius, pos=pos)
    else:
        body.add_contact_point("tip", pos=pos)


REGIONS = {  # where the centre is beyond the box: along some axes, inside along others
    "face": ((0.1, -0.1, 0.15), 1),
    "edge": ((0.35, -0.1, 0.16), 2),
    "corner": ((-0.35, 0.26, 0.17), 3),
    "inside": ((0.1, 0.05, -0.07), 0),
}


@pytest.mark.parametrize("who", ["both move", "box fixed", "ball fixed"])
@pytest.mark.parametrize("radius", [0.0, 0.08])
@pytest.mark.parametrize("region", REGIONS)
def test_box_against_sphere(region, radius, who):
    center, curved = REGIONS[region]
    rng = np.random.default_rng(len(region))
    place, frame = 0.1 * rng.normal(size=3), random_quaternion(rng)  # the box in its body
    offset = 0.1 * rng.normal(size=3)
    scene = ss.Scene()
    body = scene.add_body("box", joint="fixed" if who == "box fixed" else "free")
    body.add_box(2 * HALF, pos=place, quat=frame, mass=1.0)
    ball(scene, radius, offset, joint="fixed" if who == "ball fixed" else "free")
    detect = Detector(scene)
    for _ in range(5):
        if who == "ball fixed":
            quat = random_quaternion(rng)
            q = np.r_[offset - rotation(quat) @ (place + rotation(frame) @ center), quat]
        else:
            pos, quat = (np.zeros(3), np.array([1.0, 0, 0, 0]))
            start = []
            if who == "both move":
                pos, quat = rng.normal(size=3), random_quaternion(rng)
                start = [*pos, *quat]
            turned = random_quaternion(rng)
            target = pos + rotation(quat) @ (place + rotation(frame) @ center)
            q = np.r_[start, target - rotation(turned) @ offset, turned]
        c = check_rates(detect, q, rng.normal(size=detect.model.nv))
        assert (c.link1[0] == 0) == (who != "both move")
        if curved < 2 and who != "ball fixed":
            assert not c.spin.any()  # flat: the normal is fixed to link 1
        else:
            assert np.linalg.norm(c.spin[0]) > 1e-3


@pytest.mark.parametrize("who", ["both move", "one fixed"])
@pytest.mark.parametrize("radius", [0.0, 0.08])
def test_sphere_against_sphere(radius, who):
    rng = np.random.default_rng(5)
    scene = ss.Scene()
    body = scene.add_body("first", joint="fixed" if who == "one fixed" else "free")
    body.add_sphere(0.2, pos=0.1 * rng.normal(size=3), mass=1.0)
    ball(scene, radius, 0.1 * rng.normal(size=3))
    detect = Detector(scene)
    for _ in range(10):
        q = np.concatenate(
            [np.r_[0.3 * rng.normal(size=3), random_quaternion(rng)] for _ in range(detect.model.nq // 7)]
        )
        c = check_rates(detect, q, rng.normal(size=detect.model.nv))
        assert c.rolling[0] == (radius > 0)


def test_plane_against_sphere():
    rng = np.random.default_rng(6)
    scene = ss.Scene()
    scene.add_plane(normal=(0.3, -0.2, 1.0))
    ball(scene, 0.08, (0.1, 0.2, -0.1))
    detect = Detector(scene)
    q = np.r_[rng.normal(size=3), random_quaternion(rng)]
    c = check_rates(detect, q, rng.normal(size=6))
    assert not c.spin.any()


def two_bodies(first, second):
    """Shapes (kind, size) off the origins of two free bodies, in this order."""
    scene, rng = ss.Scene(), np.random.default_rng(8)
    for name, (kind, size) in (("first", first), ("second", second)):
        body = scene.add_body(name)
        place = {"pos": 0.05 * rng.normal(size=3), "quat": random_quaternion(rng), "mass": 1.0}
        getattr(body, f"add_{kind}")(*size, **place)
    return Detector(scene)


SPHERE, CAPSULE, CYLINDER, BOX = (
    ("sphere", (0.1,)),
    ("capsule", (0.05, 0.3)),
    ("cylinder", (0.1, 0.4)),
    ("box", (2 * HALF,)),
)
BALLS_ON = {  # the ball's centre in the axes of the other shape
    "sphere over a capsule's side": (CAPSULE, SPHERE, (0.1, 0.09, 0.07)),
    "sphere over a capsule's end": (CAPSULE, SPHERE, (0.05, 0.06, 0.22)),
    "sphere over a cylinder's side": (CYLINDER, SPHERE, (0.12, 0.14, 0.05)),
    "sphere over a cylinder's cap": (CYLINDER, SPHERE, (0.02, 0.03, 0.28)),
    "sphere over a box's edge": (BOX, SPHERE, (0.36, 0.02, 0.15)),
}


@pytest.mark.parametrize("turned", [False, True], ids=["surface first", "ball first"])
@pytest.mark.parametrize("name", BALLS_ON)
def test_balls_over_other_shapes(name, turned):
    surface, ball_, where = BALLS_ON[name]
    detect, rng = two_bodies(*((ball_, surface) if turned else (surface, ball_))), np.random.default_rng(9)
    shapes = detect.model.shapes
    on, ball_shape = (shapes[1], shapes[0]) if turned else shapes
    for _ in range(5):
        poses = [np.r_[rng.normal(size=3), random_quaternion(rng)] for _ in range(2)]
        R = [rotation(pose[3:]) for pose in poses]
        i, j = (1, 0) if turned else (0, 1)
        target = poses[i][:3] + R[i] @ (on.pos + on.rot @ where)
        poses[j][:3] = target - R[j] @ ball_shape.pos
        check_rates(detect, np.concatenate(poses), rng.normal(size=12))


@pytest.mark.parametrize("turned", [False, True], ids=["face first", "corner first"])
def test_a_corner_of_a_box_on_a_face(turned):
    """The normal is fixed to the body with the face, the point to that with the corner."""
    large, small = ("box", ((0.6, 0.6, 0.2),)), ("box", ((0.1, 0.1, 0.1),))
    scene, rng = ss.Scene(), np.random.default_rng(10)
    for kind, size in (small, large) if turned else (large, small):
        getattr(scene, f"add_{kind}")(*size, mass=1.0)
    detect = Detector(scene)
    corner = rotation([0.8, 0.45, -0.35, 0.15] / np.linalg.norm([0.8, 0.45, -0.35, 0.15]))
    depth = np.abs(corner[2]).sum() * 0.05
    quat = np.array([0.8, 0.45, -0.35, 0.15]) / np.linalg.norm([0.8, 0.45, -0.35, 0.15])
    flat, tilted = np.r_[0, 0, 0, 1, 0, 0, 0], np.r_[0.05, -0.03, 0.1 + depth - 0.003, quat]
    q = np.concatenate([tilted, flat] if turned else [flat, tilted])

    def lowest(q, v=None):
        c = detect(q, v, margin=0.0)
        assert len(c.pair) == 1
        return c

    lowest.model, lowest.kin = detect.model, detect.kin
    for _ in range(5):
        c = check_rates(lowest, q, 0.3 * rng.normal(size=12))
        assert (c.rolling[0] == ON_BOX) == turned


def test_contacts_of_a_collision_function_move_with_body_2_unless_it_says_otherwise():
    scene = ss.Scene()
    scene.add_sphere(0.1, mass=1.0)

    def collision(sim):
        sim.contacts.clear()
        sim.contacts.add(0, 1, [0, 0, -0.1], [0, 0, 1], -1e-5, pair=0)
        sim.contacts.add(0, 1, [0, 0, -0.1], [0, 0, 1], -1e-5, pair=1, spin=(1, 0, 0), drift=(0, 2, 0))

    sim = ss.Simulation(scene, dt=1e-4, collision=collision)
    sim.set_state(v=[1.0, 2.0, 3.0, 0.0, 4.0, 0.0])
    sim.observe()
    c = sim.contacts.arrays
    np.testing.assert_allclose(c.drift[:2], [[0.6, 2, 3], [0, 2, 0]], atol=1e-14)
    np.testing.assert_array_equal(c.spin[:2], [[0, 0, 0], [1, 0, 0]])
    with pytest.raises(ss.InputError, match="contact spin, drift and surface: expected finite numbers"):
        sim.contacts.add(0, 1, [0, 0, 0], [0, 0, 1], 0.0, pair=0, drift=(np.nan, 0, 0))


def test_forces_between_two_moving_bodies_have_no_sum_and_no_moment():
    rng = np.random.default_rng(7)
    scene = ss.Scene()
    scene.add_box(2 * HALF, name="box", mass=1.0)
    scene.add_sphere(0.08, name="ball", mass=1.0)
    scene.add_sphere(0.15, name="other", mass=1.0)
    detect = Detector(scene)
    q = np.concatenate([np.r_[0.3 * rng.normal(size=3), random_quaternion(rng)] for _ in range(3)])
    c = detect(q)
    assert len(c.pair) == 3
    c.force[:] = rng.normal(size=(3, 3))
    f_ext = np.zeros((4, 6))
    apply_contact_forces(detect.kin, c, f_ext)
    moment = f_ext[:, 3:] + np.cross(detect.kin.origin, f_ext[:, :3])
    assert np.abs(f_ext).max() > 0.1
    np.testing.assert_allclose(f_ext[:, :3].sum(axis=0), 0, atol=1e-14)
    np.testing.assert_allclose(moment.sum(axis=0), 0, atol=1e-14)
