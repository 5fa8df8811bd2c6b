"""Options of the variational stepper: detectors, warm starts, relaxation, tolerances, facets; iterates stay inside."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import stickslip as ss
from stickslip.collision.detector import Detector
from stickslip.errors import InputError
from stickslip.methods.variational.equations import move_to
from stickslip.methods.variational.interior_point import CONVERGED, solve_step
from stickslip.methods.variational.variational_stepping import start
from stickslip.model.builders import add_chain
from stickslip.scenes import SCENES

DT, HALF = 0.01, 0.25
CORNERS = np.array(np.meshgrid(*[(-HALF, HALF)] * 3)).reshape(3, -1).T
REST, SLIDING = np.zeros(6), np.array([2.0, 1.0, 0, 0, 0, 0])
both_cones = pytest.mark.parametrize("cone", ["pyramid", "circular"])


def cube_scene(height=HALF):
    scene = ss.Scene()
    scene.add_plane(friction=0.3)
    scene.add_box((2 * HALF,) * 3, mass=1.0, pos=(0, 0, height))
    return scene


def cube(height=HALF, v=None, cone="pyramid", **options):
    sim = ss.Simulation(cube_scene(height), f"variational/{cone}", dt=DT, **({"unconverged": "raise"} | options))
    return sim if v is None else begun(sim, v)


def begun(sim, v):
    sim.set_state(v=v)
    return sim


def chain(links=5, v=0.3, cone="pyramid", **options):
    scene = ss.Scene()
    scene.add_plane(friction=0.2)
    add_chain(scene, links, pos=(0, 0, 0.02))
    sim = ss.Simulation(scene, f"variational/{cone}", dt=DT, **({"unconverged": "raise"} | options))
    sim.set_state(v=v * np.random.default_rng(0).normal(size=sim.model.nv))
    return sim


# -- who finds contacts ----------------------------------------------------------------------------------------


def corners_on_floor(kin, contacts, world_first=True):
    """The corners of link 1 over the plane z = 0, in either order."""
    contacts.clear()
    for k, corner in enumerate(kin.pos[1] + CORNERS @ kin.rot[1].T):
        if corner[2] > 0.1:
            continue
        if world_first:
            contacts.add(0, 1, corner, (0, 0, 1), corner[2], pair=k, friction=0.3)
        else:
            contacts.add(1, 0, corner * (1, 1, 0), (0, 0, -1), corner[2], pair=k, friction=0.3)


class Corners(Detector):
    margin = 0.1

    def find(self, kin, contacts):
        corners_on_floor(kin, contacts, world_first=False)


@both_cones
@pytest.mark.parametrize("v", [REST, SLIDING], ids=["rest", "sliding"])
def test_the_order_of_bodies_in_a_contact_does_not_matter(cone, v):
    usual = cube(v=v, cone=cone)
    usual.step(60)
    ways = {
        "function": {"detector": lambda kin, contacts: corners_on_floor(kin, contacts, world_first=False)},
        "detector": {"detector": Corners()},
        "stage": {"collision": lambda sim: corners_on_floor(sim.kinematics, sim.contacts, world_first=False)},
    }
    for name, options in ways.items():
        sim = cube(v=v, cone=cone, **options)
        sim.step(60)
        np.testing.assert_allclose(sim.state.q, usual.state.q, atol=1e-5, err_msg=name)
        np.testing.assert_allclose(sim.state.v, usual.state.v, atol=1e-5, err_msg=name)
        sim.observe()
        assert sim.contacts.arrays.force[: len(sim.contacts), 0].sum() == pytest.approx(9.81, abs=1e-4)


@both_cones
def test_a_collision_function_gives_the_compiled_motion(cone):
    """The same points, found in Python: a tumbling cube's landing, to the last digits."""
    v = [1.0, 0.5, 0, 1.0, 2.0, 0.3]
    usual, own = (
        cube(0.5, v, cone, tolerance=1e-10, **options)
        for options in ({}, {"collision": lambda sim: sim.stepper.detector.find(sim.kinematics, sim.contacts)})
    )
    margin = 0.5
    for sim in (usual, own):
        sim.stepper.search.automatic, sim.stepper.detector.margin = False, margin
    for _ in range(40):
        usual.step()
        own.step()
        np.testing.assert_allclose(own.state.q, usual.state.q, atol=1e-9)


def ball(**options):
    scene = ss.Scene()
    scene.add_plane(friction=0.3)
    scene.add_sphere(0.1, mass=1.0, pos=(0, 0, 0.13), friction=0.3)
    sim = ss.Simulation(scene, "variational/circular", dt=DT, unconverged="raise", **options)
    return begun(sim, [2.0, 0.5, 0, 0, 0, 0])


@pytest.mark.parametrize(
    ("build", "options"),
    [
        (ball, {"detector": "convex", "margin": 0.3}),
        (lambda **options: cube(v=SLIDING, **options), {"detector": "mujoco"}),
        (lambda **options: cube(v=SLIDING, **options), {"margin": 0.6}),
    ],
    ids=["convex-margin", "mujoco", "margin"],
)
def test_other_detectors_and_margins(build, options):
    usual, other = build(), build(**options)
    for sim in (usual, other):
        sim.step(60)
    np.testing.assert_allclose(other.state.q, usual.state.q, atol=1e-5)
    np.testing.assert_allclose(other.state.v, usual.state.v, atol=1e-5)


# -- numbers of the solver -------------------------------------------------------------------------------------


@both_cones
@pytest.mark.parametrize("build", [cube, chain])
@pytest.mark.parametrize("option", ["warm_start", "predictor"])
def test_how_a_step_is_solved_does_not_change_it(build, cone, option):
    usual, other = (build(cone=cone, tolerance=1e-10, **options) for options in ({}, {option: False}))
    for sim in (usual, other):
        sim.step(30)
    np.testing.assert_allclose(other.state.q, usual.state.q, atol=1e-6)
    np.testing.assert_allclose(other.state.v, usual.state.v, atol=1e-6)


@both_cones
@pytest.mark.parametrize("relaxation", [1e-4, 1e-7])
def test_a_relaxed_ball_floats(cone, relaxation):
    """gap · force is the relaxation."""
    scene = ss.Scene()
    scene.add_plane(friction=0.3)
    scene.add_sphere(0.1, mass=1.0, pos=(0, 0, 0.1 + relaxation / 9.81))
    sim = ss.Simulation(scene, f"variational/{cone}", dt=DT, relaxation=relaxation, unconverged="raise")
    sim.step(50)
    assert (sim.state.q[2] - 0.1) * 9.81 == pytest.approx(relaxation, rel=0.1)
    assert np.abs(sim.state.v).max() < 1e-4


@both_cones
@pytest.mark.parametrize("build", [cube, chain])
def test_the_smallest_tolerance_is_reached(build, cone):
    sim = build(cone=cone, tolerance=1e-12)
    for _ in range(30):
        sim.step()
        assert sim.stepper.residual <= 1e-12
    assert sim.stepper.unconverged == 0


@pytest.mark.parametrize("facets", [4, 5, 8, 16])
def test_any_number_of_facets(facets):
    """c_f·g·dt less along the first tangent, where there is a facet; a cube at 2 m/s."""
    sim = cube(v=[2.0, 0, 0, 0, 0, 0], facets=facets)
    sim.step(30)
    lost = 2.0 - sim.state.v[0]
    assert np.cos(np.pi / facets) ** (facets % 2) * 0.3 * 9.81 * 0.3 <= lost + 1e-6 <= 0.3 * 9.81 * 0.3 + 2e-6
    assert np.shape(sim.stepper.touch.D) == (facets, 2)


BAD = {
    "tolerance": (1e-13, 0.1, -1.0, np.nan, "small", True),
    "facets": (3, 4.0, True, "four"),
    "relaxation": (-1e-9, np.nan, np.inf, "some"),
    "iterations": (0, -1, 1.5, True, "many"),
    "warm_start": (1, "yes", None),
    "predictor": (0, "no", None),
    "extra_joints": (3, None),
    "margin": (-0.1, np.nan, "far"),
    "detector": ("nothing", 3),
    "unconverged": ("ignore", 1, None),
}


@pytest.mark.parametrize(("option", "value"), [(k, v) for k, values in BAD.items() for v in values], ids=str)
def test_bad_options_are_refused_by_name(option, value):
    with pytest.raises(InputError, match=option):
        cube(**{option: value})


def test_options_that_contradict_each_other():
    with pytest.raises(InputError, match="facets"):
        cube(cone="circular", facets=8)
    with pytest.raises(InputError, match="margin"):
        cube(detector=lambda kin, contacts: contacts.clear(), margin=0.1)
    with pytest.raises(InputError, match="detector, margin"):
        cube(cone="none", margin=0.1)
    with pytest.raises(InputError, match="extra joint"):
        cube(extra_joints=["weld"])
    with pytest.raises(InputError, match=r"extra.joint"):
        cube(extra_joints="weld")


# -- what holds in every step ----------------------------------------------------------------------------------


def inside(stepper, cone):
    """Every slack and multiplier strictly positive, friction within its cone."""
    cones, points, n = stepper.touch.cones, stepper.touch.points, int(stepper.touch.points.found[0])
    rubs = points.friction[:n] > 0.0
    positive = [cones.s[:n], cones.gamma[:n], cones.psi[:n][rubs], cones.room[:n][rubs]]
    if cone == "pyramid":
        positive += [cones.beta[:n][rubs].ravel(), cones.eta[:n][rubs].ravel()]
    nodes, motion = stepper.mechanism.nodes, stepper.motion
    places = stepper.mechanism.first[nodes.limit_node] + nodes.limit_place
    positive += [motion.slack, motion.lam[places]]
    return all((part > 0.0).all() for part in positive)


def iterates(sim):
    """The iterates of the step at hand: solved from the same start with 1, 2, 3, … iterations."""
    stepper = sim.stepper
    stepper._begin(sim.state, sim.inputs)
    stepper._detect()
    stepper._formulate()
    s, report = stepper, np.zeros(6)
    nu, lam = s.motion.nu.copy(), s.motion.lam.copy()
    for warm in (True, False):
        for most in range(1, 60):
            s.motion.nu[:], s.motion.lam[:] = nu, lam if warm else 0.0
            move_to(s.mechanism, s.motion, s.rows, s.touch, s.dt)
            start(s.mechanism, s.motion, s.rows, s.touch, s._memory, warm, s.dt)
            yield 0
            settings = s.settings._replace(iterations=most)
            status = solve_step(
                s.mechanism, s.motion, s.rows, s.joint_step, s.touch, s.linear, s._kept, settings, report
            )
            yield most
            if status == CONVERGED:
                break
        assert status == CONVERGED
    s.motion.nu[:], s.motion.lam[:] = nu, lam


def landing(cone):
    q = np.array([0, 0, 0.5, *np.roll(Rotation.from_rotvec([0.3, 0.2, 0.1]).as_quat(), 1)])
    sim = cube(0.5, cone=cone)
    sim.set_state(q, [1.0, 0.5, -1.0, 3, 4, 1])
    return sim


def solo12(cone):
    sim = ss.Simulation(SCENES["solo12-stand"].build().scene, f"variational/{cone}", dt=DT)
    sim.set_state(v=0.2 * np.random.default_rng(0).normal(size=sim.model.nv))
    return sim


CASES = {
    "landing": (landing, 40),
    "sliding": (lambda cone: cube(v=SLIDING, cone=cone), 20),
    "solo12": (solo12, 10),
}


@both_cones
@pytest.mark.parametrize("case", CASES)
def test_every_iterate_is_strictly_inside(case, cone):
    build, steps = CASES[case]
    sim, seen = build(cone), 0
    for _ in range(steps):
        for _ in iterates(sim):
            assert inside(sim.stepper, cone)
            seen += 1
        sim.step()
    assert seen > 5 * steps


@pytest.mark.parametrize("case", CASES)
def test_friction_is_within_the_round_cone(case):
    """|β| ≤ c_f·γ to the tolerance [N], after every step."""
    build, steps = CASES[case]
    sim = build("circular")
    for _ in range(steps):
        sim.step()
        touch = sim.stepper.touch
        n = int(touch.points.found[0])
        bound = touch.points.friction[:n] * touch.cones.gamma[:n]
        assert (np.linalg.norm(touch.cones.beta[:n, :2], axis=1) - bound).max(
            initial=0.0
        ) <= sim.stepper.settings.tolerance
