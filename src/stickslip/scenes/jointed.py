"""Bodies with joints: pendulum, hanging rod, cart, tree of bars; examples of the RPI simulator (see rpisim.py)."""

from __future__ import annotations

from functools import partial

import numpy as np

from stickslip.errors import number, whole
from stickslip.model.scene import Body, Scene
from stickslip.scenes.rpisim import FRICTION
from stickslip.simulation import Simulation
from stickslip.simulation.setup import Setup


def _rod(name: str, joint: str, **options) -> Scene:
    """A cylinder (1 kg, radius 0.1 m, length 0.5 m) hung up at its end, 0.25 m above its centre."""
    scene = Scene(name=name)
    body = scene.add_body("rod", joint="fixed")
    body.add_joint(joint, pos=(0, 0, 0.25), name="rod", **options)
    body.add_cylinder(0.1, 0.5, mass=1.0, collide=False)
    return scene


def pendulum(angle: float = np.pi / 5) -> Setup:
    """The rod of Fig. 4 on a revolute joint, released at an angle [rad]; q is the angle."""
    scene = _rod("pendulum", "hinge", axis=(0, 1, 0))
    scene.set_home("rod", number("angle", angle))
    return Setup(scene)


def hanging_rod(angle: float = np.pi / 5) -> Setup:
    """The rod of Fig. 4 on a spherical joint, released at an angle [rad]."""
    scene = _rod("hanging-rod", "ball")
    half = number("angle", angle) / 2
    scene.set_home("rod", [np.cos(half), 0, np.sin(half), 0])
    return Setup(scene)


def cart(slope: float = 0.17, *, friction: float = FRICTION) -> Setup:
    """A cart with four free wheels, all of 1 kg, on a plane that falls by ``slope`` per metre towards y.

    It rolls with g·sin α·M/(M + k·I/r²), 5/7·g·sin α for k = 4 wheels that carry it. Three wheels
    can carry it, and then the fourth does not turn: rigid-body contact does not determine which, and pivoting solvers
    choose three (10/13). Differs from the
    original in: it starts on the plane, not above it.
    """
    slope = number("slope", slope, "a number ≥ 0", least=0.0)
    scene = Scene(name="cart")
    angle, radius, axle = np.arctan(slope), 0.4, -0.25
    normal = np.array([0.0, np.sin(angle), np.cos(angle)])
    scene.add_plane(normal=normal, friction=friction)
    tilted = (np.cos(angle / 2), -np.sin(angle / 2), 0.0, 0.0)
    chassis = scene.add_body("chassis", pos=(radius - axle) * normal, quat=tilted)
    chassis.add_box((1, 3, 0.25), mass=1.0, friction=friction)
    for k, (x, y) in enumerate(((0.65, 1.3), (-0.65, 1.3), (0.65, -1.3), (-0.65, -1.3))):
        wheel = chassis.add_body(f"wheel{k}", joint="hinge", axis=(1, 0, 0), pos=(x, y, axle))
        wheel.add_cylinder(radius, 0.2, quat=(np.sqrt(0.5), 0, np.sqrt(0.5), 0), mass=1.0, friction=friction)
    return Setup(scene)


def bar_tree(levels: int = 6, *, torque: float = 0.1, seconds: float = 3.0) -> Setup:
    """A mobile: under both ends of a bar hang shorter and lighter ones on spherical joints, 2^(levels + 1) − 1 in all.

    The first bar (0.5 kg, 0.5 m) is turned by a torque [N m] for some seconds; a child has 0.6 of its parent's length
    and a third of its mass, and hangs 5 cm lower by its middle. Differs from the original in: 0.1 N m, not 30, which
    would spin the bar hundreds of times a second. Nothing collides.
    """
    whole("levels", levels, 0)
    torque, seconds = number("torque", torque), number("seconds", seconds, "a time ≥ 0 [s]", least=0.0)
    scene = Scene(name="bar-tree")
    length, mass, lower = 0.5, 0.5, 0.05
    row = [scene.add_body("bar0", joint="ball", pos=(0, 0, 0.5))]
    _bar(row[0], length, mass)
    quarter = (np.sqrt(0.5), 0, 0, np.sqrt(0.5))
    made = 1
    for _ in range(levels):
        parents, row = row, []
        for parent in parents:
            for side in (-1, 1):
                place = (side * length / 2, 0, -lower)
                row.append(parent.add_body(f"bar{made}", joint="ball", pos=place, quat=quarter))
                made += 1
        length, mass = 0.6 * length, mass / 3
        for bar in row:
            _bar(bar, length, mass)
    return Setup(scene, user=partial(_turn, "bar0", torque, seconds))


def _bar(body: Body, length: float, mass: float) -> None:
    body.add_cylinder(0.005, length, quat=(np.sqrt(0.5), 0, np.sqrt(0.5), 0), mass=mass, collide=False)


def _turn(body: str, torque: float, seconds: float, sim: Simulation) -> None:
    """Turn a body about the vertical until a time."""
    on = sim.time < seconds - 0.5 * sim.dt
    sim.inputs.wrench[sim.model.link(body), 5] = torque if on else 0.0
