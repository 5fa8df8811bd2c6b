"""Forces of a surrounding medium: against MuJoCo's, terminal velocities by every method, stiff drag."""

import mujoco
import numpy as np
import pytest
from end_of_step import Problem

import stickslip as ss
from stickslip.dynamics import Dynamics
from stickslip.dynamics.fluid_derivatives import fluid_drag
from stickslip.dynamics.fluid_forces import element_force, make_fluid
from stickslip.errors import StickslipError
from stickslip.methods.implicit_euler.implicit_euler import ImplicitEuler
from stickslip.methods.registry import METHODS

SIZES = {"sphere": ".1", "capsule": ".05 .2", "cylinder": ".07 .15", "box": ".1 .2 .05", "ellipsoid": ".1 .23 .05"}
MEDIA = {
    "air": 'density="1.2" viscosity="0.02"', "stream": 'density="1000" wind="1 2 -3"',
    "honey": 'viscosity="2" wind=".1 2 3"', "soup": 'density="3" viscosity="1" wind="1 -1 2"',
}  # fmt: skip
TERMS = ("blunt", "slender", "angular", "kutta", "magnus")


def random_model(seed, medium, coefficients=None):
    """A floating tree and a fixed one, of all joints and of bodies without one, two shapes in each body. With odd
    seeds some shapes are ellipsoids in the medium, with these coefficients or random ones."""
    r = np.random.default_rng(seed)

    def some(n):
        return " ".join(f"{x:.6g}" for x in r.normal(size=n))

    def geom():
        kind, fluid = r.choice(list(SIZES)), ""
        if seed % 2 and r.random() < 0.8:
            given = r.uniform(0, 2, 5) if coefficients is None else coefficients
            fluid = f'fluidshape="ellipsoid" fluidcoef="{" ".join(f"{x:.4g}" for x in given)}"'
        return f'<geom type="{kind}" size="{SIZES[kind]}" pos="{some(3)}" quat="{some(4)}" {fluid}/>'

    def body(depth, joint=None):
        joints = (
            "",
            '<joint axis="{0}" pos="{1}"/>',
            '<joint type="slide" axis="{0}"/>',
            '<joint type="ball" pos="{1}"/>',
        )
        joint = joint or str(r.choice(joints)).format(some(3), some(3))
        children = "".join(body(depth - 1) for _ in range(r.integers(1, 3))) if depth else ""
        return f'<body pos="{some(3)}" quat="{some(4)}">{joint}{geom()}{geom()}{children}</body>'

    bodies = body(2, "<freejoint/>") + body(1, '<joint axis="1 2 3"/>')
    light = '<body><geom size=".3" mass="0" fluidshape="ellipsoid"/></body>'  # which feels nothing
    bodies = bodies.replace("</body>", light + "</body>", 1)
    return f"<mujoco><option {MEDIA[medium]}/><worldbody>{bodies}</worldbody></mujoco>"


def compare(seed, medium, coefficients=None):
    """The largest difference from MuJoCo's forces over the largest of them, and these."""
    mj = mujoco.MjModel.from_xml_string(random_model(seed, medium, coefficients))
    dynamics, d = Dynamics(ss.Scene.from_xml(random_model(seed, medium, coefficients)).compile()), mujoco.MjData(mj)
    rng = np.random.default_rng(seed)
    mujoco.mj_integratePos(mj, d.qpos, rng.normal(size=mj.nv), 1.0)
    d.qvel[:] = 3.0 * rng.normal(size=mj.nv)
    mujoco.mj_forward(mj, d)
    largest = np.abs(d.qfrc_passive).max()
    np.testing.assert_array_equal(d.qfrc_fluid, d.qfrc_passive)
    return np.abs(dynamics.passive_forces(d.qpos, d.qvel) - d.qfrc_fluid).max() / largest, d.qfrc_fluid.copy()


@pytest.mark.parametrize("medium", MEDIA)
def test_they_are_mujoco_s(medium):
    for seed in range(12):
        error, forces = compare(seed, medium)
        assert error < 1e-11
        assert np.abs(forces).max() > 1e-6


@pytest.mark.parametrize("term", range(5), ids=TERMS)
def test_each_term_is_mujoco_s(term):
    """Without viscosity and with one coefficient; what is left besides it are the forces of the added mass."""
    for seed in (1, 3, 5):
        only = np.zeros(5)
        error, rest = compare(seed, "stream", only)
        assert error < 1e-11
        only[term] = 1.3
        error, forces = compare(seed, "stream", only)
        assert error < 1e-11
        assert np.abs(forces - rest).max() > 1e-6 * np.abs(rest).max()


@pytest.mark.parametrize("seed", [2, 3], ids=["boxes", "ellipsoids"])
def test_derivatives_of_the_forces(seed):
    """Newton's matrix of implicit Euler is exact to the error of differences; the drag that others take implicitly is
    symmetric and dissipates, and it is the derivative for boxes."""
    model = ss.Scene.from_xml(random_model(seed, "soup")).compile()
    dynamics, rng = Dynamics(model), np.random.default_rng(1)
    q = dynamics.integrate(model.state().q, 0.3 * rng.normal(size=model.nv))
    v = 2.0 * rng.normal(size=model.nv)
    problem = Problem(ImplicitEuler(model, 1e-2, "none"), q, v)
    assert problem.jacobian_error(v + 0.1 * rng.normal(size=model.nv)) < 1e-8
    dynamics._update(q, v)
    fluid, kin = make_fluid(model), dynamics.data.kin
    fluid_drag(fluid, kin)
    np.testing.assert_allclose(fluid.drag, fluid.drag.transpose(0, 2, 1), atol=1e-12 * np.abs(fluid.drag).max())
    assert np.linalg.eigvalsh(fluid.drag).min() > -1e-12 * np.abs(fluid.drag).max()
    if not np.any(model.medium.ellipsoid):
        exact = np.zeros_like(fluid.drag)
        for k, b in enumerate(model.medium.link):
            for j, e in enumerate(1e-6 * np.eye(6)):
                ends = [np.array(element_force(model.medium, kin, k, *(kin.vel[b] + s * e))) for s in (-1.0, 1.0)]
                exact[b, :, j] += (ends[0] - ends[1]) / 2e-6
        np.testing.assert_allclose(fluid.drag, exact, atol=1e-6 * np.abs(exact).max())


RADIUS, MASS = 0.05, 0.02


def ball(fluid, *, joint="free", **medium):
    scene = ss.Scene()
    options = {"axis": (0, 0, 1)} if joint == "slide" else {}
    scene.add_sphere(RADIUS, mass=MASS, joint=joint, fluid=fluid, collide=False, name="ball", **options)
    scene.set_medium(**medium)
    return scene


METHODS_AND_COORDINATES = [*METHODS, "coulomb in maximal coordinates"]


def simulation(method, scene, dt):
    name, *coordinates = method.split(" in ")
    name += "/none" if "none" in METHODS[name].capabilities.variants else ""
    options = {"coordinates": "maximal"} if coordinates else {"tolerance": 1e-10} if method == "variational" else {}
    return ss.Simulation(scene, name, dt=dt, **options)


@pytest.mark.parametrize("method", METHODS_AND_COORDINATES)
def test_terminal_velocity_of_a_sphere(method):
    """Stokes' drag 6π·r·β·v, wind included, and quadratic drag ½·ρ·π·r²·v² (C_blunt = ½, no slender part)."""
    drag = 6.0 * np.pi * RADIUS * 0.5
    sim = simulation(method, ball("ellipsoid", viscosity=0.5, wind=(0.3, 0, 0.1)), 2e-3)
    sim.step(500)  # 24 time constants
    np.testing.assert_allclose(sim.state.v[:3], [0.3, 0, 0.1 - MASS * 9.81 / drag], atol=2e-7)
    sim = simulation(method, ball("ellipsoid", density=40.0), 2e-3)
    sim.step(500)
    fastest = np.sqrt(MASS * 9.81 / (0.5 * 40.0 * np.pi * RADIUS**2))
    within = 1e-6 if method == "implicit-euler" else 2e-7  # where its Newton iteration ends
    np.testing.assert_allclose(sim.state.v[:3], [0, 0, -fastest], atol=within)


@pytest.mark.parametrize("method", METHODS_AND_COORDINATES)
def test_stiff_drag_is_implicit_or_known_to_the_default_step(method):
    """Time constants of 0.1 and 0.03 ms, in steps of 10 ms; explicit methods choose a step that they can take."""
    drag = 6.0 * np.pi * RADIUS * 200.0
    scene = ball("ellipsoid", viscosity=200.0, density=1.0)
    explicit = method in ("euler", "rk4", "mujoco", "event-selected")
    sim = simulation(method, scene, 2e-5 if method == "mujoco" else None if explicit else 1e-2)
    assert sim.dt <= 5e-5 or method not in ("euler", "rk4")
    sim.set_state(v=[0, 0, 3.0, 0, 5.0, 0])
    sim.run(0.02)
    np.testing.assert_allclose(sim.state.v, [0, 0, -MASS * 9.81 / drag, 0, 0, 0], atol=1e-6 if explicit else 2e-3)


@pytest.mark.parametrize("seed", [2, 3], ids=["boxes", "ellipsoids"])
@pytest.mark.parametrize("method", ["semi-implicit-euler", "coulomb", "variational", "implicit-euler", "expo"])
def test_a_medium_at_rest_takes_energy_out(method, seed):
    """Without gravity the kinetic energy of a mechanism only falls; its first loss is the power of the forces."""
    scene = ss.Scene.from_xml(random_model(seed, "air").replace("<option", '<option gravity="0 0 0"'))
    for geom in scene.spec.geoms:
        geom.contype = geom.conaffinity = 0
    sim = simulation(method, scene, 1e-4)
    v = np.random.default_rng(seed).normal(size=sim.model.nv)
    sim.set_state(v=v)
    power = v @ sim.dynamics.passive_forces(sim.state.q, v)
    kinetic = [sim.dynamics.energy(sim.state.q, sim.state.v).kinetic]
    for _ in range(20):
        sim.step(1)
        kinetic.append(sim.dynamics.energy(sim.state.q, sim.state.v).kinetic)
    assert power < 0.0
    first = 1 if method == "variational" else 0  # its velocities are those over a step, the given ones are not
    assert np.all(np.diff(kinetic[first:]) < 0.0)


def test_gradients_of_variational_steps_refuse_a_medium_by_name():
    sim = simulation("variational", ball(None, density=1.0), 1e-2)
    sim.step(1)
    with pytest.raises(StickslipError, match="without a medium"):
        sim.stepper.gradient()


def test_a_medium_is_saved_and_read_back(tmp_path):
    scene = ball("ellipsoid", density=1.2, viscosity=1.8e-5, wind=(1, 2, 3))
    scene.add_box((0.1, 0.2, 0.3), fluid="ellipsoid", fluid_coefficients=(1, 2, 3, 4, 5))
    scene.add_box((0.1, 0.2, 0.3))
    model = scene.compile()
    assert model.medium.ellipsoid.tolist() == [1, 1, 0]
    assert model.medium.coefficients[1].tolist() == [1, 1, 2, 3, 4, 5]
    scene.save(tmp_path / "scene.xml")
    again = ss.Scene.from_file(tmp_path / "scene.xml").compile()
    assert again.fingerprint == model.fingerprint != ball(None, density=1.2).compile().fingerprint
    for mine, read in zip(model.medium, again.medium, strict=True):
        np.testing.assert_array_equal(mine, read)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (lambda s: s.set_medium(density=-1.0), "density of the medium"),
        (lambda s: s.set_medium(viscosity=float("nan")), "viscosity of the medium"),
        (lambda s: s.set_medium(wind=(1, 2)), "wind"),
        (lambda s: s.set_medium(breeze=1), "breeze"),
        (lambda s: s.add_sphere(0.1, fluid="sphere"), "fluid"),
        (lambda s: s.add_sphere(0.1, fluid_coefficients=(1, 1, 1, 1, 1)), "fluid_coefficients"),
        (lambda s: s.add_sphere(0.1, fluid="ellipsoid", fluid_coefficients=(1, 1, 1)), "fluid_coefficients"),
        (lambda s: s.add_sphere(0.1, fluid="ellipsoid", fluid_coefficients=(1, 1, -1, 1, 1)), "fluid_coefficients"),
    ],
)
def test_wrong_media_are_named(wrong, named):
    with pytest.raises(StickslipError, match=named) as caught:
        wrong(ss.Scene())
    assert len(str(caught.value)) < 300
