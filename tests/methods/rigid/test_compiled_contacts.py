"""Compiled time steps: the same as stage by stage, and what is left to the stages."""

import warnings

import numpy as np
import pytest

import stickslip as ss
from stickslip.errors import UnconvergedWarning
from stickslip.methods.registry import METHODS as ALL
from stickslip.methods.rigid import compiled_stepping
from stickslip.methods.rigid.compiled_arrays import LARGE, PYTHON, UNCONVERGED
from stickslip.simulation.unsolved import IN_MEMORY
from stickslip.solvers import Status, make_solver, residuals

METHODS = ("coulomb/pgs", "relaxed/pgs")
RIGID = ("coulomb", "relaxed", "stewart-trinkle", "anitescu-potra", "peg")
EVERY = [f"{name}/{solver}" for name in RIGID for solver in ALL[name].capabilities.variants if solver != "path"]


def solo12() -> ss.Scene:
    scene = ss.Scene()
    scene.add_plane(friction=0.6)
    scene.add_robot("solo12")
    return scene


def thrown() -> ss.Scene:
    """Boxes, spheres, a capsule and a cylinder on a plane, apart but for two spheres and a sphere on a fixed box."""
    scene = ss.Scene()
    scene.add_plane(friction=0.4)
    tilted = (0.9, 0.3, 0.2, 0.1)
    scene.add_box((0.2, 0.3, 0.1), pos=(0, 0, 0.2), quat=tilted, mass=1.0)
    scene.add_capsule(0.05, 0.3, pos=(1, 0, 0.2), quat=tilted, mass=0.5)
    scene.add_cylinder(0.1, 0.2, pos=(2, 0, 0.25), quat=tilted, mass=2.0)
    scene.add_sphere(0.1, pos=(3, 0, 0.1), mass=1.0)
    scene.add_sphere(0.1, pos=(3.02, 0.01, 0.3), mass=1.0)
    scene.add_box((1, 1, 0.1), pos=(5, 0, 0.3), joint="fixed")
    scene.add_sphere(0.1, pos=(5, 0, 0.47), mass=1.0)
    return scene


def bouncing() -> ss.Scene:
    scene = ss.Scene()
    scene.add_plane(friction=0.3, restitution=0.8)
    scene.add_sphere(0.1, pos=(0, 0, 0.3), mass=1.0)
    scene.add_box((0.2, 0.2, 0.2), pos=(1, 0, 0.3), quat=(0.9, 0.3, 0.2, 0.1), mass=1.0)
    return scene


def limited() -> ss.Scene:
    """A hinge and a ball joint that run into their limits, and a foot that meets the floor."""
    return ss.Scene.from_xml(
        """<mujoco><compiler angle="radian"/><worldbody><geom type="plane" size="9 9 1" friction="0.5"/>
        <body pos="0 0 0.5"><joint type="hinge" axis="0 1 0" limited="true" range="-0.3 0.4" armature="0.01"/>
          <geom type="capsule" size="0.02" fromto="0 0 0 0.3 0 0" mass="1" contype="0" conaffinity="0"/>
          <body pos="0.3 0 0"><joint type="slide" axis="0 0 1" stiffness="50" damping="1"/>
            <geom type="sphere" size="0.05" mass="0.5" contype="0" conaffinity="0"/>
            <body pos="0 0 -0.1"><joint type="ball" limited="true" range="0 0.5"/>
              <geom type="capsule" size="0.02" fromto="0 0 0 0.2 0 0" mass="0.3" contype="0" conaffinity="0"/>
              <geom type="sphere" size="0.05" pos="0.2 0 0" mass="0.2"/></body></body></body>
        </worldbody></mujoco>"""
    )


def linkage() -> ss.Scene:
    """A four-bar linkage, closed by a connect, that falls on the floor beside a free sphere."""
    return ss.Scene.from_xml(
        """<mujoco><option gravity="0 0 -9.81"/><worldbody><geom type="plane" size="9 9 1" friction="0.5"/>
        <body name="base" pos="0 0 0.5"><freejoint/><geom type="capsule" size="0.03" fromto="0 0 0 0.4 0 0" mass="1"/>
          <body name="left"><joint type="hinge" axis="0 1 0" damping="0.05"/>
            <geom type="capsule" size="0.03" fromto="0 0 0 0 0 -0.3" mass="0.5" contype="0" conaffinity="0"/>
            <body name="rung" pos="0 0 -0.3"><joint type="hinge" axis="0 1 0"/>
              <geom type="capsule" size="0.03" fromto="0 0 0 0.4 0 0" mass="0.5"/></body></body>
          <body name="right" pos="0.4 0 0"><joint type="hinge" axis="0 1 0"/>
            <geom type="capsule" size="0.03" fromto="0 0 0 0 0 -0.3" mass="0.5" contype="0" conaffinity="0"/></body>
        </body></worldbody>
        <equality><connect body1="rung" body2="right" anchor="0.4 0 0"/></equality></mujoco>"""
    )


def jointed() -> ss.Scene:
    """A chain of a box, a hinged box, a box on a slide with rotor and servo, and a capsule on a ball joint, which falls
    on the floor beside a free sphere."""
    return ss.Scene.from_xml(
        """<mujoco><worldbody><geom type="plane" size="9 9 1" friction="0.5"/>
        <body pos="0 0 0.3" euler="0 20 10"><freejoint/><geom type="box" size="0.1 0.06 0.04" mass="1"/>
          <body pos="0.25 0 0"><joint type="hinge" axis="0 1 0" pos="-0.12 0 0" armature="0.01" damping="0.02"/>
            <geom type="box" size="0.1 0.05 0.03" mass="0.5"/>
            <body pos="0 0.15 0"><joint name="s" type="slide" axis="0 1 0" armature="0.2"/>
              <geom type="box" size="0.04 0.04 0.04" mass="0.3"/>
              <body pos="0 0.12 0"><joint type="ball" pos="0 -0.06 0"/>
                <geom type="capsule" size="0.03 0.05" mass="0.2"/></body></body></body></body>
        <body pos="1 0 0.15"><freejoint/><geom type="sphere" size="0.1" mass="1"/></body></worldbody>
        <actuator><position joint="s" kp="200" kv="5"/></actuator></mujoco>"""
    )


SCENES = {"solo12": (solo12, 2e-3, 120), "thrown": (thrown, 5e-3, 100), "bouncing": (bouncing, 5e-3, 150)}
SCENES["limited"] = (limited, 2e-3, 300)
SCENES["jointed"] = (jointed, 5e-3, 20)
MAXIMAL = ("coulomb/pgs", "coulomb/admm", "relaxed/pgs", "stewart-trinkle/lemke", "anitescu-potra/lemke", "peg/lemke")
"""One method of every formulation."""


def moving(scene: ss.Scene, method: str, dt: float, compiled: bool = True, **options) -> ss.Simulation:
    """In motion, and turning."""
    sim = ss.Simulation(scene, method=method, dt=dt, **options)
    sim.stepper.compiled = compiled
    v = 0.3 * np.random.default_rng(1).standard_normal(sim.model.nv)
    sim.set_state(v=v)
    return sim


CASES = [(name, method, SCENES[name][2], {}) for method in METHODS for name in SCENES if name != "jointed"]
CASES += [(name, method, 20, {}) for method in EVERY if method not in METHODS for name in ("solo12", "limited")]
BOUNCING = ("coulomb/admm", "stewart-trinkle/lemke", "anitescu-potra/pgs", "peg/pgs")
CASES += [("bouncing", method, 20, {}) for method in BOUNCING]
CASES += [(name, method, 20, {"coordinates": "maximal"}) for method in MAXIMAL for name in ("limited", "jointed")]
UNSURE = ("minmap-newton", "fixed-point")
"""Solvers that may cycle, or that slip speeds without a diagonal make slow."""


@pytest.mark.filterwarnings("ignore:relaxed does not honour restitution:stickslip.errors.NotHonouredWarning")
@pytest.mark.parametrize(("name", "method", "steps", "options"), CASES, ids=str)
def test_compiled_steps_are_those_of_the_stages(name, method, steps, options):
    build, dt, _ = SCENES[name]
    scene = build()
    plain = dict(options)
    if method in METHODS:
        plain["solver_options"] = {"acceleration": 0}  # which would make round-off larger
    if method.endswith("fixed-point"):
        plain["bias"] = "explicit"  # this motion leads to problems that the solver solves
    one, other = moving(scene, method, dt, **plain), moving(scene, method, dt, compiled=False, **plain)
    largest, late = 0.0, 0
    near = 1e-9 if method in METHODS else 1e-7  # Newton's methods may grow round-off up to their tolerance
    most = max(2, steps // 20)
    if method.endswith(UNSURE):
        near, most = 1e-5, 10
    if options and not one.stepper.polygons:
        most = steps  # the stages judge joint rows too, whose larger b may end an iteration earlier
    shared = 1e-4 if method.endswith("minmap-newton") else 0.1 * near  # how contacts share what moves nothing is free
    if method not in METHODS or options:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnconvergedWarning)
            one.step({"solo12": 90, "limited": 225, "bouncing": 32, "jointed": 40}[name])  # into contact
        one.stepper.left_to_stages.clear()
        one.unsolved.begin(None)
    for _ in range(steps):
        other.restore(one.snapshot())
        for sim in (one, other):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UnconvergedWarning)  # without acceleration
                sim.step()
        n = len(one.contacts)
        largest = max(largest, np.abs(one.contacts.arrays.force[:n]).max(initial=0.0))
        solved, sizes = one.result.success and other.result.success, (one.result.residual, other.result.residual)
        alike = solved and one.result.iterations == other.result.iterations
        late += not alike
        assert late <= most
        if not (alike and max(sizes) <= 2 * min(sizes) + 1e-12):  # by round-off, a residual beside the tolerance
            if solved:
                np.testing.assert_allclose(one.state.v, other.state.v, rtol=0, atol=1e-5)
            continue
        assert n == len(other.contacts)
        np.testing.assert_array_equal(one.contacts.arrays.pair[:n], other.contacts.arrays.pair[:n])
        for field in ("point", "axes", "gap"):
            a, b = (getattr(s.contacts.arrays, field)[:n] for s in (one, other))
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-11)
        np.testing.assert_allclose(one.state.q, other.state.q, rtol=0, atol=near * dt)
        np.testing.assert_allclose(one.state.v, other.state.v, rtol=0, atol=near)
        np.testing.assert_allclose(one.acceleration, other.acceleration, rtol=0, atol=near / dt)
        for key, value in one.stepper.memory().items():
            np.testing.assert_allclose(value, other.stepper.memory()[key], rtol=0, atol=shared)
        assert one.result.found_by == other.result.found_by
    assert largest > 1.0  # there were contacts
    assert set(one.stepper.left_to_stages) <= {UNCONVERGED}
    assert one.stepper.left_to_stages.total() <= most
    if method in METHODS:
        assert one.stepper.unconverged == other.stepper.unconverged <= steps // 20


KEEPING = ("coulomb/interior-point", "relaxed/newton")
"""Solvers that keep the loops' impulses as unknowns, stage by stage."""
LOOPED = ("coulomb/pgs", "coulomb/interior-point", "relaxed/newton", "stewart-trinkle/lemke", "anitescu-potra/admm")
LOOPS = [(method, "joint") for method in (*LOOPED, "peg/lemke")]
LOOPS += [(method, "maximal") for method in ("coulomb/pgs", "relaxed/newton", "peg/lemke")]


@pytest.mark.parametrize(("method", "coordinates"), LOOPS)
def test_closed_loops_are_those_of_the_stages(method, coordinates):
    """The stages of some solvers keep the loops' impulses as unknowns: they agree to the tolerance."""
    plain = {"coordinates": coordinates}
    if method in METHODS:
        plain["solver_options"] = {"acceleration": 0}
    one, other = (ss.Simulation(linkage(), method, 2e-3, **plain) for _ in range(2))
    other.stepper.compiled = False
    one.step(95)
    largest = 0.0
    for _ in range(40):
        other.restore(one.snapshot())
        for sim in (one, other):
            sim.step()
        largest = max(largest, np.abs(one.contacts.arrays.force[: len(one.contacts)]).max(initial=0.0))
        np.testing.assert_allclose(one.state.v, other.state.v, rtol=0, atol=1e-6)
        np.testing.assert_allclose(one.state.q, other.state.q, rtol=0, atol=1e-8)
        if method not in KEEPING:  # two feet of one rung have many impulses of the same effect
            for key, value in one.stepper.memory().items():
                np.testing.assert_allclose(value, other.stepper.memory()[key], rtol=0, atol=1e-6)
        assert one.stepper.joint_error().max() < (1e-9 if coordinates == "joint" else 1e-5)
    assert largest > 1.0
    assert not one.stepper.left_to_stages
    assert residuals.natural(one.problem, one.result.z) < 1e-7


ASKED = [(method, "joint") for method in (*METHODS, "stewart-trinkle/lemke", "anitescu-potra/admm", "peg/pgs")]
ASKED += [(method, "maximal") for method in ("relaxed/pgs", "stewart-trinkle/lemke", "peg/lemke")]


@pytest.mark.parametrize(("method", "coordinates"), ASKED)
def test_the_problem_of_the_last_compiled_step_can_be_asked_for(method, coordinates):
    sim = moving(limited(), method, 2e-3, coordinates=coordinates)
    sim.step(250)
    before = sim.stepper.joint_error()
    problem, result = sim.problem, sim.result
    assert problem.n == len(result.z) > 0
    assert sim.matrices.contacts > len(sim.contacts) > 0  # limits too
    assert residuals.natural(problem, result.z) == pytest.approx(result.residual, rel=1e-3, abs=1e-13)
    velocity, now = sim.matrices.new_velocity(sim.stepper.impulses(result.z)), sim.state.v
    if coordinates == "maximal":  # whose steps end with corrections of joints
        np.testing.assert_allclose(velocity, sim.stepper.coordinates.V, rtol=0, atol=1e-2)
        np.testing.assert_array_equal(sim.stepper.joint_error(), before)
    else:
        np.testing.assert_allclose(velocity, now, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("build", "method", "coordinates"),
    [(thrown, "coulomb/pgs", "joint"), (thrown, "relaxed/pgs", "joint"), (jointed, "coulomb/pgs", "maximal")],
)
def test_many_steps_in_one_call_are_steps_one_by_one(build, method, coordinates):
    sim = moving(build(), method, 5e-3, coordinates=coordinates)
    sim.step(40)
    start = sim.snapshot()
    sim.step(30)
    end = sim.snapshot()
    sim.restore(start)
    for _ in range(30):
        sim.step(1)
    again = sim.snapshot()
    np.testing.assert_array_equal(end.state.q, again.state.q)
    np.testing.assert_array_equal(end.state.v, again.state.v)
    for key, value in end.memory.items():
        np.testing.assert_array_equal(value, again.memory[key])


@pytest.mark.parametrize("coordinates", ["joint", "maximal"])
@pytest.mark.parametrize("method", [*METHODS, "stewart-trinkle/lemke", "peg/lemke"])
def test_two_boxes_need_no_stages(method, coordinates):
    scene = ss.Scene()
    scene.add_plane(friction=0.5)
    for k in range(2):
        scene.add_box((0.2, 0.2, 0.2), pos=(0.01 * k, 0, 0.1 + 0.2 * k), mass=1.0)
    one, other = (ss.Simulation(scene, method=method, dt=5e-3, coordinates=coordinates) for _ in range(2))
    other.stepper.compiled = False
    for sim in (one, other):
        sim.step(3)
    assert not one.stepper.left_to_stages
    assert other.stepper.left_to_stages == {PYTHON: 3}
    assert len(one.contacts) >= 8
    np.testing.assert_allclose(one.state.v, other.state.v, rtol=0, atol=1e-8)


@pytest.mark.parametrize(
    ("method", "coordinates"), [("coulomb/pgs", "joint"), ("relaxed/pgs", "joint"), ("coulomb/pgs", "maximal")]
)
def test_many_contacts_have_a_sparse_matrix(method, coordinates):
    scene = ss.Scene()
    scene.add_plane(friction=0.5)
    for k in range(50):
        scene.add_sphere(0.1, pos=(0.2 * (k // 10), 0.2 * (k // 2 % 5), 0.1 + 0.2 * (k % 2)), mass=1.0, friction=0.5)
    if coordinates == "maximal":  # with joints
        door = scene.add_body("door", pos=(-1, 0, 0.15))
        door.add_box((0.2, 0.1, 0.1), mass=1.0)
        door.add_body("flap", joint="hinge", pos=(-0.25, 0, 0), axis=(0, 1, 0)).add_box((0.2, 0.1, 0.1), mass=1.0)
    one, other = (moving(scene, method, 5e-3, compiled, coordinates=coordinates) for compiled in (True, False))
    for sim in (one, other):
        sim.state.v *= 0.1
        sim.step(3)
    assert not one.stepper.left_to_stages
    assert len(one.contacts) == len(other.contacts) > 60
    assert one.result.iterations == other.result.iterations
    np.testing.assert_allclose(one.state.v, other.state.v, rtol=0, atol=1e-8)  # acceleration grows round-off
    np.testing.assert_allclose(one.result.z, other.result.z, rtol=0, atol=1e-8)


def test_dense_solvers_leave_many_contacts_to_the_stages():
    scene = ss.Scene()
    scene.add_plane(friction=0.5)
    for k in range(50):
        scene.add_sphere(0.1, pos=(0.3 * (k // 10), 0.3 * (k % 10), 0.1), mass=1.0)
    sim = ss.Simulation(scene, "relaxed/newton", 5e-3)
    sim.step(2)
    assert sim.stepper.left_to_stages == {LARGE: 2}


def test_a_second_solver_takes_over_in_the_compiled_loop():
    """The first has one sweep only."""
    options = {"unconverged": "fallback", "solver_options": {"max_iterations": 1, "tolerance": 1e-9}}
    sim = moving(thrown(), "coulomb/pgs", 5e-3, **options)
    sim.step(60)
    assert not sim.stepper.left_to_stages
    assert sim.stepper.unconverged == 0


def test_steps_without_convergence_are_counted_once():
    """The problems of the first ones are kept; when these are enough, the loop goes on by itself."""
    sim = moving(thrown(), "coulomb/pgs", 5e-3, solver_options={"max_iterations": 1, "tolerance": 1e-14})
    with pytest.warns(UnconvergedWarning, match="58 of 60 steps.*sim.stepper.unconverged counts them"):
        sim.step(60)
    assert sim.stepper.unconverged == 58
    assert len(sim.failures) == IN_MEMORY
    assert not sim.stepper.left_to_stages
    assert sim.result.status is Status.MAX_ITERATIONS
    with pytest.raises(ss.UnconvergedError):
        moving(thrown(), "coulomb/pgs", 5e-3, unconverged="raise", solver_options={"max_iterations": 1}).step(60)


@pytest.mark.parametrize(
    "options",
    [
        {"detector": "mujoco"},
        {"solver": lambda problem, z: make_solver("pgs").solve(problem, z)},
        {"solver_options": {"history": True}},
    ],
)
def test_what_is_not_compiled_is_counted_and_said(options):
    sim = ss.Simulation(thrown(), method="coulomb/pgs", dt=5e-3, **options)
    sim.step(2)
    assert sim.stepper.left_to_stages == {PYTHON: 2}
    assert sim.stepper.why_stages()


SOLVERS = ({"relaxation": 0.8}, {"max_iterations": 5, "tolerance": 1e-3}, {"tolerance": 1e-5})
BOTH = ({"warm_start": False}, {"margin": 0.02}, *({"solver_options": {"acceleration": 0, **s}} for s in SOLVERS))
CHOICES = [(method, options) for method in METHODS for options in BOTH]
CHOICES += [("coulomb/pgs", option) for option in ({"feedback": 0.9}, {"rest_speed": 3.0})]
CHOICES += [("relaxed/pgs", {"friction_ratio": 10.0})]


def thrown_and_bouncing() -> ss.Scene:
    """With restitution, and a sphere that begins inside the floor."""
    scene = thrown()
    scene.add_sphere(0.1, pos=(7, 0, 0.099), mass=1.0, restitution=0.8)
    scene.add_sphere(0.1, pos=(8, 0, 0.25), mass=1.0, restitution=0.8)
    return scene


@pytest.mark.filterwarnings("ignore::stickslip.StartWarning")
@pytest.mark.filterwarnings("ignore::stickslip.errors.NotHonouredWarning")  # relaxed contacts do not bounce
@pytest.mark.parametrize(("method", "options"), CHOICES, ids=str)
def test_options_mean_the_same_compiled(method, options):
    """The same states compiled and by stages, and others than without the option."""
    scene, dt, steps = thrown_and_bouncing(), 5e-3, 60
    solver = {"solver_options": {"acceleration": 0}}
    one, other = (moving(scene, method, dt, compiled, **{**solver, **options}) for compiled in (True, False))
    usual = moving(scene, method, dt, **solver)
    shown, late = False, 0
    for _ in range(steps):
        other.restore(one.snapshot())
        usual.set_state(one.state.q, one.state.v)
        usual.stepper.remember(one.stepper.memory())
        for sim in (one, other, usual):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UnconvergedWarning)  # of five sweeps; those go to the stages
                sim.step()
        assert len(one.contacts) == len(other.contacts)
        if one.result.iterations == other.result.iterations:
            np.testing.assert_allclose(one.state.v, other.state.v, rtol=0, atol=1e-9)
        else:
            late += 1
        changed = len(one.contacts) != len(usual.contacts) or one.result.iterations != usual.result.iterations
        shown = shown or changed or np.abs(one.state.v - usual.state.v).max() > 1e-6
    assert late <= 2
    assert set(one.stepper.left_to_stages) <= {UNCONVERGED}
    assert one.stepper.left_to_stages.total() < steps / 2
    assert shown


def test_mujoco_s_numbers_are_left_to_the_stages():
    one, other = (moving(thrown(), "relaxed/pgs", 5e-3, compiled, solref=(0.05, 1.0)) for compiled in (True, False))
    plain = moving(thrown(), "relaxed/pgs", 5e-3)
    for sim in (one, other, plain):
        sim.step(60)
    assert one.stepper.why_stages()
    np.testing.assert_array_equal(one.state.q, other.state.q)
    assert np.abs(one.state.q - plain.state.q).max() > 1e-4


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("dt", [1e-3, 5e-3])
def test_relaxed_contacts_are_found_before_they_act(compiled, dt):
    """With the default margin: the first force where the block would arrive within dt + B/K, and not before."""
    speed, ahead = 1.0, 5e-3
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_plane(friction=0.5, stiffness=2e4, damping=2e4 * ahead)
    scene.add_box((0.2, 0.2, 0.2), pos=(0, 0, 0.13), mass=1.0, friction=0.5)
    sim = ss.Simulation(scene, method="relaxed/pgs", dt=dt)
    sim.stepper.compiled = compiled
    sim.set_state(v=[0, 0, -speed, 0, 0, 0])
    while sim.state.v[2] == -speed:
        gap = sim.state.q[2] - 0.1
        sim.step()
    reach = speed * (dt + ahead)
    assert reach - speed * dt <= gap + 1e-12
    assert gap < reach
    assert len(sim.contacts) == 4


def test_contacts_that_fit_no_memory_are_a_divergence(monkeypatch):
    scene = ss.Scene()
    scene.add_plane(friction=0.5)
    for k in range(30):
        scene.add_box((0.2, 0.2, 0.2), pos=(0, 0, 0.1 + 0.2 * k), mass=1.0)
    monkeypatch.setattr(compiled_stepping, "memory", lambda: 1e4)
    sim = ss.Simulation(scene, "coulomb/pgs", dt=1e-3)
    with pytest.raises(ss.DivergedError, match=r"the matrix of 120 contacts needs .* GiB") as caught:
        sim.step()
    assert sim.steps == caught.value.snapshot.steps == 0
