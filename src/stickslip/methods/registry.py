"""Every method by name; a new method is one line here.

A method is spelled ``name`` or ``name/variant``. A variant is a contact model, a cone or, in time stepping, a solver.
"""

from __future__ import annotations

from stickslip.errors import InputError, listed, suggested, unknown
from stickslip.methods.base import Method
from stickslip.methods.bilateral.bilateral import BilateralMethod
from stickslip.methods.event_selected.event_selected import EventSelected
from stickslip.methods.explicit.euler import Euler
from stickslip.methods.explicit.rk4 import RK4
from stickslip.methods.explicit.semi_implicit_euler import SemiImplicitEuler
from stickslip.methods.expo.expo import Expo
from stickslip.methods.implicit_euler.implicit_euler import ImplicitEuler
from stickslip.methods.mujoco.mujoco import MuJoCo
from stickslip.methods.rigid.rigid_methods import (
    AnitescuPotraMethod,
    CoulombMethod,
    PegMethod,
    RelaxedMethod,
    StewartTrinkleMethod,
)
from stickslip.methods.variational.variational import Variational
from stickslip.solvers.registry import SOLVERS

METHODS: dict[str, type[Method]] = {
    "semi-implicit-euler": SemiImplicitEuler,
    "euler": Euler,
    "rk4": RK4,
    "implicit-euler": ImplicitEuler,
    "expo": Expo,
    "event-selected": EventSelected,
    "bilateral": BilateralMethod,
    "stewart-trinkle": StewartTrinkleMethod,
    "anitescu-potra": AnitescuPotraMethod,
    "peg": PegMethod,
    "coulomb": CoulombMethod,
    "relaxed": RelaxedMethod,
    "variational": Variational,
    "mujoco": MuJoCo,
}

VARIANTS: dict[str, str] = {
    "spring-damper": "viscoelastic contacts with Coulomb friction, between all convex shapes",
    "paper": "viscoelastic contacts as Hammoud et al. integrate them, step by step",
    "sticking": "every contact that touches becomes a joint: it neither slips nor, by default, lets go",
    "pyramid": "rigid contacts with Coulomb friction in a pyramid of four or more facets",
    "circular": "rigid contacts with Coulomb friction in the circular cone",
    "soft": "MuJoCo's contacts: convex, regularised by solref and solimp, friction in the circular cone",
    "none": "no contacts: free flight",
}
"""Variants that are not solvers."""


def variants() -> dict[str, str]:
    """Every variant and what it is: those of ``VARIANTS``, the registered solvers, and those of registered methods."""
    solvers = {name: f"solver of time stepping; {solver.summary}" for name, solver in SOLVERS.items()}
    own = {variant: f"of {name}" for name, stepper in METHODS.items() for variant in stepper.capabilities.variants}
    return {**own, **VARIANTS, **solvers}


def option_lines() -> list[str]:
    """Every option of the registered methods with its help, a line each, and the methods that have it."""
    owners: dict[tuple[str, str], list[str]] = {}
    for name, method in METHODS.items():
        for option, text in method.option_help().items():
            owners.setdefault((option, text), []).append(name)
    return [f"{option}: {text} [{', '.join(names)}]" for (option, text), names in owners.items()]


def method_names() -> list[str]:
    """Every method that can be asked for, the plain names first."""
    paired = [f"{name}/{variant}" for name, stepper in METHODS.items() for variant in stepper.capabilities.variants]
    return [*METHODS, *paired]


def resolve(method: str | type[Method]) -> tuple[str, type[Method], str]:
    """(name, class, variant) of a method; an impossible pairing is an error that names the possible ones."""
    if isinstance(method, type) and issubclass(method, Method):
        return method.__name__, method, method.capabilities.variants[0]
    if not isinstance(method, str):
        raise InputError(f"method: expected a name or a Method class, got {method!r}; see 'stickslip list'")
    name, _, variant = method.partition("/")
    if name not in METHODS:
        raise unknown("method", method, METHODS)
    variants = METHODS[name].capabilities.variants
    if variant and variant not in variants:
        near = " or ".join(repr(f"{name}/{choice}") for choice in suggested(variant, variants))
        hint = f"did you mean {near}? " if near else ""
        possible = listed((f"{name}/{choice}" for choice in variants), 6)
        raise InputError(f"method {method!r}: {name!r} cannot be paired with {variant!r}; {hint}possible: {possible}")
    return name, METHODS[name], variant or variants[0]
