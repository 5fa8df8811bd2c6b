"""What the variational method keeps: momentum, closed joints, an energy without trend."""

import numpy as np
import pytest

import stickslip as ss
from stickslip.maximal.rows import joint_errors
from stickslip.methods.variational.discrete_rotation import discrete_energy, world_momentum
from stickslip.scenes.linkages import bricard, four_bar

METHOD, ORIGIN = "variational", np.zeros(3)


def rod(body, pos=(0.0, 0.0, -0.5)):
    body.add_cylinder(0.05, 1.0, mass=1.0, pos=pos, collide=False)


def free_chain(joint, links=5):
    scene = ss.Scene(gravity=(0, 0, 0))
    body = scene.add_body("link0", joint="free")
    rod(body, (0.1, 0.0, -0.5))
    for k in range(1, links):
        body = body.add_body(f"link{k}", joint="fixed", pos=(0, 0, -1))
        body.add_joint(joint, axis=(1, k % 2, 0))
        rod(body)
    return scene


def double_pendulum():
    scene = ss.Scene()
    body = scene.world
    for k in range(2):
        body = body.add_body(f"rod{k}", joint="hinge", axis=(0, 1, 0), pos=(0, 0, -1.0 * k))
        rod(body)
    return scene


def bodies(sim):
    """The bodies, where they are and how they move."""
    return sim.stepper.mechanism.bodies, sim.stepper.motion.pose, sim.stepper.motion.nu


def open_by(sim):
    joints = sim.stepper.mechanism.nodes.joints
    g = np.zeros(len(joints.joint))
    joint_errors(joints, sim.stepper.motion.pose, g)
    return np.abs(g).max()


@pytest.mark.filterwarnings("ignore::stickslip.errors.EnergyGainWarning")  # at this dt, energy waves by a tenth
@pytest.mark.parametrize("joint", ["ball", "hinge"])
def test_a_free_chain_keeps_its_momentum(joint):
    """5 s at tolerance 1e-12: linear and angular momentum to 1e-8."""
    sim = ss.Simulation(free_chain(joint), METHOD, dt=0.01, tolerance=1e-12)
    sim.set_state(v=np.random.default_rng(0).normal(size=sim.model.nv))
    momenta = []
    for _ in range(500):
        sim.step()
        out = np.empty(6)
        world_momentum(*bodies(sim), 0.01, ORIGIN, out)
        momenta.append(out)
    assert np.abs(momenta[0]).max() > 1.0
    assert np.abs(np.array(momenta) - momenta[0]).max() < 1e-8
    assert sim.stepper.unconverged == 0


@pytest.mark.parametrize("setup", [four_bar, bricard])
def test_linkages_do_not_drift(setup):
    sim = ss.Simulation(setup().scene, METHOD, dt=0.01)
    sim.set_state(v=sim.state.v)
    error = []
    for _ in range(1000):
        sim.step()
        error.append(open_by(sim))
    assert max(error) < 1e-9
    assert sim.stepper.unconverged == 0


def test_a_double_pendulum_keeps_its_energy():
    """Energy at the ends of steps is within a band of O(dt); averaged over steps, of O(dt²). No trend."""
    band = {}
    for dt in (0.01, 0.005):
        sim = ss.Simulation(double_pendulum(), METHOD, dt=dt, tolerance=1e-10)
        sim.set_state([1.5, 0.5], [0.0, 0.0])
        mean, end, gravity = [], [], sim.model.inertia.gravity
        for _ in range(round(30.0 / dt)):
            sim.step()
            these, pose, nu = bodies(sim)
            kinetic, potential = discrete_energy(these, gravity, pose, nu, dt)
            mean.append(kinetic + potential)
            end.append(kinetic - these.mass @ (pose.pos @ gravity))
        early, late = np.split(np.array(mean), 2)
        assert abs(late.mean() - early.mean()) < 0.5 * np.std(mean)
        band[dt] = np.std(end), np.std(mean)
    coarse, fine = band[0.01], band[0.005]
    assert 1.5 < coarse[0] / fine[0] < 2.7
    assert 2.7 < coarse[1] / fine[1] < 6.0
