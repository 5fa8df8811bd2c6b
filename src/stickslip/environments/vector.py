"""Many environments at once: a task in n worlds, which CPU threads step together."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from stickslip.environments.single import RENDER_MODES, box, check_render_mode
from stickslip.episodes import Episodes, Task
from stickslip.errors import expected, whole


class VectorEnvironment(gymnasium.vector.VectorEnv):
    """The task of a subclass in ``num_envs`` worlds; keywords are those of ``episodes.Episodes``.

    ``autoreset_mode`` says when a world whose episode has ended begins anew: with the next action, which it ignores
    (``NEXT_STEP``, the default, as in ``SyncVectorEnv``), in the same step (``SAME_STEP``; the last observation is then
    ``infos["final_obs"]``), or by ``reset(options={"reset_mask": mask})`` alone (``DISABLED``).
    """

    task: ClassVar[type[Task]]
    metadata: dict[str, Any] = {  # noqa: RUF012 - as in Gymnasium
        "render_modes": [*RENDER_MODES],
        "render_fps": 50,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
        *,
        max_episode_steps: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        check_render_mode(render_mode)
        try:
            self.mode = AutoresetMode(autoreset_mode)
        except ValueError:
            modes = ", ".join(repr(mode.value) for mode in AutoresetMode)
            raise expected("autoreset_mode", f"one of {modes}", autoreset_mode) from None
        self.episodes = Episodes(self.task(), whole("num_envs", num_envs, 1), **options)
        limited = max_episode_steps is not None
        self.longest = whole("max_episode_steps", max_episode_steps, 1) if limited else np.inf
        self.num_envs, self.render_mode = self.episodes.n, render_mode
        self.single_observation_space = box(self.episodes.observations)
        self.single_action_space = box(self.episodes.actions.shape[1], 1.0, np.float32)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        fps = round(1.0 / self.episodes.control_dt)
        self.metadata = {**self.metadata, "autoreset_mode": self.mode, "render_fps": fps}
        self._ended = np.ones(self.num_envs, dtype=bool)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Start new episodes. World w has the seed ``seed + w``, or that of a list; with ``options["reset_mask"]`` only
        some begin anew."""
        n = self.num_envs
        mask = np.ones(n, dtype=bool) if options is None else np.asarray(options.get("reset_mask", np.ones(n, bool)))
        if mask.shape != (n,) or mask.dtype != bool:
            raise expected("reset_mask", f"an array of booleans of shape ({n},)", mask)
        for w, each in enumerate(_seeds(seed, n)):
            if each is not None and mask[w]:
                self.episodes.rngs[w] = np.random.default_rng(each)
        self._ended[mask] = False
        return self.episodes.begin(mask), self._infos(mask)

    def _infos(self, there: np.ndarray) -> dict[str, Any]:
        """Facts of the worlds, and for each which worlds it is there for, as Gymnasium has them."""
        infos: dict[str, Any] = {}
        for name, values in self.episodes.facts().items():
            infos[name], infos[f"_{name}"] = values, there.copy()
        return infos

    def step(self, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Hold actions (n, actions); returns (observations, rewards, terminations, truncations, infos)."""
        ended, everywhere = self._ended, np.ones(self.num_envs, dtype=bool)
        if self.mode == AutoresetMode.DISABLED and ended.any():
            raise expected(
                "step", "episodes that go on", f"{ended.sum()} that have ended", "reset them with reset_mask"
            )
        outcome = self.episodes.step(actions, ~ended)
        seen, reward, terminated = outcome.observation, outcome.reward, outcome.failed
        truncated = self.episodes.taken >= self.longest
        if ended.any():
            reward[ended] = 0.0
            terminated[ended] = truncated[ended] = False
            seen = self.episodes.begin(ended)
        self._ended = terminated | truncated
        infos = self._infos(everywhere)
        if self.mode == AutoresetMode.SAME_STEP and self._ended.any():
            ended = self._ended
            last, facts = seen, infos
            seen = self.episodes.begin(ended)
            infos = {**self._infos(everywhere), "final_obs": _objects(last, ended), "_final_obs": ended}
            infos |= {"final_info": facts, "_final_info": ended}
            self._ended = np.zeros(self.num_envs, dtype=bool)
        return seen, reward, terminated, truncated, infos

    def render(self) -> tuple[np.ndarray, ...] | None:
        """A picture of each world with ``render_mode="rgb_array"``, otherwise None."""
        if self.render_mode is None:
            return None
        return tuple(self.episodes.picture(w) for w in range(self.num_envs))


def _seeds(seed: Any, n: int) -> list[int | None]:
    """The seed of each world; None for those that go on with their random numbers."""
    if seed is None:
        return [None] * n
    if np.ndim(seed) == 0:
        first = whole("seed", seed, 0)
        return [first + w for w in range(n)]
    if len(seed) != n:
        raise expected("seed", f"a number, or {n} of them", seed)
    return [None if each is None else whole("seed", each, 0) for each in seed]


def _objects(rows: np.ndarray, there: np.ndarray) -> np.ndarray:
    """(n,) arrays of the rows that are there, None elsewhere, as Gymnasium has last observations."""
    found = np.full(len(rows), None, dtype=object)
    for w in np.flatnonzero(there):
        found[w] = rows[w].copy()
    return found
