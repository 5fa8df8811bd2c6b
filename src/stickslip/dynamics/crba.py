"""Composite rigid bodies: the joint-space inertia M(q), only its structural non-zeros, in O(links · depth).

Featherstone (2008), Table 6.2. M is packed by rows along the tree: see ``model.arrays.Support``.
"""

from __future__ import annotations

from stickslip._jit import kernel
from stickslip.dynamics.cables import add_cable_mass
from stickslip.dynamics.kinematics import forward_kinematics, spatial_inertias
from stickslip.math.spatial import inertia_times


@kernel
def crba(tree, support, inertia, q, kin, mass):
    """The packed mass matrix ``mass.M`` at the configuration q."""
    forward_kinematics(tree, q, kin)
    spatial_inertias(inertia, kin)
    composite_inertia(tree, support, inertia, kin, mass)


@kernel
def composite_inertia(tree, support, inertia, kin, mass):
    """``mass.M`` from kinematics and inertias that are up to date."""
    I, S, M = mass.composite, kin.S, mass.M
    nl = tree.parent.shape[0]
    for b in range(1, nl):
        for k in range(10):
            I[b, k] = kin.inertia[b, k]
    for b in range(nl - 1, 0, -1):
        p = tree.parent[b]
        if p != 0:
            for k in range(10):
                I[p, k] += I[b, k]
        for d in range(support.link_dof[b], support.link_dof[b + 1]):
            f0, f1, f2, f3, f4, f5 = inertia_times(I, b, S[d, 0], S[d, 1], S[d, 2], S[d, 3], S[d, 4], S[d, 5])
            for k in range(support.start[d], support.start[d + 1]):
                e = support.column[k]
                M[k] = f0 * S[e, 0] + f1 * S[e, 1] + f2 * S[e, 2] + f3 * S[e, 3] + f4 * S[e, 4] + f5 * S[e, 5]
            M[support.start[d]] += inertia.armature[d]
    if inertia.cable_armature.shape[0] > 0:
        add_cable_mass(support, inertia, kin, M)


@kernel
def unpack(support, M, dense):
    """Write the packed symmetric matrix into a dense (nv, nv) array."""
    nv = dense.shape[0]
    for i in range(nv):
        for j in range(nv):
            dense[i, j] = 0.0
    for i in range(nv):
        for k in range(support.start[i], support.start[i + 1]):
            j = support.column[k]
            dense[i, j] = M[k]
            dense[j, i] = M[k]
