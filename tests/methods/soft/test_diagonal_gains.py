"""Stiffness and damping along the normal and along the surface, and dampers without springs."""

import numpy as np
import pytest

import stickslip as ss
from stickslip.collision.contacts import TANGENT_DAMPING, TANGENT_STIFFNESS, ContactList
from stickslip.dynamics.data import make_data
from stickslip.errors import InputError, NotHonouredWarning
from stickslip.model.shape import DEFAULT_DAMPING, DEFAULT_STIFFNESS, Material, combine

METHODS = ("euler", "semi-implicit-euler", "rk4", "implicit-euler", "event-selected", "expo")
G = 9.81


# -- materials ---------------------------------------------------------------------------------------------------------


def test_along_the_surface_is_as_along_the_normal_unless_said():
    pair = combine(Material(), Material())
    assert (pair.tangent_stiffness, pair.tangent_damping) == (DEFAULT_STIFFNESS, DEFAULT_DAMPING)
    pair = combine(Material(stiffness=2e4, damping=30.0), Material(stiffness=3e4))
    assert (pair.tangent_stiffness, pair.tangent_damping) == (pair.stiffness, pair.damping)
    pair = combine(Material(stiffness=2e4, tangent_stiffness=1e3), Material(stiffness=3e3))
    assert pair.stiffness == pytest.approx(1.0 / (1.0 / 2e4 + 1.0 / 3e3))
    assert pair.tangent_stiffness == pytest.approx(1.0 / (1.0 / 1e3 + 1.0 / 3e3))
    pair = combine(Material(tangent_damping=5.0), Material())
    assert (pair.damping, pair.tangent_damping) == (DEFAULT_DAMPING, 5.0)
    pair = combine(Material(tangent_stiffness=1e3, priority=1), Material(tangent_stiffness=5e3))
    assert pair.tangent_stiffness == 1e3


def random_material(rng) -> Material:
    def some(value):
        return value if rng.random() < 0.6 else None

    stiffness = some(float(rng.choice([0.0, 1e3, 4e4])))
    return Material(
        stiffness=stiffness, damping=some(float(rng.choice([2.0, 50.0]))),
        tangent_stiffness=some(float(rng.choice([0.0, 2e3]))), tangent_damping=some(float(rng.choice([0.0, 9.0]))),
        restitution=some(float(rng.choice([0.0, 0.4]))), preload=some(3.0) if stiffness != 0.0 else None,
        priority=int(rng.integers(2)),
    )  # fmt: skip


@pytest.mark.filterwarnings("ignore::stickslip.errors.NotHonouredWarning")
def test_the_kernel_combines_as_the_model_does():
    rng = np.random.default_rng(0)
    for _ in range(40):
        scene = ss.Scene()
        scene.add_plane(material=random_material(rng))
        scene.add_sphere(0.1, pos=(0, 0, 0.0999), mass=1.0, material=random_material(rng))
        model = scene.compile()
        sim = ss.Simulation(model, "coulomb", dt=1e-3, detector="convex")
        sim.observe()
        (row,) = sim.contacts.arrays.material[: len(sim.contacts)]
        np.testing.assert_allclose(row, model.pair_material(*model.shapes).row, rtol=1e-15)


def test_saved_scenes_keep_them(tmp_path):
    scene = ss.Scene()
    scene.add_plane(tangent_stiffness=0.0, stiffness=0.0, damping=4.0)
    scene.add_sphere(0.1, pos=(0, 0, 1), tangent_stiffness=2e3, tangent_damping=0.0)
    scene.add_sphere(0.1, pos=(0, 0, 2), tangent_damping=1.0 / 3.0)
    scene.save(tmp_path / "scene.xml")
    before, after = scene.compile(), ss.Scene.from_file(tmp_path / "scene.xml").compile()
    assert [s.material for s in after.shapes] == [s.material for s in before.shapes]
    assert after.shapes[0].material.stiffness == after.shapes[0].material.tangent_stiffness == 0.0
    assert after.shapes[1].material.tangent_damping == 0.0


def test_setters_change_them():
    scene = ss.Scene()
    scene.add_plane(name="floor")
    scene.add_sphere(0.1, pos=(0, 0, 1), mass=1.0)
    model = scene.compile()
    model.set_shape("floor", tangent_stiffness=3e3, tangent_damping=2.0)
    material = model.pair_material(*model.shapes)
    assert (material.tangent_stiffness, material.tangent_damping) == (3e3, 2.0)
    assert material.stiffness == DEFAULT_STIFFNESS
    model.set_shape("floor", tangent_stiffness="unset")
    assert model.pair_material(*model.shapes).tangent_stiffness == DEFAULT_STIFFNESS


def test_explicit_pairs_have_those_of_their_surfaces():
    scene = ss.Scene()
    scene.add_plane(name="floor", tangent_stiffness=2e3)
    scene.add_body("ball", pos=(0, 0, 1), joint="free").add_sphere(0.1, mass=1.0, name="skin", tangent_damping=8.0)
    scene.add_contact_pair("floor", "skin")
    (pair,) = scene.compile().pairs
    assert (pair.material.tangent_stiffness, pair.material.tangent_damping) == (2e3, 8.0)


def test_collision_functions_of_one_s_own_give_them():
    scene = ss.Scene()
    scene.add_sphere(0.1, mass=1.0)
    contacts = ContactList(make_data(scene.compile()).kin, capacity=2)
    contacts.add(0, 1, (0, 0, 0), (0, 0, 1), -0.01, pair=0, stiffness=1e4, damping=20.0)
    contacts.add(0, 1, (0, 0, 0), (0, 0, 1), -0.01, pair=1, stiffness=1e4, tangent_stiffness=0.0, tangent_damping=3.0)
    first, second = contacts.arrays.material[:2]
    assert (first[TANGENT_STIFFNESS], first[TANGENT_DAMPING]) == (1e4, 20.0)
    assert (second[TANGENT_STIFFNESS], second[TANGENT_DAMPING]) == (0.0, 3.0)


@pytest.mark.parametrize("method", ["relaxed", "mujoco/spring-damper"])
def test_methods_with_springs_along_the_normal_alone_say_so(method):
    scene = ss.Scene()
    scene.add_plane(tangent_stiffness=2e3)
    scene.add_sphere(0.1, pos=(0, 0, 1), mass=1.0)
    with pytest.warns(NotHonouredWarning, match="tangent_stiffness K_t = 2000 N/m"):
        ss.Simulation(scene, method)


@pytest.mark.parametrize(
    "material",
    [{"tangent_stiffness": -1.0}, {"tangent_damping": -1.0}, {"stiffness": 0.0, "damping": 0.0},
     {"stiffness": 0.0, "preload": 2.0}],
)  # fmt: skip
def test_impossible_materials(material):
    with pytest.raises(InputError, match=list(material)[-1]):
        ss.Scene().add_plane(**material)


# -- motion ------------------------------------------------------------------------------------------------------------


def sled(gravity=G, **floor):
    """A mass of 2 kg that moves along x and z, on a contact point."""
    scene = ss.Scene(gravity=(0, 0, -gravity))
    scene.add_plane(**floor)
    body = scene.add_body("sled", joint="slide", axis=(1, 0, 0))
    body.add_joint("slide", axis=(0, 0, 1))
    body.set_inertia(2.0, inertia=(1, 1, 1))
    body.add_contact_point("tip")
    return scene


def ended(scene, method, time, dt, q, v, **options):
    sim = ss.Simulation(scene, method, dt=dt, **options)
    sim.set_state(q=q, v=v)
    sim.step(round(time / dt))
    return sim


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("damping", [0.0, 4.0])
@pytest.mark.filterwarnings("ignore::stickslip.errors.UnstableStepWarning")
def test_a_mass_swings_on_the_spring_along_the_surface(method, damping):
    """The damped oscillator of K_t and B_t, while K and B hold the mass at its weight over K."""
    m, K, K_t, speed, time = 2.0, 1e5, 800.0, 0.02, 0.25
    scene = sled(stiffness=K, damping=600.0, tangent_stiffness=K_t, tangent_damping=damping, friction=3.0)
    sim = ended(scene, method, time, 2e-5, [0.0, -m * G / K], [speed, 0.0])
    decay = 0.5 * damping / m
    omega = np.sqrt(K_t / m - decay**2)
    x = speed / omega * np.exp(-decay * time) * np.sin(omega * time)
    assert sim.state.q[0] == pytest.approx(x, abs=3e-3 * speed / omega)
    assert sim.state.q[1] == pytest.approx(-m * G / K, rel=1e-6)
    energy = 0.5 * K_t * x**2 + 0.5 * (m * G) ** 2 / K
    sim.observe()
    assert sim.stepper.contact_energy() == pytest.approx(energy, abs=2e-3 * 0.5 * m * speed**2)


@pytest.mark.parametrize("method", METHODS)
def test_it_slides_by_coulomb_whatever_the_springs(method):
    """Beyond μ·f_n/K_t the mass slides, and loses μ·g of its speed."""
    scene = sled(stiffness=1e5, damping=600.0, tangent_stiffness=2e4, tangent_damping=30.0, friction=0.3)
    sim = ended(scene, method, 0.2, 1e-4, [0.0, -2.0 * G / 1e5], [1.0, 0.0])
    assert sim.state.v[0] == pytest.approx(1.0 - 0.3 * G * 0.2, rel=1e-3)


@pytest.mark.parametrize("method", METHODS)
def test_a_damper_without_a_spring_slows_down_what_sinks_in(method):
    """v = v₀·exp(−B·t/m) along the normal, without gravity; with it the speed tends to m·g/B."""
    m, B = 2.0, 30.0
    free = ended(sled(0.0, stiffness=0.0, damping=B), method, 0.1, 2e-5, [0.0, -1e-6], [0.0, -1.0])
    assert free.state.v[1] == pytest.approx(-np.exp(-B / m * 0.1), rel=1e-3)
    assert free.stepper.contact_energy() == 0.0
    heavy = ended(sled(stiffness=0.0, damping=B), method, 1.0, 1e-3, [0.0, -1e-6], [0.0, 0.0])
    assert heavy.state.v[1] == pytest.approx(-m * G / B, rel=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_a_damper_without_a_spring_slows_down_what_slides(method):
    """v = v₀·exp(−B_t·t/m) along the surface, inside the friction cone."""
    m, B = 2.0, 20.0
    scene = sled(stiffness=1e5, damping=600.0, tangent_stiffness=0.0, tangent_damping=B, friction=3.0)
    sim = ended(scene, method, 0.2, 2e-5, [0.0, -m * G / 1e5], [1.0, 0.0])
    assert sim.state.v[0] == pytest.approx(np.exp(-B / m * 0.2), rel=1e-3)
    sim.step(50_000)  # nothing holds it and nothing brings it back
    assert sim.state.q[0] == pytest.approx(m / B, rel=1e-3)


@pytest.mark.parametrize("method", ["relaxed", "coulomb", "mujoco/spring-damper", "variational"])
def test_other_methods_take_contacts_without_springs(method):
    scene = ss.Scene()
    scene.add_plane(stiffness=0.0, damping=50.0)
    scene.add_sphere(0.1, pos=(0, 0, 0.11), mass=1.0)
    sim = ss.Simulation(scene, method, dt=1e-3)
    sim.step(300)
    assert np.all(np.isfinite(sim.state.q))
    assert sim.state.q[2] < 0.101


def test_soft_and_stiff_feet_stand_on_one_body():
    """Implicit Euler at 10 ms on feet of 1e3 beside 1e7 N/m."""
    scene = ss.Scene()
    scene.add_plane(friction=0.8)
    body = scene.add_body("table", pos=(0, 0, 0.2), joint="free")
    body.add_box((0.6, 0.6, 0.05), mass=4.0, collide=False)
    for k, (x, y) in enumerate(((1, 1), (1, -1), (-1, -1), (-1, 1))):
        K = 1e3 if k % 2 else 1e7
        body.add_sphere(0.02, pos=(0.25 * x, 0.25 * y, -0.18), mass=0.0, stiffness=K, damping=0.05 * K,
                        tangent_stiffness=0.5 * K, tangent_damping=0.02 * K)  # fmt: skip
    sim = ss.Simulation(scene, "implicit-euler", dt=1e-2)
    sim.step(2000)
    assert np.abs(sim.state.v).max() < 1e-9
    assert sim.stepper.unconverged == 0


def test_the_stable_step_knows_the_stiffer_direction():
    limits = []
    for extra in ({}, {"tangent_stiffness": 1e6}, {"tangent_stiffness": 1e6, "tangent_damping": 1e4}):
        sim = ss.Simulation(sled(stiffness=1e5, damping=100.0, **extra), "semi-implicit-euler", dt=1e-5)
        limits.append(sim.stepper.stable_dt(sim.state))
    assert limits[0] > 2.0 * limits[1] > 2.0 * limits[2]
