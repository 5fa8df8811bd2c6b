"""Episodes: a task in n worlds, each of which begins anew when it is told to.

    episodes = Episodes(Hopper(), 64, method="coulomb/pgs")
    episodes.seed(range(64))
    seen = episodes.begin()                   # (64, observations)
    outcome = episodes.step(np.zeros((64, 2)))

This is the one code of environments of Gymnasium, single and vector, and of ``stickslip learn``. What happens in a
world depends on its own seed and actions alone, to the bit, whatever the number of worlds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stickslip.episodes.picture import draw
from stickslip.episodes.task import Moment, Task
from stickslip.errors import expected, mapping, number, reals, true_or_false, unknown
from stickslip.simulation.periods import whole_steps
from stickslip.simulation.setup import Setup
from stickslip.summary import Summarised, Summary, plural
from stickslip.worlds import Worlds

LEVELS = 8
"""Values that a property has in its range. Worlds keep what follows from each combination of them, so that a new
episode costs no new model."""
PENALTY = 10.0
"""Reward that is taken away where a world diverges."""


@dataclass(frozen=True)
class Outcome:
    """What an action led to."""

    observation: np.ndarray
    """(n, observations)."""
    reward: np.ndarray
    """(n,)."""
    failed: np.ndarray
    """(n,) the episode has ended without its goal, or its world has diverged."""


class Episodes(Summarised):
    """A task in ``n`` worlds.

    ``method``, ``dt`` and further keywords are those of ``ss.Worlds``; without a method it is the task's own.
    ``control_dt`` [s] is the time from action to action. ``randomise=True`` draws friction and mass anew for each
    episode, from the task's ranges; a mapping such as ``{"friction": (0.2, 0.6)}`` gives ranges of one's own.
    """

    def __init__(
        self,
        task: Task,
        n: int = 1,
        *,
        method: str | None = None,
        dt: float | None = None,
        control_dt: float | None = None,
        randomise: bool | Mapping[str, tuple[float, float]] = False,
        threads: int | None = None,
        device: str = "cpu",
        **options: Any,
    ) -> None:
        if not isinstance(task, Task):
            raise expected("task", "one of stickslip.episodes.TASKS, made", task, "for example Hopper()")
        period = task.control_dt if control_dt is None else number("control_dt", control_dt, "seconds > 0", above=0.0)
        setup = Setup(task.scene(), control_dt=period, method=task.method, dt=task.dt)  # type: ignore[arg-type]
        self.worlds = Worlds(setup, n, method, dt, threads=threads, device=device, **options)
        self.n, self.task = self.worlds.n, task
        self.substeps = whole_steps("control_dt", period, period, self.worlds.dt)
        """Time steps from action to action."""
        self.control_dt = self.substeps * self.worlds.dt
        task.bind(self.worlds.model)
        self.ranges = ranges_of(task, randomise)
        """Ranges of what differs from episode to episode, by name."""
        self.values = {name: np.full(self.n, (low + high) / 2) for name, (low, high) in self.ranges.items()}
        """(n,) what was drawn for the present episodes, by name."""
        self.rngs = [np.random.default_rng() for _ in range(self.n)]
        """The random generator of each world."""
        self.actions = np.zeros((self.n, len(task.action_names)))
        """(n, actions) the last actions."""
        self.taken = np.zeros(self.n, dtype=np.int64)
        """(n,) actions so far in the present episodes."""
        for name in self.ranges:
            self._set(name, np.arange(self.n))
        starts = [task.start(np.random.default_rng(0))] * self.n
        self.goals = np.stack([start.goal for start in starts])
        self.observations = task.observe(self.moment).shape[1]
        """Numbers that are observed."""

    def _summary(self) -> Summary:
        worlds = self.worlds
        title = f"{self.task.name} in {plural(self.n, 'world')}"
        method = f"{worlds.method}/{worlds.variant}, dt = {worlds.dt:g} s"
        return Summary(title, {"method": method, "actions": f"every {self.control_dt:g} s"})

    @property
    def moment(self) -> Moment:
        """The worlds as they are now."""
        return Moment(self.worlds, self.goals, self.actions, self.taken * self.control_dt)

    @property
    def longest(self) -> int:
        """Actions of an episode that does not fail."""
        return round(self.task.seconds / self.control_dt)

    def seed(self, seeds: Iterable[int]) -> None:
        """Let the random generator of each world begin with a seed."""
        self.rngs = [np.random.default_rng(seed) for seed in seeds]
        if len(self.rngs) != self.n:
            raise expected("seeds", f"{self.n}, one for each world", len(self.rngs))

    def begin(self, worlds: np.ndarray | None = None) -> np.ndarray:
        """Start new episodes in worlds, a mask (n,) (default: all); returns the observations of all worlds."""
        chosen = np.arange(self.n) if worlds is None else np.flatnonzero(worlds)
        if len(chosen):
            self._vary(chosen)
            starts = [self.task.start(self.rngs[w]) for w in chosen]
            self.worlds.reset(chosen)
            self.worlds.set_state(
                np.stack([start.q for start in starts]), np.stack([start.v for start in starts]), worlds=chosen
            )
            self.goals[chosen] = np.stack([start.goal for start in starts])
            self.actions[chosen], self.taken[chosen] = 0.0, 0
        return self.task.observe(self.moment)

    def _vary(self, chosen: np.ndarray) -> None:
        """Draw friction and mass of these worlds."""
        for name, (low, high) in self.ranges.items():
            levels = np.linspace(low, high, LEVELS)
            self.values[name][chosen] = [levels[self.rngs[w].integers(LEVELS)] for w in chosen]
        for name in self.ranges:
            self._set(name, chosen)

    def _set(self, name: str, worlds: np.ndarray) -> None:
        """Give worlds their own value of a property."""
        what, drawn = self.task.variations[name], self.values[name][worlds]
        if what.kind == "friction":
            self.worlds.set_shape(what.name, friction=drawn, worlds=worlds)
        else:
            own = self.worlds.model.inertia.mass[self.worlds.model.link(what.name)]
            self.worlds.set_body(what.name, mass=own * drawn, worlds=worlds)

    def step(self, action: np.ndarray, worlds: np.ndarray | None = None) -> Outcome:
        """Hold an action (n, actions) for ``control_dt`` in worlds, a mask (n,) (default: all). Numbers beyond ±1 count
        as ±1."""
        given = reals("action", action, f"an array of shape {self.actions.shape}")
        if given.shape != self.actions.shape:
            raise expected("action", f"an array of shape {self.actions.shape}", given.shape)
        if not np.isfinite(given).all():
            w = int(np.flatnonzero(~np.isfinite(given).all(axis=1))[0])
            raise expected("action", "finite numbers from -1 to 1", f"{given[w].tolist()} in world {w}")
        moving = np.ones(self.n, dtype=bool) if worlds is None else np.asarray(worlds, dtype=bool)
        self.actions[moving] = np.clip(given[moving], -1.0, 1.0)
        self.worlds.control[:] = self.task.control(self.worlds, self.actions)
        self.worlds.step(self.substeps, worlds=moving)
        self.taken[moving] += 1
        now, diverged = self.moment, self.worlds.diverged
        reward = np.where(diverged, -PENALTY, self.task.reward(now))
        return Outcome(self.task.observe(now), reward, self.task.failed(now) | diverged)

    def facts(self) -> dict[str, np.ndarray]:
        """(n,) each: whether worlds have diverged, what the task measures, and what was drawn for the episodes."""
        values = {name: each.copy() for name, each in self.values.items()}
        measured = {self.task.measured[0]: self.task.measure(self.moment)}
        return {"diverged": self.worlds.diverged.copy(), **measured, **values}

    def picture(self, world: int = 0, size: Sequence[int] = (480, 360)) -> np.ndarray:
        """(height, width, 3) a picture of a world now."""
        return draw(self, world, size)


def ranges_of(task: Task, randomise: Any) -> dict[str, tuple[float, float]]:
    """Range by name of what shall differ from episode to episode."""
    known = task.variations
    if not isinstance(randomise, Mapping):
        if not true_or_false("randomise", randomise):
            return {}
        return {name: (what.low, what.high) for name, what in known.items()}
    found = {}
    for name, value in mapping("randomise", randomise, "names to ranges").items():
        if name not in known:
            raise unknown("randomise", name, known)
        wanted = "a range (low, high) of numbers > 0"
        pair = reals(f"randomise[{name!r}]", value, wanted)
        if pair.shape != (2,) or not 0.0 < pair[0] <= pair[1] < np.inf:
            raise expected(f"randomise[{name!r}]", wanted, value)
        found[str(name)] = (float(pair[0]), float(pair[1]))
    return found
