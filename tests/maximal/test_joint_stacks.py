"""Several joints on one body in maximal coordinates: slides, then hinges or a ball."""

import numpy as np
import pytest

import stickslip as ss
from stickslip.dynamics.data import make_data
from stickslip.errors import InputError
from stickslip.maximal import to_bodies, to_joints
from stickslip.maximal.conversion import place_bodies
from stickslip.maximal.cut import cut
from stickslip.maximal.joints import build_joints
from stickslip.maximal.rows import body_rows, joint_errors

AXES = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1), "p": (0.6, 0.8, 0), "n": (-0.8, 0.6, 0)}
STACKS = {
    "Sx Sy": 4,
    "Sx Sy Sz": 3,
    "Sp Hz": 4,
    "Sx Hy": 4,
    "Sx Sy Hx": 3,
    "Sp Sn Hx": 3,
    "Sx Sy Sz Hx": 2,
    "Sx Sz Hx Hy": 2,
    "Sz B": 2,
    "Sx Hz Hy Hx": 2,
    "Hx Hz Hy": 3,
    "Hz Hy Hx": 3,
    "Hp Hz Hn": 3,
    "Sx Sy Sz B": 0,
    "Sx Sy Sz Hx Hy Hz": 0,
}
"""Joints, the first one next to the parent, and the number of rows that hold the rest."""


def stack(names: str, **each) -> ss.Scene:
    """A free body that carries one with these joints; ``each`` is given to every joint."""
    kinds = {"S": "slide", "H": "hinge", "B": "ball"}
    joints = "".join(
        f'<joint type="{kinds[name[0]]}" axis="{" ".join(map(str, AXES[name[1:] or "z"]))}" pos="0.1 0.05 0" '
        + " ".join(f'{key}="{value}"' for key, value in each.items())
        + "/>"
        for name in names.split()
    )
    return made(joints)


def made(joints: str) -> ss.Scene:
    return ss.Scene.from_xml(
        f"""<mujoco><worldbody><body name="p" pos="0 0 1"><freejoint/><geom type="box" size=".1 .1 .1"/>
        <body name="c" pos=".1 .2 .3" quat="1 .2 .3 .1">{joints}<geom type="box" size=".2 .1 .05"/></body></body>
        </worldbody></mujoco>"""
    )


OFFSET = '<joint type="hinge" axis="0 1 0" pos="0 0 .08"/><joint type="hinge" axis="1 0 .5" pos=".02 .1 .04"/>'


def random_state(model, rng):
    """Angles within ±1.2, which is before gimbal lock."""
    v = np.concatenate([rng.normal(size=6), rng.uniform(-1.2, 1.2, model.nv - 6)])
    q = ss.Dynamics(model).integrate(model.state().q, v)
    return q, rng.normal(size=model.nv)


def errors(model, joints, Q, V):
    kin, g = make_data(model).kin, np.zeros(len(joints.joint))
    place_bodies(Q, V, kin)
    joint_errors(joints, kin, g)
    return kin, g


@pytest.mark.parametrize("names", [*STACKS, "offset"])
def test_there_and_back_with_closed_joints(names):
    model, rng = (made(OFFSET) if names == "offset" else stack(names)).compile(), np.random.default_rng(1)
    joints, _, _ = build_joints(model)
    assert len(joints.joint) == STACKS.get(names, 4)
    for _ in range(20):
        q, v = random_state(model, rng)
        Q, V = to_bodies(model, q, v)
        back = to_joints(model, Q, V, q + 0.1)
        np.testing.assert_allclose(back[0], q, atol=1e-12)
        np.testing.assert_allclose(back[1], v, atol=1e-12)
        np.testing.assert_allclose(errors(model, joints, Q, V)[1], 0.0, atol=1e-13)


def test_rows_of_two_hinges_with_offset_are_the_derivatives_of_the_errors():
    model, rng = made(OFFSET).compile(), np.random.default_rng(2)
    joints, _, kinds = build_joints(model)
    assert kinds == ("universal with offset",)
    assert abs(joints.offset[0]) > 0.01
    bodies, Q, V = ss.Dynamics(cut(model)), rng.normal(size=14), rng.normal(size=12)  # the joint is open
    for k in (3, 10):
        Q[k : k + 4] /= np.linalg.norm(Q[k : k + 4])
    G = np.zeros((4, 12))
    body_rows(joints, errors(model, joints, Q, V)[0], G)
    ahead, behind = (errors(model, joints, bodies.integrate(Q, V, d), V)[1] for d in (1e-6, -1e-6))
    np.testing.assert_allclose(G @ V, (ahead - behind) / 2e-6, atol=1e-8)


@pytest.mark.parametrize("names", ["Sx Sz", "Hx Hz Hy", "Sx Sy Sz Hx Hy Hz", "offset"])
def test_the_motion_is_that_of_joint_coordinates(names):
    """Springs, dampers and rotors included; the difference is of first order in dt."""
    each = {"stiffness": 5, "damping": 0.2, "armature": 0.01}
    scene = made(OFFSET.replace("/>", ' stiffness="5" damping="0.2" armature="0.01"/>'))
    scene = scene if names == "offset" else stack(names, **each)
    model = scene.compile()
    v = np.random.default_rng(3).normal(size=model.nv)
    exact = ss.Simulation(model, "rk4", dt=5e-4)
    far = []
    exact.set_state(v=v)
    exact.run(0.2)
    for dt in (2e-3, 1e-3):
        sim = ss.Simulation(model, "variational", dt=dt)
        sim.set_state(v=v)
        sim.run(0.2)
        far.append(np.abs(ss.Dynamics(model).difference(exact.state.q, sim.state.q)).max())
    assert far[1] < 5e-3
    assert far[1] < 0.6 * far[0]


@pytest.mark.parametrize("names", ["Hx Hp", "Hx Sy", "Sx Hp", "Hx Hp Hz", "Hx Hz Hx"])
def test_other_stacks_are_refused_by_name(names):
    with pytest.raises(InputError, match="link 'c': maximal coordinates expected slides at right angles") as caught:
        build_joints(stack(names, armature=0.01).compile())
    assert len(str(caught.value)) < 300


def test_gradients_of_three_hinges_are_refused_by_name():
    sim = ss.Simulation(stack("Hx Hz Hy"), "variational", dt=1e-3)
    sim.step()
    with pytest.raises(InputError, match="at most two hinges"):
        sim.stepper.gradient()
