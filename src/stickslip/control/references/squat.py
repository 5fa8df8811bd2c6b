"""A quadruped squats on the spot: the height of its centre of mass follows z₀ + A·sin(ω·t), its feet stay.

The settings are those of the test "Solo-squat" of Hammoud et al., "Exponential Integration for Efficient and Accurate
Multi-Body Simulation with Stiff Viscoelastic Contacts": A = 0.03 m, ω = 2 rad/s; weights: centre of mass 1, posture
1e-3, forces 1e-6; kp: 2, 2, contacts 1; normal forces from 1 to 1e4 N; a control step of 40 ms. The reference begins
with the velocity A·ω and the robot at rest, so that with kp = 2 it takes three seconds to catch up. The posture task
alone reduces the amplitude by a third; holding torques for 40 ms happens to restore half of that.
``posture_weight=1e-6, hold=0.04`` follows to about a millimetre.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from stickslip.control.inverse_dynamics import InverseDynamics
from stickslip.control.references.feet import SOLO12_FEET, find_feet
from stickslip.control.tasks import CenterOfMass, Posture
from stickslip.dynamics import Dynamics
from stickslip.model.model import Model

CONTROL_DT = 0.04
"""[s] control step."""


def squat(
    model: Model,
    feet: Sequence[str] = SOLO12_FEET,
    *,
    amplitude: float = 0.03,
    frequency: float = 2.0,
    posture_weight: float = 1e-3,
    friction: float = 1.0,
    hold: float = 0.0,
) -> InverseDynamics:
    """A controller that squats about the model's home configuration.

    ``amplitude`` A [m], ``frequency`` ω [rad/s], ``friction`` μ of the floor; ``hold`` [s] as in InverseDynamics.
    """
    find_feet(model, feet, "by default Solo12's; squat(model, feet=…) names those of another robot")
    dyn, q = Dynamics(model), model.state().q
    height = partial(_height, dyn.center_of_mass(q), amplitude, frequency)
    return InverseDynamics(
        {foot: dyn.frame_pose(q, foot)[0] for foot in feet},
        [CenterOfMass(height, weight=1.0, kp=2.0), Posture(weight=posture_weight, kp=2.0)],
        friction=friction,
        contact_kp=1.0,
        force_weight=1e-6,
        hold=hold,
    )


def _height(
    middle: np.ndarray, amplitude: float, frequency: float, t: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Position, velocity and acceleration of the centre of mass at t."""
    up, sine, cosine = np.array([0.0, 0.0, 1.0]), np.sin(frequency * t), np.cos(frequency * t)
    return (
        middle + amplitude * sine * up,
        amplitude * frequency * cosine * up,
        -amplitude * frequency**2 * sine * up,
    )
