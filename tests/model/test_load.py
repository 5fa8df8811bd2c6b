"""Reading MJCF and URDF: what survives, what is refused and how it is said."""

import os
import re
import struct

import mujoco
import numpy as np
import pytest

from stickslip.dynamics import Dynamics
from stickslip.errors import InputError, ModelError
from stickslip.model.importers.read import read_spec
from stickslip.model.model import compile_model

INERTIAL = """<inertial><mass value="{m}"/><origin xyz="0 0 -0.1"/>
  <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>"""
JOINT = '<joint name="{name}" type="{type}"><parent link="{parent}"/><child link="{child}"/>{more}</joint>'


def link(name, *, mass=1.0, more=""):
    return f'<link name="{name}">{INERTIAL.format(m=mass) if mass else ""}{more}</link>'


def joint(
    name,
    parent,
    child,
    kind="revolute",
    more='<axis xyz="0 1 0"/><limit lower="-1" upper="2" effort="5" velocity="9"/>',
):
    return JOINT.format(name=name, type=kind, parent=parent, child=child, more=more)


def leg(*more):
    """Base, thigh, and a massless foot frame fixed to the thigh."""
    fixed = '<origin xyz="0 0 -0.3"/>'
    parts = (link("base"), link("thigh"), link("foot", mass=0), joint("hip", "base", "thigh"))
    return "".join((*parts, joint("ankle", "thigh", "foot", "fixed", fixed), *more))


@pytest.fixture
def write(tmp_path):
    def write(text, name="robot.urdf"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return write


@pytest.fixture
def urdf(write):
    return lambda body, name="robot.urdf": write(f'<?xml version="1.0"?>\n<robot name="r">\n{body}\n</robot>', name)


def write_stl(path, size=1.0):
    """A binary STL tetrahedron."""
    path.parent.mkdir(parents=True, exist_ok=True)
    v = size * np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    data = b"\0" * 80 + struct.pack("<I", len(faces))
    for face in faces:
        data += struct.pack("<12fH", 0, 0, 0, *v[list(face)].ravel(), 0)
    path.write_bytes(data)


COLLADA = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
  <asset><created>2024-01-01T00:00:00</created><modified>2024-01-01T00:00:00</modified>
    <unit name="centimeter" meter="0.01"/><up_axis>Z_UP</up_axis></asset>
  <library_geometries><geometry id="g"><mesh>
    <source id="p"><float_array id="pa" count="24">
      -1 -1 -1 1 -1 -1 1 1 -1 -1 1 -1 -1 -1 1 1 -1 1 1 1 1 -1 1 1</float_array>
      <technique_common><accessor source="#pa" count="8" stride="3">
        <param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/>
      </accessor></technique_common></source>
    <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
    <triangles count="12"><input semantic="VERTEX" source="#v" offset="0"/>
      <p>0 2 1 0 3 2 4 5 6 4 6 7 0 1 5 0 5 4 1 2 6 1 6 5 2 3 7 2 7 6 3 0 4 3 4 7</p></triangles>
  </mesh></geometry></library_geometries>
  <library_visual_scenes><visual_scene id="s"><node id="n"><instance_geometry url="#g"/></node></visual_scene>
  </library_visual_scenes>
  <scene><instance_visual_scene url="#s"/></scene>
</COLLADA>"""


def collision(filename, scale=""):
    return f'<collision><geometry><mesh filename="{filename}"{scale}/></geometry></collision>'


def the_error(call, kind=ModelError):
    with pytest.raises(kind) as caught:
        call()
    assert "\n" not in str(caught.value)
    return str(caught.value)


# -- files that are no models ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "the file is empty"),
        ("  \n ", "the file is empty"),
        ("hello", "broken XML at line 1"),
        ("<mujoco>\n<worldbody>\n<body>\n</worldbody></mujoco>", "broken XML at line 4"),
        ('<robot name="r">\n<link name="a">\n</robot>', "broken XML at line 3"),
        ("<sdf/>", "root tag, got <sdf>"),
        ("<? ?>" * 24 + "!", "broken XML at line 1"),  # exponential in a regular expression
        ("<!--" * 8000, "broken XML at line 1"),
        ("<mujoco>" * 3000, "lies inside 490 other elements"),
        ('<!DOCTYPE a [<!ENTITY b "c">]><mujoco/>', "declares the entity 'b'"),
        ('<mujoco><default>\n<default class="%s%n"/></default></mujoco>', "<default> of '%s%n' (line 2)"),
        ('<mujoco><asset>\n<model name="other"/></asset></mujoco>', "expected a model with a file"),
        (
            '<mujoco><asset><hfield name="h" nrow="2" ncol="2" size="1 1e-300 1 1"/></asset>'
            '<worldbody><geom type="hfield" hfield="h"/></worldbody></mujoco>',
            "hfield 'h': expected sizes of at least 1e-09 m",
        ),
        ('<mujoco><worldbody><geom class="%n" size="1"/></worldbody></mujoco>', "a class without %"),
        ('<mujoco><worldbody><body name="b" pos="nan 0 0"/></worldbody></mujoco>', "<body> of 'b' (line 1)"),
        ('<mujoco><worldbody><body name="b"><geom mass="1e400"/></body></worldbody></mujoco>', "<geom> of 'b'"),
        ('<mujoco><option gravity="0 0 -inf"/></mujoco>', "expected finite numbers for gravity"),
        (
            '<mujoco><worldbody><replicate count="100"><replicate count="100"><geom size="1"/></replicate></replicate>'
            "</worldbody></mujoco>",
            "makes more than 6000 elements",
        ),
        (
            '<mujoco><worldbody><body name="b"><flexcomp name="f" count="100 100 100"/></body></worldbody></mujoco>',
            "expected at most 2000 points",
        ),
        ('<mujoco><asset><hfield name="h" nrow="100000" ncol="100000" size="1 1 1 1"/></asset></mujoco>', "heights"),
        ('<mujoco><asset><texture name="t" builtin="flat" width="99999" height="99999"/></asset></mujoco>', "pixels"),
        ('<mujoco><asset><mesh name="m" builtin="supertorus" params="1000 1 1 1"/></asset></mujoco>', "at most 300"),
        ('<mujoco><option iterations="2000000000"/></mujoco>', "expected iterations ≤ 100000"),
        ('<mujoco><option timestep="1_0"/></mujoco>', "expected finite numbers for timestep, got '1_0'"),
        (f'<mujoco><asset><mesh name="m" file="{"x" * 300}.stl"/></asset></mujoco>', "at most 250 bytes"),
        (
            '<mujoco><worldbody><body pos="1e9 0 0"><freejoint/><geom size="1"/></body></worldbody></mujoco>',
            "expected at most 1e+06 m for body_pos",
        ),
        (
            '<mujoco><worldbody><body name="b"><freejoint/><geom size="1" mass="1e30"/></body></worldbody></mujoco>',
            "body 'b': expected at most",
        ),
        (f'<mujoco><worldbody><body name="{"n" * 3000}"><joint/></body></worldbody></mujoco>', "moving bodies"),
        ('<mujoco><worldbody><body nam="x"/></worldbody></mujoco>', "unrecognized attribute: 'nam'"),
        ('<mujoco><include file="gone.xml"/></mujoco>', "gone.xml"),
        ('<mujoco><asset><mesh file="gone.stl"/></asset></mujoco>', "gone.stl"),
        ('<mujoco><worldbody><body name="b"><joint/></body></worldbody></mujoco>', "element 'b'"),
        (
            '<mujoco><worldbody><body><joint name="j" range="1 -1"/><geom size="1"/></body></worldbody></mujoco>',
            "joint 'j': expected a range with lower < upper",
        ),
        (
            '<mujoco><worldbody><body name="b"><inertial mass="1" pos="0 0 0" diaginertia="1 1 5"/><joint/></body>'
            "</worldbody></mujoco>",
            "element 'b'",
        ),
    ],
)
def test_a_broken_file_is_refused_in_one_line_that_names_it(write, text, says):
    path = write(text, "broken.xml")
    message = the_error(lambda: read_spec(path))
    assert says in message
    assert message.startswith(str(path))
    assert len(message) < 300
    assert re.search(r"[;(] ?.+", message)  # a remedy follows


JOINED = (
    '<mujoco><worldbody><body name="a"><joint name="j"{}/><geom name="g" size="1"{}/></body></worldbody>'
    '<tendon><fixed name="t"{}><joint joint="j" coef="1"/></fixed></tendon></mujoco>'
)


@pytest.mark.parametrize(
    ("place", "attribute"),
    [(0, name) for name in ("armature", "damping", "frictionloss", "stiffness")]
    + [(1, "friction")]
    + [(2, name) for name in ("damping", "frictionloss", "stiffness")],
)
def test_what_cannot_be_negative_is_refused(write, place, attribute):
    """MuJoCo takes these for what they are, and the motion gains energy, or masses are negative."""
    given = [f' {attribute}="-0.1"' if k == place else "" for k in range(3)]
    path = write(JOINED.format(*given), "negative.xml")
    message = the_error(lambda: read_spec(path))
    assert message.startswith(str(path))
    assert re.search(rf"'[jgt]': expected a number ≥ 0 for \w+_{attribute}, got -0.1; correct it$", message)


def test_files_that_a_model_needs_are_checked_as_the_model_is(write):
    bad = write('<mujoco><worldbody><geom class="%n" size="1"/></worldbody></mujoco>', "bad.xml")
    main = write('<mujoco><include file="bad.xml"/></mujoco>', "main.xml")
    assert the_error(lambda: read_spec(main)).startswith(f"{bad}: <geom> of '%n' (line 1): expected a class without %")
    attach = '<mujoco><asset><model name="m" file="{}"/></asset><worldbody>{}</worldbody></mujoco>'
    main = write(attach.format("bad.xml", '<attach model="m" prefix="a"/>'), "main.xml")
    assert "without %" in the_error(lambda: read_spec(main))
    main = write(attach.format("main.xml", '<attach model="m" prefix="a"/>'), "main.xml")
    assert "'main.xml' includes itself" in the_error(lambda: read_spec(main))
    write("<mujoco><worldbody>" + "<body/>" * 400 + "</worldbody></mujoco>", "level0.xml")
    for level in range(1, 12):
        twice = '<attach model="m" prefix="a"/><attach model="m" prefix="b"/>'
        main = write(attach.format(f"level{level - 1}.xml", twice), f"level{level}.xml")
    assert "attached so often" in the_error(lambda: read_spec(main))


def test_pipes_and_pictures_that_unfold_are_refused_before_they_are_opened(tmp_path, write):
    """MuJoCo would wait for the pipe, and fill the memory with the picture."""
    (tmp_path / "below").mkdir()
    os.mkfifo(tmp_path / "below" / "pipe.stl")
    head = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 30000, 30000)
    (tmp_path / "wide.png").write_bytes(head)
    (tmp_path / "wide.bin").write_bytes(struct.pack("<2i", 30000, 30000))
    field = '<hfield name="h" size="1 1 1 1" file="{}"/>'
    for assets, says in (
        ('<mesh name="m" file="below/pipe.stl"/>', "pipe.stl' is a device or a pipe"),
        ('<texture name="t" type="cube" fileup="pipe.stl"/>', "pipe.stl' is a device or a pipe"),
        ('<texture name="t" type="2d" file="wide.png"/>', "30000000 pixels, got 900000000 in 'wide.png'"),
        (field.format("wide.png"), "10000000 heights, got 900000000 in 'wide.png'"),
        (field.format("wide.bin"), "10000000 heights, got 900000000 in 'wide.bin'"),
    ):
        write(f'<mujocoinclude><compiler texturedir="below"/><asset>{assets}</asset></mujocoinclude>', "part.xml")
        main = write('<mujoco><include file="part.xml"/></mujoco>', "main.xml")
        message = the_error(lambda main=main: read_spec(main))
        assert says in message
        assert message.startswith(f"{tmp_path / 'part.xml'}: <")


def test_bytes_that_are_not_utf8_are_refused_but_in_comments(tmp_path):
    path = tmp_path / "latin.xml"
    path.write_bytes(b'<mujoco>\n<worldbody><body name="\xe9"/></worldbody></mujoco>')
    assert "line 2 is not UTF-8" in the_error(lambda: read_spec(path))
    path.write_bytes(b"<mujoco>\n<!-- caf\xe9 -- and more --><worldbody/></mujoco>")
    read_spec(path)
    read_spec(xml=path.read_bytes().decode("utf-8", "surrogateescape"))


def test_long_chains_of_links_load():
    """Functions that call themselves for each child ended here."""
    n = 700
    links = "".join(f'<link name="l{i}"/>' for i in range(n))
    joint = '<joint name="j{1}" type="fixed"><parent link="l{0}"/><child link="l{1}"/></joint>'
    joints = "".join(joint.format(i, i + 1) for i in range(n - 1))
    assert len(read_spec(xml=f'<robot name="r">{links}{joints}</robot>').spec.bodies) == n + 1


def test_a_missing_file_and_a_directory_are_named(tmp_path, write):
    assert "no such file" in the_error(lambda: read_spec(tmp_path / "gone.urdf"))
    write("<mujoco/>", "here.xml")
    message = the_error(lambda: read_spec(tmp_path))
    assert "is a directory" in message
    assert "here.xml" in message


def test_wrong_options_are_refused(write):
    path = write("<mujoco/>", "a.xml")
    assert "unreadable_meshes" in the_error(lambda: read_spec(path, unreadable_meshes="skip"), InputError)
    assert "tendon" in the_error(lambda: read_spec(path, ignore=("tendons",)), InputError)
    the_error(lambda: read_spec(), InputError)
    assert "decode bytes" in the_error(lambda: read_spec(xml=b"<mujoco/>"), InputError)
    assert "got ''" in the_error(lambda: read_spec(""), InputError)


# -- MJCF ---------------------------------------------------------------------------------------------------------

ARM = """<mujoco><!-- comments with -- in them are common -->
  <compiler angle="radian"/>
  <option gravity="0 0 -1.62"/>
  {custom}
  <worldbody>
    <body name="base" pos="0 0 1" euler="0 0 1.5707963267948966"><freejoint/><geom size="0.1" user="5 6 0.5 0"/>
      <body name="arm">
        <joint name="elbow" axis="0 1 0"/><geom size="0.1" pos="0 0 0.3"/><site name="tip" user="1"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="elbow"/></actuator>
  <keyframe><key name="up" qpos="0 0 3 1 0 0 0 0.1"/><key name="home" qpos="0 0 2 1 0 0 0 0.5"/></keyframe>
</mujoco>"""


def test_the_root_tag_decides_and_not_the_ending(write):
    assert read_spec(write(ARM.format(custom=""), "arm.urdf")).spec.compile().nv == 7
    assert read_spec(xml=ARM.format(custom="")).spec.compile().nv == 7


def test_keyframes_are_given_by_joint_and_unnamed_joints_get_names(write):
    loaded = read_spec(write(ARM.format(custom=""), "arm.xml"))
    assert set(loaded.keyframes) == {"up", "home"}
    np.testing.assert_allclose(loaded.home.joints["elbow"], [0.5])
    np.testing.assert_allclose(loaded.home.joints["base_joint"], [0, 0, 2, 1, 0, 0, 0])
    np.testing.assert_allclose(loaded.gravity, [0, 0, -1.62])
    assert loaded.spec.compile().nkey == 0
    assert compile_model(loaded.spec.compile()).actuator_names == ("elbow",)


def test_the_base_pose_is_a_quaternion_whatever_the_file_used(write):
    base = read_spec(write(ARM.format(custom=""), "arm.xml")).spec.body("base")
    np.testing.assert_allclose(base.quat, [np.sqrt(0.5), 0, 0, np.sqrt(0.5)], atol=1e-12)


def test_gravity_switched_off_is_zero_gravity(write):
    loaded = read_spec(write('<mujoco><option><flag gravity="disable"/></option></mujoco>', "a.xml"))
    assert not loaded.gravity.any()


def test_user_data_is_read_only_where_the_file_is_marked_as_ours(write):
    marker = '<custom><text name="stickslip" data="1"/></custom>'
    ours = read_spec(write(ARM.format(custom=marker), "ours.xml")).spec
    theirs = read_spec(write(ARM.format(custom=""), "theirs.xml")).spec
    assert not list(ours.texts)
    shapes = compile_model(ours.compile()).shapes
    assert shapes[0].material.stiffness == 5.0
    assert [s.name for s in shapes if s.kind == "point"] == ["tip"]
    shapes = compile_model(theirs.compile()).shapes
    assert all(shape.material.stiffness is None and shape.kind != "point" for shape in shapes)


def test_included_files_and_meshes_are_found_from_any_folder(tmp_path, write, monkeypatch):
    write('<mujoco><worldbody><body name="extra"><geom size="1"/></body></worldbody></mujoco>', "robot/part.xml")
    path = write(
        '<mujoco><compiler meshdir="shapes"/><asset><mesh file="t.stl"/></asset><include file="part.xml"/>'
        '<worldbody><geom type="mesh" mesh="t"/></worldbody></mujoco>',
        "robot/main.xml",
    )
    write_stl(tmp_path / "robot/shapes/t.stl")
    monkeypatch.chdir(path.parent)
    loaded = read_spec("main.xml")
    monkeypatch.chdir(tmp_path)
    parent = mujoco.MjSpec()
    parent.attach(loaded.spec, prefix="a/", frame=parent.worldbody.add_frame())
    mj = parent.compile()
    assert mj.nmesh == 1
    assert mj.body("a/extra").id == 1


def test_a_floating_base_can_be_asked_of_mjcf(write):
    fixed = '<mujoco><worldbody><body name="b" pos="0 0 1">{}<geom size="1"/></body></worldbody>{}</mujoco>'
    key = '<keyframe><key name="home" qpos="0.5"/></keyframe>'
    child = '<body name="c"><joint name="j"/><geom size="1"/></body>'
    loaded = read_spec(write(fixed.format(child, key), "a.xml"), floating_base=True)
    np.testing.assert_allclose(loaded.home.joints["root"], [0, 0, 1, 1, 0, 0, 0])
    np.testing.assert_allclose(loaded.home.joints["j"], [0.5])
    hinged = write(fixed.format("<joint/>", ""), "b.xml")
    assert "floating_base" in the_error(lambda: read_spec(hinged, floating_base=True))


# -- URDF ---------------------------------------------------------------------------------------------------------


def test_fixed_links_survive_as_frames(urdf):
    model = compile_model(read_spec(urdf(leg())).spec.compile())
    assert {"base", "thigh", "foot"} <= set(model.frame_index)
    foot = model.frame("foot")
    assert model.frames.link[foot] == model.link("thigh")
    np.testing.assert_allclose(model.frames.pos[foot], [0, 0, -0.3])
    assert model.link("base") == 0


def test_a_floating_base_is_a_free_joint_named_root(urdf):
    model = compile_model(read_spec(urdf(leg()), floating_base=True).spec.compile())
    assert model.joint_names == ("root", "hip")
    assert model.nv == 7


def test_mass_comes_from_inertial_only(urdf):
    box = '<collision><geometry><box size="1 1 1"/></geometry></collision>'
    body = link("base", mass=0, more=box) + link("arm", mass=2, more=box) + joint("j", "base", "arm")
    mj = read_spec(urdf(body)).spec.compile()
    assert mj.body_mass[1] == 0.0
    assert mj.body_mass[2] == 2.0


def test_effort_limits_become_motors(urdf):
    free = '<axis xyz="1 0 0"/>'
    damped = '<axis xyz="1 0 0"/><limit lower="0" upper="1" effort="0" velocity="1"/><dynamics damping="0.3"/>'
    body = leg(link("wheel"), joint("spin", "thigh", "wheel", "continuous", free), link("rod"))
    loaded = read_spec(urdf(body + joint("slider", "wheel", "rod", "prismatic", damped)))
    model = compile_model(loaded.spec.compile())
    assert model.actuator_names == ("hip", "spin", "slider")
    np.testing.assert_array_equal(model.actuators.force_range, [[-5, 5], [-np.inf, np.inf], [-np.inf, np.inf]])
    np.testing.assert_allclose(model.joint_forces.damping, [0, 0, 0.3])
    np.testing.assert_array_equal(model.joint_forces.limited, [1, 0, 1])
    np.testing.assert_allclose(model.joint_forces.range[0], [-1, 2])


def test_harmless_elements_and_missing_visuals_are_passed_over(urdf):
    visual = '<visual><geometry><mesh filename="package://nowhere/gone.dae"/></geometry></visual>'
    extras = '<transmission name="t"/><gazebo reference="base"/><material name="grey"/>'
    safety = (
        '<axis xyz="0 1 0"/><limit lower="0" upper="1" effort="1" velocity="1"/><safety_controller k_velocity="1"/>'
    )
    body = link("base", more=visual) + link("arm") + joint("j", "base", "arm", more=safety) + extras
    assert read_spec(urdf(body)).notes == ["not drawn: visuals that cannot be read: gone.dae of link 'base'"]


def test_a_missing_range_is_noted(urdf):
    body = link("base") + link("arm") + joint("j", "base", "arm", more='<limit effort="1" velocity="1"/>')
    loaded = read_spec(urdf(body))
    assert loaded.notes == ["joint 'j' has no range in the URDF: it moves without limits"]
    assert not loaded.spec.compile().jnt_limited.any()


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("", "no <link>"),
        (link("a") + link("b"), "expected one root link, got 'a', 'b'"),
        (link("a") + link("a"), "two links are named 'a'"),
        (link("a") + joint("j", "a", "b"), "joint 'j': its child 'b' is not a link"),
        (link("a") + link("b") + joint("j", "a", "b", "screw"), "joint 'j': expected a type of"),
        (
            link("a") + link("b") + link("c") + joint("j", "a", "c") + joint("k", "b", "c"),
            "'c' is the child of two joints",
        ),
        (link("a") + link("b") + joint("j", "a", "b") + joint("k", "b", "a"), "loop"),
        (link("a") + link("b") + link("c") + joint("j", "b", "c") + joint("k", "c", "b"), "link 'b' hangs in a loop"),
        (link("a") + link("b", mass=-1) + joint("j", "a", "b"), "link 'b': expected a mass ≥ 0"),
        (
            link("a") + link("b") + joint("j", "a", "b", more='<limit lower="1" upper="-1" effort="1"/>'),
            "lower < upper",
        ),
        (
            link("a") + link("b") + joint("j", "a", "b", more='<limit lower="x" upper="1"/>'),
            "a number for lower in <limit>",
        ),
        (link("a", more=collision("gone.stl")), "link 'a': mesh file"),
        (link("a", more=collision("package://lost/gone.stl")), "package 'lost'"),
        (link("a", more="<collision><geometry><mesh/></geometry></collision>"), "link 'a': a <mesh> has no filename"),
        (link("${name}"), "xacro"),
        (
            link("a")
            + link("b")
            + link("c")
            + joint("k", "a", "c")
            + joint("j", "a", "b", more='<mimic joint="k" offset="x"/>'),
            "a number for offset in <mimic>",
        ),
        (
            link("a")
            + link("b")
            + link("c")
            + joint("k", "a", "c")
            + joint("j", "a", "b", more='<mimic joint="k"/><mimic joint="k"/>'),
            "at most one <mimic>, got 2",
        ),
        (link("a") + link("b") + joint("j", "a", "b", "planar", '<axis xyz="0 0 0"/>'), "3 numbers for xyz in <axis>"),
    ],
)
def test_a_faulty_urdf_is_refused_in_one_line_that_names_the_culprit(urdf, body, says):
    path = urdf(body)
    message = the_error(lambda: read_spec(path))
    assert says in message
    assert message.startswith(str(path))
    assert ";" in message


def test_an_impossible_inertia_is_replaced_by_the_nearest_possible_one(urdf):
    bad = '<inertial><mass value="1"/><inertia ixx="1" iyy="2" izz="5" ixy="0" ixz="0" iyz="0"/></inertial>'
    loaded = read_spec(urdf(link("a") + link("b", mass=0, more=bad) + joint("j", "a", "b")))
    assert any(note.startswith("repaired: inertias") and "'b' (1, 2, 5) → (2, 3, 5)" in note for note in loaded.notes)
    np.testing.assert_allclose(compile_model(loaded.spec.compile()).inertia.inertia[1, :3], (2, 3, 5), rtol=1e-5)


@pytest.mark.parametrize(
    ("links", "says", "moving"),
    [
        (link("b", mass=0), "fixed: joints that move no mass: 'j'", 0),
        (link("b", mass=0) + link("c") + joint("k", "b", "c", "prismatic"), "merged: virtual links without mass", 2),
        (
            link("b", mass=0) + link("c") + link("d") + joint("k", "b", "c") + joint("l", "b", "d"),
            "mass: links that move without mass have a millionth of what they carry: 'b'",
            3,
        ),
        (
            link("b", mass=0, more='<inertial><mass value="1"/><inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" '
                 'iyz="0"/></inertial>'),
            "repaired: links without inertia have that of a ball or rod of 0.1 mm: 'b'",
            1,
        ),
        (link("b", more=INERTIAL.format(m=7)), "dropped: a further <inertial> of link 'b'", 1),
    ],
)  # fmt: skip
def test_links_without_mass_are_read(urdf, links, says, moving):
    loaded = read_spec(urdf(link("a") + links + joint("j", "a", "b")))
    assert any(note.startswith(says) for note in loaded.notes)
    mj = loaded.spec.compile()
    assert mj.nv == moving == mj.nu


def test_virtual_links_move_as_in_pinocchio(urdf):
    pin = pytest.importorskip("pinocchio")
    turned = '<origin xyz="{} 0.2 -0.1" rpy="0.4 {} 0.3"/><axis xyz="{} 0.6 0.8"/>'
    turned += '<limit lower="-2" upper="2" effort="1" velocity="1"/>'
    places = [joint(f"j{k}", f"l{k}", f"l{k + 1}", more=turned.format(0.1 * k, 0.2 * k, 0)) for k in range(4)]
    body = "".join(link(f"l{k}", mass=(1, 0, 0, 1, 1)[k]) for k in range(5)) + "".join(places)
    path = urdf(body)
    reference = pin.buildModelFromUrdf(str(path))
    q = np.array([0.3, -0.5, 0.7, 1.1])
    M = pin.crba(reference, reference.createData(), q)
    mj = read_spec(path).spec.compile()
    data, ours = mujoco.MjData(mj), np.zeros((4, 4))
    data.qpos[:] = q
    mujoco.mj_forward(mj, data)
    mujoco.mj_fullM(mj, data, ours)
    np.testing.assert_allclose(ours, np.triu(M) + np.triu(M, 1).T, atol=1e-12)


def test_an_impossible_inertia_on_a_fixed_link_is_merged_without_changing_the_motion(urdf):
    camera = (
        '<link name="camera"><inertial><mass value="0.1"/><origin xyz="0.1 0 0"/>'
        '<inertia ixx="1e-5" iyy="1e-5" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )
    mount = joint("mount", "thigh", "camera", "fixed", '<origin xyz="0 0.2 0" rpy="0.3 0 0"/>')
    loaded = read_spec(urdf(leg(camera, mount)), floating_base=True)
    assert any(note.startswith("merged: impossible inertia of 'camera'") for note in loaded.notes)
    inertia = compile_model(loaded.spec.compile()).inertia
    # By hand: the thigh's own about the common centre of mass, plus the camera's, turned by 0.3 about x.
    c, s = np.cos(0.3), np.sin(0.3)
    R = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    masses, points = (1.0, 0.1), (np.array([0, 0, -0.1]), np.array([0, 0.2, 0]) + R @ [0.1, 0, 0])
    com = (masses[0] * points[0] + masses[1] * points[1]) / 1.1
    total = 0.01 * np.eye(3) + R @ np.diag([1e-5, 1e-5, 1e-4]) @ R.T
    for m, p in zip(masses, points - com, strict=True):
        total += m * (p @ p * np.eye(3) - np.outer(p, p))
    np.testing.assert_allclose(inertia.mass[2], 1.1)
    np.testing.assert_allclose(inertia.com[2], com, atol=1e-14)
    xx, yy, zz, xy, xz, yz = inertia.inertia[2]
    np.testing.assert_allclose([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], total, atol=1e-14)


def test_point_masses_may_be_fixed_to_links(urdf):
    point = '<inertial><mass value="0.5"/><inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial>'
    body = leg(link("load", mass=0, more=point), joint("grip", "thigh", "load", "fixed", ""))
    assert compile_model(read_spec(urdf(body)).spec.compile()).inertia.mass[1] == 1.5


def test_a_planar_joint_is_two_slides_and_a_hinge(urdf):
    """Axes of the plane are x and y for the normal z; the link turns about its own origin, wherever it has slid to."""
    more = '<origin xyz="1 2 3" rpy="0 0 0.5"/><axis xyz="0 0 2"/><limit lower="-1" upper="1" effort="5" velocity="9"/>'
    loaded = read_spec(urdf(link("a") + link("b") + joint("k", "a", "b", "planar", more)))
    mj = loaded.spec.compile()
    assert [mj.joint(j).name for j in range(3)] == ["k_x", "k_y", "k_yaw"]
    assert (mj.nu, mj.jnt_limited.any()) == (0, False)
    assert sum("'k'" in note for note in loaded.notes) == 2  # that it is made of three, and has no limits
    np.testing.assert_allclose(mj.jnt_axis, np.eye(3), atol=1e-15)
    dynamics, q = Dynamics(compile_model(mj)), np.array([0.3, -0.2, 0.7])
    c, s = np.cos(0.5), np.sin(0.5)
    pose = dynamics.poses(q)[1]
    np.testing.assert_allclose(pose[:3], [1 + 0.3 * c + 0.2 * s, 2 + 0.3 * s - 0.2 * c, 3], atol=1e-12)
    np.testing.assert_allclose(pose[3:], [np.cos(0.6), 0, 0, np.sin(0.6)], atol=1e-12)
    sideways = urdf(link("a") + link("b") + joint("k", "a", "b", "planar", '<axis xyz="1 2 -1"/>'))
    axes = read_spec(sideways).spec.compile().jnt_axis
    np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-12)
    for size in ("1e-200", "1e200"):
        long = urdf(link("a") + link("b") + joint("k", "a", "b", "planar", f'<axis xyz="{size} {size} 0"/>'))
        normal = read_spec(long).spec.compile().jnt_axis[2]
        np.testing.assert_allclose(normal, [0.5**0.5, 0.5**0.5, 0], atol=1e-12)
    np.testing.assert_allclose(np.cross(axes[0], axes[1]), np.array([1, 2, -1]) / np.sqrt(6), atol=1e-12)


def test_a_mimic_joint_is_coupled_and_has_no_motor(urdf):
    more = '<mimic joint="k" multiplier="-2" offset="0.5"/>'
    body = link("a") + link("b") + link("c") + joint("j", "a", "b", more=more) + joint("k", "a", "c")
    loaded = read_spec(urdf(body))
    model = compile_model(loaded.spec.compile())
    (coupling,) = model.couplings
    assert model.actuator_names == ("k",)
    assert [model.joint_names[j] for j in (*coupling.joints1, *coupling.joints2)] == ["j", "k"]
    assert list(coupling.polynomial) == [0.5, -2.0, 0.0, 0.0, 0.0]
    assert any("coupled: joints that mimic" in note for note in loaded.notes)
    lost = read_spec(urdf(link("a") + link("b") + joint("j", "a", "b", more='<mimic joint="k"/>')))
    assert any("dropped: joint 'j' mimics 'k'" in note for note in lost.notes)


def test_a_robot_fixed_to_a_link_named_world_cannot_float(urdf):
    path = urdf(link("world", mass=0) + link("base") + joint("mount", "world", "base", "fixed", ""))
    assert compile_model(read_spec(path).spec.compile()).nv == 0
    assert "floating_base=False" in the_error(lambda: read_spec(path, floating_base=True))


def test_a_fixed_base_does_not_touch_the_links_on_it(urdf):
    ball = '<collision><geometry><sphere radius="0.2"/></geometry></collision>'
    path = urdf(link("base", more=ball) + link("arm", more=ball) + joint("j", "base", "arm"))
    for floating in (True, False):
        mj = read_spec(path, floating_base=floating).spec.compile()
        data = mujoco.MjData(mj)
        mujoco.mj_forward(mj, data)
        assert data.ncon == 0


# -- meshes of URDFs ----------------------------------------------------------------------------------------------


def test_meshes_of_the_same_name_in_two_folders_stay_apart(tmp_path, urdf):
    write_stl(tmp_path / "left/part.stl", 1.0)
    write_stl(tmp_path / "right/part.stl", 3.0)
    body = link("a", more=collision("left/part.stl") + collision("right/part.stl"))
    body += link("b", more=collision("left/part.stl", ' scale="2 2 2"')) + joint("j", "a", "b")
    model = compile_model(read_spec(urdf(body)).spec.compile())
    edges = [max(np.linalg.norm(a - b) for a in s.vertices for b in s.vertices) for s in model.shapes]
    np.testing.assert_allclose(edges, np.sqrt(2) * np.array([1, 3, 2]), rtol=1e-5)
    assert len({shape.name for shape in model.shapes}) == 3


def test_relative_and_file_paths_are_relative_to_the_urdf(tmp_path, urdf):
    write_stl(tmp_path / "meshes/part.stl")
    body = link("a", more=collision("../meshes/part.stl") + collision(f"file://{tmp_path}/meshes/part.stl"))
    body += link("b", more=collision(f"file://localhost{tmp_path}/meshes/part.stl")) + joint("j", "a", "b")
    assert read_spec(urdf(body, "urdf/robot.urdf")).spec.compile().ngeom == 3
    beside = link("a", more=collision("file://meshes/part.stl"))
    assert read_spec(urdf(beside, "robot.urdf")).spec.compile().ngeom == 1


@pytest.mark.parametrize("how", ["package_dirs", "package itself", "ROS_PACKAGE_PATH", "ancestor", "manifest", "ament"])
def test_packages_are_found(tmp_path, urdf, monkeypatch, how):
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    options, where, folder = {}, "elsewhere/robot.urdf", tmp_path / "ws/my_robot"
    if how == "package_dirs":
        options = {"package_dirs": [tmp_path / "ws"]}
    elif how == "package itself":
        options = {"package_dirs": str(tmp_path / "ws/my_robot")}
    elif how == "ROS_PACKAGE_PATH":
        monkeypatch.setenv("ROS_PACKAGE_PATH", f"/nowhere:{tmp_path / 'ws'}")
    elif how == "ament":
        monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "install"))
        folder = tmp_path / "install/share/my_robot"
    elif how == "ancestor":
        where = "ws/my_robot/urdf/robot.urdf"
    else:
        folder = tmp_path / "ws/some-checkout"
        where = "ws/some-checkout/urdf/robot.urdf"
    write_stl(folder / "meshes/part.stl")
    if how == "manifest":
        (folder / "package.xml").write_text("<package><name>my_robot</name></package>")
    path = urdf(link("a", more=collision("package://my_robot/meshes/part.stl")), where)
    assert read_spec(path, **options).spec.compile().nmesh == 1


def test_a_mesh_missing_from_its_package_is_named(tmp_path, urdf):
    (tmp_path / "my_robot").mkdir()
    path = urdf(link("a", more=collision("package://my_robot/gone.stl")))
    message = the_error(lambda: read_spec(path, package_dirs=[tmp_path]))
    assert "link 'a'" in message
    assert str(tmp_path / "my_robot/gone.stl") in message


@pytest.fixture
def with_dae(tmp_path, urdf):
    (tmp_path / "cube.dae").write_text(COLLADA)
    return urdf(link("a", more=collision("cube.dae", ' scale="1 2 3"')))


def test_a_mesh_that_mujoco_cannot_read_is_refused_with_the_ways_out(with_dae):
    message = the_error(lambda: read_spec(with_dae, unreadable_meshes="error"))
    for part in ("link 'a'", "cube.dae", "leave unreadable_meshes out", '"drop"'):
        assert part in message


def test_a_collada_mesh_is_converted_in_its_own_unit(with_dae):
    loaded = read_spec(with_dae)
    assert len(loaded.notes) == 1
    assert "cube.dae" in loaded.notes[0]
    parent = mujoco.MjSpec()
    parent.attach(loaded.spec, prefix="a/", frame=parent.worldbody.add_frame())
    size = np.sort(np.ptp(parent.compile().mesh_vert, axis=0))
    np.testing.assert_allclose(size, [0.02, 0.04, 0.06], rtol=1e-5)


def test_an_unreadable_mesh_can_be_dropped(with_dae):
    loaded = read_spec(with_dae, unreadable_meshes="drop")
    assert loaded.spec.compile().ngeom == 0
    assert "dropped" in loaded.notes[0]


def test_what_trimesh_cannot_read_either_names_what_is_missing(tmp_path, with_dae):
    (tmp_path / "cube.dae").write_text("no collada")
    message = the_error(lambda: read_spec(with_dae))
    for part in ("link 'a'", "cube.dae", "pip install pycollada", '"drop"'):
        assert part in message


def test_a_text_stl_is_unreadable_for_mujoco_and_converted(tmp_path, urdf):
    triangles = ("0 0 0 0 1 0 1 0 0", "0 0 0 1 0 0 0 0 1", "0 0 0 0 0 1 0 1 0", "1 0 0 0 1 0 0 0 1")
    facets = ""
    for triangle in triangles:
        v = triangle.split()
        corners = "".join(f"vertex {' '.join(v[i : i + 3])}\n" for i in (0, 3, 6))
        facets += f"facet normal 0 0 1\nouter loop\n{corners}endloop\nendfacet\n"
    (tmp_path / "text.stl").write_text(f"solid t\n{facets}endsolid t\n")
    path = urdf(link("a", more=collision("text.stl")))
    assert "text STL" in the_error(lambda: read_spec(path, unreadable_meshes="error"))
    assert read_spec(path).spec.compile().nmeshvert == 4
