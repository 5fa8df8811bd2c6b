"""Motors and servos that are added from Python, and the paths of tendons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mujoco

from stickslip.errors import expected, mapping, name_of, number, unknown

MOTORS = ("force", "position", "velocity")


@dataclass(frozen=True)
class Servo:
    """An actuator: a motor whose control is its force, or a servo of position or velocity."""

    kind: str
    max_force: float | None
    kp: float
    kv: float

    @staticmethod
    def checked(motor: bool | str, max_force: float | None, kp: float | None, kv: float | None) -> Servo | None:
        """The servo that the arguments describe; None without a motor."""
        kind = "force" if motor is True else motor
        given = {name: value for name, value in (("max_force", max_force), ("kp", kp), ("kv", kv)) if value is not None}
        if not kind:
            for name, value in given.items():
                raise expected(name, "motor=True or a servo with it", f"{value!r} without a motor")
            return None
        if kind not in MOTORS:
            raise unknown("motor", str(kind), MOTORS)
        for name, value in given.items():
            if name == "kv" and kind == "position":
                number(name, value, "a number ≥ 0", least=0.0)
            else:
                number(name, value, "a number > 0", above=0.0)
        needed = {"force": "", "position": "kp", "velocity": "kv"}[kind]
        if needed and needed not in given:
            raise expected(needed, f"a gain for motor={kind!r}", None)
        for name in given:
            if name not in ("max_force", needed) and kind != "position":
                raise expected(name, f"a motor that has it (not {kind!r})", given[name])
        return Servo(kind, max_force, float(kp or 0.0), float(kv or 0.0))

    def add(self, spec: mujoco.MjSpec, target: str, transmission: mujoco.mjtTrn) -> None:
        """Add the actuator, with the name of its target, to a specification."""
        actuator = spec.add_actuator(name=target, target=target, trntype=transmission)
        if self.kind == "position":
            actuator.set_to_position(kp=self.kp, kv=self.kv)
        elif self.kind == "velocity":
            actuator.set_to_velocity(kv=self.kv)
        else:
            actuator.set_to_motor()
        if self.max_force is not None:
            limited = mujoco.mjtLimited.mjLIMITED_TRUE
            actuator.forcerange, actuator.forcelimited = [-self.max_force, self.max_force], limited


def check_tendon(spec: mujoco.MjSpec, name: str, joints: Any, path: Any) -> None:
    """Refuse a tendon without a name of its own, without a course, or with unknown joints or frames."""
    name_of("name of a tendon", name, {tendon.name for tendon in spec.tendons})
    if isinstance(path, str) or not isinstance(path, Sequence):
        raise expected(f"path of tendon {name!r}", "a list of frames and divisors", path)
    if (not joints) == (not path):
        raise expected(f"tendon {name!r}", "either joints={…} or path=[…]", "both" if joints else "none of them")
    if path:
        check_path(name, path, [site.name for site in spec.sites])
    kinds = (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)
    known = [joint.name for joint in spec.joints if joint.type in kinds]
    for joint in mapping(f"joints of tendon {name!r}", joints or {}, "joint names to coefficients"):
        if joint not in known:
            raise unknown(f"hinge or slide in joints of tendon {name!r}", joint, known)
        number(f"joints[{joint!r}] of tendon {name!r}", joints[joint], "a coefficient")


def check_path(name: str, path: Sequence[str | float], sites: Sequence[str]) -> None:
    """Refuse a tendon's path with unknown frames, pulleys ≤ 0, or branches of fewer than two frames."""
    branch = 0
    for element in (*path, 1.0):
        if isinstance(element, str):
            if element not in sites:
                raise unknown(f"frame in the path of tendon {name!r}", element, sites)
            branch += 1
            continue
        number(f"pulley in the path of tendon {name!r}", element, "a divisor > 0", above=0.0)
        if branch < 2:
            raise expected(f"path of tendon {name!r}", "at least two frames between pulleys", list(path))
        branch = 0
