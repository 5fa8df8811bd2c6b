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

__all__ = ["Environment", "VectorEnvironment", "register"]


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


for _task in TASKS.values():
    register(_task)
