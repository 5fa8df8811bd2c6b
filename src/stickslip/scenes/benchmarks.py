"""Scenes of SimBenchmark, a comparison of physics engines: a pushed box that carries balls, and a cube of balls.

Kang and Hwangbo, SimBenchmark (2018), https://leggedrobotics.github.io/SimBenchmark: "Rolling test" and "666 test".
Differs from the original in: bodies touch at the start of the rolling test, instead of overlapping by 20 μm; the
cube's disorder comes from another random generator.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from stickslip.errors import expected, number, whole
from stickslip.model.scene import Scene
from stickslip.simulation import Simulation
from stickslip.simulation.setup import Setup


def balls_on_box(
    friction: float = 0.4, *, grip: float = 0.8, force: float = 150.0, direction: float = np.pi / 4
) -> Setup:
    """A box (10 kg, 20 × 20 × 1 m) that carries 5 × 5 balls (1 kg, radius 0.5 m) is pushed over a floor.

    A ``force`` [N] acts at its centre in a ``direction`` [rad] from x. ``friction`` is that of box and floor, ``grip``
    that of balls and box; a pair has the larger one. The balls roll: m·a = f and a + f·r²/I = A, so that a = 2/7·A,
    f ≤ μ·m·g; and the box slides with A = (F − μ·(M + n·m)·g)/(M + 2/7·n·m), 0.7385 m/s², the balls with 0.2110 m/s².
    """
    force, direction = number("force", force, "a force ≥ 0 [N]", least=0.0), number("direction", direction)
    scene = Scene(name="balls-on-box")
    scene.add_plane(friction=friction)
    thick, radius, pitch = 1.0, 0.5, 2.0
    scene.add_box((20, 20, thick), pos=(0, 0, thick / 2), mass=10.0, friction=friction, name="box")
    for k in range(25):
        x, y = divmod(k, 5)
        place = (pitch * (x - 2), pitch * (y - 2), thick + radius)
        scene.add_sphere(radius, pos=place, mass=1.0, friction=grip, name=f"ball{k}")
    along = np.array([np.cos(direction), np.sin(direction), 0.0])
    return Setup(scene, user=partial(_push, "box", force * along))


def _push(body: str, force: np.ndarray, sim: Simulation) -> None:
    """A constant force (3,) [N] on a body."""
    sim.inputs.wrench[sim.model.link(body), :3] = force


def ball_cube(n: int = 6, *, friction: float = 0.0, disorder: float = 1e-3, seed: int = 42) -> Setup:
    """n³ balls (10 kg, radius 0.1 m) without friction, 1 cm apart and up to ``disorder`` [m] out of place, fall on each
    other and collapse: 6 × 6 × 6 is the "666 test".

    No balls may overlap, energy may not grow, and momentum along the floor stays zero.
    """
    whole("n", n, 1)
    whole("seed", seed, 0)
    if not 0.0 <= number("disorder", disorder, "a length [m]") <= 0.01:
        raise expected("disorder", "a length from 0 to 0.01 m, the distance of the balls", disorder)
    scene = Scene(name="ball-cube")
    scene.add_plane(friction=friction)
    radius, pitch, rng = 0.1, 0.21, np.random.default_rng(seed)
    for k in range(n**3):
        cell = np.array([k // n**2, k // n % n, k % n])
        place = pitch * cell - np.array([*(2 * [pitch * (n - 1) / 2]), -radius - 1e-3]) + disorder * rng.uniform(size=3)
        scene.add_sphere(radius, pos=place, mass=10.0, friction=friction, name=f"ball{k}")
    return Setup(scene)
