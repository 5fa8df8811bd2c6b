"""Every formulation by name, and which solvers fit it."""

from __future__ import annotations

from stickslip.errors import one_of
from stickslip.methods.rigid.formulations.anitescu_potra import AnitescuPotra
from stickslip.methods.rigid.formulations.coulomb import Coulomb
from stickslip.methods.rigid.formulations.formulation import FORMS, Formulation
from stickslip.methods.rigid.formulations.peg import Peg
from stickslip.methods.rigid.formulations.relaxed import Relaxed
from stickslip.methods.rigid.formulations.stewart_trinkle import StewartTrinkle
from stickslip.solvers.base import Solver
from stickslip.solvers.registry import SOLVERS

FORMULATIONS: dict[str, type[Formulation]] = {
    "stewart-trinkle": StewartTrinkle,
    "anitescu-potra": AnitescuPotra,
    "peg": Peg,
    "coulomb": Coulomb,
    "relaxed": Relaxed,
}


def make_formulation(name: str, **options) -> Formulation:
    """A formulation by name with its options."""
    one_of("formulation", name, FORMULATIONS)
    for option in options:
        one_of(f"option of {name}", option, FORMULATIONS[name].options())
    return FORMULATIONS[name](**options)


def forms_for(formulation: type[Formulation], solver: type[Solver]) -> tuple[str, ...]:
    """The forms of a formulation that a solver solves, the best first: joint impulses are kept as free variables where
    it solves mixed LCPs, else eliminated. Splitting methods cannot have velocities as unknowns."""
    order: tuple[str, ...] = ("reduced", "lcp", "ncp") if solver.splitting else ("reduced", "lcp", "mlcp", "ncp")
    order = (*order, "cone")
    if solver.prefers_cones:
        order = ("ncp", *(form for form in order if form != "ncp"))
    return tuple(form for form in order if form in formulation.forms and FORMS[form] <= solver.solves)


def fitting_solvers(formulation: type[Formulation]) -> tuple[str, ...]:
    """The solvers that fit, the formulation's usual one first."""
    names = [name for name, solver in SOLVERS.items() if forms_for(formulation, solver)]
    return tuple(sorted(names, key=lambda name: name != formulation.usual_solver))
