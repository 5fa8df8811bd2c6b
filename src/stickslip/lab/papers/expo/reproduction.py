"""Hammoud et al. as a reproduction: which studies make which parts of the report."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from stickslip.lab.bench.targets import Target
from stickslip.lab.papers.expo import breakdown, claims, figures, forces, local_error, orders, stability, stiffness
from stickslip.lab.papers.expo.sections import SECTIONS, setups
from stickslip.lab.papers.expo.setups import FULL, QUICK, Sizes
from stickslip.lab.papers.paper import Reproduction, Results
from stickslip.lab.papers.store import Store


def _local_errors(store: Store, sizes: Sizes) -> Results:
    rows = local_error.study(store, sizes)
    return {"local_error": rows, "orders": orders.choose(rows)}


class Expo(Reproduction):
    """Exponential integration of stiff viscoelastic contacts."""

    name = "expo"
    title = "Exponential integration of stiff contacts: the paper's figures and tables, with stickslip"
    citation = (
        'Hammoud, Olivieri, Righetti, Carpentier, Del Prete: "Exponential Integration for Efficient and Accurate '
        'Multi-Body Simulation with Stiff Viscoelastic Contacts"'
    )
    quick_note = "a few control steps and step sizes"
    studies = (
        (("fig2", "fig3", "orders"), _local_errors),
        (("table2",), lambda store, sizes: {"stability": stability.study(store, sizes)}),
        (
            ("fig4",),
            lambda store, sizes: {"stiffness": stiffness.study(store, sizes), "depths": stiffness.depths(store, sizes)},
        ),
        (("fig5",), lambda store, _: {"predictions": forces.predictions(store)}),
        (("fig6",), lambda store, sizes: {"curves": forces.curves(store, sizes)}),
        (("table3",), lambda store, sizes: {"breakdown": breakdown.study(store, sizes)}),
    )
    sections = SECTIONS
    tables = ("local_error", "orders", "stability", "stiffness", "depths")
    figure_patterns = ("fig*", "orders_*")
    drawings = (
        ("local_error", figures.local_errors),
        ("local_error", figures.orders),
        ("stiffness", figures.stiffness),
        ("predictions", figures.predictions),
        ("curves", figures.curves),
    )
    full, quick = FULL, QUICK

    def targets(self, results: Results) -> list[Target]:
        return claims.targets(results)

    def preface(self, sizes: Sizes) -> str:
        return setups(sizes)

    def show(self, results: Results, console: Console) -> None:
        if "stability" in results:
            rows = results["stability"]
            tests = list(dict.fromkeys(row["test"] for row in rows))
            grid = Table(title="Table II: largest stable (upright) step \\[ms]")
            for heading in ("method", *tests):
                grid.add_column(heading, no_wrap=True, min_width=len(heading))
            for label in dict.fromkeys(row["method"] for row in rows):
                cells = []
                for test in tests:
                    pair = (stability.largest(rows, test, label, what) for what in ("stable", "upright"))
                    stable, stands = ("none" if dt is None else f"{1e3 * dt:.3g}" for dt in pair)
                    cells.append(f"{stable} ({stands})")
                grid.add_row(label, *cells)
            console.print(grid)
        if "breakdown" in results:
            times = results["breakdown"]["times"]
            grid = Table(title="Table III: time per step of the trot \\[µs]")
            for heading in ("operation", *times):
                grid.add_column(heading)
            for stage in ("step", *breakdown.STAGES):
                grid.add_row(stage, *(f"{t[stage]:.2f}" if stage in t else "" for t in times.values()))
            console.print(grid)
