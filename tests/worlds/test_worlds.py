"""Many worlds: each is, to the bit, what a ``Simulation`` of it is."""

import copy
import subprocess
import sys

import numpy as np
import pytest

import stickslip as ss
from stickslip.errors import InputError
from stickslip.methods.registry import METHODS
from stickslip.worlds.cuda.layout import WRITTEN_FIRST, Layout, Scratch, parts
from stickslip.worlds.cuda.single import single_precision
from stickslip.worlds.lane import Lane

BALL_DT = {"semi-implicit-euler": 1e-4, "euler": 1e-4, "rk4": 1e-4}


def rolling_ball():
    scene = ss.Scene()
    scene.add_plane(friction=0.5, stiffness=1e4, damping=50.0)
    scene.add_body("ball", pos=(0.0, 0.0, 0.1)).add_sphere(0.1, mass=1.0)
    return scene


def servo_robot():
    """Solo12 on a plane, held by servos; returns the model and the controls of its posture."""
    model = ss.SCENES["solo12-stand"].build().scene.compile()
    for name in model.actuator_names:
        model.set_actuator(name, gain=10.0, bias=(0.0, -10.0, -0.2))
    joints = model.mj.actuator_trnid[:, 0]
    return model, model.state().q[model.mj.jnt_qposadr[joints]]


def same(worlds, w, sim):
    return np.array_equal(worlds.q[w], sim.state.q) and np.array_equal(worlds.v[w], sim.state.v)


@pytest.mark.parametrize("method", sorted(METHODS))
def test_a_world_is_what_a_simulation_is(method):
    dt = BALL_DT.get(method, 1e-3)
    worlds = ss.Worlds(rolling_ball(), 3, method, dt, threads=2)
    v = np.outer([1.0, 2.0, 3.0], [0.3, 0.1, 0.0, 0.0, 0.5, 1.0])
    worlds.set_state(v=v)
    for n in (1, 4, 20):
        worlds.step(n)
    assert np.ptp(worlds.q[:, 0]) > 1e-4 * dt
    for w in range(3):
        sim = ss.Simulation(rolling_ball(), method, dt)
        sim.set_state(v=v[w])
        sim.step(25)
        assert same(worlds, w, sim)
    assert (worlds.by_python > 0).all() == bool(worlds.why_python)
    assert not worlds.diverged.any()
    np.testing.assert_allclose(worlds.time, 25 * dt)


@pytest.mark.parametrize(("method", "dt"), [("semi-implicit-euler", 1e-4), ("coulomb/pgs", 1e-3)])
def test_robots_with_states_controls_and_parameters_of_their_own(method, dt):
    model, home = servo_robot()
    n, rng = 4, np.random.default_rng(0)
    worlds = ss.Worlds(model, n, method, dt, threads=2)
    friction, mass = np.linspace(0.1, 0.9, n), np.linspace(1.0, 2.0, n)
    gravity = np.column_stack([np.zeros(n), np.linspace(0.0, 2.0, n), np.full(n, -9.81)])
    worlds.set_shape("shape0", friction=friction)
    worlds.set_body("base_link", mass=mass)
    worlds.set_gravity(gravity)
    v, control = 0.5 * rng.normal(size=(n, model.nv)), home + 0.1 * rng.normal(size=(n, model.nu))
    worlds.set_state(v=v)
    worlds.control[:] = control
    worlds.wrench[:, 1, 0] = np.arange(n)
    for _ in range(4):
        worlds.step(15)
    for w in range(n):
        sim = ss.Simulation(servo_robot()[0], method, dt)
        sim.model.set_shape("shape0", friction=friction[w])
        sim.model.set_body("base_link", mass=mass[w])
        sim.model.set_gravity(gravity[w])
        sim.set_state(v=v[w])
        sim.set_control(control[w])
        sim.inputs.wrench[1, 0] = w
        sim.step(60)
        assert same(worlds, w, sim)
        assert worlds.contacts.count[w] == len(sim.contacts)
        for link in ("FL_LOWER_LEG", "HR_LOWER_LEG"):
            np.testing.assert_allclose(worlds.contacts.force_on(link)[w], sim.contacts.force_on(link), atol=1e-9)
    assert worlds.contacts.count.any()
    pos, rot = worlds.link_poses()
    np.testing.assert_array_equal(pos[:, 1], worlds.q[:, :3])
    np.testing.assert_allclose(np.linalg.det(rot), 1.0)


def test_snapshots_resets_and_a_closer_look():
    worlds = ss.Worlds(rolling_ball(), 3, "coulomb/pgs", 1e-3, seed=5)
    worlds.set_state(v=[1.0, 0.0, 0.0, 0.0, 0.0, 0.0], worlds=[1, 2])
    worlds.step(10)
    before = worlds.snapshot()
    worlds.step(10)
    after = worlds.q.copy()
    worlds.restore(before)
    assert list(worlds.steps) == [10, 10, 10]
    worlds.step(10)
    np.testing.assert_array_equal(worlds.q, after)
    sim = worlds.simulation(2)
    assert same(worlds, 2, sim)
    sim.step(5)
    worlds.step(5)
    assert same(worlds, 2, sim)
    worlds.reset(np.array([True, False, False]))
    assert list(worlds.steps) == [0, 25, 25]
    np.testing.assert_array_equal(worlds.q[0], ss.Simulation(rolling_ball()).state.q)
    assert worlds.rng(1).random() == ss.Worlds(rolling_ball(), 2, "coulomb/pgs", seed=5).rng(1).random()
    assert worlds.rng(0).random() != worlds.rng(1).random()
    assert "3 worlds by coulomb/pgs" in repr(worlds)


def test_a_world_that_diverges_stops_alone():
    worlds = ss.Worlds(rolling_ball(), 3, "semi-implicit-euler", 1e-4)
    alone = ss.Worlds(rolling_ball(), 3, "semi-implicit-euler", 1e-4)
    worlds.v[1, 0] = 1e10
    worlds.step(10)
    alone.step(10)
    assert list(worlds.diverged) == [False, True, False]
    assert list(worlds.steps) == [10, 0, 10]
    assert "1e+09" in worlds.failures[1]
    np.testing.assert_array_equal(worlds.q[[0, 2]], alone.q[[0, 2]])
    worlds.reset(worlds.diverged)
    worlds.step(10)
    assert not worlds.diverged.any()
    assert not worlds.failures
    np.testing.assert_array_equal(worlds.q[1], alone.q[1])


@pytest.mark.parametrize("method", ["semi-implicit-euler", "coulomb/pgs"])
def test_an_overflow_of_contacts_is_counted_and_changes_no_bits(method):
    def heap():
        scene = ss.Scene()
        scene.add_plane(friction=0.5)
        for k in range(4):
            scene.add_body(f"ball{k}", pos=(0.25 * k, 0.0, 0.1)).add_sphere(0.1, mass=1.0)
        return scene

    worlds = ss.Worlds(heap(), 2, method, 1e-4, contacts=1)
    q = worlds.q.copy()
    q[1, [9, 16, 23]] += 1.0  # in world 1 one ball lies, the others fall
    worlds.set_state(q=q)
    for _ in range(3):
        worlds.step(7)
    assert worlds.overflows[1] == 0
    assert worlds.by_python[0] > 0
    assert worlds.contacts.count[0] == 4
    for w in range(2):
        sim = ss.Simulation(heap(), method, 1e-4)
        sim.set_state(q=q[w])
        sim.step(21)
        assert same(worlds, w, sim)


ARM = """<mujoco><worldbody><body><joint name="a" type="hinge" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 0.5 0 0" size="0.05"/></body></worldbody>
<actuator><general joint="a" dyntype="filter" dynprm="0.05" gainprm="3" ctrllimited="false"/></actuator></mujoco>"""


def test_activations_between_controls_and_joints(tmp_path):
    (tmp_path / "arm.xml").write_text(ARM)
    worlds = ss.Worlds(tmp_path / "arm.xml", 2, "semi-implicit-euler", 1e-3)
    worlds.control[:, 0] = 1.0, 2.0
    worlds.step(5)
    worlds.step(5)
    for w in range(2):
        sim = ss.Simulation(tmp_path / "arm.xml", "semi-implicit-euler", 1e-3)
        sim.set_control([w + 1.0])
        sim.step(10)
        assert same(worlds, w, sim)
        np.testing.assert_array_equal(worlds.act[w], sim.state.act)


def test_what_cannot_be_is_refused_with_a_remedy():
    with pytest.raises(InputError, match="cpu"):
        ss.Worlds(rolling_ball(), 2, device="tpu")
    with pytest.raises(InputError, match="float64"):
        ss.Worlds(rolling_ball(), 2, dtype=np.int32)
    with pytest.raises(InputError, match="cuda"):
        ss.Worlds(rolling_ball(), 2, dtype=np.float32)
    with pytest.raises(InputError, match="whole number"):
        ss.Worlds(rolling_ball(), 0)
    worlds = ss.Worlds(rolling_ball(), 2, "coulomb/pgs", 1e-3)
    with pytest.raises(InputError, match=r"\(2, 7\)"):
        worlds.set_state(q=np.zeros((3, 7)))
    with pytest.raises(InputError, match="mask"):
        worlds.reset([True, False, True])
    worlds.v[1, 0] = np.nan
    with pytest.raises(InputError, match="finite"):
        worlds.step(1)
    worlds.v[1, 0] = 0.0
    with pytest.raises(InputError, match="first time"):
        worlds.set_body("ball", mass=2.0, worlds=[0])
    with pytest.raises(InputError, match="row per world"):
        worlds.set_body("ball", mass=[1.0, 2.0, 3.0])
    with pytest.raises(InputError, match="write into it"):
        worlds.q = np.zeros((2, 7))
    with pytest.raises(InputError, match="snapshot"):
        copy.deepcopy(worlds)
    with pytest.raises(InputError, match="same scene"):
        worlds.restore(ss.Worlds(rolling_ball(), 2, "coulomb/pgs", 2e-3).snapshot())


def test_without_a_gpu_the_error_says_what_to_do():
    try:
        from numba import cuda

        there = cuda.is_available()
    except ImportError:
        there = False
    if there:
        pytest.skip("there is a GPU")
    with pytest.raises(InputError, match=r"stickslip\[gpu\]"):
        ss.Worlds(rolling_ball(), 2, device="cuda")


def test_worlds_on_the_cpu_import_nothing_of_cuda():
    code = "import stickslip, sys; stickslip.Worlds; print([m for m in sys.modules if m.split('.')[0] == 'cuda'])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


@pytest.mark.parametrize(("method", "dt"), [("semi-implicit-euler", 1e-4), ("coulomb/pgs", 1e-3)])
def test_scratch_that_a_gpu_leaves_unwritten_is_written_before_it_is_read(method, dt):
    """On a GPU scratch begins with anything; the fields that ``WRITTEN_FIRST`` names may."""
    model, home = servo_robot()
    ends = []
    for spoiled in (False, True):
        sim = ss.Simulation(model, method, dt)
        sim.set_control(home)
        lane = Lane(sim)
        for _ in range(12):
            call = lane.call()
            layout = Layout(call, lane.arrays(call))
            for (owner, value), place in zip(parts(call.held.given), layout.places, strict=True):
                if spoiled and isinstance(place, Scratch) and place.offset < 0:
                    assert owner.partition(".")[0] in WRITTEN_FIRST
                    value[...] = np.nan if value.dtype.kind == "f" else -1
            sim.step(5)
        ends.append(np.concatenate([sim.state.q, sim.state.v]))
    np.testing.assert_array_equal(*ends)


def test_a_layout_gives_every_argument_a_place():
    sim = ss.Simulation(rolling_ball(), "coulomb/pgs", 1e-3)
    sim.stepper.fit_room(4)
    lane = Lane(sim)
    call = lane.call()
    layout = Layout(call, lane.arrays(call))
    assert len(layout.places) == len(list(call.arguments()))
    assert len(layout.shared_block()) == layout.shared_bytes > 0
    ((address, _),) = sim.stepper.cores_at_hand()
    assert address in layout.places
    assert address not in Layout(call, lane.arrays(call), (), False, [address]).places  # it changes with the process
    single = Layout(call, lane.arrays(call), (), True)
    assert single.scratch_bytes < layout.scratch_bytes
    assert single.key() != layout.key() == Layout(call, lane.arrays(call)).key()


def test_single_precision_rewrites_types_constants_and_functions():
    code = """define double @f(double* %p) {
  %x = load double, double* %p
  %y = fmul double %x, 0x3FB999999999999A
  %z = fadd double %y, 1.5
  %r = call double @"__nv_sqrt"(double %z)
  %k = add i64 1, 2
  ret double %r
}"""
    single = single_precision(code)
    assert "double" not in single
    assert "@__nv_sqrtf(float %z)" in single
    assert "0x3FB99999A0000000" in single  # 0.1 in single precision
    assert "add i64 1, 2" in single
