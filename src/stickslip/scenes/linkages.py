"""Closed kinematic loops: a four-bar linkage, and Bricard's ring of six hinges."""

from __future__ import annotations

import numpy as np

from stickslip.errors import expected, number
from stickslip.model.scene import Body, Scene
from stickslip.simulation.setup import Setup


def _along(direction: np.ndarray) -> np.ndarray:
    """(4,) a quaternion that turns z to a direction, which must not be −z."""
    x, y, z = direction / np.linalg.norm(direction)
    quat = np.array([1.0 + z, -y, x, 0.0])
    return quat / np.linalg.norm(quat)


def _rod(body: Body, end: np.ndarray, mass: float, radius: float = 0.01) -> None:
    """A capsule from the body's origin to ``end`` (3,) [m] that collides with nothing."""
    body.add_capsule(radius, float(np.linalg.norm(end)), pos=end / 2, quat=_along(end), mass=mass, collide=False)


def four_bar(crank: float = 0.2, coupler: float = 0.6, rocker: float = 0.5, base: float = 0.6) -> Setup:
    """A planar four-bar linkage of rods with 1 kg/m, released with the crank upright; lengths [m].

    Crank and rocker turn about y in the world, ``base`` apart; the coupler is joined to the crank, and the point at its
    end is connected to the rocker's end: 3 rows, of which the one along y follows from the hinges. With the default
    lengths the shortest and the longest rod are together shorter than the other two, so that the crank turns fully
    (Grashof).
    """
    lengths = [
        number(name, value, "a positive length [m]", above=0.0)
        for name, value in (("crank", crank), ("coupler", coupler), ("rocker", rocker), ("base", base))
    ]
    crank, coupler, rocker, base = lengths
    joint, foot = np.array([0.0, 0.0, crank]), np.array([base, 0.0, 0.0])
    across = foot - joint
    distance = float(np.linalg.norm(across))
    along = (coupler**2 - rocker**2 + distance**2) / (2.0 * distance)
    if coupler**2 <= along**2:
        wanted = "bars that reach each other with the crank upright"
        raise expected("lengths of a four-bar", wanted, (crank, coupler, rocker, base))
    up = np.array([-across[2], 0.0, across[0]]) / distance
    pin = joint + along * across / distance + np.sqrt(coupler**2 - along**2) * up
    scene = Scene(name="four-bar")
    first = scene.add_body("crank", joint="hinge", axis=(0, 1, 0))
    _rod(first, joint, crank)
    second = first.add_body("coupler", joint="hinge", axis=(0, 1, 0), pos=joint)
    _rod(second, pin - joint, coupler)
    third = scene.add_body("rocker", joint="hinge", axis=(0, 1, 0), pos=foot)
    _rod(third, pin - foot, rocker)
    scene.connect(third, second, pin - foot, name="pin")
    return Setup(scene)


def bricard(length: float = 0.3) -> Setup:
    """Bricard's trihedral ring: six equal rods [m], each hinge at right angles to the next, turning inside out.

    By a count of freedoms, five hinges and six rows, it is rigid, but by its symmetry it moves. The first rod is fixed.
    The sixth hinge is made of two connected points on its axis, with four independent rows. It starts with threefold
    symmetry: hinge angles θ, φ, θ, φ, … with cos θ·cos φ + cos θ + cos φ = 0, and quarter turns that are right- and
    left-handed in alternation.
    """
    length = number("length", length, "a positive length [m]", above=0.0)
    theta = 2.0
    phi = np.arccos(-np.cos(theta) / (1.0 + np.cos(theta)))
    quarter, angles = np.sqrt(0.5), (theta, phi) * 3
    scene = Scene(name="bricard")
    parent, rod = scene.world, np.array([length, 0.0, 0.0])
    for k in range(1, 6):  # after rod k − 1 along x: a quarter turn about x of alternating sign, and hinge k about z
        cos, sin, sign = np.cos(angles[k] / 2), np.sin(angles[k] / 2), 1 if k % 2 else -1
        turn = quarter * np.array([cos, sign * cos, -sign * sin, sin])
        parent = parent.add_body(f"rod{k}", joint="hinge", axis=(0, 0, 1), pos=rod, quat=turn)
        _rod(parent, rod, 0.1)
    for name, along in (("near", 0.0), ("far", length / 3)):  # the sixth hinge: rod 5 turns about the world's z axis
        scene.connect(parent, "world", np.array([length, along, 0.0]), name=name)
    return Setup(scene)
