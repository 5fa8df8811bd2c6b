"""What is computed, as data: one block on one plane, by every model of contact.

The block stands on its four lower corners, each a contact with spring K and damper B where a model has any. Together
they hold m·g at a depth of m·g/(4·K), damped with ζ = 4·B/(2·√(4·K·m)) = 1/2.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from stickslip.lab.papers.paper import finish
from stickslip.lab.select import soft_methods
from stickslip.model.model import Model
from stickslip.model.scene import Scene

DT = 1e-3
"""Step [s]."""
G = 9.81
MASS = 1.0
"""Mass of the block [kg]."""
SIZE = (0.2, 0.2, 0.1)
"""Edges of the block [m]."""
STIFFNESS, DAMPING = 1e4, 50.0
"""Stiffness [N/m] and damping [N s/m] of each of the four contacts."""
FRICTION = 0.5
SINK = MASS * G / (4.0 * STIFFNESS)
"""Depth at rest [m]."""
REACH = DT + DAMPING / STIFFNESS
"""The relaxed model's offset is gap/REACH [s]."""


class Form(NamedTuple):
    """A model of contact and the method that has it."""

    method: str
    law: str
    """The lecture's words."""


MUJOCO = "MuJoCo"
FORMS = {
    "soft": Form("expo", "soft: spring and damper"),
    "bilateral": Form("bilateral", "rigid: bilateral"),
    "coulomb": Form("coulomb/pgs", "rigid: unilateral, Coulomb"),
    "relaxed": Form("relaxed/pgs", "relaxed: convex, regularised"),
    MUJOCO: Form(MUJOCO, "relaxed: MuJoCo's defaults, elliptic cone"),
}
STYLES = {
    form: {"color": colour, "linestyle": style}
    for form, colour, style in zip(FORMS, ("C0", "C3", "k", "C1", "C2"), ("-", "-.", "-", "-", "--"), strict=True)
}
"""How a model's curves are drawn."""
MARKERS = "osv^DxP*"


@dataclass(frozen=True)
class Sizes:
    """How much is computed."""

    stiffnesses: tuple[float, ...] = (1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9)
    """Contact stiffnesses [N/m]."""
    robots: tuple[str, ...] = ("solo12", "a1", "romeo")
    chains: tuple[int, ...] = (4, 8, 16, 32, 64, 128)
    """Links."""
    rounds: int = 15
    """Rounds of interleaved timing."""


FULL = Sizes()
QUICK = Sizes(
    stiffnesses=(1e4, 1e6, 1e8), robots=("solo12",), chains=(4, 16, 64), rounds=5
)  # fmt: skip


def block(gap: float = 0.0, gravity: tuple[float, float, float] = (0.0, 0.0, -G), **material: float) -> Model:
    """The block, ``gap`` [m] above a plane."""
    scene = Scene(name="lecture-block", gravity=gravity)
    chosen: dict[str, Any] = {"friction": FRICTION, "stiffness": STIFFNESS, "damping": DAMPING, **material}
    scene.add_plane(**chosen)  # springs are the plane's alone: two in a row would be half as stiff
    scene.add_box(SIZE, pos=(0.0, 0.0, SIZE[2] / 2 + gap), mass=MASS, friction=chosen["friction"])
    return scene.compile()


def per_corner(method: str) -> dict[str, Any]:
    """The option by which a method with springs gives K and B to every corner, as the other models do."""
    return {"stiffness_per": "point"} if method.partition("/")[0] in soft_methods() else {}


CORNERS = np.array(list(product(*((-edge / 2, edge / 2) for edge in SIZE))))


def corner_gaps(q: np.ndarray) -> np.ndarray:
    """(frames, 4) heights of the lower corners, from configurations (frames, 7): the same for all methods [m]."""
    w, x, y, z = q[:, 3:].T
    lowest = CORNERS[CORNERS[:, 2] < 0.0]
    third = np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=1)  # of R
    return q[:, 2:3] + third @ lowest.T


def finished(figure, axes, xlabel: str = "time [s]"):
    """The figure with labels of x, grids, and a legend in its first panel."""
    finish(axes, xlabel, legend=False)
    axes.flat[0].legend(fontsize=9)
    return figure
