"""The reproduction of the RPI simulator's paper: known answers, claims that can fail, the driver on a tiny slice."""

import json
import re
from math import cos, pi, sin

import numpy as np
import pytest
from scipy.special import ellipk

from stickslip.lab.papers.driver import reproduce
from stickslip.lab.papers.rpisim import fig4_drift, fig8_peg
from stickslip.lab.papers.rpisim import sec53_formulations as formulations
from stickslip.lab.papers.rpisim.reproduction import RpiSim
from stickslip.lab.papers.rpisim.setups import CURVE, DT, Sizes, thinned
from stickslip.problem_files.problem_file import ProblemFile

G = 9.81
TINY = Sizes(
    pendulum_seconds=0.05,
    peg_steps=34,
    stack=2,
    stack_steps=4,
    samples=2,
    grasp_seconds=0.02,
    database=("peg",),
    margins=(0.1,),
    steps=(0.1, 0.05),
)


# -- known answers -----------------------------------------------------------------------------------------------------


def test_free_fall_is_that_of_the_step():
    z, v, heights = 1.5, 0.0, [1.5]
    for _ in range(40):
        v -= G * DT
        z += v * DT
        heights.append(z)
    np.testing.assert_allclose(fig8_peg.free_fall(40), heights, rtol=0, atol=1e-12)


def test_travel_is_the_fall_in_the_step_that_crosses_the_top():
    heights = fig8_peg.free_fall(40)
    k = int(np.flatnonzero(heights < 1.0)[0])
    assert pytest.approx(heights[k - 1] - heights[k]) == fig8_peg.TRAVEL


def test_sliding_distance():
    assert formulations.truth(0.0) == pytest.approx(0.5 * G * sin(pi / 12))
    assert formulations.truth(np.tan(pi / 12)) == pytest.approx(0.0, abs=1e-15), "that much friction holds it"


@pytest.mark.parametrize("method", formulations.METHODS)
def test_a_block_slides_as_the_step_integrates_it(method):
    """Along a friction direction all of the friction acts; in between cos(π/n) of it. Position: ½·a·t²·(1 + dt)."""
    assert formulations.slid(method, 0.05, 4, 0.0) == pytest.approx(1.05 * formulations.truth(), rel=1e-6)
    felt = formulations.FRICTION * cos(pi / 4)
    assert formulations.slid(method, 0.05, 4, pi / 4) == pytest.approx(1.05 * formulations.truth(felt), rel=1e-6)


def test_period_of_a_sine():
    t = np.arange(0.0, 5.0, 0.01)
    assert fig4_drift.period(t, np.sin(2 * pi * (t - 0.3) / 1.2)) == pytest.approx(1.2, rel=1e-4)
    assert fig4_drift.period(t, np.cos(t)) is None, "one upward crossing is no period"


def test_the_pendulum_swings_with_the_period_of_its_closed_form():
    """A cylinder hung up at its end, released at π/5: 4·√(I/(m·g·d))·K(sin(π/10))."""
    found = fig4_drift.swing("pendulum", "joint", 2.6)
    d = 0.25
    inertia = (3 * 0.1**2 + 0.5**2) / 12 + d**2
    assert found["period"] == pytest.approx(4 * np.sqrt(inertia / (G * d)) * ellipk(sin(pi / 10) ** 2), rel=2e-3)
    assert np.max(np.abs(found["angle"])) == pytest.approx(pi / 5, rel=1e-2)
    assert np.max(found["position"]) == np.max(found["velocity"]) == 0.0


def test_where_a_peg_must_be():
    right = fig8_peg.free_fall(100).tolist()
    assert formulations.missed(right, 0.99999, 100) == 0.0
    assert formulations.missed([*right[:-1], right[-1] + 0.5], 0.99999, 100) == pytest.approx(0.5)
    assert formulations.missed([1.5, 1.2], 1.00001, 1) == pytest.approx(0.2 - 5e-6)
    assert formulations.missed(right[:50], 0.99999, 100) == float("inf"), "it diverged"


def test_thinned_histories_keep_their_ends():
    short = thinned(np.array([1.0, 0.5, 0.1]))
    assert short == [[0, 1.0], [1, 0.5], [2, 0.1]]
    long = thinned(np.linspace(1.0, 0.0, 10_001))
    assert len(long) <= CURVE + 1
    assert (long[0], long[-1]) == ([0, 1.0], [10_000, 0.0])
    assert all(value == pytest.approx(1.0 - k / 10_000) for k, value in long)


# -- what is concluded -------------------------------------------------------------------------------------------------


def verdicts(**results):
    """{name of a target: whether it is met}."""
    return {target.name: target.met for target in RpiSim().targets(results)}


def joint(coordinates, position, velocity=0.0, period=1.2, seconds=5.0, original=1e-3):
    return {
        "joint": "revolute", "coordinates": coordinates, "position": [0.0, position], "velocity": [0.0, velocity],
        "times": [0.0, seconds], "period": period, "original": original,
    }  # fmt: skip


def test_claims_on_joint_errors():
    good = [joint("joint", 0.0), joint("maximal", 2e-3), joint("maximal, stabilised", 9e-6, 9e-6, 1.201)]
    assert len(verdicts(drift=good)) == 5
    assert all(verdicts(drift=good).values())
    for wrong, what in (
        (joint("maximal, stabilised", 2e-5), "position error"),
        (joint("maximal, stabilised", 0.0, 2e-5), "velocity error"),
        (joint("maximal, stabilised", 0.0, 0.0, 1.21), "change of the period"),
        (joint("maximal", 2e-2), "drift"),
        (joint("maximal", 5e-5), "drift"),
    ):
        found = verdicts(drift=[joint("joint", 0.0), wrong])
        assert [name for name, met in found.items() if not met and what in name], wrong
    short = verdicts(drift=[joint("joint", 0.0, period=None), joint("maximal", 1.0, period=None, seconds=1.0)])
    assert not short, "a short run says nothing of drifts after five seconds"


def fell(label, scale, z, top=1.5):
    name = next(name for name, value in fig8_peg.SCALES.items() if value == scale)
    return {"label": label, "scale": scale, "clearance": name, "z": z, "top": top}


def test_claims_on_pegs():
    end = float(fig8_peg.free_fall(fig8_peg.FALL_STEPS)[-1])
    anticipated = "Stewart–Trinkle, anticipated contacts"
    good = [fell("PEG", 0.99999, end), fell("PEG", 1.00001, 1.0), fell(anticipated, 0.99999, 1.0)]
    assert len(verdicts(peg=good)) == 5
    assert all(verdicts(peg=good).values())
    for wrong in (
        fell("PEG", 0.99999, 1.0),
        fell("PEG", 1.00001, end),
        fell("PEG", 1.00001, 1.0, top=1.6),
        fell(anticipated, 0.99999, end),
    ):
        assert sum(not met for met in verdicts(peg=[wrong]).values()) == 1, wrong


def test_claims_on_margins_are_about_those_that_can_work():
    def row(margin, error, method="PEG"):
        return {"method": method, "margin": margin, "error": error}

    assert all(verdicts(inclusion=[row(0.1, 0.0), row(0.01, 0.02), row(0.1, 4.0, "other")]).values())
    assert not all(verdicts(inclusion=[row(0.1, 0.0), row(0.05, 1e-3)]).values())
    assert not all(verdicts(inclusion=[row(0.1, float("inf"))]).values())
    assert not verdicts(inclusion=[row(0.01, 0.0)]), "nothing is claimed of smaller ones"


def test_claims_on_convergence_grasp_and_solvers():
    def stack(unconverged=0, depth=0.0, solver="fischer-newton"):
        return {"solver": solver, "unconverged": unconverged, "steps": 400, "depth": depth}

    assert all(verdicts(convergence=[stack(), stack(9, 1.0, "pgs")]).values())
    assert not all(verdicts(convergence=[stack(1)]).values())
    assert not all(verdicts(convergence=[stack(depth=1e-3)]).values())

    def grasp(lifted, error=(), whole=True):
        return {"method": "peg/lemke", "coordinates": "maximal", "lifted": lifted, "error": error, "whole": whole}

    assert all(verdicts(grasp=[grasp(0.06, [1e-6]), grasp(0.0, whole=False)]).values())
    assert not all(verdicts(grasp=[grasp(0.04)]).values())
    assert not all(verdicts(grasp=[grasp(-1.0)]).values())
    assert not all(verdicts(grasp=[grasp(0.06, [1e-4])]).values())

    def solved(solver, success, form="lcp", residual=1e-9):
        numbers = {"residual": residual, "limit": 1e-8}
        return {"scene": "a", "formulation": "peg", "form": form, "solver": solver, "success": success, **numbers}

    assert all(verdicts(solvers=[solved("lemke", True), solved("pgs", False)]).values())
    assert not all(verdicts(solvers=[solved("lemke", True), solved("pgs", False, "ncp")]).values())
    assert not all(verdicts(solvers=[solved("lemke", True), solved("pgs", True, residual=1e-7)]).values())
    assert all(verdicts(solvers=[solved("lemke", True), solved("pgs", False, residual=None)]).values())


def test_claims_on_sliding():
    def row(dt, error, heading=0.0, distance=1.05):
        return {"method": "peg", "dt": dt, "heading": heading, "error": error, "truth": 1.0, "distance": distance,
                "polygon": 1.0}  # fmt: skip

    assert all(verdicts(accuracy=[row(0.1, 0.1), row(0.05, 0.05), row(0.05, 9.0, 0.1)]).values())
    assert not all(verdicts(accuracy=[row(0.1, 0.1), row(0.05, 0.06)]).values())
    assert not all(verdicts(accuracy=[row(0.1, 0.1), row(0.05, 0.0, 0.1, 1.0)]).values())


# -- the driver --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rpisim")
    met = reproduce(RpiSim(), out=folder, sizes=TINY)
    return folder, met, json.loads((folder / "results.json").read_text())


def test_driver_writes_figures_tables_and_data(made):
    folder, met, results = made
    text = (folder / "README.md").read_text()
    for part in RpiSim.parts():
        (png,) = folder.glob(f"{part}_*.png")
        assert png.with_suffix(".pdf").stat().st_size > 1000
        assert f"]({png.name})" in text
    assert met is results["met"] is all(target["met"] for target in results["targets"])
    for name in RpiSim.tables:
        lines = (folder / f"{name}.csv").read_text().splitlines()
        assert len(lines) == 1 + len(results[name])
        assert "history" not in lines[0], "curves are for results.json"
    sections = re.findall(r"^## (Fig\. \d+|Sec\. [\d.]+\d)", text, re.MULTILINE)
    assert sections == ["Fig. 4", "Fig. 8", "Fig. 9", "Fig. 10", "Sec. 5.2", "Sec. 5.3"]


def test_peg_is_right_where_the_others_may_not_be(made):
    _, _, results = made
    ends = {(row["label"], row["scale"]): row["z"] for row in results["peg"]}
    assert ends["PEG", 0.99999] == pytest.approx(float(fig8_peg.free_fall(100)[-1]), abs=1e-9)
    assert ends["PEG", 1.00001] == pytest.approx(1.0, abs=1e-4)
    assert ends["Stewart–Trinkle, anticipated contacts", 0.99999] == pytest.approx(1.0, abs=1e-4)


def test_stored_problems_are_those_that_were_solved(made):
    folder, _, results = made
    with ProblemFile(folder / "problems.h5") as file:
        assert file.numbers == [1]
        assert len(file.read(1).contacts.gaps) > 0
    rows = results["solvers"]
    assert {row["formulation"] for row in rows} == {"stewart-trinkle", "anitescu-potra", "peg"}
    assert {row["form"] for row in rows} == {"lcp", "mlcp", "ncp"}, "it has no joints"
    assert not {("mlcp", "pgs"), ("mlcp", "jacobi")} & {(row["form"], row["solver"]) for row in rows}
    assert all(row["success"] for row in rows if row["solver"] == "lemke")


def test_a_part_of_it_names_units_in_the_last_line(made, capsys, monkeypatch):
    folder, _, _ = made
    monkeypatch.setattr(RpiSim, "draw", lambda self, results, out: [])  # that takes seconds
    reproduce(RpiSim(), out=folder, only=["fig8"], sizes=TINY)
    out = capsys.readouterr().out
    assert "0 units computed" in out
    assert re.fullmatch(r"worst: Fig\. 8, .* \[m\]: .*", out.strip().splitlines()[-1])
