"""One robot model of ``bench robots``: loaded, simulated by our methods and by MuJoCo, in a process of its own.

Everything is measured in rounds: each method and each peer simulates the whole time from the start state, in one call,
and then the next one does. The scene's controls are those of the keyframe ``home`` if the file's actuators were all
kept, else zero. A call from Python costs ours some 30 µs, which is a part of the figure (0.1 µs of a step in a run of
250 steps), and MuJoCo's a few.

A method whose whole run would take longer than its share of the time limit is measured over fewer steps.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from multiprocessing.connection import Connection
from pathlib import Path

import mujoco
import numpy as np

from stickslip.errors import StickslipError
from stickslip.lab.report import quiet
from stickslip.model.model import Model
from stickslip.model.scene import Scene
from stickslip.simulation import Simulation

PEERS = ("mj_step, file", "mj_step, scene")
ROUNDS = 15
"""Largest number of rounds."""
FEWEST = 3
"""Rounds that a model gets even if they take long, unless the limit ends them."""
PATIENCE = 5.0
"""[s] after which no further round begins."""


@dataclass(frozen=True)
class Settings:
    """What is simulated, and for how long."""

    methods: tuple[str, ...]
    seconds: float = 0.5
    """[s] of simulated time."""
    dt: float = 2e-3
    """[s]."""
    limit: float = 60.0
    """[s] of real time to load a model, and to take its times."""


@dataclass
class Robot:
    """The figures of one model; dictionaries have an entry for each method and peer that was measured."""

    name: str
    path: str
    loaded: bool = False
    complete: bool = False
    doing: str = "before it was loaded"
    """What its process was doing when this was sent."""
    compiling: bool = False
    """Whether it may have been compiling."""
    reason: str = ""
    """Why the figures are incomplete, if they are."""
    links: int = 0
    dofs: int = 0
    meshes: int = 0
    """Number of meshes that can touch something."""
    largest_hull: int = 0
    """Number of vertices."""
    load: float = 0.0
    """[s] to read the file and to compile the scene."""
    wanted_steps: int = 0
    steps: dict[str, int] = field(default_factory=dict)
    first_step: dict[str, float] = field(default_factory=dict)
    """[s] to make the simulation and to take its first step; kernels come from the cache or are compiled."""
    times: dict[str, float] = field(default_factory=dict)
    """Median µs per step."""
    contacts: dict[str, int] = field(default_factory=dict)
    """Number of contacts at the end; ours include those that are near but do not touch."""
    kinetic: dict[str, float] = field(default_factory=dict)
    """Kinetic energy at the end [J]."""
    failures: dict[str, str] = field(default_factory=dict)
    """Why a method or a peer has no figure, or a figure that means nothing."""

    def ratio(self, method: str) -> float:
        """Time per step over that of the faster peer; infinite if the method or both peers failed."""
        peers = [self.times[peer] for peer in PEERS if peer in self.times]
        if not peers or method not in self.times or method in self.failures:
            return inf
        return self.times[method] / min(peers)

    def count(self, who: str) -> str:
        return f"{self.contacts[who]}" if who in self.contacts else ""


def name_of(path: Path) -> str:
    """Folder and name of a file, since many robots are called ``robot.xml``."""
    return "/".join((*path.absolute().parent.parts[-1:], path.stem))


class Ours:
    """The run of one method."""

    def __init__(self, model: Model, method: str, dt: float, control: np.ndarray) -> None:
        self.sim = Simulation(model, method=method, dt=dt)
        self.sim.set_control(control)
        self.start = self.sim.snapshot()
        self.sim.step(1)

    def restart(self) -> None:
        self.sim.restore(self.start)

    def advance(self, steps: int) -> None:
        self.sim.step(steps)

    def contacts(self) -> int:
        self.sim.observe()
        return len(self.sim.contacts)

    def state(self) -> tuple[np.ndarray, np.ndarray]:
        return self.sim.state.q, self.sim.state.v


class Peer:
    """The run of MuJoCo."""

    def __init__(self, mj: mujoco.MjModel, q: np.ndarray, dt: float, control: np.ndarray) -> None:
        self.mj, self.data, self.q, self.control = mj, mujoco.MjData(mj), q, control
        mj.opt.timestep = dt

    def restart(self) -> None:
        mujoco.mj_resetData(self.mj, self.data)
        self.data.qpos[:] = self.q
        if len(self.control) == self.mj.nu:
            self.data.ctrl[:] = self.control

    def advance(self, steps: int) -> None:
        mujoco.mj_step(self.mj, self.data, steps)

    def contacts(self) -> int:
        return int(self.data.ncon)

    def state(self) -> tuple[np.ndarray, np.ndarray]:
        return self.data.qpos, self.data.qvel


def file_model(path: Path) -> mujoco.MjModel:
    """The file as MuJoCo itself reads it."""
    return mujoco.MjModel.from_xml_path(str(path))


def home_of(mj: mujoco.MjModel) -> int:
    """Index of the keyframe ``home``, or of the first one, or −1; as ``Scene.from_file`` chooses."""
    key = mujoco.mj_name2id(mj, mujoco.mjtObj.mjOBJ_KEY, "home")
    return key if key >= 0 or mj.nkey == 0 else 0


class Measurement:
    """Measures one model and hands each new state of the figures to ``send``."""

    def __init__(self, path: Path, settings: Settings, send: Callable[[Robot], None]) -> None:
        self.path, self.settings, self.send = path, settings, send
        self.robot = Robot(name_of(path), str(path), wanted_steps=max(1, round(settings.seconds / settings.dt)))
        self.runs: dict[str, Ours | Peer] = {}

    def begin(self, doing: str, compiling: bool = False) -> None:
        self.robot.doing, self.robot.compiling = f"while {doing}", compiling
        self.send(self.robot)

    def run(self) -> None:
        try:
            self.load()
            self.make_runs()
            self.take_times()
        except StickslipError as error:
            self.robot.reason = str(error).splitlines()[0]
        self.robot.complete = True
        self.send(self.robot)

    def load(self) -> None:
        robot = self.robot
        self.begin("loading")
        start = time.perf_counter()
        self.model = Scene.from_file(self.path, ignore="all").compile()
        robot.load = time.perf_counter() - start
        meshes = [s for s in self.model.shapes if s.vertices is not None and s.solid]
        robot.links, robot.dofs, robot.meshes = self.model.nlink - 1, self.model.nv, len(meshes)
        robot.largest_hull = max((len(s.vertices) for s in meshes if s.vertices is not None), default=0)
        robot.loaded = True

    def make_runs(self) -> None:
        """The runs that can begin, each with its first step taken."""
        settings, model, q = self.settings, self.model, self.model.state().q
        control = np.zeros(model.nu)
        try:
            file = file_model(self.path)
        except ValueError as error:
            self.robot.failures[PEERS[0]] = "MuJoCo does not read the file alone: " + " ".join(str(error).split())
        else:
            key = home_of(file)
            if key >= 0 and file.nu == model.nu:
                control = file.key_ctrl[key].copy()
            self.runs[PEERS[0]] = Peer(file, file.key_qpos[key] if key >= 0 else file.qpos0, settings.dt, control)
        self.runs[PEERS[1]] = Peer(model.mj, q, settings.dt, control)
        for method in settings.methods:
            self.begin(f"taking the first step of {method}", compiling=True)
            start = time.perf_counter()
            try:
                self.runs[method] = Ours(model, method, settings.dt, control)
            except StickslipError as error:
                self.robot.failures[method] = str(error).splitlines()[0]
            self.robot.first_step[method] = time.perf_counter() - start

    def take_times(self) -> None:
        """Median times; the first, slower run of each only says how many steps fit into the limit."""
        robot = self.robot
        for who in list(self.runs):
            self.begin(f"running {who}")
            robot.steps[who] = self.fitting_steps(who)
        samples: dict[str, list[float]] = {who: [] for who in self.runs}
        begin = time.perf_counter()
        for done in range(ROUNDS):
            if done >= FEWEST and time.perf_counter() - begin > PATIENCE:
                break
            for who in list(self.runs):
                if who in self.runs:
                    samples[who].append(self.seconds(who))
                    robot.times[who] = 1e6 * statistics.median(samples[who]) / robot.steps[who]
            self.begin(f"taking times in round {done + 1}")
        for who, work in self.runs.items():
            self.check_end(who, work)

    def fitting_steps(self, who: str) -> int:
        """Number of steps that a method's share of the limit allows."""
        share = self.settings.limit / (len(self.runs) * (FEWEST + 1))
        work, steps, begin = self.runs[who], 0, time.perf_counter()
        work.restart()
        while steps < self.robot.wanted_steps and (steps == 0 or time.perf_counter() - begin < share):
            more = min(10, self.robot.wanted_steps - steps)
            if not self.advance(who, more):
                return 1
            steps += more
        return steps

    def seconds(self, who: str) -> float:
        work = self.runs[who]
        work.restart()
        begin = time.perf_counter()
        self.advance(who, self.robot.steps[who])
        return time.perf_counter() - begin

    def advance(self, who: str, steps: int) -> bool:
        """Whether the steps were taken; a method that fails has no further run."""
        try:
            self.runs[who].advance(steps)
        except StickslipError as error:
            self.robot.failures[who] = str(error).splitlines()[0]
            del self.runs[who]
            return False
        return True

    def check_end(self, who: str, work: Ours | Peer) -> None:
        """Contacts and kinetic energy at the end; a result that is not finite is a failure."""
        q, v = work.state()
        self.robot.contacts[who] = work.contacts()
        if not (np.isfinite(q).all() and np.isfinite(v).all()):
            self.robot.failures[who] = "the final state is not finite"
        elif len(q) == self.model.nq and len(v) == self.model.nv:
            scratch = mujoco.MjData(self.model.mj)
            scratch.qpos[:], scratch.qvel[:] = q, v
            mujoco.mj_fwdPosition(self.model.mj, scratch)
            mujoco.mj_energyVel(self.model.mj, scratch)
            self.robot.kinetic[who] = float(scratch.energy[1])


def run_model(path: Path, settings: Settings, sender: Connection) -> None:
    """The main function of a model's process."""
    with quiet():
        Measurement(path, settings, sender.send).run()
    sender.close()
