"""From a problem frame to the matrices that formulations start from, in maximal coordinates.

    V⁺ = V + h·M⁻¹·f + M⁻¹·Gᵀ·p,    M = diag(m₁·1, I₁, m₂·1, I₂, …)

V are the velocities of the dynamic bodies, six each: (linear, of the centre of mass; angular), world axes. Static
bodies and the world have no columns. A contact's row along the direction d at the point x is d·(ẋ₂ − ẋ₁), with
ẋ = v + ω × (x − c). Sizes: nb bilateral rows, nc contacts and limits, nv = 6·dynamic bodies. All products are sparse:
the memory grows with bodies and contacts, not with their squares.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from stickslip.collision.contacts import tangents
from stickslip.errors import expected
from stickslip.methods.rigid.assembly.matrices import Matrices
from stickslip.problem_files.problem_frame import DYNAMIC, Bodies, ContactRows, ProblemFrame
from stickslip.solvers.storage import compact


def matrices(frame: ProblemFrame) -> Matrices:
    """The matrices of a captured step.

    Unilateral constraint rows (joint limits) become contacts without friction, after the others; rows with bounds ±f·h
    become dry friction, the last ones.
    """
    bodies, contacts, constraints = frame.bodies, frame.contacts, frame.constraints
    if np.any(constraints.time_derivative):
        raise expected("constraints/time_derivative", "joints at rest, 0", constraints.time_derivative, "no motors yet")
    column = _columns(bodies)
    nv = 6 * int(np.count_nonzero(bodies.states == DYNAMIC))
    joint_rows = _constraint_rows(frame, column, nv)
    free, limit, dry, sign = _kinds(constraints.bounds)
    limits = sp.csr_array(joint_rows[limit].multiply(sign[limit, None]))
    contact = _contact_rows(frame, column, nv)
    rows = sp.csr_array(sp.vstack([joint_rows[free], contact, _alone(limits, 0), _alone(joint_rows[dry], 1)]))

    moving = bodies.states == DYNAMIC
    inverse = _mass(bodies, moving, inverted=True)
    velocity = bodies.velocities.reshape(-1, 6)[moving].ravel()
    push = frame.timestep * bodies.forces.reshape(-1, 6)[moving].ravel()
    delassus = sp.csr_array(rows @ inverse @ rows.T)
    nc, nd = len(contacts.gaps), int(np.count_nonzero(dry))
    k = limits.shape[0] + nd
    if nd:
        own = np.zeros(rows.shape[0])
        own[-3 * nd :: 3] = delassus.diagonal()[-3 * nd + 1 :: 3]
        delassus = sp.csr_array(delassus + sp.diags_array(own))
    restitution = np.zeros(nc) if frame.restitution is None else frame.restitution
    groups = frame.groups
    if groups is not None:
        groups = np.concatenate([groups, groups[-1] + 1 + np.arange(k)])
    return Matrices(
        dt=frame.timestep, mass=_mass(bodies, moving, inverted=False), rows=rows, bilateral=int(np.count_nonzero(free)),
        delassus=compact(delassus), velocity=velocity, free_velocity=velocity + inverse @ push,
        gap=np.concatenate([contacts.gaps, (sign * constraints.violations)[limit], np.zeros(nd)]),
        friction=np.concatenate([_friction(contacts), np.zeros(k - nd), np.ones(nd)]),
        restitution=np.concatenate([restitution, np.zeros(k)]), violation=constraints.violations[free], groups=groups,
        limits=k, dry=constraints.bounds[dry, 1], respond=lambda impulses: inverse @ (rows.T @ impulses),
    )  # fmt: skip


def _columns(bodies: Bodies) -> dict[int, int]:
    """Index of the first velocity of every dynamic body, by id."""
    moving = bodies.ids[bodies.states == DYNAMIC]
    return {int(body): 6 * k for k, body in enumerate(moving)}


def _mass(bodies: Bodies, moving: np.ndarray, *, inverted: bool) -> sp.csr_array:
    """(nv, nv) M or M⁻¹."""
    if not np.any(moving):
        return sp.csr_array((0, 0))
    masses = bodies.masses[moving, None, None] * np.eye(3)
    tensors = bodies.world_inertia_tensors.reshape(-1, 3, 3)[moving]
    blocks = np.stack([masses, 0.5 * (tensors + tensors.transpose(0, 2, 1))], axis=1).reshape(-1, 3, 3)
    if inverted:
        blocks = np.linalg.inv(blocks)
    places = np.arange(len(blocks) + 1)
    return sp.csr_array(sp.bsr_array((blocks, places[:-1], places)))


def _assemble(pairs: np.ndarray, blocks: np.ndarray, column: dict[int, int], nv: int) -> sp.csr_array:
    """(r, nv) from the rows (r, 2, 6) of body 1 and body 2; ``pairs`` (r, 2) has an entry per row."""
    first = np.array([[column.get(int(body), -1) for body in pair] for pair in pairs], dtype=np.int64).reshape(-1, 2)
    row, side = np.nonzero(first >= 0)
    places = first[row, side][:, None] + np.arange(6)
    entries = (blocks[row, side].ravel(), (np.repeat(row, 6), places.ravel()))
    return sp.csr_array(entries, shape=(len(pairs), nv))


def _constraint_rows(frame: ProblemFrame, column: dict[int, int], nv: int) -> sp.csr_array:
    c = frame.constraints
    return _assemble(np.repeat(c.pairs, c.rows, axis=0), c.Jacobian.reshape(-1, 2, 6), column, nv)


def _contact_rows(frame: ProblemFrame, column: dict[int, int], nv: int) -> sp.csr_array:
    """(3nc, nv) normal, tangent 1, tangent 2 of every contact."""
    c, nc = frame.contacts, len(frame.contacts.gaps)
    axes = np.empty((nc, 3, 3))
    axes[:, 0] = c.normals
    if frame.tangents is None:
        for k, normal in enumerate(c.normals):
            axes[k] = tangents(normal)
    else:
        axes[:, 1] = frame.tangents
        axes[:, 2] = np.cross(axes[:, 0], axes[:, 1])
    centre = dict(zip(frame.bodies.ids.tolist(), frame.bodies.positions, strict=True))
    blocks = np.zeros((nc, 3, 2, 6))
    for side, sign in ((0, -1.0), (1, 1.0)):
        arm = c.points - np.array([centre.get(int(body), np.zeros(3)) for body in c.pairs[:, side]]).reshape(-1, 3)
        blocks[:, :, side, :3] = sign * axes
        blocks[:, :, side, 3:] = sign * np.cross(arm[:, None], axes)
    return _assemble(np.repeat(c.pairs, 3, axis=0), blocks.reshape(-1, 2, 6), column, nv)


def _kinds(bounds: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(bilateral, unilateral, dry, sign): which rows are joints, limits and dry friction, and in which direction limits
    push."""
    low, high = bounds[:, 0], bounds[:, 1]
    free = np.isneginf(low) & np.isposinf(high)
    up, down = (low == 0.0) & np.isposinf(high), np.isneginf(low) & (high == 0.0)
    dry = (low == -high) & (high > 0.0) & np.isfinite(high)
    other = np.flatnonzero(~(free | up | down | dry))
    if len(other):
        got = tuple(bounds[other[0]].tolist())
        raise expected(
            f"constraints/bounds[{other[0]}]", "(−∞, ∞) of a joint, 0 and ∞ of a limit, or ±f·h of dry friction", got,
            "rows with other bounds (motors) have no place in these formulations",
        )  # fmt: skip
    return free, up | down, dry, np.where(down, -1.0, 1.0)


def _alone(given: sp.csr_array, i: int) -> sp.csr_array:
    """(3k, nv) rows of contacts that have only their i-th row: limits have a normal, dry friction its first tangent."""
    entries = sp.coo_array(given)
    return sp.csr_array((entries.data, (3 * entries.row + i, entries.col)), shape=(3 * given.shape[0], given.shape[1]))


def _friction(contacts: ContactRows) -> np.ndarray:
    """(nc,) kinetic friction coefficients; a time step is too long to resolve static friction."""
    mu = contacts.mu_k
    uneven = np.flatnonzero(mu[:, 0] != mu[:, 1])
    if len(uneven):
        raise expected(f"contacts/mu_k[{uneven[0]}]", "the same along both tangents", tuple(mu[uneven[0], :2].tolist()))
    return mu[:, 0].copy()
