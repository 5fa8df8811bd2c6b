"""Sweeps: grids, results as a table, stores that survive kills, workers that die, Ray."""

import os
import re
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import h5py
import numpy as np
import pytest

import stickslip as ss
from stickslip import file_lock
from stickslip.lab.cluster import RayPool
from stickslip.lab.papers.paper import grid, units
from stickslip.lab.pool import DIED
from stickslip.lab.store import Store
from stickslip.lab.sweep import load_sweep
from stickslip.lab.truth.suite import run_jobs

sweep = ss.sweep
LINUX = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="workers are forked, and files locked, on Linux"
)


def throw(speed, angle, seed=0):
    """How far a stone flies [m]; a number, an array and a text."""
    if speed < 0:
        raise ValueError("a speed is not negative")
    noise = np.random.default_rng(seed).normal(size=2)
    return {"range": speed**2 * np.sin(2 * angle) / 9.81, "noise": noise, "kind": "low" if angle < 0.7 else "high"}


GRID = {"speed": [1.0, 2.0], "angle": [0.3, 0.5, 0.9]}


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    path = tmp_path_factory.mktemp("sweep") / "throw.h5"
    return sweep(throw, GRID, store=path, workers=2)


def test_the_last_name_of_a_grid_varies_fastest(stored):
    assert [run.parameters["angle"] for run in stored] == [0.3, 0.5, 0.9] * 2
    assert len(stored) == stored.computed == 6
    assert not stored.failed
    np.testing.assert_allclose(stored.column("range")[4], 4.0 * np.sin(1.0) / 9.81, rtol=1e-15)
    assert stored.column("noise").shape == (6, 2)
    assert stored.column("kind").tolist() == ["low", "low", "high"] * 2
    assert stored[5]["kind"] == "high"
    assert stored[5]["speed"] == 2.0


def test_every_run_has_a_seed_of_its_own(stored):
    again = sweep(throw, GRID, workers=1)
    np.testing.assert_array_equal(again.column("noise"), stored.column("noise"))
    assert len(set(stored.column("seed"))) == 6
    other = sweep(throw, GRID, workers=1, seed=1)
    assert not np.any(other.column("noise") == stored.column("noise"))


def test_results_in_the_store_are_not_computed_again(stored):
    found = sweep(throw, GRID, store=stored.store)
    assert found.computed == 0
    np.testing.assert_array_equal(found.column("noise"), stored.column("noise"))
    loaded = load_sweep(stored.store)
    assert loaded.missing == 0
    assert loaded.column("kind").tolist() == stored.column("kind").tolist()


def test_a_complete_store_has_a_table_for_other_programs(stored):
    with h5py.File(stored.store) as file:
        np.testing.assert_array_equal(file["table/range"], stored.column("range"))
        assert file["table/kind"][0] == b"low"
        assert sorted(file["entries"][:, 0]) == list(range(1, 7))


def test_a_sweep_prints_and_is_written_as_a_table(stored, tmp_path):
    assert repr(stored) == "<Sweep of throw: 6 runs, 6 computed now>"
    assert "parameters  2: speed, angle" in str(stored)
    assert "<td>high</td>" in stored._repr_html_()
    stored.to_csv(tmp_path / "a.csv")
    lines = (tmp_path / "a.csv").read_text().splitlines()
    assert len(lines) == 7
    assert lines[0].startswith("speed,angle,range,kind")
    assert set(stored.to_dict()) >= {"speed", "range", "outcome", "seconds"}
    assert [run.number for run in stored.where(angle=0.5)] == [1, 4]


def test_a_list_of_points_and_errors_that_lose_no_other_run(tmp_path):
    points = [{"speed": 1.0, "angle": 0.5}, {"speed": -1.0, "angle": 0.5}, {"speed": 2.0, "angle": 0.5}]
    found = sweep(throw, points, store=tmp_path / "a.h5", workers=2)
    assert [run.outcome for run in found] == ["complete", "failed", "complete"]
    assert found.failed[0].message.startswith("ValueError: a speed is not negative (test_sweep.py, line ")
    assert np.isnan(found.column("range")).tolist() == [False, True, False]
    assert sweep(throw, points, store=tmp_path / "a.h5").computed == 0
    assert sweep(throw, points, store=tmp_path / "a.h5", again=True).computed == 1


@pytest.mark.parametrize("result", [{"speed": 3}, {1: 2}, object(), {"a": ["x", "y"]}])
def test_results_that_are_no_numbers_are_failures(result):
    found = sweep(lambda speed: result, {"speed": [1]}, workers=1)
    assert "result" in found[0].message


def test_numbers_and_arrays_alone_are_called_value():
    assert sweep(lambda a: 2 * a, {"a": range(3)}, workers=1).column("value").tolist() == [0, 2, 4]
    ragged = sweep(lambda a: np.zeros(a), {"a": [1, 2]}, workers=1).column("value")
    assert [each.shape for each in ragged] == [(1,), (2,)]


def test_progress_is_told():
    shares = []
    sweep(lambda a: a, {"a": range(4)}, workers=2, progress=shares.append)
    assert shares[-1] == 1.0


def test_a_scene_is_measured_by_default():
    found = sweep("ball", {"method": ["coulomb/pgs"], "dt": [0.01, 0.02], "speed": [1.0], "duration": [0.1]}, workers=1)
    assert not found.failed
    assert found.column("q").shape == (2, 7)
    assert found.column("steps").tolist() == [10, 5]
    np.testing.assert_allclose(found.column("v")[:, 0], 5 / 7, rtol=1e-9)  # it rolls after 0.06 s
    assert set(found.values) >= {"time_per_step", "energy_gained", "unconverged"}


def test_a_scene_that_diverges_says_so():
    scene = ss.Scene()
    scene.add_plane(stiffness=1e9)
    scene.add_box((0.1, 0.1, 0.1), pos=(0, 0, 0.051), mass=0.1, stiffness=1e9)
    found = sweep(scene, [{"method": "semi-implicit-euler", "dt": 0.02, "duration": 1.0}], workers=1)
    assert found[0].outcome == "diverged"
    assert "step" in found[0].message
    assert found[0].warnings


def once(folder, number):
    """Die by SIGKILL, but only once."""
    if not (folder / f"died-{number}").exists():
        (folder / f"died-{number}").touch()
        os.kill(os.getpid(), signal.SIGKILL)


@LINUX
def test_a_killed_worker_is_replaced_and_its_run_tried_again(tmp_path):
    def work(k):
        if k == 3:
            once(tmp_path, k)
        if k == 5:
            os.kill(os.getpid(), signal.SIGKILL)
        return k * k

    found = sweep(work, {"k": range(12)}, workers=2, store=tmp_path / "a.h5", retries=1)
    assert [run.values.get("value") for run in found if run.number != 5] == [k * k for k in range(12) if k != 5]
    assert [run.message for run in found.failed] == [DIED]
    with h5py.File(tmp_path / "a.h5") as file:
        assert sorted(file["entries"][:, 0]) == list(range(1, 13))


SCRIPT = """
import sys, time
from pathlib import Path
import stickslip as ss
log = Path(sys.argv[1], "log")
def work(k):
    with log.open("a") as file:
        file.write(f"{k}\\n")
    time.sleep(0.05)
    return k * k
found = ss.sweep(work, {"k": range(60)}, store=Path(sys.argv[1], "a.h5"), workers=2)
assert found.column("value").tolist() == [k * k for k in range(60)]
print(found.computed)
"""


@LINUX
def test_a_killed_driver_leaves_what_is_finished_and_the_next_one_goes_on(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [sys.executable, tmp_path / "script.py", tmp_path]
    driver, log = subprocess.Popen(command), tmp_path / "log"
    while not log.exists() or log.read_text().count("\n") < 20:
        assert driver.poll() is None
        time.sleep(0.01)
    driver.kill()
    driver.wait()
    kept = load_sweep(tmp_path / "a.h5")
    assert 14 <= len(kept) < 60
    assert kept.missing == 60 - len(kept)
    assert all(run["value"] == run["k"] ** 2 for run in kept)
    end = time.monotonic() + 10.0
    while file_lock.is_held(tmp_path / "a.h5") and time.monotonic() < end:  # the workers end with their driver
        time.sleep(0.01)
    log.unlink()
    resumed = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(resumed.stdout) == 60 - len(kept)
    assert sorted(map(int, log.read_text().split())) == sorted(set(range(60)) - {run["k"] for run in kept})
    with h5py.File(tmp_path / "a.h5") as file:
        assert sorted(file["entries"][:, 0]) == list(range(1, 61))


def test_an_unfinished_result_does_not_count(stored, tmp_path):
    path = tmp_path / "a.h5"
    path.write_bytes(stored.store.read_bytes())
    with h5py.File(path, "r+") as file:
        file["entries"][4] = 0
    assert [run.number for run in load_sweep(path)] == (np.sort(h5py.File(stored.store)["entries"][:4, 0]) - 1).tolist()
    assert sweep(throw, GRID, store=path, workers=1).computed == 2


@LINUX
def test_one_store_has_one_writer(stored, tmp_path):
    path = tmp_path / "a.h5"
    sweep(throw, [{"speed": -1.0, "angle": 0.5}], store=path, workers=1)
    held = file_lock.hold(path)
    try:
        with pytest.raises(ss.RecordingError, match="expected a file that nobody writes"):
            sweep(throw, [{"speed": -1.0, "angle": 0.5}], store=path, again=True)
    finally:
        held.release()


BAD = {
    "function": (lambda s: sweep(3, GRID), "sweep: expected a function, or a scene"),
    "scene": (lambda s: sweep("bal", GRID), "unknown scene 'bal': did you mean 'ball'"),
    "no list": (lambda s: sweep(throw, {"speed": 3}), r"grid\['speed'\]: expected a list of values.*got 3"),
    "text": (lambda s: sweep(throw, {"speed": "12"}), r"grid\['speed'\]: expected a list of values"),
    "empty": (lambda s: sweep(throw, {}), "grid: expected 1 to"),
    "empty list": (lambda s: sweep(throw, []), "grid: expected a mapping of names to lists"),
    "points": (lambda s: sweep(throw, [3]), "grid: expected a mapping of names to values for every run, got 3"),
    "huge": (lambda s: sweep(throw, {"speed": range(10**5), "angle": range(10**5)}), "grid: expected 1 to"),
    "parameter": (lambda s: sweep(throw, {"speed": [1], "angel": [1]}), "of throw 'angel': did you mean 'angle'"),
    "missing": (lambda s: sweep(throw, {"speed": [1]}), "grid: expected the arguments of 'throw'.*'angle'"),
    "object": (lambda s: sweep(throw, {"speed": [object()], "angle": [1]}), "expected numbers, texts, lists"),
    "method": (lambda s: sweep("ball", {"method": ["exp"]}), "unknown method 'exp': did you mean 'expo'"),
    "option": (lambda s: sweep("ball", {"mathod": ["expo"]}), "'mathod': did you mean 'method'"),
    "duration": (lambda s: sweep("ball", {"duration": [-1.0]}), "duration: expected a positive number of seconds"),
    "place": (lambda s: sweep(throw, GRID, on="slurm"), 'on: expected "ray", "ray://host:port"'),
    "port": (lambda s: sweep(throw, GRID, on="ray://host"), 'on: expected "ray", "ray://host:port"'),
    "workers": (lambda s: sweep(throw, GRID, workers=0), "workers: expected a whole number"),
    "retries": (lambda s: sweep(throw, GRID, retries=-1), "retries: expected a whole number"),
    "store": (lambda s: sweep(throw, GRID, store=3), "store: expected the path of a file"),
    "ending": (lambda s: sweep(throw, GRID, store="a.csv"), "store: expected a name that ends in .h5, got 'a.csv'"),
    "folder": (lambda s: sweep(throw, GRID, store="/nix/a.h5"), "create the folder first"),
    "not a store": (lambda s: sweep(throw, GRID, store=s.with_name("other.h5")), "expected the store of a sweep"),
    "another grid": (lambda s: sweep(throw, {**GRID, "angle": [1]}, store=s), "expected the grid that it was begun"),
    "another value": (lambda s: sweep(throw, {**GRID, "angle": [0.3, 0.5, 0.8]}, store=s), "run 2 of .* another store"),
    "another function": (lambda s: sweep(lambda speed, angle: 1, GRID, store=s), "expected the name .*, 'throw', got"),
    "another seed": (lambda s: sweep(throw, GRID, seed=1, store=s), "the seed that it was begun with, 0, got 1"),
    "column": (lambda s: load_sweep(s).column("rang"), "unknown column 'rang': did you mean 'range'"),
    "where": (lambda s: load_sweep(s).where(angel=1), "unknown parameter 'angel': did you mean 'angle'"),
    "keyword": (lambda s: sweep(throw, GRID, jobs=2), "unknown option of sweep 'jobs'"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_answered(name, stored):
    call, match = BAD[name]
    with h5py.File(stored.store.with_name("other.h5"), "w") as file:
        file["a"] = 1
    with pytest.raises(ss.StickslipError, match=match) as caught:
        call(stored.store)
    assert len(str(caught.value)) < 300


def test_an_edited_function_is_noticed(tmp_path):
    def measure(factor):
        return (lambda a: factor * a) if factor < 3 else (lambda a: factor + a)

    sweep(measure(1), {"a": [1]}, store=tmp_path / "a.h5", workers=1)
    assert sweep(measure(1), {"a": [1]}, store=tmp_path / "a.h5").computed == 0
    for other in (measure(2), measure(4)):
        with pytest.raises(ss.InputError, match="expected the function that it was begun with"):
            sweep(other, {"a": [1]}, store=tmp_path / "a.h5")


def test_without_ray_the_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ss.InputError, match=re.escape("pip install 'stickslip[ray]'")):
        sweep(throw, GRID, on="ray")


@pytest.fixture(scope="module")
def on_ray():
    """Ray on this machine, started once; pools use the one that their process has started."""
    if find_spec("ray") is None:
        pytest.skip("Ray is not installed")
    with RayPool(None, 2, "ray"):
        yield "ray"


@LINUX
def test_ray_does_the_work_of_a_killed_worker_again(on_ray, tmp_path):
    def work(k):
        if k == 3:
            once(tmp_path, k)
        if k == 5:
            os.kill(os.getpid(), signal.SIGKILL)
        if k == 7:
            raise ValueError("seven")
        return k * k

    found = sweep(work, {"k": range(12)}, on=on_ray, workers=2, store=tmp_path / "a.h5", retries=1)
    assert [run.values["value"] for run in found if run.number not in (5, 7)] == [
        k * k for k in range(12) if k not in (5, 7)
    ]
    assert found[5].message == DIED
    assert found[7].message.startswith("ValueError: seven")
    with h5py.File(tmp_path / "a.h5") as file:
        assert sorted(file["entries"][:, 0]) == list(range(1, 13))
    assert sweep(work, {"k": range(12)}, on=on_ray, store=tmp_path / "a.h5").computed == 0


def test_ray_runs_trials_and_units_of_papers(on_ray, tmp_path):
    (trial,) = run_jobs([("sliding-ball", "coulomb", 1e-2)], on=on_ray)
    (here,) = run_jobs([("sliding-ball", "coulomb", 1e-2)], workers=1)
    assert trial.findings == here.findings
    store = Store(tmp_path / "data")
    with RayPool(None, 2, on_ray) as store.pool:
        rows = units(store, "square", grid(k=[1, 2, 3]), lambda k: {"square": k * k})
    assert rows == [{"k": k, "square": k * k} for k in (1, 2, 3)]
    assert (store.computed, store.reused) == (3, 0)


def test_a_cluster_that_is_none_is_one_line(on_ray, monkeypatch):
    with pytest.raises(ss.InputError, match=r"expected a process that has not started Ray.*ray\.shutdown"):
        sweep(throw, GRID, on="ray://127.0.0.1:1")
    monkeypatch.setattr(sys.modules["ray"], "is_initialized", lambda: False)
    with pytest.raises(ss.InputError, match="no Ray client server answers"):
        sweep(throw, GRID, on="ray://127.0.0.1:1")


def test_ray_is_imported_only_when_it_is_asked_for():
    code = "import stickslip, stickslip.cli, sys; assert 'ray' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parent)
