"""Switches of a file's ``<flag>`` that turn parts of the physics off: taken into the elements, with the same motion.

A scene may hold several files, so that a switch of one must not reach the others. ``flag spring="disable"`` becomes
joints and tendons without stiffness, and so on; the file is then simulated alike by every method.
"""

from __future__ import annotations

from collections.abc import Callable

import mujoco

BIT = mujoco.mjtDisableBit
NOTHING = 1e-12
"""A force that counts as none [N or N m]."""
FALSE = mujoco.mjtLimited.mjLIMITED_FALSE


def _no_equality(spec: mujoco.MjSpec) -> None:
    for equality in spec.equalities:
        equality.active = False


def _no_frictionloss(spec: mujoco.MjSpec) -> None:
    for element in (*spec.joints, *spec.tendons):
        element.frictionloss = 0.0


def _no_limit(spec: mujoco.MjSpec) -> None:
    for element in (*spec.joints, *spec.tendons):
        element.limited = FALSE


def _no_contact(spec: mujoco.MjSpec) -> None:
    for geom in spec.geoms:
        geom.contype = geom.conaffinity = 0
    for pair in list(spec.pairs):
        spec.delete(pair)


def _no_spring(spec: mujoco.MjSpec) -> None:
    for element in (*spec.joints, *spec.tendons):
        element.stiffness = [0.0, 0.0, 0.0]


def _no_damper(spec: mujoco.MjSpec) -> None:
    for element in (*spec.joints, *spec.tendons, *spec.actuators):
        element.damping = [0.0, 0.0, 0.0]


def _no_clampctrl(spec: mujoco.MjSpec) -> None:
    for actuator in spec.actuators:
        actuator.ctrllimited = FALSE


def _no_actuation(spec: mujoco.MjSpec) -> None:
    for actuator in spec.actuators:
        actuator.gaintype, actuator.biastype = mujoco.mjtGain.mjGAIN_FIXED, mujoco.mjtBias.mjBIAS_NONE
        actuator.gainprm, actuator.biasprm = [0.0] * len(actuator.gainprm), [0.0] * len(actuator.biasprm)
    for joint in spec.joints:  # gravity compensation by actuators is off, too; a range of zero width is not allowed
        if joint.actgravcomp:
            joint.actfrclimited, joint.actfrcrange = mujoco.mjtLimited.mjLIMITED_TRUE, [-NOTHING, NOTHING]


FLAGS: dict[str, tuple[mujoco.mjtDisableBit, Callable[[mujoco.MjSpec], None]]] = {
    "equality": (BIT.mjDSBL_EQUALITY, _no_equality),
    "frictionloss": (BIT.mjDSBL_FRICTIONLOSS, _no_frictionloss),
    "limit": (BIT.mjDSBL_LIMIT, _no_limit),
    "contact": (BIT.mjDSBL_CONTACT, _no_contact),
    "spring": (BIT.mjDSBL_SPRING, _no_spring),
    "damper": (BIT.mjDSBL_DAMPER, _no_damper),
    "clampctrl": (BIT.mjDSBL_CLAMPCTRL, _no_clampctrl),
    "actuation": (BIT.mjDSBL_ACTUATION, _no_actuation),
}
OF_CONSTRAINT = BIT.mjDSBL_EQUALITY | BIT.mjDSBL_FRICTIONLOSS | BIT.mjDSBL_LIMIT | BIT.mjDSBL_CONTACT
"""What the flag ``constraint`` switches off."""


def take_in_flags(spec: mujoco.MjSpec) -> list[str]:
    """Write the switches into the elements, clear them, and say so; ``spec`` must hold the values after defaults."""
    off = int(spec.option.disableflags)
    names = [name for name, (bit, _) in FLAGS.items() if off & bit]
    if off & BIT.mjDSBL_CONSTRAINT:
        names.append("constraint")
        off = (off | int(OF_CONSTRAINT)) & ~int(BIT.mjDSBL_CONSTRAINT)
    if off & BIT.mjDSBL_SPRING and off & BIT.mjDSBL_DAMPER:  # MuJoCo then has no passive forces at all
        spec.option.density = spec.option.viscosity = 0.0
        for body in spec.bodies:
            body.gravcomp = 0.0
    for bit, switch in FLAGS.values():
        if off & bit:
            switch(spec)
            off &= ~int(bit)
    spec.option.disableflags = off
    if not names:
        return []
    what = ", ".join(f'{name}="disable"' for name in names)
    return [f"taken into the elements (same motion): flag {what}"]
