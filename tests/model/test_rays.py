"""Rays against MuJoCo's on random scenes of all shapes."""

import mujoco
import numpy as np
import pytest

import stickslip as ss
from stickslip.model.rays import ELLIPSOID, ray_shape


def scene_of(seed: int) -> ss.Scene:
    """A floor and twenty bodies, half of them fixed, with all kinds of shapes anywhere."""
    rng = np.random.default_rng(seed)
    scene = ss.Scene()
    scene.add_plane(normal=(0.1, 0.2, 1.0))
    for k in range(20):
        quat = rng.normal(size=4)
        place = {"pos": rng.uniform((-1, -1, 0), (1, 1, 2)), "quat": quat / np.linalg.norm(quat)}
        place |= {"joint": "fixed" if k % 2 else "free", "name": f"b{k}"}
        a, b, c = rng.uniform(0.1, 0.3, 3)
        match k % 5:
            case 0:
                scene.add_sphere(a, **place)
            case 1:
                scene.add_box((a, b, c), **place)
            case 2:
                scene.add_capsule(a, b, **place)
            case 3:
                scene.add_cylinder(a, b, **place)
            case 4:
                scene.add_mesh(rng.normal(size=(12, 3)) * 0.2, **place)
    return scene


def oracle(mj, data, p, d, exclude=-1):
    """(distance, geom, normal) of MuJoCo."""
    geom, normal = np.full(1, -1, dtype=np.int32), np.zeros(3)
    return mujoco.mj_ray(mj, data, p, d, None, 1, exclude, geom, normal), int(geom[0]), normal


@pytest.mark.parametrize("seed", range(3))
def test_distance_shape_and_normal_are_mujoco_s(seed):
    sim = ss.Simulation(scene_of(seed))
    mj, rng, missed = sim.model.mj, np.random.default_rng(100 + seed), 0
    data = mujoco.MjData(mj)
    data.qpos[:] = sim.state.q
    mujoco.mj_kinematics(mj, data)
    for k in range(1000):
        p, d = rng.uniform((-2, -2, -1), (2, 2, 3)), rng.normal(size=3)
        body = int(rng.integers(1, mj.nbody)) if k % 3 == 0 else -1
        distance, geom, normal = oracle(mj, data, p, d / np.linalg.norm(d), body)
        hit = sim.ray(p, d, exclude=() if body < 0 else mj.body(body).name)
        if distance < 0.0:
            assert hit is None
            missed += 1
            continue
        assert hit is not None
        assert hit.distance == pytest.approx(distance, abs=1e-9)
        assert hit.shape == sim.model.shapes[geom].name
        assert hit.body == mj.body(mj.geom_bodyid[geom]).name
        np.testing.assert_allclose(hit.normal, normal, atol=1e-9)
        np.testing.assert_allclose(hit.point, p + hit.distance * d / np.linalg.norm(d))
    assert 50 < missed < 900


def test_ellipsoids_are_mujoco_s():
    rng = np.random.default_rng(0)
    eye, size, none = np.eye(3).ravel(), np.array([0.3, 0.5, 0.2]), np.zeros((0, 4))
    for _ in range(1000):
        p, d = rng.normal(size=3) * 0.5, rng.normal(size=3)
        d /= np.linalg.norm(d)
        normal = np.zeros(3)
        kind = mujoco.mjtGeom.mjGEOM_ELLIPSOID
        distance = mujoco.mju_rayGeom(np.zeros(3), eye, size, p, d, kind, normal)
        t, *n = ray_shape(ELLIPSOID, size, none, 0, 0, *p, *d)
        assert t == pytest.approx(distance, abs=1e-9)
        if t >= 0.0:
            np.testing.assert_allclose(n, normal, atol=1e-9)


def test_a_ray_of_a_scene_and_of_a_simulation_that_has_moved():
    scene = ss.Scene()
    scene.add_plane()
    scene.add_sphere(0.1, name="ball", pos=(0, 0, 1))
    hit = scene.ray((0, 0, 2), (0, 0, -3))
    assert (hit.body, hit.distance) == ("ball", pytest.approx(0.9))
    np.testing.assert_allclose(hit.normal, (0, 0, 1))
    assert scene.ray((0, 0, 2), (0, 0, -1), exclude="ball").distance == pytest.approx(2.0)
    assert scene.ray((0, 0, 2), (0, 0, 1)) is None
    sim = ss.Simulation(scene)
    sim.set_state(q=[0, 0, 0.5, 1, 0, 0, 0])
    assert sim.ray((0, 0, 2), (0, 0, -1)).distance == pytest.approx(1.4)


@pytest.mark.parametrize(
    ("origin", "direction", "exclude", "message"),
    [
        ((0, 0), (0, 0, 1), (), "origin"),
        ((0, 0, 0), (0, 0, 0), (), "direction: expected a vector that is not zero"),
        ((0, 0, np.nan), (0, 0, 1), (), "origin"),
        ((0, 0, 0), (0, 0, 1), "balll", "unknown body in exclude 'balll': did you mean 'ball'"),
    ],
)
def test_bad_rays_are_refused_by_name(origin, direction, exclude, message):
    scene = ss.Scene()
    scene.add_sphere(0.1, name="ball")
    with pytest.raises(ss.InputError, match=message):
        scene.ray(origin, direction, exclude=exclude)
