"""The highest frequency at which gravity swings links, and the steps that it allows."""

import numpy as np
import pytest

import stickslip as ss
from stickslip.dynamics import interface

G = 9.81
IMPLICIT_OR_EXACT = {"rk4", "implicit-euler", "event-selected"}
"""Methods that follow links beyond 2/ω; explicit Euler gains energy at every step."""


def chain(links: int, length: float = 0.1) -> ss.Scene:
    """Links that hang below each other on hinges, and touch nothing."""
    body = scene = ss.Scene()
    for i in range(links):
        body = body.add_body(f"link{i}", pos=(0, 0, -length if i else 0), joint="hinge", axis=(0, 1, 0))
        body.add_capsule(0.01, 0.04, pos=(0, 0, -0.5 * length), mass=0.1, collide=False)
    return scene


def branches() -> ss.Scene:
    """A ball joint that carries a hinge and a slide, with centres of mass off their axes."""
    scene = ss.Scene()
    trunk = scene.add_body("trunk", joint="ball", pos=(0, 0, 2))
    trunk.add_capsule(0.02, 0.3, pos=(0.1, 0, -0.2), mass=1)
    arm = trunk.add_body("arm", joint="hinge", axis=(0, 1, 0), pos=(0, 0, -0.4))
    arm.add_box((0.1, 0.2, 0.1), pos=(0.3, 0, -0.1), mass=0.5)
    drawer = trunk.add_body("drawer", joint="slide", axis=(0, 1, 0), pos=(0.2, 0, -0.4))
    drawer.add_box((0.1, 0.2, 0.1), pos=(0, 0.1, -0.1), mass=0.7)
    return scene


@pytest.mark.parametrize("small", [60, 0], ids=["all frequencies", "Lanczos"])
@pytest.mark.parametrize("scene", [chain(30), branches()], ids=["chain", "branches"])
def test_frequencies_are_those_of_the_derivatives_of_gravity(scene, small, monkeypatch):
    monkeypatch.setattr(interface, "SMALL", small)
    model = scene.compile()
    q, rest = model.state().q, np.zeros(model.nv)
    found, squares = ss.Dynamics(model).swing_norm(q), []
    for g in G * np.eye(3):
        model.set_gravity(g)
        dynamics = ss.Dynamics(model)
        K = dynamics.rnea_derivatives(q, rest, rest)[0]
        squares.append(np.abs(np.linalg.eigvals(np.linalg.solve(dynamics.crba(q), 0.5 * (K + K.T)))).max())
    assert found == pytest.approx(max(squares), rel=1e-3)


def test_a_pendulum_and_bodies_that_do_not_swing():
    model = chain(1).compile()
    inertia = ss.Dynamics(model).crba(model.state().q)[0, 0]
    assert ss.Dynamics(model).swing_norm([0.0]) == pytest.approx(0.1 * G * 0.05 / inertia)
    free = ss.Scene()
    free.add_body("free", joint="free").add_box((0.1, 0.1, 0.1), pos=(3, 0, 0), mass=1)
    assert ss.Dynamics(free.compile()).swing_norm(free.compile().state().q) == 0.0
    carried = ss.Scene()  # a robot whose base has hardly any inertia of its own falls as a whole
    base = carried.add_body("base", joint="free")
    base.add_sphere(1e-3, mass=1e-6)
    base.add_body("arm", joint="hinge", axis=(0, 1, 0)).add_box((0.1, 0.1, 0.4), pos=(0, 0, -0.2), mass=1)
    assert ss.Dynamics(carried.compile()).swing_norm(carried.compile().state().q) == 0.0
    weightless = chain(3)
    weightless.gravity = (0, 0, 0)
    assert ss.Simulation(weightless, "coulomb").stable_dt == np.inf


@pytest.mark.parametrize("method", [name for name in ss.METHODS if name != "euler"])
def test_a_long_chain_keeps_its_energy_at_the_default_step(method):
    """Sixty links that fall out of an arc; beyond 2/ω = 4.6 ms they gain more than they have."""
    sim = ss.Simulation(chain(60), method)
    sim.set_state(q=np.r_[0.3, np.zeros(59)])
    start = sum(sim.energy())
    if method not in IMPLICIT_OR_EXACT:
        assert sim.dt <= 0.5 * sim.stable_dt
        assert sim.stable_dt == pytest.approx(4.6e-3, rel=0.05)
    sim.run(0.3)
    swing = 60 * 0.1 * G * 6.0 * (1 - np.cos(0.3)) / 2
    assert sum(sim.energy()) - start < 0.01 * swing


def test_a_step_at_which_links_swing_apart_is_a_warning():
    with pytest.warns(ss.UnstableStepWarning, match="all links hang; leave dt out for 0.002 s"):
        ss.Simulation(chain(60), "coulomb", dt=1e-2)


@pytest.mark.parametrize("n", [2, 5])
def test_eigenvalues_beyond_all_numbers_are_infinite(n):
    assert interface.largest_eigenvalue(lambda x: np.full(n, np.inf), n) == np.inf
    assert interface.largest_eigenvalue(lambda x: 3.0 * x, n) == pytest.approx(3.0)
