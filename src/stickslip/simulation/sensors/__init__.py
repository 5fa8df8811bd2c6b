"""Sensors of a scene, computed alike for every method from the state, the accelerations and the contacts.

    positions.py      q and poses: joints, tendons, frames, centres of mass, clock, potential energy
    velocities.py     q and v: joint rates, frame velocities, gyroscopes, momenta, kinetic energy
    forces.py         also q̈ and contact forces: accelerometers, force, torque, touch, actuators, limits
    contact_lists.py  lists of contacts
    rays.py           rangefinders, distances between shapes, taxels

Positions and velocities are those of the present state. q̈ is ``sim.acceleration``, that of the last step, or of the
present state where a method computes it there; before the first step it follows from the forces at hand.
Differs from MuJoCo in: noise, delays and intervals are not simulated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import mujoco
import numpy as np

from stickslip.errors import unknown
from stickslip.model.sensors import NOT_READ, sensor_kind
from stickslip.simulation.sensors.contact_lists import read_contacts
from stickslip.simulation.sensors.forces import FORCES
from stickslip.simulation.sensors.moment import Moment
from stickslip.simulation.sensors.positions import POSITIONS
from stickslip.simulation.sensors.rays import RAYS
from stickslip.simulation.sensors.sensor import Reader, Sensor
from stickslip.simulation.sensors.velocities import VELOCITIES

if TYPE_CHECKING:
    from stickslip.model.model import Model

READERS: dict[str, Reader] = {**POSITIONS, **VELOCITIES, **FORCES, **RAYS, "contact": read_contacts}
"""By MuJoCo's type."""
NEEDS_CONTACTS = frozenset(
    {"touch", "accelerometer", "force", "torque", "framelinacc", "frameangacc", "contact", "jointlimitfrc"}
    | {"tendonlimitfrc"}
)
NO_CUTOFF = frozenset({"geomfromto", "geomnormal", "framequat", "ballquat", "contact"})
"""Types whose values are not clipped."""


class Sensors:
    """The sensors of a model that can be read, by name."""

    def __init__(self, model: Model) -> None:
        mj, self.sensors = model.mj, dict[str, Sensor]()
        for i in range(mj.nsensor):
            kind = sensor_kind(mj, i)
            if kind in NOT_READ:
                continue
            name = mj.sensor(i).name or f"{kind} {i}"
            self.sensors[name] = Sensor(
                name, kind, int(mj.sensor_objtype[i]), int(mj.sensor_objid[i]), int(mj.sensor_reftype[i]),
                int(mj.sensor_refid[i]), float(mj.sensor_cutoff[i]),
                int(mj.sensor_datatype[i]) == int(mujoco.mjtDataType.mjDATATYPE_POSITIVE), int(mj.sensor_dim[i]),
                int(mj.sensor_adr[i]), tuple(int(n) for n in mj.sensor_intprm[i]),
            )  # fmt: skip

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.sensors)

    @property
    def value_names(self) -> tuple[str, ...]:
        """The sensor that each of the values of ``read_all`` belongs to."""
        return tuple(s.name for s in self.sensors.values() for _ in range(s.number))

    def needs_contacts(self, name: str) -> bool:
        """Whether contact forces at the present state are needed, before the sensor is read."""
        return self.check(name).kind in NEEDS_CONTACTS

    def check(self, name: str) -> Sensor:
        if not isinstance(name, str) or name not in self.sensors:
            raise unknown("sensor", name, self.sensors)
        return self.sensors[name]

    def read(self, moment: Moment, name: str) -> np.ndarray:
        """The values of a sensor, within its cutoff."""
        sensor = self.check(name)
        values = np.array(READERS[sensor.kind](sensor, moment), dtype=float).ravel()
        if sensor.cutoff > 0.0 and sensor.kind not in NO_CUTOFF:
            values = np.minimum(values, sensor.cutoff) if sensor.positive else np.clip(
                values, -sensor.cutoff, sensor.cutoff
            )  # fmt: skip
        return values

    def read_all(self, moment: Moment) -> np.ndarray:
        """The values of all sensors, one after another."""
        return np.concatenate([np.zeros(0), *(self.read(moment, name) for name in self.sensors)])
