"""Lessons that several cases share."""

from __future__ import annotations

from collections.abc import Mapping

from stickslip.lab.truth.case import Lesson

FOUR = "stewart-trinkle, 4 directions"
"""The name of Stewart and Trinkle's method with four friction directions, half of the default's."""
PAPERS_CONE = {FOUR: ("stewart-trinkle", {"directions": 4})}
"""What that name stands for."""
PYRAMIDS = ("stewart-trinkle*", "anitescu-potra*", "peg*", "variational/pyramid")
"""Methods whose friction cone is a pyramid."""


def unstable(limits: Mapping[str, float]) -> tuple[Lesson, ...]:
    """Lessons about explicit steps on contact springs; ``limits`` are the longest steps [s] with right answers."""
    known = ", ".join(f"{1e3 * limit:.2g} ms ({method})" for method, limit in limits.items())
    text = (
        f"Explicit steps on stiff springs. Measured, the answers are right up to dt = {known}; beyond, contacts swing "
        "on instead of coming to rest, and steps that are much longer throw the body about. The simulation warns of it "
        "at the start."
    )
    return tuple(Lesson((method,), text, shortest=limit) for method, limit in limits.items())


def thrown(what: str, quantities: tuple[str, ...], shortest: float) -> Lesson:
    """A lesson about explicit steps that are so long, from ``shortest`` [s] on, that contacts throw bodies about."""
    text = (
        f"Explicit steps on stiff springs are unstable at this length. {what} The simulation warns of it at the start."
    )
    return Lesson(("semi-implicit-euler", "euler", "rk4"), text, quantities, shortest=shortest)


def sticks(what: str, quantities: tuple[str, ...] = ("*",)) -> Lesson:
    """A lesson about bilateral contacts; ``what`` says what they do in the scene."""
    return Lesson(
        ("bilateral*",), f"A contact that touches becomes a joint: it neither slips nor lets go. {what}", quantities
    )


def creeps(load: str, quantities: tuple[str, ...]) -> Lesson:
    """A lesson about relaxed contacts; ``load`` gives load and speed in the scene, in words."""
    text = (
        "Friction of a relaxed contact that sticks is a damper, f = (K·dt + B)·v, with K = 1e5 N/m and B = 300 N s/m: "
        f"under a load it creeps. {load} A longer step creeps less; a larger friction_ratio too."
    )
    return Lesson(("relaxed*",), text, quantities)
