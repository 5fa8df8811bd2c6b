"""A simulation that is watched: pushes obey Newton, changes keep the state, failures change nothing."""

import numpy as np
import pytest

import stickslip as ss
from stickslip.errors import DivergedError, InputError
from stickslip.scenes import Setup, find
from stickslip.viewer.live import Live
from stickslip.viewer.watched import Settings

EULER = Settings("semi-implicit-euler", 1e-3)


def floating_box():
    scene = ss.Scene(gravity=(0, 0, 0), name="floating")
    scene.add_box(size=(0.2, 0.3, 0.4), pos=(0, 0, 1), mass=2.0, name="box")
    return Setup(scene)


def sliding_box(**material):
    scene = ss.Scene(name="sliding")
    scene.add_plane(**material)
    scene.add_box(size=(0.2, 0.2, 0.1), pos=(0, 0, 0.05), mass=1.0, name="box")
    return Setup(scene, velocity=np.array([2.0, 0, 0, 0, 0, 0]))


def test_a_push_gives_its_momentum():
    live = Live("floating", floating_box(), EULER)
    live.pushes.add(1, np.array([0.0, 5.0, 0.0]), 0.1, live.moment().pose, None)
    live.advance(0.3, 10.0)
    assert np.allclose(live.sim.state.v[:3], (0, 5.0 * 0.1 / 2.0, 0), atol=1e-9)
    assert np.allclose(live.sim.state.v[3:], 0.0, atol=1e-12)


def test_a_push_beside_the_centre_turns_the_body():
    live = Live("floating", floating_box(), EULER)
    arm, force = np.array([0.0, 0.15, 0.0]), np.array([1.0, 0.0, 0.0])
    live.pushes.add(1, force, 0.01, live.moment().pose, np.array([0.0, 0.0, 1.0]) + arm)
    live.advance(0.05, 10.0)
    inertia = 2.0 / 12.0 * (0.2**2 + 0.3**2)
    assert live.sim.state.v[5] == pytest.approx(-0.15 * 1.0 * 0.01 / inertia, rel=1e-3)
    turn = live.sim.state.v[5]
    live.advance(0.05, 10.0)
    assert live.sim.state.v[5] == turn  # the push is over


def test_the_mouse_pulls_a_body_to_itself():
    live = Live("floating", floating_box(), EULER)
    live.pushes.grab(1, np.array([0.0, 0, 1.0]), np.array([0.3, 0, 1.0]), live.moment().pose)
    live.advance(2.0, 20.0)
    assert live.sim.state.q[0] == pytest.approx(0.3, abs=0.01)
    live.pushes.release()
    velocity = live.sim.state.v.copy()
    live.advance(0.01, 10.0)
    assert np.array_equal(live.sim.state.v, velocity)


def test_pushes_add_to_what_a_scene_does_itself():
    """The user stage of a scene may set wrenches on the same body."""

    def wind(sim):
        sim.inputs.wrench[1, 0] = 3.0

    live = Live("windy", floating_box()._replace(user=wind), EULER)
    live.pushes.add(1, np.array([1.0, 0.0, 0.0]), 0.1, live.moment().pose, None)
    live.advance(0.2, 20.0)
    assert live.sim.state.v[0] == pytest.approx((3.0 * 0.2 + 1.0 * 0.1) / 2.0, abs=1e-9)


def test_changing_the_method_keeps_the_state():
    live = Live("sliding", sliding_box(friction=0.3), EULER)
    live.advance(0.05, 10.0)
    q, v, time = live.sim.state.q.copy(), live.sim.state.v.copy(), live.time
    live.change(Settings("stewart-trinkle/lemke", 0.01))
    assert np.array_equal(live.sim.state.q, q)
    assert np.array_equal(live.sim.state.v, v)
    assert live.time == pytest.approx(time)
    assert live.sim.method == "stewart-trinkle"
    live.advance(0.1, 10.0)
    assert live.sim.state.v[0] < v[0]


@pytest.mark.parametrize("mu", [0.1, 0.6])
def test_friction_changes_live(mu):
    live = Live("sliding", sliding_box(friction=0.3), Settings("coulomb", 1e-3))
    live.change(Settings("coulomb", 1e-3, friction=mu))
    assert live.contact_material()[0] == pytest.approx(mu)
    live.advance(0.1, 20.0)
    assert live.sim.state.v[0] == pytest.approx(2.0 - mu * 9.81 * 0.1, rel=1e-3)


def test_stiffness_changes_live():
    """A box at rest sinks in by its weight over the stiffness that its four corners share."""
    live = Live("sliding", sliding_box()._replace(velocity=None), Settings("semi-implicit-euler", 1e-4))
    live.change(Settings("semi-implicit-euler", 1e-4, stiffness=2e4))
    live.advance(1.0, 30.0)
    assert live.sim.state.q[2] - 0.05 == pytest.approx(-9.81 / 2e4, rel=1e-3)
    live.change(Settings("semi-implicit-euler", 1e-4))  # the scene's own again
    live.advance(1.0, 30.0)
    assert live.sim.state.q[2] - 0.05 == pytest.approx(-9.81 / 1e5, rel=1e-3)


def test_what_cannot_be_done_changes_nothing():
    live = Live("sliding", sliding_box(), EULER)
    live.advance(0.02, 10.0)
    sim = live.sim
    for wrong in (Settings("no-such-method"), Settings("coulomb", -1.0)):
        with pytest.raises(InputError):
            live.change(wrong)
        assert live.sim is sim
        assert live.settings == EULER
    live.advance(0.02, 10.0)


def test_a_step_that_does_not_fit_the_controller_is_a_note():
    name, setup, _ = find("solo12-squat")
    live = Live(name, setup, Settings("expo", 0.01))
    live.change(Settings("expo", 0.003))
    live.advance(0.04, 10.0)
    with pytest.warns(ss.StickslipWarning, match="no multiple"):
        assert live.sim.control_steps() == 13
    assert any("control_dt = 0.04 s is no multiple of dt = 0.003 s" in note for note in live.notes)


def test_after_a_divergence_the_last_good_state_stays():
    live = Live("sliding", sliding_box(), EULER)
    live.advance(0.05, 10.0)
    live.pushes.add(1, np.array([1e15, 0.0, 0.0]), 1.0, live.moment().pose, None)
    with pytest.raises(DivergedError):
        live.advance(0.1, 10.0)
    assert np.all(np.isfinite(live.moment().pose))
    live.reset()
    live.advance(0.1, 10.0)
    assert live.time == pytest.approx(0.1)


def test_warnings_of_the_simulation_are_notes():
    live = Live("sliding", sliding_box(restitution=0.5, damping=50.0), EULER)
    assert any("restitution" in note for note in live.notes)


def test_history_is_a_recording(tmp_path):
    live = Live("sliding", sliding_box(friction=0.3), Settings("coulomb", 1e-3))
    heights = []
    for _ in range(10):
        live.advance(0.01, 10.0)
        heights.append(live.moment().pose[1, 0])
    history = live.history()
    assert history.end == pytest.approx(0.1)
    assert [history.moment(0.01 * (k + 1)).pose[1, 0] for k in range(10)] == pytest.approx(heights, abs=1e-12)
    history.log.save(tmp_path / "kept.h5")
    with ss.load(tmp_path / "kept.h5") as log:
        assert log.pose[-1, 1, 0] == heights[-1]
    live.go_back(0.05)
    assert live.time == pytest.approx(0.05)
    assert live.moment().pose[1, 0] == pytest.approx(heights[4], abs=1e-12)
    live.reset()
    assert live.time == 0.0
    assert live.sim.state.v[0] == 2.0
