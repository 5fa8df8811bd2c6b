"""From a method's name to a stepper made for a model: options, the default time step, and what to warn of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError
from scipy.sparse.linalg import ArpackError

from stickslip.collision.reach import Reach
from stickslip.errors import InputError, ModelError, deprecated, listed
from stickslip.methods.base import Method, old_arguments
from stickslip.methods.materials import asked_for
from stickslip.methods.registry import METHODS, resolve
from stickslip.model.arrays import FREE, SLIDE
from stickslip.model.model import Model, State
from stickslip.simulation import advice
from stickslip.simulation.periods import divides, dividing_step, round_step
from stickslip.simulation.stages import Stages

SOFT, RIGID, UNEQUAL = "semi-implicit-euler", "coulomb/pgs", "coulomb/admm"
"""The methods that a simulation chooses from if none is named."""
USABLE_STEP = 2e-5
"""[s] shortest default step with which spring-damper contacts count as usable. A step of a large robot with meshes
takes about as long, so that with shorter ones it would not run in real time."""
SUNK = 0.02
"""How far the weight of all free bodies may press default contact springs in, as a fraction of the smallest one's size.
With these springs a crate of a tonne stands 10 cm deep in the floor."""
MASS_RATIO = 10.0
"""Ratio of the masses of free bodies above which Gauss–Seidel sweeps leave steps of stacks unsolved."""


def choose_method(model: Model, dt: float | None, stages: Stages, options: Mapping[str, Any]) -> tuple[str, str]:
    """(name, reason in one sentence) of the method for a simulation that names none.

    Spring-damper contacts by explicit steps are the simplest method, and every stage of it may be a Python function.
    But light links and short levers, which most robot files have, force its steps down to microseconds, and heavy
    bodies sink into its springs. Then the choice is rigid contact, whose step does not depend on them, by a solver that
    the ratio of masses allows.
    """
    _, stepper, variant = resolve(SOFT)
    if options or not stages.whole:
        return SOFT, f"{SOFT}, the default where options or functions for stages are given"
    limit = stable_step(_make(stepper, model, stepper.default_dt, variant, options), model.state())
    usable = round_step(limit, stepper.default_dt)
    masses, sizes = _free_bodies(model)
    asked = asked_for(model).get("stiffness")
    pressed = 0.0
    if asked is not None and not asked.said and len(masses):
        pressed = float(masses.sum() * np.linalg.norm(model.inertia.gravity)) / asked.least
    if dt is not None and dt > limit:
        why = f"springs and dampers would need steps below {limit:.2g} s in this scene, and dt is {dt:g} s"
    elif usable < USABLE_STEP and dt is None:
        why = f"springs and dampers would need steps of {usable:g} s in this scene"
    elif pressed > SUNK * sizes.min(initial=np.inf):
        why = f"the weight of this scene would press default contact springs in by {pressed:.2g} m"
    else:
        return SOFT, f"{SOFT}, because steps of {usable:g} s are stable with its springs and dampers"
    ratio = masses.max() / masses.min() if len(masses) else 1.0
    if ratio > MASS_RATIO:
        return UNEQUAL, f"{UNEQUAL}, because {why}, and one body is {ratio:.2g} times as heavy as another"
    return RIGID, f"{RIGID}, because {why}"


def _free_bodies(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """Masses [kg] and sizes [m] of the trees of links that no joint holds up: bodies and robots with a free base, or
    with one that slides."""
    tree, radius = model.tree, Reach(model).radius
    roots = [
        b for b in range(1, model.nlink)
        if tree.root[b] == b and tree.joint_type[tree.joint_start[b]] in (FREE, SLIDE) and radius[tree.root == b].any()
    ]  # fmt: skip
    mass = np.array([model.inertia.mass[tree.root == b].sum() for b in roots])
    return mass, np.array([radius[tree.root == b].max() for b in roots])


USELESS_STEP = 1e-8
"""[s] A default step that is shorter would never bring a simulation to an end."""


def stable_step(made: Method, state: State) -> float:
    """The method's longest stable step [s]; 0 if the scene spans so many decades that its eigenvalues are lost."""
    try:
        return made.stable_dt(state)
    except (ArpackError, LinAlgError):
        return 0.0


def make_method(
    model: Model,
    method: str | type[Method],
    dt: float | None,
    stages: Stages,
    options: Mapping[str, Any],
    period: float | None = None,
) -> tuple[str, Method, float]:
    """(name, stepper, largest stable step [s]) of a method; ``dt`` [s] None takes that of the file for this method, or
    a stable round one, of which a controller's ``period`` [s] is a multiple."""
    name, stepper, variant = resolve(method)
    if dt is None:
        dt = stepper.step_of_file(model)
        dt = dt if dt is None else _dividing(dt, period)
    stepper.Options.check_names(name, options, stepper.refused)
    if model.loops and not stepper.capabilities.loops:
        held = listed(repr(loop.name) for loop in model.loops)
        able = ", ".join(other for other, kind in METHODS.items() if kind.capabilities.loops)
        raise InputError(f"method {name!r}: does not hold closed loops ({held}); methods that do: {able}")
    if variant == "none" and (stages.collision is not None or stages.formulate is not None):
        raise InputError(f"method {method!r} has no contacts; leave out the collision and formulate functions")
    longest = stepper.longest_step(model)
    made = _make(stepper, model, dt or longest, variant, options)
    if variant != "none" and stages.collision is None:
        advice.not_honoured(name, made)
        if made.grouped:
            advice.no_groups(name, getattr(made, "detector", None))
    limit = stable_step(made, model.state())
    if dt is None:
        if not limit > USELESS_STEP:
            raise ModelError(
                f"method {name!r}: expected a scene in which a usable time step is stable, got {limit:.2g} s; "
                "look for extreme masses, stiffnesses and distances (`stickslip doctor`), or give dt"
            )
        dt = _dividing(round_step(limit, longest), period)
        if dt != made.dt:
            made = _make(stepper, model, dt, variant, options)
        advice.tiny_step(dt)
    elif stages.collision is None:
        advice.long_step(name, dt, limit, round_step(limit, longest))
        advice.softened_contacts(name, made)
    return name, made, limit


def _dividing(dt: float, period: float | None) -> float:
    """The step, or a shorter one [s] of which the period [s] is a multiple."""
    return dt if period is None or divides(dt, period) else dividing_step(dt, period)


def _make(stepper: type[Method], model: Model, dt: float, variant: str, options: Mapping[str, Any]) -> Method:
    """The stepper; methods from outside may still ask for the argument ``pairs``."""
    more = old_arguments(stepper)
    if more:
        deprecated("Method.__init__(…, variant, pairs, …)", "Method.__init__(…, variant, …)")
    return stepper(model, dt, variant, *more, **options)
