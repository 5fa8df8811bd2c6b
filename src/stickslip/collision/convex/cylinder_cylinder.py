"""Cylinder against cylinder.

The axis n of largest gap (``two_cylinders``), from the first to the second, decides which features touch:

* A cap against a cap: contacts are points of each rim inside the other disc, and points where the rims cross. A cap
  against a side: the nearest line of the side is clipped by the disc and has two contacts.
* Two sides: there is a contact where they cross, or two at the ends of the part they share if they are nearly parallel.
* A side and a rim, or two rims: there is one contact, if it lies within the side.

As for polyhedra, an axis within ``SAME`` rad of a cap's normal is replaced by that normal. Separate rims that are
parallel where they are nearest (two pegs side by side, one above the other) have no contact.
"""

from __future__ import annotations

from math import cos, inf, pi, sin, sqrt

from stickslip._jit import kernel
from stickslip.collision.convex.clip import SHRINK
from stickslip.collision.convex.cylinder_axis import GRAZING
from stickslip.collision.convex.disc import Out, emit_on
from stickslip.collision.convex.geometry import CLIPPED, CORNER, CROSSING, WITHIN, feature, keep_near
from stickslip.collision.convex.polyhedron_polyhedron import SAME, TIE
from stickslip.collision.convex.segments import clip
from stickslip.collision.convex.two_cylinders import cylinders_axis, support_point
from stickslip.math.spatial import cross

SIDE = 1e-7
"""|n·a| below which n counts as perpendicular to a."""
ARCS = 16
"""Number of arcs of a rim; at most one crossing with another rim is searched for in each."""
FOLLOWS = 0.1
"""Sine of the angle between the axes below which both ends of the part they share are contacts."""


@kernel
def axis_of(placed, s):
    return placed.rot[s, 0, 2], placed.rot[s, 1, 2], placed.rot[s, 2, 2]


@kernel
def fixed_rim_point(placed, s, r, i):
    """Point i of four on the rim, from the cap's centre."""
    column, t = i & 1, r if i < 2 else -r
    return t * placed.rot[s, 0, column], t * placed.rot[s, 1, column], t * placed.rot[s, 2, column]


@kernel
def on_cap(geometry, placed, out: Out, side, disc, other, dx, dy, dz, nx, ny, nz, margin, found):
    """Emit the contacts of the cap of ``disc`` with outward normal n and ``other`` at d, relative to the disc's centre.
    ``side`` is 0 if ``disc`` is the first shape."""
    S = geometry.shapes.size
    r, h, rr, hh = S[disc, 0], S[disc, 1], S[other, 0], S[other, 1]
    bx, by, bz = axis_of(placed, other)
    along = bx * nx + by * ny + bz * nz
    t = -hh if along > 0.0 else hh
    inner, outer = r - SHRINK * out.size, rr - SHRINK * out.size
    if abs(along) > 0.7:
        cx, cy, cz = dx + t * bx, dy + t * by, dz + t * bz  # centre of the other's cap
        for i in range(5):
            if i < 4:
                x, y, z = fixed_rim_point(placed, other, rr, i)
            else:
                x, y, z, _, _, _, root = support_point(-nx, -ny, -nz, bx, by, bz, rr, 0.0)
                if root < 1e-9:
                    continue
            x, y, z = x + cx, y + cy, z + cz
            gap = nx * x + ny * y + nz * z - h
            px, py, pz = x - (gap + h) * nx, y - (gap + h) * ny, z - (gap + h) * nz
            if px * px + py * py + pz * pz <= inner * inner:
                put(
                    geometry,
                    placed,
                    out,
                    side,
                    feature(CORNER, 1 - side, i, 0),
                    x,
                    y,
                    z,
                    nx,
                    ny,
                    nz,
                    gap,
                    margin,
                    found,
                )
        for i in range(4):
            x, y, z = fixed_rim_point(placed, disc, r, i)
            x, y, z = x + h * nx, y + h * ny, z + h * nz
            gap = ((cx - x) * bx + (cy - y) * by + (cz - z) * bz) / along
            px, py, pz = x + gap * nx - cx, y + gap * ny - cy, z + gap * nz - cz
            if px * px + py * py + pz * pz <= outer * outer:
                x, y, z = x + gap * nx, y + gap * ny, z + gap * nz
                put(geometry, placed, out, side, feature(CORNER, side, i, 1), x, y, z, nx, ny, nz, gap, margin, found)
        rims(geometry, placed, out, side, r, h, other, rr, cx, cy, cz, nx, ny, nz, margin, found)
        return
    mx, my, mz, _, _, _, _ = support_point(-nx, -ny, -nz, bx, by, bz, rr, 0.0)
    x, y, z = dx + mx, dy + my, dz + mz
    ux, uy, uz = bx - along * nx, by - along * ny, bz - along * nz  # the line as the disc sees it
    height = nx * x + ny * y + nz * z
    px, py, pz = x - height * nx, y - height * ny, z - height * nz
    a, b, c = ux * ux + uy * uy + uz * uz, px * ux + py * uy + pz * uz, px * px + py * py + pz * pz - inner * inner
    root = b * b - a * c
    if root <= 0.0:
        return
    low, high = max(-hh, (-b - sqrt(root)) / a), min(hh, (-b + sqrt(root)) / a)
    for k in range(2):
        s = high if k else low
        gap = height + s * along - h
        if low <= high:
            name = feature(CORNER, side, k, 2)
            put(geometry, placed, out, side, name, x + s * bx, y + s * by, z + s * bz, nx, ny, nz, gap, margin, found)


@kernel
def beyond_rim(phi, inner, cx, cy, cz, ex, ey, ez, fx, fy, fz, nx, ny, nz):
    """(x = c + e·cos φ + f·sin φ, ρ² − inner²): a rim point and its squared distance ρ² from the line along n."""
    x, y, z = cx + cos(phi) * ex + sin(phi) * fx, cy + cos(phi) * ey + sin(phi) * fy, cz + cos(phi) * ez + sin(phi) * fz
    height = x * nx + y * ny + z * nz
    return x, y, z, x * x + y * y + z * z - height * height - inner * inner


@kernel
def rims(geometry, placed, out, side, r, h, other, rr, cx, cy, cz, nx, ny, nz, margin, found):
    """Emit at most four contacts where the rim of the other's cap, centred at c, crosses the disc's, seen along n."""
    ex, ey, ez = fixed_rim_point(placed, other, rr, 0)
    fx, fy, fz = fixed_rim_point(placed, other, rr, 1)
    inner = r - SHRINK * out.size
    _, _, _, last = beyond_rim(0.0, inner, cx, cy, cz, ex, ey, ez, fx, fy, fz, nx, ny, nz)
    crossings = 0
    for i in range(1, ARCS + 1):
        low, high = 2.0 * pi * (i - 1) / ARCS, 2.0 * pi * i / ARCS
        _, _, _, now = beyond_rim(high, inner, cx, cy, cz, ex, ey, ez, fx, fy, fz, nx, ny, nz)
        if (now > 0.0) != (last > 0.0):
            outwards = now > 0.0
            for _ in range(50):
                middle = 0.5 * (low + high)
                _, _, _, d = beyond_rim(middle, inner, cx, cy, cz, ex, ey, ez, fx, fy, fz, nx, ny, nz)
                if (d > 0.0) == outwards:
                    high = middle
                else:
                    low = middle
            x, y, z, _ = beyond_rim(low, inner, cx, cy, cz, ex, ey, ez, fx, fy, fz, nx, ny, nz)
            gap = nx * x + ny * y + nz * z - h
            name = feature(CROSSING if outwards else CLIPPED, side, crossings // 2, 0)
            put(geometry, placed, out, side, name, x, y, z, nx, ny, nz, gap, margin, found)
            crossings += 1
        last = now


@kernel
def put(geometry, placed, out, side, name, x, y, z, nx, ny, nz, gap, margin, found):
    """Emit a contact at a point of the other cylinder, relative to the centre of this one (``side`` 0: first shape)."""
    one, other = (out.solid, out.cylinder) if side else (out.cylinder, out.solid)
    place = Out(one, other, side == 0, out.start, out.size)
    emit_on(geometry, placed, place, name, x, y, z, nx, ny, nz, gap, margin, found)


@kernel
def sides(geometry, placed, out, dx, dy, dz, nx, ny, nz, gap, margin, found):
    """Emit the contacts of two sides; n is perpendicular to both axes."""
    S, a, b = geometry.shapes.size, out.cylinder, out.solid
    ax, ay, az = axis_of(placed, a)
    bx, by, bz = axis_of(placed, b)
    h, g = S[a, 1], S[b, 1]
    c, da, db = ax * bx + ay * by + az * bz, dx * ax + dy * ay + dz * az, dx * bx + dy * by + dz * bz
    cx, cy, cz = cross(ax, ay, az, bx, by, bz)
    sine2 = cx * cx + cy * cy + cz * cz
    qx, qy, qz = dx - S[b, 0] * nx, dy - S[b, 0] * ny, dz - S[b, 0] * nz
    if sine2 > 1e-12:
        s, t = (da - c * db) / sine2, (c * da - db) / sine2
        if abs(s) <= h and abs(t) <= g:
            name = feature(WITHIN, 0, 0, 0)
            put(geometry, placed, out, 0, name, qx + t * bx, qy + t * by, qz + t * bz, nx, ny, nz, gap, margin, found)
    if sine2 >= FOLLOWS * FOLLOWS:
        return
    low, high = max(-h, da - abs(c) * g), min(h, da + abs(c) * g)
    for k in range(2):
        s = high if k else low
        t = clip(c * s - db, g)
        x, y, z = dx + t * bx - s * ax, dy + t * by - s * ay, dz + t * bz - s * az
        along = x * ax + y * ay + z * az
        x, y, z = x - along * ax, y - along * ay, z - along * az
        length = sqrt(x * x + y * y + z * z)
        if low > high or length <= TIE * out.size or nx * x + ny * y + nz * z < 0.5 * length:
            continue
        mx, my, mz = x / length, y / length, z / length
        x, y, z = dx + t * bx - S[b, 0] * mx, dy + t * by - S[b, 0] * my, dz + t * bz - S[b, 0] * mz
        distance = length - S[a, 0] - S[b, 0]
        put(geometry, placed, out, 0, feature(CORNER, 0, k, 3), x, y, z, mx, my, mz, distance, margin, found)


@kernel
def rim_contact(geometry, placed, out, dx, dy, dz, nx, ny, nz, gap, margin, found):
    """Emit the one contact of a rim with a side or a rim."""
    S, a, b = geometry.shapes.size, out.cylinder, out.solid
    ax, ay, az = axis_of(placed, a)
    bx, by, bz = axis_of(placed, b)
    u, v = nx * ax + ny * ay + nz * az, nx * bx + ny * by + nz * bz
    x1, y1, z1, sx, sy, sz, _ = support_point(nx, ny, nz, ax, ay, az, S[a, 0], 0.0 if abs(u) < SIDE else S[a, 1])
    x2, y2, z2, tx, ty, tz, _ = support_point(-nx, -ny, -nz, bx, by, bz, S[b, 0], 0.0 if abs(v) < SIDE else S[b, 1])
    x2, y2, z2 = x2 + dx, y2 + dy, z2 + dz
    if abs(u) < SIDE:
        if abs((x2 - x1) * ax + (y2 - y1) * ay + (z2 - z1) * az) > S[a, 1]:
            return
    elif abs(v) < SIDE:
        t = (x1 - x2) * bx + (y1 - y2) * by + (z1 - z2) * bz
        if abs(t) > S[b, 1]:
            return
        x2, y2, z2 = x2 + t * bx, y2 + t * by, z2 + t * bz
    else:
        cx, cy, cz = cross(sx, sy, sz, tx, ty, tz)
        if gap > 0.0 and cx * cx + cy * cy + cz * cz < GRAZING * GRAZING:
            return
    i = 2 if abs(u) < SIDE else (1 if u > 0.0 else 0)
    j = 2 if abs(v) < SIDE else (1 if v > 0.0 else 0)
    name = feature(WITHIN, 1, i, j)
    put(geometry, placed, out, 0, name, x2, y2, z2, nx, ny, nz, gap, margin, found)


@kernel
def cylinder_cylinder(geometry, placed, work, pairs, margin, found):
    P, S, near = placed.pos, geometry.shapes.size, sqrt(1.0 - SAME * SAME)
    for k in range(pairs.shape[0]):
        a, b = pairs[k, 0], pairs[k, 1]
        dx, dy, dz = P[b, 0] - P[a, 0], P[b, 1] - P[a, 1], P[b, 2] - P[a, 2]
        ax, ay, az = axis_of(placed, a)
        bx, by, bz = axis_of(placed, b)
        size = geometry.shapes.radius[a] + geometry.shapes.radius[b]
        gap, nx, ny, nz = cylinders_axis(
            dx, dy, dz, ax, ay, az, S[a, 0], S[a, 1], bx, by, bz, S[b, 0], S[b, 1], TIE * size, margin, work.starts
        )
        if not gap < margin:
            continue
        out = Out(a, b, True, found.total[0], size)
        u, v = nx * ax + ny * ay + nz * az, nx * bx + ny * by + nz * bz
        if abs(u) > near:
            s = 1.0 if u > 0.0 else -1.0
            on_cap(geometry, placed, out, 0, a, b, dx, dy, dz, s * ax, s * ay, s * az, inf, found)
        elif abs(v) > near:
            s = -1.0 if v > 0.0 else 1.0
            on_cap(geometry, placed, out, 1, b, a, -dx, -dy, -dz, s * bx, s * by, s * bz, inf, found)
        elif abs(u) < SIDE and abs(v) < SIDE:
            sides(geometry, placed, out, dx, dy, dz, nx, ny, nz, gap, inf, found)
        else:
            rim_contact(geometry, placed, out, dx, dy, dz, nx, ny, nz, gap, inf, found)
        keep_near(found, out.start, margin, 0.0)
        if found.total[0] == out.start and gap < -TIE * size:  # deep penetration: the deepest point
            x, y, z, _, _, _, _ = support_point(-nx, -ny, -nz, bx, by, bz, S[b, 0], S[b, 1])
            name = feature(WITHIN, 1, 3, 3)
            put(geometry, placed, out, 0, name, x + dx, y + dy, z + dz, nx, ny, nz, gap, margin, found)
