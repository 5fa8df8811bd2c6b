"""Closed loops as springs and dampers: λ = −K·(p₂ − p₁) − B·(ṗ₂ − ṗ₁) in all directions, without a cone.

These are the bilateral contacts of Hammoud et al., Sec. III, eq. (2), with an anchor p₁ that is fixed to link 1. A
connect is one spring of K [N/m]. A weld is three of K/3, at the corners of a triangle of circumradius √2·r around the
common centre of mass of its links, which resist rotation with K·r² [N m/rad] about axes in its plane and 2·K·r² about
its normal; r is the root mean square distance of a link's mass from that centre, of the link where it is larger.

By default stiffness and damping of a loop follow from the masses that it holds at the start,

    K = g/SAG·max(m₁, m₂),   m_i = min(1/λ_min(J_i·M⁻¹·J_iᵀ), mass of the tree of link i),
    B = K·min(RATIO, 2/√σ),   σ = K·‖J·M⁻¹·Jᵀ‖,

where J_i moves a connect's point, or for a weld the centre of mass of link i, with link i alone, J moves the loop's
points with both links, and g = 9.81 m/s². So the weight of the held mass, in the direction in which it is largest,
opens the loop by SAG; on such a spring it has the frequency √(g/SAG) = 313/s. The loop's fastest motion, of frequency
√σ, is damped critically or less: more would only shorten explicit steps. B/K of slow loops is that of contacts by
default, so that Expo finds both in the same modes. Loads that other loops hang on a loop do not count.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import sqrt

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.contacts import (
    DAMPING,
    PROPERTIES,
    STIFFNESS,
    TANGENT_DAMPING,
    TANGENT_STIFFNESS,
    entries,
)
from stickslip.collision.loop_points import LoopPoints, no_loop_points
from stickslip.dynamics import Dynamics
from stickslip.model.loops import Constraint
from stickslip.model.model import Model
from stickslip.model.shape import DEFAULT_DAMPING, DEFAULT_STIFFNESS

SAG = 1e-4
"""Opening of a loop under the weight of the mass that it holds [m]."""
WEIGHT = 9.81
"""[m/s²] Of the scene's gravity a loop is independent: it may be zero."""
RATIO = DEFAULT_DAMPING / DEFAULT_STIFFNESS
"""Largest B/K by default [s]."""
SMALLEST, LIGHTEST, LOCKED = 1e-3, 1e-9, 1e-12
"""Smallest r of a weld [m]; smallest mass [kg], and smallest inverse mass [1/kg], that a loop counts with."""
TRIANGLE = np.array([[1.0, 0.0, 0.0], [-0.5, sqrt(0.75), 0.0], [-0.5, -sqrt(0.75), 0.0]])
"""(3, 3) corners of circumradius 1, in the axes of the weld."""


@kernel
def loop_forces(contacts):
    """Forces of the loop points from their stretch and velocity, eq. (2)."""
    for c in range(contacts.found[0], entries(contacts)):
        K, B = contacts.material[c, STIFFNESS], contacts.material[c, DAMPING]
        for i in range(3):
            contacts.force[c, i] = -K * contacts.stretch[c, i] - B * contacts.velocity[c, i]


@kernel
def loop_energy(contacts):
    """Energy in the springs of the loops [J]."""
    energy = 0.0
    for c in range(contacts.found[0], entries(contacts)):
        K, s = contacts.material[c, STIFFNESS], contacts.stretch
        energy += 0.5 * K * (s[c, 0] * s[c, 0] + s[c, 1] * s[c, 1] + s[c, 2] * s[c, 2])
    return energy


def loop_points(model: Model, stiffness: float | None, damping: float | None) -> LoopPoints:
    """The points of the model's loops; ``stiffness`` [N/m] and ``damping`` [N s/m] hold for every loop, None for the
    default of each. Cost: the mass matrix and the Delassus blocks of the loops' points, once."""
    if not model.closed_loops:
        return no_loop_points()
    corners = [_corners(model, loop) for loop in model.closed_loops]
    pos1, pos2 = (np.concatenate(part) for part in zip(*corners, strict=True))
    count = np.array([len(p) for p, _ in corners])
    links = np.array([(loop.link1, loop.link2) for loop in model.closed_loops], dtype=np.int64)
    dynamics = Dynamics(model)
    K = np.full(len(links), stiffness) if stiffness is not None else _stiffness(dynamics)
    material = np.zeros((len(pos2), PROPERTIES))
    material[:, STIFFNESS] = np.repeat(K / count, count)
    link1, link2 = np.repeat(links, count, axis=0).T.copy()
    if damping is None:
        sigma = _fastest(dynamics, link1, link2, pos2, material[:, STIFFNESS], count)
        ratio = np.minimum(RATIO, 2.0 / np.sqrt(np.maximum(sigma, 1.0)))
        material[:, DAMPING] = np.repeat(ratio, count) * material[:, STIFFNESS]
    else:
        material[:, DAMPING] = np.repeat(damping / count, count)
    material[:, TANGENT_STIFFNESS], material[:, TANGENT_DAMPING] = material[:, STIFFNESS], material[:, DAMPING]
    return LoopPoints(link1, link2, pos1, pos2, np.zeros((len(link1), 6)), material)


def _corners(model: Model, loop: Constraint) -> tuple[np.ndarray, np.ndarray]:
    """(n, 3) each: the points p₁ and p₂ of a loop in the frames of their links [m]."""
    if loop.kind == "connect":
        return loop.pos1[None], loop.pos2[None]
    sides = ((loop.link1, loop.pos1, loop.rot1), (loop.link2, loop.pos2, loop.rot2))
    mass = [0.0 if link == 0 else max(model.inertia.mass[link], LIGHTEST) for link, _, _ in sides]
    middle = [rot.T @ (model.inertia.com[link] - pos) for link, pos, rot in sides]  # in the axes of the weld
    centre = (mass[0] * middle[0] + mass[1] * middle[1]) / sum(mass)
    r = max(SMALLEST, *(_spread(model, link, pos + rot @ centre) for link, pos, rot in sides if link != 0))
    local = centre + sqrt(2.0) * r * TRIANGLE
    return loop.pos1 + local @ loop.rot1.T, loop.pos2 + local @ loop.rot2.T


def _spread(model: Model, link: int, point: np.ndarray) -> float:
    """Root mean square distance of a link's mass from a point of its frame [m]."""
    inertia = model.inertia
    away = float(np.sum((inertia.com[link] - point) ** 2))
    mass = inertia.mass[link]
    return sqrt(away + (0.5 * inertia.inertia[link, :3].sum() / mass if mass > 0.0 else 0.0))


def _places(dynamics: Dynamics, link: np.ndarray, pos: Iterable[np.ndarray]) -> np.ndarray:
    """(n, 3) world positions of points of links at the start [m]."""
    dynamics.poses(dynamics.model.state().q)
    x, R = dynamics.data.kin.pos, dynamics.data.kin.rot
    return np.array([x[b] + R[b] @ p for b, p in zip(link, pos, strict=True)])


def _stiffness(dynamics: Dynamics) -> np.ndarray:
    """(loops,) default K [N/m]."""
    model = dynamics.model
    links = np.array([(loop.link1, loop.link2) for loop in model.closed_loops]).ravel()
    held = [
        model.inertia.com[link] if loop.kind == "weld" else pos
        for loop in model.closed_loops
        for link, pos in ((loop.link1, loop.pos1), (loop.link2, loop.pos2))
    ]
    points = _places(dynamics, links, held)
    world = np.zeros_like(links)
    W = dynamics.delassus_sparse(model.state().q, world, links, points, _world_axes(links)).tocsr()
    blocks = [W[3 * k : 3 * k + 3, 3 * k : 3 * k + 3].toarray() for k in range(len(links))]
    least = np.array([np.linalg.eigvalsh(block)[0] for block in blocks])
    mass = np.minimum(1.0 / np.maximum(least, LOCKED), _tree_mass(model)[links])
    return np.maximum(mass.reshape(-1, 2).max(1), LIGHTEST) * WEIGHT / SAG


def _tree_mass(model: Model) -> np.ndarray:
    """(nl,) mass of all links of a link's tree [kg]; 0 for the world."""
    mass = np.zeros(model.nlink)
    np.add.at(mass, model.tree.root[1:], model.inertia.mass[1:])
    mass = mass[model.tree.root]
    mass[0] = 0.0
    return mass


def _fastest(dynamics: Dynamics, link1, link2, pos2: np.ndarray, K: np.ndarray, count: np.ndarray) -> np.ndarray:
    """(loops,) σ [1/s²]: the largest eigenvalue of K^½·J·M⁻¹·Jᵀ·K^½ of each loop alone, with ``count`` points."""
    points, q = _places(dynamics, link2, pos2), dynamics.model.state().q
    W = dynamics.delassus_sparse(q, link1, link2, points, _world_axes(link1)).tocsr()
    root, end = np.repeat(np.sqrt(K), 3), 3 * np.cumsum(count)
    sigma = np.zeros(len(count))
    for k, (a, b) in enumerate(zip(end - 3 * count, end, strict=True)):
        sigma[k] = np.linalg.eigvalsh(root[a:b, None] * W[a:b, a:b].toarray() * root[a:b])[-1]
    return sigma


def _world_axes(links: np.ndarray) -> np.ndarray:
    return np.tile(np.eye(3), (len(links), 1, 1))
