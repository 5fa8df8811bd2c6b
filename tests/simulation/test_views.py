"""sim.body and sim.robot: what they show is MuJoCo's, by name, of every body and site."""

import mujoco
import numpy as np
import pytest

import stickslip as ss
from stickslip.errors import InputError

ARM = """
<mujoco model="arm">
  <worldbody>
    <body name="stand" pos="0.1 0.2 0.3"><geom size="0.05" contype="0" conaffinity="0"/>
      <body name="upper" pos="0 0 0.1">
        <joint name="shoulder" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.02"/>
        <body name="lower" pos="0.3 0 0">
          <joint name="elbow" axis="0 0 1"/><joint name="twist" type="ball" pos="0.1 0 0"/>
          <geom type="box" size="0.1 0.02 0.03" pos="0.1 0 0"/>
          <body name="hand" pos="0.2 0 0.01" euler="30 0 20"><geom size="0.03" pos="0.01 0 0"/>
            <site name="tip" pos="0.05 0 0" euler="0 40 0"/></body>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="shoulder"/><motor name="bend" joint="elbow"/></actuator>
</mujoco>
"""


@pytest.fixture
def arms(tmp_path):
    """Two of the same arm, and a ball before them; velocities that excite everything."""
    (tmp_path / "arm.xml").write_text(ARM)
    scene = ss.Scene()
    scene.add_sphere(0.1, pos=(0, 0, 3), mass=1.0, name="ball")
    first = scene.load(tmp_path / "arm.xml")
    second = scene.load(tmp_path / "arm.xml", name="second", pos=(1, 0, 0))
    sim = ss.Simulation(scene, "rk4", dt=5e-5)
    rng = np.random.default_rng(1)
    q, v = sim.dynamics.integrate(sim.state.q, rng.normal(size=sim.model.nv)), rng.normal(size=sim.model.nv)
    sim.set_state(q, v)
    data = mujoco.MjData(sim.model.mj)
    data.qpos[:], data.qvel[:] = q, v
    mujoco.mj_forward(sim.model.mj, data)
    return sim, data, first, second


@pytest.mark.parametrize("name", ["world", "ball", "stand", "upper", "hand", "tip", "second/lower", "second/tip"])
def test_bodies_are_mujocos(arms, name):
    sim, d, *_ = arms
    m, view = sim.model.mj, sim.body(name)
    kind = mujoco.mjtObj.mjOBJ_SITE if name.endswith("tip") else mujoco.mjtObj.mjOBJ_BODY
    i = mujoco.mj_name2id(m, kind, name)
    site = kind == mujoco.mjtObj.mjOBJ_SITE
    pos, rot = (d.site_xpos[i], d.site_xmat[i]) if site else (d.xpos[i], d.xmat[i])
    twist, J = np.zeros(6), np.zeros((6, m.nv))
    mujoco.mj_objectVelocity(m, d, kind if site else mujoco.mjtObj.mjOBJ_XBODY, i, twist, 0)
    (mujoco.mj_jacSite if site else mujoco.mj_jacBody)(m, d, J[:3], J[3:], i)
    assert np.allclose(view.pos, pos, atol=1e-12)
    assert np.allclose(view.rotation, rot.reshape(3, 3), atol=1e-12)
    quat = np.zeros(4)
    mujoco.mju_mat2Quat(quat, rot)
    assert np.allclose(np.abs(view.quat @ quat), 1.0, atol=1e-12)
    assert np.allclose(view.pose, [*view.pos, *view.quat])
    assert np.allclose(view.velocity, twist[3:], atol=1e-12)
    assert np.allclose(view.angular_velocity, twist[:3], atol=1e-12)
    assert np.allclose(view.jacobian(), J, atol=1e-12)
    point = pos + np.array([0.1, -0.2, 0.3])
    mujoco.mj_jac(m, d, J[:3], J[3:], point, m.site_bodyid[i] if site else i)
    assert np.allclose(view.jacobian(point), J, atol=1e-12)
    assert view.mass == pytest.approx(0.0 if site else m.body_mass[i])
    assert np.allclose(view.center_of_mass, pos if site else d.xipos[i], atol=1e-12)


@pytest.mark.parametrize("method", ["rk4", "coulomb", "mujoco"])
def test_accelerations_are_those_of_the_motion(arms, method):
    """At the start they are MuJoCo's; after a step they lead from its beginning to its end."""
    sim, d, *_ = arms
    q, v = sim.state.q.copy(), sim.state.v.copy()
    sim = ss.Simulation(sim.model, method, dt=1e-5)
    sim.set_state(q, v)
    for name in ("ball", "second/lower", "stand"):
        kind, out = mujoco.mjtObj.mjOBJ_XBODY, np.zeros(6)
        mujoco.mj_rnePostConstraint(sim.model.mj, d)
        mujoco.mj_objectAcceleration(sim.model.mj, d, kind, sim.model.mj.body(name).id, out, 0)
        wanted = out[3:] + sim.model.inertia.gravity if name != "stand" else np.zeros(3)
        assert np.allclose(sim.body(name).acceleration, wanted, atol=1e-6)
        assert np.allclose(sim.body(name).angular_acceleration, out[:3], atol=1e-6)
    before = sim.body("hand").velocity
    sim.step()
    assert np.allclose(
        sim.body("hand").acceleration, (sim.body("hand").velocity - before) / sim.dt, rtol=1e-3, atol=1e-3
    )


def test_robots_are_parts_of_the_model(arms):
    sim, _, first, second = arms
    M, names = sim.dynamics.crba(sim.state.q), sim.model.joint_names
    for robot, prefix, dofs in ((sim.robot(first), "", range(6, 11)), (sim.robot("second"), "second/", range(11, 16))):
        assert robot.joints == tuple(prefix + name for name in ("shoulder", "elbow", "twist"))
        assert robot.actuators[1] == prefix + "bend"
        assert [*robot.dofs] == [*dofs]
        assert np.array_equal(robot.v, sim.state.v[robot.dofs])
        assert np.array_equal(robot.q[:1], sim.state.q[sim.model.tree.joint_q[names.index(robot.joints[0])]][None])
        assert len(robot.q) == 6
        assert np.array_equal(robot.mass_matrix, M[np.ix_(dofs, dofs)])
        assert np.array_equal(robot.bias, sim.dynamics.bias(sim.state.q, sim.state.v)[robot.dofs])
        assert np.array_equal(robot.jacobian(prefix + "tip"), sim.body(prefix + "tip").jacobian()[:, robot.dofs])
    assert repr(sim.robot(second)) == "<robot 'second': 3 joints, 2 actuators, t = 0 s>"


def test_robots_can_be_set(arms):
    sim, *_ = arms
    robot, rest = sim.robot("second"), sim.state.q.copy()
    robot.control = (1.0, 2.0)
    assert [*sim.control] == [0.0, 0.0, 1.0, 2.0]
    robot.q, robot.v = (0.1, 0.2, 1, 0, 0, 0), np.arange(5.0)
    assert np.array_equal(sim.robot("arm").q, rest[sim.robot("arm").coordinates])
    assert [*robot.q] == [0.1, 0.2, 1, 0, 0, 0]
    assert [*robot.v] == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="read-only"):
        robot.control[:] = 0.0
    with pytest.raises(InputError, match="control of 'second': expected 2 finite numbers"):
        robot.control = (1, 2, 3)


def test_the_velocity_of_a_mocap_body():
    scene = ss.Scene()
    scene.add_body("hand", mocap=True, pos=(1, 0, 0)).add_frame("finger", pos=(0.5, 0, 0))
    scene.add_sphere(0.1, pos=(0, 0, 3), mass=1.0)
    sim = ss.Simulation(scene, "semi-implicit-euler", dt=1e-3)
    sim.set_mocap("hand", velocity=(0, 0, 2), angular_velocity=(0, 0, 3))
    assert np.allclose(sim.body("finger").velocity, (0, 1.5, 2))
    assert np.allclose(sim.body("hand").angular_velocity, (0, 0, 3))
    sim.step(100)
    assert np.allclose(sim.body("hand").pos, (1, 0, 0.2))


def test_unknown_names(arms):
    sim, *_ = arms
    with pytest.raises(InputError, match=r"unknown .*'uper': did you mean 'upper'"):
        sim.body("uper")
    with pytest.raises(InputError, match="unknown robot 'secnd': did you mean 'second'"):
        sim.robot("secnd")
    with pytest.raises(InputError, match="robot: expected its name"):
        sim.robot(3)
    stranger = ss.Scene().add_robot("solo12")
    with pytest.raises(InputError, match=r"robot 'solo12': its joint .* is not in this model"):
        sim.robot(stranger)


def test_joints_by_name(arms):
    sim, *_ = arms
    mj = sim.model.mj
    for j, name in enumerate(sim.model.joint_names):
        joint, first = sim.joint(name), mj.jnt_qposadr[j]
        q = np.atleast_1d(joint.q)
        assert np.array_equal(q, sim.state.q[first : first + len(q)])
        assert np.array_equal(np.atleast_1d(joint.v), sim.state.v[joint.dofs])
        assert joint.range == (-np.inf, np.inf)
    before = sim.state.q.copy()
    sim.joint("second/elbow").q, sim.joint("second/elbow").v = 0.25, -1.5
    assert sim.joint("second/elbow").q == 0.25
    assert sim.joint("second/elbow").v == -1.5
    assert np.count_nonzero(sim.state.q != before) == 1
    with pytest.raises(InputError, match="elbow"):
        sim.joint("elbw")
    with pytest.raises(InputError, match="4 finite numbers"):
        sim.joint("twist").q = 0.1
    scene = ss.Scene()
    scene.add_body("door", joint="hinge", axis=(0, 0, 1), range=(-0.5, 1.5)).add_box((1, 0.1, 2), mass=3.0)
    door = ss.Simulation(scene, "semi-implicit-euler", dt=1e-3)
    assert door.joint("door").range == pytest.approx((-0.5, 1.5))
    assert door.model.mass == pytest.approx(3.0)
