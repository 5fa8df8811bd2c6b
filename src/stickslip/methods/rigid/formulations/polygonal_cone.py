"""The friction cone with n_d edges, and the unknowns of contacts with it.

With directions d_k = cos(2πk/n_d)·t₁ + sin(2πk/n_d)·t₂, friction is p_t = Σ β_k·d_k with β ≥ 0 and Σ β_k ≤ μ·p_n: a
polygon *inside* Coulomb's disk. Its strength is μ along the directions and μ·cos(π/n_d), the least, midway: 29 % less
for n_d = 4, 8 % for 8. Friction opposes sliding only to within the angle π/n_d, because the direction nearest to
sliding takes all. n_d = 8 is the default. n_d = 4, with which the paper is reproduced, is the smallest set that is
symmetric and exact along both tangents; the MATLAB original has 7, which favours +t₁ over −t₁. A contact with friction
has n_d + 2 unknowns.

The unknowns z of contacts with this cone are, in the order of the paper: normal impulses p_n of ng contacts (with
groups of subcontacts, of one primary each), auxiliary c_a of the na other subcontacts, β of the nf contacts with
friction, and s.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from stickslip._jit import kernel
from stickslip.errors import whole


def friction_directions(n: int) -> np.ndarray:
    """(n, 2) cos and sin of n equal angles; exact zeros and ones along the tangents."""
    n = whole("directions", n, 3)
    angle = 2.0 * np.pi * np.arange(n) / n
    return np.round(np.stack([np.cos(angle), np.sin(angle)], axis=1), 15)


@dataclass(frozen=True)
class Layout:
    """What each unknown is."""

    primary: np.ndarray
    """(ng,) the contact that carries the impulse of each group."""
    secondary: np.ndarray
    """(na,) the other contacts, group by group."""
    start: np.ndarray
    """(ng + 1,) the others of group g are secondary[start[g]:start[g + 1]]."""
    friction: np.ndarray
    """(ng,) μ of the primary."""
    sliding: np.ndarray
    """(nf,) the groups with friction."""
    directions: np.ndarray
    """(n_d, 2)."""

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        """ng, na, n_d·nf, nf."""
        return len(self.primary), len(self.secondary), len(self.directions) * len(self.sliding), len(self.sliding)

    def labels(self, first: int = 0) -> dict[str, slice]:
        """Where normal impulses, auxiliary variables, friction and slip are in z, from ``first`` on."""
        ends = first + np.cumsum([0, *self.sizes])
        names = ("normal", "auxiliary", "friction", "slip")
        return {name: slice(int(a), int(b)) for name, a, b in zip(names, ends[:-1], ends[1:], strict=True) if a < b}

    def blocks(self, first: int = 0) -> tuple[np.ndarray, ...]:
        """Per contact its normal, auxiliary, friction and slip variables."""
        start, member = np.empty(len(self.primary) + 1, dtype=np.int64), np.empty(sum(self.sizes), dtype=np.int64)
        block_lists(self.start, self.sliding, len(self.directions), start, member)
        return tuple(first + member[a:b] for a, b in itertools.pairwise(start))

    def impulses(self, z: np.ndarray, contacts: int) -> np.ndarray:
        """(3·contacts,) impulses of contact rows from z."""
        p = np.empty(3 * contacts)
        impulses_of(self.primary, self.start, self.sliding, self.directions, np.ascontiguousarray(z), p)
        return p

    def unknowns(self, impulses: np.ndarray, velocities: np.ndarray) -> np.ndarray:
        """z for a warm start from impulses (3·contacts,), each friction split between the two nearest directions, and
        slip from the velocities (3·contacts,) that they give; auxiliary variables are what their rows ask for."""
        z = np.empty(sum(self.sizes))
        unknowns_of(
            self.primary, self.secondary, self.start, self.sliding, self.directions, np.ascontiguousarray(impulses),
            np.ascontiguousarray(velocities), z,
        )  # fmt: skip
        return z


@kernel
def block_lists(start, sliding, nd, first, member):
    """Write the blocks of all groups: block g is member[first[g]:first[g + 1]]."""
    ng, nf, n, r = start.shape[0] - 1, sliding.shape[0], 0, 0
    f = ng + start[ng]
    for g in range(ng):
        first[g] = n
        member[n] = g
        n += 1
        if r < nf and sliding[r] == g:
            for k in range(nd):
                member[n] = f + nd * r + k
                n += 1
            member[n] = f + nd * nf + r
            n += 1
            r += 1
        for a in range(start[g], start[g + 1]):
            member[n] = ng + a
            n += 1
    first[ng] = n


@kernel
def impulses_of(primary, start, sliding, D, z, p):
    """Impulses p (3·contacts,) of contact rows from z."""
    ng, nd = primary.shape[0], D.shape[0]
    f = ng + start[ng]
    for i in range(p.shape[0]):
        p[i] = 0.0
    for g in range(ng):
        p[3 * primary[g]] = z[g]
    for r in range(sliding.shape[0]):
        i = 3 * primary[sliding[r]]
        for k in range(nd):
            p[i + 1] += z[f + nd * r + k] * D[k, 0]
            p[i + 2] += z[f + nd * r + k] * D[k, 1]


@kernel
def unknowns_of(primary, secondary, start, sliding, D, p, u, z):
    """z from impulses p and velocities u (3·contacts,); see ``Layout.unknowns``."""
    ng, nd = primary.shape[0], D.shape[0]
    f = ng + start[ng]
    s = f + nd * sliding.shape[0]
    for i in range(s + sliding.shape[0]):
        z[i] = 0.0
    for g in range(ng):
        z[g] = p[3 * primary[g]]
        reached = 0.0
        for a in range(start[g], start[g + 1]):
            wanted = max(reached, u[3 * secondary[a]] - u[3 * primary[g]])
            z[ng + a] = wanted - reached
            reached = wanted
    step = 2.0 * np.pi / nd
    for r in range(sliding.shape[0]):
        i, beta = 3 * primary[sliding[r]], f + nd * r
        angle = np.arctan2(p[i + 2], p[i + 1])
        angle = angle + 2.0 * np.pi if angle < 0.0 else angle
        low = min(int(angle / step), nd - 1)
        size, rest = np.hypot(p[i + 1], p[i + 2]) / np.sin(step), angle - low * step
        z[beta + low] = size * np.sin(step - rest)
        z[beta + (low + 1) % nd] += size * np.sin(rest)
        least = 0.0
        for k in range(nd):
            least = min(least, D[k, 0] * u[i + 1] + D[k, 1] * u[i + 2])
        z[s + r] = -least


def layout(friction: np.ndarray, directions: np.ndarray, primary=None, secondary=None, start=None) -> Layout:
    """The layout of contacts with these coefficients (nc,); the last three arguments describe groups."""
    nc = len(friction)
    if primary is None:
        primary, secondary, start = np.arange(nc), np.zeros(0, dtype=np.int64), np.zeros(nc + 1, dtype=np.int64)
    mu = np.ascontiguousarray(friction[primary])
    return Layout(primary, secondary, start, mu, np.flatnonzero(mu > 0.0), directions)
