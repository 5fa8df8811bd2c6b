"""Moving surfaces and actuators on bodies against MuJoCo; mocap bodies in files, snapshots, recordings; bad input."""

import mujoco
import numpy as np
import pytest

import stickslip as ss
from stickslip.collision.contacts import ADHESION

SCENE = """<mujoco><worldbody>
<geom name="belt" type="box" size="2 2 .1" pos="0 0 -.1" euler="0 0 30" surfacevel="1 .2 .3 .4 .5 .6"/>
<body name="b" pos="0.3 0.1 0.0999" euler="3 2 10"><freejoint/>
<geom type="box" size=".1 .1 .1" mass="1" surfacevel=".1 -.2 .3 -.4 .5 -.6" adhesion="3"/>
<geom type="sphere" pos=".5 0 0" size=".11" mass="1"/></body></worldbody>
<actuator><adhesion name="pull" body="b" gain="10" ctrlrange="0 1"/></actuator></mujoco>"""


def test_surface_velocities_and_pulls_are_those_of_mujoco(tmp_path):
    (tmp_path / "scene.xml").write_text(SCENE)
    sim = ss.Simulation(ss.Scene.from_file(tmp_path / "scene.xml"), "coulomb", dt=1e-3)
    sim.set_control([0.7])
    sim.outside.begin(sim.state, sim.dt, sim.control)
    sim.observe()
    mj = mujoco.MjModel.from_xml_string(SCENE)
    d = mujoco.MjData(mj)
    d.ctrl[:] = 0.7
    mujoco.mj_forward(mj, d)
    c = sim.contacts.arrays
    ours = np.flatnonzero(c.gap[: len(sim.contacts)] < 0.0)
    assert len(ours) == d.ncon == 3
    force = np.zeros(6)
    for k in ours:
        contact = min(d.contact, key=lambda x, k=k: np.linalg.norm(x.pos - c.point[k]))
        axes = contact.frame.reshape(3, 3)
        sign = 1.0 if mj.geom_bodyid[contact.geom[1]] == 1 else -1.0
        wanted = sign * (contact.surfacevel[0] * axes[1] + contact.surfacevel[1] * axes[2])
        assert np.abs(c.axes[k].T @ c.surface[k, :3] - wanted).max() < 2.0 * abs(c.gap[k])  # MuJoCo's point is midway
        assert c.surface[k, 3] == pytest.approx(contact.surfacevel[2], abs=1e-9)
        pull = -(c.material[k, ADHESION] - contact.adhesion) * c.axes[k, 0]
        force[:3] += pull
        force[3:] += np.cross(c.point[k] - d.xpos[1], pull)
    R = d.xmat[1].reshape(3, 3)
    assert np.abs(force[:3] - d.qfrc_actuator[:3]).max() < 1e-9
    assert np.abs(R.T @ force[3:] - d.qfrc_actuator[3:]).max() < 1e-4


def lift():
    scene = ss.Scene()
    scene.add_box((1, 1, 0.2), pos=(0, 0, -0.1), mocap=True, name="lift", surface_velocity=(0, 0.1, 0))
    scene.add_box((0.2, 0.2, 0.2), pos=(0, 0, 0.1), mass=1.0, name="box")
    scene.add_adhesion("magnet", "box", 5.0)
    return scene


def test_files_keep_what_is_moved_from_outside(tmp_path):
    lift().save(tmp_path / "lift.xml")
    model = ss.Scene.from_file(tmp_path / "lift.xml").compile()
    assert model.mocap_names == ("lift",)
    assert len(model.outside) == 3
    assert model.shapes[0].surface_velocity[1] == 0.1
    assert model.fingerprint == lift().compile().fingerprint
    child = '<body name="c"><joint/><geom size=".1"/></body>'
    xml = f'<mujoco><worldbody><body name="m" mocap="true">{child}</body></worldbody></mujoco>'
    (tmp_path / "joint.xml").write_text(xml)
    with pytest.raises(ss.StickslipError, match=r"mocap joints.*body 'c'"):
        ss.Scene.from_file(tmp_path / "joint.xml")


def test_snapshots_recordings_rays_and_keyframes_know_mocap_bodies(tmp_path):
    model = lift().compile()
    sim, other = ss.Simulation(model, "coulomb", dt=1e-3), ss.Simulation(model, "coulomb", dt=1e-3)
    sim.set_mocap("lift", pos=(0, 0, -0.2), velocity=(0, 0, 0.5), angular_velocity=(0, 0, 1))
    assert other.outside.poses[0, 2] == -0.1
    assert sim.ray((0.4, 0, 1), (0, 0, -1)).distance == pytest.approx(1.1)
    snapshot = sim.snapshot()
    log = sim.run(0.05, record=tmp_path / "run.h5")
    row = log.header.link_names.index("lift")
    assert log.pose[-1, row, 2] == pytest.approx(-0.175)
    assert log.pose[-1, row, 6] == pytest.approx(np.sin(0.025))
    shape = log.header.shapes[0]
    assert shape["link"] == row
    assert np.abs(shape["pos"]).max() < 1e-12
    frame = sim.dynamics.model.frame("lift")
    assert sim.model.frames.pos[frame, 2] == pytest.approx(-0.175)
    first = sim.state.q.copy()
    sim.restore(snapshot)
    sim.step(50)
    assert np.array_equal(sim.state.q, first)
    sim.reset()
    assert sim.outside.poses[0, 2] == -0.1
    assert not sim.outside.velocities.any()
    assert model.shapes[0].pos[2] == -0.1


@pytest.mark.parametrize(
    ("act", "says"),
    [
        (lambda sim: sim.set_mocap("lid", pos=(0, 0, 0)), "mocap body.*lid"),
        (lambda sim: sim.set_mocap("lift", pos=(0, 0)), "pos of 'lift'"),
        (lambda sim: sim.set_mocap("lift", velocity=(0, 0, np.nan)), "velocity of 'lift'"),
        (lambda sim: sim.set_mocap("lift", quat=(2, 0, 0, 0)), "unit length"),
        (lambda sim: sim.prescribe("lift", 3.0), "a function f"),
        (lambda sim: ss.Scene().add_body("m", mocap=True, joint="hinge"), "no joint"),
        (lambda sim: ss.Scene().add_plane(surface_velocity=(1, 2)), "surface_velocity"),
        (lambda sim: ss.Scene().add_plane(adhesion=-1.0), "adhesion"),
        (lambda sim: lift().add_adhesion("m", "nobody", 1.0), "nobody"),
        (lambda sim: lift().add_adhesion("m", "box", -1.0), "max_force"),
        (lambda sim: ss.simulation.capture(sim) if sim.step(1) is None else None, "capture_format='fclib'"),
    ],
)
def test_bad_input_is_named(act, says):
    sim = ss.Simulation(lift(), "coulomb", dt=1e-3)
    with pytest.raises(ss.StickslipError, match=says) as error:
        act(sim)
    assert len(str(error.value)) < 300


def test_gradients_of_moved_contacts_are_refused():
    sim = ss.Simulation(lift(), "variational", dt=1e-3)
    sim.step(1)
    with pytest.raises(ss.StickslipError, match="gradient: expected"):
        sim.stepper.gradient()


def test_loops_at_mocap_bodies_need_joint_coordinates():
    scene = lift()
    scene.weld("lift", "box")
    with pytest.raises(ss.StickslipError, match="mocap bodies"):
        ss.Simulation(scene, "coulomb", dt=1e-3, coordinates="maximal")
