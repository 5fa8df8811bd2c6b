"""Task: what is to be done in a scene, and how well it was done, for many worlds at once.

A task says where episodes start, what an action does, what is observed, what is rewarded and when an episode has
failed. All of it is written once, for arrays with a row per world; ``Episodes`` runs it in any number of worlds, by any
method.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from stickslip.model.model import Model
from stickslip.model.scene import Scene
from stickslip.worlds import Worlds


@dataclass(frozen=True)
class Start:
    """Where one episode starts."""

    q: np.ndarray
    """(nq,) configuration."""
    v: np.ndarray
    """(nv,) velocity."""
    goal: np.ndarray
    """(ngoal,) what is particular to the episode, such as the place that shall be reached."""


@dataclass(frozen=True)
class Moment:
    """The worlds after an action."""

    worlds: Worlds
    goal: np.ndarray
    """(n, ngoal) goals of the episodes."""
    action: np.ndarray
    """(n, actions) the last action, each number from −1 to 1; zeros at the start."""
    time: np.ndarray
    """(n,) since the start of the episode [s]."""

    @property
    def q(self) -> np.ndarray:
        return np.asarray(self.worlds.q)

    @property
    def v(self) -> np.ndarray:
        return np.asarray(self.worlds.v)


@dataclass(frozen=True)
class Variation:
    """A property of the scene that may differ from episode to episode."""

    kind: str
    """``"friction"`` of a shape, or ``"mass"`` of a body."""
    name: str
    """The shape or body."""
    low: float
    high: float
    """The usual range: the friction itself, or the mass as a fraction of the body's own."""


class Task(ABC):
    """What is to be done in a scene. A new task is a subclass and a line in ``TASKS``."""

    name: ClassVar[str]
    summary: ClassVar[str]
    """One sentence."""
    action_names: tuple[str, ...]
    """What the numbers of an action move; each goes from −1 to 1."""
    observed: tuple[str, ...]
    """What is observed, in words."""
    rewarded: ClassVar[str]
    """What is rewarded, in words."""
    fails: ClassVar[str] = "never"
    """When an episode has failed, in words."""
    measured: ClassVar[tuple[str, str]]
    """Name and unit of what says how far the task has come, apart from rewards."""
    seconds: ClassVar[float]
    """[s] the longest time of an episode."""
    control_dt: ClassVar[float] = 0.02
    """[s] from action to action."""
    method: ClassVar[str] = "coulomb/pgs"
    """The method that the task is usually simulated by."""
    dt: ClassVar[float]
    """[s] its time step for that method."""
    variations: ClassVar[Mapping[str, Variation]]
    """What may differ from episode to episode, by name."""
    camera: ClassVar[Mapping[str, float | tuple[float, float, float]]]
    """Where pictures are taken from: fields of ``record.picture.Camera``."""
    followed: ClassVar[str | None] = None
    """The link that the camera goes along with."""

    @abstractmethod
    def scene(self) -> Scene | Model:
        """The scene."""

    def bind(self, model: Model) -> None:
        """Remember what is needed of the compiled model."""
        self.model = model
        self.home = model.state().q.copy()

    @abstractmethod
    def start(self, rng: np.random.Generator) -> Start:
        """The start of one episode; its randomness comes from ``rng`` alone."""

    @abstractmethod
    def control(self, worlds: Worlds, action: np.ndarray) -> np.ndarray:
        """(n, nu) controls that hold until the next action (n, actions)."""

    @abstractmethod
    def observe(self, now: Moment) -> np.ndarray:
        """(n, observations)."""

    @abstractmethod
    def reward(self, now: Moment) -> np.ndarray:
        """(n,) reward of the action that led here."""

    def failed(self, now: Moment) -> np.ndarray:
        """(n,) whether the episode ends here without its goal."""
        return np.zeros(now.worlds.n, dtype=bool)

    @abstractmethod
    def measure(self, now: Moment) -> np.ndarray:
        """(n,) how far the task has come, in the unit of ``measured``."""

    def mark(self, goal: np.ndarray) -> np.ndarray | None:
        """(3,) the point that pictures mark for a goal (ngoal,) [m, world]; None for none."""
        return None


def dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(n,) the scalar products of rows. It is summed term by term, so that the bits of a row do not depend on how many
    rows there are."""
    total = a[:, 0] * b[:, 0]
    for k in range(1, a.shape[1]):
        total = total + a[:, k] * b[:, k]
    return total


def length(a: np.ndarray) -> np.ndarray:
    """(n,) Euclidean lengths of rows."""
    return np.sqrt(dot(a, a))
