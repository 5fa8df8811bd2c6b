"""Forces of loops and limits from the balance of forces, alike for every method.

    r = M·q̈ + b − τ − Jᵀ·f = Aᵀ·x

τ are the forces of actuators, springs and dampers, f those of contacts and of ``inputs.wrench``. A has the rows of all
closed loops and coupled joints, of limits that are reached, and of dry friction in joints and tendons that is not at a
limit; x are their forces. If rows are redundant, x is the smallest of the many solutions; dry friction beside a limit
that is reached counts as a part of the limit's force.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import mujoco
import numpy as np

from stickslip.constraints.bilateral import Bilateral
from stickslip.dynamics import Dynamics
from stickslip.model.arrays import TENDON
from stickslip.simulation.sensors.moment import Moment

REACHED = 1e-6
"""[m or rad] a limit that is as near as this, or is met within two steps, may push."""


@dataclass(frozen=True)
class Balance:
    """Forces at a moment."""

    loop_forces: list[tuple[int, np.ndarray, np.ndarray, np.ndarray]]
    """(body, point, force, torque) of every loop on each of its two bodies, world axes."""
    joint_limits: dict[int, float]
    """Joint → force of its limit, which pushes back if positive [N or N m]."""
    tendon_limits: dict[int, float]
    """Tendon → force of its limit [N]."""
    tendon_forces: np.ndarray
    """(nt,) all forces along the tendons: springs, dampers, actuators, limits, dry friction; they pull if negative."""


def balance(m: Moment) -> Balance:
    """The balance of a moment, made once."""
    if m.balanced is None:
        m.balanced = _solve(m)
    return m.balanced


def _solve(m: Moment) -> Balance:
    model, sim, rows, names = m.model, m.sim, [], []
    loops = Bilateral(model, model.loops) if model.loops else None
    if loops is not None:
        loops.solve(m.q, m.v, np.zeros(model.nv))
        rows += list(loops.jacobian)
        names += [("loop", k) for k in range(len(loops.jacobian))]
    joints, tendons = _limit_rows(m)
    for kind, found in (("joint", joints), ("tendon", tendons)):
        rows += list(found.values())
        names += [(kind, i) for i in found]
    held = np.any(list(joints.values()), axis=0) if joints else np.zeros(model.nv, dtype=bool)
    for d in np.flatnonzero((model.joint_forces.friction > 0.0) & ~held):
        rows.append(np.eye(model.nv)[d])
        names.append(("dry", int(d)))
    for t in np.flatnonzero(model.tendons.frictionloss > 0.0):
        if int(t) not in tendons:
            rows.append(m.tendons[2][t])
            names.append(("dry tendon", int(t)))
    slack = np.zeros(len(model.joint_names), dtype=np.int64)
    open_ended = model.tendons._replace(limited=np.zeros_like(model.tendons.limited))
    free = Dynamics(replace(model, joint_forces=model.joint_forces._replace(limited=slack), tendons=open_ended))
    x = np.zeros(0)
    if rows:
        tau = m.drive[3] + sim.inputs.applied + free.passive_forces(m.q, m.v)
        rest = Dynamics(model).rnea(m.q, m.v, m.acceleration, m.wrench) - tau
        x = np.linalg.lstsq(np.array(rows).T, rest, rcond=1e-10)[0]
    along, a = free.tendon_forces(m.q, m.v), model.actuators
    for k in np.flatnonzero(a.transmission == TENDON):
        along[a.target[k]] += a.gear[k, 0] * m.drive[2][k]
    for (kind, i), size in zip(names, x, strict=True):
        if kind in ("tendon", "dry tendon"):
            along[i] += size * (np.sign(tendons[i] @ m.tendons[2][i]) if kind == "tendon" else 1.0)
    of = {kind: {i: float(f) for (k, i), f in zip(names, x, strict=True) if k == kind} for kind in ("joint", "tendon")}
    loop_force = np.array([f for (kind, _), f in zip(names, x, strict=True) if kind == "loop"])
    return Balance(_loop_forces(m, loops, loop_force), of["joint"], of["tendon"], along)


def _limit_rows(m: Moment) -> tuple[dict[int, np.ndarray], dict[int, np.ndarray]]:
    """Rows of the limits of joints and of tendons that are reached; a positive force pushes back."""
    mj, far = m.mj, 2.0 * m.sim.dt
    joints, tendons = {}, {}
    for j in np.flatnonzero(mj.jnt_limited):
        i, d, row = int(mj.jnt_qposadr[j]), int(mj.jnt_dofadr[j]), np.zeros(m.model.nv)
        low, high = mj.jnt_range[j] + np.array([1.0, -1.0]) * mj.jnt_margin[j]
        if mj.jnt_type[j] == mujoco.mjtJoint.mjJNT_BALL:
            turn = np.zeros(3)
            mujoco.mju_quat2Vel(turn, m.q[i : i + 4] / np.linalg.norm(m.q[i : i + 4]), 1.0)
            angle, limit = float(np.linalg.norm(turn)), max(mj.jnt_range[j]) - mj.jnt_margin[j]
            if angle > limit - REACHED - far * float(np.linalg.norm(m.v[d : d + 3])) and angle > 0.0:
                row[d : d + 3] = -turn / angle
        elif m.q[i] - low < REACHED + far * abs(m.v[d]):
            row[d] = 1.0
        elif high - m.q[i] < REACHED + far * abs(m.v[d]):
            row[d] = -1.0
        if row.any():
            joints[int(j)] = row
    for t in np.flatnonzero(mj.tendon_limited):
        length, rate, arms = (part[t] for part in m.tendons)
        low, high = mj.tendon_range[t] + np.array([1.0, -1.0]) * mj.tendon_margin[t]
        if length - low < REACHED + far * abs(rate):
            tendons[int(t)] = arms
        elif high - length < REACHED + far * abs(rate):
            tendons[int(t)] = -arms
    return joints, tendons


def _loop_forces(
    m: Moment, loops: Bilateral | None, force: np.ndarray
) -> list[tuple[int, np.ndarray, np.ndarray, np.ndarray]]:
    found: list[tuple[int, np.ndarray, np.ndarray, np.ndarray]] = []
    at, placed, mj = 0, 0, m.mj
    if loops is None:
        return found
    for loop in m.model.loops:
        if loop not in m.model.closed_loops:
            at += 3
            continue
        f, t = force[at : at + 3], force[at + 3 : at + 6] if loop.kind == "weld" else np.zeros(3)
        bodies = [int(m.link_body[loop.link1]), int(m.link_body[loop.link2])]
        e = mujoco.mj_name2id(mj, mujoco.mjtObj.mjOBJ_EQUALITY, loop.name)
        if e >= 0:
            sites = mj.eq_objtype[e] == mujoco.mjtObj.mjOBJ_SITE
            ends = [int(mj.site_bodyid[i]) if sites else int(i) for i in (mj.eq_obj1id[e], mj.eq_obj2id[e])]
            bodies = ends if m.bodies[ends[0]].link == loop.link1 else ends[::-1]
        p1, p2 = loops.work.point1[placed], loops.work.point2[placed]
        found += [(bodies[0], p1.copy(), -f, -t), (bodies[1], p2.copy(), f, t)]
        at, placed = at + (6 if loop.kind == "weld" else 3), placed + 1
    return found
