"""Anderson and Revzen: exact flows, the same system in MuJoCo, claims that can fail, and a slice of it all."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from stickslip.lab.papers.driver import reproduce
from stickslip.lab.papers.event_selected import mujoco_models, ours, systems
from stickslip.lab.papers.event_selected.exact import table_flow
from stickslip.lab.papers.event_selected.fig11_three_legs import exact
from stickslip.lab.papers.event_selected.fig41_order import order
from stickslip.lab.papers.event_selected.irregular_beds import SAME, STIFF, limit
from stickslip.lab.papers.event_selected.reproduction import EventSelected
from stickslip.lab.papers.event_selected.setups import (
    DT,
    END,
    HOP,
    LEGS_END,
    LEGS_START,
    TABLE_START,
    Sizes,
    bed,
    legs,
    plate_starts,
    rms,
)
from stickslip.lab.papers.event_selected.table51_hopper import FREE, LIKE_PAPER, MUJOCO, mujoco_error

TINY = Sizes(order=17, hops=3, rounds=2, precision=2, contacts=(2, 4, 6), beyond=(8, 10), alike=(2, 4, 6),
             identical=(3,), starts=2,
             judged=2)  # fmt: skip
TIMES = "time"
"""In the names of targets of which a slice says nothing."""


def missed(**results):
    return [target.name for target in EventSelected().targets(results) if not target.met]


def test_exact_flow_of_the_table():
    flow = table_flow(np.array(TABLE_START), 0.5)
    assert flow.guards == (1, 2, 0)
    np.testing.assert_allclose(flow.starts[1:], [0.209588078335, 0.262364264467, 0.369207153822], atol=1e-12)
    last = flow(np.array([0.5]))[:, 0]
    np.testing.assert_allclose(last, [0.269850417833, 0.337890438217, -0.346637698428], atol=1e-12)
    assert table_flow(np.array(TABLE_START), 0.3).guards == (1, 2)


def test_exact_hops():
    assert HOP.touchdown == pytest.approx(0.451523641, abs=1e-9)
    assert HOP.stance == pytest.approx(0.244112946, abs=1e-9)
    assert HOP.lowest == pytest.approx(0.633923341, abs=1e-9)
    assert HOP.period == pytest.approx(1.147160228, abs=1e-9)
    times, step = np.linspace(0.01, 3.0, 997), 1e-6
    z, rate = HOP(times)
    slopes = (HOP(times + step) - HOP(times - step)) / (2.0 * step)
    np.testing.assert_allclose(slopes[0], rate, atol=1e-8)
    expected = [systems.hopper_field.py_func(x, (x[0] < 1.0,), HOP.stiffness)[1] for x in zip(z, rate, strict=True)]
    np.testing.assert_allclose(slopes[1], expected, atol=1e-3)


def test_three_legs_touch_in_their_own_order():
    flow = exact(LEGS_START)
    arms, _, stiffness, preload = legs()
    assert sorted(flow.guards[:3]) == [0, 1, 2]
    assert 0.0 < np.max(np.abs(flow(np.linspace(0.0, LEGS_END, 200))[1:3])) < 0.3  # its tilts are small
    x = np.array([0.9, 0.02, -0.03, 0.1, 0.2, 0.3])
    forces = preload + stiffness * (1.0 - x[0] - arms @ x[1:3])
    found = systems.legs_field.py_func(x, np.array([True, False, True, False, True, False]), *legs())
    assert found[3] == pytest.approx(forces[0] + forces[2] - systems.GRAVITY, rel=1e-12)
    assert np.array(found[4:]) * legs().inertia == pytest.approx(arms[[0, 2]].T @ forces[[0, 2]], rel=1e-12)
    slopes = [(systems.legs_guards.py_func(x + e, *legs()) - systems.legs_guards.py_func(x - e, *legs())) / 2e-6
              for e in 1e-6 * np.eye(6)]  # fmt: skip
    np.testing.assert_allclose(systems.legs_slopes.py_func(x, *legs()), np.transpose(slopes), atol=1e-9)


def test_claims_on_three_legs():
    rows = [{"eps": float(eps), "rms": eps**2} for eps in np.geomspace(1e-7, 0.1, 25)]
    events = {"guards": [1], "found_guards": [1], "exact": [0.2], "found": [0.2], "state": [1.0], "exact_state": [1.0]}
    sides = [{"order": order, "off": 1e-5} for order in ("012", "021", "102", "120", "201", "210")]
    good = {"legs": rows, "legs_events": events, "legs_sides": sides}
    assert missed(**good) == []
    assert len(missed(**{**good, "legs_sides": sides[:5]})) == 1
    assert len(missed(**{**good, "legs_sides": [*sides, {"order": "012", "off": 0.1}]})) == 1
    assert len(missed(**{**good, "legs_events": {**events, "found": [0.3]}})) == 1
    assert len(missed(**{**good, "legs": [{**row, "rms": row["eps"]} for row in rows]})) == 1


def test_claims_on_identical_springs():
    def rows(each):
        return [{"contacts": n, "mujoco": 1.0 + 0.1 * n, "ours_matrix": 0.5 + each * n, "failed": 0.0}
                for n in (2, 50, 100, 1000)]  # fmt: skip

    assert missed(alike=rows(0.01)) == []
    assert len(missed(alike=rows(0.025))) == 2
    late = rows(0.01)
    assert len(missed(alike=[*late[:3], {**late[3], "ours_matrix": 100.0}])) == 1
    assert len(missed(alike=[*late[:2], {**late[2], "failed": 0.1}, late[3]])) == 1
    assert missed(alike=[*late[:3], {**late[3], "failed": 0.1}]) == []  # a bed that is larger than the paper's


def test_plate_is_pushed_by_the_gradient_of_its_springs_energy():
    springs = bed(7)._replace(damping=0.0)
    x = np.array([0.1, 0.93, 0.2, 0.3, -0.5, 0.7])
    touching = systems.plate_guards.py_func(x, *springs) >= 0.0
    assert 0 < touching[:7].sum() < 7

    def energy(q):
        depth = np.maximum(systems.plate_guards.py_func(q, *springs)[:7], 0.0) * np.cos(q[2])
        return 0.5 * springs.stiffness * np.sum(depth**2)

    forces = -np.array([(energy(x + e) - energy(x - e)) / 2e-6 for e in 1e-6 * np.eye(6)[:3]])
    found = systems.plate_field.py_func(x, touching, *springs)
    assert found[3:] == pytest.approx([forces[0], forces[1] - systems.GRAVITY, forces[2] / springs.inertia], abs=1e-7)


def test_slopes_of_the_plates_guards():
    springs, x = bed(4), np.array([0.1, 0.9, 0.2, 0.3, -0.5, 0.7])
    steps = 1e-6 * np.eye(6)
    guards = systems.plate_guards.py_func
    slopes = np.array([(guards(x + e, *springs) - guards(x - e, *springs)) / 2e-6 for e in steps]).T
    np.testing.assert_allclose(systems.plate_slopes.py_func(x, *springs), slopes, atol=1e-8)
    assert (systems.opposite(2) == np.array([[0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0]])).all()


def test_mujocos_hopper_goes_to_the_closed_form():
    errors = [mujoco_error(dt) for dt in (DT, 0.1 * DT)]
    assert errors[0] / errors[1] == pytest.approx(10.0, rel=0.05)
    assert errors[1] < 3e-4


def test_mujocos_plate_goes_to_our_reference():
    springs, start = bed(5), plate_starts(1)[0]
    reference = ours.plate(springs, start, systems.opposite(5), t_eval=ours.TIMES, **ours.REFERENCE)
    assert reference.success
    errors = [
        rms(mujoco_models.trajectory(mujoco_models.plate(springs, DT / n), start, END)[:, ::n] - reference.y)
        for n in (4, 16)
    ]
    assert errors[1] < 0.35 * errors[0] < 1e-3


def test_calibration_finds_the_epsilon_of_an_error():
    eps, error = ours.calibrate(lambda eps: 3.0 * eps**2, 3e-4)
    assert eps == pytest.approx(0.01, rel=0.01)
    assert error <= 3e-4
    assert ours.calibrate(lambda eps: np.inf if eps > 1e-3 else eps, 1.0)[0] == pytest.approx(1e-3, rel=0.01)


def errors(power=2.0):
    rows = [{"eps": float(eps), "rms": eps**power} for eps in np.geomspace(1e-6, 1.0, 25)]
    events = {"guards": [1], "found_guards": [1], "exact": [0.2], "found": [0.2], "state": [1.0], "exact_state": [1.0]}
    return {"order": rows, "events": events}


def test_claims_on_the_order():
    assert missed(**errors()) == []
    assert len(missed(**errors(2.1))) == 2
    good = errors()
    assert len(missed(**{**good, "events": {**good["events"], "found": [0.2 + 1e-8]}})) == 1
    assert len(missed(**{**good, "events": {**good["events"], "found_guards": [2]}})) == 1
    assert len(missed(**{**good, "events": {**good["events"], "state": [1.1]}})) == 1
    stairs = errors()
    stairs["order"][12]["rms"] *= 1.1
    assert missed(**stairs) == ["order test: |order − 2|, worst between neighbours"]


def test_claims_on_the_hopper():
    rows = [{"method": name, "rms": 1e-3, "milliseconds": 1.0} for name in (MUJOCO, LIKE_PAPER, FREE)]
    names = ("touchdown", "stance", "lowest", "period", "last")
    numbers = {**dict.fromkeys(names, 1.0), **{f"{name}_exact": 1.0 for name in names}, "made": 5}
    assert missed(hopper=rows, hops=[numbers]) == []
    assert len(missed(hopper=[*rows[:2], {**rows[2], "milliseconds": 1.1}], hops=[numbers])) == 1
    assert len(missed(hopper=[*rows[:2], {**rows[2], "rms": 1.1e-3}], hops=[numbers])) == 1
    for name in names:
        assert len(missed(hopper=rows, hops=[{**numbers, name: 1.1}])) == 1, name


def test_claims_on_the_plate():
    def rows(each=0.01, **changes):
        good = {"rms": 1e-3, "mujoco_rms": 1e-3, "failed": 0.0, "unfinished_references": 0}
        return [
            {"contacts": n, "mujoco": 1.0 + 0.1 * n, "ours": 0.5 + each * n, **good, **changes} for n in (2, 50, 100)
        ]

    assert missed(plate=rows(), beyond=rows()) == []
    assert missed(plate=rows(0.025)) == ["plate on 2 to 100 springs: time per contact over MuJoCo's"]
    assert len(missed(plate=rows(rms=1.1e-3))) == 1
    assert len(missed(beyond=rows(failed=0.1))) == len(missed(beyond=rows(unfinished_references=1))) == 1
    assert len(missed(beyond=rows(0.2))) == 1


def test_claims_on_irregular_beds():
    calm, wild = {"stability": 0.5, "gain": 0.01}, {"stability": 2.1, "gain": 5.0}
    assert missed(irregular=[calm, wild]) == []
    assert len(missed(irregular=[{**calm, "gain": 0.2}, wild])) == 1
    assert len(missed(irregular=[calm, {**wild, "gain": 0.01}])) == 1
    assert limit(SAME) == np.inf


def test_limit_of_mujocos_step():
    """The largest eigenvalue of a step of the heaving plate passes through −1 there."""
    one, n = bed(1, 1.0), limit(STIFF)
    speed = np.array([-DT * n * one.stiffness, 1.0 - DT * n * one.damping])
    step = np.array([np.array([1.0, 0.0]) + DT * speed, speed])
    assert np.min(np.linalg.eigvals(step).real) == pytest.approx(-1.0, abs=1e-9)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("event-selected")
    met = reproduce(EventSelected(), out=folder, sizes=TINY)
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
    for name in EventSelected.tables:
        assert len((folder / f"{name}.csv").read_text().splitlines()) == 1 + len(results[name])


def test_what_the_paper_states_is_seen(made):
    """Everything but times."""
    _, _, results = made
    wrong = [t["name"] for t in results["targets"] if not t["met"] and TIMES not in t["name"]]
    assert wrong == []
    assert order(results["order"]) == pytest.approx(2.0, abs=0.05)
