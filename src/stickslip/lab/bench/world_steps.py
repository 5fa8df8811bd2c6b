"""Steps of many worlds, for ``bench worlds``: ours, ``mujoco.rollout``'s and MuJoCo Warp's, from the same states.

The robot is Solo12 on its feet, with a position servo in every joint: the force of an actuator is
10·(control − angle) − 0.2·rate, and the control is the joint's angle at home. MuJoCo gets the same robot with these
actuators, and small spheres for feet where we have contact points, which it lacks.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import mujoco
import numpy as np
from mujoco.rollout import Rollout

from stickslip.lab.bench.stepping import with_spheres
from stickslip.model.model import Model
from stickslip.scenes import SCENES
from stickslip.simulation import Simulation
from stickslip.worlds import Worlds

GAIN, BIAS = 10.0, (0.0, -10.0, -0.2)
"""An actuator's force is GAIN·control + BIAS·(1, angle, rate)."""
WARM = 5
"""Steps before those that are timed."""
DT = {"semi-implicit-euler": 1e-4, "expo": 5e-3, "coulomb/pgs": 1e-3, "relaxed/pgs": 1e-3, "variational": 2e-3}
"""[s] Time steps whose throughput is measured; other methods have their default."""
LONGEST = 2000
"""Steps of one call of ``mujoco.rollout``, which keeps the states of all of them."""


@cache
def standing_robot() -> Model:
    """Solo12 on its feet, with servos."""
    model = SCENES["solo12-stand"].build().scene.compile()
    for k in range(model.nu):
        model.set_actuator(model.mj.actuator(k).name, gain=GAIN, bias=BIAS)
    return model


@cache
def peer_robot(dt: float) -> mujoco.MjModel:
    """MuJoCo's model of the standing robot: its own contacts, by the solver and the cone that are its defaults."""
    ours = standing_robot().mj
    peer = with_spheres(SCENES["solo12-stand"].build().scene, dt, ours.opt.solver, ours.opt.cone)
    for name in ("gainprm", "biasprm", "gaintype", "biastype"):
        getattr(peer, f"actuator_{name}")[:] = getattr(ours, f"actuator_{name}")
    return peer


def method_dt(method: str) -> float:
    return DT[method] if method in DT else Simulation(standing_robot(), method).dt


def home_controls() -> np.ndarray:
    """(nu,) the joints' angles at home [rad]."""
    return standing_robot().state().q[7:]


def random_velocities(n: int, spread: float) -> np.ndarray:
    """(n, nv) of standard deviation ``spread`` [m/s, rad/s]; those of a world do not depend on n."""
    return spread * np.random.default_rng(0).standard_normal((n, standing_robot().nv))


def make_worlds(n: int, method: str, dt: float, spread: float, **options: Any) -> Worlds:
    """Worlds whose robots stand, with random velocities."""
    worlds = Worlds(standing_robot(), n, method=method, dt=dt, **options)
    worlds.control[:] = np.tile(home_controls(), (n, 1))
    worlds.set_state(v=random_velocities(n, spread))
    return worlds


@dataclass
class WorldSteps:
    """Each call returns the seconds per step and world of ``steps`` steps in all worlds.

    On the CPU each call begins at the same states. On a GPU the worlds go on from call to call.
    """

    worlds: Worlds
    steps: int
    repeats: int = 1

    def __post_init__(self) -> None:
        self._start = (np.array(self.worlds.q), np.array(self.worlds.v)) if self.worlds.device == "cpu" else None

    def __call__(self) -> float:
        took = 0.0
        for _ in range(self.repeats):
            if self._start is not None:
                self.worlds.set_state(*self._start)
            self.worlds.step(WARM)
            begin = time.perf_counter()
            self.worlds.step(self.steps)
            took += time.perf_counter() - begin
        return took / (self.repeats * self.steps * self.worlds.n)


class Rollouts:
    """MuJoCo's worlds, stepped by ``mujoco.rollout``; each call returns the seconds per step and world."""

    def __init__(self, n: int, dt: float, threads: int, spread: float, steps: int = 1, repeats: int = 1) -> None:
        self.model, self.n, self.steps, self.repeats = peer_robot(dt), n, steps, repeats
        self._pool = Rollout(nthread=threads if threads > 1 else 0)
        self._data = [mujoco.MjData(self.model) for _ in range(threads)]
        model = self.model
        q, v = standing_robot().state().q, random_velocities(n, spread)
        self.start = np.hstack([np.zeros((n, 1)), np.tile(q, (n, 1)), v, np.zeros((n, model.na))])
        self._arrays: dict[int, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}

    def after(self, state: np.ndarray, steps: int) -> np.ndarray:
        """(n, nstate) the states after some steps."""
        while steps:
            now = min(steps, LONGEST)
            state, steps = self._call(state, now)[:, -1].copy(), steps - now
        return state

    def q(self, state: np.ndarray) -> np.ndarray:
        return state[:, 1 : 1 + self.model.nq]

    def _call(self, state: np.ndarray, steps: int) -> np.ndarray:
        """(n, steps, nstate) all states; arrays are made once, so that their pages are not part of the time."""
        if steps not in self._arrays:
            control = np.tile(home_controls(), (self.n, steps, 1))
            states = np.zeros((self.n, steps, self.start.shape[1]))
            self._arrays[steps] = control, states, np.zeros((self.n, steps, self.model.nsensordata))
        control, states, sensors = self._arrays[steps]
        self._pool.rollout(
            [self.model] * self.n, self._data, np.ascontiguousarray(state), control, skip_checks=True, nstep=steps,
            state=states, sensordata=sensors,
        )  # fmt: skip
        return states

    def __call__(self) -> float:
        took = 0.0
        start = self.after(self.start, WARM)
        for _ in range(self.repeats):
            begin = time.perf_counter()
            self._call(start, self.steps)
            took += time.perf_counter() - begin
        return took / (self.repeats * self.steps * self.n)


def has_warp() -> bool:
    return find_spec("mujoco_warp") is not None


class WarpSteps:
    """MuJoCo Warp's worlds (float32), whose step is a CUDA graph; a call returns the seconds per step and world."""

    def __init__(self, n: int, dt: float, spread: float, steps: int) -> None:
        mujoco_warp, warp = import_module("mujoco_warp"), import_module("warp")
        self.n, self.steps, self._warp = n, steps, warp
        model = peer_robot(dt)
        data = mujoco.MjData(model)
        data.qpos[:], data.ctrl[:] = standing_robot().state().q, home_controls()
        mujoco.mj_forward(model, data)
        self._model = mujoco_warp.put_model(model)
        self._data = mujoco_warp.put_data(model, data, nworld=n, nconmax=24, njmax=96)
        self._data.qvel.assign(random_velocities(n, spread).astype(np.float32))
        mujoco_warp.step(self._model, self._data)  # compiles
        with warp.ScopedCapture() as capture:
            mujoco_warp.step(self._model, self._data)
        self._graph = capture.graph
        self._data.qpos.assign(np.tile(data.qpos, (n, 1)).astype(np.float32))
        self._data.qvel.assign(random_velocities(n, spread).astype(np.float32))

    def step(self, steps: int) -> None:
        for _ in range(steps):
            self._warp.capture_launch(self._graph)
        self._warp.synchronize()

    @property
    def q(self) -> np.ndarray:
        return np.asarray(self._data.qpos.numpy(), dtype=float)

    def __call__(self) -> float:
        self.step(WARM)
        begin = time.perf_counter()
        self.step(self.steps)
        return (time.perf_counter() - begin) / (self.steps * self.n)
