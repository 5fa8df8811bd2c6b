"""Time steps that benches measure: ours, and MuJoCo's on the same model."""

from __future__ import annotations

import time
from collections.abc import Callable

import mujoco
import numpy as np

from stickslip.model.scene import Scene
from stickslip.simulation import Simulation

RADIUS = 0.002
"""[m] of the spheres that MuJoCo gets in place of contact points, which it lacks."""


class Steps:
    """Each call returns the seconds per step of one compiled call from the same state, less those of an empty call."""

    def __init__(self, sim: Simulation, steps: int, warm: int = 0) -> None:
        """``warm`` steps are taken before those that are timed."""
        self.sim, self.steps, self.warm, self._start, self.unconverged = sim, steps, warm, sim.snapshot(), 0

    def _call(self, n: int) -> float:
        begin = time.perf_counter()
        self.sim.stepper.advance(self.sim.state, self.sim.inputs, n)
        return time.perf_counter() - begin

    def __call__(self) -> float:
        failed = self.sim.stepper.unconverged
        if self.warm:
            self._call(self.warm)
        nothing = min(self._call(0) for _ in range(3))
        took = self._call(self.steps)
        self.unconverged = self.sim.stepper.unconverged - failed
        self.sim.restore(self._start)
        return (took - nothing) / self.steps

    def iterations(self) -> float:
        """Mean number of the solver's iterations in a time step."""
        total = 0
        for _ in range(self.steps):
            self._call(1)
            total += self.sim.stepper.iterations
        self.sim.restore(self._start)
        return total / self.steps


def with_spheres(scene: Scene, dt: float, solver: int, cone: int, friction: float | None = None) -> mujoco.MjModel:
    """A scene for MuJoCo, with small spheres in place of contact points and a floor that is lower by their radius."""
    spec = mujoco.MjSpec.from_string(scene.to_xml())
    for site in spec.sites:
        if len(site.userdata) and site.userdata[0] == 1.0:
            site.parent.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[RADIUS, 0, 0], pos=site.pos, mass=0.0)
    for geom in spec.geoms:
        if geom.type == mujoco.mjtGeom.mjGEOM_PLANE:
            geom.pos = [0, 0, -RADIUS]
        if friction is not None:
            geom.friction = [friction, 0.0, 0.0]
    spec.option.timestep, spec.option.solver, spec.option.cone = dt, solver, cone
    return spec.compile()


def mujoco_steps(
    model: mujoco.MjModel, q: np.ndarray, v: np.ndarray, steps: int, warm: int,
    control: np.ndarray | None = None, contacts: int | None = None,
) -> Callable[[], float]:  # fmt: skip
    """A function that returns the seconds per ``mj_step`` after ``warm`` untimed ones, and checks the ``contacts``."""
    data = mujoco.MjData(model)

    def work() -> float:
        mujoco.mj_resetData(model, data)
        data.qpos[:], data.qvel[:], data.ctrl[:] = q, v, 0.0 if control is None else control
        mujoco.mj_step(model, data, warm)
        begin = time.perf_counter()
        mujoco.mj_step(model, data, steps)
        took = time.perf_counter() - begin
        if contacts is not None and data.ncon != contacts:
            raise RuntimeError(f"MuJoCo found {data.ncon} contacts instead of {contacts}")
        return took / steps

    return work
