"""The four tests of the paper (Sec. VI-B, Table I) and the methods that are compared, as data.

K = 1e5 N/m, B = 300 N s/m and μ = 1 are those of the bundled scenes; robots, references and controllers are ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

from stickslip.lab.papers.paper import quiet
from stickslip.lab.papers.rows import Row
from stickslip.methods.base import CONTACTS_FULL, OK
from stickslip.methods.implicit_euler.implicit_euler import PLAIN
from stickslip.model.model import Model
from stickslip.scenes import find
from stickslip.simulation import Controller, Simulation

STIFFNESS, DAMPING = 1e5, 300.0
"""Stiffness [N/m] and damping [N s/m] of all tests but the study of stiffness."""
FINEST = 1e-3 / 64
"""Step of the ground truth [s]."""
FASTEST = 1e5
"""A state with a larger velocity [m/s, rad/s] is not bounded (the limit of the authors' code)."""


@dataclass(frozen=True)
class Test:
    """One test of the paper."""

    __test__ = False  # not one for pytest

    name: str
    """Name of the bundled scene."""
    paper_name: str
    control_dt: float
    """Control step of Table I [s]."""
    seconds: float
    """Simulated for the figures [s]."""
    points: int
    """Contact points that stand on the floor at the start."""
    foot: str
    """The contact point whose force is shown in Fig. 6."""


TESTS = {
    test.name: test
    for test in (
        Test("solo12-squat", "Solo-squat", 0.04, 3.2, 4, "FL_FOOT"),
        Test("solo12-jump", "Solo-jump", 0.01, 2.5, 4, "FL_FOOT"),
        Test("solo12-trot", "Solo-trot", 0.002, 3.0, 4, "FL_FOOT"),
        Test("romeo-walk", "Romeo-walk", 0.04, 6.32, 8, "l_foot_front_left"),
    )
}


@dataclass(frozen=True)
class Method:
    """A stepper with its options."""

    label: str
    """In figures and tables."""
    stepper: str
    options: Mapping[str, Any] = field(default_factory=dict)
    least_dt: float = 1e-3 / 8
    """The shortest step that is tried (Sec. VI-B) [s]."""
    truth: str = ""
    """Label of the method whose fine simulation is the ground truth, if not its own."""
    finest: float = FINEST
    """Step of its own ground truth [s]."""


def _expo(matmuls: int | str) -> Method:
    label = "expo" if matmuls == "auto" else f"expo {matmuls}" if isinstance(matmuls, str) else f"expo mmm-{matmuls}"
    return Method(label, "expo", {"matmuls": matmuls}, truth="expo")


def _paper(matmuls: int | str) -> Method:
    label = "expo/paper" if matmuls == "auto" else f"expo/paper mmm-{matmuls}"
    return Method(label, "expo/paper", {"matmuls": matmuls}, truth="expo/paper")


ORDERS: tuple[int | str, ...] = ("auto", "pade", 0, 1, 2, 3, 4, 5, 6)
PAPER_ORDERS: tuple[int | str, ...] = ("auto", 0, 1, 2, 3, 4)
"""Those of the paper's Fig. 2, for its own algorithm."""
METHODS = {
    method.label: method
    for method in (
        *(_expo(matmuls) for matmuls in ORDERS),
        *(_paper(matmuls) for matmuls in PAPER_ORDERS),
        Method("rk4", "rk4"),
        Method("implicit-euler", "implicit-euler", PLAIN),  # the paper's Eul-imp, without what makes ours converge
        Method("semi-implicit-euler", "semi-implicit-euler", least_dt=1e-3 / 33, finest=FINEST / 8),
        Method("euler", "euler", least_dt=1e-3 / 33, finest=FINEST / 8),
    )
}
FIXED_ORDERS = tuple(f"expo mmm-{n}" for n in range(7))
PAPER_VERSIONS = tuple(_paper(matmuls).label for matmuls in PAPER_ORDERS)
RIVALS = tuple(label for label in METHODS if not label.startswith("expo"))

_AS_PAPER: dict[str, Any] = {
    "freeze": "start", "events": "none", "slip": "project", "rest": "detected", "matmuls": "pade", "tolerance": 1e-12,
    "order": 1,
}  # fmt: skip
_CHANGES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("anchors at rest, exponential of half the size", {}),
    ("modes in place of the exponential", {"matmuls": "auto"}),
    ("springs rest on the surface", {"rest": "surface"}),
    ("linearised in the middle", {"freeze": "middle"}),
    ("divided where contacts begin", {"events": "touchdown"}),
    ("slip solved, not projected", {"slip": "solve"}),
    ("phases of contacts followed within the step", {"events": "all"}),
    ("second order in velocities", {"order": 2}),
)
_DETECTED = Method("expo, springs rest where detected", "expo", {"rest": "detected"})


def _changes() -> dict[str, Method]:
    """From the paper's algorithm to ours, one change after another; the last one is ``expo``."""
    options, found = _AS_PAPER, {"the paper's": METHODS["expo/paper"]}
    for label, change in _CHANGES:
        options = {**options, **change}
        truth = "expo" if options["rest"] == "surface" else _DETECTED.label
        found[label] = Method(label, "expo", options, truth=truth)
    return found


CHANGES = _changes()
TRUTHS = {**METHODS, _DETECTED.label: _DETECTED}
"""Methods by the label of their ground truth."""


@dataclass(frozen=True)
class Sizes:
    """How much is computed."""

    tests: tuple[str, ...] = tuple(TESTS)
    methods: tuple[str, ...] = tuple(METHODS)
    seconds: Mapping[str, float] = field(default_factory=dict)
    """Simulated of a test [s], where it is not all of ``Test.seconds``."""
    stride: int = 1
    """Every so many halvings of the step."""
    repeats: int = 5
    """Times that every short control step is timed."""
    stiffness: tuple[float, ...] = (1e3, 1e4, 1e5, 1e6, 1e7, 1e8)
    """Contact stiffnesses [N/m]."""
    damping_ratio: tuple[float, ...] = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
    stiffness_seconds: float = 1.2
    """Duration of the trot in the study of stiffness [s]."""
    samples: int = 40
    """States of the trot over which the stages are timed."""
    rounds: int = 25
    """Times that each of them is timed."""


FULL = Sizes()
QUICK = Sizes(
    methods=(
        "expo",
        "expo pade",
        "expo mmm-0",
        "expo mmm-2",
        "expo mmm-4",
        "expo/paper",
        "expo/paper mmm-0",
        *RIVALS,
    ),
    seconds={"solo12-squat": 0.12, "solo12-jump": 0.6, "solo12-trot": 0.4, "romeo-walk": 0.24},
    stride=3,
    repeats=2,
    stiffness=(1e5, 1e8),
    damping_ratio=(1.0,),
    stiffness_seconds=0.4,
    samples=4,
    rounds=3,
)


def control_steps(test: Test, sizes: Sizes) -> int:
    return max(3, round(sizes.seconds.get(test.name, test.seconds) / test.control_dt))


def steps(test: Test, method: Method, stride: int = 1) -> list[float]:
    """The steps that are tried [s]: the control step, halved down to the method's least, longest first."""
    halvings = int(np.floor(np.log2(test.control_dt / method.least_dt) + 1e-9))
    return [test.control_dt / 2**k for k in range(0, halvings + 1, stride)]


@cache
def bundled(name: str) -> tuple[Model, Controller]:
    """The compiled scene of a test and its controller, bound to it."""
    _, setup, _ = find(name)
    model, controller = setup.scene.compile(), setup.controller
    assert controller is not None
    if hasattr(controller, "bind"):
        controller.bind(model)
    return model, controller


def with_contacts(model: Model, stiffness: float, damping: float) -> Model:
    """A copy of the model whose contacts with planes have K [N/m] and B [N s/m]."""
    shapes = tuple(
        replace(shape, material=replace(shape.material, stiffness=stiffness, damping=damping))
        if shape.kind == "plane"
        else shape
        for shape in model.shapes
    )
    return replace(model, shapes=shapes)


def weight(model: Model) -> float:
    """Weight of all links [N]."""
    return float(model.inertia.mass.sum() * np.linalg.norm(model.inertia.gravity))


def simulation(
    test: Test, method: Method, dt: float, stiffness: float = STIFFNESS, damping: float = DAMPING
) -> Simulation:
    """The start of a test: the robot stands as deep in the floor as its weight presses it."""
    model = bundled(test.name)[0]
    start = model.state()
    start.q[2] += weight(model) / test.points * (1.0 / STIFFNESS - 1.0 / stiffness)
    if (stiffness, damping) != (STIFFNESS, DAMPING):
        model = with_contacts(model, stiffness, damping)
    sim = quiet_simulation(model, method, dt)
    sim.set_state(start.q)
    return sim


def quiet_simulation(model: Model, method: Method, dt: float) -> Simulation:
    with quiet():  # about steps that are too long for a method: that is what is studied
        return Simulation(model, method=method.stepper, dt=dt, **method.options)


def advance(sim: Simulation, n: int) -> bool:
    """n steps in one compiled call; False if the state is not bounded any more."""
    while n > 0:
        status, done = sim.stepper.advance(sim.state, sim.inputs, n)
        n -= done
        if status == CONTACTS_FULL:
            sim.stepper.grow()
        elif status != OK:
            return False
    return bool(np.all(np.abs(sim.state.v) <= FASTEST) and np.all(np.isfinite(sim.state.q)))


def paper_name(row: Row) -> str:
    """The paper's name of a row's test."""
    return TESTS[row["test"]].paper_name


def ms(dt: float | None) -> str:
    """A step [s] in milliseconds."""
    return "none" if dt is None else f"{1e3 * dt:.3g}"


def size(value: float | None) -> str:
    """An error; None is infinite."""
    return "∞" if value is None else f"{value:.2g}"
