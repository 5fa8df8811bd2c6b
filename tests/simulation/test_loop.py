"""A loop of one's own does what ``run`` does: controllers, record stages, recorders, observers."""

import numpy as np
import pytest

import stickslip as ss
from stickslip.simulation import Observer


class Counting:
    """A controller that counts its calls."""

    def __init__(self, nu=1):
        self.times, self.nu = [], nu

    def __call__(self, t, q, v):
        self.times.append(t)
        return np.full(self.nu, np.sin(20.0 * t) - 0.1 * v[-1])


def arm():
    scene = ss.Scene()
    scene.add_body("arm", joint="hinge", axis=(0, 1, 0), pos=(0, 0, 2), motor=True).add_capsule(0.02, 0.3, mass=0.2)
    return scene


@pytest.mark.parametrize("control_dt", [None, 5e-3])
def test_controller_is_called_by_step_as_by_run(control_dt):
    sims = [ss.Simulation(arm(), "semi-implicit-euler", dt=5e-4) for _ in range(3)]
    controllers = [Counting() for _ in sims]
    for sim, controller in zip(sims, controllers, strict=True):
        sim.controller, sim.control_dt = controller, control_dt
    sims[0].run(0.1)
    for _ in range(200):
        sims[1].step()
    sims[2].step(200)
    for sim, controller in zip(sims[1:], controllers[1:], strict=True):
        np.testing.assert_array_equal(sim.state.q, sims[0].state.q)
        assert controller.times == controllers[0].times
    assert len(controllers[0].times) == round(0.1 / (control_dt or 1e-3))


def test_record_stage_is_called_by_step_as_by_run():
    def recorded(advance):
        seen = []
        sim = ss.Simulation(arm(), "semi-implicit-euler", dt=1e-3, record=lambda sim: seen.append(sim.time))
        advance(sim)
        return seen

    def one_by_one(sim):
        for _ in range(50):
            sim.step()

    times = recorded(lambda sim: sim.run(0.05))
    assert times == pytest.approx([0.0, 0.01, 0.02, 0.03, 0.04, 0.05])
    assert recorded(one_by_one) == recorded(lambda sim: sim.step(50)) == times


@pytest.mark.parametrize("to_file", [False, True])
def test_recorder_of_a_loop_is_the_log_of_a_run(to_file, tmp_path):
    first, second = (ss.Simulation("ball", dt=1e-3) for _ in range(2))
    log = first.run(0.105)
    path = tmp_path / "ball.h5" if to_file else None
    with ss.Recorder(second, path) as recorder:
        while second.time < 0.105 - 1e-9:
            second.step()
    mine = recorder.log()
    assert mine.outcome == "complete"
    for name in ("time", "q", "v", "energy"):
        np.testing.assert_array_equal(getattr(mine, name), getattr(log, name))
    np.testing.assert_array_equal(mine.contact("force"), log.contact("force"))
    second.step(20)  # is not recorded any more
    assert second.observers == []
    assert len(recorder.log().time) == len(log.time) == 12


def test_a_recorder_refuses_a_time_that_goes_back():
    sim = ss.Simulation("ball", dt=1e-3)
    with ss.Recorder(sim) as recorder:
        sim.step(20)
        sim.reset()
        with pytest.raises(ss.InputError, match=r"got 0 s after 0.02 s; close the recorder before sim.reset"):
            sim.step()
    assert recorder.log().time.tolist() == pytest.approx([0.0, 0.01, 0.02])


def test_recorder_says_how_a_loop_ended(tmp_path):
    sim = ss.Simulation("ball", dt=1e-3)
    with pytest.raises(KeyError), ss.Recorder(sim) as recorder:
        sim.step({}["missing"])
    assert recorder.log().outcome == "interrupted"
    with pytest.warns(ss.StickslipWarning):
        stiff = ss.Simulation("solo12-drop", "semi-implicit-euler", dt=5e-3)
    stiff.controller = stiff.control_dt = None  # gains and period are for shorter steps
    with pytest.raises(ss.DivergedError) as error, ss.Recorder(stiff, tmp_path / "bad.h5") as recorder:
        stiff.step(1000)
    assert error.value.saved_to == str(tmp_path / "bad.h5")
    assert recorder.log().outcome == "diverged"


def test_observers_are_called_when_they_are_due():
    class Watch(Observer):
        def __init__(self):
            self.seen = []

        def next_step(self, steps):
            return steps - steps % 7 + 7

        def after_steps(self, sim):
            self.seen.append(sim.steps)

    sim, watch = ss.Simulation("ball", dt=1e-3), Watch()
    sim.observers.append(watch)
    sim.step(15)
    assert watch.seen == [7, 14, 15]
    sim.run(5e-3)
    assert watch.seen == [7, 14, 15, 20]
