"""MuJoCo as a method: MuJoCo's own bits, our wrenches, contacts and forces; springs and dampers by its numbers."""

import copy

import mujoco
import numpy as np
import pytest

import stickslip as ss
from stickslip.collision.contacts import FRICTION

G = 9.81
VARIANTS = ss.METHODS["mujoco"].capabilities.variants


def sliding_box() -> ss.Scene:
    scene = ss.Scene()
    scene.add_plane(friction=0.5)
    scene.add_box((0.2, 0.2, 0.1), pos=(0, 0, 0.06), mass=2.0, friction=0.5)
    return scene


def ball_on_box(**material) -> ss.Scene:
    """The ball's geom comes first in MuJoCo's pair, the box's link in ours."""
    scene = ss.Scene()
    scene.add_plane(**material)
    scene.add_box((0.4, 0.4, 0.2), pos=(0, 0, 0.1), mass=2.0, name="box", **material)
    scene.add_sphere(0.1, pos=(0, 0, 0.3), mass=1.0, name="ball", **material)
    return scene


def active(sim):
    return {name: array[: len(sim.contacts)] for name, array in sim.contacts.arrays._asdict().items()}


def plain(sim) -> mujoco.MjData:
    """MuJoCo alone, on what ``model.mj`` is, from the simulation's state."""
    mj = copy.deepcopy(sim.model.mj)
    mj.opt.timestep, mj.opt.cone = sim.dt, mujoco.mjtCone.mjCONE_ELLIPTIC
    data = mujoco.MjData(mj)
    data.qpos[:], data.qvel[:], data.ctrl[:] = sim.state.q, sim.state.v, sim.control
    return data


def falling_robot() -> ss.Scene:
    """Friction is 1 by MuJoCo's rule and by ours: the feet leave it unset."""
    scene = ss.Scene()
    scene.add_plane(friction=1.0)
    scene.add_robot("a1", pos=(0, 0, 0.35))
    return scene


@pytest.mark.parametrize("build", [sliding_box, falling_robot])
def test_the_bits_are_mujoco_s(build):
    scene = build()
    sim = ss.Simulation(scene, "mujoco")
    assert sim.dt == 2e-3
    v = np.random.default_rng(3).normal(size=sim.model.nv) * 0.3
    sim.set_state(v=v)
    sim.set_control(np.full(sim.model.nu, 0.5))
    data = plain(sim)
    for n in (1, 7, 100, 150):
        sim.step(n)
        for _ in range(n):
            mujoco.mj_step(data.model, data)
        sim.observe()  # must not disturb
        assert np.array_equal(sim.state.q, data.qpos)
        assert np.array_equal(sim.state.v, data.qvel)
    assert len(sim.contacts) > 0


def test_contact_points_are_spheres_without_mass():
    setup = ss.SCENES["solo12-squat"].build()
    sim = ss.Simulation(setup.scene, "mujoco")
    ours, theirs = sim.model.mj, sim.stepper.mj
    assert theirs.ngeom == ours.ngeom + 4
    for name in ("body_mass", "body_inertia", "body_ipos", "body_iquat", "body_invweight0", "dof_M0"):
        np.testing.assert_array_equal(getattr(theirs, name), getattr(ours, name))
    sim.run(0.2, controller=setup.controller, control_dt=0.01, progress=False)
    sim.observe()
    seen = active(sim)
    assert len(sim.contacts) == 4
    legs = {f"{leg}_LOWER_LEG" for leg in ("FL", "FR", "HL", "HR")}
    assert {sim.model.link_names[link] for link in seen["link2"]} == legs
    feet = [sim.dynamics.frame_pose(sim.state.q, shape.name)[0] for shape in sim.model.shapes if shape.kind == "point"]
    np.testing.assert_allclose(np.sort(seen["gap"]), np.sort([foot[2] for foot in feet]), atol=2e-9)
    assert seen["force"][:, 0].sum() == pytest.approx(G * ours.body_subtreemass[0], rel=0.1)


@pytest.mark.parametrize(
    ("floor", "ball", "found"),
    [(0.3, None, 0.3), (None, None, 1.0), (0.3, 0.7, 0.7), (0.0, None, 0.0), (0.0, 0.2, 0.2)],
)
@pytest.mark.parametrize("variant", ["soft", "spring-damper"])
def test_friction_is_combined_by_our_rule(variant, floor, ball, found):
    """A surface that leaves friction unset takes the other's; MuJoCo alone would take the larger of 0.3 and 1."""
    scene = ss.Scene()
    scene.add_plane(friction=floor)
    scene.add_sphere(0.1, pos=(0, 0, 0.0999), mass=1.0, friction=ball)
    scene.add_sphere(0.1, pos=(9, 0, 3), mass=1.0)  # something unset, so that priorities are in play
    sim = ss.Simulation(scene, f"mujoco/{variant}", dt=1e-4)
    sim.set_state(v=[3.0, 0, 0, 0, 0, 0] + [0] * 6)
    sim.observe()
    seen = active(sim)
    assert seen["material"][0, FRICTION] == found
    assert np.linalg.norm(seen["force"][0, 1:]) == pytest.approx(found * seen["force"][0, 0], rel=1e-6)


@pytest.mark.parametrize("variant", ["soft", "spring-damper"])
def test_a_step_s_forces_are_those_observed_before_it(variant):
    """m·(v⁺ − v)/dt of both bodies, through an impact, sliding and rest; here links and geoms are in opposite order."""
    scene = ball_on_box(friction=0.4)
    sim = ss.Simulation(scene, f"mujoco/{variant}", dt=2.5e-4)
    sim.set_state(v=[0, 0, 0, 0, 0, 0, 0.3, 0.2, -1.0, 0, 2.0, 0])
    masses, worst, touched = {1: 2.0, 2: 1.0}, 0.0, set()
    for _ in range(600):
        sim.observe()
        seen = active(sim)
        assert np.all(seen["link1"] < seen["link2"])
        total = {link: np.array([0, 0, -m * G]) for link, m in masses.items()}
        for c in range(len(sim.contacts)):
            force = seen["force"][c] @ seen["axes"][c]
            touched.add((int(seen["link1"][c]), int(seen["link2"][c])))
            assert np.linalg.det(seen["axes"][c]) == pytest.approx(1.0)
            for link, sign in ((int(seen["link2"][c]), 1.0), (int(seen["link1"][c]), -1.0)):
                if link:
                    total[link] = total[link] + sign * force
        before = sim.state.v.copy()
        sim.step(1)
        for link, m in masses.items():
            linear = slice(6 * link - 6, 6 * link - 3)
            worst = max(worst, np.abs(m * (sim.state.v[linear] - before[linear]) / sim.dt - total[link]).max())
    assert touched == {(0, 1), (1, 2)}
    assert worst < 1e-7


def test_contacts_are_where_bodies_touch():
    sim = ss.Simulation(ball_on_box(friction=0.4), "mujoco")
    sim.set_state(q=[0, 0, 0.1, 1, 0, 0, 0, 0.05, 0, 0.29, 1, 0, 0, 0], v=[0] * 6 + [0.5, 0, -0.2, 0, 3.0, 0])
    sim.observe()
    seen = active(sim)
    c = int(np.flatnonzero(seen["link2"] == 2)[0])
    np.testing.assert_allclose(seen["axes"][c, 0], [0, 0, 1], atol=1e-12)  # from the box to the ball
    np.testing.assert_allclose(seen["point"][c], [0.05, 0, 0.19], atol=1e-12)  # the ball's lowest point
    assert seen["gap"][c] == pytest.approx(-0.01)
    relative = seen["velocity"][c] @ seen["axes"][c]
    np.testing.assert_allclose(relative, [0.5 - 0.3, 0, -0.2], atol=1e-12)


def test_wrenches_act_at_the_origins_of_links():
    """Against forward dynamics, on a body whose centre of mass is elsewhere and that has turned."""
    scene = ss.Scene(gravity=(0, 0, 0))
    body = scene.add_body("body", pos=(0, 0, 1))
    body.set_inertia(2.0, inertia=(0.02, 0.03, 0.04), com=(0.1, -0.2, 0.3))
    arm = body.add_body("arm", pos=(0.1, 0, 0), joint="hinge", axis=(0, 1, 0))
    arm.set_inertia(0.5, inertia=(0.01, 0.01, 0.01), com=(0, 0, 0.1))
    sim = ss.Simulation(scene, "mujoco", dt=1e-3)
    turn = np.array([0.5, 0.1, -0.7, 0.3]) / np.linalg.norm([0.5, 0.1, -0.7, 0.3])
    sim.set_state(q=[0, 0, 1, *turn, 0.4], v=[0.1, 0.2, 0.3, 1, 2, 3, -1])
    sim.inputs.wrench[1:] = np.random.default_rng(0).normal(size=(2, 6))
    start = sim.state.copy()
    sim.observe()
    expected = sim.dynamics.aba(start.q, start.v, np.zeros(7), external=sim.inputs.wrench)
    np.testing.assert_allclose(sim.acceleration, expected, atol=1e-10)
    sim.step(1)
    np.testing.assert_allclose((sim.state.v - start.v) / sim.dt, expected, atol=1e-8)
    pushed = [ss.Simulation(scene, method, dt=1e-4) for method in ("mujoco", "rk4/none")]
    for other in pushed:
        other.set_state(start.q, start.v)
        other.inputs.wrench[:] = sim.inputs.wrench
        other.step(3000)
    np.testing.assert_allclose(pushed[0].state.q, pushed[1].state.q, atol=1e-3)
    pushed[0].inputs.wrench[:] = 0.0
    pushed[0].observe()
    free = sim.dynamics.aba(pushed[0].state.q, pushed[0].state.v, np.zeros(7))
    np.testing.assert_allclose(pushed[0].acceleration, free, atol=1e-9)


@pytest.mark.parametrize("variant", VARIANTS)
def test_restored_snapshot_continues_to_the_bit(variant):
    sim = ss.Simulation(ball_on_box(friction=0.4), f"mujoco/{variant}", dt=2.5e-4)
    sim.set_state(v=[0, 0, 0, 0, 0, 0, 0.3, 0.2, -1.0, 0, 2.0, 0])
    sim.step(122)
    snapshot = sim.snapshot()
    sim.step(200)
    end = np.concatenate([sim.state.q, sim.state.v])
    other = ss.Simulation(ball_on_box(friction=0.4), f"mujoco/{variant}", dt=2.5e-4)
    other.restore(snapshot)
    log = other.run(0.05, record_dt=0.01, progress=False)  # stops and looks on the way
    assert np.array_equal(end, np.concatenate([other.state.q, other.state.v]))
    assert np.isnan(log.contact_energy[-1]) == (variant == "soft")


# -- spring-damper -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stiffness", [2e3, 2e4])
def test_spring_and_damper_are_the_pair_s(stiffness):
    """At rest mg/K on each of four contacts, and in falling the motion of semi-implicit Euler but for a ten-thousandth
    of the mass; also between two bodies that move. Two surfaces are two springs in series."""
    scene = ball_on_box(stiffness=2.0 * stiffness, damping=80.0)
    ends = []
    for method, options in (("mujoco/spring-damper", {}), ("semi-implicit-euler", {"stiffness_per": "point"})):
        sim = ss.Simulation(scene, method, dt=1e-4, **options)
        sim.set_state(v=[0] * 6 + [0, 0, -0.5, 0, 0, 0])
        log = sim.run(1.5, record_dt=0.01, progress=False)
        ends.append(log)
    assert np.ptp(ends[0].q[:, 9]) > 0.5 * np.sqrt(1.0 / stiffness)
    np.testing.assert_allclose(ends[0].q, ends[1].q, rtol=0, atol=1e-3 * 0.5 * np.sqrt(1.0 / stiffness))
    box, ball = ends[0].q[-1][2], ends[0].q[-1][9]
    assert 0.1 - box == pytest.approx(3.0 * G / 4 / stiffness, rel=1e-4)
    assert 0.2 - (ball - box) == pytest.approx(G / stiffness, rel=1e-4)


def test_each_pair_has_its_own_spring():
    scene = ss.Scene()
    scene.add_plane()
    for k, stiffness in enumerate((1e4, 1e5, 1e6)):
        scene.add_sphere(0.1, pos=(k, 0, 0.1), mass=1.0 + k, stiffness=stiffness, damping=100.0 * (k + 1))
    sim = ss.Simulation(scene, "mujoco/spring-damper")
    sim.step(round(1.0 / sim.dt))
    energy = sim.observe()
    seen = active(sim)
    weight = np.array([G, 2 * G, 3 * G])
    np.testing.assert_allclose(seen["force"][:, 0], weight, rtol=1e-4)
    np.testing.assert_allclose(-seen["gap"] * [1e4, 1e5, 1e6], weight, rtol=1e-4)
    assert energy == pytest.approx(np.sum(weight**2 / [2e4, 2e5, 2e6]), rel=1e-3)


def test_solo12_stands_on_its_springs_as_with_semi_implicit_euler():
    heights = []
    for method in ("mujoco/spring-damper", "semi-implicit-euler"):
        setup = ss.SCENES["solo12-squat"].build()
        sim = ss.Simulation(setup.scene, method, dt=1e-4)
        log = sim.run(0.2, controller=setup.controller, control_dt=setup.control_dt, record_dt=0.01, progress=False)
        heights.append(log.q[:, 2])
    np.testing.assert_allclose(*heights, rtol=0, atol=1e-6)
    assert np.ptp(heights[0]) > 1e-4


def test_creep_is_the_tangential_load_over_the_damper():
    """Friction has no springs here: the pair's damper alone holds a box on a slope."""
    angle, normal = 0.2, np.array([np.sin(0.2), 0.0, np.cos(0.2)])
    scene = ss.Scene()
    scene.add_plane(normal=normal, friction=0.5, damping=300.0)
    quat = (np.cos(angle / 2), 0, np.sin(angle / 2), 0)
    scene.add_box((0.2, 0.2, 0.04), pos=0.02 * normal, quat=quat, mass=1.0)
    sim = ss.Simulation(scene, "mujoco/spring-damper")
    sim.step(round(0.5 / sim.dt))
    assert np.linalg.norm(sim.state.v[:3]) == pytest.approx(G * np.sin(angle) / (4 * 300.0), rel=1e-3)


def test_a_default_step_at_which_springs_are_stable():
    for name in ("solo12-drop", "box-pile"):
        scene = ss.SCENES[name].build().scene
        assert ss.Simulation(scene, "mujoco/spring-damper").dt < 1e-3
        assert ss.Simulation(scene, "mujoco").dt == 2e-3
    with pytest.warns(ss.errors.UnstableStepWarning, match="mujoco becomes unstable"):
        ss.Simulation(sliding_box(), "mujoco/spring-damper", dt=0.02)


# -- what can go wrong ---------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::stickslip.errors.UnconvergedWarning")
@pytest.mark.parametrize("limit", [1, 2, 4])
def test_steps_at_the_iteration_limit_are_counted(limit):
    """As a loop over single steps counts them, however many run in one call."""
    sim = ss.Simulation(ball_on_box(friction=0.4), "mujoco", solver="cg", iterations=limit)
    sim.set_state(v=[0] * 6 + [0.3, 0.2, -1.0, 0, 2.0, 0])
    data = plain(sim)
    data.model.opt.solver, data.model.opt.iterations = mujoco.mjtSolver.mjSOL_CG, limit
    sim.step(200)
    count = 0
    for _ in range(200):
        mujoco.mj_step(data.model, data)
        count += int(data.solver_niter.max()) >= limit
    assert sim.stepper.unconverged == count > 0
    assert np.array_equal(sim.state.q, data.qpos)


def test_unconverged_steps_are_announced():
    sim = ss.Simulation(sliding_box(), "mujoco", solver="pgs", iterations=1)
    with pytest.warns(ss.errors.UnconvergedWarning, match="mujoco: the solver of .* allow more iterations"):
        sim.step(100)


def test_divergence_leaves_the_last_good_state(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sim = ss.Simulation(sliding_box(), "mujoco")
    sim.step(10)
    good = sim.state.copy()
    sim.inputs.applied[:] = 1e30
    with pytest.raises(ss.DivergedError, match=r"step 10, .*body 'body"):
        sim.step(50)
    assert np.array_equal(sim.state.q, good.q)
    assert not (tmp_path / "MUJOCO_LOG.TXT").exists()
    sim.inputs.applied[:] = 0.0
    sim.step(50)
    assert np.all(np.isfinite(sim.state.q))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"integrator": "verlet"}, "integrator"),
        ({"solver": 3}, "solver"),
        ({"cone": "square"}, "cone"),
        ({"iterations": 0}, "iterations: expected a whole number ≥ 1"),
        ({"iterations": 2.5}, "iterations: expected a whole number ≥ 1"),
        ({"tolerance": -1.0}, "tolerance"),
        ({"impratio": 0.0}, "impratio"),
        ({"noslip_iterations": -1}, "noslip_iterations"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ss.InputError, match=message):
        ss.Simulation(sliding_box(), "mujoco", **options)


@pytest.mark.parametrize("stage", ["collision", "formulate", "solve", "integrate"])
def test_its_stages_are_its_own(stage):
    sim = ss.Simulation(sliding_box(), "mujoco", **{stage: lambda sim: None})
    with pytest.raises(ss.InputError, match=f"{stage}: mujoco does this inside its compiled step"):
        sim.step(1)


@pytest.mark.parametrize("option", [{"integrator": "implicitfast"}, {"integrator": "implicit"}, {"integrator": "rk4"}])
def test_integrators(option):
    sim = ss.Simulation(sliding_box(), "mujoco", **option)
    sim.set_state(v=[1.0, 0, 0, 0, 0, 0])
    sim.step(500)
    assert sim.state.q[2] == pytest.approx(0.05, abs=2e-3)
    assert sim.state.q[0] == pytest.approx(0.06 + 1.0 / (2 * 0.5 * G), abs=0.06)


def test_pyramids_brake_less_along_diagonals_than_circles():
    """Which is why cones are elliptic here: the stopping distance is the same in all directions."""
    ways = {}
    for cone in ("elliptic", "pyramidal"):
        for angle in (0.0, np.pi / 4):
            sim = ss.Simulation(sliding_box(), "mujoco", cone=cone)
            sim.set_state(q=[0, 0, 0.05, 1, 0, 0, 0], v=[2 * np.cos(angle), 2 * np.sin(angle), 0, 0, 0, 0])
            sim.step(500)
            ways[cone, angle] = np.linalg.norm(sim.state.q[:2])
    assert ways["elliptic", np.pi / 4] == pytest.approx(ways["elliptic", 0.0], rel=2e-3)
    assert ways["elliptic", 0.0] == pytest.approx(4.0 / (2 * 0.5 * G), rel=0.01)
    assert abs(ways["pyramidal", np.pi / 4] / ways["pyramidal", 0.0] - 1.0) > 0.05


def test_models_without_a_scene():
    """Compiled from MuJoCo's model alone: soft contacts work, what must be compiled again says why it cannot."""
    from stickslip.model.model import compile_model

    model = compile_model(sliding_box().compile().mj)
    ss.Simulation(model, "mujoco").step(10)
    with pytest.raises(ss.InputError, match="need a model that was compiled from a Scene"):
        ss.Simulation(model, "mujoco/spring-damper")


TUNED = """<mujoco><option timestep="0.004" integrator="implicitfast" solver="CG" iterations="7" impratio="3"
  tolerance="1e-6" noslip_iterations="2" ls_iterations="9"><flag warmstart="disable"/></option>
  <worldbody><body name="ball" pos="0 0 1"><freejoint name="f"/><geom size="0.1"/></body></worldbody></mujoco>"""


def test_it_runs_the_options_of_the_file_unless_they_are_given(tmp_path):
    scene = ss.Scene.from_xml(TUNED)
    assert [note for note in scene.notes if note.startswith("only the method mujoco uses")] == [
        "only the method mujoco uses the file's option disableflags=warmstart, impratio=3, integrator=implicitfast, "
        "iterations=7, ls_iterations=9, noslip_iterations=2, solver=cg, timestep=0.004, tolerance=1e-06"
    ]
    theirs = mujoco.MjModel.from_xml_string(TUNED).opt
    scene.save(tmp_path / "again.xml")
    for one in (scene, ss.Scene.from_file(tmp_path / "again.xml")):
        sim = ss.Simulation(one, "mujoco")
        assert sim.dt == 0.004
        for name in (
            "integrator",
            "solver",
            "iterations",
            "impratio",
            "tolerance",
            "noslip_iterations",
            "ls_iterations",
        ):
            assert getattr(sim.stepper.mj.opt, name) == getattr(theirs, name), name
        assert sim.stepper.mj.opt.cone == mujoco.mjtCone.mjCONE_ELLIPTIC
    sim = ss.Simulation(scene, "mujoco", dt=1e-3, solver="newton", iterations=50)
    assert (sim.dt, sim.stepper.mj.opt.iterations) == (1e-3, 50)
    assert sim.stepper.mj.opt.solver == mujoco.mjtSolver.mjSOL_NEWTON
    assert ss.Simulation(scene).dt != 0.004  # which is for MuJoCo


def test_a_pyramid_that_is_written_out_stays_one_and_a_second_file_says_what_it_lost(tmp_path):
    xml = TUNED.replace("timestep", 'cone="pyramidal" timestep')
    scene = ss.Scene.from_xml(xml)
    assert "cone=pyramidal" in scene.notes[-1]
    again = ss.Scene.from_xml(scene.to_xml())
    for one in (scene, again):
        assert ss.Simulation(one, "mujoco").stepper.mj.opt.cone == mujoco.mjtCone.mjCONE_PYRAMIDAL
    (tmp_path / "slow.xml").write_text(TUNED.replace("0.004", "0.005"))
    robot = scene.load(tmp_path / "slow.xml", name="slow")
    assert "not used: option timestep=0.005 (the scene has 0.004) of a further file" in robot.notes
