"""Environments of Gymnasium: importing this registers every task as ``stickslip/NAME-v0``, single and vector.

    import gymnasium
    import stickslip.environments

    env = gymnasium.make("stickslip/Hopper-v0", method="coulomb/pgs")
    envs = gymnasium.make_vec("stickslip/Hopper-v0", num_envs=1024)

``gymnasium.make("stickslip.environments:stickslip/Hopper-v0")`` imports it by itself.
"""

from typing import Any

from stickslip.errors import InputError

try:
    import gymnasium
except ImportError as error:
    raise InputError("environments: expected Gymnasium to be installed; pip install 'stickslip[gym]'") from error

from stickslip.environments.single import Environment
from stickslip.environments.vector import VectorEnvironment
from stickslip.episodes import TASKS, Task

__all__ = ["Environment", "VectorEnvironment", "for_stable_baselines", "register"]


def register(task: type[Task]) -> str:
    """Register a task with Gymnasium, also one of your own; returns the name that ``gymnasium.make`` takes."""
    name = f"stickslip/{task.name}-v0"
    single: Any = type(f"{task.name}Environment", (Environment,), {"task": task})
    vector: Any = type(f"{task.name}VectorEnvironment", (VectorEnvironment,), {"task": task})
    gymnasium.register(
        name,
        entry_point=single,
        vector_entry_point=vector,
        max_episode_steps=round(task.seconds / task.control_dt),
    )
    return name


def for_stable_baselines(envs: gymnasium.vector.VectorEnv) -> Any:
    """The ``VecEnv`` that stable-baselines3 trains on, around ``gymnasium.make_vec(…, autoreset_mode="SameStep")``."""
    try:
        from stickslip.environments.baselines import Baselines
    except ImportError as error:
        raise InputError(
            f"stable-baselines3: expected it to be installed ({error}); pip install stable-baselines3"
        ) from error
    return Baselines(envs)


for _task in TASKS.values():
    register(_task)
