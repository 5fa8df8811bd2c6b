"""Options of time stepping, and how they join those of a formulation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, make_dataclass
from typing import Any

from stickslip.errors import InputError, number, one_of
from stickslip.maximal import Joint
from stickslip.methods.options import Options, option
from stickslip.methods.recovery import recovery_option
from stickslip.methods.rigid.formulations.formulation import DIRECTIONS, Formulation

COORDINATES = ("joint", "maximal")
BIAS = ("midpoint", "explicit")


@dataclass(kw_only=True)
class RigidOptions(Options):
    """Options of every method of time stepping."""

    coordinates: str = option("joint", "'joint': joints are eliminated; 'maximal': free bodies, joints as rows")
    bias: str = option(
        "midpoint",
        "where forces that depend on velocities are taken: 'midpoint' of the step if only known forces act, or "
        "'explicit', its beginning",
    )
    stabilise: bool | None = option(
        None, "whether maximal coordinates are pulled back to the joints after every step (default: yes)"
    )
    extra_joints: Sequence[Joint] = option(
        (), "maximal.Joint's that close loops or weld bodies, in maximal coordinates (default: none)"
    )
    directions: int | None = option(
        None, f"number of friction directions ≥ 3 of the polygonal cone (default {DIRECTIONS}; in papers 4)"
    )
    form: str | None = option(
        None, "'lcp', 'reduced', 'mlcp', 'ncp' or 'cone' (default: the first that the solver solves)"
    )
    margin: float | None = option(
        None, "gap [m] below which contacts are found (default: a Detector's own, else as far as a step can go)"
    )
    detector: Any = option(
        None, "what finds contacts: a name, a Detector, or a function of (kinematics, contacts) (default: the method's)"
    )
    solver: Callable | None = option(
        None, "a function (problem, z0) → z or SolverResult in place of the named solver (default: none)"
    )
    solver_options: dict | None = option(None, "a dict of the named solver's options (default: none)")
    unconverged: str = option(
        "warn", "what to do where a step is not solved: 'warn', 'raise', or 'fallback', a second solver"
    )
    fallback: str | None = option(None, "name of the second solver (default 'interior-point')")
    warm_start: bool = option(True, "whether iterative solvers start from the last step's impulses")
    working_set: bool = option(True, "whether pivoting methods begin with the contacts that are met without impulses")
    rest_speed: float | None = option(
        None, "approaches slower than this do not bounce [m/s] (default: what gravity gives in two steps)"
    )

    recovery_time: float = recovery_option()

    def __post_init__(self) -> None:
        one_of("coordinates", self.coordinates, COORDINATES)
        one_of("bias", self.bias, BIAS)
        if self.coordinates == "joint":
            if self.stabilise is not None:
                raise InputError("stabilise: joint coordinates keep joints exactly; use coordinates='maximal'")
            if self.extra_joints:
                raise InputError("extra_joints: joint coordinates have none; use coordinates='maximal'")
        if self.margin is not None:
            self.margin = number("margin", self.margin, "a distance ≥ 0 [m]", least=0.0)


def own_options(formulation: type[Formulation]) -> dict[str, Any]:
    """The fields that a formulation has beyond those of every formulation."""
    shared = {each.name for each in fields(Formulation)}
    return {each.name: each for each in fields(formulation) if each.init and each.name not in shared}


def options_for(formulation: type[Formulation]) -> type[RigidOptions]:
    """The options of a method: those of time stepping, and those of its formulation."""
    own = []
    for name, each in own_options(formulation).items():
        text = each.metadata.get("help", f"an option of the formulation {formulation.__name__}")
        own.append((name, each.type, field(default=each.default, metadata={"help": text}, kw_only=True)))
    return make_dataclass(f"{formulation.__name__}Options", own, bases=(RigidOptions,), kw_only=True)
