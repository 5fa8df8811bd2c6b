"""What users register from outside the package becomes a method; what cannot is refused by name."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from typer.testing import CliRunner

import stickslip as ss
from stickslip.cli import app
from stickslip.cli.plugin import load_plugin
from stickslip.methods.registry import METHODS, method_names, variants
from stickslip.methods.rigid.formulations.registry import FORMULATIONS
from stickslip.methods.rigid.formulations.stewart_trinkle import StewartTrinkle
from stickslip.solvers import SOLVERS, LinearProblem, Solver, Status
from stickslip.solvers.base import Outcome


@pytest.fixture(autouse=True)
def as_before(monkeypatch):
    """Every registry is put back."""
    for module, name in (
        ("solvers.registry", "SOLVERS"),
        ("collision.detectors", "DETECTORS"),
        ("methods.rigid.formulations.registry", "FORMULATIONS"),
        ("methods.registry", "METHODS"),
    ):
        registry = getattr(__import__(f"stickslip.{module}", fromlist=[name]), name)
        for key in ("mine", "theirs"):
            monkeypatch.setitem(registry, key, None)
            monkeypatch.delitem(registry, key)


def lemke(problem, z):
    """Somebody else's solver, called."""
    found = ss.solvers.solve(problem, "lemke")
    return found.z, found.iterations


def run(method, seconds=0.1, compiled=True, **options):
    setup = ss.SCENES["sliding-block"].build()
    sim = ss.Simulation(setup.scene, method, 0.01, **options)
    sim.stepper.compiled = compiled
    return sim.run(seconds)


def test_a_function_becomes_a_solver_of_the_formulations_it_fits():
    assert ss.extend.solver("mine", solves=["lcp"], iterative=False, reference="nobody 2000")(lemke) is lemke
    paired = [method for method in method_names() if method.endswith("/mine")]
    assert paired == ["stewart-trinkle/mine", "anitescu-potra/mine", "peg/mine"]
    assert variants()["mine"] == "solver of time stepping; Somebody else's solver, called"
    assert SOLVERS["mine"].reference == "nobody 2000"
    log, theirs = run("stewart-trinkle/mine"), run("stewart-trinkle/lemke", compiled=False)
    assert np.allclose(log.q, theirs.q, rtol=0, atol=1e-12)  # the same solver behind the same working set
    assert np.array_equal(log.iterations, theirs.iterations)
    assert log.options["variant"] == "mine"


def test_solvers_are_forgotten_when_the_registry_forgets_them():
    ss.extend.solver("mine")(lemke)
    assert "mine" in METHODS["stewart-trinkle"].capabilities.variants
    del SOLVERS["mine"]
    with pytest.raises(ss.InputError, match="cannot be paired with 'mine'"):
        run("stewart-trinkle/mine")


@pytest.mark.filterwarnings("ignore::stickslip.errors.EnergyGainWarning")  # which a wrong answer may well bring
def test_a_wrong_answer_is_judged():
    ss.extend.solver("mine")(lambda problem, z: 0.0 * z - 1.0)
    result = ss.solvers.solve(LinearProblem([[1.0]], [-1.0]), "mine")
    assert result.status is Status.INACCURATE
    assert result.residual == 2.0  # z − max(0, z − (z − 1)) at z = −1
    with pytest.warns(ss.UnconvergedWarning):
        run("stewart-trinkle/mine", 0.02)


def test_a_wrong_shape_is_refused():
    ss.extend.solver("mine")(lambda problem, z: z[:-1])
    with pytest.raises(ss.InputError, match=r"answer of <lambda>: expected z of shape \(1,\), or \(z"):
        ss.solvers.solve(LinearProblem([[1.0]], [-1.0]), "mine")


def test_a_solver_class_with_options():
    @ss.extend.solver("mine")
    @dataclass
    class Sweeps(Solver):
        """Ten sweeps of Gauss–Seidel."""

        sweeps: int = 10
        solves: ClassVar = frozenset({"lcp"})

        def _solve(self, problem, z):
            for _ in range(self.sweeps):
                for i in range(problem.n):
                    z[i] = max(0.0, z[i] - (problem.A[i] @ z + problem.b[i]) / problem.A[i, i])
            return Outcome(z, Status.CONVERGED, self.sweeps, np.empty(0))

    problem = LinearProblem([[2.0, 1.0], [1.0, 2.0]], [-5.0, -4.0])
    assert np.allclose(ss.solvers.solve(problem, "mine", sweeps=40).z, [2.0, 1.0])
    assert ss.solvers.solve(problem, "mine", sweeps=2).status is Status.INACCURATE
    assert SOLVERS["mine"].summary == "Ten sweeps of Gauss–Seidel"


class FlatFloor(ss.extend.Detector):
    """A ball of radius 0.1 m over z = 0."""

    def __init__(self, model, margin):
        self.margin = margin

    def find(self, kin, contacts):
        contacts.clear()
        x, y, z = kin.pos[1]
        if z - 0.1 < self.margin:
            contacts.add(0, 1, (x, y, z - 0.1), (0, 0, 1), z - 0.1, pair=0, friction=0.5)


def ball(height=0.1):
    scene = ss.Scene()
    scene.add_sphere(0.1, name="ball", pos=(0, 0, height), mass=1.0)
    return scene


def test_a_detector_by_name():
    ss.extend.detector("mine")(FlatFloor)
    sim = ss.Simulation(ball(), "stewart-trinkle", 0.01, detector="mine")
    log = sim.run(0.2)
    assert log.pose[-1, 1, 2] == pytest.approx(0.1, abs=1e-9)  # there is no floor but the detector's
    assert log.contact_force()[-1] == pytest.approx(9.81 * sim.model.inertia.mass.sum(), rel=1e-9)


def test_contacts_of_a_detector_from_outside_are_checked():
    class Wrong(FlatFloor):
        def find(self, kin, contacts):
            super().find(kin, contacts)
            contacts.arrays.axes[0] *= 2.0

    ss.extend.detector("mine")(Wrong)
    with pytest.raises(ss.InputError, match="contact 0: expected axes"):
        ss.Simulation(ball(), "stewart-trinkle", 0.01, detector="mine").step()


def test_something_that_is_no_detector_is_refused():
    ss.extend.detector("mine")(lambda model, margin: "none")
    with pytest.raises(ss.InputError, match="detector 'mine': expected a Detector"):
        ss.Simulation(ball(), "stewart-trinkle", 0.01, detector="mine")


class Falling(ss.extend.PlainMethod):
    """Symplectic Euler over a penalty floor."""

    capabilities = ss.extend.Capabilities("symplectic Euler", ("penalty",), frozenset(), 1, "nobody")

    def take_step(self, state, inputs):
        state.v += self.dt * self.acceleration(state, inputs)
        state.q[:] = self.dynamics.integrate(state.q, state.v, self.dt)

    def find(self, contacts):
        FlatFloor(self.model, 0.0).find(self.work.kin, contacts)

    def push(self, contacts):
        c, n = contacts.arrays, len(contacts)
        c.force[:n] = 0.0
        c.force[:n, 0] = np.maximum(0.0, -1e4 * c.gap[:n] - 50.0 * c.velocity[:n, 0])


def test_a_stepper_by_name():
    ss.extend.method("mine")(Falling)
    assert "mine/penalty" in method_names()
    assert variants()["penalty"] == "of mine"
    sim = ss.Simulation(ball(1.0), "mine", 1e-3)
    assert sim.method == "mine"
    log = sim.run(0.4)  # it falls
    assert sim.state.v[2] == pytest.approx(-9.81 * 0.4, rel=1e-12)
    assert log.pose[-1, 1, 2] == pytest.approx(sim.state.q[2], abs=1e-15)
    log = sim.run(2.0)  # it rests on its spring
    assert sim.state.q[2] == pytest.approx(0.1 - 9.81 / 1e4, rel=1e-9)
    assert log.contact_force()[-1] == pytest.approx(9.81, rel=1e-6)


def test_a_stepper_that_still_asks_for_pairs():
    class Old(Falling):
        def __init__(self, model, dt, variant, pairs, **options):
            super().__init__(model, dt, variant, pairs, **options)

    with pytest.warns(DeprecationWarning, match="pairs"):
        sim = ss.Simulation(ball(1.0), Old, 1e-3)
    sim.step(10)
    assert sim.state.v[2] == pytest.approx(-9.81 * 0.01, rel=1e-12)


def test_a_plain_stepper_feels_all_forces_but_contacts():
    """Joint springs, dampers, servos, controls, rotor inertia and wrenches, as MuJoCo has them."""
    setup = ss.SCENES["solo12-drop"].build()
    ss.extend.method("mine")(Falling)
    sim = ss.Simulation(setup.scene, "mine", 1e-3)
    rng = np.random.default_rng(1)
    sim.state.v[:] = rng.normal(size=sim.model.nv)
    sim.set_control(rng.normal(size=sim.model.nu))
    sim.stepper.find = lambda contacts: contacts.clear()
    other = ss.Simulation(setup.scene, "euler/none", 1e-6)
    other.set_state(v=sim.state.v)
    other.set_control(sim.control)
    found = sim.stepper.acceleration(sim.state, sim.inputs)
    other.step()
    assert found == pytest.approx((other.state.v - sim.state.v) / 1e-6, rel=1e-6, abs=1e-5)


def test_a_plain_stepper_that_diverges_is_taken_back():
    class Exploding(Falling):
        def take_step(self, state, inputs):
            state.q[:3] += 1.0
            state.v[:] = np.inf if self.step == 2 else 0.0

    ss.extend.method("mine")(Exploding)
    sim = ss.Simulation(ball(), "mine", 1e-3)
    with pytest.raises(ss.DivergedError):
        sim.run(0.1)
    assert sim.steps == 2
    assert sim.state.q[0] == 2.0


def test_a_formulation_becomes_a_stepper():
    @ss.extend.formulation("mine")
    @dataclass
    class Higher(StewartTrinkle):
        """Stewart–Trinkle over a cushion."""

        cushion: float = 0.01
        """[m]."""

        def normal_offset(self, matrices):
            return super().normal_offset(matrices) - self.cushion / matrices.dt

    assert "mine/lemke" in method_names()
    scene = ball(0.13)
    scene.add_plane()
    log = ss.Simulation(scene, "mine", 0.01, cushion=0.02, margin=0.1).run(0.3)
    assert log.pose[-1, 1, 2] == pytest.approx(0.12, abs=1e-6)
    ss.extend.formulation("mine")(Higher)  # as when a notebook's cell runs twice


class Alternatives(FlatFloor):
    """A group of two half-spaces: above z = 0, or beyond x = 1."""

    def find(self, kin, contacts):
        raise AssertionError("the formulation asks for groups")

    def find_groups(self, kin, contacts):
        super().find(kin, contacts)
        if not len(contacts):
            return np.zeros(1, dtype=np.int64)
        x, y, z = kin.pos[1]
        contacts.add(0, 1, (x - 0.1, y, z), (1, 0, 0), x - 1.1, pair=1, friction=0.5)
        return np.array([0, 2])


@pytest.mark.parametrize(("x", "rests"), [(0.0, True), (2.0, False)])
def test_a_formulation_may_have_groups_and_a_usual_detector(x, rests):
    """In PEG's way: a ball rests on the floor, but falls where it is outside the group's other half-space."""

    @ss.extend.formulation("mine")
    @dataclass
    class Grouped(FORMULATIONS["peg"]):
        """Groups from outside."""

        detector: ClassVar = "theirs"

    ss.extend.detector("theirs")(Alternatives)
    sim = ss.Simulation(ball(), "mine", 0.01)
    assert sim.stepper.grouped
    sim.set_state([x, *sim.state.q[1:]])
    sim.step(10)
    assert np.array_equal(sim.matrices.groups, [0, 2])
    assert sim.state.q[2] == pytest.approx(0.1, abs=1e-9) if rests else sim.state.q[2] < 0.06


def test_groups_that_a_detector_does_not_find_are_announced():
    @ss.extend.formulation("mine")
    @dataclass
    class Grouped(StewartTrinkle):
        """Groups from outside."""

        groups: ClassVar = True

    with pytest.warns(ss.NotHonouredWarning, match="mine works with groups of subcontacts, and the detector 'convex'"):
        ss.Simulation(ball(), "mine", 0.01)


REFUSED = {
    "a name with a slash": (lambda: ss.extend.solver("a/b"), "without slashes"),
    "no name": (lambda: ss.extend.method(""), "name of a method"),
    "a name of the package's": (lambda: ss.extend.solver("lemke"), "that the package does not use, got 'lemke'"),
    "a stepper of the package's": (lambda: ss.extend.method("expo"), "that the package does not use"),
    "a formulation's name": (lambda: ss.extend.method("peg"), "that the package does not use"),
    "an unknown kind": (lambda: ss.extend.solver("mine", solves=["lpc"])(lemke), "did you mean 'lcp'"),
    "no kind": (lambda: ss.extend.solver("mine", solves=[])(lemke), "some of lcp"),
    "no function": (lambda: ss.extend.solver("mine")(3), "a function"),
    "another class": (lambda: ss.extend.solver("mine")(FlatFloor), "a subclass of Solver"),
    "a class and kinds": (lambda: ss.extend.solver("mine", solves="lcp")(SOLVERS["lemke"]), "leave it out"),
    "an unfinished detector": (
        lambda: ss.extend.detector("mine")(type("Half", (ss.extend.Detector,), {})),
        "Half does not provide find",
    ),
    "an unfinished stepper": (
        lambda: ss.extend.method("mine")(type("Half", (ss.extend.Method,), {})),
        "Half does not provide advance, stages",
    ),
    "no capabilities": (
        lambda: ss.extend.method("mine")(type("Dumb", (Falling,), {"capabilities": None})),
        "capabilities of 'mine'",
    ),
    "a function as stepper": (lambda: ss.extend.method("mine")(lemke), "a subclass of Method"),
    "a function as formulation": (lambda: ss.extend.formulation("mine")(lemke), "a subclass of Formulation"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_registered(case):
    register, message = REFUSED[case]
    before = [dict(registry) for registry in (SOLVERS, METHODS, FORMULATIONS, ss.extend.DETECTORS)]
    with pytest.raises(ss.InputError, match=message):
        register()
    assert before == [dict(registry) for registry in (SOLVERS, METHODS, FORMULATIONS, ss.extend.DETECTORS)]


# -- --plugin ------------------------------------------------------------------------------------------------------

PLUGIN = """
import stickslip as ss

@ss.extend.solver("mine", solves=["lcp"])
def mine(problem, z):
    "Lemke again."
    return ss.solvers.solve(problem, "lemke").z
"""


@pytest.fixture
def plugin(tmp_path):
    path = tmp_path / "my_solver.py"
    path.write_text(PLUGIN)
    return path


def test_a_plugin_registers_and_may_be_loaded_again(plugin, monkeypatch):
    monkeypatch.setattr("stickslip.cli.plugin.LOADED", loaded := [])
    first = load_plugin(plugin)
    assert SOLVERS["mine"].summary == "Lemke again"
    assert load_plugin(str(plugin)) is not first
    assert loaded == [plugin]


def test_run_and_list_take_plugins(plugin, monkeypatch):
    monkeypatch.setattr("stickslip.cli.plugin.LOADED", [])
    command = ["run", "sliding-block", "--method", "stewart-trinkle/mine", "--time", "0.05", "--plugin", str(plugin)]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    assert "stewart-trinkle/mine" in result.output
    assert "Lemke again" in CliRunner().invoke(app, ["list", "--plugin", str(plugin)]).output


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("x = 1\n", "expected a file that registers something"),
        ("import stickslip as ss\n\nss.extend.solver('lemke')\n", r"bad.py', line 3: name of a solver: .* got 'lemke'"),
        ("x = [\n", r"bad.py', line 1: SyntaxError"),
        ("\n1 / 0\n", r"bad.py', line 2: ZeroDivisionError: division by zero"),
        ("raise SystemExit", r"bad.py', line 1: SystemExit"),
        ("class E(Exception):\n    __str__ = None\nraise E()\n", r"bad.py', line 3: E: no message"),
        (None, "expected a Python file"),
    ],
    ids=["nothing", "a name that is taken", "no Python", "an exception", "an end", "an odd exception", "no file"],
)
def test_bad_plugins_are_one_line(tmp_path, content, message):
    path = tmp_path / "bad.py"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ss.InputError, match=message):
        load_plugin(path)


def test_a_plugin_imports_its_neighbours(plugin, monkeypatch):
    monkeypatch.setattr("stickslip.cli.plugin.LOADED", [])
    (plugin.parent / "neighbour_of_a_plugin.py").write_text("from my_solver import mine\n")
    other = plugin.parent / "other.py"
    other.write_text("import neighbour_of_a_plugin\n")
    load_plugin(other)
    assert "mine" in SOLVERS
