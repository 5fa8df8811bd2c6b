"""The natural map of one contact with a circular cone, compiled: zero at solutions, and what solvers stop by.

It is p − Π(p − u). By Coulomb's law Π projects p_n onto p_n ≥ 0 and then p_t onto the disk of radius μ·p_n; in the
relaxed problem it projects p onto the cone K = {|p_t| ≤ μ·p_n}.
"""

from __future__ import annotations

from stickslip._jit import kernel
from stickslip.math.cone_projection import project_cone


@kernel
def coulomb_natural(p0, p1, p2, u0, u1, u2, mu):
    """Largest entry of Coulomb's natural map."""
    t1, t2 = p1 - u1, p2 - u2
    radius = mu * max(0.0, p0)
    length = (t1 * t1 + t2 * t2) ** 0.5
    shrink = radius / length if length > radius else 1.0
    return max(abs(p0 - max(0.0, p0 - u0)), abs(p1 - shrink * t1), abs(p2 - shrink * t2))


@kernel
def relaxed_natural(p0, p1, p2, u0, u1, u2, mu):
    """Largest entry of the relaxed problem's natural map."""
    q0, q1, q2 = project_cone(p0 - u0, p1 - u1, p2 - u2, mu)
    return max(abs(p0 - q0), abs(p1 - q1), abs(p2 - q2))
