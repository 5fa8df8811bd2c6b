"""The friction cone with n_d edges, and the unknowns of contacts with it.

With directions d_k = cos(2πk/n_d)·t₁ + sin(2πk/n_d)·t₂, friction is p_t = Σ β_k·d_k with β ≥ 0 and Σ β_k ≤ μ·p_n: a
polygon *inside* Coulomb's disk. Its strength is μ along the directions and μ·cos(π/n_d), the least, midway: 29 % less
for n_d = 4, 8 % for 8. Friction opposes sliding only to within the angle π/n_d, because the direction nearest to
sliding takes all. n_d = 4, the default, is the smallest set that is symmetric and exact along both tangents; the MATLAB
original has 7, which favours +t₁ over −t₁.

The unknowns z of contacts with this cone are, in the order of the paper: normal impulses p_n of ng contacts (with
groups of subcontacts, of one primary each), auxiliary c_a of the na other subcontacts, β of the nf contacts with
friction, and s.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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
        ng, na, nb, nf = self.sizes
        f, places = first + ng + na, np.arange(nf)
        beta = f + np.arange(nb).reshape(nf, len(self.directions))
        with_friction = np.column_stack([first + self.sliding, beta, f + nb + places])
        own: list[np.ndarray] = list((first + np.arange(ng))[:, None])
        for g, block in zip(self.sliding, with_friction, strict=True):
            own[g] = block
        for g in np.flatnonzero(np.diff(self.start)):
            own[g] = np.concatenate([own[g], first + ng + np.arange(self.start[g], self.start[g + 1])])
        return tuple(own)

    def impulses(self, z: np.ndarray, contacts: int) -> np.ndarray:
        """(3·contacts,) impulses of contact rows from z."""
        ng, na, nb, nf = self.sizes
        p = np.zeros((contacts, 3))
        p[self.primary, 0] = z[:ng]
        beta = z[ng + na : ng + na + nb].reshape(nf, len(self.directions))
        p[self.primary[self.sliding], 1:] = beta @ self.directions
        return p.ravel()

    def unknowns(self, impulses: np.ndarray, velocities: np.ndarray) -> np.ndarray:
        """z for a warm start from impulses (3·contacts,), each friction split between the two nearest directions, and
        slip from the velocities (3·contacts,) that they give; auxiliary variables are what their rows ask for."""
        ng, na, nb, nf = self.sizes
        nd = len(self.directions)
        p, u = impulses.reshape(-1, 3)[self.primary], velocities.reshape(-1, 3)
        z = np.zeros(ng + na + nb + nf)
        z[:ng] = p[:, 0]
        for g in range(ng if na else 0):
            part = slice(self.start[g], self.start[g + 1])
            wanted = np.maximum.accumulate(np.maximum(0.0, u[self.secondary[part], 0] - u[self.primary[g], 0]))
            z[ng + part.start : ng + part.stop] = np.diff(wanted, prepend=0.0)
        t = p[self.sliding, 1:]
        step = 2.0 * np.pi / nd
        angle = np.arctan2(t[:, 1], t[:, 0]) % (2.0 * np.pi)
        low = np.minimum((angle / step).astype(int), nd - 1)
        size, rest = np.hypot(t[:, 0], t[:, 1]) / np.sin(step), angle - low * step
        beta = z[ng + na : ng + na + nb].reshape(nf, nd)
        beta[np.arange(nf), low] = size * np.sin(step - rest)
        beta[np.arange(nf), (low + 1) % nd] += size * np.sin(rest)
        across = u[self.primary[self.sliding], 1:] @ self.directions.T
        z[ng + na + nb :] = np.maximum(0.0, -across.min(axis=1, initial=0.0))
        return z


def layout(friction: np.ndarray, directions: np.ndarray, primary=None, secondary=None, start=None) -> Layout:
    """The layout of contacts with these coefficients (nc,); the last three arguments describe groups."""
    nc = len(friction)
    if primary is None:
        primary, secondary, start = np.arange(nc), np.zeros(0, dtype=np.int64), np.zeros(nc + 1, dtype=np.int64)
    mu = np.ascontiguousarray(friction[primary])
    return Layout(primary, secondary, start, mu, np.flatnonzero(mu > 0.0), directions)
