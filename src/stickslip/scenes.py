"""The bundled scenes, by plain names. A new scene is one function and one line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from stickslip.control import PD
from stickslip.control.references import jump, squat, trot, walk
from stickslip.errors import InputError, unknown
from stickslip.model.builders import add_chain, add_cylinder_on_points, add_hopper
from stickslip.model.scene import BUNDLED, Scene
from stickslip.model.shape import DEFAULT_STIFFNESS
from stickslip.simulation import Controller


class Setup(NamedTuple):
    """A scene with what drives it and how it starts moving."""

    scene: Scene
    controller: Controller | None = None
    velocity: np.ndarray | None = None
    """(nv,) at the start."""
    control_dt: float | None = None
    """[s] between controller calls; None: the default of Simulation.run."""


@dataclass(frozen=True)
class Entry:
    """A bundled scene."""

    build: Callable[[], Setup]
    time: float
    """[s] for ``stickslip run``."""
    summary: str


def drop(robot: str, height: float, kp: float, kd: float) -> Setup:
    """A robot released with its feet ``height`` [m] above the floor, holding its posture by PD control."""
    scene = Scene(name=f"{robot}-drop")
    scene.add_plane(friction=0.8)
    handle = scene.add_robot(robot)
    base = scene.compile().state().q
    scene.set_home("root", [*base[:2], base[2] + height, *base[3:7]])
    return Setup(scene, PD(handle, kp=kp, kd=kd))


def standing(name: str, robot: str, points: int) -> Scene:
    """A robot on a floor of friction 1, its contact points as deep in it as its weight presses them."""
    scene = Scene(name=name)
    scene.add_plane(friction=1.0)
    scene.add_robot(robot)
    model = scene.compile()
    base = model.state().q
    weight = model.inertia.mass.sum() * np.linalg.norm(model.inertia.gravity)
    scene.set_home("root", [*base[:2], base[2] - weight / (points * DEFAULT_STIFFNESS), *base[3:7]])
    return scene


def solo12_squat() -> Setup:
    scene = standing("solo12-squat", "solo12", 4)
    return Setup(scene, squat(scene.compile()), control_dt=0.04)


def romeo_walk() -> Setup:
    scene = standing("romeo-walk", "romeo", 8)
    return Setup(scene, walk(scene.compile()), control_dt=0.04)


def solo12(name: str, motion: Callable, control_dt: float) -> Setup:
    """Solo12 follows a planned motion by linear feedback."""
    scene = standing(name, "solo12", 4)
    controller, _ = motion(scene.compile(), control_dt=control_dt)
    return Setup(scene, controller, control_dt=control_dt)


def hopper() -> Setup:
    scene = Scene(name="hopper")
    scene.add_plane(friction=0.2)
    add_hopper(scene, pos=(0, 0, 1.0))
    return Setup(scene, PD(kp=200.0, kd=5.0))


def chain() -> Setup:
    scene = Scene(name="chain")
    scene.add_plane(friction=0.2)
    add_chain(scene, 10, pos=(0, 0, 0.5))
    return Setup(scene)


def cylinder() -> Setup:
    scene = Scene(name="cylinder")
    scene.add_plane(friction=0.2)
    tilt = 0.1
    add_cylinder_on_points(scene, 8, pos=(0, 0, 0.5), quat=(np.cos(tilt / 2), np.sin(tilt / 2), 0, 0))
    return Setup(scene)


def incline() -> Setup:
    angle = np.deg2rad(20.0)
    scene = Scene(name="incline")
    normal = np.array([np.sin(angle), 0.0, np.cos(angle)])
    scene.add_plane(normal=normal, friction=0.3)
    scene.add_box((0.2, 0.2, 0.1), pos=0.05 * normal, quat=(np.cos(angle / 2), 0, np.sin(angle / 2), 0), mass=1.0)
    return Setup(scene)


def ball() -> Setup:
    scene = Scene(name="ball")
    scene.add_plane(friction=0.5)
    scene.add_sphere(0.1, pos=(0, 0, 0.1), mass=1.0)
    return Setup(scene, velocity=np.array([2.0, 0, 0, 0, 0, 0]))


def tumble() -> Setup:
    scene = Scene(name="tumble", gravity=(0, 0, 0))
    scene.add_body("body").set_inertia(1.0, inertia=(1.0, 2.0, 3.0))
    return Setup(scene, velocity=np.array([0, 0, 0, 0.1, 2.0, 0.1]))


SCENES: dict[str, Entry] = {
    "solo12-drop": Entry(lambda: drop("solo12", 0.1, 10.0, 0.2), 2.0, "Solo12 falls 10 cm, holding its posture"),
    "solo12-trot": Entry(lambda: solo12("solo12-trot", trot, 2e-3), 3.0, "Solo12 trots forward for three seconds"),
    "solo12-jump": Entry(lambda: solo12("solo12-jump", jump, 1e-2), 2.5, "Solo12 crouches, jumps in place and lands"),
    "a1-drop": Entry(lambda: drop("a1", 0.1, 100.0, 2.0), 2.0, "Unitree A1 falls 10 cm on its feet"),
    "romeo-drop": Entry(lambda: drop("romeo", 0.02, 1000.0, 20.0), 2.0, "Romeo is put down from 2 cm"),
    "solo12-squat": Entry(solo12_squat, 10.0, "Solo12 squats three times, by inverse dynamics"),
    "romeo-walk": Entry(romeo_walk, 6.3, "Romeo takes two steps and stands, by inverse dynamics"),
    "hopper": Entry(hopper, 2.0, "a sphere on an actuated pole lands on one point"),
    "chain": Entry(chain, 2.0, "ten links with ball joints fall on the floor"),
    "cylinder": Entry(cylinder, 2.0, "a flat cylinder with eight contact points lands tilted"),
    "incline": Entry(incline, 1.0, "a box slides down 20° with friction 0.3"),
    "ball": Entry(ball, 2.0, "a sliding ball begins to roll (at 5/7 of its speed)"),
    "tumble": Entry(tumble, 20.0, "a free body spins about its middle axis and flips"),
}


def find(name_or_path: str, *, floor: float | None = None, **load_options) -> tuple[str, Setup, float]:
    """(name, setup, seconds) of a bundled scene, or of a model file, with a floor at a height [m] if asked for."""
    if name_or_path in SCENES:
        entry = SCENES[name_or_path]
        return name_or_path, entry.build(), entry.time
    path = Path(name_or_path)
    if path.suffix or path.exists():
        scene = Scene.from_file(path, **load_options)
        if floor is not None:
            scene.add_plane(pos=(0, 0, floor))
        return path.stem, Setup(scene), 2.0
    if name_or_path in BUNDLED:
        raise InputError(f"{name_or_path!r} is a robot, not a scene; try {name_or_path + '-drop'!r}")
    raise unknown("scene", name_or_path, SCENES)
