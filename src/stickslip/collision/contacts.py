"""Contacts: the 5-tuples (body 1, body 2, point, normal, gap) of the RPI simulator, in a buffer of fixed capacity.

The normal points from body 1 to body 2. The gap is positive between separate bodies and negative in penetration. A
force acts on body 2, its opposite on body 1. The world is body 0 and comes first. Contact-frame vectors are (normal,
tangent 1, tangent 2).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.dynamics.data import Kinematics
from stickslip.dynamics.jacobian import point_velocity
from stickslip.errors import expected
from stickslip.math.spatial import cross
from stickslip.model.shape import DEFAULT_DAMPING, DEFAULT_FRICTION, DEFAULT_STIFFNESS, SAID, Material

FRICTION, STIFFNESS, DAMPING, RESTITUTION, PRELOAD, TORSION, ROLLING, ADHESION = range(8)
TANGENT_STIFFNESS, TANGENT_DAMPING, BOUNCE = range(8, 11)
"""Columns of ``material``; STIFFNESS and DAMPING act along the normal."""
PROPERTIES = 11
ON_SPHERE, ON_BOX = 1, 2
"""Values of ``rolling``: the contact point moves over body 2 because that is round, or because body 1 carries it."""
MOST_PAIRS = 1 << 31
"""Number of ids that a Python collision function may use; the contacts of shapes have larger ones."""


class Contacts(NamedTuple):
    """The contacts of one instant; the first ``found[0]`` entries are valid.

    Spring-damper methods append the points of closed loops, ``found[1]`` more entries (``collision.loop_points``).
    """

    found: np.ndarray
    """(2,) number of contacts found, and number of loop points behind them; if they are more than the capacity, the
    buffer must grow."""
    pair: np.ndarray
    """(capacity,) id that persists from step to step; friction anchors and warm starts are stored by it."""
    link1: np.ndarray
    link2: np.ndarray
    point: np.ndarray
    """(capacity, 3) contact point, on body 2 [m, world]."""
    axes: np.ndarray
    """(capacity, 3, 3) rows: normal, tangent 1, tangent 2 [world]."""
    gap: np.ndarray
    """(capacity,) distance of the surfaces, less the pair's margin [m]: margins inflate surfaces."""
    rolling: np.ndarray
    """(capacity,) 0 if the contact point is fixed to body 2; ON_SPHERE or ON_BOX if it moves over body 2's surface."""
    radius: np.ndarray
    """(capacity,) distance [m] from the contact point p to the centre p + radius·n of the ball that touches. It is the
    radius of body 2's ball, 0 for a corner; for ON_BOX, where body 1 has the ball or corner, minus the height of its
    centre over body 2."""
    curvature: np.ndarray
    """(capacity, 4) κ [1/m] and an axis a (a unit vector along an edge, or 0). If the centre moves by δx relative to
    body 1 (for ON_BOX, body 2 relative to the centre), the normal turns by δn = C·δx with C = κ·(1 − n·nᵀ − a·aᵀ). On a
    flat surface κ is zero."""
    spin: np.ndarray
    """(capacity, 3) angular velocity of the normal seen from link 1: ṅ = (ω₁ + spin) × n, spin ⟂ n [rad/s, world].
    It is zero where body 1 is flat and does not include turns of the tangents about n (see collision.tangent)."""
    drift: np.ndarray
    """(capacity, 3) velocity of the geometric contact point, ṗ [m/s, world]."""
    material: np.ndarray
    """(capacity, 11) friction, stiffness [N/m], damping [N s/m], restitution, preload [N], coefficients of torsional
    and rolling friction [m], adhesion [N], stiffness and damping along the surface, and whether methods with springs
    choose the damping by the restitution (``model.shape.SAID`` …)."""
    shape1: np.ndarray
    """(capacity,) the shape of body 1 among those that can touch, and ``shape2`` that of body 2; −1 if unknown. In a
    group of subcontacts all but the first have −2 − the shape."""
    shape2: np.ndarray
    surface: np.ndarray
    """(capacity, 6) velocity [m/s] and angular velocity [rad/s] of body 2's surface relative to body 1's that is not
    due to the links: conveyor belts and bodies that are moved from outside; contact frame."""
    velocity: np.ndarray
    """(capacity, 3) velocity of body 2's surface relative to body 1's, contact frame [m/s]: J·v + ``surface``."""
    force: np.ndarray
    """(capacity, 3) force on body 2, contact frame [N]."""
    torque: np.ndarray
    """(capacity, 3) torque of torsional and rolling friction on body 2, contact frame [N m]; valid where the contact
    has such friction."""
    stretch: np.ndarray
    """(capacity, 3) elongation of the contact's springs, contact frame [m]; written by methods that have springs."""


def make_contacts(capacity: int) -> Contacts:
    n = max(1, capacity)
    return Contacts(
        found=np.zeros(2, dtype=np.int64),
        pair=np.zeros(n, dtype=np.int64),
        link1=np.zeros(n, dtype=np.int64),
        link2=np.zeros(n, dtype=np.int64),
        point=np.zeros((n, 3)),
        axes=np.zeros((n, 3, 3)),
        gap=np.zeros(n),
        rolling=np.zeros(n, dtype=np.int64),
        radius=np.zeros(n),
        curvature=np.zeros((n, 4)),
        spin=np.zeros((n, 3)),
        drift=np.zeros((n, 3)),
        material=np.zeros((n, PROPERTIES)),
        shape1=np.full(n, -1, dtype=np.int64),
        shape2=np.full(n, -1, dtype=np.int64),
        surface=np.zeros((n, 6)),
        velocity=np.zeros((n, 3)),
        force=np.zeros((n, 3)),
        torque=np.zeros((n, 3)),
        stretch=np.zeros((n, 3)),
    )


def grown(contacts: Contacts, capacity: int) -> Contacts:
    """A copy with a larger capacity."""
    bigger = make_contacts(capacity)
    for old, new in zip(contacts, bigger, strict=True):
        new[: len(old)] = old
    return bigger


@kernel
def entries(contacts):
    """Number of contacts and loop points."""
    return contacts.found[0] + contacts.found[1]


@kernel
def is_loop(contacts, c):
    """Whether entry c is a point of a closed loop, which pulls as it pushes and never opens."""
    return c >= contacts.found[0]


@kernel
def append(contacts, pair, link1, link2, gap, rolling, radius, material, k):
    """Append a flat contact with row k of ``material``.

    Returns its index, or −1 if the buffer is full; the contact is counted in either case.
    """
    c = contacts.found[0]
    contacts.found[0] = c + 1
    if c >= contacts.pair.shape[0]:
        return -1
    contacts.pair[c] = pair
    contacts.link1[c], contacts.link2[c] = link1, link2
    contacts.gap[c] = gap
    contacts.rolling[c] = rolling
    contacts.radius[c] = radius
    contacts.curvature[c, 0] = 0.0
    contacts.shape1[c] = contacts.shape2[c] = -1
    for i in range(6):
        contacts.surface[c, i] = 0.0
    for i in range(PROPERTIES):
        contacts.material[c, i] = material[k, i]
    return c


@kernel
def set_frame(contacts, c, x, y, z, reach, nx, ny, nz, tx, ty, tz):
    """Set the point to (x, y, z) − reach·n, and the right-handed frame of the unit normal n and unit tangent t ⟂ n."""
    p, A = contacts.point, contacts.axes
    p[c, 0], p[c, 1], p[c, 2] = x - reach * nx, y - reach * ny, z - reach * nz
    A[c, 0, 0], A[c, 0, 1], A[c, 0, 2] = nx, ny, nz
    A[c, 1, 0], A[c, 1, 1], A[c, 1, 2] = tx, ty, tz
    A[c, 2, 0], A[c, 2, 1], A[c, 2, 2] = cross(nx, ny, nz, tx, ty, tz)


@kernel
def set_curvature(contacts, c, curvature, ax, ay, az):
    C = contacts.curvature
    C[c, 0], C[c, 1], C[c, 2], C[c, 3] = curvature, ax, ay, az


@kernel
def set_motion(kin, contacts, c, wx, wy, wz, link, x, y, z):
    """Set spin and drift of contact c, whose point is p = x + s·n with x a centre fixed to ``link``.

    ``w`` [1/s, world] is ṅ relative to link 1: ṅ = w + ω₁ × n. If the centre is on body 2, s = −radius is constant; on
    body 1, s is the distance to body 2 and changes with the gap: ṗ = ẋ + ṡ·n + s·ṅ. The point and the normal must have
    been set before.
    """
    a, b = contacts.link1[c], contacts.link2[c]
    nx, ny, nz = contacts.axes[c, 0, 0], contacts.axes[c, 0, 1], contacts.axes[c, 0, 2]
    px, py, pz = contacts.point[c, 0], contacts.point[c, 1], contacts.point[c, 2]
    contacts.spin[c, 0], contacts.spin[c, 1], contacts.spin[c, 2] = cross(nx, ny, nz, wx, wy, wz)
    tx, ty, tz = cross(kin.vel[a, 3], kin.vel[a, 4], kin.vel[a, 5], nx, ny, nz)
    s = (px - x) * nx + (py - y) * ny + (pz - z) * nz
    vx, vy, vz = point_velocity(kin, link, x, y, z)
    rate = 0.0
    if link != b:
        v2x, v2y, v2z = point_velocity(kin, b, px, py, pz)
        v1x, v1y, v1z = point_velocity(kin, a, px, py, pz)
        rate = (v2x - v1x) * nx + (v2y - v1y) * ny + (v2z - v1z) * nz
    contacts.drift[c, 0] = vx + rate * nx + s * (wx + tx)
    contacts.drift[c, 1] = vy + rate * ny + s * (wy + ty)
    contacts.drift[c, 2] = vz + rate * nz + s * (wz + tz)


@kernel
def move(kin, contacts, c):
    """Set spin and drift of contact c from the velocities of its links, its radius and its curvature.

    The centre x = p + radius·n is fixed to link 2, or, where ``rolling`` is ON_BOX, to link 1. With u the velocity of
    link 2 relative to link 1 at x, ṅ = ω₁ × n + w with w = C·u; for ON_BOX, where the normal turns with link 2,
    w = (ω₂ − ω₁) × n + C·u. C is that of ``curvature``.
    """
    a, b, r = contacts.link1[c], contacts.link2[c], contacts.radius[c]
    nx, ny, nz = contacts.axes[c, 0, 0], contacts.axes[c, 0, 1], contacts.axes[c, 0, 2]
    x, y, z = contacts.point[c, 0] + r * nx, contacts.point[c, 1] + r * ny, contacts.point[c, 2] + r * nz
    on_box, k, V = contacts.rolling[c] == ON_BOX, contacts.curvature[c, 0], kin.vel
    wx, wy, wz = 0.0, 0.0, 0.0
    if k != 0.0:
        vx, vy, vz = point_velocity(kin, b, x, y, z)
        ux, uy, uz = point_velocity(kin, a, x, y, z)
        ux, uy, uz = vx - ux, vy - uy, vz - uz
        ax, ay, az = contacts.curvature[c, 1], contacts.curvature[c, 2], contacts.curvature[c, 3]
        out, along = ux * nx + uy * ny + uz * nz, ux * ax + uy * ay + uz * az
        wx, wy, wz = (
            k * (ux - out * nx - along * ax),
            k * (uy - out * ny - along * ay),
            k * (uz - out * nz - along * az),
        )
    if on_box:
        tx, ty, tz = cross(V[b, 3] - V[a, 3], V[b, 4] - V[a, 4], V[b, 5] - V[a, 5], nx, ny, nz)
        wx, wy, wz = wx + tx, wy + ty, wz + tz
    set_motion(kin, contacts, c, wx, wy, wz, a if on_box else b, x, y, z)


def tangents(normal: np.ndarray) -> np.ndarray:
    """A right-handed contact frame (3, 3), rows normal, tangent 1, tangent 2, from a unit normal alone."""
    helper = np.eye(3)[np.argmin(np.abs(normal))]
    t1 = np.cross(helper, normal)
    t1 /= np.linalg.norm(t1)
    return np.stack([normal, t1, np.cross(normal, t1)])


NOT_UNIT, NOT_FINITE, BAD_FRICTION = 1, 2, 3
"""Defects of a contact that was written without ``ContactList.add``."""
UNIT = 1e-6
"""Tolerance for the orthonormality of contact axes."""


@kernel
def first_bad(contacts, n):
    """(contact, defect) of the first defective contact among n; (−1, 0) if there is none."""
    for c in range(n):
        A, p = contacts.axes[c], contacts.point[c]
        for i in range(3):
            for j in range(i + 1):
                inner = A[i, 0] * A[j, 0] + A[i, 1] * A[j, 1] + A[i, 2] * A[j, 2]
                if not abs(inner - (1.0 if i == j else 0.0)) <= UNIT:
                    return c, NOT_UNIT
        if not abs(p[0]) + abs(p[1]) + abs(p[2]) + abs(contacts.gap[c]) < np.inf:
            return c, NOT_FINITE
        if not 0.0 <= contacts.material[c, FRICTION] < np.inf:
            return c, BAD_FRICTION
    return -1, 0


class ContactList:
    """The list that a Python collision function fills: ``sim.contacts.add(link1, link2, point, normal, gap)``."""

    def __init__(self, kin: Kinematics, capacity: int = 16) -> None:
        self.arrays = make_contacts(capacity)
        self.kin = kin
        """Poses and velocities of the links, up to date when the collision stage begins."""

    def __len__(self) -> int:
        return int(self.arrays.found[0])

    def clear(self) -> None:
        self.arrays.found[0] = 0

    def grow(self) -> None:
        """Make room for at least as many contacts and loop points as were found."""
        capacity = len(self.arrays.pair)
        self.arrays = grown(self.arrays, max(2 * capacity, int(self.arrays.found.sum())))

    def check(self) -> None:
        """Raise an error for a defective contact that a collision function has written into ``arrays``."""
        c, why = first_bad(self.arrays, len(self))
        if why == NOT_UNIT:
            got = self.arrays.axes[c].tolist()
            raise expected(f"contact {c}", "axes (3, 3) of unit length at right angles", got, "divide by the norm")
        if why == NOT_FINITE:
            got = (self.arrays.point[c].tolist(), float(self.arrays.gap[c]))
            raise expected(f"contact {c}", "a finite point and gap", got)
        if why == BAD_FRICTION:
            got = float(self.arrays.material[c, FRICTION])
            raise expected(f"contact {c}", "a friction coefficient ≥ 0", got)

    def add(
        self,
        link1: int,
        link2: int,
        point,
        normal,
        gap: float,
        *,
        pair: int,
        friction: float = DEFAULT_FRICTION,
        stiffness: float = DEFAULT_STIFFNESS,
        damping: float = DEFAULT_DAMPING,
        restitution: float = 0.0,
        preload: float = 0.0,
        torsion: float = 0.0,
        rolling_friction: float = 0.0,
        adhesion: float = 0.0,
        rolling: bool = False,
        spin=(0.0, 0.0, 0.0),
        drift=None,
        surface=(0.0, 0.0, 0.0),
        tangent_stiffness: float | None = None,
        tangent_damping: float | None = None,
    ) -> None:
        """Append a contact between two links at a point [m, world]; gap [m] < 0 in penetration.

        ``pair`` is a whole number of your choice that identifies the contact from step to step; friction anchors
        are stored by it. ``spin`` [rad/s, world] is the angular velocity of the normal relative to link 1, ``drift``
        [m/s, world] the velocity of the contact point. By default the normal is fixed to link 1 and the point to
        link 2. Methods that predict contact accelerations use them. ``surface`` [m/s, world] is the velocity of link
        2's surface relative to link 1's that is not due to their motion, as of a conveyor belt. Stiffness and damping
        along the surface are those along the normal by default.
        """
        n, p = np.asarray(normal, dtype=float), np.asarray(point, dtype=float)
        if n.shape != (3,) or not abs(np.linalg.norm(n) - 1.0) < 1e-6:
            raise expected("contact normal", "a unit vector (3,)", normal, "divide it by its norm")
        if p.shape != (3,) or not np.all(np.isfinite(p)) or not np.isfinite(gap):
            raise expected("contact point and gap", "finite numbers (3,) and one more", (point, gap))
        links = len(self.kin.pos)
        for link in (link1, link2):
            if not 0 <= link < links:
                raise expected("contact link", f"an index from 0 (world) to {links - 1}", link, "see model.link")
        if link1 == link2:
            raise expected("contact links", "two different links", (link1, link2))
        if not 0 <= pair < MOST_PAIRS:
            raise expected("contact pair", f"a whole number from 0 to {MOST_PAIRS - 1}", pair)
        K_t, B_t = Material(
            friction, stiffness, damping, restitution, preload, torsion, rolling_friction, adhesion=adhesion,
            tangent_stiffness=tangent_stiffness, tangent_damping=tangent_damping,
        ).along  # fmt: skip
        if drift is None:
            velocity, arm = self.kin.vel[link2], p - self.kin.origin[link2]
            drift = velocity[:3] + np.cross(velocity[3:], arm)
        motion = [np.asarray(vector, dtype=float) for vector in (spin, drift, surface)]
        if any(vector.shape != (3,) or not np.all(np.isfinite(vector)) for vector in motion):
            raise expected("contact spin, drift and surface", "finite numbers (3,), world axes", (spin, drift, surface))
        i = len(self)
        if i == len(self.arrays.pair):
            self.grow()
        c = self.arrays
        c.pair[i] = pair
        c.link1[i], c.link2[i] = link1, link2
        c.point[i], c.axes[i], c.gap[i] = p, tangents(n), gap
        c.material[i, : ADHESION + 1] = (
            friction, stiffness, damping, restitution, preload, torsion, rolling_friction, adhesion,
        )  # fmt: skip
        c.material[i, TANGENT_STIFFNESS], c.material[i, TANGENT_DAMPING], c.material[i, BOUNCE] = K_t, B_t, SAID
        c.rolling[i], c.radius[i], c.curvature[i] = rolling, 0.0, 0.0
        c.spin[i], c.drift[i] = motion[:2]
        c.shape1[i] = c.shape2[i] = -1
        c.surface[i, :3], c.surface[i, 3:] = c.axes[i] @ motion[2], 0.0
        c.velocity[i], c.force[i], c.torque[i] = 0.0, 0.0, 0.0
        c.found[0] = i + 1


@kernel
def contact_velocities(kin, contacts):
    """Relative velocity of every contact and loop point, in its frame, with that of moving surfaces."""
    for c in range(entries(contacts)):
        x, y, z = contacts.point[c, 0], contacts.point[c, 1], contacts.point[c, 2]
        ax, ay, az = point_velocity(kin, contacts.link1[c], x, y, z)
        bx, by, bz = point_velocity(kin, contacts.link2[c], x, y, z)
        for i in range(3):
            A = contacts.axes
            u = A[c, i, 0] * (bx - ax) + A[c, i, 1] * (by - ay) + A[c, i, 2] * (bz - az)
            contacts.velocity[c, i] = u + contacts.surface[c, i]
