"""Williams et al. as a reproduction: which studies make which parts of the report."""

from __future__ import annotations

from stickslip.lab.bench.targets import Target
from stickslip.lab.papers.paper import Reproduction, Results
from stickslip.lab.papers.rpisim import claims, convergence, drift, figures, formulations, grasp, peg, solvers
from stickslip.lab.papers.rpisim.sections import SECTIONS
from stickslip.lab.papers.rpisim.setups import FULL, QUICK, Sizes
from stickslip.lab.papers.store import Store


def _formulations(store: Store, sizes: Sizes) -> Results:
    return {"inclusion": formulations.inclusion(store, sizes), "accuracy": formulations.accuracy(store, sizes)}


class RpiSim(Reproduction):
    """The RPI simulator."""

    name = "rpisim"
    title = "The RPI simulator: the paper's figures and comparisons, with stickslip"
    citation = (
        'Williams, Lu, Niebe, Andersen, Erleben, Trinkle: "RPI-MATLAB-Simulator: A tool for efficient research and '
        'practical teaching in multibody dynamics"'
    )
    quick_note = "shorter runs, smaller stacks, fewer stored problems"
    studies = (
        (("fig4",), lambda store, sizes: {"drift": drift.study(store, sizes)}),
        (("fig8",), lambda store, sizes: {"peg": peg.study(store, sizes)}),
        (("fig9",), lambda store, sizes: {"convergence": convergence.study(store, sizes)}),
        (("fig10",), lambda store, sizes: {"grasp": grasp.study(store, sizes)}),
        (("sec52",), lambda store, sizes: {"solvers": solvers.study(store, sizes)}),
        (("sec53",), _formulations),
    )
    sections = SECTIONS
    tables = ("solvers", "inclusion", "accuracy")
    figure_patterns = ("fig*", "sec*")
    drawings = (
        ("drift", figures.drift),
        ("peg", figures.peg),
        ("convergence", figures.convergence),
        ("grasp", figures.grasp),
        ("solvers", figures.solvers),
        ("inclusion", figures.inclusion),
    )
    full, quick = FULL, QUICK

    def targets(self, results: Results) -> list[Target]:
        return claims.targets(results)
