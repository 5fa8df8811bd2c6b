"""Activations: the dynamics between the controls u and the forces of actuators.

    INTEGRATOR     ȧ = u
    FILTER         ȧ = (u − a)/τ, by Euler's step
    FILTER_EXACT   the same, integrated exactly: a⁺ = a + (u − a)·(1 − exp(−dt/τ))
    MUSCLE         ȧ = (u − a)/τ(u, a), by Euler's step (``muscle_rate``)

u is the clipped control, which may act late: ``delayed_controls`` reads what was given before. The rates do not depend
on the motion, so every method holds the activations during a step and advances them at its end, as MuJoCo's Euler and
implicit integrators do.
"""

from __future__ import annotations

from math import exp, floor

from stickslip._jit import kernel
from stickslip.dynamics.muscle import muscle_rate
from stickslip.model.arrays import CUBIC, FILTER, FILTER_EXACT, HOLD, INTEGRATOR

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
def delayed_control(activations, k, history, dt):
    """The control of actuator k a delay ago. ``history`` (nh, nu) has the controls of the last nh steps, the last one
    first; a delay of less than a step is one step."""
    late, last = activations.delay[k] / dt - 1.0, history.shape[0] - 1
    if late <= 0.0:
        return history[0, k]
    i = min(floor(late + 1e-9), last)  # between entry i and i + 1, which is older
    share = late - i
    if share <= 1e-9 or i == last:
        return history[i, k]
    new, old = history[i, k], history[i + 1, k]
    kind = activations.interpolation[k]
    if kind == HOLD:
        return old
    if kind == CUBIC:  # Hermite's cubic with central differences as slopes
        before = 0.5 * (new - history[min(i + 2, last), k]) if i + 2 <= last else new - old
        after = 0.5 * (history[i - 1, k] - old) if i > 0 else new - old
        s = 1.0 - share
        a, b, c = s * s * (3.0 - 2.0 * s), s * (1.0 - s) * (1.0 - s), s * s * (s - 1.0)
        return (1.0 - a) * old + a * new + b * before + c * after
    return share * old + (1.0 - share) * new


@kernel
def delayed_controls(activations, control, history, dt, late):
    """late (nu,): the controls as they act, of which some were given before."""
    for k in range(control.shape[0]):
        late[k] = control[k] if activations.delay[k] <= 0.0 else delayed_control(activations, k, history, dt)


@kernel
def remember_controls(control, history):
    """Put the controls of a step that was taken into the history."""
    for i in range(history.shape[0] - 1, 0, -1):
        for k in range(control.shape[0]):
            history[i, k] = history[i - 1, k]
    if history.shape[0] > 0:
        for k in range(control.shape[0]):
            history[0, k] = control[k]


@kernel
def advance_activations(activations, control, act, dt):
    """act (na,) after a step of dt [s]."""
    for k in range(control.shape[0]):
        i = activations.place[k]
        if i >= 0:
            act[i] = next_activation(activations, k, control[k], act[i], dt)
