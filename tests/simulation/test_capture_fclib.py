"""FCLib's files of steps: they give the step that the simulation takes, and every unconverged step leaves one."""

import numpy as np
import pytest

import stickslip as ss
from stickslip.errors import InputError, RecordingError, UnconvergedWarning
from stickslip.model.builders import add_chain
from stickslip.simulation import unsolved
from stickslip.solvers import judge, solve

DT = 0.01
LAZY = {"solver": lambda problem, z0: np.zeros(problem.n)}


def block(velocity=(0.5, 0, 0, 0, 0, 0), lift=0.0):
    scene = ss.Scene(name="block")
    scene.add_plane(friction=0.5)
    scene.add_box((0.2, 0.2, 0.1), pos=(0, 0, 0.05 + lift), mass=2.0)
    return scene, np.array(velocity)


def simulation(method, made=None, dt=DT, **options):
    scene, velocity = made or block()
    sim = ss.Simulation(scene, method=method, dt=dt, **options)
    sim.set_state(v=velocity)
    return sim


@pytest.mark.parametrize(
    "method", ["stewart-trinkle/lemke", "anitescu-potra/lemke", "coulomb/fischer-newton", "peg/lemke"]
)
def test_the_captured_problem_gives_the_next_step(tmp_path, method):
    """With one sliding direction along a friction direction, polygon and circle have the same answer."""
    sim = simulation(method)
    sim.step(2)
    ss.simulation.capture_fclib(sim, tmp_path / "step.hdf5")
    file = ss.problem_files.read_fclib(tmp_path / "step.hdf5")
    assert file.info.title == "block, step 2"
    assert file.info.attributes == {"step": 2, "time": 2 * DT, "timestep": DT}
    result = solve(file.friction, "fischer-newton", tolerance=1e-12)
    impulses = file.answer(result.z).r.reshape(-1, 3)
    before = sim.state.v.copy()
    sim.step(1)
    gained = 2.0 * (sim.state.v - before)[:3]
    assert impulses[:, 0].sum() == pytest.approx(gained[2] + 2.0 * 9.81 * DT, abs=1e-9)
    assert np.hypot(*impulses[:, 1:].sum(axis=0)) == pytest.approx(-gained[0], abs=1e-9)


def test_captured_joints_become_equations(tmp_path):
    scene = ss.Scene(name="chain")
    scene.add_plane(friction=0.5)
    add_chain(scene, 3, pos=(0, 0, 0.06))
    sim = ss.Simulation(scene, method="stewart-trinkle/fischer-newton", dt=0.01, coordinates="maximal")
    sim.step(12)
    file = ss.simulation.capture_fclib(sim, tmp_path / "chain.hdf5")
    problem = file.friction
    assert file.local.equations == sim.matrices.bilateral > 0
    expected, rows = sim.stepper.formulation.friction_problem(sim.matrices)
    for name in ("W", "b", "friction"):
        np.testing.assert_array_equal(getattr(problem, name), getattr(expected, name))
    assert len(rows) == problem.n
    back = ss.problem_files.read_fclib(tmp_path / "chain.hdf5").friction
    np.testing.assert_array_equal(back.W, problem.W)
    assert back.bilateral == problem.bilateral


def test_spring_damper_methods_give_the_contacts_that_penetrate():
    dt, depth = 5e-4, 1e-4
    sim = simulation("semi-implicit-euler", block((0, 0, 0, 0, 0, 0), lift=-depth), dt)
    problem = ss.simulation.capture_fclib(sim).friction
    assert problem.n == 12
    speed = 9.81 * dt + 0.2 * depth / dt  # gravity, and a fifth of the depth
    np.testing.assert_allclose(problem.b.reshape(4, 3), [[-speed, 0, 0]] * 4, rtol=1e-9)
    result = solve(problem, "fischer-newton", tolerance=1e-12)
    assert result.z.reshape(4, 3)[:, 0].sum() == pytest.approx(2.0 * speed)
    with pytest.raises(InputError, match="expected a step with contacts, got one without"):
        ss.simulation.capture_fclib(simulation("semi-implicit-euler", block(lift=1.0), dt))


def test_relaxed_steps_have_the_regularisation_in_w():
    sim = simulation("stewart-trinkle/lemke")
    sim.observe()
    relaxed = ss.extend.make_formulation("relaxed", form="cone")
    problem, _ = relaxed.friction_problem(sim.matrices)
    cone = relaxed.formulate(sim.matrices)
    assert np.all(cone.regularisation > 0.0)
    np.testing.assert_array_equal(problem.W, cone.matrix())
    np.testing.assert_array_equal(problem.b, cone.b)


def test_capturing_a_run(tmp_path):
    sim = simulation("stewart-trinkle/lemke", block(lift=0.02))  # falls for about six steps
    sim.run(0.1, capture=tmp_path / "run.hdf5", capture_every=2, capture_format="fclib")
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names[-1] == "run-000008.hdf5"
    assert all(ss.problem_files.read_fclib(tmp_path / name).info.attributes["step"] % 2 == 0 for name in names)
    plain = simulation("stewart-trinkle/lemke", block(lift=0.02))
    plain.run(0.1)
    np.testing.assert_array_equal(plain.state.q, sim.state.q)
    with pytest.raises(InputError, match="unknown capture_format 'fc'"):
        sim.run(0.1, capture=tmp_path / "x", capture_format="fc")
    with pytest.raises(RecordingError, match="expected an existing folder"):
        sim.run(0.1, capture=tmp_path / "none" / "x", capture_format="fclib")


# -- every step that does not converge --------------------------------------------------------------------------------


def test_unconverged_steps_are_kept_in_memory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sim = simulation("stewart-trinkle", **LAZY)
    sim.run(0.0)
    with pytest.warns(UnconvergedWarning, match=r"3 of 3 steps .* are in sim.failures.$"):
        sim.run(3 * DT)
    assert [failure.step for failure in sim.failures] == [0, 1, 2]
    assert sim.failures[1].time == DT
    assert not list(tmp_path.iterdir())
    failure = sim.failures[0]
    assert failure.residual > failure.limit
    assert judge(failure.problem, failure.impulses).natural > failure.limit
    failure.write(tmp_path / "step.hdf5")
    file = ss.problem_files.read_fclib(tmp_path / "step.hdf5")
    np.testing.assert_array_equal(file.friction.W, failure.problem.W)
    np.testing.assert_array_equal(file.impulses(file.guesses[0]), failure.impulses)
    assert file.info.title == "block, step 0"
    assert "stewart-trinkle" in file.info.description
    with pytest.warns(UnconvergedWarning):
        sim.run(2 * DT)
    assert [failure.step for failure in sim.failures] == [3, 4]  # of the last run


def test_unconverged_steps_go_to_a_folder_beside_the_recording(tmp_path):
    for folder in ("drop-unconverged", "drop-unconverged-2"):
        sim = simulation("stewart-trinkle", **LAZY)
        with pytest.warns(UnconvergedWarning, match=rf"{folder}' \(3 files of FCLib's format, for 'stickslip solve'\)"):
            sim.run(3 * DT, record=tmp_path / "drop.h5")
        assert sorted(path.name for path in (tmp_path / folder).iterdir()) == [f"step-00000{k}.hdf5" for k in range(3)]
        assert len(sim.failures) == 0
    problem = ss.problem_files.read_fclib(tmp_path / "drop-unconverged" / "step-000001.hdf5").friction
    assert solve(problem, "fischer-newton").success


def test_chosen_folder_none_and_limits(tmp_path, monkeypatch):
    sim = simulation("stewart-trinkle", **LAZY)
    with monkeypatch.context() as little:
        little.setattr(unsolved, "MEMORY", 100)
        with pytest.warns(UnconvergedWarning, match="3 of 3 steps .* too large to be kept in memory: .*FOLDER"):
            sim.run(3 * DT)
        assert len(sim.failures) == 0
    monkeypatch.setattr(unsolved, "IN_MEMORY", 1)
    with pytest.warns(UnconvergedWarning, match=r"3 files "):
        sim.run(3 * DT, failures=tmp_path / "here")
    assert len(list((tmp_path / "here").iterdir())) == 3
    with pytest.warns(UnconvergedWarning, match=r"sim.failures; those of 2 more are not kept: .* keeps all"):
        sim.run(3 * DT)
    with pytest.warns(UnconvergedWarning, match="asks a second solver.$"):
        sim.run(3 * DT, failures=False)
    assert len(sim.failures) == 0
    with pytest.raises(InputError, match="failures: expected a folder, None or False"):
        sim.run(DT, failures=True)
    (tmp_path / "file").write_text("")
    with pytest.warns(UnconvergedWarning, match=r"problems are in sim.*cannot be made"):
        sim.run(2 * DT, failures=tmp_path / "file" / "folder")


@pytest.mark.parametrize("method", ["bilateral", "expo", "implicit-euler"])
def test_methods_without_problems_refuse_a_folder(method, tmp_path):
    sim = simulation(method, dt=1e-3)
    with pytest.raises(InputError, match=rf"failures: {method} solves no complementarity problem .* do: stewart-tr"):
        sim.run(1e-3, failures=tmp_path / "here", record=tmp_path / "a.h5")
    sim.run(1e-3, failures=False)
    sim.run(1e-3, failures=None)
    assert not list(tmp_path.iterdir())


def test_nothing_is_left_behind_by_runs_that_converge(tmp_path):
    simulation("stewart-trinkle/lemke").run(3 * DT, record=tmp_path / "a.h5")
    assert [path.name for path in tmp_path.iterdir()] == ["a.h5"]
    spring = simulation("semi-implicit-euler", dt=5e-4)
    spring.step(2)
    assert spring.failures == ()


def test_raising_says_where_the_problem_is_and_warming_up_keeps_nothing():
    sim = simulation("stewart-trinkle", unconverged="raise", **LAZY)
    with pytest.raises(ss.UnconvergedError, match=r"'warn' to go on. Their problems are in sim.failures"):
        sim.step(2)
    assert len(sim.failures) == 1
    sim = simulation("stewart-trinkle", **LAZY)
    sim.warm_up()
    assert len(sim.failures) == 0


@pytest.mark.parametrize("method", ["coulomb/pgs", "relaxed/pgs"])
def test_compiled_steps_that_stop_early_are_kept(method, monkeypatch):
    """After a while of free fall, which the compiled loop takes in one go, contact steps are left to one sweep."""
    scene, velocity = block((0.3, 0.2, 0, 0.4, 0.1, 0.2), lift=0.02)
    sim = ss.Simulation(scene, method=method, dt=DT, solver_options={"max_iterations": 1, "tolerance": 1e-14})
    sim.set_state(v=velocity)
    with pytest.warns(UnconvergedWarning, match="sim.failures"):
        sim.run(0.15)
    steps = [failure.step for failure in sim.failures]
    assert len(steps) == len(set(steps))
    assert steps[0] > 2
    assert steps == sorted(steps)
    monkeypatch.setattr(unsolved, "MEMORY", 3 * sum(8 * failure.problem.n**2 for failure in sim.failures[:1]))
    again = ss.Simulation(scene, method=method, dt=DT, solver_options=sim.options["solver_options"])
    again.set_state(v=velocity)
    with pytest.warns(UnconvergedWarning, match="more are not kept"):
        again.run(0.15)
    assert 0 < len(again.failures) < len(sim.failures)
    assert again.stepper.unconverged == sim.stepper.unconverged
    failure = sim.failures[0]
    other = ss.Simulation(block(lift=0.02)[0], method=method, dt=DT, solver_options=sim.options["solver_options"])
    other.set_state(v=velocity)
    with pytest.warns(UnconvergedWarning):
        other.step(failure.step + 1)
    np.testing.assert_allclose(other.failures[0].problem.b, failure.problem.b, atol=1e-12)


def test_python_stages_are_kept_too():
    sim = simulation("stewart-trinkle", user=lambda sim: None, **LAZY)
    with pytest.warns(UnconvergedWarning):
        sim.run(2 * DT)
    assert [failure.step for failure in sim.failures] == [0, 1]
