"""What a recording says of a state is true whatever the method."""

import numpy as np
import pytest

import stickslip as ss
from stickslip.methods.registry import METHODS


@pytest.mark.parametrize("method", METHODS)
def test_energies_and_poses_are_those_of_the_state(method):
    scene = ss.Scene()
    scene.add_plane(friction=0.3)
    scene.add_sphere(0.1, pos=(0, 0, 0.5), mass=2.0)
    sim = ss.Simulation(scene, method, 1e-3)
    sim.set_state(v=[1.0, 0.2, 0.0, 0.0, 3.0, 1.0])
    log = sim.run(0.01, record_dt=2e-3)
    for k in range(len(log)):
        np.testing.assert_allclose(log.energy[k], sim.dynamics.energy(log.q[k], log.v[k]), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(log.pose[k], sim.dynamics.poses(log.q[k]), atol=1e-12)
    assert log.energy[0, 0] > 1.0
