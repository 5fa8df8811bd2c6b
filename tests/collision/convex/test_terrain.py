"""Height fields: flat ground is a plane; gaps are those of the nearest prism; bodies roll, slide and rest as they must.

The oracles are planes, closed forms, and the convex meshes that the cells of a height field are made of.
"""

import numpy as np
import pytest
from convex_pairs import Pair, random_quaternion

import stickslip as ss
from stickslip.model.terrain import grid_points, grid_triangles

SHAPES = {
    "sphere": lambda scene: scene.add_sphere(0.1),
    "point": lambda scene: scene.add_body().set_inertia(1.0, inertia=(1, 1, 1)).add_contact_point("tip", pos=(0, 0, 0)),
    "capsule": lambda scene: scene.add_capsule(0.06, 0.3),
    "box": lambda scene: scene.add_box((0.2, 0.3, 0.1)),
    "cylinder": lambda scene: scene.add_cylinder(0.1, 0.3),
    "ellipsoid": lambda scene: scene.add_ellipsoid((0.1, 0.15, 0.07)),
    "mesh": lambda scene: scene.add_mesh(0.1 * np.random.default_rng(1).normal(size=(12, 3))),
}
CORNERED = ("box", "cylinder", "mesh")
"""The gap of a corner or rim is measured to the plane of the triangle below it, which is at most the distance; apart,
an edge over a peak has no contact."""


def on_ground(kind, ground, margin=0.05):
    scene = ss.Scene()
    ground(scene)
    SHAPES[kind](scene)
    return Pair(scene, margin)


def flat(scene):
    scene.add_terrain(np.full((21, 25), 0.37), size=(2.4, 2.0), pos=(0.1, -0.2, -0.37), base=1.0)


@pytest.mark.parametrize("kind", SHAPES)
def test_flat_ground_is_a_plane(kind):
    """Also over the borders of cells, which are at multiples of 0.1."""
    ground, plane = on_ground(kind, flat), on_ground(kind, lambda scene: scene.add_plane())
    rng, touching = np.random.default_rng(0), 0
    for k in range(150):
        place = rng.uniform(-0.5, 0.5, size=2)
        quat = random_quaternion(rng) if k % 3 else np.array([1.0, 0, 0, 0])
        q = np.r_[np.round(place, 1) if k % 2 else place, rng.uniform(0.0, 0.15), quat]
        c, d = ground.find(q), plane.find(q)
        if kind == "box":  # corners apart may be fewer on a plane, where one face decides
            assert np.sum(c.gap <= 0.0) == np.sum(d.gap <= 0.0)
            assert len(c.gap) >= len(d.gap)
        else:
            assert len(c.gap) == len(d.gap)
        if not len(d.gap):
            continue
        touching += 1
        np.testing.assert_allclose(np.sort(c.gap)[: len(d.gap)][0], np.sort(d.gap)[0], rtol=0, atol=1e-12)
        np.testing.assert_allclose(c.axes[:, 0], np.tile([0.0, 0.0, 1.0], (len(c.gap), 1)), atol=1e-12)
        for point in d.point:
            assert np.linalg.norm(c.point - point, axis=1).min() < 1e-7
    assert touching > (10 if kind == "point" else 60)


def test_a_ball_that_rolls_over_flat_ground_keeps_its_contact():
    ground = on_ground("sphere", flat)
    ids = {int(i) for x in np.linspace(-0.5, 0.5, 101) for i in ground.find(np.r_[x, 0.3 * x, 0.1, 1, 0, 0, 0]).pair}
    assert len(ids) == 1


def prisms(points, rows, columns):
    """A function that adds the cells of a height field as convex meshes."""

    def add(scene):
        for triangle in grid_triangles(rows, columns):
            low = points[triangle].copy()
            low[:, 2] = -0.1
            scene.add_mesh(np.r_[points[triangle], low], joint="fixed")

    return add


@pytest.mark.parametrize("kind", SHAPES)
def test_gaps_and_normals_are_those_of_the_nearest_prism(kind):
    rng = np.random.default_rng(3)
    heights = rng.uniform(0.0, 0.12, size=(6, 7))
    ground = on_ground(kind, lambda scene: scene.add_terrain(heights, size=(0.9, 0.75)))
    points = grid_points(heights, (0.45, 0.375))
    cells = on_ground(kind, prisms(points, 6, 7))
    seen = same = 0
    for _ in range(150):
        q = np.r_[rng.uniform(-0.25, 0.25, size=2), rng.uniform(0.08, 0.3), random_quaternion(rng)]
        c, d = ground.find(q), cells.find(q)
        assert all(np.all(np.isfinite(array)) for array in c[1:])
        assert len({*c.pair.tolist()}) == len(c.pair)
        if not len(d.gap) or d.gap.min() < 0.0:  # overlapping, the depths of single prisms mean nothing
            assert kind in CORNERED or len(d.gap) or not len(c.gap)
            continue
        seen += 1
        if kind in CORNERED and not len(c.gap):
            continue
        i, j = int(np.argmin(c.gap)), int(np.argmin(d.gap))
        if kind in CORNERED and c.gap[i] < d.gap[j] - 1e-7:
            assert c.gap[i] > 0.7 * d.gap[j]
            continue
        same += 1
        assert c.gap[i] == pytest.approx(d.gap[j], abs=3e-8)  # meshes are kept in single precision
        assert np.linalg.norm(c.axes[i, 0] - d.axes[j, 0]) < 1e-4
    assert seen > 15
    assert same > (0.7 * seen if kind in CORNERED else seen - 1)


def slope(angle):
    """A plane that falls along x, as heights over 2 m × 1 m."""
    x = np.linspace(-1.0, 1.0, 41)
    return np.tile(-np.tan(angle) * x, (21, 1))


@pytest.mark.parametrize(("method", "dt"), [("semi-implicit-euler", 1e-4), ("coulomb", 1e-3)])
def test_a_ball_rolls_down_with_five_sevenths(method, dt):
    """a = 5/7·g·sin θ, over a dozen borders of cells."""
    angle, radius, time = 0.2, 0.05, 0.5
    scene = ss.Scene()
    scene.add_terrain(slope(angle), size=(2.0, 1.0), friction=1.0)
    normal = np.array([np.sin(angle), 0.0, np.cos(angle)])
    start = np.array([-0.61, 0.013, np.tan(angle) * 0.61]) + (radius - 1e-6) * normal
    scene.add_sphere(radius, pos=start, mass=0.3)
    sim = ss.Simulation(scene, method, dt=dt)
    sim.step(round(time / dt))
    along = (sim.state.q[:3] - start) @ [np.cos(angle), 0.0, -np.sin(angle)]
    assert along == pytest.approx(0.5 * (5 / 7) * 9.81 * np.sin(angle) * time**2, rel=5e-3)
    assert abs(sim.state.q[1] - start[1]) < 1e-6
    assert abs((sim.state.q[:3] - start) @ normal) < 1e-4


@pytest.mark.parametrize("method", ["coulomb", "semi-implicit-euler"])
def test_a_box_slides_over_borders_of_cells_as_over_a_plane(method):
    ends = []
    for ground in (flat, lambda scene: scene.add_plane()):
        scene = ss.Scene()
        ground(scene)
        scene.add_box((0.13, 0.17, 0.1), pos=(-0.4, 0.03, 0.05), quat=(0.98, 0, 0, 0.2), friction=0.2, mass=1.0)
        sim = ss.Simulation(scene, method, dt=1e-3 if method == "coulomb" else 2e-4)
        sim.set_state(v=[1.0, 0.2, 0, 0, 0, 0.5])
        sim.step(400)
        ends.append(sim.state.q.copy())
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-6)


def test_a_box_rests_on_bumps():
    scene = ss.Scene()
    heights = np.random.default_rng(5).uniform(0.0, 0.02, size=(31, 31))
    scene.add_terrain(heights, size=(1.5, 1.5), friction=0.8)
    scene.add_box((0.3, 0.25, 0.1), pos=(0.02, 0.01, 0.075), mass=2.0)
    sim = ss.Simulation(scene, "coulomb", dt=2e-3)
    sim.step(500)
    rest = sim.state.q.copy()
    assert np.abs(sim.state.v).max() < 1e-4
    sim.step(250)
    np.testing.assert_allclose(sim.state.q, rest, atol=1e-4)
    assert len(sim.contacts) >= 3


def test_a_ball_rides_on_terrain_of_a_moving_body():
    """A plate of 10 kg, with terrain on it, meets a ball of 1 kg at 1 m/s and takes it along."""
    scene = ss.Scene()
    tray = scene.add_body("tray", pos=(0, 0, 1.0))
    tray.set_inertia(10.0, inertia=(1, 1, 1))
    tray.add_terrain(np.zeros((5, 5)), size=(1.0, 1.0), mass=0.0)
    scene.add_sphere(0.1, pos=(0.0, 0.0, 1.1), mass=1.0)
    sim = ss.Simulation(scene, "coulomb", dt=1e-3)
    sim.set_state(v=[0, 0, 1.0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    sim.step(1)
    assert len(sim.contacts) == 1
    assert sim.state.v[8] == pytest.approx(10.0 / 11.0 - 9.81e-3, rel=0.05)
