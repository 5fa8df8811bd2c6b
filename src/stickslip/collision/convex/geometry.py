"""The shapes of a model as constant arrays, their poses in the world, and the raw contacts found between them.

A raw contact between shapes a and b is (a, b, feature, point on b, unit normal from a to b, gap). The order of the
bodies, the tangents and the material are determined afterwards, for all kinds of shapes alike (``finish``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.contacts import PROPERTIES
from stickslip.collision.convex.climb import Climb, make_climb
from stickslip.collision.convex.height_field import Fields, build_fields
from stickslip.collision.convex.polyhedron import Neighbours, Polyhedra, build_polyhedra
from stickslip.math.spatial import rotate
from stickslip.model.arrays import ON_BODY
from stickslip.model.model import Model
from stickslip.model.shape import Material, PairMaterial, Shape

PLANE, SPHERE, BOX, CAPSULE, CYLINDER, MESH, ELLIPSOID, TERRAIN = range(8)
KIND = 8
"""Number of kinds; a pair of kinds (i, j) has the code KIND·i + j."""
KINDS = {"plane": PLANE, "sphere": SPHERE, "point": SPHERE, "box": BOX, "capsule": CAPSULE, "cylinder": CYLINDER}
KINDS |= {"mesh": MESH, "ellipsoid": ELLIPSOID, "terrain": TERRAIN}
"""A contact point is a sphere of radius 0."""
POINTS = 4
"""Largest number of contacts of a mesh with a plane, a box or another mesh, unless all are asked for."""
NAMES = ("plane", "sphere", "box", "capsule", "cylinder", "mesh", "ellipsoid", "terrain")


MARGIN, GAP, CONDIM, PRIORITY, PAIRED = range(PROPERTIES, PROPERTIES + 5)
"""Columns of ``Shapes.material`` behind those of ``Contacts.material``."""
SURFACE, PAIR = PROPERTIES + 5, PROPERTIES + 2


class Shapes(NamedTuple):
    """The ns shapes that can touch something."""

    kind: np.ndarray
    """(ns,) PLANE … TERRAIN."""
    link: np.ndarray
    """(ns,) link that carries the shape."""
    body: np.ndarray
    """(ns,) body of the scene file that it belongs to; exclusions refer to these."""
    pos: np.ndarray
    """(ns, 3) in the link frame [m]."""
    rot: np.ndarray
    """(ns, 3, 3) in the link frame."""
    size: np.ndarray
    """(ns, 3) radius; radius and half length; half edges [m]."""
    half: np.ndarray
    """(ns, 3) half edges of a bounding box about the shape's origin, in its axes [m]; infinite for planes."""
    radius: np.ndarray
    """(ns,) radius of a bounding ball about the shape's origin [m]."""
    group: np.ndarray
    """(ns,) bit mask of the groups that it belongs to."""
    mask: np.ndarray
    """(ns,) bit mask of the groups that it touches."""
    material: np.ndarray
    """(ns, 16) friction, stiffness, damping, restitution, preload, torsion, rolling, adhesion, stiffness and damping
    along the surface, 0, margin [m], gap [m], condim, priority, 1 if an explicit pair names the shape; NaN leaves the
    value to the other shape."""
    polyhedron: np.ndarray
    """(ns,) index among the polyhedra, or −1."""
    corners: np.ndarray
    """(ns,) number of corners of the largest face of a polyhedron; else 0."""
    area: np.ndarray
    """(ns,) area of that face [m²]; else 0."""
    belt: np.ndarray
    """(ns, 6) velocity [m/s] and angular velocity about the shape's origin [rad/s] of its surface, in its axes."""
    motion: np.ndarray
    """(ns, 6) velocity of a body that is moved from outside: at the world's origin [m/s], and angular [rad/s]."""
    pull: np.ndarray
    """(ns,) force of the actuators that pull the shape's body to what it touches [N]."""
    moved: np.ndarray
    """(1,) 1 if one of the last three may not be zero."""
    ahead: np.ndarray
    """(1,) how far such motion leads within a step [m]; searches that look ahead look so much farther."""


class Rules(NamedTuple):
    """Which shapes may touch, besides the masks."""

    parent: np.ndarray
    """(nl,) parent link."""
    excluded: np.ndarray
    """(ne,) sorted signatures (lower body << 16) + higher body."""
    few: np.ndarray
    """(k, 2) all pairs that may touch, sorted by kinds, if there are so few shapes that all are tested; else empty."""
    left_out: np.ndarray
    """(KIND²,) 1 for pairs of kinds that are not tested here."""
    pair: np.ndarray
    """(np,) sorted names a·ns + b of explicit pairs of shapes a < b, which may touch whatever the masks."""
    pair_material: np.ndarray
    """(np, 13) their properties: a row of ``Contacts.material``, margin and gap [m]."""
    margin: np.ndarray
    """(1,) the largest margin of any pair [m], ≥ 0; the search looks this much farther."""


class Geometry(NamedTuple):
    """The constant arrays of a model's shapes."""

    shapes: Shapes
    bodies: Polyhedra
    edges: Neighbours
    climb: Climb
    fields: Fields
    points: np.ndarray
    """(1,) largest number of contacts of a mesh with a plane, a box or a mesh, and of those with one normal on terrain;
    0: no limit."""


class Placed(NamedTuple):
    """Current poses of shapes and links, in world axes."""

    pos: np.ndarray
    """(ns, 3) origins of the shapes [m]."""
    rot: np.ndarray
    """(ns, 3, 3) axes of the shapes; those of spheres are not written."""
    link_pos: np.ndarray
    """(nl, 3) origins of the links [m]; polyhedra are given in link frames. Links that carry only planes and spheres
    are left out."""
    link_rot: np.ndarray
    """(nl, 3, 3) axes of the links."""


class Found(NamedTuple):
    """Raw contacts; the first ``total[0]`` entries are valid."""

    total: np.ndarray
    """(1,) number of contacts found; more than the capacity means that the buffer must grow."""
    first: np.ndarray
    """(capacity,) shape a."""
    second: np.ndarray
    """(capacity,) shape b."""
    feature: np.ndarray
    """(capacity,) the corners, edges or faces that touch, encoded by ``feature``."""
    point: np.ndarray
    """(capacity, 3) contact point on shape b [m, world]."""
    normal: np.ndarray
    """(capacity, 3) unit normal from a to b [world]."""
    gap: np.ndarray
    """(capacity,) [m]."""
    share: np.ndarray
    """(capacity,) 1/n of a manifold of n contacts, counted before those beyond the margin are dropped; else 1. Pairs
    with planes get theirs in ``finish``."""
    area: np.ndarray
    """(capacity,) area of the manifold [m²]; 0 if it is not a polygon."""


FEATURE_BITS = 14
"""Number of bits of each of the two indices in a feature; in meshes of more than 16384 corners, ids may coincide."""
CORNER, CROSSING, CLIPPED, WITHIN = range(4)
"""Kinds of features: a corner of one shape; an edge that crosses the rim of a face; a corner of that face; edges of
both shapes or smooth surfaces."""


@kernel
def feature(kind, side, i, j):
    """A number below 2³¹ for entity i of one shape against entity j of the other."""
    low = (1 << FEATURE_BITS) - 1
    return ((2 * kind + side) << (2 * FEATURE_BITS)) + ((i & low) << FEATURE_BITS) + (j & low)


@kernel
def emit(found, a, b, name, px, py, pz, nx, ny, nz, gap):
    """Append a raw contact; beyond the capacity it is only counted."""
    c = found.total[0]
    found.total[0] = c + 1
    if c >= found.gap.shape[0]:
        return
    found.first[c], found.second[c], found.feature[c] = a, b, name
    found.point[c, 0], found.point[c, 1], found.point[c, 2] = px, py, pz
    found.normal[c, 0], found.normal[c, 1], found.normal[c, 2] = nx, ny, nz
    found.gap[c] = gap
    found.share[c], found.area[c] = 1.0, 0.0


@kernel
def keep_near(found, start, margin, area):
    """Drop the contacts from ``start`` on, one manifold of an area [m²], whose gaps are not below the margin."""
    n, last = found.total[0] - start, start
    if found.total[0] > found.gap.shape[0]:
        return
    for c in range(start, found.total[0]):
        if not found.gap[c] < margin:
            continue
        found.first[last], found.second[last], found.feature[last] = found.first[c], found.second[c], found.feature[c]
        for i in range(3):
            found.point[last, i], found.normal[last, i] = found.point[c, i], found.normal[c, i]
        found.gap[last], found.share[last], found.area[last] = found.gap[c], 1.0 / n, area
        last += 1
    found.total[0] = last


@kernel(inline=False)
def emit_apart(found, start, near, a, b, name, px, py, pz, nx, ny, nz, gap):
    """Append a raw contact unless one with index ≥ ``start`` lies within ``near`` [m] of it."""
    for c in range(start, min(found.total[0], found.gap.shape[0])):
        dx, dy, dz = found.point[c, 0] - px, found.point[c, 1] - py, found.point[c, 2] - pz
        if dx * dx + dy * dy + dz * dz <= near * near:
            return
    emit(found, a, b, name, px, py, pz, nx, ny, nz, gap)


@kernel
def place_shapes(shapes, kin, placed):
    """Write the world poses of all shapes, and of the links that carry other shapes than planes and spheres."""
    for s in range(shapes.kind.shape[0]):
        link = shapes.link[s]
        x, y, z = rotate(kin.rot, link, shapes.pos[s, 0], shapes.pos[s, 1], shapes.pos[s, 2])
        x, y, z = x + kin.pos[link, 0], y + kin.pos[link, 1], z + kin.pos[link, 2]
        placed.pos[s, 0], placed.pos[s, 1], placed.pos[s, 2] = x, y, z
        if shapes.kind[s] == SPHERE:
            continue
        for j in range(3):
            x, y, z = rotate(kin.rot, link, shapes.rot[s, 0, j], shapes.rot[s, 1, j], shapes.rot[s, 2, j])
            placed.rot[s, 0, j], placed.rot[s, 1, j], placed.rot[s, 2, j] = x, y, z
        if shapes.kind[s] >= BOX:
            for i in range(3):
                placed.link_pos[link, i] = kin.pos[link, i]
                for j in range(3):
                    placed.link_rot[link, i, j] = kin.rot[link, i, j]


def bounding_box(shape: Shape) -> np.ndarray:
    """(3,) half edges of a bounding box about the shape's origin, in its axes [m]."""
    match shape.kind:
        case "plane":
            return np.full(3, np.inf)
        case "capsule":
            return np.array([shape.size[0], shape.size[0], shape.size[0] + shape.size[1]])
        case "cylinder":
            return np.array([shape.size[0], shape.size[0], shape.size[1]])
        case "mesh" if shape.vertices is not None:
            return np.abs(shape.vertices).max(axis=0)
        case "terrain" if shape.vertices is not None:
            return np.maximum(shape.size, np.abs(shape.vertices).max(axis=0))
        case "box" | "ellipsoid":
            return shape.size.copy()
        case _:
            return np.full(3, shape.size[0])


def bounding_radius(shape: Shape) -> float:
    match shape.kind:
        case "capsule":
            return float(shape.size[0] + shape.size[1])
        case "cylinder":
            return float(np.hypot(shape.size[0], shape.size[1]))
        case "mesh" if shape.vertices is not None:
            return float(np.linalg.norm(shape.vertices, axis=1).max())
        case "box":
            return float(np.linalg.norm(shape.size))
        case "terrain":
            return float(np.linalg.norm(bounding_box(shape)))
        case "ellipsoid":
            return float(shape.size.max())
        case "plane":
            return np.inf
        case _:
            return float(shape.size[0])


def surface(shape: Shape) -> list[float]:
    m = shape.material
    values = (
        m.friction, m.stiffness, m.damping, m.restitution, m.preload, m.torsion, m.rolling, m.adhesion, *m.along, 0.0,
        m.margin, m.gap, m.condim, m.priority, shape.paired,
    )  # fmt: skip
    return [np.nan if value is None else float(value) for value in values]


def pair_row(material: PairMaterial) -> tuple[float, ...]:
    """A row of ``Rules.pair_material``."""
    return *material.row, material.margin, material.gap


def widest_margin(solid: tuple[Shape, ...], model: Model) -> float:
    """An upper bound of the distance at which the contact of a pair acts [m], ≥ 0: by its margin, or by adhesion."""
    own: list[Material] = [s.material for s in solid]
    pairs: list[PairMaterial] = [p.material for p in model.pairs]
    sticky = any(m.adhesion > 0.0 for m in own) or any(m.adhesion > 0.0 for m in pairs)
    sticky = sticky or bool(np.any(model.actuators.transmission == ON_BODY))

    def reach(material: Material | PairMaterial) -> float:
        return max(0.0, material.margin + (material.gap if sticky else 0.0))

    return max(sum(sorted(map(reach, own))[-2:]), max(map(reach, pairs), default=0.0))


def largest_faces(bodies: Polyhedra, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(ns,) number of corners and (ns,) area [m²] of the largest face of each shape, which is polyhedron ``which``."""
    corners, area = np.zeros(len(which), dtype=np.int64), np.zeros(len(which))
    for s, p in enumerate(which):
        for f in range(bodies.face_start[p], bodies.face_start[p + 1]) if p >= 0 else ():
            loop = bodies.vertex[bodies.loop[bodies.loop_start[f] : bodies.loop_start[f + 1]]]
            spokes = loop[1:] - loop[0]
            size = 0.5 * float(np.linalg.norm(np.cross(spokes[:-1], spokes[1:]).sum(axis=0)))
            if size > area[s] * (1.0 + 1e-9):
                corners[s], area[s] = len(loop), size
    return corners, area


def build_geometry(model: Model) -> tuple[Geometry, Rules]:
    """The arrays of all shapes that can touch anything, in the model's order."""
    solid = tuple(shape for shape in model.shapes if shape.solid)
    place = {s: k for k, s in enumerate(s for s, shape in enumerate(model.shapes) if shape.solid)}
    bodies, edges, which = build_polyhedra(solid)
    corners, area = largest_faces(bodies, which)
    shapes = Shapes(
        kind=np.array([KINDS[s.kind] for s in solid], dtype=np.int64),
        link=np.array([s.link for s in solid], dtype=np.int64),
        body=np.array([s.body for s in solid], dtype=np.int64),
        pos=np.array([s.pos for s in solid], dtype=float).reshape(-1, 3),
        rot=np.array([s.rot for s in solid], dtype=float).reshape(-1, 3, 3),
        size=np.array([s.size for s in solid], dtype=float).reshape(-1, 3),
        half=np.array([bounding_box(s) for s in solid], dtype=float).reshape(-1, 3),
        radius=np.array([bounding_radius(s) for s in solid], dtype=float),
        group=np.array([s.group for s in solid], dtype=np.int64),
        mask=np.array([s.mask for s in solid], dtype=np.int64),
        material=np.array([surface(s) for s in solid], dtype=float).reshape(-1, SURFACE),
        polyhedron=which,
        corners=corners,
        area=area,
        belt=np.array([s.surface_velocity for s in solid], dtype=float).reshape(-1, 6),
        motion=np.zeros((len(solid), 6)),
        pull=np.zeros(len(solid)),
        moved=np.array([any(s.surface_velocity.any() for s in solid)], dtype=np.int64),
        ahead=np.zeros(1),
    )
    rules = Rules(
        parent=model.tree.parent.astype(np.int64) if model.filter_parents else np.full(model.nlink, -1),
        excluded=np.sort(np.array(model.mj.exclude_signature, dtype=np.int64).ravel()),
        few=np.zeros((0, 2), dtype=np.int64),
        left_out=np.zeros(KIND * KIND, dtype=np.int64),
        pair=np.array([place[p.one] * len(solid) + place[p.two] for p in model.pairs], dtype=np.int64),
        pair_material=np.array([pair_row(p.material) for p in model.pairs], dtype=float).reshape(-1, PAIR),
        margin=np.array([widest_margin(solid, model)], dtype=float),
    )
    return Geometry(
        shapes, bodies, edges, make_climb(bodies), build_fields(solid), np.array([POINTS], dtype=np.int64)
    ), rules


def make_placed(shapes: int, links: int) -> Placed:
    return Placed(np.zeros((shapes, 3)), np.zeros((shapes, 3, 3)), np.zeros((links, 3)), np.zeros((links, 3, 3)))


def make_found(capacity: int) -> Found:
    n = max(1, capacity)
    return Found(
        total=np.zeros(1, dtype=np.int64),
        first=np.zeros(n, dtype=np.int64),
        second=np.zeros(n, dtype=np.int64),
        feature=np.zeros(n, dtype=np.int64),
        point=np.zeros((n, 3)),
        normal=np.zeros((n, 3)),
        gap=np.zeros(n),
        share=np.zeros(n),
        area=np.zeros(n),
    )
