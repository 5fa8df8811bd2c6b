"""Whose turn it is: a simulation is used by one thread at a time, and not stepped by functions that a step calls.

Two threads in the buffers of one simulation crash the process. A controller, stage or observer that steps the
simulation would call itself without end, and one that resets it would keep the run from ever ending.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import RLock
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from stickslip.errors import InputError, called

if TYPE_CHECKING:
    from stickslip.simulation.simulation import Simulation

P = ParamSpec("P")
T = TypeVar("T")
S = TypeVar("S", bound="Simulation")


class Turn:
    """Held by the thread that uses a simulation, for as long as it does."""

    def __init__(self) -> None:
        self._lock = RLock()
        self.stepping = False
        """Whether a call is at work that no function called by it may begin again."""

    def take(self, call: str) -> None:
        """Take the turn, unless another thread has it."""
        if not self._lock.acquire(blocking=False):
            raise InputError(
                f"sim.{call}: expected one thread at a time, got a call while another thread uses this simulation; "
                "let the threads take turns by a lock, or give each a copy.deepcopy(sim)"
            )

    def give_back(self) -> None:
        self._lock.release()


def one_thread(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """Let a method be called by one thread at a time; within a step, too."""

    @wraps(method)
    def alone(self: S, /, *arguments: P.args, **keywords: P.kwargs) -> T:
        turn = self._turn
        turn.take(method.__name__)
        try:
            return method(self, *arguments, **keywords)
        finally:
            turn.give_back()

    return alone


def between_steps(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """Let a method be called by one thread at a time, and not by functions that a step calls."""

    @wraps(method)
    def alone(self: S, /, *arguments: P.args, **keywords: P.kwargs) -> T:
        turn = self._turn
        turn.take(method.__name__)
        try:
            if turn.stepping:
                raise _within(self, method.__name__)
            turn.stepping = True
            try:
                return method(self, *arguments, **keywords)
            finally:
                turn.stepping = False
        finally:
            turn.give_back()

    return alone


def _within(sim: Any, call: str) -> InputError:
    """The error of a call by a function that a step calls."""
    if sim._asking:
        text = f"expected controls, got a call of sim.{call}; do that between steps, or to a copy.deepcopy(sim)"
        return InputError(f"controller {called(sim.controller)}: {text}")
    return InputError(
        f"sim.{call}: expected a call between steps, got one by a stage, observer or other function that a step calls; "
        "do that after sim.step or sim.run, or to a copy.deepcopy(sim)"
    )
