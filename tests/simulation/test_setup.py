"""Simulations of bundled scenes by name, of setups, and of model files: nothing of the setup is forgotten."""

import copy
import inspect
import pickle

import numpy as np
import pytest

import stickslip as ss
from stickslip.methods.registry import METHODS, resolve
from stickslip.scenes import Setup

SPHERE = '<mujoco><worldbody><body name="b"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>'


@pytest.mark.parametrize("method", METHODS)
def test_a_bundled_scene_begins_with_its_velocity(method):
    sim = ss.Simulation("ball", method=method)
    assert sim.body("ball").mass == 1.0
    start = sim.state.q[0]
    np.testing.assert_array_equal(sim.state.v, [2, 0, 0, 0, 0, 0])
    sim.step()
    moved = (sim.state.q[0] - start) / (2.0 * sim.dt)
    assert 5 / 7 * 0.999 < moved < 1.0001  # friction slows it down until it rolls, with 5/7 of its speed
    sim.reset()
    np.testing.assert_array_equal(sim.state.v, [2, 0, 0, 0, 0, 0])


@pytest.mark.parametrize("method", METHODS)
def test_its_controller_is_called_at_its_period(method):
    """The scene's period is 1 ms; default steps divide it."""
    sim = ss.Simulation("hopper-turn", method=method)
    calls = []
    own = sim.controller
    sim.controller = lambda t, q, v: (calls.append(t), own(t, q, v))[1]
    sim.run(0.004)
    assert sim.control_dt == 1e-3
    np.testing.assert_allclose(calls, [0.0, 1e-3, 2e-3, 3e-3], atol=1e-12)


@pytest.mark.parametrize("name", ss.SCENES)
def test_every_setup_is_whole(name):
    entry = ss.SCENES[name]
    resolve(entry.method)
    assert all(p.default is not p.empty for p in inspect.signature(entry.build).parameters.values())
    assert pickle.loads(pickle.dumps(entry)).summary == entry.summary


SLOW = {
    ("arch", "peg"): "its problems of a thousand unknowns take Lemke's algorithm half a minute each",
    ("card-house", "peg"): "the same",
    ("card-house", "event-selected"): "refused by a DivergedError, after half a minute",
}


@pytest.mark.filterwarnings("ignore::stickslip.errors.StickslipWarning")
@pytest.mark.parametrize("name", ss.SCENES)
def test_every_scene_runs_under_every_method(name):
    """At its own defaults: dt, velocity and controller fit each other."""
    setup = ss.SCENES[name].build()
    for method in METHODS:
        if (name, method) in SLOW:
            continue
        sim = ss.Simulation(copy.deepcopy(setup), method)
        sim.step(2)
        assert np.isfinite(sim.state.q).all(), method
        assert len(sim.contacts) >= 0


def test_method_and_step_of_the_scene_hold_unless_others_are_given():
    entry = ss.SCENES["solo12-stand"]
    for scene in ("solo12-stand", entry.build()):
        sim = ss.Simulation(scene)
        assert (sim.method, sim.dt, sim.control_dt) == ("coulomb", entry.dt, 1e-3)
        assert sim.controller is not None
    assert ss.Simulation("box-pile", "stewart-trinkle/pgs").dt == ss.SCENES["box-pile"].dt
    assert ss.Simulation("box-pile", dt=1e-3).dt == 1e-3
    assert ss.Simulation("solo12-stand", "variational").dt == 1e-3  # its default of 10 ms would miss the controller


def test_both_user_functions_run():
    """The scene pushes its box; the caller's function sees what it did."""
    seen = []
    sim = ss.Simulation("balls-on-box", user=lambda sim: seen.append(np.abs(sim.inputs.wrench).max()))
    sim.step()
    assert seen[0] > 0


def test_model_files(tmp_path):
    (tmp_path / "sphere.xml").write_text(SPHERE)
    for path in (tmp_path / "sphere.xml", str(tmp_path / "sphere.xml")):
        assert ss.Simulation(path).model.nv == 6


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("bal", r"unknown scene 'bal': did you mean 'ball'"),
        ("solo12", "'solo12' is a robot, not a scene; try 'solo12-drop'"),
        ("nowhere.xml", "nowhere.xml"),
        (3, "scene: expected a Scene, a Model, a bundled scene's name or a model file, got 'int'"),
        (Setup("ball"), "scene: expected"),
    ],
)
def test_what_is_no_scene_is_named(what, message):
    with pytest.raises((ss.InputError, ss.ModelError), match=message):
        ss.Simulation(what)
