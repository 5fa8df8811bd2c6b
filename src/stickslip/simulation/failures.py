"""Where the problems of unconverged steps are kept, for methods that solve complementarity problems."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from stickslip.errors import InputError, UnconvergedWarning, expected
from stickslip.hdf5 import check_target
from stickslip.methods.base import Method
from stickslip.methods.complementarity import ComplementaritySteps, complementarity_of
from stickslip.methods.registry import METHODS
from stickslip.simulation.unsolved import UnsolvedSteps

if TYPE_CHECKING:
    from stickslip.simulation.simulation import Simulation


def with_problems() -> str:
    """The names of the methods that solve complementarity problems."""
    return ", ".join(name for name, kind in METHODS.items() if kind.solves_problems)


def problem_steps(sim: Simulation) -> ComplementaritySteps:
    """The simulation's method, if it solves complementarity problems; else an error that names those that do."""
    steps = complementarity_of(sim.stepper)
    if steps is None:
        raise InputError(f"{sim.method} solves no complementarity problem; those that do: {with_problems()}")
    return steps


def unsolved_steps(stepper: Method) -> UnsolvedSteps | None:
    """Where the method's solver reports failures; None for methods without complementarity problems."""
    steps = complementarity_of(stepper)
    if steps is None:
        return None
    unsolved = UnsolvedSteps(steps)
    steps.report_unsolved(unsolved)
    return unsolved


def keep_failures(sim: Simulation, failures: str | Path | bool | None, record: str | Path | None) -> None:
    """Begin a run: failures go into the folder that was asked for, or beside the recording, or into memory."""
    if failures is True or not (failures is None or isinstance(failures, bool | str | Path)):
        raise expected("failures", "a folder, None or False", failures)
    if sim.unsolved is None:
        if failures:
            raise InputError(
                f"failures: {sim.method} solves no complementarity problem that could be kept; "
                f"those that do: {with_problems()}; leave it out"
            )
        return
    folder = None
    if failures is None and record is not None:
        check_target(record)
        folder = Path(record).with_name(f"{Path(record).stem}-unconverged")
    elif failures:
        folder = Path(failures)
    if folder is not None and os.path.exists(folder) and not os.path.isdir(folder):
        raise expected(
            "failures", "a folder", str(folder), "give another name, or 'none'" if failures else "move that file"
        )
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
    """A sentence that says where the problems were kept; empty if there are none."""
    return "" if sim.unsolved is None else sim.unsolved.where()
