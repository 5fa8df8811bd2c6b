"""Brüdigam et al.: the claims can fail, and a slice of the reproduction."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import numpy as np
import pytest

from stickslip.lab.papers.driver import reproduce
from stickslip.lab.papers.rows import line, slope
from stickslip.lab.papers.variational import conservation, drawing, fig6_hopper
from stickslip.lab.papers.variational.reproduction import Variational
from stickslip.lab.papers.variational.setups import METHOD, ROUND, Motion, Sizes, judge, places
from stickslip.scenes import SCENES

TINY = Sizes(
    contacts=(2, 4, 8), links=(2, 4, 8), runs=2, walking=1.6, robots=("solo12",), agreeing=0.8, steps=(2e-3, 1e-3),
    finest=5e-4, stiffnesses=(1e4, 1e6), linkage=5.0, pendulum=20.0, counted=("cube drop", "sliding cube"),
)  # fmt: skip
TIMES = tuple(f"{scene}: {what} of " for scene in ("cylinder", "chain") for what in ("1 − R²", "|slope − 1|"))
"""How the names of targets on times begin."""


def missed(**results):
    return [target.name for target in Variational().targets(results) if not target.met]


def test_a_line_and_a_slope():
    size = np.array([2.0, 10.0, 50.0, 100.0])
    fit = line(size, 3.0 + 0.5 * size)
    assert fit == pytest.approx((3.0, 0.5, 1.0))
    assert slope(size, 7.0 * size**1.3) == pytest.approx(1.3)
    assert line(size, size**2).r2 < 0.97


def times(scene, power=1.0, **changes):
    rows = []
    for size in (2, 10, 40, 100, 400, 1000):
        bodies, contacts = (1, size) if scene == "cylinder" else (size, size + 1)
        grown = contacts if scene == "cylinder" else bodies + contacts
        rows.append({"scene": scene, "size": size, "bodies": bodies, "contacts": contacts, "lowest": 0.0,
                     "milliseconds": 0.1 * grown**power, "per_iteration": 2.0 * grown, "unconverged": 0,
                     **changes})  # fmt: skip
    return rows


@pytest.mark.parametrize("scene", ["cylinder", "chain"])
def test_claims_on_linear_time(scene):
    assert missed(**{scene: times(scene)}) == []
    assert any("slope" in name for name in missed(**{scene: times(scene, 1.2)}))
    assert any("R²" in name for name in missed(**{scene: times(scene, 2.0)}))
    assert all("did not converge" in name for name in missed(**{scene: times(scene, unconverged=1)}))
    assert all("penetration" in name for name in missed(**{scene: times(scene, lowest=-1e-7)}))
    assert len(missed(**{scene: times(scene, lowest=-1e-7)})) == 6
    uneven = [{**row, "per_iteration": row["size"] ** 1.3} for row in times(scene)]
    assert missed(**{scene: uneven})
    assert all("T/iterations" in name and name.startswith(TIMES) for name in missed(**{scene: uneven}))


def test_claims_on_hopper_and_quadruped():
    good = {"method": METHOD, "turn": 359.0, "tilt": 0.1, "residual": 1e-7, "unconverged": 0, "lowest": -1e-11,
            "forward": 0.5}  # fmt: skip
    assert missed(hopper=[good], quadruped=[good]) == []
    for name, wrong in (("turn", 353.0), ("tilt", 6.0), ("residual", 1e-5), ("unconverged", 1), ("lowest", -1e-7)):
        assert len(missed(hopper=[{**good, name: wrong}])) == 1, name
    for name, wrong in (("forward", 0.0), ("residual", 1e-5), ("unconverged", 1), ("lowest", -1e-7)):
        assert len(missed(quadruped=[{**good, name: wrong}])) == 1, name


def test_a_residual_that_is_not_a_number_is_missed():
    log = SimpleNamespace(time=np.arange(4), iterations=np.ones(4), residual=np.array([np.nan, 0.0, np.nan, 1e-9]))
    judged = judge(Motion(None, SimpleNamespace(stepper=SimpleNamespace(unconverged=0)), log))
    assert np.isnan(judged["residual"])
    row = {"method": METHOD, "turn": 360.0, "tilt": 0.0, "lowest": 0.0, **judged}
    assert missed(hopper=[row]) == ["hopper: largest residual of a step"]


def kept(**changes):
    """Rows of conservation as they should be; changes of those that have such a figure."""
    common = {"dt": 0.01, "seconds": 60.0, "unconverged": 0}
    rows = [
        {"case": conservation.BODY, "linear": 0.0, "angular": 1e-13, "quaternion": 1e-16, "lowest": -2.0},
        {"case": conservation.CHAIN, "linear": 1e-14, "angular": 1e-11},
        {"case": conservation.LINKAGE, "largest": 1e-10, "trend": 1.0},
        *({"case": conservation.PENDULUM, "dt": dt, "amplitude": 15 * dt, "trend": 1.0, "secular": 0.01}
          for dt in (0.01, 0.005)),
    ]  # fmt: skip
    return [{**common, **row, **{key: value for key, value in changes.items() if key in row}} for row in rows]


def test_claims_on_conservation():
    assert missed(conservation=kept()) == []
    for changes, number in (
        ({"linear": 1e-7}, 2),
        ({"angular": 1e-7}, 2),
        ({"quaternion": 1e-11}, 1),
        ({"lowest": -1.8}, 1),
        ({"lowest": 2.0}, 1),
        ({"largest": 1e-7}, 1),
        ({"trend": 2.0}, 3),
        ({"secular": 0.2}, 2),
        ({"secular": np.nan}, 2),
        ({"amplitude": 0.1}, 1),
    ):
        assert len(missed(conservation=kept(**changes))) == number, changes
    assert missed(conservation=[{**row, "unconverged": 1} for row in kept()]) == [
        "conservation: steps that did not converge"
    ]


def test_claims_on_iterations():
    def rows(with_it, unconverged=0):
        return [{"case": case, "cone": "pyramid", "tolerance": 1e-6, "warm": True, "predictor": predictor,
                 "mean": with_it if predictor else 3.0, "unconverged": unconverged}
                for case in ("a", "b") for predictor in (True, False)]  # fmt: skip

    assert missed(iterations=rows(2.9)) == []
    assert len(missed(iterations=rows(3.1))) == 1
    assert len(missed(iterations=rows(2.0, unconverged=1))) == 1


def test_claims_on_agreement():
    def rows(rigid=1.0, soft=1.0, **changes):
        return [{"unconverged": 0, "unconverged_reference": 0, **row, **changes} for row in differences(rigid, soft)]

    def differences(rigid, soft):
        result = []
        for dt in (2e-3, 1e-3, 1.25e-4):
            result += [{"robot": "r", "method": m, "dt": dt, "stiffness": None, "difference": dt**rigid}
                       for m in (ROUND, "coulomb")]  # fmt: skip
            result.append({"robot": "r", "method": "expo", "dt": dt, "stiffness": 1e8, "difference": 1e-8**soft})
        result.append({"robot": "r", "method": "expo", "dt": 1.25e-4, "stiffness": 1e4, "difference": 1e-4**soft})
        return result

    assert missed(agreement=rows()) == []
    assert len(missed(agreement=rows(rigid=0.2))) == 2
    assert len(missed(agreement=rows(soft=0.1))) == 1
    assert len(missed(agreement=rows(unconverged=1))) == 3
    assert len(missed(agreement=rows(unconverged_reference=1))) == 1


def test_angle_of_a_turn_and_tilt_away_from_it():
    angle = np.linspace(0.0, 2.1 * np.pi, 50)
    quat = np.column_stack([np.cos(angle / 2), *(np.sin(angle / 2) * x for x in fig6_hopper.AXIS)])
    np.testing.assert_allclose(fig6_hopper.turned(quat), angle, atol=1e-12)
    np.testing.assert_allclose(fig6_hopper.turned(-quat), angle, atol=1e-12)
    np.testing.assert_allclose(fig6_hopper.tilted(quat), 0.0, atol=1e-7)
    across = np.array([[np.cos(0.1), 0.0, 0.0, np.sin(0.1)]])
    assert fig6_hopper.turned(across) == pytest.approx(0.0)
    assert fig6_hopper.tilted(across) == pytest.approx(0.2)


def test_places_are_those_of_turned_frames():
    model = SCENES["hopper-turn"].build().scene.compile()
    half = np.sqrt(0.5)
    pose = np.zeros((1, 3, 7))
    pose[0, 2] = [1.0, 2.0, 3.0, half, half, 0.0, 0.0]  # a quarter of a turn about x: the pole points along +y
    assert places(model, pose, [fig6_hopper.FOOT])[0, 0] == pytest.approx([1.0, 2.8, 3.0])


def test_camera_looks_from_the_side_and_from_above():
    side = drawing.Camera(azimuth=-90.0, elevation=0.0)
    np.testing.assert_allclose(side.see(np.array([1.0, 5.0, 2.0])), [1.0, 2.0], atol=1e-12)
    assert side.depth(np.array([0.0, -1.0, 0.0])) > side.depth(np.array([0.0, 1.0, 0.0]))
    above = drawing.Camera(azimuth=-90.0, elevation=90.0)
    np.testing.assert_allclose(above.see(np.array([1.0, 2.0, 9.0])), [1.0, 2.0], atol=1e-12)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("variational")
    met = reproduce(Variational(), out=folder, sizes=TINY)
    return folder, met, json.loads((folder / "results.json").read_text())


def test_driver_writes_figures_tables_and_data(made):
    folder, met, results = made
    text = (folder / "README.md").read_text()
    linked = re.findall(r"!\[.*?\]\((.*?)\.png\)", text)
    assert len(linked) == 9
    for name in linked:
        assert (folder / f"{name}.png").stat().st_size > 5000
        assert (folder / f"{name}.pdf").is_file()
    assert met is results["met"] is all(target["met"] for target in results["targets"])
    for name in Variational.tables:
        assert len((folder / f"{name}.csv").read_text().splitlines()) == 1 + len(results[name])
    assert "0.001 ms" in text
    assert "0.5 kg" in text


def test_what_the_paper_states_is_seen(made):
    """Everything but times, of which a slice says nothing."""
    _, _, results = made
    wrong = [t["name"] for t in results["targets"] if not t["met"] and not t["name"].startswith(TIMES)]
    assert wrong == []
    by_method = {row["method"]: row for row in results["hopper"]}
    assert by_method[METHOD]["turn"] == pytest.approx(by_method["coulomb"]["turn"], abs=0.5)
    assert by_method[METHOD]["turn"] == pytest.approx(360.0, abs=1.0)
