"""How a method reads the materials of a scene's surfaces, in words: one source for reports and for warnings.

A method says in ``reads`` what each property of a material becomes, or, if it does not honour the property, what takes
its place. This module finds what the scene asks for, and makes sentences of both.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from stickslip.collision.contacts import PROPERTIES
from stickslip.model.model import Model
from stickslip.model.shape import Material, Shape, combine

NAMES = {
    "friction": ("friction μ", ""),
    "stiffness": ("stiffness K", " N/m"),
    "damping": ("damping B", " N s/m"),
    "restitution": ("restitution e", ""),
    "preload": ("preload P", " N"),
    "torsion": ("torsion μ_t", " m"),
    "rolling": ("rolling μ_r", " m"),
    "adhesion": ("adhesion A", " N"),
    "tangent_stiffness": ("tangent_stiffness K_t", " N/m"),
    "tangent_damping": ("tangent_damping B_t", " N s/m"),
}
"""The properties in the order of rows of ``material``: name and unit in sentences."""
ALONG = ("tangent_stiffness", "tangent_damping")
"""Properties that are those along the normal unless a surface says them."""
UNSAID = ("acts as the method defines it", "does not act")
"""What is said of honoured properties and of others if a method from outside says nothing."""

SPRINGS = {
    "friction": "Coulomb's circular cone; until it slips, a spring and a damper along the surface",
    "stiffness": "springs in every direction, which the contact points of a pair share",
    "damping": "dampers in every direction, which the contact points of a pair share",
    "tangent_stiffness": "the springs along the surface, in place of K",
    "tangent_damping": "the dampers along the surface, in place of B",
    "restitution": "bounce follows from stiffness and damping",
    "preload": "presses as soon as a contact touches",
    "torsion": "a torque about the normal up to μ_t times the normal force; until it slips, a spring and a damper",
    "rolling": "a torque about the tangents up to μ_r times the normal force; until it slips, a spring and a damper",
    "adhesion": "pulls while a contact is within its distance, besides what the springs push",
}
RIGID = {
    "friction": "a polygonal cone",
    "stiffness": "contacts are rigid",
    "damping": "contacts are rigid",
    "restitution": "Newton's law of impact",
    "preload": "contacts press no more than they must",
    "torsion": "a torque about the normal up to μ_t times the normal force, besides the cone",
    "rolling": "a torque about the tangents up to μ_r times the normal force, besides the cone",
    "adhesion": "pulls while a contact is within its distance; the rigid contact holds against it",
    "tangent_stiffness": "contacts are rigid",
    "tangent_damping": "contacts are rigid",
}
VARIATIONAL = {
    **RIGID,
    "friction": "Coulomb's cone, as a pyramid or as the circle, by the variant",
    "restitution": "impacts are inelastic",
}
STICKING = {
    **VARIATIONAL,
    "friction": "contacts stick under any load",
    "torsion": "bodies spin about the normal without friction",
    "rolling": "bodies roll without friction",
    "restitution": "contacts stay where they touch",
    "adhesion": "contacts pull without limit; with release=True up to the adhesion",
}


class Asked(NamedTuple):
    """What the pairs of surfaces that may touch ask for, of one property."""

    least: float
    largest: float
    said: bool
    """Whether a surface says so; else it is the default of all."""


def asked_for(model: Model) -> dict[str, Asked]:
    """By property, of all shapes that are allowed to touch; empty where nothing can touch."""
    solid, rows = solid_shapes(model), combined_materials(model)
    if len(rows) == 0:
        return {}
    said = [
        any(getattr(shape.material, name) is not None for shape in solid) or (bool(model.pairs) and name not in ALONG)
        for name in NAMES
    ]
    least, largest = rows.min(axis=0)[: len(NAMES)], rows.max(axis=0)[: len(NAMES)]
    return {
        name: Asked(float(low), float(high), given)
        for name, low, high, given in zip(NAMES, least, largest, said, strict=True)
    }


def solid_shapes(model: Model) -> list[Shape]:
    """The shapes that can touch something."""
    return [shape for shape in model.shapes if shape.solid]


def combined_materials(model: Model) -> np.ndarray:
    """(n, 11) rows of ``Contacts.material`` of the pairs that may touch, by kinds of surfaces: of a thousand equal
    balls one row."""
    kinds: dict[tuple[Material, int, int], set[int]] = {}
    for shape in solid_shapes(model):
        kinds.setdefault((shape.material, shape.group, shape.mask), set()).add(shape.link)
    parent = model.tree.parent if model.filter_parents else np.full(model.nlink, -1)

    def apart(a: int, b: int) -> bool:
        return a != b and not (a and parent[b] == a) and not (b and parent[a] == b)

    rows = []
    for one, other in itertools.combinations_with_replacement(kinds, 2):
        meet = one[1] & other[2] or other[1] & one[2]
        if meet and any(apart(a, b) for a in kinds[one] for b in kinds[other]):
            rows.append(combine(one[0], other[0]).row)
    rows += [pair.material.row for pair in model.pairs]
    return np.array(rows).reshape(-1, PROPERTIES)


def how_read(asked: Mapping[str, Asked], honours: frozenset[str], reads: Mapping[str, str]) -> tuple[str, ...]:
    """A sentence for each property that plays a part."""
    if not asked:
        return ("nothing can touch: materials do not act",)
    return tuple(
        f"{_value(name, values)}: {reads.get(name, UNSAID[0]) if name in honours else _instead(name, reads)}"
        for name, values in asked.items()
        if (values.largest > 0.0 and (values.said or name not in ALONG))
        or name in honours & {"friction", "stiffness", "damping"}
    )


def beyond(asked: Mapping[str, Asked], honours: frozenset[str], reads: Mapping[str, str]) -> dict[str, str]:
    """What the scene asks for and the method cannot give, by property: ``restitution e = 0.7: …``."""
    return {
        name: f"{_value(name, values)}: {reads.get(name, UNSAID[1])}"
        for name, values in asked.items()
        if name not in honours and values.said and values.largest > 0.0
    }


def _instead(name: str, reads: Mapping[str, str]) -> str:
    return f"does not act; {reads[name]}" if name in reads else UNSAID[1]


def _value(name: str, values: Asked) -> str:
    title, unit = NAMES[name]
    low, high = f"{values.least:g}", f"{values.largest:g}"
    return f"{title} = {low}{unit}" if low == high else f"{title} = {low} … {high}{unit}"
