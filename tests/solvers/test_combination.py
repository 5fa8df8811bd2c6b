"""Solvers are what their name says: none uses another one, and combinations have names of their own."""

import ast
import importlib.util
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from stickslip.errors import InputError
from stickslip.lab.compare.citations import entries
from stickslip.methods.rigid.formulations.registry import FORMULATIONS, fitting_solvers
from stickslip.solvers import SOLVERS, LinearProblem, NonlinearProblem, Solver, Status, generate, make_solver, solve
from stickslip.solvers.base import Outcome
from stickslip.solvers.combination import Combination

ROOT = Path(__file__).parents[2]
BY_DEFINITION = {("pivot", "lemke")}
"""(Solver, what it is made of): ``pivot`` is an elimination followed by Lemke's method."""
PLAIN = [name for name, kind in SOLVERS.items() if not issubclass(kind, Combination)]
COMBINED = [name for name in SOLVERS if name not in PLAIN]
PROBLEM = LinearProblem([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0])


@cache
def imported(module: str) -> frozenset[str]:
    """The modules of ``stickslip.solvers`` that a module imports, wherever in its text, and those that they import."""
    tree = ast.parse(Path(importlib.util.find_spec(module).origin).read_text())
    named = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    found = {name for name in named if name.startswith("stickslip.solvers.") and name != module}
    return frozenset(found.union(*(imported(name) for name in found)))


@pytest.mark.parametrize("name", PLAIN)
def test_no_solver_uses_another_one(name):
    others = {kind.__module__: other for other, kind in SOLVERS.items() if other != name}
    used = {others[module] for module in imported(SOLVERS[name].__module__) & set(others)}
    assert used == {other for mine, other in BY_DEFINITION if mine == name}


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_declares_its_papers_and_its_page(name):
    kind = SOLVERS[name]
    assert kind.bibtex
    assert set(kind.bibtex) <= set(entries())
    page, anchor = kind.page.split("#")
    headings = re.findall(r"^#+ (.*)$", (ROOT / page).read_text(), flags=re.MULTILINE)
    assert anchor in [re.sub(r"[^\w-]", "", heading.lower().replace(" ", "-")) for heading in headings]


@pytest.mark.parametrize("name", COMBINED)
def test_a_combination_is_named_after_its_parts(name):
    parts = SOLVERS[name].parts
    assert name == "+".join(parts)
    assert all(SOLVERS[part] is kind for part, kind in parts.items())
    assert SOLVERS[name].bibtex == tuple(key for kind in parts.values() for key in kind.bibtex)


def test_the_option_rescue_names_the_combination():
    with pytest.raises(InputError, match=r"no longer has the option 'rescue'.*'interior-point\+fischer-newton'"):
        make_solver("interior-point", rescue=True)


def heavy_and_light(seed: int):
    """27 spheres whose masses are apart by up to 10⁶."""
    rng = np.random.default_rng(seed)
    heap = generate.spheres(3, rng=rng)
    return heap._replace(inverse_mass=heap.inverse_mass * np.repeat(10.0 ** rng.uniform(-3.0, 3.0, 27), 6))


@pytest.mark.parametrize(
    ("name", "write", "seed"),
    [
        ("interior-point+fischer-newton", generate.stewart_trinkle, 0),
        ("fischer-newton+interior-point", generate.coulomb, 4),
    ],
)
def test_the_second_solves_what_the_first_does_not(name, write, seed):
    problem = write(heavy_and_light(seed))
    first, second = name.split("+")
    alone = solve(problem, first, history=True)
    assert not alone.success
    result = solve(problem, name, history=True)
    assert result.success
    assert result.found_by == second
    assert result.iterations > alone.iterations
    assert len(result.history) == result.iterations + 1
    np.testing.assert_array_equal(result.history[: alone.iterations + 1], alone.history)


@pytest.mark.parametrize("name", COMBINED)
def test_the_first_alone_where_it_converges(name):
    first = name.split("+")[0]
    alone, result = solve(PROBLEM, first), solve(PROBLEM, name)
    assert result.found_by == first
    assert result.iterations == alone.iterations
    np.testing.assert_array_equal(result.z, alone.z)
    assert alone.found_by == ""


def test_limits_and_kinds_hold_for_all_parts():
    problem = generate.stewart_trinkle(heavy_and_light(0))
    alone = solve(problem, "interior-point").iterations
    result = solve(problem, "interior-point+fischer-newton", max_iterations=alone + 3)
    assert result.iterations == alone + 3
    assert result.status in (Status.MAX_ITERATIONS, Status.STALLED)
    free = np.full(1, np.inf)
    function = NonlinearProblem(lambda z: z, lambda z: np.eye(1), -free, free)
    for name in COMBINED:
        with pytest.raises(InputError, match="InteriorPoint: expected a linear problem"):
            solve(function, name)


@dataclass
class Toy(Solver):
    """Gauss–Seidel, ten lines of it."""

    sweeps: int = 100

    summary: ClassVar[str] = "a toy"
    reference: ClassVar[str] = "Gauss 1823"
    bibtex: ClassVar[tuple[str, ...]] = ("cottle1992",)
    solves: ClassVar[frozenset[str]] = frozenset({"lcp"})

    def _solve(self, problem: LinearProblem, z: np.ndarray) -> Outcome:
        for _ in range(self.sweeps):
            for i in range(problem.n):
                z[i] = max(0.0, z[i] - (problem.A[i] @ z + problem.b[i]) / problem.A[i, i])
        return Outcome(z, Status.CONVERGED, self.sweeps, np.empty(0))


def test_a_new_solver_is_a_class_and_one_line(monkeypatch):
    monkeypatch.setitem(SOLVERS, "toy", Toy)
    result = solve(PROBLEM, "toy")
    assert result.success
    np.testing.assert_allclose(result.z, [4 / 3, 7 / 3])
    assert solve(PROBLEM, "toy", sweeps=1).status is Status.INACCURATE
    assert "toy" in fitting_solvers(FORMULATIONS["stewart-trinkle"])
    assert "toy" not in fitting_solvers(FORMULATIONS["relaxed"])


def test_a_new_combination_is_its_parts(monkeypatch):
    @dataclass
    class Short(Toy):
        sweeps: int = 1

    @dataclass
    class Both(Combination):
        parts: ClassVar[dict[str, type[Solver]]] = {"short": Short, "toy": Toy}

    monkeypatch.setitem(SOLVERS, "short+toy", Both)
    result = solve(PROBLEM, "short+toy")
    assert result.success
    assert result.found_by == "toy"
    assert result.iterations == 101
    with pytest.raises(InputError, match="solves lcp"):
        solve(generate.coulomb(generate.spheres(1)), "short+toy")


def test_modules_of_solvers_have_different_names():
    files = [path.stem for path in (ROOT / "src/stickslip/solvers").rglob("*.py") if path.stem != "__init__"]
    assert len(files) == len(set(files))
