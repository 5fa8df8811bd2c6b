"""Mechanisms with computed dimensions: a chain, a cylinder on contact points, a hopper.

Parameters are those of Brüdigam et al., "Linear-time contact and friction dynamics in maximal coordinates using
variational integrators", Sec. IV.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stickslip.errors import whole
from stickslip.model.scene import Body, Scene


def add_chain(
    scene: Scene, links: int = 10, *, length: float = 1.0, radius: float = 0.05, mass: float = 1.0, pos=(0.0, 0.0, 1.0),
    joint: str = "ball", fixed: bool = False, name: str = "link",
) -> list[Body]:  # fmt: skip
    """A chain of cylinders along x; links + 1 contact points, one at each end and each joint.

    ``joint`` is ball or hinge (about y); ``fixed=True`` joins the first link to the world by the same kind of
    joint instead of letting it float.
    """
    whole("links", links, 1)
    along_x = (np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0)
    bodies: list[Body] = []
    for i in range(links):
        parent = bodies[-1] if bodies else None
        options: dict[str, Any] = {"axis": (0, 1, 0)} if joint == "hinge" else {}
        kind = joint if parent or fixed else "free"
        body = scene.add_body(
            f"{name}{i}", parent=parent, joint=kind, pos=(length, 0, 0) if parent else pos,
            **(options if kind == "hinge" else {}),
        )  # fmt: skip
        body.add_cylinder(radius, length, pos=(length / 2, 0, 0), quat=along_x, mass=mass, collide=False)
        if i == 0:
            body.add_contact_point(f"{name}{i}_start")
        body.add_contact_point(f"{name}{i}_end", pos=(length, 0, 0))
        bodies.append(body)
    return bodies


def add_cylinder_on_points(
    scene: Scene, contacts: int = 8, *, radius: float = 0.5, height: float = 0.1, mass: float = 1.0,
    pos=(0.0, 0.0, 1.0), quat=(1.0, 0.0, 0.0, 0.0), name: str = "cylinder",
) -> Body:  # fmt: skip
    """A flat cylinder that touches with points spread evenly around its lower rim."""
    whole("contacts", contacts, 1)
    body = scene.add_body(name, pos=pos, quat=quat)
    body.add_cylinder(radius, height, mass=mass, collide=False)
    for i, angle in enumerate(np.linspace(0.0, 2.0 * np.pi, contacts, endpoint=False)):
        point = (radius * np.cos(angle), radius * np.sin(angle), -height / 2)
        body.add_contact_point(f"{name}_point{i}", pos=point)
    return body


def add_hopper(scene: Scene, *, pos=(0.0, 0.0, 0.8), name: str = "hopper", max_force: float | None = None) -> Body:
    """A sphere (1 kg, radius 0.1 m) with a pole (0.2 kg, 0.8 m) on an actuated slide; one contact point, at its end.

    At rest the pole's upper end is at the sphere's centre. The sphere turns by torques that the user applies
    (``sim.inputs.wrench``), as from flywheels. Differs from the authors' released code in: the text's 1 kg, not 0.5 kg.
    """
    sphere = scene.add_body(name, pos=pos)
    sphere.add_sphere(0.1, mass=1.0, collide=False)
    pole = sphere.add_body(f"{name}_pole", joint="slide", axis=(0, 0, 1), motor=True, max_force=max_force)
    pole.add_cylinder(0.05, 0.8, pos=(0, 0, -0.4), mass=0.2, collide=False)
    pole.add_contact_point(f"{name}_foot", pos=(0, 0, -0.8))
    return sphere
