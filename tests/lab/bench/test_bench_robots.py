"""``stickslip bench robots``: rows, reasons and ratios; no times are asserted."""

import json
from math import inf

import pytest

from stickslip.errors import StickslipError
from stickslip.lab.bench import robots as bench
from stickslip.lab.bench.robot_run import Measurement, Robot, Settings

METHODS = ("semi-implicit-euler", "mujoco")
BALL = """<mujoco><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 0.2"><freejoint/>
<geom type="sphere" size="0.1"/></body></worldbody>
<keyframe><key name="home" qpos="0 0 0.1 1 0 0 0"/></keyframe></mujoco>
"""


def test_a_model_is_measured_beside_mujoco(tmp_path):
    path = tmp_path / "ball.xml"
    path.write_text(BALL)
    sent = []
    Measurement(path, Settings(METHODS, seconds=0.02), sent.append).run()
    robot = sent[-1]
    assert robot.complete
    assert not robot.failures
    assert (robot.links, robot.dofs, robot.meshes, robot.largest_hull) == (1, 6, 0, 0)
    assert robot.name.endswith("/ball")
    for who in (*METHODS, *bench.PEERS):
        assert robot.times[who] > 0
        assert robot.steps[who] == 10
        assert robot.kinetic[who] < 1.0
    assert {robot.contacts[who] for who in ("mujoco", *bench.PEERS)} == {1}
    fastest = min(robot.times[peer] for peer in bench.PEERS)
    assert robot.ratio(METHODS[0]) == robot.times[METHODS[0]] / fastest


def test_what_cannot_be_measured_is_a_row_with_its_reason(tmp_path, capsys):
    files = tmp_path / "files.txt"
    files.write_text(f"{tmp_path / 'none.xml'}\n\n")
    met = bench.run_robots([files], Settings(METHODS, seconds=0.02), None, tmp_path)
    printed = capsys.readouterr().out
    assert not met
    assert "none.xml: no such file" in printed
    [row] = json.loads((tmp_path / "robots.json").read_text())["robots"]
    assert not row["loaded"]


def test_a_model_that_takes_too_long_is_stopped(tmp_path):
    path = tmp_path / "ball.xml"
    path.write_text(BALL)
    robot = bench.in_own_process(bench.run_model, path, Settings(METHODS, limit=0.05), Robot("", ""))
    assert robot.reason.startswith("stopped after 0.05 s")


def test_median_and_worst_count_failures_as_infinite():
    def robot(time=None):
        return Robot("", "", loaded=True, times={"mj_step, scene": 10.0} | ({} if time is None else {"expo": time}))

    median, worst = bench.targets([robot(5.0), robot(15.0), robot()], ("expo",))
    assert (median.figure, worst.figure) == (1.5, inf)
    assert median.met
    assert not worst.met


def test_bad_input(tmp_path):
    with pytest.raises(StickslipError, match="at least one MJCF or URDF file"):
        bench.run_robots([], Settings(METHODS), None, None)
    with pytest.raises(StickslipError, match="seconds: expected a positive number"):
        bench.run_robots([tmp_path / "a.xml"], Settings(METHODS, seconds=0.0), None, None)
    with pytest.raises(StickslipError, match="unknown method"):
        bench.run_robots([tmp_path / "a.xml"], Settings(("nothing",)), None, None)
