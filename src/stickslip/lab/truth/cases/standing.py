"""Bodies that stand on each other, or just do not: a peg over a hole, a stack of blocks, a masonry arch."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from stickslip.lab.select import soft_methods
from stickslip.lab.truth.case import Case, Lesson, every_method
from stickslip.lab.truth.lessons import thrown
from stickslip.record import Log
from stickslip.scenes import SCENES

BLOCKS = 20
"""Number of stones of the arch."""


def measure_peg(logs: Mapping[str, Log]) -> dict[str, float]:
    return {"speed": -logs["loose"].v[-1, 2], "height": logs["tight"].q[-1, 2]}


def measure_stack(logs: Mapping[str, Log]) -> dict[str, float]:
    moved = {name: log.pose[:, 1:, :3] - log.pose[0, 1:, :3] for name, log in logs.items()}
    return {name: float(np.linalg.norm(way, axis=2).max()) for name, way in moved.items()}


def measure_arch(logs: Mapping[str, Log]) -> dict[str, float]:
    result = {}
    for name, log in logs.items():
        keys = [log.link(f"block{BLOCKS // 2 - side}") for side in (0, 1)]
        crown = log.pose[:, keys, 2].mean(axis=1)
        result[name] = crown[0] - crown.min()
    return result


ANTICIPATING = "stewart-trinkle, anticipating"
FOUR_PEG = "peg, 4 directions"
PEG = {FOUR_PEG: ("peg", {"directions": 4, "working_set": False, "solver_options": {"max_iterations": 6000}})}
"""PEG for many flush faces. Each has 16 groups of subcontacts, so that 20 stones make LCPs of 3300 unknowns with eight
directions and 2100 with four; at most 6000 pivots on each of three paths keep a step that is not solved bearable."""


def with_interior_point() -> tuple[str, ...]:
    """Where loads are passed on through many contacts, another solver than the default one is worth its time, and PEG
    is worth fewer friction directions."""
    others = tuple(name for name in every_method() if name != "peg")
    return (*others, FOUR_PEG, "coulomb/interior-point", "variational/pyramid")


BUILD = SCENES["block-stack"].build
ARCH = SCENES["arch"].build
CASES = (
    Case("peg-in-hole",
         "a cube falls through a hole with 5 μm to spare on each side; one that is 5 μm too large rests on it",
         {"loose": partial(SCENES["peg-in-hole"].build, scale=0.99999),
          "tight": partial(SCENES["peg-in-hole"].build, scale=1.00001)},
         1.0, measure_peg, dts=(1e-2, 1e-3), record_dt=1e-2, methods=lambda: (*every_method(), ANTICIPATING),
         settings={ANTICIPATING: ("stewart-trinkle", {"detector": "peg"})},
         lessons=(
             thrown("The peg that rests on its springs for a moment is thrown up by metres.", ("height", "run"), 5e-3),
             Lesson(soft_methods(),
                    "Contacts are springs: the peg sinks in by its weight over K, 0.1 mm, and from 5 μm on the nearest "
                    "way out of the cubes is sideways: the contacts' normals turn, and it falls through.",
                    ("height",)),
             Lesson((ANTICIPATING,),
                    "Stewart–Trinkle with every contact that may come, as the original had it: 5 μm beside an edge the "
                    "half-space above the cube's top counts, and the peg comes to rest on a hole that it fits into. Of "
                    "contacts that can be met, as by default, or of one half-space for each edge (peg), it falls.",
                    ("speed",)),
             Lesson(("relaxed*",),
                    "The convex relaxation lets a contact slide only if it opens with μ·|v|. Both walls of the hole "
                    "ask for that: the peg jams between them and creeps down by millimetres a second; with μ = 0 it "
                    "falls.", ("speed",)),
             Lesson(("relaxed*",),
                    "Contacts are springs: once the peg has sunk by more than the 5 μm by which it overlaps, the "
                    "nearest way out of the cubes is sideways, the contacts' normals turn, and only creeping friction "
                    "holds it.", ("height",)),
             Lesson(("variational*",),
                    "The interior point stops when gap times force is below its tolerance, 1e-6 J by default: 5 μm "
                    "from a wall that allows forces whose friction costs 0.3 % of the speed; tolerance=1e-9 gives "
                    "9.80997 m/s.", ("speed",)),
             Lesson(("mujoco*",),
                    "Contacts act once bodies overlap: 2 cm below the top the nearest way out of the cubes is "
                    "sideways, 5 μm, and the peg hangs there by soft friction, which creeps by 3 mm a second.",
                    ("height",)),
             Lesson(("anitescu-potra*",),
                    "Anitescu–Potra stops all approach in the step that would meet a surface, wherever the body is "
                    "then: the peg halts above the cubes, falls on from there, and ends within a step's way above "
                    "them.", ("height",)),
             Lesson(("bilateral*",),
                    "A contact is held from the step that finds it: the peg hangs where that step has brought it, up "
                    "to a step's way below the surface.", ("height",)),
         )),
    Case("block-stack", "ten blocks stand on each other, each 1, 2 or 4 times as heavy as the one below",
         {"equal": BUILD, "double": partial(BUILD, ratio=2.0), "fourfold": partial(BUILD, ratio=4.0)}, 0.5,
         measure_stack, dts=(1e-2, 2e-3), record_dt=1e-2, methods=with_interior_point, settings=PEG,
         quick=False, patience=180.0,
         lessons=(
             Lesson(("stewart-trinkle", "stewart-trinkle/lemke", "anitescu-potra*", "peg*"),
                    "Lemke's pivoting loses its digits where masses are 262144 : 1: most steps are not solved, and "
                    "what they end with throws the blocks about. An interior point solves every one of them.",
                    ("fourfold", "run")),
             Lesson(("coulomb",),
                    "Sweeps from contact to contact pass a load on by one block each, and the slower the heavier the "
                    "next block is: most steps end before they converge. coulomb/interior-point solves every one of "
                    "them.", ("double", "fourfold", "run")),
             thrown("The blocks fly apart.", ("*",), 5e-3),
             thrown("Light blocks under heavy ones are thrown out.", ("double", "fourfold", "run"), 2e-3),
             Lesson(("relaxed*", "mujoco*", *soft_methods()),
                    "Soft contacts sink under the weight above them, which grows with the masses: by millimetres for "
                    "ten equal blocks; a light block under half a tonne is pressed through the floor."),
             Lesson(("bilateral*",),
                    "A contact is held from the step that finds it closed: each of the ten faces sinks by g·dt² first, "
                    "10 mm in all at dt = 10 ms."),
         )),
    Case("arch", "a semicircular arch of 20 blocks stands if it is thicker than 0.1075 of its radius, else it falls",
         {"thick": partial(ARCH, 0.110, blocks=BLOCKS), "thin": partial(ARCH, 0.105, blocks=BLOCKS)}, 0.5, measure_arch,
         dts=(5e-3, 1e-2), record_dt=1e-2, methods=with_interior_point, settings=PEG,
         unsuited={"bilateral*": "its contacts pull: an arch that is glued together stands however thin"},
         quick=False, patience=180.0,
         lessons=(
             thrown("The stones fly apart.", ("*",), 5e-3),
             Lesson(soft_methods(),
                    "Springs of 1e5 N/m in a joint give by centimetres under the thrust, and 2 mm separate t/R = 0.110 "
                    "from 0.1075: the arch falls, thick or thin.", ("thick",)),
             Lesson(("event-selected*",),
                    "The arch falls as with all such springs. Where its stones slide past each other, contacts come "
                    "and go faster than the shortest steps that the method takes.", ("run",)),
             Lesson(("relaxed*", "mujoco*"),
                    "Soft joints give by 2 mm under the thrust, as much as separates t/R = 0.110 from 0.1075: the arch "
                    "settles until no line of thrust fits into it. MuJoCo's stands from t/R = 0.16 on, 2 cm lower.",
                    ("thick",)),
             Lesson(("anitescu-potra*",),
                    "By default the contacts count that free motion would close within the step. All blocks fall "
                    "alike, so that only some of the faces push, and the arch sinks into itself; with touch=1e-4 it "
                    "stands.", ("thick",)),
         )),
)  # fmt: skip
