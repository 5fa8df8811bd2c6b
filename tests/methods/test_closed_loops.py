"""Closed loops in time: they stay closed, energy stays, and methods that cannot hold them say so."""

from dataclasses import replace

import mujoco
import numpy as np
import pytest

import stickslip as ss
from stickslip.dynamics import Dynamics
from stickslip.maximal import Joint
from stickslip.methods.explicit.rk4 import RK4
from stickslip.methods.registry import METHODS
from stickslip.methods.soft.viscoelastic import Viscoelastic

HOLDING = [name for name, kind in METHODS.items() if kind.capabilities.stiff_loops]
SPRINGS = [name for name, kind in METHODS.items() if issubclass(kind, Viscoelastic)]


def scene(name: str) -> ss.Scene:
    return ss.SCENES[name].build().scene


def total(sim) -> float:
    return sum(sim.dynamics.energy(sim.state.q, sim.state.v))


def run(name, method, dt, time=1.0, **options):
    """(simulation at the end, energies on the way [J], largest joint error [m])."""
    sim = ss.Simulation(scene(name), method, dt=dt, **options)
    energy, worst = [total(sim)], 0.0
    for _ in range(20):
        sim.step(round(time / dt / 20))
        sim.observe()
        worst = max(worst, float(sim.stepper.joint_error()[:, 0].max()))
        energy.append(total(sim))
    return sim, np.array(energy), worst


@pytest.mark.parametrize("method", HOLDING)
def test_a_four_bar_stays_closed_and_keeps_its_energy(method):
    """The crank falls through a third of a turn; the loop has a redundant row."""
    sim, energy, worst = run("four-bar", method, 0.005)
    assert worst < 1e-9
    assert np.abs(energy - energy[0]).max() < 0.1  # of 4 J that move
    maximal = ("crank", "coupler", "rocker") if method == "variational" else ()
    assert sim.stepper.constraint_names == (*maximal, "pin")
    assert sim.stepper.unconverged == 0


def test_mujoco_s_loops_open_by_millimetres_and_less_with_smaller_steps():
    opened = []
    for dt in (0.004, 0.002, 0.001):
        sim, energy, worst = run("four-bar", "mujoco", dt)
        opened.append(worst)
        assert np.abs(energy - energy[0]).max() < 0.1
        assert sim.stepper.constraint_names == ("pin",)
    assert 1e-5 < opened[2] < opened[1] < opened[0] < 5e-3, opened


@pytest.mark.parametrize("method", SPRINGS)
@pytest.mark.parametrize("name", ["four-bar", "bricard"])
def test_loops_of_springs_open_by_weight_over_stiffness(method, name):
    """Their motion is that of rigid loops; their rows may be redundant."""
    sim, energy, worst = run(name, method, 0.0002, time=0.5)
    assert 1e-5 < worst < 1e-3
    assert np.abs(energy - energy[0]).max() < 0.03
    reference, _, _ = run(name, "bilateral", 0.0002, time=0.5)
    np.testing.assert_allclose(sim.state.q, reference.state.q, atol=0.02)


def test_openings_are_measured_alike():
    """From poses alone, and by the rows of bilateral contact: a connect and a weld that are open and moving."""
    boxes = ss.Scene()
    for k, name in enumerate(("one", "two", "three")):
        boxes.add_box((0.2, 0.2, 0.2), pos=(0.5 * k, 0, 1), mass=1.0, name=name, collide=False)
    boxes.weld("one", "two")
    boxes.connect("two", "three", pos=(0.1, 0.05, 0.0))
    rng, errors = np.random.default_rng(2), []
    model = boxes.compile()
    q = Dynamics(model).integrate(model.state().q, 0.1 * rng.normal(size=model.nv))
    v = rng.normal(size=model.nv)
    for method in ("mujoco", "bilateral", "expo"):
        sim = ss.Simulation(model, method, dt=1e-3)
        sim.set_state(q, v)
        sim.observe()
        errors.append(sim.stepper.joint_error())
    assert errors[0].min() > 0.01
    np.testing.assert_allclose(errors[0], errors[1], rtol=1e-9)
    np.testing.assert_allclose(errors[2], errors[1], rtol=1e-9)


@pytest.mark.parametrize("method", ["bilateral", "stewart-trinkle/lemke"])
def test_order_one(method):
    def end(method, dt):
        sim = ss.Simulation(scene("four-bar"), method, dt=dt)
        sim.set_state(v=[2.0, -2.0, 0.8])
        sim.step(round(0.2 / dt))
        return sim.state.q

    reference = end("bilateral", 0.00005)
    errors = [np.abs(end(method, dt) - reference).max() for dt in (0.004, 0.002, 0.001)]
    assert np.all(np.abs(np.diff(np.log2(errors)) + 1.0) < 0.35), errors


@pytest.mark.parametrize("method", ["bilateral", "coulomb", "stewart-trinkle/interior-point"])
def test_bricard_s_ring_moves(method):
    """Five hinges, six rows, rank four: it moves, keeps closed and keeps its threefold symmetry."""
    sim, energy, worst = run("bricard", method, 0.002)
    assert worst < 1e-9
    assert np.abs(energy - energy[0]).max() < 0.03
    assert np.abs(sim.state.q).max() > 0.5
    np.testing.assert_allclose(sim.state.q[[0, 2]], sim.state.q[4], atol=1e-6)


def test_maximal_coordinates_hold_loops_as_joints():
    joint, _, _ = run("four-bar", "stewart-trinkle/lemke", 0.001)
    maximal, energy, worst = run("four-bar", "stewart-trinkle/lemke", 0.001, coordinates="maximal")
    assert worst < 1.1e-5
    assert maximal.stepper.constraint_names[-1] == "pin"
    assert np.abs(energy - energy[0]).max() < 0.02
    np.testing.assert_allclose(maximal.state.q, joint.state.q, atol=0.03)


def test_a_weld_holds_a_pose():
    """Two free boxes, welded, fly as one; in joint and in maximal coordinates, and by accelerations."""
    ends = []
    for method, options in (("bilateral", {}), ("coulomb", {}), ("coulomb", {"coordinates": "maximal"})):
        boxes = ss.Scene(gravity=(0, 0, 0))
        boxes.add_box((0.2, 0.2, 0.2), pos=(0, 0, 1), mass=1.0, name="one", collide=False)
        boxes.add_box((0.2, 0.2, 0.2), pos=(0.5, 0, 1), mass=2.0, name="two", collide=False)
        boxes.weld("one", "two")
        sim = ss.Simulation(boxes, method, dt=0.002, **options)
        spin = np.array([0.3, 2.0, 0.5])
        sim.set_state(v=[0, 0, 0, *spin, *np.cross(spin, [0.5, 0, 0]), *spin])
        sim.step(500)
        q = sim.state.q
        turn = np.abs(q[3:7] @ q[10:14])
        assert turn == pytest.approx(1.0, abs=1e-8)
        assert np.linalg.norm(q[7:10] - q[:3]) == pytest.approx(0.5, abs=1e-5)
        ends.append(q)
    np.testing.assert_allclose(ends[1], ends[0], atol=0.02)
    np.testing.assert_allclose(ends[2], ends[0], atol=0.02)


def test_near_mujoco_with_very_stiff_equalities():
    """MuJoCo's loops are springs; with a stiff solref and its Runge–Kutta the crank is where ours is."""
    four_bar = scene("four-bar")
    model = four_bar.compile()
    mj = model.mj
    mj.eq_solref[:], mj.eq_solimp[:] = (0.002, 1.0), (0.9999, 0.9999, 0.001, 0.5, 2)
    mj.opt.timestep, mj.opt.integrator = 1e-4, mujoco.mjtIntegrator.mjINT_RK4
    data = mujoco.MjData(mj)
    data.qpos[:] = model.state().q
    for _ in range(5000):
        mujoco.mj_step(mj, data)
    sim = ss.Simulation(scene("four-bar"), "bilateral", dt=2e-4)
    sim.step(2500)
    np.testing.assert_allclose(sim.state.q, data.qpos, atol=2e-3)
    assert np.abs(sim.state.q).max() > 0.03


def test_methods_that_hold_no_loops_refuse_by_name():
    class Plain(RK4):
        capabilities = replace(RK4.capabilities, loops=False)

    with pytest.raises(ss.InputError, match=r"does not hold closed loops \('pin'\).*bilateral"):
        ss.Simulation(scene("four-bar"), Plain)


def test_loops_and_contacts_together():
    """A four-bar over the floor: its rocker comes to rest on a block, and the loop holds."""
    bars = scene("four-bar")
    bars.add_box((0.1, 0.4, 0.1), pos=(-0.25, 0, 0.05), joint="fixed", name="block")
    bars.spec.body("crank").geoms[0].contype = bars.spec.body("crank").geoms[0].conaffinity = 1
    for method in ("stewart-trinkle/lemke", "stewart-trinkle/interior-point"):
        sim = ss.Simulation(bars, method, dt=0.002)
        sim.set_state(v=[-2.0, 2.0, -0.8])
        sim.step(800)
        sim.observe()
        assert sim.stepper.joint_error()[0, 0] < 1e-9
        assert np.abs(sim.state.v).max() < 1e-6
        assert sim.contacts.arrays.force[: len(sim.contacts), 0].max() > 0.1


@pytest.mark.parametrize("dt", [4e-3, 2e-3, 1e-3])
def test_loop_closure_leaves_contacts_an_approach_of_the_order_of_dt(dt):
    """Contacts are not asked again after it: those that touch approach with at most 5 m/s²·dt here, at rest not."""
    bars = scene("four-bar")
    bars.add_box((0.1, 0.4, 0.1), pos=(-0.25, 0, 0.05), joint="fixed", name="block")
    bars.spec.body("crank").geoms[0].contype = bars.spec.body("crank").geoms[0].conaffinity = 1
    sim = ss.Simulation(bars, "stewart-trinkle/lemke", dt=dt)
    sim.set_state(v=[-2.0, 2.0, -0.8])
    approach = []
    for _ in range(round(0.6 / dt)):
        sim.step()
        sim.observe()
        c, n = sim.contacts.arrays, len(sim.contacts)
        touching = c.gap[:n] <= 1e-6
        if touching.any():
            approach.append(-float(c.velocity[:n, 0][touching].min()))
    assert max(approach) < 5.0 * dt
    assert approach[-1] < 1e-12


def test_snapshots_and_recordings(tmp_path):
    sim = ss.Simulation(scene("four-bar"), "coulomb", dt=0.005)
    sim.step(20)
    snapshot = sim.snapshot()
    sim.step(20)
    end = sim.state.q.copy()
    sim.restore(snapshot)
    log = sim.run(0.1, record=tmp_path / "bars.h5")
    np.testing.assert_array_equal(sim.state.q, end)
    assert log.joint_error.shape[1:] == (1, 2)
    assert np.abs(log.joint_error[..., 0]).max() < 1e-9


def test_a_loop_that_cannot_close_is_not_hidden():
    """Two welds that contradict each other: unconverged steps are counted, nothing is NaN."""
    boxes = ss.Scene()
    boxes.add_box((0.2, 0.2, 0.2), pos=(0, 0, 1), mass=1.0, name="one", collide=False)
    boxes.weld("one", name="here")
    boxes.connect("one", pos=(0, 0, 0), name="there")
    boxes.spec.equalities[1].data[3:6] = (0.0, 0.0, 1.5)
    boxes.spec.equalities[1].data[:3] = 0.0
    sim = ss.Simulation(boxes, "stewart-trinkle/lemke", dt=0.01)
    sim.step(5)
    assert np.all(np.isfinite(sim.state.q))


def test_extra_joints_still_close_loops():
    """Beside the model's own."""
    held = [Joint("fixed", "world", "crank")]
    sim = ss.Simulation(scene("four-bar"), "stewart-trinkle/lemke", dt=0.01, coordinates="maximal", extra_joints=held)
    sim.step(50)
    np.testing.assert_allclose(sim.state.q, 0.0, atol=1e-4)
    assert sim.stepper.constraint_names[-2:] == ("pin", "fixed world–crank")
