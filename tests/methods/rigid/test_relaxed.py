"""The relaxed formulation: R and b from the material or from MuJoCo's solref and solimp."""

import mujoco
import numpy as np
import pytest
from test_formulations import random_matrices

import stickslip as ss
from stickslip.errors import InputError, NotHonouredWarning
from stickslip.methods.rigid.formulations.registry import make_formulation
from stickslip.methods.rigid.formulations.soft_reference import SOLIMP, SOLREF, SoftReference
from stickslip.solvers import solve

SOFT = [
    ((0.02, 1.0), SOLIMP),
    ((0.05, 0.5), (0.5, 0.99, 0.01, 0.3, 3.0)),
    ((-2000.0, -30.0), (0.8, 0.9, 0.002, 0.7, 1.0)),
    ((0.001, 1.0), (0.0, 1.0, 0.0, 0.5, 2.0)),
]


def materials(nc=12, **fields):
    rng = np.random.default_rng(2)
    given = {
        "stiffness": rng.uniform(1e3, 1e5, nc),
        "damping": rng.uniform(0.0, 300.0, nc),
        "gap": rng.uniform(-3e-2, 5e-3, nc),
        "friction": rng.uniform(0.3, 2.0, nc),
    }
    return random_matrices(nc, **{**given, **fields})


@pytest.mark.parametrize("ratio", [1.0, 10.0])
def test_what_pushes_is_a_spring_and_a_damper_at_the_end_of_the_step(ratio):
    m = materials()
    m.damping[0] = 0.0
    relaxed = make_formulation("relaxed", friction_ratio=ratio)
    problem = relaxed.formulate(m)
    p = relaxed.impulses(m, problem, solve(problem, "newton", tolerance=1e-12).z).reshape(-1, 3)
    u = (m.rows @ m.new_velocity(p.ravel())).reshape(-1, 3)
    K, B, dt = m.stiffness, m.damping, m.dt
    sticks = np.hypot(p[:, 1], p[:, 2]) < m.friction * p[:, 0] * (1 - 1e-9)
    assert 0 < sticks.sum() < len(p)
    force = -K * (m.gap + dt * u[:, 0]) - B * u[:, 0]
    np.testing.assert_allclose(p[sticks, 0], dt * force[sticks], rtol=1e-7)
    np.testing.assert_allclose(
        p[sticks, 1:], -(dt * ratio * (dt * K + B))[sticks, None] * u[sticks, 1:], rtol=1e-6, atol=1e-10
    )
    slides = (p[:, 0] > 0.0) & ~sticks
    R = 1.0 / (dt * (dt * K + B))
    rise = u[:, 0] + m.gap / (dt + B / K) + (R * (1.0 + m.friction**2 / ratio)) * p[:, 0]
    np.testing.assert_allclose(rise[slides], (m.friction * np.hypot(u[:, 1], u[:, 2]))[slides], rtol=1e-7, atol=1e-10)


def test_joint_limits_are_rigid():
    m = materials(3)
    m.stiffness[2], m.damping[2], m.friction[2] = np.inf, 0.0, 0.0
    for options in ({}, {"solref": SOLREF}):
        relaxed = make_formulation("relaxed", **options)
        np.testing.assert_array_equal(relaxed.regularisation(m)[2], 0.0)
        assert relaxed.normal_offset(m)[2] == m.gap[2] / m.dt


def test_dampers_alone_and_nothing_at_all():
    m = materials(2, stiffness=np.zeros(2), damping=np.array([10.0, 20.0]))
    relaxed = make_formulation("relaxed")
    np.testing.assert_allclose(relaxed.normal_offset(m), 0.0)
    np.testing.assert_allclose(relaxed.regularisation(m)[:, 0], 1.0 / (m.dt * m.damping))
    m.damping[1] = 0.0
    with pytest.raises(InputError, match="stiffness and damping: expected K > 0 or B > 0"):
        relaxed.formulate(m)


@pytest.mark.parametrize(("solref", "solimp"), SOFT)
def test_spring_and_impedance_are_mujocos(solref, solimp):
    soft, dt = SoftReference(solref, solimp), 2e-3
    for depth in (1e-5, 3e-4, 7e-4, 4e-3, 2e-2):
        xml = f"""<mujoco><option timestep="{dt}" cone="elliptic" impratio="4"/><worldbody>
            <geom type="plane" size="9 9 1"/><body pos="0 0 {0.1 - depth}"><freejoint/>
            <geom size="0.1" solref="{solref[0]} {solref[1]}"
            solimp="{" ".join(map(str, solimp))}" priority="1"/></body></worldbody></mujoco>"""
        model = mujoco.MjModel.from_xml_string(xml)
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        k, b = soft.spring(dt)
        d = soft.impedance(np.array([-depth]))[0]
        np.testing.assert_allclose(data.efc_KBIP[0, :3], [k, b, d], rtol=1e-9)
        mass = model.body_mass[1]
        np.testing.assert_allclose(data.efc_R, (1 - d) / d / mass * np.array([1.0, 0.25, 0.25]), rtol=1e-9)


def middle(kin, contacts):
    """A sphere on the floor, the contact midway between the surfaces as in MuJoCo."""
    contacts.clear()
    x, y, z = kin.pos[1]
    contacts.add(0, 1, (x, y, (z - 0.1) / 2), (0, 0, 1), z - 0.1, pair=0, friction=0.5)


@pytest.mark.parametrize(("solref", "solimp"), SOFT[:3])
def test_steps_are_mujocos(solref, solimp):
    """A ball that is thrown, bounces, slides and rolls: the same as MuJoCo's Euler step at every instant."""
    scene = ss.Scene()
    scene.add_plane(friction=0.5)
    scene.add_sphere(0.1, pos=(0, 0, 0.3), mass=2.0, friction=0.5)
    sim = ss.Simulation(
        scene, method="relaxed/newton", dt=2e-3, solref=solref, solimp=solimp, friction_ratio=3.0, detector=middle,
        solver_options={"tolerance": 1e-12},
    )  # fmt: skip
    sim.set_state(v=[0.5, 0.2, 0, 0, 0, 0])
    model = scene.compile().mj
    model.opt.timestep, model.opt.cone, model.opt.impratio = 2e-3, mujoco.mjtCone.mjCONE_ELLIPTIC, 3.0
    model.opt.tolerance, model.geom_solref[:], model.geom_solimp[:] = 0.0, solref, solimp
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = sim.state.q, sim.state.v
    for _ in range(300):
        mujoco.mj_step(model, data)
        sim.step(1)
        np.testing.assert_allclose(sim.state.v, data.qvel, atol=1e-8)
    assert sim.state.q[2] < 0.1  # it is there
    assert abs(data.qvel[3:]).max() > 1.0


@pytest.mark.parametrize(
    "options",
    [
        {"friction_ratio": 0.0},
        {"solref": (0.02, -1.0)},
        {"solref": 0.02},
        {"solref": (0.0, 1.0)},
        {"solimp": (0.9, 0.95)},
        {"solimp": (0.9, 1.95, 0.001, 0.5, 2.0)},
        {"solimp": (0.9, 0.95, 0.001, 0.5, 0.5)},
    ],
    ids=str,
)
def test_bad_options_are_refused_by_name(options):
    with pytest.raises(InputError, match=f"{next(iter(options))}: expected"):
        make_formulation("relaxed", **options)


def test_restitution_is_not_honoured():
    scene = ss.Scene()
    scene.add_plane(restitution=0.5)
    scene.add_sphere(0.1, pos=(0, 0, 0.3), mass=1.0, restitution=0.5)
    with pytest.warns(NotHonouredWarning, match="relaxed does not honour restitution"):
        ss.Simulation(scene, method="relaxed/newton")
