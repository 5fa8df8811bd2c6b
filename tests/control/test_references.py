"""The bundled motions: the plans are consistent, and the robots follow them."""

import numpy as np
import pytest

import stickslip as ss
from stickslip.control.references import WalkPlan, squat
from stickslip.control.references.lipm import preview


def test_preview_keeps_the_zmp_on_its_reference():
    """c̈ = g/z·(c − p): the ZMP of the result jumps from one foot to the other as asked, and everything ends at rest."""
    dt, height, gravity = 0.02, 0.7, 9.81
    zmp = np.where(np.arange(301) * dt < 3.0, 0.0, 0.1)[:, None]
    states = preview(zmp, np.zeros(1), dt, height, gravity)
    position, velocity, acceleration = states[:, 0], states[:, 1], states[:, 2]
    found = position - height / gravity * acceleration
    away = np.abs(np.arange(301) * dt - 3.0) > 0.1
    assert np.abs(found - zmp)[away].max() < 5e-3
    assert position[140, 0] > 0.005  # before the jump: it sees the future
    assert position[-1, 0] == pytest.approx(0.1, abs=1e-4)
    assert np.abs(states[-1, 1:]).max() < 1e-6
    # constant jerk between the points
    jerk = np.diff(acceleration, axis=0) / dt
    assert np.diff(velocity, axis=0) == pytest.approx(dt * acceleration[:-1] + dt**2 / 2 * jerk, abs=1e-12)


@pytest.fixture(scope="module")
def walk_setup():
    return ss.SCENES["romeo-walk"].build()


def test_plan_has_the_derivatives_that_it_says(walk_setup):
    plan, h = WalkPlan(walk_setup.scene.compile()), 1e-5
    references = (plan.center_of_mass, plan.position_of("l_ankle"), plan.position_of("r_ankle"))
    checked = 0
    for t in np.linspace(0.005, plan.duration + 0.2, 300):
        for reference in references:
            before, now, after = (reference(t + s) for s in (-h, 0.0, h))
            if before is None or now is None or after is None:
                continue
            for i in (0, 1):
                assert (after[i] - before[i]) / (2 * h) == pytest.approx(now[i + 1], abs=1e-6)
            checked += 1
    assert checked > 400


def test_plan_steps_from_contact_to_contact(walk_setup):
    """Exactly one foot is in the air during a swing; it begins and ends where its contacts are."""
    plan = WalkPlan(walk_setup.scene.compile(), (("l_ankle", 0.1), ("r_ankle", 0.2), ("l_ankle", 0.1)), height=0.03)
    assert [s.foot for s in plan.swings] == ["l_ankle", "r_ankle", "l_ankle"]
    assert plan.goal["l_ankle"] - plan.home["l_ankle"] == pytest.approx([0.2, 0, 0])
    for s in plan.swings:
        assert len(plan.contacts(s.begin - 0.01)) == 8
        assert len(plan.contacts(0.5 * (s.begin + s.end))) == 4
        assert len(plan.contacts(s.end)) == 8
        top = s.motion(0.5 * (s.begin + s.end))[0]
        assert top[2] - s.start[2] == pytest.approx(0.03)
        for t, place in ((s.begin, s.start), (s.end, s.goal)):
            position, velocity, acceleration = s.motion(t)
            assert position == pytest.approx(place)
            assert np.abs([velocity, acceleration]).max() < 1e-12
    with pytest.raises(ss.InputError, match="unknown foot 'l_ankel': did you mean 'l_ankle'"):
        WalkPlan(walk_setup.scene.compile(), (("l_ankel", 0.1),))


def test_zmp_of_the_plan_stays_under_the_standing_feet(walk_setup):
    plan = WalkPlan(walk_setup.scene.compile())
    for t in np.arange(0.0, plan.duration, 0.02):
        position, _, acceleration = plan.center_of_mass(t)
        corners = np.array(list(plan.contacts(t).values()))
        ground = corners[:, 2].mean()
        zmp = position[:2] - (position[2] - ground) / 9.81 * acceleration[:2]
        assert np.all(zmp > corners[:, :2].min(axis=0))
        assert np.all(zmp < corners[:, :2].max(axis=0))


def test_scenes_start_at_rest_in_equilibrium():
    """Feet as deep in the floor as the weight presses them: the first forces carry the weight."""
    for name in ("solo12-squat", "romeo-walk"):
        sim = ss.Simulation(ss.SCENES[name].build().scene)
        sim.observe()
        weight = sim.model.inertia.mass.sum() * 9.81
        assert sim.contacts.arrays.force[: len(sim.contacts), 0].sum() == pytest.approx(weight, rel=1e-6)


def test_solo12_squats():
    """Once it has caught up, the centre of mass follows the sine; the feet stay where they are."""
    setup = ss.SCENES["solo12-squat"].build()
    sim = ss.Simulation(setup.scene)
    assert setup.control_dt == 0.04
    log = sim.run(4.0 + np.pi, controller=setup.controller, control_dt=setup.control_dt, record_dt=0.04)
    dyn = sim.dynamics
    com = np.array([dyn.center_of_mass(q) for q in log.q])
    wanted = com[0, 2] + 0.03 * np.sin(2.0 * log.time)
    late = log.time > 4.0
    assert np.abs(com[late, 2] - wanted[late]).max() < 6e-3
    assert np.ptp(com[late, 2]) > 0.05
    assert np.abs(com[:, :2] - com[0, :2]).max() < 1e-4
    for foot in ("FL_FOOT", "HR_FOOT"):
        moved = dyn.frame_pose(log.q[-1], foot)[0] - dyn.frame_pose(log.q[0], foot)[0]
        assert np.abs(moved).max() < 1e-4


def test_torques_for_the_middle_of_a_long_hold_follow_better():
    """Without the posture task's pull, what is left of the squat's error is that torques are held for 40 ms."""
    scene = ss.SCENES["solo12-squat"].build().scene
    error = {}
    for hold in (0.0, 0.04):
        sim = ss.Simulation(scene)
        controller = squat(sim.model, posture_weight=1e-6, hold=hold)
        log = sim.run(4.0 + np.pi, controller=controller, control_dt=0.04, record_dt=0.04)
        com = np.array([sim.dynamics.center_of_mass(q)[2] for q in log.q])
        error[hold] = np.abs(com - com[0] - 0.03 * np.sin(2.0 * log.time))[log.time > 4.0].max()
    assert error[0.04] < 2e-3
    assert error[0.04] < 0.3 * error[0.0]


def test_romeo_takes_two_steps_and_stands(walk_setup):
    """Each foot is lifted, lands 0.15 m ahead, and the robot is still and upright 1.5 s later."""
    sim = ss.Simulation(walk_setup.scene)
    plan, dyn = WalkPlan(sim.model), sim.dynamics
    log = sim.run(plan.duration, controller=walk_setup.controller, control_dt=walk_setup.control_dt, record_dt=0.04)
    for foot, goal in plan.goal.items():
        position = np.array([dyn.frame_pose(q, foot)[0] for q in log.q])
        assert np.linalg.norm(position[-1] - goal) < 0.01
        assert position[-1, 0] - position[0, 0] > 0.14
        assert position[:, 2].max() - position[0, 2] > 0.04
    com = np.array([dyn.center_of_mass(q) for q in log.q])
    planned = np.array([plan.center_of_mass(t)[0] for t in log.time])
    assert np.abs(com - planned).max() < 5e-3
    assert dyn.frame_pose(log.q[-1], "base_link")[1][2, 2] > np.cos(np.deg2rad(1.0))
    assert np.abs(log.v[-1]).max() < 0.05
    assert log.contact_force()[-1] == pytest.approx(sim.model.inertia.mass.sum() * 9.81, rel=0.01)
