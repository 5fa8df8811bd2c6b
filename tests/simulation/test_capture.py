"""Captured problems are those of the simulation: the same step comes out, and taking them changes nothing."""

import numpy as np
import pytest

import stickslip as ss
from stickslip.errors import InputError, RecordingError
from stickslip.lab.problems import matrices
from stickslip.methods.rigid.formulations.registry import make_formulation
from stickslip.model.builders import add_chain
from stickslip.problem_files.problem_file import ProblemFile
from stickslip.simulation.captured_frame import capture
from stickslip.solvers import solve

DT = 0.005


def box(velocity=(0, 0, 0, 0, 0, 0)):
    scene = ss.Scene(name="box")
    scene.add_plane(friction=0.5)
    scene.add_box((0.2, 0.2, 0.1), pos=(0, 0, 0.05), mass=1.0)
    return scene, np.array(velocity, dtype=float)


def chain():
    """Five links with ball joints, turning in the air close to the floor."""
    scene = ss.Scene(name="chain")
    scene.add_plane(friction=0.5)
    add_chain(scene, 5, pos=(0, 0, 0.06))
    return scene, np.random.default_rng(0).normal(size=scene.compile().nv)


def arm():
    """A swinging rod that meets its joint limit, with a rod on a slide at its end."""
    scene = ss.Scene(name="arm")
    upper = scene.add_body("upper", joint="fixed", pos=(0, 0, 1))
    upper.set_inertia(1.0, inertia=(0.02, 0.03, 0.01), com=(0.1, 0.05, -0.2))
    upper.add_joint("hinge", axis=(0, 1, 0), range=(-1.0, 0.003), name="elbow")
    lower = upper.add_body("lower", pos=(0, 0, -0.4))
    lower.set_inertia(0.5, inertia=(0.01, 0.02, 0.03), com=(0.02, 0, -0.1))
    lower.add_joint("slide", axis=(0, 0, 1), name="slider")
    return scene, np.array([1.0, 0.3])


def simulation(setup, method="stewart-trinkle/lemke", **options):
    scene, velocity = setup
    sim = ss.Simulation(scene, method, dt=DT, **{"margin": 0.1, **options})
    sim.set_state(v=velocity)
    return sim


def until_touching(sim, steps):
    """So many steps, and as many more as it takes to find a contact."""
    sim.step(steps)
    sim.observe()
    for _ in range(100):
        if len(sim.contacts):
            return
        sim.step()
        sim.observe()
    raise AssertionError("nothing touches")


def rebuilt_step(sim):
    """V⁺ (n, 6) of the captured problem: made and solved without the simulation."""
    step = matrices(capture(sim))
    formulation = make_formulation("stewart-trinkle")
    problem = formulation.formulate(step)
    result = solve(problem, "lemke")
    assert result.success
    return step.new_velocity(formulation.impulses(step, problem, result.z)).reshape(-1, 6)


def link_velocities(sim, q, v):
    """(n, 6) linear, of the centre of mass, and angular velocity of every link, world axes."""
    result = []
    for b, name in list(enumerate(sim.model.link_names))[1:]:
        velocity = sim.dynamics.frame_velocity(q, v, name)
        _, rot = sim.dynamics.frame_pose(q, name)
        spin = velocity[3:]
        result.append([*(velocity[:3] + np.cross(spin, rot @ sim.model.inertia.com[b])), *spin])
    return np.array(result)


def body_velocities(sim, axes, V):
    """The same from velocities of free joints (world-linear at the origin, body-angular) of links with ``axes``."""
    result = np.empty((sim.model.nlink - 1, 6))
    for b in range(1, sim.model.nlink):
        spin = axes[b] @ V[6 * b - 3 : 6 * b]
        result[b - 1] = [*(V[6 * b - 6 : 6 * b - 3] + np.cross(spin, axes[b] @ sim.model.inertia.com[b])), *spin]
    return result


TOUCHING = pytest.mark.parametrize(
    ("setup", "before"),
    [
        (box(), 0),
        (box((1.0, 0.3, 0, 0, 0, 1.0)), 3),
        (box((0, 0, -1.0, 3.0, 2.0, 1.0)), 0),
        (chain(), 0),
        (chain(), 12),
    ],
    ids=["resting box", "sliding box", "tumbling box", "chain", "chain later"],
)


@TOUCHING
def test_a_rebuilt_step_is_the_simulated_one(setup, before):
    sim = simulation(setup)
    until_touching(sim, before)
    q = sim.state.q.copy()
    rebuilt = rebuilt_step(sim)
    sim.step()
    assert np.abs(rebuilt - link_velocities(sim, q, sim.state.v)).max() < 1e-9


@TOUCHING
def test_a_rebuilt_step_in_maximal_coordinates_is_the_simulated_one(setup, before):
    sim = simulation(setup, coordinates="maximal", stabilise=False)
    until_touching(sim, before)
    rebuilt, axes = rebuilt_step(sim), sim.kinematics.rot.copy()
    sim.step()
    assert np.abs(rebuilt - body_velocities(sim, axes, sim.stepper.coordinates.V)).max() < 1e-9


def test_joints_of_maximal_coordinates():
    """The rows of the method, its joint errors, and its limits."""
    sim = simulation(arm(), coordinates="maximal", stabilise=False)
    sim.step(2)
    frame = capture(sim)
    assert frame.constraints.rows.sum() == 11
    assert set(map(tuple, frame.constraints.pairs.tolist())) == {(-1, 1), (1, 2)}
    assert np.abs(frame.constraints.violations[:10]).max() > 1e-9
    rows, violation = sim.stepper.coordinates.bilateral()
    assert np.array_equal(frame.constraints.violations[:10], violation)
    assert np.allclose(matrices(frame).approach[:10], rows @ sim.stepper.coordinates.V, rtol=0, atol=1e-13)
    rebuilt, axes = rebuilt_step(sim), sim.kinematics.rot.copy()
    sim.step()
    assert np.abs(rebuilt - body_velocities(sim, axes, sim.stepper.coordinates.V)).max() < 1e-9


def test_soft_rows_are_captured_as_forces():
    """The convention of files has no place for armature, springs and dampers; what they do without contacts is kept."""
    scene = ss.Scene(name="soft arm")
    upper = scene.add_body("upper", joint="fixed", pos=(0, 0, 1))
    upper.set_inertia(1.0, inertia=(0.02, 0.03, 0.01), com=(0.1, 0.05, -0.2))
    upper.add_joint("hinge", axis=(0, 1, 0), armature=0.3, damping=20.0)
    lower = upper.add_body("lower", pos=(0, 0, -0.4))
    lower.set_inertia(0.5, inertia=(0.01, 0.02, 0.03), com=(0.02, 0, -0.1))
    lower.add_joint("slide", axis=(0, 0, 1), stiffness=1e4)
    sim = simulation((scene, [1.0, 0.3]), coordinates="maximal", stabilise=False)
    sim.step(2)
    assert len(sim.stepper.coordinates.soft()[1]) == 2
    assert capture(sim).constraints.rows.sum() == 10
    rebuilt, axes = rebuilt_step(sim), sim.kinematics.rot.copy()
    sim.step()
    assert np.abs(rebuilt - body_velocities(sim, axes, sim.stepper.coordinates.V)).max() < 1e-9


def test_joint_limits_are_captured():
    sim = simulation(arm())
    q = sim.state.q.copy()
    frame = capture(sim)
    assert frame.constraints.rows.tolist() == [5, 5, 1]
    assert frame.constraints.pairs.tolist() == [[-1, 1], [1, 2], [-1, 1]]
    assert frame.constraints.bounds[-1].tolist() == [0.0, np.inf]
    assert frame.constraints.violations[-1] == pytest.approx(0.003, abs=1e-15)
    rebuilt = rebuilt_step(sim)
    sim.step()
    assert sim.state.v[0] == pytest.approx(0.003 / DT, abs=1e-12)  # as fast as the limit allows, not as before: 1 rad/s
    assert np.abs(rebuilt - link_velocities(sim, q, sim.state.v)).max() < 1e-9


def test_bodies_have_the_momentum_energy_and_weight_of_the_simulation():
    sim = simulation(chain())
    frame = capture(sim)
    V, masses = frame.bodies.velocities.reshape(-1, 6), frame.bodies.masses[:, None]
    tensors = frame.bodies.world_inertia_tensors.reshape(-1, 3, 3)
    spin = np.einsum("bij,bj->bi", tensors, V[:, 3:])
    momentum = sim.dynamics.momentum(sim.state.q, sim.state.v, about=np.zeros(3))
    assert np.allclose((masses * V[:, :3]).sum(axis=0), momentum[:3], rtol=0, atol=1e-13)
    angular = spin + np.cross(frame.bodies.positions, masses * V[:, :3])
    assert np.allclose(angular.sum(axis=0), momentum[3:], rtol=0, atol=1e-13)
    energy = 0.5 * np.sum(masses * V[:, :3] ** 2) + 0.5 * np.sum(spin * V[:, 3:])
    assert energy == pytest.approx(sim.energy().kinetic, rel=1e-13)


def test_free_body_feels_gravity_and_its_gyroscopic_torque():
    scene = ss.Scene()
    scene.add_body("body").set_inertia(2.0, inertia=(1.0, 2.0, 3.0))
    w, J = np.array([0.3, 2.0, -1.0]), np.diag((1.0, 2.0, 3.0))
    for bias in ("explicit", "midpoint"):
        sim = ss.Simulation(scene, "stewart-trinkle/lemke", dt=DT, bias=bias)
        sim.set_state(v=[0, 0, 0, *w])
        force = capture(sim).bodies.forces
        sim.step()
        after = sim.state.v[3:] if bias == "midpoint" else w  # Kahan's product of both ends of the step
        torque = -0.5 * (np.cross(w, J @ after) + np.cross(after, J @ w))
        assert np.allclose(force[:3], (0, 0, -2.0 * 9.81), rtol=0, atol=1e-12)
        assert np.allclose(force[3:], torque, rtol=0, atol=1e-12)


def test_motors_act_on_link_and_parent():
    sim = simulation(arm())
    rest = capture(sim).bodies.forces.reshape(-1, 6)
    sim.inputs.applied[:] = 0.7, 2.0  # N m about y, N along z
    pushed = capture(sim).bodies.forces.reshape(-1, 6) - rest
    assert np.allclose(pushed[0, :3], (0, 0, -2.0), rtol=0, atol=1e-12)
    assert np.allclose(pushed[1, :3], (0, 0, 2.0), rtol=0, atol=1e-12)
    about = sum(np.cross(x, f[:3]) + f[3:] for x, f in zip(capture(sim).bodies.positions, pushed, strict=True))
    assert about[1] == pytest.approx(0.7, abs=1e-12)  # the slide's forces cancel, the hinge's torque is on the world


def test_capturing_changes_nothing(tmp_path):
    logs = [simulation(chain()).run(0.1, capture=path, record_dt=DT) for path in (None, tmp_path / "problems.h5")]
    assert logs[0].q.tobytes() == logs[1].q.tobytes()
    assert logs[0].v.tobytes() == logs[1].v.tobytes()


@pytest.mark.parametrize("method", ["peg/lemke", "semi-implicit-euler"])
def test_any_method_can_be_captured(tmp_path, method):
    path = tmp_path / "problems.h5"
    sim = simulation(box((0, 0, -0.1, 0, 0, 0)), method) if "/" in method else ss.Simulation(box()[0], method, dt=1e-4)
    sim.run(7 * sim.dt, capture=path, capture_every=3)
    with ProblemFile(path) as file:
        assert file.attributes["scene"] == "box"
        assert file.attributes["method"] == method.split("/")[0]
        frames = list(file)
    assert [frame.step for frame in frames] == [0, 3, 6]
    assert [frame.time for frame in frames] == pytest.approx([0.0, 3 * sim.dt, 6 * sim.dt])
    assert len(frames[2].contacts.gaps) >= 4
    assert frames[2].timestep == sim.dt
    assert matrices(frames[2]).contacts == len(frames[2].contacts.gaps)


def test_wrong_captures(tmp_path):
    sim = simulation(box())
    with pytest.raises(InputError, match="capture_every"):
        sim.run(0.01, capture=tmp_path / "x.h5", capture_every=0)
    with pytest.raises(RecordingError, match="existing folder"):
        sim.run(0.01, capture=tmp_path / "no" / "x.h5")
    (tmp_path / "robot.xml").write_text("<mujoco/>")
    with pytest.raises(RecordingError, match="another kind of file"):
        sim.run(0.01, capture=tmp_path / "robot.xml")
    sim.run(0.01, record=tmp_path / "run.h5")
    with pytest.raises(RecordingError, match="without groups mbs_frame"):
        sim.run(0.01, capture=tmp_path / "run.h5")
