"""Episodes: tasks to be learnt, with start, observation, reward and end, in many worlds at once."""

from stickslip.episodes.arm_reach import ArmReach
from stickslip.episodes.episodes import Episodes, Outcome
from stickslip.episodes.hopper import Hopper
from stickslip.episodes.peg_in_hole import PegInHole
from stickslip.episodes.push_box import PushBox
from stickslip.episodes.solo12 import Solo12Stand, Solo12Walk
from stickslip.episodes.task import Moment, Start, Task, Variation

TASKS: dict[str, type[Task]] = {
    task.name: task for task in (Hopper, Solo12Stand, Solo12Walk, PushBox, PegInHole, ArmReach)
}
"""The tasks by name."""

__all__ = ["TASKS", "Episodes", "Moment", "Outcome", "Start", "Task", "Variation"]
