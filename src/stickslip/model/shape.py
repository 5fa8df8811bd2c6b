"""Shapes and their materials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from stickslip.errors import expected, number

DEFAULT_FRICTION = 1.0
DEFAULT_STIFFNESS = 1e5
"""[N/m] contact stiffness in the paper of ``expo``."""
DEFAULT_DAMPING = 300.0
"""[N s/m] contact damping in the paper of ``expo``."""
USER = 7
"""Length of a geom's user data (``Material.to_user``)."""
SAID, ALONG_NORMAL, ALL_ROUND = range(3)
"""Which damping of a pair methods with springs choose by its restitution: none, because a surface says a damping; that
along the normal, because a surface says one along itself; all."""
CONDIMS = (1, 3, 4, 6)
"""Dimensions of a contact force: without friction, with friction along the surface, against spinning, and rolling."""


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
    torsion: float | None = None
    """Coefficient μ_t of friction against spinning about the normal [m]; acts with condim 4 and 6."""
    rolling: float | None = None
    """Coefficient μ_r of friction against rolling [m]; acts with condim 6."""
    condim: int | None = None
    """1: no friction; 3: along the surface; 4: also against spinning; 6: also against rolling."""
    priority: int = 0
    """If the two surfaces of a pair differ in it, the higher one dictates the pair's properties."""
    margin: float = 0.0
    """Thickness by which the surface is inflated for contact [m]."""
    gap: float = 0.0
    """Distance beyond the margin at which adhesion begins [m]."""
    adhesion: float = 0.0
    """Force with which a contact may pull [N]."""
    tangent_stiffness: float | None = None
    """K_t [N/m] along the surface; where it is unset, the surface has K in all directions."""
    tangent_damping: float | None = None
    """B_t [N s/m] along the surface; where it is unset, the surface has B in all directions."""

    def __post_init__(self) -> None:
        for name in (
            "friction", "stiffness", "damping", "restitution", "preload", "torsion", "rolling", "gap", "adhesion",
            "tangent_stiffness", "tangent_damping",
        ):  # fmt: skip
            value = getattr(self, name)
            if value is not None:
                number(name, value, "a finite number ≥ 0", least=0.0)
        number("margin", self.margin, "a finite number [m]")
        if self.stiffness == 0.0 and self.damping == 0.0:
            raise expected("stiffness and damping", "at least one of them above 0", (0.0, 0.0), "nothing would push")
        if self.stiffness == 0.0 and self.preload:
            raise expected("preload", "0 where the stiffness is 0, since it compresses a spring", self.preload)
        if self.restitution is not None and self.restitution > 1.0:
            raise expected("restitution", "a number from 0 to 1", self.restitution)
        if self.condim is not None and (isinstance(self.condim, bool) or self.condim not in CONDIMS):
            raise expected("condim", "1, 3, 4 or 6", self.condim)
        if number("priority", self.priority, "a whole number", least=-(2**31), most=2**31 - 1) != int(self.priority):
            raise expected("priority", "a whole number", self.priority)

    @property
    def coefficients(self) -> list[float]:
        """MuJoCo's three coefficients of friction; torsional and rolling ones that are unset are 0, so that the other
        surface's are larger."""
        return [DEFAULT_FRICTION if self.friction is None else self.friction, self.torsion or 0.0, self.rolling or 0.0]

    @property
    def least_condim(self) -> int:
        """``condim``, or, where that is unset, the least that lets the coefficients act."""
        return self.condim or (6 if self.rolling else 4 if self.torsion else 3)

    @property
    def along(self) -> tuple[float | None, float | None]:
        """Stiffness and damping along the surface; where they are unset, those along its normal."""
        return (
            self.stiffness if self.tangent_stiffness is None else self.tangent_stiffness,
            self.damping if self.tangent_damping is None else self.tangent_damping,
        )

    # MJCF carries stiffness, damping, restitution, "friction is unset", preload, tangential stiffness and tangential
    # damping in the user="…" attribute of a geom, 0 meaning unset; what is exactly zero is written as -1.
    def to_user(self) -> list[float]:
        def code(value: float | None) -> float:
            return 0.0 if value is None else (value if value > 0.0 else -1.0)

        unset = float(self.friction is None)
        first = [code(self.stiffness), code(self.damping), code(self.restitution), unset, code(self.preload)]
        return [*first, code(self.tangent_stiffness), code(self.tangent_damping)]

    @staticmethod
    def from_user(user: np.ndarray, friction: Sequence[float], condim: int, **contact) -> Material:
        """From a geom's user data, its three coefficients of friction, and whatever else MJCF has words for.

        A coefficient of 0 that the geom's own condim does not let act is unset. If friction is unset, so are these
        coefficients and condim, unless condim is above 3.
        """

        def value(x: float) -> float | None:
            return None if x == 0.0 else max(float(x), 0.0)

        user = np.concatenate([user, np.zeros(max(0, USER - len(user)))])  # older files say less
        unset = user[3] == 1.0
        more = None if unset and condim <= 3 else condim
        torsion = None if more is None or (friction[1] == 0.0 and more < 4) else float(friction[1])
        rolling = None if more is None or (friction[2] == 0.0 and more < 6) else float(friction[2])
        return Material(
            None if unset else float(friction[0]), value(user[0]), value(user[1]), value(user[2]),
            value(user[4]), torsion, rolling, more, tangent_stiffness=value(user[5]), tangent_damping=value(user[6]),
            **contact,
        )  # fmt: skip


@dataclass(frozen=True)
class PairMaterial:
    """The properties of one pair of surfaces, after the combination rule; coefficients that condim excludes are 0."""

    friction: float
    stiffness: float
    damping: float
    restitution: float
    preload: float
    torsion: float = 0.0
    rolling: float = 0.0
    adhesion: float = 0.0
    margin: float = 0.0
    """Distance of the surfaces below which contact forces act [m]: contact gaps are measured from it."""
    gap: float = 0.0
    """Distance beyond the margin at which adhesion begins [m]."""
    tangent_stiffness: float = None  # type: ignore[assignment]
    """K_t [N/m]; by default K."""
    tangent_damping: float = None  # type: ignore[assignment]
    """B_t [N s/m]; by default B."""
    bounce: int = SAID
    """Whether methods with springs choose the damping by the restitution: SAID, ALONG_NORMAL or ALL_ROUND."""

    def __post_init__(self) -> None:
        for name, normal in (("tangent_stiffness", self.stiffness), ("tangent_damping", self.damping)):
            if getattr(self, name) is None:
                object.__setattr__(self, name, normal)

    @property
    def row(self) -> tuple[float, ...]:
        """A row of ``Contacts.material``: friction, stiffness, damping, restitution, preload, torsion, rolling,
        adhesion, tangential stiffness and damping, bounce."""
        return (
            self.friction, self.stiffness, self.damping, self.restitution, self.preload, self.torsion, self.rolling,
            self.adhesion, self.tangent_stiffness, self.tangent_damping, float(self.bounce),
        )  # fmt: skip

    @property
    def condim(self) -> int:
        """The least condim that has all coefficients."""
        return 6 if self.rolling > 0.0 else 4 if self.torsion > 0.0 else 3 if self.friction > 0.0 else 1


COMBINATION_RULE = (
    "friction, condim, restitution and preload: the larger of the two surfaces (of friction, MuJoCo's rule); "
    "stiffness and damping, along the normal and along the surface: two springs, two dampers in series, and a surface "
    "that says nothing along itself is there as along its normal; margin and adhesion: the sum; the surface of higher "
    "priority dictates all but the margin; a property left unset takes the other surface's"
)


def combine(a: Material, b: Material) -> PairMaterial:
    """The material of a pair, by ``COMBINATION_RULE``."""

    def given(name: str) -> list[float]:
        """The values that count: of both surfaces, or of the one that dictates; none if both leave it unset."""
        x, y = getattr(a, name), getattr(b, name)
        if x is not None and y is not None and a.priority != b.priority:
            return [x if a.priority > b.priority else y]
        return [value for value in (x, y) if value is not None]

    def along(which: int) -> list[float]:
        """As ``given``, of stiffness (0) or damping (1) along the surface."""
        x, y = a.along[which], b.along[which]
        if x is not None and y is not None and a.priority != b.priority:
            return [x if a.priority > b.priority else y]
        return [value for value in (x, y) if value is not None]

    def series(values: list[float], default: float) -> float:
        if not values:
            return default
        return 0.0 if min(values) == 0.0 else 1.0 / sum(1.0 / value for value in values)

    condim = max(given("condim"), default=3)
    stiffness, restitution, bounce = series(given("stiffness"), DEFAULT_STIFFNESS), given("restitution"), SAID
    if max(restitution, default=0.0) > 0.0 and not given("damping") and stiffness > 0.0:
        bounce = ALONG_NORMAL if along(1) else ALL_ROUND
    return PairMaterial(
        friction=max(given("friction"), default=DEFAULT_FRICTION) if condim >= 3 else 0.0,
        stiffness=stiffness,
        damping=series(given("damping"), DEFAULT_DAMPING),
        restitution=max(restitution, default=0.0),
        preload=max(given("preload"), default=0.0) if stiffness > 0.0 else 0.0,
        torsion=max(given("torsion"), default=0.0) if condim >= 4 else 0.0,
        rolling=max(given("rolling"), default=0.0) if condim >= 6 else 0.0,
        adhesion=sum(given("adhesion")),
        margin=a.margin + b.margin,
        gap=a.gap + b.gap,
        tangent_stiffness=series(along(0), DEFAULT_STIFFNESS),
        tangent_damping=series(along(1), DEFAULT_DAMPING),
        bounce=bounce,
    )


@dataclass(frozen=True)
class Shape:
    """A collision or drawing shape, rigidly attached to a link."""

    name: str
    kind: str
    """plane, sphere, capsule, cylinder, box, mesh, ellipsoid, terrain or point."""
    link: int
    pos: np.ndarray
    """(3,) in the link frame [m]."""
    rot: np.ndarray
    """(3, 3) in the link frame; a plane's normal and a capsule's or cylinder's axis are the third column."""
    size: np.ndarray
    """(3,) as in MuJoCo: radius; radius and half length; half edges [m]. Of terrain: half edges along x and y, depth of
    the base."""
    vertices: np.ndarray | None = field(repr=False)
    """(n, 3) vertices of a mesh, or points of terrain (``model.terrain``), in the shape frame [m]."""
    material: Material
    group: int
    """Bit mask of the groups that the shape belongs to (MuJoCo's contype)."""
    mask: int
    """Bit mask of the groups that it collides with (MuJoCo's conaffinity)."""
    rgba: np.ndarray
    body: int
    """Index of its MuJoCo body."""
    paired: bool = False
    """Whether an explicit pair names it; it may then touch without a group or a mask."""
    surface_velocity: np.ndarray = field(default_factory=lambda: np.zeros(6))
    """(6,) velocity [m/s] and angular velocity about the shape's origin [rad/s] of the surface relative to the body, in
    the shape's axes; only what is along the surface acts (conveyor belts, turntables)."""

    @property
    def solid(self) -> bool:
        """Whether it can touch anything."""
        return bool(self.group or self.mask or self.paired)


@dataclass(frozen=True)
class ContactPair:
    """Two shapes that may touch whatever their masks and bodies, with properties of their own."""

    one: int
    """Index of the first shape in ``model.shapes``."""
    two: int
    """Index of the second shape, above the first."""
    material: PairMaterial
