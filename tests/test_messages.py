"""What people do wrong: each message names it in fewer than 300 characters, on one line, and says what to do."""

import ast
import warnings
from pathlib import Path

import numpy as np
import pytest

import stickslip as ss
from stickslip.errors import StickslipWarning, expected, shortened, unknown
from stickslip.methods.base import STALLED
from stickslip.simulation.divergence import describe_divergence

SOURCE = Path(ss.__file__).parent
PLACEHOLDER = 12
"""Characters that a value takes in a message, on average."""
ROBOT = """<robot name="r"><link name="base"><collision><geometry><sphere radius="0.1"/></geometry></collision></link>
<link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><sphere radius="0.1"/></geometry></collision></link>
<link name="hand"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><sphere radius="0.1"/></geometry></collision></link>
<joint name="j1" type="revolute"><parent link="base"/><child link="arm"/><origin xyz="0.3 0 0"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="j2" type="continuous"><parent link="arm"/><child link="hand"/><origin xyz="-0.15 0 0"/><axis xyz="0 1 0"/>
</joint></robot>"""


def scene() -> ss.Scene:
    made = ss.Scene()
    made.add_plane(name="floor")
    made.add_box((0.2, 0.2, 0.2), pos=(0, 0, 0.5), mass=1, name="box")
    made.add_body("arm", pos=(1, 0, 1), joint="hinge", axis=(0, 1, 0), motor=True).add_capsule(0.02, 0.2, mass=1)
    return made


def scene_of_a_crate() -> ss.Scene:
    made = ss.Scene()
    made.add_plane(name="floor")
    made.add_box((0.2, 0.2, 0.2), pos=(0, 0, 0.5), mass=1, name="crate")
    return made


def sim(method=None, **options) -> ss.Simulation:
    return ss.Simulation(scene(), method, **options)


def stepping_itself():
    """A controller that steps the simulation that asks it."""
    asked = sim()
    asked.controller = lambda t, q, v: asked.step()
    asked.step()


def unturned():
    """A quaternion without length that is set between two steps."""
    made = sim()
    made.step(3)
    made.state.q[3:7] = 0.0
    made.step()


def controlled(controller):
    sim().run(0.01, controller=controller)


def observed():
    made = sim()
    made.observers.append(lambda sim: None)
    made.step()


def with_nan(where, value=np.nan):
    made = sim()
    made.step()
    owner, name = where.split(".")
    getattr(getattr(made, owner), name)[-1] = value
    made.step()


MISTAKES = {
    # the method and its options
    "coulom": (lambda: sim("coulom"), "unknown method 'coulom': did you mean 'coulomb'"),
    "bullet": (lambda: sim("bullet"), "did you mean 'coulomb'"),
    "variant": (lambda: sim("coulomb/pg"), "did you mean 'coulomb/pgs'"),
    "option": (lambda: sim("coulomb", directoins=3), "did you mean 'directions'"),
    "iterations": (lambda: sim("coulomb", iterations=3), "solver_options"),
    "timestep": (lambda: sim("mujoco", timestep=3), "did you mean 'dt'"),
    "integrator": (lambda: sim(integrator="rk4"), "did you mean 'method'"),
    "solver option": (lambda: sim("coulomb/pgs", solver_options={"iterations": 3}), "did you mean 'max_iterations'"),
    "solver options": (lambda: sim("coulomb/pgs", solver_options=3), "solver_options: expected a mapping"),
    "dt as text": (lambda: sim(dt="x"), "dt: expected .*seconds.*, got .x."),
    "dt zero": (lambda: sim(dt=0), "dt: expected"),
    "solver by name": (lambda: sim("coulomb", solver="admm"), r"f\(problem, z0\) → z, got 'admm'; a solver by name is"),
    "detector": (lambda: sim("coulomb", detector="x"), "unknown detector 'x'"),
    "method as object": (lambda: sim(3), "method: expected a name"),
    # names
    "body": (lambda: sim().body("boks"), "'boks': did you mean 'box'"),
    "body of a scene": (lambda: scene().body("boks"), "'boks': did you mean 'box'"),
    "what a body is": (lambda: sim().body("bo"), "unknown body or site 'bo': did you mean 'box'"),
    "joint": (lambda: sim().joint("arn"), "unknown joint 'arn': did you mean 'arm'"),
    "robot": (lambda: sim().robot("solo"), "unknown robot"),
    "contacts": (lambda: sim().contacts.between("bix"), "did you mean 'box'"),
    "push": (lambda: sim().push("bx", (1, 0, 0)), "'bx': did you mean 'box'"),
    "joint as array": (lambda: sim().joint(np.zeros(3)), "unknown joint"),
    "excluded number": (lambda: scene().exclude(3, "box"), "expected a body of this scene or its name, got 3"),
    "welded nothing": (lambda: scene().weld("box", None), "expected a body of this scene or its name, got None"),
    "half a letter": (lambda: scene().body("\udce9"), "unknown body"),
    "scene's name": (lambda: ss.Scene(name=3), "name: expected a text, got 3"),
    "capture format": (lambda: sim().run(0.01, capture="a.h5", capture_format=[1]), "unknown capture_format"),
    "long record": (lambda: sim("coulomb").run(0.01, record="a" * 5000), "cannot write the recording"),
    "zero byte": (lambda: sim("coulomb").run(0.01, record="a\0b"), "record: expected the path of a file"),
    "record here": (lambda: sim("coulomb").run(0.01, record="."), "expected a file, got a folder"),
    "capture here": (lambda: sim("coulomb").run(0.01, capture="", capture_format="fclib"), "names of files"),
    "long scene": (lambda: ss.Simulation("a" * 5000), "unknown scene"),
    "long save": (lambda: scene().save("a" * 5000), "cannot be written"),
    "failures": (lambda: sim("coulomb").run(0.01, failures=__file__), "failures: expected a folder"),
    "keyframe": (lambda: sim().reset("up"), "unknown keyframe 'up': known: home"),
    "sensor": (lambda: sim().sensor("imu"), "unknown sensor 'imu': known: none"),
    "excluded": (lambda: scene().exclude("box", "bax"), "did you mean 'box'"),
    "bundled robot": (lambda: scene().add_robot("solo1"), "did you mean 'solo12'"),
    "bundled scene": (lambda: ss.Simulation("bal"), "did you mean 'ball'"),
    "bundled scene by key": (lambda: ss.SCENES["bal"], "unknown scene 'bal': did you mean 'ball'"),
    "actuator": (lambda: sim().set_control({"amr": 1.0}), "unknown actuator 'amr': did you mean 'arm'"),
    "named control": (lambda: sim().set_control({"arm": "x"}), "control of 'arm': expected a finite number, got 'x'"),
    "compared": (lambda: ss.compare("ball", ["coulom"]), "did you mean 'coulomb'"),
    "plot": (lambda: sim().run(0.01).plot("enrgy"), "unknown plot 'enrgy': did you mean 'energy'"),
    "file": (lambda: ss.Scene.from_file("nix.urdf"), "nix.urdf: no such file"),
    "recording": (lambda: ss.load("nix.h5"), "no such file"),
    "folder": (lambda: sim().run(0.01, record="/nix/x.h5"), "create the folder first"),
    # attributes
    "qpos": (lambda: sim().qpos, "Simulation has no attribute 'qpos'; here it is sim.state.q"),
    "ctrl": (lambda: sim().ctrl, "here it is sim.control"),
    "data": (lambda: sim().data, "here it is sim.state, sim.inputs|here it is sim.state, inputs"),
    "render": (lambda: sim().render(), "ss.view"),
    "stp": (lambda: sim().stp(), "did you mean 'step'"),
    "add_bx": (lambda: scene().add_bx(), "did you mean 'add_box'"),
    "nbody": (lambda: scene().compile().nbody, "Model has no attribute 'nbody'; here it is model.nlink"),
    "joint_nams": (lambda: scene().compile().joint_nams, "did you mean 'joint_names'"),
    "qpos of a log": (lambda: sim().run(0.01).qpos, "Log has no attribute 'qpos'; here it is log.q"),
    "qvel of a state": (lambda: sim().state.qvel, "State has no attribute 'qvel'; here it is state.v"),
    "qpos of set_state": (lambda: sim().set_state(qpos=[1]), "unknown option of set_state 'qpos': did you mean 'q'"),
    "assigned": (lambda: setattr(sim(), "qpos", 3), "sim.set_state"),
    "gravity": (lambda: setattr(sim(), "gravity", 3), "sim.model.set_gravity"),
    "gravity as number": (lambda: setattr(scene(), "gravity", -9.81), "gravity: expected 3 finite numbers"),
    "qpos of a joint": (lambda: setattr(sim().joint("arm"), "qpos", 1), "to assign; here it is joint.q"),
    "qvel of a joint": (lambda: sim().joint("arm").qvel, "JointView has no attribute 'qvel'; here it is joint.v"),
    "xfrc_applied": (lambda: setattr(sim().body("box"), "xfrc_applied", 1), r"here it is sim.push\(body, force\)"),
    "position of a body": (lambda: sim().body("box").position, "here it is body.pos"),
    "place of a body": (lambda: setattr(sim().body("box"), "pos", (0, 0, 1)), r"sim.joint\(name\).q = "),
    "mass of a body": (lambda: setattr(scene().body("box"), "mass", 3), r"sim.model.set_body\(name, mass=…\)"),
    "friction of a body": (lambda: scene().body("box").friction, r"set_shape\(name, friction=…\)"),
    "depth of contacts": (lambda: sim().contacts.depth, "here it is contacts.gap"),
    "forces of contacts": (lambda: setattr(sim().contacts, "forces", 0), "here it is contacts.force"),
    "assigned to a state": (lambda: setattr(sim().state, "qpos", 0), "here it is state.q"),
    "assigned to a model": (lambda: setattr(sim().model, "gravity", 0), r"model.set_gravity\(\(x, y, z\)\)"),
    "tree of a model": (lambda: setattr(sim().model, "tree", 0), "Model.tree cannot be assigned; model.set_… change"),
    "module": (lambda: ss.Simulaton, "no attribute 'Simulaton'; did you mean 'Simulation'"),
    "module's world": (lambda: ss.World, "did you mean 'Scene' or 'Simulation'"),
    "add_cube": (lambda: scene().add_cube((1, 1, 1)), "did you mean 'add_box'"),
    "loadURDF": (lambda: scene().loadURDF("x"), "did you mean 'load'"),
    "capitals": (lambda: sim("RK4"), "did you mean 'rk4'"),
    # keywords
    "push time": (
        lambda: sim().push("box", (1, 0, 0), time=1),
        "unknown option of push 'time': did you mean 'duration'",
    ),
    "run steps": (lambda: sim().run(steps=9), "did you mean 'duration'. a duration is in seconds"),
    "ray pos": (lambda: sim().ray(pos=(0, 0, 1), direction=(0, 0, -1)), "did you mean 'origin'"),
    "PD kv": (lambda: ss.control.PD(kp=1, kv=1), "unknown option of PD 'kv': did you mean 'kp' or 'kd'"),
    "mu of a setter": (lambda: sim().model.set_shape("box", mu=1), "unknown option of set_shape 'mu': .* 'friction'"),
    "fixed base": (lambda: scene().load("x", useFixedBase=1), "'floating_base'. a base is fixed without it"),
    "angles": (lambda: scene().add_box((1, 1, 1), euler=1), r"did you mean 'quat'. quat is \(w, x, y, z\), not angles"),
    "view": (lambda: ss.view(scene(), metod="coulomb"), "unknown option of view 'metod': did you mean 'method'"),
    "view a file": (lambda: ss.view("x.xml", floatingbase=1), "'floatingbase': did you mean 'floating_base'"),
    "method to compare": (lambda: ss.compare("ball", method=["expo"]), "did you mean 'methods'"),
    "framerate": (lambda: sim().run(0.01).video("x.mp4", framerate=9), "unknown option of video .* mean 'fps'"),
    "image": (lambda: sim().run(0.01).image(resolution=9), "unknown option of image 'resolution': .*known: camera"),
    "plotted": (lambda: sim().run(0.01).plot("height", joints=[1]), "unknown option of plot 'height' 'joints'.*links"),
    "contacts by name": (lambda: sim().contacts["box"], r"sim.contacts.between\('box'\) filters by name"),
    # other arguments
    "push at a shape": (lambda: sim().push("floor", (1, 0, 0)), "'floor' is a shape: .* its body is 'world'"),
    "no actuators": (lambda: ss.Simulation(scene_of_a_crate()).set_control([1]), "none, because the scene has no act"),
    "snapshot": (lambda: sim().restore(None), "snapshot: expected what sim.snapshot"),
    "recorder": (lambda: ss.Recorder("x.h5"), "Recorder: expected a Simulation"),
    "record a film": (lambda: sim().run(0.01, record="x.mp4"), "ends in .h5, got 'x.mp4'; log.video makes such a file"),
    "record a switch": (lambda: sim().run(0.01, record=True), "record: expected the path of a file"),
    "size of a film": (lambda: sim().run(0.01).gif("x.gif", size=9), "size: expected width and height"),
    "push of nothing": (lambda: sim().push("box"), r"push: expected a force=\(x, y, z\) \[N\] or a torque=.*got"),
    "camera": (lambda: sim().run(0.01).image(camera="top"), "camera: expected a .*Camera.*, got 'top'"),
    "options as a label": (lambda: ss.Candidate("expo", {"matmuls": 2}), "label of expo: expected a text, got {'mat"),
    "mass matrix": (lambda: ss.Dynamics(scene().compile()).mass_matrix, r"here it is dynamics.crba\(q\)"),
    "a name by its place": (lambda: ss.Scene("world"), "Scene: expected nothing without a name.*as name=…"),
    "a place by its place": (lambda: scene().add_box((1, 1, 1), (0, 0, 1)), "expected size without a name.*as pos=…"),
    "a file as text": (lambda: ss.Scene.from_xml("robot.xml"), r"got 'robot.xml'; Scene.from_file\(path\) reads a"),
    "a mesh as a robot": (lambda: scene().load("a.stl"), r"a.stl: expected .* got a mesh; scene.add_mesh\(path\)"),
    "a recording as a robot": (lambda: ss.Simulation("a.h5"), "a.h5: expected .* got a recording; ss.load"),
    "a word for no": (lambda: scene().load("x.urdf", floating_base="no"), "floating_base: expected True or False"),
    # shapes
    "size as number": (lambda: scene().add_box(0.1), "size: expected 3 finite numbers.*three edge lengths"),
    "one size": (lambda: scene().add_box((0.1, -0.1, 0.1)), r"size: expected positive lengths \[m\], got -0\.1$"),
    "colour": (lambda: scene().add_sphere(1, rgba=(255, 0, 0, 255)), "rgba: expected 4 numbers from 0 to 1"),
    "material": (lambda: scene().add_sphere(1, material={}), "material: expected an ss.Material, got {}"),
    "three angles": (lambda: scene().add_sphere(1, quat=(0, 0, 1)), r"a quaternion is \(w, x, y, z\)"),
    "radius": (lambda: scene().add_sphere(0), "radius: expected positive lengths"),
    "mass": (lambda: scene().add_box((1, 1, 1), mass=-1), "mass: expected a number ≥ 0"),
    "no rotation": (lambda: scene().add_box((1, 1, 1), quat=(0, 0, 0, 0)), r"quat: expected a rotation \(w, x, y, z\)"),
    "mu": (lambda: scene().add_box((1, 1, 1), mu=1), "did you mean 'friction'"),
    "position": (lambda: scene().add_box((1, 1, 1), position=1), "did you mean 'pos'"),
    "taken": (lambda: scene().add_box((1, 1, 1), name="box"), "body name 'box' is taken"),
    "joint type": (lambda: scene().add_box((1, 1, 1), joint="hing"), "did you mean 'hinge'"),
    "motor": (lambda: scene().add_box((1, 1, 1), motor=True), "motor: expected a hinge or slide joint"),
    "degrees": (lambda: scene().add_box((1, 1, 1), joint="hinge", range=(-90, 90)), r"radians\(\(-90, 90\)\)"),
    "xml": (lambda: ss.Scene.from_xml("<mujoco>"), "broken XML at line 1"),
    # functions
    "controller's arguments": (lambda: controlled(lambda q, v: [0]), r"f\(t, q, v\).*which takes \(q, v\)"),
    "controller is a class": (lambda: controlled(ss.control.PD), "got 'PD', which takes"),
    "controller is none": (lambda: controlled(3), "controller: expected a function"),
    "controller that steps": (stepping_itself, "expected controls, got a call of sim.step"),
    "no controls": (lambda: controlled(lambda t, q, v: None), "controller '<lambda>', control: expected .* got None"),
    "three controls": (lambda: controlled(lambda t, q, v: [1, 2, 3]), r"shape \(1,\), one per actuator, got \(3,\)"),
    "text": (lambda: controlled(lambda t, q, v: "hi"), "expected 1 numbers, one per actuator, got 'hi'"),
    "complex state": (lambda: sim().set_state(q=np.zeros(8) + 1j), "q: expected an array of numbers, got array"),
    "state of texts": (lambda: sim().set_state(v=["0"] * 7), "v: expected an array of numbers, got"),
    "masked state": (
        lambda: sim().set_state(v=np.ma.masked_all(7)),
        "v: expected an array of numbers, got Mask",
    ),
    "masked size": (lambda: scene().add_box(np.ma.masked_all(3)), "size: expected 3 finite numbers"),
    "path of bytes": (lambda: sim().run(0.01, record=b"x.h5"), r"record: expected the path of a file.*got b'x\.h5'"),
    "no rotation left": (unturned, r"quaternion of joint .box. in q: expected unit length, got \(0.0, 0.0, 0.0, 0.0\)"),
    "complex": (lambda: controlled(lambda t, q, v: np.array([1j])), "expected 1 numbers"),
    "no number": (lambda: controlled(lambda t, q, v: [np.nan]), "control of 'arm': expected a finite number, got nan"),
    "heavy plane": (lambda: ss.Scene().add_plane(mass=1), "add_plane mass: expected none, since a plane is fixed"),
    "PD of a model": (lambda: controlled(ss.control.PD(scene().compile(), kp=1, kd=1)), "got <Model: "),
    "two controllers": (lambda: controlled([ss.control.PD(kp=1, kd=1)] * 2), r"ss.control.Sum\(a, b\) is several"),
    "sum of nothing": (lambda: ss.control.Sum(), r"such as Sum\(first, second\)"),
    "PD without a model": (lambda: ss.control.PD(kp=1, kd=1)(0, np.zeros(8), np.zeros(7)), "PD: no model yet"),
    "named control of a controller": (lambda: controlled(lambda t, q, v: {"amr": 1}), "did you mean 'arm'"),
    "PD gains": (lambda: controlled(ss.control.PD(kp=[1, 2], kd=1)), "PD kp: expected a number or 1 numbers"),
    "PD gain": (lambda: controlled(ss.control.PD(kp="x", kd=1)), "PD kp: expected a number or 1 numbers, got 'x'"),
    "stage": (lambda: sim(user=lambda: None), r"user: expected a function f\(sim\), got '<lambda>', which takes \(\)"),
    "solver": (lambda: sim("coulomb", solver=lambda p: None), r"f\(problem, z0\) → z, got .* takes \(p\)"),
    "answer": (lambda: sim("coulomb", solver=lambda p, z: None).run(0.1), "solver '<lambda>': expected z of shape"),
    "detector's arguments": (lambda: sim("coulomb", detector=lambda k: None), r"detector: .* takes \(k\)"),
    "observer": (observed, "observers: expected an Observer"),
    "accelerations": (lambda: sim(solve=lambda s: s.acceleration.fill(np.nan)).step(), "solve function '<lambda>'"),
    "motion": (lambda: sim().prescribe("box", lambda t: 1), "unknown mocap body"),
    "f of an ess": (lambda: ss.ess.solve_ess(3, None, None, (0, 1), np.zeros(2)), "f: expected a function"),
    # numbers
    "q": (lambda: with_nan("state.q"), r"sim.state.q\[7\] of joint 'arm': expected a finite number, got nan"),
    "v": (lambda: with_nan("state.v", np.inf), r"sim.state.v\[6\] of joint 'arm': expected a finite number, got inf"),
    "control": (lambda: with_nan("inputs.control"), r"sim.inputs.control\[0\] of actuator 'arm'"),
    "applied": (lambda: with_nan("inputs.applied"), r"sim.inputs.applied\[6\] of joint 'arm'"),
    "wrench": (lambda: with_nan("inputs.wrench"), r"sim.inputs.wrench\[2, 0\] of body 'arm'"),
    "duration": (lambda: sim().run("abc"), "duration: expected a number of seconds"),
    "steps": (lambda: sim().step(1.5), "n: expected a whole number of steps"),
    "state": (lambda: sim().set_state(q=[1, 2]), r"state.q: expected an array of shape \(8,\), got \(2,\)"),
    "many steps": (lambda: sim().step(10**5000), r"n: expected (at most 1e\+10|a whole number of) steps"),
    "huge number": (lambda: sim().set_state(v=[10**400]), "v: expected an array of numbers"),
    "huge vector": (lambda: scene().add_box((1, 1, 10**400)), "size: expected 3 finite numbers"),
    "seed": (lambda: sim(seed=-1), "seed: expected a whole number ≥ 0, got -1"),
    "directions": (lambda: sim("stewart-trinkle", directions=1e300), "directions: expected a whole number"),
    "read-only": (lambda: scene().gravity.__setitem__(2, 0.0), "read-only"),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_a_mistake_is_named(what):
    call, message = MISTAKES[what]
    with pytest.raises((ss.StickslipError, StickslipWarning, ValueError, AttributeError), match=message) as caught:
        call()
    assert len(str(caught.value)) < 300
    assert "\n" not in str(caught.value)


def test_the_advised_step_is_stable():
    """A run above the stable step is told a step below it, and not only half of its own."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = ss.Simulation(scene_of_a_crate(), "semi-implicit-euler", dt=1e-2)
        made.step(100)
    gain = next(str(warning.message) for warning in caught if issubclass(warning.category, ss.EnergyGainWarning))
    advised = float(gain.split("take dt = ")[1].split()[0])
    assert 0.1 * made.stable_dt < advised < made.stable_dt


def test_a_tolerance_that_stops_a_step_is_not_blamed_on_dt():
    made = sim("event-selected")
    made.status = STALLED
    message = describe_divergence(made)
    assert "try another method, such as implicit-euler" in message
    assert "smaller dt" not in message
    assert len(message) < 200  # the name of a file follows


def test_a_divergence_keeps_its_advice():
    """The gap and the force of a contact go before the advice does, when the name of a file follows."""
    made = ss.Simulation(scene(), "coulomb", dt=0.01)
    made.joint("arm").q = 0.3
    made.controller = lambda t, q, v: -20 * q[-1:] - 50 * v[-1:]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StickslipWarning)
        with pytest.raises(ss.DivergedError, match=r"try a smaller dt than 0.01 s.*, or lower gains of the controller"):
            made.run(5.0)


def test_a_rounded_period_is_said_once():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sim("coulomb", dt=1e-3).run(0.01, controller=lambda t, q, v: [0], control_dt=1.5e-3)
    assert [str(warning.message).partition(":")[0] for warning in caught] == [
        "control_dt = 0.0015 s is no multiple of dt = 0.001 s"
    ]


def test_long_messages_lose_their_middle():
    long = "x" * 500
    for error in (
        ss.InputError(long),
        expected("a", long, long, long),
        unknown("b", long, [long]),
        StickslipWarning(long),
    ):
        assert len(str(error)) < 300
    assert shortened("one\ntwo") == "one two"
    assert len(str(expected("model", "a name", scene().compile().tree))) < 300
    assert str(expected("n", "steps", 10**5000)) == "n: expected steps, got a int"
    assert str(expected("q", "a number", np.zeros(99))) == "q: expected a number, got ndarray of shape (99,)"


def _length(node: ast.expr) -> int:
    """Characters of a literal message, with a guess for each value in it."""
    if isinstance(node, ast.Constant):
        return len(node.value) if isinstance(node.value, str) else PLACEHOLDER
    if isinstance(node, ast.JoinedStr):
        return sum(_length(part) for part in node.values)
    if isinstance(node, ast.BinOp):
        return _length(node.left) + _length(node.right)
    return PLACEHOLDER


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_message_is_written_too_long(path):
    """The arguments of every call whose name says that it makes an error or a warning."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if name.endswith(("Error", "Warning")) or name in ("expected", "_warn", "warn", "unknown"):
                length = sum(_length(argument) for argument in node.args if not isinstance(argument, ast.Starred))
                assert length < 300, f"{path}:{node.lineno}: {length} characters"


def test_a_robot_that_starts_inside_itself_is_named_with_its_remedy(tmp_path):
    """The base is fixed to the world; its name is told all the same, and what helps is to let the two pass."""
    (tmp_path / "r.urdf").write_text(ROBOT)
    made = ss.Scene.from_file(tmp_path / "r.urdf")
    with pytest.warns(ss.StartWarning, match=r"'hand' 0.05 m inside 'base'.*scene.exclude\('base', 'hand'\)") as caught:
        ss.Simulation(made, "coulomb", dt=1e-3).step()
    assert len(str(caught[0].message)) < 300
    made.exclude("base", "hand")
    ss.Simulation(made, "coulomb", dt=1e-3).step()  # a warning would be an error


@pytest.mark.parametrize("method", ["semi-implicit-euler", "euler", "rk4"])
@pytest.mark.parametrize("by_run", [True, False])
def test_a_crate_is_not_thrown_away_in_silence(method, by_run):
    with pytest.warns(ss.UnstableStepWarning):
        made = ss.Simulation(scene_of_a_crate(), method, dt=1.0)
    message = r"gained .* J from nothing: .*body 'crate'.*dt than 1 s \(below 0.00"
    with pytest.raises(ss.DivergedError, match=message) as error:
        made.run(5.0) if by_run else made.step(5)
    assert len(str(error.value)) < 300
    assert made.time < 5.0 or not by_run


def test_what_a_step_above_the_stable_one_may_do():
    """No false alarm: a crate that starts fast, one that is set in motion later, and one that wobbles."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StickslipWarning)
        made = ss.Simulation(scene_of_a_crate(), "semi-implicit-euler", dt=3e-3)
        assert made.dt > made.stable_dt
        made.set_state(v=[0, 0, 100, 0, 0, 0])
        made.step(40)
        made.state.v[2] = 1e5
        made.step(40)
        made.set_state(v=[0, 0, 1e7, 0, 0, 0])
        made.step(40)
        made.reset()
        made.push("crate", (0, 0, 1e6), duration=0.03)
        made.step(40)
        made.reset()
        made.run(0.5)


def test_mujoco_says_that_its_contacts_are_softer_than_the_step():
    with pytest.warns(ss.UnstableStepWarning, match=r"dt = 1 s is above 0.02 s.* take dt = 0.01 s or less"):
        ss.Simulation(scene_of_a_crate(), "mujoco", dt=1.0)
    ss.Simulation(scene_of_a_crate(), "mujoco", dt=0.01)  # a warning would be an error


def test_controls_by_name():
    made = sim()
    made.controller = lambda t, q, v: {"arm": 0.25}
    made.step()
    assert made.control.tolist() == [0.25]
    made.controller = None
    made.set_control({"arm": 0.5})
    assert made.control.tolist() == [0.5]
    made.set_control({})
    assert made.control.tolist() == [0.5]


def test_an_unsolved_step_of_a_loop_is_one_warning():
    made = ss.Scene()
    made.add_plane()
    for k, mass in enumerate((1.0, 1e5)):
        made.add_box((1, 1, 1), pos=(0, 0, 0.5 + k), mass=mass)
    sim = ss.Simulation(made, "coulomb/pgs", dt=0.01, solver_options={"max_iterations": 2})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(20):
            sim.step()
    assert sim.stepper.unconverged > 5
    messages = [str(warning.message) for warning in caught]
    assert len(messages) == 1
    assert "1 of 1 steps" in messages[0]
    assert "unconverged='fallback'" in messages[0]
    assert len(messages[0]) < 300
