"""Forces of spatial tendons on the bodies along their paths: each straight piece pulls at its two ends."""

from __future__ import annotations

import numpy as np

from stickslip.model.arrays import ON_JOINT, PULLEY, SITE
from stickslip.simulation.sensors.balance import balance
from stickslip.simulation.sensors.moment import Moment

PULLEY_MARK, SITE_MARK = -2, -1
"""Points of MuJoCo's paths that are no points of shapes."""


def spatial(m: Moment) -> bool:
    """Whether some tendon has a path through space."""
    return bool(np.any(m.mj.wrap_type != ON_JOINT))


def tendon_pushes(m: Moment) -> list[tuple[int, np.ndarray, np.ndarray, np.ndarray]]:
    """(body, point, force, torque) of every straight piece of every spatial tendon, world axes."""
    mj, data, forces, found = m.mj, m.data, balance(m).tendon_forces, []
    points, marks = data.wrap_xpos.reshape(-1, 3), data.wrap_obj.ravel()
    for t in range(mj.ntendon):
        elements = range(mj.tendon_adr[t], mj.tendon_adr[t] + mj.tendon_num[t])
        if mj.wrap_type[elements[0]] == ON_JOINT or forces[t] == 0.0:
            continue
        sites = iter([int(mj.site_bodyid[mj.wrap_objid[e]]) for e in elements if mj.wrap_type[e] == SITE])
        divisors = iter([float(mj.wrap_prm[e]) for e in elements if mj.wrap_type[e] == PULLEY])
        divisor, before = 1.0, None
        for k in range(data.ten_wrapadr[t], data.ten_wrapadr[t] + data.ten_wrapnum[t]):
            if marks[k] == PULLEY_MARK:
                divisor, before = next(divisors), None
                continue
            shape = int(marks[k])
            body = next(sites) if shape == SITE_MARK else int(mj.geom_bodyid[shape])
            if before is not None and not (shape != SITE_MARK and before[2] == shape):
                way = points[k] - points[before[1]]
                size = float(np.linalg.norm(way))
                force = forces[t] / divisor * way / size if size > 0.0 else np.zeros(3)
                found += [(body, points[k], force, np.zeros(3)), (before[0], points[before[1]], -force, np.zeros(3))]
            before = (body, k, shape)
    return found
