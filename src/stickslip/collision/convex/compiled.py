"""All contacts of a state in one compiled call, for pairs of shapes that are quick to test and to compile.

    places of shapes → candidates → plane_…, sphere_…, capsule_capsule → contacts

It calls the same functions in the same order as ``detect.ConvexDetector``, so that contacts, ids and frames are the
same to the bit. If two boxes, cylinders or meshes are near each other or a buffer is full, it leaves the work to that
class.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.convex.broad_phase import KIND_PAIRS, Candidates, Grid, find_candidates
from stickslip.collision.convex.capsule_capsule import capsule_capsule
from stickslip.collision.convex.finish import finish
from stickslip.collision.convex.geometry import (
    BOX,
    CAPSULE,
    CYLINDER,
    MESH,
    PLANE,
    SPHERE,
    Found,
    Geometry,
    Placed,
    Rules,
    place_shapes,
)
from stickslip.collision.convex.placed_polyhedron import Work
from stickslip.collision.convex.planes import plane_box, plane_capsule, plane_cylinder, plane_mesh, plane_sphere
from stickslip.collision.convex.spheres import sphere_box, sphere_capsule, sphere_sphere


class Search(NamedTuple):
    """The arrays of a ``ConvexDetector``."""

    geometry: Geometry
    rules: Rules
    placed: Placed
    grid: Grid
    candidates: Candidates
    found: Found
    work: Work
    material: np.ndarray
    """(1, 5) scratch."""


@kernel(inline=False)
def find_simple(search, kin, margin, cell, contacts):
    """Fill ``contacts``. Returns False if the detector has to find them instead."""
    geometry, placed, work = search.geometry, search.placed, search.work
    candidates, found = search.candidates, search.found
    place_shapes(geometry.shapes, kin, placed)
    find_candidates(geometry.shapes, search.rules, placed, margin, cell, search.grid, candidates)
    if candidates.total[0] > candidates.pair.shape[0]:
        return False
    start, pairs = candidates.start, candidates.sorted
    found.total[0] = 0
    for code in range(KIND_PAIRS):
        if start[code] == start[code + 1]:
            continue
        stretch = pairs[start[code] : start[code + 1]]
        if code == 6 * PLANE + SPHERE:
            plane_sphere(geometry, placed, work, stretch, margin, found)
        elif code == 6 * PLANE + BOX:
            plane_box(geometry, placed, work, stretch, margin, found)
        elif code == 6 * PLANE + CAPSULE:
            plane_capsule(geometry, placed, work, stretch, margin, found)
        elif code == 6 * PLANE + CYLINDER:
            plane_cylinder(geometry, placed, work, stretch, margin, found)
        elif code == 6 * PLANE + MESH:
            plane_mesh(geometry, placed, work, stretch, margin, found)
        elif code == 6 * SPHERE + SPHERE:
            sphere_sphere(geometry, placed, work, stretch, margin, found)
        elif code == 6 * SPHERE + BOX:
            sphere_box(geometry, placed, work, stretch, margin, found)
        elif code == 6 * SPHERE + CAPSULE:
            sphere_capsule(geometry, placed, work, stretch, margin, found)
        elif code == 6 * CAPSULE + CAPSULE:
            capsule_capsule(geometry, placed, work, stretch, margin, found)
        else:
            return False
    if found.total[0] > min(found.gap.shape[0], contacts.pair.shape[0]):
        return False
    contacts.found[0] = 0
    finish(geometry.shapes, placed, kin, found, contacts, search.material)
    return True
