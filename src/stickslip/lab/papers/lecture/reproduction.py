"""Carpentier's lecture as a reproduction: the parts of the report, in order."""

from __future__ import annotations

from stickslip.lab.papers.lecture.analytic_derivatives import DERIVATIVES
from stickslip.lab.papers.lecture.bilateral_ranks import BILATERAL
from stickslip.lab.papers.lecture.contact_models import CONTACT
from stickslip.lab.papers.lecture.setups import DAMPING, DT, FORMS, FRICTION, FULL, MASS, QUICK, STIFFNESS, Sizes
from stickslip.lab.papers.lecture.stiffness_limit import STIFFNESS_LIMIT
from stickslip.lab.papers.paper import Reproduction, table


class Lecture(Reproduction):
    """Soft, rigid and relaxed contact, and analytical derivatives."""

    name = "lecture"
    title = "Contact dynamics in robotics: the lecture's models of contact side by side, with stickslip"
    citation = (
        'Justin Carpentier: "Contact Dynamics in Robotics: modeling and efficient resolution", Memmo Summer School'
    )
    quick_note = "shorter motions, fewer stiffnesses, robots and rounds"
    contents = (CONTACT, STIFFNESS_LIMIT, BILATERAL, DERIVATIVES)
    full, quick = FULL, QUICK

    def preface(self, sizes: Sizes) -> str:
        return "\n".join([
            "## The models\n",
            f"One block of {MASS:g} kg on the four corners of its lower face, μ = {FRICTION}, K = {STIFFNESS:g} N/m "
            f"and B = {DAMPING:g} N s/m per corner where a model has springs, dt = {1e3 * DT:g} ms.\n",
            table(("name", "the lecture's model", "method"),
                  [(name, form.law, f"`{form.method}`") for name, form in FORMS.items()]),
        ])  # fmt: skip
