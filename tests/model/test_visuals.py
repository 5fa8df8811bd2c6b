"""``<visual>`` of URDF: drawn, and nothing else."""

import numpy as np
import pytest

import stickslip as ss
from stickslip.model.compile import rotation
from stickslip.model.doctor import examine

INERTIA = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
ROBOT = """<robot name="r"><material name="steel"><color rgba="0.1 0.2 0.3 1"/></material>
<link name="base">{inertia}{base}<collision><geometry><sphere radius="0.1"/></geometry></collision></link>
<link name="arm">{inertia}{arm}</link>
<joint name="j" type="revolute"><parent link="base"/><child link="arm"/><origin xyz="0.3 0 0"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
BOX = """<visual><origin xyz="0 0 0.2" rpy="{rpy}"/><geometry><box size="0.4 0.2 0.1"/></geometry>
<material name="steel"/></visual>"""
FACES = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))


@pytest.fixture
def robot(tmp_path):
    def make(base="", arm="", name="r.urdf"):
        path = tmp_path / name
        path.write_text(ROBOT.format(inertia=INERTIA, base=base, arm=arm))
        return path

    return make


def dropped(path) -> ss.Simulation:
    scene = ss.Scene()
    scene.add_plane(friction=0.5)
    scene.load(path, floating_base=True, pos=(0, 0, 0.15))
    return ss.Simulation(scene, "coulomb", dt=2e-3)


def test_they_change_no_motion(robot):
    bare = dropped(robot(name="bare.urdf"))
    seen = dropped(robot(BOX.format(rpy="0.1 0.2 0.3"), '<visual><geometry><sphere radius="9"/></geometry></visual>'))
    bare.step(200)
    seen.step(200)
    assert np.array_equal(bare.state.q, seen.state.q)
    assert len(seen.contacts) == len(bare.contacts) > 0
    assert len(seen.model.shapes) == len(bare.model.shapes) + 2
    assert seen.model.mj.body_mass.sum() == bare.model.mj.body_mass.sum()


def test_place_size_and_colour(robot):
    """Roll, pitch and yaw turn about fixed axes; a colour may stand beside the links."""
    roll, pitch, yaw = 0.3, -0.4, 1.2
    scene = ss.Scene.from_file(robot(BOX.format(rpy=f"{roll} {pitch} {yaw}")))
    mj = scene.compile().mj
    geom = mj.geom("base/visual0")
    (cr, cp, cy), (sr, sp, sy) = np.cos([roll, pitch, yaw]), np.sin([roll, pitch, yaw])
    x = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    y = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    z = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    got = rotation(geom.quat)
    np.testing.assert_allclose(got, z @ y @ x, atol=1e-12)
    np.testing.assert_allclose(geom.pos, [0, 0, 0.2])
    np.testing.assert_allclose(geom.size, [0.2, 0.1, 0.05])
    np.testing.assert_allclose(geom.rgba, [0.1, 0.2, 0.3, 1], rtol=1e-6)
    assert scene.ray((0.5, 0, 0.2), (-1, 0, 0)).shape == "base/visual0"  # rays meet what can be seen


@pytest.mark.parametrize("ending", ["stl", "obj"])
def test_meshes_with_a_scale(robot, tmp_path, ending):
    corners = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))
    if ending == "obj":
        lines = ["v {} {} {}".format(*corner) for corner in corners]
        lines += ["f {} {} {}".format(*(i + 1 for i in face)) for face in FACES]
    else:  # as text, which MuJoCo does not read
        lines = ["solid t"]
        for face in FACES:
            lines += ["facet normal 0 0 0", "outer loop", *("vertex {} {} {}".format(*corners[i]) for i in face)]
            lines += ["endloop", "endfacet"]
        lines += ["endsolid t"]
    (tmp_path / f"part.{ending}").write_text("\n".join(lines) + "\n")
    visual = f'<visual><geometry><mesh filename="part.{ending}" scale="0.1 0.1 0.2"/></geometry></visual>'
    sim = dropped(robot(visual, visual))
    assert sim.model.robots[0].notes == ()
    assert len(sim.model.mj.mesh_vertadr) == 1  # one mesh, drawn twice
    hit = ss.Scene.from_file(robot(visual)).ray((0.001, 0.001, 1), (0, 0, -1))
    assert hit.point[2] == pytest.approx(0.2 * 0.98, abs=1e-6)


@pytest.mark.parametrize(
    "visual",
    [
        '<visual><geometry><mesh filename="gone.stl"/></geometry></visual>',
        '<visual><geometry><mesh filename="package://nowhere/gone.dae"/></geometry></visual>',
        "<visual><geometry><mesh/></geometry></visual>",
        '<visual><geometry><box size="1 1"/></geometry></visual>',
        '<visual><geometry><sphere radius="-1"/></geometry></visual>',
        "<visual><geometry><torus/></geometry></visual>",
        "<visual><geometry/></visual>",
        "<visual/>",
    ],
)
def test_what_cannot_be_drawn_is_a_note(robot, visual):
    scene = ss.Scene.from_file(robot(visual))
    assert [note for note in scene.notes if note.startswith("not drawn") and "'base'" in note]
    assert scene.compile().nlink == ss.Scene.from_file(robot(name="bare.urdf")).compile().nlink


def test_a_mesh_that_does_not_compile_is_a_note(robot, tmp_path):
    (tmp_path / "flat.obj").write_text("v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n")
    path = robot('<visual><geometry><mesh filename="flat.obj"/></geometry></visual>')
    report = examine(path, floating_base=True)
    assert report.exit_code == 0
    for notes in (ss.Scene.from_file(path).notes, report.notes):
        assert any("MuJoCo cannot compile" in note for note in notes)


def test_pictures_show_visuals_in_the_place_of_collisions(robot):
    log = dropped(robot(BOX.format(rpy="0 0 0"))).run(0.01)
    picture = log.image(0, size=(64, 48), contacts=False).astype(int)
    steel = (picture[..., 2] > 1.5 * picture[..., 0]) & (picture.max(axis=-1) < 200)
    assert steel.sum() > 50
