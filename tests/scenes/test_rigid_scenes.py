"""The scenes of rigid bodies: their masses and places, and that MuJoCo, too, finds in them what they are for."""

import inspect

import mujoco
import numpy as np
import pytest

import stickslip as ss
from stickslip.dynamics import Dynamics
from stickslip.errors import InputError
from stickslip.scenes.arm import TIP, reach_down

RIGID = {name: entry for name, entry in ss.SCENES.items() if entry.dt is not None and "solo12" not in name}
G = 9.81


class Play:
    """A bundled scene in MuJoCo."""

    def __init__(self, scene, *args, dt=2e-3, stiff=False, **parameters):
        self.setup = ss.SCENES[scene].build(*args, **parameters)
        self.model = self.setup.scene.compile()
        self.mj = self.model.mj
        self.mj.opt.timestep, self.mj.opt.cone = dt, mujoco.mjtCone.mjCONE_PYRAMIDAL
        if stiff:  # contacts as short as two time steps, and friction that creeps less
            self.mj.opt.cone, self.mj.opt.impratio = mujoco.mjtCone.mjCONE_ELLIPTIC, 10
            self.mj.geom_solref[:] = 2 * dt, 1
            self.mj.geom_solimp[:, :3] = 0.95, 0.99, 1e-4
        self.data = mujoco.MjData(self.mj)
        self.data.qpos[:] = self.model.state().q
        if self.setup.velocity is not None:
            self.data.qvel[:] = self.setup.velocity
        if hasattr(self.setup.controller, "bind"):
            self.setup.controller.bind(self.model)
        mujoco.mj_forward(self.mj, self.data)

    def run(self, seconds, see=None):
        """What ``see`` says of every step."""
        data, seen = self.data, []
        for k in range(round(seconds / self.mj.opt.timestep)):
            every = round((self.setup.control_dt or self.mj.opt.timestep) / self.mj.opt.timestep)
            if self.setup.controller is not None and k % every == 0:
                data.ctrl[:] = self.setup.controller(data.time, data.qpos, data.qvel)
            mujoco.mj_step(self.mj, data)
            if see is not None:
                seen.append(see(data))
        return np.array(seen)

    def pos(self, body):
        return self.data.body(body).xpos


@pytest.mark.parametrize("scene", RIGID)
def test_starts_without_overlap_and_with_its_name(scene):
    play = Play(scene)
    assert play.setup.scene.name == scene.removeprefix("loose-")
    assert min((contact.dist for contact in play.data.contact), default=0.0) > -1e-8  # vertices are in single precision
    assert RIGID[scene].time > 0.0


@pytest.mark.parametrize("scene", RIGID)
def test_friction_of_every_surface_is_the_parameter(scene):
    build = RIGID[scene].build
    touching = [shape for shape in build().scene.compile().shapes if shape.mask]
    assert ("friction" in inspect.signature(build).parameters) == bool(touching)
    if touching:
        both = {"grip": 0.37} if "grip" in inspect.signature(build).parameters else {}
        shapes = build(friction=0.37, **both).scene.compile().shapes
        assert {shape.material.friction for shape in shapes if shape.mask} - {None} == {0.37}  # points have none


@pytest.mark.parametrize(
    ("scene", "mass", "bodies"),
    [
        ("peg-in-hole", 1.0, 1),
        ("pendulum", 1.0, 1),
        ("hanging-rod", 1.0, 1),
        ("sphere-stack", 125.0, 125),
        ("loose-sphere-stack", 125.0, 125),
        ("sphere-on-sphere", 20.25, 2),
        ("sliding-block", 1.0, 1),
        ("spheres-on-cube", 1.5, 15),
        ("pachinko", 10.0, 50),
        ("cart", 5.0, 5),
        ("bar-tree", 0.5 * sum((2 / 3) ** k for k in range(7)), 127),
        ("box-grasp", 5.0, 5),
        ("box-pile", 5 * 500 * 0.2**3, 5),
        ("domino-row", 5.0, 10),
        ("block-stack", 10.0, 10),
        ("heavy-on-light", 1000.001, 2),
        ("light-on-heavy", 1000.001, 2),
        ("spheres-in-box", 100.0, 100),
        ("ball-rolling", 1.0, 1),
        ("bouncing-ball", 1.0, 1),
        ("painleve-rod", 1.0, 1),
        ("wedge", 3.0, 3),
        ("sliding-disc", 1.0, 1),
        ("balls-on-box", 35.0, 26),
        ("ball-cube", 2160.0, 216),
        ("arm-grasp", 3.9 + 1.0 + 3.9 + 0.4 + 1.5 + 0.3 + 1.4 + 0.3, 9),
    ],
)
def test_masses(scene, mass, bodies):
    model = ss.SCENES[scene].build().scene.compile()
    assert model.inertia.mass.sum() == pytest.approx(mass, rel=1e-12)
    assert model.nlink - 1 == bodies


@pytest.mark.parametrize(
    ("scene", "parameters", "message"),
    [
        ("peg-in-hole", {"scale": 0.0}, "scale: expected a number > 0"),
        ("peg-in-hole", {"height": 0.9}, "height: expected a start above"),
        ("sliding-block", {"angle": 2.0}, "angle: expected the ramp's angle"),
        ("sphere-stack", {"n": 2.5}, "n: expected a whole number ≥ 1, got 2.5"),
        ("sphere-stack", {"gap": -0.1}, "gap: expected a length ≥ 0"),
        ("spheres-on-cube", {"layers": 0}, "layers: expected a whole number ≥ 1"),
        ("pachinko", {"n": "many"}, "n: expected a whole number ≥ 1"),
        ("bar-tree", {"levels": -1}, "levels: expected a whole number ≥ 0"),
        ("bar-tree", {"torque": np.nan}, "torque: expected a finite number"),
        ("cart", {"slope": -1.0}, "slope: expected a number ≥ 0"),
        ("box-grasp", {"force": -1.0}, "force: expected a force ≥ 0"),
        ("box-pile", {"edge": 0.0}, "edge: expected a length > 0"),
        ("domino-row", {"pitch": 0.3}, "pitch: expected more than the thickness"),
        ("domino-row", {"push": -1.0}, "push: expected"),
        ("card-house", {"angle": 1.0}, "angle: expected an angle from"),
        ("arm-grasp", {"shape": "ball"}, "unknown shape 'ball'"),
        ("arm-grasp", {"lift": 0.5}, "lift: expected a height of at most"),
        ("arm-grasp", {"kp": -1.0}, "kp: expected"),
        ("arch", {"thickness": 2.0}, "thickness: expected more than 0 and less than the radius"),
        ("arch", {"blocks": 2}, "blocks: expected a whole number ≥ 3"),
        ("balls-on-box", {"force": -1.0}, "force: expected a force ≥ 0"),
        ("ball-cube", {"disorder": 0.02}, "disorder: expected a length from 0 to 0.01 m"),
        ("block-stack", {"ratio": 0.0}, "ratio: expected a ratio of masses > 0"),
        ("block-stack", {"shift": 0.2}, "shift: expected a length from 0 to 0.1 m"),
        ("heavy-on-light", {"lower": 0.0}, "lower: expected a mass > 0"),
        ("spheres-in-box", {"n": 0}, "n: expected a whole number ≥ 1"),
        ("solo12-stand", {"speed": "fast"}, "speed: expected"),
        ("incline", {"angle": 1.6}, "angle: expected an angle above 0"),
        ("ball", {"speed": -1.0}, "speed: expected"),
        ("ball-rolling", {"angle": 0.0}, "angle: expected an angle above 0 and up to 1.4 rad"),
        ("bouncing-ball", {"height": 0.0}, "height: expected a height > 0"),
        ("painleve-rod", {"angle": 2.0}, "angle: expected an angle above 0 and up to 1.5 rad"),
        ("wedge", {"half_angle": 1.0}, "half_angle: expected an angle above 0 and up to 0.8 rad"),
        ("wedge", {"force": -1.0}, "force: expected a force ≥ 0"),
        ("sliding-disc", {"speed": -1.0}, "speed: expected a speed ≥ 0"),
        ("pendulum", {"angle": "steep"}, "angle: expected a finite number"),
    ],
)
def test_senseless_parameters_are_refused(scene, parameters, message):
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        ss.SCENES[scene].build(**parameters)


@pytest.mark.parametrize(("scene", "speed"), [("solo12-stand", 0.0), ("solo12-slip", 0.5)])
def test_solo12_starts_on_its_feet(scene, speed):
    setup = ss.SCENES[scene].build()
    sim = ss.Simulation(setup.scene, "coulomb/fixed-point", 1e-3)
    assert setup.scene.name == scene
    assert (0.0 if setup.velocity is None else setup.velocity[0]) == speed
    sim.observe()
    gaps = sim.contacts.arrays.gap[: len(sim.contacts)]
    assert np.sum(np.abs(gaps) < 1e-9) == 4
    assert gaps.min() > -1e-9


def test_peg_fits_into_the_hole_or_rests_on_it():
    peg = Play("peg-in-hole")
    peg.run(1.0)
    assert peg.pos("peg")[2] == pytest.approx(1.5 - 0.5 * G, abs=0.02)
    peg = Play("peg-in-hole", scale=1.01)
    peg.run(1.0)
    assert peg.pos("peg")[2] == pytest.approx(0.5 + 0.505, abs=0.05)  # MuJoCo lets it sink in at 5 mm of overlap


def test_pendulum_swings_like_a_rod_about_its_end():
    """The rod's centre starts where the original's does, and E = ½·I·ω² − m·g·l·cos θ with I about the end."""
    play = Play("pendulum", dt=1e-4)
    angle = np.pi / 5
    np.testing.assert_allclose(play.pos("rod"), (-0.25 * np.sin(angle), 0, 0.25 - 0.25 * np.cos(angle)), atol=1e-15)
    rate = np.abs(play.run(1.0, lambda data: data.qvel[0])).max()
    inertia = 0.1**2 / 4 + 0.5**2 / 12 + 0.25**2
    assert rate == pytest.approx(np.sqrt(2 * G * 0.25 * (1 - np.cos(angle)) / inertia), rel=1e-3)
    rod = Play("hanging-rod", dt=1e-4)
    np.testing.assert_allclose(rod.pos("rod"), Play("pendulum").pos("rod"), atol=1e-15)
    assert np.abs(rod.run(1.0, lambda data: data.qvel[1])).max() == pytest.approx(rate, rel=1e-4)


def test_stack_stands_and_the_loose_one_spreads():
    stack = Play("sphere-stack", 3)
    start = stack.data.qpos.copy()
    stack.run(0.5)
    assert np.abs(stack.data.qpos - start).max() < 2e-3
    loose = Play("loose-sphere-stack", 3)
    loose.run(1.5)
    assert np.abs(loose.data.qpos - loose.model.state().q).max() > 0.3


def test_original_disorder_of_the_stack():
    model = ss.SCENES["sphere-stack"].build(3, shift=0.01, gap=0.02).scene.compile()
    q = model.state().q.reshape(27, 7)
    np.testing.assert_allclose(q[14, :3], (1.0 + 0.01 * np.sin(42), 0.01 * np.sin(70), 0.5 + 1.02), atol=1e-12)


def test_small_ball_rolls_off_the_large_one():
    play = Play("sphere-on-sphere")
    play.run(2.5)
    assert np.hypot(*play.pos("small")[:2]) > 1.0
    assert play.pos("large")[2] == pytest.approx(2.0, abs=1e-2)


def test_block_slides_by_coulombs_law():
    play = Play("sliding-block", stiff=True, dt=1e-3)
    start = play.pos("block").copy()
    play.run(1.0)
    angle = np.pi / 12
    slid = 0.5 * G * (np.sin(angle) - 0.25 * np.cos(angle))
    assert np.linalg.norm(play.pos("block") - start) == pytest.approx(slid, rel=0.2)
    held = Play("sliding-block", stiff=True, dt=1e-3, friction=0.3)
    held.run(1.0)
    assert np.linalg.norm(held.pos("block") - start) < 0.01


def test_balls_leave_the_tilted_cube():
    play = Play("spheres-on-cube")
    play.run(1.5)
    assert play.data.xpos[2:, 2].max() < 0.0


def test_pachinko_reaches_the_floor_and_is_the_same_every_time():
    play = Play("pachinko", 20)
    play.run(2.0)
    balls = play.data.qpos.reshape(-1, 7)
    assert np.mean(balls[:, 2] < 0.2) > 0.6  # the others take their time on a peg
    assert np.ptp(balls[:, 1]) > 2.0  # the pegs have spread them
    same = [ss.SCENES["pachinko"].build(seed=3).scene.compile().state().q for _ in range(2)]
    np.testing.assert_array_equal(*same)


def test_cart_rolls_at_five_sevenths():
    play = Play("cart", stiff=True)
    play.run(1.0)
    angle = np.arctan(0.17)
    speed = np.linalg.norm(play.data.qvel[:3])
    assert speed == pytest.approx(5 / 7 * G * np.sin(angle), rel=0.01)


def test_tree_turns_by_its_torque():
    """The angular momentum about the vertical is torque × time: gravity and the joint have none."""
    setup = ss.SCENES["bar-tree"].build(3, torque=0.02, seconds=0.3)
    sim = ss.Simulation(setup.scene, "semi-implicit-euler", 1e-3, user=setup.user)
    pivot = (0, 0, 0.5)
    sim.run(0.3)
    assert sim.dynamics.momentum(sim.state.q, sim.state.v, about=pivot)[5] == pytest.approx(0.006, rel=1e-3)
    sim.run(0.2)
    assert sim.dynamics.momentum(sim.state.q, sim.state.v, about=pivot)[5] == pytest.approx(0.006, rel=1e-3)


@pytest.mark.parametrize(
    ("n", "friction", "held"), [(3, 1.0, True), (3, 0.4, False), (1, 0.55, True), (10, 1.0, False)]
)
def test_row_of_boxes_is_held_or_not(n, friction, held):
    """As statics says: μ ≥ n·m·g/(2·force), force ≥ n²·m·g/8."""
    play = Play("box-grasp", n, friction=friction, stiff=True)
    play.run(0.8)
    fallen = -min(play.pos(f"box{k}")[2] for k in range(n))
    assert (fallen < 0.05) == held
    assert held or fallen > 0.3


def test_pile_comes_to_rest():
    play = Play("box-pile", 3)
    play.run(1.5)
    assert np.abs(play.data.qvel).max() < 1e-2
    np.testing.assert_allclose(play.data.xpos[1:, 2], [0.1] * 9 + [0.3] * 4 + [0.5], atol=5e-3)


def test_dominoes_topple_in_turn():
    play = Play("domino-row", dt=1e-3)
    upright = play.run(1.5, lambda data: data.xmat[1:, 8].copy())
    fallen = [np.flatnonzero(column < 0.7)[0] for column in upright.T]
    assert np.all(np.diff(fallen) > 0)
    weak = Play("domino-row", 3, dt=1e-3, push=1.2)
    weak.run(1.5)
    assert weak.data.xmat[1:, 8].min() > 0.99


@pytest.mark.parametrize(("friction", "stands"), [(0.5, True), (0.1, False)])
def test_card_house_stands_by_friction(friction, stands):
    play = Play("card-house", dt=5e-4, stiff=True, friction=friction)
    start = play.data.xpos.copy()
    play.run(0.5)
    assert (np.abs(play.data.xpos - start).max() < 1e-3) == stands


@pytest.mark.parametrize("shape", ["box", "cylinder"])
def test_arm_lifts_the_object(shape):
    play = Play("arm-grasp", shape)
    height = play.run(ss.SCENES["arm-grasp"].time, lambda data: data.body("object").xpos[2])
    before = round(2.0 / play.mj.opt.timestep)
    assert np.abs(height[:before] - 0.05).max() < 1e-3  # untouched until the fingers close
    assert height[-1] == pytest.approx(0.25, abs=0.035)
    assert np.abs(play.data.body("object").cvel).max() < 0.05


def test_arm_reaches_where_it_is_told():
    model = ss.SCENES["arm-grasp"].build().scene.compile()
    dyn, q = Dynamics(model), model.state().q
    q[:6] = reach_down(0.4, 0.1)
    position, axes = dyn.frame_pose(q, "grip")
    np.testing.assert_allclose(position, (0.4, 0, 0.1), atol=1e-12)
    np.testing.assert_allclose(axes[:, 2], (0, 0, -1), atol=1e-12)
    assert pytest.approx(0.228) == TIP
    with pytest.raises(InputError, match="reach and height"):
        reach_down(0.7, 0.1)


def simulate(scene, seconds, **parameters):
    """A bundled scene by the method that it recommends."""
    entry = ss.SCENES[scene]
    setup = entry.build(**parameters)
    sim = ss.Simulation(setup.scene, entry.method, entry.dt, user=setup.user)
    if setup.velocity is not None:
        sim.set_state(v=setup.velocity)
    log = sim.run(seconds, controller=setup.controller, control_dt=setup.control_dt, progress=False)
    return sim, log


def test_peg_falls_freely_by_its_method_or_rests():
    """After n steps from rest, semi-implicit: z = z₀ − g·dt²·n·(n + 1)/2."""
    _, log = simulate("peg-in-hole", 1.0)
    assert log.pose[-1, 1, 2] == pytest.approx(1.5 - G * 1e-4 * 100 * 101 / 2, abs=1e-9)
    _, log = simulate("peg-in-hole", 0.6, scale=1.01)
    assert log.pose[-1, 1, 2] == pytest.approx(1.005, abs=1e-9)


def test_block_and_cart_accelerate_exactly():
    angle = np.pi / 12
    sim, _ = simulate("sliding-block", 0.5)
    assert np.linalg.norm(sim.state.v[:3]) == pytest.approx(0.5 * G * (np.sin(angle) - 0.25 * np.cos(angle)), rel=1e-6)
    sim, _ = simulate("cart", 0.5)
    assert np.linalg.norm(sim.state.v[:3]) == pytest.approx(0.5 * 5 / 7 * G * np.sin(np.arctan(0.17)), rel=1e-6)


@pytest.mark.parametrize(
    ("scene", "seconds", "parameters"),
    [("sphere-stack", 0.1, {"n": 3}), ("card-house", 0.1, {"gap": 0.0}), ("box-grasp", 0.3, {})],
)
def test_what_should_stand_stands_still(scene, seconds, parameters):
    _, log = simulate(scene, seconds, **parameters)
    assert np.abs(log.pose[-1] - log.pose[0]).max() < 1e-7


def test_pile_and_arm_by_their_methods():
    sim, log = simulate("box-pile", 1.0)
    np.testing.assert_allclose(log.pose[-1, 1:, 2], [0.1] * 4 + [0.3], atol=1e-6)
    assert np.abs(sim.state.v).max() < 1e-6
    sim, log = simulate("arm-grasp", 4.0)
    assert log.pose[-1, sim.model.link("object"), 2] == pytest.approx(0.25, abs=0.03)
