"""From a method's name to a stepper made for a model: pairs, options, the default time step, and what to warn of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from inspect import Parameter, signature
from typing import Any

from stickslip.collision.soft_pairs.pairs import find_pairs, no_pairs
from stickslip.errors import InputError, listed, unknown
from stickslip.methods.base import Method
from stickslip.methods.registry import METHODS, resolve
from stickslip.model.model import Model
from stickslip.simulation import advice
from stickslip.simulation.periods import round_step
from stickslip.simulation.stages import Stages


def make_method(
    model: Model, method: str | type[Method], dt: float | None, stages: Stages, options: Mapping[str, Any]
) -> tuple[str, Method]:
    """(name, stepper) of a method; ``dt`` [s] None chooses a stable round one."""
    name, stepper, variant = resolve(method)
    for option in options:
        if option in stepper.refused:
            raise InputError(f"{option}: {name} has no such option: {stepper.refused[option]}; leave it out")
        if option not in stepper.options:
            raise unknown(f"option of {name}", option, stepper.options)
    if model.loops and not stepper.capabilities.loops:
        held = listed(repr(loop.name) for loop in model.loops)
        able = ", ".join(other for other, kind in METHODS.items() if kind.capabilities.loops)
        raise InputError(f"method {name!r}: does not hold closed loops ({held}); methods that do: {able}")
    pairs, left_out = find_pairs(model) if stepper.finds_pairs else (no_pairs(), Counter())
    if variant == "none":
        if stages.collision is not None or stages.formulate is not None:
            raise InputError(f"method {method!r} has no contacts; leave out the collision and formulate functions")
        pairs = no_pairs()
    made = stepper(model, dt or stepper.default_dt, variant, pairs, **options)
    if variant != "none" and stages.collision is None:
        advice.pass_through(name, {**left_out, **made.left_out})
        advice.not_honoured(name, made)
        if made.grouped:
            advice.no_groups(name, getattr(made, "detector", None))
    limit = made.stable_dt(model.state())
    if dt is None:
        dt = round_step(limit, stepper.default_dt)
        if dt != made.dt:
            made = stepper(model, dt, variant, pairs, **options)
        advice.tiny_step(dt)
    elif stages.collision is None:
        advice.long_step(name, dt, limit, round_step(limit, stepper.default_dt))
    return name, made


def all_options(stepper: type[Method], given: Mapping[str, Any]) -> dict[str, Any]:
    """The given options and the defaults of the others, which stand in the signatures of the class and its bases."""
    found: dict[str, Any] = {}
    for base in reversed(stepper.__mro__):
        for option in signature(base.__init__).parameters.values():  # type: ignore[misc]
            if option.name in stepper.options and option.default is not Parameter.empty:
                found[option.name] = option.default
    return {**found, **given}
