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


def cable(attributes=""):
    return f'<tendon><fixed name="cable" {attributes}><joint joint="elbow" coef="1"/></fixed></tendon>'


GRID = 'type="grid" count="3 3 1" spacing=".1 .1 .1" pos="0 0 2"'
CLOTH = f'<flexcomp name="cloth" {GRID}><edge equality="true"/></flexcomp>'
CASES = {
    "tendon armature": (
        scene(
            world='<body pos="3 0 0"><joint name="other"/><geom size=".1"/></body>',
            more=cable('armature="1"').replace("</fixed>", '<joint joint="other" coef="1"/></fixed>'),
        ),
        "tendon 'cable'",
    ),
    "yielding tendon": (scene(more=cable('stiffness="1" springyield="1"')), "tendon 'cable'"),
    "equality": (scene(world=CLOTH), "equality 0"),
    "flex": (scene(world=CLOTH), "flex 'cloth'"),
    "plugin": (
        scene(
            option='<extension><plugin plugin="mujoco.pid"/></extension>',
            more='<actuator><plugin name="m" plugin="mujoco.pid" joint="elbow"/></actuator>',
        ),
        "actuator 'm'",
    ),
    "actuator dynamics": (scene(more=motor('joint="elbow" dyntype="user"')), "actuator 'm'"),
    "transmission": (scene(more=motor('body="base" biastype="affine" biasprm="0 0 -1"')), "actuator 'm'"),
    "actuator gain": (scene(more=motor('joint="elbow" gaintype="user"')), "actuator 'm'"),
    "yielding spring": (scene(joint='stiffness="1" springyield="0.1"'), "joint 'elbow'"),
    "mocap joints": (
        scene(world='<body mocap="true"><body name="child"><joint/><geom size="0.1"/></body></body>'),
        "body 'child'",
    ),
    "shape: sdf": (
        '<mujoco><extension><plugin plugin="mujoco.sdf.torus"><instance name="t"/></plugin></extension>'
        '<asset><mesh name="t"><plugin instance="t"/></mesh></asset><worldbody><body name="ring"><freejoint/>'
        '<geom name="ring" type="sdf" mesh="t"><plugin instance="t"/></geom></body></worldbody></mujoco>',
        "geom 'ring'",
    ),
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


def test_a_tendon_driven_by_a_muscle_is_read():
    sensors = '<sensor><tendonpos tendon="cable"/><actuatorfrc actuator="m"/><jointpos joint="elbow"/></sensor>'
    key = '<keyframe><key name="home" qpos="0 0 1 1 0 0 0 0.5" act="1"/></keyframe>'
    drive = '<actuator><muscle name="m" tendon="cable" lengthrange="0 1"/><motor name="kept" joint="elbow"/></actuator>'
    loaded = read_spec(xml=scene(more=cable() + drive + sensors + key), ignore=("tendon",))
    model = compile_model(loaded.spec.compile())
    assert (model.tendon_names, model.actuator_names, model.na) == (("cable",), ("m", "kept"), 1)
    np.testing.assert_allclose(loaded.home.joints["elbow"], [0.5])


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
    with pytest.raises(InputError, match="'plugin'"):
        feature_names(("plugins",))
    with pytest.raises(InputError, match="ignore"):
        feature_names("everything")
