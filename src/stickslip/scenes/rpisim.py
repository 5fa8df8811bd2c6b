"""Rigid bodies that fall, slide and roll: scenes of the RPI simulator.

Williams, Lu, Niebe, Andersen, Erleben, Trinkle, "RPI-MATLAB-Simulator: A tool for efficient research and practical
teaching in multibody dynamics" (VRIPHYS 2013), Sec. 5, and the examples released with it, from which the numbers are
taken. Differs from the original in: friction is that of the pair, by default μ = 0.5, while theirs is 0.5·μ₁·μ₂, 0.125
for two surfaces of 0.5; cylinders are round, not prisms; floors are at z = 0.
"""

from __future__ import annotations

import numpy as np

from stickslip.errors import InputError, number, whole
from stickslip.model.scene import Scene
from stickslip.simulation.setup import Setup

FRICTION = 0.5
"""μ of these scenes, the original's default."""


def peg_in_hole(scale: float = 0.99999, *, height: float = 1.5, friction: float = FRICTION) -> Setup:
    """A cube above the hole between four fixed unit cubes (Sec. 5.1, Fig. 8): its edges are ``scale`` times the hole's,
    its centre starts at ``height`` [m] above theirs.

    By default it falls through with a clearance of 5 μm on each side, (1 − scale)/2; with scale > 1 it rests on the
    cubes.
    """
    scale = number("scale", scale, "a number > 0", above=0.0)
    number("height", height, "a start above the cubes [m]", least=0.5 + scale / 2)
    scene = Scene(name="peg-in-hole")
    for k, (x, y) in enumerate(((-1, 0), (1, 0), (0, 1), (0, -1))):
        scene.add_box((1, 1, 1), pos=(x, y, 0), joint="fixed", friction=friction, name=f"cube{k}")
    edge = (scale, scale, scale)
    scene.add_box(edge, pos=(0, 0, height), mass=1.0, friction=friction, name="peg", rgba=(0.8, 0.4, 0.2, 1))
    return Setup(scene)


def sphere_on_sphere(friction: float = FRICTION) -> Setup:
    """A ball (0.25 kg, radius 0.25 m) a little beside the top of a free one (20 kg, radius 2 m) rolls off it."""
    scene = Scene(name="sphere-on-sphere")
    scene.add_plane(friction=friction)
    scene.add_sphere(2.0, pos=(0, 0, 2), mass=20.0, friction=friction, name="large")
    scene.add_sphere(0.25, pos=(-0.05, 0.05, 4.25), mass=0.25, friction=friction, name="small")
    return Setup(scene)


def sliding_block(angle: float = np.pi / 12, *, friction: float = 0.25) -> Setup:
    """A block (1 kg) on a ramp; it slides with g·(sin α − μ·cos α), and stays where μ ≥ tan α.

    μ = 0.25 is the original's pair of a ramp of 1 and a block of 0.5: just less than tan(π/12) = 0.268.
    """
    angle = number("angle", angle, "the ramp's angle from 0 to 1.2 rad", least=0.0)
    if angle > 1.2:
        raise InputError(f"angle: expected the ramp's angle from 0 to 1.2 rad, got {angle!r}")
    scene = Scene(name="sliding-block")
    turned = (np.cos(angle / 2), np.sin(angle / 2), 0.0, 0.0)
    normal, uphill = np.array([0, -np.sin(angle), np.cos(angle)]), np.array([0, np.cos(angle), np.sin(angle)])
    scene.add_box((1, 2, 0.1), pos=-0.05 * normal, quat=turned, joint="fixed", friction=friction, name="ramp")
    start = 0.5 * uphill + 0.025 * normal
    scene.add_box((0.1, 0.2, 0.05), pos=start, quat=turned, mass=1.0, friction=friction, name="block")
    return Setup(scene)


def spheres_on_cube(layers: int = 1, *, friction: float = FRICTION) -> Setup:
    """15 balls (0.1 kg, radius 0.1 m) per layer fall on a fixed, tilted cube of 2 m and roll off it."""
    whole("layers", layers, 1)
    scene = Scene(name="spheres-on-cube")
    tilt = 0.2
    axis = np.sin(tilt / 2) * np.sqrt(0.5)
    scene.add_box(
        (2, 2, 2), pos=(0, 0, -1), quat=(np.cos(tilt / 2), axis, axis, 0), joint="fixed", friction=friction, name="cube"
    )
    radius = 0.1
    for layer in range(1, layers + 1):
        for x in (-0.5, -0.05, 0.4):
            for y in (-0.5, -0.25, 0.0, 0.25, 0.5):
                scene.add_sphere(radius, pos=(x, y, 3 * radius * layer), mass=0.1, friction=friction)
    return Setup(scene)


def pachinko(n: int = 50, *, friction: float = FRICTION, seed: int = 0) -> Setup:
    """n balls (0.2 kg, radius 0.1 m) rain on five rows of round pegs, fifteen in all, and then on the floor.

    They start at random places that do not overlap. Differs from the original in: every ball starts above the pegs,
    which are as wide as the rain.
    """
    whole("n", n, 1)
    whole("seed", seed, 0)
    scene = Scene(name="pachinko")
    scene.add_plane(friction=friction)
    radius, length, across, down, top = 0.1, 3.0, 0.8, 0.5, 3.0
    along_x = (np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0)
    for row in range(5):
        for k in range(row + 1):
            place = (0.0, across * (k - row / 2), top - down * row)
            name = f"peg{row}{k}"
            scene.add_cylinder(
                radius, length, pos=place, quat=along_x, joint="fixed", friction=friction, name=name
            )  # fmt: skip
    for place in _apart(n, radius, np.array([length / 2, 1.0]), top + 1.0, seed):
        scene.add_sphere(radius, pos=place, mass=0.2, friction=friction)
    return Setup(scene)


def _apart(n: int, radius: float, half: np.ndarray, bottom: float, seed: int) -> np.ndarray:
    """(n, 3) random centres of balls that do not touch, in a box that is as high as they need."""
    rng = np.random.default_rng(seed)
    height = 2.0 * max(1.0, n / 50)
    low, high = np.array([*(radius - half), bottom]), np.array([*(half - radius), bottom + height])
    places = np.zeros((0, 3))
    while len(places) < n:
        place = rng.uniform(low, high)
        if np.all(np.linalg.norm(places - place, axis=1) > 2.05 * radius):
            places = np.vstack([places, place])
    return places
