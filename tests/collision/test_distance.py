"""sim.distance: MuJoCo's for all pairs of convex shapes, closed forms for terrain and for what lies side by side."""

import mujoco
import numpy as np
import pytest

import stickslip as ss
from stickslip.collision.distance import Distances
from stickslip.dynamics.kinematics import forward_kinematics
from stickslip.errors import InputError

KINDS = ("sphere", "capsule", "cylinder", "box", "ellipsoid", "mesh")


@pytest.fixture(scope="module")
def crowd():
    """Two of each shape, which touch nothing, and a floor."""
    scene, rng = ss.Scene(), np.random.default_rng(2)
    scene.add_plane(name="floor")
    for k in (1, 2):
        scene.add_sphere(0.1, name=f"sphere{k}", collide=False)
        scene.add_capsule(0.07, 0.2, name=f"capsule{k}", collide=False)
        scene.add_cylinder(0.1, 0.25, name=f"cylinder{k}", collide=False)
        scene.add_box((0.2, 0.3, 0.1), name=f"box{k}", collide=False)
        scene.add_ellipsoid((0.1, 0.2, 0.15), name=f"ellipsoid{k}", collide=False)
        scene.add_mesh(0.15 * rng.normal(size=(10, 3)), name=f"mesh{k}", collide=False)
    model = scene.compile()
    model.mj.opt.ccd_tolerance, model.mj.opt.ccd_iterations = 1e-12, 200
    return model, ss.Dynamics(model), Distances(model), mujoco.MjData(model.mj)


def scatter(model, rng):
    q = model.state().q.reshape(-1, 7)
    q[:, :3], q[:, 3:] = 0.3 * rng.normal(size=(len(q), 3)), rng.normal(size=(len(q), 4))
    q[:, 3:] /= np.linalg.norm(q[:, 3:], axis=1)[:, None]
    return q.ravel()


@pytest.mark.parametrize("one", KINDS)
def test_every_pair_of_shapes_against_mujoco(crowd, one):
    """Both witness points are those that the distance is between, and on the side of their shapes."""
    model, dynamics, distances, data = crowd
    rng, shape = (
        np.random.default_rng(KINDS.index(one)),
        {model.mj.body(s.body).name: i for i, s in enumerate(model.shapes)},
    )
    for _ in range(4):
        q, kin = scatter(model, rng), dynamics.data.kin
        forward_kinematics(model.tree, q, kin)
        data.qpos[:] = q
        mujoco.mj_kinematics(model.mj, data)
        for other in (*(f"{kind}2" for kind in KINDS), "world"):
            first = f"{one}1"
            found, back = distances.between(kin, first, other), distances.between(kin, other, first)
            theirs = mujoco.mj_geomDistance(model.mj, data, shape[first], shape[other], 100.0, np.zeros(6))
            if theirs > 0.0:
                assert found.distance == pytest.approx(theirs, abs=2e-7), other
            else:
                assert -1.0 < found.distance <= 1e-9, other
            assert np.allclose(found.points[0] + found.distance * found.normal, found.points[1], rtol=0, atol=1e-9)
            assert back.distance == pytest.approx(found.distance, abs=1e-8)
            assert (found.bodies, back.bodies) == ((first, other), (other, first))


def test_shapes_side_by_side_that_no_manifold_covers():
    """Corners of boxes, and rims of cylinders that are parallel, have no contact until they overlap in their axes."""
    scene = ss.Scene()
    scene.add_box((1, 1, 1), name="a", joint="fixed")
    scene.add_box((1, 1, 1), name="b", joint="fixed", pos=(2, 2, 2))
    scene.add_cylinder(0.5, 1.0, name="c", joint="fixed", pos=(10, 0, 0))
    scene.add_cylinder(0.5, 1.0, name="d", joint="fixed", pos=(13, 4, 2))
    sim = ss.Simulation(scene, "mujoco", dt=1e-3)
    corners, rims = sim.distance("a", "b"), sim.distance("c", "d")
    assert corners.distance == pytest.approx(np.sqrt(3.0), abs=1e-12)
    assert np.allclose(corners.points, [(0.5, 0.5, 0.5), (1.5, 1.5, 1.5)])
    assert rims.distance == pytest.approx(np.hypot(4.0, 1.0), abs=1e-8)
    assert np.allclose(rims.points, [(10.3, 0.4, 0.5), (12.7, 3.6, 1.5)], atol=1e-4)


def test_terrain_and_its_nearest_point():
    """A pyramid of height 1 over a square of 2 m: its peak, what is above it, beside it, below it and within it."""
    scene = ss.Scene()
    scene.add_terrain([[0, 0, 0], [0, 1, 0], [0, 0, 0]], size=(2, 2), base=0.5, name="hill")
    scene.add_plane(pos=(0, 0, -3), name="below")
    for k, place in enumerate(((0, 0, 2), (5, 0, -0.25), (0, 3, 1.0), (0.2, 0.1, 0.8))):
        scene.add_sphere(0.1, name=f"ball{k}", pos=place, joint="fixed")
    scene.add_box((0.2, 0.2, 0.2), name="box", pos=(0, 0, 3), joint="fixed")
    sim = ss.Simulation(scene, "mujoco", dt=1e-3)
    above = sim.distance("hill", "ball0")
    assert above.distance == pytest.approx(0.9, abs=1e-9)
    assert np.allclose(above.normal, (0, 0, 1), atol=1e-8)
    assert np.allclose(above.points[0], (0, 0, 1), atol=1e-8)
    assert sim.distance("ball1", "hill").distance == pytest.approx(4.0 - 0.1, abs=1e-9)  # its side
    assert sim.distance("hill", "ball2").distance == pytest.approx(np.hypot(2.0, 1.0) - 0.1, abs=1e-6)
    assert sim.distance("ball3", "hill").distance == pytest.approx(-0.1, abs=0.05)
    assert sim.distance("box", "hill").distance == pytest.approx(1.9, abs=1e-9)
    assert sim.distance("below", "hill").distance == pytest.approx(2.5, abs=1e-9)
    with pytest.raises(InputError, match=r"not known of terrain and terrain|two different"):
        sim.distance("hill", "hill")


def test_names_robots_and_moving_bodies():
    scene = ss.Scene()
    scene.add_plane(name="floor")
    scene.add_robot("solo12", pos=(0, 0, 0.5))
    scene.add_box((0.1, 0.1, 0.1), name="hand", mocap=True, pos=(1, 0, 0.5))
    sim = ss.Simulation(scene, "mujoco", dt=1e-3)
    trunk = sim.distance("hand", "trunk")  # a shape of base_link
    assert trunk.bodies == ("hand", "base_link")
    sim.set_mocap("hand", pos=(1.25, 0, 0.5))
    assert sim.distance("hand", "trunk").distance == pytest.approx(trunk.distance + 0.25, abs=1e-9)
    assert sim.distance("base_link", "FL_UPPER_LEG").distance < 0.2  # neighbours, which may not touch
    assert float(sim.distance("world", "base_link")) > 0.3
    with pytest.raises(InputError, match="base_link"):
        sim.distance("hand", "base_lnk")
    with pytest.raises(InputError, match="two different"):
        sim.distance("hand", "hand")
