"""sim.contacts: the contacts of the last step, by name, and the list that a collision function fills.

What a step leaves in its buffer is shown as it is: forces are those that moved the bodies in the last step. Where no
step has been taken since the state was set, contacts and forces are those at that state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from stickslip.attributes import IN_CONTACT, Closed, Named
from stickslip.collision.contacts import FRICTION, ROLLING, TORSION, ContactList, Contacts
from stickslip.errors import expected, unknown
from stickslip.model.model import Model
from stickslip.model.shape import Shape

if TYPE_CHECKING:
    from stickslip.simulation.simulation import Simulation


@dataclass(frozen=True, eq=False)
class Contact(Named):
    """One contact. Its force acts on the second body, the opposite force on the first; the normal points from the first
    to the second. The world comes first."""

    elsewhere = ("contact", IN_CONTACT)

    bodies: tuple[str, str]
    """Names of the two bodies."""
    geoms: tuple[str, str]
    """Names of the two shapes; empty where a shape has none."""
    links: tuple[int, int]
    """Indices of the links that carry the bodies; 0 is the world."""
    shapes: tuple[Shape | None, Shape | None]
    """The two shapes; None of contacts that a collision function has made for a link without shapes."""
    point: np.ndarray
    """(3,) where the second surface touches [m, world]."""
    frame: np.ndarray
    """(3, 3) rows: normal, tangent 1, tangent 2 [world]."""
    gap: float
    """[m], negative in penetration."""
    frame_force: np.ndarray
    """(3,) the force on the second body along normal, tangent 1 and tangent 2 [N]."""
    frame_torque: np.ndarray
    """(3,) torque of torsional and rolling friction on the second body in the contact frame [N m]."""
    frame_velocity: np.ndarray
    """(3,) velocity of the second surface relative to the first in the contact frame [m/s]."""
    friction: float
    """Coulomb's coefficient of the pair."""
    at: np.ndarray
    """(3,) where the force acts [m, world]: at ``point``, or midway between the surfaces, as the method has it."""

    @property
    def normal(self) -> np.ndarray:
        """(3,) from the first body to the second [world]."""
        return self.frame[0]

    @property
    def force(self) -> np.ndarray:
        """(3,) on the second body [N, world]."""
        return self.frame_force @ self.frame

    @property
    def torque(self) -> np.ndarray:
        """(3,) on the second body, of torsional and rolling friction [N m, world]."""
        return self.frame_torque @ self.frame

    @property
    def velocity(self) -> np.ndarray:
        """(3,) of the second surface relative to the first [m/s, world]."""
        return self.frame_velocity @ self.frame

    @property
    def middle(self) -> np.ndarray:
        """(3,) midway between the surfaces [m, world]."""
        return self.point - 0.5 * self.gap * self.frame[0]

    def __repr__(self) -> str:
        first, second = (geom or body for geom, body in zip(self.geoms, self.bodies, strict=True))
        x, y, z = self.force
        return f"<contact {first}–{second}, gap {self.gap:.3g} m, force ({x:.4g}, {y:.4g}, {z:.4g}) N>"


class ContactSeries(Closed, Sequence[Contact]):
    """Several contacts: a sequence of ``Contact``, whose values are also arrays with a row per contact."""

    elsewhere = ("contacts", IN_CONTACT)

    def __init__(self, model: Model, contacts: Iterable[Contact]) -> None:
        self._model, self._members = model, tuple(contacts)
        self._complete = True

    @property
    def members(self) -> tuple[Contact, ...]:
        return self._members

    def __len__(self) -> int:
        return len(self._members)

    def __iter__(self) -> Iterator[Contact]:
        return iter(self.members)

    @overload
    def __getitem__(self, index: int) -> Contact: ...
    @overload
    def __getitem__(self, index: slice) -> ContactSeries: ...
    def __getitem__(self, index: int | slice) -> Contact | ContactSeries:
        if isinstance(index, str):
            raise expected(
                "contacts", "a number in the brackets", index, f"sim.contacts.between({index!r}) filters by name"
            )
        found = self.members[index]
        return found if isinstance(found, Contact) else ContactSeries(self._model, found)

    def between(self, first: Any, second: Any = None) -> ContactSeries:
        """The contacts between two of the scene's bodies, geoms or robots, by name or as the scene gave them, in either
        order; with one of them, all that touch it. A body is also found by the link that carries it."""
        one, two = self._who(first), None if second is None else self._who(second)
        return ContactSeries(self._model, (c for c in self if self._joins(c, one, two)))

    def force_on(self, body: Any) -> np.ndarray:
        """(3,) the sum of these contacts' forces on a body, geom or robot [N, world]."""
        who, total = self._who(body), np.zeros(3)
        for contact in self:
            first, second = (bool(who & names) for names in self._names(contact))
            total += (float(second) - float(first)) * contact.force
        return total

    def _joins(self, contact: Contact, one: set[str], two: set[str] | None) -> bool:
        first, second = self._names(contact)
        if two is None:
            return bool(one & (first | second))
        return bool((one & first and two & second) or (one & second and two & first))

    def _names(self, contact: Contact) -> tuple[set[str], set[str]]:
        names = self._model.link_names
        one, two = ({contact.bodies[side], contact.geoms[side], names[contact.links[side]]} - {""} for side in range(2))
        return one, two

    def _who(self, given: Any) -> set[str]:
        """The names that mean a body, geom or robot."""
        name = getattr(given, "name", given)
        if not isinstance(name, str):
            raise expected("contacts", "the name of a body, geom or robot, or what the scene returned", given)
        mj = self._model.mj
        bodies = {mj.body(b).name for b in range(mj.nbody)} | set(self._model.link_names)
        geoms = {shape.name for shape in self._model.shapes}
        robots = {robot.name: robot for robot in self._model.robots}
        if name in bodies | geoms:
            return {name}
        if name in robots:
            return self._parts({mj.jnt_bodyid[self._model.joint(joint)] for joint in robots[name].joints})
        raise unknown("body, geom or robot", name, (bodies | geoms | set(robots)) - {""})

    def _parts(self, bodies: set[int]) -> set[str]:
        """The names of some bodies and of all that they carry."""
        mj = self._model.mj
        for b in range(mj.nbody):
            if mj.body_parentid[b] in bodies:
                bodies.add(b)
        return {mj.body(b).name for b in bodies}

    def _rows(self, name: str, *shape: int) -> np.ndarray:
        return np.array([getattr(contact, name) for contact in self], dtype=float).reshape(len(self), *shape)

    @property
    def bodies(self) -> list[tuple[str, str]]:
        """Names of the two bodies of each contact."""
        return [contact.bodies for contact in self]

    @property
    def geoms(self) -> list[tuple[str, str]]:
        """Names of the two shapes of each contact."""
        return [contact.geoms for contact in self]

    @property
    def point(self) -> np.ndarray:
        """(n, 3) where the second surfaces touch [m, world]."""
        return self._rows("point", 3)

    @property
    def normal(self) -> np.ndarray:
        """(n, 3) from the first body to the second [world]."""
        return self._rows("normal", 3)

    @property
    def gap(self) -> np.ndarray:
        """(n,) [m], negative in penetration."""
        return self._rows("gap")

    @property
    def force(self) -> np.ndarray:
        """(n, 3) on the second bodies [N, world]."""
        return self._rows("force", 3)

    @property
    def frame_force(self) -> np.ndarray:
        """(n, 3) on the second bodies along normal, tangent 1 and tangent 2 [N]."""
        return self._rows("frame_force", 3)

    @property
    def velocity(self) -> np.ndarray:
        """(n, 3) of the second surfaces relative to the first [m/s, world]."""
        return self._rows("velocity", 3)

    def __repr__(self) -> str:
        shown = "".join(f"\n  {contact!r}" for contact in self[:5])
        more = f"\n  … {len(self) - 5} more" if len(self) > 5 else ""
        return f"<{len(self)} contact{'' if len(self) == 1 else 's'}{shown}{more}>"


class StepContacts(ContactSeries, ContactList):
    """The contacts of a simulation, whose buffer is its method's; a collision function clears it and adds to it."""

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        self._complete = True

    @property
    def _model(self) -> Model:  # type: ignore[override]
        return self._sim.model

    @property
    def arrays(self):
        """The buffer, with a row per contact and more behind them (``collision.contacts.Contacts``)."""
        return self._sim.stepper.contacts.arrays

    @arrays.setter
    def arrays(self, value) -> None:
        self._sim.stepper.contacts.arrays = value

    @property
    def kin(self):  # type: ignore[override]
        """Poses and velocities of the links, up to date when the collision stage begins."""
        return self._sim.stepper.contacts.kin

    def __len__(self) -> int:
        return len(self._sim.stepper.contacts)

    @property
    def members(self) -> tuple[Contact, ...]:
        """The contacts as they are now; they stay as they are when the simulation goes on."""
        reader = ContactReader(self._sim)
        return tuple(reader.read(k) for k in range(len(self)))


class ContactReader:
    """Reads contacts from a simulation's buffer, with their shapes and names."""

    def __init__(self, sim: Simulation) -> None:
        self.model: Model = sim.model
        self.arrays = sim.stepper.contacts.arrays
        self.midway = sim.stepper.forces_midway
        self.kin = sim.stepper.contacts.kin

    @cached_property
    def solid(self) -> list[Shape]:
        """The shapes that can touch, which the buffer numbers."""
        return [shape for shape in self.model.shapes if shape.solid]

    def read(self, k: int) -> Contact:
        c, m = self.arrays, self.model
        links, frame = (int(c.link1[k]), int(c.link2[k])), c.axes[k].copy()
        middle = c.point[k] - 0.5 * c.gap[k] * frame[0]
        one, two = (
            self._shape(int(number), link, middle)
            for number, link in zip((c.shape1[k], c.shape2[k]), links, strict=True)
        )
        spins = c.material[k, TORSION] > 0.0 or c.material[k, ROLLING] > 0.0
        bodies = [
            m.link_names[i] if s is None else m.mj.body(s.body).name or m.link_names[i]
            for i, s in zip(links, (one, two), strict=True)
        ]
        return Contact(
            bodies=(bodies[0], bodies[1]), geoms=("" if one is None else one.name, "" if two is None else two.name),
            links=links, shapes=(one, two), point=c.point[k].copy(), frame=frame, gap=float(c.gap[k]),
            frame_force=c.force[k].copy(), frame_torque=c.torque[k].copy() if spins else np.zeros(3),
            frame_velocity=c.velocity[k].copy(), friction=float(c.material[k, FRICTION]),
            at=middle if self.midway else c.point[k].copy(),
        )  # fmt: skip

    def _shape(self, number: int, link: int, point: np.ndarray) -> Shape | None:
        """The shape by its number, or, where the buffer has none, the shape of the link nearest to the point."""
        if number <= -2:
            number = -2 - number
        if 0 <= number < len(self.solid):
            return self.solid[number]
        local = self.kin.rot[link].T @ (point - self.kin.pos[link])
        shapes = [s for s in self.solid if s.link == link]
        return min(shapes, key=lambda s: outside(s, s.rot.T @ (local - s.pos)), default=None)


def outside(shape: Shape, p: np.ndarray) -> float:
    """How far a point is from a shape's surface [m], roughly outside of boxes and hulls."""
    if shape.kind in ("sphere", "point"):
        return abs(float(np.linalg.norm(p)) - shape.size[0])
    if shape.kind == "capsule":
        p = p - (0, 0, float(np.clip(p[2], -shape.size[1], shape.size[1])))
        return abs(float(np.linalg.norm(p)) - shape.size[0])
    if shape.kind == "cylinder":
        return abs(float(max(np.hypot(p[0], p[1]) - shape.size[0], abs(p[2]) - shape.size[1])))
    if shape.kind == "plane":
        return abs(float(p[2]))
    half = shape.size if shape.vertices is None else np.abs(shape.vertices).max(axis=0)
    return abs(float((np.abs(p) - half).max()))


def kept(contacts: ContactList) -> Contacts:
    """A copy of what the buffer shows now."""
    arrays = contacts.arrays
    n = min(int(arrays.found.sum()), len(arrays.pair))
    return Contacts(arrays.found.copy(), *(array[:n].copy() for array in arrays[1:]))


def put_back(contacts: ContactList, saved: Contacts) -> None:
    """Show again what was kept."""
    while len(contacts.arrays.pair) < len(saved.pair):
        contacts.grow()
    for array, old in zip(contacts.arrays, saved, strict=True):
        array[: len(old)] = old
