"""Contact sensors: the contacts of a shape, body, subtree or site with another, as a list of fixed length.

Each slot has those of the fields found, force, torque, dist, pos, normal, tangent, linvel and angvel that the sensor
asks for; vectors are in the contact's axes, except pos, normal and tangent. Contacts are turned so that the normal
points from the first object to the second, and forces act on the second. Slots are the first contacts, the deepest
ones, those with the largest forces, or one slot has the sum of all forces, in world axes at their centre.
Differs from MuJoCo in: distances are measured from surfaces inflated by their margins; tangents are the method's own.
"""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np

from stickslip.model.shape import Shape
from stickslip.simulation.contacts import Contact
from stickslip.simulation.sensors.moment import Moment
from stickslip.simulation.sensors.positions import inside_site
from stickslip.simulation.sensors.sensor import OBJ, Sensor

FIELDS = {
    int(kind): name.partition("_")[2].lower()
    for name, kind in mujoco.mjtConDataField.__members__.items()
    if name != "mjNCONDATA"
}
SIZES = {"found": 1, "dist": 1}
FIRST, DEEPEST, STRONGEST, SUM = range(4)
"""MuJoCo's reductions: none, mindist, maxforce, netforce."""


class Slot(NamedTuple):
    """One slot of the list."""

    force: np.ndarray
    torque: np.ndarray
    dist: float
    pos: np.ndarray
    normal: np.ndarray
    tangent: np.ndarray
    linvel: np.ndarray
    angvel: np.ndarray


def _is(m: Moment, kind: int, i: int, shape: Shape | None, t: Contact) -> bool:
    """Whether a side of a contact belongs to an object of a sensor; no object is any."""
    if kind == OBJ.mjOBJ_SITE:
        return inside_site(m, i, t.middle)
    if i < 0:
        return True
    if shape is None:
        return False
    if kind == OBJ.mjOBJ_GEOM:
        return shape is m.model.shapes[i]
    return shape.body in (m.subtree(i) if kind == OBJ.mjOBJ_XBODY else (i,))


def _slot(m: Moment, t: Contact, flipped: bool) -> Slot:
    turn = np.array([1.0, 1.0, -1.0 if flipped else 1.0])  # normal and first tangent are turned round
    axes = -t.frame if flipped else t.frame
    (v1, w1), (v2, w2) = (_velocity(m, link, t.middle) for link in t.links)
    return Slot(
        t.frame_force * turn, t.frame_torque * turn, t.gap, t.middle, axes[0], axes[1], t.frame @ (v2 - v1) * turn,
        t.frame @ (w2 - w1) * turn,
    )  # fmt: skip


def _velocity(m: Moment, link: int, point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if link == 0:
        return np.zeros(3), np.zeros(3)
    v, w = m.kin.vel[link, :3], m.kin.vel[link, 3:]
    return v + np.cross(w, point - m.kin.origin[link]), w


def _sum(slots: list[Slot]) -> Slot:
    """The sum of all forces, at the centre of their sizes, in world axes."""
    axes = [np.array([s.normal, s.tangent, np.cross(s.normal, s.tangent)]) for s in slots]
    forces = [s.force @ R for s, R in zip(slots, axes, strict=True)]
    sizes = np.array([np.linalg.norm(f) for f in forces])
    share = sizes / sizes.sum() if sizes.sum() > 0.0 else np.full(len(slots), 1.0 / len(slots))
    centre = share @ np.array([s.pos for s in slots])
    torque = sum(
        (s.torque @ R + np.cross(s.pos - centre, f) for s, R, f in zip(slots, axes, forces, strict=True)), np.zeros(3)
    )
    none = np.zeros(3)
    return Slot(sum(forces, none), torque, 0.0, centre, np.array([1.0, 0, 0]), np.array([0, 1.0, 0]), none, none)


def read_contacts(s: Sensor, m: Moment) -> np.ndarray:
    """The slots one after another; those without a contact are zero."""
    asked, reduce, count = s.choices[:3]
    slots = []
    for t in m.contacts:
        if t.gap > 0.0 and not t.frame_force.any():
            continue
        sides = ((*t.shapes, False), (*t.shapes[::-1], True))
        for first, second, flipped in sides:
            if _is(m, s.object_type, s.object, first, t) and _is(m, s.reference_type, s.reference, second, t):
                slots.append(_slot(m, t, flipped))
                break
    found = len(slots)
    if reduce == DEEPEST:
        slots.sort(key=lambda slot: slot.dist)
    elif reduce == STRONGEST:
        slots.sort(key=lambda slot: -float(np.linalg.norm(slot.force)))
    elif reduce == SUM and slots:
        slots = [_sum(slots)]
    names = [name for bit, name in FIELDS.items() if asked >> bit & 1]
    values = np.zeros((count, sum(SIZES.get(name, 3) for name in names)))
    for row, slot in zip(values, slots, strict=False):
        row[:] = np.concatenate([np.atleast_1d(found if name == "found" else getattr(slot, name)) for name in names])
    return values.ravel()
