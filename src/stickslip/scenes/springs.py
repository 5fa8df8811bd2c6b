"""Scenes of event-selected systems: a plate that falls on a bed of springs, and a hopper with a preloaded leg.

After Anderson and Revzen, "Rapid Integrator for a Class of Multi-Contact Systems", Sec. 5, which gives neither mass nor
stiffness. Differs from the paper in: a spring of the bed pushes along the plate's normal in proportion to its depth
below the plate; theirs pushes vertically in proportion to its own shortening, with 1/cos² θ times the force.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stickslip.errors import expected, number
from stickslip.model.scene import Scene
from stickslip.simulation.setup import Setup

SIZE = 6.0
"""[m] edges of the invisible block above the plate that collides; the underside must always be its nearest face."""
STEEPEST = 1.0
"""[rad] largest initial tilt of the plate."""


def plate_on_springs(
    n: int = 10, *, height: float = 2.5, tilt: float = 0.05, length: float = 1.0, stiffness: float = 200.0,
    damping: float = 1.0, preload: float = 0.0, friction: float = 0.0,
) -> Setup:  # fmt: skip
    """A plate (1 kg) in the plane of x and z falls from ``height`` [m], tilted by ``tilt`` [rad], on n springs whose
    tips stand ``length`` [m] high, evenly spaced over 2 m of the ground.

    ``stiffness`` [N/m], ``damping`` [N s/m] and ``preload`` [N] are those of the whole bed, shared equally by the
    springs. q = (x, z − height, θ); with θ > 0 the side towards positive x is lower.
    """
    if number("n", n, "a whole number of springs ≥ 2", least=2.0) != int(n):
        raise expected("n", "a whole number of springs ≥ 2", n)
    length = number("length", length, "a length > 0 [m]", above=0.0)
    if not abs(number("tilt", tilt, "an angle [rad]")) <= STEEPEST:
        raise expected("tilt", f"an angle up to ±{STEEPEST:g} rad", tilt)
    number("height", height, f"a height [m] above the springs of {length:g} m", above=length)
    scene = Scene(name="plate-on-springs")
    plate = scene.add_body("plate", joint="slide", axis=(1, 0, 0), pos=(0, 0, height))
    plate.add_joint("slide", axis=(0, 0, 1), name="height").add_joint("hinge", axis=(0, 1, 0), name="tilt")
    plate.add_box((2.4, 0.4, 0.02), pos=(0, 0, 0.01), collide=False, rgba=(0.7, 0.4, 0.2, 1))
    share: dict[str, Any] = {"stiffness": stiffness / n, "damping": damping / n, "preload": preload / n}
    plate.add_box((SIZE, SIZE, SIZE), pos=(0, 0, SIZE / 2), friction=friction, rgba=(0, 0, 0, 0), **share)
    plate.set_inertia(1.0, inertia=(1 / 3, 1 / 3, 1 / 3))
    for k, x in enumerate(np.linspace(-1.0, 1.0, int(n))):
        scene.world.add_contact_point(f"spring {k}", pos=(x, 0, length))
    scene.set_home("tilt", tilt)
    return Setup(scene)


def preloaded_hopper(
    height: float = 2.0, *, length: float = 1.0, stiffness: float = 200.0, damping: float = 0.0, preload: float = 20.0,
    friction: float = 0.0,
) -> Setup:  # fmt: skip
    """A mass of 1 kg on a leg of ``length`` [m] and no mass falls from ``height`` [m] and hops, on a line.

    The leg is a spring, ``stiffness`` [N/m] and ``damping`` [N s/m], compressed to ``preload`` [N] before it touches
    the ground. q = z − height. Without preload and damping it is the hopper of the paper.
    """
    length = number("length", length, "a length > 0 [m]", above=0.0)
    height = number("height", height, f"a height [m] above the leg's {length:g} m", above=length)
    scene = Scene(name="preloaded-hopper")
    scene.add_plane(stiffness=stiffness, damping=damping, preload=preload, friction=friction)
    mass = scene.add_body("mass", joint="slide", axis=(0, 0, 1), pos=(0, 0, height))
    mass.add_sphere(0.1, mass=1.0, collide=False)
    mass.add_contact_point("foot", pos=(0, 0, -length))
    return Setup(scene)
