"""Shapes and their materials."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from stickslip.errors import expected, number

DEFAULT_FRICTION = 1.0
DEFAULT_STIFFNESS = 1e5
"""[N/m] contact stiffness in the paper of ``expo``."""
DEFAULT_DAMPING = 300.0
"""[N s/m] contact damping in the paper of ``expo``."""


@dataclass(frozen=True)
class Material:
    """Surface properties. A property that is ``None`` is taken from the other surface of a pair, or is the default."""

    friction: float | None = None
    """Coulomb coefficient μ."""
    stiffness: float | None = None
    """K [N/m]."""
    damping: float | None = None
    """B [N s/m]."""
    restitution: float | None = None
    """Newton's coefficient e."""
    preload: float | None = None
    """P [N]: the contact spring is compressed in advance, so that the force is P as soon as surfaces touch."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None and field.name != "stiffness":
                number(field.name, value, "a finite number ≥ 0", least=0.0)
        if self.stiffness is not None:
            number("stiffness", self.stiffness, "a number > 0 [N/m], or none for the default of 1e5", above=0.0)
        if self.restitution is not None and self.restitution > 1.0:
            raise expected("restitution", "a number from 0 to 1", self.restitution)

    # MJCF carries stiffness, damping, restitution, "friction is unset" and preload in the user="…" attribute of a geom,
    # 0 meaning unset; damping, restitution and preload of exactly zero are written as -1.
    def to_user(self) -> list[float]:
        def code(value: float | None) -> float:
            return 0.0 if value is None else (value if value > 0.0 else -1.0)

        unset = float(self.friction is None)
        return [code(self.stiffness), code(self.damping), code(self.restitution), unset, code(self.preload)]

    @staticmethod
    def from_user(user: np.ndarray, friction: float, condim: int) -> Material:
        def value(x: float) -> float | None:
            return None if x == 0.0 else max(float(x), 0.0)

        mu: float | None = friction if condim >= 3 else 0.0  # condim 1 is MuJoCo's frictionless contact
        preload = value(user[4]) if len(user) > 4 else None  # older files end with user[3]
        return Material(None if user[3] == 1.0 else mu, value(user[0]), value(user[1]), value(user[2]), preload)


@dataclass(frozen=True)
class PairMaterial:
    """The properties of one pair of surfaces, after the combination rule."""

    friction: float
    stiffness: float
    damping: float
    restitution: float
    preload: float

    @property
    def row(self) -> tuple[float, float, float, float, float]:
        """A row of ``material`` arrays: friction, stiffness, damping, restitution, preload."""
        return self.friction, self.stiffness, self.damping, self.restitution, self.preload


COMBINATION_RULE = (
    "friction, restitution and preload: the larger of the two surfaces (of friction, MuJoCo's rule); "
    "stiffness and damping: two springs, two dampers in series; a property left unset takes the other surface's"
)


def combine(a: Material, b: Material) -> PairMaterial:
    """The material of a pair, by ``COMBINATION_RULE``."""

    def given(x: float | None, y: float | None) -> list[float]:
        return [value for value in (x, y) if value is not None]

    def series(values: list[float], default: float) -> float:
        if not values:
            return default
        return 0.0 if min(values) == 0.0 else 1.0 / sum(1.0 / value for value in values)

    return PairMaterial(
        friction=max(given(a.friction, b.friction), default=DEFAULT_FRICTION),
        stiffness=series(given(a.stiffness, b.stiffness), DEFAULT_STIFFNESS),
        damping=series(given(a.damping, b.damping), DEFAULT_DAMPING),
        restitution=max(given(a.restitution, b.restitution), default=0.0),
        preload=max(given(a.preload, b.preload), default=0.0),
    )


@dataclass(frozen=True)
class Shape:
    """A collision or drawing shape, rigidly attached to a link."""

    name: str
    kind: str
    """plane, sphere, capsule, cylinder, box, mesh or point."""
    link: int
    pos: np.ndarray
    """(3,) in the link frame [m]."""
    rot: np.ndarray
    """(3, 3) in the link frame; a plane's normal and a capsule's or cylinder's axis are the third column."""
    size: np.ndarray
    """(3,) as in MuJoCo: radius; radius and half length; half edges [m]."""
    vertices: np.ndarray | None
    """(n, 3) vertices of a mesh in the shape frame [m]."""
    material: Material
    group: int
    """Bit mask of the groups that the shape belongs to (MuJoCo's contype)."""
    mask: int
    """Bit mask of the groups that it collides with (MuJoCo's conaffinity)."""
    rgba: np.ndarray
    body: int
    """Index of its MuJoCo body."""
