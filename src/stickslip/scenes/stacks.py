"""Stacks and rows of spheres, boxes, blocks, dominoes and cards."""

from __future__ import annotations

import numpy as np

from stickslip.errors import expected, number, whole
from stickslip.model.scene import Scene
from stickslip.scenes.rpisim import FRICTION
from stickslip.simulation.setup import Setup


def sphere_stack(
    n: int = 5, *, shift: float = 0.0, gap: float = 0.0, side_gap: float = 0.0, friction: float = FRICTION
) -> Setup:
    """n³ balls (1 kg, radius 0.5 m) in cube formation on the floor (Williams et al., Fig. 9a).

    Layers are ``gap`` [m] apart, balls of a layer ``side_gap`` [m]; ball k (x first, then y, then z) is moved by
    ``shift``·(sin 3k, sin 5k) [m] in the plane. Without gaps and shifts the stack is in unstable equilibrium and
    stands; with them it falls. Side gaps of twice the shift keep the balls from overlapping at the start.
    """
    whole("n", n, 1)
    for what, value in (("shift", shift), ("gap", gap), ("side_gap", side_gap)):
        number(what, value, "a length ≥ 0 [m]", least=0.0)
    scene = Scene(name="sphere-stack")
    scene.add_plane(friction=friction)
    radius = 0.5
    side, up = 2 * radius + side_gap, 2 * radius + gap
    for k in range(n**3):
        x, y, z = k % n, k // n % n, k // n**2
        place = (
            side * (x - (n - 1) / 2) + shift * np.sin(3 * k),
            side * (y - (n - 1) / 2) + shift * np.sin(5 * k),
            radius + up * z,
        )
        scene.add_sphere(radius, pos=place, mass=1.0, friction=friction, name=f"ball{k}")
    return Setup(scene)


def loose_sphere_stack(n: int = 5, *, friction: float = FRICTION) -> Setup:
    """The stack with 1 cm of disorder and 2 cm between the balls."""
    return sphere_stack(n, shift=0.01, gap=0.02, side_gap=0.02, friction=friction)


def box_pile(levels: int = 2, *, edge: float = 0.2, friction: float = FRICTION) -> Setup:
    """Cubes (density 500 kg/m³) fall on a pile: levels², …, 9, 4, 1 in a layer, each over the gaps of the layer below.

    They start a little tilted, with a quarter of an edge between layers.
    """
    whole("levels", levels, 1)
    edge = number("edge", edge, "a length > 0 [m]", above=0.0)
    scene = Scene(name="box-pile")
    scene.add_plane(friction=friction)
    pitch, k = 1.25 * edge, 0
    for level in range(levels):
        side = levels - level
        for x in range(side):
            for y in range(side):
                place = pitch * np.array([x - (side - 1) / 2, y - (side - 1) / 2, 0.5 + level])
                tilt = 0.08 * np.array([np.sin(2.0 * k), np.sin(3.0 * k + 1.0), np.sin(5.0 * k + 2.0)])
                half = np.linalg.norm(tilt) / 2
                quat = [np.cos(half), *(np.sin(half) / (2 * half) * tilt)]
                scene.add_box(
                    (edge, edge, edge), pos=place, quat=quat, density=500.0, friction=friction, name=f"box{k}"
                )  # fmt: skip
                k += 1
    return Setup(scene)


def block_stack(n: int = 10, *, shift: float = 0.0, ratio: float = 1.0, friction: float = FRICTION) -> Setup:
    """n blocks (20 × 20 × 10 cm) stand on each other; block k is moved by ``shift``·(sin 3k, sin 5k) [m].

    The lowest has 1 kg, each of the others ``ratio`` times the mass of the one below.
    """
    whole("n", n, 1)
    ratio = number("ratio", ratio, "a ratio of masses > 0", above=0.0)
    shift = number("shift", shift, "a length from 0 to 0.1 m", least=0.0)
    if shift > 0.1:
        raise expected("shift", "a length from 0 to 0.1 m", shift)
    scene = Scene(name="block-stack")
    scene.add_plane(friction=friction)
    high = 0.1
    for k in range(n):
        place = (shift * np.sin(3 * k), shift * np.sin(5 * k), high * (k + 0.5))
        scene.add_box((0.2, 0.2, high), pos=place, mass=ratio**k, friction=friction, name=f"block{k}")
    return Setup(scene)


def heavy_on_light(lower: float = 1e-3, upper: float = 1e3, *, friction: float = FRICTION) -> Setup:
    """Two cubes of 0.2 m on each other with masses [kg] of a million to one; the ``lower`` one is on the floor."""
    lower, upper = (number(what, m, "a mass > 0 [kg]", above=0.0) for what, m in (("lower", lower), ("upper", upper)))
    edge = 0.2
    scene = Scene(name="heavy-on-light" if upper >= lower else "light-on-heavy")
    scene.add_plane(friction=friction)
    for k, (name, mass) in enumerate((("lower", lower), ("upper", upper))):
        scene.add_box((edge, edge, edge), pos=(0, 0, edge * (k + 0.5)), mass=mass, friction=friction, name=name)
    return Setup(scene)


def spheres_in_box(n: int = 100, *, friction: float = FRICTION, seed: int = 0) -> Setup:
    """n balls (radius 0.1 m, 1 kg) fall into an open box of 1.1 × 1.1 m, 25 a layer, and come to rest in it."""
    whole("n", n, 1)
    whole("seed", seed, 0)
    scene = Scene(name="spheres-in-box")
    scene.add_plane(friction=friction)
    radius, inside, thick, rng = 0.1, 1.1, 0.05, np.random.default_rng(seed)
    layers = -(-n // 25)
    high = 2.5 * radius * layers
    for k, (x, y) in enumerate(((1, 0), (-1, 0), (0, 1), (0, -1))):
        size = (thick, inside + 2 * thick, high) if x else (inside, thick, high)
        place = (x * (inside + thick) / 2, y * (inside + thick) / 2, high / 2)
        scene.add_box(size, pos=place, joint="fixed", friction=friction, name=f"wall{k}", rgba=(0.5, 0.5, 0.6, 0.3))
    pitch = inside / 5
    for k in range(n):
        layer, cell = divmod(k, 25)
        x, y = divmod(cell, 5)
        centre = np.array([pitch * (x - 2), pitch * (y - 2), radius + 0.22 * layer + 0.01])
        centre[:2] += rng.uniform(-0.009, 0.009, 2)  # balls of a layer are 2 cm apart
        scene.add_sphere(radius, pos=centre, mass=1.0, friction=friction, name=f"ball{k}")
    return Setup(scene)


def domino_row(n: int = 10, *, pitch: float = 0.08, push: float = 2.0, friction: float = FRICTION) -> Setup:
    """n standing blocks (3 × 10 × 20 cm, 0.5 kg), ``pitch`` [m] apart; the first is turned with ``push`` [rad/s].

    It falls if push² > 3·g·(√(h² + d²) − h)/(h² + d²), 1.27 rad/s, and takes the others with it.
    """
    whole("n", n, 1)
    thick, wide, high = 0.03, 0.1, 0.2
    push = number("push", push, "a number ≥ 0 [rad/s]", least=0.0)
    if not thick < number("pitch", pitch, "a length [m]") < high:
        raise expected("pitch", f"more than the thickness of {thick} m and less than the height of {high} m", pitch)
    scene = Scene(name="domino-row")
    scene.add_plane(friction=friction)
    for k in range(n):
        place = (pitch * k, 0, high / 2)
        scene.add_box((thick, wide, high), pos=place, mass=0.5, friction=friction, name=f"domino{k}")
    velocity = np.zeros(6 * n)
    edge = np.array([thick / 2, 0.0, -high / 2])  # the edge about which the block turns
    velocity[3:6] = 0.0, push, 0.0
    velocity[:3] = np.cross(edge, velocity[3:6])
    return Setup(scene, velocity=velocity)


def card_house(levels: int = 2, *, angle: float = 0.3, gap: float = 1e-5, friction: float = FRICTION) -> Setup:
    """A house of cards: ``levels`` storeys of pairs that lean on each other, one pair less in each, boards in between.

    Cards are 88 × 63 × 1 mm and weigh 4 g; ``angle`` [rad] is from the vertical. A pair slides apart on the floor if
    μ < tan(angle)/2, and a heavily loaded pair if μ < tan(angle). Leaning edges start a ``gap`` [m] apart.
    """
    whole("levels", levels, 1)
    gap = number("gap", gap, "a length ≥ 0 [m]", least=0.0)
    if not 0.05 <= number("angle", angle, "an angle [rad]") <= 0.8:
        raise expected("angle", "an angle from 0.05 to 0.8 rad", angle)
    scene = Scene(name="card-house")
    scene.add_plane(friction=friction)
    long, wide, thick, mass = 0.088, 0.063, 0.001, 0.004
    s, c = np.sin(angle), np.cos(angle)
    out = (long * s + thick * c + gap) / 2  # centre of a leaning card from the middle of its pair
    up = (long * c + thick * s) / 2
    pitch = 2 * (long * s + 2 * thick)  # leaves space between neighbouring pairs
    floor = 0.0
    for level in range(levels):
        pairs = levels - level
        for k in range(pairs):
            middle = pitch * (k - (pairs - 1) / 2)
            for side, name in ((-1, "left"), (1, "right")):
                half = -side * angle / 2
                scene.add_box(
                    (thick, wide, long), pos=(middle + side * out, 0, floor + up),
                    quat=(np.cos(half), 0, np.sin(half), 0), mass=mass, friction=friction, name=f"{name}{level}_{k}",
                )  # fmt: skip
        floor += 2 * up
        if pairs > 1:
            size = (pitch * (pairs - 1) + 6 * thick, wide, thick)
            board = mass * size[0] / long
            place = (0, 0, floor + thick / 2)
            scene.add_box(size, pos=place, mass=board, friction=friction, name=f"board{level}")
            floor += thick
    return Setup(scene)
