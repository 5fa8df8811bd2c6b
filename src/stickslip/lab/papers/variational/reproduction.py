"""Brüdigam et al. as a reproduction: the parts of the report, in order."""

from __future__ import annotations

from stickslip.lab.papers.paper import Reproduction, table
from stickslip.lab.papers.variational.agreement import AGREEMENT
from stickslip.lab.papers.variational.conservation import CONSERVATION
from stickslip.lab.papers.variational.fig6_hopper import FIG6
from stickslip.lab.papers.variational.fig45_linear_time import FIG4, FIG5
from stickslip.lab.papers.variational.fig78_quadruped import FIG7
from stickslip.lab.papers.variational.iterations import ITERATIONS
from stickslip.lab.papers.variational.setups import DT, FULL, QUICK, ROBOT_DT, TOLERANCE, Sizes


class Variational(Reproduction):
    """Linear time over contacts and bodies; a hopper and a quadruped."""

    name = "variational"
    title = "Linear-time contact and friction in maximal coordinates, with stickslip"
    citation = (
        'Jan Brüdigam, Jana Janeva, Stefan Sosnowski, Sandra Hirche: "Linear-Time Contact and Friction Dynamics in '
        'Maximal Coordinates using Variational Integrators"'
    )
    quick_note = "fewer sizes and runs, shorter motions, one robot, coarser steps"
    contents = (FIG4, FIG5, FIG6, FIG7, CONSERVATION, ITERATIONS, AGREEMENT)
    full, quick = FULL, QUICK

    def preface(self, sizes: Sizes) -> str:
        return "\n".join([
            "## What is followed\n",
            f'`method="variational/pyramid"`, four facets, c_f = 0.2, ε = {TOLERANCE:g}. Where the paper\'s text '
            "and the code that its authors released differ, or the text cannot be meant:\n",
            table(("", "text", "released code", "here"), [
                ("time step, Figs. 4 and 5", "0.01 ms", "0.01 s", f"{DT:g} s"),
                ("time step, Figs. 6 to 8", "0.001 ms", "0.001 s", f"{ROBOT_DT:g} s"),
                ("head of the hopper", "1 kg", "0.5 kg", "1 kg"),
            ]),
            "The discrete rotational equation and the torque of friction are derived, not transcribed: in the released "
            "code a gyroscopic term has the other sign, and friction's lever half its length. How cylinder and chain "
            "start, the motions of hopper and quadruped and the friction under the latter (0.8) are not in the text; "
            "they are the bundled scenes `cylinder`, `chain`, `hopper-turn` and `a1-walk`.\n",
        ])  # fmt: skip
