"""The methods of time stepping, one per formulation, with what each adds to ``TimeStepping``."""

from __future__ import annotations

from math import inf
from typing import Any, ClassVar, NamedTuple, cast

from stickslip.methods.base import Capabilities
from stickslip.methods.materials import RIGID, SPRINGS
from stickslip.methods.rigid.compiled_stepping import CompiledStepping
from stickslip.methods.rigid.formulations.anitescu_potra import AnitescuPotra
from stickslip.methods.rigid.formulations.coulomb import Coulomb
from stickslip.methods.rigid.formulations.painleve import Paradox, paradox
from stickslip.methods.rigid.formulations.peg import Peg
from stickslip.methods.rigid.formulations.registry import FORMULATIONS, fitting_solvers
from stickslip.methods.rigid.formulations.relaxed import Relaxed
from stickslip.methods.rigid.formulations.soft_reference import SoftReference
from stickslip.methods.rigid.formulations.stewart_trinkle import StewartTrinkle
from stickslip.methods.rigid.options import options_for
from stickslip.methods.rigid.time_stepping import TimeStepping
from stickslip.model.shape import combine

AHEAD = 20
"""Largest number of steps that relaxed contacts look ahead in the default margin; without it, strong dampers on weak
springs would look everywhere."""


class FollowsSolvers:
    """Capabilities of a formulation's method, read from the registries whenever they are asked for: a solver that is
    registered later is paired at once."""

    def __init__(
        self,
        name: str,
        honours: tuple[str, ...] = ("friction", "restitution", "torsion", "rolling", "adhesion"),
        bibtex: tuple[str, ...] = (),
        colour: int | None = None,
    ) -> None:
        self.name, self.honours, self.bibtex, self.colour = name, frozenset(honours), bibtex, colour

    def __get__(self, stepper: object, kind: type) -> Capabilities:
        formulation = FORMULATIONS[self.name]
        return Capabilities(
            summary=formulation.summary,
            variants=fitting_solvers(formulation),
            honours=self.honours,
            reference=formulation.reference,
            bibtex=self.bibtex,
            stability="no limit",
            colour=self.colour,
            loops=True,
        )


class StewartTrinkleMethod(CompiledStepping):
    """Stewart–Trinkle time stepping."""

    formulation_name = "stewart-trinkle"
    capabilities: ClassVar[Any] = FollowsSolvers("stewart-trinkle", bibtex=("stewart1996", "williams2013"), colour=1)
    Options = options_for(StewartTrinkle)


class AnitescuPotraMethod(CompiledStepping):
    """Anitescu–Potra time stepping."""

    formulation_name = "anitescu-potra"
    capabilities: ClassVar[Any] = FollowsSolvers("anitescu-potra", bibtex=("anitescu1997", "williams2013"), colour=5)
    at_overlap = "anitescu-potra never pushes it out"
    at_limits = "anitescu-potra never pushes it back"
    refused: ClassVar[dict[str, str]] = {"recovery_time": "it never pushes anything out"}
    Options = options_for(AnitescuPotra)


class PegMethod(CompiledStepping):
    """PEG time stepping."""

    formulation_name = "peg"
    capabilities: ClassVar[Any] = FollowsSolvers("peg", bibtex=("nguyen2010", "williams2013"), colour=3)
    Options = options_for(Peg)


CIRCULAR = {
    "directions": "its cone is circular",
    "working_set": "it is for pivoting methods, which solve polygonal cones only",
}
"""Options that methods with circular cones refuse, and why."""


class SeenParadox(NamedTuple):
    """A sliding contact in Painlevé's paradox, and between which bodies."""

    paradox: Paradox
    links: tuple[str, ...]


class CoulombMethod(CompiledStepping):
    """Coulomb's law with its exact cone."""

    formulation_name = "coulomb"
    capabilities: ClassVar[Any] = FollowsSolvers("coulomb", bibtex=("carpentier_lecture", "desaxce1998"), colour=2)
    part_of_overlap = "a part a step (option 'feedback')"
    refused = CIRCULAR
    Options = options_for(Coulomb)
    seen_paradox: SeenParadox | None = None
    """The first contact in paradox of the run."""

    def _formulate(self) -> None:
        super()._formulate()
        if self.seen_paradox is None and self._problem is not None:
            self._look_for_paradox()

    def _look_for_paradox(self) -> None:
        """Keep the first sliding contact in Painlevé's paradox, if there is one in the step at hand."""
        found = paradox(self.matrices)
        if found:
            c = self.contacts.arrays
            links = tuple(self.model.link_names[links[found[0].contact]] for links in (c.link1, c.link2))
            self.seen_paradox = SeenParadox(found[0], links)


class RelaxedMethod(CompiledStepping):
    """Relaxed, convex contacts."""

    formulation_name = "relaxed"
    capabilities: ClassVar[Any] = FollowsSolvers(
        "relaxed",
        ("friction", "stiffness", "damping", "torsion", "rolling", "adhesion"),
        ("carpentier_lecture", "todorov2014"),
        colour=4,
    )
    at_overlap = "contact springs push it out"
    refused: ClassVar[dict[str, str]] = {**CIRCULAR, "rest_speed": "its contacts bounce by stiffness and damping"}
    Options = options_for(Relaxed)

    @property
    def honours(self) -> frozenset[str]:
        hard = frozenset({"friction", "torsion", "rolling", "adhesion"})
        return self.capabilities.honours if self._soft is None else hard

    @property
    def _soft(self) -> SoftReference | None:
        return cast(Relaxed, self.formulation).soft

    def reading(self) -> dict[str, str]:
        """How materials act: springs and dampers are the regularisation R of ``relaxed``."""
        ratio = cast(Relaxed, self.formulation).friction_ratio
        reads = {**SPRINGS, **{name: RIGID[name] for name in ("preload", "torsion", "rolling", "adhesion")}}
        reads["tangent_stiffness"] = reads["tangent_damping"] = f"R_t = R_n/{ratio:g} by option friction_ratio"
        reads["friction"] = f"circular cone, relaxed: sliding contacts part, resting ones creep; R_t = R_n/{ratio:g}"
        if self._soft is None:
            reads["stiffness"] = f"a spring per contact, implicit: R_n = 1/(dt·(dt·K + B)), dt = {self.dt:g} s"
            reads["damping"] = "a damper per contact, implicit, in the same R_n"
        else:
            numbers = [" ".join(f"{x:g}" for x in row) for row in (self._soft.solref, self._soft.solimp)]
            reads["stiffness"] = reads["damping"] = "solref {} and solimp {} take its place".format(*numbers)
            reads["restitution"] = "bounce follows from solref"
        return reads

    def _ahead(self) -> float:
        """The largest B/K of any two materials, but no more than AHEAD steps [s]."""
        materials = {shape.material for shape in self.model.shapes}
        pairs = [combine(a, b) for a in materials for b in materials]
        ratios = [pair.damping / pair.stiffness if pair.stiffness > 0.0 else inf for pair in pairs]
        return max((min(ratio, AHEAD * self.dt) for ratio in ratios), default=0.0)


def method_of(name: str, class_name: str) -> type[TimeStepping]:
    """A method class for a registered formulation, whose own options it passes on."""
    kind = FORMULATIONS[name]
    members = {
        "__doc__": kind.__doc__,
        "formulation_name": name,
        "capabilities": FollowsSolvers(name),
        "Options": options_for(kind),
    }
    return type(class_name, (CompiledStepping,), members)
