"""Mechanisms for tests of maximal coordinates, and a step without contacts: v⁺ = v_free + M⁻¹·Gᵀ·λ with G·v⁺ = 0."""

import mujoco
import numpy as np

import stickslip as ss
from stickslip.methods.base import Inputs
from stickslip.model.model import compile_model

COMPOSITIONS = {
    "hinge": ("hinge", ("z",)),
    "slide": ("slide", ("z",)),
    "ball": ("ball", ("z",)),
    "cylindrical": ("hinge slide", ("z", "-z")),
    "cylindrical, slide first": ("slide hinge", ("z", "z")),
    "universal": ("hinge hinge", ("z", "x")),
    "planar": ("slide slide hinge", ("x", "y", "z")),
}
"""Name → the joints of a body, and their axes in a random frame."""


def text(values):
    return " ".join(f"{value:.17g}" for value in np.atleast_1d(values))


def unit(rng, n):
    vector = rng.normal(size=n)
    return vector / np.linalg.norm(vector)


def random_tree(seed, links=8):
    """A model of random shape with every kind of joint that maximal coordinates know, anchors off the origin."""
    rng = np.random.default_rng(seed)
    parents = [int(rng.integers(-1, b)) for b in range(links)]

    def body(b):
        frame = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        axis = {"x": frame[:, 0], "y": frame[:, 1], "z": frame[:, 2], "-z": -frame[:, 2]}
        kinds, axes = COMPOSITIONS[str(rng.choice(list(COMPOSITIONS)))]
        anchor = rng.normal(size=3) * 0.3
        joints = "".join(
            f'<joint type="{kind}" axis="{text(axis[a])}" pos="{text(anchor)}"'
            + (f' ref="{rng.normal():.17g}"/>' if kind != "ball" else "/>")
            for kind, a in zip(kinds.split(), axes, strict=True)
        )
        if parents[b] < 0 and rng.random() < 0.4:
            joints = "<freejoint/>"
        children = "".join(body(c) for c in range(links) if parents[c] == b)
        return (
            f'<body name="b{b}" pos="{text(rng.normal(size=3))}" quat="{text(unit(rng, 4))}">{joints}'
            f'<inertial pos="{text(0.2 * rng.normal(size=3))}" mass="{rng.uniform(0.5, 2.0)}" '
            f'diaginertia="{text(0.2 + rng.uniform(0.0, 0.1, 3))}"/>{children}</body>'
        )

    bodies = "".join(body(b) for b in range(links) if parents[b] < 0)
    xml = f'<mujoco><compiler angle="radian"/><worldbody>{bodies}</worldbody></mujoco>'
    return compile_model(mujoco.MjModel.from_xml_string(xml))


def random_state(model, rng, size=1.0):
    q = model.tree.q0 + size * rng.normal(size=model.nq)
    for _, first in model.quaternions():
        q[first : first + 4] = unit(rng, 4)
    return model.state(q, rng.normal(size=model.nv))


def pendulum(joint):
    """A cylinder of 1 kg, radius 0.1 m, length 0.5 m on a joint at its upper end, its frame in the middle."""
    scene = ss.Scene()
    rod = scene.add_body("rod", joint="fixed", pos=(0, 0, 1))
    rod.add_joint(joint, axis=(0, 1, 0), pos=(0, 0, 0.25))
    rod.add_cylinder(0.1, 0.5, mass=1.0)
    return scene.compile()


def bars(levels, joint="ball"):
    """A binary tree of 2^levels − 1 bars that hang on one another."""
    scene = ss.Scene()
    row = [scene.add_body(joint="fixed")]
    every = list(row)
    for _ in range(1, levels):
        row = [bar.add_body(pos=(x, 0, -0.5)) for bar in row for x in (-0.1, 0.1)]
        every += row
    for bar in every:
        bar.add_joint(joint, pos=(0, 0, 0.25))
        bar.add_cylinder(0.02, 0.5, mass=0.1)
    return scene.compile()


def inputs(model):
    return Inputs(np.zeros(model.nu), np.zeros(model.nv), np.zeros((model.nlink, 6)))


def step(coordinates, state, given, dt):
    coordinates.begin(state, given, dt)
    constraints, velocity = coordinates.constraints, coordinates.free_velocity.copy()
    constraints.factorise(coordinates.M)
    soft = coordinates.soft()
    wanted = None if soft is None else soft[2] - soft[0] @ velocity
    velocity += constraints.correct(-constraints.velocity_errors(velocity), wanted)
    coordinates.finish(state, velocity, dt)
