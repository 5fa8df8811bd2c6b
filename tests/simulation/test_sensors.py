"""Sensors against MuJoCo's sensordata, and from every method."""

import mujoco
import numpy as np
import pytest

import stickslip as ss
from stickslip.model.sensors import NOT_READ
from stickslip.simulation.sensors import READERS

FRAMES = ("framepos", "framequat", "framexaxis", "frameyaxis", "framezaxis", "framelinvel", "frameangvel")
OBJECTS = (("body", "b"), ("xbody", "b"), ("geom", "g2"), ("site", "s2"), ("camera", "cam2"))


def frames() -> str:
    text = ""
    for kind in FRAMES:
        for k, (what, name) in enumerate(OBJECTS):
            other, ref = OBJECTS[(k + 3) % 5][0], ("a", "a", "g", "s", "cam")[(k + 3) % 5]
            text += f'<{kind} objtype="{what}" objname="{name}"/>'
            text += f'<{kind} objtype="{what}" objname="{name}" reftype="{other}" refname="{ref}"/>'
    for what, name in OBJECTS:
        text += f'<framelinacc objtype="{what}" objname="{name}"/><frameangacc objtype="{what}" objname="{name}"/>'
    return text


ROBOT = (
    """<mujoco>
  <option magnetic="1 2 3" cone="elliptic"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 .1"/>
    <camera name="cam" pos="0 -3 1" xyaxes="1 0 0 0 0 1" resolution="100 80"/>
    <body name="a" pos="0 0 {height}" gravcomp=".3"><freejoint name="f"/>
      <geom name="g" type="box" size=".1 .2 .3"/><site name="s" pos=".1 .2 .3" euler="10 20 30"/>
      <site name="down" pos=".02 .05 -.1" euler="180 5 10"/>
      <site name="sole" type="box" pos="0 0 -.3" size=".3 .3 .1"/>
      <body name="b" pos=".3 0 0" euler="0 20 0"><joint name="h" axis="0 1 0" range="-20 30" margin=".2" stiffness="3"/>
        <geom name="g2" type="capsule" size=".05 .2" euler="5 6 7"/><camera name="cam2" pos="0 .1 0" euler="3 4 5"/>
        <body name="c" pos="0 0 .3"><geom name="g3" size=".1"/><site name="s2" euler="40 0 10" size=".2"/>
          <body name="d" pos="0 .2 .1"><joint name="ball" type="ball" range="0 10" margin=".3"/>
            <geom name="g4" type="cylinder" size=".1 .05" pos=".1 0 0"/>
            <site name="s3" pos=".1 0 0" type="capsule" size=".12 .05"/></body></body></body></body>
  </worldbody>
  <actuator><position name="m" joint="h" kp="5" gear="3" forcerange="-1 2"/><motor joint="h" gear="2"/></actuator>
  <sensor>
    <accelerometer name="imu_acc" site="s"/><gyro name="imu_gyro" site="s"/><velocimeter site="s2"/>
    <magnetometer site="s2"/><force name="ft" site="s2"/><torque site="s2"/><force site="s3"/><torque site="s3"/>
    <force site="s"/><torque site="s"/><touch name="sole" site="sole"/><touch site="s2"/>
    <rangefinder site="s"/><rangefinder site="s3"/><rangefinder site="down"/>
    <camprojection site="s2" camera="cam"/><camprojection site="s3" camera="cam2"/>
    <jointpos joint="h"/><jointvel joint="h"/><ballquat joint="ball"/><ballangvel joint="ball"/>
    <jointlimitpos joint="h"/><jointlimitvel joint="h"/><jointlimitpos joint="ball"/><jointlimitvel joint="ball"/>
    <actuatorpos actuator="m"/><actuatorvel actuator="m"/><actuatorfrc actuator="m"/><jointactuatorfrc joint="h"/>
    <subtreecom body="b"/><subtreelinvel body="b"/><subtreeangmom body="b"/><subtreeangmom body="a"/>
    <insidesite site="s2" objtype="body" objname="c"/><insidesite site="s3" objtype="site" objname="s"/>
    <distance geom1="g" geom2="g3" cutoff="2"/><normal geom1="g" geom2="g3" cutoff="2"/>
    <fromto geom1="g" geom2="g4" cutoff="2"/><distance body1="a" body2="d" cutoff=".01"/>
    <e_potential/><e_kinetic/><clock/>
    <jointvel name="clipped" joint="h" cutoff=".1"/><rangefinder name="near" site="down" cutoff=".1"/>
    """
    + frames()
    + "{more}</sensor></mujoco>"
)


def simulation(method="mujoco", height=2.0, more="", **options):
    return ss.Simulation(ss.Scene.from_xml(ROBOT.format(height=height, more=more)), method, **options)


def truth(sim) -> dict[str, np.ndarray]:
    """MuJoCo's own, at the simulation's state."""
    mj = sim.stepper.mj
    data = mujoco.MjData(mj)
    data.qpos[:], data.qvel[:], data.ctrl[:], data.time = sim.state.q, sim.state.v, sim.control, sim.time
    data.qacc_warmstart[:] = sim.stepper.data.qacc_warmstart
    mujoco.mj_forward(mj, data)
    return {mj.sensor(i).name: data.sensor(i).data.copy() for i in range(mj.nsensor)}


def test_every_type_is_read_or_named_as_not_read():
    kinds = {name.partition("_")[2].lower() for name in mujoco.mjtSensor.__members__}
    assert set(READERS) | set(NOT_READ) == kinds
    assert not set(READERS) & set(NOT_READ)


@pytest.mark.filterwarnings("ignore::stickslip.errors.StartWarning")
@pytest.mark.parametrize("height", [2.0, 0.3])
def test_they_are_mujoco_s(height):
    """In flight, and standing on the floor."""
    sim, rng = simulation(height=height), np.random.default_rng(3)
    sim.set_control([0.3, 0.2])
    q = sim.dynamics.integrate(sim.state.q, 0.2 * rng.normal(size=sim.model.nv)) if height > 1.0 else sim.state.q
    sim.set_state(q, rng.normal(size=sim.model.nv) if height > 1.0 else None)
    for _ in range(4):
        expected = truth(sim)
        assert set(sim.sensors) == set(expected)
        for name, values in expected.items():
            found, accuracy = sim.sensor(name), 1e-9
            if name.startswith("geomfromto"):  # along flat sides the nearest points are known to the root of that
                ends = (np.linalg.norm(each[3:] - each[:3]) for each in (found, values))
                np.testing.assert_allclose(*ends, rtol=1e-9, atol=1e-9, err_msg=name)
                accuracy = 2e-6
            np.testing.assert_allclose(found, values, rtol=1e-9, atol=accuracy, err_msg=name)
        sim.step(10)
    assert (expected["sole"] > 1.0) == (height < 1.0)


@pytest.mark.filterwarnings("ignore::stickslip.errors.StickslipWarning")
@pytest.mark.parametrize("method", ["semi-implicit-euler", "coulomb/pgs", "variational"])
def test_an_instrument_at_rest_feels_its_weight_by_every_method(method, tmp_path):
    """A box on the floor: the accelerometer reads g, the touch sensor and the force sensor carry the weight."""
    xml = """<mujoco><worldbody><geom type="plane" size="5 5 .1"/>
      <body name="a" pos="0 0 .0999"><freejoint/><geom type="box" size=".1 .1 .1" mass="2"/>
        <site name="imu"/><site name="sole" type="box" size=".2 .2 .2"/>
        <body name="top" pos="0 0 .2"><joint name="j" type="slide" stiffness="1e4" damping="100"/>
        <geom size=".05" mass="1"/><site name="neck"/></body></body></worldbody>
      <sensor><accelerometer name="acc" site="imu"/><touch name="sole" site="sole"/><force name="neck" site="neck"/>
      <clock name="t"/></sensor></mujoco>"""
    sim = ss.Simulation(ss.Scene.from_xml(xml), method, dt=1e-3 if "euler" not in method else 1e-4)
    log = sim.run(1.0, record=tmp_path / "rest.h5", record_dt=0.1)
    np.testing.assert_allclose(sim.sensor("acc"), (0, 0, 9.81), atol=2e-2)
    np.testing.assert_allclose(sim.sensor("sole"), 3 * 9.81, rtol=2e-3)
    np.testing.assert_allclose(sim.sensor("neck"), (0, 0, 9.81), atol=2e-2)
    assert log.names.sensors == sim.sensors == ("acc", "sole", "neck", "t")
    np.testing.assert_allclose(log.sensor("acc")[-1], sim.sensor("acc"))
    np.testing.assert_allclose(log.sensor("t")[:, 0], log.time)
    with pytest.raises(ss.InputError, match="unknown sensor 'sol': did you mean 'sole'"):
        log.sensor("sol")
    with pytest.raises(ss.InputError, match="unknown sensor 'sol': did you mean 'sole'"):
        sim.sensor("sol")


def test_what_is_not_read_or_not_simulated_is_in_the_notes():
    more = '<user name="mine" dim="2"/><jointpos name="noisy" joint="h" noise="1"/>'
    scene = ss.Scene.from_xml(ROBOT.format(height=1.0, more=more))
    assert "not read: user sensor 'mine' (callbacks of MuJoCo's own)" in scene.notes
    assert "not simulated: noise of sensor 'noisy'" in scene.notes
    names = ss.Simulation(scene).sensors
    assert "mine" not in names
    assert "noisy" in names
    assert set(names) == set(ss.Simulation(ss.Scene.from_xml(scene.to_xml())).sensors)


FIELDS = "found force torque dist pos normal tangent linvel angvel"
MECHANISMS = f"""<mujoco><worldbody>
  <geom name="floor" type="plane" size="2 2 .1"/>
  <geom name="sky" type="sphere" size="50" contype="0" conaffinity="0" rgba="1 1 1 .3"/>
  <body name="b" pos="0 0 .0995"><freejoint/><geom name="g" type="box" size=".1 .1 .1" mass="1"/>
    <site name="s" pos="0 0 -.1" size=".2"/><site name="corner" pos=".1 .1 -.1" size=".02"/></body>
  <body name="c" pos=".5 0 .0995"><freejoint/><geom name="h" type="sphere" size=".1" mass="1" condim="6"/></body>
  <body name="eyes" pos="0 0 3"><site name="ray" quat="0 1 0 0"/><camera name="cam" resolution="3 2" fovy="50"/>
    <camera name="flat" euler="5 3 0" resolution="3 2" fovy="1.3" projection="orthographic"/>
    <camera name="tilted" pos="1 -2 .5" xyaxes="1 0 0 0 .3 1" resolution="4 3"/></body>
  <site name="anchor" pos="3 0 1.5"/>
  <body name="arm" pos="3 0 1"><joint name="j1" axis="0 1 0" range="-30 20"/><site name="root"/>
    <geom type="capsule" fromto="0 0 0 .3 0 0" size=".02" mass="1"/>
    <body name="fore" pos=".3 0 0"><joint name="j2" axis="0 .8 .6" range="-20 10" margin=".05"/>
      <geom type="capsule" fromto="0 0 0 .3 0 0" size=".02" mass=".7"/>
      <site name="tip" pos=".3 0 0"/><site name="wrist" euler="10 20 30"/></body></body>
  <body name="w1" pos="5 0 1"><joint axis="0 1 0"/><joint axis="1 0 0"/><site name="l1" pos=".1 0 0"/>
    <geom type="capsule" fromto="0 0 0 .3 .1 0" size=".02" mass="1"/>
    <body name="w2" pos=".3 .1 0"><joint axis="0 1 0"/><joint axis="0 0 1"/><joint axis="1 0 0"/>
      <geom type="capsule" fromto="0 0 0 .3 0 .1" size=".02" mass="1"/><site name="l2" euler="20 30 10"/>
      <body name="w3" pos=".3 0 .1"><geom type="box" size=".05 .05 .02" mass=".3" contype="0" conaffinity="0"/>
        <site name="l3"/></body></body></body></worldbody>
  <tendon><spatial name="t" range=".2 .55" stiffness="20" damping="1"><site site="anchor"/><site site="tip"/></spatial>
    <fixed name="f" range="-9 9"><joint joint="j1" coef="1"/><joint joint="j2" coef="-2"/></fixed></tendon>
  <actuator><motor tendon="t" gear="2"/><position tendon="t" kp="3"/></actuator>
  <equality><connect name="pin" body1="w3" body2="world" anchor=".1 0 0"/></equality>
  <sensor>
    <contact geom1="g" geom2="floor" num="3" data="{FIELDS}"/><contact geom1="floor" geom2="g" num="5" data="{FIELDS}"/>
    <contact body1="b" num="2" data="found force dist" reduce="mindist"/>
    <contact body1="b" num="2" data="found force" reduce="maxforce"/><contact num="6" data="found dist pos"/>
    <contact body1="b" data="found force torque dist pos normal tangent" reduce="netforce"/>
    <contact site="s" num="6" data="found dist"/><contact site="corner" num="6" data="found pos"/>
    <contact subtree1="b" body2="world" data="found normal"/><contact geom2="h" data="found normal"/>
    <contact geom1="h" data="{FIELDS}"/>
    <rangefinder site="ray" data="dist dir origin point normal depth"/><rangefinder camera="cam" data="dist normal"/>
    <rangefinder camera="flat" data="dist origin depth"/>
    <rangefinder camera="tilted" data="dist dir origin point normal depth"/>
    <tendonpos tendon="t"/><tendonvel tendon="t"/><tendonactuatorfrc tendon="t"/><tendonpos tendon="f"/>
    <tendonlimitpos tendon="t"/><tendonlimitvel tendon="t"/><tendonlimitfrc name="taut" tendon="t"/>
    <tendonlimitfrc tendon="f"/><jointlimitfrc name="stop" joint="j1"/><jointlimitfrc joint="j2"/>
    <force site="l1"/><torque site="l1"/><force site="l2"/><torque site="l2"/><force name="pin" site="l3"/>
    <torque site="l3"/><force site="root"/><torque site="wrist"/>
  </sensor></mujoco>"""


def test_contacts_cameras_tendons_limits_and_loops_are_mujoco_s():
    sim = ss.Simulation(ss.Scene.from_xml(MECHANISMS), "mujoco", dt=1e-3)
    sim.set_control([0.7, 0.5])
    sim.set_state(v=0.3 * np.random.default_rng(0).normal(size=sim.model.nv))
    seen = {"taut": 0.0, "stop": 0.0, "pin": 0.0}
    for _ in range(5):
        expected = truth(sim)
        for name, values in expected.items():
            np.testing.assert_allclose(sim.sensor(name), values, rtol=1e-9, atol=1e-9, err_msg=name)
        seen = {name: max(most, float(np.abs(expected[name]).max())) for name, most in seen.items()}
        sim.step(100)
    assert min(seen.values()) > 1.0


def test_a_tactile_mesh_is_mujoco_s():
    xml = """<mujoco><asset><mesh name="pad" builtin="plate" params="5 5" scale=".03 .03 1"/></asset><worldbody>
      <body name="p"><geom name="pad" type="box" size=".03 .03 .005" mass="1"/></body>
      <body name="b" pos="0 0 .014"><freejoint/><geom name="ball" size=".01" mass=".1"/></body></worldbody>
      <sensor><tactile name="skin" geom="pad" mesh="pad"/></sensor></mujoco>"""
    sim = ss.Simulation(ss.Scene.from_xml(xml), "mujoco", dt=1e-3)
    np.testing.assert_allclose(sim.sensor("skin"), truth(sim)["skin"], atol=1e-12)


@pytest.mark.filterwarnings("ignore::stickslip.errors.StickslipWarning")
@pytest.mark.parametrize("method", ["semi-implicit-euler", "coulomb/pgs", "mujoco"])
def test_a_joint_at_its_limit_carries_the_weight_by_every_method(method):
    """A slide that rests on its lower limit, and a box whose contact list sums up to its weight; from Python."""
    scene = ss.Scene()
    scene.add_plane(name="floor")
    scene.add_box((0.2, 0.2, 0.2), pos=(0, 0, 0.0999), mass=2.0, name="box")
    load = scene.add_body("load", joint="slide", pos=(1, 0, 1), range=(-0.01, 1.0))
    load.add_sphere(0.05, mass=1.0, collide=False)
    scene.add_sensor("jointlimitfrc", joint="load", name="limit")
    scene.add_sensor("contact", body="box", other="floor", data=("found", "force"), reduce="netforce", name="feet")
    scene.add_sensor("framepos", body="load", other="box", name="apart")
    scene = ss.Scene.from_xml(scene.to_xml())
    sim = ss.Simulation(scene, method, dt=1e-4 if method[0] == "s" else 1e-3)
    sim.step(round(0.5 / sim.dt))
    np.testing.assert_allclose(sim.sensor("limit"), 9.81, rtol=1e-2)
    np.testing.assert_allclose(sim.sensor("feet"), (4, 0, 0, -2 * 9.81), atol=2e-2)
    np.testing.assert_allclose(sim.sensor("apart"), (1, 0, 0.89), atol=5e-3)
