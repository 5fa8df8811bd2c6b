"""What cannot be written or read is refused in one line that says what to do."""

import os
import subprocess
import sys
from pathlib import Path

import h5py
import made_up_run
import numpy as np
import pytest
from made_up_run import contacts, frame, record

from stickslip import hdf5
from stickslip.errors import InputError, RecordingError
from stickslip.record import Recorder, load


def one_line(caught):
    text = str(caught.value)
    assert "\n" not in text
    assert "expected" in text
    assert "got" in text
    return text


def refused_to_write(path, model):
    with pytest.raises(RecordingError) as caught:
        Recorder(path, model)
    return one_line(caught)


def refused_to_load(path):
    with pytest.raises(RecordingError) as caught:
        load(path)
    return one_line(caught)


def test_writing_to_places_that_cannot_be(model, tmp_path):
    (tmp_path / "file").write_text("")
    assert "folder" in refused_to_write(tmp_path, model)
    assert "create the folder" in refused_to_write(tmp_path / "no" / "run.h5", model)
    assert "create the folder" in refused_to_write(tmp_path / "file" / "run.h5", model)
    assert "device" in refused_to_write("/dev/null", model)
    refused_to_write("/proc/run.h5", model)
    with pytest.raises(InputError, match="path of a file"):
        Recorder(True, model)


@pytest.mark.skipif(os.getuid() == 0, reason="root may write anywhere")
def test_writing_without_permission(model, tmp_path):
    (tmp_path / "run.h5").touch(mode=0o444)
    assert "read-only" in refused_to_write(tmp_path / "run.h5", model)
    tmp_path.chmod(0o555)
    assert "may write" in refused_to_write(tmp_path / "new.h5", model)


def test_a_file_that_is_no_recording_is_not_overwritten(model, tmp_path):
    scene = tmp_path / "robot.xml"
    scene.write_text("<mujoco/>")
    assert "another kind of file" in refused_to_write(scene, model)
    assert scene.read_text() == "<mujoco/>"


def test_one_file_has_one_recorder(model, tmp_path):
    with Recorder(tmp_path / "run.h5", model):
        assert "being written" in refused_to_write(tmp_path / "run.h5", model)


def test_a_full_disk(tmp_path):
    """A limit on the file size stands for it: writes beyond fail, in the middle of a run."""
    code = f"""
import resource, sys
sys.path.insert(0, {str(Path(made_up_run.__file__).parent)!r})
import made_up_run as run
from stickslip.errors import RecordingError
model = run.made_up_model()
recorder = run.Recorder({str(tmp_path / "run.h5")!r}, model, capacity=10)
run.record(recorder, model, range(100))
size = __import__("os").path.getsize(recorder.path)
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20000, size + 20000))
try:
    with recorder:
        run.record(recorder, model, range(100, 10000))
except RecordingError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 1
    assert "expected a working disk with space left" in done.stdout
    with load(tmp_path / "run.h5") as log:
        assert len(log) >= 100
        made_up_run.check_log(log, made_up_run.made_up_model(), len(log))


def test_a_disk_that_is_full_from_the_start(tmp_path):
    code = f"""
import resource, sys
sys.path.insert(0, {str(Path(made_up_run.__file__).parent)!r})
import made_up_run as run
from stickslip.errors import RecordingError
model = run.made_up_model()
with run.Recorder({str(tmp_path / "run.h5")!r}, model) as recorder:
    run.record(recorder, model, range(5))
resource.setrlimit(resource.RLIMIT_FSIZE, (10000, 10000))
try:
    run.Recorder({str(tmp_path / "run.h5")!r}, model)
except RecordingError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "File too large" in done.stdout
    assert [p.name for p in tmp_path.iterdir()] == ["run.h5"]
    made_up_run.check_log(load(tmp_path / "run.h5"), made_up_run.made_up_model(), 5)


def test_loading_what_is_no_recording(model, tmp_path):
    assert "no such file" in refused_to_load(tmp_path / "run.h5")
    assert "folder" in refused_to_load(tmp_path)
    (tmp_path / "text.h5").write_text("time, q\n")
    assert "not HDF5" in refused_to_load(tmp_path / "text.h5")
    (tmp_path / "empty.h5").touch()
    assert "not HDF5" in refused_to_load(tmp_path / "empty.h5")
    with h5py.File(tmp_path / "other.h5", "w") as other:
        other["time"] = np.arange(3)
    assert "another HDF5 file" in refused_to_load(tmp_path / "other.h5")
    assert "that folder has empty.h5" in refused_to_load(tmp_path / "run.h5")
    with pytest.raises(InputError, match="path of a stickslip recording"):
        load(3)


def recorded(model, path):
    with Recorder(path, model) as recorder:
        record(recorder, model, range(30))
    return path


def test_loading_a_newer_format(model, tmp_path):
    path = recorded(model, tmp_path / "run.h5")
    with h5py.File(path, "r+") as file:
        file.attrs["format"] = 999
    assert "update stickslip" in refused_to_load(path)


def test_loading_a_damaged_file(model, tmp_path):
    path = recorded(model, tmp_path / "run.h5")
    with h5py.File(path, "r+") as file:
        del file["contact/force"]
    assert "damaged" in refused_to_load(path)
    for part in (0.1, 0.5, 0.99):
        whole = recorded(model, path).read_bytes()
        path.write_bytes(whole[: int(part * len(whole))])
        assert "damaged" in refused_to_load(path)


def test_damage_that_reading_a_part_finds(model, tmp_path):
    path = recorded(model, tmp_path / "run.h5")
    with h5py.File(path, "r+") as file:
        file["contact/link2"][3] = 2**31 - 1
        file["time"][2] = np.inf
        names = [name.encode() for name in file.attrs["link_names"]]
        names[-1] = b"caf\xe9"
        file.attrs.create("link_names", np.array(names, dtype=object), dtype=h5py.string_dtype())
        filtered = file["pose"].id.get_chunk_info(0) if file["pose"].compression else None
    with load(path) as log:
        assert log.header.link_names[-1] == "caf\ufffd"
        assert log.dataset("contact/link2")[0] == log.dataset("contact/link1")[0] + 1
        with pytest.raises(RecordingError, match="link2: expected numbers from 0 to"):
            log.dataset("contact/link2")[:]
        with pytest.raises(RecordingError, match="expected numbers from"):
            log.to_csv(tmp_path / "contacts.csv", "contacts")
        with pytest.raises(RecordingError, match="time: expected numbers"):
            log.time  # noqa: B018
    if filtered is not None:
        whole = bytearray(path.read_bytes())
        whole[filtered.byte_offset : filtered.byte_offset + filtered.size] = bytes(filtered.size)
        path.write_bytes(whole)
        with load(path) as log, pytest.raises(RecordingError, match="damaged"):
            log.dataset("pose")[0]


def test_reading_a_closed_log(model, tmp_path):
    log = load(recorded(model, tmp_path / "run.h5"))
    time = log.time
    log.close()
    assert log.time is time, "what was read stays"
    with pytest.raises(RecordingError, match="closed"):
        log.q  # noqa: B018
    with pytest.raises(RecordingError, match="closed"):
        log.dataset("q")[0]


def test_frames_of_the_wrong_shape_or_name(model):
    recorder = Recorder(None, model)
    good = frame(model, 1)
    for bad, word in [
        ({"q": np.zeros(3)}, "'q'"),
        ({"q": 0.0}, "'q'"),
        ({"time": np.zeros(2)}, "'time'"),
        ({"torque": 1.0}, "unknown .*'torque'"),
    ]:
        with pytest.raises(InputError, match=word):
            recorder.append(good | bad)
    with pytest.raises(InputError, match=r"missing \['wall'\]"):
        recorder.append({name: value for name, value in good.items() if name != "wall"})
    with pytest.raises(InputError, match="'gap'"):
        recorder.append(good, contacts(1) | {"gap": np.zeros(2)})
    with pytest.raises(InputError, match="missing"):
        recorder.append(good, {"gap": np.zeros(2)})
    recorder.append(good, contacts(1))
    assert len(recorder.log()) == 1, "a refused frame leaves nothing behind"
    np.testing.assert_array_equal(recorder.log().contacts(0).gap, contacts(1)["gap"])


def test_misuse(model):
    with pytest.raises(InputError, match="capacity"):
        Recorder(None, model, capacity=0)
    recorder = Recorder(None, model)
    with pytest.raises(InputError, match="unknown outcome 'completed': did you mean 'complete'"):
        recorder.close("completed")
    with pytest.raises(InputError, match="last good q"):
        recorder.save_last_good(0.0, np.zeros(1), np.zeros(model.nv))
    recorder.close("complete")
    recorder.close("complete")
    with pytest.raises(RecordingError, match="closed"):
        recorder.append(frame(model, 0))
    log = recorder.log()
    with pytest.raises(InputError, match="frame"):
        log.contacts(0)
    with pytest.raises(InputError, match="unknown contact field 'forces': did you mean 'force'"):
        log.contact("forces")
    with pytest.raises(InputError, match="unknown field"):
        log.dataset("qq")
    with pytest.raises(InputError, match="unknown link"):
        log.contact_force("boxx")
    with pytest.raises(InputError, match="link"):
        log.contact_force(17)


def test_links_out_of_a_file_are_not_followed(model, tmp_path):
    """Neither a link to another file, nor data that lie in one, nor an array that is larger than its data."""
    other = recorded(model, tmp_path / "other.h5")
    damages = {
        "external link": lambda file: file.__setitem__("energy", h5py.ExternalLink(str(other), "/energy")),
        "soft link": lambda file: file.__setitem__("energy", h5py.SoftLink("/contact/point")),
        "external data": lambda file: file.create_dataset(
            "energy", shape=(30, 3), dtype="f8", external=[(str(other), 0, h5py.h5f.UNLIMITED)]
        ),
        "huge": lambda file: file.create_dataset("energy", shape=(2**40, 3), dtype="f8", chunks=(64, 3)),
        "wrong type": lambda file: file.create_dataset("energy", data=np.zeros((30, 3), dtype="S4")),
    }
    for name, damage in damages.items():
        path = recorded(model, tmp_path / "run.h5")
        with h5py.File(path, "r+") as file:
            del file["energy"]
            damage(file)
        assert "damaged" in refused_to_load(path), name


def test_damage_that_crashes_or_stops_the_library_is_found_in_a_child(model, tmp_path):
    """A stand-in for such damage: a child that dies. The file is refused, and the next one is read by a new child."""
    path = recorded(model, tmp_path / "run.h5")
    os.utime(path)  # it is no longer known as a file that this process has written
    with load(path):
        pass
    hdf5._child.process.kill()
    hdf5._child.process.poll = lambda: None  # it seems to live
    assert "ends or stops" in refused_to_load(path)
    copy = tmp_path / "copy.h5"
    copy.write_bytes(path.read_bytes())
    with load(copy) as log:
        assert len(log) == 30
