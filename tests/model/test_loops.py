"""Closed loops and welds: from MJCF's equalities, and built in Python."""

import mujoco
import numpy as np
import pytest

import stickslip as ss
from stickslip.constraints.bilateral import Bilateral

XML = """<mujoco><compiler angle="radian"/><worldbody>
  <body name="a" pos="0 0 1" euler="0.1 0.2 0.3"><freejoint/><geom size=".1" contype="0" conaffinity="0"/>
    <site name="sa" pos="0.1 0 0.2" euler="0.4 0 0"/>
    <body name="hand" pos="0.2 0.1 0" euler="0 0 0.5"><geom size=".05" contype="0" conaffinity="0"/></body></body>
  <body name="b" pos="1 .3 1" euler="0.5 -0.3 0.7"><joint type="ball"/><geom size=".1" contype="0" conaffinity="0"/>
    <site name="sb" pos="0 0.1 0.2" euler="0 0.4 0"/>
    <body name="c" pos="0 0 0.4"><joint axis="0 1 0"/><geom size=".1" contype="0" conaffinity="0"/></body></body>
</worldbody><equality>{}</equality></mujoco>"""
EQUALITIES = {
    "points of bodies": '<connect body1="a" body2="c" anchor=".1 .2 .3"/>',
    "a point and the world": '<connect body1="a" anchor=".1 .2 .3"/>',
    "a point of a fixed body": '<connect body1="hand" body2="b" anchor=".1 .2 .3"/>',
    "bodies": '<weld body1="c" body2="hand" anchor=".1 .2 .3"/>',
    "a pose that is asked for": '<weld body1="a" body2="b" anchor=".1 .2 .3" relpose=".5 .6 .7 1 .2 0 .3"/>',
    "a body and the world": '<weld body1="b"/>',
    "points of sites": '<connect site1="sa" site2="sb"/>',
    "sites": '<weld site1="sa" site2="sb"/>',
}


@pytest.mark.parametrize("name", EQUALITIES)
def test_errors_and_rows_are_those_of_mujoco(name):
    """MuJoCo's residual is link 1 against link 2, of a rotation half the quaternion's vector part in body-2 axes."""
    model = ss.Scene.from_xml(XML.format(EQUALITIES[name])).compile()
    (loop,) = model.loops
    rng, mj = np.random.default_rng(1), model.mj
    data = mujoco.MjData(mj)
    q = ss.Dynamics(model).integrate(model.state().q, rng.normal(size=model.nv), 0.3)
    data.qpos[:] = q
    mujoco.mj_forward(mj, data)
    bilateral = Bilateral(model, model.loops)
    result, J = bilateral.solve(q, np.zeros(model.nv), np.zeros(model.nv)), bilateral.jacobian
    theirs = data.efc_J.reshape(data.nefc, -1)
    assert data.nefc == loop.rows
    sign = -1.0 if mj.eq_obj2id[0] != 0 or loop.link1 != 0 else 1.0  # the world is always our link 1
    np.testing.assert_allclose(result.error[:3], sign * data.efc_pos[:3], atol=1e-12)
    np.testing.assert_allclose(J[:3], sign * theirs[:3], atol=1e-12)
    if loop.rows == 6:  # the same null space, and no error where there is none
        both = np.vstack([J, theirs])
        assert np.linalg.matrix_rank(both, tol=1e-6) == np.linalg.matrix_rank(J, tol=1e-6)
        angle = np.linalg.norm(result.error[3:])
        np.testing.assert_allclose(np.linalg.norm(data.efc_pos[3:]), np.sin(angle / 2), rtol=1e-9)


def test_loops_are_closed_in_the_reference_configuration():
    for name in set(EQUALITIES) - {"a pose that is asked for", "points of sites", "sites"}:
        model = ss.Scene.from_xml(XML.format(EQUALITIES[name])).compile()
        result = Bilateral(model, model.loops).solve(model.tree.q0, np.zeros(model.nv), np.zeros(model.nv))
        assert np.abs(result.error).max() < 1e-12, name


def test_what_is_not_a_loop():
    """Switched off, or between bodies of one link."""
    off = '<connect body1="a" body2="b" anchor="0 0 0" active="false"/>'
    inside = '<weld body1="a" body2="hand"/>'
    assert ss.Scene.from_xml(XML.format(off + inside)).compile().loops == ()


def test_couplings_are_read_beside_loops(tmp_path):
    """Joint and fixed-tendon equalities; a saved scene has them, too."""
    xml = XML.replace('<joint axis="0 1 0"/>', '<joint name="j" axis="0 1 0" ref="0.2"/>')
    rope = '<tendon><fixed name="rope"><joint joint="j" coef="-2"/></fixed></tendon></mujoco>'
    more = '<joint name="gear" joint1="j" polycoef="0.1 0 0 0 0"/><tendon name="pull" tendon1="rope"/>'
    scene = ss.Scene.from_xml(
        xml.format(more + '<connect name="pin" body1="a" anchor="0 0 0"/>').replace("</mujoco>", rope)
    )
    scene.save(tmp_path / "coupled.xml")
    for model in (scene.compile(), ss.Scene.from_file(tmp_path / "coupled.xml").compile()):
        assert sorted(loop.name for loop in model.loops) == ["gear", "pin", "pull"]
        gear, pull = sorted(model.couplings, key=lambda c: c.name)
        j = model.joint("j")
        assert (list(gear.joints1), list(gear.polynomial[:2]), gear.reference[0]) == ([j], [0.1, 0.0], 0.2)
        assert (list(pull.joints1), list(pull.factors1), pull.reference[0]) == ([j], [-2.0], -0.4)


def two_boxes() -> ss.Scene:
    scene = ss.Scene()
    scene.add_box((0.2, 0.2, 0.2), pos=(0, 0, 1), mass=1.0, name="one", collide=False)
    scene.add_box((0.2, 0.2, 0.2), pos=(0.5, 0, 1), mass=1.0, name="two", collide=False)
    return scene


def test_built_in_python():
    scene = two_boxes()
    scene.connect("one", "two", (0.25, 0, 0), name="pin")
    scene.weld("two", name="lock")
    model = scene.compile()
    pin, lock = model.loops
    assert (pin.kind, pin.link1, pin.link2, pin.name) == ("connect", 1, 2, "pin")
    np.testing.assert_allclose(pin.pos1, [0.25, 0, 0])
    np.testing.assert_allclose(pin.pos2, [-0.25, 0, 0], atol=1e-12)
    assert (lock.kind, lock.link1, lock.link2) == ("weld", 0, 2)
    np.testing.assert_allclose(lock.pos1, [0.5, 0, 1])


def test_they_survive_files_prefixes_and_hashes(tmp_path):
    scene = two_boxes()
    scene.connect("one", "two", (0.25, 0, 0), name="pin")
    scene.weld("two", name="lock")
    path = tmp_path / "loops.xml"
    scene.save(path)
    model, again = scene.compile(), ss.Scene.from_file(path).compile()
    assert model.fingerprint == again.fingerprint != two_boxes().compile().fingerprint
    both = ss.Scene()
    both.load(path, name="left")
    both.load(path, name="right")
    loops = both.compile().loops
    assert [loop.name for loop in loops] == ["left/pin", "left/lock", "right/pin", "right/lock"]
    assert [(loop.link1, loop.link2) for loop in loops] == [(1, 2), (0, 2), (3, 4), (0, 4)]


@pytest.mark.parametrize(
    ("close", "message"),
    [
        (lambda scene: scene.connect("one", "three"), "unknown body 'three'"),
        (lambda scene: scene.weld("one", "one"), "bodies of a loop: expected two different ones"),
        (lambda scene: scene.connect("one", "two", (0, 0)), "pos: expected 3 finite numbers"),
    ],
)
def test_bad_loops(close, message):
    with pytest.raises(ss.InputError, match=message):
        close(two_boxes())
