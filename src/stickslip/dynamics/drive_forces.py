"""Forces of tendons and actuators along their rows, their slopes, and how they act on the joints.

    tendon      f = −(k₀·x + k₁·x² + k₂·x³) − (b₀·r + b₁·r·|r| + b₂·r³) − limit
    actuator    f = clip(gain(ℓ, ℓ̇)·clip(u) + bias(ℓ, ℓ̇))

x is how far the length is outside the spring's dead band and r = ℓ̇. A limit that is exceeded by e pushes back with
k·e·max(0, 1 + (b/k)·ė): it is continuous in length and rate, so that implicit equations have a solution.
The sum of the actuators' forces along a tendon and in a joint is limited where the model says so: along a tendon all of
them are scaled alike. Where actuators compensate gravity, the compensation G is part of that sum. It acts on the links
in any case (``outside_forces``), so that the actuators' part in a joint is clip(Σf + G) − G.

Each function that adds forces or gains needs ``drive_forces`` at the same state before.
"""

from __future__ import annotations

from stickslip._jit import kernel
from stickslip.dynamics.jacobian import link_point, velocity_at
from stickslip.dynamics.muscle import muscle_bias, muscle_gain
from stickslip.dynamics.transmission import transmit
from stickslip.model.arrays import TENDON

HUGE = 1e300


@kernel(inline=False)
def drive_forces(drives, q, v, control):
    """Write forces and slopes of all rows at q (nq,) and v (nv,) for the controls or activations (nu,)."""
    transmit(drives, q, v)
    if drives.links.shape[0] > 0:
        lift_forces(drives)
    nt = drives.tendons.limited.shape[0]
    for t in range(nt):
        tendon_force(drives, t)
    for k in range(control.shape[0]):
        actuator_force(drives, nt + k, k, control[k])
    if nt > 0:
        share_tendon_limits(drives, nt)
    if drives.shared[0] != 0:
        mark_joint_limits(drives, nt)


@kernel
def lift_forces(drives):
    """``lift`` of the drives (nv,): gravity compensation G in the joints whose actuators give it."""
    x, P, S, flag = drives.inertia, drives.poses, drives.poses.S, drives.actuators.lifts
    g, com = x.gravity, x.lifted_com
    for d in range(flag.shape[0]):
        drives.lift[d] = 0.0
    for k in range(drives.links.shape[0]):
        b = drives.links[k]
        m = x.lifted_mass[b]
        if m == 0.0:
            continue
        px, py, pz = link_point(P, b, com[b, 0], com[b, 1], com[b, 2])
        px, py, pz = px - P.origin[b, 0], py - P.origin[b, 1], pz - P.origin[b, 2]
        d = drives.link_dof[b + 1] - 1
        while d >= 0:
            if flag[d] != 0:
                vx, vy, vz = velocity_at(S, d, px, py, pz)
                drives.lift[d] -= m * (vx * g[0] + vy * g[1] + vz * g[2])
            d = drives.dof_parent[d]


@kernel
def tendon_force(drives, t):
    """Spring, damper and limit of a tendon."""
    x, length, rate = drives.tendons, drives.length[t], drives.rate[t]
    low, high = x.spring_range[t, 0], x.spring_range[t, 1]
    out = length - high if length > high else (length - low if length < low else 0.0)
    k0, k1, k2, b0, b1, b2 = (
        x.stiffness[t, 0], x.stiffness[t, 1], x.stiffness[t, 2], x.damping[t, 0], x.damping[t, 1], x.damping[t, 2]
    )  # fmt: skip
    fast = abs(rate)
    force = -out * (k0 + out * (k1 + out * k2)) - rate * (b0 + fast * (b1 + fast * b2))
    stiffness = k0 + out * (2.0 * k1 + 3.0 * out * k2) if out != 0.0 or low == high else 0.0
    damping = b0 + fast * (2.0 * b1 + 3.0 * fast * b2)
    if x.limited[t] != 0:
        for side in range(2):
            sign = 1.0 if side == 0 else -1.0
            excess = sign * (x.range[t, side] - length)
            if excess > 0.0:
                k, b = x.limit_stiffness[t], x.limit_damping[t]
                push, slope = k - sign * b * rate, b * excess
                if push > 0.0:
                    force += sign * excess * push
                    stiffness += push
                    damping += slope
    drives.force[t], drives.stiffness[t], drives.damping[t] = force, stiffness, damping


@kernel
def actuator_force(drives, r, k, control):
    """gain·clip(u) + bias of actuator k, clipped to its force range."""
    a, length, rate = drives.actuators, drives.length[r], drives.rate[r]
    low, high, peak = a.length_range[k, 0], a.length_range[k, 1], a.peak[k]
    u = min(max(control, a.control_range[k, 0]), a.control_range[k, 1])
    if a.muscle_gain[k] != 0:
        gain, by_length, by_rate = muscle_gain(a.gain[k], low, high, peak, length, rate)
        by_length, by_rate = u * by_length, u * by_rate
    else:
        gain = a.gain[k, 0] + a.gain[k, 1] * length + a.gain[k, 2] * rate
        by_length, by_rate = u * a.gain[k, 1], u * a.gain[k, 2]
    if a.muscle_bias[k] != 0:
        bias, slope = muscle_bias(a.bias[k], low, high, peak, length)
        by_length += slope
    else:
        bias = a.bias[k, 0] + a.bias[k, 1] * length + a.bias[k, 2] * rate
        by_length, by_rate = by_length + a.bias[k, 1], by_rate + a.bias[k, 2]
    force = gain * u + bias
    drives.force[r] = min(max(force, a.force_range[k, 0]), a.force_range[k, 1])
    free = a.force_range[k, 0] < force < a.force_range[k, 1]
    drives.stiffness[r] = -by_length if free else 0.0
    drives.damping[r] = -by_rate if free else 0.0
    drives.by_control[r] = gain if free and u == control else 0.0


@kernel
def share_tendon_limits(drives, nt):
    """Scale the actuators' forces along a tendon where their sum is limited."""
    a, limit = drives.actuators, drives.tendons.force_range
    for t in range(nt):
        if limit[t, 1] > HUGE and limit[t, 0] < -HUGE:
            continue
        total = 0.0
        for k in range(a.target.shape[0]):
            if a.transmission[k] == TENDON and a.target[k] == t:
                total += drives.force[nt + k]
        allowed = min(max(total, limit[t, 0]), limit[t, 1])
        if allowed == total:
            continue
        for k in range(a.target.shape[0]):
            if a.transmission[k] == TENDON and a.target[k] == t:
                r = nt + k
                drives.force[r] *= allowed / total
                drives.stiffness[r], drives.damping[r], drives.by_control[r] = 0.0, 0.0, 0.0


@kernel
def sum_actuators(drives, nt):
    """``tau`` of the drives (nv,): the sum of the actuators' forces."""
    for d in range(drives.tau.shape[0]):
        drives.tau[d] = 0.0
    for r in range(nt, drives.force.shape[0]):
        for i in range(drives.start[r], drives.start[r + 1]):
            drives.tau[drives.column[i]] += drives.value[i] * drives.force[r]


@kernel
def mark_joint_limits(drives, nt):
    """Clear the slopes of actuators that act on a single velocity whose sum of forces is at its limit."""
    sum_actuators(drives, nt)
    limit = drives.actuators.joint_range
    for r in range(nt, drives.force.shape[0]):
        d = drives.column[drives.start[r]]
        if (
            drives.start[r + 1] == drives.start[r] + 1
            and not limit[d, 0] < drives.tau[d] + drives.lift[d] < limit[d, 1]
        ):
            drives.stiffness[r], drives.damping[r], drives.by_control[r] = 0.0, 0.0, 0.0


@kernel
def add_drive_forces(drives, tau):
    """tau (nv,) += Jᵀ·f."""
    nt, limit = drives.tendons.limited.shape[0], drives.actuators.joint_range
    sum_actuators(drives, nt)
    for d in range(tau.shape[0]):
        tau[d] += min(max(drives.tau[d] + drives.lift[d], limit[d, 0]), limit[d, 1]) - drives.lift[d]
    for r in range(nt):
        for i in range(drives.start[r], drives.start[r + 1]):
            tau[drives.column[i]] += drives.value[i] * drives.force[r]


@kernel
def add_drive_lead(drives, first, dt, tau):
    """tau (nv,) −= Jᵀ·dt·k·ℓ̇ with the slopes k ≥ 0 of the rows from ``first`` on: how forces change over a step at the
    present velocity."""
    for r in range(first, drives.force.shape[0]):
        change = dt * max(0.0, drives.stiffness[r]) * drives.rate[r]
        if change != 0.0:
            for i in range(drives.start[r], drives.start[r + 1]):
                tau[drives.column[i]] -= drives.value[i] * change


@kernel
def add_drive_gains(drives, first, scale_k, scale_b, stiffness, damping):
    """Add diagonals (nv,) that are at least Jᵀ·k·J and Jᵀ·b·J, times the scales, with the slopes k, b ≥ 0 of the rows.

    k counts from row ``first`` on. A row with several moment arms gives |J_i|·Σ|J_j| at i. The excess acts on the
    relative motion of its joints as rotor inertia does.
    """
    for r in range(drives.force.shape[0]):
        k, b = scale_k * max(0.0, drives.stiffness[r]) if r >= first else 0.0, scale_b * max(0.0, drives.damping[r])
        if k == 0.0 and b == 0.0:
            continue
        total = 0.0
        for i in range(drives.start[r], drives.start[r + 1]):
            total += abs(drives.value[i])
        for i in range(drives.start[r], drives.start[r + 1]):
            weight = abs(drives.value[i]) * total
            stiffness[drives.column[i]] += weight * k
            damping[drives.column[i]] += weight * b


@kernel
def add_drive_mass(drives, support, dt, M):
    """M += Jᵀ·(dt·b + dt²·k)·J of all rows, k, b ≥ 0, where the packed lower triangle of M has room (``Support``).

    For a pair of velocities that are no ancestors of each other, |J_i·J_j| is added at both diagonals in its place.
    """
    for r in range(drives.force.shape[0]):
        w = dt * (max(0.0, drives.damping[r]) + dt * max(0.0, drives.stiffness[r]))
        if w == 0.0:
            continue
        for i in range(drives.start[r], drives.start[r + 1]):
            d, at = drives.column[i], support.start[drives.column[i]]
            M[at] += w * drives.value[i] * drives.value[i]
            for j in range(drives.start[r], i):
                e, product = drives.column[j], w * drives.value[i] * drives.value[j]
                # Row d of M holds d and its ancestors, one for each step towards the root.
                up = (support.start[d + 1] - at) - (support.start[e + 1] - support.start[e])
                if up >= 0 and support.column[at + up] == e:
                    M[at + up] += product
                else:
                    M[at] += abs(product)
                    M[support.start[e]] += abs(product)


@kernel
def drive_stiffness(drives, support, dt, M):
    """The largest of (dt·b + dt²·k)·J_i²/M_ii over all rows, with slopes k, b ≥ 0: how stiff drives are for a step."""
    most = 0.0
    for r in range(drives.force.shape[0]):
        w = dt * (max(0.0, drives.damping[r]) + dt * max(0.0, drives.stiffness[r]))
        if w != 0.0:
            for i in range(drives.start[r], drives.start[r + 1]):
                most = max(most, w * drives.value[i] * drives.value[i] / M[support.start[drives.column[i]]])
    return most


@kernel
def add_drive_slopes(drives, dt, A):
    """A (nv, nv) += Jᵀ·(b + dt·k)·J of all rows with their true slopes, which may be negative. The change of the moment
    arms themselves, ∂J/∂q·f, is left out, so that Newton's method with A converges linearly where they change."""
    for r in range(drives.force.shape[0]):
        w = drives.damping[r] + dt * drives.stiffness[r]
        if w == 0.0:
            continue
        for i in range(drives.start[r], drives.start[r + 1]):
            for j in range(drives.start[r], drives.start[r + 1]):
                A[drives.column[i], drives.column[j]] += w * drives.value[i] * drives.value[j]


@kernel
def tendon_energy(drives):
    """Energy stored in the tendons' springs [J], without the limits'."""
    x, energy = drives.tendons, 0.0
    for t in range(x.limited.shape[0]):
        length, low, high = drives.length[t], x.spring_range[t, 0], x.spring_range[t, 1]
        out = length - high if length > high else (length - low if length < low else 0.0)
        energy += (
            out * out * (0.5 * x.stiffness[t, 0] + out * (x.stiffness[t, 1] / 3.0 + out * x.stiffness[t, 2] / 4.0))
        )
    return energy
