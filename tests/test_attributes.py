"""Attributes that are assigned by mistake are errors, and gravity can be assigned."""

import numpy as np
import pytest

import stickslip as ss


def falling() -> ss.Scene:
    scene = ss.Scene()
    scene.add_sphere(0.1, mass=1.0, name="ball")
    return scene


def test_gravity_of_a_scene_is_assigned_and_read():
    scene = falling()
    assert scene.gravity.tolist() == [0, 0, -9.81]
    scene.gravity = (0, 0, -1.62)
    sim = ss.Simulation(scene, "semi-implicit-euler", 1e-2)
    sim.step(100)
    assert sim.state.v[2] == pytest.approx(-1.62)
    assert 'gravity="0 0 -1.62' in scene.to_xml()
    with pytest.raises(ss.InputError, match=r"gravity: expected 3 finite numbers, got 9\.81"):
        scene.gravity = 9.81
    with pytest.raises(ValueError, match="read-only"):
        scene.gravity[2] = 0.0
    assert scene.gravity.tolist() == [0, 0, -1.62]


@pytest.mark.parametrize(
    ("name", "message"),
    [("graviti", "did you mean 'gravity'"), ("g", "did you mean 'gravity'"), ("colour", "help"),
     ("add_box", "is a method"), ("timestep", "help")],
)  # fmt: skip
def test_scene_refuses_mistyped_names(name, message):
    scene = falling()
    with pytest.raises(ss.InputError, match=message) as error:
        setattr(scene, name, 3)
    assert isinstance(error.value, AttributeError)
    scene.name = "another"
    scene.hull_tolerance = 1e-3


@pytest.mark.parametrize(
    ("name", "message"),
    [("dt", "make another Simulation"), ("timestep", "'dt'"), ("method", "make another"), ("control", "set_control"),
     ("contoller", "'controller'"), ("gravity", "set_gravity"), ("graviti", "set_gravity"), ("q", "set_state"),
     ("time", "reset"), ("step", "is a method"), ("sensors", "can be read")],
)  # fmt: skip
def test_simulation_refuses_mistyped_names(name, message):
    sim = ss.Simulation(falling())
    with pytest.raises(ss.InputError, match=message):
        setattr(sim, name, 3)


def test_own_attributes_of_simulations_and_subclasses_are_free():
    sim = ss.Simulation(falling())
    sim.target_height = 3.0
    assert sim.target_height == 3.0

    class Mine(ss.Scene):
        def __init__(self) -> None:
            super().__init__()
            self.cubes = 3

    assert Mine().cubes == 3
    assert np.array_equal(Mine().gravity, (0, 0, -9.81))
