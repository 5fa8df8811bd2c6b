"""Restitution of spring-damper contacts: the damping with which a contact bounces by a wanted e.

A mass m on a spring K and a damper B = 2·ζ·√(K·m) that push and never pull, f = max(0, −K·gap − B·v), leaves where the
force is zero, before the gap is: the force is m·v̇, so that it leaves with the extreme of its velocity. Without other
forces,

    e(ζ) = exp(−2·ζ·a(ζ)),    a = arccos(ζ)/√(1 − ζ²) below ζ = 1, arcosh(ζ)/√(ζ² − 1) above, 1 there,

which falls from 1 at ζ = 0 through 0.135 at ζ = 1 like 1/(4·ζ²). ``damping_ratio`` inverts it.

Where the surfaces of a pair ask for e > 0 and none of them says a damping, B follows from e at the touchdown, and is
kept while the contact lasts. The n contacts of the same two links with nearly the same normal act together; with their
stiffness K = ΣK_i and the Jacobian rows J of their normals,

    1/m = kᵀ·J·M⁻¹·Jᵀ·k/K²,   k = (K_1 … K_n),      B_i = K_i·2·ζ·√(m/K),

the inverse mass that the springs feel: m = 1/W_ii of one contact, and the mass of a block that lands flat on all its
corners. Other contacts of the links, friction and joint dampers are left out, and so e is that of a free impact.
Damping along the surface follows B, unless a surface says it.

Reference: Schwager, Pöschel, "Coefficient of restitution and linear-dashpot model revisited", Granular Matter 9, 2007.
Cost: a factor of M, and one solve for each group of contacts, in scenes that ask for restitution.
"""

from __future__ import annotations

from math import acos, acosh, exp, sqrt

from stickslip._jit import kernel
from stickslip.collision.contacts import BOUNCE, DAMPING, RESTITUTION, STIFFNESS, TANGENT_DAMPING
from stickslip.collision.convex.finish import TOUCH
from stickslip.constraints.joint_rows import factor_mass
from stickslip.dynamics.factor import solve_lt
from stickslip.dynamics.jacobian import last_dof, velocity_at
from stickslip.dynamics.kinematics import spatial_inertias
from stickslip.model.shape import ALL_ROUND, SAID

ALIKE = 0.9
"""Cosine of the angle up to which normals count as the same."""
NEAR_ONE = 1e-6
"""|1 − ζ| below which a(ζ) is 1 to round-off of its square root."""
HALVINGS = 60
"""Bisections of the interval in which ζ lies."""


@kernel
def restitution_of(zeta):
    """e of a spring and damper of this damping ratio."""
    if abs(1.0 - zeta) < NEAR_ONE:
        angle = 1.0 + (1.0 - zeta) / 3.0
    elif zeta < 1.0:
        angle = acos(zeta) / sqrt(1.0 - zeta * zeta)
    else:
        angle = acosh(zeta) / sqrt(zeta * zeta - 1.0)
    return exp(-2.0 * zeta * angle)


@kernel
def damping_ratio(e):
    """ζ ≥ 0 with which a spring and damper give 0 < e ≤ 1: the inverse of ``restitution_of``."""
    if e >= 1.0:
        return 0.0
    low, high = 0.0, max(1.0, 1.0 / sqrt(e))  # e(ζ) < 1/ζ² beyond ζ = 1
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if restitution_of(middle) > e:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


@kernel
def together(contacts, c, d):
    """Whether contacts c and d join the same links along nearly the same normal."""
    if contacts.link1[c] != contacts.link1[d] or contacts.link2[c] != contacts.link2[d]:
        return False
    A = contacts.axes
    return A[c, 0, 0] * A[d, 0, 0] + A[c, 0, 1] * A[d, 0, 1] + A[c, 0, 2] * A[d, 0, 2] > ALIKE


@kernel
def add_normal_row(support, kin, contacts, c, link, scale, row):
    """row (nv,) += scale·(velocity along the normal of contact c of its point on a link, per unit of v)."""
    O, A, p = kin.origin, contacts.axes, contacts.point
    x, y, z = p[c, 0] - O[link, 0], p[c, 1] - O[link, 1], p[c, 2] - O[link, 2]
    d = last_dof(support, link)
    while d >= 0:
        vx, vy, vz = velocity_at(kin.S, d, x, y, z)
        row[d] += scale * (vx * A[c, 0, 0] + vy * A[c, 0, 1] + vz * A[c, 0, 2])
        d = support.dof_parent[d]


@kernel(inline=False)
def chosen_ratio(support, L, kin, contacts, c, row):
    """B/K [s] of the group of contact c; ``row`` (nv,) is scratch."""
    total = 0.0
    for d in range(row.shape[0]):
        row[d] = 0.0
    for d in range(contacts.found[0]):
        if d == c or (contacts.material[d, BOUNCE] != SAID and contacts.gap[d] < TOUCH and together(contacts, c, d)):
            K = contacts.material[d, STIFFNESS]
            total += K
            add_normal_row(support, kin, contacts, d, contacts.link2[d], K, row)
            if contacts.link1[d] != 0:
                add_normal_row(support, kin, contacts, d, contacts.link1[d], -K, row)
    solve_lt(support, L, row)
    square = 0.0  # kᵀ·J·M⁻¹·Jᵀ·k
    for d in range(row.shape[0]):
        square += row[d] * row[d] / L[support.start[d]]
    if not square > 0.0:  # nothing moves
        return 0.0
    return 2.0 * damping_ratio(contacts.material[c, RESTITUTION]) * sqrt(total / square)


@kernel
def set_damping(contacts, c, ratio):
    B = ratio * contacts.material[c, STIFFNESS]
    contacts.material[c, DAMPING] = B
    if contacts.material[c, BOUNCE] == ALL_ROUND:
        contacts.material[c, TANGENT_DAMPING] = B


@kernel(deferred=True)
def choose_damping(tree, support, inertia, fluid, rows, kin, contacts):
    """Write the damping of all contacts whose restitution chooses it, as if they touched down now."""
    factored = False
    for c in range(contacts.found[0]):
        if contacts.material[c, BOUNCE] == SAID:
            continue
        if not factored:
            spatial_inertias(inertia, kin)
            factor_mass(tree, support, inertia, inertia.armature, fluid, 0.0, kin, rows)
            factored = True
        set_damping(contacts, c, chosen_ratio(support, rows.mass.L, kin, contacts, c, rows.change))


@kernel
def keep_damping(contacts, anchors, c, k):
    """Keep in place k what the restitution of the new contact c has chosen."""
    chosen = contacts.material[c, BOUNCE] != SAID
    anchors.ratio[k] = contacts.material[c, DAMPING] / contacts.material[c, STIFFNESS] if chosen else 0.0


@kernel
def recall_damping(contacts, anchors, c, k):
    """Give the lasting contact c the damping that its restitution chose at its touchdown."""
    if contacts.material[c, BOUNCE] != SAID:
        set_damping(contacts, c, anchors.ratio[k])
