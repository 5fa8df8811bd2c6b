"""Problem frames through formulations and solvers: closed forms, the judge, and reasons where a pair does not fit."""

from dataclasses import replace
from io import StringIO

import numpy as np
import pytest
from made_up_problems import G, cube, rod, two_spheres
from rich.console import Console

from stickslip.errors import InputError
from stickslip.lab.problems import matrices
from stickslip.lab.problems.solver_comparison import FORMS, SolverComparison, Trial, unavailable
from stickslip.lab.problems.solver_tables import MOST_REASONS, not_tried, tables
from stickslip.lab.report import write_csv
from stickslip.methods.rigid.formulations.registry import FORMULATIONS as EVERY
from stickslip.solvers.base import Outcome, Solver, Status
from stickslip.solvers.registry import SOLVERS

MU, DT = 0.5, 0.01
QUICK = tuple(name for name in SOLVERS if name != "path")  # that one starts a program for every problem
FORMULATIONS = ("stewart-trinkle", "anitescu-potra", "peg")


def along_x(frame):
    """The same with a friction direction along x, where the cube slides."""
    return replace(frame, tangents=np.tile((1.0, 0.0, 0.0), (len(frame.contacts.gaps), 1)))


def velocities(frame, **options):
    """{(formulation, form, solver): V⁺} of all that were solved, and the trials that were not tried."""
    found = {}
    trials = list(SolverComparison(repeat=1, **options).trials(1, frame))
    for trial in trials:
        assert trial.success == (trial.residual < 1e-7), trial
        assert trial.success or trial.solver != "lemke" or not trial.tried
        if trial.success:
            found[trial.formulation, trial.form, trial.solver] = matrices(frame).new_velocity(trial.impulses)
    return found, [trial for trial in trials if not trial.tried]


def test_cube_at_rest_stays():
    found, _ = velocities(cube(), forms=("lcp",), solvers=("lemke",))
    assert [key[0] for key in found] == list(FORMULATIONS)
    for V in found.values():
        assert np.abs(V).max() < 1e-12


def test_sliding_cube_is_slowed_by_friction():
    found, _ = velocities(along_x(cube((1.0, 0, 0, 0, 0, 0))), forms=("lcp",), solvers=("lemke",))
    for V in found.values():
        assert np.allclose(V[:3], (1.0 - MU * G * DT, 0.0, 0.0), rtol=0, atol=1e-12)


def test_collision_conserves_momentum_and_ends_the_approach():
    frame = two_spheres()
    before, masses = frame.bodies.velocities.reshape(2, 6), frame.bodies.masses[:, None]
    found, _ = velocities(frame, forms=("lcp",), solvers=("lemke",))
    assert found
    for V in found.values():
        after = V.reshape(2, 6)
        assert np.abs((masses * (after - before)[:, :3]).sum(axis=0)).max() < 1e-14
        spin = 0.1 * masses * (after - before)[:, 3:] + np.cross(
            frame.bodies.positions, masses * (after - before)[:, :3]
        )
        assert np.abs(spin.sum(axis=0)).max() < 1e-14
        assert after[0, 0] == pytest.approx(0.25, abs=1e-14)  # 1 kg at 1 m/s, and 3 kg: together they make 0.25 m/s
        assert after[1, 0] == pytest.approx(0.25, abs=1e-14)
        assert abs(after[1, 1]) > 0.01  # friction acts on both


def test_limit_stops_the_rod():
    found, _ = velocities(rod(), forms=("lcp", "reduced"), solvers=("lemke",))
    for V in found.values():
        assert np.abs(V).max() < 1e-13


@pytest.mark.parametrize(
    "frame", [along_x(cube((1.0, 0, 0, 0, 0, 0))), two_spheres(), rod()], ids=["cube", "spheres", "rod"]
)
def test_all_solvers_give_the_same_velocities(frame):
    found, _ = velocities(frame, formulations=("stewart-trinkle",), forms=("lcp", "mlcp"), solvers=QUICK)
    lemke, _ = velocities(frame, formulations=("stewart-trinkle",), forms=("lcp",), solvers=("lemke",))
    expected = next(iter(lemke.values()))
    for key, V in found.items():
        assert np.abs(V - expected).max() < 1e-6, key


def test_every_pair_is_tried_or_has_a_reason():
    comparison = SolverComparison(repeat=1)
    trials = list(comparison.trials(1, cube()))
    assert len(trials) == comparison.size(1) == len(EVERY) * len(FORMS) * len(SOLVERS)
    for trial in trials:
        assert trial.tried == (trial.seconds > 0.0) == bool(trial.status)
        if trial.form not in EVERY[trial.formulation].forms:
            assert "cannot be written as" in trial.why_not
            continue
        if trial.form == "reduced":
            assert "without joints" in trial.why_not
            continue
        if trial.form == "mlcp" and trial.solver in ("pgs", "jacobi", "fixed-point"):
            assert "'reduced'" in trial.why_not
        if trial.form not in SOLVERS[trial.solver].solves or trial.form not in EVERY[trial.formulation].forms:
            assert trial.why_not
    assert len(not_tried(trials)) == MOST_REASONS
    lines = not_tried(trials, most=1000)
    assert any("lemke solves lcp, not mlcp" in line for line in lines)
    assert any("peg cannot be written as ncp" in line for line in lines)
    assert sum("without joints the form reduced is the lcp" in line for line in lines) == 1
    assert sum("got the form 'mlcp'" in line for line in lines) == 3  # pgs, jacobi, fixed-point


def test_with_joints_the_reduced_form_is_tried():
    solvers = ("pgs", "jacobi", "fixed-point", "interior-point")
    trials = list(SolverComparison(("stewart-trinkle",), solvers=solvers, repeat=1).trials(1, rod()))
    found = {(t.form, t.solver): t for t in trials if t.tried}
    for solver in solvers:
        assert found["reduced", solver].success
        assert found["reduced", solver].unknowns == found["lcp", solver].unknowns + 5
        assert (("mlcp", solver) in found) == (solver == "interior-point")
    (alone,) = SolverComparison(("stewart-trinkle",), ("reduced",), ("pgs",), repeat=1).trials(1, cube())
    assert alone.tried  # the lcp was not asked for


class Absent(Solver):
    """Stands for a solver whose package is not installed."""

    summary, reference, solves = "absent", "", frozenset({"lcp"})

    def _solve(self, problem, z):
        raise InputError("absent: expected the package 'absent'; pip install absent")


class Wrong(Solver):
    """Says that it has converged, which is not true."""

    summary, reference, solves = "wrong", "", frozenset({"lcp"})

    def _solve(self, problem, z):
        return Outcome(z + 1.0, Status.CONVERGED, 3, np.empty(0))


def test_absent_solver_is_a_line_unless_it_was_asked_for(monkeypatch):
    monkeypatch.setitem(SOLVERS, "absent", Absent)
    assert "pip install" in unavailable("absent", {})
    _, others = velocities(cube(), formulations=("peg",), forms=("lcp",))
    assert "pip install absent" in next(trial.why_not for trial in others if trial.solver == "absent")
    with pytest.raises(InputError, match="pip install absent"):
        SolverComparison(solvers=("lemke", "absent"))


def test_wrong_answers_are_judged(monkeypatch):
    monkeypatch.setitem(SOLVERS, "wrong", Wrong)
    (trial,) = SolverComparison(("peg",), ("lcp",), ("wrong",), repeat=1).trials(1, cube())
    assert not trial.success
    assert trial.residual > 0.1
    assert trial.iterations == 3


def test_unknown_names():
    for wrong in ({"solvers": ("lemk",)}, {"formulations": ("stewart",)}, {"forms": ("lpc",)}):
        with pytest.raises(InputError, match="did you mean"):
            SolverComparison(**wrong)
    with pytest.raises(InputError, match="repeat"):
        SolverComparison(repeat=0)
    with pytest.raises(InputError, match="directions"):
        SolverComparison(directions=1)


def test_tables_and_csv_say_the_same(tmp_path):
    trials = [Trial(k, "peg", "lcp", "lemke", 6, 1e-9 * k, k, 1e-3, True, "good") for k in range(1, 4)]
    trials.append(Trial(1, "peg", "ncp", "lemke", why_not="peg cannot be written as ncp"))
    assert len(tables(trials)) == 3
    (summary,) = tables(trials * 25)
    assert [list(column.cells) for column in list(summary.columns)[:3]] == [["peg"], ["lcp"], ["lemke"]]
    assert list(summary.columns[4].cells) == ["75/75"]
    assert list(summary.columns[5].cells) == ["3.0e-09"]
    write_csv(tmp_path / "x.csv", [trial.numbers() for trial in trials])
    lines = (tmp_path / "x.csv").read_text().splitlines()
    assert len(lines) == 5
    assert lines[0].startswith("frame,formulation,form,solver,unknowns,residual")
    assert lines[4].endswith("not tried: peg cannot be written as ncp")


def test_eighty_columns_hold_the_longest_names_and_numbers():
    def trial(k):
        return Trial(
            k, "stewart-trinkle", "reduced", "interior-point", 20 * k, 1e-12, 12345, 100.0, k < 50, Status.STALLED.value
        )

    for shown in ([trial(k) for k in range(1, 101)], [trial(50)]):
        console = Console(width=80, file=StringIO())
        console.print(*tables(shown))
        text = console.file.getvalue()
        assert "…" not in text
        for word in ("stewart-trinkle", "reduced", "interior-point", "12345", "100000"):
            assert word in text
