"""Coulomb's formulation in the loop: overlaps, restitution, joint limits, every pair of shapes, and the policies."""

import itertools

import numpy as np
import pytest

import stickslip as ss
from stickslip.errors import InputError, UnconvergedError, UnconvergedWarning

G = 9.81


def ball(height: float, **material) -> ss.Scene:
    scene = ss.Scene()
    scene.add_plane(**material)
    scene.add_sphere(0.1, pos=(0, 0, height), mass=1.0, **material)
    return scene


def stack(masses, gap: float = 0.0, friction: float = 0.5) -> ss.Scene:
    scene = ss.Scene()
    scene.add_plane(friction=friction)
    for k, mass in enumerate(masses):
        scene.add_box((0.2, 0.2, 0.2), pos=(0, 0, 0.1 + (0.2 + gap) * k), mass=mass, friction=friction)
    return scene


def simulate(scene, solver="interior-point", **options):
    return ss.Simulation(scene, method=f"coulomb/{solver}", **{"unconverged": "raise", **options})


# -- the law --------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::stickslip.StartWarning")
@pytest.mark.parametrize("feedback", [0.0, 0.2, 1.0])
def test_a_part_of_an_overlap_is_undone_in_a_step(feedback):
    depth, dt = 5e-3, 0.01
    sim = simulate(ball(0.1 - depth), dt=dt, feedback=feedback, recovery_time=0)
    sim.step(1)
    assert sim.state.q[2] == pytest.approx(0.1 - depth + feedback * depth, abs=1e-9)
    assert sim.state.v[2] == pytest.approx(feedback * depth / dt, abs=1e-7)


@pytest.mark.parametrize("feedback", [-0.1, 1.5, np.nan, "some"])
def test_feedback_is_a_part(feedback):
    with pytest.raises(InputError, match="feedback: expected a number from 0 to 1"):
        simulate(ball(0.2), feedback=feedback)


def test_restitution_above_the_rest_speed():
    """Dropped from 0.2 m with e = 0.5: every bounce half as fast, until it stays down."""
    sim = simulate(ball(0.3, restitution=0.5), dt=1e-3)
    peaks, before = [], 0.0
    for _ in range(900):
        sim.step(1)
        if before < -0.1 and sim.state.v[2] > 0.0:
            peaks.append(sim.state.v[2] / -before)
        before = sim.state.v[2]
    assert len(peaks) >= 3
    np.testing.assert_allclose(peaks, 0.5, rtol=0.02)
    sim.run(0.5)
    assert abs(sim.state.v[2]) < 1e-8
    assert sim.state.q[2] == pytest.approx(0.1, abs=1e-6)


def test_slow_contacts_do_not_bounce():
    fast, slow = (simulate(ball(0.1001, restitution=1.0), dt=1e-3, rest_speed=speed) for speed in (0.0, 10.0))
    for sim in (fast, slow):
        sim.set_state(v=[0, 0, -1.0, 0, 0, 0])
        sim.step(1)
    assert fast.state.v[2] == pytest.approx(1.0, rel=1e-6)
    assert slow.state.v[2] == pytest.approx(-0.1, rel=1e-6)  # as far as the floor, and no farther
    slow.step(1)
    assert abs(slow.state.v[2]) < 1e-8


@pytest.mark.parametrize("masses", [(1.0,) * 10, (1e-3, 1e3), (1e3, 1e-3)])
def test_stacks_stand(masses):
    sim = simulate(stack(masses))
    start = sim.state.q.copy()
    for _ in range(50):
        sim.step(1)
        assert sim.result.residual <= 1e-8
    np.testing.assert_allclose(sim.state.q, start, atol=1e-6)
    assert sim.contacts.arrays.force[:4, 0].sum() == pytest.approx(G * sum(masses), rel=1e-6)


def test_joint_limits_are_contacts_without_friction():
    scene = ss.Scene.from_xml(
        """<mujoco><compiler angle="radian"/><worldbody><body pos="0 0 1">
        <joint name="hinge" type="hinge" axis="0 1 0" limited="true" range="-0.5 0.5"/>
        <geom type="capsule" size="0.02" fromto="0 0 0 0.3 0 0" mass="1" contype="0" conaffinity="0"/>
        </body></worldbody></mujoco>"""
    )
    sim = simulate(scene)
    sim.run(1.0)
    assert sim.state.q[0] == pytest.approx(0.5, abs=1e-7)  # fell, and is held there
    assert abs(sim.state.v[0]) < 1e-7
    problem = sim.problem
    assert list(problem.friction) == [0.0]
    np.testing.assert_allclose(sim.result.z[1:], 0.0, atol=1e-12)


SHAPES = {
    "sphere": lambda scene, pos: scene.add_sphere(0.1, pos=pos, mass=1.0),
    "box": lambda scene, pos: scene.add_box((0.2, 0.2, 0.2), pos=pos, mass=1.0),
    "capsule": lambda scene, pos: scene.add_capsule(0.1, 0.1, pos=pos, quat=(0.7071, 0.7071, 0, 0), mass=1.0),
    "cylinder": lambda scene, pos: scene.add_cylinder(0.1, 0.2, pos=pos, mass=1.0),
}


@pytest.mark.parametrize(("lower", "upper"), list(itertools.combinations_with_replacement(SHAPES, 2)))
def test_every_pair_of_shapes(lower, upper):
    """One lands on the other, off its middle; every step is solved, and nothing sinks in."""
    scene = ss.Scene()
    scene.add_plane(friction=0.5)
    SHAPES[lower](scene, (0, 0, 0.1))
    SHAPES[upper](scene, (0.01, 0.02, 0.32))
    sim = simulate(scene, dt=5e-3)
    deepest = 0.0
    for _ in range(40):
        sim.step(1)
        n = len(sim.contacts)
        deepest = min(deepest, sim.contacts.arrays.gap[:n].min(initial=0.0))
    assert n > 0
    assert deepest > -5e-3
    assert np.all(np.isfinite(sim.state.q))


# -- where a solver does not meet its tolerance ---------------------------------------------------------------------

UNSOLVED = {"solver_options": {"max_iterations": 1, "tolerance": 1e-12}, "warm_start": False}


@pytest.mark.parametrize("method", ["coulomb", "relaxed"])
def test_unconverged_steps_are_said(method):
    sim = ss.Simulation(stack((1e-3, 1e3)), method=f"{method}/pgs", **UNSOLVED)
    with pytest.warns(UnconvergedWarning, match=f"{method}: the solver of 3 of 3 steps"):
        sim.step(3)
    assert not sim.result.success
    assert sim.stepper.unconverged == 3


@pytest.mark.parametrize("method", ["coulomb", "relaxed"])
def test_unconverged_steps_are_refused(method):
    sim = ss.Simulation(stack((1e-3, 1e3)), method=f"{method}/pgs", unconverged="raise", **UNSOLVED)
    with pytest.raises(UnconvergedError, match=r"natural residual .* with n = 24, expected at most 1e-12"):
        sim.step(1)


@pytest.mark.parametrize("method", ["coulomb", "relaxed"])
def test_unconverged_steps_fall_back_to_the_interior_point(method):
    """The default second solver solves both kinds; a warning would be an error."""
    options = {**UNSOLVED, "solver_options": {"max_iterations": 1}}
    sim = ss.Simulation(stack((1e-3, 1e3)), method=f"{method}/pgs", unconverged="fallback", **options)
    alone = ss.Simulation(stack((1e-3, 1e3)), method=f"{method}/interior-point", unconverged="raise")
    for each in (sim, alone):
        each.step(20)
        assert each.result.residual <= 1e-8
    assert sim.stepper.unconverged == 0
    np.testing.assert_allclose(sim.state.q, alone.state.q, atol=1e-6)


def test_polygonal_forms_stay_the_default_of_the_interior_point():
    for method, form in (("stewart-trinkle", "reduced"), ("anitescu-potra", "reduced"), ("peg", "reduced")):
        sim = ss.Simulation(ball(0.2), method=f"{method}/interior-point")
        assert sim.stepper.formulation.form == form


# -- contacts from users --------------------------------------------------------------------------------------------


def floor(kin, contacts):
    """A detector of one's own, for a ball of 0.1 m over z = 0."""
    contacts.clear()
    centre = kin.pos[1]
    contacts.add(0, 1, centre - [0, 0, 0.1], (0, 0, 1), centre[2] - 0.1, pair=0, friction=0.5)


def spoiled(change):
    def detector(kin, contacts):
        floor(kin, contacts)
        change(contacts.arrays)

    return detector


def test_a_detector_of_ones_own():
    sim = simulate(ball(0.1), detector=floor)
    sim.step(10)
    assert sim.state.q[2] == pytest.approx(0.1, abs=1e-7)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c.axes[0].__imul__(1.01), "contact 0: expected axes .* of unit length at right angles"),
        (lambda c: c.axes[0, 1].__setitem__(slice(None), c.axes[0, 0]), "contact 0: expected axes"),
        (lambda c: c.axes[0].fill(np.nan), "contact 0: expected axes"),
        (lambda c: c.gap.__setitem__(0, np.inf), "contact 0: expected a finite point and gap"),
        (lambda c: c.material.__setitem__((0, 0), -0.5), "contact 0: expected a friction coefficient ≥ 0, got -0.5"),
    ],
)
@pytest.mark.parametrize("place", ["detector", "collision"])
def test_contacts_that_are_none(change, message, place):
    find = spoiled(change)
    option = (
        {"detector": find} if place == "detector" else {"collision": lambda sim: find(sim.contacts.kin, sim.contacts)}
    )
    sim = simulate(ball(0.1), **option)
    with pytest.raises(InputError, match=message):
        sim.step(1)


def test_normals_that_are_not_units_are_refused_where_they_are_added():
    def find(kin, contacts):
        contacts.clear()
        contacts.add(0, 1, (0, 0, 0), (0, 0, 2.0), 0.0, pair=0)

    with pytest.raises(InputError, match="contact normal: expected a unit vector"):
        simulate(ball(0.1), detector=find).step(1)
