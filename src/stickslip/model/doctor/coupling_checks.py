"""Checks of couplings: equalities between hinge and slide joints, y₁ − r₁ = Σ a_k·(y₂ − r₂)^k."""

from __future__ import annotations

import mujoco
import numpy as np

from stickslip.model.doctor.finding import Finding
from stickslip.model.doctor.home import home_configuration
from stickslip.model.doctor.joint_drives import actuators_on

SAME = 1e-9
"""Relative tolerance of ranks."""
SLACK = 1e-3
"""Share of a range by which a coupling may exceed it."""
SAMPLES = 101
"""Values of the driving joint at which a polynomial is looked at."""


def couplings(mj: mujoco.MjModel) -> list[Finding]:
    """Find couplings that repeat or contradict others, that ranges do not allow, and joints with two masters."""
    coupled = [int(e) for e in np.flatnonzero(mj.eq_active0) if mj.eq_type[e] == mujoco.mjtEq.mjEQ_JOINT]
    findings = _dependent(mj, coupled)
    for e in coupled:
        findings += _ranges(mj, e) + _motors(mj, e)
    return findings


def _name(mj: mujoco.MjModel, e: int) -> str:
    one, two = int(mj.eq_obj1id[e]), int(mj.eq_obj2id[e])
    pair = repr(mj.joint(one).name) + (f" and {mj.joint(two).name!r}" if two >= 0 else "")
    name = mj.equality(e).name
    return f"coupling {name!r} of {pair}" if name else f"coupling of {pair}"


def _row(mj: mujoco.MjModel, e: int, q: np.ndarray) -> tuple[np.ndarray, float]:
    """(nv,) the gradient of the coupling, and its error, at q."""
    row, one, two = np.zeros(mj.nv), int(mj.eq_obj1id[e]), int(mj.eq_obj2id[e])
    a = np.polynomial.Polynomial(mj.eq_data[e, :5])
    i = mj.jnt_qposadr[one]
    row[mj.jnt_dofadr[one]] = 1.0
    error = float(q[i] - mj.qpos0[i])
    if two < 0:
        return row, error - float(a(0.0))
    i = mj.jnt_qposadr[two]
    x = float(q[i] - mj.qpos0[i])
    row[mj.jnt_dofadr[two]] -= float(a.deriv()(x))
    return row, error - float(a(x))


def _dependent(mj: mujoco.MjModel, coupled: list[int]) -> list[Finding]:
    """Find the couplings whose row follows from those before."""
    q = home_configuration(mj)[1]
    rows, findings = np.zeros((0, mj.nv + 1)), []
    for e in coupled:
        row, error = _row(mj, e, q)
        both = np.vstack([rows, [*row, error]])
        if np.linalg.matrix_rank(both[:, :-1], SAME) > len(rows):
            rows = both
            continue
        if np.linalg.matrix_rank(both, 1e-6) > len(rows):
            message, remedy = (
                "contradicts the couplings before it",
                "remove one of them; no configuration satisfies all",
            )
            findings.append(Finding("error", "coupling", _name(mj, e), message, remedy))
        else:
            message, remedy = "repeats what the couplings before it say", "remove it"
            findings.append(Finding("warning", "coupling", _name(mj, e), message, remedy))
    return findings


def _ranges(mj: mujoco.MjModel, e: int) -> list[Finding]:
    one, two = int(mj.eq_obj1id[e]), int(mj.eq_obj2id[e])
    if not mj.jnt_limited[one] or (two >= 0 and not mj.jnt_limited[two]):
        return []
    a = np.polynomial.Polynomial(mj.eq_data[e, :5])
    x = np.zeros(1)
    if two >= 0:
        x = np.linspace(mj.jnt_range[two, 0], mj.jnt_range[two, 1], SAMPLES) - mj.qpos0[mj.jnt_qposadr[two]]
    y = a(x) + mj.qpos0[mj.jnt_qposadr[one]]
    (low, high), slack = mj.jnt_range[one], SLACK * float(np.ptp(mj.jnt_range[one]))
    inside = (y >= low - slack) & (y <= high + slack)
    if inside.all():
        return []
    asks = f"asks {mj.joint(one).name!r} for {y.min():.4g} … {y.max():.4g}, but its range is {low:.4g} … {high:.4g}"
    if not inside.any():
        return [Finding("error", "coupling-range", _name(mj, e), asks, "correct the coupling or one of the ranges")]
    remedy = "the narrower one stops both; correct the ratio or the ranges if that is not meant"
    return [Finding("note", "coupling-range", _name(mj, e), asks, remedy)]


def _motors(mj: mujoco.MjModel, e: int) -> list[Finding]:
    one, two = int(mj.eq_obj1id[e]), int(mj.eq_obj2id[e])
    if not len(actuators_on(mj, one)) or (two >= 0 and not len(actuators_on(mj, two))):
        return []
    other = f"{mj.joint(two).name!r} has one, too" if two >= 0 else "the coupling holds it still"
    message = f"{mj.joint(one).name!r} has an actuator of its own, although {other}"
    remedy = "actuate one of the two, unless they are meant to share the load"
    return [Finding("warning", "coupling-motor", _name(mj, e), message, remedy)]
