"""The bundled robots: dropped, standing, slipping, squatting, walking, trotting, jumping."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from stickslip.control import PD
from stickslip.control.references import jump, squat, tracked_trot, trot, walk
from stickslip.control.references.feet import A1_FEET
from stickslip.dynamics import Dynamics
from stickslip.errors import number
from stickslip.model.scene import Scene
from stickslip.model.shape import DEFAULT_STIFFNESS
from stickslip.simulation.setup import Setup


def drop(robot: str, height: float, kp: float, kd: float) -> Setup:
    """A robot released with its feet ``height`` [m] above the floor, holding its posture by PD control.

    Joints that move little have smaller gains, in the same ratio: a force that holds for a control period shall take
    at most 0.6 of a joint's velocity away.
    """
    scene = Scene(name=f"{robot}-drop")
    scene.add_plane(friction=0.8)
    handle = scene.add_robot(robot)
    model, period = scene.compile(), 1e-3
    base = model.state().q
    scene.set_home("root", [*base[:2], base[2] + height, *base[3:7]])
    inverse = np.diag(np.linalg.inv(Dynamics(model).crba(base)))[-model.nu :]
    damping = np.minimum(kd, 0.6 / (inverse * period))
    return Setup(scene, PD(handle, kp=damping * (kp / kd), kd=damping), control_dt=period)


def solo12_stand(friction: float = 0.8, *, speed: float = 0.0) -> Setup:
    """Solo12 on its feet, which just touch the floor, holding its posture by PD control; with an initial ``speed``
    [m/s] it slips for v/(μ·g)."""
    speed = number("speed", speed, "a speed [m/s]")
    scene = Scene(name="solo12-slip" if speed else "solo12-stand")
    scene.add_plane(friction=friction)
    handle = scene.add_robot("solo12")
    velocity = np.zeros(scene.compile().nv)
    velocity[0] = speed
    return Setup(scene, PD(handle, kp=20.0, kd=0.5), velocity if speed else None, control_dt=1e-3)


def standing(name: str, robot: str, points: int, friction: float = 1.0) -> Scene:
    """A robot on a floor; its contact points penetrate the floor by the static deflection under its weight."""
    scene = Scene(name=name)
    scene.add_plane(friction=friction)
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


def _planned(name: str, motion: Callable, control_dt: float, friction: float = 1.0) -> Setup:
    """Solo12 follows a planned motion by linear feedback."""
    scene = standing(name, "solo12", 4, friction)
    controller, _ = motion(scene.compile(), control_dt=control_dt)
    return Setup(scene, controller, control_dt=control_dt)


def solo12_trot(friction: float = 1.0) -> Setup:
    """A trot of Solo12, planned for a friction of 1; below about 0.3 the feet slip."""
    return _planned("solo12-trot", trot, 2e-3, friction)


def solo12_jump() -> Setup:
    return _planned("solo12-jump", jump, 1e-2)


def a1_walk(seconds: float = 3.0, *, speed: float = 0.3, friction: float = 0.8) -> Setup:
    """Unitree A1 walks along x with ``speed`` [m/s], the feet of one diagonal after those of the other, and stands at
    both ends of the ``seconds``. It has planned torques and PD control. Its feet just touch the floor at the start."""
    scene = Scene(name="a1-walk")
    scene.add_plane(friction=friction)
    scene.add_robot("a1")
    controller, _ = tracked_trot(
        scene.compile(), kp=100.0, kd=2.0, speed=speed, duration=seconds, swing=0.2, overlap=0.05,
        friction=0.9 * friction, feet=A1_FEET,
    )  # fmt: skip
    return Setup(scene, controller, control_dt=2e-3)
