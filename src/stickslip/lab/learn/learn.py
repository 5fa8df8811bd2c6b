"""``stickslip learn``: learn a policy, save it, and judge it by every contact method."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from stickslip.episodes import TASKS, Episodes, Task
from stickslip.errors import StickslipWarning, expected, one_of, whole
from stickslip.files import make_folder
from stickslip.lab.learn.policy import Policy
from stickslip.lab.learn.report import Learned
from stickslip.lab.learn.search import SearchSettings, search
from stickslip.lab.learn.transfer import at_random, judge
from stickslip.methods.registry import METHODS, resolve

FINER = 4
"""The method that a policy was learned with judges it with a step that is shorter by this, too. What is lost there was
learned from errors of the time step, not from the contact model."""


@dataclass(frozen=True)
class Asked:
    """What is to be learned, and how it is judged."""

    task: str = "Hopper"
    method: str | None = None
    dt: float | None = None
    search: SearchSettings = field(default_factory=SearchSettings)
    randomise: bool = False
    """Whether friction and mass differ from episode to episode while learning; they never do in judgements."""
    methods: Sequence[str] = ()
    """Methods to judge by; empty for all."""
    episodes: int = 16
    """Number of episodes that judge a policy."""
    patience: float = 120.0
    """[s] that a method may take for its judgement, compilation apart."""
    policy: Path | None = None
    """A policy that was learned before."""
    shared: Mapping[str, Any] = field(default_factory=dict)
    """Threads and device."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the method that is learned with."""


def run_learn(asked: Asked, out: Path, console: Console) -> Learned:
    """Learn, judge, print and write ``policy.npz``, ``learn.json`` and ``learn.png`` into a folder."""
    name = asked.task.removeprefix("stickslip/").removesuffix("-v0")
    one_of("environment", name, TASKS)
    task = TASKS[name]
    s = asked.search
    for what, value in (("iterations", s.iterations), ("directions", s.directions), ("episodes", asked.episodes)):
        whole(what, value, 1)
    method = "/".join(resolve(asked.method or task.method)[::2])
    methods = [method, *(each for each in asked.methods or METHODS if _whole(each) != method)]
    for each in methods:
        resolve(each)
    make_folder(out)

    def make(n: int) -> Episodes:
        return Episodes(
            task(), n, method=method, dt=asked.dt, randomise=asked.randomise, **asked.shared, **asked.options
        )

    policy, curve = _policy(asked, task, method, make, out, console)
    random = at_random(task, method, asked.episodes, dt=asked.dt, **asked.shared, **asked.options)
    own = {**asked.shared, **asked.options}
    limits: dict[str, Any] = {"episodes": asked.episodes, "patience": asked.patience}
    judged = judge(task, policy, methods[:1], options={**own, "dt": random.dt}, **limits)
    fine = judge(task, policy, methods[:1], options={**own, "dt": random.dt / FINER}, **limits)
    judged += [replace(each, remark=f", dt/{FINER}") for each in fine]
    judged += judge(task, policy, methods[1:], longest=random.dt, options=asked.shared, **limits)
    settings = {**asdict(s), "randomise": asked.randomise, "dt": random.dt, "options": dict(asked.options)}
    learned = Learned(name, task.measured, method, settings, curve, random, judged)
    learned.write(out)
    console.print(learned.table())
    return learned


def _whole(method: str) -> str:
    """The method with its variant."""
    return "/".join(resolve(method)[::2])


def _policy(
    asked: Asked, task: type[Task], method: str, make: Callable[[int], Episodes], out: Path, console: Console
) -> tuple[Policy, list[Any]]:
    """The policy and its learning curve: one that was learned before, or a new one, which is saved."""
    if asked.policy is not None:
        policy, episodes = Policy.load(asked.policy), make(1)
        wanted = (episodes.actions.shape[1], episodes.observations + 1)
        if policy.weights.shape != wanted:
            raise expected("--policy", f"one of {task.name}, {wanted}", policy.weights.shape, "name its environment")
        return policy, []
    with warnings.catch_warnings():
        warnings.simplefilter("once", StickslipWarning)
        policy, curve = search(make, asked.search, what=f"learning {task.name} with {method}")
    best = max(curve, key=lambda point: point.mean)
    last = curve[-1]
    facts = {"task": task.name, "method": method, "return": best.mean, "iteration": best.iteration}
    policy = replace(policy, facts=facts)
    policy.save(out / "policy.npz")
    console.print(
        f"{last.iteration} iterations, {last.actions} actions in {last.seconds:.0f} s: return {best.mean:.1f} ± "
        f"{best.deviation:.1f}, at first {curve[0].mean:.1f}",
        highlight=False,
    )
    return policy, curve
