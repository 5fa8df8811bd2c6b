"""Preloaded contacts: the pair's rule, MJCF, what stores energy, which methods honour it."""

import numpy as np
import pytest

import stickslip as ss
from stickslip.model.doctor import examine
from stickslip.model.shape import Material, combine
from stickslip.scenes.springs import preloaded_hopper

G = 9.81
SPRINGS = [name for name, kind in ss.METHODS.items() if "preload" in kind.capabilities.honours]


def test_the_larger_preload_counts():
    assert combine(Material(), Material()).preload == 0.0
    assert combine(Material(preload=3.0), Material()).preload == 3.0
    assert combine(Material(preload=3.0), Material(preload=5.0)).preload == 5.0


def test_preload_survives_mjcf():
    scene = ss.Scene()
    scene.add_plane(preload=0.0)
    scene.add_sphere(0.1, preload=12.5, pos=(0, 0, 1))
    again = ss.Scene.from_xml(scene.to_xml()).compile()
    assert [shape.material.preload for shape in again.shapes] == [0.0, 12.5]
    assert Material.from_user(np.array([1e4, 0.0, 0.0, 1.0]), 1.0, 3) == Material(stiffness=1e4)  # an older file


def test_spring_methods_honour_it():
    assert {"euler", "semi-implicit-euler", "rk4", "implicit-euler", "expo", "event-selected"} <= set(SPRINGS)


@pytest.mark.filterwarnings("ignore::stickslip.errors.UnstableStepWarning")
@pytest.mark.parametrize("method", SPRINGS)
def test_rest_depth_is_weight_less_preload_over_stiffness(method):
    scene = preloaded_hopper(1.001, preload=5.0, stiffness=1e3, damping=40.0).scene
    sim = ss.Simulation(scene, method, dt=1e-3)
    sim.step(1500)
    assert sim.state.q[0] + 0.001 == pytest.approx(-(G - 5.0) / 1e3, rel=1e-6)
    sim.observe()
    assert sim.contacts.arrays.force[0, 0] == pytest.approx(G, rel=1e-6)


def test_energy_is_zero_at_touchdown_and_conserved():
    sim = ss.Simulation(preloaded_hopper(preload=20.0).scene, "rk4", dt=1e-4)
    energy = []
    for _ in range(9):
        frame = sim.run(0.1, record_dt=0.1, progress=False)
        energy.append(float(frame.energy[-1].sum() + frame.contact_energy[-1]))
        depth = max(0.0, -1.0 - sim.state.q[0])
        assert frame.contact_energy[-1] == pytest.approx(20.0 * depth + 100.0 * depth**2, abs=1e-9)
    assert np.ptp(energy) < 0.02 * G  # the force jumps at touchdown, which rk4 sees up to a step late


@pytest.mark.parametrize("method", ["coulomb", "relaxed", "variational", "stewart-trinkle"])
def test_rigid_methods_say_that_they_do_not(method):
    with pytest.warns(ss.errors.NotHonouredWarning, match="does not honour preload"):
        ss.Simulation(preloaded_hopper().scene, method)


def test_the_doctor_has_a_note():
    report = examine(preloaded_hopper().scene.compile())
    assert any("preload" in finding.message for finding in report.findings)
