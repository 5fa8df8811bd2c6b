"""The initial state of a variational step: joint coordinates as poses and velocities, with loops closed."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from stickslip.dynamics.data import Kinematics
from stickslip.errors import StartWarning
from stickslip.maximal.conversion import to_bodies
from stickslip.maximal.joints import Joint
from stickslip.maximal.rows import joint_errors
from stickslip.methods.variational.arrays import Mechanism, Motion
from stickslip.methods.variational.bodies import (
    from_joint_state,
    from_link_frames,
    make_pose,
    previous_pose,
    spinning_body,
    to_joint_state,
)
from stickslip.methods.variational.joints.projection import project
from stickslip.methods.variational.mechanism import joint_violations
from stickslip.model.model import Model, State

OPEN = 1e-9
"""Initial error of joints above which a warning is given [m or rad]."""


def begin_from(
    model: Model, extra: Sequence[Joint], mechanism: Mechanism, state: State, kin: Kinematics, motion: Motion, dt: float
) -> None:
    """Set ``motion.pose`` and ``motion.nu`` from the state; open joints are closed, also in ``state``."""
    bodies = mechanism.bodies
    motion.pose.quat[0], motion.pose.rot[0] = (1.0, 0.0, 0.0, 0.0), np.eye(3)  # the world, where memory was cleared
    from_joint_state(model.tree, bodies.com, state.q, state.v, kin, motion.pose, motion.nu)
    opened, opening = joint_violations(mechanism, motion).max(axis=0, initial=0.0)
    if opened <= OPEN and (opening <= OPEN or was_closed(mechanism, motion, dt)):
        return
    found = project(model, extra, *to_bodies(model, state.q, state.v))
    if max(found.position, found.velocity, found.moved) > OPEN:
        warnings.warn(
            f"variational: joints were open by up to {found.position:.3g} m or rad at the start, and opened at up to "
            f"{found.velocity:.3g} m/s or rad/s; bodies were moved by up to {found.moved:.3g} m or rad to close them, "
            "and their velocities changed to keep them closed",
            StartWarning,
            stacklevel=2,
        )
        from_link_frames(bodies.com, found.Q, found.V, motion.pose, motion.nu)
        rates, R = np.zeros((model.nv, 12)), np.zeros((3, 3))
        to_joint_state(bodies, motion.pose, motion.nu, state.q, rates, R, state.q, state.v)


def was_closed(mechanism: Mechanism, motion: Motion, dt: float) -> bool:
    """Whether the joints were closed a step ago; a step's velocities lead from there, not along the joints."""
    joints = mechanism.nodes.joints
    before, error = make_pose(len(motion.nu)), np.zeros(len(joints.joint))
    previous_pose(motion.pose, motion.nu, dt, before)
    joint_errors(joints, before, error)
    return bool(np.abs(error).max(initial=0.0) <= OPEN)


def too_fast(model: Model, nu: np.ndarray, dt: float, part: float = 1.0) -> str:
    """An error message for velocities nu (nl, 6) with |ω| ≥ part·2/dt; empty if there are none."""
    b = int(spinning_body(nu, dt / part))
    if not b:
        return ""
    spin = float(np.linalg.norm(nu[b, 3:]))
    got, remedy = f"got {spin:.4g} rad/s", f"choose dt below {1.0 / spin:.2g} s"
    wanted = "" if part == 1.0 else f"{100.0 * part:g} % of "
    return (
        f"body {model.link_names[b]!r}: expected |ω| < {wanted}2/dt = {2.0 / dt:.4g} rad/s, less than half a turn in a "
        f"step, {got}; {remedy}"
    )
