"""A simulation that makes energy says so, once, by every method; a driven one does not."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import stickslip as ss
from stickslip.simulation.energy_watch import STEPS


def ball(gravity: float = 9.81) -> ss.Scene:
    scene = ss.Scene(gravity=(0, 0, -gravity))
    scene.add_plane(friction=0.5)
    scene.add_sphere(0.1, pos=(0, 0, 2.0), mass=1.0)
    return scene


def feed(sim: ss.Simulation, factor: float) -> None:
    """Let every call of the method's ``advance`` speed all bodies up, as an unstable method would."""
    advance = sim.stepper.advance

    def too_fast(state, inputs, n):
        result = advance(state, inputs, n)
        state.v *= factor
        return result

    sim.stepper.advance = too_fast  # type: ignore[method-assign]


def gains(sim: ss.Simulation, seconds: float, by_run: bool) -> list[str]:
    """What a simulation says of its energy."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if by_run:
            sim.run(seconds, progress=False)
        else:
            for _ in range(round(seconds / sim.dt)):
                sim.step()
    return [str(each.message) for each in caught if issubclass(each.category, ss.EnergyGainWarning)]


@pytest.mark.parametrize("method", list(ss.METHODS))
@pytest.mark.parametrize("by_run", [True, False])
def test_every_method_says_that_it_gains_energy(method, by_run):
    sim = ss.Simulation(ball(), method, dt=1e-3)
    feed(sim, 1.2 if by_run else 1.05)  # a loop looks after 32 calls, a run after each
    (said,) = gains(sim, 0.06, by_run)
    assert sim.method in said
    assert "dt = 0.0005 s" in said
    assert len(said) < 300


def test_a_long_chain_at_a_long_step():
    """Thirty links on hinges with crossed axes hang from a wall and whip: at 10 ms they gain more than they had."""
    links = "".join(
        f'<body pos="{0.1 if i else 0} 0 0"><joint axis="0 {1 - i % 2} {i % 2}"/>'
        '<geom type="capsule" fromto="0 0 0 .1 0 0" size=".01" mass=".05" contype="0" conaffinity="0"/>'
        for i in range(30)
    )
    scene = ss.Scene.from_xml(f"<mujoco><worldbody>{links}{'</body>' * 30}</worldbody></mujoco>")
    (said,) = gains(ss.Simulation(scene, "coulomb/pgs", dt=1e-2, bias="explicit"), 1.0, by_run=True)
    assert "coulomb at dt = 0.01 s has gained" in said
    assert "bias='midpoint'" in said
    assert not gains(ss.Simulation(scene, "coulomb/pgs", dt=5e-4), 1.0, by_run=True)


@pytest.mark.filterwarnings("ignore::stickslip.errors.EnergyGainWarning")
@pytest.mark.filterwarnings("ignore::stickslip.errors.UnstableStepWarning")
def test_a_motion_that_is_lost_ends():
    """Three hundred links that hang in an arc fall, and whip: at 10 ms no method of first order follows."""
    body = scene = ss.Scene()
    for i in range(300):
        body = body.add_body(f"link{i}", pos=(0, 0, -0.1 if i else 0), joint="hinge", axis=(0, 1, 0))
        body.add_capsule(0.01, 0.04, pos=(0, 0, -0.05), mass=0.1, collide=False)
    sim = ss.Simulation(scene, "coulomb/pgs", dt=1e-2)
    sim.set_state(q=np.full(300, 0.02))
    with pytest.raises(ss.DivergedError, match=r"gained .* J from nothing: .*; try a smaller dt") as caught:
        sim.run(0.6)
    assert caught.value.snapshot is not None
    assert ss.record.load(caught.value.saved_to).outcome == "diverged"


def test_what_is_done_from_outside_is_no_gain():
    sim = ss.Simulation(ball(), "coulomb/pgs", dt=1e-3)
    steps = 2 * STEPS
    sim.step(steps)
    sim.state.v[2] += 30.0
    sim.step(steps)
    sim.set_state(v=np.full(6, 20.0))
    sim.step(steps)
    sim.push("body1", (0, 0, 5e3), duration=5e-3)
    sim.step(steps)
    sim.inputs.wrench[1, 2] = 1e3
    sim.step(steps)
    sim.inputs.wrench[:] = 0.0
    sim.step(steps)
    sim.model.set_gravity((0, 0, 50.0))
    sim.step(steps)
    sim.run(0.05, progress=False)


def test_a_bounce_with_long_steps_is_no_gain():
    """The recorded energy of a step that moves by new velocities goes up and down; the ball does not."""
    scene = ball()
    scene.add_sphere(0.1, pos=(1, 0, 1.0), mass=1.0, restitution=1.0)
    ss.Simulation(scene, "stewart-trinkle", dt=1e-2).run(1.5, progress=False)
