"""Carpentier's lecture as a reproduction: which studies make which parts of the report."""

from __future__ import annotations

from stickslip.lab.bench.targets import Target
from stickslip.lab.papers.lecture import claims, derivatives, experiments, figures, ranks, stiffness
from stickslip.lab.papers.lecture.sections import SECTIONS, preface
from stickslip.lab.papers.lecture.setups import FULL, QUICK, Sizes
from stickslip.lab.papers.paper import Reproduction, Results
from stickslip.lab.papers.store import Store


def _derivatives(store: Store, sizes: Sizes) -> Results:
    return {
        "accuracy": derivatives.accuracy(store, sizes),
        "differences": derivatives.differences(store, sizes),
        "timing": derivatives.timing(store, sizes),
    }


class Lecture(Reproduction):
    """Soft, rigid and relaxed contact, and analytical derivatives."""

    name = "lecture"
    title = "Contact dynamics in robotics: the lecture's models of contact side by side, with stickslip"
    citation = (
        'Justin Carpentier: "Contact Dynamics in Robotics: modeling and efficient resolution", Memmo Summer School'
    )
    quick_note = "shorter motions, fewer stiffnesses, robots and rounds"
    studies = (
        (("contact",), lambda store, sizes: {"experiments": experiments.study(store, sizes)}),
        (("stiffness",), lambda store, sizes: {"stiffness": stiffness.study(store, sizes)}),
        (("bilateral",), lambda store, sizes: {"ranks": ranks.study(store, sizes)}),
        (("derivatives",), _derivatives),
    )
    sections = SECTIONS
    tables = ("experiments", "stiffness", "ranks", "accuracy", "differences", "timing")
    figure_patterns = (
        "penetration_*", "pulling_*", "force_*", "lift_*", "creep_*", "stiffness_*", "finite_*", "derivative_*",
    )  # fmt: skip
    drawings = (
        ("experiments", figures.experiments),
        ("stiffness", figures.stiffness),
        ("differences", figures.differences),
        ("timing", figures.timing),
    )
    full, quick = FULL, QUICK

    def targets(self, results: Results) -> list[Target]:
        return claims.targets(results)

    def preface(self, sizes: Sizes) -> str:
        return preface()
