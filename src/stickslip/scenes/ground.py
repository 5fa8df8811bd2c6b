"""Rough ground: Solo12 stands on it, and bodies of all kinds of shapes lie around it."""

from __future__ import annotations

import numpy as np

from stickslip.control import PD
from stickslip.dynamics.interface import Dynamics
from stickslip.errors import number, whole
from stickslip.model.scene import Scene
from stickslip.simulation.setup import Setup

SIZE, CELLS = 3.0, 50
"""[m] edge of the ground, and the number of cells along it."""
CLEARANCE = 2e-3
"""[m] between the ground and what is put on it."""
FEET = ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT")
PYRAMID = np.array([[-0.1, -0.1, 0.0], [0.1, -0.1, 0.0], [0.1, 0.1, 0.0], [-0.1, 0.1, 0.0], [0.0, 0.0, 0.16]])
"""[m] corners."""


def rough(height: float, seed: int) -> np.ndarray:
    """(CELLS + 1, CELLS + 1) heights of waves of ``height`` [m] with bumps of a tenth of it."""
    x = np.linspace(-0.5 * SIZE, 0.5 * SIZE, CELLS + 1)
    waves = np.outer(np.cos(2.3 * x), np.sin(2.9 * x)) + 0.4 * np.outer(np.sin(5.1 * x), np.cos(6.3 * x))
    return height * (0.7 * waves + 0.1 * np.random.default_rng(seed).uniform(-1.0, 1.0, size=waves.shape))


def highest(heights: np.ndarray, x: float, y: float, reach: float) -> float:
    """The highest point of the ground within ``reach`` [m] of (x, y) along both axes, up to a cell more."""
    step = SIZE / CELLS
    low, high = (np.array([y, x]) + 0.5 * SIZE - reach) / step, (np.array([y, x]) + 0.5 * SIZE + reach) / step
    (r0, c0), (r1, c1) = np.floor(low).astype(int).clip(0), np.ceil(high).astype(int).clip(0)
    return float(heights[r0 : r1 + 1, c0 : c1 + 1].max())


def terrain(height: float = 0.04, *, seed: int = 0, friction: float = 0.8) -> Setup:
    """Solo12 on rough ground, holding its posture by PD control, among a box, a ball, a capsule, a cylinder, an
    ellipsoid and a pyramid. Round bodies have rolling friction, so that they come to rest."""
    heights = rough(number("height", height, "a height ≥ 0 [m]", least=0.0), whole("seed", seed, least=0))
    scene = Scene(name="terrain")
    scene.add_terrain(heights, size=(SIZE, SIZE), friction=friction, rgba=(0.55, 0.5, 0.38, 1.0), name="ground")

    def on_ground(x: float, y: float, reach: float, half: float) -> tuple[float, float, float]:
        return x, y, highest(heights, x, y, reach) + CLEARANCE + half

    scene.add_box((0.24, 0.18, 0.12), pos=on_ground(0.75, 0.1, 0.12, 0.06), mass=1.0, name="box")
    scene.add_sphere(0.08, pos=on_ground(0.1, 0.75, 0.04, 0.08), mass=0.5, rolling=0.01, name="ball")
    lying = (np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0)
    scene.add_capsule(
        0.05, 0.2, pos=on_ground(-0.7, 0.55, 0.1, 0.05), quat=lying, mass=0.5, rolling=0.01, name="capsule"
    )
    scene.add_cylinder(0.1, 0.14, pos=on_ground(-0.75, -0.3, 0.1, 0.07), mass=0.8, name="drum")
    pebble = on_ground(0.5, -0.7, 0.05, 0.06)
    scene.add_ellipsoid((0.14, 0.1, 0.06), pos=pebble, mass=0.6, rolling=0.01, name="pebble")
    scene.add_mesh(PYRAMID, pos=on_ground(-0.2, -0.75, 0.1, 0.0), mass=0.7, name="pyramid")
    robot = scene.add_robot("solo12")
    model = scene.compile()
    feet = [Dynamics(model).frame_pose(model.state().q, foot)[0] for foot in FEET]
    lift = CLEARANCE + max(highest(heights, x, y, 0.0) - z for x, y, z in feet)
    first = int(model.mj.joint("root").qposadr[0])
    x, y, z, *quat = model.state().q[first : first + 7]
    scene.set_home("root", [x, y, z + lift, *quat])
    return Setup(scene, PD(robot, kp=20.0, kd=0.5), control_dt=1e-3)
