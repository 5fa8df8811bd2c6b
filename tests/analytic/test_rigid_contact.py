"""Time stepping against closed forms: inclines, collisions, bounces, the peg and the hole."""

import numpy as np
import pytest

import stickslip as ss
from stickslip.methods.rigid.formulations.registry import FORMULATIONS

G = 9.81
METHODS = tuple(name for name in FORMULATIONS if name != "relaxed")  # which is soft: test_relaxed_contact.py


def incline(degrees: float, mu: float, heading: float = 0.0) -> ss.Scene:
    """A block on a tilted plane; ``heading`` turns the slope against the contact's tangents."""
    angle = np.deg2rad(degrees)
    normal = np.array([np.sin(angle) * np.cos(heading), np.sin(angle) * np.sin(heading), np.cos(angle)])
    axis = np.cross([0, 0, 1], normal) / np.sin(angle)
    scene = ss.Scene()
    scene.add_plane(normal=normal, friction=mu)
    quat = (np.cos(angle / 2), *(np.sin(angle / 2) * axis))
    scene.add_box((0.2, 0.2, 0.04), pos=0.02 * normal, quat=quat, mass=1.0, friction=mu)
    return scene


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("degrees", [12.0, 25.0])
def test_incline(method, degrees):
    """Below the friction angle it sticks; above, it slides with g·(sin α − μ·cos α): exact along a tangent."""
    mu, angle = 0.3, np.deg2rad(degrees)
    sim = ss.Simulation(incline(degrees, mu), method=method)
    sim.step(50)
    expected = 0.0 if np.tan(angle) < mu else G * (np.sin(angle) - mu * np.cos(angle)) * 0.5
    tolerance = 1e-7 if method == "coulomb" else 1e-9  # iterative
    assert np.linalg.norm(sim.state.v[:3]) == pytest.approx(expected, abs=tolerance)


@pytest.mark.parametrize("directions", [3, 4, 7, 8, 16])
def test_friction_directions_bound_the_error(directions):
    """Whatever the heading, friction is between μ·cos(π/n) and μ, and tends to μ with n²."""
    mu, angle = 0.3, np.deg2rad(25.0)
    strengths = []
    for heading in np.linspace(0.0, 2 * np.pi, 12, endpoint=False):
        sim = ss.Simulation(incline(25.0, mu, heading), method="stewart-trinkle", directions=directions)
        normal = sim.model.shapes[0].rot[:, 2]
        down = np.array([0, 0, -1.0]) + normal * normal[2]
        down /= np.linalg.norm(down)
        sim.step(5)
        gained = sim.state.v[:3] @ down / 0.05
        strengths.append((G * np.sin(angle) - gained) / (G * np.cos(angle)))
    assert max(strengths) <= mu * (1 + 1e-9)
    assert min(strengths) >= mu * np.cos(np.pi / directions) ** 2 * (1 - 1e-9)


def test_the_circular_cone_has_no_preferred_direction():
    mu, angle = 0.3, np.deg2rad(25.0)
    for heading in (0.3, 1.1, 2.0):
        sim = ss.Simulation(incline(25.0, mu, heading), method="stewart-trinkle/fischer-newton", form="ncp")
        sim.step(20)
        assert np.linalg.norm(sim.state.v[:3]) == pytest.approx(
            G * (np.sin(angle) - mu * np.cos(angle)) * 0.2, rel=1e-5
        )


def two_bodies(friction: float, restitution: float = 0.0) -> ss.Scene:
    scene = ss.Scene(gravity=(0, 0, 0))
    material = {"friction": friction, "restitution": restitution}
    scene.add_sphere(0.1, name="one", pos=(0, 0, 0), mass=1.0, **material)
    scene.add_sphere(0.2, name="two", pos=(0.35, 0.08, 0.03), mass=3.0, **material)
    return scene


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("restitution", [0.0, 0.7])
def test_momentum_is_conserved_with_friction(method, restitution):
    sim = ss.Simulation(two_bodies(0.6, restitution), method=method)
    sim.set_state(v=[1.0, 0.2, 0, 3.0, 5.0, -2.0, -0.5, 0, 0.1, 0, 0, 7.0])
    before = sim.dynamics.momentum(sim.state.q, sim.state.v, about=np.zeros(3))
    touched = 0.0
    worst = 0.0
    for _ in range(40):
        q = sim.state.q.copy()
        sim.step(1)
        # impulses act where the bodies are at the beginning of a step: there the angular momentum is the same
        after = sim.dynamics.momentum(q, sim.state.v, about=np.zeros(3))
        start = sim.dynamics.momentum(q, sim.state.v - sim.dt * sim.acceleration, about=np.zeros(3))
        worst = max(worst, np.abs(after - start).max())
        touched = max(touched, np.abs(sim.contacts.arrays.force[: len(sim.contacts), 1:]).max(initial=0.0))
    assert touched > 1.0
    assert worst < 1e-12
    linear = sim.dynamics.momentum(sim.state.q, sim.state.v, about=np.zeros(3))[:3]
    np.testing.assert_allclose(linear, before[:3], atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("e", [0.0, 0.4, 1.0])
def test_newton_s_restitution(method, e):
    """Two spheres head on: relative velocity −e times what it was, and the bodies' velocities in closed form."""
    scene = ss.Scene(gravity=(0, 0, 0))
    for x, mass in ((0.0, 1.0), (0.35, 3.0)):
        scene.add_sphere(0.1, pos=(x, 0, 0), mass=mass, restitution=e, friction=0.3)
    sim = ss.Simulation(scene, method=method)
    sim.set_state(v=[2.0, 0, 0, 0, 0, 0, -1.0, 0, 0, 0, 0, 0])
    sim.step(20)
    common = (1.0 * 2.0 - 3.0 * 1.0) / 4.0
    expected = np.array([common - 3.0 / 4.0 * e * 3.0, common + 1.0 / 4.0 * e * 3.0])
    np.testing.assert_allclose(sim.state.v[[0, 6]], expected, atol=1e-12)


def test_a_bouncing_ball_keeps_e_squared_of_its_height_and_comes_to_rest():
    scene = ss.Scene()
    scene.add_plane(restitution=0.8)
    scene.add_sphere(0.1, pos=(0, 0, 1.1), mass=1.0, restitution=0.8)
    sim = ss.Simulation(scene, method="stewart-trinkle", dt=1e-3)
    z = []
    for _ in range(6000):
        sim.step(1)
        z.append(sim.state.q[2] - 0.1)
    z = np.array(z)
    peaks = z[1:-1][(z[1:-1] > z[:-2]) & (z[1:-1] >= z[2:])]
    assert peaks[0] == pytest.approx(0.64, rel=0.02)
    assert peaks[1] == pytest.approx(0.64**2, rel=0.03)
    assert np.abs(z[-100:]).max() < 1e-3
    assert sim.state.v[2] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_sphere_on_sphere_keeps_its_symmetry(method):
    scene = ss.Scene()
    scene.add_sphere(2.0, joint="fixed")
    scene.add_sphere(0.25, pos=(0, 0, 2.25), mass=1.0)
    sim = ss.Simulation(scene, method=method)
    sim.step(100)
    np.testing.assert_allclose(sim.state.q, [0, 0, 2.25, 1, 0, 0, 0], atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_rolling_off_a_sphere_goes_either_way_alike(method):
    ends = []
    for sign in (1.0, -1.0):
        scene = ss.Scene()
        scene.add_sphere(2.0, joint="fixed", friction=0.5)
        scene.add_sphere(0.25, pos=(sign * 0.1, 0, np.sqrt(2.25**2 - 0.01)), mass=1.0, friction=0.5)
        sim = ss.Simulation(scene, method=method)
        sim.step(100)
        ends.append(sim.state.q[:3] * [sign, 1, 1])
    assert ends[0][0] > 0.3
    np.testing.assert_allclose(*ends, atol=1e-9)


@pytest.mark.filterwarnings("ignore:peg works with groups:stickslip.errors.NotHonouredWarning")
def test_formulations_agree_on_touching_contacts():
    """Gaps of zero are the same right-hand side for Stewart–Trinkle, Anitescu–Potra and PEG."""
    ends = []
    for method in METHODS:
        sim = ss.Simulation(incline(25.0, 0.3), method=method, detector="convex")
        sim.step(1)
        ends.append(sim.state.v.copy())
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-9)
    np.testing.assert_allclose(ends[2], ends[0], rtol=0, atol=1e-14)


@pytest.mark.parametrize("ratio", [1e6, 1e-6])
def test_a_stack_of_a_million_to_one(ratio):
    """The heavy box on the light one is beyond Lemke's method in some steps; the second solver takes over."""
    scene = ss.Scene()
    scene.add_plane()
    scene.add_box((0.2, 0.2, 0.1), pos=(0, 0, 0.05), mass=1.0)
    scene.add_box((0.2, 0.2, 0.1), pos=(0, 0, 0.15), mass=ratio)
    sim = ss.Simulation(scene, method="stewart-trinkle", unconverged="fallback")
    sim.step(100)
    np.testing.assert_allclose(sim.state.q[[2, 9]], [0.05, 0.15], atol=1e-6)
    floor = sim.contacts.arrays.link1[: len(sim.contacts)] == 0
    weight = sim.contacts.arrays.force[: len(sim.contacts), 0][floor].sum()
    assert weight == pytest.approx(G * (1.0 + ratio), rel=1e-6)


def test_hundreds_of_contacts():
    scene = ss.Scene()
    scene.add_plane()
    for k in range(100):
        scene.add_box((0.1, 0.1, 0.1), pos=(0.2 * (k % 10), 0.2 * (k // 10), 0.05), mass=1.0)
    sim = ss.Simulation(scene, method="stewart-trinkle/fischer-newton", directions=4)
    sim.step(5)
    assert len(sim.contacts) == 400
    assert sim.contacts.arrays.force[:400, 0].sum() == pytest.approx(100 * G, rel=1e-6)
    assert np.abs(sim.state.v).max() < 1e-6


def test_thousands_of_contacts():
    scene = ss.Scene()
    scene.add_plane()
    for k in range(900):
        scene.add_box((0.1, 0.1, 0.1), pos=(0.2 * (k % 30), 0.2 * (k // 30), 0.05), mass=1.0)
    sim = ss.Simulation(scene, method="stewart-trinkle/pgs")
    start = sim.state.q.copy()
    sim.step(3)
    assert len(sim.contacts) == 3600
    assert sim.contacts.arrays.force[:3600, 0].sum() == pytest.approx(900 * G, rel=1e-8)
    np.testing.assert_allclose(sim.state.q, start, atol=1e-9)


def test_coincident_spheres_are_announced_and_separated():
    """No normal is best; with ``recovery_time=0`` the overlap is undone in the first step, at 2·r/dt."""
    scene = ss.Scene()
    for name in ("one", "two"):
        scene.add_sphere(0.1, pos=(0, 0, 1.0), mass=1.0, name=name)
    sim = ss.Simulation(scene, method="stewart-trinkle", recovery_time=0)
    with pytest.warns(ss.StartWarning, match="'two' 0.2 m inside 'one': it is pushed out within the first step"):
        sim.run(0.01)
    apart = sim.state.q[7:10] - sim.state.q[:3]
    assert np.linalg.norm(apart) == pytest.approx(0.2, abs=1e-9)
    np.testing.assert_allclose(sim.state.v[6:9] - sim.state.v[:3], apart / 0.01, atol=1e-6)
    np.testing.assert_allclose(sim.state.v[6:9] + sim.state.v[:3], [0, 0, -2 * G * 0.01], atol=1e-9)
    sim.step(20)
    assert np.all(np.isfinite(sim.state.q))


def test_a_body_that_is_not_convex():
    """An L stands on its long side, and carries a box where its hull would be in the way."""
    outline = np.array([(0, 0), (0.3, 0), (0.3, 0.1), (0.1, 0.1), (0.1, 0.3), (0, 0.3)])
    vertices = np.array([(x, y, z) for y in (0.0, 0.1) for x, z in outline])
    front = [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)]
    faces = front + [(a + 6, c + 6, b + 6) for a, b, c in front]
    for i in range(6):
        j = (i + 1) % 6
        faces += [(i, i + 6, j), (j, i + 6, j + 6)]
    scene = ss.Scene()
    scene.add_plane()
    scene.add_body("ell").add_mesh(vertices, faces=faces, convex="decompose", mass=1.0)
    scene.add_box((0.05, 0.05, 0.05), pos=(0.2, 0.05, 0.125), mass=0.1)
    sim = ss.Simulation(scene, method="stewart-trinkle")
    assert len(sim.model.shapes) >= 4  # plane, parts, box
    start = sim.state.q.copy()
    sim.step(100)
    np.testing.assert_allclose(sim.state.q, start, atol=1e-6)
    assert np.abs(sim.state.v).max() < 1e-8  # what the solver's residual leaves
    floor = sim.contacts.arrays.link1[: len(sim.contacts)] == 0
    weight = sim.contacts.arrays.force[: len(sim.contacts), 0][floor].sum()
    assert weight == pytest.approx(1.1 * G, rel=1e-6)


def test_a_perfect_stack_of_spheres_stands():
    sim = ss.Simulation(ss.SCENES["sphere-stack"].build(3).scene, method="stewart-trinkle/lemke")
    start = sim.state.q.copy()
    sim.step(50)
    np.testing.assert_allclose(sim.state.q, start, atol=1e-8)


def test_a_disordered_stack_of_spheres_collapses_without_penetration():
    sim = ss.Simulation(ss.SCENES["loose-sphere-stack"].build(3).scene, method="stewart-trinkle/lemke")
    radius, deepest = 0.5, 0.0
    start = sim.state.q.copy()
    for _ in range(60):
        sim.step(1)
        sim.observe()
        deepest = max(deepest, -sim.contacts.arrays.gap[: len(sim.contacts)].min(initial=0.0))
    assert deepest < 1e-4 * radius
    moved = (sim.state.q - start).reshape(-1, 7)
    assert np.abs(moved[:, :2]).max() > 0.02  # twice the disorder that it began with
    assert moved[:, 2].min() < -0.04  # the gaps of 2 cm under the upper two layers are closed


# -- the peg and the hole, Fig. 8 of Williams et al. --------------------------------------------------------------


def peg(scale: float) -> ss.Scene:
    scene = ss.Scene()
    for x, y in ((-1, 0), (1, 0), (0, 1), (0, -1)):
        scene.add_box((1, 1, 1), pos=(x, y, 0), joint="fixed")
    scene.add_box((scale, scale, scale), pos=(0, 0, 1.5), mass=1.0)
    return scene


FREE_FALL = 1.5 - G * 0.01**2 * 100 * 101 / 2
"""Semi-implicit Euler, 100 steps of 0.01 s: −3.45405."""


def test_peg_falls_through_its_hole_with_exact_geometry():
    sim = ss.Simulation(peg(0.99999), method="peg")
    sim.step(100)
    assert pytest.approx(-3.45405, abs=1e-12) == FREE_FALL
    np.testing.assert_allclose(sim.state.q, [0, 0, FREE_FALL, 1, 0, 0, 0], atol=1e-9)


def test_a_peg_too_large_rests_on_top_and_is_never_thrown_out():
    sim = ss.Simulation(peg(1.00001), method="peg")
    heights = []
    for _ in range(150):
        sim.step(1)
        heights.append(sim.state.q[2])
    assert sim.stepper.unconverged == 0
    assert np.all(np.diff(heights) < 1e-9)
    np.testing.assert_allclose(sim.state.q, [0, 0, 1.0, 1, 0, 0, 0], atol=1e-4)


@pytest.mark.filterwarnings("ignore::stickslip.errors.StickslipWarning")
def test_the_original_s_primary_has_no_solution():
    sim = ss.Simulation(peg(1.00001), method="peg", primary="smallest")
    sim.step(60)
    assert sim.stepper.unconverged > 0


def test_stewart_trinkle_with_all_anticipated_contacts_holds_the_peg_on_top():
    sim = ss.Simulation(peg(0.99999), method="stewart-trinkle", detector="peg", margin=0.1)
    sim.step(45)
    assert sim.state.q[2] == pytest.approx(1.0, abs=1e-4)
    assert np.abs(sim.state.v).max() < 1e-9


@pytest.mark.parametrize(
    "method",
    ["stewart-trinkle/pgs", "stewart-trinkle/interior-point", "stewart-trinkle/fischer-newton", "coulomb", "relaxed",
     "variational"],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::stickslip.errors.UnconvergedWarning")  # of relaxed, whose default solver is pgs
def test_a_cube_is_lifted_by_two_fingers(method):
    """The forces of the corners are not determined one by one; these spread them, so that the cube does not turn."""
    scene = ss.Scene()
    scene.add_plane(friction=0.5)
    scene.add_box((0.04, 0.04, 0.04), pos=(0, 0, 0.02), mass=0.1, friction=0.8, name="cube")
    lift = scene.add_body("lift", joint="slide", pos=(0, 0, 0.12), motor="position", kp=2000, kv=80, armature=0.1)
    lift.add_box((0.2, 0.05, 0.03), mass=0.5, collide=False)
    for name, side in (("left", 1), ("right", -1)):
        finger = lift.add_body(
            name, joint="slide", axis=(-side, 0, 0), pos=(0.05 * side, 0, -0.085), motor="position", kp=500, kv=20,
            max_force=10, range=(-0.02, 0.05),
        )  # fmt: skip
        finger.add_box((0.01, 0.04, 0.06), mass=0.05, friction=0.8)
    sim = ss.Simulation(scene, method, dt=0.01)
    for step in range(90):
        sim.set_control({"left": 0.04, "right": 0.04, "lift": 0.0025 * max(0, step - 40)})
        sim.step()
    assert sim.body("cube").pos[2] > 0.02 + 0.09
    assert abs(sim.body("cube").pos[1]) < 1e-3
    assert abs(sim.body("cube").quat[0]) > 0.9999
