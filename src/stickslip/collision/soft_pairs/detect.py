"""All contacts of a state, for every kind of shape that the spring-damper methods know."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.contacts import Contacts, make_contacts
from stickslip.collision.soft_pairs.box import box_sphere
from stickslip.collision.soft_pairs.pairs import Pairs, total
from stickslip.collision.soft_pairs.plane import plane_sphere
from stickslip.collision.soft_pairs.sphere import sphere_sphere


@kernel
def find_contacts(pairs: Pairs, kin, margin, contacts: Contacts):
    """Find every candidate whose gap is below ``margin`` [m]; contacts beyond the capacity are only counted. Pair ids
    run through the planes, then the boxes, then the spheres."""
    contacts.found[0] = 0
    boxes = pairs.planes.link1.shape[0]
    spheres = boxes + pairs.boxes.box_link.shape[0]
    plane_sphere(pairs.planes, kin, margin, contacts, 0)
    box_sphere(pairs.boxes, kin, margin, contacts, boxes)
    sphere_sphere(pairs.spheres, kin, margin, contacts, spheres)


class Loads(NamedTuple):
    """Points at which contacts could act on links, one entry per moving link of a candidate pair."""

    link1: np.ndarray
    """(n,) the world."""
    link2: np.ndarray
    """(n,) the loaded link."""
    point: np.ndarray
    """(n, 3) its point nearest to the other shape now [m, world]."""
    material: np.ndarray
    """(n, 5) friction, stiffness, damping, restitution, preload of the pair."""
    share: np.ndarray
    """(n,) weight: the fraction of such contacts that can act at once, doubled if both links move."""


def loads(pairs: Pairs, kin) -> Loads:
    """The loads of all candidates together, for an estimate of how stiff the system can become.

    A pair of moving links counts once for each of them, at twice its weight and at the link's own nearest point: bodies
    that are still apart have no common point, and K·|v₂ − v₁|² ≤ 2K·|v₁|² + 2K·|v₂|².
    """
    n = total(pairs)
    c = make_contacts(n)
    find_contacts(pairs, kin, np.inf, c)
    share = np.concatenate([kind.share for kind in pairs])
    both = np.flatnonzero(c.link1[:n] != 0)
    share[both] *= 2.0
    links = np.concatenate([c.link2[:n], c.link1[both]])
    return Loads(
        link1=np.zeros_like(links),
        link2=links,
        point=np.concatenate([c.point[:n], c.point[both] - c.gap[both, None] * c.axes[both, 0]]),
        material=np.concatenate([c.material[:n], c.material[both]]),
        share=np.concatenate([share, share[both]]),
    )
