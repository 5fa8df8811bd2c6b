"""The Jacobian of an implicit step on every kind of pair, fixed and moving, in every phase of contact."""

import itertools

import numpy as np
import pytest
from end_of_step import TWO_TREES, Problem, frame, on_plane, shape, stepper_for

import stickslip as ss
from stickslip.collision.contacts import ON_BOX, contact_velocities
from stickslip.dynamics import Dynamics
from stickslip.methods.implicit_euler.spring_damper_derivatives import RATES
from stickslip.methods.soft.viscoelastic import detect, update_kinematics
from stickslip.model.compile import rotation

HALF = np.array([0.3, 0.2, 0.1])
STIFFNESS, DAMPING, DT = 1e4, 100.0, 2e-3
REGIONS = {
    "face": (0.1, -0.05, 1.0),
    "edge": (-1.0, 0.05, 0.7),
    "other edge": (0.1, 0.6, -0.9),
    "corner": (0.7, -0.5, 0.9),
}
"""The sphere's centre in box axes: beyond the box along the numbers that exceed a half edge, in this proportion."""
RADIUS = {"point inside": 0.0, "inside": 0.002}
KINDS = ["plane-sphere", "plane-point", "plane-box", "sphere-sphere", "sphere-point", "point-sphere"]
KINDS += [f"box-sphere {region}" for region in (*REGIONS, *RADIUS)]
ON_FIXED = [f"box on a fixed sphere, {region}" for region in (*REGIONS, *RADIUS)]
PHASES = {"stick": 500.0, "slip": 0.02, "begins to stick": 500.0, "begins to slip": 0.02, "opens": 0.3, "apart": 0.3}
LINKS = [(0, 1), (0, 3), (1, 4), (4, 3), (1, 3), (3, 1)]


def cases(kinds):
    """All but those that cannot be: what is inside is not apart."""
    return [(kind, phase) for kind in kinds for phase in PHASES if not ("inside" in kind and phase == "apart")]


def unit(x):
    return np.array(x) / np.linalg.norm(x)


def in_box(where, depth, radius):
    """The centre of a sphere in box axes that is ``depth`` inside a box; if "inside", with its centre."""
    if where in RADIUS:
        return np.array([0.1, 0.05, HALF[2] - depth + radius])
    x = np.array(REGIONS[where])
    beyond = np.where(np.abs(x) > HALF, x, 0.0)
    return np.where(beyond == 0.0, x, np.sign(x) * HALF) + unit(beyond) * (radius - depth)


def shapes_of(kind, links, poses, depth, friction, rng):
    """Shapes of one contact of the kind between two links where they are, at a random place and direction."""
    first, second = links
    R = [rotation(pose[3:]) for pose in poses]
    center = 0.1 * rng.normal(size=3)
    at = poses[second, :3] + R[second] @ center

    def seen_from_first(x):
        return R[first].T @ (x - poses[first, :3])

    normal = unit(rng.normal(size=3))
    material = {"friction": friction, "stiffness": STIFFNESS, "damping": DAMPING, "along": (0.7, 1.6)}
    if kind == "plane-box":  # one corner deeper than the others
        half, turn = np.array([0.02, 0.03, 0.01]), rotation(unit([1.0, 0.03, 0.02, 0.0])) @ frame(normal)
        low = min(normal @ turn @ (half * s) for s in np.array(list(itertools.product((-1, 1), repeat=3))))
        origin = seen_from_first(at + (low + depth) * normal)
        plane = shape("plane", first, pos=origin, rot=R[first].T @ frame(normal), **material)
        return plane, shape("box", second, pos=center, rot=R[second].T @ turn, size=half, **material)
    if kind.startswith("plane"):
        radius = 0.2 if kind == "plane-sphere" else 0.0
        origin = seen_from_first(at - (radius - depth) * normal + np.cross(normal, rng.normal(size=3)))
        return on_plane((first, origin, R[first].T @ normal, second, center, radius), **material)
    axes = rotation(unit(rng.normal(size=4)))
    if kind.startswith("box"):
        on, ball = (second, first) if kind.startswith("box on") else (first, second)
        where = kind.rpartition(", ")[2] if kind.startswith("box on") else kind.partition(" ")[2]
        radius = RADIUS.get(where, 0.2)
        x = in_box(where, depth, radius)
        place, centre = (center, seen_from_first(at)) if on == second else (seen_from_first(at), center)
        body = shape("box", on, pos=place - axes.T @ x, rot=axes.T, size=HALF, **material)
        return body, shape("sphere" if radius else "point", ball, pos=centre, size=(radius,), **material)
    one, other = {"sphere-sphere": (0.3, 0.2), "sphere-point": (0.3, 0.0), "point-sphere": (0.0, 0.2)}[kind]
    places = (seen_from_first(at - (one + other - depth) * normal), center)
    kinds = ["sphere" if radius else "point" for radius in (one, other)]
    return tuple(
        shape(k, link, pos=p, size=(r,), **material)
        for k, link, p, r in zip(kinds, links, places, (one, other), strict=True)
    )


def with_normal_velocity(stepper, q, v, wanted):
    """v changed as little as possible so that the contact opens at ``wanted`` [m/s] on average."""
    c, speeds = stepper.contacts.arrays, []
    for e in np.eye(len(v)):
        update_kinematics(stepper.world, stepper.work, q, e)
        assert detect(stepper.world, stepper.work, c) == 0
        contact_velocities(stepper.work.kin, c)
        speeds.append(c.velocity[: c.found[0], 0].mean())
    row = np.array(speeds)
    return v + row * (wanted - row @ v) / (row @ row)


def check(kind, links, phase, seed, rate):
    model, rng = ss.Scene.from_xml(TWO_TREES).compile(), np.random.default_rng(seed)
    dyn = Dynamics(model)
    q, v = dyn.integrate(model.state().q, 0.5 * rng.normal(size=model.nv)), 3.0 * rng.normal(size=model.nv)
    depth = -0.02 if phase == "apart" else 0.005
    stepper = stepper_for(model, DT, shapes_of(kind, links, dyn.poses(q), depth, PHASES[phase], rng), damper_rate=rate)
    if phase != "apart":
        closing = -0.1 if rate == "mean" else -1.5  # within the step the normal turns, and the rate at its end grows
        v = with_normal_velocity(stepper, q, v, 1.0 if phase == "opens" else closing)
    stepper.anchors.pair[:] = 0
    problem = Problem(stepper, q, v)
    if phase.startswith("begins"):  # as if the contact had been open when the step began
        stepper.anchors.pair[:] = 0
        stepper.start.gap[:] = 0.0
    elif phase != "apart":  # as if there had been slip and rolling before
        assert np.any(stepper.anchors.pair)
        stepper.anchors.anchor[:] += 2e-3 * rng.normal(size=stepper.anchors.anchor.shape)
    v_end = v + 0.02 * rng.normal(size=model.nv)
    force, used = problem.contacts(v_end)
    if phase in ("opens", "apart"):
        assert len(force) <= (0 if phase == "apart" else np.count_nonzero(stepper.anchors.pair))
        assert not np.any(force)
    else:
        assert np.all(force > 1.0)
        np.testing.assert_allclose(used, 1.0) if "slip" in phase else np.testing.assert_array_less(used, 0.95)
    assert problem.jacobian_error(v_end) < 1e-7
    return stepper.contacts.arrays


@pytest.mark.parametrize(("kind", "phase"), cases(KINDS))
def test_jacobian_between_links(kind, phase):
    """On the world, on another tree, on an ancestor and on a descendant; dampers by the mean rate and by that at the
    end in turn, so that every place of body 1 meets both in some phase."""
    for seed, links in enumerate(LINKS):
        contacts = check(kind, links, phase, seed, RATES[(seed + list(PHASES).index(phase)) % 2])
        if phase != "apart":
            curved = not ("plane" in kind or "face" in kind or "inside" in kind)
            assert (contacts.curvature[0, 0] > 0.0) == curved
            assert np.any(contacts.curvature[0, 1:] != 0.0) == ("edge" in kind)


@pytest.mark.parametrize(("kind", "phase"), cases(ON_FIXED))
def test_jacobian_of_boxes_on_a_fixed_sphere(kind, phase):
    for seed, links in enumerate([(0, 1), (0, 3), (0, 4)]):
        for rate in RATES:
            contacts = check(kind, links, phase, seed, rate)
            if phase != "apart":
                assert contacts.rolling[0] == ON_BOX
