"""Worlds: one scene and one method in many states at once, each as a ``Simulation`` has it.

    worlds = ss.Worlds("solo12-squat", 1000, method="coulomb/pgs", dt=1e-3)
    worlds.control[:] = ...                 # (n, nu)
    worlds.step(10)
    worlds.q                                # (n, nq)

A thread takes the steps of one world after another by the machine code of a simulation's steps, which is told where
the arrays of the world are (``driver``), so that a world's bits are those of a ``Simulation``. What a compiled loop
leaves to Python, such as a buffer of contacts that has to grow, is done by a simulation that is brought to the world's
state.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any, ClassVar

import numpy as np
from numba.core import config as numba_config

from stickslip.attributes import ELSEWHERE, Guarded
from stickslip.errors import DivergedError, InputError, expected, names_keywords, number, reals, whole
from stickslip.files import processors
from stickslip.methods.base import CONTACTS_FULL, OK, Method
from stickslip.methods.names import MethodName
from stickslip.methods.registry import METHODS
from stickslip.model.model import Model
from stickslip.model.scene import Scene
from stickslip.simulation.divergence import describe_divergence
from stickslip.simulation.periods import MOST_STEPS
from stickslip.simulation.setup import Setup
from stickslip.simulation.simulation import Simulation
from stickslip.simulation.snapshot import restore_snapshot
from stickslip.summary import Summarised, Summary, plural
from stickslip.worlds.contacts import WorldContacts
from stickslip.worlds.devices import checked_device, checked_dtype
from stickslip.worlds.driver import Ends, link_poses, loop_address
from stickslip.worlds.lane import Lane, own_arrays, simulation_like
from stickslip.worlds.parameters import Parameters
from stickslip.worlds.snapshot import WorldsSnapshot

_config: Any = numba_config
WITHOUT_COMPILATION = bool(_config.DISABLE_JIT)
CHUNKS = 8
"""Parts into which the worlds are divided for each thread, so that all end at about the same time."""


class Worlds(Summarised, Guarded):
    """``n`` worlds of one scene, by one method with one time step.

    >>> worlds = ss.Worlds("ball", 20, method="coulomb/pgs", dt=1e-3)
    >>> worlds.set_shape("ball", friction=np.linspace(0.2, 1.0, 20))
    >>> worlds.step(100)
    >>> distance = worlds.q[:, 0]

    ``scene``, ``method``, ``dt`` and the options are those of ``Simulation``; controllers and stages in Python have no
    place here: write ``worlds.control`` between calls of ``step``. ``threads`` is the number of threads (default: one
    per processor).

    ``device="cuda"`` takes the steps on an NVIDIA GPU (``pip install stickslip[gpu]``); the first step compiles for
    some minutes, once for a model and method. ``dtype=np.float32`` is single precision there. ``contacts`` is how many
    contacts of a world there is room for at first; more are counted in ``overflows``, and room is made.

    World w has a random generator of its own, ``worlds.rng(w)``, that depends on ``seed`` and w.

    ``q``, ``v``, ``control``, ``applied`` and ``wrench`` are arrays with a row per world that the steps read and write
    in place: NumPy arrays on the CPU, ``DeviceRows`` on a GPU. NumPy, PyTorch, JAX and CuPy take them without a copy
    (``torch.from_dlpack(worlds.q)``).
    """

    elsewhere = ("worlds", ELSEWHERE)
    fixed: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("n", "dt", "method", "variant", "model", "device", "dtype"), "make other Worlds with it"),
        **dict.fromkeys(("q", "v", "control", "applied", "wrench", "act"), "write into it: worlds.q[:] = …"),
        "time": "worlds.reset() goes to t = 0",
    }

    def __init__(
        self,
        scene: Scene | Model | Setup | str | os.PathLike[str],
        n: int,
        method: MethodName | str | type[Method] | None = None,
        dt: float | None = None,
        *,
        device: str = "cpu",
        dtype: Any = np.float64,
        threads: int | None = None,
        contacts: int | None = None,
        seed: int = 0,
        **options: Any,
    ) -> None:
        self.n = whole("n", n, 1)
        self.device, self.dtype = checked_device(device), checked_dtype(dtype, device)
        self.seed = whole("seed", seed, 0)
        if isinstance(scene, Scene):
            scene = scene.compile()
        self._sim = Simulation(scene, method, dt, seed=self.seed, **options)  # type: ignore[arg-type]
        self._sim.controller = None
        self.threads = whole("threads", threads, 1) if threads is not None else processors()
        sim = self._sim
        self._sim.observe()
        self._sim._look_at_start()
        self.model, self.dt, self.method, self.variant = sim.model, sim.dt, sim.method, sim.variant
        self.steps = np.zeros(self.n, dtype=np.int64)
        """(n,) steps that each world has taken since its start."""
        self.diverged = np.zeros(self.n, dtype=bool)
        """(n,) worlds that have stopped, because a step could not be taken; ``reset`` lets them begin anew."""
        self.failures: dict[int, str] = {}
        """Diverged world → what happened."""
        self.overflows = np.zeros(self.n, dtype=np.int64)
        """(n,) how often a world had more contacts than the buffers had room for, which were then made larger."""
        self.by_python = np.zeros(self.n, dtype=np.int64)
        """(n,) steps that the compiled loop left to Python, which are slower."""
        self._unconverged = np.zeros(self.n, dtype=np.int64)
        self._ends = Ends(np.zeros(self.n, np.int64), np.zeros(self.n, np.int64))
        self._lanes: list[Lane] = []
        self._settled = False
        """Whether all lanes have as much room as the rows."""
        self._pool: ThreadPoolExecutor | None = None
        self._parameters = Parameters(self.n, self._like)
        self._rows: dict[str, Any] = {}
        self._gpu = self._make_gpu(contacts)
        self._begin_rows()
        self.contacts = WorldContacts(self.model, self._rows)
        """The contacts of each world's last step, as padded arrays."""
        self._complete = True

    def _summary(self) -> Summary:
        rows = {
            "method": f"{self.method}/{self.variant}, dt = {self.dt:g} s",
            "threads": str(self.threads),
            "steps": f"{self.steps.min()} to {self.steps.max()}",
            "diverged": str(int(self.diverged.sum()) or ""),
            "model": self.model._summary().title.partition(": ")[2],
        }
        return Summary(f"{plural(self.n, 'world')} by {rows['method']}", rows)

    def __len__(self) -> int:
        return self.n

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise InputError(
            "Worlds cannot be copied or pickled, because they hold threads; worlds.snapshot() keeps their states, and "
            "other Worlds of the same scene, method and number take them by restore"
        )

    def _make_gpu(self, contacts: int | None) -> Any:
        """The side of these worlds that lies on a GPU; None on the CPU."""
        room = 2 * len(self._sim.contacts) if contacts is None else whole("contacts", contacts, 1)
        if self.device == "cpu":
            self._fitted = contacts is not None
            if self._fitted:
                self._sim.stepper.fit_room(room)
            return None
        from stickslip.worlds.cuda.worlds import WorldsOnGpu

        self._refuse_gpu()
        self._sim.stepper.fit_room(room if contacts is not None else max(4, room))
        return WorldsOnGpu(self._lane, self.n, self.dtype)

    def _refuse_gpu(self) -> None:
        """Refuse a method or a scene that a GPU cannot take, by name."""
        if self.device == "cpu":
            return
        call, sim = self._call, self._sim
        why = self.why_python or ("its state is kept behind a handle" if call.handles else "")
        if not why and self.dtype == np.float32 and sim.stepper.why_double:
            raise expected(
                "dtype", f"np.float64 for {self.method}/{self.variant}", "np.float32", sim.stepper.why_double
            )
        if not why and (sim.drive.changes or sim.model.mocap_names):
            why = "the scene has activations, delays or mocap bodies, which change between steps"
        if why:
            raise expected("device", f"'cpu' for {self.method}/{self.variant}", "'cuda'", why)

    # -- rows --------------------------------------------------------------------------------------------------

    def _like(self) -> Simulation:
        """Another simulation of the scene as it was compiled, whose model may be changed."""
        return simulation_like(copy.deepcopy(self.model), self._sim, self._kind, self.dt, self._sim.options)

    @property
    def _kind(self) -> Any:
        return type(self._sim.stepper) if self.method not in METHODS else f"{self.method}/{self.variant}"

    def _own(self, sim: Simulation) -> dict[str, np.ndarray]:
        """The arrays that belong to one world, of a simulation."""
        return own_arrays(sim.stepper.compiled_call(sim.state, sim.acting), sim.stepper)

    def _arrays(self, sim: Simulation) -> dict[str, np.ndarray]:
        state, inputs = sim.state, sim.inputs
        rows = {"q": state.q, "v": state.v, "act": state.act, "history": sim.drive.history}
        return {**rows, **inputs._asdict(), **self._own(sim)}

    def _begin_rows(self) -> None:
        """Lay out the rows of all worlds as the simulation has them at its start."""
        self._sim.reset()
        self._sim.stepper.begin_world(self._sim.state)
        for name, array in self._arrays(self._sim).items():
            self._rows[name] = self._repeated(array)
        self._first = {name: row[0].copy() for name, row in self._rows.items()}

    def _repeated(self, row: np.ndarray) -> Any:
        """Rows of all worlds, in the memory of their device, each a copy of ``row``."""
        return np.repeat(row[None], self.n, axis=0) if self._gpu is None else self._gpu.rows(row)

    @property
    def q(self) -> np.ndarray:
        """(n, nq) configurations."""
        return self._rows["q"]

    @property
    def v(self) -> np.ndarray:
        """(n, nv) velocities."""
        return self._rows["v"]

    @property
    def act(self) -> np.ndarray:
        """(n, na) activations of actuators."""
        return self._rows["act"]

    @property
    def control(self) -> np.ndarray:
        """(n, nu) controls, which hold until they are written again."""
        return self._rows["control"]

    @property
    def applied(self) -> np.ndarray:
        """(n, nv) joint forces from outside [N or N m]."""
        return self._rows["applied"]

    @property
    def wrench(self) -> np.ndarray:
        """(n, nlink, 6) force [N] and torque [N m] on each link from outside, world axes, at the link's origin."""
        return self._rows["wrench"]

    @property
    def time(self) -> np.ndarray:
        """(n,) [s]."""
        return self.steps * self.dt

    @property
    def bytes_per_world(self) -> int:
        """Memory that each world has for itself: state, inputs, contacts and what the method remembers."""
        return sum(int(row.size) * row.dtype.itemsize for row in self._rows.values()) // self.n

    @property
    def scratch_bytes(self) -> int:
        """Memory that a GPU's thread works in while it steps a world, known after the first step; 0 on the CPU, where
        worlds share that of a thread."""
        return 0 if self._gpu is None else self._gpu.scratch_bytes

    @property
    def unconverged(self) -> np.ndarray:
        """(n,) steps so far whose solver did not reach its tolerance."""
        call = self._call
        if call is None or call.unconverged is None:
            return self._unconverged.copy()
        name, place = call.unconverged
        return self._unconverged + self._rows[name][:, place].astype(np.int64)

    @property
    def _call(self) -> Any:
        """The compiled loop; None where Python takes the steps, as without compilation."""
        return None if WITHOUT_COMPILATION else self._sim.stepper.compiled_call(self._sim.state, self._sim.acting)

    @property
    def why_python(self) -> str:
        """Why Python takes all steps, one world after another, which is slow; empty if a compiled loop takes them."""
        return (
            "" if self._call is not None else self._sim.stepper.why_stages() or "a part of the method is not compiled"
        )

    def rng(self, world: int) -> np.random.Generator:
        """A new random generator for a world, the same for the same ``seed`` and world."""
        return np.random.default_rng([self.seed, self._index(world)])

    def _index(self, world: int) -> int:
        w = whole("world", world, -self.n, self.n - 1)
        return w % self.n

    def _chosen(self, worlds: Any) -> np.ndarray:
        """Numbers of worlds, from a mask (n,), numbers, or None for all."""
        if worlds is None:
            return np.arange(self.n)
        array = np.atleast_1d(np.asarray(worlds))
        if array.dtype == bool:
            if array.shape != (self.n,):
                raise expected("worlds", f"a mask of shape ({self.n},)", array.shape)
            return np.flatnonzero(array)
        if not (array.dtype.kind in "iu" and array.ndim == 1) or (
            array.size and not (-self.n <= array.min() and array.max() < self.n)
        ):
            raise expected("worlds", f"a mask of shape ({self.n},), or numbers from 0 to {self.n - 1}", worlds)
        return array % self.n

    # -- parameters --------------------------------------------------------------------------------------------

    def _set(self, setter: str, name: str, values: Mapping[str, Any], worlds: Any) -> None:
        self._parameters.set(setter, name, values, self._chosen(worlds), None)

    @names_keywords
    def set_shape(
        self, name: str, *, friction=None, stiffness=None, damping=None, restitution=None, torsion=None, rolling=None,
        worlds=None,
    ) -> None:  # fmt: skip
        """Set properties of a shape's surface, or of all shapes of a body, to one number or to an array (n,) with a
        number per world; see ``Model.set_shape``."""
        self._set("set_shape", name, {
            "friction": friction, "stiffness": stiffness, "damping": damping, "restitution": restitution,
            "torsion": torsion, "rolling": rolling,
        }, worlds)  # fmt: skip

    @names_keywords
    def set_body(self, name: str, *, mass=None, com=None, inertia=None, worlds=None) -> None:
        """Set the mass (n,) [kg], the centre of mass (n, 3) [m] or the inertia (n, 6) [kg m²] of a body; see
        ``Model.set_body``."""
        self._set("set_body", name, {"mass": mass, "com": com, "inertia": inertia}, worlds)

    @names_keywords
    def set_joint(self, name: str, *, damping=None, stiffness=None, friction=None, armature=None, worlds=None) -> None:
        """Set damping, stiffness, dry friction or armature (n,) of a joint; see ``Model.set_joint``."""
        values = {"damping": damping, "stiffness": stiffness, "friction": friction, "armature": armature}
        self._set("set_joint", name, values, worlds)

    @names_keywords
    def set_actuator(self, name: str, *, kp=None, kv=None, gain=None, gear=None, worlds=None) -> None:
        """Set the gains (n,) of an actuator; see ``Model.set_actuator``."""
        self._set("set_actuator", name, {"kp": kp, "kv": kv, "gain": gain, "gear": gear}, worlds)

    @names_keywords
    def set_gravity(self, gravity, *, worlds=None) -> None:
        """Set gravity (3,), or (n, 3) with a row per world [m/s²]."""
        self._set("set_gravity", "", {"gravity": gravity}, worlds)

    # -- states ------------------------------------------------------------------------------------------------

    @names_keywords
    def reset(self, worlds=None, *, keyframe: str = "home") -> None:
        """Let worlds, a mask (n,) or numbers (default: all), begin anew at a keyframe at t = 0: configuration,
        velocity, activations and controls; applied forces and contact memory are cleared. Parameters stay."""
        chosen = self._chosen(worlds)
        if keyframe == "home":
            first = self._first
        else:
            self._sim.reset(keyframe)
            self._sim.stepper.begin_world(self._sim.state)
            first = {name: array.copy() for name, array in self._arrays(self._sim).items()}
            self._sim.reset()
        counts = () if self._call is None else self._call.counts
        for name, row in self._rows.items():
            if name not in counts:
                row[chosen] = fitted(first[name], row.shape[1:])
        self.steps[chosen] = 0
        self._revive(chosen)

    def _revive(self, chosen: np.ndarray) -> None:
        self.diverged[chosen] = False
        for w in list(self.failures):
            if not self.diverged[w]:
                del self.failures[w]

    @names_keywords
    def set_state(self, q=None, v=None, act=None, *, worlds=None) -> None:
        """Start worlds, a mask (n,) or numbers (default: all), from other configurations (nw, nq), velocities (nw, nv)
        or activations (nw, na), or one for all; contact memory and delayed controls are cleared."""
        chosen, m = self._chosen(worlds), self.model
        for name, value, size in (("q", q, m.nq), ("v", v, m.nv), ("act", act, m.na)):
            if value is None:
                continue
            array = reals(name, value, f"numbers of shape ({len(chosen)}, {size})")
            if array.shape not in ((size,), (len(chosen), size)):
                raise expected(name, f"shape ({size},) or ({len(chosen)}, {size})", array.shape)
            array = np.broadcast_to(array, (len(chosen), size)).copy()
            if not np.isfinite(array).all():
                raise expected(name, "finite numbers", "some that are not")
            for _, first in m.quaternions() if name == "q" else ():
                norms = np.linalg.norm(array[:, first : first + 4], axis=1)
                if np.any(norms == 0.0):
                    raise expected("q", "quaternions that are not zero", "a quaternion of zeros")
                uneven = norms != 1.0
                array[uneven, first : first + 4] /= norms[uneven, None]
            self._rows[name][chosen] = array
        for name in (*self._sim.stepper.memory(), "history"):
            self._rows[name][chosen] = 0
        self._revive(chosen)

    def snapshot(self) -> WorldsSnapshot:
        """A copy of all that the future of the worlds depends on, but for their parameters."""
        rows = {name: row.copy() for name, row in self._rows.items()}
        return WorldsSnapshot(rows, self.steps.copy(), self.diverged.copy(), self._made_by)

    @property
    def _made_by(self) -> tuple[Any, ...]:
        return self.method, self.variant, self.dt, self.n, self.model.fingerprint

    @names_keywords
    def restore(self, snapshot: WorldsSnapshot, *, worlds=None) -> None:
        """Go back to a snapshot, in all worlds or in some."""
        if not isinstance(snapshot, WorldsSnapshot):
            raise expected("snapshot", "what worlds.snapshot() returned", snapshot)
        if snapshot.made_by != self._made_by:
            raise expected("snapshot", "one of Worlds of the same scene, method, dt and number", snapshot.made_by[:4])
        chosen = self._chosen(worlds)
        for name, row in self._rows.items():
            row[chosen] = fitted_rows(np.asarray(snapshot.rows[name][chosen]), row.shape[1:])
        self.steps[chosen] = snapshot.steps[chosen]
        self._revive(chosen)
        self.diverged[chosen] = snapshot.diverged[chosen]

    # -- one world ---------------------------------------------------------------------------------------------

    def _load(self, w: int) -> Simulation:
        """The simulation with the parameters of world w, brought to its state."""
        variant = int(self._parameters.variant_of[w])
        sim = self._parameters.simulation(variant) if variant or self._parameters.version else self._sim
        rows, state = self._rows, sim.state
        state.q[:], state.v[:], state.act[:] = rows["q"][w], rows["v"][w], rows["act"][w]
        for name, array in sim.inputs._asdict().items():
            array[:] = rows[name][w]
        if sim.drive.history.size:
            sim.drive.history[:] = rows["history"][w]
        sim.steps, state.time = int(self.steps[w]), float(self.steps[w] * self.dt)
        sim.stepper.remember({name: rows[name][w] for name in sim.stepper.memory()})
        return sim

    def _store(self, w: int, sim: Simulation) -> None:
        """Take over the state of a simulation as that of world w."""
        counts = () if self._call is None else self._call.counts
        arrays = self._arrays(sim)
        self._fit(arrays)
        for name, array in arrays.items():
            if name not in counts:
                self._rows[name][w] = fitted(array, self._rows[name].shape[1:])

    def _fit(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Make the rows at least as long as these arrays, and let the lanes have room for as much."""
        short = [name for name, array in arrays.items() if any(np.greater(array.shape, self._rows[name].shape[1:]))]
        if not short:
            return
        self._settled = False
        for name in short:
            shape = np.maximum(arrays[name].shape, self._rows[name].shape[1:])
            old, self._rows[name] = self._rows[name], self._repeated(np.zeros(shape, dtype=arrays[name].dtype))
            self._rows[name][:] = fitted_rows(np.asarray(old), tuple(shape))
            self._first[name] = fitted(self._first[name], tuple(shape))
        self.contacts._take(self._rows)

    @names_keywords
    def simulation(self, world: int) -> Simulation:
        """A new ``Simulation`` of one world, with its parameters, at its state, for a closer look: recordings,
        pictures, sensors, the next steps one by one. What happens in it does not change the world."""
        w = self._index(world)
        variant = int(self._parameters.variant_of[w])
        sim = self._like()
        if variant:
            self._parameters.apply(sim, variant)
        loaded = self._load(w)
        loaded.set_step_contacts(None)
        snapshot = loaded.snapshot()
        restore_snapshot(sim, snapshot, changed=True)
        return sim

    def sensor(self, name: str) -> np.ndarray:
        """(n, …) the values of a sensor of the scene's files in each world now, one after another in Python."""
        found = np.stack([self._sensor(w, name) for w in range(self.n)])
        self._load(0)
        return found

    def _sensor(self, w: int, name: str) -> np.ndarray:
        sim = self._load(w)
        sim.set_step_contacts(None)
        return np.atleast_1d(sim.sensor(name))

    def link_poses(self) -> tuple[np.ndarray, np.ndarray]:
        """Positions (n, nlink, 3) [m] and rotations (n, nlink, 3, 3) of all links now, world axes; the columns of a
        rotation are the link's axes."""
        pos, rot = np.zeros((self.n, self.model.nlink, 3)), np.zeros((self.n, self.model.nlink, 3, 3))
        kin = self._sim.dynamics.data.kin
        link_poses(self.model.tree, kin, np.asarray(self.q), np.arange(self.n), pos, rot)
        return pos, rot

    # -- stepping ----------------------------------------------------------------------------------------------

    def step(self, n: int = 1, *, worlds=None) -> None:
        """Take n steps in worlds, a mask (n,) or numbers (default: all), those left out that have diverged."""
        n = whole("n", number("n", n, "a whole number of steps ≥ 0", least=0.0), 0, MOST_STEPS)
        self._check_numbers()
        chosen = np.unique(self._chosen(worlds))
        active = chosen[~self.diverged[chosen]]
        if not len(active) or n == 0:
            return
        if self._call is None:
            self._refuse_gpu()
            for w in active:
                self._step_by_python(int(w), n)
            return
        self._begin_worlds(active)
        self._ends.done[:] = self._ends.reason[:] = 0
        self._advance(active, n)
        self.steps += self._ends.done
        for w in active[self._ends.done[active] < n]:
            self._step_by_python(int(w), n - int(self._ends.done[w]))

    def _check_numbers(self) -> None:
        """Refuse numbers that are not finite, by name and world."""
        if self._gpu is not None:  # there such a world ends as diverged
            return
        for name in ("q", "v", "act", "control", "applied", "wrench"):
            row = self._rows[name]
            if row.size and not np.isfinite(row.sum()) and not np.isfinite(row).all():
                w = int(np.argwhere(~np.isfinite(row))[0][0])
                raise expected(f"worlds.{name}[{w}]", "finite numbers", "some that are not", "no step leaves such ones")

    def _begin_worlds(self, active: np.ndarray) -> None:
        """Let the method derive what it keeps besides a state, in worlds whose state was set."""
        if type(self._sim.stepper).begin_world is Method.begin_world:
            return
        rows = {name: np.asarray(self._rows[name]) for name in ("q", "v", "joint_q", "joint_v", "known")}
        known = (rows["joint_q"] == rows["q"]).all(axis=1) & (rows["joint_v"] == rows["v"]).all(axis=1)
        for w in active[~(known & (rows["known"][:, 0] != 0.0))[active]]:
            sim = self._load(int(w))
            sim.stepper.begin_world(sim.state)
            self._store(int(w), sim)

    def _make_lanes(self) -> list[Lane]:
        while len(self._lanes) < min(self.threads, self.n):
            self._lanes.append(self._lane())
        return self._lanes

    def _lane(self) -> Lane:
        """A lane with as much room as the simulation had at its start."""
        lane = Lane(simulation_like(self.model, self._sim, self._kind, self.dt, self._sim.options))
        if self._gpu is not None or self._fitted:
            lane.sim.stepper.fit_room(len(self._sim.stepper.contacts.arrays.pair))
        return lane

    def _advance(self, active: np.ndarray, n: int) -> None:
        """The compiled loop of all worlds, on all threads or on the GPU."""
        if self._gpu is not None:
            stopped = np.ones(self.n, dtype=bool)
            stopped[active] = False
            self._gpu.advance(self._rows, self._fit, stopped, self._parameters, n, self._ends)
            return
        lanes, calls = self._make_lanes(), []
        while not self._settled:  # a lane that has more room than the rows lets the others grow, too
            self._settled = True
            for lane in lanes:
                self._fit(lane.make_room(self._rows))
        for lane in lanes:
            call = lane.call()
            assert call is not None
            lane.bind(self._rows, call)
            lane.bind_variants(self._parameters, call)
            loop_address(call)
            calls.append(call)
        parts = np.array_split(active, min(len(active), CHUNKS * len(lanes))) if len(lanes) > 1 else [active]
        following = count()

        def work(lane: Lane, call: Any) -> None:
            while (k := next(following)) < len(parts):
                lane.advance(call, parts[k], n, self._rows, self._parameters.variant_of, self._ends)

        if len(lanes) == 1:
            work(lanes[0], calls[0])
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.threads, thread_name_prefix="stickslip-worlds")
        for future in [self._pool.submit(work, *each) for each in zip(lanes, calls, strict=True)]:
            future.result()

    def _step_by_python(self, w: int, n: int) -> None:
        """Take n steps of a world as a simulation takes them, which makes room, solves anew or diverges."""
        sim = self._load(w)
        stepper, end = sim.stepper, sim.steps + n
        before = stepper.unconverged
        while sim.steps < end:
            stepper.step = sim.steps
            acting = sim.acting
            sim.outside.begin(sim.state, sim.dt, acting.control)
            alone = sim.drive.changes or sim.outside.moves
            sim.status, done = stepper.advance(sim.state, acting, 1 if alone else end - sim.steps)
            if done:
                sim.outside.end()
                if sim.drive.changes:
                    sim.drive.advance(sim.inputs, sim.state)
            sim.steps += done
            sim.state.time = sim.steps * sim.dt
            if sim.status == CONTACTS_FULL:
                self.overflows[w] += 1
                stepper.grow()
            elif sim.status != OK:
                self.diverged[w], self.failures[w] = True, str(DivergedError(describe_divergence(sim)))
                break
        self.by_python[w] += sim.steps - self.steps[w]
        self._unconverged[w] += stepper.unconverged - before
        self.steps[w] = sim.steps
        self._store(w, sim)


def fitted(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The array with zeros behind, up to this shape."""
    if array.shape == shape:
        return array
    longer = np.zeros(shape, dtype=array.dtype)
    longer[tuple(slice(0, size) for size in array.shape)] = array
    return longer


def fitted_rows(rows: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    return fitted(rows, (len(rows), *shape))
