"""sim.contacts after a step, under every method: names, filters, and forces that moved the bodies."""

import numpy as np
import pytest

import stickslip as ss

PARTS = {"rk4": 2e-2, "event-selected": 2e-2, "implicit-euler": 1e-5}
"""Methods that look at contacts several times within a step and show the last look, or solve to a tolerance: how far
the force may be from the mean one, as a part of it."""


def sliding_box(method, dt=1e-3):
    scene = ss.Scene()
    scene.add_plane(name="floor", friction=0.5)
    scene.add_box((0.1, 0.1, 0.1), pos=(0, 0, 0.0499), mass=2.0, name="crate")
    sim = ss.Simulation(scene, method, dt=dt)
    sim.set_state(v=[0.6, 0, 0, 0, 0, 0])
    sim.step(20)
    return sim


@pytest.mark.parametrize("method", ss.METHODS)
def test_forces_of_a_step_are_those_that_moved_the_body(method):
    sim = sliding_box(method)
    pushed = 0
    for _ in range(30):
        before = sim.body("crate").velocity
        sim.step()
        gained = 2.0 * ((sim.body("crate").velocity - before) / sim.dt + (0, 0, 9.81))
        force = sim.contacts.force_on("crate")
        tolerance = PARTS.get(method, 1e-8) * max(1.0, float(np.abs(gained).max()))
        np.testing.assert_allclose(force, gained, atol=tolerance)
        np.testing.assert_allclose(force, sim.contacts.force.sum(axis=0), atol=1e-12)
        for contact in sim.contacts if sim.stepper.forces_at_end else ():
            at_end = sim.body("crate").jacobian(contact.point)[:3] @ sim.state.v
            np.testing.assert_allclose(contact.velocity, at_end, atol=1e-9)
        pushed += force[2] > 1.0
    assert pushed >= 5


@pytest.mark.parametrize("method", ss.METHODS)
def test_contacts_have_names_and_filters(method):
    sim = sliding_box(method)
    while not sim.contacts.force.any():
        sim.step()
    contacts = sim.contacts
    assert len(contacts) == len(list(contacts)) == 4
    contact = contacts[0]
    assert contact.bodies == ("world", "crate")
    assert contact.geoms[0] == "floor"
    np.testing.assert_allclose(contact.normal, (0, 0, 1), atol=1e-9)
    np.testing.assert_allclose(contact.frame_force @ contact.frame, contact.force)
    assert abs(contact.point[2]) < 5e-3
    assert abs(contact.gap) < 5e-3
    assert len(contacts.between("crate", "floor")) == len(contacts.between("floor", "crate")) == 4
    assert len(contacts.between("crate")) == 4
    assert len(contacts.between("crate", "crate")) == 0
    force = contact.force.copy()
    sim.step(5)
    np.testing.assert_array_equal(contact.force, force)  # what was taken out stays
    with pytest.raises(ss.InputError, match="crat"):
        contacts.between("crat")
    with pytest.raises(ss.InputError, match="expected the name of a body"):
        contacts.between(3)


@pytest.mark.parametrize("method", ss.METHODS)
def test_contacts_at_a_start_and_in_a_recording(method):
    sim = sliding_box(method)
    sim.reset()
    assert len(sim.contacts) == 4  # without a step and without observe()
    sim.set_state(v=[0.6, 0, 0, 0, 0, 0])
    with ss.Recorder(sim, record_dt=sim.dt) as recorder:
        forces = []
        for _ in range(10):
            sim.step()
            forces.append(sim.contacts.force_on("crate")[2])
    recorded = recorder.log().contact_force()
    np.testing.assert_allclose(recorded[1:], forces, atol=1e-12)


def test_contacts_of_a_robot_and_of_its_bodies():
    scene = ss.Scene()
    scene.add_plane(name="floor")
    robot = scene.add_robot("solo12", pos=(0, 0, 0.35))
    scene.add_sphere(0.05, pos=(1, 0, 0.05), name="ball")
    sim = ss.Simulation(scene, "coulomb", dt=1e-3)
    while len(sim.contacts.between(robot)) == 0:
        sim.step()
    for by in (robot, "solo12"):
        assert len(sim.contacts.between(by, "floor")) == len(sim.contacts) - len(sim.contacts.between("ball"))
    foot = sim.contacts.between(robot)[0].bodies[1]
    assert len(sim.contacts.between(foot)) >= 1
    assert "contact" in repr(sim.contacts)
    assert repr(sim.contacts[0]).startswith("<contact floor–")


def test_observing_does_not_lose_the_forces_of_the_step():
    sim = sliding_box("coulomb")
    sim.step()
    force = sim.contacts.force
    sim.body("crate").acceleration  # noqa: B018 - which looks at the present state
    np.testing.assert_array_equal(sim.contacts.force, force)
    with sim.present():
        assert len(sim.contacts) == 4
    np.testing.assert_array_equal(sim.contacts.force, force)
    snapshot = sim.snapshot()
    sim.step(5)
    sim.restore(snapshot)
    np.testing.assert_array_equal(sim.contacts.force, force)
