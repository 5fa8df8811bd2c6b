"""What comes between the controls of a simulation and the actuators of its method: delays and activations.

Both change from step to step and do not depend on the motion. So the simulation advances them between steps, one step
at a time, and methods are given the result in place of the controls.
"""

from __future__ import annotations

from math import ceil

import numpy as np

from stickslip.dynamics.activation import (
    advance_activations,
    delayed_controls,
    drive_signals,
    remember_controls,
)
from stickslip.errors import expected
from stickslip.methods.base import Inputs
from stickslip.model.model import Model, State


class Drive:
    """Delays and activations of a simulation. ``own_activations``: the method advances activations itself."""

    def __init__(self, model: Model, dt: float, own_activations: bool) -> None:
        self._activations, self._dt = model.activations, dt
        self.delayed, self.active = model.delayed, model.na > 0 and not own_activations
        """Whether there are delays, and activations that are advanced here."""
        longest = float(model.activations.delay.max(initial=0.0))
        if longest / dt > 1e6:
            raise expected("dt", f"at most a million steps in the delay of {longest:g} s", dt, "choose a longer dt")
        self.history = np.zeros((ceil(longest / dt - 1e-9) + 2 if self.delayed else 0, model.nu))
        """(nh, nu) the controls of the last steps, the last one first; empty without delays."""
        self._late, self._signal = np.zeros(model.nu), np.zeros(model.nu)
        self._acting: Inputs | None = None

    def follow(self, model: Model) -> None:
        """Take over the model's ranges and time constants after a change by its setters."""
        self._activations = model.activations

    @property
    def changes(self) -> bool:
        """Whether what acts may change from step to step under constant controls."""
        return self.delayed or self.active

    def _given(self, inputs: Inputs) -> np.ndarray:
        """(nu,) the controls, of which some were given a delay ago."""
        if not self.delayed:
            return inputs.control
        delayed_controls(self._activations, inputs.control, self.history, self._dt, self._late)
        return self._late

    def acting(self, inputs: Inputs, state: State) -> Inputs:
        """The inputs of a step from this state."""
        if not self.changes:
            return inputs
        signal = self._given(inputs)
        if self.active:
            drive_signals(self._activations, signal, state.act, self._dt, self._signal)
            signal = self._signal
        last = self._acting
        if last is None or last.applied is not inputs.applied or last.wrench is not inputs.wrench:
            self._acting = inputs._replace(control=signal)
        assert self._acting is not None
        return self._acting

    def advance(self, inputs: Inputs, state: State) -> None:
        """Advance activations and the history of controls after a step that was taken."""
        if self.active:
            advance_activations(self._activations, self._given(inputs), state.act, self._dt)
        if self.delayed:
            remember_controls(inputs.control, self.history)
