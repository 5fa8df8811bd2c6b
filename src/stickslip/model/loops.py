"""What is held besides the joints of the tree: closed loops and welds (Constraint), and coupled joints (Coupling).

    connect   p₂ − p₁ = 0                      3 rows [m]       a point of link 2 stays on a point of link 1
    weld      p₂ − p₁ = 0,  log(R₁ᵀ·R₂) = 0    6 rows [m, rad]  a frame of link 2 stays on a frame of link 1

    coupling  y₁ − r₁ = Σ a_k·(y₂ − r₂)^k      1 row [m or rad]  a joint or tendon follows another

p_i = x_i + X_i·pos_i and R_i = X_i·rot_i, where x_i, X_i are link i's origin and axes; the world is link 0.
y₁, y₂ are coordinates of hinges and slides, sums of them (fixed tendons), y = Σ c_j·q_j, or lengths of spatial tendons.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import mujoco
import numpy as np

from stickslip.errors import expected, unknown

ROWS = {"connect": 3, "weld": 6}
"""Constraint kind → its number of rows, linear ones first."""
KINDS = {int(mujoco.mjtEq.mjEQ_CONNECT): "connect", int(mujoco.mjtEq.mjEQ_WELD): "weld"}
ORTHONORMAL = 1e-6
"""Largest deviation of RᵀR from the identity in a rotation matrix."""


def _origin() -> np.ndarray:
    return np.zeros(3)


@dataclass(frozen=True, eq=False)
class Constraint:
    """Two frames, one on each link, that stay together: ``Constraint("connect", 0, 3, pos1=(0, 0, 0.1))``."""

    kind: str
    """"connect" or "weld"."""
    link1: int
    """Link 1; 0 is the world."""
    link2: int
    """Link 2; the reported force acts on it, its opposite on link 1."""
    pos1: np.ndarray = field(default_factory=_origin)
    """(3,) p₁ in the frame of link 1 [m]."""
    rot1: np.ndarray = field(default_factory=lambda: np.eye(3))
    """(3, 3) columns: the axes of the frame on link 1, in link 1's."""
    pos2: np.ndarray = field(default_factory=_origin)
    """(3,) p₂ in the frame of link 2 [m]."""
    rot2: np.ndarray = field(default_factory=lambda: np.eye(3))
    """(3, 3) columns: the axes of the frame on link 2, in link 2's."""
    name: str = ""
    body1: int = 0
    """Number of the body in the scene's file that carries frame 1, as far as it is known; mocap bodies move it."""
    motion: np.ndarray = field(default_factory=lambda: np.zeros(6))
    """(6,) velocity of p₁ [m/s] and angular velocity of frame 1 [rad/s] that link 1 does not give them, world axes."""

    def __post_init__(self) -> None:
        if self.kind not in ROWS:
            raise unknown("constraint kind", str(self.kind), ROWS)
        for name in ("link1", "link2"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
                raise expected(
                    f"{name} of a {self.kind}", "a link's number, 0 for the world", value, "model.link(name)"
                )
            object.__setattr__(self, name, int(value))
        if self.link1 == self.link2:
            raise expected(f"links of a {self.kind}", "two different links", (self.link1, self.link2))
        for name, shape in (("pos1", (3,)), ("rot1", (3, 3)), ("pos2", (3,)), ("rot2", (3, 3)), ("motion", (6,))):
            object.__setattr__(self, name, self._array(name, shape))

    def _array(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        what, value = f"{name} of a {self.kind}", getattr(self, name)
        try:
            array = np.array(value, dtype=float)
        except (TypeError, ValueError, OverflowError):
            raise expected(what, f"numbers of shape {shape}", value) from None
        if array.shape != shape or not np.all(np.isfinite(array)):
            raise expected(what, f"finite numbers of shape {shape}", value)
        if shape == (3, 3) and (np.abs(array.T @ array - np.eye(3)).max() > ORTHONORMAL or np.linalg.det(array) < 0.0):
            raise expected(what, "a rotation matrix", array.tolist())
        return array

    @property
    def rows(self) -> int:
        """Number of scalar equations, 3 or 6."""
        return ROWS[self.kind]


@dataclass(frozen=True, eq=False)
class Coupling:
    """A coordinate y₁ that follows another one, y₂: y₁ − r₁ = Σ a_k·(y₂ − r₂)^k."""

    joints1: np.ndarray
    """(n₁,) the joints of y₁, hinges or slides; none if it is the length of a spatial tendon."""
    factors1: np.ndarray
    """(n₁,) c of each."""
    joints2: np.ndarray
    """(n₂,) the joints of y₂; none if it is the length of a spatial tendon, or if y₁ is held at r₁ + a₀."""
    factors2: np.ndarray
    """(n₂,)."""
    polynomial: np.ndarray
    """(5,) a₀ … a₄."""
    reference: np.ndarray
    """(2,) r₁ and r₂ [m or rad]."""
    name: str = ""
    tendons: tuple[int, int] = (-1, -1)
    """The spatial tendons whose lengths are y₁ and y₂; −1 where joints are."""

    kind = "coupling"
    rows = 3
    """Rows in ``constraints``, of which the last two are empty: they come in threes."""


COUPLED = {int(mujoco.mjtEq.mjEQ_JOINT), int(mujoco.mjtEq.mjEQ_TENDON)}


def coordinate(mj: mujoco.MjModel, tendon: bool, i: int) -> tuple[np.ndarray, np.ndarray, float, int]:
    """(joints, factors, reference, spatial tendon or −1) of a scalar joint or a tendon; of nothing if i < 0."""
    if i < 0:
        return np.zeros(0, dtype=np.int64), np.zeros(0), 0.0, -1
    if not tendon:
        return np.array([i]), np.ones(1), float(mj.qpos0[mj.jnt_qposadr[i]]), -1
    wraps, length = slice(mj.tendon_adr[i], mj.tendon_adr[i] + mj.tendon_num[i]), float(mj.tendon_length0[i])
    if np.any(mj.wrap_type[wraps] != int(mujoco.mjtWrap.mjWRAP_JOINT)):
        return np.zeros(0, dtype=np.int64), np.zeros(0), length, i
    return mj.wrap_objid[wraps].astype(np.int64), mj.wrap_prm[wraps].astype(float), length, -1


def build_coupling(mj: mujoco.MjModel, e: int, first: int, second: int) -> Coupling:
    """An active ``joint`` or ``tendon`` equality."""
    tendon = int(mj.eq_type[e]) == int(mujoco.mjtEq.mjEQ_TENDON)
    one, two = coordinate(mj, tendon, first), coordinate(mj, tendon, second)
    name, polynomial = mj.equality(e).name or f"coupling {e}", mj.eq_data[e, :5].astype(float)
    return Coupling(*one[:2], *two[:2], polynomial, np.array([one[2], two[2]]), name, (one[3], two[3]))


def build_loops(mj: mujoco.MjModel, bodies) -> tuple[Constraint | Coupling, ...]:
    """The active equalities of a compiled MuJoCo model; ``bodies`` are its Attachments.

    MuJoCo's eq_data holds, for a connect between bodies, the anchor in body 1 and in body 2; for a weld, the anchor in
    body 2 and in body 1, then the rotation of body 2 relative to body 1. Equalities between sites have the sites'
    frames. solref, solimp and the torque scale soften MuJoCo's constraints; ours are rigid, or springs of
    stiffness and damping that the method chooses. The world can only be ``link1``.
    """
    loops: list[Constraint | Coupling] = []
    for e in np.flatnonzero(mj.eq_active0):
        kind = KINDS.get(int(mj.eq_type[e]))
        first, second, data = int(mj.eq_obj1id[e]), int(mj.eq_obj2id[e]), mj.eq_data[e]
        if int(mj.eq_type[e]) in COUPLED:
            loops.append(build_coupling(mj, int(e), first, second))
        if kind is None:
            continue
        one = np.array([1.0, 0.0, 0.0, 0.0])
        holders = [first, second]
        if mj.eq_objtype[e] == mujoco.mjtObj.mjOBJ_SITE:
            holders = [int(mj.site_bodyid[s]) for s in (first, second)]
            frames = [bodies[mj.site_bodyid[s]].place(mj.site_pos[s], mj.site_quat[s]) for s in (first, second)]
        elif kind == "connect":
            frames = [bodies[first].place(data[0:3], one), bodies[second].place(data[3:6], one)]
        else:
            frames = [bodies[first].place(data[3:6], data[6:10]), bodies[second].place(data[0:3], one)]
        if frames[1][0] == 0:
            frames.reverse()
            holders.reverse()
        (link1, pos1, rot1), (link2, pos2, rot2) = frames
        if link1 == link2:
            continue  # bodies of one link do not move against each other
        name = mj.equality(e).name or f"{kind} {e}"
        loops.append(Constraint(kind, link1, link2, pos1, rot1, pos2, rot2, name, holders[0]))
    return tuple(loops)
