"""The scene ``terrain``: Solo12 and all bodies stand on rough ground and come to rest."""

import numpy as np

import stickslip as ss


def test_solo12_stands_on_rough_ground():
    setup = ss.SCENES["terrain"].build()
    sim = ss.Simulation(setup.scene, "expo")
    start = sim.state.q.copy()
    sim.run(0.4, controller=setup.controller, control_dt=setup.control_dt)
    root = int(sim.model.mj.joint("root").qposadr[0])
    assert np.linalg.norm(sim.state.q[root : root + 3] - start[root : root + 3]) < 0.03
    up = sim.state.q[root + 3 : root + 7]
    assert 1.0 - 2.0 * (up[1] ** 2 + up[2] ** 2) > 0.97  # cosine of the tilt
    feet = {int(link) for link in sim.contacts.arrays.link2[: len(sim.contacts)]}
    assert len(feet & {sim.model.link(name) for name in sim.model.link_names if "LOWER" in name.upper()}) >= 3
