"""``stickslip bench worlds``, short: what it measures, prints and writes; no times are asserted."""

import json
from importlib.util import find_spec
from math import inf

import mujoco
import numpy as np
import pytest
from typer.testing import CliRunner

from stickslip.cli import app
from stickslip.errors import InputError
from stickslip.lab.bench import worlds as bench
from stickslip.lab.bench.world_errors import PEER, Accuracy, speed_at
from stickslip.lab.bench.world_steps import Rollouts, make_worlds, peer_robot, random_velocities, standing_robot
from stickslip.lab.targets import Target, worst

TINY = bench.Sizes(worlds=(1, 3), rounds=2, steps=10, seconds=0.04, judged=2, error_rounds=2)


def test_report(tmp_path, capsys):
    met = bench.run_worlds(out=tmp_path, methods=("coulomb/pgs",), sizes=TINY)
    report = json.loads((tmp_path / "worlds.json").read_text())
    figures = report["figures"]
    assert {(t["name"], t["worlds"]) for t in figures["throughputs"]} == {
        (name, n) for name in ("coulomb/pgs", PEER) for n in (1, 3)
    }
    assert min(t["steps_per_second"] for t in figures["throughputs"]) > 0
    assert all(t["bytes_per_world"] > 1000 for t in figures["throughputs"] if t["name"] != PEER)
    assert all(t["diverged"] == 0 for t in figures["throughputs"])
    for name in ("coulomb/pgs", PEER):
        errors = [a["error"] for a in figures["accuracies"] if a["method"] == name and a["dt"] <= 4e-3]
        assert errors == sorted(errors, reverse=True)
        assert 0 < errors[-1] < 1e-3
    names = [t["name"] for t in report["targets"]]
    assert "worlds that diverged" in names
    assert "coulomb/pgs / mujoco.rollout, 1 thread, 3 worlds" in names
    assert met is all(t["met"] for t in report["targets"])
    printed = " ".join(capsys.readouterr().out.split())
    for text in (
        "coulomb/pgs, 1 ms",
        f"{PEER}, 1 ms",
        "Simulated s per s at equal error",
        "Ratios and memory, 3 worlds",
    ):
        assert text in printed
    assert (tmp_path / "worlds.png").read_bytes().startswith(b"\x89PNG")


def test_mujoco_gets_the_same_robot_with_feet_and_servos():
    ours, peer = standing_robot(), peer_robot(1e-3)
    for name in ("gainprm", "biasprm", "biastype", "ctrlrange", "forcerange", "gear"):
        np.testing.assert_array_equal(getattr(peer, f"actuator_{name}"), getattr(ours.mj, f"actuator_{name}"))
    assert peer.actuator_biasprm[3, :3].tolist() == [0.0, -10.0, -0.2]
    assert peer.body_mass.sum() == pytest.approx(ours.mj.body_mass.sum())
    assert np.sum(peer.geom_type == mujoco.mjtGeom.mjGEOM_SPHERE) == 4 + np.sum(
        ours.mj.geom_type == mujoco.mjtGeom.mjGEOM_SPHERE
    )


def test_both_robots_stand_where_they_stood_from_the_same_states():
    worlds = make_worlds(2, "coulomb/pgs", 1e-3, 0.3)
    rollouts = Rollouts(2, 1e-3, 1, 0.3)
    np.testing.assert_array_equal(rollouts.q(rollouts.start), worlds.q)
    np.testing.assert_array_equal(rollouts.start[:, 1 + worlds.model.nq :], worlds.v)
    worlds.step(500)
    last = rollouts.q(rollouts.after(rollouts.start, 500))
    np.testing.assert_allclose(last[:, 2], worlds.q[:, 2], atol=0.01)
    np.testing.assert_allclose(last[:, 7:], worlds.q[:, 7:], atol=0.1)


def test_the_velocities_of_a_world_do_not_depend_on_how_many_there_are():
    np.testing.assert_array_equal(random_velocities(5, 0.3)[:2], random_velocities(2, 0.3))


def test_speed_at_an_error():
    found = [Accuracy("a", dt, error, speed) for dt, error, speed in ((4, inf, 40), (2, 1e-2, 20), (1, 1e-4, 10))]
    assert speed_at(found, 1e-3)[0] == pytest.approx(np.sqrt(200.0))
    assert speed_at(found, 1e-4) == (pytest.approx(10.0), "")
    assert speed_at(found, 1e-1) == (20.0, "≥")
    assert speed_at(found, 1e-5) == (0.0, "")


def test_the_worst_target_may_be_a_least_value():
    met, missed = Target("a", 3.0, 1.2, "≥"), Target("b", 1.0, 1.8, "≥")
    assert worst((met, missed, Target("c", 1.0, 2.0))) is missed


def test_memory_of_a_world():
    worlds = make_worlds(4, "coulomb/pgs", 1e-3, 0.0)
    arrays = (worlds.q, worlds.v, worlds.control, worlds.wrench, worlds.contacts.point)
    assert worlds.bytes_per_world > sum(array.nbytes for array in arrays) / 4
    assert worlds.bytes_per_world == make_worlds(7, "coulomb/pgs", 1e-3, 0.0).bytes_per_world
    assert worlds.scratch_bytes == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--sizes", "1,x"), "--sizes: expected numbers of worlds, separated by commas"),
        (("--device", "gpu"), "--device"),
        (("--dtype", "float16"), "--dtype"),
        (("--dtype", "float32"), "np.float64 on the CPU"),
        (("--methods", "coulom"), "coulomb"),
    ],
)
def test_bad_options_are_refused_before_anything_is_measured(options, said):
    with pytest.raises(InputError, match=said) as error:
        CliRunner().invoke(app, ("bench", "worlds", *options), catch_exceptions=False)
    assert len(str(error.value)) < 300


@pytest.mark.skipif(find_spec("cuda") is not None, reason="numba-cuda is installed")
def test_without_a_gpu_the_remedy_is_named():
    with pytest.raises(InputError, match=r"pip install stickslip\[gpu\]"):
        bench.run_worlds(device="cuda")
