"""Recovery of spring-damper contacts: a start inside another body is undone at a bounded speed.

A contact that starts deeper than d₀ has a spring that rests at its present gap. Its rest point then moves outwards with
the speed s of ``methods.recovery`` until it reaches the surface, and the damper acts on the velocity relative to it:

    rest(t) = gap(0) + s·t < 0,    f_n = max(0, −K·(gap − rest) − B·(ġap − s)),    d₀ = (s·B + W)/K

A damped contact follows its rest point and leaves with the speed s; without damping it reaches at most 2·s. From the
depth s·B/K a damped spring pushes with at most s by itself. W is the weight of the heavier of the two trees of links
that touch, so that bodies that start where they would rest are left alone. A contact that begins later rests on the
surface, unless another contact of the same two shapes still recovers. Cost: an addition per contact.
"""

from __future__ import annotations

from math import inf

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.contacts import DAMPING, PRELOAD, STIFFNESS
from stickslip.collision.convex.finish import FEATURES
from stickslip.model.model import Model


def tree_weights(model: Model) -> np.ndarray:
    """(nl,) the weight of the tree of links that each link belongs to [N]; zero for the world."""
    g = float(np.linalg.norm(model.inertia.gravity))
    mass = np.bincount(model.tree.root, weights=model.inertia.mass, minlength=model.nlink)
    weight = g * mass[model.tree.root]
    weight[0] = 0.0
    return weight


@kernel
def bearable_depth(contacts, anchors, c):
    """d₀ [m] of contact c: the depth up to which a start is left to the springs."""
    if contacts.material[c, STIFFNESS] == 0.0:
        return inf
    weight = max(anchors.weight[contacts.link1[c]], anchors.weight[contacts.link2[c]])
    return (anchors.speed[0] * contacts.material[c, DAMPING] + weight) / contacts.material[c, STIFFNESS]


@kernel
def bearable_depths(contacts, anchors, depths):
    """``bearable_depth`` of the first contacts, as many as ``depths`` has room for."""
    for c in range(depths.shape[0]):
        depths[c] = bearable_depth(contacts, anchors, c)


@kernel
def starts_deep(contacts, anchors, c):
    """Whether the new contact c is to rest at its present gap: it is deep, and there at the start, or another contact
    of its two shapes recovers."""
    if anchors.speed[0] == 0.0 or -contacts.gap[c] <= bearable_depth(contacts, anchors, c):
        return False
    if anchors.begun[0] == 0:
        return True
    if contacts.pair[c] >= FEATURES:
        for k in range(anchors.pair.shape[0]):
            alike = anchors.pair[k] != 0 and (anchors.pair[k] - 1) // FEATURES == contacts.pair[c] // FEATURES
            if alike and anchors.rest[k] < 0.0:
                return True
    return False


@kernel
def first_rest(contacts, anchors, c):
    """The gap at which the normal spring of the new contact c rests [m]."""
    if starts_deep(contacts, anchors, c):
        return contacts.gap[c]
    return preload_rest(contacts, c) + (contacts.gap[c] if anchors.at_detection[0] != 0 else 0.0)


@kernel
def preload_rest(contacts, c):
    """P/K: how far outside the surface a preloaded spring rests [m]; without a spring there is no preload."""
    K = contacts.material[c, STIFFNESS]
    return contacts.material[c, PRELOAD] / K if K > 0.0 else 0.0


@kernel
def rest_speed(anchors, k):
    """Speed of the rest point in place k [m/s]: s while it recovers, else 0."""
    return anchors.speed[0] if anchors.rest[k] < 0.0 else 0.0


@kernel
def lies_before_rest(contacts, anchors, c, k, dt):
    """Whether contact c takes over the recovery of another one but is deeper than its rest point after dt [s]; then its
    spring rests at the present gap, so that it does not push at once."""
    speed = rest_speed(anchors, k)
    return speed > 0.0 and anchors.pair[k] != contacts.pair[c] + 1 and contacts.gap[c] < anchors.rest[k] + speed * dt


@kernel
def move_rest(contacts, anchors, c, k, dt):
    """Move the rest point of contact c in place k by s·dt if it recovers; the last call was dt [s] ago."""
    speed = rest_speed(anchors, k)
    if speed == 0.0:
        return
    if lies_before_rest(contacts, anchors, c, k, dt):
        anchors.rest[k] = contacts.gap[c]
        return
    anchors.rest[k] += speed * dt
    if anchors.rest[k] >= 0.0:
        anchors.rest[k] = preload_rest(contacts, c)
