"""Painlevé's paradox: found where the formula says, named once, and no NaN beyond it."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import stickslip as ss
from stickslip.errors import PainleveWarning
from stickslip.methods.rigid.assembly.matrices import Matrices
from stickslip.methods.rigid.formulations.painleve import paradox

MASS, HALF, G = 2.0, 0.5, 9.81


def rod(angle: float, friction: float) -> ss.Scene:
    """Uniform, at an angle [rad] to the ground, leaning towards x, its lower end on it."""
    scene = ss.Scene()
    scene.add_plane(friction=friction)
    turn = (np.pi / 2 - angle) / 2
    place = (HALF * np.cos(angle), 0, HALF * np.sin(angle))
    body = scene.add_body("rod", pos=place, quat=(np.cos(turn), 0, np.sin(turn), 0))
    body.add_cylinder(0.01, 2 * HALF, collide=False)
    inertia = MASS * HALF**2 / 3
    body.set_inertia(MASS, inertia=(inertia, inertia, 1e-3 * inertia))
    body.add_contact_point("tip", pos=(0, 0, -HALF))
    return scene


def sliding(angle: float, friction: float, speed: float = -1.0, **options) -> ss.Simulation:
    sim = ss.Simulation(rod(angle, friction), method="coulomb/interior-point", dt=1e-4, **options)
    sim.set_state(v=[speed, 0, 0, 0, 0, 0])
    return sim


def matrices_of(sim: ss.Simulation) -> Matrices:
    """Of the step that begins where the simulation is."""
    kept = []
    sim.stages.user = None
    sim.stages.formulate = lambda s: kept.append(s.matrices)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PainleveWarning)
        sim.step(1)
    return kept[0]


def critical(angle: float) -> float:
    return (np.tan(angle) + 4 / np.tan(angle)) / 3


@pytest.mark.parametrize("angle", [0.5, 0.8, np.arctan(2.0), 1.3])
def test_margin_of_a_rod(angle):
    found = paradox(matrices_of(sliding(angle, 2.0 * critical(angle))))
    assert len(found) == 1
    mu = 2.0 * critical(angle)
    margin = (1 + 3 * np.cos(angle) ** 2 - 3 * mu * np.sin(angle) * np.cos(angle)) / MASS
    assert found[0].margin == pytest.approx(margin, rel=1e-9)
    assert found[0].critical == pytest.approx(critical(angle), rel=1e-9)
    assert found[0].speed == pytest.approx(1.0)
    assert found[0].kind == "inconsistent"


@pytest.mark.parametrize("angle", [0.5, np.arctan(2.0), 1.3])
def test_both_sides_of_the_limit(angle):
    assert not paradox(matrices_of(sliding(angle, critical(angle) * (1 - 1e-9))))
    assert paradox(matrices_of(sliding(angle, critical(angle) * (1 + 1e-9))))
    assert not paradox(matrices_of(sliding(angle, 2 * critical(angle), speed=1.0)))  # towards where it leans
    assert not paradox(matrices_of(sliding(angle, 2 * critical(angle), speed=0.0)))  # at rest


def test_least_friction_of_the_paradox_is_four_thirds():
    angles = np.linspace(0.3, 1.4, 300)
    limits = [critical(angle) for angle in angles]
    assert min(limits) == pytest.approx(4 / 3, rel=1e-4)
    assert np.tan(angles[np.argmin(limits)]) == pytest.approx(2.0, rel=1e-2)


def test_sparse_and_bilateral_rows():
    """The same block of W, wherever it is stored."""
    block = np.array([[1.0, -2.0, 0.0], [-2.0, 9.0, 0.0], [0.0, 0.0, 1.0]])
    W = np.zeros((8, 8))
    W[:2, :2] = np.eye(2)
    W[2:5, 2:5] = W[5:, 5:] = block
    approach = np.array([0, 0, 0, 1.0, 0, 0, -1.0, 0])  # the second contact slides the other way
    for stored in (W, sp.csr_array(W)):
        m = Matrices(
            0.01, sp.eye_array(8), sp.eye_array(8), bilateral=2, delassus=stored, velocity=approach,
            free_velocity=approach + 0.1, gap=np.zeros(2), friction=np.ones(2), restitution=np.zeros(2),
        )  # fmt: skip
        found = paradox(m)
        assert [f.contact for f in found] == [1]
        assert found[0].margin == pytest.approx(-1.0)
        assert found[0].critical == pytest.approx(0.5)
        assert found[0].kind == "indeterminate"


@pytest.mark.parametrize("solver", ["interior-point", "pgs"])
def test_named_once_with_numbers(solver):
    """Step by step, and from compiled steps, which pgs has."""
    sim = ss.Simulation(rod(np.arctan(2.0), 1.6), method=f"coulomb/{solver}", dt=1e-4)
    sim.set_state(v=[-1.0, 0, 0, 0, 0, 0])
    with pytest.warns(PainleveWarning) as caught:
        sim.step(1)
    message = str(caught[0].message)
    for part in ("Painlevé", "inconsistent", "'rod' on 'world'", "μ = 1.6", "1.333", "1 m/s"):
        assert part in message
    assert len(caught) == 1
    assert caught[0].filename == __file__
    sim.set_state(q=sim.model.state().q, v=[-1.0, 0, 0, 0, 0, 0])
    sim.step(1)  # a second warning would be an error


@pytest.mark.filterwarnings("ignore::stickslip.PainleveWarning")
@pytest.mark.parametrize("solver", ["interior-point", "pgs"])
def test_the_motion_goes_on(solver):
    """An impact without collision: the end stops within a step, energy does not grow, everything stays finite."""
    sim = ss.Simulation(rod(np.arctan(2.0), 1.6), method=f"coulomb/{solver}", dt=1e-4, unconverged="raise")
    sim.set_state(v=[-1.0, 0, 0, 0, 0, 0])
    q, energy = sim.state.q.copy(), sum(sim.energy())
    sim.step(1)
    tip = sim.dynamics.frame_jacobian(q, "tip")[:3] @ sim.state.v
    np.testing.assert_allclose(tip, 0.0, atol=1e-7)
    assert sum(sim.energy()) < energy
    sim.run(0.3)
    assert np.all(np.isfinite(sim.state.q))
    assert sum(sim.energy()) < energy


def test_a_block_that_slides_is_no_paradox():
    scene = ss.Scene()
    scene.add_plane(friction=0.6)
    scene.add_box((0.2, 0.2, 0.1), pos=(0, 0, 0.05), mass=1.0)
    sim = ss.Simulation(scene, method="coulomb/interior-point")
    sim.set_state(v=[1.0, 0, 0, 0, 0, 0])
    sim.step(30)  # a warning would be an error
    assert sim.stepper.seen_paradox is None
