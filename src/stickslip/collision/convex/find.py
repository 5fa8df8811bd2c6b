"""All contacts of a state between convex shapes, in one compiled call.

    poses of shapes → candidates, sorted by kinds → one function per pair of kinds → contacts

Every method calls ``find_contacts`` from its step, and ``detect.ConvexDetector`` calls it from Python. What is large is
compiled once for all of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel, prepare
from stickslip.collision.convex.broad_phase import KIND_PAIRS, Candidates, Grid, find_candidates, pairs_of_kinds
from stickslip.collision.convex.capsule_capsule import capsule_capsule
from stickslip.collision.convex.capsule_cylinder import capsule_cylinder
from stickslip.collision.convex.cylinder_cylinder import cylinder_cylinder
from stickslip.collision.convex.cylinder_polyhedron import box_cylinder
from stickslip.collision.convex.ellipsoids import plane_ellipsoid, solid_ellipsoid
from stickslip.collision.convex.finish import finish
from stickslip.collision.convex.geometry import (
    BOX,
    CAPSULE,
    CYLINDER,
    ELLIPSOID,
    KIND,
    MESH,
    PLANE,
    SPHERE,
    TERRAIN,
    Found,
    Geometry,
    Placed,
    Rules,
    place_shapes,
)
from stickslip.collision.convex.hulls import hull_hull
from stickslip.collision.convex.moving_surfaces import move_surfaces
from stickslip.collision.convex.placed_polyhedron import Work
from stickslip.collision.convex.planes import plane_box, plane_capsule, plane_cylinder, plane_mesh, plane_sphere
from stickslip.collision.convex.polyhedron_polyhedron import polyhedron_polyhedron
from stickslip.collision.convex.rounded import core_solid
from stickslip.collision.convex.spheres import sphere_box, sphere_capsule, sphere_cylinder, sphere_sphere
from stickslip.collision.convex.terrain_balls import capsule_terrain, sphere_terrain
from stickslip.collision.convex.terrain_polyhedron import polyhedron_terrain
from stickslip.collision.convex.terrain_round import round_terrain

BALLS_ON_PLANES = KIND * PLANE + SPHERE


class Search(NamedTuple):
    """The arrays of a contact search."""

    geometry: Geometry
    rules: Rules
    placed: Placed
    grid: Grid
    candidates: Candidates
    found: Found
    work: Work
    shares: np.ndarray
    """(1,) what stiffness, damping and preload are counted by: an index of ``finish.SHARES``."""
    material: np.ndarray
    """(1, 13) scratch."""


@kernel(deferred=True)
def touch_planes_and_spheres(geometry, placed, work, pairs, code, margin, found):
    """Contacts of pairs (n, 2) of one pair of kinds, of which one is a plane or a sphere, and none a mesh but on a
    plane."""
    if code == KIND * PLANE + SPHERE:
        plane_sphere(geometry, placed, work, pairs, margin, found)
    elif code == KIND * PLANE + BOX:
        plane_box(geometry, placed, work, pairs, margin, found)
    elif code == KIND * PLANE + CAPSULE:
        plane_capsule(geometry, placed, work, pairs, margin, found)
    elif code == KIND * PLANE + CYLINDER:
        plane_cylinder(geometry, placed, work, pairs, margin, found)
    elif code == KIND * PLANE + MESH:
        plane_mesh(geometry, placed, work, pairs, margin, found)
    elif code == KIND * SPHERE + SPHERE:
        sphere_sphere(geometry, placed, work, pairs, margin, found)
    elif code == KIND * SPHERE + BOX:
        sphere_box(geometry, placed, work, pairs, margin, found)
    elif code == KIND * SPHERE + CAPSULE:
        sphere_capsule(geometry, placed, work, pairs, margin, found)
    elif code == KIND * SPHERE + CYLINDER:
        sphere_cylinder(geometry, placed, work, pairs, margin, found)


@kernel(deferred=True)
def touch_capsules(geometry, placed, work, pairs, code, margin, found):
    """Contacts of pairs (n, 2) of capsules."""
    capsule_capsule(geometry, placed, work, pairs, margin, found)


@kernel(deferred=True)
def touch_boxes(geometry, placed, work, pairs, code, margin, found):
    """Contacts of pairs (n, 2) of boxes."""
    polyhedron_polyhedron(geometry, placed, work, pairs, margin, found)


@kernel(deferred=True)
def touch_cylinders(geometry, placed, work, pairs, code, margin, found):
    """Contacts of pairs (n, 2) of one pair of kinds: a cylinder and a box, a capsule or a cylinder."""
    if code == KIND * CAPSULE + CYLINDER:
        capsule_cylinder(geometry, placed, work, pairs, margin, found)
    elif code == KIND * CYLINDER + CYLINDER:
        cylinder_cylinder(geometry, placed, work, pairs, margin, found)
    elif code == KIND * BOX + CYLINDER:
        box_cylinder(geometry, placed, work, pairs, margin, found)


@kernel(deferred=True)
def touch_hulls(geometry, placed, work, pairs, code, margin, found):
    """Contacts of pairs (n, 2) of one pair of kinds that are found by GJK and EPA."""
    if code == KIND * BOX + MESH or code == KIND * MESH + MESH:
        hull_hull(geometry, placed, work, pairs, margin, found)
    else:
        core_solid(geometry, placed, work, pairs, margin, found)


@kernel(deferred=True)
def touch_ellipsoids(geometry, placed, work, pairs, code, margin, found):
    """Contacts of pairs (n, 2) of one pair of kinds, of which the second is an ellipsoid."""
    if code == KIND * PLANE + ELLIPSOID:
        plane_ellipsoid(geometry, placed, work, pairs, margin, found)
    elif code == KIND * MESH + ELLIPSOID:
        core_solid(geometry, placed, work, pairs, margin, found)
    else:
        solid_ellipsoid(geometry, placed, work, pairs, margin, found)


@kernel(deferred=True)
def touch_terrain(geometry, placed, work, pairs, code, margin, found):
    """Contacts of pairs (n, 2) of one pair of kinds, of which the second is a height field; planes touch none."""
    if code == KIND * SPHERE + TERRAIN:
        sphere_terrain(geometry, placed, work, pairs, margin, found)
    elif code == KIND * CAPSULE + TERRAIN:
        capsule_terrain(geometry, placed, work, pairs, margin, found)
    elif code == KIND * BOX + TERRAIN or code == KIND * MESH + TERRAIN:
        polyhedron_terrain(geometry, placed, work, pairs, margin, found)
    elif code == KIND * CYLINDER + TERRAIN or code == KIND * ELLIPSOID + TERRAIN:
        round_terrain(geometry, placed, work, pairs, margin, found)


TOUCH = (
    touch_planes_and_spheres,
    touch_capsules,
    touch_boxes,
    touch_cylinders,
    touch_hulls,
    touch_ellipsoids,
    touch_terrain,
)
"""The functions that find contacts, in the order of ``function_of``. They have the same arguments."""
PLANES_AND_SPHERES, CAPSULES, BOXES, CYLINDERS, HULLS, ELLIPSOIDS, TERRAINS = range(7)


@kernel
def function_of(code):
    """Index in ``TOUCH`` of the function that finds contacts of a pair of kinds i ≤ j, whose code is KIND·i + j."""
    i, j = code // KIND, code % KIND
    if j == TERRAIN:
        return TERRAINS
    if j == ELLIPSOID:
        return ELLIPSOIDS
    if i == PLANE or (i == SPHERE and j != MESH):
        return PLANES_AND_SPHERES
    if j == MESH or (i == BOX and j == CAPSULE):
        return HULLS
    if j == CYLINDER:
        return CYLINDERS
    return CAPSULES if i == CAPSULE else BOXES


@kernel
def look_for_candidates(search, kin, margin, cell):
    """Fill ``search.candidates`` and clear ``search.found``. Returns False if the buffer of candidates is full."""
    search.found.total[0] = 0
    shapes = search.geometry.shapes
    place_shapes(shapes, kin, search.placed)
    find_candidates(shapes, search.rules, search.placed, margin, cell, search.grid, search.candidates)
    return search.candidates.total[0] <= search.candidates.pair.shape[0]


@kernel(separate=True)
def touch_all(search, margin):
    """Fill ``search.found`` with the contacts of all candidates."""
    geometry, placed, work, found = search.geometry, search.placed, search.work, search.found
    start, pairs = search.candidates.start, search.candidates.sorted
    for code in range(KIND_PAIRS):
        if start[code] == start[code + 1] or search.rules.left_out[code]:
            continue
        stretch = pairs[start[code] : start[code + 1]]
        function = function_of(code)
        if function == PLANES_AND_SPHERES:
            touch_planes_and_spheres(geometry, placed, work, stretch, code, margin, found)
        elif function == CAPSULES:
            touch_capsules(geometry, placed, work, stretch, code, margin, found)
        elif function == BOXES:
            touch_boxes(geometry, placed, work, stretch, code, margin, found)
        elif function == CYLINDERS:
            touch_cylinders(geometry, placed, work, stretch, code, margin, found)
        elif function == HULLS:
            touch_hulls(geometry, placed, work, stretch, code, margin, found)
        elif function == ELLIPSOIDS:
            touch_ellipsoids(geometry, placed, work, stretch, code, margin, found)
        else:
            touch_terrain(geometry, placed, work, stretch, code, margin, found)


def prepare_search(search: Search) -> None:
    """Compile what the search needs for these shapes, and nothing else."""
    arguments = (search.geometry, search.placed, search.work, search.candidates.sorted, 0, 0.0, search.found)
    codes = pairs_of_kinds(search.geometry.shapes, search.rules)
    for function in {function_of(code) for code in codes} if codes != {BALLS_ON_PLANES} else ():
        prepare(TOUCH[function], *arguments)


@kernel
def find_raw(search, kin, margin, cell):
    """Fill ``search.found``. Returns False if a buffer is full: it must grow, and the search be repeated."""
    if not look_for_candidates(search, kin, margin, cell):
        return False
    start = search.candidates.start
    if start[BALLS_ON_PLANES] == 0 and start[BALLS_ON_PLANES + 1] == start[KIND_PAIRS]:
        if search.rules.left_out[BALLS_ON_PLANES] == 0:  # the common case is not worth a call
            stretch = search.candidates.sorted[0 : start[KIND_PAIRS]]
            plane_sphere(search.geometry, search.placed, search.work, stretch, margin, search.found)
    else:
        touch_all(search, margin)
    return search.found.total[0] <= search.found.gap.shape[0]


@kernel
def find_contacts(search, kin, margin, cell, contacts):
    """Fill ``contacts`` with all whose gap, less their pair's margin, is below ``margin`` [m], and the motion of their
    surfaces.

    Returns False if a buffer is full, as ``find_standing``.
    """
    found = find_standing(search, kin, margin, cell, contacts)
    if found and search.geometry.shapes.moved[0] != 0:
        move_surfaces(search.geometry.shapes, search.rules, search.placed, kin, search.material, contacts)
    return found


@kernel
def find_standing(search, kin, margin, cell, contacts):
    """Fill ``contacts`` as if no surface moved and no actuator pulled.

    Returns False if a buffer is full: then ``ConvexDetector.make_room`` lets it grow, and the search is repeated.

    What is small is compiled into the caller, because handing all arrays to a callee costs a third of a microsecond.
    """
    contacts.found[0] = 0
    if margin > 0.0:
        margin += search.geometry.shapes.ahead[0]
    if not find_raw(search, kin, margin + search.rules.margin[0], cell):
        return False
    if search.found.total[0] > contacts.pair.shape[0]:
        contacts.found[0] = search.found.total[0]
        return False
    finish(
        search.geometry, search.rules, search.placed, kin, search.found, contacts, search.shares[0], margin,
        search.material,
    )  # fmt: skip
    return True
