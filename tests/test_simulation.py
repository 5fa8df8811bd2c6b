"""The loop: stages, controllers, snapshots, divergence, buffers, options that cannot be."""

import os
import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest

import stickslip as ss
from stickslip.collision.contacts import grown
from stickslip.errors import NotHonouredWarning, StartWarning, UnstableStepWarning
from stickslip.methods.registry import variants
from stickslip.model.builders import add_cylinder_on_points


@pytest.fixture
def solo():
    """Solo12 dropped from 3 cm with its controller."""
    scene = ss.Scene()
    scene.add_plane(friction=0.8)
    robot = scene.add_robot("solo12")
    scene.set_home("root", [0, 0, 0.25, 1, 0, 0, 0])
    return scene, ss.control.PD(robot, kp=10, kd=0.2)


def box_scene(**material):
    scene = ss.Scene()
    scene.add_plane(friction=0.4, **material)
    scene.add_box((0.2, 0.2, 0.2), pos=(0, 0, 0.15), mass=1.0)
    return scene


# -- running ------------------------------------------------------------------------------------------------------


def test_solo12_lands_and_stands(solo):
    scene, controller = solo
    log = ss.Simulation(scene).run(1.0, controller=controller)
    assert log.outcome == "complete"
    assert log.time[-1] == pytest.approx(1.0)
    assert log.contact_force()[-1] == pytest.approx(2.5000028 * 9.81, rel=0.01)
    assert 0.15 < log.pose[-1, 1, 2] < 0.25
    assert np.abs(log.q[-1, 3:7]).max() == pytest.approx(1.0, abs=1e-3)  # upright


def test_controller_is_called_at_its_rate_and_held_between(solo):
    scene, _ = solo
    sim = ss.Simulation(scene, dt=1e-4)
    times = []

    def controller(t, q, v):
        times.append(t)
        return np.zeros(12)

    sim.run(0.05, controller=controller, control_dt=0.002)
    np.testing.assert_allclose(times, np.arange(25) * 0.002, atol=1e-12)


def test_controller_cannot_change_the_state_behind_our_back(solo):
    scene, _ = solo
    sim = ss.Simulation(scene, dt=1e-4)

    def careless(t, q, v):
        q[:] = np.nan
        return np.zeros(12)

    assert np.all(np.isfinite(sim.run(0.01, controller=careless).q))


def test_runs_are_identical_to_the_bit(solo):
    scene, controller = solo
    runs = [ss.Simulation(scene).run(0.2, controller=controller) for _ in range(2)]
    np.testing.assert_array_equal(runs[0].q, runs[1].q)
    np.testing.assert_array_equal(runs[0].contact("force"), runs[1].contact("force"))


def test_recording_does_not_change_the_motion():
    a, b = (ss.Simulation(box_scene(), dt=2e-4) for _ in range(2))
    a.run(0.3, record_dt=2e-4)
    b.step(1500)
    np.testing.assert_array_equal(a.state.q, b.state.q)


def test_recorded_forces_explain_the_recorded_motion():
    """Σ f·dt = m·(Δv + g·dt) over consecutive frames, one frame per step: a frame has the forces of the last step."""
    sim = ss.Simulation(box_scene(), dt=2e-4)
    log = sim.run(0.3, record_dt=2e-4)
    impulse = log.contact_force()[1:] * sim.dt
    np.testing.assert_allclose(impulse, np.diff(log.v[:, 2]) + 9.81 * sim.dt, atol=1e-12)


def test_file_and_memory_logs_agree(tmp_path):
    log = ss.Simulation(box_scene(), dt=2e-4).run(0.3)
    ss.Simulation(box_scene(), dt=2e-4).run(0.3, record=tmp_path / "run.h5")
    loaded = ss.load(tmp_path / "run.h5")
    np.testing.assert_array_equal(loaded.q, log.q)
    np.testing.assert_array_equal(loaded.contact("force"), log.contact("force"))
    assert loaded.options["method"] == "semi-implicit-euler"
    again = ss.Scene.from_xml(loaded.scene_xml).compile()
    np.testing.assert_array_equal(again.inertia.mass, ss.Simulation(box_scene()).model.inertia.mass)


def test_a_model_alone_is_recorded_with_its_scene(tmp_path):
    model = box_scene().compile()
    ss.Simulation(model).run(0.01, record=tmp_path / "run.h5")
    again = ss.Scene.from_xml(ss.load(tmp_path / "run.h5").scene_xml).compile()
    assert again.fingerprint == model.fingerprint


def test_default_dt_is_stable():
    for name in ("solo12-drop", "chain", "cylinder", "hopper"):
        setup = ss.SCENES[name].build()
        sim = ss.Simulation(setup.scene)
        assert sim.dt <= 0.5 * sim.stepper.stable_dt(sim.state) * (1 + 1e-9)
        sim.run(0.3, controller=setup.controller)


def test_a_simulation_without_a_method_chooses_a_usable_one():
    assert ss.Simulation(box_scene()).why_method.startswith("semi-implicit-euler, because steps of ")
    scene = ss.Scene()
    scene.add_plane()
    scene.add_box((1e-3, 1e-3, 1e-3), pos=(0, 0, 0.01), mass=1e-6)
    sim = ss.Simulation(scene)
    assert sim.method == "coulomb"
    assert sim.dt == sim.stepper.default_dt
    assert sim.why_method == "coulomb/pgs, because springs and dampers would need steps of 1e-09 s in this scene"
    assert ss.Simulation(scene, dt=1e-9).method == "semi-implicit-euler"  # stable, so the user's dt decides
    assert ss.Simulation(scene, "coulomb").why_method == ""
    sim = ss.Simulation(box_scene(), dt=0.01)  # what springs and dampers could not take is no default
    assert sim.why_method.startswith("coulomb/pgs, because springs and dampers would need steps below ")


def test_heavy_bodies_do_not_sink_into_the_default():
    def crates(*masses, **material):
        scene = ss.Scene()
        scene.add_plane(**material)
        for k, mass in enumerate(masses):
            scene.add_box((1, 1, 1), pos=(0, 0, 0.5 + k), mass=mass)
        return ss.Simulation(scene)

    assert crates(1.0).method == "semi-implicit-euler"
    assert crates(1000.0, stiffness=1e5).method == "semi-implicit-euler"  # whoever names springs gets them
    assert crates(1000.0, 1000.0).why_method.startswith("coulomb/pgs, because the weight of this scene would press")
    sim = crates(1.0, 1e5)
    assert sim.why_method.endswith("and one body is 1e+05 times as heavy as another")
    sim.run(0.1)  # a step that is not solved would be a warning, and an error here
    np.testing.assert_allclose(sim.state.q[2::7], [0.5, 1.5], atol=1e-5)


@pytest.mark.parametrize("method", ["coulomb", "variational"])
def test_the_default_step_is_a_few_steps_of_the_file(method):
    ball = '<worldbody><body pos="0 0 1"><freejoint/><geom size="0.1"/></body></worldbody>'
    for step, expected in ((0.0005, 2e-3), (0.001, 5e-3), (0.002, 1e-2), (0.01, 1e-2)):
        scene = ss.Scene.from_xml(f'<mujoco><option timestep="{step}"/><size memory="1M" nconmax="9"/>{ball}</mujoco>')
        assert scene.notes == (
            [f"only the method mujoco uses the file's option timestep={step}"] if step != 0.002 else []
        )
        assert ss.Simulation(scene, method).dt == expected


def test_shapes_that_cannot_move_against_each_other_do_not_limit_the_step():
    """Three balls about one point, on hinges through it."""
    ball = '<joint type="hinge"/><geom size="0.1"/>'
    balls = f"<body>{ball}<body>{ball}<body>{ball}<body>{ball}</body></body></body></body>"
    sim = ss.Simulation(ss.Scene.from_xml(f"<mujoco><worldbody>{balls}</worldbody></mujoco>"))
    assert sim.dt == sim.stepper.default_dt


def test_wrench_and_joint_forces_act():
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_box((0.1, 0.1, 0.1), mass=2.0)
    sim = ss.Simulation(scene, dt=1e-3)
    sim.inputs.wrench[1] = 4.0, 0, 0, 0, 0, 0
    sim.step(1000)
    assert sim.state.v[0] == pytest.approx(2.0, rel=1e-12)
    sim.inputs.wrench[:] = 0
    sim.inputs.applied[1] = 6.0
    sim.step(1000)
    np.testing.assert_allclose(sim.state.v[:2], [2.0, 3.0], rtol=1e-12)


def test_joint_damping_is_implicit():
    """D·dt/I = 100: explicit damping would explode; the exact decay is v₀/(1 + dt·D/I)ⁿ."""
    scene = ss.Scene(gravity=(0, 0, 0))
    body = scene.add_body("wheel", joint="hinge", damping=10.0)
    body.set_inertia(1.0, inertia=(1e-3, 1e-3, 1e-3))
    sim = ss.Simulation(scene, dt=1e-2)
    sim.set_state(v=[1.0])
    sim.step(2)
    assert sim.state.v[0] == pytest.approx(1 / 101.0**2, rel=1e-9)


# -- stages -------------------------------------------------------------------------------------------------------


def python_collision(sim):
    """The box's corners against the floor, found by NumPy."""
    sim.contacts.clear()
    for k, corner in enumerate(np.array(np.meshgrid(*[(-0.1, 0.1)] * 3)).T.reshape(-1, 3)):
        point = sim.kinematics.pos[1] + sim.kinematics.rot[1] @ corner
        if point[2] < 0:
            sim.contacts.add(0, 1, point, (0, 0, 1), point[2], pair=k, friction=0.4)


def python_formulate(sim):
    """Frictionless springs."""
    c = sim.contacts.arrays
    n = len(sim.contacts)
    c.force[:n] = 0
    c.force[:n, 0] = np.maximum(0, -c.material[:n, 1] * c.gap[:n])


def python_solve(sim):
    """Newton's law for the one box, from the contact forces."""
    c, n = sim.contacts.arrays, len(sim.contacts)
    force = np.einsum("ni,nij->j", c.force[:n], c.axes[:n])
    arm = c.point[:n] - sim.kinematics.pos[1]
    torque = np.cross(arm, np.einsum("ni,nij->nj", c.force[:n], c.axes[:n])).sum(axis=0)
    inertia = sim.model.inertia.inertia[1, :3]
    omega = sim.state.v[3:]
    sim.acceleration[:3] = force + np.array([0, 0, -9.81])
    sim.acceleration[3:] = (sim.kinematics.rot[1].T @ torque - np.cross(omega, inertia * omega)) / inertia


def python_integrate(sim):
    sim.state.v += sim.dt * sim.acceleration
    sim.state.q[:] = sim.dynamics.integrate(sim.state.q, sim.state.v, sim.dt)


@pytest.mark.parametrize(
    "stages",
    [
        {"user": lambda sim: None},
        {"collision": python_collision},
        {"solve": python_solve},
        {"integrate": python_integrate},
        {"collision": python_collision, "solve": python_solve, "integrate": python_integrate},
    ],
    ids=lambda stages: "+".join(stages),
)
def test_python_stages_give_the_compiled_result(stages):
    compiled, staged = (ss.Simulation(box_scene(), dt=2e-4, stiffness_per="point", **s) for s in ({}, stages))
    for sim in (compiled, staged):
        sim.set_state(v=[0.3, 0.1, 0, 0.5, 0.2, 0.1])
        sim.step(1200)
    assert len(staged.contacts) >= 1
    np.testing.assert_allclose(staged.state.q, compiled.state.q, atol=1e-9)


def spheres_collision(sim):
    """Two spheres of radius 0.1 against each other: link 1 moves, too."""
    sim.contacts.clear()
    apart = sim.kinematics.pos[2] - sim.kinematics.pos[1]
    distance = np.linalg.norm(apart)
    if distance < 0.2:
        normal = apart / distance
        point = sim.kinematics.pos[2] - 0.1 * normal
        sim.contacts.add(1, 2, point, normal, distance - 0.2, pair=0, friction=0.6, rolling=True, stiffness=1e4)


def test_contact_between_two_moving_bodies_conserves_momentum():
    """A glancing blow with friction: equal and opposite forces at one point."""
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_sphere(0.1, mass=1.0, name="a")
    scene.add_sphere(0.1, mass=2.0, name="b", pos=(0.5, 0.08, 0.03))
    sim = ss.Simulation(scene, dt=1e-4, collision=spheres_collision)
    sim.set_state(v=[1.0, 0, 0, 0, 0, 3.0, -1.0, 0, 0, 2.0, 0, 0])

    def momentum():
        return sim.dynamics.momentum(sim.state.q, sim.state.v, about=np.zeros(3))

    before, spin = momentum(), sim.state.v[3:6].copy()
    sim.step(4000)
    assert np.linalg.norm(sim.state.v[3:6] - spin) > 0.1  # friction acted
    assert sim.state.v[0] < 0.0  # and they bounced off each other
    np.testing.assert_allclose(momentum()[:3], before[:3], atol=1e-12)
    np.testing.assert_allclose(momentum()[3:], before[3:], atol=1e-3)  # the method's first order in dt


def test_a_formulation_and_a_recorder_can_be_python():
    heights = []
    sim = ss.Simulation(
        box_scene(), dt=2e-4, formulate=python_formulate, record=lambda sim: heights.append(sim.state.q[2])
    )
    log = sim.run(0.2)
    assert len(heights) == 21
    assert len(log) == 0
    assert min(heights) < 0.11
    assert heights[-1] > min(heights)  # it bounced


def test_random_stages_do_not_depend_on_what_is_recorded():
    def noisy(sim):
        python_collision(sim)
        sim.inputs.applied[0] = sim.rng.normal()

    runs = []
    for record_dt in (2e-4, 1e-2):
        sim = ss.Simulation(box_scene(), dt=2e-4, collision=noisy)
        sim.run(0.02, record_dt=record_dt)
        runs.append(sim.state.q.copy())
    np.testing.assert_array_equal(*runs)


def test_a_stage_may_use_the_dynamics_in_mid_step():
    """sim.dynamics has scratch memory of its own."""

    def curious(sim):
        sim.dynamics.bias(sim.state.q, 0 * sim.state.v)

    setup = ss.SCENES["tumble"].build()
    plain, asked = (ss.Simulation(setup.scene, dt=1e-3, formulate=f) for f in (None, curious))
    for sim in (plain, asked):
        sim.set_state(v=setup.velocity)
        sim.step(200)
    np.testing.assert_allclose(asked.state.v, plain.state.v, rtol=1e-12)


def test_contact_energy_is_unknown_where_a_python_function_makes_the_forces():
    log = ss.Simulation(box_scene(), dt=2e-4, formulate=python_formulate).run(0.15)
    assert np.all(np.isnan(log.contact_energy))
    log.plot("energy")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"link2": 99}, r"contact link: expected an index from 0 \(world\) to 1, got 99"),
        ({"link1": -1}, "contact link"),
        ({"pair": -5}, "contact pair: expected a whole number"),
        ({"pair": 2**31}, "contact pair"),
        ({"normal": (0, 0, 2)}, "contact normal: expected a unit vector"),
        ({"point": (0, np.nan, 0)}, "contact point and gap: expected finite numbers"),
        ({"friction": -1.0}, "friction: expected a finite number"),
    ],
    ids=str,
)
def test_a_collision_function_cannot_write_nonsense(wrong, message):
    contact = {"link1": 0, "link2": 1, "point": (0, 0, 0), "normal": (0, 0, 1), "gap": -1e-3, "pair": 0}
    sim = ss.Simulation(box_scene(), dt=2e-4, collision=lambda sim: sim.contacts.add(**{**contact, **wrong}))
    with pytest.raises(ss.InputError, match=message):
        sim.step(1)


def test_law_none_takes_no_contact_functions():
    with pytest.raises(ss.InputError, match="has no contacts"):
        ss.Simulation(box_scene(), method="semi-implicit-euler/none", collision=python_collision)


def test_a_stage_can_be_assigned_later():
    sim = ss.Simulation(box_scene(), dt=2e-4)
    calls = []
    sim.stages.user = lambda sim: calls.append(sim.time)
    sim.step(3)
    np.testing.assert_allclose(calls, [0, 2e-4, 4e-4])


@pytest.mark.filterwarnings("ignore::stickslip.errors.UnstableStepWarning")
def test_a_stepper_class_from_outside_is_a_method():
    class Backwards(ss.METHODS["semi-implicit-euler"]):
        """Everything falls up."""

        def advance(self, state, inputs, n):
            result = super().advance(state, inputs, n)
            state.v[2] = abs(state.v[2])
            return result

    sim = ss.Simulation(box_scene(), method=Backwards, dt=1e-3)
    sim.step(10)
    assert sim.state.v[2] > 0


# -- snapshots ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "method", [name for name in ss.method_names() if name.partition("/")[2] in ("", "none", "spring-damper")]
)
@pytest.mark.filterwarnings("ignore::stickslip.errors.UnstableStepWarning")  # 10 ms are long for the gains
def test_restored_snapshot_continues_to_the_bit(method, solo):
    scene, controller = solo
    sim = ss.Simulation(scene, method=method)
    sim.run(0.15, controller=controller)
    snapshot = sim.snapshot()
    first = sim.run(0.1)
    sim.restore(snapshot)
    assert sim.time == pytest.approx(0.15)
    second = sim.run(0.1)
    for name in ("time", "q", "v", "control", "energy", "pose"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    np.testing.assert_array_equal(first.contact("force"), second.contact("force"))


def test_snapshot_carries_controller_and_random_state():
    class Counter:
        def __init__(self):
            self.count = 0

        def __call__(self, t, q, v):
            self.count += 1
            return np.full(1, 0.01 * self.count)

        def get_state(self):
            return self.count

        def set_state(self, value):
            self.count = value

    scene = ss.Scene()
    scene.add_body("arm", joint="hinge", axis=(0, 1, 0), motor=True).add_capsule(0.02, 0.3, mass=0.2)
    sim = ss.Simulation(scene, dt=1e-3)
    counter = Counter()
    sim.run(0.01, controller=counter)
    snapshot = sim.snapshot()
    q, draws = sim.run(0.01).q, sim.rng.normal(size=3)
    sim.restore(snapshot)
    assert counter.count == 10
    np.testing.assert_array_equal(sim.run(0.01).q, q)
    np.testing.assert_array_equal(sim.rng.normal(size=3), draws)


def test_snapshot_in_mid_period_continues_as_the_uninterrupted_run(solo):
    """The controller keeps its beat: it is called at multiples of its period, not at the beginning of a run."""
    scene, controller = solo
    whole, parts = ss.Simulation(scene, dt=5e-5), ss.Simulation(scene, dt=5e-5)
    whole.run(0.2, controller=controller, control_dt=2e-3)
    parts.run(0.1010, controller=controller, control_dt=2e-3)
    snapshot = parts.snapshot()
    parts.run(0.01, control_dt=2e-3)
    parts.restore(snapshot)
    parts.run(0.0990, control_dt=2e-3)
    np.testing.assert_array_equal(whole.state.q, parts.state.q)


def test_snapshot_goes_to_a_new_simulation_with_its_controller():
    class Integrator:
        def __init__(self):
            self.memory = np.zeros(1)

        def __call__(self, t, q, v):
            self.memory += 1e-3
            return self.memory

        def get_state(self):
            return self.memory  # by reference: the snapshot must copy it

        def set_state(self, value):
            self.memory = value

    def scene():
        scene = ss.Scene()
        scene.add_capsule(0.02, 0.3, name="arm", joint="hinge", axis=(0, 1, 0), motor=True, mass=0.2)
        return scene

    sim = ss.Simulation(scene(), dt=1e-3)
    sim.run(0.01, controller=Integrator())
    snapshot = sim.snapshot()
    expected = sim.run(0.01).q
    new = ss.Simulation(scene(), dt=1e-3)
    new.restore(snapshot)
    np.testing.assert_array_equal(new.run(0.01, controller=Integrator()).q, expected)
    with pytest.raises(ss.InputError, match="same scene, method and dt"):
        ss.Simulation(scene(), dt=2e-3).restore(snapshot)
    heavier = scene()
    heavier.add_sphere(0.1, collide=False)
    with pytest.raises(ss.InputError, match="same scene"):
        ss.Simulation(heavier, dt=1e-3).restore(snapshot)


def test_snapshot_with_grown_memory_goes_to_a_new_simulation():
    def far_pairs(sim):
        python_collision(sim)
        sim.contacts.arrays.pair[: len(sim.contacts)] += 500

    sims = [ss.Simulation(box_scene(), dt=2e-4, collision=far_pairs) for _ in range(2)]
    sims[0].step(800)
    assert len(sims[0].contacts) == 4
    sims[1].restore(sims[0].snapshot())
    for sim in sims:
        sim.step(50)
    np.testing.assert_array_equal(sims[0].state.q, sims[1].state.q)


def test_snapshot_of_another_scene_is_refused():
    other = ss.Simulation(box_scene())
    sim = ss.Simulation(ss.SCENES["chain"].build().scene)
    with pytest.raises(ss.InputError, match="same scene, method and dt"):
        sim.restore(other.snapshot())


def test_snapshot_fits_the_same_options_only():
    def sim(**options):
        return ss.Simulation(box_scene(), method="expo", dt=1e-3, **options)

    snapshot = sim().snapshot()
    sim(matmuls="auto", rest="surface").restore(snapshot)  # the defaults, said aloud
    with pytest.raises(ss.InputError, match=r"same options, got another options \(.*'matmuls': 2.* here, .*'auto'"):
        sim(matmuls=2).restore(snapshot)
    with pytest.raises(ss.InputError, match=r"got another dt \(0.002 here, 0.001 there\)"):
        ss.Simulation(box_scene(), method="expo", dt=2e-3).restore(snapshot)


def test_snapshot_without_options_can_still_be_read():
    """As pickled before snapshots knew of options."""
    sim = ss.Simulation(box_scene(), method="expo", dt=1e-3, matmuls=2)
    snapshot = sim.snapshot()
    old = pickle.loads(pickle.dumps(replace(snapshot, made_by=snapshot.made_by[:4])))
    sim.step(3)
    sim.restore(old)
    assert sim.steps == 0
    with pytest.raises(ss.InputError, match="got another method"):
        ss.Simulation(box_scene(), method="implicit-euler", dt=1e-3).restore(old)


# -- trouble ------------------------------------------------------------------------------------------------------


def exploding():
    """A box between two plates that are far too stiff for the time step: each bounce is faster than the last."""
    scene = box_scene(stiffness=1e12, damping=0.0)
    scene.add_plane(normal=(0, 0, -1), pos=(0, 0, 0.5), stiffness=1e12, damping=0.0)
    return ss.Simulation(scene, "semi-implicit-euler", dt=5e-2)


@pytest.mark.filterwarnings("ignore::stickslip.errors.UnstableStepWarning")
def test_divergence_names_step_time_body_contact_and_keeps_the_last_good_state(tmp_path):
    sim = exploding()
    with pytest.raises(ss.DivergedError) as error:
        sim.run(500.0, record=tmp_path / "boom.h5", record_dt=0.05)
    message = str(error.value)
    for part in ("step ", "t = ", "body 'body", "contact", "smaller", "boom.h5"):
        assert part in message
    assert "\n" not in message
    log = ss.load(tmp_path / "boom.h5")
    assert log.outcome == "diverged"
    good = log.last_good
    assert np.all(np.isfinite(good.q))
    np.testing.assert_array_equal(good.q, error.value.snapshot.state.q)
    assert len(log.contacts(len(log) - 1).gap) >= 1  # the contact problem of the failing step


@pytest.mark.filterwarnings("ignore::stickslip.errors.UnstableStepWarning")
def test_divergence_without_a_recording_is_saved_too():
    with pytest.raises(ss.DivergedError) as error:
        exploding().run(500.0)
    log = ss.load(error.value.saved_to)
    assert log.outcome == "diverged"
    assert np.all(np.isfinite(log.q))


@pytest.mark.filterwarnings("ignore::stickslip.errors.UnstableStepWarning")
def test_divergence_stays_one_where_nothing_can_be_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "no"))
    with pytest.raises(ss.DivergedError, match="could not be kept") as error:
        exploding().run(500.0)
    assert error.value.saved_to is None
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for k in range(30):
        (tmp_path / f"stickslip-diverged-{k + 1}-{k}").mkdir()
    with pytest.raises(ss.DivergedError) as error:
        exploding().run(500.0)
    assert os.path.exists(error.value.saved_to)
    assert len(os.listdir(tmp_path)) == 21, "old ones are removed"


@pytest.mark.filterwarnings("ignore::stickslip.errors.UnstableStepWarning")
def test_nan_from_a_python_stage_is_caught():
    def broken(sim):
        sim.acceleration[:] = np.nan

    with pytest.raises(
        ss.InputError, match=r"solve function 'broken', sim.acceleration\[0\]: expected a finite number"
    ):
        ss.Simulation(box_scene(), dt=1e-3, solve=broken).step(5)


@pytest.mark.filterwarnings("ignore::stickslip.StartWarning")
@pytest.mark.filterwarnings("ignore::stickslip.errors.UnstableStepWarning")
def test_contact_buffer_grows():
    scene = ss.Scene()
    scene.add_plane()
    add_cylinder_on_points(scene, 100, pos=(0, 0, 0.04))
    sim = ss.Simulation(scene, "semi-implicit-euler", dt=1e-4)
    assert len(sim.stepper.contacts.arrays.pair) < 100
    sim.step(1)
    assert len(sim.contacts) == 100
    roomy = ss.Simulation(scene, "semi-implicit-euler", dt=1e-4)
    roomy.contacts.arrays = grown(roomy.contacts.arrays, 200)
    roomy.step(1)
    np.testing.assert_array_equal(sim.state.v, roomy.state.v)


# -- what cannot be -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dt", [0.0, -1e-3, np.nan, np.inf, "1e-3", [1e-3, 2e-3]])
def test_bad_dt(dt):
    with pytest.raises(ss.InputError, match=r"dt: expected a positive number of seconds from 1e-12 to 1e\+06, got"):
        ss.Simulation(box_scene(), dt=dt)


def test_unknown_method_suggests_the_nearest():
    with pytest.raises(ss.InputError, match="did you mean 'semi-implicit-euler'"):
        ss.Simulation(box_scene(), method="semi-implicit-eule")


def test_impossible_pairing_names_the_possible_ones():
    with pytest.raises(ss.InputError, match="possible: semi-implicit-euler/spring-damper, semi-implicit-euler/none"):
        ss.Simulation(box_scene(), method="semi-implicit-euler/lemke")


def test_every_law_that_a_stepper_claims_exists():
    for stepper in ss.METHODS.values():
        assert set(stepper.capabilities.variants) <= set(variants())


@pytest.mark.parametrize(
    ("control", "message"),
    [(np.zeros(3), r"control: expected an array of shape \(12,\)"), (np.full(12, np.nan), "control of 'FL_HAA'")],
)
def test_bad_control(solo, control, message):
    with pytest.raises(ss.InputError, match=message):
        ss.Simulation(solo[0]).run(0.1, controller=lambda t, q, v: control)


@pytest.mark.filterwarnings("ignore::stickslip.errors.UnstableStepWarning")
def test_recording_periods_must_be_multiples_of_dt():
    with pytest.raises(ss.InputError, match="whole multiple of dt"):
        ss.Simulation(box_scene(), dt=3e-4).run(1.0, record_dt=1e-3)


@pytest.mark.filterwarnings("ignore::stickslip.errors.UnstableStepWarning")
@pytest.mark.parametrize(("asked", "period"), [(0.001, 0.02), (0.05, 0.04)])
def test_a_control_step_that_is_no_multiple_of_dt_adapts(solo, asked, period):
    calls = []

    def controller(t, q, v):
        calls.append(t)
        return np.zeros(12)

    sim = ss.Simulation(solo[0], method="expo", dt=0.02)
    with pytest.warns(
        ss.StickslipWarning, match=f"control_dt = {asked} s is no multiple of dt = 0.02 s: it is {period}"
    ):
        sim.run(0.2, controller=controller, control_dt=asked)
    np.testing.assert_allclose(np.diff(calls), period)


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"q": np.full(7, np.nan)}, r"state.q: expected finite numbers, got .*nan.*; look at entry 0"),
        ({"v": np.zeros(5)}, r"state.v: expected an array of shape \(6,\), got \(5,\)"),
        ({"q": [0, 0, 0, 2, 0, 0, 0]}, "quaternion of joint .* expected unit length"),
    ],
)
def test_bad_state(state, message):
    with pytest.raises(ss.InputError, match=message):
        ss.Simulation(box_scene()).set_state(**state)


def test_other_nonsense_is_refused_by_name(solo):
    scene, _ = solo
    sim = ss.Simulation(scene)
    for call, message in (
        (lambda: sim.run("2"), "duration: expected a number of seconds"),
        (lambda: sim.run(-1.0), "duration: expected"),
        (lambda: sim.run(1.0, record_dt=None, control_dt=0.0), "control_dt: expected a positive number"),
        (lambda: sim.set_control("abc"), "control: expected 12 numbers"),
        (lambda: sim.run(1.0, controller=3), "controller: expected a function"),
        (
            lambda: sim.run(1.0, controller=ss.control.PD("solo12", kp=1, kd=1)),
            "PD robot: expected what scene.add_robot",
        ),
        (lambda: sim.step(-1), "n: expected a whole number of steps"),
    ):
        with pytest.raises(ss.InputError, match=message):
            call()


def test_pd_sees_through_a_servo():
    """A position actuator has a spring of its own; PD takes it out and gets the force it asks for."""
    xml = (
        "<mujoco><option gravity='0 0 0'/><worldbody><body name='a'><joint name='j' damping='1'/>"
        "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/></body></worldbody>"
        "<actuator><position joint='j' kp='50' gear='2'/></actuator></mujoco>"
    )
    sim = ss.Simulation(ss.Scene.from_xml(xml), dt=1e-3)
    log = sim.run(5.0, controller=ss.control.PD(kp=20.0, kd=8.0, target=0.5))
    assert log.q[-1, 0] == pytest.approx(0.5, abs=1e-4)


def test_default_dt_sees_joint_springs_and_servos():
    stiff = "<joint name='j' type='slide' stiffness='1e7'/>"
    servo = "<joint name='j' type='slide'/>"
    for joint, actuator in ((stiff, ""), (servo, "<actuator><position joint='j' kp='1e7'/></actuator>")):
        scene = ss.Scene.from_xml(
            f"<mujoco><worldbody><body name='a'>{joint}<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/>"
            f"</body></worldbody>{actuator}</mujoco>"
        )
        sim = ss.Simulation(scene)
        assert sim.stepper.stable_dt(sim.state) == pytest.approx(2 / np.sqrt(1e7), rel=1e-3)
        sim.set_state(q=[0.1])
        sim.step(1000)
        assert abs(sim.state.q[0]) < 0.11


@pytest.mark.parametrize(
    "array",
    [np.zeros(3), np.zeros(7, dtype=int), [0, 0, 1, 1, 0, 0, 0], np.zeros(14)[::2]],
    ids=["size", "int", "list", "strided"],
)
def test_arrays_in_place_of_ours_are_checked(array):
    """Kernels trust their arrays: a wrong one would write anywhere."""
    sim = ss.Simulation(box_scene())
    with pytest.raises(ss.InputError, match=r"sim.state.q: expected a float64 array of shape \(7,\)"):
        sim.state.q = array
    sim.ray((0, 0, 9), (0, 0, -1))  # the state is still ours
    sim.state.q = np.array([0.0, 0, 1, 1, 0, 0, 0])
    sim.step()


def test_dt_and_stages_cannot_be_mistyped():
    sim = ss.Simulation(box_scene())
    with pytest.raises(AttributeError):
        sim.dt = 1e-5
    with pytest.raises(AttributeError):
        sim.stages.colision = print
    with pytest.raises(ss.InputError, match="collision: expected a function"):
        ss.Simulation(box_scene(), collision=3)


def test_starting_inside_the_floor_or_outside_limits_is_announced():
    scene = ss.Scene()
    scene.add_plane()
    scene.add_box((0.2, 0.2, 0.2), name="box")
    with pytest.warns(StartWarning, match=r"'box' 0.1 m inside 'world'"):
        ss.Simulation(scene).run(0.01)
    scene = ss.Scene()
    scene.add_capsule(0.02, 0.3, name="arm", joint="hinge", range=(0.5, 1.0))
    with pytest.warns(StartWarning, match="joint 'arm' at 0, outside its range 0.5 … 1"):
        ss.Simulation(scene).run(0.01)


@pytest.mark.parametrize(
    ("method", "message", "end"),
    [
        ("semi-implicit-euler", r"it is pushed out at up to 0.866 m/s \(option 'recovery_time'\)", None),
        (
            "stewart-trinkle",
            r"it is pushed out at up to 0.866 m/s \(option 'recovery_time'\); start them apart",
            0.0986,
        ),
        ("peg", r"it is pushed out at up to 0.866 m/s \(option 'recovery_time'\)", 0.0986),
        ("anitescu-potra", "anitescu-potra never pushes it out; start them apart", 0.09),
    ],
)
def test_what_becomes_of_an_overlap(method, message, end):
    scene = ss.Scene()
    scene.add_plane()
    scene.add_box((0.2, 0.2, 0.2), pos=(0, 0, 0.09), name="box")
    sim = ss.Simulation(scene, method=method)
    with pytest.warns(ss.StartWarning, match=message):
        sim.run(0.01)
    if end is not None:
        assert sim.state.q[2] == pytest.approx(end, abs=1e-4)
        assert sim.state.v[2] == pytest.approx((end - 0.09) / 0.01, abs=1e-2)


@pytest.mark.parametrize(("method", "end"), [("stewart-trinkle", 0.45), ("anitescu-potra", 0.4)])
def test_what_becomes_of_a_joint_outside_its_range(method, end):
    scene = ss.Scene()
    scene.add_capsule(0.02, 0.3, name="arm", joint="hinge", range=(0.5, 1.0))
    scene.set_home("arm", 0.4)
    sim = ss.Simulation(scene, method=method)
    with pytest.warns(ss.StartWarning, match="outside its range.*(put back at up to 5 rad/s|never pushes it back)"):
        sim.run(0.01)
    assert sim.state.q[0] == pytest.approx(end, abs=1e-3)


def test_reset_starts_over(solo):
    scene, controller = solo
    sim = ss.Simulation(scene)
    first = sim.run(0.1, controller=controller)
    sim.reset()
    second = sim.run(0.1)
    np.testing.assert_array_equal(first.q, second.q)
    np.testing.assert_array_equal(first.time, second.time)


def test_a_mesh_touches_with_its_corners_and_a_face_at_a_time():
    """A subdivided cube is a cube: 8 corners, 4 at once; a ball-like mesh has triangles."""
    grid = np.linspace(-0.1, 0.1, 5)
    cube = np.array([[x, y, z] for x in grid for y in grid for z in grid])
    sphere = np.random.default_rng(0).normal(size=(300, 3))
    sphere *= 0.1 / np.linalg.norm(sphere, axis=1, keepdims=True)
    steps = {}
    for name, vertices in (("cube", cube), ("box", None), ("sphere", sphere)):
        scene = ss.Scene()
        scene.add_plane()
        if vertices is None:
            scene.add_box((0.2, 0.2, 0.2), pos=(0, 0, 0.2), mass=1.0)
        else:
            scene.add_mesh(vertices, pos=(0, 0, 0.2), mass=1.0)
        sim = ss.Simulation(scene)
        steps[name] = sim.dt
        sim.step(round(1.0 / sim.dt))
        assert np.abs(sim.state.v).max() < (1e-6 if name != "sphere" else 1.0)
    assert steps["cube"] == steps["box"]
    assert steps["sphere"] > 1e-5


def test_not_a_scene():
    with pytest.raises(ss.InputError, match="'solo12' is a robot, not a scene; try 'solo12-drop'"):
        ss.Simulation("solo12")


def test_no_pair_of_shapes_passes_through_another():
    scene = box_scene()
    scene.add_capsule(0.1, 0.2, pos=(0, 0, 0.5), mass=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ss.Simulation(scene, collision=python_collision)
        ss.Simulation(scene, method="semi-implicit-euler/none")
        sim = ss.Simulation(scene)
    sim.step(round(0.3 / sim.dt))
    assert sim.state.q[9] > sim.state.q[2] + 0.25  # the capsule stands on the box


def test_a_step_that_is_too_long_is_a_warning():
    with pytest.warns(UnstableStepWarning, match=r"dt = 0.01 s is above .* leave dt out for"):
        ss.Simulation(box_scene(), "semi-implicit-euler", dt=1e-2)
    with pytest.warns(UnstableStepWarning) as caught:
        ss.Simulation(box_scene(), "semi-implicit-euler", dt=1e-2)
    assert caught[0].filename == __file__


def test_a_record_stage_and_a_file_exclude_each_other(tmp_path):
    sim = ss.Simulation(box_scene(), record=lambda sim: None)
    with pytest.raises(ss.InputError, match="got both"):
        sim.run(0.1, record=tmp_path / "run.h5")


def test_pd_can_be_used_in_another_scene():
    pd = ss.control.PD(kp=1.0, kd=0.1)
    for angle in (0.3, -0.2):
        scene = ss.Scene(gravity=(0, 0, 0))
        scene.add_capsule(0.02, 0.3, name="arm", joint="hinge", axis=(0, 1, 0), motor=True, mass=0.2)
        scene.set_home("arm", angle)
        assert ss.Simulation(scene).run(0.5, controller=pd).q[-1, 0] == pytest.approx(angle)


def test_restitution_is_a_warning_by_name():
    with pytest.warns(NotHonouredWarning, match="does not honour restitution"):
        ss.Simulation(box_scene(restitution=0.5, damping=100.0))
