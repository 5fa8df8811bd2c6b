"""Many environments as stable-baselines3 wants them: its ``VecEnv`` around a vector environment."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from stable_baselines3.common.vec_env import VecEnv

from stickslip.errors import InputError, expected


class Baselines(VecEnv):
    """A ``VecEnv`` around a vector environment that begins anew in the same step."""

    def __init__(self, envs: VectorEnv) -> None:
        mode = envs.metadata.get("autoreset_mode")
        if mode != AutoresetMode.SAME_STEP:
            raise expected("envs", "a vector environment of autoreset_mode='SameStep'", mode, "give it to make_vec")
        self.envs = envs
        super().__init__(envs.num_envs, envs.single_observation_space, envs.single_action_space)

    def reset(self) -> np.ndarray:
        """Observations; the first environment has the seed that ``seed`` was given."""
        seen, _ = self.envs.reset(seed=self._seeds[0])
        self._reset_seeds()
        return seen

    def step_async(self, actions: np.ndarray) -> None:
        """Keep the actions for ``step_wait``."""
        self.actions = actions

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """(observations, rewards, ends, infos)."""
        seen, rewards, failed, late, infos = self.envs.step(self.actions)
        found: list[dict[str, Any]] = [{"TimeLimit.truncated": bool(each)} for each in late & ~failed]
        for w in np.flatnonzero(failed | late):
            found[w]["terminal_observation"] = infos["final_obs"][w]
        return seen, rewards, failed | late, found

    def close(self) -> None:
        self.envs.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """The attribute of the vector environment, once for each index."""
        return [getattr(self.envs, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        raise InputError(f"set_attr: expected a change in all worlds, got {attr_name!r}; write into envs.{attr_name}")

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        raise InputError(f"env_method: expected a call for all worlds, got {method_name!r}; call envs.{method_name}()")

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """No world has a wrapper of its own."""
        return [False] * len(list(self._get_indices(indices)))
