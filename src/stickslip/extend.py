"""Your own solver, detector, formulation or method, from outside the package: each gets a name, and from then on it is
a method like any other, in ``Simulation``, in ``compare`` and on the command line.

>>> @ss.extend.solver("mine", solves=["lcp"])
... def mine(problem, z):
...     return z  # such that 0 ≤ z ⟂ problem.A @ z + problem.b ≥ 0
>>> ss.Simulation(scene, "stewart-trinkle/mine")

The functions check what they are given and write it into the registries ``solvers.SOLVERS``, ``DETECTORS``,
``FORMULATIONS`` and ``METHODS``. Names of the package are refused; a name of your own may be used again, as when the
cell of a notebook runs twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.contacts import ContactList
from stickslip.collision.convex.detect import ConvexDetector
from stickslip.collision.detector import Detector
from stickslip.collision.detectors import DETECTORS
from stickslip.errors import InputError, deprecated, expected, unknown
from stickslip.methods.base import Capabilities, Method
from stickslip.methods.options import Options, option
from stickslip.methods.plain import PlainMethod
from stickslip.methods.registry import METHODS
from stickslip.methods.rigid.formulations.formulation import FORMS, Formulation
from stickslip.methods.rigid.formulations.registry import FORMULATIONS, fitting_solvers, make_formulation
from stickslip.methods.rigid.rigid_methods import method_of
from stickslip.model.model import Model
from stickslip.solvers.base import Outcome, Solver, Status
from stickslip.solvers.registry import SOLVERS

__all__ = [
    "DETECTORS",
    "FORMULATIONS",
    "Capabilities",
    "ContactList",
    "ConvexDetector",
    "Detector",
    "Formulation",
    "Method",
    "Options",
    "PlainMethod",
    "detector",
    "formulation",
    "kernel",
    "make_formulation",
    "method",
    "option",
    "solver",
]

T = TypeVar("T")
KINDS = ("lcp", "mlcp", "ncp", "cone")
"""Kinds of problems, as ``Problem.kind`` has them."""
OUTSIDE = "from outside the package"
BUILT_IN = {
    "solver": frozenset(SOLVERS),
    "detector": frozenset(DETECTORS),
    "formulation": frozenset(FORMULATIONS),
    "method": frozenset(METHODS),
}


def solver(
    name: str, *, solves: Iterable[str] | None = None, iterative: bool = True, reference: str = ""
) -> Callable[[T], T]:
    """Register a function ``(problem, z) → z`` or ``(z, iterations)``, or a ``solvers.Solver`` class.

    ``z`` (n,) is the start, yours to overwrite; ``solves`` names the kinds of problems, of "lcp", "mlcp", "ncp" and
    "cone" (a class says it itself). ``iterative=False`` is for pivoting methods, which take no start and then get the
    contacts that matter first. Whether the answer is a solution is judged by its natural residual, as of every solver.
    """
    _check_name("solver", name)
    kinds = frozenset(["lcp"] if solves is None else [solves] if isinstance(solves, str) else solves)

    def register(thing: T) -> T:
        kind: Any = thing
        if isinstance(thing, type):
            if solves is not None:
                raise expected(
                    f"solves of {name!r}", "it in the class, where one is registered", solves, "leave it out"
                )
            _check_class("solver", name, thing, Solver)
            if not hasattr(thing, "solves"):
                remedy = f"solves: ClassVar = frozenset({{'lcp'}}), of {', '.join(KINDS)}"
                raise InputError(f"solver {name!r}: {thing.__name__} does not say what it solves; give it {remedy}")
            _describe(thing, name)
        elif callable(thing):
            members = {
                "__doc__": thing.__doc__,
                "function": staticmethod(thing),
                "summary": first_line(thing, name),
                "reference": reference or OUTSIDE,
                "solves": kinds,
                "iterative": iterative,
            }
            kind = type(_class_name(name), (FunctionSolver,), members)
        else:
            raise expected(f"solver {name!r}", "a function (problem, z) → z or a Solver class", thing)
        for word in kind.solves:
            if word not in KINDS:
                raise unknown("kind of problem", str(word), KINDS)
        if not kind.solves:
            raise expected(f"solves of {name!r}", f"some of {', '.join(KINDS)}", "none")
        SOLVERS[name] = kind
        return thing

    return register


@dataclass
class FunctionSolver(Solver):
    """A Python function as a solver; subclasses name the function."""

    function: ClassVar[Callable]

    def _solve(self, problem: Any, z: np.ndarray) -> Outcome:
        answer = type(self).function(problem, z)
        found, iterations = answer if isinstance(answer, tuple) else (answer, 0)
        if np.shape(found) != (problem.n,):
            wanted = f"z of shape ({problem.n},), or (z, iterations)"
            raise expected(f"answer of {type(self).function.__name__}", wanted, np.shape(found))
        return Outcome(np.asarray(found, dtype=float), Status.CONVERGED, int(iterations), np.empty(0))


def detector(name: str) -> Callable[[T], T]:
    """Register a ``Detector`` class, or any function of (model, margin) that returns a ``Detector``, for
    ``Simulation(scene, "coulomb", detector=name)``."""
    _check_name("detector", name)

    def register(thing: T) -> T:
        if isinstance(thing, type):
            _check_class("detector", name, thing, Detector)
        elif not callable(thing):
            raise expected(f"detector {name!r}", "a Detector class or a function of (model, margin)", thing)
        make: Any = thing

        def made(model: Model, margin: float) -> Detector:
            found = make(model, margin)
            if not isinstance(found, Detector):
                raise expected(f"detector {name!r}", "a Detector from (model, margin)", found)
            return found

        made.__doc__ = thing.__doc__
        DETECTORS[name] = made
        return thing

    return register


def formulation(name: str) -> Callable[[T], T]:
    """Register a ``Formulation`` class, and with it the method ``name`` of joint or maximal coordinates, paired with
    every solver that fits one of its forms."""
    _check_name("formulation", name)
    _check_name("method", name, also=FORMULATIONS)

    def register(thing: T) -> T:
        _check_class("formulation", name, thing, Formulation)
        kind: Any = thing
        for form in kind.forms:
            if form not in FORMS:
                raise unknown(f"form of {name}", str(form), FORMS)
        if not fitting_solvers(kind):
            raise InputError(f"formulation {name!r}: no solver solves its forms {', '.join(kind.forms)}")
        _describe(kind, name)
        FORMULATIONS[name] = kind
        METHODS[name] = method_of(name, _class_name(name))
        return thing

    return register


def method(name: str) -> Callable[[T], T]:
    """Register a ``Method`` class as a method."""
    _check_name("method", name)

    def register(thing: T) -> T:
        _check_class("method", name, thing, Method)
        kind: Any = thing
        if not isinstance(getattr(kind, "capabilities", None), Capabilities):
            got = getattr(kind, "capabilities", "none")
            raise expected(
                f"capabilities of {name!r}", "ss.extend.Capabilities(summary, variants, honours, order, reference)", got
            )
        if not kind.capabilities.variants:
            raise expected(
                f"variants of {name!r}", "at least one, the default first", "none", "('none',) has no contacts"
            )
        for variant in kind.capabilities.variants:
            _check_spelling(f"variant of {name!r}", variant)
        METHODS[name] = kind
        return thing

    return register


def first_line(thing: Any, name: str) -> str:
    """The first line of its docstring, for lists, or its name if it has none."""
    text = (thing.__doc__ or "").strip()
    return text.splitlines()[0].strip().rstrip(".") if text else name


def _describe(kind: Any, name: str) -> None:
    """Summary and reference, where a class has none."""
    if not hasattr(kind, "summary"):
        kind.summary = first_line(kind, name)
    if not hasattr(kind, "reference"):
        kind.reference = OUTSIDE


def _check_spelling(what: str, name: Any) -> None:
    if not isinstance(name, str) or not re.fullmatch(r"\w[\w.+-]*", name):
        raise expected(what, "a word without slashes, commas and spaces, such as 'my-lemke'", name)


def _check_name(what: str, name: Any, also: Iterable[str] = ()) -> None:
    _check_spelling(f"name of a {what}", name)
    if name in BUILT_IN[what]:
        raise expected(f"name of a {what}", "one that the package does not use", name, "choose another")
    if what == "method" and name in FORMULATIONS and name not in also:
        raise expected("name of a method", "one that no formulation has", name, "choose another")


def _check_class(what: str, name: str, thing: Any, base: type) -> None:
    if not isinstance(thing, type) or not issubclass(thing, base):
        raise expected(f"{what} {name!r}", f"a subclass of {base.__name__}", thing)
    missing = sorted(getattr(thing, "__abstractmethods__", ()))
    if missing:
        lacks = ", ".join(missing)
        raise InputError(f"{what} {name!r}: {thing.__name__} does not provide {lacks}; see help(ss.{base.__name__})")


def _class_name(name: str) -> str:
    return "".join(part.capitalize() for part in re.split(r"\W+", name)) or "FromOutside"


def __getattr__(name: str) -> Any:
    if name != "stepper":
        raise AttributeError(f"module 'stickslip.extend' has no attribute {name!r}")
    deprecated("ss.extend.stepper", "ss.extend.method")
    return method
