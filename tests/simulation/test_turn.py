"""A simulation is used by one thread at a time, and not stepped, reset or restored by what its own step calls."""

import threading

import pytest

import stickslip as ss
from stickslip.simulation.stages import STAGES


def simulation() -> ss.Simulation:
    return ss.Simulation("ball", "coulomb/pgs")


CALLS = {
    "step": lambda sim, snapshot: sim.step(),
    "run": lambda sim, snapshot: sim.run(0.01),
    "reset": lambda sim, snapshot: sim.reset(),
    "restore": lambda sim, snapshot: sim.restore(snapshot),
    "warm_up": lambda sim, snapshot: sim.warm_up(),
}


@pytest.mark.parametrize("call", list(CALLS))
def test_a_controller_leaves_the_steps_alone(call):
    sim = simulation()
    snapshot = sim.snapshot()
    with pytest.raises(ss.InputError, match=rf"expected controls, got a call of sim\.{call};"):
        sim.run(0.1, controller=lambda t, q, v: CALLS[call](sim, snapshot))
    sim.controller = None
    sim.step()  # as if nothing had happened


@pytest.mark.parametrize("call", list(CALLS))
@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_leaves_the_steps_alone(stage, call):
    sim = simulation()
    snapshot = sim.snapshot()
    setattr(sim.stages, stage, lambda sim: CALLS[call](sim, snapshot))
    with pytest.raises(ss.InputError, match=rf"sim\.{call}: expected a call between steps") as error:
        sim.step(2)
    assert len(str(error.value)) < 300
    setattr(sim.stages, stage, None)
    sim.step()


def test_a_controller_may_look_and_set():
    """What changes no steps is allowed: to look at contacts, to set a state, and to step a copy."""
    sim, seen = simulation(), []

    def controller(t, q, v):
        sim.observe()
        sim.set_state(v=v)
        seen.append(len(sim.contacts))
        return []

    sim.run(0.05, controller=controller)
    assert len(seen) == 5


def test_another_thread_is_refused_while_a_step_is_taken():
    sim, inside, go_on = simulation(), threading.Event(), threading.Event()

    def user(sim):
        inside.set()
        assert go_on.wait(20.0)

    sim.stages.user = user
    stepping = threading.Thread(target=sim.step)
    stepping.start()
    assert inside.wait(20.0)
    for call in ("step", "reset", "observe", "set_state", "warm_up"):
        with pytest.raises(ss.InputError, match=rf"sim\.{call}: expected one thread at a time"):
            getattr(sim, call)()
    go_on.set()
    stepping.join()
    assert sim.steps == 1
    sim.step()  # the turn was given back


def test_threads_that_all_step_take_whole_steps():
    """Without the turns, this ends in broken arrays or a crash of the process."""
    sim, taken, refused = ss.Simulation("sphere-stack", "coulomb/pgs"), [], []

    def work():
        for _ in range(20):
            try:
                sim.step()
                taken.append(1)
            except ss.InputError as error:
                refused.append(str(error))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sim.steps == len(taken) > 0
    assert len(taken) + len(refused) == 80
