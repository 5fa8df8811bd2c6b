"""Brüdigam et al. as a reproduction: which studies make which parts of the report."""

from __future__ import annotations

from stickslip.lab.bench.targets import Target
from stickslip.lab.papers.paper import Reproduction, Results
from stickslip.lab.papers.variational import (
    agreement,
    claims,
    conservation,
    figures,
    hopper,
    iterations,
    quadruped,
    scaling,
)
from stickslip.lab.papers.variational.sections import SECTIONS, preface
from stickslip.lab.papers.variational.setups import FULL, QUICK, Sizes


class Variational(Reproduction):
    """Linear time over contacts and bodies; a hopper and a quadruped."""

    name = "variational"
    title = "Linear-time contact and friction in maximal coordinates, with stickslip"
    citation = (
        'Jan Brüdigam, Jana Janeva, Stefan Sosnowski, Sandra Hirche: "Linear-Time Contact and Friction Dynamics in '
        'Maximal Coordinates using Variational Integrators"'
    )
    quick_note = "fewer sizes and runs, shorter motions, one robot, coarser steps"
    studies = (
        (("fig4",), lambda store, sizes: {"cylinder": scaling.study(store, sizes, "cylinder")}),
        (("fig5",), lambda store, sizes: {"chain": scaling.study(store, sizes, "chain")}),
        (("fig6",), lambda store, sizes: {"hopper": hopper.study(store, sizes)}),
        (("fig7",), lambda store, sizes: {"quadruped": quadruped.study(store, sizes)}),
        (("conservation",), lambda store, sizes: {"conservation": conservation.study(store, sizes)}),
        (("iterations",), lambda store, sizes: {"iterations": iterations.study(store, sizes)}),
        (("agreement",), lambda store, sizes: {"agreement": agreement.study(store, sizes)}),
    )
    sections = SECTIONS
    tables = ("cylinder", "chain", "hopper", "quadruped", "conservation", "iterations", "agreement")
    figure_patterns = (
        "fig4_*",
        "fig5_*",
        "fig6_*",
        "fig7_*",
        "fig8_*",
        "conservation_*",
        "iterations_*",
        "agreement_*",
    )
    drawings = (
        ("cylinder", figures.scaling),
        ("chain", figures.scaling),
        ("hopper", figures.hopper),
        ("quadruped", figures.quadruped),
        ("conservation", figures.conservation),
        ("iterations", figures.iterations),
        ("agreement", figures.agreement),
    )
    full, quick = FULL, QUICK

    def targets(self, results: Results) -> list[Target]:
        return claims.targets(results)

    def preface(self, sizes: Sizes) -> str:
        return preface()
