"""The maps of ``bench trust``: scenes whose motion is known in closed form, over a time step and one more parameter.

The truth is that of the scene as it is written, with its springs, whatever a method makes of them: a method with rigid
contacts is wrong on a soft floor, one with springs on a step that is too long for them. Errors are relative to a length
of the scene.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from stickslip.model.scene import Scene
from stickslip.scenes import SCENES
from stickslip.simulation import Simulation

G = 9.81
EDGE = 0.1
"""[m] height of a block."""
HEIGHT = 0.01
"""[m] from which the block falls."""
ANGLE = np.deg2rad(20.0)
LIGHT = 0.05
"""[kg] the lower block of the stack."""
STACK_STIFFNESS = 1e6
"""[N/m] of each contact of the stack."""


@dataclass(frozen=True)
class Map:
    """One scene over (dt, a parameter)."""

    name: str
    title: str
    """What happens, in one line."""
    parameter: str
    """What the vertical axis shows, with its unit."""
    values: tuple[float, ...]
    seconds: float
    """Simulated time [s]."""
    scene: Callable[[float], Scene]
    truth: Callable[[float], float]
    """[m] where the body is at the end."""
    measure: Callable[[Simulation], float]
    """[m] where it is."""
    scale: float
    """[m] that errors are divided by."""
    formula: str
    """The closed form, in words."""
    time_scale: Callable[[float], float] | None = None
    """[s] of the contact, by the parameter."""
    level: float | None = None
    """A value of the parameter at which the motion changes."""
    line: str = ""
    """What these are, in words."""


def box_on_floor(stiffness: float) -> Scene:
    """A block of 1 kg above a floor; the contact's damping is half of the critical one."""
    scene = Scene(name="rest")
    pair = {
        "stiffness": 2.0 * stiffness,
        "damping": 2.0 * np.sqrt(stiffness),
    }  # of two alike in series, half of it acts
    scene.add_plane(**pair)
    scene.add_box((0.2, 0.2, EDGE), pos=(0, 0, EDGE / 2 + HEIGHT), mass=1.0, name="box", **pair)
    return scene


def two_blocks(ratio: float) -> Scene:
    """A heavy block on a light one on a floor."""
    scene = Scene(name="stack")
    masses = (LIGHT, ratio * LIGHT)
    pair = {"stiffness": 2.0 * STACK_STIFFNESS, "damping": 2.0 * np.sqrt(STACK_STIFFNESS * sum(masses))}
    scene.add_plane(**pair)
    for k, mass in enumerate(masses):
        scene.add_box((0.2, 0.2, EDGE), pos=(0, 0, EDGE * (k + 0.5)), mass=mass, name=f"block{k}", **pair)
    return scene


def way_down(friction: float, seconds: float) -> float:
    """[m] that a block slides down the plane from rest."""
    acceleration = max(0.0, G * (np.sin(ANGLE) - friction * np.cos(ANGLE)))
    return float(0.5 * acceleration * seconds**2)


def slid(sim: Simulation) -> float:
    """[m] along the plane."""
    start = 0.05 * np.array([np.sin(ANGLE), 0.0, np.cos(ANGLE)])
    return float((sim.state.q[:3] - start) @ np.array([np.cos(ANGLE), 0.0, -np.sin(ANGLE)]))


SLIDE, REST, STAND = 0.5, 0.7, 0.5
MAPS = (
    Map("stiffness", "A block of 1 kg falls 1 cm on a floor of springs and comes to rest",
        "stiffness K [N/m]", (1e3, 1e4, 1e5, 1e6, 1e7), REST, box_on_floor,
        lambda k: EDGE / 2 - G / k, lambda sim: float(sim.state.q[2]), EDGE,
        "Its centre ends at half its height, 5 cm, less m·g/K. The damping is half of the critical one.",
        time_scale=lambda k: k**-0.5, line="dt = √(m/K), the time scale of the contact"),
    Map("friction", "A block is let go on a plane of 20°: it slides, or stays if μ is above tan 20° = 0.364",
        "friction μ", (0.05, 0.1, 0.2, 0.3, 0.35, 0.38, 0.5, 1.0), SLIDE,
        lambda mu: SCENES["incline"].build(angle=ANGLE, friction=mu).scene,
        lambda mu: way_down(mu, SLIDE), slid, way_down(0.0, SLIDE),
        "The way is ½·g·(sin α − μ·cos α)·t², or none; errors are relative to the way without friction, 42 cm.",
        level=float(np.tan(ANGLE)), line="μ = tan 20°"),
    Map("ratio", "A block stands on a light one of 50 g, which stands on the floor (K = 1e6 N/m)",
        "mass ratio, upper to lower", (1.0, 10.0, 100.0, 1000.0), STAND, two_blocks,
        lambda ratio: 1.5 * EDGE - (2.0 * ratio + 1.0) * LIGHT * G / STACK_STIFFNESS,
        lambda sim: float(sim.state.q[9]), EDGE,
        "The upper block's centre ends at 15 cm, less (m₁ + m₂)·g/K of the floor and m₂·g/K of the contact between "
        "them. The damping is half of what would be critical for both blocks together."),
)  # fmt: skip
BY_NAME = {each.name: each for each in MAPS}


def trust_run(chart: str, method: str, dt: float, value: float) -> dict[str, float]:
    """One point of a map: what is measured, what is true, and the error relative to the scene."""
    case = BY_NAME[chart]
    sim = Simulation(case.scene(value), method, dt)
    sim.run(case.seconds, record_dt=case.seconds, failures=False, progress=False)
    measured, truth = case.measure(sim), case.truth(value)
    return {"measured": measured, "truth": truth, "error": abs(measured - truth) / case.scale}
