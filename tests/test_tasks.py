"""The table of tasks is true: our code runs, it does what MuJoCo's and Pinocchio's does, and it is not longer."""

import shutil
import sys
from pathlib import Path

import matplotlib
import numpy as np
import pytest

FOLDER = Path(__file__).parents[1] / "docs" / "tasks"
sys.path.insert(0, str(FOLDER))
import tasks  # noqa: E402 - it lies in the folder that was just added

RUNNABLE = ("from_mujoco", "from_pinocchio")
"""The simulators that the tests have."""


@pytest.mark.parametrize("name", tasks.MODULES)
def test_tasks_run_and_agree(name, monkeypatch, tmp_path):
    for file in tasks.FILES:
        shutil.copy(FOLDER / file, tmp_path)
    monkeypatch.chdir(tmp_path)
    matplotlib.use("Agg")
    module = tasks.module(name)
    for task in tasks.tasks(module):
        here = None if isinstance(task.here, str) else tasks.run(task.here, module.given_here)
        if name in RUNNABLE:
            there = tasks.run(task.there, module.given_there)
            assert (here is None) == (there is None), task.title
            if here is not None:
                np.testing.assert_allclose(here, there, rtol=1e-7, atol=1e-9, err_msg=task.title)


def test_fifty_tasks_in_as_few_lines():
    """Ours is never longer by more than two lines; what is not possible belongs to later versions."""
    every = [task for name in tasks.MODULES for task in tasks.tasks(tasks.module(name))]
    assert len(every) == 50
    for task in every:
        if isinstance(task.here, str):
            assert task.here in ("later: many worlds", "later: gradients of rollouts")
        else:
            assert tasks.count(task.here) <= tasks.count(task.there) + 2, task.title
