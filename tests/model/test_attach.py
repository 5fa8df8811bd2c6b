"""Bodies of loaded robots by name, and robots that are mounted on them."""

import numpy as np
import pytest

import stickslip as ss
from stickslip.model.mjspec import copied

ARM = """<mujoco><worldbody><body name="base"><geom size=".05" mass="1"/>
  <body name="link" pos="0 0 .1"><joint name="shoulder" axis="0 1 0"/><geom size=".02" mass=".5"/>
  <body name="flange" pos="0 0 .3"><inertial pos="0 0 0" mass=".1" diaginertia="1e-4 1e-4 1e-4"/>
  <geom type="cylinder" size=".03 .01"/></body></body></body></worldbody></mujoco>"""
GRIPPER = """<mujoco><worldbody><body name="palm" pos="0 0 .02"><freejoint name="root"/><geom size=".03" mass=".2"/>
  <body name="finger" pos=".02 0 .05"><joint name="grip" type="slide" axis="1 0 0" range="-.01 .01"/>
  <geom type="box" size=".005 .01 .03" mass=".05"/></body></body></worldbody>
  <actuator><position name="grip" joint="grip" kp="10"/></actuator>
  <sensor><jointpos name="width" joint="grip"/></sensor>
  <keyframe><key name="home" qpos="0 0 1 1 0 0 0 .004"/>
  <key name="open" qpos="0 0 1 1 0 0 0 .01" ctrl=".01"/></keyframe>
</mujoco>"""


@pytest.fixture
def files(tmp_path):
    for name, text in (("arm.xml", ARM), ("gripper.xml", GRIPPER)):
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_gripper_on_a_flange(files):
    scene = ss.Scene()
    scene.load(files / "arm.xml")
    gripper = scene.load(
        files / "gripper.xml", parent=scene.body("flange"), pos=(0, 0, 0.03), quat=(0, 0, 0, 1), name="hand"
    )
    assert gripper.joints == ("hand/grip",)
    assert "free joint 'root'" in gripper.notes[0]
    tip = scene.body("hand/finger").add_body("tip", joint="hinge", axis=(0, 1, 0), pos=(0, 0, 0.03))
    tip.add_sphere(0.004, mass=0.01)
    scene.body("flange").add_box((0.1, 0.1, 0.01), name="plate").add_frame("tcp", pos=(0, 0, 0.2))
    model = scene.compile()
    assert model.link_names == ("world", "link", "hand/finger", "tip")
    np.testing.assert_allclose(model.inertia.mass[1], 0.5 + 0.1 + 0.2)
    np.testing.assert_allclose(model.frames.pos[model.frame("hand/palm")], (0, 0, 0.33))
    np.testing.assert_allclose(model.keyframes["home"].q, (0, 0.004, 0))
    assert model.keyframes["hand/open"].control[0] == 0.01
    pairs = [(int(pair) >> 16, int(pair) & 0xFFFF) for pair in model.mj.exclude_signature]
    assert (model.mj.body("flange").id, model.mj.body("hand/palm").id) in pairs
    sim = ss.Simulation(scene, "mujoco", dt=1e-3)
    sim.reset("hand/open")
    assert sim.sensor("hand/width") == 0.01
    assert ss.Scene.from_xml(scene.to_xml()).compile().fingerprint == model.fingerprint


def test_a_robot_on_a_robot_has_one_floating_base():
    scene = ss.Scene()
    scene.add_robot("solo12", name="low")
    scene.add_robot("solo12", name="top", parent=scene.body("low/base_link"), pos=(0, 0, 0.3))
    model = scene.compile()
    assert model.nv == 18 + 12
    assert model.link("top/base_link") == model.link("low/base_link")


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda s, f: s.body("flang"), "unknown body 'flang': did you mean 'flange'"),
        (lambda s, f: s.body(3), "unknown body 3"),
        (lambda s, f: s.body("flange").add_box((0.1, 0.1, 0.1), mass=2.0), "mass: expected none.*add it to a child"),
        (lambda s, f: s.load(f, parent="flange", name="x"), "parent: expected a body.*scene.body"),
        (lambda s, f: s.load(f, parent=ss.Scene().world, name="x"), "parent: expected a body of this scene"),
        (lambda s, f: s.load(f, parent=s.body("flange"), floating_base=True, name="x"), "floating_base: expected"),
        (lambda s, f: s.load(f, parent=s.body("flange"), pos=(0, 0), name="x"), "pos: expected 3"),
    ],
)
def test_bad_mounts_are_named(build, message, files):
    scene = ss.Scene()
    scene.load(files / "arm.xml")
    with pytest.raises(ss.InputError, match=message):
        build(scene, files / "gripper.xml")


def test_a_file_with_room_for_keyframes_can_be_mounted_and_copied(tmp_path):
    """MuJoCo fills such room with empty keyframes when it compiles anew, here because an actuator has armature."""
    path = tmp_path / "arm.xml"
    path.write_text(
        '<mujoco><size nkey="2"/><default><default class="foot"/></default><worldbody><body childclass="foot">'
        '<joint name="turn"/><geom class="foot" size="0.1"/></body></worldbody>'
        '<actuator><velocity name="v" joint="turn" kv="3" armature="5"/></actuator></mujoco>'
    )
    scene = ss.Scene()
    scene.load(path, name="one")
    assert scene.compile().mj.dof_armature == 5.0
    assert scene.compile().mj.nkey == 0


def test_a_scene_that_mujoco_cannot_copy_is_refused():
    class Broken:
        _address = 0

        def copy(self):
            return self

    with pytest.raises(ss.ModelError, match="MuJoCo cannot copy this scene"):
        copied(Broken())
