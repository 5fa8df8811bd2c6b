"""Single kernels against definitions, closed forms and MuJoCo."""

from pathlib import Path

import mujoco
import numpy as np
import pytest
from random_trees import build, random_contacts, random_state, unit
from scipy.spatial.transform import Rotation

from stickslip.dynamics import Dynamics, configuration, factor
from stickslip.dynamics.joint_forces import spring_and_limit_forces
from stickslip.math import quaternion
from stickslip.model.model import compile_model

ROBOTS = Path(__file__).resolve().parents[2] / "src" / "stickslip" / "model" / "robots"
EPS = np.finfo(float).eps
TREES = {
    "one hinge": (((-1, ("hinge",)),), 1),
    "branches": (((-1, ("free",)), (0, ("ball",)), (0, ("hinge", "hinge")), (2, ("slide",)), (-1, ("hinge",))), 2),
    "chain": (tuple((i - 1, ("hinge",)) for i in range(12)), 3),
}


def robot(name):
    return compile_model(mujoco.MjModel.from_xml_path(str(ROBOTS / f"{name}.xml")))


def assert_close(ours, theirs, rtol=1e-12):
    """Agreement to a fraction of the largest entry."""
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=rtol * max(np.abs(theirs).max(initial=0.0), 1e-3))


# -- the sparse factor -------------------------------------------------------------------------------------------------


@pytest.fixture(params=["romeo", *TREES])
def model(request):
    return build(TREES[request.param]) if request.param in TREES else robot(request.param)


def unpacked(support, packed):
    """Dense lower triangle."""
    lower = np.zeros((len(support.dof_link),) * 2)
    for d in range(len(lower)):
        row = slice(support.start[d], support.start[d + 1])
        lower[d, support.column[row]] = packed[row]
    return lower


def test_packed_factor_reproduces_the_mass_matrix(model):
    dyn = Dynamics(model)
    q, v = random_state(model, np.random.default_rng(0))
    dyn.solve(q, v)
    L = unpacked(model.support, dyn.data.mass.L)
    D = np.diag(L).copy()
    np.fill_diagonal(L, 1.0)
    assert np.all(D > 0.0)
    assert_close(L.T @ np.diag(D) @ L, dyn.crba(q))


def test_half_solves_and_product(model):
    dyn = Dynamics(model)
    q, x = random_state(model, np.random.default_rng(1))
    expected = np.linalg.solve(dyn.crba(q), x)
    dyn.solve(q, x)
    support, mass = model.support, dyn.data.mass
    L = unpacked(support, mass.L)
    np.fill_diagonal(L, 1.0)
    y, z, product = x.copy(), x.copy(), np.empty_like(x)
    factor.solve_l(support, mass.L, y)
    factor.solve_lt(support, mass.L, z)
    factor.multiply(support, mass.M, expected, product)
    assert_close(L @ y, x)
    assert_close(L.T @ z, x)
    assert_close(product, x, 1e-10)


def test_support_stores_exactly_the_paths_to_the_root(model):
    support, parent = model.support, model.mj.dof_parentid
    for d in range(model.nv):
        path = [d]
        while parent[path[-1]] >= 0:
            path.append(parent[path[-1]])
        assert support.column[support.start[d] : support.start[d + 1]].tolist() == path
    assert len(support.column) == support.start[-1]


def test_chain_and_star_have_the_expected_number_of_entries():
    chain = build((tuple((i - 1, ("hinge",)) for i in range(20)), 0))
    assert len(chain.support.column) == 20 * 21 // 2
    star = build((tuple((-1 if i % 3 == 0 else i - 1, ("hinge",)) for i in range(30)), 0))
    assert len(star.support.column) == 10 * (1 + 2 + 3)


# -- quaternions -------------------------------------------------------------------------------------------------------

ANGLES = [0.0, 1e-300, 1e-12, 1e-9, 9.999e-5, 1.0001e-4, 1e-3, 0.5, 3.0, np.pi - 1e-9, np.pi]


@pytest.mark.parametrize("angle", ANGLES)
def test_exponential_and_logarithm(angle):
    axis = unit(np.random.default_rng(2), 3)
    q = np.array(quaternion.exponential(*(angle * axis)))
    half = np.longdouble(angle) / 2
    np.testing.assert_allclose(q, [np.cos(half), *(np.sin(half) * axis)], rtol=4 * EPS, atol=2 * EPS)
    back = np.array(quaternion.logarithm(*q))
    if abs(angle - np.pi) < 1e-12 and back @ axis < 0.0:  # half a turn either way is the same rotation
        back = -back
    np.testing.assert_allclose(back, angle * axis, rtol=1e-14, atol=0)


def test_logarithm_takes_the_shorter_way():
    for angle in (3.2, 5.0, 6.2):
        back = np.array(quaternion.logarithm(*quaternion.exponential(0.0, angle, 0.0)))
        np.testing.assert_allclose(back, [0.0, angle - 2 * np.pi, 0.0], rtol=1e-14)


@pytest.mark.parametrize("angle", ANGLES)
def test_matrix_round_trips(angle):
    rng = np.random.default_rng(3)
    for axis in [*np.eye(3), *-np.eye(3), *(unit(rng, 3) for _ in range(20))]:
        q = np.array(quaternion.exponential(*(angle * axis)))
        matrix = np.array(quaternion.to_matrix(*q))
        np.testing.assert_allclose(matrix.reshape(3, 3), Rotation.from_rotvec(angle * axis).as_matrix(), atol=4 * EPS)
        np.testing.assert_allclose(quaternion.axis_angle_matrix(*axis, angle), matrix, atol=4 * EPS)
        back = np.array(quaternion.from_matrix(*matrix))
        np.testing.assert_allclose(back * np.sign(back @ q), q, atol=8 * EPS)
        assert back[0] >= 0.0


def test_norm_drift_before_normalisation_is_round_off():
    """One product leaves the unit sphere by round-off only, and 10⁵ of them add up no faster than round-off does."""
    rng = np.random.default_rng(4)
    model = build((((-1, ("ball",)),), 0))
    q = unit(rng, 4)
    free, spins, worst = tuple(q), rng.normal(size=(100, 3)), 0.0
    for step in range(100_000):
        spin = spins[step % 100]
        turn = quaternion.exponential(*(0.01 * spin))
        worst = max(worst, abs(sum(x * x for x in quaternion.multiply(*q, *turn)) - 1.0))
        configuration.integrate(model.tree, q, spin, 0.01, q)
        free = quaternion.multiply(*free, *turn)
    assert worst <= 8 * EPS
    assert abs(np.linalg.norm(q) - 1.0) <= 2 * EPS
    assert abs(np.linalg.norm(free) - 1.0) <= 100_000 * EPS
    assert_close(free, q, 1e-10)


# -- far from the origin -----------------------------------------------------------------------------------------------


def test_floating_robot_ten_kilometres_away():
    model = robot("solo12")
    dyn, rng = Dynamics(model), np.random.default_rng(5)
    q, v = random_state(model, rng)
    tau, external = rng.normal(size=model.nv), rng.normal(size=(model.nlink, 6))
    link1, link2, point, axes = random_contacts(model, rng, 6)
    away = np.array([1e4, -1e4, 1e3])
    far = q.copy()
    far[:3] += away
    assert_close(dyn.aba(far, v, tau, external), dyn.aba(q, v, tau, external), 1e-9)
    assert_close(dyn.rnea(far, v, tau, external), dyn.rnea(q, v, tau, external), 1e-9)
    assert_close(dyn.delassus(far, link1, link2, point + away, axes), dyn.delassus(q, link1, link2, point, axes), 1e-9)


def test_fixed_robot_ten_kilometres_away():
    def arm(x):
        links = "".join(
            f'<body pos="{x if i == 0 else 0.3} 0 0"><joint axis="0 {i % 2} {1 - i % 2}"/>'
            '<geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.05"/>'
            for i in range(6)
        )
        text = f"<mujoco><worldbody>{links}{'</body>' * 6}</worldbody></mujoco>"
        return Dynamics(compile_model(mujoco.MjModel.from_xml_string(text)))

    rng = np.random.default_rng(6)
    q, v, tau = rng.normal(size=(3, 6))
    assert_close(arm(1e4).aba(q, v, tau), arm(0.0).aba(q, v, tau), 1e-9)


# -- forces in the joints ----------------------------------------------------------------------------------------------

SPRINGS = """
<mujoco><compiler angle="radian"/><option gravity="1 2 -9"/>
  <worldbody>
    <body><joint type="free" stiffness="3"/><geom size="0.1"/>
      <body pos="0.3 0 0"><joint type="ball" stiffness="5"/><geom size="0.1"/>
        <body pos="0.3 0 0"><joint type="hinge" axis="0 1 0" stiffness="7" ref="0.2" springref="0.5"/><geom size="0.1"/>
          <body><joint type="slide" axis="1 0 0" stiffness="11" ref="-0.1" springref="0.3"/><geom size="0.1"/></body>
        </body></body></body>
  </worldbody>
</mujoco>"""


def test_springs_are_mujocos():
    model = compile_model(mujoco.MjModel.from_xml_string(SPRINGS))
    data, rng = mujoco.MjData(model.mj), np.random.default_rng(7)
    model.mj.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY)
    model.mj.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    for _ in range(10):
        q, v = random_state(model, rng)
        data.qpos, data.qvel = q, v
        mujoco.mj_forward(model.mj, data)
        tau = np.ones(model.nv)  # forces are added to what is there
        spring_and_limit_forces(model.tree, model.joint_forces, q, v, tau)
        assert_close(tau - 1.0, data.qfrc_passive)
        energy = Dynamics(model).energy(q, v)
        assert_close(energy.potential + energy.elastic, data.energy[0])


ACTUATORS = """
<mujoco><compiler angle="radian"/>
  <worldbody>
    <body><joint name="h" axis="0 1 0" ref="0.3"/><geom size="0.1"/>
      <body pos="0.3 0 0"><joint name="s" type="slide" axis="1 0 0"/><geom size="0.1"/></body></body>
  </worldbody>
  <actuator>
    <motor joint="h" gear="2.5"/>
    <motor joint="s" gear="-3" ctrlrange="-0.5 0.8" ctrllimited="true"/>
    <position joint="h" kp="20" kv="1.5" gear="2"/>
    <velocity joint="s" kv="4" forcerange="-1 2" forcelimited="true"/>
    <general joint="h" gainprm="3" biastype="affine" biasprm="0.7 -2 -0.4" gear="-1.5"
             ctrlrange="-1 1" ctrllimited="true" forcerange="-4 4" forcelimited="true"/>
  </actuator>
</mujoco>"""


def test_actuators_are_mujocos_and_follow_the_formula():
    model = compile_model(mujoco.MjModel.from_xml_string(ACTUATORS))
    data, rng = mujoco.MjData(model.mj), np.random.default_rng(8)
    for _ in range(50):
        q, v = random_state(model, rng)
        u = 2.0 * rng.normal(size=model.nu)
        data.qpos, data.qvel, data.ctrl = q, v, u
        mujoco.mj_forward(model.mj, data)
        tau = Dynamics(model).actuator_forces(q, v, u)[1]
        assert_close(tau, data.qfrc_actuator)
        h = 2.5 * u[0] + 2 * (20 * u[2] - 20 * 2 * q[0] - 1.5 * 2 * v[0])
        h += -1.5 * np.clip(3 * np.clip(u[4], -1, 1) + 0.7 + 1.5 * (2 * q[0] + 0.4 * v[0]), -4, 4)
        s = -3 * np.clip(u[1], -0.5, 0.8) + np.clip(4 * (u[3] - v[1]), -1, 2)
        assert_close(tau, [h, s])


LIMITS = """
<mujoco><compiler angle="radian"/>
  <worldbody>
    <body><joint type="{kind}" axis="0 1 0" range="{range}" limited="true"/><geom size="0.1"/></body>
  </worldbody>
</mujoco>"""


def limit_force(kind, limits, q, v):
    """The force of a limit with K = 100 and B = 10."""
    text = LIMITS.format(kind=kind, range=limits)
    model = compile_model(mujoco.MjModel.from_xml_string(text))
    passive = model.joint_forces._replace(limit_stiffness=np.array([100.0]), limit_damping=np.array([10.0]))
    tau = np.zeros(model.nv)
    spring_and_limit_forces(model.tree, passive, np.array(q, dtype=float), np.array(v, dtype=float), tau)
    return tau


@pytest.mark.parametrize("kind", ["hinge", "slide"])
@pytest.mark.parametrize(
    ("q", "v", "force"),
    [
        (0.5, 3.0, 0.0),  # inside the range, however fast
        (1.2, 0.0, -20.0),
        (1.2, 1.0, -30.0),
        (1.2, -1.0, -10.0),
        (1.2, -5.0, 0.0),  # leaving so fast that the damper alone would hold it back: a limit never pulls
        (-0.6, 0.0, 10.0),
        (-0.6, -1.0, 20.0),
        (-0.6, 5.0, 0.0),
    ],
)
def test_limits_of_single_joints(kind, q, v, force):
    np.testing.assert_allclose(limit_force(kind, "-0.5 1", [q], [v]), [force], atol=1e-12)


def test_limits_of_ball_joints():
    axis = np.array([0.6, 0.0, 0.8])
    for angle, rate, push in [(0.8, 3.0, 0.0), (1.3, 0.0, 30.0), (1.3, 1.0, 40.0), (1.3, -9.0, 0.0)]:
        sideways = np.array([0.0, 2.0, 0.0])  # at right angles to the axis: no damping there
        q = quaternion.exponential(*(angle * axis))
        force = limit_force("ball", "0 1", q, rate * axis + sideways)
        np.testing.assert_allclose(force, -push * axis, atol=1e-12)
