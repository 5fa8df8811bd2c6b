"""Body views: pose, velocity, acceleration, Jacobian and mass of a body by its name, at the present state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from stickslip.attributes import IN_BODY, Closed
from stickslip.errors import expected
from stickslip.math.quaternion import from_matrix
from stickslip.model.body import Vector
from stickslip.simulation.sensors import Moment

if TYPE_CHECKING:
    from stickslip.simulation.simulation import Simulation


def body_name(body: Any) -> str:
    """The name of a body, given by its name or by what ``scene.add_box`` and the like return."""
    name = getattr(body, "name", body)
    if not isinstance(name, str):
        raise expected("body", "a body of the scene or its name", body)
    return name


class BodyView(Closed):
    """A body or site of a simulation: what it does now, in world axes, SI units. Arrays are copies.

    Bodies that are fixed to others or to the world have a view, too. All of a body's motion is that of its origin.
    """

    elsewhere = ("body", IN_BODY)
    fixed: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("pos", "quat", "pose", "rotation"), "set q of its joint, sim.joint(name).q = …"),
        **dict.fromkeys(("velocity", "angular_velocity"), "set v of its joint, sim.joint(name).v = …"),
        **dict.fromkeys(("mass", "center_of_mass"), "call sim.model.set_body(name, mass=…, com=…)"),
        "acceleration": "call sim.push(body, force)",
    }

    def __init__(self, sim: Simulation, name: str) -> None:
        self._sim, self.name = sim, name
        self._frame = sim.model.frame(name)
        self.link: int = sim.model.link(name)
        """Index of the link that carries it; 0 if it is a part of the world."""
        self._complete = True

    def __repr__(self) -> str:
        x, y, z = self.pos
        return f"<body {self.name!r} at ({x:.4g}, {y:.4g}, {z:.4g}) m, t = {self._sim.time:.6g} s>"

    def _place(self) -> tuple[np.ndarray, np.ndarray]:
        return self._sim.dynamics.frame_pose(self._sim.state.q, self.name)

    @property
    def pos(self) -> np.ndarray:
        """(3,) position of the origin [m]."""
        return self._place()[0]

    @property
    def rotation(self) -> np.ndarray:
        """(3, 3) its axes, in columns."""
        return self._place()[1]

    @property
    def quat(self) -> np.ndarray:
        """(4,) unit quaternion (w, x, y, z), with w ≥ 0."""
        quat = np.array(from_matrix(*self.rotation.ravel()))
        return -quat if quat[0] < 0.0 else quat

    @property
    def pose(self) -> np.ndarray:
        """(7,) position [m] and quaternion."""
        return np.concatenate([self.pos, self.quat])

    @property
    def velocity(self) -> np.ndarray:
        """(3,) of the origin [m/s]."""
        return self._motion()[:3]

    @property
    def angular_velocity(self) -> np.ndarray:
        """(3,) [rad/s]."""
        return self._motion()[3:]

    def _motion(self) -> np.ndarray:
        sim = self._sim
        if self.link == 0:
            return sim.outside.velocity(self._body(), self.pos)
        return sim.dynamics.frame_velocity(sim.state.q, sim.state.v, self.name)

    @property
    def acceleration(self) -> np.ndarray:
        """(3,) of the origin [m/s²], gravity included: that of the last step, before the first one that at the
        start."""
        return self._acceleration()[:3]

    @property
    def angular_acceleration(self) -> np.ndarray:
        """(3,) [rad/s²], as ``acceleration``."""
        return self._acceleration()[3:]

    def _acceleration(self) -> np.ndarray:
        sim = self._sim
        return sim.dynamics.frame_acceleration(sim.state.q, sim.state.v, joint_acceleration(sim), self.name)

    def jacobian(self, point: Vector | None = None) -> np.ndarray:
        """(6, nv) velocity of the origin, or of a ``point`` (3,) [m, world] that moves with the body, then angular
        velocity, per joint velocity."""
        sim = self._sim
        J = sim.dynamics.frame_jacobian(sim.state.q, self.name)
        if point is not None:
            J[:3] = sim.dynamics.point_jacobian(sim.state.q, self.name, point)
        return J

    @property
    def mass(self) -> float:
        """[kg], without bodies that are fixed to it; a site has none."""
        return 0.0 if self._site else float(self._sim.model.mj.body_mass[self._frame])

    @property
    def center_of_mass(self) -> np.ndarray:
        """(3,) its centre of mass [m], without those of bodies that are fixed to it; of a site, its place."""
        pos, rotation = self._place()
        return pos if self._site else pos + rotation @ self._sim.model.mj.body_ipos[self._frame]

    @property
    def _site(self) -> bool:
        """Whether it is a site; frames are MuJoCo's bodies, then its sites."""
        return self._frame >= self._sim.model.mj.nbody

    def _body(self) -> int:
        """MuJoCo's body, that of a site if it is one."""
        mj = self._sim.model.mj
        return int(mj.site_bodyid[self._frame - mj.nbody]) if self._site else self._frame


def joint_acceleration(sim: Simulation) -> np.ndarray:
    """(nv,) joint accelerations of the last step; before the first one, those at the start."""
    if sim.steps == 0 or sim.stepper.observes_acceleration:
        with sim.present():
            return Moment(sim).acceleration
    return Moment(sim).acceleration
