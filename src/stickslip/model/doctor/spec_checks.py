"""Checks of a specification before it is compiled.

Faults are repaired once they have been noted, so that the compiler can find others.
"""

from __future__ import annotations

import mujoco
import numpy as np

from stickslip.model.doctor.finding import Finding
from stickslip.model.importers.inertia import TINY, body_tensor, centre_of_mass, fault, merge_impossible, set_inertia
from stickslip.model.importers.read import range_is_empty
from stickslip.model.importers.repair import rigid_group, rigid_mass

STAND_IN_RADIUS = 0.1
"""[m] radius of gyration of the inertia that takes the place of an impossible one."""


def check_spec(spec: mujoco.MjSpec, urdf: bool) -> tuple[list[Finding], list[str]]:
    """Return findings, and notes on what was merged; faults of ``spec`` are repaired in place."""
    findings = check_limits(spec) + check_masses(spec, urdf)
    faults = impossible(spec)
    notes = merge_impossible(spec) if urdf else []
    left = impossible(spec)
    for name, (mass, text) in faults.items():
        where, message = f"body {name!r}", f"impossible inertia, {text}, for a mass of {mass:.4g} kg"
        if name in left:
            remedy = 'correct the inertia; <compiler balanceinertia="true"/> makes MuJoCo use its average instead'
            findings.append(Finding("error", "inertia", where, message, remedy))
        else:
            remedy = "harmless here, because it is fixed to a larger one and merged with it; correct it all the same"
            findings.append(Finding("warning", "inertia", where, message, remedy))
    for name in left:
        body = spec.body(name)
        mass = abs(body.mass) or 1.0
        set_inertia(body, mass, centre_of_mass(body), mass * STAND_IN_RADIUS**2 * np.eye(3))
    return findings, notes


def impossible(spec: mujoco.MjSpec) -> dict[str, tuple[float, str]]:
    """Body → its mass and what is wrong with its inertia."""
    found = {}
    for body in spec.bodies[1:]:
        text = fault(body_tensor(body)) if body.explicitinertial else None
        if text is None and body.explicitinertial and body.joints and not body.bodies and body.mass > 0.0:
            moments = np.linalg.eigvalsh(body_tensor(body))
            if moments[0] <= TINY:
                text = f"not positive: principal moments {moments[0]:.4g}, {moments[1]:.4g}, {moments[2]:.4g} kg m²"
        if text:
            found[body.name] = (float(body.mass), text)
    return found


def check_masses(spec: mujoco.MjSpec, urdf: bool) -> list[Finding]:
    """Find negative masses, and moving bodies without mass."""
    findings = []
    for body in spec.bodies[1:]:
        where = f"body {body.name!r}"
        if body.explicitinertial and body.mass < 0.0:
            findings.append(Finding("error", "mass", where, f"negative mass, {body.mass:.4g} kg", "correct the mass"))
            body.mass = -body.mass
        elif body.joints and rigid_mass(body) <= 0.0 and (urdf or body.explicitinertial or not _has_shapes(body)):
            message = f"moves (joint {body.joints[0].name!r}) but has no mass"
            findings.append(Finding("error", "mass", where, message, "give it an <inertial> with mass and inertia > 0"))
            set_inertia(body, 1.0, centre_of_mass(body), STAND_IN_RADIUS**2 * np.eye(3))
    return findings


def _has_shapes(body: mujoco.MjsBody) -> bool:
    return any(member.geoms for member in rigid_group(body))


def check_limits(spec: mujoco.MjSpec) -> list[Finding]:
    findings = []
    for joint in spec.joints:
        if range_is_empty(joint):
            message = f"contradictory limits: lower {joint.range[0]:g} ≥ upper {joint.range[1]:g}"
            findings.append(Finding("error", "limits", f"joint {joint.name!r}", message, "swap or correct the two"))
            joint.limited = mujoco.mjtLimited.mjLIMITED_FALSE
    return findings
