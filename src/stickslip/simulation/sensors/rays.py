"""Sensors that look: rangefinders of sites and cameras, distances between shapes, taxels."""

from __future__ import annotations

import mujoco
import numpy as np

from stickslip.simulation.sensors.moment import Moment
from stickslip.simulation.sensors.sensor import OBJ, Reader, Sensor

RAY = mujoco.mjtRayDataField


def _pixels(m: Moment, cam: int) -> np.ndarray:
    """(n, 6) directions and origins of a camera's rays in its axes, one per pixel, row by row from the top left."""
    mj = m.mj
    width, height = (int(n) for n in mj.cam_resolution[cam])
    size, lens = mj.cam_sensorsize[cam].astype(float), mj.cam_intrinsic[cam].astype(float)
    if mj.cam_projection[cam] == mujoco.mjtProjection.mjPROJ_ORTHOGRAPHIC:
        scale = mj.cam_fovy[cam] / np.array([width, height])  # whose fovy is the width and the height [m]
        fx = fy = 0.0
        cx, cy = 0.5 * width, 0.5 * height
    elif size[0] and size[1]:
        fx, fy, cx, cy = lens / [*size, *size] * [width, height, width, height]
    else:
        fx = fy = 0.5 * height / np.tan(np.deg2rad(mj.cam_fovy[cam]) / 2.0)
        cx, cy = 0.5 * width, 0.5 * height
    rays = []
    for row in range(height):
        for column in range(width):
            x, y = column + 0.5 - cx, cy - row - 0.5  # MuJoCo's principal point of a lens counts from the first pixel
            if fx == 0.0:
                rays.append((0.0, 0.0, -1.0, x * scale[0], y * scale[1], 0.0))
            else:
                rays.append((x / fx, y / fy, -1.0, 0.0, 0.0, 0.0))
    return np.array(rays).reshape(-1, 6)


def _rangefinder(s: Sensor, m: Moment):
    """Per ray, those of distance, direction, origin, point, normal and depth that the sensor asks for."""
    p, R = m.place(s.frame(m))
    camera = s.object_type == OBJ.mjOBJ_CAMERA
    rays = _pixels(m, s.object) if camera else np.array([[0.0, 0.0, 1.0, 0.0, 0.0, 0.0]])
    body = int((m.mj.cam_bodyid if camera else m.mj.site_bodyid)[s.object])
    asked, out = s.choices[0], []
    for ray in rays:
        direction, origin = R @ ray[:3] / np.linalg.norm(ray[:3]), p + R @ ray[3:]
        hit = m.sim.rays.cast(m.kin.pos, m.kin.rot, origin, direction, (body,))
        depth = -1.0 if hit is None else hit.distance * (-ray[2] / np.linalg.norm(ray[:3]) if camera else 1.0)
        values = {
            RAY.mjRAYDATA_DIST: [-1.0 if hit is None else hit.distance],
            RAY.mjRAYDATA_DIR: np.zeros(3) if hit is None else direction,
            RAY.mjRAYDATA_ORIGIN: origin,
            RAY.mjRAYDATA_POINT: np.zeros(3) if hit is None else hit.point,
            RAY.mjRAYDATA_NORMAL: np.zeros(3) if hit is None else hit.normal,
            RAY.mjRAYDATA_DEPTH: [depth],
        }
        out += [value for field, value in values.items() if asked >> int(field) & 1]
    return np.concatenate(out)


def _distance(part: str) -> Reader:
    def read(s: Sensor, m: Moment):
        def geoms(kind: int, i: int) -> range:
            if kind == OBJ.mjOBJ_GEOM:
                return range(i, i + 1)
            first = m.mj.body_geomadr[i]
            return range(first, first + m.mj.body_geomnum[i])

        one, two = geoms(s.object_type, s.object), geoms(s.reference_type, s.reference)
        found = m.sim.distances.nearest(m.kin, one, two, s.cutoff)
        if part == "distance":
            return [s.cutoff if found is None else found.distance]
        if part == "fromto":
            return np.zeros(6) if found is None else found.points.ravel()
        return np.zeros(3) if found is None else found.normal

    return read


def _tactile(s: Sensor, m: Moment):
    """Taxels of a mesh, by MuJoCo: depths and slips against the shapes that touch, which depend on no contact model."""
    return m.data.sensordata[s.start : s.start + s.number]


RAYS: dict[str, Reader] = {
    "rangefinder": _rangefinder,
    "geomdist": _distance("distance"),
    "geomnormal": _distance("normal"),
    "geomfromto": _distance("fromto"),
    "tactile": _tactile,
}
