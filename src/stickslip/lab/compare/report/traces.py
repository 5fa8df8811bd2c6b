"""Quantities over time from a recording, as arrays to draw; every run has the same ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from stickslip.errors import StickslipError
from stickslip.lab.compare.comparison import Comparison, Run
from stickslip.lab.compare.scorecard.balances import energy_balance
from stickslip.lab.compare.scorecard.measurements import Measurements, measurements
from stickslip.lab.compare.scorecard.places import distances
from stickslip.model.arrays import HINGE, SLIDE
from stickslip.model.model import Model
from stickslip.record import Log

MOST_MOTIONS = 2
MOST_PAIRS = 6


class Motion(NamedTuple):
    """A coordinate that is drawn over time."""

    title: str
    unit: str
    link: int
    """Number of the link; −1 for a joint."""
    column: int
    """0, 1, 2 for x, y, z of the link; for a joint, its entry in q."""


@dataclass
class Traces:
    """The quantities of one run; every array is (frames,)."""

    run: Run
    time: np.ndarray
    """[s]."""
    motions: list[np.ndarray]
    """[m or rad] one per ``Motion``."""
    energy: np.ndarray
    """[J] B of the scorecard's energy_gained, less its value at the start."""
    normal: np.ndarray
    """[N] sum of normal forces."""
    tangential: np.ndarray
    """[N] sum of the magnitudes of friction forces."""
    penetration: np.ndarray
    """[m] deepest contact."""
    joint_error: np.ndarray
    """[m or rad] largest error of a joint; empty if joints are not constraints."""
    distance: np.ndarray
    """[m] the scorecard's distance of the link farthest from the reference; empty without one."""
    pairs: list[tuple[str, np.ndarray]] = field(default_factory=list)
    """(name, normal force [N]) of each pair of links that touch, the most loaded first."""
    pairs_left_out: int = 0


def read_traces(run: Run, motions: list[Motion], model: Model, reference: Run | None) -> Traces | None:
    """The traces of a run; None if the recordings cannot be read."""
    try:
        with run.log() as log:
            if reference is None:
                return _traces(run, log, motions, model, None)
            with reference.log() as other:
                return _traces(run, log, motions, model, other)
    except StickslipError:
        return None


def _traces(run: Run, log: Log, motions: list[Motion], model: Model, reference: Log | None) -> Traces:
    found = measurements(log, reference=reference, model=model)
    frames, balance = found.frames, energy_balance(found)
    pairs, left_out = _pair_forces(log, found)
    errors = np.abs(log.joint_error[:frames, :, 0])
    return Traces(
        run, found.time,
        [log.pose[:frames, m.link, m.column] if m.link >= 0 else log.q[:frames, m.column] for m in motions],
        balance - balance[0], found.per_frame(found.normal_force), found.per_frame(found.friction_force),
        found.seen.depth, errors.max(axis=1) if errors.shape[1] else np.zeros(0), _distance(found), pairs, left_out,
    )  # fmt: skip


def _distance(found: Measurements) -> np.ndarray:
    """NaN where the reference has already ended."""
    if found.reference is None:
        return np.zeros(0)
    apart = distances(found).max(axis=1, initial=0.0)
    return np.concatenate([apart, np.full(found.frames - len(apart), np.nan)])


def reference_run(comparison: Comparison) -> Run | None:
    """It may be one of the candidates' runs, or an extra one."""
    label, dt = comparison.reference
    if comparison.reference_recording is not None:
        return Run(label, dt, "complete", recording=comparison.reference_recording)
    return next((run for run in comparison.runs() if (run.label, run.dt) == (label, dt)), None)


def choose_motions(log: Log) -> list[Motion]:
    """The coordinates that move most: of the links that hang on the world, or of all, or of joints where no link's
    origin moves."""
    header, travel = log.header, np.ptp(log.pose[:, :, :3], axis=0)
    roots = [b for b in range(1, len(header.link_parent)) if header.link_parent[b] == 0]
    for links in (roots, range(1, len(header.link_parent))):
        moving = sorted((b for b in links if travel[b].max() > 1e-6), key=lambda b: -travel[b].max())
        if moving:
            return [_link_motion(log, b, int(np.argmax(travel[b]))) for b in moving[:MOST_MOTIONS]]
    joints = np.flatnonzero((header.joint_type == HINGE) | (header.joint_type == SLIDE))
    span = {int(j): float(np.ptp(log.q[:, header.joint_q[j]])) for j in joints}
    chosen = sorted(span, key=lambda j: -span[j])[:MOST_MOTIONS]
    units = {HINGE: "rad", SLIDE: "m"}
    return [
        Motion(f"joint {header.joint_names[j]}", units[int(header.joint_type[j])], -1, int(header.joint_q[j]))
        for j in chosen
    ]


def _link_motion(log: Log, link: int, axis: int) -> Motion:
    return Motion(f"{('position x of', 'position y of', 'height of')[axis]} {log.names.links[link]}", "m", link, axis)


def _pair_forces(log: Log, found: Measurements) -> tuple[list[tuple[str, np.ndarray]], int]:
    """(name, normal force (frames,) [N]) of the most loaded pairs of links, and how many others there are.

    A pile has thousands of pairs, so that only those which are drawn get arrays of their own.
    """
    links = np.stack([found.contact("link1"), found.contact("link2")], axis=1)
    pairs, which = np.unique(links, axis=0, return_inverse=True)
    load = np.bincount(which.ravel(), weights=np.abs(found.normal_force), minlength=len(pairs))
    chosen = np.argsort(-load, kind="stable")[:MOST_PAIRS]
    names = log.names.links
    forces = [found.per_frame(np.where(which.ravel() == p, found.normal_force, 0.0)) for p in chosen]
    titles = [f"{names[a]} – {names[b]}" for a, b in pairs[chosen]]
    return list(zip(titles, forces, strict=True)), len(pairs) - len(chosen)
