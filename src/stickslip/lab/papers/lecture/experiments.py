"""The same block by every model of contact: dropped, pulled up, approaching, dragged along, held on a slope.

Heights, depths and energies are computed here, from configurations and velocities, alike for all models; forces are the
sums over the contacts of a frame. ``distance`` is the largest gap at the end of a step with a force, ``first_gap`` the
gap at the beginning of the first such step.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import mujoco
import numpy as np

from stickslip.lab.papers.lecture.setups import (
    DT,
    FORMS,
    FRICTION,
    MASS,
    MUJOCO,
    SINK,
    STIFFNESS,
    Form,
    G,
    Sizes,
    block,
    corner_gaps,
)
from stickslip.lab.papers.paper import quiet
from stickslip.lab.papers.store import Store
from stickslip.progress import Progress
from stickslip.simulation import Simulation

SLOPE = np.arctan(0.8 * FRICTION)
"""[rad] of the slope that friction can hold."""
DRAG = 2.0 * FRICTION * MASS * G
"""[N] that the sliding block is dragged with, twice what friction can hold."""
APPROACH = 1.0
"""[m/s] of the approaching one."""
THINNED = 400
"""Most points of a curve that are kept."""


class Experiment(NamedTuple):
    """One thing that happens to the block."""

    name: str
    seconds: float
    gap: float = 0.0
    """[m] at the start; where it rests, soft models start at the depth of equilibrium."""
    gravity: tuple[float, float, float] = (0.0, 0.0, -G)
    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    pull: float = 0.0
    """[N/s] upward force per time."""
    drag: float = 0.0
    """[N] force along the plane."""
    resting: bool = False


EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        Experiment("drop", 0.6, gap=0.1),
        Experiment("pull", 1.0, pull=2.0 * MASS * G, resting=True),
        Experiment("approach", 0.1, gap=0.0505, gravity=(0.0, 0.0, 0.0), velocity=(0.0, 0.0, -APPROACH)),
        Experiment("slide", 0.4, drag=DRAG, resting=True),
        Experiment("slope", 2.0, gravity=(G * np.sin(SLOPE), 0.0, -G * np.cos(SLOPE)), resting=True),
    )
}


class Motion(NamedTuple):
    """What happened, per frame."""

    q: np.ndarray
    """(frames, 7)."""
    v: np.ndarray
    """(frames, 6)."""
    normal: np.ndarray
    """(frames,) sum of normal forces [N]."""


def run(experiment: Experiment, form: Form) -> dict[str, Any]:
    """Curves over time, and figures of the whole motion."""
    soft = form.label in ("soft", "relaxed")
    start = -SINK * np.cos(SLOPE if experiment.name == "slope" else 0.0) if experiment.resting and soft else 0.0
    model = block(experiment.gap + start, experiment.gravity)
    steps = round(experiment.seconds / DT)
    simulate = _in_mujoco if form.label == MUJOCO else partial(_with_stickslip, form)
    with quiet():
        motion = simulate(model, experiment, steps)
    gaps = corner_gaps(motion.q)
    energy = _energy(motion, gaps, np.array(experiment.gravity), STIFFNESS if soft else 0.0)
    lowest = gaps.min(axis=1)
    at = np.unique(np.round(np.linspace(0, len(lowest) - 1, THINNED)).astype(int))
    touching = np.flatnonzero(motion.normal > 1e-9 * MASS * G)
    before = 0 if form.label == "soft" else 1  # soft forces are those of a frame's state, others of the step before it
    return {
        "times": [float(t) for t in DT * at],
        "gap": [float(x) for x in lowest[at]],
        "height": [float(x) for x in gaps.mean(axis=1)[at]],
        "x": [float(x) for x in motion.q[at, 0]],
        "normal": [float(x) for x in motion.normal[at]],
        "energy": [float(x) for x in energy[at]],
        "deepest": float(max(0.0, -lowest.min())),
        "rest_depth": float(-gaps[-1].mean()),
        "pulls": float(max(0.0, -motion.normal.min())),
        "distance": float(np.max(lowest[touching], initial=0.0)),
        "first_gap": float(lowest[touching[0] - before]) if len(touching) else 0.0,
        "gained": float(np.max(energy - np.minimum.accumulate(energy))),
        "lift": float(np.max(gaps.mean(axis=1))),
        "end": float(gaps[-1].mean()),
        "climb": float(motion.v[-1, 2]),
        "last_speed": float(motion.v[-1, 0]),
        "moved": float(motion.q[-1, 0] - motion.q[0, 0]),
        "speed": float(motion.v[len(motion.v) // 2 :, 0].mean()),
    }


def _energy(motion: Motion, gaps: np.ndarray, gravity: np.ndarray, stiffness: float) -> np.ndarray:
    """(frames,) kinetic and potential energy, and that of contact springs, where the model has them [J].

    Forces from outside work on pulled and dragged blocks: theirs is no energy from nothing."""
    inertia = block().mj.body_inertia[1]
    kinetic = 0.5 * MASS * np.sum(motion.v[:, :3] ** 2, axis=1) + 0.5 * np.sum(inertia * motion.v[:, 3:] ** 2, axis=1)
    springs = 0.5 * stiffness * np.sum(np.minimum(gaps, 0.0) ** 2, axis=1)
    return kinetic - MASS * motion.q[:, :3] @ gravity + springs


def _with_stickslip(form: Form, model, experiment: Experiment, steps: int) -> Motion:
    def pull(sim: Simulation) -> None:
        sim.inputs.wrench[1, :3] = experiment.drag, 0.0, experiment.pull * sim.time

    user: Callable | None = pull if experiment.pull or experiment.drag else None
    sim = Simulation(model, method=form.method, dt=DT, user=user, **form.options)
    sim.set_state(v=np.array([*experiment.velocity, 0.0, 0.0, 0.0]))
    log = sim.run(steps * DT, record_dt=DT)
    return Motion(log.q, log.v, log.contact_force())


def _in_mujoco(model, experiment: Experiment, steps: int) -> Motion:
    mj = model.mj
    mj.opt.timestep, mj.opt.cone = DT, mujoco.mjtCone.mjCONE_ELLIPTIC
    data = mujoco.MjData(mj)
    data.qpos[:], data.qvel[:3] = model.state().q, experiment.velocity
    q, v, normal, force = [data.qpos.copy()], [data.qvel.copy()], [0.0], np.zeros(6)
    for _ in range(steps):
        data.xfrc_applied[1, :3] = experiment.drag, 0.0, experiment.pull * data.time
        mujoco.mj_step(mj, data)
        total = 0.0
        for c in range(data.ncon):
            mujoco.mj_contactForce(mj, data, c, force)
            total += force[0]
        q.append(data.qpos.copy())
        v.append(data.qvel.copy())
        normal.append(total)
    return Motion(np.array(q), np.array(v), np.array(normal))


def study(store: Store, sizes: Sizes) -> list[dict[str, Any]]:
    """One row per experiment and model."""
    result = []
    with Progress("experiments", len(EXPERIMENTS) * len(FORMS)) as bar:
        for experiment in EXPERIMENTS.values():
            for form in FORMS:
                parameters = {"experiment": experiment.name, "form": form.label}
                result.append(store.unit("experiment", parameters, partial(run, experiment, form)))
                bar.update(len(result))
    return result
