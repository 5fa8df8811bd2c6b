"""What a compiled step does with joint rows: nothing, eliminate those of closed loops, or those of all joints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stickslip.methods.handle import Held
from stickslip.methods.rigid.compiled_arrays import Space
from stickslip.methods.rigid.compiled_loop import advance, advance_groups
from stickslip.methods.rigid.compiled_loops import Closing, advance_loop_groups, advance_loops, make_closing
from stickslip.methods.rigid.compiled_maximal import (
    ClosingOptions,
    Jointed,
    advance_maximal,
    advance_maximal_groups,
    make_jointed,
)
from stickslip.methods.rigid.coordinates.coordinates import Coordinates
from stickslip.methods.rigid.coordinates.joint_coordinates import JointCoordinates
from stickslip.methods.rigid.coordinates.maximal_coordinates import MaximalCoordinates
from stickslip.model.model import State

Loop = Callable[[Held, int], tuple[int, int]]


class NoRows:
    """Joint coordinates without closed loops. The others are made alike."""

    loops: tuple[Loop, Loop] = (advance, advance_groups)
    """The compiled loop, and the one for groups of subcontacts."""

    why_alone = ""
    """Why the loop cannot run in many worlds; empty if it can."""

    def __init__(self, coordinates: Any) -> None:
        self.coordinates = coordinates

    def options(self) -> tuple[Any, ...]:
        """Options that the loop gets besides those of every step."""
        return ()

    def begin(self, state: State) -> None:
        """Take note of the state before a compiled call."""

    def make(self, space: Space) -> tuple[Any, ...]:
        """Arrays that the loop gets besides those of every step, for the contacts of ``space``."""
        return ()

    def end(self) -> None:
        """Take note of compiled steps that were taken."""


class LoopRows(NoRows):
    """Joint coordinates with closed loops."""

    loops = (advance_loops, advance_loop_groups)
    closing: Closing

    def make(self, space: Space) -> tuple[Any, ...]:
        self.closing = make_closing(self.coordinates.loops.bilateral, len(space.ids))
        return (self.closing,)

    def end(self) -> None:
        self.coordinates.loops.left = float(self.closing.left[0])


class AllRows(NoRows):
    """Maximal coordinates."""

    loops = (advance_maximal, advance_maximal_groups)
    why_alone = "maximal coordinates take their bodies' poses from the state by Python"
    jointed: Jointed

    def options(self) -> tuple[Any, ...]:
        held = self.coordinates.stabilisation
        chosen = (False, 0.0, 0) if held is None else (True, held.tolerance, held.iterations)
        return (ClosingOptions(*chosen),)

    def begin(self, state: State) -> None:
        self.coordinates.take(state)

    def make(self, space: Space) -> tuple[Any, ...]:
        self.jointed = make_jointed(self.coordinates.links, self.coordinates.bodies, space.rows)
        return (self.jointed,)

    def end(self) -> None:
        j = self.jointed
        self.coordinates.stepped((j.Q, j.V, j.q, j.v), j.iterations)


def joint_rows_of(coordinates: Coordinates) -> NoRows:
    """How the compiled step treats the joint rows of these coordinates."""
    if isinstance(coordinates, MaximalCoordinates):
        return AllRows(coordinates)
    looped = isinstance(coordinates, JointCoordinates) and coordinates.loops is not None
    return LoopRows(coordinates) if looped else NoRows(coordinates)
