"""Grasps: boxes in a row between two grippers, and an arm that picks something up.

The row is an example of the RPI simulator (see rpisim.py). The arm is Fig. 10 of Williams et al.: "the trajectory is a
set of joint angles interpolated between start and goal configurations over a given time". Differs from the original
in: it has gravity, a gripper and an object; its PD control (50 N m/rad and 5 N m s/rad, as there) is added to the
torques for the motion and the weight of the arm, but not of the object.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip.control import PD, LinearFeedback, Reference
from stickslip.control.references.profiles import ease
from stickslip.dynamics import Dynamics
from stickslip.errors import expected, number, unknown, whole
from stickslip.model.keywords import BodyOptions
from stickslip.model.model import Model
from stickslip.model.scene import Scene
from stickslip.scenes.arm import FINGER_OPEN, add_arm, reach_down
from stickslip.scenes.rpisim import FRICTION
from stickslip.simulation.setup import Setup


def box_grasp(n: int = 3, *, force: float | None = None, friction: float = 1.0) -> Setup:
    """n unit cubes (1 kg) in a row in the air, squeezed by two cubes on slides with 10·n N each, or a ``force`` [N].

    The row holds if μ ≥ n·m·g/(2·force) = 0.49 and, since it is a beam without tensile strength, if force ≥ n²·m·g/8;
    10·n N suffice for n = 8. Differs from the original in: μ = 1, not infinite.
    """
    whole("n", n, 1)
    force = 10.0 * n if force is None else number("force", force, "a force ≥ 0 [N]", least=0.0)
    scene = Scene(name="box-grasp")
    scene.add_plane(pos=(0, 0, -1.5), friction=friction)
    for name, side in (("left", -1), ("right", 1)):
        place, axis = (side * (n + 1) / 2, 0, 0), (-side, 0, 0)
        scene.add_box(
            (1, 1, 1), pos=place, joint="slide", axis=axis, motor=True, mass=1.0, friction=friction, name=name
        )
    for k in range(n):
        scene.add_box((1, 1, 1), pos=(k - (n - 1) / 2, 0, 0), mass=1.0, friction=friction, name=f"box{k}")
    return Setup(scene, PD(kp=0.0, kd=0.0, feedforward=(force, force)))


class Phase(NamedTuple):
    """A phase of the motion: joint angles (6,) [rad] to reach, duration [s], and whether the fingers close."""

    seconds: float
    goal: np.ndarray
    closing: bool


def arm_grasp(
    shape: str = "box", *, mass: float = 0.3, lift: float = 0.2, grip: float = 30.0, kp: float = 50.0, kd: float = 5.0,
    friction: float = FRICTION,
) -> Setup:  # fmt: skip
    """A six-joint arm swings over an object, lowers its gripper, closes it with ``grip`` [N] per finger, and lifts.

    The object is a ``shape`` "box" (6 × 6 × 10 cm) or "cylinder" (6 cm, 10 cm high) of ``mass`` [kg]. It is held if
    2·μ·grip > m·g.
    """
    scene = Scene(name="arm-grasp")
    scene.add_box((1.4, 1.4, 0.05), pos=(0, 0, -0.025), joint="fixed", friction=friction, name="table")
    add_arm(scene, friction=friction)
    reach, width, height = 0.45, 0.06, 0.1
    options: BodyOptions = {
        "pos": (reach, 0, height / 2), "mass": number("mass", mass, "a number > 0 [kg]", above=0.0),
        "friction": friction, "name": "object", "rgba": (0.8, 0.4, 0.2, 1),
    }  # fmt: skip
    if shape == "box":
        scene.add_box((width, width, height), **options)
    elif shape == "cylinder":
        scene.add_cylinder(width / 2, height, **options)
    else:
        raise unknown("shape", shape, ("box", "cylinder"))
    grip = number("grip", grip, "a force > 0 [N]", above=0.0)
    kp, kd = (number(what, value, "a gain ≥ 0", least=0.0) for what, value in (("kp", kp), ("kd", kd)))
    lift = number("lift", lift, "a height > 0 [m]", above=0.0)
    if lift > 0.3:
        raise expected("lift", "a height of at most 0.3 m, the arm's reach", lift)
    tip = 0.02  # height above the table
    down = reach_down(reach, tip)
    above, start = reach_down(reach, tip + lift), reach_down(reach, tip + lift)
    start[0] = 0.8
    for k, angle in enumerate(start):
        scene.set_home(f"joint{k + 1}", angle)
    for finger in ("finger1", "finger2"):
        scene.set_home(finger, FINGER_OPEN)
    phases = (
        Phase(1.2, above, False), Phase(0.8, down, False), Phase(0.5, down, True),
        Phase(1.0, above, True), Phase(0.5, above, True),
    )  # fmt: skip
    reference = _reference(scene.compile(), start, phases, grip, kp, kd)
    return Setup(scene, LinearFeedback(reference), control_dt=0.01)


def _reference(model: Model, start: np.ndarray, phases, grip: float, kp: float, kd: float) -> Reference:
    """The motion at instants 10 ms apart, with its feed-forward torques and PD gains."""
    dynamics, home = Dynamics(model), model.state().q
    joints = [model.joint(name) for name in model.actuator_names]
    at_q, at_v = model.tree.joint_q[joints], model.tree.joint_v[joints]
    nv, nu = model.nv, model.nu
    rows: list[tuple] = []
    begin, here = 0.0, start
    for phase in phases:
        for t in np.arange(0.0, phase.seconds - 1e-9, 0.01):
            law = ease(t, phase.seconds)
            q, v, a = home.copy(), np.zeros(nv), np.zeros(nv)
            step = phase.goal - here
            q[at_q[:6]], v[at_v[:6]], a[at_v[:6]] = here + law.value * step, law.rate * step, law.second * step
            u = dynamics.rnea(q, v, a)[at_v]
            gains = np.zeros((nu, 2 * nv))
            gains[range(6), at_v[:6]], gains[range(6), nv + at_v[:6]] = kp, kd
            if phase.closing:
                u[6:] = -grip
            else:
                gains[[6, 7], at_v[6:]] = 500.0
            gains[[6, 7], nv + at_v[6:]] = 20.0
            rows.append((begin + t, q, v, u, gains))
        begin, here = begin + phase.seconds, phase.goal
    return Reference(*(np.array(column) for column in zip(*rows, strict=True)))
