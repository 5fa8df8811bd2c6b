"""A field of pairs of shapes, far from each other: what ``bench collision`` measures and checks.

One model holds all pairs, and the same MjModel serves both sides. Timed are ``ConvexDetector.find`` and
``mj_collision`` alone; kinematics come before and are not timed. So both figures hold a broad phase over all shapes,
the narrow phase of each pair with its manifold, and the list of contacts.

A pose changes from call to call: in a *sliding* field the second shape of each pair moves by 0.2 % of its size and
turns by 2 mrad, as in a time step, so that a detector may use what it knows of the last call; in a *jumping* field
every call has new poses and features. MuJoCo keeps nothing from call to call.

MuJoCo's margin is set to ours, so that both look equally far.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from math import ceil, sqrt

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from stickslip.collision.contacts import ContactList
from stickslip.collision.convex.detect import ConvexDetector
from stickslip.dynamics.data import make_data
from stickslip.dynamics.kinematics import forward_kinematics, forward_velocities
from stickslip.lab.bench.touching import FEATURES, Placement, Solid, block, ellipsoid, touching
from stickslip.model.scene import Scene

SIZE = 0.2
"""[m] length of all shapes, about."""
MARGIN = 0.01
"""[m] how far both sides look."""
SPACING = 2.0
"""[m] between pairs."""
MIXED = (("face", "face"), ("face", "corner"), ("edge", "edge"), ("corner", "corner"))
"""Features that the pairs of a timed field touch with, in turn."""
EVERY = tuple((one, other) for one in FEATURES for other in FEATURES)


def add_shape(scene: Scene, kind: str, rng: np.random.Generator) -> None:
    """A free body with a shape: a kind, or "ellipsoid n" or "block n" for a hull of n vertices."""
    match kind.split():
        case ["sphere"]:
            scene.add_sphere(0.1, mass=1.0)
        case ["box"]:
            scene.add_box((0.2, 0.16, 0.12), mass=1.0)
        case ["capsule"]:
            scene.add_capsule(0.05, 0.1, mass=1.0)
        case ["cylinder"]:
            scene.add_cylinder(0.08, 0.15, mass=1.0)
        case ["mesh"]:
            scene.add_mesh(ellipsoid(30, rng), mass=1.0)
        case ["block", n]:
            scene.add_mesh(block(int(n), rng), mass=1.0)
        case [_, n]:
            scene.add_mesh(ellipsoid(int(n), rng), mass=1.0)


@dataclass
class Answers:
    """What one side found for each pair of a field."""

    gap: np.ndarray
    """(pairs,) the least gap [m], infinite without a contact."""
    normal: np.ndarray
    """(pairs, 3) its normal."""
    contacts: np.ndarray
    """(pairs,) number of contacts."""
    finite: bool


@dataclass
class PairField:
    """Pairs of the same two kinds of shapes in one model."""

    kinds: tuple[str, str]
    pairs: int
    seed: int = 0
    margin: float = MARGIN
    placements: list[Placement] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)
        scene = Scene(name="pairs")
        self.flat = self.kinds[0] == "plane"
        if self.flat:
            scene.add_plane()
        for _ in range(self.pairs):
            for kind in self.kinds[self.flat :]:
                add_shape(scene, kind, self.rng)
        self.model = scene.compile()
        self.solids = [Solid(shape) for shape in self.model.shapes]
        self.kin = make_data(self.model).kin
        self.detector = ConvexDetector(self.model, self.margin)
        self.contacts = ContactList(self.kin, 64 * self.pairs)
        self.mj = self.model.mj
        self.mj.geom_margin[:] = self.margin
        self.data = mujoco.MjData(self.mj)
        side = ceil(sqrt(self.pairs))
        self.places = SPACING * np.array([(*divmod(k, side), 0.0) for k in range(self.pairs)])

    def pair(self, k: int) -> tuple[Solid, Solid]:
        """The two shapes of pair k."""
        return (self.solids[0], self.solids[k + 1]) if self.flat else (self.solids[2 * k], self.solids[2 * k + 1])

    def place(self, gap: float, features: tuple[tuple[str, str], ...]) -> list[Placement]:
        """New poses of all pairs with this gap [m]; the pairs touch with the given features in turn."""
        chosen = (features[k % len(features)] for k in range(self.pairs))
        return [touching(*self.pair(k), names, gap, self.places[k], self.rng) for k, names in enumerate(chosen)]

    def move(self, placements: list[Placement]) -> None:
        """Bring both sides to these poses."""
        self.placements = placements
        poses = [pose for p in placements for pose in (p.first, p.second)[self.flat :]]
        quats = Rotation.from_matrix(np.array([turn for _, turn in poses])).as_quat(scalar_first=True)
        q = np.concatenate([np.array([pos for pos, _ in poses]), quats], axis=1).ravel()
        state = self.model.state(q)
        forward_kinematics(self.model.tree, state.q, self.kin)
        forward_velocities(self.model.tree, state.v, self.kin)
        self.data.qpos[:] = state.q
        mujoco.mj_kinematics(self.mj, self.data)
        mujoco.mj_comPos(self.mj, self.data)

    def ours(self) -> float:
        """Find the contacts; returns the seconds that it took."""
        begin = time.perf_counter()
        self.detector.find(self.kin, self.contacts)
        return time.perf_counter() - begin

    def mujocos(self) -> float:
        """Have MuJoCo find the contacts; returns the seconds that it took."""
        begin = time.perf_counter()
        mujoco.mj_collision(self.mj, self.data)
        return time.perf_counter() - begin

    def our_answers(self) -> Answers:
        """What the last call of ``ours`` found."""
        c, n = self.contacts.arrays, len(self.contacts)
        return self._answers(c.link2[:n], c.gap[:n], c.axes[:n, 0])

    def mujocos_answers(self) -> Answers:
        """What the last call of ``mujocos`` found; MuJoCo's normal points from the first to the second geom."""
        found = self.data.contact
        later = self.mj.geom_bodyid[found.geom.reshape(-1, 2).max(axis=1)]
        sign = np.where(found.geom1 < found.geom2, 1.0, -1.0)[:, None]
        return self._answers(later, found.dist, sign * found.frame.reshape(-1, 9)[:, :3])

    def _answers(self, link: np.ndarray, gap: np.ndarray, normal: np.ndarray) -> Answers:
        """The nearest contact of each pair, by the later link, which is k + 1 over a plane and 2k + 2 elsewhere."""
        pair = link - 1 if self.flat else (link - 1) // 2
        answers = Answers(
            np.full(self.pairs, np.inf),
            np.zeros((self.pairs, 3)),
            np.bincount(pair, minlength=self.pairs),
            bool(np.isfinite(gap).all() and np.isfinite(normal).all()),
        )
        for i in np.argsort(-gap, kind="stable"):
            answers.gap[pair[i]], answers.normal[pair[i]] = gap[i], normal[i]
        return answers
