"""Random mechanisms as MJCF: every joint type, several joints on a body, anchors off the origin, fixed bodies between.

Hypothesis draws the structure (so that a failure shrinks to a small tree) and a seed; the numbers come from the seed.
"""

import mujoco
import numpy as np
from hypothesis import strategies as st

from stickslip.model.model import compile_model

JOINTS = (
    ("hinge",),
    ("slide",),
    ("ball",),
    ("hinge", "hinge"),
    ("slide", "hinge"),
    ("hinge", "slide"),
    ("slide", "slide", "slide"),
    ("hinge", "hinge", "hinge"),
    ("slide", "ball"),
    ("slide", "slide", "slide", "ball"),
    ("slide", "slide", "hinge"),
    ("hinge", "ball"),
    ("ball", "slide"),
    ("slide", "slide", "slide", "hinge", "hinge", "hinge"),
)
FREE_JOINTS = (("free",), ("freejoint",))
FIXED = ()  # no joint: the body is merged into what carries it


@st.composite
def mechanisms(draw, most_links=12):
    """(structure, seed): for each body its parent (−1 for the world) and its joints."""
    count = draw(st.integers(1, most_links))
    bodies = []
    for b in range(count):
        parent = draw(st.integers(-1, b - 1))
        kinds = JOINTS + (FREE_JOINTS * 3 if parent < 0 else ()) + (FIXED,) * (b > 0)
        bodies.append((parent, draw(st.sampled_from(kinds))))
    if not any(joints for _, joints in bodies):
        bodies[0] = (-1, ("hinge",))
    return tuple(bodies), draw(st.integers(0, 2**32 - 1))


def numbers(values):
    return " ".join(f"{value:.17g}" for value in np.atleast_1d(values))


def unit(rng, n):
    vector = rng.normal(size=n)
    return vector / np.linalg.norm(vector)


def joints(rng, body, kinds):
    """The joints of a body: axes at right angles and, on several rotations, rotors: no state is nearly singular."""
    axes = np.eye(3)[:, rng.permutation(3)] if rng.random() < 0.4 else np.linalg.qr(rng.normal(size=(3, 3)))[0]
    axes = axes * rng.choice([-1.0, 1.0], size=3)
    axis = {kind: iter(axes.T) for kind in kinds}
    rotors = kinds.count("hinge") + kinds.count("ball") > 1
    return "".join(
        joint(rng, f"{body}j{k}", kind, next(axis[kind], None) if kind in ("hinge", "slide") else None, rotors)
        for k, kind in enumerate(kinds)
    )


def joint(rng, name, kind, axis, rotor):
    if kind == "freejoint":
        return f'<freejoint name="{name}"/>'
    armature = f'armature="{numbers(rng.choice([0.0, 1.0][rotor:]) * rng.uniform(0.01, 0.5))}"'
    if kind == "free":
        return f'<joint type="free" name="{name}" {armature}/>'
    anchor = f'pos="{numbers(rng.choice([0.0, 1.0]) * rng.normal(size=3) * 0.3)}"'
    if kind == "ball":
        return f'<joint type="ball" name="{name}" {anchor} {armature}/>'
    ref = numbers(rng.choice([0.0, rng.uniform(-1.0, 1.0)]))
    return f'<joint type="{kind}" name="{name}" axis="{numbers(axis)}" ref="{ref}" {anchor} {armature}/>'


def inertial(rng):
    moments = rng.uniform(0.01, 0.3, size=3)  # sums of two: the triangle inequality holds
    diagonal = moments + np.roll(moments, 1)
    return (
        f'<inertial pos="{numbers(rng.normal(size=3) * 0.2)}" quat="{numbers(unit(rng, 4))}" '
        f'mass="{numbers(rng.uniform(0.2, 3.0))}" diaginertia="{numbers(diagonal)}"/>'
    )


def mjcf(bodies, seed):
    """The text of the model file."""
    rng = np.random.default_rng(seed)
    children = {b: [c for c in range(len(bodies)) if bodies[c][0] == b] for b in range(-1, len(bodies))}

    def body(b):
        quat = np.array([1.0, 0, 0, 0]) if rng.random() < 0.3 else unit(rng, 4)
        text = f'<body name="b{b}" pos="{numbers(rng.normal(size=3) * 0.5)}" quat="{numbers(quat)}">{inertial(rng)}'
        text += joints(rng, f"b{b}", bodies[b][1])
        text += f'<site name="s{b}" pos="{numbers(rng.normal(size=3) * 0.3)}" quat="{numbers(unit(rng, 4))}"/>'
        return text + "".join(map(body, children[b])) + "</body>"

    gravity = unit(rng, 3) * rng.uniform(1.0, 12.0)
    return (
        f'<mujoco><compiler angle="radian"/><option gravity="{numbers(gravity)}"/>'
        f"<worldbody>{''.join(map(body, children[-1]))}</worldbody></mujoco>"
    )


def build(mechanism):
    """Our model of a drawn mechanism."""
    return compile_model(mujoco.MjModel.from_xml_string(mjcf(*mechanism)))


def random_state(model, rng, speed=1.0):
    """A configuration far from the reference one, and velocities."""
    q = model.tree.q0 + rng.normal(size=model.nq)
    for _, first in model.quaternions():
        q[first : first + 4] = unit(rng, 4)
    return q, speed * rng.normal(size=model.nv)


def random_contacts(model, rng, count):
    """Contacts world–link and link–link anywhere in the scene: link1, link2, point, axes."""
    link1 = np.where(rng.random(count) < 0.4, 0, rng.integers(0, model.nlink, count))
    link2 = rng.integers(1, model.nlink, count)
    axes = np.array([np.linalg.qr(rng.normal(size=(3, 3)))[0] for _ in range(count)])
    return link1, link2, rng.normal(size=(count, 3)), axes
