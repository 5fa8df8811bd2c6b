"""The arrays of a model whose values setters may change: masses, joint forces, the medium, tendons and actuators."""

from __future__ import annotations

from typing import Any

import mujoco

from stickslip.model import compile as build
from stickslip.model.arrays import Support, Tree
from stickslip.model.compile_drives import build_activations, build_actuators, build_tendons, with_cables
from stickslip.model.compile_medium import build_medium


def tendon_names(mj: mujoco.MjModel) -> tuple[str, ...]:
    return tuple(mj.tendon(t).name or f"tendon {t}" for t in range(mj.ntendon))


def build_parameters(
    mj: mujoco.MjModel, bodies: list[build.Attachment], tree: Tree, support: Support
) -> dict[str, Any]:
    """These arrays, by the names of a model's fields."""
    tendons = build_tendons(mj, bodies)
    inertia = build.build_inertia(mj, bodies, len(tree.parent))
    return {
        "inertia": with_cables(inertia, tendons, tree, support, tendon_names(mj)),
        "joint_forces": build.build_joint_forces(mj),
        "medium": build_medium(mj, bodies),
        "tendons": tendons,
        "actuators": build_actuators(mj, bodies),
        "activations": build_activations(mj),
    }
