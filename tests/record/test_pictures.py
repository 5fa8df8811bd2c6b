"""Pictures show what was recorded: rays meet shapes where MuJoCo's do, and pixels are where geometry puts them."""

import os
import subprocess
from dataclasses import replace

import mujoco
import numpy as np
import pytest
import trimesh
from made_up_run import made_up_model
from PIL import Image

import stickslip as ss
from stickslip.record import Recorder
from stickslip.record.appearance import Surface, coarser
from stickslip.record.layout import FRAME
from stickslip.record.picture import Camera, Painter, video
from stickslip.record.picture.camera import View, view_of
from stickslip.record.picture.cast import Grid, Places, look, nothing
from stickslip.record.picture.shapes import link_frames, solids_of
from stickslip.record.picture.video import frames_at

OCTAHEDRON = "<asset><mesh name='o' vertex='.3 0 0 -.3 0 0 0 .2 0 0 -.2 0 0 0 .4 0 0 -.4'/></asset>"
GEOMS = {
    "sphere": "<geom type='sphere' size='.3'/>",
    "capsule": "<geom type='capsule' size='.1 .3'/>",
    "cylinder": "<geom type='cylinder' size='.2 .3'/>",
    "ellipsoid": "<geom type='ellipsoid' size='.1 .2 .3'/>",
    "box": "<geom type='box' size='.1 .2 .3'/>",
    "mesh": "<geom type='mesh' mesh='o'/>",
    "plane": "<geom type='plane' size='1 1 1'/>",
}


def xml_of(kind):
    asset = OCTAHEDRON if kind == "mesh" else ""
    geom = GEOMS[kind].replace("/>", " pos='.1 -.2 .15' euler='20 40 -30'/>")
    other = "<body pos='9 9 -9'><freejoint/><geom size='.1'/></body>"
    return f"<mujoco>{asset}<worldbody>{geom}{other}</worldbody></mujoco>"


@pytest.mark.parametrize("kind", GEOMS)
def test_rays_meet_shapes_where_mujocos_do(kind):
    mj = mujoco.MjModel.from_xml_string(xml_of(kind))
    data = mujoco.MjData(mj)
    mujoco.mj_forward(mj, data)
    recorder = Recorder(None, ss.Scene.from_xml(xml_of(kind)).compile())
    header = replace(recorder.log().header, surfaces={})  # as in old files: a mesh is its hull
    solid = next(solid for solid in solids_of(header) if solid.link == 0)
    rng, met = np.random.default_rng(1), 0
    for _ in range(300):
        start = np.array([1.5, -1.0, 1.2]) + 0.1 * rng.normal(size=3)
        away = np.array([0.1, -0.2, 0.15]) + 0.25 * rng.normal(size=3) - start
        away /= np.linalg.norm(away)
        id_, normal = np.zeros(1, dtype=np.int32), np.zeros(3)
        distance = mujoco.mj_ray(mj, data, start, away, None, True, 1, id_, normal)
        o, d = (start - solid.pos) @ solid.rot, away @ solid.rot
        t, n = solid.meet(o[None].astype(np.float32), d[None].astype(np.float32))
        if distance < 0:
            assert not np.isfinite(t[0])
            continue
        met += 1
        assert t[0] == pytest.approx(distance, abs=2e-5)
        assert solid.rot @ n[0] == pytest.approx(normal, abs=2e-3)
    assert met > 30


def test_link_frames_are_rotations_of_their_quaternions():
    rng = np.random.default_rng(2)
    pose = rng.normal(size=(20, 7))
    pose[:, 3:] /= np.linalg.norm(pose[:, 3:], axis=1, keepdims=True)
    _, turns = link_frames(pose)
    for q, turn in zip(pose[:, 3:], turns, strict=True):
        expected = np.zeros(9)
        mujoco.mju_quat2Mat(expected, q)
        assert turn == pytest.approx(expected.reshape(3, 3), abs=1e-14)


def ball_log():
    scene = ss.Scene()
    scene.add_sphere(0.1, name="ball", pos=(0, 0, 0.1), mass=1.0)
    scene.add_plane()
    sim = ss.Simulation(scene, "coulomb", 0.01)
    return sim.run(0.05)


@pytest.fixture(scope="module")
def log():
    return ball_log()


def test_a_ball_covers_the_disc_that_geometry_says():
    """Seen from distance d, a ball of radius r has the angular radius asin(r/d)."""
    header = ball_log().header
    ball = [solid for solid in solids_of(header) if solid.link == 1]
    camera = Camera((0.0, 0.0, 0.0), 1.0, azimuth=30.0, elevation=0.0, field=40.0)
    view = view_of(camera, 400, 300)
    rays = Grid(view)
    seen = look(rays, ball, np.zeros((1, 3)), np.eye(3)[None], [0], nothing(rays))
    radius = np.tan(np.arcsin(0.1)) / view.pixel
    assert np.count_nonzero(seen.solid == 0) == pytest.approx(np.pi * radius**2, rel=0.01)
    assert seen.depth[150, 200] == pytest.approx(0.9, abs=1e-3)
    rows, columns = np.nonzero(seen.solid == 0)
    assert rows.mean() == pytest.approx(149.5, abs=0.2)
    assert columns.mean() == pytest.approx(199.5, abs=0.2)


@pytest.mark.parametrize("parallel", [False, True])
def test_no_pixel_of_a_ball_is_outside_its_box(parallel):
    ball = [solid for solid in solids_of(ball_log().header) if solid.link == 1]
    camera = Camera((0.0, 0.0, 0.0), 1.0, azimuth=30.0, elevation=20.0, field=60.0)
    view = view_of(camera, 120, 90)
    if parallel:
        view = View(view.eye, view.axes, 120, 90, 0.02, parallel=True)
    rng = np.random.default_rng(4)
    _, x, y = Grid(view).within((0, 90, 0, 120))
    for _ in range(60):
        centre = rng.normal(size=(1, 3)) * 0.6
        start, direction = view.rays(x, y)
        o, d = start - centre[0].astype(np.float32), direction
        o, d = np.broadcast_arrays(o, d)
        hit = np.isfinite(ball[0].meet(o, d)[0]).reshape(90, 120)
        rays = Grid(view)
        assert np.array_equal(look(rays, ball, centre, np.eye(3)[None], [0], nothing(rays)).solid == 0, hit)
        places = Places(view, x, y)
        found = look(places, ball, centre, np.eye(3)[None], [0], nothing(places))
        assert np.array_equal(found.solid.reshape(90, 120) == 0, hit)


def test_the_picture_is_the_same_every_time_and_has_the_ball_in_its_middle(log):
    image = log.image(size=(160, 90), contacts=False)
    assert image.shape == (90, 160, 3)
    assert image.dtype == np.uint8
    assert np.array_equal(image, log.image(size=(160, 90), contacts=False))
    red, _, blue = image[45, 80].astype(int)
    assert blue > red + 40  # the first colour of the palette
    assert abs(int(image[2, 2, 0]) - int(image[2, 2, 2])) < 20  # the horizon is grey


TENDON = """<mujoco><worldbody><site name="a" pos="-0.4 0 1"/><geom name="drum" type="cylinder" size=".1 .05"
pos="0 0 1" euler="90 0 0" contype="0" conaffinity="0"/><body name="b" pos="0.4 0 0.9"><geom size="0.05"/>
<joint type="slide" axis="0 0 1"/><site name="b"/></body></worldbody>
<tendon><spatial name="t" width="0.02" rgba="0 1 0 {}"><site site="a"/>
<geom geom="drum"/><site site="b"/></spatial></tendon></mujoco>"""


@pytest.mark.parametrize("opacity", [1, 0])
def test_tendons_are_drawn_in_their_colour_unless_they_are_invisible(opacity, tmp_path):
    """From the front, the path is a green band of 0.8 m, which passes below the drum, the shorter way."""
    model = ss.Scene.from_xml(TENDON.format(opacity)).compile()
    recorder = Recorder(tmp_path / "t.h5", model)
    frame = {field.name: np.zeros(field.shape(recorder.log().header.sizes)) for field in FRAME}
    frame["pose"] = np.array([[0, 0, 0, 1, 0, 0, 0], [0.4, 0, 0.9, 1, 0, 0, 0]], dtype=float)
    recorder.append(frame)
    recorder.close("complete")
    camera = Camera((0.0, 0.0, 1.0), 3.0, azimuth=-90.0, elevation=0.0, field=30.0)
    image = Painter(ss.load(tmp_path / "t.h5"), (200, 150), camera).image(0).astype(int)
    green = (image[:, :, 1] > image[:, :, 0] + 60) & (image[:, :, 1] > image[:, :, 2] + 60)
    assert green.any() == bool(opacity)
    if opacity:
        pixel = 2 * 3.0 * np.tan(np.radians(15.0)) / 150
        _, columns = np.nonzero(green)
        assert (columns.max() - columns.min()) * pixel == pytest.approx(0.8, abs=0.08)
        below = np.flatnonzero(green[:, 100])
        assert (below.mean() - 75) * pixel == pytest.approx(0.1, abs=0.03)


def test_forces_are_drawn_in_red_if_they_are_wanted(log):
    def red(image):
        r, g, b = (image[:, :, k].astype(int) for k in range(3))
        return np.count_nonzero((r > g + 40) & (r > b + 10))

    assert red(log.image(size=(320, 180))) > 10
    assert red(log.image(size=(320, 180), contacts=False)) == 0


def test_the_ball_casts_a_shadow():
    camera = Camera((0.0, 0.0, 0.1), 1.0, elevation=50.0)
    image = ball_log().image(size=(320, 180), camera=camera, contacts=False).astype(int)
    floor = image[(np.ptp(image, axis=2) < 14)].mean(axis=1)  # grey pixels
    assert np.count_nonzero(floor < 0.8 * np.median(floor)) > 200


def falling():
    """For half a second, 1.2 m."""
    scene = ss.Scene()
    scene.add_sphere(0.1, name="ball", pos=(0, 0, 1.0), mass=1.0)
    return ss.Simulation(scene, "coulomb", 0.01).run(0.5)


def test_the_camera_follows_a_link():
    log = falling()
    painter = Painter(log, size=(80, 80), follow="ball", contacts=False)
    first, last = painter.image(0), painter.image(-1)
    assert np.array_equal(first, last)  # there is nothing else in sight
    assert not np.array_equal(*(Painter(log, size=(80, 80)).image(k) for k in (0, -1)))


def test_a_diverged_body_is_left_out(log):
    model = ss.Scene.from_xml(log.scene_xml).compile()
    recorder = Recorder(None, model)
    pose = log.pose[0].copy()
    pose[1] = np.nan
    values = {field.name: log.dataset(field.name)[0] for field in FRAME}
    recorder.append({**values, "pose": pose})
    assert recorder.log().image(0, size=(64, 36)).shape == (36, 64, 3)


def test_what_cannot_be_drawn(log):
    with pytest.raises(ss.InputError, match="frame: expected a number from -6 to 5"):
        log.image(6)
    with pytest.raises(ss.InputError, match="width and height"):
        log.image(size=(960,))
    with pytest.raises(ss.InputError, match="distance"):
        Camera(distance=0.0)
    with pytest.raises(ss.InputError, match="target"):
        Camera((0.0, np.nan, 0.0))
    with pytest.raises(ss.InputError, match="field"):
        Camera(field=170.0)
    with pytest.raises(ss.InputError, match="with frames"):
        Recorder(None, made_up_model()).log().frames("nowhere")


def test_films_run_at_an_even_rate(log, tmp_path):
    assert frames_at(log, 100.0).tolist() == [0, 1, 2, 3, 4, 5]
    assert frames_at(log, 50.0).tolist() == [0, 2, 4]
    assert frames_at(log, 50.0, speed=0.5).tolist() == [0, 1, 2, 3, 4, 5]
    assert frames_at(log, 1.0).tolist() == [0]
    paths = log.frames(tmp_path / "film", fps=50.0, size=(32, 18))
    assert [path.name for path in paths] == ["frame-00000.png", "frame-00001.png", "frame-00002.png"]
    assert np.array_equal(np.asarray(Image.open(paths[1])), log.image(2, size=(32, 18)))
    with Image.open(falling().gif(tmp_path / "film.gif", fps=10.0, size=(32, 18))) as film:
        assert film.size == (32, 18)
        assert film.n_frames == 6
        assert film.info["duration"] == 100
        assert film.info["loop"] == 0


def test_a_film_is_mp4(tmp_path):
    if video.find_ffmpeg() is None:
        pytest.skip("FFmpeg is not installed")
    path = falling().video(tmp_path / "film.mp4", fps=20.0, size=(65, 37))  # players want even sizes
    assert path == tmp_path / "film.mp4"
    shown = subprocess.run([video.find_ffmpeg(), "-i", path, "-f", "null", "-"], capture_output=True, text=True).stderr
    assert "h264" in shown or "mpeg4" in shown
    assert "66x38" in shown
    assert "20 fps" in shown
    assert "frame=   11" in shown
    assert os.listdir(tmp_path) == ["film.mp4"]


def test_without_ffmpeg_a_film_is_a_gif_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(video, "find_ffmpeg", lambda: None)
    with pytest.warns(ss.StickslipWarning, match=r"FFmpeg was not found, so that the video is a GIF, .*film\.gif"):
        path = falling().video(tmp_path / "film.mp4", fps=10.0, size=(32, 18))
    assert path == tmp_path / "film.gif"
    with Image.open(path) as film:
        assert film.n_frames == 6


def test_meshes_are_as_they_look(tmp_path):
    """Rays meet the triangles of a ring where MuJoCo's do, and go through its hole; a file keeps them."""
    ring = trimesh.creation.torus(0.3, 0.1)
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_mesh(ring.vertices, faces=ring.faces, convex="hull", mass=1.0, name="ring", quat=(0.9, 0.3, 0.1, 0.2))
    sim = ss.Simulation(scene, "coulomb", 0.01)
    log = sim.run(0.0)
    log.save(tmp_path / "ring.h5")
    with ss.load(tmp_path / "ring.h5") as kept:
        assert np.array_equal(kept.header.surfaces[0].faces, log.header.surfaces[0].faces)
        assert np.array_equal(kept.image(0, size=(64, 36)), log.image(0, size=(64, 36)))
    mj, data = sim.model.mj, mujoco.MjData(sim.model.mj)
    mujoco.mj_forward(mj, data)
    (solid,) = solids_of(log.header)
    places, turns = link_frames(log.pose[0])
    pos, rot = (places[1] + turns[1] @ solid.pos)[None], (turns[1] @ solid.rot)[None]
    view = view_of(Camera(distance=1.5), 40, 30)
    rng, misses = np.random.default_rng(4), 0
    for rays in (Grid(view), Places(view, rng.uniform(0, 40, 900), rng.uniform(0, 30, 900))):
        seen = look(rays, [solid], pos, rot, [0], nothing(rays)).flat()
        _, x, y = rays.within((0, 30, 0, 40))
        (eye,), directions = view.rays(x, y)
        for depth, direction, normal in zip(seen.depth, directions, seen.normal, strict=True):
            long = float(np.linalg.norm(direction))
            found = mujoco.mj_ray(mj, data, eye.astype(float), direction / long, None, 1, -1, np.zeros(1, np.int32))
            if (found < 0) == np.isfinite(depth):
                misses += 1  # a ray that grazes the rim
            elif found >= 0:
                assert long * depth == pytest.approx(found, abs=1e-4)
                assert normal @ direction <= 0.05
        assert np.count_nonzero(np.isfinite(seen.depth)) > 100
    assert misses <= 4
    middle = Places(view, np.array([20.0]), np.array([15.0]))
    assert np.isinf(look(middle, [solid], pos, rot, [0], nothing(middle)).depth[0])  # the hole


def test_large_meshes_are_drawn_with_fewer_triangles():
    ball = trimesh.creation.icosphere(5)
    fewer = coarser(Surface(ball.vertices.astype(np.float32), ball.faces.astype(np.int32)), 2000)
    assert 200 < len(fewer.faces) <= 2000
    assert np.linalg.norm(fewer.vertices, axis=1) == pytest.approx(np.ones(len(fewer.vertices)), abs=1e-6)
