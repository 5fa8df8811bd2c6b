"""Williams et al. as a reproduction: the parts of the report, in order."""

from __future__ import annotations

from stickslip.lab.papers.paper import Reproduction
from stickslip.lab.papers.rpisim.fig4_drift import FIG4
from stickslip.lab.papers.rpisim.fig8_peg import FIG8
from stickslip.lab.papers.rpisim.fig9_convergence import FIG9
from stickslip.lab.papers.rpisim.fig10_grasp import FIG10
from stickslip.lab.papers.rpisim.sec52_solvers import SEC52
from stickslip.lab.papers.rpisim.sec53_formulations import SEC53
from stickslip.lab.papers.rpisim.setups import FULL, QUICK


class RpiSim(Reproduction):
    """The RPI simulator."""

    name = "rpisim"
    title = "The RPI simulator: the paper's figures and comparisons, with stickslip"
    citation = (
        'Williams, Lu, Niebe, Andersen, Erleben, Trinkle: "RPI-MATLAB-Simulator: A tool for efficient research and '
        'practical teaching in multibody dynamics"'
    )
    quick_note = "shorter runs, smaller stacks, fewer stored problems"
    contents = (FIG4, FIG8, FIG9, FIG10, SEC52, SEC53)
    full, quick = FULL, QUICK
