"""Sec. 4, Fig. 4.1: error over ε of a trajectory through three guards, whose exact flow is known.

The error is taken at 1001 even times on the dense output, which passes straight through projections, and at the end.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

import numpy as np

from stickslip.lab.papers.event_selected import ours
from stickslip.lab.papers.event_selected.exact import table_flow
from stickslip.lab.papers.event_selected.setups import SAMPLES, TABLE_END, TABLE_START, Sizes, rms
from stickslip.lab.papers.store import Store
from stickslip.progress import Progress

LARGE, SMALL = 1.0, 1e-8
"""ε from where nothing changes any more to where tolerances of steps decide."""


@lru_cache
def truth() -> tuple[np.ndarray, np.ndarray]:
    """(times (k,), exact states (3, k))."""
    times = np.linspace(0.0, TABLE_END, SAMPLES + 1)
    return times, table_flow(np.array(TABLE_START), TABLE_END)(times)


def measure(eps: float) -> dict[str, Any]:
    times, exact = truth()
    found = ours.table(eps, times)
    return {
        "rms": rms(found.y - exact),
        "end": float(np.linalg.norm(found.y[:, -1] - exact[:, -1])),
        "steps": found.nsteps,
        "projections": found.nprojections,
        "violations": len(found.violations),
        "status": found.status,
    }


def events() -> dict[str, Any]:
    """Crossings as ε → 0, beside the exact ones."""
    exact, found = table_flow(np.array(TABLE_START), TABLE_END), ours.table(0.0)
    return {
        "guards": list(exact.guards),
        "exact": exact.starts[1:].tolist(),
        "found_guards": found.crossings.guard.tolist(),
        "found": found.crossings.t.tolist(),
        "state": found.x.tolist(),
        "exact_state": exact(np.array([TABLE_END]))[:, 0].tolist(),
    }


def study(store: Store, sizes: Sizes) -> dict[str, Any]:
    values = np.geomspace(SMALL, LARGE, sizes.order)
    rows = []
    with Progress("order", len(values)) as bar:
        for eps in values:
            rows.append(store.unit("order", {"eps": float(eps)}, partial(measure, float(eps))))
            bar.update(len(rows))
    return {"order": rows, "events": store.unit("events", {}, events)}
