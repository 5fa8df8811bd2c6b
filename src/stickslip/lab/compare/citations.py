"""What to cite for a method, as BibTeX: its own papers, and those of the solver that it works with.

Methods and solvers declare the keys of their entries in ``stickslip/references.bib``. One from outside the package may
declare whole entries; without any it is cited by its ``reference``, as ``@misc``.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from stickslip.methods.base import Method
from stickslip.methods.registry import METHODS, resolve
from stickslip.solvers.registry import SOLVERS


def citation(method: str | type[Method] | Method) -> str:
    """BibTeX of a method: ``"expo"``, ``"coulomb/admm"``, a Method class or the stepper of a simulation."""
    if isinstance(method, Method):
        name, kind, variant = type(method).__name__, type(method), method.variant
    else:
        name, kind, variant = resolve(method)
    name = next((known for known, registered in METHODS.items() if registered is kind), name)
    declared = kind.capabilities
    own = "capabilities" in vars(kind)  # a subclass that declares nothing is not its parent's paper
    found = _entries(name, declared.bibtex if own else (), declared.summary, declared.reference)
    if variant in SOLVERS:
        solver = SOLVERS[variant]
        found += _entries(variant, solver.bibtex, solver.summary, solver.reference)
    return "\n\n".join(dict.fromkeys(found)) + "\n"


def _entries(name: str, bibtex: tuple[str, ...], summary: str, reference: str) -> list[str]:
    if not bibtex:
        return [_misc(name, summary, reference)]
    return [key if key.startswith("@") else entries()[key] for key in bibtex]


@cache
def entries() -> dict[str, str]:
    """The bibliography: key → entry."""
    parts = files("stickslip").joinpath("references.bib").read_text(encoding="utf-8").strip().split("\n\n")
    return {part.split("{", 1)[1].split(",", 1)[0]: part for part in parts}


def _misc(name: str, title: str, reference: str) -> str:
    key = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    note = f",\n  note  = {{{_plain(reference)}}}" if reference else ""
    return f"@misc{{{key},\n  title = {{{_plain(f'{name}: {title}')}}}{note}\n}}"


def _plain(text: str) -> str:
    """Without what BibTeX would read as commands and groups."""
    return re.sub(r"([&%$#_])", r"\\\1", re.sub(r"[{}\\]", "", text))
