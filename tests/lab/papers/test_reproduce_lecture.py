"""Carpentier's lecture: the claims can fail, and a slice of the reproduction."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from stickslip.lab.papers.driver import reproduce
from stickslip.lab.papers.lecture.contact_models import CREEP, lift
from stickslip.lab.papers.lecture.reproduction import Lecture
from stickslip.lab.papers.lecture.setups import CORNERS, SINK, SIZE, Sizes, corner_gaps

TINY = Sizes(stiffnesses=(1e4, 1e8), robots=("solo12",), chains=(4, 8), rounds=2)


def verdicts(**results):
    return {target.name: target.met for target in Lecture().targets(results)}


def test_corner_gaps_are_heights_of_the_turned_corners():
    angle, axis = 0.3, np.array([2.0, -1.0, 0.5]) / np.linalg.norm([2.0, -1.0, 0.5])
    q = np.array([[0.1, 0.2, 0.4, np.cos(angle / 2), *(np.sin(angle / 2) * axis)]])
    cross = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    R = np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
    heights = np.sort([0.4 + (R @ c)[2] for c in CORNERS if c[2] < 0])
    assert np.sort(corner_gaps(q)[0]) == pytest.approx(heights, abs=1e-14)
    assert corner_gaps(np.array([[0, 0, SIZE[2] / 2, 1.0, 0, 0, 0]])) == pytest.approx(np.zeros((1, 4)), abs=1e-15)


def good_rows():
    quiet = {"deepest": 0.0, "first_gap": 0.0, "rest_depth": SINK, "pulls": 0.0, "distance": 0.0, "gained": 0.0,
             "lift": 0.0, "moved": 0.0, "speed": 0.0, "end": 0.0, "climb": 0.0, "last_speed": 2.0}  # fmt: skip
    rows = {}
    for experiment in ("drop", "pull", "approach", "slide", "slope"):
        for form in ("soft", "bilateral", "coulomb", "relaxed"):
            rows[experiment, form] = {**quiet, "experiment": experiment, "form": form}
    rows["pull", "bilateral"]["pulls"] = 9.5
    rows["approach", "relaxed"]["first_gap"] = 5.5e-3  # from 50.5 mm in steps of 1 mm to below 6 mm
    rows["slide", "relaxed"]["end"], rows["slope", "relaxed"]["speed"] = lift(2.0), CREEP
    rows["slide", "coulomb"]["moved"] = 0.5 * (2 * 0.5 - 0.5) * 9.81 * 0.4**2
    return rows


def test_claims_on_the_models():
    assert all(verdicts(experiments=list(good_rows().values())).values())
    for key, name, wrong in (
        (("drop", "coulomb"), "deepest", 1e-6),
        (("pull", "coulomb"), "pulls", 1.0),
        (("pull", "soft"), "pulls", 1.0),
        (("pull", "bilateral"), "pulls", 0.0),
        (("approach", "soft"), "distance", 1e-3),
        (("approach", "coulomb"), "distance", 1e-3),
        (("approach", "relaxed"), "first_gap", 6.5e-3),
        (("approach", "relaxed"), "first_gap", 0.0),
        (("drop", "bilateral"), "deepest", 2e-3),
        (("pull", "relaxed"), "pulls", 1.0),
        (("slide", "relaxed"), "end", 0.0),
        (("slide", "coulomb"), "lift", 1e-6),
        (("slope", "relaxed"), "speed", 0.0),
        (("slope", "coulomb"), "moved", 1e-6),
        (("drop", "relaxed"), "gained", 1e-3),
        (("drop", "soft"), "rest_depth", 0.0),
    ):
        rows = good_rows()
        rows[key][name] = wrong
        assert sum(not met for met in verdicts(experiments=list(rows.values())).values()) == 1, (key, name)


def test_claims_on_stiffness_ranks_and_derivatives():
    def fell(method, energy):
        return {"method": method, "energy": energy}

    assert all(verdicts(stiffness=[fell("expo", 1.0), fell("euler", 1e6)]).values())
    assert not all(verdicts(stiffness=[fell("expo", 1.1), fell("euler", 1e6)]).values())
    assert not all(verdicts(stiffness=[fell("expo", 1.0), fell("euler", 1.0)]).values())

    def case(change, residual, conflicting=False):
        return {"case": "a", "change": change, "residual": residual, "conflicting": conflicting}

    assert all(verdicts(ranks=[case(1e-10, 1e-10), case(1e-10, 1.0, True)]).values())
    assert not all(verdicts(ranks=[case(1e-10, 1e-7)]).values())
    assert not all(verdicts(ranks=[case(1e-7, 1e-10)]).values())

    def time(analytic, pinocchio, differences, links=None):
        return {"algorithm": "RNEA", "robot": "r", "links": links, "analytic": analytic, "pinocchio": pinocchio,
                "differences": differences}  # fmt: skip

    assert all(verdicts(timing=[time(1.0, 1.1, 6.0), time(1.0, None, 6.0)]).values())
    assert not all(verdicts(timing=[time(1.0, 0.9, 6.0)]).values())
    assert not verdicts(timing=[time(1.0, 0.9, 4.0, links=64)]), "nothing is claimed of chains"
    assert not all(verdicts(timing=[time(1.0, 1.1, 4.0)]).values())
    assert not all(verdicts(accuracy=[{"algorithm": "ABA", "robot": "r", "error": 1e-8}]).values())


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lecture")
    met = reproduce(Lecture(), out=folder, sizes=TINY)
    return folder, met, json.loads((folder / "results.json").read_text())


def test_driver_writes_figures_tables_and_data(made):
    folder, met, results = made
    text = (folder / "README.md").read_text()
    linked = re.findall(r"!\[.*?\]\((.*?)\.png\)", text)
    assert len(linked) == 8
    for name in linked:
        assert (folder / f"{name}.png").stat().st_size > 5000
        assert (folder / f"{name}.pdf").is_file()
    assert met is results["met"] is all(target["met"] for target in results["targets"])
    for name in Lecture.tables:
        assert len((folder / f"{name}.csv").read_text().splitlines()) == 1 + len(results[name])


def test_what_the_slides_state_is_seen(made):
    """Everything but times, of which a slice says nothing."""
    _, _, results = made
    missed = [t["name"] for t in results["targets"] if not t["met"] and "time" not in t["name"]]
    assert missed == []
