"""A new method is one folder and one line in ``METHODS``, a new solver one file and one line in ``SOLVERS``: lists,
help, options, colours, citations, comparisons and solver tables follow from what they declare."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from typer.testing import CliRunner

import stickslip as ss
from stickslip.cli import app
from stickslip.lab.compare.citations import citation
from stickslip.lab.compare.report.colours import LIGHT, method_colours
from stickslip.methods.base import Capabilities
from stickslip.methods.options import Options, option
from stickslip.methods.plain import PlainMethod
from stickslip.methods.registry import METHODS
from stickslip.solvers.base import Outcome, Solver, Status
from stickslip.solvers.registry import SOLVERS

ENTRY = "@misc{toy2026,\n  title = {A toy}\n}"


@dataclass(kw_only=True)
class ToyOptions(Options):
    drag: float = option(0.5, "how much of the velocity is lost in a second [1/s]")


class Toy(PlainMethod):
    """Symplectic Euler with drag."""

    capabilities = Capabilities(
        "symplectic Euler with drag", ("none",), frozenset(), 1, "nobody", bibtex=(ENTRY,), colour=3
    )
    Options = ToyOptions

    def take_step(self, state, inputs):
        state.v += self.dt * (self.acceleration(state, inputs) - self.options.drag * state.v)
        state.q[:] = self.dynamics.integrate(state.q, state.v, self.dt)


@dataclass
class Bisection(Solver):
    """One unknown: A·z + b = 0 or z = 0."""

    summary: ClassVar[str] = "divides, for one unknown"
    reference: ClassVar[str] = "nobody"
    solves: ClassVar[frozenset[str]] = frozenset({"lcp"})

    def _solve(self, problem, z):
        return Outcome(np.maximum(0.0, -problem.b / problem.A[0, 0]), Status.CONVERGED, 1, np.empty(0))


@pytest.fixture
def registered(monkeypatch):
    """The one line of each."""
    monkeypatch.setitem(METHODS, "toy", Toy)
    monkeypatch.setitem(SOLVERS, "bisection", Bisection)


def ball():
    scene = ss.Scene()
    scene.add_sphere(0.1, pos=(0, 0, 1), mass=1.0)
    return scene


@pytest.mark.usefixtures("registered")
def test_a_toy_method_is_everywhere():
    assert {"toy", "toy/none"} <= set(ss.method_names())
    free, slowed = (ss.Simulation(ball(), "toy", 1e-3, drag=drag).run(0.2).v[-1, 2] for drag in (0.0, 5.0))
    assert free == pytest.approx(-0.2 * 9.81)
    assert slowed == pytest.approx(-9.81 / 5.0 * (1 - np.exp(-1.0)), rel=1e-2)
    with pytest.raises(ss.InputError, match="option of toy 'drga': did you mean 'drag'"):
        ss.Simulation(ball(), "toy", drga=1.0)
    assert method_colours(["toy/none"])["toy/none"] == LIGHT[3]
    assert citation("toy") == ENTRY + "\n"
    comparison = ss.compare(ball(), ["toy"], time=0.1, dts=[1e-2], stability=False, jobs=1)
    assert "toy" in str(comparison.settings["methods"])


@pytest.mark.usefixtures("registered")
def test_a_toy_solver_is_everywhere():
    problem = ss.solvers.LinearProblem(np.array([[2.0]]), np.array([-3.0]))
    assert ss.solvers.solve(problem, "bisection").z == pytest.approx([1.5])
    assert "stewart-trinkle/bisection" in ss.method_names()
    scene = ball()
    scene.add_plane(friction=0.0, pos=(0, 0, 0.9))
    log = ss.Simulation(scene, "stewart-trinkle/bisection", 0.01, form="lcp", margin=0.05, working_set=False).run(0.05)
    assert log.pose[-1, 1, 2] == pytest.approx(1.0, abs=1e-9)
    assert "@misc{bisection" in citation("stewart-trinkle/bisection")


@pytest.mark.usefixtures("registered")
def test_the_list_shows_both(monkeypatch):
    monkeypatch.setenv("COLUMNS", "400")
    shown = CliRunner().invoke(app, ["list"]).output
    assert "symplectic Euler with drag" in shown
    assert "how much of the velocity is lost in a second [1/s] (default 0.5)" in shown
    assert "divides, for one unknown" in shown
