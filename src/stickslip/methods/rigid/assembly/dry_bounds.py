"""Bounds of dry friction: f·dt of a joint or tendon, μ·p_n of torsion and rolling at a contact with the impulse p_n.

A problem is solved with the bounds at hand, and again with those that follow from its solution, until they agree.
"""

from __future__ import annotations

from stickslip._jit import kernel

LARGEST_OFFSET = 10.0
"""[m/s or rad/s] Bounds whose offsets are larger are approached from below."""


@kernel
def bound_in_use(most, bound, needed, own):
    """The bound for the next round [N s or N m s]; ``most`` is the true one, ``bound`` that of the last round (0 at
    first), ``needed`` the friction in its solution, and ``own`` the row's W [1/kg].

    The offset of a large bound would hide all other velocities from the tolerance, which is relative to the largest
    offset. A solution that needs less friction than ``bound`` is one with any larger bound, too. So a large bound is
    approached from below, as far as friction is needed.
    """
    first = LARGEST_OFFSET / own
    if most <= first:
        return most
    if bound > 0.0 and needed < 0.5 * bound:
        return min(most, bound)
    return min(most, max(first, 4.0 * needed))
