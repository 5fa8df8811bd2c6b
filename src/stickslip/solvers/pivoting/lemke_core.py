"""Lemke's path from one covering vector as a core: the pivots of ``tableau``, then refinement with A itself.

Own options: the largest number of pivots (0: 50·n + 50), and whether zero is the answer where its residual is below the
limit. A path that ends on a ray or inaccurately is left to ``lemke``, which tries other covering vectors.
"""

from __future__ import annotations

from stickslip._jit import kernel
from stickslip.solvers.core import CONVERGED, LIMIT, MAX_ITERATIONS, OWN
from stickslip.solvers.core import RAY as ON_A_RAY
from stickslip.solvers.pivoting.tableau import (
    PIVOTS,
    RAY,
    RUNNING,
    SOLVED,
    Tableau,
    begin,
    bundle_size,
    correct,
    equilibrate,
    pivot,
    values,
)

PIVOT_TOLERANCE, TIE_TOLERANCE = 1e-10, 1e-12
"""Smaller pivots count as zero and closer ratios as equal, in the scaled problem, whose entries are about 1."""
MOST_PIVOTS, ACCEPTS = OWN, OWN + 1
"""Places of the core's own options."""


def lemke_room(n: int) -> tuple[int, int]:
    """The sizes of ``real`` and ``whole``."""
    return (n + 1) * n + bundle_size(n) * (2 * n + 1) + 7 * n + 1, 5 * n + 7


@kernel
def carve(real, whole, n):
    """The scratch of a core as a ``Tableau``."""
    bundle, at = bundle_size(n), (n + 1) * n
    low = at + bundle * n
    vectors = low + (n + 1) * bundle
    return Tableau(
        real[:at].reshape(n + 1, n), real[at:low].reshape(bundle, n), real[low:vectors].reshape(n + 1, bundle),
        real[vectors : vectors + n], whole[1 : 1 + n], whole[1 + n : 2 + 2 * n], whole[2 + 2 * n : 3 + 4 * n],
        real[vectors + n : vectors + 2 * n], real[vectors + 2 * n : vectors + 3 * n + 1],
        whole[3 + 4 * n : 3 + 5 * n], whole[3 + 5 * n : 7 + 5 * n],
    )  # fmt: skip


@kernel
def end_path(t, A, b, rows, columns, scale, code, z):
    """Read z ≥ 0 from the tableau; at a solution it is refined with A."""
    values(t, columns, scale, z)
    if code == SOLVED:
        correct(t, A, b, rows, columns, scale, z)
        correct(t, A, b, rows, columns, scale, z)
    for i in range(z.shape[0]):
        z[i] = max(0.0, z[i])


@kernel(inline=False)
def path(t, A, b, cover, rows, columns, scaled, pivots, z):
    """Follow Lemke's path to its end; rows, columns and scaled (n,) are scratch. Returns RUNNING, SOLVED or RAY."""
    n, size = b.shape[0], 0.0
    equilibrate(A, rows, columns)
    for i in range(n):
        size = max(size, abs(b[i] * rows[i]))
    scale = 1.0 / size if size > 0.0 else 1.0
    for i in range(n):
        scaled[i] = b[i] * scale
    for k in range(t.U.shape[0]):
        for i in range(n):
            t.U[k, i] = 0.0
        for i in range(n + 1):
            t.V[i, k] = 0.0
    code = begin(t, A, scaled, cover, rows, columns)
    if code == RUNNING:
        code = pivot(t, pivots, PIVOT_TOLERANCE, TIE_TOLERANCE)
    end_path(t, A, b, rows, columns, scale, code, z)
    return code


@kernel(inline=False)
def lemke_lcp(A, b, start, member, z, real, whole, history, options):
    """The core; see ``solvers.core`` for its arguments. The start is not used."""
    n, solved = b.shape[0], True
    whole[0] = 0
    for i in range(n):
        z[i] = 0.0
        solved = solved and (b[i] >= 0.0 or (options[ACCEPTS] != 0.0 and b[i] >= -options[LIMIT]))
    if solved:
        return CONVERGED
    t, last = carve(real, whole, n), real.shape[0] - 4 * n
    cover = real[last : last + n]
    for i in range(n):
        cover[i] = 1.0
    most = int(options[MOST_PIVOTS]) if options[MOST_PIVOTS] > 0.0 else 50 * n + 50
    vectors = last + n
    code = path(
        t, A, b, cover, real[vectors : vectors + n], real[vectors + n : vectors + 2 * n],
        real[vectors + 2 * n : vectors + 3 * n], most, z,
    )  # fmt: skip
    whole[0] = t.state[PIVOTS]
    if code == SOLVED:
        return CONVERGED
    return ON_A_RAY if code == RAY else MAX_ITERATIONS
