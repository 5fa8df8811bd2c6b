"""A six-joint arm with a two-finger gripper, of the size of a Schunk Powerball LWA 4P with a PG 70.

Published dimensions [m]: shoulder 0.205 above the base, upper arm 0.350, forearm 0.305, wrist to flange 0.075, gripper
0.093 and fingers 0.060 long with 0.034 of travel each; joint torques are those of the manufacturer's ROS description.
Masses are those of the drive modules (3.9 kg at shoulder and elbow, 1.8 kg at the wrist) and tubes between them, 12.4
kg in all with 1.4 kg of gripper; every link is a cylinder or a box for its inertia. The armature of 0.1 kg m² is
typical of small motors behind gears of 1 : 100, and lets a controller of 100 Hz damp the light wrist. Only fingers
collide.

At zero the arm stands upright. Joints 1, 4 and 6 turn about the links, 2, 3 and 5 bend the arm towards x.
"""

from __future__ import annotations

import numpy as np

from stickslip.errors import expected
from stickslip.model.scene import Scene

SHOULDER, UPPER, FORE, FLANGE, PALM, FINGER = 0.205, 0.350, 0.305, 0.075, 0.093, 0.060
"""[m] lengths."""
TIP = FLANGE + PALM + FINGER
"""[m] from the wrist to the fingertips."""
FINGER_OPEN = 0.02
"""[m] travel of an open finger; at zero they are 0.05 m apart."""
MAX_TORQUE = (370.0, 370.0, 176.0, 176.0, 41.6, 20.1)
"""[N m] largest torques of the joints."""


def add_arm(scene: Scene, *, friction: float | None = None) -> None:
    """The arm on the world's origin; joints and motors are joint1 … joint6, finger1 and finger2."""
    links = (
        # parent's frame to the joint [m], axis, mass [kg], radius, length, centre of the cylinder [m]
        (SHOULDER, (0, 0, 1), 3.9, 0.07, 0.14, 0.0),
        (0.0, (0, 1, 0), 1.0, 0.05, UPPER, UPPER / 2),
        (UPPER, (0, 1, 0), 3.9, 0.07, 0.14, 0.0),
        (0.0, (0, 0, 1), 0.4, 0.045, FORE, FORE / 2),
        (FORE, (0, 1, 0), 1.5, 0.055, 0.11, 0.0),
        (0.0, (0, 0, 1), 0.3, 0.04, FLANGE, FLANGE / 2),
    )
    body = scene.world
    for k, (offset, axis, mass, radius, length, centre) in enumerate(links):
        body = body.add_body(
            f"joint{k + 1}", joint="hinge", axis=axis, pos=(0, 0, offset), armature=0.1, motor=True,
            max_force=MAX_TORQUE[k],
        )  # fmt: skip
        body.add_cylinder(radius, length, pos=(0, 0, centre), mass=mass, collide=False)
    palm = body.add_body("palm", pos=(0, 0, FLANGE))
    palm.add_box((0.08, 0.10, PALM), pos=(0, 0, PALM / 2), mass=1.2, collide=False)
    palm.add_frame("grip", pos=(0, 0, PALM + FINGER))
    for name, side in (("finger1", 1), ("finger2", -1)):
        finger = palm.add_body(
            name, joint="slide", axis=(0, side, 0), pos=(0, 0.03 * side, PALM), range=(-0.02, 0.034), armature=0.5,
            motor=True, max_force=100.0,
        )  # fmt: skip
        finger.add_box((0.03, 0.01, FINGER), pos=(0, 0, FINGER / 2), mass=0.1, friction=friction)


def reach_down(reach: float, height: float) -> np.ndarray:
    """(6,) joint angles [rad] with the gripper pointing down and its fingertips at x = reach, z = height [m]."""
    x, z = reach, height + TIP - SHOULDER
    cosine = (x * x + z * z - UPPER**2 - FORE**2) / (2 * UPPER * FORE)
    if not -1.0 < cosine < 1.0:
        farthest = UPPER + FORE
        raise expected("reach and height", f"a wrist within {farthest:g} m of the shoulder", (reach, height))
    elbow = np.arccos(cosine)
    shoulder = np.arctan2(x, z) - np.arctan2(FORE * np.sin(elbow), UPPER + FORE * np.cos(elbow))
    return np.array([0.0, shoulder, elbow, 0.0, np.pi - shoulder - elbow, 0.0])
