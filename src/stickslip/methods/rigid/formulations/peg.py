"""Polyhedral exact geometry (PEG): it is enough to be outside one half-space of a group.

Near an edge or a vertex of a polyhedron, a body may pass on either side. Its *subcontacts* with all faces there form a
group, and one of them must have a gap ≥ 0 at the end of the step. One of them, the primary, carries the impulse:

    0 ≤ p_n ⟂ ψ₁/dt + G₁·v⁺ + E₁·c_a ≥ 0
    0 ≤ c_a ⟂ (ψ₁ − ψ_k)/dt + (G₁ − G_k)·v⁺ + E₂·c_a ≥ 0,    k = 2 … n_s,    E₁ = (1 … 1), E₂ = tril(1)

By the second line the partial sums of c_a are max(0, max_{j≤k} ψ_j⁺ − ψ₁⁺)/dt, so that the first says max_j ψ_j⁺ ≥ 0.
Friction acts in the primary's tangents, as in Stewart–Trinkle, to which PEG reduces if every group is one contact.
Sizes: ng groups with ns subcontacts in all have ns + (n_d + 1)·nf unknowns as LCP; the mixed LCP (6) has v besides.

**Which is the primary?** With ``"largest"``, it is the subcontact whose plane separates most now (among equal ones, at
the end of the step without impulses). Its normal points to where the body is, and so does the impulse. If a group holds
without impulses, the primary is the one that separates most then: the step without impulses is a solution, and the
first one found. A peg that fits has other solutions, in which impulses tilt it until it sticks in the hole.
With ``"smallest"``, it is the smallest gap that is not below −1e-4, as in the MATLAB original. A peg that is 5 µm too
wide has ψ = −5e-6 from the hole's sides and, above it, ψ = +0.1 from the top; −5e-6 passes the test and is the
smallest, so the side is the primary. When the top is met, max_j ψ_j⁺ ≥ 0 asks for a vertical push, but the impulse acts
along the side's normal: no horizontal impulse can lift the peg, and the problem has no solution. The original then
ejects the peg.
Reference: Nguyen, Trinkle, ICRA 2010; Nguyen, PhD thesis, RPI, 2011; Williams et al., eq. (6).
Differs from the paper in: the primary; friction (the MATLAB PEG has none); joints; ``recovery``; restitution, which
only groups of one contact have (see ``formulation``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from stickslip._jit import kernel
from stickslip.errors import one_of
from stickslip.methods.options import option
from stickslip.methods.recovery import group_recoveries
from stickslip.methods.rigid.assembly.matrices import Matrices
from stickslip.methods.rigid.formulations.formulation import Formulation
from stickslip.methods.rigid.formulations.polygonal_cone import Layout

PRIMARY = ("largest", "smallest")
TIE = 1e-9
"""Gaps that differ by less are equal [m]."""
DEEPEST = -1e-4
"""The original's smallest gap of a primary subcontact [m]."""


@kernel
def choose_primaries(groups, gap, end, largest, primary, secondary, start):
    """The primary of each group, and the others; ``end`` (nc,): gaps at the end of the step without impulses."""
    n = 0
    for g in range(groups.shape[0] - 1):
        best = groups[g]
        for c in range(groups[g] + 1, groups[g + 1]):
            if largest:
                tied = max(end[c], end[best]) >= 0.0 or abs(gap[c] - gap[best]) <= TIE
                better = end[c] > end[best] if tied else gap[c] > gap[best]
            elif gap[best] < DEEPEST or gap[c] < DEEPEST:
                better = gap[c] > gap[best]
            else:
                better = gap[c] < gap[best]
            if better:
                best = c
        primary[g] = best
        start[g] = n
        for c in range(groups[g], groups[g + 1]):
            if c != best:
                secondary[n] = c
                n += 1
    start[groups.shape[0] - 1] = n


@dataclass
class Peg(Formulation):
    """Bodies stay outside at least one half-space of every group of subcontacts."""

    primary: str = option(
        "largest", "the subcontact that carries the impulse: the one of the 'largest' or 'smallest' gap"
    )

    summary: ClassVar[str] = "time stepping with polyhedral exact geometry: outside one half-space of each group"
    reference: ClassVar[str] = "Nguyen, Trinkle, ICRA 2010; Williams et al., eq. (6)"
    forms: ClassVar[tuple[str, ...]] = ("lcp", "reduced", "mlcp")
    detector: ClassVar[str] = "peg"
    groups: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("primary", self.primary, PRIMARY)

    def plan(self, matrices: Matrices) -> Layout:
        groups, nc = matrices.groups, matrices.contacts
        if groups is None or len(groups) == nc + 1:
            return self.polygonal(matrices)
        ng = len(groups) - 1
        primary, secondary, start = (np.empty(n, dtype=np.int64) for n in (ng, nc - ng, ng + 1))
        end = matrices.gap + matrices.dt * matrices.free[matrices.bilateral :: 3]
        choose_primaries(groups, matrices.gap, end, self.primary == "largest", primary, secondary, start)
        return self.polygonal(matrices, primary, secondary, start)

    def demanded(self, matrices: Matrices) -> np.ndarray:
        return matrices.gap / matrices.dt

    def recovered(self, matrices: Matrices) -> tuple[np.ndarray, np.ndarray]:
        """As of single contacts; the subcontacts of a group follow the one with the largest gap."""
        offset, R = super().recovered(matrices)
        if matrices.groups is not None and R.any():
            both = np.stack([self.demanded(matrices), offset])
            group_recoveries(matrices.groups, both, R)
            offset = both[1]
        return offset, R

    def normal_offset(self, matrices: Matrices) -> np.ndarray:
        offset = self.recovered(matrices)[0]
        bounced = self.bounced(matrices, offset)
        if matrices.groups is None or bounced is offset:
            return bounced
        size = np.diff(matrices.groups)
        return np.where(np.repeat(size, size) == 1, bounced, offset)
