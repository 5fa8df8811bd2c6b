"""The model doctor: each fault is found, named, and comes with a remedy; healthy models give no errors."""

import io
import json

import mujoco
import numpy as np
import pytest
from rich.console import Console

from stickslip.errors import InputError, ModelError
from stickslip.model.doctor import Report, examine
from stickslip.model.mjspec import collected_warnings
from stickslip.model.model import compile_model
from stickslip.model.scene import BUNDLED
from stickslip.model.shape import COMBINATION_RULE

FLOOR = '<geom name="floor" type="plane" size="1 1 1"/>'
BALL = '<body name="ball" pos="0 0 1"><freejoint name="root"/><geom name="skin" size="0.1" {}/></body>'


def mjcf(world, *more):
    return f"<mujoco><compiler angle='radian'/><worldbody>{world}</worldbody>{''.join(more)}</mujoco>"


HINGE = '<joint name="j" axis="0 1 0"/>'


def body(name="b", *, mass=1.0, inertia="1 1 1", joint=HINGE, more='<geom size="1"/>', pos="0 0 0"):
    inertial = f'<inertial pos="0 0 0" mass="{mass}" diaginertia="{inertia}"/>'
    return f'<body name="{name}" pos="{pos}">{inertial}{joint}{more}</body>'


@pytest.fixture
def look(tmp_path):
    """Write the text to a file and examine it."""

    def look(text, name="model.xml", **options) -> Report:
        path = tmp_path / name
        path.write_text(text)
        return examine(path, **options)

    return look


def only(report, code):
    found = [finding for finding in report.findings if finding.code == code]
    assert len(found) == 1, report.findings
    assert found[0].remedy
    return found[0]


@pytest.mark.parametrize("name", sorted(BUNDLED))
def test_bundled_robots_are_healthy(name):
    report = examine(BUNDLED[name])
    assert report.of("error") == []
    assert report.of("warning") == []
    assert report.exit_code == 0
    assert report.summary["nv"] in (18, 37)


@pytest.mark.parametrize(
    ("inertia", "says"),
    [("1 1 5", "triangle inequality"), ("-1 1 1", "not positive"), ("0 0 0", "not positive")],
)
def test_an_impossible_inertia_is_an_error_with_the_numbers(look, inertia, says):
    report = look(mjcf(body(inertia=inertia) + body("c", pos="5 0 0", joint='<joint name="k" range="1 -1"/>')))
    finding = only(report, "inertia")
    assert finding.severity == "error"
    assert finding.where == "body 'b'"
    assert says in finding.message
    assert all(f"{float(x):.4g}" in finding.message for x in inertia.split())
    assert only(report, "limits").where == "joint 'k'"  # one fault does not hide the next
    assert report.summary["bodies"] == 2
    assert report.exit_code == 1


def test_a_full_inertia_is_judged_by_its_principal_moments(look):
    report = look(mjcf(body()).replace('diaginertia="1 1 1"', 'fullinertia="1 1 1 3 0 0"'))
    assert "principal moments -2, 1, 4" in only(report, "inertia").message


@pytest.mark.parametrize(("mass", "says"), [(-2.0, "negative mass, -2 kg"), (0.0, "has no mass")])
def test_a_moving_body_needs_mass(look, mass, says):
    finding = only(look(mjcf(body(mass=mass))), "mass")
    assert finding.severity == "error"
    assert says in finding.message


def test_a_body_without_shapes_and_mass_is_found_before_compiling(look):
    assert only(look(mjcf('<body name="empty"><joint name="j"/></body>')), "mass").where == "body 'empty'"


URDF = """<robot name="r"><link name="base">{base}</link><link name="arm">{arm}</link>
  <joint name="j" type="{type}"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
  <limit lower="{low}" upper="{high}" effort="{effort}" velocity="1"/>{more}</joint></robot>"""
INERTIAL = """<inertial><mass value="{m}"/>
  <inertia ixx="{i[0]}" iyy="{i[1]}" izz="{i[2]}" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><sphere radius="0.1"/></geometry></collision>"""


def urdf(arm=(1, (0.01, 0.01, 0.01)), base=(1, (0.01, 0.01, 0.01)), low=-1, high=1, effort=1, kind="revolute", more=""):
    parts = [INERTIAL.format(m=m, i=i) for m, i in (base, arm)]
    return URDF.format(base=parts[0], arm=parts[1], low=low, high=high, effort=effort, type=kind, more=more)


def test_a_urdf_is_examined_alike(look):
    report = look(urdf(arm=(1, (0.01, 0.01, 0.05)), low=2, high=1), "robot.urdf")
    assert only(report, "inertia").where == "body 'arm'"
    assert only(report, "limits").where == "joint 'j'"
    assert look(urdf(), "robot.urdf").of("error") == []


def test_an_impossible_inertia_on_a_fixed_link_is_a_warning(look):
    report = look(urdf(arm=(0.1, (1e-5, 1e-5, 1e-4)), kind="fixed"), "robot.urdf", floating_base=True)
    assert only(report, "inertia").severity == "warning"
    assert any("merged" in note for note in report.notes)
    assert report.exit_code == 0


def test_unlimited_motors_are_noted(look):
    assert only(look(urdf(effort=0), "robot.urdf"), "actuator-limits").where == "actuator 'j'"


PLANAR = """<link name="plate"><inertial><mass value="1"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="slab" type="planar"><parent link="arm"/><child link="plate"/></joint></robot>"""


def test_a_planar_joint_is_no_error(look):
    report = look(urdf(effort=0).replace("</robot>", PLANAR), "robot.urdf")
    assert report.of("error") == []
    assert report.summary["nv"] == 4
    assert any("'slab'" in note for note in report.notes)


@pytest.mark.parametrize(("inertia", "much"), [("5 5 5", "large"), ("1e-7 1e-7 1e-7", "small")])
def test_an_inertia_out_of_proportion_to_the_size_is_found(look, inertia, much):
    finding = only(look(mjcf(body(inertia=inertia, more='<geom size="0.1"/>'))), "gyration")
    assert f"too {much}" in finding.message


def test_absurd_mass_ratios_are_found(look):
    options = {"mass": 1e-3, "inertia": "1e-5 1e-5 1e-5", "joint": '<joint name="k"/>'}
    light = body("light", more='<geom size="0.1"/>', pos="0 0 2", **options)
    heavy = {"mass": 1000, "inertia": "100 100 100"}
    assert (
        only(look(mjcf(body("heavy", more='<geom size="0.5"/>' + light, **heavy))), "mass-ratio").where
        == "body 'light'"
    )
    apart = look(mjcf(body("heavy", more='<geom size="0.5"/>', **heavy) + light))
    assert "'heavy'" in only(apart, "mass-ratio").message


def test_the_start_must_lie_within_the_limits(look):
    text = mjcf(body(joint='<joint name="j" axis="0 1 0" range="0.5 1"/>'))
    assert only(look(text), "start-outside-limits").where == "joint 'j'"
    home = '<keyframe><key name="other" qpos="3"/><key name="home" qpos="0.7"/></keyframe>'
    report = look(text.replace("</worldbody>", f"</worldbody>{home}"))
    assert [finding.where for finding in report.of("warning")] == ["keyframe 'other'"]


@pytest.mark.parametrize("surface", ['friction="0"', 'condim="1"'])
def test_frictionless_shapes_are_found(look, surface):
    assert only(look(mjcf(FLOOR + BALL.format(surface))), "friction").where == "geom 'skin'"


def test_lonely_shapes_and_robots_without_shapes_are_found(look):
    assert only(look(mjcf(FLOOR + BALL.format('contype="4" conaffinity="8"'))), "lonely-shape").where == "geom 'skin'"
    assert only(look(mjcf(FLOOR + BALL.format('contype="0" conaffinity="0"'))), "no-collision-shape")


def test_overlaps_in_the_start_pose_are_found(look):
    two = BALL.format("") + BALL.replace("ball", "twin").replace("root", "root2").replace("skin", "skin2").format("")
    finding = only(look(mjcf(FLOOR + two.replace("0 0 1", "0.15 0 1", 1))), "self-collision")
    assert finding.where == "bodies 'ball' and 'twin'"
    assert "50 mm" in finding.message
    sunk = look(mjcf(FLOOR + BALL.format("").replace("0 0 1", "0 0 0.09")))
    assert "10 mm" in only(sunk, "floor-penetration").message
    home = '<keyframe><key name="home" qpos="0 0 0.5 1 0 0 0"/></keyframe>'
    assert not look(mjcf(FLOOR + BALL.format("").replace("0 0 1", "0 0 0.09"), home)).of("warning")


def mesh_scene(vertices, faces):
    def numbers(array):
        return " ".join(f"{x:g}" for x in np.ravel(array))

    asset = f'<asset><mesh name="m" inertia="shell" vertex="{numbers(vertices)}" face="{numbers(faces)}"/></asset>'
    return mjcf('<body name="b"><freejoint/><geom type="mesh" mesh="m"/></body>', asset)


BOX = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
BOX_FACES = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1)]
BOX_FACES += [(2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)]


def test_a_convexified_mesh_says_by_how_much(look):
    """A unit cube with one face drawn in to a point at its middle: volume 5/6, hull 1."""
    dented = [face for face in BOX_FACES if face not in [(4, 6, 7), (4, 7, 5)]]
    dented += [(4, 6, 8), (6, 7, 8), (7, 5, 8), (5, 4, 8)]
    finding = only(look(mesh_scene(np.vstack([BOX, [0.5, 0.5, 0.5]]), dented)), "mesh-convexified")
    assert finding.where == "mesh 'm'"
    assert "20 % larger" in finding.message
    assert not [f for f in look(mesh_scene(BOX, BOX_FACES)).findings if f.code.startswith("mesh")]


def test_open_and_flat_meshes_are_found(look):
    assert "not watertight" in only(look(mesh_scene(BOX, BOX_FACES[:-1])), "mesh-open").message
    thin = BOX * [1, 1, 1e-7]
    assert "flat" in only(look(mesh_scene(thin, BOX_FACES)), "mesh-volume").message


CLOTH = '<flexcomp name="cloth" type="grid" count="3 3 1" spacing=".1 .1 .1" radius=".01" pos="5 0 1"/>'


def test_unsupported_features_are_errors_unless_ignored(look):
    text = mjcf(FLOOR + BALL.format("") + CLOTH)
    finding = only(look(text), "feature")
    assert finding.severity == "error"
    assert 'ignore=("flex",)' in finding.remedy
    report = look(text, ignore=("flex",))
    assert report.exit_code == 0
    assert any("flex" in note for note in report.notes)


LOST = '<collision><geometry><mesh filename="gone.stl"/></geometry></collision>'


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "file"),
        ("<mujoco><worldbody>", "file"),
        ("<sdf/>", "file"),
        ('<robot name="r"><link name="a"/><link name="b"/></robot>', "file"),
        (f'<robot name="r"><link name="a">{LOST}</link></robot>', "file"),
        ('<mujoco><asset><mesh file="gone.stl"/></asset></mujoco>', "compile"),
    ],
)
def test_what_cannot_be_read_is_one_error(look, text, code):
    report = look(text)
    finding = only(report, code)
    assert finding.severity == "error"
    assert finding.remedy
    assert report.exit_code == 1


def test_numbers_that_cannot_be_computed_with_are_an_error_that_ends_the_examination(look):
    world = FLOOR + '<body name="b" pos="0 0 1"><freejoint/><geom name="huge" size="1e300" mass="1"/></body>'
    finding = only(look(mjcf(world)), "number")
    assert (finding.severity, finding.where) == ("error", "body 'b'")
    assert "expected at most" in finding.message


def test_a_fatal_error_of_mujoco_is_a_model_error():
    mj = mujoco.MjModel.from_xml_string(mjcf(BALL.format("")))
    with pytest.raises(ModelError, match="MuJoCo cannot compute this state"), collected_warnings():
        raise mujoco.FatalError(f"mj_makeData: {mj.nq} numbers")


def test_restitution_is_a_hint_for_the_choice_of_method(look):
    marker = '<custom><text name="stickslip" data="1"/></custom>'
    for user, hinted in (("0 50 0.5 0", True), ("0 0 0.5 0", False)):  # springs honour it if no damping is said
        report = look(mjcf(FLOOR + BALL.format(f'user="{user}"'), marker))
        assert any("restitution" in finding.message for finding in report.findings) == hinted
        assert report.exit_code == 0


def test_models_specs_and_compiled_models_are_examined_too():
    text = mjcf(FLOOR + BALL.format('friction="0"'))
    mj = mujoco.MjModel.from_xml_string(text)
    for subject in (mj, compile_model(mj), mujoco.MjSpec.from_string(text)):
        assert only(examine(subject), "friction").where == "geom 'skin'"
    with pytest.raises(InputError, match="examine"):
        examine(3)


def test_the_report_prints_and_serialises(look):
    report = look(mjcf(FLOOR + BALL.format('friction="0"') + CLOTH))
    out = io.StringIO()
    report.print(Console(file=out, width=600))
    printed = out.getvalue()
    for part in ("error", "flex", "geom 'skin'", COMBINATION_RULE, "1 error, 1 warning"):
        assert part in printed
    assert json.loads(json.dumps(report.to_dict()))["summary"]["nv"] >= 6


ARM = """<mujoco><compiler angle="radian" autolimits="true"/><option timestep="0.002"/><worldbody>
<site name="wall" pos="0 0 0.5"/>
<body name="upper" pos="0 0 1"><joint name="a" axis="0 1 0" range="-2 2" damping="0.1"/>
  <geom name="skin" type="capsule" size="0.05 0.2" mass="1"/><site name="s1" pos="0.1 0 0"/>
  <site name="s2" pos="0.2 0 0"/>
  <geom name="drum" type="sphere" size="0.08" pos="0.5 0 0" contype="0" conaffinity="0" mass="0.1"/>
  <body name="lower" pos="0.5 0 0"><joint name="b" axis="0 1 0" range="-1 1" damping="0.1"/>
    <geom type="capsule" size="0.05 0.1" pos="0.3 0 0" mass="1" contype="0" conaffinity="0"/>
    <site name="s3" pos="0.15 0 0"/><site name="s4" pos="-0.3 0 0"/></body></body></worldbody>{}</mujoco>"""
FAULTS = [
    # (what is added, or replaces something, code, severity, where, words of the message)
    (
        {
            'name="a"': 'name="a" frictionloss="7"',
            "more": '<actuator><motor joint="a" ctrlrange="-1 1" gear="5"/></actuator>',
        },
        "joint-friction",
        "warning",
        "joint 'a'",
        "holds it, since its actuators give at most 5 N m",
    ),
    ({'name="b"': 'name="b" frictionloss="90"'}, "joint-friction", "warning", "joint 'b'", "times what the weight"),
    ({'name="upper"': 'name="upper" gravcomp="100"'}, "gravcomp", "warning", "body 'upper'", "lifts it"),
    (
        {"more": '<equality><joint name="x" joint1="a" joint2="b"/><joint name="y" joint1="b" joint2="a"/></equality>'},
        "coupling",
        "warning",
        "coupling 'y' of 'b' and 'a'",
        "repeats",
    ),
    (
        {"more": '<equality><joint joint1="a" joint2="b"/><joint joint1="b" joint2="a" polycoef="0.1 1"/></equality>'},
        "coupling",
        "error",
        "coupling of 'b' and 'a'",
        "contradicts",
    ),
    (
        {"more": '<equality><joint joint1="a" joint2="b" polycoef="9 1 0 0 0"/></equality>'},
        "coupling-range",
        "error",
        "coupling of 'a' and 'b'",
        "asks 'a' for 8 … 10",
    ),
    (
        {
            "more": '<equality><joint joint1="a" joint2="b"/></equality><actuator><motor joint="a" ctrlrange="-99 99"/>'
            '<motor joint="b" ctrlrange="-99 99"/></actuator>'
        },
        "coupling-motor",
        "warning",
        "coupling of 'a' and 'b'",
        "own",
    ),
    (
        {"more": '<tendon><spatial name="t" range="0 0.1"><site site="wall"/><site site="s1"/></spatial></tendon>'},
        "tendon-limits",
        "warning",
        "tendon 't'",
        "outside its range 0 … 0.1",
    ),
    (
        {
            "more": '<tendon><spatial name="t" stiffness="9" springlength="0 5"><site site="wall"/><site site="s1"/>'
            "</spatial></tendon>"
        },
        "tendon-slack",
        "note",
        "tendon 't'",
        "slack",
    ),
    (
        {"more": '<tendon><spatial name="t"><site site="s1"/><site site="s2"/></spatial></tendon>'},
        "tendon-constant",
        "warning",
        "tendon 't'",
        "never changes",
    ),
    (
        {"more": '<tendon><spatial name="t"><site site="s2"/><site site="s4"/></spatial></tendon>'},
        "tendon-path",
        "warning",
        "tendon 't'",
        "'s2' and 's4' of different bodies coincide",
    ),
    (
        {
            'pos="0.15 0 0"': 'pos="0.05 0 0"',
            "more": '<tendon><spatial name="t"><site site="s1"/><geom geom="drum"/><site site="s3"/></spatial>'
            "</tendon>",
        },
        "tendon-path",
        "warning",
        "tendon 't'",
        "site 's3' is 30 mm inside geom 'drum'",
    ),
    (
        {"more": '<actuator><position name="m" joint="a" kp="99" kv="1" ctrlrange="0.5 1"/></actuator>'},
        "control-range",
        "note",
        "actuator 'm'",
        "does not contain 0",
    ),
    (
        {
            "more": '<actuator><position name="m" joint="a" kp="99" kv="1" ctrlrange="-1 1"/></actuator>'
            '<keyframe><key name="home" ctrl="3"/></keyframe>'
        },
        "control-range",
        "warning",
        "actuator 'm'",
        "clipped",
    ),
    (
        {
            'range="-2 2" damping="0.1"': 'range="-2 2"',
            "more": '<actuator><position name="m" joint="a" kp="99"/></actuator>',
        },
        "servo-damping",
        "warning",
        "actuator 'm'",
        "swings for ever",
    ),
    (
        {"more": '<actuator><general name="m" joint="a" biastype="affine" biasprm="0 9 -1"/></actuator>'},
        "servo-sign",
        "warning",
        "actuator 'm'",
        "drives it away",
    ),
    (
        {"more": '<actuator><motor name="m" joint="a" delay="5" nsample="2" ctrlrange="-99 99"/></actuator>'},
        "delay",
        "warning",
        "actuator 'm'",
        "5 s late",
    ),
    (
        {"more": '<actuator><motor joint="a" ctrlrange="-1 1"/></actuator>'},
        "too-weak",
        "warning",
        "joint 'a'",
        "needs 8",
    ),
    (
        {"more": '<keyframe><key name="home"/><key name="up" qpos="3 0"/></keyframe>'},
        "keyframe",
        "warning",
        "keyframe 'up'",
        "joint 'a' at 3 (-2 … 2)",
    ),
    (
        {
            "more": '<equality><joint name="x" joint1="a" joint2="b"/></equality><keyframe>'
            '<key name="home" qpos="1 0"/>'
            "</keyframe>"
        },
        "keyframe-open",
        "warning",
        "equality 'x' (joint)",
        "keyframe 'home' violates it by 1",
    ),
    (
        {"more": '<sensor><touch name="t" site="s3"/></sensor>'},
        "sensor",
        "warning",
        "sensor 't'",
        "no shape that collides",
    ),
    (
        {"more": '<sensor><gyro name="g" site="wall"/></sensor>'},
        "sensor",
        "warning",
        "sensor 'g'",
        "fixed to the world",
    ),
    ({'name="skin"': 'name="skin" margin="0.2"'}, "margin", "warning", "geom 'skin'", "margin of 0.2 m"),
    ({'name="skin"': 'name="skin" condim="4" friction="1 0 0"'}, "condim", "note", "geom 'skin'", "coefficient is 0"),
    (
        {
            '<site name="s1"': '<geom name="cap" size="0.05"/><site name="s1"',
            "more": '<contact><pair geom1="skin" geom2="cap"/></contact>',
        },
        "pair",
        "warning",
        "geom 'skin', geom 'cap'",
        "both",
    ),
]


def test_the_arm_of_the_faults_has_none(look):
    assert look(ARM.format("")).of("warning") == []


@pytest.mark.parametrize(("changes", "code", "severity", "where", "words"), FAULTS)
def test_faults_of_joints_tendons_actuators_keyframes_and_contacts(look, changes, code, severity, where, words):
    text = ARM.format(changes.get("more", ""))
    for old, new in changes.items():
        text = text.replace(old, new) if old != "more" else text
    finding = only(look(text), code)
    assert (finding.severity, finding.where) == (severity, where)
    assert words in finding.message


def test_equal_priorities_are_noted(look):
    two = BALL.replace("ball", "twin").replace("root", "root2").replace("skin", "skin2").replace("0 0 1", "3 0 1")
    text = mjcf(FLOOR + BALL.format('priority="2"') + two.format('priority="2" friction="0.3"'))
    assert "neither dictates" in only(look(text), "priority").message
