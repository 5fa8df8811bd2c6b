"""Table III: where the time of an Expo step goes (Sec. VI-G), on states of the trot.

The stages of ``methods/expo/expo_step.py``, and of ``paper_step.py`` for the paper's own algorithm, under the paper's
names:

    computeContactForces   kinematics, detection, contact law
    prepareExpLDS          the linear system (11) at the middle of the step (paper: at its beginning): mass matrix,
                           factor, free motion, J, Υ
    computeIntegrals       the averages of the contact forces over the step (23), (25)
    rest                   accelerations under them, and the new state

Each stage is timed in a compiled loop of its own that repeats it on one state. "step" is the method's own compiled step
as Python calls it, less the same call without a step. A stage that is repeated finds its data in the cache, so that the
stages add up to a little less than the step.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table as RichTable

from stickslip._jit import kernel
from stickslip.dynamics.delassus import contact_jacobian, eliminate
from stickslip.lab.papers.expo.ground_truth import GroundTruth, ground_truth
from stickslip.lab.papers.expo.local_error import put_back
from stickslip.lab.papers.expo.setups import METHODS, TESTS, Sizes, advance, control_steps, simulation
from stickslip.lab.papers.paper import Part, Results, table
from stickslip.lab.store import Store
from stickslip.methods.expo import expo_step, paper_step
from stickslip.methods.expo.average_forces import average_forces
from stickslip.methods.expo.contact_space import find_islands
from stickslip.methods.expo.island import contact_dynamics
from stickslip.methods.expo.paper_anchors import slip_anchors
from stickslip.methods.soft.spring_damper import spring_damper
from stickslip.methods.soft.viscoelastic import detect, poses_and_velocities
from stickslip.progress import Progress
from stickslip.simulation import Simulation

STAGES = ("computeContactForces", "prepareExpLDS", "computeIntegrals", "rest")
VERSIONS = ("expo", "expo pade", "expo mmm-0", "expo/paper", "expo/paper mmm-0")
PAPER = {
    "standard": {"step": 94.0, "computeIntegrals": 67.0, "prepareExpLDS": 13.0, "computeContactForces": 8.0},
    "mmm-0": {"step": 39.0, "computeIntegrals": 13.0, "prepareExpLDS": 13.0, "computeContactForces": 8.0},
    "euler": {"step": 9.0},
}
"""The paper's times [µs]; the rest of a step is what is left: 6 and 5."""
DT = 2e-3
"""Step [s]."""
CALLS = 200
"""Repetitions in one timed loop."""
LEAST_ROUNDS = 5
"""Smallest number of timed loops, of which the shortest counts."""


@kernel
def set_to(source, target):
    for i in range(source.shape[0]):
        target[i] = source[i]


@kernel
def contact_stage(n, world, work, contacts, anchors, dt, q, v):
    for _ in range(n):
        poses_and_velocities(world, work, q, v)
        detect(world, work, contacts)
        spring_damper(work.kin, contacts, anchors, dt, 0.0)


@kernel
def linear_stage(n, world, work, scratch, joints, contacts, inputs, order, ahead, dt, q, v):
    """The present robots are one island, whose system stays in ``scratch.island``."""
    support, islands = world.support, scratch.islands
    expo_step.keep_contacts(work.kin, contacts, scratch.start)
    for _ in range(n):
        expo_step.mean_velocity(world, joints, contacts, order, dt, v)
        if ahead > 0.0:
            expo_step.look_ahead(world, work, joints, contacts, scratch.start, ahead, q, v)
        expo_step.free_motion(world, work, scratch, joints, contacts, inputs, order, dt, q, v)
        for c in range(contacts.found[0]):
            contact_jacobian(
                support, work.kin, contacts.link1, contacts.link2, contacts.point, contacts.axes, c, scratch.rows
            )
            eliminate(support, scratch.mass.L, c, scratch.rows)
        for i in range(find_islands(support, contacts, islands)):
            members = islands.order[islands.start[i] : islands.start[i + 1]]
            contact_dynamics(
                support, scratch.mass.L, scratch.rows, work.kin, contacts, members, scratch.averages, scratch.island
            )


@kernel
def integral_stage(n, scratch, contacts, start, slip, matmuls, tolerance, dt):
    """``start`` (4, m) keeps y, y′, c and β, which contacts that slip change."""
    members = scratch.islands.order[: contacts.found[0]]
    island = scratch.island
    for k in range(n):
        for r in range(4):
            source, target = (island.full[r], start[r]) if k == 0 else (start[r], island.full[r])
            set_to(source, target)
        if contacts.found[0] > 0:
            average_forces(contacts, members, scratch.averages, island, slip, matmuls, tolerance, dt, False)
    if n > 0:
        for r in range(4):
            set_to(start[r], island.full[r])


@kernel
def paper_contact_stage(n, world, work, paper, contacts, anchors, dt, q, v):
    for _ in range(n):
        poses_and_velocities(world, work, q, v)
        detect(world, work, contacts)
        slip_anchors(work.kin, contacts, anchors, paper.slip, dt)


@kernel
def paper_linear_stage(n, world, work, scratch, paper, joints, contacts, inputs, dt, q, v):
    """As ``linear_stage``, at the beginning of the step."""
    islands = scratch.islands
    for _ in range(n):
        expo_step.free_motion(world, work, scratch, joints, contacts, inputs, 1, dt, q, v)
        paper_step.contact_rows(world, work, scratch, contacts)
        for i in range(find_islands(world.support, contacts, islands)):
            members = islands.order[islands.start[i] : islands.start[i + 1]]
            paper_step.linear_system(world, work, scratch, paper, contacts, members)


@kernel
def paper_integral_stage(n, scratch, paper, contacts, start, matmuls, tolerance, dt):
    """``start`` (2, 3nc) is x(0), in whose place the integrals are written."""
    nc = contacts.found[0]
    for _ in range(n):
        for i in range(start.shape[1]):
            scratch.island.full[0, i], scratch.island.full[1, i] = start[0, i], start[1, i]
        if nc > 0:
            paper_step.projected_averages(scratch, paper, contacts, nc, matmuls, tolerance, dt)


@kernel
def rest_stage(n, world, work, scratch, joints, contacts, dt, q0, v0, q, v):
    for _ in range(n):
        nc = contacts.found[0]
        expo_step.add_contact_acceleration(world, scratch, nc, scratch.averages.first, joints.free, work.acceleration)
        expo_step.add_contact_acceleration(world, scratch, nc, scratch.averages.second, joints.free, joints.mean)
        set_to(q0, q)
        set_to(v0, v)
        expo_step.integrate_state(world, work.acceleration, joints, dt, q, v)


def calls_of_steps(sim: Simulation, truth: GroundTruth, k: int, steps: int) -> Callable[[int], None]:
    """n calls of a number of steps each, all from the ground truth's state k."""
    q0, v0 = truth.q[k].copy(), truth.v[k].copy()

    def calls(n: int) -> None:
        for _ in range(n):
            sim.state.q[:], sim.state.v[:] = q0, v0
            sim.stepper.advance(sim.state, sim.inputs, steps)

    return calls


def expo_loops(truth: GroundTruth, label: str, k: int) -> dict[str, Callable[[int], None]]:
    """The stages, calls of a step and calls without a step at the ground truth's state k."""
    sim = simulation(TESTS["solo12-trot"], METHODS[label], DT)
    put_back(sim, truth, k)
    advance(sim, 1)  # makes room for all contacts
    put_back(sim, truth, k)
    s: Any = sim.stepper
    q0, v0 = truth.q[k].copy(), truth.v[k].copy()
    q, v = q0.copy(), v0.copy()
    buffer, settings = s.contacts.arrays, s.settings
    ahead = settings.freeze * DT
    averages = (s.expo.island.full.copy(), settings.slip, settings.matmuls, settings.tolerance, DT)
    loops: dict[str, Callable[[int], None]] = {
        "computeContactForces": lambda n: contact_stage(n, s.world, s.work, buffer, s.anchors, DT, q0, v0),
        "prepareExpLDS": lambda n: linear_stage(
            n, s.world, s.work, s.expo, s.joints, buffer, sim.inputs, settings.order, ahead, DT, q0, v0
        ),
        "computeIntegrals": lambda n: integral_stage(n, s.expo, buffer, *averages),
    }
    if s.paper is not None:
        loops = paper_loops(sim, q0, v0)
    loops |= {
        "rest": lambda n: rest_stage(n, s.world, s.work, s.expo, s.joints, buffer, DT, q0, v0, q, v),
        "step": calls_of_steps(sim, truth, k, 1),
        "call": calls_of_steps(sim, truth, k, 0),
    }
    for loop in loops.values():
        loop(1)  # compiles; each stage needs what the one before it computed
    return loops


def paper_loops(sim: Simulation, q0: np.ndarray, v0: np.ndarray) -> dict[str, Callable[[int], None]]:
    """The stages of the paper's own algorithm that are not those of ``expo``."""
    s: Any = sim.stepper
    buffer, settings = s.contacts.arrays, s.settings

    def integrals() -> Callable[[int], None]:
        start = s.expo.island.full[:2, : 3 * int(buffer.found[0])].copy()
        averages = (settings.matmuls, settings.tolerance, DT)
        return lambda n: paper_integral_stage(n, s.expo, s.paper, buffer, start, *averages)

    def linear(n: int) -> None:
        paper_linear_stage(n, s.world, s.work, s.expo, s.paper, s.joints, buffer, sim.inputs, DT, q0, v0)

    def contact(n: int) -> None:
        paper_contact_stage(n, s.world, s.work, s.paper, buffer, s.anchors, DT, q0, v0)

    contact(1)
    linear(1)  # x(0) is known from here on
    return {"computeContactForces": contact, "prepareExpLDS": linear, "computeIntegrals": integrals()}


def euler_loops(truth: GroundTruth, k: int) -> dict[str, Callable[[int], None]]:
    """Calls of a step and calls without a step of explicit Euler."""
    sim = simulation(TESTS["solo12-trot"], METHODS["euler"], 1e-5)
    put_back(sim, truth, k)
    return {"step": calls_of_steps(sim, truth, k, 1), "call": calls_of_steps(sim, truth, k, 0)}


def shortest(loop: Callable[[int], None], rounds: int) -> float:
    """Shortest time per call [µs]."""
    loop(CALLS // 10 + 1)
    best = np.inf
    for _ in range(rounds):
        begin = time.perf_counter()
        loop(CALLS)
        best = min(best, time.perf_counter() - begin)
    return 1e6 * best / CALLS


def measure(truths: Mapping[str, GroundTruth], sizes: Sizes) -> dict[str, Any]:
    """Mean over states of the shortest time of each stage [µs]; ``truths`` by the label of a version's ground truth."""
    truth = truths["expo"]
    states = [int(k) for k in np.linspace(0, len(truth) - 1, sizes.samples)]
    samples: dict[str, dict[str, list[float]]] = {label: {} for label in (*VERSIONS, "euler")}
    contacts = []
    with Progress("Table III: computation times", len(states), "states") as bar:
        for done, k in enumerate(states):
            bar.update(done)
            for label in (*VERSIONS, "euler"):
                loops = (
                    euler_loops(truth, k) if label == "euler" else expo_loops(truths[METHODS[label].truth], label, k)
                )
                times = {stage: shortest(loop, max(LEAST_ROUNDS, sizes.rounds)) for stage, loop in loops.items()}
                times["step"] -= times.pop("call")
                for stage, found in times.items():
                    samples[label].setdefault(stage, []).append(found)
            contacts.append(float(np.count_nonzero(truth.memory["anchored"][k])))
    mean = {label: {s: statistics.mean(t) for s, t in stages.items()} for label, stages in samples.items()}
    return {"times": mean, "contacts": statistics.mean(contacts), "states": len(states)}


def study(store: Store, sizes: Sizes) -> Results:
    test = TESTS["solo12-trot"]
    n = control_steps(test, sizes)
    parameters = {"n": n, "samples": sizes.samples, "rounds": sizes.rounds, "dt": DT}

    def compute() -> dict[str, Any]:
        labels = {METHODS[label].truth for label in VERSIONS}
        return measure({label: ground_truth(store, test, METHODS[label], n) for label in labels}, sizes)

    return {"breakdown": store.unit("breakdown", parameters, compute)}


def show(results: Results, console: Console) -> None:
    """The table in the terminal."""
    times = results["breakdown"]["times"]
    grid = RichTable(title="Table III: time per step of the trot \\[µs]")
    for heading in ("operation", *times):
        grid.add_column(heading)
    for stage in ("step", *STAGES):
        grid.add_row(stage, *(f"{t[stage]:.2f}" if stage in t else "" for t in times.values()))
    console.print(grid)


def section(results: Results) -> str:
    data = results["breakdown"]
    times, standard, zero = data["times"], PAPER["standard"], PAPER["mmm-0"]
    ours, euler, theirs = times["expo"], times["euler"]["step"], PAPER["euler"]["step"]

    def cell(label: str, stage: str) -> str:
        return f"{times[label][stage]:.2f} ({100 * times[label][stage] / times[label]['step']:.0f} %)"

    def paper(column: dict[str, float], stage: str) -> str:
        return f"{column.get(stage, column['step'] - sum(column[s] for s in STAGES[:3])):g}"

    lines = [
        (stage, *(cell(label, stage) for label in VERSIONS), paper(standard, stage), paper(zero, stage))
        for stage in ("step", *STAGES)
    ]
    lines.append(("euler's step", *[f"{euler:.2f}"] * 3, *[f"{theirs:g}"] * 2))
    total = sum(ours[stage] for stage in STAGES)
    return "\n".join([
        "## Table III: computation times on the trot\n",
        f"[µs], mean over {data['states']} states with {data['contacts']:.1f} contacts on average, δt = 2 ms; in "
        "parentheses the part of the step.\n",
        table(("operation", *VERSIONS, "paper, standard expm", "paper, zero mmm"), lines),
        f"*Differences from the paper.* Our step takes {ours['step'] / standard['step']:.2f} of the time of "
        f"the paper's standard one and {ours['step'] / zero['step']:.2f} of that with zero products, on other "
        f"machines. The integrals take {100 * ours['computeIntegrals'] / ours['step']:.0f} % of a "
        "step (paper: 72 and 33 %), since the modes of a matrix of size 3n replace the exponential of one of size "
        f"6n + 3. Expo's step costs {ours['step'] / euler:.1f} explicit Euler steps (paper: "
        f"{standard['step'] / theirs:.1f} and {zero['step'] / theirs:.1f}). The stages, each timed on its own, add up "
        f"to {100 * total / ours['step']:.0f} % of the step. The paper's algorithm takes "
        f"{times['expo/paper']['step'] / ours['step']:.1f} times as long with its standard exponential, and "
        f"{times['expo/paper mmm-0']['step'] / ours['step']:.1f} times with zero products.\n",
    ])  # fmt: skip


TABLE3 = Part("table3", study, section, data=("breakdown",), show=show)
