"""Every feature that is not simulated: refused by name, left out on request, and gone from the model afterwards."""

import mujoco
import numpy as np
import pytest

from stickslip.errors import InputError, UnsupportedFeatureError
from stickslip.model.importers.features import FEATURES, NAMES, check_features, feature_names, find_features
from stickslip.model.importers.leave_out import REMOVE
from stickslip.model.importers.read import read_spec
from stickslip.model.model import compile_model

SCENE = """<mujoco>
  <compiler angle="radian"/>
  {option}
  <asset><hfield name="hills" nrow="2" ncol="2" elevation="0 1 1 0" size="1 1 1 1"/></asset>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1"/>
    {world}
    <body name="base" {body}>
      <freejoint name="root"/>
      <geom name="shell" {shell} {geom}/>
      <body name="arm" pos="0 0 0.5">
        <joint name="elbow" axis="0 1 0" range="-1 1" {joint}/>
        <geom name="hand" size="0.1"/>
        <site name="tip"/>
      </body>
    </body>
  </worldbody>
  {more}
</mujoco>"""
SHELL = 'type="sphere" size="0.1"'


def scene(option="", world="", body="", shell=SHELL, geom="", joint="", more=""):
    return SCENE.format(option=option, world=world, body=body, shell=shell, geom=geom, joint=joint, more=more)


def motor(attributes, kind="general"):
    return f'<actuator><{kind} name="m" {attributes}/></actuator>'


CABLE = '<tendon><fixed name="cable"><joint joint="elbow" coef="1"/></fixed></tendon>'
GRID = 'type="grid" count="3 3 1" spacing=".1 .1 .1" pos="0 0 2"'
CLOTH = f'<flexcomp name="cloth" {GRID}><edge equality="true"/></flexcomp>'
CASES = {
    "tendon": (scene(more=CABLE), "tendon 'cable'"),
    "equality": (scene(more='<equality><joint name="lock" joint1="elbow"/></equality>'), "equality 'lock'"),
    "flex": (scene(world=CLOTH), "flex 'cloth'"),
    "plugin": (
        scene(
            option='<extension><plugin plugin="mujoco.pid"/></extension>',
            more='<actuator><plugin name="m" plugin="mujoco.pid" joint="elbow"/></actuator>',
        ),
        "actuator 'm'",
    ),
    "actuator dynamics": (scene(more=motor('joint="elbow" lengthrange="0 1"', "muscle")), "actuator 'm'"),
    "transmission": (scene(more=motor('site="tip"')), "actuator 'm'"),
    "actuator gain": (scene(more=motor('joint="elbow" gaintype="affine" gainprm="1 2"')), "actuator 'm'"),
    "actuator damping": (scene(more=motor('joint="elbow" damping="0 1"')), "actuator 'm'"),
    "actuator group": (
        scene(option='<option actuatorgroupdisable="2"/>', more=motor('joint="elbow" group="2"')),
        "actuator 'm'",
    ),
    "joint force limit": (
        scene(
            joint='actuatorfrcrange="-1 1"',
            more='<actuator><motor joint="elbow"/><motor joint="elbow" gear="2"/></actuator>',
        ),
        "joint 'elbow'",
    ),
    "frictionloss": (scene(joint='frictionloss="0.1"'), "joint 'elbow'"),
    "nonlinear spring": (scene(joint='stiffness="1 2"'), "joint 'elbow'"),
    "nonlinear damper": (scene(joint='damping="1 2"'), "joint 'elbow'"),
    "joint margin": (scene(joint='margin="0.1"'), "joint 'elbow'"),
    "gravcomp": (scene(body='gravcomp="1"'), "body 'base'"),
    "mocap": (scene(world='<body name="ghost" mocap="true"/>'), "body 'ghost'"),
    "fluid": (scene(option='<option density="1.2" viscosity="1e-5"/>'), "density=1.2"),
    "shape: height field": (scene(world='<geom name="land" type="hfield" hfield="hills"/>'), "geom 'land'"),
    "shape: sdf": (
        '<mujoco><extension><plugin plugin="mujoco.sdf.torus"><instance name="t"/></plugin></extension>'
        '<asset><mesh name="t"><plugin instance="t"/></mesh></asset><worldbody><body name="ring"><freejoint/>'
        '<geom name="ring" type="sdf" mesh="t"><plugin instance="t"/></geom></body></worldbody></mujoco>',
        "geom 'ring'",
    ),
    "surface velocity": (scene(geom='surfacevel="1 0 0 0 0 0"'), "geom 'shell'"),
    "disable flag": (scene(option='<option><flag limit="disable"/></option>'), 'flag limit="disable"'),
}


def test_every_feature_has_a_case_and_a_way_out():
    assert set(CASES) == {feature.name for feature in FEATURES} == set(REMOVE)


@pytest.mark.parametrize("name", CASES)
def test_it_is_refused_by_name_with_its_elements_and_the_way_out(name):
    xml, element = CASES[name]
    with pytest.raises(UnsupportedFeatureError) as caught:
        read_spec(xml=xml)
    message = str(caught.value)
    assert "\n" not in message
    assert f"{name} (" in message
    assert element in message
    assert f'"{name}"' in message.split("ignore=(")[1]


@pytest.mark.parametrize("name", CASES)
def test_it_is_gone_when_it_is_ignored(name):
    loaded = read_spec(xml=CASES[name][0], ignore="all")
    assert any(note.startswith(f"ignored: {name} (") for note in loaded.notes)
    mj = loaded.spec.compile()
    assert find_features(mj) == []
    if name != "flex":  # the particles of a flex remain, as many small bodies
        mujoco.mj_step(mj, mujoco.MjData(mj))
    compile_model(mj)


def test_a_plain_model_uses_none():
    loaded = read_spec(xml=scene(more=motor('joint="elbow"', "motor")))
    assert loaded.notes == []
    check_features(loaded.spec.compile(), (), "plain")


def test_a_tendon_driven_by_a_muscle_is_refused_and_accepted():
    sensors = '<sensor><tendonpos tendon="cable"/><actuatorfrc actuator="m"/><jointpos joint="elbow"/></sensor>'
    key = '<keyframe><key name="home" qpos="0 0 1 1 0 0 0 0.5" ctrl="1 2" act="1"/></keyframe>'
    drive = '<actuator><muscle name="m" tendon="cable" lengthrange="0 1"/><motor name="kept" joint="elbow"/></actuator>'
    xml = scene(more=CABLE + drive + sensors + key)
    with pytest.raises(UnsupportedFeatureError, match=r"tendon .*actuator dynamics .*transmission "):
        read_spec(xml=xml)
    with pytest.raises(UnsupportedFeatureError, match=r'ignore=\("actuator dynamics", "transmission"\)'):
        read_spec(xml=xml, ignore=("tendon",))
    loaded = read_spec(xml=xml, ignore=("tendon", "actuator dynamics", "transmission"))
    mj = loaded.spec.compile()
    assert (mj.ntendon, mj.nsensor) == (0, 1)
    assert compile_model(mj).actuator_names == ("kept",)
    np.testing.assert_allclose(loaded.home["elbow"], [0.5])


def test_a_filtered_actuator_stays_and_responds_at_once():
    xml = scene(more=motor('joint="elbow" timeconst="0.1" kp="3"', "position"))
    loaded = read_spec(xml=xml, ignore=("actuator dynamics",))
    actuators = compile_model(loaded.spec.compile()).actuators
    np.testing.assert_allclose(actuators.gain, [3])
    np.testing.assert_allclose(actuators.bias, [[0, -3, 0]])


def test_a_dropped_shape_leaves_its_mass():
    xml = CASES["shape: sdf"][0]
    before = mujoco.MjModel.from_xml_string(xml)
    after = read_spec(xml=xml, ignore="all").spec.compile()
    assert after.ngeom == before.ngeom - 1
    for field in ("body_mass", "body_inertia", "body_ipos", "body_iquat"):
        np.testing.assert_allclose(getattr(after, field), getattr(before, field), rtol=1e-12)


def test_an_ellipsoid_that_is_only_drawn_stays():
    xml = scene(shell='type="ellipsoid" size="0.1 0.2 0.3"', geom='contype="0" conaffinity="0"')
    loaded = read_spec(xml=xml)
    assert loaded.notes == []
    assert "ellipsoid" in [shape.kind for shape in compile_model(loaded.spec.compile()).shapes]


def test_a_force_limit_of_a_joint_with_one_actuator_moves_to_the_actuator():
    drive = '<actuator><motor name="m" joint="elbow" gear="-2" forcerange="-1 30"/></actuator>'
    xml = scene(joint='actuatorfrcrange="-10 6"', more=drive)
    original, loaded = mujoco.MjModel.from_xml_string(xml), read_spec(xml=xml)
    assert "force limit of 'elbow'" in loaded.notes[0]
    ours = loaded.spec.compile()
    for control in (-100.0, -0.5, 2.0, 100.0):
        forces = []
        for mj in (original, ours):
            data = mujoco.MjData(mj)
            data.ctrl[0] = control
            mujoco.mj_forward(mj, data)
            forces.append(data.qfrc_actuator[-1])
        assert forces[0] == forces[1]


def test_armature_and_damping_of_an_actuator_move_to_its_joint():
    xml = scene(
        joint='damping="1"', more='<actuator><motor joint="elbow" gear="3" armature="0.2" damping="0.5"/></actuator>'
    )
    accelerations = []
    for mj in (mujoco.MjModel.from_xml_string(xml), read_spec(xml=xml).spec.compile()):
        data = mujoco.MjData(mj)
        data.qvel[-1] = 1.0
        mujoco.mj_forward(mj, data)
        accelerations.append(data.qacc.copy())
    np.testing.assert_allclose(*accelerations, rtol=1e-12)


def test_solver_parameters_are_a_note_and_not_an_error():
    loaded = read_spec(xml=scene(geom='solref="0.01 1"'))
    assert len(loaded.notes) == 1
    assert "solref" in loaded.notes[0]


def test_names_to_ignore_are_checked():
    assert feature_names("all") == frozenset(NAMES)
    assert feature_names("tendon") == feature_names(("tendon",))
    with pytest.raises(InputError, match="'frictionloss'"):
        feature_names(("friction loss",))
    with pytest.raises(InputError, match="ignore"):
        feature_names("everything")
