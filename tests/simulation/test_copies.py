"""Scenes, models, simulations and logs pickle and deep-copy; test_determinism has the bits under every method."""

import copy
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
import trimesh
from stepping import stepped

import stickslip as ss
from stickslip.errors import InputError

pytestmark = pytest.mark.filterwarnings("ignore::stickslip.errors.StickslipWarning")


def through_pickle(thing):
    return pickle.loads(pickle.dumps(thing))


def parts(model):
    """Everything that the arrays of a model hold, as bytes."""
    arrays = [array for part in model.parts for array in part]
    arrays += [x for s in model.shapes for x in (s.pos, s.rot, s.size, s.vertices) if x is not None]
    arrays += [x for key in model.keyframes.values() for x in key[:5]]
    return [np.ascontiguousarray(array).tobytes() for array in arrays]


SLOW = {"solo12-trot", "solo12-jump", "a1-walk"}
"""Scenes whose motion takes seconds to plan."""


@pytest.mark.parametrize("name", [name for name in ss.SCENES if name not in SLOW])
def test_every_bundled_scene_comes_back_to_the_bit(name):
    """With its controller and user stage; the model is compiled anew from the scene that came back."""
    setup = ss.SCENES[name].build()
    model, again = setup.scene.compile(), through_pickle(setup)
    for scene in (again.scene, copy.deepcopy(setup.scene)):
        made = scene.compile()
        assert parts(made) == parts(model)
        assert made.fingerprint == model.fingerprint
        assert scene.notes == setup.scene.notes
        assert scene.robots == setup.scene.robots
    for made in (through_pickle(model), copy.deepcopy(model)):
        assert parts(made) == parts(model)
        assert made.to_xml() == model.to_xml()
    assert (again.controller is None, again.user is None) == (setup.controller is None, setup.user is None)


@pytest.fixture
def scene(tmp_path):
    """Everything that a scene keeps: files, hulls, terrain, keyframes, sensors, loops, frames, tendons, robots."""
    file = tmp_path / "ball.stl"
    trimesh.creation.icosphere(subdivisions=1, radius=0.1).export(file)
    made = ss.Scene(name="all of it", hull_tolerance=1e-4)
    made.add_plane(friction=0.7)
    made.add_terrain(np.random.default_rng(0).random((4, 5)), size=(2, 2), pos=(5, 0, 0))
    made.add_mesh(file, mass=0.3, pos=(0, 0, 1.3), quat=(0.8, 0.6, 0, 0), name="stone", restitution=0.2)
    made.add_mesh(np.random.default_rng(1).random((12, 3)), pos=(0, 2, 1), mass=0.7)
    made.add_box((0.1, 0.1, 0.1), name="hand", mocap=True, pos=(1, 1, 1)).add_frame("grip", quat=(0.6, 0, 0.8, 0))
    made.add_robot("solo12", pos=(0, 0, 0.35), name="dog")
    made.add_tendon("rope", path=["grip", "dog/FL_FOOT"], stiffness=3.0)
    made.add_keyframe("up", joints={"stone": (0, 0, 2.0, 1, 0, 0, 0)})
    made.add_sensor("framepos", site="grip", name="where")
    made.couple("dog/FL_KFE", "dog/FR_KFE")
    made.exclude("dog/base_link", "stone")
    return made


def test_what_a_scene_keeps_survives(scene, tmp_path):
    """Also if the files that it was made of are gone, and bodies can be added as if it were the original."""
    model, stored = scene.compile(), pickle.dumps((scene, scene.body("stone")))
    (tmp_path / "ball.stl").unlink()
    again, stone = pickle.loads(stored)
    assert stone.scene is again
    assert again.world.scene is again
    assert (again.name, again.hull_tolerance) == ("all of it", 1e-4)
    assert parts(again.compile()) == parts(model)
    assert again.compile().keyframes.keys() == model.keyframes.keys()
    assert again.robots == scene.robots
    stone.add_frame("top", pos=(0, 0, 0.1))
    with pytest.raises(InputError, match="taken"):
        again.add_box((1, 1, 1), name="stone")
    assert "top" in again.compile().frame_index
    assert "top" not in model.frame_index
    box = again.add_box((1, 1, 1), mass=1.0, pos=(9, 9, 9))
    assert box.name == scene.add_sphere(1.0, mass=1.0).name.replace(
        "shape", "body"
    )  # the count of made-up names goes on


def test_setters_reach_one_copy_alone_and_survive(scene):
    sim = ss.Simulation(scene, "coulomb", dt=1e-3)
    sim.model.set_body("stone", mass=2.0, com=(0.01, 0, 0))
    sim.model.set_shape("stone", friction=0.1)
    sim.follow_model()  # a scene with mocap bodies: the simulation has a copy of the model
    model = through_pickle(sim.model)
    assert model.fingerprint == sim.model.fingerprint
    assert model.version == sim.model.version
    other = copy.deepcopy(sim)
    other.model.set_body("stone", mass=5.0)
    assert other.model.mass_properties("stone").mass == 5.0
    assert sim.model.mass_properties("stone").mass == model.mass_properties("stone").mass == 2.0
    with pytest.raises(ValueError, match="read-only"):
        model.inertia.mass[1] = 1.0


def circle(t):
    return np.array([1 + 0.1 * np.sin(3 * t), 1, 1])


class Count:
    """A controller with memory, which knows its simulation."""

    def __init__(self, sim):
        self.sim, self.calls = sim, 0

    def __call__(self, t, q, v):
        self.calls += 1
        return 0.01 * self.calls * np.ones(self.sim.model.nu)


def test_a_simulation_goes_on_in_copies(scene):
    """With a prescribed motion, a push, a controller that knows the simulation, and an attribute of one's own."""
    sim = ss.Simulation(scene, "coulomb", dt=1e-3)
    sim.prescribe("hand", circle)
    sim.controller, sim.control_dt, sim.goal = Count(sim), 2e-3, [1, 2]
    sim.step(5)
    sim.push("stone", force=(1, 0, 0), duration=0.02)
    sim.push("dog/base_link", force=(0, 5, 0), duration=0.02)
    stored, copied = pickle.dumps(sim), copy.deepcopy(sim)
    assert copied.controller is not sim.controller
    assert copied.controller.sim is copied
    assert copied.goal == [1, 2]
    assert [c.point.tolist() for c in copied.contacts] == [c.point.tolist() for c in sim.contacts]
    sim.step(15)
    assert copied.steps == 5
    for other in (copied, pickle.loads(stored)):
        other.step(15)
        assert other.state.q.tobytes() == sim.state.q.tobytes()
        assert other.state.v.tobytes() == sim.state.v.tobytes()
    assert copied.controller.calls == sim.controller.calls
    assert np.array_equal(copied.body("grip").pos, sim.body("grip").pos)


def test_a_simulation_goes_on_in_another_process():
    sim = ss.Simulation("ball", "mujoco")
    sim.step(5)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        far = pool.submit(stepped, sim, 15).result()
    sim.step(15)
    assert far.q.tobytes() == sim.state.q.tobytes()
    assert far.time == sim.time


def test_what_cannot_be_pickled_is_named():
    sim = ss.Simulation("ball")
    sim.stages.user = lambda sim: None
    with pytest.raises(InputError, match=r"sim.stages.user: expected something that pickle can store"):
        pickle.dumps(sim)
    assert copy.deepcopy(sim).stages.user is sim.stages.user
    sim.stages.user, sim.controller = None, lambda t, q, v: ()
    with pytest.raises(InputError, match=r"sim.controller: .*lambda") as caught:
        pickle.dumps(sim)
    assert len(str(caught.value)) < 300


def test_logs_in_memory_and_in_files(tmp_path):
    sim = ss.Simulation("ball")
    file = tmp_path / "ball.h5"
    for log in (sim.run(0.1), sim.run(0.1, record=file)):
        for other in (through_pickle(log), copy.deepcopy(log)):
            assert (other.path, other.outcome, len(other)) == (log.path, "complete", len(log))
            assert np.array_equal(other.q, log.q)
            assert np.array_equal(other.contact("force"), log.contact("force"))
            other.close()
    assert len(pickle.dumps(log)) < 500
