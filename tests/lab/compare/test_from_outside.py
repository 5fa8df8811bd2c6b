"""A solver, a collision routine and a stepper that the package has never heard of take part in a comparison."""

import math

import numpy as np
import pytest

import stickslip as ss
from stickslip.collision.detectors import DETECTORS
from stickslip.lab.compare import Candidate
from stickslip.methods.registry import METHODS
from stickslip.solvers import SOLVERS

RADIUS = 0.1
"""[m]."""


@pytest.fixture(autouse=True)
def _registries_as_before(monkeypatch):
    for registry in (SOLVERS, DETECTORS, METHODS):
        for name in ("mine", "theirs"):
            monkeypatch.setitem(registry, name, None)
            monkeypatch.delitem(registry, name)


def mine(problem, z):
    """Newton's method on the Fischer–Burmeister function."""
    A, b = problem.dense(), problem.b
    count = 0
    while count < 100:
        count += 1
        w = A @ z + b
        length = np.sqrt(z * z + w * w) + 1e-14
        value = z + w - length
        if np.abs(np.minimum(z, w)).max() < 1e-10:
            break
        slope = np.diag(1.0 - z / length) + (1.0 - w / length)[:, None] * A
        step, part = np.linalg.lstsq(slope, -value, rcond=None)[0], 1.0
        while part > 1e-4 and _merit(A, b, z + part * step) > (1.0 - 1e-4 * part) * np.linalg.norm(value):
            part *= 0.5
        z = z + part * step
    return z, count


def _merit(A, b, z):
    w = A @ z + b
    return np.linalg.norm(z + w - np.hypot(z, w))


class Floor(ss.extend.Detector):
    """A ball over z = 0: the plane of the scene is not asked."""

    calls = 0

    def __init__(self, model, margin):
        self.margin = margin

    def find(self, kin, contacts):
        type(self).calls += 1
        contacts.clear()
        x, y, z = kin.pos[1]
        if z - RADIUS < self.margin:
            contacts.add(0, 1, (x, y, z - RADIUS), (0, 0, 1), z - RADIUS, pair=0, friction=0.3)


class Penalty(ss.extend.PlainMethod):
    """Symplectic Euler over springs."""

    capabilities = ss.extend.Capabilities("penalty springs", ("penalty",), frozenset(), 1, "Somebody, Penalties, 1999")

    def take_step(self, state, inputs):
        state.v += self.dt * self.acceleration(state, inputs)
        state.q[:] = self.dynamics.integrate(state.q, state.v, self.dt)

    def find(self, contacts):
        Floor(self.model, 0.0).find(self.work.kin, contacts)

    def push(self, contacts):
        arrays, n = contacts.arrays, len(contacts)
        arrays.force[:n] = 0.0
        arrays.force[:n, 0] = np.maximum(0.0, -1e5 * arrays.gap[:n] - 300.0 * arrays.velocity[:n, 0])


def ball():
    scene = ss.Scene(name="ball")
    scene.add_plane(friction=0.3)
    scene.add_sphere(RADIUS, name="ball", pos=(0, 0, RADIUS), mass=1.0, friction=0.3)
    return scene


def compare(methods, **options):
    """Of a resting ball, quickly."""
    return ss.compare(ball(), methods, time=0.05, stability=False, progress=False, **options)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_solver_a_collision_routine_and_a_stepper_from_outside(jobs):
    ss.extend.solver("mine", solves=["lcp"])(mine)
    ss.extend.detector("mine")(Floor)
    ss.extend.method("mine")(Penalty)
    own = Candidate("coulomb", "own floor", {"detector": "mine"})
    result = compare(
        ["stewart-trinkle/mine", "stewart-trinkle/lemke", own, "mine"],
        dts=[0.001],
        reference=("stewart-trinkle/lemke", 0.001),
        jobs=jobs,
    )  # fmt: skip
    runs = {candidate.label: candidate.runs[0] for candidate in result.candidates}
    assert list(runs) == ["stewart-trinkle/mine", "stewart-trinkle/lemke", "own floor", "mine"]
    for label, run in runs.items():
        assert run.outcome == "complete", (label, run.message)
        assert run.scores["us_per_step"] > 0
        with run.log() as log:
            assert log.contact_force()[-1] == pytest.approx(9.81, rel=1e-2 if label == "mine" else 1e-6)
    assert runs["stewart-trinkle/mine"].scores["error_max"] < 1e-9
    assert runs["own floor"].scores["error_max"] < 1e-9
    assert 0 < runs["mine"].scores["penetration_max"] == pytest.approx(9.81 / 1e5, rel=0.2)
    assert result.candidate("stewart-trinkle/mine").variant == "mine"
    assert "Penalties" in result.candidate("mine").citation
    assert result.candidate("own floor").options["detector"] == "mine"


def test_functions_and_classes_without_names_take_part():
    result = compare(
        [Penalty, Candidate("stewart-trinkle", "mine", {"solver": mine}),
         Candidate("coulomb", "theirs", {"detector": lambda kin, contacts: Floor(None, 0.01).find(kin, contacts)})],
        dts=[0.001], jobs=2,
    )  # fmt: skip
    assert [(candidate.label, candidate.runs[0].outcome) for candidate in result.candidates] == [
        ("Penalty", "complete"),
        ("mine", "complete"),
        ("theirs", "complete"),
    ]


def test_a_solver_that_fails_is_seen_to_fail():
    """Its impulses are doubled: no run ends, but every step counts as unconverged and the ball is thrown up."""
    ss.extend.solver("mine")(lambda problem, z: 2.0 * mine(problem, z)[0])
    result = compare(["stewart-trinkle/mine", "stewart-trinkle/lemke"], dts=[0.001], jobs=1)
    bad, good = (candidate.runs[0] for candidate in result.candidates)
    assert bad.scores["unconverged"] > 0
    assert good.scores["unconverged"] == 0
    assert bad.scores["energy_gained"] > 1e-3 > good.scores["energy_gained"]


def test_an_exception_of_a_solver_ends_its_run_only():
    @ss.extend.solver("mine")
    def broken(problem, z):
        raise RuntimeError("out of ideas")

    result = compare(["stewart-trinkle/mine", "stewart-trinkle/lemke"], dts=[0.001], jobs=1)
    bad, good = (candidate.runs[0] for candidate in result.candidates)
    assert good.outcome == "complete"
    assert bad.outcome == "failed"
    assert "out of ideas" in bad.message
    assert math.isnan(bad.dt) or bad.dt == 0.001


def test_a_plugin_takes_part_from_the_command_line(tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from stickslip.cli import app

    monkeypatch.setattr("stickslip.cli.plugin.LOADED", [])
    (tmp_path / "plugin.py").write_text(
        "import stickslip as ss\n\n"
        "@ss.extend.solver('mine')\n"
        "def mine(problem, z):\n"
        "    return ss.solvers.solve(problem, 'lemke').z\n"
    )
    command = ["compare", "sliding-block", "--methods", "stewart-trinkle/mine,stewart-trinkle/lemke", "--time", "0.05",
               "--dt", "0.01", "--no-stability", "--jobs", "1", "--plugin", str(tmp_path / "plugin.py"),
               "--out", str(tmp_path / "out")]  # fmt: skip
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    assert "stewart-trinkle/mine" in (tmp_path / "out" / "report.html").read_text()


def bits(comparison):
    """What every run recorded, as bytes; wall time is not part of it."""
    found = {}
    for run in comparison.runs():
        with run.log() as log:
            found[run.label, run.dt] = b"".join(
                array.tobytes() for array in (log.time, log.q, log.v, log.pose, log.contact("force"), log.iterations)
            )
    return found


def test_recordings_are_the_same_bits_however_many_workers_there_are():
    methods = ["expo", "rk4", "coulomb", "stewart-trinkle/lemke", "mujoco"]
    one, many = (
        ss.compare("ball", methods, time=0.02, dts=[0.001, 0.0005], stability=False, jobs=jobs, progress=False)
        for jobs in (1, 3)
    )
    assert len(bits(one)) == 10
    assert bits(one) == bits(many)
    figures = ("penetration_max", "energy_lost", "error_max", "cone")
    for a, b in zip(one.runs(), many.runs(), strict=True):
        assert [repr(a.scores[name]) for name in figures] == [repr(b.scores[name]) for name in figures]
