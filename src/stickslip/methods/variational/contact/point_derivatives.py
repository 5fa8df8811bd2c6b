"""Changes of the rows of contact points as their two bodies move, for the gradient of a step.

A contact's three rows are those of unit forces along d ∈ (n, t₁, t₂) at the point p on body 2, of opposite signs on the
two links: −(d, R₁ᵀ((p − x₁) × d)) and (d, R₂ᵀ((p − x₂) × d)), at the start of the step. Under a small motion
(δx₁, δθ₁, δx₂, δθ₂), x in world and θ in body axes, with δcᵢ the motion of the cores and Θᵢ = Rᵢ·δθᵢ:

    FLAT1   δn = Θ₁ × n                                   δp = δc₂ − r₂·δn
    FLAT2   δn = Θ₂ × n                                   δp = δc₁ + e·δn + (n·(δc₂ − δc₁) + δn·(c₂ − c₁))·n
    ROUND   δn = (1 − n·nᵀ)(δc₂ − δc₁)/|c₂ − c₁|          δp = δc₂ − r₂·δn
    δt = (Θ₁ + Ω) × t,    Ω = (a + n) × δn'/(1 + a·n),    δn' = δn − Θ₁ × n

p = c₂ − r₂·n, or p = c₁ + e·n for FLAT2; p is computed from the rows themselves. Ω is the rotation of the frame by
``smooth_tangent`` as the normal moves over link 1, and a (the pole, in link 1's axes) is the z axis of its formula.
With a = 0 the frame rolls without twist, which suffices for circular cones, where the choice of tangents does not
matter.

The derivatives are exact if the cores are fixed in their links and the normal is that of its kind: balls, capsules and
corners on planes and faces, balls on balls and corners. In other cases (cylinders on their rims, crossing edges,
polygons of two faces, crossing capsules) the points of contact are taken as fixed to their links.
"""

from __future__ import annotations

from stickslip._jit import kernel
from stickslip.collision.convex.finish import FEATURES
from stickslip.collision.convex.geometry import SPHERE
from stickslip.collision.tangent import from_carried_axis
from stickslip.math.spatial import cross, rotate, rotate_transposed
from stickslip.methods.variational.contact.points import FLAT1, FLAT2, carried

OPPOSITE = 1e-9
"""Value of 1 + a·n below which tangents have no derivative (hairy-ball theorem) and are taken as rolling."""


@kernel
def tangent_poles(points, shapes, convex, pole):
    """pole (N, 3): a of each contact in the axes of link 1; 0 unless ids are those of ConvexDetector (``convex``)."""
    ns = shapes.kind.shape[0]
    for c in range(points.found[0]):
        pole[c, 0], pole[c, 1], pole[c, 2] = 0.0, 0.0, 0.0
        if convex:
            pair = points.name[c] // FEATURES
            s, other = pair // ns, pair % ns
            if shapes.link[other] < shapes.link[s]:
                s = other
            if shapes.kind[s] == SPHERE:
                pole[c, 0], pole[c, 1], pole[c, 2] = from_carried_axis(0.0, 0.0, 1.0)
            else:
                pole[c, 0], pole[c, 1], pole[c, 2] = shapes.rot[s, 0, 2], shapes.rot[s, 1, 2], shapes.rot[s, 2, 2]


@kernel
def contact_point(points, c, pose):
    """p of contact c at the start of the step, from the angular parts w × t₁ and w × t₂ of its rows, w = p − x₂."""
    b, rows = points.link2[c], points.rows2
    nx, ny, nz = rows[c, 0, 0], rows[c, 0, 1], rows[c, 0, 2]
    ux, uy, uz = rows[c, 1, 0], rows[c, 1, 1], rows[c, 1, 2]
    vx, vy, vz = rows[c, 2, 0], rows[c, 2, 1], rows[c, 2, 2]
    x, y, z = rotate(pose.rot, b, rows[c, 1, 3], rows[c, 1, 4], rows[c, 1, 5])
    height, second = x * vx + y * vy + z * vz, -(x * nx + y * ny + z * nz)
    x, y, z = rotate(pose.rot, b, rows[c, 2, 3], rows[c, 2, 4], rows[c, 2, 5])
    first = x * nx + y * ny + z * nz
    return (
        pose.pos[b, 0] + height * nx + first * ux + second * vx,
        pose.pos[b, 1] + height * ny + first * uy + second * vy,
        pose.pos[b, 2] + height * nz + first * uz + second * vz,
    )


@kernel
def core_motion(pose, link, core, c, move, at):
    """Motion of core c of a link: δx + R(δθ × core)."""
    x, y, z = cross(move[at + 3], move[at + 4], move[at + 5], core[c, 0], core[c, 1], core[c, 2])
    x, y, z = rotate(pose.rot, link, x, y, z)
    return x + move[at], y + move[at + 1], z + move[at + 2]


@kernel
def normal_and_point_motion(points, c, pose, px, py, pz, move):
    """δn and δp."""
    a, b, kind = points.link1[c], points.link2[c], points.kind[c]
    n = points.rows2[c, 0]
    ax, ay, az = carried(pose, a, points.core1, c)
    bx, by, bz = carried(pose, b, points.core2, c)
    ux, uy, uz = core_motion(pose, a, points.core1, c, move, 0)
    vx, vy, vz = core_motion(pose, b, points.core2, c, move, 6)
    if kind == FLAT1 or kind == FLAT2:
        at, carrier = (3, a) if kind == FLAT1 else (9, b)
        x, y, z = rotate(pose.rot, carrier, move[at], move[at + 1], move[at + 2])
        dx, dy, dz = cross(x, y, z, n[0], n[1], n[2])
    else:
        x, y, z = vx - ux, vy - uy, vz - uz
        along = x * n[0] + y * n[1] + z * n[2]
        distance = (bx - ax) * n[0] + (by - ay) * n[1] + (bz - az) * n[2]
        dx, dy, dz = (x - along * n[0]) / distance, (y - along * n[1]) / distance, (z - along * n[2]) / distance
    if kind == FLAT2:
        e = (px - ax) * n[0] + (py - ay) * n[1] + (pz - az) * n[2]
        rise = (vx - ux) * n[0] + (vy - uy) * n[1] + (vz - uz) * n[2]
        rise += dx * (bx - ax) + dy * (by - ay) + dz * (bz - az)
        return dx, dy, dz, ux + e * dx + rise * n[0], uy + e * dy + rise * n[1], uz + e * dz + rise * n[2]
    r = (bx - px) * n[0] + (by - py) * n[1] + (bz - pz) * n[2]
    return dx, dy, dz, vx - r * dx, vy - r * dy, vz - r * dz


@kernel
def frame_turn(points, c, pose, pole, dx, dy, dz, move):
    """Rotation of the contact's tangents, Θ₁ + Ω, as the normal moves by (dx, dy, dz)."""
    a, n = points.link1[c], points.rows2[c, 0]
    tx, ty, tz = rotate(pose.rot, a, move[3], move[4], move[5])
    x, y, z = cross(tx, ty, tz, n[0], n[1], n[2])
    dx, dy, dz = dx - x, dy - y, dz - z
    x, y, z = rotate(pose.rot, a, pole[c, 0], pole[c, 1], pole[c, 2])
    s = 1.0 + x * n[0] + y * n[1] + z * n[2]
    if s < OPPOSITE:
        s, x, y, z = 1.0, 0.0, 0.0, 0.0
    s = 1.0 / s
    x, y, z = cross(x + n[0], y + n[1], z + n[2], dx, dy, dz)
    return tx + s * x, ty + s * y, tz + s * z


@kernel
def row_motion(pose, link, sign, row, d, e, p, q, move, at, change):
    """change[at: at + 6] of sign·(d, Rᵀ((p − x) × d)), whose current value is ``row`` (6,), with δd = e and δp = q."""
    x, y, z = p[0] - pose.pos[link, 0], p[1] - pose.pos[link, 1], p[2] - pose.pos[link, 2]
    x, y, z = cross(x, y, z, e[0], e[1], e[2])
    u, v, w = cross(q[0] - move[at], q[1] - move[at + 1], q[2] - move[at + 2], d[0], d[1], d[2])
    x, y, z = rotate_transposed(pose.rot, link, sign * (x + u), sign * (y + v), sign * (z + w))
    u, v, w = cross(row[3], row[4], row[5], move[at + 3], move[at + 4], move[at + 5])
    change[at], change[at + 1], change[at + 2] = sign * e[0], sign * e[1], sign * e[2]
    change[at + 3], change[at + 4], change[at + 5] = x + u, y + v, z + w


@kernel
def contact_row_changes(points, c, pose, pole, move, change):
    """change (3, 12) of the rows (normal, tangents) over links 1 and 2 under the motion ``move`` (12,); pole (N, 3)."""
    p = contact_point(points, c, pose)
    dx, dy, dz, qx, qy, qz = normal_and_point_motion(points, c, pose, p[0], p[1], p[2], move)
    tx, ty, tz = frame_turn(points, c, pose, pole, dx, dy, dz, move)
    for i in range(3):
        d = points.rows2[c, i, 0], points.rows2[c, i, 1], points.rows2[c, i, 2]
        e = cross(tx, ty, tz, d[0], d[1], d[2])
        if i == 0:
            e = dx, dy, dz
        a, b, q = points.link1[c], points.link2[c], (qx, qy, qz)
        row_motion(pose, a, -1.0, points.rows1[c, i], d, e, p, q, move, 0, change[i])
        row_motion(pose, b, 1.0, points.rows2[c, i], d, e, p, q, move, 6, change[i])


@kernel
def contact_derivatives(points, c, pose, pole, f0, f1, f2, nu, H, D, move, change):
    """H (12, 12) = ∂(C₀(z)ᵀ·f)/∂z for the force (f0, f1, f2) and D (3, 12) = ∂(C₀(z)·ν)/∂z for velocities nu (nl, 6).
    The scratch ``move`` (12,) must be zero and is zero afterwards; ``change`` is (3, 12)."""
    a, b = points.link1[c], points.link2[c]
    for k in range(12):
        move[k] = 1.0
        contact_row_changes(points, c, pose, pole, move, change)
        move[k] = 0.0
        for m in range(12):
            H[m, k] = f0 * change[0, m] + f1 * change[1, m] + f2 * change[2, m]
        for i in range(3):
            s = 0.0
            for m in range(6):
                s += change[i, m] * nu[a, m] + change[i, 6 + m] * nu[b, m]
            D[i, k] = s
