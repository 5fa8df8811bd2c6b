"""Bodies that are spread out: how the cost of finding that hardly any touch grows with their number.

Spheres, boxes, capsules and hulls of eight corners, 0.2 m large, lie near the points of a cubic grid, 0.5 m apart on
average: few are nearer than the margin. All move a little from call to call. ``mj_collision`` has the same model.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import mujoco
import numpy as np

from stickslip.collision.contacts import ContactList
from stickslip.collision.convex.detect import ConvexDetector
from stickslip.dynamics.data import make_data
from stickslip.dynamics.kinematics import forward_kinematics, forward_velocities
from stickslip.lab.bench.pair_field import MARGIN
from stickslip.lab.bench.timing import SLOPE_TARGET, Growth, growth, interleaved, seconds
from stickslip.model.scene import Scene

SPACING = 0.5
"""[m]."""
GEOMS = (
    'type="sphere" size="0.1"', 'type="box" size="0.1 0.08 0.06"', 'type="capsule" size="0.05 0.05"',
    'type="mesh" mesh="hull"',
)  # fmt: skip
JOINT = '<joint type="slide" axis="1 2 3"/>'
"""One degree of freedom each: a model of 10 000 free bodies takes MuJoCo minutes to compile."""
HULL = "0.1 0 0  -0.1 0 0  0 0.08 0  0 -0.08 0  0 0 0.06  0 0 -0.06  0.06 0.05 0.03  -0.06 -0.05 -0.03"


def scattered(n: int) -> Scene:
    """n bodies near the points of a cubic grid."""
    rng, side = np.random.default_rng(n), ceil(n ** (1.0 / 3.0))
    bodies = []
    for k in range(n):
        place = np.array([k % side, k // side % side, k // (side * side)]) + rng.uniform(-0.3, 0.3, size=3)
        quat = " ".join(f"{x:.6f}" for x in rng.normal(size=4))
        pos = " ".join(f"{SPACING * x:.6f}" for x in place)
        bodies.append(f'<body pos="{pos}" quat="{quat}">{JOINT}<geom {GEOMS[k % len(GEOMS)]}/></body>')
    mesh = f'<asset><mesh name="hull" vertex="{HULL}"/></asset>'
    return Scene.from_xml(f"<mujoco>{mesh}<worldbody>{''.join(bodies)}</worldbody></mujoco>", name=f"{n} bodies")


class Field:
    """The bodies, and both detectors."""

    def __init__(self, n: int) -> None:
        self.model = scattered(n).compile()
        self.kin = make_data(self.model).kin
        self.contacts = ContactList(self.kin, 4 * n)
        self.detector = ConvexDetector(self.model, MARGIN)
        self.mj = self.model.mj
        self.mj.geom_margin[:] = MARGIN
        self.data = mujoco.MjData(self.mj)
        self.rng = np.random.default_rng(0)

    def moved(self) -> np.ndarray:
        return 1e-3 * self.rng.normal(size=self.model.nq)

    def ours(self) -> float:
        state = self.model.state(self.moved())
        forward_kinematics(self.model.tree, state.q, self.kin)
        forward_velocities(self.model.tree, state.v, self.kin)
        return seconds(lambda _: self.detector.find(self.kin, self.contacts), 1)

    def mujocos(self) -> float:
        self.data.qpos[:] = self.moved()
        mujoco.mj_kinematics(self.mj, self.data)
        mujoco.mj_comPos(self.mj, self.data)
        return seconds(lambda _: mujoco.mj_collision(self.mj, self.data), 1)


def measure_scattered(sizes: Sequence[int], rounds: int) -> list[Growth]:
    """Median times [µs] of all contacts, of ours and MuJoCo's, by the number of bodies; ours must be linear."""
    fields = {n: Field(n) for n in sizes}
    timed = {("ours", n): field.ours for n, field in fields.items()}
    timed |= {("MuJoCo", n): field.mujocos for n, field in fields.items()}
    median = interleaved(timed, rounds, "bodies spread out")
    return [
        growth(f"{who}: bodies spread out", {n: us for (name, n), us in median.items() if name == who}, target)
        for who, target in (("ours", SLOPE_TARGET), ("MuJoCo", None))
    ]
