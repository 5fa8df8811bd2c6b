"""A body or a mechanism on its own: hopper, chain, cylinder, incline, ball, tumbling body."""

from __future__ import annotations

from functools import partial

import numpy as np

from stickslip.control import PD
from stickslip.control.references import HopperTurn
from stickslip.errors import expected, number
from stickslip.model.builders import add_chain, add_cylinder_on_points, add_hopper
from stickslip.model.scene import Scene
from stickslip.simulation import Simulation
from stickslip.simulation.setup import Setup


def hopper() -> Setup:
    scene = Scene(name="hopper")
    scene.add_plane(friction=0.2)
    add_hopper(scene, pos=(0, 0, 1.0))
    return Setup(scene, PD(kp=200.0, kd=5.0))


def hopper_turn(speed: float = 4.2, *, turns: float = 1.0, friction: float = 0.2) -> Setup:
    """The hopper stands on its foot, crouches, leaves the ground with ``speed`` [m/s] of its sphere, turns about the
    axis (1, 1, 0) in the air and lands. A user stage applies the torques on the sphere as a wrench."""
    scene = Scene(name="hopper-turn")
    scene.add_plane(friction=friction)
    add_hopper(scene)
    turn = HopperTurn(scene.compile(), speed=speed, turns=turns)
    return Setup(scene, turn, control_dt=1e-3, user=partial(_flywheels, turn))


def _flywheels(turn: HopperTurn, sim: Simulation) -> None:
    sim.inputs.wrench[1, 3:] = turn.torque(sim.time, sim.state.q, sim.state.v)


def chain(links: int = 10, *, height: float = 0.5) -> Setup:
    """A chain of links in a row, ``height`` [m] above the floor."""
    scene = Scene(name="chain")
    scene.add_plane(friction=0.2)
    add_chain(scene, links, pos=(0, 0, height))
    return Setup(scene)


def cylinder(contacts: int = 8, *, height: float = 0.5, tilt: float = 0.1) -> Setup:
    """A cylinder with its centre at ``height`` [m], tilted by ``tilt`` [rad]."""
    scene = Scene(name="cylinder")
    scene.add_plane(friction=0.2)
    quat = (np.cos(tilt / 2), np.sin(tilt / 2), 0, 0)
    add_cylinder_on_points(scene, contacts, pos=(0, 0, height), quat=quat)
    return Setup(scene)


def incline(angle: float = np.deg2rad(20.0), *, friction: float = 0.3) -> Setup:
    """A box on a plane that falls by ``angle`` [rad]: it slides with g·(sin α − μ·cos α), or stays where μ ≥ tan α."""
    if not 0.0 < number("angle", angle, "an angle [rad]") < 1.5:
        raise expected("angle", "an angle above 0 and below 1.5 rad", angle)
    scene = Scene(name="incline")
    normal = np.array([np.sin(angle), 0.0, np.cos(angle)])
    scene.add_plane(normal=normal, friction=friction)
    turned = (np.cos(angle / 2), 0, np.sin(angle / 2), 0)
    scene.add_box((0.2, 0.2, 0.1), pos=0.05 * normal, quat=turned, mass=1.0, friction=friction, name="box")
    return Setup(scene)


def ball(speed: float = 2.0, *, friction: float = 0.5) -> Setup:
    """A ball slides with ``speed`` [m/s] and begins to roll, with 5/7 of it, after 2·v/(7·μ·g)."""
    speed = number("speed", speed, "a speed ≥ 0 [m/s]", least=0.0)
    scene = Scene(name="ball")
    scene.add_plane(friction=friction)
    scene.add_sphere(0.1, pos=(0, 0, 0.1), mass=1.0, friction=friction, name="ball")
    return Setup(scene, velocity=np.array([speed, 0, 0, 0, 0, 0]))


def tumble() -> Setup:
    scene = Scene(name="tumble", gravity=(0, 0, 0))
    scene.add_body("body").set_inertia(1.0, inertia=(1.0, 2.0, 3.0))
    return Setup(scene, velocity=np.array([0, 0, 0, 0.1, 2.0, 0.1]))
