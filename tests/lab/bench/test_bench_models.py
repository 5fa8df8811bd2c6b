"""``stickslip bench models``: which files load and run; no times are asserted."""

import json
from pathlib import Path

import numpy as np
import pytest

import stickslip as ss
from stickslip.errors import StickslipError
from stickslip.lab.bench import models as bench
from stickslip.lab.bench.model_run import DIVERGED, RAN, REFUSED, ModelRow, Run, Settings, Trial

BALL = """<mujoco><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 0.2"><freejoint/>
<geom type="sphere" size="0.1"/></body></worldbody>{more}</mujoco>"""


def test_a_model_is_loaded_and_run_at_default_steps(tmp_path):
    path = tmp_path / "ball.xml"
    path.write_text(BALL.format(more=""))
    sent = []
    Trial(path, Settings(("default", "mujoco"), seconds=0.01), sent.append).run()
    row = sent[-1]
    assert row.complete
    assert row.loaded
    assert (row.links, row.dofs, row.reason) == (1, 6, "")
    assert {run.outcome for run in row.runs.values()} == {RAN}
    assert row.runs["default"].method == "semi-implicit-euler"
    assert row.runs["default"].fastest == pytest.approx(9.81 * 0.01, rel=1e-6)


def test_a_bundled_scene_brings_its_start_velocity_and_method():
    sent = []
    Trial(Path("sliding-disc"), Settings(("default", "mujoco"), seconds=0.002), sent.append).run()
    [*_, row] = sent
    assert row.name == "sliding-disc"
    assert row.loaded
    assert row.runs["default"].method == ss.SCENES["sliding-disc"].method.partition("/")[0]
    start = np.abs(ss.SCENES["sliding-disc"].build().velocity).max()
    assert row.runs["mujoco"].fastest == pytest.approx(start, rel=0.05)


def test_a_refused_file_is_a_row_with_its_reason(tmp_path, capsys):
    path = tmp_path / "cloth.xml"
    flex = '<deformable><flex name="f" dim="1" body="world world" vertex="0 0 1 1 0 1" element="0 1"/></deformable>'
    path.write_text(BALL.format(more=flex))
    assert not bench.run_models([path], Settings(("mujoco",), seconds=0.01), None, tmp_path)
    assert "flex" in capsys.readouterr().out
    [row] = json.loads((tmp_path / "models.json").read_text())["models"]
    assert not row["loaded"]


def test_targets_count_files_and_ends():
    def row(outcome, speed=2.0):
        runs = {method: Run(outcome, simulated=speed, wall=1.0) for method in ("default", "expo")}
        return ModelRow("", "", loaded=True, runs=runs)

    rows = [row(RAN), row(RAN, 0.5), row(DIVERGED), row(REFUSED, 0.0), ModelRow("", "")]
    loaded, default, expo, speed = bench.targets(rows, ("default", "expo"))
    assert loaded.figure == 0.8
    assert default.figure == expo.figure == 0.5
    assert not loaded.met
    assert speed.figure == 1.25


def test_bad_input(tmp_path):
    with pytest.raises(StickslipError, match="seconds: expected a positive number"):
        bench.run_models([tmp_path / "a.xml"], Settings(("expo",), seconds=0.0), None, None)
    with pytest.raises(StickslipError, match="unknown method"):
        bench.run_models([tmp_path / "a.xml"], Settings(("nothing",)), None, None)
