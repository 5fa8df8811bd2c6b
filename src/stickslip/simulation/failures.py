"""Where the problems of unconverged steps go, of methods that solve one."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from stickslip.errors import InputError, UnconvergedWarning, expected
from stickslip.methods.base import Method
from stickslip.methods.registry import METHODS
from stickslip.methods.rigid.time_stepping import TimeStepping
from stickslip.simulation.unsolved import UnsolvedSteps

if TYPE_CHECKING:
    from stickslip.simulation.simulation import Simulation


def solves_problems(stepper: Method) -> bool:
    """Whether its steps solve complementarity problems, which alone can be kept."""
    return isinstance(stepper, TimeStepping)


def those_that_do() -> str:
    """The names of methods that solve complementarity problems."""
    return ", ".join(name for name, kind in METHODS.items() if issubclass(kind, TimeStepping))


def unsolved_steps(stepper: Method) -> UnsolvedSteps | None:
    """What the stepper's solver reports to; None of methods without complementarity problems."""
    if not isinstance(stepper, TimeStepping):
        return None
    steps = UnsolvedSteps()
    stepper.solver.report = partial(steps.keep, stepper)
    return steps


def keep_failures(sim: Simulation, failures: str | Path | bool | None, record: str | Path | None) -> None:
    """At the beginning of a run: into the folder that was asked for, or beside the recording, or into memory."""
    if failures is True or not (failures is None or isinstance(failures, bool | str | Path)):
        raise expected("failures", "a folder, None or False", failures)
    if sim.unsolved is None:
        if failures:
            raise InputError(
                f"failures: {sim.method} solves no complementarity problem that could be kept; "
                f"those that do: {those_that_do()}; leave it out"
            )
        return
    folder = None
    if failures is None and record is not None:
        folder = Path(record).with_name(f"{Path(record).stem}-unconverged")
    elif failures:
        folder = Path(failures)
    sim.unsolved.begin(folder, keep=failures is not False)


@contextmanager
def not_counted(sim: Simulation) -> Iterator[None]:
    """For steps that are taken back: their failures are neither kept nor announced."""
    with warnings.catch_warnings(), ExitStack() as stack:
        warnings.simplefilter("ignore", UnconvergedWarning)
        if sim.unsolved is not None:
            stack.enter_context(sim.unsolved.paused())
        yield


def whereabouts(sim: Simulation) -> str:
    """Of the problems that were kept, as a sentence."""
    return "" if sim.unsolved is None else sim.unsolved.where()
