"""Terrain from Python and from files: heights, saving, rays as MuJoCo's, errors by name."""

import mujoco
import numpy as np
import pytest

import stickslip as ss
from stickslip.errors import InputError, ModelError
from stickslip.model.terrain import grid_heights
from stickslip.record.picture.solids import terrain

HEIGHTS = np.random.default_rng(0).uniform(0.1, 0.4, size=(5, 7))


def land(**options):
    scene = ss.Scene()
    scene.add_terrain(HEIGHTS, size=(3, 2), pos=(0.2, -0.1, 0.05), base=0.3, friction=0.7, name="land", **options)
    return scene


def test_rows_run_along_y_and_columns_along_x():
    shape = land().compile().shapes[0]
    points = shape.vertices + shape.pos
    np.testing.assert_allclose(points[6], [1.7, -1.1, 0.05 + HEIGHTS[0, 6]], atol=1e-7)
    np.testing.assert_allclose(points[-7], [-1.3, 0.9, 0.05 + HEIGHTS[4, 0]], atol=1e-7)
    np.testing.assert_allclose(grid_heights(points), 0.05 + HEIGHTS, atol=3e-8)
    hit = land().ray((1.7 - 1e-9, -1.1 + 1e-9, 2.0), (0, 0, -1))
    assert hit.point[2] == pytest.approx(0.05 + HEIGHTS[0, 6], abs=1e-6)


def test_saved_and_read_back(tmp_path):
    scene = land(quat=(0.9, 0.1, 0.2, 0.3))
    scene.save(tmp_path / "land.xml")
    one, two = scene.compile().shapes[0], ss.Scene.from_file(tmp_path / "land.xml").compile().shapes[0]
    np.testing.assert_array_equal(one.vertices, two.vertices)
    np.testing.assert_array_equal(one.pos, two.pos)
    np.testing.assert_array_equal(one.size, two.size)
    assert one.material == two.material


def test_rays_are_mujocos():
    scene, rng = land(), np.random.default_rng(1)
    model = scene.compile()
    data, geom = mujoco.MjData(model.mj), np.zeros(1, dtype=np.int32)
    mujoco.mj_forward(model.mj, data)
    hits = 0
    for k in range(150):
        origin, way = np.r_[rng.uniform(-1.6, 1.6, size=2), rng.uniform(0.6, 3.0)], rng.normal(size=3)
        way = np.array([0.0, 0.0, -1.0]) if k % 7 == 0 else np.r_[way[:2] * (k % 7 != 1), -abs(way[2])]
        way /= np.linalg.norm(way)
        theirs, hit = mujoco.mj_ray(model.mj, data, origin, way, None, 1, -1, geom), scene.ray(origin, way)
        side = np.abs(np.abs(origin + theirs * way - [0.2, -0.1, 0.0])[:2] - [1.5, 1.0]).min() < 1e-6
        if hit is None:
            assert theirs < 0.0 or side
        else:
            assert hit.distance == pytest.approx(theirs, abs=1e-7)
            hits += 1
    assert hits > 30


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"heights": [1, 2, 3]}, r"heights: expected an array \(rows, columns\)"),
        ({"heights": "hills"}, "heights: expected an array"),
        ({"heights": np.ones((1, 1))}, "at least 2 rows and 2 columns"),
        ({"heights": np.array([[0.0, np.nan], [0.0, 0.0]])}, r"heights\[0, 1\]: expected a finite number"),
        ({"size": (0.0, 1.0)}, "size: expected positive lengths"),
        ({"size": (1.0, 1.0, 1.0)}, "size: expected 2 finite numbers"),
        ({"base": 0.0}, "base: expected a depth > 0"),
        ({"friction": -1.0}, "friction"),
        ({"colour": 3}, "unknown option of add_terrain 'colour'"),
    ],
)
def test_errors_name_the_argument(arguments, words):
    scene = ss.Scene()
    with pytest.raises(InputError, match=words):
        scene.add_terrain(**{"heights": np.zeros((3, 3)), "size": (1.0, 1.0), **arguments})
    scene.add_sphere(0.1)
    assert len(scene.compile().shapes) == 1


@pytest.mark.parametrize(("elevation", "rows"), [("0 nan 1 0", 2), ("0 1", 1)])
def test_bad_fields_of_files_are_refused(elevation, rows):
    asset = f'<hfield name="hills" nrow="{rows}" ncol="2" elevation="{elevation}" size="1 1 1 1"/>'
    with pytest.raises(ModelError, match="hfield"):
        ss.Scene.from_xml(
            f'<mujoco><asset>{asset}</asset><worldbody><geom type="hfield" hfield="hills"/></worldbody></mujoco>'
        ).compile()


def test_pictures_meet_the_ground_where_rays_do():
    scene, rng = land(), np.random.default_rng(2)
    shape = scene.compile().shapes[0]
    origin = np.c_[rng.uniform(-1.2, 1.2, size=(60, 2)), rng.uniform(0.6, 2.0, size=60)]
    way = np.c_[rng.normal(size=(60, 2)), -rng.uniform(0.1, 2.0, size=60)]
    way /= np.linalg.norm(way, axis=1)[:, None]
    distance, normal = terrain(origin - shape.pos, way, shape.vertices.astype(np.float32))
    for k in range(60):
        hit = scene.ray(origin[k], way[k])
        assert np.isfinite(distance[k]) == (hit is not None)
        if hit is not None:
            assert distance[k] == pytest.approx(hit.distance, abs=1e-5)
            np.testing.assert_allclose(normal[k], hit.normal, atol=1e-4)
