"""Anderson and Revzen as a reproduction: the parts of the report, in order."""

from __future__ import annotations

from stickslip.lab.papers.event_selected.beyond_1000_contacts import BEYOND
from stickslip.lab.papers.event_selected.fig11_three_legs import FIG11
from stickslip.lab.papers.event_selected.fig41_order import FIG41
from stickslip.lab.papers.event_selected.fig52_identical import ALIKE
from stickslip.lab.papers.event_selected.fig52_plate import FIG52
from stickslip.lab.papers.event_selected.irregular_beds import IRREGULAR
from stickslip.lab.papers.event_selected.setups import (
    BED_WIDTH,
    DAMPING_RATIO,
    FULL,
    PLATE_LENGTH,
    QUICK,
    STIFFNESS,
    Sizes,
)
from stickslip.lab.papers.event_selected.table51_hopper import TABLE51
from stickslip.lab.papers.paper import Reproduction


class EventSelected(Reproduction):
    """Three preloaded legs, the order of projections, a hopper and a plate beside MuJoCo."""

    name = "event-selected"
    title = "A rapid integrator for multi-contact systems, with stickslip"
    citation = 'Marion Anderson, Shai Revzen: "Rapid Integrator for a Class of Multi-Contact Systems"'
    quick_note = "fewer values of ε, beds and starts"
    contents = (FIG11, FIG41, TABLE51, FIG52, ALIKE, BEYOND, IRREGULAR)
    full, quick = FULL, QUICK

    def preface(self, sizes: Sizes) -> str:
        return "\n".join([
            "## What is followed\n",
            "`solve_ess`, whose listing in the paper does not run as printed; the guards of Tab. 4.1 are (x, y, −z), "
            "the hopper's are at L₀, and crossing a guard arms its opposite. Not in the text, and ours: "
            f"k/m = {STIFFNESS:g} 1/s² of the hopper and of a whole bed; a plate of 1 kg, {PLATE_LENGTH:g} m, above a "
            f"bed of {BED_WIDTH:g} m, damping ratio {DAMPING_RATIO:g}; 2 s. MuJoCo's contacts are given exactly these "
            "springs and dampers (`mujoco_models.py` says how), so that both integrate the same system: its error goes "
            "to zero with its step. Times need a quiet machine.\n",
        ])  # fmt: skip
