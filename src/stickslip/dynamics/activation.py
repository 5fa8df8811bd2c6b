"""Activations: the dynamics between the controls u and the forces of actuators.

    INTEGRATOR     ȧ = u
    FILTER         ȧ = (u − a)/τ, by Euler's step
    FILTER_EXACT   the same, integrated exactly: a⁺ = a + (u − a)·(1 − exp(−dt/τ))
    MUSCLE         ȧ = (u − a)/τ(u, a), by Euler's step (``muscle_rate``)

u is the clipped control. The rates do not depend on the motion, so every method holds the activations during a step and
advances them at its end, as MuJoCo's Euler and implicit integrators do.
"""

from __future__ import annotations

from math import exp

from stickslip._jit import kernel
from stickslip.dynamics.muscle import muscle_rate
from stickslip.model.arrays import FILTER, FILTER_EXACT, INTEGRATOR

TINY = 1e-15


@kernel
def activation_rate(activations, k, control, activation):
    """ȧ [1/s] of actuator k."""
    u = min(max(control, activations.control_range[k, 0]), activations.control_range[k, 1])
    kind = activations.dynamics[k]
    if kind == INTEGRATOR:
        return u
    if kind == FILTER or kind == FILTER_EXACT:
        return (u - activation) / max(TINY, activations.numbers[k, 0])
    return muscle_rate(activations.numbers[k], u, activation)


@kernel
def next_activation(activations, k, control, activation, dt):
    """The activation of actuator k after a step of dt [s], within its range."""
    step, rate = dt, activation_rate(activations, k, control, activation)
    if activations.dynamics[k] == FILTER_EXACT:
        constant = max(TINY, activations.numbers[k, 0])
        step = constant * (1.0 - exp(-dt / constant))
    return min(max(activation + step * rate, activations.range[k, 0]), activations.range[k, 1])


@kernel
def drive_signals(activations, control, act, dt, signal):
    """signal (nu,): what the gains multiply, which is the control or the activation; ``early`` ones are those at the
    end of the step."""
    for k in range(control.shape[0]):
        i = activations.place[k]
        if i < 0:
            signal[k] = control[k]
        elif activations.early[k] != 0:
            signal[k] = next_activation(activations, k, control[k], act[i], dt)
        else:
            signal[k] = act[i]


@kernel
def advance_activations(activations, control, act, dt):
    """act (na,) after a step of dt [s]."""
    for k in range(control.shape[0]):
        i = activations.place[k]
        if i >= 0:
            act[i] = next_activation(activations, k, control[k], act[i], dt)
