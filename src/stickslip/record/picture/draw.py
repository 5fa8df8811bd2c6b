"""Painter: draws recorded frames as images.

Every pixel gets one ray. Pixels at an edge, where a neighbour shows another solid or another side of it, show the mean
of nine more. Solids that do not move are cast only once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from stickslip.dynamics.tendon_points import path_pieces
from stickslip.errors import expected, index
from stickslip.record.drawn import paths_of
from stickslip.record.picture.camera import Camera, View, view_of
from stickslip.record.picture.cast import Grid, Places, Seen, look, nothing
from stickslip.record.picture.light import Light
from stickslip.record.picture.shapes import INVISIBLE, Solid, linear, link_frames, rod, solids_of
from stickslip.record.picture.solids import sphere

if TYPE_CHECKING:
    from stickslip.record.log import Log

FINER = 3
"""Rays of an edge pixel in each direction of the picture."""
ARROW = linear("#d6202a")
THROUGH = 0.55
"""Opacity of the hidden part of an arrow."""
LONGEST_ARROW = 0.35
"""Length of the arrow of the strongest contact force, relative to the scene's size."""
THINNEST = 0.002
"""Smallest radius of a tendon, relative to the scene's size."""
OVER_WALLS = 38.0
"""[deg] elevation of the camera where fixed shapes may hide the scene."""
FEWEST, MOST = 16, 8192
"""Bounds on the width and height of an image in pixels."""


class Placed:
    """Solids with their poses in the world; solids of a diverged body are left out."""

    def __init__(self, solids: Sequence[Solid], places: np.ndarray, turns: np.ndarray) -> None:
        links = np.array([solid.link for solid in solids], dtype=int)
        own = np.array([solid.pos for solid in solids]).reshape(-1, 3)
        pos = places[links] + np.einsum("nij,nj->ni", turns[links], own)
        rot = turns[links] @ np.array([solid.rot for solid in solids]).reshape(-1, 3, 3)
        there = np.isfinite(pos).all(axis=1) & np.isfinite(rot).all(axis=(1, 2))
        self.solids = [solid for solid, good in zip(solids, there, strict=True) if good]
        self.pos, self.rot = pos[there], rot[there]

    def along(self, rays: Grid | Places, which: Sequence[int], seen: Seen) -> Seen:
        return look(rays, self.solids, self.pos, self.rot, which, seen)


class Shown(NamedTuple):
    """One picture: the solids with their lighting, and arrows that are visible through them."""

    view: View
    light: Light
    scene: Placed
    arrows: Placed

    def arrows_along(self, rays: Grid | Places) -> Seen:
        return self.arrows.along(rays, range(len(self.arrows.solids)), nothing(rays))

    def intensities(self, x: np.ndarray, y: np.ndarray, seen: Seen, over: Seen) -> np.ndarray:
        """(m, 3) intensities of rays through places of the picture."""
        eye, direction = self.view.rays(x, y)
        length = np.linalg.norm(direction, axis=1)
        result = self.light.background(direction)
        hit = np.flatnonzero(seen.solid >= 0)
        which, depth, direction, length = seen.solid[hit], seen.depth[hit], direction[hit], length[hit]
        point, distance = eye + depth[:, None] * direction, depth * length
        colour = self.light.base(self.view, which, point, distance)
        ray = direction / length[:, None]
        result[hit] = self.light.shade(which, colour, point, seen.normal[hit], ray, distance)
        on = np.flatnonzero(over.solid >= 0)
        part = np.where(over.depth[on] < seen.depth[on], 1.0, THROUGH)[:, None]
        result[on] = (1 - part) * result[on] + part * ARROW
        return result


class Painter:
    """Draws frames of a log, all with the same camera and the same scale of forces."""

    def __init__(
        self,
        log: Log,
        size: Sequence[int] = (960, 540),
        camera: Camera | None = None,
        contacts: bool = True,
        follow: int | str | None = None,
    ) -> None:
        self.log, self.contacts = log, contacts
        if np.shape(size) != (2,) or not all(FEWEST <= int(n) == n <= MOST for n in size):
            raise expected("size", f"width and height from {FEWEST} to {MOST} pixels", size)
        if camera is not None and not isinstance(camera, Camera):
            raise expected("camera", "a stickslip.record.picture.Camera(target, distance=…, azimuth=…)", camera)
        self.width, self.height = int(size[0]), int(size[1])
        self.solids = solids_of(log.header)
        self.follow = None if follow is None else log.link(follow)
        low, high = _bounds(log, self.solids, self.follow)
        self.scale = max(float(np.linalg.norm(high - low)) / 2, 1e-3)
        """[m] half the diagonal of the box around everything that moves."""
        self.camera = self._usual_camera(low, high) if camera is None else camera
        self.strongest = _strongest(log) if contacts else 1.0
        self._still: Seen | None = None

    def _usual_camera(self, low: np.ndarray, high: np.ndarray) -> Camera:
        """A camera for which the box around everything that moves fills the picture."""
        walls = any(solid.link == 0 and not solid.floor for solid in self.solids)
        camera = Camera(tuple(((low + high) / 2).tolist()), elevation=OVER_WALLS if walls else Camera.elevation)
        right, up, ahead = np.abs(camera.axes) @ (high - low) / 2
        distance = max(up, right * self.height / self.width) / np.tan(np.radians(camera.field) / 2) + ahead
        return replace(camera, distance=max(0.9 * float(distance), 1e-3))

    def image(self, frame: int) -> np.ndarray:
        """(height, width, 3) uint8 of one frame; −1 is the last."""
        n = len(self.log)
        frame = index("frame", frame, n)
        pose = np.asarray(self.log.dataset("pose")[frame])
        places, turns = link_frames(pose)
        camera = self.camera
        if self.follow is not None:
            moved = places[self.follow] - np.asarray(self.log.dataset("pose")[0])[self.follow, :3]
            camera = replace(camera, target=tuple((np.array(camera.target) + moved).tolist()))
        arrows = self._arrows(frame) if self.contacts else []
        scene = Placed([*self.solids, *self._tendons(places, turns)], places, turns)
        light = Light(camera, _round_length(self.scale / 2), scene.solids, scene.pos, scene.rot)
        shown = Shown(view_of(camera, self.width, self.height), light, scene, Placed(arrows, places, turns))

        rays = Grid(shown.view)
        seen, over = self._look(rays, scene), shown.arrows_along(rays)
        _, x, y = rays.within((0, self.height, 0, self.width))
        image = shown.intensities(x, y, seen.flat(), over.flat())
        edge = np.flatnonzero((_edges(seen) | _edges(over)).ravel())
        offsets = (np.arange(FINER) + 0.5) / FINER - 0.5
        dx, dy = (part.ravel() for part in np.meshgrid(offsets, offsets))
        finer = Places(shown.view, (x[edge][:, None] + dx).ravel(), (y[edge][:, None] + dy).ravel())
        closer = scene.along(finer, range(len(scene.solids)), nothing(finer))
        means = shown.intensities(finer.x, finer.y, closer, shown.arrows_along(finer))
        image[edge] = means.reshape(len(edge), FINER**2, 3).mean(axis=1)
        screen = 255.0 * np.clip(image, 0.0, 1.0) ** (1 / 2.2) + 0.5
        return screen.reshape(self.height, self.width, 3).astype(np.uint8)

    def _look(self, rays: Grid, scene: Placed) -> Seen:
        fixed = [k for k, solid in enumerate(scene.solids) if solid.link == 0 and not solid.moves]
        moving = [k for k, solid in enumerate(scene.solids) if solid.link or solid.moves]
        still = scene.along(rays, fixed, nothing(rays)) if self._still is None else self._still
        if self.follow is None and scene.solids[: len(self.solids)] == self.solids:
            self._still = still
        return scene.along(rays, moving, still.copy())

    def _tendons(self, places: np.ndarray, turns: np.ndarray) -> list[Solid]:
        """The pieces of spatial tendons as rods, as wide as MuJoCo draws them but wide enough to be seen."""
        entry = self.log.header.drawn.get("tendons")
        if not entry or not (np.all(np.isfinite(places)) and np.all(np.isfinite(turns))):
            return []
        pieces, owner = path_pieces(paths_of(entry), places, turns)
        return [
            replace(
                rod(piece[0], piece[1], max(entry["width"][t], THINNEST * self.scale), entry["rgba"][t]), moves=True
            )
            for piece, t in zip(pieces, owner, strict=True)
            if entry["rgba"][t][3] > INVISIBLE and np.any(piece[0] != piece[1])
        ]

    def _arrows(self, frame: int) -> list[Solid]:
        """Contact points, and the forces on body 2 as rods."""
        c, found = self.log.contacts(frame), []
        world = c.force[:, :1] * c.normal + c.force[:, 1:2] * c.tangent + c.force[:, 2:] * np.cross(c.normal, c.tangent)
        dot, thin = 0.012 * self.scale, 0.006 * self.scale
        for point, force in zip(c.point, world, strict=True):
            size = float(np.linalg.norm(force))
            if not 1e-3 * self.strongest < size < np.inf:
                continue
            length = LONGEST_ARROW * self.scale * min(size / self.strongest, 2.0)
            found.append(Solid(partial(sphere, radius=dot), 0, point, np.eye(3), dot, ARROW))
            found.append(replace(rod(point, point + length / size * force, thin), colour=ARROW))
        return found


def _edges(seen: Seen) -> np.ndarray:
    """(height, width) whether a neighbour shows something else, for the pixels on both sides of an edge."""
    edge = np.zeros(seen.solid.shape, dtype=bool)
    for axis in (0, 1):
        here, there = (slice(None),) * axis + (slice(None, -1),), (slice(None),) * axis + (slice(1, None),)
        turned = np.einsum("ijk,ijk->ij", seen.normal[here], seen.normal[there]) < 0.8
        differ = (seen.solid[here] != seen.solid[there]) | (turned & (seen.solid[here] >= 0))
        edge[here] |= differ
        edge[there] |= differ
    return edge


def _bounds(log: Log, solids: list[Solid], follow: int | None) -> tuple[np.ndarray, np.ndarray]:
    """(3,), (3,) corners of a box around everything that moves, over a sample of the frames."""
    frames = [0] if follow is not None else _sample(log, 40)
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    bodies = [solid for solid in solids if not solid.floor]
    moving = [solid for solid in bodies if solid.link] or bodies
    for frame in frames if len(log) else ():
        places, turns = link_frames(np.asarray(log.dataset("pose")[frame]))
        for solid in moving:
            centre = places[solid.link] + turns[solid.link] @ solid.pos
            if np.all(np.isfinite(centre)):
                low, high = np.minimum(low, centre - solid.radius), np.maximum(high, centre + solid.radius)
    return (low, high) if np.all(np.isfinite(low)) else (-np.ones(3), np.ones(3))


def _strongest(log: Log) -> float:
    """The strongest contact force of a sample of the frames [N]; 1 if there is none."""
    best = 0.0
    for frame in _sample(log, 200):
        force = np.linalg.norm(log.contacts(frame).force, axis=1)
        best = max(best, float(np.max(force[np.isfinite(force)], initial=0.0)))
    return best or 1.0


def _sample(log: Log, n: int) -> list[int]:
    """Indices of at most n evenly spaced frames."""
    return np.unique(np.linspace(0, len(log) - 1, n).astype(int)).tolist() if len(log) else []


def _round_length(length: float) -> float:
    """1, 2 or 5 times a power of ten, not above the length [m]."""
    power = 10.0 ** np.floor(np.log10(length))
    return float(max(k for k in (1, 2, 5) if k * power <= length * 1.0001) * power)
