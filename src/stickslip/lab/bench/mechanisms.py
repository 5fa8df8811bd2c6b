"""Mechanisms of any size: a chain, a star of legs, a single joint, pebbles and a plate on the floor."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from stickslip.model.builders import add_chain
from stickslip.model.model import Model, compile_model
from stickslip.model.scene import Scene


def _add_link(parent: Any, pos: tuple[float, float, float], axis: tuple[float, float, float]) -> Any:
    """A rod of 0.1 m on a hinge."""
    body = parent.add_body(pos=pos, ipos=(0.0, 0.0, -0.05), mass=0.1, inertia=(1e-4, 1e-4, 1e-5), explicitinertial=True)
    body.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=axis)
    return body


def chain(links: int) -> Model:
    """Links in a row, hanging on the world by hinges."""
    scene = Scene()
    add_chain(scene, links, joint="hinge", fixed=True)
    return scene.compile()


def star(legs: int, floating: bool) -> tuple[Model, list[int]]:
    """Legs of three hinges on a ring, on the world or on a floating hub; returns the link of each foot, too."""
    spec = mujoco.MjSpec()
    hub = spec.worldbody
    if floating:
        hub = hub.add_body(name="hub", mass=float(legs), inertia=(legs, legs, legs), explicitinertial=True)
        hub.add_freejoint()
    feet = []
    for i in range(legs):
        x, y = np.cos(2.0 * np.pi * i / legs), np.sin(2.0 * np.pi * i / legs)
        hip = _add_link(hub, (x, y, 0.0), (1.0, 0.0, 0.0))
        _add_link(_add_link(hip, (0.0, 0.0, -0.1), (0.0, 1.0, 0.0)), (0.0, 0.0, -0.1), (0.0, 1.0, 0.0))
        feet.append(int(floating) + 3 * (i + 1))
    return compile_model(spec.compile()), feet


def one_joint() -> Model:
    """The smallest model, to measure the cost of a call."""
    spec = mujoco.MjSpec()
    _add_link(spec.worldbody, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0)).add_site(name="foot", pos=(0.0, 0.0, -0.1))
    return compile_model(spec.compile())


def pebbles(n: int) -> Scene:
    """Bodies with one contact point each, which touch the floor but not each other."""
    scene = Scene(name="pebbles")
    scene.add_plane()
    for k in range(n):
        body = scene.add_body(f"pebble{k}", pos=(k, 0, -9.81e-5))
        body.set_inertia(1.0, inertia=(0.01, 0.01, 0.01))
        body.add_contact_point(f"tip{k}")
    return scene


def plate(n: int) -> Scene:
    """One body with n contact points on a circle, on the floor."""
    scene = Scene(name="plate")
    scene.add_plane()
    body = scene.add_body("plate", pos=(0, 0, -9.81e-5))
    body.set_inertia(float(n), inertia=(1.0, 1.0, 1.0))
    for k in range(n):
        angle = 2 * np.pi * k / n
        body.add_contact_point(f"p{k}", pos=(0.3 * np.cos(angle), 0.3 * np.sin(angle), 0))
    return scene
