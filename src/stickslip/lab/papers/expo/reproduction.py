"""Hammoud et al. as a reproduction: the parts of the report, in order."""

from __future__ import annotations

from stickslip.lab.papers.expo.changes import CHANGES_PART
from stickslip.lab.papers.expo.fig2_real_time_factor import FIG2
from stickslip.lab.papers.expo.fig3_step import FIG3
from stickslip.lab.papers.expo.fig4_stiffness import FIG4
from stickslip.lab.papers.expo.fig5_prediction import FIG5
from stickslip.lab.papers.expo.fig6_contact_forces import FIG6
from stickslip.lab.papers.expo.matrix_products import MATRIX_PRODUCTS
from stickslip.lab.papers.expo.setups import FULL, QUICK, TESTS, Sizes, control_steps
from stickslip.lab.papers.expo.table2_stability import TABLE2
from stickslip.lab.papers.expo.table3_breakdown import TABLE3
from stickslip.lab.papers.paper import Reproduction, table


class Expo(Reproduction):
    """Exponential integration of stiff viscoelastic contacts."""

    name = "expo"
    title = "Exponential integration of stiff contacts: the paper's figures and tables, with stickslip"
    citation = (
        'Hammoud, Olivieri, Righetti, Carpentier, Del Prete: "Exponential Integration for Efficient and Accurate '
        'Multi-Body Simulation with Stiff Viscoelastic Contacts"'
    )
    quick_note = "a few control steps and step sizes"
    contents = (FIG2, FIG3, MATRIX_PRODUCTS, TABLE2, FIG4, FIG5, FIG6, TABLE3, CHANGES_PART)
    full, quick = FULL, QUICK

    def preface(self, sizes: Sizes) -> str:
        rows = [
            (t.paper_name, t.name, f"{1e3 * t.control_dt:g}", f"{control_steps(t, sizes) * t.control_dt:g}",
             str(control_steps(t, sizes)))
            for t in (TESTS[name] for name in sizes.tests)
        ]  # fmt: skip
        return (
            "## Set-ups (Table I)\n\nK = 1e5 N/m, B = 300 N s/m, μ = 1. Control steps are the paper's; robots, "
            "references and controllers are ours. `expo/paper` is the paper's algorithm as it is written, `expo` is "
            "ours; both run in all of them.\n\n"
            + table(("test", "our scene", "control step [ms]", "simulated [s]", "control steps"), rows)
        )
