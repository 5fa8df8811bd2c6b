"""Frames that go in come out, from memory and from a file."""

import json
import subprocess
import sys

import h5py
import numpy as np
import pytest
from made_up_run import BARE, OPTIONS, XML, check_log, contacts, frame, made_up_model, record

import stickslip as ss
from stickslip.errors import DivergedError
from stickslip.record import Recorder, load, writer
from stickslip.record.layout import CONTACT, FRAME, table
from stickslip.record.log import Contacts

FRAMES = 1203  # more than two buffers of 512, and not a multiple


@pytest.fixture(params=["memory", "file"])
def path(request, tmp_path):
    return None if request.param == "memory" else tmp_path / "run.h5"


def test_every_frame_comes_back(model, path):
    with Recorder(path, model, scene_xml=XML, options=OPTIONS) as recorder:
        record(recorder, model, range(FRAMES))
    log = recorder.log()
    check_log(log, model, FRAMES)
    assert log.outcome == "complete"
    assert log.last_good is None
    assert log.scene_xml == XML
    assert log.options == {"method": "expo", "dt": 0.01, "gravity": [0.0, 0.0, -9.81], "seed": 3}
    assert log.names == (("world", "box", "arm", "hand"), ("box", "elbow", "reach"), ("motor",), (), ())
    assert {"python", "stickslip", "numpy", "numba", "mujoco", "h5py"} == set(log.versions)
    assert "1203 frames" in repr(log)
    assert "complete" in repr(log)


def test_memory_saved_is_the_same_as_a_file(model, tmp_path):
    with Recorder(None, model, scene_xml=XML, options=OPTIONS) as recorder:
        record(recorder, model, range(40))
        recorder.save_last_good(1.5, np.ones(model.nq), np.zeros(model.nv))
        recorder.close("diverged")
    memory = recorder.log()
    memory.save(tmp_path / "saved.h5")
    with load(tmp_path / "saved.h5") as saved:
        check_log(saved, model, 40)
        assert saved.outcome == "diverged"
        assert saved.last_good.time == 1.5
        np.testing.assert_array_equal(saved.last_good.q, np.ones(model.nq))
        for name in table():
            a, b = memory.dataset(name), saved.dataset(name)
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b[()])
        for name, value in vars(memory.header).items():
            np.testing.assert_equal(getattr(saved.header, name), value)


def test_joint_errors_come_back_and_older_files_have_none(model, tmp_path):
    path = tmp_path / "run.h5"
    with Recorder(path, model, constraints=("elbow", "reach")) as recorder:
        for i in range(5):
            recorder.append(frame(model, i, joints=2), contacts(i))
    with load(path) as log:
        assert log.names.constraints == ("elbow", "reach")
        np.testing.assert_allclose(log.joint_error[4], [[4e-6, 4e-6], [8e-6, 8e-6]])
    with h5py.File(path, "r+") as file:  # as an earlier version would have written it
        del file["joint_error"], file.attrs["constraint_names"], file.attrs["nc"]
    with load(path) as log:
        assert len(log) == 5
        assert log.joint_error.shape == (5, 0, 2)
        assert log.q.shape == (5, model.nq)


def test_unconverged_steps_are_counted_and_older_files_have_none(tmp_path):
    path = tmp_path / "run.h5"
    scene = ss.Scene()
    scene.add_plane()
    scene.add_box((0.2, 0.2, 0.2), pos=(0, 0, 0.1), mass=1.0)
    sim = ss.Simulation(scene, "coulomb", 0.01, solver=lambda problem, z0: np.zeros(problem.n))
    with pytest.warns(ss.UnconvergedWarning):
        sim.run(0.05, record=path, record_dt=0.02, failures=False).close()
    with load(path) as log:
        np.testing.assert_array_equal(log.unconverged, log.steps)
        assert log.unconverged[-1] == 5
    with h5py.File(path, "r+") as file:  # as an earlier version would have written it
        del file["unconverged"]
    with load(path) as log:
        np.testing.assert_array_equal(log.unconverged, [0, 0, 0, 0])


def test_model_without_joints_frames_or_contacts(path):
    bare = made_up_model(BARE)
    with Recorder(path, bare) as recorder:
        assert len(recorder.log()) == 0
        recorder.append(frame(bare, 0))
        recorder.save_last_good(0.0, np.zeros(0), np.zeros(0))
    log = recorder.log()
    assert log.q.shape == (1, 0)
    assert log.control.shape == (1, 0)
    assert log.contact("force").shape == (0, 3)
    assert len(log.contacts(-1).gap) == 0
    assert log.contact_force().tolist() == [0.0]
    assert log.last_good.time == 0.0


def test_plain_h5py_reads_it(model, tmp_path):
    with Recorder(tmp_path / "run.h5", model, scene_xml=XML, options=OPTIONS) as recorder:
        record(recorder, model, range(20))
    with h5py.File(tmp_path / "run.h5") as file:
        for path in table():
            assert file[path].attrs["units"]
            assert file[path].attrs["meaning"]
        assert file["time"].attrs["units"] == "s"
        assert file["contact/force"].attrs["units"] == "N"
        assert file["last_good/q"].attrs["units"]
        assert np.isnan(file["last_good/q"]).all()
        assert file["outcome"][()] == b"complete"
        assert file["scene_xml"].asstr()[()] == XML
        assert json.loads(file.attrs["options"])["dt"] == 0.01
        assert list(file.attrs["link_names"]) == ["world", "box", "arm", "hand"]
        assert [s["kind"] for s in json.loads(file["shapes"][()])] == ["plane", "box", "sphere", "sphere"]
        start = file["contact/start"][()]
        assert start[1] - start[0] == 0
        np.testing.assert_array_equal(file["contact/point"][start[1] : start[2]], contacts(1)["point"])


def test_mesh_vertices_are_kept(tmp_path):
    tetrahedron = "0 0 0  1 0 0  0 1 0  0 0 1"
    xml = f"""<mujoco><asset><mesh name="m" vertex="{tetrahedron}"/></asset>
      <worldbody><body name="b"><freejoint/><geom type="mesh" mesh="m"/></body></worldbody></mujoco>"""
    with Recorder(tmp_path / "run.h5", made_up_model(xml)) as recorder:
        pass
    assert recorder.log().header.vertices[0].shape == (4, 3)


def test_the_layout_names_what_the_log_offers():
    assert FRAME[-1].name == "time", "the last one written says that a frame is complete"
    assert Contacts._fields == tuple(f.name for f in CONTACT)


def test_a_frame_with_many_contacts(model, path):
    many = {name: np.repeat(rows[:1], 5000, axis=0) for name, rows in contacts(1).items()}
    with Recorder(path, model, capacity=8) as recorder:
        record(recorder, model, range(3))
        recorder.append(frame(model, 3), many)
        record(recorder, model, range(4, 12))
    log = recorder.log()
    assert log.contact_count()[:5].tolist() == [0, 3, 1, 5000, 2]
    np.testing.assert_array_equal(log.contacts(3).force, many["force"])
    np.testing.assert_array_equal(log.contacts(11).point, contacts(11)["point"])


def test_sums_over_contacts(model, path):
    with Recorder(path, model) as recorder:
        record(recorder, model, range(5))
    log = recorder.log()
    assert log.contact_frame().tolist() == [1, 1, 1, 2, 4, 4]
    assert log.contact_count().tolist() == [0, 3, 1, 0, 2]
    np.testing.assert_allclose(log.contact_force(), [0, 33, 12, 0, 28])
    np.testing.assert_allclose(log.contact_force("box"), [0, 22, 12, 0, 14])
    # normal z, tangent 1 x, hence tangent 2 y
    np.testing.assert_allclose(log.net_contact_force("box")[1], 2 * np.array([4.0, 5.0, 11.0]))
    np.testing.assert_allclose(log.net_contact_force("world")[1], -3 * np.array([4.0, 5.0, 11.0]))
    np.testing.assert_allclose(log.penetration(), [0, 3e-4, 1e-4, 0, 2e-4])


def test_values_are_copied_and_logs_are_read_only(model):
    recorder = Recorder(None, model)
    values = frame(model, 0)
    recorder.append(values)
    values["q"][:] = 99.0
    log = recorder.log()
    np.testing.assert_array_equal(log.q[0], frame(model, 0)["q"])
    with pytest.raises(ValueError, match="read-only"):
        log.q[0] = 1.0


@pytest.mark.parametrize(
    ("error", "outcome"),
    [(KeyboardInterrupt, "interrupted"), (DivergedError("NaN"), "diverged"), (ValueError, "interrupted")],
)
def test_an_exception_decides_the_outcome_and_keeps_the_frames(model, path, error, outcome):
    recorder = Recorder(path, model)
    with pytest.raises(BaseException), recorder:  # noqa: B017, PT011, PT012
        record(recorder, model, range(7))
        raise error
    log = recorder.log()
    assert log.outcome == outcome
    check_log(log, model, 7)


def test_a_block_cut_short_is_written_once(model, tmp_path, monkeypatch):
    """Ctrl-C in the middle of a flush, then the close that follows it."""
    recorder = Recorder(tmp_path / "run.h5", model)
    record(recorder, model, range(50))
    flush, calls = h5py.Dataset.flush, []

    def cut(dataset):
        flush(dataset)
        calls.append(dataset.name)
        if len(calls) == 15:
            raise KeyboardInterrupt

    monkeypatch.setattr(h5py.Dataset, "flush", cut)
    with pytest.raises(KeyboardInterrupt):
        recorder.flush()
    recorder.close("interrupted")
    check_log(recorder.log(), model, 50)


def test_a_slow_run_is_flushed_by_the_clock(model, tmp_path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(writer.time, "monotonic", lambda: now[0])
    recorder = Recorder(tmp_path / "run.h5", model)
    record(recorder, model, range(3))
    assert recorder.flushed == 1  # the first frame is safe at once
    now[0] = 1.1
    record(recorder, model, range(3, 4))
    assert recorder.flushed == 4
    assert len(load(recorder.path)) == 4
    recorder.close("complete")


def test_overwriting_keeps_the_earlier_log_readable(model, tmp_path):
    """As in a notebook: run, look, run again under the same name."""
    logs = []
    for frames in (30, 5):
        with Recorder(tmp_path / "run.h5", model) as recorder:
            record(recorder, model, range(frames))
        logs.append(recorder.log())
    check_log(logs[0], model, 30)
    check_log(logs[1], model, 5)
    assert [p.name for p in tmp_path.iterdir()] == ["run.h5"]


def test_importing_is_cheap():
    code = "import sys, stickslip.record; print('h5py' in sys.modules, 'matplotlib' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).split() == ["False", "False"]


@pytest.mark.parametrize("where", ["file", "folder"])
def test_a_recording_that_is_removed_meanwhile_is_no_success(tmp_path, where):
    (tmp_path / "runs").mkdir()
    sim = ss.Simulation("ball", "coulomb/pgs")
    recorder = ss.Recorder(sim, tmp_path / "runs" / "run.h5")
    sim.step(3)
    (tmp_path / "runs" / "run.h5").unlink()
    if where == "folder":
        (tmp_path / "runs").rmdir()
    with pytest.raises(ss.RecordingError, match="removed, moved or replaced meanwhile"):
        recorder.close()
    recorder.close()


def test_frames_are_whole_numbers_and_closed_logs_say_so(tmp_path):
    log = ss.Simulation("ball", "coulomb/pgs").run(0.02, record=tmp_path / "run.h5")
    for wrong in ("x", None, 1.5, 99, -99, [1]):
        for read in (log.contacts, log.image):
            with pytest.raises(ss.InputError, match="frame: expected a number from -3 to 2"):
                read(wrong)
        with pytest.raises(ss.InputError, match=r"link: expected a name, or a number|unknown link"):
            log.link(wrong)
    assert len(log.contacts(np.int64(-1)).gap) == len(log.contacts(2).gap)
    with pytest.raises(ss.InputError, match="unknown plot"):
        log.plot([1])
    log.close()
    for read in (log.image, lambda: log.dataset("pose"), lambda: log.last_good):
        with pytest.raises(ss.RecordingError, match="expected an open log, got a closed one"):
            read()
