"""What to cite for a method, as BibTeX: its own papers, and those of the solver that it works with.

The entries are in ``citations.bib`` beside this file; here is which method uses which. A stepper or a solver from
outside the package is cited by its ``reference``, as ``@misc``.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from stickslip.methods.base import Method
from stickslip.methods.registry import METHODS, resolve
from stickslip.solvers.registry import SOLVERS

BIBLIOGRAPHY = Path(__file__).with_name("citations.bib")
CITED: dict[str, tuple[str, ...]] = {
    "semi-implicit-euler": ("hammoud2021",),
    "euler": ("hammoud2021",),
    "rk4": ("hammoud2021", "munthekaas1998"),
    "implicit-euler": ("hammoud2021",),
    "expo": ("hammoud2021",),
    "event-selected": ("anderson2024", "dormand1980"),
    "bilateral": ("carpentier_lecture",),
    "stewart-trinkle": ("stewart1996", "williams2013"),
    "anitescu-potra": ("anitescu1997", "williams2013"),
    "peg": ("nguyen2010", "williams2013"),
    "coulomb": ("carpentier_lecture", "desaxce1998"),
    "relaxed": ("carpentier_lecture", "todorov2014"),
    "variational": ("brudigam2021",),
    "mujoco": ("todorov2012", "todorov2014"),
}
"""Registered method → keys of its papers."""
VARIANTS: dict[str, tuple[str, ...]] = {
    "lemke": ("lemke1965", "cottle1992"),
    "pivot": ("cottle1992",),
    "pgs": ("cottle1992",),
    "jacobi": ("cottle1992",),
    "fixed-point": ("studer2009",),
    "path": ("dirkse1995", "ferris1999"),
    "fischer-newton": ("fischer1992", "erleben2013"),
    "minmap-newton": ("pang1990", "erleben2013"),
    "interior-point": ("mehrotra1992", "wright1997"),
    "newton": ("todorov2014", "castro2023"),
    "cg": ("polak1969", "todorov2014"),
    "admm": ("carpentier2024", "tasora2021"),
}
"""Solver of time stepping → keys of its papers."""


def citation(method: str | type[Method] | Method) -> str:
    """BibTeX of a method: ``"expo"``, ``"coulomb/admm"``, a Method class or a stepper of a simulation."""
    if isinstance(method, Method):
        name, kind, variant = type(method).__name__, type(method), method.variant
    else:
        name, kind, variant = resolve(method)
    name = next((known for known, registered in METHODS.items() if registered is kind), name)
    if name in CITED and METHODS.get(name) is kind:
        found = [entries()[key] for key in CITED[name]]
    else:
        found = [_misc(name, kind.capabilities.summary, kind.capabilities.reference)]
    if variant in VARIANTS:
        found += [entries()[key] for key in VARIANTS[variant]]
    elif variant in SOLVERS:
        solver = SOLVERS[variant]
        found.append(_misc(variant, getattr(solver, "summary", variant), getattr(solver, "reference", "")))
    return "\n\n".join(dict.fromkeys(found)) + "\n"


@cache
def entries() -> dict[str, str]:
    """The bibliography: key → entry."""
    parts = BIBLIOGRAPHY.read_text(encoding="utf-8").strip().split("\n\n")
    return {part.split("{", 1)[1].split(",", 1)[0]: part for part in parts}


def _misc(name: str, title: str, reference: str) -> str:
    key = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    note = f",\n  note  = {{{_plain(reference)}}}" if reference else ""
    return f"@misc{{{key},\n  title = {{{_plain(f'{name}: {title}')}}}{note}\n}}"


def _plain(text: str) -> str:
    """Without what BibTeX would read as commands and groups."""
    return re.sub(r"([&%$#_])", r"\\\1", re.sub(r"[{}\\]", "", text))
