"""Anderson and Revzen as a reproduction: which studies make which parts of the report."""

from __future__ import annotations

from pathlib import Path

from stickslip.lab.bench.targets import Target
from stickslip.lab.papers.event_selected import claims, figures, hopper, irregular, order, plate
from stickslip.lab.papers.event_selected.sections import SECTIONS, preface
from stickslip.lab.papers.event_selected.setups import FULL, QUICK, Sizes
from stickslip.lab.papers.paper import Reproduction, Results


class EventSelected(Reproduction):
    """The order of projections, a hopper and a plate beside MuJoCo."""

    name = "event-selected"
    title = "A rapid integrator for multi-contact systems, with stickslip"
    citation = 'Marion Anderson, Shai Revzen: "Rapid Integrator for a Class of Multi-Contact Systems"'
    quick_note = "fewer values of ε, beds and starts"
    studies = (
        (("fig41",), order.study),
        (("table51",), hopper.study),
        (("fig52",), lambda store, sizes: plate.study(store, sizes, sizes.contacts, "plate")),
        (("beyond",), lambda store, sizes: plate.study(store, sizes, sizes.beyond, "beyond")),
        (("irregular",), lambda store, sizes: {"irregular": irregular.study(store, sizes)}),
    )
    sections = SECTIONS
    tables = ("order", "hopper", "hops", "precision", "plate", "beyond", "irregular")
    figure_patterns = ("fig41_*", "fig51_*", "hopper_*", "fig52_*", "beyond_*", "irregular_*")
    drawings = (
        ("order", figures.order),
        ("hopper", figures.hopper),
        ("plate", figures.plate),
        ("beyond", figures.beyond),
        ("irregular", figures.irregular),
    )
    full, quick = FULL, QUICK

    def targets(self, results: Results) -> list[Target]:
        return claims.targets(results)

    def preface(self, sizes: Sizes) -> str:
        return preface()

    def draw(self, results: Results, out: Path) -> list[str]:
        return super().draw(dict.fromkeys(results, results), out)  # figures here look at several results
