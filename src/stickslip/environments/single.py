"""One environment: a task in one world."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import numpy as np

from stickslip.episodes import Episodes, Task
from stickslip.errors import expected

RENDER_MODES = ("rgb_array",)
"""Modes of rendering. Gymnasium makes "human" and "rgb_array_list" of the first."""


def box(size: int, bound: float = np.inf, dtype: Any = np.float64) -> gymnasium.spaces.Box:
    return gymnasium.spaces.Box(-bound, bound, (size,), dtype)


class Environment(gymnasium.Env):
    """The task of a subclass in one world. Keywords are those of ``episodes.Episodes``: method, dt, control_dt,
    randomise, and options of the method. An action is held for ``control_dt``; numbers beyond ±1 count as ±1."""

    task: ClassVar[type[Task]]
    metadata: dict[str, Any] = {"render_modes": [*RENDER_MODES], "render_fps": 50}  # noqa: RUF012 - as in Gymnasium

    def __init__(self, *, render_mode: str | None = None, **options: Any) -> None:
        check_render_mode(render_mode)
        self.episodes = Episodes(self.task(), 1, threads=1, **options)
        self.render_mode = render_mode
        self.observation_space = box(self.episodes.observations)
        self.action_space = box(self.episodes.actions.shape[1], 1.0, np.float32)
        self.metadata = {**self.metadata, "render_fps": round(1.0 / self.episodes.control_dt)}

    def _info(self) -> dict[str, Any]:
        return {name: values[0].item() for name, values in self.episodes.facts().items()}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Start a new episode; returns (observation, info)."""
        super().reset(seed=seed)
        self.episodes.rngs = [self.np_random]
        return self.episodes.begin()[0], self._info()

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Hold an action (actions,); returns (observation, reward, terminated, truncated, info). ``TimeLimit`` of
        ``gymnasium.make`` truncates."""
        size = self.episodes.actions.shape[1]
        if np.shape(action) != (size,):
            raise expected("action", f"an array of shape ({size},)", np.shape(action))
        outcome = self.episodes.step(np.asarray(action)[None])
        reward, failed = outcome.reward[0].item(), outcome.failed[0].item()
        return outcome.observation[0], reward, failed, False, self._info()

    def render(self) -> np.ndarray | None:
        """(height, width, 3) a picture with ``render_mode="rgb_array"``, otherwise None."""
        return None if self.render_mode is None else self.episodes.picture()


def check_render_mode(mode: str | None) -> None:
    if mode is not None and mode not in RENDER_MODES:
        raise expected("render_mode", "'rgb_array' or None", mode, "gymnasium.make makes 'human' of it, too")
