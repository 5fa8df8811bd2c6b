"""Sparse rows of constraints and of what the mass matrix makes of them, in compressed (CSR) form.

With M = LᵀDL a row g of G becomes y = g·L⁻¹, and G·M⁻¹·Gᵀ = Y·D⁻¹·Yᵀ. A contact's row has non-zeros at the velocities
that move its two links; any other row fills in at the ancestors of its velocities, and nowhere else.
Cost: Σ depth² for Y; for the matrix, the number of pairs of rows times the velocities that they share.
Reference: Featherstone, "Exploiting sparsity in operational-space dynamics", IJRR 29(10), 2010.
"""

from __future__ import annotations

from stickslip._jit import kernel
from stickslip.collision.contacts import ROLLING, TORSION
from stickslip.dynamics.delassus import contact_jacobian, eliminate
from stickslip.dynamics.jacobian import last_dof
from stickslip.methods.rigid.assembly.matrices import FIRST_SPIN


@kernel
def contact_rows(support, L, kin, contacts, nc, rows):
    """``rows`` (dynamics.delassus.ContactRows) of the first nc contacts; returns their number of velocities, summed."""
    n = 0
    for c in range(nc):
        contact_jacobian(support, kin, contacts.link1, contacts.link2, contacts.point, contacts.axes, c, rows)
        eliminate(support, L, c, rows)
        n += rows.length[c]
    return n


@kernel
def count_spins(contacts, nc):
    """Number of blocks of torsional and rolling friction of the first nc contacts."""
    n = 0
    for c in range(nc):
        n += (1 if contacts.material[c, TORSION] > 0.0 else 0) + (1 if contacts.material[c, ROLLING] > 0.0 else 0)
    return n


@kernel
def spin_rows(support, L, kin, contacts, nc, first, rows, owner, factor, ids):
    """Blocks of torsional and rolling friction from row ``first`` on, each with an empty normal: torsion has the
    relative angular velocity about the normal as its first tangent, rolling those about both tangents. Writes the
    contact that each belongs to, μ_t or μ_r [m], and an id; returns the number of blocks."""
    n = 0
    for c in range(nc):
        for rolling in range(2):
            mu = contacts.material[c, ROLLING if rolling else TORSION]
            if mu > 0.0:
                spin_jacobian(support, kin, contacts, c, rolling, first + n, rows)
                eliminate(support, L, first + n, rows)
                owner[first + n], factor[first + n] = c, mu
                ids[first + n] = FIRST_SPIN + 2 * contacts.pair[c] + rolling
                n += 1
    return n


@kernel
def spin_jacobian(support, kin, contacts, c, rolling, row, rows):
    """Write a row as ``spin_rows`` says."""
    d1, d2, n = last_dof(support, contacts.link1[c]), last_dof(support, contacts.link2[c]), 0
    axes = contacts.axes[c]
    while d1 >= 0 or d2 >= 0:
        d = max(d1, d2)
        sign = (1.0 if d2 == d else 0.0) - (1.0 if d1 == d else 0.0)
        x, y, z = sign * kin.S[d, 3], sign * kin.S[d, 4], sign * kin.S[d, 5]
        rows.dofs[row, n], rows.J[row, n, 0], rows.J[row, n, 2] = d, 0.0, 0.0
        if rolling:
            rows.J[row, n, 1] = axes[1, 0] * x + axes[1, 1] * y + axes[1, 2] * z
            rows.J[row, n, 2] = axes[2, 0] * x + axes[2, 1] * y + axes[2, 2] * z
        else:
            rows.J[row, n, 1] = axes[0, 0] * x + axes[0, 1] * y + axes[0, 2] * z
        d1 = support.dof_parent[d] if d1 == d else d1
        d2 = support.dof_parent[d] if d2 == d else d2
        n += 1
    rows.length[row] = n


@kernel
def pack_contacts(rows, first, nc, row, start, column, J, Y):
    """Three CSR rows per contact ``first`` … nc − 1 from CSR row ``row`` on, columns ascending; ``start[row]`` is where
    they begin."""
    n = start[row]
    for c in range(first, nc):
        length = rows.length[c]
        for i in range(3):
            for k in range(length - 1, -1, -1):
                column[n] = rows.dofs[c, k]
                J[n], Y[n] = rows.J[c, k, i], rows.Y[c, k, i]
                n += 1
            row += 1
            start[row] = n
    return n


@kernel
def with_ancestors(support, d, found, count):
    """Insert the velocity d and its ancestors into ``found[:count]``, which descends; returns the new count."""
    while d >= 0:
        at = count
        while at > 0 and found[at - 1] < d:
            at -= 1
        if at > 0 and found[at - 1] == d:
            break
        for m in range(count, at, -1):
            found[m] = found[m - 1]
        found[at] = d
        count += 1
        d = support.dof_parent[d]
    return count


@kernel
def pack_rows(support, L, given_start, given_column, given, ahead, spaced, row, start, column, J, Y, x, found):
    """CSR rows (``given_…``), filled in at ancestors, from CSR row ``row`` on, each after ``ahead`` empty rows and
    before ``spaced`` ones.

    ``x`` (nv,) is scratch, zero before and after; ``found`` (nv,) is scratch.
    """
    n = start[row]
    for r in range(given_start.shape[0] - 1):
        for _ in range(ahead):
            row += 1
            start[row] = n
        count = 0
        for k in range(given_start[r], given_start[r + 1]):
            count = with_ancestors(support, given_column[k], found, count)
        for k in range(given_start[r], given_start[r + 1]):
            x[given_column[k]] += given[k]
        for k in range(count):
            column[n + count - 1 - k] = found[k]
            J[n + count - 1 - k] = x[found[k]]
        for k in range(count):
            d = found[k]
            y = x[d]
            x[d] = 0.0
            Y[n + count - 1 - k] = y
            for m in range(support.start[d] + 1, support.start[d + 1]):
                x[support.column[m]] -= L[m] * y
        n += count
        for _ in range(1 + spaced):
            row += 1
            start[row] = n
    return n


@kernel
def speeds(start, column, J, v, out):
    """out = J·v."""
    for r in range(out.shape[0]):
        s = 0.0
        for k in range(start[r], start[r + 1]):
            s += J[k] * v[column[k]]
        out[r] = s


@kernel
def push(start, column, J, impulses, out):
    """out = Jᵀ·impulses."""
    for d in range(out.shape[0]):
        out[d] = 0.0
    for r in range(impulses.shape[0]):
        for k in range(start[r], start[r + 1]):
            out[column[k]] += J[k] * impulses[r]


@kernel
def coupled(start, column, rows, counts):
    """An estimate of the number of non-zeros of Y·D⁻¹·Yᵀ; ``counts`` (nv,) is scratch."""
    for d in range(counts.shape[0]):
        counts[d] = 0
    for k in range(start[rows]):
        counts[column[k]] += 1
    most = 0
    for r in range(rows):
        widest = 0
        for k in range(start[r], start[r + 1]):
            widest = max(widest, counts[column[k]])
        most += widest
    return most


@kernel
def dense_product(support, L, start, column, Y, x, W):
    """W = Y·D⁻¹·Yᵀ, dense; ``x`` (nv,) is scratch, zero before and after."""
    m = W.shape[0]
    for i in range(m):
        for k in range(start[i], start[i + 1]):
            x[column[k]] = Y[k] / L[support.start[column[k]]]
        for j in range(i, m):
            s = 0.0
            for k in range(start[j], start[j + 1]):
                s += x[column[k]] * Y[k]
            W[i, j] = s
            W[j, i] = s
        for k in range(start[i], start[i + 1]):
            x[column[k]] = 0.0


@kernel
def scale_columns(support, L, column, Y, n):
    """Y ← Y·D^(−1/2)."""
    for k in range(n):
        Y[k] /= L[support.start[column[k]]] ** 0.5


@kernel
def unpack_mass(support, M, start, column, value):
    """The packed symmetric M as CSR: ``start`` (nv + 1,), ``column`` and ``value`` (2·nnz − nv,)."""
    nv = start.shape[0] - 1
    for d in range(nv + 1):
        start[d] = 0
    for d in range(nv):
        start[d + 1] += support.start[d + 1] - support.start[d]
        for k in range(support.start[d] + 1, support.start[d + 1]):
            start[support.column[k] + 1] += 1
    for d in range(nv):
        start[d + 1] += start[d]
    for d in range(nv):
        for k in range(support.start[d + 1] - 1, support.start[d] - 1, -1):
            e = support.column[k]
            at = start[d]
            column[at], value[at] = e, M[k]
            start[d] += 1
            if e != d:
                at = start[e]
                column[at], value[at] = d, M[k]
                start[e] += 1
    for d in range(nv, 0, -1):
        start[d] = start[d - 1]
    start[0] = 0
