"""Contact and friction of the variational method: textbook motions, on any tilt, between bodies, beside Coulomb's."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import stickslip as ss
from stickslip.methods.variational.discrete_rotation import discrete_energy, world_momentum

DT, G = 0.01, 9.81
LEVEL, TILTED = Rotation.identity(), Rotation.from_rotvec([0.5, -0.4, 0.0])
both_cones = pytest.mark.parametrize("cone", ["pyramid", "circular"])
any_tilt = pytest.mark.parametrize("tilt", [LEVEL, TILTED], ids=["level", "tilted"])


def quat(rotation):
    return np.roll(rotation.as_quat(), 1)


def floor(friction, tilt=LEVEL):
    """A scene seen from axes that are turned by ``tilt``: gravity and the floor together."""
    scene = ss.Scene(gravity=tilt.apply([0, 0, -G]))
    scene.add_plane(normal=tilt.apply([0, 0, 1]), friction=friction)
    return scene


def add_cube(scene, height=0.25, tilt=LEVEL, turn=LEVEL, **options):
    return scene.add_box((0.5, 0.5, 0.5), mass=1.0, pos=tilt.apply([0, 0, height]), quat=quat(tilt * turn), **options)


def simulate(scene, cone="pyramid", v=None, dt=DT, **options):
    options.setdefault("unconverged", "raise")
    sim = ss.Simulation(scene, method=f"variational/{cone}", dt=dt, **options)
    if v is not None:
        sim.state.v[: len(v)] = v
    return sim


def energy(sim):
    stepper = sim.stepper
    motion = stepper.motion
    return sum(discrete_energy(stepper.mechanism.bodies, stepper.forces.gravity, motion.pose, motion.nu, sim.dt))


def corners(q, half=0.25):
    """(8, 3) of a cube."""
    signs = np.array(np.meshgrid(*[(-half, half)] * 3)).reshape(3, -1).T
    return q[:3] + Rotation.from_quat(np.roll(q[3:7], -1)).apply(signs)


@both_cones
@any_tilt
def test_a_dropped_cube_rests_and_nothing_goes_below_the_floor(cone, tilt):
    scene = floor(0.3, tilt)
    add_cube(scene, 0.6, tilt)
    sim, lowest = simulate(scene, cone), np.inf
    for _ in range(80):
        sim.step()
        lowest = min(lowest, (corners(sim.state.q) @ tilt.apply([0, 0, 1])).min())
    assert lowest >= -1e-9
    np.testing.assert_allclose(sim.state.q[:3], tilt.apply([0, 0, 0.25]), atol=1e-6)
    assert np.abs(sim.state.v).max() < 1e-6


@both_cones
def test_a_tumbling_cube_stays_above_the_floor_and_comes_to_rest(cone):
    scene = floor(0.3)
    add_cube(scene, 0.6, turn=Rotation.from_rotvec([0.3, 0.2, 0.1]))
    sim, lowest = simulate(scene, cone, v=[1.0, 0.5, 0, 3, 4, 1]), np.inf
    for _ in range(200):
        sim.step()
        lowest = min(lowest, corners(sim.state.q)[:, 2].min())
    assert lowest >= -1e-9
    assert sim.state.q[2] == pytest.approx(0.25, abs=2e-6)
    assert np.abs(sim.state.v).max() < 1e-5


@both_cones
@any_tilt
def test_a_sliding_cube_loses_speed_and_presses_on_its_front(cone, tilt):
    scene = floor(0.3, tilt)
    add_cube(scene, tilt=tilt)
    sim = simulate(scene, cone, v=tilt.apply([2.0, 0, 0]))
    sim.step(30)
    v = tilt.inv().apply(sim.state.v[:3])
    np.testing.assert_allclose(v, [2.0 - 0.3 * G * 0.3, 0, 0], atol=1e-5)
    contacts = sim.stepper.contacts.arrays
    n = contacts.found[0]
    along, load = tilt.inv().apply(contacts.point[:n])[:, 0], contacts.force[:n, 0]
    front = along > along.mean()
    assert n == 4
    assert load.sum() == pytest.approx(G, abs=1e-5)
    assert load[front].sum() - load[~front].sum() == pytest.approx(2 * 0.3 * G * 0.25 / 0.5, abs=1e-3)


@any_tilt
def test_four_facets_stop_one_direction_after_the_other(tilt):
    """c_f = 0.2, v₀ = (2, 1): all friction is along x until v_x = v_y = 1, then shared: stop at 1.529 s."""
    scene = floor(0.2, tilt)
    add_cube(scene, tilt=tilt)
    sim, velocities = simulate(scene, v=tilt.apply([2.0, 1.0, 0.0])), []
    for _ in range(160):
        sim.step()
        velocities.append(tilt.inv().apply(sim.state.v[:3]))
    v = np.array(velocities)
    times = DT * np.arange(1, len(v) + 1)
    shared, stop = 1.0 / (0.2 * G), 3.0 / (0.2 * G)
    np.testing.assert_allclose(v[times < shared, 1], 1.0, atol=1e-5)
    np.testing.assert_allclose(v[times < shared, 0], 2.0 - 0.2 * G * times[times < shared], atol=1e-5)
    assert times[np.argmax(np.linalg.norm(v, axis=1) < 1e-3)] == pytest.approx(stop, abs=DT)


@any_tilt
def test_the_circular_cone_stops_along_a_line(tilt):
    scene = floor(0.2, tilt)
    add_cube(scene, tilt=tilt)
    sim, velocities = simulate(scene, "circular", v=tilt.apply([2.0, 1.0, 0.0])), []
    for _ in range(125):
        sim.step()
        velocities.append(tilt.inv().apply(sim.state.v[:3]))
    v = np.array(velocities)
    times, speed, stop = DT * np.arange(1, len(v) + 1), np.sqrt(5.0), np.sqrt(5.0) / (0.2 * G)
    slides = times < stop - DT
    np.testing.assert_allclose(v[slides, 1], 0.5 * v[slides, 0], atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(v[slides], axis=1), speed - 0.2 * G * times[slides], atol=1e-5)
    assert times[np.argmax(np.linalg.norm(v, axis=1) < 1e-3)] == pytest.approx(stop, abs=DT)


def test_more_facets_come_nearer_to_the_circle():
    """The polygon with n corners lies inside the circle: friction is at least cos(π/n) of it."""
    for facets in (6, 8, 16):
        scene = floor(0.2)
        add_cube(scene)
        sim = simulate(scene, facets=facets, v=[2.0, 1.0, 0])
        sim.step(20)
        lost = np.sqrt(5.0) - np.linalg.norm(sim.state.v[:2])
        assert 0.2 * G * 0.2 * np.cos(np.pi / facets) - 1e-5 <= lost <= 0.2 * G * 0.2 + 1e-5


@both_cones
def test_a_push_below_the_cone_sticks_and_above_slides(cone):
    for push, slides in ((0.29 * G, False), (0.31 * G, True)):
        scene = floor(0.3)
        add_cube(scene)
        sim = simulate(scene, cone, tolerance=1e-8)
        for _ in range(20):
            sim.inputs.wrench[1, 0] = push
            sim.step()
        assert sim.state.v[0] == pytest.approx(0.01 * G * 0.2 if slides else 0.0, abs=1e-5)


@both_cones
def test_without_friction_nothing_slows_down(cone):
    scene = floor(0.0)
    add_cube(scene)
    sim = simulate(scene, cone, v=[2.0, 1.0, 0])
    sim.step(30)
    np.testing.assert_allclose(sim.state.v[:3], [2, 1, 0], atol=1e-9)


@both_cones
def test_a_ball_thrown_flat_ends_rolling(cone):
    """Five sevenths of the speed; the floor's height is kept."""
    scene = floor(0.5)
    scene.add_sphere(0.2, mass=1.0, pos=(0, 0, 0.2))
    sim = simulate(scene, cone, v=[1.0, 0, 0])
    sim.step(50)
    assert sim.state.v[0] == pytest.approx(5 / 7, abs=1e-3)
    assert sim.state.v[4] * 0.2 == pytest.approx(sim.state.v[0], abs=1e-5)
    assert sim.state.q[2] == pytest.approx(0.2, abs=1e-6)


def dropped_cube():
    scene = floor(0.3)
    add_cube(scene, 0.4)
    return scene, np.zeros(6)


def sliding_cube():
    scene = floor(0.2)
    add_cube(scene)
    return scene, [2.0, 1.0, 0, 0, 0, 0]


def rolling_ball():
    scene = floor(0.5)
    scene.add_sphere(0.2, mass=1.0, pos=(0, 0, 0.3))
    return scene, [1.0, 0.5, 0, 0, 3.0, 10.0]


def two_cubes():
    scene = floor(0.3)
    add_cube(scene)
    add_cube(scene, 0.78)
    return scene, [0, 0, 0, 0, 0, 0, 0.5, 0.2, 0, 0, 0, 0]


@both_cones
@pytest.mark.parametrize("build", [dropped_cube, sliding_cube, rolling_ball, two_cubes], ids=lambda b: b.__name__)
def test_passive_contact_gains_no_energy(cone, build):
    scene, v = build()
    sim = simulate(scene, cone, v=v, tolerance=1e-10)
    sim.step()
    before = energy(sim)
    start = before
    for _ in range(60):
        sim.step()
        after = energy(sim)
        assert after - before <= 1e-9
        before = after
    assert before < start - 1e-3


@pytest.mark.parametrize(("friction", "least"), [(0.0, 40.0), (0.3, 10.0)])
def test_what_a_corner_gains_as_it_turns_about_its_contact_falls_with_dt(friction, least):
    """Corners go along chords. In a step that gains O(dt³) without friction; O(dt²) where they stick, since friction
    sees the velocity at the start of the step."""
    gains = []
    for dt in (0.01, 0.0025):
        scene = floor(friction)
        add_cube(scene, 0.6)
        sim, gain = simulate(scene, "circular", v=[1.0, 0.5, 0, 3, 4, 1], dt=dt, tolerance=1e-10), 0.0
        sim.step()
        before = energy(sim)
        for _ in range(round(0.38 / dt)):
            sim.step()
            gain, before = max(gain, energy(sim) - before), energy(sim)
        gains.append(gain)
    assert gains[0] < 1e-4
    assert gains[1] < gains[0] / least


@both_cones
def test_two_cubes_stay_on_each_other(cone):
    scene = floor(0.5)
    add_cube(scene)
    add_cube(scene, 0.76)
    sim = simulate(scene, cone)
    sim.step(50)
    assert sim.state.q[2] == pytest.approx(0.25, abs=1e-6)
    assert sim.state.q[9] == pytest.approx(0.75, abs=1e-6)
    forces = sim.stepper.contacts.arrays
    n = forces.found[0]
    load = {a: forces.force[:n, 0][forces.link1[:n] == a].sum() for a in (0, 1)}
    assert load[0] == pytest.approx(2 * G, abs=1e-4)
    assert load[1] == pytest.approx(G, abs=1e-4)


def test_contact_between_bodies_keeps_their_momentum():
    """Two balls and a box collide in free space."""
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_sphere(0.2, mass=1.0, pos=(0, 0, 0), friction=0.5)
    scene.add_sphere(0.3, mass=2.0, pos=(0.7, 0.1, 0.05), friction=0.5)
    scene.add_box((0.4, 0.5, 0.6), mass=1.5, pos=(1.5, 0.1, 0.1), friction=0.5, quat=(0.9, 0.1, 0.3, 0.2))
    v = [2.0, 0, 0, 1, 2, 3, 0, 0, 0, 0, 0, 1, -1.0, 0, 0, 0.5, 0, 0]
    sim = simulate(scene, "circular", v=v, tolerance=1e-12)

    def momentum():
        motion, out = sim.stepper.motion, np.empty(6)
        world_momentum(sim.stepper.mechanism.bodies, motion.pose, motion.nu, sim.dt, np.zeros(3), out)
        return out

    sim.step()
    first, touched = momentum(), 0
    for _ in range(60):
        sim.step()
        arrays = sim.stepper.contacts.arrays
        touched += int(arrays.force[: arrays.found[0], 0].max(initial=0.0) > 1e-3)
        np.testing.assert_allclose(momentum(), first, atol=1e-9)
    assert touched >= 2


def test_a_ball_rolls_down_a_ball_until_it_leaves():
    """Without friction it leaves at cos θ = 2/3; the fixed ball is link 0."""
    scene = floor(0.0)
    scene.world.add_sphere(1.0, pos=(0, 0, 1.0), friction=0.0)
    start = 0.1
    scene.add_sphere(0.2, mass=1.0, pos=(1.2 * np.sin(start), 0, 1.0 + 1.2 * np.cos(start)), friction=0.0)
    sim, gap, angle = simulate(scene, dt=0.002), 0.0, start
    for _ in range(1500):
        sim.step()
        d = sim.state.q[:3] - [0, 0, 1.0]
        gap = min(gap, np.linalg.norm(d) - 1.2)
        arrays = sim.stepper.contacts.arrays
        if arrays.force[: arrays.found[0], 0].max(initial=0.0) < 1e-2:
            break
        angle = np.arctan2(d[0], d[2])
    assert gap >= -1e-9
    assert np.cos(angle) == pytest.approx(2 / 3 * np.cos(start), abs=0.01)


def test_a_chain_lies_on_a_box_on_the_floor():
    scene = floor(0.4)
    scene.add_box((2.0, 0.6, 0.2), mass=4.0, pos=(0, 0, 0.1), friction=0.4)
    link = None
    for i in range(4):
        if link is None:
            link = scene.add_body(f"link{i}", pos=(-0.6, 0, 0.27), quat=quat(Rotation.from_rotvec([0, np.pi / 2, 0])))
        else:
            link = scene.add_body(f"link{i}", joint="ball", parent=link, pos=(0, 0, 0.35))
        link.add_capsule(0.05, 0.25, mass=0.5, pos=(0, 0, 0.15), friction=0.4)
    sim = simulate(scene)
    sim.step(60)
    arrays = sim.stepper.contacts.arrays
    n = arrays.found[0]
    between = arrays.link1[:n] == 1
    assert arrays.force[:n, 0][between].sum() == pytest.approx(2.0 * G, rel=1e-3)
    assert arrays.force[:n, 0][arrays.link1[:n] == 0].sum() == pytest.approx(6.0 * G, rel=1e-3)
    assert np.abs(sim.state.v).max() < 1e-3


def falling_ball_on_box():
    scene = floor(0.3)
    scene.add_box((0.8, 0.8, 0.2), mass=2.0, pos=(0, 0, 0.1), friction=0.3)
    scene.add_sphere(0.15, mass=1.0, pos=(0, 0, 0.36), friction=0.3)
    return scene, [0, 0, 0, 0, 0, 0, 1.5, 0.5, 0, 0, 0, 0]


@pytest.mark.parametrize("build", [two_cubes, falling_ball_on_box], ids=lambda b: b.__name__)
def test_the_motion_is_coulombs_as_dt_goes_to_zero(build):
    def ends(method, dt, **options):
        scene, v = build()
        sim = ss.Simulation(scene, method=method, dt=dt, **options)
        sim.state.v[:] = v
        sim.step(round(0.2 / dt))
        return np.concatenate([sim.state.q[7 * i : 7 * i + 3] for i in range(2)])

    apart = [
        np.abs(ends("variational/circular", dt, tolerance=1e-8) - ends("coulomb/interior-point", dt)).max()
        for dt in (0.01, 0.0025)
    ]
    assert apart[1] < 1e-3
    assert apart[1] < 0.5 * apart[0] or apart[1] < 1e-6
