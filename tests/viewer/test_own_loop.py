"""``ss.view(sim)`` beside a loop of one's own: pushes, pauses and steps of the page act in the loop."""

import threading
from types import SimpleNamespace

import numpy as np
import pytest
from browsing import box_scene, free_port, opened, until, visiting

import stickslip as ss
from stickslip.viewer import loop as loop_module
from stickslip.viewer.loop import Loop


def box():
    return ss.Simulation(box_scene(), "coulomb", 1e-3)


class Running:
    """A loop in a thread of its own, in the place of the user's."""

    def __init__(self, sim, end=np.inf):
        self.sim, self.stop, self.error = sim, threading.Event(), None
        self.thread = threading.Thread(target=self._loop, args=(end,), daemon=True)
        self.thread.start()

    def _loop(self, end):
        try:
            while self.sim.time < end and not self.stop.is_set():
                self.sim.step()
        except Exception as error:
            self.error = error

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join(30.0)
        assert not self.thread.is_alive()
        assert self.error is None


def test_a_watched_loop_computes_what_it_computes_alone():
    alone, sim = box(), box()
    alone.step(400)
    with ss.view(sim, realtime=False, browser=False, port=free_port()) as viewer:
        for _ in range(400):
            sim.step()
        last = sim.contacts.force.copy()
        assert until(lambda: viewer.cursor > 0.0)
        viewer.live.show_end()
        assert viewer.live.time == sim.time
        assert np.array_equal(sim.contacts.force, last)
        history = viewer.live.history()
    assert np.array_equal(sim.state.q, alone.state.q)
    assert np.array_equal(sim.contacts.force, alone.contacts.force)
    assert history.end == pytest.approx(0.4)
    assert sim.observers == []
    assert type(sim.pushes) is type(alone.pushes)
    assert not viewer.trouble


def test_pausing_and_stepping_in_the_page_act_in_the_loop():
    sim = box()
    with opened(sim) as viewer, Running(sim):  # it is opened paused
        viewer.post(viewer.step)
        assert until(lambda: viewer.live.time == pytest.approx(1e-3))
        assert sim.steps == 1
        viewer.post(viewer.toggle)
        assert until(lambda: sim.time > 0.1)
        viewer.post(viewer.scrub, 0.05)
        assert until(lambda: viewer.cursor == 0.05)
        assert viewer.looks_back
        assert until(lambda: viewer.live.latest.time == sim.time)  # it waits
        viewer.post(viewer.toggle)
        then = sim.time
        assert until(lambda: sim.time > then + 0.05)
        assert not viewer.trouble
    assert sim.time > 0.1


def test_pushes_of_the_page_arrive_in_the_loop():
    sim = box()
    sim.model.set_gravity((0.0, 0.0, 0.0))
    with opened(sim, realtime=False) as viewer, Running(sim, end=0.5) as running:
        viewer.panel.push_force.value, viewer.panel.push_time.value = 2.0, 0.1
        viewer.post(viewer.interaction.push)  # it plays, too
        running.thread.join(60.0)
        assert not viewer.trouble
    assert sim.state.v[:3] == pytest.approx((2.0 * 0.1 / 1.0, 0, 0), abs=1e-9)


def test_a_loop_that_starts_again_begins_a_new_history():
    sim = box()
    with ss.view(sim, realtime=False, browser=False, port=free_port()) as viewer:
        sim.step(50)
        assert until(lambda: viewer.runs[0].track.size > 0)
        sim.reset()
        sim.step(10)
        viewer.live.show_end()
        assert viewer.live.start == pytest.approx(0.005)  # the first look after the reset
        assert until(lambda: viewer.cursor == pytest.approx(0.01))
        assert until(lambda: viewer.runs[0].track.time[0] < 0.02)


def test_the_clock_is_kept(monkeypatch):
    """Simulated seconds take as many on the clock, divided by the speed; lost time is not caught up."""
    now = [100.0]
    clock = SimpleNamespace(perf_counter=lambda: now[0], sleep=lambda s: now.__setitem__(0, now[0] + s))
    sim = box()
    shown = Loop("box", sim)
    monkeypatch.setattr(loop_module, "clock", clock)
    shown.let_run(True, 1.0)
    sim.step(500)
    assert now[0] - 100.0 == pytest.approx(0.5, abs=0.01)
    shown.let_run(True, 0.5)
    sim.step(500)
    assert now[0] - 100.5 == pytest.approx(1.0, abs=0.02)
    now[0] += 5.0  # the loop did something else
    before = now[0]
    sim.step(100)
    assert now[0] - before == pytest.approx(0.2, abs=0.02)
    shown.realtime, before = False, now[0]
    sim.step(100)
    assert now[0] == before
    shown.close()


def test_what_a_loop_is_not_for():
    with pytest.raises(ss.InputError, match="block: expected False with a simulation"):
        ss.view(box(), block=True, port=free_port())
    with pytest.raises(ss.InputError, match="method: expected none with a simulation"):
        ss.view(box(), method="expo", port=free_port())
    with pytest.raises(ss.InputError, match="realtime"):
        ss.view(box_scene(), realtime=False, port=free_port())


def test_the_page_of_a_loop(chromium):
    sim = box()
    with opened(sim, paused=False) as viewer, Running(sim), visiting(chromium, viewer) as page:
        assert until(lambda: sim.time > 0.1)
        assert page.get_by_role("tab", name="Method").count() == 0  # the method is the loop's
        assert page.get_by_role("button", name="Restart").count() == 0
        page.get_by_role("button", name="Pause", exact=True).click()
        assert until(lambda: viewer.live.latest.time == sim.time and not viewer.playing)
        steps = sim.steps
        page.get_by_role("button", name="Step", exact=True).click()
        assert until(lambda: sim.steps == steps + 1)
        assert not page.problems
        viewer.post(viewer.toggle)  # so that the loop can end
        assert not viewer.trouble
