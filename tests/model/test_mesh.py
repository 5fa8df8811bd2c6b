"""Meshes that are flat, hollow, or made of pieces."""

import itertools
import sys

import numpy as np
import pytest

import stickslip as ss
from stickslip.errors import StickslipWarning
from stickslip.model import compile, mesh

CORNERS = np.array(list(itertools.product((0.0, 1.0), repeat=3)))
TRIANGLES = np.array(
    [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4),
     (1, 5, 7), (1, 7, 3)]
)  # fmt: skip
"""A unit cube, counter-clockwise seen from outside."""


def two_cubes() -> tuple[np.ndarray, np.ndarray]:
    """A cube, and a bar of twice its volume beside it."""
    return np.concatenate([CORNERS, CORNERS * (2, 1, 1) + (1.5, 0, 0)]), np.concatenate([TRIANGLES, TRIANGLES + 8])


def angle() -> tuple[np.ndarray, np.ndarray]:
    """An L of one piece, made of three unit cubes."""
    import trimesh

    outline = np.array([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)], dtype=float)
    cap = np.array([(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)])
    points = np.concatenate([np.c_[outline, np.zeros(6)], np.c_[outline, np.ones(6)]])
    sides = [(i, (i + 1) % 6, (i + 1) % 6 + 6) for i in range(6)] + [(i, (i + 1) % 6 + 6, i + 6) for i in range(6)]
    faces = np.concatenate([cap[:, ::-1], cap + 6, sides])
    assert trimesh.Trimesh(points, faces).volume == pytest.approx(3.0)
    return points, faces


def test_a_convex_surface_is_taken_as_it_is():
    for convex in (None, "hull", "decompose", "refuse"):
        scene = ss.Scene()
        scene.add_mesh(CORNERS, faces=TRIANGLES, convex=convex, mass=2.0)
        (shape,) = scene.compile().shapes
        assert len(shape.vertices) == 8


def test_a_hull_of_too_many_corners_is_refused(monkeypatch):
    monkeypatch.setattr(compile, "MOST_CORNERS", 7)
    scene = ss.Scene()
    scene.add_mesh(vertices=CORNERS, name="cube")
    with pytest.raises(ss.ModelError, match="expected a convex hull of at most 7 corners, got 8"):
        scene.compile()


def test_a_flat_mesh_is_refused():
    with pytest.raises(ss.ModelError, match="no volume"):
        ss.Scene().add_mesh(CORNERS * (1, 1, 0))
    with pytest.raises(ss.ModelError, match="no volume"):
        ss.Scene().add_mesh(CORNERS * (1, 1e-8, 1))
    scene = ss.Scene()
    scene.add_mesh(CORNERS * (1, 1e-3, 1e-3))  # thin, but not flat
    assert len(scene.compile().shapes) == 1


@pytest.mark.parametrize(
    ("vertices", "message"),
    [
        (np.zeros((0, 3)), "at least 4 points"),
        (CORNERS[:3], "at least 4 points"),
        (np.zeros((10, 3)), "no volume"),
        (np.outer(np.arange(9.0), (1, 2, 3)), "no volume"),
        (CORNERS * (1e-6, 1e-6, 1.0), "no volume"),
        (CORNERS * 1e-6, r"expected a volume of at least 1e-15 m³.*got 1.0e-18 m³"),
        (np.where(CORNERS == 1.0, np.nan, CORNERS), r"expected finite vertices.*got \[0.0, 0.0, nan\] as vertex 1"),
        (np.where(CORNERS == 1.0, np.inf, CORNERS), "expected finite vertices"),
        (CORNERS * 1e39, r"at most 1e\+30 m from the origin"),
    ],
    ids=["none", "three", "one place", "a line", "a needle", "tiny", "not a number", "infinite", "beyond floats"],
)
def test_what_is_not_a_body_is_refused(vertices, message):
    with pytest.raises(ss.StickslipError, match=message) as error:
        ss.Scene().add_mesh(vertices, mass=1.0)
    assert len(str(error.value)) < 300


def test_a_hollow_surface_is_its_hull_with_a_warning():
    points, faces = angle()
    scene = ss.Scene()
    with pytest.warns(StickslipWarning, match=r'not convex.*convex="decompose"'):
        scene.add_mesh(points, faces=faces)
    scene.add_mesh(points, faces=faces, convex="hull")  # no warning: it is an error in these tests
    assert [len(shape.vertices) for shape in scene.compile().shapes] == [10, 10]


def test_a_surface_of_very_many_triangles_is_looked_at_in_part(monkeypatch):
    """Distances of all places from all planes would not fit any memory."""
    points, faces = angle()
    whole = mesh.hollow(points, faces, "angle")
    assert whole > 0.1
    monkeypatch.setattr(mesh, "DISTANCES_AT_ONCE", 7)
    assert mesh.hollow(points, faces, "angle") == whole
    monkeypatch.setattr(mesh, "MOST_DISTANCES", 60)
    assert mesh.hollow(points, faces, "angle") <= whole


def test_a_hollow_surface_can_be_refused_and_leaves_nothing_behind():
    points, faces = angle()
    scene = ss.Scene()
    with pytest.raises(ss.ModelError, match="not convex"):
        scene.add_mesh(points, faces=faces, convex="refuse")
    assert len(scene.compile().shapes) == 0


def test_convex_pieces_need_no_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "coacd", None)
    points, faces = two_cubes()
    scene = ss.Scene()
    body = scene.add_body("bar")
    body.add_mesh(points, faces=faces, convex="decompose", mass=3.0, friction=0.3, name="bar")
    model = scene.compile()
    one, two = model.shapes
    assert (one.name, two.name) == ("bar/0", "bar/1")
    assert one.material.friction == two.material.friction == 0.3
    assert model.inertia.mass[1] == pytest.approx(3.0)
    np.testing.assert_allclose(model.inertia.com[1], (1.0 / 3 * 0.5 + 2.0 / 3 * 2.5, 0.5, 0.5), atol=1e-6)
    places = [shape.vertices @ shape.rot.T + shape.pos for shape in (one, two)]
    np.testing.assert_allclose(places[0].max(axis=0), (1, 1, 1), atol=1e-6)
    np.testing.assert_allclose(places[1].min(axis=0), (1.5, 0, 0), atol=1e-6)


def test_without_the_package_the_error_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "coacd", None)
    points, faces = angle()
    with pytest.raises(ss.ModelError, match="pip install coacd"):
        ss.Scene().add_mesh(points, faces=faces, convex="decompose")


def test_an_angle_is_decomposed():
    pytest.importorskip("coacd")
    points, faces = angle()
    scene = ss.Scene()
    scene.add_mesh(points, faces=faces, convex="decompose", mass=1.0)
    shapes = scene.compile().shapes
    assert len(shapes) >= 2
    corners = np.concatenate([shape.vertices @ shape.rot.T + shape.pos for shape in shapes])
    assert not np.any(np.all(corners[:, :2] > 1.1, axis=1))  # the notch is free
    np.testing.assert_allclose(corners.max(axis=0), (2, 2, 1), atol=0.05)


def test_files(tmp_path):
    import trimesh

    points, faces = angle()
    trimesh.Trimesh(points, faces).export(tmp_path / "angle.stl")
    trimesh.Trimesh(CORNERS, TRIANGLES).export(tmp_path / "cube.obj")
    scene = ss.Scene()
    scene.add_mesh(tmp_path / "cube.obj", convex="refuse")
    with pytest.warns(StickslipWarning, match="not convex"):
        scene.add_mesh(tmp_path / "angle.stl")
    with pytest.raises(ss.ModelError, match=r"angle.stl.*not convex"):
        scene.add_mesh(tmp_path / "angle.stl", convex="refuse")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"convex": "hul"}, "did you mean 'hull'"),
        ({"faces": [(0, 1, 9)]}, "from 0 to 7"),
        ({"faces": [(0.0, 1.0, 2.0)]}, "whole numbers"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ss.InputError, match=message):
        ss.Scene().add_mesh(CORNERS, **options)
